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
        """Begin another copy of a folder; None begins the one copy that all share."""
        self._variants += 1
        self._varied, self._own = folder, set()

    def _is_own(self, path: str) -> bool:
        return self._varied is not None and is_below(path, self._varied)

    def path(self, path: str) -> Path:
        """Return the path of the copy of a file, be it there or not."""
        top = self._folder / _TOP
        if self._varied is None or not self._is_own(path):
            return top / path if path else top
        varied = top / self._varied if self._varied else top
        inside = path[len(self._varied) :].strip("/")
        variant = varied.with_name(f"{varied.name}{_VARIANT}{self._variants}")
        return variant / inside if inside else variant

    def take(self, path: str) -> None:
        """Copy a file, unless it is there; what cannot be read is not copied. Raises CopyError for too much."""
        if path in (self._own if self._is_own(path) else self._shared):
            return
        try:
            data = self._tree.read(path, MAX_BYTES - self._bytes)
        except (OSError, ValueError):
            return
        self._files += 1
        self._bytes += len(data)
        if self._files > MAX_FILES or self._bytes > MAX_BYTES:
            raise CopyError(f"more than {MAX_FILES:,} files or {MAX_BYTES >> 20} MiB are needed to render it")
        self.write(path, data)

    def take_all(self, folder: str) -> None:
        """Copy everything in a folder and below it."""
        rest = [(folder, 0)]
        while rest:
            outer, depth = rest.pop()
            for name in self._tree.names(outer) if depth < _MAX_DEPTH else ():
                path = posixpath.join(outer, name)
                kind = self._tree.kind(path) if name not in _NEVER else ""
                if kind == "file":
                    self.take(path)
                elif kind:
                    rest.append((path, depth + 1))
            if len(rest) > MAX_FILES:
                raise CopyError(f"more than {MAX_FILES:,} folders are needed to render it")

    def write(self, tree_path: str, data: bytes | str) -> None:
        """Write a file, unless it is there; then none is copied there later."""
        taken = self._own if self._is_own(tree_path) else self._shared
        if tree_path in taken:
            return
        taken.add(tree_path)
        path = self.path(tree_path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data)
        except (OSError, ValueError) as error:
            raise CopyError(f"it cannot be copied: {error}") from None

    def renamed(self, message: str) -> str:
        """Replace the paths of copies in a message of a program by the names of the files."""
        path = re.escape(str(self._folder / _TOP)) + r"([^\s'\":]*)"
        message = re.sub(re.escape(_VARIANT) + r"\d+", "", message)
        return re.sub(path, lambda match: self._tree.source(match[1].strip("/")) or ".", message)


def is_below(path: str, folder: str) -> bool:
    """Whether a place is a folder, or in it or below it."""
    return not folder or path == folder or path.startswith(f"{folder}/")
