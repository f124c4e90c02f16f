"""Why a policy has no effect on an object, and the smallest edit that would give it one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kubectl_policy.errors import NotFoundError, UsageError
from kubectl_policy.questions.shared.unseen import unseen_for, unseen_for_policy
from kubectl_policy.questions.why_not.edit import Case
from kubectl_policy.questions.why_not.edit_search import EditSearch, find_edit
from kubectl_policy.questions.why_not.effect_on import effect_on
from kubectl_policy.questions.why_not.no_effect import reasons_of

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import NodeRef, ObjectRef, Origin
    from kubectl_policy.questions.shared.unseen import Unseen
    from kubectl_policy.questions.why_not.edit import Edit
    from kubectl_policy.questions.why_not.reasons import Reason
    from kubectl_policy.topology import Path


@dataclass(frozen=True, slots=True)
class WhyNot:
    """The answer.

    `paths` are those through the target, `carrying` the positions of those on which traffic runs, as far as is known,
    and `in_force` those of them on which the policy has an effect. `reasons` say why it has none or, if it has one on
    some paths, why not on the others. `edit` is the smallest change of one object, or new object, that is known to give
    the policy an effect; None if it has one, and if none of the `tried` edits does: `obstacle` says why then, in words.
    `lost` is where the policy would have no effect any more, if the edit were made; `edit_origin` is where the object
    that it changes or deletes was read.
    """

    policy: ObjectRef
    origin: Origin | None
    target: NodeRef
    target_origin: Origin | None
    paths: tuple[Path, ...]
    carrying: tuple[int, ...]
    in_force: tuple[int, ...]
    reasons: tuple[Reason, ...]
    edit: Edit | None
    tried: int
    lost: tuple[NodeRef, ...]
    obstacle: str
    edit_origin: Origin | None
    unseen: tuple[Unseen, ...]


def why_not(analysis: Analysis, policy: ObjectRef, target: NodeRef) -> WhyNot:
    """The answer about a policy and an object, or one of its sections.

    Raises `UsageError` for an object that is no policy, and `NotFoundError` for a policy that was not read and for a
    section that the target has not.
    """
    if analysis.registry.profile_of(policy.group_kind) is None:
        raise UsageError(f"{policy} is no policy", "name the policy first, then the object that it should affect")
    resource = analysis.index.get(policy)
    if resource is None:
        raise NotFoundError(f"{policy} was not read")
    sections = analysis.topology.sections(target.object)
    if target.section and target.section not in sections:
        hint = f"it has {', '.join(sections)}" if sections else "it has no sections"
        raise NotFoundError(f"{target.object} has no section {target.section}", hint)
    effect = effect_on(analysis, policy, target)
    reasons = reasons_of(analysis, resource, target, effect)
    case = Case(analysis, resource, target, effect, reasons)
    found = EditSearch(None, 0) if effect.in_force else find_edit(case)
    named = analysis.index.get(target.object)
    return WhyNot(
        policy,
        resource.origin,
        target,
        named.origin if named else None,
        effect.paths,
        tuple(sorted(effect.carrying)),
        effect.in_force,
        reasons,
        *found,
        found.edit.before.origin if found.edit and found.edit.before else None,
        _unseen(analysis, policy, target, effect.paths),
    )


def _unseen(analysis: Analysis, policy: ObjectRef, target: NodeRef, paths: tuple[Path, ...]) -> tuple[Unseen, ...]:
    """What was not read and might have shown an effect: about the policy, and about the target and its paths."""
    about_policy = unseen_for_policy(analysis, analysis.enforcement(policy))
    others = unseen_for(analysis, target, paths)
    return tuple(dict.fromkeys((*about_policy, *others)))
