"""What deleting an object would change, for people: what it touches, what becomes of that, worst first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.render.changes.lines import (
    attachments_section,
    changed_problems_section,
    effect_sections,
    enforcement_section,
    first_lines,
    gateways_section,
    object_line,
    parents_section,
    traffic_section,
)
from kubectl_policy.render.changes.words import blast_headline
from kubectl_policy.render.output.text import Line, Span, pad
from kubectl_policy.render.words.names import attachment_words, count, names, node_words
from kubectl_policy.render.words.next_commands import after_blast_radius, next_section
from kubectl_policy.render.words.sections import section, unseen_section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.questions.changes.blast_radius import (
        BlastRadius,
        DetachedRoute,
        ObjectCounts,
        PolicyReach,
        SupersededOn,
    )
    from kubectl_policy.render.output.text import Document, View


def blast_radius_tree(answer: BlastRadius, view: View) -> Document:
    """The answer in the order of thought that every command keeps."""
    difference, subject = answer.difference, answer.subject
    kept = [change for change in difference.effects if change.where == "kept"]
    gone = [change for change in difference.effects if change.where == "gone"]
    deleted = {subject, *answer.deleted_with_it}
    targets = [change for change in difference.attachments if change.policy not in deleted]
    parents = [change for change in difference.parents if change.route not in deleted]
    told = (*(change.message for change in targets), *(change.message for change in parents))
    messages = tuple(message for message in told if message)
    problems = [found for found in difference.problems.introduced if not found.message.endswith(messages)]
    return (
        Line((Span(blast_headline(answer), "title", prose=True),), 0, 2),
        *section("Affects" if answer.reach else "Concerns", _counts(answer.counts)),
        *effect_sections(kept, view, subject if answer.reach else None),
        *(_superseded(answer.reach) if answer.reach else ()),
        *(_no_effect(answer.reach) if answer.reach else ()),
        *section(
            "Deleted with it",
            [object_line([str(ref) for ref in answer.deleted_with_it])] if answer.deleted_with_it else [],
        ),
        *gateways_section(difference.without_class),
        *parents_section("Routes that lose parents", parents, difference.cut_off, deleted),
        *traffic_section(gone, deleted),
        *attachments_section("Policies that lose a target", targets),
        *enforcement_section(change for change in difference.enforcement if change.policy not in deleted),
        *changed_problems_section("Problems introduced", problems),
        *changed_problems_section("Problems fixed", difference.problems.fixed),
        *unseen_section(difference.unseen),
        *next_section(after_blast_radius(answer), view),
    )


def _counts(found: ObjectCounts) -> Iterator[Line]:
    rows = [
        ("kinds", ", ".join(count(number, kind.kind) for kind, number in found.kinds)),
        ("namespaces", ", ".join(f"{name or '(none)'} {number:,}" for name, number in found.namespaces)),
    ]
    if found.owner_key:
        rows.append((found.owner_key, ", ".join(f"{name or '(not said)'} {number:,}" for name, number in found.owners)))
    width = max(len(label) for label, _ in rows)
    for label, words in rows if found.total else ():
        yield Line((Span(f"{pad(label, width)}   "), Span(words, prose=True)), 2, width + 5)


def _superseded(reach: PolicyReach) -> tuple[Line, ...]:
    """What is beaten by the same policies on one line."""
    return section("Attached, but others set every field", first_lines(reach.superseded, _superseded_line, "group"))


def _superseded_line(found: SupersededOn) -> Line:
    return object_line([node_words(node) for node in found.objects], lead=f"{names(found.by)}: ")


def _no_effect(reach: PolicyReach) -> tuple[Line, ...]:
    failed = [found for found in reach.attachments if found.state != "attached"]
    lines = (
        *first_lines(reach.detached, _detached_line, "object"),
        *first_lines(failed, _failed_line, "target"),
    )
    return section("No effect", lines)


def _detached_line(found: DetachedRoute) -> Line:
    reason = Span(f" [{found.reason}]" if found.reason else "")
    return Line((Span(f"{found.object}:"), Span(f" {found.message}", prose=True), reason), 2)


def _failed_line(found: Attachment) -> Line:
    return Line((Span(f"{attachment_words(found)}: "), Span(f"{found.state}: {found.message}", prose=True)), 2)
