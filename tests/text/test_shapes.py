"""Documents that are recognised by their shapes are what reading them in full makes of them."""

from __future__ import annotations

import pytest

from kubectl_policy.text.documents import PATIENCE, SMALL, DocumentReader
from kubectl_policy.text.recognised import ShapedDocument, Written
from kubectl_policy.text.shapes import Shapes
from tests.text.recognising import HEAD, recognised, things


def shape_at(shapes: Shapes, text: str) -> ShapedDocument | None:
    """The document that a text is, if it is recognised."""
    return shapes.at(Written(text), 0, len(text), 1)


def alike(one: str, other: str) -> bool:
    """Whether two bodies make documents of one shape."""
    shapes = Shapes(1)
    first, second = (shape_at(shapes, HEAD.format(name) + body) for name, body in (("a", one), ("b", other)))
    return first is not None and second is not None and first.shape is second.shape


def test_so_many_are_read_before_one_is_recognised() -> None:
    """The last of them makes a shape and has it already."""
    same = things(*["spec: {port: 80}\n"] * (PATIENCE + 2))
    assert recognised(same, PATIENCE) == [f"n{place}" for place in range(PATIENCE - 1, PATIENCE + 2)]
    assert recognised(things(*["spec: {port: 80}\n"] * (PATIENCE - 1)), PATIENCE) == []


def test_what_is_small_is_read_at_once() -> None:
    """However many documents are alike; it is all that a reader has met which counts."""
    text = things(*["spec: {port: 80}\n"] * (2 * PATIENCE))
    reader = DocumentReader()
    texts = [text] * (SMALL // len(text) + 2)
    *small, large, larger = [
        sum(isinstance(found, ShapedDocument) for found in reader.recognise(text)) for text in texts
    ]
    assert (set(small), large, larger) == ({0}, PATIENCE + 1, 2 * PATIENCE)


def test_of_a_shape_that_many_have() -> None:
    """Each is made anew, with what all have in common."""
    body = 'a: {{b: x{0}, c: [null, true, 1.5, {0}], d: {{}}, e: []}}\nf: "it\'s\\n"\ng:\n  - h: k{0}\n'
    assert len(recognised(things(*[body.format(place) for place in range(60)]), 1)) > 50
    deep = "a: " + "[" * 60 + "b" + "]" * 60 + "\n"
    assert len(recognised(things(*[deep] * 60), 1)) > 50


def test_shapes_that_come_in_turns() -> None:
    """What follows what is learnt, and unlearnt."""
    bodies = ["a: 1\n", "b: 1\n", "a: 2\n", "b: 2\n", "b: 3\n", "a: 3\n", "c: [\n", "a: 4\n"]
    assert recognised(things(*bodies), 2) == ["n2", "n3", "n4", "n5", "n7"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a: web\n", "a: web-2.example\n"),
        ("a: 1\n", "a: 999999999999999999\n"),
        ("a: 5s\n", "a: 100ms\n"),
        ("a: x/y\n", "a: many words_and=signs\n"),
        ("a: 'x'\n", "a: 'y'\n"),
        ('a: "*.example.com"\n', 'a: "10"\n'),
        ('a: "x y"\n', 'a: "it\'s: #1, a @ b"\n'),
        ("a: 'x y'\n", "a: 'say \"yes\", a: b'\n"),
        ("- a\n- 5\n", "- a\n- 5\n"),
        ("a:\n- b\n- 5\n", "a:\n- c\n- 6\n"),
        ("a: {b: c, d: 1}\n", "a: {b: x, d: 2}\n"),
        ("a: [b, 1, 5s, 'x']\n", "a: [c, 2, 6s, 'y']\n"),
        ("# by: me\na: b # here\n", "# by: you\na: b # here\n"),
    ],
)
def test_scalars_of_one_sort(one: str, other: str) -> None:
    """They make no difference, but in what is no mapping."""
    assert alike(one, other) is not one.startswith("- ")
    recognised(things(one, other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a: b\n", "c: b\n"),
        ("a: b\n", "a: 1\n"),
        ("a: b\n", "a: 'b'\n"),
        ("a: b\n", 'a: "b"\n'),
        ("a: b\n", "a: 5s\n"),
        ("a: b\n", "a: b/c\n"),
        ("a: b\n", "a: WEB\n"),
        ("a: b\n", "a: no\n"),
        ("a: b\n", "a: true\n"),
        ("a: b\n", "a: Null\n"),
        ("a: b\n", "a: ~\n"),
        ("a: b\n", "a:\n"),
        ("a: b\n", "a: \n"),
        ("a: b\n", "a: b \n"),
        ("a: b\n", "a: b # c\n"),
        ("a: b\n", "a:  b\n"),
        ("a: b\n", "a: é\n"),
        ("a: 1\n", "a: 0x1\n"),
        ("a: 1\n", "a: 01\n"),
        ("a: 1\n", "a: 1.0\n"),
        ("a: 1\n", "a: 1_0\n"),
        ("a: 1\n", "a: -1\n"),
        ("a: 1\n", "a: .5\n"),
        ("a: 1\n", "a: 1000000000000000000\n"),
        ("a: 5s\n", "a: 1e3\n"),
        ("a: 5s\n", "a: 0b1\n"),
        ("a: 5s\n", "a: 0o7\n"),
        ("a: 5s\n", "a: 2026-01-01\n"),
        ("a: x/y\n", "a: ${X}\n"),
        ("a: x/y\n", "a: X_Y\n"),
        ("a: x/y\n", "a: <x>/y\n"),
        ("a: x/y\n", "a: x: y\n"),
        ("a: x/y\n", "a: x #y\n"),
        ("a: x/y\n", "a: x  y\n"),
        ('a: "x_y"\n', 'a: "X_Y"\n'),
        ('a: "x_y"\n', 'a: "x$(Y)_z"\n'),
        ('a: "x_y"\n', 'a: "x\\ty_z"\n'),
        ("a: 'x_y'\n", "a: 'it''s_y'\n"),
        ("kind: x\n", "kind: z\n"),
        ("a: {kind: x}\n", "a: {kind: z}\n"),
        ('a: {"kind": "x"}\n', 'a: {"kind": "z"}\n'),
        ("a: {'group': 'x'}\n", "a: {'group': 'z'}\n"),
        ("a: {? type : x}\n", "a: {? type : z}\n"),
        ("a: {apiVersion: x}\n", "a: {apiVersion: z}\n"),
        ("a: {parentKind: x}\n", "a: {parentKind: z}\n"),
        ("a: {strategy: x}\n", "a: {strategy: z}\n"),
    ],
)
def test_scalars_of_different_sorts(one: str, other: str) -> None:
    """Numbers, words that are none, placeholders and words of the API."""
    assert not alike(one, other)
    assert not alike(other, one)
    recognised(things(one, other, one, other))


