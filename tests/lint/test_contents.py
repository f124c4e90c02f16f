"""Contents of routes that their controllers refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy.lint.rules.routes.contents import route_content_refused
from tests import build
from tests.lint.rule_worlds import checked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json

NGINX: Final = build.gateway_class("public", "gateway.nginx.org/nginx-gateway-controller")
ENVOY: Final = build.gateway_class("public", "gateway.envoyproxy.io/gatewayclass-controller")


def matching(path: str) -> dict[str, Json]:
    return build.rule(build.backend(), matches=[{"path": {"type": "PathPrefix", "value": path}}])


@pytest.mark.parametrize(
    ("rules", "consequence", "severity"),
    [
        ([matching("/a;b")], "no rule of the route is left, so it is not accepted", None),
        ([matching("/a;b"), matching("/c")], "the rule is left out", "warning"),
    ],
)
def test_rules_that_are_left_out(rules: list[Mapping[str, Json]], consequence: str, severity: str | None) -> None:
    route = build.route(rules=rules)
    (finding,) = checked(route_content_refused, NGINX, build.gateway(), build.service(), route)
    problem = "spec.rules[0].matches[0].path.value /a;b is not a path without white space, braces and semicolons"
    assert (finding.message, finding.severity) == (f"{problem}; {consequence}", severity)
    assert (finding.reason, finding.certain) == ("UnsupportedValue", True)


def test_backends_that_must_be_alone() -> None:
    """The backend is related."""
    group = "gateway.envoyproxy.io"
    refs = [build.backend("resolver", None, kind="Backend", group=group), build.backend()]
    resolver = build.resource("Backend", "resolver", {"type": "DynamicResolver"}, group=group)
    world = (ENVOY, build.gateway(), build.service(), resolver, build.route(rules=[build.rule(*refs)]))
    (finding,) = checked(route_content_refused, *world)
    assert finding.message.endswith("of a rule with other backends; requests to the rule may fail")
    assert [related.object for related in finding.related] == [resolver.ref]
    assert (finding.field, finding.reason) == ("spec.rules[0].backendRefs[0]", "")
