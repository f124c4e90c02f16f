"""What controllers said about an object, in its status and in Events."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kubectl_policy.model import Json, Resource
from kubectl_policy.questions.shared import reported
from tests import build
from tests.build import resource


def test_nothing_is_reported_without_a_status() -> None:
    assert reported.reported_conditions({}) == ()
    assert reported.reported_conditions({"status": "fine"}) == ()
    assert reported.reported_conditions({"status": {"conditions": [3], "parents": "x", "listeners": [None]}}) == ()


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
    assert reported.reported_conditions(raw) == tuple(
        reported.ReportedCondition(
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
    entry: dict[str, Json] = {"ancestorRef": {"name": "g"}, "controllerName": "c", "conditions": "none"}
    own, ancestor = reported.status_entries({"status": {"ancestors": [entry, 7]}})
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
        assert not reported.has_report({"status": status})
    assert reported.has_report({"status": {"conditions": [{}]}})
    assert reported.has_report({"status": {"ancestors": [{}]}})


def test_a_generation_may_stand_beside_the_conditions() -> None:
    entry: Json = {"ancestorRef": {"name": "g"}, "conditions": [{"type": "A"}]}
    status: Json = {
        "observedGeneration": 1,
        "conditions": [{"type": "A"}, {"type": "B", "observedGeneration": 2}],
        "ancestors": [entry],
    }
    found = reported.reported_conditions({"metadata": {"generation": 2}, "status": status})
    assert [(one.type, one.seen, one.stale) for one in found] == [("A", 1, True), ("B", 2, False), ("A", None, False)]


GATEWAY: dict[str, Json] = {
    "apiVersion": "gateway.networking.k8s.io/v1",
    "kind": "Gateway",
    "namespace": "default",
    "name": "g",
}


def event(name: str, about: Json = None, **fields: Json) -> Resource:
    """An Event of the core group, about Gateway `g` unless told otherwise."""
    found = build.resource("Event", name, group="")
    return replace(found, raw={**found.raw, "involvedObject": GATEWAY if about is None else about, **fields})


def messages(*resources: Resource, uid: str = "") -> list[str]:
    """What the Events about Gateway `g` say, in their order."""
    gateway = build.gateway("g")
    if uid:
        gateway = build.resource("Gateway", "g", metadata={"name": "g", "namespace": "default", "uid": uid})
    index = build.index(gateway, *resources)
    return [found.message for found in reported.reported_events(index, build.ref("Gateway", "g"))]


@pytest.mark.parametrize(
    "about",
    [
        {},
        "Gateway default/g",
        {**GATEWAY, "kind": "HTTPRoute"},
        {**GATEWAY, "name": "other"},
        {**GATEWAY, "name": ["g"]},
        {**GATEWAY, "namespace": "far"},
        {**GATEWAY, "apiVersion": "networking.istio.io/v1"},
        {**GATEWAY, "apiVersion": "v1"},
        {**GATEWAY, "uid": "of-one-that-was-deleted"},
    ],
)
def test_events_about_something_else_are_left_out(about: Json) -> None:
    assert messages(event("e", about, message="x"), uid="of-this-one") == []


@pytest.mark.parametrize(
    "about", [GATEWAY, {"kind": "Gateway", "name": "g"}, {**GATEWAY, "uid": ""}, {**GATEWAY, "uid": "of-this-one"}]
)
def test_what_an_event_leaves_out_does_not_matter(about: Json) -> None:
    assert messages(event("e", about, message="x"), uid="of-this-one") == ["x"]
    assert messages(event("e", about, message="x")) == ["x"]


def test_events_about_a_cluster_scoped_object_are_in_any_namespace() -> None:
    """An API server puts them into `default`."""
    about: Json = {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayClass", "name": "public"}
    index = build.index(build.gateway_class(), event("e", about, message="x"))
    assert [found.message for found in reported.reported_events(index, build.ref("GatewayClass", "public"))] == ["x"]


def test_the_newest_event_is_last() -> None:
    assert messages(
        event("a", message="third", lastTimestamp="2026-01-01T00:00:03Z", firstTimestamp="2025-01-01T00:00:00Z"),
        event("b", message="first", lastTimestamp="soon"),
        event("c", message="fourth", lastTimestamp=None, eventTime="2026-01-01T00:00:03.5Z"),
        event("d", message="second", firstTimestamp="2026-01-01T00:00:02Z"),
        event(
            "e", message="fifth", eventTime="2025-01-01T00:00:00Z", series={"lastObservedTime": "2026-02-01T00:00:00Z"}
        ),
    ) == ["first", "second", "third", "fourth", "fifth"]


def test_an_event_of_either_group_is_read() -> None:
    old = event(
        "e",
        type="Warning",
        reason="SYNC",
        message="no address",
        count=188,
        lastTimestamp="2026-01-01T00:00:00Z",
        source={"component": "controller"},
    )
    new = build.resource(
        "Event",
        "n",
        group="events.k8s.io",
        regarding=GATEWAY,
        type="Normal",
        reason="Ready",
        note="has an address",
        eventTime="2026-01-02T00:00:00.000000Z",
        series={"count": 2, "lastObservedTime": "2026-01-03T00:00:00.000000Z"},
        reportingController="example.com/controller",
    )
    again = build.resource("Event", "e", group="events.k8s.io", regarding=GATEWAY, note="no address")
    index = build.index(old, new)
    assert reported.reported_events(index, build.ref("Gateway", "g")) == (
        reported.ReportedEvent(
            type="Warning",
            reason="SYNC",
            from_="controller",
            message="no address",
            count=188,
            last="2026-01-01T00:00:00Z",
        ),
        reported.ReportedEvent(
            type="Normal",
            reason="Ready",
            from_="example.com/controller",
            message="has an address",
            count=2,
            last="2026-01-03T00:00:00.000000Z",
        ),
    )
    assert messages(old, again) == ["no address"]


def test_an_event_without_anything_is_an_empty_one() -> None:
    index = build.index(event("e", type=1, reason=[], message={}, count="many", source="x"))
    assert reported.reported_events(index, build.ref("Gateway", "g")) == (
        reported.ReportedEvent(type="", reason="", from_="", message="", count=1, last=""),
    )
