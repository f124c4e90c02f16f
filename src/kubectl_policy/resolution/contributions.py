"""What one stanza of a policy brings to a path: its settings traced, in the units in which the kind merges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.fields import value_at
from kubectl_policy.profiles import MergeStrategy
from kubectl_policy.resolution.joint import opened
from kubectl_policy.resolution.spec_proper import EXPERIMENTAL
from kubectl_policy.resolution.strategies import Contribution
from kubectl_policy.resolution.traced import trace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.resolution.spec_proper import Stanza
    from kubectl_policy.resolution.traced import Field, Source


def contribution_of(source: Source, stanza: Stanza, profile: PolicyKindProfile) -> Contribution:
    """The contribution of a stanza by way of one target.

    Where all policies of a kind apply, each keeps its settings apart, below its own name.
    """
    spec = _without_nulls(stanza.spec) if profile.nulls == "ignore" else stanza.spec
    empty = bool(profile.empty_without) and not value_at(spec, profile.empty_without)
    whole = _whole(profile, stanza.field)
    if keeps_apart(profile, stanza.strategy):
        name = source.object.qualified_name
        spec, whole = {name: dict(spec)}, [(name, *field) for field in whole]
    traced = opened(trace(spec, source, whole), profile.joint_fields)
    return Contribution(source, traced, stanza.strategy, stanza.field, empty)


def keeps_apart(profile: PolicyKindProfile, strategy: MergeStrategy) -> bool:
    """Whether the settings of a policy stand below its name, because it is in force beside others."""
    return profile.apart or strategy is MergeStrategy.ALL_APPLY


def _whole(profile: PolicyKindProfile, stanza: str) -> list[Field]:
    """The fields below a stanza that a merge takes whole from one policy.

    The experimental GEP-713 text replaces maps of scalars whole; RFC 7386, which the current one names, does not. What
    is joint is taken apart by what the profile says of it, and by nothing else.
    """
    fields = profile.whole_fields | {joint.field for joint in profile.joint_fields}
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
