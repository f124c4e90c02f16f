"""The worlds that a tree is for: its clusters, and the alternatives in it of which each is for another cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import Gap, Origin
from kubectl_policy.model.index import grouped
from kubectl_policy.model.values import cached_property
from kubectl_policy.sources.outline import mentions_of
from kubectl_policy.sources.tree.alternatives import Alternatives

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.model import Resource
    from kubectl_policy.sources.tree.alternatives import Group
    from kubectl_policy.sources.tree.chains import Chains
    from kubectl_policy.sources.tree.clusters import Clusters
    from kubectl_policy.sources.tree.ground import Ground

# Nobody wants to see more worlds one by one, and all that is in each of them is kept.
MOST: Final = 200
# Of so many folders, a message names no more.
_MOST_NAMED: Final = 3


class Worlds:
    """The worlds that a tree is for, by name, with the files that are for each."""

    def __init__(self, ground: Ground, chains: Chains, clusters: Clusters, objects: Sequence[Resource]) -> None:
        """Find the worlds of a tree."""
        self._ground, self._clusters, self._objects = ground, clusters, objects
        self._words: dict[frozenset[str], frozenset[str] | None] = {}
        self._alternatives = Alternatives(ground, chains, clusters, objects)
        self.names = sorted({*clusters.names, *self._alternatives.names})

    @property
    def are_too_many(self) -> bool:
        """Whether there are more than anybody wants to see one by one."""
        return len(self.names) > MOST

    def others_than(self, name: str) -> frozenset[str]:
        """Return the names of the files that are for other worlds only."""
        return frozenset(source for source, claimed in self._claims.items() if claimed and name not in claimed)

    def unknown_in(self, name: str) -> Iterator[Gap]:
        """Return the gaps of alternatives in a world whose name none of them has: any of them may be in it."""
        for worlds, groups in self._by_worlds.items():
            if name not in worlds:
                folders = [self._ground.short(folder) or "." for group in groups for folder in group.folders]
                and_more = f" and {len(folders) - _MOST_NAMED} more" if folders[_MOST_NAMED:] else ""
                yield Gap(
                    kind="",
                    namespace="",
                    reason=f"of {', '.join(folders[:_MOST_NAMED])}{and_more}, nothing says what is for {name}",
                    origin=Origin(self._ground.source_of(groups[0].folders[0])),
                    mentions=self._mentioned(worlds),
                )

    @cached_property
    def _by_worlds(self) -> Mapping[frozenset[str], Sequence[Group]]:
        """The alternatives for the same worlds, together."""
        return grouped((group.worlds, group) for group in self._alternatives.groups)

    def _mentioned(self, worlds: frozenset[str]) -> frozenset[str] | None:
        """Return the names in the files of the alternatives for some worlds; None if they may mention anything."""
        if worlds not in self._words:
            files = frozenset(path for group in self._by_worlds[worlds] for path in group.files)
            raws = [
                dict(resource.raw)
                for resource in self._objects
                if self._ground.place_of(resource.origin.source) in files
            ]
            self._words[worlds] = mentions_of(None, [*raws])
        return self._words[worlds]

    @cached_property
    def _claims(self) -> Mapping[str, frozenset[str]]:
        """The worlds that each file is for; none of one that is for all."""
        return {
            source: self._clusters.of(path) | self._alternatives.of(path)
            for path, source in self._ground.sources.items()
        }
