"""History of manifests in git: their states after each commit, newest first, and the authors of their lines."""

from __future__ import annotations

import os
import re
from contextlib import closing, suppress
from difflib import Match, SequenceMatcher
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.errors import SourceError, UsageError
from kubectl_policy.lazy import cached_method
from kubectl_policy.model.authorship import NOT_COMMITTED, Authorship, Commit
from kubectl_policy.sources.assembling import snapshot_of
from kubectl_policy.sources.files import git
from kubectl_policy.sources.files.decoding import decode_text
from kubectl_policy.sources.files.disk import archive_and_path
from kubectl_policy.sources.files.exclusion import Exclusions
from kubectl_policy.sources.files.git import revision_and_path
from kubectl_policy.sources.files.input_files import InputFiles, find_files
from kubectl_policy.sources.files.tree import STDIN, TreeEntry
from kubectl_policy.sources.lines import text_of_source
from kubectl_policy.sources.manifests import load_manifests
from kubectl_policy.sources.options import AS_IT_IS
from kubectl_policy.text import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.model import Origin, Snapshot
    from kubectl_policy.sources.files.input_files import InputFile
    from kubectl_policy.sources.options import InputOptions

# After a line with its id, git writes the tree, author, date and subject of a commit, each into a line.
_FORMAT: Final = "--format=%T%n%an%n%ad%n%s"
_LINES: Final = 5
# Letters of its id by which a commit is called in the names of its files: enough in a large repository.
_SHORT: Final = 12
_HEADER: Final = re.compile(r"([0-9a-f]{40,64}) [0-9]+ ([0-9]+)(?: [0-9]+)?")
# The repository's own configuration may name a program that makes of a file what people see of it (textconv).
_BLAME: Final = ("blame", "--porcelain", "--no-textconv")


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
    repository_paths = _paths_in_repository(paths)
    specs = [f":(top,literal){path}" if path else ":(top)" for path in repository_paths]
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
            before = _read_commit(tree, repository_paths, options, before)
            last = number == len(commits)
            yield State(commit=commit, snapshot=before[1], is_first=last and not cut, is_cut=last and cut, total=total)


def _paths_in_repository(paths: Sequence[str]) -> list[str]:
    answer = git.ask("rev-parse", "--show-toplevel")
    if answer.complaint:
        hint = "run the command inside the repository of the manifests"
        raise SourceError(f"no history can be read here: {answer.complaint}", hint)
    top = os.path.realpath(answer.out)
    from_top: list[str] = []
    for path in paths:
        inside = os.path.relpath(os.path.realpath(path), top)
        if inside.partition(os.sep)[0] == os.pardir or not os.path.exists(path):  # noqa: PTH110 (see load_state)
            message = f"{path} is not a file or folder in the git repository {top}"
            raise SourceError(message, "run the command inside the repository, and name what is in it")
        from_top.append("" if inside == os.curdir else inside)
    return from_top


def _read_commit(
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


class Authors:
    """Authors of the lines of files, each of which git is asked about once."""

    def __init__(self) -> None:
        """Ask nothing yet."""
        # Reasons for which authors are not known, in the order in which they were met.
        self.complaints: dict[str, None] = {}

    def of(self, origin: Origin) -> Authorship | None:
        """Return the author of a line of a file, or of `REV:PATH`; None if it is unknown."""
        lines = self._read_source(origin.source)
        return lines[origin.line - 1] if 0 < origin.line <= len(lines) else None

    @cached_method
    def _read_source(self, source: str) -> list[Authorship]:
        if source == STDIN:
            self.complaints["what comes from standard input has no known author"] = None
            return []
        if archive_and_path(source):
            self.complaints["what is in an archive has no known author"] = None
            return []
        try:
            return self._authors_of_file(source)
        except (OSError, ValueError, DocumentError, SourceError) as error:
            self.complaints[f"{source}: the authors of its lines are not known: {error}"] = None
            return []

    def _authors_of_file(self, source: str) -> list[Authorship]:
        parts = None if os.path.exists(source) else revision_and_path(source)  # noqa: PTH110 (see load_state)
        if parts:
            revision, path = parts[0] or "HEAD", parts[1]
            top = git.ask("rev-parse", "--show-toplevel").out
            folder = ("-C", top) if top else ()
        else:
            revision = "HEAD"
            directory, path = os.path.split(os.path.realpath(source))
            folder = ("-C", directory)
        commit = git.ask(*folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").out
        lines = text_of_source(source).split("\n")
        if not commit:
            complaint = git.ask(*folder, "rev-parse", "--git-dir").complaint
            if complaint:
                is_outside = "not a git repository" in complaint
                reason = "it is in no git repository" if is_outside else f"git cannot be asked: {complaint}"
                self.complaints[f"the authors of {source} are not known: {reason}"] = None
                return []
            return [NOT_COMMITTED] * len(lines)
        prefix = "" if parts else git.ask(*folder, "rev-parse", "--show-prefix").out
        blob = git.ask(*folder, "rev-parse", "--verify", "--quiet", f"{commit}:{prefix}{path}").out
        if not blob:
            return [NOT_COMMITTED] * len(lines)
        committed = git.ask(*folder, "cat-file", "blob", blob)
        if git.ask(*folder, "rev-parse", "--is-shallow-repository").out == "true":
            self.complaints["this is a shallow clone: lines that are older count as its first commit's"] = None
        blamed = git.ask(*folder, *_BLAME, commit, "--", path)
        if complaint := committed.complaint or blamed.complaint:
            raise ValueError(complaint)
        authors = dict(_parse_blame(blamed.out))
        old, new = (
            [line.rstrip("\r") for line in version]
            for version in (decode_text(committed.out.encode("utf-8", "surrogateescape")).split("\n"), lines)
        )
        result = [NOT_COMMITTED] * len(lines)
        blocks = [Match(0, 0, len(new))] if old == new else SequenceMatcher(None, old, new).get_matching_blocks()
        for block in blocks:
            for offset in range(block.size):
                result[block.b + offset] = authors.get(block.a + offset + 1, NOT_COMMITTED)
        return result


def _parse_blame(blamed: str) -> Iterator[tuple[int, Authorship]]:
    """Yield line numbers (from 1) with their authors; a commit is described once."""
    commits: dict[str, dict[str, str]] = {}
    commit, number = "", 0
    for line in blamed.split("\n"):
        if line.startswith("\t"):
            fields = commits[commit]
            when = git.time_of(f"{fields.get('author-time')} {fields.get('author-tz')}")
            yield number, Authorship(who=fields.get("author", ""), when=when, commit=commit)
        elif header := _HEADER.fullmatch(line):
            commit, number = header[1], int(header[2])
            commits.setdefault(commit, {})
        else:
            key, _, value = line.partition(" ")
            commits[commit][key] = value
