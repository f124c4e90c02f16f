"""Worlds that have much of one thing: what takes too long in one of them compares, or rebuilds, what it should look up.

`python -m bench.worlds FUNCTION SIZE` writes one to standard output.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import chain
from textwrap import indent
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LISTENERS: Final = 64
GATEWAY_API: Final = "gateway.networking.k8s.io"


@dataclass(frozen=True, kw_only=True)
class PolicyKind:
    """A kind of policy, `GROUP/VERSION/KIND`, and a spec of it that sets something, without targets."""

    kind: str
    controller: str
    spec: str

    def manifest(self, name: str, targets: str, spec: str = "", namespace: str = "team") -> str:
        """A policy of this kind; `targets` is its targetRefs or targetSelectors."""
        return manifest(self.kind, name, namespace, spec=f"{targets}\n{spec or self.spec}")


UNKNOWN: Final = PolicyKind(
    kind="example.io/v1/RetryPolicy",
    controller="example.io/gateway-controller",
    spec='attempts: 5\nperTryTimeout: 10s\nretryOn: [connect-failure, refused-stream, "503"]',
)
ENVOY_GATEWAY: Final = PolicyKind(
    kind="gateway.envoyproxy.io/v1alpha1/BackendTrafficPolicy",
    controller="gateway.envoyproxy.io/gatewayclass-controller",
    spec="retry:\n  numRetries: 5\n  perRetry: {timeout: 10s}\ntimeout:\n  http: {requestTimeout: 30s}",
)
KGATEWAY: Final = PolicyKind(
    kind="gateway.kgateway.dev/v1alpha1/TrafficPolicy",
    controller="kgateway.dev/kgateway",
    spec="retry:\n  attempts: 5\ntimeouts:\n  request: 30s",
)


def manifest(kind: str, name: str, namespace: str = "", *, spec: str = "", labels: str = "") -> str:
    """One YAML document; `kind` is `GROUP/VERSION/KIND`, `spec` is in block style, `labels` a flow mapping."""
    api_version, _, kind = kind.rpartition("/")
    lines = [f"apiVersion: {api_version}", f"kind: {kind}", "metadata:", f"  name: {name}"]
    lines += [f"  namespace: {namespace}"] * bool(namespace)
    lines += [f"  labels: {labels}"] * bool(labels)
    lines += ["spec:", indent(spec, "  ")] * bool(spec)
    return "\n".join(lines) + "\n"


def gateway_class(policies: PolicyKind) -> Iterator[str]:
    """The class `public` of the controller of a kind, and the definition of the kind where no profile knows it."""
    yield manifest(f"{GATEWAY_API}/v1/GatewayClass", "public", spec=f"controllerName: {policies.controller}")
    for namespace in ("infra", "team"):
        yield manifest("v1/Namespace", namespace, labels=f"{{kubernetes.io/metadata.name: {namespace}}}")
    if policies is UNKNOWN:
        yield manifest(
            "apiextensions.k8s.io/v1/CustomResourceDefinition",
            "retrypolicies.example.io",
            labels=f"{{{GATEWAY_API}/policy: inherited}}",
            spec="group: example.io\nscope: Namespaced\nnames: {kind: RetryPolicy, plural: retrypolicies}\n"
            "versions:\n- {name: v1, served: true, storage: true}",
        )


def gateway(name: str = "edge", namespace: str = "infra", listeners: int = 1) -> str:
    """A Gateway that lets in the routes of all Namespaces, and ListenerSets as well."""
    each = "\n".join(
        f"- name: l{n}\n  port: {8000 + n}\n  protocol: HTTP\n  allowedRoutes:\n    namespaces: {{from: All}}"
        for n in range(listeners)
    )
    sets = "allowedListeners:\n  namespaces: {from: All}"
    spec = f"gatewayClassName: public\n{sets}\nlisteners:\n{each}"
    return manifest(f"{GATEWAY_API}/v1/Gateway", name, namespace, spec=spec)


EDGE: Final = "{name: edge, namespace: infra}"


def route(
    name: str,
    backend: str = "service",
    *,
    parent: str = EDGE,
    labels: str = "",
    namespace: str = "team",
) -> str:
    """An HTTPRoute with a hostname of its own; `parent` is a flow mapping."""
    spec = f"""\
