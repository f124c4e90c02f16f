"""Answer why a policy has no effect on an object, with the edits that would give it one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta

from kubectl_policy.comparison import what_if
from kubectl_policy.errors import NotFoundError, UsageError
from kubectl_policy.model.fields import mapping_at
from kubectl_policy.model.kinds import with_article
from kubectl_policy.model.refs import shown_namespace
from kubectl_policy.questions.blind_spots.answers import blind_spots_for, blind_spots_for_policy, blind_spots_in_needs
from kubectl_policy.questions.blind_spots.unknowns import BLIND_SPOTS, Answer, BlindSpot
from kubectl_policy.questions.shared.in_force import ASSUMED, assumed_of
from kubectl_policy.questions.shared.path_phrases import NumberedPath, PathNumber, numbered, numbers
from kubectl_policy.questions.shared.reasons import UNDECIDED, Reason, node_phrase
from kubectl_policy.questions.why_not import edits_of_policies as policies
from kubectl_policy.questions.why_not import edits_of_surroundings as surroundings
from kubectl_policy.questions.why_not.edits import Edit, SideEffects, side_effects
from kubectl_policy.questions.why_not.no_effect import Case, EffectOn, effect_on, reasons_of
from kubectl_policy.resolution.contributions import stanzas_of
from kubectl_policy.validation.pruning import prune

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Json, NodeRef, ObjectRef, Origin, Resource
    from kubectl_policy.profiles import PolicyKindProfile

_MOST_OFFERED: Final = 3
# Each one takes an analysis of the world with it, and each one that works a comparison of all that is in force.
_MOST_TRIED: Final = 20
# So many more are tried after one that works: where there are many objects, so that each takes its time, and elsewhere.
_MORE_IN_LARGE: Final = 2
_MORE: Final = 8
_LARGE: Final = 2_000
# What an API server writes itself, and takes from nobody.
_OF_SERVERS: Final = frozenset({"managedFields", "resourceVersion", "uid", "generation", "creationTimestamp"})

# What no edit does away with, because only a person can say what is meant.
_BEYOND_EDITS: Final[Mapping[str, str]] = {
    "not-computed": "how the policy attaches is not computed, so no change can be checked",
    "combination-unknown": "what would help depends on how policies of its kind combine, which a profile can say",
    "no-fields": "the policy has to declare what it is to set",
    "policy-invalid": "what the policy needs has to be there first",
}

# Of which reasons there are edits that might do away with them; of those that are not here, naming the node might.
GENERATORS: Final[tuple[tuple[tuple[str, ...], Callable[[Case, Reason], Iterator[Edit]]], ...]] = (
    (("not-selected",), surroundings.label_it),
    (("target-overlaps",), policies.name_overlapping),
    (("not-permitted",), surroundings.grant_target),
    (("need-not-permitted",), surroundings.grant_need),
    (("no-filter", "filter-unsupported"), surroundings.name_in_filter),
    (("parent-missing",), surroundings.fix_parent),
    (("no-parent", "parent-missing"), surroundings.name_parent),
    (("listener-missing", "listener-port"), surroundings.choose_listener),
    (("listener-set-refused",), surroundings.admit_listener_set),
    (("listener-kind",), surroundings.allow_kind),
    (("listener-namespace",), surroundings.open_namespaces),
    (("listener-hostname",), surroundings.add_hostname),
    (("hostname-too-wide",), surroundings.narrow_hostname),
    (("backend-not-permitted",), surroundings.grant_backend),
    (("no-weight",), surroundings.give_weight),
    (("other-controller",), surroundings.choose_class),
    (("not-enabled",), surroundings.enable_kind),
    (("superseded", "beaten-on-target", "overridden", "replaced-by-section"), policies.override),
    (("superseded", "beaten-on-target", "overridden"), policies.merge_differently),
    (("overridden", "beaten-on-target"), policies.yield_to_policy),
    (("refused", "beaten-on-target"), policies.come_first),
    (("refused", "beaten-on-target"), policies.leave_target),
    (("superseded", "beaten-on-target", "overridden", "refused", "replaced-by-section"), policies.remove_other),
)


class Offered(Edit, frozen=True, kw_only=True):
    """An edit of one object that gives the policy an effect, checked on the input."""

    origin: Annotated[
        Origin | None, Meta(description="The location of the changed or deleted object; null for a new object.")
    ]
    defined: Annotated[bool, Meta(description="Whether the edit was checked against the definition of the kind.")]
    also_changes: Annotated[SideEffects, Meta(description="The side effects of the edit.")]

    @property
    def manifest(self) -> Annotated[Mapping[str, Json] | None, Meta()]:
        """The edited object, as `kubectl apply` accepts it; null if the object is deleted."""
        if self.after is None:
            return None
        raw = self.after.raw
        metadata = {key: value for key, value in mapping_at(raw, "metadata").items() if key not in _OF_SERVERS}
        return {**{key: value for key, value in raw.items() if key != "status"}, "metadata": metadata}


def find_edits(case: Case, reasons: tuple[Reason, ...], owner_key: str = "") -> tuple[tuple[Offered, ...], int, str]:
    """Return the edits that are known to help, best first, how many were tried, and without any, why none will do.

    One that takes something away from somebody else is offered only if no other one helps. Of several at one place of
    an object, the best is offered.
    """
    own_edits = (case.policy.ref, case.target.object)
    distinct: dict[str, Edit] = {}
    for edit in _candidates(case, reasons):
        distinct.setdefault(repr((edit.object, edit.action, edit.changes)), edit)

    def effort(edit: Edit) -> tuple[object, ...]:
        near = own_edits.index(edit.object) if edit.object in own_edits else len(own_edits)
        return edit.action == "delete", edit.size, near

    ordered = sorted(distinct.values(), key=effort)[:_MOST_TRIED]
    offers: list[Offered] = []
    tried = 0
    is_large = len(case.analysis.snapshot.resources) > _LARGE
    remaining = len(ordered)
    for edit in ordered:
        if not remaining or (is_large and any(edit.also_changes.harm == "none" for edit in offers)):
            break
        tried, remaining = tried + 1, remaining - 1
        offered = _tried(case, edit, owner_key)
        if offered:
            remaining = min(remaining, _MORE_IN_LARGE if is_large else _MORE) if not offers else remaining
            offers.append(offered)
    ranked = sorted(offers, key=lambda edit: (*edit.also_changes.rank, *effort(edit)))
    harmless = [edit for edit in ranked if edit.also_changes.harm != "loss"]
    best: dict[tuple[ObjectRef, str], Offered] = {}
    for edit in harmless or ranked:
        best.setdefault((edit.object, str(edit.changes[0].path) if edit.changes else ""), edit)
    edits = tuple(best.values())[:_MOST_OFFERED]
    then = "" if edits else _next_obstacle(case, reasons, ordered[:_MORE_IN_LARGE])
    return edits, tried, "" if edits else obstacle_of(case, reasons, tried, then)


def _next_obstacle(case: Case, reasons: Sequence[Reason], edits: Sequence[Edit]) -> str:
    """Return the next obstacle after an edit that removes the first reason; empty if there is none.

    That is what to look at next where it takes two changes.
    """
    for edit in edits:
        after = what_if(case.analysis, applied=[edit.after] if edit.after else []).after
        policy, effect = after.index.get(case.policy.ref), effect_on(after, case.policy.ref, case.target)
        if policy and edit.after and not effect.in_force:
            first = reasons_of(Case(after, policy, case.target, effect))[0]
            if first.message != reasons[0].message:
                return f"; with {edit.field or 'it'} of {edit.object} changed, {first.message}"
    return ""


def _tried(case: Case, edit: Edit, owner_key: str) -> Offered | None:
    """An edit with what else it changes, if it works."""
    applied, deleted = ([edit.after], []) if edit.after else ([], [edit.object])
    comparison = what_if(case.analysis, applied=applied, deleted=deleted)
    effect = _effect_after(case, edit, comparison.after)
    if effect is None:
        return None
    kind = edit.object.group_kind
    return Offered(
        edit.before,
        edit.after,
        origin=edit.before.origin if edit.before else None,
        defined=edit.after is None
        or comparison.after.registry.profile_of(kind) is None
        or kind in comparison.after.index.definitions,
        also_changes=side_effects(case, comparison, effect, owner_key),
    )


def _candidates(case: Case, reasons: tuple[Reason, ...]) -> Iterator[Edit]:
    """Edits that each reason suggests, in the order of reasons; naming the node as a target may always help."""
    for reason in reasons:
        for rules, generator in GENERATORS:
            if reason.rule in rules:
                yield from generator(case, reason)
    yield from policies.name_it(case, reasons[0])


def obstacle_of(case: Case, reasons: tuple[Reason, ...], tried: int, then: str = "") -> str:
    """Explain why no edit of one object will do, with the obstacle `then` that is left after one edit."""
    policy, target = case.policy.ref, case.target.object
    beyond = next((reason.rule for reason in reasons if reason.rule in _BEYOND_EDITS), "")
    if beyond:
        return _BEYOND_EDITS[beyond]
    away = case.profile.cross_namespace is False and target.namespace not in {"", policy.namespace}
    if away and target.group_kind in policies.nameable_kinds(case):
        restriction = (
            f"{with_article(policy.kind)} can only name its own namespace, {shown_namespace(policy.namespace)}"
        )
        return f"{restriction}, so it would have to be moved to namespace {shown_namespace(target.namespace)}"
    if not tried:
        return f"no change to one object would let it reach {node_phrase(case.target)}"
    if tried == 1:
        return f"the one that was tried gives it none{then}"
    return f"of the {tried} that were tried none gives it an effect{then}"


def _effect_after(case: Case, edit: Edit, after: Analysis) -> EffectOn | None:
    """The effect of a policy on a node after an edit; None if it has none, or something is wrong with what it edits."""
    policy = case.policy.ref
    if after.registry.profile_of(policy.group_kind) is None or not _is_kept(after, edit):
        return None
    if edit.object == policy and edit.after and _settings(case, edit.after) != _settings(case, case.policy):
        return None
    effect = effect_on(after, policy, case.target)
    helps = effect.in_force and _errors(after, edit.object) <= _errors(case.analysis, edit.object)
    return effect if helps else None


def _settings(case: Case, policy: Resource) -> list[dict[str, Json]]:
    """Settings of a policy, stanza by stanza; an edit that changes them is no way to make them take effect."""
    order = case.profile.order_field
    stanzas = stanzas_of(policy.raw, case.profile)
    return [{key: value for key, value in part.spec.items() if f"spec.{key}" != order} for part in stanzas]


def _is_kept(after: Analysis, edit: Edit) -> bool:
    """Whether an API server keeps all fields that an edit sets, as far as the definition of the kind was read."""
    kind = edit.object.group_kind
    schema = after.index.defaults.schema_of(kind) if kind in after.index.definitions else None
    if not schema or edit.action != "change" or not edit.after:
        return True
    kept = prune(edit.after.raw, schema)
    return all([change.path.get(kept)] == [*change.added] for change in edit.changes if change.added)


def _errors(analysis: Analysis, obj: ObjectRef) -> set[tuple[str, str]]:
    return {(problem.rule, problem.message) for problem in analysis.problems_of(obj) if problem.severity == "error"}


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
    tried: Annotated[int, Meta(description="The number of edits that were tried.", ge=0)]
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
    edits: tuple[Offered, ...] = ()
    tried, obstacle = 0, ""
    if effect.undecided and not effect.in_force:
        obstacle = obstacle_of(case, reasons, 0)
    elif not effect.in_force:
        edits, tried, obstacle = find_edits(case, reasons, owner_key)
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
        edits=edits,
        tried=tried,
        obstacle=obstacle,
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
