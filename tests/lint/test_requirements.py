"""Requirements of the config file, reach of policies, their owners, and what a change makes worse."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy import analyze
from kubectl_policy.comparison import compare
from kubectl_policy.lint.finding import Finding, Fix
from kubectl_policy.lint.rules.requirements import cross_team_influence, owner_label_missing, wide_blast_radius
from kubectl_policy.lint.settings import LintSettings, Requirement
from kubectl_policy.profiles.reading import problems as problems_of
from tests.lint.policy_manifests import check, gateway, limits, policy, rate, retrying, route, said, service
from tests.lint.rule_worlds import document, lint, requiring, snapshot_of

HEAD: Final = (
    document("GatewayClass", "eg", "{controllerName: gateway.envoyproxy.io/gatewayclass-controller}", namespace="")
    + document(
        "Gateway",
        "public",
        "{gatewayClassName: eg, listeners: [{name: http, protocol: HTTP, port: 80}, "
        "{name: other, protocol: HTTP, port: 81}]}",
        meta=", labels: {tier: edge}",
    )
    + document(
        "HTTPRoute",
        "cart",
        "{parentRefs: [{name: public}], hostnames: [shop.example.com], rules: ["
        "{name: read, matches: [{method: GET}], backendRefs: [{name: cart, port: 80}]}, "
        "{name: write, backendRefs: [{name: cart, port: 80}]}]}",
        meta=", labels: {tier: public}",
    )
    + document("Service", "cart", "{ports: [{port: 80}]}", version="v1")
)
JWT: Final = '{providers: [{name: acme, remoteJWKS: {uri: "https://login.example.com/keys"}}]}'


def envoy_policy(kind: str, spec: str, target: str = "Gateway", name: str = "public", section: str = "") -> str:
    of = f", sectionName: {section}" if section else ""
    reference = f"{{group: gateway.networking.k8s.io, kind: {target}, name: {name}{of}}}"
    called = f"{target.lower()}-{section or name}"
    fields = f"\n  targetRefs: [{reference}]\n  {spec}"
    return document(kind, called, fields, version="gateway.envoyproxy.io/v1alpha1")


TIMEOUT: Final = "timeout: {http: {requestTimeout: 60s}}"
TIMED: Final = HEAD + envoy_policy("BackendTrafficPolicy", TIMEOUT)
AUTH: Final = requiring(policies=["SecurityPolicy"], fields=["jwt"])
LIMIT: Final = 'duration(policy.timeout.http.requestTimeout) <= duration("30s")'


def bounded(check: str) -> LintSettings:
    """What is to be true of the settings of BackendTrafficPolicies."""
    return requiring(policies=["BackendTrafficPolicy"], check=check)


def broken_requirements(manifests: str, settings: LintSettings, *, complete: bool = True) -> list[Finding]:
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
    assert broken_requirements(HEAD, requiring(policies=["SecurityPolicy"], routes=routes)) == []


def test_a_route_without_requests_needs_nothing() -> None:
    alone = HEAD.replace("parentRefs: [{name: public}]", "parentRefs: [{name: public, sectionName: none}]")
    assert broken_requirements(alone, AUTH) == []


@pytest.mark.parametrize(
    "routes",
    [
        {"kind": "HTTPRoute", "namespace": "sh*", "labels": {"tier": "public"}},
        {"gateway": "public"},
        {"gateway": "shop/public", "listener": "http"},
    ],
)
def test_a_route_that_is_meant_needs_it(routes: dict[str, str]) -> None:
    (finding,) = broken_requirements(HEAD, requiring(policies=["SecurityPolicy"], routes=routes))
    assert (str(finding.subject), finding.certain, finding.severity) == ("HTTPRoute shop/cart", True, "error")


def test_a_policy_that_is_in_force_everywhere_suffices() -> None:
    """Wherever it is attached, and of whichever kind of those that would do."""
    assert broken_requirements(HEAD + envoy_policy("SecurityPolicy", f"jwt: {JWT}"), AUTH) == []
    either = requiring(policies=["AuthPolicy", "securitypolicy"])
    assert broken_requirements(HEAD + envoy_policy("SecurityPolicy", f"jwt: {JWT}"), either) == []


def test_a_policy_without_the_field_does_not_suffice() -> None:
    (finding,) = broken_requirements(HEAD + envoy_policy("SecurityPolicy", "cors: {allowOrigins: ['*']}"), AUTH)
    assert finding.message == (
        "ours: no SecurityPolicy with jwt is in force, for requests through listener http of Gateway shop/public, "
        "listener other of Gateway shop/public"
    )
    assert [str(related.object) for related in finding.related] == ["Gateway shop/public"]


def test_a_policy_for_one_listener_leaves_the_other_one() -> None:
    (finding,) = broken_requirements(HEAD + envoy_policy("SecurityPolicy", f"jwt: {JWT}", section="http"), AUTH)
    assert finding.message.endswith("for requests through listener other of Gateway shop/public")


def test_a_policy_for_one_rule_leaves_the_other_one() -> None:
    (finding,) = broken_requirements(
        HEAD + envoy_policy("SecurityPolicy", f"jwt: {JWT}", "HTTPRoute", "cart", "read"), AUTH
    )
    assert "is in force for write, for requests" in finding.message
    assert finding.field == "spec.rules[1]"


def test_a_requirement_speaks_in_its_own_words() -> None:
    told = requiring(policies=["SecurityPolicy"], message="every route needs a token", severity="warning")
    (finding,) = broken_requirements(HEAD, told)
    assert (finding.message, finding.severity) == ("ours: every route needs a token", "warning")


def test_what_may_be_in_force_is_unknown() -> None:
    elsewhere = HEAD.replace("[{name: public}]", "[{name: public}, {name: hidden}]")
    assert [finding.certain for finding in broken_requirements(elsewhere, AUTH, complete=False)] == [False]


def test_a_kind_that_nobody_knows_is_in_force_nowhere() -> None:
    assert len(broken_requirements(HEAD, requiring(policies=["NoSuchPolicy"]))) == 1


def test_what_holds_is_within_bounds() -> None:
    of_timeouts = {"policies": ["BackendTrafficPolicy"], "check": LIMIT}
    assert broken_requirements(HEAD, requiring(**of_timeouts)) == []
    assert (
        broken_requirements(
            HEAD + envoy_policy("BackendTrafficPolicy", TIMEOUT.replace("60s", "30s")), requiring(**of_timeouts)
        )
        == []
    )
    assert [each.rule for each in broken_requirements(HEAD, requiring(**of_timeouts, required=True))] == ["GWP9001"]


def test_what_does_not_hold_is_said_once_of_the_policy_that_sets_it() -> None:
    (finding,) = broken_requirements(TIMED, bounded(LIMIT))
    assert str(finding.subject) == "BackendTrafficPolicy shop/gateway-public"
    assert finding.message == f"ours: not so: {LIMIT}, in force on HTTPRoute shop/cart"


def test_what_cannot_be_evaluated_does_not_hold() -> None:
    manifests = HEAD + envoy_policy("BackendTrafficPolicy", "retry: {numRetries: 2}")
    (finding,) = broken_requirements(manifests, bounded(LIMIT))
    assert "it cannot be evaluated: " in finding.message
    assert finding.certain
    optional = "!has(policy.timeout) || policy.timeout.http.requestTimeout != ''"
    assert broken_requirements(manifests, bounded(optional)) == []


@pytest.mark.parametrize(
    "check",
    [
        'route.name == "cart" && route.labels.tier == "public" && "shop.example.com" in route.hostnames',
        'gateway.namespace == "shop" && gateway.labels.tier == "edge"',
        'listener.name in ["http", "other"] && listener.port < 82 && listener.protocol == "HTTP"',
    ],
)
def test_a_check_sees_what_requests_pass(check: str) -> None:
    assert broken_requirements(TIMED, bounded(check)) == []


def test_a_check_is_made_for_each_way_of_requests() -> None:
    check = 'listener.name == "http"'
    assert len(broken_requirements(TIMED, bounded(check))) == 1


def test_a_policy_further_up_that_is_in_force_as_well_is_named() -> None:
    near = envoy_policy("BackendTrafficPolicy", f"mergeType: StrategicMerge\n  {TIMEOUT}", "HTTPRoute", "cart")
    far = envoy_policy("BackendTrafficPolicy", "retry: {numRetries: 2}")
    (finding,) = broken_requirements(HEAD + near + far, bounded(LIMIT))
    assert str(finding.subject) == "BackendTrafficPolicy shop/httproute-cart"
    assert [(str(related.object), related.words) for related in finding.related] == [
        ("BackendTrafficPolicy shop/gateway-public", "in force as well"),
        ("HTTPRoute shop/cart", "affected"),
    ]


def test_a_file_that_says_it_wrongly_is_refused() -> None:
    problems = list(problems_of({"name": "x", "polices": ["A"], "severity": "bad"}, Requirement))
    assert [(str(each.field), each.message) for each in problems] == [
        ("polices", "there is no such field; did you mean policies?"),
        ("severity", "'bad' is not allowed; use one of error, warning, info"),
        ("", "the field policies is missing"),
    ]


def test_a_check_sees_nothing_of_a_gateway_that_was_not_read() -> None:
    elsewhere = HEAD.replace("[{name: public}]", "[{name: hidden}]")
    own = envoy_policy("BackendTrafficPolicy", TIMEOUT, "HTTPRoute", "cart")
    assert (
        broken_requirements(elsewhere + own, bounded("!has(gateway.name) && !has(listener.name)"), complete=False) == []
    )
    (finding,) = broken_requirements(elsewhere + own, bounded('gateway.name == "hidden"'), complete=False)
    assert "it cannot be evaluated: " in finding.message


def test_what_is_around_is_not_linted() -> None:
    analysis = analyze(snapshot_of(TIMED, complete=True))
    assert [
        finding.rule
        for finding in lint(analysis, bounded(LIMIT), lambda finding: finding.ref.kind == "HTTPRoute")
        if finding.certain
    ] == []


OWNED: Final = LintSettings(owner="team")
WIDE: Final = LintSettings(widest=2)
TWO_TEAMS: Final = gateway() + service() + route() + route("search", namespace="find")


def test_nothing_is_asked_for_without_settings() -> None:
    manifests = [TWO_TEAMS, retrying("Gateway/public", 1)]
    assert check(wide_blast_radius, *manifests) == []
    assert check(cross_team_influence, *manifests) == []
    assert check(owner_label_missing, *manifests) == []


def test_a_policy_may_affect_many_routes() -> None:
    assert check(wide_blast_radius, TWO_TEAMS, retrying("HTTPRoute/cart", 1), settings=WIDE) == []
    assert check(wide_blast_radius, TWO_TEAMS, retrying("HTTPRoute/missing", 1), settings=WIDE) == []
    assert said(check(wide_blast_radius, TWO_TEAMS, retrying("Gateway/public", 1), settings=WIDE)) == (
        "BackendTrafficPolicy infra/public: affects 2 routes in 2 namespaces: HTTPRoute find/search, HTTPRoute"
        " shop/cart"
    )


def test_routes_behind_listeners_count() -> None:
    world = gateway() + route("a") + route("b")
    listeners = policy("ClientTrafficPolicy", "Gateway/public", "tls: {minVersion: '1.3'}")
    assert said(check(wide_blast_radius, world, listeners, settings=WIDE)) == (
        "ClientTrafficPolicy infra/public: affects 2 routes in namespace shop: HTTPRoute shop/a, HTTPRoute shop/b"
    )


def owned(kind: str, target: str, team: str, name: str = "") -> str:
    return policy(kind, target, "retry: {numRetries: 1}", labels=f"team: {team}" if team else "", name=name)


def test_a_team_may_affect_its_own_routes() -> None:
    manifests = [gateway(), route(labels="team: shop"), route("search")]
    for team in ("shop", ""):
        assert (
            check(
                cross_team_influence, *manifests, owned("BackendTrafficPolicy", "Gateway/public", team), settings=OWNED
            )
            == []
        )


def test_what_others_own_is_told() -> None:
    home = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: find, annotations: {team: search}}\n"
    manifests = [gateway(), home, route(labels="team: shop"), route("search", namespace="find")]
    (finding,) = check(
        cross_team_influence, *manifests, owned("BackendTrafficPolicy", "Gateway/public", "edge"), settings=OWNED
    )
    assert said([finding]) == (
        "BackendTrafficPolicy infra/public: is owned by edge, and affects HTTPRoute find/search, HTTPRoute"
        " shop/cart of search, shop"
    )
    assert [related.words for related in finding.related] == ["owned by search", "owned by shop"]


def test_an_owner_is_looked_up_once() -> None:
    both = [owned("BackendTrafficPolicy", target, "edge") for target in ("Gateway/public", "HTTPRoute/cart")]
    jwt = policy("SecurityPolicy", "Gateway/public", "cors: {maxAge: 1s}", labels="team: edge")
    assert len(check(cross_team_influence, gateway(), route(labels="team: shop"), *both, jwt, settings=OWNED)) == 2


def test_somebody_should_own_a_policy() -> None:
    mine = owned("BackendTrafficPolicy", "HTTPRoute/cart", "shop")
    home = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {%s}}\n"
    nobodys = rate("HTTPRoute/cart", limits("all", 1))
    assert check(owner_label_missing, mine, settings=OWNED) == []
    assert check(owner_label_missing, home % "team: shop", nobodys, settings=OWNED) == []
    (finding,) = check(owner_label_missing, home % "", nobodys, settings=OWNED, complete=False)
    assert said([finding]) == ("RateLimitPolicy shop/cart: has no label or annotation team")
    assert finding.fix == Fix(words="add the label team")
    (finding,) = check(owner_label_missing, nobodys, settings=OWNED, complete=False)
    assert (finding.certain, finding.message) == (
        False,
        "has no label or annotation team, and Namespace shop was not read",
    )


SECURED: Final = HEAD + envoy_policy("SecurityPolicy", f"jwt: {JWT}")
OPENED: Final = envoy_policy(
    "SecurityPolicy", "cors: {allowOrigins: ['https://shop.example.com']}", "HTTPRoute", "cart"
)


def worse(before: str, after: str) -> list[tuple[str, str, str, bool]]:
    """What the rules about changes find: the rule, the subject, the message, and whether that is certain."""
    return [
        (finding.rule, str(finding.subject or ""), finding.message, finding.certain)
        for finding in worsened(before, after)
    ]


def worsened(before: str, after: str) -> list[Finding]:
    comparison = compare(snapshot_of(before), snapshot_of(after))
    every = lint(comparison.after, LintSettings(selected=("GWP91",)), comparison=comparison)
    return [finding for finding in every if finding.rule.startswith("GWP91")]


def test_what_is_the_same_is_no_worse() -> None:
    assert worse(SECURED, SECURED) == []
    assert worse(HEAD, SECURED) == []
    assert worse(TIMED, HEAD) == []


def test_without_a_state_before_nothing_is_worse() -> None:
    assert lint(compare(snapshot_of(HEAD), snapshot_of(HEAD)).after, LintSettings(selected=("GWP91",))) == ()


def test_a_nearer_policy_that_takes_a_token_away() -> None:
    first, second = worsened(SECURED, SECURED + OPENED)
    assert (first.rule, first.certain) == ("GWP9101", True)
    assert str(first.subject) == "HTTPRoute shop/cart"
    assert first.message.startswith("jwt.providers")
    assert "of SecurityPolicy is lost for " in first.message
    assert [(str(related.object), related.words, related.origin is not None) for related in first.related] == [
        ("SecurityPolicy shop/gateway-public", "set it before", True)
    ]
    assert (second.rule, str(second.subject)) == ("GWP9103", "SecurityPolicy shop/gateway-public")
    assert second.message == (
        "had an effect before (Enforced) and no longer has one (Overridden): "
        "SecurityPolicy shop/httproute-cart now overrides it"
    )


def test_a_token_of_somebody_else() -> None:
    other = SECURED.replace("https://login.example.com/keys", "https://evil.example.net/keys")
    ((rule, subject, message, certain),) = worse(SECURED, other)
    assert (rule, subject, certain) == ("GWP9101", "SecurityPolicy shop/gateway-public", True)
    assert "has another value for " in message


def test_a_policy_that_is_deleted() -> None:
    assert [(rule, subject) for rule, subject, *_ in worse(SECURED, HEAD)] == [("GWP9101", "HTTPRoute shop/cart")]


def test_a_route_that_gets_no_requests_any_more() -> None:
    elsewhere = HEAD.replace("port: 80}", "port: 80, hostname: '*.example.org'}")
    assert worse(HEAD, elsewhere) == [
        ("GWP9102", "HTTPRoute shop/cart", "gets fewer requests than before (hostnames shop.example.com)", True)
    ]
    nowhere = elsewhere.replace("port: 81}", "port: 81, hostname: '*.example.org'}")
    assert worse(HEAD, nowhere) == [
        ("GWP9102", "HTTPRoute shop/cart", "no longer gets requests (hostnames shop.example.com)", True)
    ]


def test_a_route_that_is_deleted() -> None:
    before = HEAD
    (finding,) = worsened(before, "---".join(part for part in HEAD.split("---") if "HTTPRoute" not in part))
    assert (finding.rule, finding.severity, finding.subject) == ("GWP9102", "warning", None)
    assert finding.message == "HTTPRoute shop/cart is gone (hostnames shop.example.com)"
    assert finding.origin


def test_a_policy_that_still_has_an_effect_is_no_worse_off() -> None:
    both = SECURED + envoy_policy(
        "SecurityPolicy", "cors: {allowOrigins: ['https://shop.example.com']}", section="http"
    )
    assert [finding.rule for finding in worsened(SECURED, both)] == ["GWP9101"]


def test_what_is_not_linted_is_not_gone() -> None:
    elsewhere = HEAD.replace("port: 80}", "port: 80, hostname: '*.example.org'}")
    deleted = "---".join(part for part in HEAD.split("---") if "HTTPRoute" not in part)
    for before, after in ((HEAD, elsewhere), (HEAD, deleted), (SECURED, HEAD)):
        comparison = compare(snapshot_of(before), snapshot_of(after))
        settings = LintSettings(selected=("GWP91",))
        findings = lint(comparison.after, settings, lambda each: each.ref.namespace == "other", comparison)
        assert [finding.rule for finding in findings if finding.rule.startswith("GWP91")] == []
