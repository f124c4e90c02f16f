"""Deleting the RetryPolicy of the baker namespace lists every workload that loses its retries, in all namespaces.

What is expected is computed from the YAML files alone, by naive code that shares nothing with the engine.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kubectl_policy.questions.blast_radius import blast_radius
from tests import fast_yaml
from tests.build import ref
from tests.worlds.test_fixtures import FIXTURES, load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.questions.blast_radius import BlastRadius
    from kubectl_policy.questions.differences.effects import EffectiveValue

HOME: Final = "baker"


class Way(NamedTuple):
    """A way through a listener of a Gateway and a rule of a route to a port of a Service."""

    gateway: str
    listener: str
    route_kind: str
    route: str
    rule: str
    service_namespace: str
    service: str
    port: str


@cache
def documents() -> tuple[Any, ...]:
    """Every document of the bakery."""
    files = sorted((FIXTURES / "bakery").glob("*.yaml"))
    return tuple(found for file in files for found in fast_yaml.load_all(file.read_text("utf-8")))


def of_kind(*kinds: str) -> list[Any]:
    """Every object of some kinds."""
    return [found for found in documents() if found["kind"] in kinds]


def ways() -> Iterator[Way]:
    """Every way that a request can take through a route of the namespace."""
    for route in of_kind("HTTPRoute", "GRPCRoute"):
        if route["metadata"]["namespace"] != HOME:
            continue
        for gateway, listener in listeners_of(route):
            for number, rule in enumerate(route["spec"]["rules"]):
                for namespace, service, port in backends_of(route, rule):
                    yield Way(
                        gateway,
                        listener,
                        route["kind"],
                        route["metadata"]["name"],
                        rule.get("name", f"rule[{number}]"),
                        namespace,
                        service,
                        port,
                    )


def listeners_of(route: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 (it is YAML)
    """The listeners that take a route: named by it or not, open to its namespace, with a hostname in common."""
    for gateway in of_kind("Gateway"):
        for parent in route["spec"]["parentRefs"]:
            if (parent["namespace"], parent["name"]) != (gateway["metadata"]["namespace"], gateway["metadata"]["name"]):
                continue
            for listener in gateway["spec"]["listeners"]:
                named = parent.get("sectionName") in (None, listener["name"])
                if named and admits(listener["allowedRoutes"]["namespaces"]) and shares_a_hostname(listener, route):
                    yield gateway["metadata"]["name"], listener["name"]


def admits(allowed: Any) -> bool:  # noqa: ANN401 (it is YAML)
    """Whether a listener takes routes from the namespace; the selectors of the bakery ask for a label alone."""
    if allowed["from"] == "All":
        return True
    (expression,) = allowed["selector"]["matchExpressions"]
    assert (allowed["from"], expression["operator"]) == ("Selector", "Exists")
    (home,) = (found for found in of_kind("Namespace") if found["metadata"]["name"] == HOME)
    return expression["key"] in home["metadata"]["labels"]


def shares_a_hostname(listener: Any, route: Any) -> bool:  # noqa: ANN401 (it is YAML)
    """Whether a route has a hostname that the listener's wildcard covers; either may have none."""
    wildcard, hostnames = listener.get("hostname", "*").removeprefix("*"), route["spec"].get("hostnames", [])
    return not wildcard or not hostnames or any(name.endswith(wildcard) for name in hostnames)


def backends_of(route: Any, rule: Any) -> Iterator[tuple[str, str, str]]:  # noqa: ANN401 (it is YAML)
    """The Services of a rule with the name or number of the port; in another namespace only if that grants it."""
    for backend in rule["backendRefs"]:
        namespace = backend.get("namespace", HOME)
        if namespace != HOME and not granted(route["kind"], namespace, backend["name"]):
            continue
        for service in of_kind("Service"):
            if (service["metadata"]["namespace"], service["metadata"]["name"]) == (namespace, backend["name"]):
                for port in service["spec"]["ports"]:
                    if port["port"] == backend["port"]:
                        yield namespace, backend["name"], port.get("name", str(port["port"]))


