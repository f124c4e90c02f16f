"""The routes of one state at their listeners: hostnames, rules with their weights, and owners."""

from __future__ import annotations

import json
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.lazy import cached_method
from kubectl_policy.model import Json, NodeRef, ObjectRef
from kubectl_policy.model.fields import integer_at, items_at, labels_of, mapping_at, text_at
from kubectl_policy.model.kind_roles import ABOVE_ROUTES, GATEWAY, GATEWAY_CLASS, LISTENER_HOLDERS, NAMESPACE, ROUTES
from kubectl_policy.model.world import grouped
from kubectl_policy.topology import Path, attached_hostnames
from kubectl_policy.topology.gateway.certificates import certificate_refs

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.questions.shared.failing_routes import FailingRoute
    from kubectl_policy.topology.backends import Backend

# What a filter of a rule names, with what is known of it.
_Named: TypeAlias = "tuple[ObjectRef, PolicyKindProfile | None]"
# The least status of a response that says that a request failed.
_ERROR: Final = 400


class RuleAnswers(Struct, frozen=True, kw_only=True):
    """A rule of a route and how many of its requests are answered, by the weights of its backends."""

    rule: NodeRef
    matches: tuple[Json, ...]
    # Of a rule that answers by itself, or delegates, 1 of 1.
    answered: int
    total: int
    broken: tuple[Backend, ...] = ()
    """The references that lead nowhere."""
    invalid: str = ""
    """Why none is answered, if a policy that is not valid, or a filter, is the reason."""
    status: int = 0
    """The HTTP status with which a filter answers the requests; 0 if no filter does."""

    def shares_requests(self, rival: RuleAnswers) -> bool:
        """Whether another rule, of the same route in another state, has some of the same matches; all, without any."""
        mine, theirs = (
            {json.dumps(match, sort_keys=True) for match in rule.matches or ({},)} for rule in (self, rival)
        )
        return not mine.isdisjoint(theirs)


class Serving:
    """Routes of one state with the requests that they answer; computed on demand."""

    def __init__(self, analysis: Analysis, failing: Iterable[FailingRoute] = ()) -> None:
        """Remember where to look, and which routes fail for a policy."""
        self.analysis = analysis
        self._failing = grouped((failure.route, failure) for failure in failing)
        self.topology = analysis.topology
        # The hostnames of a route at a listener, `*` for every host; none at what is no listener.
        self.hostnames: Callable[[NodeRef, ObjectRef], tuple[str, ...]] = cache(
            partial(attached_hostnames, analysis.topology)
        )

    @cached_method
    def listeners(self, route: ObjectRef) -> Mapping[NodeRef, bool]:
        """The listeners, or parents without any, where requests come to a route, and whether that is certain."""
        listeners: dict[NodeRef, bool] = {}
        for binding in self.topology.bindings(route):
            listener = binding.listener or NodeRef(binding.parent)
            if binding.state != "refused" and not binding.is_delegated and not self.is_dark(listener):
                listeners[listener] = listeners.get(listener, False) or binding.state == "attached"
        for listener in self._by_delegation(route):
            listeners[listener] = True
        if route not in self._failing:
            return listeners
        rules = {NodeRef(route, rule) for rule in self.topology.sections(route)}
        failing = [path for failure in self._failing[route] for path in failure.paths]
        answering = {
            listener: certain
            for listener, certain in listeners.items()
            if not rules or not rules.issubset(path[-1] for path in failing if listener in path)
        }
        # Where all of them fail, the rules say so.
        return answering or listeners

    def _invalid(self, rule: NodeRef) -> str:
        """Explain why every request that a rule takes fails, if that is for a policy; empty if it is not."""
        failing = self._failing.get(rule.object)
        if not failing:
            return ""
        paths = {path for failure in failing for path in failure.paths if path[-1] == rule}
        at = {listener for listener in self.listeners(rule.object) if any(listener in path for path in paths)}
        if not at or at != {*self.listeners(rule.object)}:
            return ""
        first = next(failure for failure in failing if rule in failure.rules)
        return f"{first.policy} is not valid: {first.message}"

    def _by_delegation(self, route: ObjectRef) -> list[NodeRef]:
        if not [delegation for delegation in self.topology.relations.delegations_to(route) if delegation.is_accepted]:
            return []
        paths = [path for path in self.topology.paths(NodeRef(route)) if self.topology.carries_traffic(path)]
        listeners = (
            next((node for node in reversed(path) if node.section and node.object.group_kind in LISTENER_HOLDERS), None)
            for path in paths
        )
        return [node for node in dict.fromkeys(listeners) if node and not self.is_dark(node)]

    @cached_method
    def is_dark(self, node: NodeRef) -> bool:
        """Whether a node is a listener that is to terminate TLS and has no certificate that it could do so with."""
        listener = self.topology.gateways.listener(node)
        refs = list(certificate_refs(self.topology.gateways, listener)) if listener else []
        return bool(refs) and all(ref.problem and ref.problem.certain for ref in refs)

    def gateway(self, listener: NodeRef) -> ObjectRef:
        """The Gateway that a place belongs to, or what else it is part of."""
        return self.topology.gateways.gateway_of(listener.object) or listener.object

    @cached_method
    def rules(self, route: ObjectRef) -> tuple[RuleAnswers, ...]:
        """The rules of a route in their order."""
        raws = items_at(self.analysis.index.defaulted(route), "spec.rules")
        backends: list[list[Backend]] = [[] for _ in raws]
        for backend in self.topology.backends(route):
            if backend.ref.forwards:
                backends[backend.ref.rule].append(backend)
        filters: list[list[_Named]] = [[] for _ in raws]
        every = self.topology.relations.filters_of(route)
        for named in every:
            if not named.backend:
                known = self.analysis.registry.profile_of(named.object.group_kind)
                filters[named.rule].append((named.object, known))
        of_rules = zip(self.topology.sections(route), raws, backends, filters, strict=True)
        rules = [
            (_rule(NodeRef(route, name), raw, led_to, by_itself=self._answers_itself(raw, named)), named)
            for name, raw, led_to, named in of_rules
        ]
        may_end = bool(every or route in self._failing)
        return tuple([self._ended(rule, named) if may_end else rule for rule, named in rules])

    def _answers_itself(self, raw: Json, named: Collection[_Named]) -> bool:
        """Whether requests to a rule are answered before they get to its backends, or may be: by what is not known."""
        filters = items_at(raw, "filters")
        if not filters:
            return False
        types = [text_at(filter_, "type") for filter_ in filters]
        return (
            "RequestRedirect" in types
            or types.count("ExtensionRef") > len(named)
            or any(
                profile is None or profile.role != "filter" or self._status(obj, profile) is not None
                for obj, profile in named
            )
        )

    def _status(self, obj: ObjectRef, profile: PolicyKindProfile) -> int | None:
        """The status with which a filter answers requests; None if it lets them through."""
        return integer_at(self.analysis.index.defaulted(obj), f"spec.{profile.answers}") if profile.answers else None

    def _ended(self, rule: RuleAnswers, named: Iterable[_Named]) -> RuleAnswers:
        """A rule as it is if all of its requests fail, for a policy that is not valid or for what its filters name."""
        invalid = self._invalid(rule.rule)
        if invalid:
            return replace(rule, answered=0, invalid=invalid)
        # "Requests that would have been processed by that filter MUST receive a HTTP error response" if it is missing
        # (HTTPRouteFilter, type ExtensionRef); of policies that filters name, implementations differ.
        for obj, profile in named:
            is_filter = profile is None or profile.role == "filter"
            fails = is_filter or (profile is not None and profile.when_invalid == "errors")
            if fails and self.analysis.index.presence(obj) == "missing":
                return replace(rule, answered=0, invalid=f"{obj} does not exist")
            status = self._status(obj, profile) if profile and is_filter else None
            attached = (
                reference.target
                for reference in self.analysis.attachments.get(obj, ())
                if reference.state == "attached"
            )
            if status is not None and status >= _ERROR and rule.rule in attached:
                return replace(rule, answered=0, invalid=f"{obj} answers them", status=status)
        return rule


