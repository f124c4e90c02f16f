"""How the objects of one snapshot relate to each other: every lookup of the hierarchy, computed once and when asked."""

from __future__ import annotations

from collections import deque
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
from kubectl_policy.model.fields import text_at
from kubectl_policy.topology.backends import backends_of
from kubectl_policy.topology.delegation.backends import delegating_backends
from kubectl_policy.topology.delegation.delegations import Delegations, delegated_binding
from kubectl_policy.topology.delegation.references import delegating_refs
from kubectl_policy.topology.filters import filters_by_object
from kubectl_policy.topology.gateway.conflicts import admits, conflicts_on, listener_sets_by_gateway
from kubectl_policy.topology.gateway.handshake import bind
from kubectl_policy.topology.gateway.listeners import listeners_of
from kubectl_policy.topology.gateway.requests import Requests, requests_of
from kubectl_policy.topology.grants import permitted, unseen
from kubectl_policy.topology.hierarchy import HIERARCHY, WITH_LISTENERS
from kubectl_policy.topology.references import (
    GATEWAY,
    GATEWAY_CLASS,
    HTTP_ROUTE,
    ROUTES,
    WITH_PORTS,
    backend_refs,
    parent_refs,
    port_names,
    rule_names,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles.implementation import DelegationProfile
    from kubectl_policy.topology.backends import Backend
    from kubectl_policy.topology.delegation.delegations import Delegation
    from kubectl_policy.topology.filters import RouteFilter
    from kubectl_policy.topology.gateway.conflicts import Conflict
    from kubectl_policy.topology.gateway.handshake import Binding
    from kubectl_policy.topology.gateway.ignored import Ignored
    from kubectl_policy.topology.gateway.listeners import Listener
    from kubectl_policy.topology.implementation import Implementation
    from kubectl_policy.topology.references import BackendRef

_Key = TypeVar("_Key", bound="Hashable")


def grouped(pairs: Iterable[tuple[_Key, ObjectRef]]) -> Mapping[_Key, tuple[ObjectRef, ...]]:
    """The objects of each key, each once, in the order in which they come."""
    found: dict[_Key, dict[ObjectRef, None]] = {}
    for key, obj in pairs:
        found.setdefault(key, {})[obj] = None
    return {key: tuple(objects) for key, objects in found.items()}


def reachable(starts: Iterable[ObjectRef], steps: Callable[[ObjectRef], Iterable[ObjectRef]]) -> Iterator[ObjectRef]:
    """Some objects and whatever steps lead to from them, the nearest first, each once."""
    seen = dict.fromkeys(starts)
    waiting = deque(seen)
    while waiting:
        current = waiting.popleft()
        yield current
        found = dict.fromkeys(one for one in steps(current) if one not in seen)
        seen |= found
        waiting.extend(found)


DelegationsOf: TypeAlias = "Callable[[Collection[GroupKind]], tuple[DelegationProfile, ...]]"


class Relations:
    """The relations of a snapshot.

    What one object says is read when it is asked for; only the reverse of a reference ("which routes name this
    Gateway") takes a look at all objects of a kind, once.
    """

    def __init__(
        self,
        index: Index,
        implementation: Implementation,
        delegation_of: DelegationsOf,
        why_ignored: Callable[[NodeRef], Ignored | None],
    ) -> None:
        """Remember where to look, and for the arguments what `Topology` says."""
        self._why_ignored = why_ignored
        self._ignored: dict[NodeRef, Ignored | None] = {}
        self.index = index
        self.implementation = implementation
        self._delegation_of = delegation_of
        self._sections: dict[ObjectRef, tuple[str, ...]] = {}
        self._listeners: dict[ObjectRef, tuple[Listener, ...]] = {}
        self._attached: dict[ObjectRef, Mapping[NodeRef, tuple[ObjectRef, ...]]] = {}
        self._bindings: dict[ObjectRef, tuple[Binding, ...]] = {}
        self._backends: dict[ObjectRef, tuple[Backend, ...]] = {}
        self._below_rules: dict[NodeRef, Mapping[NodeRef, None]] = {}
        self._conflicts: dict[ObjectRef, Mapping[NodeRef, Conflict]] = {}
        self.ways_to: dict[NodeRef, tuple[tuple[NodeRef, ...], ...]] = {}  # see `paths`

    def sections(self, obj: ObjectRef) -> tuple[str, ...]:
        """The sections of an object in their order; see `NodeRef`."""
        if obj not in self._sections:
            self._sections[obj] = self._read_sections(obj)
        return self._sections[obj]

    def _read_sections(self, obj: ObjectRef) -> tuple[str, ...]:
        if obj.group_kind in WITH_LISTENERS:
            return tuple(listener.node.section for listener in self.listeners(obj))
        if obj.group_kind in ROUTES:
            return rule_names(self.index.raw(obj))
        if obj.group_kind in WITH_PORTS:
            return tuple(dict.fromkeys(port_names(self.index.raw(obj)).values()))
        return ()

    def listeners(self, obj: ObjectRef) -> tuple[Listener, ...]:
        """The listeners of a Gateway or ListenerSet in their order."""
        if obj not in self._listeners:
            self._listeners[obj] = listeners_of(self.index, obj)
        return self._listeners[obj]

    def bindings(self, route: ObjectRef) -> tuple[Binding, ...]:
        """The outcomes of a route's handshakes."""
        if route not in self._bindings:
            bindings = bind(self.index, self.implementation, self.listeners, self.conflicts, route)
            self._bindings[route] = tuple(
                delegated_binding(self.index, self.delegations, binding)
                if binding.parent.group_kind == HTTP_ROUTE
                else binding.where(self.why_ignored(binding.listener or NodeRef(binding.parent)))
                for binding in bindings
            )
        return self._bindings[route]

    def why_ignored(self, node: NodeRef) -> Ignored | None:
        """Why a Gateway or listener serves nothing, being invalid."""
        if node not in self._ignored:
            self._ignored[node] = self._why_ignored(node)
        return self._ignored[node]

    def attached_to(self, node: NodeRef) -> tuple[ObjectRef, ...]:
        """The routes that are attached to a listener, or to a parent Service or one of its ports; sorted."""
        parent = node.object
        if parent not in self._attached:
            self._attached[parent] = grouped(
                (binding.listener or NodeRef(parent), route)
                for route in self.routes_naming(parent)
                for binding in self.bindings(route)
                if binding.state == "attached" and binding.parent == parent
            )
        return self._attached[parent].get(node, ())

    def is_unattached(self, route: ObjectRef) -> bool:
        """Whether a route is known to be attached to nothing: traffic never reaches it, nor anything through it."""
        return not (self._is_bound(route) or route in self._below_bound)

    def _is_bound(self, route: ObjectRef) -> bool:
        """Whether a route may be attached to something itself, as far as is known."""
        return any(binding.state != "refused" and not binding.is_delegated for binding in self.bindings(route))

    @cached_property
    def _below_bound(self) -> frozenset[ObjectRef]:
        """The routes to which requests come from other routes, directly or through more of them."""
        found = self._routes_by_backend.items()
        below = grouped((above, route) for route, routes in found if route.group_kind in ROUTES for above in routes)
        first = [child for route, children in below.items() if self._is_bound(route) for child in children]
        return frozenset(reachable(first, lambda route: below.get(route, ())))

    def delegating_to(self, route: ObjectRef) -> tuple[Delegation, ...]:
        """The rules of other routes that refer to a route to hand on requests, also where it is refused."""
        return self.delegations.to(route)

    def delegating_routes(self, route: ObjectRef) -> Iterator[ObjectRef]:
        """A route and every route that delegates to it, directly or through others."""
        return reachable(
            [route], lambda below: (found.parent.object for found in self.delegating_to(below) if found.takes)
        )

    @cached_property
    def delegations(self) -> Delegations:
        """Which routes delegate to which; how they do is looked up only if a reference may mean routes."""
        kinds = {backend.object.group_kind for _, backend in self.forwards} - {*WITH_PORTS}
        possible = [kind for kind in sorted(kinds) if kind == HTTP_ROUTE or not self.index.of_kind(kind)]
        profiles = self._delegation_of(possible) if possible else ()
        return Delegations(self.index, delegating_refs(self.index, self.forwards, profiles) if profiles else {})

    def backends(self, route: ObjectRef) -> tuple[Backend, ...]:
        """What a route's backendRefs resolve to."""
        if route not in self._backends:
            delegating = delegating_backends(self.index, self.delegations, route)
            self._backends[route] = backends_of(
                self.index, self.implementation, route, self._refs.get(route, ()), delegating
            )
        return self._backends[route]

    def below_rule(self, rule: NodeRef) -> Mapping[NodeRef, None]:
        """Where the rule of a route sends requests, as far as its references are permitted; in their order."""
        if rule not in self._below_rules:
            sections = self.sections(rule.object)
            position = sections.index(rule.section) if rule.section in sections else -1
            found = (backend for backend in self.backends(rule.object) if backend.ref.rule == position)
            self._below_rules[rule] = dict.fromkeys(node for backend in found for node in backend.nodes)
        return self._below_rules[rule]

    def conflicts(self, gateway: ObjectRef) -> Mapping[NodeRef, Conflict]:
        """The conflicted listeners on a Gateway."""
        if gateway not in self._conflicts:
            admitted = [
                listener_set for listener_set in self.listener_sets(gateway) if self.admits(gateway, listener_set)
            ]
            self._conflicts[gateway] = conflicts_on(self.index, self.implementation, gateway, admitted)
        return self._conflicts[gateway]

    def listener_sets(self, gateway: ObjectRef) -> tuple[ObjectRef, ...]:
        """The ListenerSets that name a Gateway, admitted or not, in their order of precedence."""
        return self._sets_by_gateway.get(gateway, ())

    def admits(self, gateway: ObjectRef, listener_set: ObjectRef) -> bool:
        """Whether a Gateway is known to let a ListenerSet attach."""
        return admits(self.index, gateway, listener_set) is True

    def routes_naming(self, parent: ObjectRef) -> tuple[ObjectRef, ...]:
        """The routes with a parentRef to an object, whether or not they attach; sorted."""
        return self._routes_by_parent.get(parent, ())

    def routes_forwarding_to(self, backend: ObjectRef) -> tuple[ObjectRef, ...]:
        """The routes with a permitted backendRef to an object, or that delegate to it; sorted."""
        return self._routes_by_backend.get(backend, ())

    def filters_naming(self, obj: ObjectRef) -> tuple[RouteFilter, ...]:
        """The filters of routes that name an object, by kind and name of the route, then in their order."""
        return self._filters_by_object.get(obj, ())

    def requests_of(self, route: ObjectRef) -> tuple[Requests, ...]:
        """Which requests a route takes, each once."""
        resource = self.index.get(route)
        found = requests_of(resource, self.bindings(route), self.listeners) if resource else ()
        return tuple(dict.fromkeys(found))

    def routes_taking(self, requests: Requests) -> tuple[ObjectRef, ...]:
        """The routes that take the same requests; by kind, then sorted."""
        return self._routes_by_requests.get(requests, ())

    @property
    def routes_lead_to_routes(self) -> bool:
        """Whether a route has a route as a backend without delegating to it, as nothing in Gateway API itself does."""
        delegated = {found.child for found in self.delegations.taken()}
        return any(backend.group_kind in ROUTES and backend not in delegated for backend in self._routes_by_backend)

    def gateways_of(self, gateway_class: ObjectRef) -> tuple[ObjectRef, ...]:
        """The Gateways of a GatewayClass; sorted."""
        return self._gateways_by_class.get(gateway_class, ())

    def in_namespace(self, namespace: str) -> tuple[ObjectRef, ...]:
        """What is in a namespace: objects of the hierarchy's kinds, kind by kind, then other or unread backends."""
        return self._by_namespace.get(namespace, ())

    def class_of(self, gateway: ObjectRef) -> ObjectRef | None:
        """The GatewayClass that a Gateway names, whether or not it exists."""
        name = text_at(self.index.raw(gateway), "spec.gatewayClassName")
        return ObjectRef(GATEWAY_CLASS, "", name) if name else None

    @cached_property
    def _sets_by_gateway(self) -> Mapping[ObjectRef, tuple[ObjectRef, ...]]:
        return listener_sets_by_gateway(self.index)

    @cached_property
    def _routes_by_parent(self) -> Mapping[ObjectRef, tuple[ObjectRef, ...]]:
        routes = self._routes()
        return grouped((one.object, route) for route, raw in routes for one in parent_refs(self.index, route, raw))

    @cached_property
    def _routes_by_backend(self) -> Mapping[ObjectRef, tuple[ObjectRef, ...]]:
        delegating = {(route, ref.ref.field) for route, refs in self.delegations.refs.items() for ref in refs}
        plain = (
            (backend.object, route)
            for route, backend in self.forwards
            if (route, backend.field) not in delegating
            and backend.object.name
            and self._may_refer(route, backend.object)
        )
        if not delegating:
            return grouped(plain)
        delegated = ((found.child, found.parent.object) for found in self.delegations.taken())
        return grouped(sorted([*plain, *delegated]))

    @cached_property
    def forwards(self) -> list[tuple[ObjectRef, BackendRef]]:
        """Every route with every reference by which it sends requests on, the routes sorted by kind and name."""
        return [(route, ref) for route, refs in self._refs.items() for ref in refs if ref.forwards]

    @cached_property
    def _refs(self) -> Mapping[ObjectRef, tuple[BackendRef, ...]]:
        return {route: tuple(backend_refs(self.index, route, raw)) for route, raw in self._routes()}

    @cached_property
    def _filters_by_object(self) -> Mapping[ObjectRef, tuple[RouteFilter, ...]]:
        return filters_by_object(self.index)

    @cached_property
    def _routes_by_requests(self) -> Mapping[Requests, tuple[ObjectRef, ...]]:
        return grouped((requests, route) for route, _ in self._routes() for requests in self.requests_of(route))

    def _may_refer(self, route: ObjectRef, target: ObjectRef) -> bool:
        allowed = permitted(self.index, route.group_kind, route.namespace, target)
        return allowed or unseen(self.index, target.namespace)

    @cached_property
    def _gateways_by_class(self) -> Mapping[ObjectRef, tuple[ObjectRef, ...]]:
        gateways = (gateway.ref for gateway in self.index.of_kind(GATEWAY))
        return grouped((found, gateway) for gateway in gateways if (found := self.class_of(gateway)))

    @cached_property
    def _by_namespace(self) -> Mapping[str, tuple[ObjectRef, ...]]:
        objects = [resource.ref for kind in HIERARCHY for resource in self.index.of_kind(kind)]
        return grouped((obj.namespace, obj) for obj in (*objects, *self._routes_by_backend) if obj.namespace)

    def _routes(self) -> list[tuple[ObjectRef, Mapping[str, Json]]]:
        return [(route.ref, route.raw) for kind in ROUTES for route in self.index.of_kind(kind)]
