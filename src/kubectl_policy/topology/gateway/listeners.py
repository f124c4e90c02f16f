"""Listeners of Gateways and ListenerSets: what they accept, by protocol and by their own choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
from kubectl_policy.model.fields import integer_at, items_at, mapping_at, mappings_at, strings_at, text_at
from kubectl_policy.model.kinds import GATEWAY_API
from kubectl_policy.topology.references import (
    GATEWAY,
    GATEWAY_CLASS,
    GRPC_ROUTE,
    HTTP_ROUTE,
    TCP_ROUTE,
    TLS_ROUTE,
    UDP_ROUTE,
    gateway_of,
)

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles.implementation import GatewayProfile
    from kubectl_policy.topology.implementation import Implementation

# GEP-957 and the comments of ProtocolType, with "Route type" as in the table of the guide on TLS.
ROUTES_BY_PROTOCOL: Final[Mapping[str, tuple[GroupKind, ...]]] = {
    "HTTP": (HTTP_ROUTE, GRPC_ROUTE),
    "HTTPS": (HTTP_ROUTE, GRPC_ROUTE),
    "TLS": (TLS_ROUTE,),
    "TCP": (TCP_ROUTE,),
    "UDP": (UDP_ROUTE,),
}
TERMINATE_MODE: Final = "TLSRouteModeTerminate"
MIXED_MODES: Final = "TLSRouteModeMixed"
ISOLATION: Final = "GatewayHTTPListenerIsolation"
# The core feature beside which a GatewayClass lists an extended one.
_CORES: Final[Mapping[str, str]] = {ISOLATION: GATEWAY.kind}


@dataclass(frozen=True, slots=True, eq=False)
class Listener:
    """One listener; `gateway` is the Gateway that it is served on, None where a ListenerSet names none.

    `field` is where it stands in its object (`spec.listeners[0]`). `protocol` is in upper case, as the API's own
    validation ignores case; `terminates` tells the TLS modes apart.
    """

    node: NodeRef
    field: str
    gateway: ObjectRef | None
    protocol: str
    port: int | None
    hostname: str
    terminates: bool
    raw: Mapping[str, Json]

    @property
    def named_kinds(self) -> tuple[GroupKind, ...]:
        """The kinds in `allowedRoutes.kinds`; the group of a kind defaults to Gateway API's (RouteGroupKind)."""
        kinds = mappings_at(self.raw, "allowedRoutes.kinds")
        return tuple(GroupKind(text_at(kind, "group", GATEWAY_API), text_at(kind, "kind")) for kind in kinds)


def listeners_of(index: Index, obj: ObjectRef) -> tuple[Listener, ...]:
    """The listeners of a Gateway or ListenerSet in their order, `listener[0]` where one has no name.

    No API server lets in a listener without a name, or a name twice; of those with one name the first counts.
    """
    raw = index.raw(obj)
    gateway = obj if obj.group_kind == GATEWAY else gateway_of(index, obj, raw)
    found: dict[str, Listener] = {}
    for position, entry in enumerate(items_at(raw, "spec.listeners")):
        name = text_at(entry, "name") or f"listener[{position}]"
        if isinstance(entry, Mapping) and name not in found:
            found[name] = Listener(
                NodeRef(obj, name),
                f"spec.listeners[{position}]",
                gateway,
                text_at(entry, "protocol").upper(),
                integer_at(entry, "port"),
                text_at(entry, "hostname").lower(),
                text_at(entry, "tls.mode", "Terminate") != "Passthrough",
                entry,
            )
    return tuple(found.values())


def protocol_kinds(index: Index, implementation: Implementation, listener: Listener) -> tuple[GroupKind, ...]:
    """The route kinds that a listener's protocol can serve: none if the protocol, or its TLS mode, is not supported."""
    if not supports_mode(index, implementation, listener):
        return ()
    kinds = ROUTES_BY_PROTOCOL.get(listener.protocol, ())
    if listener.protocol == "TLS" and listener.terminates:
        kinds = (*kinds, TCP_ROUTE)
    return tuple(kind for kind in kinds if kind.kind not in implementation.unsupported_features)


def supports_mode(index: Index, implementation: Implementation, listener: Listener) -> bool:
    """Whether the implementation has the TLS mode of a listener (features TLSRoute and TLSRouteModeTerminate)."""
    if listener.protocol != "TLS" or not listener.terminates:
        return True
    return supports(index, implementation, listener.gateway, TERMINATE_MODE)


def supports(index: Index, implementation: Implementation, gateway: ObjectRef | None, feature: str) -> bool:
    """Whether the implementation of a Gateway has a feature of TLSRoute, or Listener Isolation.

    It lacks one that is unsupported as far as is known of the implementation, or by the controller's profile, and one
    that its GatewayClass does not list while it lists TLSRoute itself, or Gateway (`status.supportedFeatures`: objects
    with a name, or plain strings before Gateway API v1.1).
    """
    if feature in implementation.unsupported_features:
        return False
    class_raw = _class_of(index, gateway)
    if feature in gateway_profile(index, implementation, gateway).unsupported_features:
        return False
    status = mapping_at(class_raw, "status")
    listed = {text_at(item, "name") for item in items_at(status, "supportedFeatures")}
    listed.update(strings_at(status, "supportedFeatures"))
    return _CORES.get(feature, TLS_ROUTE.kind) not in listed or feature in listed


def gateway_profile(index: Index, implementation: Implementation, gateway: ObjectRef | None) -> GatewayProfile:
    """How the controller of a Gateway treats it; as Gateway API says if nobody has said otherwise, or it is unknown."""
    return implementation.gateways_of(text_at(_class_of(index, gateway), "spec.controllerName"))


def _class_of(index: Index, gateway: ObjectRef | None) -> Mapping[str, Json]:
    class_name = text_at(index.raw(gateway), "spec.gatewayClassName") if gateway else ""
    return index.raw(ObjectRef(GATEWAY_CLASS, "", class_name))


def supported_kinds_of(index: Index, implementation: Implementation, listener: Listener) -> tuple[GroupKind, ...]:
    """The route kinds that a listener serves: those that it names and its protocol can serve, or all of the latter.

    "If kinds are specified in Spec that are not supported, they MUST NOT appear in this list"
    (ListenerStatus.SupportedKinds).
    """
    possible, named = protocol_kinds(index, implementation, listener), listener.named_kinds
    return tuple(dict.fromkeys(kind for kind in named if kind in possible)) if named else possible
