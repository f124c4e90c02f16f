"""Names of policies, targets and paths in an answer about one object, which is not named again itself."""

from __future__ import annotations

from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING

from kubectl_policy.model.kind_roles import LISTENER_HOLDERS, NAMESPACE, PORT_HOLDERS, ROUTES, section_noun
from kubectl_policy.model.kinds import listed, plural
from kubectl_policy.model.world import grouped
from kubectl_policy.render.wording.names import (
    MOST_TARGETS,
    at_origin,
    kind_names,
    mark,
    node_label,
    self_phrase,
    source_filter_phrase,
)
from kubectl_policy.render.wording.settings import blame_phrase
from kubectl_policy.topology.references import section_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
    from kubectl_policy.questions.describe.objects import ObjectDescription
    from kubectl_policy.questions.shared.in_force import InForce, Setting
    from kubectl_policy.questions.shared.path_phrases import PathPhrases
    from kubectl_policy.questions.shared.reported import ReportedCondition
    from kubectl_policy.render.describe.rows import OfSource
    from kubectl_policy.resolution import Source


class Names:
    """Names of policies, kinds and targets in one answer."""

    def __init__(self, answer: ObjectDescription) -> None:
        """Look up which kinds share a name, and what controllers report of policies."""
        self._subject = answer.subject
        self._kinds = kind_names(group.kind for group in answer.in_force)
        self.about = {source.policy: source for source in answer.sources}
        self._origins = {source.policy: source.origin for source in answer.sources} | {
            answer.subject.object: answer.origin
        }
        folders = [source.origin.source.split("/")[:-1] for source in answer.sources if source.origin]
        shared = takewhile(lambda names: len(set(names)) == 1, zip(*folders, strict=False))
        self._folder = "".join(f"{names[0]}/" for names in shared)

    def origin(self, policy: ObjectRef) -> str:
        """`shop.yaml:41`, without the folder that all policies of the answer are in; empty where that is not known."""
        origin = self._origins.get(policy)
        return at_origin(origin).removeprefix(self._folder)

    def lines(self, settings: Sequence[Setting]) -> str:
        """`:47`, the line that a field is written on in the file of its policy, and who wrote it, if that was asked.

        The lines of several are `:47-52`. A line of another file comes with its name.
        """
        blame = blame_phrase(settings[0])
        whole = self._origins.get(settings[0].source.object)
        origins = [
            setting.origin for setting in settings if setting.origin and setting.origin.line and setting.origin != whole
        ]
        if len(origins) < len(settings) or len({origin.source for origin in origins}) > 1:
            return blame
        origins.sort(key=lambda origin: origin.line)
        first, last = origins[0], origins[-1]
        same = whole is not None and first.source == whole.source
        line = f":{first.line}" if same else str(first).removeprefix(self._folder)
        line += f"-{last.line}" if last.line > first.line else ""
        return f"{line} {blame}" if blame else line

    def kind(self, group: InForce) -> str:
        """`RetryPolicy`; with its API group where two kinds of one name are in force."""
        return f"{self._kinds[group.kind]}{mark(group.profile, 'being a policy')}"

    def target(self, node: NodeRef) -> str:
        """`rule cart` of what the answer is about, `Gateway infra/public, listener https` of anything else."""
        if node.section and node.object == self._subject.object:
            return section_words(node)
        return node_label(node)

    def policy(self, source: Source, kind: GroupKind) -> str:
        """`shop/cart`, as the kind stands beside it; `the route itself` for what an object says itself."""
        if source.object == source.target.object:
            of_subject = source.object == self._subject.object
            return self_phrase(source.object) if of_subject else f"{source.object} itself"
        return source.object.qualified_name if source.object.group_kind == kind else str(source.object)

    def targets(self, source: Source, targets: Iterable[NodeRef]) -> str:
        """` → rule cart`, of several targets all; of an object's own fields only a rule or listener."""
        if source.object == source.target.object:
            sections = dict.fromkeys(section_words(node) for node in targets if node.section)
            return f", {listed(list(sections), MOST_TARGETS)}" if sections else ""
        names_ = dict.fromkeys(self.target(node) for node in targets)
        return f" → {listed(list(names_), MOST_TARGETS)}{source_filter_phrase(source)}"

    def source(self, source: Source, kind: GroupKind) -> str:
        """`shop/cart → rule cart`."""
        return f"{self.policy(source, kind)}{self.targets(source, [source.target])}"

    def heading(self, of: OfSource, group: InForce) -> str:
        """`RetryPolicy shop/cart → rule cart`, with all of its targets; `RetryPolicy, by the route itself`."""
        phrase = f"{self.policy(of.source, group.kind)}{self.targets(of.source, of.targets)}"
        if group.profile.route_settings:
            return phrase
        of_object = of.source.object == of.source.target.object
        return f"{self.kind(group)}{', by ' if of_object else ' '}{phrase}"

    def warning(self, policies: Iterable[ObjectRef]) -> str:
        """`controller reports Invalid; may be different`: doubts about policies; else empty."""
        sources = [self.about[policy] for policy in policies if policy in self.about]
        contrary = [contrary_phrase(source.contrary) for source in sources if source.contrary][:1]
        return "; ".join([*contrary, *(["may be different"] if any(source.otherwise for source in sources) else [])])


