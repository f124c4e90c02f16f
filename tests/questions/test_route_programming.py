"""Condition of routes that reports on replaced rules: by the profile of the Gateway's controllers alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pytest

from kubectl_policy import analyze
from kubectl_policy.model import Json, ObjectRef, Resource
from kubectl_policy.questions.route_programming import RoutePrograms
from tests import build
from tests.delegation import CONTROLLER, http_route, passing, to, top

GROUP: Final = "gateway.kgateway.dev"
G: Final = build.ref("Gateway", "g")
R: Final = build.ref("HTTPRoute", "r")
MISSING: Final[Json] = {"type": "ExtensionRef", "extensionRef": {"group": GROUP, "kind": "DirectResponse", "name": "x"}}
PROGRAMMED: Final = ("True", "Programmed", "every rule is programmed")


def policy(name: str, extension: str) -> Resource:
    """A TrafficPolicy on route `r` with an extension that does not exist unless it is `there`."""
    spec: dict[str, Json] = {
        "targetRefs": [build.target("r", "HTTPRoute")],
        "extAuth": {"extensionRef": {"name": extension}},
    }
    return build.resource("TrafficPolicy", name, spec, group=GROUP)


def conditions(
    *resources: Resource, route: ObjectRef = R, parent: ObjectRef = G, controller: str = CONTROLLER
) -> list[tuple[str, str, str]]:
    """The status, reason and message of the condition for a parent in a complete world."""
    world = (build.gateway_class(controller=controller), build.gateway("g"), build.service(), *resources)
    analysis = analyze(build.snapshot(*world, complete=True))
    reported = list(RoutePrograms(analysis).conditions(route, parent))
    assert {condition.type for condition in reported} <= {"kgateway.dev/Programmed"}
    return [(condition.status, condition.reason, condition.message) for condition in reported]


def test_a_rule_with_an_invalid_policy_is_replaced() -> None:
    """By the policy of the route, which needs an extension that is not there."""
    why = "GatewayExtension default/absent, which spec.extAuth.extensionRef names, does not exist"
    assert conditions(build.route("r"), policy("p", "absent")) == [
        ("False", "RouteRuleReplaced", f"rule[0]: TrafficPolicy default/p is not valid: {why}")
    ]


def test_every_rule_is_programmed() -> None:
    there = build.resource("GatewayExtension", "there", {}, group=GROUP)
    assert conditions(build.route("r"), policy("p", "there"), there) == [PROGRAMMED]
    assert conditions(build.route("r")) == [PROGRAMMED]


@pytest.mark.parametrize("kind", ["DirectResponse", "TrafficPolicy"])
def test_a_rule_with_a_filter_that_does_not_exist_is_replaced(kind: str) -> None:
    """A filter, or a policy whose absence fails requests."""
    missing: Json = {"type": "ExtensionRef", "extensionRef": {"group": GROUP, "kind": kind, "name": "x"}}
    rules = [build.rule(build.backend()), build.rule(build.backend(), filters=[missing])]
    known = build.resource(kind, "other", {}, group=GROUP)
    ((status, reason, message),) = conditions(build.route("r", rules=rules), known)
    assert (status, reason) == ("False", "RouteRuleReplaced")
    assert message == f"rule[1]: {kind} default/x does not exist"


def test_other_controllers_do_not_report_on_rules() -> None:
    assert conditions(build.route("r"), policy("p", "absent"), controller="example.com/gateway") == []
    assert conditions(build.route("r"), parent=build.ref("Service", "s", group="")) == []


@pytest.mark.parametrize(("named", "expected"), [((), "True"), ((MISSING,), "False")])
def test_a_route_that_delegates_is_a_parent(named: Sequence[Json], expected: str) -> None:
    """Its own controllers report on the routes to which it delegates."""
    above = top(passing("/blog", to("child")))
    child = http_route("child", {**passing("/blog/a", build.backend()), "filters": list(named)})
    parent = build.ref("HTTPRoute", "top")
    ((status, _, _),) = conditions(above, child, route=child.ref, parent=parent)
    assert status == expected
