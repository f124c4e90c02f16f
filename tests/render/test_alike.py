"""Answers that say once what is alike, and how sure guesses are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import Analysis, PolicyKindProfile, TargetLevel, analyze
from kubectl_policy.comparison import what_if
from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import GATEWAY, HTTP_ROUTE
from kubectl_policy.profiles import MergeStrategy
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.diff import diff
from kubectl_policy.questions.lists import Lists, list_type
from kubectl_policy.questions.shared.selection import Selection
from kubectl_policy.questions.why_not.answer import why_not
from kubectl_policy.render.changes.headlines import blast_headline, diff_headline
from kubectl_policy.render.changes.rows import diff_table
from kubectl_policy.render.changes.text import diff_text
from kubectl_policy.render.describe.headline import object_headline
from kubectl_policy.render.describe.objects import object_text, settings_of
from kubectl_policy.render.describe.policies import policy_text
from kubectl_policy.render.lists import list_remarks, list_tables
from kubectl_policy.render.output.text import View, to_text
from kubectl_policy.render.why_not import why_not_text
from kubectl_policy.render.wording.headlines import policy_headline, why_not_headline
from tests import build

if TYPE_CHECKING:
    from kubectl_policy import Analysis
    from kubectl_policy.model import Json, ObjectRef, Resource

COLOR: Final = GroupKind("example.com", "ColorPolicy")
PATCHING: Final = PolicyKindProfile(COLOR, "inherited", "profile", strategy=MergeStrategy.PATCH_DEFAULTS)
OF_GATEWAYS: Final = PolicyKindProfile(
    COLOR, "inherited", "profile", strategy=MergeStrategy.PATCH_DEFAULTS, effective_targets=(TargetLevel(GATEWAY),)
)
GATEWAYS: Final = (build.target("one"), build.target("two"))


def world(*policies: Resource, profile: PolicyKindProfile = PATCHING, number: int = 2) -> Analysis:
    """Two Gateways or more and a route on all of them."""
    names = ("one", "two", "three", "four", "five", "six")[:number]
    route = build.route(parents=[build.parent(name) for name in names])
    objects = (*(build.gateway(name) for name in names), route, build.service(), *policies)
    return analyze(build.snapshot(build.gateway_class(), *objects, complete=True), profiles=[profile])


def described(analysis: Analysis) -> str:
    """What is said of the route, without breaks of lines."""
    answer = describe(analysis, build.node("HTTPRoute", "r"))
    return " ".join(to_text(object_text(answer, View()), 400).split())


def differing(analysis: Analysis, *names: str) -> str:
    """What is said to differ without some policies, without breaks of lines."""
    gone = [build.ref("ColorPolicy", name, group="example.com") for name in names]
    return " ".join(to_text(diff_text(diff(what_if(analysis, deleted=gone)), View()), 400).split())


def on_gateways(**spec: Json) -> Resource:
    return build.resource("ColorPolicy", "house", {"targetRefs": [*GATEWAYS], **spec}, group="example.com", age=1)


def on_route(**spec: Json) -> Resource:
    target = build.ON_ROUTE
    return build.resource("ColorPolicy", "own", {"targetRef": target, **spec}, group="example.com", age=2)


class TestDescribed:
    def test_a_policy_on_two_gateways(self) -> None:
        text = described(world(on_gateways(a=1, b=2), on_route(a=3)))
        both = "default/house → Gateway default/one and Gateway default/two"
        assert f"ColorPolicy a 3, b 2 default/own → HTTPRoute default/r, merged with {both} ColorPolicy" in text
        assert "default/own → HTTPRoute default/r test.yaml:1 a 3 instead of 1, default/house (the nearer" in text
        assert f"{both} test.yaml:1 b 2" in text

    def test_where_it_takes_effect_at_each_gateway(self) -> None:
        text = described(world(on_gateways(a=1), profile=OF_GATEWAYS))
        assert "ColorPolicy a 1 default/house → Gateway default/one and Gateway default/two ColorPolicy" in text

    def test_many_targets(self) -> None:
        targets = [build.target(name) for name in ("one", "two", "three", "four", "five", "six")]
        text = described(world(build.policy("house", *targets, a=1), number=6))
        assert "Gateway default/one, Gateway default/six" in text or "and 3 more" in text
        assert text.count("a 1") == 2

    @pytest.mark.parametrize(
        "policies",
        [
            (build.policy("p", GATEWAYS[0], a=1), build.policy("q", GATEWAYS[1], a=1)),
            (on_gateways(a=1), build.policy("q", GATEWAYS[1], age=2, b=1)),
        ],
        ids=["other policies", "more of them"],
    )
    def test_what_is_not_alike(self, policies: tuple[Resource, ...]) -> None:
        text = described(world(*policies))
        assert "Gateway default/one ColorPolicy a 1 " in text
        assert "Gateway default/two ColorPolicy " in text

    def test_settings_of_objects_themselves(self) -> None:
        """They are in order of nobody's policies, and are those of one object."""
        profile = PolicyKindProfile(
            COLOR,
            "inherited",
            "profile",
            strategy=MergeStrategy.PATCH_DEFAULTS,
            object_fields={"a": "spec.a"},
            effective_targets=(TargetLevel(HTTP_ROUTE),),
        )
        route = build.resource(
            "HTTPRoute", "r", {"parentRefs": [build.parent("one"), build.parent("two")], "a": 7, "rules": [{}]}
        )
        gateways = (build.gateway("one"), build.gateway("two"))
        objects = (build.gateway_class(), *gateways, route, on_gateways(a=1))
        analysis = analyze(build.snapshot(*objects, complete=True), profiles=[profile])
        assert "ColorPolicy, by the route itself test.yaml:1 a 7 instead of 1, default/house" in described(analysis)


