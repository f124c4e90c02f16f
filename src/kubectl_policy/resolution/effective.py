"""How the effective policy of a kind comes about: which contributions count on a path, and what the target says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec.structs import replace

from kubectl_policy.model.fields import value_at
from kubectl_policy.profiles import MergeStrategy
from kubectl_policy.resolution.contributions import (
    NOBODY,
    as_chosen_above,
    ignored_fields,
    instead_of,
    without_ignored,
)
from kubectl_policy.resolution.merging import PathContext, merged
from kubectl_policy.resolution.outcome import OwnValue, Resolution
from kubectl_policy.resolution.traced import Leaf, Source, keyed, leaves, trace, without

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.model import Json, NodeRef
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.resolution.contributions import Contribution
    from kubectl_policy.resolution.merging import Doubt
    from kubectl_policy.resolution.traced import Field, Traced

# What says nothing where a field of an object stands for a setting.
_EMPTY: Final[tuple[Json, ...]] = (None, "", [], {})
_UNDATED: Final[frozenset[Doubt]] = frozenset({"age unknown"})
_NO_FIELDS: Final[frozenset[tuple[Source, Field]]] = frozenset()
# Contributions, and what counts of each.
_Counted: TypeAlias = "Sequence[tuple[Contribution, Contribution | None]]"


def resolve(
    profile: PolicyKindProfile,
    contributions: tuple[Contribution, ...],
    context: PathContext,
    *,
    age_unknown: bool = False,
) -> Resolution:
    """The outcome of at least one contribution.

    `age_unknown` is whether the order of policies on one node rests on their names, because some of them have no date.
    """
    contributions = tuple(as_chosen_above(contributions)) if profile.strategy_from_above else contributions
    counting = _counting(contributions, profile, context)
    if counting and counting[-1].strategy is MergeStrategy.STRATEGIC_MERGE:
        keys = {tuple(name.split(".")): key for name, key in profile.list_keys.items()}
        contributions = tuple(replace(part, spec=keyed(part.spec, keys)) for part in contributions)
        counting = _counting(contributions, profile, context)
    ignoring = contributions if profile.ignores_some else ()
    counted = [(part, without_ignored(part, profile, context.listener)) for part in ignoring]
    merge = merged(counting, profile, context)
    port_sources = instead_of(merge.spec, profile, context.listener)
    replaced: Field = tuple(profile.port_field.instead_of.split(".")) if port_sources and profile.port_field else ()
    spec = without(merge.spec, replaced) if replaced else merge.spec
    return Resolution(
        kind=profile.group_kind,
        spec=spec,
        contributions=contributions,
        members=merge.members,
        # A set takes more room than all else here, and nearly all of these have nothing in them.
        rejected=merge.rejected.union(context.refused) if context.refused else merge.rejected,
        undecided=merge.undecided,
        doubts=merge.doubts.union(_UNDATED) if age_unknown else merge.doubts,
        kept_out=context.refused,
        ignored_fields=_ignored_fields(counted) if counted else _NO_FIELDS,
        ignored_sources=_ignored_sources(counted) if counted else NOBODY,
        scopes=merge.scopes,
        replaced_for_port=replaced,
        port_sources=port_sources,
    )


def _counting(
    contributions: Iterable[Contribution], profile: PolicyKindProfile, context: PathContext
) -> tuple[Contribution, ...]:
    """What counts of the contributions that are not refused."""
    allowed = (
        [part for part in contributions if part.source not in context.refused] if context.refused else contributions
    )
    if not profile.ignores_some:
        return tuple(allowed)
    return tuple(part for part in (without_ignored(part, profile, context.listener) for part in allowed) if part)


def _ignored_fields(counted: _Counted) -> frozenset[tuple[Source, Field]]:
    return frozenset((part.source, field) for part, left in counted for field in ignored_fields(part, left))


def _ignored_sources(counted: _Counted) -> frozenset[Source]:
    return frozenset(part.source for part, _ in counted) - {left.source for _, left in counted if left}


def own_fields(profile: PolicyKindProfile, target: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """The fields of a target object that stand for settings there, each after the setting that it stands for."""
    yield from profile.object_fields.items()
    for each in profile.conditional_object_fields:
        given, absent = (value_at(target, name) if name else None for name in (each.given, each.absent))
        if (not each.given or given not in _EMPTY) and absent in _EMPTY:
            yield each.field, each.object_field


def own_values(profile: PolicyKindProfile, target: Mapping[str, Json], end: NodeRef) -> tuple[OwnValue, ...]:
    """What the target object's own fields that stand for settings say; the later of two for one setting counts.

    An empty value says nothing.
    """
    source = Source(end.object, end)
    found = ((field, name, value_at(target, name)) for field, name in own_fields(profile, target))
    return tuple(
        OwnValue(tuple(field.split(".")), name, trace(own, source) if isinstance(own, Mapping) else Leaf(own, source))
        for field, name, own in found
        if own not in _EMPTY
    )


def with_own(resolution: Resolution, own: tuple[OwnValue, ...]) -> Resolution:
    """An outcome at an object whose own fields say something: that beats every default and loses to every override."""
    spec = resolution.spec
    for each in own:
        spec = _put(spec, each.field, each.value)
    return replace(resolution, spec=spec, own=own, without_own=resolution)


def _put(spec: Traced, field: Field, value: Leaf | Traced) -> Traced:
    """The spec with something at a field, unless an override is there, above or inside."""
    there = spec.get(field[0])
    if isinstance(there, Leaf) and there.source.overrides:
        return spec
    if len(field) == 1:
        overridden = there is not None and any(inner.source.overrides for _, inner in leaves({field[0]: there}))
        return spec if overridden else {**spec, field[0]: value}
    below: Traced = {} if there is None or isinstance(there, Leaf) else there
    return {**spec, field[0]: _put(below, field[1:], value)}
