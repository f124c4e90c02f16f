"""One reader of text: YAML and JSON as kubectl has them, with the lines of values; it knows no files and no kinds."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from kubectl_policy.model import Problem
from kubectl_policy.model.body import Body
from kubectl_policy.model.values import compact, value

if TYPE_CHECKING:
    from kubectl_policy.model import Json

# The position of an item in the list `items`; of an item of a List in a List, both.
ItemPosition: TypeAlias = "tuple[int, ...]"

# Kubernetes itself stops at 10,000 levels of JSON; no manifest comes near 100, and whatever walks a value may recurse.
MAX_DEPTH: Final = 200

_NO_LINES: Final[Mapping[ItemPosition, int]] = MappingProxyType({})
NO_FIELDS: Final[Mapping[str, Json]] = MappingProxyType({})
UNRENDERED: Final = "a template ({{ ... }}), not a manifest: render it (helm template) first"


class Span(NamedTuple):
    """Part of a text between two offsets, and the line (from 1) on which it starts."""

    start: int
    end: int
    line: int


_NO_SPAN: Final = Span(0, 0, 1)


@compact
class Document:
    """One YAML or JSON document, or one item of a List.

    `content` is its value; of an object, a `Body`. `line` (from 1) is the line on which the content starts.
    `item_lines` has the line on which a mapping in `items` starts, if the List was not split into its items. `problems`
    are what kubectl would not take, with their lines: keys that a mapping has twice, of which the last one counts. The
    text of the document is in `span`.
    """

    content: Json
    line: int
    item_lines: Mapping[ItemPosition, int] = _NO_LINES
    problems: tuple[Problem, ...] = ()
    span: Span = _NO_SPAN
    is_item: bool = False

    @property
    def value(self) -> Json:
        """The content as plain values."""
        return self.content.content if isinstance(self.content, Body) else self.content


@value(kw_only=True)
class Unread:
    """A document that cannot be read, and why not; or several, if it is not known where they end.

    `text` is what is written there, from the marker above it to the next one.
    """

    problem: Problem
    text: str


class DocumentError(Exception):
    """What is being read is no document, or no safe one; the reason of its problem is the rule of a diagnostic."""

    def __init__(self, reason: str, line: int, message: str, letters: str = "") -> None:
        """`line` counts from 1 in the text that is being read; `letters` are what can be made out all the same."""
        super().__init__(message)
        self.letters = letters
        self.problem = Problem(message=message, reason=reason, line=line)


class Bodies:
    """Makes the bodies of objects in one text."""

    def __init__(self, *, are_deferred: bool = False) -> None:
        """Keep all of each object or, if they are deferred, its head."""
        self._make = Body.deferred if are_deferred else Body

    def body(self, content: Json, fields: Mapping[str, Json] = NO_FIELDS) -> Json:
        """Return the body of a mapping with the fields that it inherits, or any other value as it is."""
        if not isinstance(content, dict):
            return content
        return self._make({**fields, **content} if fields else content)


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