def _rule(node: NodeRef, raw: Json, backends: list[Backend], *, by_itself: bool) -> RuleAnswers:
    matches = tuple(items_at(raw, "matches"))
    if by_itself:
        return RuleAnswers(rule=node, matches=matches, answered=1, total=1)
    answered, total = 0, 0
    broken: list[Backend] = []
    for backend in backends:
        weight = 1 if backend.routes is not None else backend.ref.weight
        total += weight
        # A reference by which only some of the matches find a route leads somewhere.
        if weight and backend.state == "broken" and not backend.routes:
            broken.append(backend)
        else:
            answered += weight
    return RuleAnswers(rule=node, matches=matches, answered=answered, total=total, broken=tuple(broken))


class RouteBehind(Struct, frozen=True, kw_only=True):
    """A route whose requests come through some listeners."""

    route: Annotated[ObjectRef, Meta(description="The route.")]
    hostnames: Annotated[
        tuple[str, ...], Meta(description="The hostnames of the route at these listeners; `*` for any.")
    ]
    listeners: Annotated[tuple[NodeRef, ...], Meta(description="The listeners.")]
    owner: Annotated[
        str, Meta(description="The owner of the route; empty if the route names none, and without --owner.")
    ]


def routes_behind(analysis: Analysis, nodes: Iterable[NodeRef], owner_key: str = "") -> tuple[RouteBehind, ...]:
    """The routes behind some nodes, sorted; none if a node is of another kind, so that there is more than these."""
    through = tuple(nodes)
    if not all(node.object.group_kind in ABOVE_ROUTES for node in through):
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


def owner(index: Index, ref: ObjectRef, key: str) -> str:
    """Return the owner by the label or annotation of an object, else of its Namespace; empty if neither names one."""
    for obj in (ref, ObjectRef(NAMESPACE, "", ref.namespace)):
        raw = index.defaulted(obj)
        named = labels_of(raw).get(key) or mapping_at(raw, "metadata.annotations").get(key)
        if isinstance(named, str) and named:
            return named
    return ""
