"""Where the challenger chooses: it replaces what is above it, or patches all of it, or the closest policy alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, TargetLevel
from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import GATEWAY, HTTP_ROUTE
from kubectl_policy.resolution.merging import fold_by_challenger
from tests.build import node
from tests.resolution.outcomes import resolve
from tests.resolution.specs import declares, layer, names, set_by

if TYPE_CHECKING:
    from kubectl_policy.resolution import Contribution
    from kubectl_policy.resolution.merging import Layer

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
    return {field: who for field, (_, who) in set_by(merged.spec).items()}, names(merged.members)


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
    assert names(fold_by_challenger([*above, replace(hollow, strategy=above[0].strategy)], profile).members) >= {
        "bottom"
    }


class TestEvery:
    """A challenger that patches all that is above it."""

    def test_all_of_them(self) -> None:
        """The closest one patches the one above it in turn."""
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
    """A challenger that patches the closest policy alone."""

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
        """Then it stands alone."""
        elsewhere = replace(EVERY, merge_parents=(TargetLevel(GATEWAY, section=True),))
        for profile in (elsewhere, replace(elsewhere, merges_with="closest")):
            assert names(fold_by_challenger(self._parts(PATCH), profile).members) == {"bottom"}

    @pytest.mark.parametrize("middle", [PATCH, "Atomic defaults"])
    def test_the_one_between_is_passed_over(self, middle: str) -> None:
        """A rule merges with the Gateway's policy, not with the route's."""
        for profile in (EVERY, CLOSEST):
            merged = fold_by_challenger(self._parts(middle), replace(profile, merge_parents=self.gateways))
            assert names(merged.members) == {"top", "bottom"}

    def test_any_of_several_levels(self) -> None:
        """The closest of them."""
        levels = (TargetLevel(GATEWAY), TargetLevel(HTTP_ROUTE))
        assert names(fold_by_challenger(self._parts(PATCH), replace(CLOSEST, merge_parents=levels)).members) == {
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
