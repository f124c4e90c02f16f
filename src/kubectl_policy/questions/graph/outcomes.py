"""What is in force at the rules of routes and at listeners: which policies win there, on which paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_policy.questions.graph.picture import Outcome, Win
from kubectl_policy.questions.shared.effects import covered_paths
from kubectl_policy.questions.shared.in_force import effective_entries, own_entries, summary_of
from kubectl_policy.topology.references import ROUTES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind, NodeRef
    from kubectl_policy.questions.shared.in_force import Entry
    from kubectl_policy.resolution import Resolution


def outcomes_at(
    analysis: Analysis, places: Iterable[NodeRef], kinds: frozenset[GroupKind], doubtful: frozenset[str]
) -> dict[NodeRef, Outcome]:
    """Return what is in force at some nodes, of those where anything is.

    Of policies of some kinds, or of any if there are none; those that may be different are `doubtful`.
    """
    outcomes = _Outcomes(analysis, kinds, doubtful)
    return {place: outcome for place in places if (outcome := outcomes.at(place)).wins}


class _Outcomes:
    """What is in force at nodes; what is the same at many of them is put into words once."""

    def __init__(self, analysis: Analysis, kinds: frozenset[GroupKind], doubtful: frozenset[str]) -> None:
        self._analysis, self._kinds, self._doubtful = analysis, kinds, doubtful
        self._wins: dict[tuple[Resolution, GroupKind], Win] = {}

    def at(self, place: NodeRef) -> Outcome:
        """What is in force at a node, a kind at a time; nothing where there is no traffic."""
        topology = self._analysis.topology
        paths = tuple(path for path in covered_paths(self._analysis, place) if topology.carries_traffic(path))
        positions: dict[Win, list[int]] = {}
        for entry in (*effective_entries(self._analysis, place, paths), *own_entries(self._analysis, paths)):
            if self._counts(entry, place):
                positions.setdefault(self._win(entry), []).append(entry.path)
        wins = [
            replace(win, positions=tuple(dict.fromkeys(on_paths)))
            for win, on_paths in positions.items()
            if win.policies or win.summary
        ]
        wins.sort(key=lambda win: (win.policy_kind, win.positions))
        return Outcome(place=place, paths=paths, wins=tuple(wins))

    def _counts(self, entry: Entry, place: NodeRef) -> bool:
        """Whether a kind is asked for and takes effect there: at a listener, what is on its way to routes does not."""
        profile = self._analysis.registry.known(entry.effective.resolution.kind)
        if entry.passes_down or profile.patches or (self._kinds and profile.group_kind not in self._kinds):
            return False
        return place.object.group_kind in ROUTES or profile.policy_class == "direct" or bool(profile.effective_targets)

    def _win(self, entry: Entry) -> Win:
        resolution, kind = entry.effective.resolution, entry.effective.target.object.group_kind
        if (resolution, kind) not in self._wins:
            profile = self._analysis.registry.known(resolution.kind)
            # What a rule says itself is in force as well, and no policy's.
            policies = () if profile.own else resolution.policies_in_force
            taking_part = {str(part.source.object) for part in resolution.contributions}
            self._wins[resolution, kind] = Win(
                policy_kind=resolution.kind,
                policies=tuple(sorted(policies)),
                summary=summary_of(entry.effective, profile.at(kind)),
                certain=not resolution.undecided and self._doubtful.isdisjoint(taking_part),
                positions=(),
            )
        return self._wins[resolution, kind]
