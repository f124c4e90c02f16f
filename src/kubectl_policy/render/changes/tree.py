"""What differs between two states, and what deleting an object would change, for people: worst first."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from kubectl_policy.model import NodeRef
from kubectl_policy.model.kinds import names
from kubectl_policy.questions.shared.effects import from_the_root
from kubectl_policy.render.changes.headlines import blast_headline, diff_headline
from kubectl_policy.render.changes.relations import (
    attachments_section,
    changed_problems_section,
    enforcement_section,
    first_lines,
    objects_section,
    parents_section,
)
from kubectl_policy.render.changes.settings import effect_sections
from kubectl_policy.render.changes.summary import summarize, untold_problems
from kubectl_policy.render.changes.traffic import (
    behind_section,
    list_line,
    owner_noun,
    places_words,
    traffic_sections,
)
from kubectl_policy.render.output.text import Line, Span, in_a_row, pad
from kubectl_policy.render.wording.names import attachment_words, count
from kubectl_policy.render.wording.next_commands import describing, next_section
from kubectl_policy.render.wording.sections import BLANK, headline_line, references_section, section, unseen_section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.questions.blast_radius import BlastRadius, DetachedRoute, ObjectCounts, SupersededOn
    from kubectl_policy.questions.diff import StateDiff
    from kubectl_policy.render.changes.summary import ChangeSummary
    from kubectl_policy.render.output.text import Document, View

_CLASSLESS: Final = "Gateways left without a class, so that no controller acts on them"


def diff_tree(difference: StateDiff, view: View) -> Document:
    """The comparison in the order of thought that every command keeps."""
    lasting = [change for change in difference.effects if change.where != "gone"]
    deleted = {*difference.deleted}
    mentioned = {traffic.route for traffic in difference.traffic.routes}
    parents = [change for change in difference.parents if change.route not in mentioned]
    lost = [change for change in parents if change.before == "attached"]
    got = [change for change in parents if change.before != "attached"]
    problems = difference.problems
    objects = (("created", difference.created), ("updated", difference.updated), ("deleted", difference.deleted))
    return (
        headline_line(diff_headline(difference)),
        *traffic_sections(difference, view),
        *_then(difference, effect_sections(lasting, view)),
        *objects_section(_CLASSLESS, difference.without_class, view),
        *parents_section("Routes that lose parents", lost, view, difference.cut_off, deleted),
        *parents_section("Routes that get parents", got, view),
        *ending_section(summarize(difference), view),
        *_targets(difference, view),
        *enforcement_section(difference.enforcement, view),
        *changed_problems_section("Problems introduced", problems.introduced, view),
        *changed_problems_section("Problems fixed", problems.fixed, view),
        *changed_problems_section("Problems that remain in changed objects", problems.unchanged, view),
        *section(
            "Changed objects",
            [list_line([str(ref) for ref in refs], view, lead=f"{verb}   ") for verb, refs in objects if refs],
        ),
        *unseen_section(difference.unseen),
    )


def _then(difference: StateDiff, settings: tuple[Line, ...]) -> tuple[Line, ...]:
    """The settings that differ, after the traffic that does."""
    if not (settings and difference.traffic.routes):
        return settings
    return (BLANK, Line((Span("Then, by setting", "heading"),)), *settings)


def _targets(difference: StateDiff, view: View) -> tuple[Line, ...]:
    # Policies that are deleted are named as such.
    lasting = [change for change in difference.attachments if change.policy not in difference.deleted]
    lost = [change for change in lasting if change.before == "attached"]
    got = [change for change in difference.attachments if change.after == "attached"]
    # That a policy comes or goes is no way to fail.
    passing = {*difference.created, *difference.deleted}
    failing = (change for change in difference.attachments if "attached" not in {change.before, change.after})
    rest = [change for change in failing if change.policy not in passing]
    return (
        *attachments_section("Policies that lose a target", lost, view),
        *attachments_section("Policies that get a target", got, view),
        *attachments_section("References that fail for another reason", rest, view),
    )


def blast_radius_tree(answer: BlastRadius, view: View) -> Document:
    """The answer in the order of thought that every command keeps."""
    difference, subject = answer.difference, answer.subject
    kept = [change for change in difference.effects if change.where == "kept"]
    deleted = {subject, *answer.deleted_with_it}
    summary = summarize(difference, deleted)
    mentioned = {*deleted, *(traffic.route for traffic in difference.traffic.routes)}
    invalid = {failing.policy for failing in difference.failing}
    hidden = deleted | invalid
    targets = [change for change in difference.attachments if change.policy not in hidden]
    parents = [change for change in difference.parents if change.route not in mentioned]
    superseded = answer.superseded
    failed = [attachment for attachment in answer.targets if attachment.state != "attached"]
    most_changed = [changed.node.object for change in difference.effects for changed in change.objects][:1]
    return (
        headline_line(blast_headline(answer, summary)),
        *traffic_sections(difference, view),
        *behind_section(answer.behind, answer.counts.owner_key, view),
        *section("Affects" if answer.policy else "Touches", _counts(answer.counts)),
        *objects_section("Deleted with it", answer.deleted_with_it, view),
        *_then(difference, effect_sections(kept, view, subject if answer.policy else None)),
        *section(
            "Attached, but others set every field",
            first_lines(
                [group for group in superseded if group.by],
                lambda group: list_line(_object_words(group), view, lead=f"{names(group.by)}: "),
                "group",
                view,
            ),
        ),
        *section(
            "No effect",
            (
                *first_lines(
                    [group for group in superseded if not group.by],
                    lambda group: list_line(_object_words(group), view, lead="nothing that it sets counts on "),
                    "group",
                    view,
                ),
                *first_lines(answer.detached, _detached, "object", view),
                *first_lines(failed, _failed, "target", view),
            ),
        ),
        *objects_section(_CLASSLESS, difference.without_class, view),
        *parents_section("Routes that lose parents", parents, view, difference.cut_off, deleted),
        *ending_section(summary, view),
        *attachments_section("Policies that lose a target", targets, view),
        *enforcement_section((change for change in difference.enforcement if change.policy not in deleted), view),
        *references_section(
            (reference for reference in answer.referred_to_by if reference.policy not in invalid), subject
        ),
        *changed_problems_section("Problems introduced", untold_problems(answer), view),
        # What goes with the object has not been put right.
        *changed_problems_section(
            "Problems fixed", [problem for problem in difference.problems.fixed if problem.subject not in deleted], view
        ),
        *unseen_section(difference.unseen),
        *next_section(map(describing, dict.fromkeys([*most_changed, subject])), view),
    )


def ending_section(summary: ChangeSummary, view: View) -> tuple[Line, ...]:
    """Where settings end with their paths, but for what is said of routes and for what is itself gone."""
    ended = summary.ended
    nodes = from_the_root(NodeRef(ref) for ref in ended.on_all_paths | ended.on_some_paths)
    return objects_section("Traffic ends", nodes, view)


def _counts(counts: ObjectCounts) -> Iterator[Line]:
    rows = [
        ("kinds", [count(counted.count, counted.kind) for counted in counts.kinds]),
        ("namespaces", [f"{row.namespace or 'cluster-scoped:'} {row.count:,}" for row in counts.namespaces]),
    ]
    if counts.owner_key:
        noun = owner_noun(counts.owner_key)
        rows.append((noun, [f"{row.owner or f'no {noun} label:'} {row.count:,}" for row in counts.owners]))
    width = max(len(label) for label, _ in rows)
    for label, items in rows if counts.total else ():
        # A number stays with what it counts.
        yield Line((Span(f"{pad(label, width)}   "), *in_a_row(items)), 2, width + 5)


def _object_words(superseded: SupersededOn) -> list[str]:
    """The objects, each once with all of its sections."""
    return [places_words(list(nodes)) for _, nodes in groupby(superseded.objects, lambda node: node.object)]


def _detached(route: DetachedRoute) -> Line:
    reason = Span(f" [{route.reason}]" if route.reason else "")
    return Line((Span(f"{route.object}:"), Span(f" {route.message}", prose=True), reason), 2)


def _failed(attachment: Attachment) -> Line:
    return Line(
        (Span(f"{attachment_words(attachment)}: "), Span(f"{attachment.state}: {attachment.message}", prose=True)), 2
    )
