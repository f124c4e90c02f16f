"""Policies of one kind on a node: their order, refusals, and filters that name them."""

from __future__ import annotations

from itertools import permutations
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import (
    Analysis,
    EffectivePolicy,
    GroupKind,
    MergeStrategy,
    NodeRef,
    PolicyKindProfile,
    Resource,
    analyze,
    plain,
)
from kubectl_policy.model.kind_roles import HTTP_ROUTE
from kubectl_policy.profiles import TargetLevel
from kubectl_policy.profiles.fields import RefusedOn
from kubectl_policy.profiles.merging import JointField, Variant
from kubectl_policy.profiles.needs import RequiredObject
from kubectl_policy.resolution.precedence import filters_first, in_order
from tests.build import (
    backend,
    gateway,
    gateway_class,
    names,
    namespace,
    node,
    policy,
    route,
    rule,
    service,
    snapshot,
    target,
)
from tests.resolution.build import declares, owners, set_by

COLOR: Final = GroupKind("example.com", "ColorPolicy")
DISJOINT: Final = PolicyKindProfile(
    COLOR, "inherited", "profile", strategy=MergeStrategy.PATCH_DEFAULTS, stanzas="none", same_level="disjoint"
)
EVERYWHERE: Final = replace(DISJOINT, refusal="everywhere")
G, R, S = node("Gateway", "g"), node("HTTPRoute", "r"), node("Service", "s", group="")
ON_G, ON_R, ON_S = target("g"), target("r", "HTTPRoute"), target("s", "Service", group="")


def world(profile: PolicyKindProfile, *policies: Resource) -> Analysis:
    objects = (namespace("default"), gateway_class(), gateway("g"), route("r"), service("s"))
    return analyze(snapshot(*objects, *policies, complete=True), profiles=[profile])


def refused(analysis: Analysis, *places: NodeRef) -> dict[str, str]:
    """Who is refused at some nodes, for whom, and for which field."""
    return {
        f"{one.ref.name} on {place.object.name}": f"{found.holder.name} {found.field}".strip()
        for one in analysis.policies
        for place in places or (G, R, S)
        if (found := analysis.resolver.refusal(one.ref, place))
    }


def states(analysis: Analysis) -> dict[str, str]:
    return {one.ref.name: analysis.enforcement(one.ref).state for one in analysis.policies}


class TestDisjoint:
    """Policies on one target apply together, but the newer of two that set a common field is refused."""

    older: Final = policy("o", ON_G, age=1, m={"a": 1}, x=1)

    def test_without_a_common_field_both_apply(self) -> None:
        """A map that both have is none, nor is a field on another target."""
        newer = policy("n", ON_G, age=2, m={"b": 2})
        below = policy("b", ON_R, age=3, m={"a": 3})
        analysis = world(DISJOINT, self.older, newer, below)
        assert refused(analysis) == {}
        (found,) = analysis.effective(R)
        assert set_by(found.resolution.spec) == {"m.a": (3, "b"), "m.b": (2, "n"), "x": (1, "o")}

    def test_with_one_the_newer_is_refused_whole(self) -> None:
        analysis = world(DISJOINT, self.older, policy("n", ON_G, age=2, x=2, y=2))
        assert refused(analysis) == {"n on g": "o x"}
        (found,) = analysis.effective(R)
        assert plain(found.resolution.spec) == {"m": {"a": 1}, "x": 1}
        assert owners(frozenset(found.resolution.refusals)) == owners(found.resolution.rejected) == {"n"}
        assert states(analysis) == {"n": "Conflicted", "o": "Enforced"}

    def test_what_is_whole_is_one_field(self) -> None:
        newer = policy("n", ON_G, age=2, m={"b": 2})
        assert refused(world(replace(DISJOINT, whole_fields=frozenset({"m"})), self.older, newer)) == {"n on g": "o m"}
        shared = replace(DISJOINT, joint_fields=(JointField(field="m", within=("level",), by="*"),))
        assert refused(world(shared, self.older, policy("n", ON_G, age=2, m={"a": 2}))) == {}
        elsewhere = replace(DISJOINT, joint_fields=(JointField(field="m", within=("scopes",), by="*"),))
        assert refused(world(elsewhere, self.older, newer)) == {"n on g": "o m"}

    def test_a_policy_that_says_nothing_is_in_nobodys_way(self) -> None:
        analysis = world(DISJOINT, policy("o", ON_G, age=1), self.older, policy("n", ON_G, age=2))
        assert refused(analysis) == {}
        assert set(states(analysis).values()) == {"Enforced"}


