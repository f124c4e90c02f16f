"""Worlds with a crowd in them: one team's objects among those of any number of other teams that are written alike.

What others have does not bear on what is asked: they live in namespaces of their own (`teams`), or have routes on the
one team's Gateway that differ in their names and hostnames (`neighbours`).
"""

from __future__ import annotations

from dataclasses import dataclass
from io import StringIO
from itertools import count, islice
from textwrap import indent
from typing import TYPE_CHECKING, Final

from kubectl_policy import load_manifests
from kubectl_policy.model.kinds import GATEWAY_API

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Snapshot

TEAM: Final = "shop"

_CLASS: Final = """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata:
  name: public
spec:
  controllerName: CONTROLLER
"""

_TEAM: Final = """\
apiVersion: v1
kind: Namespace
metadata:
  name: TEAM
  labels:
    kubernetes.io/metadata.name: TEAM
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: edge
  namespace: TEAM
spec:
  gatewayClassName: public
  allowedListeners:
    namespaces:
      from: Same
  listeners:
    - name: http
      port: 80
      protocol: HTTP
    - name: https
      port: 443
      protocol: HTTPS
      hostname: "*.TEAM.example.com"
      tls:
        certificateRefs:
          - name: certificate
            namespace: TEAM-certificates
---
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata:
  name: more
  namespace: TEAM
spec:
  parentRef:
    name: edge
  listeners:
    - name: admin
      port: 8443
      protocol: HTTPS
      hostname: admin.TEAM.example.com
      tls:
        certificateRefs:
          - name: admin
---
apiVersion: v1
kind: Secret
metadata:
  name: certificate
  namespace: TEAM-certificates
type: kubernetes.io/tls
---
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata:
  name: certificates
  namespace: TEAM-certificates
spec:
  from:
    - group: gateway.networking.k8s.io
      kind: Gateway
      namespace: TEAM
  to:
    - group: ""
      kind: Secret
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: web
  namespace: TEAM
  labels:
    app: web
spec:
  parentRefs:
    - name: edge
  hostnames:
    - web.TEAM.example.com
  rules:
    - matches:
        - path:
            type: PathPrefix
            value: /api
      backendRefs:
        - name: web
          port: 80
    - backendRefs:
        - name: store
          namespace: TEAM-data
          port: 80
---
apiVersion: v1
kind: Event
metadata:
  name: web.1
  namespace: TEAM
involvedObject:
  kind: HTTPRoute
  namespace: TEAM
  name: web
reason: Updated
type: Normal
---
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: TEAM
  labels:
    app: web
spec:
  selector:
    app: web
  ports:
    - name: http
      port: 80
---
apiVersion: v1
kind: Service
metadata:
  name: store
  namespace: TEAM-data
spec:
  selector:
    app: store
  ports:
    - name: http
      port: 80
---
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata:
  name: store
  namespace: TEAM-data
spec:
  from:
    - group: gateway.networking.k8s.io
      kind: HTTPRoute
      namespace: TEAM
  to:
    - group: ""
      kind: Service
      name: store
"""

# A route on the one team's Gateway, and what it leads to.
_NEIGHBOUR: Final = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: NAME
  namespace: TEAM
  labels:
    app: NAME
spec:
  parentRefs:
    - name: edge
  hostnames:
    - NAME.TEAM.example.com
  rules:
    - backendRefs:
        - name: NAME
          port: 80
---
apiVersion: v1
kind: Service
metadata:
  name: NAME
  namespace: TEAM
  labels:
    app: NAME
spec:
  selector:
    app: NAME
  ports:
    - name: http
      port: 80
"""

_DEFINITION: Final = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: retrypolicies.example.io
  labels:
    gateway.networking.k8s.io/policy: inherited
spec:
  group: example.io
  scope: Namespaced
  names:
    kind: RetryPolicy
    plural: retrypolicies
    singular: retrypolicy
  versions:
    - name: v1
      served: true
      storage: true
"""


def _policy(kind: str, name: str, *spec: str) -> str:
    """A policy of a team, `kind` as `GROUP/VERSION/KIND`; the lines of its spec."""
    version, _, kind = kind.rpartition("/")
    metadata = f'  name: {name}\n  namespace: TEAM\n  creationTimestamp: "2026-01-01T00:00:00Z"\n'
    return f"apiVersion: {version}\nkind: {kind}\nmetadata:\n{metadata}spec:\n{indent(chr(10).join(spec), '  ')}\n"


