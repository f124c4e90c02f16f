"""A text to its documents, and laws of both readers of YAML: what the fast one reads, the exact one reads the same."""

from __future__ import annotations

import json
import sys
from copy import deepcopy
from pathlib import Path
from typing import Final

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_policy.model import Json
from kubectl_policy.text import Document, Unread, documents
from kubectl_policy.text.documents import DocumentReader
from kubectl_policy.text.fast_yaml import Gate
from tests.property.examples import examples
from tests.text.readings import contents, read, read_exactly, same_in_all_modes

FIXTURES: Final = Path(__file__).parents[2] / "fixtures"
_FILES: Final = sorted(path for path in FIXTURES.rglob("*") if path.suffix in {".yaml", ".yml", ".json"})

# Scalars in all the ways that somebody may think of, of which many are none where they stand.
_WRITTEN: Final = (
    "a|ab|a-b|a.b|a_b|a/b|a b|a  b|a: b|a:b|a:|a #b|a#b|#a|a,b|a, b|a]|[a]|{a: b}|{a}|a}|A|AB|A-B|A_B|A B|A/B|aB|Ab|"
    "true|True|TRUE|false|yes|No|on|Off|y|n|Y|null|Null|~|.|..|...|-|--|---|- a|-a|a-|? a|?a|: a|:a|*a|&a|&a b|!a|"
    "!!str a|!!binary YQ==|'a'|'a b'|'a''b'|'a|a'b|'*.A'|'5'|''|>|@a|`a|%a|<<|<<: {a: 1}|"
    '"a"|"a b"|"a\\tb"|"\\x61"|"\\u0061"|"\\/"|"a|"*.a"|"A_B"|"A"|"A B"|"true"|""|"\\ud800"|'
    "0|1|10|01|08|-1|+1|1.0|1.5|1.50|.5|5.|1e3|1E3|1e400|1_0|-_1|0_1|0x1|0X1|0b1|0o7|5s|5e|5E|5x|1m30s|1:30|7e8|"
    "2026-01-01|2026-01-01T00:00:00Z|10.0.0.1|1,000|.inf|-.Inf|.nan|NaN|-0|-0.0|00.5|1.5e1|0.00000001|123456789012.5|"
    "9223372036854775807|9223372036854775808|-9223372036854775809|999999999999999999|1000000000000000000|"
    "18446744073709551616|00000007-1234-4321-abcd-0123456789ab|7e1|0b1ac6f4-0000-4000-8000-000000000000|"
    "${A}|$(a)|{{ a }}|{{a}}|<a>|ENC[a]|é|aé|a\u2028b|a\x85b|a\xa0b|a\tb|a\t|\ta| a|a |\ufeffa|\x01|\x02|\x7f|"
    "a=b|=|==|a@b|a(b)|/|/a|/a/|//a|a~|~a|a+b|a?b|a;b"
)
_SCALARS: Final = ("|", "", *_WRITTEN.split("|"))
_POSITIONS: Final = (
    "{}\n",
    "a: {}\nb: 1\n",
    "a:   {}   # c\nb: 1\n",
    "a:\n  {}\n",
    "a:\n- {}\n- b\n",
    "a:\n- - {}\n",
    "-\t{}\n",
    "--- {}\n",
    "a: {{b: {}, c: d}}\n",
    "a: {{c: d, b: {}}}\n",
    "a: {{c: d, {}}}\n",
    "a: {{{}, c: d}}\n",
    "a: {{c: d,\n {}\n }}\n",
    "a: [{}, c]\n",
    "a: [c, {}]\n",
    "a: [c, {}, d]\n",
    'a: {{"b":{}}}\n',
    "a: {{'b' :{}}}\n",
    "a: {{'b'\n  :{}}}\n",
    'a: "{}"\nb: c\n',
    "a: '{}'\n",
    'a: {{b: "{}", c: d}}\n',
    "# {}\na: 1\n",
    "a: b # {}\n",
    "# x: {}\na: 1\n",
    "a: |\n  {}\nb: 1\n",
    "a: >-\n  b\n  {}\nb: 1\n",
    "a: b\n  {}\n",
    "{}: b\n",
    "- {}: b\n",
    "{} : b\n",
    "{}:\n",
    "a: {{{}: b}}\n",
    "a: {{c: d, {}: b}}\n",
    "a: {{{}:}}\n",
    "? {}\n: b\n",
    'a: {{b: "}}"\n , c: {}\n }} # {{\nd: 1\n',
    "a: &x {}\nb: *x\n",
    "a: {}\r\nb: 1\r\n",
    "a: 1\n...\n{}\n",
    "a: 1\n---\n{}\n---\nb: 1\n",
    'a: 1\n---\n{{"a": {}}}\n---\nb: 1\n',
    "apiVersion: v1\nkind: List\nitems:\n- a: {}\n- b: 1\n",
    "apiVersion: v1\nitems:\n- a: 1\n- b: {}\nkind: List\n",
    "apiVersion: v1\nkind: AList\nitems:\n  - a: 1\n  - b: 1\n    c: |\n      {}\nmetadata: {{}}\n",
    "apiVersion: v1\nkind: List\nitems:\n- a: 1\n{}\n",
)