@pytest.mark.parametrize("other", ['"WEB"', '"web"', '"W_B"', '"w-"', "'x_y'", "x"])
def test_what_is_beside_a_scalar_in_a_line_says_nothing_of_it(other: str) -> None:
    """`a, b` has a space, but neither of both has."""
    line = "a: {{b: {}, c: d}}\n"
    assert not alike(line.format('"x_y"'), line.format(other))
    assert not alike(line.format(other), line.format('"x_y"'))
    recognised(things(*(line.format(each) for each in ('"x_y"', other, '"x_y"'))))


@pytest.mark.parametrize(
    "body",
    [
        "",
        "a: |\n  b\n  # c\nd: 1\n",
        "a: >-\n  b c\n\n  d\ne: 1\n",
        "# a comment: here\n\na: 1\n",
        "a: 'b\n\n  c'\nd: 1\n",
        'a: "é \u2028 b"\nc: 1\n',
        "a: é\x85  b\nc: 1\n",
        "a: [{b: c}, {b: d}]\n",
        "a:\n- - b\n  - c\n- d: 1\n  e: 2\n",
        "a: [[], {}]\n",
        "1: x\n",
        "1.50: x\n",
        "a:\tb\n",
        "a: b - c\n",
        'a: "b\\nc"\n',
        "a: {? b : c}\n",
        "\n\n",
        "spec: {items: [a, b]}\n",
    ],
)
def test_structure_is_part_of_the_shape(body: str) -> None:
    """What holds other values, comments, text on several lines and keys that are numbers."""
    same = [body, body.replace(": 1", ": 2"), body.replace(" d", " z"), body]
    assert recognised(things(*same)) == ["n0", "n1", "n2", "n3"]


