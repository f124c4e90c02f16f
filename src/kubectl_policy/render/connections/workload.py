"""`describe` of a workload as text: what comes in and goes out, by which rules, then all rules in their order."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.model.kinds import listed, names
from kubectl_policy.questions.connections.rule_views import NO_PORT
from kubectl_policy.render.connections.wording import action_verb, rule_phrase, set_phrase
from kubectl_policy.render.output.columns import Column, Number, Table
from kubectl_policy.render.output.text import Line, Segment, prose_line
from kubectl_policy.render.wording.blind_spots import unread_hedge
from kubectl_policy.render.wording.names import at_origin, count
from kubectl_policy.render.wording.sections import (
    describing,
    headline_line,
    next_section,
    problems_section,
    section,
    unseen_section,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.network.policy import Direction
    from kubectl_policy.questions.connections.workload import (
        DirectionDescription,
        OpenPorts,
        RuleInOrder,
        WorkloadDescription,
    )
    from kubectl_policy.render.output.columns import Cell
    from kubectl_policy.render.output.text import Document, View


class OpenedRow(NamedTuple):
    """A row of the table: ports that a rule opens for a workload."""

    subject: ObjectRef
    direction: Direction
    opened: OpenPorts


_TIER_WIDTH: Final = 15
_TITLES: Final[Mapping[Direction, str]] = {"ingress": "Comes in", "egress": "Goes out"}
_PREPOSITIONS: Final[Mapping[Direction, str]] = {"ingress": "from", "egress": "to"}


def workload_headline(answer: WorkloadDescription) -> str:
    """Return the sentence that opens the answer about a workload."""
    subject, hedge = str(answer.subject), unread_hedge(answer.unseen)
    if not answer.directions:
        undefined = "no policy for the whole cluster applies to it, and what NetworkPolicies do to it is undefined"
        return f"{subject} uses the network of its node: {undefined}{hedge}."
    incoming, outgoing = (_extent(answer, direction) for direction in _TITLES)
    number = len(answer.policies)
    selecting = f"{count(number, 'network policy')} {'selects' if number == 1 else 'select'} it"
    sentence = f"{subject} accepts connections from {incoming}, and may connect to {outgoing}"
    return f"{sentence}; {selecting if number else 'no network policy selects it'}{hedge}."


def _extent(answer: WorkloadDescription, direction: Direction) -> str:
    """Return the number of workloads that can connect, and whether addresses outside can: `2 of 5 other workloads`."""
    parts = [part for part in answer.directions if part.direction == direction]
    numbers = sorted({part.reached for part in parts})
    total, maybe = parts[0].total, max(part.possibly_reached for part in parts)
    noun = f"other {'workload' if total == 1 else 'workloads'}"
    if numbers == [0]:
        phrase = "no other workload"
    elif numbers == [total]:
        phrase = f"all {total} {noun}"
    else:
        phrase = f"{' to '.join(map(str, dict.fromkeys((numbers[0], numbers[-1]))))} of {total} {noun}"
    phrase += f" (perhaps {maybe} more)" if maybe else ""
    outside = {opened.certain for part in parts for opened in part.opens if opened.addresses}
    if not outside:
        return phrase
    addresses = "addresses outside" if True in outside else "perhaps addresses outside"
    return f"{addresses}, but {phrase}" if numbers == [0] else f"{phrase} and {addresses}"


def workload_text(answer: WorkloadDescription, view: View) -> Document:
    """Return the answer about a workload in the order of thought that every command keeps."""
    return (
        headline_line(workload_headline(answer)),
        *section("Behind", [prose_line(names(answer.services), indent=2)] if answer.services else []),
        *(line for part in answer.directions for line in _direction(part, answer, view)),
        *(line for part in answer.directions for line in _order(part, answer, view)),
        *problems_section(answer.problems),
        *unseen_section(answer.unseen),
        *next_section([describing(ref) for ref in answer.policies[:2]], view),
    )


def _direction(part: DirectionDescription, answer: WorkloadDescription, view: View) -> tuple[Line, ...]:
    lines = [_opened(opened, part.direction, view) for opened in part.opens]
    isolating = listed([str(policy.policy) for policy in part.isolated_by])
    if part.isolated:
        lines.append(prose_line(f"nothing else: isolated by {isolating}", "aside", 2, 4))
    elif part.isolated is None:
        lines.append(prose_line(f"perhaps nothing else: {isolating} may isolate it", "warning", 2, 4))
    elif not part.opens:
        lines.append(prose_line("nothing", "aside", 2, 4))
    return section(f"{_TITLES[part.direction]}{_about(part, answer, view)}", lines)


def _about(part: DirectionDescription, answer: WorkloadDescription, view: View) -> str:
    """Name the workloads that a part is about, if there are several parts for its direction."""
    several = sum(parallel.direction == part.direction for parallel in answer.directions) > 1
    return f", {set_phrase(part.about, view)}" if several else ""


def _opened(opened: OpenPorts, direction: Direction, view: View) -> Line:
    """Return a line with ports, peers, the rule that allows them, and what policies of the peers deny."""
    peers = set_phrase(opened.workloads, view) if opened.workloads else listed(opened.addresses, 6, "more ranges")
    rule = rule_phrase(opened.rule) if opened.rule else "no policy decides"
    place = Segment(at_origin(opened.rule.origin, "   {}") if opened.rule else "", "aside")
    if opened.denied and opened.ports == NO_PORT:
        refused = f"{opened.denied} {_PREPOSITIONS[direction]} {peers}: their own policies deny it"
        return Line((Segment(refused, "superseded", prose=True), Segment(f"   {rule}", "aside"), place), 2, 4)
    denied = "; their own policies deny the other ports" if opened.denied else ""
    spans = (
        Segment("" if opened.certain else "perhaps ", "warning"),
        Segment(opened.ports, "value"),
        Segment(f" {_PREPOSITIONS[direction]} {peers}{denied}", prose=True),
        Segment(f"   {rule}", "subject" if opened.rule else "aside"),
        place,
    )
    return Line(tuple(span for span in spans if span.text), 2, 4)


def _order(part: DirectionDescription, answer: WorkloadDescription, view: View) -> tuple[Line, ...]:
    """Return the policies in their order, each with its tier and with a line for each rule."""
    lines: list[Line] = []
    for policy, entries in groupby(part.rules, lambda entry: entry.rule.policy):
        priority = f", priority {policy.priority}" if policy.priority is not None else ""
        spans = (
            Segment(f"{policy.tier:<{_TIER_WIDTH}}"),
            Segment(str(policy.policy), "subject"),
            Segment(priority),
            Segment(at_origin(policy.origin, "   {}"), "aside"),
        )
        lines.append(Line(spans, 2, 4))
        lines += (_rule(entry, part.direction, view) for entry in entries)
    return section(f"Asked for {part.direction}, in this order{_about(part, answer, view)}", lines)


def _rule(entry: RuleInOrder, direction: Direction, view: View) -> Line:
    rule = entry.rule
    perhaps = "" if entry.selects else "perhaps "
    if entry.matches is None:
        return prose_line(f"{perhaps}isolates: denies what no NetworkPolicy allows", "", 4, 6)
    peers = listed(rule.peers) or "anything"
    ports = listed(rule.ports) or "all ports"
    reach = f"matches {set_phrase(entry.matches, view)}" if entry.matches.number else "matches no workload"
    decides = "" if entry.decides else "; decides nothing here"
    phrase = f"{perhaps}{action_verb(rule.action)} {ports} {_PREPOSITIONS[direction]} {peers}: {reach}{decides}"
    title = f"{rule.rule}  " if rule.rule else ""
    return Line((Segment(title, "value"), Segment(phrase, "" if entry.decides else "superseded", prose=True)), 4, 6)


def workload_table(answers: Sequence[WorkloadDescription]) -> Table[OpenedRow]:
    """Return a row for the ports that each rule opens, of some workloads."""
    rows = [
        OpenedRow(answer.subject, part.direction, opened)
        for answer in answers
        for part in answer.directions
        for opened in part.opens
    ]
    columns: tuple[Column[OpenedRow], ...] = (
        Column("OBJECT", lambda row: str(row.subject)),
        Column("DIRECTION", lambda row: row.direction),
        Column("PORTS", lambda row: row.opened.ports),
        Column("WORKLOADS", lambda row: _workloads(row.opened)),
        Column("ADDRESSES", lambda row: row.opened.addresses),
        Column("CERTAIN", lambda row: "yes" if row.opened.certain else "no", narrow=False),
        Column("ALLOWED BY", lambda row: rule_phrase(row.opened.rule) if row.opened.rule else ""),
    )
    return Table(columns, rows)


def _workloads(opened: OpenPorts) -> Cell:
    workloads = opened.workloads
    return Number(workloads.number, str(workloads.number)) if workloads else ""
