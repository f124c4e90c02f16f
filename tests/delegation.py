"""Builders of routes that delegate to routes, and what comes of them in short."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.topology import Topology
from tests.build import backend, gateway, gateway_class, index, listener, parent, ref, resource, rule, with_metadata

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy.model import Json, Resource

CONTROLLER: Final = "kgateway.dev/kgateway"
GROUP: Final = "delegation.kgateway.dev"
LABEL: Final = f"{GROUP}/label"
INHERIT: Final = f"{GROUP}/inherit-parent-matcher"


def to(name: str, namespace: str | None = None) -> dict[str, Json]:
    """A backendRef to a route."""
    where: dict[str, Json] = {} if namespace is None else {"namespace": namespace}
    return backend(name, None, kind="HTTPRoute", group=GATEWAY_API, **where)


def labelled(value: str, namespace: str | None = None, group: str = GROUP) -> dict[str, Json]:
    """A backendRef to the routes with a label."""
    where: dict[str, Json] = {} if namespace is None else {"namespace": namespace}
    return backend(value, None, kind="label", group=group, **where)


def below(name: str, namespace: str = "default") -> dict[str, Json]:
    """A parentRef to a route."""
    return parent(name, kind="HTTPRoute", namespace=namespace)


def path(value: str, kind: str = "PathPrefix", **match: Json) -> dict[str, Json]:
    """A match of a path."""
    return {"path": {"type": kind, "value": value}, **match}


def passing(value: str, *backends: Mapping[str, Json], name: str = "") -> dict[str, Json]:
    """A rule for a path."""
    return rule(*backends, name=name, matches=[path(value)])


def http_route(  # noqa: PLR0913 - a builder is read by its keywords
    name: str,
    *rules: Mapping[str, Json],
    parents: Sequence[Mapping[str, Json]] = (),
    hostnames: Sequence[str] = (),
    namespace: str = "default",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, Json] | None = None,
) -> Resource:
    """An HTTPRoute without parents, unless told otherwise."""
    spec: dict[str, Json] = {"rules": list(rules)}
    if parents:
        spec["parentRefs"] = list(parents)
    if hostnames:
        spec["hostnames"] = list(hostnames)
    built = resource("HTTPRoute", name, spec, namespace=namespace, labels=labels)
    return with_metadata(built, annotations=dict(annotations or {}))


def top(*rules: Mapping[str, Json], name: str = "top", hostnames: Sequence[str] = ()) -> Resource:
    """A route that is attached to the Gateway of `world`."""
    return http_route(name, *rules, parents=[parent()], hostnames=hostnames)


def world(*resources: Resource, controller: str = CONTROLLER, complete: bool = True) -> Topology:
    """The topology of routes below a Gateway that takes routes of every namespace."""
    anyone = listener(allowedRoutes={"namespaces": {"from": "All"}})
    return Topology(index(gateway_class(controller=controller), gateway("g", anyone), *resources, complete=complete))


def delegations(topology: Topology, child: str, namespace: str = "default") -> dict[str, tuple[str, ...] | str]:
    """Return the rules that each referring rule of a route reaches, or the reason why it is refused."""
    return {
        str(delegation.parent).removeprefix("HTTPRoute "): delegation.rules
        if delegation.is_accepted
        else delegation.message
        for delegation in topology.relations.delegations.to(ref("HTTPRoute", child, namespace))
    }


def reasons(topology: Topology, route: str, namespace: str = "default") -> list[tuple[str, str, str]]:
    """Return the state, reason and message of each backendRef of a route."""
    found = topology.backends(ref("HTTPRoute", route, namespace))
    return [(backend.state, backend.reason, backend.message) for backend in found]
