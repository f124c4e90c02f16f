"""Computed against reported, in words: both sides, and what would explain that they disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.kinds import plural
from kubectl_policy.render.words.names import node_words
from kubectl_policy.render.words.next_commands import elsewhere_hint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy.questions.status.comparison import Claim, Comparison, Explanation, ObjectStatus, Verdict
    from kubectl_policy.questions.status.report import StatusReport

VERDICTS: Final[Mapping[Verdict, str]] = {
    "agrees": "Agrees",
    "differs": "Differs",
    "not reported": "NotReported",
    "not expected": "NotExpected",
    "undecided": "Undecided",
    "unknown type": "UnknownType",
}
_SHORT: Final[Mapping[Explanation, str]] = {
    "not in spec": "not in its spec",
    "older generation": "older generation",
    "class unread": "GatewayClass not read",
    "no class": "no class of its controller",
    "other class": "class of another controller",
    "silent controller": "controller reports nothing",
    "approximate profile": "kind known in part",
    "inferred profile": "kind not known",
    "assumed status": "reports not known",
    "input incomplete": "input not all read",
    "none": "none known",
}

_LONG: Final[Mapping[Explanation, str]] = {
    "not in spec": "its spec does not name {where} (any more)",
    "older generation": "the report is of generation {seen}, and the object is at generation {now} now",
    "class unread": "no GatewayClass was read that says whether its controller acts there",
    "no class": "no GatewayClass in the input, or none that is accepted, is its controller's",
    "other class": "it is by {controller}, and {where} is another controller's, by its GatewayClass",
    "silent controller": (
        "its controller has reported on no {kind} in the input: it may not be running, or be of another version"
    ),
    "approximate profile": "not everything about {kinds} is computed: explain {name} says what is not",
    "inferred profile": "how {kinds} work is guessed: explain {name} says from what, and how to mend it",
    "assumed status": "how {kinds} report is assumed, because nobody has said: explain {name} says what is known",
    "input incomplete": "part of the input could not be read, and may hold the reason",
    "none": "nothing that is known here explains it; see the end",
}


def hints(report: StatusReport) -> Sequence[str]:
    """Where else there are policies, if there is nothing to compare here."""
    return elsewhere_hint(report.elsewhere, "policy")


def claim_words(claim: Claim | None) -> str:
    """`True (Accepted)`; a count alone; `nothing` where one side has none."""
    if claim is None:
        return "nothing"
    return f"{claim.status} ({claim.reason})" if claim.reason else claim.status or '""'


def short_reason(found: Comparison) -> str:
    """Why a comparison does not agree, in as few words as fit into a column."""
    if found.doubts:
        return f"unseen: {', '.join(thing.what for thing in found.doubts)}"
    return _SHORT[found.explanation] if found.explanation else ""


def long_reason(one: ObjectStatus, found: Comparison) -> str:
    """What would explain a disagreement, as a sentence without its end; empty for what is none."""
    kind = (found.kind or one.resource.ref.group_kind).kind
    return (
        _LONG[found.explanation].format(
            where=node_words(found.at) if found.at else str(one.resource.ref),
            seen=found.seen,
            now=one.generation,
            controller=found.controller or "another controller",
            kind=kind,
            kinds=plural(kind),
            name=kind.lower(),
        )
        if found.explanation
        else ""
    )


def how_to_read(report: StatusReport, program: str) -> str:
    """The command that compares the same kinds as they are in the cluster."""
    kinds = [f"{names.plural}.{names.group_kind.group}".rstrip(".") for names in report.names]
    return f"kubectl get gatewayclasses,{','.join(kinds)} -A -o yaml | {program} status -A --offline -"