def contrary_phrase(condition: ReportedCondition) -> str:
    """`controller reports Invalid`: a condition in the controller's own word."""
    verb = "reported, of an earlier version," if condition.stale else "reports"
    own_word = condition.reason and condition.reason != condition.type
    condition_phrase = condition.reason if own_word else f"{condition.type} {condition.status}"
    return f"controller {verb} {condition_phrase}"


class PathScopes:
    """Scopes of settings in phrases, relative to the object that an answer is about."""

    def __init__(self, answer: ObjectDescription) -> None:
        """Remember the answer; nothing is looked up until somebody asks."""
        self._answer = answer

    def scope(self, positions: Collection[int], *, behind: bool = False) -> str:
        """`rule cart`, `both rules`, `listener https`; `behind` it for what takes effect further down.

        Empty if there is only one place.
        """
        if len(set(positions)) == len(self._answer.paths):
            scope = self._everywhere
        else:
            scope = self._some(frozenset(positions)).removesuffix(" only")
        if behind and self._answer.subject.object.group_kind == NAMESPACE:
            return "in it"
        return f"behind {scope or 'it'}" if behind else scope

    def _some(self, positions: frozenset[int]) -> str:
        """Return the words for some of the paths; at a backend, the route that they lead through."""
        if self._answer.subject.object.group_kind in PORT_HOLDERS and positions in self._by_route:
            return f"through {self._by_route[positions]} only"
        return self._which.words(positions)

    @cached_property
    def _which(self) -> PathPhrases:
        from kubectl_policy.questions.shared.path_phrases import PathPhrases  # noqa: PLC0415 (of few answers)

        return PathPhrases(self._answer.paths)

    @cached_property
    def _on(self) -> Mapping[NodeRef, frozenset[int]]:
        """The paths that lead through each node, in the order of the nodes on them."""
        on = grouped((node, position) for position, path in enumerate(self._answer.paths) for node in path)
        return {node: frozenset(positions) for node, positions in on.items()}

    @cached_property
    def _by_route(self) -> Mapping[frozenset[int], ObjectRef]:
        """The route that just these paths lead through, the first one of several."""
        whole = [(node, on) for node, on in self._on.items() if not node.section]
        return {on: node.object for node, on in reversed(whole) if node.object.group_kind in ROUTES}

    def limits(self, positions: Collection[int], possible: Collection[int]) -> str:
        """`rule cart only`, of what is on some paths and not on all of those that are meant; else empty."""
        return "" if set(positions) >= set(possible) else self._some(frozenset(positions))

    def below(self, targets: Collection[NodeRef]) -> frozenset[int]:
        """Return the paths that lead through any of some targets, which goes without saying of their policy."""
        return frozenset[int]().union(*(self._on.get(target, ()) for target in targets))

    def numbered(self, positions: Collection[int]) -> bool:
        """Whether the words for these paths name them by their numbers."""
        return len(set(positions)) < len(self._answer.paths) and self._which.phrase(positions).numbered

    @cached_property
    def sections(self) -> tuple[NodeRef, ...]:
        """Return the rules, listeners or ports of the object that are on any path, in their order."""
        subject = self._answer.subject.object
        return tuple(node for node in self._on if node.object == subject and node.section)

    @cached_property
    def _everywhere(self) -> str:
        kind = self._answer.subject.object.group_kind
        if self._answer.subject.section:
            return ""
        if kind in PORT_HOLDERS:
            routes = self.routes
            return f"through {_all(len(routes), 'route')}" if len(routes) > 1 else ""
        if len(self.sections) > 1:
            return _all(len(self.sections), section_noun(kind))
        return section_words(self.sections[0]) if self.sections and kind in (*ROUTES, *LISTENER_HOLDERS) else ""

    @cached_property
    def routes(self) -> tuple[ObjectRef, ...]:
        """Return the routes on the paths, each once."""
        return tuple(dict.fromkeys(node.object for node in self._on if node.object.group_kind in ROUTES))

    @cached_property
    def listeners(self) -> tuple[NodeRef, ...]:
        """Return the listeners on the paths, each once."""
        return tuple(node for node in self._on if node.section and node.object.group_kind in LISTENER_HOLDERS)

    def backends(self, positions: Iterable[int]) -> tuple[str, ...]:
        """`Service shop/cart:http`: the backends of the rules on some paths of a route."""
        if self._answer.subject.object.group_kind not in ROUTES:
            return ()
        ends = dict.fromkeys(self._answer.paths[position][-1] for position in sorted(positions))
        ancestors = {*ROUTES, *LISTENER_HOLDERS, NAMESPACE}
        return tuple(
            f"{end.object}:{end.section}" if end.section else str(end.object)
            for end in ends
            if end.object.group_kind not in ancestors
        )

    def is_one_section(self, positions: Collection[int]) -> bool:
        """Whether some paths are those through one rule, listener or port of the object."""
        return any(self._on[section] == frozenset(positions) for section in self.sections)


def _all(number: int, noun: str) -> str:
    return f"both {plural(noun)}" if number == 2 else f"all {number} {plural(noun)}"  # noqa: PLR2004 (a pair is "both")