@pytest.mark.parametrize(
    "body",
    [
        # Scalars that are parts of something else, or of which it is not known where they end.
        "a: |\n  b: c\nd: 1\n",
        "a: |\n  # b: c\nd: 1\n",
        "a: >-\n  b: c\nd: 1\n",
        "a: 'b: c\n  d: e'\n",
        "a: b\n  c\nd: 1\n",
        "a: b, c\n",
        "a: b, 5s\n",
        "a: b [c, d]\n",
        "a: {b: [c,\n  d]}\n",
        "a: [\n  b\n  ]\n",
        "a: {b: c, d}\n",
        "a: x # b: c\n",
        # What more is to be said of than its value.
        "a: 1\na: 2\n",
        "a: {b: 1, b: 2}\n",
        "a: no\n",
        "on: 1\n",
        "yes: {y: n}\n",
        "a: &b 1\n",
        "a: {b: &c {d: 1}, e: *c}\n",
        "a: {<<: {b: 1}}\n",
        "a: !!str 1\n",
        "a: !b 1\n",
        "a: null\n? [b]\n: c\n",
        # What is written in other words than it says.
        'a: "\\u0062"\n',
        "a: 'b''c'\n",
        '"\\x62": 1\n',
        "True: 1\n",
        # What depends on what comes behind it.
        "a: |\n  b\n",
        "a: |+\n  b\n\n",
        "a: >\n  b\n",
        # Lists have more objects in them.
        "items: []\n",
        "items:\n- a: 1\n",
        # What is broken.
        "a: [\n",
        "a: b: c\n",
        "a: 'b\n",
        "a: \x01\n",
        "\ta: 1\n",
        "a: *b\n",
        "~: 1\n",
    ],
)
def test_what_is_read_in_full(body: str) -> None:
    """However often it comes; what was recognised before makes no difference."""
    assert recognised(things("a: 1\n", body, body, "a: 2\n", body)) == ["n0", "n3"]


@pytest.mark.parametrize(
    "head",
    [
        "kind: Thing\nmetadata: {{name: {}}}\n",
        "apiVersion: v1\nmetadata: {{name: {}}}\n",
        "apiVersion:\nkind: Thing\nmetadata: {{name: {}}}\n",
        "apiVersion: 1\nkind: Thing\nmetadata: {{name: {}}}\n",
        "apiVersion: v1\nkind: [Thing]\nmetadata: {{name: {}}}\n",
        "apiVersion: v1\n'kind': 'thing'\nmetadata: {{name: {}}}\n",
        "apiVersion: v1\nkind: Thing\nname: {}\n",
        "apiVersion: v1\nkind: Thing\nmetadata: [name, {}]\n",
        "apiVersion: v1\nkind: Thing\nmetadata: {{name: X, label: {}}}\n",
        "apiVersion: v1\nkind: Thing\nmetadata: {{name: 1, label: {}}}\n",
        "apiVersion: v1\nkind: Thing\nmetadata:\n  name: a_b\n  label: {}\n",
        "apiVersion: v1\nkind: Thing\nmetadata: {{name: [{}]}}\n",
        "apiVersion: v1\nkind: Thing\nmetadata: {{name: {}, namespace: X}}\n",
        "apiVersion: v1\nkind: Thing\nmetadata: {{name: {}, namespace: }}\n",
        "apiVersion: v1\nkind: Thing\nmetadata: {{name: {}, namespace: {{a: b}}}}\n",
        "apiVersion: v1\nkind: Thing\nmetadata: {{name: {}, namespace: 'a b'}}\n",
        "\ufeffapiVersion: v1\nkind: Thing\nmetadata: {{name: {}}}\n",
        '{{"apiVersion":"v1","kind":"Thing","metadata":{{"name": "{}"}}}}\n',
        "\n {{apiVersion: v1, kind: Thing, metadata: {{name: {}}}}}\n",
        "- apiVersion: v1\n- kind: Thing\n- metadata: {{name: {}}}\n",
    ],
)
def test_what_is_no_object_with_a_name(head: str) -> None:
    """Or none of which the name is known, or that may be read as JSON."""
    assert recognised(things("", "", "", head=head)) == []


