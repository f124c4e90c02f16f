"""Routes that delegate to routes: which rules requests reach, and why not others."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kubectl_policy.model import Gap, GroupKind, Json, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles.controllers import DelegationProfile
from kubectl_policy.topology import Topology, attached_hostnames, attached_routes, route_parent_conditions
from kubectl_policy.topology.controllers import is_managed
from tests.build import (
    backend,
    dangling,
    gateway,
    gateway_class,
    grant,
    index,
    listener,
    node,
    parent,
    ref,
    resource,
    route,
    rule,
    service,
)
from tests.delegation import (
    CONTROLLER,
    INHERIT,
    LABEL,
    below,
    delegations,
    http_route,
    labelled,
    passing,
    path,
    reasons,
    to,
    top,
    world,
)
from tests.fakes import Controllers
from tests.topology.test_graph import shorts

HEAD = "GC public > N default > G default/g > G default/g#http > HTTPR default/top > HTTPR default/top#rule[0]"
ANYONE = DelegationProfile(
    group="example.com",
    controllers=frozenset(),
    every_route="",
    by_label=None,
    inherit_matches="",
    grant_required=True,
    evidence=(),
)
OUTSIDE = "none of its matches lies inside those of rule[0] of HTTPRoute default/top"


def paths(topology: Topology, name: str, section: str = "") -> list[str]:
    return shorts(topology.paths(node("HTTPRoute", name, section)))


class TestReferences:
    def test_by_name(self) -> None:
        """In the namespace of the reference, which is the parent's own unless it says so; without a ReferenceGrant."""
        topology = world(
            top(passing("/a", to("c")), passing("/b", to("c", "x"))),
            http_route("c", passing("/a")),
            http_route("c", passing("/b"), namespace="x"),
        )
        assert delegations(topology, "c") == {"default/top#rule[0]": ("rule[0]",)}
        assert delegations(topology, "c", "x") == {"default/top#rule[1]": ("rule[0]",)}
        assert reasons(topology, "top") == [("resolved", "", "")] * 2
        assert paths(topology, "c", "rule[0]") == [f"{HEAD} > HTTPR default/c > HTTPR default/c#rule[0]"]

    def test_what_is_in_a_namespace(self) -> None:
        """Each route once, also one that is delegated to; nothing that is not there."""
        topology = world(top(passing("/a", to("c")), passing("/b", to("gone"))), http_route("c", passing("/a")))
        routes = [ref.name for ref in topology.relations.objects_in("default") if ref.kind == "HTTPRoute"]
        assert routes == ["c", "top"]

    @pytest.mark.parametrize("name", ["*", ""])
    def test_every_route_of_a_namespace(self, name: str) -> None:
        """By a star, or by no name at all; those with other parents are not meant, the parent itself least of all."""
        topology = world(
            top(passing("/", to(name))),
            http_route("c", passing("/c")),
            http_route("own", passing("/"), parents=[parent()]),
            http_route("far", passing("/"), namespace="x"),
        )
        assert delegations(topology, "c") == {"default/top#rule[0]": ("rule[0]",)}
        assert delegations(topology, "own") == {
            "default/top#rule[0]": "rule[0] of HTTPRoute default/top refers to it, but it names other parents"
        }
        assert delegations(topology, "far") == delegations(topology, "top") == {}

    @pytest.mark.parametrize(
        ("namespace", "found"), [(None, ["default/c"]), ("x", ["x/c"]), ("all", ["default/c", "x/c"]), ("y", [])]
    )
    def test_by_label(self, namespace: str | None, found: list[str]) -> None:
        """In the namespace of the reference, or everywhere; a label of another name is not meant."""
        topology = world(
            top(passing("/", labelled("v", namespace))),
            http_route("c", passing("/c"), labels={LABEL: "v"}),
            http_route("c", passing("/c"), labels={LABEL: "v"}, namespace="x"),
            http_route("d", passing("/c"), labels={LABEL: "w"}),
            http_route("e", passing("/c"), labels={"label": "v"}),
        )
        names = [
            (found.kind, found.qualified_name) for found in topology.backends(ref("HTTPRoute", "top"))[0].routes or ()
        ]
        assert names == [("HTTPRoute", name) for name in found]

    def test_by_two_values_of_a_label(self) -> None:
        topology = world(
            top(passing("/c", labelled("v")), passing("/d", labelled("w"))),
            http_route("c", passing("/c"), labels={LABEL: "v"}),
            http_route("d", passing("/d"), labels={LABEL: "w"}),
        )
        assert delegations(topology, "c") == {"default/top#rule[0]": ("rule[0]",)}
        assert delegations(topology, "d") == {"default/top#rule[1]": ("rule[0]",)}

    @pytest.mark.parametrize(
        ("reference", "message"),
        [
            (to("x"), "HTTPRoute default/x does not exist"),
            (to("*", "x"), "no HTTPRoute in namespace x exists"),
            (labelled("v"), f"no HTTPRoute in namespace default with the label {LABEL}=v exists"),
            (labelled("v", "all"), f"no HTTPRoute with the label {LABEL}=v exists"),
        ],
    )
    def test_nothing_is_found(self, reference: dict[str, Json], message: str) -> None:
        """BackendNotFound; unknown where routes may have been left unread."""
        found = top(passing("/", reference))
        topology = world(found)
        assert reasons(topology, "top") == [("broken", "BackendNotFound", message)]
        (problem,) = dangling(topology, found.ref)
        assert (problem.rule, problem.reason) == ("missing-reference", "BackendNotFound")
        assert problem.message == f"HTTPRoute default/top: spec.rules[0].backendRefs[0]: {message}"
        assert problem.related == (
            (ref("HTTPRoute", "x"),) if reference["kind"] == "HTTPRoute" and reference["name"] == "x" else ()
        )
        state, reason, words = reasons(
            world(top(passing("/", {**reference, "namespace": "z"})), complete=False), "top"
        )[0]
        assert (state, reason) == ("unknown", "")
        assert words.endswith("is in the input") or words == "HTTPRoute z/x is not in the input"

    def test_an_unread_label_is_no_object(self) -> None:
        """Neither what a reference by label names nor a star is a node."""
        topology = world(top(passing("/", labelled("v", "x")), passing("/b", to("*", "x"))))
        assert {found.kind for found in topology.nodes} == {"GatewayClass", "Namespace", "Gateway", "HTTPRoute"}
        assert not any(found.object.name in {"v", "*"} for found in topology.nodes)


