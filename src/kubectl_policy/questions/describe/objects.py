"""What affects an object: the paths it is on, the policies on each, and the settings in force with their sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kubectl_policy.errors import NotFoundError
from kubectl_policy.questions.describe.events import ReportedEvent, reported_events
from kubectl_policy.questions.describe.not_applying import NotApplying, not_applying
from kubectl_policy.questions.predicted.targets import target_conditions
from kubectl_policy.questions.shared.effects import paths_through, relevant_diagnostics
from kubectl_policy.questions.shared.in_force import InForce, effective_entries, group_entries
from kubectl_policy.questions.shared.reported import ReportedCondition, reported_conditions
from kubectl_policy.questions.shared.unseen import Unseen, unseen_for

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Diagnostic, GroupKind, NodeRef, ObjectRef, Origin
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
