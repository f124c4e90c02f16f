"""Which kinds a server serves: in few requests, from old servers as well, and from a file that may hold anything."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy.model.refs import GroupKind
from kubectl_policy.sources.cluster.connection import Connection
from kubectl_policy.sources.cluster.discovery import (
    EVERY_GROUP,
    Discovery,
    Served,
    cache_path,
    discover,
    read_cache,
    write_cache,
)
from kubectl_policy.sources.cluster.request_failures import RequestFailed
from tests.sources.cluster import faults
from tests.sources.cluster.faulty import FaultyServer, Kind
from tests.sources.cluster.reaching import reaching

GATEWAYS: Final = "gateway.networking.k8s.io"
KINDS: Final = (
    Kind("", "v1", "Namespace", "namespaces", namespaced=False, short_names=("ns",)),
    Kind("", "v1", "Service", "services", short_names=("svc",), categories=("all",)),
    Kind("", "v1", "Binding", "bindings", verbs=("create",)),
    Kind(GATEWAYS, "v1", "Gateway", "gateways", short_names=("gtw",), categories=("gateway-api",)),
    Kind(GATEWAYS, "v1", "HTTPRoute", "httproutes", categories=("gateway-api",)),
    Kind(GATEWAYS, "v1beta1", "Gateway", "gateways", short_names=("gtw",)),
    Kind(GATEWAYS, "v1beta1", "ReferenceGrant", "referencegrants", short_names=("refgrant",)),
    Kind("networking.istio.io", "v1", "Gateway", "gateways", short_names=("gw",)),
    Kind("example.io", "v1alpha1", "Gatewaylike", "gatewaylikes", short_names=("gtw", "gateways")),
    Kind("authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", verbs=("create",)),
)
RETRY_POLICY: Final = GroupKind("example.io", "RetryPolicy")
SERVER: Final = "https://10.0.0.1:6443"


@pytest.fixture(params=[False, True], ids=["new", "old"])
def server(request: pytest.FixtureRequest) -> Iterator[FaultyServer]:
    """A server of today, and one that is asked group by group."""
    with FaultyServer(kinds=KINDS, old=request.param) as running:
        yield running


@pytest.fixture
def new() -> Iterator[FaultyServer]:
    with FaultyServer(kinds=KINDS) as running:
        yield running


def found(server: FaultyServer, cache: Path) -> Discovery:
    return discover(Connection(reaching(server), timeout=5), server.url, str(cache))


def served(name: str = "gateways", kind: str = "Gateway") -> Served:
    return Served(GATEWAYS, "v1", kind, name, namespaced=True, short_names=("gtw",))


def test_kinds_are_in_their_preferred_version(server: FaultyServer, tmp_path: Path) -> None:
    """Or in the first one that has them; without what cannot be got and listed, and without subresources."""
    discovery = found(server, tmp_path)
    assert [f"{world.plural}.{world.version}.{world.group}" for world in discovery.kinds.values()] == [
        "namespaces.v1.",
        "services.v1.",
        f"gateways.v1.{GATEWAYS}",
        f"httproutes.v1.{GATEWAYS}",
        f"referencegrants.v1beta1.{GATEWAYS}",
        "gateways.v1.networking.istio.io",
        "gatewaylikes.v1alpha1.example.io",
    ]
    gateway = discovery.kinds[GroupKind(GATEWAYS, "Gateway")]
    assert (gateway.namespaced, gateway.short_names) == (True, ("gtw",))
    assert not discovery.kinds[GroupKind("", "Namespace")].namespaced
    assert not discovery.gaps


def test_two_requests_are_enough(new: FaultyServer, tmp_path: Path) -> None:
    """However many groups there are; what they answer is written down, so that the next time none is needed."""
    first = found(new, tmp_path)
    assert sorted(new.paths()) == ["/api", "/apis"]
    again = found(new, tmp_path)
    assert again.kinds == first.kinds
    assert len(new.requests) == 2
    assert (first.is_remembered, again.is_remembered) == (False, True)


def test_what_is_remembered_can_be_asked_again(new: FaultyServer, tmp_path: Path) -> None:
    """Once: a definition may be new, but not every minute."""
    found(new, tmp_path)
    new.kinds.append(Kind("example.io", "v1", "RetryPolicy", "retrypolicies"))
    old = found(new, tmp_path)
    fresh = old.refresh()
    assert RETRY_POLICY not in old.kinds
    assert fresh.kinds[RETRY_POLICY].version == "v1"
    assert fresh.refresh() is fresh
    assert len(new.requests) == 4
    assert RETRY_POLICY in found(new, tmp_path).kinds


def test_paths() -> None:
    """Names are quoted, and those of a kind without namespaces are not in one."""
    gateway = served()
    assert gateway.path() == f"/apis/{GATEWAYS}/v1/gateways"
    assert gateway.path("baker", "a/b") == f"/apis/{GATEWAYS}/v1/namespaces/baker/gateways/a%2Fb"
    assert Served("", "v1", "Node", "nodes", namespaced=False).path("baker", "n1") == "/api/v1/nodes/n1"


def test_a_group_that_does_not_answer_is_a_gap(server: FaultyServer, tmp_path: Path) -> None:
    """All others count, and nothing is written down."""
    server.stale.add("example.io")
    discovery = found(server, tmp_path)
    assert [*discovery.gaps] == ["example.io"]
    assert GroupKind(GATEWAYS, "Gateway") in discovery.kinds
    assert [*tmp_path.iterdir()] == []


def test_a_slow_group_of_an_old_server_is_a_gap(tmp_path: Path) -> None:
    """When the time is over, the others have answered."""
    with FaultyServer(kinds=KINDS, old=True) as old:
        old.fault("/apis/example.io/*", faults.silence)
        discovery = discover(Connection(reaching(old), timeout=0.5), old.url, str(tmp_path))
    reason = "no answer within half of the time that --request-timeout 0.5s left"
    assert {group: refusal.reason for group, refusal in discovery.gaps.items()} == {"example.io": reason}
    assert len(discovery.kinds) == 6


def test_half_of_the_answer_is_better_than_none(new: FaultyServer, tmp_path: Path) -> None:
    new.fault("/apis", faults.status(403))
    discovery = found(new, tmp_path)
    assert {group: refusal.reason for group, refusal in discovery.gaps.items()} == {EVERY_GROUP: "forbidden"}
    assert GroupKind("", "Service") in discovery.kinds


def test_no_answer_is_a_refusal(new: FaultyServer, tmp_path: Path) -> None:
    new.fault("/*", faults.status(401))
    with pytest.raises(RequestFailed, match="the credentials were refused"):
        found(new, tmp_path)


def test_what_no_server_can_serve_is_left_out(new: FaultyServer, tmp_path: Path) -> None:
    """Names come from outside, and are shown and sent."""
    new.kinds += [
        Kind("example.io", "v1", "Evil\x1b[31m", "evils"),
        Kind("example.io", "v1", "Up", "../secrets"),
        Kind("example.io", "v1/..", "Other", "others"),
        Kind("../x", "v1", "Third", "thirds"),
    ]
    assert [
        world.kind for world in found(new, tmp_path).kinds.values() if world.group.startswith(("example", ".."))
    ] == ["Gatewaylike"]


def test_the_file_is_for_nobody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is where kubectl keeps its own, but in a folder of ours."""
    monkeypatch.setenv("KUBECACHEDIR", str(tmp_path / "cache"))
    write_cache(Discovery([served()]), SERVER)
    place = tmp_path / "cache" / "kubectl-policy" / "10.0.0.1_6443" / "discovery.json"
    assert cache_path(SERVER) == place
    assert [path.name for path in place.parent.iterdir()] == ["discovery.json"]
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "cache").stat().st_mode) == 0o700
    assert [*read_cache(SERVER)] == [served()]
    assert cache_path(SERVER, str(tmp_path / "other")) == tmp_path.joinpath("other", *place.parts[-3:])


