"""Content of one object: kept, or decoded from compact JSON on first access; names are searched for in the JSON."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from sys import intern
from typing import Final, TypeAlias

import msgspec

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

_KIND: Final = ("apiVersion", "kind")
# Fields of metadata that are longer than all else in it.
_LONG_METADATA: Final = frozenset({"annotations", "managedFields"})
# Names of fields, of which many objects have the same.
_NAMES: Final[dict[tuple[str, ...], tuple[str, ...]]] = {}


class _Deferred(Mapping[str, "Json"]):
    """Mapping of which some fields are at hand, and the others are loaded on first access to any of them."""

    __slots__ = ("_content", "_head", "_names")

    def __init__(self, head: Mapping[str, Json], names: Collection[str], content: Mapping[str, Json] | None) -> None:
        """Keep some fields, the names of all fields, and all of them if they are known."""
        self._head, self._names, self._content = head, names, content

    @abstractmethod
    def _load(self) -> Mapping[str, Json]:
        """Return all fields."""

    @property
    def content(self) -> Mapping[str, Json]:
        """All fields, which are loaded unless they were before."""
        if self._content is None:
            self._content = self._head = self._load()
        return self._content

    def __getitem__(self, key: str) -> Json:
        """Return a field."""
        return self._head[key] if key in self._head else self.content[key]

    def get(self, key: str, default: Json = None) -> Json:  # type: ignore[override] # (any default is JSON)
        """Return a field, or a default."""
        if key in self._head:
            return self._head[key]
        return self.content[key] if key in self._names else default

    def __contains__(self, key: object) -> bool:
        """Whether there is a field of this name."""
        return key in self._names

    def __repr__(self) -> str:
        """Return all fields as a dictionary shows them."""
        return repr({**self.content})

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of all fields."""
        return iter(self.content)

    def __len__(self) -> int:
        """Return the number of fields."""
        return len(self._names)


class Body(_Deferred):
    """Content of one object, which never changes."""

    __slots__ = ("_text",)

    def __init__(self, content: Mapping[str, Json], text: bytes | None = None) -> None:
        """Keep the content of an object, and its text if that is known."""
        super().__init__(content, content, content)
        self._text = text

    @classmethod
    def deferred(cls, content: Mapping[str, Json]) -> Body:
        """Return a body that keeps only the head of a content and its text."""
        try:
            text = msgspec.json.encode(content, enc_hook=dict)
        except UnicodeEncodeError:
            return cls(content)
        # JSON has no infinity.
        if b"null" in text and msgspec.json.decode(text) != content:
            return cls(content, text)
        head = {key: _shared(content[key]) for key in _KIND if key in content}
        body = cls(head, text)
        body._names, body._content = _shared_names(content), None
        metadata = content.get("metadata")
        if isinstance(metadata, dict):
            short = {intern(key): _shared(value) for key, value in metadata.items() if key not in _LONG_METADATA}
            is_whole = len(short) == len(metadata)
            head["metadata"] = short if is_whole else _Metadata(short, _shared_names(metadata), body)
        return body

    def _load(self) -> Mapping[str, Json]:
        content: Mapping[str, Json] = msgspec.json.decode(self.text)
        return content

    @property
    def text(self) -> bytes:
        """The content as compact JSON."""
        if self._text is None:
            self._text = _encode(self.content)
        return self._text


class _Metadata(_Deferred):
    """Metadata of an object of which only the short fields are kept."""

    __slots__ = ("_body",)

    def __init__(self, head: Mapping[str, Json], names: Collection[str], body: Body) -> None:
        """Keep the short fields of the metadata of a body."""
        super().__init__(head, names, None)
        self._body = body

    def _load(self) -> Mapping[str, Json]:
        metadata = self._body.content["metadata"]
        return metadata if isinstance(metadata, Mapping) else {}


def _shared(value: Json) -> Json:
    """Return a value of which the strings are kept once, as far as many objects have the same."""
    if isinstance(value, str):
        return intern(value)
    if isinstance(value, dict):
        return {intern(key): intern(inner) if isinstance(inner, str) else inner for key, inner in value.items()}
    return value


def _shared_names(fields: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the names of some fields, in one tuple for all objects with the same ones."""
    names = tuple(map(intern, fields))
    return _NAMES.setdefault(names, names)


def text_of(raw: Mapping[str, Json]) -> bytes:
    """Return an object as compact JSON, in which words are looked for."""
    return raw.text if isinstance(raw, Body) else _encode(raw)


def _encode(value: Mapping[str, Json]) -> bytes:
    try:
        return msgspec.json.encode(value, enc_hook=dict)
    except UnicodeEncodeError:
        # Half of a surrogate pair, which no text of an API server has.
        return json.dumps(value, default=dict, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass")


@lru_cache(maxsize=1_000)
def encoded(string: str) -> bytes:
    """Return a string as it is written in `text_of`."""
    return string.encode() if string.isascii() and string.isidentifier() else _encode({"": string})[5:-2]


def strings_in(value: Json) -> Iterator[str]:
    """Return every string in a value, and every key."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield key
            yield from strings_in(inner)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings_in(item)