parentRefs:
- {parent}
hostnames: [{name}.example.com]
rules:
- matches:
  - path: {{type: PathPrefix, value: /api}}
  backendRefs:
  - {{name: {backend}, port: 80}}"""
    return manifest(f"{GATEWAY_API}/v1/HTTPRoute", name, namespace, spec=spec, labels=labels)


def service(name: str = "service", namespace: str = "team") -> str:
    """A Service with one port."""
    return manifest("v1/Service", name, namespace, spec="selector: {app: a}\nports:\n- {name: http, port: 80}")


def target(kind: str, name: str, group: str = GATEWAY_API) -> str:
    """An item of targetRefs."""
    return f'- {{group: "{group}", kind: {kind}, name: {name}}}'


def on(kind: str, name: str, group: str = GATEWAY_API) -> str:
    """The targetRefs of a policy with one target."""
    return f"targetRefs:\n{target(kind, name, group)}"


def _under_one_gateway(size: int, policies: PolicyKind) -> Iterator[str]:
    yield from gateway_class(policies)
    yield gateway()
    yield policies.manifest("edge", on("Gateway", "edge"), namespace="infra")
    for n in range(size):
        yield route(f"route-{n}", f"service-{n}")
        yield service(f"service-{n}")
        if n % 10 == 0:
            yield policies.manifest(f"route-{n}", on("HTTPRoute", f"route-{n}"))


def one_gateway(size: int) -> Iterator[str]:
    """So many routes on one Gateway with a policy, a tenth of them with policies of their own: an unknown kind."""
    return _under_one_gateway(size, UNKNOWN)


_REPORTED: Final = """\
status:
  parents:
  - parentRef: {name: edge, namespace: infra}
    controllerName: example.io/gateway-controller
    conditions:
    - {type: Accepted, status: "True", reason: Accepted}
    - {type: ResolvedRefs, status: "True", reason: ResolvedRefs}
"""


def one_gateway_reported(size: int) -> Iterator[str]:
    """The same with what a controller that agrees reported on each route."""
    return (text + _REPORTED if "\nkind: HTTPRoute\n" in text else text for text in one_gateway(size))


def one_gateway_envoy(size: int) -> Iterator[str]:
    """The same with a kind that a profile knows, where the policies of routes replace the Gateway's."""
    return _under_one_gateway(size, ENVOY_GATEWAY)


def one_gateway_kgateway(size: int) -> Iterator[str]:
    """The same with a kind that is merged field by field."""
    return _under_one_gateway(size, KGATEWAY)


def _one_route(policies: PolicyKind) -> Iterator[str]:
    return chain(gateway_class(policies), (gateway(), route("route-0"), service()))


def policies_on_one_target(size: int) -> Iterator[str]:
    """So many policies on one route."""
    yield from _one_route(UNKNOWN)
    for n in range(size):
        yield UNKNOWN.manifest(f"policy-{n}", on("HTTPRoute", "route-0"))


def envoy_policies_on_one_target(size: int) -> Iterator[str]:
    """So many policies on one route, of which the first one counts."""
    yield from _one_route(ENVOY_GATEWAY)
    for n in range(size):
        yield ENVOY_GATEWAY.manifest(f"policy-{n}", on("HTTPRoute", "route-0"))


def policies_on_their_namespace(size: int) -> Iterator[str]:
    """So many policies on the Namespace that they are in."""
    yield from _one_route(UNKNOWN)
    for n in range(size):
        yield UNKNOWN.manifest(f"policy-{n}", on("Namespace", "team", ""))


def many_targets(size: int) -> Iterator[str]:
    """One policy that names so many routes."""
    yield from chain(gateway_class(UNKNOWN), (gateway(), service()))
    yield from (route(f"route-{n}") for n in range(size))
    targets = "\n".join(target("HTTPRoute", f"route-{n}") for n in range(size))
    yield UNKNOWN.manifest("everywhere", f"targetRefs:\n{targets}")


def one_selector(size: int) -> Iterator[str]:
    """One policy that selects so many routes."""
    yield from chain(gateway_class(ENVOY_GATEWAY), (gateway(), service()))
    yield from (route(f"route-{n}", labels="{a: b}") for n in range(size))
    yield ENVOY_GATEWAY.manifest("everywhere", _selecting("b"))


def many_selectors(size: int) -> Iterator[str]:
    """So many policies that each select one of so many routes."""
    yield from chain(gateway_class(ENVOY_GATEWAY), (gateway(), service()))
    for n in range(size):
        yield route(f"route-{n}", labels=f"{{a: b-{n}}}")
        yield ENVOY_GATEWAY.manifest(f"policy-{n}", _selecting(f"b-{n}"))


def _selecting(value: str) -> str:
    return f"targetSelectors:\n- group: {GATEWAY_API}\n  kind: HTTPRoute\n  matchLabels: {{a: {value}}}"


def many_fields(size: int) -> Iterator[str]:
    """A policy with so many fields on the Gateway, and one with every other of them on a route."""
    yield from _one_route(UNKNOWN)
    yield UNKNOWN.manifest("wide", on("Gateway", "edge"), _fields(range(size)), namespace="infra")
    yield UNKNOWN.manifest("own", on("HTTPRoute", "route-0"), _fields(range(0, size, 2)))


def _fields(numbers: range) -> str:
    return "\n".join(f"field{n}: value-{n}" for n in numbers)