def granted(route_kind: str, namespace: str, service: str) -> bool:
    """Whether a namespace lets routes from home use a Service."""
    return any(
        {"kind": route_kind, "namespace": HOME}.items() <= source.items() and to.get("name", service) == service
        for grant in of_kind("ReferenceGrant")
        if grant["metadata"]["namespace"] == namespace
        for source in grant["spec"]["from"]
        for to in grant["spec"]["to"]
    )


def retries(way: Way, *, deleted: str = "") -> dict[str, tuple[Any, str]]:
    """What RetryPolicies set on a way, and which of them: those on Gateway, namespace and route, each patching."""
    found: dict[str, tuple[Any, str]] = {}
    for kind, name in (("Gateway", way.gateway), ("Namespace", HOME), (way.route_kind, way.route)):
        for policy in of_kind("RetryPolicy"):
            (target,) = policy["spec"]["targetRefs"]
            own_name = policy["metadata"]["name"]
            if (target["kind"], target["name"]) == (kind, name) and own_name != deleted:
                fields = {key: value for key, value in policy["spec"]["defaults"].items() if key != "strategy"}
                found |= {key: (value, own_name) for key, value in fields.items()}
    return found


def answer() -> BlastRadius:
    """The answer of the product."""
    return blast_radius(load("bakery"), ref("RetryPolicy", "resilience", HOME, group="example.io"))


def told(value: EffectiveValue | None) -> tuple[Any, str] | None:
    """A value and who sets it."""
    return (value.value, value.source.object.name) if value else None


def test_the_naive_reading_finds_what_one_sees() -> None:
    """Six routes, of which one is attached to nothing; the menu goes to both Gateways and to two teams."""
    found = list(ways())
    assert len(found) == len(set(found)) == 9
    assert {way.route for way in found} == {"baker", "menu", "till", "events", "stock"}
    assert {way.service_namespace for way in found} == {"baker", "pastry"}


def test_every_setting_that_is_lost_or_otherwise_is_listed() -> None:
    """On every way, field by field, with the value before and after and who sets it; and nothing else is."""
    expected: dict[tuple[Way, str], tuple[Any, Any]] = {}
    for way in ways():
        before, after = retries(way), retries(way, deleted="resilience")
        expected |= {
            (way, field): (before[field], after.get(field)) for field in before if before[field] != after.get(field)
        }
    found: dict[tuple[Way, str], tuple[Any, Any]] = {}
    for change in answer().difference.effects:
        for path in change.paths:
            names = {(node.object.kind, bool(node.section)): node for node in path}
            route = next(node for node in path if node.object.kind.endswith("Route") and node.section)
            service = names["Service", True]
            listener = names["Gateway", True]
            way = Way(
                listener.object.name,
                listener.section,
                route.object.kind,
                route.object.name,
                route.section,
                service.object.namespace,
                service.object.name,
                service.section,
            )
            found |= {(way, field.field): (told(field.before), told(field.after)) for field in change.fields}
    assert found == expected
    assert len(found) == 22


def test_the_workloads_that_lose_all_their_retries() -> None:
    """Those on a way on which nothing else sets any: in both namespaces, by name."""
    expected = {(way.service_namespace, way.service) for way in ways() if not retries(way, deleted="resilience")}
    lost = {
        (changed.node.object.namespace, changed.node.object.name)
        for change in answer().difference.effects
        if change.to_nothing
        for changed in change.objects
        if changed.node.object.kind == "Service"
    }
    assert lost == expected == {("baker", "till"), ("pastry", "cream")}


def test_the_numbers() -> None:
    """Routes and Services that the policy sets something of, by kind and by namespace."""
    objects: set[tuple[str, str, str]] = set()
    for way in ways():
        if "resilience" in {who for _, who in retries(way).values()}:
            objects |= {(way.route_kind, HOME, way.route), ("Service", way.service_namespace, way.service)}
    counts = answer().counts
    assert counts.total == len(objects) == 8
    assert {counted.kind: counted.count for counted in counts.kinds} == Counter(kind for kind, _, _ in objects)
    namespaces = {counted.namespace: counted.count for counted in counts.namespaces}
    assert namespaces == Counter(namespace for _, namespace, _ in objects) == {"baker": 7, "pastry": 1}
    affected = {node.object for node in answer().affected}
    assert {(ref.kind, ref.namespace, ref.name) for ref in affected} == objects
