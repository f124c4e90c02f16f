"""The effective policy of a kind on a path: who contributes, what comes out, what became of every field."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from kubectl_policy.model.fields import value_at
from kubectl_policy.resolution.strategies import Contribution, fold
from kubectl_policy.resolution.traced import Leaf, Source, field_name, leaves

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.resolution.traced import Field, Traced
    from kubectl_policy.topology import Path

FateState: TypeAlias = Literal["effective", "superseded", "rejected"]
Doubt: TypeAlias = Literal["age unknown", "fold direction"]


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one declared field on a path.

    `effective`: it is in force. `superseded`: `superseded_by` set the field, or what replaced the whole spec, instead.
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
    conflict. `doubts` name what the answer rests on without knowing it.
    """

    path: Path
    kind: GroupKind
    spec: Traced
    contributions: tuple[Contribution, ...]
    members: frozenset[Source]
    rejected: frozenset[Source]
    doubts: frozenset[Doubt] = frozenset()

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
            return Fate(name, leaf.value, leaf.source, "rejected", self._winners())
        found: Leaf | Traced | None = self.spec
        for key in field:
            if found is None or isinstance(found, Leaf):
                break
            found = found.get(key)
        # One source can declare a field twice, bare and in a stanza: then the value tells which is in force.
        if isinstance(found, Leaf) and (found.source != leaf.source or found.value != leaf.value):
            return Fate(name, leaf.value, leaf.source, "superseded", (found.source,))
        if isinstance(found, Leaf) or (found is not None and leaf.value == {}):
            return Fate(name, leaf.value, leaf.source, "effective")
        replaced = {inner.source for _, inner in leaves(found or {})}
        return Fate(name, leaf.value, leaf.source, "superseded", tuple(sorted(replaced)) or self._winners())

    def _winners(self) -> tuple[Source, ...]:
        return tuple(part.source for part in self.contributions if part.source in self.members)


def resolve(
    path: Path,
    profile: PolicyKindProfile,
    contributions: tuple[Contribution, ...],
    target_object: Mapping[str, Json],
) -> EffectivePolicy:
    """The effective policy of a kind at the end of a path, from at least one contribution.

    `target_object` is the object at the end of the path: its own fields beat every default and lose to every override
    (the profile's `object_fields`; experimental GEP-713, `RetryOnPolicy`).
    """
    merged = fold(contributions, profile.fold or "bottom-up")
    spec = merged.spec
    doubts: frozenset[Doubt] = frozenset()
    # Of two, whichever way one goes, the established one's strategy decides.
    if profile.fold is None and len(contributions) > 2:  # noqa: PLR2004 (a pair)
        other = fold(contributions, "top-down")
        if other.spec != spec or other.rejected != merged.rejected:
            doubts = frozenset({"fold direction"})
    spec = _with_object_fields(spec, profile, target_object, path[-1])
    return EffectivePolicy(path, profile.group_kind, spec, contributions, merged.members, merged.rejected, doubts)


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
