"""The adapter to Envoy Gateway's cases writes the scorer's document about a world of the tests' own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from kubectl_policy.model.kinds import GATEWAY_API
from kubectl_policy.questions.predicted_conditions import AncestorStatus, PolicyCondition
from tests.build import (
    allow,
    backend,
    gateway,
    gateway_class,
    listener,
    listener_set,
    node,
    parent,
    policy,
    ref,
    route,
    rule,
    service,
    target,
)
from tests.cases import envoy_gateway
from tests.cases.envoy_gateway import ancestors
from tests.cases.sample import entry_of, predicted

if TYPE_CHECKING:
    from pathlib import Path

GROUP: Final = "gateway.envoyproxy.io"
WORLD: Final = [
    gateway_class("ours", "gateway.envoyproxy.io/gatewayclass-controller"),
    gateway_class("theirs", "example.com/c"),
    gateway(
        "g",
        listener(hostname="*.example.com", allowedRoutes=allow()),
        listener("alt", port=81, allowedRoutes=allow()),
        listener("secure", "HTTPS", 443, tls={"certificateRefs": [{"name": "absent"}]}),
        class_name="ours",
        namespace="edge",
        allowedListeners={"namespaces": {"from": "All"}},
    ),
    gateway("far", listener(allowedRoutes=allow()), class_name="theirs", namespace="edge"),
    listener_set(
        "extra", listener("x", port=82, allowedRoutes=allow()), listener("alt", port=81), parent="g", namespace="edge"
    ),
    listener_set("shut", listener("x", port=82), parent="far", namespace="edge"),
    route(
        "shop",
        namespace="apps",
        hostnames=["a.example.com", "a.example.org"],
        parents=[
            parent("g", namespace="edge"),
            parent("g", "nowhere", namespace="edge", port=80),
            parent("far", namespace="edge"),
            parent("extra", "x", kind="ListenerSet", namespace="edge"),
        ],
        rules=[rule(backend("s", 80), backend("s", 443), name="buy"), rule(backend("absent", 80))],
    ),
    route(
        "raw", kind="TCPRoute", namespace="apps", parents=[], rules=[rule(backend("s", 80)), rule(backend("s", 443))]
    ),
    service("s", ("web", 80), ("tls", 443), namespace="apps"),
    policy(
        "tls",
        target("s", "Service", "tls", group=""),
        kind="BackendTLSPolicy",
        group=GATEWAY_API,
        namespace="apps",
        validation={"wellKnownCACertificates": "System", "hostname": "s"},
    ),
    policy("whole", target("g"), kind="BackendTrafficPolicy", group=GROUP, namespace="edge", retry={"numRetries": 1}),
    policy(
        "set",
        target("extra", "ListenerSet"),
        kind="BackendTrafficPolicy",
        group=GROUP,
        namespace="edge",
        retry={"numRetries": 2},
    ),
    policy(
        "buy",
        target("shop", "HTTPRoute", "buy"),
        kind="BackendTrafficPolicy",
        group=GROUP,
        namespace="apps",
        mergeType="StrategicMerge",
        timeout={"http": {"requestTimeout": "1s"}},
    ),
]
SHOP: Final = "HTTPRoute/apps/shop"
RESOLVED: Final = {"status": "True", "reason": "ResolvedRefs"}
ACCEPTED: Final = {"status": "True", "reason": "Accepted"}


@pytest.fixture
def document(tmp_path: Path) -> dict[str, list[dict[str, Any]]]:
    """The document about the world above, by way of the command."""
    return predicted(envoy_gateway.main, tmp_path, WORLD)


def test_every_parent_of_a_route_is_written(document: dict[str, list[dict[str, Any]]]) -> None:
    """By its name with section and port, whoever manages it."""
    missing = {"status": "False", "reason": "BackendNotFound"}
    nowhere = {"status": "False", "reason": "NoMatchingParent"}
    parents = [
        ("Gateway/edge/g", True, ACCEPTED),
        ("Gateway/edge/g#nowhere:80", True, nowhere),
        ("Gateway/edge/far", False, ACCEPTED),
        ("ListenerSet/edge/extra#x", True, ACCEPTED),
    ]
    assert entry_of(document["routes"], name="shop")["parents"] == [
        {"parentRef": name, "managed": managed, "accepted": accepted, "resolvedRefs": missing}
        for name, managed, accepted in parents
    ]
    assert entry_of(document["routes"], name="raw")["parents"] == []


def test_gateways_and_listener_sets_are_written(document: dict[str, list[dict[str, Any]]]) -> None:
    """Whether the former belong to Envoy Gateway, and what becomes of the latter."""
    assert {entry["name"]: entry["managed"] for entry in document["gateways"]} == {"far": False, "g": True}
    assert {entry["name"]: entry["accepted"] for entry in document["listenerSets"]} == {
        "extra": {"status": "True", "reason": "ListenersNotValid"},
        "shut": {"status": "False", "reason": "NotAllowed"},
    }


def test_listeners_are_written_with_their_routes(document: dict[str, list[dict[str, Any]]]) -> None:
    """The hostnames are those that each route has there."""
    free = {"conflicted": False, "reason": None}
    assert entry_of(document["listeners"], name="g", listener="http") == {
        "kind": "Gateway",
        "namespace": "edge",
        "name": "g",
        "listener": "http",
        "attachedRoutes": 1,
        "routes": [SHOP],
        "hostnames": {SHOP: ["a.example.com"]},
        "conflicted": free,
        "resolvedRefs": RESOLVED,
    }
    secure = entry_of(document["listeners"], name="g", listener="secure")
    assert (secure["attachedRoutes"], secure["routes"], secure["hostnames"]) == (0, [], {})
    assert secure["resolvedRefs"] == {"status": "False", "reason": "InvalidCertificateRef"}
    loser = entry_of(document["listeners"], name="extra", listener="alt")["conflicted"]
    assert loser == {"conflicted": True, "reason": "HostnameConflict"}


def test_effective_policies_are_written_by_listener_and_rule(document: dict[str, list[dict[str, Any]]]) -> None:
    """With what they are merged of; TCPRoutes are left out, as there is nothing to compare."""
    written = {(entry["listener"], entry["rule"]): entry.get("BackendTrafficPolicy") for entry in document["effective"]}
    whole = {"policy": "edge/whole", "contributors": ["edge/whole"]}
    ours = {
        ("edge/g/http", 0): {"policy": "apps/buy", "contributors": ["apps/buy", "edge/whole"]},
        ("edge/g/http", 1): whole,
        ("edge/g/edge/extra/x", 0): {"policy": "apps/buy", "contributors": ["apps/buy", "edge/set"]},
        ("edge/g/edge/extra/x", 1): {"policy": "edge/set", "contributors": ["edge/set"]},
    }
    assert {key: written[key] for key in ours} == ours
    assert written["edge/far/http", 1] is None
    assert {entry["route"] for entry in document["effective"]} == {SHOP}


def test_backend_tls_policies_are_written_by_backend(document: dict[str, list[dict[str, Any]]]) -> None:
    """By the place of the backend in its rule; all rules of a TCPRoute count as one."""
    assert [(entry["route"], entry["rule"], entry["backend"], entry["policy"]) for entry in document["backendTLS"]] == [
        (SHOP, 0, 0, None),
        (SHOP, 0, 1, "apps/tls"),
        (SHOP, 1, 0, None),
        ("TCPRoute/apps/raw", -1, 0, None),
        ("TCPRoute/apps/raw", -1, 1, "apps/tls"),
    ]


def test_policies_are_written_with_what_their_controller_would_say(document: dict[str, list[dict[str, Any]]]) -> None:
    """For each ancestor; what overrides or is merged by the names that messages have for it."""
    whole = entry_of(document["policies"], name="whole")["ancestors"]
    assert whole == [
        {
            "ref": "Gateway/edge/g",
            "accepted": ACCEPTED,
            "overridden": True,
            "overriddenBy": {"listenerSets": ["edge/extra"]},
            "mergedBy": {"routes": ["apps/shop"]},
        }
    ]
    merged = {
        entry["ref"]: entry.get("mergedInto") for entry in entry_of(document["policies"], name="buy")["ancestors"]
    }
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
    entries = ancestors(ref(kind, "p"), [AncestorStatus(ancestor=node("Gateway", "g"), conditions=(overridden,))])
    assert list(entries) == [{"ref": "Gateway/default/g", "overridden": True, "overriddenBy": expected}]


def test_an_ancestor_is_named_in_full() -> None:
    """What is the policy's own condition, or does not hold, is left out."""
    resolved = PolicyCondition(type="ResolvedRefs", status="True", reason="ResolvedRefs", message="")
    quiet = tuple(
        PolicyCondition(type=kind, status="False", reason="", message="")
        for kind in ("Overridden", "Merged", "Programmed")
    )
    entries = ancestors(
        ref("BackendTLSPolicy", "p"),
        [
            AncestorStatus(ancestor=None, conditions=(resolved,)),
            AncestorStatus(ancestor=node("GatewayClass", "c"), conditions=(resolved, *quiet)),
            AncestorStatus(ancestor=node("Gateway", "g", "http"), conditions=()),
        ],
    )
    assert list(entries) == [{"ref": "GatewayClass/-/c", "resolvedRefs": RESOLVED}, {"ref": "Gateway/default/g#http"}]
