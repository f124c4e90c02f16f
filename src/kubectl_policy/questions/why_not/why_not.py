"""Why a policy has no effect on an object, and the smallest edit that would give it one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.comparison import what_if
from kubectl_policy.errors import NotFoundError, UsageError
from kubectl_policy.model.kinds import with_article
from kubectl_policy.model.values import value
from kubectl_policy.questions.shared.effects import affected
from kubectl_policy.questions.shared.in_force import assumed_of
from kubectl_policy.questions.shared.reasons import named
from kubectl_policy.questions.shared.unseen import unseen_for, unseen_for_policy
from kubectl_policy.questions.why_not.case import Case, effect_on
from kubectl_policy.questions.why_not.edits_of_policies import (
    come_first,
    leave_target,
    merge_differently,
    name_it,
    name_overlapping,
    nameable_kinds,
    override,
    remove_other,
    yield_to_policy,
)
from kubectl_policy.questions.why_not.edits_of_surroundings import (
    add_hostname,
    admit_listener_set,
    allow_kind,
    choose_class,
    choose_listener,
    enable_kind,
    fix_parent,
    give_weight,
    grant_backend,
    grant_need,
    grant_target,
    label_it,
    name_in_filter,
    name_parent,
    narrow_hostname,
    open_namespaces,
)
from kubectl_policy.questions.why_not.no_effect import reasons_of
from kubectl_policy.resolution.contributions import stanzas_of
from kubectl_policy.validation.admission import pruned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Json, NodeRef, ObjectRef, Origin, Resource
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.questions.shared.reasons import Reason
    from kubectl_policy.questions.shared.unseen import Unseen
    from kubectl_policy.questions.why_not.edit import Edit
    from kubectl_policy.topology import Path

# Each one takes an analysis of the world with it.
_MOST_TRIED: Final = 20

# What no edit does away with, because only a person can say what is meant.
_BEYOND_EDITS: Final[Mapping[str, str]] = {
    "not-computed": "how the policy attaches is not computed, so that no change can be checked",
    "combination-unknown": "what would help depends on how policies of its kind combine, which a profile can say",
    "no-fields": "the policy has to declare what it is to set",
    "policy-invalid": "what the policy needs has to be there first",
}

# Of which reasons there are edits that might do away with them; of those that are not here, naming the node might.
GENERATORS: Final[tuple[tuple[tuple[str, ...], Callable[[Case, Reason], Iterator[Edit]]], ...]] = (
    (("not-selected",), label_it),
    (("target-overlaps",), name_overlapping),
    (("not-permitted",), grant_target),
    (("need-not-permitted",), grant_need),
    (("no-filter", "filter-unsupported"), name_in_filter),
    (("parent-missing",), fix_parent),
    (("no-parent", "parent-missing"), name_parent),
    (("listener-missing", "listener-port"), choose_listener),
    (("listener-set-refused",), admit_listener_set),
    (("listener-kind",), allow_kind),
    (("listener-namespace",), open_namespaces),
    (("listener-hostname",), add_hostname),
    (("hostname-too-wide",), narrow_hostname),
    (("backend-not-permitted",), grant_backend),
    (("no-weight",), give_weight),
    (("other-controller",), choose_class),
    (("not-enabled",), enable_kind),
    (("superseded", "beaten-on-target", "overridden", "replaced-by-section"), override),
    (("superseded", "beaten-on-target", "overridden"), merge_differently),
    (("overridden", "beaten-on-target"), yield_to_policy),
    (("refused", "beaten-on-target"), come_first),
    (("refused", "beaten-on-target"), leave_target),
    (("superseded", "beaten-on-target", "overridden", "refused", "replaced-by-section"), remove_other),
)


@value(kw_only=True)
class WhyNot:
    """The answer.

    `paths` are those through the target, `carrying` the positions of those on which traffic runs, as far as is known,
    and `in_force` those of them on which the policy has an effect; on those that are `undecided` it may have one.
    `assumed` is what of its kind rests on a default or a guess and matters there. `reasons` say why it has none or, if
    it has one on some paths, why not on the others. `edit` is the smallest change of one object, or new object, that is
    known to give the policy an effect; None if it has one, and if none of the `tried` edits does: `obstacle` says why
    then, in words. `lost` is where the policy would have no effect any more, if the edit were made; `edit_origin` is
    where the object that it changes or deletes was read.
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
        raise NotFoundError(f"{policy} is not in the input")
    if target.section and target.section not in analysis.topology.sections(target.object):
        hint = analysis.topology.said_of_sections(target.object)
        raise NotFoundError(f"{target.object} has no section {target.section}", hint)
    case = Case(analysis, resource, target, effect_on(analysis, policy, target))
    reasons, effect = reasons_of(case), case.effect
    if effect.in_force:
        search = _EditSearch(None, 0)
    elif effect.undecided:
        search = _EditSearch(None, 0, obstacle=_obstacle(case, reasons, 0))
    else:
        search = _find_edit(case, reasons)
    read = analysis.index.get(target.object)
    # What was not read and might have shown an effect: about the policy, and about the target and its paths.
    unseen = (
        *unseen_for_policy(analysis, analysis.enforcement(policy), below=False),
        *unseen_for(analysis, target, effect.paths),
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
        edit=search.edit,
        tried=search.tried,
        lost=search.lost,
        obstacle=search.obstacle,
        edit_origin=search.edit.before.origin if search.edit and search.edit.before else None,
        unseen=tuple(dict.fromkeys(unseen)),
    )


