"""References of a policy that name something else than the node that is asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.kinds import with_article
from kubectl_policy.questions.shared.reasons import Reason, named
from kubectl_policy.questions.shared.unattached import failed
from kubectl_policy.topology.references import layer_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import NodeRef
    from kubectl_policy.questions.why_not.case import Case

_MOST_NAMED: Final = 3


def elsewhere(case: Case, attachments: Iterable[Attachment]) -> Iterator[Reason]:
    """What references of the policy name instead of the node."""
    target, policy = case.target, case.policy.ref
    others: list[Attachment] = []
    for attachment in attachments:
        meant = _meant(attachment, target) if attachment.state != "attached" else None
        if meant is None and _names_something_else(attachment, target):
            others.append(attachment)
        else:
            yield meant or failed(case.analysis, attachment)
    for field in sorted({other.declared.field for other in others if other.declared.selector is not None}):
        selected = [other.target for other in others if other.declared.field == field]
        message = f"{field} selects {_listed(selected)}, and not {target.object}"
        yield Reason("not-selected", message, policy, field=field)
    by_name = [other for other in others if other.declared.selector is None]
    if by_name:
        nodes = [other.target for other in by_name]
        verb = "its target is" if len({*nodes}) == 1 else "its targets are"
        first = by_name[0].declared
        holder = first.named_by or policy
        message = f"{verb} {_listed(nodes)}"
        yield Reason("other-target", message, holder, field=first.field, related=_distinct(nodes))


def _names_something_else(attachment: Attachment, target: NodeRef) -> bool:
    """Whether a reference is to something else than a node, and nothing depends on whether that was read.

    What was not read might lead to the node if it is of a kind further up.
    """
    node = attachment.target
    if attachment.state != "target unknown" or node is None or attachment.declared.selector is not None:
        return attachment.state == "attached"
    return layer_of(node.object.group_kind) >= layer_of(target.object.group_kind)


def _meant(attachment: Attachment, target: NodeRef) -> Reason | None:
    """A reference that would name a node if its group, or the namespace of the policy, were another one."""
    declared, node, wanted = attachment.declared, attachment.target, target.object
    if node is None or (node.object.kind, node.object.name) != (wanted.kind, wanted.name):
        return None
    if node.object.group_kind != wanted.group_kind:
        theirs, ours = (with_article(str(kind)) for kind in (node.object.group_kind, wanted.group_kind))
        message = f"it names {theirs}, and {wanted} is {ours}"
        return Reason("other-group", message, attachment.policy, field=f"{declared.field}.group", related=(node,))
    message = f"it names {node.object}, and the one that is meant is in namespace {wanted.namespace}"
    return Reason("other-namespace", message, attachment.policy, field=declared.field, related=(node,))


def other_section(attachment: Attachment, target: NodeRef) -> Reason:
    """A reference to one section of an object, where another one is asked about."""
    message = f"its target is {_listed([attachment.target])}, and not {named(target)}"
    return Reason("other-section", message, attachment.policy, field=f"{attachment.declared.field}.sectionName")


def below(attachment: Attachment, target: NodeRef) -> Reason:
    """A reference to something below a node, which does not reach what is above it."""
    nodes = [attachment.target]
    message = f"its target {_listed(nodes)} is below {named(target)}, and policies only reach downward"
    field, related = attachment.declared.field, _distinct(nodes)
    return Reason("target-below", message, attachment.policy, field=field, related=related)


def _distinct(nodes: Sequence[NodeRef | None]) -> tuple[NodeRef, ...]:
    return tuple(dict.fromkeys(node for node in nodes if node))


def _listed(nodes: Sequence[NodeRef | None]) -> str:
    """The first few of some nodes and the number of the others."""
    names = [named(node) for node in _distinct(nodes)]
    more = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    shown = [*names[:_MOST_NAMED], *more]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)
