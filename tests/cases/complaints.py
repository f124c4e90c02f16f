"""Complaints of controllers about objects, read from the expectations of recorded cases of several projects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from kubectl_policy.model import Json
from kubectl_policy.model.fields import mapping_at, mappings_at, text_at
from tests.cases.worlds import fields, read

# Conditions that tell of something wrong if they are True; all others do if they are False.
_NEGATIVE: Final = frozenset({"Conflicted", "OverlappingTLSConfig", "PartiallyInvalid"})
# Conditions that tell what became of a policy that is right, or follow from another condition.
_CONSEQUENCES: Final = frozenset({"Programmed"})
_NOT_WRONG: Final = frozenset({"Overridden"})
# Verdicts of recorded cases that come from the way in which they were recorded.
_ARTIFACTS: Final = ("harness artifact", "duplicate object identity", "follows from")


class Complaint(NamedTuple):
    """A condition that a controller reports on an object (`Kind/namespace/name`), with its reason."""

    subject: str
    condition: str
    reason: str


def is_complaint(condition: str, status: str, reason: str) -> bool:
    """Whether a condition tells of something wrong with the object that has it."""
    wrong = "True" if condition in _NEGATIVE else "False"
    return status == wrong and condition not in _CONSEQUENCES and reason not in _NOT_WRONG


# Conditions by the last word of the type of a scored fact; "programmed" is of routes, whose rules are replaced.
_CONDITIONS: Final = {
    "accepted": "Accepted",
    "attachment": "Attached",
    "conflicted": "Conflicted",
    "programmed": "RulesProgrammed",
    "resolvedrefs": "ResolvedRefs",
}


def scored_complaints(case: Path) -> Iterator[Complaint]:
    """Yield the complaints of a case with facts.json: Envoy Gateway and kgateway."""
    for fact in json.loads((case / "facts.json").read_text("utf-8"))["facts"]:
        expected, subject = fact["expect"], fact["subject"]
        if (fact.get("excluded") or "").startswith(_ARTIFACTS):
            continue
        condition = subject.get("type") or _CONDITIONS.get(fact["type"].rpartition("-")[2], "")
        status = str(expected.get("conflicted") or expected.get("status", "")).capitalize()
        if condition and is_complaint(condition, status, expected.get("reason") or ""):
            yield Complaint(_subject(subject), condition, expected.get("reason") or "")


def _subject(subject: dict[str, Any]) -> str:
    """Return the object that a scored fact is about; of a listener, the Gateway or ListenerSet that has it."""
    if "listener" not in subject or "kind" in subject:
        return _slashed({"kind": "ListenerSet", **subject})
    names = subject["listener"].split("/")
    kind = "Gateway" if len(names) == len(("namespace", "gateway", "listener")) else "ListenerSet"
    return "/".join((kind, *names[-3:-1]))


def _slashed(ref: dict[str, Any]) -> str:
    return "/".join(filter(None, (ref["kind"], ref.get("namespace", ""), ref["name"])))


def conformance_complaints(case: Path) -> Iterator[Complaint]:
    """Yield the complaints of a case of the conformance tests, before anything changes."""
    for fact in json.loads((case / "expected.json").read_text("utf-8"))["status"]:
        if fact["stage"]:
            continue
        if fact["type"] in {"route-no-accepted-parents", "gateway-zero-routes"}:
            yield Complaint(_slashed(fact["object"]), "Accepted", "")
        elif condition := fact.get("condition"):
            reason = condition["reason"] or ""
            if is_complaint(condition["type"], condition["status"], reason):
                yield Complaint(_slashed(fact["object"]), condition["type"], reason)


def nginx_complaints(case: Path) -> Iterator[Complaint]:
    """Yield the complaints of a case of NGINX Gateway Fabric, and what an API server would not admit."""
    expected = read(case / "expected.yaml")
    for subject in _texts(expected.get("not_admitted")):
        yield Complaint(subject, "Admitted", "")
    facts = mapping_at(expected, "expect")
    for list_, name, statuses in (
        ("policies", "policy", "ancestors"),
        ("routes", "route", "parents"),
        ("gateways", "gateway", ""),
        ("load_balancers", "policy", ""),
    ):
        for fact in mappings_at(facts, list_):
            for conditions in mappings_at(fact, statuses) if statuses else (fact,):
                for condition in (name for name in conditions if name[0].isupper()):
                    status, _, reason = text_at(conditions, condition).partition("/")
                    if is_complaint(condition, status, reason):
                        yield Complaint(text_at(fact, name), condition, reason)


def _texts(value: Json) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def kuadrant_complaints(case: Path) -> Iterator[Complaint]:
    """Yield the complaints of a case of Kuadrant, and the policies that its definitions do not admit."""
    facts = mapping_at(read(case / "expected.yaml"), "expect")
    for fact in mappings_at(facts, "policies"):
        for name in ("accepted", "enforced"):
            condition = fields(fact.get(name))
            if is_complaint(name, str(condition.get("status", "")), text_at(condition, "reason")):
                yield Complaint(text_at(fact, "policy"), name.capitalize(), text_at(condition, "reason"))
    for fact in mappings_at(facts, "lint"):
        if fact.get("valid") is False:
            yield Complaint(text_at(fact, "policy"), "Admitted", "")
