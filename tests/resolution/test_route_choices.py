"""What a path says, beside the policies on it, of how these meet."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import MergeStrategy, PolicyKindProfile, TargetLevel, analyze, plain
from kubectl_policy.model import GroupKind
from kubectl_policy.profiles.merging import Inheritance, RouteChoice, SharedField
from kubectl_policy.resolution.resolver import route_choices, target_object
from kubectl_policy.topology import Topology
from kubectl_policy.topology.references import HTTP_ROUTE
from tests.build import backend, index, node, parent, policy, resource, route, rule, service, snapshot, target
from tests.delegation import http_route, passing, to
from tests.delegation import world as delegating
from tests.resolution.specs import set_by

if TYPE_CHECKING:
    from kubectl_policy import Analysis
    from kubectl_policy.model import Json, Resource

COLOR: Final = GroupKind("example.com", "ColorPolicy")
PATCHING: Final = PolicyKindProfile(
    COLOR, "inherited", "profile", strategy=MergeStrategy.PATCH_DEFAULTS, stanzas="none", same_level="first-wins"
)
OWN: Final = replace(
    PATCHING, object_fields=MappingProxyType({"timeout": "rule.timeouts.request", "name": "spec.name"})
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


class TestTargetObject:
    """The object at the end of a path, if its own fields count there."""

    rules: Final[list[dict[str, Json]]] = [rule(timeouts={"request": "1s"}), rule(name="named", timeouts={})]

    def test_without_fields_of_its_own_it_does_not_matter(self) -> None:
        """It is not even looked at."""
        assert target_object(Topology(index(route("r"))), node("HTTPRoute", "r"), PATCHING) == {}

    def test_a_rule_of_a_route(self) -> None:
        """The route with that rule; the route itself has none."""
        topology = Topology(index(route("r", rules=self.rules)))
        for place, section in enumerate(("rule[0]", "named")):
            found = target_object(topology, node("HTTPRoute", "r", section), OWN)["rule"]
            assert isinstance(found, dict)
            assert found["timeouts"] == self.rules[place]["timeouts"]
        assert "rule" not in target_object(topology, node("HTTPRoute", "r"), OWN)

    def test_sections_of_other_objects(self) -> None:
        """Have no rule."""
        topology = Topology(index(service("s")))
        found = target_object(topology, node("Service", "s", "8080", group=""), OWN)
        assert found == topology.index.raw(node("Service", "s", group="").object)

    @pytest.mark.parametrize("section", ["ghost", "rule[7]"])
    def test_a_rule_that_does_not_exist(self, section: str) -> None:
        """Says nothing; nor does a route that does not exist."""
        topology = Topology(index(route("r", rules=self.rules)))
        assert "rule" not in target_object(topology, node("HTTPRoute", "r", section), OWN)
        assert target_object(topology, node("HTTPRoute", "gone", section), OWN) == {}

    @pytest.mark.parametrize("hostile", [7, None, [], "x", {"timeouts": 7}, {"timeouts": {"request": []}}], ids=str)
    def test_whatever_a_rule_is(self, hostile: Json) -> None:
        """It is asked by its place."""
        objects = (
            resource("HTTPRoute", "r", {"rules": [hostile, *self.rules]}),
            policy("p", target("r", "HTTPRoute"), a=1),
        )
        analysis = analyze(snapshot(*objects, complete=True), profiles=[replace(OWN, effective_targets=AT_RULES)])
        for section, expected in (("rule[0]", {"a": 1}), ("rule[1]", {"a": 1, "timeout": "1s"})):
            (found,) = analysis.effective(node("HTTPRoute", "r", section))
            assert plain(found.spec) == expected

    def test_the_rule_s_own_setting_beats_those_of_policies(self) -> None:
        """At that rule alone, and whoever set it first."""
        rules = [{**self.rules[0], "backendRefs": [backend()]}, rule(name="named")]
        objects = (route("r", rules=rules), policy("p", target("r", "HTTPRoute"), timeout="9s", a=1))
        analysis = analyze(snapshot(*objects, complete=True), profiles=[replace(OWN, effective_targets=AT_RULES)])
        (found,) = analysis.effective(node("HTTPRoute", "r", "rule[0]"))
        assert set_by(found.spec) == {"timeout": ("1s", "r"), "a": (1, "p")}
        (fate,) = [fate for fate in found.fates() if fate.field == "timeout"]
        assert (fate.state, [one.object.kind for one in fate.superseded_by]) == ("superseded", ["HTTPRoute"])
        (other,) = analysis.effective(node("HTTPRoute", "r", "named"))
        assert set_by(other.spec) == {"timeout": ("9s", "p"), "a": (1, "p")}


class TestRouteChoices:
    """What routes say in an annotation of how their policies meet those on routes below them."""

    def said(self, value: Json, choice: RouteChoice | None = CHOICE) -> Inheritance | None:
        """What the annotation of a route means."""
        topology = delegating(http_route("r", annotations={INHERIT: value}))
        return route_choices(topology, choice, [node("HTTPRoute", "r", "rule[0]")]).get(node("HTTPRoute", "r").object)

    @pytest.mark.parametrize("value", ["Parent", "Deep", "Replace"])
    def test_by_its_value(self, value: str) -> None:
        """Whichever the kind knows."""
        assert self.said(value) == CHOICE.values[value]

    @pytest.mark.parametrize("value", ["", "parent", "Other", 7, None, ["Parent"], {"Parent": 1}], ids=str)
    def test_other_values_mean_nothing(self, value: Json) -> None:
        """Also those that no API server lets in."""
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

    joint = (SharedField(field="l", within=("levels",)),)

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
        profile = replace(PATCHING, route_choice=CHOICE, shared_fields=self.joint, effective_targets=AT_RULES)
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
        """Between it and the one below, whose rule belongs to that."""
        analysis = self.asked(value)
        (found,) = analysis.effective(node("HTTPRoute", "low", "rule[0]"))
        assert plain(found.spec) == {**expected, "z": "c"}
        assert analysis.enforcement(policy("a").ref).state == state
