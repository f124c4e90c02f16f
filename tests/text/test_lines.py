"""Lines in a text: those of fields, and those that comments for this program are about."""

import json
from collections.abc import Iterator, Mapping
from typing import Final

import pytest

from kubectl_policy.model import FieldPath, Json
from kubectl_policy.text import MAX_DEPTH, Document
from kubectl_policy.text import lines as text_lines
from kubectl_policy.text.documents import DocumentReader, objects_in
from kubectl_policy.text.lines import ANY, TextLines, comments_in

REPEATED: Final = """\
kind: Base
spec: &base
  time: 1s
  tries: {max: 2}
---
kind: List
items:
- kind: A
  common: &common
    time: 5s
    tries:
      max: 3
  list: &list [1,
    2]
- kind: B
  spec:
    <<: *common
    time: 9s
    again: *list
- kind: C
  spec:
    <<: [{time: 7s}, *common]
    own: &own {x: 1}
    other: *own
"""


def line(text: str, object_line: int, path: str, value: Json = ANY) -> int | None:
    return TextLines(text).line(object_line, tuple(map(_step, FieldPath.parse(path).steps)), value)


def _step(step: object) -> str | int:
    assert isinstance(step, str | int)
    return step


@pytest.mark.parametrize(
    ("object_line", "path", "value", "found"),
    [
        (1, "spec.tries.max", 2, 4),
        (8, "common.tries.max", 3, 12),
        (8, "list[1]", 2, 14),
        (15, "spec.time", "9s", 18),
        (15, "spec.tries.max", 3, 12),
        (15, "spec.tries", {"max": 3}, 11),
        (15, "spec.again", [1, 2], 19),
        (15, "spec.again[1]", 2, 14),
        (20, "spec.time", "7s", 22),
        (20, "spec.tries.max", 3, 12),
        (20, "spec.other", {"x": 1}, 24),
        (20, "spec.other.x", 1, 23),
        # Another value is written there, or none.
        (15, "spec.time", "5s", None),
        (15, "spec.time", "1s", None),
        (15, "spec.again", [1, 2, 3], None),
        (15, "spec.again", [1], None),
        (15, "spec.again", {}, None),
        (15, "spec.again[2]", 3, None),
        (15, "spec", [], None),
        (20, "spec.own", "x", None),
    ],
)
def test_what_anchors_and_merge_keys_repeat(object_line: int, path: str, value: Json, found: int | None) -> None:
    """The line on which a value is written, and not the one on which it is referred to."""
    assert line(REPEATED, object_line, path, value) == found


@pytest.mark.parametrize(
    ("written", "value", "found"),
    [
        ("1", 1, True),
        ("1.0", 1, True),
        ("true", True, True),
        ("1", True, False),
        ("on", "on", True),
        ("on", True, True),
        ("", None, True),
        ("null", None, True),
        ('"1"', "1", True),
        ('"1"', 1, True),
        ('"a\\tb"', "a\tb", True),
        ("!!str 1", "1", True),
        ("${TIME}", "5s", True),
        ("${TIME}s", {"a": 1}, True),
        ("5s", "6s", False),
        ("{a: 1}", {"a": 1, "filled": 2}, True),
        ("{a: 1, pruned: 2}", {"a": 1}, True),
        ("{a: 1}", {"a": 2}, False),
        ("[a, b]", ["a", "b"], True),
        ("[a, b]", ["a", "c"], False),
        ("|\n    a\n    b", "a\nb\n", True),
        ("*nothing", "x", False),
    ],
)
def test_the_value_that_is_written(written: str, value: Json, *, found: bool) -> None:
    """As it is read; with what an API server fills in and prunes, and with variables that were filled in."""
    assert line(f"kind: A\nspec:\n  x: {written}\n", 1, "spec.x", value) == (3 if found else None)


def test_json() -> None:
    """As kubectl prints it, with objects in a List, and on one line."""
    items: list[Json] = [{"kind": "A", "spec": {"x": "\u00e9/\t"}}, {"kind": "B", "spec": {"x": [1, {"y": None}]}}]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=4)
    starts = [document.line for document in DocumentReader().read(text) if isinstance(document, Document)]
    lines = text.split("\n")
    for start, item in zip(starts, items, strict=True):
        found = line(text, start, "spec.x", FieldPath.parse("spec.x").get(item))
        assert found
        assert '"x"' in lines[found - 1]
        assert found > start
    assert line(json.dumps({"kind": "List", "items": items}), 1, "spec.x[1].y", None) == 1


