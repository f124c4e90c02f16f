"""JSON text to values, with the lines of the items of a List."""

import json
import re
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy.model import Json
from kubectl_policy.model.body import Body
from kubectl_policy.text import MAX_DEPTH, Document, DocumentError, TextSpan
from kubectl_policy.text.json_reader import read_json


def _documents(text: str, start: int = 0, line: int = 1) -> list[Document]:
    return list(read_json(text, TextSpan(start, len(text), line), Body))


def _read(text: str) -> list[Json]:
    return [document.value for document in _documents(text)]


NO_JSON = """{|[1,]|{"a": NaN}|[Infinity]|[1e999]|{} x|{"a": 1,}|{"a" 1}|{1: 1}|{"a": 1|{,}|{"a": 1]|{"items": [
{"items": [{}, ]}|{"items": [, {}]}|{"items": [{} {}]}"""


@pytest.mark.parametrize("text", [*re.split(r"[|\n]", NO_JSON), "[" + "9" * 5_000 + "]"])
def test_what_is_not_json(text: str) -> None:
    """Left to YAML."""
    with pytest.raises(ValueError):  # noqa: PT011 - each layer of the decoder has words of its own
        _read(text)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
        '{"items": [' + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1) + "]}",
        '{"other": ' + "[" * MAX_DEPTH + "]" * MAX_DEPTH + "}",
    ],
    ids=range(5),
)
def test_too_deep(text: str) -> None:
    """However deep, the process survives; the line is the document's. One level less is read, as in YAML."""
    with pytest.raises((DocumentError, ValueError)):
        _read(text)
    with pytest.raises(DocumentError) as caught:
        _read("{}\n\n" + '{"a":' * 300 + "1" + "}" * 300)
    assert (caught.value.problem.reason, caught.value.problem.line) == ("too-deep", 3)
    for allowed in ("[" * MAX_DEPTH + "]" * MAX_DEPTH, "[" + "[]," * MAX_DEPTH + "[]]"):
        assert len(_read(allowed)) == 1
    assert len(_read('{"items": [' + "[" * (MAX_DEPTH - 2) + "]" * (MAX_DEPTH - 2) + "]}")) == 1


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
        ('{"items": [1], "a": {"b": 1, "b": 2}, "items": [1, 2]}', {"items": [1, 2], "a": {"b": 2}}),
    ],
)
def test_what_a_value_means(text: str, value: Json) -> None:
    """Half a surrogate pair cannot be printed, so it is replaced; numbers and repeated keys are as in YAML."""
    assert _read(text) == [value]


def test_values_that_follow_each_other() -> None:
    documents = _documents('---\n\n{"a":\n1}\n{"b": 2} []\n', 4, 2)
    assert [(document.value, document.line) for document in documents] == [({"a": 1}, 3), ({"b": 2}, 5), ([], 5)]


@pytest.mark.parametrize(
    ("text", "items"),
    [
        (
            '{"items": [\n{"a": 1},\n\n  {"é": [1]}], "apiVersion": "v1", "kind": "List"}',
            [(3, {"a": 1}), (5, {"é": [1]})],
        ),
        (
            '{\n"kind": "AList", "x": {"items": [{}]},\n"apiVersion": "v", "items":\n[ {}\n, {"kind": "B"} ]}',
            [(5, {"apiVersion": "v", "kind": "A"}), (6, {"apiVersion": "v", "kind": "B"})],
        ),
        ('{"apiVersion": "v1", "kind": "List", "x": [{}], "items": [{}, 1]}', [(2, {}), (2, 1)]),
    ],
)
def test_the_items_of_a_list(text: str, items: list[tuple[int, Json]]) -> None:
    """Each with its line, counted from the line on which the text starts, and with its part of the text."""
    documents = _documents(text, 0, 2)
    assert [(document.line, document.value) for document in documents] == items
    for document in documents:
        assert document.is_item
        written = json.loads(text[document.span.start : document.span.end])
        assert isinstance(written, int) or written.items() <= cast("dict[str, Json]", document.value).items()


@pytest.mark.parametrize(
    "text",
    [
        '{"items": [{}]}',
        '{"kind": "List", "items": [{}]}',
        '{"kind": "Thing", "apiVersion": "v1", "items": [{}]}',
        '{"kind": 1, "apiVersion": "v1", "items": [{}]}',
        '{"kind": "List", "apiVersion": "v1", "items": 1}',
        '{"kind": "List", "apiVersion": "v1", "items": null}',
        '{"kind": "List", "apiVersion": "v1", "items": [{}], "items": 1}',
        "[1]",
        "{}",
    ],
)
def test_what_is_left_whole(text: str) -> None:
    (document,) = _documents(text)
    assert document.value == json.loads(text)
    assert not document.is_item
    assert bool(document.problems) == (text.count('"x"') + text.count('"items"') > 1)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"a": 1,\n"b": {"c": 1,\n"c": 2}}', [(3, "b.c is given twice: it is on line 2 as well")]),
        ('{"a": 1, "a": 2}\n{"b": 1}', [(1, "a is given twice: it is on line 1 as well")]),
        ('{"items": [\n{"a": 1, "a": 1}]}', [(2, "items[0].a is given twice: it is on line 2 as well")]),
        (
            '{"apiVersion": "v1", "kind": "List", "items": [\n{"a": 1,\n"a": 1}]}',
            [(3, "a is given twice: it is on line 2 as well")],
        ),
        ('{"a": 1, "a": 2, "b": "\x7f"}', [(1, "a key is given twice in one mapping")]),
    ],
)
def test_keys_that_are_given_twice(text: str, where: list[tuple[int, str]]) -> None:
    """With both lines; without them where the parser of YAML, which finds them, does not take the text."""
    problems = [problem for document in _documents(text) for problem in document.problems]
    assert [(problem.line, problem.message) for problem in problems] == where
    assert all(problem.reason == "repeated-key" for problem in problems)


def test_what_comes_out_otherwise_than_it_was_written_repeats_no_key() -> None:
    """Escapes, as the encoder of Go writes them, and numbers."""
    (document,) = _documents(r'{"a": "\u003c\/", "b": 1e3, "c": -0}')
    assert (document.value, document.problems) == ({"a": "</", "b": 1000, "c": 0}, ())


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
    assert _read(json.dumps(value, indent=2 if indented else None)) == [value]
