"""Terms of listeners: what a listener has against the routes of one kind in one namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model import GroupKind, ObjectRef, Problem
from kubectl_policy.model.fields import mapping_at, text_at
from kubectl_policy.model.kind_roles import NAMESPACE, TCP_ROUTE
from kubectl_policy.model.refs import shown_namespace
from kubectl_policy.model.unknown import is_unknown
from kubectl_policy.topology.gateway.listeners import Listener, admits_namespace, listener_label

if TYPE_CHECKING:
    from kubectl_policy.topology.gateway.gateways import Gateways

# A doubt for something that is to be filled in, and not for something that was not read.
UNFILLED: Final = "Unfilled"


class Terms(Struct, frozen=True, kw_only=True):
    """The problems of a listener with all routes of one kind in one namespace, whatever their hostnames are.

    They are refused, or it is not known whether they are, or else it is not served, or may not be, for a conflict.
    """

    refusal: Problem | None = None
    doubt: Problem | None = None
    conflict: Problem | None = None


class ListenerTerms(Struct, frozen=True):
    """A listener being asked whether it takes the routes of a kind in a namespace."""

    gateways: Gateways
    listener: Listener
    kind: GroupKind
    namespace: str

    def terms(self) -> Terms:
        """Return the terms, certain problems first."""
        refusal = self._admission_refusal() or self._kind_refusal() or self._namespace_refusal()
        if refusal:
            return Terms(refusal=Problem(message=refusal, reason="NotAllowedByListeners"))
        unknown = self._uncertain_problem()
        return Terms(doubt=unknown, conflict=None if unknown else self._conflict())

    def _conflict(self) -> Problem | None:
        """Return the problem of a listener that conflicts with another one, or may; None if it does not."""
        conflict = self.gateways.conflict(self.listener)
        if conflict:
            message = f"{self.listener} conflicts with {listener_label(conflict.rival)}"
            return Problem(message=message, reason=conflict.reason)
        rival = self.gateways.possible_conflict(self.listener)
        if rival:
            message = f"whether {self.listener} conflicts with {listener_label(rival)} cannot be known yet"
            return unfilled_problem(f"{message}: they contain a placeholder")
        return None

    def _admission_refusal(self) -> str:
        owner = self.listener.node.object
        if owner == self.listener.gateway:
            return ""
        if self.listener.gateway is None:
            return f"{owner} names no Gateway as its parent"
        if self.gateways.index.presence(self.listener.gateway) == "missing":
            return f"{self.listener.gateway}, the parent of {owner}, does not exist"
        if self._admitted() is False:
            return f"{self.listener.gateway} does not allow {owner} to attach (spec.allowedListeners)"
        return ""

    def _admitted(self) -> bool | None:
        gateway, owner = self.listener.gateway, self.listener.node.object
        return None if gateway is None else gateway == owner or self.gateways.admits(gateway, owner)

    def _kind_refusal(self) -> str:
        kinds = self.gateways.kinds_served(self.listener)
        if self.kind in kinds or self.listener.may_serve_more:
            return ""
        if not kinds:
            return f"{self.listener} accepts no routes (protocol {self.listener.protocol or 'not given'})"
        return f"{self.listener} accepts only {', '.join(kind.kind for kind in kinds)}, not {self.kind.kind}"

    def _namespace_allowed(self) -> bool | None:
        namespaces = mapping_at(self.listener.raw, "allowedRoutes.namespaces")
        home = self.listener.node.object.namespace
        return admits_namespace(self.gateways.index, namespaces, "Same", home, self.namespace)

    def _namespace_refusal(self) -> str:
        if self._namespace_allowed() is not False:
            return ""
        home, guest = self.listener.node.object.namespace, self.namespace
        match text_at(self.listener.raw, "allowedRoutes.namespaces.from", "Same"):
            case "Same":
                return f"{self.listener} accepts routes only from its own namespace {home}, not from {guest}"
            case "Selector":
                return f"namespace {guest} does not match the selector of {self.listener}"
            case _:
                return f"{self.listener} accepts routes from no namespace"

    def _uncertain_problem(self) -> Problem | None:
        listener, owner, gateway = self.listener, self.listener.node.object, self.listener.gateway
        served = self.kind in self.gateways.kinds_served(listener)
        if not served or (listener.may_pass_through and self.kind == TCP_ROUTE):
            message = f"whether {listener} takes it cannot be known yet"
            return unfilled_problem(f"{message}: its protocol or its kinds contain a placeholder")
        if self._namespace_allowed() is None:
            home, guest = owner.namespace, self.namespace
            if text_at(listener.raw, "allowedRoutes.namespaces.from", "Same") == "Selector":
                return _selector_problem(self.gateways, f"whether {listener} selects it is unknown", guest)
            where, whose = shown_namespace(home), shown_namespace(guest)
            message = f"whether {listener}, in namespace {where}, takes routes of namespace {whose} cannot be known yet"
            return unfilled_problem(message)
        if self._admitted() is True:
            return None
        if gateway and self.gateways.index.world.has(gateway):
            return _selector_problem(self.gateways, f"whether {gateway} selects {owner} is unknown", owner.namespace)
        why = self.gateways.index.absence.reason(gateway) if gateway else "is not known"
        return unread_problem(f"{gateway}, the parent of {owner}, {why}")


def unread_problem(message: str) -> Problem:
    """Return a problem that is uncertain because an object was not read."""
    return Problem(message=message, certain=False)


def unfilled_problem(message: str) -> Problem:
    """Return a problem that is uncertain because a placeholder is not filled in."""
    return Problem(message=message, reason=UNFILLED, certain=False)


def _selector_problem(gateways: Gateways, subject: str, namespace: str) -> Problem:
    """Return the problem of a selector that may select a namespace: its labels were not read, or not filled in."""
    read = gateways.index.namespace_labels(namespace) is not None
    if not (read or is_unknown(namespace) or gateways.index.candidates.of(ObjectRef(NAMESPACE, "", namespace))):
        return unread_problem(f"{subject}: {gateways.index.absence.of_namespace(namespace)}")
    home = ObjectRef(NAMESPACE, "", namespace)
    return unfilled_problem(f"{subject}: a label of {home}, or the selector, contains a placeholder")
