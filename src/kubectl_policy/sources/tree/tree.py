"""Tree of manifests, and of the files that deliver them: its objects as they are once applied, and their gaps."""

from __future__ import annotations

import posixpath
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.lazy import Results, cached_method
from kubectl_policy.model import Gap, Origin
from kubectl_policy.model.fields import items_at, mapping_at, mappings_at, strings_at, text_at
from kubectl_policy.model.snapshot import LeftOut
from kubectl_policy.model.unknown import unknown_namespace
from kubectl_policy.sources.tree import CONFIG_MAP, HELM_RELEASE, unrendered
from kubectl_policy.sources.tree.builds import DeclaredBuilds
from kubectl_policy.sources.tree.chains import Chain, Chains, charts_of, roles
from kubectl_policy.sources.tree.clusters import Clusters, name_of_cluster
from kubectl_policy.sources.tree.delivery import Application, FluxKustomization
from kubectl_policy.sources.tree.ground import ancestors
from kubectl_policy.sources.tree.kustomization import within
from kubectl_policy.sources.tree.placing import place_object
from kubectl_policy.sources.tree.unrendered import RENDER, UnappliedPatches, gap_of, gaps_of_patched_delivery

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import GroupKind, Json, Resource
    from kubectl_policy.sources.tree.delivery import Reference
    from kubectl_policy.sources.tree.ground import Ground
    from kubectl_policy.sources.tree.kustomization import Kustomization
    from kubectl_policy.sources.tree.patches import Patch
    from kubectl_policy.sources.tree.worlds import Worlds

_UNLISTED: Final = "listed by no kustomization.yaml: it may not be applied"
_UNTAKEN: Final = "no Application takes it in: it may not be applied"


class PlacedObject(Struct, frozen=True, kw_only=True):
    """An object as it is once applied, and the name of the folder of what applies it, or in which it is."""

    resource: Resource
    folder: str


