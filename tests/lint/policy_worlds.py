"""Worlds of policies for tests of rules: a kind without a profile, kinds with one, and a Gateway for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kubectl_policy import PolicyKindProfile, analyze
from kubectl_policy.lint.lint_world import LintWorld
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model import Gap, GroupKind, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from tests import build

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.lint.rule import Rule

COLOR: Final = GroupKind("example.com", "ColorPolicy")
OURS: Final = "example.com/gateway"
CLASS: Final = build.gateway_class()
GATEWAY: Final = build.gateway()
ROUTE: Final = build.route("r")
# Something that attaches, and to which requests come.
SERVED: Final = (CLASS, GATEWAY, ROUTE, build.service())
TO_ROUTE: Final = build.target("r", "HTTPRoute")


def known(kind: str = "ColorPolicy", *, direct: bool = False, **choices: Any) -> PolicyKindProfile:  # noqa: ANN401 (of any type)
    """The profile of a kind of `example.com`; it is inherited, and targets anything, unless told otherwise."""
    return PolicyKindProfile(GroupKind("example.com", kind), "direct" if direct else "inherited", "profile", **choices)


def kinds(*names: str) -> frozenset[GroupKind]:
    """Kinds of Gateway API, or of the core for a Service."""
    return frozenset(GroupKind("" if name == "Service" else GATEWAY_API, name) for name in names)


def checked(
    rule: Rule,
    *resources: Resource,
    profiles: Sequence[PolicyKindProfile] = (),
    complete: bool = True,
    gaps: Sequence[Gap] = (),
) -> list[Finding]:
    """What a rule finds in a world."""
    snapshot = build.snapshot(*resources, complete=complete, gaps=gaps)
    findings = rule.check(LintWorld(analyze(snapshot, profiles=profiles), LintSettings(), lambda _: True))
    return list({finding.key: finding for finding in findings}.values())


def said(findings: Iterable[Finding]) -> list[tuple[str, str]]:
    """Where findings are, and what they say; of unknown ones, with a question mark."""
    return [(finding.field, finding.message if finding.certain else f"? {finding.message}") for finding in findings]


def verdicts(findings: Iterable[Finding]) -> list[bool]:
    """Whether each of some findings is certain."""
    return [finding.certain for finding in findings]
