"""What may be related, as something is to be filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles.controllers import GatewayProfile
from kubectl_policy.topology import Topology
from tests.build import (
    backend,
    gateway,
    gateway_class,
    index,
    listener,
    listener_set,
    names,
    namespace,
    parent,
    ref,
    resource,
    route,
    rule,
    service,
    service_parent,
)

if TYPE_CHECKING:
    from kubectl_policy import GroupKind
    from kubectl_policy.model import Json, ObjectRef, Resource


def above(obj: ObjectRef, *world: Resource) -> list[str]:
    """What may be above an object, in a world that is complete."""
    topology = Topology(index(*world, complete=True))
    return [f"{found.upper}: {found.message}" for found in topology.possible.parents(obj)]


def below(obj: ObjectRef, *world: Resource) -> list[str]:
    """The same for what may be below it."""
    topology = Topology(index(*world, complete=True))
    return [f"{found.lower}: {found.message}" for found in topology.possible.children(obj)]


def is_any(*world: Resource) -> bool:
    """Whether there may be any such relation in a world."""
    return Topology(index(*world, complete=True)).possible.has_any


def test_a_placeholder_that_decides_nothing() -> None:
    """Labels that a Gateway gives to what is made for it, beside listeners with numbers."""
    labels: dict[str, Json] = {"labels": {"team": "<fill me in>"}}
    assert not is_any(resource("Gateway", "g", {"infrastructure": labels, "listeners": [listener(port=80)]}))


def test_nothing_may_be_where_everything_is_known() -> None:
    """What does not exist is no other thing."""
    world = (
        gateway_class(),
        gateway(),
        route(parents=[parent("x")]),
        service("t"),
        namespace("default"),
        listener_set(),
    )
    assert not is_any(*world)
    assert [found for obj in world for found in (*above(obj.ref, *world), *below(obj.ref, *world))] == []


def test_parents() -> None:
    """By name, by kind, and by what a listener lets in."""
    message = "spec.parentRefs[0] of HTTPRoute default/r may name it"
    world = (gateway(), service(), route(parents=[parent("${G}")]))
    assert is_any(*world)
    assert below(ref("Gateway", "g"), *world) == [f"HTTPRoute default/r: {message}"]
    assert above(ref("HTTPRoute", "r"), *world) == [f"Gateway default/g: {message}"]
    of_a_kind = (gateway(), service("g"), route(parents=[parent("g", kind="${K}")]))
    assert above(ref("HTTPRoute", "r"), *of_a_kind) == [
        f"Gateway default/g: {message}",
        f"Service default/g: {message}",
    ]
    undecided = (gateway("g", listener(hostname="*.${D}")), route(hostnames=["a.org"]))
    assert is_any(*undecided)
    assert [found.partition(":")[0] for found in above(ref("HTTPRoute", "r"), *undecided)] == ["Gateway default/g"]
    assert [found.partition(":")[0] for found in below(ref("Gateway", "g"), *undecided)] == ["HTTPRoute default/r"]


def test_parents_of_the_mesh() -> None:
    """A Service may be a parent as well."""
    world = (service("s", ("web", 80)), route(parents=[service_parent(sectionName="${S}")]))
    assert [found.partition(":")[0] for found in below(ref("Service", "s", group=""), *world)] == [
        "HTTPRoute default/r"
    ]


def test_backends() -> None:
    """By name and by port; the name of either may be the one that is not known."""
    message = "spec.rules[0].backendRefs[0] of HTTPRoute default/r may name it"
    service_ref = ref("Service", "s", group="")
    assert above(service_ref, service(), route(rules=[rule(backend("${S}"))])) == [f"HTTPRoute default/r: {message}"]
    unknown = ref("Service", "${S}", group="")
    assert below(ref("HTTPRoute", "r"), service("${S}"), route()) == [f"{unknown}: {message}"]
    ports = "spec.rules[0].backendRefs[0] of HTTPRoute default/r names port 8080, and a port is to be filled in"
    world = (service("s", {"port": "${P}"}), route())
    assert is_any(*world)
    assert above(service_ref, *world) == [f"HTTPRoute default/r: {ports}"]
    assert below(ref("HTTPRoute", "r"), *world) == [f"Service default/s: {ports}"]
    assert is_any(service(), route(rules=[rule(backend() | {"port": "${P}"})]))


def test_filters() -> None:
    """What a filter may name may apply to the route."""
    found = resource("ColorPolicy", "c", {}, group="example.com")
    world = (found, route(rules=[rule(filters=[names("${C}")])]))
    assert is_any(*world)
    message = "spec.rules[0].filters[0].extensionRef of HTTPRoute default/r may name it"
    assert above(found.ref, *world) == [f"HTTPRoute default/r: {message}"]
    assert above(ref("HTTPRoute", "r"), *world) == [f"HTTPRoute default/r: {message}"]


def test_classes_and_gateways() -> None:
    """A Gateway's class, and a ListenerSet's Gateway."""
    world = (gateway_class(), gateway(class_name="${C}"), listener_set(parent="${G}"))
    assert is_any(*world)
    assert above(ref("Gateway", "g"), *world) == [
        "GatewayClass public: spec.gatewayClassName of Gateway default/g may name it"
    ]
    assert below(ref("Gateway", "g"), *world) == [
        "ListenerSet default/ls: spec.parentRef of ListenerSet default/ls may name it"
    ]
    without = (resource("Gateway", "g", {}), resource("ListenerSet", "ls", {}))
    assert above(ref("Gateway", "g"), *without) == []


def test_namespaces() -> None:
    """What is in a namespace that is not known may be in any, and a Namespace without a known name may be any."""
    homeless = service("s", namespace="?apps.shop")
    message = "Service ?apps.shop/s may be in it: which namespace it is in is not known"
    assert above(homeless.ref, homeless, namespace("shop")) == [f"Namespace shop: {message}"]
    assert below(ref("Namespace", "shop", group=""), homeless, namespace("shop")) == [
        f"Service ?apps.shop/s: {message}"
    ]
    unnamed = namespace("shop-${X}")
    assert below(unnamed.ref, unnamed, service("s", namespace="shop-1"), service("t", namespace="other")) == [
        "Namespace shop-1: Namespace shop-${X} may be that one"
    ]
    assert above(ref("Service", "s", "x-${NS}", group=""), namespace("shop")) == []


class _Strict:
    """Controllers that ignore what is invalid."""

    def gateways_of(self, _: str) -> GatewayProfile:
        """As some do."""
        return GatewayProfile(invalid_parents="passedOver")

    def delegations(self, _: object) -> tuple[()]:
        """None."""
        return ()

    def ports_of(self, _: GroupKind) -> None:
        """None."""


def test_certificates_where_what_is_invalid_is_ignored() -> None:
    """Whether a listener is served depends on them."""
    tls = listener("tls", "HTTPS", 443, tls={"certificateRefs": [{"name": "${CERT}"}, {"name": "known"}]})
    world = index(gateway("g", tls), resource("Secret", "known", group=""))
    topology = Topology(world, profiles=_Strict())
    (found,) = topology.possible.parents(ref("Gateway", "g"))
    assert str(found.upper) == "Secret default/${CERT}"
    assert found.message.startswith(
        "spec.listeners[0].tls.certificateRefs[0] of Gateway default/g names it, and without"
    )


def test_sections_and_rules_that_are_to_be_filled_in() -> None:
    """They are signs enough."""
    assert is_any(gateway(), route(parents=[parent("g", "${S}")]))
    assert is_any(route(rules=[rule(name="${R}")]))
    assert is_any(gateway_class(controller="${C}"))


def test_what_routes_may_lead_to() -> None:
    """Only where something is to be filled in."""
    possible = Topology(index(service(), route(rules=[rule(backend("${S}"))]))).possible
    assert possible.may_be_backend(ref("Service", "s", group=""))
    assert not Topology(index(service(), route())).possible.may_be_backend(ref("Service", "s", group=""))


def test_routes_that_a_route_may_delegate_to() -> None:
    """By name, by a label, or all of a namespace."""
    child = route("child", parents=[], namespace="shop")
    message = "HTTPRoute default/r: spec.rules[0].backendRefs[0] of HTTPRoute default/r may name it"

    def delegating(name: str, namespace: str, **kind: str) -> Resource:
        reference = backend(name, None, namespace=namespace, **{"kind": "HTTPRoute", "group": GATEWAY_API, **kind})
        return route(rules=[rule(reference)])

    assert above(child.ref, child, delegating("${R}", "shop")) == [message]
    assert above(child.ref, child, delegating("*", "${NS}")) == [message]
    assert above(child.ref, child, delegating("label", "${NS}", kind="label", group="delegation.example.io")) == [
        message
    ]
    assert above(child.ref, child, delegating("${R}", "other")) == []
    homeless = route("child", parents=[], namespace="${NS}")
    assert message in above(homeless.ref, homeless, delegating("*", "shop"))
    assert above(child.ref, child, delegating("child", "shop")) == []
