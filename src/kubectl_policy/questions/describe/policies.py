"""What a policy is attached to, whether it is enforced, and what became of each of its fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from kubectl_policy.model import NodeRef
from kubectl_policy.questions.predicted.policies import AncestorStatus, policy_status
from kubectl_policy.questions.shared.declared import Declared, declared_fields
from kubectl_policy.questions.shared.effects import affected, relevant_diagnostics
from kubectl_policy.questions.shared.reported import (
    ReportedCondition,
    ReportedEvent,
    reported_conditions,
    reported_events,
)
from kubectl_policy.questions.shared.unseen import Unseen, unseen_for_policy

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import Diagnostic, Json, ObjectRef, Origin
    from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile
    from kubectl_policy.resolution import Enforcement, Fate, Source
    from kubectl_policy.resolution.effective import FateState
    from kubectl_policy.topology import Path


class FieldOutcome(NamedTuple):
    """One declared field and its fates: the positions of the paths where it is effective, and who beats it where.

    A list that is merged by its elements is one field, which can be effective and beaten on the same path.
    `ignored_on` are the positions where controllers ignore it, `port_entry_on` those where an entry for the port
    applies instead.
    """

    field: str
    value: Json
    source: Source
    effective_on: tuple[int, ...]
    superseded: tuple[tuple[Source, tuple[int, ...]], ...]
    rejected: bool
    ignored_on: tuple[int, ...]
    port_entry_on: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PolicyDescription:
    """The answer for a policy.

    `expected` is what its controllers should report, in their words, `reported` what they do report.

    `paths` are those at whose ends its kind takes effect; fields refer to them by position. `affected` is where the
    policy has an effective field: the levels at which its kind takes effect or, where nobody has said which these are,
    what it targets and every object below that on such a path.
    """

    policy: ObjectRef
    origin: Origin | None
    profile: PolicyKindProfile
    strategies: tuple[MergeStrategy, ...]
    attachments: tuple[Attachment, ...]
    enforcement: Enforcement
    paths: tuple[Path, ...]
    affected: tuple[NodeRef, ...]
    fields: tuple[FieldOutcome, ...]
    doubts: tuple[str, ...]
    expected: tuple[AncestorStatus, ...]
    reported: tuple[ReportedCondition, ...]
    events: tuple[ReportedEvent, ...]
    unseen: tuple[Unseen, ...]
    diagnostics: tuple[Diagnostic, ...]


def describe_policy(analysis: Analysis, policy: ObjectRef) -> PolicyDescription:
    """The answer for a policy. Raises `KeyError` for an object that is no policy."""
    profile = analysis.registry.known(policy.group_kind)
    resource = analysis.index.get(policy)
    if resource is None:
        raise KeyError(policy)
    enforcement = analysis.enforcement(policy)
    outcomes = enforcement.outcomes
    return PolicyDescription(
        policy,
        resource.origin,
        profile,
        tuple(
            dict.fromkeys(
                part.strategy for found in outcomes for part in found.contributions if part.source.object == policy
            )
        ),
        analysis.attachments[policy],
        enforcement,
        tuple(found.path for found in outcomes),
        affected(enforcement, profile),
        _fields(policy, profile, enforcement),
        tuple(sorted({doubt for found in outcomes for doubt in found.doubts})),
        policy_status(analysis, policy),
        reported_conditions(resource.raw),
        reported_events(analysis.index, policy),
        unseen_for_policy(analysis, enforcement),
        relevant_diagnostics(analysis, NodeRef(policy), ()),
    )


def _fields(policy: ObjectRef, profile: PolicyKindProfile, enforcement: Enforcement) -> tuple[FieldOutcome, ...]:
    """The fates of every declared field, over all paths, in the order in which the policy declares them."""
    found: dict[tuple[str, Source], list[tuple[int, Declared]]] = {}
    for position, effective in enumerate(enforcement.outcomes):
        for declared in declared_fields(effective, profile.at(effective.target.object.group_kind)):
            if declared.source.object == policy:
                found.setdefault((declared.field, declared.source), []).append((position, declared))
    return tuple(_outcome(field, source, outcomes) for (field, source), outcomes in found.items())


def _outcome(field: str, source: Source, outcomes: list[tuple[int, Declared]]) -> FieldOutcome:
    fates = [(position, fate) for position, declared in outcomes for fate in declared.fates]
    superseded: dict[Source, dict[int, None]] = {}
    for position, fate in fates:
        for beater in fate.superseded_by:
            superseded.setdefault(beater, {})[position] = None
    return FieldOutcome(
        field,
        outcomes[0][1].value,
        source,
        _positions(fates, "effective"),
        tuple((beater, tuple(positions)) for beater, positions in superseded.items()),
        any(fate.state == "rejected" for _, fate in fates),
        _positions(fates, "unheeded"),
        tuple(dict.fromkeys(position for position, fate in fates if fate.by_port)),
    )


def _positions(fates: list[tuple[int, Fate]], state: FateState) -> tuple[int, ...]:
    return tuple(dict.fromkeys(position for position, fate in fates if fate.state == state))