def test_what_follows_may_be_anything() -> None:
    """A field is found above a mistake, and in one of several documents."""
    assert [line("kind: A\nx: 1\n", start, "x") for start in (-1, 0, 2, 99)] == [None] * 4
    for end in ("\n", "\r\n"):
        assert line(end.join(["# first", "kind: A", "spec:", "  x: 1", ""]), 2, "spec.x", 1) == 4
    deep: Json = 1
    for _ in range(MAX_DEPTH - 2):
        deep = [deep]
    assert line(json.dumps({"kind": "A", "x": deep}), 1, "x", deep) == 1
    assert line("kind: A\nspec: {x: 1}\nbroken: [", 1, "spec.x", 1) == 2
    assert line("kind: A\nspec: {x: 1}\nbroken: [", 1, "spec.y", 1) is None
    assert line("a: 1\n---\nkind: A\nx: &a 1\n---\nkind: B\nx: *a\n", 3, "x", 1) == 4
    assert line("a: 1\n---\nkind: A\nx: &a 1\n---\nkind: B\nx: *a\n", 6, "x", 1) is None
    assert line("kind: A\n---\nkind: A\nx: 1\n", 1, "x", 1) is None
    assert line("x: 1\nx: 2\n", 1, "x", 2) == 2


def test_what_is_repeated_over_and_over_takes_no_time() -> None:
    """Merge keys of merge keys: each place is looked at once."""
    levels = [f"l{n}: &l{n} {{<<: [{', '.join([f'*l{n - 1}'] * 10)}]}}" for n in range(1, 30)]
    text = "\n".join(["kind: A", "l0: &l0 {x: 1}", *levels, "spec: {<<: *l29}"])
    assert line(text, 1, "spec.x", 1) == 2
    assert line(text, 1, "spec.x", 3) is None
    assert line(text, 1, "spec.y", 1) is None


BLOCK: Final = """\
# two objects, and a List of two
kind: A
spec:
  x: 1
  list:
  - {a: [1, 2], b: "on"}
  -
    a: 2
--- # next

kind: List
apiVersion: v1
items:
- kind: B
  spec: {x: 1,
    w: 2}
- kind: List
  items:
  - kind: C
    z: [[1], {q: 2}]
  - kind: D
last: 1
"""
FLOW: Final = """\
{apiVersion: v1, kind: List, items: [{kind: A, x: {a: 1}}, {kind: B,
  x: {a: 2}},
  {kind: C, y: [{b: 3}]}], last: {b: 3}}
"""


@pytest.mark.parametrize("text", [BLOCK, FLOW])
def test_every_value_has_a_line(text: str) -> None:
    documents = [document for document in DocumentReader().read(text) if isinstance(document, Document)]
    noted, unnoted = TextLines(text), TextLines(text)
    for document in documents:
        noted.note(document.span)
    compared = 0
    for document in documents:
        for content, start in objects_in(document):
            for inner, value in _inner(dict(content) if isinstance(content, Mapping) else content, ()):
                found = noted.line(start, inner, value)
                assert found == unnoted.line(start, inner, value)
                assert found is not None
                assert found >= start
                assert noted.line(start, inner, "another") is None
                compared += 1
    assert compared > 12
    assert noted.line(documents[0].line, ("absent",), ANY) is None


def test_an_item_of_a_split_list() -> None:
    text = "apiVersion: v1\nitems:\n- kind: A\n  x: 1\n- kind: B\n  x: 1\nkind: List\n"
    lines = TextLines(text)
    for document in DocumentReader().read(text):
        assert isinstance(document, Document)
        lines.note(document.span)
    assert [lines.line(start, ("x",), 1) for start in (3, 5)] == [4, 6]


def _inner(value: Json, steps: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Json]]:
    yield steps, value
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in children:
        yield from _inner(child, (*steps, step))


def test_many_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_lines, "_MAX_KEPT", 2)
    text = "---\n".join(f"kind: A\nx: {n}\n" for n in range(9))
    lines = TextLines(text)
    assert [lines.line(3 * n + 1, ("x",), n) for n in (0, 1, 8, 0)] == [2, 5, 26, 2]


COMMENT = "# kubectl-policy: "


