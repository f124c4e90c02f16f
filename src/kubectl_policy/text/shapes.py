"""Documents that differ from others in some scalars alone: recognised without parsing, and made when asked for.

Manifests repeat themselves: thousands of routes have the same fields in the same layout. What is written in a document
beside names, numbers and other scalars behind its keys is its shape. A document of a known shape can be read,
for one of that shape was; it has the same fields on the same lines. The words of the API (kinds, groups, versions,
types, booleans) are part of the shape, and so is whether a scalar could be a name, a number or neither: whatever only
depends on these is the same for all documents of one shape.
"""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from kubectl_policy.model import GroupKind
from kubectl_policy.model.body import strings_in
from kubectl_policy.model.fields import same_json
from kubectl_policy.model.patterns import pattern
from kubectl_policy.text.plain_yaml import read_plain
from kubectl_policy.text.recognised import Shape, ShapedDocument, Written
from kubectl_policy.text.scalars import ONLY_WORDS, PlainKeys, PlainScalars

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.text import Document

# What is no text to kubectl, or is none to others.
_WORDS: Final = sorted({*ONLY_WORDS, "true", "false", "null"})
# A name that starts with a small letter, or in quotes has no others: what stands for something else is written in
# capitals, or with other characters (see `model/unknown.py`).
_SMALL_WORD: Final = "|".join(filter(str.islower, _WORDS))
_NAME: Final = rf"(?:[a-eg-mp-su-xz]|(?!(?:{_SMALL_WORD})(?![-\w.]))[fnoty])[-a-zA-Z0-9.]*+(?<![-.])"
_QUOTED_NAME: Final = r"(?:\*\.)?[a-z0-9][-a-z0-9.]*+(?<![-.])"
# Text that no name is like, for one of these characters in it, and that stands for nothing else.
_ODD: Final = "_/+=~()@ :"
_NO_CRY: Final = r"(?![A-Z0-9]++(?:_[A-Z0-9]++)++(?:[\"']|$))"


class _Sort(NamedTuple):
    """A sort of scalars that mean the same wherever they stand, behind a key or as an item, up to the `end` of them.

    `mark` is what stands for one in a shape; no text that is YAML has that character. `is_text` is whether it is text
    as it is written between its quotes, if it has any, and `is_name` whether it may be the name of an object.
    """

    mark: str
    pattern: str
    quote: str = ""
    is_text: bool = True
    is_name: bool = True
    end: str = r"(?=[,}\]]|$)"


_SORTS: Final = (
    _Sort("\x01", _NAME),
    _Sort("\x02", r"(?:0|[1-9][0-9]{0,17}+)", is_text=False, is_name=False),
    _Sort("\x03", r"[0-9]++(?![exbo])[a-z][a-zA-Z]*+"),
    _Sort(
        "\x04",
        rf"{_NO_CRY}(?=[^\n{_ODD}]*+[{_ODD}])[a-zA-Z/][\w./+=~()@-]*+(?:[ :][\w./+=~()@-]++)*+",
        is_name=False,
        end="$",
    ),
    _Sort("\x05", _QUOTED_NAME, '"'),
    _Sort("\x06", rf"{_NO_CRY}(?=[^\"{_ODD}]*+[{_ODD}])[ !#%-;=?-Z^-z|~]++", '"', is_name=False),
    _Sort("\x07", _QUOTED_NAME, "'"),
    _Sort("\x08", rf"{_NO_CRY}(?=[^'{_ODD}]*+[{_ODD}])[ -#%&(-;=?-Z^-z|~]++", "'", is_name=False),
)
_BY_MARK: Final = {sort.mark: sort for sort in _SORTS}
_MARK: Final = pattern("([\x01-\x08])")
# Behind a key or as an item; but the words of the API stand at these keys.
_AT: Final = (
    r"(?:(?<=[:-] )|(?<=, )|(?<=\[))"
    r"(?<!kind: )(?<!Kind: )(?<!group: )(?<!Group: )(?<!Version: )(?<!type: )(?<!strategy: )"
)
_SCALAR: Final = pattern(
    _AT
    + rf"(?!(?:{'|'.join(_WORDS)})(?![-\w.]))"
    + rf"(?:{'|'.join(f'{sort.quote}({sort.pattern}){sort.quote}{sort.end}' for sort in _SORTS)})",
    re.ASCII | re.MULTILINE,
)
# The same keys, however they are written.
_API_KEYS: Final = ("kind", "Kind", "group", "Group", "Version", "type", "strategy")
# What means something else in a pattern. `re.escape` takes the blanks along, and each takes time to read again.
_ESCAPED: Final = {ord(sign): f"\\{sign}" for sign in r".^$*+?{}[]\|()"}
# So many shapes are tried before one is looked up.
_TRIED: Final = 3
# Few documents that are larger than this are alike.
_MAX_SIZE: Final = 2**13
_MAX_SHAPES: Final = 2**14
# Python takes no expression with more than two hundred brackets in each other.
_MAX_DEPTH: Final = 150
# What the values of a shape are made of: the place of a scalar, a value that all have, or what holds more.
_Node: TypeAlias = "int | tuple[Json] | dict[str, _Node] | list[_Node]"


