"""Where routes compete for requests: at each listener, for each hostname; and which of equal matches come first."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

from kubectl_policy.lint.facts.matches import matches_of
from kubectl_policy.model import NodeRef
from kubectl_policy.model.fields import items_at, text_at
from kubectl_policy.model.world import grouped
from kubectl_policy.topology.attached_hostnames import is_left_to_others
from kubectl_policy.topology.gateway.hostnames import comparable, intersection
from kubectl_policy.topology.references import GRPC_ROUTE, HTTP_ROUTE, hostnames_of, parent_refs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.lint.facts.matches import Conditions, RouteMatch
    from kubectl_policy.model import ObjectRef, Resource
    from kubectl_policy.model.unknown import Port
    from kubectl_policy.topology import Binding

_COMPETING: Final = (HTTP_ROUTE, GRPC_ROUTE)
# A listener, or what is named as one where that is not known: a section of a parent, and a port.
_At: TypeAlias = "tuple[NodeRef, Port | None]"
_Routes: TypeAlias = "dict[str, list[Resource]]"


class Place(Struct, frozen=True, gc=False):
    """Where requests come in: a listener, or what a route names as one, and a hostname, empty for every one."""

    at: NodeRef
    hostname: str


class LostMatch(Struct, frozen=True, gc=False):
    """A match that has the same requests as one that comes before it."""

    match: RouteMatch
    winner: RouteMatch
    place: Place | None
    """Where they meet; None in one route."""
    in_order: bool
    """Whether it is known which of both routes comes first."""
    certain: bool
    """Whether it is known that both routes are there."""


class LeftToOther(Struct, frozen=True, gc=False):
    """A hostname of a route at a listener to which it is attached, and for which another listener has the requests."""

    route: Resource
    listener: NodeRef
    hostname: str


class Competition:
    """The routes of HTTP and of gRPC in one world, also those that are not linted, as they compete for requests."""

    def __init__(self, analysis: Analysis) -> None:
        """Find out where the routes get their requests."""
        self._topology = analysis.topology
        self._index = analysis.index
        self.routes = [route for kind in _COMPETING for route in self._index.of_kind(kind)]
        self.at: dict[NodeRef, _Routes] = {}
        """The routes that have requests at each listener, by the hostnames for which they do."""
        self.left_to_others: list[LeftToOther] = []
        """The hostnames for which routes have no requests at listeners to which they are attached."""
        self._places: dict[ObjectRef, list[Place]] = {}
        self._perhaps: dict[_At, _Routes] = {}
        self._elsewhere: set[ObjectRef] = set()
        for route in self.routes:
            names = hostnames_of(self._index, route.ref) or ("",)
            for binding in analysis.topology.relations.bindings(route.ref):
                if binding.state != "refused":
                    self._place(route, binding, names)

    @cached_property
    def matches(self) -> Mapping[ObjectRef, Sequence[RouteMatch]]:
        """The matches of each route."""
        return {route.ref: matches_of(route) for route in self.routes}

    def places_of(self, route: ObjectRef) -> Sequence[Place]:
        """Where a route is known to have requests, each place once."""
        return self._places.get(route, ())

    def is_elsewhere(self, route: ObjectRef) -> bool:
        """Whether a route has requests, or may have some, in another way than at a listener."""
        by_default = text_at(self._index.raw(route), "spec.useDefaultGateways", "None") != "None"
        return by_default or route in self._elsewhere

    def _place(self, route: Resource, binding: Binding, names: Iterable[str]) -> None:
        listener = self._topology.gateways.listener(binding.listener) if binding.listener else None
        if binding.state == "unknown":
            self._elsewhere.add(route.ref)
            for name in names:
                hostname = name if listener is None else intersection(name, listener.hostname)
                if hostname is not None:
                    _add(self._perhaps.setdefault(self._named(binding), {}), comparable(hostname), route)
        elif listener is None or binding.is_delegated:
            self._elsewhere.add(route.ref)
        else:
            known = self.at.setdefault(listener.node, {})
            for name in names:
                hostname = intersection(name, listener.hostname)
                if hostname is None:
                    continue
                hostname = comparable(hostname)
                if hostname not in known and is_left_to_others(self._topology, listener, hostname):
                    self.left_to_others.append(LeftToOther(route, listener.node, hostname))
                elif _add(known, hostname, route):
                    self._places.setdefault(route.ref, []).append(Place(listener.node, hostname))

    def _named(self, binding: Binding) -> _At:
        """What a route names as its parent, of which it is not known whether it takes the route."""
        if binding.listener:
            return binding.listener, None
        refs = parent_refs(self._index, binding.route)
        ref = next(each for each in refs if each.position == binding.parent_index)
        return NodeRef(ref.object, ref.section), ref.port

    @cached_property
    def losses(self) -> Sequence[LostMatch]:
        """The matches that have the same requests as others, each with the first one of these that it meets at a place.

        One that its own route has before is met there alone.
        """
        lost = [loss for route in self.routes for loss in self._repeated(route.ref)]
        for node, by_hostname in self.at.items():
            for hostname, routes in by_hostname.items():
                lost += self._lost(Place(node, hostname), routes, frozenset())
        for (node, _), by_hostname in self._perhaps.items():
            for hostname, routes in by_hostname.items():
                known = self.at.get(node, {}).get(hostname, ())
                lost += self._lost(Place(node, hostname), (*known, *routes), frozenset(route.ref for route in routes))
        return lost

    @cached_property
    def _distinct(self) -> Mapping[ObjectRef, Sequence[RouteMatch]]:
        """The matches of each route, but for those that it repeats."""
        return {
            route: _without_repeated(matches) if len(matches) > 1 else matches
            for route, matches in self.matches.items()
        }

    def _repeated(self, route: ObjectRef) -> Iterator[LostMatch]:
        matches, distinct = self.matches[route], self._distinct[route]
        if len(matches) != len(distinct):
            first = {match.conditions: match for match in distinct}
            for match in matches:
                winner = first[match.conditions]
                if winner is not match:
                    yield LostMatch(match, winner, None, in_order=_as_long(match, winner), certain=True)

    def _lost(self, place: Place, routes: Sequence[Resource], doubtful: AbstractSet[ObjectRef]) -> Iterator[LostMatch]:
        """The matches that routes at one place have in common, but for those that come first."""
        if len(routes) == 1:
            return
        common: dict[Conditions, list[RouteMatch]] = {}
        for route in routes:
            for match in self._distinct[route.ref]:
                common.setdefault(match.conditions, []).append(match)
        for equal in common.values():
            winner, *others = sorted(equal, key=lambda match: match.route.seniority)
            for match in others:
                certain = doubtful.isdisjoint((match.route.ref, winner.route.ref))
                # Of routes that are in doubt, all that are with them at a place are looked at again.
                if not (certain and doubtful):
                    in_order = self._is_known_order(winner, match, place.hostname)
                    yield LostMatch(match, winner, place, in_order=in_order, certain=certain)

    @cached_property
    def lost_rules(self) -> Mapping[tuple[ObjectRef, int], Sequence[LostMatch]]:
        """The rules, by their indices, that no request reaches as all that they match is lost, each with its losses."""
        found: dict[tuple[ObjectRef, int], list[LostMatch]] = {}
        for loss in self.losses:
            match = loss.match
            if loss.certain and loss.in_order and (loss.place or loss.winner.rule != match.rule):
                found.setdefault((match.route.ref, match.rule), []).append(loss)
        return {rule: losses for rule, losses in found.items() if self._is_lost(*rule, losses)}

    def _is_lost(self, route: ObjectRef, rule: int, losses: Iterable[LostMatch]) -> bool:
        own = [match for match in self.matches[route] if match.rule == rule]
        written = items_at(items_at(own[0].route.raw, "spec.rules")[rule], "matches")
        everywhere = {*self.places_of(route)}
        lost = grouped((loss.match.conditions, loss.place) for loss in losses)
        # What is not understood of a rule may have requests.
        return len(own) == max(1, len(written)) and all(
            None in lost.get(match.conditions, ())
            or (everywhere and not self.is_elsewhere(route) and everywhere == {*lost.get(match.conditions, ())})
            for match in own
        )

    def _is_known_order(self, winner: RouteMatch, match: RouteMatch, hostname: str) -> bool:
        """Whether it is known which of two equal matches at a place comes first, by the age of their routes.

        A hostname that one of them does not name itself may count for less.
        """
        own, others = (hostnames_of(self._index, each.route.ref) for each in (winner, match))
        return (
            winner.route.created is not None
            and match.route.created is not None
            and (hostname in map(comparable, own)) == (hostname in map(comparable, others))
            and _as_long(winner, match)
        )


def hostname_field(route: Resource, hostname: str) -> str:
    """Where a route names a hostname; empty if it only has it in common with a listener."""
    for position, written in enumerate(items_at(route.raw, "spec.hostnames")):
        if isinstance(written, str) and comparable(written) == hostname:
            return f"spec.hostnames[{position}]"
    return ""


def _add(known: _Routes, hostname: str, route: Resource) -> bool:
    """Add a route to those of a hostname, all of which come one after the other; whether it was not there."""
    routes = known.setdefault(hostname, [])
    is_new = not routes or routes[-1] is not route
    if is_new:
        routes.append(route)
    return is_new


def _without_repeated(matches: Iterable[RouteMatch]) -> Sequence[RouteMatch]:
    first: dict[Conditions, RouteMatch] = {}
    for match in matches:
        first.setdefault(match.conditions, match)
    return list(first.values())


def _as_long(one: RouteMatch, other: RouteMatch) -> bool:
    """Whether the paths of equal matches are equally long as they are written, which may decide their order."""
    return text_at(one.written, "path.value", "/") == text_at(other.written, "path.value", "/")
