"""Tests of `questions/status_ancestors.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest

from kubectl_policy import Analysis, PolicyKindProfile, analyze
from kubectl_policy.model import GroupKind, Json, NodeRef, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles.controllers import ConditionWords, Placement, StatusProfile
from kubectl_policy.questions.status_ancestors import ancestors_of
from tests import build

COLOR: Final = GroupKind("example.com", "ColorPolicy")
CALLS: Final = GroupKind("example.com", "CallPolicy")
P: Final = build.ref("ColorPolicy", "p", group="example.com")
OURS: Final = "example.com/gateway"
THEIRS: Final = "example.com/other"
TO_SERVICE: Final = build.target("s", "Service", group="")
CALLER: Final = PolicyKindProfile(
    CALLS, "inherited", "profile", backend_fields=("spec.calls.backendRefs",), controllers=frozenset({THEIRS})
)


def colours(*targets: Mapping[str, Json]) -> Resource:
    """The ColorPolicy `p` with those targets."""
    return build.policy("p", *targets, age=1, color="red")


def profile(placement: Placement = "parents", *controllers: str) -> PolicyKindProfile:
    return PolicyKindProfile(
        COLOR, "inherited", "profile", controllers=frozenset(controllers), status=StatusProfile(placement=placement)
    )


def analysis_of(kind: PolicyKindProfile, *resources: Resource) -> Analysis:
    """A world with Gateways of two classes, one of ours and one of others, and what is given."""
    world = (
        build.gateway_class("public", OURS),
        build.gateway_class("other", THEIRS),
        build.gateway("g"),
        build.gateway("far", class_name="other"),
        build.service("s", ("web", 8080), ("admin", 9090)),
    )
    return analyze(build.listed(build.snapshot(*world, *resources)), profiles=[kind, CALLER])


def places(kind: PolicyKindProfile, *resources: Resource) -> list[str]:
    """The places of all attachments of policy `p`, each once; the policy's own status is an empty name."""
    analysis = analysis_of(kind, *resources)
    found = (ancestors_of(analysis, kind, attachment) for attachment in analysis.attachments[P])
    return list(dict.fromkeys(str(place or "") for places in found for place in places))


def test_a_selector_without_an_object_has_no_place_but_the_policy() -> None:
    selecting = colours({"group": GATEWAY_API, "kind": "Gateway", "selector": {"matchLabels": {"a": "b"}}})
    for placement in ("targets", "gateways", "parents"):
        assert places(profile(placement), selecting) == []
    assert places(profile("policy"), selecting) == [""]


def test_a_gateway_or_listenerset_reports_itself() -> None:
    p = colours(build.target("g"), build.target("g", section="http"), build.target("ls", "ListenerSet"))
    expected = ["Gateway default/g", "Gateway default/g#http", "ListenerSet default/ls"]
    assert places(profile(), p, build.listener_set()) == expected
    assert places(profile("targets"), p, build.listener_set()) == expected


def test_a_route_has_its_parents() -> None:
    """As its parentRefs name them, each once, whether or not they take it; what is known to be missing is not there."""
    route = build.route(
        "r",
        parents=[
            build.parent("g"),
            build.parent("g", "http"),
            build.parent("g", "ghost"),
            build.parent("g", port=80),
            build.parent("gone"),
            build.service_parent("s"),
        ],
    )
    p = colours(build.target("r", "HTTPRoute"), build.target("r", "HTTPRoute", "rule[0]"))
    assert places(profile(), route, p) == ["Gateway default/g", "Gateway default/g#http", "Gateway default/g#ghost"]


def test_a_parent_of_another_controller_has_nothing_to_report() -> None:
    """Without controllers of its own, a kind is everybody's; a parent that was not read may be ours."""
    parents = [build.parent("g"), build.parent("far"), build.parent("x", namespace="unread")]
    route = build.route("r", parents=parents)
    p = colours(build.target("r", "HTTPRoute"))
    both = ["Gateway default/g", "Gateway default/far", "Gateway unread/x"]
    assert places(profile("parents", OURS), route, p) == ["Gateway default/g", "Gateway unread/x"]
    assert places(profile("parents", OURS, THEIRS), route, p) == places(profile(), route, p) == both


