"""The tree: each node with its policies and what is in force there, and what is alike told once."""

from __future__ import annotations

import re
from collections import Counter
from itertools import takewhile
from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy.comparison import compare
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.graph.comparison import graph_of_two
from kubectl_policy.questions.graph.picture import GraphLink, GraphOptions
from kubectl_policy.render.graph.tree import graph_tree
from kubectl_policy.render.graph.tree_rows import TreeRows
from kubectl_policy.render.graph.wording import graph_headline
from kubectl_policy.render.output.escape import escape_controls
from kubectl_policy.render.output.text import View, cells, to_text
from tests import build
from tests.questions.graph.drawings import around, drawn
from tests.render.graph.pictures import HOSTILE, WORLDS, hostile_world, picture_of
from tests.render.worlds import DIRECT, INHERITED, defaults, overrides

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from syrupy.assertion import SnapshotAssertion

    from kubectl_policy.model import Json, Resource
    from kubectl_policy.questions.graph.picture import Picture

TERMINAL: Final = View(terminal=True)
WIDE: Final = View(200, terminal=True)
EVERYTHING: Final = View(terminal=True, everything=True)
EFFECTIVE: Final = GraphOptions(effective=True)
TWO: Final = build.gateway("g", build.listener("http"), build.listener("https", "HTTPS", 443))
ONE: Final = build.gateway("g", build.listener("http"))
BASE: Final = (
    build.gateway_class(),
    build.service("s"),
    build.namespace("default"),
    build.crd("ColorPolicy", labels=INHERITED),
    build.crd("LimitPolicy", labels=DIRECT),
)


def tree(picture: Picture, view: View = TERMINAL) -> list[str]:
    lines = to_text(graph_tree(picture, view), view.width).splitlines()
    return lines[lines.index("") + 1 :] if "" in lines else []


def tree_of(*resources: Resource, view: View = TERMINAL, asked: GraphOptions = EFFECTIVE) -> list[str]:
    """The lines of the tree of some objects, which are all that there is but for those in every test."""
    return tree(drawn((*BASE, *resources), asked), view)


def plain(lines: Iterable[str]) -> list[str]:
    return [line.lstrip("│├└─ ") for line in lines]


def routes(number: int) -> list[Resource]:
    rules = [[build.rule(build.backend(f"s{index}"))] for index in range(number)]
    routes_ = [build.route(f"r{index}", rules=rule_list) for index, rule_list in enumerate(rules)]
    return [*routes_, *(build.service(f"s{index}") for index in range(number))]


def on_route(name: str, color: str) -> Resource:
    return defaults(f"on-{name}", build.target(name, "HTTPRoute"), color=color)


def test_a_world_without_anything_is_a_sentence() -> None:
    picture = drawn([build.namespace("a")])
    assert to_text(graph_tree(picture, TERMINAL), 100) == "Nothing of the hierarchy; no policies.\n"


def test_an_object_is_counted_although_one_of_its_sections_is_missing() -> None:
    """A policy names a listener that the Gateway lacks; the Gateway is there all the same."""
    picture = drawn((*BASE, ONE, build.policy("red", build.target("g", section="nightly"))), EFFECTIVE)
    assert graph_headline(picture).startswith("1 Gateway, 1 GatewayClass; 1 policy: 1 dangling: target not found.")


@pytest.mark.parametrize("view", [TERMINAL, replace(TERMINAL, width=80), replace(TERMINAL, width=80, unicode=False)])
def test_the_bakery(view: View, snapshot: SnapshotAssertion) -> None:
    assert "\n".join(tree(picture_of("bakery", effective=True), view)) == snapshot


@pytest.mark.parametrize("world", ["delegation", "kuadrant", "nginx-gateway-fabric"])
def test_other_worlds(world: str, snapshot: SnapshotAssertion) -> None:
    assert "\n".join(tree(picture_of(world, effective=True))) == snapshot


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("width", [60, 100])
def test_everything_is_in_it(world: str, width: int) -> None:
    picture = picture_of(world, effective=True)
    rows = list(takewhile(lambda line: line != "Could not be seen", tree(picture, View(width))))
    names_ = set(re.sub(r"[,:()]", " ", " ".join(rows)).split())
    named = {*(node.ref.object for node in picture.nodes), *(policy.ref for policy in picture.policies)}
    assert {ref.qualified_name for ref in named} <= names_
    # A kind is not parted from a name, nor a name from what follows without a space.
    assert all(len(row.strip("│├└─ ").split()) <= 3 for row in rows if cells(row) > width)


