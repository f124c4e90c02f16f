"""What is asked: a policy and a node, with its effect there."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from kubectl_policy.model.fields import FieldPath
from kubectl_policy.questions.shared.effects import covered_paths
from kubectl_policy.questions.shared.in_force import effective_entries

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Resource
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.questions.shared.in_force import Entry
    from kubectl_policy.topology import Path


class EffectOn(Struct, frozen=True):
    """The paths through a node, and the effect of a policy on them."""

    paths: tuple[Path, ...]
    carrying: frozenset[int]
    """The positions of the paths on which traffic runs, as far as is known."""
    in_force: tuple[int, ...]
    """Those of them on which the policy has an effective field, or takes part without declaring any."""
    undecided: tuple[int, ...]
    """Those on which it may have one, but how its kind's policies combine is not known."""
    entries: tuple[Entry, ...]
    """The effective policies on the paths, where it takes effect on them."""
    above: frozenset[NodeRef]
    """The nodes at which a policy has an effect on the node: that and what is above it if it takes effect further down
    than the node, else every node on the paths."""


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


class Case(Struct, frozen=True, dict=True):
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

    @property
    def failing(self) -> list[Attachment]:
        """The failed ones by references of the policy's own."""
        failing = (attachment for attachment in self.attachments if attachment.state != "attached")
        return [attachment for attachment in failing if not attachment.declared.named_by]

    def read(self, *refs: ObjectRef) -> list[Resource]:
        """Those of some objects that were read."""
        return [resource for ref in refs if (resource := self.analysis.index.get(ref))]

    def schema_at(self, kind: GroupKind, field: FieldPath) -> Json:
        """What the definition of a kind says of a field; nothing if the definition was not read."""
        schema: Json = self.analysis.index.defaults.schema_of(kind)
        for step in field.steps:
            schema = FieldPath(("properties", step)).get(schema)
        return schema
