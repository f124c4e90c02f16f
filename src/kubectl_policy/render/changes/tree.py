"""What differs between two states, and what deleting an object would change, for people: worst first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from kubectl_policy.model import NodeRef
from kubectl_policy.model.kinds import plural
from kubectl_policy.questions.shared.effects import from_the_root
from kubectl_policy.render.changes.blocks import alike, joined, targets_of
from kubectl_policy.render.changes.sentences import Scopes, blast_headline, diff_headline
from kubectl_policy.render.output.text import Line, Span, pad
from kubectl_policy.render.words.names import (
    attachment_words,
    count,
    flow,
    listed,
    mark,
    names,
    node_words,
    section_words,
    source_spans,
)
from kubectl_policy.render.words.next_commands import after_blast_radius, next_section
from kubectl_policy.render.words.reasons import assumption_lines, doubt_lines
from kubectl_policy.render.words.sections import (
    BLANK,
    calls_section,
    headline_line,
    problem_line,
    section,
    unseen_section,
)
from kubectl_policy.render.words.settings import INDENT, columns, row

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import Diagnostic, GroupKind, ObjectRef
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.questions.changes.blast_radius import BlastRadius, DetachedRoute, ObjectCounts, SupersededOn
    from kubectl_policy.questions.changes.diff import StateDiff
    from kubectl_policy.questions.differences.effects import (
        ChangeSort,
        EffectChange,
        EffectiveValue,
        FieldChange,
        Where,
    )
    from kubectl_policy.questions.differences.relations import AttachmentChange, EnforcementChange, ParentChange
    from kubectl_policy.render.output.text import Document, View
    from kubectl_policy.render.words.names import Targets
    from kubectl_policy.render.words.sections import Title

_Item = TypeVar("_Item")

# So many objects, lines or groups are shown of each sort; documents have all of them.
SHOWN: Final = 12
_REST: Final = "-o json"
_SORTS: Final[Mapping[ChangeSort, str]] = {
    "lost": "lost",
    "changed": "changed",
    "gained": "gained",
    "moved": "same value, set by another policy",
}
_WHERE: Final[Mapping[Where, str]] = {
    "kept": "",
    "gone": "with the traffic that ends",
    "new": "on new paths",
}


def diff_tree(difference: StateDiff, view: View) -> Document:
    """The comparison in the order of thought that every command keeps."""
    lasting = [change for change in difference.effects if change.where != "gone"]
    gone = [change for change in difference.effects if change.where == "gone"]
    deleted = {*difference.deleted}
    lost = [change for change in difference.parents if change.before == "attached"]
    got = [change for change in difference.parents if change.before != "attached"]
    return (
        headline_line(diff_headline(difference)),
        *effect_sections(lasting, view),
        *gateways_section(difference.without_class),
        *parents_section("Routes that lose parents", lost, difference.cut_off, deleted),
        *parents_section("Routes that get parents", got),
        *traffic_section(gone, deleted),
        *_targets(difference),
        *enforcement_section(difference.enforcement),
        *changed_problems_section("Problems introduced", difference.problems.introduced),
        *changed_problems_section("Problems fixed", difference.problems.fixed),
        *changed_problems_section("Problems that stay, of objects that differ", difference.problems.unchanged),
        *section("Objects that differ", _objects(difference)),
        *unseen_section(difference.unseen),
    )


def _targets(difference: StateDiff) -> tuple[Line, ...]:
    lost = [change for change in difference.attachments if change.before == "attached"]
    got = [change for change in difference.attachments if change.after == "attached"]
    # That a policy comes or goes is no way to fail.
    passing = {*difference.created, *difference.deleted}
    failing = (change for change in difference.attachments if "attached" not in {change.before, change.after})
    rest = [change for change in failing if change.policy not in passing]
    return (
        *attachments_section("Policies that lose a target", lost),
        *attachments_section("Policies that get a target", got),
        *attachments_section("References that fail otherwise", rest),
    )


def _objects(difference: StateDiff) -> Iterator[Line]:
    sorts = (("created", difference.created), ("updated", difference.updated), ("deleted", difference.deleted))
    for word, refs in sorts:
        if refs:
            yield object_line([str(ref) for ref in refs], lead=f"{word}   ")


def blast_radius_tree(answer: BlastRadius, view: View) -> Document:
    """The answer in the order of thought that every command keeps."""
    difference, subject = answer.difference, answer.subject
    kept = [change for change in difference.effects if change.where == "kept"]
    gone = [change for change in difference.effects if change.where == "gone"]
    deleted = {subject, *answer.deleted_with_it}
    targets = [change for change in difference.attachments if change.policy not in deleted]
    parents = [change for change in difference.parents if change.route not in deleted]
    messages = [*(change.message for change in targets), *(change.message for change in parents)]
    told = {message for message in messages if message}
    lengths = {len(message) for message in told}
    problems = [
        problem
        for problem in difference.problems.introduced
        if not any(problem.message[-length:] in told for length in lengths)
    ]
    reach, with_it = answer.reach, [str(ref) for ref in answer.deleted_with_it]
    superseded, detached = (reach.superseded, reach.detached) if reach else ((), ())
    failed = [attachment for attachment in reach.attachments if attachment.state != "attached"] if reach else []
    return (
        headline_line(blast_headline(answer)),
        *section("Affects" if reach else "Concerns", _counts(answer.counts)),
        *effect_sections(kept, view, subject if reach else None),
        *section("Attached, but others set every field", first_lines(superseded, _superseded, "group")),
        *section("No effect", (*first_lines(detached, _detached, "object"), *first_lines(failed, _failed, "target"))),
        *section("Deleted with it", [object_line(with_it)] if with_it else []),
        *gateways_section(difference.without_class),
        *parents_section("Routes that lose parents", parents, difference.cut_off, deleted),
        *traffic_section(gone, deleted),
        *attachments_section("Policies that lose a target", targets),
        *enforcement_section(change for change in difference.enforcement if change.policy not in deleted),
        *calls_section(answer.called_by),
        *changed_problems_section("Problems introduced", problems),
        *changed_problems_section("Problems fixed", difference.problems.fixed),
        *unseen_section(difference.unseen),
        *next_section(after_blast_radius(answer), view),
    )


def _counts(counts: ObjectCounts) -> Iterator[Line]:
    rows = [
        ("kinds", ", ".join(count(number, kind.kind) for kind, number in counts.kinds)),
        ("namespaces", ", ".join(f"{name or '(none)'} {number:,}" for name, number in counts.namespaces)),
    ]
    if counts.owner_key:
        rows.append(
            (counts.owner_key, ", ".join(f"{name or '(not said)'} {number:,}" for name, number in counts.owners))
        )
    width = max(len(label) for label, _ in rows)
    for label, words in rows if counts.total else ():
        yield Line((Span(f"{pad(label, width)}   "), Span(words, prose=True)), 2, width + 5)


def _superseded(superseded: SupersededOn) -> Line:
    return object_line([node_words(node) for node in superseded.objects], lead=f"{names(superseded.by)}: ")


def _detached(route: DetachedRoute) -> Line:
    reason = Span(f" [{route.reason}]" if route.reason else "")
    return Line((Span(f"{route.object}:"), Span(f" {route.message}", prose=True), reason), 2)


def _failed(attachment: Attachment) -> Line:
    return Line(
        (Span(f"{attachment_words(attachment)}: "), Span(f"{attachment.state}: {attachment.message}", prose=True)), 2
    )


def effect_sections(changes: Sequence[EffectChange], view: View, subject: ObjectRef | None = None) -> tuple[Line, ...]:
    """A block for each change, worst first, or for several that are alike; what the `subject` sets needs no source."""
    scopes = Scopes()
    common = set[str].intersection(*({*change.doubts} for change in changes)) if changes else set[str]()
    together = alike(changes)
    blocks = [
        (BLANK, *_effect(same, scopes, view, subject), *doubt_lines(sorted({*same[0].doubts} - common)))
        for same in together[:SHOWN]
    ]
    left = len(together) - SHOWN
    more = (BLANK, _and_more(left, "change")) if left > 0 else ()
    basis = (*_assumptions(changes), *doubt_lines(sorted(common)))
    apart = (BLANK,) if basis and len(changes) > 1 else ()
    return (*(line for block in blocks for line in block), *more, *apart, *basis)


def _assumptions(changes: Iterable[EffectChange]) -> Iterator[Line]:
    """What is assumed of each kind of which something differs, once; of several kinds with their names."""
    by_kind: dict[GroupKind, tuple[PolicyKindProfile, set[str]]] = {}
    for change in changes:
        by_kind.setdefault(change.kind, (change.profile, set()))[1].update(change.assumed)
    for kind, (profile, assumed) in by_kind.items():
        of_kind = [choice for choice in profile.assumed if choice in assumed]
        yield from assumption_lines(profile, of_kind, str(kind) if len(by_kind) > 1 else "")


def _effect(
    alike_changes: Sequence[EffectChange], scopes: Scopes, view: View, subject: ObjectRef | None
) -> Iterator[Line]:
    change, targets = joined(alike_changes), targets_of(alike_changes)
    yield _heading(change)
    values = [_value(field.before) for field in change.fields]
    # What of several fields protects is said at each; of one, or of all, the heading says it.
    protecting = change.security and not all(field.security for field in change.fields)
    thirds = [tuple(_becomes(field, subject, targets, protecting=protecting)) for field in change.fields]
    names = [field.field or "sets no field" for field in change.fields]
    widths = columns(names, values, ["".join(span.text for span in third) for third in thirds], view.width)
    for name, value, third in zip(names, values, thirds, strict=True):
        yield from row(name, Span(value, "beaten"), third, widths, view)
    yield object_line(list(_places(change, scopes)), indent=2 * INDENT)


def _heading(change: EffectChange) -> Line:
    sorts = {field.sort for field in change.fields}
    words = listed([word for sort, word in _SORTS.items() if sort in sorts])
    where = f" {_WHERE[change.where]}" if _WHERE[change.where] else ""
    alone = change.to_nothing and not change.from_nothing
    left = f", no {change.kind.kind} is left" if alone else ""
    danger = Span(" · relevant to security", "error") if change.security else Span("")
    number = len({changed.node.object for changed in change.objects})
    objects = f"{number:,} {'object' if number == 1 else plural('object')}"
    lead = Span(f"{words[:1].upper()}{words[1:]}{where}{left}", "heading", prose=True)
    kind = f"{change.kind}{mark(change.profile, 'being a policy')}"
    return Line((lead, danger, Span(f" · {kind} · {objects}", prose=True)), 0, 2)


def _value(value: EffectiveValue | None) -> str:
    if value is None:
        return "nothing"
    text = "removed" if value.removed else flow(value.value)
    return text if value.certain else f"{text} (may hold)"


def _becomes(field: FieldChange, subject: ObjectRef | None, targets: Targets, *, protecting: bool) -> Iterator[Span]:
    """How a field changes, by whom, and whether it is one of those that protect something."""
    yield Span("→ ")
    yield Span(_value(field.after), "value" if field.sort != "lost" else "warning")
    if field.after:
        yield from source_spans(field.after.source, ", by ", targets=targets)
    same = field.before and field.after and field.before.source == field.after.source
    if field.before and field.before.source.object != subject and not same:
        yield from source_spans(field.before.source, " (was by ", targets=targets)
        yield Span(")")
    if protecting and field.security:
        yield Span(" (protects)", "error")


def _places(change: EffectChange, scopes: Scopes) -> Iterator[str]:
    """Objects, each with its sections and, if it is not on all of its paths that something is so, on which."""
    by_object: dict[tuple[ObjectRef, str], list[NodeRef]] = {}
    for changed in change.objects:
        by_object.setdefault((changed.node.object, scopes.words(change, changed)), []).append(changed.node)
    for (obj, scope), nodes in by_object.items():
        about = [*(section_words(node) for node in nodes if node.section), *([scope] if scope else [])]
        yield f"{obj} ({', '.join(about)})" if about else str(obj)


def object_line(places: Sequence[str], indent: int = INDENT, lead: str = "") -> Line:
    """Objects one after another, the first ones of many, with how many more there are and what shows them."""
    shown = list(places[:SHOWN])
    left = len(places) - len(shown)
    last = len(shown) - 1
    spans = [Span(f"{' ' if place else ''}{text}{',' if place < last else ''}") for place, text in enumerate(shown)]
    more = [Span(f" and {left:,} more: {_REST}", "aside", prose=True)] if left else []
    return Line((Span(lead), *spans, *more), indent, indent + len(lead))


def _and_more(left: int, noun: str) -> Line:
    return Line(
        (Span(f"and {left:,} more {noun if left == 1 else plural(noun)}: {_REST}", "aside", prose=True),), INDENT
    )


def first_lines(items: Sequence[_Item], line: Callable[[_Item], Line], noun: str) -> tuple[Line, ...]:
    """A line for each of the first of many things, with how many more there are and what shows them."""
    left = len(items) - SHOWN
    return (*map(line, items[:SHOWN]), *((_and_more(left, noun),) if left > 0 else ()))


def traffic_section(changes: Iterable[EffectChange], gone: Collection[ObjectRef] = ()) -> tuple[Line, ...]:
    """The objects to which traffic ends, without those that are themselves gone, and the kinds with settings there."""
    ended = tuple(changes)
    nodes = {
        NodeRef(changed.node.object)
        for change in ended
        for changed in change.objects
        if changed.node.object not in gone
    }
    places = [str(node) for node in sorted(nodes, key=from_the_root)]
    if not places:
        return ()
    kinds = list(dict.fromkeys(str(change.kind) for change in ended))
    about = f"{count(len(kinds), 'policy kind')} had settings there: {', '.join(kinds)}"
    return section("Traffic ends", (object_line(places), Line((Span(about, "aside", prose=True),), INDENT, 2 * INDENT)))


def gateways_section(gateways: Sequence[ObjectRef]) -> tuple[Line, ...]:
    """The Gateways that lose their class."""
    lines = [object_line([str(gateway) for gateway in gateways])] if gateways else ()
    return section("Gateways that lose their class, so that no controller acts on them", lines)


def parents_section(
    title: Title, changes: Iterable[ParentChange], cut_off: Collection[ObjectRef] = (), gone: Collection[ObjectRef] = ()
) -> tuple[Line, ...]:
    """The routes whose parents differ: a line each, with whether it is `cut_off`.

    That a parent is among what is `gone` is reason enough.
    """
    alone = {*cut_off}
    routes: dict[ObjectRef, list[ParentChange]] = {}
    for change in changes:
        routes.setdefault(change.route, []).append(change)
    lines = first_lines(tuple(routes.items()), lambda item: _route(*item, alone, gone), "route")
    return section(title, lines)


def _route(
    route: ObjectRef, changes: Sequence[ParentChange], cut_off: Collection[ObjectRef], gone: Collection[ObjectRef]
) -> Line:
    parents: dict[ObjectRef, list[str]] = {}
    for change in changes:
        parents.setdefault(change.parent.object, []).extend([change.parent.section] if change.parent.section else [])
    where = listed([f"{parent}{_listeners(names)}" for parent, names in parents.items()])
    reasons = (change.message for change in changes if change.parent.object not in gone)
    reason = next((f" ({message})" for message in reasons if message), "")
    left = Span("; nothing is left to it", "warning", prose=True) if route in cut_off else Span("")
    return Line((Span(f"{route}: ", "subject"), Span(where, prose=True), left, Span(reason, prose=True)), INDENT, 4)


def _listeners(names: Sequence[str]) -> str:
    return f" (listener{'s' if len(names) > 1 else ''} {', '.join(names)})" if names else ""


def attachments_section(title: Title, changes: Iterable[AttachmentChange]) -> tuple[Line, ...]:
    """The policies whose targets differ: a line for each target, and for each way in which that is so."""
    by_target: dict[tuple[NodeRef, str], list[ObjectRef]] = {}
    for change in changes:
        states = f"{change.before or 'no such reference'} → {change.after or 'no such reference'}"
        why = f": {change.message}" if change.message and change.after != "attached" else ""
        by_target.setdefault((change.target, f"{states}{why}"), []).append(change.policy)
    items = [(policies, f" → {node_words(target)}", words) for (target, words), policies in by_target.items()]
    return section(title, _by_policies(items, "target"))


def _by_policies(items: Sequence[tuple[Sequence[ObjectRef], str, str]], noun: str) -> tuple[Line, ...]:
    """A line for the policies of each item, then where they are, then what is so; of many items the first ones."""
    left = sum(len(policies) for policies, _, _ in items[SHOWN:])
    lines = (
        Line((*_named(policies), Span(f"{where}: "), Span(words, prose=True)), INDENT, 2 * INDENT)
        for policies, where, words in items[:SHOWN]
    )
    return (*lines, *((_and_more(left, noun),) if left else ()))


def _named(refs: Sequence[ObjectRef]) -> Iterator[Span]:
    """Objects one after another, the first ones of many, with how many more there are and what shows them."""
    left, last = len(refs) - SHOWN, min(len(refs), SHOWN) - 1
    for place, ref in enumerate(refs[:SHOWN]):
        yield Span(f"{' ' if place else ''}{ref}{',' if place < last else ''}", "subject")
    if left > 0:
        yield Span(f" and {left:,} more ({_REST})", "aside", prose=True)


def enforcement_section(changes: Iterable[EnforcementChange]) -> tuple[Line, ...]:
    """The policies of which the state differs: a line for both states."""
    by_state: dict[str, list[ObjectRef]] = {}
    for change in (change for change in changes if change.before != change.after):
        states = f"{change.before or 'no such policy'} → {change.after or 'no such policy'}"
        by = f", by {names(change.by)}" if change.by else ""
        by_state.setdefault(f"{states}{by}", []).append(change.policy)
    items = [(policies, "", words) for words, policies in by_state.items()]
    return section("Policies that fare otherwise", _by_policies(items, "policy"))


def changed_problems_section(title: Title, problems: Iterable[Diagnostic]) -> tuple[Line, ...]:
    """Problems under a title of their own."""
    return section(title, first_lines(tuple(problems), problem_line, "problem"))
