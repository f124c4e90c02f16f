"""Input that is a tree: the objects of each world that it is for, as they are once something applies them."""

from __future__ import annotations

import posixpath
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.model import Origin
from kubectl_policy.model.fields import items_at
from kubectl_policy.model.snapshot import LeftOut
from kubectl_policy.sources.duplicates import AppliedBy
from kubectl_policy.sources.tree import DELIVERING, unknown_cluster
from kubectl_policy.sources.tree.deliveries import Deliveries
from kubectl_policy.sources.tree.delivery import FluxKustomization
from kubectl_policy.sources.tree.raw import RawBuilder
from kubectl_policy.sources.tree.repository import CHART, Repository, ancestors
from kubectl_policy.sources.tree.tops import Tops
from kubectl_policy.sources.tree.work import Work, destination_of
from kubectl_policy.sources.tree.worlds import Worlds, name_of_cluster

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from kubectl_policy.model import GroupKind, Resource
    from kubectl_policy.sources.assembling import Renderer
    from kubectl_policy.sources.files.input_files import InputFiles
    from kubectl_policy.sources.options import InputOptions
    from kubectl_policy.sources.reading import Reading
    from kubectl_policy.sources.tree.roots import Root
    from kubectl_policy.sources.tree.tops import Top
    from kubectl_policy.sources.tree.work import Builder

UNLISTED: Final = "file that nothing applies"
_TEMPLATE: Final = "Helm template"


class AppliedWorld(Struct, frozen=True, kw_only=True):
    """Objects of one world as they are applied."""

    reading: Reading
    left_out: Sequence[LeftOut]
    """What is no object of its own, and what nothing applies."""
    applied_by: Mapping[Resource, AppliedBy]
    """The folder, and the clusters, by which objects are applied."""