@pytest.mark.parametrize(
    ("head", "names"),
    [
        ("apiVersion: v1\nkind: Thing\nmetadata: {{name: '5{}', namespace: a}}\n", ["5n0", "5n1"]),
        ("apiVersion: v1\nkind: Thing\nmetadata: {{namespace: 'a', name: '{}'}}\n", ["n0", "n1"]),
        ('metadata: {{"name": "{}"}}\nkind: "Thing"\napiVersion: \'v1\'\n', ["n0", "n1"]),
    ],
)
def test_names(head: str, names: list[str]) -> None:
    """In any place, with or without quotes."""
    assert recognised(things("", "", head=head)) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", []),
        ("---\n---\n", []),
        (things("", ""), ["n0", "n1"]),
        ("---\n" + things("", ""), ["n0", "n1"]),
        (things("", "").removesuffix("\n"), ["n0", "n1"]),
        (things("", "") + "---\n", ["n0", "n1"]),
        (things("", "") + "---", ["n0"]),
        (things("", "") + "\n\n", ["n0", "n1"]),
        ("\n# licence\n" + things("", ""), ["n0", "n1"]),
        ("# licence\n---\n" + things("", ""), ["n0", "n1"]),
        (things("", "", between="---\n# Source: a/b.yaml\n"), ["n0", "n1"]),
        (things("", "", between="---\n---\n"), ["n0"]),
        ("---\n---\n" + things("", ""), ["n1"]),
        (things("", "", "", between="---\n# nothing\n---\n"), ["n0", "n1", "n2"]),
        (things("", "", between="--- # more\n"), []),
        (things("", "", between="---\t\n"), []),
        (things("", "", between="---\r\n"), []),
        (things("", "", between="...\n---\n"), ["n0", "n1"]),
        (things("", "", between="...\n%YAML 1.1\n---\n"), []),
        ("%YAML 1.1\n---\n" + things("", ""), []),
        (things("", "").replace("\n", "\r\n"), []),
        (things("a: 1\n", "--- b\n", "a: 2\n"), ["n0", "n2"]),
        (things("a: |\n  b\n") + "---\n" + things("a: |\n  b\n").removesuffix("\n"), []),
        (things("a: 1\n", "{{ if }}\n", "a: [\n", "a: 2\n"), ["n0", "n3"]),
        ("x\n---\n" + things("", ""), ["n0", "n1"]),
        (things("", "") + '---\n{"a": 1}\n', ["n0", "n1"]),
    ],
)
def test_where_documents_start_and_end(text: str, names: list[str]) -> None:
    """Empty ones between them, markers with something behind them, directives, and no line break at the end."""
    assert recognised(text) == names


def test_what_is_large_is_recognised_only_behind_what_is_like_it() -> None:
    """To find out what a text is like takes longer, the longer it is."""
    large = "a: [" + ", ".join(["b"] * 4_000) + "]\n"
    assert recognised(things(large, large)) == []
    assert recognised(things("a: b\n", "a: b\n", "a: b" + "b" * 10_000 + "\n")) == ["n0", "n1", "n2"]


def test_no_more_shapes_are_sought_than_some(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has none of them keeps no memory."""
    monkeypatch.setattr("kubectl_policy.text.shapes._MAX_SHAPES", 2)
    bodies = [f"{key}: 1\n" for key in "abc"]
    assert recognised(things(*bodies, *bodies, *bodies), 2) == ["n3", "n4", "n6", "n7"]


def test_what_a_document_says() -> None:
    """All its texts but for its own name; not as it is written but as it is read."""
    body = "  namespace: home\nspec: {a: other, b: it's, c: 5}\n# by: somebody\nd: >-\n  folded\n  text\ne: 1\n"
    found = shape_at(Shapes(1), HEAD.format("own") + body)
    assert found is not None
    said = "\n".join(found.said()).split("\n")
    assert {"Thing", "example.com/v1", "metadata", "other", "it's", "folded text", "somebody", "5"} <= {*said}
    assert not {"own", "home"} & {*said}


def test_what_is_nested_deeply() -> None:
    """Not so deeply that it is refused; deeper than what code can say, it is read each time."""
    assert recognised(things(*[f"a: {'[' * 120}b{']' * 120}\n"] * 5)) == [f"n{place}" for place in range(5)]
    assert recognised(things(*[f"a: {'[' * 180}b{']' * 180}\n"] * 5)) == []


def test_keys_that_look_like_code() -> None:
    """Are keys, however they are quoted."""
    keys = ['"it\'s"', "'\"'", "'\\'", '"{scalars}"', "\"' + x() + '\""]
    body = "".join(f"  {key}: b\n" for key in keys)
    assert recognised(things(*[f"a:\n{body}"] * 3)) == ["n0", "n1", "n2"]
