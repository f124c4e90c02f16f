"""Delegations: the routes and rules to which a rule delegates, and the reasons against others."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.kind_roles import GATEWAY, HTTP_ROUTE
from kubectl_policy.model.refs import NodeRef, ObjectRef, is_unnamed
from kubectl_policy.topology.delegation.flow import (
    Flow,
    Match,
    Order,
    RuleMatches,
    circle_phrase,
    follow_requests,
    loop_nodes,
    order_routes,
)
from kubectl_policy.topology.gateway.handshake import NO_PARENT, Binding
from kubectl_policy.topology.references import backend_refs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model.index import Index
    from kubectl_policy.topology.delegation.references import DelegatingRef
    from kubectl_policy.topology.gateway.gateways import Gateways


class Delegation(Struct, frozen=True, kw_only=True):
    """One rule of a parent route and one route that it refers to."""

    parent: NodeRef
    child: ObjectRef
    # The sections of the child that requests reach this way, in their order.
    rules: tuple[str, ...] = ()
    # What the status of a refused child says of this parent (RouteConditionReason); empty if it does not mention
    # it.
    reason: str = ""
    # Why the child is refused.
    message: str = ""

    @property
    def is_accepted(self) -> bool:
        """Whether requests get from the parent's rule to the child."""
        return not self.message


