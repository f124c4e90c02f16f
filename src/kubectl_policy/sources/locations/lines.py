"""Lines of fields, and comments, in files and revisions; each is read once for all that is looked up in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from kubectl_policy.errors import SourceError
from kubectl_policy.lazy import cached_method
from kubectl_policy.model import FieldPath, Origin
from kubectl_policy.model.fields import Every
from kubectl_policy.sources.files.disk import Disk
from kubectl_policy.sources.files.tree import STDIN
from kubectl_policy.text import DocumentError
from kubectl_policy.text.lookup import ANY, TextLines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.model.snapshot import Comment
    from kubectl_policy.text import Steps


class Lines:
    """Looks up lines in the text of a source, a file or `REV:PATH` in git, as it was read or can be read again."""

    def __init__(self) -> None:
        """Know no text yet."""
        self._texts: dict[str, str] = {}
        self._lines: dict[str, TextLines] = {}

    def keep(self, source: str, text: str) -> str:
        """Return the text of a source that cannot, or is not to be read again; it is kept."""
        self._texts[source] = text
        return text

    def take(self, source: str, text: str) -> TextLines:
        """Return the lines of a text that was read, of which the documents are to be noted."""
        lines = self._lines[source] = TextLines(text)
        return lines

    def locate(self, origin: Origin, field: FieldPath, value: Json = ANY) -> int | None:
        """Return the line (from 1) of a field of the object that starts at an origin, if it has that value there.

        None where it cannot be told, because the file has changed, say, and where no such field is written.
        """
        # A pattern stands for several fields.
        if not origin.line or Every.KEY in field.steps or Every.ITEM in field.steps:
            return None
        source = origin.source
        if source not in self._lines:
            from kubectl_policy.sources.locations.written import without_actions  # noqa: PLC0415 (few are not read)

            self._lines[source] = TextLines(without_actions(self.text(source)))
        return self._lines[source].line(origin.line, cast("Steps", field.steps), value)

    @cached_method
    def comments(self, source: str) -> Sequence[Comment]:
        """Return the comments for this program in a source, in their order; none in what cannot be read again."""
        from kubectl_policy.text.comments import comments_in  # noqa: PLC0415 (few commands ask for them)

        return tuple(comments_in(self.text(source)))

    def text(self, source: str) -> str:
        """Return the text of a source, as far as it can be read, or read again; else nothing."""
        if source in self._texts or source == STDIN:
            return self._texts.get(source, "")
        try:
            return text_at(source)
        except (OSError, ValueError, DocumentError, SourceError):
            return ""


def locate(origin: Origin, path: str) -> int | None:
    """Return the line of a field, `spec.listeners[0].port`, of one object: see `Lines`."""
    return Lines().locate(origin, FieldPath.parse(path))


def text_at(source: str) -> str:
    """Return the text of a file or, if there is none, of the one that `REV:PATH` or `ARCHIVE:PATH` names."""
    try:
        return Disk().text(source)
    except OSError:
        if ":" not in source:
            raise
        from kubectl_policy.sources.files.finding import read_stored  # noqa: PLC0415 (most input is files)

        return read_stored(source)
