"""A world of any size as people have it: teams that share a GatewayClass, each with a Gateway, routes and policies."""

from __future__ import annotations

from itertools import count, islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUTES_PER_TEAM: Final = 30

_SHARED: Final = (
    """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: retrypolicies.example.io
  labels:
    gateway.networking.k8s.io/policy: inherited
spec:
  group: example.io
  scope: Namespaced
  names: {kind: RetryPolicy, plural: retrypolicies, singular: retrypolicy}
  versions:
    - name: v1
      served: true
      storage: true
""",
    """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata:
  name: public
spec:
  controllerName: example.io/gateway-controller
""",
)

_TEAM: Final = (
    """\
apiVersion: v1
kind: Namespace
metadata:
  name: team-{team}
  labels:
    kubernetes.io/metadata.name: team-{team}
""",
    """\
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: edge
  namespace: team-{team}
spec:
  gatewayClassName: public
  listeners:
    - name: http
      port: 80
      protocol: HTTP
    - name: https
      port: 443
      protocol: HTTPS
      hostname: "*.team-{team}.example.com"
      tls:
        certificateRefs:
          - name: edge-certificate
""",
    """\
apiVersion: example.io/v1
kind: RetryPolicy
metadata:
  name: edge
  namespace: team-{team}
  creationTimestamp: "2026-01-01T00:00:00Z"
spec:
  targetRefs:
    - group: gateway.networking.k8s.io
      kind: Gateway
      name: edge
  attempts: 5
  perTryTimeout: 10s
  retryOn: [connect-failure, refused-stream, "503"]
""",
)

_ROUTE: Final = (
    """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: route-{route}
  namespace: team-{team}
  labels:
    app.kubernetes.io/name: route-{route}
    app.kubernetes.io/part-of: team-{team}
spec:
  parentRefs:
    - name: edge
  hostnames:
    - route-{route}.team-{team}.example.com
  rules:
    - matches:
        - path:
            type: PathPrefix
            value: /api
      backendRefs:
        - name: service-{route}
          port: 8080
""",
    """\
apiVersion: v1
kind: Service
metadata:
  name: service-{route}
  namespace: team-{team}
  labels:
    app.kubernetes.io/name: service-{route}
spec:
  selector:
    app.kubernetes.io/name: service-{route}
  ports:
    - name: http
      port: 8080
      targetPort: http
      protocol: TCP
""",
    """\
apiVersion: example.io/v1
kind: RetryPolicy
metadata:
  name: route-{route}
  namespace: team-{team}
  creationTimestamp: "2026-02-01T00:00:00Z"
spec:
  targetRefs:
    - group: gateway.networking.k8s.io
      kind: HTTPRoute
      name: route-{route}
  attempts: 2
  perTryTimeout: 2s
""",
)


def _endless() -> Iterator[str]:
    yield from _SHARED
    for team in count():
        for document in _TEAM:
            yield document.format(team=team)
        for route in range(ROUTES_PER_TEAM):
            for document in _ROUTE:
                yield document.format(team=team, route=route)


# What a controller that agrees with everything would have written, below the documents that it is written on.
_REPORTS: Final = {
    "kind: Gateway\n": """\
status:
  conditions:
    - {type: Accepted, status: "True", reason: Accepted}
  listeners:
    - name: http
      attachedRoutes: 30
      conditions:
        - {type: Accepted, status: "True", reason: Accepted}
        - {type: ResolvedRefs, status: "True", reason: ResolvedRefs}
    - name: https
      attachedRoutes: 30
      conditions:
        - {type: Accepted, status: "True", reason: Accepted}
        - {type: ResolvedRefs, status: "True", reason: ResolvedRefs}
""",
    "kind: HTTPRoute\n": """\
status:
  parents:
    - parentRef: {name: edge}
      controllerName: example.io/gateway-controller
      conditions:
        - {type: Accepted, status: "True", reason: Accepted}
        - {type: ResolvedRefs, status: "True", reason: ResolvedRefs}
""",
    "kind: RetryPolicy\n": """\
status:
  ancestors:
    - ancestorRef: {name: edge}
      controllerName: example.io/gateway-controller
      conditions:
        - {type: Accepted, status: "True", reason: Accepted}
""",
}


def reported(size: int) -> Iterator[str]:
    """The same objects as `documents`, with what controllers reported on them."""
    for document in documents(size):
        report = next((text for kind, text in _REPORTS.items() if f"\n{kind}" in document), "")
        yield document + report


def documents(size: int) -> Iterator[str]:
    """Exactly `size` objects, one YAML document each; the same ones for the same size.

    From a size of 6 on, HTTPRoute `route-0` in namespace `team-0` is among them, under a policy on its Gateway.
    """
    return islice(_endless(), size)
