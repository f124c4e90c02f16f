"""Gateways of a snapshot: their classes and controllers, the ListenerSets that they admit, their listeners."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from kubectl_policy.lazy import cached_method
from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Problem
from kubectl_policy.model.fields import items_at, mapping_at, strings_at, text_at, value_at
from kubectl_policy.model.index import Index, Referrers
from kubectl_policy.model.kind_roles import (
    GATEWAY,
    GATEWAY_CLASS,
    LISTENER_HOLDERS,
    LISTENER_SETS,
    ROUTE_PARENTS,
    ROUTES,
    TCP_ROUTE,
    TLS_ROUTE,
)
from kubectl_policy.model.unknown import Port, is_unfilled
from kubectl_policy.model.world import grouped
from kubectl_policy.topology.gateway.hostnames import comparable, covering_names, covers
from kubectl_policy.topology.gateway.listeners import (
    ROUTES_BY_PROTOCOL,
    Conflict,
    Listener,
    admits_namespace,
    conflicts_among,
    has_unknowns,
    listeners_in,
    possible_conflict,
)
from kubectl_policy.topology.references import NOT_PERMITTED, parameters_ref, parent_gateway, parent_refs

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from kubectl_policy.profiles import Registry
    from kubectl_policy.profiles.controllers import GatewayProfile

TERMINATE_MODE: Final = "TLSRouteModeTerminate"
MIXED_MODES: Final = "TLSRouteModeMixed"
ISOLATION: Final = "GatewayHTTPListenerIsolation"
# The core feature beside which a GatewayClass lists an extended one.
_CORES: Final[Mapping[str, str]] = {ISOLATION: GATEWAY.kind}


class Implementation(Struct, frozen=True):
    """Unsupported features and controller settings, which users state since no manifest does.

    `unsupported_features` names features as `GatewayClass.status.supportedFeatures` does (`TLSRouteModeMixed`); what is
    not named is taken to be supported. `settings` are those of controllers by the names that profiles give them.
    """

    unsupported_features: frozenset[str] = frozenset()
    settings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


class Gateways:
    """The Gateways and ListenerSets of a snapshot. What is looked up is looked up once."""

    def __init__(
        self,
        index: Index,
        implementation: Implementation,
        registry: Registry,
        is_valid_alone: Callable[[Gateways, Listener], bool],
    ) -> None:
        """Remember where to look, and how to tell whether a listener is valid whatever others share its port."""
        self.index = index
        self._is_valid_alone = is_valid_alone
        self.implementation = implementation
        self._registry = registry
        self._by_class = Referrers(index, [GATEWAY], self._parent_pairs)
        self._sets_by_gateway = Referrers(index, LISTENER_SETS, self._parent_pairs)

    def gateway_of(self, obj: ObjectRef) -> ObjectRef | None:
        """Return a Gateway itself, or the Gateway that a ListenerSet names, which may not exist; else None."""
        if obj.group_kind in LISTENER_SETS:
            return parent_gateway(self.index, obj, self.index.defaulted(obj))
        return obj if obj.group_kind == GATEWAY else None

    def class_of(self, gateway: ObjectRef) -> ObjectRef | None:
        """Return the GatewayClass that a Gateway names, whether or not it exists."""
        name = text_at(self.index.defaulted(gateway), "spec.gatewayClassName")
        return ObjectRef(GATEWAY_CLASS, "", name) if name else None

    def controller_of(self, obj: ObjectRef) -> str | None:
        """Return the controller of a GatewayClass, a Gateway or a ListenerSet; "" if it has none, None if unknown.

        GatewayClass.spec.controllerName: "the name of the controller that is managing Gateways of this class".
        """
        if not self.index.world.has(obj):
            return "" if self.index.presence(obj) == "missing" else None
        if obj.group_kind == GATEWAY_CLASS:
            controller = text_at(self.index.defaulted(obj), "spec.controllerName")
            return None if is_unfilled(controller) else controller
        parent = self.class_of(obj) if obj.group_kind == GATEWAY else self.gateway_of(obj)
        return self.controller_of(parent) if parent else ""

    def profile_of(self, gateway: ObjectRef | None) -> GatewayProfile:
        """Return the profile of a Gateway by its controller; the defaults of Gateway API if there is none."""
        return self._registry.gateway_profile(text_at(self._class(gateway), "spec.controllerName"))

    def profiles_of(self, owner: ObjectRef) -> tuple[GatewayProfile, ...]:
        """Return the profile of a Gateway or ListenerSet; for other objects, those of all known controllers."""
        if owner.group_kind in LISTENER_HOLDERS:
            return (self.profile_of(self.gateway_of(owner)),)
        return self._known_profiles()

    @cached_method
    def _known_profiles(self) -> tuple[GatewayProfile, ...]:
        classes = self.index.of_kind(GATEWAY_CLASS)
        controllers = sorted({text_at(resource.raw, "spec.controllerName") for resource in classes})
        return tuple(map(self._registry.gateway_profile, controllers))

    def permit(self, owner: ObjectRef, target: ObjectRef) -> bool | None:
        """Whether an object may refer to another one: by a ReferenceGrant, or if its controllers ask for none.

        None if that is not known. A route refers by way of all of its Gateways.
        """
        if owner.namespace != target.namespace and self._lacks_grants(owner):
            return True
        return self.index.grants.permit(owner.group_kind, owner.namespace, target)

    def _lacks_grants(self, owner: ObjectRef) -> bool:
        """Whether all controllers of a Gateway, a ListenerSet or a route work without ReferenceGrants."""
        if owner.group_kind in ROUTES:
            gateways = [self.gateway_of(parent.object) for parent in parent_refs(self.index, owner)]
        else:
            gateways = [self.gateway_of(owner)]
        return bool(gateways) and not any(self.profile_of(gateway).grant_required for gateway in gateways)

    def reference_problem(self, owner: ObjectRef, target: ObjectRef, absent: str) -> Problem | None:
        """Return the problem of a reference without a grant or a target (reason `absent`); None if it is fine."""
        index, permitted = self.index, self.permit(owner, target)
        if permitted is None:
            message = f"whether {target} may be referred to is unknown: {index.grants.unknown_reason}"
            return Problem(message=message, reason=NOT_PERMITTED, certain=False)
        if not permitted:
            message = f"no ReferenceGrant in namespace {target.namespace} lets {owner} refer to {target}"
            return Problem(message=message, reason=NOT_PERMITTED)
        presence = index.presence(target)
        if presence == "present":
            return None
        if presence == "missing":
            return Problem(message=f"{target} does not exist", reason=absent)
        return Problem(message=index.absence.message(target), reason=absent, certain=False)

    def is_route_parent(self, kind: GroupKind) -> bool:
        """Whether it is known how routes attach to the objects of a kind that they name as their parents."""
        return kind in ROUTE_PARENTS or self._registry.is_route_parent(kind)

    def supports(self, gateway: ObjectRef | None, feature: str) -> bool:
        """Whether the implementation of a Gateway has a feature of TLSRoute, or Listener Isolation.

        It lacks one that is unsupported as far as is known of the implementation, or by the controller's profile, and
        one that its GatewayClass does not list while it lists TLSRoute itself, or Gateway (`status.supportedFeatures`:
        objects with a name, or plain strings before Gateway API v1.1).
        """
        known = (self.implementation, self.profile_of(gateway))
        if any(feature in profile.unsupported_features for profile in known):
            return False
        status = mapping_at(self._class(gateway), "status")
        listed = {text_at(item, "name") for item in items_at(status, "supportedFeatures")}
        listed.update(strings_at(status, "supportedFeatures"))
        return _CORES.get(feature, TLS_ROUTE.kind) not in listed or feature in listed

    def _class(self, gateway: ObjectRef | None) -> Mapping[str, Json]:
        gateway_class = self.class_of(gateway) if gateway else None
        return self.index.defaulted(gateway_class) if gateway_class else {}

    def of_class(self, gateway_class: ObjectRef) -> tuple[ObjectRef, ...]:
        """Return the Gateways of a GatewayClass; sorted."""
        return self._by_class.to(gateway_class)

    @cached_method
    def listener_sets(self, gateway: ObjectRef) -> tuple[ObjectRef, ...]:
        """Return the ListenerSets that name a Gateway, admitted or not, in their order of precedence.

        "ListenerSet ordered by creation time (oldest first)", then "alphabetically by {namespace}/{name}" (GEP-1713);
        those of unknown age come last.
        """
        listener_sets = filter(None, map(self.index.get, self._sets_by_gateway.to(gateway)))
        in_order = sorted(listener_sets, key=lambda listener_set: (listener_set.seniority, listener_set.ref.kind))
        return tuple(listener_set.ref for listener_set in in_order)

    def _parent_pairs(self, obj: ObjectRef) -> Iterator[tuple[ObjectRef, ObjectRef]]:
        """Yield the class of a Gateway, or the Gateway of a ListenerSet, with the object itself."""
        parent = self.class_of(obj) if obj.group_kind == GATEWAY else self.gateway_of(obj)
        if parent:
            yield parent, obj

    def admits(self, gateway: ObjectRef, listener_set: ObjectRef) -> bool | None:
        """Whether a Gateway lets a ListenerSet attach (`spec.allowedListeners`, default None); None where unknown."""
        if self.index.is_content_unknown(gateway):
            return None
        raw = self.index.defaulted(gateway)
        if value_at(raw, "spec.allowedListeners.namespaces") is None:
            return False
        namespaces = mapping_at(raw, "spec.allowedListeners.namespaces")
        return admits_namespace(self.index, namespaces, "None", gateway.namespace, listener_set.namespace)

    @cached_method
    def admitted(self, gateway: ObjectRef) -> tuple[ObjectRef, ...]:
        """Return the ListenerSets that a Gateway is known to let attach, in their order of precedence."""
        return tuple(candidate for candidate in self.listener_sets(gateway) if self.admits(gateway, candidate))

    def listeners(self, obj: ObjectRef) -> tuple[Listener, ...]:
        """Return the listeners of a Gateway or ListenerSet in their order."""
        return tuple(self._by_node(obj).values())

    def listener(self, node: NodeRef) -> Listener | None:
        """Return one listener; None if the node is none, or was not read."""
        return self._by_node(node.object).get(node) if node.section else None

    def on_port_of(self, listener: Listener) -> Sequence[Listener]:
        """Return the listeners that share the port of a listener, on its Gateway or else in its own object."""
        return self._by_port(listener.gateway or listener.node.object).get(listener.port, ())

    @cached_method
    def _by_port(self, whole: ObjectRef) -> Mapping[Port | None, Sequence[Listener]]:
        owners = (whole, *self.admitted(whole)) if whole.group_kind == GATEWAY else (whole,)
        by_port: dict[Port | None, list[Listener]] = {}
        for listener in (listener for owner in owners for listener in self.listeners(owner)):
            by_port.setdefault(listener.port, []).append(listener)
        return by_port

    def sharing_port(self, listener: Listener) -> Iterator[Listener]:
        """Yield the listeners that share the port of a listener, also those of Gateways merged with its own."""
        yield from self.on_port_of(listener)
        gateway_class = self.class_of(listener.gateway) if listener.gateway else None
        for gateway in self.of_class(gateway_class) if gateway_class and self.is_merged(gateway_class) else ():
            if gateway != listener.gateway:
                yield from self._by_port(gateway).get(listener.port, ())

    @cached_method
    def is_merged(self, gateway_class: ObjectRef) -> bool | None:
        """Whether all Gateways of a class are merged into one, by the parameters of the class; None if unknown."""
        controller = text_at(self.index.defaulted(gateway_class), "spec.controllerName")
        merging = self._registry.gateway_profile(controller).merged_by
        named = parameters_ref(self.index, gateway_class) if merging else None
        if merging is None or named is None or named.object.group_kind != merging.group_kind:
            return False
        if self.index.is_content_unknown(named.object):
            return None
        return value_at(self.index.defaulted(named.object), f"spec.{merging.field}") is True

    def are_merged(self, controllers: Collection[str]) -> bool | None:
        """Whether the Gateways of any class of some controllers are merged; None if unknown."""
        ours = [
            found.ref
            for found in self.index.of_kind(GATEWAY_CLASS)
            if text_at(found.raw, "spec.controllerName") in controllers
        ]
        merged = {self.is_merged(gateway_class) for gateway_class in ours}
        return True if True in merged else None if None in merged or not ours else False

    def hostnames_on_port_of(self, listener: Listener) -> Mapping[str, tuple[str, ...]]:
        """Return the hostnames on the port of a listener, by how they are compared; none if all are its own."""
        return self._hostnames_by_port(listener.gateway or listener.node.object).get(listener.port, {})

    @cached_method
    def _hostnames_by_port(self, whole: ObjectRef) -> Mapping[Port | None, Mapping[str, tuple[str, ...]]]:
        names = {port: {listener.hostname for listener in on_port} for port, on_port in self._by_port(whole).items()}
        return {
            port: grouped((comparable(name), name) for name in several)
            for port, several in names.items()
            if len(several) > 1
        }

    def has_closer_listener(self, listener: Listener, name: str) -> bool:
        """Whether requests for a hostname go to another listener on the port, which is more specific about it."""
        on_port = self.hostnames_on_port_of(listener)
        if not on_port:
            return False
        if self.supports(listener.gateway, ISOLATION):
            closer = [
                hostname
                for wider in covering_names(name)
                for hostname in on_port.get(wider, ())
                if covers(hostname, name)
            ]
        else:
            closer = [hostname for hostname in on_port.get(name.lower(), ()) if hostname == name.lower()]
        return any(hostname != listener.hostname and covers(listener.hostname, hostname) for hostname in closer)

    @cached_method
    def _by_node(self, obj: ObjectRef) -> Mapping[NodeRef, Listener]:
        gateway = self.gateway_of(obj)
        known = listeners_in(obj, self.index.defaulted(obj), gateway) if obj.group_kind in LISTENER_HOLDERS else ()
        return {listener.node: listener for listener in known}

    @cached_method
    def conflicts(self, gateway: ObjectRef) -> Mapping[NodeRef, Conflict]:
        """Return the conflicted listeners on a Gateway, its own and those of the ListenerSets that it admits."""
        owners: list[Sequence[Listener]] = [self.listeners(owner) for owner in (gateway, *self.admitted(gateway))]
        mixed_modes, profile = self.supports(gateway, MIXED_MODES), self.profile_of(gateway)
        first_wins = profile.shared_ports == "first"
        conflicts = conflicts_among(owners, mixed_modes=mixed_modes, first_wins=first_wins)
        if not conflicts or profile.conflicting == "all":
            return conflicts
        # Only where there is a conflict otherwise, since certificates are looked up for this.
        ports = {listener.port for listeners in owners for listener in listeners if listener.node in conflicts}
        valid = [
            [listener for listener in listeners if listener.port in ports and self._is_valid_alone(self, listener)]
            for listeners in owners
        ]
        return conflicts_among(valid, mixed_modes=mixed_modes, first_wins=first_wins)

    def conflict(self, listener: Listener) -> Conflict | None:
        """Return the conflict of a listener; None if it has none."""
        return self.conflicts(listener.gateway).get(listener.node) if listener.gateway else None

    def possible_conflict(self, listener: Listener) -> NodeRef | None:
        """Return the listener with which another one may be in conflict once it is known what is to be filled in."""
        return (
            possible_conflict(listener, self._listeners_with_placeholders(listener.gateway))
            if listener.gateway
            else None
        )

    @cached_method
    def _listeners_with_placeholders(self, gateway: ObjectRef) -> Sequence[Listener]:
        """Return the listeners on a Gateway, if something is to be filled in of any of them."""
        owners = (gateway, *self.admitted(gateway))
        listeners = [listener for owner in owners for listener in self.listeners(owner)]
        return listeners if any(map(has_unknowns, listeners)) else ()

    def supports_mode(self, listener: Listener) -> bool:
        """Whether the implementation has the TLS mode of a listener (features TLSRoute and TLSRouteModeTerminate)."""
        if listener.protocol != "TLS" or not listener.terminates:
            return True
        return self.supports(listener.gateway, TERMINATE_MODE)

    def kinds_by_protocol(self, listener: Listener) -> tuple[GroupKind, ...]:
        """Return the route kinds that a listener's protocol can serve: none if it or its TLS mode is unsupported."""
        if not self.supports_mode(listener):
            return ()
        kinds = ROUTES_BY_PROTOCOL.get(listener.protocol, ())
        if listener.protocol == "TLS" and listener.terminates:
            kinds = (*kinds, TCP_ROUTE)
        return tuple(kind for kind in kinds if kind.kind not in self.implementation.unsupported_features)

    def kinds_served(self, listener: Listener) -> tuple[GroupKind, ...]:
        """Return the route kinds that a listener serves: those that it names and its protocol can serve, or all it can.

        "If kinds are specified in Spec that are not supported, they MUST NOT appear in this list"
        (ListenerStatus.SupportedKinds).
        """
        possible, named = self.kinds_by_protocol(listener), listener.named_kinds
        return tuple(dict.fromkeys(kind for kind in named if kind in possible)) if named else possible
