"""What differs in what routes and policies are attached to, in the state of policies, and in what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from kubectl_policy.model.kinds import names
from kubectl_policy.render.changes.traffic import SHOWN, list_line, more_line, places_words
from kubectl_policy.render.output.text import Line, Span, in_a_row
from kubectl_policy.render.wording.names import node_words
from kubectl_policy.render.wording.sections import problem_line, section
from kubectl_policy.render.wording.settings import INDENT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import Diagnostic, NodeRef, ObjectRef
    from kubectl_policy.questions.differences.relations import AttachmentChange, EnforcementChange, ParentChange
    from kubectl_policy.render.output.text import View

_Item = TypeVar("_Item")


def first_lines(items: Sequence[_Item], line: Callable[[_Item], Line], noun: str, view: View) -> tuple[Line, ...]:
    """A line for each of some things; where lists are cut for the first ones, with how many more there are."""
    shown = items[:SHOWN] if view.cuts else items
    rest = len(items) - len(shown)
    return (*map(line, shown), *((more_line(rest, noun),) if rest else ()))


def objects_section(title: str, objects: Iterable[ObjectRef | NodeRef], view: View) -> tuple[Line, ...]:
    """Objects one after another under a title."""
    words = [str(obj) for obj in objects]
    return section(title, [list_line(words, view)] if words else ())


def parents_section(
    title: str,
    changes: Iterable[ParentChange],
    view: View,
    cut_off: Collection[ObjectRef] = (),
    gone: Collection[ObjectRef] = (),
) -> tuple[Line, ...]:
    """The routes whose parents differ: a line each, with whether it is `cut_off`."""
    unattached = {*cut_off}
    routes: dict[ObjectRef, list[ParentChange]] = {}
    for change in changes:
        routes.setdefault(change.route, []).append(change)
    lines = first_lines(tuple(routes.items()), lambda item: _route(*item, unattached, gone), "route", view)
    return section(title, lines)


def _route(
    route: ObjectRef, changes: Sequence[ParentChange], cut_off: Collection[ObjectRef], gone: Collection[ObjectRef]
) -> Line:
    where = places_words(change.parent for change in changes)
    # That a parent is gone is reason enough.
    reasons = (change.message for change in changes if change.parent.object not in gone)
    reason = next((f" ({message})" for message in reasons if message), "")
    remark = Span("; nothing is left to it", "warning", prose=True) if route in cut_off else Span("")
    return Line((Span(f"{route}: ", "subject"), Span(where, prose=True), remark, Span(reason, prose=True)), INDENT, 4)


def attachments_section(title: str, changes: Iterable[AttachmentChange], view: View) -> tuple[Line, ...]:
    """The policies whose targets differ: each way in which that is so, once, with the policies on their targets."""
    by_way: dict[str, list[AttachmentChange]] = {}
    for change in changes:
        # In words that hold for others of which the same is so.
        message = change.message.replace(f"{change.policy.kind} counts only for", "it counts only for", 1)
        by_way.setdefault(_way(change, message.replace(str(change.target.object), "its target")), []).append(change)
    items = tuple(by_way.items())
    shown = items[:SHOWN] if view.cuts else items
    rest = sum(len(alike) for _, alike in items[len(shown) :])
    lines = [line for way, alike in shown for line in _with_targets(way, alike, view)]
    return section(title, (*lines, *([more_line(rest, "policy")] if rest else [])))


def _way(change: AttachmentChange, message: str) -> str:
    """What became of a reference: why it is not attached, or what it was before."""
    if change.after is None:
        return "no longer names it"
    if change.after == "attached":
        return "names it now" if change.before is None else f"attached now, before: {change.before}"
    return message or str(change.after)


def _with_targets(way: str, changes: Sequence[AttachmentChange], view: View) -> Iterator[Line]:
    """Policies on one target with what is so of them in a line; if they have several, what is so comes first."""
    targets: dict[NodeRef, list[ObjectRef]] = {}
    for change in changes:
        targets.setdefault(change.target, []).append(change.policy)
    if len({change.message for change in changes}) == 1:
        way = _way(changes[0], changes[0].message)
    if len(targets) == 1:
        yield Line((*_on_targets(targets, view), Span(f": {way}", prose=True)), INDENT, 2 * INDENT)
    else:
        yield Line((Span(f"{way}:", prose=True),), INDENT, 2 * INDENT)
        yield Line(tuple(_on_targets(targets, view)), 2 * INDENT, 3 * INDENT)


def _on_targets(targets: Mapping[NodeRef, Sequence[ObjectRef]], view: View) -> Iterator[Span]:
    """`A, B → T; C → U`: policies on their targets, the first ones of many where lists are cut."""
    pairs = [(policies, target) for target, policies in targets.items()]
    shown = pairs[:SHOWN] if view.cuts else pairs
    for number, (policies, target) in enumerate(shown):
        if number:
            yield Span(";")
        yield from _named(policies, view, lead=" " if number else "")
        yield Span(f" → {node_words(target)}")
    if len(shown) < len(pairs):
        yield _and_more(sum(len(policies) for policies, _ in pairs[len(shown) :]))


def _named(refs: Sequence[ObjectRef], view: View, lead: str = "") -> Iterator[Span]:
    """Objects one after another; where lists are cut the first ones of many, with how many more there are."""
    shown = refs[:SHOWN] if view.cuts else refs
    yield from in_a_row([str(ref) for ref in shown], "subject", lead)
    if len(shown) < len(refs):
        yield _and_more(len(refs) - len(shown))


def _and_more(rest: int) -> Span:
    return Span(f" and {rest:,} more (--show-all)", "aside", prose=True)


def enforcement_section(changes: Iterable[EnforcementChange], view: View) -> tuple[Line, ...]:
    """The policies of which the state differs: a line for both states."""
    by_state: dict[str, list[ObjectRef]] = {}
    for change in (change for change in changes if change.before != change.after):
        states = f"{change.before or 'no such policy'} → {change.after or 'no such policy'}"
        by = f", by {names(change.by)}" if change.by else ""
        by_state.setdefault(f"{states}{by}", []).append(change.policy)
    lines = first_lines(
        tuple(by_state.items()),
        lambda item: Line((*_named(item[1], view), Span(f": {item[0]}", prose=True)), INDENT, 2 * INDENT),
        "state",
        view,
    )
    return section("Policies whose state changes", lines)


def changed_problems_section(title: str, problems: Iterable[Diagnostic], view: View) -> tuple[Line, ...]:
    """Problems under a title of their own."""
    return section(title, first_lines(tuple(problems), problem_line, "problem", view))
