"""Merge strategies: chosen, by default and guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import pytest

from kubectl_policy import Analysis, EffectivePolicy, MergeStrategy, PolicyKindProfile, analyze
from kubectl_policy.model import GroupKind, Json, Resource
from kubectl_policy.profiles.fields import PolicyClass
from kubectl_policy.resolution import field_name, leaves
from kubectl_policy.resolution.merging import fold, merge
from tests import build
from tests.resolution.build import declares, layer, owners, set_by

ESTABLISHED: dict[str, Json] = {"both": 1, "established": 1}
CHALLENGER: dict[str, Json] = {"both": 2, "challenger": 2}
CHALLENGERS = [strategy.value for strategy in MergeStrategy]


@pytest.mark.parametrize("challenging", CHALLENGERS)
@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        pytest.param("None", {"both": (1, "e"), "established": (1, "e")}, id="None: established"),
        pytest.param("Atomic defaults", {"both": (2, "c"), "challenger": (2, "c")}, id="Atomic defaults: challenger"),
        pytest.param(
            "Atomic overrides", {"both": (1, "e"), "established": (1, "e")}, id="Atomic overrides: established"
        ),
        pytest.param(
            "Patch defaults",
            {"both": (2, "c"), "established": (1, "e"), "challenger": (2, "c")},
            id="Patch defaults: challenger onto established",
        ),
        pytest.param(
            "Strategic merge",
            {"both": (2, "c"), "established": (1, "e"), "challenger": (2, "c")},
            id="Strategic merge: challenger onto established, lists by their keys",
        ),
        pytest.param(
            "Patch overrides",
            {"both": (1, "e"), "established": (1, "e"), "challenger": (2, "c")},
            id="Patch overrides: established onto challenger",
        ),
    ],
)
class TestTheTable:
    """Of two specs, "the established one's strategy decides"."""

    def test_what_comes_out(self, strategy: str, expected: dict[str, tuple[Json, str]], challenging: str) -> None:
        """The row that the parameter's name quotes, whatever the challenger's own strategy is."""
        result = merge(layer(declares("e", ESTABLISHED, strategy)), layer(declares("c", CHALLENGER, challenging)))
        assert set_by(result.spec) == expected
        assert result.strategy == strategy

    def test_who_took_part(self, strategy: str, expected: dict[str, tuple[Json, str]], challenging: str) -> None:
        """Whoever set a field took part; only strategy None rejects ("Accepted=False, Conflicted")."""
        result = merge(layer(declares("e", ESTABLISHED, strategy)), layer(declares("c", CHALLENGER, challenging)))
        assert owners(result.members) == {name for _, name in expected.values()}
        assert owners(result.rejected) == ({"c"} if strategy == "None" else set())


def test_a_rejection_is_remembered_by_every_strategy() -> None:
    """What was refused below stays refused, whatever is merged over it."""
    below = merge(layer(declares("r", {}, "None")), layer(declares("x", {})))
    for strategy in CHALLENGERS[1:]:
        assert owners(merge(layer(declares("g", {}, strategy)), below).rejected) == {"x"}
    assert owners(merge(layer(declares("g", {}, "None")), below).rejected) == {"x", "r"}


class TestEmpty:
    full = layer(declares("full", {"a": 1}))
    hollow = layer(declares("hollow", {"b": 2}, empty=True))

    @pytest.mark.parametrize("strategy", CHALLENGERS[1:])
    def test_one_that_is_not_empty_challenges_as_ever(self, strategy: str) -> None:
        """Even an empty established one; what comes out of the two is empty only if both are, or nothing is left."""
        established = layer(declares("hollow", {"b": 2}, strategy, empty=True))
        merged = merge(established, self.full)
        assert merged.empty == (strategy == "Atomic overrides")
        assert owners(merged.members) >= ({"hollow"} if strategy == "Atomic overrides" else {"full"})

    def test_an_empty_challenger_does_not_replace(self) -> None:
        """Atomic defaults: the established one stays, and with it whether it is empty."""
        merged = merge(self.full, self.hollow)
        assert (set_by(merged.spec), owners(merged.members), merged.empty) == ({"a": (1, "full")}, {"full"}, False)
        assert merge(self.hollow, self.hollow).empty

    @pytest.mark.parametrize("strategy", ["Patch defaults", "Patch overrides", "Strategic merge"])
    def test_an_empty_challenger_takes_part_in_a_patch(self, strategy: str) -> None:
        merged = merge(layer(declares("full", {"a": 1}, strategy)), self.hollow)
        assert (set_by(merged.spec), merged.empty) == ({"a": (1, "full"), "b": (2, "hollow")}, False)
        assert merge(layer(declares("other", {}, strategy, empty=True)), self.hollow).empty

    def test_an_empty_one_that_refuses_stays_empty(self) -> None:
        below = merge(layer(declares("hollow", {"b": 2}, "None", empty=True)), self.full)
        assert (owners(below.members), owners(below.rejected), below.empty) == ({"hollow"}, {"full"}, True)
        assert owners(merge(self.full, below).members) == {"full"}

    def test_along_a_path(self) -> None:
        """Above and below an empty one the others settle it among themselves, in either direction."""
        parts = [declares("top", {"a": 1}), declares("middle", {"a": 2}), declares("hollow", {"b": 3}, empty=True)]
        assert owners(fold(parts, "bottom-up").members) == owners(fold(parts, "top-down").members) == {"middle"}


class TestFolding:
    """Bottom-up, nothing below can undo an override; top-down is the literal reading of the chart."""

    def test_top_down_an_override_is_for_its_own_fields(self) -> None:
        """The Gateway's defaults stay defaults, whatever the route overrides between them and the rule."""
        parts = [
            declares("gateway", {"a": 1, "b": 1}, "Patch defaults"),
            declares("route", {"b": 2, "c": 2}, "Patch overrides"),
            declares("rule", {"a": 3, "b": 3, "d": 3}, "Patch defaults"),
        ]
        expected = {"a": (3, "rule"), "b": (2, "route"), "c": (2, "route"), "d": (3, "rule")}
        assert set_by(fold(parts, "top-down").spec) == set_by(fold(parts, "bottom-up").spec) == expected

    def test_top_down_a_rejection_is_final(self) -> None:
        """Says: "After a rejection it keeps its own" strategy: an established None refuses everything below it."""
        parts = [declares("a", {"x": 1}, "None"), declares("b", {"x": 2}), declares("c", {"x": 3})]
        result = fold(parts, "top-down")
        assert (set_by(result.spec), owners(result.rejected)) == ({"x": (1, "a")}, {"b", "c"})

    def test_bottom_up_what_is_beaten_below_is_not_rejected_above(self) -> None:
        """The middle one is replaced before the first one refuses: only the last one is in conflict."""
        parts = [declares("a", {"x": 1}, "None"), declares("b", {"x": 2}), declares("c", {"x": 3})]
        result = fold(parts, "bottom-up")
        assert (set_by(result.spec), owners(result.rejected)) == ({"x": (1, "a")}, {"c"})

    def test_what_an_override_removes_stays_removed(self) -> None:
        """Whoever sets it below."""
        parts = [declares("top", {"m": None}, "Patch overrides"), declares("bottom", {"m": {"y": 2}})]
        assert set_by(fold(parts, "bottom-up").spec) == {"m": (None, "top")}


