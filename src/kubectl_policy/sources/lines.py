"""The lines of fields in files and revisions, each of which is read once for all that is looked up in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.errors import SourceError
from kubectl_policy.model import FieldPath, Origin
from kubectl_policy.sources.files import STDIN, read_text
from kubectl_policy.text import DocumentError
from kubectl_policy.text.lookup import ANY, TextLines

if TYPE_CHECKING:
    from kubectl_policy.model import Json


class Lines:
    """Looks up lines in the texts of files, of `REV:PATH` in git, and of what was read from standard input."""

    def __init__(self) -> None:
        """Read nothing yet."""
        self._texts: dict[str, TextLines | None] = {}

    def keep(self, source: str, text: str) -> str:
        """The text of a source that cannot be read again; it is kept."""
        self._texts[source] = TextLines(text)
        return text

    def locate(self, origin: Origin, field: FieldPath, value: Json = ANY) -> int | None:
        """The line (from 1) of a field of the object that starts at an origin, if it has that value there.

        None where it cannot be told, because the file has changed, say, and where no such field is written.
        """
        if not origin.line:
            return None
        if origin.source not in self._texts:
            self._texts[origin.source] = _read(origin.source)
        lines = self._texts[origin.source]
        steps = tuple(step for step in field.steps if isinstance(step, str | int))
        return lines.line(origin.line, steps, value) if lines and len(steps) == len(field.steps) else None


def _read(source: str) -> TextLines | None:
    try:
        return TextLines(text_at(source)) if source != STDIN else None
    except (OSError, ValueError, DocumentError, SourceError):
        return None


def locate(origin: Origin, path: str) -> int | None:
    """The line of a field, `spec.listeners[0].port`, of one object: see `Lines`."""
    return Lines().locate(origin, FieldPath.parse(path))


def text_at(source: str) -> str:
    """The text of a file or, if there is none, of the one that `REV:PATH` names."""
    try:
        return read_text(source)
    except OSError:
        if ":" not in source:
            raise
        from kubectl_policy.sources.revisions import read_revision  # noqa: PLC0415 (most input is files)

        return read_revision(source)
