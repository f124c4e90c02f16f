"""Cells of the matrix: settings in force of one policy kind, or of one field, on the paths of one row."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.lazy import cached_method
from kubectl_policy.questions.blind_spots.answers import blind_spots_in_needs
from kubectl_policy.questions.blind_spots.relevance import describe_gaps
from kubectl_policy.questions.shared.fields import FieldLocations, named_leaves, origin_of
from kubectl_policy.questions.shared.in_force import EffectiveEntry, summary_of
from kubectl_policy.questions.shared.path_phrases import PathNumber, numbers
from kubectl_policy.resolution.protection import Protection

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind, Json, Origin
    from kubectl_policy.model.fields import FieldPath
    from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
    from kubectl_policy.resolution import EffectivePolicy, Resolution, Source

_CERTAIN: Final = "False if it is unknown how the policies combine here."
_PERMISSIVE: Final = "True if the settings let every request through, so that they count as missing (--missing)."


class MatrixColumn(Struct, frozen=True, kw_only=True):
    """A column of the matrix: a policy kind, or a field."""

    kind: Annotated[
        GroupKind | None, Meta(description="The policy kind of the column; null for a column of a field.")
    ] = None
    field: Annotated[str, Meta(description="The field of the column; empty for a column of a policy kind.")] = ""

    @property
    def title(self) -> str:
        """The field, or the kind without its group."""
        return self.field or (self.kind.kind if self.kind else "")


class WrittenSetting(Struct, frozen=True, kw_only=True):
    """A field in force with its value, source and location; see `Setting`."""

    field: Annotated[str, Meta(description="The field, as in the answer of describe.")]
    value: Annotated[Json, Meta(description="The value, of any JSON type.")]
    source: Annotated[Source, Meta(description="The source of the value.")]
    origin: Annotated[Origin | None, Meta(description="The location of the value; null if unknown.")]
    certain: Annotated[bool, Meta(description=_CERTAIN)]
    declared_in: FieldPath
    security: bool
    permissive: bool


class WrittenBy(Struct, frozen=True):
    """The source of a setting, and its location."""

    source: Annotated[Source, Meta(description="The source.")]
    origin: Annotated[Origin | None, Meta(description="The location of the source; null if unknown.")]


class CellPart(Struct, frozen=True, kw_only=True):
    """The settings in force in a column on some paths of a row."""

    kind: Annotated[GroupKind, Meta(description="The policy kind.")]
    summary: Annotated[
        tuple[str, ...], Meta(description="The settings in short phrases; empty for a column of a field.")
    ]
    settings: Annotated[
        tuple[WrittenSetting, ...],
        Meta(description="The values of the field of the column; empty for a column of a policy kind."),
    ]
    sources: Annotated[tuple[WrittenBy, ...], Meta(description="The sources of the settings, least specific first.")]
    certain: Annotated[bool, Meta(description=_CERTAIN)]
    permissive: Annotated[bool, Meta(description=_PERMISSIVE)]
    passes_down: Annotated[
        bool, Meta(description="True if the settings take effect only below the end of the paths of the row.")
    ]
    positions: tuple[int, ...]
    holds: bool = True
    """Whether the settings are in force for all requests that come."""
    unseen: Annotated[
        tuple[BlindSpot, ...],
        Meta(description="Blind spots: policies that set these values may be invalid or different."),
    ]

    @property
    def paths(self) -> Annotated[tuple[PathNumber, ...], Meta()]:
        """The numbers of the paths on which the settings are in force."""
        return numbers(self.positions)


class MatrixCell(Struct, frozen=True, kw_only=True):
    """A cell of the matrix: the settings in force in a column on the paths of a row."""

    parts: Annotated[
        tuple[CellPart, ...],
        Meta(description="The settings in force in the column; several parts if the paths differ."),
    ]
    without: tuple[int, ...]
    unknown: Annotated[bool, Meta(description="True if unread input may set a value in the cell.")]

    @property
    def without_(self) -> Annotated[tuple[PathNumber, ...], Meta()]:
        """The numbers of the paths on which the column is empty."""
        return numbers(self.without)


class _CellOutcome:
    """Content of one resolution for each column; it is the same wherever the same policies meet."""

    def __init__(self, analysis: Analysis, effective: EffectivePolicy) -> None:
        """Remember what it is about; nothing is computed yet."""
        self._analysis, self._effective = analysis, effective
        self._locations = FieldLocations(analysis, effective)
        self._profile = self._locations.profile
        self._protection = Protection(effective.resolution.spec, self._profile)

    @property
    def kind(self) -> GroupKind:
        """The policy kind."""
        return self._effective.resolution.kind

    @property
    def is_security(self) -> bool:
        """Whether all that it sets is known as relevant to security."""
        return bool(self._written) and all(setting.security for setting in self._written)

    @cached_property
    def _written(self) -> tuple[WrittenSetting, ...]:
        return tuple(
            WrittenSetting(
                field=named.name,
                value=named.leaf.value,
                source=named.leaf.source,
                origin=origin_of(self._analysis, named.leaf.source),
                declared_in=self._locations.field(named.field, named.leaf),
                certain=named.leaf.source not in self._effective.resolution.undecided,
                security=self._protection.protects(named.field),
                permissive=self._protection.is_permissive(named.field),
            )
            for named in named_leaves(self._effective.resolution.spec, self._profile)
            if not named.leaf.removed
        )

    @cached_method
    def part(self, column: MatrixColumn) -> CellPart | None:
        """Return the part for a column, on no path yet; None if there is none."""
        if column.kind not in {None, self.kind}:
            return None
        resolution, field, settings = self._effective.resolution, column.field, tuple[WrittenSetting, ...]()
        if field:
            parts = (f"{field}.", f"{field}[")
            settings = tuple(it for it in self._written if it.field == field or it.field.startswith(parts))
            sources = tuple(dict.fromkeys(setting.source for setting in settings))
            is_summed_up = bool(settings) and settings[0].field != field
            summary = summary_of(self._effective, self._profile, field) if is_summed_up else ()
        else:
            # Those who take part, least specific first; then what the object itself says.
            order = [*(part.source for part in resolution.contributions), *(it.source for it in self._written)]
            sources = tuple(source for source in dict.fromkeys(order) if source in resolution.sources_in_force)
            summary = summary_of(self._effective, self._profile) if sources else ()
        if not sources:
            return None
        permissive = {setting.source for setting in settings or self._written if setting.permissive}
        protecting = {setting.source for setting in settings or self._written if not setting.permissive}
        policies = dict.fromkeys(source.object for source in sources)
        otherwise = (gap for policy in policies for gap in self._analysis.index.absence.gaps_of(policy))
        unseen = (*blind_spots_in_needs(self._analysis, policies), *describe_gaps(self._analysis, otherwise))
        return CellPart(
            kind=resolution.kind,
            summary=summary,
            settings=settings,
            sources=tuple(WrittenBy(source, origin_of(self._analysis, source)) for source in sources),
            certain=any(source not in resolution.undecided for source in sources),
            # What a policy without fields does is not said by any setting.
            permissive=not protecting and permissive.issuperset(sources),
            passes_down=False,
            positions=(),
            unseen=tuple(dict.fromkeys(unseen)),
        )


class Cells:
    """The cells of rows; what the same policies come to wherever they meet is computed once."""

    def __init__(self, analysis: Analysis) -> None:
        """Remember where to look."""
        self.analysis = analysis
        self._outcomes: dict[tuple[Resolution, GroupKind], _CellOutcome] = {}

    def outcome(self, entry: EffectiveEntry) -> _CellOutcome:
        """Return the content for each column of the effective policy on a path."""
        effective = entry.effective
        key = effective.resolution, effective.target.object.group_kind
        if key not in self._outcomes:
            self._outcomes[key] = _CellOutcome(self.analysis, effective)
        return self._outcomes[key]

    def cell(self, column: MatrixColumn, entries: Iterable[EffectiveEntry], paths: int, *, unknown: bool) -> MatrixCell:
        """The cell of a row with so many paths; `unknown` is whether something unseen may set something there."""
        parts_by_content: dict[tuple[object, ...], tuple[CellPart, EffectiveEntry, dict[int, None]]] = {}
        for entry in entries:
            part = self.outcome(entry).part(column)
            if part:
                # What is the same where parts of a cell are told as one.
                fields = tuple((setting.field, setting.source) for setting in part.settings)
                sources = tuple(written.source for written in part.sources)
                key = (part.kind, part.summary, fields, sources, entry.passes_down, entry.doubt)
                parts_by_content.setdefault(key, (part, entry, {}))[2][entry.path] = None
        reached = {position for _, _, positions in parts_by_content.values() for position in positions}
        return MatrixCell(
            parts=tuple(
                replace(
                    part,
                    positions=tuple(positions),
                    passes_down=entry.passes_down,
                    certain=part.certain and not entry.doubt,
                    holds=part.certain and entry.doubt != "controller",
                )
                for part, entry, positions in parts_by_content.values()
            ),
            without=tuple(position for position in range(paths) if position not in reached),
            unknown=unknown,
        )
