"""What is asked: a policy and a node, with its effect there; and what a reason for having none is."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import FieldPath
from kubectl_policy.model.values import value
from kubectl_policy.questions.shared.effects import covered_paths
from kubectl_policy.questions.shared.in_force import effective_entries
from kubectl_policy.topology.references import ROUTES, WITH_LISTENERS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Origin, Resource
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.questions.shared.in_force import Entry
    from kubectl_policy.topology import Path

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


@value()
class EffectOn:
    """The paths through a node, and the effect of a policy on them.

    `carrying` are the positions of the paths on which traffic runs, as far as is known, `in_force` those of them on
    which the policy has an effective field, or takes part without declaring any, and `undecided` those on which it may
    have one, but how its kind's policies combine is not known. `entries` are the effective policies
    on the paths, where it takes effect on them. If that is further down than the node, `above` are the nodes at which a
    policy has an effect on it: the node itself and what is above it; else it is every node on the paths.
    """

    paths: tuple[Path, ...]
    carrying: frozenset[int]
    in_force: tuple[int, ...]
    undecided: tuple[int, ...]
    entries: tuple[Entry, ...]
    above: frozenset[NodeRef]


def effect_on(analysis: Analysis, policy: ObjectRef, target: NodeRef) -> EffectOn:
    """The effect of a policy on the paths through a node.

    They lead down to where `describe` looks for effects on the node or, if the kind takes effect further down, to all
    that is below the node: then the policy has an effect on it if it has one on something there, by way of the node or
    of what is above it.
    """
    kind = policy.group_kind
    paths = covered_paths(analysis, target)
    entries = effective_entries(analysis, target, paths, kind)
    below = any(entry.passes_down for entry in entries)
    if below:
        paths = analysis.topology.paths_through(target)
        entries = effective_entries(analysis, target, paths, kind)
    entries = tuple(entry for entry in entries if not entry.passes_down)
    carrying = frozenset(place for place, path in enumerate(paths) if analysis.topology.carries_traffic(path))
    above = frozenset(node for path in paths for node in (_down_to(path, target) if below else path))
    in_force: dict[int, None] = {}
    undecided: dict[int, None] = {}
    for entry in (entry for entry in entries if entry.path in carrying):
        resolution = entry.effective.resolution
        ours = {source for source in resolution.sources_in_force if source.object == policy and source.target in above}
        if policy in resolution.policies_in_force and ours:
            (undecided if ours <= resolution.undecided else in_force)[entry.path] = None
    return EffectOn(
        paths=paths,
        carrying=carrying,
        in_force=tuple(in_force),
        undecided=tuple(place for place in undecided if place not in in_force),
        entries=entries,
        above=above,
    )


def _down_to(path: Path, target: NodeRef) -> Path:
    deepest = max((place for place, node in enumerate(path) if node.object == target.object), default=len(path))
    return path[: deepest + 1]


@value()
class Case:
    """A policy and a node on which it is to have an effect, in a world that was read, and its effect there."""

    analysis: Analysis
    policy: Resource
    target: NodeRef
    effect: EffectOn

    @cached_property
    def profile(self) -> PolicyKindProfile:
        """What is known of the policy's kind."""
        return self.analysis.registry.known(self.policy.ref.group_kind)

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The attachments of the policy, also the failed ones."""
        return self.analysis.attachments[self.policy.ref]

    def read(self, *refs: ObjectRef) -> list[Resource]:
        """Those of some objects that were read."""
        return [resource for ref in refs if (resource := self.analysis.index.get(ref))]

    def schema_at(self, kind: GroupKind, field: FieldPath) -> Json:
        """What the definition of a kind says of a field; nothing if the definition was not read."""
        schema: Json = self.analysis.index.defaults.schema_of(kind)
        for step in field.steps:
            schema = FieldPath(("properties", step)).get(schema)
        return schema


@value()
class Reason:
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


def in_causal_order(analysis: Analysis, reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """Reasons, each once, with what comes first in the chain of causes first, and with the origins of their objects.

    What holds on several paths is one reason.
    """
    paths: dict[Reason, set[int]] = {}
    for reason in reasons:
        paths.setdefault(replace(reason, paths=()), set()).update(reason.paths)
    return tuple(
        replace(
            reason,
            origin=resource.origin if (resource := analysis.index.get(reason.object)) else None,
            field=reason.field or _reference_field(analysis, reason),
            paths=tuple(sorted(paths[reason])),
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
    if not section or section.startswith(("rule[", "listener[")):
        return f"{section} of {node.object}" if section else str(node.object)
    noun = "listener" if kind in WITH_LISTENERS else "rule" if kind in ROUTES else "port"
    return f"{noun} {section} of {node.object}"