def long_lists(size: int) -> Iterator[str]:
    """A policy with so many elements in a list, which are merged by name with those of a policy on a route."""
    yield from _one_route(ENVOY_GATEWAY)
    yield ENVOY_GATEWAY.manifest("wide", on("Gateway", "edge"), _rules(range(size)), namespace="infra")
    merging = f"mergeType: StrategicMerge\n{_rules(range(0, size, 2))}"
    yield ENVOY_GATEWAY.manifest("own", on("HTTPRoute", "route-0"), merging)


def _rules(numbers: range) -> str:
    each = (f"    - name: r{n}\n      limit: {{requests: {n + 1}, unit: Minute}}" for n in numbers)
    return "rateLimit:\n  type: Global\n  global:\n    rules:\n" + "\n".join(each)


def long_lists_kgateway(size: int) -> Iterator[str]:
    """A policy with so many elements in a list on a Gateway, and one with as many on a route."""
    yield from _one_route(KGATEWAY)
    for name, kind, of, namespace in (("wide", "Gateway", "edge", "infra"), ("own", "HTTPRoute", "route-0", "team")):
        headers = "\n".join(f"    - {{name: x-{name}-{n}, value: v}}" for n in range(size))
        yield KGATEWAY.manifest(
            name, on(kind, of), f"headerModifiers:\n  request:\n    set:\n{headers}", namespace=namespace
        )


def one_service(size: int) -> Iterator[str]:
    """So many routes in front of one Service, with a policy on the Service."""
    yield from chain(gateway_class(UNKNOWN), (gateway(), service()))
    yield UNKNOWN.manifest("service", on("Service", "service", ""))
    yield from (route(f"route-{n}") for n in range(size))


def listeners_and_routes(size: int) -> Iterator[str]:
    """So many routes on each of 64 listeners, in front of one Service."""
    yield from chain(gateway_class(UNKNOWN), (gateway(listeners=MAX_LISTENERS), service()))
    yield UNKNOWN.manifest("edge", on("Gateway", "edge"), namespace="infra")
    yield from (route(f"route-{n}") for n in range(size))


def one_class(size: int) -> Iterator[str]:
    """So many Gateways of one class, each with a route to one Service."""
    yield from chain(gateway_class(UNKNOWN), (service(),))
    yield UNKNOWN.manifest("class", on("GatewayClass", "public"), namespace="infra")
    for n in range(size):
        yield gateway(f"edge-{n}")
        yield route(f"route-{n}", parent=f"{{name: edge-{n}, namespace: infra}}")


def grants(size: int) -> Iterator[str]:
    """So many routes, each with a Service in another Namespace, and a ReferenceGrant there for each."""
    yield from chain(gateway_class(UNKNOWN), (gateway(),))
    yield UNKNOWN.manifest("edge", on("Gateway", "edge"), namespace="infra")
    for n in range(size):
        yield service(f"service-{n}", "backends")
        yield route(f"route-{n}", f"service-{n}, namespace: backends")
        spec = (
            f'from:\n- {{group: {GATEWAY_API}, kind: HTTPRoute, namespace: team}}\nto:\n- {{group: "", '
            f"kind: Service, name: service-{n}}}"
        )
        yield manifest(f"{GATEWAY_API}/v1beta1/ReferenceGrant", f"grant-{n}", "backends", spec=spec)


def listener_sets(size: int) -> Iterator[str]:
    """So many ListenerSets on one Gateway, each with a listener of its own and a route on it."""
    yield from chain(gateway_class(UNKNOWN), (gateway(), service()))
    yield UNKNOWN.manifest("edge", on("Gateway", "edge"), namespace="infra")
    for n in range(size):
        listeners = f"listeners:\n- {{name: own, port: 80, protocol: HTTP, hostname: set-{n}.example.com}}"
        spec = f"parentRef: {{name: edge, namespace: infra}}\n{listeners}"
        yield manifest(f"{GATEWAY_API}/v1/ListenerSet", f"set-{n}", "team", spec=spec)
        yield route(f"route-{n}", parent=f"{{group: {GATEWAY_API}, kind: ListenerSet, name: set-{n}}}")


def under_one_policy(size: int) -> Iterator[str]:
    """So many routes in one Namespace, on which there is one policy; behind each is a Service of its own."""
    yield from chain(gateway_class(UNKNOWN), (gateway(),))
    yield UNKNOWN.manifest("everywhere", on("Namespace", "team", ""))
    for n in range(size):
        yield route(f"route-{n}", f"service-{n}")
        yield service(f"service-{n}")


def written(documents: Iterator[str]) -> Iterator[str]:
    """The text of a world: documents with their markers."""
    return (f"---\n{document}" for document in documents)


if __name__ == "__main__":
    sys.stdout.writelines(written(globals()[sys.argv[1]](int(sys.argv[2]))))
