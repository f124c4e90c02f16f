"""The answer about a policy for one reader at a terminal: is it enforced, where, and what became of its fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.profiles.status import STANDARD_STATUS
from kubectl_policy.render.document import Line, Span, cells, pad
from kubectl_policy.render.field_outcomes import beaten_by, displaced, needs_numbers, outcome_words
from kubectl_policy.render.headline import headline
from kubectl_policy.render.path_lines import path_lines
from kubectl_policy.render.reasons import doubt_lines, merging_words, note_lines
from kubectl_policy.render.sections import (
    BLANK,
    events_section,
    expected_places_section,
    next_section,
    problems_section,
    reported_section,
    section,
    unseen_section,
)
from kubectl_policy.render.settings import INDENT, columns, row, without_keys
from kubectl_policy.render.words import attachment_words, count, flow, node_words, source_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.questions.describe_policy import PolicyDescription
    from kubectl_policy.render.document import Document
    from kubectl_policy.render.view import View

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