class Tree:
    """All files of the input, and what Kustomize, Flux and Argo CD make of them."""

    def __init__(
        self,
        ground: Ground,
        kustomizations: Mapping[str, Kustomization],
        objects: Sequence[Resource],
        namespace: str = "",
    ) -> None:
        """Put together what was read; kustomizations are given by their folders.

        `namespace` is where objects live if nothing says where, if that is known.
        """
        self._namespace = namespace
        self._ground, self._kustomizations, self._objects = ground, kustomizations, objects
        self._builds = DeclaredBuilds(ground, kustomizations, objects)
        self._chains = Chains(self._builds.all)
        self.clusters = Clusters(ground, self._builds, self._chains)
        self.roles = roles(ground, self._chains)

    @cached_property
    def worlds(self) -> Worlds:
        """The worlds that it is for."""
        from kubectl_policy.sources.tree.worlds import Worlds  # noqa: PLC0415 (few commands tell them apart)

        return Worlds(self._ground, self._chains, self.clusters, self._objects)

    def values(self, objects: Iterable[Resource], sources: Iterable[str]) -> dict[str, Values]:
        """Return the values of variables in files, by the names of these, as far as something fills them in."""
        variables = Variables(self._ground, self._builds, self._chains, self.clusters, objects)
        values_of = {source: variables.of_file(self._ground.absolute_path(source)) for source in sources}
        return {source: values for source, values in values_of.items() if values}

    def is_kustomized(self, path: str) -> bool:
        """Whether Kustomize takes in the file at a place; where Argo CD applies plain folders, it does not."""
        return any(self._builds.is_kustomize(number) for number in self._chains.lists(path))

    def left_out(self) -> Iterator[LeftOut]:
        """Yield the files that hold no objects of their own."""
        for path, role in self.roles.items():
            yield LeftOut(role, Origin(self._ground.source_of(path)))
        for kustomization in self._kustomizations.values():
            for patch in kustomization.patches:
                if not patch.file:
                    yield LeftOut("replacement" if patch.replaces else "patch", patch.origin)
        for delivery in self._builds.deliveries:
            if isinstance(delivery, FluxKustomization):
                for _ in items_at(delivery.additions, "patches"):
                    yield LeftOut("patch", delivery.resource.origin)

    def place(
        self,
        objects: Iterable[Resource],
        cluster_scoped: Collection[GroupKind],
        values_in: Callable[[str], Sequence[Json] | None],
        with_variables: Container[str],
    ) -> tuple[list[PlacedObject], list[Gap]]:
        """Return the objects as they are once applied, one for each way to a cluster, and the gaps of these.

        In files `with_variables`, something was to be filled in.
        """
        changes = UnappliedPatches(self._chains.builds, values_in, self._ground.source_of)
        altered = self._patched_deliveries(changes)
        placed_objects: list[PlacedObject] = []
        gaps: list[Gap] = []
        folders = Results(self._ground.source_of)
        chains_of = Results[str, tuple[Chain, ...]](lambda name: self._chains.of_file(self._ground.absolute_path(name)))
        for resource in objects:
            source = resource.origin.source
            is_namespaced = resource.ref.group_kind not in cluster_scoped
            for chain in chains_of[source]:
                home, folder = self._default_namespace(chain.root), folders[chain.root]
                applied = place_object(resource, chain, self._chains.builds, home, is_namespaced=is_namespaced)
                placed_objects.append(PlacedObject(resource=applied, folder=folder))
                # Several ways are rendered to several objects, of which one is to be chosen.
                if len(chains_of[source]) == 1:
                    remedy = RENDER
                elif chain.builds[-1] in self._builds.applied_by:
                    remedy = self._remedy_for(source)
                else:
                    remedy = f"--offline {folder} {RENDER}"
                gaps += changes.of(resource, chain, applied, remedy)
                for applied_by, patch in (change for number in chain.builds for change in altered.get(number, ())):
                    gaps += gaps_of_patched_delivery(
                        applied, applied_by, patch, remedy, has_variables=source in with_variables
                    )
            if not chains_of[source]:
                path = self._ground.absolute_path(source)
                unlisted, unlisted_gaps = self._place_unlisted(resource, path, is_namespaced=is_namespaced)
                placed_objects.append(unlisted)
                gaps += unlisted_gaps
        return placed_objects, list(dict.fromkeys(gaps))

    def _patched_deliveries(self, changes: UnappliedPatches) -> dict[int, list[tuple[Resource, Patch]]]:
        """Map builds to the Kustomizations of Flux that apply them, with each patch that may change these."""
        altered: dict[int, list[tuple[Resource, Patch]]] = {}
        for number, delivery in self._builds.applied_by.items():
            if isinstance(delivery, FluxKustomization):
                chains = self._chains.of_file(self._ground.absolute_path(delivery.resource.origin.source))
                patches = [patch for chain in chains for patch in changes.patches_on(delivery.resource, chain)]
                if patches:
                    distinct = {id(patch): patch for patch in patches}
                    altered[number] = [(delivery.resource, patch) for patch in distinct.values()]
        return altered

    @cached_method
    def _remedy_for(self, source: str) -> str:
        """Return the remedy for a file that is delivered on several ways: rendering it, for one of its clusters."""
        names = sorted(self.clusters.of(self._ground.absolute_path(source)))
        return " or ".join(f"{RENDER} --cluster {name}" for name in names) if len(names) > 1 else RENDER

    @cached_method
    def _default_namespace(self, folder: str) -> str:
        """Return the namespace of objects that are delivered from a folder, if nothing names one."""
        return self._namespace or unknown_namespace(self._ground.short(folder))

    def _place_unlisted(self, resource: Resource, path: str, *, is_namespaced: bool) -> tuple[PlacedObject, list[Gap]]:
        """Place an object in a file that nothing lists, where the folders around it say at most where it would live."""
        folder = posixpath.dirname(path)
        home, applied = self._home_in(folder), resource
        if home:
            applied = place_object(resource, home, (), self._default_namespace(home.root), is_namespaced=is_namespaced)
        as_written = PlacedObject(resource=applied, folder=posixpath.dirname(resource.origin.source))
        if folder in self._kustomizations:
            return as_written, [gap_of(applied, _UNLISTED, self._kustomizations[folder].origin, remedy="list it there")]
        applied_by = map(self._builds.applied_by.get, self._chains.at(home.root) if home else ())
        leaves_out = next((delivery for delivery in applied_by if isinstance(delivery, Application)), None)
        if leaves_out:
            return as_written, [gap_of(applied, _UNTAKEN, leaves_out.resource.origin, remedy="let it take the file in")]
        return as_written, []

    @cached_method
    def _home_in(self, folder: str) -> Chain | None:
        """Return the way on which a file would be that nothing lists: of the nearest folder around it, if any tells."""
        nearest: Chain | None = None
        for ancestor in (folder, *ancestors(folder)):
            builds = [
                number
                for number in self._chains.at(ancestor)
                if not self._chains.builds[number].kustomization.is_component
            ]
            if builds and nearest is None:
                nearest = Chain(root=ancestor)
            chains = [chain for number in builds for chain in self._chains.through(number)]
            by_namespace = {(chain.namespace or chain.default): chain for chain in chains}
            if len(by_namespace) > 1:
                return nearest
            chain = next(iter(by_namespace.values()), None)
            if nearest and chain and chain.namespace:
                return replace(nearest, namespace=chain.namespace, namespace_from=chain.namespace_from)
            if nearest and chain and chain.default:
                return replace(nearest, default=chain.default, default_from=chain.default_from)
        return nearest

    def _generated_config_maps(self) -> Iterator[tuple[str, list[str]]]:
        """Map the names of generated ConfigMaps to the files that are in them."""
        for kustomization in self._kustomizations.values():
            for generator in mappings_at(kustomization.raw, "configMapGenerator"):
                files = (path.rpartition("=")[2] for path in strings_at(generator, "files"))
                yield text_at(generator, "name"), [within(kustomization.folder, path) for path in files]

    def _gaps_of_releases(self, objects: Sequence[Resource], text_in: Callable[[str], str]) -> Iterator[Gap]:
        """Yield the gaps of HelmReleases."""
        data = {
            config_map_object.ref.name: config_map_object.raw.get("data")
            for config_map_object in objects
            if config_map_object.ref.group_kind == CONFIG_MAP
        }
        files = dict(self._generated_config_maps())

        def values_of(config_map: str) -> list[Json] | None:
            if config_map in files:
                return [text_in(path) for path in files[config_map]]
            return [data[config_map]] if config_map in data else None

        for resource in objects:
            if resource.ref.group_kind == HELM_RELEASE:
                yield from unrendered.gaps_of_release(resource, self._ground, values_of)

    def creators(
        self,
        placed_objects: Iterable[PlacedObject],
        text_in: Callable[[str], str],
        is_file: Callable[[str], bool],
        cluster: str = "",
    ) -> Iterator[Gap]:
        """Yield the gaps of all creators of objects, in one cluster or, without the name of one, in any."""
        yield from self._gaps_of_releases([entry.resource for entry in placed_objects], text_in)
        destinations = {entry.cluster for entry in self._builds.deliveries if isinstance(entry, Application)}
        names = {entry: name_of_cluster(entry) for entry in destinations if "{{" not in entry}
        elsewhere = [entry for entry, name in names.items() if name and name != cluster and cluster in names.values()]
        for delivery in self._builds.deliveries:
            if isinstance(delivery, Application) and delivery.cluster not in elsewhere:
                yield from unrendered.gaps_of_application(delivery, self._ground)
            elif isinstance(delivery, FluxKustomization):
                yield from unrendered.gaps_of_flux(delivery, self._ground)
        for number, build in enumerate(self._chains.builds):
            for chain in self._chains.through(number):
                yield from unrendered.gaps_of_build(build, chain, is_file)
        for folder in charts_of(self._ground):
            yield unrendered.gap_of_chart(folder, self._ground, text_in)


