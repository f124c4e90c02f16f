"""Tests of `questions/status_ancestors.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import Analysis, MergeStrategy, PolicyKindProfile, TargetLevel, analyze
from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles.controllers import ConditionWords, NarrowedBy, Placement, StatusProfile
from kubectl_policy.profiles.merging import Chooser
from kubectl_policy.profiles.needs import RequiredObject
from kubectl_policy.questions.predicted_conditions import PolicyStatuses
from kubectl_policy.questions.status_ancestors import PolicyMerge, TargetOrder, ancestors_of
from tests import build
from tests.questions.build import COLOR, analyzed, color_kind

CALLS: Final = GroupKind("example.com", "CallPolicy")
P: Final = build.ref("ColorPolicy", "p", group="example.com")
OURS: Final = "example.com/gateway"
THEIRS: Final = "example.com/other"
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
    p = colours(build.ON_GATEWAY, build.target("g", section="http"), build.target("ls", "ListenerSet"))
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
    p = colours(build.ON_ROUTE, build.target("r", "HTTPRoute", "rule[0]"))
    assert places(profile(), route, p) == ["Gateway default/g", "Gateway default/g#http", "Gateway default/g#ghost"]


def test_a_parent_of_another_controller_has_nothing_to_report() -> None:
    """Without controllers of its own, a kind is everybody's; a parent that was not read may be ours."""
    parents = [build.parent("g"), build.parent("far"), build.parent("x", namespace="unread")]
    route = build.route("r", parents=parents)
    p = colours(build.ON_ROUTE)
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
    p = colours(build.ON_ROUTE)
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
    world = (choosy, *sets, build.route("r", parents=parents), colours(build.ON_ROUTE))
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
    assert places(profile(), *routes, away, colours(build.ON_SERVICE)) == [
        f"{gateway}admin",
        f"{gateway}any",
        f"{gateway}web",
    ]
    on_port = colours({**build.ON_SERVICE, "sectionName": "web"})
    assert places(profile(), *routes, away, on_port) == [f"{gateway}web"]


def test_a_port_with_policies_of_its_own_is_not_the_services() -> None:
    own = build.policy("own", {**build.ON_SERVICE, "sectionName": "web"}, color="blue")
    route = build.route("r")
    assert places(profile(), route, own, colours(build.ON_SERVICE)) == []
    assert places(profile(), route, colours(build.ON_SERVICE)) == ["Gateway default/g"]


CALLED: Final[Json] = {"backendRefs": [{"group": "", "kind": "Service", "name": "s"}]}


def caller(calls: Json, *targets: Mapping[str, Json]) -> Resource:
    """A policy that sends requests itself, attached to its controller's Gateway `far` unless told otherwise."""
    return build.policy("caller", *(targets or (build.target("far"),)), kind="CallPolicy", age=1, calls=calls)


def test_a_policy_that_calls_a_backend_is_a_place_for_it() -> None:
    """If it is attached to anything itself; the Service is in its own namespace unless it says otherwise."""
    expected = "CallPolicy default/caller"
    assert places(profile(), caller(CALLED), colours(build.ON_SERVICE)) == [expected]
    assert places(profile(), caller([CALLED]), colours(build.ON_SERVICE)) == [expected]
    defaulted: Json = {"backendRefs": {"name": "s"}}
    assert places(profile(), caller(defaulted), colours(build.ON_SERVICE)) == [expected]
    assert places(profile(), caller(CALLED, build.target("gone")), colours(build.ON_SERVICE)) == []
    assert places(profile(), caller(CALLED, build.ON_GATEWAY), colours(build.ON_SERVICE)) == []
    other: Json = {"backendRefs": [{"name": "t"}, {"name": "s", "namespace": "far"}, {"kind": "Backend", "name": "s"}]}
    assert places(profile(), caller(other), colours(build.ON_SERVICE)) == []


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
    assert places(profile(), caller(calls), colours(build.ON_SERVICE)) == []


