"""References of routes to parents that do not attach them: of all that refuse a route, the nearest miss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model.unknown import is_unknown
from kubectl_policy.model.world import grouped
from kubectl_policy.questions.shared.unattached import refusal
from kubectl_policy.topology.conditions import route_conditions
from kubectl_policy.topology.gateway.hostnames import intersect
from kubectl_policy.topology.gateway.listeners import ROUTES_BY_PROTOCOL
from kubectl_policy.topology.references import ROUTES, hostnames_of, parent_refs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import NodeRef, ObjectRef, Resource
    from kubectl_policy.questions.shared.reasons import Reason
    from kubectl_policy.topology import Binding

# How far a reference got, by the rules of `Reason`, the nearest miss last.
_STEPS: Final = (
    "not-delegated",
    "parent-missing",
    "parent-invalid",
    "listener-missing",
    "listener-port",
    "listener-set-refused",
    "listener-kind",
    "listener-namespace",
    "listener-hostname",
)


class Refusal(Struct, frozen=True, kw_only=True):
    """A parentRef of a route by which it is attached to nothing, or may not be; `position` is its index.

    `sort` says why, as the rules of `Reason` do: that of the nearest miss, for those `reasons` that agree with it and
    the `listeners` that give them, none if it is the parent itself. What is not `certain` may be wrong.
    """

    route: Resource
    position: int
    parent: ObjectRef
    sort: str
    reasons: tuple[Reason, ...]
    listeners: tuple[NodeRef, ...] = ()
    certain: bool = True

    @property
    def field(self) -> str:
        """Where the reference stands."""
        return f"spec.parentRefs[{self.position}]"

    @property
    def message(self) -> str:
        """Why the first one refuses the route."""
        return self.reasons[0].message

    @property
    def reason(self) -> str:
        """The API's own word for it."""
        return self.reasons[0].reason


def refusals(analysis: Analysis, routes: Iterable[Resource]) -> Iterator[Refusal]:
    """The parentRefs of routes that no listener takes, or of which that is not known, in the order of both.

    One that a listener takes which is not served itself is none: what is wrong is the listener.
    """
    for route in routes:
        by_position = grouped((each.parent_index, each) for each in analysis.topology.bindings(route.ref))
        for position, bindings in by_position.items():
            parent, index = bindings[0].parent, analysis.index
            # Of what is only taken to exist, nothing else is known.
            is_assumed = index.get(parent) is None and index.presence(parent) == "present"
            if not is_assumed and not any(each.counts_as_attached for each in bindings):
                yield _nearest(analysis, route, position, bindings)


def _nearest(analysis: Analysis, route: Resource, position: int, bindings: Sequence[Binding]) -> Refusal:
    doubts = [each for each in bindings if each.state == "unknown"]
    if doubts:
        sort = _doubtful(analysis, route, doubts[0])
        return _refusal(analysis, route, sort, doubts[:1], certain=False)
    if bindings[0].parent.group_kind not in ROUTES:
        # Of several reasons, this is the one that the controller reports.
        reported = route_conditions(analysis.topology, route.ref, position)[0].reason
        bindings = [each for each in bindings if each.reason == reported]
    sorts = [refusal(analysis, each).rule for each in bindings]
    nearest = max(sorts, key=_STEPS.index)
    misses = [each for each, sort in zip(bindings, sorts, strict=True) if sort == nearest]
    # What an implementation's own protocol serves is up to that.
    certain = nearest != "listener-kind" or not any(_is_own_protocol(analysis, each) for each in misses)
    return _refusal(analysis, route, nearest, misses, certain=certain)


def _refusal(analysis: Analysis, route: Resource, sort: str, bindings: Sequence[Binding], *, certain: bool) -> Refusal:
    return Refusal(
        route=route,
        position=bindings[0].parent_index,
        parent=bindings[0].parent,
        sort=sort,
        reasons=tuple(refusal(analysis, each) for each in bindings),
        listeners=tuple(each.listener for each in bindings if each.listener),
        certain=certain,
    )


def _is_own_protocol(analysis: Analysis, binding: Binding) -> bool:
    listener = analysis.topology.gateways.listener(binding.listener) if binding.listener else None
    return listener is not None and listener.protocol not in ROUTES_BY_PROTOCOL


def _doubtful(analysis: Analysis, route: Resource, binding: Binding) -> str:
    """What may be wrong with a reference of which it is not known whether it attaches the route."""
    index = analysis.index
    listener = analysis.topology.gateways.listener(binding.listener) if binding.listener else None
    if listener is None:
        return "parent-missing"
    parent = next(each for each in parent_refs(index, route.ref) if each.position == binding.parent_index)
    if is_unknown(parent.section) or isinstance(parent.port, str) or isinstance(listener.port, str):
        return "listener-missing"
    hostnames = hostnames_of(index, route.ref)
    if hostnames and listener.hostname and all(intersect(each, listener.hostname) is not True for each in hostnames):
        return "listener-hostname"
    return "listener-namespace"
