"""GWP6009 and GWP6010: Gateways that are known to share an address."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from kubectl_policy.lint.finding import Finding
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model.fields import mappings_at, text_at
from kubectl_policy.model.world import grouped
from kubectl_policy.topology.gateway.certificates import certificate_refs
from kubectl_policy.topology.gateway.conflicts import conflicts_among
from kubectl_policy.topology.references import GATEWAY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.lint.linted import Linted
    from kubectl_policy.model import NodeRef, ObjectRef, Resource
    from kubectl_policy.topology.gateway.listeners import Listener


@lint_rule("GWP6009", "warning")
def duplicate_cert_across_gateways(world: Linted) -> Iterator[Finding]:
    """Two Gateways at one address have the same certificate for different hostnames.

    Clients reuse a connection for every hostname that the certificate is good for, if the address is the same. A
    request for the hostname of one Gateway then comes in at the other one, which has no route for it and answers 404.
    Use certificates of their own, different addresses, or one Gateway. Gateways of which no common address is known
    are not reported.

    Source: istio IST0138; RFC 9113, section 9.1.1.
    """
    told: set[tuple[NodeRef, ObjectRef]] = set()
    for address, gateways in _shared_addresses(world).items():
        first: dict[tuple[object, object], Listener] = {}
        for gateway in gateways:
            for listener in _listeners(world, gateway):
                if not listener.has_tls or not world.is_served(listener):
                    continue
                for ref in certificate_refs(world.gateways, listener):
                    other = first.setdefault((listener.port, ref.target), listener)
                    is_told = (listener.node, ref.target) in told
                    if other.gateway == gateway or other.hostname == listener.hostname or is_told:
                        continue
                    told.add((listener.node, ref.target))
                    yield Finding(
                        subject=listener.node.object,
                        field=ref.field,
                        message=f"{other} has {ref.target} as well, on the same port of {address}: requests for the "
                        "hostname of one may come in at the other, on a connection that is reused, and get 404",
                        related=(world.related_listener(other.node, "the other listener"),),
                    )


@lint_rule("GWP6010", "warning")
def gateway_host_port_overlap(world: Linted) -> Iterator[Finding]:
    """Two Gateways claim the same port and hostname at one address.

    A request can be given to one of them alone: which one that is, is up to the implementation, and one of the Gateways
    may not get its address at all. Give them different hostnames, ports or addresses. Gateways of which no common
    address is known are not reported.

    Source: GatewaySpec.Listeners (Gateway API, apis/v1/gateway_types.go): "these rules also apply" to Gateways that are
    merged; kiali KIA0301.
    """
    told: set[NodeRef] = set()
    for address, gateways in _shared_addresses(world).items():
        # That one implementation cannot have both modes of TLS on one port is said of its own listeners.
        conflicts = conflicts_among((_listeners(world, each) for each in gateways), mixed_modes=True)
        for node, conflict in conflicts.items():
            listener, other = world.gateways.listener(node), world.gateways.listener(conflict.other)
            if not listener or not other or listener.gateway == other.gateway or node in told:
                continue
            if world.is_served(listener) and world.is_served(other):
                told.add(node)
                hostname = f" and hostname {listener.hostname}" if listener.hostname else ""
                both = (
                    f"port {listener.port}"
                    if conflict.reason == "ProtocolConflict"
                    else f"port {listener.port}{hostname}"
                )
                yield Finding(
                    subject=node.object,
                    field=listener.field,
                    message=f"{other} claims {both} of {address} as well",
                    reason=conflict.reason,
                    related=(world.related_listener(other.node, "the other listener"),),
                )


def _shared_addresses(world: Linted) -> Mapping[str, Sequence[ObjectRef]]:
    """The Gateways of each address of which more than one is known to have it; the oldest first."""
    gateways = sorted(world.index.of_kind(GATEWAY), key=lambda gateway: gateway.seniority)
    found = grouped((address, gateway.ref) for gateway in gateways for address in _addresses(gateway))
    return {address: those for address, those in found.items() if len(those) > 1}


def _addresses(gateway: Resource) -> Iterator[str]:
    """The addresses that a Gateway asks for, and those that it got."""
    for address in chain(*(mappings_at(gateway.raw, f"{part}.addresses") for part in ("spec", "status"))):
        value = text_at(address, "value")
        if value:
            yield value.lower()


def _listeners(world: Linted, gateway: ObjectRef) -> Sequence[Listener]:
    """The listeners of a Gateway, and of the ListenerSets that it admits."""
    owners = (gateway, *world.gateways.admitted(gateway))
    return [listener for owner in owners for listener in world.gateways.listeners(owner)]