COLOR: Final = GroupKind("example.com", "ColorPolicy")
ON_GATEWAY: Final = build.target("g")
ON_ROUTE: Final = build.target("r", "HTTPRoute")


def world(*policies: Resource, profiles: Sequence[PolicyKindProfile] = ()) -> Analysis:
    """A Gateway, a route and a Service, with policies of a kind that has the shape of a policy kind."""
    hierarchy = (build.namespace("default"), build.gateway(), build.route(), build.service())
    return analyze(build.snapshot(*hierarchy, *policies), profiles=profiles)


def labelled(value: str) -> Resource:
    return build.crd("ColorPolicy", labels={"gateway.networking.k8s.io/policy": value})


def outcome(analysis: Analysis, name: str = "s", kind: str = "Service", group: str = "") -> EffectivePolicy:
    (path,) = analysis.topology.paths(build.node(kind, name, group=group))
    (effective,) = analysis.effective_on(path)
    return effective


def fields(analysis: Analysis) -> dict[str, str]:
    """The fields in the outcome, and who set each."""
    return {field_name(field): leaf.source.object.name for field, leaf in leaves(outcome(analysis).resolution.spec)}


def fates(analysis: Analysis) -> dict[str, str]:
    return {f"{fate.source.object.name}.{fate.field}": fate.state for fate in outcome(analysis).resolution.fates}


def states(analysis: Analysis, *names: str) -> list[str]:
    return [analysis.enforcement(build.ref("ColorPolicy", name, group="example.com")).state for name in names]


def on_two_levels(above: Mapping[str, Json], below: Mapping[str, Json], *more: Resource) -> Analysis:
    """A policy `a` on the Gateway and a policy `b` on the route."""
    return world(
        build.resource("ColorPolicy", "a", {"targetRef": ON_GATEWAY, **above}, group="example.com"),
        build.resource("ColorPolicy", "b", {"targetRef": ON_ROUTE, **below}, group="example.com"),
        *more,
    )


class TestDisjoint:
    def test_both_are_kept_and_neither_is_certain(self) -> None:
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
        assert states(on_two_levels({"one": 1}, {"two": 2}, labelled(label)), "a", "b") == ["Unknown", "Unknown"]

    @pytest.mark.parametrize("definition", [(), (labelled("direct"),)], ids=["shape", "direct"])
    def test_on_one_target(self, definition: Sequence[Resource]) -> None:
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
        analysis = on_two_levels(above, below)
        assert sorted(fields(analysis)) == left
        assert not outcome(analysis).resolution.doubts

    def test_a_strategy_that_only_the_nearer_one_says(self) -> None:
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
