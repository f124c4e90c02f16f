"""What a policy is attached to, whether it is enforced, and what became of each of its fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kubectl_policy.model import NodeRef
from kubectl_policy.questions.concerns import relevant_diagnostics
from kubectl_policy.questions.reported import ReportedCondition, reported_conditions
from kubectl_policy.questions.unseen import Unseen, unseen_for_policy
from kubectl_policy.resolution import CARRY_NOTHING, fates_of
from kubectl_policy.topology.relations import HIERARCHY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import Diagnostic, Json, ObjectRef, Origin
    from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile
    from kubectl_policy.resolution import EffectivePolicy, Enforcement, Fate, Source
    from kubectl_policy.topology import Path


@dataclass(frozen=True, slots=True)
class FieldOutcome:
    """One declared field and its fates: the positions of the paths where it is effective, and who beats it where."""

    field: str
    value: Json
    source: Source
    effective_on: tuple[int, ...]
    superseded: tuple[tuple[Source, tuple[int, ...]], ...]
    rejected: bool


@dataclass(frozen=True, slots=True)
class PolicyDescription:
    """The answer for a policy.

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
    reported: tuple[ReportedCondition, ...]
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
        tuple(sorted({node for found in outcomes for node in _affected(policy, profile, found)}, key=_from_the_root)),
        _fields(policy, enforcement),
        tuple(sorted({doubt for found in outcomes for doubt in found.doubts})),
        reported_conditions(resource.raw),
        unseen_for_policy(analysis, enforcement),
        relevant_diagnostics(analysis, NodeRef(policy), ()),
    )


def _affected(policy: ObjectRef, profile: PolicyKindProfile, effective: EffectivePolicy) -> Iterable[NodeRef]:
    if policy not in effective.policies_in_force():
        return ()
    if profile.policy_class == "direct" or profile.effective_targets:
        return (effective.target,)
    targets = {part.source.target for part in effective.contributions if part.source.object == policy}
    start = min(effective.path.index(target) for target in targets)
    target, *below = effective.path[start:]
    nodes = (target, *(node for node in below if not node.section))
    return (node for node in nodes if node.object.group_kind not in CARRY_NOTHING)


def _from_the_root(node: NodeRef) -> tuple[int, NodeRef]:
    kind = node.object.group_kind
    return HIERARCHY.index(kind) if kind in HIERARCHY else len(HIERARCHY), node


def _fields(policy: ObjectRef, enforcement: Enforcement) -> tuple[FieldOutcome, ...]:
    """The fates of every declared field, over all paths, in the order in which the policy declares them."""
    found: dict[tuple[str, Source], list[tuple[int, Fate]]] = {}
    for position, effective in enumerate(enforcement.outcomes):
        for fate in fates_of(policy, effective):
            found.setdefault((fate.field, fate.source), []).append((position, fate))
    return tuple(_outcome(field, source, fates) for (field, source), fates in found.items())


def _outcome(field: str, source: Source, fates: list[tuple[int, Fate]]) -> FieldOutcome:
    superseded: dict[Source, list[int]] = {}
    for position, fate in fates:
        for beater in fate.superseded_by:
            superseded.setdefault(beater, []).append(position)
    return FieldOutcome(
        field,
        fates[0][1].value,
        source,
        tuple(position for position, fate in fates if fate.state == "effective"),
        tuple((beater, tuple(positions)) for beater, positions in superseded.items()),
        any(fate.state == "rejected" for _, fate in fates),
    )