class TestWhatIsInForce:
    def test_two_listeners_with_different_winners(self) -> None:
        """A route that is below both of them says on each branch what wins there, and nothing of the other one."""
        slow = build.policy("slow", build.ON_ROUTE, defaults={"strategy": "atomic", "color": "blue"})
        strict = overrides("strict", build.target("g", "Gateway", "https"), color="red")
        assert tree_of(TWO, build.route(), slow, strict) == [
            "GatewayClass public",
            "└── Gateway default/g",
            "    ├── listener http  HTTP 80",
            "    │   └── HTTPRoute default/r",
            "    │       ├── ColorPolicy default/slow: partially enforced",
            "    │       ├── in force: ColorPolicy color blue (default/slow)",
            "    │       └── rule[0] → Service default/s, port 8080",
            "    └── listener https  HTTPS 443",
            "        ├── ColorPolicy default/strict: enforced",
            "        └── HTTPRoute default/r",
            "            ├── ColorPolicy default/slow: partially enforced",
            "            ├── in force: ColorPolicy color red (default/strict)",
            "            └── rule[0] → Service default/s, port 8080",
        ]

    def test_without_sections_it_says_where(self) -> None:
        """The branch does not tell the listeners apart."""
        slow = build.policy("slow", build.ON_ROUTE, defaults={"strategy": "atomic", "color": "blue"})
        strict = overrides("strict", build.target("g", "Gateway", "https"), color="red")
        lines = tree_of(TWO, build.route(), slow, strict, asked=replace(EFFECTIVE, sections=False))
        assert lines == [
            "GatewayClass public",
            "└── Gateway default/g",
            "    ├── ColorPolicy default/strict on listener https: enforced",
            "    └── HTTPRoute default/r",
            "        ├── ColorPolicy default/slow: partially enforced",
            "        ├── in force: ColorPolicy color blue (default/slow), on listener http only",
            "        ├── in force: ColorPolicy color red (default/strict), on listener https only",
            "        └── → Service default/s",
        ]

    def test_what_is_so_at_every_rule_is_told_at_the_route(self) -> None:
        """And at a rule, what is so there alone."""
        rules = [build.rule(build.backend(), name="a"), build.rule(build.backend("t"), name="b")]
        limit = build.policy("l", build.target("t", "Service", group=""), kind="LimitPolicy", limit=1)
        lines = tree_of(ONE, build.route(rules=rules), build.service("t"), on_route("r", color="blue"), limit)
        assert plain(lines)[3:] == [
            "HTTPRoute default/r",
            "ColorPolicy default/on-r: enforced",
            "in force on each rule below: ColorPolicy color blue (default/on-r)",
            "rule a → Service default/s, port 8080",
            "rule b → Service default/t, port 8080",
            "LimitPolicy default/l: enforced",
            "in force: LimitPolicy limit 1 (default/l)",
        ]

    def test_what_is_so_at_every_listener_is_told_at_the_gateway(self) -> None:
        """Unless it has ListenerSets, of which it might be taken to be said as well."""
        policies = [
            build.crd("TlsPolicy", labels=DIRECT),
            build.policy("t", build.ON_GATEWAY, kind="TlsPolicy", version="1.3"),
        ]
        outcomes = [line for line in plain(tree_of(TWO, *policies)) if "in force" in line]
        assert outcomes == ["in force on each listener below: TlsPolicy version 1.3 (default/t)"]
        open_to_sets = build.gateway(
            "g", build.listener("http"), build.listener("x", port=81), allowedListeners={"namespaces": {"from": "All"}}
        )
        outcomes = [
            line for line in plain(tree_of(open_to_sets, build.listener_set("set"), *policies)) if "in force" in line
        ]
        assert outcomes[0] == "in force: TlsPolicy version 1.3 (default/t)"

    def test_what_is_so_for_requests_to_one_backend_is_told_there(self) -> None:
        """Not at the rule, from where requests go to others as well."""
        route = build.route(rules=[build.rule(build.backend(), build.backend("t"))])
        limit = build.policy("l", build.target("t", "Service", group=""), kind="LimitPolicy", limit=1)
        assert plain(tree_of(ONE, route, build.service("t"), limit))[4:] == [
            "rule[0]",
            "→ Service default/s, port 8080",
            "→ Service default/t, port 8080",
            "LimitPolicy default/l: enforced",
            "in force: LimitPolicy limit 1 (default/l)",
        ]

    def test_of_a_route_some_rules_of_which_are_drawn_it_is_told_at_these(self) -> None:
        """What is in force at the others is not known."""
        asked = around(build.ref("Service", "s", group=""), effective=True)
        lines = tree_of(ONE, build.route(), on_route("r", color="blue"), asked=asked)
        assert plain(lines)[-2:] == [
            "rule[0] → Service default/s, port 8080",
            "in force: ColorPolicy color blue (default/on-r)",
        ]


