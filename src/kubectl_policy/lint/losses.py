"""Fields of policies that are not in force: where, for which objects, and what replaces them."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from kubectl_policy.model.fields import Every, FieldPath, same_json
from kubectl_policy.model.world import grouped
from kubectl_policy.questions.shared.in_force import assumed_of
from kubectl_policy.resolution.enforcement import Enforcement, lost_fields
from kubectl_policy.resolution.protection import Protection
from kubectl_policy.resolution.traced import Field, KeyedList, Leaf, field_name, leaves

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import NodeRef, ObjectRef, Resource
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.resolution import Resolution, Source, Traced

# By what a field is lost: what another policy on the same target says, an override further up, what the target
# object says itself, or a policy that is nearer.
LossCause: TypeAlias = Literal["on the same target", "overridden", "by the object", "nearer"]
# The value in force instead.
Replacement: TypeAlias = Literal["the same", "another", "removed", "nothing"]


class Loss(Struct, frozen=True, gc=False):
    """A field of a policy that is not in force in one resolution."""

    resolution: Resolution
    field: Field
    leaf: Leaf
    """The value, or the first element of a list."""
    by: Source
    """The source that supersedes it: the first nearer one, or else the first one."""
    cause: LossCause
    replacement: Replacement


class Losses:
    """The losses of one policy on all of its paths, except targets that refuse it as a whole."""

    def __init__(
        self,
        policy: Resource,
        profile: PolicyKindProfile,
        enforcement: Enforcement,
        positions: dict[Resolution, Mapping[Source, int]],
    ) -> None:
        """Keep the policy and its enforcement; `positions` is a shared cache of the order of sources."""
        self.policy, self.profile, self.enforcement = policy, profile, enforcement
        self._positions = positions

    @cached_property
    def are_certain(self) -> bool:
        """Whether the way in which policies of the kind combine is known."""
        return not assumed_of(self.profile, self.enforcement.resolutions)

    @cached_property
    def all(self) -> Sequence[Loss]:
        """All losses, by resolution, in the order of the fields."""
        return [loss for resolution in self.enforcement.resolutions for loss in self._losses_in(resolution)]

    def _losses_in(self, resolution: Resolution) -> Iterator[Loss]:
        policy = self.policy.ref
        # Fields that are refused, ignored, or superseded by the policy itself are not lost.
        lost = [
            (name, leaf, by)
            for name, leaf, state, by in lost_fields(resolution.outcomes_of(policy))
            if state == "superseded" and by and all(source.object != policy for source in by)
        ]
        if not lost:
            return
        if resolution not in self._positions:
            sources = (part.source for part in resolution.contributions)
            self._positions[resolution] = {source: position for position, source in enumerate(sources)}
        order = self._positions[resolution]
        specs = {part.source: part.spec for part in resolution.contributions_of[policy]}
        seen: set[tuple[Field, Source]] = set()
        for name, leaf, by in lost:
            source = leaf.source
            field = _up_to_list(specs[source], name)
            if (field, source) not in seen:
                seen.add((field, source))
                # The nearest winner that is closer to requests than the loser, or else the first one.
                last, position = len(order), order[source]
                winner = min(by, key=lambda rival: (order.get(rival, last) < position, order.get(rival, last), rival))
                cause, replacement = _cause(source, winner, order), _replacement(resolution.spec, field, leaf)
                yield Loss(resolution, field, leaf, winner, cause, replacement)

    def objects(self, losses: Iterable[Loss]) -> list[ObjectRef]:
        """Return the objects at the ends of the paths of some losses, sorted."""
        return sorted({obj for resolution in {loss.resolution for loss in losses} for obj in self._ends[resolution]})

    @cached_property
    def _ends(self) -> Mapping[Resolution, Collection[ObjectRef]]:
        return grouped((effective.resolution, effective.target.object) for effective in self.enforcement.outcomes)

    @cached_property
    def declared(self) -> Mapping[Field, int]:
        """The fields that the policy declares, with the number of resolutions in which it does so."""
        return Counter(
            field
            for resolution in self.enforcement.resolutions
            for field in {
                _up_to_list(part.spec, name)
                for part in resolution.contributions_of.get(self.policy.ref, ())
                for name, _ in leaves(part.spec)
            }
        )

    @cached_property
    def overridden_everywhere(self) -> Sequence[Loss]:
        """The losses of fields that are overridden in every resolution."""
        lost = [loss for loss in self.all if loss.cause == "overridden" and loss.replacement != "the same"]
        times = Counter(field for field, _ in {(loss.field, loss.resolution) for loss in lost})
        return [loss for loss in lost if times[loss.field] == self.declared[loss.field]]

    @cached_property
    def causes(self) -> frozenset[LossCause]:
        """The causes for which the policy's own values are not in force."""
        return frozenset(loss.cause for loss in self.all if loss.replacement != "the same")

    def is_protection_dropped(self, loss: Loss) -> bool:
        """Whether a security field is lost to a nearer policy, and nothing of its group is in force instead.

        A false or empty value does not protect, and fields in `defaults` are meant to be replaced.
        """
        leaf, field = loss.leaf, loss.field
        if loss.cause != "nearer" or not leaf.value or leaf.defaulted or not self.profile.is_security(field):
            return False
        if effective_at(loss.resolution.spec, field_group(field, self.profile)) is not None:
            return False
        contributions = loss.resolution.contributions_of[self.policy.ref]
        declaring = (part for part in contributions if part.field == "spec" and part.source == leaf.source)
        return any(Protection(part.spec, self.profile).protects(field) for part in declaring)

    def parts(self, losses: Iterable[Loss]) -> dict[Field, Loss]:
        """Return lost fields; one of their parents stands for them if the policy keeps nothing in it."""
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
        """Return the names of lost fields."""
        return [field_name(part) for part in self.parts(losses)]

    def field_of(self, losses: Iterable[Loss]) -> str:
        """Return the path of the first lost field in the policy."""
        part, loss = next(iter(self.parts(losses).items()))
        contributions = loss.resolution.contributions_of[self.policy.ref]
        from_source = (contribution for contribution in contributions if contribution.source == loss.leaf.source)
        fields = (declared.field for declared in from_source if effective_at(declared.spec, part) is not None)
        return str(FieldPath((*FieldPath.parse(next(fields, "spec")).steps, *part)))


