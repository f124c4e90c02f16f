"""Infer policy kinds that no profile describes: by the label of their definition, or by shape and name."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model.fields import items_at, labels_of, mapping_at, strings_at, text_at, value_at
from kubectl_policy.model.kind_roles import GATEWAY_API_GROUPS
from kubectl_policy.model.kinds import POLICY_LABEL
from kubectl_policy.profiles.fields import STANZAS
from kubectl_policy.profiles.merging import GEP_STRATEGIES
from kubectl_policy.profiles.profile import PolicyKindProfile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.model import GroupKind, Json, Resource
    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles.fields import Stanzas
    from kubectl_policy.profiles.merging import MergeStrategy

_REFERENCES: Final = ("targetRef", "targetRefs", "targetSelectors")
# What kinds are called that refer to Gateways, routes and Services for other reasons than to change what they do.
_NO_POLICIES: Final = ("attachment", "binding", "export", "extension", "import", "parameters", "registration")
_STRATEGY_FIELD: Final = "spec.strategy"


class Signs(Struct, frozen=True, kw_only=True):
    """Evidence for whether a kind is a policy kind, and of which class."""

    kind: str
    # The value of the policy label of its definition, in lower case, or "".
    label: str
    # The properties of `spec` in the definition's schema; empty without a schema.
    properties: Mapping[str, Json]
    # Whether the schema or, without one, an object has a reference of the sort that policies have.
    refers: bool

    @property
    def why_not_policy_kind(self) -> str:
        """The reason for which the kind is no policy kind, as a predicate for "it"; empty if it is one.

        "Individual policy APIs … must include a common TargetRef struct" (GEP-713), so that a label alone does not do.
        Nor does a reference alone: registrations and extensions refer to Gateways and routes as well.
        """
        if self.label:
            without = self.properties and not any(name in self.properties for name in _REFERENCES)
            return f"has the label {POLICY_LABEL}, but its spec has no target references" if without else ""
        if not self.refers:
            return "has no profile, no label of a policy and no target references"
        reason = "has target references, but no label of a policy, and is called something else"
        return reason if self.looks_alike else ""

    @property
    def looks_alike(self) -> bool:
        """Whether the kind refers to targets as policies do, and says by its name that it is something else."""
        return self.refers and self.kind.lower().endswith(_NO_POLICIES)


def infer_profile(group_kind: GroupKind, index: Index) -> PolicyKindProfile | None:
    """Return the profile that a kind's policy label implies or, without one, its shape; None without either.

    A kind has the shape of a policy kind if it has target references in its schema or, without a schema, in one of its
    objects, unless its name says that it is something else. A reference has a kind and a name or labels, and no
    apiVersion: `spec.targetRef` of a VerticalPodAutoscaler names a workload by apiVersion and is none.
    """
    signs = signs_of(group_kind, index)
    if signs.why_not_policy_kind:
        return None
    direct = signs.label == "direct"
    assumed = {
        "being a policy": not signs.label,
        # Many a definition says Direct of policies on Gateways that change what is below.
        "class": signs.label not in {"direct", "inherited"}
        or (direct and _on_several_levels(_objects(group_kind, index))),
        "merge strategy": True,
    }
    strategies = _strategies(signs.properties, _objects(group_kind, index, "strategy"))
    return PolicyKindProfile(
        group_kind,
        "direct" if direct else "inherited",
        "label" if signs.label else "shape",
        stanzas=_stanzas(signs.properties),
        strategy_field=_STRATEGY_FIELD if strategies else "",
        strategy_values=MappingProxyType(strategies),
        map_fields=frozenset(maps_of_scalars(mapping_at(index.defaults.schema_of(group_kind), "properties.spec"))),
        assumed=tuple(choice for choice, guessed in assumed.items() if guessed),
    )


def signs_of(group_kind: GroupKind, index: Index) -> Signs:
    """Return the evidence for whether a kind without a profile is a policy kind."""
    definition, schema = index.definitions.get(group_kind), index.defaults.schema_of(group_kind)
    properties = mapping_at(schema, "properties.spec.properties")
    label = labels_of(definition.raw).get(POLICY_LABEL, "").lower() if definition else ""
    # All fields with references to targets begin alike.
    in_schema, objects = _refers(properties), _objects(group_kind, index, "target")
    return Signs(
        kind=group_kind.kind,
        label=label if label in {"direct", "inherited", "true"} else "",
        properties=properties,
        refers=any(in_schema if properties else (_refer(resource.raw) for resource in objects)),
    )


def _objects(group_kind: GroupKind, index: Index, text: str = "") -> Iterator[Resource]:
    """Yield the objects of a kind that contain a text, and those that differ in another state of the world."""
    yield from index.read_with_strings(group_kind, text)
    yield from (resource for resource in index.snapshot.other_state if resource.ref.group_kind == group_kind)


def refers_to_targets(schema: Mapping[str, Json]) -> bool:
    """Whether the schema of a kind has a reference of the sort that policies have."""
    return any(_refers(mapping_at(schema, "properties.spec.properties")))


def references_to_targets(schema: Mapping[str, Json]) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Yield the fields of `spec` with references to targets, each with the schema of one reference."""
    properties = mapping_at(schema, "properties.spec.properties")
    for name in _REFERENCES:
        described = mapping_at(properties, name)
        if described:
            yield name, mapping_at(described, "items") or described


