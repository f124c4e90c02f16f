"""YAML that a person wrote: what is refused and on which line, and what its values are."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from kubectl_policy.errors import ProfileError
from kubectl_policy.profiles.document import MAX_VALUES, field_words, read_document


def value(text: str) -> Any:  # noqa: ANN401 (anything that a file can hold)
    """The value of a text."""
    return read_document(text, "f.yaml", "").value


# Nine levels of nine aliases each: a few hundred bytes, three hundred million values.
BOMB = "a0: &a0 [x]\n" + "".join(f"a{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 9)}]\n" for n in range(9))
MERGE_BOMB = "a0: &a0 {k: v}\n" + "".join(
    f"a{n + 1}: &a{n + 1} {{<<: [{', '.join([f'*a{n}'] * 9)}]}}\n" for n in range(9)
)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: [\n", 1, "not valid YAML: "),
        ("a: b: c\n", 1, "not valid YAML: mapping values are not allowed"),
        ("a:\n\t- b\n", 2, "(YAML is indented with spaces, not with tabs)"),
        ("a: 1\n---\nb: 2\n", 2, "a second document: one file holds one"),
        ("a: 1\nb:\n  c: 1\n  c: 2\n", 4, "c is given twice"),
        ("a: 1\n1: 2\n", 2, "the name of a field must be text: put it in quotes"),
        ("true: 2\n", 1, "the name of a field must be text: put it in quotes"),
        ("? [a]\n: b\n", 1, "the name of a field must be text: put it in quotes"),
        ("a: *b\n", 1, "found undefined alias"),
        ("a: &a [*a]\n", 1, "an alias stands within what it names"),
        (BOMB, 1, f"more than {MAX_VALUES} values, with what aliases repeat"),
        (MERGE_BOMB, 1, f"more than {MAX_VALUES} values, with what aliases repeat"),
        ("a: 1\nb: " + "[" * 50_000 + "]" * 50_000, 2, "nested too deeply"),
        ("a: !!python/object/apply:os.abort []\n", 1, "the tag tag:yaml.org,2002:python/object/apply:os.abort means"),
        ("a: !mine b\n", 1, "the tag !mine means nothing here"),
        ("a: !!set {b}\n", 1, "the tag tag:yaml.org,2002:set means nothing here"),
        ("<<: 1\n", 1, "<< takes a mapping, or a list of mappings"),
        ("<<: [1]\n", 1, "<< takes a mapping, or a list of mappings"),
        ("a: \x07\n", 1, "not valid YAML: it has characters that no text has"),
    ],
    ids=lambda given: given[:20] if isinstance(given, str) else None,
)
def test_what_is_no_plain_document(text: str, line: int, words: str) -> None:
    """Is refused with its line."""
    with pytest.raises(ProfileError) as refused:
        read_document(text, "f.yaml", "a hint")
    assert refused.value.message.startswith(f"f.yaml:{line}: ")
    assert words in refused.value.message
    assert refused.value.hint == "a hint"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("# nothing\n", None),
        ("{a: ~, b: null, c: }", {"a": None, "b": None, "c": None}),
        ("{a: yes, b: Off, c: 'yes'}", {"a": True, "b": False, "c": "yes"}),
        ("{a: 1, b: -2.5, c: 1e3, d: 0x1F, e: 1:30}", {"a": 1, "b": -2.5, "c": "1e3", "d": "0x1F", "e": "1:30"}),
        ("{a: 2025-13-45, b: =, c: ! x}", {"a": "2025-13-45", "b": "=", "c": "x"}),
        ("\ufeffa: None", {"a": "None"}),
        ('{\n\t"a": ["b"]\n}' if hasattr(yaml, "CSafeLoader") else "a: [b]", {"a": ["b"]}),
        ("%YAML 1.2\n---\na: 1\n...\n", {"a": 1}),
        ("x: &x {a: 1, b: 1}\ny: {<<: *x, b: 2}\n", {"x": {"a": 1, "b": 1}, "y": {"a": 1, "b": 2}}),
        ("{<<: [{a: 1}, {a: 2, b: 2}], c: 3}", {"a": 1, "b": 2, "c": 3}),
    ],
)
def test_plain_values(text: str, expected: Any) -> None:  # noqa: ANN401
    """Dates and numbers of other bases stay the text that they are; nothing that is read here takes one."""
    assert value(text) == expected


def test_the_lines_of_values() -> None:
    """Of a field, the line of its name; of what comes from elsewhere or is not there, that of the nearest above it."""
    text = "# first\na:\n  - b: 1\n  - <<: {c: {d: 1}}\n    e: 2\n"
    document = read_document(text, "f.yaml", "")
    places: list[tuple[str | int, ...]] = [(), ("a",), ("a", 0, "b"), ("a", 1, "e"), ("a", 1, "c", "d"), ("x", "y")]
    assert [document.line_of(place) for place in places] == [2, 2, 3, 5, 4, 2]
    assert document.line_of(("a", 0, "b", "c")) == 3
    assert read_document("", "f.yaml", "").line_of(("a",)) == 1


def test_places_in_words() -> None:
    """As messages write them."""
    assert [field_words(path) for path in ((), ("a",), ("a", 1, "b.c"))] == ["the file", "a", "a[1].b.c"]
