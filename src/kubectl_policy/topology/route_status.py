"""What a conformant controller would report on a route, for each of its parents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.topology.status import Condition, unknown

if TYPE_CHECKING:
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.topology.graph import Topology

# How far a handshake got, nearest miss last: of several refusals the nearest miss is the one to report.
_STEPS: Final = ("NoMatchingParent", "NotAllowedByListeners", "NoMatchingListenerHostname")


def route_conditions(topology: Topology, route: ObjectRef, parent_index: int) -> tuple[Condition, ...]:
    """Accepted and ResolvedRefs for one entry of `spec.parentRefs` (RouteConditionType).

    Accepted is True if at least one listener takes the route, even if that one is conflicted and serves nothing.
    ResolvedRefs does not depend on Accepted.
    """
    return (_accepted(topology, route, parent_index), _resolved(topology, route))


def _accepted(topology: Topology, route: ObjectRef, parent_index: int) -> Condition:
    bindings = [binding for binding in topology.bindings(route) if binding.parent_index == parent_index]
    if any(binding.is_counted for binding in bindings):
        return Condition("Accepted", "True", "Accepted")
    doubts = [binding.message for binding in bindings if binding.state == "unknown"]
    if doubts:
        return unknown("Accepted", "; ".join(dict.fromkeys(doubts)))
    reason = max((binding.reason for binding in bindings), key=_STEPS.index, default="NoMatchingParent")
    messages = dict.fromkeys(binding.message for binding in bindings if binding.reason == reason)
    return Condition("Accepted", "False", reason, "; ".join(messages) or "the reference names no parent")


def _resolved(topology: Topology, route: ObjectRef) -> Condition:
    backends = topology.relations.backends(route)
    broken = [backend for backend in backends if backend.state == "broken"]
    if broken:
        messages = dict.fromkeys(backend.message for backend in broken)
        return Condition("ResolvedRefs", "False", broken[0].reason, "; ".join(messages))
    doubts = dict.fromkeys(backend.message for backend in backends if backend.state == "unknown")
    return unknown("ResolvedRefs", "; ".join(doubts)) if doubts else Condition("ResolvedRefs", "True", "ResolvedRefs")
