"""The routes whose requests come through some Gateways or listeners: whom a policy reaches that counts there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from kubectl_policy.questions.differences.counts import owner
from kubectl_policy.questions.differences.serving import Serving
from kubectl_policy.topology.references import GATEWAY, GATEWAY_CLASS, ROUTES, WITH_LISTENERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import NodeRef, ObjectRef
    from kubectl_policy.topology import Path

_ABOVE_ROUTES = frozenset({GATEWAY_CLASS, *WITH_LISTENERS})


class RouteBehind(Struct, frozen=True, kw_only=True):
    """A route whose requests come through some listeners."""

    route: Annotated[ObjectRef, Meta()]
    hostnames: Annotated[tuple[str, ...], Meta(description="Those at these listeners; `*` for every host.")]
    listeners: Annotated[tuple[NodeRef, ...], Meta()]
    owner: Annotated[str, Meta(description="Empty if it names none, or none was asked for.")]


def routes_behind(analysis: Analysis, nodes: Iterable[NodeRef], owner_key: str = "") -> tuple[RouteBehind, ...]:
    """The routes behind some nodes, sorted; none if a node is of another kind, so that there is more than these."""
    through = tuple(nodes)
    if not all(node.object.group_kind in _ABOVE_ROUTES for node in through):
        return ()
    serving = Serving(analysis)
    listeners: dict[ObjectRef, dict[NodeRef, None]] = {}
    for listener in dict.fromkeys(listener for node in through for listener in _listeners(analysis, node)):
        for route in analysis.topology.relations.attached_to(listener):
            listeners.setdefault(route, {})[listener] = None
    return tuple(
        RouteBehind(
            route=route,
            hostnames=tuple(
                sorted({name for listener in listeners[route] for name in serving.hostnames(listener, route)})
            ),
            listeners=tuple(listeners[route]),
            owner=owner(analysis.index, route, owner_key) if owner_key else "",
        )
        for route in sorted(listeners)
    )


def hostnames_on(analysis: Analysis, paths: Iterable[Path]) -> frozenset[str]:
    """The hostnames of requests on some paths, `*` for every host: those of routes at the listeners above them."""
    serving = Serving(analysis)
    pairs = {pair for path in paths if (pair := _listener_and_route(path))}
    return frozenset(name for listener, route in pairs for name in serving.hostnames(listener, route))


def _listener_and_route(path: Path) -> tuple[NodeRef, ObjectRef] | None:
    listener: NodeRef | None = None
    for node in path:
        if node.object.group_kind in ROUTES:
            return (listener, node.object) if listener else None
        if node.section:
            listener = node
    return None


def _listeners(analysis: Analysis, node: NodeRef) -> Iterator[NodeRef]:
    """The listener that a node is, or those of the Gateways that it stands for."""
    gateways = analysis.topology.gateways
    if node.section:
        yield node
        return
    of_class = node.object.group_kind == GATEWAY_CLASS
    for gateway in gateways.of_class(node.object) if of_class else (node.object,):
        listener_sets = gateways.admitted(gateway) if gateway.group_kind == GATEWAY else ()
        for holder in (gateway, *listener_sets):
            yield from (listener.node for listener in gateways.listeners(holder))
