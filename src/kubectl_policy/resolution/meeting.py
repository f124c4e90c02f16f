"""What the contributions on a path amount to: by what their kind says of merging, as an effective policy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import value_at
from kubectl_policy.profiles import MergeStrategy
from kubectl_policy.resolution.effective import EffectivePolicy
from kubectl_policy.resolution.heeded import heeded, instead_of, passed_over, without
from kubectl_policy.resolution.levels import ScopeOutcome, is_stacked, stack
from kubectl_policy.resolution.strategies import Contribution, Merged, fold, lay_over
from kubectl_policy.resolution.surroundings import Surroundings
from kubectl_policy.resolution.traced import Leaf, Source, keyed, leaves

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json, NodeRef
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.resolution.effective import Doubt
    from kubectl_policy.resolution.traced import Field, Traced
    from kubectl_policy.topology import Path

_NOTHING: Final = Surroundings()


def resolve(
    path: Path,
    profile: PolicyKindProfile,
    contributions: tuple[Contribution, ...],
    around: Surroundings = _NOTHING,
) -> EffectivePolicy:
    """The effective policy of a kind at the end of a path, from at least one contribution."""
    if is_stacked(profile):
        return _stacked(path, profile, contributions, around)
    refused = around.refused
    taking_part = tuple(part for part in contributions if part.source not in refused)
    if not taking_part:
        return _nothing(path, profile, contributions, around)
    if taking_part[-1].strategy is MergeStrategy.STRATEGIC_MERGE:
        keys = {tuple(name.split(".")): key for name, key in profile.list_keys.items()}
        contributions = tuple(replace(part, spec=keyed(part.spec, keys)) for part in contributions)
        taking_part = tuple(part for part in contributions if part.source not in refused)
    merged, doubts = _merged(taking_part, profile)
    spec = _with_object_fields(merged.spec, profile, around.target_object, path[-1])
    rejected = merged.rejected | refused.keys()
    scope = ScopeOutcome(merged.spec, merged.members)
    return EffectivePolicy(
        path,
        profile.group_kind,
        spec,
        contributions,
        merged.members,
        rejected,
        doubts,
        refused,
        scopes=(scope,),
    )


def _nothing(
    path: Path, profile: PolicyKindProfile, contributions: tuple[Contribution, ...], around: Surroundings
) -> EffectivePolicy:
    """Where every policy is refused, what the target's own fields say is all there is."""
    spec = _with_object_fields({}, profile, around.target_object, path[-1])
    rejected = frozenset(around.refused)
    return EffectivePolicy(
        path, profile.group_kind, spec, contributions, frozenset(), rejected, kept_out=around.refused
    )


def _stacked(
    path: Path,
    profile: PolicyKindProfile,
    contributions: tuple[Contribution, ...],
    around: Surroundings,
) -> EffectivePolicy:
    """The same for a kind whose policies are merged level by level."""
    counting = [(part, heeded(part, profile, around.listener)) for part in contributions]
    unheeded = frozenset((part.source, field) for part, left in counting for field in passed_over(part, left))
    heard = [left for part, left in counting if left.spec or not part.spec]
    taking_part = [part for part in heard if part.source not in around.refused]
    found = stack(taking_part, profile, around)
    spec, instead = found.spec, instead_of(found.spec, profile, around.listener)
    if instead and profile.port_field:
        spec = without(spec, profile.port_field.instead_of.split("."))
    spec = _with_object_fields(spec, profile, around.target_object, path[-1])
    return EffectivePolicy(
        path,
        profile.group_kind,
        spec,
        contributions,
        found.members,
        frozenset(around.refused),
        frozenset(),
        around.refused,
        unheeded,
        found.scopes,
        instead,
    )


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
