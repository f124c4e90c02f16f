"""Merge contributions: folded by challenger, or by level and scope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

import pytest
from msgspec.structs import replace

from kubectl_policy import EffectivePolicy, MergeStrategy, PolicyKindProfile, TargetLevel, plain
from kubectl_policy.model import GroupKind, Json, NodeRef
from kubectl_policy.model.kind_roles import GATEWAY, HTTP_ROUTE
from kubectl_policy.profiles.merging import Inheritance, JointField, MergeScope, RouteChoice, Within
from kubectl_policy.resolution import Contribution
from kubectl_policy.resolution.merging import Layer, PathContext, fold_by_challenger, merge_by_level, merges_by_level
from tests.build import node
from tests.resolution.build import (
    UNSAID,
    brings,
    declares,
    fates,
    layer,
    listener_at,
    owners,
    refusing,
    resolve,
    set_by,
    source,
    superseders,
)

EVERY: Final = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "profile", chooser="challenger")
CLOSEST: Final = replace(EVERY, merges_with="closest")
PATCH: Final = "Patch defaults"
REPLACING: Final = ["Atomic defaults", "Atomic overrides", "Patch overrides", "None", "All apply"]


def three(top: str, middle: str, bottom: str) -> list[Contribution]:
    """A policy on the Gateway, one on the route, one on the rule, each with a strategy."""
    return [
        declares("top", {"all": 1, "upper": 1, "top": 1}, top),
        declares("middle", {"all": 2, "upper": 2, "lower": 2}, middle),
        declares("bottom", {"all": 3, "lower": 3, "bottom": 3}, bottom),
    ]


def outcome(merged: Layer) -> tuple[dict[str, str], set[str]]:
    """Who sets each field, and who took part."""
    return {field: who for field, (_, who) in set_by(merged.spec).items()}, owners(merged.members)


@pytest.mark.parametrize("profile", [EVERY, CLOSEST], ids=["every", "closest"])
class TestReplacing:
    """A challenger that does not patch leaves nothing of what is above it."""

    @pytest.mark.parametrize("strategy", REPLACING)
    def test_whatever_is_above_it(self, profile: PolicyKindProfile, strategy: str) -> None:
        """An established override is no more than another policy here, and nobody is refused."""
        merged = fold_by_challenger(three("Atomic overrides", "None", strategy), profile)
        assert outcome(merged) == ({"all": "bottom", "lower": "bottom", "bottom": "bottom"}, {"bottom"})
        assert merged.rejected == frozenset()

    def test_alone(self, profile: PolicyKindProfile) -> None:
        """What declares nothing is left is what it declares, even if it would patch."""
        only = declares("p", {"a": 1}, PATCH, empty=True)
        assert fold_by_challenger([only], profile) == layer(only)


@pytest.mark.parametrize("profile", [EVERY, CLOSEST], ids=["every", "closest"])
def test_an_empty_challenger_replaces_nothing(profile: PolicyKindProfile) -> None:
    """What is above it holds, as if it were not there; with nothing above it there is only what it declares."""
    *above, bottom = three(PATCH, PATCH, "Atomic defaults")
    hollow = replace(bottom, empty=True)
    assert fold_by_challenger([*above, hollow], profile) == fold_by_challenger(above, profile)
    assert fold_by_challenger([hollow], profile) == layer(hollow)
    assert owners(fold_by_challenger([*above, replace(hollow, strategy=above[0].strategy)], profile).members) >= {
        "bottom"
    }


class TestEvery:
    def test_all_of_them(self) -> None:
        assert outcome(fold_by_challenger(three(PATCH, PATCH, PATCH), EVERY)) == (
            {"all": "bottom", "upper": "middle", "top": "top", "lower": "bottom", "bottom": "bottom"},
            {"top", "middle", "bottom"},
        )

    def test_one_above_it_that_replaces(self) -> None:
        """Each one chooses for itself: of the topmost nothing is left."""
        assert outcome(fold_by_challenger(three(PATCH, "Atomic defaults", "Strategic merge"), EVERY)) == (
            {"all": "bottom", "upper": "middle", "lower": "bottom", "bottom": "bottom"},
            {"middle", "bottom"},
        )


class TestClosest:
    @pytest.mark.parametrize("middle", [PATCH, "Strategic merge", *REPLACING])
    def test_whatever_that_one_chooses_for_itself(self, middle: str) -> None:
        """No chains: what is above the closest one does not come down."""
        assert outcome(fold_by_challenger(three(PATCH, middle, PATCH), CLOSEST)) == (
            {"all": "bottom", "upper": "middle", "lower": "bottom", "bottom": "bottom"},
            {"middle", "bottom"},
        )


class TestMergeParents:
    """Levels with which a kind merges; a policy elsewhere is passed over."""

    gateways: Final = (TargetLevel(GATEWAY),)

    @staticmethod
    def _parts(middle: str) -> list[Contribution]:
        parts = three(PATCH, middle, PATCH)
        places = (node("Gateway", "g"), node("HTTPRoute", "r"), node("HTTPRoute", "r", "rule[0]"))
        return [replace(part, source=replace(part.source, target=at)) for part, at in zip(parts, places, strict=True)]

    def test_nobody_is_on_such_a_level(self) -> None:
        elsewhere = replace(EVERY, merge_parents=(TargetLevel(GATEWAY, section=True),))
        for profile in (elsewhere, replace(elsewhere, merges_with="closest")):
            assert owners(fold_by_challenger(self._parts(PATCH), profile).members) == {"bottom"}

    @pytest.mark.parametrize("middle", [PATCH, "Atomic defaults"])
    def test_the_one_between_is_passed_over(self, middle: str) -> None:
        """A rule merges with the Gateway's policy, not with the route's."""
        for profile in (EVERY, CLOSEST):
            merged = fold_by_challenger(self._parts(middle), replace(profile, merge_parents=self.gateways))
            assert owners(merged.members) == {"top", "bottom"}

    def test_any_of_several_levels(self) -> None:
        levels = (TargetLevel(GATEWAY), TargetLevel(HTTP_ROUTE))
        assert owners(fold_by_challenger(self._parts(PATCH), replace(CLOSEST, merge_parents=levels)).members) == {
            "middle",
            "bottom",
        }


def test_the_profile_says_who_chooses() -> None:
    """An established override beats its challengers, and not where these choose; no direction is in doubt then."""
    parts = tuple(three("Atomic overrides", "Atomic defaults", "Atomic defaults"))
    path = (node("HTTPRoute", "r"),)
    theirs = resolve(path, EVERY, parts)
    assert theirs.resolution.policies_in_force == {parts[2].source.object}
    assert theirs.resolution.doubts == frozenset()
    ours = resolve(path, replace(EVERY, chooser="established"), parts)
    assert ours.resolution.policies_in_force == {parts[0].source.object}
    assert ours.resolution.doubts == {"fold direction"}


def test_many_challengers() -> None:
    """More than a call could be nested in another one."""
    parts = [declares(f"p{number}", {f"f{number}": number}, PATCH) for number in range(1500)]
    assert len(fold_by_challenger(parts, EVERY).members) == len(parts)


Policy: TypeAlias = "tuple[str, NodeRef, Mapping[str, Json]]"

CLASS, GATEWAY_G, LISTENER = node("GatewayClass", "c"), node("Gateway", "g"), node("Gateway", "g", "l")
TOP, TOP_RULE = node("HTTPRoute", "top"), node("HTTPRoute", "top", "rule[0]")
LOW, LOW_RULE = node("HTTPRoute", "low"), node("HTTPRoute", "low", "rule[0]")
PATH: Final = (CLASS, GATEWAY_G, LISTENER, TOP, TOP_RULE, LOW, LOW_RULE)
PATCHING: Final = replace(UNSAID, strategy=MergeStrategy.PATCH_DEFAULTS, same_level="first-wins", stanzas="none")
ON_ROUTES: Final = MergeScope((TargetLevel(HTTP_ROUTE), TargetLevel(HTTP_ROUTE, section=True)))
ON_LISTENERS: Final = MergeScope((TargetLevel(GATEWAY, section=True),), frozenset({"HTTP"}))
BY_ROUTES: Final = RouteChoice("example.com/inherit", {})


def sharing(
    *joints: JointField, scopes: tuple[MergeScope, ...] = (), strategy: MergeStrategy = MergeStrategy.PATCH_DEFAULTS
) -> PolicyKindProfile:
    return replace(PATCHING, joint_fields=joints, scopes=scopes, strategy=strategy)


def at_low(
    profile: PolicyKindProfile,
    *policies: Policy,
    protocol: str = "HTTPS",
    choices: dict[NodeRef, Inheritance] | None = None,
) -> EffectivePolicy:
    """What policies amount to at the rule of the lower route, given from the root on, and of one node as they fold."""
    parts = tuple(brings(name, spec, where, profile) for name, where, spec in policies)
    said = {route.object: choice for route, choice in (choices or {}).items()}
    return resolve(PATH, profile, parts, PathContext(listener=listener_at(LISTENER, protocol), choices=said))


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        (PATCHING, False),
        (replace(PATCHING, same_level="all-apply"), True),
        (sharing(JointField(field="a", within=("level",))), True),
        (sharing(scopes=(ON_ROUTES,)), True),
        (replace(PATCHING, route_choice=BY_ROUTES), True),
    ],
)
def test_which_kinds_are_merged_by_levels(profile: PolicyKindProfile, *, expected: bool) -> None:
    """Those with something that only levels and scopes can say."""
    assert merges_by_level(profile) == expected


class TestLevels:
    """A level is a route with its rules, or all that stands together elsewhere."""

    a: Final[Mapping[str, Json]] = {"f": ["a"], "m": {"x": 1, "y": 1}}
    b: Final[Mapping[str, Json]] = {"f": ["b"], "m": {"y": 2}}

    @pytest.mark.parametrize(
        ("above", "below", "within", "together"),
        [
            (GATEWAY_G, LISTENER, "level", True),
            (CLASS, GATEWAY_G, "level", True),
            (TOP, TOP_RULE, "level", True),
            (GATEWAY_G, TOP, "level", False),
            (TOP, LOW, "level", False),
            (TOP_RULE, LOW_RULE, "level", False),
            (GATEWAY_G, LISTENER, "levels", False),
            (LOW, LOW_RULE, "levels", False),
            (GATEWAY_G, TOP, "levels", True),
            (TOP, LOW, "levels", True),
            (TOP_RULE, LOW_RULE, "levels", True),
            (GATEWAY_G, LOW, "scopes", False),
        ],
    )
    def test_who_shares_a_field(self, above: NodeRef, below: NodeRef, within: Within, *, together: bool) -> None:
        """The nearer one's comes first; other fields are merged field by field."""
        found = at_low(sharing(JointField(field="f", within=(within,))), ("a", above, self.a), ("b", below, self.b))
        assert plain(found.resolution.spec) == {"f": ["b", "a"] if together else ["b"], "m": {"x": 1, "y": 2}}
        assert owners(found.resolution.members) == {"a", "b"}
        fate = fates(found)
        entry = 'f["default/a[0]"]'
        assert fate["a", entry].state == ("effective" if together else "superseded")
        assert superseders(fate["a", entry]) == (set() if together else {"b"})
        assert superseders(fate["a", "m.y"]) == {"b"}

    def test_a_map_comes_whole_or_by_its_fields(self) -> None:
        """Without more a joint field that is a map stands beside those of others; elsewhere it is a unit."""
        beside = at_low(sharing(JointField(field="m", within=("level",))), ("a", TOP, self.a), ("b", TOP_RULE, self.b))
        assert plain(beside.resolution.spec)["m"] == [{"y": 2}, {"x": 1, "y": 1}]
        whole = at_low(
            sharing(JointField(field="m", within=("scopes",), by="*")), ("a", TOP, self.a), ("b", TOP_RULE, self.b)
        )
        assert plain(whole.resolution.spec)["m"] == {"y": 2}
        assert superseders(fates(whole)["a", "m.x"]) == {"b"}
        by_field = at_low(
            sharing(JointField(field="m", within=("level",), by="*")), ("a", TOP, self.a), ("b", TOP_RULE, self.b)
        )
        assert set_by(by_field.resolution.spec)["m.x"] == (1, "a")

    def test_unless_two_of_a_level_disagree(self) -> None:
        joint = JointField(field="m", within=("level", "levels"), by="*", unless=("y",))
        for where, expected in ((LOW, {"y": 2}), (TOP, {"x": 1, "y": 2})):
            found = at_low(sharing(joint), ("a", where, self.a), ("b", LOW_RULE, self.b))
            assert plain(found.resolution.spec)["m"] == expected

    def test_where_the_one_further_up_wins(self) -> None:
        profile = sharing(JointField(field="f", within=("level", "levels")), strategy=MergeStrategy.PATCH_OVERRIDES)
        for below in (LISTENER, TOP):
            found = at_low(profile, ("a", GATEWAY_G, self.a), ("b", below, self.b))
            assert plain(found.resolution.spec) == {"f": ["a", "b"], "m": {"x": 1, "y": 1}}

    def test_nested_shared_fields(self) -> None:
        """The outer one's fields are not lost for the sake of the inner one."""
        joints = (
            JointField(field="m", within=("level", "levels"), by="*"),
            JointField(field="m.l", within=("level", "levels")),
        )
        specs: tuple[dict[str, Json], ...] = ({"m": {"l": [1], "x": 1, "y": 1}}, {"m": {"l": [2], "y": 2}})
        for where in (TOP, LOW):
            found = at_low(sharing(*joints), ("a", where, specs[0]), ("b", LOW_RULE, specs[1]))
            assert plain(found.resolution.spec) == {"m": {"l": [2, 1], "x": 1, "y": 2}}

    def test_an_inner_field_of_one_that_comes_whole(self) -> None:
        profile = sharing(JointField(field="m", within=("level",), by="*"), JointField(field="m.l", within=("levels",)))
        found = at_low(profile, ("a", TOP, {"m": {"l": [1], "x": 1}}), ("b", LOW, {"m": {"l": [2]}}))
        assert plain(found.resolution.spec) == {"m": {"l": [2]}}


