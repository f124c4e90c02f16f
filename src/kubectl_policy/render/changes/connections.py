"""Connections that open and close between two states: clauses for headlines, and sections with the workloads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.kinds import listed
from kubectl_policy.questions.connections.rule_views import ranges_phrase
from kubectl_policy.render.changes.traffic import SHOWN, more_line
from kubectl_policy.render.connections.wording import set_phrase
from kubectl_policy.render.output.text import Line, Segment, View, prose_line
from kubectl_policy.render.wording.names import count
from kubectl_policy.render.wording.sections import section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.questions.connections.changes import (
        ConnectionChanges,
        ConnectionGroup,
        ConnectionGroups,
        OutsideGroup,
    )

_MAX_ADDRESSES: Final = 4
# Tables cut nothing.
_WHOLE: Final = View(everything=True)


def active_clause(changes: ConnectionChanges) -> str:
    """Say what deleting an object does to connections: `opens 12 connections between 3 namespaces, closes none`."""
    opened, closed = changes.opened, changes.closed
    parts = [f"opens {_extent(opened)}"] if opened else []
    parts += [f"closes {_extent(closed)}"] if closed else []
    if opened and not closed:
        parts.append("closes none")
    if changes.uncertain:
        parts.append(f"may open or close {_extent(changes.uncertain)}")
    return ", ".join(parts)


def passive_clauses(changes: ConnectionChanges) -> Iterator[str]:
    """Say what became of connections: `12 connections between 3 namespaces open`."""
    for groups, verb in ((changes.closed, "closed"), (changes.opened, "opened")):
        if groups:
            yield f"{_extent(groups)} {'is' if _is_one(groups) else 'are'} {verb}"
    if changes.uncertain:
        yield f"{_extent(changes.uncertain)} may be opened or closed"


def _is_one(groups: ConnectionGroups) -> bool:
    outside = groups.sending_outside + groups.receiving_outside
    return groups.connections + outside == 1


def _extent(groups: ConnectionGroups) -> str:
    """Count connections: `12 connections between 3 namespaces and egress of 2 workloads to addresses outside`."""
    parts: list[str] = []
    if groups.connections:
        where = f" between {groups.namespaces} namespaces" if groups.namespaces > 1 else " in one namespace"
        parts.append(f"{count(groups.connections, 'connection')}{where}")
    if groups.sending_outside:
        parts.append(f"egress of {count(groups.sending_outside, 'workload')} to addresses outside")
    if groups.receiving_outside:
        parts.append(f"ingress of {count(groups.receiving_outside, 'workload')} from addresses outside")
    return listed(parts)


def connection_sections(changes: ConnectionChanges, view: View) -> tuple[Line, ...]:
    """Return a section for connections that close, open, and may do either, with workloads and ports."""
    return (
        *_section("Connections that close", changes.closed, view),
        *_section("Connections that open", changes.opened, view),
        *_section("Connections that may open or close", changes.uncertain, view),
        *section("Workloads that come and go", _moved(changes)),
    )


def _moved(changes: ConnectionChanges) -> Iterator[Line]:
    """Count the workloads of one state alone; nothing if no network policy was compared."""
    for number, verb in ((changes.new_workloads, "new"), (changes.gone_workloads, "gone")):
        if number:
            yield prose_line(f"{count(number, 'workload')} {verb}: connections of these are not listed", indent=2)


def _section(title: str, groups: ConnectionGroups, view: View) -> tuple[Line, ...]:
    lines = [*(_pair(group, view) for group in groups.groups), *(_outside(group, view) for group in groups.outside)]
    shown, rest = view.first(lines, SHOWN)
    return section(title, (*shown, *([more_line(rest, "group")] if rest else [])))


def _pair(group: ConnectionGroup, view: View) -> Line:
    phrase = f" from {set_phrase(group.sources, view)} to {set_phrase(group.destinations, view)}"
    number = f"   {count(group.connections, 'connection')}" if group.connections > 1 else ""
    return Line(
        (Segment(ranges_phrase(group.ports), "value"), Segment(phrase, prose=True), Segment(number, "aside")), 2, 4
    )


def _outside(group: OutsideGroup, view: View) -> Line:
    addresses = listed(group.addresses, _MAX_ADDRESSES, "more ranges")
    workloads = set_phrase(group.workloads, view)
    ends = (workloads, addresses) if group.direction == "egress" else (addresses, workloads)
    return Line(
        (Segment(ranges_phrase(group.ports), "value"), Segment(f" from {ends[0]} to {ends[1]}", prose=True)), 2, 4
    )


def connection_summary(changes: ConnectionChanges) -> Iterator[tuple[str, str, str, str]]:
    """Yield the word for a change, the ports, the sources and the destinations of each group, for tables."""
    words = (("closed", changes.closed), ("opened", changes.opened), ("perhaps", changes.uncertain))
    for word, groups in words:
        for group in groups.groups:
            ports = ranges_phrase(group.ports)
            yield word, ports, set_phrase(group.sources, _WHOLE), set_phrase(group.destinations, _WHOLE)
        for outside in groups.outside:
            ends = set_phrase(outside.workloads, _WHOLE), listed(outside.addresses)
            source, destination = ends if outside.direction == "egress" else ends[::-1]
            yield word, ranges_phrase(outside.ports), source, destination
