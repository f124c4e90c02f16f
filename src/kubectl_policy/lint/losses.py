"""What policies lose to others: which of their fields are not in force, where, for whom, and what is there instead."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from kubectl_policy.model.fields import Every, FieldPath, same_json
from kubectl_policy.model.world import grouped
from kubectl_policy.questions.shared.in_force import assumed_of
from kubectl_policy.resolution.enforcement import lost_fields
from kubectl_policy.resolution.traced import KeyedList, Leaf, field_name, leaves

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import NodeRef, ObjectRef, Resource
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.resolution import Resolution, Source, Traced
    from kubectl_policy.resolution.enforcement import Enforcement
    from kubectl_policy.resolution.traced import Field

# By what a field is beaten: what another policy on the same target says, an override further up, what the target
# object says itself, or a policy that is nearer.
How: TypeAlias = Literal["on the same target", "overridden", "by the object", "nearer"]
# What is in force in its place.
Instead: TypeAlias = Literal["the same", "another", "removed", "nothing"]


class Loss(Struct, frozen=True, gc=False):
    """A field that a policy declares, and that is not in force wherever the policies of an outcome meet."""

    resolution: Resolution
    field: Field
    leaf: Leaf
    """The value; of the elements of a list, the first."""
    by: Source
    """Who supersedes it: of several the first one further down, or else the first one at all."""
    how: How
    instead: Instead


class Losses:
    """What one policy loses, on all of its paths; what it is refused as a whole is not among that."""

    def __init__(
        self,
        policy: Resource,
        profile: PolicyKindProfile,
        enforcement: Enforcement,
        places: dict[Resolution, Mapping[Source, int]],
    ) -> None:
        """Nothing is looked for before somebody asks; `places` are those of sources on paths, as far as known."""
        self.policy, self.profile, self.enforcement = policy, profile, enforcement
        self._places = places

    @cached_property
    def are_certain(self) -> bool:
        """Whether it is known how policies of the kind combine, where they say so themselves or a profile does."""
        return not assumed_of(self.profile, self.enforcement.resolutions)

    @cached_property
    def all(self) -> Sequence[Loss]:
        """All of them, by outcome, in the order of the fields."""
        return [loss for resolution in self.enforcement.resolutions for loss in self._in(resolution)]

    def _in(self, resolution: Resolution) -> Iterator[Loss]:
        policy = self.policy.ref
        # What is refused or ignored, or said by another part of the policy, is not lost to anybody.
        lost = [
            (name, leaf, by)
            for name, leaf, state, by in lost_fields(resolution.outcomes_of(policy))
            if state == "superseded" and by and all(each.object != policy for each in by)
        ]
        if not lost:
            return
        if resolution not in self._places:
            self._places[resolution] = {part.source: place for place, part in enumerate(resolution.contributions)}
        order = self._places[resolution]
        specs = {part.source: part.spec for part in resolution.contributions_of[policy]}
        seen: set[tuple[Field, Source]] = set()
        for name, leaf, by in lost:
            own = leaf.source
            field = _listless(specs[own], name)
            if (field, own) not in seen:
                seen.add((field, own))
                winner = _first(own, by, order)
                how, instead = _how(own, winner, order), _instead(resolution.spec, field, leaf)
                yield Loss(resolution, field, leaf, winner, how, instead)

    def objects(self, losses: Iterable[Loss]) -> list[ObjectRef]:
        """The objects for which something is lost: those at the ends of the paths, sorted."""
        return sorted({obj for resolution in {loss.resolution for loss in losses} for obj in self._ends[resolution]})

    @cached_property
    def _ends(self) -> Mapping[Resolution, Collection[ObjectRef]]:
        return grouped((effective.resolution, effective.target.object) for effective in self.enforcement.outcomes)

    @cached_property
    def declared(self) -> Mapping[Field, int]:
        """All fields that the policy declares on its paths, each with the number of outcomes in which it does so."""
        return Counter(
            field
            for resolution in self.enforcement.resolutions
            for field in {
                _listless(part.spec, name)
                for part in resolution.contributions_of.get(self.policy.ref, ())
                for name, _ in leaves(part.spec)
            }
        )

    def of_dead_fields(self, losses: Collection[Loss]) -> list[Loss]:
        """Of some losses, those of fields that are in force nowhere for these alone."""
        times = Counter(field for field, _ in {(loss.field, loss.resolution) for loss in losses})
        return [loss for loss in losses if times[loss.field] == self.declared[loss.field]]

    def is_protection_dropped(self, loss: Loss) -> bool:
        """Whether a field is known to protect, nothing of its sort is in force instead, and nobody says that it yields.

        What switches something off does not protect, and of several entries of one map another one may. That it yields
        is said by defaults that are called so.
        """
        leaf, field = loss.leaf, loss.field
        if loss.how != "nearer" or not leaf.value or leaf.defaulted or not self.profile.is_security(field):
            return False
        if there(loss.resolution.spec, sort_of(field, self.profile)) is not None:
            return False
        own = loss.resolution.contributions_of[self.policy.ref]
        return any(each.field == "spec" and each.source == leaf.source for each in own)

    def parts(self, losses: Iterable[Loss]) -> dict[Field, Loss]:
        """Lost fields in few words: what holds nothing else that the policy declares stands for all that is in it."""
        lost: dict[Field, Loss] = {}
        for loss in losses:
            lost.setdefault(loss.field, loss)
        kept = self.declared.keys() - lost.keys()
        around = {field[:depth] for field in kept for depth in range(1, len(field) + 1)}
        parts: dict[Field, Loss] = {}
        for field, loss in lost.items():
            part = next((field[:depth] for depth in range(1, len(field)) if field[:depth] not in around), field)
            parts.setdefault(part, loss)
        return parts

    def names(self, losses: Iterable[Loss]) -> list[str]:
        """The names of lost fields, in few words."""
        return [field_name(part) for part in self.parts(losses)]

    def place(self, losses: Iterable[Loss]) -> str:
        """Where the policy declares the first of what is lost."""
        part, loss = next(iter(self.parts(losses).items()))
        own = loss.resolution.contributions_of[self.policy.ref]
        having = (each.field for each in own if each.source == loss.leaf.source and there(each.spec, part) is not None)
        return str(FieldPath((*FieldPath.parse(next(having, "spec")).steps, *part)))


def sort_of(field: Field, profile: PolicyKindProfile) -> Field:
    """What a protecting field is a part of: as the profile names it, a map of which it is an entry, or a whole key."""
    every = [FieldPath.parse(name).steps for name in sorted(profile.security_fields)]
    named = [steps for steps in every if steps != (Every.KEY,) and FieldPath(steps).holds(field)]
    if named:
        return field[: len(max(named, key=len))]
    for name in sorted(profile.whole_fields):
        *around, last = name.split(".")
        sort = tuple(around) if last == "*" else (*around, last)
        if sort and field[: len(sort)] == sort:
            return sort
    return field[:1]


def by_winner(losses: Iterable[Loss]) -> Mapping[tuple[ObjectRef, NodeRef], Sequence[Loss]]:
    """Losses by who is in force instead, and by way of which target, in their order."""
    groups: dict[tuple[ObjectRef, NodeRef], list[Loss]] = {}
    for loss in losses:
        groups.setdefault((loss.by.object, loss.by.target), []).append(loss)
    return groups


def _first(own: Source, winners: Iterable[Source], order: Mapping[Source, int]) -> Source:
    """Of those who beat a source the first one nearer to requests, or else the first one at all."""
    last = len(order)
    return min(winners, key=lambda each: (order.get(each, last) < order[own], order.get(each, last), each))


def _how(own: Source, winner: Source, order: Mapping[Source, int]) -> How:
    if winner.object == winner.target.object:
        return "by the object"
    if winner.target == own.target and not winner.filter and not own.filter:
        return "on the same target"
    return "overridden" if winner.overrides and order[winner] < order[own] else "nearer"


def _instead(spec: Traced, field: Field, lost: Leaf) -> Instead:
    found = there(spec, field)
    if isinstance(found, Leaf):
        return "removed" if found.removed else "the same" if same_json(found.value, lost.value) else "another"
    return "nothing" if found is None else "another"


def there(spec: Traced, field: Sequence[str]) -> Leaf | Traced | None:
    """What is at a field, or above it instead; None if nothing is."""
    found: Leaf | Traced | None = spec
    for key in field:
        if found is None or isinstance(found, Leaf):
            break
        found = found.get(key)
    return found


def _listless(spec: Traced, field: Field) -> Field:
    """A field down to the first list in it."""
    outer = (field[:depth] for depth in range(1, len(field)))
    return next((each for each in outer if isinstance(there(spec, each), KeyedList)), field)
