"""Documents, as `-o json` and `-o yaml` print them: declared once for each type, with the schema that is published.

A `Shape` says which fields a value has in a document, what each is called there, and what is to be known of it. What
type a field is of, the value's own annotations say. `encode` makes plain mappings, lists and scalars of values, and
`json_pieces` writes them without having all of them at once; the published JSON Schema is made of the same shapes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from math import isfinite
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from msgspec import Struct, field

from kubectl_policy.render.output.encoding import members
from kubectl_policy.render.output.escape import commands, uncommanding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_policy.model import Json

# A group of our own, which no API server serves and no domain name claims.
API_VERSION: Final = "policy.kubectl/v1alpha1"
# PyYAML folds longer strings, which makes them hard to search for.
_UNFOLDED: Final = 2**30
_TEXT: Final = "tag:yaml.org,2002:str"

Getter: TypeAlias = "str | Callable[[Any], object]"


class Field(Struct, frozen=True):
    """A field of a document.

    `get` is the attribute that it has the value of (`declared.field`; None: as the field is called, in snake case), or
    a function of what the document is about. `type` is an annotation, needed where `get` has none or one that is too
    wide. `shape` is that of the value, or of each in a list, where it is another than values of the type have
    elsewhere. `limits` are further keywords of JSON Schema for the value, or for each in a list.
    """

    name: str
    get: Getter | None = None
    doc: str = ""
    type: Any = None
    shape: Shape | None = None
    limits: Mapping[str, Json] = field(default_factory=dict[str, "Json"])

    @property
    def attribute(self) -> str:
        """The dotted attribute that the field has the value of; empty if a function gets it."""
        if self.get is None:
            return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in self.name)
        return self.get if isinstance(self.get, str) else ""

    @property
    def getter(self) -> Callable[[Any], object]:
        """The function that gets the value."""
        return self.get if callable(self.get) else attrgetter(self.attribute)


class Shape:
    """The fields that values of a type have in a document, in their order; called with one, it is that document.

    `name` is what the schema calls it. Values that `recur`, which can be hashed, are few and written again and again.
    """

    def __init__(self, of: type, name: str, *fields: Field, doc: str = "", recur: bool = False) -> None:
        """See the class."""
        self.of, self.name, self.fields, self.doc = of, name, fields, doc
        self.recur = recur
        self._getters = tuple((field.name, field.getter, field.shape) for field in fields)

    def __call__(self, about: object) -> Shaped:
        """The document about a value, of which nothing is made yet."""
        return Shaped(self, about)

    def plain(self, about: object) -> dict[str, Json]:
        """The document about a value, as plain mappings, lists and scalars."""
        return {name: encode(get(about), shape) for name, get, shape in self._getters}

    def entries(self, about: object) -> Iterator[tuple[str, object, Shape | None]]:
        """The fields of the document about a value, each with what it is made of: a value, and its shape there."""
        return ((name, get(about), shape) for name, get, shape in self._getters)


class Shaped(Struct, frozen=True):
    """A document that is yet to be made: a value, and the shape that it has there."""

    shape: Shape
    about: object

    def plain(self) -> dict[str, Json]:
        """All of it, as plain mappings, lists and scalars."""
        return self.shape.plain(self.about)

    def in_context(self, context: str) -> Shaped:
        """Return the document with the context of its cluster, after what says which document it is."""
        own = self.shape
        field = Field("context", lambda _: context, type=str)
        return Shaped(Shape(own.of, own.name, *own.fields[:2], field, *own.fields[2:]), self.about)


_SHAPES: Final[dict[type, Shape]] = {}


def shape(of: type, name: str, *fields: Field, doc: str = "", recur: bool = False) -> Shape:
    """The shape of all values of a type, wherever they occur."""
    _SHAPES[of] = Shape(of, name, *fields, doc=doc, recur=recur)
    return _SHAPES[of]


def shape_of(kind: type) -> Shape | None:
    """The shape of a type's values: as it was declared, else of its members for documents; None if it has none."""
    own = _SHAPES.get(kind)
    if own is None and members(kind):
        config = getattr(kind, "__struct_config__", None)
        recur = bool(config and config.cache_hash)
        own = _SHAPES[kind] = Shape(kind, kind.__name__, *fields_of_members(kind), doc=kind.__doc__ or "", recur=recur)
    return own


def fields_of_members(kind: type) -> tuple[Field, ...]:
    """The fields for the members of a type that documents show."""
    return tuple(Field(name, attribute) for name, attribute in members(kind).items())