def field_group(field: Field, profile: PolicyKindProfile) -> Field:
    """Return the security field, map or top-level key that a field belongs to."""
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


def protecting_fields(resolution: Resolution, profile: PolicyKindProfile) -> Iterator[str]:
    """Yield the security fields that protect requests, each by the name of its group."""
    protection = Protection(resolution.spec, profile)
    for field, leaf in leaves(resolution.spec):
        if leaf.value and protection.protects(field):
            yield field_name(field_group(field[1:] if profile.all_apply else field, profile))


def by_winner(losses: Iterable[Loss]) -> Mapping[tuple[ObjectRef, NodeRef], Sequence[Loss]]:
    """Group losses by the policy that supersedes them and its target."""
    groups: dict[tuple[ObjectRef, NodeRef], list[Loss]] = {}
    for loss in losses:
        groups.setdefault((loss.by.object, loss.by.target), []).append(loss)
    return groups


def _cause(loser: Source, winner: Source, order: Mapping[Source, int]) -> LossCause:
    if winner.object == winner.target.object:
        return "by the object"
    if winner.target == loser.target and not winner.filter and not loser.filter:
        return "on the same target"
    return "overridden" if winner.overrides and order[winner] < order[loser] else "nearer"


def _replacement(spec: Traced, field: Field, lost: Leaf) -> Replacement:
    effective = effective_at(spec, field)
    if isinstance(effective, Leaf):
        return "removed" if effective.removed else "the same" if same_json(effective.value, lost.value) else "another"
    return "nothing" if effective is None else "another"


def effective_at(spec: Traced, field: Sequence[str]) -> Leaf | Traced | None:
    """Return the value at a field or at one of its parents, or None."""
    value: Leaf | Traced | None = spec
    for key in field:
        if value is None or isinstance(value, Leaf):
            break
        value = value.get(key)
    return value


def _up_to_list(spec: Traced, field: Field) -> Field:
    """Return a field up to the first list in it."""
    outer = (field[:depth] for depth in range(1, len(field)))
    return next((outer_field for outer_field in outer if isinstance(effective_at(spec, outer_field), KeyedList)), field)
