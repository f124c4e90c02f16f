"""Lines of fields, comments and objects in files and revisions; each file is read once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, cast

from kubectl_policy.errors import SourceError
from kubectl_policy.lazy import cached_method, pattern
from kubectl_policy.model import FieldPath, Origin
from kubectl_policy.model.fields import Every, text_at
from kubectl_policy.sources.files.disk import Disk
from kubectl_policy.sources.files.tree import STDIN
from kubectl_policy.text import Document, DocumentError
from kubectl_policy.text.documents import DocumentReader, objects_in
from kubectl_policy.text.lines import ANY, TextLines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.model.snapshot import Comment
    from kubectl_policy.text import Steps

_CHARACTER: Final = pattern(r"[^\n]")
# Stands for each character of what a template fills in.
_PLACEHOLDER: Final = "\ue000"
_PLACEHOLDERS: Final = pattern(f"{_PLACEHOLDER}+")


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

    def add_text(self, source: str, text: str) -> TextLines:
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
            self._lines[source] = TextLines(without_actions(self.text(source)))
        return self._lines[source].line(origin.line, cast("Steps", field.steps), value)

    @cached_method
    def comments(self, source: str) -> Sequence[Comment]:
        """Return the comments for this program in a source, in their order; none in what cannot be read again."""
        from kubectl_policy.text.lines import comments_in  # noqa: PLC0415 (few commands ask for them)

        return tuple(comments_in(self.text(source)))

    def text(self, source: str) -> str:
        """Return the text of a source, as far as it can be read, or read again; else nothing."""
        if source in self._texts or source == STDIN:
            return self._texts.get(source, "")
        try:
            return text_of_source(source)
        except (OSError, ValueError, DocumentError, SourceError):
            return ""


def locate(origin: Origin, path: str) -> int | None:
    """Return the line of a field, `spec.listeners[0].port`, of one object: see `Lines`."""
    return Lines().locate(origin, FieldPath.parse(path))


def text_of_source(source: str) -> str:
    """Return the text of a file or, if there is none, of the one that `REV:PATH` or `ARCHIVE:PATH` names."""
    try:
        return Disk().text(source)
    except OSError:
        if ":" not in source:
            raise
        from kubectl_policy.sources.files.input_files import read_stored  # noqa: PLC0415 (most input is files)

        return read_stored(source)


class _WrittenObject(NamedTuple):
    """An object as it is written; its name may have placeholders."""

    kind: str
    name: str
    line: int


class WrittenObjects:
    """The objects that are written in a text, a manifest or a template."""

    def __init__(self, text: str) -> None:
        """Read the text; what a template fills in stays open."""
        self._objects = [
            _WrittenObject(text_at(raw, "kind"), text_at(raw, "metadata.name"), line)
            for document in DocumentReader().read(without_actions(text, _PLACEHOLDER))
            if isinstance(document, Document)
            for raw, line in objects_in(document)
        ]

    def line(self, kind: str, name: str) -> int:
        """Return the line of the object that became one of a kind and name; 0 if it cannot be told.

        Prefixes and suffixes are added to what is written, and placeholders are filled in.
        """
        objects = [written for written in self._objects if kind and written.kind == kind]
        exact = [written.line for written in objects if written.name == name]
        fitting = [(fit, -written.line) for written in objects if (fit := _fit(written.name, name))]
        if exact or len(objects) == 1:
            return (exact or [objects[0].line])[0]
        return -max(fitting, default=(0, 0))[1]


def without_actions(text: str, placeholder: str = "x") -> str:
    """Return a template as YAML, line by line: an action is a word, or nothing where it stands alone on its line."""
    parts, start = list[str](), 0
    while (action := text.find("{{", start)) >= 0 and (end := text.find("}}", action) + 2) > 1:
        parts += text[start:action], _CHARACTER.sub("\0", text[action:end])
        start = end
    lines = f"{''.join(parts)}{text[start:]}".split("\n") if parts else [text]
    return "\n".join(line.replace("\0", placeholder) if line.strip("\0 \t\r") else "" for line in lines)


def _fit(written: str, name: str) -> int:
    """Return how many letters of a name are written; 0 if the name cannot have come of that."""
    first, *following = parts = _PLACEHOLDERS.split(written)
    if not following:
        return len(written) if written in name else 0
    fits = len(first) + len(following[-1]) <= len(name) and name.startswith(first) and name.endswith(following[-1])
    return sum(map(len, parts)) if fits else 0
