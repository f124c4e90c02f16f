"""Relations between the objects of one snapshot, computed on demand and cached."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from kubectl_policy.lazy import cached_method
from kubectl_policy.model import GroupKind, NodeRef, ObjectRef, Problem
from kubectl_policy.model.index import Index, Referrers
from kubectl_policy.model.kind_roles import (
    FILTERING_ROUTES,
    HIERARCHY,
    HTTP_ROUTE,
    KINDS,
    LISTENER_HOLDERS,
    NAMESPACE,
    PARAMETERS,
    PORT_HOLDERS,
    ROUTES,
    SERVICE,
)
from kubectl_policy.model.kinds import BUILT_IN
from kubectl_policy.model.refs import section_names
from kubectl_policy.model.world import grouped, reachable, with_signs
from kubectl_policy.topology.backends import Backend, backends_of
from kubectl_policy.topology.delegation.delegations import Delegation, Delegations, delegated_binding
from kubectl_policy.topology.gateway.gateways import Gateways, Implementation
from kubectl_policy.topology.gateway.handshake import Binding, Handshakes
from kubectl_policy.topology.references import (
    EXTENSION_REF,
    BackendRef,
    ParametersRef,
    ParentRef,
    RouteFilter,
    backend_refs,
    may_name_other_kinds,
    parameters_ref,
    parent_refs,
    port_names,
    ports_at,
    route_filters,
)
from kubectl_policy.topology.referring import ReferringRoutes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from kubectl_policy.model.unknown import Port
    from kubectl_policy.profiles import Registry
    from kubectl_policy.topology.gateway.listeners import Listener


# Bindings of a route that are looked through sooner than by an index.
_MAX_UNINDEXED_BINDINGS: Final = 8
# Kubernetes' own kinds have no sections but the ports of Services.
_WITHOUT_SECTIONS: Final = frozenset(names.group_kind for names in BUILT_IN)


def _is_valid_alone(gateways: Gateways, listener: Listener) -> bool:
    from kubectl_policy.topology.gateway.conditions import is_valid_alone  # noqa: PLC0415 (few controllers do)

    return is_valid_alone(gateways, listener)


class Relations:
    """The relations of a snapshot.

    What one object says is read when it is asked for; of the reverse of a reference ("which routes name this Gateway"),
    see `Referrers`. What depends on all objects of a kind, as two routes that take the same requests, reads them.
    """

    def __init__(
        self,
        index: Index,
        implementation: Implementation,
        registry: Registry,
        with_same_references: Relations | None = None,
    ) -> None:
        """Remember where to look; in the other state `with_same_references`, objects refer to others as in this one."""
        self.index, self._registry = index, registry
        self.gateways = Gateways(index, implementation, registry, _is_valid_alone)
        self._with_same_references = with_same_references
        self._handshakes = Handshakes(self.gateways)
        self._by_parameters = Referrers(index, sorted(PARAMETERS), self._parameters_of)

    @cached_method
    def sections(self, obj: ObjectRef) -> tuple[str, ...]:
        """Return the sections of an object in their order; see `NodeRef`."""
        if obj.group_kind in ROUTES:
            return self.index.rules_of(obj)
        if obj.group_kind in LISTENER_HOLDERS:
            return tuple(listener.node.section for listener in self.gateways.listeners(obj))
        row = KINDS.get(obj.group_kind)
        if row and row.sections and obj.group_kind not in PORT_HOLDERS:
            return section_names(self.index.defaulted(obj), row.sections, row.section_noun)
        return tuple(dict.fromkeys(self.ports(obj).values()))

    @cached_method
    def ports(self, obj: ObjectRef) -> Mapping[Port, str]:
        """Return the sections of a backend by port number; empty for a kind that is not known to have any."""
        kind = obj.group_kind
        if kind == SERVICE:
            # What an API server fills in is neither a number nor a name of a port.
            resource = self.index.get(obj)
            return port_names(resource.raw) if resource else {}
        if kind in PORT_HOLDERS:
            return port_names(self.index.defaulted(obj))
        fields = self._registry.port_fields(kind) if self.has_ports(kind) else None
        return ports_at(self.index.defaulted(obj), fields or ())

    @cached_method
    def has_ports(self, kind: GroupKind) -> bool:
        """Whether objects of a kind are known to have ports."""
        return kind in PORT_HOLDERS or (kind not in HIERARCHY and self._registry.port_fields(kind) is not None)

    def has_known_sections(self, kind: GroupKind) -> bool:
        """Whether it is known which sections objects of a kind have, or that they have none."""
        return kind in HIERARCHY or kind in _WITHOUT_SECTIONS or self.has_ports(kind)

    @cached_property
    def referring(self) -> ReferringRoutes:
        """The routes that refer to each object; those of another state, where they are the same."""
        same = self._with_same_references
        if same and not (self.delegations.refs or same.delegations.refs):
            return same.referring
        return ReferringRoutes(
            self.index,
            lambda: {*PORT_HOLDERS, *self.kinds_of_other_backends},
            lambda: self.delegations.refs,
            self.gateways.permit,
        )

    def reusing(self, original: Relations, differing: Collection[GroupKind]) -> Relations:
        """Return these relations with the references of another state, if only objects of some kinds differ."""
        # Settings of a controller may let the routes of its Gateways refer without grants.
        is_independent = not self.gateways.implementation.settings
        is_same = is_independent and {*HIERARCHY}.difference(ROUTES).issuperset(differing)
        is_read_alike = self.index.snapshot.is_read_like(original.index.snapshot)
        same = original if is_same and is_read_alike else None
        return Relations(self.index, self.gateways.implementation, self._registry, same)

    @cached_method
    def bindings(self, route: ObjectRef) -> tuple[Binding, ...]:
        """Return the outcome of each parentRef of a route, at each listener that it picks.

        Of a parentRef by which any listener takes the route, or may, listeners for other hosts are left out.
        """
        return tuple([self._settled(binding) for binding in self._handshakes.of(route)])

    def all_bindings(self, route: ObjectRef) -> tuple[Binding, ...]:
        """Return the outcome of each parentRef of a route, at every listener that it picks, for any hosts."""
        return tuple([self._settled(binding) for binding in self._handshakes.of(route, of_other_hosts=True)])

    def follow(self, route: ObjectRef, parent: ParentRef) -> tuple[Binding, ...]:
        """Return the outcome of a parentRef that a route could have, at each listener that it picks."""
        return tuple(map(self._settled, self._handshakes.follow(route, parent)))

    def _settled(self, binding: Binding) -> Binding:
        if binding.parent.group_kind == HTTP_ROUTE:
            return delegated_binding(self.index, self.delegations_to(binding.route), binding)
        return binding.unless_ignored(self.why_ignored(binding.listener or NodeRef(binding.parent)))

    @cached_method
    def why_ignored(self, node: NodeRef) -> Problem | None:
        """Return the problem for which a controller ignores a Gateway or listener; the reason is that of routes."""
        gateway = self.gateways.gateway_of(node.object)
        if gateway is None or not self.gateways.profile_of(gateway).ignores_invalid:
            return None
        from kubectl_policy.topology.gateway.conditions import why_invalid  # noqa: PLC0415 (few controllers do)

        return why_invalid(self.gateways, gateway, node)

    def attached_to(self, node: NodeRef) -> tuple[ObjectRef, ...]:
        """Return the routes that are attached to a listener, or to a parent Service or one of its ports; sorted."""
        return self._attached_at(node.object).get(node, ())

    @cached_method
    def _attached_at(self, parent: ObjectRef) -> Mapping[NodeRef, tuple[ObjectRef, ...]]:
        return grouped(
            (node, route)
            for route in self.routes_naming(parent)
            for node in self.attached_parents(route)
            if node.object == parent
        )

    def has_attached_routes(self, node: NodeRef) -> bool:
        """Whether any route is attached to a node; reads routes until one is."""
        return self.referring.by_parent.is_any_to(node.object, lambda route: node in self.attached_parents(route))

    @cached_method
    def attached_parents(self, route: ObjectRef) -> Mapping[NodeRef, None]:
        """Return the listeners, or parents as a whole, that a route is attached to, in the order of its bindings."""
        attached = [binding for binding in self.bindings(route) if binding.state == "attached"]
        return dict.fromkeys([binding.listener or NodeRef(binding.parent) for binding in attached])

    def bindings_at(self, route: ObjectRef, at: ObjectRef | NodeRef) -> tuple[Binding, ...]:
        """Return the bindings of a route to one parent, or at one listener."""
        bindings = self.bindings(route)
        if len(bindings) <= _MAX_UNINDEXED_BINDINGS:
            return tuple([binding for binding in bindings if at in (binding.parent, binding.listener)])
        return self._bindings_by_node(route).get(at, ())

    @cached_method
    def _bindings_by_node(self, route: ObjectRef) -> Mapping[ObjectRef | NodeRef | None, tuple[Binding, ...]]:
        bindings = self.bindings(route)
        return grouped((at, binding) for binding in bindings for at in (binding.parent, binding.listener))

    @cached_method
    def is_unattached(self, route: ObjectRef) -> bool:
        """Whether a route is known to be attached to nothing: traffic never reaches it, nor anything through it."""
        return not (self._may_be_attached(route) or route in self._routes_below_attached)

    def _may_be_attached(self, route: ObjectRef) -> bool:
        """Whether a route may be attached to something itself, as far as is known: one that is only assumed may be."""
        is_attached = (binding.state != "refused" and not binding.is_delegated for binding in self.bindings(route))
        return self.index.is_assumed(route) or any(is_attached)

    @cached_property
    def _routes_below_attached(self) -> frozenset[ObjectRef]:
        """The routes to which requests come from other routes, directly or through more of them."""
        if not self._may_lead_to_routes:
            return frozenset()
        backends = self._routes_by_backend.items()
        children_of = grouped(
            (parent, route) for route, routes in backends if route.group_kind in ROUTES for parent in routes
        )
        first = [child for route, children in children_of.items() if self._may_be_attached(route) for child in children]
        return frozenset(reachable(first, lambda route: children_of.get(route, ())))

    def delegating_routes(self, route: ObjectRef) -> Iterator[ObjectRef]:
        """Return a route and every route that delegates to it, directly or through others."""
        return reachable(
            [route],
            lambda child: (
                delegation.parent.object for delegation in self.delegations_to(child) if delegation.is_accepted
            ),
        )

    def delegations_to(self, route: ObjectRef) -> tuple[Delegation, ...]:
        """Return the delegations to a route, also those that it is refused; in the order of their parents and rules.

        Of a cluster, all routes are asked for only if others may delegate to this one: those with parents of their own
        are reached by way of these.
        """
        if route.group_kind == HTTP_ROUTE:
            parents = {ref.object.group_kind for ref in parent_refs(self.index, route)}
            if not parents or not parents.isdisjoint(ROUTES):
                self.index.world.refs_of(HTTP_ROUTE)
        return self.delegations.to(route)

    @cached_property
    def delegations(self) -> Delegations:
        """The delegations between the routes that were read; see `delegations_to`."""
        kinds = sorted(self.kinds_of_other_backends)
        possible = [kind for kind in kinds if kind == HTTP_ROUTE or not self.index.read_of_kind(kind)]
        profiles = self._registry.delegations(possible) if possible else ()
        if not profiles:
            return Delegations(self.gateways, {})
        from kubectl_policy.topology.delegation.references import delegating_refs  # noqa: PLC0415 (few routes do)

        forwards = ((route, ref) for route in self._with_other_kinds for ref in self._refs_of(route) if ref.forwards)
        return Delegations(self.gateways, delegating_refs(self.gateways, forwards, profiles))

    @cached_property
    def _with_other_kinds(self) -> tuple[ObjectRef, ...]:
        """The routes that were read and may refer to routes, or to kinds that are no parents or backends by default."""
        kinds = (self.index.read_of_kind(kind) for kind in ROUTES)
        return tuple(route.ref for routes in kinds for route in with_signs(routes, may_name_other_kinds))

    @cached_property
    def _kinds_of_parent_routes(self) -> frozenset[GroupKind]:
        """The kinds of the routes that other routes name as their parents."""
        refs = (ref for route in self._with_other_kinds for ref in parent_refs(self.index, route))
        return frozenset(ref.object.group_kind for ref in refs if ref.object.group_kind in ROUTES)

    @cached_method
    def backends(self, route: ObjectRef) -> tuple[Backend, ...]:
        """Return the backends that a route refers to, also in filters, in their order."""
        return backends_of(self.gateways, self.delegations, route, self._refs_of(route), self.ports)

    def rule_backends(self, rule: NodeRef) -> Mapping[NodeRef, None]:
        """Return the nodes to which a rule forwards requests by permitted references, in their order."""
        return self._backends_by_rule(rule.object).get(rule, {})

    @cached_method
    def _backends_by_rule(self, route: ObjectRef) -> Mapping[NodeRef, Mapping[NodeRef, None]]:
        return self.backends_by_rule(route)

    def backends_by_rule(self, route: ObjectRef) -> Mapping[NodeRef, Mapping[NodeRef, None]]:
        """Return the nodes to which each rule of a route forwards; not cached, for callers that ask once."""
        sections = self.sections(route)
        targets: list[dict[NodeRef, None]] = [{} for _ in sections]
        for backend in self.backends(route):
            nodes = targets[backend.ref.rule]
            for node in backend.nodes:
                nodes[node] = None
        return {NodeRef(route, section): nodes for section, nodes in zip(sections, targets, strict=True)}

    def routes_naming(self, parent: ObjectRef) -> tuple[ObjectRef, ...]:
        """Return the routes with a parentRef to an object, whether or not they attach; sorted."""
        if parent.group_kind in ROUTES and parent.group_kind not in self._kinds_of_parent_routes:
            return ()
        return self.referring.by_parent.to(parent)

    def routes_forwarding_to(self, backend: ObjectRef) -> tuple[ObjectRef, ...]:
        """Return the routes that send requests to an object by a permitted backendRef, or delegate to it; sorted."""
        may_be_backend = backend.group_kind not in ROUTES or backend.group_kind in self.kinds_of_other_backends
        plain = self.referring.forwarding.to(backend) if may_be_backend else ()
        if not self.delegations.refs:
            return plain
        delegating = (delegation.parent.object for delegation in self.delegations_to(backend) if delegation.is_accepted)
        return tuple(sorted({*plain, *delegating}))

    def routes_referring_to(self, backend: ObjectRef) -> tuple[ObjectRef, ...]:
        """Return the routes that forward to an object, then those whose backendRefs to it all have weight 0."""
        return tuple(dict.fromkeys((*self.routes_forwarding_to(backend), *self.referring.weightless.to(backend))))

    def gets_no_requests(self, backend: ObjectRef) -> bool:
        """Whether an object is referred to with weight 0 alone, by routes that would send it requests otherwise."""
        weightless = self.referring.weightless.to(backend)
        return bool(weightless) and not (self.routes_forwarding_to(backend) or self.routes_naming(backend))

    def filters_naming(self, obj: ObjectRef) -> tuple[RouteFilter, ...]:
        """Return the filters of routes that name an object, by kind and name of the route, then in their order."""
        return self.referring.by_filter.to(obj)

    def filters_about(self, obj: ObjectRef) -> tuple[RouteFilter, ...]:
        """Return the filters of a route, or those of backendRefs to an object in routes that were read."""
        if obj.group_kind in FILTERING_ROUTES:
            return self.filters_of(obj)
        return tuple(named for named in self._read_filters if named.backend == obj)

    def holders_of(self, parameters: ObjectRef) -> tuple[ParametersRef, ...]:
        """Return the parametersRefs to an object: of GatewayClasses, then of Gateways, each sorted by name."""
        return self._by_parameters.to(parameters)

    @cached_property
    def kinds_of_parameters(self) -> frozenset[GroupKind]:
        """The kinds of what GatewayClasses and Gateways name as their parameters."""
        holders = (
            holder.ref
            for kind, field in PARAMETERS.items()
            for holder in self.index.read_with_strings(kind, field.rpartition(".")[2])
        )
        return frozenset(named.group_kind for holder in holders for named, _ in self._parameters_of(holder))

    @cached_property
    def kinds_in_filters(self) -> frozenset[GroupKind]:
        """The kinds of what filters of routes name."""
        return frozenset(named.object.group_kind for named in self._read_filters)

    @cached_property
    def _read_filters(self) -> tuple[RouteFilter, ...]:
        """The filters that name an object, of all routes that were read."""
        routes = (route.ref for kind in FILTERING_ROUTES for route in self.index.read_with_strings(kind, EXTENSION_REF))
        return tuple(named for route in routes for named in self.filters_of(route))

    def filters_of(self, route: ObjectRef) -> tuple[RouteFilter, ...]:
        """Return the filters of a route that name an object, in their order; see `route_filters`."""
        return route_filters(self.index, route) if route.group_kind in FILTERING_ROUTES else ()

    @cached_property
    def kinds_of_backends(self) -> frozenset[GroupKind]:
        """The kinds of what routes send requests to. All routes are read for that."""
        return frozenset(ref.object.group_kind for _, ref in self.forwards)

    @cached_property
    def kinds_of_other_backends(self) -> frozenset[GroupKind]:
        """The kinds of backends but Services and ServiceImports; few routes are read for that."""
        refs = (ref for route in self._with_other_kinds for ref in self._refs_of(route) if ref.forwards)
        return frozenset(ref.object.group_kind for ref in refs) - {*PORT_HOLDERS}

    @property
    def routes_lead_to_routes(self) -> bool:
        """Whether a route has a route as a backend without delegating to it, as nothing in Gateway API itself does."""
        if not self._may_lead_to_routes:
            return False
        delegated = {delegation.child for delegation in self.delegations.accepted()}
        return any(backend.group_kind in ROUTES and backend not in delegated for backend in self._routes_by_backend)

    @cached_method
    def objects_in(self, namespace: str) -> tuple[ObjectRef, ...]:
        """Return the objects in a namespace: of the hierarchy's kinds, kind by kind, then other or unread backends."""
        objects = (ref for kind in HIERARCHY for ref in self.index.world.refs_of(kind, namespace))
        home = ObjectRef(NAMESPACE, "", namespace)
        is_delegating = bool(self.delegations.refs)
        backends = self._backends_by_namespace.get(namespace, ()) if is_delegating else self.referring.backends.to(home)
        return tuple(dict.fromkeys((*objects, *backends)))

    @property
    def _may_lead_to_routes(self) -> bool:
        """Whether any reference to a backend may mean routes."""
        return bool(self.delegations.refs) or not self.kinds_of_other_backends.isdisjoint(ROUTES)

    def _parameters_of(self, holder: ObjectRef) -> Iterator[tuple[ObjectRef, ParametersRef]]:
        named = parameters_ref(self.index, holder)
        if named:
            yield named.object, named

    @cached_property
    def _routes_by_backend(self) -> Mapping[ObjectRef, tuple[ObjectRef, ...]]:
        if not self.delegations.refs:
            return self.referring.forwarding.all
        plain = (pair for route in self._routes() for pair in self.referring.backends_of(route))
        delegated = ((pair.child, pair.parent.object) for pair in self.delegations.accepted())
        return grouped(sorted([*plain, *delegated]))

    @property
    def forwards(self) -> Iterator[tuple[ObjectRef, BackendRef]]:
        """Every route with every reference by which it sends requests on, the routes sorted by kind and name."""
        return ((route, ref) for route in self._routes() for ref in self._refs_of(route) if ref.forwards)

    def _refs_of(self, route: ObjectRef) -> tuple[BackendRef, ...]:
        return backend_refs(self.index, route) if route.group_kind in ROUTES else ()

    @cached_property
    def _backends_by_namespace(self) -> Mapping[str, tuple[ObjectRef, ...]]:
        return grouped((backend.namespace, backend) for backend in self._routes_by_backend)

    def _routes(self) -> list[ObjectRef]:
        return [route for kind in ROUTES for route in self.index.world.refs_of(kind)]
