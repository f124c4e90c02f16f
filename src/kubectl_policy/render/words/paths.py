"""Paths in words: all of an answer's as lines, and the shortest phrase for some of them.

A line has the nodes of a path, least specific first: `GatewayClass public ▸ Gateway infra/edge ▸ listener http ▸ …`.
"""

from __future__ import annotations

from functools import cached_property
from itertools import chain, combinations, groupby, takewhile
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.model.kinds import NAMESPACE, plural
from kubectl_policy.render.output.text import Line, Span, cells, pad
from kubectl_policy.render.words.names import count, listed, section_noun, section_words
from kubectl_policy.topology.references import GATEWAY_CLASS, WITH_PORTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
    from kubectl_policy.render.output.text import View
    from kubectl_policy.topology import Path

# Up to here every path has its own line; beyond, those that differ in one section share a line.
_FEW: Final = 6
_MOST: Final = 12
_MOST_NAMES: Final = 3
_ARROW: Final = " ▸ "
INDENT: Final = 2
# The nodes of a path in words, and its number in words if it has one.
_Entry: TypeAlias = tuple[tuple[str, ...], str]


def path_lines(paths: Sequence[Path], subject: NodeRef, view: View, *, numbered: bool = False) -> tuple[Line, ...]:
    """One line for each path, or for several that differ in one place alone; numbered from 1 where asked.

    Where lines would be too long, what neighbouring paths have in common above stands once, before them.
    """
    rows = [_cells(path) for path in paths]
    if not numbered and len(rows) > _FEW:
        rows = _grouped(rows)
    shown = rows[:_MOST] if view.cuts else rows
    own = _cell_of(subject)
    numbers = [f"{number:>2}  " if numbered else "" for number in range(1, len(shown) + 1)]
    entries = list(zip(shown, numbers, strict=True))
    lines = _block(shown, numbers, own, 0) if _fits(shown, view) else _blocks(entries, own, view)
    if len(rows) > len(shown):
        left = count(len(rows) - len(shown), "more line")
        lines.append(Line((Span(f"and {left} of paths; --show-all shows all {len(paths)}", "aside"),), INDENT))
    return tuple(lines)


def _fits(rows: Sequence[Sequence[str]], view: View) -> bool:
    return all(sum(map(cells, row)) + len(_ARROW) * len(row) + 2 * INDENT <= view.width for row in rows)


def _blocks(entries: Sequence[_Entry], own: str, view: View) -> list[Line]:
    """Paths in blocks that begin alike: in as few nodes as make the rest of every path fit, else in two."""
    for depth in (1, 2, 3):
        lines = _divided(entries, depth, own, view)
        if all(line.indent + sum(cells(span.text) for span in line.spans) <= view.width for line in lines):
            return lines
    return _divided(entries, 2, own, view)


def _divided(entries: Sequence[_Entry], depth: int, own: str, view: View) -> list[Line]:
    blocks = (list(block) for _, block in groupby(entries, lambda entry: entry[0][:depth]))
    return [line for block in blocks for line in _indented_block(block, own, view)]


def _indented_block(entries: Sequence[_Entry], own: str, view: View) -> list[Line]:
    """Neighbouring paths below what they have in common; a path that is alone is not divided."""
    rows, numbers = [row for row, _ in entries], [number for _, number in entries]
    columns = zip(*(row[:-1] for row in rows), strict=False)
    common = len(list(takewhile(lambda column: len(set(column)) == 1, columns))) if len(rows) > 1 else 0
    if not common:
        return _block(rows, numbers, own, 0)
    above = [rows[0][:common]]
    deeper = " " * (INDENT if _fits(above, view) else 2 * INDENT)
    return [
        *_block(above, [" " * len(numbers[0])], own, 0),
        *_block(rows, [number + deeper for number in numbers], own, common),
    ]


