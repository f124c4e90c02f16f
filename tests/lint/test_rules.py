"""Every rule finds what is wrong in a world of its own, nothing where that is put right, and knows what it needs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from kubectl_policy.lint.rules import RULES
from tests.lint.examples import found_by, right_world, wrong_world

if TYPE_CHECKING:
    from kubectl_policy.lint.rule import Rule

every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)


@every_rule
def test_finds_nothing_where_all_is_right(rule: Rule) -> None:
    """First: what is in order is not found."""
    assert [finding.message for finding in found_by(rule, right_world(rule))] == []


@every_rule
def test_finds_what_is_wrong(rule: Rule) -> None:
    """With a message, and with a place to look at."""
    found = [finding for finding in found_by(rule, wrong_world(rule)) if finding.certain]
    assert found
    for finding in found:
        assert finding.message
        assert finding.origin


@every_rule
def test_is_not_certain_where_something_may_be_elsewhere(rule: Rule) -> None:
    """Open worlds give unknowns; what needs no more than the objects at hand is found in any."""
    found = found_by(rule, wrong_world(rule), complete=False)
    if "closed world" in rule.needs:
        assert found
        assert [finding.message for finding in found if finding.certain] == []
    else:
        assert [finding for finding in found if finding.certain]


@every_rule
def test_says_what_it_is_about(rule: Rule) -> None:
    """The documentation is made of it."""
    assert re.fullmatch(r"GWP\d{4}", rule.id)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    assert rule.summary.endswith(".")
    assert len(rule.explanation) > 80
    assert "Source: " in rule.explanation


def test_ids_and_names_are_each_given_once() -> None:
    """And rules stand in the order of their ids."""
    assert len({rule.id for rule in RULES}) == len({rule.name for rule in RULES}) == len(RULES)
    assert [rule.id for rule in RULES] == sorted(rule.id for rule in RULES)
