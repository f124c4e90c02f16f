"""ParentRefs that attach a route to nothing, with the nearest miss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model.kind_roles import ROUTES
from kubectl_policy.model.unknown import is_unknown
from kubectl_policy.model.world import grouped
from kubectl_policy.questions.shared.reasons import Reason, binding_reason
from kubectl_policy.topology.conditions import route_conditions
from kubectl_policy.topology.gateway.hostnames import have_common_hostname
from kubectl_policy.topology.gateway.listeners import ROUTES_BY_PROTOCOL
from kubectl_policy.topology.references import hostnames_of, parent_refs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import NodeRef, ObjectRef, Resource
    from kubectl_policy.topology import Binding

# The rules of `Reason`, the nearest miss last.
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


class ParentRefusal(Struct, frozen=True, kw_only=True):
    """A parentRef that attaches its route to nothing, or may not attach it."""

    route: Resource
    position: int
    """The index of the parentRef."""
    parent: ObjectRef
    sort: str
    """The rule of the nearest miss, as in `Reason`."""
    reasons: tuple[Reason, ...]
    """The reasons with that rule."""
    listeners: tuple[NodeRef, ...]
    """The listeners that give these reasons; none if it is the parent itself."""
    certain: bool

    @property
    def field(self) -> str:
        """The path of the parentRef."""
        return f"spec.parentRefs[{self.position}]"

    @property
    def message(self) -> str:
        """The message of the first reason."""
        return self.reasons[0].message

    @property
    def reason(self) -> str:
        """The API's reason."""
        return self.reasons[0].reason


def refusals(analysis: Analysis, routes: Iterable[Resource]) -> Iterator[ParentRefusal]:
    """Yield the parentRefs that no listener accepts, or may not accept, in order.

    A parentRef that is accepted by a listener that is not served is not refused.
    """
    for route in routes:
        by_position = grouped((binding.parent_index, binding) for binding in analysis.topology.bindings(route.ref))
        for position, bindings in by_position.items():
            parent, index = bindings[0].parent, analysis.index
            # Of what is only taken to exist, nothing else is known.
            is_assumed = index.get(parent) is None and index.presence(parent) == "present"
            if not is_assumed and not any(binding.counts_as_attached for binding in bindings):
                yield _nearest(analysis, route, position, bindings)


def _nearest(analysis: Analysis, route: Resource, position: int, bindings: Sequence[Binding]) -> ParentRefusal:
    doubts = [binding for binding in bindings if binding.state == "unknown"]
    if doubts:
        bindings = doubts[:1]
    elif bindings[0].parent.group_kind not in ROUTES:
        # The controller reports one of several reasons.
        reported = route_conditions(analysis.topology, route.ref, position)[0].reason
        bindings = [binding for binding in bindings if binding.reason == reported]
    reasons = [binding_reason(analysis, binding) for binding in bindings]
    rules = [reason.rule for reason in reasons]
    sort = _doubtful(analysis, route, doubts[0]) if doubts else max(rules, key=_STEPS.index)
    misses = [pair for pair in zip(bindings, reasons, strict=True) if doubts or pair[1].rule == sort]
    nodes = tuple(binding.listener for binding, _ in misses if binding.listener)
    # The route kinds of an implementation-specific protocol are unknown.
    listeners = map(analysis.topology.gateways.listener, nodes if sort == "listener-kind" else ())
    is_own_protocol = any(listener and listener.protocol not in ROUTES_BY_PROTOCOL for listener in listeners)
    return ParentRefusal(
        route=route,
        position=position,
        parent=bindings[0].parent,
        sort=sort,
        reasons=tuple(reason for _, reason in misses),
        listeners=nodes,
        certain=not (doubts or is_own_protocol),
    )


def _doubtful(analysis: Analysis, route: Resource, binding: Binding) -> str:
    """Return the rule that an undecided binding may violate."""
    index = analysis.index
    listener = analysis.topology.gateways.listener(binding.listener) if binding.listener else None
    if listener is None:
        return "parent-missing"
    parent = next(ref for ref in parent_refs(index, route.ref) if ref.position == binding.parent_index)
    if is_unknown(parent.section) or isinstance(parent.port, str) or isinstance(listener.port, str):
        return "listener-missing"
    hostnames = hostnames_of(index, route.ref)
    if (
        hostnames
        and listener.hostname
        and all(have_common_hostname(name, listener.hostname) is not True for name in hostnames)
    ):
        return "listener-hostname"
    return "listener-namespace"