def test_the_gateways_above_a_target() -> None:
    """Of every path, without sections; a Gateway is its own, a Service has those of the routes to it."""
    route = build.route("r", parents=[build.parent("g"), build.parent("far")])
    both = ["Gateway default/far", "Gateway default/g"]
    assert places(profile("gateways"), route, colours(build.ON_ROUTE)) == both
    assert places(profile("gateways"), route, colours(build.ON_SERVICE)) == both
    assert places(profile("gateways"), route, colours(build.target("g", section="http"))) == ["Gateway default/g"]
    assert places(profile("gateways"), colours(build.ON_SERVICE)) == []


@pytest.mark.parametrize(("merged", "place"), [(True, "GatewayClass merging"), (False, "Gateway default/merging")])
def test_the_namesake_of_a_target(merged: Json, place: str) -> None:
    """The Gateway with its name, whatever its kind; where Gateways are merged, the GatewayClass."""
    group, controller = "gateway.envoyproxy.io", "gateway.envoyproxy.io/gatewayclass-controller"
    parameters: Json = {"group": group, "kind": "EnvoyProxy", "name": "proxy", "namespace": "default"}
    world = (
        build.gateway_class("merging", controller, parametersRef=parameters),
        build.resource("EnvoyProxy", "proxy", {"mergeGateways": merged}, group=group),
        build.gateway("merging", class_name="merging"),
    )
    for kind in ("Gateway", "GatewayClass"):
        assert places(profile("namesakes", controller), *world, colours(build.target("merging", kind))) == [place]


def test_each_controller_reports_in_its_own_way_on_its_own() -> None:
    """One on Gateways, the other one on what routes name as parents; neither on what is the other's."""
    theirs = StatusProfile(placement="gateways", conditions={"accepted": (ConditionWords("Valid", "True", "Valid"),)})
    kind = PolicyKindProfile(
        COLOR, "direct", "profile", status=StatusProfile(placement="parents"), status_by={THEIRS: theirs}
    )
    route = build.route("r", parents=[build.parent("g", "http"), build.parent("far", "http")])
    analysis = analysis_of(kind, route, caller(CALLED), colours(build.ON_SERVICE))
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
    analysis = analysis_of(kind, caller(CALLED), colours(build.ON_SERVICE))
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
        assert places(profile("owners"), more, colours(build.ON_GATEWAY)) == ["Gateway default/g"]

    def test_a_route_has_its_parents(self) -> None:
        route = build.route("r", parents=[build.parent("g"), build.parent("far", "http")])
        both = ["Gateway default/g", "Gateway default/far#http"]
        assert places(profile("owners"), route, colours(build.ON_ROUTE)) == both
        assert places(profile("owners"), route, colours(build.ON_SERVICE)) == both
        assert places(profile("owners", OURS), route, colours(build.ON_SERVICE)) == both[:1]


class TestParentGateways:
    def test_whether_or_not_they_take_the_route(self) -> None:
        """Without sections, each once and sorted; those of other controllers and those that are missing are not."""
        routes = [
            build.route("a", parents=[build.parent("g", "ghost"), build.parent("far"), build.parent("gone")]),
            build.route("b", parents=[build.parent("g", "http"), build.service_parent()]),
        ]
        p = colours(build.ON_SERVICE)
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
        found = places(profile("parentGateways"), admitting, *sets, route, colours(build.ON_SERVICE))
        assert found == ["Gateway default/open"]

    def test_no_route_sends_requests_there(self) -> None:
        assert places(profile("parentGateways"), colours(build.ON_SERVICE)) == []
        assert places(profile("parentGateways"), build.route("r"), colours(build.ON_GATEWAY)) == []

    def test_a_parent_that_was_not_read(self) -> None:
        route = build.route("r", parents=[build.parent("g", namespace="unread")])
        assert places(profile("parentGateways", OURS), route, colours(build.ON_SERVICE)) == ["Gateway unread/g"]


GATEWAY: Final = build.node("Gateway", "g")
SET: Final = build.node("ListenerSet", "ls")
MERGED: Final = {
    "accepted": (ConditionWords("Accepted", "True", "Accepted"),),
    "merged": (ConditionWords("Merged", "True", "Merged"),),
    "merged into": (ConditionWords("Merged", "True", "MergedInto"),),
    "narrowed": (ConditionWords("Overridden", "True", "Overridden"),),
}


