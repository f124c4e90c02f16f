"""What a row of the tree says, as spans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.kinds import listed, plural
from kubectl_policy.model.refs import is_unnamed
from kubectl_policy.render.graph.tree.rows import REFUSED
from kubectl_policy.render.graph.wording import MARKS
from kubectl_policy.render.output.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.questions.graph.picture import Mark
    from kubectl_policy.render.graph.tree.rows import Row
    from kubectl_policy.render.output.text import Style, View

# At a terminal so many are named.
_NAMED: Final = 4
_MARK_STYLES: Final[Mapping[Mark, Style]] = {"": "", "added": "value", "removed": "error", "changed": "warning"}
# What is said of one thing, as it is said of several.
_OF_SEVERAL: Final = {"does not exist": "do not exist", "has no such port": "have no such port"}


def row_spans(row: Row, view: View) -> Iterator[Span]:
    """`→ Service pastry/cream, port https: does not exist [BackendNotFound]`; a name stands for all that are alike."""
    head = row.head
    if head.mark:
        yield Span(f"{MARKS[head.mark]} ", _MARK_STYLES[head.mark])
    yield from _in_force(row, view) if head.sort == "in force" else _names(row, view)
    if head.scope:
        yield Span(head.scope, prose=True)
    yield from _notes(row, view)
    if row.tail:
        yield Span(" ")
        yield from row_spans(row.tail, view)


def more_words(rows: Sequence[Row]) -> str:
    """`and 180 more HTTPRoutes, 3 with problems; --show-all shows them`: what is said of siblings that are left out."""
    head, number = rows[0].head, sum(row.number for row in rows)
    troubled = sum(row.number for row in rows if row.troubled)
    refused = head.lead if head.lead == REFUSED else ""
    problems = f", {troubled:,} with problems" if troubled and not refused else ""
    shows = "it" if number == 1 else "them"
    return f"and {number:,} more {refused}{_noun(head.noun, number)}{problems}; --show-all shows {shows}"


def _names(row: Row, view: View) -> Iterator[Span]:
    """`listener https  HTTPS 443`, `listeners http (HTTP 80) and https (HTTPS 443)`, `50 HTTPRoutes alike: a, b, …`."""
    head = row.head
    # Sections are not set off, nor what is named for what leads there.
    style: Style = "subject" if head.sort == "node" and not head.lead and head.noun[:1].isupper() else ""
    names = list(dict.fromkeys(name for name, _ in row.members))
    details = list(dict.fromkeys(detail for _, detail in row.members))
    if len(names) > 1:
        words, told = _several(row, view), details[0] if len(details) == 1 else ""
        yield Span(words, style, prose=True)
    else:
        # A name is not parted from what it is the name of.
        yield Span(head.lead + "".join(_named(head.noun, name) for name in names), style)
        told = _first([detail for detail in details if detail], view)
    if told:
        yield Span(f"{head.joint}{told}", prose=True)


def _several(row: Row, view: View) -> str:
    """The names of a row that has several, each with what its object says of itself where that differs."""
    head, refused = row.head, REFUSED if row.head.lead == REFUSED else ""
    differ = len({detail for _, detail in row.members}) > 1
    number = row.each or (row.number if row.number > _NAMED else 0)
    is_unnamed_rule = any(is_unnamed(name) for name, _ in row.members)
    said = [
        (_named(head.noun, name) if is_unnamed_rule and not number else name)
        + (f" ({detail})" if differ and detail else "")
        for name, detail in row.members
    ]
    how_many = f"{'one' if number == 1 else f'{number:,}'} " if number else ""
    noun = "" if is_unnamed_rule and not number else refused + _noun(head.noun, number or len(said)) + " "
    what = f"{how_many}{noun}{'each: ' if row.each else 'alike: ' if number else ''}"
    return f"{'' if refused else head.lead}{what}{_first(said, view)}"


def _in_force(row: Row, view: View) -> Iterator[Span]:
    """`in force: RetryPolicy attempts 5, retryOn (baker/quick and baker/resilience)`."""
    head, own = row.head, [name for name, _ in row.members]
    yield Span(f"{head.lead}{head.noun}{' ' if head.noun and head.what else ''}", prose=True)
    if head.what:
        yield Span(head.what, "value", prose=True)
    if row.each:
        number = "one" if row.each == 1 else str(row.each)
        names = f"{number} each: {_first(own, view)}" + (f"; with {listed(head.others)}" if head.others else "")
    else:
        names = listed([*own, *head.others])
    yield Span(f" ({names})", prose=True)


def _notes(row: Row, view: View) -> Iterator[Span]:
    """`: not known; HTTPRoute baker/menu is not in the input [TargetNotFound]`."""
    head, is_many = row.head, len(row.members) > 1
    told = [_OF_SEVERAL.get(note, note) if is_many else note for note in head.notes]
    if view.cuts and len(row.why) > 1:
        # They differ in names.
        first, *others = row.why
        told.append(f"{first}, and {len(others):,} more for the same reason")
    else:
        told += row.why
    reason = f"[{head.reason}]" if head.reason else ""
    text = " ".join(filter(None, ("; ".join(told), reason)))
    if text and row.members:
        yield Span(":")
    if text:
        yield Span(f" {text}" if row.members else text, head.tone, prose=True)


def _first(words: Sequence[str], view: View) -> str:
    """A list of words; at a terminal the first ones of many, and how many more there are."""
    return listed(words, _NAMED if view.cuts else 0)


def _named(noun: str, name: str) -> str:
    return name if is_unnamed(name) else f"{noun} {name}"


def _noun(noun: str, number: int) -> str:
    """What so many are called. A kind may have its group after it."""
    kind, dot, group = noun.partition(".")
    return f"{kind if number == 1 else plural(kind)}{dot}{group}"
