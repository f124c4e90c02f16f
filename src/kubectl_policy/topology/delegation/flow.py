"""With which matches requests come to the rules of routes that delegate to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.model import NodeRef
from kubectl_policy.model.fields import strings_at
from kubectl_policy.topology.delegation.matches import MOST_MATCHES, inherits, matches_of, passed_on
from kubectl_policy.topology.references import HTTP_ROUTE, parent_refs, rule_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.model.index import Index
    from kubectl_policy.topology.delegation.matches import Match
    from kubectl_policy.topology.delegation.order import Order
    from kubectl_policy.topology.delegation.references import DelegatingRef

# More than anybody has. Where routes delegate to routes, input decides how many ways there are, and they multiply.
_MOST_WAYS: Final = 1_000


class Flow(NamedTuple):
    """The matches with which requests come to each rule, and the `crowded` routes, to which there are too many ways."""

    matches: dict[NodeRef, tuple[Match, ...]]
    crowded: set[ObjectRef]


class Passing:
    """What of the requests that come to one rule gets to another, as the objects have it."""

    def __init__(self, index: Index) -> None:
        """Remember where to look."""
        self._index = index
        self._own: dict[NodeRef, tuple[Match, ...]] = {}

    def on(self, ref: DelegatingRef, coming: Sequence[Match], rule: NodeRef) -> tuple[Match, ...]:
        """The matches with which requests get by way of a reference to a rule of a route that it stands for."""
        inherit = inherits(self._index.raw(rule.object), ref.profile.inherit_matches)
        return passed_on(coming, self.own(rule), inherit=inherit)

    def own(self, rule: NodeRef) -> tuple[Match, ...]:
        """The matches that a rule has itself."""
        if rule not in self._own:
            raw = self._index.raw(rule.object)
            self._own[rule] = matches_of(raw, rule_names(raw).index(rule.section))
        return self._own[rule]

    def rules(self, route: ObjectRef) -> list[NodeRef]:
        """The rules of a route."""
        return [NodeRef(route, name) for name in rule_names(self._index.raw(route))]

    def has_hostnames(self, route: ObjectRef) -> bool:
        """Whether a route names hostnames, and so is nobody's to delegate to."""
        return bool(strings_at(self._index.raw(route), "spec.hostnames"))

    def is_entered(self, route: ObjectRef) -> bool:
        """Whether requests may come to a route otherwise than by delegation: it names a parent that is no route."""
        parents = parent_refs(self._index, route, self._index.raw(route))
        return any(parent.object.group_kind != HTTP_ROUTE for parent in parents)


def flow(passing: Passing, refs: Mapping[ObjectRef, tuple[DelegatingRef, ...]], order: Order) -> Flow:
    """Follow requests from the top down, past every route once."""
    above: dict[ObjectRef, list[DelegatingRef]] = {}
    for found in refs.values():
        for ref in found:
            for child in ref.children if ref.place not in order.circles else ():
                above.setdefault(child, []).append(ref)
    result = Flow({}, set())
    ways: dict[ObjectRef, int] = {}
    for route in order.routes:
        coming = [] if passing.has_hostnames(route) else above.get(route, [])
        ways[route] = 1 + sum(ways[rule.object] for rule in {ref.parent for ref in coming})
        matches = _matches(passing, route, coming, result)
        if ways[route] > _MOST_WAYS or sum(map(len, matches.values())) > MOST_MATCHES:
            result.crowded.add(route)
            ways[route], matches = 1, _matches(passing, route, [], result)
        result.matches.update(matches)
    return result


def _matches(
    passing: Passing, route: ObjectRef, coming: Sequence[DelegatingRef], known: Flow
) -> dict[NodeRef, tuple[Match, ...]]:
    """The matches with which requests reach each rule of a route; its own where nothing is above it."""
    own = passing.is_entered(route) or not coming
    found: dict[NodeRef, tuple[Match, ...]] = {}
    for rule in passing.rules(route):
        passed = [passing.on(ref, known.matches.get(ref.parent, ()), rule) for ref in coming]
        every = [passing.own(rule), *passed] if own else passed
        found[rule] = tuple(dict.fromkeys(match for matches in every for match in matches))
    return found
