"""`FileTree`: folders and files, be they on disk, in a git revision or in an archive."""

from __future__ import annotations

import errno
import os
import posixpath
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from kubectl_policy.errors import NothingThereError, SourceError
from kubectl_policy.sources.files.decoding import MAX_FILE_SIZE, decode_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

# A link, and a file to read or a folder to list; anything else (a pipe, a device) is "".
Kind: TypeAlias = Literal["file", "folder", "link", ""]

STDIN: Final = "<stdin>"
OWN_IGNORE_FILE: Final = ".kubectl-policyignore"
# Folders in git may contain themselves over and over, so that ten objects make up ten billion files.
MAX_ENTRIES: Final = 1_000_000
# As many links, and as long a path in one, as Linux follows.
_MAX_LINKS: Final = 40
_MAX_LINK_SIZE: Final = 4096


class FileTree(ABC):
    """Folders and files. A path has `/` between its parts; the top of a tree is ""."""

    prefix: str = ""
    """The text before each path in messages and origins: `main:`, `tree.tar.gz:`, or "" on disk."""
    ignore_files: tuple[str, ...] = (OWN_IGNORE_FILE,)
    """The names of files that say which files of the tree are left out; the later one counts."""
    top: str = ""
    """The folder at which a search starts that names none."""
    max_entries: int = MAX_ENTRIES
    """The number of files and folders that a search may pass."""

    def named(self, path: str) -> str:
        """Return the path in the tree that a person means. Raises SourceError for one that cannot be in it."""
        return path

    def not_found(self, path: str) -> SourceError:
        """Return the error for a path that leads to nothing."""
        return SourceError(f"{path}: there is no such file or folder", "check the path, or quote a pattern")

    @abstractmethod
    def entries(self, folder: str) -> Iterable[tuple[str, Kind]]:
        """List the names in a folder with their kinds. Raises OSError."""

    @abstractmethod
    def resolve(self, path: str) -> tuple[str, Kind]:
        """Return the absolute path without links of a file or folder, and its kind. Raises OSError and ValueError."""

    @abstractmethod
    def read(self, path: str, limit: int) -> bytes:
        """Read a file, and no more of it than the limit and one byte. Raises OSError and ValueError."""

    def text(self, path: str) -> str:
        """Read a file as text. Raises OSError, ValueError and DocumentError."""
        return decode_text(self.read(path, MAX_FILE_SIZE))

    def kind(self, path: str) -> Kind:
        """Return the kind of a path, links followed; "" if it leads nowhere, or out of the tree."""
        try:
            return self.resolve(path)[1]
        except (OSError, ValueError):
            return ""

    def names(self, folder: str) -> list[str]:
        """Return the sorted names in a folder; none if it cannot be read."""
        try:
            return sorted(name for name, _ in self.entries(folder))
        except (OSError, ValueError):
            return []

    def here(self) -> str:
        """Return the folder at which paths with `./` start, with a slash at its end; "" on disk and for the top."""
        return ""

    def repository_of(self, path: str) -> str | None:
        """Return the folder of the repository that a path is in; None if it is in none."""
        return path[:0]

    def root_of(self, path: str) -> str:
        """Return the folder of the repository that a path is in; without a repository, the named folder around it."""
        return path[:0]

    def source(self, path: str) -> str:
        """Return the name of a path in messages and origins."""
        return self.prefix + path

    def title(self, folder: str = "") -> str:
        """Return the name of a folder in messages; that of the top is the name of the tree."""
        return self.source(folder) if folder else self.prefix.removesuffix(":")

    def path_of(self, source: str) -> str | None:
        """Return the path that has a name in messages; None if it is not in this tree, as standard input is not."""
        return source.removeprefix(self.prefix) if source.startswith(self.prefix) and source != STDIN else None


class TreeEntry(NamedTuple):
    """File, folder or link in a `StoredTree`."""

    kind: Kind
    content: str | bytes | dict[str, TreeEntry]
    """The id of a git object, the bytes of a file or link, or the entries of a folder by their names."""
    problem: str = ""
    """The reason for which it cannot be read."""


