"""What a path says, beside the policies on it, of how these meet."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import MergeStrategy, PolicyKindProfile, TargetLevel, analyze, plain
from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import HTTP_ROUTE
from kubectl_policy.profiles.merging import Inheritance, RouteChoice, SharedField
from kubectl_policy.resolution.resolver import route_choices
from tests.build import backend, node, parent, policy, resource, service, snapshot, target
from tests.delegation import http_route, passing, to
from tests.delegation import world as delegating

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
        assert plain(found.resolution.spec) == {**expected, "z": "c"}
        assert analysis.enforcement(policy("a").ref).state == state
