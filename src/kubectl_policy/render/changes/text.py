"""`diff` and `blast-radius` as text: traffic first, then settings, then relations and problems."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeVar

from kubectl_policy.model import NodeRef
from kubectl_policy.model.kinds import names
from kubectl_policy.model.world import grouped_by
from kubectl_policy.questions.shared.effects import from_the_root
from kubectl_policy.render.changes.connections import connection_sections
from kubectl_policy.render.changes.headlines import blast_headline, diff_headline
from kubectl_policy.render.changes.settings import effect_sections
from kubectl_policy.render.changes.summary import summarize, untold_problems
from kubectl_policy.render.changes.traffic import (
    SHOWN,
    behind_section,
    list_line,
    more_line,
    nodes_phrase,
    owner_noun,
    traffic_sections,
)
from kubectl_policy.render.output.text import Line, Segment, in_a_row, pad, prose_line
from kubectl_policy.render.wording.names import attachment_phrase, count, node_label
from kubectl_policy.render.wording.sections import (
    BLANK,
    describing,
    headline_line,
    next_section,
    problem_line,
    references_section,
    section,
    unseen_section,
)
from kubectl_policy.render.wording.settings import INDENT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import Diagnostic, ObjectRef
    from kubectl_policy.questions.blast_radius import BlastRadius, DetachedRoute, ObjectCounts, SupersededOn
    from kubectl_policy.questions.diff import StateDiff
    from kubectl_policy.questions.differences.relations import AttachmentChange, EnforcementChange, ParentChange
    from kubectl_policy.render.changes.summary import ChangeSummary
    from kubectl_policy.render.output.text import Document, View

_Item = TypeVar("_Item")


def first_lines(items: Sequence[_Item], line: Callable[[_Item], Line], noun: str, view: View) -> tuple[Line, ...]:
    """Return a line for each item; where lists are cut for the first ones, with the number of the rest."""
    shown, rest = view.first(items, SHOWN)
    return (*map(line, shown), *((more_line(rest, noun),) if rest else ()))


def objects_section(title: str, objects: Iterable[ObjectRef | NodeRef], view: View) -> tuple[Line, ...]:
    """Return a section that lists objects."""
    names_ = [str(obj) for obj in objects]
    return section(title, [list_line(names_, view)] if names_ else ())


def parents_section(
    title: str,
    changes: Iterable[ParentChange],
    view: View,
    cut_off: Collection[ObjectRef] = (),
    gone: Collection[ObjectRef] = (),
) -> tuple[Line, ...]:
    """Return a section with a line for each route whose parents differ, marked if it is `cut_off`."""
    unattached = {*cut_off}
    routes = tuple(grouped_by(changes, lambda change: change.route).items())
    lines = first_lines(routes, lambda item: _route(*item, unattached, gone), "route", view)
    return section(title, lines)


def _route(
    route: ObjectRef, changes: Sequence[ParentChange], cut_off: Collection[ObjectRef], gone: Collection[ObjectRef]
) -> Line:
    certain = [change.parent for change in changes if "unknown" not in {change.before, change.after}]
    possible = [change.parent for change in changes if "unknown" in {change.before, change.after}]
    perhaps = f"perhaps {nodes_phrase(possible)}" if possible else ""
    where = ", ".join(filter(None, (nodes_phrase(certain) if certain else "", perhaps)))
    # That a parent is gone is reason enough.
    reasons = (change.message for change in changes if change.parent.object not in gone)
    reason = next((f" ({message})" for message in reasons if message), "")
    remark = Segment("; nothing is left to it", "warning", prose=True) if route in cut_off else Segment("")
    return Line(
        (Segment(f"{route}: ", "subject"), Segment(where, prose=True), remark, Segment(reason, prose=True)), INDENT, 4
    )


def attachments_section(title: str, changes: Iterable[AttachmentChange], view: View) -> tuple[Line, ...]:
    """Return a section of policies whose targets differ, grouped by what became of the reference."""
    by_way: dict[str, list[AttachmentChange]] = {}
    for change in changes:
        # In words that hold for others of which the same is so.
        message = change.message.replace(f"{change.policy.kind} counts only for", "it counts only for", 1)
        by_way.setdefault(_way(change, message.replace(str(change.target.object), "its target")), []).append(change)
    items = tuple(by_way.items())
    shown, _ = view.first(items, SHOWN)
    rest = sum(len(alike) for _, alike in items[len(shown) :])
    lines = [line for way, alike in shown for line in _with_targets(way, alike, view)]
    return section(title, (*lines, *([more_line(rest, "policy")] if rest else [])))


def _way(change: AttachmentChange, message: str) -> str:
    """Say what became of a reference: why it is not attached, or its former state."""
    if change.after is None:
        return "no longer names it"
    if change.after == "attached":
        return "names it now" if change.before is None else f"attached now, before: {change.before}"
    return message or str(change.after)


def _with_targets(way: str, changes: Sequence[AttachmentChange], view: View) -> Iterator[Line]:
    """Return one group of policies: in one line if they have one target, else below what became of them."""
    targets: dict[NodeRef, list[ObjectRef]] = {}
    for change in changes:
        targets.setdefault(change.target, []).append(change.policy)
    if len({change.message for change in changes}) == 1:
        way = _way(changes[0], changes[0].message)
    if len(targets) == 1:
        yield Line((*_on_targets(targets, view), Segment(f": {way}", prose=True)), INDENT, 2 * INDENT)
    else:
        yield prose_line(f"{way}:", indent=INDENT, hang=2 * INDENT)
        yield Line(tuple(_on_targets(targets, view)), 2 * INDENT, 3 * INDENT)


def _on_targets(targets: Mapping[NodeRef, Sequence[ObjectRef]], view: View) -> Iterator[Segment]:
    """`A, B → T; C → U`: policies on their targets, the first ones of many where lists are cut."""
    pairs = [(policies, target) for target, policies in targets.items()]
    shown, rest = view.first(pairs, SHOWN)
    for number, (policies, target) in enumerate(shown):
        if number:
            yield Segment(";")
        yield from _named(policies, view, lead=" " if number else "")
        yield Segment(f" → {node_label(target)}")
    if rest:
        yield _and_more(sum(len(policies) for policies, _ in pairs[-rest:]))


def _named(refs: Sequence[ObjectRef], view: View, lead: str = "") -> Iterator[Segment]:
    shown, rest = view.first(refs, SHOWN)
    yield from in_a_row([str(ref) for ref in shown], "subject", lead)
    if rest:
        yield _and_more(rest)


def _and_more(rest: int) -> Segment:
    return Segment(f" and {rest:,} more (--show-all)", "aside", prose=True)


def enforcement_section(changes: Iterable[EnforcementChange], view: View) -> tuple[Line, ...]:
    """Return a section with both states of the policies whose state differs."""
    by_state: dict[str, list[ObjectRef]] = {}
    for change in (change for change in changes if change.before != change.after):
        states = f"{change.before or 'no such policy'} → {change.after or 'no such policy'}"
        by = f", by {names(change.by)}" if change.by else ""
        by_state.setdefault(f"{states}{by}", []).append(change.policy)
    lines = first_lines(
        tuple(by_state.items()),
        lambda item: Line((*_named(item[1], view), Segment(f": {item[0]}", prose=True)), INDENT, 2 * INDENT),
        "state",
        view,
    )
    return section("Policies whose state changes", lines)


def changed_problems_section(title: str, problems: Iterable[Diagnostic], view: View) -> tuple[Line, ...]:
    """Return problems below a title of their own."""
    return section(title, first_lines(tuple(problems), problem_line, "problem", view))


_CLASSLESS: Final = "Gateways left without a class, so no controller acts on them"


def diff_text(difference: StateDiff, view: View) -> Document:
    """Return a comparison as text."""
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
        *connection_sections(difference.connections, view),
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
    if not (settings and difference.traffic.routes):
        return settings
    return (BLANK, Line((Segment("Then, by setting", "heading"),)), *settings)


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


def _reach_heading(answer: BlastRadius) -> str:
    """Return the heading of the numbers of objects: those that a policy affects, or that another object reaches."""
    if not answer.enforcement:
        return "Touches"
    return "May affect" if answer.enforcement.state == "Unknown" else "Affects"


def blast_radius_text(answer: BlastRadius, view: View) -> Document:
    """Return the consequences of a deletion as text."""
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
        *connection_sections(difference.connections, view),
        *behind_section(answer.behind, answer.counts.owner_key, view),
        *section(_reach_heading(answer), _counts(answer.counts)),
        *objects_section("Deleted with it", answer.deleted_with_it, view),
        *_then(difference, effect_sections(kept, view, subject if answer.policy else None)),
        *section(
            "Attached, but others set every field",
            first_lines(
                [group for group in superseded if group.by],
                lambda group: list_line(_object_phrases(group), view, lead=f"{names(group.by)}: "),
                "group",
                view,
            ),
        ),
        *section(
            "No effect",
            (
                *first_lines(
                    [group for group in superseded if not group.by],
                    lambda group: list_line(_object_phrases(group), view, lead="nothing that it sets counts on "),
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
    """List the objects whose traffic ends, but for routes of their own lines and for deleted objects."""
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
        yield Line((Segment(f"{pad(label, width)}   "), *in_a_row(items)), 2, width + 5)


def _object_phrases(superseded: SupersededOn) -> list[str]:
    return [nodes_phrase(list(nodes)) for _, nodes in groupby(superseded.objects, lambda node: node.object)]


def _detached(route: DetachedRoute) -> Line:
    reason = Segment(f" [{route.reason}]" if route.reason else "")
    return Line((Segment(f"{route.object}:"), Segment(f" {route.message}", prose=True), reason), 2)


def _failed(attachment: Attachment) -> Line:
    return Line(
        (
            Segment(f"{attachment_phrase(attachment)}: "),
            Segment(f"{attachment.state}: {attachment.message}", prose=True),
        ),
        2,
    )
