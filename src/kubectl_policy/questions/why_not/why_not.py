"""Why a policy has no effect on an object, and the edits that would give it one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from kubectl_policy.errors import NotFoundError, UsageError
from kubectl_policy.questions.shared.in_force import assumed_of
from kubectl_policy.questions.shared.which_paths import numbered, numbers
from kubectl_policy.questions.unseen.answers import unseen_for, unseen_for_policy, unseen_needs
from kubectl_policy.questions.unseen.things import Answer
from kubectl_policy.questions.why_not.case import Case, effect_on
from kubectl_policy.questions.why_not.no_effect import reasons_of
from kubectl_policy.questions.why_not.search import find_edits, obstacle_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import NodeRef, ObjectRef, Origin
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.questions.shared.reasons import Reason
    from kubectl_policy.questions.shared.which_paths import NumberedPath, PathNumber
    from kubectl_policy.questions.unseen.things import Unseen
    from kubectl_policy.questions.why_not.case import EffectOn
    from kubectl_policy.questions.why_not.search import Offered


class WhyNot(Answer, frozen=True, kw_only=True):
    """The answer of why-not: whether a policy has an effect on a target, why not, and what would help."""

    policy: Annotated[ObjectRef, Meta()]
    origin: Annotated[Origin | None, Meta()]
    target: Annotated[NodeRef, Meta()]
    target_origin: Annotated[Origin | None, Meta()]
    effect: EffectOn
    profile: PolicyKindProfile
    assumed: Annotated[
        tuple[str, ...], Meta(description="What rests on a default or a guess, because no profile covers it.")
    ]
    reasons: Annotated[
        tuple[Reason, ...],
        Meta(description="Why there is no effect or, if there is one, why not on the other paths; first causes first."),
    ]
    edits: Annotated[
        tuple[Offered, ...],
        Meta(description="Any of which would help, those first that change the least besides.", max_length=3),
    ]
    tried: Annotated[int, Meta(description="How many edits were tried.", ge=0)]
    obstacle: Annotated[str, Meta(description="Why no edit of one object will do; empty if one does.")]
    unseen: Annotated[tuple[Unseen, ...], Meta()]

    @property
    def has_effect(self) -> Annotated[bool, Meta()]:
        """Whether the policy has an effect on the target on any path."""
        return bool(self.effect.in_force)

    @property
    def paths(self) -> Annotated[tuple[NumberedPath, ...], Meta()]:
        """The paths through the target."""
        return numbered(self.effect.paths)

    @property
    def carrying_traffic(self) -> Annotated[tuple[PathNumber, ...], Meta()]:
        """The paths on which traffic runs, as far as is known."""
        return numbers(sorted(self.effect.carrying))

    @property
    def effective_on(self) -> Annotated[tuple[PathNumber, ...], Meta()]:
        """The paths on which the policy has an effect."""
        return numbers(self.effect.in_force)

    @property
    def undecided_on(self) -> Annotated[tuple[PathNumber, ...], Meta()]:
        """The paths on which it may have one: it is not known how it combines with others there."""
        return numbers(self.effect.undecided)

    @property
    def edit(self) -> Annotated[Offered | None, Meta()]:
        """The first of the edits; null if none is needed, or none is known to help."""
        return self.edits[0] if self.edits else None

    @property
    def lost(self) -> Annotated[tuple[NodeRef, ...], Meta()]:
        """Where the policy would have no effect any more, if the first edit were made."""
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
        hint = analysis.topology.said_of_sections(target.object)
        raise NotFoundError(f"{target.object} has no section {target.section}", hint)
    case = Case(analysis, resource, target, effect_on(analysis, policy, target))
    reasons, effect = reasons_of(case), case.effect
    edits: tuple[Offered, ...] = ()
    tried, obstacle = 0, ""
    if effect.undecided and not effect.in_force:
        obstacle = obstacle_of(case, reasons, 0)
    elif not effect.in_force:
        edits, tried, obstacle = find_edits(case, reasons, owner_key)
    read = analysis.index.get(target.object)
    # What was not read and might have shown an effect: about the policy, and about the target and its paths.
    unseen = (
        *unseen_for_policy(analysis, analysis.enforcement(policy), below=False, needs=False),
        *unseen_needs(analysis, _policies_met(case)),
        *unseen_for(analysis, target, effect.paths, needs=False),
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
        edits=edits,
        tried=tried,
        obstacle=obstacle,
        unseen=tuple(dict.fromkeys(unseen)),
        place=analysis.index.place,
    )


def _policies_met(case: Case) -> Iterator[ObjectRef]:
    """The policy, and those of its kind that it meets on paths of the target on which traffic runs.

    Where it does not come, nothing depends on what others need.
    """
    yield case.policy.ref
    kind, effect = case.policy.ref.group_kind, case.effect
    own = {attachment.target for attachment in case.attachments if attachment.state == "attached"}
    carrying = (effect.paths[place] for place in sorted(effect.carrying))
    for node in dict.fromkeys(node for path in carrying if own.intersection(path) for node in path):
        yield from (policy.ref for policy in case.analysis.resolver.claimants(node, kind))
