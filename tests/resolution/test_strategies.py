"""Merge strategies, as the table has them, and the two directions of folding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy import MergeStrategy
from kubectl_policy.resolution.merging import fold, merge
from tests.resolution.specs import declares, layer, names, set_by

if TYPE_CHECKING:
    from kubectl_policy.model import Json

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
        assert names(result.members) == {name for _, name in expected.values()}
        assert names(result.rejected) == ({"c"} if strategy == "None" else set())


def test_a_rejection_is_remembered_by_every_strategy() -> None:
    """What was refused below stays refused, whatever is merged over it."""
    below = merge(layer(declares("r", {}, "None")), layer(declares("x", {})))
    for strategy in CHALLENGERS[1:]:
        assert names(merge(layer(declares("g", {}, strategy)), below).rejected) == {"x"}
    assert names(merge(layer(declares("g", {}, "None")), below).rejected) == {"x", "r"}


class TestEmpty:
    """What counts as empty replaces nothing."""

    full = layer(declares("full", {"a": 1}))
    hollow = layer(declares("hollow", {"b": 2}, empty=True))

    @pytest.mark.parametrize("strategy", CHALLENGERS[1:])
    def test_one_that_is_not_empty_challenges_as_ever(self, strategy: str) -> None:
        """Even an empty established one; what comes out of the two is empty only if both are, or nothing is left."""
        established = layer(declares("hollow", {"b": 2}, strategy, empty=True))
        merged = merge(established, self.full)
        assert merged.empty == (strategy == "Atomic overrides")
        assert names(merged.members) >= ({"hollow"} if strategy == "Atomic overrides" else {"full"})

    def test_an_empty_challenger_does_not_replace(self) -> None:
        """Atomic defaults: the established one stays, and with it whether it is empty."""
        merged = merge(self.full, self.hollow)
        assert (set_by(merged.spec), names(merged.members), merged.empty) == ({"a": (1, "full")}, {"full"}, False)
        assert merge(self.hollow, self.hollow).empty

    @pytest.mark.parametrize("strategy", ["Patch defaults", "Patch overrides", "Strategic merge"])
    def test_an_empty_challenger_takes_part_in_a_patch(self, strategy: str) -> None:
        """With what it has besides."""
        merged = merge(layer(declares("full", {"a": 1}, strategy)), self.hollow)
        assert (set_by(merged.spec), merged.empty) == ({"a": (1, "full"), "b": (2, "hollow")}, False)
        assert merge(layer(declares("other", {}, strategy, empty=True)), self.hollow).empty

    def test_an_empty_one_that_refuses_stays_empty(self) -> None:
        """Defaults above it are not replaced by it."""
        below = merge(layer(declares("hollow", {"b": 2}, "None", empty=True)), self.full)
        assert (names(below.members), names(below.rejected), below.empty) == ({"hollow"}, {"full"}, True)
        assert names(merge(self.full, below).members) == {"full"}

    def test_along_a_path(self) -> None:
        """Above and below an empty one the others settle it among themselves, in either direction."""
        parts = [declares("top", {"a": 1}), declares("middle", {"a": 2}), declares("hollow", {"b": 3}, empty=True)]
        assert names(fold(parts, "bottom-up").members) == names(fold(parts, "top-down").members) == {"middle"}


class TestFolding:
    """Bottom-up, nothing below can undo an override; top-down is the literal reading of the chart."""

    def test_one_contribution_is_itself(self) -> None:
        """In both directions."""
        only = declares("p", {"a": 1})
        assert fold([only], "bottom-up") == fold([only], "top-down") == layer(only)

    def test_overrides_above_two_defaults(self) -> None:
        """Overrides (atomic) at the Gateway, defaults at the route, defaults at the rule: the directions differ."""
        parts = [
            declares("gateway", {"a": 1}, "Atomic overrides"),
            declares("route", {"a": 2}),
            declares("rule", {"a": 3}),
        ]
        assert set_by(fold(parts, "bottom-up").spec) == {"a": (1, "gateway")}
        assert set_by(fold(parts, "top-down").spec) == {"a": (3, "rule")}

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
        assert (set_by(result.spec), names(result.rejected)) == ({"x": (1, "a")}, {"b", "c"})

    def test_bottom_up_what_is_beaten_below_is_not_rejected_above(self) -> None:
        """The middle one is replaced before the first one refuses: only the last one is in conflict."""
        parts = [declares("a", {"x": 1}, "None"), declares("b", {"x": 2}), declares("c", {"x": 3})]
        result = fold(parts, "bottom-up")
        assert (set_by(result.spec), names(result.rejected)) == ({"x": (1, "a")}, {"c"})

    def test_patches_reach_through_all_levels(self) -> None:
        """Overrides from above, then defaults from below, field by field."""
        parts = [
            declares("top", {"a": 1, "b": 1}, "Patch overrides"),
            declares("middle", {"b": 2, "c": 2, "d": 2}, "Patch defaults"),
            declares("bottom", {"a": 3, "d": 3}, "Patch defaults"),
        ]
        assert set_by(fold(parts, "bottom-up").spec) == {
            "a": (1, "top"),
            "b": (1, "top"),
            "c": (2, "middle"),
            "d": (3, "bottom"),
        }

    def test_what_is_removed_does_not_come_back(self) -> None:
        """Not even where something else is set in its place further down."""
        parts = [
            declares("top", {"m": {"x": 1}}, "Patch defaults"),
            declares("middle", {"m": None}, "Patch defaults"),
            declares("bottom", {"m": {"y": 2}}),
        ]
        assert set_by(fold(parts, "bottom-up").spec) == set_by(fold(parts, "top-down").spec) == {"m.y": (2, "bottom")}

    def test_what_an_override_removes_stays_removed(self) -> None:
        """Whoever sets it below."""
        parts = [declares("top", {"m": None}, "Patch overrides"), declares("bottom", {"m": {"y": 2}})]
        assert set_by(fold(parts, "bottom-up").spec) == {"m": (None, "top")}
