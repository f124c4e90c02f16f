"""Listeners, and the hostnames of routes, as several rules see them: whether they are served, and where they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.fields import items_at
from kubectl_policy.topology.gateway.hostnames import comparable

if TYPE_CHECKING:
    from kubectl_policy.lint.finding import Related
    from kubectl_policy.lint.linted import Linted
    from kubectl_policy.model import NodeRef, Resource
    from kubectl_policy.topology.gateway.listeners import Listener


def is_served(world: Linted, listener: Listener) -> bool:
    """Whether a listener is on a Gateway that was read, as far as is known, and in conflict with no other one there."""
    gateway, owner = listener.gateway, listener.node.object
    if gateway is None or world.index.get(gateway) is None:
        return False
    return (owner == gateway or owner in world.gateways.admitted(gateway)) and not world.gateways.conflict(listener)


def has_tls(listener: Listener) -> bool:
    """Whether a listener terminates TLS."""
    return listener.protocol in {"HTTPS", "TLS"} and listener.terminates


def related_listener(world: Linted, node: NodeRef, words: str) -> Related:
    """A listener that a finding is about as well."""
    listener = world.gateways.listener(node)
    return world.related(node.object, words, listener.field if listener else "")


def place_of_hostname(route: Resource, hostname: str) -> str:
    """Where a route names a hostname; empty if it only has it in common with a listener."""
    for position, written in enumerate(items_at(route.raw, "spec.hostnames")):
        if isinstance(written, str) and comparable(written) == hostname:
            return f"spec.hostnames[{position}]"
    return ""
