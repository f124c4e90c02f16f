"""Where the files of a tree are: places by which they are known, whatever they were called, and the top of the tree."""

from __future__ import annotations

import os
import posixpath
import stat
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

from kubectl_policy.sources.files import STDIN, is_manifest

if TYPE_CHECKING:
    from collections.abc import Iterable


class Ground:
    """A disk, or a revision of a git repository, as places: absolute paths in which `/` stands between folders."""

    def __init__(self, sources: Iterable[str], roots: Iterable[str] = (), *, revision: str = "") -> None:
        """Know the files that were read by what they are called, and the folders that were searched for them.

        `revision` is what stands before the path in each of these names (`main:`), empty for files on a disk.
        """
        self._revision = revision
        self._here = posixpath.sep if revision else os.getcwd()  # noqa: PTH109 (places are text)
        # The folders that were asked for, each with a slash at its end.
        self._places: dict[str, str] = {}
        self.sources: dict[str, str] = {}
        for source in sources:
            if source != STDIN:
                self.sources.setdefault(self.place_of(source), source)
        self._is_relative = not any(source.startswith("/") for source in self.sources.values())
        # Every folder around a file, with the number of files below it.
        self.folders: dict[str, int] = {}
        inside = Counter(map(posixpath.dirname, self.sources))
        for folder, files in inside.items():
            for each in (folder, *above(folder)):
                self.folders[each] = self.folders.get(each, 0) + files
        self._common = posixpath.commonpath([*inside] or [self._here])
        searched = {self.place_of(root) for root in roots if root}
        self._named = posixpath.commonpath(searched) if searched else self._common
        self.top = posixpath.sep if revision else _repository_around(self._common)

    def add(self, place: str) -> str:
        """Know one more file, and what it is called."""
        source = self.source_of(place)
        self.sources[place] = source
        for folder in above(place):
            self.folders[folder] = self.folders.get(folder, 0) + 1
        return source

    def place_of(self, source: str) -> str:
        """The place of what a message calls so."""
        path = source.removeprefix(self._revision)
        name = path.rpartition("/")[2]
        if name in {"", ".", ".."}:
            return posixpath.normpath(posixpath.join(self._here, path))
        around = path.removesuffix(name)
        if around not in self._places:
            folder = posixpath.normpath(posixpath.join(self._here, around))
            self._places[around] = folder if folder.endswith("/") else f"{folder}/"
        return self._places[around] + name

    def source_of(self, place: str) -> str:
        """What messages call a file or a folder, as its neighbours are called."""
        if place in self.sources:
            return self.sources[place]
        if self._revision:
            return self._revision + place.lstrip("/")
        return os.path.relpath(place, self._here) if self._is_relative else place

    def short(self, place: str) -> str:
        """A folder by its path in what was named."""
        inside = posixpath.relpath(place, self._named)
        return "" if inside == "." else place.strip("/") if inside.startswith("..") else inside

    def may_read(self, place: str) -> bool:
        """Whether a file that nobody named may be read: a manifest that is in the same repository, if there is one."""
        if place in self.sources:
            return True
        if not is_manifest(posixpath.basename(place)):
            return False
        if self._revision:
            return True
        # Links must not lead out of the repository either.
        real = os.path.realpath(place)
        inside = not self.top or is_in(real, os.path.realpath(self.top))
        try:
            return inside and stat.S_ISREG(os.stat(real).st_mode)  # noqa: PTH116 (places are text)
        except (OSError, ValueError):
            return False

    def resolve(self, path: str, named_in: str) -> str | None:
        """The folder that a path from the root of its repository means, if anything below it was read.

        The root is around the file that names it. Where nothing tells where, the outermost folder that will do is it.
        """
        if not path:
            return self.top or self._common
        around = [folder for folder in reversed(above(named_in)) if not self.top or is_in(folder, self.top)]
        found = (posixpath.normpath(posixpath.join(folder, path)) for folder in around)
        return next((place for place in found if place in self.folders or place in self.sources), None)


def above(place: str) -> tuple[str, ...]:
    """The folders around a place, from the nearest to the outermost."""
    return _and_above(posixpath.dirname(place)) if place not in {"", "/"} else ()


@lru_cache(maxsize=100_000)
def _and_above(folder: str) -> tuple[str, ...]:
    found = [folder]
    while found[-1] not in {"", "/"}:
        found.append(posixpath.dirname(found[-1]))
    return tuple(found)


def is_in(place: str, folder: str) -> bool:
    """Whether a place is a folder, or below it."""
    return place == folder or place.startswith(folder.rstrip("/") + "/")


def _repository_around(folder: str) -> str:
    """The folder of the git repository that a folder is in; empty if it is in none."""
    for place in (folder, *above(folder)):
        if os.path.exists(posixpath.join(place, ".git")):  # noqa: PTH110 (places are text)
            return place
    return ""