@value()
class _EditSearch:
    """The smallest edit that works, None if none does, and how many were tried.

    `lost` are the nodes on which the policy has an effect as long as the edit is not made; `obstacle` says in words why
    no edit of one object will do.
    """

    edit: Edit | None
    tried: int
    lost: tuple[NodeRef, ...] = ()
    obstacle: str = ""


def _find_edit(case: Case, reasons: tuple[Reason, ...]) -> _EditSearch:
    """The first of the edits that might help, smallest first, that is known to.

    Deleting an object comes last, and of edits of one size those of the policy itself come first, then those of the
    object that is asked about.
    """
    own = (case.policy.ref, case.target.object)
    distinct: dict[str, Edit] = {}
    for edit in _candidates(case, reasons):
        distinct.setdefault(repr((edit.object, edit.action, edit.changes)), edit)
    ordered = sorted(
        distinct.values(),
        key=lambda edit: (
            edit.action == "delete",
            edit.size,
            own.index(edit.object) if edit.object in own else len(own),
        ),
    )[:_MOST_TRIED]
    for number, edit in enumerate(ordered, 1):
        applied, deleted = ([edit.after], []) if edit.after else ([], [edit.object])
        after = what_if(case.analysis, applied=applied, deleted=deleted).after
        if _works(case, edit, after):
            old, new = (affected(state.enforcement(case.policy.ref), case.profile) for state in (case.analysis, after))
            kept = frozenset(new)
            return _EditSearch(edit, number, tuple(node for node in old if node not in kept))
    return _EditSearch(None, len(ordered), obstacle=_obstacle(case, reasons, len(ordered)))


def _candidates(case: Case, reasons: tuple[Reason, ...]) -> Iterator[Edit]:
    """What each reason gives rise to, in the order of reasons; that the policy names the node may help always."""
    for reason in reasons:
        for rules, generator in GENERATORS:
            if reason.rule in rules:
                yield from generator(case, reason)
    yield from name_it(case, reasons[0])


def _obstacle(case: Case, reasons: tuple[Reason, ...], tried: int) -> str:
    """Why no edit of one object will do, as far as that can be told."""
    policy, target = case.policy.ref, case.target.object
    beyond = next((reason.rule for reason in reasons if reason.rule in _BEYOND_EDITS), "")
    if beyond:
        return _BEYOND_EDITS[beyond]
    away = case.profile.cross_namespace is False and target.namespace not in {"", policy.namespace}
    if away and target.group_kind in nameable_kinds(case):
        own = f"{with_article(policy.kind)} can name its own namespace {policy.namespace} alone"
        return f"{own}, so it would have to be moved to namespace {target.namespace}"
    if not tried:
        return f"nothing in one object would let it reach {named(case.target)}"
    if tried == 1:
        return "the one that was tried gives it none"
    return f"of the {tried} that were tried none gives it an effect"


def _works(case: Case, edit: Edit, after: Analysis) -> bool:
    """Whether a policy has an effect on a node after an edit, and nothing is wrong with what it edits."""
    policy = case.policy.ref
    if after.registry.profile_of(policy.group_kind) is None or not _is_kept(after, edit):
        return False
    if edit.object == policy and edit.after and _settings(case, edit.after) != _settings(case, case.policy):
        return False
    if not effect_on(after, policy, case.target).in_force:
        return False
    return _errors(after, edit.object) <= _errors(case.analysis, edit.object)


def _settings(case: Case, policy: Resource) -> list[dict[str, Json]]:
    """What a policy sets, stanza by stanza: to say something else is no way to have what it says take effect."""
    order = case.profile.order_field
    stanzas = stanzas_of(policy.raw, case.profile)
    return [{key: value for key, value in part.spec.items() if f"spec.{key}" != order} for part in stanzas]


def _is_kept(after: Analysis, edit: Edit) -> bool:
    """Whether an API server keeps all fields that an edit sets, as far as the definition of the kind was read."""
    kind = edit.object.group_kind
    schema = after.index.defaults.schema_of(kind) if kind in after.index.definitions else None
    if not schema or edit.action != "change" or not edit.after:
        return True
    kept = pruned(edit.after.raw, schema)
    return all([change.path.get(kept)] == [*change.added] for change in edit.changes if change.added)


def _errors(analysis: Analysis, obj: ObjectRef) -> set[tuple[str, str]]:
    return {(problem.rule, problem.message) for problem in analysis.problems_of(obj) if problem.severity == "error"}
