"""Choices of how policies meet: by their kind, by challengers, and by routes."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import Analysis, EffectivePolicy, MergeStrategy, PolicyKindProfile, TargetLevel, analyze, plain
from kubectl_policy.model import GroupKind, Json, NodeRef, Resource
from kubectl_policy.model.kind_roles import GATEWAY, HTTP_ROUTE
from kubectl_policy.profiles.fields import Sections
from kubectl_policy.profiles.merging import Inheritance, JointField, RouteChoice, Variant
from kubectl_policy.profiles.needs import RequiredObject, RequiredParameter
from kubectl_policy.resolution.resolver import route_choices
from tests.build import (
    backend,
    gateway,
    gateway_class,
    namespace,
    node,
    parent,
    policy,
    resource,
    route,
    rule,
    service,
    snapshot,
    target,
)
from tests.delegation import http_route, passing, to
from tests.delegation import world as delegating
from tests.resolution.build import set_by

COLOR: Final = GroupKind("example.com", "ColorPolicy")
ATOMIC: Final = PolicyKindProfile(COLOR, "inherited", "profile", stanzas="none")
PATCHING: Final = replace(ATOMIC, strategy=MergeStrategy.PATCH_DEFAULTS)
RULE: Final = node("HTTPRoute", "r", "rule[0]")
LISTENER: Final = node("Gateway", "g", "http")
ALONE: Final = node("Service", "s", group="")


def world(profile: PolicyKindProfile, *policies: Resource) -> Analysis:
    rules = [rule(backend()), rule(backend(), name="named")]
    objects = (namespace("default"), gateway_class(), gateway("g"), route("r", rules=rules), service("s"))
    return analyze(snapshot(*objects, *policies, complete=True), profiles=[profile])


def at(analysis: Analysis, end: NodeRef) -> EffectivePolicy:
    """The effective policy at the end of the only path to a node."""
    (found,) = analysis.effective(end)
    return found


class TestSections:
    """A policy on a section refines what the one on the whole object says, or replaces it there."""

    both: Final = (
        policy("whole", target("g"), age=1, a=1, b=1),
        policy("section", target("g", section="http"), age=2, b=2),
    )

    def test_an_inherited_kind_may_replace(self) -> None:
        """At the section and below it; elsewhere the policy on the object holds, and above it nothing changes."""
        above = policy("class", target("public", "GatewayClass"), c=0)
        rules = (
            policy("whole-route", target("r", "HTTPRoute"), d=1),
            policy("one-rule", target("r", "HTTPRoute", "rule[0]"), e=1),
        )
        analysis = world(replace(PATCHING, sections="replace"), above, *self.both, *rules)
        assert set_by(at(analysis, RULE).resolution.spec) == {
            "b": (2, "section"),
            "c": (0, "class"),
            "e": (1, "one-rule"),
        }
        assert "d" in set_by(at(analysis, node("HTTPRoute", "r", "named")).resolution.spec)
        assert set_by(at(analysis, node("Gateway", "g")).resolution.spec) == {
            "a": (1, "whole"),
            "b": (1, "whole"),
            "c": (0, "class"),
        }
        assert analysis.enforcement(self.both[0].ref).state == "Overridden"
        assert analysis.enforcement(rules[0].ref).state == "PartiallyEnforced"

    @pytest.mark.parametrize("sections", [None, "replace", "refine"])
    def test_direct_kinds_replace(self, sections: Sections | None) -> None:
        """Unless the profile says otherwise; the object itself is not its section."""
        analysis = world(replace(PATCHING, policy_class="direct", sections=sections), *self.both)
        refined: dict[str, tuple[int, str]] = {"a": (1, "whole")} if sections == "refine" else {}
        assert set_by(at(analysis, LISTENER).resolution.spec) == {**refined, "b": (2, "section")}
        assert set_by(at(analysis, node("Gateway", "g")).resolution.spec) == {"a": (1, "whole"), "b": (1, "whole")}


def test_nothing_claims_a_node_where_nothing_is_attached() -> None:
    analysis = world(PATCHING)
    assert analysis.resolver.policies_of_kind(node("Gateway", "g"), COLOR) == ()
    assert analysis.resolver.policies_of_kind(node("Gateway", "g"), GATEWAY) == ()


def test_where_all_apply_none_beats_another() -> None:
    """On one target or on two: every policy has its settings, and all of them are enforced."""
    profile = replace(ATOMIC, strategy=MergeStrategy.ALL_APPLY)
    policies = [policy("p", target("g"), a=1), policy("q", target("g"), a=2), policy("r", target("r", "HTTPRoute"))]
    analysis = world(profile, *policies)
    assert plain(at(analysis, RULE).resolution.spec) == {"default/p": {"a": 1}, "default/q": {"a": 2}, "default/r": {}}
    assert {analysis.enforcement(one.ref).state for one in policies} == {"Enforced"}


class TestVariants:
    profile = replace(ATOMIC, variants=(Variant(targets=frozenset({HTTP_ROUTE}), strategy=PATCHING.strategy),))
    both: Final = (policy("p", target("g"), a=1, b=1), policy("q", target("g", section="http"), b=2))

    def test_elsewhere_the_profile_itself_holds(self) -> None:
        assert plain(at(world(self.profile, *self.both), LISTENER).resolution.spec) == {"b": 2}

    def test_at_such_a_target(self) -> None:
        assert plain(at(world(self.profile, *self.both), RULE).resolution.spec) == {"a": 1, "b": 2}


class TestChallengers:
    profile = replace(
        ATOMIC,
        chooser="challenger",
        merges_with="closest",
        merge_parents=(TargetLevel(GATEWAY), TargetLevel(GATEWAY, section=True)),
        strategy_field="spec.merge",
        strategy_values=MappingProxyType({"Keys": MergeStrategy.STRATEGIC_MERGE, "Json": MergeStrategy.PATCH_DEFAULTS}),
        list_keys=MappingProxyType({"l": "k"}),
        nulls="ignore",
        sections="replace",
    )
    above: Final = (
        policy("gateway", target("g"), g=1, l=[{"k": "x"}]),
        policy("route", target("r", "HTTPRoute"), r=1, l=[{"k": "y"}]),
    )

    @pytest.mark.parametrize(
        ("merge", "expected"),
        [
            (None, {"l": [{"k": "z"}]}),
            ("Other", {"l": [{"k": "z"}]}),
            ("Json", {"g": 1, "l": [{"k": "z"}]}),
            ("Keys", {"g": 1, "l": [{"k": "x"}, {"k": "z"}]}),
        ],
    )
    def test_the_rule_and_the_closest_of_the_parents(self, merge: str | None, expected: dict[str, Json]) -> None:
        """The route's policy is replaced there, or passed over: the kind merges with those on Gateways."""
        nearest = policy("rule", target("r", "HTTPRoute", "rule[0]"), n=None, l=[{"k": "z"}], merge=merge)
        analysis = world(self.profile, *self.above, nearest)
        assert plain(at(analysis, RULE).resolution.spec) == expected
        assert plain(at(analysis, node("HTTPRoute", "r", "named")).resolution.spec) == {"r": 1, "l": [{"k": "y"}]}


