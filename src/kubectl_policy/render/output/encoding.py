"""Answers as documents: the members of an answer as JSON and YAML, under a head with version, kind and headline.

The members of a value are its fields and properties whose types are annotated with `Meta`, as
`Annotated[str, Meta(description="The name of the rule.")]`; the published schema is made of the same annotations. What
has no such annotation is for code, and in no document. The members of a part, `Annotated[Mentions, "inline"]`, stand
among those of what it is a part of.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import cached_property, lru_cache
from itertools import islice
from math import isfinite
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from kubectl_policy.model.kind_roles import NAMESPACE
from kubectl_policy.model.refs import shown_namespace
from kubectl_policy.profiles.reading import camel_case
from kubectl_policy.render.output.escape import escape_commands, escape_in_json, has_commands

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Json

# A group of our own, which no API server serves and no domain name claims.
API_VERSION: Final = "policy.kubectl/v1alpha1"
_MEMBER: Final = re.compile(r"Annotated\[.*\bMeta\(", re.DOTALL)
_INLINE: Final = re.compile(r"Annotated\[(\w+), 'inline'\]")
_SCALARS: Final = frozenset({str, int, bool, type(None), msgspec.Raw})
# So many items of a list are encoded at once: a document of thousands is never in memory as a whole.
_CHUNK: Final = 256
_NOT_ASCII: Final = re.compile(r"[^\n -~]")
# PyYAML folds longer strings, which makes them hard to search for.
_UNFOLDED: Final = 2**30
_TEXT: Final = "tag:yaml.org,2002:str"


def document(kind: str, headline: str, answer: object, context: str = "") -> dict[str, object]:
    """Return the document of an answer; `context` is that of its cluster, where answers of several are shown."""
    return envelope(kind, {"headline": headline, **members_of(answer)}, context)


def envelope(kind: str, content: Mapping[str, object], context: str = "") -> dict[str, object]:
    """Return a document with a version and a kind."""
    return {"apiVersion": API_VERSION, "kind": kind, **({"context": context} if context else {}), **content}


def members_of(value: object) -> dict[str, object]:
    """Return the members of a value by their names in documents."""
    names, get = _members(type(value))
    return dict(zip(names, get(value), strict=True))


def members(kind: type) -> Mapping[str, str]:
    """Return the names in documents of the members of a type, with the attributes; properties come before fields.

    A name is the attribute in camel case, without the underscore behind a keyword of Python: `class_`, `known_by`. The
    attribute of what is inline has dots: `requests.hostnames`.
    """
    attributes: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        for name, attribute in vars(base).items():
            getter = attribute.func if isinstance(attribute, cached_property) else getattr(attribute, "fget", None)
            if _MEMBER.match(str(getattr(getter, "__annotations__", {}).get("return", ""))):
                attributes[camel_case(name.rstrip("_"))] = name
        annotations: dict[str, object] = vars(base).get("__annotations__", {})
        for name, annotation in annotations.items():
            if part := _INLINE.fullmatch(str(annotation)):
                inline = members(getattr(sys.modules[base.__module__], part[1]))
                attributes |= {member: f"{name}.{attribute}" for member, attribute in inline.items()}
            elif _MEMBER.match(str(annotation)):
                attributes[camel_case(name.rstrip("_"))] = name
    return attributes


_MEMBERS: Final[dict[type, tuple[tuple[str, ...], Callable[[object], tuple[object, ...]]]]] = {}


def _members(kind: type) -> tuple[tuple[str, ...], Callable[[object], tuple[object, ...]]]:
    """Return the names of the members of a type, and a function that gets them from a value."""
    if kind not in _MEMBERS:
        names = members(kind)
        if not names:
            raise TypeError(f"{kind.__name__} has no members for documents")
        get = attrgetter(*names.values())
        _MEMBERS[kind] = tuple(names), (lambda value: (get(value),)) if len(names) == 1 else get
    return _MEMBERS[kind]


def json_ready(value: object) -> Any:  # noqa: ANN401 (of any type that JSON knows)
    """Return a value as the encoder takes it: mappings, lists and scalars, and parts that are encoded already.

    JSON knows no infinity, which a number of 400 digits is read as: it becomes text. Raises `TypeError` for a value
    without members.
    """
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is tuple or kind is list:
        return [json_ready(item) for item in cast("Iterable[object]", value)]
    config = getattr(kind, "__struct_config__", None)
    if config:
        if config.cache_hash:
            return _encoded(value)
        names, get = _members(kind)
        return _with_shown_names(dict(zip(names, map(json_ready, get(value)), strict=True)))
    return _json_ready(value)


def _json_ready(value: object) -> Any:  # noqa: ANN401 (see `json_ready`)
    """Return a value of a rare type as the encoder takes it."""
    if isinstance(value, Mapping):
        return {name: json_ready(child) for name, child in cast("Mapping[str, object]", value).items()}
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [json_ready(item) for item in cast("Iterable[object]", value)]
    raise TypeError(f"{type(value).__name__} has no members for documents")


@lru_cache(maxsize=2**13)
def _encoded(value: object) -> Any:  # noqa: ANN401 (see `json_ready`)
    """Return a reference, which documents repeat, in its encoded form."""
    parts = _with_shown_names({name: json_ready(member) for name, member in members_of(value).items()})
    try:
        return msgspec.Raw(msgspec.json.encode(parts))
    except UnicodeEncodeError:
        return parts


def _with_shown_names(parts: dict[str, Any]) -> dict[str, Any]:
    """Return the members of a value without the placeholder of a namespace that nothing states."""
    if "namespace" in parts and isinstance(parts["namespace"], str):
        member = "name" if parts.get("kind") == NAMESPACE.kind else "namespace"
        parts[member] = shown_namespace(parts[member])
    return parts


def plain(value: object) -> Json:
    """Return a value as mappings, lists and scalars."""
    decoded: Json = json.loads(_json(value))
    return decoded


def _json(value: object) -> str:
    """Return a value as JSON with an indent of two, in ASCII."""
    parts = json_ready(value)
    try:
        text = msgspec.json.format(msgspec.json.encode(parts), indent=2).decode()
    except UnicodeEncodeError:
        # Half of a surrogate pair, which no encoding has, is written as an escape.
        return json.dumps(parts, indent=2, default=lambda raw: json.loads(bytes(raw)))
    if text.isascii() and "\x7f" not in text:
        return text
    return _NOT_ASCII.sub(lambda match: json.dumps(match[0])[1:-1], text)


def json_pieces(value: object) -> Iterator[str]:
    """Return a value as JSON, in pieces of a few hundred items of the lists in it, so that memory holds few of them.

    It is in ASCII only: what a name holds can then do no harm and is kept by any encoding.
    """
    if not isinstance(value, dict):
        yield escape_in_json(_json(value))
        return
    head = "{"
    for name, child in cast("dict[str, object]", value).items():
        yield f"{head}\n  {escape_in_json(_json(name))}: "
        head = ","
        if _is_list(child):
            yield from _items(iter(cast("Iterable[object]", child)))
        else:
            yield escape_in_json(_json(child).replace("\n", "\n  "))
    yield "{}" if head == "{" else "\n}"


def _is_list(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, Mapping))


def _items(items: Iterator[object]) -> Iterator[str]:
    head = "["
    while chunk := list(islice(items, _CHUNK)):
        # Without the brackets of the chunk.
        text = _json(chunk)[1:-2].replace("\n", "\n  ")
        yield head + escape_in_json(text)
        head = ","
    yield "[]" if head == "[" else "\n  ]"


def as_yaml(document: Json, *, unicode: bool) -> str:
    """Return the document as YAML; in ASCII only without `unicode`, and where anything in it cannot be printed."""
    return _dumped(document, unicode=unicode, flow=False)


def as_field(key: str, value: Json, *, unicode: bool) -> str:
    """Return a field in the flow style of YAML, on one line unless the value has several: `name: {a: 1}`."""
    return _dumped({key: value}, unicode=unicode, flow=True)[1:-1]


def as_item(value: Json, *, unicode: bool) -> str:
    """Return an item of a list, in the flow style of YAML; see `as_field`."""
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
    if has_commands(text):
        # Within quotes an escape means the same and does nothing.
        _WithoutAliases.add_representer(str, quoted)
        text = escape_commands(dump(unicode=unicode))
    # PyYAML takes bidirectional controls for printable; written as escapes they mean the same and do nothing.
    return text if all(map(str.isprintable, text.split("\n"))) else escape_commands(dump(unicode=False))