def test_a_listenerset_counts_if_its_gateway_admits_it() -> None:
    admitting = build.gateway("open", allowedListeners={"namespaces": {"from": "All"}})
    sets = [
        build.listener_set("in", parent="open"),
        build.listener_set("out", parent="g"),
        build.resource("ListenerSet", "loose", {"parentRef": {}, "listeners": []}),
    ]
    parents = [build.parent(name, kind="ListenerSet") for name in ("in", "out", "loose")]
    route = build.route("r", parents=parents)
    p = colours(build.target("r", "HTTPRoute"))
    assert places(profile(), admitting, *sets, route, p) == ["ListenerSet default/in", "ListenerSet default/loose"]


def test_a_listenerset_counts_as_long_as_nobody_knows_otherwise() -> None:
    selecting: Json = {"namespaces": {"from": "Selector", "selector": {"matchLabels": {"a": "b"}}}}
    choosy = build.gateway("choosy", allowedListeners=selecting)
    sets = [
        build.listener_set("chosen", parent="choosy"),
        build.listener_set("away", parent="g", parent_namespace="unread"),
        build.listener_set("lost", parent="gone"),
    ]
    parents = [build.parent(name, kind="ListenerSet") for name in ("chosen", "away", "lost")]
    world = (choosy, *sets, build.route("r", parents=parents), colours(build.target("r", "HTTPRoute")))
    both = ["ListenerSet default/chosen", "ListenerSet default/away"]
    assert places(profile(), *world) == places(profile("parents", OURS), *world) == both
    assert places(profile(), *world, build.namespace("default", {"a": "b"})) == both
    assert places(profile(), *world, build.namespace("default")) == both[1:]


def test_a_backend_has_the_parents_of_the_routes_that_forward_to_it() -> None:
    routes = [
        build.route(name, parents=[build.parent("g", f"to-{name}")], rules=[build.rule(build.backend("s", port))])
        for name, port in (("web", 8080), ("admin", 9090), ("any", None))
    ]
    away = build.route("away", parents=[build.parent("g", "away")], rules=[build.rule(build.backend("t"))])
    gateway = "Gateway default/g#to-"
    assert places(profile(), *routes, away, colours(TO_SERVICE)) == [
        f"{gateway}admin",
        f"{gateway}any",
        f"{gateway}web",
    ]
    on_port = colours({**TO_SERVICE, "sectionName": "web"})
    assert places(profile(), *routes, away, on_port) == [f"{gateway}any", f"{gateway}web"]


def test_a_port_with_policies_of_its_own_is_not_the_services() -> None:
    own = build.policy("own", {**TO_SERVICE, "sectionName": "web"}, color="blue")
    route = build.route("r")
    assert places(profile(), route, own, colours(TO_SERVICE)) == []
    assert places(profile(), route, colours(TO_SERVICE)) == ["Gateway default/g"]


CALLED: Final[Json] = {"backendRefs": [{"group": "", "kind": "Service", "name": "s"}]}


def caller(calls: Json, *targets: Mapping[str, Json]) -> Resource:
    """A policy that sends requests itself, attached to its controller's Gateway `far` unless told otherwise."""
    return build.policy("caller", *(targets or (build.target("far"),)), kind="CallPolicy", age=1, calls=calls)


