"""Differences as text: settings, and the routes that lose or get traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, analyze
from kubectl_policy.comparison import what_if
from kubectl_policy.model import GroupKind
from kubectl_policy.questions.diff import diff
from kubectl_policy.questions.differences.effects import ChangedObject, EffectChange, FieldChange
from kubectl_policy.questions.differences.relations import ParentChange
from kubectl_policy.questions.differences.serving import RouteBehind
from kubectl_policy.questions.differences.traffic import (
    FailingRule,
    RouteTraffic,
    StillAnswered,
    TrafficChanges,
    TrafficOneWay,
)
from kubectl_policy.render.changes import traffic
from kubectl_policy.render.changes.headlines import diff_headline
from kubectl_policy.render.changes.settings import effect_sections
from kubectl_policy.render.changes.summary import summarize
from kubectl_policy.render.changes.text import diff_text, ending_section, first_lines
from kubectl_policy.render.output.text import Line, Segment, View, to_text
from tests import build
from tests.render.changes.differences import POLICY, ROUTE, change, difference, routes, valued

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.questions.diff import StateDiff
    from kubectl_policy.questions.differences.effects import ChangeSort

OTHER_ROUTE = build.node("HTTPRoute", "q")
VIEW = View()
TERMINAL = View(terminal=True)
ABOVE = build.ref("ColorPolicy", "above", group="example.com"), build.node("Gateway", "g")


def field(sort: ChangeSort, *, security: bool = False, name: str = "color") -> FieldChange:
    red, blue = valued("red"), valued("blue", *ABOVE)
    before, after = {
        "lost": (red, None),
        "changed": (red, blue),
        "gained": (None, blue),
        "moved": (red, valued("red", *ABOVE)),
    }[sort]
    return FieldChange(name, before, after, security=security)


def shown(*changes: EffectChange, subject: bool = False, view: View = VIEW) -> str:
    return to_text(effect_sections(changes, view, POLICY if subject else None), 100)


def test_a_field_says_who_set_it_unless_the_question_is_about_that() -> None:
    """Whoever asks about a policy knows that it is this one."""
    assert shown(change(field("lost")), subject=True) == (
        "\nLost · ColorPolicy · 1 object\n  color   red   → nothing\n    HTTPRoute default/r\n"
    )
    assert "→ nothing, was set by ColorPolicy default/p → HTTPRoute default/r" in shown(change(field("lost")))


def test_what_takes_over_is_named() -> None:
    assert "  color   red   → blue, set by ColorPolicy default/above → Gateway default/g\n" in shown(
        change(field("changed")), subject=True
    )
    assert "  color   nothing   → blue, set by ColorPolicy default/above" in shown(change(field("gained")))
    text = shown(change(field("moved")))
    assert text.startswith("\nSame value, set by another policy · ")
    assert "was set by ColorPolicy default/p → HTTPRoute default/r" in " ".join(text.split())


def test_an_override_that_is_a_default_now() -> None:
    """And the other way round: the policy and its target are the same, and are named once."""

    def moved(*, overrides: bool) -> FieldChange:
        red = valued("red")
        before, after = (replace(red, source=replace(red.source, overrides=by)) for by in (not overrides, overrides))
        return FieldChange("color", before, after, security=False)

    default, override = (shown(change(moved(overrides=overrides))) for overrides in (False, True))
    assert default.startswith("\nSame value, now a default · ")
    assert override.startswith("\nSame value, now an override · ")
    assert "was set by" not in default
    both = shown(change(moved(overrides=True), replace(moved(overrides=False), field="shade")))
    assert both.startswith("\nSame value, from another target · ")


def test_that_the_same_policy_says_something_else_is_not_said_twice() -> None:
    """Before and after, it is the same one."""
    assert "was set by" not in shown(change(FieldChange("color", valued("red"), valued("blue"), security=False)))


def test_a_field_that_a_policy_removes_is_told_from_one_that_nobody_sets() -> None:
    """A tombstone is a decision."""
    gone = FieldChange("color", valued("red"), replace(valued(None, *ABOVE), removed=True), security=False)
    assert "red   → removed, set by ColorPolicy default/above" in shown(change(gone))


def test_a_policy_without_fields_has_a_line() -> None:
    """That it takes part is all that there is to say."""
    part = FieldChange("", valued({}), None, security=False)
    assert "  sets no field   {}   → nothing" in shown(change(part))


def test_what_protects_is_said() -> None:
    """In the heading and, where only some of the fields do, at each of them."""
    assert "Lost · security · ColorPolicy · 1 object\n" in shown(change(field("lost", security=True)))
    assert "(security)" not in shown(change(field("lost", security=True)))
    some = shown(change(field("lost", security=True), field("lost", name="shade")), subject=True)
    assert "  color   red   → nothing (security)\n  shade   red   → nothing\n" in some
    assert "Gained · security, newly enforced · Color" in shown(change(field("gained", security=True)))
    new = shown(change(field("gained", security=True), field("gained", name="shade")), subject=True)
    assert "→ blue (security)\n" in new


def test_that_nothing_of_a_kind_is_left_is_said() -> None:
    """A default of the implementation is what holds then."""
    assert "Lost, no ColorPolicy is left · 1 object\n" in shown(change(field("lost"), to_nothing=True))


def test_kinds_of_one_name_are_told_by_their_groups() -> None:
    namesake = PolicyKindProfile(GroupKind("example.org", "ColorPolicy"), "inherited", "profile")
    lost = change(field("lost"), to_nothing=True)
    text = shown(lost, replace(change(field("changed")), profile=namesake))
    assert "Lost, no ColorPolicy.example.com is left · 1 object\n" in text
    assert "Changed · ColorPolicy.example.org · 1 object\n" in text


def test_a_value_that_is_too_wide_for_its_column_is_alone_in_that() -> None:
    wide = FieldChange("shades", valued(["x" * 90]), None, security=False)
    text = shown(change(field("lost"), wide), subject=True)
    assert "  color    red   → nothing\n" in text
    assert f'  shades   ["{"x" * 90}"]\n                 → nothing\n' in text


def test_where_long_values_differ_is_what_is_shown_of_them() -> None:
    """At a terminal: their common beginning says nothing."""

    def providers(uri: str) -> Json:
        return [{"name": "guild", "audiences": ["a" * 30, "b" * 30], "keys": {"uri": uri, "cache": "c" * 40}}]

    before, after = valued(providers("https://a.example")), valued(providers("https://b.example"), *ABOVE)
    both = FieldChange("jwt", before, after, security=False)
    text = shown(change(both), subject=True, view=TERMINAL)
    assert "  jwt   [guild] keys.uri https://a.example\n" in text
    assert "→ [guild] keys.uri https://b.example, set by ColorPolicy default/above" in text
    assert '[{"name": "guild", "audiences"' in shown(change(both), subject=True)
    assert "[guild] audiences" in shown(change(replace(both, after=None)), view=TERMINAL)
    unnamed = replace(both, before=valued(["a" * 60, "b" * 60]), after=valued(["a" * 60, "c" * 60]))
    assert '  jwt   …"bbbb' in shown(change(unnamed), view=TERMINAL)


def test_sections_stand_with_their_object() -> None:
    """And the paths on which a change is not."""
    rules = [replace(ROUTE, section="a"), replace(ROUTE, section="b")]
    assert "    HTTPRoute default/r (rules a and b)\n" in shown(change(field("lost"), nodes=rules))
    gateway = build.node("Gateway", "g")
    through = tuple((gateway, replace(gateway, section=name), ROUTE) for name in ("http", "https"))
    on_some_paths = ChangedObject(ROUTE, (0,), through, (1,))
    text = shown(replace(change(field("lost")), objects=(on_some_paths,)))
    assert "    HTTPRoute default/r (listener https only)\n" in text


def test_what_holds_on_new_paths_is_told() -> None:
    """Nothing was there before that could have had a value."""
    assert "Gained on new paths · " in shown(replace(change(field("gained")), where="new"))
    assert "Lost with the traffic that ends · " in shown(replace(change(field("lost")), where="gone"))


def test_doubts_are_told() -> None:
    """An answer that rests on a guess says so."""
    assert "creationTimestamp is missing" in shown(replace(change(field("lost")), doubts=("age unknown",)))


def test_long_lists_are_cut() -> None:
    lost = change(field("lost"), nodes=routes(10_000))
    assert " and 9,988 more: --show-all" in " ".join(shown(lost, view=TERMINAL).split())
    different = [change(field("lost", name=f"color{number}")) for number in range(13)]
    assert "  and 1 more change: --show-all\n" in shown(*different, view=TERMINAL)
    assert "more" not in shown(*different[:12], view=TERMINAL)
    assert to_text([traffic.list_line([f"o{number}" for number in range(12)], TERMINAL)], 100).endswith("o10, o11\n")
    lines = first_lines(range(14), lambda number: Line((Segment(str(number)),)), "route", TERMINAL)
    assert to_text(lines, 100).endswith("11\n  and 2 more routes: --show-all\n")


def test_a_long_value_is_cut() -> None:
    long = FieldChange("color", valued("a" * 99), valued("b" * 90), security=False)
    text = shown(change(long), view=TERMINAL)
    assert "a" * 99 not in text
    assert f"→ {'b' * 49}…" in text
    assert "b" * 90 in shown(change(long))


def test_nothing_is_cut_that_is_read_by_a_program_or_wanted_whole() -> None:
    """In a pipe, and with `--show-all`."""
    lost = [change(field("lost", name=f"color{number}"), nodes=routes(100)) for number in range(13)]
    for view in (VIEW, replace(TERMINAL, everything=True)):
        text = shown(*lost, view=view)
        assert "more" not in text
        assert text.count("HTTPRoute default/r99") == 13


def test_traffic_ends_for_what_is_left() -> None:
    """Objects that are gone themselves need no traffic."""
    ended = replace(change(field("lost"), nodes=[ROUTE, OTHER_ROUTE]), where="gone")
    state_diff = difference(effects=(ended,))
    assert (
        to_text(ending_section(summarize(state_diff, {ROUTE.object}), VIEW), 100)
        == "\nTraffic ends\n  HTTPRoute default/q\n"
    )
    assert ending_section(summarize(state_diff, {ROUTE.object, OTHER_ROUTE.object}), VIEW) == ()


def test_a_world_that_loses_a_gateway_and_gets_another() -> None:
    world = [
        build.gateway("old"),
        build.route("r", parents=[build.parent("old"), build.parent("new")], rules=[build.rule(build.backend("s"))]),
        build.service("s"),
        build.policy("p", build.target("old")),
        build.policy("q", build.target("new")),
        build.policy("lost", build.target("nowhere")),
    ]
    analysis = analyze(build.snapshot(*world, complete=True))
    moved = what_if(analysis, applied=[build.gateway("new")], deleted=[build.ref("Gateway", "old")])
    text = to_text(diff_text(diff(moved), View()), 100)
    for wanted in (
        "Lose some traffic\n  HTTPRoute default/r   any hostname   1 rule\n",
        "Get more traffic\n  HTTPRoute default/r   any hostname   1 rule\n",
        "Policies that lose a target\n  ColorPolicy default/p → Gateway default/old: Gateway default/old does not",
        "Policies that get a target\n  ColorPolicy default/q → Gateway default/new: attached now, before: target mis",
        "  ColorPolicy default/p: Enforced → TargetNotFound\n",
        "Problems introduced\n  error",
        "Problems fixed\n  error",
        "  created   Gateway default/new\n  deleted   Gateway default/old\n",
    ):
        assert wanted in text


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


def lost_text(state_diff: StateDiff, view: View | None = None) -> str:
    return to_text(traffic.traffic_sections(state_diff, view or View()), 100)


def clauses(*some: RouteTraffic, whole: tuple[RouteTraffic, ...] = ()) -> str:
    return "; ".join(traffic.ending_clauses(TrafficOneWay(all=whole, some=some), ""))


def test_who_is_hit() -> None:
    first, second = route("one", "a.b", owner="us"), route("two", "c.d", "*", owner="them")
    assert traffic.routes_phrase([first], "team") == "HTTPRoute default/one (hostname a.b, team us)"
    assert traffic.routes_phrase([first, second], "e.io/team") == (
        "2 routes in namespace default (2 hostnames, any hostname on 1 route, teams them and us)"
    )
    assert traffic.routes_phrase([route("x", "*")]) == "HTTPRoute default/x (any hostname)"
    assert traffic.routes_phrase([route("x", kind="TCPRoute")]) == "TCPRoute default/x"


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
        assert fate in lost_text(losing(some=(state_diff,)))
        assert fate in diff_headline(losing(some=(state_diff,)))


def test_several_of_which_part_fails() -> None:
    """And some that only lose a listener: what they keep comes last."""
    moved = route("m", "m.b", kept=(THERE,))
    assert clauses(fails(failing()), fails(failing())) == (
        "makes part of the requests fail for 2 routes in namespace default (hostname a.b)"
    )
    assert clauses(moved) == "ends part of the traffic for HTTPRoute default/m (hostname m.b)"
    assert traffic.keeping_clause(TrafficOneWay(some=(moved,))) == ""
    assert traffic.keeping_clause(TrafficOneWay(all=(route(),), some=(moved,))) == "; 1 route keeps another Gateway"
    same = replace(moved, kept=(build.node("Gateway", "g", "https"),))
    assert (
        traffic.keeping_clause(TrafficOneWay(all=(route(),), some=(moved, same))) == "; 2 routes keep another listener"
    )


def test_a_line_for_each_route() -> None:
    whole = (route("one", "a.b", "c.d", rules=2, owner="us"), route("a-longer-name"))
    part = route("part", "*", kept=(THERE,))
    parents = (
        ParentChange(route=whole[0].route, parent=HERE, before="attached", after="refused", message="it is not let in"),
    )
    state_diff = replace(losing(all=whole, some=(part,)), parents=parents)
    assert lost_text(state_diff) == (
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
    text = lost_text(losing(some=(fails(rule, failing("b"), failing("c", gone=True), rules=3),)))
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
    assert lost_text(state_diff).partition("\nNo longer reachable\n")[2] == (
        "  hostnames   any hostname, a.b\n"
        "  listeners   http, https of Gateway default/g, Service default/m\n"
        "  backends    Service default/s\n"
        "  HTTPRoute default/a still answers x.y\n"
        "  HTTPRoute default/a, HTTPRoute default/b, HTTPRoute default/c and HTTPRoute default/d still answer\n"
        "    other hostnames\n"
    )


def test_lists_are_cut_at_a_terminal() -> None:
    many = tuple(route(f"r{index:02}", *(f"{number}.b" for number in range(5))) for index in range(14))
    assert lost_text(losing(all=many)).count("4.b") == 14
    cut = lost_text(losing(all=many), View(terminal=True))
    assert "  HTTPRoute default/r11   0.b, 1.b and 3 more   1 rule\n  and 2 more routes: --show-all\n" in cut


def test_what_is_gained() -> None:
    gained_parts = (
        route("more", kept=(HERE, THERE)),
        replace(fails(failing("a"), failing("b", gone=True), rules=3), route=build.ref("HTTPRoute", "again")),
    )
    gained = TrafficOneWay(all=(route("new", "a.b"),), some=gained_parts)
    state_diff = difference(traffic=TrafficChanges(lost=TrafficOneWay(), gained=gained))
    assert to_text(traffic.traffic_sections(state_diff, View()), 100) == (
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
    assert "Behind Gateways left without a controller\n  HTTPRoute default/u" in lost_text(uncontrolled)


def test_behind_listeners() -> None:
    first = RouteBehind(route=build.ref("HTTPRoute", "r"), hostnames=("a.b",), listeners=(HERE,), owner="us")
    assert to_text(traffic.behind_section([first], "team", View()), 100) == (
        "\nThrough these listeners\n  HTTPRoute default/r   a.b   team us\n"
    )


def test_places() -> None:
    """Sections by their nouns, those of one object together."""
    rules = [build.node("HTTPRoute", "r", name) for name in ("rule[0]", "a", "b")]
    assert traffic.nodes_phrase(rules) == "HTTPRoute default/r, rule[0] and rules a and b"
    assert (
        traffic.nodes_phrase([HERE, THERE]) == "Gateway default/g, listener http; Gateway default/other, listener web"
    )
    assert traffic.nodes_phrase([build.node("Gateway", "g")]) == "Gateway default/g"
