"""Which listeners a route attaches to, and in plain words why not to the others (GEP-724)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from kubectl_policy.model import NodeRef, ObjectRef
from kubectl_policy.model.fields import mapping_at, strings_at, text_at
from kubectl_policy.topology.gateway.conflicts import CONFLICTS, admits
from kubectl_policy.topology.gateway.hostnames import intersect
from kubectl_policy.topology.gateway.ignored import INVALID_LISTENER
from kubectl_policy.topology.gateway.listeners import supported_kinds_of
from kubectl_policy.topology.gateway.namespaces import lets_in_namespace
from kubectl_policy.topology.references import (
    GATEWAY,
    GRPC_ROUTE,
    HTTP_ROUTE,
    LISTENER_SETS,
    TLS_ROUTE,
    WITH_PORTS,
    parent_refs,
    port_names,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kubectl_policy.model.index import Index
    from kubectl_policy.topology.gateway.conflicts import Conflict
    from kubectl_policy.topology.gateway.ignored import Ignored
    from kubectl_policy.topology.gateway.listeners import Listener
    from kubectl_policy.topology.implementation import Implementation
    from kubectl_policy.topology.references import ParentRef

BindingState: TypeAlias = Literal["attached", "refused", "unknown"]
ListenersOf: TypeAlias = "Callable[[ObjectRef], tuple[Listener, ...]]"
ConflictsOf: TypeAlias = "Callable[[ObjectRef], Mapping[NodeRef, Conflict]]"

WITH_HOSTNAMES: Final = (HTTP_ROUTE, GRPC_ROUTE, TLS_ROUTE)
_WITH_HOSTNAME: Final = ("HTTP", "HTTPS", "TLS")


@dataclass(frozen=True, slots=True)
class Binding:
    """What comes of one parentRef of a route at one listener, or at a parent as a whole.

    `listener` is the listener, or the port of a parent Service that the reference picks; None if the outcome is about
    the parent itself. `reason` is the API's reason of a refusal: the route's (RouteConditionReason), or that of a
    conflict (ListenerConditionReason), or that a listener is invalid, if it would take the route but is not served
    itself; empty otherwise.
    A binding `is_delegated` if the parent is a route that delegates to this one.
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

    @property
    def is_counted(self) -> bool:
        """Whether status counts the route as attached, be it to a listener that carries no traffic.

        "Listener or Route status does not impact successful attachment, i.e. the AttachedRoutes field count MUST be set
        for Listeners with condition Accepted: false" (ListenerStatus.AttachedRoutes).
        """
        return self.state == "attached" or self.reason in {*CONFLICTS, INVALID_LISTENER}

    def where(self, found: Ignored | None) -> Binding:
        """The same where a Gateway or listener is ignored by its controller: refused, if nothing else refuses it."""
        if found is None or not (found.reason != INVALID_LISTENER or self.is_counted):
            return self
        return replace(self, state="refused", reason=found.reason, message=found.message)


def bind(
    index: Index, implementation: Implementation, listeners_of: ListenersOf, conflicts_of: ConflictsOf, route: ObjectRef
) -> tuple[Binding, ...]:
    """The outcomes of a route's handshakes, in the order of its parentRefs and of the listeners of each parent.

    `listeners_of` and `conflicts_of` look up the listeners of a parent and the conflicts on a Gateway.
    """
    raw = index.raw(route)
    return tuple(
        binding
        for parent in parent_refs(index, route, raw)
        for binding in _Handshake(index, implementation, listeners_of, conflicts_of, route, parent).outcomes()
    )


