"""Documents in YAML and JSON, as kubectl reads them, with the lines of their values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, cast

from msgspec import Struct

from kubectl_policy.model import Problem
from kubectl_policy.model.body import Body

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_policy.model import Json

# The path of a value in a document: keys of mappings and positions in lists.
Steps: TypeAlias = "tuple[str | int, ...]"
MakeBody: TypeAlias = "Callable[[Mapping[str, Json]], Body]"

# Kubernetes itself stops at 10,000 levels of JSON; no manifest comes near 100, and whatever walks a value may recurse.
MAX_DEPTH: Final = 200

_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"{[]}"))
UNRENDERED: Final = "a template ({{ ... }}), not a manifest: render it (helm template) first"


class TextSpan(NamedTuple):
    """Part of a text between two offsets, and the line (from 1) on which it starts."""

    start: int
    end: int
    line: int


_NO_SPAN: Final = TextSpan(0, 0, 1)


class ValueLines:
    """Lines (from 1) of the values in one document."""

    def __init__(self) -> None:
        """Start without values."""
        # By the identity of each mapping or list, the lines of its keys or items and, under None, its own.
        self.fields: dict[int, dict[str | int | None, int]] = {}
        # The root, and the mappings in lists.
        self.items: list[Json] = []

    def start_of(self, content: Json) -> int:
        """Return the line on which a mapping or a list starts; 0 for anything else."""
        return self.fields.get(id(content), {}).get(None, 0)

    def follow(self, content: Json, steps: Steps) -> Iterator[tuple[int, Json]]:
        """Yield the line and the value of each field on a path, as far as it is written."""
        for step in steps:
            line = self.fields.get(id(content), {}).get(step)
            if line is None:
                return
            content = cast("dict[str | int, Json]", content)[step]
            yield line, content


_NO_LINES: Final = ValueLines()


class Document(Struct, frozen=True, gc=False):
    """One YAML or JSON document, or one item of a List."""

    content: Json
    """Its value; a `Body`, if it is an object."""
    line: int
    """The line, from 1, on which the content starts."""
    lines: ValueLines = _NO_LINES
    """The lines of the values in it, if the exact reader read it."""
    problems: tuple[Problem, ...] = ()
    """What kubectl would not take: keys that a mapping has twice, of which the last one counts."""
    span: TextSpan = _NO_SPAN
    """Where its text is."""
    is_item: bool = False

    @property
    def value(self) -> Json:
        """The content as plain values."""
        return self.content.content if isinstance(self.content, Body) else self.content


class Unread(Struct, frozen=True, kw_only=True):
    """A document that cannot be read, and why not; or several, if it is not known where they end.

    `text` is what is written there, from the marker above it to the next one.
    """

    problem: Problem
    text: str


class DocumentError(Exception):
    """Text that is no document, or no safe one; the reason of its problem is the rule of a diagnostic."""

    def __init__(self, reason: str, line: int, message: str, letters: str = "") -> None:
        """Count the `line` from 1 in the text that is being read; `letters` are what can be made out all the same."""
        super().__init__(message)
        self.letters = letters
        self.problem = Problem(message=message, reason=reason, line=line)


def document_of(
    content: Json,
    span: TextSpan,
    make_body: MakeBody,
    inherited: Mapping[str, Json] | None = None,
    problems: tuple[Problem, ...] = (),
) -> Document:
    """Return a document that has a value; an item of a List inherits some fields."""
    if isinstance(content, dict):
        content = make_body({**inherited, **content} if inherited else content)
    return Document(content=content, line=span.line, problems=problems, span=span, is_item=inherited is not None)


def may_be_deep(data: bytes | bytearray) -> bool:
    """Whether the brackets in a text, also those in its strings, nest deeper than is allowed."""
    if data.count(b"{") + data.count(b"[") <= MAX_DEPTH:
        return False
    brackets = data.translate(None, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):
        inner = brackets.replace(b"{}", b"").replace(b"[]", b"")
        if len(inner) == len(brackets):
            break
        brackets = inner
    return len(brackets) > 0


def inherited_fields(value: Json) -> Mapping[str, Json] | None:
    """Return what the items of a List need not repeat; None if a value is no List.

    In a List of one kind, as the API itself gives it, the items do not repeat the kind (`HTTPRouteList`).
    """
    if not isinstance(value, Mapping) or "items" not in value or "apiVersion" not in value:
        return None
    kind = value.get("kind")
    if not isinstance(kind, str) or not kind.endswith("List") or not isinstance(value["items"], list | None):
        return None
    item_kind = kind.removesuffix("List")
    return {"apiVersion": value["apiVersion"], "kind": item_kind} if item_kind else {}
