"""Which listeners a route attaches to, and in plain words why not to the others (GEP-724)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from kubectl_policy.model import NodeRef, ObjectRef, Problem
from kubectl_policy.model.fields import mapping_at, strings_at, text_at
from kubectl_policy.model.kinds import NAMESPACE
from kubectl_policy.model.unknown import is_unknown, may_be_port, may_be_section
from kubectl_policy.model.values import value
from kubectl_policy.topology.gateway.conflicts import CONFLICTS
from kubectl_policy.topology.gateway.hostnames import intersect
from kubectl_policy.topology.gateway.listeners import lets_in_namespace, listener_words
from kubectl_policy.topology.references import (
    GATEWAY,
    GRPC_ROUTE,
    HTTP_ROUTE,
    LISTENER_SETS,
    TCP_ROUTE,
    TLS_ROUTE,
    WITH_PORTS,
    parent_refs,
    port_names,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.model.unknown import Port
    from kubectl_policy.topology.gateway.gateways import Gateways
    from kubectl_policy.topology.gateway.listeners import Listener
    from kubectl_policy.topology.references import ParentRef

BindingState: TypeAlias = Literal["attached", "refused", "unknown"]
# The reasons for which a route is not attached: its parent is not there, or the listener is not valid itself.
NO_PARENT: Final = "NoMatchingParent"
INVALID_LISTENER: Final = "InvalidListener"
# A doubt for something that is to be filled in, and not for something that was not read.
_UNFILLED: Final = "Unfilled"
WITH_HOSTNAMES: Final = (HTTP_ROUTE, GRPC_ROUTE, TLS_ROUTE)
_WITH_HOSTNAME: Final = ("HTTP", "HTTPS", "TLS")


@value(kw_only=True)
class Binding:
    """The outcome of one parentRef of a route at one listener, or at a parent as a whole.

    `listener` is the listener, or the port of a parent Service that the reference picks; None if the outcome is about
    the parent itself. `reason` is the API's reason of a refusal: the route's (RouteConditionReason), or that of a
    conflict (ListenerConditionReason), or that a listener is invalid, if it would take the route but is not served
    itself; empty otherwise.
    A binding `is_delegated` if the parent is a route that delegates to this one. One that is unknown `is_unfilled` if
    something of what was read is to be filled in.
    `message` says in a sentence why the route is not attached; it is empty if it is.
    """

    route: ObjectRef
    parent_index: int
    parent: ObjectRef
    listener: NodeRef | None
    state: BindingState
    reason: str = ""
    message: str = ""
    is_delegated: bool = False
    is_unfilled: bool = False

    @property
    def is_counted(self) -> bool:
        """Whether status counts the route as attached, be it to a listener that carries no traffic.

        "Listener or Route status does not impact successful attachment, i.e. the AttachedRoutes field count MUST be set
        for Listeners with condition Accepted: false" (ListenerStatus.AttachedRoutes).
        """
        return self.state == "attached" or self.reason in {*CONFLICTS, INVALID_LISTENER}

    def unless_ignored(self, ignored: Problem | None) -> Binding:
        """The same where the controller ignores the Gateway or listener: refused, if nothing else refuses it."""
        if ignored is None or (ignored.reason == INVALID_LISTENER and not self.is_counted):
            return self
        return replace(self, state="refused", reason=ignored.reason, message=ignored.message)


def bindings_of(gateways: Gateways, route: ObjectRef) -> Iterator[Binding]:
    """The outcomes of a route's handshakes, in the order of its parentRefs and of the listeners of each parent."""
    for parent in parent_refs(gateways.index, route):
        yield from _Handshake(gateways, route, parent).outcomes()


