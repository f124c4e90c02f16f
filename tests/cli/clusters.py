"""Clusters for commands: servers on loopback with a small world, and the kubeconfig by which they are reached."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

import yaml

from tests.cli.conftest import MANIFESTS
from tests.sources.cluster.faulty import FaultyServer

if TYPE_CHECKING:
    from pathlib import Path

Thing = dict[str, Any]

_MORE: Final = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: colorpolicies.example.com, labels: {gateway.networking.k8s.io/policy: Direct}}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: ColorPolicy, plural: colorpolicies}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: v1
kind: Namespace
metadata: {name: app}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: public}
spec: {controllerName: example.com/gateways}
"""


def things(text: str) -> list[Thing]:
    return [cast("Thing", each) for each in yaml.safe_load_all(text) if each]


def color(value: str, name: str = "red", *, route: str = "r") -> Thing:
    target = {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": route}
    return {
        "apiVersion": "example.com/v1",
        "kind": "ColorPolicy",
        "metadata": {"name": name, "namespace": "app"},
        "spec": {"targetRef": target, "color": value},
    }


def cluster(*more: Thing) -> FaultyServer:
    """A server with a Gateway, a route, a Service and a policy in namespace `app`; and with `more`."""
    return FaultyServer([*things(_MORE), *things(MANIFESTS), *more])


def kubeconfig(folder: Path, *, namespace: str = "", **servers: str) -> str:
    """A kubeconfig with a context for each URL, of that name; the first one is current."""
    inner = {"user": "somebody", **({"namespace": namespace} if namespace else {})}
    config: Thing = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": next(iter(servers)),
        "contexts": [{"name": name, "context": {**inner, "cluster": f"{name}-cluster"}} for name in servers],
        "clusters": [{"name": f"{name}-cluster", "cluster": {"server": url}} for name, url in servers.items()],
        "users": [{"name": "somebody", "user": {}}],
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(config), "utf-8")
    return str(path)
