"""Description of a policy: its targets, its enforcement, and the fields that are effective on each path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.model import GroupKind, NodeRef, ObjectRef, Origin, Resource
from kubectl_policy.model.fields import WHOLE
from kubectl_policy.questions.blind_spots.answers import blind_spots_for_policy
from kubectl_policy.questions.describe.description import Description, reports_on
from kubectl_policy.questions.predicted_conditions import AncestorStatus, PolicyStatuses
from kubectl_policy.questions.shared.effects import affected_nodes, relevant_diagnostics
from kubectl_policy.questions.shared.fields import Declared, declared_fields
from kubectl_policy.questions.shared.in_force import Assumption, OfPolicyKind, assumed_of
from kubectl_policy.questions.shared.path_phrases import PathNumber, numbers
from kubectl_policy.questions.shared.uncertain_effects import may_affect_more, possibly_affected
from kubectl_policy.questions.shared.without_effect import why_without_effect
from kubectl_policy.resolution import Source
from kubectl_policy.resolution.outcome import BECAUSE, DeclaredField
from kubectl_policy.resolution.uncertain_paths import path_doubt

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile
    from kubectl_policy.questions.shared.reasons import Reason
    from kubectl_policy.resolution.enforcement import Enforcement
    from kubectl_policy.resolution.merging import Doubt


_AFFECTED: Final = (
    "The nodes with an effective field of the policy, at the levels at which the kind takes effect."
    " If these levels are unknown: the target and every object below it."
)
_EXPECTED: Final = "The conditions that controllers should report on the policy; empty if none are expected."
_REASONS: Final = "The reasons why the policy has no effect, first cause first; empty if it has or may have an effect."


class SupersededBy(Struct, frozen=True):
    """A source that supersedes a field, and the paths on which it does."""

    by: Annotated[Source, Meta(description="The superseding source.")]
    positions: tuple[int, ...]

    @property
    def paths(self) -> Annotated[tuple[PathNumber, ...], Meta()]:
        """The numbers of the paths on which the source supersedes the field."""
        return numbers(self.positions)


class FieldOutcome(DeclaredField, frozen=True, kw_only=True):
    """A declared field and the paths on which it is effective.

    A list that is merged by its elements is one field, which can be effective and superseded on the same path.
    """

    effective_on: tuple[int, ...]
    undecided_on: tuple[int, ...]
    superseded: Annotated[
        tuple[SupersededBy, ...],
        Meta(description="The sources that supersede the field, with the paths on which they do."),
    ]
    rejected: Annotated[
        bool, Meta(description="True if the policy is refused because of a conflict on at least one path.")
    ]
    ignored_on: tuple[int, ...]
    because: Annotated[str, Meta(description=BECAUSE)]
    port_entry_on: tuple[int, ...]
    """Where an entry for the port stands instead."""

    @property
    def effective_on_(self) -> Annotated[tuple[PathNumber, ...], Meta()]:
        """The numbers of the paths on which the field is effective."""
        return numbers(self.effective_on)

    @property
    def undecided_on_(self) -> Annotated[tuple[PathNumber, ...], Meta()]:
        """The numbers of the paths on which it is unknown whether the field is effective."""
        return numbers(self.undecided_on)

    @property
    def unheeded_on(self) -> Annotated[tuple[PathNumber, ...], Meta()]:
        """The numbers of the paths on which controllers ignore the field."""
        return numbers(self.ignored_on)


class PolicyDescription(Description, OfPolicyKind, frozen=True, kw_only=True):
    """The answer about a policy; the kind takes effect at the ends of its paths."""

    policy: Annotated[ObjectRef, Meta(description="The described policy.")]
    profile: PolicyKindProfile
    strategies: Annotated[tuple[MergeStrategy, ...], Meta(description="The merge strategies, least specific first.")]
    doubts: Annotated[tuple[Doubt, ...], Meta(description="Questions that could not be decided.")]
    targets: Annotated[
        tuple[Attachment, ...], Meta(description="The target references of the policy, with the state of each.")
    ]
    enforcement: Annotated[Enforcement, Meta(description="The enforcement state of the policy.")]
    reasons: Annotated[tuple[Reason, ...], Meta(description=_REASONS)]
    affected: Annotated[tuple[NodeRef, ...], Meta(description=_AFFECTED)]
    all_fields: tuple[FieldOutcome, ...]
    """The declared fields, whatever is asked for."""
    assumed: tuple[str, ...]
    """What of the kind rests on a default or a guess and matters for this policy."""
    expected: Annotated[tuple[AncestorStatus, ...], Meta(description=_EXPECTED)]

    @property
    def found_nothing(self) -> bool:
        """Whether it is not known that the policy has an effect, nor that it can have none."""
        return self.enforcement.state == "Unknown" or may_affect_more(self.enforcement, self.targets)

    @property
    def possibly_affected(self) -> Annotated[tuple[ObjectRef, ...], Meta()]:
        """The routes that the policy affects only if they are attached, which is not known."""
        return possibly_affected(self.enforcement, self.profile)

    @property
    def assumed_(self) -> Annotated[tuple[Assumption, ...], Meta()]:
        """Properties of the policy kind that are assumed, because no profile defines them."""
        return self.profile.assumed

    @property
    def fields(self) -> Annotated[tuple[FieldOutcome, ...], Meta()]:
        """The declared fields of the policy, restricted to focus."""
        return self.focus.of(self.all_fields)


def describe_policy(analysis: Analysis, policy: ObjectRef) -> PolicyDescription:
    """The answer for a policy.

    Raises `KeyError` for an object of a kind that is no policy kind and `NotFoundError` for a policy that was not read.
    """
    profile = analysis.registry.profile(policy.group_kind)
    resource = analysis.index.get(policy)
    if resource is None:
        hint = "add the manifest that contains it" if analysis.index.source == "the input" else ""
        raise analysis.not_read(policy, hint)
    enforcement = analysis.enforcement(policy)
    outcomes = enforcement.outcomes
    contributions = (part for outcome in outcomes for part in outcome.resolution.contributions_of.get(policy, ()))
    return PolicyDescription(
        policy=policy,
        origin=resource.origin,
        profile=profile,
        strategies=tuple(dict.fromkeys(part.strategy for part in contributions)),
        targets=analysis.attachments[policy],
        enforcement=enforcement,
        reasons=why_without_effect(analysis, policy),
        paths=tuple(outcome.path for outcome in outcomes),
        affected=affected_nodes(enforcement, profile),
        all_fields=_fields(resource, profile, enforcement, _doubtful_positions(analysis, profile, enforcement)),
        assumed=assumed_of(profile, (outcome.resolution for outcome in outcomes)),
        doubts=tuple(sorted({doubt for outcome in outcomes for doubt in outcome.resolution.doubts})),
        expected=PolicyStatuses(analysis).of(policy),
        reports=reports_on(analysis, policy),
        unseen=blind_spots_for_policy(analysis, enforcement),
        problems=relevant_diagnostics(analysis, NodeRef(policy), ()),
    )


def _doubtful_positions(analysis: Analysis, profile: PolicyKindProfile, enforcement: Enforcement) -> frozenset[int]:
    """The positions of the outcomes of which it is unknown whether they count."""
    return frozenset(
        position
        for position, outcome in enumerate(enforcement.outcomes)
        if path_doubt(analysis.topology, profile, outcome.path)
    )


def _fields(
    policy: Resource, profile: PolicyKindProfile, enforcement: Enforcement, doubtful: frozenset[int]
) -> tuple[FieldOutcome, ...]:
    """The fates of every declared field, over all paths, in the order in which the policy declares them."""
    known: dict[tuple[object, GroupKind], tuple[NodeRef, list[Declared]]] = {}
    outcomes: dict[tuple[str, Source], list[tuple[int, Declared]]] = {}
    for position, effective in enumerate(enforcement.outcomes):
        target = effective.target
        key = effective.resolution.comparison_key, target.object.group_kind
        if key not in known:
            fields = declared_fields(effective.resolution, profile.at(target.object.group_kind))
            known[key] = target, [declared for declared in fields if declared.source.object == policy.ref]
        first, fields_of_policy = known[key]
        for declared in (_transferred(target, first, declared_there) for declared_there in fields_of_policy):
            outcomes.setdefault((declared.field, declared.source), []).append((position, declared))
    return tuple(_outcome(of_field, policy.origin, doubtful) for of_field in outcomes.values())


def _transferred(target: NodeRef, first: NodeRef, declared: Declared) -> Declared:
    """Transfer the fates of a field from one target to another one at which policies fare alike.

    What supersedes it may be what the target object itself says.
    """
    itself, at_target = Source(first.object, first), Source(target.object, target)
    if first == target or not any(itself in fate.superseded_by for fate in declared.fates):
        return declared
    fates = (
        replace(fate, superseded_by=tuple(at_target if winner == itself else winner for winner in fate.superseded_by))
        for fate in declared.fates
    )
    return replace(declared, fates=tuple(fates))


def _outcome(outcomes: list[tuple[int, Declared]], origin: Origin, doubtful: frozenset[int]) -> FieldOutcome:
    """Combine the fates of one declared field at all positions; at doubtful ones, it may be effective."""
    fates = [(position, fate) for position, declared in outcomes for fate in declared.fates]
    positions_in: dict[str, dict[int, None]] = {}
    superseded: dict[Source, dict[int, None]] = {}
    for position, fate in fates:
        state = "undecided" if fate.state == "effective" and position in doubtful else fate.state
        positions_in.setdefault(state, {})[position] = None
        for winner in fate.superseded_by:
            superseded.setdefault(winner, {})[position] = None
    declared = outcomes[0][1]
    return FieldOutcome(
        field=declared.field,
        value=declared.value,
        source=declared.source,
        defaulted=declared.defaulted,
        effective_on=tuple(positions_in.get("effective", ())),
        undecided_on=tuple(positions_in.get("undecided", ())),
        superseded=tuple(SupersededBy(winner, tuple(positions)) for winner, positions in superseded.items()),
        rejected="rejected" in positions_in,
        ignored_on=tuple(positions_in.get("unheeded", ())),
        because=next((fate.because for _, fate in fates if fate.because), ""),
        port_entry_on=tuple(dict.fromkeys(position for position, fate in fates if fate.by_port)),
        origin=origin,
        declared_in=WHOLE if declared.defaulted else declared.declared_in,
    )
