"""Reading texts twice: with documents recognised by their shapes, and in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy.text import Document, documents
from kubectl_policy.text.documents import DocumentReader
from kubectl_policy.text.recognised import ShapedDocument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.text import Unread

# So many documents alike are in no text.
NEVER: Final = 10**9
HEAD: Final = "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: {}\n"


def read(text: str, patience: int) -> tuple[list[Document | Unread], list[str]]:
    """The documents of a text, read with some patience, and the names of those that were recognised.

    What was recognised is made twice, and is the same again.
    """
    with pytest.MonkeyPatch.context() as patched:
        recognise_with(patience, patched)
        reader = DocumentReader()
        found = list(reader.recognise(text))
        ways = [[reader.made(each) if isinstance(each, ShapedDocument) else each for each in found] for _ in range(2)]
    assert told(ways[1]) == told(ways[0])
    return ways[0], [each.name for each in found if isinstance(each, ShapedDocument)]


def recognise_with(patience: int, patched: pytest.MonkeyPatch) -> None:
    """Make a shape of so many documents that are alike, in texts that are as small as those of tests."""
    patched.setattr(documents, "PATIENCE", patience)
    patched.setattr(documents, "SMALL", 0)


def told(found: Sequence[Document | Unread]) -> list[object]:
    """Everything that is said of documents, so that 1 and True differ, and the order of keys."""
    return [
        (
            repr(each.value),
            each.line,
            dict(each.item_lines),
            each.problems,
            None if each.value_lines is None else [line + each.lines_above for line in each.value_lines],
        )
        if isinstance(each, Document)
        else each
        for each in found
    ]


def recognised(text: str, patience: int = 1) -> list[str]:
    """The names of the documents of a text that are recognised, which are what is read of them in full."""
    found, names = read(text, patience)
    assert told(found) == told(read(text, NEVER)[0])
    return names


def things(*bodies: str, head: str = HEAD, between: str = "---\n") -> str:
    """Documents with names of their own, each with a body."""
    return between.join(head.format(f"n{place}") + body for place, body in enumerate(bodies))
