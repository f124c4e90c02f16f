"""Which of all problems concern one answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Diagnostic, NodeRef
    from kubectl_policy.topology import Path


def relevant_diagnostics(analysis: Analysis, subject: NodeRef, paths: tuple[Path, ...]) -> tuple[Diagnostic, ...]:
    """The subject's own problems, those of policies attached on its paths, and references of routes that miss it."""
    objects = dict.fromkeys([subject.object, *(node.object for path in paths for node in path)])
    policies = dict.fromkeys(a.policy for obj in objects for a in analysis.attachments_to(obj))
    about = [found for obj in (subject.object, *policies) for found in analysis.problems_of(obj)]
    relations = analysis.topology.relations
    naming = (*relations.routes_naming(subject.object), *relations.routes_forwarding_to(subject.object))
    missed = (found for route in naming for found in analysis.topology.missing_from(route))
    return tuple(dict.fromkeys([*about, *(found for found in missed if subject.object in found.related)]))
