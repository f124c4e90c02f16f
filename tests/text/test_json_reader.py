"""JSON text to values, with the lines of the items of a List."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy.text.document import MAX_DEPTH, DocumentError
from kubectl_policy.text.json_reader import read_json

if TYPE_CHECKING:
    from kubectl_policy.model import Json


def _read(text: str) -> list[Json]:
    return [document.value for document in read_json(text, 0, 1)]


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[1,]",
        '{"a": NaN}',
        "[Infinity]",
        "[1e999]",
        "{} x",
        '{"items": [1], "items": [1, 2]}',
        "[" + "9" * 5_000 + "]",
    ],
)
def test_what_is_not_json(text: str) -> None:
    """Left to YAML."""
    with pytest.raises(ValueError):  # noqa: PT011 - each layer of the decoder has words of its own
        _read(text)


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a":' * 100_000, "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)],
)
def test_too_deep(text: str) -> None:
    """However deep, the process survives."""
    with pytest.raises((DocumentError, ValueError)):
        _read(text)


def test_the_line_of_what_is_too_deep() -> None:
    """The document's."""
    with pytest.raises(DocumentError) as caught:
        _read("{}\n\n" + '{"a":' * 300 + "1" + "}" * 300)
    assert (caught.value.problem.rule, caught.value.problem.line) == ("too-deep", 3)


def test_as_deep_as_allowed() -> None:
    """As in YAML."""
    assert len(_read("[" * MAX_DEPTH + "]" * MAX_DEPTH)) == 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"\ud83d\ude00"', "\U0001f600"),
        (r'"a\ud800b"', "a\ufffdb"),
        (r'"\udc00\ud800"', "\ufffd\ufffd"),
        (r'"\\ud800"', "\\ud800"),
        ("1.0", 1),
        ("1.5", 1.5),
        ("1e3", 1000),
    ],
)
def test_what_a_value_means(text: str, value: Json) -> None:
    """Half a surrogate pair cannot be printed, so it is replaced; numbers are as in YAML."""
    assert _read(text) == [value]


def test_values_that_follow_each_other() -> None:
    """With the line of each."""
    documents = list(read_json('---\n\n{"a":\n1}\n{"b": 2} []\n', 4, 2))
    assert [(document.value, document.line) for document in documents] == [({"a": 1}, 3), ({"b": 2}, 5), ([], 5)]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('{"items": [\n{"a": 1},\n\n  {"b": [1]}]}', [3, 5]),
        ('{\n"kind": "List", "x": {"items": [{}]},\n"items":\n[ {}\n, {} ], "y": 1}', [5, 6]),
        ('{"items": []}', []),
        ('{"items": 1, "items":\n[1]}', [3]),
        ('{"items": {"a": 1}}', None),
        ('{"a": [1]}', None),
    ],
)
def test_the_lines_of_items(text: str, lines: list[int] | None) -> None:
    """Counted from the line on which the text starts."""
    (document,) = read_json(text, 0, 2)
    assert isinstance(document.value, dict)
    items = document.value.get("items")
    if lines is None or not isinstance(items, list):
        assert document.item_lines == {}
    else:
        assert [document.item_lines[id(item)] for item in items] == lines


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.just("items") | st.text(max_size=5), inner, max_size=4)
        ),
        max_leaves=20,
    ),
    st.booleans(),
)
def test_what_is_dumped_is_read(value: Json, indented: bool) -> None:  # noqa: FBT001 - hypothesis passes it
    """Whatever its layout."""
    assert _read(json.dumps(value, indent=2 if indented else None)) == [value]