def test_without_a_home_nothing_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.delenv("KUBECACHEDIR", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert cache_path(SERVER) is None
    assert cache_path("https://..", "/tmp/x") is None  # noqa: S108 (nothing is written there)
    write_cache(Discovery([served()]), SERVER)
    assert read_cache(SERVER) == ()


def written(cache: Path, text: bytes | None = None) -> Path:
    """The file about a server, with other contents if any."""
    write_cache(Discovery([served()]), SERVER, str(cache))
    place = cache_path(SERVER, str(cache))
    assert place
    if text is not None:
        place.write_bytes(text)
    return place


def test_a_file_that_cannot_be_trusted_is_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is old, six hours as with kubectl, or from the future; that others may write or own; that is no file."""
    place, now = written(tmp_path), time.time()
    for age, is_known in ((5.9 * 3600, True), (6.1 * 3600, False), (-3600, False), (-5, True)):
        os.utime(place, (now - age, now - age))
        assert bool(read_cache(SERVER, str(tmp_path))) == is_known
    with monkeypatch.context() as patched:
        patched.setattr(os, "getuid", lambda: 12345)
        assert read_cache(SERVER, str(tmp_path)) == ()
    place.chmod(0o622)
    assert read_cache(SERVER, str(tmp_path)) == ()
    place.chmod(0o600)
    kept = place.rename(place.with_name("kept"))
    for make in (partial(place.symlink_to, kept), partial(os.mkfifo, place)):
        make()
        assert read_cache(SERVER, str(tmp_path)) == ()
        place.unlink()
    place.mkdir()
    write_cache(Discovery([served()]), SERVER, str(tmp_path))
    assert read_cache(SERVER, str(tmp_path)) == ()


def test_a_place_that_cannot_be_written_is_no_error(new: FaultyServer, tmp_path: Path) -> None:
    (tmp_path / "kubectl-policy").write_text("no folder")
    assert found(new, tmp_path).kinds


def test_another_server_is_not_taken_for_this(tmp_path: Path) -> None:
    """Their names may be the same in a file system."""
    written(tmp_path)
    other = "https://10.0.0.1_6443"
    assert cache_path(other, str(tmp_path)) == cache_path(SERVER, str(tmp_path))
    assert read_cache(other, str(tmp_path)) == ()


KIND: Final[dict[str, Any]] = {
    "group": GATEWAYS,
    "version": "v1",
    "kind": "Gateway",
    "plural": "gateways",
    "namespaced": True,
    "short_names": ["gtw"],
}


@pytest.mark.parametrize(
    "kinds",
    [
        [],
        {},
        [1],
        [[*KIND.values()]],
        [{"kind": "Gateway"}],
        [{**KIND, "plural": "../secrets"}],
        [{**KIND, "namespaced": 1}],
        [{**KIND, "short_names": [1]}],
        [{**KIND, "short_names": "gtw"}],
        [KIND, None],
    ],
)
def test_what_is_not_as_we_wrote_it_is_as_none(tmp_path: Path, kinds: Any) -> None:  # noqa: ANN401 (anything)
    """All of it: who changed one kind may have changed others."""
    assert not read_cache(SERVER, str(tmp_path))
    written(tmp_path, json.dumps({"server": SERVER, "kinds": kinds}).encode())
    assert not read_cache(SERVER, str(tmp_path))
    written(tmp_path, json.dumps({"server": SERVER, "kinds": [KIND]}).encode())
    assert [*read_cache(SERVER, str(tmp_path))] == [served()]


@given(
    text=st.one_of(
        st.binary(max_size=50),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.just(KIND),
            lambda inner: st.lists(inner, max_size=9) | st.dictionaries(st.sampled_from(["kinds", "a"]), inner),
        ).map(lambda kinds: json.dumps({"server": SERVER, "kinds": kinds}).encode()),
    )
)
def test_damage_is_no_error(tmp_path_factory: pytest.TempPathFactory, text: bytes) -> None:
    cache = tmp_path_factory.getbasetemp() / "damaged"
    written(cache, text)
    assert isinstance(read_cache(SERVER, str(cache)), tuple)


WORDS: Final = ("kind", "items", "metadata", "name", "versions", "version", "resources", "resource", "groups", "verbs")
LIST: Final = "APIGroupDiscoveryList"


class Anything:
    """A server that answers everything with the same."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.body = body

    def get(self, path: str, query: object = (), accept: str = "") -> dict[str, Any]:  # noqa: ARG002 (as is asked)
        return self.body

    def hurried(self) -> Anything:
        return self


@given(
    body=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from([LIST, "v1"]),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS), inner),
        max_leaves=30,
    ).map(lambda body: body if isinstance(body, dict) else {"items": body, "kind": LIST})
)
def test_any_answer_is_discovery(tmp_path_factory: pytest.TempPathFactory, body: dict[str, Any]) -> None:
    """Types are checked wherever something is read."""
    cache = tmp_path_factory.getbasetemp() / "any"
    assert isinstance(
        discover(cast("Connection", Anything(body)), f"https://{time.monotonic_ns()}", str(cache)), Discovery
    )


def test_three_hundred_definitions_are_remembered_in_milliseconds(tmp_path: Path) -> None:
    """Completion waits for it."""
    kinds = [served(f"things{number}", f"Thing{number}") for number in range(400)]
    write_cache(Discovery(kinds), SERVER, str(tmp_path))
    best = 1.0
    for _ in range(5):
        start = time.perf_counter()
        assert len(read_cache(SERVER, str(tmp_path))) == 400
        best = min(best, time.perf_counter() - start)
    assert best < 0.02
