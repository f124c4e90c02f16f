"""A small runner: the command line in this process, as a function from arguments to what came out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import pytest

from kubectl_policy.cli import run

if TYPE_CHECKING:
    from pathlib import Path

MANIFESTS = """\
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: g, namespace: app}
spec:
  gatewayClassName: public
  listeners: [{name: http, protocol: HTTP, port: 80}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r, namespace: app}
spec: {parentRefs: [{name: g}], rules: [{backendRefs: [{name: s, port: 80}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: s, namespace: app}
spec: {ports: [{port: 80}]}
---
apiVersion: example.com/v1
kind: ColorPolicy
metadata: {name: red, namespace: app}
spec: {targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}, color: red}
"""


class Result(NamedTuple):
    """What came out of a command."""

    code: int
    out: str
    err: str


class Command(Protocol):
    """Runs the command line in this process."""

    def __call__(self, *arguments: str | Path) -> Result: ...


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """`command("describe", …)`."""

    def call(*arguments: str | Path) -> Result:
        code = run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Result(code, out, err)

    return call


@pytest.fixture
def manifests(tmp_path: Path) -> Path:
    """A folder with a Gateway, a route, a Service and a policy in namespace `app`."""
    (tmp_path / "all.yaml").write_text(MANIFESTS, "utf-8")
    return tmp_path
