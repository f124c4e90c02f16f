"""Tests of `questions/object_rows.py`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import pytest

from kubectl_policy import NodeRef
from kubectl_policy.analysis import Analysis
from kubectl_policy.model import Gap, Json, ObjectRef
from kubectl_policy.questions import object_rows
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.lists import list_names, list_type
from kubectl_policy.questions.policy_rows import KindRow, PolicyRow
from kubectl_policy.questions.shared.selection import Selection
from tests import build
from tests.questions.build import analyzed
from tests.render.worlds import colourful, defaults, world


def rows(analysis: Analysis, word: str) -> tuple[object_rows.ObjectRow, ...]:
    return cast("tuple[object_rows.ObjectRow, ...]", list_type(analysis, word, Selection()).rows)


def names(refs: Iterable[ObjectRef]) -> list[str]:
    return [ref.name for ref in refs]


def test_what_is_attached_to_nothing_is_affected_by_nothing() -> None:
    lone = build.route("lone", parents=[build.parent("g", "gone")])
    analysis = world(lone, defaults("p", build.target("lone", "HTTPRoute"), a=1))
    found = next(row for row in rows(analysis, "routes") if row.ref.name == "lone")
    assert found.listed.policies == ()
    assert names(attachment.policy for attachment in found.listed.targeted_by) == ["p"]


@pytest.mark.parametrize("word", ["gateways", "routes", "services"])
def test_a_row_counts_the_policies_that_the_description_counts(word: str) -> None:
    for row in rows(colourful(), word):
        answer = describe(colourful(), NodeRef(row.ref))
        counted = {policy for group in answer.in_force if not group.extent.passes_down for policy in group.policies}
        assert set(row.listed.policies) == counted
        assert counted


def test_a_gateway_class_and_a_namespace_have_the_policies_attached_to_them() -> None:
    """They carry no traffic, so nothing takes effect on them; a reference that fails attaches nothing."""
    analysis = world(
        defaults("here", build.target("public", "GatewayClass"), a=1),
        build.policy("far", build.target("public", "GatewayClass"), kind="LimitPolicy", namespace="x"),
        defaults("inside", build.target("default", "Namespace", group=""), a=1),
        build.policy("odd", build.target("default", "Namespace", "section", group=""), a=1),
    )
    (gateway_class,) = cast("tuple[object_rows.GatewayClassRow, ...]", rows(analysis, "gc"))
    assert names(gateway_class.listed.policies) == ["here", "far"]
    assert names(gateway_class.gateways) == ["g"]
    (namespace,) = cast("tuple[object_rows.NamespaceRow, ...]", rows(analysis, "ns"))
    assert names(namespace.listed.policies) == ["inside"]
    assert names(attachment.policy for attachment in namespace.listed.targeted_by) == ["inside", "odd"]


def test_a_namespace_holds_what_is_affected_and_what_is_not() -> None:
    analysis = world(
        build.namespace("empty"),
        build.service("alone"),
        build.route("r2", rules=[build.rule(build.backend("gone"))]),
        defaults("p", build.ON_ROUTE, a=1),
    )
    default, empty = cast("tuple[object_rows.NamespaceRow, ...]", rows(analysis, "ns"))
    assert names(default.holds) == ["g", "r", "r2", "alone", "s"]
    assert names(default.affected) == ["r", "s"]
    assert (empty.holds, empty.affected) == ((), ())


def test_what_a_namespace_does_not_know_is_what_its_objects_do_not_know() -> None:
    route = build.route("r", parents=[build.parent("edge", namespace="infra")])
    (row,) = rows(analyzed(build.namespace("default"), route), "ns")
    assert ([thing.what for thing in row.unseen], row.listed.unseen) == (["Gateway infra/edge"], ())


def test_a_gateway_has_the_routes_of_its_own_listeners() -> None:
    analysis = analyzed(
        build.gateway(
            "g", build.listener("a"), build.listener("b", port=81), allowedListeners={"namespaces": {"from": "All"}}
        ),
        build.listener_set("ls", build.listener("c", port=82)),
        build.listener_set("orphan", build.listener("d", port=83), parent="gone"),
        build.route("both"),
        build.route("grpc", kind="GRPCRoute", parents=[build.parent("g", "a")]),
        build.route("far", namespace="x", parents=[build.parent("g", namespace="default")]),
        build.route("set", parents=[build.parent("ls", kind="ListenerSet")]),
    )
    (gateway,) = cast("tuple[object_rows.GatewayRow, ...]", rows(analysis, "gateways"))
    assert (str(gateway.above), gateway.listeners, gateway.undecided_routes) == ("GatewayClass public", ("a", "b"), ())
    assert names(gateway.routes) == ["both", "grpc"]
    sets = cast("tuple[object_rows.GatewayRow, ...]", rows(analysis, "listenersets"))
    assert [(str(row.above), row.listeners, names(row.routes)) for row in sets] == [
        ("Gateway default/g", ("c",), ["set"]),
        ("Gateway default/gone", ("d",), []),
    ]


def test_a_gateway_has_what_its_controller_reports() -> None:
    """Addresses and whether it is programmed; without a status neither is known, and the ports are its own."""
    status: Json = {
        "addresses": [{"type": "IPAddress", "value": "192.0.2.7"}, {"value": "gw.example.com"}, {}],
        "conditions": [{"type": "Accepted", "status": "True"}, {"type": "Programmed", "status": "False"}],
        "listeners": [{"name": "a", "conditions": [{"type": "Programmed", "status": "True"}]}],
    }
    listeners: Json = [build.listener("a"), build.listener("b", "HTTPS", 443), build.listener("c", "HTTPS", 443)]
    silent = build.gateway("silent", build.listener())
    gateway = build.resource("Gateway", "g", {"gatewayClassName": "public", "listeners": listeners}, status=status)
    told, untold = cast("tuple[object_rows.GatewayRow, ...]", rows(analyzed(gateway, silent), "gateways"))
    assert (told.addresses, told.programmed, told.ports) == (("192.0.2.7", "gw.example.com"), "False", (80, 443))
    assert (untold.addresses, untold.programmed, untold.ports) == (None, "", (80,))


def test_a_listener_has_a_row_of_its_own() -> None:
    """With its routes and the policies that have an effect there, of a Gateway and of a ListenerSet."""
    analysis = world(
        build.resource(
            "Gateway",
            "h",
            {
                "gatewayClassName": "public",
                "listeners": [build.listener("web", hostname="*.example.com"), build.listener("tcp", "TCP", 9000)],
                "allowedListeners": {"namespaces": {"from": "All"}},
            },
            status={"listeners": [{"name": "tcp", "conditions": [{"type": "Programmed", "status": "True"}]}]},
        ),
        build.listener_set("set", build.listener("extra", port=9001), parent="h"),
        build.route("app", parents=[build.parent("h")], hostnames=["a.example.com"]),
        defaults("p", build.target("h", "Gateway", "web"), a=1),
        complete=True,
    )
    listing = list_type(analysis, "listeners", Selection(names=("h", "set")))
    web, tcp, extra = cast("tuple[object_rows.ListenerRow, ...]", listing.rows)
    assert [(row.ref.name, row.listener.name, row.listener.port) for row in (web, tcp, extra)] == [
        ("h", "web", 80),
        ("h", "tcp", 9000),
        ("set", "extra", 9001),
    ]
    assert [names(row.routes) for row in (web, tcp, extra)] == [["app"], [], []]
    assert [names(row.listed.policies) for row in (web, tcp, extra)] == [["p"], [], []]
    assert [names(it.policy for it in row.listed.targeted_by) for row in (web, tcp)] == [["p"], []]
    assert [[condition.type for condition in row.listed.reported] for row in (web, tcp)] == [[], ["Programmed"]]


def test_whether_a_listener_takes_a_route_may_be_unknown() -> None:
    selector: Json = {"matchLabels": {"team": "baker"}}
    listeners = [build.listener("a", allowedRoutes=build.allow("Selector", selector)), build.listener("b", port=81)]
    route = build.route("r", namespace="baker", parents=[build.parent("g", namespace="default")])
    analysis = analyzed(build.gateway("g", *listeners), route)
    first, second = cast("tuple[object_rows.ListenerRow, ...]", rows(analysis, "listener"))
    assert (names(first.routes), names(first.undecided_routes)) == ([], ["r"])
    assert (second.routes, second.undecided_routes) == ((), ())


def test_listeners_elsewhere_are_counted() -> None:
    gateway = build.gateway("g", build.listener("a"), build.listener("b", port=81))
    found = list_type(analyzed(gateway), "listeners", Selection("far"))
    assert (found.rows, found.elsewhere) == ((), ("default", "default"))


def test_a_service_has_its_type_and_ports() -> None:
    """As kubectl shows them; what is no Service has neither."""
    ports: list[Json] = [{"port": 80, "nodePort": 30080}, {"port": 53, "protocol": "UDP"}]
    service = build.resource("Service", "s", {"type": "NodePort", "ports": ports}, group="")
    analysis = analyzed(service, build.service("t"), build.resource("ConfigMap", "c", group=""))
    found = cast("tuple[object_rows.BackendRow, ...]", rows(analysis, "services"))
    assert [(row.type, row.ports) for row in found] == [
        ("NodePort", ("80:30080/TCP", "53/UDP")),
        ("ClusterIP", ("8080/TCP",)),
    ]
    (config,) = cast("tuple[object_rows.BackendRow, ...]", rows(analysis, "cm"))
    assert (config.type, config.ports) == ("", ())


def test_classes_and_namespaces_have_what_is_reported() -> None:
    """Whether a class is accepted, and in which phase a namespace is; without a status nothing."""
    accepted: Json = {"conditions": [{"type": "Accepted", "status": "True"}]}
    active = build.resource("Namespace", "a", group="", namespace="", status={"phase": "Active"})
    analysis = analyzed(build.gateway_class(status=accepted), build.gateway_class("b"), active, build.namespace("b"))
    assert [row.accepted for row in cast("tuple[object_rows.GatewayClassRow, ...]", rows(analysis, "gc"))] == [
        "",
        "True",
    ]
    assert [row.phase for row in cast("tuple[object_rows.NamespaceRow, ...]", rows(analysis, "ns"))] == ["Active", ""]


def test_a_gateway_without_anything_has_nothing() -> None:
    analysis = analyzed(build.resource("Gateway", "g", {"gatewayClassName": 7, "listeners": "http"}))
    (gateway,) = cast("tuple[object_rows.GatewayRow, ...]", rows(analysis, "gateways"))
    assert (gateway.above, gateway.listeners, gateway.routes) == (None, (), ())


def test_whether_a_route_is_attached_may_be_unknown() -> None:
    selector: Json = {"matchLabels": {"team": "baker"}}
    analysis = analyzed(
        build.gateway("g", build.listener(allowedRoutes=build.allow("Selector", selector))),
        build.route("r", namespace="baker", parents=[build.parent("g", namespace="default")]),
    )
    (gateway,) = cast("tuple[object_rows.GatewayRow, ...]", rows(analysis, "gateways"))
    assert (gateway.routes, names(gateway.undecided_routes)) == ((), ["r"])
    (route,) = cast("tuple[object_rows.RouteRow, ...]", rows(analysis, "routes"))
    assert [(parent.state, parent.listeners) for parent in route.parents] == [("unknown", ())]


def test_a_route_has_an_entry_for_each_parent() -> None:
    route = build.route(
        "r",
        parents=[build.parent("g"), build.parent("g", "nope"), build.parent("unread", namespace="far")],
        hostnames=["a.example.com", "b.example.com"],
    )
    analysis = analyzed(build.gateway("g", build.listener("a"), build.listener("b", "TCP", port=81)), route)
    (found,) = cast("tuple[object_rows.RouteRow, ...]", rows(analysis, "httproutes"))
    assert found.hostnames == ("a.example.com", "b.example.com")
    assert [(str(parent.object), parent.state, parent.reason) for parent in found.parents] == [
        ("Gateway default/g", "attached", ""),
        ("Gateway default/g", "refused", "NoMatchingParent"),
        ("Gateway far/unread", "unknown", ""),
    ]
    assert found.parents[0].listeners == (build.node("Gateway", "g", "a"),)
    assert found.parents[1].message


def test_a_route_of_a_mesh_has_a_service_as_parent() -> None:
    analysis = analyzed(build.service("s"), build.route("r", parents=[build.service_parent("s")]))
    (found,) = cast("tuple[object_rows.RouteRow, ...]", rows(analysis, "httproutes"))
    assert [(parent.state, parent.listeners) for parent in found.parents] == [("attached", ())]
    (service,) = cast("tuple[object_rows.BackendRow, ...]", rows(analysis, "svc"))
    assert names(service.referred_by) == ["r"]


def test_a_backend_is_referred_to_by_routes() -> None:
    analysis = analyzed(
        build.route("b", rules=[build.rule(build.backend("s")), build.rule(build.backend("s"))]),
        build.route("a", rules=[build.rule(build.backend("s"), build.backend("c", None, kind="ConfigMap"))]),
        build.service("s"),
        build.resource("ConfigMap", "c", group=""),
    )
    (service,) = cast("tuple[object_rows.BackendRow, ...]", rows(analysis, "services"))
    assert names(service.referred_by) == ["a", "b"]
    (config,) = cast("tuple[object_rows.BackendRow, ...]", rows(analysis, "cm"))
    assert names(config.referred_by) == ["a"]


def test_what_could_not_be_read_is_said_once() -> None:
    gaps = [Gap("", "", "broken")]
    listing = list_type(world(gaps=gaps), "routes", Selection())
    assert [thing.reason for thing in listing.unseen] == ["broken"]
    assert [thing.reason for thing in cast("object_rows.ObjectRow", listing.rows[0]).listed.unseen] == ["broken"]
    empty = list_type(world(gaps=gaps), "grpcroutes", Selection())
    assert (empty.rows, [thing.reason for thing in empty.unseen]) == ((), ["broken"])


def test_a_row_has_what_was_reported() -> None:
    gateway_class = build.gateway_class(status={"conditions": [{"type": "Accepted", "status": "True"}]})
    (row,) = rows(analyzed(gateway_class), "gc")
    assert [condition.type for condition in row.listed.reported] == ["Accepted"]
    assert row.raw == gateway_class.raw


@pytest.mark.parametrize(
    ("word", "row"), [("policies", PolicyRow), ("policykinds", KindRow), ("gtw", object_rows.GatewayRow)]
)
def test_each_type_has_its_own_rows(word: str, row: type) -> None:
    assert {type(found) for found in list_type(colourful(), word, Selection()).rows} == {row}


@pytest.mark.parametrize("word", ["policies", "policykinds", "routes", "colorpolicy"])
def test_the_names_are_those_of_the_list(word: str) -> None:
    for selection in (Selection(), Selection("default"), Selection("far")):
        named, listed = list_names(colourful(), word, selection), list_type(colourful(), word, selection)
        assert [row.ref for row in named.rows] == [row.ref for row in listed.rows]
        assert (named.type, named.namespace, named.elsewhere) == (listed.type, listed.namespace, listed.elsewhere)


def test_names_are_incomplete_where_something_could_not_be_read() -> None:
    assert [thing.reason for thing in list_names(world(gaps=[Gap("", "", "x")]), "routes", Selection()).unseen] == ["x"]