def coloured(name: str, *targets: Mapping[str, Json], merge: str = "", age: int = 1) -> Resource:
    """A ColorPolicy; `merge` is its strategy."""
    spec: dict[str, Json] = {"targetRefs": list(targets), "color": name}
    return build.resource(
        "ColorPolicy", name, {**spec, "merge": merge} if merge else spec, group="example.com", age=age
    )


def to_route(name: str = "r", section: str = "") -> dict[str, Json]:
    return build.target(name, "HTTPRoute", section)


def to_set(section: str = "") -> dict[str, Json]:
    """A reference to ListenerSet `ls` or a listener of it."""
    return build.target("ls", "ListenerSet", section)


def by_set(name: str = "r", section: str = "") -> Resource:
    """A route on ListenerSet `ls`."""
    return build.route(name, parents=[build.parent("ls", section, kind="ListenerSet")])


def choosing(
    narrowed_by: NarrowedBy = "policies", *levels: TargetLevel, chooser: Chooser = "challenger"
) -> PolicyKindProfile:
    """A kind whose policies choose by `spec.merge` whether they merge with the closest one on some levels."""
    return color_kind(
        "inherited",
        strategy=MergeStrategy.ATOMIC_DEFAULTS,
        effective_targets=(TargetLevel(GroupKind(GATEWAY_API, "HTTPRoute"), section=True),),
        controllers=frozenset({OURS}),
        strategy_field="spec.merge",
        chooser=chooser,
        merges_with="closest",
        merge_parents=levels,
        same_level="one-applies",
        status=StatusProfile(placement="parents", narrowed_by=narrowed_by, conditions=MERGED),  # type: ignore[arg-type]
    )


def order(kind: PolicyKindProfile, *resources: Resource, admits: bool = True) -> TargetOrder:
    """The scopes in a world with a Gateway, which admits its ListenerSet or not, and what is given."""
    admitted: Json = {"namespaces": {"from": "All" if admits else "None"}}
    world = (
        build.gateway_class("public", OURS),
        build.gateway("g", build.listener("http"), build.listener("https", "HTTPS", 443), allowedListeners=admitted),
        build.listener_set("ls", build.listener("films", port=81)),
        build.namespace("default"),
        build.service(),
    )
    return TargetOrder(analyzed(*world, *resources, profiles=[kind]), kind)


def more_specific(target: NodeRef, *resources: Resource, by: NarrowedBy = "policies", admits: bool = True) -> list[str]:
    return [str(node) for node in order(choosing(by), *resources, admits=admits).more_specific(target)]


ROUTE: Final = build.node("HTTPRoute", "r")
HTTP: Final = replace(GATEWAY, section="http")
ON_ROUTE: Final = coloured("on-route", to_route())


def test_nothing_lies_below_without_policies() -> None:
    plain = build.route("r")
    assert more_specific(GATEWAY, plain) == more_specific(SET, plain) == more_specific(ROUTE, plain) == []
    assert more_specific(build.node("Service", "s", group=""), plain, ON_ROUTE) == []
    assert more_specific(build.node("HTTPRoute", "r", "rule[0]"), plain, ON_ROUTE) == []
    assert more_specific(build.node("ListenerSet", "unread"), plain, ON_ROUTE) == []


def test_policies_on_listeners_and_listenersets_lie_below_their_gateway() -> None:
    """And those on a listener of a ListenerSet below that as well; a section has no sections."""
    policies = [
        coloured("a", build.target("g", section="http")),
        coloured("b", to_set()),
        coloured("c", to_set("films")),
    ]
    assert more_specific(GATEWAY, *policies) == [
        "Gateway default/g#http",
        "ListenerSet default/ls",
        "ListenerSet default/ls#films",
    ]
    assert more_specific(SET, *policies) == ["ListenerSet default/ls#films"]
    assert more_specific(HTTP, *policies) == more_specific(replace(SET, section="films"), *policies) == []


