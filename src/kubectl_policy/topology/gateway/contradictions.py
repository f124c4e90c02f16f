"""Contradictions among the fields of one listener, which Gateway API's definitions refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.fields import items_at, mapping_at, text_at, value_at
from kubectl_policy.model.unknown import is_unfilled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.topology.gateway.listeners import Listener


def contradictions(listener: Listener) -> Iterator[str]:
    """Explain the contradictions in a listener; yield nothing if something that counts is to be filled in.

    The rules are those of `GatewaySpec.Listeners` and `ListenerTLSConfig` (`XValidation`), and for a selector that of
    `RouteNamespaces`: "Selector must be specified when From is set to 'Selector'".
    """
    protocol, mode = listener.protocol, text_at(listener.raw, "tls.mode", "Terminate")
    if is_unfilled(protocol) or is_unfilled(mode):
        return
    if protocol in {"HTTPS", "TLS"}:
        yield from _tls_contradictions(listener, mode)
    elif protocol in {"TCP", "UDP"} and listener.hostname:
        yield f"protocol {protocol} takes no hostname"
    namespaces = mapping_at(listener.raw, "allowedRoutes.namespaces")
    if text_at(namespaces, "from", "Same") == "Selector" and value_at(namespaces, "selector") is None:
        yield "allowedRoutes.namespaces.from Selector needs a selector"


def _tls_contradictions(listener: Listener, mode: str) -> Iterator[str]:
    protocol, holds_certificates = listener.protocol, bool(items_at(listener.raw, "tls.certificateRefs"))
    if value_at(listener.raw, "tls") is None:
        yield f"protocol {protocol} needs tls"
    elif protocol == "HTTPS" and mode != "Terminate":
        yield f"protocol HTTPS needs tls.mode Terminate, not {mode}"
    elif mode == "Passthrough" and holds_certificates:
        yield "tls.mode Passthrough takes no tls.certificateRefs"
    elif mode == "Terminate" and not holds_certificates and not mapping_at(listener.raw, "tls.options"):
        yield "tls.mode Terminate needs tls.certificateRefs or tls.options"
