"""Redact texts in objects; names, references and selectors stay, so that attachments can still be computed.

Each redacted text becomes a placeholder such as `<redacted-1>`, equal texts the same one. Keys, numbers and booleans
stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.model import FieldPath, GroupKind, Json, Resource
from kubectl_policy.model.fields import Every, mapping_at
from kubectl_policy.model.kind_roles import (
    ABOVE_ROUTES,
    NAMESPACE,
    PORT_HOLDERS,
    REFERENCE_GRANT,
    ROUTES,
)
from kubectl_policy.model.kinds import CRD

if TYPE_CHECKING:
    from kubectl_policy.profiles import PolicyKindProfile, Registry

    # Keys that lead to a field; `*` is any key.
    _Path: TypeAlias = tuple[object, ...]

# Kinds without settings: those of the hierarchy, and definitions. Of routes, only filters have settings.
_WHOLE: Final = frozenset({CRD, NAMESPACE, REFERENCE_GRANT, *ABOVE_ROUTES, *PORT_HOLDERS})
_SETTINGS_OF_ROUTES: Final = "filters"
_OF_METADATA: Final = frozenset(
    {
        *("name", "namespace", "generateName", "uid", "labels", "ownerReferences", "finalizers"),
        *("creationTimestamp", "deletionTimestamp", "generation", "resourceVersion"),
    }
)
# Texts at these keys are names, or constants of an API, except where people choose the keys.
_NAMING: Final = frozenset(
    {
        *("apiVersion", "group", "kind", "name", "namespace", "sectionName", "uid"),
        *("type", "reason", "strategy", "firstTimestamp", "lastTimestamp"),
    }
)
_SELECTING: Final = frozenset({"matchLabels", "matchExpressions", "sectionNames"})
_OF_ANY_KEYS: Final = frozenset({"data", "binaryData", "stringData"})
# The free text in conditions; everything else in a status is a constant of the API.
_FREE_TEXT: Final = "message"


class Redaction:
    """Redacts the objects of one world."""

    def __init__(self, registry: Registry) -> None:
        """Keep the profiles, which name the fields with references and those that decide how policies merge."""
        self._registry = registry
        self._placeholders: dict[str, str] = {}
        self._visible: dict[GroupKind, tuple[_Path, ...]] = {}
        profiles = registry.policy_kinds
        self._annotations = {profile.weight_annotation for profile in profiles} - {""}

    def redact(self, resource: Resource) -> Mapping[str, Json]:
        """Return an object without its texts."""
        kind = resource.ref.group_kind
        is_standard = kind in _WHOLE or kind in ROUTES
        is_reporting = is_standard or self._registry.profile_of(kind) is not None
        if kind not in self._visible:
            self._visible[kind] = _visible_paths(self._registry.profile_of(kind))
        shown: dict[str, Json] = {}
        for key, content in resource.raw.items():
            if key in {"apiVersion", "kind"}:
                shown[key] = content
            elif key == "metadata":
                shown[key] = self._metadata(mapping_at(resource.raw, key))
            elif key == "status" and is_reporting:
                shown[key] = self._without(content, _FREE_TEXT)
            elif is_standard:
                shown[key] = content if kind in _WHOLE else self._without(content, _SETTINGS_OF_ROUTES)
            elif key in _OF_ANY_KEYS and isinstance(content, Mapping):
                shown[key] = {name: self._hidden(inner) for name, inner in content.items()}
            else:
                inside = [path[1:] for path in self._visible[kind] if path[0] == key]
                shown[key] = self._hidden(content, inside)
        return shown

    def _metadata(self, metadata: Mapping[str, Json]) -> dict[str, Json]:
        shown = {key: content for key, content in metadata.items() if key in _OF_METADATA}
        annotations = metadata.get("annotations")
        if isinstance(annotations, Mapping):
            shown["annotations"] = {
                key: text if key in self._annotations else self._hidden(text) for key, text in annotations.items()
            }
        return shown

    def _without(self, value: Json, key: str) -> Json:
        """Return a value without the texts at a key, at any depth."""
        if isinstance(value, Mapping):
            return {
                name: self._hidden(inner) if name == key else self._without(inner, key) for name, inner in value.items()
            }
        return [self._without(item, key) for item in value] if isinstance(value, list) else value

    def _hidden(self, value: Json, visible: Sequence[_Path] = ()) -> Json:
        """Return a value without its texts, except those at visible paths and keys."""
        if isinstance(value, str):
            return self._placeholders.setdefault(value, f"<redacted-{len(self._placeholders) + 1}>") if value else value
        if isinstance(value, list):
            return [self._hidden(item, visible) for item in value]
        if not isinstance(value, Mapping):
            return value
        shown: dict[str, Json] = {}
        for key, inner in value.items():
            inside = [path[1:] for path in visible if path[0] in {key, Every.KEY}]
            is_visible = key in _SELECTING or (key in _NAMING and isinstance(inner, str)) or () in inside
            shown[key] = inner if is_visible else self._hidden(inner, inside)
        return shown


def _visible_paths(profile: PolicyKindProfile | None) -> tuple[_Path, ...]:
    """Return the paths of references in policies of a kind, and of the fields that decide how policies merge."""
    if profile is None:
        return ()
    fields = {*profile.target_fields, profile.strategy_field, profile.order_field}
    fields |= {need.field for need in profile.every_need}
    fields |= {f"spec.{field}.{key}" for field, key in profile.list_keys.items() if key}
    paths = (FieldPath.parse(field).steps for field in fields if field)
    # Positions in lists do not matter.
    return tuple(tuple(step for step in steps if isinstance(step, str) or step is Every.KEY) for steps in paths)