class TestStrategies:
    policies: Final[tuple[Policy, ...]] = (
        ("a", GATEWAY_G, {"x": 1, "y": 1}),
        ("b", TOP, {"y": 2}),
        ("c", TOP_RULE, {"z": 3}),
    )

    @pytest.mark.parametrize(
        ("strategy", "expected", "members", "rejected"),
        [
            (MergeStrategy.PATCH_DEFAULTS, {"x": 1, "y": 2, "z": 3}, "abc", ""),
            (MergeStrategy.PATCH_OVERRIDES, {"x": 1, "y": 1, "z": 3}, "abc", ""),
            (MergeStrategy.ATOMIC_DEFAULTS, {"y": 2, "z": 3}, "bc", ""),
            (MergeStrategy.ATOMIC_OVERRIDES, {"x": 1, "y": 1}, "a", ""),
            (MergeStrategy.NONE, {"x": 1, "y": 1}, "a", "bc"),
        ],
    )
    def test_of_the_kind(self, strategy: MergeStrategy, expected: dict[str, Json], members: str, rejected: str) -> None:
        """As for two policies that are folded."""
        found = at_low(sharing(JointField(field="f", within=("level",)), strategy=strategy), *self.policies)
        assert plain(found.resolution.spec) == expected
        assert (owners(found.resolution.members), owners(found.resolution.rejected)) == (set(members), set(rejected))
        for fate in found.resolution.fates:
            assert (fate.state == "effective") == (not fate.superseded_by)
            assert (fate.state == "rejected") == (fate.source.object.name in rejected)

    def test_all_on_a_level_apply(self) -> None:
        """And those of a nearer level replace them; one policy alone has its settings below its name as well."""
        profile = replace(PATCHING, same_level="all-apply", strategy=MergeStrategy.ATOMIC_DEFAULTS)
        found = at_low(profile, *self.policies)
        assert plain(found.resolution.spec) == {"default/c": {"z": 3}, "default/b": {"y": 2}}
        assert superseders(fates(found)["a", '["default/a"].x']) == {"b", "c"}
        assert plain(at_low(profile, self.policies[0]).resolution.spec) == {"default/a": {"x": 1, "y": 1}}
        both = at_low(profile, ("a", GATEWAY_G, {}), ("b", GATEWAY_G, {"x": 1}))
        assert plain(both.resolution.spec) == {"default/b": {"x": 1}, "default/a": {}}

    def test_a_level_of_empty_policies_replaces_none(self) -> None:
        profile = replace(
            PATCHING, same_level="all-apply", strategy=MergeStrategy.ATOMIC_DEFAULTS, empty_without="about"
        )
        found = at_low(profile, ("a", GATEWAY_G, {"about": 1}), ("b", TOP, {"y": 2}))
        assert plain(found.resolution.spec) == {"default/a": {"about": 1}}
        other = at_low(profile, ("a", GATEWAY_G, {"about": 1}), ("b", TOP, {"y": 2}), ("c", TOP, {"about": 2}))
        assert plain(other.resolution.spec) == {"default/c": {"about": 2}, "default/b": {"y": 2}}


