"""States of manifests in git: on disk, and after each commit that changed them, newest first."""

from __future__ import annotations

import os
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.errors import SourceError, UsageError
from kubectl_policy.model.authorship import Commit
from kubectl_policy.sources.assembling import snapshot_of
from kubectl_policy.sources.files import git
from kubectl_policy.sources.files.archives import archive_and_path
from kubectl_policy.sources.files.exclusion import Exclusions
from kubectl_policy.sources.files.finding import InputFiles, find_files
from kubectl_policy.sources.files.tree import TreeEntry
from kubectl_policy.sources.manifests import load_manifests
from kubectl_policy.sources.options import AS_IT_IS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.model import Snapshot
    from kubectl_policy.sources.files.finding import InputFile
    from kubectl_policy.sources.options import InputOptions

# After a line with its id, git writes the tree, author, date and subject of a commit, each into a line.
_FORMAT: Final = "--format=%T%n%an%n%ad%n%s"
_LINES: Final = 5
# Letters of its id by which a commit is called in the names of its files: enough in a large repository.
_SHORT: Final = 12


class State(Struct, frozen=True, kw_only=True):
    """Manifests after a commit, or on disk."""

    commit: Commit | None
    """The commit; None of the files on disk."""
    snapshot: Snapshot | None
    """The objects; None where there was no manifest."""
    is_first: bool = False
    """Whether there was no manifest before."""
    is_cut: bool = False
    """Whether the state before is not in this clone of the repository."""
    total: int = 1
    """The number of states."""


def states(paths: Sequence[str], *, options: InputOptions = AS_IT_IS) -> Iterator[State]:
    """Read files and folders on disk, and as they were after each commit on this branch that changed them.

    Commits of another branch count when they were merged. Raises SourceError where the paths are not in the git
    repository in which one asks, and UsageError for what has no history.
    """
    if options.render:
        raise UsageError("history reads manifests as they are written", "leave out --render")
    if "-" in paths:
        raise UsageError("standard input has no history", "name files or folders in a git repository")
    if any(map(archive_and_path, paths)):
        raise UsageError("an archive has no history", "name files or folders in a git repository")
    on_disk = load_manifests(paths, options=options)
    in_repository = _in_repository(paths)
    specs = [f":(top,literal){path}" if path else ":(top)" for path in in_repository]
    log = git.ask("rev-list", "--first-parent", "--encoding=UTF-8", "--date=raw", _FORMAT, "HEAD", "--", *specs).out
    lines = log.encode("utf-8", "surrogateescape").decode("utf-8", "replace").split("\n")
    commits = [lines[start : start + _LINES] for start in range(0, len(lines) - 1, _LINES)]
    total = len(commits) + 1
    yield State(commit=None, snapshot=on_disk, is_first=not commits, total=total)
    cut = git.ask("rev-parse", "--is-shallow-repository").out == "true"
    before: tuple[object, Snapshot | None] = (None, None)
    with closing(git.Objects()) as objects:
        for number, (header, top, author, date, subject) in enumerate(commits, 1):
            commit = Commit(id=header.removeprefix("commit "), author=author, when=git.time_of(date), subject=subject)
            tree = git.GitTree(commit.id[:_SHORT], objects, TreeEntry("folder", top))
            before = _read(tree, in_repository, options, before)
            last = number == len(commits)
            yield State(commit=commit, snapshot=before[1], is_first=last and not cut, is_cut=last and cut, total=total)


def _in_repository(paths: Sequence[str]) -> list[str]:
    """Return paths from the root of the repository."""
    answer = git.ask("rev-parse", "--show-toplevel")
    if answer.complaint:
        hint = "ask from inside of the repository that the manifests are in"
        raise SourceError(f"there is no history to be read here: {answer.complaint}", hint)
    top = os.path.realpath(answer.out)
    from_top: list[str] = []
    for path in paths:
        inside = os.path.relpath(os.path.realpath(path), top)
        if inside.partition(os.sep)[0] == os.pardir or not os.path.exists(path):  # noqa: PTH110 (see load_state)
            message = f"{path} is not a file or folder in the git repository {top}"
            raise SourceError(message, "ask from inside of the repository, and name what is in it")
        from_top.append("" if inside == os.curdir else inside)
    return from_top


def _read(
    tree: git.GitTree, paths: Sequence[str], options: InputOptions, before: tuple[object, Snapshot | None]
) -> tuple[object, Snapshot | None]:
    """Read the manifests in a commit, with a key of their contents; the same value as before if that is equal."""
    exclusions = Exclusions(options.exclude)
    files: list[InputFile] = []
    for path in paths:
        # There may have been no such file yet, or no manifest in the folder.
        with suppress(SourceError):
            files += find_files([path], exclusions, tree)
    key: list[tuple[str, object]] = []
    for file in files:
        path = file.path.removeprefix(tree.prefix)
        with suppress(OSError):
            key.append((path, tree.entry(path)[1].content))
    if key == before[0]:
        return before
    manifests = InputFiles(tree=tree, files=files, left_out=exclusions.left_out)
    try:
        return key, snapshot_of(manifests, options) if files else None
    except SourceError:
        return key, None
