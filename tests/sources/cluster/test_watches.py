"""Watches: which are opened for what was read of a cluster, their events, and how they end."""

import time
from collections.abc import Iterator, Mapping
from itertools import islice
from threading import Timer
from typing import Any, Final

import pytest

from kubectl_policy.model import GroupKind, Json, ObjectRef
from kubectl_policy.model.fields import text_at
from kubectl_policy.model.kind_roles import NAMESPACE, SERVICE
from kubectl_policy.sources.cluster.connection import METADATA, Connection
from kubectl_policy.sources.cluster.discovery import Served
from kubectl_policy.sources.cluster.request_failures import RequestFailed
from kubectl_policy.sources.cluster.responses import Watch
from kubectl_policy.sources.cluster.watches import ReadVersions, watch_scopes
from kubectl_policy.sources.cluster.world import EVENT, Query
from tests.sources.cluster import faults
from tests.sources.cluster.faults import Fault
from tests.sources.cluster.faulty import FaultyServer
from tests.sources.cluster.reaching import reaching

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


def service_query(name: str, namespace: str = "app") -> Query:
    return Query(SERVICE, namespace, name)


def events_about(kind: str) -> Query:
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
    assert scopes({Query(SERVICE, "app"): "7", Query(SERVICE, "web"): "8", service_query("a"): "3"}) == {
        (IN_APP, ""): "7",
        ("/api/v1/namespaces/web/services", ""): "8",
    }


def test_a_single_object_is_watched_alone() -> None:
    assert scopes({service_query("a"): "3"}) == {(IN_APP, "metadata.name=a"): {("app", "a"): "3"}}
    assert scopes({Query(NAMESPACE, "", "app"): ""}) == {("/api/v1/namespaces", "metadata.name=app"): {("", "app"): ""}}


def test_several_objects_of_a_kind_have_one_watch() -> None:
    assert scopes({service_query("a"): "3", service_query("b"): "4"}) == {
        (IN_APP, ""): {("app", "a"): "3", ("app", "b"): "4"}
    }
    assert scopes({service_query("a"): "3", service_query("b", "web"): "4"}) == {
        (SERVICES, ""): {("app", "a"): "3", ("web", "b"): "4"}
    }


def test_events_about_an_object_are_selected() -> None:
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
    assert ReadVersions(objects={("app", "a"): "3", ("app", "absent"): ""}).is_outdated_by(changed) is is_change
    assert ReadVersions("1").is_outdated_by(changed)


PATH = "/api/v1/namespaces/baker/services"


def service(name: str, namespace: str = "baker") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace}}


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer([service("a")]) as running:
        yield running


def watched(server: FaultyServer, version: str = "1000", path: str = PATH) -> Watch:
    return Connection(reaching(server), timeout=2).watch(path, {"resourceVersion": version})


def name_of(changed: Mapping[str, Json]) -> str:
    return text_at(changed, "metadata.name")


def test_changes_are_told_as_they_happen(server: FaultyServer) -> None:
    """Those of one namespace, or of all; the next watch begins after them."""
    watch = watched(server)
    events = iter(watch)
    server.change("ADDED", service("b"))
    assert name_of(next(events)) == "b"
    server.change("MODIFIED", service("c", "elsewhere"))
    server.change("DELETED", service("a"))
    assert name_of(next(events)) == "a"
    assert watch.resource_version == "1003"
    watch.close()
    assert [*events] == []
    every = watched(server, "1001", "/api/v1/services")
    assert [*map(name_of, islice(every, 2))] == ["c", "a"]
    every.close()


def test_nothing_limits_a_watch_but_its_beginning(server: FaultyServer) -> None:
    """It goes on after the deadline of what else is asked, and begins after it."""
    connection = Connection(reaching(server), timeout=0.2)
    time.sleep(0.25)
    watch = connection.watch(PATH, {"resourceVersion": "1000"})
    later = Timer(0.3, server.change, ("ADDED", service("b")))
    later.start()
    assert [*map(name_of, islice(watch, 1))] == ["b"]
    later.join()
    server.fault(PATH, faults.silence)
    start = time.monotonic()
    with pytest.raises(RequestFailed, match="no answer within --request-timeout"):
        connection.watch(PATH, {})
    assert time.monotonic() - start < 0.6


def test_another_thread_can_end_it(server: FaultyServer) -> None:
    watch = watched(server)
    closing = Timer(0.1, watch.close)
    closing.start()
    assert [*watch] == []
    closing.join()
    watch.close()


def test_what_is_too_old_is_gone(server: FaultyServer) -> None:
    """It is told in an event, or by the status; also after the deadline."""
    server.oldest = 1_500
    with pytest.raises(RequestFailed, match="gone") as caught:
        next(iter(watched(server)))
    assert (caught.value.status, caught.value.message) == (410, "too old resource version")
    server.fault(PATH, faults.status(410))
    connection = Connection(reaching(server), timeout=0.2)
    time.sleep(0.25)
    with pytest.raises(RequestFailed, match="gone"):
        connection.watch(PATH, {})


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (faults.cut_within_chunks, "the answer was cut off"),
        (faults.raw(b"nothing\n"), "the server sent an event that is not JSON"),
        (faults.raw(b'{"type": "ERROR", "object": {"code": 403}}\n'), "forbidden"),
        (faults.status(403), "forbidden"),
        (faults.redirect("http://elsewhere.example"), "the server redirects elsewhere"),
        (faults.cut, "the connection was cut"),
    ],
)
def test_what_goes_wrong_is_a_refusal(server: FaultyServer, fault: Fault, reason: str) -> None:
    server.fault(PATH, fault)
    with pytest.raises(RequestFailed, match=reason):
        _ = [*watched(server)]


@pytest.mark.parametrize(
    ("line", "version"),
    [
        *((line, "1000") for line in (b"", b"[]", b"1", b"{}", b'{"type": "BOOKMARK"}', b'{"type": "A", "object": 1}')),
        (b'{"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "7"}}}', "7"),
    ],
)
def test_what_is_no_change_is_not_told(server: FaultyServer, line: bytes, version: str) -> None:
    """A bookmark moves on, and says no more than that."""
    server.fault(PATH, faults.raw(line + b"\n\n"))
    watch = watched(server)
    assert ([*watch], watch.resource_version) == ([], version)


def test_of_secrets_metadata_alone_is_watched(server: FaultyServer) -> None:
    path = "/api/v1/secrets"
    with pytest.raises(ValueError, match="nothing but metadata"):
        watched(server, path=path)
    server.fault(path, faults.raw(b'{"type": "ADDED", "object": {"kind": "Secret", "data": {"key": "c2VjcmV0"}}}\n'))
    with pytest.raises(RequestFailed, match="does not give the metadata of Secrets alone"):
        _ = [*Connection(reaching(server)).watch(path, {}, METADATA)]
