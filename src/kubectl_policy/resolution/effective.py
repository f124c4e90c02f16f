"""The effective policy of a kind on a path, as a value: who contributes, what came out, what became of every field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from kubectl_policy.resolution.traced import KeyedList, Leaf, Source, field_name, leaves

if TYPE_CHECKING:
    from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef
    from kubectl_policy.resolution.levels import ScopeOutcome
    from kubectl_policy.resolution.nodes import Refusal
    from kubectl_policy.resolution.strategies import Contribution
    from kubectl_policy.resolution.traced import Field, Traced
    from kubectl_policy.topology import Path

FateState: TypeAlias = Literal["effective", "superseded", "rejected", "unheeded"]
Doubt: TypeAlias = Literal["age unknown", "fold direction"]

_NOBODY: Final[Mapping[Source, Refusal]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one declared field on a path.

    `effective`: it is in force. `superseded`: `superseded_by` set the field, or what replaced the map that it was in or
    the whole spec, instead.
    `rejected`: the whole policy conflicts with `superseded_by` and is refused. `unheeded`: the controllers
    ignore it, for nobody's sake. `by_port`: what `superseded_by` say of the path's port stands instead.
    """

    field: str
    value: Json
    source: Source
    state: FateState
    superseded_by: tuple[Source, ...] = ()
    by_port: bool = False


class EffectivePolicy(NamedTuple):
    """What the policies of one kind amount to at the end of a path.

    `contributions` are least specific first. `members` are the sources that took part, `rejected` those refused for a
    conflict; of these, `kept_out` are those of policies that another one on their target, or on another one of theirs,
    keeps out. `ignored_fields` are those that the controllers ignore here, `ignored_sources` those of which nothing
    counts here, even if they declare no field. `scopes` are the parts of which the spec is made, broadest first.
    `instead` is a field, and who says something of the path's port, which stands instead of that field. `doubts` name
    what the answer rests on without knowing it.
    """

    path: Path
    kind: GroupKind
    spec: Traced
    contributions: tuple[Contribution, ...]
    members: frozenset[Source]
    rejected: frozenset[Source]
    doubts: frozenset[Doubt] = frozenset()
    kept_out: Mapping[Source, Refusal] = _NOBODY
    ignored_fields: frozenset[tuple[Source, Field]] = frozenset()
    ignored_sources: frozenset[Source] = frozenset()
    scopes: tuple[ScopeOutcome, ...] = ()
    instead: tuple[Field, frozenset[Source]] = ((), frozenset())

    @property
    def target(self) -> NodeRef:
        """The node at which this takes effect: the end of the path."""
        return self.path[-1]

    def on(self, path: Path) -> EffectivePolicy:
        """The same outcome at the end of another path."""
        return self._replace(path=path)

    def doubting(self, doubt: Doubt) -> EffectivePolicy:
        """The same outcome with one more doubt."""
        return self._replace(doubts=self.doubts | {doubt})

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
        if (leaf.source, field) in self.ignored_fields:
            return Fate(name, leaf.value, leaf.source, "unheeded")
        found, around = self._place(field)
        # One source can declare a field twice, bare and in a stanza: then the value tells which is in force.
        if isinstance(found, Leaf) and (found.source != leaf.source or found.value != leaf.value):
            return Fate(name, leaf.value, leaf.source, "superseded", (found.source,))
        nothing_more: Json = [] if isinstance(found, KeyedList) else {}
        if isinstance(found, Leaf) or (found is not None and leaf.value == nothing_more):
            return Fate(name, leaf.value, leaf.source, "effective")
        replaced = {inner.source for _, inner in leaves(around)}
        instead: frozenset[Source] = frozenset() if replaced else self._instead_of(field)
        by = tuple(sorted(replaced or instead)) or self._winners()
        return Fate(name, leaf.value, leaf.source, "superseded", by, by_port=bool(instead))

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

    def _instead_of(self, field: Field) -> frozenset[Source]:
        """Who says of the path's port what stands instead of a field."""
        outer, sources = self.instead
        return sources if outer and field[: len(outer)] == outer else frozenset()

    def _winners_over(self, rejected: Source) -> tuple[Source, ...]:
        refusal = self.kept_out.get(rejected)
        if refusal is None:
            return self._winners()
        holder = (refusal.holder, refusal.target)
        there = dict.fromkeys(part.source for part in self.contributions if part.source[:2] == holder)
        return tuple(there) or (Source(*holder),)

    def _winners(self) -> tuple[Source, ...]:
        return tuple(part.source for part in self.contributions if part.source in self.members)
