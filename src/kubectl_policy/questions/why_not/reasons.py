"""One reason for which a policy has no effect on a node, and the order in which reasons cause each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.topology.hierarchy import WITH_LISTENERS
from kubectl_policy.topology.references import ROUTES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import NodeRef, ObjectRef, Origin

# Stable names, in causal order: what is said of the policy itself, what it names, whether it may, who acts on it, how
# routes attach, where requests go, and how policies meet.
RULES: Final = (
    "not-computed",
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
    "hostname-too-wide",
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


class Reason(NamedTuple):
    """Why a policy has no effect: the rule, in plain words, and the object and field responsible.

    `api_reason` is the API's own word for it, empty where there is none. `related` are the other things that it is
    about: the route and the listener that do not come together, or what the policy is attached to, or who beats it.
    `paths` are the positions of the paths for which it holds; empty if it holds for all.
    """

    rule: str
    message: str
    object: ObjectRef
    field: str = ""
    origin: Origin | None = None
    api_reason: str = ""
    related: tuple[NodeRef, ...] = ()
    paths: tuple[int, ...] = ()


def named(node: NodeRef) -> str:
    """A node in words: `listener https of Gateway infra/edge`."""
    kind, section = node.object.group_kind, node.section
    if not section or section.startswith(("rule[", "listener[")):
        return f"{section} of {node.object}" if section else str(node.object)
    noun = "listener" if kind in WITH_LISTENERS else "rule" if kind in ROUTES else "port"
    return f"{noun} {section} of {node.object}"


def in_causal_order(analysis: Analysis, reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """Reasons, each once, with what comes first in the chain of causes first, and with the origins of their objects.

    What holds on several paths is one reason.
    """
    found: dict[Reason, dict[int, None]] = {}
    for reason in reasons:
        found.setdefault(reason._replace(paths=()), {}).update(dict.fromkeys(reason.paths))
    merged = (reason._replace(paths=tuple(sorted(paths))) for reason, paths in found.items())
    return tuple(_placed(analysis, reason) for reason in sorted(merged, key=lambda one: RULES.index(one.rule)))


def _placed(analysis: Analysis, reason: Reason) -> Reason:
    """A reason with its origin and, if it is about what a policy is attached to, the reference to that as its field."""
    resource, attachments = analysis.index.get(reason.object), analysis.attachments.get(reason.object, ())
    named = (one.declared.field for one in attachments if one.target in reason.related and not one.declared.named_by)
    return reason._replace(origin=resource.origin if resource else None, field=reason.field or next(named, ""))
