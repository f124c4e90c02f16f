"""Relations that may hold once placeholders in names, ports and hostnames are filled in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.lazy import cached_method
from kubectl_policy.model import GroupKind, Json, ObjectRef
from kubectl_policy.model.fields import items_at, mapping_at, strings_at, text_at
from kubectl_policy.model.index import Index, read_once
from kubectl_policy.model.kind_roles import (
    FILTERING_ROUTES,
    GATEWAY,
    HIERARCHY,
    HTTP_ROUTE,
    KINDS,
    LISTENER_HOLDERS,
    NAMESPACE,
    PORT_HOLDERS,
    ROUTE_PARENTS,
    ROUTES,
)
from kubectl_policy.model.unknown import (
    is_open,
    is_unfilled,
    is_unknown,
    is_unknown_hostname,
    is_unknown_kind,
    may_equal,
)
from kubectl_policy.model.world import grouped
from kubectl_policy.topology.references import backend_refs, parent_refs, route_filters

if TYPE_CHECKING:
    from kubectl_policy.topology.relations import Relations

# What decides how objects are related that are no routes, of the fields of their specs.
_DECIDING: Final = frozenset(
    {"listeners", "allowedListeners", "parentRef", "gatewayClassName", "ports", "controllerName"}
)


@read_once
def _open_parts(index: Index, route: ObjectRef, raw: Mapping[str, Json]) -> Iterator[bool]:
    """Whether something is to be filled in, in each of the parts of a route that decide what it is related to."""
    filters = route_filters(index, route) if route.group_kind in FILTERING_ROUTES else ()
    yield any(map(is_unknown_hostname, strings_at(raw, "spec.hostnames")))
    yield any(is_unknown(text_at(rule, "name")) for rule in items_at(raw, "spec.rules"))
    yield any(
        is_open(parent.object) or isinstance(parent.port, str) or is_unknown(parent.section)
        for parent in parent_refs(index, route)
    )
    yield any(is_open(backend.object) or isinstance(backend.port, str) for backend in backend_refs(index, route))
    yield any(is_open(route_filter.object) for route_filter in filters)


class PossibleRelation(Struct, frozen=True):
    """An object that may be below another one; `message` says by which reference."""

    upper: ObjectRef
    lower: ObjectRef
    message: str
    is_handshake: bool = False
    """Whether a route names a parent, and it is unknown whether that takes it: the message is about the route."""


class PossibleRelations:
    """The relations that may hold in one snapshot, beside those that do."""

    def __init__(self, relations: Relations) -> None:
        """Remember where to look."""
        self._relations, self._index = relations, relations.index

    @cached_property
    def has_any(self) -> bool:
        """Whether something is to be filled in at all that decides what is related."""
        return bool(self._index.candidates.with_unknown_names) or any(map(self._is_open, HIERARCHY))

    def _is_open(self, kind: GroupKind) -> bool:
        resources = self._index.perhaps_unfilled(kind, names=kind in ROUTES)
        if kind in ROUTES:
            return any(any(_open_parts(self._index, route.ref)) for route in resources)
        # Of what is not a route, little is read; and of that, any placeholder may decide.
        specs = (mapping_at(resource.raw, "spec") for resource in resources)
        return any(_is_any_unfilled(spec[field]) for spec in specs for field in _DECIDING.intersection(spec))

    @cached_method
    def related(self, obj: ObjectRef) -> tuple[tuple[ObjectRef, PossibleRelation], ...]:
        """Return the objects that may be directly related to an object or the routes to it, with the relations."""
        objects = (obj, *self._relations.routes_referring_to(obj)) if self.has_any else ()
        return tuple(
            (relation.upper if relation.lower == lower and not relation.is_handshake else relation.lower, relation)
            for lower in objects
            for relation in self.parents(lower)
        )

    def parents(self, obj: ObjectRef) -> Iterator[PossibleRelation]:
        """Return the relations to objects that may be directly above an object, or attached to it by a filter."""
        if not self.has_any:
            return
        yield from self._by_lower.get(obj, ())
        if obj.group_kind in ROUTES:
            yield from (
                relation for relation in self._by_upper.get(obj, ()) if relation.lower.group_kind not in HIERARCHY
            )
            yield from self._undecided(obj, (binding.parent for binding in self._relations.bindings(obj)))
        if obj.group_kind in PORT_HOLDERS:
            for route in self._relations.routes_referring_to(obj):
                yield from self._ports(route, obj)
        if is_unknown(obj.namespace):
            for namespace in self._index.of_kind(NAMESPACE):
                if may_equal(namespace.ref.name, obj.namespace):
                    yield _namespace(namespace.ref, obj)

    def children(self, obj: ObjectRef) -> Iterator[PossibleRelation]:
        """Return the relations to objects that may be directly below an object."""
        if not self.has_any:
            return
        yield from self._by_upper.get(obj, ())
        if obj.group_kind in ROUTE_PARENTS:
            for route in self._relations.routes_naming(obj):
                yield from self._undecided(route, [obj])
        if obj.group_kind in ROUTES:
            for backend in dict.fromkeys(ref.object for ref in backend_refs(self._index, obj)):
                yield from self._ports(obj, backend)
        if obj.group_kind == NAMESPACE:
            yield from (
                _namespace(obj, homeless)
                for homeless in self._without_known_namespace
                if may_equal(obj.name, homeless.namespace)
            )
            for name in self._unmanifested if is_unknown(obj.name) else ():
                if may_equal(name, obj.name):
                    yield PossibleRelation(obj, ObjectRef(NAMESPACE, "", name), f"{obj} may be that one")

    @cached_property
    def _unmanifested(self) -> tuple[str, ...]:
        """The namespaces in which there is something, and of which no manifest was read."""
        return tuple(
            sorted(self._index.world.namespaces.difference(ref.name for ref in self._index.world.refs_of(NAMESPACE)))
        )

    def may_be_backend(self, obj: ObjectRef) -> bool:
        """Whether requests may come to an object from a route by a reference of which that is not known."""
        return self.has_any and any(relation.upper.group_kind in ROUTES for relation in self._by_lower.get(obj, ()))

    def _undecided(self, route: ObjectRef, parents: Iterable[ObjectRef]) -> Iterator[PossibleRelation]:
        for parent in dict.fromkeys(parents):
            for binding in self._relations.bindings_at(route, parent):
                if binding.is_unfilled:
                    yield PossibleRelation(parent, route, binding.message, is_handshake=True)

    def _ports(self, route: ObjectRef, backend: ObjectRef) -> Iterator[PossibleRelation]:
        """Return a relation for each reference to a backend whose port is not known, there or in the reference."""
        ports = self._relations.ports(backend)
        for ref in backend_refs(self._index, route):
            unfilled = any(isinstance(port, str) for port in (*ports, ref.port))
            if ref.object == backend and ref.port is not None and ref.port not in ports and ports and unfilled:
                message = f"{ref.field} of {route} names port {ref.port}, and a port is a placeholder"
                yield PossibleRelation(route, backend, message)

    @cached_property
    def _by_upper(self) -> Mapping[ObjectRef, tuple[PossibleRelation, ...]]:
        return grouped((relation.upper, relation) for relation in self._by_references)

    @cached_property
    def _by_lower(self) -> Mapping[ObjectRef, tuple[PossibleRelation, ...]]:
        return grouped((relation.lower, relation) for relation in self._by_references)

    @cached_property
    def _without_known_namespace(self) -> tuple[ObjectRef, ...]:
        """The objects of the hierarchy of which it is not known in which namespace they are."""
        return tuple(ref for kind in HIERARCHY for ref in self._index.world.refs_of(kind) if is_unknown(ref.namespace))

    @cached_property
    def _by_references(self) -> tuple[PossibleRelation, ...]:
        return tuple(dict.fromkeys((*self._of_routes(), *self._of_gateways())))

    def _of_routes(self) -> Iterator[PossibleRelation]:
        index = self._index
        for route in (ref for kind in ROUTES for ref in self._index.world.refs_of(kind)):
            for parent in parent_refs(index, route):
                message = f"spec.parentRefs[{parent.position}] of {route} may name it"
                for meant in self._candidates(parent.object, (*LISTENER_HOLDERS, *PORT_HOLDERS)):
                    yield PossibleRelation(meant, route, message)
            for backend in backend_refs(index, route):
                for meant in dict.fromkeys(
                    (*self._candidates(backend.object, PORT_HOLDERS), *self._delegated_candidates(backend.object))
                ):
                    yield PossibleRelation(route, meant, f"{backend.field} of {route} may name it")
            for named in route_filters(index, route) if route.group_kind in FILTERING_ROUTES else ():
                for meant in self._candidates(named.object, ()):
                    yield PossibleRelation(route, meant, f"{named.field} of {route} may name it")

    def _delegated_candidates(self, ref: ObjectRef) -> Iterable[ObjectRef]:
        """Return the routes that a reference to no backend may mean: by a label, or all of a namespace."""
        if ref.group_kind in PORT_HOLDERS or self._index.get(ref):
            return ()
        if not is_open(ref):
            return self._index.candidates.of(ObjectRef(HTTP_ROUTE, ref.namespace, ""))
        return [route for route in self._index.world.refs_of(HTTP_ROUTE) if may_equal(route.namespace, ref.namespace)]

    def _of_gateways(self) -> Iterator[PossibleRelation]:
        gateways = self._relations.gateways
        for resource in (owner for kind in LISTENER_HOLDERS for owner in self._index.of_kind(kind)):
            ref = resource.ref
            parent = gateways.class_of(ref) if ref.group_kind == GATEWAY else gateways.gateway_of(ref)
            for meant in self._candidates(parent, ()) if parent else ():
                yield PossibleRelation(meant, ref, f"{KINDS[ref.group_kind].parents} of {ref} may name it")
            yield from self._certificates(ref)

    def _certificates(self, ref: ObjectRef) -> Iterator[PossibleRelation]:
        """Return the certificates that decide whether a listener is valid, where controllers ignore invalid ones."""
        gateways = self._relations.gateways
        if gateways.profile_of(gateways.gateway_of(ref)).ignores_invalid:
            from kubectl_policy.topology.gateway.certificates import certificate_refs  # noqa: PLC0415 (few ignore it)

            for listener in gateways.listeners(ref):
                for certificate in certificate_refs(gateways, listener):
                    if self._candidates(certificate.target, ()) or is_open(certificate.target):
                        message = f"{certificate.field} of {ref} names it, and without it the listener is ignored"
                        yield PossibleRelation(certificate.target, ref, message)

    def _candidates(self, ref: ObjectRef, kinds: Iterable[GroupKind]) -> Iterable[ObjectRef]:
        """Return the objects that a reference with placeholders may name; of `kinds`, if its kind is one."""
        if self._index.get(ref):
            return ()
        if not is_unknown_kind(ref.group_kind):
            return self._index.candidates.of(ref)
        every = (ref for kind in kinds for ref in self._index.world.refs_of(kind))
        return [
            candidate
            for candidate in every
            if may_equal(candidate.name, ref.name) and may_equal(candidate.namespace, ref.namespace)
        ]


def _namespace(namespace: ObjectRef, obj: ObjectRef) -> PossibleRelation:
    return PossibleRelation(namespace, obj, f"{obj} may be in it: which namespace it is in is not known")


def _is_any_unfilled(value: Json) -> bool:
    """Whether any text in a value, keys as well, is to be filled in."""
    rest = [value]
    while rest:
        item = rest.pop()
        if isinstance(item, str):
            if is_unfilled(item):
                return True
        elif isinstance(item, (dict, Mapping)):
            rest += item
            rest += item.values()
        elif isinstance(item, list | tuple):
            rest += item
    return False
