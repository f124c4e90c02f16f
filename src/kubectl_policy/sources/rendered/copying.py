"""Copy the few files of a tree that a program is to render."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Final

from kubectl_policy.errors import PolicyError

if TYPE_CHECKING:
    from pathlib import Path

    from kubectl_policy.sources.files.tree import FileTree

# What is copied for one build or release.
MAX_FILES: Final = 200_000
MAX_BYTES: Final = 2**30
_MAX_DEPTH: Final = 64
# What is in there is no part of what is deployed.
_NEVER: Final = frozenset({".git", ".hg", ".svn"})


class CopyError(PolicyError):
    """Something is too large, or too odd, to be copied."""


class Copy:
    """A folder with copies of some files of a tree, at the paths that they have there."""

    def __init__(self, tree: FileTree, folder: Path) -> None:
        """Start without any copies."""
        self._tree, self.folder = tree, folder
        self._bytes = 0
        self._taken: set[str] = set()

    def take(self, path: str) -> None:
        """Copy a file, unless it is there; what cannot be read is not copied. Raises CopyError for too much."""
        if path in self._taken:
            return
        try:
            data = self._tree.read(path, MAX_BYTES - self._bytes)
        except (OSError, ValueError):
            return
        self._bytes += len(data)
        if len(self._taken) >= MAX_FILES or self._bytes > MAX_BYTES:
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
        if tree_path in self._taken:
            return
        self._taken.add(tree_path)
        path = self.folder / tree_path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data)
        except (OSError, ValueError) as error:
            raise CopyError(f"it cannot be copied: {error}") from None

    def renamed(self, message: str) -> str:
        """Replace the paths of copies in a message of a program by the names of the files."""
        path = re.escape(str(self.folder)) + r"([^\s'\":]*)"
        return re.sub(path, lambda match: self._tree.source(match[1].strip("/")) or ".", message)
