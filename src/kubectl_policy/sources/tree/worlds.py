"""Worlds that a tree is for: its clusters, and folders of which a cluster gets one, such as overlays of one base."""

from __future__ import annotations

import posixpath
from collections import Counter
from functools import cached_property
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Final, TypeVar

from msgspec import Struct

from kubectl_policy.model import Gap, ObjectRef, Origin
from kubectl_policy.model.kind_roles import NAMESPACE
from kubectl_policy.model.kinds import CRD
from kubectl_policy.model.world import grouped, grouped_by
from kubectl_policy.sources.mentions import mentions_of
from kubectl_policy.sources.tree import KUSTOMIZATION
from kubectl_policy.sources.tree.repository import ancestors
from kubectl_policy.sources.tree.work import destination_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.sources.tree.repository import Repository
    from kubectl_policy.sources.tree.tops import Top
    from kubectl_policy.sources.tree.work import Applied

Key = TypeVar("Key", str, ObjectRef)

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
_FLUX_SYSTEM: Final = "flux-system"
_CLUSTERS: Final = frozenset({"cluster", "clusters"})
_IN_CLUSTER: Final = "https://kubernetes.default.svc"


class Group(Struct, frozen=True, kw_only=True):
    """Tops of which a cluster gets one: their folders, the names in their objects, and the worlds that have one."""

    folders: tuple[str, ...]
    mentions: frozenset[str] | None
    worlds: frozenset[str]


