"""Requests that routes take, and the routes that take the same ones or may do so once placeholders are filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.fields import mappings_at, strings_at, text_at
from kubectl_policy.model.kind_roles import GRPC_ROUTE, HTTP_ROUTE, ROUTES
from kubectl_policy.model.unknown import Port, is_unknown_hostname, may_be_port
from kubectl_policy.model.world import grouped
from kubectl_policy.topology.gateway.hostnames import Hostnames, may_intersect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model import Json, ObjectRef, Resource
    from kubectl_policy.topology.gateway.listeners import Listener
    from kubectl_policy.topology.relations import Relations


class SharedRequests(Struct, frozen=True, dict=True, eq=False):
    """The requests that the routes of one snapshot take."""

    _relations: Relations

    def requests_of(self, route: ObjectRef) -> tuple[Requests, ...]:
        """Return the requests that a route takes, each once."""
        return tuple(requests for requests, is_taken in self._possible_requests_of(route).items() if is_taken)

    def routes_taking(self, requests: Requests) -> tuple[ObjectRef, ...]:
        """Return the routes that take the same requests; by kind, then sorted."""
        return self._routes_by_requests(requests.gateway).get(requests, ())

    @cached_method
    def _routes_by_requests(self, gateway: ObjectRef) -> Mapping[Requests, tuple[ObjectRef, ...]]:
        routes = self._routes_on(gateway)
        return grouped((requests, route) for route in routes for requests in self.requests_of(route))

    def routes_that_may_share(self, route: ObjectRef) -> Iterator[tuple[ObjectRef, Requests]]:
        """Yield the routes that may take the same requests as a route once all is filled in, with the requests.

        Also those that are known to, and the route itself.
        """
        for requests, is_taken in self._possible_requests_of(route).items():
            is_known = is_taken and not requests.is_open
            candidates = self._possible_requests_by_path(requests.gateway, is_certain=is_known).get(requests.path, ())
            for candidate, theirs in candidates:
                is_one = requests.hostname == theirs.hostname or may_intersect(requests.hostname, theirs.hostname)
                if is_one and may_be_port(requests.port, theirs.port):
                    yield candidate, requests

    @cached_method
    def _possible_requests_of(self, route: ObjectRef) -> Mapping[Requests, bool]:
        """Return the requests that a route may take, and whether it is known to be attached where it takes them."""
        relations, is_taken = self._relations, dict["Requests", bool]()
        resource = relations.index.get(route)
        for binding in relations.bindings(route):
            listener = relations.gateways.listener(binding.listener) if binding.listener else None
            # A listener that is on no Gateway refuses every route.
            gateway = listener.gateway if listener else None
            if resource and listener and gateway and binding.state != "refused":
                for requests in _requests_at(relations.index.with_defaults(resource), gateway, listener):
                    is_taken[requests] = is_taken.get(requests, False) or binding.state == "attached"
        return is_taken

    @cached_method
    def _possible_requests_by_path(
        self, gateway: ObjectRef, *, is_certain: bool
    ) -> Mapping[str, tuple[tuple[ObjectRef, Requests], ...]]:
        """Return the routes that may take requests at a Gateway, each with which ones, by their path.

        Compared with requests that are certain, only those of which it is not known whether a route takes them, or
        which ones these are.
        """
        return grouped(
            (requests.path, (route, requests))
            for route in self._routes_on(gateway)
            for requests, is_taken in self._possible_requests_of(route).items()
            if requests.gateway == gateway and not (is_certain and is_taken and not requests.is_open)
        )

    def _routes_on(self, gateway: ObjectRef) -> list[ObjectRef]:
        """Return the routes that name a Gateway, or a ListenerSet of it, as a parent; sorted by kind and name.

        Of two routes on one Gateway, neither says by itself that it takes the requests of the other one.
        """
        parents = (gateway, *self._relations.gateways.listener_sets(gateway))
        routes = {route for parent in parents for route in self._relations.routes_naming(parent)}
        return sorted(routes, key=lambda route: (ROUTES[route.group_kind], route))


class Requests(Struct, frozen=True):
    """Requests that a route takes, without regard to how it compares their path, their method and their headers."""

    gateway: ObjectRef
    port: Port | None
    hostname: str
    path: str

    @property
    def is_open(self) -> bool:
        """Whether something of the port or the hostname is to be filled in."""
        return isinstance(self.port, str) or is_unknown_hostname(self.hostname)


def _requests_at(route: Resource, gateway: ObjectRef, listener: Listener) -> Iterator[Requests]:
    """Yield the requests that an HTTPRoute or a GRPCRoute takes at a listener of a Gateway; none for other routes."""
    paths = [path for rule in mappings_at(route.raw, "spec.rules") for path in _paths(route.ref, rule)]
    hostnames = Hostnames(strings_at(route.raw, "spec.hostnames") or [""])
    for _, common in hostnames.intersections(listener.hostname):
        yield from (Requests(gateway=gateway, port=listener.port, hostname=common, path=path) for path in paths)


def _paths(route: ObjectRef, rule: Json) -> Iterator[str]:
    """Yield the paths of a rule: a GRPCRoute's are those of its services and methods; without any it is every path."""
    matches = mappings_at(rule, "matches") or [{}]
    for match in matches:
        if route.group_kind == HTTP_ROUTE:
            yield text_at(match, "path.value", "/")
        elif route.group_kind == GRPC_ROUTE:
            service, method = text_at(match, "method.service"), text_at(match, "method.method")
            yield f"/{service}/{method}" if service or method else "/"
