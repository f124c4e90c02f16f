"""The order of policies that filters of a rule name: before all others there, in the order of the filters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import MergeStrategy, PolicyKindProfile, analyze, plain
from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles import TargetLevel
from kubectl_policy.resolution.precedence import filters_first, in_order
from tests.build import backend, gateway, gateway_class, names, node, policy, route, rule, service, snapshot, target
from tests.resolution.specs import declares

if TYPE_CHECKING:
    from kubectl_policy import Analysis, EffectivePolicy
    from kubectl_policy.model import Resource

COLOR: Final = GroupKind("example.com", "ColorPolicy")
HTTP_ROUTE: Final = GroupKind(GATEWAY_API, "HTTPRoute")
BUY: Final = node("HTTPRoute", "r", "buy")
ROUTE: Final = target("r", "HTTPRoute")
RULE: Final = target("r", "HTTPRoute", "buy")


def kind(strategy: MergeStrategy = MergeStrategy.PATCH_DEFAULTS, **choices: object) -> PolicyKindProfile:
    """An inherited kind that filters name, in force at rules, of which the first on a rule wins."""
    fields: dict[str, object] = {"same_level": "first-wins", "stanzas": "none", **choices}
    return PolicyKindProfile(
        COLOR,
        "inherited",
        "profile",
        filter_routes=frozenset({HTTP_ROUTE}),
        effective_targets=(TargetLevel(HTTP_ROUTE, section=True),),
        strategy=strategy,
        **fields,  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] - a table of choices
    )


def asked(*policies: Resource, filters: str, profile: PolicyKindProfile) -> Analysis:
    """A rule buy whose filters name these policies, letter by letter, and a rule see without filters."""
    rules = [rule(backend(), name="buy", filters=[names(name) for name in filters]), rule(backend(), name="see")]
    world = (gateway_class(), gateway("g"), route(rules=rules), service())
    return analyze(snapshot(*policies, *world, complete=True), profiles=[profile])


def in_force(analysis: Analysis, section: str = "buy") -> EffectivePolicy:
    """What is in force at a rule."""
    (found,) = analysis.effective(node("HTTPRoute", "r", section))
    return found


class TestOnOneRule:
    """Policies by filters and by references on one rule."""

    def test_filters_go_by_their_order_not_by_age(self) -> None:
        """The first filter wins, whatever the policies' ages and names."""
        policies = [policy(name, age=age, by=name) for age, name in enumerate("abc")]
        for filters in ("abc", "cba", "bca", "cc", "acb"):
            assert plain(in_force(asked(*policies, filters=filters, profile=kind())).resolution.spec) == {
                "by": filters[0]
            }

    def test_a_filter_comes_before_an_older_reference(self) -> None:
        """And the other one fills what it leaves."""
        old, new = policy("a", RULE, age=1, by="a", rest=1), policy("z", age=9, by="z")
        found = in_force(asked(old, new, filters="z", profile=kind()))
        assert plain(found.resolution.spec) == {"by": "z", "rest": 1}

    def test_by_filter_and_by_reference(self) -> None:
        """It is one policy, and the filter decides its place."""
        both, other = policy("z", RULE, age=9, by="z"), policy("a", RULE, age=1, by="a")
        analysis = asked(both, other, filters="z", profile=kind())
        assert [found.ref.name for found in analysis.resolver.policies_of_kind(BUY, COLOR)] == ["z", "a"]
        assert plain(in_force(analysis).resolution.spec) == {"by": "z"}

    def test_another_rule_has_nothing_of_it(self) -> None:
        """A filter is of its rule alone."""
        old, new = policy("a", ROUTE, age=1, by="a"), policy("z", age=9, by="z")
        assert plain(in_force(asked(old, new, filters="z", profile=kind()), "see").resolution.spec) == {"by": "a"}

    def test_one_alone_applies(self) -> None:
        """The one of the first filter, and the others are refused."""
        policies = (policy("a", RULE, age=1, by="a"), policy("y", age=3, by="y"), policy("z", age=9, by="z"))
        analysis = asked(*policies, filters="zy", profile=kind(same_level="one-applies"))
        assert plain(in_force(analysis).resolution.spec) == {"by": "z"}
        states = {found.ref.name: analysis.enforcement(found.ref).state for found in policies}
        assert states == {"a": "Conflicted", "y": "Conflicted", "z": "Enforced"}

    def test_the_newest_challenges(self) -> None:
        """Filters stand for the older ones then, so that others challenge them."""
        policies = (policy("a", RULE, age=1, by="a"), policy("z", age=9, by="z"))
        analysis = asked(*policies, filters="z", profile=kind(same_level="newest-challenges"))
        assert plain(in_force(analysis).resolution.spec) == {"by": "a"}

    def test_a_source_says_by_which_filter(self) -> None:
        """From 1; others have none."""
        policies = (policy("a", RULE, a=1), policy("y", y=1), policy("z", z=1))
        found = in_force(asked(*policies, filters="yz", profile=kind()))
        assert {part.source.object.name: part.source.filter for part in found.resolution.contributions} == {
            "a": 0,
            "y": 1,
            "z": 2,
        }

    @pytest.mark.parametrize(
        ("filters", "undated", "doubted"),
        [("yz", (), False), ("z", ("a",), False), ("z", ("a", "y"), True), ("", ("y", "z"), True)],
    )
    def test_age_matters_among_the_others_alone(self, filters: str, undated: tuple[str, ...], *, doubted: bool) -> None:
        """The order of filters needs no dates."""
        policies = [policy(name, *([RULE] if name in undated else []), by=name) for name in "ayz"]
        found = in_force(asked(*policies, filters=filters, profile=kind()))
        assert ("age unknown" in found.resolution.doubts) == doubted


class TestWithTheRoute:
    """Policies by filters and policies on the whole route."""

    @pytest.mark.parametrize("strategy", [MergeStrategy.PATCH_DEFAULTS, MergeStrategy.PATCH_OVERRIDES])
    def test_a_filter_comes_first(self, strategy: MergeStrategy) -> None:
        """Whether the nearer or the one further up wins otherwise."""
        old, new = policy("a", ROUTE, age=1, by="a", rest=1), policy("z", age=9, by="z")
        found = in_force(asked(old, new, filters="z", profile=kind(strategy)))
        assert plain(found.resolution.spec) == {"by": "z", "rest": 1}

    def test_a_reference_to_the_rule_gives_way_to_an_override(self) -> None:
        """As ever."""
        old, new = policy("a", ROUTE, age=1, by="a"), policy("z", RULE, age=9, by="z")
        found = in_force(asked(old, new, filters="", profile=kind(MergeStrategy.PATCH_OVERRIDES)))
        assert plain(found.resolution.spec) == {"by": "a"}

    def test_an_override_further_up_stands(self) -> None:
        """What is said of the Gateway is not of the route."""
        above, new = policy("a", target("g"), age=1, by="a"), policy("z", age=9, by="z")
        found = in_force(asked(above, new, filters="z", profile=kind(MergeStrategy.PATCH_OVERRIDES)))
        assert plain(found.resolution.spec) == {"by": "a"}


def test_without_filters_nothing_changes() -> None:
    """Neither on a node nor on a path."""
    policies = [policy("b"), policy("a")]
    assert in_order(policies, kind(MergeStrategy.PATCH_DEFAULTS)) == policies[::-1]
    parts = [declares("b", {"x": 1}, MergeStrategy.PATCH_OVERRIDES), declares("a", {"x": 2})]
    assert filters_first(parts) == parts
