"""Small worlds of Envoy Gateway: their objects, the verdicts on policies, and what lint finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy import analyze
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.questions.predicted_conditions import PolicyStatuses
from tests import build
from tests.lint.rule_worlds import lint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy import Analysis, ObjectRef, Resource
    from kubectl_policy.model import Json

GROUP: Final = "gateway.envoyproxy.io"
CLASS: Final = build.gateway_class("public", "gateway.envoyproxy.io/gatewayclass-controller")


def world(*objects: Resource) -> Analysis:
    """Return the analysis of a complete world with these objects and Envoy Gateway's class."""
    return analyze(build.snapshot(CLASS, *objects, complete=True))


def policy(kind: str, name: str, *targets: Mapping[str, Json], age: int | None = None, **spec: Json) -> Resource:
    """A policy of Envoy Gateway with `targetRefs` and whatever else its spec holds."""
    return build.resource(kind, name, {"targetRefs": list(targets), **spec}, group=GROUP, age=age)


def accepted(analysis: Analysis, ref: ObjectRef) -> dict[str, str]:
    """Return the reason of Accepted at each ancestor of a policy."""
    return {
        str(status.ancestor): condition.reason
        for status in PolicyStatuses(analysis).of(ref)
        for condition in status.conditions
        if condition.type == "Accepted"
    }


def findings(analysis: Analysis, *rules: str) -> list[tuple[str, str, str, str]]:
    """Return rule, severity, subject and message of errors and warnings; of certain rules, if any are named."""
    return [
        (finding.rule, str(finding.severity), str(finding.subject), finding.message)
        for finding in lint(analysis, LintSettings())
        if finding.severity in {"error", "warning"} and (not rules or finding.rule in rules)
    ]
