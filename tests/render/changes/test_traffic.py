"""Who loses traffic, and who gets some, in words and in lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from kubectl_policy.questions.differences.relations import ParentChange
from kubectl_policy.questions.differences.serving import RouteBehind
from kubectl_policy.questions.differences.traffic import (
    FailingRule,
    RouteTraffic,
    StillAnswered,
    TrafficChanges,
    TrafficOneWay,
)
from kubectl_policy.render.changes.headlines import diff_headline
from kubectl_policy.render.changes.traffic import (
    behind_section,
    ending_clauses,
    keeping_clause,
    nodes_phrase,
    routes_phrase,
    traffic_sections,
)
from kubectl_policy.render.output.text import View, to_text
from tests import build
from tests.render.changes.differences import difference

if TYPE_CHECKING:
    from kubectl_policy.questions.diff import StateDiff

HERE, THERE = build.node("Gateway", "g", "http"), build.node("Gateway", "other", "web")


def route(name: str = "r", *hostnames: str, kind: str = "HTTPRoute", **parts: Any) -> RouteTraffic:  # noqa: ANN401
    every: dict[str, Any] = {"lost": (HERE,), "kept": (), "failing": (), "rules": 1, **parts}
    return RouteTraffic(route=build.ref(kind, name), hostnames=hostnames, **every)


def failing(section: str = "rule[0]", weight: int = 1, total: int = 1, **parts: Any) -> FailingRule:  # noqa: ANN401
    return FailingRule(rule=build.node("HTTPRoute", "r", section), failing=weight, total=total, **parts)


def fails(*rules: FailingRule, **parts: Any) -> RouteTraffic:  # noqa: ANN401
    every: dict[str, Any] = {"lost": (), "kept": (HERE,), "failing": rules, **parts}
    return route("r", "a.b", **every)


def losing(**parts: Any) -> StateDiff:  # noqa: ANN401
    return difference(
        traffic=TrafficChanges(lost=TrafficOneWay(**parts), gained=TrafficOneWay(), owner_key="e.io/team")
    )


def shown(state_diff: StateDiff, view: View | None = None) -> str:
    return to_text(traffic_sections(state_diff, view or View()), 100)


def clauses(*some: RouteTraffic, whole: tuple[RouteTraffic, ...] = ()) -> str:
    return "; ".join(ending_clauses(TrafficOneWay(all=whole, some=some), ""))


def test_who_is_hit() -> None:
    first, second = route("one", "a.b", owner="us"), route("two", "c.d", "*", owner="them")
    assert routes_phrase([first], "team") == "HTTPRoute default/one (hostname a.b, team us)"
    assert routes_phrase([first, second], "e.io/team") == (
        "2 routes in namespace default (2 hostnames, any hostname on 1 route, teams them and us)"
    )
    assert routes_phrase([route("x", "*")]) == "HTTPRoute default/x (any hostname)"
    assert routes_phrase([route("x", kind="TCPRoute")]) == "TCPRoute default/x"


@pytest.mark.parametrize(
    ("rules", "number", "fate"),
    [
        ([failing(weight=90, total=100)], 1, "makes 90% of the requests of HTTPRoute default/r fail with 500"),
        ([failing("a")], 2, "makes all requests of rule a of HTTPRoute default/r fail with 500"),
        ([failing(weight=1, total=900)], 1, "makes less than 1% of the requests of HTTPRoute default/r fail with 500"),
        ([failing(weight=899, total=900)], 1, "makes more than 99% of the requests of HTTPRoute default/r fail"),
        ([failing("a"), failing("b")], 3, "makes part of the requests of HTTPRoute default/r fail with 500"),
        ([failing("a"), failing("b", 1, 2)], 2, "makes part of the requests of HTTPRoute default/r fail with 500"),
    ],
)
def test_a_share_of_the_requests(rules: list[FailingRule], number: int, fate: str) -> None:
    assert clauses(fails(*rules, rules=number)).startswith(fate)
    assert clauses(fails(*rules, rules=number)).endswith("(hostname a.b)")


def test_other_kinds_fail_in_another_way() -> None:
    for kind, fate in (("GRPCRoute", "get UNAVAILABLE"), ("TCPRoute", "are refused"), ("UDPRoute", "are dropped")):
        state_diff = replace(fails(failing()), route=build.ref(kind, "r"))
        assert fate in shown(losing(some=(state_diff,)))
        assert fate in diff_headline(losing(some=(state_diff,)))


def test_several_of_which_part_fails() -> None:
    """And some that only lose a listener: what they keep comes last."""
    moved = route("m", "m.b", kept=(THERE,))
    assert clauses(fails(failing()), fails(failing())) == (
        "makes part of the requests fail for 2 routes in namespace default (hostname a.b)"
    )
    assert clauses(moved) == "ends part of the traffic for HTTPRoute default/m (hostname m.b)"
    assert keeping_clause(TrafficOneWay(some=(moved,))) == ""
    assert keeping_clause(TrafficOneWay(all=(route(),), some=(moved,))) == "; 1 route keeps another Gateway"
    same = replace(moved, kept=(build.node("Gateway", "g", "https"),))
    assert keeping_clause(TrafficOneWay(all=(route(),), some=(moved, same))) == "; 2 routes keep another listener"


def test_a_line_for_each_route() -> None:
    whole = (route("one", "a.b", "c.d", rules=2, owner="us"), route("a-longer-name"))
    part = route("part", "*", kept=(THERE,))
    parents = (
        ParentChange(route=whole[0].route, parent=HERE, before="attached", after="refused", message="it is not let in"),
    )
    state_diff = replace(losing(all=whole, some=(part,)), parents=parents)
    assert shown(state_diff) == (
        "\nLose all traffic\n"
        "  HTTPRoute default/one             a.b, c.d   2 rules, team us\n"
        "    it is not let in\n"
        "  HTTPRoute default/a-longer-name              1 rule\n"
        "\nLose some traffic\n"
        "  HTTPRoute default/part   any hostname   1 rule\n"
        "    keeps Gateway default/other, listener web\n"
    )


def test_what_fails_and_why() -> None:
    rule = failing("a", 1, 2, reason="BackendNotFound", message="Service default/s does not exist")
    text = shown(losing(some=(fails(rule, failing("b"), failing("c", gone=True), rules=3),)))
    assert "    rule a: 50% of its requests get 500: Service default/s does not exist [BackendNotFound]\n" in text
    assert "    rule b: all of its requests get 500\n" in text
    assert "    no rule gets the requests of rule c\n" in text


def test_what_nothing_reaches() -> None:
    """Hostnames, listeners and backends, and who still answers for the rest."""
    services = (build.ref("Service", "s", group=""),)
    by = tuple(build.ref("HTTPRoute", name) for name in "abcd")
    answered = (StillAnswered(("x.y",), by[:1]), StillAnswered(("*",), by), StillAnswered(("z",), (route("p").route,)))
    state_diff = losing(
        all=(route(),),
        some=(route("p", kept=(THERE,)),),
        hostnames=("*", "a.b"),
        answered=answered,
        listeners=(HERE, build.node("Gateway", "g", "https"), build.node("Service", "m", group="")),
        backends=services,
    )
    assert shown(state_diff).partition("\nNo longer reachable\n")[2] == (
        "  hostnames   any hostname, a.b\n"
        "  listeners   http, https of Gateway default/g, Service default/m\n"
        "  backends    Service default/s\n"
        "  HTTPRoute default/a still answers x.y\n"
        "  HTTPRoute default/a, HTTPRoute default/b, HTTPRoute default/c and HTTPRoute default/d still answer\n"
        "    other hostnames\n"
    )


def test_lists_are_cut_at_a_terminal() -> None:
    many = tuple(route(f"r{index:02}", *(f"{number}.b" for number in range(5))) for index in range(14))
    whole = shown(losing(all=many))
    assert whole.count("4.b") == 14
    cut = shown(losing(all=many), View(terminal=True))
    assert "  HTTPRoute default/r11   0.b, 1.b and 3 more   1 rule\n  and 2 more routes: --show-all\n" in cut


def test_what_is_gained() -> None:
    gained_parts = (
        route("more", kept=(HERE, THERE)),
        replace(fails(failing("a"), failing("b", gone=True), rules=3), route=build.ref("HTTPRoute", "again")),
    )
    gained = TrafficOneWay(all=(route("new", "a.b"),), some=gained_parts)
    state_diff = difference(traffic=TrafficChanges(lost=TrafficOneWay(), gained=gained))
    assert to_text(traffic_sections(state_diff, View()), 100) == (
        "\nGet traffic\n"
        "  HTTPRoute default/new   a.b   1 rule\n"
        "\nGet more traffic\n"
        "  HTTPRoute default/more          1 rule\n"
        "    at Gateway default/g, listener http\n"
        "  HTTPRoute default/again   a.b   3 rules\n"
        "    rule a: all of its requests are answered again\n"
        "    rule b is new\n"
    )
    assert diff_headline(state_diff) == (
        "Traffic starts for HTTPRoute default/new (hostname a.b); "
        "more traffic comes to 2 routes in namespace default (hostname a.b)."
    )


def test_what_ends_in_a_sentence_of_its_own() -> None:
    state_diff = losing(all=(route("a"),), some=(fails(failing(weight=1, total=4)), route("m", kept=(THERE,))))
    state_diff = replace(state_diff, traffic=replace(state_diff.traffic, uncontrolled=(route("u"), route("v"))))
    assert diff_headline(state_diff) == (
        "Traffic ends for HTTPRoute default/a; 25% of the requests of HTTPRoute default/r get 500 (hostname a.b); "
        "part of the traffic ends for HTTPRoute default/m; "
        "2 routes in namespace default are left behind Gateways without a controller."
    )
    assert diff_headline(losing(some=(fails(failing()), fails(failing())))).startswith(
        "Part of the requests fail for 2"
    )
    uncontrolled = replace(
        state_diff, traffic=replace(state_diff.traffic, lost=TrafficOneWay(), uncontrolled=(route("u"),))
    )
    assert diff_headline(uncontrolled) == ("HTTPRoute default/u is left behind Gateways without a controller.")
    assert "Behind Gateways left without a controller\n  HTTPRoute default/u" in shown(uncontrolled)


def test_behind_listeners() -> None:
    first = RouteBehind(route=build.ref("HTTPRoute", "r"), hostnames=("a.b",), listeners=(HERE,), owner="us")
    assert to_text(behind_section([first], "team", View()), 100) == (
        "\nThrough these listeners\n  HTTPRoute default/r   a.b   team us\n"
    )


def test_places() -> None:
    """Sections by their nouns, those of one object together."""
    rules = [build.node("HTTPRoute", "r", name) for name in ("rule[0]", "a", "b")]
    assert nodes_phrase(rules) == "HTTPRoute default/r, rule[0] and rules a and b"
    assert nodes_phrase([HERE, THERE]) == "Gateway default/g, listener http; Gateway default/other, listener web"
    assert nodes_phrase([build.node("Gateway", "g")]) == "Gateway default/g"