class TestWhatIsNotThere:
    def test_a_route_that_is_attached_to_nothing(self) -> None:
        """It is told once, with the reason; where it would be, there is a word of it."""
        route = build.route(parents=[build.parent("g", "nope")])
        assert tree_of(ONE, route) == [
            "GatewayClass public",
            "└── Gateway default/g",
            "    ├── listener http  HTTP 80",
            "    └── refused HTTPRoute default/r: attached to nothing, see below [NoMatchingParent]",
            "",
            "Attached to nothing",
            "└── HTTPRoute default/r",
            "    ├── refused: Gateway default/g has no listener nope; it has listener http (80)",
            "    │     [NoMatchingParent]",
            "    └── rule[0] → Service default/s, port 8080",
        ]

    def test_a_route_that_is_attached_elsewhere(self) -> None:
        """Then it is told at its parent why it is not attached there."""
        route = build.route(parents=[build.parent(), build.parent("g", "nope")])
        assert " ".join(plain(tree_of(ONE, route))[-2:]) == (
            "refused HTTPRoute default/r: Gateway default/g has no listener nope; it has listener http (80) "
            "[NoMatchingParent]"
        )

    def test_a_parent_that_is_not_there_is_named_by_the_route_alone(self) -> None:
        """There is nothing else to say of it."""
        assert tree_of(build.route()) == [
            "GatewayClass public",
            "",
            "Attached to nothing",
            "└── HTTPRoute default/r",
            "    ├── refused: Gateway default/g does not exist [NoMatchingParent]",
            "    └── rule[0] → Service default/s, port 8080",
        ]

    def test_a_route_without_parents(self) -> None:
        assert "names no parent, and no route leads to it" in plain(tree_of(ONE, build.route(parents=[])))

    def test_backends(self) -> None:
        backends = [
            build.backend("ghost"),
            build.backend("s", 1),
            build.backend("s", namespace="other"),
            build.backend("s", weight=0),
        ]
        rules = [build.rule(backend) for backend in backends]
        lines = tree_of(ONE, build.route(rules=rules), build.service("s", namespace="other"), view=WIDE)
        refused = "no ReferenceGrant in namespace other lets HTTPRoute default/r refer to Service other/s"
        assert plain(lines)[4:] == [
            "rule[0] → Service default/ghost: does not exist [BackendNotFound]",
            "rule[1] → Service default/s  port 8080: requests fail; Service default/s has no port 1 [BackendNotFound]",
            f"rule[2] → Service other/s, port 8080: gets no requests; {refused} [RefNotPermitted]",
            "rule[3] → Service default/s, port 8080: gets no requests; its weight is 0",
            "in force: weights 0 (the route itself)",
        ]

    def test_sections_that_policies_name(self) -> None:
        """A listener that there is not stands where it was looked for; a port has its Service with it."""
        policies = [
            build.policy("p", build.target("g", section="nope")),
            build.policy("q", build.target("s", "Service", "nope", group=""), kind="LimitPolicy"),
        ]
        lines = plain(tree_of(ONE, *policies))
        assert lines[3] == "listener nope: does not exist"
        assert lines[4].startswith(
            "ColorPolicy default/p: dangling: target not found; Gateway default/g has no section"
        )
        assert "Service default/s, port nope: has no such port" in lines

    def test_what_was_not_read_says_so(self) -> None:
        """In words: nothing else would be seen without colours."""
        lines = tree(drawn([*BASE, build.policy("p", build.ON_ROUTE)], EFFECTIVE, complete=False))
        assert lines[lines.index("Nothing drawn leads to these") :][:3] == [
            "Nothing drawn leads to these",
            "└── HTTPRoute default/r: not read",
            "    └── ColorPolicy default/p: not known; HTTPRoute default/r is not in the input",
        ]
        assert "Could not be seen" in lines

    def test_a_policy_with_one_target_of_two(self) -> None:
        """Where it is not attached it says so; that it is enforced elsewhere is no news there."""
        policy = defaults("p", build.ON_GATEWAY, build.target("s", "Service", "nope", group=""), color="red")
        lines = plain(tree_of(ONE, build.route(), policy))
        assert "ColorPolicy default/p: enforced" in lines
        assert lines[-2].startswith("ColorPolicy default/p on port nope: not attached here; Service default/s has no")

    def test_what_a_controller_reports_to_the_contrary(self) -> None:
        """It stands with what was computed."""
        text = "\n".join(tree(picture_of("reported", effective=True)))
        assert "SecurityPolicy shop/search-login: enforced; controller reports TargetNotFound" in text

    def test_policies_without_a_target(self) -> None:
        lines = tree_of(ONE, build.policy("p", color="red"))
        assert lines[-2:] == ["Policies without a target", "└── ColorPolicy default/p: dangling: invalid"]