@dataclass(frozen=True, slots=True)
class _Handshake:
    """One parentRef being followed."""

    index: Index
    implementation: Implementation
    listeners_of: ListenersOf
    conflicts_of: ConflictsOf
    route: ObjectRef
    parent: ParentRef

    def outcomes(self) -> Iterator[Binding]:
        parent = self.parent.object
        known = (GATEWAY, *LISTENER_SETS, *WITH_PORTS)
        if parent.group_kind not in known:
            yield self._unknown(None, f"it is not known how routes attach to {parent.group_kind}")
        elif self.index.presence(parent) == "missing":
            yield self._refused(None, "NoMatchingParent", f"{parent} does not exist")
        elif self.index.presence(parent) == "unknown":
            yield self._unknown(None, f"{parent} was not read")
        elif parent.group_kind in WITH_PORTS:
            yield self._at_service()
        else:
            yield from self._at_listeners()

    def _at_service(self) -> Binding:
        """A parent Service: "When Port is specified, ... SectionName: Port name" (ParentReference.SectionName)."""
        parent = self.parent
        ports = port_names(self.index.raw(parent.object))
        wanted = [
            name
            for port, name in ports.items()
            if (parent.port is None or parent.port == port) and (not parent.section or parent.section == name)
        ]
        if not wanted and _picks(parent):
            message = f"{parent.object} has no {_picks(parent)}; {_known('port', list(ports.values()))}"
            return self._refused(None, "NoMatchingParent", message)
        return self._bound(NodeRef(parent.object, wanted[0]) if _picks(parent) else None)

    def _at_listeners(self) -> Iterator[Binding]:
        parent = self.parent
        every = self.listeners_of(parent.object)
        chosen = [
            listener
            for listener in every
            if (not parent.section or parent.section == listener.node.section)
            and (parent.port is None or parent.port == listener.port)
        ]
        if not chosen:
            names = [f"{listener.node.section} ({listener.port})" for listener in every]
            what = f"listener {_picks(parent)}" if _picks(parent) else "listener"
            yield self._refused(None, "NoMatchingParent", f"{parent.object} has no {what}; {_known('listener', names)}")
        for listener in chosen:
            yield self._at_listener(listener)

    def _at_listener(self, listener: Listener) -> Binding:
        refusal = self._refusal(listener)
        if refusal:
            return self._refused(listener.node, *refusal)
        doubt = self._doubt(listener)
        if doubt:
            return self._unknown(listener.node, doubt)
        conflict = self.conflicts_of(listener.gateway).get(listener.node) if listener.gateway else None
        if conflict:
            message = f"{_words(listener)} conflicts with {_name(conflict.other)}"
            return self._refused(listener.node, conflict.reason, message)
        return self._bound(listener.node)

    def _refusal(self, listener: Listener) -> tuple[str, str] | None:
        """The API's reason and the words of a refusal that is certain; None if there is none."""
        message = self._not_admitted(listener) or self._not_served(listener)
        if not message and self._namespace_allowed(listener) is False:
            message = self._other_namespace(listener)
        if message:
            return "NotAllowedByListeners", message
        message = self._no_hostname(listener)
        return ("NoMatchingListenerHostname", message) if message else None

    def _not_admitted(self, listener: Listener) -> str:
        owner = listener.node.object
        if owner == listener.gateway:
            return ""
        if listener.gateway is None:
            return f"{owner} names no Gateway as its parent"
        if self.index.presence(listener.gateway) == "missing":
            return f"{listener.gateway}, the parent of {owner}, does not exist"
        if self._admitted(listener) is False:
            return f"{listener.gateway} does not allow {owner} to attach (spec.allowedListeners)"
        return ""

    def _admitted(self, listener: Listener) -> bool | None:
        gateway, owner = listener.gateway, listener.node.object
        if gateway is None or self.index.presence(gateway) != "present":
            return None
        return True if gateway == owner else admits(self.index, gateway, owner)

    def _not_served(self, listener: Listener) -> str:
        kinds = supported_kinds_of(self.index, self.implementation, listener)
        if self.route.group_kind in kinds:
            return ""
        if not kinds:
            return f"{_words(listener)} takes no routes (protocol {listener.protocol or 'not given'})"
        return f"{_words(listener)} takes {_listed([kind.kind for kind in kinds])} alone, not {self.route.kind}"

    def _namespace_allowed(self, listener: Listener) -> bool | None:
        namespaces = mapping_at(listener.raw, "allowedRoutes.namespaces")
        return lets_in_namespace(self.index, namespaces, "Same", listener.node.object.namespace, self.route.namespace)

    def _other_namespace(self, listener: Listener) -> str:
        home, guest = listener.node.object.namespace, self.route.namespace
        match text_at(listener.raw, "allowedRoutes.namespaces.from", "Same"):
            case "Same":
                return f"{_words(listener)} takes routes of its own namespace {home} alone, not of {guest}"
            case "Selector":
                return f"namespace {guest} does not match the selector of {_words(listener)}"
            case _:
                return f"{_words(listener)} takes routes of no namespace"

    def _no_hostname(self, listener: Listener) -> str:
        hostnames = strings_at(self.index.raw(self.route), "spec.hostnames")
        if self.route.group_kind not in WITH_HOSTNAMES or listener.protocol not in _WITH_HOSTNAME or not hostnames:
            return ""
        if any(intersect(hostname, listener.hostname) for hostname in hostnames):
            return ""
        verb = "hostname {} does" if len(hostnames) == 1 else "hostnames {} do"
        return f"{verb.format(_listed(hostnames))} not match {listener.hostname} of {_words(listener)}"

    def _doubt(self, listener: Listener) -> str:
        owner, gateway = listener.node.object, listener.gateway
        if self._namespace_allowed(listener) is None:
            return f"whether {_words(listener)} selects it is unknown: Namespace {self.route.namespace} was not read"
        if self._admitted(listener) is True:
            return ""
        if gateway and self.index.presence(gateway) == "present":
            return f"whether {gateway} selects {owner} is unknown: Namespace {owner.namespace} was not read"
        return f"{gateway}, the parent of {owner}, was not read"

    def _bound(self, listener: NodeRef | None) -> Binding:
        return Binding(self.route, self.parent.position, self.parent.object, listener, "attached")

    def _refused(self, listener: NodeRef | None, reason: str, message: str) -> Binding:
        return Binding(self.route, self.parent.position, self.parent.object, listener, "refused", reason, message)

    def _unknown(self, listener: NodeRef | None, message: str) -> Binding:
        return Binding(self.route, self.parent.position, self.parent.object, listener, "unknown", "", message)


def _picks(parent: ParentRef) -> str:
    """What a reference picks of its parent, in words."""
    port = "" if parent.port is None else f"port {parent.port}"
    return " with ".join(part for part in (parent.section, port) if part)


def _name(node: NodeRef) -> str:
    return f"listener {node.section} of {node.object}"


def _words(listener: Listener) -> str:
    return _name(listener.node)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _known(what: str, names: Sequence[str]) -> str:
    return (
        f"it has {what}s {_listed(names)}"
        if len(names) > 1
        else f"it has {what} {names[0]}"
        if names
        else "it has none"
    )