class TestRouteChoice:
    """A route says how its policies meet those on the routes that it leads to."""

    joint = JointField(field="f", within=("level", "levels"))
    policies: Final[tuple[Policy, ...]] = (
        ("g", GATEWAY_G, {"f": ["g"], "x": 0, "z": 0}),
        ("a", TOP, {"f": ["a"], "x": 1, "y": 1}),
        ("b", LOW_RULE, {"f": ["b"], "y": 2}),
    )

    @pytest.mark.parametrize(
        ("choice", "shared", "y"),
        [
            (None, ["b"], 2),
            (Inheritance(MergeStrategy.PATCH_DEFAULTS), ["b"], 2),
            (Inheritance(MergeStrategy.PATCH_OVERRIDES), ["a"], 1),
            (Inheritance(MergeStrategy.PATCH_DEFAULTS, MergeStrategy.PATCH_DEFAULTS), ["b", "a"], 2),
            (Inheritance(MergeStrategy.PATCH_DEFAULTS, MergeStrategy.PATCH_OVERRIDES), ["a", "b"], 2),
            (Inheritance(MergeStrategy.PATCH_OVERRIDES, MergeStrategy.PATCH_DEFAULTS), ["b", "a"], 1),
        ],
    )
    def test_by_its_value(self, choice: Inheritance | None, shared: list[str], y: int) -> None:
        """JointField fields are put together only where it says so; what is above the route is not its to say."""
        profile = replace(sharing(self.joint), route_choice=BY_ROUTES)
        found = at_low(profile, *self.policies, choices={TOP: choice} if choice else {})
        assert plain(found.resolution.spec) == {"f": shared, "x": 1, "y": y, "z": 0}

    def test_the_choice_of_a_route_that_leads_nowhere_says_nothing(self) -> None:
        profile = replace(sharing(self.joint), route_choice=BY_ROUTES)
        deep = Inheritance(MergeStrategy.PATCH_OVERRIDES, MergeStrategy.PATCH_DEFAULTS)
        assert plain(at_low(profile, *self.policies, choices={LOW: deep}).resolution.spec)["f"] == ["b"]

    def test_as_a_whole(self) -> None:
        """A route may let those further down replace all that it says, and what is above it stays."""
        profile = replace(PATCHING, route_choice=BY_ROUTES)
        found = at_low(profile, *self.policies, choices={TOP: Inheritance(MergeStrategy.ATOMIC_DEFAULTS)})
        assert set_by(found.resolution.spec) == {"f": (["b"], "b"), "y": (2, "b"), "x": (0, "g"), "z": (0, "g")}

    def test_of_some_fields(self) -> None:
        """The others go by the strategy of the kind; a field is known in any case of its letters."""
        profile = replace(PATCHING, route_choice=BY_ROUTES, strategy=MergeStrategy.PATCH_OVERRIDES)
        above: Policy = ("a", TOP, {"o": {"Cors": {"p": 1}, "retries": 1, "only": {"a": 1}}, "z": 1})
        below: Policy = ("b", LOW, {"o": {"Cors": {"q": 2}, "retries": 2, "new": 2}, "z": 2})
        chosen = frozenset({("o", "cors"), ("o", "only"), ("o", "new"), ("o", "ghost"), ("y",)})
        choice = Inheritance(MergeStrategy.PATCH_DEFAULTS, None, chosen)
        found = at_low(profile, above, below, choices={TOP: choice})
        assert plain(found.resolution.spec) == {
            "o": {"Cors": {"q": 2}, "retries": 1, "only": {"a": 1}, "new": 2},
            "z": 1,
        }
        assert superseders(fates(found)["a", "o.Cors.p"]) == {"b"}
        assert superseders(fates(found)["b", "o.retries"]) == {"a"}
        without = at_low(profile, above, below, choices={TOP: replace(choice, fields=frozenset())})
        assert without.resolution.spec == at_low(profile, above, below).resolution.spec

    def test_three_routes_on_a_path(self) -> None:
        last = node("HTTPRoute", "last")
        profile = replace(sharing(), route_choice=BY_ROUTES)
        for choices, expected in (
            ({}, "c"),
            ({TOP: Inheritance(MergeStrategy.PATCH_OVERRIDES)}, "a"),
            ({LOW: Inheritance(MergeStrategy.PATCH_OVERRIDES)}, "b"),
        ):
            found = at_low(
                profile, ("a", TOP, {"x": "a"}), ("b", LOW, {"x": "b"}), ("c", last, {"x": "c"}), choices=choices
            )
            assert plain(found.resolution.spec) == {"x": expected}


