"""Documents that were recognised in a text and not read: what they have in common, and where each of them is."""

from __future__ import annotations

from bisect import bisect_right
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, cast

from kubectl_policy.model.values import value
from kubectl_policy.text import Document

if TYPE_CHECKING:
    import re
    from array import array
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeAlias

    from kubectl_policy.model import GroupKind, Json
    from kubectl_policy.text.scalars import PlainScalars

    # What reads a document after all.
    Made: TypeAlias = Callable[["ShapedDocument"], Document]


@value(kw_only=True)
class Shape:
    """What documents have in common that differ in some of their scalars alone.

    All of them are objects of one kind and version, with the same `words`: texts and keys; `height` is the number of
    line breaks in each. A `pattern` has a group for each scalar: `name` and `namespace` are the places of these among
    them, the latter -1 if there is none. Those at the places `plain` are no text as they are written. `made` is what
    makes the value of a document from its scalars, and `lines` are those of the values in it, the first one being 0.
    """

    api_version: str
    group_kind: GroupKind
    name: int
    namespace: int
    words: str
    height: int
    pattern: re.Pattern[str]
    plain: tuple[int, ...]
    lines: array[int]
    made: Callable[[Sequence[Json]], Json]

    # No two are alike.
    __eq__, __hash__ = object.__eq__, object.__hash__

    def document(self, found: ShapedDocument, scalars: PlainScalars) -> Document:
        """A document of this shape that was found."""
        values: list[Json] = list(found.scalars)
        for place in self.plain:
            values[place] = scalars[cast("str", values[place])]
        above, lines = found.line, self.lines
        return Document(value=self.made(values), line=above + lines[0], value_lines=lines, lines_above=above)


class Written:
    """A text, the source that it is of, and the documents that were found in it so far."""

    def __init__(self, text: str, source: str = "") -> None:
        """Without any yet."""
        self.text, self.source = text, source
        self.documents: list[ShapedDocument] = []

    def mentioning(self, word: str) -> Iterator[ShapedDocument]:
        """The documents in which a word is written anywhere."""
        at = self.text.find(word)
        while at >= 0:
            place = bisect_right(self.documents, at, key=attrgetter("start")) - 1
            found = self.documents[place] if place >= 0 else None
            if found and at < found.end:
                yield found
                at = self.text.find(word, found.end)
            else:
                at = self.text.find(word, at + 1)


class ShapedDocument(NamedTuple):
    """A document of a known shape that was found and not read.

    Where it starts and ends in what is `written`, the line (from 1) on which it starts, and how its object is called.
    """

    shape: Shape
    written: Written
    start: int
    end: int
    line: int
    name: str
    namespace: str

    @property
    def scalars(self) -> tuple[str, ...]:
        """Its scalars as they are written, without quotes."""
        match = self.shape.pattern.fullmatch(self.written.text, self.start, self.end)
        return match.groups() if match else ()

    def mentions(self, word: str) -> bool:
        """Whether a word is written anywhere in it."""
        return self.written.text.find(word, self.start, self.end) >= 0

    def said(self) -> tuple[str, ...]:
        """What it says beside its own name and namespace, in some texts."""
        own = (self.shape.name, self.shape.namespace)
        return (self.shape.words, "\n".join(text for place, text in enumerate(self.scalars) if place not in own))
