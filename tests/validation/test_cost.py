"""The most that a rule can cost: never less than what it does cost."""

from __future__ import annotations

import pytest

from kubectl_policy.validation.expressions import TEXT, Size, cost_of_pattern, cost_of_rule, size_of

SMALL = Size(10, 5, 10)


def test_sizes() -> None:
    """Of everything in a value."""
    assert size_of(1) == Size(1, 0, 0)
    assert size_of("x" * 160) == Size(11, 0, 160)
    assert size_of(["a", [1, 2, 3], {"k": b"bytes"}]) == Size(15, 3, 5)


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ("true", "self.all(a, a)"),
        ("self.all(a, a)", "self.all(a, self.all(b, a))"),
        ("self.all(a, a == 1)", "self.all(a, a == 1 && self == [1])"),
        ("self.all(a, a)", "self.map(a, a + a).all(a, a)"),
        ("self.map(a, a + a)", "self.map(a, a + a).map(a, a + a)"),
        ("self.map(a, a)", "self.map(a, [a, a, a])"),
        ("self.map(a, ['x', 'y', 'z'])", "self.map(a, [a, self, a])"),
        ("self.contains('x')", "self.replace('x', 'y')"),
        ("self.contains('xxxxx')", "self.matches('xxxxx')"),
        ("self.matches('x{2}')", "self.matches('x{9}')"),
        ("self.matches('(x){9}')", "self.matches('(x{9}){9}')"),
        ("self.contains('').all(a, a)", "self.split('').all(a, a == 'xx')"),
        ("'self.all(a, self.all(b, a + a + a))' == ''", "self.all(a, a == a)"),
    ],
)
def test_what_costs_more(less: str, more: str) -> None:
    """Loops, most of all in loops; what makes values larger; and what is in quotes costs nothing."""
    assert cost_of_rule(less, SMALL) < cost_of_rule(more, SMALL)


def test_what_grows_beyond_measure() -> None:
    """No value is small enough for it."""
    assert cost_of_rule("self" + " + self" * 100, SMALL) > 10**15
    assert cost_of_rule("self" + ".replace('', self)" * 3, SMALL) > 10**15


def test_loops_end() -> None:
    """The library counts their steps."""
    nested = "self.all(a, self.all(b, self.all(c, self.all(d, self.all(e, true)))))"
    assert cost_of_rule(nested, Size(10**6, 10**6, 0)) < 10**13


def test_unbalanced_signs() -> None:
    """What does not parse is not evaluated, and costs no error before."""
    assert cost_of_rule(")))]]}}],,,.all((([[{", SMALL) > 0


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("'a' + \"b\"", '"" + ""'),
        (r"'a\'b' + c", '"" + c'),
        (r"r'a\' + c", '"" + c'),
        ("'''a'b''' + c", '"" + c'),
        ('"""a"b""" + c', '"" + c'),
        ("r'''\\''' + c", '"" + c'),
        ("'a", "'a"),
    ],
)
def test_text_in_a_rule(rule: str, code: str) -> None:
    """In single and double quotes, once or three times, raw or not."""
    assert TEXT.sub('""', rule) == code


def test_patterns() -> None:
    """By their length, what they repeat, and the length of the text."""
    assert cost_of_pattern("abc", 0) < cost_of_pattern("abc", 100) < cost_of_pattern("a{9}", 100)
    assert cost_of_pattern("(a{2}){2}", 1) == cost_of_pattern("(a{9}){9}", 1)
    assert cost_of_pattern("a{99999}", 1) == 8 * 1000 * 20