class Delegations:
    """All delegations of a snapshot, computed when one is asked for; nothing, if no reference delegates."""

    def __init__(self, gateways: Gateways, refs: Mapping[ObjectRef, tuple[DelegatingRef, ...]]) -> None:
        """Remember where to look; `refs` are the delegating references of each route that has some."""
        self._gateways, self.index = gateways, gateways.index
        self.refs = refs
        self._passing = RuleMatches(gateways.index)

    @cached_property
    def order(self) -> Order:
        """The order in which requests pass routes, and the references that would send them round in circles."""
        return order_routes(self.refs, self._passing.is_entered)

    @cached_property
    def _flow(self) -> Flow:
        return follow_requests(self._passing, self.refs, self.order)

    @cached_property
    def circular_refs(self) -> frozenset[tuple[ObjectRef, str]]:
        """The references that would send requests round in circles: each a route, and the field in it."""
        return frozenset((route, field) for route, field, _ in self.order.circles)

    def to(self, child: ObjectRef) -> tuple[Delegation, ...]:
        """Return the delegations to a route, also those that it is refused; in the order of their parents and rules."""
        return self._by_child.get(child, ()) if self.refs else ()

    def accepted(self) -> Iterator[Delegation]:
        """Return every delegation by which requests get from a route to another."""
        return (delegation for every in self._by_child.values() for delegation in every if delegation.is_accepted)

    def accepted_routes(self, ref: DelegatingRef) -> tuple[ObjectRef, ...]:
        """Return the routes that a reference really delegates to."""
        return tuple(
            child
            for child in ref.children
            if any(delegation.is_accepted and delegation.parent == ref.parent for delegation in self.to(child))
        )

    @cached_property
    def unreached_rules(self) -> frozenset[NodeRef]:
        """The rules that no request reaches, although one reaches their routes, or would."""
        return frozenset(rule for rule, coming in self._flow.matches.items() if not coming)

    def lacks_routes(self, ref: DelegatingRef) -> bool:
        """Whether requests reach a rule that refers to routes, and one of its matches finds none to go to."""
        rules = [rule for child in self.accepted_routes(ref) for rule in self._passing.rules(child)]
        coming = self._flow.matches.get(ref.parent, ())
        return any(not any(self._passing.on(ref, [match], rule) for rule in rules) for match in coming)

    def reaches(self, chain: Sequence[NodeRef], rule: NodeRef) -> bool:
        """Whether requests that come down a chain, through rules that delegate, reach a rule at its end."""
        rules = (node for node in chain if node.section and node.object.group_kind == HTTP_ROUTE)
        return bool(self._arriving((*rules, rule)))

    @cached_method
    def _arriving(self, rules: tuple[NodeRef, ...]) -> tuple[Match, ...]:
        """Return the matches with which requests that have passed rules in turn reach the last of them."""
        *before, rule = rules
        refs = [ref for ref in self._refs_of_rule(before[-1]) if rule.object in ref.children] if before else []
        coming = self._arriving(tuple(before)) if refs else ()
        matches = (match for ref in refs for match in self._passing.on(ref, coming, rule))
        return tuple(dict.fromkeys(matches)) if refs else self._passing.own(rule)

    def forwards_to(self, chain: Sequence[NodeRef], child: ObjectRef) -> bool:
        """Whether requests that come down a chain to a rule go on to a route; they do if the rule does not delegate.

        The controller of the Gateway on the chain has to be one that delegates this way.
        """
        controllers = [ref.profile.controllers for ref in self._refs_of_rule(chain[-1]) if child in ref.children]
        if not controllers:
            return True
        gateway = next((node.object for node in chain if node.object.group_kind == GATEWAY), None)
        controller = self._gateways.controller_of(gateway) if gateway else ""
        if controller and not any(not known or controller in known for known in controllers):
            return False
        return any(self.reaches(chain, rule) for rule in self._passing.rules(child))

    def may_apply_to(self, owner: ObjectRef) -> bool:
        """Whether routes may delegate below a Gateway or ListenerSet: its controller does so, or is not known."""
        controller = self._gateways.controller_of(owner)
        return not controller or any(not known or controller in known for known in self._controllers)

    @cached_property
    def _controllers(self) -> frozenset[frozenset[str]]:
        return frozenset(ref.profile.controllers for refs in self.refs.values() for ref in refs)

    @cached_property
    def loops(self) -> tuple[tuple[NodeRef, ...], ...]:
        """The routes and rules that requests would pass again and again."""
        return loop_nodes(self.refs, self.order)

    def _refs_of_rule(self, rule: NodeRef) -> Iterator[DelegatingRef]:
        return (ref for ref in self.refs.get(rule.object, ()) if ref.parent == rule)

    @cached_property
    def _by_child(self) -> Mapping[ObjectRef, tuple[Delegation, ...]]:
        by_parent: dict[ObjectRef, dict[NodeRef, Delegation]] = {}
        for refs in self.refs.values():
            for ref in refs:
                for child in (*ref.children, *ref.foreign_routes):
                    known = by_parent.setdefault(child, {}).get(ref.parent)
                    if known is None or not known.is_accepted:
                        by_parent[child][ref.parent] = self._outcome(ref, child)
        return {child: tuple(every.values()) for child, every in by_parent.items()}

    def _outcome(self, ref: DelegatingRef, child: ObjectRef) -> Delegation:
        rules: tuple[str, ...] = ()
        reason = message = ""
        named = not is_unnamed(ref.parent.section)
        where = f"{'rule ' if named else ''}{ref.parent.section} of {ref.parent.object}"
        coming = self._flow.matches.get(ref.parent, ())
        if child in ref.foreign_routes:
            message = f"{where} refers to it, but it names other parents"
        elif ref.key in self.order.circles:
            message = f"a request from {where} would loop: {circle_phrase(self.order.circles[ref.key])}"
        elif child in self._flow.over_limit:
            message = f"too many paths lead to it through other routes; the one from {where} is not followed"
        elif not coming:
            message = f"no request reaches {where}, which refers to it"
        else:
            rules = tuple(rule.section for rule in self._passing.rules(child) if self._passing.on(ref, coming, rule))
            if not rules:
                message = f"none of its matches lies inside those of {where}"
            elif self._passing.has_hostnames(child):
                rules, reason = (), "UnsupportedValue"
                message = f"{where} refers to it, but it has hostnames, which only the route above may have"
        return Delegation(parent=ref.parent, child=child, rules=rules, reason=reason, message=message)


def delegated_binding(index: Index, delegations: Iterable[Delegation], binding: Binding) -> Binding:
    """Return the binding of a route to a parent route, by the delegations to it."""
    parent = binding.parent
    if index.presence(parent) == "missing":
        return replace(binding, state="refused", reason=NO_PARENT, message=f"{parent} does not exist")
    if index.is_content_unknown(parent):
        return replace(binding, message=index.absence.message(parent))
    of_parent = [delegation for delegation in delegations if delegation.parent.object == parent]
    if any(delegation.is_accepted for delegation in of_parent):
        return replace(binding, state="attached", message="", is_delegated=True)
    if of_parent:
        refused = max(of_parent, key=lambda delegation: bool(delegation.reason))
        return replace(binding, state="refused", reason=refused.reason, message=refused.message)
    if any(ref.object == binding.route for ref in backend_refs(index, parent)):
        return binding
    return replace(binding, state="refused", reason=NO_PARENT, message=f"no rule of {parent} delegates to it")
