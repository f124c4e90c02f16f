"""No command does more to a cluster than read it, and none reads what is in a Secret."""

from pathlib import Path
from typing import Final

import pytest

from kubectl_policy import cli
from kubectl_policy.cli.syntax import COMMANDS
from tests.live.audit import verbs_and_resources
from tests.live.proxy import recording
from tests.live.server import ADMIN, BAKER, PASTRY, Server

# What each command is called with: everything that makes it ask for more or for less.
CALLS: Final = {
    "blast-radius": ("gateway/guarded -n guarded", "retrypolicy/resilience -n baker", "namespace/baker"),
    "completion": ("bash",),
    "describe": (
        "httproute/baker -n baker",
        "gateway/guarded -n guarded",
        "retrypolicy/resilience -n baker --blame",
        "httproute/menu -n baker -o json",
    ),
    "diff": ("--delete retrypolicy/resilience -n baker", "--delete gateway/guarded -n guarded"),
    "explain": ("retrypolicy", "backendtlspolicy"),
    "get": ("policies -A", "policykinds", "gateways -A", "routes -n pastry", "services -A", "effective -A"),
    "graph": ("", "httproute/baker -n baker", "gateway/guarded -n guarded -o json", "-n baker -o html"),
    "history": ("httproute/baker -n baker --offline fixtures/bakery",),
    "lint": ("", "--show-all -o json", "-n guarded", "fixtures/lint --context-from live"),
    "snapshot": ("-o FILE",),
    "status": ("-A", "-n guarded"),
    "version": ("",),
    "why-not": ("retrypolicy/resilience httproute/events -n baker",),
}
HIDDEN: Final = "nobody-may-see-this"


@pytest.fixture(scope="module")
def guarded(server: Server) -> Server:
    """A Gateway with a certificate in a Secret, and a RetryPolicy on it, in a namespace of their own."""
    metadata = {"name": "guarded", "namespace": "guarded"}
    listener = {"name": "https", "port": 443, "protocol": "HTTPS", "tls": {"certificateRefs": [{"name": "guarded"}]}}
    gateway = {"gatewayClassName": "public", "listeners": [listener]}
    refs = [{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "guarded"}]
    example = "example.io/v1alpha1"
    items = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "guarded"}},
        {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"tls.key": HIDDEN}},
        {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": metadata, "spec": gateway},
        {"apiVersion": example, "kind": "RetryPolicy", "metadata": metadata, "spec": {"targetRefs": refs}},
    ]
    listed = {"apiVersion": "v1", "kind": "List", "items": items}
    server.kubectl("apply", "--server-side", "-f", "-", data=listed)
    return server


def test_every_command_is_called() -> None:
    assert {*CALLS} == {*COMMANDS}


@pytest.mark.parametrize("user", [ADMIN, BAKER, PASTRY])
def test_commands_only_read(guarded: Server, user: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with recording(guarded) as proxy, guarded.audit.recorded("kubectl-policy/") as requests:
        monkeypatch.setenv("KUBECONFIG", str(guarded.kubeconfig(user, url=proxy.url)))
        monkeypatch.setenv("KUBECACHEDIR", str(tmp_path / "cache"))
        for command, calls in CALLS.items():
            # Who may see less is asked less of; what is not there, or refused, every command asks for alike.
            for words in calls if user == ADMIN else calls[:1]:
                arguments = [str(tmp_path / "world.gz") if word == "FILE" else word for word in words.split()]
                assert cli.run([command, *arguments]) in {0, 1, 3, 4}, f"{command} {words}"
    done = verbs_and_resources(requests)
    assert len(done) > 10
    assert {verb for verb, _ in done} <= {"get", "list", "watch"}
    assert len(proxy.exchanges) >= len(requests)
    secrets = [exchange for exchange in proxy.exchanges if "secrets" in exchange.path.split("/")]
    answered = [secret for secret in secrets if secret.status == 200]
    assert {secret.method for secret in secrets} <= {"GET"}
    assert bool(answered) == (user == ADMIN)
    assert {found.kind for found in answered} <= {"PartialObjectMetadata", "PartialObjectMetadataList"}
    assert not any(HIDDEN.encode() in exchange.plain for exchange in proxy.exchanges)
