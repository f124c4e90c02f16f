"""Rendering: builds and releases made by their own programs; what these refuse is read from the files alone."""

from __future__ import annotations

import signal
import tempfile
from collections import Counter
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.errors import SourceError
from kubectl_policy.model import Diagnostic, Problem
from kubectl_policy.model.fields import text_at
from kubectl_policy.sources.programs.cache import Cache
from kubectl_policy.sources.programs.inputs import InputsError
from kubectl_policy.sources.programs.installed import find_program
from kubectl_policy.sources.programs.running import ProgramOutput, Programs
from kubectl_policy.sources.rendering.flux import FluxRenderer
from kubectl_policy.sources.rendering.helm import helm_job, read_helm_output
from kubectl_policy.sources.rendering.kustomize import Kustomize, is_plain
from kubectl_policy.sources.rendering.printed import WrittenLines, printed_in
from kubectl_policy.sources.tree.applications import TEMPLATE
from kubectl_policy.sources.tree.delivery import HelmRelease
from kubectl_policy.sources.tree.raw import RENDER, BuildResult, gap_of_root
from kubectl_policy.sources.tree.roots import Build, NotRendered, Release, key_of
from kubectl_policy.text import DocumentError
from kubectl_policy.text.substitution import substitute

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
    from contextlib import ExitStack

    from kubectl_policy.model import Gap, Resource
    from kubectl_policy.sources.options import InputOptions, Progress
    from kubectl_policy.sources.programs.jobs import Job
    from kubectl_policy.sources.rendering.printed import Printed
    from kubectl_policy.sources.tree.raw import RawBuilder
    from kubectl_policy.sources.tree.repository import Repository, Values
    from kubectl_policy.sources.tree.roots import Doubt, Root
    from kubectl_policy.sources.tree.work import Builder

_KUSTOMIZE: Final = "kubectl (or kustomize)"
_HELM: Final = "helm"
_LACKING: Final = "is not installed, so that nothing is rendered with it: install it"


class Rendering:
    """Programs that render, in a folder of their own from the first that is run to the end of the stack."""

    def __init__(self, stack: ExitStack, options: InputOptions, progress: Progress | None = None) -> None:
        """Start without having rendered anything; `progress` is told of everything that is begun."""
        self._stack, self._options, self._progress = stack, options, progress
        self._builders: dict[RawBuilder, RenderedBuilder] = {}

    def builder(self, raw: RawBuilder, addresses: Collection[str]) -> Builder:
        """Return what renders the roots of a tree, and keeps what it made; the same for every world in it.

        The addresses are those of the repository itself.
        """
        if raw not in self._builders:
            flux = FluxRenderer.installed(raw.repository, addresses, network=self._options.network)
            self._builders[raw] = RenderedBuilder(raw, self, self._options, flux, self._progress)
        return self._builders[raw]

    @cached_property
    def programs(self) -> Programs:
        """What runs programs."""
        home = self._stack.enter_context(_temporary_folder())
        return Programs(home, cache=Cache(), network=self._options.network)


