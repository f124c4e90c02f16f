"""Matrix of the settings in force on many objects: a row for each rule of a route, or for each object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.errors import UsageError
from kubectl_policy.model import GroupKind, NodeRef, Origin
from kubectl_policy.model.fields import strings_at
from kubectl_policy.model.kind_roles import ROUTES
from kubectl_policy.model.snapshot import Resource  # noqa: TC001 (its members are in the document)
from kubectl_policy.questions.blind_spots.answers import blind_spots_for, blind_spots_in_settings
from kubectl_policy.questions.blind_spots.relevance import describe_gaps, gaps_in_list
from kubectl_policy.questions.blind_spots.unknowns import (
    BLIND_SPOTS,
    Answer,
    BlindSpot,
    WithBlindSpots,
    unknown_parents,
    unselectable,
)
from kubectl_policy.questions.matrix_cells import Cells, MatrixCell, MatrixColumn, WrittenSetting
from kubectl_policy.questions.shared.effects import covered_paths
from kubectl_policy.questions.shared.fields import LocateLine, with_line
from kubectl_policy.questions.shared.in_force import EffectiveEntry, effective_entries, own_settings_entries
from kubectl_policy.questions.shared.known_fields import is_known_field
from kubectl_policy.questions.shared.path_phrases import NumberedPath, PathNumber, numbered, numbers
from kubectl_policy.questions.shared.selection import EVERYTHING, ListType, Selection, kinds_meant, select

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.topology import Path

RowSort: TypeAlias = Literal["routes", "gateways", "services"]


_MISSING: Final = (
    "True if only rows are listed that have a path on which all columns are empty, or let every request through"
    " (--missing)."
)


class MatrixOptions(Struct, frozen=True, kw_only=True):
    """What a matrix is to show: objects of which sort, which kinds (none: all that are in force) and which fields.

    Kinds are named as on the command line: `securitypolicy`, `securitypolicy.gateway.envoyproxy.io`. With fields these
    are the columns, else the kinds. Of those that are `missing` something, only rows with a path on which there is
    nothing in any of the columns are left.
    """

    of: Annotated[RowSort, Meta(description="The type of the rows: routes, gateways or services.")] = "routes"
    kinds: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    missing: Annotated[bool, Meta(description=_MISSING)] = False


class MatrixRow(WithBlindSpots, frozen=True, kw_only=True):
    """A rule of a route, a Gateway or a Service, with a cell for each column."""

    subject: Annotated[NodeRef, Meta(description="The rule of a route, or the object.")]
    resource: Annotated[Resource, "inline"]
    paths: tuple[Path, ...]
    cells: Annotated[tuple[MatrixCell, ...], Meta(description="The cells, one for each column.")]

    @property
    def hostnames(self) -> Annotated[tuple[str, ...], Meta()]:
        """The hostnames in the spec of the route; empty for other objects."""
        return tuple(strings_at(self.resource.raw, "spec.hostnames"))

    @property
    def paths_(self) -> Annotated[tuple[NumberedPath, ...], Meta()]:
        """The paths that carry traffic; if empty, no setting takes effect."""
        return numbered(self.paths)

    @property
    def without_(self) -> Annotated[tuple[PathNumber, ...], Meta()]:
        """The numbers of the paths on which all columns are empty, or let every request through."""
        return numbers(self.without)

    @property
    def without(self) -> tuple[int, ...]:
        """The positions of the paths on which nothing is certain to be in force in any column, if requests come.

        Settings that let every request through are not.
        """
        parts = (part for cell in self.cells for part in cell.parts if part.holds and not part.permissive)
        certain = {path for part in parts for path in part.positions}
        return tuple(position for position in range(len(self.paths)) if position not in certain)


class Matrix(Answer, frozen=True, kw_only=True):
    """The answer of get effective."""

    asked: Annotated[MatrixOptions, "inline"]
    type: ListType
    namespace: Annotated[
        str, Meta(description="The namespace of the objects; empty for all namespaces and for cluster-scoped objects.")
    ]
    examined: Annotated[int, Meta(description="The number of all rows, including those that are not listed.", ge=0)]
    idle: Annotated[int, Meta(description="The number of these rows without traffic.", ge=0)]
    columns: Annotated[tuple[MatrixColumn, ...], Meta(description="The columns of the matrix.")]
    items: Annotated[tuple[MatrixRow, ...], Meta(description="The listed rows.")]
    # Fields that are asked for and that nothing sets anywhere.
    unused: tuple[str, ...]
    # Those of them that no profile and no definition of a policy kind knows.
    unknown_fields: tuple[str, ...]
    elsewhere: tuple[str, ...]
    unseen: Annotated[tuple[BlindSpot, ...], Meta(description=BLIND_SPOTS)]

    @property
    def found_nothing(self) -> bool:
        """Whether there is no row to look at."""
        return not self.examined


_DEFAULT: Final = MatrixOptions()


def matrix(analysis: Analysis, asked: MatrixOptions = _DEFAULT, selection: Selection = EVERYTHING) -> Matrix:
    """Collect the settings in force on the selected objects: by default a row for each rule of every route.

    Raises `UsageError` for an unknown kind, or one that is no policy kind, and `NotFoundError` if there is no object of
    a name that is asked for.
    """
    kinds = _kinds(analysis, asked.kinds)
    selected = select(analysis, asked.of, selection)
    by_rules = not kinds.isdisjoint(ROUTES) or not (kinds or asked.missing)
    subjects = [
        subject
        for resource in selected.resources
        for subject in _subjects(analysis, resource, kinds, with_own=by_rules)
    ]
    cells = Cells(analysis)
    columns = _columns(cells, asked, kinds, subjects)
    rows = [_row(cells, columns, kinds, subject) for subject in subjects]
    hiding = gaps_in_list(analysis, {kind.kind for kind in selected.type.kinds}, selected.namespace)
    unseen = (
        *describe_gaps(analysis, hiding),
        *unselectable(selected.undecided),
        *(blind_spot for row in rows for blind_spot in row.unseen),
    )
    used = {column for row in rows for column, cell in zip(columns, row.cells, strict=True) if cell.parts}
    unused = tuple(column.field for column in columns if column.field and column not in used)
    return Matrix(
        asked=asked,
        type=selected.type,
        namespace=selected.namespace,
        columns=columns,
        items=tuple(row for row in rows if not asked.missing or row.without),
        examined=len(rows),
        idle=sum(not row.paths for row in rows),
        unused=unused,
        unknown_fields=tuple(field for field in unused if not is_known_field(analysis, field, kinds)),
        elsewhere=selected.elsewhere,
        unseen=tuple(dict.fromkeys(unseen)),
        place=analysis.index.source,
    )


def _kinds(analysis: Analysis, names: Iterable[str]) -> frozenset[GroupKind]:
    """The kinds that are asked for; none if that is any."""
    policy_kinds: set[GroupKind] = set()
    for name in names:
        kinds = {kind for kind in kinds_meant(analysis, name) if analysis.registry.profile_of(kind) or kind in ROUTES}
        if not kinds:
            raise UsageError(f"{name} is not a policy kind", "get policykinds lists those that there are")
        policy_kinds |= kinds
    return frozenset(policy_kinds)


class _Subject(Struct, frozen=True, kw_only=True):
    """A rule of a route, or an object, with the paths that carry traffic there, and what is in force on these."""

    node: NodeRef
    resource: Resource
    covered: tuple[Path, ...]
    """All paths there."""
    paths: tuple[Path, ...]
    entries: list[EffectiveEntry]


def _subjects(
    analysis: Analysis, resource: Resource, kinds: frozenset[GroupKind], *, with_own: bool
) -> Iterator[_Subject]:
    """The rules of a route, or the object itself, with what policies of some kinds set; `with_own` adds what rules say.

    Without kinds, that is what all policies set whose patches are read.
    """
    rules = analysis.topology.sections(resource.ref) if resource.ref.group_kind in ROUTES else ()

    def is_wanted(kind: GroupKind) -> bool:
        return kind in kinds if kinds else not analysis.registry.profile(kind).patches

    for node in [NodeRef(resource.ref, rule) for rule in rules] or [NodeRef(resource.ref)]:
        covered = covered_paths(analysis, node)
        paths = tuple(path for path in covered if analysis.topology.carries_traffic(path))
        entries = [
            entry
            for entry in (
                *effective_entries(analysis, node, paths),
                *(own_settings_entries(analysis, paths) if with_own else ()),
            )
            if is_wanted(entry.effective.resolution.kind)
        ]
        yield _Subject(node=node, resource=resource, covered=covered, paths=paths, entries=entries)


def _row(cells: Cells, columns: tuple[MatrixColumn, ...], kinds: frozenset[GroupKind], subject: _Subject) -> MatrixRow:
    analysis, node, covered, paths = cells.analysis, subject.node, subject.covered, subject.paths
    unsettled = blind_spots_in_settings(analysis, node, covered, kinds) if paths else ()

    def unknown(column: MatrixColumn) -> bool:
        kind = column.kind
        return bool(unsettled) and (kind is None or bool(blind_spots_in_settings(analysis, node, covered, {kind})))

    row_cells = tuple(cells.cell(column, subject.entries, len(paths), unknown=unknown(column)) for column in columns)
    needed = (blind_spot for cell in row_cells for part in cell.parts for blind_spot in part.unseen)
    return MatrixRow(
        subject=node,
        resource=subject.resource,
        paths=paths,
        cells=row_cells,
        unseen=tuple(dict.fromkeys((*unsettled, *needed, *_unknown_traffic(analysis, subject)))),
    )


def _unknown_traffic(analysis: Analysis, subject: _Subject) -> Iterable[BlindSpot]:
    """Blind spots that may hide traffic on further paths, or on any."""
    obj = subject.node.object
    if obj.group_kind not in ROUTES or analysis.topology.relations.delegations.refs:
        return () if subject.paths else blind_spots_for(analysis, subject.node, subject.covered)
    return unknown_parents(analysis, [obj])


def _columns(
    cells: Cells, asked: MatrixOptions, kinds: frozenset[GroupKind], subjects: Iterable[_Subject]
) -> tuple[MatrixColumn, ...]:
    """The fields, or the kinds that are asked for, or else those in force: about security first, direct ones last."""
    if asked.fields:
        return tuple(MatrixColumn(field=field) for field in dict.fromkeys(asked.fields))
    outcomes = dict.fromkeys(cells.outcome(entry) for subject in subjects for entry in subject.entries)
    in_force = {outcome.kind for outcome in outcomes if outcome.part(MatrixColumn(kind=outcome.kind))}
    security = {outcome.kind for outcome in outcomes if outcome.is_security}
    known = cells.analysis.registry.profile
    ordered = sorted(
        kinds or in_force,
        key=lambda kind: (kind not in security, known(kind).policy_class == "direct", kind.kind, kind),
    )
    return tuple(MatrixColumn(kind=kind) for kind in ordered)


def with_lines(answer: Matrix, locate: LocateLine) -> Matrix:
    """Return a matrix with the lines of fields instead of those of their objects; each is looked up once."""
    lines: dict[tuple[object, ...], Origin | None] = {}

    def placed(setting: WrittenSetting) -> WrittenSetting:
        key = setting.origin, setting.declared_in
        if key not in lines:
            lines[key] = with_line(setting, locate).origin
        return replace(setting, origin=lines[key])

    def cell_at_lines(cell: MatrixCell) -> MatrixCell:
        parts = tuple(replace(part, settings=tuple(map(placed, part.settings))) for part in cell.parts)
        return replace(cell, parts=parts)

    items = (replace(row, cells=tuple(map(cell_at_lines, row.cells))) for row in answer.items)
    return replace(answer, items=tuple(items))
