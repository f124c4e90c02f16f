"""The lines of fields in files and revisions, each of which is read once for all that is looked up in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from kubectl_policy.errors import SourceError
from kubectl_policy.model import FieldPath, Origin
from kubectl_policy.model.fields import Every
from kubectl_policy.sources.files.disk import Disk
from kubectl_policy.sources.files.tree import STDIN
from kubectl_policy.text import DocumentError
from kubectl_policy.text.lookup import ANY, TextLines

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.text import Steps


class Lines:
    """Looks up lines in the text of a source, a file or `REV:PATH` in git, as it was read or can be read again."""

    def __init__(self) -> None:
        """Know no text yet."""
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

    def take(self, source: str, text: str) -> TextLines:
        """Go by the text of a source that was read, of which the documents are to be noted."""
        lines = self._texts[source] = TextLines(text)
        return lines

    def locate(self, origin: Origin, field: FieldPath, value: Json = ANY) -> int | None:
        """The line (from 1) of a field of the object that starts at an origin, if it has that value there.

        None where it cannot be told, because the file has changed, say, and where no such field is written.
        """
        # A pattern stands for several fields.
        if not origin.line or Every.KEY in field.steps or Every.ITEM in field.steps:
            return None
        source = origin.source
        if source not in self._texts:
            self._texts[source] = self._text_lines(source)
        lines = self._texts[source]
        return lines.line(origin.line, cast("Steps", field.steps), value) if lines else None

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
        text = self.text(source)
        if "{{" in text:
            from kubectl_policy.sources.places.written import without_actions  # noqa: PLC0415 (few texts are templates)

            text = without_actions(text)
        return TextLines(text) if text else None


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
