"""Matches of HTTPRoutes and GRPCRoutes, and how they compete for requests at listeners."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

from kubectl_policy.model import NodeRef
from kubectl_policy.model.fields import items_at, text_at
from kubectl_policy.model.kind_roles import GRPC_ROUTE, HTTP_ROUTE
from kubectl_policy.model.world import grouped
from kubectl_policy.topology.attached_hostnames import has_closer_listener
from kubectl_policy.topology.gateway.hostnames import comparable, intersection
from kubectl_policy.topology.references import hostnames_of, parent_refs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Json, ObjectRef, Resource
    from kubectl_policy.model.unknown import Port
    from kubectl_policy.topology import Binding

EXACT: Final = "Exact"
PREFIX: Final = "PathPrefix"
REGULAR_EXPRESSION: Final = "RegularExpression"
_PATHS: Final = (PREFIX, EXACT, REGULAR_EXPRESSION)
_GRPC: Final = {EXACT: "gRPC method", REGULAR_EXPRESSION: "gRPC methods like"}
# Expressions that every path matches.
_ANY: Final = frozenset({".*", "/.*", "^/.*", "^/.*$", "/.*$"})
# Name, type and value of a header or a query parameter.
_Pairs: TypeAlias = "tuple[tuple[str, str, str], ...]"
# What the types of the API have; what they have not may mean anything.
_OF_HTTP: Final = frozenset({"path", "headers", "queryParams", "method"})
_OF_GRPC: Final = frozenset({"method", "headers"})
_OF_PATHS: Final = frozenset({"type", "value"})
_OF_METHODS: Final = frozenset({"type", "service", "method"})
_OF_PAIRS: Final = frozenset({"type", "name", "value"})
_NOTHING: Final[Mapping[str, Json]] = MappingProxyType({})
_COMPETING: Final = (HTTP_ROUTE, GRPC_ROUTE)
# A listener, or what is named as one where that is not known: a section of a parent, and a port.
_At: TypeAlias = "tuple[NodeRef, Port | None]"
_Routes: TypeAlias = "dict[str, list[Resource]]"


class Conditions(Struct, frozen=True, gc=False):
    """What a match asks of a request.

    Of the entries for one header or query parameter, the first one counts (HTTPHeaderMatch.Name).
    """

    sort: str
    """The type of the path, or that it is a method of gRPC."""
    path: str
    """A prefix has no slash at its end, and is empty for every path; of `service/method`, either may be empty."""
    method: str = ""
    """The method of HTTP."""
    headers: _Pairs = ()
    parameters: _Pairs = ()

    def __str__(self) -> str:
        """What it is called in messages; values of headers may be secret."""
        names = [f"header {name}" for name, _, _ in self.headers]
        names += [f"query parameter {name}" for name, _, _ in self.parameters]
        method = f"{self.method} " if self.method else ""
        return f"{method}{self.sort} {self.path or '/'}" + (f" with {', '.join(names)}" if names else "")

    @property
    def takes_all(self) -> bool:
        """Whether every request of HTTP is as it asks."""
        is_any = not self.path if self.sort == PREFIX else self.sort == REGULAR_EXPRESSION and self.path in _ANY
        return is_any and not (self.method or self.headers or self.parameters)

    def has_path(self, path: str) -> bool | None:
        """Whether a path is as it asks; None if only an expression tells."""
        if self.sort == PREFIX:
            return path == self.path or path.startswith(f"{self.path}/")
        return path == self.path if self.sort == EXACT else None

    def fits(self, other: Conditions) -> bool:
        """Whether some request may be as both ask, but for its path."""
        is_one = not (self.method and other.method) or self.method == other.method
        return is_one and _fit(self.headers, other.headers) and _fit(self.parameters, other.parameters)


def _fit(ones: _Pairs, others: _Pairs) -> bool:
    wanted = {name: value for name, sort, value in ones if sort == EXACT}
    return all(sort != EXACT or wanted.get(name, value) == value for name, sort, value in others)


class RouteMatch(Struct, frozen=True, gc=False):
    """A match of a rule of a route, also as it is `written`; `rule` and `position` are indices.

    That of a rule that has no matches is at position -1.
    """

    route: Resource
    rule: int
    position: int
    conditions: Conditions
    written: Mapping[str, Json]

    @property
    def field(self) -> str:
        """Where it stands."""
        rule = f"spec.rules[{self.rule}]"
        return rule if self.position < 0 else f"{rule}.matches[{self.position}]"


_EVERY_PATH: Final = Conditions(PREFIX, "")
_EVERY_METHOD: Final = Conditions(_GRPC[EXACT], "/")


def matches_of(route: Resource) -> list[RouteMatch]:
    """The matches of an HTTPRoute or a GRPCRoute, in their order; what is not as its type has it is left out."""
    read, every = (_of_http, _EVERY_PATH) if route.ref.group_kind == HTTP_ROUTE else (_of_grpc, _EVERY_METHOD)
    found: list[RouteMatch] = []
    for number, rule in enumerate(items_at(route.raw, "spec.rules")):
        if not isinstance(rule, (dict, Mapping)):
            continue
        matches = rule.get("matches")
        if matches and isinstance(matches, (list, tuple)):
            for position, match in enumerate(matches):
                if isinstance(match, (dict, Mapping)) and (conditions := read(match)):
                    found.append(RouteMatch(route, number, position, conditions, match))
        elif not matches:
            found.append(RouteMatch(route, number, -1, every, {}))
    return found


def _of_http(match: Mapping[str, Json]) -> Conditions | None:
    path, method = match.get("path", _NOTHING), match.get("method", "")
    if not isinstance(path, (dict, Mapping)) or not _OF_PATHS.issuperset(path) or not _OF_HTTP.issuperset(match):
        return None
    sort, value = path.get("type", PREFIX), path.get("value", "/")
    if sort not in _PATHS or not isinstance(value, str) or not isinstance(method, str):
        return None
    value = value.rstrip("/") if sort == PREFIX else value
    # Most ask for a path alone.
    if len(match) == 1 and path:
        return Conditions(sort, value)
    headers = _pairs(match.get("headers"), is_header=True)
    parameters = _pairs(match.get("queryParams"), is_header=False)
    return None if headers is None or parameters is None else Conditions(sort, value, method, headers, parameters)


def _of_grpc(match: Mapping[str, Json]) -> Conditions | None:
    method, headers = match.get("method", _NOTHING), _pairs(match.get("headers"), is_header=True)
    if headers is None or not isinstance(method, (dict, Mapping)):
        return None
    if not _OF_METHODS.issuperset(method) or not _OF_GRPC.issuperset(match):
        return None
    sort, service, name = method.get("type", EXACT), method.get("service", ""), method.get("method", "")
    if not (isinstance(sort, str) and isinstance(service, str) and isinstance(name, str) and sort in _GRPC):
        return None
    return Conditions(_GRPC[sort], f"{service}/{name}", "", headers)


def _pairs(entries: Json, *, is_header: bool) -> _Pairs | None:
    """What is asked of headers, or of query parameters; None if that is not as their types have it."""
    if not entries:
        return ()
    if not isinstance(entries, (list, tuple)):
        return None
    found: dict[str, tuple[str, str, str]] = {}
    for entry in entries:
        if not isinstance(entry, (dict, Mapping)) or not _OF_PAIRS.issuperset(entry):
            return None
        name, sort, value = entry.get("name"), entry.get("type", EXACT), entry.get("value")
        if not (isinstance(name, str) and isinstance(sort, str) and isinstance(value, str)):
            return None
        name = name.lower() if is_header else name
        found.setdefault(name, (name, sort, value))
    return tuple(sorted(found.values()))


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
                if hostname not in known and has_closer_listener(self._topology, listener, hostname):
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
