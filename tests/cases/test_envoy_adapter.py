"""The adapter to Envoy Gateway's cases writes the scorer's document, on a case that is made here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from kubectl_policy.questions.predicted.policies import AncestorStatus, PolicyCondition
from tests.build import node, ref
from tests.cases import envoy_gateway
from tests.cases.envoy_gateway import ancestors

CASES: Final = Path(__file__).parents[3] / "shared" / "cases"
WORLD: Final = """
{apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass, metadata: {name: ours},
 spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass, metadata: {name: theirs},
 spec: {controllerName: example.com/c}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: g, namespace: edge}
spec:
  gatewayClassName: ours
  allowedListeners: {namespaces: {from: All}}
  listeners:
  - {name: http, port: 80, protocol: HTTP, hostname: "*.example.com", allowedRoutes: {namespaces: {from: All}}}
  - {name: alt, port: 81, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}
  - {name: secure, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: absent}]}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: far, namespace: edge}
spec:
  gatewayClassName: theirs
  listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: extra, namespace: edge}
spec:
  parentRef: {name: g}
  listeners:
  - {name: x, port: 82, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}
  - {name: alt, port: 81, protocol: HTTP}
---
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: shut, namespace: edge}
spec:
  parentRef: {name: far}
  listeners: [{name: x, port: 82, protocol: HTTP}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: apps}
spec:
  hostnames: [a.example.com, a.example.org]
  parentRefs:
  - {name: g, namespace: edge}
  - {name: g, namespace: edge, sectionName: nowhere, port: 80}
  - {name: far, namespace: edge}
  - {kind: ListenerSet, name: extra, namespace: edge, sectionName: x}
  rules:
  - {name: buy, backendRefs: [{name: s, port: 80}, {name: s, port: 443}]}
  - {backendRefs: [{name: absent, port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: TCPRoute
metadata: {name: raw, namespace: apps}
spec:
  rules: [{backendRefs: [{name: s, port: 80}]}, {backendRefs: [{name: s, port: 443}]}]
---
{apiVersion: v1, kind: Service, metadata: {name: s, namespace: apps},
 spec: {ports: [{name: web, port: 80}, {name: tls, port: 443}]}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {name: tls, namespace: apps}
spec:
  targetRefs: [{group: "", kind: Service, name: s, sectionName: tls}]
  validation: {wellKnownCACertificates: System, hostname: s}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: whole, namespace: edge}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: g}]
  retry: {numRetries: 1}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: set, namespace: edge}
spec:
  targetRefs:
  - {group: gateway.networking.k8s.io, kind: ListenerSet, name: extra}
  retry: {numRetries: 2}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: buy, namespace: apps}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop, sectionName: buy}]
  mergeType: StrategicMerge
  timeout: {http: {requestTimeout: 1s}}
