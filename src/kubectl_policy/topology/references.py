"""References of Gateways and routes to other objects, with defaults for the parts that a reference leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from msgspec import Struct

from kubectl_policy.lazy import pattern
from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef
from kubectl_policy.model.fields import (
    every_mapping,
    integer_at,
    items_at,
    mapping_at,
    mappings_at,
    strings_at,
    text_at,
)
from kubectl_policy.model.index import Index, read_once
from kubectl_policy.model.kind_roles import GATEWAY, HTTP_ROUTE, PARAMETERS, SERVICE, section_noun
from kubectl_policy.model.refs import is_unnamed
from kubectl_policy.model.unknown import Port, port_at

# The type of filters that name an object.
EXTENSION_REF: Final = "ExtensionRef"

# The reason for which a reference is not followed that needs a ReferenceGrant (RouteConditionReason and others).
NOT_PERMITTED: Final = "RefNotPermitted"


class ParentRef(Struct, frozen=True, kw_only=True):
    """One parentRef of a route; `position` is its index in `spec.parentRefs`, counting what cannot be read."""

    position: int
    object: ObjectRef
    section: str
    port: Port | None


class BackendRef(Struct, frozen=True, kw_only=True):
    """One backendRef of a route."""

    # The path in the route, and the index of its rule.
    field: str
    rule: int
    object: ObjectRef
    port: Port | None
    # Without a weight no traffic runs: "If weight is set to 0, no traffic should be forwarded for this entry"
    # (BackendRef.Weight).
    weight: int = 1
    # False for references of filters (a mirror, an external authorizer): they have to resolve, but no traffic of
    # the hierarchy runs through them.
    forwards: bool = True


def refer(index: Index, reference: Mapping[str, Json], home: str, default: GroupKind) -> ObjectRef:
    """Return the object that a reference names; group and kind default to `default`, the namespace to `home`.

    A group that is present and empty is the core group.
    """
    # Every reference of every route is read here, and a path of one step is a key.
    group, name_of_kind, name = reference.get("group"), reference.get("kind"), reference.get("name")
    named = GroupKind(
        group if isinstance(group, str) else default.group,
        name_of_kind if isinstance(name_of_kind, str) else default.kind,
    )
    # Most are of the kind that is the default: they share one.
    kind = default if named == default else named
    namespace = (text_at(reference, "namespace") or home) if index.namespaced(kind) else ""
    return ObjectRef(kind, namespace, name if isinstance(name, str) else "")


@read_once
def parent_refs(index: Index, route: ObjectRef, raw: Mapping[str, Json]) -> Iterator[ParentRef]:
    """Yield the parentRefs of a route; the group and kind default to Gateway (ParentReference)."""
    for position, item in enumerate(items_at(raw, "spec.parentRefs")):
        parent = refer(index, _mapping(item), route.namespace, GATEWAY)
        if parent.name:
            yield ParentRef(
                position=position,
                object=_shared(parent),
                section=text_at(item, "sectionName"),
                port=port_at(item, "port"),
            )


# One for all routes: many have the same parent.
@lru_cache(256)
def _shared(parent: ObjectRef) -> ObjectRef:
    return parent


@read_once
def hostnames_of(_: Index, __: ObjectRef, raw: Mapping[str, Json]) -> Iterable[str]:
    """Return the hostnames that a route names."""
    return strings_at(raw, "spec.hostnames")


def parent_gateway(index: Index, listener_set: ObjectRef, raw: Mapping[str, Json]) -> ObjectRef | None:
    """Return the Gateway that a ListenerSet names as its parent; None if it names none, or something else."""
    parent = refer(index, mapping_at(raw, "spec.parentRef"), listener_set.namespace, GATEWAY)
    return parent if parent.group_kind == GATEWAY and parent.name else None


@read_once
def backend_refs(index: Index, route: ObjectRef, raw: Mapping[str, Json]) -> Iterator[BackendRef]:
    """Yield every reference of a route to a backend, rule by rule: those that forward, then those of filters.

    One without a name may mean every route of a namespace, and nothing else.
    """
    for number, rule in enumerate(items_at(raw, "spec.rules")):
        for field, reference, forwards in _backends_in(f"spec.rules[{number}]", rule):
            weight = integer_at(reference, "weight")
            yield BackendRef(
                field=field,
                rule=number,
                object=refer(index, _mapping(reference), route.namespace, SERVICE),
                port=port_at(reference, "port"),
                weight=1 if weight is None else weight,
                forwards=forwards,
            )


def _backends_in(where: str, rule: Json) -> Iterator[tuple[str, Json, bool]]:
    """Yield the field of each reference in a rule, what it is, and whether it forwards."""
    for position, item in enumerate(items_at(rule, "backendRefs")):
        field = f"{where}.backendRefs[{position}]"
        if text_at(item, "name") or text_at(item, "kind") == HTTP_ROUTE.kind:
            yield field, item, True
        if items_at(item, "filters"):
            yield from _backends_of_filters(field, item)
    if items_at(rule, "filters"):
        yield from _backends_of_filters(where, rule)


def _backends_of_filters(where: str, holder: Json) -> Iterator[tuple[str, Json, bool]]:
    for position, item in enumerate(items_at(holder, "filters")):
        for path in ("requestMirror.backendRef", "externalAuth.backendRef"):
            if text_at(item, f"{path}.name"):
                yield f"{where}.filters[{position}].{path}", mapping_at(item, path), False


class RouteFilter(Struct, frozen=True, kw_only=True):
    """A filter of type ExtensionRef in a route."""

    route: ObjectRef
    # The path of the reference in the route, and the index of its rule.
    field: str
    rule: int
    # The index among the filters of the rule, or of one of its backendRefs.
    position: int
    # The object that the filter names.
    object: ObjectRef
    # What the backendRef with the filter names; None for a filter of the rule.
    backend: ObjectRef | None = None


@read_once
def route_filters(index: Index, route: ObjectRef, raw: Mapping[str, Json]) -> Iterator[RouteFilter]:
    """Yield the filters of a route that name an object, rule by rule: of the rule, then of its backendRefs.

    The reference is local (LocalObjectReference): whatever it names is in the namespace of the route.
    """
    for number, rule in enumerate(items_at(raw, "spec.rules")):
        where = f"spec.rules[{number}]"
        holders: list[tuple[str, Json, ObjectRef | None]] = [(where, rule, None)] if items_at(rule, "filters") else []
        for index_of_ref, item in enumerate(items_at(rule, "backendRefs")):
            if items_at(item, "filters"):
                backend = refer(index, _mapping(item), route.namespace, SERVICE)
                holders.append((f"{where}.backendRefs[{index_of_ref}]", item, backend))
        for field, holder, target in holders:
            for position, kind, name in _extensions(holder):
                yield RouteFilter(
                    route=route,
                    field=f"{field}.filters[{position}].extensionRef",
                    rule=number,
                    position=position,
                    object=ObjectRef(kind, route.namespace if index.namespaced(kind) else "", name),
                    backend=target,
                )


def _extensions(holder: Json) -> Iterator[tuple[int, GroupKind, str]]:
    """Yield the position of each filter of type ExtensionRef, and the kind and the name in it."""
    for position, item in enumerate(items_at(holder, "filters")):
        reference = mapping_at(item, "extensionRef")
        kind, name = GroupKind(text_at(reference, "group"), text_at(reference, "kind")), text_at(reference, "name")
        if text_at(item, "type") == EXTENSION_REF and kind.kind and name:
            yield position, kind, name


class ParametersRef(Struct, frozen=True, kw_only=True):
    """The reference of a Gateway or a GatewayClass to an object with parameters; `field` is where it stands."""

    holder: ObjectRef
    field: str
    object: ObjectRef


def parameters_ref(index: Index, holder: ObjectRef) -> ParametersRef | None:
    """Return the parametersRef of a Gateway or a GatewayClass; None if it has none.

    A Gateway's are in its own namespace (LocalParametersReference), those of a class in the one that it names.
    """
    return next(iter(_parameters_refs(index, holder)), None)


@read_once
def _parameters_refs(index: Index, holder: ObjectRef, raw: Mapping[str, Json]) -> Iterator[ParametersRef]:
    field = PARAMETERS[holder.group_kind]
    reference = mapping_at(raw, field)
    kind, name = GroupKind(text_at(reference, "group"), text_at(reference, "kind")), text_at(reference, "name")
    if kind.kind and name:
        namespace = text_at(reference, "namespace") or holder.namespace
        obj = ObjectRef(kind, namespace if index.namespaced(kind) else "", name)
        yield ParametersRef(holder=holder, field=field, object=obj)


def port_names(raw: Mapping[str, Json]) -> dict[Port, str]:
    """Return the sections of a Service or ServiceImport by port number: the port's name, or its number as text.

    A number that is to be filled in is the text that stands for it.
    """
    names: dict[Port, str] = {}
    for port in mappings_at(raw, "spec.ports"):
        number = port_at(port, "port")
        if number is not None:
            names.setdefault(number, text_at(port, "name") or str(number))
    return names


def ports_at(raw: Mapping[str, Json], paths: Iterable[str]) -> dict[Port, str]:
    """Return the sections of an object of another kind by port number; the numbers stand at `paths`, through lists."""
    split = (path.rpartition(".") for path in paths)
    holders = ((holder, key) for parent, _, key in split for holder in every_mapping(raw, parent))
    numbers = sorted({number for holder, key in holders if (number := integer_at(holder, key)) is not None})
    return {number: str(number) for number in numbers}


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, (dict, Mapping)) else {}


def section_words(node: NodeRef) -> str:
    """`listener https`, `rule api`, `rule[2]`, `port 8080`."""
    if is_unnamed(node.section):
        return node.section
    return f"{section_noun(node.object.group_kind)} {node.section}"


# In a route as compact JSON: a kind or a group that is none of parents and backends in Gateway API, or of the route.
_OTHER_KINDS: Final = pattern(
    rb'"kind":"(?!(?:Gateway|X?ListenerSet|Service|ServiceImport|(?:HTTP|GRPC|TLS|TCP|UDP)Route)")'
    rb'|"group":"(?!(?:|gateway\.networking\.(?:x-)?k8s\.io|multicluster\.x-k8s\.io)")'
)


def may_name_other_kinds(text: bytes, number: int) -> bool:
    """Whether a number of routes may refer to a route, or to a kind that is no parent or backend in Gateway API."""
    # Each says its own kind once.
    return text.count(b'Route"') > number or bool(_OTHER_KINDS.search(text))
