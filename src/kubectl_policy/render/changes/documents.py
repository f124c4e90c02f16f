"""What differs between two states, and what an object touches, as versioned documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.render.changes.words import blast_headline, diff_headline
from kubectl_policy.render.output.parts import (
    API_VERSION,
    kind_data,
    node_data,
    numbers_data,
    object_data,
    objects_data,
    origin_data,
    paths_data,
    plain_json,
    problem_data,
    source_data,
    target_data,
    unseen_data,
)
from kubectl_policy.render.words.paths import WhichPaths

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.model import Json, NodeRef
    from kubectl_policy.questions.changes.blast_radius import BlastRadius, ObjectCounts, PolicyReach
    from kubectl_policy.questions.changes.diff import StateDiff
    from kubectl_policy.questions.changes.effects import ChangedObject, EffectChange, EffectiveValue, FieldChange
    from kubectl_policy.questions.changes.relations import AttachmentChange, EnforcementChange, ParentChange


def diff_document(difference: StateDiff) -> dict[str, Json]:
    """The difference as plain mappings, lists and scalars, as `schemas/v1alpha1.json` describes them.

    The paths of each change are numbered from 1; its objects refer to them by number. Nothing is cut.
    """
    return {
        "apiVersion": API_VERSION,
        "kind": "PolicyDiff",
        "headline": diff_headline(difference),
        "complete": not difference.unseen,
        **_difference(difference),
        "unseen": [unseen_data(thing) for thing in difference.unseen],
    }


def blast_radius_document(answer: BlastRadius) -> dict[str, Json]:
    """What an object touches, and what deleting it changes, as `schemas/v1alpha1.json` describes it; nothing is cut."""
    difference, reach = answer.difference, answer.reach
    return {
        "apiVersion": API_VERSION,
        "kind": "BlastRadius",
        "headline": blast_headline(answer),
        "complete": not difference.unseen,
        "subject": object_data(answer.subject),
        "origin": origin_data(answer.origin),
        "policy": reach is not None,
        "changes": answer.changes,
        **_reach(reach),
        "withIt": objects_data(answer.deleted_with_it),
        "counts": _counts(answer.counts),
        "difference": _difference(difference),
        "unseen": [unseen_data(thing) for thing in difference.unseen],
    }


def _reach(reach: PolicyReach | None) -> dict[str, Json]:
    """What a policy touches; the same names with nothing in them for any other object."""
    if reach is None:
        return {"targets": [], "enforcement": None, "affected": [], "beaten": [], "idle": []}
    enforcement = reach.enforcement
    return {
        "targets": [target_data(attachment) for attachment in reach.attachments],
        "enforcement": {"state": enforcement.state, "by": objects_data(enforcement.by)},
        "affected": _nodes(reach.affected),
        "beaten": [{"objects": _nodes(found.objects), "by": objects_data(found.by)} for found in reach.superseded],
        "idle": [
            {"object": object_data(found.object), "message": found.message, "reason": found.reason}
            for found in reach.detached
        ],
    }


def _counts(found: ObjectCounts) -> dict[str, Json]:
    return {
        "total": found.total,
        "kinds": [{**kind_data(kind), "count": number} for kind, number in found.kinds],
        "namespaces": [{"namespace": name, "count": number} for name, number in found.namespaces],
        "ownerKey": found.owner_key,
        "owners": [{"owner": name, "count": number} for name, number in found.owners],
    }


def _difference(difference: StateDiff) -> dict[str, Json]:
    return {
        "created": objects_data(difference.created),
        "deleted": objects_data(difference.deleted),
        "updated": objects_data(difference.updated),
        "changes": difference.changes,
        "effects": [_effect(change) for change in difference.effects],
        "attachments": [_attachment(change) for change in difference.attachments],
        "parents": [_parent(change) for change in difference.parents],
        "cutOff": objects_data(difference.cut_off),
        "withoutClass": objects_data(difference.without_class),
        "enforcement": [_enforcement(change) for change in difference.enforcement],
        "problems": {
            "introduced": [problem_data(found) for found in difference.problems.introduced],
            "fixed": [problem_data(found) for found in difference.problems.fixed],
            "unchanged": [problem_data(found) for found in difference.problems.unchanged],
        },
    }


def _effect(change: EffectChange) -> dict[str, Json]:
    return {
        "policyKind": kind_data(change.kind),
        "sort": change.sort,
        "security": change.security,
        "where": change.where,
        "fromNothing": change.from_nothing,
        "toNothing": change.to_nothing,
        "fields": [_field(field) for field in change.fields],
        "paths": paths_data(change.paths),
        "objects": [_changed(changed) for changed in change.objects],
        "doubts": list(change.doubts),
    }


def _field(field: FieldChange) -> dict[str, Json]:
    return {
        "field": field.field,
        "sort": field.sort,
        "security": field.security,
        "before": _valued(field.before),
        "after": _valued(field.after),
    }


def _valued(valued: EffectiveValue | None) -> dict[str, Json] | None:
    if valued is None:
        return None
    return {"value": plain_json(valued.value), "removed": valued.removed, "source": source_data(valued.source)}


def _changed(changed: ChangedObject) -> dict[str, Json]:
    return {
        "object": node_data(changed.node),
        "paths": numbers_data(changed.paths),
        "scope": _scope(changed),
        "ofPaths": len(changed.all_paths) or None,
    }


def _scope(changed: ChangedObject) -> str:
    """Which of its paths a change is on, in words; empty if on all of them, as far as is known."""
    if not changed.all_paths:
        return ""
    where = WhichPaths(changed.all_paths).phrase(changed.affected_paths)
    # The numbers in a phrase would be those of paths that the document does not have.
    return f"{len(changed.affected_paths)} of {len(changed.all_paths)} paths" if where.numbered else where.words


def _attachment(change: AttachmentChange) -> dict[str, Json]:
    return {
        "policy": object_data(change.policy),
        "target": node_data(change.target),
        "before": change.before,
        "after": change.after,
        "message": change.message,
    }


def _parent(change: ParentChange) -> dict[str, Json]:
    return {
        "route": object_data(change.route),
        "parent": node_data(change.parent),
        "before": change.before,
        "after": change.after,
        "message": change.message,
    }


def _enforcement(change: EnforcementChange) -> dict[str, Json]:
    return {
        "policy": object_data(change.policy),
        "before": change.before,
        "after": change.after,
        "by": objects_data(change.by),
    }


def _nodes(nodes: Iterable[NodeRef]) -> list[Json]:
    return [node_data(node) for node in nodes]