class TestDiffering:
    def test_a_policy_on_two_gateways(self) -> None:
        text = differing(world(on_gateways(a=1), on_route(a=3)), "own")
        assert "no longer names it" not in text
        assert text.count("Changed · ColorPolicy · ") == 1
        assert "a 3 → 1, set by ColorPolicy default/house → Gateway default/one and Gateway default/two" in text
        assert (
            ", was set by ColorPolicy default/own → HTTPRoute default/r HTTPRoute default/r, Service default/s" in text
        )

    def test_an_object_on_some_paths_alone(self) -> None:
        """Of several changes that are alike it is said on which paths together, if these are not all."""
        text = differing(world(build.policy("house", *GATEWAYS, a=1), number=3), "house")
        assert text.count("Lost, no ColorPolicy is left · ") == 1
        assert "HTTPRoute default/r (Gateways default/one and default/two" in text

    def test_what_is_not_alike(self) -> None:
        rival = build.policy("other", GATEWAYS[1], age=2, a=2)
        text = differing(world(build.policy("house", GATEWAYS[0], a=1), rival), "house", "other")
        assert text.count("Lost, no ColorPolicy is left · ") == 2


class TestSaidOnce:
    def test_what_does_not_apply(self) -> None:
        """A line for the place and the reason, with all the policies; without a policy, the place alone."""
        direct = PolicyKindProfile(COLOR, "direct", "profile")
        policies = (build.policy(name, GATEWAYS[0], a=1) for name in ("p", "q"))
        text = described(world(*policies, profile=direct))
        assert "ColorPolicy default/p, ColorPolicy default/q → Gateway default/one: ColorPolicy is a direct" in text
        assert text.count("is a direct policy") == 1

    def test_what_policies_lose(self) -> None:
        """By target and reason, and by state; of many the first ones, with how many more there are."""
        names = [f"p{number:02}" for number in range(14)]
        policies = (
            build.resource("ColorPolicy", name, {"targetRef": GATEWAYS[0], name: "x"}, group="example.com")
            for name in names
        )
        analysis = world(*policies)
        text = " ".join(
            to_text(
                diff_text(diff(what_if(analysis, deleted=[build.ref("Gateway", "one")])), View(terminal=True)), 400
            ).split()
        )
        cut = "ColorPolicy default/p11 and 2 more (--show-all)"
        assert f"{cut} → Gateway default/one: Gateway default/one does not" in text
        assert f"{cut}: Enforced → TargetNotFound" in text

    def test_many_targets_that_are_lost(self) -> None:
        routes = [build.route(f"r{number:02}") for number in range(14)]
        policies = [
            build.policy(f"p{number:02}", build.target(route.ref.name, "HTTPRoute"), a=1)
            for number, route in enumerate(routes)
        ]
        objects = (build.gateway_class(), build.gateway(), build.service(), *routes, *policies)
        analysis = analyze(build.snapshot(*objects, complete=True), profiles=[PATCHING])
        gone = [route.ref for route in routes]
        text = to_text(diff_text(diff(what_if(analysis, deleted=gone)), View(terminal=True)), 4000)
        assert "  its target does not exist:\n    ColorPolicy default/p00 → HTTP" in text
        assert "HTTPRoute default/r11 and 2 more (--show-all)\n" in text


A: Final = build.ref("ColorPolicy", "a", group="example.com")
B: Final = build.ref("ColorPolicy", "b", group="example.com")
ROUTE: Final = build.node("HTTPRoute", "r")
ON_ROUTE: Final = build.ON_ROUTE
HIERARCHY: Final = (
    build.gateway_class(),
    build.gateway(),
    build.route(),
    build.route("other"),
    build.service(),
    build.policy("a", build.ON_GATEWAY, age=1, one=1),
)
SECOND: Final = build.policy("b", ON_ROUTE, age=2, two=2)


@pytest.fixture(name="world")
def fixture_world() -> Analysis:
    """A policy on a Gateway and one on a route that have no field in common."""
    return analyze(build.snapshot(*HIERARCHY, SECOND, complete=True))


def joined(text: str) -> str:
    return " ".join(text.split())