class TestScopes:
    """Policies are merged within a scope first, and only the outcomes of scopes meet."""

    profile = sharing(
        JointField(field="f", within=("scopes",)),
        JointField(field="h", within=("level", "levels")),
        scopes=(ON_ROUTES, ON_LISTENERS),
    )
    policies: Final[tuple[Policy, ...]] = (
        ("g", GATEWAY_G, {"f": ["g"], "h": ["g"], "x": 0}),
        ("l", LISTENER, {"f": ["l"], "h": ["l"], "y": 1}),
        ("t", TOP, {"f": ["t"], "h": ["t"], "x": 2}),
        ("r", LOW, {"f": ["r"], "h": ["r"], "z": 3}),
    )

    def test_a_scope_below_listeners_of_a_protocol(self) -> None:
        """Below HTTP a listener is a scope of its own, below HTTPS its Gateway's."""
        http = at_low(self.profile, *self.policies, protocol="HTTP")
        assert plain(http.resolution.spec) == {"f": ["r", "l", "g"], "h": ["r", "t"], "x": 2, "y": 1, "z": 3}
        assert [owners(scope.members) for scope in http.resolution.scopes] == [{"g"}, {"l"}, {"t", "r"}]
        https = at_low(self.profile, *self.policies)
        assert plain(https.resolution.spec) == {"f": ["r", "l"], "h": ["r", "t"], "x": 2, "y": 1, "z": 3}
        assert [plain(scope.spec) for scope in https.resolution.scopes] == [
            {"f": ["l"], "h": ["l", "g"], "x": 0, "y": 1},
            {"f": ["r"], "h": ["r", "t"], "x": 2, "z": 3},
        ]
        assert owners(https.resolution.members) == set("gltr")

    def test_without_a_listener_there_is_no_protocol(self) -> None:
        parts = [brings(name, spec, where, self.profile) for name, where, spec in self.policies[:2]]
        found = merge_by_level(parts, self.profile, PathContext())
        assert [owners(scope.members) for scope in found.scopes] == [{"g", "l"}]

    def test_what_is_on_no_level_is_the_last_scope(self) -> None:
        service = ("s", node("Service", "s", group=""), {"x": 4})
        found = at_low(self.profile, *self.policies[2:3], service)
        assert set_by(found.resolution.spec)["x"] == (2, "t")
        assert superseders(fates(found)["s", "x"]) == {"t"}

    def test_all_refused(self) -> None:
        """Nothing is left, and no scope."""
        parts = tuple(brings(name, spec, where, self.profile) for name, where, spec in self.policies[:1])
        found = resolve(PATH, self.profile, parts, refusing(source("other"), parts[0].source))
        assert (found.resolution.spec, found.resolution.members, found.resolution.scopes) == ({}, frozenset(), ())
        assert {fate.state for fate in found.resolution.fates} == {"rejected"}
