"""What objects say of themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.questions.reported import ReportedCondition, reported_conditions
from tests.build import resource

if TYPE_CHECKING:
    from kubectl_policy.model import Json


def test_nothing_is_reported_without_a_status() -> None:
    """Nor with one of another shape."""
    assert reported_conditions({}) == ()
    assert reported_conditions({"status": "fine"}) == ()
    assert reported_conditions({"status": {"conditions": [3], "parents": "x", "listeners": [None]}}) == ()


def test_every_condition_tells_what_it_is_about() -> None:
    """The object itself, a parent, an ancestor, a listener; one from before the present generation is stale."""
    accepted: dict[str, Json] = {"type": "Accepted", "status": "True", "reason": "Accepted", "message": "ok"}
    parent: dict[str, Json] = {
        "parentRef": {"name": "g", "namespace": "infra", "sectionName": "http"},
        "controllerName": "c",
    }
    ancestor: dict[str, Json] = {"ancestorRef": {"kind": "Service", "name": "s"}, "controllerName": "c"}
    route = resource(
        "HTTPRoute",
        "r",
        status={
            "conditions": [{**accepted, "observedGeneration": 1}],
            "parents": [{**parent, "conditions": [{**accepted, "observedGeneration": 2}]}],
            "ancestors": [{**ancestor, "conditions": [accepted]}],
            "listeners": [{"name": "http", "conditions": [accepted]}],
        },
    )
    raw = {**route.raw, "metadata": {"generation": 2}}
    assert reported_conditions(raw) == tuple(
        ReportedCondition("Accepted", "True", "Accepted", "ok", about, controller, stale)
        for about, controller, stale in (
            ("", "", True),
            ("Gateway infra/g#http", "c", False),
            ("Service s", "c", False),
            ("listener http", "", False),
        )
    )
