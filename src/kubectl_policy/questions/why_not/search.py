"""Search for edits of one object, or of two objects together, that give a policy an effect; each is tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct

from kubectl_policy.comparison import what_if
from kubectl_policy.model.kinds import with_article
from kubectl_policy.model.refs import shown_namespace
from kubectl_policy.questions.shared.reasons import Reason, node_phrase
from kubectl_policy.questions.why_not import edits_of_policies as policies
from kubectl_policy.questions.why_not import edits_of_surroundings as surroundings
from kubectl_policy.questions.why_not.checked import CheckedEdit, are_valid, is_defined, origin_of
from kubectl_policy.questions.why_not.edits import Edit, SideEffects, side_effects
from kubectl_policy.questions.why_not.no_effect import Case, EffectOn, effect_on, reasons_of
from kubectl_policy.resolution.contributions import stanzas_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Json, ObjectRef, Resource

_MOST_OFFERED: Final = 3
# Each one takes an analysis of the world with it, and each one that works a comparison of all that is in force.
_MOST_TRIED: Final = 20
# So many more are tried after one that works: where there are many objects, so that each takes its time, and elsewhere.
_MORE_IN_LARGE: Final = 2
_MORE: Final = 8
_LARGE: Final = 2_000
# The most first edits of a pair, and the most pairs that are tried.
_MOST_FIRST: Final = 6
_MOST_PAIRS: Final = 40
_MOST_PAIRS_IN_LARGE: Final = 8
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
    (("need-not-permitted", "unheeded"), surroundings.grant_need),
    (("unheeded",), policies.remove_annotations),
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


class Offered(CheckedEdit, frozen=True, kw_only=True):
    """An edit of one object that gives the policy an effect, checked on the input."""

    also_changes: Annotated[SideEffects, Meta(description="The side effects of the edit.")]


class EditPair(Struct, frozen=True, kw_only=True):
    """Two edits, of two objects, that give the policy an effect together; checked on the input."""

    edits: Annotated[tuple[CheckedEdit, ...], Meta(description="The two edits.", min_length=2, max_length=2)]
    also_changes: Annotated[SideEffects, Meta(description="The side effects of both edits together.")]


class SearchResult(Struct, frozen=True, kw_only=True):
    """The result of a search for edits."""

    edits: tuple[Offered, ...] = ()
    """The edits of one object that help, best first."""
    pair: EditPair | None = None
    """Two edits that help together, if no edit of one object does."""
    tried: int = 0
    """The number of edits that were tried."""
    obstacle: str = ""
    """The reason why no edit of one object helps; "" if one does."""


def find_edits(case: Case, reasons: tuple[Reason, ...], owner_key: str = "") -> SearchResult:
    """Find the edits that are known to help, or two that help together.

    An edit that takes something away from somebody else is offered only if no other one helps. Of several at one place
    of an object, the best is offered.
    """
    search = _Search(case, reasons, owner_key)
    offers = search.single_edits()
    pair = None if offers or search.beyond else search.pair()
    if isinstance(pair, Offered):
        offers, pair = [pair], None
    ranked = sorted(offers, key=lambda edit: (*edit.also_changes.rank, *_effort(case, edit)))
    harmless = [edit for edit in ranked if edit.also_changes.harm != "loss"]
    best: dict[tuple[ObjectRef, str], Offered] = {}
    for edit in harmless or ranked:
        best.setdefault((edit.object, str(edit.changes[0].path) if edit.changes else ""), edit)
    edits = tuple(best.values())[:_MOST_OFFERED]
    obstacle = "" if edits else obstacle_of(case, reasons, search.tried, search.next_obstacle())
    return SearchResult(edits=edits, pair=pair, tried=search.tried, obstacle=obstacle)


class _Search:
    """A search within a budget: every try takes an analysis of the world with the edit."""

    def __init__(self, case: Case, reasons: tuple[Reason, ...], owner_key: str) -> None:
        """Order the candidates by the effort that they take."""
        self._case, self._reasons, self._owner_key = case, reasons, owner_key
        self._ordered = _distinct(case, _candidates(case, reasons))[:_MOST_TRIED]
        self._is_large = len(case.analysis.snapshot.resources) > _LARGE
        self.tried = 0

    @property
    def beyond(self) -> str:
        """The reason that no edit removes; "" if there is none."""
        return _beyond(self._reasons)

    def single_edits(self) -> list[Offered]:
        """Return the edits of one object that help, in the order of effort."""
        offers: list[Offered] = []
        remaining = len(self._ordered)
        for edit in self._ordered:
            if not remaining or (self._is_large and any(offer.also_changes.harm == "none" for offer in offers)):
                break
            self.tried, remaining = self.tried + 1, remaining - 1
            offered = self._tried(edit)
            if offered:
                more = _MORE_IN_LARGE if self._is_large else _MORE
                remaining = min(remaining, more) if not offers else remaining
                offers.append(offered)
        return offers

    def pair(self) -> EditPair | Offered | None:
        """Return the least harmful pair of edits that helps, as one edit if both are of one object; None without one.

        The second edit is one that the reasons suggest which are left after the first.
        """
        pairs: list[EditPair | Offered] = []
        for pair in self._pairs(_MOST_PAIRS_IN_LARGE if self._is_large else _MOST_PAIRS):
            pairs.append(pair)
            if pair.also_changes.harm == "none" or len(pairs) == _MOST_OFFERED:
                break
        return min(pairs, key=lambda pair: pair.also_changes.rank, default=None)

    def _pairs(self, budget: int) -> Iterator[EditPair | Offered]:
        """Try so many pairs of edits, and yield those that help."""
        for first in [edit for edit in self._ordered if edit.after][:_MOST_FIRST]:
            between = self._case_after(first)
            # An edit that helps, and is not offered, is wrong in itself.
            if between.effect.in_force or between.effect.undecided:
                continue
            reasons = reasons_of(between)
            if _beyond(reasons) or not self._are_other(reasons):
                continue
            seconds = [edit for edit in _distinct(between, _candidates(between, reasons)) if edit.after]
            for second in seconds[:budget]:
                budget -= 1
                pair = self._together(first, second)
                if pair:
                    yield pair

    def next_obstacle(self) -> str:
        """Return the next obstacle after an edit that removes the first reason; "" if there is none.

        That is what to look at next where it takes two changes.
        """
        for edit in self._ordered[:_MORE_IN_LARGE]:
            between = self._case_after(edit) if edit.after else None
            if between and not between.effect.in_force:
                first = reasons_of(between)[0]
                if first.message != self._reasons[0].message:
                    return f"; with {edit.field or 'it'} of {edit.object} changed, {first.message}"
        return ""

    def _are_other(self, reasons: Sequence[Reason]) -> bool:
        return {reason.message for reason in reasons} != {reason.message for reason in self._reasons}

    def _case_after(self, edit: Edit) -> Case:
        """Return the case after an edit, which deletes nothing."""
        analysis = what_if(self._case.analysis, applied=[edit.after] if edit.after else []).after
        policy = analysis.index.get(self._case.policy.ref) or self._case.policy
        return Case(analysis, policy, self._case.target, effect_on(analysis, policy.ref, self._case.target))

    def _together(self, first: Edit, second: Edit) -> EditPair | Offered | None:
        """Return two edits with their side effects, if they work together; of one object, as one edit."""
        if first.object == second.object:
            return self._tried(Edit(first.before, second.after))
        comparison = what_if(self._case.analysis, applied=[edit.after for edit in (first, second) if edit.after])
        effect = _effect_after(self._case, (first, second), comparison.after)
        if effect is None:
            return None
        edits = tuple(
            CheckedEdit(edit.before, edit.after, origin=origin_of(edit), defined=is_defined(edit, comparison.after))
            for edit in (first, second)
        )
        return EditPair(edits=edits, also_changes=side_effects(self._case, comparison, effect, self._owner_key))

    def _tried(self, edit: Edit) -> Offered | None:
        """Return an edit with its side effects, if it works."""
        applied, deleted = ([edit.after], []) if edit.after else ([], [edit.object])
        comparison = what_if(self._case.analysis, applied=applied, deleted=deleted)
        effect = _effect_after(self._case, (edit,), comparison.after)
        if effect is None:
            return None
        return Offered(
            edit.before,
            edit.after,
            origin=origin_of(edit),
            defined=is_defined(edit, comparison.after),
            also_changes=side_effects(self._case, comparison, effect, self._owner_key),
        )


def _distinct(case: Case, edits: Iterable[Edit]) -> list[Edit]:
    """Return edits, each once, in the order of the effort that they take."""
    distinct: dict[str, Edit] = {}
    for edit in edits:
        distinct.setdefault(repr((edit.object, edit.action, edit.changes)), edit)
    return sorted(distinct.values(), key=lambda edit: _effort(case, edit))


def _effort(case: Case, edit: Edit) -> tuple[object, ...]:
    """Return a sort key for the effort: changes before deletions, short ones first, then those close to the case."""
    own_edits = (case.policy.ref, case.target.object)
    near = own_edits.index(edit.object) if edit.object in own_edits else len(own_edits)
    return edit.action == "delete", edit.size, near


def _candidates(case: Case, reasons: tuple[Reason, ...]) -> Iterator[Edit]:
    """Edits that each reason suggests, in the order of reasons; naming the node as a target may always help."""
    for reason in reasons:
        for rules, generator in GENERATORS:
            if reason.rule in rules:
                yield from generator(case, reason)
    yield from policies.name_it(case, reasons[0])


def _beyond(reasons: Sequence[Reason]) -> str:
    """Return why no edit helps against a reason; "" if one may."""
    return next((_BEYOND_EDITS[reason.rule] for reason in reasons if reason.rule in _BEYOND_EDITS), "")


def obstacle_of(case: Case, reasons: tuple[Reason, ...], tried: int, then: str = "") -> str:
    """Explain why no edit of one object will do, with the obstacle `then` that is left after one edit."""
    policy, target = case.policy.ref, case.target.object
    beyond = _beyond(reasons)
    if beyond:
        return beyond
    if reasons[0].rule == "unheeded" and any(attachment.ignored for attachment in case.attachments):
        return "what the setting names has to be there first"
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


def _effect_after(case: Case, edits: Sequence[Edit], after: Analysis) -> EffectOn | None:
    """Return the effect of a policy on a node after edits; None if it has none, or they break what they edit."""
    policy = case.policy.ref
    edited = [edit.after for edit in edits if edit.object == policy and edit.after]
    has_other_settings = any(_settings(case, resource) != _settings(case, case.policy) for resource in edited)
    if has_other_settings or after.registry.profile_of(policy.group_kind) is None:
        return None
    effect = effect_on(after, policy, case.target)
    return effect if effect.in_force and are_valid(case.analysis, after, edits) else None


def _settings(case: Case, policy: Resource) -> list[dict[str, Json]]:
    """Settings of a policy, stanza by stanza; an edit that changes them is no way to make them take effect."""
    order = case.profile.order_field
    stanzas = stanzas_of(policy.raw, case.profile)
    return [{key: value for key, value in part.spec.items() if f"spec.{key}" != order} for part in stanzas]
