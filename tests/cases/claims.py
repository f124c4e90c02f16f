"""Compares sentences about problems by substance: the objects that they name, and the nature of the problem."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.topology import (
    gateway_conditions,
    listener_conditions,
    listener_set_conditions,
    route_conditions,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy import Analysis, NodeRef, ObjectRef
    from kubectl_policy.model import Diagnostic
    from kubectl_policy.topology import Condition

# `Kind namespace/name`, also as `Kind(.group) "namespace/name"`.
_OBJECT: Final = re.compile(r'\b([A-Z]\w+)(?:\(?\.[\w.]+\)?)? (?:")?([a-z0-9][a-z0-9.-]*(?:/[a-z0-9.-]*[a-z0-9])?)\b')
_ENUMERATION: Final = re.compile(r"\(((?:[^()]|\([^()]*\))*, (?:[^()]|\([^()]*\))*)\)")
_QUOTED: Final = re.compile(r"`([^`]+)`")
# The kinds of problems, each with the words that give it away; a sentence is of the first kind that fits.
_NATURES: Final = {
    "hostname": ("NoMatchingListenerHostname",),
    "not admitted": ("not admitted", "not-admitted", "allowedListeners", "NotAllowed"),
    "not permitted": ("not permitted", "not-permitted", "RefNotPermitted", "ReferenceGrant"),
    "malformed": ("a version",),
    "missing": ("non-existent", "not exist", "missing", "dangling", "no section", "NotFound", "NoMatchingParent"),
}


class Problem(NamedTuple):
    """What this project says is wrong: the object it is about, every object named, and the words."""

    subject: ObjectRef | None
    objects: frozenset[str]
    words: str


class Claim(NamedTuple):
    """What a sentence says is wrong."""

    objects: frozenset[str]
    nature: str
    quoted: tuple[str, ...]

    def fits(self, problem: Problem) -> bool:
        """Whether a problem is of the same nature and names all that the sentence names."""
        named = self.objects <= problem.objects and all(word in problem.words for word in self.quoted)
        return bool(self.nature) and named and _nature(problem.words) == self.nature


def problems(analysis: Analysis) -> tuple[Problem, ...]:
    """Every error and warning: diagnostics, parents that refuse a route, and conditions that would be False."""
    found = told(analysis.diagnostics)
    for node in analysis.topology.nodes:
        found += [
            _problem(node.object, f"{condition.type}: {condition.reason}: {condition.message}")
            for condition in _conditions(analysis, node)
            if condition.status == ("True" if condition.type == "Conflicted" else "False")
        ]
    return tuple(dict.fromkeys(found))


def told(diagnostics: Iterable[Diagnostic]) -> list[Problem]:
    """The errors and warnings of some diagnostics."""
    return [
        _problem(found.subject, f"{found.rule} {found.reason}: {found.message}", *found.related)
        for found in diagnostics
        if found.severity != "info"
    ]


def claims(sentence: str) -> tuple[Claim, ...]:
    """What a sentence claims: one thing, or one of each object that it lists in brackets."""
    quoted, nature = tuple(_QUOTED.findall(sentence)), _nature(sentence)
    listed = _ENUMERATION.search(sentence)
    objects = sorted(_named(listed[1])) if listed else []
    if len(objects) > 1:
        return tuple(Claim(frozenset({name}), nature, quoted) for name in objects)
    return (Claim(_named(sentence), nature, quoted),)


def _problem(subject: ObjectRef | None, words: str, *related: ObjectRef) -> Problem:
    named = [str(ref) for ref in (subject, *related) if ref]
    return Problem(subject, _named(words).union(named), words)


def _named(sentence: str) -> frozenset[str]:
    return frozenset(f"{kind} {name}" for kind, name in _OBJECT.findall(sentence) if _is_name(kind, name))


def _is_name(kind: str, name: str) -> bool:
    """Whether a word after a kind is a name: in prose ("Gateway has ...") it mostly is none."""
    return "/" in name or "-" in name or kind in {"Namespace", "GatewayClass"}


def _nature(sentence: str) -> str:
    return next((nature for nature, words in _NATURES.items() if any(word in sentence for word in words)), "")


def _conditions(analysis: Analysis, node: NodeRef) -> Iterator[Condition]:
    """The conditions that a controller would report on a node of the hierarchy."""
    topology, kind = analysis.topology, node.object.kind
    if analysis.index.get(node.object) is None:
        return
    if kind == "Gateway" and not node.section:
        yield from gateway_conditions(topology.gateways, node.object)
    elif kind in {"ListenerSet", "XListenerSet"} and not node.section:
        yield from listener_set_conditions(topology.gateways, node.object)
    elif kind in {"Gateway", "ListenerSet", "XListenerSet"}:
        yield from listener_conditions(topology.gateways, node)
    else:
        for position in sorted({binding.parent_index for binding in topology.bindings(node.object)}):
            yield from () if node.section else route_conditions(topology, node.object, position)
