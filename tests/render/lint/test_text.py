"""Findings as text: what a person on call reads, and what programs look for in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from kubectl_policy.lint.finding import Finding, Fix
from kubectl_policy.lint.report import Report, Scope
from kubectl_policy.model import Origin
from kubectl_policy.render.lint import LINT
from kubectl_policy.render.lint.text import lint_text
from kubectl_policy.render.lint.wording import lint_headline
from kubectl_policy.render.output.formats import render
from kubectl_policy.render.output.text import Line, View, to_text
from tests import build
from tests.render.lint.reports import (
    CLEAN,
    EVERYTHING,
    GATEWAY,
    LIVE,
    LOST,
    MISSING,
    POLICY,
    ROUTE,
    RULES,
    SCOPE,
    SMALL,
    UNGRANTED,
    UNKNOWN,
    UNREADABLE,
    UNSEEN,
)
from tests.render.shown import shown

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion


TERMINAL = View(terminal=True, width=80)


def lines(report: Report, view: View) -> list[str]:
    return shown(report, "text", view).splitlines()


def alike(number: int) -> tuple[Finding, ...]:
    """Findings that say the same of several objects."""
    return tuple(
        replace(MISSING, subject=build.ref("BackendTLSPolicy", f"p{place}"), origin=Origin("shop.yaml", place))
        for place in range(1, number + 1)
    )


def with_findings(*findings: Finding) -> Report:
    return replace(CLEAN, findings=findings)


def test_small(snapshot: SnapshotAssertion) -> None:
    """In a log: each finding on one line, however long."""
    assert shown(SMALL, "text") == snapshot


def test_everything_at_a_terminal(snapshot: SnapshotAssertion) -> None:
    assert shown(EVERYTHING, "text", TERMINAL) == snapshot
    assert shown(EVERYTHING, "text", replace(TERMINAL, everything=True)) == snapshot


def test_a_line_says_where_how_bad_and_what() -> None:
    assert lines(with_findings(MISSING), View(width=40))[:2] == [
        f"shop.yaml:14: error GWP1001 target-not-found: {POLICY}: Service shop/checkot does not exist [TargetNotFound]",
        "    fix: did you mean checkout?",
    ]


def test_what_is_in_no_file_is_told_by_its_field() -> None:
    findings = lines(with_findings(LIVE, UNREADABLE, replace(MISSING, origin=None)), View())
    assert findings[0] == "broken.yaml:3: error GWP0004: a tab; YAML indents with spaces"
    assert findings[1].startswith(
        "error GWP1001 target-not-found: BackendTLSPolicy shop/checkout, spec.targetRefs[0].name: Service"
    )
    assert findings[3] == (
        "kind-dev: info GWP7001 name-odd: Gateway infra/public, spec.listeners[0].name: https is an odd name"
    )


def test_the_worst_comes_first() -> None:
    findings = lines(with_findings(LIVE, LOST, UNGRANTED, MISSING), View())
    severities = [line.split(": ")[1].split(" ")[0] for line in findings if line[:1] not in {" ", ""} and ": " in line]
    assert severities == ["error", "error", "warning", "info"]


def test_colour_says_what_the_words_say() -> None:
    made = render(LINT, SMALL, "text", replace(TERMINAL, coloured=True))
    assert isinstance(made, tuple)
    styles = {span.style: span.text.strip() for line in made for span in line.spans}
    assert styles["error"] == "error"
    assert styles["warning"] == "warning"
    assert styles["title"] == "2 errors and 1 warning in 14 objects of 5 files."


class TestTerminal:
    """Where a screen is short."""

    def test_what_is_said_of_several_objects_is_said_once(self) -> None:
        assert lines(with_findings(*alike(7)), TERMINAL) == [
            "error GWP1001 target-not-found: Service shop/checkot does not exist",
            "    [TargetNotFound]",
            "    fix: did you mean checkout?",
            *(f"    shop.yaml:{place}: BackendTLSPolicy default/p{place}" for place in range(1, 6)),
            "    and 2 more objects: --show-all shows them",
            "",
            "7 errors in 14 objects of 5 files.",
        ]
        assert len(lines(with_findings(*alike(4)), TERMINAL)) == 9

    def test_of_two_each_is_told(self) -> None:
        """As is what would be put right in another way, and everything in a log."""
        others = tuple(replace(each, fix=Fix(words=f"try {each.subject}")) for each in alike(4))
        whole = replace(TERMINAL, everything=True)
        for found, view in ((alike(2), TERMINAL), (others, TERMINAL), (alike(9), View()), (alike(9), whole)):
            text = " ".join(shown(with_findings(*found), "text", view).split())
            assert text.count("does not exist") == text.count("GWP1001") == len(found)

    def test_many_are_cut(self) -> None:
        """The least bad ones, and the line says how many."""
        many = tuple(replace(LOST, message=f"m{place}", related=()) for place in range(40))
        findings = lines(with_findings(*many, MISSING), TERMINAL)
        assert findings[-3:] == [
            "and 11 more findings: --show-all shows them",
            "",
            "1 error and 40 warnings in 14 objects of 5 files.",
        ]
        assert findings[0].startswith("shop.yaml:14: error")
        assert len(lines(with_findings(*many), replace(TERMINAL, everything=True))) == 42


def test_what_is_to_be_added_is_shown_once() -> None:
    again = replace(UNGRANTED, subject=POLICY, origin=Origin("shop.yaml", 40))
    findings = lines(with_findings(UNGRANTED, again), View())
    assert findings[1:4] == [
        "    fix: add a ReferenceGrant in namespace infra",
        "      apiVersion: gateway.networking.k8s.io/v1",
        "      kind: ReferenceGrant",
    ]
    assert findings.count("      kind: ReferenceGrant") == 1


def test_nothing_is_one_line() -> None:
    sentence = "No problems in 14 objects of 5 files.\n"
    assert shown(CLEAN, "text") == sentence
    assert shown(CLEAN, "text", replace(TERMINAL, everything=True)) == sentence
    assert lint_text(CLEAN, View())[0].spans[0].style == ""


def test_what_was_not_seen_is_said_even_if_nothing_is_wrong() -> None:
    assert shown(replace(CLEAN, unseen=(UNSEEN,)), "text", View(width=200)).splitlines() == [
        "Could not be seen",
        "  file bad.yaml (bad.yaml:1): it is broken. To do: fix or leave out this input",
        "",
        "No problems in 14 objects of 5 files, as far as could be read: 1 file may hold more.",
    ]


@pytest.mark.parametrize(
    ("report", "sentence"),
    [
        (CLEAN, "No problems in 14 objects of 5 files."),
        (replace(CLEAN, scope=Scope(objects=1)), "No problems in 1 object."),
        (
            replace(CLEAN, scope=replace(SCOPE, since="old.json"), known=(LOST, MISSING)),
            "No new problems since old.json in 14 objects of 5 files; 2 known.",
        ),
        (
            replace(SMALL, scope=replace(SCOPE, since="main")),
            "2 errors and 1 warning in 14 objects of 5 files, new since main.",
        ),
        (with_findings(LIVE, LIVE), "2 infos in 14 objects of 5 files."),
        (replace(CLEAN, scope=replace(SCOPE, worlds=("dev",))), "No problems in 14 objects of 5 files for dev."),
        (
            replace(CLEAN, scope=replace(SCOPE, worlds=("a", "b", "c", "d", "e"))),
            "No problems in 14 objects of 5 files for a, b, c and 2 others.",
        ),
        (replace(CLEAN, unknown=(UNKNOWN,) * 4), "No problems in 14 objects of 5 files; 4 checks could not be made."),
    ],
)
def test_the_sentence(report: Report, sentence: str) -> None:
    """How much is wrong, of how much."""
    assert lint_headline(report) == sentence
    assert shown(report, "summary") == f"{sentence}\n"


def test_a_check_that_could_not_be_made_needs_more_input() -> None:
    assert lint_headline(replace(CLEAN, unknown=(UNKNOWN,)), hints=True).endswith(
        "; 1 check could not be made (--complete if there is nothing else; --show-all shows them)."
    )
    live = replace(CLEAN, unknown=(UNKNOWN,), scope=replace(SCOPE, is_open=False))
    assert lint_headline(live, hints=True).endswith("; 1 check could not be made (--show-all shows them).")
    assert "(--" not in to_text(lint_text(live, View(everything=True)), 200)


def test_undecided_findings_that_a_change_adds_are_counted() -> None:
    added = replace(UNKNOWN, severity="warning", is_likely=True)
    assert lint_headline(with_findings(MISSING, added)).endswith(" 5 files; 1 of these is undecided.")
    assert lint_headline(with_findings(added, added), hints=True).endswith(
        "; 2 of these are undecided (--complete if there is nothing else)."
    )
    both = replace(with_findings(added), unknown=(UNKNOWN,))
    assert "; 1 of these is undecided, 1 check could not be made (--complete" in lint_headline(both, hints=True)


def test_findings_that_do_not_count_name_their_inputs() -> None:
    unknown, lost = replace(UNKNOWN, worlds=("prod",)), replace(LOST, worlds=("dev",))
    report = replace(CLEAN, unknown=(unknown,), known=(lost, MISSING), fixed=(lost,))
    ends = [line.rpartition(" (only in ")[2] for line in lines(report, View(everything=True)) if " (only in " in line]
    assert ends == ["prod)", "dev)", "dev)"]


def test_the_objects_with_findings() -> None:
    assert [*LINT.names(with_findings(MISSING, LOST, UNGRANTED, UNREADABLE, LIVE))] == [POLICY, ROUTE, GATEWAY]
    assert lines(SMALL, View())[-2] == ""
    assert RULES[0].name in to_text((Line(lint_text(SMALL, View())[0].spans),), 300)
