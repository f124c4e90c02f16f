"""Paths as lines, the least specific node first: `GatewayClass public ▸ Gateway infra/edge ▸ listener http ▸ …`."""

from __future__ import annotations

from itertools import groupby, takewhile
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec.structs import replace

from kubectl_policy.model.kind_roles import NAMESPACE, PORT_HOLDERS
from kubectl_policy.model.kinds import plural
from kubectl_policy.render.output.text import Line, Segment, cells, pad
from kubectl_policy.render.wording.names import count
from kubectl_policy.topology.references import section_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.model import NodeRef
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
    """Return a line for each path, or for several that differ in one node alone; numbered from 1 if asked.

    Where lines would be too long, what neighbouring paths have in common above stands once, before them.
    """
    rows = [_cells(path) for path in paths]
    if not numbered and len(rows) > _FEW:
        rows = _grouped(rows)
    shown, rest = view.first(rows, _MOST)
    subject_cell = _cell_of(subject)
    numbers = [f"{number:>2}  " if numbered else "" for number in range(1, len(shown) + 1)]
    entries = list(zip(shown, numbers, strict=True))
    lines = _block(shown, numbers, subject_cell, 0) if _fits(shown, view) else _blocks(entries, subject_cell, view)
    if rest:
        remark = f"and {count(rest, 'more line')} of paths; --show-all shows all {len(paths)}"
        lines.append(Line((Segment(remark, "aside"),), INDENT))
    return tuple(lines)


def _fits(rows: Sequence[Sequence[str]], view: View) -> bool:
    return all(sum(map(cells, row)) + len(_ARROW) * len(row) + 2 * INDENT <= view.width for row in rows)


def _blocks(entries: Sequence[_Entry], subject_cell: str, view: View) -> list[Line]:
    """Group paths into blocks that begin alike, in as few nodes as make the rest of every path fit."""
    for depth in (1, 2, 3):
        lines = _divided(entries, depth, subject_cell, view)
        if all(line.indent + sum(cells(span.text) for span in line.spans) <= view.width for line in lines):
            return lines
    return _divided(entries, 2, subject_cell, view)


def _divided(entries: Sequence[_Entry], depth: int, subject_cell: str, view: View) -> list[Line]:
    blocks = (list(block) for _, block in groupby(entries, lambda entry: entry[0][:depth]))
    return [line for block in blocks for line in _indented_block(block, subject_cell, view)]


def _indented_block(entries: Sequence[_Entry], subject_cell: str, view: View) -> list[Line]:
    """Indent neighbouring paths below their common part; a single path is not divided."""
    rows, numbers = [row for row, _ in entries], [number for _, number in entries]
    columns = zip(*(row[:-1] for row in rows), strict=False)
    common = len(list(takewhile(lambda column: len(set(column)) == 1, columns))) if len(rows) > 1 else 0
    if not common:
        return _block(rows, numbers, subject_cell, 0)
    ancestors = [rows[0][:common]]
    deeper = " " * (INDENT if _fits(ancestors, view) else 2 * INDENT)
    return [
        *_block(ancestors, [" " * len(numbers[0])], subject_cell, 0),
        *_block(rows, [number + deeper for number in numbers], subject_cell, common),
    ]


def _block(rows: Sequence[tuple[str, ...]], leads: Sequence[str], subject_cell: str, skip: int) -> list[Line]:
    """Return rows as lines, without the first `skip` cells; in columns if they have equally many cells."""
    alike = len({len(row) for row in rows}) == 1
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)] if alike else []
    lines: list[Line] = []
    for row, lead in zip(rows, leads, strict=True):
        last = len(row) - 1
        spans = [
            Segment(
                (_ARROW if index else "") + (pad(cell, widths[index]) if alike and index < last else cell),
                "subject" if cell == subject_cell else "",
            )
            for index, cell in enumerate(row)
        ][skip:]
        first = replace(spans[0], text=lead + spans[0].text.lstrip(" "))
        lines.append(Line((first, *spans[1:]), INDENT, 2 * INDENT + len(lead)))
    return lines


def _cells(path: Path) -> tuple[str, ...]:
    """Return the nodes of a path in words, without Namespaces and without the owner's name before a section."""
    shown = [node for node in path if node.object.group_kind != NAMESPACE] or list(path[-1:])
    names: list[str] = []
    before = None
    for node in shown:
        if node.section and before == node.object and node.object.group_kind in PORT_HOLDERS:
            names[-1] = _cell_of(node)
        elif node.section and before == node.object:
            names.append(section_words(node))
        else:
            names.append(_cell_of(node))
        before = node.object
    return tuple(names)


def _cell_of(node: NodeRef) -> str:
    if node.section and node.object.group_kind in PORT_HOLDERS:
        return f"{node.object}:{node.section}"
    return section_words(node) if node.section else str(node.object)


def _grouped(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Join rows that differ in one cell alone: `listeners http, https`, `4 rules`; from the leaf upwards."""
    for index in range(max(map(len, rows)) - 1, 0, -1):
        merged: dict[tuple[str, ...], list[str]] = {}
        for row in rows:
            if index < len(row):
                merged.setdefault((*row[:index], "", *row[index + 1 :]), []).append(row[index])
            else:
                merged.setdefault(row, [])
        rows = [
            (*row[:index], _together(differing), *row[index + 1 :]) if differing else row
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
