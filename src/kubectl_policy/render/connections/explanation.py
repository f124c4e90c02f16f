"""`why-not` of a connection as text: what decides about it, and edits that would allow or deny it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.kinds import listed, names
from kubectl_policy.render.connections.connection import connection_headline, ports_phrase, verdict_lines
from kubectl_policy.render.connections.wording import end_phrase, rule_phrase
from kubectl_policy.render.output.text import Line, Segment, prose_line
from kubectl_policy.render.wording.blind_spots import unread_hedge
from kubectl_policy.render.wording.edits import edit_lines, remark_line, undefined_lines
from kubectl_policy.render.wording.names import count, namespaces_phrase
from kubectl_policy.render.wording.sections import BLANK, headline_line, unseen_section

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.questions.connections.verdicts import SideVerdict
    from kubectl_policy.questions.why_not.checked import CheckedEdit
    from kubectl_policy.questions.why_not.connections.answer import ConnectionExplanation
    from kubectl_policy.questions.why_not.connections.case import Wanted
    from kubectl_policy.questions.why_not.connections.side_effects import ChangedConnections, ConnectionSideEffects
    from kubectl_policy.render.output.text import Document, View

_VERBS: Final[Mapping[Wanted, str]] = {"allowed": "allow", "denied": "deny"}


def explanation_headline(answer: ConnectionExplanation) -> str:
    """Return the answer in one sentence; where connections are allowed, with what allows them."""
    if not answer.allowed:
        return connection_headline(answer)
    source, destination = end_phrase(answer.source), end_phrase(answer.destination)
    sentence = f"{source} may connect to {destination} on {ports_phrase(answer)}: {_allowing(answer)}"
    return f"{sentence}{unread_hedge(answer.unseen)}."


def _allowing(answer: ConnectionExplanation) -> str:
    """Name what allows the connections on each side."""
    reasons: dict[str, None] = {}
    for checked in answer.connections:
        for side in (checked.verdict.egress, checked.verdict.ingress):
            if side:
                reasons[_reason(side)] = None
    return listed(list(reasons))


def _reason(side: SideVerdict) -> str:
    if not side.deciding:
        return f"no network policy decides about {side.direction}"
    return f"{side.direction} is allowed by {rule_phrase(side.deciding[0])}"


def explanation_text(answer: ConnectionExplanation, view: View) -> Document:
    """Return the answer in the order of thought that every command keeps."""
    return (
        headline_line(explanation_headline(answer)),
        *verdict_lines(answer, view),
        *_edits(answer, view),
        *unseen_section(answer.unseen),
    )


def _edits(answer: ConnectionExplanation, view: View) -> Iterator[Line]:
    verb = _VERBS[answer.wanted]
    if answer.obstacle:
        yield BLANK
        obstacle = Segment(f" {answer.obstacle}.", prose=True)
        yield Line((Segment("No single change would do it:", "heading"), obstacle), 0, 2)
    if answer.pair:
        yield BLANK
        yield prose_line(f"Two changes that would {verb} it together (checked):", "heading")
        for number, edit in enumerate(answer.pair.edits, 1):
            yield from edit_lines(edit, f"{number}. ", view, 5)
        yield from _side_effects(answer, answer.pair.also_changes, answer.pair.edits, 2)
    if answer.edits:
        several = len(answer.edits) > 1
        heading = f"Changes any of which would {verb} it (checked), the one with the fewest side effects first:"
        yield BLANK
        yield prose_line(heading if several else f"Change that would {verb} it (checked):", "heading")
        for number, offered in enumerate(answer.edits, 1):
            indent = 5 if several else 2
            yield from edit_lines(offered, f"{number}. " if several else "", view, indent)
            yield from _side_effects(answer, offered.also_changes, [offered], indent)


def _side_effects(
    answer: ConnectionExplanation, also: ConnectionSideEffects, edits: Sequence[CheckedEdit], indent: int
) -> Iterator[Line]:
    """List what else edits change, and what could not be checked."""
    hedge = " that was read" if also.may_miss_some else ""
    if also.harm == "none":
        yield remark_line(f"Changes no other connection{hedge}.", indent)
    if also.more_ports:
        outcome = "opens" if answer.wanted == "allowed" else "closes"
        yield remark_line(f"Also {outcome} {also.more_ports} between the two.", indent)
    if also.opened:
        yield remark_line(f"Also opens {_connections(also.opened)}.", indent)
    if also.closed:
        yield remark_line(f"Also closes {_connections(also.closed)}.", indent, "warning")
    if also.uncertain:
        yield remark_line(f"May also change {_connections(also.uncertain)}.", indent)
    if also.gaining:
        yield remark_line(f"Lets more requests reach {names(also.gaining)}.", indent)
    if also.losing:
        yield remark_line(f"{names(also.losing)} would lose traffic.", indent, "warning")
    yield from undefined_lines(edits, answer.place, indent)


def _connections(changed: ChangedConnections) -> str:
    """Return numbers of connections: `12 other connections in 2 namespaces`, `addresses outside to 3 workloads`."""
    pairs = count(changed.pairs, "other connection") if changed.pairs else ""
    outside = f"connections of {count(changed.outside, 'workload')} with addresses outside" if changed.outside else ""
    return listed(list(filter(None, (pairs, outside)))) + namespaces_phrase(changed.namespaces)
