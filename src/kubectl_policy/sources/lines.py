"""The lines of fields in files and revisions, each of which is read once for all that is looked up in it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from kubectl_policy.errors import SourceError
from kubectl_policy.model import FieldPath, Origin
from kubectl_policy.model.fields import Every
from kubectl_policy.sources.files import STDIN, read_text
from kubectl_policy.text import DocumentError
from kubectl_policy.text.lookup import TextLines
from kubectl_policy.text.told import ANY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.text import Document
    from kubectl_policy.text.places import Steps


class Lines:
    """Looks up lines in the texts of files, of `REV:PATH` in git, and of what was read from standard input."""

    def __init__(self) -> None:
        """Read nothing yet."""
        self._texts: dict[str, str] = {}
        self._documents: dict[str, Sequence[Document]] = {}
        self._lines: dict[str, TextLines] = {}

    def keep(self, source: str, text: str) -> str:
        """The text of a source that cannot be read again; it is kept."""
        self._texts[source] = text
        return text

    def take(self, source: str, documents: Sequence[Document]) -> None:
        """Go by what reading a source told."""
        self._documents[source] = documents

    def locate(self, origin: Origin, field: FieldPath, value: Json = ANY) -> int | None:
        """The line (from 1) of a field of the object that starts at an origin, if it has that value there.

        None where it cannot be told, because the file has changed, say, and where no such field is written.
        """
        if not origin.line:
            return None
        if origin.source not in self._lines:
            text_of = partial(self._text_of, origin.source)
            self._lines[origin.source] = TextLines(text_of, self._documents.get(origin.source, ()))
        # A pattern stands for several fields.
        is_pattern = Every.KEY in field.steps or Every.ITEM in field.steps
        steps = cast("Steps", field.steps)
        return None if is_pattern else self._lines[origin.source].line(origin.line, steps, value)

    def _text_of(self, source: str) -> str:
        if source in self._texts or source == STDIN:
            return self._texts.get(source, "")
        try:
            return text_at(source)
        except (OSError, ValueError, DocumentError, SourceError):
            return ""


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
