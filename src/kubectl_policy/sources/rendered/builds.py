"""The programs of roots, run some at a time, of equal roots once: what each printed, or why it did not."""

from __future__ import annotations

import signal
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.values import value
from kubectl_policy.sources.rendered import helm, kustomize
from kubectl_policy.sources.rendered.copying import Copy, CopyError
from kubectl_policy.sources.rendered.helm import Release
from kubectl_policy.sources.rendered.kustomize import Build
from kubectl_policy.sources.rendered.programs import run_all

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Iterator

    from kubectl_policy.sources.files.tree import FileTree
    from kubectl_policy.sources.rendered.kustomize import Kustomizations, Sources
    from kubectl_policy.sources.rendered.programs import Job

_BUILDER: Final = "kubectl (or kustomize)"
_HELM: Final = "helm"


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
        self._tree, self._kustomizations, self._home = tree, kustomizations, folder / "home"
        self._home.mkdir()
        self._copy = Copy(tree, folder)
        self._builder, self._helm = kustomize.builder(), helm.helm()
        self._done: dict[Hashable, Done] = {}

    def of(self, buildable: Build | Release) -> Done:
        """Return the result of a build or release."""
        return self._done[buildable.key]

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
        new = {buildable.key: (name, buildable) for name, buildable in wanted if buildable.key not in self._done}
        begun: list[tuple[str, Build | Release, Sources | None]] = []

        def jobs() -> Iterator[Job]:
            for name, buildable in new.values():
                try:
                    job, sources = self._prepared(buildable)
                except CopyError as error:
                    self._done[buildable.key] = Done(complaint=error.message)
                else:
                    begun.append((name, buildable, sources))
                    yield job

        for number, ran in run_all(jobs(), self._home, started=lambda number: started(begun[number][0])):
            _, buildable, sources = begun[number]
            self._done[buildable.key] = Done(text=ran.out, complaint=self._copy.renamed(ran.complaint), sources=sources)

    def _prepared(self, buildable: Build | Release) -> tuple[Job, Sources | None]:
        """Copy what something is made from, and the program that makes it. Raises CopyError."""
        if not (self._builder if isinstance(buildable, Build) else self._helm):
            raise CopyError(f"{_BUILDER if isinstance(buildable, Build) else _HELM} is not installed")
        if isinstance(buildable, Build):
            sources = self._kustomizations.copy(buildable, self._copy)
            return kustomize.job(self._builder, buildable, sources, self._copy), sources
        if lacking := list(helm.missing_dependencies(self._tree, buildable.folder)):
            raise CopyError(f"it needs charts that are not here: {', '.join(lacking)}")
        return helm.job(self._helm, buildable, self._copy, self._home), None


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
