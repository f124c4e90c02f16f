"""Why a policy has no effect on an object, and the edits that would give it one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from kubectl_policy.errors import NotFoundError, UsageError
from kubectl_policy.questions.shared.in_force import assumed_of
from kubectl_policy.questions.unseen.answers import unseen_for, unseen_for_policy, unseen_needs
from kubectl_policy.questions.why_not.case import Case, effect_on
from kubectl_policy.questions.why_not.no_effect import reasons_of
from kubectl_policy.questions.why_not.search import EditSearch, find_edits, obstacle_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import NodeRef, ObjectRef, Origin
    from kubectl_policy.model.snapshot import Place
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.questions.shared.reasons import Reason
    from kubectl_policy.questions.unseen.things import Unseen
    from kubectl_policy.questions.why_not.search import Offered
    from kubectl_policy.topology import Path


class WhyNot(Struct, frozen=True, kw_only=True):
    """The answer.

    `paths` are those through the target, `carrying` the positions of those on which traffic runs, as far as is known,
    and `in_force` those of them on which the policy has an effect; on those that are `undecided` it may have one.
    `assumed` is what of its kind rests on a default or a guess and matters there. `reasons` say why it has none or, if
    it has one on some paths, why not on the others. `edits` are changes of one object each, or new objects, each known
    to give the policy an effect, those first that change the least besides; none if it has one, and if none of the
    `tried` edits does: `obstacle` says why then, in words.
    """

    policy: ObjectRef
    origin: Origin | None
    target: NodeRef
    target_origin: Origin | None
    paths: tuple[Path, ...]
    carrying: tuple[int, ...]
    in_force: tuple[int, ...]
    undecided: tuple[int, ...]
    profile: PolicyKindProfile
    assumed: tuple[str, ...]
    reasons: tuple[Reason, ...]
    edits: tuple[Offered, ...]
    tried: int
    obstacle: str
    unseen: tuple[Unseen, ...]
    place: Place = "the input"


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
    if effect.in_force:
        search = EditSearch(edits=(), tried=0, obstacle="")
    elif effect.undecided:
        search = EditSearch(edits=(), tried=0, obstacle=obstacle_of(case, reasons, 0))
    else:
        search = find_edits(case, reasons, owner_key)
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
        paths=effect.paths,
        carrying=tuple(sorted(effect.carrying)),
        in_force=effect.in_force,
        undecided=effect.undecided,
        profile=case.profile,
        assumed=assumed_of(case.profile, [entry.effective for entry in effect.entries]),
        reasons=reasons,
        edits=search.edits,
        tried=search.tried,
        obstacle=search.obstacle,
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
