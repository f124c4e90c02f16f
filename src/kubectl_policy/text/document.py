"""What a text consists of: documents, and the parts of it that are none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json

# Kubernetes itself stops at 10,000 levels of JSON; no manifest comes near 100, and whatever walks a value may recurse.
MAX_DEPTH: Final = 200

UNRENDERED: Final = "a template ({{ ... }}), not a manifest: render it (helm template) first"


class Document(NamedTuple):
    """One YAML or JSON document and the line (from 1) on which its content starts.

    `item_lines` maps the `id` of each mapping in a list named `items` to the line on which it starts.
    """

    value: Json
    line: int
    item_lines: Mapping[int, int]


class Problem(NamedTuple):
    """A part of a text that is not understood: a diagnostic's rule, the line (from 1) and what to do about it."""

    rule: str
    line: int
    message: str


class DocumentError(Exception):
    """What is being read is no document, or no safe one; nothing but `documents` need ever see it."""

    def __init__(self, rule: str, line: int, message: str) -> None:
        """`line` counts from 1 in the text that is being read."""
        super().__init__(message)
        self.problem = Problem(rule, line, message)