def test_a_policy_that_calls_a_backend_is_a_place_for_it() -> None:
    """If it is attached to anything itself; the Service is in its own namespace unless it says otherwise."""
    expected = "CallPolicy default/caller"
    assert places(profile(), caller(CALLED), colours(TO_SERVICE)) == [expected]
    assert places(profile(), caller([CALLED]), colours(TO_SERVICE)) == [expected]
    defaulted: Json = {"backendRefs": {"name": "s"}}
    assert places(profile(), caller(defaulted), colours(TO_SERVICE)) == [expected]
    assert places(profile(), caller(CALLED, build.target("gone")), colours(TO_SERVICE)) == []
    assert places(profile(), caller(CALLED, build.target("g")), colours(TO_SERVICE)) == []
    other: Json = {"backendRefs": [{"name": "t"}, {"name": "s", "namespace": "far"}, {"kind": "Backend", "name": "s"}]}
    assert places(profile(), caller(other), colours(TO_SERVICE)) == []


HOSTILE: Final[list[Json]] = [
    None,
    "s",
    1,
    [],
    {},
    {"backendRefs": "s"},
    {"backendRefs": [1, ["s"], None, {"name": 1}]},
]


@pytest.mark.parametrize("calls", HOSTILE, ids=str)
def test_what_a_caller_calls_may_be_anything(calls: Json) -> None:
    assert places(profile(), caller(calls), colours(TO_SERVICE)) == []


def test_the_gateways_above_a_target() -> None:
    """Of every path, without sections; a Gateway is its own, a Service has those of the routes to it."""
    route = build.route("r", parents=[build.parent("g"), build.parent("far")])
    both = ["Gateway default/far", "Gateway default/g"]
    assert places(profile("gateways"), route, colours(build.target("r", "HTTPRoute"))) == both
    assert places(profile("gateways"), route, colours(TO_SERVICE)) == both
    assert places(profile("gateways"), route, colours(build.target("g", section="http"))) == ["Gateway default/g"]
    assert places(profile("gateways"), colours(TO_SERVICE)) == []


def test_each_controller_reports_in_its_own_way_on_its_own() -> None:
    """One on Gateways, the other one on what routes name as parents; neither on what is the other's."""
    theirs = StatusProfile(placement="gateways", conditions={"accepted": (ConditionWords("Valid", "True", "Valid"),)})
    kind = PolicyKindProfile(
        COLOR, "direct", "profile", status=StatusProfile(placement="parents"), status_by={THEIRS: theirs}
    )
    route = build.route("r", parents=[build.parent("g", "http"), build.parent("far", "http")])
    analysis = analysis_of(kind, route, caller(CALLED), colours(TO_SERVICE))
    (attachment,) = analysis.attachments[P]
    assert ancestors_of(analysis, kind, attachment) == {
        build.node("Gateway", "g", "http"): kind.status,
        build.node("Gateway", "far"): theirs,
    }


def test_a_caller_reports_as_the_controller_of_its_own_kind_does() -> None:
    """On a policy in the place of a Gateway; a kind of nobody's is told as usual, and the policy itself always is."""
    theirs = StatusProfile(placement="parents", conditions={"accepted": (ConditionWords("Valid", "True", "Valid"),)})
    kind = PolicyKindProfile(
        COLOR, "direct", "profile", status=StatusProfile(placement="policy"), status_by={THEIRS: theirs}
    )
    analysis = analysis_of(kind, caller(CALLED), colours(TO_SERVICE))
    (attachment,) = analysis.attachments[P]
    own = NodeRef(build.ref("CallPolicy", "caller", group="example.com"))
    assert ancestors_of(analysis, kind, attachment) == {None: kind.status, own: theirs}
    on_service = PolicyKindProfile(
        COLOR, "direct", "profile", status=StatusProfile(placement="targets"), status_by={THEIRS: theirs}
    )
    assert ancestors_of(analysis, on_service, attachment) == {
        NodeRef(build.ref("Service", "s", group="")): on_service.status,
        own: theirs,
    }


OPEN: Final[Json] = {"namespaces": {"from": "All"}}


