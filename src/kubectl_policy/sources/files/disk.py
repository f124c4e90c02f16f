"""Trees on a disk: folders, with links wherever they lead or inside of repositories alone, and tar archives."""

from __future__ import annotations

import errno
import os
import posixpath
import stat
import sys
from functools import cache, lru_cache
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO, Final, TextIO

from kubectl_policy.errors import SourceError
from kubectl_policy.lazy import pattern
from kubectl_policy.sources.files.decoding import MAX_FILE_SIZE, PIECE, decode_text, unpack_gzip
from kubectl_policy.sources.files.tree import (
    OWN_IGNORE_FILE,
    STDIN,
    FileTree,
    StoredTree,
    TreeEntry,
    folder_in,
    reason_of,
)
from kubectl_policy.text import DocumentError
from kubectl_policy.text.named_file import read_named_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from tarfile import TarFile, TarInfo

    from kubectl_policy.sources.files.tree import Kind

_SUFFIX: Final = pattern(r"\.(?:tar|tar\.gz|tgz)(?=:|\Z)")
# An archive is read into memory; Flux unpacks no more than 100 MiB.
MAX_ARCHIVE_SIZE: Final = 2**28
MAX_ARCHIVE_MEMBERS: Final = 100_000
# Archives are written in blocks, and end with zeros.
_TAR_BLOCK: Final = 512


class Disk(FileTree):
    """A disk, whose paths are those that a person names: absolute, or from the current directory."""

    ignore_files = (".gitignore", OWN_IGNORE_FILE)
    top = "."

    def entries(self, folder: str) -> Iterator[tuple[str, Kind]]:
        """List the names in a folder with their kinds. Raises OSError."""
        with os.scandir(folder or ".") as entries:
            for entry in entries:
                # To ask each of thousands of files for its type takes longer than to read them.
                if entry.is_file(follow_symlinks=False):
                    yield entry.name, "file"
                elif entry.is_symlink():
                    yield entry.name, "link"
                else:
                    yield entry.name, "folder" if entry.is_dir() else ""

    def resolve(self, path: str) -> tuple[str, Kind]:
        """Return the absolute path without links of a file or folder, and its kind. Raises OSError and ValueError."""
        path = path or "."
        return os.path.realpath(path), _kind_of(os.stat(path).st_mode)  # noqa: PTH116 (to import Path takes longer than to read a file)

    def kind(self, path: str) -> Kind:
        """Return the kind of a path, links followed; "" if it leads nowhere."""
        try:
            return _kind_of(os.stat(path).st_mode)  # noqa: PTH116 (see above)
        except (OSError, ValueError):
            return ""

    def read(self, path: str, limit: int) -> bytes:
        """Read a file or pipe, and no more of it than the limit and one byte. Raises OSError and ValueError."""
        return read_named_file(path, limit)

    def repository_of(self, path: str) -> str | None:
        """Return the folder of the git repository that an absolute path is in; None if it is in none."""
        folder = path
        while not os.path.lexists(posixpath.join(folder, ".git")):
            outer = posixpath.dirname(folder)
            if outer == folder:
                return None
            folder = outer
        return folder


class RepositoriesOnDisk(FileTree):
    """A disk from its root, whose links do not lead out of a repository. A path has no links in it but at its end."""

    def __init__(self, named: Iterable[str]) -> None:
        """Call files as a person does who named some files and folders, relative or not."""
        self._disk = Disk()
        self._named = {os.path.realpath(name): name for name in named if name != "-"}
        self._repository_of = cache(self._disk.repository_of)
        self._real_folder = cache(os.path.realpath)

    def entries(self, folder: str) -> Iterator[tuple[str, Kind]]:
        """List the names in a folder with their kinds. Raises OSError."""
        return self._disk.entries(self.resolve(folder)[0])

    def resolve(self, path: str) -> tuple[str, Kind]:
        """Return the absolute path without links of a file or folder, and its kind. Raises OSError and ValueError."""
        written = f"/{path.rstrip('/')}"
        real, kind = self._disk.resolve(written)
        if real != written:
            root = self.root_of(posixpath.dirname(path))
            if root and not real.startswith(f"/{root}/"):
                raise OSError(errno.EXDEV, "a link that leads out of the repository")
        return real, kind

    def read(self, path: str, limit: int) -> bytes:
        """Read a file, and no more of it than the limit and one byte. Raises OSError and ValueError."""
        real, kind = self.resolve(path)
        # A pipe would keep the reader waiting.
        if kind != "file":
            raise OSError(errno.EINVAL, "no file")
        return self._disk.read(real, limit)

    def repository_of(self, path: str) -> str | None:
        """Return the folder of the git repository that a path is in; None if it is in none."""
        repository = self._repository_of(f"/{path.lstrip('/')}")
        return repository and repository[1:]

    def root_of(self, path: str) -> str:
        """Return the repository that a path is in or, without one, the named folder around it, or else its folder."""
        repository = self.repository_of(path)
        if repository is not None:
            return repository
        folder = f"/{path}"
        while folder != "/" and not (folder in self._named and self._disk.kind(folder) == "folder"):
            folder = posixpath.dirname(folder)
        return folder[1:] or posixpath.dirname(path)

    def source(self, path: str) -> str:
        """Return the name of a path in messages, as the files were named."""
        path = f"/{path}"
        for real, name in self._named.items():
            if path == real or path.startswith(f"{real.rstrip('/')}/"):
                return os.path.normpath(posixpath.join(name, path[len(real) :].lstrip("/")))
        # A file outside of the input is called as the first name is: from here, or from the root of the disk.
        first = next(iter(self._named.values()), "/")
        return path if os.path.isabs(first) else os.path.normpath(os.path.relpath(path))  # noqa: PTH117 (text)

    def path_of(self, source: str) -> str | None:
        """Return the path of a file that has a name in messages; None of standard input."""
        if source == STDIN:
            return None
        # A link at the end keeps its name: it may be listed by it.
        folder, name = os.path.split(source)
        return posixpath.join(self._real_folder(folder), name)[1:]


