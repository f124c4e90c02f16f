"""Which files are meant by the paths of a call, and the text in them."""

from __future__ import annotations

import codecs
import errno
import os
import stat
import sys
from itertools import takewhile
from typing import TYPE_CHECKING, BinaryIO, Final, TextIO

from kubectl_policy.errors import NothingThereError, SourceError
from kubectl_policy.model.values import replace, value
from kubectl_policy.sources.exclusion import OWN_FILE, Exclusions, below
from kubectl_policy.text import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from kubectl_policy.model.snapshot import LeftOut
    from kubectl_policy.sources.exclusion import Search

STDIN: Final = "<stdin>"
# What a person may name by mistake (an image, a dump) should not fill the memory; no estate comes near it.
MAX_FILE_SIZE: Final = 2**30
# Of what has no size, so much is asked for at once.
_USUAL_SIZE: Final = 2**16
# Bytes as they are, also where text is written otherwise.
_TO_READ: Final = os.O_RDONLY | getattr(os, "O_BINARY", 0)

SUFFIXES: Final = (".json", ".yaml", ".yml")
# Kustomize takes this name as well.
NAMES: Final = ("Kustomization",)
# What says something of the files around it, be it an object or not.
ABOUT_OTHERS: Final = frozenset({"kustomization.yaml", "kustomization.yml", "Kustomization", "Chart.yaml"})

# What `git lfs` leaves in the place of a file; read as YAML, it would be a document that is no Kubernetes object.
_LFS_POINTER: Final = b"version https://git-lfs.github.com/spec/"
_BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_PACKED: Final = b"\x1f\x8b"
# To zlib: gzip, with the largest window.
GZIP: Final = 31
# How the header of a snapshot file says what it is, before its version.
SNAPSHOT_FORMAT: Final = "snapshot.policy.kubectl/"
_CONTROLS: Final = bytes((*range(9), *range(14, 32), 127))
# What matches more than itself in a pattern, as it does for `fnmatch`.
_WILDCARDS: Final = frozenset("*?[")


class PackedError(DocumentError):
    """What is being read is compressed by gzip, as snapshots are: `data` is what is in the file."""

    def __init__(self, data: bytes) -> None:
        """Keep the data, for what reads snapshots."""
        message = "a compressed file: unpack it, or leave it out; of these, snapshots are read, each where it is named"
        super().__init__("not-text", 1, message)
        self.data = data

    @property
    def is_snapshot(self) -> bool:
        """Whether the data begin as a snapshot does, of whatever version."""
        import zlib  # noqa: PLC0415 (few inputs are compressed)

        beginning = f'{{"apiVersion":"{SNAPSHOT_FORMAT}'.encode()
        try:
            return zlib.decompressobj(wbits=GZIP).decompress(self.data, len(beginning)) == beginning
        except zlib.error:
            return False


@value()
class InputFile:
    """A file to read, or a folder or file that cannot be read, and why not.

    `root` is the folder that was searched for it, empty for a file that was named itself; `argument` is the position of
    the path, among those of the call, by which it is meant.
    """

    path: str
    problem: str = ""
    root: str = ""
    argument: int = 0

    @property
    def place(self) -> str:
        """Where the file is below its root (`apps/echo/route.yaml`); its own path if it was named itself."""
        return below(self.path, self.root)


@value(kw_only=True)
class Files:
    """Files that were found, how the text of each is read, by its path, and what was left out beside them.

    In a revision of git, each path begins with what `revision` is (`main:`). `text_of` may raise OSError, ValueError
    and DocumentError.
    """

    found: Sequence[InputFile]
    text_of: Callable[[str], str]
    left_out: Collection[LeftOut] = ()
    revision: str = ""


def is_manifest(name: str) -> bool:
    """Whether a file in a folder is read, by its name."""
    return name.endswith(SUFFIXES) or name in NAMES


def find_files(paths: Iterable[str | Path], exclusions: Exclusions | None = None) -> list[InputFile]:
    """The manifests that are meant, each once: named files, all .yaml, .yml and .json files in folders, globs, `-`.

    Folders are searched in alphabetical order; what is hidden in them is left out, and what exclusions say, which note
    it; links are followed, each folder is searched once. Raises SourceError for a path that names nothing or cannot be
    read.
    """
    exclusions = exclusions or Exclusions()
    files: dict[str, InputFile] = {}
    for argument, path in enumerate(map(str, paths)):
        before = len(exclusions.left_out)
        meant = [InputFile(STDIN)] if path == "-" else list(_meant_by(path, exclusions))
        if not meant:
            raise nothing_in(path, left_out=len(exclusions.left_out) > before)
        for file in meant:
            files.setdefault(os.path.normpath(file.path), replace(file, argument=argument) if argument else file)
    return list(files.values())


