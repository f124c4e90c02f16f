"""Merge the contributions of a path into one spec: fold them one by one, or by level and scope.

`merge_contributions` chooses by the profile. Sources travel with the leaves through any merge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import groupby
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from kubectl_policy.model.kind_roles import ROUTES
from kubectl_policy.profiles.merging import Inheritance, MergeStrategy
from kubectl_policy.resolution.contributions import Contribution, combined_fields, field_of, whole_fields
from kubectl_policy.resolution.traced import Field, Leaf, Source, Traced, leaves, only_field, patched, with_defaults

if TYPE_CHECKING:
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.fields import Fold
    from kubectl_policy.resolution.precedence import PolicyRefusal
    from kubectl_policy.topology.gateway.listeners import Listener

Doubt: TypeAlias = Literal["age unknown", "combination unknown", "fold direction", "order undefined"]
_CERTAIN: Final[frozenset[Doubt]] = frozenset()


class PathContext(Struct, frozen=True, kw_only=True):
    """The parts of a path that matter to a kind, apart from the policies on it.

    `refused` are contributions that another policy keeps out, and `undecided` are those that set a field which another
    one on the same node sets as well, where nothing decides between them. `choices` are those of routes that say how
    their policies meet those on the routes that they lead to.
    """

    refused: Mapping[Source, PolicyRefusal] = field(default_factory=dict["Source", "PolicyRefusal"])
    undecided: frozenset[Source] = frozenset()
    listener: Listener | None = None
    choices: Mapping[ObjectRef, Inheritance] = field(default_factory=dict["ObjectRef", "Inheritance"])


class ScopeOutcome(Struct, frozen=True, kw_only=True):
    """The outcome of the policies of one scope; `members` are those that take part in it."""

    spec: Traced
    members: frozenset[Source]


class MergeOutcome(Struct, frozen=True, kw_only=True):
    """The outcome of contributions together."""

    spec: Traced = field(default_factory=dict[str, "Leaf | Traced"])
    members: frozenset[Source] = frozenset()
    # Sources refused by strategy None, which is a conflict, not a defeat.
    rejected: frozenset[Source] = frozenset()
    # Members whose settings may be in force or not.
    undecided: frozenset[Source] = frozenset()
    # The parts of which the spec is made, broadest first.
    scopes: tuple[ScopeOutcome, ...] = ()
    # What the merge rests on without knowing it.
    doubts: frozenset[Doubt] = frozenset()


def merge_contributions(
    contributions: Sequence[Contribution], profile: PolicyKindProfile, context: PathContext
) -> MergeOutcome:
    """Merge the contributions that count on a path, least specific first, into one spec."""
    if not contributions:
        return MergeOutcome()
    if merges_by_level(profile):
        return merge_by_level(contributions, profile, context)
    doubts: frozenset[Doubt] = _CERTAIN
    if profile.chooser == "challenger":
        layer = fold_by_challenger(contributions, profile)
    else:
        layer = fold(contributions, profile.fold or "bottom-up")
        # Of two, whichever way one goes, the established one's strategy decides.
        if profile.fold is None and len(contributions) > 2:  # noqa: PLR2004 (a pair)
            down = fold(contributions, "top-down")
            if down.spec != layer.spec or down.rejected != layer.rejected:
                doubts = frozenset({"fold direction"})
    if layer.undecided:
        doubts = frozenset({*doubts, "combination unknown"})
    spec = layer.spec
    return MergeOutcome(
        spec=spec,
        members=layer.members,
        rejected=layer.rejected,
        undecided=layer.undecided,
        scopes=(ScopeOutcome(spec=spec, members=layer.members),),
        doubts=doubts,
    )


class Layer(Struct, frozen=True, kw_only=True):
    """Some neighbouring contributions of a path, merged one by one."""

    # The contributions that take part, in the order in which each patches those before it. They are kept separate
    # until all are known, because RFC 7386 is not associative where nulls occur: merged in pairs, a field that
    # one policy removes could come back.
    parts: tuple[Contribution, ...]
    strategy: MergeStrategy
    # The sources of the parts.
    members: frozenset[Source]
    # What the parts declare together, known where they are folded.
    declared: Traced = field(default_factory=dict[str, "Leaf | Traced"])
    rejected: frozenset[Source] = frozenset()
    # Sources of which it is not known whether they take part.
    undecided: frozenset[Source] = frozenset()
    empty: bool = False
    # Whether the strategy is a guess.
    guessed: bool = False

    @classmethod
    def of(cls, part: Contribution) -> Layer:
        """Return one contribution alone."""
        members = frozenset({part.source})
        return cls(
            parts=(part,),
            declared=part.spec,
            strategy=part.strategy,
            members=members,
            empty=part.empty,
            guessed=part.guessed,
        )

    @property
    def spec(self) -> Traced:
        """The outcome of the parts."""
        return reduce(patched, (part.spec for part in self.parts))


def merge(established: Layer, challenger: Layer) -> Layer:
    """Merge a challenger into an established layer, by the strategy of the latter (GEP-713, "Merge strategies").

    Of an established spec that several policies have made, what one of them overrides is all that it overrides: what
    others of them say are defaults still. Where the strategy is a guess and the two have no field in common, they may
    as well add to each other: both are kept, and it is undecided which of them counts.
    """
    strategy = established.strategy
    rejected = _union(established.rejected, challenger.rejected)
    undecided = _union(established.undecided, challenger.undecided)
    match strategy:
        case _ if established.guessed and _disjoint(established.declared, challenger.declared):
            parts = established.parts + challenger.parts
            undecided |= established.members | challenger.members
        case MergeStrategy.NONE:
            return replace(established, rejected=rejected | challenger.members)
        case MergeStrategy.ATOMIC_DEFAULTS if not challenger.empty:
            return replace(challenger, strategy=strategy, rejected=rejected, guessed=established.guessed)
        case MergeStrategy.ATOMIC_DEFAULTS | MergeStrategy.ATOMIC_OVERRIDES:
            return replace(established, rejected=rejected)
        case MergeStrategy.PATCH_OVERRIDES:
            yielding = tuple(part for part in established.parts if not part.strategy.overrides)
            overriding = tuple(part for part in established.parts if part.strategy.overrides)
            parts = yielding + challenger.parts + overriding
        case _:
            parts = established.parts + challenger.parts
    members, empty = established.members | challenger.members, established.empty and challenger.empty
    return replace(
        established,
        parts=parts,
        declared=patched(challenger.declared, established.declared),
        members=members,
        rejected=rejected,
        undecided=undecided,
        empty=empty,
    )


def _union(first: frozenset[Source], second: frozenset[Source]) -> frozenset[Source]:
    """Return the union of two sets without a copy if one is empty."""
    return first | second if first and second else first or second


def _disjoint(first: Traced, second: Traced) -> bool:
    """Whether a spec has fields, and none in common with another one, apart from defaults of definitions."""
    return bool(first) and not _have_common_field(first, second)


def _have_common_field(first: Traced, second: Traced) -> bool:
    common = ((child, second[key]) for key, child in first.items() if key in second)
    return any(
        _have_common_field(ours, theirs)
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping)
        else not any(isinstance(child, Leaf) and child.defaulted for child in (ours, theirs))
        for ours, theirs in common
    )


def fold(contributions: Sequence[Contribution], direction: Fold) -> Layer:
    """Return the contributions of a path, least specific first and at least one, as one spec.

    Bottom-up, each policy merges itself over what is below it, by its own strategy, so that nothing below can undo an
    override (Kuadrant, RFC 0009: "for each p: merge p into ep"). Top-down is the literal reading of GEP-713's chart
    ("Abstract process", provisional): the two least specific merge first, and the result takes the strategy of the more
    specific one, which overrides no more than what it says itself; after a rejection it keeps its own.
    """
    layers = [Layer.of(part) for part in contributions]
    if direction == "bottom-up":
        return reduce(lambda lower, upper: merge(upper, lower), reversed(layers))
    upper, *rest = layers
    for lower in rest:
        deciding = upper if upper.strategy is MergeStrategy.NONE else lower
        upper = replace(merge(upper, lower), strategy=deciding.strategy, guessed=deciding.guessed)
    return upper


def fold_by_challenger(contributions: Sequence[Contribution], profile: PolicyKindProfile) -> Layer:
    """Return the contributions of a path, least specific first and at least one, where each challenger chooses.

    The most specific one replaces all that is above it or, if it says so, patches it: every policy above, each of which
    chooses in turn, or the closest one alone (`merges_with`), whatever that one chooses for itself. Policies on levels
    that the kind does not merge with are left out (Envoy Gateway, `mergeType`: api/v1alpha1/shared_types.go).
    """
    established = list(contributions)
    taken: list[Contribution] = []
    while established:
        nearest = established.pop()
        if established and nearest.empty and not nearest.strategy.patches_above:
            continue
        taken.append(nearest)
        if not nearest.strategy.patches_above:
            break
        levels = profile.merge_parents
        if levels and len(taken) == 1:
            established = [part for part in established if any(level.includes(part.source.target) for level in levels)]
        if profile.merges_with == "closest":
            taken += established[-1:]
            break
    members = frozenset(part.source for part in taken)
    return replace(Layer.of(taken[0]), parts=tuple(reversed(taken)), members=members)


class _Level(Struct, frozen=True, kw_only=True):
    """The policies on one level, or on several, merged; `obj` is the object that the uppermost one is the level of.

    `empty` policies replace none further up.
    """

    obj: ObjectRef
    spec: Traced
    members: frozenset[Source]
    rejected: frozenset[Source] = frozenset()
    empty: bool = False


def merges_by_level(profile: PolicyKindProfile) -> bool:
    """Whether a kind's policies are merged level by level; those of other kinds are folded one by one."""
    shares = profile.joint_fields or profile.scopes or profile.route_choice
    return bool(shares) or profile.same_level == "all-apply"


