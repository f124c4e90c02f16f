"""The lines of fields in files and revisions, each of which is read once for all that is looked up in it."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, cast

from kubectl_policy.errors import SourceError
from kubectl_policy.model import FieldPath, Origin
from kubectl_policy.model.fields import Every
from kubectl_policy.sources.files.disk import Disk
from kubectl_policy.sources.files.tree import STDIN
from kubectl_policy.text import DocumentError, Unread
from kubectl_policy.text.recognised import ShapedDocument
from kubectl_policy.text.told import ANY, told_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.text import Document
    from kubectl_policy.text.lookup import TextLines
    from kubectl_policy.text.places import Steps
    from kubectl_policy.text.recognised import Made
    from kubectl_policy.text.told import ToldLines


class Lines:
    """Looks up lines: as reading a source told them, or else in its text, of a file or of `REV:PATH` in git."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._documents: dict[str, Sequence[Document | Unread | ShapedDocument]] = {}
        self._made: dict[str, Made] = {}
        # By the source and the place of a document in it.
        self._told: dict[tuple[str, int], dict[int, ToldLines]] = {}
        self._texts: dict[str, TextLines | None] = {}
        self._kept: dict[str, str] = {}

    def keep(self, source: str, text: str) -> str:
        """The text of a source that cannot be read again; it is kept."""
        self._kept[source] = text
        return text

    def read_no_more_than(self, source: str, text: str | None) -> None:
        """Know the text of a source, or that none is to be read, as strangers say what it is called."""
        if text is None:
            self._texts[source] = None
        else:
            self._kept[source] = text

    def take(self, source: str, documents: Sequence[Document | Unread | ShapedDocument], made: Made) -> None:
        """Go by what reading a source told, in whose order the documents are; what was recognised is to be `made`."""
        self._documents[source], self._made[source] = documents, made

    def locate(self, origin: Origin, field: FieldPath, value: Json = ANY) -> int | None:
        """The line (from 1) of a field of the object that starts at an origin, if it has that value there.

        None where it cannot be told, because the file has changed, say, and where no such field is written.
        """
        # A pattern stands for several fields.
        if not origin.line or Every.KEY in field.steps or Every.ITEM in field.steps:
            return None
        source, steps = origin.source, cast("Steps", field.steps)
        told = self._told_at(source, origin.line)
        if told:
            return told.line(steps, value)
        if source not in self._texts:
            self._texts[source] = self._text_lines(source)
        lines = self._texts[source]
        return lines.line(origin.line, steps, value) if lines else None

    def _told_at(self, source: str, line: int) -> ToldLines | None:
        documents = self._documents.get(source, ())
        place = bisect_right(documents, line, key=_line_of) - 1
        document = documents[place] if place >= 0 else None
        if document is None or isinstance(document, Unread):
            return None
        if (source, place) not in self._told:
            self._told[source, place] = told_lines(
                self._made[source](document) if isinstance(document, ShapedDocument) else document
            )
        return self._told[source, place].get(line)

    def text(self, source: str) -> str:
        """The text of a source, as far as it can be read, or read again; else nothing."""
        if source in self._kept:
            return self._kept[source]
        if source == STDIN or self._texts.get(source, ...) is None:
            return ""
        try:
            return text_at(source)
        except (OSError, ValueError, DocumentError, SourceError):
            return ""

    def _text_lines(self, source: str) -> TextLines | None:
        from kubectl_policy.text.lookup import TextLines  # noqa: PLC0415 (reading told nearly all lines)

        text = self.text(source)
        if "{{" in text:
            from kubectl_policy.sources.places.written import without_actions  # noqa: PLC0415 (few texts are templates)

            text = without_actions(text)
        return TextLines(text) if text else None


def _line_of(document: Document | Unread | ShapedDocument) -> int:
    """A line that is in a document and in no other one."""
    return document.problem.line if isinstance(document, Unread) else document.line


def locate(origin: Origin, path: str) -> int | None:
    """The line of a field, `spec.listeners[0].port`, of one object: see `Lines`."""
    return Lines().locate(origin, FieldPath.parse(path))


def text_at(source: str) -> str:
    """The text of a file or, if there is none, of the one that `REV:PATH` or `ARCHIVE:PATH` names."""
    try:
        return Disk().text(source)
    except OSError:
        if ":" not in source:
            raise
        from kubectl_policy.sources.files.finding import read_stored  # noqa: PLC0415 (most input is files)

        return read_stored(source)
