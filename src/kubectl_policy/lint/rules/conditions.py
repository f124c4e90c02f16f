"""Reported conditions and counts, and entries of statuses that lack or outlive an ancestor (GWP3006 to GWP3013)."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Final

from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.lint.rules.status import (
    NOT_SERVING,
    as_computed,
    by_location,
    finding_about,
    first_sign,
    is_about_policies,
)
from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
from kubectl_policy.model.fields import text_at, time_at
from kubectl_policy.model.kind_roles import GATEWAY_CLASS, LISTENER_HOLDERS, ROUTES
from kubectl_policy.model.kinds import with_article
from kubectl_policy.profiles.load import built_in_groups
from kubectl_policy.questions.predicted_conditions import target_conditions
from kubectl_policy.questions.shared.reported import NOT_WORKING, reported_conditions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.lint.reported_status import ReportedClaim

# By which a controller says of any object, also of a policy, that something of it is not as it should be.
_WARNING: Final = {"Warning": "True"}
_PARTLY: Final = {"PartiallyInvalid": "True"}
# How the marks on what policies affect are called: `<Kind>Affected`.
_AFFECTED: Final = "Affected"
# What is served then, by how the message of the condition begins.
_SERVING: Final = {
    "Dropped Rule": "; its other rules are in force",
    "Fall Back": "; the last valid version of it is in force, not this one",
}
_AGGREGATED: Final = {"Aggregated": "True"}
# Of which there are rules of their own; but no other one looks into certificates for what they have in common.
_OF_OTHERS: Final = frozenset(
    {"SupportedVersion", "PartiallyInvalid", "OverlappingTLSConfig", "InsecureFrontendValidationMode"}
)
_OVERLAPPING: Final = "OverlappingCertificates"
# That the listeners of a Gateway are wrong is reported on these, too.
_FOR_LISTENERS: Final = frozenset({"ListenersNotValid", "ListenersNotReady", "ListenersNotResolved"})
# The definitions' default for a transition that never was.
_NEVER: Final = 1970


@lint_rule("GWP3006", "info", "status")
def affected_condition_missing(world: LintWorld) -> Iterator[Finding]:
    """An object does not report that a policy affects it, although the controller reports this elsewhere.

    People who look only at the object do not learn of the policy, which applies nevertheless. The rule checks kinds
    whose controllers are known to mark the objects that their policies affect, and objects on which any controller has
    reported. A policy that its controller reports as not working needs no mark.

    Source: GEP-713, "Target object status"; nginx/nginx-gateway-fabric#1761.
    """
    for report in world.reported.current:
        comparison = report.comparison
        if comparison.policy_kind and comparison.verdict == "NotReported" and comparison.computed:
            doubt = world.reported.doubt(comparison)
            if doubt:
                message = f"whether {comparison.type} should be there{report.part_phrase} is unknown: {doubt}"
                yield world.unknown(report.resource, "status", message)
            elif any(_marked_by(world, report)):
                why = f" ({comparison.computed.message})" if comparison.computed.message else ""
                affecting = with_article(comparison.policy_kind.kind)
                message = f"it lacks {comparison.type}{report.part_phrase}, although {affecting} affects it{why}"
                yield finding_about(world, report, message)


def _marked_by(world: LintWorld, report: ReportedClaim) -> Iterator[ObjectRef]:
    """Yield the working policies for which an object should have a mark."""
    node = report.comparison.at or NodeRef(report.resource.ref)
    policies = [
        policy.object
        for condition in target_conditions(world.analysis, node)
        if condition.type == report.comparison.type
        for policy in condition.related
    ]
    # An annotation names those that are attached.
    policies += [
        attachment.policy
        for attachment in world.analysis.attachments_to(node.object)
        if attachment.policy.group_kind == report.comparison.policy_kind and attachment.state == "attached"
    ]
    for policy in policies:
        conditions = reported_conditions(world.index.defaulted(policy))
        if not any(NOT_WORKING.get(condition.type) == condition.status for condition in conditions):
            yield policy


@lint_rule("GWP3007", "warning", "status")
def affected_condition_stale(world: LintWorld) -> Iterator[Finding]:
    """An object reports that a policy affects it, but no policy does, or other policies do.

    People who look only at the object search for a policy that no longer exists or never applied. A controller should
    remove the mark with the last policy. If no policy of the kind was read, the result is unknown unless the input is
    complete.

    Source: GEP-713, "Target object status".
    """
    for report in world.reported.current:
        comparison, reported, computed = report.comparison, report.comparison.reported, report.comparison.computed
        kind = comparison.policy_kind or _kind_without_policies(world, report)
        if kind is None or reported is None or (computed and computed.status == reported.status):
            continue
        doubt = world.reported.doubt(comparison)
        if not comparison.policy_kind and not world.snapshot.complete:
            doubt = f"no {kind.kind} was read"
        affecting = with_article(kind.kind)
        if doubt:
            message = (
                f"whether {affecting} affects it{report.part_phrase}, as {comparison.type} says, is unknown: {doubt}"
            )
            yield world.unknown(report.resource, world.reported.written(report)[0], message)
        elif computed:
            message = f"{comparison.type} is {reported.status}, and should be {computed.status}"
            yield finding_about(world, report, message)
        else:
            message = f"{comparison.type} says that {affecting} affects it{report.part_phrase}, and none does"
            yield finding_about(world, report, message)


def _kind_without_policies(world: LintWorld, report: ReportedClaim) -> GroupKind | None:
    """Return the kind whose mark a condition is and of which there are no policies, or None."""
    type_ = report.comparison.type
    if report.comparison.verdict != "UnknownType" or not report.has({type_: "True"}) or not type_.endswith(_AFFECTED):
        return None
    for kind in world.registry.profiled(built_in_groups()):
        profile = world.registry.profile_of(kind)
        wordings = profile.status.conditions.get("affected", ()) if profile else ()
        if kind not in world.index.group_kinds and any(wording.type == type_ for wording in wordings):
            return kind
    return None


@lint_rule("GWP3008", "warning", "status")
def negative_condition(world: LintWorld) -> Iterator[Finding]:
    """A controller reports a problem with a GatewayClass, Gateway, listener or route.

    Requests may not be served there. Of several such conditions in one place, the rule reports the one that causes the
    others: not accepted before not programmed. If the manifests explain the same condition, only the rule for its cause
    reports it. Routes that are partially invalid, listeners that overlap, and listeners that do not validate clients
    have rules of their own. For policies, this rule reports only warnings of a controller.

    Source: GatewayConditionType, ListenerConditionType, RouteConditionType (Gateway API, apis/v1); Istio IST0171.
    """
    against: dict[ObjectRef, list[ReportedClaim]] = {}
    for reports in by_location(world.reported.current):
        signs = _WARNING if is_about_policies(reports[0]) else {**NOT_SERVING, **_WARNING}
        first = first_sign(reports, signs)
        if first:
            against.setdefault(first.resource.ref, []).append(first)
    for of_object in against.values():
        yield from (finding_about(world, report, report.phrase) for report in of_object if _is_cause(report, of_object))


def _is_cause(report: ReportedClaim, reports: Sequence[ReportedClaim]) -> bool:
    """Whether a report has no cause that this or another rule finds."""
    comparison, of_whole = report.comparison, report.comparison.at is None
    reason = comparison.reported.reason if comparison.reported else ""
    if comparison.verdict == "Agrees" or (comparison.type in _OF_OTHERS and reason != _OVERLAPPING):
        return False
    if report.resource.ref.group_kind not in LISTENER_HOLDERS:
        return True
    if of_whole:
        return not (reason in _FOR_LISTENERS and any(sibling.comparison.at for sibling in reports))
    return comparison.type != "Programmed" or all(sibling.comparison.at for sibling in reports)


@lint_rule("GWP3009", "warning", "status")
def pending_too_long(world: LintWorld) -> Iterator[Finding]:
    """No controller has processed an object.

    The conditions of the object are still the initial ones: status Unknown, reason Pending. In most cases no controller
    runs for the controllerName of the GatewayClass. A Gateway whose GatewayClass does not exist or is not accepted is
    not reported, because other rules report that. If the time is known, conditions younger than the grace period are
    not reported.

    Source: the defaults of GatewayClass and Gateway, "Waiting for controller" (Gateway API, apis/v1/gateway_types.go).
    """
    for reports in by_location(report for report in world.reported.current if report.is_pending):
        report, types = reports[0], [pending.comparison.type for pending in reports]
        changed = time_at(world.reported.written(report)[1], "lastTransitionTime")
        # What never was otherwise is so since the object is there.
        since = changed if changed and changed.year != _NEVER else report.resource.created
        parents = world.reported.parents(report.resource.ref)
        if world.reported.is_recent(since) or any(map(world.reported.is_refused, parents)):
            continue
        state = f"{' and '.join(types)} {'have' if types[1:] else 'has'} been Unknown (Pending){report.part_phrase}"
        when = f" since {since.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if since else ""
        is_class = report.resource.ref.group_kind == GATEWAY_CLASS
        class_controller = f" that goes by {text_at(report.resource.raw, 'spec.controllerName')}" if is_class else ""
        yield finding_about(world, report, f"{state}{when}: no controller{class_controller} has acted on it")


@lint_rule("GWP3010", "info", "status")
def ancestor_orphan(world: LintWorld) -> Iterator[Finding]:
    """A status has an entry for an object that no longer exists, or that the object no longer names.

    Readers of the status believe that the object is attached there. The controller that wrote the entry should have
    removed it; a controller that was uninstalled leaves its entries behind. No other rule checks such an entry.

    Source: PolicyStatus.Ancestors and RouteStatus.Parents (Gateway API, apis/v1/policy_types.go, shared_types.go).
    """
    for reports in by_location(world.reported.orphaned):
        report, at = reports[0], reports[0].comparison.at
        if at and at.object == report.resource.ref:
            message = f"{report.controller_name} reports on listener {at.section}, which does not exist"
        elif report.resource.ref.group_kind in ROUTES:
            message = f"{report.controller_name} reports{report.part_phrase}, which it does not name as its parent"
        else:
            message = f"{report.controller_name} reports{report.part_phrase}, which does not exist"
        yield finding_about(world, report, message)


@lint_rule("GWP3011", "info", "status")
def aggregated_status(world: LintWorld) -> Iterator[Finding]:
    """A status has fewer entries than there are ancestors.

    A status holds at most 16 ancestors, and says nothing about the remaining ones. Policies for fewer Gateways, each
    with a status of its own, can be checked one by one.

    Source: PolicyStatus.Ancestors (Gateway API, apis/v1/policy_types.go); the condition Aggregated of Envoy Gateway.
    """
    for report in world.reported.current:
        if report.has(_AGGREGATED):
            unknown = "the status does not say what holds for the others"
            yield finding_about(world, report, f"{report.phrase}; {unknown}")


@lint_rule("GWP3012", "warning", "status")
def attachedroutes_mismatch(world: LintWorld) -> Iterator[Finding]:
    """A Gateway reports another number of attached routes or ListenerSets than computed.

    Either the controller attaches routes that should not be attached, or it refuses routes that should be; the status
    of the route says which. The number includes all routes that are attached to a listener, whether or not the listener
    serves them. If the input may be incomplete, a number higher than computed is unknown.

    Source: ListenerStatus.AttachedRoutes (Gateway API, apis/v1/gateway_types.go);
    apache/apisix-ingress-controller#2620.
    """
    for report in world.reported.current:
        comparison, reported, computed = report.comparison, report.comparison.reported, report.comparison.computed
        if not (comparison.is_count and reported and computed) or comparison.verdict == "Agrees":
            continue
        field, doubt = world.reported.written(report)[0], world.reported.doubt(comparison)
        counted = f"{report.phrase}; {as_computed(comparison, computed)}"
        if doubt:
            yield world.unknown(report.resource, field, f"{counted}; others may not have been read")
        else:
            yield finding_about(world, report, counted)


@lint_rule("GWP3013", "warning", "status")
def partially_invalid_route(world: LintWorld) -> Iterator[Finding]:
    """A controller serves only a part of a route.

    Some rules of the route are invalid. As the controller reports, it has either dropped these rules (the message
    begins with "Dropped Rule"), so that their requests get no response or that of another rule; or it serves the last
    valid version of the route ("Fall Back"), so that later changes have no effect.

    Source: RouteConditionPartiallyInvalid (Gateway API, apis/v1/shared_types.go).
    """
    for report in world.reported.current:
        if report.resource.ref.group_kind in ROUTES and report.has(_PARTLY):
            phrases = (phrase for start, phrase in _SERVING.items() if report.message.startswith(f": {start}"))
            serving = next(phrases, "")
            yield finding_about(world, report, f"{report.phrase}{serving}")
