"""What the contributions on a path amount to: by what their kind says of merging, as an effective policy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.model.fields import value_at
from kubectl_policy.profiles import MergeStrategy
from kubectl_policy.resolution.effective import EffectivePolicy
from kubectl_policy.resolution.ignored import ignored_fields, instead_of, without, without_ignored
from kubectl_policy.resolution.levels import ScopeOutcome, is_stacked, stack
from kubectl_policy.resolution.path_context import PathContext
from kubectl_policy.resolution.strategies import Contribution, fold, fold_by_challenger
from kubectl_policy.resolution.traced import Leaf, Source, keyed, leaves

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_policy.model import Json, NodeRef
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.resolution.effective import Doubt
    from kubectl_policy.resolution.traced import Field, Traced
    from kubectl_policy.topology import Path

_NOTHING: Final = PathContext()


class _Met(NamedTuple):
    """What the policies that take part amount to; without any, nothing."""

    spec: Traced
    members: frozenset[Source] = frozenset()
    rejected: frozenset[Source] = frozenset()
    scopes: tuple[ScopeOutcome, ...] = ()
    doubts: frozenset[Doubt] = frozenset()


def resolve(
    path: Path,
    profile: PolicyKindProfile,
    contributions: tuple[Contribution, ...],
    context: PathContext = _NOTHING,
) -> EffectivePolicy:
    """The effective policy of a kind at the end of a path, from at least one contribution.

    Where every policy is refused or ignored, what the target's own fields say is all there is.
    """
    counting = _counting(contributions, profile, context)
    if counting and counting[-1].strategy is MergeStrategy.STRATEGIC_MERGE:
        keys = {tuple(name.split(".")): key for name, key in profile.list_keys.items()}
        contributions = tuple(replace(part, spec=keyed(part.spec, keys)) for part in contributions)
        counting = _counting(contributions, profile, context)
    counted = [(part, without_ignored(part, profile, context.listener)) for part in contributions]
    met = _met(counting, profile, context)
    instead = instead_of(met.spec, profile, context.listener)
    replaced: Field = tuple(profile.port_field.instead_of.split(".")) if instead and profile.port_field else ()
    spec = without(met.spec, replaced) if replaced else met.spec
    return EffectivePolicy(
        path,
        profile.group_kind,
        _with_object_fields(spec, profile, context.target_object, path[-1]),
        contributions,
        met.members,
        met.rejected | frozenset(context.refused),
        met.doubts,
        context.refused,
        ignored_fields=frozenset(
            (part.source, field) for part, left in counted for field in ignored_fields(part, left)
        ),
        ignored_sources=_sources(part for part, _ in counted) - _sources(left for _, left in counted if left),
        scopes=met.scopes,
        instead=(replaced, instead),
    )


def _counting(
    contributions: Iterable[Contribution], profile: PolicyKindProfile, context: PathContext
) -> tuple[Contribution, ...]:
    """What counts of the contributions that are not refused."""
    found = (
        without_ignored(part, profile, context.listener) for part in contributions if part.source not in context.refused
    )
    return tuple(part for part in found if part)


def _sources(contributions: Iterable[Contribution]) -> frozenset[Source]:
    return frozenset(part.source for part in contributions)


def _met(contributions: tuple[Contribution, ...], profile: PolicyKindProfile, context: PathContext) -> _Met:
    if not contributions:
        return _Met({})
    if is_stacked(profile):
        return _Met(*stack(contributions, profile, context))
    by_challenger = profile.chooser == "challenger"
    merged = (
        fold_by_challenger(contributions, profile)
        if by_challenger
        else fold(contributions, profile.fold or "bottom-up")
    )
    doubts: frozenset[Doubt] = frozenset() if by_challenger else _direction_matters(contributions, profile)
    return _Met(merged.spec, merged.members, merged.rejected, (ScopeOutcome(merged.spec, merged.members),), doubts)


def _direction_matters(contributions: tuple[Contribution, ...], profile: PolicyKindProfile) -> frozenset[Doubt]:
    """The doubt in which direction to fold, if nobody has said and it matters.

    Of two, whichever way one goes, the established one's strategy decides.
    """
    if profile.fold is not None or len(contributions) <= 2:  # noqa: PLR2004 (a pair)
        return frozenset()
    up, down = fold(contributions, "bottom-up"), fold(contributions, "top-down")
    differ = down.spec != up.spec or down.rejected != up.rejected
    return frozenset({"fold direction"}) if differ else frozenset()


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