class TestControllers:
    def test_on_gateways_of_others_a_route_is_a_backend_like_any_other(self) -> None:
        """It needs a ReferenceGrant, and all of its rules are reached; a star is a name."""
        rules = [passing("/a", to("c"), to("c", "x"), to("*"), to("", "x"), labelled("v"))]
        objects = [
            top(*rules),
            http_route("c", passing("/c"), passing("/d"), hostnames=["h"]),
            http_route("c", passing("/c"), namespace="x", labels={LABEL: "v"}),
        ]
        topology = world(*objects, controller="example.com/other")
        assert delegations(topology, "c") == {}
        assert [reason for _, reason, _ in reasons(topology, "top")] == [
            "",
            "RefNotPermitted",
            "BackendNotFound",
            "InvalidKind",
        ]
        assert len(paths(topology, "c", "rule[1]")) == 1

    def test_a_route_below_inherits_whose_it_is(self) -> None:
        """By the Gateway of the route at the top: the label of another implementation means nothing there."""
        foreign = labelled("v", group="delegation.gateway.solo.io")
        topology = world(
            top(passing("/", to("c"))),
            http_route("c", passing("/c", to("d"), foreign)),
            http_route("d", passing("/c/d"), labels={"delegation.gateway.solo.io/label": "v"}),
            http_route("e", passing("/c/e"), labels={"delegation.gateway.solo.io/label": "v"}),
        )
        assert delegations(topology, "d") == {"default/c#rule[0]": ("rule[0]",)}
        assert delegations(topology, "e") == {}
        assert [reason for _, reason, _ in reasons(topology, "c")] == ["", "InvalidKind"]

    def test_where_nothing_is_known_of_controllers_a_route_may_delegate(self) -> None:
        """Nothing else is known that a route could mean by a route; a route of no Gateway is attached to nothing."""
        topology = world(http_route("p", passing("/", to("c"))), http_route("c", passing("/c")))
        assert delegations(topology, "c") == {"default/p#rule[0]": ("rule[0]",)}
        assert topology.relations.is_unattached(ref("HTTPRoute", "c"))
        assert paths(topology, "c") == ["N default > HTTPR default/c"]
        assert route_parent_conditions(topology, ref("HTTPRoute", "c")) == ()


