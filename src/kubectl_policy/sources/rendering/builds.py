"""Run the programs of builds and releases, of equal ones once, and read the objects that they print."""

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
from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.model import Origin, Problem
from kubectl_policy.model.fields import mapping_at, text_at
from kubectl_policy.sources.lines import WrittenObjects
from kubectl_policy.sources.rendering import helm, kustomize
from kubectl_policy.sources.rendering.helm import Release
from kubectl_policy.sources.rendering.kustomize import Build, documents
from kubectl_policy.sources.rendering.programs import Copy, CopyError, find_program, run_all
from kubectl_policy.text import DocumentError, Unread
from kubectl_policy.text.documents import DocumentReader, objects_in

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.sources.files.tree import FileTree
    from kubectl_policy.sources.rendering.kustomize import Kustomizations, Sources
    from kubectl_policy.sources.rendering.programs import Job

_BUILDER: Final = "kubectl (or kustomize)"
_HELM: Final = "helm"
_ORIGIN: Final = "config.kubernetes.io/origin"
# A remote one has a repository, which was left out before.
_PATH: Final = re.compile(r"^(?:path|configuredIn): (.+)$", re.MULTILINE)
_HELM_SOURCE: Final = re.compile(r"^# Source: (.+)$", re.MULTILINE)
_START: Final = re.compile(r"^---[ \t]*$", re.MULTILINE)


class BuildResult(Struct, frozen=True, kw_only=True):
    """Result of a build or a release: text, or a complaint; and of a build, its sources."""

    text: str = ""
    complaint: str = ""
    sources: Sources | None = None


class Builds:
    """Results of builds so far, in a folder that takes the copies of their sources."""

    def __init__(self, tree: FileTree, kustomizations: Kustomizations, folder: Path) -> None:
        """Start without having built anything."""
        self._tree, self._kustomizations, self._folder = tree, kustomizations, folder
        self._builder, self._helm = kustomize.builder(), find_program(_HELM)
        self._results: dict[tuple[type, bytes], BuildResult] = {}
        self._numbers = count()

    def of(self, buildable: Build | Release) -> BuildResult:
        """Return the result of a build or release."""
        return self._results[_key(buildable)]

    def missing_programs(self, renderables: Collection[object]) -> tuple[str, ...]:
        """Return the programs that are needed, if none of them is installed."""
        needed = {
            name: has
            for name, kind, has in ((_BUILDER, Build, self._builder), (_HELM, Release, self._helm))
            if any(isinstance(buildable, kind) for buildable in renderables)
        }
        return () if any(needed.values()) else tuple(needed)

    def run(self, requested: Iterable[tuple[str, Build | Release]], started: Callable[[str], None]) -> None:
        """Build what is not built yet; each has a name, with which `started` is told of it."""
        new = {key: (name, buildable) for name, buildable in requested if (key := _key(buildable)) not in self._results}
        started_builds: list[tuple[Build | Release, Copy, Sources | None]] = []

        def jobs() -> Iterator[Job]:
            for key, (name, buildable) in new.items():
                copy = Copy(self._tree, self._folder / str(next(self._numbers)))
                try:
                    job, sources = self._prepare(buildable, copy)
                except CopyError as error:
                    self._results[key] = BuildResult(complaint=error.message)
                    continue
                started_builds.append((buildable, copy, sources))
                started(name)
                yield job

        for number, ran in run_all(jobs(), self._folder):
            buildable, copy, sources = started_builds[number]
            self._results[_key(buildable)] = BuildResult(
                text=ran.out, complaint=copy.renamed(ran.complaint), sources=sources
            )
            shutil.rmtree(copy.folder, ignore_errors=True)

    def _prepare(self, buildable: Build | Release, copy: Copy) -> tuple[Job, Sources | None]:
        """Copy what something is made from, and the program that makes it. Raises CopyError."""
        if not (self._builder if isinstance(buildable, Build) else self._helm):
            raise CopyError(f"{_BUILDER if isinstance(buildable, Build) else _HELM} is not installed")
        if isinstance(buildable, Build):
            sources = self._kustomizations.copy(buildable, copy)
            return kustomize.job(self._builder, buildable, sources, copy), sources
        if missing_charts := list(helm.missing_dependencies(self._tree, buildable.folder)):
            raise CopyError(f"it needs charts that are not here: {', '.join(missing_charts)}")
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


