"""SARIF: what its schema says, what GitHub's code scanning asks for, and no more than that takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
from msgspec.structs import replace

import kubectl_policy
from kubectl_policy.lint.finding import Finding, Fix, Related
from kubectl_policy.lint.report import Checkout, Report
from kubectl_policy.lint.rule import Rule
from kubectl_policy.model import Origin, Severity
from kubectl_policy.render.lint.sarif import MAX_DESCRIPTION, MAX_LOCATIONS, MAX_MESSAGE, MAX_RESULTS, lint_sarif
from tests import build
from tests.render.lint import reports
from tests.render.shown import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syrupy.assertion import SnapshotAssertion


LINE = Origin("shop.yaml", 14)


def run(report: Report) -> dict[str, Any]:
    """The only run of a document that is valid."""
    document = cast("dict[str, Any]", lint_sarif(report))
    reports.SARIF.validate(document)
    (finding,) = document["runs"]
    return cast("dict[str, Any]", finding)


def result(finding: Finding, report: Report = reports.CLEAN) -> dict[str, Any]:
    (found,) = run(replace(report, findings=(finding,)))["results"]
    return cast("dict[str, Any]", found)


def test_small(snapshot: SnapshotAssertion) -> None:
    assert shown(reports.SMALL, "sarif") == snapshot


@pytest.mark.parametrize("report", [reports.CLEAN, reports.SMALL, reports.EVERYTHING])
def test_it_has_what_github_requires(report: Report) -> None:
    """None of it empty; https://docs.github.com/en/code-security/reference/code-scanning/sarif-files/sarif-support."""
    document = cast("dict[str, Any]", lint_sarif(report))
    assert document["$schema"] == "https://json.schemastore.org/sarif-2.1.0.json"
    assert document["version"] == "2.1.0"
    findings = run(report)
    driver = findings["tool"]["driver"]
    assert driver["name"] == "kubectl-policy"
    assert driver["semanticVersion"] == kubectl_policy.__version__
    for rule in driver["rules"]:
        for name in ("shortDescription", "fullDescription", "help"):
            assert rule[name]["text"]
        assert rule["help"]["markdown"]
        assert rule["defaultConfiguration"]["level"] in {"error", "warning", "note"}
        assert rule["properties"]["precision"] in {"very-high", "high"}
        assert rule["properties"]["problem.severity"] in {"error", "warning", "recommendation"}
        assert 0 < len(rule["properties"]["tags"]) <= 10
        assert ("security-severity" in rule["properties"]) is ("security" in rule["properties"]["tags"])
    assert len(findings["results"]) == len(report.findings)
    for result in findings["results"]:
        (location,) = result["locations"]
        region = location["physicalLocation"]["region"]
        assert result["message"]["text"]
        assert result["partialFingerprints"]
        assert location["physicalLocation"]["artifactLocation"]["uri"]
        assert region["startLine"] == region["endLine"] > 0
        assert 0 < region["startColumn"] < region["endColumn"]
        if "ruleIndex" in result:
            assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_nothing_is_an_empty_list() -> None:
    assert run(reports.CLEAN)["results"] == []


def test_each_world_has_a_category() -> None:
    assert run(reports.CLEAN)["automationDetails"]["id"] == "kubectl-policy/lint/"
    assert (
        run(replace(reports.CLEAN, scope=replace(reports.SCOPE, worlds=("prod",))))["automationDetails"]["id"]
        == "kubectl-policy/lint/prod/"
    )


def test_rules_about_security_are_marked() -> None:
    guard = reports.RULES[1]
    scores: dict[Severity, str] = {"error": "8.0", "warning": "5.5", "info": "3.0"}
    for severity, score in scores.items():
        rule = run(replace(reports.CLEAN, rules=(replace(guard, severity=severity),)))["tool"]["driver"]["rules"][0]
        assert rule["properties"]["security-severity"] == score
    assert run(reports.CLEAN)["tool"]["driver"]["rules"][1]["properties"]["tags"] == [
        "gateway-api",
        "policy-effects",
        "security",
    ]


def test_a_rule_of_another_kind_has_no_subject() -> None:
    rule = Rule("X1", "error", reports.target_not_found)
    assert run(replace(reports.CLEAN, rules=(rule,)))["tool"]["driver"]["rules"][0]["properties"]["tags"] == [
        "gateway-api"
    ]


def test_the_message_begins_with_a_title_and_links_what_was_read() -> None:
    findings = result(reports.LOST)
    assert findings["message"]["text"] == (
        "HTTPRoute shop/storefront: jwt.providers is lost for rule api. "
        "See [Gateway infra/public](1), spec.listeners[0]: the listener. "
        "See SecurityPolicy infra/jwt: set it before."
    )
    first, second = findings["relatedLocations"]
    assert (first["id"], first["physicalLocation"]["artifactLocation"]["uri"]) == (1, "infra/gw.yaml")
    assert "physicalLocation" not in second
    assert second["logicalLocations"][0]["fullyQualifiedName"].endswith("/infra/jwt")
    plain = result(replace(reports.LOST, related=(Related(object=reports.GATEWAY),)))
    assert plain["message"]["text"].endswith(" See Gateway infra/public.")
    assert "message" not in plain["relatedLocations"][0]