class Shapes:
    """The shapes that were met. A shape is made where documents repeat themselves."""

    def __init__(self, patience: int) -> None:
        """Know none; of so many documents that are alike, the last one makes a shape."""
        self._patience = patience
        self._known: dict[str, Shape | int] = {}
        # Until there are enough of them for a shape, they are not even compared.
        self._first: list[str] | None = []
        # Documents follow each other as others did before: the shapes that came after each, the latest first.
        self._next: dict[Shape | None, list[Shape]] = {}
        self._last: Shape | None = None
        self._namespaces: dict[str, str] = {}

    def at(self, written: Written, start: int, end: int, line: int) -> ShapedDocument | None:
        """The document between two places of a text; None where it has no shape, or none is known yet."""
        text, tried = written.text, self._next.get(self._last, ())
        found: Shape | None
        for found in tried:
            if match := found.pattern.fullmatch(text, start, end):
                break
        else:
            found = self._looked_up(text[start:end]) if end - start <= _MAX_SIZE else None
            match = found.pattern.fullmatch(text, start, end) if found else None
        if match and found and (not tried or found is not tried[0]):
            others = [each for each in tried if each is not found]
            self._next[self._last] = [found, *others[: _TRIED - 1]]
        self._last = found
        if found is None or match is None:
            return None
        name, namespace = match.group(found.name + 1, found.namespace + 1)
        if found.namespace < 0:
            namespace = ""
        # Few namespaces have many objects: each is kept once.
        namespace = self._namespaces.setdefault(namespace, namespace)
        told = (found, written, start, end, line, name, namespace)
        # There may be a hundred thousand of them: this takes a third of the time of a call of the class.
        document: ShapedDocument = tuple.__new__(ShapedDocument, told)  # pyright: ignore[reportUnknownMemberType]
        written.documents.append(document)
        return document

    def _looked_up(self, text: str) -> Shape | None:
        if self._first is None:
            return self._counted(text)
        self._first.append(text)
        if len(self._first) < self._patience:
            return None
        first, self._first = self._first, None
        return [self._counted(each) for each in first][-1]

    def _counted(self, text: str) -> Shape | None:
        marked = _SCALAR.sub(lambda found: _marked(found.lastindex or 1), text)
        known = self._known.get(marked, 0)
        if isinstance(known, int):
            if 0 <= known < self._patience - 1:
                if known or len(self._known) < _MAX_SHAPES:
                    self._known[marked] = known + 1
                return None
            known = (shape_of(text, marked) or -1) if known >= 0 else known
            self._known[marked] = known
        return known if isinstance(known, Shape) else None


def _marked(number: int) -> str:
    sort = _SORTS[number - 1]
    return f"{sort.quote}{sort.mark}{sort.quote}"


