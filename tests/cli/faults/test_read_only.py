"""Whatever is asked, a cluster is only read, and nothing of Secrets is but their metadata."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.sources.cluster.faulty import FaultyServer

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.cli.faults.conftest import Ask

GATEWAY_API: Final = "gateway.networking.k8s.io/v1"
DATA: Final = "aHVudGVyMg=="
TLS: Final = {"mode": "Terminate", "certificateRefs": [{"name": "shop-tls"}, {"name": "other", "namespace": "vault"}]}
LISTENER: Final = {"name": "https", "port": 443, "protocol": "HTTPS", "tls": TLS}


def thing(kind: str, name: str, spec: dict[str, Any], version: str = GATEWAY_API) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "shop"}, "spec": spec}


def secret(name: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "shop", "labels": {"app": "shop"}}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"password": DATA}}


@pytest.fixture
def bakery() -> Generator[FaultyServer]:
    """A shop of which the listener, the backend and the policies name Secrets."""
    to_route = {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "shop"}
    to_service = {"group": "", "kind": "Service", "name": "shop"}
    authority = {"caCertificateRefs": [{"group": "", "kind": "Secret", "name": "ca"}], "hostname": "shop.example"}
    jwt = {"basicAuth": {"users": {"name": "users"}}, "targetRefs": [to_route]}
    objects = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
        thing("Gateway", "edge", {"gatewayClassName": "c", "listeners": [LISTENER]}),
        thing("HTTPRoute", "shop", {"parentRefs": [{"name": "edge"}], "rules": [{"backendRefs": [{"name": "shop"}]}]}),
        thing("Service", "shop", {"ports": [{"port": 80}]}, "v1"),
        thing("BackendTLSPolicy", "shop", {"targetRefs": [to_service], "validation": authority}),
        thing("SecurityPolicy", "users", jwt, "gateway.envoyproxy.io/v1alpha1"),
        *map(secret, ("shop-tls", "ca", "users", "unrelated")),
    ]
    with FaultyServer(objects) as server:
        yield server


QUESTIONS: Final = (
    ("describe", "httproute/shop"),
    ("describe", "gateway/edge"),
    ("describe", "secret/shop-tls"),
    ("describe", "backendtlspolicy/shop"),
    ("describe", "securitypolicy/users"),
    ("get", "policies", "-A"),
    ("get", "secrets", "-o", "yaml"),
    ("get", "gateways", "-A"),
    ("status", "-A"),
    ("why-not", "securitypolicy/users", "httproute/shop"),
    ("diff", "--delete", "secret/ca"),
    ("blast-radius", "secret/shop-tls"),
    ("blast-radius", "secret/users"),
)


def asked_properly(bakery: FaultyServer) -> None:
    """Assert that the server was only read, and nothing of Secrets but metadata."""
    assert bakery.requests
    for request in bakery.requests:
        assert request.method == "GET"
        if "/secrets" in request.path:
            assert "as=PartialObjectMetadata" in request.headers["Accept"]
            assert "," not in request.headers["Accept"]


@pytest.mark.parametrize("question", QUESTIONS, ids=" ".join)
def test_an_answer(bakery: FaultyServer, ask: Ask, question: tuple[str, ...]) -> None:
    """Secrets are asked for as metadata alone, so that nothing else of them leaves the server."""
    outcome = ask(*question, "-n", "shop")
    assert outcome.code in {0, 1, 3, 4}, outcome
    asked_properly(bakery)
    assert DATA not in outcome.out


def test_an_explanation(bakery: FaultyServer, ask: Ask) -> None:
    assert ask("explain", "securitypolicy").code == 0
    asked_properly(bakery)


@pytest.mark.parametrize("more", [(), ("--redact",)])
def test_a_snapshot(bakery: FaultyServer, ask: Ask, tmp_path: Path, more: tuple[str, ...]) -> None:
    file = tmp_path / "snapshot.gz"
    assert ask("snapshot", "-o", str(file), *more).code == 0
    asked_properly(bakery)
    text = gzip.decompress(file.read_bytes()).decode()
    assert "shop-tls" in text
    assert DATA not in text


def test_secrets_are_asked_for(bakery: FaultyServer, ask: Ask) -> None:
    """Otherwise all this would prove nothing."""
    assert ask("describe", "gateway/edge", "-n", "shop").code == 0
    assert any("/secrets" in path for path in bakery.paths())
