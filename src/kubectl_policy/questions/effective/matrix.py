"""What is in force on many objects, a row for each rule of a route, and on which of them nothing is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.errors import UsageError
from kubectl_policy.model import NodeRef
from kubectl_policy.model.fields import strings_at
from kubectl_policy.questions.effective.cells import Cell, Cells, Column, Written
from kubectl_policy.questions.shared.effects import covered_paths
from kubectl_policy.questions.shared.in_force import effective_entries, own_entries
from kubectl_policy.questions.shared.places import Locate, at_line
from kubectl_policy.questions.shared.selection import EVERYTHING, Selection, kinds_meant, select
from kubectl_policy.questions.unseen.answers import unseen_for, unseen_settings
from kubectl_policy.questions.unseen.relevance import gaps_in_list
from kubectl_policy.questions.unseen.things import Unseen, unknown_labels, unknown_parents
from kubectl_policy.questions.unseen.unread import gaps
from kubectl_policy.topology.references import ROUTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind, Json, Origin, Resource
    from kubectl_policy.model.snapshot import Place
    from kubectl_policy.questions.shared.in_force import Entry
    from kubectl_policy.questions.shared.selection import ListType
    from kubectl_policy.topology import Path

Sort: TypeAlias = Literal["routes", "gateways", "services"]


class MatrixOptions(Struct, frozen=True, kw_only=True):
    """What a matrix is to show: objects of which sort, which kinds (none: all that are in force) and which fields.

    Kinds are named as on the command line: `securitypolicy`, `securitypolicy.gateway.envoyproxy.io`. With fields these
    are the columns, else the kinds. Of those that are `missing` something, only rows with a path on which there is
    nothing in any of the columns are left.
    """

    of: Sort = "routes"
    kinds: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    missing: bool = False


class Row(Struct, frozen=True, kw_only=True):
    """A rule of a route, a Gateway or a Service, with a cell for each column.

    `paths` are those that carry traffic; without any nothing takes effect there.
    """

    subject: NodeRef
    resource: Resource
    paths: tuple[Path, ...]
    cells: tuple[Cell, ...]
    unseen: tuple[Unseen, ...]

    @property
    def raw(self) -> Mapping[str, Json]:
        """The object as it was read."""
        return self.resource.raw

    @property
    def origin(self) -> Origin | None:
        """Where the object was read."""
        return self.resource.origin

    @property
    def hostnames(self) -> tuple[str, ...]:
        """The hostnames of a route, as it says them."""
        return tuple(strings_at(self.raw, "spec.hostnames"))

    @property
    def without(self) -> tuple[int, ...]:
        """The positions of the paths on which nothing is certain to be in force in any of the columns."""
        certain = {path for cell in self.cells for part in cell.parts if part.certain for path in part.paths}
        return tuple(position for position in range(len(self.paths)) if position not in certain)


class Matrix(Struct, frozen=True, kw_only=True):
    """The answer: the columns, and the rows that are left of as many as were `examined`.

    `idle` rows carry no traffic; of those that are missing something they are left out. `unused` are fields that are
    asked for and that nothing sets anywhere.
    """

    asked: MatrixOptions
    type: ListType
    namespace: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    examined: int
    idle: int
    unused: tuple[str, ...]
    elsewhere: tuple[str, ...]
    unseen: tuple[Unseen, ...]
    place: Place = "the input"


_DEFAULT: Final = MatrixOptions()


def matrix(analysis: Analysis, asked: MatrixOptions = _DEFAULT, selection: Selection = EVERYTHING) -> Matrix:
    """What is in force on the selected objects: by default a row for each rule of every route.

    Raises `UsageError` for an unknown kind, or one that is no policy kind, and `NotFoundError` if there is no object of
    a name that is asked for.
    """
    kinds = _kinds(analysis, asked.kinds)
    selected = select(analysis, asked.of, selection)
    found = [each for resource in selected.resources for each in _subjects(analysis, resource)]
    own = not kinds.isdisjoint(ROUTES) or not (kinds or asked.missing)
    entries = {
        subject: [entry for entry in _entries(analysis, subject, paths, own=own) if _counts(analysis, entry, kinds)]
        for subject, _, paths in found
    }
    cells = Cells(analysis)
    columns = _columns(cells, asked, kinds, entries)
    rows = [
        _row(cells, columns, kinds, subject, resource, paths, entries[subject]) for subject, resource, paths in found
    ]
    hiding = gaps_in_list(analysis, {kind.kind for kind in selected.type.kinds}, selected.namespace)
    unseen = (
        *gaps(analysis, hiding),
        *unknown_labels(selected.undecided),
        *(thing for row in rows for thing in row.unseen),
    )
    used = {column for row in rows for column, cell in zip(columns, row.cells, strict=True) if cell.parts}
    return Matrix(
        asked=asked,
        type=selected.type,
        namespace=selected.namespace,
        columns=columns,
        rows=tuple(row for row in rows if not asked.missing or row.without),
        examined=len(rows),
        idle=sum(not row.paths for row in rows),
        unused=tuple(column.field for column in columns if column.field and column not in used),
        elsewhere=selected.elsewhere,
        unseen=tuple(dict.fromkeys(unseen)),
        place=analysis.index.place,
    )


def _kinds(analysis: Analysis, names: Iterable[str]) -> frozenset[GroupKind]:
    """The kinds that are asked for; none if that is any."""
    found: set[GroupKind] = set()
    for name in names:
        kinds = {kind for kind in kinds_meant(analysis, name) if analysis.registry.profile_of(kind) or kind in ROUTES}
        if not kinds:
            raise UsageError(f"{name} is not a policy kind", "get policykinds lists those that there are")
        found |= kinds
    return frozenset(found)


def _entries(analysis: Analysis, subject: NodeRef, paths: tuple[Path, ...], *, own: bool) -> tuple[Entry, ...]:
    """What policies come to on the paths of a row, and what routes on them say themselves."""
    return (*effective_entries(analysis, subject, paths), *(own_entries(analysis, paths) if own else ()))


def _counts(analysis: Analysis, entry: Entry, kinds: frozenset[GroupKind]) -> bool:
    """Whether a kind is asked for; of all kinds those are left out whose patches are not read."""
    kind = entry.effective.kind
    return kind in kinds if kinds else not analysis.registry.known(kind).patches


def _row(  # noqa: PLR0913, PLR0917 (all that a row is made of)
    cells: Cells,
    columns: tuple[Column, ...],
    kinds: frozenset[GroupKind],
    subject: NodeRef,
    resource: Resource,
    paths: tuple[Path, ...],
    entries: Sequence[Entry],
) -> Row:
    analysis = cells.analysis
    covered = covered_paths(analysis, subject)
    unsettled = unseen_settings(analysis, subject, covered, kinds) if paths else ()

    def unknown(column: Column) -> bool:
        kind = column.kind
        return bool(unsettled) and (kind is None or bool(unseen_settings(analysis, subject, covered, {kind})))

    made = tuple(cells.cell(column, entries, len(paths), unknown=unknown(column)) for column in columns)
    needed = (thing for cell in made for part in cell.parts for thing in part.unseen)
    return Row(
        subject=subject,
        resource=resource,
        paths=paths,
        cells=made,
        unseen=tuple(dict.fromkeys((*unsettled, *needed, *_unknown_traffic(analysis, subject, covered, paths)))),
    )


def _unknown_traffic(
    analysis: Analysis, subject: NodeRef, covered: tuple[Path, ...], paths: tuple[Path, ...]
) -> Iterable[Unseen]:
    """What may let requests in on further paths, or on any."""
    obj = subject.object
    if obj.group_kind not in ROUTES or analysis.topology.relations.delegations.refs:
        return () if paths else unseen_for(analysis, subject, covered)
    return unknown_parents(analysis, [obj])


def _subjects(analysis: Analysis, resource: Resource) -> Iterator[tuple[NodeRef, Resource, tuple[Path, ...]]]:
    """The rules of a route, or the object itself, with the paths that carry traffic there."""
    rules = analysis.topology.sections(resource.ref) if resource.ref.group_kind in ROUTES else ()
    for subject in [NodeRef(resource.ref, rule) for rule in rules] or [NodeRef(resource.ref)]:
        paths = covered_paths(analysis, subject)
        yield subject, resource, tuple(path for path in paths if analysis.topology.carries_traffic(path))


def _columns(
    cells: Cells, asked: MatrixOptions, kinds: frozenset[GroupKind], entries: Mapping[NodeRef, Sequence[Entry]]
) -> tuple[Column, ...]:
    """The fields, or the kinds that are asked for, or else those in force: about security first, direct ones last."""
    if asked.fields:
        return tuple(Column(field=field) for field in dict.fromkeys(asked.fields))
    outcomes = dict.fromkeys(cells.outcome(entry) for found in entries.values() for entry in found)
    in_force = {outcome.kind for outcome in outcomes if outcome.part(Column(kind=outcome.kind))}
    security = {outcome.kind for outcome in outcomes if outcome.is_security}
    known = cells.analysis.registry.known
    ordered = sorted(
        kinds or in_force,
        key=lambda kind: (kind not in security, known(kind).policy_class == "direct", kind.kind, kind),
    )
    return tuple(Column(kind=kind) for kind in ordered)


def at_lines(found: Matrix, locate: Locate) -> Matrix:
    """The same with the lines of fields instead of those of their objects; each is looked up once."""
    lines: dict[tuple[object, ...], Origin | None] = {}

    def placed(setting: Written) -> Written:
        key = setting.origin, setting.declared_in
        if key not in lines:
            lines[key] = at_line(setting, locate).origin
        return replace(setting, origin=lines[key])

    def cell_at_lines(cell: Cell) -> Cell:
        parts = tuple(replace(part, settings=tuple(map(placed, part.settings))) for part in cell.parts)
        return replace(cell, parts=parts)

    return replace(found, rows=tuple(replace(row, cells=tuple(map(cell_at_lines, row.cells))) for row in found.rows))