def _refs(kind: str, name: str, group: str = GATEWAY_API, section: str = "") -> str:
    """A list of target references with one item."""
    named = f"targetRefs:\n  - group: {group}\n    kind: {kind}\n    name: {name}"
    return f"{named}\n    sectionName: {section}" if section else named


def _ref(kind: str, name: str) -> str:
    """A target reference that is no list."""
    return f"targetRef:\n  group: {GATEWAY_API}\n  kind: {kind}\n  name: {name}"


def _selectors(app: str) -> str:
    """A list of target selectors with one item."""
    return f"targetSelectors:\n  - group: {GATEWAY_API}\n    kind: HTTPRoute\n    matchLabels:\n      app: {app}"


def _workloads(app: str) -> str:
    """A selector of workloads."""
    return f"selector:\n  matchLabels:\n    app: {app}"


@dataclass(frozen=True, kw_only=True)
class Implementation:
    """The controller of all Gateways, what each team has of its policies, and what is asked about.

    `own` is a policy on the route `web`, of a sort that every neighbour has as well. `elsewhere` is a policy that has
    no effect on that route, `kind` a kind.
    """

    controller: str
    policies: tuple[str, ...]
    own: str
    elsewhere: str
    kind: str
    definitions: tuple[str, ...] = ()


_RETRY: Final = "example.io/v1/RetryPolicy"
_ENVOY: Final = "gateway.envoyproxy.io/v1alpha1"
_ISTIO: Final = "security.istio.io/v1"
_KGATEWAY: Final = "gateway.kgateway.dev/v1alpha1"
_NGINX: Final = "gateway.nginx.org/v1alpha1"
_KUADRANT: Final = "kuadrant.io/v1"
_DENY: Final = 'rules: [{to: [{operation: {ports: ["81"]}}]}]'

