"""Tar archives as trees: `.tar`, `.tar.gz` and `.tgz`, as Flux, Argo CD and code hosts store a repository."""

from __future__ import annotations

import os
from functools import lru_cache
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, Final

from kubectl_policy.errors import SourceError
from kubectl_policy.lazy import pattern
from kubectl_policy.sources.files.decoding import PIECE, unpacked
from kubectl_policy.sources.files.disk import Disk
from kubectl_policy.sources.files.tree import StoredTree, TreeEntry, folder_in, reason_of
from kubectl_policy.text import DocumentError

if TYPE_CHECKING:
    from tarfile import TarFile, TarInfo

_SUFFIX: Final = pattern(r"\.(?:tar|tar\.gz|tgz)(?=:|\Z)")
# An archive is read into memory; Flux unpacks no more than 100 MiB.
MAX_SIZE: Final = 2**28
MAX_MEMBERS: Final = 100_000
# Archives are written in blocks, and end with zeros.
_BLOCK: Final = 512


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
        top = _read(name, (about.st_ino, about.st_mtime_ns, about.st_size))
    except DocumentError as error:
        raise _refusal(name, error.problem.message) from None
    except (OSError, ValueError) as error:
        raise SourceError(f"{name}: {reason_of(error)}", "check the path and its permissions") from None
    return StoredTree(f"{name}:", TreeEntry("folder", top), "archive")


@lru_cache(maxsize=2)
def _read(name: str, _version: tuple[int, ...]) -> dict[str, TreeEntry]:
    """Read all members of an archive; one that did not change is read once."""
    import tarfile  # noqa: PLC0415 (few inputs are archives)

    data = Disk().read(name, MAX_SIZE)
    if len(data) <= MAX_SIZE and not name.endswith(".tar"):
        data = b"".join(islice(unpacked(data), MAX_SIZE // PIECE + 1))
    if len(data) > MAX_SIZE:
        raise _refusal(name, f"more than {MAX_SIZE >> 20} MiB are in it")
    top: dict[str, TreeEntry] = {}
    try:
        with tarfile.open(fileobj=BytesIO(data), mode="r|", encoding="utf-8", errors="surrogateescape") as archive:
            for number, member in enumerate(archive):
                if number >= MAX_MEMBERS:
                    raise _refusal(name, f"it has more than {MAX_MEMBERS:,} members")
                _add(name, top, archive, member)
    except (tarfile.TarError, OverflowError, RecursionError, ValueError, EOFError) as error:
        raise _refusal(name, f"it is no tar archive, or damaged: {error}") from None
    # `tarfile` takes the end of the file for that of the archive, which has zeros there.
    if data[-_BLOCK:].strip(b"\0"):
        raise _refusal(name, "its end is missing, or something else follows it")
    return top


def _add(name: str, top: dict[str, TreeEntry], archive: TarFile, member: TarInfo) -> None:
    """Add a member to the folder at the top. Raises SourceError for one that no tree can have."""
    parts = _parts(name, member.name)
    try:
        if member.isdir():
            folder_in(top, parts)
            return
        folder, last = folder_in(top, parts[:-1]), parts[-1] if parts else ""
        if member.issym():
            entry = TreeEntry("link", member.linkname.encode("utf-8", "surrogateescape"))
        elif member.islnk():
            target = _parts(name, member.linkname)
            entry = folder_in(top, target[:-1])[target[-1]]
        elif (
            member.isreg()
            and not member.issparse()
            and member.size <= MAX_SIZE
            and (file := archive.extractfile(member))
        ):
            entry = TreeEntry("file", file.read())
        else:
            raise _refusal(name, f"{member.name} is neither a file nor a folder nor a link")
    except (LookupError, FileExistsError):
        raise _refusal(name, f"{member.name} is at odds with another member") from None
    if not last or folder.setdefault(last, entry).kind == "folder":
        raise _refusal(name, f"{member.name} is at odds with another member")
    folder[last] = entry


def _parts(name: str, path: str) -> list[str]:
    """Return the names in the path of a member. Raises SourceError for one that leads out of the archive."""
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if path.startswith("/") or ".." in parts:
        raise _refusal(name, f"{path} leads out of it")
    return parts


def _refusal(name: str, reason: str) -> SourceError:
    return SourceError(f"{name}: the archive cannot be read: {reason}", "unpack it, and name the folder")
