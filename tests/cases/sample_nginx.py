"""A world of the tests' own with policies of NGINX Gateway Fabric, and the settings in force in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.build import (
    backend,
    gateway,
    gateway_class,
    listener,
    parent,
    policy,
    resource,
    route,
    rule,
    service,
    target,
)

if TYPE_CHECKING:
    from kubectl_policy.model import Json, Resource

_GROUP: Final = "gateway.nginx.org"
_TO_GATEWAY: Final = target("gw")
_TO_TEA: Final = target("tea", "HTTPRoute")
_SERVICE: Final = backend("svc", 80)


def _settings(name: str, to: dict[str, Json], **fields: Json) -> Resource:
    return resource("ClientSettingsPolicy", name, {"targetRef": to, **fields}, group=_GROUP, namespace="app")


def _policy(kind: str, name: str, to: dict[str, Json], **fields: Json) -> Resource:
    return resource(kind, name, {"targetRefs": [to], **fields}, group=_GROUP, namespace="app")


def _processor(name: str, to: str, age: int) -> Resource:
    processor: Json = {"type": "ExtProcess", "extProcess": {"backendRef": {"name": to, "port": 80}}}
    spec: Json = {"targetRef": _TO_TEA, "processors": [processor]}
    return resource("PayloadProcessor", name, spec, group=_GROUP, namespace="app", age=age)


WORLD: Final = [
    gateway_class("nginx", "gateway.nginx.org/nginx-gateway-controller"),
    gateway_class("theirs", "example.com/c"),
    gateway(
        "gw",
        listener(hostname="*.example.com"),
        listener("own", hostname="own.example.com", allowedRoutes={"kinds": [{"kind": "GRPCRoute"}]}),
        class_name="nginx",
        namespace="app",
    ),
    gateway("far", class_name="theirs", namespace="app"),
    route(
        "tea",
        namespace="app",
        parents=[parent("gw", "http"), parent("far")],
        hostnames=["tea.example.com"],
        rules=[rule(_SERVICE, backend("absent", 80)), rule(backend("other", 80))],
    ),
    route("plain", namespace="app", parents=[parent("far")], rules=[rule(_SERVICE)]),
    route(
        "lost",
        namespace="app",
        parents=[parent("gw"), parent("far")],
        hostnames=["lost.org"],
        rules=[rule(_SERVICE)],
    ),
    route("taken", namespace="app", parents=[parent("gw")], hostnames=["own.example.com"], rules=[rule(_SERVICE)]),
    service("svc", 80, namespace="app"),
    service("other", 80, namespace="app"),
    _settings(
        "above",
        _TO_GATEWAY,
        body={"maxSize": "1m", "timeout": "2s"},
        keepAlive={"timeout": {"server": "3s", "header": "4s"}},
    ),
    _settings("below", _TO_TEA, body={"maxSize": "5m"}),
    _settings("unserved", target("lost", "HTTPRoute"), body={"maxSize": "6m"}),
    _settings("foreign", target("plain", "HTTPRoute"), body={"maxSize": "7m"}),
    _policy("RateLimitPolicy", "limit", _TO_TEA, rateLimit={"local": {"rules": [{"rate": "1r/s"}, {"rate": "2r/s"}]}}),
    _policy(
        "SnippetsPolicy",
        "a-snip",
        _TO_GATEWAY,
        snippets=[{"context": "http", "value": "a;"}, {"context": "http.server", "value": "b;"}],
    ),
    _policy("SnippetsPolicy", "b-snip", _TO_GATEWAY, snippets=[{"context": "http", "value": "c;"}]),
    _processor("older", "svc", age=0),
    _processor("newer", "other", age=1),
    _policy("UpstreamSettingsPolicy", "up", target("svc", "Service", group=""), zoneSize="1m"),
    _policy("ExternalLoadBalancer", "lb", _TO_GATEWAY),
    policy("auth", kind="AuthPolicy", group="kuadrant.io", namespace="app", targetRef=target("plain", "HTTPRoute")),
]
GATEWAY: Final = "Gateway/app/gw"
TEA: Final = "HTTPRoute/app/tea"


def of_tea(rule: int) -> dict[str, Json]:
    """Return the settings in force for a rule of the route that has policies."""
    return {
        "gateway": GATEWAY,
        "route": TEA,
        "rule": rule,
        "fields": {
            "ClientSettingsPolicy": {
                "body.maxSize": {"value": "5m", "from": "app/below"},
                "body.timeout": {"value": "2s", "from": "app/above"},
                "keepAlive.timeout.server": {"value": "3s", "from": "app/above"},
                "keepAlive.timeout.header": {"value": "4s", "from": "app/above"},
            },
            "RateLimitPolicy": {"rateLimit.local.rules": {"from": ["app/limit#1", "app/limit#0"]}},
            "SnippetsPolicy": {
                "snippets[http]": {"from": ["app/a-snip", "app/b-snip"]},
                "snippets[http.server]": {"from": ["app/a-snip"]},
            },
            "PayloadProcessor": {"processors": {"from": "app/older"}},
        },
    }


SERVED: Final[list[Json]] = [of_tea(0), of_tea(1)]
UPSTREAM: Final[dict[str, Json]] = {
    "gateway": GATEWAY,
    "service": "Service/app/svc",
    "fields": {"UpstreamSettingsPolicy": {"zoneSize": {"value": "1m", "from": "app/up"}}},
}
UPSTREAMS: Final[list[Json]] = [UPSTREAM, {"gateway": GATEWAY, "service": "Service/app/other", "fields": {}}]
