"""Recognising policy kinds that no profile describes: by the label of their definition, or by their shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import items_at, labels_of, mapping_at, value_at
from kubectl_policy.model.kinds import POLICY_LABEL
from kubectl_policy.profiles.profile import PolicyKindProfile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model import GroupKind, Json
    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles.profile import Stanzas

_STANZAS: Final[dict[Stanzas, tuple[str, str]]] = {
    "plural": ("defaults", "overrides"),
    "singular": ("default", "override"),
}
_REFERENCES: Final = ("targetRef", "targetRefs", "targetSelectors")


def inferred(group_kind: GroupKind, index: Index) -> PolicyKindProfile | None:
    """The profile that the policy label of a kind's definition implies or, without one, its shape; None without either.

    A kind has the shape of a policy kind if it has target references in its schema or, without a schema, in one of its
    objects. A reference has a kind and a name or labels, and no apiVersion: `spec.targetRef` of a VerticalPodAutoscaler
    names a workload by apiVersion and is none.
    """
    definition, schema = index.definitions.get(group_kind), index.defaults.schema_of(group_kind)
    properties = mapping_at(schema, "properties.spec.properties")
    label = labels_of(definition.raw).get(POLICY_LABEL, "").lower() if definition else ""
    labelled = label in {"direct", "inherited", "true"}
    if not labelled and not any(
        _refers(properties) if properties else (_has_reference(found.raw) for found in index.in_any_state(group_kind))
    ):
        return None
    guessed = () if labelled else ("being a policy",)
    return PolicyKindProfile(
        group_kind,
        "direct" if label == "direct" else "inherited",
        "label" if labelled else "shape",
        stanzas=_stanzas(properties),
        map_fields=frozenset(maps_of_scalars(mapping_at(schema, "properties.spec"))),
        assumed=(*guessed, "merge strategy")
        if label in {"direct", "inherited"}
        else (*guessed, "class", "merge strategy"),
    )


def maps_of_scalars(schema: Mapping[str, Json], path: str = "") -> Iterator[str]:
    """The paths below a schema whose value is a map from free keys to scalars: a merge replaces such a map whole."""
    extra = schema.get("additionalProperties")
    if isinstance(extra, dict) and path and not {"properties", "items", "additionalProperties"} & extra.keys():
        yield path
    for key, child in mapping_at(schema, "properties").items():
        if isinstance(child, dict):
            yield from maps_of_scalars(child, f"{path}.{key}" if path else key)


def _stanzas(properties: Mapping[str, Json]) -> Stanzas | None:
    for style, names in _STANZAS.items():
        if any(mapping_at(properties, name).get("type") == "object" for name in names):
            return style
    return "none" if properties else None


def _refers(properties: Mapping[str, Json]) -> Iterator[bool]:
    for name in _REFERENCES:
        schema = properties.get(name)
        fields = mapping_at(schema, "properties") or mapping_at(schema, "items.properties")
        yield "kind" in fields and "apiVersion" not in fields


def _has_reference(raw: Mapping[str, Json]) -> bool:
    single = value_at(raw, "spec.targetRef")
    candidates = [single, *items_at(raw, "spec.targetRefs"), *items_at(raw, "spec.targetSelectors")]
    return any(
        isinstance(reference, dict) and "kind" in reference and "apiVersion" not in reference
        for reference in candidates
    )