class TestWhereThingsStand:
    def test_policies_of_a_namespace_are_told_once(self) -> None:
        """At the Namespace."""
        policy = defaults("p", build.target("default", "Namespace", group=""), color="red")
        lines = tree_of(TWO, *routes(2), policy)
        assert Counter(plain(lines))["ColorPolicy default/p: enforced"] == 1
        index = lines.index("Namespaces with policies")
        assert lines[index + 1 : index + 3] == ["└── Namespace default", "    └── ColorPolicy default/p: enforced"]

    def test_a_service_of_a_mesh(self) -> None:
        """It is a root with its routes; from another one's rule, requests do not get to these."""
        mesh = build.route("m", parents=[build.service_parent("s")], rules=[build.rule(build.backend("t"))])
        assert tree_of(ONE, build.route(), mesh, build.service("t")) == [
            "GatewayClass public",
            "└── Gateway default/g",
            "    └── listener http  HTTP 80",
            "        └── HTTPRoute default/r",
            "            └── rule[0] → Service default/s, port 8080",
            "Service default/s  port 8080",
            "└── HTTPRoute default/m",
            "    └── rule[0] → Service default/t, port 8080",
        ]

    def test_policies_of_a_service_and_of_its_port(self) -> None:
        """Both at the port that the rule leads to; a rule with policies of its own has the Service in its own row."""
        policies = [
            build.policy("port", build.target("s", "Service", "8080", group=""), kind="LimitPolicy", limit=1),
            build.policy("whole", build.ON_SERVICE, kind="LimitPolicy", limit=2),
        ]
        assert plain(tree_of(ONE, build.route(), *policies))[-3:] == [
            "rule[0] → Service default/s, port 8080",
            "LimitPolicy default/port on port 8080: enforced",
            "LimitPolicy default/whole: overridden by LimitPolicy default/port",
        ]
        direct = defaults("own", build.target("r", "HTTPRoute", "rule[0]"), color="red")
        rule = build.route(rules=[build.rule(build.backend(), name="a")])
        direct = defaults("own", build.target("r", "HTTPRoute", "a"), color="red")
        lines = tree_of(ONE, rule, direct, *policies)
        assert "            └── rule a" in lines
        assert "                └── → Service default/s, port 8080" in lines

    def test_what_is_left_out_of_the_picture(self) -> None:
        """Policies say what it is; of routes it is not known that they are attached to nothing."""
        asked = replace(EFFECTIVE, kinds=frozenset({build.ref("HTTPRoute", "r").group_kind}))
        lines = tree_of(ONE, build.route(), defaults("p", build.ON_GATEWAY, color="red"), asked=asked)
        assert lines == [
            "HTTPRoute default/r",
            "├── in force: ColorPolicy color red (default/p)",
            "└── rule[0]",
            "",
            "Policies on objects that are not drawn",
            "└── ColorPolicy default/p → Gateway default/g: enforced",
        ]

    def test_a_part_of_the_hierarchy(self) -> None:
        """A route that is refused, and of which nothing else is drawn, is told where it is refused."""
        asked = around(build.ref("Gateway", "g"), up=False, depth=1)
        lines = tree_of(ONE, build.route(), build.route("x", parents=[build.parent("g", "nope")]), asked=asked)
        assert plain(lines)[:4] == ["Gateway default/g", "listener http  HTTP 80", "HTTPRoute default/r", "rule[0]"]
        assert [line for line in plain(lines) if "default/x" in line] == [
            "refused HTTPRoute default/x: Gateway default/g has no listener nope; it has listener http (80)"
        ]

    def test_what_leads_to_nothing_that_is_there(self) -> None:
        """A class that there is not is a root as well; and a Service that no rule names, but a policy, is none."""
        limit = build.policy("l", build.ON_SERVICE, kind="LimitPolicy", limit=1)
        lines = tree_of(build.gateway("g", class_name="other"), limit)
        assert lines == [
            "GatewayClass other: does not exist",
            "└── Gateway default/g",
            "    └── listener http  HTTP 80",
            "GatewayClass public",
            "",
            "Nothing drawn leads to these",
            "└── Service default/s  port 8080",
            "    └── LimitPolicy default/l: enforced",
        ]


