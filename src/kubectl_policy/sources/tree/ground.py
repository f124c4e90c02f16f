"""Files of a tree by absolute paths, whatever they were called, and the top of their repository."""

from __future__ import annotations

import os
import posixpath
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from kubectl_policy.sources.files.input_files import is_manifest
from kubectl_policy.sources.files.tree import STDIN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.sources.files.tree import FileTree

# The top of a tree that is not on a disk; a path that leads above it is in no tree.
_TOP: Final = "/tree"


class Ground:
    """Files that were read, by their absolute paths in their tree."""

    def __init__(self, tree: FileTree, sources: Iterable[str], roots: Iterable[str] = ()) -> None:
        """Know the files that were read by their names in messages, and the folders that were searched for them."""
        self._tree = tree
        self._here = _TOP if tree.prefix else os.getcwd()  # noqa: PTH109 (text)
        # The folders that were asked for, each with a slash at its end.
        self._folders: dict[str, str] = {}
        self.sources: dict[str, str] = {}
        for source in sources:
            if source != STDIN:
                self.sources.setdefault(self.absolute_path(source), source)
        self._is_relative = not any(source.startswith("/") for source in self.sources.values())
        # Every folder around a file, with the number of files below it.
        self.folders: dict[str, int] = {}
        inside = Counter(map(posixpath.dirname, self.sources))
        for folder, files in inside.items():
            for outer in (folder, *ancestors(folder)):
                self.folders[outer] = self.folders.get(outer, 0) + files
        self._common = posixpath.commonpath([*inside] or [self._here])
        searched = {self.absolute_path(root) for root in roots if root}
        self._named = posixpath.commonpath(searched) if searched else self._common
        self.top = _TOP if tree.prefix else tree.repository_of(self._common) or ""

    def add(self, path: str) -> str:
        """Know one more file, and what it is called."""
        source = self.source_of(path)
        self.sources[path] = source
        for folder in ancestors(path):
            self.folders[folder] = self.folders.get(folder, 0) + 1
        return source

    def absolute_path(self, source: str) -> str:
        """Return the absolute path of a file or folder that has a name in messages."""
        path = source.removeprefix(self._tree.prefix)
        name = path.rpartition("/")[2]
        if name in {"", ".", ".."}:
            return posixpath.normpath(posixpath.join(self._here, path))
        parent = path.removesuffix(name)
        if parent not in self._folders:
            folder = posixpath.normpath(posixpath.join(self._here, parent))
            self._folders[parent] = folder if folder.endswith("/") else f"{folder}/"
        return self._folders[parent] + name

    def source_of(self, path: str) -> str:
        """Return the name of a file or folder in messages, in the form of its neighbours."""
        if path in self.sources:
            return self.sources[path]
        if self._tree.prefix:
            return self._tree.source("" if path == _TOP else self._path(path))
        return os.path.relpath(path, self._here) if self._is_relative else path

    def short(self, folder: str) -> str:
        """Return a folder by its path in the folders that were named."""
        inside = posixpath.relpath(folder, self._named)
        return "" if inside == "." else self._path(folder).strip("/") if inside.startswith("..") else inside

    def may_read(self, path: str) -> bool:
        """Whether a file that nobody named may be read: a manifest that is in the same repository, if there is one."""
        if path in self.sources:
            return True
        if not is_manifest(posixpath.basename(path)):
            return False
        try:
            real, kind = self._tree.resolve(self._path(path))
            # Links must not lead out of the repository either.
            return kind == "file" and (not self.top or is_in(real, self._tree.resolve(self._path(self.top))[0]))
        except (OSError, ValueError):
            return False

    def _path(self, absolute: str) -> str:
        """Return the path of a place in the tree."""
        return posixpath.relpath(absolute, _TOP) if self._tree.prefix else absolute

    def resolve(self, path: str, named_in: str) -> str | None:
        """Return the folder that a path from the root of its repository names, if anything below it was read.

        The root is around the file that names it. Where nothing tells where, the outermost folder that will do is it.
        """
        if not path:
            return self.top or self._common
        roots = [folder for folder in reversed(ancestors(named_in)) if not self.top or is_in(folder, self.top)]
        candidates = (posixpath.normpath(posixpath.join(folder, path)) for folder in roots)
        return next(
            (candidate for candidate in candidates if candidate in self.folders or candidate in self.sources), None
        )


def ancestors(path: str) -> tuple[str, ...]:
    """Return the folders around a path, from the nearest to the outermost."""
    return _with_ancestors(posixpath.dirname(path)) if path not in {"", "/"} else ()


@lru_cache(maxsize=100_000)
def _with_ancestors(folder: str) -> tuple[str, ...]:
    folders = [folder]
    while folders[-1] not in {"", "/"}:
        folders.append(posixpath.dirname(folders[-1]))
    return tuple(folders)


def is_in(path: str, folder: str) -> bool:
    """Whether a place is a folder, or below it."""
    return not folder or path == folder or path.startswith(folder.rstrip("/") + "/")