"""
SHOP: Final = "HTTPRoute/apps/shop"
RESOLVED: Final = {"status": "True", "reason": "ResolvedRefs"}
ACCEPTED: Final = {"status": "True", "reason": "Accepted"}


def write_case(folder: Path, manifests: str = WORLD, name: str = "made-here") -> None:
    """A case below a folder."""
    made = folder / "cases" / name
    made.mkdir(parents=True)
    (made / "manifests.yaml").write_text(manifests, "utf-8")


@pytest.fixture
def found(tmp_path: Path) -> dict[str, list[dict[str, Any]]]:
    """What is said of the world above."""
    write_case(tmp_path)
    assert envoy_gateway.main([str(tmp_path / "cases"), str(tmp_path / "out")]) == 0
    said: dict[str, list[dict[str, Any]]] = json.loads((tmp_path / "out" / "made-here.json").read_text("utf-8"))
    return said


def named(entries: list[dict[str, Any]], *names: str) -> dict[str, Any]:
    """The entry of a name, or of a name and a listener, without these."""
    keys = ("name", "listener")[: len(names)]
    entry = next(entry for entry in entries if tuple(entry[key] for key in keys) == names)
    return {key: value for key, value in entry.items() if key not in {"kind", "namespace", "name", "listener"}}


def test_every_parent_of_a_route_is_written(found: dict[str, list[dict[str, Any]]]) -> None:
    """By its name with section and port, whoever manages it."""
    missing = {"status": "False", "reason": "BackendNotFound"}
    nowhere = {"status": "False", "reason": "NoMatchingParent"}
    parents = [
        ("Gateway/edge/g", True, ACCEPTED),
        ("Gateway/edge/g#nowhere:80", True, nowhere),
        ("Gateway/edge/far", False, ACCEPTED),
        ("ListenerSet/edge/extra#x", True, ACCEPTED),
    ]
    assert named(found["routes"], "shop")["parents"] == [
        {"parentRef": name, "managed": managed, "accepted": accepted, "resolvedRefs": missing}
        for name, managed, accepted in parents
    ]
    assert named(found["routes"], "raw")["parents"] == []


def test_gateways_and_listener_sets_are_written(found: dict[str, list[dict[str, Any]]]) -> None:
    """Whether the former belong to Envoy Gateway, and what becomes of the latter."""
    assert {entry["name"]: entry["managed"] for entry in found["gateways"]} == {"far": False, "g": True}
    assert {entry["name"]: entry["accepted"] for entry in found["listenerSets"]} == {
        "extra": {"status": "True", "reason": "ListenersNotValid"},
        "shut": {"status": "False", "reason": "NotAllowed"},
    }


def test_listeners_are_written_with_their_routes(found: dict[str, list[dict[str, Any]]]) -> None:
    """The hostnames are those that each route has there."""
    free = {"conflicted": False, "reason": None}
    assert named(found["listeners"], "g", "http") == {
        "attachedRoutes": 1,
        "routes": [SHOP],
        "hostnames": {SHOP: ["a.example.com"]},
        "conflicted": free,
        "resolvedRefs": RESOLVED,
    }
    secure = named(found["listeners"], "g", "secure")
    assert (secure["attachedRoutes"], secure["routes"], secure["hostnames"]) == (0, [], {})
    assert secure["resolvedRefs"] == {"status": "False", "reason": "InvalidCertificateRef"}
    loser = named(found["listeners"], "extra", "alt")["conflicted"]
    assert loser == {"conflicted": True, "reason": "HostnameConflict"}


def test_effective_policies_are_written_by_listener_and_rule(found: dict[str, list[dict[str, Any]]]) -> None:
    """With what they are merged of; TCPRoutes are left out, as there is nothing to compare."""
    said = {(entry["listener"], entry["rule"]): entry.get("BackendTrafficPolicy") for entry in found["effective"]}
    whole = {"policy": "edge/whole", "contributors": ["edge/whole"]}
    ours = {
        ("edge/g/http", 0): {"policy": "apps/buy", "contributors": ["apps/buy", "edge/whole"]},
        ("edge/g/http", 1): whole,
        ("edge/g/edge/extra/x", 0): {"policy": "apps/buy", "contributors": ["apps/buy", "edge/set"]},
        ("edge/g/edge/extra/x", 1): {"policy": "edge/set", "contributors": ["edge/set"]},
    }
    assert {key: said[key] for key in ours} == ours
    assert said["edge/far/http", 1] is None
    assert {entry["route"] for entry in found["effective"]} == {SHOP}


def test_backend_tls_policies_are_written_by_backend(found: dict[str, list[dict[str, Any]]]) -> None:
    """By the place of the backend in its rule; all rules of a TCPRoute count as one."""
    assert [(entry["route"], entry["rule"], entry["backend"], entry["policy"]) for entry in found["backendTLS"]] == [
        (SHOP, 0, 0, None),
        (SHOP, 0, 1, "apps/tls"),
        (SHOP, 1, 0, None),
        ("TCPRoute/apps/raw", -1, 0, None),
        ("TCPRoute/apps/raw", -1, 1, "apps/tls"),
    ]


def test_policies_are_written_with_what_their_controller_would_say(found: dict[str, list[dict[str, Any]]]) -> None:
    """For each ancestor; what overrides or is merged by the names that messages have for it."""
    whole = named(found["policies"], "whole")["ancestors"]
    assert whole == [
        {
            "ref": "Gateway/edge/g",
            "accepted": ACCEPTED,
            "overridden": True,
            "overriddenBy": {"listenerSets": ["edge/extra"]},
            "mergedBy": {"routes": ["apps/shop"]},
        }
    ]
    merged = {entry["ref"]: entry.get("mergedInto") for entry in named(found["policies"], "buy")["ancestors"]}
    assert merged["Gateway/edge/g#http"] == "edge/whole"
    assert merged["ListenerSet/edge/extra#x"] == "edge/set"


@pytest.mark.parametrize(
    ("kind", "overriders", "expected"),
    [
        (
            "BackendTrafficPolicy",
            [
                node("Gateway", "g", "http"),
                node("ListenerSet", "ls"),
                node("ListenerSet", "ls", "x"),
                node("HTTPRoute", "r"),
            ],
            {
                "gatewayListeners": ["default/g/http"],
                "listenerSets": ["default/ls"],
                "listenerSetListeners": ["default/ls/x"],
                "routes": ["default/r"],
            },
        ),
        ("BackendTrafficPolicy", [node("HTTPRoute", "r", "buy")], {"routeRules": ["buy"]}),
        (
            "ClientTrafficPolicy",
            [node("Gateway", "g", "http"), node("ListenerSet", "ls", "http")],
            {"sections": ["http", "http"]},
        ),
    ],
)
def test_what_overrides_a_policy_is_named_as_in_messages(
    kind: str, overriders: list[Any], expected: dict[str, list[str]]
) -> None:
    """In the lists that the messages have."""
    overridden = PolicyCondition(
        type="Overridden", status="True", reason="Overridden", message="", related=tuple(overriders)
    )
    said = ancestors(ref(kind, "p"), [AncestorStatus(ancestor=node("Gateway", "g"), conditions=(overridden,))])
    assert list(said) == [{"ref": "Gateway/default/g", "overridden": True, "overriddenBy": expected}]


def test_an_ancestor_is_named_in_full() -> None:
    """What is the policy's own condition, or does not hold, is left out."""
    resolved = PolicyCondition(type="ResolvedRefs", status="True", reason="ResolvedRefs", message="")
    quiet = tuple(
        PolicyCondition(type=kind, status="False", reason="", message="")
        for kind in ("Overridden", "Merged", "Programmed")
    )
    said = ancestors(
        ref("BackendTLSPolicy", "p"),
        [
            AncestorStatus(ancestor=None, conditions=(resolved,)),
            AncestorStatus(ancestor=node("GatewayClass", "c"), conditions=(resolved, *quiet)),
            AncestorStatus(ancestor=node("Gateway", "g", "http"), conditions=()),
        ],
    )
    assert list(said) == [{"ref": "GatewayClass/-/c", "resolvedRefs": RESOLVED}, {"ref": "Gateway/default/g#http"}]


