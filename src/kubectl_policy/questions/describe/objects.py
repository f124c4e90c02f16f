"""What affects an object, path by path: the settings in force with their sources, and what does not apply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from kubectl_policy.errors import NotFoundError
from kubectl_policy.model import NodeRef
from kubectl_policy.questions.predicted.policies import target_conditions
from kubectl_policy.questions.shared.effects import paths_through, relevant_diagnostics
from kubectl_policy.questions.shared.in_force import InForce, effective_entries, group_entries
from kubectl_policy.questions.shared.reported import (
    ReportedCondition,
    ReportedEvent,
    reported_conditions,
    reported_events,
)
from kubectl_policy.questions.shared.unseen import Unseen, unseen_for
from kubectl_policy.topology import too_wide
from kubectl_policy.topology.parameters import enabled_on, why_disabled
from kubectl_policy.topology.references import GATEWAY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Diagnostic, GroupKind, ObjectRef, Origin
    from kubectl_policy.questions.predicted.policies import PolicyCondition
    from kubectl_policy.topology import Path


@dataclass(frozen=True, slots=True)
class ObjectDescription:
    """The answer for an object that is no policy.

    `paths` are the full paths through the subject that the answer is about; `in_force` refers to them by position.
    `policies` have at least one effective field somewhere on them; `attached` are attached to the subject itself or
    one of its sections. `targeted_by` are the policy kinds in the snapshot that target the subject's kind at all.
    `expected` is what the controllers of policy kinds should report on the subject, `reported` what its status says.
    """

    subject: NodeRef
    origin: Origin | None
    paths: tuple[Path, ...]
    carries_traffic: bool
    policies: tuple[ObjectRef, ...]
    attached: tuple[ObjectRef, ...]
    in_force: tuple[InForce, ...]
    not_applying: tuple[NotApplying, ...]
    expected: tuple[PolicyCondition, ...]
    reported: tuple[ReportedCondition, ...]
    events: tuple[ReportedEvent, ...]
    unseen: tuple[Unseen, ...]
    diagnostics: tuple[Diagnostic, ...]
    targeted_by: tuple[GroupKind, ...]


def describe(analysis: Analysis, subject: NodeRef) -> ObjectDescription:
    """The answer for an object, or for one of its sections. Raises `NotFoundError` for a section that it has not."""
    sections = analysis.topology.sections(subject.object)
    if subject.section and subject.section not in sections:
        hint = f"it has {', '.join(sections)}" if sections else "it has no sections"
        raise NotFoundError(f"{subject.object} has no section {subject.section}", hint)
    resource = analysis.index.get(subject.object)
    paths = paths_through(analysis, subject)
    entries = effective_entries(analysis, subject, paths)
    attached = {a.policy for a in analysis.attachments_to(subject.object) if a.state == "attached"}
    return ObjectDescription(
        subject,
        resource.origin if resource else None,
        paths,
        any(analysis.topology.carries_traffic(path) for path in paths),
        tuple(sorted({ref for entry in entries for ref in entry.effective.policies_in_force()})),
        tuple(sorted(attached)),
        group_entries(analysis, entries),
        not_applying(analysis, subject, paths),
        tuple(target_conditions(analysis, subject)),
        reported_conditions(resource.raw) if resource else (),
        reported_events(analysis.index, subject.object),
        unseen_for(analysis, subject, paths),
        relevant_diagnostics(analysis, subject, paths),
        _targeted_by(analysis, subject.object.group_kind),
    )


def _targeted_by(analysis: Analysis, kind: GroupKind) -> tuple[GroupKind, ...]:
    declared = {profile.group_kind for profile in analysis.registry.policy_kinds if kind in profile.declared_targets}
    attached = {
        attachment.policy.group_kind
        for attachments in analysis.attachments.values()
        for attachment in attachments
        if attachment.target and attachment.target.object.group_kind == kind
    }
    return tuple(sorted(declared | attached))


class NotApplying(NamedTuple):
    """A policy, or (`policy` None) everything beyond a place, that has no effect on the subject.

    `target` is where the policy is attached, or the place that the subject is not attached to. `message` says why in
    words, `reason` is the API's own word for it, empty where there is none.
    """

    policy: ObjectRef | None
    target: NodeRef | None
    message: str
    reason: str = ""


def not_applying(analysis: Analysis, subject: NodeRef, paths: tuple[Path, ...]) -> tuple[NotApplying, ...]:
    """Everything that one might expect to apply, in a stable order, each once."""
    found = [
        *_refused_parents(analysis, subject),
        *_not_delegated(analysis, subject),
        *_direct_above(analysis, subject, paths),
        *_too_wide(analysis, paths),
        *_not_enabled(analysis, paths),
        *_failed_attachments(analysis, subject),
    ]
    return tuple(dict.fromkeys(found))


def _refused_parents(analysis: Analysis, subject: NodeRef) -> Iterator[NotApplying]:
    """The listeners that a route names and is not attached to, with the policies that it escapes by that."""
    attached = {
        binding.listener for binding in analysis.topology.bindings(subject.object) if binding.state == "attached"
    }
    reached = {node.object for node in attached if node}
    delegating = {found.parent.object for found in analysis.topology.relations.delegating_to(subject.object)}
    for binding in analysis.topology.bindings(subject.object):
        if binding.state != "refused" or (binding.listener and binding.listener in attached):
            continue
        if binding.parent in delegating:
            continue
        place = binding.listener or NodeRef(binding.parent)
        nodes = [place] if place.object in reached else [place, place._replace(section="")]
        escaped = [policy.ref for node in dict.fromkeys(nodes) for policy in analysis.resolver.policies_at(node)]
        policies: list[ObjectRef | None] = [*escaped] or [None]
        for policy in policies:
            yield NotApplying(policy, place, binding.message, binding.reason)


def _not_delegated(analysis: Analysis, subject: NodeRef) -> Iterator[NotApplying]:
    """The rules of other routes that refer to a route and do not reach it, or not all of its rules."""
    delegations = analysis.topology.relations.delegating_to(subject.object)
    reached = {found.parent.object for found in delegations if found.takes}
    cut_off = analysis.topology.relations.delegations.cut_off
    for found in (found for found in delegations if found.parent.object != subject.object):
        rules = [subject.section] if subject.section else analysis.topology.sections(subject.object)
        if found.takes:
            for rule in (rule for rule in rules if NodeRef(subject.object, rule) in cut_off):
                message = f"no request gets from there to {rule}, whose matches lie outside"
                yield NotApplying(None, found.parent, message)
            continue
        nodes = [found.parent] if found.parent.object in reached else [found.parent, NodeRef(found.parent.object)]
        escaped = [(policy.ref, node) for node in nodes for policy in analysis.resolver.policies_at(node)]
        said: list[tuple[ObjectRef | None, NodeRef]] = [*escaped] or [(None, found.parent)]
        for policy, node in said:
            yield NotApplying(policy, node, found.message, found.reason)


def _direct_above(analysis: Analysis, subject: NodeRef, paths: tuple[Path, ...]) -> Iterator[NotApplying]:
    above = dict.fromkeys(
        node
        for path in paths
        for node in path[: next(place for place, node in enumerate(path) if node.object == subject.object)]
    )
    for node in above:
        for policy in analysis.resolver.policies_at(node):
            kind = policy.ref.group_kind
            if analysis.registry.known(kind).policy_class == "direct":
                message = f"{kind.kind} is a direct policy: it applies to its target alone, not to what is below it"
                yield NotApplying(policy.ref, node, message)


def _too_wide(analysis: Analysis, paths: tuple[Path, ...]) -> Iterator[NotApplying]:
    """The policies on paths that their kinds do not heed, because of the route's hostnames."""
    for path in paths:
        why = too_wide(analysis.topology, path)
        for node in path if why else ():
            for policy in analysis.resolver.policies_at(node):
                kind = policy.ref.group_kind
                if analysis.registry.known(kind).hostnames == "inside":
                    message = f"{kind.kind} counts only for hostnames inside the listener's, and {why}"
                    yield NotApplying(policy.ref, node, message)


def _not_enabled(analysis: Analysis, paths: tuple[Path, ...]) -> Iterator[NotApplying]:
    """The policies on paths whose kinds the parameters of the Gateway there do not let be used."""
    for path in paths:
        for gateway in (node.object for node in path if node.object.group_kind == GATEWAY and not node.section):
            for node in path:
                for policy in analysis.resolver.policies_at(node):
                    enabling = analysis.registry.known(policy.ref.group_kind).enabled_by
                    if enabling and enabled_on(analysis.topology, gateway, enabling) is False:
                        why = why_disabled(analysis.topology, gateway, enabling)
                        yield NotApplying(policy.ref, node, f"not by way of {gateway}, since {why}")


def _failed_attachments(analysis: Analysis, subject: NodeRef) -> Iterator[NotApplying]:
    for attachment in analysis.attachments_to(subject.object):
        if attachment.state not in {"attached", "target unknown", "not computed"}:
            missing = attachment.state in {"target missing", "section missing"}
            yield NotApplying(
                attachment.policy, attachment.target, attachment.message, "TargetNotFound" if missing else ""
            )
