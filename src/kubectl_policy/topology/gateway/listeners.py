"""Listeners of Gateways and ListenerSets: what they are, and from which namespaces they take what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct

from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
from kubectl_policy.model.fields import items_at, mapping_at, mappings_at, text_at, value_at
from kubectl_policy.model.kinds import GATEWAY_API
from kubectl_policy.model.selectors import keys_of, selects
from kubectl_policy.model.unknown import (
    Port,
    is_unfilled,
    is_unknown_hostname,
    is_unknown_kind,
    may_equal,
    port_at,
)
from kubectl_policy.topology.references import GRPC_ROUTE, HTTP_ROUTE, TCP_ROUTE, TLS_ROUTE, UDP_ROUTE

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_policy.model import Json
    from kubectl_policy.model.index import Index

# GEP-957 and the comments of ProtocolType, with "Route type" as in the table of the guide on TLS.
ROUTES_BY_PROTOCOL: Final[Mapping[str, tuple[GroupKind, ...]]] = {
    "HTTP": (HTTP_ROUTE, GRPC_ROUTE),
    "HTTPS": (HTTP_ROUTE, GRPC_ROUTE),
    "TLS": (TLS_ROUTE,),
    "TCP": (TCP_ROUTE,),
    "UDP": (UDP_ROUTE,),
}
NAME_LABEL: Final = "kubernetes.io/metadata.name"


class Listener(Struct, frozen=True, kw_only=True):
    """One listener; what is to be filled in stays as it is written."""

    node: NodeRef
    # The path in its object: `spec.listeners[0]`.
    field: str
    # The Gateway that it is served on; None where a ListenerSet names none.
    gateway: ObjectRef | None
    # In upper case, as the API's own validation ignores case.
    protocol: Annotated[str, Meta()]
    port: Annotated[Port | None, Meta(description="A text while something of it is to be filled in.")]
    hostname: Annotated[str, Meta(description="Empty for every host.")]
    # Whether TLS ends here, rather than passing through.
    terminates: bool
    raw: Mapping[str, Json]

    @property
    def name(self) -> Annotated[str, Meta()]:
        """The name of the listener."""
        return self.node.section

    @property
    def named_kinds(self) -> tuple[GroupKind, ...]:
        """The kinds in `allowedRoutes.kinds`; the group of a kind defaults to Gateway API's (RouteGroupKind)."""
        kinds = mappings_at(self.raw, "allowedRoutes.kinds")
        return tuple(GroupKind(text_at(kind, "group", GATEWAY_API), text_at(kind, "kind")) for kind in kinds)

    @property
    def may_serve_more(self) -> bool:
        """Whether it is not known which kinds it serves, as its protocol, TLS mode or a kind is to be filled in."""
        unknown_kinds = any(map(is_unknown_kind, self.named_kinds))
        return is_unfilled(self.protocol) or self.may_pass_through or unknown_kinds

    @property
    def has_tls(self) -> bool:
        """Whether it terminates TLS."""
        return self.protocol in {"HTTPS", "TLS"} and self.terminates

    @property
    def may_pass_through(self) -> bool:
        """Whether it is not known which of the TLS modes it has."""
        return self.protocol == "TLS" and is_unfilled(text_at(self.raw, "tls.mode"))

    def __str__(self) -> str:
        """What it is called in messages."""
        return listener_words(self.node)


def listener_words(node: NodeRef) -> str:
    """What a listener is called in messages: `listener http of Gateway infra/edge`."""
    return f"listener {node.section} of {node.object}"


def _unless_unknown(change: Callable[[str], str], text: str, unknown: Callable[[str], bool]) -> str:
    return text if unknown(text) else change(text)


def listeners_in(obj: ObjectRef, raw: Mapping[str, Json], gateway: ObjectRef | None) -> tuple[Listener, ...]:
    """The listeners of a Gateway or ListenerSet in their order, `listener[0]` where one has no name.

    No API server lets in a listener without a name, or a name twice; of those with one name the first counts.
    """
    listeners: dict[str, Listener] = {}
    for position, entry in enumerate(items_at(raw, "spec.listeners")):
        name = text_at(entry, "name") or f"listener[{position}]"
        if isinstance(entry, Mapping) and name not in listeners:
            listeners[name] = Listener(
                node=NodeRef(obj, name),
                field=f"spec.listeners[{position}]",
                gateway=gateway,
                protocol=_unless_unknown(str.upper, text_at(entry, "protocol"), is_unfilled),
                port=port_at(entry, "port"),
                hostname=_unless_unknown(str.lower, text_at(entry, "hostname"), is_unknown_hostname),
                terminates=text_at(entry, "tls.mode", "Terminate") != "Passthrough",
                raw=entry,
            )
    return tuple(listeners.values())


def lets_namespace(index: Index, namespaces: Mapping[str, Json], default: str, home: str, guest: str) -> bool | None:
    """Whether `namespaces` (RouteNamespaces, ListenerNamespaces) of an object in `home` lets in objects of `guest`.

    `default` is what the type says for an absent `from`. None where the answer depends on labels of a Namespace that
    was not read, or on something that is to be filled in; the label that an API server derives from the name is always
    known.
    """
    match text_at(namespaces, "from", default):
        case "All":
            return True
        case "Same":
            return home == guest or (None if may_equal(home, guest) else False)
        case "Selector":
            return _selects_namespace(index, namespaces, guest)
        case other:
            return None if is_unfilled(other) else False


def _selects_namespace(index: Index, namespaces: Mapping[str, Json], guest: str) -> bool | None:
    selector = mapping_at(namespaces, "selector")
    # "Selector must be specified when From is set to 'Selector'" (RouteNamespaces): without one, nothing is selected.
    if value_at(namespaces, "selector") is None:
        return False
    labels = index.namespace_labels(guest)
    if labels is None and not keys_of(selector) <= {NAME_LABEL}:
        return None
    return selects(selector, {**(labels or {}), NAME_LABEL: guest})
