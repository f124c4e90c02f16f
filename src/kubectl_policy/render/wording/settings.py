"""The settings in force as aligned rows: field, value, where it comes from, and under it what it beat and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.render.output.text import Line, Span, cells, cut, pad
from kubectl_policy.render.wording.names import flow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.questions.describe.policies import FieldOutcome
    from kubectl_policy.questions.shared.in_force import Setting
    from kubectl_policy.render.output.text import View
    from kubectl_policy.resolution import Fate

INDENT: Final = 2
GAP: Final = 3
# What is said of a field that its policy leaves out, and that the definition of its kind fills in.
DEFAULT: Final = "default of its kind"
# Below this a value column is not worth having: the value then takes a line of its own.
_NARROWEST: Final = 12
# As many letters of the id of a commit as git shows.
SHORT_ID: Final = 7


class Columns(Struct, frozen=True, kw_only=True):
    """The widths of the field and value columns, and the cell at which the third column begins.

    A value wider than its column has a line of its own. The third column stands to the right of the others or, if that
    leaves no room for the longest name in it, on lines of its own (it is not `alongside`).
    """

    field: int
    value: int
    third: int
    alongside: bool


def columns(fields: Iterable[str], values: Iterable[str], thirds: Iterable[str], width: int) -> Columns:
    """Columns for these texts; thirds may be broken before an arrow."""
    thirds = tuple(thirds)
    field = max(map(cells, fields), default=0)
    most = max(width - 3 * INDENT - field - 2 * GAP - max(map(cells, thirds), default=0), _NARROWEST)
    value = max((size for size in map(cells, values) if size <= most), default=0)
    third = INDENT + field + GAP + value + GAP
    longest = max((cells(piece) for text in thirds for piece in text.split(" → ")), default=0)
    alongside = third + longest + 2 * INDENT <= width
    return Columns(field=field, value=value, third=third if alongside else 3 * INDENT, alongside=alongside)


_Field = TypeVar("_Field", "Setting", "Fate", "FieldOutcome")


def blame_words(placed: Setting | FieldOutcome) -> str:
    """`alice, 2026-01-03, 1a2b3c4`; empty where nobody asked who wrote it, or that cannot be told."""
    blame = placed.blame
    if blame is None:
        return ""
    parts = (blame.who, blame.when.partition("T")[0], blame.commit[:SHORT_ID])
    return ", ".join(filter(None, parts)) or "not committed yet"


def perhaps(setting: Setting) -> str:
    """What is said of a setting where it is not known how policies combine."""
    return "" if setting.certain else " (may hold)"


def default_spans(field: Setting | FieldOutcome) -> tuple[Span, ...]:
    """What distinguishes a field that its policy leaves out from one that somebody wrote; nothing for the latter."""
    return (Span(f" ({DEFAULT})", "aside", prose=True),) if field.defaulted else ()


def row(field: str, value: Span, third: tuple[Span, ...], widths: Columns, view: View) -> Iterator[Line]:
    """A row of three columns; in two lines where the value is wider than its column."""
    start = Span(pad(field, widths.field) + " " * GAP)
    if cells(value.text) <= widths.value and widths.alongside:
        filled = replace(value, text=pad(value.text, widths.value) + " " * GAP)
        yield Line((start, filled, *third), INDENT, widths.third + INDENT)
        return
    room = view.width - INDENT - widths.field - GAP
    yield Line((start, replace(value, text=_shortened(value.text, room, view))), INDENT)
    yield Line(third, widths.third, widths.third + INDENT)


def _shortened(text: str, room: int, view: View) -> str:
    return cut(text, max(room, _NARROWEST)) if view.cuts else text


def without_keys(fields: tuple[_Field, ...]) -> Iterator[_Field]:
    """Fields without those that only repeat the key that a list element is named by, next to others of the element."""
    for place, field in enumerate(fields):
        element, _, _ = field.field.rpartition(".")
        neighbours = fields[max(place - 1, 0) : place] + fields[place + 1 : place + 2]
        repeats = element.endswith("]") and element.endswith(f"[{flow(field.value)}]")
        if not (repeats and any(other.field.startswith(f"{element}.") for other in neighbours)):
            yield field