class PrintedObject(Struct, frozen=True, kw_only=True):
    """An object that was made, and the file and line that it comes from, as far as the program says."""

    raw: Mapping[str, Json]
    file: str = ""
    line: int = 0


def objects_in_file(tree: FileTree, file: str) -> Iterator[PrintedObject]:
    """Yield the objects in a file that nothing is done to."""
    for document in documents(tree, file):
        for raw, line in objects_in(document) if document else ():
            if isinstance(raw, dict):
                yield PrintedObject(raw=raw, file=file, line=line)


def _read_kustomize_output(text: str, folder: str) -> Iterator[PrintedObject | Problem]:
    for raw in _mappings(text):
        if isinstance(raw, Problem):
            yield raw
            continue
        metadata = dict(mapping_at(raw, "metadata"))
        annotations = dict(mapping_at(metadata, "annotations"))
        origin = annotations.pop(_ORIGIN, "")
        match = _PATH.search(origin) if isinstance(origin, str) else None
        metadata["annotations"] = annotations
        if not annotations:
            del metadata["annotations"]
        file = posixpath.normpath(posixpath.join(folder, match[1].strip().strip("'\""))) if match else ""
        yield PrintedObject(raw={**raw, "metadata": metadata} if "metadata" in raw else raw, file=file)


def _read_helm_output(text: str, chart: str) -> Iterator[PrintedObject | Problem]:
    """Yield the objects in the output of Helm for a chart; it names templates by the name of the chart."""
    for part in _START.split(text):
        match = _HELM_SOURCE.search(part)
        file = posixpath.join(chart, match[1].strip().partition("/")[2]) if match else ""
        for raw in _mappings(part):
            yield raw if isinstance(raw, Problem) else PrintedObject(raw=raw, file=file)


def _mappings(text: str) -> Iterator[Mapping[str, Json] | Problem]:
    for document in DocumentReader().read(text):
        if isinstance(document, Unread):
            yield replace(document.problem, line=0)
        else:
            yield from (raw for raw, _ in objects_in(document) if isinstance(raw, dict))


class Output:
    """Output of programs for a tree. Each text is read once, and so is each file in which its objects are written."""

    def __init__(self, tree: FileTree) -> None:
        """Nothing is read before it is asked for."""
        self._tree = tree
        self._written: dict[str, WrittenObjects] = {}
        self._printed: dict[tuple[str, str], Sequence[PrintedObject | Problem]] = {}

    def objects(self, text: str, buildable: Build | Release) -> Sequence[PrintedObject | Problem]:
        """Return the objects in the output for a build or release, and what is wrong with it."""
        key = text, buildable.folder
        if key not in self._printed:
            read = _read_helm_output if isinstance(buildable, Release) else _read_kustomize_output
            self._printed[key] = tuple(read(*key))
        return self._printed[key]

    def origin(self, printed: PrintedObject, otherwise: Origin) -> Origin:
        """Return the file and line of an object; the other origin if the program did not say."""
        if printed.line:
            return Origin(self._tree.source(printed.file), printed.line)
        if not printed.file or self._tree.kind(printed.file) != "file":
            return otherwise
        if printed.file not in self._written:
            try:
                text = self._tree.text(printed.file)
            except (OSError, ValueError, DocumentError):
                text = ""
            self._written[printed.file] = WrittenObjects(text)
        kind, name = text_at(printed.raw, "kind"), text_at(printed.raw, "metadata.name")
        return Origin(self._tree.source(printed.file), self._written[printed.file].line(kind, name))
