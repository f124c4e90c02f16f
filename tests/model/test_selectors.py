"""Label selectors: those of objects, as an API server selects, and those of the command line, as in kubectl."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kubectl_policy.errors import UsageError
from kubectl_policy.model import Json
from kubectl_policy.model.selectors import keys_of, parse_label_query, selects

LABELS = {"app": "baker", "tier": "web"}


def expression(key: Json, operator: Json, *values: Json) -> Mapping[str, Json]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    "selector",
    [
        {"matchLabels": {"app": "till"}},
        {"matchLabels": {"app": "baker", "zone": "a"}},
        {"matchLabels": {"app": 1}},
        expression("app", "In", "till"),
        expression("zone", "In", "a"),
        expression("app", "NotIn", "baker", "till"),
        expression("zone", "Exists"),
        expression("app", "DoesNotExist"),
        expression("app", "Near", "baker"),
        expression("app", None, "baker"),
        {"matchLabels": {"app": "baker"}, **expression("tier", "In", "db")},
    ],
    ids=str,
)
def test_not_selected(selector: Mapping[str, Json]) -> None:
    """One requirement that does not hold, or that cannot be read, is enough."""
    assert not selects(selector, LABELS)


@pytest.mark.parametrize(
    "selector",
    [
        {},
        {"matchLabels": {"app": "baker", "tier": "web"}},
        expression("app", "In", "till", "baker"),
        expression("app", "NotIn", "till"),
        expression("zone", "NotIn", "a"),
        expression("app", "Exists"),
        expression("zone", "DoesNotExist"),
        {"matchLabels": {"app": "baker"}, **expression("tier", "In", "web")},
    ],
    ids=str,
)
def test_selected(selector: Mapping[str, Json]) -> None:
    """Every requirement holds; an empty selector has none; NotIn holds of an absent key."""
    assert selects(selector, LABELS)


def test_the_keys_that_a_selector_asks_about() -> None:
    assert keys_of({"matchLabels": {"app": "x"}, **expression("tier", "Exists")}) == {"app", "tier"}


UNKNOWN = {"app": "${APP}", "tier": "web"}


@pytest.mark.parametrize(
    "selector",
    [
        {"matchLabels": {"app": "baker"}},
        {"matchLabels": {"app": "x-${X}", "tier": "web"}},
        expression("app", "In", "baker"),
        expression("app", "NotIn", "baker"),
        {"matchLabels": {"tier": "${T}"}},
        expression("tier", "${O}", "web"),
        {"matchLabels": {"${KEY}": "web"}},
        expression("${KEY}", "Exists"),
        expression("${KEY}", "DoesNotExist"),
    ],
    ids=str,
)
def test_what_is_to_be_filled_in_is_undecided(selector: Mapping[str, Json]) -> None:
    assert selects(selector, UNKNOWN) is None


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        ({"matchLabels": {"app": "${APP}"}}, True),
        ({"matchLabels": {"app": "baker", "tier": "db"}}, False),
        ({"matchLabels": {"zone": "${Z}"}}, False),
        (expression("app", "Exists"), True),
        (expression("app", "NotIn"), True),
        (expression("${KEY}", "In"), False),
    ],
    ids=str,
)
def test_what_is_known_all_the_same(selector: Mapping[str, Json], *, selected: bool) -> None:
    """Equal placeholders are equal, and one requirement that certainly fails is enough."""
    assert selects(selector, UNKNOWN) is selected


def test_a_label_whose_key_is_to_be_filled_in() -> None:
    """It may be any."""
    assert selects({"matchLabels": {"app": "baker"}}, {"${KEY}": "baker"}) is None
    assert selects({"matchLabels": {"app": "TIER_1"}}, {"app": "TIER_2"}) is False


QUERIED_LABELS = {**LABELS, "empty": "", "example.com/team": "bread", "in": "in"}


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
    assert not selects(parse_label_query(text), QUERIED_LABELS)


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
    assert selects(parse_label_query(text), QUERIED_LABELS)