def merge_by_level(parts: Sequence[Contribution], profile: PolicyKindProfile, context: PathContext) -> MergeOutcome:
    """Return the contributions of a path in the order of the fold, level by level and then scope by scope, as one spec.

    What a policy chooses for itself does not matter: between levels the strategy of the kind decides, or a route.
    """
    protocol = context.listener.protocol if context.listener else ""
    # By the number of the scope, 0 for the narrowest one.
    scopes: dict[int, list[Contribution]] = {}
    for part in parts:
        including = (n for n, scope in enumerate(profile.scopes) if scope.includes(part.source.target, protocol))
        scopes.setdefault(next(including, len(profile.scopes)), []).append(part)
    levels = [_merge_scope(scopes[number], profile, context.choices) for number in sorted(scopes, reverse=True)]
    whole = whole_fields(profile.joint_fields, "scopes")
    spec: Traced = reduce(lambda broad, narrow: with_defaults(narrow.spec, broad, whole), levels, {})
    return MergeOutcome(
        spec=spec,
        members=frozenset(source for level in levels for source in level.members),
        rejected=frozenset(source for level in levels for source in level.rejected),
        scopes=tuple(ScopeOutcome(spec=level.spec, members=level.members) for level in levels),
    )


def _merge_scope(
    parts: Sequence[Contribution], profile: PolicyKindProfile, choices: Mapping[ObjectRef, Inheritance]
) -> _Level:
    """Return the levels of a scope, from below upward. A level is a route with its rules, or all other neighbours."""
    targets = ((part.source.target.object, part) for part in parts)
    grouped = groupby(targets, lambda pair: pair[0] if pair[0].group_kind in ROUTES else None)
    *upper_levels, outcome = [_merge_level([part for _, part in group], profile) for _, group in grouped]
    for level in reversed(upper_levels):
        outcome = _merge_levels(level, outcome, profile, choices.get(level.obj))
    return outcome