class Worlds:
    """The worlds that a tree is for, by name, with the tops that are for each."""

    def __init__(self, repository: Repository, tops: Sequence[Top], applied: Sequence[Applied]) -> None:
        """Tell clusters apart by what tops come to, and then the alternatives among what no cluster claims."""
        self._repository, self._tops = repository, tops
        by_top = grouped_by(applied, lambda entry: entry.root.top)
        self._applied = [by_top.get(top.file, []) for top in tops]
        self._numbers = {top.file: number for number, top in enumerate(tops)}
        # By the number of a top, the worlds that it is for; none if it is for all.
        self._worlds: dict[int, set[str]] = {}
        self.folders = self._cluster_folders()
        self.destinations = self._argo_destinations()
        self.clusters = sorted({*self.folders.values(), *self.destinations.values()})

    @cached_property
    def names(self) -> list[str]:
        """The names of all worlds."""
        alternatives = {name for group in self._groups for name in group.worlds}
        return sorted({*self.clusters, *alternatives})

    @property
    def are_too_many(self) -> bool:
        """Whether there are more than anybody wants to see one by one."""
        return len(self.names) > MAX_WORLDS

    def tops_of(self, name: str) -> list[Top]:
        """Return the tops for a world, and for all worlds."""
        return [top for top in self._tops if name in (self.worlds_of(top.file) or {name})]

    def worlds_of(self, top: str) -> frozenset[str]:
        """Return the worlds that the top in a file is for; none if it is for all."""
        # Alternatives are told apart before it is known which of them a top is.
        return frozenset(self._worlds.get(self._numbers[top], ()) if self._groups or self._worlds else ())

    def clusters_of(self, path: str) -> frozenset[str]:
        """Return the clusters in whose folder a file is."""
        return frozenset(self.folders[folder] for folder in ancestors(path) if folder in self.folders)

    def unknown_in(self, name: str) -> Iterator[Gap]:
        """Return the gaps of alternatives in a world whose name none of them has: any of them may be in it."""
        for worlds, groups in grouped((group.worlds, group) for group in self._groups).items():
            if name not in worlds:
                folders = [self._repository.short(folder) or "." for group in groups for folder in group.folders]
                and_more = f" and {len(folders) - _MAX_NAMED} more" if folders[_MAX_NAMED:] else ""
                known = [group.mentions for group in groups]
                yield Gap(
                    kind="",
                    namespace="",
                    reason=f"of {', '.join(folders[:_MAX_NAMED])}{and_more}, nothing says what is for {name}",
                    origin=Origin(self._repository.source_of(groups[0].folders[0])),
                    mentions=None if None in known else frozenset[str]().union(*filter(None, known)),
                )

    def _cluster_folders(self) -> Mapping[str, str]:
        """Name the folders of clusters of Flux: those that apply themselves, are called so, or exclude each other."""
        folders: dict[int, str] = {}
        certain: set[int] = set()
        for number, top in enumerate(self._tops):
            if not top.has_flux:
                continue
            folder = posixpath.dirname(top.file).removesuffix(f"/{_FLUX_SYSTEM}")
            folders[number] = top.roots[0].folder if top.applies_itself else folder
            if top.applies_itself or posixpath.basename(posixpath.dirname(folder)) in _CLUSTERS:
                certain.add(number)
        declared = {
            number: {
                entry.resource.ref for entry in self._applied[number] if entry.resource.ref.group_kind == KUSTOMIZATION
            }
            for number in folders
        }
        for first, second in combinations(folders, 2) if len(folders) <= _MAX_COMPARED else ():
            if folders[first] != folders[second] and declared[first] & declared[second]:
                certain |= {first, second}
        names = shortest_ends(self._repository.short, (folders[number] for number in certain))
        for number in certain:
            self._worlds[number] = {names[folders[number]]}
        return names

    def _argo_destinations(self) -> Mapping[str, str]:
        """Name what Applications deploy to, if that is not one cluster for all of them."""
        destinations = {destination_of(entry.root) for applied in self._applied for entry in applied} - {""}
        return {name: name_of_cluster(name) for name in destinations} if len(destinations) > 1 else {}

    @cached_property
    def _groups(self) -> list[Group]:
        """The alternatives: tops that mostly make the same objects, or make them from the same files.

        They are told apart by the shortest part of their paths that does it, which those of several applications may
        have in common. What is delivered is there together: of that, only the clusters tell.
        """
        groups: list[Group] = []
        files = self._count(lambda entry: entry.resource.origin.source)
        refs = self._count(lambda entry: entry.resource.ref)
        pairs = {*self._similar_tops(files), *self._similar_tops(refs)}
        for numbers, similar_pairs in _connected(pairs):
            names = self._distinct_names(numbers, similar_pairs)
            for number in numbers:
                if number not in self._worlds:
                    self._worlds[number] = {DELIVERED if self._tops[number].is_delivery else names[number]}
            objects: list[object] = [dict(entry.resource.raw) for number in numbers for entry in self._applied[number]]
            groups.append(
                Group(
                    folders=tuple(sorted({self._folder(number) for number in numbers})),
                    mentions=mentions_of(None, objects),  # type: ignore[arg-type] # (a list of objects)
                    worlds=frozenset(name for number in numbers for name in self._worlds[number]),
                )
            )
        return groups

    def _folder(self, number: int) -> str:
        return self._tops[number].roots[0].folder

    def _count(self, key: Callable[[Applied], Key]) -> dict[int, Counter[Key]]:
        """Count the objects of tops by something that tops may have in common."""
        return {
            number: Counter(key(entry) for entry in applied if entry.resource.ref.group_kind not in _COMMON)
            for number, applied in enumerate(self._applied)
        }

    def _similar_tops(self, made_by: Mapping[int, Counter[Key]]) -> Iterator[tuple[int, int]]:
        """Return pairs of tops of which one shares more than half of its objects with the other."""
        makers = grouped((key, number) for number, objects in made_by.items() for key in objects)
        # What the same tops make is counted together.
        together: Counter[tuple[int, ...]] = Counter()
        for key, numbers in makers.items():
            if len(numbers) > 1:
                together[tuple(sorted(numbers))] += made_by[numbers[0]][key]
        shared: Counter[tuple[int, int]] = Counter()
        for sharing, count in together.items():
            # Of too many, it is enough to know that they belong together.
            for pair in combinations(sharing, 2) if len(sharing) <= _MAX_COMPARED else pairwise(sharing):
                shared[pair] += count
        for (first, second), count in shared.items():
            least = min(made_by[first].total(), made_by[second].total())
            if 2 * count > least and not (self._tops[first].is_delivery and self._tops[second].is_delivery):
                yield first, second

    def _distinct_names(self, group: Collection[int], similar_pairs: Collection[tuple[int, int]]) -> Mapping[int, str]:
        """Return the part of its path that tells each top of a group from those that are like it."""
        folders = {number: self._folder(number) for number in group}
        paths = {number: self._path(folder).split("/") for number, folder in folders.items()}
        for position in range(1, min(map(len, paths.values())) + 1):
            if all(paths[first][-position] != paths[second][-position] for first, second in similar_pairs):
                return {number: path[-position] for number, path in paths.items()}
        ends = shortest_ends(self._path, folders.values())
        return {number: ends[folder] for number, folder in folders.items()}

    def _path(self, folder: str) -> str:
        return self._repository.short(folder) or posixpath.basename(folder) or "."


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
