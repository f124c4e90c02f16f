"""Objects that a change adds are younger than those that were there before, in every command that compares states."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy.model.snapshot import are_ages_known
from kubectl_policy.states import as_added
from tests import build

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

GATEWAY: Final = """
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: g, namespace: app}
spec: {gatewayClassName: eg, listeners: [{name: http, protocol: HTTP, port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: s, namespace: app}
spec: {ports: [{port: 80}]}
"""


def route(name: str) -> str:
    return f"""---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: {name}, namespace: app}}
spec: {{parentRefs: [{{name: g}}], rules: [{{backendRefs: [{{name: s, port: 80}}]}}]}}
"""


def policy(name: str, seconds: int) -> str:
    return f"""---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {{name: {name}, namespace: app}}
spec:
  targetRefs: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: z}}]
  timeout: {{http: {{requestTimeout: {seconds}s}}}}
"""


@pytest.fixture
def states(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A state before, the same after a change, and the change alone: it adds a policy and a route, first by name."""
    before, added = GATEWAY + route("z") + policy("z", 1), policy("a", 2) + route("a")
    paths = (tmp_path / "before.yaml", tmp_path / "after.yaml", tmp_path / "change.yaml")
    for path, text in zip(paths, (before, before + added, added.removeprefix("---\n")), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


@pytest.mark.parametrize("applied", [False, True], ids=["two states", "-f"])
def test_a_policy_that_was_there_stays_in_force(
    command: Command,
    states: tuple[Path, Path, Path],
    applied: bool,  # noqa: FBT001 (a row of a table)
) -> None:
    before, after, change = states
    arguments = ("-f", change, "--offline", before) if applied else (before, after)
    result = command("diff", *arguments, "-o", "json", "--complete")
    document = json.loads(result.out)
    assert document["effects"] == [] or {effect["where"] for effect in document["effects"]} == {"new"}
    states_of = {change["policy"]["name"]: change["after"] for change in document["enforcement"]}
    assert states_of == {"a": "Conflicted"}
    assert "creationTimestamp is missing" not in result.out


def test_lint_names_the_new_one(command: Command, states: tuple[Path, Path, Path]) -> None:
    """With the reason: what was there before the change comes first."""
    before, after, _ = states
    select = ("--select", "GWP2001,GWP7002", "--complete")
    result = command("lint", after, "--diff-base", before, *select, "-o", "json")
    findings = {finding["rule"]: finding for finding in json.loads(result.out)["findings"]}
    conflict, shadowed = findings["GWP2001"], findings["GWP7002"]
    assert (conflict["object"]["name"], shadowed["object"]["name"]) == ("a", "a")
    comes_first = "that one comes first (it was there before this change), and this one is refused there"
    assert conflict["message"].endswith(comes_first)
    assert "that route is older (it was there before this change), so that no request reaches" in shadowed["message"]
    # Of one state alone, it is not known which was created first.
    alone = json.loads(command("lint", after, *select, "-o", "json").out)["findings"]
    assert all("manifests do not say" in finding["message"] for finding in alone if finding["rule"] == "GWP2001")


def test_what_decides_the_order() -> None:
    dated, later = build.policy("d", build.ON_ROUTE, age=1), build.policy("l", build.ON_ROUTE, age=2)
    undated, second = build.policy("u", build.ON_ROUTE), build.policy("v", build.ON_ROUTE)
    new, newer = as_added(build.policy("a", build.ON_ROUTE)), as_added(build.policy("b", build.ON_ROUTE))
    assert as_added(dated) is dated
    assert sorted((new, undated, later, dated), key=lambda policy: policy.seniority) == [dated, later, undated, new]
    for known in ((dated, later), (dated, later, new), (undated, new), (undated,), ()):
        assert are_ages_known(known)
    for unknown in ((undated, second), (dated, undated), (new, newer), (dated, undated, new)):
        assert not are_ages_known(unknown)