class TestParents:
    def test_a_route_that_names_parents_is_theirs_alone(self) -> None:
        """It is bound to the parent that delegates to it, and refused by one that does not."""
        topology = world(
            top(passing("/", to("*"))),
            http_route("mine", passing("/m"), parents=[below("top")]),
            http_route("other", passing("/o"), parents=[below("mine"), below("ghost")]),
        )
        mine, other = (topology.bindings(ref("HTTPRoute", name)) for name in ("mine", "other"))
        assert [(found.state, found.is_delegated, found.listener) for found in mine] == [("attached", True, None)]
        assert [(found.state, found.reason, found.message) for found in other] == [
            ("refused", "NoMatchingParent", "no rule of HTTPRoute default/mine delegates to it"),
            ("refused", "NoMatchingParent", "HTTPRoute default/ghost does not exist"),
        ]
        assert topology.relations.is_unattached(ref("HTTPRoute", "other"))
        assert not topology.relations.is_unattached(ref("HTTPRoute", "mine"))

    def test_a_parent_may_be_unread_or_delegate_in_an_unknown_way(self) -> None:
        child = http_route("c", passing("/"), parents=[below("p", "z"), below("top")])
        topology = world(child, top(passing("/", to("c"))), controller="example.com/other", complete=False)
        assert [(found.state, found.message) for found in topology.bindings(child.ref)] == [
            ("unknown", "HTTPRoute z/p is not in the input"),
            ("unknown", "it is not known how routes attach to HTTPRoute.gateway.networking.k8s.io"),
        ]

    def test_hostnames_are_the_parent_s(self) -> None:
        """A route with its own is refused: UnsupportedValue; on a Gateway of its own it may have them."""
        topology = world(
            top(passing("/", to("c"))),
            http_route("c", passing("/c"), parents=[parent(), below("top")], hostnames=["h"]),
        )
        where = "rule[0] of HTTPRoute default/top"
        message = f"{where} refers to it, but it has hostnames, which only the route above may have"
        assert delegations(topology, "c") == {"default/top#rule[0]": message}
        assert [(found.state, found.reason) for found in topology.bindings(ref("HTTPRoute", "c"))] == [
            ("attached", ""),
            ("refused", "UnsupportedValue"),
        ]
        assert reasons(topology, "top") == [
            ("broken", "BackendNotFound", "HTTPRoute default/c takes none of its requests")
        ]


