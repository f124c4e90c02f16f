"""Questions to a cluster, and objects that are assumed to exist."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_policy.cli.clusters import AskedCluster
from tests.cli.clusters import cluster, kubeconfig

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

QUESTIONS = (
    ("describe", "httproute/r"),
    ("get", "policies"),
    ("status",),
    ("why-not", "a/b", "c/d"),
    ("diff", "--delete", "a/b"),
    ("blast-radius", "retrypolicy/x"),
)


@pytest.mark.parametrize("arguments", QUESTIONS, ids=lambda arguments: arguments[0])
def test_without_a_kubeconfig_there_is_nothing_to_ask(command: Command, arguments: tuple[str, ...]) -> None:
    code, out, err = command(*arguments)
    assert (code, out) == (3, "")
    assert err.startswith("error: no kubeconfig was found: looked for ")
    assert "`--offline PATH` reads manifests instead" in err


def test_manifests_and_a_cluster_are_not_asked_together(command: Command) -> None:
    assert command("get", "policies", "--offline", "fixtures/bakery", "--context", "c") == (
        2,
        "",
        "error: --offline reads manifests, and --context asks a cluster\nhint: leave out one of the two\n",
    )


@pytest.mark.parametrize("extra", ["team", "=bakers", ""])
def test_what_is_said_of_a_user_has_a_key(command: Command, extra: str) -> None:
    assert command("get", "policies", "--as", "jane", "--as-user-extra", extra) == (
        2,
        "",
        f'error: "{extra}" is not KEY=VALUE\nhint: write --as-user-extra team=bakers\n',
    )
    assert command("get", "policies", "--as", "jane", "--as-user-extra", "team=")[0] == 3


def test_a_built_in_kind_is_explained_without_a_cluster(command: Command) -> None:
    code, out, err = command("explain", "backendtlspolicy.gateway.networking.k8s.io")
    assert (code, err) == (0, "")
    assert "BackendTLSPolicy" in out


def workload(version: str, kind: str, name: str) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "app"}, "spec": {}}


@pytest.mark.parametrize(
    ("arguments", "code", "are_read"),
    [
        (("describe", "httproute/r"), 0, False),
        (("describe", "pod/web"), 0, True),
        (("describe", "networkpolicy/closed"), 0, True),
        (("get", "policies"), 0, True),
        (("get", "policykinds"), 0, True),
    ],
    ids=str,
)
def test_policies_on_pods_are_read_for_whom_they_concern(
    command: Command,
    tmp_path: Path,
    arguments: tuple[str, ...],
    code: int,
    are_read: bool,  # noqa: FBT001 (a row of a table)
) -> None:
    """Nothing of a route depends on them."""
    closed = workload("networking.k8s.io/v1", "NetworkPolicy", "closed")
    with cluster(closed, workload("v1", "Pod", "web")) as server:
        config = kubeconfig(tmp_path, namespace="app", one=server.url)
        assert command(*arguments, "--kubeconfig", config, "--cache-dir", tmp_path / "cache")[0] == code
        assert any("/networkpolicies" in path for path in server.paths()) is are_read


@pytest.mark.parametrize(
    ("arguments", "are_read"),
    [
        (("describe", "httproute/r"), False),
        (("describe", "service/s"), False),
        (("describe", "gateway/g"), False),
        (("describe", "pod/web"), True),
        (("describe", "pod/web", "--to", "pod/web", "--port", "80"), True),
    ],
    ids=str,
)
def test_other_policies_about_connections_are_read_for_workloads(
    command: Command,
    tmp_path: Path,
    arguments: tuple[str, ...],
    are_read: bool,  # noqa: FBT001 (a row of a table)
) -> None:
    """Whatever they are called, and whether they are of a namespace or of the cluster."""
    wall = workload("k8s.ovn.org/v1", "EgressFirewall", "default")
    admin = workload("policy.networking.k8s.io/v1alpha1", "AdminNetworkPolicy", "admin")
    with cluster(wall, admin, workload("v1", "Pod", "web")) as server:
        config = kubeconfig(tmp_path, namespace="app", one=server.url)
        _, out, _ = command(*arguments, "--kubeconfig", config, "--cache-dir", tmp_path / "cache")
        for kinds in ("egressfirewalls", "adminnetworkpolicies", "pods"):
            assert any(f"/{kinds}" in path for path in server.paths()) is are_read, kinds
        assert ("EgressFirewall.k8s.ovn.org app/default" in out) is ("--to" not in arguments and are_read)


def test_a_cluster_is_let_go(command: Command, tmp_path: Path) -> None:
    """With its connections: a process may run many commands, and answer again for hours."""

    def clusters() -> int:
        gc.collect()
        return sum(isinstance(thing, AskedCluster) for thing in gc.get_objects())

    before = clusters()
    with cluster() as server:
        config = kubeconfig(tmp_path, namespace="app", one=server.url)
        for name, code in (("r", 0), ("absent", 3)):
            assert command("describe", f"httproute/{name}", "--kubeconfig", config)[0] == code
    assert clusters() == before


WORLD = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: g}
spec: {gatewayClassName: c, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: kuadrant.io/v1
kind: TLSPolicy
metadata: {name: certs}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: g}
  issuerRef: {group: cert-manager.io, kind: ClusterIssuer, name: le}
"""


@pytest.fixture
def world(tmp_path: Path) -> str:
    path = tmp_path / "world.yaml"
    path.write_text(WORLD, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("closed", [(), ("--complete",)])
def test_what_is_assumed_is_no_doubt(command: Command, world: str, closed: tuple[str, ...]) -> None:
    code, out, err = command("get", "policies", "--offline", world, "--assume-exists", "clusterissuer/le", *closed)
    assert code == 0
    assert "Invalid" not in out
    assert "not in the input." not in err
    assert "assumed to exist (--assume-exists): ClusterIssuer le, which is not in the input" in err


def test_without_it(command: Command, world: str) -> None:
    assert "--assume-exists clusterissuer" in command("describe", "tlspolicy/certs", "--offline", world).out
    assert "Invalid" in command("get", "policies", "--offline", world, "--complete").out


@pytest.mark.parametrize("argument", ["/", "secret/", "a/b/c/d"])
def test_what_says_nothing(command: Command, world: str, argument: str) -> None:
    code, _, err = command("get", "policies", "--offline", world, "--assume-exists", argument)
    assert code == 2
    assert f'--assume-exists takes no "{argument}"' in err
    assert "secret/htpasswd" in err


def test_many_are_counted(command: Command, tmp_path: Path) -> None:
    gateway, _, certs = WORLD.partition("---")
    (tmp_path / "gateway.yaml").write_text(gateway, encoding="utf-8")
    for number in range(4):
        policy = certs.replace("certs", f"p{number}").replace("name: le", f"name: le{number}")
        (tmp_path / f"{number}.yaml").write_text(policy, encoding="utf-8")
    err = command("get", "policies", "--offline", str(tmp_path), "--assume-exists", "clusterissuer").err
    assert "ClusterIssuer le2 and 1 more object, which are not in the input" in err
