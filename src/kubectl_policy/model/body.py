"""Content of one object: its head at hand, and the rest parsed from its text on first access."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kubectl_policy.patterns import pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_policy.model.fields import Json

# Spellings of text without its letters: escapes of characters, a line that goes on, base64, tags by another name.
_SPELLING: Final = pattern(r"\\[xuU/\r\n]|![^\s!]*binary|^%TAG", re.MULTILINE)
# What a text may have in another form than the value: folded lines are joined by spaces, quotes are doubled or escaped.
_FORMATTING: Final = pattern(r"[\s\"'\\]")
_HEAD: Final = ("apiVersion", "kind", "metadata")
_METADATA_HEAD: Final = ("name", "namespace", "labels", "creationTimestamp", "uid", "generation")
# Fields of metadata that are longer than all else in it.
_LONG_METADATA: Final = frozenset({"annotations", "managedFields"})


class ObjectText:
    """Text of a source that holds the bodies of many objects, and the function that parses one of them."""

    __slots__ = ("_may_spell", "load", "text")

    def __init__(self, text: str, load: Callable[[str], Mapping[str, Json]]) -> None:
        """Keep a text; `load` parses the part of it that holds one object."""
        self.text, self.load = text, load
        self._may_spell: bool | None = None

    @property
    def may_spell(self) -> bool:
        """Whether anything in the text may spell a word without its letters."""
        if self._may_spell is None:
            self._may_spell = bool(_SPELLING.search(self.text))
        return self._may_spell


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
    """Content of one object, which never changes.

    With the text of the object, its content need not be kept: all but its head is parsed again on first access.
    """

    __slots__ = ("_end", "_source", "_start", "_strings")

    def __init__(
        self, content: Mapping[str, Json], source: ObjectText | None = None, start: int = 0, end: int = 0
    ) -> None:
        """Keep the content of an object; if its text is known, it is the part of `source` between two offsets."""
        super().__init__(content, content)
        self._source, self._start, self._end = source, start, end
        self._strings: str | None = None

    @classmethod
    def deferred(cls, content: Mapping[str, Json], source: ObjectText, start: int, end: int) -> Body:
        """Return a body that keeps only the head of a content."""
        head = {key: content[key] for key in _HEAD if key in content}
        body = cls(head, source, start, end)
        body._content = None
        metadata = content.get("metadata")
        if isinstance(metadata, Mapping) and not _LONG_METADATA.isdisjoint(metadata):
            head["metadata"] = _Metadata({key: metadata[key] for key in _METADATA_HEAD if key in metadata}, body)
        return body

    @property
    def has_text(self) -> bool:
        """Whether the text of the object is known."""
        return self._source is not None

    def _load(self) -> Mapping[str, Json]:
        source = self._source
        return source.load(source.text[self._start : self._end]) if source else {}

    def may_contain(self, word: str) -> bool:
        """Whether a word may stand in a key or in a string value; False only if it is in none of them.

        Without a text, all strings of the object are searched.
        """
        source = self._source
        if source is None:
            if self._strings is None:
                self._strings = "\n".join(strings_in(self.content))
            return word in self._strings
        start, end = self._start, self._end
        if source.text.find(word, start, end) >= 0 or _FORMATTING.search(word):
            return True
        return source.may_spell and bool(_SPELLING.search(source.text, start, end))


class _Metadata(_Deferred):
    """Metadata of an object of which only the head is kept."""

    __slots__ = ("_body",)

    def __init__(self, head: Mapping[str, Json], body: Body) -> None:
        """Keep the short fields of the metadata of a body."""
        super().__init__(head, None)
        self._body = body

    def _load(self) -> Mapping[str, Json]:
        metadata = self._body.content["metadata"]
        return metadata if isinstance(metadata, Mapping) else {}


def strings_in(value: Json) -> Iterator[str]:
    """Every string in a value, and every key."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield key
            yield from strings_in(inner)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings_in(item)