@value()
class _Handshake:
    """One parentRef being followed."""

    gateways: Gateways
    route: ObjectRef
    parent: ParentRef

    def outcomes(self) -> Iterator[Binding]:
        parent, index = self.parent.object, self.gateways.index
        if parent.group_kind not in (GATEWAY, *LISTENER_SETS, *WITH_PORTS):
            yield self._outcome(_doubt(f"it is not known how routes attach to {parent.group_kind}"))
        elif index.presence(parent) == "missing":
            yield self._outcome(Problem(message=f"{parent} does not exist", reason=NO_PARENT))
        elif index.presence(parent) == "unknown":
            yield self._outcome(_doubt(index.not_here(parent)))
        elif parent.group_kind in WITH_PORTS:
            yield self._at_service()
        else:
            yield from self._at_listeners()

    def _outcome(self, problem: Problem | None, listener: NodeRef | None = None) -> Binding:
        unfilled = problem is not None and problem.reason == _UNFILLED
        return Binding(
            route=self.route,
            parent_index=self.parent.position,
            parent=self.parent.object,
            listener=listener,
            state="attached" if problem is None else "refused" if problem.certain else "unknown",
            reason=problem.reason if problem and not unfilled else "",
            message=problem.message if problem else "",
            is_unfilled=unfilled,
        )

    def _at_service(self) -> Binding:
        """A parent Service: "When Port is specified, ... SectionName: Port name" (ParentReference.SectionName)."""
        parent, picked = self.parent, _picked(self.parent)
        ports = port_names(self.gateways.index.raw(parent.object))
        picks = {name: _picks(parent, name, port) for port, name in ports.items()}
        wanted = [name for name, verdict in picks.items() if verdict]
        if not picked:
            return self._outcome(None)
        if wanted:
            return self._outcome(None, NodeRef(parent.object, wanted[0]))
        if None in picks.values():
            return self._outcome(_unfilled(f"which port of {parent.object} {picked} is cannot be known yet"))
        message = f"{parent.object} has no {picked}; {_known('port', list(ports.values()))}"
        return self._outcome(Problem(message=message, reason=NO_PARENT))

    def _at_listeners(self) -> Iterator[Binding]:
        parent, picked = self.parent, _picked(self.parent)
        every = self.gateways.listeners(parent.object)
        picks = [(listener, _picks(parent, listener.node.section, listener.port)) for listener in every]
        for listener, verdict in picks:
            if verdict:
                yield self._outcome(self._problem(listener), listener.node)
            elif verdict is None:
                message = f"whether {picked} is {listener} cannot be known yet: something of it is to be filled in"
                yield self._outcome(_unfilled(message), listener.node)
        if all(verdict is False for _, verdict in picks):
            names = [f"{listener.node.section} ({listener.port})" for listener in every]
            what = f"listener {picked}" if picked else "listener"
            message = f"{parent.object} has no {what}; {_known('listener', names)}"
            yield self._outcome(Problem(message=message, reason=NO_PARENT))

    def _problem(self, listener: Listener) -> Problem | None:
        """Why a listener does not take the route: what is certain comes first; None if it takes it."""
        refusal = self._not_admitted(listener) or self._not_served(listener) or self._other_namespace(listener)
        if refusal:
            return Problem(message=refusal, reason="NotAllowedByListeners")
        common = self._common_hostname(listener)
        if common is False:
            return Problem(message=self._no_hostname(listener), reason="NoMatchingListenerHostname")
        doubt = self._unknown(listener)
        if not doubt and common is None:
            message = f"whether {self._no_hostname(listener)} cannot be known yet: something is to be filled in"
            doubt = _unfilled(message)
        return doubt or self._conflict(listener)

    def _conflict(self, listener: Listener) -> Problem | None:
        """Why a listener that would take the route is not served, being in conflict with another one."""
        conflict = self.gateways.conflict(listener)
        if conflict:
            message = f"{listener} conflicts with {listener_words(conflict.other)}"
            return Problem(message=message, reason=conflict.reason)
        other = self.gateways.possible_conflict(listener)
        if other:
            message = f"whether {listener} conflicts with {listener_words(other)} cannot be known yet"
            return _unfilled(f"{message}: something of them is to be filled in")
        return None

    def _not_admitted(self, listener: Listener) -> str:
        owner = listener.node.object
        if owner == listener.gateway:
            return ""
        if listener.gateway is None:
            return f"{owner} names no Gateway as its parent"
        if self.gateways.index.presence(listener.gateway) == "missing":
            return f"{listener.gateway}, the parent of {owner}, does not exist"
        if self._admitted(listener) is False:
            return f"{listener.gateway} does not allow {owner} to attach (spec.allowedListeners)"
        return ""

    def _admitted(self, listener: Listener) -> bool | None:
        gateway, owner = listener.gateway, listener.node.object
        if gateway is None or self.gateways.index.presence(gateway) != "present":
            return None
        return True if gateway == owner else self.gateways.admits(gateway, owner)

    def _not_served(self, listener: Listener) -> str:
        kinds = self.gateways.kinds_served(listener)
        if self.route.group_kind in kinds or listener.may_serve_more:
            return ""
        if not kinds:
            return f"{listener} accepts no routes (protocol {listener.protocol or 'not given'})"
        return f"{listener} accepts only {', '.join(kind.kind for kind in kinds)}, not {self.route.kind}"

    def _namespace_allowed(self, listener: Listener) -> bool | None:
        namespaces, home = mapping_at(listener.raw, "allowedRoutes.namespaces"), listener.node.object.namespace
        return lets_in_namespace(self.gateways.index, namespaces, "Same", home, self.route.namespace)

    def _other_namespace(self, listener: Listener) -> str:
        if self._namespace_allowed(listener) is not False:
            return ""
        home, guest = listener.node.object.namespace, self.route.namespace
        match text_at(listener.raw, "allowedRoutes.namespaces.from", "Same"):
            case "Same":
                return f"{listener} accepts routes only from its own namespace {home}, not from {guest}"
            case "Selector":
                return f"namespace {guest} does not match the selector of {listener}"
            case _:
                return f"{listener} accepts routes from no namespace"

    def _common_hostname(self, listener: Listener) -> bool | None:
        """Whether the route and a listener have a hostname in common; None if that is not known."""
        hostnames = self._hostnames
        has_hostname = listener.protocol in _WITH_HOSTNAME or listener.may_serve_more
        if self.route.group_kind not in WITH_HOSTNAMES or not has_hostname or not hostnames:
            return True
        found = {intersect(hostname, listener.hostname) for hostname in hostnames}
        return True if True in found else None if None in found else False

    def _no_hostname(self, listener: Listener) -> str:
        hostnames = self._hostnames
        what = f"hostname {hostnames[0]} does" if len(hostnames) == 1 else f"hostnames {', '.join(hostnames)} do"
        return f"{what} not match {listener.hostname} of {listener}"

    @property
    def _hostnames(self) -> list[str]:
        return strings_at(self.gateways.index.raw(self.route), "spec.hostnames")

    def _unknown(self, listener: Listener) -> Problem | None:
        owner, gateway = listener.node.object, listener.gateway
        kind = self.route.group_kind
        if kind not in self.gateways.kinds_served(listener) or (listener.may_pass_through and kind == TCP_ROUTE):
            message = f"whether {listener} takes it cannot be known yet"
            return _unfilled(f"{message}: its protocol or its kinds are to be filled in")
        if self._namespace_allowed(listener) is None:
            home, guest = owner.namespace, self.route.namespace
            if text_at(listener.raw, "allowedRoutes.namespaces.from", "Same") == "Selector":
                return _labels(self.gateways, f"whether {listener} selects it is unknown", guest)
            message = f"whether {listener}, in namespace {home}, takes routes of namespace {guest} cannot be known yet"
            return _unfilled(message)
        if self._admitted(listener) is True:
            return None
        if gateway and self.gateways.index.presence(gateway) == "present":
            return _labels(self.gateways, f"whether {gateway} selects {owner} is unknown", owner.namespace)
        return _doubt(f"{gateway}, the parent of {owner}, is not in the input")


