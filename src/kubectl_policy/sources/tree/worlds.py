"""Worlds that a tree is for: its clusters, and folders of which a cluster gets one, such as overlays of one base."""

from __future__ import annotations

import posixpath
from collections import Counter
from functools import cached_property
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Final, TypeVar

from msgspec import Struct

from kubectl_policy.lazy import cached_method
from kubectl_policy.model import Gap, ObjectRef, Origin
from kubectl_policy.model.kind_roles import NAMESPACE
from kubectl_policy.model.kinds import CRD
from kubectl_policy.model.world import grouped
from kubectl_policy.sources.mentions import mentions_of
from kubectl_policy.sources.tree.clusters import shortest_ends

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from kubectl_policy.model import Resource
    from kubectl_policy.sources.tree.chains import Chain, Chains
    from kubectl_policy.sources.tree.clusters import Clusters
    from kubectl_policy.sources.tree.ground import Ground

Made = TypeVar("Made", str, ObjectRef)

# What something delivers, as opposed to an overlay beside it that nothing does.
DELIVERED: Final = "delivered"
# To compare each of more folders with each takes long.
_MAX_COMPARED: Final = 100
# What many bring along that have nothing else in common.
_COMMON: Final = frozenset({NAMESPACE, CRD})
# Nobody wants to see more worlds one by one, and all that is in each of them is kept.
MAX_WORLDS: Final = 200
# Of so many folders, a message names no more.
_MAX_NAMED: Final = 3


class Worlds:
    """The worlds that a tree is for, by name, with the files that are for each."""

    def __init__(self, ground: Ground, chains: Chains, clusters: Clusters, objects: Sequence[Resource]) -> None:
        """Find the worlds of a tree."""
        self._ground, self._clusters, self._objects = ground, clusters, objects
        self._alternatives = Alternatives(ground, chains, clusters, objects)
        self.names = sorted({*clusters.names, *self._alternatives.names})

    @property
    def are_too_many(self) -> bool:
        """Whether there are more than anybody wants to see one by one."""
        return len(self.names) > MAX_WORLDS

    def sources_for_others(self, name: str) -> frozenset[str]:
        """Return the names of the files that are for other worlds only."""
        return frozenset(source for source, claimed in self._claims.items() if claimed and name not in claimed)

    def unknown_in(self, name: str) -> Iterator[Gap]:
        """Return the gaps of alternatives in a world whose name none of them has: any of them may be in it."""
        for worlds, groups in self._by_worlds.items():
            if name not in worlds:
                folders = [self._ground.short(folder) or "." for group in groups for folder in group.folders]
                and_more = f" and {len(folders) - _MAX_NAMED} more" if folders[_MAX_NAMED:] else ""
                yield Gap(
                    kind="",
                    namespace="",
                    reason=f"of {', '.join(folders[:_MAX_NAMED])}{and_more}, nothing says what is for {name}",
                    origin=Origin(self._ground.source_of(groups[0].folders[0])),
                    mentions=self._mentioned(worlds),
                )

    @cached_property
    def _by_worlds(self) -> Mapping[frozenset[str], Sequence[Group]]:
        """The alternatives for the same worlds, together."""
        return grouped((group.worlds, group) for group in self._alternatives.groups)

    @cached_method
    def _mentioned(self, worlds: frozenset[str]) -> frozenset[str] | None:
        """Return the names in the files of the alternatives for some worlds; None if they may mention anything."""
        files = frozenset(path for group in self._by_worlds[worlds] for path in group.files)
        located = ((resource, self._ground.absolute_path(resource.origin.source)) for resource in self._objects)
        return mentions_of(None, [dict(resource.raw) for resource, path in located if path in files])

    @cached_property
    def _claims(self) -> Mapping[str, frozenset[str]]:
        """The worlds that each file is for; none of one that is for all."""
        return {
            source: self._clusters.of(path) | self._alternatives.of(path)
            for path, source in self._ground.sources.items()
        }


class Group(Struct, frozen=True, kw_only=True):
    """Folders of which a cluster gets one: their places, the files that they take in, and the worlds that have one."""

    folders: tuple[str, ...]
    files: frozenset[str]
    worlds: frozenset[str]