def test_of_an_object(world: Analysis) -> None:
    """At least one of the policies holds, at most all of them."""
    answer = describe(world, ROUTE)
    assert object_headline(answer).startswith("HTTPRoute default/r is affected by 1 or 2 policies. ")
    text = joined(to_text(object_text(answer, View()), 200))
    assert "ColorPolicy (assumed) one 1, two 2 default/b → HTTPRoute default/r, merged with" in text
    assert "default/a → Gateway default/g (may hold)" in text
    assert "one 1 (may hold)" in text
    assert text.count("in doubt: how policies of this kind combine is not known") == 1
    assert "assumed, because no profile covers it: it is a policy kind" in text
    assert "1 (may hold)" in settings_of([answer], named=False).text(View(headers=False), wide=False)
    third = analyze(build.snapshot(*HIERARCHY, SECOND, build.policy("c", ON_ROUTE, age=3, three=3), complete=True))
    assert object_headline(describe(third, ROUTE)).startswith("HTTPRoute default/r is affected by 1 to 3 policies. ")
    assert object_headline(describe(third, build.node("Service", "s", group=""))).startswith(
        "Service default/s is affected by 1 to 3 policies. Requests come through rule[0] of HTTPRoute default/other and"
    )


def test_of_a_policy(world: Analysis) -> None:
    answer = describe_policy(world, A)
    assert policy_headline(answer) == (
        "Whether ColorPolicy default/a → Gateway default/g is enforced is unknown: it and ColorPolicy default/b set"
        " different fields, and how ColorPolicies combine is not known."
    )
    text = joined(to_text(policy_text(answer, View()), 200))
    assert "in effect on HTTPRoute default/other only, perhaps in effect on HTTPRoute default/r only" in text
    assert "perhaps in effect two 2" in joined(to_text(policy_text(describe_policy(world, B), View()), 200))


def test_of_lists(world: Analysis) -> None:
    listing = list_type(world, "policies", Selection())
    rows = list_tables(Lists((listing,)), View())[0].text(View(headers=False), wide=False)
    assert "ColorPolicy (assumed)" in rows
    assert "up to 4" in rows
    assert "depends on default/b" in rows
    assert "1 to 2" in list_tables(Lists((list_type(world, "routes", Selection()),)), View())[0].text(
        View(headers=False), wide=False
    )
    assert list_remarks(Lists((listing,)), empty=False) == []


def test_of_a_policy_and_an_object(world: Analysis) -> None:
    answer = why_not(world, A, ROUTE)
    assert why_not_headline(answer).startswith("Whether ColorPolicy default/a has an effect on HTTPRoute default/r is")
    text = joined(to_text(why_not_text(answer, View()), 200))
    assert "No single change would do it: what would help depends on how policies of its kind combine" in text
    assert "assumed, because no profile covers it" in text
    service = why_not(world, A, build.node("Service", "s", group=""))
    assert why_not_headline(service).endswith(", on 1 of its 2 paths, and perhaps on 1 more.")


def changed(world: Analysis, *, gone: tuple[ObjectRef, ...] = (), new: bool = False) -> str:
    return diff_headline(diff(what_if(world, deleted=gone, applied=[SECOND] if new else ())))


def test_of_a_deletion(world: Analysis) -> None:
    answer = blast_radius(world, B)
    assert blast_headline(answer) == (
        "ColorPolicy default/b → HTTPRoute default/r may affect 2 objects in namespace default (1 HTTPRoute,"
        " 1 Service); it and ColorPolicy default/a set different fields, and how ColorPolicies combine is not known."
        " Deleting it may change both."
    )
    assert "into force" not in changed(world, gone=(B,))
    difference = diff(what_if(world, deleted=[B]))
    text = joined(to_text(diff_text(difference, View()), 200))
    assert "one 1 (may hold) → 1, set by ColorPolicy default/a" in text
    assert text.count("assumed, because no profile covers it") == text.count("in doubt") == 1
    assert "1 (may hold)" in diff_table(difference).text(View(headers=False), wide=False)


def test_of_a_new_policy() -> None:
    """Whether the other one is enforced is no longer known."""
    lone = analyze(build.snapshot(*HIERARCHY, complete=True))
    assert "whether ColorPolicy default/a is enforced is no longer known" in changed(lone, new=True)


def test_assumptions_of_several_kinds_name_them() -> None:
    odd = [build.policy(name, ON_ROUTE, kind="OddPolicy", age=age, odd=age) for age, name in enumerate(("x", "y"))]
    objects = (*HIERARCHY, build.policy("b", ON_ROUTE, age=2, one=2), *odd)
    difference = diff(what_if(analyze(build.snapshot(*objects, complete=True)), deleted=[ROUTE.object]))
    gone = diff(what_if(analyze(build.snapshot(*objects, complete=True)), deleted=[B, odd[1].ref]))
    assert difference.effects
    text = joined(to_text(diff_text(gone, View()), 200))
    assert "assumed of ColorPolicy.example.com, because no profile covers it" in text
    assert "assumed of OddPolicy.example.com, because no profile covers it" in text
