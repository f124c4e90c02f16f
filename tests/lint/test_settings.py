"""Which rules count, how bad what they find is, and what fails."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy.lint.rules import RULES
from kubectl_policy.lint.settings import LintSettings

if TYPE_CHECKING:
    from kubectl_policy.model import Severity

BY_ID = {rule.id: rule for rule in RULES}
FIRST, UNKNOWN = BY_ID["GWP1001"], BY_ID["GWP0008"]
BLINDING = {rule.id for rule in RULES if rule.blinds}
ALWAYS = {UNKNOWN.id, *BLINDING}


def checked(**settings: Any) -> set[str]:  # noqa: ANN401 (of any type)
    """The ids of rules that are checked."""
    return {rule.id for rule in RULES if rule.is_checked(LintSettings(**settings))}


@pytest.mark.parametrize("name", ["GWP1001", "target-not-found", "GWP1", "GWP", "GWP100"])
def test_names_of_a_rule(name: str) -> None:
    """Its id, its name, and the beginnings of its id."""
    assert FIRST.is_called(name)


@pytest.mark.parametrize("name", ["", "GWP2", "GWP10011", "target", "gwp1001", "G", "target_not_found"])
def test_what_is_no_name_of_it(name: str) -> None:
    """Is less or more, or written otherwise."""
    assert not FIRST.is_called(name)


class TestSelection:
    """Which rules are checked."""

    def test_all_of_them(self) -> None:
        """If nothing is said."""
        assert checked() == set(BY_ID)

    def test_what_is_ignored(self) -> None:
        """Is not checked, nor what is off."""
        assert checked(ignored=("target-not-found",)) == set(BY_ID) - {"GWP1001"}
        assert checked(ignored=("GWP",)) == set()
        assert checked(severities={"GWP1001": "off"}) == set(BY_ID) - {"GWP1001"}

    def test_what_is_selected(self) -> None:
        """It alone is checked, and whether there are such rules, and all was linted."""
        assert checked(selected=("GWP1001",)) == {*ALWAYS, "GWP1001"}
        assert checked(selected=("GWP1O01",)) == ALWAYS
        assert checked(selected=("GWP1001",), ignored=("unknown-rule-id",)) == {*BLINDING, "GWP1001"}
        assert checked(selected=("GWP1001",), severities={"GWP0008": "off"}) == {*BLINDING, "GWP1001"}
        assert checked(selected=("GWP1001",), ignored=("GWP0",)) == {"GWP1001"}

    def test_the_more_exact_name_counts(self) -> None:
        """Of names as exact, what is ignored is."""
        assert checked(selected=("GWP1001", "GWP4"), ignored=("GWP1",)) >= {"GWP1001", "GWP4001"}
        assert "GWP1001" not in checked(selected=("GWP1",), ignored=("GWP1001",))
        assert "GWP1001" not in checked(selected=("GWP1001",), ignored=("target-not-found",))

    @given(st.lists(st.sampled_from(["GWP1", "GWP4", "GWP1001", "target-not-found", "no-rule", "GWP"]), min_size=1))
    def test_what_is_ignored_is_not_checked_unless_it_is_selected(self, names: list[str]) -> None:
        """Whatever the names are: the two are each other's opposite."""
        selected, left = checked(selected=tuple(names)), checked(ignored=tuple(names))
        assert selected | left == set(BY_ID)
        assert selected & left <= ALWAYS


class TestSeverities:
    """How bad it is what rules find."""

    @pytest.mark.parametrize(
        ("severities", "expected"),
        [
            ({}, None),
            ({"GWP2": "info"}, None),
            ({"GWP1": "info"}, "info"),
            ({"GWP1001": "info", "GWP1": "warning"}, "info"),
            ({"GWP10": "info", "GWP1": "warning"}, "info"),
            ({"target-not-found": "info", "GWP100": "off"}, "info"),
            ({"target-not-found": "info", "GWP1001": "off"}, None),
        ],
    )
    def test_the_most_exact_name_counts(self, severities: dict[str, Any], expected: str | None) -> None:
        """Of names as exact, the last one."""
        assert FIRST.severity_in(LintSettings(severities=severities)) == expected

    @pytest.mark.parametrize(
        ("severity", "least", "fail_on", "shown", "fails"),
        [
            ("error", "error", "error", True, True),
            ("error", "info", "never", True, False),
            ("warning", "error", "warning", False, True),
            ("info", "info", "warning", True, False),
            ("info", "warning", "info", False, True),
        ],
    )
    def test_thresholds(self, severity: Severity, least: Any, fail_on: Any, *, shown: bool, fails: bool) -> None:  # noqa: ANN401 (words)
        """What is shown, and what fails, are two things."""
        settings = LintSettings(least=least, fail_on=fail_on)
        assert (settings.shows(severity), settings.fails(severity)) == (shown, fails)


def test_the_day() -> None:
    """Is only known if somebody says it."""
    assert LintSettings().today is None
    assert LintSettings(now=datetime(2026, 12, 31, 23, 59, tzinfo=UTC)).today == date(2026, 12, 31)