def read_stdin(stdin: TextIO | BinaryIO | None) -> str:
    """Read standard input, or a stream in its stead, as text. Raises SourceError and DocumentError."""
    stream = stdin or sys.stdin
    if stream is None:
        raise SourceError("standard input is closed", "name files or folders instead")
    data: bytes | str = getattr(stream, "buffer", stream).read(MAX_FILE_SIZE + 1)
    return decode_text(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))


def _kind_of(mode: int) -> Kind:
    return "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else ""


def archive_and_path(operand: str) -> tuple[str, str] | None:
    """Split `ARCHIVE` and `ARCHIVE:PATH`, of an archive that is on disk; None of anything else."""
    for suffix in _SUFFIX.finditer(operand):
        archive = operand[: suffix.end()]
        if os.path.isfile(archive):  # noqa: PTH113 (to import Path takes longer)
            return archive, operand[suffix.end() + 1 :]
    return None


def open_archive(name: str) -> StoredTree:
    """Read the archive in a file into memory. Raises SourceError if it is damaged, too large, or hostile."""
    try:
        about = os.stat(name)  # noqa: PTH116 (see above)
        top = _read_archive(name, (about.st_ino, about.st_mtime_ns, about.st_size))
    except DocumentError as error:
        raise _refusal(name, error.problem.message) from None
    except (OSError, ValueError) as error:
        raise SourceError(f"{name}: {reason_of(error)}", "check the path and its permissions") from None
    return StoredTree(f"{name}:", TreeEntry("folder", top), "archive")


@lru_cache(maxsize=2)
def _read_archive(name: str, _version: tuple[int, ...]) -> dict[str, TreeEntry]:
    """Read all members of an archive; one that did not change is read once."""
    import tarfile  # noqa: PLC0415 (few inputs are archives)

    data = Disk().read(name, MAX_ARCHIVE_SIZE)
    if len(data) <= MAX_ARCHIVE_SIZE and not name.endswith(".tar"):
        data = b"".join(islice(unpack_gzip(data), MAX_ARCHIVE_SIZE // PIECE + 1))
    if len(data) > MAX_ARCHIVE_SIZE:
        raise _refusal(name, f"more than {MAX_ARCHIVE_SIZE >> 20} MiB are in it")
    top: dict[str, TreeEntry] = {}
    try:
        with tarfile.open(fileobj=BytesIO(data), mode="r|", encoding="utf-8", errors="surrogateescape") as archive:
            for number, member in enumerate(archive):
                if number >= MAX_ARCHIVE_MEMBERS:
                    raise _refusal(name, f"it has more than {MAX_ARCHIVE_MEMBERS:,} members")
                _add_member(name, top, archive, member)
    except (tarfile.TarError, OverflowError, RecursionError, ValueError, EOFError) as error:
        raise _refusal(name, f"it is no tar archive, or damaged: {error}") from None
    # `tarfile` takes the end of the file for that of the archive, which has zeros there.
    if data[-_TAR_BLOCK:].strip(b"\0"):
        raise _refusal(name, "its end is missing, or something else follows it")
    return top


def _add_member(name: str, top: dict[str, TreeEntry], archive: TarFile, member: TarInfo) -> None:
    parts = _names_in(name, member.name)
    try:
        if member.isdir():
            folder_in(top, parts)
            return
        folder, last = folder_in(top, parts[:-1]), parts[-1] if parts else ""
        if member.issym():
            entry = TreeEntry("link", member.linkname.encode("utf-8", "surrogateescape"))
        elif member.islnk():
            target = _names_in(name, member.linkname)
            entry = folder_in(top, target[:-1])[target[-1]]
        elif (
            member.isreg()
            and not member.issparse()
            and member.size <= MAX_ARCHIVE_SIZE
            and (file := archive.extractfile(member))
        ):
            entry = TreeEntry("file", file.read())
        else:
            raise _refusal(name, f"{member.name} is neither a file nor a folder nor a link")
    except (LookupError, FileExistsError):
        raise _refusal(name, f"{member.name} conflicts with another member") from None
    if not last or folder.setdefault(last, entry).kind == "folder":
        raise _refusal(name, f"{member.name} conflicts with another member")
    folder[last] = entry


def _names_in(name: str, path: str) -> list[str]:
    """Return the names in the path of a member. Raises SourceError for one that leads out of the archive."""
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if path.startswith("/") or ".." in parts:
        raise _refusal(name, f"{path} leads out of it")
    return parts


def _refusal(name: str, reason: str) -> SourceError:
    return SourceError(f"{name}: the archive cannot be read: {reason}", "unpack it, and name the folder")
