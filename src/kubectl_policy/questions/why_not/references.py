"""Why a policy's references do not lead to a node: what they name instead, and why those that name it fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.attachment import without_references
from kubectl_policy.attachment.validity import policy_failure
from kubectl_policy.questions.why_not.reasons import Reason, named
from kubectl_policy.topology.hierarchy import layer_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment, State
    from kubectl_policy.model import NodeRef, ObjectRef, Resource

_FAILED: Final[Mapping[State, str]] = {
    "target missing": "target-missing",
    "target unknown": "target-unknown",
    "section missing": "section-missing",
    "kind unsupported": "kind-unsupported",
    "not managed": "other-controller",
    "policy invalid": "policy-invalid",
    "target invalid": "target-invalid",
    "not enabled": "not-enabled",
    "target overlaps": "target-overlaps",
    "filter unsupported": "filter-unsupported",
    "not computed": "not-computed",
}
_MISSING: Final = frozenset({"target missing", "section missing"})
_MOST_NAMED: Final = 3


def no_reference(analysis: Analysis, policy: ObjectRef) -> Reason:
    """Why a policy without any reference is attached to nothing, or why nobody can tell."""
    profile = analysis.registry.known(policy.group_kind)
    if not profile.attaches_as_known or not profile.references_alone:
        return Reason("not-computed", f"how {policy.kind} attaches without a target reference is not computed", policy)
    rule = "no-reference" if profile.target_fields else "no-filter"
    return Reason(rule, f"it {without_references(profile)}", policy, "spec")


def failed(analysis: Analysis, attachment: Attachment) -> Reason:
    """Why nothing comes of a reference."""
    declared, policy = attachment.declared, attachment.policy
    state = attachment.state
    rule = _not_permitted(analysis, attachment) if state == "not permitted" else _FAILED[state]
    if attachment.target is None and declared.selector is not None:
        rule = "not-selected"
    elif "/" in declared.group:
        rule = "group-version"
    reason = "TargetNotFound" if state in _MISSING else ""
    holder = declared.named_by or policy
    related = (attachment.target,) if attachment.target else ()
    return Reason(rule, attachment.message, holder, declared.field, api_reason=reason, related=related)


def _not_permitted(analysis: Analysis, attachment: Attachment) -> str:
    policy, target = analysis.index.get(attachment.policy), attachment.target
    profile = analysis.registry.known(attachment.policy.group_kind)
    inside = target is None or target.object.namespace in {"", attachment.policy.namespace}
    lacks = policy_failure(policy, profile, analysis.index) if policy else None
    if inside or (lacks and lacks.message == attachment.message):
        return "need-not-permitted"
    closed = profile.cross_namespace is False and attachment.declared.selector is None
    return "namespace-closed" if closed else "not-permitted"


def elsewhere(analysis: Analysis, policy: Resource, found: Sequence[Attachment], target: NodeRef) -> Iterator[Reason]:
    """What a policy's references name instead of a node."""
    others: list[Attachment] = []
    for attachment in found:
        meant = _meant(attachment, target) if attachment.state != "attached" else None
        if meant is None and _is_beside(attachment, target):
            others.append(attachment)
        else:
            yield meant or failed(analysis, attachment)
    selecting = {attachment.declared.field for attachment in others if attachment.declared.selector is not None}
    for field in sorted(selecting):
        names = [attachment.target for attachment in others if attachment.declared.field == field]
        message = f"{field} selects {_listed(names)}, and not {target.object}"
        yield Reason("not-selected", message, policy.ref, field)
    by_name = [attachment for attachment in others if attachment.declared.selector is None]
    if by_name:
        nodes = [attachment.target for attachment in by_name]
        verb = "its target is" if len({*nodes}) == 1 else "its targets are"
        declared = by_name[0].declared
        holder = declared.named_by or policy.ref
        yield Reason("other-target", f"{verb} {_listed(nodes)}", holder, declared.field, related=_nodes(nodes))


def _is_beside(attachment: Attachment, target: NodeRef) -> bool:
    """Whether a reference is to something else than a node, and nothing depends on whether that was read.

    What was not read might lead to the node if it is of a kind further up.
    """
    node = attachment.target
    if attachment.state != "target unknown" or node is None or attachment.declared.selector is not None:
        return attachment.state == "attached"
    return layer_of(node.object.group_kind) >= layer_of(target.object.group_kind)


def _meant(attachment: Attachment, target: NodeRef) -> Reason | None:
    """A reference that would name a node if its group, or the namespace of the policy, were another one."""
    declared, named, wanted = attachment.declared, attachment.target, target.object
    if named is None or (named.object.kind, named.object.name) != (wanted.kind, wanted.name):
        return None
    policy = attachment.policy
    if named.object.group_kind != wanted.group_kind:
        message = f"it names a {named.object.group_kind}, and {wanted} is a {wanted.group_kind}"
        return Reason("other-group", message, policy, f"{declared.field}.group", related=(named,))
    message = f"it names {named.object}, and the one that is meant is in namespace {wanted.namespace}"
    return Reason("other-namespace", message, policy, declared.field, related=(named,))


def other_section(attachment: Attachment, target: NodeRef) -> Reason:
    """A reference to one section of an object, where another one is asked about."""
    message = f"its target is {_listed([attachment.target])}, and not {named(target)}"
    return Reason("other-section", message, attachment.policy, f"{attachment.declared.field}.sectionName")


def below(attachment: Attachment, target: NodeRef) -> Reason:
    """A reference to something below a node, which does not reach what is above it."""
    nodes = [attachment.target]
    message = f"its target {_listed(nodes)} is below {named(target)}, and policies reach downward alone"
    related = _nodes(nodes)
    return Reason("target-below", message, attachment.policy, attachment.declared.field, related=related)


def _nodes(nodes: Sequence[NodeRef | None]) -> tuple[NodeRef, ...]:
    return tuple(dict.fromkeys(node for node in nodes if node))


def _listed(nodes: Sequence[NodeRef | None]) -> str:
    """The first few of some nodes and the number of the others."""
    names = [named(node) for node in _nodes(nodes)]
    more = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    shown = [*names[:_MOST_NAMED], *more]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)