class Values(Struct, frozen=True, kw_only=True):
    """Values of variables; where they are `closed`, every other variable has none."""

    known: Mapping[str, str]
    closed: bool


class Variables:
    """Variables that are filled in, with their values for each file."""

    def __init__(
        self, ground: Ground, builds: DeclaredBuilds, chains: Chains, clusters: Clusters, objects: Iterable[Resource]
    ) -> None:
        """Know the ConfigMaps among the objects of a tree."""
        self._ground, self._builds, self._chains, self._clusters = ground, builds, chains, clusters
        self._config_maps: dict[str, list[Resource]] = {}
        for resource in objects:
            if resource.ref.group_kind == CONFIG_MAP:
                self._config_maps.setdefault(resource.ref.name, []).append(resource)

    def of_file(self, path: str) -> Values | None:
        """Return the values in a file on which all deliveries agree; None if nothing is filled in there."""
        chains = self._chains.of_file(path)
        per_chain = [next(filter(None, map(self._of, chain.builds)), None) for chain in chains]
        values_known = [values for values in per_chain if values]
        if not values_known:
            return None
        if all(values == values_known[0] for values in per_chain):
            return values_known[0]
        same = {
            name: known
            for name, known in values_known[0].known.items()
            if all(values and values.known.get(name) == known for values in per_chain)
        }
        return Values(known=same, closed=False) if same else None

    @cached_method
    def _of(self, number: int) -> Values | None:
        """Return the values that the delivery of a build fills in, if it fills in any."""
        delivery = self._builds.applied_by.get(number)
        if not (isinstance(delivery, FluxKustomization) and delivery.substitutes):
            return None
        known: dict[str, str] = {}
        closed = True
        for reference in delivery.substitute_from:
            data = self._data(reference, delivery)
            # What is not here may give any of them another value.
            if data is None and not reference.optional:
                closed = False
                known.clear()
            known.update(data or {})
        return Values(known={**known, **delivery.substitute}, closed=closed)

    def _data(self, reference: Reference, delivery: FluxKustomization) -> dict[str, str] | None:
        """Return the values in the one ConfigMap for the clusters of a delivery; None if it is not here."""
        if reference.kind != "ConfigMap":
            return None
        clusters = self._clusters.of(self._ground.absolute_path(delivery.resource.origin.source))
        config_maps = [
            config_map
            for config_map in self._config_maps.get(reference.name, ())
            if not clusters
            or not (own_clusters := self._clusters.of(self._ground.absolute_path(config_map.origin.source)))
            or own_clusters & clusters
        ]
        namespaces = {delivery.resource.ref.namespace, ""}
        config_maps = [
            config_map for config_map in config_maps if config_map.ref.namespace in namespaces
        ] or config_maps
        data = [mapping_at(config_map.raw, "data") for config_map in config_maps]
        if not data or any(config_map != data[0] for config_map in data):
            return None
        return {name: config_map for name, config_map in data[0].items() if isinstance(config_map, str)}