def _block(rows: Sequence[tuple[str, ...]], leads: Sequence[str], own: str, skip: int) -> list[Line]:
    """Rows as lines, without the first `skip` cells; in columns if they have the same number of cells."""
    alike = len({len(row) for row in rows}) == 1
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)] if alike else []
    lines: list[Line] = []
    for row, lead in zip(rows, leads, strict=True):
        last = len(row) - 1
        spans = [
            Span(
                (_ARROW if place else "") + (pad(cell, widths[place]) if alike and place < last else cell),
                "subject" if cell == own else "",
            )
            for place, cell in enumerate(row)
        ][skip:]
        first = replace(spans[0], text=lead + spans[0].text.lstrip(" "))
        lines.append(Line((first, *spans[1:]), INDENT, 2 * INDENT + len(lead)))
    return lines


def _cells(path: Path) -> tuple[str, ...]:
    """The nodes of a path in words, without Namespaces and without the owner's name before a section."""
    shown = [node for node in path if node.object.group_kind != NAMESPACE] or list(path[-1:])
    names: list[str] = []
    before = None
    for node in shown:
        if node.section and before == node.object and node.object.group_kind in WITH_PORTS:
            names[-1] = _cell_of(node)
        elif node.section and before == node.object:
            names.append(section_words(node))
        else:
            names.append(_cell_of(node))
        before = node.object
    return tuple(names)


def _cell_of(node: NodeRef) -> str:
    if node.section and node.object.group_kind in WITH_PORTS:
        return f"{node.object}:{node.section}"
    return section_words(node) if node.section else str(node.object)


