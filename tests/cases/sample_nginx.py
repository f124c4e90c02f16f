"""A world of the tests' own for NGINX Gateway Fabric's kinds, and what is in force in it as its cases write it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kubectl_policy.model import Json

WORLD: Final = """
{apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass, metadata: {name: nginx},
 spec: {controllerName: gateway.nginx.org/nginx-gateway-controller}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass, metadata: {name: theirs},
 spec: {controllerName: example.com/c}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: app}
spec:
  gatewayClassName: nginx
  listeners:
  - {name: http, port: 80, protocol: HTTP, hostname: "*.example.com"}
  - {name: own, port: 80, protocol: HTTP, hostname: own.example.com, allowedRoutes: {kinds: [{kind: GRPCRoute}]}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: far, namespace: app}
spec:
  gatewayClassName: theirs
  listeners: [{name: http, port: 80, protocol: HTTP}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: tea, namespace: app}
spec:
  parentRefs: [{name: gw, sectionName: http}, {name: far}]
  hostnames: [tea.example.com]
  rules:
  - backendRefs: [{name: svc, port: 80}, {name: absent, port: 80}]
  - backendRefs: [{name: other, port: 80}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: plain, namespace: app}
spec:
  parentRefs: [{name: far}]
  rules: [{backendRefs: [{name: svc, port: 80}]}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: lost, namespace: app}
spec:
  parentRefs: [{name: gw}, {name: far}]
  hostnames: [lost.org]
  rules: [{backendRefs: [{name: svc, port: 80}]}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: taken, namespace: app}
spec:
  parentRefs: [{name: gw}]
  hostnames: [own.example.com]
  rules: [{backendRefs: [{name: svc, port: 80}]}]
---
{apiVersion: v1, kind: Service, metadata: {name: svc, namespace: app}, spec: {ports: [{port: 80}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: other, namespace: app}, spec: {ports: [{port: 80}]}}
---
apiVersion: gateway.nginx.org/v1alpha1
kind: ClientSettingsPolicy
metadata: {name: above, namespace: app}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: gw}
  body: {maxSize: 1m, timeout: 2s}
  keepAlive: {timeout: {server: 3s, header: 4s}}
---
apiVersion: gateway.nginx.org/v1alpha1
kind: ClientSettingsPolicy
metadata: {name: below, namespace: app}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: tea}
  body: {maxSize: 5m}
---
apiVersion: gateway.nginx.org/v1alpha1
kind: ClientSettingsPolicy
metadata: {name: unserved, namespace: app}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: lost}
  body: {maxSize: 6m}
---
apiVersion: gateway.nginx.org/v1alpha1
kind: ClientSettingsPolicy
metadata: {name: foreign, namespace: app}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: plain}
  body: {maxSize: 7m}
---
apiVersion: gateway.nginx.org/v1alpha1
kind: RateLimitPolicy
metadata: {name: limit, namespace: app}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: tea}]
  rateLimit: {local: {rules: [{rate: 1r/s}, {rate: 2r/s}]}}
---
apiVersion: gateway.nginx.org/v1alpha1
kind: SnippetsPolicy
metadata: {name: a-snip, namespace: app}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: gw}]
  snippets: [{context: http, value: "a;"}, {context: http.server, value: "b;"}]
---
apiVersion: gateway.nginx.org/v1alpha1
kind: SnippetsPolicy
metadata: {name: b-snip, namespace: app}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: gw}]
  snippets: [{context: http, value: "c;"}]
---
apiVersion: gateway.nginx.org/v1alpha1
kind: PayloadProcessor
metadata: {name: older, namespace: app, creationTimestamp: "2026-01-01T00:00:00Z"}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: tea}
  processors: [{type: ExtProcess, extProcess: {backendRef: {name: svc, port: 80}}}]
---
apiVersion: gateway.nginx.org/v1alpha1
kind: PayloadProcessor
metadata: {name: newer, namespace: app, creationTimestamp: "2026-01-02T00:00:00Z"}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: tea}
  processors: [{type: ExtProcess, extProcess: {backendRef: {name: other, port: 80}}}]
---
apiVersion: gateway.nginx.org/v1alpha1
kind: UpstreamSettingsPolicy
metadata: {name: up, namespace: app}
spec:
  targetRefs: [{group: "", kind: Service, name: svc}]
  zoneSize: 1m
---
apiVersion: gateway.nginx.org/v1alpha1
kind: ExternalLoadBalancer
metadata: {name: lb, namespace: app}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: gw}]
---
apiVersion: kuadrant.io/v1
kind: AuthPolicy
metadata: {name: auth, namespace: app}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: plain}
"""
GATEWAY: Final = "Gateway/app/gw"
TEA: Final = "HTTPRoute/app/tea"


def of_tea(rule: int) -> dict[str, Json]:
    """What is in force for each rule of the route with policies of its own."""
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