def answer_document(of: type, kind: str, headline: Callable[[Any], str]) -> Shape:
    """The shape of an answer: a document with a version, a kind, a headline, and the members of the answer."""
    sentence = Field("headline", headline, type=str, doc="The answer in one sentence, for people.")
    return document(of, kind, sentence, *fields_of_members(of), doc=of.__doc__ or "")


def document(of: type, kind: str, *fields: Field, doc: str) -> Shape:
    """The shape of an answer: a document with a version and a kind."""
    head = (
        Field("apiVersion", lambda _: API_VERSION, type=Any, limits={"const": API_VERSION}),
        Field("kind", lambda _: kind, type=Any, limits={"const": kind}),
    )
    return Shape(of, kind, *head, *fields, doc=doc)


_PLAIN: Final = frozenset({str, int, bool, type(None)})


def encode(answer: object, as_shape: Shape | None = None) -> Json:
    """A value as JSON has it: by its shape, or by that of what it holds; a value from the input as it is.

    JSON knows no infinity, which a number of 400 digits is read as: it becomes text. Raises `TypeError` for a value
    that has no shape.
    """
    kind = type(answer)
    if kind in _PLAIN:
        return answer  # type: ignore[return-value]  # it is one of these
    if isinstance(answer, Shaped):
        as_shape, answer = answer.shape, answer.about
    own = _shape(type(answer), as_shape)
    if own:
        return own.plain(answer)
    if isinstance(answer, Mapping):
        return {key: encode(child) for key, child in cast("Mapping[str, object]", answer).items()}
    if isinstance(answer, Iterable) and not isinstance(answer, str):
        return [encode(child, as_shape) for child in cast("Iterable[object]", answer)]
    if isinstance(answer, Enum):
        return encode(answer.value)
    if isinstance(answer, float):
        return answer if isfinite(answer) else str(answer)
    raise TypeError(f"{kind.__name__} has no shape in documents")


def _shape(kind: type, as_shape: Shape | None) -> Shape | None:
    return as_shape if as_shape and issubclass(kind, as_shape.of) else shape_of(kind)


# A value of which the text begins with a longer line break than this is within an item of a list in an item of a list,
# and small unless it has so many items itself.
_SMALL: Final = len("\n        ")
_MANY: Final = 256
# Writing less at a time takes longer.
_PIECE: Final = 2**15


def json_pieces(document: Shaped | Mapping[str, Json] | list[Json]) -> Iterator[str]:
    """The document as JSON, in pieces that are made one after the other, so that never much of it is in memory.

    It is in ASCII only: what a name holds can then do no harm and is kept by any encoding.
    """
    pieces: list[str] = []
    size = 0
    for text in _pieces(document, None, "\n", ""):
        pieces.append(text)
        size += len(text)
        if size > _PIECE:
            yield uncommanding("".join(pieces), "\\u00")
            pieces, size = [], 0
    yield uncommanding("".join(pieces), "\\u00")


def _pieces(value: object, as_shape: Shape | None, line: str, head: str) -> Iterator[str]:
    """The text of a value after the start of a `line`, behind a `head`: each item of a list that is not small alone."""
    if isinstance(value, Shaped):
        as_shape, value = value.shape, value.about
    kind = type(value)
    own = _shape(kind, as_shape)
    inner = f"{line}  "
    if kind in _PLAIN or (
        len(line) >= _SMALL and (kind is not tuple or len(cast("tuple[object, ...]", value)) < _MANY)
    ):
        yield head + _text(value, own or as_shape, line)
    elif own:
        yield from _fields(own.entries(value), line, head)
    elif isinstance(value, Mapping):
        mapping = cast("Mapping[str, object]", value)
        yield from _fields(((key, child, None) for key, child in mapping.items()), line, head)
    elif isinstance(value, Iterable) and not isinstance(value, str):
        head += "["
        for item in cast("Iterable[object]", value):
            yield from _pieces(item, as_shape, inner, f"{head}{inner}")
            head = ","
        yield f"{head}]" if head.endswith("[") else f"{line}]"
    else:
        yield head + _text(value, None, line)


def _fields(entries: Iterable[tuple[str, object, Shape | None]], line: str, head: str) -> Iterator[str]:
    inner = f"{line}  "
    head += "{"
    for name, child, shape in entries:
        yield from _pieces(child, shape, inner, f"{head}{inner}{encode_basestring_ascii(name)}: ")
        head = ","
    yield f"{head}}}" if head.endswith("{") else f"{line}}}"


