"""The answer about an object as text: what is in force and from whom, path by path, then the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_policy.render.describe.fields import sections_of
from kubectl_policy.render.describe.headline import object_headline, told_causes
from kubectl_policy.render.describe.named import Names
from kubectl_policy.render.describe.overview import by_kind, overview
from kubectl_policy.render.describe.places import Places
from kubectl_policy.render.output.text import Line, Span, in_a_row
from kubectl_policy.render.wording.names import node_words
from kubectl_policy.render.wording.next_commands import describing, next_section
from kubectl_policy.render.wording.sections import (
    BLANK,
    events_section,
    expected_section,
    failing_section,
    headline_line,
    not_looked_into_section,
    problems_section,
    references_section,
    reported_section,
    section,
    unseen_section,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Diagnostic
    from kubectl_policy.questions.describe.objects import NotApplying, ObjectDescription
    from kubectl_policy.render.output.text import Document, View


def object_tree(answer: ObjectDescription, view: View) -> Document:
    """The answer about an object in the order of thought that every command keeps."""
    places, names = Places(answer), Names(answer)
    short = tuple(overview(answer, places, names, view))
    kinds = by_kind(answer.in_force)
    return (
        headline_line(object_headline(answer)),
        *failing_section(answer.failing),
        *((BLANK, *short) if short else ()),
        *_paths(answer, places, view),
        *((BLANK,) if kinds else ()),
        *sections_of(kinds, places, names, view),
        *references_section(answer.referred_to_by, answer.subject.object),
        *section("Does not apply", _not_applying(answer)),
        *unseen_section(answer.unseen),
        *not_looked_into_section(answer.not_looked_into),
        *problems_section(_problems(answer), (entry.message for entry in answer.not_applying)),
        *reported_section(answer.reported),
        *events_section(answer.events),
        # What controllers should report is for `status`; here it is left to who asks for everything.
        *(expected_section(answer.expected) if view.everything else ()),
        *next_section(map(describing, answer.policies), view),
    )


def _problems(answer: ObjectDescription) -> Iterator[Diagnostic]:
    """The problems, but for remarks on policies that have no say here."""
    speaking = {source.policy for source in answer.sources}
    for problem in answer.diagnostics:
        of_subject = problem.subject in {None, answer.subject.object, *speaking}
        if of_subject or problem.severity != "info" or answer.subject.object in problem.related:
            yield problem


def _paths(answer: ObjectDescription, places: Places, view: View) -> tuple[Line, ...]:
    """The paths, where some words name them by their numbers, or where routes lead to the route."""
    numbered = any(places.numbered(group.positions) for group in answer.in_force)
    is_delegated = len(places.routes) > 1 and answer.subject.object in places.routes
    if not (numbered or is_delegated):
        return ()
    from kubectl_policy.render.wording.paths import path_lines  # noqa: PLC0415 (few answers have them)

    return section("Paths", path_lines(answer.paths, answer.subject, view, numbered=numbered))


def _not_applying(answer: ObjectDescription) -> Iterator[Line]:
    """A line for each reason and place, with all the policies that do not apply for it.

    Why a route is attached to nothing, the headline has said; policies that it does not get by that are named only.
    """
    said = {(cause.parent, cause.message) for cause in told_causes(answer.unattached)}
    together: dict[NotApplying, list[str]] = {}
    for entry in answer.not_applying:
        names = together.setdefault(replace(entry, policy=None), [])
        names += [str(entry.policy)] if entry.policy else []
    for entry, policies in together.items():
        is_said = entry.target is not None and (entry.target.object, entry.message) in said
        if is_said and not policies:
            continue
        target = node_words(entry.target) if entry.target else ""
        if policies:
            lead = f" → {target}: " if target else ": "
        else:
            lead = "" if entry.message.startswith(target) else f"{target}: "
        reason = Span(f" [{entry.reason}]" if entry.reason else "")
        message = "it is not attached there" if is_said else entry.message
        yield Line((*in_a_row(policies), Span(lead), Span(message, prose=True), reason), 2)
