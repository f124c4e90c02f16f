"""Run the programs of builds and releases, each in a copy of the files that it needs, and keep what they print."""

from __future__ import annotations

import posixpath
import re
import shutil
import signal
import tempfile
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from kubectl_policy.errors import PolicyError
from kubectl_policy.model.values import value
from kubectl_policy.sources.rendered import helm, kustomize
from kubectl_policy.sources.rendered.helm import Release
from kubectl_policy.sources.rendered.kustomize import Build
from kubectl_policy.sources.rendered.programs import program, run_all

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Iterator

    from kubectl_policy.sources.files.tree import FileTree
    from kubectl_policy.sources.rendered.kustomize import Kustomizations, Sources
    from kubectl_policy.sources.rendered.programs import Job

# What is copied for one build or release.
MAX_FILES: Final = 200_000
MAX_BYTES: Final = 2**30
_MAX_DEPTH: Final = 64
# What is in there is no part of what is deployed.
_NEVER: Final = frozenset({".git", ".hg", ".svn"})
_BUILDER: Final = "kubectl (or kustomize)"
_HELM: Final = "helm"


class CopyError(PolicyError):
    """Something is too large, or too odd, to be copied."""


class Copy:
    """A folder with copies of some files of a tree, at the paths that they have there."""

    def __init__(self, tree: FileTree, folder: Path) -> None:
        """Start without any copies."""
        self._tree, self.folder = tree, folder
        self._bytes = 0
        self._taken: set[str] = set()

    def path(self, path: str) -> Path:
        """Return the path of the copy of a file, be it there or not."""
        return self.folder / path

    def take(self, path: str) -> None:
        """Copy a file, unless it is there; what cannot be read is not copied. Raises CopyError for too much."""
        if path in self._taken:
            return
        try:
            data = self._tree.read(path, MAX_BYTES - self._bytes)
        except (OSError, ValueError):
            return
        self._bytes += len(data)
        if len(self._taken) >= MAX_FILES or self._bytes > MAX_BYTES:
            raise CopyError(f"more than {MAX_FILES:,} files or {MAX_BYTES >> 20} MiB are needed to render it")
        self.write(path, data)

    def take_all(self, folder: str) -> None:
        """Copy everything in a folder and below it."""
        rest = [(folder, 0)]
        while rest:
            outer, depth = rest.pop()
            for name in self._tree.names(outer) if depth < _MAX_DEPTH else ():
                path = posixpath.join(outer, name)
                kind = self._tree.kind(path) if name not in _NEVER else ""
                if kind == "file":
                    self.take(path)
                elif kind:
                    rest.append((path, depth + 1))
            if len(rest) > MAX_FILES:
                raise CopyError(f"more than {MAX_FILES:,} folders are needed to render it")

    def write(self, tree_path: str, data: bytes | str) -> None:
        """Write a file, unless it is there; then none is copied there later."""
        if tree_path in self._taken:
            return
        self._taken.add(tree_path)
        path = self.path(tree_path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data)
        except (OSError, ValueError) as error:
            raise CopyError(f"it cannot be copied: {error}") from None

    def renamed(self, message: str) -> str:
        """Replace the paths of copies in a message of a program by the names of the files."""
        path = re.escape(str(self.folder)) + r"([^\s'\":]*)"
        return re.sub(path, lambda match: self._tree.source(match[1].strip("/")) or ".", message)


@value(kw_only=True)
class Done:
    """Result of a build or a release: text, or a complaint; and of a build, its sources."""

    text: str = ""
    complaint: str = ""
    sources: Sources | None = None


class Builds:
    """Results of builds so far, in a folder that takes the copies of their sources."""

    def __init__(self, tree: FileTree, kustomizations: Kustomizations, folder: Path) -> None:
        """Start without having built anything."""
        self._tree, self._kustomizations, self._folder = tree, kustomizations, folder
        self._builder, self._helm = kustomize.builder(), program(_HELM)
        self._done: dict[tuple[type, bytes], Done] = {}
        self._numbers = count()

    def of(self, buildable: Build | Release) -> Done:
        """Return the result of a build or release."""
        return self._done[_key(buildable)]

    def lacking(self, whats: Collection[object]) -> tuple[str, ...]:
        """Return the programs that are needed, if none of them is installed."""
        needed = {
            name: has
            for name, kind, has in ((_BUILDER, Build, self._builder), (_HELM, Release, self._helm))
            if any(isinstance(buildable, kind) for buildable in whats)
        }
        return () if any(needed.values()) else tuple(needed)

    def run(self, wanted: Iterable[tuple[str, Build | Release]], started: Callable[[str], None]) -> None:
        """Build what is not built yet; each has a name, with which `started` is told of it."""
        new = {key: (name, buildable) for name, buildable in wanted if (key := _key(buildable)) not in self._done}
        begun: list[tuple[Build | Release, Copy, Sources | None]] = []

        def jobs() -> Iterator[Job]:
            for key, (name, buildable) in new.items():
                copy = Copy(self._tree, self._folder / str(next(self._numbers)))
                try:
                    job, sources = self._prepared(buildable, copy)
                except CopyError as error:
                    self._done[key] = Done(complaint=error.message)
                    continue
                begun.append((buildable, copy, sources))
                started(name)
                yield job

        for number, ran in run_all(jobs(), self._folder):
            buildable, copy, sources = begun[number]
            self._done[_key(buildable)] = Done(text=ran.out, complaint=copy.renamed(ran.complaint), sources=sources)
            shutil.rmtree(copy.folder, ignore_errors=True)

    def _prepared(self, buildable: Build | Release, copy: Copy) -> tuple[Job, Sources | None]:
        """Copy what something is made from, and the program that makes it. Raises CopyError."""
        if not (self._builder if isinstance(buildable, Build) else self._helm):
            raise CopyError(f"{_BUILDER if isinstance(buildable, Build) else _HELM} is not installed")
        if isinstance(buildable, Build):
            sources = self._kustomizations.copy(buildable, copy)
            return kustomize.job(self._builder, buildable, sources, copy), sources
        if lacking := list(helm.missing_dependencies(self._tree, buildable.folder)):
            raise CopyError(f"it needs charts that are not here: {', '.join(lacking)}")
        return helm.job(self._helm, buildable, copy, self._folder), None


def _key(buildable: Build | Release) -> tuple[type, bytes]:
    """Return the value by which two builds or releases are equal."""
    return type(buildable), msgspec.json.encode(buildable, order="deterministic")


@contextmanager
def temporary_folder() -> Generator[Path]:
    """Make a folder that is gone afterwards, also if somebody interrupts."""
    try:
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
    except ValueError:
        # Only the main thread is interrupted.
        before = None
    try:
        with tempfile.TemporaryDirectory(prefix="kubectl-policy-", ignore_cleanup_errors=True) as folder:
            yield Path(folder).resolve()
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)
