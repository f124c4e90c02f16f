"""Computed conditions of fixture worlds, reported back: `status` agrees, and names every report that differs."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, TypeAlias

import pytest
from msgspec.structs import replace

from kubectl_policy import Analysis, InputOptions, NodeRef, ObjectRef, PolicyKindProfile, analyze, load_manifests
from kubectl_policy.questions.predicted_conditions import AncestorStatus, PolicyCondition, PolicyStatuses
from kubectl_policy.questions.shared.selection import Selection
from kubectl_policy.questions.status.report import StatusReport, status
from tests.worlds.test_fixtures import FIXTURES

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_policy.model import Json, Resource
    from kubectl_policy.questions.status.comparison import Verdict

    Place: TypeAlias = tuple[ObjectRef, NodeRef | None, str]

# Implementations that report in words of their own, each with the conditions that its world has.
WORLDS: Final = {
    "aws": 8,
    "azure": 8,
    "envoy-gateway": 15,
    "gke": 10,
    "kgateway": 36,
    "kuadrant": 16,
    "linkerd": 2,
    "nginx-gateway-fabric": 55,
}
# Younger than the controllers of some, who say nothing while all is well.
NOT_DUE: Final = {("ResolvedRefs", "True")}
OPPOSITE: Final = {"True": "False", "False": "True"}


@cache
def analyzed(world: str) -> Analysis:
    """The analysis of a fixture world, to which nothing else belongs."""
    return analyze(load_manifests([FIXTURES / world], options=InputOptions(complete=True)))


def honest(condition: PolicyCondition) -> dict[str, Json]:
    """A condition as it is computed."""
    return {"type": condition.type, "status": condition.status, "reason": condition.reason, "message": "said"}


def bent(condition: PolicyCondition) -> dict[str, Json]:
    return {**honest(condition), "status": OPPOSITE[condition.status]}


def hushed(condition: PolicyCondition) -> dict[str, Json]:
    """A condition of a type that nobody knows, in the place of the one that is computed."""
    return {**honest(condition), "type": "Unheard"}


def entry(
    analysis: Analysis, profile: PolicyKindProfile, place: AncestorStatus, said: Callable[[PolicyCondition], Json]
) -> dict[str, Json]:
    """An entry of `status.ancestors`, by the first of the kind's controllers."""
    assert place.ancestor
    obj = place.ancestor.object
    reference: dict[str, Json] = {"group": obj.group_kind.group, "kind": obj.group_kind.kind, "name": obj.name}
    if obj.namespace:
        reference["namespace"] = obj.namespace
    if place.ancestor.section:
        reference["sectionName"] = place.ancestor.section
    controllers = sorted(profile.controllers) or sorted(_accepted(analysis))
    conditions: list[Json] = [said(condition) for condition in place.conditions]
    return {"ancestorRef": reference, "controllerName": controllers[0], "conditions": conditions}


def _accepted(analysis: Analysis) -> set[str]:
    classes = (resource.raw["spec"] for resource in analysis.snapshot.resources if resource.ref.kind == "GatewayClass")
    return {str(spec["controllerName"]) for spec in classes if isinstance(spec, dict)}


def reporting(analysis: Analysis, policy: Resource, said: Callable[[PolicyCondition], Json]) -> Resource:
    """A policy with the status that its controllers would write, in their words or in others."""
    places = PolicyStatuses(analysis).of(policy.ref)
    profile = analysis.registry.profile(policy.ref.group_kind)
    ancestors: list[Json] = [entry(analysis, profile, place, said) for place in places if place.ancestor]
    own: list[Json] = [said(condition) for place in places if not place.ancestor for condition in place.conditions]
    return replace(policy, raw={**policy.raw, "status": {"ancestors": ancestors, "conditions": own}})


def compared(world: str, said: Callable[[PolicyCondition], Json]) -> StatusReport:
    """The comparison of a world in which the controllers said something on every policy."""
    analysis = analyzed(world)
    resources = tuple(
        reporting(analysis, resource, said) if resource.ref in analysis.attachments else resource
        for resource in analysis.snapshot.resources
    )
    reported = analyze(replace(analysis.snapshot, resources=resources))
    policies, filters = (status(reported, word, Selection()) for word in ("policies", "filters"))
    return replace(policies, items=(*policies.items, *filters.items))


def computed(world: str) -> dict[Place, str]:
    """Return the status of every computed condition of a world, by policy, ancestor and type."""
    analysis = analyzed(world)
    statuses = PolicyStatuses(analysis)
    return {
        (policy, place.ancestor, condition.type): condition.status
        for policy in analysis.attachments
        for place in statuses.of(policy)
        for condition in place.conditions
    }


def verdicts(report: StatusReport) -> dict[Place, Verdict]:
    return {(one.resource.ref, each.at, each.type): each.verdict for one, each in report.comparisons}


@pytest.mark.parametrize("world", WORLDS)
def test_controllers_that_say_what_is_computed_agree(world: str) -> None:
    """Condition for condition, and nothing is left over."""
    found = verdicts(compared(world, honest))
    assert found == dict.fromkeys(computed(world), "Agrees")
    assert len(found) == WORLDS[world]


@pytest.mark.parametrize("world", WORLDS)
def test_controllers_that_say_the_opposite_disagree(world: str) -> None:
    """Every one of their conditions is told, and which side says what."""
    expected, report = computed(world), compared(world, bent)
    assert verdicts(report) == dict.fromkeys(expected, "Differs")
    for one, each in report.comparisons:
        assert each.computed
        assert each.reported
        assert each.computed.status == expected[one.resource.ref, each.at, each.type]
        assert each.reported.status == OPPOSITE[each.computed.status]


@pytest.mark.parametrize("world", WORLDS)
def test_what_controllers_do_not_say_is_missed(world: str) -> None:
    found = verdicts(compared(world, hushed))
    missed = {place: verdict for place, verdict in found.items() if verdict != "UnknownType"}
    due = {place for place, said in computed(world).items() if (place[2], said) not in NOT_DUE}
    assert missed == dict.fromkeys(due, "NotReported")
