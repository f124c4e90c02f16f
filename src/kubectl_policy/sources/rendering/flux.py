"""Flux: the objects that one program makes of all Kustomizations and HelmReleases to which a folder leads."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.model.fields import mapping_at, text_at
from kubectl_policy.sources.programs.inputs import InputsError
from kubectl_policy.sources.rendering.flux_programs import (
    FluxOutput,
    Maker,
    flux_job,
    flux_program,
    read_flux_output,
    repository_inputs,
)
from kubectl_policy.sources.tree.delivery import FluxKustomization, HelmRelease
from kubectl_policy.sources.tree.roots import Build

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.sources.options import Progress
    from kubectl_policy.sources.programs.jobs import Job
    from kubectl_policy.sources.programs.running import Programs
    from kubectl_policy.sources.rendering.flux_programs import FluxFailure, FluxProgram
    from kubectl_policy.sources.rendering.printed import Printed
    from kubectl_policy.sources.tree.repository import Repository
    from kubectl_policy.sources.tree.roots import Root

# Flux sets these as well, and no answer depends on them.
_LABELS: Final = ("kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/")


class FluxRenderer:
    """Renders clusters of Flux, each once, and knows which object came from which Kustomization or HelmRelease."""

    def __init__(
        self, program: FluxProgram, repository: Repository, addresses: Iterable[str], *, network: bool
    ) -> None:
        """Start without having rendered anything; the addresses stand for the repository itself."""
        self.program, self._repository, self._network = program, repository, network
        self._addresses = sorted(addresses)
        # By the folder with the first Kustomizations of a cluster, and the names of all objects in it.
        self._objects: dict[str, Mapping[Maker, Sequence[Printed]]] = {}
        self._names: dict[str, frozenset[tuple[str, str, str]]] = {}
        self._failures: dict[tuple[str, str, str, str], FluxFailure] = {}
        self._used: set[tuple[str, Maker]] = set()

    @classmethod
    def installed(cls, repository: Repository, addresses: Iterable[str], *, network: bool) -> FluxRenderer | None:
        """Return the renderer for the program that is installed, if any is."""
        program = flux_program()
        return cls(program, repository, addresses, network=network) if program else None

    def prepare(self, roots: Iterable[Root], programs: Programs, progress: Progress | None) -> None:
        """Render the clusters of some roots; what cannot be rendered so is left to others."""
        clusters: dict[str, str] = {}
        for root in roots:
            is_new = isinstance(root.renderable, Build) and _folder_of(root) not in self._objects
            if is_new and isinstance(root.delivery, FluxKustomization):
                # Paths start at the root of the repository, which may lie in another one.
                base = self._repository.base_of(root.file, root.delivery.path)
                clusters.setdefault(
                    _folder_of(root), self._repository.tree.root_of(root.file) if base is None else base
                )
        for folder, output in programs.run(self._jobs(clusters, progress)):
            by_maker: dict[Maker, list[Printed]] = {}
            read = FluxOutput() if output.complaint else read_flux_output(output.out, output.err)
            self._failures |= {(folder, entry.kind, entry.namespace, entry.name): entry for entry in read.failures}
            for result in read.objects:
                if result.maker:
                    by_maker.setdefault(result.maker, []).append(_without_labels(result.printed))
            self._objects[folder] = by_maker
            self._names[folder] = frozenset(_name_of(entry) for result in by_maker.values() for entry in result)

    def _jobs(self, clusters: Mapping[str, str], progress: Progress | None) -> Iterator[tuple[str, Job]]:
        for number, (folder, repository) in enumerate(clusters.items(), 1):
            if progress:
                progress(number, len(clusters), self._repository.source_of(folder))
            try:
                inputs = repository_inputs(self._repository.tree, repository, self._addresses)
            except InputsError:
                self._objects[folder] = {}
                continue
            yield folder, flux_job(self.program, inputs, folder, network=self._network)

    def printed(self, root: Root) -> Sequence[Printed] | None:
        """Return the objects of a root; None if the program did not make them, or took unknown values for empty."""
        delivery = root.delivery
        if not delivery:
            return None
        folder, ref = _folder_of(root), delivery.resource.ref
        names, by_maker = self._names.get(folder, frozenset()), self._objects.get(folder, {})
        references = delivery.substitute_from if isinstance(delivery, FluxKustomization) else ()
        is_known = all((part.kind, ref.namespace, part.name) in names for part in references)
        maker = Maker(ref.kind, ref.namespace, ref.name)
        if not is_known or maker not in by_maker:
            return None
        self._used.add((folder, maker))
        return by_maker[maker]

    def failure_of(self, root: Root) -> FluxFailure | None:
        """Return what the program said of a HelmRelease that it could not render."""
        if not isinstance(root.delivery, HelmRelease):
            return None
        ref = root.delivery.resource.ref
        return self._failures.get((_folder_of(root), ref.kind, ref.namespace, ref.name))

    @property
    def number(self) -> int:
        """The number of Kustomizations that were rendered."""
        return sum(maker.kind == "Kustomization" for _, maker in self._used)


def _folder_of(root: Root) -> str:
    return posixpath.dirname(root.top)


def _name_of(printed: Printed) -> tuple[str, str, str]:
    raw = printed.raw
    return text_at(raw, "kind"), text_at(raw, "metadata.namespace"), text_at(raw, "metadata.name")


def _without_labels(printed: Printed) -> Printed:
    """Return an object without the labels by which Flux knows what made it."""
    metadata = {**mapping_at(printed.raw, "metadata")}
    labels = {name: text for name, text in mapping_at(metadata, "labels").items() if not name.startswith(_LABELS)}
    if labels:
        metadata["labels"] = labels
    else:
        metadata.pop("labels", None)
    return replace(printed, raw={**printed.raw, "metadata": metadata})
