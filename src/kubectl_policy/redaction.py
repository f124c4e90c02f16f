"""Objects without the texts that their owners may not want to show; what attaches to what can still be told.

Each text that goes is a placeholder, `<redacted-1>`, of which everything here knows that it may stand for anything;
equal texts have equal ones. Keys, numbers and booleans stay, and so does all that names or selects something.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.model import FieldPath, GroupKind
from kubectl_policy.model.fields import Every, mapping_at
from kubectl_policy.model.kind_roles import (
    GATEWAY_CLASS,
    LISTENER_HOLDERS,
    NAMESPACE,
    PORT_HOLDERS,
    REFERENCE_GRANT,
    ROUTES,
)
from kubectl_policy.model.kinds import CRD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.model import Json, Resource
    from kubectl_policy.profiles import PolicyKindProfile, Registry

    # The keys that lead to something; `*` is any.
    _Path: TypeAlias = tuple[object, ...]

# What the hierarchy is made of, and what defines kinds, says nothing else. Of routes, the settings are in filters.
_WHOLE: Final = frozenset({CRD, NAMESPACE, REFERENCE_GRANT, GATEWAY_CLASS, *LISTENER_HOLDERS, *PORT_HOLDERS})
_SETTINGS_OF_ROUTES: Final = "filters"
_OF_METADATA: Final = frozenset(
    {
        *("name", "namespace", "generateName", "uid", "labels", "ownerReferences", "finalizers"),
        *("creationTimestamp", "deletionTimestamp", "generation", "resourceVersion"),
    }
)
# A text at these keys names something, or is a word of an API; but not where people choose the keys.
_TELLING: Final = frozenset(
    {
        *("apiVersion", "group", "kind", "name", "namespace", "sectionName", "uid"),
        *("type", "reason", "strategy", "firstTimestamp", "lastTimestamp"),
    }
)
_SELECTING: Final = frozenset({"matchLabels", "matchExpressions", "sectionNames"})
_OF_ANY_KEYS: Final = frozenset({"data", "binaryData", "stringData"})
# What controllers report is told in words of the API, but for these.
_IN_OWN_WORDS: Final = "message"


class Redaction:
    """Takes texts out of objects of one world."""

    def __init__(self, registry: Registry) -> None:
        """By what is known of policy kinds: where their references stand, and by which fields they merge."""
        self._registry = registry
        self._placeholders: dict[str, str] = {}
        self._telling: dict[GroupKind, tuple[_Path, ...]] = {}
        profiles = registry.policy_kinds
        self._annotations = {profile.weight_annotation for profile in profiles} - {""}

    def redacted(self, resource: Resource) -> Mapping[str, Json]:
        """An object as it may be shown."""
        kind = resource.ref.group_kind
        is_standard = kind in _WHOLE or kind in ROUTES
        is_reporting = is_standard or self._registry.profile_of(kind) is not None
        if kind not in self._telling:
            self._telling[kind] = _telling(self._registry.profile_of(kind))
        shown: dict[str, Json] = {}
        for key, each in resource.raw.items():
            if key in {"apiVersion", "kind"}:
                shown[key] = each
            elif key == "metadata":
                shown[key] = self._metadata(mapping_at(resource.raw, key))
            elif key == "status" and is_reporting:
                shown[key] = self._without(each, _IN_OWN_WORDS)
            elif is_standard:
                shown[key] = each if kind in _WHOLE else self._without(each, _SETTINGS_OF_ROUTES)
            elif key in _OF_ANY_KEYS and isinstance(each, Mapping):
                shown[key] = {name: self._hidden(inner) for name, inner in each.items()}
            else:
                inside = [path[1:] for path in self._telling[kind] if path[0] == key]
                shown[key] = self._hidden(each, inside)
        return shown

    def _metadata(self, metadata: Mapping[str, Json]) -> dict[str, Json]:
        shown = {key: each for key, each in metadata.items() if key in _OF_METADATA}
        annotations = metadata.get("annotations")
        if isinstance(annotations, Mapping):
            shown["annotations"] = {
                key: each if key in self._annotations else self._hidden(each) for key, each in annotations.items()
            }
        return shown

    def _without(self, value: Json, key: str) -> Json:
        """A value without the texts at some key, however deep it is in it."""
        if isinstance(value, Mapping):
            return {
                name: self._hidden(each) if name == key else self._without(each, key) for name, each in value.items()
            }
        return [self._without(each, key) for each in value] if isinstance(value, list) else value

    def _hidden(self, value: Json, telling: Sequence[_Path] = ()) -> Json:
        """A value without its texts, but for those that are telling."""
        if isinstance(value, str):
            return self._placeholders.setdefault(value, f"<redacted-{len(self._placeholders) + 1}>") if value else value
        if isinstance(value, list):
            return [self._hidden(each, telling) for each in value]
        if not isinstance(value, Mapping):
            return value
        shown: dict[str, Json] = {}
        for key, each in value.items():
            inside = [path[1:] for path in telling if path[0] in {key, Every.KEY}]
            is_telling = key in _SELECTING or (key in _TELLING and isinstance(each, str)) or () in inside
            shown[key] = each if is_telling else self._hidden(each, inside)
        return shown


def _telling(profile: PolicyKindProfile | None) -> tuple[_Path, ...]:
    """Where policies of a kind name or select something, and by what they choose how they merge."""
    if profile is None:
        return ()
    fields = {*profile.target_fields, profile.strategy_field, profile.order_field}
    fields |= {need.field for need in profile.every_need}
    fields |= {f"spec.{field}.{key}" for field, key in profile.list_keys.items() if key}
    steps = (FieldPath.parse(field).steps for field in fields if field)
    # Lists on the way are gone through.
    return tuple(tuple(step for step in each if isinstance(step, str) or step is Every.KEY) for each in steps)
