"""Large worlds for a real API server: teams behind shared Gateways, written by many clients at once."""

from __future__ import annotations

import http.client
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from tests.live.server import ADMIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tests.live.server import Server

Object: TypeAlias = dict[str, Any]

TEAMS: Final = 100
ROUTES_PER_TEAM: Final = 100
SERVICES_PER_TEAM: Final = 10
GATEWAYS: Final = 10
POLICIES: Final = 200
_WRITERS: Final = 16
_GATEWAY_API: Final = "gateway.networking.k8s.io/v1"
_POLICIES: Final = "example.io/v1alpha1"
_PLURALS: Final = {"RetryPolicy": "retrypolicies", "TimeoutPolicy": "timeoutpolicies", "GatewayClass": "gatewayclasses"}
_BAKERY: Final = Path(__file__).parent.parent / "fixtures" / "bakery" / "crds.yaml"
# The world of policies that are known by a label alone.
_LABELLED: Final = "example.io/v1"
_LABELLED_GATEWAYS: Final = 20
_LISTENERS: Final = 4
_RULES: Final = 3


@dataclass(frozen=True, kw_only=True)
class LargeWorld:
    """A world whose routes can be written in parts."""

    gateways: int
    # Manifests of definitions, besides those of Gateway API.
    manifests: tuple[Path, ...]
    # Further definitions.
    definitions: Callable[[], Iterable[Object]]
    # Everything but the routes, of which some policies name the first ones.
    shared: Callable[[], Iterable[Object]]
    # The routes of each team with these numbers.
    routes: Callable[[range], Iterable[Object]]


def _shared() -> Iterator[Object]:
    """Yield what teams have in common, and their Namespaces, Services and policies: everything but the routes.

    Each Gateway and each Namespace has one policy, and some routes have one.
    """
    yield _object("v1", "Namespace", "infra")
    yield _object(_GATEWAY_API, "GatewayClass", "public", spec={"controllerName": "example.io/gateway"})
    for number in range(GATEWAYS):
        everywhere = {"allowedRoutes": {"namespaces": {"from": "All"}}}
        listeners = [
            {"name": "http", "port": 80, "protocol": "HTTP", **everywhere},
            {
                "name": "https",
                "port": 443,
                "protocol": "HTTPS",
                "tls": {"certificateRefs": [{"name": "e"}]},
                **everywhere,
            },
        ]
        spec = {"gatewayClassName": "public", "listeners": listeners}
        yield _object(_GATEWAY_API, "Gateway", f"edge-{number}", "infra", spec)
        yield _policy("RetryPolicy", f"edge-{number}", "infra", "Gateway", f"edge-{number}", attempts=5)
    for number in range(TEAMS):
        team = f"team-{number}"
        yield _object("v1", "Namespace", team)
        yield _policy("TimeoutPolicy", "everything", team, "Namespace", team, request="10s")
        for service in range(SERVICES_PER_TEAM):
            yield _object("v1", "Service", f"service-{service}", team, {"ports": [{"name": "http", "port": 8080}]})
        if number < POLICIES - GATEWAYS - TEAMS:
            yield _policy("RetryPolicy", "route-0", team, "HTTPRoute", "route-0", perTryTimeout="2s")


def _routes(numbers: range) -> Iterator[Object]:
    """Yield some of the routes of each team, all of which are behind one Gateway."""
    for number in range(TEAMS):
        for route in numbers:
            spec = {
                "parentRefs": [{"name": f"edge-{number % GATEWAYS}", "namespace": "infra"}],
                "hostnames": [f"route-{route}.team-{number}.example.com"],
                "rules": [
                    {
                        "matches": [{"path": {"type": "PathPrefix", "value": "/api"}}],
                        "backendRefs": [{"name": f"service-{route % SERVICES_PER_TEAM}", "port": 8080}],
                    }
                ],
            }
            yield _object(_GATEWAY_API, "HTTPRoute", f"route-{route}", f"team-{number}", spec)


