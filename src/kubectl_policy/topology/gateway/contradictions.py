"""Contradictions among the fields of one listener, which Gateway API's definitions refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from kubectl_policy.model.fields import items_at, mapping_at, text_at, value_at
from kubectl_policy.model.unknown import is_unfilled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.topology.gateway.listeners import Listener


# An API server rejects a contradiction by the rules of its definitions, or leaves it to the controller: something that
# Gateway API requires is missing, or something is there that it ignores.
ContradictionKind: TypeAlias = Literal["rejected", "missing", "ignored"]


class Contradiction(Struct, frozen=True, kw_only=True):
    """A field of a listener that contradicts its other fields."""

    field: str
    message: str
    kind: ContradictionKind = "rejected"


def contradictions(listener: Listener) -> Iterator[Contradiction]:
    """Yield the contradictions in a listener; yield nothing if something that counts is to be filled in.

    The rules are those of `GatewaySpec.Listeners` and `ListenerTLSConfig` (`XValidation`), and for a selector that of
    `RouteNamespaces`: "Selector must be specified when From is set to 'Selector'".
    """
    protocol, mode = listener.protocol, text_at(listener.raw, "tls.mode", "Terminate")
    if is_unfilled(protocol) or is_unfilled(mode):
        return
    if protocol in {"HTTPS", "TLS"}:
        yield from _tls_contradictions(listener, mode)
    elif protocol in {"HTTP", "TCP", "UDP"} and value_at(listener.raw, "tls") is not None:
        yield Contradiction(field="tls", message=f"protocol {protocol} takes no tls")
    if protocol in {"TCP", "UDP"} and listener.hostname:
        yield Contradiction(field="hostname", message=f"protocol {protocol} takes no hostname")
    namespaces = mapping_at(listener.raw, "allowedRoutes.namespaces")
    if text_at(namespaces, "from", "Same") == "Selector" and value_at(namespaces, "selector") is None:
        message = "allowedRoutes.namespaces.from Selector needs a selector"
        yield Contradiction(field="allowedRoutes.namespaces", message=message, kind="missing")


def _tls_contradictions(listener: Listener, mode: str) -> Iterator[Contradiction]:
    protocol, holds_certificates = listener.protocol, bool(items_at(listener.raw, "tls.certificateRefs"))
    if value_at(listener.raw, "tls") is None:
        kind: ContradictionKind = "missing" if protocol == "HTTPS" else "rejected"
        yield Contradiction(field="tls", message=f"protocol {protocol} needs tls", kind=kind)
    elif protocol == "HTTPS" and mode != "Terminate":
        yield Contradiction(field="tls.mode", message=f"protocol HTTPS needs tls.mode Terminate, not {mode}")
    elif mode == "Passthrough" and holds_certificates:
        message = "tls.mode Passthrough takes no tls.certificateRefs"
        yield Contradiction(field="tls.certificateRefs", message=message, kind="ignored")
    elif mode == "Terminate" and not holds_certificates and not mapping_at(listener.raw, "tls.options"):
        yield Contradiction(field="tls", message="tls.mode Terminate needs tls.certificateRefs or tls.options")
