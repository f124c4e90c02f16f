"""The effective policy of a kind on a path: who contributes, what comes out, what became of every field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from kubectl_policy.model.fields import value_at
from kubectl_policy.profiles import MergeStrategy
from kubectl_policy.resolution.strategies import Contribution, Merged, fold, lay_over
from kubectl_policy.resolution.traced import KeyedList, Leaf, Source, field_name, keyed, leaves

if TYPE_CHECKING:
    from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.resolution.traced import Field, Traced
    from kubectl_policy.topology import Path

FateState: TypeAlias = Literal["effective", "superseded", "rejected"]
Doubt: TypeAlias = Literal["age unknown", "fold direction"]


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one declared field on a path.

    `effective`: it is in force. `superseded`: `superseded_by` set the field, or what replaced the map that it was in or
    the whole spec, instead.
    `rejected`: the whole policy conflicts with `superseded_by` and is refused (strategy None).
    """

    field: str
    value: Json
    source: Source
    state: FateState
    superseded_by: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class EffectivePolicy:
    """What the policies of one kind amount to at the end of a path.

    `contributions` are least specific first. `members` are the sources that took part, `rejected` those refused for a
    conflict; of these, `kept_out` are those where one policy alone applies to their target, and it is another one.
    `doubts` name what the answer rests on without knowing it.
    """

    path: Path
    kind: GroupKind
    spec: Traced
    contributions: tuple[Contribution, ...]
    members: frozenset[Source]
    rejected: frozenset[Source]
    doubts: frozenset[Doubt] = frozenset()
    kept_out: frozenset[Source] = frozenset()

    @property
    def target(self) -> NodeRef:
        """The node at which this takes effect: the end of the path."""
        return self.path[-1]

    def on(self, path: Path) -> EffectivePolicy:
        """The same outcome at the end of another path."""
        return replace(self, path=path)

    def doubting(self, doubt: Doubt) -> EffectivePolicy:
        """The same outcome with one more doubt."""
        return replace(self, doubts=self.doubts | {doubt})

    def fates(self) -> tuple[Fate, ...]:
        """The fate of every field that a contribution declares, in order of contributions."""
        return tuple(self._fate(field, leaf) for part in self.contributions for field, leaf in leaves(part.spec))

    def policies_in_force(self) -> frozenset[ObjectRef]:
        """The policies with at least one effective field; one that declares none counts if its spec took part."""
        with_fields = {leaf.source.object for _, leaf in leaves(self.spec)}
        empty = {part.source.object for part in self.contributions if not part.spec and part.source in self.members}
        return frozenset((with_fields | empty) & {part.source.object for part in self.contributions})

    def _fate(self, field: Field, leaf: Leaf) -> Fate:
        name = field_name(field)
        if leaf.source in self.rejected:
            return Fate(name, leaf.value, leaf.source, "rejected", self._winners_over(leaf.source))
        found, around = self._place(field)
        # One source can declare a field twice, bare and in a stanza: then the value tells which is in force.
        if isinstance(found, Leaf) and (found.source != leaf.source or found.value != leaf.value):
            return Fate(name, leaf.value, leaf.source, "superseded", (found.source,))
        nothing_more: Json = [] if isinstance(found, KeyedList) else {}
        if isinstance(found, Leaf) or (found is not None and leaf.value == nothing_more):
            return Fate(name, leaf.value, leaf.source, "effective")
        replaced = {inner.source for _, inner in leaves(around)}
        return Fate(name, leaf.value, leaf.source, "superseded", tuple(sorted(replaced)) or self._winners())

    def _place(self, field: Field) -> tuple[Leaf | Traced | None, Traced]:
        """What stands at a field, or above it in its stead; and the closest map there, unless it is the whole spec."""
        found: Leaf | Traced | None = self.spec
        around: Traced = {}
        for key in field:
            if found is None or isinstance(found, Leaf):
                break
            found = found.get(key)
            around = found if isinstance(found, Mapping) else around
        return found, around

    def _winners_over(self, rejected: Source) -> tuple[Source, ...]:
        if rejected not in self.kept_out:
            return self._winners()
        there = dict.fromkeys(part.source for part in self.contributions if part.source.target == rejected.target)
        return tuple(source for source in there if source not in self.kept_out)

    def _winners(self) -> tuple[Source, ...]:
        return tuple(part.source for part in self.contributions if part.source in self.members)


def resolve(
    path: Path,
    profile: PolicyKindProfile,
    contributions: tuple[Contribution, ...],
    target_object: Mapping[str, Json],
    refused: frozenset[Source] = frozenset(),
) -> EffectivePolicy:
    """The effective policy of a kind at the end of a path, from at least one contribution.

    `refused` are contributions that another policy on the same target keeps out. `target_object` is the object at the
    end of the path: its own fields beat every default and lose to every override (the profile's `object_fields`;
    experimental GEP-713, `RetryOnPolicy`).
    """
    taking_part = tuple(part for part in contributions if part.source not in refused)
    if taking_part[-1].strategy is MergeStrategy.STRATEGIC_MERGE:
        keys = {tuple(name.split(".")): key for name, key in profile.list_keys.items()}
        contributions = tuple(replace(part, spec=keyed(part.spec, keys)) for part in contributions)
        taking_part = tuple(part for part in contributions if part.source not in refused)
    merged, doubts = _merged(taking_part, profile)
    spec = _with_object_fields(merged.spec, profile, target_object, path[-1])
    rejected = merged.rejected | refused
    return EffectivePolicy(path, profile.group_kind, spec, contributions, merged.members, rejected, doubts, refused)


def _merged(contributions: tuple[Contribution, ...], profile: PolicyKindProfile) -> tuple[Merged, frozenset[Doubt]]:
    if profile.chooser == "challenger":
        return lay_over(contributions, profile), frozenset()
    merged = fold(contributions, profile.fold or "bottom-up")
    # Of two, whichever way one goes, the established one's strategy decides.
    if profile.fold is None and len(contributions) > 2:  # noqa: PLR2004 (a pair)
        other = fold(contributions, "top-down")
        if other.spec != merged.spec or other.rejected != merged.rejected:
            return merged, frozenset({"fold direction"})
    return merged, frozenset()


def _with_object_fields(
    spec: Traced, profile: PolicyKindProfile, target_object: Mapping[str, Json], node: NodeRef
) -> Traced:
    for policy_field, object_field in profile.object_fields.items():
        value = value_at(target_object, object_field)
        if value not in (None, "", [], {}):
            spec = _put(spec, tuple(policy_field.split(".")), Leaf(value, Source(node.object, node)))
    return spec


def _put(spec: Traced, field: Field, leaf: Leaf) -> Traced:
    """The spec with a leaf at a field, unless an override stands there or above."""
    found = spec.get(field[0])
    if isinstance(found, Leaf) and found.source.overrides:
        return spec
    if len(field) == 1:
        overridden = found is not None and any(inner.source.overrides for _, inner in leaves({field[0]: found}))
        return spec if overridden else {**spec, field[0]: leaf}
    below: Traced = {} if found is None or isinstance(found, Leaf) else found
    return {**spec, field[0]: _put(below, field[1:], leaf)}
