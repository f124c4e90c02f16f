"""Competition of HTTPRoutes and GRPCRoutes for requests at listeners and Services: matches that lose to others."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import Struct

from kubectl_policy.lint.route_matches import Conditions, RouteMatch, matches_of
from kubectl_policy.model import NodeRef, ObjectRef, Resource
from kubectl_policy.model.fields import items_at, text_at
from kubectl_policy.model.kind_roles import GRPC_ROUTE, HTTP_ROUTE, PORT_HOLDERS
from kubectl_policy.model.snapshot import are_ages_known
from kubectl_policy.model.unknown import is_unknown, may_be
from kubectl_policy.model.world import grouped
from kubectl_policy.topology.gateway.hostnames import comparable, hostnames_in, intersection
from kubectl_policy.topology.references import hostnames_of, parent_refs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model.unknown import Port
    from kubectl_policy.topology import Binding

_COMPETING: Final = (HTTP_ROUTE, GRPC_ROUTE)
# What a parentRef names where it is not known whether it accepts the route: a section of a parent, a port, and clients.
_At: TypeAlias = "tuple[NodeRef, Port | None, str]"
_Routes: TypeAlias = "dict[str, list[Resource]]"
# Why it is not known which of two routes comes first: the age of one is unknown; the older one has the hostname from
# its listener alone; the older one's path lacks the slash at the end; the two may be one route.
OrderDoubt: TypeAlias = Literal["", "age", "hostname", "slash", "identity"]


class Intake(Struct, frozen=True, gc=False):
    """A listener or Service, or the section that a route names as one, and a hostname ("" for all), for requests."""

    listener: NodeRef
    hostname: str
    clients: str = ""
    """The namespace whose requests alone come in, for routes in another namespace than their Service; "" for all."""


class LostMatch(Struct, frozen=True, gc=False):
    """A match that has the same requests as one that takes precedence."""

    match: RouteMatch
    winner: RouteMatch
    intake: Intake | None
    """The listener and hostname at which they meet; None within one route."""
    doubt: OrderDoubt
    """Why it is not known which of the two comes first; "" if it is known."""
    certain: bool
    """Whether it is known that both routes are there."""

    @property
    def in_order(self) -> bool:
        """Whether it is known which of the two comes first."""
        return not self.doubt


class IsolatedHostname(Struct, frozen=True, gc=False):
    """A hostname of a route whose requests go to another listener than the one that the route is attached to."""

    route: Resource
    listener: NodeRef
    hostname: str


class Competition:
    """The competition of all HTTPRoutes and GRPCRoutes of a world for requests, including those that are not linted."""

    def __init__(self, analysis: Analysis) -> None:
        """Assign routes to the listeners and hostnames at which they get requests."""
        self._topology = analysis.topology
        self._index = analysis.index
        self.routes = [route for kind in _COMPETING for route in self._index.of_kind(kind)]
        self.routes_at: dict[NodeRef, _Routes] = {}
        """The routes at each listener, by hostname."""
        self.isolated: list[IsolatedHostname] = []
        """The hostnames that a more specific listener takes from a route."""
        self._intakes: dict[ObjectRef, list[Intake]] = {}
        self._routes_at_services: dict[tuple[NodeRef, str], _Routes] = {}
        self._possible_routes: dict[_At, _Routes] = {}
        self._elsewhere: set[ObjectRef] = set()
        for route in self.routes:
            names = hostnames_of(self._index, route.ref) or ("",)
            for binding in analysis.topology.relations.bindings(route.ref):
                if binding.state != "refused":
                    self._assign(route, binding, names)

    @cached_property
    def matches(self) -> Mapping[ObjectRef, Sequence[RouteMatch]]:
        """The matches of each route."""
        return {route.ref: matches_of(route) for route in self.routes}

    def intakes_of(self, route: ObjectRef) -> Sequence[Intake]:
        """Return the listeners and hostnames for which a route is known to get requests."""
        return self._intakes.get(route, ())

    def is_elsewhere(self, route: ObjectRef) -> bool:
        """Whether a route gets, or may get, requests other than at a listener."""
        by_default = text_at(self._index.defaulted(route), "spec.useDefaultGateways", "None") != "None"
        return by_default or route in self._elsewhere

    def _assign(self, route: Resource, binding: Binding, names: tuple[str, ...]) -> None:
        listener = self._topology.gateways.listener(binding.listener) if binding.listener else None
        if binding.state == "unknown":
            self._elsewhere.add(route.ref)
            for name in names:
                hostname = name if listener is None else intersection(name, listener.hostname)
                if hostname is not None:
                    _add(self._possible_routes.setdefault(self._named_parent(binding), {}), comparable(hostname), route)
        elif listener is None or binding.is_delegated:
            self._elsewhere.add(route.ref)
            if binding.parent.group_kind in PORT_HOLDERS:
                self._assign_to_service(route, binding, names)
        else:
            known = self.routes_at.setdefault(listener.node, {})
            for _, common in hostnames_in(names).intersections(listener.hostname):
                hostname = comparable(common)
                if hostname not in known and self._topology.gateways.has_closer_listener(listener, hostname):
                    self.isolated.append(IsolatedHostname(route, listener.node, hostname))
                elif _add(known, hostname, route):
                    self._intakes.setdefault(route.ref, []).append(Intake(listener.node, hostname))

    def _assign_to_service(self, route: Resource, binding: Binding, names: Iterable[str]) -> None:
        """Assign a route to the ports of its parent Service.

        Whether implementations heed hostnames there is open: routes with different ones are not compared.
        """
        ports = [NodeRef(binding.parent, port) for port in self._topology.sections(binding.parent)]
        for node in [binding.listener] if binding.listener else ports or [NodeRef(binding.parent)]:
            routes = self._routes_at_services.setdefault((node, _clients(binding)), {})
            for name in names:
                _add(routes, comparable(name), route)

    def _named_parent(self, binding: Binding) -> _At:
        """Return the section and port that a binding names, which may or may not accept the route."""
        if binding.listener:
            return binding.listener, None, ""
        refs = parent_refs(self._index, binding.route)
        ref = next(parent for parent in refs if parent.position == binding.parent_index)
        return NodeRef(ref.object, ref.section), ref.port, _clients(binding)

    @cached_property
    def losses(self) -> Sequence[LostMatch]:
        """The matches that lose all requests to another match, each with the first winner at a listener and hostname.

        A match that repeats an earlier one of its route is only compared with that.
        """
        lost = [loss for route in self.routes for loss in self._repeated(route.ref)]
        for node, by_hostname in self.routes_at.items():
            for hostname, routes in by_hostname.items():
                lost += self._lost(Intake(node, hostname), routes, frozenset())
        for (node, clients), by_hostname in self._routes_at_services.items():
            for hostname, routes in by_hostname.items():
                lost += self._lost(Intake(node, hostname, clients), routes, frozenset())
        for (node, _, clients), by_hostname in self._possible_routes.items():
            for hostname, routes in by_hostname.items():
                known = self.routes_at.get(node, {}).get(hostname, ())
                doubtful = frozenset(route.ref for route in routes).difference(route.ref for route in known)
                # A route may name a listener twice, and be attached for certain by one of its parentRefs alone.
                every = (*known, *(route for route in routes if route.ref in doubtful))
                lost += self._lost(Intake(node, hostname, clients), every, doubtful)
        return lost

    @cached_property
    def _distinct(self) -> Mapping[ObjectRef, Sequence[RouteMatch]]:
        """The matches of each route without those that repeat an earlier one."""
        distinct: dict[ObjectRef, dict[Conditions, RouteMatch]] = {}
        for ref, matches in self.matches.items():
            first = distinct[ref] = {}
            for match in matches:
                first.setdefault(match.conditions, match)
        return {ref: list(first.values()) for ref, first in distinct.items()}

    def _repeated(self, route: ObjectRef) -> Iterator[LostMatch]:
        matches, distinct = self.matches[route], self._distinct[route]
        if len(matches) != len(distinct):
            first = {match.conditions: match for match in distinct}
            for match in matches:
                winner = first[match.conditions]
                if winner is not match:
                    doubt: OrderDoubt = "" if _written_path(match) == _written_path(winner) else "slash"
                    yield LostMatch(match, winner, None, doubt, certain=True)

    def _lost(
        self, intake: Intake, routes: Sequence[Resource], doubtful: AbstractSet[ObjectRef]
    ) -> Iterator[LostMatch]:
        """Yield the matches that routes at one listener and hostname share, except the winning ones."""
        if len(routes) == 1:
            return
        common: dict[Conditions, list[RouteMatch]] = {}
        for route in routes:
            for match in self._distinct[route.ref]:
                common.setdefault(match.conditions, []).append(match)
        for equal in common.values():
            winner, *losers = sorted(equal, key=lambda match: match.route.seniority)
            for match in losers:
                certain = doubtful.isdisjoint((match.route.ref, winner.route.ref))
                # With doubtful routes come the certain ones at the same intake, whose losses are known already.
                if not (certain and doubtful):
                    yield LostMatch(match, winner, intake, self._doubt(winner, match, intake.hostname), certain)

    @cached_property
    def lost_rules(self) -> Mapping[tuple[ObjectRef, int], Sequence[LostMatch]]:
        """The rules, by route and index, all of whose matches are lost, with their losses."""
        losses_of: dict[tuple[ObjectRef, int], list[LostMatch]] = {}
        for loss in self.losses:
            match = loss.match
            if loss.certain and loss.in_order and (loss.intake or loss.winner.rule != match.rule):
                losses_of.setdefault((match.route.ref, match.rule), []).append(loss)
        return {rule: losses for rule, losses in losses_of.items() if self._is_lost(*rule, losses)}

    def _is_lost(self, route: ObjectRef, rule: int, losses: Iterable[LostMatch]) -> bool:
        rule_matches = [match for match in self.matches[route] if match.rule == rule]
        written = items_at(items_at(rule_matches[0].route.raw, "spec.rules")[rule], "matches")
        everywhere = {*self.intakes_of(route)}
        lost = grouped((loss.match.conditions, loss.intake) for loss in losses)
        # A match that is not understood may get requests.
        return len(rule_matches) == max(1, len(written)) and all(
            None in lost.get(match.conditions, ())
            or (everywhere and not self.is_elsewhere(route) and everywhere == {*lost.get(match.conditions, ())})
            for match in rule_matches
        )

    def _doubt(self, winner: RouteMatch, match: RouteMatch, hostname: str) -> OrderDoubt:
        """Return the reason why the older of two routes with equal matches may not come first; "" if it does.

        A hostname that comes from the listener alone, and a path without the slash at its end, may count for less.
        """
        refs = winner.route.ref, match.route.ref
        if any(is_unknown(ref.name) or is_unknown(ref.namespace) for ref in refs) and may_be(*refs):
            return "identity"
        if not are_ages_known((winner.route, match.route)):
            return "age"
        winning, losing = (map(comparable, hostnames_of(self._index, ref)) for ref in refs)
        if hostname in losing and hostname not in winning:
            return "hostname"
        return "slash" if len(_written_path(winner)) < len(_written_path(match)) else ""


def hostname_field(route: Resource, hostname: str) -> str:
    """Return the field in which a route names a hostname, or "" if it has it from a listener."""
    for position, written in enumerate(items_at(route.raw, "spec.hostnames")):
        if isinstance(written, str) and comparable(written) == hostname:
            return f"spec.hostnames[{position}]"
    return ""


def _add(known: _Routes, hostname: str, route: Resource) -> bool:
    """Add a route to those of a hostname; return whether it is new. Calls for one route follow each other."""
    routes = known.setdefault(hostname, [])
    is_new = not routes or routes[-1] is not route
    if is_new:
        routes.append(route)
    return is_new


def _written_path(match: RouteMatch) -> str:
    return text_at(match.written, "path.value", "/")


def _clients(binding: Binding) -> str:
    """Return the namespace whose requests alone a route takes at its parent Service; "" for those of all.

    "ParentRefs from a Route to a Service in a different namespace are "consumer" routes, and these routing rules are
    only applied to outbound connections originating from the same namespace as the Route" (ParentReference.Namespace).
    """
    is_consumer = binding.parent.group_kind in PORT_HOLDERS and binding.parent.namespace != binding.route.namespace
    return binding.route.namespace if is_consumer else ""
