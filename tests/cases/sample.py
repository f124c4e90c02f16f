"""A case of the tests' own: a small world in which a policy on a route beats one on its Gateway."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

    from kubectl_policy.model import Json

MANIFESTS: Final = """
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: public-class}
spec: {controllerName: example.com/c}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: g1, namespace: default}
spec:
  gatewayClassName: public-class
  listeners: [{name: http, port: 80, protocol: HTTP, hostname: "*.example.com"}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r1, namespace: default}
spec:
  parentRefs: [{name: g1}]
  rules: [{backendRefs: [{name: s1, port: 80}]}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: UDPRoute
metadata: {name: u1, namespace: default}
spec:
  parentRefs: [{name: g1}]
  rules: [{backendRefs: [{name: absent, port: 53}]}]
---
apiVersion: v1
kind: Service
metadata: {name: s1, namespace: default}
spec: {ports: [{name: web, port: 80}]}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: huepolicies.example.com, labels: {gateway.networking.k8s.io/policy: inherited}}
spec:
  group: example.com
  names: {kind: HuePolicy, plural: huepolicies}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true}]
---
apiVersion: example.com/v1
kind: HuePolicy
metadata: {name: low, namespace: default}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: r1}
  hue: {shade: 2}
---
apiVersion: example.com/v1
kind: HuePolicy
metadata: {name: high, namespace: default}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: g1}
  hue: {shade: 1, tint: 1}
"""


# The same world with a kind of Kuadrant's, which reports in words of its own.
OF_KUADRANT: Final = (
    MANIFESTS.replace("example.com/v1", "kuadrant.io/v1")
    .replace("group: example.com", "group: kuadrant.io")
    .replace("huepolicies.example.com", "authpolicies.kuadrant.io")
    .replace("huepolicies", "authpolicies")
    .replace("HuePolicy", "AuthPolicy")
    .replace("hue: {", "rules: {")
)


def case(folder: Path, expected: Json, name: str = "made-here", manifests: str = MANIFESTS) -> Path:
    """A folder of one case with one of the worlds above."""
    made = folder / name
    made.mkdir()
    (made / "manifests.yaml").write_text(manifests, "utf-8")
    (made / "expected.yaml").write_text(json.dumps(expected), "utf-8")
    return made
