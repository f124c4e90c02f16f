"""Computed against reported as a versioned document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.render.output.parts import API_VERSION, kind_data, node_data, object_data, origin_data, unseen_data
from kubectl_policy.render.status.words import VERDICTS, status_headline

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.questions.status.comparison import Claim, Comparison, ObjectStatus
    from kubectl_policy.questions.status.report import StatusReport


def status_document(report: StatusReport) -> dict[str, Json]:
    """The report as plain mappings, lists and scalars, as `schemas/v1alpha1.json` describes them. Nothing is cut."""
    found = [comparison for _, comparison in report.comparisons]
    return {
        "apiVersion": API_VERSION,
        "kind": "StatusComparison",
        "headline": status_headline(report),
        "complete": not report.unseen,
        "namespace": report.namespace,
        "compared": sum(one.is_compared for one in found),
        "disagreeing": sum(one.disagrees for one in found),
        "undecided": sum(one.verdict == "undecided" for one in found),
        "items": [_object(one) for one in report.objects],
        "unseen": [unseen_data(thing) for thing in report.unseen],
    }


def _object(one: ObjectStatus) -> dict[str, Json]:
    return {
        "object": object_data(one.resource.ref),
        "origin": origin_data(one.resource.origin),
        "policy": one.is_policy,
        "generation": one.generation,
        "hasStatus": one.reported,
        "agrees": not one.disagrees,
        "conditions": [_comparison(found) for found in one.comparisons],
        "otherControllers": [
            {"at": node_data(place.at) if place.at else None, "controller": place.controller}
            for place in one.other_controllers
        ],
    }


def _comparison(found: Comparison) -> dict[str, Json]:
    return {
        "at": node_data(found.at) if found.at else None,
        "type": found.type,
        "policyKind": kind_data(found.kind) if found.kind else None,
        "verdict": VERDICTS[found.verdict],
        "reported": _claim(found.reported),
        "computed": _claim(found.computed),
        "controller": found.controller,
        "observedGeneration": found.seen,
        "stale": found.stale,
        "explanation": found.explanation,
        "unseen": [unseen_data(thing) for thing in found.doubts],
    }


def _claim(claim: Claim | None) -> dict[str, Json] | None:
    return {"status": claim.status, "reason": claim.reason, "message": claim.message} if claim else None
