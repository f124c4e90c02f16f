"""Why a policy has no effect on an object, as a versioned document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.render.output.parts import (
    API_VERSION,
    node_data,
    numbers_data,
    object_data,
    origin_data,
    paths_data,
    plain_json,
    unseen_data,
)
from kubectl_policy.render.words.headlines import why_not_headline

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.questions.why_not.case import Reason
    from kubectl_policy.questions.why_not.edit import Edit, FieldEdit
    from kubectl_policy.questions.why_not.why_not import WhyNot


def why_not_document(answer: WhyNot) -> dict[str, Json]:
    """The answer as plain mappings, lists and scalars, as `schemas/v1alpha1.json` describes them. Nothing is cut."""
    return {
        "apiVersion": API_VERSION,
        "kind": "EffectExplanation",
        "headline": why_not_headline(answer),
        "complete": not answer.unseen,
        "policy": object_data(answer.policy),
        "origin": origin_data(answer.origin),
        "target": node_data(answer.target),
        "targetOrigin": origin_data(answer.target_origin),
        "hasEffect": bool(answer.in_force),
        "paths": paths_data(answer.paths),
        "carryingTraffic": numbers_data(answer.carrying),
        "effectiveOn": numbers_data(answer.in_force),
        "reasons": [_reason(reason) for reason in answer.reasons],
        "edit": {**_edit(answer.edit), "origin": origin_data(answer.edit_origin)} if answer.edit else None,
        "tried": answer.tried,
        "lost": [node_data(node) for node in answer.lost],
        "obstacle": answer.obstacle,
        "unseen": [unseen_data(thing) for thing in answer.unseen],
    }


def _reason(reason: Reason) -> dict[str, Json]:
    return {
        "rule": reason.rule,
        "message": reason.message,
        "reason": reason.api_reason,
        "object": object_data(reason.object),
        "field": reason.field,
        "origin": origin_data(reason.origin),
        "related": [node_data(node) for node in reason.related],
        "paths": numbers_data(reason.paths),
    }


def _edit(edit: Edit) -> dict[str, Json]:
    return {
        "action": edit.action,
        "object": object_data(edit.object),
        "changes": [_change(change) for change in edit.changes],
        "manifest": plain_json(edit.after.raw) if edit.after else None,
    }


def _change(change: FieldEdit) -> dict[str, Json]:
    return {
        "field": str(change.path),
        "path": [step for step in change.path.steps if isinstance(step, str | int)],
        "removed": [plain_json(value) for value in change.removed],
        "added": [plain_json(value) for value in change.added],
    }
