"""Policies as rows: what each targets, how it merges, whether it is enforced, and how much it affects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kubectl_policy.questions.shared.effects import affected
from kubectl_policy.questions.shared.reported import ReportedCondition, reported_conditions
from kubectl_policy.questions.shared.selection import Listing, Picked
from kubectl_policy.questions.shared.unseen import Unseen, gaps, unseen_for_policy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import Json, NodeRef, ObjectRef, Resource
    from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile
    from kubectl_policy.resolution.enforcement import EnforcementState


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """A policy.

    `stanzas` are the parts that take effect somewhere, each with its merge strategy: `spec` alone for a policy without
    stanzas, none for one that is attached to nothing. `by` are those that beat it. `affected` is None where nothing can
    be said of it, because what the policy targets, or what is below that, was not read.
    """

    resource: Resource
    profile: PolicyKindProfile
    attachments: tuple[Attachment, ...]
    stanzas: tuple[tuple[str, MergeStrategy], ...]
    state: EnforcementState
    by: tuple[ObjectRef, ...]
    affected: tuple[NodeRef, ...] | None
    reported: tuple[ReportedCondition, ...]
    unseen: tuple[Unseen, ...]

    @property
    def ref(self) -> ObjectRef:
        """The name of the policy."""
        return self.resource.ref

    @property
    def raw(self) -> Mapping[str, Json]:
        """The policy as it was read."""
        return self.resource.raw


def list_policies(analysis: Analysis, picked: Picked) -> Listing[PolicyRow]:
    """The policies that were picked."""
    rows = tuple(_row(analysis, resource) for resource in picked.resources)
    unseen = (*gaps(analysis), *(thing for row in rows for thing in row.unseen))
    return Listing(picked.type, picked.namespace, rows, picked.elsewhere, tuple(dict.fromkeys(unseen)))


def _row(analysis: Analysis, resource: Resource) -> PolicyRow:
    policy = resource.ref
    profile = analysis.registry.known(policy.group_kind)
    enforcement = analysis.enforcement(policy)
    unseen = unseen_for_policy(analysis, enforcement)
    nothing_seen = enforcement.state == "Unknown" or (enforcement.state == "NoEffect" and unseen)
    parts = (part for outcome in enforcement.outcomes for part in outcome.contributions if part.source.object == policy)
    return PolicyRow(
        resource,
        profile,
        analysis.attachments[policy],
        tuple(dict.fromkeys((part.field, part.strategy) for part in parts)),
        enforcement.state,
        enforcement.by,
        None if nothing_seen else affected(enforcement, profile),
        reported_conditions(resource.raw),
        unseen,
    )
