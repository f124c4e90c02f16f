"""Edited objects: what they share with the original, what they refuse, and what differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy.model import FieldPath
from kubectl_policy.questions.why_not.edits import Edit, FieldEdit, edited
from tests import build

if TYPE_CHECKING:
    from kubectl_policy.model import Json

ROUTE = build.route(hostnames=["a.example", "b.example", "c.example"], labels={"a/b.c": "d"})


def edit(path: str, removed: tuple[Json, ...], added: tuple[Json, ...]) -> FieldEdit:
    """An edit of the field at a path."""
    return FieldEdit(FieldPath.parse(path), removed, added)


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("spec.hostnames[1]", "x", [edit("spec.hostnames[1]", ("b.example",), ("x",))]),
        ("spec.hostnames[3]", "x", [edit("spec.hostnames[3]", (), ("x",))]),
        ("spec.new.deep[0].x", 1, [edit("spec.new", (), ({"deep": [{"x": 1}]},))]),
        ('metadata.labels["a/b.c"]', "e", [edit('metadata.labels["a/b.c"]', ("d",), ("e",))]),
        ("spec.rules[0]", True, None),
    ],
)
def test_an_edited_copy_differs_where_it_was_edited(path: str, value: Json, expected: list[FieldEdit] | None) -> None:
    """And nowhere else; the original is as it was."""
    before = repr(ROUTE.raw)
    (found,) = edited(ROUTE, (FieldPath.parse(path), value))
    assert found.after
    raw = found.after.raw
    assert list(found.changes) == expected if expected is not None else len(found.changes) == 1
    assert repr(ROUTE.raw) == before
    assert all([change.path.get(raw)] == [*change.added] for change in found.changes if change.added)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("spec.hostnames[1]", edit("spec.hostnames[1]", ("b.example",), ())),
        ("spec.hostnames", edit("spec.hostnames", (["a.example", "b.example", "c.example"],), ())),
        ('metadata.labels["a/b.c"]', edit('metadata.labels["a/b.c"]', ("d",), ())),
    ],
)
def test_what_is_taken_out(path: str, expected: FieldEdit) -> None:
    """Is gone, and all else stays."""
    (found,) = edited(ROUTE, without=[FieldPath.parse(path)])
    assert found.changes == (expected,)


@pytest.mark.parametrize("path", ["spec.hostnames[4]", "spec.hostnames.name", "kind[0]", "kind.name.x"])
def test_what_has_another_shape_is_not_edited(path: str) -> None:
    """A list has no names, a text has no items, and no item is left out."""
    assert not list(edited(ROUTE, (FieldPath.parse(path), "x")))


@pytest.mark.parametrize("path", ["spec.absent", "spec.hostnames[3]"])
def test_what_changes_nothing_is_no_edit(path: str) -> None:
    """Neither what is not there to be taken out, nor a value that stands there already."""
    assert not list(edited(ROUTE, without=[FieldPath.parse(path)]))
    assert not list(edited(ROUTE, (FieldPath.parse("spec.hostnames[0]"), "a.example")))


def test_the_size_of_an_edit_is_the_number_of_its_lines() -> None:
    """A replaced line counts once, a new object with every line, a deletion as one."""
    (both,) = edited(ROUTE, (FieldPath.parse("spec.hostnames[3]"), "y"), (FieldPath.parse("metadata.labels.e"), "f"))
    assert (both.size, both.field) == (2, "metadata.labels")
    assert (Edit(ROUTE, None).size, Edit(ROUTE, None).field) == (1, "")
    created = build.resource("Thing", "t", {"a": 1, "b": {"c": [], "d": [1, 2]}, "e": [{"f": 1, "g": 2}]})
    without = build.resource("Thing", "t", {})
    assert Edit(None, created).size - Edit(None, without).size == 9
