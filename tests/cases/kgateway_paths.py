"""The rules of routes that requests at a listener reach, also through routes that delegate to others."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubectl_policy import NodeRef
from tests.cases.names import slashed
from tests.cases.objects import ROUTES, listener_on, objects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy import Analysis, ObjectRef, Path


class Reached(NamedTuple):
    """A rule of a route on one of the paths to it; `rules` are those of all routes on the path, with their numbers."""

    path: Path
    gateway: ObjectRef
    listener: NodeRef
    rules: tuple[tuple[ObjectRef, int], ...]
    delegates: bool

    @property
    def via(self) -> list[str]:
        """The names of the rules that delegate to the rule, the first one first."""
        return [f"{slashed(route)}:{number}" for route, number in self.rules[:-1]]


def reached(analysis: Analysis) -> Iterator[Reached]:
    """Every rule at every listener, once for each path between them."""
    for route in objects(analysis, *ROUTES):
        for section in analysis.topology.sections(route):
            rule = NodeRef(route, section)
            for path in analysis.topology.paths(rule):
                found = listener_on(path)
                if found:
                    yield Reached(path, *found, tuple(_rules(analysis, path)), _delegates(analysis, rule))


def _rules(analysis: Analysis, path: Path) -> Iterator[tuple[ObjectRef, int]]:
    for node in path:
        if node.kind in ROUTES and node.section:
            yield node.object, analysis.topology.sections(node.object).index(node.section)


def _delegates(analysis: Analysis, rule: NodeRef) -> bool:
    """Whether a rule leads to other routes, or names one that it does not lead to."""
    number = analysis.topology.sections(rule.object).index(rule.section)
    named = [found.node for found in analysis.topology.backends(rule.object) if found.ref.rule == number]
    return any(node.kind in ROUTES for node in (*named, *analysis.topology.children(rule)))