def has_wildcards(path: str) -> bool:
    """Whether a path is a pattern for others."""
    return not _WILDCARDS.isdisjoint(path)


def nothing_in(folder: str, *, left_out: bool) -> NothingThereError:
    """What is said of a folder without manifests, or with none but those that are left out of it."""
    if left_out:
        message = f"{folder}: what is in it is left out, by --exclude, .gitignore or {OWN_FILE}"
        return NothingThereError(message, "name a file itself to read it all the same")
    return NothingThereError(f"{folder}: there is no manifest in it", "manifests end in .yaml, .yml or .json")


def read_text(path: str) -> str:
    """The text of a file in UTF-8 or, with a byte order mark, UTF-16.

    Raises OSError, and DocumentError (too-large, not-text; a PackedError for what is compressed) for what is no text.
    """
    # To make a file object takes as long as to read a small file.
    file = os.open(path, _TO_READ)
    try:
        about = os.fstat(file)
        data = os.read(file, min(about.st_size, MAX_FILE_SIZE) + 1)
        # What is no file, such as a pipe, has no size, and gives what it has.
        while not stat.S_ISREG(about.st_mode) and len(data) <= MAX_FILE_SIZE and (part := os.read(file, _USUAL_SIZE)):
            data += part
    finally:
        os.close(file)
    return decoded(data)


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
    mark, encoding = b"", "utf-8"
    if data[:1] > b"\x7f":
        mark, encoding = next((each for each in _BYTE_ORDER_MARKS if data.startswith(each[0])), (mark, encoding))
    try:
        text = data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        if data.startswith(_PACKED):
            raise PackedError(data) from None
        line = data.count(b"\n", 0, error.start) + 1
        # Text in another encoding has the same letters; what is encrypted or packed has any bytes.
        letters = data.decode("latin-1") if data.translate(None, _CONTROLS) == data else ""
        raise DocumentError("not-text", line, "not UTF-8 text: save it as UTF-8, or leave it out", letters) from None
    if "\0" in text:
        raise DocumentError("not-text", text.count("\n", 0, text.index("\0")) + 1, "a binary file: leave it out")
    return text


