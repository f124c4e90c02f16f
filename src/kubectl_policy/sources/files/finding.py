"""Find the manifests that a call names: files, folders, patterns, standard input, and paths in a stored tree."""

from __future__ import annotations

import errno
import fnmatch
import os
import posixpath
from contextlib import contextmanager
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from kubectl_policy.errors import NothingThereError, SourceError
from kubectl_policy.model.values import replace, value
from kubectl_policy.sources.files.archives import archive_and_path, open_archive
from kubectl_policy.sources.files.disk import Disk
from kubectl_policy.sources.files.exclusion import Exclusions, below
from kubectl_policy.sources.files.tree import OWN_IGNORE_FILE, STDIN, reason_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
    from pathlib import Path

    from kubectl_policy.model.snapshot import LeftOut
    from kubectl_policy.sources.files.exclusion import Search
    from kubectl_policy.sources.files.tree import FileTree, Kind, StoredTree

_SUFFIXES: Final = (".json", ".yaml", ".yml")
# Kustomize takes this name as well.
_NAMES: Final = ("Kustomization",)
# Files that say something of the files around them, be they objects or not.
ABOUT_OTHERS: Final = frozenset({"kustomization.yaml", "kustomization.yml", "Kustomization", "Chart.yaml"})
# Characters that match more than themselves in a pattern, as for `fnmatch`.
_WILDCARDS: Final = frozenset("*?[")


@value()
class InputFile:
    """File to read, or folder or file that cannot be read."""

    path: str
    """Its name in messages."""
    problem: str = ""
    """The reason for which it cannot be read."""
    root: str = ""
    """The folder that was searched for it, empty for a file that was named itself."""
    argument: int = 0
    """The position, among those of the call, of the path by which it is meant."""

    @property
    def place(self) -> str:
        """Where the file is below its root (`apps/echo/route.yaml`); its own path if it was named itself."""
        return below(self.path, self.root)


@value(kw_only=True)
class InputFiles:
    """Files that were found in a tree, with what was left out of it."""

    tree: FileTree
    files: Sequence[InputFile]
    left_out: Collection[LeftOut] = ()
    stdin: Callable[[], str] | None = None
    """Reads standard input."""

    def text_of(self, source: str) -> str:
        """Read a file by its name in messages. Raises OSError, ValueError and DocumentError."""
        if source == STDIN and self.stdin:
            return self.stdin()
        return self.tree.text(source.removeprefix(self.tree.prefix))


def is_manifest(name: str) -> bool:
    """Whether a file in a folder is read, by its name."""
    return name.endswith(_SUFFIXES) or name in _NAMES


def has_wildcards(path: str) -> bool:
    """Whether a path is a pattern for others."""
    return not _WILDCARDS.isdisjoint(path)


def find_files(
    paths: Iterable[str | Path], exclusions: Exclusions | None = None, tree: FileTree | None = None
) -> list[InputFile]:
    """Find manifests, each once: named files, all .yaml, .yml and .json files in folders and, on disk, globs and `-`.

    Folders are searched in alphabetical order, each once, without hidden files and what is excluded; links are
    followed. Raises SourceError for a path that names nothing or cannot be read.
    """
    exclusions = exclusions or Exclusions()
    tree = tree or Disk()
    files: dict[str, InputFile] = {}
    for argument, path in enumerate(map(str, paths)):
        before = len(exclusions.left_out)
        inside = tree.named(path)
        named = [InputFile(STDIN)] if path == "-" else list(_named(tree, inside, exclusions))
        if not named:
            raise _nothing_in(tree.title(inside), left_out=len(exclusions.left_out) > before)
        for file in named:
            files.setdefault(posixpath.normpath(file.path), replace(file, argument=argument) if argument else file)
    return list(files.values())


@contextmanager
def open_stored(operand: str) -> Generator[tuple[StoredTree, str] | None]:
    """Open the archive or revision that `ARCHIVE:PATH` or `REV:PATH` names, and split the path off.

    None of anything else. Raises SourceError where it cannot be opened.
    """
    archive = archive_and_path(operand)
    if archive:
        yield open_archive(archive[0]), archive[1]
        return
    # Most input is files, and what only git needs takes time to import.
    from kubectl_policy.sources.files.git import open_revision, revision_and_path  # noqa: PLC0415 (see above)

    revision = revision_and_path(operand)
    if revision is None:
        yield None
        return
    with open_revision(revision[0]) as tree:
        yield tree, revision[1]


def read_stored(source: str) -> str:
    """Read the file that `REV:PATH` or `ARCHIVE:PATH` names as text. Raises SourceError, OSError and DocumentError."""
    with open_stored(source) as stored:
        if stored is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        tree, path = stored
        return tree.text(path)


def _nothing_in(folder: str, *, left_out: bool) -> NothingThereError:
    """Return the error for a folder without manifests, or with none but those that are left out of it."""
    if left_out:
        message = f"{folder}: what is in it is left out, by --exclude, .gitignore or {OWN_IGNORE_FILE}"
        return NothingThereError(message, "name a file itself to read it all the same")
    return NothingThereError(f"{folder}: there is no manifest in it", "manifests end in .yaml, .yml or .json")


