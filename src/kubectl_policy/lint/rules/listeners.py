"""Gateways, ListenerSets and their listeners (GWP4009, GWP4016, GWP4019, GWP6001 to GWP6003, GWP6009 to GWP6011)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.lint.finding import Finding, Fix, some
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model.fields import each_text, items_at
from kubectl_policy.model.kind_roles import GATEWAY, GATEWAY_API, LISTENER_SETS
from kubectl_policy.model.snapshot import are_ages_known
from kubectl_policy.model.world import grouped
from kubectl_policy.topology.gateway.certificates import certificate_refs
from kubectl_policy.topology.gateway.hostnames import comparable, covering_names
from kubectl_policy.topology.gateway.listeners import (
    MAX_LISTENERS,
    ROUTES_BY_PROTOCOL,
    Conflict,
    Listener,
    conflicts_among,
    listener_label,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.model import GroupKind, NodeRef, ObjectRef, Resource
    from kubectl_policy.model.unknown import Port


@lint_rule("GWP6001", "error")
def listeners_not_distinct(world: LintWorld) -> Iterator[Finding]:
    """Two listeners have the same port, protocol and hostname, so requests cannot be assigned to one of them.

    If both belong to one Gateway, neither is accepted, and their requests fail. A ListenerSet loses against its Gateway
    and against older ListenerSets. Use different hostnames, or remove one listener.

    Source: GatewaySpec.Listeners, "Distinct Listeners" (Gateway API, apis/v1/gateway_types.go); GEP-1713;
    ListenerReasonHostnameConflict.
    """
    for owner, listener, conflict in _conflicts(world):
        if conflict and conflict.reason == "HostnameConflict":
            hostname = f"hostname {listener.hostname}" if listener.hostname else "no hostname"
            same = f"it has port {listener.port} and {hostname} like {listener_label(conflict.rival)}"
            field = f"{listener.field}.hostname" if listener.hostname else listener.field
            yield _conflicted(world, owner, conflict, field, f"{same}; {_outcome(world, listener, conflict)}")
        elif conflict is None:
            rival = world.gateways.possible_conflict(listener)
            if rival:
                message = f"whether it can be distinguished from {listener_label(rival)} cannot be known yet"
                yield world.unknown(owner, listener.field, message)


@lint_rule("GWP6002", "error")
def protocol_conflict(world: LintWorld) -> Iterator[Finding]:
    """Listeners on one port have protocols that cannot share it.

    TCP can share its port only with UDP, and HTTP cannot share it with HTTPS or TLS; some implementations allow one TLS
    mode per port. If the listeners belong to one Gateway, none of them is accepted; a ListenerSet loses against earlier
    listeners. Use another port for one of them.

    Source: GatewaySpec.Listeners (Gateway API, apis/v1/gateway_types.go): "all the Listeners that share a port with the
    TCP Listener are not distinct"; ListenerReasonProtocolConflict.
    """
    for owner, listener, conflict in _conflicts(world):
        if conflict and conflict.reason == "ProtocolConflict":
            rival, difference = world.gateways.listener(conflict.rival), ""
            if rival and rival.protocol != listener.protocol:
                difference = f"{rival.protocol} of "
            elif listener.protocol == "TLS":
                difference = "another TLS mode of "
            rival_label = f"{difference}{listener_label(conflict.rival)}"
            clash = f"{listener.protocol} cannot share port {listener.port} with {rival_label}"
            message = f"{clash}; {_outcome(world, listener, conflict)}"
            yield _conflicted(world, owner, conflict, f"{listener.field}.port", message)


def _conflicts(world: LintWorld) -> Iterator[tuple[Resource, Listener, Conflict | None]]:
    """Yield each listener with its conflict; between two listeners of one object, only the later one has it."""
    for owner, listener in world.listeners:
        conflict = world.gateways.conflict(listener)
        names = world.topology.sections(owner.ref) if conflict and conflict.rival.object == owner.ref else ()
        if not conflict or not names or names.index(conflict.rival.section) < names.index(listener.node.section):
            yield owner, listener, conflict


def _outcome(world: LintWorld, listener: Listener, conflict: Conflict) -> str:
    owner, rival = listener.node.object, conflict.rival.object
    if owner == rival:
        return "neither is accepted"
    if rival.group_kind == GATEWAY:
        return "that of the Gateway comes first, and this one is not accepted"
    if not are_ages_known([resource for resource in map(world.index.get, (owner, rival)) if resource]):
        return "only that of the ListenerSet that was created first is accepted"
    return "that ListenerSet comes first, and this one is not accepted"


def _conflicted(world: LintWorld, owner: Resource, conflict: Conflict, field: str, message: str) -> Finding:
    return Finding(
        subject=owner.ref,
        field=field,
        message=message,
        reason=conflict.reason,
        related=(world.related_listener(conflict.rival, "the other listener"),),
    )


@lint_rule("GWP6003", "warning")
def overlapping_tls_hostnames(world: LintWorld) -> Iterator[Finding]:
    """A TLS listener has a hostname that another listener on its port also matches.

    Clients reuse a connection for every hostname that its certificate covers. Requests for this hostname may arrive on
    a connection of the wider listener, with its TLS settings: other client certificates, other versions. Gateways
    should answer with 421, and some disable HTTP/2. Use hostnames or ports that do not overlap, or the same TLS
    settings and certificates that cover no more names than their listener.

    Source: ListenerConditionOverlappingTLSConfig (Gateway API, apis/v1/gateway_types.go); RFC 9113, section 9.1.1.
    """
    known: dict[tuple[ObjectRef, Port | None], Mapping[str, Listener]] = {}
    for owner, listener in world.listeners:
        if not (listener.gateway and listener.hostname and listener.has_tls):
            continue
        if not world.gateways.hostnames_on_port_of(listener) or not world.is_served(listener):
            continue
        key = (listener.gateway, listener.port)
        if key not in known:
            on_port = (neighbour for neighbour in world.gateways.on_port_of(listener) if neighbour.has_tls)
            known[key] = {comparable(peer.hostname): peer for peer in on_port if world.is_served(peer)}
        names = dict.fromkeys((*covering_names(listener.hostname), ""))
        wider = [known[key][name] for name in names if name in known[key]]
        rivals = [rival for rival in wider if rival.hostname != listener.hostname]
        if rivals:
            wide = rivals[0].hostname or "no hostname"
            message = f"{rivals[0]} matches it too ({wide}): clients may reuse connections of that listener for it"
            yield Finding(
                subject=owner.ref,
                field=f"{listener.field}.hostname",
                message=message,
                reason="OverlappingHostnames",
                related=tuple(world.related_listener(rival.node, "the wider listener") for rival in rivals),
            )


@lint_rule("GWP6011", "error")
def too_many_listeners(world: LintWorld) -> Iterator[Finding]:
    """A Gateway or a ListenerSet has more listeners than the API allows.

    An API server rejects the whole object. Move some listeners to ListenerSets, which add listeners to a Gateway.

    Source: GatewaySpec.Listeners and ListenerSetSpec.Listeners (Gateway API, apis/v1): MaxItems=64.
    """
    for owner in world.listener_holders:
        number = len(items_at(owner.raw, "spec.listeners"))
        if number > MAX_LISTENERS:
            yield Finding(
                subject=owner.ref,
                field="spec.listeners",
                message=f"it has {number:,} listeners, and an API server accepts at most {MAX_LISTENERS}",
                fix=Fix(words="move some of them to a ListenerSet"),
            )


@lint_rule("GWP6009", "warning")
def duplicate_cert_across_gateways(world: LintWorld) -> Iterator[Finding]:
    """Two Gateways at one address use the same certificate for different hostnames.

    Clients reuse a connection for every hostname that the certificate covers, if the address is the same. Requests for
    the hostname of one Gateway then arrive at the other Gateway, which has no route for them and answers 404. Use
    separate certificates, different addresses, or one Gateway. Gateways without a known common address are not
    reported.

    Source: istio IST0138; RFC 9113, section 9.1.1.
    """
    reported: set[tuple[NodeRef, ObjectRef]] = set()
    for address, gateways in _shared_addresses(world).items():
        first: dict[tuple[object, object], Listener] = {}
        for gateway in gateways:
            for listener in _listeners(world, gateway):
                if not world.is_served(listener):
                    continue
                for ref in certificate_refs(world.gateways, listener):
                    rival = first.setdefault((listener.port, ref.target), listener)
                    is_reported = (listener.node, ref.target) in reported
                    if rival.gateway == gateway or rival.hostname == listener.hostname or is_reported:
                        continue
                    reported.add((listener.node, ref.target))
                    yield Finding(
                        subject=listener.node.object,
                        field=ref.field,
                        message=f"{rival} has {ref.target} as well, on the same port of {address}: requests for the "
                        "hostname of one may arrive at the other on a reused connection, and get 404",
                        related=(world.related_listener(rival.node, "the other listener"),),
                    )


@lint_rule("GWP6010", "warning")
def gateway_host_port_overlap(world: LintWorld) -> Iterator[Finding]:
    """Two Gateways claim the same port and hostname at one address.

    Only one of them can get a request, and the implementation decides which; one of the Gateways may not get its
    address at all. Use different hostnames, ports or addresses. Gateways without a known common address are not
    reported.

    Source: GatewaySpec.Listeners (Gateway API, apis/v1/gateway_types.go): "these rules also apply" to Gateways that are
    merged; kiali KIA0301.
    """
    reported: set[NodeRef] = set()
    for address, gateways in _shared_addresses(world).items():
        # That one implementation cannot have both modes of TLS on one port is said of its own listeners.
        conflicts = conflicts_among((_listeners(world, gateway) for gateway in gateways), mixed_modes=True)
        for node, conflict in conflicts.items():
            listener, rival = world.gateways.listener(node), world.gateways.listener(conflict.rival)
            if not listener or not rival or listener.gateway == rival.gateway or node in reported:
                continue
            if world.is_served(listener) and world.is_served(rival):
                reported.add(node)
                hostname = f" and hostname {listener.hostname}" if listener.hostname else ""
                both = f"port {listener.port}{'' if conflict.reason == 'ProtocolConflict' else hostname}"
                yield Finding(
                    subject=node.object,
                    field=listener.field,
                    message=f"{rival} claims {both} of {address} as well",
                    reason=conflict.reason,
                    related=(world.related_listener(rival.node, "the other listener"),),
                )


def _shared_addresses(world: LintWorld) -> Mapping[str, Sequence[ObjectRef]]:
    """Return the Gateways of each address that several of them request or have, the oldest first."""
    having = grouped(
        (address.lower(), gateway.ref)
        for gateway in sorted(world.index.of_kind(GATEWAY), key=lambda gateway: gateway.seniority)
        for part in ("spec", "status")
        for _, address in each_text(gateway.raw, f"{part}.addresses.value")
        if address
    )
    return {address: gateways for address, gateways in having.items() if len(gateways) > 1}


def _listeners(world: LintWorld, gateway: ObjectRef) -> Sequence[Listener]:
    owners = (gateway, *world.gateways.admitted(gateway))
    return [listener for owner in owners for listener in world.gateways.listeners(owner)]


@lint_rule("GWP4009", "error")
def listenerset_not_allowed(world: LintWorld) -> Iterator[Finding]:
    """A ListenerSet names a Gateway that does not allow it.

    The listeners serve nothing, and routes that name the ListenerSet are not attached. Without `allowedListeners`, a
    Gateway allows no ListenerSets; the owner of the Gateway has to allow their namespace.

    Source: GatewaySpec.AllowedListeners, "The default value is to allow no ListenerSets" (Gateway API,
    apis/v1/gateway_types.go); ListenerSetReasonNotAllowed.
    """
    for listener_set in world.of_kind(*LISTENER_SETS):
        gateway = world.gateways.gateway_of(listener_set.ref)
        if gateway is None or world.index.get(gateway) is None:
            continue
        admitted = world.gateways.admits(gateway, listener_set.ref)
        if admitted is None:
            message = f"whether {gateway} takes ListenerSets of namespace {listener_set.ref.namespace} is unknown"
            yield world.unknown(listener_set, "spec.parentRef", message)
        elif not admitted:
            yield Finding(
                subject=listener_set.ref,
                field="spec.parentRef",
                message=f"{gateway} does not allow it (spec.allowedListeners), so its listeners serve nothing",
                reason="NotAllowed",
                related=(world.related(gateway, "the parent", "spec.allowedListeners"),),
                fix=Fix(words=f"let namespace {listener_set.ref.namespace} in, by spec.allowedListeners of {gateway}"),
            )


@lint_rule("GWP4016", "error", "closed world")
def gatewayclass_missing(world: LintWorld) -> Iterator[Finding]:
    """A Gateway names a GatewayClass that does not exist.

    No controller acts on the Gateway, so it serves nothing, and its status does not say so. Many controllers create
    their GatewayClass themselves: then it is in the cluster, but in no manifest.

    Source: GatewaySpec.GatewayClassName (Gateway API, apis/v1/gateway_types.go).
    """
    for gateway in world.of_kind(GATEWAY):
        gateway_class = world.gateways.class_of(gateway.ref)
        if gateway_class:
            yield from world.absent(gateway, gateway_class, "spec.gatewayClassName", reason="Pending")


@lint_rule("GWP4019", "error")
def listener_kind_impossible(world: LintWorld) -> Iterator[Finding]:
    """A listener allows a kind of route that its protocol cannot serve.

    Routes of that kind are not attached, and the listener reports that its references do not resolve. Other kinds that
    it allows are not affected. Kinds and protocols of an implementation are not checked.

    Source: AllowedRoutes.Kinds and ListenerReasonInvalidRouteKinds (Gateway API, apis/v1/gateway_types.go).
    """
    for owner, listener in world.listeners:
        for position, kind in enumerate(impossible_kinds(world, listener)):
            if kind:
                served = [served_kind.kind for served_kind in world.gateways.kinds_by_protocol(listener)]
                known = f"; it serves {some(served)}" if served else ", nor any other kind here"
                yield Finding(
                    subject=owner.ref,
                    field=f"{listener.field}.allowedRoutes.kinds[{position}]",
                    message=f"protocol {listener.protocol} cannot serve {kind.kind}{known}",
                    reason="InvalidRouteKinds",
                )


def impossible_kinds(world: LintWorld, listener: Listener) -> list[GroupKind | None]:
    """Return the allowed kinds of a listener that it cannot serve, and None for each other allowed kind."""
    named = listener.named_kinds
    if not named or listener.protocol not in ROUTES_BY_PROTOCOL or listener.may_serve_more:
        return []
    possible = world.gateways.kinds_by_protocol(listener)
    return [kind if kind.group == GATEWAY_API and kind not in possible else None for kind in named]
