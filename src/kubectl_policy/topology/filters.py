"""Objects that filters of routes name: the filters of type ExtensionRef, of rules and of their backendRefs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.model import GroupKind, ObjectRef
from kubectl_policy.model.fields import items_at, mapping_at, text_at
from kubectl_policy.model.kinds import SERVICE
from kubectl_policy.topology.references import GRPC_ROUTE, HTTP_ROUTE, refer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.model.index import Index

# The kinds of routes whose rules have filters.
WITH_FILTERS: Final = (HTTP_ROUTE, GRPC_ROUTE)


class RouteFilter(NamedTuple):
    """A filter that names an object, and where it stands.

    `rule` is the index of its rule, `position` its index among the filters of that rule or of one of its backendRefs;
    of the latter, `backend` is what the backendRef names. `field` is the place of the reference in the route.
    """

    route: ObjectRef
    field: str
    rule: int
    position: int
    object: ObjectRef
    backend: ObjectRef | None = None


def route_filters(index: Index, route: ObjectRef, raw: Mapping[str, Json]) -> Iterator[RouteFilter]:
    """The filters of a route that name an object, rule by rule: those of the rule first, then those of its backendRefs.

    The reference is local (LocalObjectReference): whatever it names is in the namespace of the route.
    """
    for number, rule in enumerate(items_at(raw, "spec.rules")):
        where = f"spec.rules[{number}]"
        for field, position, named in _named(index, route, where, rule):
            yield RouteFilter(route, field, number, position, named)
        for place, item in enumerate(items_at(rule, "backendRefs")):
            backend = refer(index, item if isinstance(item, dict) else {}, route.namespace, SERVICE)
            for field, position, named in _named(index, route, f"{where}.backendRefs[{place}]", item):
                yield RouteFilter(route, field, number, position, named, backend)


def _named(index: Index, route: ObjectRef, where: str, holder: Json) -> Iterator[tuple[str, int, ObjectRef]]:
    for position, item in enumerate(items_at(holder, "filters")):
        reference = mapping_at(item, "extensionRef")
        kind, name = GroupKind(text_at(reference, "group"), text_at(reference, "kind")), text_at(reference, "name")
        if text_at(item, "type") == "ExtensionRef" and kind.kind and name:
            namespace = route.namespace if index.namespaced(kind) else ""
            yield f"{where}.filters[{position}].extensionRef", position, ObjectRef(kind, namespace, name)


def filters_by_object(index: Index) -> Mapping[ObjectRef, tuple[RouteFilter, ...]]:
    """The filters of all routes by what they name, each by kind and name of its route, then in their order."""
    found: dict[ObjectRef, list[RouteFilter]] = {}
    for kind in WITH_FILTERS:
        for route in index.of_kind(kind):
            for named in route_filters(index, route.ref, route.raw):
                found.setdefault(named.object, []).append(named)
    return {obj: tuple(filters) for obj, filters in found.items()}
