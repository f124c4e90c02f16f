"""Content of one object: kept, or decoded from compact JSON on first access; words are looked for in the JSON."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping
from functools import lru_cache
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kubectl_policy.model.fields import Json
    from kubectl_policy.model.snapshot import Resource

_HEAD: Final = ("apiVersion", "kind", "metadata")
# Fields of metadata that are longer than all else in it.
_LONG_METADATA: Final = frozenset({"annotations", "managedFields"})
_TEXTS_AT_ONCE: Final = 256


class _Deferred(Mapping[str, "Json"]):
    """Mapping of which some fields are at hand, and the others are loaded on first access to any of them."""

    __slots__ = ("_content", "_head")

    def __init__(self, head: Mapping[str, Json], content: Mapping[str, Json] | None) -> None:
        """Keep some fields, and all of them if they are known."""
        self._head, self._content = head, content

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
        return self._head[key] if key in self._head else self.content.get(key, default)

    def __contains__(self, key: object) -> bool:
        """Whether there is a field of this name."""
        return key in self._head or key in self.content

    def __repr__(self) -> str:
        """Return all fields as a dictionary shows them."""
        return repr({**self.content})

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of all fields."""
        return iter(self.content)

    def __len__(self) -> int:
        """Return the number of fields."""
        return len(self.content)


class Body(_Deferred):
    """Content of one object, which never changes."""

    __slots__ = ("_text",)

    def __init__(self, content: Mapping[str, Json], text: bytes | None = None) -> None:
        """Keep the content of an object, and its text if that is known."""
        super().__init__(content, content)
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
        head = {key: content[key] for key in _HEAD if key in content}
        body = cls(head, text)
        body._content = None
        metadata = content.get("metadata")
        if isinstance(metadata, Mapping) and not _LONG_METADATA.isdisjoint(metadata):
            head["metadata"] = _Metadata({key: metadata[key] for key in metadata.keys() - _LONG_METADATA}, body)
        return body

    def _load(self) -> Mapping[str, Json]:
        content: Mapping[str, Json] = msgspec.json.decode(self.text)
        return content

    @property
    def is_decoded(self) -> bool:
        """Whether the content is at hand."""
        return self._content is not None

    @property
    def text(self) -> bytes:
        """The content as compact JSON."""
        if self._text is None:
            self._text = _encode(self.content)
        return self._text

    def may_contain(self, word: str) -> bool:
        """Whether a word stands in a key or in a string, or in what is between these."""
        return as_written(word) in self.text


class _Metadata(_Deferred):
    """Metadata of an object of which only the short fields are kept."""

    __slots__ = ("_body",)

    def __init__(self, head: Mapping[str, Json], body: Body) -> None:
        """Keep the short fields of the metadata of a body."""
        super().__init__(head, None)
        self._body = body

    def get(self, key: str, default: Json = None) -> Json:  # type: ignore[override] # (any default is JSON)
        """Return a field, or a default; only a long field is loaded for that."""
        return super().get(key, default) if key in _LONG_METADATA else self._head.get(key, default)

    def _load(self) -> Mapping[str, Json]:
        metadata = self._body.content["metadata"]
        return metadata if isinstance(metadata, Mapping) else {}


def text_of(raw: Mapping[str, Json]) -> bytes:
    """Return an object as compact JSON, in which words are looked for."""
    return raw.text if isinstance(raw, Body) else _encode(raw)


def _encode(value: Mapping[str, Json]) -> bytes:
    try:
        return msgspec.json.encode(value, enc_hook=dict)
    except UnicodeEncodeError:
        # Half of a surrogate pair, which no text of an API server has.
        return json.dumps(value, default=dict, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass")


def with_signs(resources: Iterable[Resource], has_signs: Callable[[bytes, int], bool]) -> list[Resource]:
    """Return the objects that have signs of something in their texts, sorted.

    `has_signs` says so of some texts and their number. To ask of many at once takes less time, and most have none.
    """
    rest, marked = iter(resources), list["Resource"]()
    while some := [*islice(rest, _TEXTS_AT_ONCE)]:
        texts = [text_of(resource.raw) for resource in some]
        if has_signs(b"\n".join(texts), len(texts)):
            marked += (resource for resource, text in zip(some, texts, strict=True) if has_signs(text, 1))
    return sorted(marked, key=attrgetter("ref"))


@lru_cache(maxsize=1_000)
def as_written(word: str) -> bytes:
    """Return a word as it is written in `text_of`."""
    return word.encode() if word.isascii() and word.isidentifier() else _encode({"": word})[5:-2]


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
