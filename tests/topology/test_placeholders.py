"""Relations and bindings that may hold once placeholders are filled in."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kubectl_policy.model import Json, ObjectRef, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles.controllers import GatewayProfile
from kubectl_policy.topology import Topology, listener_conditions
from tests.build import (
    allow,
    backend,
    gateway,
    gateway_class,
    index,
    listener,
    listener_set,
    names,
    namespace,
    node,
    parent,
    ref,
    resource,
    route,
    rule,
    service,
    service_parent,
)
from tests.fakes import Controllers


def above(obj: ObjectRef, *world: Resource) -> list[str]:
    topology = Topology(index(*world, complete=True))
    return [f"{found.upper}: {found.message}" for found in topology.possible.parents(obj)]


def below(obj: ObjectRef, *world: Resource) -> list[str]:
    topology = Topology(index(*world, complete=True))
    return [f"{found.lower}: {found.message}" for found in topology.possible.children(obj)]


def is_any(*world: Resource) -> bool:
    return Topology(index(*world, complete=True)).possible.has_any


def test_a_placeholder_that_decides_nothing() -> None:
    """Labels that a Gateway gives to what is made for it, beside listeners with numbers."""
    labels: dict[str, Json] = {"labels": {"team": "<fill me in>"}}
    assert not is_any(resource("Gateway", "g", {"infrastructure": labels, "listeners": [listener(port=80)]}))


def test_nothing_may_be_where_everything_is_known() -> None:
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
    ports = "spec.rules[0].backendRefs[0] of HTTPRoute default/r names port 8080, and a port is a placeholder"
    world = (service("s", {"port": "${P}"}), route())
    assert is_any(*world)
    assert above(service_ref, *world) == [f"HTTPRoute default/r: {ports}"]
    assert below(ref("HTTPRoute", "r"), *world) == [f"Service default/s: {ports}"]
    assert is_any(service(), route(rules=[rule(backend() | {"port": "${P}"})]))


def test_filters() -> None:
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
    message = "Service <unknown>/s may be in it: which namespace it is in is not known"
    assert above(homeless.ref, homeless, namespace("shop")) == [f"Namespace shop: {message}"]
    assert below(ref("Namespace", "shop", group=""), homeless, namespace("shop")) == [f"Service <unknown>/s: {message}"]
    unnamed = namespace("shop-${X}")
    assert below(unnamed.ref, unnamed, service("s", namespace="shop-1"), service("t", namespace="other")) == [
        "Namespace shop-1: Namespace shop-${X} may be that one"
    ]
    assert above(ref("Service", "s", "x-${NS}", group=""), namespace("shop")) == []


def test_certificates_where_what_is_invalid_is_ignored() -> None:
    tls = listener("tls", "HTTPS", 443, tls={"certificateRefs": [{"name": "${CERT}"}, {"name": "known"}]})
    world = index(gateway("g", tls), resource("Secret", "known", group=""))
    topology = Topology(world, profiles=Controllers(others=GatewayProfile(invalid_parents="passedOver")))
    (found,) = topology.possible.parents(ref("Gateway", "g"))
    assert str(found.upper) == "Secret default/${CERT}"
    assert found.message.startswith(
        "spec.listeners[0].tls.certificateRefs[0] of Gateway default/g names it, and without"
    )


def test_sections_and_rules_that_are_to_be_filled_in() -> None:
    assert is_any(gateway(), route(parents=[parent("g", "${S}")]))
    assert is_any(route(rules=[rule(name="${R}")]))
    assert is_any(gateway_class(controller="${C}"))


def test_what_routes_may_lead_to() -> None:
    """Only where something is to be filled in."""
    possible = Topology(index(service(), route(rules=[rule(backend("${S}"))]))).possible
    assert possible.may_be_backend(ref("Service", "s", group=""))
    assert not Topology(index(service(), route())).possible.may_be_backend(ref("Service", "s", group=""))


def test_routes_that_a_route_may_delegate_to() -> None:
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


ALL: Json = {"namespaces": {"from": "All"}}


def outcomes(found: Resource, *others: Resource) -> list[tuple[str, str, str]]:
    """State, listener and message of each outcome in a world that is complete."""
    bindings = Topology(index(found, *others, complete=True)).bindings(found.ref)
    return [(each.state, each.listener.section if each.listener else "", each.message) for each in bindings]


def states(found: Resource, *others: Resource) -> list[str]:
    return [state for state, _, _ in outcomes(found, *others)]


@pytest.mark.parametrize(
    ("hostnames", "hostname", "state"),
    [
        (["${X}.example.com"], "*.example.com", "unknown"),
        (["${X}.example.com"], "*.other.org", "refused"),
        (["${X}.example.com", "a.example.com"], "*.example.com", "attached"),
        (["a.example.com"], "*.${D}", "unknown"),
        (["a.${D}"], "*.${D}", "attached"),
        (["a.${D}"], "${D}", "refused"),
        (["A.${D}"], "*.${D}", "attached"),
    ],
)
def test_hostnames(hostnames: list[str], hostname: str, state: str) -> None:
    """A route is attached if one of them certainly matches, and refused if none can."""
    assert states(route(hostnames=hostnames), gateway("g", listener(hostname=hostname))) == [state]


def test_hostnames_in_words() -> None:
    (found,) = outcomes(route(hostnames=["a.example.com"]), gateway("g", listener(hostname="*.${Domain}")))
    assert found[2] == (
        "whether hostname a.example.com matches *.${Domain} of listener http of Gateway default/g cannot be "
        "known yet: a name contains a placeholder"
    )


@pytest.mark.parametrize(
    ("reference", "states_of_both"),
    [
        (parent("g", "${S}"), [("unknown", "http"), ("unknown", "alt")]),
        (parent("g", "${S}tp"), [("unknown", "http")]),
        (parent("g", port="${P}"), [("unknown", "http"), ("unknown", "alt")]),
        (parent("g", "alt", port="${P}"), [("unknown", "alt")]),
        (parent("g", "x-${S}"), [("refused", "")]),
    ],
)
def test_what_a_reference_picks(reference: Mapping[str, Json], states_of_both: list[tuple[str, str]]) -> None:
    """A section or a port that is to be filled in may be that of any listener that fits."""
    world = gateway("g", listener("http"), listener("alt", port=8080))
    assert [(state, section) for state, section, _ in outcomes(route(parents=[reference]), world)] == states_of_both


def test_listeners_whose_names_and_ports_are_not_known() -> None:
    """They may be what is picked; equal placeholders are equal."""
    world = gateway("g", listener("${L}"), listener("alt", hostname="b.org") | {"port": "${P}"})
    assert states(route(parents=[parent("g", "http")]), world) == ["unknown"]
    assert states(route(parents=[parent("g", "${L}")]), world) == ["attached", "unknown"]
    assert states(route(parents=[parent("g", "alt", port=8080)]), world) == ["unknown"]
    assert states(route(parents=[parent("g", "alt", port="${P}")]), world) == ["unknown", "attached"]


def test_ports_of_a_parent_service() -> None:
    world = service("s", ("web", 80), {"name": "api", "port": "${P}"})
    assert outcomes(route(parents=[service_parent(sectionName="${S}")]), world) == [
        ("unknown", "", "which port of Service default/s ${S} is cannot be known yet")
    ]
    assert states(route(parents=[service_parent(port=81)]), world) == ["unknown"]
    assert outcomes(route(parents=[service_parent(port="${P}")]), world) == [("attached", "api", "")]
    assert states(route(parents=[service_parent(port=81)]), service("s", 80)) == ["refused"]


@pytest.mark.parametrize(
    "fields",
    [
        {"protocol": "${P}"},
        {"protocol": "TCP", "allowedRoutes": allow(kinds=["${K}"])},
        {"protocol": "TLS", "tls": {"mode": "${M}"}},
    ],
)
def test_which_kinds_a_listener_serves(fields: dict[str, Json]) -> None:
    ((state, _, message),) = outcomes(route(kind="TCPRoute"), gateway("g", listener() | fields))
    assert state == "unknown"
    assert message.endswith("cannot be known yet: its protocol or its kinds contain a placeholder")


def test_an_unknown_protocol_makes_no_condition_fail() -> None:
    """It may be one that is supported."""
    world = gateway("g", listener(protocol="${P}", allowedRoutes=allow(kinds=["TCPRoute"])))
    gateways = Topology(index(world, complete=True)).gateways
    conditions = {each.type: each.status for each in listener_conditions(gateways, node("Gateway", "g", "http"))}
    assert conditions == {"Accepted": "Unknown", "Conflicted": "False", "ResolvedRefs": "True"}


def test_namespaces_that_a_listener_takes_routes_from() -> None:
    """By a word, by their names, and by their labels."""
    found = route(namespace="app", parents=[parent(namespace="default")])
    unknown_word = gateway("g", listener(allowedRoutes={"namespaces": {"from": "${F}"}}))
    ((state, _, message),) = outcomes(found, unknown_word)
    assert state == "unknown"
    assert message.endswith(
        "Gateway default/g, in namespace default, takes routes of namespace app cannot be known yet"
    )
    homeless = route(namespace="${NS}", parents=[parent(namespace="default")])
    assert states(homeless, gateway("g")) == ["unknown"]
    assert states(homeless, gateway("g", listener(allowedRoutes=allow("None")))) == ["refused"]
    selecting = gateway("g", listener(allowedRoutes=allow("Selector", {"matchLabels": {"team": "edge"}})))
    ((state, _, message),) = outcomes(found, selecting, namespace("app", {"team": "${TEAM}"}))
    assert state == "unknown"
    assert message.endswith("a label of Namespace app, or the selector, contains a placeholder")
    assert states(found, selecting, namespace("app", {"team": "x-${TEAM}"})) == ["refused"]


def test_a_gateway_that_may_select_a_listener_set() -> None:
    allowed: Json = {"namespaces": allow("Selector", {"matchLabels": {"team": "${T}"}})["namespaces"]}
    world = (
        gateway("g", allowedListeners=allowed),
        listener_set("ls", namespace="app", parent_namespace="default"),
        namespace("app", {"team": "a"}),
    )
    found = route(namespace="app", parents=[parent("ls", kind="ListenerSet")])
    ((state, _, message),) = outcomes(found, *world)
    assert state == "unknown"
    assert message.startswith("whether Gateway default/g selects ListenerSet app/ls is unknown: a label of Namespace")


@pytest.mark.parametrize(
    ("one", "other", "state"),
    [
        ({"hostname": "a.org"}, {"hostname": "${H}"}, "unknown"),
        ({"hostname": "a.org"}, {"hostname": "${H}.com"}, "attached"),
        ({"hostname": "${A}"}, {"hostname": "${B}"}, "attached"),
        ({"hostname": "${A}"}, {"hostname": "${A}"}, "refused"),
        ({"hostname": "a.org"}, {"hostname": "a.org", "port": "${P}"}, "unknown"),
        ({"hostname": "a.org"}, {"hostname": "b.org", "port": "${P}"}, "attached"),
        ({"port": "${P}"}, {"port": "${P}"}, "refused"),
        ({"port": "${P}"}, {"port": "${Q}"}, "attached"),
        ({}, {"port": 81, "hostname": "${H}"}, "attached"),
        ({}, {"protocol": "${P}"}, "unknown"),
        ({}, {"protocol": "TCP", "port": "${P}"}, "unknown"),
        ({}, {"protocol": "UDP", "port": "${P}"}, "attached"),
    ],
)
def test_conflicts(one: dict[str, Json], other: dict[str, Json], state: str) -> None:
    """Undecided if they may arise; whoever writes two variables means two values."""
    found = route(parents=[parent("g", "one")])
    assert states(found, gateway("g", listener("one") | one, listener("other") | other)) == [state]


def test_a_possible_conflict_in_words() -> None:
    world = gateway("g", listener("one"), listener("other", protocol="${P}"))
    (found,) = outcomes(route(parents=[parent("g", "one")]), world)
    assert found[2] == (
        "whether listener one of Gateway default/g conflicts with listener other of Gateway default/g cannot be known "
        "yet: they contain a placeholder"
    )


def test_udp_listeners_whose_ports_may_be_the_same() -> None:
    """As for all others."""
    world = gateway("g", listener("one", "UDP"), listener("other", "UDP") | {"port": "${P}"})
    assert states(route(kind="UDPRoute", parents=[parent("g", "one")]), world) == ["unknown"]


def test_a_controller_that_is_not_known() -> None:
    """Of a GatewayClass, and of what belongs to it."""
    gateways = Topology(index(gateway(), gateway_class(controller="${C}"))).gateways
    assert gateways.controller_of(ref("Gateway", "g")) is None
