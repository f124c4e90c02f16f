"""Lines in a text: those of fields, and those that comments for this program are about."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from kubectl_policy.lazy import pattern
from kubectl_policy.model.fields import same_json
from kubectl_policy.model.snapshot import Comment
from kubectl_policy.text import Document, DocumentError
from kubectl_policy.text.documents import spans_of
from kubectl_policy.text.scalars import plain_scalar

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from kubectl_policy.model import Json
    from kubectl_policy.text import Steps, TextSpan

# Any value at all.
ANY: Final[Json] = object()  # type: ignore[assignment]
# So many characters of documents are kept as values; a longer document is kept alone.
_MAX_KEPT: Final = 2**20
# What such a comment begins with, behind its `#`: a text without it has none.
MARK: Final = "kubectl-policy:"
_START: Final = rf"(?<!\S)#[ \t]*{MARK}"
_COMMENT: Final = pattern(rf"{_START}[ \t]*([^\r\n]*?)[ \t]*(?={_START}|[\r\n]|\Z)")
# A line with nothing but a comment or a document marker, or with a directive.
_SILENT: Final = pattern(r"[ \t\r]*(#.*)?\Z|(---|\.\.\.)[ \t\r]*(#.*)?\Z|%")
_BLOCK_STYLES: Final = frozenset("|>")
_BEFORE: Final = " \t-"


class TextLines:
    """The lines of fields in a text, by the lines on which their objects start."""

    def __init__(self, text: str) -> None:
        """Look at nothing before a line is looked up."""
        self._text = text
        # The spans of documents: three integers take a tenth of the memory that three objects do.
        self._starts, self._ends, self._first_lines = array("Q"), array("Q"), array("Q")
        self._documents: dict[int, Document] = {}
        self._kept = 0

    def note(self, span: TextSpan) -> None:
        """Add the span of the next document; without any, they are cut at their markers."""
        self._starts.append(span.start)
        self._ends.append(span.end)
        self._first_lines.append(span.line)

    def line(self, object_line: int, steps: Steps, value: Json = ANY) -> int | None:
        """Return the line of a field, or an item, of the first object that has it of those that start on a line.

        None where no object starts there, where it has no such field, or where another value is written there. What
        an API server adds to a value or prunes from it does not make it another one, nor does a variable (`${NAME}`).
        """
        lines = self._document_around(object_line).lines
        for candidate in lines.items:
            if isinstance(candidate, dict) and lines.start_of(candidate) == object_line:
                fields = [(object_line, candidate), *lines.follow(candidate, steps)]
                line, written = fields[-1]
                if len(fields) > len(steps) and (value is ANY or _is_written(written, value)):
                    return line
        return None

    def _document_around(self, line: int) -> Document:
        """Return the document around a line, as far as it can be read."""
        if not self._starts:
            for span in spans_of(self._text):
                self.note(span)
        number = max(bisect_right(self._first_lines, line) - 1, 0)
        if number not in self._documents:
            from kubectl_policy.text.yaml_reader import YamlReader  # noqa: PLC0415 (many answers show no lines)

            start, end = self._starts[number], self._ends[number]
            self._kept += end - start
            if self._kept > _MAX_KEPT:
                self._documents.clear()
                self._kept = end - start
            reader = YamlReader()
            with suppress(DocumentError, StopIteration):
                next(reader.read(self._text[start:end], self._first_lines[number]))
            self._documents[number] = reader.document
        return self._documents[number]


def _is_written(written: Json, value: Json) -> bool:
    """Whether a value is what is written, as far as both have the same fields."""
    if isinstance(written, dict):
        return isinstance(value, Mapping) and all(
            _is_written(written[key], inner) for key, inner in value.items() if key in written
        )
    if isinstance(written, list):
        return isinstance(value, list | tuple) and len(written) == len(value) and all(map(_is_written, written, value))
    if same_json(written, value) or str(value) == str(written) or "${" in str(written):
        return True
    # Words that are booleans to kubectl are text to Kustomize.
    return isinstance(value, str) and bool(value) and same_json(plain_scalar(value), written)


def comments_in(text: str) -> Iterator[Comment]:
    """Yield the comments for this program, in their order; what only looks like one, in a value, is none."""
    if MARK not in text:
        return
    lines = text.split("\n")
    # For each line (from 1), the first line from there on that is not silent; one below the last one if there is none.
    content_lines = [len(lines) + 1] * (len(lines) + 2)
    for number in range(len(lines), 0, -1):
        content_lines[number] = content_lines[number + 1] if _SILENT.match(lines[number - 1]) else number
    spans = [*spans_of(text)]
    starts = [span.line for span in spans] + [len(lines) + 1]
    for span in spans:
        part = text[span.start : span.end]
        line, counted = span.line, 0
        # Most documents have none, and need not be scanned.
        for comment in _comments_outside_values(part) if MARK in part else ():
            line += part.count("\n", counted, comment.start())
            counted = comment.start()
            concerned = range(line, line + 1)
            if _has_own_line(comment):
                # It is about the next line with content or, if that is the first one of a document, all of that.
                content_line = content_lines[line + 1]
                number = bisect_right(starts, content_line)
                concerned = range(content_line, content_line + 1)
                if content_line > len(lines):
                    concerned = range(0)
                elif content_line == content_lines[starts[number - 1]]:
                    concerned = range(min(line, starts[number - 1]), starts[number])
            yield Comment(line=line, says=comment[1], lines=concerned)


def _comments_outside_values(text: str) -> Iterator[re.Match[str]]:
    """Find what looks like such a comment in a document, outside of its values.

    From where it is no YAML, as templates are, only what has a line of its own is a comment.
    """
    import yaml  # noqa: PLC0415 (most texts have no such comment)

    from kubectl_policy.text.yaml_reader import PARSER  # noqa: PLC0415 (see above)

    comments = deque(_COMMENT.finditer(text))
    try:
        for token in yaml.scan(text, Loader=PARSER):
            if not isinstance(token, yaml.ScalarToken):
                continue
            start, end = token.start_mark.index, token.end_mark.index
            if token.style in _BLOCK_STYLES:
                # Behind its | or > there may be a comment.
                start = max(text.find("\n", start, end), 0) or end
            while comments and comments[0].start() < start:
                yield comments.popleft()
            while comments and comments[0].start() < end:
                comments.popleft()
    except (yaml.YAMLError, ValueError, OverflowError):
        comments = deque(filter(_has_own_line, comments))
    yield from comments


def _has_own_line(comment: re.Match[str]) -> bool:
    """Whether nothing but a document marker or the dashes of items stands before a comment on its line."""
    text, start = comment.string, comment.start()
    line_start = text.rfind("\n", 0, start) + 1
    return not text[line_start:start].strip(_BEFORE)
