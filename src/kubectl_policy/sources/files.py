"""Which files are meant by the paths that somebody names, and the text in them."""

from __future__ import annotations

import codecs
import errno
import glob
import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple, TextIO

from kubectl_policy.errors import SourceError
from kubectl_policy.text import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

STDIN: Final = "<stdin>"
# What a person may name by mistake (an image, a dump) should not fill the memory; no estate comes near it.
MAX_FILE_SIZE: Final = 2**30

SUFFIXES: Final = (".json", ".yaml", ".yml")

# What `git lfs` leaves in the place of a file; read as YAML, it would be a document that is no Kubernetes object.
_LFS_POINTER: Final = b"version https://git-lfs.github.com/spec/"
_BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Found(NamedTuple):
    """A file to read, or a folder or file that cannot be read, and why not."""

    path: str
    problem: str = ""


def find_files(paths: Iterable[str | Path]) -> list[Found]:
    """The manifests that are meant, each once: named files, all .yaml, .yml and .json files in folders, globs, `-`.

    Folders are searched in alphabetical order; what is hidden in them is left out; links are followed, each folder is
    searched once. Raises SourceError for a path that names nothing or cannot be read.
    """
    found: dict[str, Found] = {}
    for path in map(str, paths):
        here = [Found(STDIN)] if path == "-" else list(_found_at(path))
        if not here:
            raise SourceError(f"{path}: there is no manifest in it", "manifests end in .yaml, .yml or .json")
        for file in here:
            found.setdefault(os.path.normpath(file.path), file)
    return list(found.values())


def read_text(path: str) -> str:
    """The text of a file in UTF-8 or, with a byte order mark, UTF-16.

    Raises OSError, and DocumentError (too-large, not-text) for what is no text.
    """
    with Path(path).open("rb") as file:
        return decoded(file.read(MAX_FILE_SIZE + 1))


def read_stdin(stdin: TextIO | BinaryIO | None) -> str:
    """The text of standard input, or of what is given in its stead; raises as `read_text`."""
    stream = stdin or sys.stdin
    if stream is None:
        raise SourceError("standard input is closed", "name files or folders instead")
    data: bytes | str = getattr(stream, "buffer", stream).read(MAX_FILE_SIZE + 1)
    return decoded(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))


def decoded(data: bytes) -> str:
    """The text that bytes stand for, no more of them than `MAX_FILE_SIZE` and one; raises DocumentError if none."""
    if len(data) > MAX_FILE_SIZE:
        raise DocumentError("too-large", 1, f"a file of more than {MAX_FILE_SIZE >> 30} GiB: split it")
    if data.startswith(_LFS_POINTER):
        raise DocumentError("unreadable", 1, "a pointer to a file in Git LFS: `git lfs pull`, and name a folder")
    mark, encoding = next(((mark, name) for mark, name in _BYTE_ORDER_MARKS if data.startswith(mark)), (b"", "utf-8"))
    try:
        text = data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DocumentError("not-text", line, "not UTF-8 text: save it as UTF-8, or leave it out") from None
    if "\0" in text:
        raise DocumentError("not-text", text.count("\n", 0, text.index("\0")) + 1, "a binary file: leave it out")
    return text


def _found_at(path: str) -> Iterator[Found]:
    try:
        mode = Path(path).stat().st_mode
    except FileNotFoundError:
        if not glob.has_magic(path):
            raise SourceError(
                f"{path}: there is no such file or folder", "check the path, or quote a pattern"
            ) from None
        yield from _matching(path)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    else:
        # What is named is read whatever its name is, and be it a pipe.
        if not os.access(path, os.R_OK):
            raise _unreadable(path, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
        yield from _manifests_under(Path(path), set(), named=True) if stat.S_ISDIR(mode) else [Found(path)]


def _matching(pattern: str) -> Iterator[Found]:
    matches = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 - Path.glob takes no absolute patterns
    if not matches:
        raise SourceError(f"{pattern}: no file matches this pattern", "`**` matches folders of any depth")
    seen: set[tuple[int, int]] = set()
    for match in matches:
        yield from _manifests_under(Path(match), seen, named=False)


def _manifests_under(top: Path, seen: set[tuple[int, int]], *, named: bool) -> Iterator[Found]:
    """The manifests in a folder that is not yet seen, or a manifest; pipes and devices, which might block, are none."""
    rest = [top]
    while rest:
        path = rest.pop()
        try:
            about = path.stat()
            inside = sorted(path.iterdir(), reverse=True) if stat.S_ISDIR(about.st_mode) else []
        except OSError as error:
            if named and path == top:
                raise _unreadable(str(path), error) from None
            # A link to nothing only matters if it looks like a manifest; whatever else is closed may hold some.
            if path.suffix in SUFFIXES or not isinstance(error, FileNotFoundError):
                yield Found(str(path), reason_of(error))
            continue
        if stat.S_ISDIR(about.st_mode) and (about.st_dev, about.st_ino) not in seen:
            seen.add((about.st_dev, about.st_ino))
            rest.extend(entry for entry in inside if not entry.name.startswith("."))
        elif stat.S_ISREG(about.st_mode) and path.suffix in SUFFIXES:
            yield Found(str(path))


def reason_of(error: OSError | ValueError) -> str:
    """Why something cannot be read, in the words of the operating system."""
    return f"cannot be read: {(error.strerror if isinstance(error, OSError) else None) or error}"


def _unreadable(path: str, error: OSError | ValueError) -> SourceError:
    return SourceError(f"{path}: {reason_of(error)}", "check the path and its permissions")