@pytest.mark.parametrize("position", _POSITIONS)
def test_no_scalar_is_taken_for_another_one(position: str) -> None:
    for scalar in _SCALARS:
        same_in_all_modes(position.format(scalar))


@settings(max_examples=examples(20))
@given(
    st.lists(st.sampled_from([*_SCALARS, *" \n\t:-#,{}[]'\"|>&*!%@?~._/=\\", "\n  ", ": ", ", ", "\r\n"]), max_size=9)
)
def test_no_text_is_taken_for_another_one(parts: list[str]) -> None:
    same_in_all_modes("".join(parts))


@pytest.mark.parametrize("path", _FILES, ids=lambda path: str(path.relative_to(FIXTURES)))
def test_fixtures_are_the_same(path: Path) -> None:
    same_in_all_modes(path.read_text(encoding="utf-8"))


_DOCUMENTS: Final = sorted(
    {
        document
        for path in _FILES
        for document in path.read_text(encoding="utf-8").split("\n---\n")
        if path.suffix != ".json" and len(document) < 2_000
    }
)
_EDITS: Final = st.tuples(
    st.integers(0, 2_000),
    st.integers(0, 3),
    st.one_of(st.sampled_from(" \n\t:-#,{}[]'\"|>&*!%@?~._/=\\aA0e\x85\u2028\x01\ufeff"), st.sampled_from(_SCALARS)),
)


@settings(max_examples=examples(100))
@given(document=st.sampled_from(_DOCUMENTS), edits=st.lists(_EDITS, min_size=1, max_size=3))
def test_no_edit_goes_unnoticed(document: str, edits: list[tuple[int, int, str]]) -> None:
    for at, removed, added in edits:
        start = at % (len(document) + 1)
        document = document[:start] + added + document[start + removed :]
    same_in_all_modes(document)


_VALUES: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=examples(30))
@given(value=st.dictionaries(st.text(max_size=8), _VALUES, max_size=4), flow=st.booleans())
def test_what_is_dumped_is_the_same(value: dict[str, Json], *, flow: bool) -> None:
    """In block and flow style, alone and as an item of a List, and as JSON."""
    items = {"apiVersion": "v1", "kind": "List", "items": [value, {"kind": "A"}]}
    for dumped in (value, items):
        same_in_all_modes(yaml.safe_dump(dumped, default_flow_style=flow, allow_unicode=True))
        same_in_all_modes(json.dumps(dumped, allow_nan=False) if _is_finite(dumped) else "{}")