def _labelled_definitions() -> Iterator[Object]:
    """Yield definitions of policies with the label of GEP-713, which say nothing else of what the policies do."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": anything, "status": anything}}}
    for kind in ("RetryPolicy", "TimeoutPolicy"):
        plural = _PLURALS[kind]
        group, _, version = _LABELLED.partition("/")
        definition = _object(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            f"{plural}.{group}",
            spec={
                "group": group,
                "scope": "Namespaced",
                "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
                "versions": [{"name": version, "served": True, "storage": True, "schema": schema}],
            },
        )
        definition["metadata"]["labels"] = {"gateway.networking.k8s.io/policy": "inherited"}
        yield definition


def _labelled_shared() -> Iterator[Object]:
    """Yield everything but the routes: Gateways in namespace `default`, and policies with a field of that name."""
    yield _object(_GATEWAY_API, "GatewayClass", "public", spec={"controllerName": "example.io/gateway"})
    for number in range(_LABELLED_GATEWAYS):
        listeners = [
            {
                "name": f"http-{listener}",
                "port": 8000 + listener,
                "protocol": "HTTP",
                "allowedRoutes": {"namespaces": {"from": "All"}},
            }
            for listener in range(_LISTENERS)
        ]
        spec = {"gatewayClassName": "public", "listeners": listeners}
        yield _object(_GATEWAY_API, "Gateway", f"edge-{number}", "default", spec)
    for number in range(TEAMS):
        team = f"team-{number}"
        yield _object("v1", "Namespace", team)
        for service in range(SERVICES_PER_TEAM):
            yield _object("v1", "Service", f"service-{service}", team, {"clusterIP": "None", "ports": [{"port": 80}]})
    for number in range(POLICIES):
        kind = ("RetryPolicy", "TimeoutPolicy")[number % 2]
        home, target_kind, target = (
            ("default", "Gateway", f"edge-{number % _LABELLED_GATEWAYS}")
            if number < POLICIES // 2
            else (f"team-{number % TEAMS}", "HTTPRoute", "route-0")
        )
        target_ref = {"group": "gateway.networking.k8s.io", "kind": target_kind, "name": target}
        settings = {"attempts": number, "backoff": {"base": f"{number}ms"}}
        yield _object(_LABELLED, kind, f"policy-{number}", home, {"targetRef": target_ref, "default": settings})


def _labelled_routes(numbers: range) -> Iterator[Object]:
    """Yield some of the routes of each team, which are behind all Gateways."""
    for team in range(TEAMS):
        for route in numbers:
            gateway = (team + TEAMS * route // _LABELLED_GATEWAYS) % _LABELLED_GATEWAYS
            backend = {"name": f"service-{route % SERVICES_PER_TEAM}", "port": 80}
            spec = {
                "parentRefs": [{"name": f"edge-{gateway}", "namespace": "default"}],
                "hostnames": [f"route-{route}.team-{team}.example.com"],
                "rules": [
                    {"matches": [{"path": {"type": "PathPrefix", "value": f"/{rule}"}}], "backendRefs": [backend]}
                    for rule in range(_RULES)
                ],
            }
            yield _object(_GATEWAY_API, "HTTPRoute", f"route-{route}", f"team-{team}", spec)


PROFILED: Final = LargeWorld(
    gateways=GATEWAYS, manifests=(_BAKERY,), definitions=lambda: (), shared=_shared, routes=_routes
)
LABELLED: Final = LargeWorld(
    gateways=_LABELLED_GATEWAYS,
    manifests=(),
    definitions=_labelled_definitions,
    shared=_labelled_shared,
    routes=_labelled_routes,
)


def write(server: Server, objects: Iterable[Object]) -> None:
    """Create objects, those without a namespace before all others."""
    everything = list(objects)
    first = [each for each in everything if "namespace" not in each["metadata"]]
    rest = [each for each in everything if "namespace" in each["metadata"]]
    for part in (first, rest):
        with ThreadPoolExecutor(_WRITERS) as threads:
            list(threads.map(partial(_create, server), [part[start::_WRITERS] for start in range(_WRITERS)]))


def _create(server: Server, objects: list[Object]) -> None:
    """Create objects one after the other, on one connection."""
    headers = {"Authorization": f"Bearer {server.tokens[ADMIN]}", "Content-Type": "application/json"}
    with closing(http.client.HTTPSConnection("127.0.0.1", server.port, context=server.trust)) as connection:
        for obj in objects:
            connection.request("POST", _path(obj), json.dumps(obj), headers)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status != http.client.CREATED:
                raise RuntimeError(f"{_path(obj)}: {text.decode(errors='replace')}")


def _path(each: Object) -> str:
    version, kind, namespace = each["apiVersion"], each["kind"], each["metadata"].get("namespace")
    plural = _PLURALS.get(kind, f"{kind.lower()}s")
    return "/".join(
        chain(
            ("", "apis" if "/" in version else "api", version),
            ("namespaces", namespace) if namespace else (),
            (plural,),
        )
    )


def _object(version: str, kind: str, name: str, namespace: str = "", spec: Object | None = None) -> Object:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **({"spec": spec} if spec else {})}


def _policy(kind: str, name: str, namespace: str, target_kind: str, target: str, **settings: object) -> Object:
    group = "" if target_kind == "Namespace" else "gateway.networking.k8s.io"
    refs = [{"group": group, "kind": target_kind, "name": target}]
    return _object(
        _POLICIES, kind, name, namespace, {"targetRefs": refs, "defaults": {"strategy": "patch", **settings}}
    )
