"""YAML text to values: what is refused, repeated and merged, and what unquoted scalars mean to kubectl."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy.model import FieldPath, Json, Problem
from kubectl_policy.text import MAX_DEPTH, DocumentError, yaml_reader
from kubectl_policy.text.scalars import PlainScalars, key_of, plain_scalar
from kubectl_policy.text.yaml_reader import MAX_REPEATED, MAX_REPEATED_CHARACTERS, YamlReader

_SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
)
_VALUES = st.recursive(
    _SCALARS | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@pytest.fixture(params=["CBaseLoader", "BaseLoader"])
def either_parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether PyYAML was built with its C parser makes no difference."""
    monkeypatch.setattr(yaml_reader, "PARSER", getattr(yaml, request.param))


def _read(text: str) -> list[Json]:
    return [document.value for document in YamlReader().read(text)]


def _problem(text: str) -> Problem:
    with pytest.raises(DocumentError) as caught:
        _read(text)
    return caught.value.problem


@pytest.mark.usefixtures("either_parser")
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: b: c", 1),
        ("ok: 1\na: [1, 2", 2),
        ("a: 1\n b: 2", 2),
        ("a: *b", 1),
        ("{a: 1}: b", 1),
        ("x: 1\n[a]: b", 2),
        ("~: 1", 1),
        ("a: !unheard!of b", 1),
        ("a: !!binary x", 1),
        ("a: !!binary é", 1),
        ("a: !!null x", 1),
        ("a: !!int x", 1),
        ("a: !!int true", 1),
        ("a: &x [1]\n*x : 2", 2),
        ("<<: 1", 1),
        ("<<: [{a: 1}, 2]", 1),
        ('a: "\\ud800"', 1),
        ('a: "\\UFFFFFFFF"', 1),
        ("a: \x07", 1),
    ],
)
def test_what_is_not_yaml_or_no_json(text: str, line: int) -> None:
    """Refused with the line, whatever the parser; never an exception of its own."""
    problem = _problem(text)
    assert problem.reason == "syntax-error"
    assert problem.message.startswith(("not valid YAML: ", "a ", "an ", "the tag "))
    assert problem.line in {line, line + 1}


@pytest.mark.usefixtures("either_parser")
@pytest.mark.parametrize(
    "text",
    [
        # PyYAML's own composer overflows the stack of the process here.
        "[" * 100_000,
        "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
        "{a: " * 300 + "}" * 300,
        "- " * 300 + "x",
        "\n".join(" " * depth + "a:" for depth in range(300)),
    ],
)
def test_too_deep(text: str) -> None:
    """Flow, block and indentation: refused before anything that recurses could see it."""
    assert _problem(text).reason == "too-deep"


