"""Computed against reported as a versioned document."""

from __future__ import annotations

from typing import Final, Literal

from kubectl_policy.model import ObjectRef
from kubectl_policy.questions.status.comparison import Claim, Comparison, ObjectStatus, OtherController
from kubectl_policy.questions.status.report import StatusReport
from kubectl_policy.render.output.documents import Field, document, shape
from kubectl_policy.render.output.parts import UNSEEN, assumed_field, headline_field
from kubectl_policy.render.status.text import VERDICTS
from kubectl_policy.render.words.headlines import status_headline

_AT: Final = Field("at", doc="The ancestor, parent or listener; null for the conditions of the object itself.")

shape(
    Claim,
    "claim",
    Field("status"),
    Field("reason"),
    Field("message", doc="Never compared."),
    doc="What one side says, a count as its status; null where it says nothing.",
)
shape(
    Comparison,
    "comparison",
    _AT,
    Field("type", doc="Of a condition, or attachedRoutes or attachedListenerSets."),
    Field(
        "policyKind",
        "kind",
        doc="Whose mark on an affected object disagrees; null for any other condition.",
    ),
    Field("verdict", lambda comparison: VERDICTS[comparison.verdict], type=Literal[tuple(VERDICTS.values())]),
    Field("reported"),
    Field("computed"),
    Field("controller", doc="Who reported, as far as the status says so."),
    Field("observedGeneration", "seen", doc="What the report is about."),
    Field("stale", doc="Whether the report is about an older generation."),
    Field("explanation", doc="What would explain a disagreement; null where there is none."),
    Field("unseen", "doubts", doc="What an undecided comparison depends on."),
)
shape(OtherController, "otherController", _AT, Field("controller"))
shape(
    ObjectStatus,
    "comparedObject",
    Field("object", "resource.ref", type=ObjectRef),
    Field("origin", "resource.origin"),
    Field("policy", "is_policy", doc="Whether the object is a policy, or one that policies target."),
    Field("generation", doc="The object's own; null if it has none."),
    assumed_field(),
    Field("hasStatus", "reported", doc="Without a status there is nothing to compare."),
    Field(
        "agrees",
        lambda status: not status.disagrees,
        type=bool,
        doc="False if any condition or count is known to disagree.",
    ),
    Field("conditions", "comparisons"),
    Field("otherControllers", doc="Places in the status that other controllers write."),
)

STATUS_COMPARISON: Final = document(
    StatusReport,
    "StatusComparison",
    headline_field(status_headline, "How much disagrees, for people."),
    Field("complete", lambda report: not report.unseen, type=bool, doc="False if something could not be read at all."),
    Field("namespace", doc="Empty if the objects are from every namespace."),
    Field(
        "compared",
        lambda report: sum(comparison.is_compared for _, comparison in report.comparisons),
        type=int,
        doc="The conditions and counts that were held against each other.",
    ),
    Field(
        "disagreeing",
        lambda report: sum(comparison.disagrees for _, comparison in report.comparisons),
        type=int,
        doc="How many of these disagree.",
    ),
    Field(
        "undecided",
        lambda report: sum(comparison.verdict == "undecided" for _, comparison in report.comparisons),
        type=int,
        doc="How many more depend on something that was not read.",
    ),
    Field("items", "objects"),
    UNSEEN,
    doc="The answer of status.",
)