def test_rules_lie_below_their_route_and_count_as_the_route_further_up() -> None:
    policies = [ON_ROUTE, coloured("on-rule", to_route("r", "rule[0]"))]
    assert more_specific(ROUTE, build.route("r"), *policies) == ["HTTPRoute default/r#rule[0]"]
    assert more_specific(GATEWAY, build.route("r"), *policies) == ["HTTPRoute default/r"]
    assert more_specific(GATEWAY, build.route("r"), *policies[1:]) == ["HTTPRoute default/r"]


def test_a_route_lies_below_what_its_parent_references_name() -> None:
    """Whether or not it is taken: below that listener, or below all of them if it names none."""
    whole, one = build.route("r"), build.route("r", parents=[build.parent("g", "https")])
    assert more_specific(GATEWAY, whole, ON_ROUTE) == more_specific(HTTP, whole, ON_ROUTE) == ["HTTPRoute default/r"]
    assert more_specific(GATEWAY, one, ON_ROUTE) == ["HTTPRoute default/r"]
    assert more_specific(HTTP, one, ON_ROUTE) == []
    refused = build.route("r", hostnames=["a.example.com"], parents=[build.parent("g", "ghost")])
    assert more_specific(GATEWAY, refused, ON_ROUTE) == ["HTTPRoute default/r"]
    elsewhere = build.route("r", parents=[build.parent("far"), build.service_parent()])
    assert more_specific(GATEWAY, elsewhere, ON_ROUTE) == []


def test_a_route_on_a_listenerset_lies_below_it_and_below_its_gateway() -> None:
    """Not below a listener of the Gateway, and not at all if the Gateway does not admit the ListenerSet."""
    for section in ("", "films"):
        route = by_set("r", section)
        assert more_specific(SET, route, ON_ROUTE) == more_specific(GATEWAY, route, ON_ROUTE) == ["HTTPRoute default/r"]
        assert more_specific(replace(SET, section="films"), route, ON_ROUTE) == ["HTTPRoute default/r"]
        assert more_specific(HTTP, route, ON_ROUTE) == []
    assert (
        more_specific(SET, by_set(), ON_ROUTE, admits=False)
        == more_specific(GATEWAY, by_set(), ON_ROUTE, admits=False)
        == []
    )


def test_a_policy_whose_rule_is_missing_still_lies_below() -> None:
    """Its reference names the route, which is what is looked at; one that names no route at all does not."""
    ghost, gone = coloured("ghost", to_route("r", "ghost")), coloured("gone", to_route("gone"))
    assert more_specific(GATEWAY, build.route("r"), ghost, gone) == ["HTTPRoute default/r"]
    nothing = coloured("nothing", {"group": GATEWAY_API, "kind": "HTTPRoute", "selector": {"matchLabels": {"a": "b"}}})
    assert more_specific(GATEWAY, build.route("r"), nothing) == []


def test_where_a_narrower_policy_takes_effect_instead() -> None:
    """At a listener with a policy of its own, and at every one of a ListenerSet that has one."""
    on_set, on_film = coloured("b", to_set()), coloured("c", to_set("films"))
    films = ["ListenerSet default/ls#films"]
    assert more_specific(GATEWAY, on_set, by="targets") == more_specific(GATEWAY, on_film, by="targets") == films
    assert more_specific(SET, on_film, by="targets") == films
    assert more_specific(SET, on_set, by="targets") == []
    assert more_specific(GATEWAY, coloured("a", build.target("g", section="http")), by="targets") == [
        "Gateway default/g#http"
    ]
    assert more_specific(HTTP, on_set, by="targets") == []


def merges(*resources: Resource, kind: PolicyKindProfile | None = None, admits: bool = True) -> list[tuple[str, str]]:
    """The merges of policy `p` by way of route `r`: the listener and the policy above."""
    found = order(kind or choosing(), *resources, admits=admits).merges_of(P, ROUTE)
    assert all(merge.target == ROUTE for merge in found)
    return [(str(merge.listener), merge.parent.name) for merge in found]