class TestFolding:
    @pytest.mark.parametrize(
        "rest",
        [
            pytest.param([build.route("r2", rules=[build.rule(build.backend("ghost"))])], id="a broken backend"),
            pytest.param([build.route("r2", rules=[build.rule(build.backend("s2"))] * 2)], id="another rule"),
            pytest.param([build.route("r2", kind="GRPCRoute")], id="another kind"),
            pytest.param([*routes(3)[2:3], on_route("r2", color="red")], id="a policy"),
            pytest.param([build.route("r2", rules=[build.rule()])], id="no backend"),
        ],
    )
    def test_not_what_is_not_alike(self, rest: Sequence[Resource]) -> None:
        """Two of three routes are alike, which is no reason to leave it open which of them leads where."""
        lines = plain(tree_of(ONE, *routes(2), *rest, build.service("s2")))
        assert [line for line in lines if "Route" in line and "Policy" not in line] == [
            *(["HTTPRoute default/r0", "HTTPRoute default/r1"]),
            f"{rest[0].ref}",
        ]

    def test_not_two_policies_of_which_one_is_everybodys(self) -> None:
        """Routes with a policy of their own are alike; a route to which the policy of others applies is not."""
        shared = defaults("shared", build.target("r0", "HTTPRoute"), build.target("r1", "HTTPRoute"), color="red")
        lines = plain(tree_of(ONE, *routes(4), shared, on_route("r2", color="red"), on_route("r3", color="red")))
        assert [line for line in lines if line.startswith("HTTPRoute")] == [
            "HTTPRoute default/r0",
            "HTTPRoute default/r1",
            "HTTPRoute default/r2",
            "HTTPRoute default/r3",
        ]

    def test_not_few_rules_with_other_backends(self) -> None:
        """Which requests go where is what one reads rules for."""
        rules = [build.rule(build.backend(f"s{index}"), name=f"n{index}") for index in range(5)]
        services = [build.service(f"s{index}") for index in range(5)]
        assert plain(tree_of(ONE, build.route(rules=rules), *services))[4:] == [
            f"rule n{index} → Service default/s{index}, port 8080" for index in range(5)
        ]

    def test_two_listeners_with_the_same_below(self) -> None:
        assert tree_of(TWO, build.route()) == [
            "GatewayClass public",
            "└── Gateway default/g",
            "    └── listeners http (HTTP 80) and https (HTTPS 443)",
            "        └── HTTPRoute default/r",
            "            └── rule[0] → Service default/s, port 8080",
        ]

    def test_rules_to_the_same_backend(self) -> None:
        rules = [
            build.rule(build.backend(), matches=[{"path": {"type": "PathPrefix", "value": f"/{name}"}}])
            for name in "ab"
        ]
        assert plain(tree_of(ONE, build.route(rules=rules)))[-1] == (
            "rule[0] (/a/…) and rule[1] (/b/…) → Service default/s, port 8080"
        )

    def test_backends_of_a_rule(self) -> None:
        route = build.route(rules=[build.rule(build.backend(), build.backend("t"), name="a")])
        assert (
            plain(tree_of(ONE, route, build.service("t")))[-1] == "rule a → Services default/s and default/t, port 8080"
        )

    def test_policies_with_the_same_state(self) -> None:
        policies = [
            build.policy("a", build.ON_GATEWAY, kind="LimitPolicy", limit=1, age=1),
            build.policy("b", build.ON_GATEWAY, kind="LimitPolicy", limit=2, age=2),
            build.policy("c", build.ON_GATEWAY, build.target("nope"), kind="LimitPolicy", limit=3, age=3),
        ]
        assert plain(tree_of(ONE, *policies))[2:4] == [
            "LimitPolicy default/a: enforced",
            "LimitPolicies default/b and default/c: conflicted",
        ]

    def test_many_routes(self) -> None:
        direct = [on_route(f"r{index}", color="red") for index in range(50)]
        lines = plain(tree_of(ONE, *routes(50), *direct, view=WIDE))
        assert lines[3:] == [
            "50 HTTPRoutes alike: default/r0, default/r1, default/r2 and 47 more",
            "one ColorPolicy each: default/on-r0, default/on-r1, default/on-r2 and 47 more: enforced",
            "in force: ColorPolicy color red (one each: default/on-r0, default/on-r1, default/on-r2 and 47 more)",
            "rule[0] → one Service each: default/s0, default/s1, default/s2 and 47 more, port 8080",
        ]

    def test_everything_names_them_all(self) -> None:
        text = " ".join(plain(tree_of(ONE, *routes(50), view=EVERYTHING)))
        assert "more" not in text
        assert "50 HTTPRoutes alike: default/r0, default/r1," in text
        assert all(f"default/r{index}" in text and f"default/s{index}" in text for index in range(50))

    def test_what_is_wrong_with_many(self) -> None:
        """For the same reason, in words that have other names in them."""
        lonely = [build.route(f"r{index}", hostnames=[f"{index}.example.org"]) for index in range(9)]
        gateway = build.gateway("g", build.listener("http", hostname="example.com"))
        reason = "[NoMatchingListenerHostname]"
        names = "default/r0, default/r1, default/r2 and 6 more"
        message = "hostname 0.example.org does not match example.com of listener http of Gateway default/g"
        hosts = "default/r0 (0.example.org), default/r1 (1.example.org), default/r2 (2.example.org) and 6 more"
        assert tree_of(gateway, *lonely, view=WIDE)[3:] == [
            f"        └── 9 refused HTTPRoutes alike: {names}: attached to nothing, see below {reason}",
            "",
            "Attached to nothing",
            f"└── 9 HTTPRoutes alike: {hosts}",
            f"    ├── refused: {message}, and 8 more for the same reason {reason}",
            "    └── rule[0] → Service default/s, port 8080",
        ]

    def test_inside_others(self) -> None:
        gateways = [build.gateway(f"g{index}") for index in range(5)]
        lower = [build.route(f"r{index}", parents=[build.parent(f"g{index}")]) for index in range(5)]
        assert tree_of(*gateways, *lower) == [
            "GatewayClass public",
            "└── 5 Gateways alike: default/g0, default/g1, default/g2 and 2 more",
            "    └── listener http  HTTP 80",
            "        └── one HTTPRoute each: default/r0, default/r1, default/r2 and 2 more",
            "            └── rule[0] → Service default/s, port 8080",
        ]

    def test_as_many_rows_for_as_many_as_there_are(self) -> None:
        """A screenful, however many routes are alike."""
        few, many = (tree_of(ONE, *routes(number), view=WIDE) for number in (10, 1_000))
        assert len(few) == len(many)

    def test_each_row_is_made_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """So that the time that it takes grows as the world does."""
        counts: Counter[str] = Counter()
        row = TreeRows.row

        def counted(rows: TreeRows, head: object, *members: object, **fields: object) -> object:
            counts[head.noun] += 1  # type: ignore[attr-defined]
            return row(rows, head, *members, **fields)  # type: ignore[arg-type]

        monkeypatch.setattr(TreeRows, "row", counted)
        tree_of(TWO, *routes(200))
        assert counts == {"GatewayClass": 1, "Gateway": 1, "listener": 2, "HTTPRoute": 400, "rule": 400, "Service": 400}


