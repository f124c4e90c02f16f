"""`graph -o tree`: the hierarchy from GatewayClasses down to ports, drawn by Rich."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.model.kind_roles import ABOVE_ROUTES, LISTENER_HOLDERS, NAMESPACE, ROUTES
from kubectl_policy.model.kinds import listed, plural
from kubectl_policy.model.refs import is_unnamed
from kubectl_policy.model.world import grouped_by
from kubectl_policy.render.graph.tree_branches import Branches, TreeLinks
from kubectl_policy.render.graph.tree_rows import REFUSED
from kubectl_policy.render.graph.wording import MARKS, graph_headline
from kubectl_policy.render.output.text import Line, Segment, lay_out
from kubectl_policy.render.wording.sections import BLANK, headline_line, unseen_section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import NodeRef
    from kubectl_policy.questions.graph.picture import Mark, Picture
    from kubectl_policy.render.graph.tree_rows import TreeRow
    from kubectl_policy.render.output.text import Document, Style, View

# At a terminal so many are named.
_NAMED: Final = 4
_MARK_STYLES: Final[Mapping[Mark, Style]] = {"": "", "added": "value", "removed": "error", "changed": "warning"}
# What is said of one thing, as it is said of several.
_OF_SEVERAL: Final = {"does not exist": "do not exist", "has no such port": "have no such port"}


def row_spans(row: TreeRow, view: View) -> Iterator[Segment]:
    """`→ Service pastry/cream, port https: does not exist [BackendNotFound]`; a name stands for all that are alike."""
    head = row.head
    if head.mark:
        yield Segment(f"{MARKS[head.mark]} ", _MARK_STYLES[head.mark])
    yield from _in_force(row, view) if head.sort == "in force" else _names(row, view)
    if head.scope:
        yield Segment(head.scope, prose=True)
    yield from _notes(row, view)
    if row.tail:
        yield Segment(" ")
        yield from row_spans(row.tail, view)


def rest_phrase(rows: Sequence[TreeRow]) -> str:
    """`and 180 more HTTPRoutes, 3 with problems; --show-all shows them`: what is said of siblings that are left out."""
    head, number = rows[0].head, sum(row.number for row in rows)
    troubled = sum(row.number for row in rows if row.troubled)
    refused = head.lead if head.lead == REFUSED else ""
    problems = f", {troubled:,} with problems" if troubled and not refused else ""
    shows = "it" if number == 1 else "them"
    return f"and {number:,} more {refused}{_noun(head.noun, number)}{problems}; --show-all shows {shows}"


def _names(row: TreeRow, view: View) -> Iterator[Segment]:
    """`listener https  HTTPS 443`, `listeners http (HTTP 80) and https (HTTPS 443)`, `50 HTTPRoutes alike: a, b, …`."""
    head = row.head
    # Sections are not set off, nor what is named for what leads there.
    style: Style = "subject" if head.sort == "node" and not head.lead and head.noun[:1].isupper() else ""
    names = list(dict.fromkeys(name for name, _ in row.members))
    details = list(dict.fromkeys(detail for _, detail in row.members))
    if len(names) > 1:
        label, detail_ = _several(row, view), details[0] if len(details) == 1 else ""
        yield Segment(label, style, prose=True)
    else:
        # A name is not parted from what it is the name of.
        yield Segment(head.lead + "".join(_named(head.noun, name) for name in names), style)
        detail_ = _first([detail for detail in details if detail], view)
    if detail_:
        yield Segment(f"{head.joint}{detail_}", prose=True)


def _several(row: TreeRow, view: View) -> str:
    """Return the names of a row that has several, each with what its object says of itself where that differs."""
    head, refused = row.head, REFUSED if row.head.lead == REFUSED else ""
    differ = len({detail for _, detail in row.members}) > 1
    number = row.members_each or (row.number if row.number > _NAMED else 0)
    is_unnamed_rule = any(is_unnamed(name) for name, _ in row.members)
    parts = [
        (_named(head.noun, name) if is_unnamed_rule and not number else name)
        + (f" ({detail})" if differ and detail else "")
        for name, detail in row.members
    ]
    how_many = f"{'one' if number == 1 else f'{number:,}'} " if number else ""
    noun = "" if is_unnamed_rule and not number else refused + _noun(head.noun, number or len(parts)) + " "
    lead = f"{how_many}{noun}{'each: ' if row.members_each else 'alike: ' if number else ''}"
    return f"{'' if refused else head.lead}{lead}{_first(parts, view)}"


def _in_force(row: TreeRow, view: View) -> Iterator[Segment]:
    """`in force: RetryPolicy attempts 5, retryOn (baker/quick and baker/resilience)`."""
    head, policies = row.head, [name for name, _ in row.members]
    yield Segment(f"{head.lead}{head.noun}{' ' if head.noun and head.summary else ''}", prose=True)
    if head.summary:
        yield Segment(head.summary, "value", prose=True)
    if row.members_each:
        number = "one" if row.members_each == 1 else str(row.members_each)
        names = f"{number} each: {_first(policies, view)}" + (
            f"; with {listed(head.policies)}" if head.policies else ""
        )
    else:
        names = listed([*policies, *head.policies])
    yield Segment(f" ({names})", prose=True)


def _notes(row: TreeRow, view: View) -> Iterator[Segment]:
    """`: not known; HTTPRoute baker/menu is not in the input [TargetNotFound]`."""
    head, is_many = row.head, len(row.members) > 1
    notes = [_OF_SEVERAL.get(note, note) if is_many else note for note in head.notes]
    if view.cuts and len(row.why) > 1:
        # They differ in names.
        first, *rest = row.why
        notes.append(f"{first}, and {len(rest):,} more for the same reason")
    else:
        notes += row.why
    reason = f"[{head.reason}]" if head.reason else ""
    text = " ".join(filter(None, ("; ".join(notes), reason)))
    if text and row.members:
        yield Segment(":")
    if text:
        yield Segment(f" {text}" if row.members else text, head.tone, prose=True)


def _first(phrases: Sequence[str], view: View) -> str:
    """Return a list of words; at a terminal the first ones of many, and how many more there are."""
    return listed(phrases, _NAMED if view.cuts else 0)


def _named(noun: str, name: str) -> str:
    return name if is_unnamed(name) else f"{noun} {name}"


def _noun(noun: str, number: int) -> str:
    """Return the plural of a kind, which may have its group after it."""
    kind, dot, group = noun.partition(".")
    return f"{kind if number == 1 else plural(kind)}{dot}{group}"


# So many siblings of a sort are shown at a terminal.
_SIBLINGS: Final = 20
# What a line is continued with is so many cells further right.
_HANG: Final = 2
# However deep a row is, so many cells are left for it; the guide of each level takes so many.
_LEAST: Final = 32
_GUIDE: Final = 4
# However narrow the screen is, so many levels are shown: from a GatewayClass to the policies of a port and further.
_LEVELS: Final = 10
# What stands before a row that others follow and before the last one, and before what is below either.
_GUIDES: Final = {True: (("├── ", "│   "), ("└── ", "    ")), False: (("+-- ", "|   "), ("`-- ", "    "))}


def drawn(title: str, rows: Sequence[TreeRow], view: View) -> Iterator[Line]:
    """Return the rows and all that is below them, as lines that fit; below a title if there is one."""
    levels = max(_LEVELS, (view.width - _LEAST) // _GUIDE - bool(title))
    if title:
        yield Line((Segment(title, "heading"),))
    yield from _branches(rows, view, levels, "" if title else None)


def _branches(rows: Sequence[TreeRow], view: View, levels: int, guides: str | None) -> Iterator[Line]:
    """Return rows behind the guides of their ancestors; at a terminal as many levels as there is room for."""
    siblings = list(_siblings(rows, view))
    if rows and levels <= 0 and view.cuts:
        siblings = [([Segment("and more; --show-all shows it", "aside", prose=True)], ())]
    for number, (spans, children) in enumerate(siblings, 1):
        guide = _GUIDES[view.unicode][number == len(siblings)]
        first, next_guide = ("", "") if guides is None else (guides + guide[0], guides + guide[1])
        width = max(view.width - len(first), _LEAST)
        for index, line in enumerate(lay_out([Line(tuple(spans), 0, _HANG)], width)):
            yield _line([Segment(next_guide if index else first, "aside"), *line])
        yield from _branches(children, view, levels - 1, next_guide)


def _siblings(rows: Iterable[TreeRow], view: View) -> Iterator[tuple[Iterable[Segment], Sequence[TreeRow]]]:
    """Return the lines of sibling rows with their descendants.

    At a terminal, of many of a sort the first, those with problems before others, and how many more there are.
    """
    for siblings in grouped_by(rows, lambda row: (row.head.noun, row.head.lead)).values():
        by_need = sorted(enumerate(siblings), key=lambda sibling: not sibling[1].troubled)
        shown = {index for index, _ in by_need[: _SIBLINGS if view.cuts else None]}
        yield from ((row_spans(row, view), row.children) for index, row in enumerate(siblings) if index in shown)
        left_out = [row for index, row in enumerate(siblings) if index not in shown]
        if left_out:
            yield [Segment(rest_phrase(left_out), "aside", prose=True)], ()


def _line(spans: Sequence[Segment]) -> Line:
    """Return a line that is not broken again: one that is too wide has a name that is wider than what its guides leave.

    Lines break before spans that begin with a space; each has its spaces after it.
    """
    pieces: list[Segment] = []
    for span in spans:
        text = span.text.lstrip(" ") if pieces else span.text
        if len(text) < len(span.text):
            pieces[-1] = replace(pieces[-1], text=pieces[-1].text + " " * (len(span.text) - len(text)))
        if pieces and pieces[-1].style == span.style:
            pieces[-1] = replace(pieces[-1], text=pieces[-1].text + text)
        elif text:
            pieces.append(Segment(text, span.style))
    return Line(tuple(pieces))


# What the parts of the tree are called that no request runs down.
_UNATTACHED: Final = "Attached to nothing"
_NAMESPACES: Final = "Namespaces with policies"
_OTHERS: Final = "Nothing drawn leads to these"
_WITHOUT_TARGET: Final = "Policies without a target"
# In a picture of some kinds alone.
_LEFT_OUT: Final = "Policies on objects that are not drawn"


def graph_tree(picture: Picture, view: View) -> Document:
    """Return the picture for people at a terminal."""
    groups = ((title, rows) for title, rows in _Roots(picture).groups() if rows)
    return (
        headline_line(graph_headline(picture)),
        *(line for title, rows in groups for line in (BLANK, *drawn(title, rows, view))),
        *unseen_section(picture.unseen),
    )


class _Roots:
    """Rows without parents, with their descendants, grouped by kind."""

    def __init__(self, picture: Picture) -> None:
        """Find out what is attached to nothing, which is told once."""
        self._picture, self._links = picture, TreeLinks(picture)
        asked = picture.asked
        is_part = bool(asked.subjects or asked.namespace)
        # In a picture of a part, what leads to something may be left out.
        self._is_whole = not (is_part or asked.kinds or asked.only_affected)
        self._has_parents = not asked.kinds and (not is_part or (asked.up and asked.depth is None))
        self._branches = Branches(picture, self._links)
        links = self._links
        self._starts = [
            node
            for node in links.nodes
            if not node.section and (node not in links.entered or node.object in links.fronts)
        ]
        self._branches.unattached = frozenset(filter(self._is_unattached, self._starts))

    def groups(self) -> Iterator[tuple[str, list[TreeRow]]]:
        """Return titles with their rows, in the order in which they are read."""
        branches = self._branches
        starts: dict[str, list[NodeRef]] = {title: [] for title in ("", _UNATTACHED, _NAMESPACES, _OTHERS)}
        for node in self._starts:
            if self._is_said_by_others(node):
                branches.seen.add(node)
            else:
                starts[self._title(node)].append(node)
        for title, nodes in starts.items():
            rows = [self._row(node) for node in nodes]
            if title == (_UNATTACHED if self._has_parents else ""):
                rows += [self._row(node) for node in self._links.nodes if self._is_in_circle(node)]
            elif title == _OTHERS:
                rows += [self._row(node) for node in self._links.nodes if self._is_left(node)]
            yield title, branches.rows.folded(rows)
        elsewhere: dict[str, list[TreeRow]] = {_LEFT_OUT: [], _WITHOUT_TARGET: []}
        for policy in self._links.elsewhere:
            has_target = any(target.target for target in policy.targets)
            elsewhere[_LEFT_OUT if has_target else _WITHOUT_TARGET].append(branches.policy_elsewhere(policy))
        yield from ((title, branches.rows.folded(rows)) for title, rows in elsewhere.items())

    def _row(self, node: NodeRef) -> TreeRow:
        is_unattached = node in self._branches.unattached or self._is_in_circle(node)
        lines = self._branches.why_unattached(node) if is_unattached else ()
        return self._branches.row(node, lines=lines)

    def _is_unattached(self, node: NodeRef) -> bool:
        is_there = self._links.nodes[node].presence == "present"
        return self._has_parents and is_there and node.object.group_kind in ROUTES and node not in self._links.entered

    def _is_in_circle(self, node: NodeRef) -> bool:
        """Whether a route is led to by routes alone that it leads to, once all others have a row."""
        is_entered = node not in self._branches.seen and node in self._links.entered
        return is_entered and not node.section and node.object.group_kind in ROUTES

    def _is_left(self, node: NodeRef) -> bool:
        """Whether no row is about a node yet: a port that only a policy names, or that there is not."""
        return node not in self._branches.seen and (not node.section or bool(self._links.policies[node]))

    def _is_said_by_others(self, node: NodeRef) -> bool:
        """Whether what there is to say of a parent is said by the routes that it refuses, or of a route by these."""
        links, refused = self._links, self._links.refused_at[node]
        if links.children[node] or links.policies[node] or links.nodes[node].mark or self._is_asked(node):
            return False
        if node.object.group_kind in ROUTES:
            return bool(links.refused_by[node]) and not self._has_parents
        is_known = node.object.group_kind in LISTENER_HOLDERS and links.nodes[node].presence == "present"
        are_told = all(link.child in self._branches.unattached and not link.mark for link in refused)
        return bool(refused) and are_told and not is_known

    def _is_asked(self, node: NodeRef) -> bool:
        return node.object in self._picture.asked.subjects

    def _title(self, node: NodeRef) -> str:
        kind, links = node.object.group_kind, self._links
        if node in self._branches.unattached:
            return _UNATTACHED
        if kind == NAMESPACE and not self._is_asked(node):
            return _NAMESPACES
        leads_on = any(link.child.object != node.object for link in links.children[node]) or links.refused_at[node]
        is_parent = kind in ABOVE_ROUTES or node.object in links.fronts or leads_on
        return "" if is_parent or self._is_asked(node) or not self._is_whole else _OTHERS