class TestMatches:
    @pytest.mark.parametrize(
        ("outer", "inner", "inside"),
        [
            (path("/a"), path("/a/b"), True),
            (path("/a"), path("/a"), True),
            (path("/a/"), path("/a"), True),
            (path("/a"), path("/ab"), True),
            (path("/a"), path("/a/b", "Exact"), True),
            (path("/a"), path("/a/.*", "RegularExpression"), True),
            (path("/"), path("/b"), True),
            ({}, {}, True),
            (path("/a"), {}, False),
            (path("/a"), path("/b"), False),
            (path("/a", "Exact"), path("/a", "Exact"), False),
            (path("/a", "RegularExpression"), path("/a", "RegularExpression"), False),
            (path("/a", method="GET"), path("/a", method="GET"), True),
            (path("/a", method="GET"), path("/a"), False),
            (path("/a"), path("/a", method="GET"), True),
            (path("/a", headers=[{"name": "h", "value": "1"}]), path("/a"), False),
            (
                path("/a", headers=[{"name": "h", "value": "1"}]),
                path("/a", headers=[{"name": "i", "value": "1"}, {"name": "h", "value": "1", "type": "Exact"}]),
                True,
            ),
            (path("/a", queryParams=[{"name": "q", "value": "1"}]), path("/a"), False),
            (
                path("/a", queryParams=[{"name": "q", "value": "1"}]),
                path("/a", queryParams=[{"name": "q", "value": "1"}]),
                True,
            ),
        ],
    )
    def test_a_match_has_to_lie_inside(self, outer: Json, inner: Json, *, inside: bool) -> None:
        """By a prefix as plain text, with at least the same conditions; unless the route inherits them."""
        above = top(rule(to("c"), matches=[outer]))
        topology = world(above, http_route("c", rule(matches=[inner])))
        assert delegations(topology, "c") == {"default/top#rule[0]": ("rule[0]",) if inside else OUTSIDE}
        topology = world(above, http_route("c", rule(matches=[inner]), annotations={INHERIT: "Yes"}))
        assert delegations(topology, "c") == {"default/top#rule[0]": ("rule[0]",)}

    @pytest.mark.parametrize("value", ["false", "", None, 1])
    def test_the_annotation_has_to_be_switched_on(self, value: Json) -> None:
        """By true, yes or enabled."""
        topology = world(top(passing("/a", to("c"))), http_route("c", passing("/b"), annotations={INHERIT: value}))
        assert delegations(topology, "c") == {"default/top#rule[0]": OUTSIDE}

    def test_of_a_route_some_rules_are_reached(self) -> None:
        """Those of one way may not be those of another; nothing gets to the rest."""
        topology = world(
            top(passing("/a", to("c")), passing("/b", to("c"))),
            http_route("c", passing("/a/x", backend()), passing("/b/x"), passing("/z", backend())),
            service(),
        )
        assert delegations(topology, "c") == {"default/top#rule[0]": ("rule[0]",), "default/top#rule[1]": ("rule[1]",)}
        assert [len(paths(topology, "c", f"rule[{rule}]")) for rule in range(3)] == [1, 1, 1]
        assert paths(topology, "c", "rule[2]") == ["N default > HTTPR default/c > HTTPR default/c#rule[2]"]
        assert not topology.carries_traffic(topology.paths(node("HTTPRoute", "c", "rule[2]"))[0])
        assert topology.carries_traffic(topology.paths(node("HTTPRoute", "c", "rule[1]"))[0])
        assert shorts(topology.paths(node("Service", "s", group=""))) == [
            f"{HEAD} > HTTPR default/c > HTTPR default/c#rule[0] > S default/s"
        ]
        assert shorts(topology.paths_through(node("HTTPRoute", "top", "rule[0]"))) == [
            f"{HEAD} > HTTPR default/c > HTTPR default/c#rule[0] > S default/s > S default/s#8080"
        ]

    def test_what_was_kept_out_further_up_stays_out(self) -> None:
        """A match of the route between that no request reaches lets nothing through either."""
        between = rule(to("c"), matches=[path("/a/b"), path("/z")])
        topology = world(
            top(passing("/a", to("b"))), http_route("b", between), http_route("c", passing("/a/b/c"), passing("/z/c"))
        )
        assert delegations(topology, "c") == {"default/b#rule[0]": ("rule[0]",)}
        assert reasons(topology, "b") == [("resolved", "", "")]

    def test_joined_matches_are_those_of_both(self) -> None:
        """Path after path; conditions of one name, and the method, are the parent's."""
        above = rule(to("b"), matches=[path("/a", headers=[{"name": "h", "value": "1"}], method="GET")])
        between = rule(
            to("c"),
            matches=[path("/b", headers=[{"name": "h", "value": "2"}, {"name": "i", "value": "3"}], method="PUT")],
        )
        conditions: Json = [{"name": "h", "value": "1"}, {"name": "i", "value": "3"}]
        topology = world(
            top(above),
            http_route("b", between, annotations={INHERIT: "true"}),
            http_route(
                "c",
                rule(matches=[path("/a/b/c", headers=conditions, method="GET")]),
                rule(matches=[path("/b/c", headers=conditions, method="GET")]),
                rule(matches=[path("/a/b/c", headers=conditions, method="PUT")]),
                rule(matches=[path("/a/b/c", headers=[{"name": "h", "value": "2"}], method="GET")]),
            ),
        )
        assert delegations(topology, "c") == {"default/b#rule[0]": ("rule[0]",)}

    def test_a_regular_expression_passes_nothing_on(self) -> None:
        """Nobody can say what lies inside it; joined to a path it is one again."""
        topology = world(
            top(rule(to("b"), matches=[path("/a/.*", "RegularExpression")])),
            http_route("b", passing("/b", to("c")), annotations={INHERIT: "enabled"}),
            http_route("c", passing("/a/b/c")),
        )
        assert delegations(topology, "b") == {"default/top#rule[0]": ("rule[0]",)}
        assert delegations(topology, "c") == {
            "default/b#rule[0]": "none of its matches lies inside those of rule[0] of HTTPRoute default/b"
        }

    def test_a_rule_that_nothing_reaches_delegates_nothing(self) -> None:
        topology = world(
            top(passing("/a", to("b"))),
            http_route("b", passing("/a"), passing("/z", to("c"))),
            http_route("c", passing("/z")),
        )
        assert delegations(topology, "c") == {
            "default/b#rule[1]": "no request reaches rule[1] of HTTPRoute default/b, which refers to it"
        }
        assert reasons(topology, "b") == [("resolved", "", "")]

    def test_each_match_wants_a_route(self) -> None:
        """BackendNotFound, even if others find one."""
        topology = world(top(rule(to("*"), matches=[path("/a"), path("/b")])), http_route("c", passing("/a/c")))
        assert delegations(topology, "c") == {"default/top#rule[0]": ("rule[0]",)}
        assert reasons(topology, "top") == [("broken", "BackendNotFound", "some of its matches find no route")]
        nowhere = world(top(passing("/b", to("*"))), http_route("c", passing("/a/c")))
        assert reasons(nowhere, "top") == [
            ("broken", "BackendNotFound", "no HTTPRoute in namespace default takes its requests")
        ]


