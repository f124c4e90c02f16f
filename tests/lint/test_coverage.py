"""What a team wants to be in force for its routes: what counts as that, for which routes, and what is unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import analyze
from kubectl_policy.lint.settings import Requirement
from kubectl_policy.profiles.reading import problems as problems_of
from tests.lint.examples import lint, requiring, snapshot_of

if TYPE_CHECKING:
    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.lint.settings import LintSettings

HEAD: Final = """
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: public, namespace: shop, labels: {tier: edge}}
spec:
  gatewayClassName: eg
  listeners:
    - {name: http, protocol: HTTP, port: 80}
    - {name: other, protocol: HTTP, port: 81}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: cart, namespace: shop, labels: {tier: public}}
spec:
  parentRefs: [{name: public}]
  hostnames: [shop.example.com]
  rules:
    - {name: read, matches: [{method: GET}], backendRefs: [{name: cart, port: 80}]}
    - {name: write, backendRefs: [{name: cart, port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {ports: [{port: 80}]}
"""
JWT: Final = '{providers: [{name: acme, remoteJWKS: {uri: "https://login.example.com/keys"}}]}'


def policy(kind: str, spec: str, target: str = "Gateway", name: str = "public", section: str = "") -> str:
    """A policy of Envoy Gateway."""
    of = f", sectionName: {section}" if section else ""
    return f"""---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: {kind}
metadata: {{name: {target.lower()}-{section or name}, namespace: shop}}
spec:
  targetRefs: [{{group: gateway.networking.k8s.io, kind: {target}, name: {name}{of}}}]
  {spec}
"""


TIMEOUT: Final = "timeout: {http: {requestTimeout: 60s}}"
TIMED: Final = HEAD + policy("BackendTrafficPolicy", TIMEOUT)
AUTH: Final = requiring(policies=["SecurityPolicy"], fields=["jwt"])
LIMIT: Final = 'duration(policy.timeout.http.requestTimeout) <= duration("30s")'


def bounded(check: str) -> LintSettings:
    """What is to be true of the settings of BackendTrafficPolicies."""
    return requiring(policies=["BackendTrafficPolicy"], check=check)


def found(manifests: str, settings: LintSettings, *, complete: bool = True) -> list[Finding]:
    """What the two rules find."""
    every = lint(analyze(snapshot_of(manifests, complete=complete)), settings)
    return [finding for finding in every if finding.rule in {"GWP9001", "GWP9002"}]


@pytest.mark.parametrize(
    "routes",
    [
        {"kind": "GRPCRoute"},
        {"namespace": "other"},
        {"namespace": "shop-*"},
        {"labels": {"tier": "internal"}},
        {"gateway": "internal"},
        {"gateway": "infra/public"},
        {"listener": "https"},
    ],
)
def test_a_route_that_is_not_meant_needs_nothing(routes: dict[str, str]) -> None:
    """All that a selection says must hold."""
    assert found(HEAD, requiring(policies=["SecurityPolicy"], routes=routes)) == []


@pytest.mark.parametrize(
    "routes",
    [
        {"kind": "HTTPRoute", "namespace": "sh*", "labels": {"tier": "public"}},
        {"gateway": "public"},
        {"gateway": "shop/public", "listener": "http"},
    ],
)
def test_a_route_that_is_meant_needs_it(routes: dict[str, str]) -> None:
    """By its labels, or by the way of requests."""
    (finding,) = found(HEAD, requiring(policies=["SecurityPolicy"], routes=routes))
    assert (str(finding.subject), finding.certain, finding.severity) == ("HTTPRoute shop/cart", True, "error")


def test_a_policy_that_is_in_force_everywhere_suffices() -> None:
    """Wherever it is attached, and of whichever kind of those that would do."""
    assert found(HEAD + policy("SecurityPolicy", f"jwt: {JWT}"), AUTH) == []
    either = requiring(policies=["AuthPolicy", "securitypolicy"])
    assert found(HEAD + policy("SecurityPolicy", f"jwt: {JWT}"), either) == []


def test_a_policy_without_the_field_does_not_suffice() -> None:
    """What is attached and does not say it is as good as none."""
    (finding,) = found(HEAD + policy("SecurityPolicy", "cors: {allowOrigins: ['*']}"), AUTH)
    assert finding.message == (
        "ours: no SecurityPolicy with jwt is in force, for requests through listener http of Gateway shop/public, "
        "listener other of Gateway shop/public"
    )
    assert [str(each.object) for each in finding.related] == ["Gateway shop/public"]


def test_a_policy_for_one_listener_leaves_the_other_one() -> None:
    """Each way of requests counts."""
    (finding,) = found(HEAD + policy("SecurityPolicy", f"jwt: {JWT}", section="http"), AUTH)
    assert finding.message.endswith("for requests through listener other of Gateway shop/public")


def test_a_policy_for_one_rule_leaves_the_other_one() -> None:
    """Then the rule is what the finding is about."""
    (finding,) = found(HEAD + policy("SecurityPolicy", f"jwt: {JWT}", "HTTPRoute", "cart", "read"), AUTH)
    assert "is in force for write, for requests" in finding.message
    assert finding.field == "spec.rules[1]"


def test_a_requirement_speaks_in_its_own_words() -> None:
    """And has its own severity."""
    told = requiring(policies=["SecurityPolicy"], message="every route needs a token", severity="warning")
    (finding,) = found(HEAD, told)
    assert (finding.message, finding.severity) == ("ours: every route needs a token", "warning")


def test_what_may_be_in_force_is_unknown() -> None:
    """The route may be attached to a Gateway that was not read, where a policy may be."""
    elsewhere = HEAD.replace("[{name: public}]", "[{name: public}, {name: hidden}]")
    findings = found(elsewhere, AUTH, complete=False)
    assert [finding.certain for finding in findings] == [False]


def test_a_kind_that_nobody_knows_is_in_force_nowhere() -> None:
    """It fails closed."""
    assert len(found(HEAD, requiring(policies=["NoSuchPolicy"]))) == 1


def test_what_holds_is_within_bounds() -> None:
    """Nothing is out of bounds where nothing is in force, unless it is required as well."""
    of_timeouts = {"policies": ["BackendTrafficPolicy"], "check": LIMIT}
    assert found(HEAD, requiring(**of_timeouts)) == []
    assert found(HEAD + policy("BackendTrafficPolicy", TIMEOUT.replace("60s", "30s")), requiring(**of_timeouts)) == []
    assert [each.rule for each in found(HEAD, requiring(**of_timeouts, required=True))] == ["GWP9001"]


def test_what_does_not_hold_is_said_once_of_the_policy_that_sets_it() -> None:
    """However many routes have it."""
    (finding,) = found(TIMED, bounded(LIMIT))
    assert str(finding.subject) == "BackendTrafficPolicy shop/gateway-public"
    assert finding.message == f"ours: not so: {LIMIT}, in force on HTTPRoute shop/cart"


def test_what_cannot_be_evaluated_does_not_hold() -> None:
    """Whoever means what may be absent has to say so."""
    manifests = HEAD + policy("BackendTrafficPolicy", "retry: {numRetries: 2}")
    (finding,) = found(manifests, bounded(LIMIT))
    assert "it cannot be evaluated: " in finding.message
    assert finding.certain
    optional = "!has(policy.timeout) || policy.timeout.http.requestTimeout != ''"
    assert found(manifests, bounded(optional)) == []


@pytest.mark.parametrize(
    "check",
    [
        'route.name == "cart" && route.labels.tier == "public" && "shop.example.com" in route.hostnames',
        'gateway.namespace == "shop" && gateway.labels.tier == "edge"',
        'listener.name in ["http", "other"] && listener.port < 82 && listener.protocol == "HTTP"',
    ],
)
def test_a_check_sees_what_requests_pass(check: str) -> None:
    """The route, the Gateway and the listener."""
    assert found(TIMED, bounded(check)) == []


def test_a_check_is_made_for_each_way_of_requests() -> None:
    """One listener is not like the other one."""
    check = 'listener.name == "http"'
    findings = found(TIMED, bounded(check))
    assert len(findings) == 1


def test_a_policy_further_up_that_is_in_force_as_well_is_named() -> None:
    """The nearest one is the subject."""
    near = policy("BackendTrafficPolicy", f"mergeType: StrategicMerge\n  {TIMEOUT}", "HTTPRoute", "cart")
    far = policy("BackendTrafficPolicy", "retry: {numRetries: 2}")
    (finding,) = found(HEAD + near + far, bounded(LIMIT))
    assert str(finding.subject) == "BackendTrafficPolicy shop/httproute-cart"
    assert [(str(each.object), each.words) for each in finding.related] == [
        ("BackendTrafficPolicy shop/gateway-public", "in force as well"),
        ("HTTPRoute shop/cart", "affected"),
    ]


def test_a_file_that_says_it_wrongly_is_refused() -> None:
    """With the field, and what is allowed."""
    problems = list(problems_of({"name": "x", "polices": ["A"], "severity": "bad"}, Requirement))
    assert [(str(each.field), each.message) for each in problems] == [
        ("polices", "there is no such field; did you mean policies?"),
        ("severity", "'bad' is not allowed; use one of error, warning, info"),
        ("", "the field policies is missing"),
    ]


def test_a_check_sees_nothing_of_a_gateway_that_was_not_read() -> None:
    """It does not hold where it needs that."""
    elsewhere = HEAD.replace("[{name: public}]", "[{name: hidden}]")
    own = policy("BackendTrafficPolicy", TIMEOUT, "HTTPRoute", "cart")
    assert found(elsewhere + own, bounded("!has(gateway.name) && !has(listener.name)"), complete=False) == []
    (finding,) = found(elsewhere + own, bounded('gateway.name == "hidden"'), complete=False)
    assert "it cannot be evaluated: " in finding.message


def test_what_is_around_is_not_linted() -> None:
    """Whatever a rule says of it."""
    analysis = analyze(snapshot_of(TIMED, complete=True))
    assert [
        each.rule for each in lint(analysis, bounded(LIMIT), lambda each: each.ref.kind == "HTTPRoute") if each.certain
    ] == []