class TreeInput:
    """The files of a tree, as `reading` has them, and those that its kustomizations take in from elsewhere."""

    def __init__(
        self,
        files: InputFiles,
        reading: Reading,
        options: InputOptions,
        cluster_scoped: Collection[GroupKind],
    ) -> None:
        """Look around in what was read of files; of what is `options.complete`, nothing creates more."""
        self._options, self._reading, self._cluster_scoped = options, reading, cluster_scoped
        self.repository = Repository(files.repositories or files.tree, files, reading, options.values)
        delivering = [resource for resource in reading.objects if resource.ref.group_kind in DELIVERING]
        self._deliveries = Deliveries(self.repository, reading.objects, delivering)
        self.raw = RawBuilder(self.repository)
        self._tops = Tops(self.repository, self._deliveries, self.raw, options.namespace)

    @cached_property
    def worlds(self) -> Worlds:
        """The worlds that it is for."""
        results = [self._run([top], self.raw) for top in self._tops.all]
        return Worlds(self.repository, self._tops.all, results)

    def _run(self, tops: Sequence[Top], builder: Builder, elsewhere: Collection[str] = ()) -> Work:
        work = Work(self.repository, self._deliveries, builder, self._options, self._cluster_scoped)
        work.run([root for top in tops for root in self._roots_of(top, len(tops) > 1)], elsewhere)
        return work

    def _roots_of(self, top: Top, several: bool) -> Iterator[Root]:  # noqa: FBT001 (of one call)
        cluster = "/".join(sorted(self.worlds.worlds_of(top))) if several else ""
        return (replace(root, cluster=cluster or "only") for root in top.roots)

    @cached_property
    def _reached(self) -> frozenset[str]:
        """The files that anything applies, in whatever world."""
        return frozenset(self._run(self._tops.all, self.raw).files)

    def applied(self, world: str, renderer: Renderer | None) -> AppliedWorld:
        """Return the objects of a world, or of all of them together. Raises UsageError for an unknown world."""
        if world and world not in self.worlds.names:
            raise unknown_cluster(world, self.worlds.names)
        tops = self.worlds.tops_of(world) if world else self._tops.all
        elsewhere = [name for name, cluster in self.worlds.destinations.items() if world not in {"", cluster}]
        builder = renderer(self.raw) if renderer and tops else self.raw
        work = self._run(tops, builder, elsewhere)
        reading = self._reading.copy()
        roles = self._roles()
        plain = {path for path in self.repository.inputs if path not in self._reached and path not in roles}
        unlisted = {path for path in plain if not self._tops.is_applied_by_hand(path)}
        elsewhere_too = {path for path in plain if world and world not in (self.worlds.clusters_of(path) or {world})}
        forgotten = (self.repository.inputs.keys() - plain - (work.files - work.rendered)) | unlisted | elsewhere_too
        sources = {path: file.path for path, file in self.repository.inputs.items()}
        objects = [
            resource
            for resource in reading.objects
            if not (path := self.repository.path_of(resource.origin.source)) or path in plain - unlisted - elsewhere_too
        ]
        reading.forget({*(sources[path] for path in forgotten), *self.repository.read_anew})
        clusters = {
            resource: self.worlds.clusters_of(self.repository.path_of(resource.origin.source)) for resource in objects
        }
        applied_by = {resource: AppliedBy(clusters=names) for resource, names in clusters.items()}
        order = {source: position for position, source in enumerate(sources.values())}
        applied = sorted(work.applied, key=lambda entry: order.get(entry.resource.origin.source, len(order)))
        for entry in applied:
            destination = destination_of(entry.root)
            names = {entry.root.cluster} - {"", "only"}
            if destination in self.worlds.destinations:
                names = {name_of_cluster(destination)}
            folder = self.repository.source_of(entry.root.folder)
            applied_by[entry.resource] = AppliedBy(folder=folder, clusters=frozenset(names))
        reading.objects = [*objects, *(entry.resource for entry in applied)]
        reading.gaps += [*work.gaps, *([] if self._options.complete else work.creators)]
        if world:
            reading.gaps += self.worlds.unknown_in(world)
        reading.diagnostics += work.diagnostics
        return AppliedWorld(reading=reading, left_out=list(self._left_out(roles, unlisted)), applied_by=applied_by)

    def _roles(self) -> Mapping[str, str]:
        """Map files that are no objects of their own to what they are; what something lists as a resource is one."""
        serving: dict[str, str] = {}
        for kustomization in self.repository.kustomizations.values():
            serving.update(kustomization.serving)
        charts = {posixpath.dirname(path) for path in self.repository.inputs if posixpath.basename(path) == CHART}
        roles: dict[str, str] = {}
        for path in self.repository.inputs:
            around = [path, *ancestors(path)]
            role = next((serving[folder] for folder in around if folder in serving), "")
            chart = next((folder for folder in around if folder in charts), None)
            if chart is not None:
                role = _in_chart(posixpath.relpath(path, chart)) or role
            if role and (path not in self._reached or path in serving or chart is not None):
                roles[path] = role
        return roles

    def _left_out(self, roles: Mapping[str, str], unlisted: Collection[str]) -> Iterator[LeftOut]:
        with_objects = {resource.origin.source for resource in self._reading.objects}
        for path, role in roles.items():
            yield LeftOut(role, Origin(self.repository.source_of(path)))
        for path in unlisted:
            if self.repository.source_of(path) in with_objects:
                yield LeftOut(UNLISTED, Origin(self.repository.source_of(path)))
        for kustomization in self.repository.kustomizations.values():
            for patch in kustomization.patches:
                if not patch.file:
                    yield LeftOut("replacement" if patch.replaces else "patch", patch.origin)
        for _, delivery in self._deliveries.written:
            if isinstance(delivery, FluxKustomization):
                for _ in items_at(delivery.additions, "patches"):
                    yield LeftOut("patch", delivery.resource.origin)


def _in_chart(path: str) -> str:
    """Return the role of a file in a chart; empty for no part of it, and for definitions, which Helm applies."""
    first = path.partition("/")[0]
    if first in {"templates", "charts"}:
        return _TEMPLATE
    return "Helm values" if (path == first and first.startswith("values")) or first == "ci" else ""