class TestCircles:
    """Where requests would pass a route twice."""

    def test_a_route_that_delegates_to_itself(self) -> None:
        """RefNotPermitted on that rule; the others are reached."""
        loop = http_route("c", passing("/c/1", backend()), passing("/c/2", to("c")))
        topology = world(top(passing("/c", to("*"))), loop, service())
        circle = "HTTPRoute default/c → HTTPRoute default/c"
        assert delegations(topology, "c") == {
            "default/top#rule[0]": ("rule[0]", "rule[1]"),
            "default/c#rule[1]": f"a request from rule[1] of HTTPRoute default/c would loop: {circle}",
        }
        assert reasons(topology, "c") == [
            ("resolved", "", ""),
            ("broken", "RefNotPermitted", f"a request would loop: {circle}"),
        ]
        assert reasons(topology, "top") == [("resolved", "", "")]
        assert dangling(topology, loop.ref) == ()
        assert shorts(topology.cycles()) == ["HTTPR default/c > HTTPR default/c#rule[1]"]
        assert len(topology.paths_through(node("HTTPRoute", "top"))) == 2

    def test_the_reference_that_closes_the_circle_is_the_broken_one(self) -> None:
        """It is the one that leads back to where requests came in."""
        topology = world(
            top(passing("/a", to("b"))),
            http_route("a", passing("/a", to("b"))),
            http_route("b", passing("/a", to("a"))),
        )
        assert reasons(topology, "b") == [("resolved", "", "")]
        assert [reason for _, reason, _ in reasons(topology, "a")] == ["RefNotPermitted"]
        assert shorts(topology.cycles()) == [
            "HTTPR default/a > HTTPR default/a#rule[0] > HTTPR default/b > HTTPR default/b#rule[0]"
        ]
        assert topology.nodes

    def test_two_ways_to_a_route_are_no_circle(self) -> None:
        topology = world(
            top(passing("/a", to("a")), passing("/b", to("b"))),
            http_route("a", passing("/a", to("c"))),
            http_route("b", passing("/b", to("c"))),
            http_route("c", passing("/a/c"), passing("/b/c")),
            http_route("loop", passing("/", to("loop"))),
        )
        assert reasons(topology, "a") == reasons(topology, "b") == [("resolved", "", "")]
        assert delegations(topology, "c") == {"default/a#rule[0]": ("rule[0]",), "default/b#rule[0]": ("rule[1]",)}
        assert shorts(topology.cycles()) == ["HTTPR default/loop > HTTPR default/loop#rule[0]"]

    def test_of_a_reference_to_many_all_are_lost_if_one_circles(self) -> None:
        """As the controller answers the whole rule with an error."""
        topology = world(
            top(passing("/", to("b"))), http_route("b", passing("/b", to("*"))), http_route("c", passing("/b/c"))
        )
        assert [reason for _, reason, _ in reasons(topology, "b")] == ["RefNotPermitted"]
        assert paths(topology, "c") == ["N default > HTTPR default/c"]

    def test_ways_that_multiply_are_not_followed(self) -> None:
        """Three routes on each of ten levels, each delegating to the three below: some sixty thousand ways."""
        levels = [
            http_route(f"r{level}-{number}", rule(*(to(f"r{level + 1}-{other}") for other in range(3))))
            for level in range(10)
            for number in range(3)
        ]
        topology = world(top(rule(to("r0-0"), to("r0-1"), to("r0-2"))), *levels)
        found = delegations(topology, "r9-0")
        assert len(topology.paths_through(node("HTTPRoute", "top"))) < 10_000
        crowded = [message for name in range(10) for message in delegations(topology, f"r{name}-0").values()]
        assert any("too many paths lead to it through other routes" in message for message in crowded)
        assert found

    def test_matches_that_multiply_are_not_followed(self) -> None:
        """A route that joins its many matches to many has more than anybody has."""
        many: list[Json] = [path(f"/{number}") for number in range(60)]
        annotations: dict[str, Json] = {INHERIT: "true"}
        topology = world(
            top(rule(to("b"), matches=many)),
            http_route("b", rule(to("c"), matches=many), annotations=annotations),
            http_route("c", rule(matches=many), annotations=annotations),
        )
        assert delegations(topology, "b") == {"default/top#rule[0]": ("rule[0]",)}
        assert "too many paths" in str(delegations(topology, "c")["default/b#rule[0]"])


