"""Chains of kustomizations from a file to a cluster, and the roles of files that are on none."""

from __future__ import annotations

import posixpath
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.world import grouped
from kubectl_policy.sources.tree.ground import ancestors

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_policy.model import Origin
    from kubectl_policy.sources.tree.ground import Ground
    from kubectl_policy.sources.tree.kustomization import Kustomization

# Nobody applies one base in more ways; where there are more, nothing is concluded from any of them.
MAX_CHAINS: Final = 16

# Stands for a namespace that several ways give, each another one.
AMBIGUOUS: Final = "?"
CHART: Final = "Chart.yaml"
TEMPLATE: Final = "Helm template"
UNUSED: Final = "object of a component that nothing includes"


class DeclaredBuild(Struct, frozen=True, kw_only=True):
    """Folder that is built as Kustomize does it: a kustomization, or what Flux or Argo CD make of it or of a folder."""

    folder: str
    """The folder where it is."""
    kustomization: Kustomization
    default: str = ""
    """The namespace of objects that nothing else gives one."""
    default_from: Origin | None = None
    is_applied: bool = False


class Chain(Struct, frozen=True, kw_only=True):
    """Way from a file to a cluster."""

    root: str
    """The folder at its end."""
    namespace: str = ""
    """The namespace that replaces that of objects."""
    namespace_from: Origin | None = None
    default: str = ""
    """The namespace that is filled in."""
    default_from: Origin | None = None
    names: tuple[tuple[str, str], ...] = ()
    """The prefixes and suffixes of a name after each step."""
    builds: tuple[int, ...] = ()
    """The numbers of the builds on the way, the innermost first."""


class Chains:
    """All ways through a number of builds, each of which names files, folders with builds, and components."""

    def __init__(self, builds: Sequence[DeclaredBuild]) -> None:
        """Find out what includes what; those that are applied by something are not what others include."""
        self.builds = builds
        self._at = {build.folder: number for number, build in enumerate(builds) if not build.is_applied}
        # Where each is taken in: by which build, and as which of its components (-1 for a resource).
        self._parents: list[list[tuple[int, int]]] = [[] for _ in builds]
        self._files: dict[str, list[int]] = {}
        self._applied_at = grouped((build.folder, number) for number, build in enumerate(builds) if build.is_applied)
        for number, build in enumerate(builds):
            for path in build.kustomization.resources:
                inner = self._at.get(path)
                if inner is None:
                    self._files.setdefault(path, []).append(number)
                else:
                    self._parents[inner].append((number, -1))
            for position, path in enumerate(build.kustomization.components):
                inner = self._at.get(path)
                if inner is not None:
                    self._parents[inner].append((number, position))
        self.roots = [
            number
            for number, build in enumerate(builds)
            if build.is_applied
            or not (self._parents[number] or build.folder in self._applied_at or build.kustomization.is_component)
        ]
        self._outer_chains: list[tuple[Chain, ...]] = [()] * len(builds)
        self._follow()

    def of_file(self, path: str) -> tuple[Chain, ...]:
        """Return the ways on which a file is delivered; none if nothing lists it."""
        return _limit(chain for number in self._files.get(path, ()) for chain in self.through(number))

    def lists(self, path: str) -> Sequence[int]:
        """Return the builds that list a file itself."""
        return self._files.get(path, ())

    @cached_method
    def through(self, number: int) -> tuple[Chain, ...]:
        """Return the ways on from the resources of a build."""
        return tuple(self._extend(outer, number, 0) for outer in self._outer_chains[number])

    def at(self, path: str) -> tuple[int, ...]:
        """Return the builds of a folder: as something applies it, else as it is."""
        return self._applied_at.get(path) or self.all_at(path)

    def all_at(self, path: str) -> tuple[int, ...]:
        """Return the builds of a folder, however they are applied."""
        number = self._at.get(path)
        return (*self._applied_at.get(path, ()), *([] if number is None else [number]))

    def is_included(self, number: int) -> bool:
        """Whether a build is part of what is applied."""
        return bool(self._outer_chains[number])

    def _follow(self) -> None:
        """Find the ways from every build, beginning with those that nothing takes in; circles lead nowhere."""
        parents_of = {number: [parent for parent, _ in parents] for number, parents in enumerate(self._parents)}
        sorter = TopologicalSorter(parents_of)
        with suppress(CycleError):
            sorter.prepare()
        roots = set(self.roots)
        while ready := sorter.get_ready():
            for number in ready:
                chains = [Chain(root=self.builds[number].folder)] if number in roots else []
                for parent, position in self._parents[number]:
                    chains += [self._extend(outer, parent, position + 1) for outer in self._outer_chains[parent]]
                self._outer_chains[number] = _limit(chains)
            sorter.done(*ready)

    def _extend(self, outer: Chain, number: int, first_component: int) -> Chain:
        """Put a build, and before it its components from a number on, before another way."""
        chain = outer
        for inner in reversed(self._steps(number, first_component)):
            chain = self._prepend(chain, inner)
        return chain

    def _steps(self, number: int, first_component: int) -> list[int]:
        """List the steps of a build, in their order: its components, and then itself."""
        steps: list[int] = []
        for path in self.builds[number].kustomization.components[first_component:]:
            component = self._at.get(path)
            if component is not None:
                # Components of components count as well; deeper ones nobody writes.
                nested = self.builds[component].kustomization.components
                steps += [self._at[folder] for folder in nested if folder in self._at]
                steps.append(component)
        return [*steps, number]

    def _prepend(self, chain: Chain, number: int) -> Chain:
        """Put one more step at the beginning of a way."""
        build = self.builds[number]
        kustomization = build.kustomization
        # What is further out has been put around what is done here.
        names = [(kustomization.name_prefix, kustomization.name_suffix)]
        names += [
            (prefix + kustomization.name_prefix, kustomization.name_suffix + suffix) for prefix, suffix in chain.names
        ]
        sets_namespace = bool(kustomization.namespace) and not chain.namespace
        sets_default = bool(build.default) and not chain.default
        return replace(
            chain,
            namespace=kustomization.namespace if sets_namespace else chain.namespace,
            namespace_from=(kustomization.namespace_from or kustomization.origin)
            if sets_namespace
            else chain.namespace_from,
            default=build.default if sets_default else chain.default,
            default_from=build.default_from if sets_default else chain.default_from,
            names=tuple(names),
            builds=(number, *chain.builds),
        )


