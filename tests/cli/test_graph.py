"""`graph`: what is drawn, in which format, and what is said where it cannot be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kubectl_policy.cli.commands.graph import GRAPH
from tests.cli.conftest import MANIFESTS
from tests.programs import needs_dot

if TYPE_CHECKING:
    from tests.cli.conftest import Command

ROUTE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: new, namespace: app}
spec: {parentRefs: [{name: g}], rules: [{backendRefs: [{name: s, port: 80}]}]}
"""


@pytest.fixture
def world(tmp_path: Path) -> Path:
    file = tmp_path / "world.yaml"
    file.write_text(MANIFESTS)
    return file


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["--up"], "--up is about what is around objects", "name one: graph httproute/NAME"),
        (["--down"], "--down is about what is around objects", "name one: graph httproute/NAME"),
        (["--depth", "2"], "--depth is about what is around objects", "name one: graph httproute/NAME"),
        (
            ["--diff", "x", "--delete", "httproute/r"],
            "--diff compares with another state; -f, --delete and --retarget compare with changes",
            "leave out one of the two",
        ),
        (["httproute/nope", "-n", "app"], 'httproute "nope" not found in namespace app', "there are: app/r"),
        (["--kind", "nope"], 'there is no resource type "nope" in the input', "did you mean"),
        (["--policy-kind", "gateway"], "Gateway is not a policy kind", "get policykinds lists them"),
    ],
)
def test_what_cannot_be_drawn(command: Command, world: Path, arguments: list[str], message: str, hint: str) -> None:
    result = command("graph", *arguments, "--offline", world)
    assert result.code in {2, 3}
    assert result.out == ""
    assert result.err.startswith(f"error: {message}\n")
    assert hint in result.err


def test_redirected_it_is_dot_and_at_a_terminal_a_tree(
    command: Command, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("graph", "--offline", world).out.startswith("digraph {\n")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    at_terminal = command("graph", "--offline", world).out
    assert "HTTPRoute app/r" in at_terminal
    assert "digraph" not in at_terminal


@pytest.mark.parametrize("form", [form for form in GRAPH.formats if form not in {"svg", "png", "pdf"}])
def test_every_format_is_the_same_in_every_run(command: Command, world: Path, form: str) -> None:
    first, second = (command("graph", "-o", form, "--offline", world) for _ in range(2))
    assert first == second
    assert first.code == 0
    assert first.out


@needs_dot
def test_pictures_are_not_shown_in_a_terminal(command: Command, world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    result = command("graph", "-o", "png", "--offline", world)
    assert result.code == 2
    assert "a picture cannot be shown in a terminal" in result.err
    assert "> graph.png" in result.err


def names(command: Command, *arguments: str | Path) -> list[str]:
    document = json.loads(command("graph", *arguments, "-o", "json").out)
    return sorted({f"{node['kind']} {node['name']}" for node in document["nodes"]})


def test_what_is_around_an_object(command: Command, world: Path) -> None:
    route = ("httproute/r", "-n", "app", "--offline", world)
    assert names(command, *route) == ["ColorPolicy red", "Gateway g", "GatewayClass public", "HTTPRoute r", "Service s"]
    assert names(command, *route, "--down") == ["ColorPolicy red", "HTTPRoute r", "Service s"]
    assert names(command, *route, "--up", "--depth", "1") == ["ColorPolicy red", "Gateway g", "HTTPRoute r"]
    assert names(command, "--offline", world, "--kind", "gateway,gatewayclass") == ["Gateway g", "GatewayClass public"]
    kinds = ("--kind", "gateway,httproute", "--policy-kind", "colorpolicy")
    assert names(command, "--offline", world, *kinds) == ["ColorPolicy red", "Gateway g", "HTTPRoute r"]


def test_a_namespace_is_drawn_with_what_leads_there(command: Command, world: Path) -> None:
    """All of it, and nothing of others."""
    assert "HTTPRoute r" in names(command, "-n", "app", "--offline", world)
    assert names(command, "-n", "other", "--offline", world) == []


def test_changes_are_marked(command: Command, world: Path, tmp_path: Path) -> None:
    """What is applied, and what is deleted; or what another state has not."""
    change = tmp_path / "change.yaml"
    change.write_text(ROUTE)
    applied = command("graph", "-f", change, "--offline", world, "-o", "mermaid").out
    assert "HTTPRoute new (+ added)" in applied
    deleted = command("graph", "--delete", "colorpolicy/red", "-n", "app", "--offline", world, "-o", "mermaid").out
    assert "ColorPolicy red (- removed)" in deleted
    retargeted = command(
        "graph", "--retarget", "colorpolicy/red=gateway/g", "-n", "app", "--offline", world, "-o", "mermaid"
    )
    assert "ColorPolicy red (~ changed)" in retargeted.out
    later = tmp_path / "later.yaml"
    later.write_text(f"{MANIFESTS}---\n{ROUTE}")
    compared = command("graph", "--diff", world, "--offline", later, "-o", "mermaid").out
    assert "HTTPRoute new (+ added)" in compared
    assert "HTTPRoute r (" not in compared


def test_what_could_not_be_read_is_said(command: Command, world: Path) -> None:
    """In the picture; the exit code is 0, as nobody acts on a picture alone."""
    result = command("graph", "--offline", world)
    assert result.code == 0
    assert "1 object that references name: 1 not read" in result.out


_IN_ANOTHER_PROCESS = """
import sys
from kubectl_policy.cli import run
for form in ("dot", "mermaid", "html", "json", "tree"):
    assert run(["graph", "--effective", "-o", form, "--offline", sys.argv[1]]) == 0
"""


def test_every_process_draws_the_same() -> None:
    """Also where texts have other hashes."""
    world = str(Path(__file__).parents[2] / "fixtures" / "envoy-gateway")
    drawn = {
        subprocess.run(  # noqa: S603 (our own arguments)
            [sys.executable, "-c", _IN_ANOTHER_PROCESS, world],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(drawn) == 1
