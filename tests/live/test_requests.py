"""Requests to a real server: what a connection and discovery know of it, how many a question takes, and watches."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

import pytest

from kubectl_policy import cli
from kubectl_policy.model.fields import text_at
from kubectl_policy.sources.cluster.access import ClusterOptions, access_to
from kubectl_policy.sources.cluster.connection import METADATA, METADATA_LIST, Connection
from kubectl_policy.sources.cluster.discovery import discover
from kubectl_policy.sources.cluster.request_failures import RequestFailed
from tests.live.audit import verbs_and_resources
from tests.live.proxy import recording
from tests.live.server import ADMIN, BAKER, Server

TEST_NAMESPACE: Final = "connection-tests"
SECRETS: Final = f"/api/v1/namespaces/{TEST_NAMESPACE}/secrets"
MAPS: Final = f"/api/v1/namespaces/{TEST_NAMESPACE}/configmaps"


def connected(server: Server, user: str = ADMIN) -> Connection:
    return Connection(access_to(ClusterOptions(kubeconfig=str(server.kubeconfig(user)))))


@pytest.fixture(scope="module")
def namespace(server: Server) -> str:
    """A Namespace with some ConfigMaps and a Secret that kubectl applied."""
    metadata = {"namespace": TEST_NAMESPACE}
    maps = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {**metadata, "name": f"m{n}"}} for n in range(5)]
    named = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEST_NAMESPACE}}
    hidden = {"apiVersion": "v1", "kind": "Secret", "metadata": {**metadata, "name": "hidden"}}
    items = [named, *maps, {**hidden, "stringData": {"key": "hidden-value"}}]
    server.kubectl("apply", "-f", "-", data={"apiVersion": "v1", "kind": "List", "items": items})
    return TEST_NAMESPACE


def test_what_is_served_is_what_kubectl_shows(server: Server, tmp_path: Path) -> None:
    """All that can be got and listed, by the names that kubectl has for it."""
    discovery = discover(connected(server), server.url, str(tmp_path))
    shown = server.kubectl("api-resources", "--verbs=get,list", "--no-headers", "-o", "name").split()
    names = {f"{world.plural}.{world.group}" if world.group else world.plural for world in discovery.kinds.values()}
    assert names == set(shown)
    assert not discovery.gaps
    again = discover(connected(server), server.url, str(tmp_path))
    assert again.kinds == discovery.kinds
    assert again.is_remembered


def test_secrets_come_without_what_is_in_them(server: Server, namespace: str) -> None:
    """`kubectl apply` wrote it into an annotation as well."""
    whole = server.kubectl("get", "secret", "hidden", "-n", namespace, "-o", "json")
    assert "last-applied-configuration" in whole
    one = connected(server).get(f"{SECRETS}/hidden", accept=METADATA)
    every = connected(server).list(SECRETS, accept=METADATA_LIST)
    for secret in (one, *every.items):
        assert text_at(secret, "metadata.name") == "hidden"
        assert "value" not in json.dumps(secret)
        assert secret.keys() == {"apiVersion", "kind", "metadata"}


def test_pages_are_one_list(server: Server, namespace: str) -> None:
    assert namespace
    whole, pages = connected(server).list(MAPS), connected(server).list(MAPS, {"resourceVersion": "0"}, chunk_size=2)
    assert [text_at(item, "metadata.name") for item in pages.items] == [f"m{number}" for number in range(5)]
    assert [*pages.items] == [*whole.items]


@pytest.mark.usefixtures("namespace")
def test_refusals_are_those_that_it_gives(server: Server) -> None:
    with pytest.raises(RequestFailed, match="not found") as missing:
        connected(server).get(f"{MAPS}/missing")
    assert missing.value.message == 'configmaps "missing" not found'
    baker = connected(server, BAKER)
    with pytest.raises(RequestFailed, match="forbidden") as forbidden:
        baker.list(MAPS)
    assert (forbidden.value.status, "cannot list resource" in forbidden.value.message) == (403, True)
    stranger = ClusterOptions(kubeconfig=str(server.kubeconfig(ADMIN)), token="wrong")  # noqa: S106 (it is)
    with pytest.raises(RequestFailed, match="the credentials were refused"):
        Connection(access_to(stranger)).get("/api")


def test_changes_are_told(server: Server, namespace: str) -> None:
    connection = connected(server)
    watch = connection.watch(MAPS, {"resourceVersion": connection.list(MAPS).resource_version})
    server.kubectl("create", "configmap", "later", "-n", namespace)
    server.kubectl("delete", "configmap", "later", "-n", namespace)
    names = [text_at(changed, "metadata.name") for changed in islice(watch, 2)]
    watch.close()
    assert names == ["later", "later"]


NAMESPACE: Final = "crowded"
GROUP: Final = "gateway.networking.k8s.io"
# More than are read one by one.
POLICIES: Final = 70
ROUTES: Final = 150
DESCRIBE: Final = ("describe", "httproute/r7", "-n", NAMESPACE)
# What versions and times take more of, as they grow.
TOLERANCE: Final = 200


def thing(version: str, kind: str, name: str, **spec: object) -> dict[str, object]:
    """An object in the namespace of these tests; its name is also a label."""
    metadata = {"name": name, "namespace": NAMESPACE, "labels": {"team": NAMESPACE}}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def route(number: int) -> dict[str, object]:
    rule = {"backendRefs": [{"name": "backend", "port": 80}]}
    return thing(f"{GROUP}/v1", "HTTPRoute", f"r{number}", parentRefs=[{"name": "gateway"}], rules=[rule])


def policy(number: int) -> dict[str, object]:
    target = {"group": GROUP, "kind": "HTTPRoute", "name": f"r{number}"}
    return thing(
        "example.io/v1alpha1", "RetryPolicy", f"p{number}", targetRefs=[target], defaults={"attempts": number + 1}
    )


@pytest.fixture(scope="module")
def crowded(server: Server) -> Iterator[Server]:
    """A Gateway, a Service, and routes with a policy each; all have the name of their namespace as a label."""
    listener = {"name": "http", "port": 80, "protocol": "HTTP"}
    gateway = thing(f"{GROUP}/v1", "Gateway", "gateway", gatewayClassName="public", listeners=[listener])
    backend = thing("v1", "Service", "backend", ports=[{"port": 80}])
    objects = [gateway, backend, *map(route, range(POLICIES)), *map(policy, range(POLICIES))]
    server.kubectl("create", "namespace", NAMESPACE)
    apply(server, *objects)
    yield server
    # One request for each kind: by name, kubectl takes its time.
    core, policies = f"apis/{GROUP}/v1", "apis/example.io/v1alpha1"
    for api, kind in ((core, "httproutes"), (core, "gateways"), (policies, "retrypolicies"), ("api/v1", "services")):
        server.kubectl("delete", "--raw", f"/{api}/namespaces/{NAMESPACE}/{kind}")


def apply(server: Server, *objects: dict[str, object]) -> None:
    server.kubectl("create", "-f", "-", data={"apiVersion": "v1", "kind": "List", "items": list(objects)})


def test_describing_a_route_asks_for_no_other_routes(
    crowded: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with recording(crowded) as proxy:
        options = ("--kubeconfig", str(crowded.kubeconfig(ADMIN, url=proxy.url)), "--cache-dir", str(tmp_path))

        def traffic() -> tuple[list[str], int]:
            proxy.exchanges.clear()
            assert cli.run([*DESCRIBE, *options]) == 0
            assert "p7" in capsys.readouterr().out
            return sorted(exchange.path for exchange in proxy.exchanges), sum(
                len(exchange.plain) for exchange in proxy.exchanges
            )

        # What is served is remembered from then on.
        traffic()
        paths, size = traffic()
        apply(crowded, *map(route, range(POLICIES, ROUTES)))
        more_paths, more_size = traffic()
    assert [path for path in paths if "/httproutes" in path] == [
        f"/apis/{GROUP}/v1/namespaces/{NAMESPACE}/httproutes/r7"
    ]
    assert not [path for path in paths if path.endswith(("/services", "/networkpolicies"))]
    assert more_paths == paths
    assert abs(more_size - size) < TOLERANCE


def test_each_kind_is_watched_once(crowded: Server, tmp_path: Path) -> None:
    """That was asked for, and no other; and nothing is asked again while nothing changes."""
    config = str(crowded.kubeconfig(ADMIN))
    command = [sys.executable, "-m", "kubectl_policy", *DESCRIBE, "-w", "--kubeconfig", config]
    with (
        crowded.audit.recorded("kubectl-policy/") as found,
        subprocess.Popen([*command, "--cache-dir", str(tmp_path)], stdout=subprocess.PIPE) as process,  # noqa: S603 (our own program)
    ):
        assert process.stdout
        process.stdout.readline()
        # An answer that is asked for again would be by then.
        time.sleep(3)
        process.kill()
    read = [request for request in found if request.verb in {"get", "list"} and request.resource]
    watched = [request.resource for request in found if request.verb == "watch"]
    assert sorted(watched) == sorted({request.resource for request in read})
    paths = [request.path for request in read]
    assert sorted(paths) == sorted(set(paths))


WATCHED = "watched"


def retrying(attempts: int) -> dict[str, object]:
    refs = [{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "watched"}]
    return {
        "apiVersion": "example.io/v1alpha1",
        "kind": "RetryPolicy",
        "metadata": {"name": "watched", "namespace": WATCHED},
        "spec": {"targetRefs": refs, "defaults": {"attempts": attempts}},
    }


def test_each_change_is_shown(server: Server, tmp_path: Path) -> None:
    """Soon after it was made, of what is there and of what comes to be there."""
    gateway = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "Gateway",
        "metadata": {"name": "watched", "namespace": WATCHED},
        "spec": {"gatewayClassName": "public", "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}]},
    }
    server.kubectl("create", "namespace", WATCHED)
    server.kubectl("apply", "-f", "-", data=gateway)
    config = str(server.kubeconfig("admin", namespace=WATCHED))
    command = [sys.executable, "-m", "kubectl_policy", "describe", "gateway/watched", "-w", "--kubeconfig", config]
    out = tmp_path / "out"
    with (
        server.audit.recorded("kubectl-policy/") as found,
        out.open("wb") as to,
        subprocess.Popen(  # noqa: S603 (our own program)
            [*command, "--cache-dir", str(tmp_path)],
            stdout=to,
            stderr=subprocess.PIPE,
            # In the background of a shell, interrupts are ignored, and stay so.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 (no other thread runs)
        ) as process,
    ):
        try:
            assert process.stderr
            _until_written(out, "Gateway watched/watched")
            for attempts in (3, 4):
                server.kubectl("apply", "-f", "-", data=retrying(attempts))
                _until_written(out, f"attempts   {attempts}")
            process.send_signal(signal.SIGINT)
            assert process.wait(10) == 130
            assert process.stderr.read() == b""
        finally:
            process.kill()
    assert {verb for verb, _ in verbs_and_resources(found)} == {"get", "list", "watch"}


def _until_written(file: Path, words: str) -> None:
    end = time.monotonic() + 30
    while words not in file.read_text("utf-8"):
        assert time.monotonic() < end
        time.sleep(0.05)
