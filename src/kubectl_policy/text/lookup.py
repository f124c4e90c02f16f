"""Lines of fields in a text: the documents that are asked for are read once more, by the exact reader."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import same_json
from kubectl_policy.text import Document, DocumentError
from kubectl_policy.text.documents import spans_of
from kubectl_policy.text.scalars import plain_scalar

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.text import Span, Steps

# Any value at all.
ANY: Final[Json] = object()  # type: ignore[assignment]
# So many characters of documents are kept as values; a longer document is kept alone.
_MAX_KEPT: Final = 2**20


class TextLines:
    """The lines of fields in a text, by the lines on which their objects start."""

    def __init__(self, text: str) -> None:
        """Look at nothing before a line is looked up."""
        self._text = text
        # The spans of documents: three integers take a tenth of the memory that three objects do.
        self._starts, self._ends, self._first_lines = array("Q"), array("Q"), array("Q")
        self._documents: dict[int, Document] = {}
        self._kept = 0

    def note(self, span: Span) -> None:
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
        for item in lines.items:
            if isinstance(item, dict) and lines.start_of(item) == object_line:
                fields = [(object_line, item), *lines.follow(item, steps)]
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