_ENCODER: Final = json.JSONEncoder(allow_nan=False)


def _text(value: object, as_shape: Shape | None, line: str) -> str:
    """What `json.dumps` writes with an indent of two, after the start of a `line`, of what `encode` makes of a value.

    It gives up its fast encoder for an indent, and a large document is most of the time that an answer takes.
    """
    kind = type(value)
    if kind in _PLAIN:
        return encode_basestring_ascii(value) if isinstance(value, str) else _ENCODER.encode(value)
    own = _shape(kind, as_shape)
    if own:
        return _recurring(own, value, line) if own.recur else _of_fields(own.entries(value), line)
    if isinstance(value, Mapping):
        mapping = cast("Mapping[str, object]", value)
        return _of_fields(((key, child, None) for key, child in mapping.items()), line)
    if isinstance(value, Iterable) and not isinstance(value, str):
        inner = f"{line}  "
        items = [f"{inner}{_text(item, as_shape, inner)}" for item in cast("Iterable[object]", value)]
        return f"[{','.join(items)}{line}]" if items else "[]"
    if isinstance(value, Enum):
        return _text(value.value, None, line)
    return _ENCODER.encode(encode(value))


def _of_fields(entries: Iterable[tuple[str, object, Shape | None]], line: str) -> str:
    inner = f"{line}  "
    fields = [f"{inner}{encode_basestring_ascii(name)}: {_text(child, shape, inner)}" for name, child, shape in entries]
    return f"{{{','.join(fields)}{line}}}" if fields else "{}"


@lru_cache(maxsize=2**13)
def _recurring(own: Shape, value: object, line: str) -> str:
    return _of_fields(own.entries(value), line)


def as_yaml(document: Json, *, unicode: bool) -> str:
    """The document as YAML; in ASCII only without `unicode`, and where anything in it cannot be printed."""
    return _dumped(document, unicode=unicode, flow=False)


def as_field(key: str, value: Json, *, unicode: bool) -> str:
    """A field and its value in the flow style of YAML, on one line unless the value has several: `name: {a: 1}`."""
    return _dumped({key: value}, unicode=unicode, flow=True)[1:-1]


def as_item(value: Json, *, unicode: bool) -> str:
    """An item of a list, in the flow style of YAML; see `as_field`."""
    return f"- {_dumped([value], unicode=unicode, flow=True)[1:-1]}"


def _dumped(document: Json, *, unicode: bool, flow: bool) -> str:
    import yaml  # noqa: PLC0415 (the other formats do without)

    from kubectl_policy.text.scalars import plain_scalar  # noqa: PLC0415 (see above)

    class _WithoutAliases(yaml.SafeDumper):
        """The safe dumper, writing out what occurs twice: nobody wants to read `*id001`."""

        def ignore_aliases(self, data: object) -> bool:
            """Whether a value is never to be written as an alias: all are."""
            del data
            return True

    def as_read(dumper: Any, text: str) -> yaml.ScalarNode:  # noqa: ANN401 (PyYAML leaves its methods untyped)
        # kubectl takes more words for truth values and numbers than PyYAML does: `n`, `1e3`.
        style = None if isinstance(plain_scalar(text), str) else "'"
        node: yaml.ScalarNode = dumper.represent_scalar(_TEXT, text, style=style)
        return node

    def quoted(dumper: Any, text: str) -> yaml.ScalarNode:  # noqa: ANN401 (PyYAML leaves its methods untyped)
        node: yaml.ScalarNode = dumper.represent_scalar(_TEXT, text, style='"')
        return node

    def dump(*, unicode: bool) -> str:
        return yaml.dump(
            document,
            Dumper=_WithoutAliases,
            sort_keys=False,
            width=_UNFOLDED,
            allow_unicode=unicode,
            default_flow_style=flow,
        ).rstrip("\n")

    _WithoutAliases.add_representer(str, as_read)
    text = dump(unicode=unicode)
    if commands(text):
        # Within quotes an escape means the same and does nothing.
        _WithoutAliases.add_representer(str, quoted)
        text = uncommanding(dump(unicode=unicode))
    # PyYAML takes bidirectional controls for printable; written as escapes they mean the same and do nothing.
    return text if all(map(str.isprintable, text.split("\n"))) else uncommanding(dump(unicode=False))
