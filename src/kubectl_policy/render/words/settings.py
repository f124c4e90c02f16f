"""The settings in force as aligned rows: field, value, where it comes from, and under it what it beat and why."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar

from kubectl_policy.model.values import value as immutable
from kubectl_policy.render.output.text import Line, Span, cells, cut, pad
from kubectl_policy.render.words.names import (
    ONE_TARGET,
    count,
    flow,
    mark,
    node_words,
    section_words,
    source_spans,
    source_words,
)
from kubectl_policy.render.words.reasons import merging_words, why_beaten, why_without_effect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.model import NodeRef
    from kubectl_policy.questions.describe.policies import FieldOutcome
    from kubectl_policy.questions.shared.in_force import InForce, Setting
    from kubectl_policy.render.output.text import View
    from kubectl_policy.render.words.names import Targets
    from kubectl_policy.resolution import Fate, Source

INDENT: Final = 2
GAP: Final = 3
# What is said of a field that its policy leaves out, and that the definition of its kind fills in.
DEFAULT: Final = "default of its kind"
# Below this a value column is not worth having: the value then takes a line of its own.
_NARROWEST: Final = 12


@immutable(kw_only=True)
class Columns:
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
    most = max(width - INDENT - field - 2 * GAP - max(map(cells, thirds), default=0), _NARROWEST)
    value = max((size for size in map(cells, values) if size <= most), default=0)
    third = INDENT + field + GAP + value + GAP
    longest = max((cells(piece) for text in thirds for piece in text.split(" → ")), default=0)
    alongside = third + longest + 2 * INDENT <= width
    return Columns(field=field, value=value, third=third if alongside else 3 * INDENT, alongside=alongside)


_Field = TypeVar("_Field", "Setting", "Fate", "FieldOutcome")


def setting_lines(group: InForce, view: View, targets: Targets = ONE_TARGET) -> Iterator[Line]:
    """The rows of one policy kind, and what it beat without replacing it; `targets` are those of each source."""
    settings = tuple(without_keys(group.settings))
    values = ["removed" if setting.removed else flow(setting.value) for setting in settings]
    sources = [
        words
        for setting in settings
        for words in (
            f"{source_words(setting.source, targets)}{perhaps(setting)}",
            *(source_words(fate.source, targets) for fate in setting.beaten),
        )
    ]
    widths = columns([setting.field for setting in settings], values, sources, view.width)
    for setting, value in zip(settings, values, strict=True):
        doubt = (Span(perhaps(setting), "aside"),) if perhaps(setting) else ()
        source = (*source_spans(setting.source, targets=targets), *default_spans(setting), *doubt)
        yield from row(setting.field, Span(value, "value"), source, widths, view)
        for fate in setting.beaten:
            beaten = _shortened(flow(fate.value), view.width // 3, view)
            spans = (
                Span("instead of ", "beaten"),
                Span(f"{beaten},", "beaten"),
                *source_spans(fate.source, " ", "beaten", targets),
                Span(f" ({_and_default(why_beaten(fate, setting.source, group), fate)})", "beaten"),
            )
            yield Line(spans, widths.third, widths.third + INDENT)
    if not settings:
        by = [f" {'and' if place else 'by'} {policy}" for place, policy in enumerate(group.policies)]
        yield Line((Span("sets no field", "aside"), *(Span(words, "aside") for words in by)), INDENT)
    yield from _without_effect(group, view, targets)


def perhaps(setting: Setting) -> str:
    """What is said of a setting where it is not known how policies combine."""
    return "" if setting.certain else " (may hold)"


def _and_default(why: str, fate: Fate) -> str:
    return f"{DEFAULT}; {why}" if fate.defaulted else why


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


def _without_effect(group: InForce, view: View, targets: Targets) -> Iterator[Line]:
    """The declared fields that nothing stands for, by policy."""
    together: dict[tuple[Source, str], list[str]] = {}
    for fate in without_keys(group.beaten):
        value = _shortened(flow(fate.value), view.width // 3, view)
        together.setdefault((fate.source, _and_default(why_without_effect(fate, group), fate)), []).append(
            f"{fate.field} {value}"
        )
    for (source, why), fields in together.items():
        last = len(fields) - 1
        spans = (
            Span("without effect:", "beaten"),
            *(Span(f" {field}{',' if place < last else ''}", "beaten") for place, field in enumerate(fields)),
            *source_spans(source, " of ", "beaten", targets),
            Span(f" ({why})", "beaten", prose=True),
        )
        yield Line(spans, INDENT, INDENT + 2)


def without_keys(fields: tuple[_Field, ...]) -> Iterator[_Field]:
    """Fields without those that only repeat the key that a list element is named by, next to others of the element."""
    for place, field in enumerate(fields):
        element, _, _ = field.field.rpartition(".")
        neighbours = fields[max(place - 1, 0) : place] + fields[place + 1 : place + 2]
        repeats = element.endswith("]") and element.endswith(f"[{flow(field.value)}]")
        if not (repeats and any(other.field.startswith(f"{element}.") for other in neighbours)):
            yield field


def strategy_words(group: InForce) -> str:
    """How the policies in force merge."""
    if "combination unknown" in group.doubts:
        return "how these combine is not known"
    words = merging_words(group.strategies, group.profile, merges=len(group.policies) > 1)
    guessed = group.profile.combines_by_guess and "merge strategy" in group.assumed
    return f"{words}{mark(group.profile, 'merge strategy')}" if words and guessed else words


def place_words(group: InForce, subject: NodeRef) -> str:
    """Where a kind takes effect that does not simply reach the end of each path; empty for one that does."""
    if group.passes_down:
        return "takes effect on what is below"
    if group.profile.policy_class == "inherited" and not group.profile.effective_targets:
        return ""
    if len(group.at) == 1:
        (node,) = group.at
        return f"at {section_words(node) if node.section and node.object == subject.object else node_words(node)}"
    objects = list(dict.fromkeys(node.object for node in group.at))
    return f"at {objects[0]}" if len(objects) == 1 else f"at {count(len(objects), objects[0].kind)}"
