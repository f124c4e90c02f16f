"""`--assume-exists`: what somebody says is there, although it is not in the input."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

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
    """A policy whose issuer is not there."""
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
