"""The picture of two states in one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import Analysis, NotFoundError
from kubectl_policy.comparison import compare, what_if
from kubectl_policy.model import Resource
from kubectl_policy.model.kind_roles import GATEWAY, GATEWAY_CLASS
from kubectl_policy.questions.graph.comparison import graph_of_two
from kubectl_policy.questions.graph.picture import GraphOptions, Picture
from kubectl_policy.questions.shared.selection import find
from tests import build
from tests.questions.build import analyzed
from tests.questions.graph.drawings import around, drawn, groups, links, nodes, outcomes, policies, short, unseen

CLASS: Final = build.gateway_class()
G: Final = build.gateway()
R: Final = build.route()
S: Final = build.service("s")
WORLD: Final[tuple[Resource, ...]] = (CLASS, G, R, S, build.namespace("default"))
RED: Final = build.policy("p", build.ON_GATEWAY, color="red")
BLUE: Final = build.policy("p", build.ON_GATEWAY, color="blue")


def between(before: Sequence[Resource], after: Sequence[Resource], asked: GraphOptions | None = None) -> Picture:
    """The picture of two states that are all that there is."""
    old, new = (build.snapshot(*state, complete=True) for state in (before, after))
    return graph_of_two(compare(old, new), lambda _: asked or GraphOptions())


def marked(picture: Picture) -> list[str]:
    return [each for each in (*nodes(picture), *links(picture), *policies(picture)) if each.split()[0].endswith(":")]


def differing(picture: Picture) -> list[str]:
    return sorted(short(node.ref) for node in picture.nodes if node.settings_differ)


def test_nothing_differs() -> None:
    world = [*WORLD, RED]
    picture, one = between(world, world), drawn(world)
    assert picture == replace(one, two_states=True)
    assert not marked(picture)


class TestNodes:
    def test_not_what_is_led_to_anew(self) -> None:
        t = build.service("t")
        route = build.route(rules=[build.rule(build.backend("s")), build.rule(build.backend("t"), name="t")])
        assert marked(between([*WORLD, t], [CLASS, G, route, S, t])) == [
            "changed: HTTPRoute r",
            "added: HTTPRoute r#t",
            "added: HTTPRoute r > HTTPRoute r#t",
            "added: HTTPRoute r#t > Service t#8080",
        ]

    def test_a_new_route(self) -> None:
        new = build.route("new", rules=[build.rule(build.backend("ghost"))])
        assert marked(between(WORLD, [*WORLD, new])) == [
            "added: HTTPRoute new",
            "added: HTTPRoute new#rule[0]",
            "added: Service ghost (missing)",
            "added: Gateway g#http > HTTPRoute new",
            "added: HTTPRoute new > HTTPRoute new#rule[0]",
            "added: HTTPRoute new#rule[0] > Service ghost broken BackendNotFound",
        ]

    def test_what_is_still_named(self) -> None:
        picture = between(WORLD, [each for each in WORLD if each is not G])
        assert marked(picture) == [
            "removed: Gateway g",
            "removed: Gateway g#http",
            "removed: Gateway g > Gateway g#http",
            "changed: Gateway g > HTTPRoute r refused NoMatchingParent",
            "removed: GatewayClass public > Gateway g",
        ]
        assert next(node for node in picture.nodes if node.ref.section == "http").protocol == "HTTP"
        picture = between([each for each in WORLD if each is not G], WORLD)
        assert marked(picture) == [
            "added: Gateway g",
            "added: Gateway g#http",
            "added: Gateway g > Gateway g#http",
            "changed: Gateway g#http > HTTPRoute r",
            "added: GatewayClass public > Gateway g",
        ]

    def test_a_name_that_goes(self) -> None:
        ghost = build.route(rules=[build.rule(build.backend("ghost"))])
        assert "removed: Service ghost (missing)" in marked(between([CLASS, G, ghost, S], [CLASS, G, R, S]))

    def test_sections_that_say_the_same(self) -> None:
        listeners = [build.listener("one"), build.listener("two", port=81)]
        other = [listeners[0], {**listeners[1], "hostname": "two.example.com"}]
        before, after = ([CLASS, build.gateway("g", *each), R, S] for each in (listeners, other))
        assert marked(between(before, after)) == ["changed: Gateway g", "changed: Gateway g#two"]
        rules = [build.rule(build.backend("s"), name="a"), build.rule(build.backend("s"), name="b")]
        timeouts = [rules[0], {**rules[1], "timeouts": {"request": "5s"}}]
        before, after = ([CLASS, G, build.route(rules=each), S] for each in (rules, timeouts))
        assert marked(between(before, after)) == ["changed: HTTPRoute r", "changed: HTTPRoute r#b"]
        services = [build.service("s", {"port": 8080}), build.service("s", {"port": 8080, "appProtocol": "http2"})]
        before, after = ([CLASS, G, R, service] for service in services)
        assert marked(between(before, after)) == ["changed: Service s", "changed: Service s#8080"]

    def test_a_namespace(self) -> None:
        home = build.policy("p", build.target("other", "Namespace", group=""), namespace="default", color="red")
        away = build.service("away", namespace="other")
        asked = around(build.ref("Namespace", "other", group=""))
        picture = between([*WORLD, away], WORLD, asked)
        assert marked(picture) == ["removed: Namespace other"]
        picture = between([*WORLD, away, home], [*WORLD, away, home], asked)
        assert not marked(picture)
        there = build.namespace("other")
        assert marked(between([*WORLD, there], WORLD, asked)) == ["removed: Namespace other"]
        labelled = build.namespace("other", {"team": "a"})
        assert marked(between([*WORLD, there], [*WORLD, labelled], asked)) == ["changed: Namespace other"]


class TestLinks:
    def test_moved(self) -> None:
        listeners = [build.listener("one"), build.listener("two", port=81)]
        before, after = (
            [CLASS, build.gateway("g", *listeners), build.route(parents=[build.parent("g", each)]), S]
            for each in ("one", "two")
        )
        assert marked(between(before, after)) == [
            "changed: HTTPRoute r",
            "removed: Gateway g#one > HTTPRoute r",
            "added: Gateway g#two > HTTPRoute r",
        ]
        # Without sections, nothing of that is seen.
        assert marked(between(before, after, GraphOptions(sections=False))) == ["changed: HTTPRoute r"]

    def test_refused_by_one_listener(self) -> None:
        after = build.gateway("g", build.listener(hostname="other.example.com"))
        route = build.route(hostnames=["a.example.com"])
        assert marked(between([CLASS, G, route, S], [CLASS, after, route, S])) == [
            "changed: Gateway g",
            "changed: Gateway g#http",
            "changed: Gateway g#http > HTTPRoute r refused NoMatchingListenerHostname",
        ]

    def test_refused_by_all(self) -> None:
        listeners = [build.listener("one"), build.listener("two", port=81)]
        closed = [{**each, "hostname": "other.example.com"} for each in listeners]
        route = build.route(hostnames=["a.example.com"])
        before, after = ([CLASS, build.gateway("g", *each), route, S] for each in (listeners, closed))
        assert links(between(before, after), "route") == [
            "changed: Gateway g > HTTPRoute r refused NoMatchingListenerHostname"
        ]
        assert links(between(after, before), "route") == [
            "changed: Gateway g#one > HTTPRoute r",
            "changed: Gateway g#two > HTTPRoute r",
        ]

    def test_for_another_reason(self) -> None:
        refused = [build.route(parents=[build.parent("g", each)]) for each in ("a", "b")]
        before, after = ([CLASS, G, route, S] for route in refused)
        # Which listeners there are not is no other reason.
        assert links(between(before, after), "route") == ["Gateway g > HTTPRoute r refused NoMatchingParent"]
        gone = [CLASS, build.gateway("g", build.listener("a", "UDP")), refused[0], S]
        assert links(between(before, gone), "route") == [
            "removed: Gateway g > HTTPRoute r refused NoMatchingParent",
            "added: Gateway g#a > HTTPRoute r refused NotAllowedByListeners",
        ]

    def test_several_alike(self) -> None:
        one, two = (
            [CLASS, G, build.route(parents=[build.parent("g", each) for each in names]), S]
            for names in (("a",), ("a", "b"))
        )
        refused = "Gateway g > HTTPRoute r refused NoMatchingParent"
        assert links(between(one, two), "route") == [refused, f"added: {refused}"]
        assert links(between(two, one), "route") == [refused, f"removed: {refused}"]

    def test_a_port_that_goes(self) -> None:
        before, after = ([CLASS, G, R, build.service("s", port)] for port in (8080, 9090))
        assert marked(between(before, after)) == [
            "changed: Service s",
            "removed: Service s#8080",
            "added: Service s#9090",
            "removed: Service s > Service s#8080",
            "added: Service s > Service s#9090",
            "changed: HTTPRoute r#rule[0] > Service s broken BackendNotFound",
        ]

    def test_rules_are_told_apart(self) -> None:
        before, after = (
            build.route(
                rules=[build.rule(build.backend("s", a), name="a"), build.rule(build.backend("s", b), name="b")]
            )
            for a, b in ((8080, 9), (9, 8080))
        )
        picture = between([CLASS, G, before, S], [CLASS, G, after, S])
        assert links(picture, "backend") == [
            "changed: HTTPRoute r#a > Service s broken BackendNotFound",
            "changed: HTTPRoute r#b > Service s#8080",
        ]

    def test_past_what_is_left_out(self) -> None:
        old, new = build.gateway_class("old"), build.gateway_class("new")
        before, after = ([old, new, build.gateway(class_name=each), R, S] for each in ("old", "new"))
        asked = GraphOptions(kinds=frozenset({GATEWAY_CLASS, S.ref.group_kind}), sections=False)
        assert marked(between(before, after, asked)) == [
            "added: GatewayClass new > Service s past",
            "removed: GatewayClass old > Service s past",
        ]


class TestPolicies:
    def test_added_and_removed(self) -> None:
        picture = between(WORLD, [*WORLD, RED])
        assert marked(picture) == ["added: p Enforced at Gateway g, HTTPRoute r, Service s"]
        assert differing(picture) == ["Gateway g", "HTTPRoute r", "HTTPRoute r#rule[0]", "Service s"]
        picture = between([*WORLD, RED], WORLD)
        assert marked(picture) == ["removed: p Enforced at Gateway g, HTTPRoute r, Service s"]

    def test_other_settings(self) -> None:
        picture = between([*WORLD, RED], [*WORLD, BLUE])
        assert marked(picture) == ["changed: p Enforced at Gateway g, HTTPRoute r, Service s"]
        assert differing(picture) == ["Gateway g", "HTTPRoute r", "HTTPRoute r#rule[0]", "Service s"]

    def test_other_targets(self) -> None:
        moved = build.policy("p", build.ON_ROUTE, color="red")
        picture = between([*WORLD, RED], [*WORLD, moved])
        assert marked(picture) == ["changed: p Enforced at HTTPRoute r, Service s no more on Gateway g"]
        selecting = build.policy(
            "p",
            targetSelectors=[{"group": GATEWAY.group, "kind": "Gateway", "matchLabels": {"team": "nobody"}}],
            color="red",
        )
        assert policies(between([*WORLD, selecting], [*WORLD, moved])) == [
            "changed: p Enforced was TargetNotFound at HTTPRoute r, Service s"
        ]

    def test_other_targets_of_other_kinds(self) -> None:
        asked = GraphOptions(kinds=frozenset({GATEWAY}))
        moved = build.policy("p", build.ON_SERVICE, color="red")
        assert marked(between([*WORLD, RED], [*WORLD, moved], asked)) == [
            "changed: p Enforced at Service s no more on Gateway g"
        ]
        assert not between([*WORLD, moved], [*WORLD, moved], asked).policies

    def test_another_state(self) -> None:
        over = build.policy("over", build.ON_ROUTE, color="blue")
        picture = between([*WORLD, RED], [*WORLD, RED, over])
        assert marked(picture) == [
            "added: over Enforced at HTTPRoute r, Service s",
            "changed: p Overridden was Enforced",
        ]

    def test_another_reference_that_fails(self) -> None:
        both = build.policy("p", build.ON_GATEWAY, build.target("t", "HTTPRoute"), color="red")
        t = build.route("t", parents=[])
        assert "changed: p Enforced at Gateway g, HTTPRoute r, Service s" in marked(
            between([*WORLD, t, both], [*WORLD, both])
        )


class TestAround:
    def test_neither_has_it(self) -> None:
        comparison = compare(build.snapshot(*WORLD), build.snapshot(*WORLD))
        with pytest.raises(NotFoundError):
            graph_of_two(comparison, lambda state: around(find(state, "httproute", "ghost", "default")))

    def test_each_state_has_one(self) -> None:
        def asked(state: Analysis) -> GraphOptions:
            return around(*(find(state, "httproute", name, "default") for name in ("old", "new")))

        old, new = build.route("old"), build.route("new")
        before, after = (build.snapshot(CLASS, G, S, each, RED, complete=True) for each in (old, new))
        picture = graph_of_two(compare(before, after), asked)
        assert picture.asked.subjects == (old.ref, new.ref)
        assert marked(picture) == [
            "added: HTTPRoute new",
            "added: HTTPRoute new#rule[0]",
            "removed: HTTPRoute old",
            "removed: HTTPRoute old#rule[0]",
            "added: Gateway g#http > HTTPRoute new",
            "removed: Gateway g#http > HTTPRoute old",
            "added: HTTPRoute new > HTTPRoute new#rule[0]",
            "added: HTTPRoute new#rule[0] > Service s#8080",
            "removed: HTTPRoute old > HTTPRoute old#rule[0]",
            "removed: HTTPRoute old#rule[0] > Service s#8080",
        ]

    def test_a_policy_that_is_deleted(self) -> None:
        """What is around it stays, and how far others are enforced is told of all of their paths."""
        over = build.policy("over", build.ON_ROUTE, color="blue")
        analysis = analyzed(*WORLD, RED, over, build.route("t"), complete=True)
        comparison = what_if(analysis, deleted=[over.ref])
        picture = graph_of_two(comparison, lambda state: around(find(state, "colorpolicy", "over", "default")))
        assert marked(picture) == [
            "removed: over Enforced at HTTPRoute r, Service s",
            "changed: p Enforced was PartiallyEnforced at Gateway g, HTTPRoute r, HTTPRoute t, Service s",
        ]
        assert "HTTPRoute t" not in nodes(picture)
        assert not picture.is_part

    def test_what_one_state_alone_leads_to(self) -> None:
        other = build.gateway("other")
        moved = build.route(parents=[build.parent("other")])
        picture = between([*WORLD, other], [CLASS, G, moved, S, other], around(R.ref))
        assert marked(picture) == [
            "changed: HTTPRoute r",
            "removed: Gateway g#http > HTTPRoute r",
            "added: Gateway other#http > HTTPRoute r",
        ]

    def test_only_affected(self) -> None:
        asked = GraphOptions(only_affected=True)
        assert marked(between(WORLD, [*WORLD, RED], asked)) == [
            "added: p Enforced at Gateway g, HTTPRoute r, Service s"
        ]
        assert nodes(between(WORLD, [*WORLD, RED], asked)) == nodes(drawn([*WORLD, RED], asked))


class TestOutcomes:
    ASKED: Final = GraphOptions(effective=True)

    def test_of_the_later_state(self) -> None:
        assert not outcomes(between([*WORLD, RED], WORLD, self.ASKED))
        picture = between([*WORLD, RED], [*WORLD, BLUE], self.ASKED)
        assert [group.summary for group in outcomes(picture)[build.node("HTTPRoute", "r", "rule[0]")].groups] == [
            ("color blue",)
        ]

    def test_of_what_is_gone(self) -> None:
        gone = build.route("gone")
        assert groups(between([*WORLD, RED, gone], [*WORLD, RED], self.ASKED)) == {
            "HTTPRoute gone#rule[0]": [("ColorPolicy", "p", "0")],
            "HTTPRoute r#rule[0]": [("ColorPolicy", "p", "0")],
        }

    def test_where_they_differ(self) -> None:
        """At what is drawn: an object, and the rules that lead there; without sections, at objects."""
        tls, other = (
            build.policy(
                "tls",
                build.ON_SERVICE,
                kind="BackendTLSPolicy",
                group="gateway.networking.k8s.io",
                validation={"hostname": name, "wellKnownCACertificates": "System"},
            )
            for name in ("s", "t")
        )
        before, after = [*WORLD, tls], [*WORLD, other]
        assert differing(between(before, after)) == ["HTTPRoute r#rule[0]", "Service s#8080"]
        assert differing(between(before, after, GraphOptions(sections=False))) == ["HTTPRoute r", "Service s"]
        assert not differing(between(before, after, GraphOptions(kinds=frozenset({GATEWAY}))))


def test_what_is_unseen_in_either() -> None:
    lost = [build.route(name, parents=[build.parent(f"of-{name}")]) for name in ("a", "b", "both")]
    before, after = (build.snapshot(*WORLD, each, lost[2]) for each in lost[:2])
    picture = graph_of_two(compare(before, after), lambda _: GraphOptions())
    assert unseen(picture) == ["Gateway default/of-a", "Gateway default/of-both", "Gateway default/of-b"]
    assert picture.two_states
