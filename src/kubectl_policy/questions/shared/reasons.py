"""What a reason is for which a policy, or something that it depends on, has no effect; and their causal order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.model.kinds import listed, names, plural
from kubectl_policy.model.refs import is_unnamed
from kubectl_policy.topology.references import ROUTES, WITH_LISTENERS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import NodeRef, ObjectRef, Origin

# Stable names, in causal order: what is said of the policy itself, what it names, whether it may, who acts on it, how
# routes attach, where requests go, and how policies meet.
RULES: Final = (
    "not-computed",
    "combination-unknown",
    "no-fields",
    "no-reference",
    "no-filter",
    "filter-unsupported",
    "target-missing",
    "other-group",
    "group-version",
    "other-namespace",
    "target-unknown",
    "other-target",
    "target-below",
    "section-missing",
    "other-section",
    "not-selected",
    "kind-unsupported",
    "namespace-closed",
    "not-permitted",
    "need-not-permitted",
    "policy-invalid",
    "target-invalid",
    "other-controller",
    "not-enabled",
    "target-overlaps",
    "parent-missing",
    "parent-unknown",
    "parent-invalid",
    "no-parent",
    "listener-missing",
    "listener-port",
    "listener-set-refused",
    "listener-kind",
    "listener-namespace",
    "listener-hostname",
    "listener-conflict",
    "not-delegated",
    "backend-not-permitted",
    "no-weight",
    "hostname-too-wide",
    "nothing-below",
    "takes-effect-elsewhere",
    "direct-above",
    "not-on-path",
    "replaced-by-section",
    "unheeded",
    "refused",
    "overridden",
    "beaten-on-target",
    "superseded",
    "not-counted",
)


class Reason(Struct, frozen=True):
    """A reason for which a policy has no effect."""

    rule: Annotated[str, Meta(description="A stable name.", pattern="^[a-z]+(-[a-z]+)*$")]
    message: Annotated[str, Meta()]
    object: Annotated[ObjectRef, Meta(description="What is responsible.")]
    field: Annotated[str, Meta(description="The field of it that is; empty if none is.")] = ""
    origin: Annotated[Origin | None, Meta()] = None
    reason: Annotated[str, Meta(description="The API's own word for it; empty if it has none.")] = ""
    related: Annotated[
        tuple[NodeRef, ...],
        Meta(description="What else it is about: a route and a listener, or who beats the policy and where."),
    ] = ()
    positions: tuple[int, ...] = ()
    """The positions of the paths of which it is true; none if it is true of all."""

    @property
    def paths(self) -> Annotated[tuple[int, ...], Meta()]:
        """The numbers of the paths of which it is true; empty if of all."""
        return tuple(position + 1 for position in self.positions)


def in_causal_order(analysis: Analysis, reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """Reasons, each once, with what comes first in the chain of causes first, and with the origins of their objects.

    What holds on several paths is one reason.
    """
    paths: dict[Reason, set[int]] = {}
    for reason in reasons:
        anywhere = replace(reason, positions=()) if reason.positions else reason
        paths.setdefault(anywhere, set()).update(reason.positions)
    return tuple(
        replace(
            reason,
            origin=resource.origin if (resource := analysis.index.get(reason.object)) else None,
            field=reason.field or _reference_field(analysis, reason),
            positions=tuple(sorted(paths[reason])),
        )
        for reason in sorted(paths, key=lambda reason: RULES.index(reason.rule))
    )


def _reference_field(analysis: Analysis, reason: Reason) -> str:
    """The reference of a policy to what a reason is about; empty if there is none of its own."""
    attachments = analysis.attachments.get(reason.object, ())
    own = (attachment for attachment in attachments if not attachment.declared.named_by)
    return next((attachment.declared.field for attachment in own if attachment.target in reason.related), "")


def named(node: NodeRef) -> str:
    """A node in words: `listener https of Gateway infra/edge`."""
    kind, section = node.object.group_kind, node.section
    if not section or is_unnamed(section) or section.startswith("listener["):
        return f"{section} of {node.object}" if section else str(node.object)
    noun = "listener" if kind in WITH_LISTENERS else "rule" if kind in ROUTES else "port"
    return f"{noun} {section} of {node.object}"


def failure_words(attachments: Iterable[Attachment]) -> str:
    """Return what is wrong with some references of a policy."""
    return listed(list(dict.fromkeys(attachment.message for attachment in attachments if attachment.message)))


def undecided_words(policy: ObjectRef, others: Collection[ObjectRef]) -> str:
    """Return why it is not known whether a policy is enforced, next to others of its kind."""
    return f"it and {names(others)} set different fields, and how {plural(policy.kind)} combine is not known"
