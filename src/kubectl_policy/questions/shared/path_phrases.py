"""The paths of an answer: their numbers, and the shortest phrase for some of them: `listener https only`."""

from __future__ import annotations

from collections import Counter
from functools import cached_property, lru_cache
from itertools import chain, combinations, groupby
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from msgspec import Meta, Struct

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.kind_roles import GATEWAY_CLASS, NAMESPACE, PORT_HOLDERS, section_noun
from kubectl_policy.model.kinds import listed, plural
from kubectl_policy.model.world import grouped_by
from kubectl_policy.topology.references import section_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
    from kubectl_policy.topology import Path

_MAX_NAMED_NODES: Final = 2
PathNumber: TypeAlias = Annotated[int, Meta(ge=1)]


class NumberedPath(Struct, frozen=True):
    """A path with its number; other members refer to paths by number."""

    number: Annotated[int, Meta(description="The number of the path, from 1.", ge=1)]
    nodes: Annotated[Path, Meta(description="The nodes of the path, least specific first, including Namespaces.")]


def numbered(paths: Iterable[Path]) -> tuple[NumberedPath, ...]:
    """Return paths with their numbers."""
    return tuple(NumberedPath(number, path) for number, path in enumerate(paths, 1))


def numbers(positions: Iterable[int]) -> tuple[PathNumber, ...]:
    """Return the numbers of the paths at some positions."""
    return tuple(position + 1 for position in positions)


class Phrase(Struct, frozen=True):
    """A phrase for some of the paths."""

    text: str
    numbered: bool = False
    """Whether it names them by their numbers, which have to be shown then."""


class _PartialNode(Struct, frozen=True, kw_only=True):
    """A node that is on some of the paths only."""

    number: int
    phrase: str
    rank: int
    """Of nodes on the same paths, the lowest says best which paths these are."""
    sort: tuple[GroupKind, bool]
    on: frozenset[int]


