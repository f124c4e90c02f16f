"""One reader of text: YAML and JSON as kubectl has them, with the lines of values; it knows no files and no kinds."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.model import Problem
from kubectl_policy.model.values import compact, value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy.model import Json

# The position of an item in the list `items`; of an item of a List in a List, both.
ItemPlace: TypeAlias = "tuple[int, ...]"

# Kubernetes itself stops at 10,000 levels of JSON; no manifest comes near 100, and whatever walks a value may recurse.
MAX_DEPTH: Final = 200

_NO_LINES: Final[Mapping[ItemPlace, int]] = MappingProxyType({})
UNRENDERED: Final = "a template ({{ ... }}), not a manifest: render it (helm template) first"


@compact
class Document:
    """One YAML or JSON document and the line (from 1) on which its content starts.

    `item_lines` has the line on which a mapping in the list `items` starts. `problems` are what kubectl would not take,
    with their lines: keys that a mapping has twice, of which the last one is in `value`. Where `value` is what is
    written, in its order, `value_lines` has the line of each value in it, the outer one first: that of its key or, in a
    list, its own; `lines_above` is what has to be added to each of them.
    """

    value: Json
    line: int
    item_lines: Mapping[ItemPlace, int] = _NO_LINES
    problems: tuple[Problem, ...] = ()
    value_lines: Sequence[int] | None = None
    lines_above: int = 0


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
