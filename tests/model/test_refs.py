"""What rules are called, and which are the same in two states."""

from __future__ import annotations

import pytest

from kubectl_policy.model import Json
from kubectl_policy.model.refs import names_as_in, rule_names
from tests.build import route, rule


def test_rules_without_a_name_of_their_own_are_numbered() -> None:
    """An unnamed rule is `rule[i]`, and so is the second of two with one name."""
    found = route(rules=[rule(name="api"), rule(), rule(name="api")])
    assert rule_names(found.raw) == ("api", "rule[1]", "rule[2]")


def rules_of(word: str) -> dict[str, Json]:
    """A route with a rule for each letter that it matches; a capital one has that name."""
    found = [
        rule(matches=[{"path": {"value": f"/{letter.lower()}"}}], name=letter if letter.isupper() else "")
        for letter in word
    ]
    return dict(route(rules=found).raw)


@pytest.mark.parametrize(
    ("earlier", "later", "called"),
    [
        ("ab", "ab", "rule[0] rule[1]"),
        ("ab", "nab", "rule[1] rule[2]"),
        ("abc", "anbc", "rule[0] rule[2] rule[3]"),
        ("ab", "ba", "rule[1] rule[0]"),
        ("abc", "bc", "former rule[0] rule[0] rule[1]"),
        ("abc", "ac", "rule[0] former rule[1] rule[1]"),
        ("ab", "a", "rule[0] rule[1]"),
        ("ab", "ax", "rule[0] rule[1]"),
        ("ab", "xy", "rule[0] rule[1]"),
        ("ab", "xa", "rule[1] former rule[1]"),
        ("aa", "aaa", "rule[0] rule[1]"),
        ("aab", "baa", "rule[2] rule[1] rule[0]"),
        ("Ab", "bA", "A rule[0]"),
        ("Ab", "NAb", "A rule[2]"),
        ("a", "A", "rule[0]"),
        ("", "a", ""),
        ("a", "", "rule[0]"),
    ],
)
def test_the_same_rule_has_the_same_name(earlier: str, later: str, called: str) -> None:
    """By its matches, then by its place; what is no more keeps its own name, unless it is another rule's now."""
    assert " ".join(names_as_in(rules_of(later), rules_of(earlier))) == called