@pytest.mark.usefixtures("either_parser")
def test_as_deep_as_allowed() -> None:
    (value,) = _read("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    for _ in range(MAX_DEPTH - 1):
        assert isinstance(value, list)
        (value,) = value
    assert value == []


TENS = [f"l{level}: &l{level} [{', '.join([f'*l{level - 1}'] * 10)}]" for level in range(1, 10)]
NESTED = "\n".join(["l0: &l0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]", *TENS])
MERGES = [f"l{level}: &l{level} {{<<: [*l{level - 1}, *l{level - 1}], k{level}: 1}}" for level in range(1, 30)]
MERGED = "\n".join(["l0: &l0 {a: 1, b: 2, c: 3}", *MERGES])
LONG, OFTEN = "x" * 1_000, "*a, " * (MAX_REPEATED_CHARACTERS // 1_000 + 1)


@pytest.mark.parametrize(
    ("text", "last_line"),
    [
        # A value that contains itself has no end.
        ("&a [*a]", 1),
        ("&a {b: *a}", 1),
        ("&a {b: [{<<: *a}]}", 1),
        # Nine lines that stand for a billion values.
        (f"{NESTED}\nlast: [*l9]", 7),
        (f"{NESTED}\nlast: {{x: *l9}}", 7),
        # Merging costs as much as repeating, even where the outcome is small.
        (f"{MERGED}\nlast: [{', '.join(['*l29'] * 5_000)}]", 31),
        # Counting stops where it is decided.
        (f"a: &a [{', '.join(['1'] * (MAX_REPEATED + 10))}]\nb: *a", 2),
        # Whatever prints them prints every character.
        (f"a: &a {LONG}\nb: [{OFTEN}]", 2),
        (f"a: &a {{{LONG}: 1}}\nb: [{OFTEN}]", 2),
    ],
    ids=range(9),
)
@pytest.mark.usefixtures("either_parser")
def test_an_alias_bomb(text: str, last_line: int) -> None:
    problem = _problem(text)
    assert (problem.reason, problem.line <= last_line) == ("alias-bomb", True)


@pytest.mark.usefixtures("either_parser")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}),
        ("a: &x 1\nb: *x\n*x : c", {"a": 1, "b": 1, "1": "c"}),
        ("&k a: 1\n*k : 2", {"a": 2}),
        ("a: [&x 1, &x 2, *x]", {"a": [1, 2, 2]}),
        ("&x y: 1", {"true": 1}),
        ('? &x ""\n: 1', {"": 1}),
        ("a: !!str 1", {"a": "1"}),
        ("a: !!str", {"a": ""}),
        ("a: !!int '5'", {"a": 5}),
        ("a: !!float 5", {"a": 5}),
        ("a: !!bool 'yes'", {"a": True}),
        ("a: !!null ''", {"a": None}),
        ("a: !!timestamp 2026-01-01", {"a": "2026-01-01"}),
        ("a: !!map {b: !!seq [1]}", {"a": {"b": [1]}}),
        ("a: ! 12", {"a": "12"}),
        ("a: ! {b: 1}", {"a": {"b": 1}}),
        ("a: !!binary aGVsbG8=", {"a": "hello"}),
        ("a: !!binary |\n  aGVs\n  bG8=\n", {"a": "hello"}),
        ("a: !!binary /w==", {"a": "\ufffd"}),
        ("a: !!set {b}", {"a": {"b": None}}),
        ("a: !!str {b: 1}", {"a": {"b": 1}}),
        ("a: !Ref b", {"a": "b"}),
        ("a: !vault 5", {"a": "5"}),
        ("a: !Ref ~", {"a": "~"}),
        ("a: !Ref", {"a": ""}),
        ("a: !reference [b, 1]", {"a": ["b", 1]}),
        ("a: !Ref {b: !Sub 1}", {"a": {"b": "1"}}),
        ("!Ref null: 1", {"null": 1}),
        ("!!int 5: 1", {"5": 1}),
        ("!!merge <<: {a: 1}", {"a": 1}),
        ("! <<: {a: 1}", {"a": 1}),
        ("&x <<: {a: 1}", {"a": 1}),
        ("!!str <<: {a: 1}", {"<<": {"a": 1}}),
        ("!Ref <<: {a: 1}", {"<<": {"a": 1}}),
        ("&x '<<': {a: 1}", {"<<": {"a": 1}}),
        ("a: !!merge <<", {"a": "<<"}),
        ("[!!merge <<]", ["<<"]),
        ("!!merge a: {b: 1}", {"a": {"b": 1}}),
        ("a: &x 'é'", {"a": "é"}),
        ("a: 'yes'\n'1': \"null\"", {"a": "yes", "1": "null"}),
        ("a: |\n  yes\n", {"a": "yes\n"}),
        ("a: 1\na: 2", {"a": 2}),
        ("a: <<", {"a": "<<"}),
        ("[<<]", ["<<"]),
        ("'<<': 1", {"<<": 1}),
        ("a: &x {b: 1}\nc: {<<: *x, d: 2}", {"a": {"b": 1}, "c": {"b": 1, "d": 2}}),
        ("<<: {a: 1}\na: 2", {"a": 2}),
        ("<<: [{a: 1}, {a: 2, b: 2}]", {"a": 1, "b": 2}),
        ("<<: []\na: 1", {"a": 1}),
        ("", None),
    ],
)
def test_what_a_document_means(text: str, value: Json) -> None:
    """Anchors, tags and merge keys: what kubectl makes of them (`kubectl annotate --local -o json`)."""
    assert _read(text) == ([] if value is None else [value])


