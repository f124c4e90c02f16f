"""The adapter to Envoy Gateway's cases names policies, targets and overriders as messages of the controller do."""

from __future__ import annotations

from typing import Any, Final

import pytest

from kubectl_policy.questions.predicted_conditions import AncestorStatus, PolicyCondition
from tests.build import node, ref
from tests.cases.envoy_gateway import ancestors

RESOLVED: Final = {"status": "True", "reason": "ResolvedRefs"}


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
