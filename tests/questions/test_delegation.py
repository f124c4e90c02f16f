"""What answers say of routes that delegate to routes."""

from __future__ import annotations

from typing import cast

from kubectl_policy import Analysis, NodeRef
from kubectl_policy.model import Json, Origin, Resource
from kubectl_policy.profiles.load import profiles_in
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.lists import list_type
from kubectl_policy.questions.object_rows import RouteRow
from kubectl_policy.questions.shared.selection import Selection
from tests.build import backend, gateway, gateway_class, policy, ref, service, target
from tests.delegation import CONTROLLER, below, http_route, labelled, passing, to, top
from tests.questions.build import analyzed

ABOVE = "rule[0] of HTTPRoute default/top"


def world(*routes: Resource, complete: bool = True) -> Analysis:
    """Routes below a Gateway of a controller that lets routes delegate, with a policy on the route at the top."""
    objects = (gateway_class(controller=CONTROLLER), gateway(), service(), policy("p", target("top", "HTTPRoute"), a=1))
    return analyzed(*objects, *routes, complete=complete)


def row(analysis: Analysis, name: str) -> list[tuple[str, str, str]]:
    """The parents of a route in a list: their names, whether it is attached to them, and the reason if not."""
    rows = cast("tuple[RouteRow, ...]", list_type(analysis, "routes", Selection()).rows)
    (found,) = (row for row in rows if row.ref.name == name)
    return [(parent.object.name, parent.state, parent.reason) for parent in found.parents]


def escaped(analysis: Analysis, name: str, section: str = "") -> list[tuple[str, str, str]]:
    """What does not apply to a route: the policy, where it is, and why."""
    return [
        (found.policy.name if found.policy else "", str(found.target), found.message)
        for found in describe(analysis, NodeRef(ref("HTTPRoute", name), section)).not_applying
    ]


def test_routes_that_delegate_are_listed_as_parents() -> None:
    """Each once, named or not; a route that is passed over because of its matches has no such parent."""
    analysis = world(
        top(passing("/", to("*")), passing("/b", to("c"))),
        http_route("c", passing("/b", backend())),
        http_route("named", passing("/n"), parents=[below("top")]),
        http_route("refused", passing("/r"), hostnames=["h"]),
        http_route("other", passing("/o"), parents=[below("c")]),
    )
    assert row(analysis, "c") == [("top", "attached", "")]
    assert row(analysis, "named") == [("top", "attached", "")]
    assert row(analysis, "refused") == [("top", "refused", "UnsupportedValue")]
    assert row(analysis, "other") == [("c", "refused", "NoMatchingParent")]
    assert row(world(top(passing("/a", to("c"))), http_route("c", passing("/b"))), "c") == []


def test_a_refusal_names_the_policies_that_it_keeps_away() -> None:
    """Those of the route above, unless requests come from another of its rules; else the rule alone."""
    outside = f"none of its matches lies inside those of {ABOVE}"
    analysis = world(top(passing("/a", to("c"))), http_route("c", passing("/b")))
    assert escaped(analysis, "c") == [("p", "HTTPRoute default/top", outside)]
    analysis = world(top(passing("/a", to("c")), passing("/b", to("c"))), http_route("c", passing("/b")))
    assert escaped(analysis, "c") == [("", "HTTPRoute default/top#rule[0]", outside)]


def test_a_parent_that_a_route_names_is_told_of_once() -> None:
    child = http_route("c", passing("/b"), parents=[below("top")])
    analysis = world(top(passing("/a", to("c"))), child)
    assert escaped(analysis, "c") == [
        ("p", "HTTPRoute default/top", f"none of its matches lies inside those of {ABOVE}")
    ]
    analysis = world(top(passing("/a", backend())), child)
    assert escaped(analysis, "c") == [
        ("p", "HTTPRoute default/top", "no rule of HTTPRoute default/top delegates to it")
    ]


def test_a_circle_is_a_problem_of_each_route_in_it() -> None:
    routes = (
        top(passing("/a", to("a"))),
        http_route("a", passing("/a", to("b"))),
        http_route("b", passing("/a", to("a"))),
    )
    found = [one for one in world(*routes).diagnostics if one.severity == "error"]
    circle = "a request would loop: HTTPRoute default/a → HTTPRoute default/b → HTTPRoute default/a"
    assert [(one.rule, one.message) for one in found] == [
        ("cycle", f"HTTPRoute default/{name}: {circle}") for name in ("a", "b")
    ]


def test_policies_further_up_reach_the_rules_of_all_routes() -> None:
    analysis = analyzed(
        gateway_class(controller=CONTROLLER),
        gateway(),
        service(),
        top(passing("/", to("b"))),
        http_route("b", passing("/b", to("c"))),
        http_route("c", passing("/b/c", backend()), passing("/d")),
        *(
            policy(name, target(name, "Gateway" if name == "g" else "HTTPRoute"), a=1)
            for name in ("g", "top", "b", "c")
        ),
    )
    for node in (NodeRef(ref("HTTPRoute", "c"), "rule[0]"), NodeRef(ref("Service", "s", group=""), "8080")):
        paths = analysis.topology.paths(node)
        (effective,) = (one for path in paths for one in analysis.effective_on(path))
        sources = sorted(part.source.object.name for part in effective.resolution.contributions)
        assert sources == ["b", "c", "g", "top"]
    assert analysis.affected_by(NodeRef(ref("HTTPRoute", "c"), "rule[1]")) == ()


def test_a_profile_file_can_say_how_routes_delegate() -> None:
    label: Json = {"group": "routes.example.com", "kind": "label", "label": "team"}
    document = {
        "group": "example.com",
        "controllers": ["example.com/mine"],
        "delegation": {"byLabel": label, "evidence": ["https://example.com"]},
        "kinds": {"ColorPolicy": {"class": "direct", "evidence": ["https://example.com"]}},
    }
    reference = labelled("bread", group="routes.example.com")
    objects = (
        gateway_class(controller="example.com/mine"),
        gateway(),
        top(passing("/", reference)),
        http_route("c", passing("/c"), labels={"team": "bread"}),
    )
    for profiles, found in ((profiles_in(document, Origin("f.yaml", 1)), ["top"]), ((), [])):
        analysis = analyzed(*objects, profiles=profiles)
        delegations = analysis.topology.relations.delegations.to(ref("HTTPRoute", "c"))
        assert [one.parent.object.name for one in delegations] == found


def test_a_route_that_delegates_to_itself_is_no_reason_of_its_own() -> None:
    assert escaped(world(top(passing("/a", to("c"))), http_route("c", passing("/a", to("c")))), "c") == []


def test_what_was_not_read_may_be_delegated_to() -> None:
    analysis = world(
        top(passing("/a", to("*", "x")), passing("/b", to("c", "x"))),
        http_route("d", passing("/d"), parents=[below("far", "x")]),
        complete=False,
    )
    found = describe(analysis, NodeRef(ref("HTTPRoute", "top"))).problems
    assert [(one.rule, one.related) for one in found if one.rule == "unknown-reference"] == [
        ("unknown-reference", ()),
        ("unknown-reference", (ref("HTTPRoute", "c", "x"),)),
    ]
    answer = describe(analysis, NodeRef(ref("HTTPRoute", "d")))
    assert [(one.what, one.reason) for one in answer.unseen][-1] == (
        "HTTPRoute x/far",
        "HTTPRoute x/far is not in the input",
    )