def _merge_level(parts: Sequence[Contribution], profile: PolicyKindProfile) -> _Level:
    """Return the policies of a level: the first one keeps what it says, the later ones fill what is left.

    Overrides come from the first on, in the order of the fold, then the rest from the last on.
    """
    shared = profile.joint_fields
    whole = whole_fields(shared, "level")
    unless = {
        field_of(shared_field): shared_field.unless
        for shared_field in shared
        if shared_field.unless and "level" in shared_field.within
    }
    overrides = [part.spec for part in parts if part.strategy.overrides]
    first, *later = [*overrides, *(part.spec for part in reversed(parts) if not part.strategy.overrides)]
    return _Level(
        obj=parts[0].source.target.object,
        spec=reduce(lambda merged, spec: with_defaults(merged, spec, whole, unless), later, first),
        members=frozenset(part.source for part in parts),
        empty=all(part.empty for part in parts),
    )


def _merge_levels(level: _Level, lower: _Level, profile: PolicyKindProfile, choice: Inheritance | None) -> _Level:
    """Return a level over, or under, what is below it: as strategies say of two policies, shared fields together."""
    if choice and choice.fields is not None:
        return _joined_level(level, lower, _by_chosen_fields(level, lower, profile, choice))
    strategy = choice.strategy if choice else profile.default_strategy
    match strategy:
        case MergeStrategy.NONE:
            return replace(level, rejected=lower.rejected | lower.members)
        case MergeStrategy.ATOMIC_DEFAULTS if not lower.empty:
            return replace(lower, obj=level.obj)
        case MergeStrategy.ATOMIC_DEFAULTS | MergeStrategy.ATOMIC_OVERRIDES:
            return replace(level, rejected=lower.rejected)
        case _:
            pass
    of_shared = choice.joint if choice else None if profile.route_choice else strategy
    spec = _merge_specs(level.spec, lower.spec, strategy, _shared_fields(profile))
    if of_shared:
        together = _merge_specs(level.spec, lower.spec, of_shared, whole_fields(profile.joint_fields, "levels"))
        for shared in combined_fields(profile.joint_fields, "levels"):
            spec = with_defaults(only_field(together, shared), spec, {shared})
    return _joined_level(level, lower, spec)