def _named(tree: FileTree, path: str, exclusions: Exclusions) -> Iterator[InputFile]:
    """Find the manifests that one path names."""
    source, on_disk = tree.source(path), isinstance(tree, Disk)
    try:
        _, kind = tree.resolve(path.rstrip("/") or path[:1])
    except FileNotFoundError:
        if not (on_disk and has_wildcards(path)):
            raise tree.not_found(path) from None
        yield from _matching(tree, path, exclusions)
        return
    except (OSError, ValueError) as error:
        raise SourceError(f"{source}: {reason_of(error)}", "check the path and its permissions") from None
    if on_disk and not os.access(path, os.R_OK):
        raise SourceError(f"{path}: cannot be read: {os.strerror(errno.EACCES)}", "check the path and its permissions")
    # A file that is named is read whatever its name is, and be it a pipe.
    if kind != "folder":
        yield InputFile(source)
        return
    path = _joined("/" if path.startswith("/") else tree.top, *path.split("/"))
    root = tree.source(path)
    for file in _manifests_in(tree, path, exclusions.search(tree, path), set(), root):
        if file.path == root:
            raise SourceError(f"{root}: {file.problem}", "check the path and its permissions")
        yield file


def _matching(disk: FileTree, pattern: str, exclusions: Exclusions) -> Iterator[InputFile]:
    """Find the manifests that a pattern matches, and those in folders that it matches."""
    top = "/" if pattern.startswith("/") else "."
    # With a slash at the end, only folders are meant.
    parts = [part for part in pattern.split("/") if part]
    if pattern.endswith("/"):
        parts.append(".")
    root = _joined(top, *takewhile(lambda part: not has_wildcards(part), parts))
    search = exclusions.search(disk, root)
    matches = sorted(_matches(disk, top, parts, search), key=lambda match: match.path)
    if not matches:
        raise SourceError(f"{pattern}: no file matches this pattern", "`**` matches folders of any depth")
    seen: set[str] = set()
    for match in matches:
        if match.problem:
            yield replace(match, root=root)
        elif not search.leaves_out_on_the_way(match.path, is_folder=disk.kind(match.path) == "folder"):
            yield from _manifests_in(disk, match.path, search, seen, root)


def _matches(disk: FileTree, top: str, parts: Iterable[str], search: Search) -> Iterator[InputFile]:
    """Find the paths to which the parts of a pattern lead from a folder, and folders on the way that cannot be read.

    For each part, no folder is looked into twice, whatever links and `..` lead to it.
    """
    paths = [top]
    for part in parts:
        folders, paths = paths, list[str]()
        seen: set[str] = set()
        for folder in folders:
            if part == "**":
                for path, kind, error in _walk(disk, folder, seen, search):
                    if kind == "folder":
                        paths.append(path)
                    elif error and not isinstance(error, FileNotFoundError):
                        yield InputFile(path, reason_of(error))
                continue
            try:
                real, _ = disk.resolve(folder)
                if real not in seen:
                    seen.add(real)
                    paths += _children(disk, folder, part)
            except (FileNotFoundError, NotADirectoryError, ValueError):
                continue
            except OSError as error:
                yield InputFile(folder, reason_of(error))
    yield from map(InputFile, paths)


def _children(disk: FileTree, folder: str, part: str) -> list[str]:
    """Return the paths that a part of a pattern without `**` matches in a folder. Raises OSError and ValueError."""
    if not has_wildcards(part):
        os.lstat(posixpath.join(folder, part))
        return [_joined(folder, part)]
    names = sorted(name for name, _ in disk.entries(folder) if part.startswith(".") or not name.startswith("."))
    return [_joined(folder, name) for name in names if fnmatch.fnmatchcase(name, part)]


def _manifests_in(tree: FileTree, top: str, search: Search, seen: set[str], root: str) -> Iterator[InputFile]:
    """Find the manifests in a folder that is not yet seen, or a manifest; pipes and devices might block and are none.

    Raises SourceError for a tree that is too large.
    """
    for path, kind, error in _walk(tree, top, seen, search):
        source = tree.source(path)
        if error is None:
            if kind == "file" and is_manifest(posixpath.basename(path)):
                yield InputFile(source, root=root)
        # A link to nothing only matters if it looks like a manifest; any other closed folder or link may hold some.
        elif is_manifest(posixpath.basename(path)) or not isinstance(error, FileNotFoundError):
            yield InputFile(source, reason_of(error), root)


def _walk(tree: FileTree, top: str, seen: set[str], search: Search) -> Iterator[tuple[str, Kind, OSError | None]]:
    """Walk a path and all below it that is not hidden or left out, each with its kind, or why it cannot be read.

    Links are followed. A folder that was seen, by its path without links, is left out.
    """
    rest: list[tuple[str, str, Kind, bool]] = [(top, "", "link", False)]
    passed = 1
    while rest:
        path, real, kind, perhaps_out = rest.pop()
        inside: list[tuple[str, Kind]] = []
        try:
            if kind == "link":
                real, kind = tree.resolve(path)
            is_folder = kind == "folder"
            may_count = is_folder or is_manifest(posixpath.basename(path))
            if perhaps_out and may_count and search.leaves_out(tree.source(path), is_folder=is_folder):
                continue
            if is_folder:
                inside = sorted((entry for entry in tree.entries(path) if not entry[0].startswith(".")), reverse=True)
        except OSError as error:
            yield path, "", error
            continue
        if is_folder:
            if real in seen:
                continue
            seen.add(real)
            passed += len(inside)
            if passed > tree.max_entries:
                raise SourceError(
                    f"{tree.title(top)}: more than {tree.max_entries:,} files and folders", "name a folder in it"
                )
            start = "" if path in {"", "."} else f"{path.rstrip('/')}/"
            start_real = f"{real.rstrip('/')}/"
            perhaps_out = search.may_leave_out(tree.source(path))
            rest.extend((start + name, start_real + name, inner, perhaps_out) for name, inner in inside)
        yield path, kind, None


def _joined(folder: str, *names: str) -> str:
    parts = [name for name in names if name not in {"", "."}]
    return posixpath.join(*(() if parts and folder in {"", "."} else (folder,)), *parts)
