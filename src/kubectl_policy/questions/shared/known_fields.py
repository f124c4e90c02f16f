"""Fields of policies that a profile, or the definition of a policy kind, knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.fields import FieldPath, Json, mapping_at
from kubectl_policy.profiles.fields import STANZAS
from kubectl_policy.profiles.load import built_in_groups, built_in_profiles

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind


def is_known_field(analysis: Analysis, field: str, kinds: Iterable[GroupKind]) -> bool:
    """Whether a field is one of policies of some kinds or, without kinds, of any, also of those that are not there."""
    keys = _keys(field)
    asked = [analysis.registry.profile(kind) for kind in kinds]
    for profile in asked or analysis.registry.policy_kinds:
        spec = mapping_at(analysis.index.defaults.schema_of(profile.group_kind), "properties.spec")
        if profile.mentions(keys) or _has_field(spec, keys):
            return True
    if asked:
        return False
    return any(profile.mentions(keys) for group in built_in_groups() for profile in built_in_profiles(group).values())


def _keys(field: str) -> tuple[str, ...]:
    """Return the names on the way to a field, without positions; the text itself if it is no field."""
    try:
        steps = FieldPath.parse(field).steps
    except ValueError:
        return (field,)
    return tuple(step for step in steps if isinstance(step, str))


def _has_field(schema: Json, keys: Sequence[str]) -> bool:
    """Whether the schema of a spec, or of a stanza in it, has a field; elements of lists are passed through."""
    stanzas = [name for names in STANZAS.values() for name in names]
    properties = mapping_at(schema, "properties")
    return any(_leads_to(start, keys) for start in (schema, *(properties.get(name) for name in stanzas)))


def _leads_to(schema: Json, keys: Sequence[str]) -> bool:
    while mapping_at(schema, "items"):
        schema = mapping_at(schema, "items")
    if not keys:
        return bool(schema)
    first, *rest = keys
    inner = mapping_at(schema, "properties").get(first) or mapping_at(schema, "additionalProperties")
    return bool(inner) and _leads_to(inner, rest)
