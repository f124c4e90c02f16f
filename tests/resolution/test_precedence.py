"""The order of policies on one target."""

from __future__ import annotations

from kubectl_policy.resolution.precedence import age_unknown, by_age, on_one_node
from tests.build import policy
from tests.resolution.specs import declares


def test_those_without_a_date_come_last_by_name() -> None:
    """A policy that was never created cannot be the oldest; names decide among its likes."""
    policies = [policy("b"), policy("a"), policy("z", age=9)]
    assert [found.ref.name for found in by_age(policies)] == ["z", "a", "b"]


def test_the_oldest_comes_first() -> None:
    """Whatever the names are."""
    assert [found.ref.name for found in by_age([policy("a", age=2), policy("z", age=1)])] == ["z", "a"]


def test_of_equal_age_the_first_in_the_alphabet_comes_first() -> None:
    """By `{namespace}/{name}`, as one text: `a-b/…` sorts before `a/…`."""
    policies = [policy("x", namespace="b", age=1), policy("y", namespace="a", age=1), policy("x", namespace="a", age=1)]
    assert [found.ref.qualified_name for found in by_age(policies)] == ["a/x", "a/y", "b/x"]
    assert [found.ref.namespace for found in by_age([policy("x", namespace="a"), policy("x", namespace="a-b")])] == [
        "a-b",
        "a",
    ]


def test_when_the_order_rests_on_names() -> None:
    """Only if there are two, and one has no date."""
    assert not age_unknown([])
    assert not age_unknown([policy("a")])
    assert not age_unknown([policy("a", age=1), policy("b", age=1)])
    assert age_unknown([policy("a", age=1), policy("b")])


def test_the_newer_one_challenges() -> None:
    """The order of age is the order of folding."""
    parts = [declares("old", {}), declares("new", {}, "Patch overrides")]
    assert on_one_node(parts, "newest-challenges") == parts


def test_the_first_created_wins() -> None:
    """Its overrides and refusals stand first, its defaults last."""
    old, new = declares("old", {}, "Patch overrides"), declares("new", {}, "Patch overrides")
    assert on_one_node([old, new], "first-wins") == [old, new]
    default_old, default_new = declares("old", {}), declares("new", {}, "Patch defaults")
    assert on_one_node([default_old, old, default_new, new], "first-wins") == [old, new, default_new, default_old]
    refuses_old, refuses_new = declares("old", {}, "None"), declares("new", {}, "None")
    assert on_one_node([refuses_old, refuses_new], "first-wins") == [refuses_old, refuses_new]