MERGING: Final = coloured("p", to_route(), merge="Patch defaults")
ABOVE: Final = coloured("above", build.ON_GATEWAY)


def test_a_policy_that_does_not_merge_has_no_merges() -> None:
    """Nor has any where the one above chooses, or where there is none above; one on a Gateway never merges."""
    route = build.route("r")
    assert merges(route, ABOVE, coloured("p", to_route())) == []
    assert merges(route, ABOVE, MERGING, kind=choosing(chooser="established")) == []
    assert merges(route, MERGING) == []
    on_gateway = coloured("q", build.ON_GATEWAY, merge="Patch defaults")
    assert order(choosing(), route, on_gateway).merges_of(on_gateway.ref, GATEWAY) == ()


def test_a_policy_merges_at_each_listener_with_the_closest_one() -> None:
    at_http = coloured("at-http", build.target("g", section="http"))
    found = merges(build.route("r"), ABOVE, at_http, MERGING)
    assert found == [("Gateway default/g#http", "at-http"), ("Gateway default/g#https", "above")]
    exact = order(choosing(), build.route("r"), at_http, MERGING).merges_of(P, ROUTE)
    assert exact == (PolicyMerge(target=ROUTE, listener=HTTP, parent=at_http.ref, parent_node=HTTP, failed=False),)


def test_by_way_of_a_listenerset_its_policies_come_first() -> None:
    """Then those of the ListenerSet as a whole, then those of the Gateway; its listeners' are no concern."""
    at_http = coloured("at-http", build.target("g", section="http"))
    layers = [ABOVE, at_http, coloured("on-set", to_set()), coloured("on-film", to_set("films"))]
    films = "ListenerSet default/ls#films"
    for depth, expected in ((2, "above"), (3, "on-set"), (4, "on-film")):
        assert merges(by_set(), MERGING, *layers[:depth]) == [(films, expected)]
    assert merges(by_set(), MERGING, ABOVE, admits=False) == []


def test_only_some_levels_are_merged_with() -> None:
    levels = [TargetLevel(GATEWAY.object.group_kind)]
    at_http = coloured("at-http", build.target("g", section="http"))
    found = merges(build.route("r"), ABOVE, at_http, MERGING, kind=choosing("policies", *levels))
    assert found == [("Gateway default/g#http", "above"), ("Gateway default/g#https", "above")]


def test_a_route_merges_where_a_listener_lets_it_in() -> None:
    """Or would but for its hostname; not at one that takes no routes of its namespace, nor at another controller's."""
    other = build.gateway(
        "o", build.listener("shut", allowedRoutes=build.allow("None")), build.listener("h", hostname="a.b")
    )
    on_other = coloured("on-other", build.target("o"))
    route = build.route("r", parents=[build.parent("o")], hostnames=["c.d"])
    assert merges(route, other, on_other, MERGING) == [("Gateway default/o#h", "on-other")]
    foreign = build.gateway("f", class_name="foreign")
    theirs = build.gateway_class("foreign", "example.com/foreign")
    both = build.route("r", parents=[build.parent("f"), build.parent("g", "http")])
    assert merges(both, foreign, theirs, ABOVE, MERGING) == [("Gateway default/g#http", "above")]
    ghost = build.route("r", parents=[build.parent("g", "ghost"), build.service_parent()])
    assert merges(ghost, ABOVE, MERGING) == []


def test_a_refused_policy_merges_with_nothing() -> None:
    """The older one on the route applies, and it alone; a reference that fails leads nowhere."""
    assert merges(build.route("r"), ABOVE, coloured("older", to_route(), age=0), MERGING) == []
    failing = coloured("p", to_route("r", "ghost"), merge="Patch defaults")
    assert merges(build.route("r"), ABOVE, failing) == []


def test_what_is_merged_into_a_policy() -> None:
    """By way of one target of it: routes, each once and sorted, also where one of their rules has the policy."""
    on_rule = coloured("q", to_route("a", "rule[0]"), merge="StrategicMerge")
    both = coloured("above", build.ON_GATEWAY, build.target("g", section="http"))
    found = order(choosing(), build.route("r"), build.route("a"), both, MERGING, on_rule)
    routes = (build.node("HTTPRoute", "a"), ROUTE)
    assert found.merged_into(both.ref, GATEWAY) == found.merged_into(both.ref, HTTP) == routes
    assert found.merged_into(both.ref, SET) == found.merged_into(P, GATEWAY) == ()