def _limit(chains: Iterable[Chain]) -> tuple[Chain, ...]:
    """Return ways without duplicates; of too many, one that stands for all of them and of which nothing is known."""
    distinct = tuple(dict.fromkeys(chains))
    if len(distinct) <= MAX_CHAINS:
        return distinct
    builds = tuple(dict.fromkeys(number for chain in distinct for number in chain.builds))
    namespaces = {chain.namespace for chain in distinct}
    names = {chain.names[-1:] for chain in distinct}
    first = distinct[0]
    return (
        Chain(
            root=first.root,
            namespace=first.namespace if len(namespaces) == 1 else AMBIGUOUS,
            namespace_from=first.namespace_from if len(namespaces) == 1 else None,
            names=first.names[-1:] if len(names) == 1 else (("{namePrefix}", "{nameSuffix}"),),
            builds=builds,
        ),
    )


def roles(ground: Ground, chains: Chains) -> dict[str, str]:
    """Return the roles of files by their paths; a file that is listed as a resource somewhere is an object."""
    serving: dict[str, str] = {}
    unused: set[str] = set()
    for number, build in enumerate(chains.builds):
        serving.update(build.kustomization.serving)
        if not chains.is_included(number):
            unused.update(build.kustomization.resources if build.kustomization.is_component else ())
    charts = {posixpath.dirname(path) for path in ground.sources if posixpath.basename(path) == CHART}
    roles_of: dict[str, str] = {}
    for path in ground.sources:
        ancestors_of_path = [path, *ancestors(path)]
        delivered = any(chains.is_included(number) for number in chains.lists(path))
        role = next((serving[folder] for folder in ancestors_of_path if folder in serving), "")
        chart = next((folder for folder in ancestors_of_path if folder in charts), None)
        if chart is not None:
            role = _in_chart(posixpath.relpath(path, chart)) or role
        if not role and path in unused:
            role = UNUSED
        if role and not delivered:
            roles_of[path] = role
    return roles_of


def charts_of(ground: Ground) -> list[str]:
    """Return the folders of Helm charts that are not in other charts."""
    charts = {posixpath.dirname(path) for path in ground.sources if posixpath.basename(path) == CHART}
    return sorted(chart for chart in charts if not charts.intersection(ancestors(chart)))


def _in_chart(path: str) -> str:
    """Return the role of a file in a chart; empty for no part of it, and for definitions, which Helm applies."""
    first = path.partition("/")[0]
    if first in {"templates", "charts"}:
        return TEMPLATE
    return "Helm values" if (path == first and first.startswith("values")) or first == "ci" else ""