def _joined_level(level: _Level, lower: _Level, spec: Traced) -> _Level:
    """Return two levels as one, with all who take part in them."""
    members, empty = level.members | lower.members, level.empty and lower.empty
    return _Level(obj=level.obj, spec=spec, members=members, rejected=lower.rejected, empty=empty)


def _by_chosen_fields(level: _Level, lower: _Level, profile: PolicyKindProfile, choice: Inheritance) -> Traced:
    """Return the outcome of two levels where a choice holds of some fields alone."""
    spec = _merge_specs(level.spec, lower.spec, profile.default_strategy, _shared_fields(profile))
    parts = [_chosen_part(name, choice) for part in (level.spec, lower.spec) for name, _ in leaves(part)]
    # What is put in last comes first, so of a part that is met more than once the last time counts.
    for chosen in reversed(dict.fromkeys(part for part in reversed(parts) if part)):
        ours, theirs = only_field(level.spec, chosen), only_field(lower.spec, chosen)
        keeps, alternative = (ours, theirs) if choice.strategy.overrides else (theirs, ours)
        spec = with_defaults(keeps or alternative, spec, {chosen})
    return spec


def _chosen_part(name: Field, choice: Inheritance) -> Field:
    """Return the outermost part of a field that a choice names, its last key in any case; empty if there is none."""
    parts = (name[: end + 1] for end in range(len(name)))
    return next((part for part in parts if (*part[:-1], part[-1].lower()) in (choice.fields or ())), ())


def _shared_fields(profile: PolicyKindProfile) -> frozenset[Field]:
    return frozenset(field_of(shared) for shared in profile.joint_fields)


def _merge_specs(upper: Traced, lower: Traced, strategy: MergeStrategy, whole: frozenset[Field]) -> Traced:
    """Return two specs as one: by the strategy, one of them keeps what it says, and the other fills what is left."""
    return with_defaults(upper, lower, whole) if strategy.overrides else with_defaults(lower, upper, whole)