def _meant_by(path: str, exclusions: Exclusions) -> Iterator[InputFile]:
    try:
        # To import Path takes longer than to read a small file.
        mode = os.stat(path.rstrip("/") or path[:1] or ".").st_mode  # noqa: PTH116
    except FileNotFoundError:
        if not has_wildcards(path):
            raise SourceError(
                f"{path}: there is no such file or folder", "check the path, or quote a pattern"
            ) from None
        yield from _matching(path, exclusions)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    else:
        # What is named is read whatever its name is, and be it a pipe.
        if not os.access(path, os.R_OK):
            raise _unreadable(path, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
        if stat.S_ISDIR(mode):
            from pathlib import Path  # noqa: PLC0415 (see above)

            root = str(Path(path))
            yield from _manifests_under(root, set(), exclusions.on_disk(root), root)
        else:
            yield InputFile(path)


def _matching(pattern: str, exclusions: Exclusions) -> Iterator[InputFile]:
    from pathlib import Path  # noqa: PLC0415 (see `_meant_by`)

    top = Path("/") if pattern.startswith("/") else Path()
    # With a slash at the end, only folders are meant.
    parts = [part for part in pattern.split("/") if part]
    if pattern.endswith("/"):
        parts.append("")
    root = str(top.joinpath(*takewhile(lambda part: part and not has_wildcards(part), parts)))
    search = exclusions.on_disk(root)
    matches = sorted(_matches(top, parts, search), key=lambda match: match.path)
    if not matches:
        raise SourceError(f"{pattern}: no file matches this pattern", "`**` matches folders of any depth")
    seen: set[tuple[int, int]] = set()
    for match in matches:
        if match.problem:
            yield replace(match, root=root)
        elif not search.leaves_out_on_the_way(match.path, is_folder=os.path.isdir(match.path)):  # noqa: PTH112 (see load_state)
            yield from _manifests_under(match.path, seen, search, root, named=False)


def _matches(top: Path, parts: Iterable[str], search: Search) -> Iterator[InputFile]:
    """What the parts of a pattern lead to from a folder, and folders on the way that cannot be read.

    For each part, no folder is looked into twice, whatever links and `..` lead to it.
    """
    from pathlib import Path  # noqa: PLC0415 (see `_meant_by`)

    places = [top]
    for part in parts:
        folders, places = places, list[Path]()
        seen: set[tuple[int, int]] = set()
        for folder in folders:
            if part == "**":
                for path, mode, error in _walk(str(folder), seen, search):
                    if stat.S_ISDIR(mode):
                        places.append(Path(path))
                    elif error and not isinstance(error, FileNotFoundError):
                        yield InputFile(path, reason_of(error))
                continue
            try:
                about = folder.stat()
                if (about.st_dev, about.st_ino) not in seen:
                    seen.add((about.st_dev, about.st_ino))
                    places += _children(folder, part)
            except (FileNotFoundError, NotADirectoryError, ValueError):
                continue
            except OSError as error:
                yield InputFile(str(folder), reason_of(error))
    yield from (InputFile(str(place)) for place in places)


def _children(folder: Path, part: str) -> list[Path]:
    """What a part of a pattern without `**` matches in a folder; raises OSError and ValueError where it is nothing."""
    if not has_wildcards(part):
        os.lstat(f"{folder}/{part}")
        return [folder / part]
    import fnmatch  # noqa: PLC0415 (few paths are patterns)

    inside = [entry for entry in sorted(folder.iterdir()) if not _hidden(entry) or part.startswith(".")]
    return [entry for entry in inside if fnmatch.fnmatchcase(entry.name, part)]


def _manifests_under(
    top: str, seen: set[tuple[int, int]], search: Search, root: str, *, named: bool = True
) -> Iterator[InputFile]:
    """The manifests in a folder that is not yet seen, or a manifest; pipes and devices, which might block, are none.

    Raises SourceError if it was `named` itself and cannot be read.
    """
    for path, mode, error in _walk(top, seen, search):
        if error is None:
            if stat.S_ISREG(mode) and is_manifest(_name(path)):
                yield InputFile(path, root=root)
        elif named and path == top:
            raise _unreadable(path, error)
        # A link to nothing only matters if it looks like a manifest; whatever else is closed may hold some.
        elif is_manifest(_name(path)) or not isinstance(error, FileNotFoundError):
            yield InputFile(path, reason_of(error), root)


def _walk(top: str, seen: set[tuple[int, int]], search: Search) -> Iterator[tuple[str, int, OSError | None]]:
    """A path and what is below it but for what is hidden or left out, with its type, or why it cannot be read.

    Links are followed. A folder that was seen, by its device and number, is left out.
    """
    rest: list[tuple[str, os.DirEntry[str] | None, bool]] = [(top, None, False)]
    while rest:
        path, entry, perhaps_out = rest.pop()
        try:
            mode = _type(path, entry)
            is_folder = stat.S_ISDIR(mode)
            asked = perhaps_out and entry is not None and (is_folder or is_manifest(entry.name))
            if asked and search.leaves_out(path, is_folder=is_folder):
                continue
            about, inside = (os.stat(path), _visible(path)) if is_folder else (None, [])  # noqa: PTH116 (see _type)
        except OSError as error:
            yield path, 0, error
            continue
        if about:
            if (about.st_dev, about.st_ino) in seen:
                continue
            seen.add((about.st_dev, about.st_ino))
            start = "" if path == "." else f"{path.rstrip('/')}/"
            perhaps_out = search.may_leave_out(path)
            rest += [(start + each.name, each, perhaps_out) for each in inside]
        yield path, mode, None


def _type(path: str, entry: os.DirEntry[str] | None) -> int:
    """What a path leads to; of what is no link, the folder that it is in has told that. Raises OSError."""
    if entry and entry.is_file(follow_symlinks=False):
        return stat.S_IFREG
    if entry is None or entry.is_symlink():
        return os.stat(path).st_mode  # noqa: PTH116 (a Path for each of thousands of files takes longer than to read them)
    return stat.S_IFDIR if entry.is_dir() else 0


def _visible(folder: str) -> list[os.DirEntry[str]]:
    """What is in a folder and not hidden, the last by name first; raises OSError."""
    with os.scandir(folder) as entries:
        inside = [entry for entry in entries if not entry.name.startswith(".")]
    return sorted(inside, key=lambda entry: entry.name, reverse=True)


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _hidden(path: Path) -> bool:
    return path.name.startswith(".")


def reason_of(error: OSError | ValueError, done: str = "read") -> str:
    """Why something cannot be read, or `done` otherwise, in the words of the operating system."""
    return f"cannot be {done}: {(error.strerror if isinstance(error, OSError) else None) or error}"


def _unreadable(path: str, error: OSError | ValueError) -> SourceError:
    return SourceError(f"{path}: {reason_of(error)}", "check the path and its permissions")
