"""Application Gateway for Containers: settings stand in `default` or `override`, which beats every default."""

from __future__ import annotations

from typing import Final

from kubectl_policy import analyze
from kubectl_policy.model import Json
from kubectl_policy.questions.describe.objects import describe
from tests import build
from tests.implementations import edited, fixture_world, reported, settings, spec_at, states

GROUP: Final = "alb.networking.azure.io"
ROUTES: Final = f"RoutePolicy.{GROUP}"
PAYMENT: Final = "foyer > https > tickets > payment"
world: Final = fixture_world("azure")


def test_an_override_above_beats_one_below() -> None:
    """Of two overrides, that of the route beats that of its rule; of two defaults the rule's wins."""
    above: Json = {"timeouts": {"routeTimeout": "5s"}}
    overriding = edited(world(), "RoutePolicy box-office/tickets", default=None, override=above)
    assert settings(analyze(overriding), ROUTES)[PAYMENT] == above
    yielding = edited(world(), "RoutePolicy box-office/payment", override=None, default={"timeouts": {}})
    assert settings(analyze(yielding), ROUTES)[PAYMENT]["timeouts"] == {"routeTimeout": "10s"}


def test_a_policy_for_some_listeners_is_on_no_other() -> None:
    """The reference has a list, `sectionNames`."""
    strict = {"policyType": {"type": "predefined", "name": "2023-06-S"}}
    both: Json = {
        "group": "gateway.networking.k8s.io",
        "kind": "Gateway",
        "name": "foyer",
        "sectionNames": ["http", "https"],
    }
    in_force = settings(
        analyze(edited(world(), "FrontendTLSPolicy house/strict", targetRef=both)), "FrontendTLSPolicy." + GROUP
    )
    assert in_force == {"foyer > http": strict, "foyer > https": strict}


def test_a_routes_firewall_for_the_gateways_is_assumed() -> None:
    """No text says what becomes of two, and the answer says that."""
    analysis = analyze(world())
    answer = describe(analysis, build.node("HTTPRoute", "tickets", namespace="box-office"))
    assumed = {
        group.combination.assumed for group in answer.in_force if group.kind.kind == "WebApplicationFirewallPolicy"
    }
    assert assumed == {("merge strategy",)}


def test_a_service_of_another_namespace_needs_a_grant() -> None:
    """The box-office lets health checks of the house in; without the grant the policy is not permitted."""
    payment = build.node("Service", "payment", namespace="box-office", group="")
    kind = f"HealthCheckPolicy.{GROUP}"
    refused = analyze(world("ReferenceGrant box-office/health-checks"))
    assert spec_at(refused, kind, payment) == []
    assert states(refused)["HealthCheckPolicy house/payment"] == ("NotPermitted", [])


def test_a_reference_that_leads_nowhere_is_reported() -> None:
    """A reference that leads nowhere under ResolvedRefs, with a reason for each way of it."""
    wrong: Json = {"group": "", "kind": "ConfigMap", "name": "x"}
    found = analyze(edited(world(), "BackendTLSPolicy box-office/seats", targetRef=wrong))
    assert reported(found, "BackendTLSPolicy box-office/seats") == {"": {"ResolvedRefs": ("False", "InvalidKind", ())}}
    far: Json = {"group": "", "kind": "Service", "name": "s", "namespace": "house"}
    found = analyze(edited(world(), "BackendTLSPolicy box-office/seats", targetRef=far))
    assert reported(found, "BackendTLSPolicy box-office/seats") == {
        "": {"ResolvedRefs": ("False", "RefNotPermitted", ())}
    }
