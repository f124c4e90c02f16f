"""Recognising policy kinds that no profile describes: by the label of their definition, or by their shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import items_at, labels_of, mapping_at, value_at
from kubectl_policy.model.kinds import POLICY_LABEL
from kubectl_policy.profiles.profile import PolicyKindProfile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.model import GroupKind, Json, Resource
    from kubectl_policy.profiles.profile import PolicyClass, Stanzas

_STANZAS: Final[dict[Stanzas, tuple[str, str]]] = {
    "plural": ("defaults", "overrides"),
    "singular": ("default", "override"),
}
_REFERENCES: Final = ("targetRef", "targetRefs", "targetSelectors")


def by_label(
    group_kind: GroupKind, definition: Resource | None, schema: Mapping[str, Json]
) -> PolicyKindProfile | None:
    """The profile that a CustomResourceDefinition's policy label implies; None without such a label."""
    label = labels_of(definition.raw).get(POLICY_LABEL, "").lower() if definition else ""
    if label not in {"direct", "inherited", "true"}:
        return None
    policy_class: PolicyClass = "direct" if label == "direct" else "inherited"
    return PolicyKindProfile(
        group_kind,
        policy_class,
        "label",
        stanzas=_stanzas_in_schema(schema),
        map_fields=frozenset(maps_of_scalars(mapping_at(schema, "properties.spec"))),
        assumed=("merge strategy",) if label != "true" else ("class", "merge strategy"),
    )


def by_shape(
    group_kind: GroupKind, objects: Iterable[Resource], schema: Mapping[str, Json]
) -> PolicyKindProfile | None:
    """The profile of a kind that has target references in its schema or, without a schema, in one of its objects.

    A reference has a kind and a name or labels, and no apiVersion: `spec.targetRef` of a VerticalPodAutoscaler names a
    workload by apiVersion and is none.
    """
    spec_schema = mapping_at(schema, "properties.spec.properties")
    found = _refers(spec_schema) if spec_schema else any(_has_reference(resource.raw) for resource in objects)
    if not found:
        return None
    return PolicyKindProfile(
        group_kind,
        "inherited",
        "shape",
        stanzas=_stanzas_in_schema(schema),
        map_fields=frozenset(maps_of_scalars(mapping_at(schema, "properties.spec"))),
        assumed=("being a policy", "class", "merge strategy"),
    )


def maps_of_scalars(schema: Mapping[str, Json], path: str = "") -> Iterator[str]:
    """The paths below a schema whose value is a map from free keys to scalars: a merge replaces such a map whole."""
    extra = schema.get("additionalProperties")
    if isinstance(extra, dict) and path and not {"properties", "items", "additionalProperties"} & extra.keys():
        yield path
    for key, child in mapping_at(schema, "properties").items():
        if isinstance(child, dict):
            yield from maps_of_scalars(child, f"{path}.{key}" if path else key)


def _stanzas_in_schema(schema: Mapping[str, Json]) -> Stanzas | None:
    properties = mapping_at(schema, "properties.spec.properties")
    for style, names in _STANZAS.items():
        if any(mapping_at(properties, name).get("type") == "object" for name in names):
            return style
    return "none" if properties else None


def _refers(properties: Mapping[str, Json]) -> bool:
    for name in _REFERENCES:
        schema = properties.get(name)
        fields = mapping_at(schema, "properties") or mapping_at(schema, "items.properties")
        if "kind" in fields and "apiVersion" not in fields:
            return True
    return False


def _has_reference(raw: Mapping[str, Json]) -> bool:
    single = value_at(raw, "spec.targetRef")
    candidates = [single, *items_at(raw, "spec.targetRefs"), *items_at(raw, "spec.targetSelectors")]
    return any(
        isinstance(reference, dict) and "kind" in reference and "apiVersion" not in reference
        for reference in candidates
    )
