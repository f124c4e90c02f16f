"""A text to its documents: each is read on its own, so that a broken one never costs the others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kubectl_policy.text.document import UNRENDERED, Document, DocumentError, Problem
from kubectl_policy.text.json_reader import read_json
from kubectl_policy.text.yaml_reader import YamlReader

if TYPE_CHECKING:
    from collections.abc import Iterator

# At some 8 MB/s a larger document takes seconds and, as values, ten times its size; `kubectl get -o json` is read fast.
MAX_YAML_SIZE: Final = 32 * 2**20

_MARKER: Final = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)
_JSON_START: Final = re.compile(r"(?:---)?\s*(?=[\[{])")
_COMMENT: Final = re.compile(r"[ \t\r]*(?:#|$)")


class DocumentReader:
    """Reads the documents of one text after the other, keeping equal strings of all of them once."""

    def __init__(self) -> None:
        """Start without having read anything."""
        self._yaml = YamlReader()

    def read(self, text: str) -> Iterator[Document | Problem]:
        """The documents of a text in their order, and where there is none that can be read, why not."""
        for part, first_line in parts_of(text):
            yield from self._read_part(part, first_line)

    def _read_part(self, text: str, line: int) -> Iterator[Document | Problem]:
        try:
            yield from self._read_either(text, line)
        except DocumentError as error:
            template = text.find("{{") if error.problem.rule == "syntax-error" else -1
            if template < 0:
                yield error.problem
            else:
                yield Problem("unrendered-template", line + text.count("\n", 0, template), UNRENDERED)

    def _read_either(self, text: str, line: int) -> Iterator[Document]:
        start = _JSON_START.match(text)
        if start:
            try:
                # All or nothing: what is not JSON from beginning to end is YAML.
                documents = list(read_json(text, start.end(), line + text.count("\n", 0, start.end())))
            except ValueError:
                pass
            else:
                yield from documents
                return
        if len(text) > MAX_YAML_SIZE:
            raise DocumentError(
                "too-large",
                line,
                f"a YAML document of more than {MAX_YAML_SIZE >> 20} MiB: split it, or write JSON, which is read fast",
            )
        yield from self._yaml.read(text, line)


def parts_of(text: str) -> Iterator[tuple[str, int]]:
    """A text cut above each document marker (`---`), or above the directives that precede it, and each part's line."""
    line, end = 1, 0
    for begin in _starts(text):
        part = text[end:begin]
        yield part, line
        line += part.count("\n")
        end = begin


def _starts(text: str) -> Iterator[int]:
    """The offsets at which documents end and the next ones start: at their directives, else at their markers."""
    end = 0
    for marker in _MARKER.finditer(text):
        end = _directives_before(text, end, marker.start())
        yield end
    yield len(text)


def _directives_before(text: str, end: int, marker: int) -> int:
    """Where the directives (`%YAML 1.1`) above a marker start; at the marker where there are none."""
    found = at = marker
    while at > end:
        line = text.rfind("\n", end, at - 1) + 1 or end
        if text[line] == "%":
            found = line
        elif not _COMMENT.match(text, line, at - 1):
            # Directives can only stand at the very beginning or after the end (`...`) of the document before.
            return found if text.startswith("...", line) else marker
        at = line
    return found
