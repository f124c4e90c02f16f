"""Levels and scopes: policies that are merged with their neighbours first, and only then with those above and below."""

from __future__ import annotations

from functools import reduce
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from kubectl_policy.profiles.merging import MergeStrategy
from kubectl_policy.resolution.combined import combined_fields, field_of, only_field, whole_among, with_defaults
from kubectl_policy.resolution.traced import leaves
from kubectl_policy.topology.references import ROUTES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.merging import Inheritance
    from kubectl_policy.resolution.path_context import PathContext
    from kubectl_policy.resolution.strategies import Contribution
    from kubectl_policy.resolution.traced import Field, Source, Traced
    from kubectl_policy.topology.gateway.listeners import Listener


class ScopeOutcome(NamedTuple):
    """What the policies of one scope amount to; `members` are those that take part in it."""

    spec: Traced
    members: frozenset[Source]


class Stack(NamedTuple):
    """What the scopes of a path amount to together."""

    spec: Traced
    members: frozenset[Source]
    rejected: frozenset[Source]
    scopes: tuple[ScopeOutcome, ...]


class _Level(NamedTuple):
    """The policies on one level, or on several, merged; `obj` is the object that the uppermost one is the level of.

    `empty` policies replace none further up.
    """

    obj: ObjectRef
    spec: Traced
    members: frozenset[Source]
    rejected: frozenset[Source] = frozenset()
    empty: bool = False


def is_stacked(profile: PolicyKindProfile) -> bool:
    """Whether a kind's policies are merged level by level; those of other kinds are folded one by one."""
    joins = profile.shared_fields or profile.scopes or profile.route_choice
    return bool(joins) or profile.same_level == "all-apply"


def stack(parts: Sequence[Contribution], profile: PolicyKindProfile, context: PathContext) -> Stack:
    """The contributions of a path in the order of the fold, scope by scope, as one spec.

    What a policy chooses for itself does not matter: between levels the strategy of the kind decides, or a route.
    """
    scopes: dict[int, list[Contribution]] = {}
    for part in parts:
        scopes.setdefault(_scope_of(part, profile, context.listener), []).append(part)
    levels = [_scope(scopes[number], profile, context.choices) for number in sorted(scopes, reverse=True)]
    outcomes = tuple(ScopeOutcome(level.spec, level.members) for level in levels)
    whole = whole_among(profile.shared_fields, "scopes")
    spec: Traced = reduce(lambda broad, narrow: with_defaults(narrow.spec, broad, whole), outcomes, {})
    members = frozenset(source for outcome in outcomes for source in outcome.members)
    rejected = frozenset(source for level in levels for source in level.rejected)
    return Stack(spec, members, rejected, outcomes)


def _scope_of(part: Contribution, profile: PolicyKindProfile, listener: Listener | None) -> int:
    """The scope of a contribution, 0 for the narrowest one."""
    protocol, target = listener.protocol if listener else "", part.source.target
    numbered = enumerate(profile.scopes)
    return next((number for number, scope in numbered if scope.includes(target, protocol)), len(profile.scopes))


def _scope(
    parts: Sequence[Contribution], profile: PolicyKindProfile, choices: Mapping[ObjectRef, Inheritance]
) -> _Level:
    *above, outcome = _levels(parts, profile)
    for level in reversed(above):
        outcome = _below(level, outcome, profile, choices.get(level.obj))
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
    joints = profile.shared_fields
    whole = whole_among(joints, "level")
    unless = {field_of(joint): joint.unless for joint in joints if joint.unless and "level" in joint.within}
    first, *later = [part.spec for part in _in_precedence(parts)]
    spec = reduce(lambda merged, spec: with_defaults(merged, spec, whole, unless), later, first)
    members = frozenset(part.source for part in parts)
    return _Level(parts[0].source.target.object, spec, members, empty=all(part.empty for part in parts))


def _in_precedence(parts: Sequence[Contribution]) -> list[Contribution]:
    """Contributions in the order of the fold as a level looks at them: overrides from the first on, then the rest."""
    overrides = [part for part in parts if part.strategy.overrides]
    return [*overrides, *(part for part in reversed(parts) if not part.strategy.overrides)]


def _below(level: _Level, below: _Level, profile: PolicyKindProfile, choice: Inheritance | None) -> _Level:
    """A level laid over, or under, what is below it: as strategies say of two policies, joint fields together."""
    if choice and choice.fields is not None:
        return _met(level, below, _by_field(level, below, profile, choice))
    strategy = choice.strategy if choice else profile.default_strategy
    match strategy:
        case MergeStrategy.NONE:
            return level._replace(rejected=below.rejected | below.members)
        case MergeStrategy.ATOMIC_DEFAULTS if not below.empty:
            return below._replace(obj=level.obj)
        case MergeStrategy.ATOMIC_DEFAULTS | MergeStrategy.ATOMIC_OVERRIDES:
            return level._replace(rejected=below.rejected)
        case _:
            pass
    joint = choice.joint if choice else None if profile.route_choice else strategy
    spec = with_defaults(*_pair(level.spec, below.spec, strategy), _shared_fields(profile))
    if joint:
        together = with_defaults(*_pair(level.spec, below.spec, joint), whole_among(profile.shared_fields, "levels"))
        for field in combined_fields(profile.shared_fields, "levels"):
            spec = with_defaults(only_field(together, field), spec, {field})
    return _met(level, below, spec)


def _met(level: _Level, below: _Level, spec: Traced) -> _Level:
    """Two levels as one, with all who take part in them."""
    empty = level.empty and below.empty
    return _Level(level.obj, spec, level.members | below.members, below.rejected, empty)


def _by_field(level: _Level, below: _Level, profile: PolicyKindProfile, choice: Inheritance) -> Traced:
    """What two levels amount to where a choice holds of some fields alone."""
    spec = with_defaults(*_pair(level.spec, below.spec, profile.default_strategy), _shared_fields(profile))
    every = dict.fromkeys(field for part in (level.spec, below.spec) for field, _ in leaves(part))
    for field in every:
        chosen = next((part for end in range(len(field)) if _is_chosen(part := field[: end + 1], choice)), None)
        if chosen:
            first, later = _pair(only_field(level.spec, chosen), only_field(below.spec, chosen), choice.strategy)
            spec = with_defaults(first or later, spec, {chosen})
    return spec


def _shared_fields(profile: PolicyKindProfile) -> frozenset[Field]:
    return frozenset(field_of(joint) for joint in profile.shared_fields)


def _is_chosen(field: Field, choice: Inheritance) -> bool:
    return (*field[:-1], field[-1].lower()) in (choice.fields or ())


def _pair(above: Traced, below: Traced, strategy: MergeStrategy) -> tuple[Traced, Traced]:
    """Of two specs the one that keeps what it says, then the one that fills."""
    return (above, below) if strategy.overrides else (below, above)