def test_a_world_that_cannot_be_read_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And the others are written all the same."""
    write_case(tmp_path)
    write_case(tmp_path, "{", "broken")
    assert envoy_gateway.main([str(tmp_path / "cases"), str(tmp_path / "out")]) == 1
    assert "broken" in capsys.readouterr().err
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["made-here.json"]


def test_a_folder_without_cases_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is not a success."""
    assert envoy_gateway.main([str(tmp_path), str(tmp_path / "out")]) == 2
    assert "holds no cases" in capsys.readouterr().err


@pytest.mark.parametrize("suite", ["envoy-gateway", "envoy-gateway-random"])
def test_recorded_cases_come_out_right(suite: str, tmp_path: Path) -> None:
    """As the scorer that comes with them counts: nearly everything that a controller says of policies and routes."""
    if not (CASES / suite).is_dir():
        pytest.skip(f"the recorded cases of {suite} are not next to this project")
    assert envoy_gateway.main([str(CASES / suite), str(tmp_path / "out")]) == 0
    paths = [CASES / "envoy-gateway" / "score.py", "--cases", CASES / suite, "--predictions", tmp_path / "out"]
    command = [sys.executable, *map(str, paths), "--json", str(tmp_path / "score.json")]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 (the scorer is part of the cases)
    found = json.loads((tmp_path / "score.json").read_text("utf-8"))
    right, total = map(int, found["summary"]["tier1_policy_rare_recall"].split("/"))
    assert right >= 0.99 * total > 100
    assert found["summary"]["tier1_balanced_macro"] >= 0.99
    details = [row for row in found["rows"] if row["tier"] == 2]
    assert sum(row["correct"] for row in details) >= 0.95 * sum(row["n"] for row in details)
