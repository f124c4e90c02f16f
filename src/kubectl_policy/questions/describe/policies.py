"""What a policy is attached to, whether it is enforced, and which of its fields are effective where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.model import FieldPath, NodeRef
from kubectl_policy.model.fields import WHOLE
from kubectl_policy.questions.describe.focus import EVERYTHING, Focus
from kubectl_policy.questions.predicted.policies import AncestorStatus, policy_status
from kubectl_policy.questions.shared.declared import Declared, declared_fields
from kubectl_policy.questions.shared.effects import affected, relevant_diagnostics
from kubectl_policy.questions.shared.in_force import assumed_of
from kubectl_policy.questions.shared.reported import (
    ReportedCondition,
    ReportedEvent,
    reported_conditions,
    reported_events,
)
from kubectl_policy.questions.shared.without_effect import why_without_effect
from kubectl_policy.questions.unseen.answers import unseen_for_policy
from kubectl_policy.resolution import Source

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import Diagnostic, GroupKind, Json, ObjectRef, Origin, Resource
    from kubectl_policy.model.authorship import Authorship
    from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile
    from kubectl_policy.questions.shared.reasons import Reason
    from kubectl_policy.questions.unseen.things import Unseen
    from kubectl_policy.resolution.enforcement import Enforcement
    from kubectl_policy.topology import Path


class SupersededBy(Struct, frozen=True):
    """Who beats a field, and the positions of the paths on which it does."""

    by: Source
    positions: tuple[int, ...]


class FieldOutcome(Struct, frozen=True, kw_only=True):
    """One declared field and its fates: the positions of the paths where it is effective, and who beats it where.

    A list that is merged by its elements is one field, which can be effective and beaten on the same path.
    If it is `defaulted`, the policy leaves it out, and the definition of its kind fills it in. `undecided_on` are the
    positions where it may be effective, but how its kind's policies combine is not known; `ignored_on` those where
    controllers ignore it, `port_entry_on` those where an entry for the port applies instead.
    `origin` is where the policy was read or, once that was looked up, where the field was; `declared_in` is that field
    of the policy, or the whole of it where that leaves the field out.
    """

    field: str
    value: Json
    source: Source
    defaulted: bool
    effective_on: tuple[int, ...]
    undecided_on: tuple[int, ...]
    superseded: tuple[SupersededBy, ...]
    rejected: bool
    ignored_on: tuple[int, ...]
    port_entry_on: tuple[int, ...]
    origin: Origin | None
    declared_in: FieldPath
    blame: Authorship | None = None


class PolicyDescription(Struct, frozen=True, kw_only=True):
    """The answer for a policy.

    `expected` is what its controllers should report, in their words, `reported` what they do report. `reasons` say why
    it has no effect anywhere; none if it has one, or may have.

    `paths` are those at whose ends its kind takes effect; fields refer to them by position. `affected` is where the
    policy has an effective field: the levels at which its kind takes effect or, where that is not known,
    what it targets and every object below that on such a path. `assumed` is what of its kind rests on a default or a
    guess and matters for it, `doubts` what could not be decided. `focus` is what alone is asked for.
    """

    policy: ObjectRef
    origin: Origin | None
    profile: PolicyKindProfile
    strategies: tuple[MergeStrategy, ...]
    attachments: tuple[Attachment, ...]
    enforcement: Enforcement
    reasons: tuple[Reason, ...]
    paths: tuple[Path, ...]
    affected: tuple[NodeRef, ...]
    fields: tuple[FieldOutcome, ...]
    assumed: tuple[str, ...]
    doubts: tuple[str, ...]
    expected: tuple[AncestorStatus, ...]
    reported: tuple[ReportedCondition, ...]
    events: tuple[ReportedEvent, ...]
    unseen: tuple[Unseen, ...]
    diagnostics: tuple[Diagnostic, ...]
    focus: Focus = EVERYTHING

    @property
    def fields_asked_for(self) -> tuple[FieldOutcome, ...]:
        """Its fields, or those of them that alone are asked for."""
        return self.focus.of(self.fields)


def describe_policy(analysis: Analysis, policy: ObjectRef) -> PolicyDescription:
    """The answer for a policy.

    Raises `KeyError` for an object of a kind that is no policy kind and `NotFoundError` for a policy that was not read.
    """
    profile = analysis.registry.known(policy.group_kind)
    resource = analysis.index.get(policy)
    if resource is None:
        hint = "add the manifest that holds it" if analysis.index.place == "the input" else ""
        raise analysis.not_read(policy, hint)
    enforcement = analysis.enforcement(policy)
    outcomes = enforcement.outcomes
    own = (part for outcome in outcomes for part in outcome.resolution.contributions_of.get(policy, ()))
    return PolicyDescription(
        policy=policy,
        origin=resource.origin,
        profile=profile,
        strategies=tuple(dict.fromkeys(part.strategy for part in own)),
        attachments=analysis.attachments[policy],
        enforcement=enforcement,
        reasons=why_without_effect(analysis, policy),
        paths=tuple(outcome.path for outcome in outcomes),
        affected=affected(enforcement, profile),
        fields=_fields(resource, profile, enforcement),
        assumed=assumed_of(profile, outcomes),
        doubts=tuple(sorted({doubt for outcome in outcomes for doubt in outcome.doubts})),
        expected=policy_status(analysis, policy),
        reported=reported_conditions(resource.raw),
        events=reported_events(analysis.index, policy),
        unseen=unseen_for_policy(analysis, enforcement),
        diagnostics=relevant_diagnostics(analysis, NodeRef(policy), ()),
    )


def _fields(policy: Resource, profile: PolicyKindProfile, enforcement: Enforcement) -> tuple[FieldOutcome, ...]:
    """The fates of every declared field, over all paths, in the order in which the policy declares them."""
    known: dict[tuple[object, GroupKind], tuple[NodeRef, list[Declared]]] = {}
    outcomes: dict[tuple[str, Source], list[tuple[int, Declared]]] = {}
    for position, effective in enumerate(enforcement.outcomes):
        target = effective.target
        key = effective.resolution.likeness, target.object.group_kind
        if key not in known:
            fields = declared_fields(effective, profile.at(target.object.group_kind))
            known[key] = target, [declared for declared in fields if declared.source.object == policy.ref]
        first, found = known[key]
        for declared in found if first == target else (_beaten_at(target, first, each) for each in found):
            outcomes.setdefault((declared.field, declared.source), []).append((position, declared))
    return tuple(_outcome(of_field, policy.origin) for of_field in outcomes.values())


def _beaten_at(target: NodeRef, first: NodeRef, declared: Declared) -> Declared:
    """What a field comes to at a target, given what it comes to at another one, where policies fare alike.

    What beats it may be what the target object itself says.
    """
    itself, here = Source(first.object, first), Source(target.object, target)
    if not any(itself in fate.superseded_by for fate in declared.fates):
        return declared
    fates = (
        replace(fate, superseded_by=tuple(here if beater == itself else beater for beater in fate.superseded_by))
        for fate in declared.fates
    )
    return replace(declared, fates=tuple(fates))


def _outcome(outcomes: list[tuple[int, Declared]], origin: Origin) -> FieldOutcome:
    """What a policy declares of one field and where it is effective, given its fate at each position."""
    fates = [(position, fate) for position, declared in outcomes for fate in declared.fates]
    superseded: dict[Source, dict[int, None]] = {}
    for position, fate in fates:
        for beater in fate.superseded_by:
            superseded.setdefault(beater, {})[position] = None
    declared = outcomes[0][1]
    return FieldOutcome(
        field=declared.field,
        value=declared.value,
        source=declared.source,
        defaulted=declared.defaulted,
        effective_on=_each_once(position for position, fate in fates if fate.state == "effective"),
        undecided_on=_each_once(position for position, fate in fates if fate.state == "undecided"),
        superseded=tuple(SupersededBy(beater, tuple(positions)) for beater, positions in superseded.items()),
        rejected=any(fate.state == "rejected" for _, fate in fates),
        ignored_on=_each_once(position for position, fate in fates if fate.state == "unheeded"),
        port_entry_on=_each_once(position for position, fate in fates if fate.by_port),
        origin=origin,
        declared_in=WHOLE if declared.defaulted else declared.declared_in,
    )


def _each_once(positions: Iterable[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(positions))
