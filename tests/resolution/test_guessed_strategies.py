"""Kinds known by their looks alone: where their policies have no field in common, how they combine is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import PolicyKindProfile, analyze
from kubectl_policy.model import GroupKind
from kubectl_policy.resolution import field_name, leaves
from tests import build

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy import Analysis, EffectivePolicy
    from kubectl_policy.model import Json, Resource
    from kubectl_policy.profiles.profile import PolicyClass

COLOR: Final = GroupKind("example.com", "ColorPolicy")
ON_GATEWAY: Final = build.target("g")
ON_ROUTE: Final = build.target("r", "HTTPRoute")


def world(*policies: Resource, profiles: Sequence[PolicyKindProfile] = ()) -> Analysis:
    """A Gateway, a route and a Service, with policies of a kind that has the shape of a policy kind."""
    hierarchy = (build.namespace("default"), build.gateway(), build.route(), build.service())
    return analyze(build.snapshot(*hierarchy, *policies), profiles=profiles)


def labelled(value: str) -> Resource:
    """A definition with the label of policy kinds."""
    return build.crd("ColorPolicy", labels={"gateway.networking.k8s.io/policy": value})


def outcome(analysis: Analysis, name: str = "s", kind: str = "Service", group: str = "") -> EffectivePolicy:
    """What is effective at an object."""
    (path,) = analysis.topology.paths(build.node(kind, name, group=group))
    (effective,) = analysis.effective_on(path)
    return effective


def fields(analysis: Analysis) -> dict[str, str]:
    """The fields in the outcome, and who set each."""
    return {field_name(field): leaf.source.object.name for field, leaf in leaves(outcome(analysis).resolution.spec)}


def fates(analysis: Analysis) -> dict[str, str]:
    """The fate of each declared field, by policy and field."""
    return {f"{fate.source.object.name}.{fate.field}": fate.state for fate in outcome(analysis).resolution.fates}


def states(analysis: Analysis, *names: str) -> list[str]:
    """The states of policies."""
    return [analysis.enforcement(build.ref("ColorPolicy", name, group="example.com")).state for name in names]


def on_two_levels(above: Mapping[str, Json], below: Mapping[str, Json], *more: Resource) -> Analysis:
    """A policy `a` on the Gateway and a policy `b` on the route."""
    return world(
        build.resource("ColorPolicy", "a", {"targetRef": ON_GATEWAY, **above}, group="example.com"),
        build.resource("ColorPolicy", "b", {"targetRef": ON_ROUTE, **below}, group="example.com"),
        *more,
    )


class TestDisjoint:
    """Both may hold, or one of them alone."""

    def test_both_are_kept_and_neither_is_certain(self) -> None:
        """The spec has the fields of both."""
        analysis = on_two_levels({"one": 1}, {"two": 2})
        assert fields(analysis) == {"one": "a", "two": "b"}
        assert fates(analysis) == {"a.one": "undecided", "b.two": "undecided"}
        assert outcome(analysis).resolution.doubts == {"combination unknown"}
        assert states(analysis, "a", "b") == ["Unknown", "Unknown"]

    def test_fields_of_one_map(self) -> None:
        """Fields are told apart as far down as they go; a map in place of a value is the same field."""
        assert outcome(on_two_levels({"map": {"one": 1}}, {"map": {"two": 2}})).resolution.doubts
        assert not outcome(on_two_levels({"map": {"one": 1}}, {"map": 2})).resolution.doubts
        assert not outcome(on_two_levels({"map": {"one": 1}}, {"map": {"one": 2, "two": 2}})).resolution.doubts

    @pytest.mark.parametrize("label", ["inherited", "true"])
    def test_of_a_labelled_kind(self, label: str) -> None:
        """A label says the class at most."""
        assert states(on_two_levels({"one": 1}, {"two": 2}, labelled(label)), "a", "b") == ["Unknown", "Unknown"]

    @pytest.mark.parametrize("definition", [(), (labelled("direct"),)], ids=["shape", "direct"])
    def test_on_one_target(self, definition: Sequence[Resource]) -> None:
        """A direct kind may refuse the second one, or take both."""
        analysis = world(
            build.policy("a", ON_ROUTE, age=1, one=1), build.policy("b", ON_ROUTE, age=2, two=2), *definition
        )
        assert states(analysis, "a", "b") == ["Unknown", "Unknown"]
        enforcement = analysis.enforcement(build.ref("ColorPolicy", "b", group="example.com"))
        assert [sorted(effective.resolution.spec) for effective in enforcement.outcomes] == [["one", "two"]]

    def test_a_policy_that_sets_nothing_may_replace_one_above(self) -> None:
        """As a whole, as atomic policies do; where nothing is above it, nothing is in doubt."""
        assert states(on_two_levels({"one": 1}, {}), "a", "b") == ["Unknown", "Unknown"]
        assert states(on_two_levels({}, {"two": 2}), "b") == ["Enforced"]

    def test_a_third_policy_that_sets_what_one_of_them_sets(self) -> None:
        """The field that two set is decided as assumed; what the other one sets is not."""
        analysis = world(
            build.policy("a", ON_GATEWAY, one=1),
            build.policy("b", ON_ROUTE, age=1, two=2),
            build.policy("c", ON_ROUTE, age=2, one=3),
        )
        assert fields(analysis) == {"two": "b", "one": "c"}
        assert fates(analysis) == {"a.one": "superseded", "b.two": "undecided", "c.one": "undecided"}
        assert states(analysis, "a") == ["Overridden"]

    def test_where_the_policy_is_alone_it_is_certain(self) -> None:
        """Its state is unknown all the same: it may or may not be enforced everywhere."""
        route = build.route("other", rules=[build.rule(build.backend("t"))])
        analysis = on_two_levels({"one": 1}, {"two": 2}, route, build.service("t"))
        assert outcome(analysis, "t").resolution.doubts == frozenset()
        assert outcome(analysis, "t").resolution.policies_undecided == frozenset()
        assert {ref.name for ref in outcome(analysis).resolution.policies_undecided} == {"a", "b"}
        assert states(analysis, "a") == ["Unknown"]


class TestOverlapping:
    """What is assumed stays, and is marked as assumed elsewhere."""

    def test_the_nearer_one_replaces_the_other_one(self) -> None:
        """A common field is enough."""
        analysis = on_two_levels({"one": 1, "more": 1}, {"one": 2})
        assert fields(analysis) == {"one": "b"}
        assert outcome(analysis).resolution.doubts == frozenset()
        assert states(analysis, "a", "b") == ["Overridden", "Enforced"]


class TestSomebodySaysIt:
    """A policy or a profile that says how it merges leaves nothing to guess."""

    @pytest.mark.parametrize(
        ("above", "below", "left"),
        [
            ({"defaults": {"one": 1}}, {"defaults": {"two": 2}}, ["two"]),
            ({"overrides": {"one": 1}}, {"two": 2}, ["one"]),
            ({"defaults": {"one": 1, "strategy": "patch"}}, {"two": 2}, ["one", "two"]),
            ({"strategy": "atomic", "one": 1}, {"two": 2}, ["two"]),
            ({"strategy": "merge", "one": 1}, {"two": 2}, ["one", "two"]),
            ({"default": {"one": 1}}, {"default": {"two": 2}}, ["one", "two"]),
        ],
    )
    def test_the_policy_further_up(self, above: Mapping[str, Json], below: Mapping[str, Json], left: list[str]) -> None:
        """Its stanza, or its strategy, decides."""
        analysis = on_two_levels(above, below)
        assert sorted(fields(analysis)) == left
        assert not outcome(analysis).resolution.doubts

    def test_a_strategy_that_only_the_nearer_one_says(self) -> None:
        """It is the one further up that decides."""
        assert outcome(on_two_levels({"one": 1}, {"strategy": "merge", "two": 2})).resolution.doubts == {
            "combination unknown"
        }

    def test_a_profile(self) -> None:
        """Also one that leaves the strategy open: somebody has looked at the kind."""
        own = PolicyKindProfile(COLOR, "inherited", "profile", assumed=("merge strategy",))
        policies = build.policy("a", ON_GATEWAY, one=1), build.policy("b", ON_ROUTE, two=2)
        assert fields(world(*policies, profiles=[own])) == {"two": "b"}

    @pytest.mark.parametrize(("policy_class", "state"), [("direct", "Conflicted"), ("inherited", "Enforced")])
    def test_a_kind_whose_strategy_is_not_assumed(self, policy_class: PolicyClass, state: str) -> None:
        """Whatever it is known by."""
        own = PolicyKindProfile(COLOR, policy_class, "label")
        policies = build.policy("a", ON_ROUTE, age=1, one=1), build.policy("b", ON_ROUTE, age=2, two=2)
        assert states(world(*policies, profiles=[own]), "b") == [state]


def test_from_the_root_downward_each_policy_decides_by_its_own_strategy() -> None:
    """Where the other reading of GEP-713 comes to something else, that is in doubt as well."""
    analysis = world(
        build.policy("a", ON_GATEWAY, overrides={"one": 1}),
        build.policy("b", ON_ROUTE, age=1, two=2),
        build.policy("c", ON_ROUTE, age=2, three=3),
    )
    assert fields(analysis) == {"one": "a"}
    assert outcome(analysis).resolution.doubts == {"fold direction"}