class Alternatives:
    """Kustomizations that nothing takes in, and that mostly make the same objects, or make them from the same files.

    They are told apart by the shortest part of their paths that does it, which those of several applications may have
    in common. What is delivered is there together: of that, only the clusters tell.
    """

    def __init__(self, ground: Ground, chains: Chains, clusters: Clusters, objects: Sequence[Resource]) -> None:
        """Compare what the roots of a tree make of the objects in its files."""
        self._ground, self._chains, self._clusters = ground, chains, clusters
        self._roots = frozenset(chains.roots)
        self._names: dict[int, str] = {}
        self.groups = self._group_roots(objects)
        self.names = sorted({*self._names.values()})

    def of(self, path: str) -> frozenset[str]:
        """Return the names of the alternatives that a file is part of; none if it is part of anything else."""
        roots = self._roots & self._clusters.builds_of(path)
        unclaimed = {root for root in roots if not self._clusters.of_build(root)}
        return frozenset(self._names[root] for root in unclaimed) if unclaimed <= self._names.keys() else frozenset()

    def _group_roots(self, objects: Sequence[Resource]) -> list[Group]:
        """Find the groups, and name the roots in them of which no cluster tells."""
        files, made_by = self._objects_by_root(objects)
        groups: list[Group] = []
        for roots, similar_pairs in _connected({*self._similar_roots(files), *self._similar_roots(made_by)}):
            names = self._distinct_names(roots, similar_pairs)
            worlds: set[str] = set()
            for root in roots:
                clusters = self._clusters.of_build(root)
                worlds.update(clusters)
                if not clusters:
                    self._names[root] = DELIVERED if self._is_delivered(root) else names[root]
                    worlds.add(self._names[root])
            folders = tuple(sorted({self._chains.builds[root].folder for root in roots}))
            taken_in = frozenset(path for root in roots for path in files[root])
            groups.append(Group(folders=folders, files=taken_in, worlds=frozenset(worlds)))
        return groups

    def _is_delivered(self, root: int) -> bool:
        return self._chains.builds[root].is_applied

    def _objects_by_root(
        self, objects: Sequence[Resource]
    ) -> tuple[dict[int, Counter[str]], dict[int, Counter[ObjectRef]]]:
        """Count the objects that each root makes of each file, and collect their names."""
        files: dict[int, Counter[str]] = {}
        objects_of: dict[int, Counter[ObjectRef]] = {}
        chains_of: dict[str, list[tuple[Chain, frozenset[int]]]] = {}
        for resource in objects:
            if resource.ref.group_kind in _COMMON:
                continue
            path = self._ground.absolute_path(resource.origin.source)
            if path not in chains_of:
                chains = self._chains.of_file(path)
                chains_of[path] = [(chain, self._roots.intersection(chain.builds)) for chain in chains]
            for chain, roots in chains_of[path]:
                for root in roots:
                    files.setdefault(root, Counter())[path] += 1
                    # Of a way that stands for several, it is not known what it makes.
                    if len(roots) == 1:
                        objects_of.setdefault(root, Counter())[_ref_on_chain(chain, resource)] = 1
        return files, objects_of

    def _similar_roots(self, made_by: Mapping[int, Counter[Made]]) -> Iterator[tuple[int, int]]:
        """Return pairs of roots of which one shares more than half of its objects with the other."""
        makers = grouped((ref, root) for root, objects in made_by.items() for ref in objects)
        # What the same roots make is counted together.
        together: Counter[tuple[int, ...]] = Counter()
        for ref, roots in makers.items():
            if len(roots) > 1:
                together[tuple(sorted(roots))] += made_by[roots[0]][ref]
        shared: Counter[tuple[int, int]] = Counter()
        for sharing_roots, number in together.items():
            # Of too many, it is enough to know that they belong together.
            for pair in (
                combinations(sharing_roots, 2) if len(sharing_roots) <= _MAX_COMPARED else pairwise(sharing_roots)
            ):
                shared[pair] += number
        for (first, second), number in shared.items():
            least = min(made_by[first].total(), made_by[second].total())
            if 2 * number > least and not (self._is_delivered(first) and self._is_delivered(second)):
                yield first, second

    def _distinct_names(self, group: Collection[int], similar_pairs: Collection[tuple[int, int]]) -> Mapping[int, str]:
        """Return the part of its path that tells each root of a group from those that are like it."""
        folders = {root: self._chains.builds[root].folder for root in group}
        paths = {root: self._path(folder).split("/") for root, folder in folders.items()}
        for position in range(1, min(map(len, paths.values())) + 1):
            if all(paths[first][-position] != paths[second][-position] for first, second in similar_pairs):
                return {root: path[-position] for root, path in paths.items()}
        ends = shortest_ends(self._path, folders.values())
        return {root: ends[folder] for root, folder in folders.items()}

    def _path(self, folder: str) -> str:
        return self._ground.short(folder) or posixpath.basename(folder) or "."


def _ref_on_chain(chain: Chain, resource: Resource) -> ObjectRef:
    """Return the name of an object after one way to a cluster."""
    ref = resource.ref
    prefix, suffix = chain.names[-1] if chain.names else ("", "")
    return ObjectRef(ref.group_kind, chain.namespace or ref.namespace or chain.default, f"{prefix}{ref.name}{suffix}")


def _connected(pairs: Collection[tuple[int, int]]) -> list[tuple[list[int], Sequence[tuple[int, int]]]]:
    """Group indices that pairs connect, sorted, with the pairs of each group."""
    groups: dict[int, set[int]] = {}
    for start, second in pairs:
        small, large = sorted((groups.setdefault(start, {start}), groups.setdefault(second, {second})), key=len)
        if small is not large:
            large |= small
            groups.update(dict.fromkeys(small, large))
    pairs_of = grouped((min(groups[start]), (start, second)) for start, second in pairs)
    return [(sorted(groups[first]), similar_pairs) for first, similar_pairs in sorted(pairs_of.items())]
