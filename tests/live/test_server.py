"""The server, its programs and the proxy before it are what the other tests here take them for."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Final
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.live.audit import verbs_and_resources
from tests.live.binaries import BuildError, programs
from tests.live.proxy import recording
from tests.live.server import ADMIN, BAKER, PASTRY, Server

STARTER: Final = """
import time
from tests.live.binaries import programs
from tests.live.server import running
with running(programs()) as server:
    print(server.folder, flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize(
    ("user", "verb", "resource", "where"),
    [
        (BAKER, "list", "retrypolicies.example.io", "baker"),
        (BAKER, "get", "retrypolicies.example.io/resilience", "baker"),
        (BAKER, "list", "secrets", "baker"),
        (BAKER, "delete", "httproutes", "baker"),
        (PASTRY, "list", "httproutes", "--all-namespaces"),
        (PASTRY, "list", "httproutes", "baker"),
        (PASTRY, "get", "namespaces/pastry", "pastry"),
        (PASTRY, "list", "customresourcedefinitions", "--all-namespaces"),
        (PASTRY, "list", "secrets", "pastry"),
    ],
)
def test_what_users_may_not_do(server: Server, user: str, verb: str, resource: str, where: str) -> None:
    place = where if where.startswith("-") else f"--namespace={where}"
    server.kubectl("auth", "can-i", "--quiet", verb, resource, place, user=user, fails=True)


def test_what_users_see(server: Server) -> None:
    """Everybody gets the routes that they may list."""

    def routes(user: str, *options: str) -> list[str]:
        return server.kubectl("get", "httproutes", "-o", "name", *options, user=user).splitlines()

    assert routes(ADMIN, "-A") == routes(BAKER, "-A")
    assert len(routes(BAKER, "-n", "baker")) == 5
    assert len(routes(PASTRY, "-n", "pastry")) == 1
    assert "Forbidden" in server.kubectl("get", "httproutes", user=PASTRY, fails=True)


def test_a_kubeconfig_has_a_context_for_each_user(server: Server) -> None:
    config = str(server.kubeconfig(BAKER, ADMIN, namespace="infra"))
    assert "baker" in server.kubectl("auth", "whoami", "--kubeconfig", config)
    assert "admin" in server.kubectl("auth", "whoami", "--kubeconfig", config, "--context", ADMIN)
    assert "gateway.gateway.networking.k8s.io/edge\n" in server.kubectl(
        "get", "gateways", "-o", "name", "--kubeconfig", config
    )


def test_the_audit_log_has_every_request(server: Server) -> None:
    """Whoever asks, for whatever, with whichever result; other clients are not in the way."""
    with server.audit.recorded("kubectl/") as found:
        server.kubectl("get", "retrypolicies", "-n", "baker", user=BAKER, fails=True)
        server.kubectl("auth", "can-i", "list", "services", "-n", "baker", user=BAKER)
        server.kubectl("get", "--raw", "/version")
    assert verbs_and_resources(found) >= {
        ("list", "retrypolicies.example.io"),
        ("create", "selfsubjectaccessreviews.authorization.k8s.io"),
        ("get", ""),
    }
    refused = [request for request in found if request.resource == "retrypolicies.example.io"]
    assert {(request.user, request.namespace, request.status) for request in refused} == {(BAKER, "baker", 403)}
    assert "/version" in {request.path for request in found if request.user == ADMIN}


def test_a_server_ends_with_whoever_started_it(tmp_path: Path) -> None:
    with subprocess.Popen(  # noqa: S603 (our own code)
        [sys.executable, "-c", STARTER], stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}
    ) as starter:
        assert starter.stdout
        folder = starter.stdout.readline().strip()
        running = _processes_with(folder)
        starter.kill()
    assert folder.startswith(str(tmp_path))
    assert len(running) >= 2
    end = time.monotonic() + 10
    while _processes_with(folder) and time.monotonic() < end:
        time.sleep(0.05)
    assert _processes_with(folder) == []