def _strategies(properties: Mapping[str, Json], objects: Iterable[Resource]) -> dict[str, MergeStrategy]:
    values = strings_at(properties, "strategy.enum")
    if not values and (not properties or "strategy" in properties):
        values = [text_at(obj.raw, _STRATEGY_FIELD) for obj in objects if value_at(obj.raw, _STRATEGY_FIELD)]
    strategies = {value: GEP_STRATEGIES.get(value.lower()) for value in sorted(set(values))}
    return {value: strategy for value, strategy in strategies.items() if strategy} if all(strategies.values()) else {}


def _on_several_levels(objects: Iterable[Resource]) -> bool:
    """Whether objects of a kind refer to routes, and others of them to what routes are attached to."""
    kinds = {
        text_at(reference, "kind")
        for resource in objects
        for reference in _references(resource.raw)
        if text_at(reference, "group") in GATEWAY_API_GROUPS
    }
    routes = {kind for kind in kinds if kind.endswith("Route")}
    return bool(routes and kinds - routes)


def maps_of_scalars(schema: Mapping[str, Json], path: str = "") -> Iterator[str]:
    """Yield the paths in a schema of maps from free keys to scalars, which a merge replaces whole."""
    extra = schema.get("additionalProperties")
    if isinstance(extra, dict) and path and not {"properties", "items", "additionalProperties"} & extra.keys():
        yield path
    for key, child in mapping_at(schema, "properties").items():
        if isinstance(child, dict):
            yield from maps_of_scalars(child, f"{path}.{key}" if path else key)


def _stanzas(properties: Mapping[str, Json]) -> Stanzas | None:
    for style, names in STANZAS.items():
        if any(mapping_at(properties, name).get("type") == "object" for name in names):
            return style
    return "none" if properties else None


def _refers(properties: Mapping[str, Json]) -> Iterator[bool]:
    for name in _REFERENCES:
        schema = properties.get(name)
        fields = mapping_at(schema, "properties") or mapping_at(schema, "items.properties")
        yield "kind" in fields and "apiVersion" not in fields


def _refer(raw: Mapping[str, Json]) -> bool:
    return any("kind" in reference and "apiVersion" not in reference for reference in _references(raw))


def _references(raw: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    single = value_at(raw, "spec.targetRef")
    for reference in (single, *items_at(raw, "spec.targetRefs"), *items_at(raw, "spec.targetSelectors")):
        if isinstance(reference, dict):
            yield reference
