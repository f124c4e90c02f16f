"""The answer about a policy for one reader at a terminal: is it enforced, where, and what became of its fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.profiles.status import STANDARD_STATUS
from kubectl_policy.render.output.text import Line, Span, cells, pad
from kubectl_policy.render.words.headlines import headline
from kubectl_policy.render.words.names import (
    attachment_words,
    count,
    flow,
    listed,
    node_words,
    source_spans,
    source_words,
)
from kubectl_policy.render.words.paths import path_lines
from kubectl_policy.render.words.reasons import doubt_lines, merging_words, note_lines
from kubectl_policy.render.words.scopes import scope_of
from kubectl_policy.render.words.sections import (
    BLANK,
    events_section,
    expected_places_section,
    next_section,
    problems_section,
    reported_section,
    section,
    unseen_section,
)
from kubectl_policy.render.words.settings import INDENT, columns, row, without_keys

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.describe.policies import FieldOutcome, PolicyDescription
    from kubectl_policy.render.output.text import Document
    from kubectl_policy.render.output.view import View
    from kubectl_policy.resolution import Source


class _Defeat(NamedTuple):
    """Who beats a field together, at the positions of some paths; `partly` if a part of it is in effect there."""

    beaters: tuple[Source, ...]
    partly: bool
    positions: tuple[int, ...]


def needs_numbers(answer: PolicyDescription) -> bool:
    """Whether the words for some field name paths by their numbers, which have to be shown then."""
    told = (positions for field in answer.fields for positions in _told(field, answer))
    return any(scope_of(positions, answer.paths).numbered for positions in told)


def _told(field: FieldOutcome, answer: PolicyDescription) -> Iterator[tuple[int, ...]]:
    yield from (positions for positions in _effective(field, answer) if positions)
    yield from (defeat.positions for defeat in _defeats(field, answer))
    yield from filter(None, (field.ignored_on, field.port_entry_on))


def outcome_words(field: FieldOutcome, answer: PolicyDescription) -> str:
    """`in effect on listener https only, in part on rule seats only`; `in effect nowhere`."""
    declared_at = {other.source for other in answer.fields}
    target = f" by way of {node_words(field.source.target)}" if len(declared_at) > 1 else ""
    if not field.effective_on:
        return f"in effect nowhere{target}"
    parts: list[str] = []
    for how, positions in zip(("", "in part"), _effective(field, answer), strict=True):
        where = scope_of(positions, answer.paths).words
        words = " ".join(filter(None, (how, f"on {where}" if where else "")))
        parts += [words] if positions else []
    return " ".join(filter(None, ("in effect", ", ".join(parts)))) + target


def beaten_by(field: FieldOutcome, answer: PolicyDescription) -> Iterator[tuple[Span, ...]]:
    """A line of words for each group of policies that beats the field somewhere, and for where nobody heeds it."""
    yield from _ignored(field, answer)
    for beaters, partly, positions in _defeats(field, answer):
        where = scope_of(positions, answer.paths).words
        # That a policy on a route beats another one on that route goes without saying.
        limited = where and not any(f"{node_words(beater.target)} only".endswith(where) for beater in beaters)
        yield (
            Span(f"{'in part ' if partly else ''}{_verb(field, beaters, answer)}", "beaten"),
            *(
                span
                for place, beater in enumerate(beaters)
                for span in source_spans(beater, " and " if place else " ", "beaten")
            ),
            Span(f" on {where}" if limited else "", "beaten"),
        )


def _ignored(field: FieldOutcome, answer: PolicyDescription) -> Iterator[tuple[Span, ...]]:
    """The lines for where controllers do not look at a field, or look at what is said of the port instead."""
    port_field = answer.profile.port_field
    entry = port_field is not None and field.field.startswith(f"{port_field.field}[")
    why = "is for another port" if entry and field.effective_on else "controllers ignore it"
    instead = f"an entry of {port_field.field} stands instead" if port_field else ""
    for words, positions in ((why, field.ignored_on), (instead, field.port_entry_on)):
        where = scope_of(positions, answer.paths).words
        limited = where and len(positions) < len(answer.paths)
        if positions:
            yield (Span(f"{words}{f' on {where}' if limited else ''}", "beaten", prose=True),)


def displaced(answer: PolicyDescription) -> Iterator[str]:
    """A phrase for the paths on which the policy has no say, because policies of sections apply there instead."""
    groups: dict[tuple[ObjectRef, ...], list[int]] = {}
    for position, outcome in enumerate(answer.enforcement.outcomes):
        if all(part.source.object != answer.policy for part in outcome.contributions):
            groups.setdefault(tuple(sorted(outcome.policies_in_force())), []).append(position)
    for policies, positions in groups.items():
        where = scope_of(positions, answer.paths).words.removesuffix(" only")
        names = listed([str(ref) for ref in policies])
        everywhere = len(positions) == len(answer.paths)
        yield f"{names} applies instead" if everywhere else f"not on {where}, where {names} applies"


def _verb(field: FieldOutcome, beaters: tuple[Source, ...], answer: PolicyDescription) -> str:
    together = all(beater.target == field.source.target for beater in beaters)
    if field.rejected:
        alone = answer.profile.same_level == "one-applies" and together
        elsewhere = all(beater.target != field.source.target for beater in beaters)
        if elsewhere and answer.profile.refusal == "everywhere":
            return "refused on all of its targets, for"
        return "refused in favour of" if alone else "conflicts with"
    # Where several are in force instead, not each of them has replaced it.
    if len(beaters) > 1 or (field.source.overrides and together):
        return "gives way to"
    return "overridden by" if any(beater.overrides for beater in beaters) else "replaced by"


def _effective(field: FieldOutcome, answer: PolicyDescription) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The positions where all of a field is in effect, and those where a part of it is."""
    beaten = {
        position for beater, positions in field.superseded if beater.object != answer.policy for position in positions
    }
    wholly = tuple(position for position in field.effective_on if position not in beaten)
    return wholly, tuple(position for position in field.effective_on if position in beaten)


