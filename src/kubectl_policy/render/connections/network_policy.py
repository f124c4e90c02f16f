"""`describe` of a network policy as text: what it applies to, then its rules with what they match and decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.kinds import listed
from kubectl_policy.render.connections.wording import action_verb, set_phrase
from kubectl_policy.render.output.columns import Column, Number, Table
from kubectl_policy.render.output.text import Line, Segment, prose_line
from kubectl_policy.render.wording.blind_spots import unread_hedge
from kubectl_policy.render.wording.names import at_origin, count
from kubectl_policy.render.wording.sections import headline_line, problems_section, section, unseen_section

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.network.policy import Direction
    from kubectl_policy.questions.connections.network_policy import NetworkPolicyDescription, RuleOfPolicy
    from kubectl_policy.render.output.text import Document, View

_PREPOSITIONS: Final[Mapping[Direction, str]] = {"ingress": "from", "egress": "to"}


def network_policy_headline(answer: NetworkPolicyDescription) -> str:
    """Return the sentence that opens the answer about a network policy."""
    number, maybe = answer.applies_to.number, answer.may_apply_to.number
    subject = f"{answer.view.policy} applies to {count(number, 'workload') if number else 'no workload'}"
    if maybe:
        subject += f", perhaps to {maybe} more"
    if not (number or maybe):
        return f"{subject} that was read: it selects {answer.subject}{unread_hedge(answer.unseen)}."
    isolates = f" and isolates {'them' if number + maybe > 1 else 'it'} for {listed(answer.isolates)}"
    deciding = sum(bool(entry.decides_for) for entry in answer.rules if entry.matches)
    rules = sum(entry.matches is not None for entry in answer.rules)
    extent = (
        f"; {deciding} of its {count(rules, 'rule')} decide{'s' if deciding == 1 else ''} anything" if rules else ""
    )
    return f"{subject}{isolates if answer.isolates else ''}{extent}{unread_hedge(answer.unseen)}."


def network_policy_text(answer: NetworkPolicyDescription, view: View) -> Document:
    """Return the answer about a network policy in the order of thought that every command keeps."""
    policy = answer.view
    priority = f", priority {policy.priority}" if policy.priority is not None else ""
    tier = f"{policy.tier} tier{priority}; selects {answer.subject}"
    applies = [prose_line(set_phrase(answer.applies_to, view), indent=2)] if answer.applies_to.number else []
    if answer.may_apply_to.number:
        applies.append(prose_line(f"perhaps {set_phrase(answer.may_apply_to, view)}", "warning", 2, 4))
    return (
        headline_line(network_policy_headline(answer)),
        Line((Segment(tier, prose=True), Segment(at_origin(policy.origin, "   {}"), "aside")), 0, 2),
        *section("Applies to", applies),
        *(line for direction in answer.directions for line in _rules(answer, direction, view)),
        *problems_section(answer.problems),
        *unseen_section(answer.unseen),
    )


def _rules(answer: NetworkPolicyDescription, direction: Direction, view: View) -> tuple[Line, ...]:
    entries = [entry for entry in answer.rules if entry.direction == direction]
    return section(direction.capitalize(), (line for entry in entries for line in _rule(entry, view)))


def _rule(entry: RuleOfPolicy, view: View) -> Iterator[Line]:
    rule, direction = entry.rule, entry.direction
    if entry.matches is None:
        effect = f"for {count(entry.decides_for, 'workload')}" if entry.decides_for else "which decides nothing"
        yield prose_line(f"isolates: denies what no NetworkPolicy allows, {effect}", "", 2, 4)
        return
    peers, ports = listed(rule.peers) or "anything", listed(rule.ports) or "all ports"
    phrase = f"{action_verb(rule.action)} {ports} {_PREPOSITIONS[direction]} {peers}"
    decides = entry.decides_for
    spans = (
        Segment(f"{rule.rule}  ", "value"),
        Segment(phrase, "" if decides else "superseded", prose=True),
        Segment(at_origin(rule.origin, "   {}"), "aside"),
    )
    yield Line(spans, 2, 4)
    matches = f"matches {set_phrase(entry.matches, view)}" if entry.matches.number else "matches no workload"
    effect = f"decides for {count(decides, 'workload')}" if decides else "decides nothing"
    yield prose_line(f"{matches}; {effect}", "aside", 6, 8)


def network_policy_table(answers: Sequence[NetworkPolicyDescription]) -> Table[RuleOfPolicy]:
    """Return a row for each rule of some network policies."""
    columns: tuple[Column[RuleOfPolicy], ...] = (
        Column("POLICY", lambda entry: str(entry.rule.policy.policy)),
        Column("DIRECTION", lambda entry: entry.direction),
        Column("RULE", lambda entry: entry.rule.rule),
        Column("ACTION", lambda entry: entry.rule.action),
        Column("PEERS", lambda entry: entry.rule.peers),
        Column("PORTS", lambda entry: entry.rule.ports),
        Column("MATCHES", lambda entry: _number(entry.matches.number) if entry.matches else ""),
        Column("DECIDES FOR", lambda entry: _number(entry.decides_for)),
    )
    return Table(columns, [entry for answer in answers for entry in answer.rules])


def _number(number: int) -> Number:
    return Number(number, str(number))