class TestOwners:
    def test_a_listener_has_the_object_that_it_is_of(self) -> None:
        """A Gateway or a ListenerSet; one that does not exist, or a section that it has not, as it is named."""
        p = colours(
            build.target("g", section="http"),
            build.target("ls", "ListenerSet", "http"),
            build.target("ls", "ListenerSet"),
            build.target("gone", section="http"),
            build.target("far", section="ghost"),
        )
        assert places(profile("owners"), p, build.listener_set()) == [
            "Gateway default/g",
            "ListenerSet default/ls",
            "Gateway default/gone",
            "Gateway default/far",
        ]

    @pytest.mark.parametrize(
        ("own", "more", "expected"),
        [
            ([80], [], ["Gateway default/open"]),
            ([80], [80], ["Gateway default/open"]),
            ([80], [81], ["Gateway default/open", "ListenerSet default/ls"]),
            ([80, 81], [81], ["Gateway default/open"]),
            ([], [80, 81], ["ListenerSet default/ls"]),
            ([], [], ["Gateway default/open"]),
        ],
    )
    def test_a_gateway_has_those_of_the_first_listener_on_each_port(
        self, own: list[int], more: list[int], expected: list[str]
    ) -> None:
        listeners: list[dict[str, Json]] = [build.listener(f"own{port}", port=port) for port in own]
        added: list[Json] = [build.listener(f"more{port}", port=port) for port in more]
        fields: Json = {"gatewayClassName": "public", "listeners": [*listeners], "allowedListeners": OPEN}
        gateway = build.resource("Gateway", "open", fields)
        parent: Json = {"name": "open"}
        listener_set = build.resource("ListenerSet", "ls", {"parentRef": parent, "listeners": added})
        assert places(profile("owners"), gateway, listener_set, colours(build.target("open"))) == expected

    def test_a_listenerset_that_is_not_admitted_has_no_listeners_there(self) -> None:
        more = build.listener_set("ls", build.listener("more", port=81))
        assert places(profile("owners"), more, colours(build.target("g"))) == ["Gateway default/g"]

    def test_a_route_has_its_parents(self) -> None:
        route = build.route("r", parents=[build.parent("g"), build.parent("far", "http")])
        both = ["Gateway default/g", "Gateway default/far#http"]
        assert places(profile("owners"), route, colours(build.target("r", "HTTPRoute"))) == both
        assert places(profile("owners"), route, colours(TO_SERVICE)) == both
        assert places(profile("owners", OURS), route, colours(TO_SERVICE)) == both[:1]


class TestParentGateways:
    def test_whether_or_not_they_take_the_route(self) -> None:
        """Without sections, each once and sorted; those of other controllers and those that are missing are not."""
        routes = [
            build.route("a", parents=[build.parent("g", "ghost"), build.parent("far"), build.parent("gone")]),
            build.route("b", parents=[build.parent("g", "http"), build.service_parent()]),
        ]
        p = colours(TO_SERVICE)
        assert places(profile("parentGateways"), *routes, p) == ["Gateway default/far", "Gateway default/g"]
        assert places(profile("parentGateways", OURS), *routes, p) == ["Gateway default/g"]

    def test_by_a_listenerset(self) -> None:
        admitting = build.gateway("open", allowedListeners=OPEN)
        sets = [
            build.listener_set("in", parent="open"),
            build.listener_set("out", parent="g"),
            build.resource("ListenerSet", "loose", {"parentRef": {}, "listeners": []}),
        ]
        parents = [build.parent(name, kind="ListenerSet") for name in ("in", "out", "loose")]
        route = build.route("r", parents=parents)
        found = places(profile("parentGateways"), admitting, *sets, route, colours(TO_SERVICE))
        assert found == ["Gateway default/open"]

    def test_no_route_sends_requests_there(self) -> None:
        assert places(profile("parentGateways"), colours(TO_SERVICE)) == []
        assert places(profile("parentGateways"), build.route("r"), colours(build.target("g"))) == []

    def test_a_parent_that_was_not_read(self) -> None:
        route = build.route("r", parents=[build.parent("g", namespace="unread")])
        assert places(profile("parentGateways", OURS), route, colours(TO_SERVICE)) == ["Gateway unread/g"]
