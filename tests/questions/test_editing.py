"""Edited copies: what they share, what they refuse, and what differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy.questions.why_not.edit import (
    GONE,
    Edit,
    FieldEdit,
    altered,
    changes,
    field_of,
    lines,
    steps,
    value_on,
)
from tests import build

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.questions.why_not.edit import Gone, Steps

ROUTE = build.route(hostnames=["a.example", "b.example", "c.example"], labels={"a/b.c": "d"})


def test_a_field_has_steps_and_they_have_words() -> None:
    """There and back again."""
    assert steps("spec.parentRefs[0].name") == ("spec", "parentRefs", 0, "name")
    assert field_of(("spec", "parentRefs", 0, "name")) == "spec.parentRefs[0].name"
    assert field_of(()) == ""


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (("spec", "hostnames", 1), "x", [FieldEdit(("spec", "hostnames", 1), ("b.example",), ("x",))]),
        (("spec", "hostnames", 1), GONE, [FieldEdit(("spec", "hostnames", 1), ("b.example",), ())]),
        (("spec", "hostnames", 3), "x", [FieldEdit(("spec", "hostnames", 3), (), ("x",))]),
        (
            ("spec", "hostnames"),
            GONE,
            [FieldEdit(("spec", "hostnames"), (["a.example", "b.example", "c.example"],), ())],
        ),
        (("spec", "new", "deep", 0, "x"), 1, [FieldEdit(("spec", "new"), (), ({"deep": [{"x": 1}]},))]),
        (("metadata", "labels", "a/b.c"), "e", [FieldEdit(("metadata", "labels", "a/b.c"), ("d",), ("e",))]),
        (("spec", "absent"), GONE, []),
        (("spec", "rules", 0), True, None),
    ],
)
def test_an_edited_copy_differs_where_it_was_edited(
    path: Steps, value: Json | Gone, expected: list[FieldEdit] | None
) -> None:
    """And nowhere else; the original is as it was."""
    before = repr(ROUTE.raw)
    after = altered(ROUTE, (path, value))
    assert after
    found = list(changes(ROUTE.raw, after.raw))
    assert found == expected if expected is not None else len(found) == 1
    assert repr(ROUTE.raw) == before
    assert all([value_on(after.raw, change.path)] == [*change.added] for change in found if change.added)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("spec", "hostnames", 4), "x"),
        (("spec", "hostnames", 3), GONE),
        (("spec", "hostnames", "name"), "x"),
        (("kind", 0), "x"),
        (("kind", "name", "x"), "x"),
    ],
)
def test_what_has_another_shape_is_not_edited(path: Steps, value: Json | Gone) -> None:
    """A list has no names, a text has no items, and no item is left out."""
    assert altered(ROUTE, (path, value)) is None


def test_nothing_stands_where_the_way_ends() -> None:
    """Whatever is on the way."""
    assert value_on(ROUTE.raw, ("spec", "hostnames", 7)) is None
    assert value_on(ROUTE.raw, ("spec", "hostnames", 0, "x")) is None
    assert value_on(ROUTE.raw, ("kind", 0)) is None


def test_the_size_of_an_edit_is_the_number_of_its_lines() -> None:
    """A replaced line counts once, a new object with every line, a deletion as one."""
    assert lines({"a": 1, "b": {"c": [], "d": [1, 2]}, "e": [{"f": 1, "g": 2}]}) == 9
    one = altered(ROUTE, (("spec", "hostnames", 3), "y"), (("metadata", "labels", "e"), "f"))
    assert Edit(ROUTE, one).size == 2
    assert list(changes({"a": [float("1.5")]}, {"a": [float("1.5")]})) == []
    assert Edit(ROUTE, None).size == 1
    assert Edit(None, build.service()).size == lines(build.service().raw)
    assert [Edit(ROUTE, one).field, Edit(ROUTE, None).field] == ["metadata.labels", ""]