class TestStatus:
    def test_of_parents_that_are_not_named(self) -> None:
        """Routes that delegate are parents, in the order of their names, after those that are named."""
        topology = world(
            top(passing("/", to("*")), passing("/c", to("c")), name="b"),
            top(passing("/", to("c")), name="a"),
            http_route("c", passing("/c", backend()), passing("/d", backend("ghost"))),
            service(),
        )
        assert said(topology, "c") == [
            ("HTTPRoute default/a", "True", "Accepted", "False", "BackendNotFound"),
            ("HTTPRoute default/b", "True", "Accepted", "False", "BackendNotFound"),
        ]
        assert said(topology, "a") == [("Gateway default/g", "True", "Accepted", "True", "ResolvedRefs")]

    def test_a_section_is_part_of_the_parent(self) -> None:
        """Each parent once, as it is named; not those that are known not to exist, nor routes that do not delegate."""
        parents = [parent("g", "http"), parent("g", "nope"), parent("ghost"), parent("g", "http"), below("top")]
        topology = world(http_route("r", passing("/", backend()), parents=parents), top(), service())
        assert said(topology, "r") == [
            ("Gateway default/g#http", "True", "Accepted", "True", "ResolvedRefs"),
            ("Gateway default/g#nope", "False", "NoMatchingParent", "True", "ResolvedRefs"),
        ]

    def test_only_the_rules_that_are_reached_count(self) -> None:
        """What a rule refers to that no request gets to does not matter to the parent that delegates."""
        child = http_route(
            "c", passing("/c", backend()), passing("/z", backend("ghost")), parents=[below("top"), parent()]
        )
        topology = world(top(passing("/c", to("c"))), child, service())
        assert said(topology, "c") == [
            ("HTTPRoute default/top", "True", "Accepted", "True", "ResolvedRefs"),
            ("Gateway default/g", "True", "Accepted", "False", "BackendNotFound"),
        ]

    def test_a_refused_child(self) -> None:
        """Because of its hostnames it is not accepted; because of its matches it is not mentioned at all."""
        topology = world(
            top(passing("/", to("*")), passing("/x", to("x"))),
            http_route("c", passing("/c", backend("ghost")), hostnames=["h"]),
            http_route("x", passing("/y"), parents=[below("top")]),
        )
        assert said(topology, "c") == [("HTTPRoute default/top", "False", "UnsupportedValue", "True", "ResolvedRefs")]
        topology = world(top(passing("/x", to("x"))), http_route("x", passing("/y")))
        assert said(topology, "x") == []

    def test_only_the_top_route_is_attached_to_the_listener(self) -> None:
        """Its hostnames are those of the routes below it, as far as requests get there."""
        topology = world(
            top(passing("/", to("b")), name="one", hostnames=["one.example.com"]),
            top(passing("/b", to("b")), name="two", hostnames=["two.example.com"]),
            http_route("b", passing("/b", to("c")), passing("/", to("d"))),
            http_route("c", passing("/b/c")),
            http_route("d", passing("/")),
        )
        http = node("Gateway", "g", "http")
        assert [found.name for found in attached_routes(topology, http)] == ["one", "two"]
        assert attached_hostnames(topology, http, ref("HTTPRoute", "c")) == ("one.example.com", "two.example.com")
        assert attached_hostnames(topology, http, ref("HTTPRoute", "d")) == ("one.example.com",)
        assert attached_hostnames(topology, node("Gateway", "g", "nope"), ref("HTTPRoute", "d")) == ()