def comments(text: str) -> list[tuple[int, str, range]]:
    """The comments in a text; each `#!` there stands for the beginning of one."""
    return [(each.line, each.says, each.lines) for each in comments_in(text.replace("#!", COMMENT))]


@pytest.mark.parametrize(
    "text",
    [
        "a: 1 # another comment\n",
        "a: 'x #! no'\n",
        'a: "x\n  #! no\n  "\n',
        "a: |\n  x\n  #! no\n\n  #! no\n",
        "a: >-\n  #! no",
        "- x#! no\n",
        "a: x\n#kubectl: no\n",
        '{"a": "#! no"}',
    ],
)
def test_what_is_none(text: str) -> None:
    assert comments(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1 #! x\n", [(1, "x", range(1, 2))]),
        ("é: 1\na: b #! x  \r\nc: d\n", [(2, "x", range(2, 3))]),
        ("a: 1\nb: | #! x\n  y\n", [(2, "x", range(2, 3))]),
        ("a: 1\nb: | #! x", [(2, "x", range(2, 3))]),
        ("a: 1\nb:\n  &b !!str #! x\n  y\n", [(3, "x", range(3, 4))]),
        ("a: 1\nb: 'y\n  #! no' #! x\n", [(3, "x", range(3, 4))]),
        ("a: 1\nb: [c, #! x\n  d] #! y\n", [(2, "x", range(2, 3)), (3, "y", range(3, 4))]),
        ("a: |\n  y\n#! x\nb: 1\n", [(3, "x", range(4, 5))]),
        ("a: 1 # http #! x\n", [(1, "x", range(1, 2))]),
        ("a: 1\n#kubectl-policy:x\nb: 2\n", [(2, "x", range(3, 4))]),
        ("a: 1 #!\n", [(1, "", range(1, 2))]),
        # Alone on a line: about the next one that says something, also behind the dash of an item.
        ("a: 1\n#! x\n\n  # why\n#! y\nb: 2\nc: 3\n", [(2, "x", range(6, 7)), (5, "y", range(6, 7))]),
        ("a:\n#! x\n- b: 1\n  c: 2\n- #! y\n  b: 1\n", [(2, "x", range(3, 4)), (5, "y", range(6, 7))]),
        # At the top of a document, beside its marker, or above that: about all of it.
        ("#! x\n\n# why\na: 1\nb: 2\n---\nc: 3\n", [(1, "x", range(1, 6))]),
        ("#! x\n---\n#! x\n\n# why\na: 1\nb: 2\n---\nc: 3\n", [(1, "x", range(1, 8)), (3, "x", range(2, 8))]),
        ("a: 1\n#! x\n---\nb: 2\nc: 3\n---\nc: 3\n", [(2, "x", range(2, 6))]),
        ("a: 1\n--- #! x\nb: 2\n", [(2, "x", range(2, 5))]),
        ("a: 1\n...\n%YAML 1.1\n#! x\n---\nb: 2\n", [(4, "x", range(3, 8))]),
        # Above nothing: about nothing.
        ("a: 1\n#! x\n", [(2, "x", range(0))]),
        ("#! x", [(1, "x", range(0))]),
        # Before a mistake, as elsewhere; behind one, and in a template, what has a line of its own.
        ("a: '#! no' #! x\n---\nb: @ #! no\n", [(1, "x", range(1, 2))]),
        (
            "#! top\nkind: A\nname: @x '#! no'\nspec: #! no\n  #! x\n  c: 1\n",
            [(1, "top", range(1, 8)), (5, "x", range(6, 7))],
        ),
        ("#! top\nkind: A\nname: {{ .y }} #! x\nspec: {}\n", [(1, "top", range(1, 6)), (3, "x", range(3, 4))]),
    ],
)
def test_where_it_stands(text: str, expected: list[tuple[int, str, range]]) -> None:
    """Behind something, it is about that line; alone on a line, about the next one."""
    assert comments(text) == expected


@pytest.mark.parametrize(
    "text", [f"{COMMENT}x\n" * 20_000 + "a: 1\n", f"a: x{f' {COMMENT}x' * 20_000}", f"a: 'x{f' {COMMENT}x' * 20_000}'"]
)
def test_a_great_many(text: str) -> None:
    """Are found in no time; it took minutes to count the lines above each."""
    assert sum(1 for _ in comments_in(text)) in {0, 20_000}