class TestCutting:
    WORLD: Final = (
        ONE,
        *routes(30),
        # What is in force is another thing on each.
        *(on_route(f"r{index}", color=f"c{index}") for index in range(30)),
    )

    def test_many(self) -> None:
        lines = plain(tree_of(*self.WORLD))
        assert sum(line.startswith("HTTPRoute") for line in lines) == 20
        assert lines[-1] == "and 10 more HTTPRoutes; --show-all shows them"
        for view in (EVERYTHING, View()):
            lines = plain(tree_of(*self.WORLD, view=view))
            assert sum(line.startswith("HTTPRoute") for line in lines) == 30
            assert not any("--show-all" in line for line in lines)

    def test_few(self) -> None:
        lines = plain(tree_of(*self.WORLD[:21], *self.WORLD[31:]))
        assert sum(line.startswith("HTTPRoute") for line in lines) == 20
        assert not any("--show-all" in line for line in lines)

    def test_what_is_wrong_is_not_left_out(self) -> None:
        """It comes where it would, and others are left out for it."""
        wrong = [
            build.route(f"z{index}", rules=[build.rule(build.backend("ghost"), name=f"n{index}")]) for index in range(2)
        ]
        lines = plain(tree_of(*self.WORLD, *wrong))
        assert "HTTPRoute default/z0" in lines
        assert sum(line.startswith("HTTPRoute") for line in lines) == 20
        assert lines[-1] == "and 12 more HTTPRoutes; --show-all shows them"

    def test_more_that_is_wrong_than_there_is_room_for(self) -> None:
        """Then it is said how much of what is left out is."""
        world = (ONE, *(rule_list for rule_list in self.WORLD if rule_list.ref.kind != "Service"))
        assert plain(tree_of(*world[1:]))[-1] == "and 10 more HTTPRoutes, 10 with problems; --show-all shows them"

    def test_what_is_too_deep_for_the_width(self) -> None:
        """A row needs some room: routes that lead to routes are no reason to have none."""
        chain = [
            build.route(
                f"r{index}",
                parents=[build.parent()] if not index else [],
                rules=[build.rule(build.backend(f"r{index + 1}", None, kind="HTTPRoute", group=GATEWAY_API))],
            )
            for index in range(40)
        ]
        classes = [build.gateway_class(controller="kgateway.dev/kgateway")]
        world = [*classes, *BASE[1:], ONE, *chain, build.route("r40", parents=[])]
        lines = tree(drawn(world, EFFECTIVE), replace(TERMINAL, width=80))
        lines = lines[: lines.index("")]
        assert all(cells(line) <= 80 for line in lines)
        assert plain(lines)[-2:] == ["rule[0] → HTTPRoute default/r8", "and more; --show-all shows it"]
        whole = tree(drawn(world, EFFECTIVE), replace(EVERYTHING, width=80))
        assert any("HTTPRoute default/r25" in line for line in whole)