def _grouped(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Rows that differ in one cell alone as one row: `listeners http, https`, `4 rules`; from the leaf upwards."""
    for place in range(max(map(len, rows)) - 1, 0, -1):
        merged: dict[tuple[str, ...], list[str]] = {}
        for row in rows:
            if place < len(row):
                merged.setdefault((*row[:place], "", *row[place + 1 :]), []).append(row[place])
            else:
                merged.setdefault(row, [])
        rows = [
            (*row[:place], _together(differing), *row[place + 1 :]) if differing else row
            for row, differing in merged.items()
        ]
    return rows


def _together(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    nouns = {cell.rpartition("[")[0] or cell.partition(" ")[0] for cell in names}
    noun = nouns.pop() if len(nouns) == 1 else "branch"
    if len(names) > _MOST_NAMES:
        return f"{len(names)} {plural(noun)}"
    return f"{plural(noun)} {', '.join(cell.removeprefix(noun).strip(' ') for cell in names)}"


_MOST_PLACES: Final = 2


class Phrase(Struct, frozen=True):
    """A phrase for some of the paths; `numbered` if it names them by their numbers, which have to be shown then."""

    words: str
    numbered: bool = False


class _Place(Struct, frozen=True, kw_only=True):
    """A node that is on some of the paths only: what it is called, its rank among such nodes, and these paths.

    Of nodes on the same paths, that of the lowest `rank` says best which paths these are: Gateways, routes and their
    sections, then backends, then ports; a Namespace only where nothing else will do.
    """

    number: int
    words: str
    rank: int
    sort: tuple[GroupKind, bool]
    on: frozenset[int]


class WhichPaths:
    """Says which of the paths of one answer are meant; what tells these paths apart is looked up once."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """Remember the paths; nothing is looked up until somebody asks for some of them."""
        self._paths = paths
        self._known: dict[frozenset[int], Phrase] = {}

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
        if chosen not in self._known:
            words = self._by_one(chosen) or self._by_several(chosen) or self._by_two(chosen)
            if words:
                phrase = Phrase(words if words[0].isdigit() or " but not " in words else f"{words} only")
            else:
                others = frozenset(range(number)) - chosen
                left_out = self._by_one(others) or self._by_several(others)
                by_number = Phrase(_by_number(sorted(chosen)), numbered=True)
                phrase = Phrase(f"all but {left_out}") if left_out else by_number
            self._known[chosen] = phrase
        return self._known[chosen]

    def words(self, positions: Collection[int]) -> str:
        """The words of the phrase for the paths at some positions."""
        return self.phrase(positions).words

    @cached_property
    def _places(self) -> Mapping[NodeRef, _Place]:
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
            node: _Place(
                number=number,
                words=_words(node, alone=len(owners[node.kind, node.section]) == 1),
                rank=_rank(node),
                sort=(node.object.group_kind, bool(node.section)),
                on=frozenset(on[node]),
            )
            for number, node in enumerate(telling)
        }

    @cached_property
    def _best(self) -> Mapping[frozenset[int], str]:
        """What the best node is called that is on exactly some paths, by these paths."""
        best: dict[frozenset[int], tuple[int, int, str]] = {}
        for place in self._places.values():
            told = place.rank, len(place.words), place.words
            best[place.on] = min(told, best.get(place.on, told))
        return {on: words for on, (_, _, words) in best.items()}

    @cached_property
    def _of_sort(self) -> Mapping[tuple[GroupKind, bool], int]:
        """How many nodes of each sort there are, the sort that is nearest to the root first."""
        number: dict[tuple[GroupKind, bool], int] = {}
        for place in self._places.values():
            number[place.sort] = number.get(place.sort, 0) + 1
        return number

    def _on_any(self, positions: Iterable[int]) -> list[_Place]:
        """The nodes on any of some paths, nearest to the root first."""
        nodes = dict.fromkeys(chain.from_iterable(self._paths[position] for position in positions))
        return sorted((self._places[node] for node in nodes if node in self._places), key=lambda place: place.number)

    def _by_one(self, chosen: frozenset[int]) -> str:
        """The node that all of these paths have and no other has; of several the one that people think in first."""
        return self._best.get(chosen, "")

    def _by_several(self, chosen: frozenset[int]) -> str:
        """Several nodes of one sort (listeners, rules, Gateways, Services), as few as possible."""
        inside: dict[tuple[GroupKind, bool], list[_Place]] = {}
        for place in self._on_any(chosen):
            if place.on <= chosen:
                inside.setdefault(place.sort, []).append(place)
        covering = [
            sort for sort, places in inside.items() if frozenset[int]().union(*(p.on for p in places)) == chosen
        ]
        if not covering:
            return ""
        order = list(self._of_sort)
        sort = min(covering, key=lambda sort: (len(inside[sort]), order.index(sort)))
        kind, is_section = sort
        places = inside[sort]
        noun = section_noun(kind) if is_section else kind.kind
        if len(places) <= _MOST_PLACES:
            bare = [place.words.removeprefix(f"{noun} ") for place in places]
            alike = all(place.words != name for place, name in zip(places, bare, strict=True))
            return f"{plural(noun)} {listed(bare)}" if alike else listed([place.words for place in places])
        return f"{len(places)} of {self._of_sort[sort]} {plural(noun)}"

    def _by_two(self, chosen: frozenset[int]) -> str:
        """Two nodes: the paths through both, the one nearer the root first; or through one and not the other."""
        around = [place for place in self._on_any([min(chosen)]) if place.on >= chosen]
        phrases = [
            f"{upper.words} with {lower.words}"
            for upper, lower in combinations(around, 2)
            if len(upper.on & lower.on) == len(chosen)
        ]
        for place in around:
            left_out = next(position for position in place.on if position not in chosen)
            phrases += [
                f"{place.words} but not {other.words}"
                for other in self._on_any([left_out])
                if len(other.on) >= len(place.on) - len(chosen) and place.on - other.on == chosen
            ]
        return min(phrases, key=len, default="")


def _words(node: NodeRef, *, alone: bool) -> str:
    """A section by its own name if its object is `alone` in having one of that name, else with its object."""
    if not node.section:
        return str(node.object)
    return section_words(node) if alone else f"{section_words(node)} of {node.object}"


def _rank(node: NodeRef) -> int:
    if node.object.group_kind in {NAMESPACE, GATEWAY_CLASS}:
        return 3
    if node.object.group_kind in WITH_PORTS:
        return 2 if node.section else 1
    return 0


def _by_number(positions: list[int]) -> str:
    """`path 2`, `paths 1-3, 7`; numbers begin at 1."""
    runs: list[list[int]] = []
    for position in positions:
        if runs and runs[-1][-1] == position - 1:
            runs[-1].append(position)
        else:
            runs.append([position])
    words = [str(run[0] + 1) if len(run) == 1 else f"{run[0] + 1}-{run[-1] + 1}" for run in runs]
    return f"{'path' if len(positions) == 1 else 'paths'} {', '.join(words)}"