IMPLEMENTATIONS: Final = {
    "unknown": Implementation(
        controller="example.io/gateway-controller",
        definitions=(_DEFINITION,),
        policies=(
            _policy(_RETRY, "edge", _refs("Gateway", "edge"), "attempts: 5"),
            _policy(_RETRY, "admin", _refs("ListenerSet", "more"), "attempts: 5"),
        ),
        own=_policy(_RETRY, "web", _refs("HTTPRoute", "web"), "attempts: 5"),
        elsewhere="retrypolicy/admin",
        kind="retrypolicy",
    ),
    "envoy-gateway": Implementation(
        controller="gateway.envoyproxy.io/gatewayclass-controller",
        policies=(
            _policy(
                f"{_ENVOY}/ClientTrafficPolicy",
                "edge",
                _refs("Gateway", "edge", section="https"),
                "timeout: {http: {requestReceivedTimeout: 10s}}",
            ),
            _policy(
                f"{_ENVOY}/BackendTrafficPolicy",
                "edge",
                _refs("Gateway", "edge"),
                "timeout: {http: {requestTimeout: 10s}}",
            ),
            _policy(f"{_ENVOY}/BackendTrafficPolicy", "labelled", _selectors("absent"), "retry: {numRetries: 2}"),
            _policy(
                f"{_ENVOY}/SecurityPolicy",
                "admin",
                _refs("Gateway", "edge"),
                "extAuth: {http: {backendRefs: [{name: web, port: 80}]}}",
            ),
        ),
        own=_policy(f"{_ENVOY}/BackendTrafficPolicy", "web", _refs("HTTPRoute", "web"), "retry: {numRetries: 5}"),
        elsewhere="backendtrafficpolicy/labelled",
        kind="securitypolicy",
    ),
    "istio": Implementation(
        controller="istio.io/gateway-controller",
        policies=(
            _policy(f"{_ISTIO}/AuthorizationPolicy", "edge", _refs("Gateway", "edge"), "action: DENY", _DENY),
            _policy(f"{_ISTIO}/AuthorizationPolicy", "web", _workloads("web"), _DENY),
            _policy(
                f"{_ISTIO}/RequestAuthentication",
                "absent",
                _workloads("absent"),
                "jwtRules: [{issuer: https://example.com}]",
            ),
            _policy("telemetry.istio.io/v1/Telemetry", "all", "metrics: [{providers: [{name: prometheus}]}]"),
        ),
        own=_policy(f"{_ISTIO}/AuthorizationPolicy", "of-web", _refs("Service", "web", '""'), _DENY),
        elsewhere="requestauthentication/absent",
        kind="telemetry",
    ),
    "kgateway": Implementation(
        controller="kgateway.dev/kgateway",
        policies=(
            _policy(f"{_KGATEWAY}/HTTPListenerPolicy", "edge", _refs("Gateway", "edge"), "useRemoteAddress: true"),
            _policy(f"{_KGATEWAY}/TrafficPolicy", "edge", _refs("Gateway", "edge"), "timeouts: {request: 10s}"),
            _policy(f"{_KGATEWAY}/TrafficPolicy", "labelled", _selectors("absent"), "timeouts: {request: 20s}"),
            _policy(f"{_KGATEWAY}/BackendConfigPolicy", "web", _refs("Service", "web", '""'), "connectTimeout: 5s"),
        ),
        own=_policy(f"{_KGATEWAY}/TrafficPolicy", "web", _refs("HTTPRoute", "web"), "retry: {attempts: 5}"),
        elsewhere="trafficpolicy/labelled",
        kind="httplistenerpolicy",
    ),
    "nginx-gateway-fabric": Implementation(
        controller="gateway.nginx.org/nginx-gateway-controller",
        policies=(
            _policy(f"{_NGINX}/ClientSettingsPolicy", "edge", _ref("Gateway", "edge"), "body: {maxSize: 1m}"),
            _policy(f"{_NGINX}/UpstreamSettingsPolicy", "web", _refs("Service", "web", "core"), "zoneSize: 1m"),
            _policy(f"{_NGINX}/NginxProxy", "proxy", "disableHTTP2: true"),
            _policy(f"{_NGINX}/SnippetsFilter", "filter", "snippets: [{context: http, value: aio on;}]"),
        ),
        own=_policy(f"{_NGINX}/ClientSettingsPolicy", "web", _ref("HTTPRoute", "web"), "body: {maxSize: 2m}"),
        elsewhere="upstreamsettingspolicy/web",
        kind="upstreamsettingspolicy",
    ),
    "kuadrant": Implementation(
        controller="istio.io/gateway-controller",
        policies=(
            _policy(
                f"{_KUADRANT}/AuthPolicy",
                "edge",
                _ref("Gateway", "edge"),
                "defaults: {rules: {authorization: {deny: {opa: {rego: allow = false}}}}}",
            ),
            _policy(f"{_KUADRANT}/DNSPolicy", "edge", _ref("Gateway", "edge"), "providerRefs: [{name: provider}]"),
            _policy(
                f"{_KUADRANT}/RateLimitPolicy",
                "edge",
                _ref("Gateway", "edge"),
                "limits: {all: {rates: [{limit: 5, window: 10s}]}}",
            ),
        ),
        own=_policy(
            f"{_KUADRANT}/RateLimitPolicy",
            "web",
            _ref("HTTPRoute", "web"),
            "limits: {all: {rates: [{limit: 7, window: 10s}]}}",
        ),
        elsewhere="authpolicy/edge",
        kind="dnspolicy",
    ),
}


def _documents(implementation: Implementation, *, neighbours: bool) -> Iterator[str]:
    """The documents of the one team, then without end those of others, or of routes on the one team's Gateway."""
    yield _CLASS.replace("CONTROLLER", implementation.controller)
    yield from implementation.definitions
    team = "---\n".join((_TEAM, *implementation.policies, implementation.own))
    neighbour = "---\n".join((_NEIGHBOUR, implementation.own.replace("web", "NAME"))).replace("TEAM", TEAM)
    yield from team.replace("TEAM", TEAM).split("---\n")
    for number in count():
        is_neighbour = neighbours and number >= _TEAMS
        others = (
            neighbour.replace("NAME", f"route-{number}") if is_neighbour else team.replace("TEAM", f"team-{number}")
        )
        yield from others.split("---\n")


# So many other teams there are in every world: of what there is once or twice, all is read.
_TEAMS: Final = 20


def world(name: str, size: int, *, neighbours: bool = False) -> Snapshot:
    """So many objects, read from text, where an implementation has all Gateways."""
    text = "---\n".join(islice(_documents(IMPLEMENTATIONS[name], neighbours=neighbours), size))
    return load_manifests("-", stdin=StringIO(text))
