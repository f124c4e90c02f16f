"""Files below the current directory, on disk or in a revision: no path that a stranger wrote is looked up elsewhere."""

from __future__ import annotations

import errno
import os
import posixpath
import re
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from kubectl_policy.errors import SourceError
from kubectl_policy.model.values import cached_property
from kubectl_policy.sources.files import ABOUT_OTHERS, is_manifest, read_text
from kubectl_policy.sources.places.written import MAX_SIZE, WrittenObjects
from kubectl_policy.text import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.sources.revisions import Revision

CHART: Final = "Chart.yaml"
# Whoever asks from the root of a disk does not wait for all of it.
_MOST: Final = 50_000
_NAME: Final = re.compile(r"^name[ \t]*:[ \t]*[\"']?([\w.-]+)", re.MULTILINE)


class Below:
    """Files that are called by their paths from the current directory, none of which leads out of it."""

    def __init__(self, read: Callable[[str], str], find: Callable[[], Iterable[str]], prefix: str = "") -> None:
        """By what reads the text of a file, and what finds all manifests; messages put a prefix before each path."""
        self._read, self._find, self._prefix = read, find, prefix
        self._texts: dict[str, str | None] = {}
        self._written: dict[str, WrittenObjects] = {}

    def source(self, path: str) -> str:
        """What messages call a file, be it there or not."""
        return self._prefix + path

    def path(self, source: str) -> str:
        """The path of what a message calls so."""
        return source.removeprefix(self._prefix)

    def text(self, path: str) -> str | None:
        """The text of a file; None if there is none that can be read."""
        if path not in self._texts:
            try:
                self._texts[path] = self._read(path)
            except (OSError, ValueError, DocumentError):
                self._texts[path] = None
        return self._texts[path]

    def line(self, path: str, kind: str, name: str) -> int:
        """The line of the object in a file that became one of a kind and name; 0 if nothing tells that."""
        if path not in self._written:
            self._written[path] = WrittenObjects(self.text(path) or "")
        return self._written[path].line(kind, name)

    @cached_property
    def manifests(self) -> frozenset[str]:
        """The paths of all manifests."""
        return frozenset(self._find())

    @cached_property
    def charts(self) -> Mapping[str, Sequence[str]]:
        """The folders of Helm charts, by the names of these."""
        found: dict[str, list[str]] = {}
        for path in sorted(self.manifests):
            if posixpath.basename(path) == CHART and (name := _NAME.search(self.text(path) or "")):
                found.setdefault(name[1], []).append(posixpath.dirname(path))
        return found

    @cached_property
    def kustomizations(self) -> Sequence[str]:
        """The folders that Kustomize may be called for."""
        about = ABOUT_OTHERS - {CHART}
        return sorted({posixpath.dirname(path) for path in self.manifests if posixpath.basename(path) in about})


def below_here() -> Below:
    """What is on disk."""
    top = os.path.realpath(os.curdir)

    def read(path: str) -> str:
        real = os.path.realpath(os.path.join(top, path))  # noqa: PTH118 (text)
        about = os.stat(real)  # noqa: PTH116 (text)
        if not real.startswith(f"{top.rstrip('/')}/") or not stat.S_ISREG(about.st_mode) or about.st_size > MAX_SIZE:
            raise OSError(errno.EXDEV, "no file below the current directory")
        return read_text(real)

    return Below(read, lambda: _manifests(top))


def _manifests(top: str) -> Iterator[str]:
    """The paths of manifests, from the folder at the top; of what is hidden, linked to or closed there are none."""
    rest, left = [""], _MOST
    while rest:
        folder = rest.pop()
        with suppress(OSError), os.scandir(f"{top}/{folder}") as entries:
            for entry in entries:
                left -= 1
                if left < 0:
                    return
                if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                    rest.append(f"{folder}{entry.name}/")
                elif is_manifest(entry.name):
                    yield folder + entry.name


def below_in(revision: Revision) -> Below:
    """What is in a revision, below the folder that is the current directory on disk."""
    prefix = revision.source(revision.here)

    def find() -> Iterable[str]:
        try:
            return [file.path.removeprefix(prefix) for file in revision.find("./")]
        except SourceError:
            return ()

    return Below(lambda path: revision.read_text(prefix + path), find, prefix)