class TestDelegation:
    CLASS: Final = build.gateway_class(controller="kgateway.dev/kgateway")

    @staticmethod
    def _to(*names: str) -> dict[str, Json]:
        return build.rule(*(build.backend(name, None, kind="HTTPRoute", group=GATEWAY_API) for name in names))

    def _tree(self, *resources: Resource) -> list[str]:
        return tree(drawn([self.CLASS, *BASE[1:], ONE, *resources], EFFECTIVE))

    def test_a_circle(self) -> None:
        circle = [
            build.route("a", parents=[], rules=[self._to("b")]),
            build.route("b", parents=[], rules=[self._to("a")]),
        ]
        assert self._tree(*circle)[4:] == [
            "Attached to nothing",
            "└── HTTPRoute default/a",
            "    ├── refused: a request from rule[0] of HTTPRoute default/b would loop: HTTPRoute default/a →",
            "    │     HTTPRoute default/b → HTTPRoute default/a [RefNotPermitted]",
            "    └── rule[0] → HTTPRoute default/b",
            "        └── rule[0]",
            "            └── refused HTTPRoute default/a: attached to nothing, see below [RefNotPermitted]",
        ]

    def test_many_ways(self) -> None:
        """A route to which twice as many ways lead with each level is not drawn as often as that."""
        levels = [
            build.route(
                f"r{index}",
                parents=[] if index else None,
                rules=[self._to(f"r{index + 1}"), {**self._to(f"r{index + 1}"), "name": "other"}],
            )
            for index in range(8)
        ]
        lines = self._tree(*levels, build.route("r8", parents=[]))
        assert len(lines) < 60
        assert any(line.endswith(": as above") for line in lines)

    def test_links_that_lead_back(self) -> None:
        """Whatever a picture says: a branch ends where it is led back to."""
        picture = drawn([self.CLASS, *BASE[1:], ONE, build.route(rules=[self._to("a")]), build.route("a", parents=[])])
        rule = build.node("HTTPRoute", "a", "rule[0]")
        back = GraphLink(parent=rule, child=build.node("HTTPRoute", "r"), relation="backend")
        lines = plain(tree(replace(picture, links=(*picture.links, back))))
        assert lines[-2:] == ["→ HTTPRoute default/r: leads back to itself", "→ Service default/s, port 8080"]


