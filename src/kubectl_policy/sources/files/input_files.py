"""Find the manifests that a call names: files, folders, patterns, standard input, and paths in a stored tree."""

from __future__ import annotations

import errno
import fnmatch
import os
import posixpath
from contextlib import contextmanager
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.errors import NothingThereError, SourceError
from kubectl_policy.sources.files.decoding import MAX_FILE_SIZE
from kubectl_policy.sources.files.disk import Disk, archive_and_path, open_archive
from kubectl_policy.sources.files.exclusion import Exclusions, Search
from kubectl_policy.sources.files.tree import OWN_IGNORE_FILE, STDIN, reason_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
    from pathlib import Path

    from kubectl_policy.model.snapshot import LeftOut
    from kubectl_policy.sources.files.tree import FileTree, Kind, StoredTree

_SUFFIXES: Final = (".json", ".yaml", ".yml")
# Kustomize takes this name as well.
_NAMES: Final = ("Kustomization",)
# Files that say something of the files around them, be they objects or not.
ABOUT_OTHERS: Final = frozenset({"kustomization.yaml", "kustomization.yml", "Kustomization", "Chart.yaml"})
_OUTWARD: Final = "a link to a folder around the one that is searched: name that folder itself, or remove the link"
# Characters that match more than themselves in a pattern, as for `fnmatch`.
_WILDCARDS: Final = frozenset("*?[")


class InputFile(Struct, frozen=True):
    """File to read, or folder or file that cannot be read."""

    path: str
    """Its name in messages."""
    problem: str = ""
    """The reason for which it cannot be read."""
    root: str = ""
    """The folder that was searched for it, empty for a file that was named itself."""
    argument: int = 0
    """The position, among those of the call, of the path by which it is meant."""


class InputFiles(Struct, frozen=True, kw_only=True):
    """Files that were found in a tree, with what was left out of it."""

    tree: FileTree
    files: Sequence[InputFile]
    left_out: Collection[LeftOut] = ()
    stdin: Callable[[], str] | None = None
    """Reads standard input."""
    repositories: FileTree | None = None
    """The tree with the repositories around the files, if that is another one."""

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


def find_files(paths: Iterable[str | Path], exclusions: Exclusions, tree: FileTree) -> list[InputFile]:
    """Find manifests, each once: named files, all .yaml, .yml and .json files in folders and, on disk, globs and `-`.

    Folders are searched in alphabetical order, each once, without hidden files and what is excluded; links are
    followed. Raises SourceError for a path that names nothing or cannot be read.
    """
    files: dict[str, InputFile] = {}
    for argument, path in enumerate(map(str, paths)):
        before = len(exclusions.left_out)
        inside = tree.named(path)
        named = [InputFile(STDIN)] if path == "-" else list(_named(tree, inside, exclusions))
        if not named:
            raise _nothing_in(tree, inside, left_out=len(exclusions.left_out) > before)
        for file in named:
            key = posixpath.normpath(file.path)
            # A file counts as named even if a folder that was named before holds it.
            if key not in files or (files[key].root and not file.root):
                files[key] = replace(file, argument=argument) if argument else file
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


def _nothing_in(tree: FileTree, path: str, *, left_out: bool) -> SourceError:
    """Return the error for a path without manifests, or with none but those that are left out."""
    if left_out:
        message = f"{tree.title(path)}: its content is left out, by --exclude, .gitignore or {OWN_IGNORE_FILE}"
        return NothingThereError(message, "name a file itself to read it anyway")
    if has_wildcards(path) and not tree.kind(path):
        return SourceError(f"{path}: no file matches this pattern", "`**` matches folders of any depth")
    return NothingThereError(f"{tree.title(path)}: it contains no manifests", "manifests end in .yaml, .yml or .json")


def _named(tree: FileTree, path: str, exclusions: Exclusions) -> Iterator[InputFile]:
    source, on_disk = tree.source(path), isinstance(tree, Disk)
    top, parts = "/" if path.startswith("/") else tree.top, [part for part in path.split("/") if part not in {"", "."}]
    try:
        _, kind = tree.resolve(path.rstrip("/") or path[:1])
        if on_disk and not kind:
            # A pipe keeps its content; a device is refused.
            tree.read(path, MAX_FILE_SIZE)
    except FileNotFoundError:
        if not (on_disk and has_wildcards(path)):
            raise tree.not_found(path) from None
        fixed = [*takewhile(lambda part: not has_wildcards(part), parts)]
        # With a slash at the end, only folders are meant.
        pattern = [*parts[len(fixed) :], *(["*"] if path.endswith("/") else [])]
        yield from _Walk(tree, _joined(top, *fixed), exclusions, pattern).manifests()
        return
    except (OSError, ValueError) as error:
        raise SourceError(f"{source}: {reason_of(error)}", "check the path and its permissions") from None
    if on_disk and not os.access(path, os.R_OK):
        raise SourceError(f"{path}: cannot be read: {os.strerror(errno.EACCES)}", "check the path and its permissions")
    # A file that is named is read whatever its name is, and so is a pipe.
    if kind != "folder":
        yield InputFile(source)
        return
    walk = _Walk(tree, _joined(top, *parts), exclusions)
    for file in walk.manifests():
        if file.path == walk.root:
            raise SourceError(f"{walk.root}: {file.problem}", "check the path and its permissions")
        yield file


