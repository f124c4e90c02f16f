"""Requests of one question to a cluster: no more where there are more routes, and watches that show every change."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from kubectl_policy import cli
from tests.live.audit import verbs_and_resources
from tests.live.proxy import recording
from tests.live.server import ADMIN, Server

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
    server.kubectl("delete", "httproutes,retrypolicies,gateways,services", "--all", "-n", NAMESPACE)


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