class PathPhrases:
    """Says which of the paths of one answer are meant; what tells these paths apart is looked up once."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """Remember the paths; nothing is looked up until somebody asks for some of them."""
        self._paths = paths

    def phrase(self, positions: Collection[int]) -> Phrase:
        """The phrase for the paths at some positions; empty where there is one path only.

        `both paths`, `all 4 paths`, `listener https only`, `listeners http and https only`, `3 of 4 listeners`,
        `listener https with rule api only`, `listener https but not rule api`, `all but rule api`, or, if nothing tells
        these paths from the others, `paths 1, 3`.
        """
        number = len(self._paths)
        if number <= 1:
            return Phrase("")
        if not positions:
            return Phrase("no path")
        chosen = frozenset(positions)
        if len(chosen) == number:
            return Phrase("both paths" if number == 2 else f"all {number} paths")  # noqa: PLR2004 (a pair is "both")
        return self._of_part(chosen)

    @cached_method
    def _of_part(self, chosen: frozenset[int]) -> Phrase:
        name = self._best.get(chosen) or self._by_several(chosen) or self._by_two(chosen)
        if name:
            return Phrase(name if name[0].isdigit() or " but not " in name else f"{name} only")
        remaining = frozenset(range(len(self._paths))) - chosen
        left_out = self._best.get(remaining) or self._by_several(remaining)
        return Phrase(f"all but {left_out}") if left_out else Phrase(_by_number(sorted(chosen)), numbered=True)

    def words(self, positions: Collection[int]) -> str:
        """The text of the phrase for the paths at some positions."""
        return self.phrase(positions).text

    @cached_property
    def _partial(self) -> Mapping[NodeRef, _PartialNode]:
        """The nodes that are on some of the paths only, nearest to the root first."""
        on: dict[NodeRef, set[int]] = {}
        depths: dict[NodeRef, int] = {}
        for position, path in enumerate(self._paths):
            for depth, node in enumerate(path):
                on.setdefault(node, set()).add(position)
                depths[node] = min(depth, depths.get(node, depth))
        owners: dict[tuple[str, str], set[ObjectRef]] = {}
        for node in on:
            owners.setdefault((node.kind, node.section), set()).add(node.object)
        telling = sorted((node for node in on if len(on[node]) < len(self._paths)), key=lambda n: (depths[n], n))
        return {
            node: _PartialNode(
                number=number,
                phrase=_node_phrase(node, is_unique=len(owners[node.kind, node.section]) == 1),
                rank=_rank(node),
                sort=(node.object.group_kind, bool(node.section)),
                on=frozenset(on[node]),
            )
            for number, node in enumerate(telling)
        }

    @cached_property
    def _best(self) -> Mapping[frozenset[int], str]:
        """Names of nodes by the paths that they are on; of several nodes, the name that people think in first."""
        worst_first = sorted(self._partial.values(), key=lambda it: (it.rank, len(it.phrase), it.phrase), reverse=True)
        return {node.on: node.phrase for node in worst_first}

    @cached_property
    def _of_sort(self) -> Mapping[tuple[GroupKind, bool], int]:
        """Numbers of nodes by their sort, the sort nearest to the root first."""
        return Counter(node.sort for node in self._partial.values())

    def _on_any(self, positions: Iterable[int]) -> list[_PartialNode]:
        """The nodes on any of some paths, nearest to the root first."""
        nodes = dict.fromkeys(chain.from_iterable(self._paths[position] for position in positions))
        return sorted((self._partial[node] for node in nodes if node in self._partial), key=lambda node: node.number)

    def _by_several(self, chosen: frozenset[int]) -> str:
        """Several nodes of one sort (listeners, rules, Gateways, Services), as few as possible."""
        inside = grouped_by((node for node in self._on_any(chosen) if node.on <= chosen), lambda node: node.sort)
        covering = [sort for sort, nodes in inside.items() if frozenset[int]().union(*(p.on for p in nodes)) == chosen]
        if not covering:
            return ""
        order = list(self._of_sort)
        sort = min(covering, key=lambda sort: (len(inside[sort]), order.index(sort)))
        kind, is_section = sort
        nodes = inside[sort]
        noun = section_noun(kind) if is_section else kind.kind
        if len(nodes) <= _MAX_NAMED_NODES:
            bare = [node.phrase.removeprefix(f"{noun} ") for node in nodes]
            alike = all(node.phrase != name for node, name in zip(nodes, bare, strict=True))
            return f"{plural(noun)} {listed(bare)}" if alike else listed([node.phrase for node in nodes])
        return f"{len(nodes)} of {self._of_sort[sort]} {plural(noun)}"

    def _by_two(self, chosen: frozenset[int]) -> str:
        """Two nodes: the paths through both, the one nearer the root first; or through one and not the other."""
        around = [node for node in self._on_any([min(chosen)]) if node.on >= chosen]
        phrases = [
            f"{upper.phrase} with {lower.phrase}"
            for upper, lower in combinations(around, 2)
            if len(upper.on & lower.on) == len(chosen)
        ]
        for node in around:
            left_out = next(position for position in node.on if position not in chosen)
            phrases += [
                f"{node.phrase} but not {excluded.phrase}"
                for excluded in self._on_any([left_out])
                if len(excluded.on) >= len(node.on) - len(chosen) and node.on - excluded.on == chosen
            ]
        return min(phrases, key=len, default="")


# Several changes concern the same object, with the same paths.
path_phrases: Final = lru_cache(maxsize=2**8)(PathPhrases)


def _node_phrase(node: NodeRef, *, is_unique: bool) -> str:
    """A section by its own name if it `is_unique` by that name, else with its object."""
    if not node.section:
        return str(node.object)
    return section_words(node) if is_unique else f"{section_words(node)} of {node.object}"


def _rank(node: NodeRef) -> int:
    """Gateways, routes and their sections, then backends, then ports; a Namespace only where nothing else will do."""
    if node.object.group_kind in {NAMESPACE, GATEWAY_CLASS}:
        return 3
    if node.object.group_kind in PORT_HOLDERS:
        return 2 if node.section else 1
    return 0


def _by_number(positions: list[int]) -> str:
    """`path 2`, `paths 1-3, 7`; numbers begin at 1."""
    # In a run, positions are as far apart as their places in the list.
    by_run = groupby(enumerate(positions), lambda pair: pair[1] - pair[0])
    runs = [[position + 1 for _, position in run] for _, run in by_run]
    numbers_or_ranges = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    return f"{'path' if len(positions) == 1 else 'paths'} {', '.join(numbers_or_ranges)}"