class _WalkStep(NamedTuple):
    """File, folder or link to look at."""

    path: str
    real: str
    """The path without links, unless it is a link itself."""
    kind: Kind
    positions: frozenset[int]
    """The positions in the pattern of the parts that may follow."""
    may_be_left_out: bool = False


class _Walk:
    """A walk through a folder, or through what a pattern matches in it; links are followed.

    The parts of a pattern are names with wildcards, or `**` for folders of any depth. What a pattern matches counts
    with all that is in it. Hidden files and folders count where a part of the pattern begins with a dot.
    """

    def __init__(self, tree: FileTree, top: str, exclusions: Exclusions, pattern: Iterable[str] = ()) -> None:
        self._tree, self._top, self.root = tree, top, tree.source(top)
        self._search = Search(exclusions, tree, top)
        self._parts, self._passed, self._real_top = [*pattern, "**"], 1, ""

    def manifests(self) -> Iterator[InputFile]:
        """Find the manifests, and what cannot be read; pipes and devices might block and are none.

        Raises SourceError for a tree that is too large.
        """
        steps: list[_WalkStep] = [_WalkStep(self._top, "", "link", self._open({0}))]
        # Folders by their paths without links, and by the parts of the pattern that may follow.
        seen: set[tuple[str, frozenset[int]]] = set()
        while steps:
            step = steps.pop()
            source, has_name_of_manifest = self._tree.source(step.path), is_manifest(step.path.rpartition("/")[2])
            inside: list[_WalkStep] = []
            try:
                real, kind = self._tree.resolve(step.path) if step.kind == "link" else (step.real, step.kind)
                is_folder = kind == "folder"
                may_count = is_folder or has_name_of_manifest
                if step.may_be_left_out and may_count and self._search.leaves_out(source, is_folder=is_folder):
                    continue
                if is_folder and step.kind == "link":
                    self._require_no_outer(real)
                if is_folder and (real, step.positions) not in seen:
                    inside = self._inside(step, real)
                    seen.add((real, step.positions))
            except OSError as error:
                # A link to nothing only matters if it looks like a manifest; any other closed folder may hold some.
                if has_name_of_manifest or not isinstance(error, FileNotFoundError):
                    yield InputFile(source, reason_of(error), self.root)
                continue
            if kind == "file" and has_name_of_manifest and len(self._parts) - 1 in step.positions:
                yield InputFile(source, root=self.root)
            steps += inside

    def _require_no_outer(self, real: str) -> None:
        """Raise OSError for a folder around the one that is searched: nobody asked for it, and it may be the disk."""
        self._real_top = self._real_top or real
        if self._real_top != real and self._real_top.startswith(f"{real.rstrip('/')}/"):
            raise OSError(errno.ELOOP, _OUTWARD)

    def _inside(self, folder: _WalkStep, real: str) -> list[_WalkStep]:
        """Return what to look at in a folder, the last one first. Raises OSError and SourceError."""
        start = "" if folder.path in {"", "."} else f"{folder.path.rstrip('/')}/"
        start_real = f"{real.rstrip('/')}/"
        may_be_left_out = self._search.may_leave_out(self._tree.source(folder.path))
        inside = [
            _WalkStep(start + name, start_real + name, kind, positions, may_be_left_out)
            for name, kind in sorted(self._tree.entries(folder.path), reverse=True)
            if kind != "file" or is_manifest(name)
            if (positions := self._after(folder.positions, name))
        ]
        self._passed += len(inside)
        if self._passed > self._tree.max_entries:
            message = f"{self._tree.title(self._top)}: more than {self._tree.max_entries:,} files and folders"
            raise SourceError(message, "name a folder in it")
        return inside

    def _after(self, positions: frozenset[int], name: str) -> frozenset[int]:
        """Return the positions in the pattern behind a name that may follow; none if it does not match."""
        is_hidden, after = name.startswith("."), set[int]()
        if len(self._parts) == 1:
            # There is no pattern, and many files.
            return frozenset() if is_hidden else positions
        for position in positions:
            part = self._parts[position]
            if part == "**":
                after.update(() if is_hidden else (position,))
            elif fnmatch.fnmatchcase(name, part) and (part.startswith(".") or not is_hidden):
                after.add(position + 1)
        return self._open(after)

    def _open(self, positions: set[int]) -> frozenset[int]:
        """Return positions with those behind a `**`, which may stand for no folder at all."""
        for position, part in enumerate(self._parts[:-1]):
            if part == "**" and position in positions:
                positions.add(position + 1)
        return frozenset(positions)


def _joined(folder: str, *names: str) -> str:
    return posixpath.join(*(() if names and folder in {"", "."} else (folder,)), *names)
