"""Computed against reported, in words: the first sentence, both sides, and what would explain that they disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.kinds import plural
from kubectl_policy.questions.status.comparison import COUNTS
from kubectl_policy.render.words.headlines import as_far_as
from kubectl_policy.render.words.names import count, listed, node_words
from kubectl_policy.render.words.next_commands import elsewhere_hint

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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


def status_headline(report: StatusReport) -> str:
    """How much disagrees, of how much; if little or nothing could be compared, the same sentence says so."""
    if not report.objects:
        where = f" in namespace {report.namespace}" if report.namespace else ""
        return f"Nothing to compare: no policies{where}{as_far_as(report.unseen)}."
    silent = [one for one in report.objects if not one.reported]
    if len(silent) == len(report.objects):
        one = len(silent) == 1
        whom = f"{silent[0].resource.ref} has no" if one else f"none of {_numbers(silent)} has a"
        return f"Nothing to compare: {whom} status in the input{as_far_as(report.unseen)}."
    parts = [_agreement(report)]
    undecided = sum(found.verdict == "undecided" for _, found in report.comparisons)
    if undecided:
        parts.append(f"{undecided} more cannot be decided from what was read")
    if silent:
        verb = "has" if len(silent) == 1 else "have"
        parts.append(f"{_numbers(silent)} {verb} no status in the input")
    return f"{'; '.join(parts)}{as_far_as(report.unseen)}."


def _agreement(report: StatusReport) -> str:
    compared = [found for _, found in report.comparisons if found.is_compared]
    reported = [one for one in report.objects if any(found.is_compared for found in one.comparisons)]
    wrong = [one for one in reported if one.disagrees]
    disagreeing = sum(found.disagrees for found in compared)
    if not compared:
        return "Nothing that is computed here was reported"
    if len(compared) == 1:
        noun = "number" if compared[0].type in COUNTS else "condition"
        return f"The only {noun} on {_whom(reported)} {'is not' if wrong else 'is'} as computed"
    noun = "conditions and numbers" if any(found.type in COUNTS for found in compared) else "conditions"
    if not wrong:
        return f"All {len(compared)} {noun} on {_whom(reported)} are as computed"
    verb = "disagrees" if disagreeing == 1 else "disagree"
    return f"{disagreeing} of {len(compared)} {noun} {verb} with what is computed, on {_share(wrong, report.objects)}"


def _whom(objects: Sequence[ObjectStatus]) -> str:
    return str(objects[0].resource.ref) if len(objects) == 1 else _numbers(objects)


def _share(some: Sequence[ObjectStatus], every: Sequence[ObjectStatus]) -> str:
    """`2 of 6 policies and 1 of 2 Gateways`; of one object, its name."""
    if len(every) == 1:
        return str(every[0].resource.ref)
    found, total = _nouns(some), _nouns(every)
    return listed([f"{number} of {count(total[noun], noun)}" for noun, number in found.items()])


def _numbers(objects: Iterable[ObjectStatus]) -> str:
    return listed([count(number, noun) for noun, number in _nouns(objects).items()])


def _nouns(objects: Iterable[ObjectStatus]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in objects:
        noun = "policy" if one.is_policy else one.resource.ref.kind
        found[noun] = found.get(noun, 0) + 1
    return found


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
