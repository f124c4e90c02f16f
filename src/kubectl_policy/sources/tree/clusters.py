"""The clusters that a tree is for, as far as the roots of Flux or the destinations of Argo CD tell them apart."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.world import grouped
from kubectl_policy.sources.tree import unknown_cluster
from kubectl_policy.sources.tree.delivery import Application, FluxKustomization
from kubectl_policy.sources.tree.ground import ancestors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kubectl_policy.sources.tree.builds import DeclaredBuilds
    from kubectl_policy.sources.tree.chains import Chains
    from kubectl_policy.sources.tree.ground import Ground

_FLUX_SYSTEM: Final = "flux-system"
_CLUSTERS: Final = frozenset({"cluster", "clusters"})
_IN_CLUSTER: Final = "https://kubernetes.default.svc"


class Clusters:
    """The clusters that a tree is for, by name, with the files that are meant for each."""

    def __init__(self, ground: Ground, builds: DeclaredBuilds, chains: Chains) -> None:
        """Find the clusters; where there is but one, everything is meant for it."""
        self._ground, self._chains = ground, chains
        self._serving = grouped(
            (path, number) for number, build in enumerate(chains.builds) for path in build.kustomization.serving
        )
        self._of_build: dict[int, set[str]] = {}
        self._folders: Mapping[str, str] = {}
        self._follow_flux(builds)
        self._follow_argo(builds)
        self.names = sorted({*self._folders.values(), *(name for names in self._of_build.values() for name in names)})

    def of(self, path: str) -> frozenset[str]:
        """Return the clusters that a file is meant for; none if no cluster claims it."""
        names = {name for number in self.builds_of(path) for name in self._of_build.get(number, ())}
        names.update(self._folders[folder] for folder in ancestors(path) if folder in self._folders)
        return frozenset(names)

    def sources_for_others(self, name: str) -> frozenset[str]:
        """Return the names of files that are for other clusters only. Raises UsageError for an unknown cluster."""
        if name not in self.names:
            raise unknown_cluster(name, self.names)
        claims = {source: self.of(path) for path, source in self._ground.sources.items()}
        return frozenset(source for source, claimed in claims.items() if claimed and name not in claimed)

    def of_build(self, number: int) -> frozenset[str]:
        """Return the clusters that a build is delivered to, as far as any claims it."""
        return frozenset(self._of_build.get(number, ()))

    def builds_of(self, path: str) -> set[int]:
        """Return the builds that a file takes part in; for one that nothing lists, those it serves or lies beside."""
        chains = self._chains.of_file(path)
        if not chains:
            ancestors_of_path = [path, *ancestors(path)]
            serving = next((self._serving[folder] for folder in ancestors_of_path if folder in self._serving), ())
            nearest = next((builds for folder in ancestors_of_path if (builds := self._chains.all_at(folder))), ())
            chains = tuple(chain for number in serving or nearest for chain in self._chains.through(number))
        return {number for chain in chains for number in chain.builds}

    def _follow_flux(self, builds: DeclaredBuilds) -> None:
        """Follow the Kustomizations of Flux from those that nothing else applies, each of which is of one cluster."""
        paths = {
            number: self._ground.absolute_path(delivery.resource.origin.source)
            for number, delivery in builds.applied_by.items()
            if isinstance(delivery, FluxKustomization)
        }
        applied_by = {number: self.builds_of(path) & paths.keys() for number, path in paths.items()}
        folders: dict[int, str] = {}
        for number, parents in applied_by.items():
            if parents <= {number}:
                folder = posixpath.dirname(paths[number]).removesuffix(f"/{_FLUX_SYSTEM}")
                if number in parents:
                    folder = self._chains.builds[number].folder
                elif posixpath.basename(posixpath.dirname(folder)) not in _CLUSTERS:
                    continue
                folders[number] = folder
        inner = grouped((parent, number) for number, parents in applied_by.items() for parent in parents)
        self._folders = shortest_ends(self._ground.short, folders.values())
        for root, folder in folders.items():
            unvisited, name = [root], self._folders[folder]
            while unvisited:
                number = unvisited.pop()
                if name not in self._of_build.setdefault(number, set()):
                    self._of_build[number].add(name)
                    unvisited += inner.get(number, ())

    def _follow_argo(self, builds: DeclaredBuilds) -> None:
        """Take what Applications deploy for where they deploy it to, if that is not one cluster for all of them."""
        destinations = {
            number: application.cluster
            for number, application in builds.applied_by.items()
            if isinstance(application, Application) and application.cluster and "{{" not in application.cluster
        }
        if len({*destinations.values()}) > 1:
            for number, destination in destinations.items():
                self._of_build.setdefault(number, set()).add(name_of_cluster(destination))


def name_of_cluster(destination: str) -> str:
    """Return the name of a destination of Argo CD, or the host of its address."""
    if destination == _IN_CLUSTER:
        return "in-cluster"
    return destination.rpartition("://")[2].partition("/")[0].partition(":")[0] if "://" in destination else destination


def shortest_ends(short: Callable[[str], str], folders: Iterable[str]) -> dict[str, str]:
    """Map folders to the shortest ends of their paths that tell them apart."""
    paths = {folder: short(folder).split("/") for folder in dict.fromkeys(folders)}
    for length in range(1, max(map(len, paths.values()), default=0) + 1):
        ends = {folder: "/".join(parts[-length:]) for folder, parts in paths.items()}
        if len(set(ends.values())) == len(ends):
            return ends
    return {folder: folder for folder in paths}
