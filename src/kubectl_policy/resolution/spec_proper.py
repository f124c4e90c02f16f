"""The spec proper of a policy, and what each of its stanzas brings to a path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.model.fields import FieldPath, mapping_at, text_at, value_at
from kubectl_policy.profiles import MergeStrategy
from kubectl_policy.profiles.profile import TARGET_FIELDS
from kubectl_policy.resolution.combined import taken_apart
from kubectl_policy.resolution.strategies import Contribution
from kubectl_policy.resolution.traced import trace

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.profile import Stanzas
    from kubectl_policy.resolution.traced import Field, Source

_STYLES: Final[tuple[tuple[Stanzas, str, str], ...]] = (
    ("plural", "overrides", "defaults"),
    ("singular", "override", "default"),
)
_PATCHING: Final = frozenset({"patch", "merge"})


# The stanzas of GEP-713's experimental text, which merges field by field and lets the first created win.
EXPERIMENTAL: Final = frozenset({"spec.override", "spec.default"})


class Stanza(NamedTuple):
    """One part of a policy that merges by one strategy. `field` is where it stands (`spec.overrides`)."""

    field: str
    strategy: MergeStrategy
    spec: Mapping[str, Json]


def stanzas_of(raw: Mapping[str, Json], profile: PolicyKindProfile) -> tuple[Stanza, ...]:
    """The stanzas of a policy, overrides first; the bare spec is one stanza, even an empty one.

    Where nobody has said whether a kind has stanzas, `defaults` and `overrides` (or `default` and `override`) count as
    such only if the spec holds nothing else, since a kind may have a field of that name.
    """
    spec = _without_references(raw, profile)
    for style, overrides, defaults in _STYLES:
        if profile.stanzas == style or (profile.stanzas is None and spec and spec.keys() <= {overrides, defaults}):
            found = [
                _stanza(f"spec.{name}", mapping_at(spec, name), profile, is_override=name == overrides)
                for name in (overrides, defaults)
                if isinstance(spec.get(name), Mapping)
            ]
            rest = {key: value for key, value in spec.items() if key not in {overrides, defaults}}
            bare = [_bare(raw, rest, profile)] if rest or not found else []
            return tuple(found + bare)
    return (_bare(raw, spec, profile),)


def _without_references(raw: Mapping[str, Json], profile: PolicyKindProfile) -> Mapping[str, Json]:
    left: Json = raw
    for path in sorted({*profile.target_fields, *TARGET_FIELDS, profile.strategy_field}):
        if path.startswith("spec."):
            left = FieldPath.parse(path).remove(left, with_empty=True)
    return mapping_at(left, "spec")


def _stanza(field: str, spec: Mapping[str, Json], profile: PolicyKindProfile, *, is_override: bool) -> Stanza:
    """One stanza: the experimental GEP-713 text merges field by field, the current one is atomic unless told."""
    experimental, chosen = field in EXPERIMENTAL, text_at(spec, "strategy").lower()
    by_default = not chosen and profile.strategy in {MergeStrategy.PATCH_DEFAULTS, MergeStrategy.PATCH_OVERRIDES}
    patches = experimental or chosen in _PATCHING or by_default
    settings = {key: value for key, value in spec.items() if experimental or key != "strategy"}
    if is_override:
        strategy = MergeStrategy.PATCH_OVERRIDES if patches else MergeStrategy.ATOMIC_OVERRIDES
    else:
        strategy = MergeStrategy.PATCH_DEFAULTS if patches else MergeStrategy.ATOMIC_DEFAULTS
    return Stanza(field, strategy, settings)


def _bare(raw: Mapping[str, Json], spec: Mapping[str, Json], profile: PolicyKindProfile) -> Stanza:
    chosen = text_at(raw, profile.strategy_field) if profile.strategy_field else ""
    known = profile.strategy_values.get(chosen) or MergeStrategy.named(chosen)
    return Stanza("spec", known or MergeStrategy.named(f"{chosen} defaults") or profile.default_strategy, spec)


def contribution_of(source: Source, stanza: Stanza, profile: PolicyKindProfile) -> Contribution:
    """The contribution of a stanza by way of one target.

    Where all policies of a kind apply, each keeps its settings apart, below its own name.
    """
    spec = _without_nulls(stanza.spec) if profile.nulls == "ignore" else stanza.spec
    empty = bool(profile.empty_without) and not value_at(spec, profile.empty_without)
    whole = _whole(profile, stanza.field)
    if stands_below_name(profile, stanza.strategy):
        name = source.object.qualified_name
        spec, whole = {name: dict(spec)}, [(name, *field) for field in whole]
    traced = taken_apart(trace(spec, source, whole), profile.shared_fields)
    return Contribution(source, traced, stanza.strategy, stanza.field, empty)


def stands_below_name(profile: PolicyKindProfile, strategy: MergeStrategy) -> bool:
    """Whether the settings of a policy stand below its name, because it is in force beside others."""
    return profile.all_apply or strategy is MergeStrategy.ALL_APPLY


def _whole(profile: PolicyKindProfile, stanza: str) -> list[Field]:
    """The fields below a stanza that a merge takes whole from one policy.

    The experimental GEP-713 text replaces maps of scalars whole; RFC 7386, which the current one names, does not. What
    is joint is taken apart by what the profile says of it, and by nothing else.
    """
    fields = profile.whole_fields | {joint.field for joint in profile.shared_fields}
    if stanza in EXPERIMENTAL:
        below = stanza.removeprefix("spec.") + "."
        fields |= {field.removeprefix(below) for field in profile.map_fields if field.startswith(below)}
    return [tuple(field.split(".")) for field in sorted(fields)]


def _without_nulls(value: Mapping[str, Json]) -> Mapping[str, Json]:
    return {
        key: dict(_without_nulls(child)) if isinstance(child, dict) else child
        for key, child in value.items()
        if child is not None
    }
