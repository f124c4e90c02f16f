"""Input that is a tree: the objects of each world that it is for, as they are once something applies them."""

from __future__ import annotations

import posixpath
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.model import Origin
from kubectl_policy.model.snapshot import UNLISTED, LeftOut
from kubectl_policy.sources.tree import CONFIG_MAP, DELIVERING, AppliedBy, unknown_cluster
from kubectl_policy.sources.tree.deliveries import Deliveries
from kubectl_policy.sources.tree.delivery import FluxKustomization
from kubectl_policy.sources.tree.kustomization import patches_in
from kubectl_policy.sources.tree.raw import RawBuilder
from kubectl_policy.sources.tree.repository import CHART, Repository, ancestors
from kubectl_policy.sources.tree.tops import Tops
from kubectl_policy.sources.tree.work import Work, destination_of
from kubectl_policy.sources.tree.worlds import Worlds, name_of_cluster

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from kubectl_policy.model import GroupKind, Resource
    from kubectl_policy.sources.files.input_files import InputFiles
    from kubectl_policy.sources.options import InputOptions
    from kubectl_policy.sources.reading import Reading
    from kubectl_policy.sources.tree.tops import Top
    from kubectl_policy.sources.tree.work import Builder, Renderer

_TEMPLATE: Final = "Helm template"


class AppliedWorld(Struct, frozen=True, kw_only=True):
    """Objects of one world as they are applied."""

    reading: Reading
    left_out: tuple[LeftOut, ...]
    """What is no object of its own, and what nothing applies."""
    applied_by: Mapping[Resource, AppliedBy]
    """The folder, and the clusters, by which objects are applied."""
    rendered: str
    """What was rendered, and with what."""


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
        return Worlds(self.repository, self._tops.all, list(self._everything.applied))

    @cached_property
    def _everything(self) -> Work:
        """What comes out of all tops, in whatever world, as the files alone say it."""
        return self._run(self._tops.all, self.raw)

    def _path_of(self, resource: Resource) -> str:
        return self.repository.path_of(resource.origin.source)

    def _run(
        self,
        tops: Sequence[Top],
        builder: Builder,
        config_maps: Collection[Resource] | None = None,
        elsewhere: Collection[str] = (),
    ) -> Work:
        written = self._reading.of_kind(CONFIG_MAP) if config_maps is None else config_maps
        work = Work(self.repository, self._deliveries, builder, self._options, self._cluster_scoped, written)
        work.run([replace(root, top=top.file) for top in tops for root in top.roots], elsewhere)
        return work

    def applied(self, world: str, renderer: Renderer | None) -> AppliedWorld:
        """Return the objects of a world, or of all of them together. Raises UsageError for an unknown world."""
        if world and world not in self.worlds.names:
            raise unknown_cluster(world, self.worlds.names)
        tops = self.worlds.tops_of(world) if world else self._tops.all
        elsewhere = [name for name, cluster in self.worlds.destinations.items() if world not in {"", cluster}]
        builder = renderer(self.raw, self._deliveries.addresses) if renderer and tops else self.raw
        work = self._everything
        if world or builder is not self.raw:
            config_maps = [
                entry for entry in self._reading.of_kind(CONFIG_MAP) if self._is_for(self._path_of(entry), world)
            ]
            work = self._run(tops, builder, config_maps, elsewhere)
        roles = self._roles()
        plain = self.repository.inputs.keys() - self._everything.files - roles.keys()
        unlisted = {path for path in plain if not self._tops.is_applied_by_hand(path)}
        by_hand = {path for path in plain - unlisted if self._is_for(path, world)}
        reading = self._reading.copy()
        # Of what is rendered, or for others, it does not matter what is wrong with its files.
        used = by_hand | (work.files - work.rendered - roles.keys())
        unused = {file.path for path, file in self.repository.inputs.items() if path not in used}
        reading.forget(unused | self.repository.read_anew)
        applied_by = dict(self._applied_by_hand(by_hand))
        for entry in work.applied:
            destination, folder = destination_of(entry.root), self.repository.source_of(entry.root.folder)
            is_told_apart = destination in self.worlds.destinations
            names = {name_of_cluster(destination)} if is_told_apart else self.worlds.worlds_of(entry.root.top)
            applied_by[entry.resource] = AppliedBy(folder=folder, clusters=frozenset(names))
        # The order of files counts where two of them have the same object.
        order = {file.path: position for position, file in enumerate(self.repository.inputs.values())}
        reading.objects = sorted(applied_by, key=lambda entry: order.get(entry.origin.source, len(order)))
        reading.gaps += [*work.gaps, *([] if self._options.complete else work.creators)]
        reading.gaps += self.worlds.unknown_in(world) if world else ()
        reading.diagnostics += [*work.diagnostics, *builder.diagnostics.values()]
        # What is for other worlds is left out there.
        settled = work.rendered | (self._everything.files - work.files)
        unrendered = {path: role for path, role in roles.items() if path not in settled}
        left_out = (
            *self._left_out(unrendered),
            *self._unlisted(unlisted),
            *self._inline_patches(settled),
            *(() if work.rendered else self._patches_in_deliveries()),
        )
        return AppliedWorld(reading=reading, left_out=left_out, applied_by=applied_by, rendered=builder.summary)

    def _is_for(self, path: str, world: str) -> bool:
        """Whether a file that nothing takes in is for a world, for all that its folder tells."""
        return not world or world in (self.worlds.clusters_of(path) or {world})

    def _applied_by_hand(self, paths: Collection[str]) -> Iterator[tuple[Resource, AppliedBy]]:
        """Yield the objects in some files, and in standard input, with the clusters in whose folders they are."""
        for resource in self._reading.objects:
            path = self._path_of(resource)
            if not path or path in paths:
                yield resource, AppliedBy(clusters=self.worlds.clusters_of(path))

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
            if role and (path not in self._everything.files or path in serving or chart is not None):
                roles[path] = role
        return roles

    def _left_out(self, roles: Mapping[str, str]) -> Iterator[LeftOut]:
        """Yield the files that are no objects of their own, by what they are."""
        return (LeftOut(role, self.repository.origin_of(path)) for path, role in roles.items())

    def _unlisted(self, paths: Collection[str]) -> Iterator[LeftOut]:
        """Yield the files with objects that nothing applies."""
        for source in {resource.origin.source: None for resource in self._reading.objects}:
            if self.repository.path_of(source) in paths:
                yield LeftOut(UNLISTED, Origin(source))

    def _inline_patches(self, settled: Collection[str]) -> Iterator[LeftOut]:
        """Yield the patches that are written in kustomizations, but for those that are settled."""
        for kustomization in self.repository.kustomizations.values():
            if self.repository.kustomization_file(kustomization.folder) not in settled:
                for patch in kustomization.patches:
                    if not patch.file and not patch.is_for_deliveries:
                        yield LeftOut("replacement" if patch.replaces else "patch", patch.origin)

    def _patches_in_deliveries(self) -> Iterator[LeftOut]:
        """Yield the patches in Kustomizations of Flux."""
        for _, delivery in self._deliveries.written:
            if isinstance(delivery, FluxKustomization):
                patches = patches_in(delivery.additions, "", delivery.resource.origin)
                yield from (LeftOut("patch", patch.origin) for patch in patches if not patch.is_for_deliveries)


def _in_chart(path: str) -> str:
    """Return the role of a file in a chart; empty for no part of it, and for definitions, which Helm applies."""
    first = path.partition("/")[0]
    if first in {"templates", "charts"}:
        return _TEMPLATE
    return "Helm values" if (path == first and first.startswith("values")) or first == "ci" else ""
