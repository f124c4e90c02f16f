"""The parts that documents share: names of things, references, and what was reported or could not be seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import Diagnostic, GroupKind, Json, NodeRef, ObjectRef, Origin
    from kubectl_policy.questions.shared.reported import ReportedCondition, ReportedEvent
    from kubectl_policy.questions.shared.unseen import Unseen
    from kubectl_policy.resolution import Source
    from kubectl_policy.topology import Path

# A group of our own, which no API server serves and no domain name claims.
API_VERSION: Final = "policy.kubectl/v1alpha1"


def kind_data(kind: GroupKind) -> dict[str, Json]:
    """A kind, without its version."""
    return {"group": kind.group, "kind": kind.kind}


def object_data(ref: ObjectRef) -> dict[str, Json]:
    """The name of an object."""
    return {**kind_data(ref.group_kind), "namespace": ref.namespace, "name": ref.name}


def node_data(node: NodeRef) -> dict[str, Json]:
    """The name of an object or of a section of it."""
    return {**object_data(node.object), "section": node.section}


def objects_data(refs: Iterable[ObjectRef]) -> list[Json]:
    """The names of objects."""
    return [object_data(ref) for ref in refs]


def origin_data(origin: Origin | None) -> dict[str, Json] | None:
    """Where an object was read; None if it was not read."""
    return {"source": origin.source, "line": origin.line} if origin else None


def paths_data(paths: Iterable[Path]) -> list[Json]:
    """Paths with their numbers, from 1."""
    return [{"number": number, "nodes": [node_data(node) for node in path]} for number, path in enumerate(paths, 1)]


def numbers_data(positions: Iterable[int]) -> list[Json]:
    """The numbers of paths at these positions."""
    return [position + 1 for position in positions]


def source_data(source: Source) -> dict[str, Json]:
    """Who set a value."""
    return {
        "object": object_data(source.object),
        "target": node_data(source.target),
        "overrides": source.overrides,
        "filter": source.filter,
    }


def target_data(attachment: Attachment) -> dict[str, Json]:
    """A target reference and what it comes to."""
    return {
        "target": node_data(attachment.target) if attachment.target else None,
        "declaredIn": attachment.declared.field,
        "namedBy": object_data(attachment.declared.named_by) if attachment.declared.named_by else None,
        "state": attachment.state,
        "message": attachment.message,
        "virtual": attachment.virtual,
    }


def condition_data(condition: ReportedCondition) -> dict[str, Json]:
    """A condition in a status."""
    return {
        "about": condition.about,
        "controller": condition.controller,
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "stale": condition.stale,
    }


def unseen_data(thing: Unseen) -> dict[str, Json]:
    """Something that could not be seen."""
    return {"what": thing.what, "reason": thing.reason, "remedy": thing.remedy, "origin": origin_data(thing.origin)}


def event_data(event: ReportedEvent) -> dict[str, Json]:
    """An Event about an object."""
    return {
        "type": event.type,
        "reason": event.reason,
        "from": event.source,
        "message": event.message,
        "count": event.count,
        "last": event.last,
    }


def problem_data(diagnostic: Diagnostic) -> dict[str, Json]:
    """What is wrong or uncertain, and where."""
    return {
        "rule": diagnostic.rule,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "reason": diagnostic.reason,
        "subject": object_data(diagnostic.subject) if diagnostic.subject else None,
        "field": diagnostic.field,
        "origin": origin_data(diagnostic.origin),
        "related": objects_data(diagnostic.related),
    }


def plain_json(value: Json) -> Json:
    """A value from the input as JSON has it: JSON knows no infinity, which a number of 400 digits is read as."""
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {key: plain_json(child) for key, child in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain_json(child) for child in value]
    return value
