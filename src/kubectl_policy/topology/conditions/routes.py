"""What a conformant controller would report on a route, for each of its parents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import NodeRef
from kubectl_policy.topology.conditions.condition import Condition, unknown
from kubectl_policy.topology.gateway.ignored import INVALID_LISTENER
from kubectl_policy.topology.gateway.listeners import gateway_profile
from kubectl_policy.topology.references import HTTP_ROUTE, LISTENER_SETS, gateway_of, parent_refs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.profiles.implementation import GatewayProfile
    from kubectl_policy.topology.backends import Backend
    from kubectl_policy.topology.delegation.delegations import Delegation
    from kubectl_policy.topology.gateway.handshake import Binding
    from kubectl_policy.topology.graph import Topology

# How far a handshake got, nearest miss last: of several refusals the nearest miss is the one to report.
_NO_PARENT: Final = "NoMatchingParent"
_STEPS: Final = (_NO_PARENT, "NotAllowedByListeners", "NoMatchingListenerHostname", "UnsupportedValue")


def route_parent_conditions(topology: Topology, route: ObjectRef) -> tuple[tuple[NodeRef, tuple[Condition, ...]], ...]:
    """Every parent for which a route gets a status, with Accepted and ResolvedRefs.

    First the parents that it names, in their order, as it names them (with the section), unless they are known not to
    exist; then the routes that delegate to it without being named. A route is a parent only if it delegates: what its
    matches keep out, or what names other parents, gets no status from it.
    """
    delegated: dict[ObjectRef, list[Delegation]] = {}
    for found in topology.relations.delegating_to(route):
        if (found.takes or found.reason) and not topology.relations.is_unattached(found.parent.object):
            delegated.setdefault(found.parent.object, []).append(found)
    conditions: dict[NodeRef, tuple[Condition, ...]] = {}
    for parent in parent_refs(topology.index, route, topology.index.raw(route)):
        node = NodeRef(parent.object, parent.section)
        if parent.object.group_kind == HTTP_ROUTE:
            if parent.object in delegated:
                conditions[NodeRef(parent.object)] = _below(topology, route, delegated[parent.object])
        elif node not in conditions and not _unseen(topology, node):
            conditions[node] = route_conditions(topology, route, parent.position)
    for above in sorted(delegated):
        if NodeRef(above) not in conditions:
            conditions[NodeRef(above)] = _below(topology, route, delegated[above])
    return tuple(conditions.items())


def route_conditions(topology: Topology, route: ObjectRef, parent_index: int) -> tuple[Condition, ...]:
    """Accepted and ResolvedRefs for one entry of `spec.parentRefs` (RouteConditionType).

    Accepted is True if at least one listener takes the route, even if that one is conflicted and serves nothing.
    ResolvedRefs does not depend on Accepted.
    """
    return (_accepted(topology, route, parent_index), _resolved(topology.relations.backends(route)))


def _below(topology: Topology, route: ObjectRef, delegated: Iterable[Delegation]) -> tuple[Condition, ...]:
    """The conditions for a parent that delegates: only the rules that it reaches count."""
    sections = topology.sections(route)
    reached = {sections.index(rule) for found in delegated for rule in found.rules}
    refused = next((found for found in delegated if not found.takes), None)
    accepted = (
        Condition("Accepted", "False", refused.reason, refused.message)
        if refused
        else Condition("Accepted", "True", "Accepted")
    )
    return accepted, _resolved(backend for backend in topology.relations.backends(route) if backend.ref.rule in reached)


def _accepted(topology: Topology, route: ObjectRef, parent_index: int) -> Condition:
    bindings = [binding for binding in topology.bindings(route) if binding.parent_index == parent_index]
    if any(binding.is_counted for binding in bindings):
        # Where controllers ignore invalid listeners, one that would take the route is reported at all its parents.
        invalid = [binding for binding in topology.bindings(route) if binding.reason == INVALID_LISTENER]
        if invalid and any(_treatment(topology, binding).ignores_invalid for binding in bindings):
            return Condition("Accepted", "False", INVALID_LISTENER, invalid[0].message)
        return Condition("Accepted", "True", "Accepted")
    doubts = [binding.message for binding in bindings if binding.state == "unknown"]
    if doubts:
        return unknown("Accepted", "; ".join(dict.fromkeys(doubts)))
    reason = max((binding.reason for binding in bindings), key=_steps(topology, bindings).index, default=_NO_PARENT)
    messages = dict.fromkeys(binding.message for binding in bindings if binding.reason == reason)
    return Condition("Accepted", "False", reason, "; ".join(messages) or "the reference names no parent")


def _unseen(topology: Topology, parent: NodeRef) -> bool:
    """Whether a parent does not exist, or not to controllers: they ignore it, and no listener of it is named."""
    if topology.index.presence(parent.object) == "missing":
        return True
    found = None if parent.section else topology.relations.why_ignored(parent)
    return found is not None and found.reason == _NO_PARENT


def _steps(topology: Topology, bindings: Iterable[Binding]) -> tuple[str, ...]:
    """The reasons of refusals, the one last that is reported if several hold."""
    found = next((refusals for binding in bindings if (refusals := _treatment(topology, binding).refusals)), ())
    return (*(step for step in _STEPS if step not in found), *reversed(found))


def _treatment(topology: Topology, binding: Binding) -> GatewayProfile:
    """How the controller of a Gateway, or of a ListenerSet's, treats the routes that name it."""
    parent, raw = binding.parent, topology.index.raw(binding.parent)
    gateway = gateway_of(topology.index, parent, raw) if parent.group_kind in LISTENER_SETS else parent
    return gateway_profile(topology.index, topology.implementation, gateway)


def _resolved(found: Iterable[Backend]) -> Condition:
    backends = tuple(found)
    broken = [backend for backend in backends if backend.state == "broken"]
    if broken:
        messages = dict.fromkeys(backend.message for backend in broken)
        return Condition("ResolvedRefs", "False", broken[0].reason, "; ".join(messages))
    doubts = dict.fromkeys(backend.message for backend in backends if backend.state == "unknown")
    return unknown("ResolvedRefs", "; ".join(doubts)) if doubts else Condition("ResolvedRefs", "True", "ResolvedRefs")
