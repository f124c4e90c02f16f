"""A text to its documents."""

import json
from typing import Final

import pytest

from kubectl_policy.text import Unread, documents
from kubectl_policy.text.documents import DocumentReader


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


_DOCUMENTS: Final[list[tuple[str, list[tuple[object, int]]]]] = [
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
    ('---\n\n{"a": 1}\n---\n[]\n', [({"a": 1}, 3), ([], 5)]),
    ("{a: 1,}\n", [({"a": 1}, 1)]),
    ('{"a": "\\ud83d\\ude00"}', [({"a": "\U0001f600"}, 1)]),
    ('{"a": NaN}', [({"a": "NaN"}, 1)]),
    # Braces in strings and comments, and too many of them, are no template.
    ("a: '{{ $labels.instance }}'\n# {{ if }}\n", [({"a": "{{ $labels.instance }}"}, 1)]),
    ("{a: " * 300 + "{{", [("too-deep", 1)]),
]


@pytest.mark.parametrize(("text", "found"), _DOCUMENTS)
def test_where_documents_start_and_end(text: str, found: list[tuple[object, int]]) -> None:
    """Markers, directives, ends of documents, JSON, braces."""
    assert _read(text) == found


def test_a_long_comment_above_each_marker_is_read_once() -> None:
    """The search for directives goes no further back than to the document before."""
    text = ("%\n" * 20_000) + "a: 1\n" + ("# x\n" * 50_000 + "---\n") * 2
    assert _read(text)[-1] == (None, text.count("\n") + 1)