def said(topology: Topology, name: str) -> list[tuple[str, str, str, str, str]]:
    """For each parent of a route the status and reason of Accepted and of ResolvedRefs."""
    return [
        (str(found), accepted.status, accepted.reason, resolved.status, resolved.reason)
        for found, (accepted, resolved) in route_parent_conditions(topology, ref("HTTPRoute", name))
    ]


class TestManaged:
    def test_by_the_gateway_of_the_route_at_the_top(self) -> None:
        """A route that names no Gateway is managed by way of one that delegates to it."""
        topology = world(
            top(passing("/", to("b"))),
            http_route("b", passing("/b", to("c"))),
            http_route("c", passing("/b/c")),
            http_route("d", passing("/b/c")),
        )
        acts = [is_managed(topology, ref("HTTPRoute", name), {CONTROLLER}) for name in ("top", "b", "c", "d")]
        assert acts == [True, True, True, False]

    def test_a_path_of_another_controller_does_not_go_on(self) -> None:
        """A parent may be attached to Gateways of two; it delegates below those of its own controller."""
        anyone = listener(allowedRoutes={"namespaces": {"from": "All"}})
        others = [gateway_class("foreign", "example.com/other"), gateway("h", anyone, class_name="foreign")]
        both = http_route("top", passing("/", to("c")), parents=[parent(), parent("h")])
        topology = world(both, http_route("c", passing("/c")), *others)
        assert paths(topology, "c") == [f"{HEAD} > HTTPR default/c"]
        assert [path for path in shorts(topology.paths_through(node("HTTPRoute", "top"))) if "default/h" in path] == [
            HEAD.replace("G default/g", "G default/h").replace("GC public", "GC foreign")
        ]


class TestProfiles:
    def test_a_grant_may_be_required(self) -> None:
        """Unknown where not all ReferenceGrants were read."""
        above, child = top(passing("/", to("c", "x"), to("c"))), http_route("c", passing("/"), namespace="x")
        objects = [gateway_class(), gateway(), above, child, http_route("c", passing("/"))]

        def outcome(*more: Resource, gaps: tuple[Gap, ...] = ()) -> list[tuple[str, str, str]]:
            return reasons(
                Topology(index(*objects, *more, complete=True, gaps=gaps), profiles=Controllers(delegation=(ANYONE,))),
                "top",
            )

        route_grant = grant(namespace="x", targets=[(GATEWAY_API, "HTTPRoute")])
        message = "no ReferenceGrant in namespace x lets HTTPRoute default/top refer to an HTTPRoute"
        assert outcome() == [("broken", "RefNotPermitted", message), ("resolved", "", "")]
        assert outcome(route_grant) == [("resolved", "", "")] * 2
        unknown = (
            "whether HTTPRoute default/top may refer to routes in namespace x is unknown: "
            "no ReferenceGrant in the input says so"
        )
        assert outcome(gaps=(Gap("ReferenceGrant", "x", "forbidden"),)) == [
            ("unknown", "", unknown),
            ("resolved", "", ""),
        ]

    def test_a_profile_for_all_controllers(self) -> None:
        """It holds beside those of known ones; of several readings of a reference the best counts."""
        one = replace(
            ANYONE, group="example.org", controllers=frozenset({CONTROLLER}), every_route="*", grant_required=False
        )
        objects = [gateway_class(controller=CONTROLLER), gateway(), top(passing("/", to("c", "x")))]
        world_index = index(*objects, http_route("c", passing("/"), namespace="x"), complete=True)
        for profiles in ((ANYONE, one), (one, ANYONE)):
            topology = Topology(world_index, profiles=Controllers(delegation=profiles))
            assert reasons(topology, "top") == [("resolved", "", "")]

    def test_nothing_is_looked_up_where_routes_lead_to_services(self) -> None:
        """Nor where a kind occurs that is read; it is for a kind that may mean routes, and not for filters."""
        profiles = Controllers()
        own = GroupKind("example.com", "Backend")
        known = resource("Backend", "b", group="example.com")
        mirror: Json = [{"type": "RequestMirror", "requestMirror": {"backendRef": to("c")}}]
        plain = route(rules=[rule(backend(), backend("b", None, kind="Backend", group="example.com"), filters=mirror)])
        assert Topology(index(plain, known), profiles=profiles).paths(node("HTTPRoute", "r"))
        assert profiles.asked == []
        assert Topology(index(plain), profiles=profiles).paths(node("HTTPRoute", "r"))
        assert profiles.asked == [(own,)]