def _doubt(message: str) -> Problem:
    return Problem(message=message, certain=False)


def _unfilled(message: str) -> Problem:
    return Problem(message=message, reason=_UNFILLED, certain=False)


def _labels(gateways: Gateways, what: str, namespace: str) -> Problem:
    """Why it is not known whether a selector selects a namespace."""
    read = gateways.index.namespace_labels(namespace) is not None
    if not (read or is_unknown(namespace) or gateways.index.candidates(ObjectRef(NAMESPACE, "", namespace))):
        return _doubt(f"{what}: Namespace {namespace} is not in the input")
    return _unfilled(f"{what}: a label of Namespace {namespace}, or what is selected, is to be filled in")


def _picks(parent: ParentRef, section: str, port: Port | None) -> bool | None:
    """Whether a reference picks a section of its parent; None if that is not known."""
    if parent.section in {"", section} and parent.port in {None, port}:
        return True
    may_be = not parent.section or may_be_section(parent.section, section)
    return None if may_be and (parent.port is None or may_be_port(parent.port, port)) else False


def _picked(parent: ParentRef) -> str:
    """What a reference picks of its parent, in words."""
    port = "" if parent.port is None else f"port {parent.port}"
    return " with ".join(part for part in (parent.section, port) if part)


def _known(what: str, names: Sequence[str]) -> str:
    if not names:
        return "it has none"
    return f"it has {what}{'s' if len(names) > 1 else ''} {', '.join(names)}"