class TestExtent:
    """A policy that is refused on one target is refused there, or on all of its targets."""

    policies: Final = (
        policy("a", ON_G, age=1, x=1),
        policy("b", ON_G, ON_R, age=2, x=2, y=2),
        policy("c", ON_R, age=3, y=3),
    )

    @pytest.mark.parametrize(
        ("refusal", "expected", "spec"),
        [
            ("there", {"b on g": "a x", "c on r": "b y"}, {"x": 2, "y": 2}),
            ("everywhere", {"b on g": "a x", "b on r": "a x"}, {"x": 1, "y": 3}),
        ],
    )
    def test_where(self, refusal: RefusedOn, expected: dict[str, str], spec: dict[str, int]) -> None:
        """Who is refused everywhere is in nobody's way; the order of the input does not matter."""
        for policies in permutations(self.policies):
            analysis = world(replace(DISJOINT, refusal=refusal), *policies)
            assert refused(analysis) == expected
            (found,) = analysis.effective(R)
            assert plain(found.resolution.spec) == spec

    def test_who_kept_it_out_need_not_be_on_the_path(self) -> None:
        """The fate names it all the same, where it has the target."""
        both = policy("b", ON_S, ON_R, age=2, x=2)
        analysis = world(EVERYWHERE, policy("a", ON_S, age=1, x=1), both)
        (found,) = analysis.effective(R)
        (fate,) = found.resolution.fates
        assert fate.state == "rejected"
        assert [(one.object.name, one.target) for one in fate.superseded_by] == [("a", S)]
        assert found.resolution.spec == {}
        assert analysis.enforcement(both.ref).by == (policy("a").ref,)


class TestCompeting:
    """A policy that is invalid may keep others out of its targets all the same."""

    def needing(self, refusal: RefusedOn, *, competes: bool) -> PolicyKindProfile:
        need = RequiredObject(field="spec.store", group="", kinds=("Secret",), optional=True, competes=competes)
        return replace(DISJOINT, refusal=refusal, needs=(need,))

    policies: Final = (
        policy("a", ON_G, ON_S, age=1, x=1, store={"name": "missing"}),
        policy("b", ON_G, ON_R, age=2, x=2),
        policy("c", ON_R, age=3, x=3),
    )

    @pytest.mark.parametrize(
        ("refusal", "competes", "expected"),
        [
            ("there", False, {"c on r": "b x"}),
            ("there", True, {"b on g": "a x", "c on r": "b x"}),
            ("everywhere", False, {"c on r": "b x"}),
            ("everywhere", True, {"b on g": "a x", "b on r": "a x"}),
        ],
    )
    def test_who_keeps_whom_out(self, refusal: RefusedOn, *, competes: bool, expected: dict[str, str]) -> None:
        analysis = world(self.needing(refusal, competes=competes), *self.policies)
        assert refused(analysis) == expected
        assert states(analysis)["a"] == "Invalid"

    def test_where_all_others_are_refused_nothing_is_left(self) -> None:
        """The fate names who keeps them out, although it brings nothing itself."""
        analysis = world(self.needing("there", competes=True), *self.policies[:2])
        (found,) = analysis.effective(G)
        assert (found.resolution.spec, found.resolution.members, owners(found.resolution.rejected)) == (
            {},
            frozenset(),
            {"b"},
        )
        (fate,) = found.resolution.fates
        assert [one.object.name for one in fate.superseded_by] == ["a"]

    def test_a_policy_that_is_attached_and_competes_elsewhere(self) -> None:
        """Only its own targets are kept."""
        analysis = world(self.needing("everywhere", competes=True), *self.policies[1:])
        assert refused(analysis) == {"c on r": "b x"}


