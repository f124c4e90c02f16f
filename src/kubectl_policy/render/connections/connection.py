"""`describe` of a connection as text: the verdict, then what decides on both sides, and what comes too late."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.kinds import listed
from kubectl_policy.questions.connections.rule_views import ranges_phrase
from kubectl_policy.render.connections.wording import action_verb, denying_phrase, end_phrase, rule_line, set_phrase
from kubectl_policy.render.output.columns import Column, Table
from kubectl_policy.render.output.text import Line, Segment, prose_line
from kubectl_policy.render.wording.blind_spots import unread_hedge
from kubectl_policy.render.wording.sections import BLANK, headline_line, section, unseen_section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.network.policy import Direction
    from kubectl_policy.questions.connections.connection import CheckedConnection, ConnectionDescription
    from kubectl_policy.questions.connections.verdicts import SideVerdict
    from kubectl_policy.render.output.text import Document, Style, View

_VERDICTS: Final[Mapping[bool | None, str]] = {True: "allowed", False: "denied", None: "not known"}
_STYLES: Final[Mapping[bool | None, Style]] = {True: "value", False: "error", None: "warning"}
_SIDES: Final[Mapping[Direction, str]] = {"egress": "Leaving the source", "ingress": "Entering the destination"}


def connection_headline(answer: ConnectionDescription) -> str:
    """Return the sentence that opens the answer about a connection."""
    source, destination = end_phrase(answer.source), end_phrase(answer.destination)
    if not answer.connections:
        return f"{_open_sentence(answer, source, destination)}{unread_hedge(answer.unseen)}."
    ports = ports_phrase(answer)
    verdicts = {checked.verdict.allowed for checked in answer.connections}
    if verdicts == {True}:
        sentence = f"{source} may connect to {destination} on {ports}"
    elif verdicts == {False}:
        sentence = f"{source} may not connect to {destination} on {ports}{_because(answer)}"
    elif None in verdicts:
        sentence = f"Whether {source} may connect to {destination} on {ports} is not known"
        sentence += _first_doubt(answer)
    else:
        allowed = [checked for checked in answer.connections if checked.verdict.allowed]
        sentence = (
            f"{source} may connect to {destination} only in part: "
            f"{len(allowed)} of {len(answer.connections)} kinds of connections are allowed"
        )
    return f"{sentence}{unread_hedge(answer.unseen)}."


def _open_sentence(answer: ConnectionDescription, source: str, destination: str) -> str:
    """Say on which ports connections are allowed, where none is asked about."""
    allowed = {ranges_phrase(between.allowed) for between in answer.open}
    ports = allowed.pop() if len(allowed) == 1 else "different ports by workload"
    maybe = {ranges_phrase(between.undecided) for between in answer.open if between.undecided}
    sentence = f"{source} may connect to {destination} on {ports}"
    return f"{sentence}, and perhaps on {listed(sorted(maybe))}" if maybe else sentence


def ports_phrase(answer: ConnectionDescription) -> str:
    """Name the ports that are asked about: `TCP 80`, `TCP 80, port 8080 of its Pods and UDP 53`."""
    return listed(list(dict.fromkeys(_port_phrase(checked) for checked in answer.connections)))


def _port_phrase(checked: CheckedConnection) -> str:
    verdict, service_port = checked.verdict, checked.service_port
    phrase = f"{verdict.protocol} {verdict.port}"
    if service_port and service_port.port != verdict.port:
        return f"{verdict.protocol} {service_port.port}, port {verdict.port} of its Pods"
    return phrase


def _because(answer: ConnectionDescription) -> str:
    """Name what denies the connection: the first rule on each side that does."""
    reasons: dict[str, None] = {}
    for checked in answer.connections:
        for side in (checked.verdict.egress, checked.verdict.ingress):
            if side and side.allowed is False and side.deciding:
                reasons[f"{side.direction} is denied by {denying_phrase(side)}"] = None
    return f": {listed(list(reasons))}" if reasons else ""


def _first_doubt(answer: ConnectionDescription) -> str:
    sides = (side for checked in answer.connections for side in (checked.verdict.egress, checked.verdict.ingress))
    doubts = (doubt.message for side in sides if side and side.allowed is None for doubt in side.doubts)
    first = next(doubts, "")
    return f": {first}" if first else ""


def connection_text(answer: ConnectionDescription, view: View) -> Document:
    """Return the answer about a connection in the order of thought that every command keeps."""
    headline = headline_line(connection_headline(answer))
    return (
        headline,
        *verdict_lines(answer, view),
        *section("Allowed in all", _open(answer, view)),
        *unseen_section(answer.unseen),
    )


def verdict_lines(answer: ConnectionDescription, view: View) -> Iterator[Line]:
    """Return the verdicts, each with what decides on both sides."""
    for checked in answer.connections:
        yield from _checked(checked, answer, view)


def _open(answer: ConnectionDescription, view: View) -> Iterator[Line]:
    """Return a line with the allowed ports of workloads that are alike."""
    for between in answer.open:
        source = set_phrase(between.sources, view) if between.sources else end_phrase(answer.source)
        destination = set_phrase(between.destinations, view) if between.destinations else end_phrase(answer.destination)
        maybe = f", perhaps {ranges_phrase(between.undecided)}" if between.undecided else ""
        ports = f"{ranges_phrase(between.allowed)}{maybe}"
        pair = f" from {source} to {destination}" if len(answer.open) > 1 else ""
        yield Line((Segment(ports, "value"), Segment(pair, prose=True)), 2, 4)


def _checked(checked: CheckedConnection, answer: ConnectionDescription, view: View) -> Iterator[Line]:
    verdict = checked.verdict
    yield BLANK
    if len(answer.connections) > 1 or _is_part(checked, answer):
        source = set_phrase(checked.sources, view) if checked.sources else end_phrase(answer.source)
        destination = set_phrase(checked.destinations, view) if checked.destinations else end_phrase(answer.destination)
        title = f"{_port_phrase(checked)}: {source} to {destination}"
        spans = (
            Segment(f"{title}: ", "heading", prose=True),
            Segment(_VERDICTS[verdict.allowed], _STYLES[verdict.allowed]),
        )
        yield Line(spans, 0, 2)
    for side in (verdict.egress, verdict.ingress):
        if side:
            yield from _side(side)


def _is_part(checked: CheckedConnection, answer: ConnectionDescription) -> bool:
    """Whether a verdict is about more workloads than the one that is named."""
    sets = (checked.sources, checked.destinations)
    ends = (answer.source, answer.destination)
    return any(
        found and (found.number > 1 or {group.controller for group in found.groups} != {end.object})
        for found, end in zip(sets, ends, strict=True)
    )


def _side(side: SideVerdict) -> Iterator[Line]:
    how = f" by the {side.tier} tier" if side.tier not in {None, "Default"} else ""
    default = ", as no network policy decides" if side.tier == "Default" else ""
    yield Line(
        (
            Segment(f"{_SIDES[side.direction]} ({side.direction}): ", prose=True),
            Segment(_VERDICTS[side.allowed], _STYLES[side.allowed]),
            Segment(f"{how}{default}", prose=True),
        ),
        2,
        4,
    )
    certain = side.allowed is not None and side.tier is not None
    for rule in side.deciding:
        lead = "" if certain else f"may {'allow' if rule.action == 'Allow' else 'deny'}: "
        yield rule_line(rule, lead)
    for rule in side.passing:
        yield rule_line(rule, "passed on by ")
    for rule in side.others:
        yield rule_line(rule, f"comes too late, {action_verb(rule.action)} it: ")
    for doubt in side.doubts:
        yield prose_line(f"not known: {doubt.message}", "warning", 4, 6)


def connection_table(answer: ConnectionDescription, view: View) -> list[Table[CheckedConnection]]:
    """Return a row for each verdict."""

    def side_cell(side: SideVerdict | None) -> str:
        return "" if side is None else _VERDICTS[side.allowed]

    def by(checked: CheckedConnection) -> tuple[str, ...]:
        sides: Iterable[SideVerdict | None] = (checked.verdict.egress, checked.verdict.ingress)
        decided = (rule for side in sides if side and side.allowed is not True for rule in side.deciding)
        return tuple(dict.fromkeys(str(rule.policy.policy) for rule in decided))

    columns: tuple[Column[CheckedConnection], ...] = (
        Column("FROM", lambda row: set_phrase(row.sources, view) if row.sources else answer.source.address),
        Column(
            "TO", lambda row: set_phrase(row.destinations, view) if row.destinations else answer.destination.address
        ),
        Column("PORT", lambda row: f"{row.verdict.port}/{row.verdict.protocol}"),
        Column("ALLOWED", lambda row: _VERDICTS[row.verdict.allowed]),
        Column("EGRESS", lambda row: side_cell(row.verdict.egress), narrow=False),
        Column("INGRESS", lambda row: side_cell(row.verdict.ingress), narrow=False),
        Column("DENIED BY", by),
    )
    return [Table(columns, answer.connections)]