def _processes_with(text: str) -> list[str]:
    listed = subprocess.run(["ps", "-A", "-ww", "-o", "args="], capture_output=True, text=True, check=True)  # noqa: S607 (whichever ps there is)
    return [line for line in listed.stdout.splitlines() if text in line]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of the PATH, with no program in it but `nice`; the cache is empty, and there are no assets."""
    folder = tmp_path / "bin"
    folder.mkdir()
    nice = shutil.which("nice")
    assert nice
    (folder / "nice").symlink_to(nice)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    return folder


def test_without_go_there_is_nothing(path: Path) -> None:
    assert [each.name for each in path.iterdir()] == ["nice"]
    assert programs() is None


def test_where_go_fails_everything_fails(path: Path) -> None:
    (path / "go").write_text("#!/bin/sh\nexit 1\n")
    (path / "go").chmod(0o755)
    with pytest.raises(BuildError, match="failed: go"):
        programs()


def test_assets_of_others_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the variable of envtest, before what is on the PATH or in the cache; the rest is from there."""
    usual = programs()
    assert usual
    for name in ("kube-apiserver", "etcd"):
        (tmp_path / name).symlink_to(usual.apiserver)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    found = programs()
    assert found
    assert (found.apiserver, found.etcd) == (tmp_path / "kube-apiserver", tmp_path / "etcd")
    assert (found.kubectl, found.definitions) == (usual.kubectl, usual.definitions)


def test_what_kubectl_asks_for_is_written_down(server: Server) -> None:
    """Answers are the same as without the proxy, also those that refuse."""
    with recording(server) as proxy:
        config = f"--kubeconfig={server.kubeconfig(BAKER, ADMIN, url=proxy.url)}"
        assert "Forbidden" in server.kubectl(config, "get", "retrypolicies", "-n", "baker", fails=True)
        routes = server.kubectl(config, "get", "httproutes", "-n", "baker", "-o", "json", "--chunk-size=2")
    assert len(json.loads(routes)["items"]) == 5
    refused, *lists = [
        exchange for exchange in proxy.exchanges if "namespaces" in exchange.path or "httproutes" in exchange.path
    ]
    assert (refused.path, refused.status) == ("/apis/example.io/v1alpha1/namespaces/baker/retrypolicies", 403)
    assert "as=Table" in refused.accept
    assert [listed.query["limit"] for listed in lists] == [["2"]] * 3
    assert {(listed.method, listed.content_type) for listed in lists} == {("GET", "application/json")}
    assert all(exchange.agent.startswith("kubectl") for exchange in proxy.exchanges)


def test_metadata_alone_can_be_told_from_whole_objects(server: Server) -> None:
    """Which of the two a client read of Secrets stands in the answers; some are compressed."""
    server.kubectl("create", "namespace", "hidden")
    for number in range(2):
        server.kubectl(
            "create", "secret", "generic", f"pin-{number}", "-n", "hidden", f"--from-literal=pin={'1' * 99_999}"
        )
    with recording(server) as proxy:
        config = f"--kubeconfig={server.kubeconfig(ADMIN, url=proxy.url)}"
        server.kubectl(config, "get", "secrets", "-n", "hidden", "-o", "json")
        server.kubectl(config, "get", "secret", "pin-0", "-n", "hidden", "-o", "json")
        for accept in ("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", "application/json"):
            headers = {"Authorization": f"Bearer {server.tokens[ADMIN]}", "Accept": accept, "Accept-Encoding": "gzip"}
            request = Request(f"{proxy.url}/api/v1/namespaces/hidden/secrets", headers=headers)  # noqa: S310 (our own proxy)
            with urlopen(request, timeout=10, context=server.trust) as answer:  # noqa: S310 (our own proxy)
                answer.read()
    secrets = [exchange for exchange in proxy.exchanges if "secrets" in exchange.path]
    assert [secret.kind for secret in secrets] == ["SecretList", "Secret", "PartialObjectMetadataList", "SecretList"]
    assert [secret.encoding for secret in secrets] == ["gzip", "gzip", "", "gzip"]


def test_a_watch_goes_through_as_it_comes(server: Server) -> None:
    with recording(server) as proxy:
        command = [
            str(server.programs.kubectl),
            f"--kubeconfig={server.kubeconfig(ADMIN, url=proxy.url)}",
            *("get", "namespaces", "--watch", "-o", "name"),
        ]
        with subprocess.Popen(command, env=server.environment(), stdout=subprocess.PIPE, text=True) as watching:  # noqa: S603 (our own arguments)
            try:
                assert watching.stdout
                while "default" not in watching.stdout.readline():
                    pass
                server.kubectl("create", "namespace", "through-a-proxy")
                while "through-a-proxy" not in watching.stdout.readline():
                    pass
            finally:
                watching.kill()
    assert ["true"] in [exchange.query.get("watch") for exchange in proxy.exchanges]


def test_without_tls_nobody_is_known(server: Server) -> None:
    """A client without a token gets what the server says to it."""
    with recording(server, tls=False) as proxy, pytest.raises(HTTPError, match="403"):
        urlopen(f"{proxy.url}/api/v1/namespaces", timeout=10)  # noqa: S310 (our own proxy)
    assert [exchange.status for exchange in proxy.exchanges] == [403]
