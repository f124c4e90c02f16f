"""Answers as versioned documents: what the text says, under the same names, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Final

from kubectl_policy.questions.describe_policy import PolicyDescription
from kubectl_policy.render.headline import headline
from kubectl_policy.render.scope import scope_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import Diagnostic, GroupKind, Json, NodeRef, ObjectRef, Origin
    from kubectl_policy.questions.describe import ObjectDescription
    from kubectl_policy.questions.describe_policy import FieldOutcome
    from kubectl_policy.questions.in_force import InForce, Setting
    from kubectl_policy.questions.not_applying import NotApplying
    from kubectl_policy.questions.reported import ReportedCondition
    from kubectl_policy.questions.unseen import Unseen
    from kubectl_policy.resolution import Fate, Source
    from kubectl_policy.topology import Path

# A group of our own, which no API server serves and no domain name claims.
API_VERSION: Final = "policy.kubectl/v1alpha1"


def document(answer: ObjectDescription | PolicyDescription) -> dict[str, Json]:
    """The answer as plain mappings, lists and scalars, as `schemas/v1alpha1.json` describes them.

    Paths are numbered from 1; everything else refers to them by number. Nothing is cut and nothing is left out.
    """
    return _policy(answer) if isinstance(answer, PolicyDescription) else _object(answer)


def _object(answer: ObjectDescription) -> dict[str, Json]:
    return {
        "apiVersion": API_VERSION,
        "kind": "ObjectDescription",
        "headline": headline(answer),
        "complete": not answer.unseen,
        "subject": _node(answer.subject),
        "origin": _origin(answer.origin),
        "policies": _objects(answer.policies),
        "attached": _objects(answer.attached),
        "targetedBy": [_kind(kind) for kind in answer.targeted_by],
        "paths": _paths(answer.paths),
        "carriesTraffic": answer.carries_traffic,
        "inForce": [_in_force(group, answer.paths) for group in answer.in_force],
        "notApplying": [_not_applying(found) for found in answer.not_applying],
        "reported": [_reported(condition) for condition in answer.reported],
        "unseen": [_unseen(thing) for thing in answer.unseen],
        "problems": [_problem(diagnostic) for diagnostic in answer.diagnostics],
    }


def _policy(answer: PolicyDescription) -> dict[str, Json]:
    return {
        "apiVersion": API_VERSION,
        "kind": "PolicyDescription",
        "headline": headline(answer),
        "complete": not answer.unseen,
        "policy": _ref(answer.policy),
        "origin": _origin(answer.origin),
        "class": answer.profile.policy_class,
        "knownBy": answer.profile.known_by,
        "strategies": [strategy.value for strategy in answer.strategies],
        "targets": [_attachment(attachment) for attachment in answer.attachments],
        "enforcement": {"state": answer.enforcement.state, "by": _objects(answer.enforcement.by)},
        "paths": _paths(answer.paths),
        "affected": [_node(node) for node in answer.affected],
        "fields": [_field(field) for field in answer.fields],
        "assumed": list(answer.profile.assumed),
        "doubts": list(answer.doubts),
        "reported": [_reported(condition) for condition in answer.reported],
        "unseen": [_unseen(thing) for thing in answer.unseen],
        "problems": [_problem(diagnostic) for diagnostic in answer.diagnostics],
    }


def _kind(kind: GroupKind) -> dict[str, Json]:
    return {"group": kind.group, "kind": kind.kind}


def _ref(ref: ObjectRef) -> dict[str, Json]:
    return {**_kind(ref.group_kind), "namespace": ref.namespace, "name": ref.name}


def _node(node: NodeRef) -> dict[str, Json]:
    return {**_ref(node.object), "section": node.section}


def _objects(refs: Iterable[ObjectRef]) -> list[Json]:
    return [_ref(ref) for ref in refs]


def _origin(origin: Origin | None) -> dict[str, Json] | None:
    return {"source": origin.source, "line": origin.line} if origin else None


def _source(source: Source) -> dict[str, Json]:
    return {"object": _ref(source.object), "target": _node(source.target), "overrides": source.overrides}


def _paths(paths: Iterable[Path]) -> list[Json]:
    return [{"number": number, "nodes": [_node(node) for node in path]} for number, path in enumerate(paths, 1)]


def _numbers(positions: Iterable[int]) -> list[Json]:
    return [position + 1 for position in positions]


def _in_force(group: InForce, paths: Sequence[Path]) -> dict[str, Json]:
    return {
        "policyKind": _kind(group.kind),
        "class": group.profile.policy_class,
        "knownBy": group.profile.known_by,
        "strategies": [strategy.value for strategy in group.strategies],
        "policies": _objects(group.policies),
        "paths": _numbers(group.paths),
        "scope": scope_of(group.paths, paths).words,
        "at": [_node(node) for node in group.at],
        "passesDown": group.passes_down,
        "settings": [_setting(setting) for setting in group.settings],
        "withoutEffect": [_fate(fate) for fate in group.beaten],
        "assumed": list(group.assumed),
        "doubts": list(group.doubts),
    }


def _setting(setting: Setting) -> dict[str, Json]:
    return {
        "field": setting.field,
        "value": plain_json(setting.value),
        "removed": setting.removed,
        "source": _source(setting.source),
        "insteadOf": [_fate(fate) for fate in setting.beaten],
    }


def _fate(fate: Fate) -> dict[str, Json]:
    return {
        "field": fate.field,
        "value": plain_json(fate.value),
        "source": _source(fate.source),
        "state": fate.state,
        "supersededBy": [_source(source) for source in fate.superseded_by],
    }


def _field(field: FieldOutcome) -> dict[str, Json]:
    return {
        "field": field.field,
        "value": plain_json(field.value),
        "source": _source(field.source),
        "effectiveOn": _numbers(field.effective_on),
        "superseded": [{"by": _source(beater), "paths": _numbers(where)} for beater, where in field.superseded],
        "rejected": field.rejected,
    }


def _attachment(attachment: Attachment) -> dict[str, Json]:
    return {
        "target": _node(attachment.target) if attachment.target else None,
        "declaredIn": attachment.declared.field,
        "state": attachment.state,
        "message": attachment.message,
        "virtual": attachment.virtual,
    }


def _not_applying(found: NotApplying) -> dict[str, Json]:
    return {
        "policy": _ref(found.policy) if found.policy else None,
        "target": _node(found.target) if found.target else None,
        "message": found.message,
        "reason": found.reason,
    }


def _reported(condition: ReportedCondition) -> dict[str, Json]:
    return {
        "about": condition.about,
        "controller": condition.controller,
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "stale": condition.stale,
    }


def _unseen(thing: Unseen) -> dict[str, Json]:
    return {"what": thing.what, "reason": thing.reason, "remedy": thing.remedy, "origin": _origin(thing.origin)}


def _problem(diagnostic: Diagnostic) -> dict[str, Json]:
    return {
        "rule": diagnostic.rule,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "reason": diagnostic.reason,
        "subject": _ref(diagnostic.subject) if diagnostic.subject else None,
        "field": diagnostic.field,
        "origin": _origin(diagnostic.origin),
        "related": _objects(diagnostic.related),
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
