"""Handshakes of routes and listeners (GEP-724): which listeners a route attaches to, and why not to the others."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.lazy import cached_method
from kubectl_policy.model import GroupKind, NodeRef, ObjectRef, Problem
from kubectl_policy.model.kind_roles import (
    LISTENER_HOLDERS,
    PORT_HOLDERS,
    ROUTES_WITH_HOSTNAMES,
)
from kubectl_policy.model.refs import shown_namespace
from kubectl_policy.model.unknown import Port, is_unknown_hostname, may_be_port, may_be_section, may_equal
from kubectl_policy.topology.gateway.hostnames import Hostnames, hostnames_in
from kubectl_policy.topology.gateway.listeners import CONFLICTS, MAX_LISTENERS, Listener
from kubectl_policy.topology.gateway.terms import UNFILLED, ListenerTerms, Terms, unfilled_problem, unread_problem
from kubectl_policy.topology.references import ParentRef, hostnames_of, parent_refs, port_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.topology.gateway.gateways import Gateways

BindingState: TypeAlias = Literal["attached", "refused", "unknown"]
# The reasons for which a route is not attached: its parent is not there, or the listener is not valid itself.
NO_PARENT: Final = "NoMatchingParent"
INVALID_LISTENER: Final = "InvalidListener"
# So many hostnames of a route are named at each listener that has none of them.
_MAX_NAMES: Final = 20
_WITH_HOSTNAME: Final = ("HTTP", "HTTPS", "TLS")


class Binding(Struct, frozen=True, kw_only=True):
    """The outcome of one parentRef of a route at one listener, or at a parent as a whole."""

    route: ObjectRef
    parent_index: int
    parent: ObjectRef
    # The listener, or the port of a parent Service; None if the outcome is about the parent itself.
    listener: NodeRef | None
    state: BindingState
    # The API's reason of a refusal: of the route (RouteConditionReason), of a conflict (ListenerConditionReason),
    # or that the listener would take the route but is invalid itself.
    reason: str = ""
    # Why the route is not attached, in a sentence.
    message: str = ""
    # Whether the parent is a route that delegates to this one.
    is_delegated: bool = False
    # Whether the outcome is unknown because something in the manifests is to be filled in.
    is_unfilled: bool = False

    @property
    def counts_as_attached(self) -> bool:
        """Whether status counts the route as attached, be it to a listener that carries no traffic.

        "Listener or Route status does not impact successful attachment, i.e. the AttachedRoutes field count MUST be set
        for Listeners with condition Accepted: false" (ListenerStatus.AttachedRoutes).
        """
        return self.state == "attached" or self.reason in {*CONFLICTS, INVALID_LISTENER}

    def unless_ignored(self, ignored: Problem | None) -> Binding:
        """Return the binding as refused if the controller ignores the Gateway or listener."""
        if ignored is None or (ignored.reason == INVALID_LISTENER and not self.counts_as_attached):
            return self
        return replace(self, state="refused", reason=ignored.reason, message=ignored.message)


class Handshakes:
    """The handshakes of routes and listeners in one snapshot."""

    def __init__(self, gateways: Gateways) -> None:
        """Remember where to look."""
        self._gateways = gateways
        self._terms: dict[tuple[NodeRef, GroupKind, str], Terms] = {}

    def of(self, route: ObjectRef, *, of_other_hosts: bool = False) -> Iterator[Binding]:
        """Yield the bindings of a route, in the order of its parentRefs and of the listeners of each parent.

        A parentRef by which any listener takes the route, or may, does not mean the listeners that have none of its
        hostnames: these are left out, unless `of_other_hosts` asks for them.
        """
        for parent in parent_refs(self._gateways.index, route):
            yield from self.follow(route, parent, of_other_hosts=of_other_hosts)

    def follow(self, route: ObjectRef, parent: ParentRef, *, of_other_hosts: bool = False) -> Iterator[Binding]:
        """Yield the bindings of a route by one parentRef, which it has or could have, as `of` does."""
        return _Handshake(self._gateways, self, route, parent, of_other_hosts).outcomes()

    @cached_method
    def hostnames_at(self, parent: ObjectRef) -> Hostnames:
        """Return the hostnames by which the listeners of a parent take routes, in the order of the listeners."""
        listeners = self._gateways.listeners(parent)
        return Hostnames([listener.hostname if _is_for_hosts(listener) else "" for listener in listeners])

    @cached_method
    def absent(self, parent: ObjectRef) -> Problem | None:
        """Return the problem of a parent that is missing, unread or of an unknown kind; None if it is known.

        Of a Gateway that is only assumed to exist, the listeners are not known; a Service is a parent as a whole.
        """
        index = self._gateways.index
        presence = index.presence(parent)
        if not self._gateways.is_route_parent(parent.group_kind):
            return unread_problem(f"it is not known how routes attach to {parent.group_kind}")
        if presence == "missing":
            return Problem(message=f"{parent} does not exist", reason=NO_PARENT)
        is_known = presence == "present" and (parent.group_kind in PORT_HOLDERS or index.world.has(parent))
        return None if is_known else unread_problem(index.absence.message(parent))

    def terms(self, listener: Listener, kind: GroupKind, namespace: str) -> Terms:
        """Return the terms of a listener for every route of a kind in a namespace."""
        key = (listener.node, kind, namespace)
        if key not in self._terms:
            self._terms[key] = ListenerTerms(self._gateways, listener, kind, namespace).terms()
        return self._terms[key]


class _Handshake(Struct, frozen=True):
    """One parentRef being followed."""

    gateways: Gateways
    handshakes: Handshakes
    route: ObjectRef
    parent: ParentRef
    of_other_hosts: bool

    def outcomes(self) -> Iterator[Binding]:
        absent = self.handshakes.absent(self.parent.object)
        if absent:
            yield self._outcome(absent)
        elif self.parent.object.group_kind in PORT_HOLDERS:
            yield self._at_service()
        elif self.parent.object.group_kind in LISTENER_HOLDERS:
            yield from self._at_listeners()
        else:
            yield self._outcome(self._whole_parent_problem())

    def _outcome(self, problem: Problem | None, listener: NodeRef | None = None) -> Binding:
        route, position, parent = self.route, self.parent.position, self.parent.object
        if problem is None:
            return Binding(route=route, parent_index=position, parent=parent, listener=listener, state="attached")
        unfilled = problem.reason == UNFILLED
        return Binding(
            route=route,
            parent_index=position,
            parent=parent,
            listener=listener,
            state="refused" if problem.certain else "unknown",
            reason="" if unfilled else problem.reason,
            message=problem.message,
            is_unfilled=unfilled,
        )

    def _at_service(self) -> Binding:
        """Bind a parent Service: "When Port is specified, ... SectionName: Port name" (ParentReference.SectionName)."""
        parent, picked = self.parent, _selection_phrase(self.parent)
        index = self.gateways.index
        ports = port_names(index.defaulted(parent.object))
        picks = {name: _selects(parent, name, port) for port, name in ports.items()}
        wanted = [name for name, verdict in picks.items() if verdict]
        # A Service that is only assumed to exist may have any port.
        if not picked or not index.world.has(parent.object):
            return self._outcome(None)
        if wanted:
            return self._outcome(None, NodeRef(parent.object, wanted[0]))
        if None in picks.values():
            return self._outcome(unfilled_problem(f"which port of {parent.object} {picked} is cannot be known yet"))
        message = f"{parent.object} has no {picked}; {_inventory_phrase('port', list(ports.values()))}"
        return self._outcome(Problem(message=message, reason=NO_PARENT))

    def _whole_parent_problem(self) -> Problem | None:
        """Return the problem with a parent of another kind, which is named as a whole, in the route's namespace."""
        parent, home, picked = self.parent.object, self.route.namespace, _selection_phrase(self.parent)
        if picked:
            return Problem(message=f"routes attach to {parent} as a whole, not to {picked} of it", reason=NO_PARENT)
        if parent.namespace == home:
            return None
        message = f"{parent} takes only routes of its own namespace, not of {shown_namespace(home)}"
        if may_equal(parent.namespace, home):
            return unfilled_problem(f"{message}, if these are not the same")
        return Problem(message=message, reason=NO_PARENT)

    def _at_listeners(self) -> Iterator[Binding]:
        every = self.gateways.listeners(self.parent.object)
        near = every if self.of_other_hosts else self._of_its_hosts(every)
        outcomes = [*self._at_picked(near)]
        if len(near) < len(every) and not any(each.state == "unknown" or each.counts_as_attached for each in outcomes):
            outcomes = [*self._at_picked(self._with_others(near, every))]
        yield from outcomes
        if not outcomes:
            names = [f"{listener.node.section} ({listener.port})" for listener in every]
            picked = _selection_phrase(self.parent)
            label = f"listener {picked}" if picked else "listener"
            message = f"{self.parent.object} has no {label}; {_inventory_phrase('listener', names)}"
            yield self._outcome(Problem(message=message, reason=NO_PARENT))

    def _of_its_hosts(self, listeners: Sequence[Listener]) -> Sequence[Listener]:
        """Return the listeners that have, or may have, a hostname in common with the route."""
        hostnames = self._hostnames if self.route.group_kind in ROUTES_WITH_HOSTNAMES else ()
        if not hostnames or len(listeners) == 1:
            return listeners
        candidates = self.handshakes.hostnames_at(self.parent.object).candidates(hostnames)
        near = (listeners[position] for position in candidates)
        return [listener for listener in near if self._common_hostname(listener) is not False]

    def _with_others(self, near: Sequence[Listener], every: Sequence[Listener]) -> Sequence[Listener]:
        """Return some listeners and others that the parentRef picks, no more than an API server accepts."""
        names = {listener.node.section for listener in near}
        picked = (
            listener.node.section
            for listener in every
            if listener.node.section not in names
            and _selects(self.parent, listener.node.section, listener.port) is not False
        )
        names.update([*islice(picked, MAX_LISTENERS)])
        return [listener for listener in every if listener.node.section in names]

    def _at_picked(self, listeners: Iterable[Listener]) -> Iterator[Binding]:
        for listener in listeners:
            verdict = _selects(self.parent, listener.node.section, listener.port)
            if verdict:
                yield self._outcome(self._problem(listener), listener.node)
            elif verdict is None:
                picked = _selection_phrase(self.parent)
                message = f"whether {picked} is {listener} cannot be known yet: it contains a placeholder"
                yield self._outcome(unfilled_problem(message), listener.node)

    def _problem(self, listener: Listener) -> Problem | None:
        """Return the problem that keeps the route from a listener, certain ones first; None if it attaches."""
        terms = self.handshakes.terms(listener, self.route.group_kind, self.route.namespace)
        if terms.refusal:
            return terms.refusal
        common = self._common_hostname(listener)
        if common is False:
            message = self._hostname_phrase(listener, ("does not match", "do not match"))
            return Problem(message=message, reason="NoMatchingListenerHostname")
        claimed = self._claimed_names(listener)
        if claimed:
            message = f"other listeners on the port of {listener} have its hostname{'s' * (len(claimed) > 1)}"
            return Problem(message=f"{message} {', '.join(claimed)}", reason="NoMatchingListenerHostname")
        if not terms.doubt and common is None:
            phrase = self._hostname_phrase(listener, ("matches", "match"))
            message = f"whether {phrase} cannot be known yet: a name contains a placeholder"
            return unfilled_problem(message)
        return terms.doubt or terms.conflict

    def _common_hostname(self, listener: Listener) -> bool | None:
        """Whether the route and a listener have a hostname in common; None if that is not known."""
        if not listener.hostname or self.route.group_kind not in ROUTES_WITH_HOSTNAMES:
            return True
        hostnames = self._hostnames
        if not hostnames or not _is_for_hosts(listener):
            return True
        return hostnames_in(hostnames).have_common_hostname(listener.hostname)

    def _claimed_names(self, listener: Listener) -> Sequence[str]:
        """Return the names that the route and a listener have in common, if other listeners claim all of them."""
        gateways, hostnames = self.gateways, self._hostnames
        if gateways.profile_of(listener.gateway).claimed_hostnames == "attached" or not hostnames:
            return ()
        if self.route.group_kind not in ROUTES_WITH_HOSTNAMES or any(map(is_unknown_hostname, hostnames)):
            return ()
        common = sorted({name for _, name in hostnames_in(hostnames).intersections(listener.hostname)})
        return common if all(gateways.has_closer_listener(listener, name) for name in common) else ()

    def _hostname_phrase(self, listener: Listener, verbs: tuple[str, str]) -> str:
        """`hostname a.example matches *.b.example of listener http`: with the verb for one name, or for several."""
        hostnames = self._hostnames
        more = f" and {len(hostnames) - _MAX_NAMES} more" if len(hostnames) > _MAX_NAMES else ""
        names = ", ".join(hostnames[:_MAX_NAMES])
        subject = f"hostname {names} {verbs[0]}" if len(hostnames) == 1 else f"hostnames {names}{more} {verbs[1]}"
        return f"{subject} {listener.hostname} of {listener}"

    @property
    def _hostnames(self) -> tuple[str, ...]:
        return hostnames_of(self.gateways.index, self.route)


def _is_for_hosts(listener: Listener) -> bool:
    """Whether the hostname of a listener, if it has one, decides which routes it takes."""
    return listener.protocol in _WITH_HOSTNAME or listener.may_serve_more


def _selects(parent: ParentRef, section: str, port: Port | None) -> bool | None:
    """Whether a reference picks a section of its parent; None if that is not known."""
    if (not parent.section or parent.section == section) and (parent.port is None or parent.port == port):
        return True
    may_be = not parent.section or may_be_section(parent.section, section)
    return None if may_be and (parent.port is None or may_be_port(parent.port, port)) else False


def _selection_phrase(parent: ParentRef) -> str:
    """Describe the section and port that a parentRef selects."""
    port = "" if parent.port is None else f"port {parent.port}"
    return " with ".join(part for part in (parent.section, port) if part)


def _inventory_phrase(noun: str, names: Sequence[str]) -> str:
    if not names:
        return "it has none"
    return f"it has {noun}{'s' if len(names) > 1 else ''} {', '.join(names)}"
