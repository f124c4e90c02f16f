"""On which of an answer's paths something holds: the shortest phrase that is true of these paths and of no other."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from kubectl_policy.model.kinds import NAMESPACE, plural
from kubectl_policy.render.words.names import section_noun, section_words
from kubectl_policy.topology.references import GATEWAY_CLASS, WITH_PORTS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from kubectl_policy.model import GroupKind, NodeRef
    from kubectl_policy.topology import Path

_MOST_NAMES: Final = 2


class Scope(NamedTuple):
    """A phrase for some of the paths; `numbered` if it names them by their numbers, which have to be shown then."""

    words: str
    numbered: bool = False


def scope_of(positions: Collection[int], paths: Sequence[Path]) -> Scope:
    """The phrase for the paths at some positions; empty where there is one path only.

    `both paths`, `all 4 paths`, `listener https only`, `listeners http, https only`, `3 of 4 listeners`,
    `listener https with rule api only`, `listener https but not rule api`, `all but rule api`, or, if nothing tells
    these paths from the others, `paths 1, 3`.
    """
    chosen = frozenset(positions)
    if len(paths) <= 1:
        return Scope("")
    if not chosen:
        return Scope("no path")
    if len(chosen) == len(paths):
        return Scope("both paths" if len(paths) == 2 else f"all {len(paths)} paths")  # noqa: PLR2004 (a pair is "both")
    places = _places(paths)
    words = _by_one(chosen, places) or _by_several(chosen, places) or _by_two(chosen, places)
    if words:
        return Scope(words if words[0].isdigit() or " but not " in words else f"{words} only")
    others = frozenset(range(len(paths))) - chosen
    left_out = _by_one(others, places) or _by_several(others, places)
    return Scope(f"all but {left_out}") if left_out else Scope(_by_number(sorted(chosen)), numbered=True)


class _Place(NamedTuple):
    """A node that is on some of the paths only: what it is called, and the positions of these paths."""

    words: str
    where: frozenset[int]


_Places: TypeAlias = dict["NodeRef", _Place]


def _places(paths: Sequence[Path]) -> _Places:
    """The nodes that are on some of the paths only, nearest to the root first."""
    found: dict[NodeRef, set[int]] = {}
    depths: dict[NodeRef, int] = {}
    for position, path in enumerate(paths):
        for depth, node in enumerate(path):
            found.setdefault(node, set()).add(position)
            depths[node] = min(depth, depths.get(node, depth))
    ordered = sorted(found, key=lambda node: (depths[node], node))
    return {
        node: _Place(_words(node, found), frozenset(found[node])) for node in ordered if len(found[node]) < len(paths)
    }


def _words(node: NodeRef, others: Collection[NodeRef]) -> str:
    """A section by its own name where only one object has a section of that name, else with its object."""
    if not node.section:
        return str(node.object)
    owners = {other.object for other in others if other.section == node.section and other.kind == node.kind}
    return section_words(node) if len(owners) == 1 else f"{section_words(node)} of {node.object}"


def _by_one(chosen: frozenset[int], places: _Places) -> str:
    """The node that all of these paths have and no other has; of several the one that people think in first."""
    found = [(_rank(node), len(place.words), place.words) for node, place in places.items() if place.where == chosen]
    return min(found)[-1] if found else ""


def _rank(node: NodeRef) -> int:
    """Gateways, routes and their sections, then backends, then ports; a Namespace only where nothing else will do."""
    if node.object.group_kind in {NAMESPACE, GATEWAY_CLASS}:
        return 3
    if node.object.group_kind in WITH_PORTS:
        return 2 if node.section else 1
    return 0


def _by_several(chosen: frozenset[int], places: _Places) -> str:
    """Several nodes of one sort (listeners, rules, Gateways, Services), as few as possible."""
    sorts: dict[tuple[GroupKind, bool], list[_Place]] = {}
    for node, place in places.items():
        sorts.setdefault((node.object.group_kind, bool(node.section)), []).append(place)
    found: list[tuple[int, str]] = []
    for (kind, is_section), nodes in sorts.items():
        inside = [place for place in nodes if place.where <= chosen]
        if frozenset().union(*(place.where for place in inside)) != chosen:
            continue
        noun = section_noun(kind) if is_section else kind.kind
        if len(inside) <= _MOST_NAMES:
            phrase = f"{plural(noun)} {', '.join(place.words.removeprefix(f'{noun} ') for place in inside)}"
        else:
            phrase = f"{len(inside)} of {len(nodes)} {plural(noun)}"
        found.append((len(inside), phrase))
    return min(found, key=lambda candidate: candidate[0], default=(0, ""))[1]


def _by_two(chosen: frozenset[int], places: _Places) -> str:
    """Two nodes: the paths through both, the one nearer the root first; or through one and not the other."""
    around = [place for place in places.values() if place.where >= chosen]
    found = [
        f"{one.words} with {other.words}" for one, other in combinations(around, 2) if one.where & other.where == chosen
    ]
    found += [
        f"{one.words} but not {other.words}"
        for one in around
        for other in places.values()
        if one.where - other.where == chosen
    ]
    return min(found, key=len, default="")


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