class TestTwoStates:
    WORLD: Final = (*BASE, ONE, build.route())
    RED: Final = defaults("p", build.ON_GATEWAY, color="red")

    def _between(self, before: Sequence[Resource], after: Sequence[Resource]) -> list[str]:
        old, new = (build.snapshot(*BASE, *state, complete=True) for state in (before, after))
        return plain(tree(graph_of_two(compare(old, new), lambda _: EFFECTIVE)))

    def test_nothing(self) -> None:
        world = [ONE, build.route(), self.RED]
        assert self._between(world, world) == plain(tree_of(*world))

    def test_what_comes(self) -> None:
        """Of all that comes with a route, the route alone says so."""
        lines = self._between([ONE, self.RED], [ONE, build.route(), self.RED])
        assert lines[4:] == [
            "+ added HTTPRoute default/r",
            "in force: ColorPolicy color red (default/p)",
            "rule[0] → Service default/s, port 8080",
        ]

    def test_what_goes(self) -> None:
        """With what was in force there; of a policy that is gone there is no state."""
        lines = self._between([ONE, build.route(), self.RED], [ONE])
        assert lines[1:] == [
            "Gateway default/g",
            "- removed ColorPolicy default/p",
            "listener http  HTTP 80",
            "- removed HTTPRoute default/r",
            "was in force: ColorPolicy color red (default/p)",
            "rule[0] → Service default/s, port 8080",
        ]

    def test_what_moves(self) -> None:
        """A route is told at its new parent, and that it is no longer at the other one; so is a policy."""
        gateways = [ONE, build.gateway("h")]
        moved = defaults("p", build.target("h"), color="red")
        lines = self._between(
            [*gateways, build.route(), self.RED], [*gateways, build.route(parents=[build.parent("h")]), moved]
        )
        assert "- removed HTTPRoute default/r: no longer here" in lines
        assert "+ added HTTPRoute default/r: new here; settings differ" in lines
        assert "- removed ColorPolicy default/p: no longer on this" in lines
        assert "~ changed ColorPolicy default/p: enforced" in lines

    def test_what_is_set_otherwise(self) -> None:
        strict = overrides("strict", build.target("default", "Namespace", group=""), color="blue")
        lines = self._between([ONE, build.route(), self.RED], [ONE, build.route(), self.RED, strict])
        assert "~ changed ColorPolicy default/p: overridden by ColorPolicy default/strict, was enforced" in lines
        assert "HTTPRoute default/r: settings differ" in lines
        assert "+ added ColorPolicy default/strict: enforced" in lines

    def test_what_is_detached(self) -> None:
        refused = self._between([ONE, build.route()], [ONE, build.route(parents=[build.parent("g", "nope")])])
        assert "~ changed refused HTTPRoute default/r: attached to nothing, see below [NoMatchingParent]" in refused
        remaining = self._between([ONE, build.route()], [ONE, build.route(parents=[])])
        assert remaining[-4:] == [
            "Attached to nothing",
            "~ changed HTTPRoute default/r",
            "- removed was attached to Gateway default/g, listener http",
            "rule[0] → Service default/s, port 8080",
        ]


class TestHostileNames:
    @pytest.mark.parametrize("view", [TERMINAL, View(), replace(TERMINAL, width=40, unicode=False)])
    def test_each_line_is_a_line(self, view: View) -> None:
        text = to_text(graph_tree(drawn(hostile_world(), EFFECTIVE), view), view.width)
        assert all(line.isprintable() for line in text.split("\n"))
        names_ = " ".join(" ".join(plain(text.splitlines())).split())
        assert [name for name in HOSTILE if " ".join(escape_controls(name).split()) not in names_] == []

    def test_a_line_break_in_a_name(self) -> None:
        assert "        └── HTTPRoute default/a\\nb\\x1b[31m" in tree_of(ONE, build.route("a\nb\x1b[31m"))

    def test_a_name_that_is_wider_than_the_screen(self) -> None:
        name = "x" * 200
        assert f"        └── HTTPRoute default/{name}" in tree_of(ONE, build.route(name))

    def test_wide_characters(self) -> None:
        lines = tree_of(ONE, build.route(hostnames=["日本.example.com"] * 9), view=replace(TERMINAL, width=60))
        assert max(map(cells, lines)) in range(50, 61)


def test_styles_repeat_what_words_say() -> None:
    document = graph_tree(picture_of("bakery", effective=True), TERMINAL)
    styles = {span.style for line in document for span in line.spans}
    assert styles == {"", "title", "heading", "subject", "value", "aside", "error", "warning"}
    spans = [span for line in document for span in line.spans]
    assert {span.text for span in spans if span.style == "error"} >= {"conflicted"}
    assert graph_headline(picture_of("bakery")) == document[0].spans[0].text
