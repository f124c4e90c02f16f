"""Routes that take the same requests, or may do so once placeholders are filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.world import grouped
from kubectl_policy.topology.gateway.hostnames import may_be_same, requests_at
from kubectl_policy.topology.references import ROUTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.topology.gateway.hostnames import Requests
    from kubectl_policy.topology.relations import Relations


class SharedRequests:
    """The requests that the routes of one snapshot take."""

    def __init__(self, relations: Relations) -> None:
        """Remember where to look."""
        self._relations = relations

    def requests_of(self, route: ObjectRef) -> tuple[Requests, ...]:
        """Which requests a route takes, each once."""
        return tuple(requests for requests, is_taken in self._possible_requests_of(route).items() if is_taken)

    def routes_taking(self, requests: Requests) -> tuple[ObjectRef, ...]:
        """The routes that take the same requests; by kind, then sorted."""
        return self._routes_by_requests(requests.gateway).get(requests, ())

    @cached_method
    def _routes_by_requests(self, gateway: ObjectRef) -> Mapping[Requests, tuple[ObjectRef, ...]]:
        routes = self._routes_on(gateway)
        return grouped((requests, route) for route in routes for requests in self.requests_of(route))

    def routes_that_may_share(self, route: ObjectRef) -> Iterator[tuple[ObjectRef, Requests]]:
        """The routes that may take the same requests as a route, once all is filled in, and which of the route's own.

        Also those that are known to, and the route itself.
        """
        for requests, is_taken in self._possible_requests_of(route).items():
            is_known = is_taken and not requests.is_open
            others = self._possible_requests_by_path((requests.gateway, is_known)).get(requests.path, ())
            yield from ((other, requests) for other, theirs in others if may_be_same(requests, theirs))

    @cached_method
    def _possible_requests_of(self, route: ObjectRef) -> Mapping[Requests, bool]:
        """Which requests a route may take, and whether it is known to be attached where it takes them."""
        relations, is_taken = self._relations, dict["Requests", bool]()
        resource = relations.index.get(route)
        for binding in relations.bindings(route):
            listener = relations.gateways.listener(binding.listener) if binding.listener else None
            if resource and listener and binding.state != "refused":
                for requests in requests_at(relations.index.filled(resource), [listener]):
                    is_taken[requests] = is_taken.get(requests, False) or binding.state == "attached"
        return is_taken

    @cached_method
    def _possible_requests_by_path(
        self, gateway_and_certainty: tuple[ObjectRef, bool]
    ) -> Mapping[str, tuple[tuple[ObjectRef, Requests], ...]]:
        """The routes that may take requests at a Gateway, each with which ones, by their path.

        Compared with requests that are certain, only those of which it is not known whether a route takes them, or
        which ones these are.
        """
        gateway, is_certain = gateway_and_certainty
        return grouped(
            (requests.path, (route, requests))
            for route in self._routes_on(gateway)
            for requests, is_taken in self._possible_requests_of(route).items()
            if requests.gateway == gateway and not (is_certain and is_taken and not requests.is_open)
        )

    def _routes_on(self, gateway: ObjectRef) -> list[ObjectRef]:
        """The routes that name a Gateway, or a ListenerSet of it, as a parent; sorted by kind and name.

        Of two routes on one Gateway, neither says by itself that it takes the requests of the other one.
        """
        parents = (gateway, *self._relations.gateways.listener_sets(gateway))
        routes = {route for parent in parents for route in self._relations.routes_naming(parent)}
        return sorted(routes, key=lambda route: (ROUTES[route.group_kind], route))