def test_each_variant_of_a_kind_has_refusals_of_its_own() -> None:
    whole = Variant(targets=frozenset({HTTP_ROUTE}), whole_fields=frozenset({"m"}))
    profile = replace(EVERYWHERE, variants=(whole,))
    policies = policy("a", ON_G, age=1, m={"x": 1}), policy("b", ON_G, age=2, m={"y": 2})
    for places in ((G, R), (R, G)):
        analysis = world(profile, *policies)
        found = {place.kind: plain(one.resolution.spec) for place in places for one in analysis.effective(place)}
        assert found == {"Gateway": {"m": {"x": 1, "y": 2}}, "HTTPRoute": {"m": {"x": 1}}}


def test_what_is_no_policy_is_not_refused() -> None:
    """Nor is anything where nothing is attached."""
    analysis = world(EVERYWHERE)
    assert analysis.resolver.refusal(G.object, G) is None
    assert analysis.resolver.refusal(policy("p").ref, G) is None


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
    (found,) = analysis.effective(node("HTTPRoute", "r", section))
    return found


class TestOnOneRule:
    def test_filters_go_by_their_order_not_by_age(self) -> None:
        """The first filter wins, whatever the policies' ages and names."""
        policies = [policy(name, age=age, by=name) for age, name in enumerate("abc")]
        for filters in ("abc", "cba", "bca", "cc", "acb"):
            assert plain(in_force(asked(*policies, filters=filters, profile=kind())).resolution.spec) == {
                "by": filters[0]
            }

    def test_a_filter_comes_before_an_older_reference(self) -> None:
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
        policies = [policy(name, *([RULE] if name in undated else []), by=name) for name in "ayz"]
        found = in_force(asked(*policies, filters=filters, profile=kind()))
        assert ("age unknown" in found.resolution.doubts) == doubted


class TestWithTheRoute:
    @pytest.mark.parametrize("strategy", [MergeStrategy.PATCH_DEFAULTS, MergeStrategy.PATCH_OVERRIDES])
    def test_a_filter_comes_first(self, strategy: MergeStrategy) -> None:
        """Whether the nearer or the one further up wins otherwise."""
        old, new = policy("a", ROUTE, age=1, by="a", rest=1), policy("z", age=9, by="z")
        found = in_force(asked(old, new, filters="z", profile=kind(strategy)))
        assert plain(found.resolution.spec) == {"by": "z", "rest": 1}

    def test_a_reference_to_the_rule_gives_way_to_an_override(self) -> None:
        old, new = policy("a", ROUTE, age=1, by="a"), policy("z", RULE, age=9, by="z")
        found = in_force(asked(old, new, filters="", profile=kind(MergeStrategy.PATCH_OVERRIDES)))
        assert plain(found.resolution.spec) == {"by": "a"}

    def test_an_override_further_up_stands(self) -> None:
        above, new = policy("a", target("g"), age=1, by="a"), policy("z", age=9, by="z")
        found = in_force(asked(above, new, filters="z", profile=kind(MergeStrategy.PATCH_OVERRIDES)))
        assert plain(found.resolution.spec) == {"by": "a"}


def test_without_filters_nothing_changes() -> None:
    policies = [policy("b"), policy("a")]
    assert in_order(policies, kind(MergeStrategy.PATCH_DEFAULTS)) == policies[::-1]
    parts = [declares("b", {"x": 1}, MergeStrategy.PATCH_OVERRIDES), declares("a", {"x": 2})]
    assert filters_first(parts) == parts
