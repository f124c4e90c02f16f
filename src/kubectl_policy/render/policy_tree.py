"""The answer about a policy for one reader at a terminal: is it enforced, where, and what became of its fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.render.document import Line, Span, cells, pad
from kubectl_policy.render.headline import headline
from kubectl_policy.render.path_lines import path_lines
from kubectl_policy.render.scope import scope_of
from kubectl_policy.render.sections import next_section, problems_section, reported_section, section, unseen_section
from kubectl_policy.render.settings import INDENT, columns, doubt_lines, row
from kubectl_policy.render.words import count, flow, node_words, source_spans, source_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.questions.describe_policy import FieldOutcome, PolicyDescription
    from kubectl_policy.render.document import Document
    from kubectl_policy.render.view import View

_MOST: Final = 12


def policy_tree(answer: PolicyDescription, view: View) -> Document:
    """The answer about a policy in the order of thought that every command keeps."""
    numbered = any(
        scope_of(positions, answer.paths).numbered
        for field in answer.fields
        for positions in (field.effective_on, *(where for _, where in field.superseded))
    )
    # Without a subject among them, paths matter here only to say which of them a phrase means.
    paths = path_lines(answer.paths, answer.affected[0], view, numbered=True) if numbered and answer.affected else ()
    described = {attachment.message for attachment in answer.attachments}
    return (
        Line((Span(headline(answer), "title", prose=True),), 0, 2),
        *section("Targets", _targets(answer)),
        *section("Paths", paths),
        *section(_fields_title(answer), _fields(answer, view)),
        *section("Affects", _affected(answer, view)),
        *reported_section(answer.reported),
        *unseen_section(answer.unseen),
        *problems_section(answer.diagnostics, described),
        *next_section(list(dict.fromkeys(node.object for node in answer.affected)), view),
    )


def _targets(answer: PolicyDescription) -> Iterator[Line]:
    places = [_target_words(attachment) for attachment in answer.attachments]
    width = max(map(cells, places), default=0)
    for attachment, place in zip(answer.attachments, places, strict=True):
        # The headline has just said of a target that it does not exist.
        message = f": {attachment.message}" if attachment.message and attachment.state != "target missing" else ""
        yield Line(
            (
                Span(f"{pad(place, width)}   "),
                Span(attachment.state, "" if attachment.state == "attached" else "warning"),
                Span(message, prose=True),
            ),
            2,
        )


def _target_words(attachment: Attachment) -> str:
    declared = attachment.declared
    return node_words(attachment.target) if attachment.target else declared.field.removeprefix("spec.")


def _fields_title(answer: PolicyDescription) -> str:
    kind = str(answer.policy.group_kind)
    strategies = ", ".join(strategy.value.lower() for strategy in answer.strategies)
    return f"{kind} · {strategies}" if strategies and strategies != "none" else kind


def _fields(answer: PolicyDescription, view: View) -> Iterator[Line]:
    fields = answer.fields
    values = [flow(field.value) for field in fields]
    outcomes = [_outcome(field, answer) for field in fields]
    beaters = [source_words(beater) for field in fields for beater, _ in field.superseded]
    widths = columns([field.field for field in fields], values, [*outcomes, *beaters], view.width)
    for field, value, outcome in zip(fields, values, outcomes, strict=True):
        filled = (
            (Span(value, "value"), Span(outcome, prose=True))
            if field.effective_on
            else (Span(value), Span(outcome, "beaten"))
        )
        yield from row(field.field, filled[0], filled[1:], widths, view)
        for beater, positions in field.superseded:
            verb = "conflicts with" if field.rejected else "overridden by" if beater.overrides else "replaced by"
            where = scope_of(positions, answer.paths).words
            # That a policy on a route beats another one on that route goes without saying.
            limited = where and not f"{node_words(beater.target)} only".endswith(where)
            spans = (
                Span(verb, "beaten"),
                *source_spans(beater, " ", "beaten"),
                Span(f" on {where}" if limited else "", "beaten"),
            )
            yield Line(spans, widths.third, widths.third + INDENT)
    yield from doubt_lines(answer.doubts)


def _outcome(field: FieldOutcome, answer: PolicyDescription) -> str:
    declared_at = {other.source for other in answer.fields}
    target = f" by way of {node_words(field.source.target)}" if len(declared_at) > 1 else ""
    if not field.effective_on:
        return f"in effect nowhere{target}"
    where = scope_of(field.effective_on, answer.paths).words
    return f"in effect{' on ' + where if where else ''}{target}"


def _affected(answer: PolicyDescription, view: View) -> Iterator[Line]:
    most = _MOST if view.terminal else len(answer.affected)
    for node in answer.affected[:most]:
        yield Line((Span(node_words(node)),), 2)
    if len(answer.affected) > most:
        left = len(answer.affected) - most
        yield Line((Span(f"and {count(left, 'more place')}; -o yaml shows all {len(answer.affected)}", "aside"),), 2)
