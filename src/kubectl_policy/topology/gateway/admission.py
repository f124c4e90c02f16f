"""Whether a listener takes routes, as far as their kind and their namespace decide it, and in plain words why not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model import ObjectRef, Problem
from kubectl_policy.model.fields import mapping_at, text_at
from kubectl_policy.model.kinds import NAMESPACE
from kubectl_policy.model.unknown import is_unknown
from kubectl_policy.topology.gateway.listeners import lets_namespace, listener_words
from kubectl_policy.topology.references import TCP_ROUTE

if TYPE_CHECKING:
    from kubectl_policy.model import GroupKind
    from kubectl_policy.topology.gateway.gateways import Gateways
    from kubectl_policy.topology.gateway.listeners import Listener

# A doubt for something that is to be filled in, and not for something that was not read.
UNFILLED: Final = "Unfilled"


class Terms(Struct, frozen=True, kw_only=True):
    """What keeps all routes of one kind in one namespace from a listener, whatever their hostnames are.

    They are refused, or it is not known whether they are, or else it is not served, or may not be, for a conflict.
    """

    refusal: Problem | None = None
    doubt: Problem | None = None
    conflict: Problem | None = None


class Admission(Struct, frozen=True):
    """A listener being asked whether it takes the routes of a kind in a namespace."""

    gateways: Gateways
    listener: Listener
    kind: GroupKind
    namespace: str

    def terms(self) -> Terms:
        """What it says; what is certain comes first."""
        refusal = self._not_admitted() or self._not_served() or self._other_namespace()
        if refusal:
            return Terms(refusal=Problem(message=refusal, reason="NotAllowedByListeners"))
        unknown = self._unknown()
        return Terms(doubt=unknown, conflict=None if unknown else self._conflict())

    def _conflict(self) -> Problem | None:
        """Why a listener that would take the route is not served, being in conflict with another one."""
        conflict = self.gateways.conflict(self.listener)
        if conflict:
            message = f"{self.listener} conflicts with {listener_words(conflict.other)}"
            return Problem(message=message, reason=conflict.reason)
        other = self.gateways.possible_conflict(self.listener)
        if other:
            message = f"whether {self.listener} conflicts with {listener_words(other)} cannot be known yet"
            return unfilled(f"{message}: something of them is to be filled in")
        return None

    def _not_admitted(self) -> str:
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
        if gateway is None or self.gateways.index.presence(gateway) != "present":
            return None
        return True if gateway == owner else self.gateways.admits(gateway, owner)

    def _not_served(self) -> str:
        kinds = self.gateways.kinds_served(self.listener)
        if self.kind in kinds or self.listener.may_serve_more:
            return ""
        if not kinds:
            return f"{self.listener} accepts no routes (protocol {self.listener.protocol or 'not given'})"
        return f"{self.listener} accepts only {', '.join(kind.kind for kind in kinds)}, not {self.kind.kind}"

    def _namespace_allowed(self) -> bool | None:
        namespaces = mapping_at(self.listener.raw, "allowedRoutes.namespaces")
        home = self.listener.node.object.namespace
        return lets_namespace(self.gateways.index, namespaces, "Same", home, self.namespace)

    def _other_namespace(self) -> str:
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

    def _unknown(self) -> Problem | None:
        listener, owner, gateway = self.listener, self.listener.node.object, self.listener.gateway
        served = self.kind in self.gateways.kinds_served(listener)
        if not served or (listener.may_pass_through and self.kind == TCP_ROUTE):
            message = f"whether {listener} takes it cannot be known yet"
            return unfilled(f"{message}: its protocol or its kinds are to be filled in")
        if self._namespace_allowed() is None:
            home, guest = owner.namespace, self.namespace
            if text_at(listener.raw, "allowedRoutes.namespaces.from", "Same") == "Selector":
                return _labels(self.gateways, f"whether {listener} selects it is unknown", guest)
            message = f"whether {listener}, in namespace {home}, takes routes of namespace {guest} cannot be known yet"
            return unfilled(message)
        if self._admitted() is True:
            return None
        if gateway and self.gateways.index.presence(gateway) == "present":
            return _labels(self.gateways, f"whether {gateway} selects {owner} is unknown", owner.namespace)
        why = self.gateways.index.why_unread(gateway) if gateway else "is not known"
        return doubt(f"{gateway}, the parent of {owner}, {why}")


def doubt(message: str) -> Problem:
    """That something is not known, as something was not read."""
    return Problem(message=message, certain=False)


def unfilled(message: str) -> Problem:
    """That something is not known, as something of what was read is to be filled in."""
    return Problem(message=message, reason=UNFILLED, certain=False)


def _labels(gateways: Gateways, what: str, namespace: str) -> Problem:
    """Why it is not known whether a selector selects a namespace."""
    read = gateways.index.namespace_labels(namespace) is not None
    if not (read or is_unknown(namespace) or gateways.index.candidates(ObjectRef(NAMESPACE, "", namespace))):
        return doubt(f"{what}: {gateways.index.why_unread_namespace(namespace)}")
    return unfilled(f"{what}: a label of Namespace {namespace}, or what is selected, is to be filled in")
