"""Copy the few files of a tree that a program is to render."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Final

from kubectl_policy.errors import PolicyError

if TYPE_CHECKING:
    from pathlib import Path

    from kubectl_policy.sources.files.tree import FileTree

# What is copied for all that is rendered; an estate of a thousand applications comes to a tenth of it.
MAX_FILES: Final = 200_000
MAX_BYTES: Final = 2**30
_MAX_DEPTH: Final = 64
# What copies and their variants are called; no file has such a name.
_TOP: Final = "files"
_VARIANT: Final = ".~"
# What is in there is no part of what is deployed.
_NEVER: Final = frozenset({".git", ".hg", ".svn"})


class CopyError(PolicyError):
    """Something is too large, or too odd, to be copied."""


class Copy:
    """A folder with copies of some files of a tree, at the paths that they have there.

    What is below the folder of a variant (see `vary`) has a copy of its own for each.
    """

    def __init__(self, tree: FileTree, folder: Path) -> None:
        """Start without any copies."""
        self._tree, self._folder = tree, folder
        self._files = self._bytes = self._variants = 0
        self._shared: set[str] = set()
        self._own: set[str] = set()
        self._varied: str | None = None

    def vary(self, folder: str | None) -> None:
        """From here on, what is copied of a folder is another copy than before; of none, there is one copy for all."""
        self._variants += 1
        self._varied, self._own = folder, set()

    def _is_own(self, place: str) -> bool:
        return self._varied is not None and is_below(place, self._varied)

    def path(self, place: str) -> Path:
        """Where the copy of something is, or would be."""
        top = self._folder / _TOP
        if self._varied is None or not self._is_own(place):
            return top / place if place else top
        varied = top / self._varied if self._varied else top
        inside = place[len(self._varied) :].strip("/")
        own = varied.with_name(f"{varied.name}{_VARIANT}{self._variants}")
        return own / inside if inside else own

    def take(self, place: str) -> None:
        """Copy a file, unless it is there; what cannot be read is not copied. Raises CopyError for too much."""
        if place in (self._own if self._is_own(place) else self._shared):
            return
        try:
            data = self._tree.read(place, MAX_BYTES - self._bytes)
        except (OSError, ValueError):
            return
        self._files += 1
        self._bytes += len(data)
        if self._files > MAX_FILES or self._bytes > MAX_BYTES:
            raise CopyError(f"more than {MAX_FILES:,} files or {MAX_BYTES >> 20} MiB are needed to render it")
        self.write(place, data)

    def take_all(self, folder: str) -> None:
        """Copy everything in a folder and below it."""
        rest = [(folder, 0)]
        while rest:
            place, depth = rest.pop()
            for name in self._tree.names(place) if depth < _MAX_DEPTH else ():
                path = posixpath.join(place, name)
                kind = self._tree.kind(path) if name not in _NEVER else ""
                if kind == "file":
                    self.take(path)
                elif kind:
                    rest.append((path, depth + 1))
            if len(rest) > MAX_FILES:
                raise CopyError(f"more than {MAX_FILES:,} folders are needed to render it")

    def write(self, place: str, data: bytes | str) -> None:
        """Write a file, unless it is there; then none is copied there later."""
        taken = self._own if self._is_own(place) else self._shared
        if place in taken:
            return
        taken.add(place)
        path = self.path(place)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data)
        except (OSError, ValueError) as error:
            raise CopyError(f"it cannot be copied: {error}") from None

    def renamed(self, message: str) -> str:
        """A message of a program with what people call the files in the place of the paths of their copies."""
        path = re.escape(str(self._folder / _TOP)) + r"([^\s'\":]*)"
        message = re.sub(re.escape(_VARIANT) + r"\d+", "", message)
        return re.sub(path, lambda found: self._tree.source(found[1].strip("/")) or ".", message)


def is_below(place: str, folder: str) -> bool:
    """Whether a place is a folder, or in it or below it."""
    return not folder or place == folder or place.startswith(f"{folder}/")
