"""Judge `lint` by the verdicts of controllers: what they complain about is named, and nothing else is an error.

`python -m tests.cases.lint_verdicts CASES` reads CASES/<suite>/<case> of the suites below. A complaint is a condition
of an object that tells of something wrong; it is named if a finding that is an error or a warning is about the object,
or is related to it. In a world without complaint no object may have an error, but in those of `TRUE_ERRORS`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from kubectl_policy import Analysis, Implementation, PolicyError, analyze
from kubectl_policy.lint.finding import Finding
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model.fields import mapping_at, text_at
from tests.cases import conformance, kgateway, kuadrant, predictions
from tests.cases.complaints import (
    Complaint,
    conformance_complaints,
    kuadrant_complaints,
    nginx_complaints,
    scored_complaints,
)
from tests.cases.names import slashed
from tests.cases.report import NodeInForce, render
from tests.cases.worlds import read, world
from tests.lint.rule_worlds import lint


class Suite(NamedTuple):
    """The recorded cases of a project, and the complaints in them."""

    folder: str
    complaints: Callable[[Path], Iterable[Complaint]]


SUITES: Final = (
    Suite("conformance", conformance_complaints),
    Suite("envoy-gateway", scored_complaints),
    Suite("envoy-gateway-random", scored_complaints),
    Suite("kgateway", scored_complaints),
    Suite("kuadrant", kuadrant_complaints),
    Suite("nginx-gateway-fabric", nginx_complaints),
)

# Errors in worlds without complaint that are right: why no controller complains, and the cases by suite.
_TRUE_ERRORS: Final = (
    (
        "the world is a part of one: a controller that was tested alone never looked at the objects that are absent",
        {
            "kuadrant": (
                "auth-three-levels-effective",
                "demo-policy-machinery-walkthrough",
                "merge-color-topology",
                "merge-jsonpatch-topology",
                "path-hostname-validity",
                "tls-section-only",
                "topo-complex-sections",
                "topo-mixed-rule-naming",
                "topo-named-rules",
                "topo-one-of-each-sections",
                "topo-one-of-each-unexpanded",
            ),
            "nginx-gateway-fabric": ("random-1-031", "target-foreign-gateway"),
        },
    ),
    (
        "a controller writes no status for an object whose target or parent does not exist, or is not its own",
        {
            "envoy-gateway": (
                "envoyextensionpolicy-invalid-cross-ns-ref",
                "extensions__extensionpolicy-with-invalid-target",
                "gateway-with-listener-with-unmatched-udproute",
                "httproute-with-multi-gateways-notmatch",
            ),
            "envoy-gateway-random": ("0049", "0077"),
            "nginx-gateway-fabric": ("random-1-015", "random-1-082", "random-1-102"),
        },
    ),
    (
        "an API server rejects the Gateway, so that the controller would not see it",
        {
            "envoy-gateway": (
                "backend-with-auto-san-sni",
                "envoyproxy-tls-settings",
                "gateway-with-listener-with-invalid-tls-configuration-invalid-mode",
                "gateway-with-two-listeners-on-same-tcp-or-tls-port",
                "gateway-with-two-listeners-with-same-port-http-udp-protocol",
                "grpcroute-with-request-header-modifier",
                "sds",
                "tcproute-with-backendtlspolicy",
                "tlsroute-with-tls-listener-missing-mode",
            ),
            "kgateway": ("listener-sets__shared-port-route-policy-ancestor",),
        },
    ),
    ("only a plugin of that test knows the kind of backend", {"kgateway": ("backends__basic",)}),
    (
        "the parent delegates, and the controller drops a child whose matches lie outside without a condition",
        {"kgateway": ("delegation__discard_invalid_child_matches",)},
    ),
)
TRUE_ERRORS: Final = {
    (suite, case): reason for reason, suites in _TRUE_ERRORS for suite, cases in suites.items() for case in cases
}


def judge(suite: Suite, case: Path) -> Iterator[NodeInForce]:
    """Yield an outcome for each complaint, or one for a world without any, which is expected to be without errors."""
    complaints = dict.fromkeys(suite.complaints(case))
    findings = lint(analyze_case(case), LintSettings())
    if not complaints:
        errors = [f"{error.rule} {error.subject}: {error.message}" for error in findings if error.severity == "error"]
        expected = (errors or ["an error"]) if (suite.folder, case.name) in TRUE_ERRORS else []
        yield NodeInForce(case.name, f"{suite.folder}: no error", "a world without complaint", expected, errors)
        return
    named = set(_named(findings))
    for complaint in complaints:
        text = f"{complaint.condition} {complaint.reason}: {complaint.subject}"
        got = "named" if complaint.subject in named else "not named"
        yield NodeInForce(case.name, f"{suite.folder}: named", text, "named", got)


def analyze_case(case: Path) -> Analysis:
    """Return the analysis of a case under the settings of its controller, with the definitions that it names."""
    settings = kgateway.settings_of(case) if (case / kgateway.FACTS).is_file() else Implementation()
    if (case / conformance.MARKER).is_file():
        settings = conformance.implementation_of(read(case / conformance.MARKER))
    expected = read(case / kuadrant.MARKER) if (case / kuadrant.MARKER).is_file() else {}
    definitions = text_at(expected, "crds")
    files = [case / predictions.MARKER, *([case / definitions] if definitions else [])]
    profiles = kuadrant.profiles_of(mapping_at(expected, "model"))
    return analyze(world(files), profiles=profiles, implementation=settings)


def _named(findings: Iterable[Finding]) -> Iterator[str]:
    for finding in findings:
        if finding.severity in {"error", "warning"}:
            yield from (slashed(ref) for ref in (finding.subject, *(part.object for part in finding.related)) if ref)


def outcomes_of(suite: Suite, folder: Path, step: int = 1) -> list[NodeInForce]:
    """Return the outcomes of the worlds of a suite, or of one in so many, in a folder."""
    outcomes: list[NodeInForce] = []
    for manifests in sorted(folder.glob(f"{suite.folder}/*/{predictions.MARKER}"))[::step]:
        try:
            outcomes += judge(suite, manifests.parent)
        except PolicyError as error:
            outcomes.append(NodeInForce(manifests.parent.name, suite.folder, "world", "an answer", str(error)))
    return outcomes


if __name__ == "__main__":
    sys.stdout.write(render([outcome for suite in SUITES for outcome in outcomes_of(suite, Path(sys.argv[1]))]))
