"""Files that one program needs, gathered from a tree of files, and their digest; they are written only to be used."""

from __future__ import annotations

import posixpath
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from kubectl_policy.errors import PolicyError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kubectl_policy.sources.files.tree import FileTree

MAX_FILES: Final = 200_000
MAX_BYTES: Final = 2**30
# Content beyond this is read a second time when it is written, so that two programs at once cost little memory.
MAX_BYTES_IN_MEMORY: Final = 2**26
_MAX_DEPTH: Final = 64
# History is no part of what is deployed.
_VERSION_CONTROL: Final = frozenset({".git", ".hg", ".svn"})


class InputsError(PolicyError):
    """The files of a program are too many, too large, or cannot be written."""


class Inputs:
    """Files of a tree, and others in their stead, at the paths that they have in the tree."""

    def __init__(self, tree: FileTree) -> None:
        """Start without files."""
        self.tree = tree
        self._digests: dict[str, bytes] = {}
        # None for a file that is read again when it is written.
        self._contents: dict[str, bytes | None] = {}
        self._bytes = 0

    def copy_file(self, path: str) -> None:
        """Take a file of the tree, unless the path is taken or cannot be read. Raises InputsError for too much."""
        if path in self._contents:
            return
        try:
            data = self.tree.read(path, MAX_BYTES - self._bytes)
        except (OSError, ValueError):
            return
        self._add(path, data)
        if self._bytes > MAX_BYTES_IN_MEMORY:
            self._contents[path] = None

    def copy_folder(self, folder: str, is_left_out: Callable[[str, bool], bool] | None = None) -> None:
        """Take all files in a folder and below it. Raises InputsError for too much.

        `is_left_out` is called with a path, and whether that is a folder.
        """
        folders = [(folder, 0)]
        while folders:
            subfolder, depth = folders.pop()
            for name in self.tree.names(subfolder) if depth < _MAX_DEPTH else ():
                path = posixpath.join(subfolder, name)
                kind = self.tree.kind(path) if name not in _VERSION_CONTROL else ""
                if kind and is_left_out and is_left_out(path, kind == "folder"):
                    continue
                if kind == "file":
                    self.copy_file(path)
                elif kind:
                    folders.append((path, depth + 1))
            if len(folders) > MAX_FILES:
                raise InputsError(f"more than {MAX_FILES:,} folders are needed to render it")

    def write(self, path: str, data: bytes | str) -> None:
        """Add a file that is not in the tree, unless the path is taken. Raises InputsError for too much."""
        if path not in self._contents:
            self._add(path, data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data)

    def _add(self, path: str, data: bytes) -> None:
        self._bytes += len(data)
        if len(self._contents) >= MAX_FILES or self._bytes > MAX_BYTES:
            raise InputsError(f"more than {MAX_FILES:,} files or {MAX_BYTES >> 20} MiB are needed to render it")
        self._contents[path] = data
        self._digests[path] = blake2b(data).digest()

    def root(self, folder: str) -> str:
        """Return the innermost folder that holds all files and the given folder."""
        return posixpath.commonpath([folder, *map(posixpath.dirname, self._contents)])

    def digest(self, root: str) -> bytes:
        """Return a digest of the contents and of the paths from a folder that holds all files."""
        total = blake2b()
        for path in sorted(self._digests):
            total.update(posixpath.relpath(f"/{path}", f"/{root}").encode("utf-8", "surrogateescape") + b"\0")
            total.update(self._digests[path])
        return total.digest()

    def write_all(self, folder: Path) -> None:
        """Write the files into a folder of the disk. Raises InputsError."""
        try:
            for path, content in self._contents.items():
                data = self.tree.read(path, MAX_BYTES) if content is None else content
                if content is None and blake2b(data).digest() != self._digests[path]:
                    raise InputsError(f"{self.tree.source(path)} changed while it was read")
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(data)
        except (OSError, ValueError) as error:
            raise InputsError(f"its files cannot be copied: {error}") from None
