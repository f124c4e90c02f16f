"""Worlds in which each of many things meets others: rules and listeners, Namespaces, selectors, delegation, changes."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from bench.worlds import (
    EDGE,
    ENVOY_GATEWAY,
    GATEWAY_API,
    KGATEWAY,
    MAX_LISTENERS,
    UNKNOWN,
    gateway,
    gateway_class,
    manifest,
    on,
    route,
    service,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_RULES_OF_A_ROUTE: Final = 16
_DEPTH: Final = 8
_ROUTES_OF_A_POLICY: Final = 10


def rules_and_listeners(size: int) -> Iterator[str]:
    """So many rules, 16 in each route, all of them on 64 listeners; each route has a policy of its own."""
    yield from chain(gateway_class(UNKNOWN), (gateway(listeners=MAX_LISTENERS), service()))
    yield UNKNOWN.manifest("edge", on("Gateway", "edge"), namespace="infra")
    for n in range(0, size, _RULES_OF_A_ROUTE):
        rules = "\n".join(
            f"- matches:\n  - path: {{type: PathPrefix, value: /{rule}}}\n"
            "  backendRefs:\n  - {name: service, port: 80}"
            for rule in range(n, min(n + _RULES_OF_A_ROUTE, size))
        )
        name = f"route-{n // _RULES_OF_A_ROUTE}"
        spec = f"parentRefs:\n- {EDGE}\nrules:\n{rules}"
        yield manifest(f"{GATEWAY_API}/v1/HTTPRoute", name, "team", spec=spec)
        yield UNKNOWN.manifest(name, on("HTTPRoute", name))


def namespaces(size: int) -> Iterator[str]:
    """So many Namespaces, each with a policy on it, a route on one Gateway and a Service of its own."""
    yield from chain(gateway_class(UNKNOWN), (gateway(),))
    yield UNKNOWN.manifest("edge", on("Gateway", "edge"), namespace="infra")
    for n in range(size):
        namespace = f"team-{n}"
        yield manifest("v1/Namespace", namespace)
        yield route(f"route-{n}", namespace=namespace)
        yield service(namespace=namespace)
        yield UNKNOWN.manifest("own", on("Namespace", namespace, ""), namespace=namespace)


def selected_namespaces(size: int) -> Iterator[str]:
    """So many Namespaces with a route in each, selected by labels: each by one of the 64 listeners of a Gateway."""
    yield from chain(gateway_class(UNKNOWN), (service(),))
    listeners = "\n".join(
        f"- name: l{n}\n  port: {8000 + n}\n  protocol: HTTP\n"
        f"  allowedRoutes:\n    namespaces: {{from: Selector, selector: {{matchLabels: {{edge: l{n}}}}}}}"
        for n in range(MAX_LISTENERS)
    )
    yield manifest(
        f"{GATEWAY_API}/v1/Gateway", "edge", "infra", spec=f"gatewayClassName: public\nlisteners:\n{listeners}"
    )
    yield UNKNOWN.manifest("edge", on("Gateway", "edge"), namespace="infra")
    for n in range(size):
        yield manifest("v1/Namespace", f"team-{n}", labels=f"{{edge: l{n % MAX_LISTENERS}}}")
        yield route(f"route-{n}", namespace=f"team-{n}")


def overlapping_domains(size: int) -> Iterator[str]:
    """So many ListenerSets on one Gateway, each with a listener for a domain of its own and a route below that."""
    yield from chain(gateway_class(UNKNOWN), (gateway(), service()))
    yield UNKNOWN.manifest("edge", on("Gateway", "edge"), namespace="infra")
    for n in range(size):
        listeners = f"listeners:\n- {{name: own, port: 80, protocol: HTTP, hostname: '*.route-{n}.example.com'}}"
        spec = f"parentRef: {{name: edge, namespace: infra}}\n{listeners}"
        yield manifest(f"{GATEWAY_API}/v1/ListenerSet", f"set-{n}", "team", spec=spec)
        own = route(f"route-{n}", parent=f"{{group: {GATEWAY_API}, kind: ListenerSet, name: set-{n}}}")
        yield own.replace("hostnames: [", "hostnames: [own.")


def hostnames_and_listeners(size: int) -> Iterator[str]:
    """A route with so many hostnames, and so many listeners of one Gateway, each for one of them."""
    yield from _listeners_for_hosts(size)
    hostnames = ", ".join(f"route-{n}.example.com" for n in range(size))
    yield route("route-0").replace("hostnames: [route-0.example.com]", f"hostnames: [{hostnames}]")


def routes_and_listeners(size: int) -> Iterator[str]:
    """So many routes on one Gateway, with as many listeners, each for the hostname of one of them."""
    yield from _listeners_for_hosts(size)
    yield from (route(f"route-{n}") for n in range(size))


def routes_for_other_hosts(size: int) -> Iterator[str]:
    """The same, but no listener has the hostname of any route."""
    yield from _listeners_for_hosts(size)
    yield from (route(f"route-{n}").replace("example.com", "example.org") for n in range(size))


def _listeners_for_hosts(size: int) -> Iterator[str]:
    yield from chain(gateway_class(UNKNOWN), (service(),))
    listeners = "\n".join(
        f"- name: l{n}\n  port: 80\n  protocol: HTTP\n  hostname: route-{n}.example.com\n"
        "  allowedRoutes:\n    namespaces: {from: All}"
        for n in range(size)
    )
    spec = f"gatewayClassName: public\nlisteners:\n{listeners}"
    yield manifest(f"{GATEWAY_API}/v1/Gateway", "edge", "infra", spec=spec)
    yield UNKNOWN.manifest("edge", on("Gateway", "edge"), namespace="infra")


def reported_parents(size: int) -> Iterator[str]:
    """A route of which so many controllers report something for one parent."""
    yield from chain(gateway_class(UNKNOWN), (gateway(), service()))
    parents = "\n".join(
        f"  - parentRef: {EDGE}\n    controllerName: example.io/controller-{n}\n"
        "    conditions: [{type: Accepted, status: 'True', reason: Accepted, message: ''}]"
        for n in range(size)
    )
    yield f"{route('route-0')}status:\n  parents:\n{parents}\n"


def many_requirements(size: int) -> Iterator[str]:
    """So many policies that each select one of so many routes by a requirement, not by a label alone."""
    yield from chain(gateway_class(ENVOY_GATEWAY), (gateway(), service()))
    for n in range(size):
        yield route(f"route-{n}", labels=f"{{a: b-{n}}}")
        yield ENVOY_GATEWAY.manifest(
            f"policy-{n}",
            f"targetSelectors:\n- group: {GATEWAY_API}\n  kind: HTTPRoute\n"
            f"  matchExpressions: [{{key: a, operator: In, values: [b-{n}, c-{n}]}}]",
        )


def _child(name: str, path: str, backend: str = "{name: service, port: 80}", labels: str = "") -> str:
    spec = f"rules:\n- matches:\n  - path: {{type: PathPrefix, value: {path}}}\n  backendRefs:\n  - {backend}"
    return manifest(f"{GATEWAY_API}/v1/HTTPRoute", name, "team", spec=spec, labels=labels)


def _parent(name: str, rules: Iterator[tuple[str, str]]) -> str:
    each = "\n".join(
        f"- matches:\n  - path: {{type: PathPrefix, value: {path}}}\n  backendRefs:\n  - {backend}"
        for path, backend in rules
    )
    spec = f"parentRefs:\n- {EDGE}\nhostnames: [{name}.example.com]\nrules:\n{each}"
    return manifest(f"{GATEWAY_API}/v1/HTTPRoute", name, "infra", spec=spec)


def _to(name: str) -> str:
    return f'{{group: {GATEWAY_API}, kind: HTTPRoute, name: "{name}", namespace: team}}'


def delegation_to_all(size: int) -> Iterator[str]:
    """One rule that delegates to all routes of a Namespace, of which there are so many."""
    yield from chain(gateway_class(KGATEWAY), (gateway(), service()))
    yield _parent("site", iter([("/", _to("*"))]))
    yield KGATEWAY.manifest("site", on("HTTPRoute", "site"), namespace="infra")
    for n in range(size):
        yield _child(f"route-{n}", f"/{n}")
        if n % 10 == 0:
            yield KGATEWAY.manifest(f"route-{n}", on("HTTPRoute", f"route-{n}"))


def delegation_by_name(size: int) -> Iterator[str]:
    """So many routes, each named by a rule of its own, 16 of which make up a route on the Gateway."""
    yield from chain(gateway_class(KGATEWAY), (gateway(), service()))
    yield KGATEWAY.manifest("edge", on("Gateway", "edge"), namespace="infra")
    for n in range(0, size, _RULES_OF_A_ROUTE):
        children = range(n, min(n + _RULES_OF_A_ROUTE, size))
        yield _parent(f"site-{n // _RULES_OF_A_ROUTE}", ((f"/{child}", _to(f"route-{child}")) for child in children))
        yield from (_child(f"route-{child}", f"/{child}") for child in children)


def delegation_by_label(size: int) -> Iterator[str]:
    """So many rules, 16 of which make up a route on the Gateway, that each delegate to one route by its label."""
    yield from chain(gateway_class(KGATEWAY), (gateway(), service()))
    yield KGATEWAY.manifest("edge", on("Gateway", "edge"), namespace="infra")
    for n in range(0, size, _RULES_OF_A_ROUTE):
        children = range(n, min(n + _RULES_OF_A_ROUTE, size))
        labelled = (
            (child, f"{{group: delegation.kgateway.dev, kind: label, name: l-{child}, namespace: team}}")
            for child in children
        )
        yield _parent(f"site-{n // _RULES_OF_A_ROUTE}", ((f"/{child}", backend) for child, backend in labelled))
        yield from (
            _child(f"route-{child}", f"/{child}", labels=f"{{delegation.kgateway.dev/label: l-{child}}}")
            for child in children
        )


def delegation_in_chains(size: int) -> Iterator[str]:
    """So many routes in chains of eight, of which each delegates to the next; the first is on the Gateway."""
    yield from chain(gateway_class(KGATEWAY), (gateway(), service()))
    yield KGATEWAY.manifest("edge", on("Gateway", "edge"), namespace="infra")
    for n in range(size):
        if n % _DEPTH == 0:
            yield _parent(f"site-{n // _DEPTH}", iter([(f"/{n // _DEPTH}", _to(f"route-{n}"))]))
        last = n % _DEPTH == _DEPTH - 1
        yield _child(f"route-{n}", f"/{n // _DEPTH}", "{name: service, port: 80}" if last else _to(f"route-{n + 1}"))


def policies_of_routes(size: int) -> Iterator[str]:
    """So many routes on one Gateway, each with a Service of its own, a tenth of them with policies."""
    return _with_policies(size, "/api", UNKNOWN.spec)


def changed_policies_of_routes(size: int) -> Iterator[str]:
    """The same after a change of every route and of every policy."""
    return _with_policies(size, "/next", UNKNOWN.spec.replace("5", "7", 1))


def _with_policies(size: int, path: str, spec: str) -> Iterator[str]:
    yield from chain(gateway_class(UNKNOWN), (gateway(),))
    yield UNKNOWN.manifest("edge", on("Gateway", "edge"), namespace="infra")
    for n in range(size):
        yield route(f"route-{n}", f"service-{n}").replace("/api", path)
        yield service(f"service-{n}")
        if n % _ROUTES_OF_A_POLICY == 0:
            yield UNKNOWN.manifest(f"route-{n}", on("HTTPRoute", f"route-{n}"), spec)


def changes_of_policies(size: int) -> Iterator[str]:
    """The policies of these routes, each with another value: what is applied to them."""
    spec = UNKNOWN.spec.replace("5", "7", 1)
    numbers = range(0, size, _ROUTES_OF_A_POLICY)
    return (UNKNOWN.manifest(f"route-{n}", on("HTTPRoute", f"route-{n}"), spec) for n in numbers)
