"""Label selectors on the command line mean what they mean to kubectl."""

from __future__ import annotations

import pytest

from kubectl_policy.errors import UsageError
from kubectl_policy.model.selectors import parse_label_query, selects

LABELS = {"app": "baker", "tier": "web", "empty": "", "example.com/team": "bread", "in": "in"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("app=", None),
        ("app=baker,", "the end is where a label should be"),
        (",app", '"," is where a label should be'),
        ("app,,tier", '"," is where a label should be'),
        ("=baker", '"=" is where a label should be'),
        ("!", "the end is where a label should be"),
        ("app=baker=web", '"=" is where a comma or the end should be'),
        ("!app=baker", '"=" is where a comma or the end should be'),
        ("app=baker)", '")" is where a comma or the end should be'),
        ("app tier", '"tier" is where one of =, ==, !=, in, notin should be'),
        ("app > 5", '">" is where one of =, ==, !=, in, notin should be'),
        ("app in baker", '"baker" is where ( should be'),
        ("app in ()", '")" is where a value should be'),
        ("app in (baker", "the end is where a comma or ) should be"),
        ("app in (baker tier)", '"tier" is where a comma or ) should be'),
        ("app=(", '"(" is where a value should be'),
        ("app=-x", '"-x" is where a value should be'),
        (f"app={'x' * 64}", f'"{"x" * 64}" is where a value should be'),
        ("größe=1", '"größe" is where a label should be'),
        ("Example.com/app", '"Example.com/app" is where a label should be'),
    ],
)
def test_what_is_no_selector_is_refused(text: str, message: str | None) -> None:
    """With the place; an empty value is one, as for kubectl."""
    if message is None:
        assert parse_label_query(text) == {"matchExpressions": [{"key": "app", "operator": "In", "values": [""]}]}
        return
    with pytest.raises(UsageError) as error:
        parse_label_query(text)
    assert error.value.message == f'"{text}" is not a label selector: {message}'


@pytest.mark.parametrize(
    "text",
    [
        "app=till",
        "app!=baker",
        "gone",
        "!app",
        "app in (till,menu)",
        "app notin (till, baker)",
        "gone=",
        "gone in (,)",
        "empty!=",
        "app=baker,tier=db",
        "app=baker,app=till",
    ],
)
def test_a_selector_that_does_not_fit_selects_nothing(text: str) -> None:
    """Every requirement has to hold; a label that is absent is not empty."""
    assert not selects(parse_label_query(text), LABELS)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "app",
        "app=baker",
        "app==baker",
        " app = baker , tier ",
        "app!=till",
        "gone!=x",
        "!gone",
        "! gone,app",
        "app in (till,baker)",
        "empty in (,x)",
        "empty in (x,)",
        "empty in (x,,y)",
        "empty=,app",
        "gone notin (x)",
        "example.com/team=bread",
        "in in (in)",
    ],
)
def test_a_selector_that_fits_selects(text: str) -> None:
    """Equality, sets, presence and absence, with spaces wherever kubectl allows them."""
    assert selects(parse_label_query(text), LABELS)