def _is_finite(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


_OBJECT: Final[dict[str, Json]] = {
    "apiVersion": "gateway.networking.k8s.io/v1",
    "kind": "HTTPRoute",
    "metadata": {
        "name": "route",
        "namespace": "team",
        "uid": "0b1ac6f4-0000-4000-8000-000000000000",
        "resourceVersion": "0123",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "annotations": {"note": '{"json":{"on":true,"n":[1,2],"yes":"no, on the other hand"}}\n', "data": "aGVsbG8="},
        "managedFields": [{"fieldsV1": {"f:spec": {"f:parentRefs": {}, ".": {}}}, "time": "2026-01-01T00:00:00Z"}],
    },
    "spec": {
        "hostnames": ["*.example.com", "10.0.0.1", "::1"],
        "rules": [{"timeout": "5s", "weight": 10, "ratio": 0.5, "codes": [500, 503], "enabled": True, "none": None}],
        "script": "if true; then\n  echo 010\nfi\n",
    },
}


@pytest.mark.parametrize("flow", [True, False, None])
def test_usual_styles_are_read_fast(*, flow: bool | None) -> None:
    """Alone and as kubectl dumps a List, in YAML and in JSON."""
    items: list[Json] = [_OBJECT, deepcopy(_OBJECT)]
    dumped = {"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}}
    texts = [
        yaml.safe_dump(_OBJECT, default_flow_style=flow, width=1_000),
        json.dumps(_OBJECT),
        json.dumps(dumped, indent=4),
        *([] if flow else [yaml.safe_dump(dumped, default_flow_style=flow, width=1_000)]),
    ]
    for text in texts:
        found = same_in_all_modes(text)
        assert read_exactly(text) == []
        assert all(isinstance(document, Document) and document.value == _OBJECT for document in found)


def test_fixtures_are_read_fast() -> None:
    """Nearly all of them; what is not has anchors, tags, words of YAML 1.1 or mistakes, or nothing but comments."""
    texts = [path.read_text(encoding="utf-8") for path in _FILES]
    documents = sum(len(read(text)) for text in texts)
    slow = [part for text in texts for part in read_exactly(text)]
    assert documents > 400
    assert len(slow) < documents / 20


def test_without_the_fast_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    text = yaml.safe_dump_all([_OBJECT, {"a": 1}])
    usual = read(text)
    monkeypatch.setitem(sys.modules, "ryaml", None)
    assert contents(list(DocumentReader().read(text))) == contents(usual)
    assert read_exactly(text) != []


def test_odd_lines_cost_their_documents_alone() -> None:
    """And items of a List alone, unless something in it refers to something else."""
    text = "a: 010\n---\na: 1\n---\napiVersion: v1\nkind: List\nitems:\n- a: yes\n- a: 1\n"
    same_in_all_modes(text)
    assert read_exactly(text) == ["a: 010\n", "- a: yes\n"]
    assert [document.value for document in read(text) if isinstance(document, Document)] == [
        {"a": 8},
        {"a": 1},
        {"a": True},
        {"a": 1},
    ]


def test_the_gate_remembers_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubectl_policy.text.fast_yaml._CHUNK", 5)
    gate = Gate()
    text = "a: 1\nb: 010\nc: yes # x\nd: 'no'\n"
    for _ in range(2):
        assert gate.odd_lines(text) == {"b: 010", "c: yes # x"}
    assert gate.odd_lines("a: \u2028") is None


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 100_000, "a: " + "[" * 3_000 + "]" * 3_000])
def test_brackets_are_counted_first(text: str) -> None:
    """The fast parser takes a time that grows with the square of their depth."""
    (found,) = read(text)
    assert isinstance(found, Unread)
    assert found.problem.reason == "too-deep"
    assert read_exactly("a: [" + "[], " * 2_000 + "{}]\n") == []


def _read(text: str) -> list[tuple[object, int]]:
    """Each document's value, or the rule that it breaks, and its line."""
    found = DocumentReader().read(text)
    return [
        (item.problem.reason, item.problem.line) if isinstance(item, Unread) else (item.value, item.line)
        for item in found
    ]


@pytest.mark.parametrize("marker", ["---", "--- # comment", "---\t", "---\r"])
def test_a_broken_document_costs_itself_alone(marker: str) -> None:
    """The documents around it are read, and every line is right."""
    text = f"a: 1\n{marker}\nb: [\nc: {{{marker}\n---\n\nd: 4\n"
    assert _read(text) == [({"a": 1}, 1), ("syntax-error", 5), ({"d": 4}, 7)]