class StoredTree(FileTree):
    """Tree whose links are followed here and not by an operating system: a git revision, an index or an archive."""

    def __init__(self, prefix: str, top: TreeEntry, noun: str = "repository") -> None:
        """Start at the folder at the top; messages call the tree by the noun."""
        self.prefix, self._top, self.noun = prefix, top, noun

    def entries(self, folder: str) -> Iterator[tuple[str, Kind]]:
        """List the names in a folder with their kinds. Raises OSError."""
        inside = self._inside(self.entry(folder)[1])
        return ((name, entry.kind) for name, entry in inside.items())

    def resolve(self, path: str) -> tuple[str, Kind]:
        """Return the absolute path without links of a file or folder, and its kind. Raises OSError."""
        real, entry = self.entry(path)
        return real, entry.kind

    def read(self, path: str, limit: int) -> bytes:
        """Read a file, and no more of it than the limit and one byte. Raises OSError."""
        _, entry = self.entry(path)
        if entry.kind != "file":
            raise _error(errno.EISDIR)
        return self._content(entry, limit)

    def named(self, path: str) -> str:
        """Return the path that a person means: from the top, or with `./` or `../` from `here`.

        Raises SourceError for one that is above the top.
        """
        relative = path in {".", ".."} or path.startswith(("./", "../"))
        named = posixpath.normpath((self.here() + path if relative else path.strip("/")) or ".")
        if named.partition("/")[0] == "..":
            message = f"{self.source(path)}: there is nothing above the root of the {self.noun}"
            raise SourceError(message, "a path starts at the root, or with ./ at the current directory")
        return "" if named == "." else named

    def not_found(self, path: str) -> NothingThereError:
        """Return the error for a path that leads to nothing."""
        message = f"{self.source(path)}: there is no such file or folder in {self.title()}"
        return NothingThereError(message, f"a path starts at the root of the {self.noun}")

    def _inside(self, folder: TreeEntry) -> Mapping[str, TreeEntry]:
        """Return the entries of a folder. Raises OSError if it is none, or cannot be read."""
        if folder.problem:
            raise OSError(errno.EXDEV, folder.problem)
        if not isinstance(folder.content, dict):
            raise _error(errno.ENOTDIR)
        return folder.content

    def _content(self, entry: TreeEntry, limit: int) -> bytes:
        """Return the bytes of a file or a link, and no more than the limit and one. Raises OSError."""
        if not isinstance(entry.content, bytes):
            raise _error(errno.EISDIR)
        return entry.content[: limit + 1]

    def entry(self, path: str) -> tuple[str, TreeEntry]:
        """Follow a path and the links in it: the path without links, and what is there. Raises OSError."""
        names = list(reversed(path.split("/")))
        passed = [("", self._top)]
        links = 0
        while names:
            name = names.pop()
            inside = self._inside(passed[-1][1])
            if name in {"", "."}:
                continue
            if name == "..":
                passed.pop()
                if not passed:
                    raise OSError(errno.EXDEV, f"a link that leads out of the {self.noun}")
                continue
            entry = inside.get(name)
            if entry is None:
                raise _error(errno.ENOENT)
            if entry.kind == "link":
                links += 1
                if links > _MAX_LINKS:
                    raise _error(errno.ELOOP)
                names.extend(reversed(self._target(entry).split("/")))
            else:
                passed.append((f"{passed[-1][0]}/{name}", entry))
        real, entry = passed[-1]
        if entry.problem:
            raise OSError(errno.EXDEV, entry.problem)
        return real or "/", entry

    def _target(self, link: TreeEntry) -> str:
        """Return the path in a link, from the folder that it is in. Raises OSError if it starts at a disk's root."""
        data = self._content(link, _MAX_LINK_SIZE)
        if len(data) > _MAX_LINK_SIZE:
            raise _error(errno.ENAMETOOLONG)
        if data.startswith(b"/"):
            raise OSError(errno.EXDEV, f"a link that leads out of the {self.noun}")
        return data.decode("utf-8", "surrogateescape")


def folder_in(top: dict[str, TreeEntry], names: Iterable[str]) -> dict[str, TreeEntry]:
    """Return the entries of the folder at a path, made if it is not there. Raises FileExistsError for a file there."""
    folder = top
    for name in names:
        inside = folder.setdefault(name, TreeEntry("folder", {})).content
        if not isinstance(inside, dict):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        folder = inside
    return folder


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def reason_of(error: OSError | ValueError, done: str = "read") -> str:
    """Return the operating system's reason for which something cannot be read, or `done` otherwise."""
    return f"cannot be {done}: {(error.strerror if isinstance(error, OSError) else None) or error}"
