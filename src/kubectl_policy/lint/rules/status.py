"""Reports of controllers that are missing, stale, negative for a policy, or not as computed (GWP3001 to GWP3005)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.lint.finding import Finding, Fix
from kubectl_policy.lint.reported_status import ReportedClaim, status_phrase
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model.fields import integer_at, time_at
from kubectl_policy.model.kind_roles import GATEWAY_CLASS
from kubectl_policy.questions.shared.reported import NOT_WORKING
from kubectl_policy.questions.status.objects import COMPARED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.model import NodeRef, ObjectRef, Resource, Severity
    from kubectl_policy.questions.status.comparison import Claim, Comparison

# By which a controller says that a policy does not work, although it accepts it.
_NOT_IN_FORCE: Final = {type_: status for type_, status in NOT_WORKING.items() if type_ != "Accepted"}
_REFUSED: Final = {"Accepted": "False"}
# By which it says that an object of Gateway API does not, or not as it should.
NOT_SERVING: Final[Mapping[str, str]] = {
    "Accepted": "False",
    "SupportedVersion": "False",
    "ResolvedRefs": "False",
    "Conflicted": "True",
    "Programmed": "False",
    "PartiallyInvalid": "True",
    "OverlappingTLSConfig": "True",
    "InsecureFrontendValidationMode": "True",
}
# What others do, what will pass, and what is known to be cut: no mistake in the policy.
_NO_MISTAKES: Final = frozenset({"Overridden", "Reconciling", "Pending", "AncestorLimitReached"})
_IN_WORK: Final = "Reconciling"
_NEXT_STEPS: Final[Mapping[str, str]] = {
    "TargetNotFound": "compare kind, name and namespace of the target with what is in the cluster",
    "Conflicted": "give one of the two policies another target, or make one of both",
    "Invalid": "correct the setting that the controller names",
    "NoValidCACertificate": "refer to a ConfigMap with a certificate under ca.crt",
}


def is_about_policies(report: ReportedClaim) -> bool:
    """Whether a report is on a policy, not on a target of policies."""
    return report.resource.ref.group_kind not in (GATEWAY_CLASS, *COMPARED)


def by_location(reports: Iterable[ReportedClaim]) -> Iterable[Sequence[ReportedClaim]]:
    """Group reports by object, section or parent, and controller."""
    groups: dict[tuple[ObjectRef, NodeRef | None, str], list[ReportedClaim]] = {}
    for report in reports:
        groups.setdefault(report.location, []).append(report)
    return groups.values()


def first_sign(reports: Sequence[ReportedClaim], signs: Mapping[str, str]) -> ReportedClaim | None:
    """Return the report with the first of the given signs, or None."""
    of_type = {report.comparison.type: report for report in reversed(reports) if report.has(signs)}
    return next((of_type[type_] for type_ in signs if type_ in of_type), None)


def finding_about(
    world: LintWorld, report: ReportedClaim, message: str, *, severity: Severity | None = None
) -> Finding:
    """Return a finding about a report, at its path in the object."""
    at, comparison = report.comparison.at, report.comparison
    reported = comparison.reported or comparison.computed
    return Finding(
        subject=report.resource.ref,
        field=world.reported.written(report)[0],
        message=message,
        reason=reported.reason if reported else "",
        related=(world.related(at.object),) if at and report.is_about_another else (),
        severity=severity,
    )


@lint_rule("GWP3001", "warning", "status")
def stale_observed_generation(world: LintWorld) -> Iterator[Finding]:
    """A controller reported on an earlier version of the object.

    The status names the generation that the controller has seen, and the object has changed since. It is unknown
    whether the change is in force: the controller may be behind, may have stopped, or may be unable to write the
    status. If the time is known, objects that changed within the grace period are not reported. No other rule compares
    such a status with the computed one.

    Source: PolicyAncestorStatus and metav1.Condition, observedGeneration (Gateway API, apis/v1/policy_types.go);
    envoyproxy/gateway#8926.
    """
    first: dict[tuple[ObjectRef, str], ReportedClaim] = {}
    for report in world.reported.stale:
        if not report.comparison.is_count:
            first.setdefault((report.resource.ref, report.comparison.controller), report)
    for report in first.values():
        if not world.reported.is_new(report.resource):
            now = integer_at(report.resource.raw, "metadata.generation")
            seen = f"{report.controller_name} has seen generation {report.comparison.observed_generation} of it"
            unknown = "whether its last change is in force is not known"
            yield finding_about(world, report, f"{seen}, and it is at generation {now}: {unknown}")


@lint_rule("GWP3002", "warning", "status")
def no_status(world: LintWorld) -> Iterator[Finding]:
    """No controller has reported on an object in a cluster.

    Either no controller for the kind is running, or no controller acts on the object, so it has no effect. Manifests
    have no status before they are applied: the rule checks objects from a cluster, which have a uid or a generation,
    and objects that were read together with objects that have a status. Objects on which no controller would report are
    not reported, such as a policy without existing targets, and neither are objects that depend on one Gateway that is
    not accepted or has no status itself.

    Source: GEP-713, "The status stanza of policy objects"; kgateway-dev/kgateway#11438.
    """
    for resource in world.of_kind(*world.reported.kinds):
        if world.reported.lacks_report(resource) and not world.reported.is_new(resource):
            yield from _without_report(world, resource)


def _without_report(world: LintWorld, resource: Resource) -> Iterator[Finding]:
    if any(map(world.reported.is_refused, world.reported.parents(resource.ref))):
        return
    unreported = world.reported.unreported(resource)
    expected = [comparison for comparison in unreported if not _is_silent_for(world, comparison.at)]
    missing = [comparison for comparison in expected if comparison.disagrees and not comparison.policy_kind]
    undecided = [comparison for comparison in expected if comparison.verdict == "Undecided"]
    doubts = [world.reported.doubt(comparison) for comparison in missing or undecided[:1]]
    if all(doubts):
        for doubt in doubts[:1]:
            yield world.unknown(resource, "status", f"whether anything should be reported on it is unknown: {doubt}")
        return
    first = ReportedClaim(resource, missing[0])
    types = " and ".join(dict.fromkeys(comparison.type for comparison in missing if comparison.at == missing[0].at))
    expectation = f"where {types} should be{first.part_phrase}{_why(resource, missing)}"
    message = f"no controller has reported anything on it, {expectation}"
    yield Finding(subject=resource.ref, field="status", message=message)


def _is_silent_for(world: LintWorld, at: NodeRef | None) -> bool:
    """Whether the Gateway is not accepted, or has no report, so that its dependents have none either."""
    gateway = world.gateways.gateway_of(at.object) if at else None
    resource = world.index.get(gateway) if gateway else None
    return bool(gateway and (_is_refused(world, at) or (resource and world.reported.lacks_report(resource))))


def _is_refused(world: LintWorld, at: NodeRef | None) -> bool:
    return bool(at and any(map(world.reported.is_refused, (at.object, *world.reported.parents(at.object)))))


def _why(resource: Resource, missing: Iterable[Comparison]) -> str:
    kind = resource.ref.kind
    reasons = {
        "silent controller": f": none has on any {kind}, so it may not be running, or not know the kind",
        "no class": ": no GatewayClass is one of its controllers",
    }
    return next((reasons[comparison.explanation] for comparison in missing if comparison.explanation in reasons), "")


@lint_rule("GWP3003", "error", "status")
def accepted_false(world: LintWorld) -> Iterator[Finding]:
    """A controller does not accept a policy.

    The policy has no effect there. The message is that of the controller; if the computed result differs, the finding
    says so. If the computed result is the same, only the rule for the cause reports it, for example a rule about
    targets or conflicts.

    Source: PolicyConditionAccepted with its reasons (Gateway API, apis/v1/policy_types.go).
    """
    for report in world.reported.current:
        comparison = report.comparison
        # What is as computed is found by its cause.
        if not report.has(_REFUSED) or not is_about_policies(report) or comparison.verdict == "Agrees":
            continue
        message, computed = report.phrase, comparison.computed
        if comparison.verdict == "Differs" and computed:
            message = f"{message}; {as_computed(comparison, computed)}"
        finding = finding_about(world, report, message)
        step = _NEXT_STEPS.get(finding.reason)
        yield replace(finding, fix=Fix(words=step) if step else None)


@lint_rule("GWP3004", "error", "status")
def programmed_false(world: LintWorld) -> Iterator[Finding]:
    """A controller accepts a policy but does not enforce it.

    The controller reports this in a condition such as Programmed, Enforced, Attached or ResolvedRefs. A policy that
    other policies override, or that is still being processed, is a warning; everything else is an error. If the
    computed result is the same, only the rule for the cause reports it, such as the policies that override it. For a
    policy that is not accepted, accepted-false reports it instead.

    Source: GEP-713, "Status conditions" (Programmed: Reconciling, Overridden); Enforced of Kuadrant, Attached of
    kgateway.
    """
    for reports in by_location(filter(is_about_policies, world.reported.current)):
        if any(report.has(_REFUSED) for report in reports):
            continue
        report = first_sign(reports, _NOT_IN_FORCE)
        if report is None or report.comparison.verdict == "Agrees":
            continue
        finding = finding_about(world, report, report.phrase)
        since = time_at(world.reported.written(report)[1], "lastTransitionTime")
        if finding.reason != _IN_WORK or not world.reported.is_recent(since):
            severity: Severity = "warning" if finding.reason in _NO_MISTAKES else "error"
            yield replace(finding, severity=severity)


@lint_rule("GWP3005", "warning", "status")
def status_contradicts_computed(world: LintWorld) -> Iterator[Finding]:
    """A controller reports another result than the one computed from the manifests.

    The controller behaves differently from the manifests, or from what is known of the controller; `kubectl policy
    status` shows both results. If the controller reports another reason for the same result, or omits a condition
    without a problem, the finding is an info. Other rules report negative conditions and reports on an earlier version;
    a controller need not report on objects of a Gateway that is not accepted. Results that depend on a guess about the
    kind, or on objects that were not read, are unknown.

    Source: kgateway-dev/kgateway#14277, Kuadrant/kuadrant-operator#1421.
    """
    for reports in by_location(world.reported.current):
        different = [report for report in reports if _is_to_compare(report)]
        doubtful = [report for report in different if world.reported.doubt(report.comparison)]
        known = [report for report in different if report not in doubtful]
        if doubtful:
            first, doubt = doubtful[0], world.reported.doubt(doubtful[0].comparison)
            message = f"whether what is reported{first.part_phrase} is right is unknown: {doubt}"
            yield world.unknown(first.resource, world.reported.written(first)[0], message)
        if any(report.comparison.reported for report in reports):
            yield from (_contradiction(world, report) for report in known)
        elif known and not _is_refused(world, known[0].comparison.at):
            # A listener that has no report is seldom one that does not serve.
            severity: Severity = "warning" if known[0].is_about_another else "info"
            claims = [(report.comparison.type, report.comparison.computed) for report in known]
            expected = " and ".join(
                f"{type_}={status_phrase(type_, computed)}" for type_, computed in claims if computed
            )
            message = f"nothing is reported{known[0].part_phrase}, where {expected} should be"
            yield finding_about(world, known[0], message, severity=severity)


def _is_to_compare(report: ReportedClaim) -> bool:
    """Whether a disagreement is not left to another rule."""
    comparison = report.comparison
    if comparison.is_count or comparison.policy_kind or report.is_pending:
        return False
    if report.has({**_REFUSED, **_NOT_IN_FORCE} if is_about_policies(report) else NOT_SERVING):
        return False
    return comparison.disagrees or (comparison.verdict == "Undecided" and comparison.reported is not None)


def as_computed(comparison: Comparison, computed: Claim) -> str:
    """Return the computed status as a clause."""
    why = f": {computed.message}" if computed.message else ""
    return f"as computed, it is {status_phrase(comparison.type, computed)}{why}"


def _contradiction(world: LintWorld, report: ReportedClaim) -> Finding:
    comparison, computed, reported = report.comparison, report.comparison.computed, report.comparison.reported
    severity: Severity = "warning"
    if computed is None:
        is_other = comparison.explanation == "other class"
        why = "the Gateway is another controller's, by its GatewayClass" if is_other else "there is no reason to"
        message = f"{report.phrase}; as computed, {why}"
    elif reported is None:
        message = f"{comparison.type} is not reported{report.part_phrase}; {as_computed(comparison, computed)}"
        severity = "info" if computed.status == "True" else "warning"
    else:
        message = f"{report.phrase}; {as_computed(comparison, computed)}"
        severity = "info" if computed.status == reported.status else "warning"
    return finding_about(world, report, message, severity=severity)
