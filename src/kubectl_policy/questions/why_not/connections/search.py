"""Search for edits that allow or deny connections: of one object, or of two together; each is tried on the input."""

from __future__ import annotations

from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct, structs

from kubectl_policy.questions.why_not.checked import CheckedEdit
from kubectl_policy.questions.why_not.connections import (
    edits_of_cluster_policies,
    edits_of_network_policies,
    new_policies,
)
from kubectl_policy.questions.why_not.connections.edits_of_labels import label_ends
from kubectl_policy.questions.why_not.connections.side_effects import ConnectionSideEffects, side_effects
from kubectl_policy.questions.why_not.connections.trials import Candidate, Trial, try_out
from kubectl_policy.questions.why_not.edits import Edit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.why_not.connections.case import ConnectionCase, Side, Wanted

_MOST_OFFERED: Final = 3
# With more objects, each trial takes its time, so that fewer are made.
_LARGE: Final = 2_000
# In this order edits of different kinds are tried, one of each kind, then another one of each.
_GENERATORS: Final[Mapping[Wanted, tuple[Callable[[Side], Iterator[Edit]], ...]]] = {
    "allowed": (
        edits_of_network_policies.add_to_rule,
        edits_of_cluster_policies.insert_letting_rule,
        new_policies.allow_by_network_policy,
        new_policies.let_through_by_cluster_policy,
        edits_of_network_policies.add_rule,
        edits_of_cluster_policies.narrow_rule,
        edits_of_cluster_policies.move_rule,
        edits_of_cluster_policies.change_priority,
        edits_of_network_policies.stop_isolating,
    ),
    "denied": (
        edits_of_network_policies.allow_less,
        edits_of_cluster_policies.insert_denying_rule,
        new_policies.deny_by_cluster_policy,
        edits_of_network_policies.isolate,
        new_policies.isolate_by_network_policy,
    ),
}


class Budget(Struct, frozen=True, kw_only=True):
    """The numbers of trials: of single edits for each side, of first edits of a pair, and of second ones for each."""

    single: int
    first: int
    second: int


_BUDGET: Final = Budget(single=16, first=3, second=6)
_BUDGET_IN_LARGE: Final = Budget(single=6, first=2, second=3)


class OfferedConnectionEdit(CheckedEdit, frozen=True, kw_only=True):
    """An edit of one object that allows or denies the connections, checked on the input."""

    also_changes: Annotated[ConnectionSideEffects, Meta(description="The side effects of the edit.")]


class ConnectionEditPair(Struct, frozen=True, kw_only=True):
    """Two edits, of two objects, that allow the connections together; checked on the input."""

    edits: Annotated[tuple[CheckedEdit, ...], Meta(description="The two edits.", min_length=2, max_length=2)]
    also_changes: Annotated[ConnectionSideEffects, Meta(description="The side effects of both edits together.")]


class SearchResult(Struct, frozen=True, kw_only=True):
    """The result of a search for edits."""

    # The edits of one object that help, best first.
    edits: tuple[OfferedConnectionEdit, ...] = ()
    # Two edits that help together, if no edit of one object does.
    pair: ConnectionEditPair | None = None
    # The number of edits that were tried.
    tried: int = 0


class _Rated(Struct, frozen=True):
    """A trial with its side effects."""

    trial: Trial
    also_changes: ConnectionSideEffects

    @property
    def rank(self) -> tuple[tuple[int, int, bool], int]:
        """Sort key: by side effects, then by size."""
        return self.also_changes.rank, self.trial.size


def find_edits(case: ConnectionCase) -> SearchResult:
    """Find the edits that are known to help, the best one of an object, or two that help together.

    An edit that closes other connections is offered only if no other one helps.
    """
    search = _Search(case)
    rated = search.single_edits()
    best_pair = None if rated else search.pair()
    if best_pair and len(best_pair.trial.candidates) == 1:
        rated, best_pair = [best_pair], None
    ranked = sorted(rated, key=lambda offer: offer.rank)
    harmless = [offer for offer in ranked if offer.also_changes.harm != "loss"]
    best: dict[ObjectRef, _Rated] = {}
    for offer in harmless or ranked:
        best.setdefault(offer.trial.candidates[0].edit.object, offer)
    return SearchResult(
        edits=tuple(map(_offered, islice(best.values(), _MOST_OFFERED))),
        pair=ConnectionEditPair(edits=best_pair.trial.edits, also_changes=best_pair.also_changes)
        if best_pair
        else None,
        tried=search.tried,
    )


def _offered(rated: _Rated) -> OfferedConnectionEdit:
    (edit,) = rated.trial.edits
    fields = structs.asdict(edit)
    return OfferedConnectionEdit(fields.pop("before"), fields.pop("after"), **fields, also_changes=rated.also_changes)


class _Search:
    """A search within a budget."""

    def __init__(self, case: ConnectionCase) -> None:
        self._case = case
        self._budget = _BUDGET_IN_LARGE if len(case.analysis.snapshot.resources) > _LARGE else _BUDGET
        # Trials after which the connections are allowed on the first side, and not yet on the other one.
        self._halves: list[Trial] = []
        self.tried = 0

    def single_edits(self) -> list[_Rated]:
        """Return the edits of one object that help."""
        rated: list[_Rated] = []
        for position, side in enumerate(self._case.sides):
            for candidate in islice(_candidates(side), self._budget.single):
                trial = self._try(candidate)
                if trial and trial.case.is_fulfilled:
                    rated.append(self._rated(trial))
                elif trial and position == 0 and all(it.direction != side.direction for it in trial.case.sides):
                    self._halves.append(trial)
        return rated

    def pair(self) -> _Rated | None:
        """Return the best pair of edits that helps, or one edit if both are of one object; None without any."""
        firsts = sorted(map(self._rated, self._halves), key=lambda offer: offer.rank)
        pairs = [
            self._rated(trial)
            for first in firsts[: self._budget.first]
            for trial in self._completed(first.trial)
            if trial.case.is_fulfilled
        ]
        return min(pairs, key=lambda offer: offer.rank, default=None)

    def _completed(self, first: Trial) -> Iterator[Trial]:
        """Yield trials of an edit with a second one, which is for what is left after the first."""
        (candidate,) = first.candidates
        seconds = chain.from_iterable(map(_candidates, first.case.sides))
        for second in islice(seconds, self._budget.second):
            if second.edit.object == candidate.edit.object:
                trial = self._try(Candidate(Edit(candidate.edit.before, second.edit.after), second.implied))
            else:
                trial = self._try(candidate, second)
            if trial:
                yield trial

    def _try(self, *candidates: Candidate) -> Trial | None:
        self.tried += 1
        return try_out(self._case, *candidates)

    def _rated(self, trial: Trial) -> _Rated:
        return _Rated(trial, side_effects(self._case, trial))


def _candidates(side: Side) -> Iterator[Candidate]:
    """Yield different edits that may help on a side, of all kinds in turn."""
    kinds: list[Iterable[Candidate]] = [map(Candidate, generate(side)) for generate in _GENERATORS[side.wanted]]
    if side.wanted == "allowed":
        kinds.append(label_ends(side))
    distinct: set[str] = set()
    for candidate in chain.from_iterable(zip_longest(*kinds)):
        if candidate:
            edit = candidate.edit
            key = repr((edit.object, edit.changes or (edit.after and edit.after.raw)))
            if key not in distinct:
                distinct.add(key)
                yield candidate
