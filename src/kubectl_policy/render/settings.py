"""The settings in force as aligned rows: field, value, where it comes from, and under it what it beat and why."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.render.document import Line, Span, cells, cut, pad
from kubectl_policy.render.words import count, flow, listed, node_words, source_spans, source_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.questions.in_force import InForce, Setting
    from kubectl_policy.render.view import View
    from kubectl_policy.resolution import Fate, Source

INDENT: Final = 2
GAP: Final = 3
# Below this a value column is not worth having: the value then takes a line of its own.
_NARROWEST: Final = 12

_ASSUMPTIONS: Final = {
    "being a policy": "it is a policy kind, because it has target references",
    "class": "its policies reach what is below their target",
}
_MERGING: Final = {
    "direct": "of two on one target the older stands and the other is refused",
    "inherited": "a policy that does not say how it merges gives way to a nearer one as a whole",
}
_DOUBTS: Final = {
    "age unknown": "creationTimestamp is missing, so policies on one target are ordered by name instead of by age",
    "fold direction": "GEP-713 can be read in two ways here, which differ; this is the reading from the leaf upwards",
}


class Columns(NamedTuple):
    """The widths of the field and value columns, and the cell at which the third column begins.

    A value wider than its column has a line of its own. The third column stands to the right of the others or, if that
    leaves no room for the longest name in it, on lines of its own (`beside` is false).
    """

    field: int
    value: int
    third: int
    beside: bool


def columns(fields: Iterable[str], values: Iterable[str], thirds: Iterable[str], width: int) -> Columns:
    """Columns for these texts; thirds may be broken before an arrow."""
    thirds = tuple(thirds)
    field = max(map(cells, fields), default=0)
    most = max(width - INDENT - field - 2 * GAP - max(map(cells, thirds), default=0), _NARROWEST)
    value = max((size for size in map(cells, values) if size <= most), default=0)
    third = INDENT + field + GAP + value + GAP
    longest = max((cells(piece) for text in thirds for piece in text.split(" → ")), default=0)
    beside = third + longest + 2 * INDENT <= width
    return Columns(field, value, third if beside else 3 * INDENT, beside)


def setting_lines(group: InForce, view: View) -> Iterator[Line]:
    """The rows of one policy kind, what it beat without replacing it, then what the answer rests on."""
    settings = group.settings
    values = [_value(setting) for setting in settings]
    sources = [
        source_words(source)
        for setting in settings
        for source in (setting.source, *(fate.source for fate in setting.beaten))
    ]
    widths = columns([setting.field for setting in settings], values, sources, view.width)
    for setting, value in zip(settings, values, strict=True):
        yield from row(setting.field, Span(value, "value"), source_spans(setting.source), widths, view)
        for fate in setting.beaten:
            yield _beaten(fate, setting.source, group, widths, view)
    if not settings:
        yield Line((Span("sets no field", "aside"), *_by(group)), INDENT)
    yield from _without_effect(group.beaten, view)
    yield from _notes(group)


def row(field: str, value: Span, third: tuple[Span, ...], widths: Columns, view: View) -> Iterator[Line]:
    """A row of three columns; in two lines where the value is wider than its column."""
    start = Span(pad(field, widths.field) + " " * GAP)
    if cells(value.text) <= widths.value and widths.beside:
        filled = value._replace(text=pad(value.text, widths.value) + " " * GAP)
        yield Line((start, filled, *third), INDENT, widths.third + INDENT)
        return
    room = view.width - INDENT - widths.field - GAP
    yield Line((start, value._replace(text=_shortened(value.text, room, view))), INDENT)
    yield Line(third, widths.third, widths.third + INDENT)


def _shortened(text: str, room: int, view: View) -> str:
    return cut(text, max(room, _NARROWEST)) if view.terminal else text


def _value(setting: Setting) -> str:
    return "removed" if setting.removed else flow(setting.value)


def _by(group: InForce) -> tuple[Span, ...]:
    return tuple(
        Span(f" {'by' if not place else 'and'} {policy}", "aside") for place, policy in enumerate(group.policies)
    )


def _beaten(fate: Fate, winner: Source, group: InForce, widths: Columns, view: View) -> Line:
    spans = (
        Span("instead of ", "beaten"),
        Span(_shortened(flow(fate.value), view.width // 3, view) + ",", "beaten"),
        *source_spans(fate.source, " ", "beaten"),
        Span(f" ({why_beaten(fate, winner, group)})", "beaten"),
    )
    return Line(spans, widths.third, widths.third + INDENT)


def why_beaten(fate: Fate, winner: Source, group: InForce) -> str:
    """Why another value is in force, in plain words, from the fate and from who won."""
    if fate.state == "rejected":
        return "conflict: refused"
    if winner.object == winner.target.object:
        return f"the {winner.object.kind}'s own field wins"
    if winner.overrides:
        return "overridden from above"
    if winner.target != fate.source.target:
        return "the nearer policy wins"
    first_wins = group.same_level == "first-wins"
    if "age unknown" in group.doubts:
        return f"the {'first' if first_wins else 'last'} by name wins"
    return f"the {'older' if first_wins else 'newer'} policy wins"


def _without_effect(fates: Iterable[Fate], view: View) -> Iterator[Line]:
    """The declared fields that nothing stands for, by policy: the whole spec was replaced, or refused."""
    for (source, state, beaters), together in groupby(
        fates, lambda fate: (fate.source, fate.state, fate.superseded_by)
    ):
        fields = [f"{fate.field} {_shortened(flow(fate.value), view.width // 3, view)}" for fate in together]
        names = listed([source_words(beater) for beater in beaters]) or "another policy"
        reason = f"refused, it conflicts with {names}" if state == "rejected" else f"{names} replaces all of it"
        spans = (
            Span("without effect: ", "beaten"),
            Span(", ".join(fields), "beaten"),
            *source_spans(source, " of ", "beaten"),
            Span(f" ({reason})", "beaten", prose=True),
        )
        yield Line(spans, INDENT, INDENT + 2)


def _notes(group: InForce) -> Iterator[Line]:
    if group.assumed:
        meanings = {**_ASSUMPTIONS, "merge strategy": _MERGING[group.profile.policy_class]}
        named = [meanings.get(choice, choice) for choice in group.assumed]
        text = f"assumed, for want of a profile: {listed(named)}"
        yield Line((Span(text, "aside", prose=True),), INDENT, INDENT + 2)
    yield from doubt_lines(group.doubts)


def doubt_lines(doubts: Iterable[str]) -> Iterator[Line]:
    """What an answer rests on without knowing it, in plain words."""
    for doubt in doubts:
        yield Line((Span(f"in doubt: {_DOUBTS.get(doubt, doubt)}", "aside", prose=True),), INDENT, INDENT + 2)


def strategy_words(group: InForce) -> str:
    """The merge strategies in force; empty where none ever merges, which is what the strategy None means."""
    return ", ".join(strategy.value.lower() for strategy in group.strategies if strategy.value != "None")


def place_words(group: InForce) -> str:
    """Where a kind takes effect that does not simply reach the end of each path; empty for one that does."""
    if group.passes_down:
        return "takes effect on what is below"
    if group.profile.policy_class == "inherited" and not group.profile.effective_targets:
        return ""
    if len(group.at) == 1:
        return f"at {node_words(group.at[0])}"
    objects = list(dict.fromkeys(node.object for node in group.at))
    return f"at {objects[0]}" if len(objects) == 1 else f"at {count(len(objects), objects[0].kind)}"
