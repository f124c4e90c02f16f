"""A watch tells what changes until it is closed, and says where the next one begins."""

from __future__ import annotations

import time
from itertools import islice
from threading import Timer
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_policy.model.fields import text_at
from kubectl_policy.sources.cluster.connection import METADATA, Connection
from kubectl_policy.sources.cluster.refusals import RequestRefused
from tests.sources.cluster import faults
from tests.sources.cluster.faulty import FaultyServer
from tests.sources.cluster.reaching import reaching

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.sources.cluster.responses import Watch
    from tests.sources.cluster.faults import Fault

PATH = "/api/v1/namespaces/baker/services"


def service(name: str, namespace: str = "baker") -> dict[str, Any]:
    """A Service."""
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace}}


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    """A server with a Service."""
    with FaultyServer([service("a")]) as running:
        yield running


def watched(server: FaultyServer, version: str = "1000", path: str = PATH) -> Watch:
    """A watch from a version on."""
    return Connection(reaching(server), timeout=2).watch(path, {"resourceVersion": version})


def name_of(changed: Mapping[str, Json]) -> str:
    """The name of an object that changed."""
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
    with pytest.raises(RequestRefused, match="no answer within --request-timeout"):
        connection.watch(PATH, {})
    assert time.monotonic() - start < 0.6


def test_another_thread_can_end_it(server: FaultyServer) -> None:
    """While nothing happens."""
    watch = watched(server)
    closing = Timer(0.1, watch.close)
    closing.start()
    assert [*watch] == []
    closing.join()
    watch.close()


def test_what_is_too_old_is_gone(server: FaultyServer) -> None:
    """It is told in an event, or by the status; also after the deadline."""
    server.oldest = 1_500
    with pytest.raises(RequestRefused, match="gone") as caught:
        next(iter(watched(server)))
    assert (caught.value.status, caught.value.message) == (410, "too old resource version")
    server.fault(PATH, faults.status(410))
    connection = Connection(reaching(server), timeout=0.2)
    time.sleep(0.25)
    with pytest.raises(RequestRefused, match="gone"):
        connection.watch(PATH, {})


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (faults.cut_within_chunks, "the answer was cut off"),
        (faults.raw(b"nothing\n"), "the server told an event that is no JSON"),
        (faults.raw(b'{"type": "ERROR", "object": {"code": 403}}\n'), "forbidden"),
        (faults.status(403), "forbidden"),
        (faults.redirect("http://elsewhere.example"), "the server redirects elsewhere"),
        (faults.cut, "the connection was cut"),
    ],
)
def test_what_goes_wrong_is_a_refusal(server: FaultyServer, fault: Fault, reason: str) -> None:
    """At the beginning and on the way."""
    server.fault(PATH, fault)
    with pytest.raises(RequestRefused, match=reason):
        _ = [*watched(server)]


@pytest.mark.parametrize("line", [b"", b"[]", b"1", b"{}", b'{"type": "BOOKMARK"}', b'{"type": "NEW", "object": 1}'])
def test_what_is_no_change_is_not_told(server: FaultyServer, line: bytes) -> None:
    """Whatever else a server may say."""
    server.fault(PATH, faults.raw(line + b"\n\n"))
    assert [*watched(server)] == []


def test_a_bookmark_moves_on(server: FaultyServer) -> None:
    """It says no more than the version."""
    server.fault(PATH, faults.raw(b'{"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "7"}}}\n'))
    watch = watched(server)
    assert [*watch] == []
    assert watch.resource_version == "7"


def test_of_secrets_metadata_alone_is_watched(server: FaultyServer) -> None:
    """As it alone is read."""
    path = "/api/v1/secrets"
    with pytest.raises(ValueError, match="nothing but metadata"):
        watched(server, path=path)
    server.fault(path, faults.raw(b'{"type": "ADDED", "object": {"kind": "Secret", "data": {"key": "c2VjcmV0"}}}\n'))
    with pytest.raises(RequestRefused, match="does not give the metadata of Secrets alone"):
        _ = [*Connection(reaching(server)).watch(path, {}, METADATA)]
