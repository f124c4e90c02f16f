"""Expressions that select labels: those that a selector of labels can say, and those that are left alone."""

from __future__ import annotations

import time

import pytest

from kubectl_policy.model import Json
from kubectl_policy.model.selectors import selects
from kubectl_policy.network.expressions import parse_expression


def requirement(key: str, operator: str, *values: str) -> Json:
    if operator in {"Exists", "DoesNotExist"}:
        return {"key": key, "operator": operator}
    return {"key": key, "operator": operator, "values": list(values)}


@pytest.mark.parametrize(
    ("text", "requirements"),
    [
        ("all()", []),
        ("  all( )  ", []),
        ("app == 'web'", [requirement("app", "In", "web")]),
        ('app=="web"', [requirement("app", "In", "web")]),
        ("app != 'web'", [requirement("app", "NotIn", "web")]),
        ("!app == 'web'", [requirement("app", "NotIn", "web")]),
        ("! ! app != 'web'", [requirement("app", "NotIn", "web")]),
        ("!app != 'web'", [requirement("app", "In", "web")]),
        ("app in {'web', \"db\"}", [requirement("app", "In", "web", "db")]),
        ("app in{'web',}", [requirement("app", "In", "web")]),
        ("app in { }", [requirement("app", "In")]),
        ("app not in {'web'}", [requirement("app", "NotIn", "web")]),
        ("app notin {'web'}", [requirement("app", "NotIn", "web")]),
        ("! app not in {'web'}", [requirement("app", "In", "web")]),
        ("has(example.com/team)", [requirement("example.com/team", "Exists")]),
        ("!has( team )", [requirement("team", "DoesNotExist")]),
        ("has(a) && all() && b == 'c && d'", [requirement("a", "Exists"), requirement("b", "In", "c && d")]),
        # Names of operators are names of labels as well.
        ("in == 'x' && not != 'y'", [requirement("in", "In", "x"), requirement("not", "NotIn", "y")]),
    ],
)
def test_comparisons_that_are_joined_by_and(text: str, requirements: list[Json]) -> None:
    assert parse_expression(text) == {"matchExpressions": requirements}


def test_an_empty_expression_selects_everything() -> None:
    assert (parse_expression(""), parse_expression(" \t")) == ({}, {})


@pytest.mark.parametrize(
    "text",
    [
        # No selector of labels says the same.
        "app == 'web' || app == 'db'",
        "(app == 'web')",
        "app contains 'w'",
        "app starts with 'w'",
        "app ends with 'b'",
        "!all()",
        "global()",
        # Mistakes, and what is to be filled in.
        "app",
        "app = 'web'",
        "app == web",
        "app == 'web",
        "app == 'web' &&",
        "&& app == 'web'",
        "app == 'web' app == 'db'",
        "appin{'web'}",
        "app in 'web'",
        "app in {web}",
        "app in {,}",
        "has()",
        "has(a",
        "app == 'web'\n",
        "${SELECTOR}",
        f"app == '{'x' * 1024}'",
    ],
)
def test_everything_else_is_not_read(text: str) -> None:
    assert parse_expression(text) is None


def test_not_equal_also_means_absent() -> None:
    selector = parse_expression("app != 'web' && tier not in {'front'}")
    assert selector is not None
    assert selects(selector, {}) is True
    assert selects(selector, {"app": "web"}) is False


@pytest.mark.parametrize("text", ["! " * 500 + "x", "a" * 1000 + "!", "a in {" + "'b'," * 250, "'" * 1000])
def test_no_text_takes_long(text: str) -> None:
    start = time.process_time()
    assert parse_expression(text) is None
    assert time.process_time() - start < 1
