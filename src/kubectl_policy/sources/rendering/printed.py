"""Objects that programs print, and the files and lines where these are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.lazy import cached_method
from kubectl_policy.model import Origin
from kubectl_policy.model.fields import text_at
from kubectl_policy.sources.lines import WrittenObjects
from kubectl_policy.text import Unread
from kubectl_policy.text.documents import DocumentReader, objects_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model import Json, Problem
    from kubectl_policy.sources.tree.repository import Repository


class Printed(Struct, frozen=True, kw_only=True):
    """Object that a program printed, and the path of the file that it comes from, if the program says that."""

    raw: Mapping[str, Json]
    file: str = ""


def printed_in(text: str, file: str = "") -> Iterator[Printed | Problem]:
    """Yield the objects in a text that come from one file, and what is wrong with it."""
    for document in DocumentReader().read(text):
        if isinstance(document, Unread):
            yield replace(document.problem, line=0)
        else:
            yield from (Printed(raw=raw, file=file) for raw, _ in objects_in(document) if isinstance(raw, dict))


class WrittenLines:
    """Lines on which objects are written in the files of a repository, each of which is read once."""

    def __init__(self, repository: Repository) -> None:
        """Read nothing before it is asked for."""
        self._repository = repository

    def origin(self, printed: Printed, otherwise: Origin) -> Origin:
        """Return the file and line of an object; the other origin if the program did not say."""
        if not printed.file or self._repository.kind(printed.file) != "file":
            return otherwise
        line = self._objects_in(printed.file).line(text_at(printed.raw, "kind"), text_at(printed.raw, "metadata.name"))
        return Origin(self._repository.source_of(printed.file), line)

    @cached_method
    def _objects_in(self, path: str) -> WrittenObjects:
        return WrittenObjects(self._repository.text(path))