def test_a_policy_without_what_it_needs_is_invalid() -> None:
    needy = replace(PATCHING, needs=(RequiredObject(field="spec.store", group="", kinds=("Secret",)),))
    found = policy("p", target("g"), store={"name": "missing"}, a=1)
    analysis = world(needy, found, resource("Secret", "other", group=""))
    assert analysis.enforcement(found.ref).state == "Invalid"
    assert analysis.effective(RULE) == ()


@pytest.mark.parametrize(("value", "counts"), [(True, True), (False, False), (None, False)])
def test_a_kind_that_a_gateway_has_to_enable(value: Json, *, counts: bool) -> None:
    """Below a Gateway whose parameters do not, nothing of it counts; what is below no Gateway is not asked."""
    settings = {"group": "example.com", "kind": "Settings", "name": "s"}
    edge = gateway("g", infrastructure={"parametersRef": settings})
    parameters = resource("Settings", "s", {"colors": {"enable": value}}, group="example.com")
    above, below = policy("p", target("r", "HTTPRoute"), a=1), policy("q", target("s", "Service", group=""), b=1)
    enabling = RequiredParameter(GroupKind("example.com", "Settings"), "colors.enable")
    objects = (gateway_class(), edge, parameters, route("r"), service("s"), above, below)
    analysis = analyze(snapshot(*objects, complete=True), profiles=[replace(PATCHING, enabled_by=enabling)])
    found = [plain(effective.resolution.spec) for effective in analysis.effective(RULE)]
    assert found == ([{"a": 1}] if counts else [])
    alone = snapshot(service("s"), below, complete=True)
    (effective,) = analyze(alone, profiles=[replace(PATCHING, enabled_by=enabling)]).effective(ALONE)
    assert plain(effective.resolution.spec) == {"b": 1}


