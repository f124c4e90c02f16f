"""Which watches are opened for what was read of a cluster, and which events are changes to that."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy.model import GroupKind, ObjectRef
from kubectl_policy.model.kind_roles import NAMESPACE, SERVICE
from kubectl_policy.sources.cluster.discovery import Served
from kubectl_policy.sources.cluster.watches import ReadVersions, watch_scopes
from kubectl_policy.sources.cluster.world import EVENT, Query

POLICY: Final = GroupKind("example.com", "ColorPolicy")
SERVED: Final = {
    kind: Served(kind.group, "v1", kind.kind, plural, namespaced)
    for kind, plural, namespaced in (
        (NAMESPACE, "namespaces", False),
        (SERVICE, "services", True),
        (EVENT, "events", True),
        (POLICY, "colorpolicies", True),
    )
}
SERVICES: Final = "/api/v1/services"
IN_APP: Final = "/api/v1/namespaces/app/services"
POLICIES: Final = "/apis/example.com/v1/colorpolicies"


def service(name: str, namespace: str = "app") -> Query:
    """A query for a Service."""
    return Query(SERVICE, namespace, name)


def events_about(kind: str) -> Query:
    """A query for the Events about an object."""
    return Query(EVENT, "app", involved=ObjectRef(GroupKind("", kind), "app", "x"))


def scopes(versions: dict[Query, str]) -> dict[tuple[str, str], str | dict[tuple[str, str], str]]:
    """The paths and selectors that are watched, each with the version of its list, or those of its objects."""
    found = watch_scopes(versions, SERVED)
    return {
        (scope.path, scope.selector): read.listed if read.objects is None else dict(read.objects)
        for scope, read in found.items()
    }


def test_a_list_has_one_watch() -> None:
    """From its version on, also for objects of the kind that were read by name."""
    assert scopes({Query(POLICY, "app", "a"): "3", Query(POLICY): "7", Query(POLICY, "app"): "8"}) == {
        (POLICIES, ""): "7"
    }


def test_a_kind_that_may_not_be_listed_everywhere_has_a_watch_in_each_namespace() -> None:
    """There is no other way to watch it."""
    assert scopes({Query(SERVICE, "app"): "7", Query(SERVICE, "web"): "8", service("a"): "3"}) == {
        (IN_APP, ""): "7",
        ("/api/v1/namespaces/web/services", ""): "8",
    }


def test_a_single_object_is_watched_alone() -> None:
    """Also one that is absent."""
    assert scopes({service("a"): "3"}) == {(IN_APP, "metadata.name=a"): {("app", "a"): "3"}}
    assert scopes({Query(NAMESPACE, "", "app"): ""}) == {("/api/v1/namespaces", "metadata.name=app"): {("", "app"): ""}}


def test_several_objects_of_a_kind_have_one_watch() -> None:
    """In their namespace, or in all of them."""
    assert scopes({service("a"): "3", service("b"): "4"}) == {(IN_APP, ""): {("app", "a"): "3", ("app", "b"): "4"}}
    assert scopes({service("a"): "3", service("b", "web"): "4"}) == {
        (SERVICES, ""): {("app", "a"): "3", ("web", "b"): "4"}
    }


def test_events_about_an_object_are_selected() -> None:
    """About several objects, all that are not about workloads."""
    path = "/api/v1/namespaces/app/events"
    assert scopes({events_about("Service"): "7"}) == {(path, "involvedObject.kind=Service,involvedObject.name=x"): "7"}
    ((scope, selector),) = scopes({events_about("Service"): "7", events_about("Secret"): "8"})
    assert scope == path
    assert selector.startswith("involvedObject.kind!=Pod,")


@pytest.mark.parametrize(
    ("name", "version", "is_change"),
    [("a", "3", False), ("a", "4", True), ("absent", "5", True), ("unread", "9", False)],
)
def test_which_events_are_changes(name: str, version: str, is_change: bool) -> None:  # noqa: FBT001 (a row of a table)
    """A server begins with the objects that there are, and tells of others; of a list, every event counts."""
    metadata = {"namespace": "app", "name": name, "resourceVersion": version}
    changed = {"metadata": metadata}
    read = ReadVersions(objects={("app", "a"): "3", ("app", "absent"): ""})
    assert read.is_outdated_by(changed) is is_change
    assert ReadVersions("1").is_outdated_by(changed)
