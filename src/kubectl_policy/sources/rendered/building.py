"""Run the programs of builds and releases, some at a time and of equal ones once, and keep what they print."""

from __future__ import annotations

import shutil
import signal
import tempfile
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from kubectl_policy.sources.rendered import helm, kustomize
from kubectl_policy.sources.rendered.copying import Copy, CopyError
from kubectl_policy.sources.rendered.helm import Release
from kubectl_policy.sources.rendered.kustomize import Build
from kubectl_policy.sources.rendered.programs import program, run_all

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Iterator

    from kubectl_policy.sources.files.tree import FileTree
    from kubectl_policy.sources.rendered.kustomize import Kustomizations, Sources
    from kubectl_policy.sources.rendered.programs import Job

_BUILDER: Final = "kubectl (or kustomize)"
_HELM: Final = "helm"


class Done(Struct, frozen=True, kw_only=True):
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
