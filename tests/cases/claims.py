"""Compare sentences about problems by substance: the objects that they name, and the nature of the problem."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from kubectl_policy import Analysis, Diagnostic, NodeRef, ObjectRef
from kubectl_policy.topology import (
    Condition,
    gateway_conditions,
    listener_conditions,
    listener_set_conditions,
    route_conditions,
)
from kubectl_policy.topology.references import parent_refs

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
    """One problem that this project reports."""

    # The object that it is about.
    subject: ObjectRef | None
    # Every object that it names.
    objects: frozenset[str]
    words: str


class Claim(NamedTuple):
    """One problem that a sentence claims."""

    objects: frozenset[str]
    nature: str
    quoted: tuple[str, ...]

    def fits(self, problem: Problem) -> bool:
        """Whether a problem is of the same nature and names all that the sentence names."""
        named = self.objects <= problem.objects and all(word in problem.words for word in self.quoted)
        return bool(self.nature) and named and _nature(problem.words) == self.nature


def problems(analysis: Analysis) -> tuple[Problem, ...]:
    """Return every error and warning: diagnostics, parents that refuse a route, and conditions that would be False."""
    reported = problems_in(analysis.diagnostics)
    for node in analysis.topology.nodes:
        reported += [
            _problem(node.object, f"{condition.type}: {condition.reason}: {condition.message}")
            for condition in _conditions(analysis, node)
            if condition.status == ("True" if condition.type == "Conflicted" else "False")
        ]
    return tuple(dict.fromkeys(reported))


def problems_in(diagnostics: Iterable[Diagnostic]) -> list[Problem]:
    """Return the errors and warnings of some diagnostics."""
    return [
        _problem(problem.subject, f"{problem.rule} {problem.reason}: {problem.message}", *problem.related)
        for problem in diagnostics
        if problem.severity != "info"
    ]


def claims(sentence: str) -> tuple[Claim, ...]:
    """Return the claims of a sentence: one, or one per object if it lists several in brackets."""
    quoted, nature = tuple(_QUOTED.findall(sentence)), _nature(sentence)
    listed = _ENUMERATION.search(sentence)
    objects = sorted(_named(listed[1])) if listed else []
    if len(objects) > 1:
        return tuple(Claim(frozenset({name}), nature, quoted) for name in objects)
    return (Claim(_named(sentence), nature, quoted),)


def _problem(subject: ObjectRef | None, text: str, *related: ObjectRef) -> Problem:
    named = [str(ref) for ref in (subject, *related) if ref]
    return Problem(subject, _named(text).union(named), text)


def _named(sentence: str) -> frozenset[str]:
    return frozenset(f"{kind} {name}" for kind, name in _OBJECT.findall(sentence) if _is_name(kind, name))


def _is_name(kind: str, name: str) -> bool:
    """Whether a word after a kind is a name: in prose ("Gateway has ...") it mostly is none."""
    return "/" in name or "-" in name or kind in {"Namespace", "GatewayClass"}


def _nature(sentence: str) -> str:
    return next((nature for nature, signs in _NATURES.items() if any(sign in sentence for sign in signs)), "")


def _conditions(analysis: Analysis, node: NodeRef) -> Iterator[Condition]:
    """Yield the conditions that a controller would report on a node of the hierarchy."""
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
        for parent in () if node.section else parent_refs(topology.index, node.object):
            yield from route_conditions(topology, node.object, parent.position)
