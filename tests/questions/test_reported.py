"""What objects say of themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.questions.shared.reported import ReportedCondition, has_report, reported_conditions, reported_places
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
        ReportedCondition(
            type="Accepted",
            status="True",
            reason="Accepted",
            message="ok",
            about=about,
            controller=controller,
            stale=stale,
            seen=seen,
        )
        for about, controller, stale, seen in (
            ("", "", True, 1),
            ("Gateway infra/g#http", "c", False, 2),
            ("Service s", "c", False, None),
            ("listener http", "", False, None),
        )
    )


def test_the_places_of_a_status_keep_who_wrote_them_and_what_they_are_about() -> None:
    """The object's own place is always the first one, also if it says nothing."""
    entry: dict[str, Json] = {"ancestorRef": {"name": "g"}, "controllerName": "c", "conditions": "none"}
    own, ancestor = reported_places({"status": {"ancestors": [entry, 7]}})
    assert (own.sort, own.controller, own.conditions) == ("object", "", ())
    assert (ancestor.sort, ancestor.controller, ancestor.conditions) == ("ancestor", "c", ())
    assert ancestor.reference == {"name": "g"}


def test_a_status_without_a_word_is_no_report() -> None:
    """As in manifests; an entry that holds no conditions is one, because somebody has written it."""
    silent: tuple[Json, ...] = (
        {},
        "fine",
        {"conditions": []},
        {"ancestors": [7], "conditions": "x"},
        {"observedGeneration": 1},
    )
    for status in silent:
        assert not has_report({"status": status})
    assert has_report({"status": {"conditions": [{}]}})
    assert has_report({"status": {"ancestors": [{}]}})


def test_a_generation_may_stand_beside_the_conditions() -> None:
    """For all of them that have none of their own; those of entries have other writers."""
    entry: Json = {"ancestorRef": {"name": "g"}, "conditions": [{"type": "A"}]}
    status: Json = {
        "observedGeneration": 1,
        "conditions": [{"type": "A"}, {"type": "B", "observedGeneration": 2}],
        "ancestors": [entry],
    }
    found = reported_conditions({"metadata": {"generation": 2}, "status": status})
    assert [(one.type, one.seen, one.stale) for one in found] == [("A", 1, True), ("B", 2, False), ("A", None, False)]
