"""Edited copies: what they share, what they refuse, and what differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy.model import FieldPath
from kubectl_policy.questions.why_not.edit import (
    GONE,
    Edit,
    FieldEdit,
    altered,
    changes,
    lines,
)
from tests import build

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.questions.why_not.edit import Gone

ROUTE = build.route(hostnames=["a.example", "b.example", "c.example"], labels={"a/b.c": "d"})


def edit(path: str, removed: tuple[Json, ...], added: tuple[Json, ...]) -> FieldEdit:
    """An edit of the field at a path."""
    return FieldEdit(FieldPath.parse(path), removed, added)


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("spec.hostnames[1]", "x", [edit("spec.hostnames[1]", ("b.example",), ("x",))]),
        ("spec.hostnames[1]", GONE, [edit("spec.hostnames[1]", ("b.example",), ())]),
        ("spec.hostnames[3]", "x", [edit("spec.hostnames[3]", (), ("x",))]),
        (
            "spec.hostnames",
            GONE,
            [edit("spec.hostnames", (["a.example", "b.example", "c.example"],), ())],
        ),
        ("spec.new.deep[0].x", 1, [edit("spec.new", (), ({"deep": [{"x": 1}]},))]),
        ('metadata.labels["a/b.c"]', "e", [edit('metadata.labels["a/b.c"]', ("d",), ("e",))]),
        ("spec.absent", GONE, []),
        ("spec.hostnames[3]", GONE, []),
        ("spec.rules[0]", True, None),
    ],
)
def test_an_edited_copy_differs_where_it_was_edited(
    path: str, value: Json | Gone, expected: list[FieldEdit] | None
) -> None:
    """And nowhere else; the original is as it was."""
    before = repr(ROUTE.raw)
    after = altered(ROUTE, (FieldPath.parse(path), value))
    assert after
    found = list(changes(ROUTE.raw, after.raw))
    assert found == expected if expected is not None else len(found) == 1
    assert repr(ROUTE.raw) == before
    assert all([change.path.get(after.raw)] == [*change.added] for change in found if change.added)


@pytest.mark.parametrize("path", ["spec.hostnames[4]", "spec.hostnames.name", "kind[0]", "kind.name.x"])
def test_what_has_another_shape_is_not_edited(path: str) -> None:
    """A list has no names, a text has no items, and no item is left out."""
    assert altered(ROUTE, (FieldPath.parse(path), "x")) is None


def test_the_size_of_an_edit_is_the_number_of_its_lines() -> None:
    """A replaced line counts once, a new object with every line, a deletion as one."""
    assert lines({"a": 1, "b": {"c": [], "d": [1, 2]}, "e": [{"f": 1, "g": 2}]}) == 9
    one = altered(ROUTE, (FieldPath.parse("spec.hostnames[3]"), "y"), (FieldPath.parse("metadata.labels.e"), "f"))
    assert Edit(ROUTE, one).size == 2
    assert list(changes({"a": [float("1.5")]}, {"a": [float("1.5")]})) == []
    assert Edit(ROUTE, None).size == 1
    assert Edit(None, build.service()).size == lines(build.service().raw)
    assert [Edit(ROUTE, one).field, Edit(ROUTE, None).field] == ["metadata.labels", ""]