def test_no_name_is_a_link() -> None:
    odd = build.ref("Gateway", "a](2)[b", "infra")
    related = Related(object=odd, words="[x](https://example.com)", origin=LINE)
    text = result(replace(reports.LOST, message="[x](1)", related=(related,)))["message"]["text"]
    assert text == (
        "HTTPRoute shop/storefront: [x] (1). See [Gateway infra/a\\] (2)\\[b](1): [x] (https://example.com)."
    )


def test_what_is_in_no_file_has_a_place_all_the_same() -> None:
    """Without one GitHub shows nothing; and the fingerprint that it makes of files by itself."""
    findings = result(reports.LIVE)
    assert findings["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "kind-dev/infra/Gateway/public"
    assert findings["partialFingerprints"].keys() == {"finding/v1", "primaryLocationLineHash"}
    assert result(reports.MISSING)["partialFingerprints"].keys() == {"finding/v1"}
    assert "logicalLocations" not in result(reports.UNREADABLE)["locations"][0]


def test_what_is_new_is_marked() -> None:
    assert (
        result(reports.MISSING, replace(reports.CLEAN, scope=replace(reports.SCOPE, since="main")))["baselineState"]
        == "new"
    )
    assert "baselineState" not in result(reports.MISSING)


def test_the_region_is_what_the_line_holds() -> None:
    """Where its text is known; of GitHub, only whole lines of a difference are annotated."""
    report = replace(reports.CLEAN, checkout=Checkout(texts={LINE: "      name: größe  "}))
    region = {"startLine": 14, "startColumn": 7, "endLine": 14, "endColumn": 18}
    assert result(reports.MISSING, report)["locations"][0]["physicalLocation"]["region"] == region


def test_a_value_can_be_replaced_by_a_program() -> None:
    report = replace(reports.CLEAN, checkout=Checkout(texts={LINE: "      name: checkot"}))
    (fix,) = result(reports.MISSING, report)["fixes"]
    assert fix["description"]["text"] == "did you mean checkout?"
    (change,) = fix["artifactChanges"]
    (replacement,) = change["replacements"]
    assert replacement == {
        "deletedRegion": {"startLine": 14, "startColumn": 13, "endLine": 14, "endColumn": 20},
        "insertedContent": {"text": "checkout"},
    }
    assert "fixes" not in result(reports.MISSING)
    assert "fixes" not in result(replace(reports.MISSING, fix=Fix(words="think")), report)


def test_more_than_github_takes_is_left_out() -> None:
    many = tuple(replace(reports.LOST, related=(), field=f"f{number}") for number in range(MAX_RESULTS))
    document = cast("dict[str, Any]", lint_sarif(replace(reports.CLEAN, findings=(*many, reports.MISSING))))
    findings = document["runs"][0]
    assert len(findings["results"]) == MAX_RESULTS
    assert findings["results"][0]["level"] == "error"
    (said,) = findings["invocations"][0]["toolExecutionNotifications"]
    assert said["message"]["text"] == "Left out, as GitHub takes 25,000 results: 1 finding"
    others = tuple(Related(object=build.ref("Service", f"s{number}"), origin=LINE) for number in range(200))
    long = result(replace(reports.LOST, message="m" * 9_999, related=others))
    assert len(long["relatedLocations"]) == MAX_LOCATIONS
    assert len(long["message"]["text"].partition(". ")[0]) == MAX_MESSAGE

    def verbose(_: object) -> Iterator[Finding]:
        return iter(())

    verbose.__doc__ = f"{'s' * 2_000}\n\n{'e' * 2_000}"
    rule = run(replace(reports.CLEAN, rules=(Rule("GWP1001", "error", verbose),)))["tool"]["driver"]["rules"][0]
    assert len(rule["shortDescription"]["text"]) == len(rule["fullDescription"]["text"]) == MAX_DESCRIPTION


def test_what_could_not_be_checked_is_a_notification() -> None:
    findings = run(reports.EVERYTHING)["invocations"][0]["toolExecutionNotifications"]
    assert [finding["level"] for finding in findings] == ["warning", "note"]
    assert findings[1]["associatedRule"] == {"id": "GWP1001"}
    assert findings[1]["locations"][0]["physicalLocation"]["region"]["startLine"] == 22
    assert len(run(reports.EVERYTHING)["results"]) == len(reports.EVERYTHING.findings)