def shape_of(text: str, marked: str) -> Shape | None:
    """The shape that a document makes; None where its scalars cannot be told from what is around them.

    They can where each is a value of its own, or in a comment, and what is made of it is what is read.
    """
    if any(line.count("{") + line.count("[") != line.count("}") + line.count("]") for line in marked.split("\n")):
        return None
    stem = "v"
    while stem in text:
        stem += "v"
    parts = _MARK.split(marked)
    names = [f"{stem}{place}" for place in range(len(parts) // 2)]
    told = "".join(part for pair in zip(parts[::2], (*names, ""), strict=True) for part in pair)
    places = {name: place for place, name in enumerate(names)}
    try:
        read, itself = _read(told, text)
        node = _node(read.value, places, stem)
        comments = [line for line in told.split("\n") if line.lstrip().startswith("#")]
        if not (isinstance(node, dict) and all(any(line.endswith(f" {name}") for line in comments) for name in places)):
            return None
        words = "\n".join(each for each in strings_in(read.value) if stem not in each)
        shape = _shape(marked, node, words, array("L", read.value_lines or ()))
    except ValueError:
        return None
    found = ShapedDocument(shape, Written(text), 0, len(text), 0, "", "")
    made = shape.document(found, PlainScalars())
    return shape if same_json(made.value, itself.value) and made.value_lines == itself.value_lines else None


def _shape(marked: str, node: dict[str, _Node], words: str, lines: array[int]) -> Shape:
    """By a document with marks for its scalars, its values and the lines of these, the first line being 0.

    Raises `ValueError` where these are not those of an object with a name.
    """
    parts = _MARK.split(marked)
    sorts = [_BY_MARK[mark] for mark in parts[1::2]]
    metadata = node.get("metadata")
    inside = metadata if isinstance(metadata, dict) else {}
    name, namespace = inside.get("name"), inside.get("namespace", -1)
    if not (isinstance(name, int) and isinstance(namespace, int)) or "items" in node:
        raise ValueError
    if not all(sorts[place].is_name for place in (name, namespace) if place >= 0):
        raise ValueError
    literals = [part.translate(_ESCAPED) for part in parts[::2]]
    patterns = (*(f"({sort.pattern})" for sort in sorts), "")
    whole = "".join(part for pair in zip(literals, patterns, strict=True) for part in pair)
    api_version, kind = (_word(node.get(key)) for key in ("apiVersion", "kind"))
    return Shape(
        api_version=api_version,
        group_kind=GroupKind(api_version.rpartition("/")[0], kind),
        name=name,
        namespace=namespace,
        pattern=re.compile(whole, re.ASCII | re.MULTILINE),
        plain=tuple(place for place, sort in enumerate(sorts) if not sort.is_text),
        words=words,
        height=marked.count("\n"),
        lines=lines,
        made=_maker(node),
    )


def _read(told: str, text: str) -> tuple[Document, Document]:
    """What is read of a text with names for its scalars, and of the text itself; their first line is 0.

    Raises `ValueError` where not both are one plain document, or where it depends on what is around a text.
    """
    scalars, keys = PlainScalars(), PlainKeys()
    # As one of several documents, and as the last one, without a line break at its end.
    ways = (f"---\n{told}\n", -1), (f"---\n{text}\n", -1), (text, 0)
    found = [read_plain(way, line, scalars, keys) for way, line in ways]
    # What starts like JSON may be read as that; and words that are booleans to some are counted.
    if not all(each and len(each) == 1 for each in found) or text.lstrip().startswith(("{", "[")):
        raise ValueError
    if scalars.words or keys.words:
        raise ValueError
    read, itself, alone = (document for each in found for document in each or ())
    # What is written with escapes is not found in the text.
    if itself != alone or not all(part in text for each in strings_in(itself.value) for part in each.split()):
        raise ValueError
    return read, itself


def _node(value: Json, places: dict[str, int], stem: str) -> _Node:
    """A value with the places of scalars instead of their names, which are taken out of these.

    Raises `ValueError` where a name is part of something else, or where a word of the API should be.
    """
    if isinstance(value, dict):
        if any(stem in key for key in value):
            raise ValueError
        node = {key: _node(inner, places, stem) for key, inner in value.items()}
        if any(isinstance(inner, int) and key.endswith(_API_KEYS) for key, inner in node.items()):
            raise ValueError
        return node
    if isinstance(value, list):
        return [_node(inner, places, stem) for inner in value]
    if isinstance(value, str) and stem in value:
        if value not in places:
            raise ValueError
        return places.pop(value)
    return (value,)


def _word(node: _Node | None) -> str:
    """A word that all documents of a shape have in one place; raises `ValueError` where it is none."""
    word = node[0] if isinstance(node, tuple) else None
    if isinstance(word, str) and word:
        return word
    raise ValueError


def _maker(node: _Node) -> Callable[[Sequence[Json]], Json]:
    """What makes the value of a node from scalars: code of its own, which takes a quarter of the time of calls.

    Raises `ValueError` for a node that is too deep for that.
    """
    constants: list[Json] = []
    code = f"lambda scalars: {_code(node, constants, 0)}"
    made: Callable[[Sequence[Json]], Json] = eval(code, {"constants": constants})  # noqa: S307 (nothing is in it but brackets and numbers)
    return made


def _code(node: _Node, constants: list[Json], depth: int) -> str:
    """An expression for the value of a node; of what is written in documents there are only numbers in it."""
    if depth > _MAX_DEPTH:
        raise ValueError
    if isinstance(node, tuple):
        constants.append(node[0])
        return f"constants[{len(constants) - 1}]"
    if isinstance(node, int):
        return f"scalars[{node}]"
    if isinstance(node, dict):
        fields: list[str] = []
        for key, inner in node.items():
            constants.append(key)
            fields.append(f"constants[{len(constants) - 1}]: {_code(inner, constants, depth + 1)}")
        return f"{{{', '.join(fields)}}}"
    return f"[{', '.join(_code(inner, constants, depth + 1) for inner in node)}]"
