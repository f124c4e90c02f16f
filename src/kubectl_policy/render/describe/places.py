"""The places of an answer about an object: its rules, listeners or ports, and what leads to it, in few words."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from kubectl_policy.model.kinds import NAMESPACE, plural
from kubectl_policy.topology.references import ROUTES, WITH_LISTENERS, WITH_PORTS, section_noun, section_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from kubectl_policy.model import NodeRef, ObjectRef
    from kubectl_policy.questions.describe.objects import ObjectDescription
    from kubectl_policy.questions.shared.path_phrases import PathPhrases


class Places:
    """Says where something is in force, in the words of the object that an answer is about."""

    def __init__(self, answer: ObjectDescription) -> None:
        """Remember the answer; nothing is looked up until somebody asks."""
        self._answer = answer

    def words(self, positions: Collection[int], *, behind: bool = False) -> str:
        """`rule cart`, `both rules`, `listener https`; `behind` it for what takes effect further down.

        Empty if there is only one place.
        """
        if len(set(positions)) == len(self._answer.paths):
            words = self._everywhere
        else:
            words = self._some(frozenset(positions)).removesuffix(" only")
        if behind and self._answer.subject.object.group_kind == NAMESPACE:
            return "in it"
        return f"behind {words or 'it'}" if behind else words

    def _some(self, positions: frozenset[int]) -> str:
        """The words for some of the paths; at a backend, the route that they lead through."""
        if self._answer.subject.object.group_kind in WITH_PORTS and positions in self._by_route:
            return f"through {self._by_route[positions]} only"
        return self._which.words(positions)

    @cached_property
    def _which(self) -> PathPhrases:
        from kubectl_policy.questions.shared.path_phrases import PathPhrases  # noqa: PLC0415 (of few answers)

        return PathPhrases(self._answer.paths)

    @cached_property
    def _on(self) -> Mapping[NodeRef, frozenset[int]]:
        """The paths that lead through each node, in the order of the nodes on them."""
        on: dict[NodeRef, list[int]] = {}
        for place, path in enumerate(self._answer.paths):
            for node in path:
                on.setdefault(node, []).append(place)
        return {node: frozenset(places) for node, places in on.items()}

    @cached_property
    def _by_route(self) -> Mapping[frozenset[int], ObjectRef]:
        """The route that just these paths lead through, the first one of several."""
        whole = [(node, on) for node, on in self._on.items() if not node.section]
        return {on: node.object for node, on in reversed(whole) if node.object.group_kind in ROUTES}

    def limits(self, positions: Collection[int], among: Collection[int]) -> str:
        """`rule cart only`, of what is on some paths and not on all of those that are meant; else empty."""
        return "" if set(positions) >= set(among) else self._some(frozenset(positions))

    def below(self, targets: Collection[NodeRef]) -> frozenset[int]:
        """The paths that lead through any of some targets, which goes without saying of their policy."""
        return frozenset[int]().union(*(self._on.get(target, ()) for target in targets))

    def numbered(self, positions: Collection[int]) -> bool:
        """Whether the words for these paths name them by their numbers."""
        return len(set(positions)) < len(self._answer.paths) and self._which.phrase(positions).numbered

    @cached_property
    def sections(self) -> tuple[NodeRef, ...]:
        """The rules, listeners or ports of the object that are on any path, in their order."""
        subject = self._answer.subject.object
        return tuple(node for node in self._on if node.object == subject and node.section)

    @cached_property
    def _everywhere(self) -> str:
        kind = self._answer.subject.object.group_kind
        if self._answer.subject.section:
            return ""
        if kind in WITH_PORTS:
            routes = self.routes
            return f"through {_all(len(routes), 'route')}" if len(routes) > 1 else ""
        if len(self.sections) > 1:
            return _all(len(self.sections), section_noun(kind))
        return section_words(self.sections[0]) if self.sections and kind in (*ROUTES, *WITH_LISTENERS) else ""

    @cached_property
    def routes(self) -> tuple[ObjectRef, ...]:
        """The routes on the paths, each once."""
        return tuple(dict.fromkeys(node.object for node in self._on if node.object.group_kind in ROUTES))

    @cached_property
    def listeners(self) -> tuple[NodeRef, ...]:
        """The listeners on the paths, each once."""
        return tuple(node for node in self._on if node.section and node.object.group_kind in WITH_LISTENERS)

    def backends(self, positions: Iterable[int]) -> tuple[str, ...]:
        """What the rules on some paths of a route lead to: `Service shop/cart:http`."""
        if self._answer.subject.object.group_kind not in ROUTES:
            return ()
        ends = dict.fromkeys(self._answer.paths[position][-1] for position in sorted(positions))
        above = {*ROUTES, *WITH_LISTENERS, NAMESPACE}
        return tuple(
            f"{end.object}:{end.section}" if end.section else str(end.object)
            for end in ends
            if end.object.group_kind not in above
        )

    def is_one_section(self, positions: Collection[int]) -> bool:
        """Whether some paths are those through one rule, listener or port of the object."""
        return any(self._on[section] == frozenset(positions) for section in self.sections)


def _all(number: int, noun: str) -> str:
    return f"both {plural(noun)}" if number == 2 else f"all {number} {plural(noun)}"  # noqa: PLR2004 (a pair is "both")
