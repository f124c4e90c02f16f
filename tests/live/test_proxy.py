"""The proxy is not noticed, and writes down what went through it."""

import json
import subprocess
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.live.proxy import recording
from tests.live.server import ADMIN, BAKER, Server


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
