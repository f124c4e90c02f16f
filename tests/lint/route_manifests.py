"""Gateways with listeners, and routes with matches, in short manifests: what tests of requests have in common."""

from __future__ import annotations

from typing import Final

from tests.lint.rule_worlds import document

HTTP: Final = "{name: http, port: 80, protocol: HTTP}"
HTTPS: Final = "{name: https, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: shop-tls}]}}"


def gateway(*listeners: str, name: str = "public", spec: str = "", meta: str = "", status: str = "") -> str:
    """A Gateway in namespace shop; listeners are in flow style, and so are more of the spec and of the metadata."""
    fields = f"{{gatewayClassName: public, listeners: [{', '.join(listeners or (HTTP,))}]{spec}}}"
    return document("Gateway", name, fields, meta=meta, rest=f"status: {{{status}}}\n")


def listener_set(*listeners: str, name: str = "more", meta: str = "", parent: str = "public") -> str:
    """A ListenerSet in namespace shop."""
    spec = f"{{parentRef: {{name: {parent}}}, listeners: [{', '.join(listeners)}]}}"
    return document("ListenerSet", name, spec, meta=meta)


def route(
    name: str,
    *rules: str,
    hosts: str = "shop.example.com",
    parent: str = "name: public",
    kind: str = "HTTPRoute",
    **meta: str,
) -> str:
    """A route in namespace shop; rules are in flow style, and what else is given is of its metadata."""
    more = "".join(f", {key}: {value}" for key, value in meta.items())
    spec = f"{{parentRefs: [{{{parent}}}], hostnames: [{hosts}], rules: [{', '.join(rules or ('{}',))}]}}"
    return document(kind, name, spec, meta=more)


def path(value: str, sort: str = "PathPrefix", more: str = "") -> str:
    """A match by a path, in flow style."""
    return f"{{path: {{type: {sort}, value: {value!r}}}{more}}}"


def rule(*matches: str, filters: str = "", name: str = "") -> str:
    """A rule with matches, in flow style."""
    called = f"name: {name}, " if name else ""
    return f"{{{called}matches: [{', '.join(matches)}]{f', filters: [{filters}]' if filters else ''}}}"
