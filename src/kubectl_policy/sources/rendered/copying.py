"""The files around the input, on disk or in a revision, and copies of the few of them that a program is to render."""

from __future__ import annotations

import errno
import os
import posixpath
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from kubectl_policy.errors import PolicyError
from kubectl_policy.sources.files import STDIN
from kubectl_policy.sources.git import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.sources.revisions import Revision

# What is copied for all that is rendered; an estate of a thousand applications comes to a tenth of it.
MAX_FILES: Final = 200_000
MAX_BYTES: Final = 2**30
_MAX_DEPTH: Final = 64
_LINK_OUT: Final = "a link that leads out of the repository"
# What copies and their variants are called; no file has such a name.
_TOP: Final = "files"
_VARIANT: Final = ".~"
# What is in there is no part of what is deployed.
_NEVER: Final = frozenset({".git", ".hg", ".svn"})


class Tree(Protocol):
    """Folders and files. A path starts at the top, whose own path is empty, and has no links in it but at its end."""

    def kind(self, path: str) -> str:
        """`file`, `folder`, or nothing if there is neither, or a link that leads out of the tree."""
        ...

    def names(self, folder: str) -> list[str]:
        """What is in a folder, sorted; nothing if it cannot be read."""
        ...

    def read(self, path: str, limit: int) -> bytes:
        """The content of a file, and no more of it than the limit and one byte. Raises OSError."""
        ...

    def root_of(self, path: str) -> str:
        """The repository that a path is in, as a path; where there is none, the folder that a person named."""
        ...

    def repository_of(self, path: str) -> str | None:
        """The repository that a path is in, as a path; None if it is in none."""
        ...

    def source(self, path: str) -> str:
        """How a person who named the input would call what is at a path."""
        ...

    def place(self, source: str) -> str | None:
        """The path of a file that is called that; None if it is in no tree, as standard input is not."""
        ...


class Disk:
    """A disk, from the root of its file system, as somebody sees it who named some files and folders on it."""

    def __init__(self, named: Iterable[str]) -> None:
        """See it as the named paths do, relative or not."""
        self._named = {os.path.realpath(name): name for name in named if name != "-"}
        self._roots: dict[str, str | None] = {}
        self._kinds: dict[str, str] = {}
        self._sources: dict[str, str] = {}

    def kind(self, path: str) -> str:
        """See `Tree`."""
        if path not in self._kinds:
            try:
                mode = self._real(path).stat().st_mode
            except (OSError, ValueError):
                mode = 0
            self._kinds[path] = "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else ""
        return self._kinds[path]

    def names(self, folder: str) -> list[str]:
        """See `Tree`."""
        try:
            return sorted(entry.name for entry in self._real(folder).iterdir())
        except (OSError, ValueError):
            return []

    def read(self, path: str, limit: int) -> bytes:
        """See `Tree`."""
        # A pipe would keep whoever reads it waiting.
        if self.kind(path) != "file":
            raise OSError(errno.EINVAL, "no file")
        with self._real(path).open("rb") as file:
            return file.read(limit + 1)

    def root_of(self, path: str) -> str:
        """See `Tree`."""
        found = self.repository_of(path)
        return self._nearest_named(path) if found is None else found

    def repository_of(self, path: str) -> str | None:
        """See `Tree`."""
        folder = path.lstrip("/")
        seen: list[str] = []
        while folder not in self._roots:
            seen.append(folder)
            if os.path.lexists(f"/{folder}/.git"):
                self._roots[folder] = folder
            elif not folder:
                self._roots[folder] = None
            else:
                folder = posixpath.dirname(folder)
        root = self._roots[folder]
        self._roots.update(dict.fromkeys(seen, root))
        return root

    def _nearest_named(self, path: str) -> str:
        """Of a path in no repository: the folder around it that was named, or else the one that it is in."""
        folder = f"/{path}"
        while folder != "/" and not (folder in self._named and Path(folder).is_dir()):
            folder = os.path.dirname(folder)  # noqa: PTH120 (text, for there are many)
        return folder[1:] or posixpath.dirname(path)

    def source(self, path: str) -> str:
        """See `Tree`."""
        if path not in self._sources:
            self._sources[path] = self._source(f"/{path}")
        return self._sources[path]

    def _source(self, path: str) -> str:
        for real, name in self._named.items():
            if path == real or path.startswith(f"{real.rstrip('/')}/"):
                return os.path.normpath(os.path.join(name, path[len(real) :].lstrip("/")))  # noqa: PTH118 (as named)
        # What lies beside the input is called by the way there, in the form in which the input was named.
        real, name = next(iter(self._named.items()), ("/", "/"))
        folder = real if Path(real).is_dir() else os.path.dirname(real)  # noqa: PTH120 (text)
        way = os.path.relpath(path, folder)
        return path if os.path.isabs(name) else os.path.normpath(os.path.relpath(path)) if way else path  # noqa: PTH117

    def place(self, source: str) -> str | None:
        """See `Tree`."""
        if source == STDIN:
            return None
        # A link at the end keeps its name: it may be listed by it.
        folder, name = os.path.split(os.path.abspath(source))  # noqa: PTH100 (text)
        return os.path.join(os.path.realpath(folder), name)[1:]  # noqa: PTH118 (text)

    def _real(self, path: str) -> Path:
        """Where a path leads; raises OSError if that is out of the repository by way of a link."""
        written = f"/{path.rstrip('/')}"
        real = os.path.realpath(written)
        if real != written:
            root = self.root_of(posixpath.dirname(path))
            if root and not real.startswith(f"/{root}/"):
                raise OSError(errno.EXDEV, _LINK_OUT)
        return Path(real)


class InRevision:
    """The files of a revision of a git repository."""

    def __init__(self, revision: Revision) -> None:
        """See the revision from the root of its repository."""
        self._revision = revision

    def kind(self, path: str) -> str:
        """See `Tree`."""
        try:
            return "folder" if self._revision.entry(path).mode == FOLDER else "file"
        except OSError:
            return ""

    def names(self, folder: str) -> list[str]:
        """See `Tree`."""
        try:
            return sorted(self._revision.names(folder))
        except OSError:
            return []

    def read(self, path: str, limit: int) -> bytes:
        """See `Tree`."""
        return self._revision.read(path, limit)

    def root_of(self, path: str) -> str:
        """See `Tree`."""
        return path[:0]

    def repository_of(self, path: str) -> str | None:
        """See `Tree`."""
        return path[:0]

    def source(self, path: str) -> str:
        """See `Tree`."""
        return self._revision.source(path)

    def place(self, source: str) -> str | None:
        """See `Tree`."""
        return self._revision.place(source)


class CopyError(PolicyError):
    """Something is too large, or too odd, to be copied."""


class Copy:
    """A folder with copies of some files of a tree, at the paths that they have there.

    What is below the folder of a variant (see `vary`) has a copy of its own for each.
    """

    def __init__(self, tree: Tree, folder: Path) -> None:
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
        except OSError:
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