def _defeats(field: FieldOutcome, answer: PolicyDescription) -> tuple[_Defeat, ...]:
    beaters: dict[int, list[Source]] = {}
    for beater, positions in field.superseded:
        for position in set(positions).difference(field.port_entry_on):
            beaters.setdefault(position, []).append(beater)
    partly = _effective(field, answer)[1]
    groups: dict[tuple[tuple[Source, ...], bool], list[int]] = {}
    for position, found in sorted(beaters.items()):
        groups.setdefault((tuple(found), position in partly), []).append(position)
    return tuple(_Defeat(*group, tuple(positions)) for group, positions in groups.items())


_MOST: Final = 12


def policy_tree(answer: PolicyDescription, view: View) -> Document:
    """The answer about a policy in the order of thought that every command keeps."""
    numbered = needs_numbers(answer)
    # Without a subject among them, paths matter here only to say which of them a phrase means.
    paths = path_lines(answer.paths, answer.affected[0], view, numbered=True) if numbered and answer.affected else ()
    described = {attachment.message for attachment in answer.attachments}
    return (
        Line((Span(headline(answer), "title", prose=True),), 0, 2),
        *section("Targets", _targets(answer)),
        *section("Paths", paths),
        *_fields_section(answer, view),
        *section("Affects", _affected(answer, view)),
        # What any controller may be expected to report by GEP-713 tells nothing about this policy.
        *(expected_places_section(answer.expected) if answer.profile.status != STANDARD_STATUS else ()),
        *reported_section(answer.reported),
        *events_section(answer.events),
        *unseen_section(answer.unseen),
        *problems_section(answer.diagnostics, described),
        *next_section(list(dict.fromkeys(node.object for node in answer.affected)), view),
    )


def _targets(answer: PolicyDescription) -> Iterator[Line]:
    places = [attachment_words(attachment).removeprefix("spec.") for attachment in answer.attachments]
    width = max(map(cells, places), default=0)
    # Of the only target, the headline has just said what is wrong with it.
    told = len(places) == 1 and answer.attachments[0].state != "attached"
    for attachment, place in zip(answer.attachments, places, strict=True):
        message = f": {attachment.message}" if attachment.message and not told else ""
        yield Line(
            (
                Span(f"{pad(place, width)}   "),
                Span(attachment.state, "" if attachment.state == "attached" else "warning"),
                Span(message, prose=True),
            ),
            2,
        )


def _fields_section(answer: PolicyDescription, view: View) -> tuple[Line, ...]:
    body = tuple(_fields(answer, view))
    merging = merging_words(answer.strategies, answer.profile)
    rest = Span(f" · {merging}" if merging else "", prose=True)
    return (BLANK, Line((Span(str(answer.policy.group_kind), "heading"), rest), 0, 2), *body) if body else ()


def _fields(answer: PolicyDescription, view: View) -> Iterator[Line]:
    fields = tuple(without_keys(answer.fields))
    values = [flow(field.value) for field in fields]
    outcomes = [outcome_words(field, answer) for field in fields]
    beaters = [source_words(beater) for field in fields for beater, _ in field.superseded]
    widths = columns([field.field for field in fields], values, [*outcomes, *beaters], view.width)
    for field, value, outcome in zip(fields, values, outcomes, strict=True):
        filled = (
            (Span(value, "value"), Span(outcome, prose=True))
            if field.effective_on
            else (Span(value), Span(outcome, "beaten"))
        )
        yield from row(field.field, filled[0], filled[1:], widths, view)
        for spans in beaten_by(field, answer):
            yield Line(spans, widths.third, widths.third + INDENT)
    for phrase in displaced(answer):
        yield Line((Span(phrase, "beaten", prose=True),), INDENT, 2 * INDENT)
    yield from doubt_lines(answer.doubts)
    yield from note_lines(answer.profile)


def _affected(answer: PolicyDescription, view: View) -> Iterator[Line]:
    most = _MOST if view.terminal else len(answer.affected)
    for node in answer.affected[:most]:
        yield Line((Span(node_words(node)),), 2)
    if len(answer.affected) > most:
        left = len(answer.affected) - most
        yield Line((Span(f"and {count(left, 'more place')}; -o yaml shows all {len(answer.affected)}", "aside"),), 2)
