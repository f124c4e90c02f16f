"""Files of ours that a person wrote: what is refused and on which line, and where values are."""

import re
from typing import Any

import pytest
import yaml

from kubectl_policy.errors import ProfileError
from kubectl_policy.text.configuration import read_configuration


def value(text: str) -> Any:  # noqa: ANN401 (anything that a file can hold)
    return read_configuration(text, "f.yaml", "").value


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        # The end of a text is on the line after the last one.
        ("a: [\n", 1, "not valid YAML: "),
        ("a: b: c\n", 1, "not valid YAML: mapping values are not allowed"),
        ("a: 1\n---\nb: 2\n", 3, "a second document: one file holds one"),
        ("a: 1\nb:\n  c: 1\n  d:\n  c: 2\n", 5, ": b.c is given twice: it is on line 3 as well"),
        ('{"a": 1,\n"a": 2}', 2, "a is given twice: it is on line 1 as well"),
        ("a: &a [*a]\n", 1, "an alias (*) inside of what it repeats"),
        ("a: 1\nb: " + "[" * 50_000 + "]" * 50_000, 2, "nested more than 200 levels deep"),
    ],
    ids=lambda given: given[:20] if isinstance(given, str) else None,
)
def test_what_is_no_plain_document(text: str, line: int, words: str) -> None:
    with pytest.raises(ProfileError) as refused:
        read_configuration(text, "f.yaml", "a hint")
    assert refused.value.message.startswith(f"f.yaml:{line}: ")
    assert words in refused.value.message
    assert refused.value.hint == "a hint"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("# nothing\n", None),
        ("\ufeffa: None", {"a": "None"}),
        ('{\n\t"a": ["b"]\n}' if hasattr(yaml, "CSafeLoader") else "a: [b]", {"a": ["b"]}),
        ("x: &x {a: 1, b: 1}\nz: {<<: *x, b: 2}\n", {"x": {"a": 1, "b": 1}, "z": {"a": 1, "b": 2}}),
        ("a: 1\n<<: {a: 2}\n<<: {b: 2}\n", {"a": 1, "b": 2}),
    ],
)
def test_plain_values(text: str, expected: Any) -> None:  # noqa: ANN401
    assert value(text) == expected


def test_the_lines_of_values() -> None:
    """Of a field, the line of its name; of what comes from elsewhere or is not there, that of the nearest above it."""
    text = "# first\na:\n  - b: 1\n  - <<: {c: {d: 1}}\n    e: 2\n"
    document = read_configuration(text, "f.yaml", "")
    places: list[tuple[str | int, ...]] = [(), ("a",), ("a", 0, "b"), ("a", 1, "e"), ("a", 1, "c", "d"), ("x", "y")]
    assert [document.line_of(place) for place in places] == [2, 2, 3, 5, 4, 2]
    assert document.line_of(("a", 0, "b", "c")) == 3
    assert read_configuration("", "f.yaml", "").line_of(("a",)) == 1


def test_the_lines_of_what_an_alias_repeats() -> None:
    """Those of what it stands for, where it was written; the alias itself has the line of its key."""
    document = read_configuration("a: &a\n  b:\n  - c: 1\nd:\n  e: *a\n", "f.yaml", "")
    assert [document.line_of(steps) for steps in (("d", "e"), ("d", "e", "b"), ("d", "e", "b", 0, "c"))] == [5, 2, 3]


@pytest.mark.parametrize(("steps", "words"), [((), "the file"), (("a",), "a"), (("a", 1, "b.c"), 'a[1]["b.c"]')])
def test_what_is_refused_is_named(steps: tuple[str | int, ...], words: str) -> None:
    with pytest.raises(ProfileError, match=f"^f.yaml:1: {re.escape(words)}: is wrong$"):
        read_configuration("a: 1", "f.yaml", "").refuse(steps, "is wrong", "")
