"""Answer why a policy has no effect on an object, with the edits that would give it one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta

from kubectl_policy.errors import NotFoundError, UsageError
from kubectl_policy.questions.blind_spots.answers import blind_spots_for, blind_spots_for_policy, blind_spots_in_needs
from kubectl_policy.questions.blind_spots.unknowns import BLIND_SPOTS, Answer, BlindSpot
from kubectl_policy.questions.shared.in_force import ASSUMED, assumed_of
from kubectl_policy.questions.shared.path_phrases import NumberedPath, PathNumber, numbered, numbers
from kubectl_policy.questions.shared.reasons import UNDECIDED, Reason
from kubectl_policy.questions.why_not.no_effect import Case, EffectOn, effect_on, reasons_of
from kubectl_policy.questions.why_not.search import EditPair, Offered, SearchResult, find_edits, obstacle_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import NodeRef, ObjectRef, Origin
    from kubectl_policy.profiles import PolicyKindProfile

_REASONS: Final = "The reasons why the policy has no effect, or none on the remaining paths; first cause first."


class WhyNot(Answer, frozen=True, kw_only=True):
    """The answer of why-not: whether a policy has an effect on a target, the reasons why not, and helpful edits."""

    policy: Annotated[ObjectRef, Meta(description="The policy.")]
    origin: Annotated[Origin | None, Meta(description="The location of the policy; null if unknown.")]
    target: Annotated[NodeRef, Meta(description="The object or section on which the policy should have an effect.")]
    target_origin: Annotated[Origin | None, Meta(description="The location of the target; null if it was not read.")]
    effect: EffectOn
    profile: PolicyKindProfile
    assumed: Annotated[tuple[str, ...], Meta(description=ASSUMED)]
    reasons: Annotated[tuple[Reason, ...], Meta(description=_REASONS)]
    edits: Annotated[
        tuple[Offered, ...],
        Meta(description="The alternative edits, those with the fewest side effects first.", max_length=3),
    ]
    pair: Annotated[
        EditPair | None,
        Meta(description="Two edits that help together, if no edit of one object helps; null if none were result."),
    ]
    tried: Annotated[int, Meta(description="The number of edits that were tried one by one.", ge=0)]
    obstacle: Annotated[str, Meta(description="The reason why no edit of one object helps; empty if an edit helps.")]
    unseen: Annotated[tuple[BlindSpot, ...], Meta(description=BLIND_SPOTS)]

    @property
    def has_effect(self) -> Annotated[bool, Meta()]:
        """Whether the policy has an effect on the target on any path."""
        return bool(self.effect.in_force)

    @property
    def found_nothing(self) -> bool:
        """Whether it is not known that the policy has an effect, nor that it has none."""
        return not self.has_effect and self.reasons[0].rule in UNDECIDED

    @property
    def paths(self) -> Annotated[tuple[NumberedPath, ...], Meta()]:
        """The paths through the target."""
        return numbered(self.effect.paths)

    @property
    def carrying_traffic(self) -> Annotated[tuple[PathNumber, ...], Meta()]:
        """The numbers of the paths that carry traffic, as far as known."""
        return numbers(sorted(self.effect.carrying))

    @property
    def effective_on(self) -> Annotated[tuple[PathNumber, ...], Meta()]:
        """The numbers of the paths on which the policy has an effect."""
        return numbers(self.effect.in_force)

    @property
    def undecided_on(self) -> Annotated[tuple[PathNumber, ...], Meta()]:
        """The numbers of the paths on which it is unknown whether the policy has an effect."""
        return numbers(self.effect.undecided)

    @property
    def edit(self) -> Annotated[Offered | None, Meta()]:
        """The first of the edits; null if no edit is needed or none helps."""
        return self.edits[0] if self.edits else None

    @property
    def lost(self) -> Annotated[tuple[NodeRef, ...], Meta()]:
        """The nodes on which the policy would have no effect any more after the first edit."""
        return self.edit.also_changes.lost if self.edit else ()


def why_not(analysis: Analysis, policy: ObjectRef, target: NodeRef, owner_key: str = "") -> WhyNot:
    """The answer about a policy and an object, or one of its sections; with the owners of what edits change besides.

    Raises `UsageError` for an object that is not a policy, and `NotFoundError` for a policy that was not read and for a
    section that the target has not.
    """
    if analysis.registry.profile_of(policy.group_kind) is None:
        raise UsageError(f"{policy} is not a policy", "name the policy first, then the object that it should affect")
    resource = analysis.index.get(policy)
    if resource is None:
        raise analysis.not_read(policy)
    if target.section and target.section not in analysis.topology.sections(target.object):
        hint = analysis.topology.sections_phrase(target.object)
        raise NotFoundError(f"{target.object} has no section {target.section}", hint)
    case = Case(analysis, resource, target, effect_on(analysis, policy, target))
    reasons, effect = reasons_of(case), case.effect
    result = SearchResult()
    if effect.undecided and not effect.in_force:
        result = SearchResult(obstacle=obstacle_of(case, reasons, 0))
    elif not effect.in_force:
        result = find_edits(case, reasons, owner_key)
    read = analysis.index.get(target.object)
    # What was not read and might have shown an effect: about the policy, and about the target and its paths.
    unseen = (
        *blind_spots_for_policy(analysis, analysis.enforcement(policy), include_descendants=False, needs=False),
        *blind_spots_in_needs(analysis, _policies_met(case)),
        *blind_spots_for(analysis, target, effect.paths, needs=False),
    )
    return WhyNot(
        policy=policy,
        origin=resource.origin,
        target=target,
        target_origin=read.origin if read else None,
        effect=effect,
        profile=case.profile,
        assumed=assumed_of(case.profile, (entry.effective.resolution for entry in effect.entries)),
        reasons=reasons,
        edits=result.edits,
        pair=result.pair,
        tried=result.tried,
        obstacle=result.obstacle,
        unseen=tuple(dict.fromkeys(unseen)),
        place=analysis.index.source,
    )


def _policies_met(case: Case) -> Iterator[ObjectRef]:
    """The policy, and those of its kind that it meets on paths of the target on which traffic runs.

    Where it does not come, nothing depends on what others need.
    """
    yield case.policy.ref
    kind, effect = case.policy.ref.group_kind, case.effect
    targets = {attachment.target for attachment in case.attachments if attachment.state == "attached"}
    carrying = (effect.paths[position] for position in sorted(effect.carrying))
    for node in dict.fromkeys(node for path in carrying if targets.intersection(path) for node in path):
        yield from (policy.ref for policy in case.analysis.resolver.policies_of_kind(node, kind))
