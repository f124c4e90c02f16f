"""Answers as versioned documents: what the text says, under the same names, as values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.render.output.parts import (
    API_VERSION,
    condition_data,
    event_data,
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
from kubectl_policy.render.words.headlines import headline
from kubectl_policy.render.words.which_paths import WhichPaths

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.questions.describe.objects import NotApplying, ObjectDescription
    from kubectl_policy.questions.describe.policies import FieldOutcome, PolicyDescription
    from kubectl_policy.questions.predicted.policies import AncestorStatus, PolicyCondition
    from kubectl_policy.questions.shared.in_force import InForce, Setting
    from kubectl_policy.resolution import Fate


def object_document(answer: ObjectDescription) -> dict[str, Json]:
    """The answer as plain mappings, lists and scalars, as `schemas/v1alpha1.json` describes them.

    Paths are numbered from 1; everything else refers to them by number. Nothing is cut and nothing is left out.
    """
    which = WhichPaths(answer.paths)
    return {
        "apiVersion": API_VERSION,
        "kind": "ObjectDescription",
        "headline": headline(answer),
        "complete": not answer.unseen,
        "subject": node_data(answer.subject),
        "origin": origin_data(answer.origin),
        "policies": objects_data(answer.policies),
        "attached": objects_data(answer.attached),
        "targetedBy": [kind_data(kind) for kind in answer.targeted_by],
        "paths": paths_data(answer.paths),
        "carriesTraffic": answer.carries_traffic,
        "inForce": [_in_force(group, which) for group in answer.in_force],
        "notApplying": [_not_applying(found) for found in answer.not_applying],
        "expected": [_condition(condition) for condition in answer.expected],
        "reported": [condition_data(condition) for condition in answer.reported],
        "events": [event_data(event) for event in answer.events],
        "unseen": [unseen_data(thing) for thing in answer.unseen],
        "problems": [problem_data(diagnostic) for diagnostic in answer.diagnostics],
    }


def policy_document(answer: PolicyDescription) -> dict[str, Json]:
    """The answer about a policy; see `object_document`."""
    return {
        "apiVersion": API_VERSION,
        "kind": "PolicyDescription",
        "headline": headline(answer),
        "complete": not answer.unseen,
        "policy": object_data(answer.policy),
        "origin": origin_data(answer.origin),
        "class": answer.profile.policy_class,
        "knownBy": answer.profile.known_by,
        "strategies": [strategy.value for strategy in answer.strategies],
        "targets": [target_data(attachment) for attachment in answer.attachments],
        "enforcement": {"state": answer.enforcement.state, "by": objects_data(answer.enforcement.by)},
        "paths": paths_data(answer.paths),
        "affected": [node_data(node) for node in answer.affected],
        "fields": [_field(field) for field in answer.fields],
        "assumed": list(answer.profile.assumed),
        "doubts": list(answer.doubts),
        "expected": [_expected(place) for place in answer.expected],
        "reported": [condition_data(condition) for condition in answer.reported],
        "events": [event_data(event) for event in answer.events],
        "unseen": [unseen_data(thing) for thing in answer.unseen],
        "problems": [problem_data(diagnostic) for diagnostic in answer.diagnostics],
    }


def _expected(place: AncestorStatus) -> dict[str, Json]:
    return {
        "place": node_data(place.ancestor) if place.ancestor else None,
        "conditions": [_condition(condition) for condition in place.conditions],
    }


def _condition(condition: PolicyCondition) -> dict[str, Json]:
    return {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "related": [node_data(node) for node in condition.related],
    }


def _in_force(group: InForce, which: WhichPaths) -> dict[str, Json]:
    return {
        "policyKind": kind_data(group.kind),
        "class": group.profile.policy_class,
        "knownBy": group.profile.known_by,
        "strategies": [strategy.value for strategy in group.strategies],
        "policies": objects_data(group.policies),
        "paths": numbers_data(group.paths),
        "scope": which.words(group.paths),
        "at": [node_data(node) for node in group.at],
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
        "source": source_data(setting.source),
        "insteadOf": [_fate(fate) for fate in setting.beaten],
    }


def _fate(fate: Fate) -> dict[str, Json]:
    return {
        "field": fate.field,
        "value": plain_json(fate.value),
        "source": source_data(fate.source),
        "state": fate.state,
        "supersededBy": [source_data(source) for source in fate.superseded_by],
    }


def _field(field: FieldOutcome) -> dict[str, Json]:
    return {
        "field": field.field,
        "value": plain_json(field.value),
        "source": source_data(field.source),
        "effectiveOn": numbers_data(field.effective_on),
        "superseded": [{"by": source_data(beater), "paths": numbers_data(where)} for beater, where in field.superseded],
        "rejected": field.rejected,
        "unheededOn": numbers_data(field.ignored_on),
    }


def _not_applying(found: NotApplying) -> dict[str, Json]:
    return {
        "policy": object_data(found.policy) if found.policy else None,
        "target": node_data(found.target) if found.target else None,
        "message": found.message,
        "reason": found.reason,
    }
