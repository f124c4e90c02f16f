"""Settings in force, field by field: by kind and policy, and below each field the values that it supersedes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.model.kinds import listed
from kubectl_policy.model.world import grouped_by
from kubectl_policy.render.describe.naming import contrary_phrase
from kubectl_policy.render.describe.rows import by_policy, in_force_elsewhere, parent_of, together, words_of
from kubectl_policy.render.output.text import Line, Segment, cells, pad, prose_line
from kubectl_policy.render.wording.names import flow
from kubectl_policy.render.wording.settings import DEFAULT, basis_lines, merge_not_counting, perhaps, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.questions.shared.in_force import InForce
    from kubectl_policy.render.describe.naming import Names, PathScopes
    from kubectl_policy.render.describe.rows import FieldRow, OfKind, OfSource, Replaced, SupersededValue
    from kubectl_policy.render.output.text import View
    from kubectl_policy.resolution import Fate, Source

_INDENT: Final = 2
_ROW: Final = 2
_FEW_NAMES: Final = 4
_GAP: Final = 3
# A value column is no wider than this: a longer value just reaches further.
_WIDEST_VALUE: Final = 24
# Fields that share a row make it no wider than this, and are no more, so that it is read at a glance.
_WIDEST_TOGETHER: Final = 72
_MOST_TOGETHER: Final = 12
_SCREENFULS: Final = 500
# Where settings are written stands at the right, but no further to the right than this.
_WIDEST: Final = 120


def sections_of(kinds: Iterable[Sequence[InForce]], scopes: PathScopes, names: Names, view: View) -> Iterator[Line]:
    """Return the lines of each kind: policies with their fields, then assumptions; origins at one margin."""
    sections = [_Section(by_policy(kind), scopes, names, view) for kind in kinds]
    margin = max((section.needed for section in sections), default=0)
    for section in sections:
        yield from section.lines(margin)


class _Section:
    """One kind, with its fields and values in common columns."""

    def __init__(self, kind: OfKind, scopes: PathScopes, names: Names, view: View) -> None:
        self.kind, self.scopes, self.names, self.view = kind, scopes, names, view
        # All of a kind is behind what the answer is about, or none of it is.
        scope = scopes.scope(kind.positions, behind=True) if kind.groups[0].extent.passes_down else ""
        self.behind = bool(scope)
        self.on = "behind" if scope.startswith("behind ") else "on"
        self.field = 0
        self.placed = self._all_placed()
        rows = [row for by_place in self.placed for together in by_place.values() for row in together]
        self.lines_of = {id(row): names.lines(row.together or (row.setting,)) for row in rows}
        self.texts = {id(row): self._value(row) for row in rows}
        # Something may stand beside a value.
        widths_with_remarks = (cells(self.texts[id(row)]) for row in rows if row.superseded or row.setting.blame)
        self.value = max((size for size in widths_with_remarks if size <= _WIDEST_VALUE), default=0)
        self.value_at = _ROW + self.field + _GAP
        self.widest_line = max(map(cells, self.lines_of.values()), default=0)
        self.heads = {source.source.object for source in kind.sources}
        self.shown = {id(row): self._beside(row) for row in rows}
        widths = [*map(self._heading_width, kind.sources, self.placed), *map(self._row_width, rows)]
        # What is wider leaves the margin where the others have it.
        self.needed = max((size for size in widths if size <= min(view.width, _WIDEST)), default=0)

    def lines(self, margin: int) -> Iterator[Line]:
        for source, by_place in zip(self.kind.sources, self.placed, strict=True):
            yield from self._source(source, by_place, margin)
        for replaced in self.kind.without:
            yield self._without(replaced)
        yield from basis_lines(self.kind.groups)

    def _all_placed(self) -> list[dict[str, list[FieldRow]]]:
        """Return the rows of each policy by place, with the column of names as wide as they need it.

        The fields of one thing have its name, which is shorter than theirs; the less room is left for values, the fewer
        of them share a row.
        """
        apart = [self._by_place(source) for source in self.kind.sources]
        every = [row for source in self.kind.sources for row in source.rows.values()]
        if len(every) > _SCREENFULS:
            # Nobody looks at all of these, for whom to try several times.
            self.field = self._field_width(every)
        while True:
            # At a terminal, fields that stand side by side in one thing share a row, where there is room for them.
            placed = [
                {
                    limits: list(together(rows, self._fits)) if self.view.cuts else rows
                    for limits, rows in scopes.items()
                }
                for scopes in apart
            ]
            needed = self._field_width(row for by_place in placed for rows in by_place.values() for row in rows)
            if needed <= self.field:
                return placed
            self.field = needed

    def _by_place(self, source: OfSource) -> dict[str, list[FieldRow]]:
        """Return the rows of a policy by where they are in force, in words; of what goes without saying first."""
        positions = self.scopes.below(source.targets)
        by_place = grouped_by(source.rows.values(), lambda row: self.scopes.limits(row.positions, positions))
        return {limits: by_place[limits] for limits in sorted(by_place, key=bool)}

    def _field_width(self, rows: Iterable[FieldRow]) -> int:
        """Compute the width of the column of names: at a terminal a few long ones do not move the values."""
        max_width = self.view.width * 3 // 10 if self.view.cuts else self.view.width
        return max((size for row in rows if (size := cells(row.setting.field)) <= max_width), default=0)

    def _fits(self, rows: Sequence[FieldRow]) -> bool:
        """Whether some fields are in one thing, and there is room for them in a row, beside the lines they are on."""
        # Most are far too many: these are found out first.
        parent = parent_of(rows) if len(rows) <= _MOST_TOGETHER else ""
        width = cells(words_of(rows)) if parent else 0
        if not 0 < width <= _WIDEST_TOGETHER:
            return False
        line = self.names.lines([row.setting for row in rows])
        line_width = cells(line) + _GAP if line else 0
        return width <= self.view.width - _ROW - max(self.field, cells(parent)) - _GAP - line_width

    def _source(self, source: OfSource, by_place: Mapping[str, list[FieldRow]], margin: int) -> Iterator[Line]:
        yield self._heading_line(source, by_place, margin)
        for limits, rows in by_place.items():
            if limits and len(by_place) > 1:
                yield Line((Segment(f"{self._where(limits)}:", "aside"),), _ROW)
            for row in rows:
                yield from self._row(row, margin)
        if not source.rows:
            yield Line((Segment("sets no field", "aside"),), _ROW)
        for replaced in source.replaced.values():
            yield self._replaced(source, replaced, _only(by_place))

    def _heading(self, source: OfSource, by_place: Mapping[str, list[FieldRow]]) -> str:
        """`RetryPolicy shop/cart → rule cart`; with where it is in force, if that is the same for all that it sets."""
        heading, limits = self.names.heading(source, self.kind.groups[0]), _only(by_place)
        if self.behind:
            positions = frozenset[int]().union(*(row.positions for row in source.rows.values())) or self.kind.positions
            behind = self.scopes.scope(positions, behind=True)
            return f"{heading}, {'behind it' if heading.endswith(behind.removeprefix('behind')) else behind}"
        return f"{heading}{f', {self._where(limits)}' if limits else ''}"

    def _where(self, limits: str) -> str:
        """`on rule cart only`, or `behind` it; `through HTTPRoute shop/cart only` needs no more."""
        return limits if limits.startswith("through ") else f"{self.on} {limits}"

    def _heading_width(self, source: OfSource, by_place: Mapping[str, list[FieldRow]]) -> int:
        return cells(self._heading(source, by_place)) + _GAP + cells(self.names.origin(source.source.object))

    def _heading_line(self, source: OfSource, by_place: Mapping[str, list[FieldRow]], margin: int) -> Line:
        """Return the heading, where the policy was read, and what its controller says to the contrary."""
        policy, heading = source.source.object, self._heading(source, by_place)
        spans = [Segment(heading, "heading")]
        origin = self.names.origin(policy)
        if origin:
            spans += [Segment(" " * max(margin - cells(origin) - cells(heading), _GAP)), Segment(origin, "aside")]
        about = self.names.about.get(policy)
        if about and about.contrary:
            message = f": {about.contrary.message}" if about.contrary.message else ""
            spans.append(Segment(f"   {contrary_phrase(about.contrary)}{message}", "warning", prose=True))
        if about and about.otherwise:
            spans.append(Segment(f"   may be different: {about.otherwise}", "warning", prose=True))
        return Line(tuple(spans), 0, _ROW + _INDENT)

    def _row(self, row: FieldRow, margin: int) -> Iterator[Line]:
        """Return a field, its value, the values that it supersedes, and at the right the line that it is written on.

        At a terminal this line is left out where superseded values leave no room for it: the heading says which file.
        """
        spans, rest = self.shown[id(row)]
        line = "" if row.setting.blame else self.lines_of[id(row)]
        used = _ROW + _width(spans)
        start = max(margin - cells(line), used + _GAP)
        # Where nothing is cut a value may be wider than the page, and its line stays with it.
        if line and (start + cells(line) <= self.view.width or not self.view.cuts):
            last = replace(spans[-1], text=f"{spans[-1].text}{' ' * (start - used)}")
            spans = [*spans[:-1], last, Segment(line, "aside")]
        yield Line(tuple(spans), _ROW, self.value_at)
        for under in rest:
            # Below the value, if that is in its column and there is room.
            aligned = cells(row.setting.field) <= self.field
            has_room = self.value_at + _width(under) <= self.view.width
            indent = self.value_at if aligned and has_room else _ROW + _INDENT
            yield Line(tuple(under), indent, indent + _INDENT)

    def _row_width(self, row: FieldRow) -> int:
        """Compute the width of a row with its line in the file; 0 for a row without one."""
        if row.setting.blame or not self.lines_of[id(row)]:
            return 0
        return _ROW + _width(self.shown[id(row)][0]) + _GAP + cells(self.lines_of[id(row)])

    def _beside(self, row: FieldRow) -> tuple[list[Segment], list[list[Segment]]]:
        """Return a field, its value and the remarks that fit beside them; and the remarks that stand below."""
        setting, text = row.setting, self.texts[id(row)]
        spans = [Segment(pad(setting.field, self.field) + " " * _GAP), Segment(text, "value")]
        notes = [f"({DEFAULT})"] if setting.defaulted else []
        notes += [perhaps(setting).strip()] if perhaps(setting) else []
        if notes:
            spans.append(Segment(f" {' '.join(notes)}", "aside", prose=True))
        remarks = [self._instead(row, value) for value in row.superseded.values()]
        column, line = self.value_at + self.value + _GAP, self.lines_of[id(row)]
        if setting.blame:
            # Who wrote it was asked for, and is never left out.
            written = [Segment(line, "aside")]
            first_line = self._at(column, spans, written)
            spans, remarks = [*spans, *first_line], remarks if first_line else [written, *remarks]
            column += self.widest_line + _GAP
        elif line and remarks:
            first_line = self._at(column, spans, remarks[0], _GAP + cells(line))
            if first_line:
                return [*spans, *first_line], remarks[1:]
            if not self.view.cuts:
                return spans, remarks
        first_line = self._at(column, spans, remarks[0]) if remarks else []
        return [*spans, *first_line], remarks[1:] if first_line else remarks

    def _at(self, column: int, spans: Sequence[Segment], addition: Sequence[Segment], kept: int = 0) -> list[Segment]:
        """Return an addition in a column of a row, or nearer if it needs the room; nothing if it does not fit."""
        used = _ROW + _width(spans)
        room = self.view.width - kept - used - _width(addition)
        return [Segment(" " * min(max(column - used, _GAP), room)), *addition] if room >= _GAP else []

    def _value(self, row: FieldRow) -> str:
        """Return a value in the room that is left beside its line in the file."""
        setting, line = row.setting, self.lines_of[id(row)]
        if setting.removed:
            return "removed"
        line_width = cells(line) + _GAP if line and not setting.blame else 0
        room = self.view.width - _ROW - max(self.field, cells(setting.field)) - _GAP - line_width
        return shortened(setting.value, room, self.view)

    def _instead(self, row: FieldRow, superseded: SupersededValue) -> list[Segment]:
        """`instead of Global, infra/defaults (the nearer policy wins)`, and where that is so if not everywhere."""
        fate = superseded.fate
        where = self.scopes.limits(superseded.positions, row.positions)
        value = shortened(fate.value, self.view.width // 3, self.view)
        why = f"{DEFAULT}; {superseded.why}" if fate.defaulted else superseded.why
        return [
            Segment(f"{f'{self._where(where)} ' if where else ''}instead of {value},", "superseded"),
            Segment(f" {self._loser(fate.source)}", "superseded"),
            Segment(f" ({why})", "superseded", prose=True),
        ]

    def _loser(self, source: Source) -> str:
        """Return a policy that is superseded: its target is said, unless it has a heading of its own."""
        kind = self.kind.groups[0].kind
        if source.object in self.heads and source.object != source.target.object:
            return self.names.policy(source, kind)
        return self.names.source(source, kind)

    def _replaced(self, source: OfSource, replaced: Replaced, only: str) -> Line:
        """Return the lines of what a policy supersedes without setting it: fields that it replaces or refuses."""
        positions = self.scopes.below(source.targets)
        where = self.scopes.limits(replaced.positions, positions)
        by_itself, fates = replaced.source.object == source.source.object, replaced.fates
        loser = self._loser(replaced.source)
        if all(fate.state == "superseded" and not fate.by_port for fate in fates):
            together = "with others " if len(fates[0].superseded_by) > 1 else ""
            group = next(group for group in self.kind.groups if fates[0] in group.without_effect)
            why = merge_not_counting(fates[0], group)
            if replaced.source in group.contest.members:
                phrase = f"{together}instead of {self._fields(fates)} of {loser}"
            else:
                phrase = f"{together}instead of all of {loser}: {_names(fates)}{f' ({why})' if why else ''}"
        else:
            subject = "no effect" if by_itself else f"{loser} has no effect"
            phrase = f"{subject}: {self._fields(fates)} ({replaced.why})"
        limited = f"{self._where(where)}, " if where and where != only else ""
        return prose_line(f"{limited}{phrase}", "superseded", _ROW, _ROW + _INDENT)

    def _without(self, replaced: Replaced) -> Line:
        kind = self.names.kind(self.kind.groups[0])
        subject = f"{kind} {self._loser(replaced.source)}"
        phrase = f"{subject} has no effect: {self._fields(replaced.fates)} ({replaced.why})"
        return prose_line(phrase, "superseded", 0, _ROW)

    def _fields(self, fates: Sequence[Fate]) -> str:
        """Return the fields by name; with their values, where these stand nowhere else and there is room."""
        if in_force_elsewhere(self.kind, fates) or self.view.cuts:
            return _names(fates)
        return ", ".join(
            f"{fate.field} {flow(fate.value)}{f' ({DEFAULT})' if fate.defaulted else ''}" for fate in fates
        )


def _width(spans: Iterable[Segment]) -> int:
    return sum(cells(span.text) for span in spans)


def _names(fates: Sequence[Fate]) -> str:
    """Return the fields by name; of many, what they are in."""
    names = list(dict.fromkeys(fate.field for fate in fates))
    tops = list(dict.fromkeys(name.partition(".")[0].partition("[")[0] for name in names))
    return listed(tops if len(names) > max(len(tops), _FEW_NAMES) else names)


def _only(by_place: Mapping[str, list[FieldRow]]) -> str:
    """Say where all fields of a policy are in force, if that is the same for all and not self-evident."""
    return next(iter(by_place)) if len(by_place) == 1 else ""
