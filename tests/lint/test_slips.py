"""References to objects that were not read: names that nearly exist are warnings, unless nothing works with them."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy import analyze
from kubectl_policy.lint.baseline import baseline_of
from kubectl_policy.lint.lint_world import LintWorld
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model.fields import items_at, text_at
from kubectl_policy.questions.shared import trials
from tests.lint.policy_manifests import JWT, gateway, policy, route, service
from tests.lint.rule_worlds import lint, snapshot_of

CALLING: Final = "extAuth: {http: {backendRefs: [{name: %s, port: 80}]}}"
CERTIFICATE: Final = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: certificate, namespace: infra}\n"
ENCRYPTED: Final = gateway().replace(
    "protocol: HTTP,", "protocol: HTTPS, tls: {certificateRefs: [{name: certificat}]},"
)


@pytest.mark.parametrize(
    ("manifests", "expected"),
    [
        (gateway() + route(backend="webhook") + service("webhooks"), [("GWP5001", "webhooks")]),
        # It has another port.
        (gateway() + route(backend="webhook") + service("webhooks").replace("port: 80}", "port: 81}"), []),
        (gateway() + route(backend="other") + service("webhooks"), []),
        (gateway() + route(gateway="publik"), [("GWP4001", "public")]),
        (gateway() + route(gateway="publik", section="none"), []),
        (gateway() + policy("SecurityPolicy", "HTTPRoute/checkot", JWT) + route("checkout"), [("GWP1001", "checkout")]),
        (
            gateway()
            + route()
            + policy("SecurityPolicy", "HTTPRoute/cart", CALLING % "authorise")
            + service("authorize"),
            [("GWP5016", "authorize")],
        ),
        (ENCRYPTED + CERTIFICATE, [("GWP6004", "certificate")]),
    ],
)
def test_a_name_that_nearly_exists_is_a_warning(manifests: str, expected: list[object]) -> None:
    findings = [finding for finding in lint(analyze(snapshot_of(manifests)), LintSettings()) if finding.is_likely]
    assert [(finding.rule, finding.fix.value) for finding in findings if finding.fix] == expected
    assert {(finding.severity, finding.certain, finding.counts) for finding in findings} <= {("warning", False, True)}


def test_a_baseline_keeps_it() -> None:
    analysis = analyze(snapshot_of(gateway() + route(backend="webhook") + service("webhooks")))
    kept = baseline_of(lint(analysis, LintSettings(selected=("GWP5",))))["findings"]
    assert [text_at(entry, "rule") for entry in items_at({"kept": kept}, "kept")] == ["GWP5001"]


def test_only_so_many_names_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where many objects do not exist, some of them get no suggestion."""
    manifests = gateway() + route("a", backend="webhook") + route("b", backend="webhook") + service("webhooks")
    for limit, expected in ((2, [True, True]), (1, [True, False])):
        monkeypatch.setattr(trials, "_MAX_COMPARISONS", limit)
        world = LintWorld(analyze(snapshot_of(manifests, complete=True)), LintSettings(), lambda _: True)
        findings = lint(world.analysis, LintSettings(selected=("GWP5001",)))
        assert [finding.fix is not None for finding in findings] == expected
