"""Computed against reported in words, rows and documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest
from msgspec.structs import replace

from kubectl_policy import analyze
from kubectl_policy.model import Gap, Origin
from kubectl_policy.profiles.controllers import ConditionWords
from kubectl_policy.questions.status.comparison import Claim, Comparison, Explanation, ObjectStatus
from kubectl_policy.render.output.text import View
from kubectl_policy.render.status import long_reason, short_reason
from kubectl_policy.render.wording.headlines import status_headline
from tests import build
from tests.questions.status.reports import (
    ACCEPTED,
    FINE,
    WORKS,
    ancestor,
    compared,
    condition,
    kind,
    parent,
    policy,
    reported,
    world,
)
from tests.render.schema import VALIDATOR
from tests.render.shown import document_of, shown

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from kubectl_policy.model import Resource
    from kubectl_policy.questions.status.report import StatusReport

TAKEN = ("Seen", "False", "Taken")


def busy() -> StatusReport:
    """Everything that a report can hold: each verdict, other controllers, silence, and a gap."""
    parts = [
        ancestor(condition(TAKEN, 1), condition(WORKS, 1), condition(("Cached", "True", "Yes"))),
        ancestor(condition(FINE), controller="other"),
    ]
    unread = policy("unread", build.target("far", "GRPCRoute"))
    return compared(
        *world()[:2],
        build.service("s"),
        reported(build.route("r"), parents=[parent(condition(ACCEPTED))]),
        reported(policy("p"), 2, ancestors=parts),
        reported(policy("q", build.ON_GATEWAY), 2, ancestors=[ancestor(condition(FINE, 1))]),
        reported(unread, ancestors=[ancestor(condition(FINE), condition(("", "", "")))]),
        policy("silent"),
        gaps=[Gap("", "", "broken", Origin("bad.yaml", 7))],
    )


def fine(*extra: Resource) -> StatusReport:
    """One policy on which everything agrees."""
    return compared(*world(), reported(policy(), ancestors=[ancestor(condition(FINE), condition(WORKS))]), *extra)


@pytest.mark.parametrize("width", [80, 120])
def test_the_tree_has_disagreements_first(snapshot: SnapshotAssertion, width: int) -> None:
    assert shown(busy(), "tree", View(width)) == snapshot


def test_everything_is_shown_if_asked_for(snapshot: SnapshotAssertion) -> None:
    assert shown(fine(), "tree", View(everything=True)) == snapshot
    assert "As computed" not in shown(fine(), "tree")


def test_rows_in_both_widths(snapshot: SnapshotAssertion) -> None:
    report = busy()
    assert shown(report, "table") == snapshot
    assert shown(report, "wide", View(everything=True)) == snapshot
    assert shown(fine(), "table") == ""
    assert shown(report, "name") == ("colorpolicy.example.com/p\nhttproute.gateway.networking.k8s.io/r\n")


@pytest.mark.parametrize("report", [busy(), fine(), compared()])
def test_the_document_is_as_the_schema_says(report: StatusReport) -> None:
    document = document_of(report)
    VALIDATOR.validate(document)
    comparisons = [comparison for _, comparison in report.comparisons]
    assert document["compared"] == sum(status.is_compared for status in comparisons)
    assert document["disagreeing"] == sum(status.disagrees for status in comparisons)
    assert document["undecided"] == sum(status.verdict == "Undecided" for status in comparisons)


def test_every_explanation_has_words_of_its_own() -> None:
    status = ObjectStatus(resource=build.gateway(), generation=4, policy=False, has_status=True)
    at = build.node("Gateway", "g", "http")
    every = [
        Comparison(
            at=at,
            type="A",
            computed=None,
            reported=Claim("True"),
            verdict="Differs",
            controller="c{0}",
            observed_generation=3,
            explanation=explanation,
        )
        for explanation in get_args(Explanation)
    ]
    long = [long_reason(status, comparisons, "the input") for comparisons in every]
    assert len({*long}) == len({short_reason(comparisons) for comparisons in every}) == 11
    assert long[0] == "the report is for generation 3, and the object is at generation 4 now"
    assert "Gateway default/g, listener http" in long[1]
    agreeing = Comparison(at=None, type="A", computed=None, reported=None, verdict="Agrees")
    assert (long_reason(status, agreeing, "the input"), short_reason(agreeing)) == ("", "")


def test_the_first_sentence() -> None:
    assert status_headline(compared()) == "Nothing to compare: no policies."
    assert (
        status_headline(fine())
        == "All 2 conditions on ColorPolicy default/p are as computed; 1 HTTPRoute has no status in the input."
    )
    sentence = "Nothing to compare: no controller has reported on"
    one = compared(*world(), policy(), word="policies")
    assert status_headline(one) == f"{sentence} ColorPolicy default/p in the input."
    silent = compared(*world(), policy("p"), policy("q"), build.gateway("h"))
    assert status_headline(silent) == f"{sentence} any of 2 policies and 1 HTTPRoute in the input."
    assert status_headline(replace(one, place="the cluster")) == f"{sentence} ColorPolicy default/p in the cluster."
    wrong = reported(policy(), ancestors=[ancestor(condition(TAKEN))])
    accepts = kind(words={"accepted": ConditionWords(*FINE)})
    status = compared(*world(), wrong, word="policies", profile=accepts)
    assert status_headline(status).startswith("The only condition on ColorPolicy default/p is not as computed.")
    odd = compared(*world(), reported(policy("p", build.target("x", "GRPCRoute")), conditions=[{}]), word="policies")
    assert status_headline(odd) == "Nothing that is computed here was reported."
    assert status_headline(busy()).endswith("as far as could be read: 1 file may hold more.")


def test_at_a_terminal_long_lists_are_cut_and_commands_lead_on() -> None:
    report = fine(*(policy(f"s{number}") for number in range(12)))
    lines = shown(report, "tree", View(terminal=True)).splitlines()
    assert "  and 3 more objects: --show-all shows them" in lines
    for view in (View(), View(terminal=True, everything=True)):
        assert "--show-all" not in shown(report, "tree", view)
    leading_on = shown(busy(), "tree", View(terminal=True, options=("--offline", "x")))
    assert "  kubectl policy describe colorpolicy/p -n default --offline x\n" in leading_on


def test_nothing_in_a_report_can_control_a_terminal() -> None:
    """Nor is anything in it taken for a template of ours."""
    evil = ("\x1b[31m{seen}", "\u202eTrue", "{0}")
    report = compared(*world(), reported(policy(), ancestors=[ancestor(condition(evil, message="\n[bold]"))]))
    for name in ("tree", "wide"):
        assert all(line.isprintable() for line in shown(report, name, View(everything=True)).split("\n"))


def test_the_whole_world_can_be_asked_about_at_once() -> None:
    assert analyze(build.snapshot()).policies == ()
    assert status_headline(compared(*world())) == "Nothing to compare: no policies."
