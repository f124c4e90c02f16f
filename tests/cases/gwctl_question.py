"""A question of a gwctl case in words, and the type of an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

from kubectl_policy import Analysis, GroupKind, NodeRef, ObjectRef, Path, PolicyError
from kubectl_policy.comparison import StateComparison
from kubectl_policy.model import Json
from kubectl_policy.questions.diff import StateDiff, diff
from kubectl_policy.questions.shared.selection import find, kinds_named
from tests.cases.claims import Problem, problems

# From a question, the key of a fact and its value: what is wanted and what is said instead, equal where the fact holds.
Answer: TypeAlias = "Callable[[Question, str, Json], tuple[object, object]]"

# What separates the object that a question is about from the parent that narrows it down.
_BY_WAY_OF = " via "


@dataclass(frozen=True)
class Question:
    """One question about a world, and about the same world after a change (itself, where nothing changes)."""

    comparison: StateComparison
    ask: str

    @property
    def before(self) -> Analysis:
        """The world before the change."""
        return self.comparison.before

    @cached_property
    def difference(self) -> StateDiff:
        """The difference that the change makes."""
        return diff(self.comparison)

    @property
    def is_listing(self) -> bool:
        """Whether the question asks for a table of objects rather than for what is known of one."""
        return self.ask.startswith(("get ", "list "))

    @cached_property
    def subject(self) -> ObjectRef | None:
        """The object that the question is about."""
        return next(self._objects(self.ask.partition(_BY_WAY_OF)[0]), None)

    @cached_property
    def policy_kind(self) -> GroupKind | None:
        """The policy kind that the question is about, apart from its object."""
        known = {profile.group_kind for profile in self.before.registry.policy_kinds}
        named = (kind for part in self.ask.split() for kind in kinds_named(self.before, part))
        return next((kind for kind in named if kind in known), None)

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """The paths to the subject, through the parent that the question names."""
        if self.subject is None:
            return ()
        via = self.ask.partition(_BY_WAY_OF)[2]
        paths = self.before.topology.paths(NodeRef(self.subject))
        return tuple(path for path in paths if not via or via in {node.object.name for node in path})

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of the subject or, without a subject, of the whole world."""
        reported = problems(self.before)
        return tuple(problem for problem in reported if self.subject in {None, problem.subject})

    def _objects(self, text: str) -> Iterator[ObjectRef]:
        parts = text.split()
        for type_name, name in pairwise(parts):
            if kinds_named(self.before, type_name):
                namespace, _, bare = name.rpartition("/")
                try:
                    yield find(self.before, type_name, bare, namespace or "default")
                except PolicyError:
                    continue
        yield from (policy.ref for policy in self.before.policies if policy.ref.name in parts[-1:])


def inherited(analysis: Analysis, kind: GroupKind) -> bool:
    """Whether a kind's policies are known, not only assumed, to affect what is below their targets."""
    profile = analysis.registry.profile_of(kind)
    return profile is not None and profile.policy_class == "inherited" and "class" not in profile.assumed


def written(ref: ObjectRef) -> str:
    """Return a policy as gwctl writes it: `Kind.group namespace/name`."""
    return f"{ref.group_kind} {ref.qualified_name}"


def is_route(ref: ObjectRef) -> bool:
    """Whether an object is a route, by the name of its kind."""
    return ref.kind.endswith("Route")