def test_the_report_has_what_merges_and_not_what_it_would_override() -> None:
    """A route that is merged is no longer told as overriding; the merged policy has a place per listener."""
    own = coloured("own", to_route("own"))
    resources = (build.route("r"), build.route("own"), ABOVE, MERGING, own)
    world = (build.gateway_class("public", OURS), build.gateway("g"), build.service(), *resources)
    analysis = analyzed(*world, profiles=[choosing()])

    def report(policy: ObjectRef) -> dict[str, dict[str, tuple[str, tuple[NodeRef, ...]]]]:
        return {
            str(found.ancestor): {each.type: (each.reason, each.related) for each in found.conditions}
            for found in PolicyStatuses(analysis).of(policy)
        }

    assert report(ABOVE.ref) == {
        "Gateway default/g": {
            "Accepted": ("Accepted", ()),
            "Merged": ("MergedInto", (ROUTE,)),
            "Overridden": ("Overridden", (build.node("HTTPRoute", "own"),)),
        }
    }
    assert report(P) == {
        "Gateway default/g": {"Accepted": ("Accepted", ())},
        "Gateway default/g#http": {"Merged": ("Merged", (NodeRef(ABOVE.ref),))},
    }


def test_a_policy_that_would_merge_with_an_invalid_one_is_invalid_there() -> None:
    """At the listeners below that one; where the one above lacks nothing, or keeps nobody out, it is not."""

    def reasons(*, competes: bool = True, exists: bool = False) -> dict[str, tuple[str, str]]:
        need = RequiredObject(field="spec.key", group="", kinds=("Secret",), optional=True, competes=competes)
        words = {**MERGED, "invalid": (ConditionWords("Accepted", "False", "Invalid"),)}
        status = StatusProfile(placement="parents", conditions=words)  # type: ignore[arg-type]
        kind = replace(choosing(), needs=(need,), status=status)
        spec: Json = {"targetRefs": [build.target("g", section="http")], "key": {"name": "k"}}
        above = build.resource("ColorPolicy", "above", spec, group="example.com", age=0)
        gateway = build.gateway("g", build.listener("http"), build.listener("https", "HTTPS", 443))
        world = (build.gateway_class("public", OURS), gateway, build.service(), build.route("r"), above, MERGING)
        secrets = [build.resource("Secret", "k", group="")] if exists else []
        analysis = analyzed(*world, *secrets, complete=True, profiles=[kind])
        return {
            str(found.ancestor): (each.reason, each.message)
            for found in PolicyStatuses(analysis).of(P)
            for each in found.conditions
        }

    fine = ("Accepted", "it is attached to HTTPRoute default/r")
    merged = "it is merged with ColorPolicy default/above"
    assert reasons() == {
        "Gateway default/g": fine,
        "Gateway default/g#http": ("Invalid", f"{merged}, which is not valid"),
    }
    assert reasons(exists=True) == {"Gateway default/g": fine, "Gateway default/g#http": ("Merged", merged)}
    assert reasons(competes=False) == {"Gateway default/g": fine}


LOOSE: Final[list[Json]] = [None, "g", 1, [], {}, {"parentRef": "g"}, {"parentRef": {"kind": "Service", "name": "s"}}]


@pytest.mark.parametrize("spec", LOOSE, ids=str)
def test_a_listenerset_without_a_gateway_has_nothing_above_it(spec: Json) -> None:
    loose = build.resource("ListenerSet", "loose", spec)
    route = build.route("r", parents=[build.parent("loose", kind="ListenerSet")])
    found = order(choosing(), loose, route, MERGING, coloured("on-loose", build.target("loose", "ListenerSet")))
    assert found.more_specific(build.node("ListenerSet", "loose")) == ()
    assert found.merges_of(P, ROUTE) == ()