def test_the_text_of_what_cannot_be_read() -> None:
    found = list(DocumentReader().read("a: 1\n--- # here\nb: 2\n...\nc: [\n---\nd: 1\n"))
    assert [item.text for item in found if isinstance(item, Unread)] == ["--- # here\nb: 2\n...\nc: [\n"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("name: {{ .Values.name }}", 1),
        ("a: 1\nb:\n  {{- toYaml . | nindent 2 }}\n", 3),
        ("{{- if .Values.enabled }}\na: 1\n{{- end }}", 1),
        ('{"a": {{ .Values.a }}}', 1),
    ],
)
def test_a_template(text: str, line: int) -> None:
    """Templates parse in surprising ways, or not at all."""
    assert _read(f"x: 1\n---\n{text}\n---\nz: 2") == [
        ({"x": 1}, 1),
        ("unrendered-template", line + 2),
        ({"z": 2}, 5 + text.count("\n")),
    ]


def test_a_large_yaml_document_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON of the same size is not."""
    monkeypatch.setattr(documents, "MAX_YAML_SIZE", 20)
    large = json.dumps({"a": "x" * 30})
    assert _read(f"a: {'x' * 30}\n---\nb: 1\n---\n{large}") == [("too-large", 1), ({"b": 1}, 3), ({"a": "x" * 30}, 5)]


_TEXTS: Final[list[tuple[str, list[tuple[object, int]]]]] = [
    ("", []),
    ("# nothing\n\n", []),
    ("---\n", [(None, 2)]),
    ("a: 1\n---\n# only a comment\n---\nb: 2", [({"a": 1}, 1), (None, 4), ({"b": 2}, 5)]),
    ("--- {a: b}\n--- text\n---x\n", [({"a": "b"}, 1), ("text ---x", 2)]),
    ("--- |\n text\n---", [("text\n", 1), (None, 4)]),
    ("a: |\n  ---\n  b\n", [({"a": "---\nb\n"}, 1)]),
    ("a: 1\r\n---\r\n\r\nb: 2\r\n", [({"a": 1}, 1), ({"b": 2}, 4)]),
    ("%YAML 1.1\n---\na: 1\n", [({"a": 1}, 3)]),
    ("# licence\n%YAML 1.1\n# more\n\n---\na: 1\n", [({"a": 1}, 6)]),
    ("a: 1\n...\n%YAML 1.1\n---\nb: 2\n", [({"a": 1}, 1), ({"b": 2}, 5)]),
    ("a: 1\n...\n# b\n---\nb: 2\n...\n", [({"a": 1}, 1), ({"b": 2}, 5)]),
    ("a: 1\n%YAML 1.1\n---\nb: 2\n", [({"a": 1}, 1), ("syntax-error", 3), ({"b": 2}, 4)]),
    ('{"a": 1}\n{"b": 2}\n', [({"a": 1}, 1), ({"b": 2}, 2)]),
    (
        "---\n--- \n\n---\r\n---\na: 1\n---\n\t\n",
        [*[(None, line) for line in (2, 4, 5)], ({"a": 1}, 6), ("syntax-error", 8)],
    ),
    ('---\n\n{"a": 1}\n---\n[]\n', [({"a": 1}, 3), ([], 5)]),
    ("{a: 1,}\n", [({"a": 1}, 1)]),
    ('{"a": "\\ud83d\\ude00"}', [({"a": "\U0001f600"}, 1)]),
    ('{"a": NaN}', [({"a": "NaN"}, 1)]),
    # Braces in strings and comments, and too many of them, are no template.
    ("a: '{{ $labels.instance }}'\n# {{ if }}\n", [({"a": "{{ $labels.instance }}"}, 1)]),
    ("{a: " * 300 + "{{", [("too-deep", 1)]),
]


@pytest.mark.parametrize(("text", "found"), _TEXTS)
def test_where_documents_start_and_end(text: str, found: list[tuple[object, int]]) -> None:
    """Markers, directives, ends of documents, JSON, braces."""
    assert _read(text) == found


def test_a_long_comment_above_each_marker_is_read_once() -> None:
    """The search for directives goes no further back than to the document before."""
    text = ("%\n" * 20_000) + "a: 1\n" + ("# x\n" * 50_000 + "---\n") * 2
    assert _read(text)[-1] == (None, text.count("\n") + 1)