def test_a_route_of_which_one_gateway_enables_a_kind() -> None:
    """By way of that one it counts, by way of the other one it does not."""
    gateways = [
        gateway(name, infrastructure={"parametersRef": {"group": "example.com", "kind": "Settings", "name": name}})
        for name in ("off", "on")
    ]
    settings = [resource("Settings", name, {"enable": name == "on"}, group="example.com") for name in ("off", "on")]
    attached = route("r", parents=[{"name": "off"}, {"name": "on"}])
    objects = (gateway_class(), *gateways, *settings, attached, policy("p", target("r", "HTTPRoute"), a=1))
    enabling = RequiredParameter(GroupKind("example.com", "Settings"), "enable")
    analysis = analyze(snapshot(*objects, complete=True), profiles=[replace(PATCHING, enabled_by=enabling)])
    (found,) = analysis.effective(RULE)
    assert [at.object.name for at in found.path if at.object.group_kind == GATEWAY] == ["on", "on"]
    assert analysis.enforcement(policy("p").ref).state == "PartiallyEnforced"


CHOOSING: Final = PolicyKindProfile(
    COLOR, "inherited", "profile", strategy=MergeStrategy.PATCH_DEFAULTS, stanzas="none", same_level="first-wins"
)
AT_RULES: Final = (TargetLevel(HTTP_ROUTE, section=True),)
INHERIT: Final = "example.com/inherit"
CHOICE: Final = RouteChoice(
    INHERIT,
    MappingProxyType(
        {
            "Parent": Inheritance(MergeStrategy.PATCH_OVERRIDES),
            "Deep": Inheritance(MergeStrategy.PATCH_DEFAULTS, MergeStrategy.PATCH_OVERRIDES),
            "Replace": Inheritance(MergeStrategy.ATOMIC_DEFAULTS),
        }
    ),
)


class TestRouteChoices:
    """What routes say in an annotation of how their policies meet those on routes below them."""

    def said(self, value: Json, choice: RouteChoice | None = CHOICE) -> Inheritance | None:
        topology = delegating(http_route("r", annotations={INHERIT: value}))
        return route_choices(topology, choice, [node("HTTPRoute", "r", "rule[0]")]).get(node("HTTPRoute", "r").object)

    @pytest.mark.parametrize("value", ["Parent", "Deep", "Replace"])
    def test_by_its_value(self, value: str) -> None:
        assert self.said(value) == CHOICE.values[value]

    @pytest.mark.parametrize("value", ["", "parent", "Other", 7, None, ["Parent"], {"Parent": 1}], ids=str)
    def test_other_values_mean_nothing(self, value: Json) -> None:
        assert self.said(value) is None

    def test_a_kind_without_such_an_annotation(self) -> None:
        """Asks nobody."""
        assert self.said("Parent", None) is None

    def test_other_objects_choose_nothing(self) -> None:
        """A Gateway with such an annotation, or a route that does not exist."""
        edge = resource("Gateway", "edge")
        marked = replace(edge, raw={**edge.raw, "metadata": {"name": "edge", "annotations": {INHERIT: "Parent"}}})
        targets = [node("Gateway", "edge"), node("HTTPRoute", "gone")]
        assert route_choices(delegating(marked), CHOICE, targets) == {}


class TestDelegatedRoutes:
    """Policies on a route that delegates, and on the one that it delegates to."""

    joint = (JointField(field="l", within=("levels",)),)

    def asked(self, value: str) -> Analysis:
        """A policy on the route above, which makes a choice, one on the route below, and one on its rule."""
        above, below = target("top", "HTTPRoute"), target("low", "HTTPRoute")
        policies: tuple[Resource, ...] = (
            policy("a", above, age=1, x="a", y="a", l=["a"]),
            policy("b", below, age=2, x="b", l=["b"]),
            policy("c", {**below, "sectionName": "rule[0]"}, age=3, z="c"),
        )
        over = http_route("top", passing("/a", to("low")), parents=[parent()], annotations={INHERIT: value})
        world = delegating(over, http_route("low", passing("/a/b", backend())), service("s"))
        objects = world.index.snapshot.resources
        profile = replace(CHOOSING, route_choice=CHOICE, joint_fields=self.joint, effective_targets=AT_RULES)
        return analyze(snapshot(*objects, *policies, complete=True), profiles=[profile])

    @pytest.mark.parametrize(
        ("value", "expected", "state"),
        [
            ("", {"x": "b", "y": "a", "l": ["b"]}, "PartiallyEnforced"),
            ("Parent", {"x": "a", "y": "a", "l": ["a"]}, "Enforced"),
            ("Deep", {"x": "b", "y": "a", "l": ["a", "b"]}, "PartiallyEnforced"),
            ("Replace", {"x": "b", "l": ["b"]}, "Overridden"),
        ],
    )
    def test_the_route_above_decides(self, value: str, expected: dict[str, Json], state: str) -> None:
        analysis = self.asked(value)
        (found,) = analysis.effective(node("HTTPRoute", "low", "rule[0]"))
        assert plain(found.resolution.spec) == {**expected, "z": "c"}
        assert analysis.enforcement(policy("a").ref).state == state