def test_a_merge_key_below_another_key_overwrites_it() -> None:
    """So does goyaml.v2, which merges where the key stands (`mapping` in decode.go)."""
    assert _read("a: 1\n<<: {a: 2}") == [{"a": 2}]


@pytest.mark.usefixtures("either_parser")
def test_documents_before_the_broken_one_are_read() -> None:
    """An error comes after what went before it."""
    reader = YamlReader().read("a: 1\n...\n---\n# b\nb: 2\n---\nc: [", 10)
    assert [(found.value, found.line) for found in (next(reader), next(reader))] == [({"a": 1}, 10), ({"b": 2}, 14)]
    with pytest.raises(DocumentError):
        next(reader)


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("kind: List\nitems:\n- a: 1\n-\n  b: 2\n- text\n", ("items", 1), 9),
        ("items:\n- 1\n- items:\n  - a: 1\n  - {items: [\n    {b: 1}]}\n", ("items", 1, "items", 1, "items", 0), 10),
    ],
)
def test_the_lines_of_items(text: str, path: tuple[str | int, ...], line: int) -> None:
    """A List's objects are told apart by their lines, also those of a List in a List."""
    (document,) = YamlReader().read(text, 5)
    assert document.lines.start_of(FieldPath(path).get(document.value)) == line


@pytest.mark.usefixtures("either_parser")
@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("a: 1\nb: 2\na: 3\n", [(12, "a is given twice: it is on line 10 as well")]),
        ("a:\n- b:\n    c: 1\n    'c': 2\n", [(13, "a[0].b.c is given twice: it is on line 12 as well")]),
        ("{a: 1, a: 2, a: 3}", [(10, "a is given twice: it is on line 10 as well")] * 2),
        ("a: {b: 1}\na: {b: 2}\n", [(11, "a is given twice: it is on line 10 as well")]),
        ("a: &x {b: 1}\nb: {<<: *x, b: 2}\n", []),
        ("<<: {a: 1}\n<<: {a: 2}\n", []),
        ("y: 1\ntrue: 2\n", [(11, "true is given twice: it is on line 10 as well")]),
        ("a: &x {b: 1}\nb: {<<: *x, b: 2, b: 3}\n", [(11, "b.b is given twice: it is on line 11 as well")]),
        (
            "a: {<<: {k: 1}}\na: 1\nb: {k: 1, k: 2}\n",
            [(11, "a is given twice: it is on line 10 as well"), (12, "b.k is given twice: it is on line 12 as well")],
        ),
        ("a: {<<: {<<: {k: 1}}}\nb: {k: 1, k: 2}\n", [(11, "b.k is given twice: it is on line 11 as well")]),
        ("a: &x k\nb: &y l\n*x : 1\n*y : 2\n", []),
    ],
)
def test_keys_that_are_given_twice(text: str, where: list[tuple[int, str]]) -> None:
    (document,) = YamlReader().read(text, 10)
    assert [(problem.line, problem.message) for problem in document.problems] == where


def test_a_key_that_is_given_twice_in_one_of_several_documents() -> None:
    texts = [document.problems for document in YamlReader().read("a: 1\n---\nb: 1\nb: 2\n...\n---\nc: 1\nc: 1\nc: 1")]
    assert [len(problems) for problems in texts] == [0, 1, 2]


