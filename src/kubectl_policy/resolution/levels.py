"""Levels and scopes: policies that are merged with their neighbours first, and only then with those above and below."""

from __future__ import annotations

from functools import reduce
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from kubectl_policy.profiles.merging import MergeStrategy
from kubectl_policy.resolution.joint import closed, field_of, filled, only
from kubectl_policy.resolution.traced import leaves
from kubectl_policy.topology.references import ROUTES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.merging import Inheritance
    from kubectl_policy.resolution.strategies import Contribution
    from kubectl_policy.resolution.surroundings import Surroundings
    from kubectl_policy.resolution.traced import Field, Source, Traced
    from kubectl_policy.topology.listeners import Listener


class ScopeOutcome(NamedTuple):
    """What the policies of one scope amount to; `members` are those that take part in it."""

    spec: Traced
    members: frozenset[Source]


class Stack(NamedTuple):
    """What the scopes of a path amount to together."""

    spec: Traced
    members: frozenset[Source]
    scopes: tuple[ScopeOutcome, ...]


class _Level(NamedTuple):
    """The policies on one level, merged; `obj` is the object that it is the level of."""

    obj: ObjectRef
    spec: Traced
    members: frozenset[Source]


def is_stacked(profile: PolicyKindProfile) -> bool:
    """Whether a kind's policies are merged level by level; those of other kinds are folded one by one."""
    joins = profile.joint_fields or profile.scopes or profile.route_choice or profile.port_field or profile.unheeded
    return bool(joins) or profile.same_level == "all-apply"


def stack(parts: Sequence[Contribution], profile: PolicyKindProfile, around: Surroundings) -> Stack:
    """The contributions of a path in the order of the fold, scope by scope, as one spec."""
    scopes: dict[int, list[Contribution]] = {}
    for part in parts:
        scopes.setdefault(_scope_of(part, profile, around.listener), []).append(part)
    outcomes = tuple(_scope(scopes[number], profile, around.choices) for number in sorted(scopes, reverse=True))
    whole = closed(profile.joint_fields, "scopes")
    spec: Traced = reduce(lambda broad, narrow: filled(narrow.spec, broad, whole, {}), outcomes, {})
    members = frozenset(source for outcome in outcomes for source in outcome.members)
    return Stack(spec, members, outcomes)


def _scope_of(part: Contribution, profile: PolicyKindProfile, listener: Listener | None) -> int:
    """The scope of a contribution, 0 for the narrowest one."""
    protocol, target = listener.protocol if listener else "", part.source.target
    numbered = enumerate(profile.scopes)
    return next((number for number, scope in numbered if scope.includes(target, protocol)), len(profile.scopes))


def _scope(
    parts: Sequence[Contribution], profile: PolicyKindProfile, choices: Mapping[ObjectRef, Inheritance]
) -> ScopeOutcome:
    levels = _levels(parts, profile)
    lowest = levels[-1]
    outcome = ScopeOutcome(lowest.spec, lowest.members)
    for level in reversed(levels[:-1]):
        outcome = _below(level, outcome, profile, choices)
    return outcome


def _levels(parts: Sequence[Contribution], profile: PolicyKindProfile) -> list[_Level]:
    """A level is a route with its rules, or everything else that stands together."""
    grouped = groupby(parts, lambda part: _route(part) or "")
    return [_level(list(group), profile) for _, group in grouped]


def _route(part: Contribution) -> ObjectRef | None:
    target = part.source.target.object
    return target if target.group_kind in ROUTES else None


def _level(parts: Sequence[Contribution], profile: PolicyKindProfile) -> _Level:
    """The policies of a level: the first one keeps what it says, the later ones fill what is left."""
    joints = profile.joint_fields
    whole = closed(joints, "level")
    unless = {field_of(joint): joint.unless for joint in joints if joint.unless and "level" in joint.within}
    first, *later = [part.spec for part in _in_precedence(parts)]
    spec = reduce(lambda merged, spec: filled(merged, spec, whole, unless), later, first)
    return _Level(parts[0].source.target.object, spec, frozenset(part.source for part in parts))


def _in_precedence(parts: Sequence[Contribution]) -> list[Contribution]:
    """Contributions in the order of the fold as a level looks at them: overrides from the first on, then the rest."""
    overrides = [part for part in parts if part.strategy.overrides]
    return [*overrides, *(part for part in reversed(parts) if not part.strategy.overrides)]


def _below(
    level: _Level, below: ScopeOutcome, profile: PolicyKindProfile, choices: Mapping[ObjectRef, Inheritance]
) -> ScopeOutcome:
    """A level laid over, or under, what is below it."""
    choice = choices.get(level.obj)
    if choice and choice.fields is not None:
        return _by_field(level, below, profile, choice)
    strategy = choice.strategy if choice else profile.default_strategy
    if strategy is MergeStrategy.ATOMIC_DEFAULTS:
        return below
    joint = choice.joint if choice else None if profile.route_choice else strategy
    fields = [field_of(found) for found in profile.joint_fields]
    spec = filled(*_pair(level.spec, below.spec, strategy), fields, {})
    for field in set(fields) - closed(profile.joint_fields, "levels") if joint else ():
        shared = filled(*_pair(only(level.spec, field), only(below.spec, field), joint or strategy), (), {})
        spec = filled(shared, spec, fields, {})
    return ScopeOutcome(spec, level.members | below.members)


def _by_field(level: _Level, below: ScopeOutcome, profile: PolicyKindProfile, choice: Inheritance) -> ScopeOutcome:
    """The same where a choice holds of some fields alone."""
    whole = [field_of(found) for found in profile.joint_fields]
    spec = filled(*_pair(level.spec, below.spec, profile.default_strategy), whole, {})
    every = dict.fromkeys(field for part in (level.spec, below.spec) for field, _ in leaves(part))
    for field in every:
        chosen = next((part for end in range(len(field)) if _is_chosen(part := field[: end + 1], choice)), None)
        if chosen:
            first, later = _pair(only(level.spec, chosen), only(below.spec, chosen), choice.strategy)
            spec = filled(first or later, spec, (*whole, chosen), {})
    return ScopeOutcome(spec, level.members | below.members)


def _is_chosen(field: Field, choice: Inheritance) -> bool:
    return (*field[:-1], field[-1].lower()) in (choice.fields or ())


def _pair(above: Traced, below: Traced, strategy: MergeStrategy) -> tuple[Traced, Traced]:
    """Of two specs the one that keeps what it says, then the one that fills."""
    return (above, below) if strategy.overrides else (below, above)
