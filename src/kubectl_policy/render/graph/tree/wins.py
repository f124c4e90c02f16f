"""What is in force on each branch of the tree: of all paths to a place, on those that run down the branch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.kinds import NAMESPACE
from kubectl_policy.model.world import grouped
from kubectl_policy.questions.shared.path_phrases import PathPhrases
from kubectl_policy.render.graph.tree.rows import Head
from kubectl_policy.render.wording.names import count
from kubectl_policy.topology.references import GATEWAY_CLASS, WITH_LISTENERS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
    from kubectl_policy.questions.graph.picture import Outcome, Picture, Win
    from kubectl_policy.render.graph.tree.rows import Member
    from kubectl_policy.topology import Path

# What policies on these have in force, they have for much else as well.
_ABOVE_ROUTES: Final = frozenset({NAMESPACE, GATEWAY_CLASS, *WITH_LISTENERS})


class Wins:
    """What is in force at places, by the branches that lead there."""

    def __init__(self, picture: Picture, names: Mapping[GroupKind, str]) -> None:
        """`names` are what kinds are called. What is looked up is looked up once."""
        self._outcomes, self._names = {node.ref: node.outcome for node in picture.nodes}, names
        self._only_targets = {
            policy.ref: policy.targets[0].target for policy in picture.policies if len(policy.targets) == 1
        }

    def at(
        self, place: NodeRef, above: Path, backends: Sequence[NodeRef] = ()
    ) -> tuple[tuple[Win, ...], Mapping[NodeRef, tuple[Win, ...]]]:
        """What is in force at a place, on the paths through all that is `above` it on a branch.

        Of several backends that a place leads to, what is in force for all requests to some of them, and for no others,
        is told at these.
        """
        outcome = self._outcomes.get(place)
        if not outcome:
            return (), {}
        positions = self._positions(place, above)
        found: list[Win] = []
        further: dict[NodeRef, list[Win]] = {}
        leading: dict[NodeRef, set[int]] = {}
        if len(backends) > 1:
            leading = {each: {number for number in positions if each in outcome.paths[number]} for each in backends}
        for win in outcome.wins:
            told = replace(win, positions=())
            if len(win.positions) == len(outcome.paths) and positions:
                found.append(told)
                continue
            on = set(win.positions).intersection(positions)
            ends = [backend for backend, through in leading.items() if through and through <= on]
            if on and len(on) == len(positions):
                found.append(told)
            elif ends and len(on) == len(set[int]().union(*(leading[backend] for backend in ends))):
                for backend in ends:
                    further.setdefault(backend, []).append(told)
            elif on:
                found.append(replace(told, scope=_scope(outcome, on, positions)))
        return tuple(found), {backend: tuple(wins) for backend, wins in further.items()}

    def at_each(self, places: Sequence[NodeRef], above: Path) -> tuple[Win, ...]:
        """What is in force at each of some places, on all paths of a branch, as the first of them has it."""
        if not places:
            return ()
        first, *others = ([told for told in self.at(place, above)[0] if not told.scope] for place in places)
        return tuple([told for told in first if all(told in other for other in others)])

    def head(self, win: Win, place: NodeRef, where: str, *, is_gone: bool) -> tuple[Head, list[Member]]:
        """What a row says of it, and the policies that are there for the place alone: other places have others."""
        own = [policy for policy in win.policies if self._is_own(policy, place)]
        others = [policy.qualified_name for policy in win.policies if policy not in own]
        is_certain, was_certain = ("in force", "may be in force"), ("was in force", "may have been in force")
        perhaps = (was_certain if is_gone else is_certain)[not win.certain]
        head = Head(
            sort="in force",
            # What the route says itself is of no kind of policies.
            noun=self._names.get(win.policy_kind, win.policy_kind.kind) if win.policies else "",
            lead=f"{perhaps}{where}: ",
            what=", ".join(win.summary),
            others=tuple(others) if win.policies else ("the route itself",),
            scope=f", on {win.scope}" if win.scope else "",
        )
        return head, [(policy.qualified_name, "") for policy in own]

    def _is_own(self, policy: ObjectRef, place: NodeRef) -> bool:
        target = self._only_targets.get(policy)
        return target is not None and (target.object == place.object or target.object.group_kind not in _ABOVE_ROUTES)

    def _positions(self, place: NodeRef, above: Path) -> Sequence[int]:
        """The paths to a place that run down a branch."""
        ways = self._ways(place)
        if above in ways:
            return ways[above]
        # Something is left out of the picture.
        return [position for way, positions in ways.items() if set(above).issubset(way) for position in positions]

    @cached_method
    def _ways(self, place: NodeRef) -> Mapping[Path, tuple[int, ...]]:
        """What is above a place on its paths, and which of them these are."""
        outcome = self._outcomes[place]
        paths = outcome.paths if outcome else ()
        return grouped((tuple(_above(place, path)), position) for position, path in enumerate(paths))


def _above(place: NodeRef, path: Path) -> Iterator[NodeRef]:
    """What is above a place on a path, without Namespaces, which the tree has elsewhere."""
    for node in path:
        if node == place:
            return
        if node.object.group_kind != NAMESPACE:
            yield node


def _scope(outcome: Outcome, on: Collection[int], positions: Sequence[int]) -> str:
    """On which of the paths of a branch: `listener http only`."""
    phrase = PathPhrases([outcome.paths[position] for position in positions]).phrase(
        [number for number, position in enumerate(positions) if position in on]
    )
    # There are no numbers here that it could mean.
    return f"{len(on)} of its {count(len(positions), 'path')}" if phrase.numbered else phrase.words