def _reference(node: yaml.Node) -> Json:
    """The same, written for clarity: recursion over the composed nodes."""
    if isinstance(node, yaml.MappingNode):
        return {str(_key(key)): _reference(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_reference(item) for item in node.value]
    assert isinstance(node, yaml.ScalarNode)
    return node.value if node.style else plain_scalar(node.value)


def _key(node: yaml.ScalarNode) -> str | None:
    return node.value if node.style else key_of(plain_scalar(node.value))


@given(_VALUES)
def test_what_is_dumped_is_read(value: Json) -> None:
    """Quoted and tagged, every JSON value survives."""
    assert _read(yaml.safe_dump(value, default_style='"')) == [value]


@given(_VALUES)
def test_the_reader_equals_a_straightforward_one(value: Json) -> None:
    """Unquoted, in block and in flow style, with either parser."""
    for flow in (False, True, None):
        text = yaml.safe_dump(value, default_flow_style=flow)
        node = yaml.BaseLoader(text).get_single_node()
        assert node is not None
        expected: list[Json] | str = "syntax-error" if _has_null_key(node) else [_reference(node)]
        found: list[Json] | str
        try:
            found = _read(text)
        except DocumentError as error:
            found = error.problem.reason
        assert found == expected


def _has_null_key(node: yaml.Node) -> bool:
    if isinstance(node, yaml.MappingNode):
        return any(_key(key) is None or _has_null_key(value) for key, value in node.value)
    return isinstance(node, yaml.SequenceNode) and any(_has_null_key(item) for item in node.value)


# Dates, numbers to base 60, and whatever JSON has no number for.
TEXTS = (
    "1:30 12:30:45 190:20:30.15 2026-01-01 2026-01-01T00:00:00Z = << yEs tRUE nULL - + . .. _1 .1_0 1.2.3 1e v1.10 0o8"
)
MORE_TEXTS = "0b2 0xg 1e400 1٣ .inf -.Inf .NaN None"


@pytest.mark.parametrize(
    "text", [*TEXTS.split(), *MORE_TEXTS.split(), "2001-12-14 21:59:43.10 -5", "9" * 5000, "0x" + "f" * 400]
)
def test_a_string_stays_as_it_is_written(text: str) -> None:
    """Dates, numbers to base 60 and whatever JSON has no number for are text, exactly as written."""
    assert plain_scalar(text) == text


@pytest.mark.parametrize(
    ("texts", "value"),
    [
        (["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"], True),
        (["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"], False),
        (["", "~", "null", "Null", "NULL"], None),
    ],
)
def test_every_spelling_of_a_word(texts: list[str], *, value: bool | None) -> None:
    """All of go-yaml v2's, the one-letter ones too; an empty value is null as well."""
    assert [plain_scalar(text) for text in texts] == [value] * len(texts)


@pytest.mark.parametrize(
    ("texts", "value"),
    [
        (["0", "-0", "-0.0"], 0),
        (["+12"], 12),
        (["1_000", "1e3"], 1000),
        (["0x1F"], 31),
        (["-0X1f"], -31),
        (["0b101"], 5),
        (["-0b101"], -5),
        (["0o777", "0777"], 511),
        (["0_7"], 7),
        (["08"], 8),
        (["1.0"], 1),
        (["9223372036854775807"], 2**63 - 1),
        (["-9223372036854775808"], -(2**63)),
        ([".5", "5e-1"], 0.5),
        (["-.5"], -0.5),
        (["1_000.5"], 1000.5),
        (["1.10"], 1.1),
        (["1E-3"], 0.001),
        (["18446744073709551616"], float(2**64)),
        (["0xffffffffffffffffff"], float(2**72 - 1)),
    ],
)
def test_numbers(texts: list[str], value: float) -> None:
    """Decimal, hexadecimal, octal in both spellings, binary; integers where JSON writes no point."""
    numbers = [plain_scalar(text) for text in texts]
    assert [(number, type(number)) for number in numbers] == [(value, type(value))] * len(texts)


def test_keys_are_text_in_json() -> None:
    """As sigs.k8s.io/yaml converts them; it refuses a null key. What an alias repeats may stand as a key."""
    texts = ["a", "true", "y", "off", "1", "0x10", "1.5", "1.0", "1234.5", "0.00001", "0.1", "1e20", "~"]
    keys = ["a", "true", "true", "false", "1", "16", "1.5", "1", "1234.5", "1e-05", "0.1", "1e+20"]
    assert [key_of(plain_scalar(text)) for text in texts] == [*keys, None]
    assert [key_of(value) for value in (True, False, None, 3, "x")] == ["true", "false", None, "3", "x"]


def test_what_was_met_before_is_the_same_object() -> None:
    """The text of ten thousand equal scalars is in memory once."""
    scalars = PlainScalars()
    first, second = (b"name".decode() for _ in range(2))
    assert first is not second
    assert scalars[first] is scalars[second]