class RenderedBuilder:
    """Makes objects by the programs that are installed."""

    def __init__(
        self,
        raw: RawBuilder,
        rendering: Rendering,
        options: InputOptions,
        flux: FluxRenderer | None,
        progress: Progress | None,
    ) -> None:
        """Start without having made anything; `raw` makes what no program makes."""
        self._raw, self._rendering, self._options, self._progress = raw, rendering, options, progress
        self._flux = flux
        self._repository: Repository = raw.repository
        self._kustomize, self._helm = Kustomize.installed(network=options.network), find_program(_HELM)
        self._outputs: dict[bytes, ProgramOutput] = {}
        self._lines = WrittenLines(raw.repository)
        # What is wrong with rendering as a whole, by the program that is lacking.
        self.diagnostics: Mapping[str, Diagnostic] = {}
        # Where nothing can be rendered, that would help; of what a program refuses, it would not.
        self.remedy = "" if self._kustomize else RENDER
        # The programs by what they make.
        self._programs: dict[bytes, str] = {}

    def prepare(self, wave: Sequence[tuple[Root, Values | None]]) -> None:
        """Run the programs for some roots; of equal ones, one. Raises SourceError if they are lacking."""
        if self._flux:
            self._flux.prepare((root for root, _ in wave), self._rendering.programs, self._progress)
        needed: dict[bytes, Root] = {}
        for root, values in wave:
            is_made = self._flux and self._flux.printed(root) is not None
            if not is_made and self._needs_program(root, values):
                needed.setdefault(key_of(root.renderable), root)
        new = {key: root for key, root in needed.items() if key not in self._outputs}
        lacking = {program: root for root in new.values() if (program := self._lacking_program(root))}
        if lacking and self._options.render is True and not (self._kustomize or self._helm or self._flux):
            raise SourceError(
                f"--render needs {' and '.join(sorted(lacking))}, which cannot be found",
                "install it, or use --no-render: the files are then read as they are",
            )
        if self._options.render is not True:
            # Once for all, as nobody asked for more than what is possible.
            new = {key: root for key, root in new.items() if not self._lacking_program(root)}
            problems = {
                program: Diagnostic("not-rendered", "warning", f"{program} {_LACKING}", origin=root.origin)
                for program, root in lacking.items()
            }
            self.diagnostics = {**problems, **self.diagnostics}
        for key, output in self._rendering.programs.run(self._jobs(new)) if new else ():
            self._outputs[key] = output

    def _lacking_program(self, root: Root) -> str:
        """Return the program that a root needs if it is not installed; empty if it is."""
        if isinstance(root.renderable, Release):
            return "" if self._helm else _HELM
        return "" if self._kustomize else _KUSTOMIZE

    def _needs_program(self, root: Root, values: Values | None) -> bool:
        """Whether a root is more than what its files say."""
        match root.renderable:
            case Build():
                result = self._raw.result_of(root, values)
                is_whole = not result.creators and not result.unfetched
                return not (is_whole and is_plain(self._raw.kustomizations(root.renderable)))
            case Release():
                return True
            case _:
                return False

    def _jobs(self, roots: dict[bytes, Root]) -> Iterator[tuple[bytes, Job]]:
        for number, (key, root) in enumerate(roots.items(), 1):
            try:
                job = self._job(root)
            except InputsError as error:
                self._outputs[key] = ProgramOutput(complaint=error.message)
                continue
            if self._progress:
                self._progress(number, len(roots), root.name)
            self._programs[key] = job.command[0]
            yield key, job

    def _job(self, root: Root) -> Job:
        """Return the job that makes a root. Raises InputsError if there is no program, or too much for it."""
        match root.renderable:
            case Build() if self._kustomize:
                kustomizations = self._raw.kustomizations(root.renderable)
                return self._kustomize.job(root.renderable, kustomizations, self._repository)
            case Release() if self._helm:
                return helm_job(self._helm, root.renderable, self._repository)
            case _:
                raise InputsError(f"{self._lacking_program(root)} is not installed")

    @property
    def summary(self) -> str:
        """What was rendered, and with what: `41 folders with kustomize 5.7.1`."""
        numbers = Counter(program for key, program in self._programs.items() if not self._outputs[key].complaint)
        parts = [
            f"{number} {_noun(program, number)} with {self._rendering.programs.version_of(program)}"
            for program, number in numbers.items()
        ]
        if self._flux and self._flux.number:
            version = self._rendering.programs.version_of(self._flux.program.path)
            parts.insert(0, f"{self._flux.number} Kustomization{'s' * (self._flux.number > 1)} with {version}")
        return " and ".join(parts)

    def result_of(self, root: Root, values: Values | None) -> BuildResult:
        """Return what a root comes to, with variables filled in."""
        raw = self._raw.result_of(root, values)
        by_flux = self._flux.printed(root) if self._flux else None
        if by_flux is not None:
            # Whatever a HelmRelease creates is printed.
            creators = () if isinstance(root.delivery, HelmRelease) else self._creators_left(raw)
            return replace(self._read(root, raw, by_flux), creators=creators, unfetched=())
        failure = self._flux.failure_of(root) if self._flux and isinstance(root.renderable, NotRendered) else None
        if failure:
            remedy = "--allow-network" if failure.address else TEMPLATE
            return replace(raw, creators=[gap_of_root(root, failure.message, remedy)])
        output = self._outputs.get(key_of(root.renderable))
        if output is None and isinstance(root.renderable, Release):
            return replace(raw, creators=[replace(gap, remedy=f"install {_HELM}") for gap in raw.creators])
        if output is None:
            return raw
        text, complaint = output.out, output.complaint
        if isinstance(root.renderable, Build) and not complaint:
            try:
                text = self._filled_in(text, values)
            except DocumentError as error:
                complaint = str(error)
        if complaint:
            return self._failed(root, raw, complaint)
        is_build = isinstance(root.renderable, Build)
        return self._read(root, raw, printed_in(text) if is_build else read_helm_output(text, root.folder))

    def _filled_in(self, text: str, values: Values | None) -> str:
        """Fill variables into the output of Kustomize as Flux does it. Raises DocumentError for what Flux refuses."""
        known = {**dict(values.known if values else ()), **self._options.values}
        return substitute(text, known, closed=bool(values and values.closed))

    def _failed(self, root: Root, raw: BuildResult, reason: str) -> BuildResult:
        """Return what is in the files of a root, and that a program did not make more of it."""
        message = f"{root.name} could not be rendered: {reason}"
        lacking = self._lacking_program(root)
        remedy = f"install {lacking}" if lacking else ""
        gap = replace(gap_of_root(root, reason, remedy, self._texts(raw)), reason=message)
        diagnostic = Diagnostic("not-rendered", "warning", message, origin=root.origin)
        if isinstance(root.renderable, Release):
            raw = replace(raw, creators=())
        return replace(raw, gaps=(*raw.gaps, gap), diagnostics=(*raw.diagnostics, diagnostic))

    def _creators_left(self, raw: BuildResult) -> Sequence[Gap]:
        """Return the gaps of what a build did not render: without Helm, the charts in it."""
        return () if self._helm else [gap for gap in raw.creators if not gap.kind]

    def _texts(self, raw: BuildResult) -> list[str]:
        return [self._repository.text(path) for path in sorted(raw.files)]

    def _read(self, root: Root, raw: BuildResult, printed: Iterable[Printed | Problem]) -> BuildResult:
        """Read the objects that a program printed, which come from where equal ones are written, if any are."""
        reading = self._repository.reading.anew()
        written = {(entry.ref.kind, entry.ref.name): entry for entry, _ in raw.objects}
        failures: list[str] = []
        for entry in printed:
            if isinstance(entry, Problem):
                failures.append(entry.message)
                continue
            source = written.get((text_at(entry.raw, "kind"), text_at(entry.raw, "metadata.name")))
            origin = source.origin if source else self._lines.origin(entry, root.origin)
            reading.read_object(entry.raw, origin)
        objects: list[tuple[Resource, tuple[Doubt, ...]]] = []
        for resource in reading.objects:
            source = written.get((resource.ref.kind, resource.ref.name))
            objects.append((replace(resource, namespace_from=source.namespace_from if source else None), ()))
        result = BuildResult(
            objects=objects,
            files=raw.files,
            is_rendered=True,
            creators=self._creators_left(raw),
            unfetched=raw.unfetched,
            gaps=reading.gaps,
            diagnostics=reading.diagnostics,
        )
        return self._failed(root, result, failures[0]) if failures else result


def _noun(program: str, number: int) -> str:
    noun = "chart" if Path(program).stem == _HELM else "folder"
    return noun if number == 1 else f"{noun}s"


@contextmanager
def _temporary_folder() -> Generator[Path]:
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
