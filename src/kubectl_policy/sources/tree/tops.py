"""Tops of a tree: the roots that nothing in it applies, and the files that are applied as they are, or by nothing."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from msgspec import Struct

from kubectl_policy.model.fields import text_at
from kubectl_policy.model.world import grouped, grouped_by
from kubectl_policy.sources.tree.delivery import FluxKustomization
from kubectl_policy.sources.tree.kustomization import NAMES
from kubectl_policy.sources.tree.repository import CHART, ancestors
from kubectl_policy.sources.tree.roots import Build, Files, NotRendered, Release, Root

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from kubectl_policy.sources.tree.deliveries import Deliveries
    from kubectl_policy.sources.tree.raw import RawBuilder
    from kubectl_policy.sources.tree.repository import Repository


class Top(Struct, frozen=True, kw_only=True):
    """Roots that one file declares, and nothing applies."""

    file: str
    roots: tuple[Root, ...]
    has_flux: bool
    """Whether it leads to anything that Flux applies."""
    applies_itself: bool
    """Whether the file is one of those that it applies."""

    @property
    def is_delivery(self) -> bool:
        """Whether something applies it, and not somebody by hand."""
        return any(root.delivery for root in self.roots)


class Tops:
    """The tops of a repository."""

    def __init__(self, repository: Repository, deliveries: Deliveries, builder: RawBuilder, namespace: str) -> None:
        """Find what nothing takes in; of deliveries that apply each other, the first is one."""
        self._repository, self._builder = repository, builder
        self._charts = {posixpath.dirname(path) for path in repository.inputs if posixpath.basename(path) == CHART}
        declared = [(file, tuple(deliveries.roots_of(delivery, file))) for file, delivery in deliveries.written]
        self._kustomized = repository.kustomizations.keys()
        renderables = [root.renderable for _, roots in declared for root in roots]
        # The charts and folders that a repository only deploys in part are there for others.
        self.is_delivered = any(isinstance(part, Build | Files) for part in renderables)
        folders = {part.folder for part in renderables if isinstance(part, Files)}
        self._passed_over = folders | deliveries.passed_over
        declared += self._kustomizations()
        declared += () if self.is_delivered else self._releases(namespace)
        self.all = list(_one_per_file(self._entry_points(declared)))

    def _kustomizations(self) -> Iterator[tuple[str, tuple[Root, ...]]]:
        """Yield the kustomizations that no other one takes in; no components."""
        known = self._repository.kustomizations
        included = {
            path for kustomization in known.values() for path in (*kustomization.resources, *kustomization.components)
        }
        for folder, kustomization in known.items():
            if folder not in included and not kustomization.is_component and not self._is_in_chart(folder):
                build = Build(folder=folder, origin=kustomization.origin)
                name = self._repository.source_of(folder)
                file = self._repository.kustomization_file(folder)
                root = Root(renderable=build, name=name, file=file, origin=kustomization.origin, values=[])
                yield file, (root,)

    def _releases(self, namespace: str) -> Iterator[tuple[str, tuple[Root, ...]]]:
        """Yield the charts that nothing installs, each under its own name."""
        known = self._repository.kustomizations.values()
        taken = {kustomization.chart_folder(chart) for kustomization in known for chart in kustomization.charts}
        for folder in sorted(self._charts - taken):
            file = posixpath.join(folder, CHART)
            about = next(iter(self._repository.values(file) or ()), None)
            if not self._is_in_chart(folder) and text_at(about, "type") != "library":
                release = Release(folder=folder, name=text_at(about, "name"), namespace=namespace)
                source = self._repository.source_of(folder)
                origin = self._repository.origin_of(file)
                root = Root(renderable=release, name=source, file=file, origin=origin, namespace=namespace, values=[])
                yield file, (root,)

    def _is_in_chart(self, folder: str) -> bool:
        return not self._charts.isdisjoint(ancestors(folder)[:-1] if folder else ())

    def _files_of(self, root: Root) -> Collection[str]:
        match root.renderable:
            case Build():
                return self._builder.files(root.renderable)
            case Files():
                return root.renderable.files
            case Release(folder=folder, files=files):
                return (posixpath.join(folder, CHART), *files)
            case NotRendered():
                return ()

    def _entry_points(self, declared: Sequence[tuple[str, tuple[Root, ...]]]) -> Iterator[Top]:
        """Yield the declarations that no other one applies, but for those that are listed by nothing."""
        by_file = grouped((file, number) for number, (file, _) in enumerate(declared))
        files = [{path for root in roots for path in self._files_of(root)} for _, roots in declared]
        covered = [{inner for path in paths for inner in by_file.get(path, ())} for paths in files]
        delivered = {inner for number, inside in enumerate(covered) for inner in inside if inner != number}
        tops = [number for number in range(len(declared)) if number not in delivered]
        reached: set[int] = set()
        # What is left when all of that is followed goes round in circles.
        for number in [*tops, *range(len(declared))]:
            if number in reached:
                continue
            inside, unvisited = set[int](), [number]
            while unvisited:
                inner = unvisited.pop()
                if inner not in inside:
                    inside.add(inner)
                    unvisited += covered[inner]
            reached |= inside
            file, roots = declared[number]
            is_build_by_hand = posixpath.basename(file) in NAMES and not self.is_delivered
            if is_build_by_hand or self.is_applied_by_hand(file, besides=files[number]):
                deliveries = [root.delivery for inner in inside for root in declared[inner][1]]
                yield Top(
                    file=file,
                    roots=roots,
                    has_flux=any(isinstance(delivery, FluxKustomization) for delivery in deliveries),
                    applies_itself=posixpath.basename(file) not in NAMES and file in files[number],
                )

    def is_applied_by_hand(self, file: str, besides: Collection[str] = ()) -> bool:
        """Whether somebody may apply a file that nothing takes in: one that is named, or that nothing passes over.

        A kustomization around it does, unless the file itself takes that in, as an overlay below its base; and so does
        an Application for its folder, or an ApplicationSet that excludes it.
        """
        named = self._repository.inputs.get(file)
        if named and not named.root:
            return True
        folders = ancestors(file)
        around = {self._repository.kustomization_file(folder) for folder in folders if folder in self._kustomized}
        return around <= {file, *besides} and (file in besides or self._passed_over.isdisjoint(folders))


def _one_per_file(tops: Iterable[Top]) -> Iterator[Top]:
    """Yield one top for all that a file declares, what applies the file itself before the rest."""
    for file, same_file in grouped_by(tops, lambda top: top.file).items():
        same_file.sort(key=lambda top: not top.applies_itself)
        yield Top(
            file=file,
            roots=tuple(root for top in same_file for root in top.roots),
            has_flux=any(top.has_flux for top in same_file),
            applies_itself=same_file[0].applies_itself,
        )
