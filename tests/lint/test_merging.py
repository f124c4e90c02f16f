"""How policies say that they merge, what they say twice, and what protects a backend on some ways alone."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import analyze
from kubectl_policy.lint.lint_world import LintWorld
from kubectl_policy.lint.rules.policies import merging
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model import Gap
from kubectl_policy.profiles import MergeStrategy
from tests.lint.policy_manifests import (
    CORS,
    ISTIO,
    JWT,
    ON_GATEWAY,
    ON_ROUTE,
    SLOW,
    WORLD,
    check,
    definition,
    gateway,
    limits,
    policy,
    profile,
    quota,
    rate,
    route,
    said,
    security,
    service,
    traffic,
)
from tests.lint.rule_worlds import document, snapshot_of

MERGING: Final = f"mergeType: StrategicMerge, {CORS}"
# The route names both listeners of a Gateway, and has a hostname in common with one of them.
APART: Final = (
    gateway(listeners=("http", "other"))
    .replace("port: 80,", "port: 80, hostname: a.example,")
    .replace("port: 81,", "port: 81, hostname: b.example,")
    + route(hostname="a.example")
    + service()
)


@pytest.mark.parametrize(
    "manifests",
    [
        [WORLD, security(ON_GATEWAY, JWT), security(ON_ROUTE, MERGING)],
        # It does not ask for it, and what it asks for is yet to be filled in.
        [WORLD, security(ON_ROUTE, CORS)],
        [WORLD, security(ON_ROUTE, f'mergeType: "${{MERGE}}", {CORS}')],
        # The one further up is at a listener that the route names, and has no hostname in common with.
        [APART, security(ON_GATEWAY, JWT, section="other"), security(ON_ROUTE, MERGING)],
        # The one further up is there, and is not valid: that is what is to be said.
        [WORLD, security(ON_GATEWAY, "basicAuth: {users: {name: missing}}"), security(ON_ROUTE, MERGING)],
        # It has no effect at all.
        [security(ON_ROUTE, MERGING)],
        # Where those further up decide, there is nothing to ask for.
        [ISTIO, rate(ON_ROUTE, f"defaults: {{strategy: merge, {limits('all', 1)}}}")],
    ],
)
def test_there_is_something_to_merge_with(manifests: list[str]) -> None:
    assert check(merging.nothing_to_merge_with, *manifests) == []


def test_nothing_is_there_to_merge_with() -> None:
    manifests = [WORLD, security(ON_ROUTE, JWT), security(ON_ROUTE, MERGING, section="all", name="all")]
    (finding,) = check(merging.nothing_to_merge_with, *manifests)
    assert said([finding]) == (
        "SecurityPolicy shop/all: no SecurityPolicy is attached to a Gateway, ListenerSet or XListenerSet further"
        " up to merge with: it applies alone"
    )
    assert finding.field == "spec.mergeType"
    assert said(check(merging.nothing_to_merge_with, *manifests, complete=False)) == ""


@pytest.mark.parametrize(("kind", "certain"), [("SecurityPolicy", False), ("", False), ("Secret", True)])
def test_what_may_not_be_read_may_be_there(kind: str, certain: bool) -> None:  # noqa: FBT001 (a parameter of the test)
    snapshot = snapshot_of(WORLD + security(ON_ROUTE, MERGING), complete=True)
    analysis = analyze(replace(snapshot, gaps=(Gap(kind, "", "forbidden"),)))
    (finding,) = merging.nothing_to_merge_with.check(LintWorld(analysis, LintSettings(), lambda _: True))
    assert finding.certain is certain


def test_it_may_be_any_target_further_up() -> None:
    ours = profile(strategy=MergeStrategy.ATOMIC_DEFAULTS, strategy_field="spec.merge", chooser="challenger")
    alone = quota(ON_ROUTE, "merge: Patch, quota: 1")
    (finding,) = check(merging.nothing_to_merge_with, WORLD, alone, profiles=[ours])
    assert finding.message == "no QuotaPolicy is attached to a target further up to merge with: it applies alone"


LIMITS: Final = f"{{{limits('all', 1)}}}"


@pytest.mark.parametrize(
    "spec", [limits("all", 1), f"defaults: {LIMITS}", f"overrides: {LIMITS}", "defaults: text", "overrides: []"]
)
def test_one_strategy_is_right(spec: str) -> None:
    assert check(merging.multiple_strategies, rate(ON_ROUTE, spec)) == []


def test_the_experimental_text_has_two_strategies() -> None:
    both = "default: {timeouts: {routeTimeout: 1s}}, override: {timeouts: {routeTimeout: 2s}}"
    assert check(merging.multiple_strategies, policy("RoutePolicy", ON_ROUTE, both)) == []


@pytest.mark.parametrize(
    ("spec", "parts", "field"),
    [
        (f"overrides: {LIMITS}, defaults: {LIMITS}", "defaults and overrides", "spec.overrides"),
        (f"{limits('all', 1)}, defaults: {LIMITS}", "settings and defaults", "spec.defaults"),
        (f"{limits('all', 1)}, overrides: {LIMITS}", "settings and overrides", "spec.overrides"),
    ],
)
def test_several_strategies_are_told(spec: str, parts: str, field: str) -> None:
    (finding,) = check(merging.multiple_strategies, rate(ON_ROUTE, spec), complete=False)
    assert said([finding]) == (f"RateLimitPolicy shop/cart: has {parts}, where a policy has one strategy")
    assert finding.field == field


def test_of_a_kind_without_a_schema_it_is_a_guess() -> None:
    both = quota(ON_ROUTE, "defaults: {a: 1}, overrides: {a: 2}")
    (finding,) = check(merging.multiple_strategies, definition("QuotaPolicy", "inherited"), both)
    assert not finding.certain


SHARED: Final = gateway(listeners=("http", "other")) + route("one") + route("two") + service()


@pytest.mark.parametrize(
    "manifests",
    [
        [SHARED, security(ON_GATEWAY, JWT)],
        # Only one route leads there.
        [WORLD, route("search", backend="search"), security(ON_ROUTE, JWT)],
        # Two policies protect what is behind both, and one what is behind another one.
        [SHARED, route("search", backend="search"), security(ON_GATEWAY, JWT), security("HTTPRoute/search", MERGING)],
        # What differs does not protect.
        [SHARED, traffic("HTTPRoute/one", SLOW)],
        [SHARED, security("HTTPRoute/one", "mergeType: StrategicMerge, jwt: {optional: false}")],
        # Values are not compared.
        [SHARED, security("HTTPRoute/one", JWT), security("HTTPRoute/two", JWT.replace("example", "other"))],
        # The other route is attached to nothing.
        [gateway(), route("one"), route("two", gateway="none"), service(), security("HTTPRoute/one", JWT)],
        # It is about the backend itself, and about listeners.
        [
            SHARED,
            policy(
                "BackendTLSPolicy",
                "Service/cart",
                "validation: {hostname: cart.example.com, wellKnownCACertificates: System}",
            ),
            policy("ClientTrafficPolicy", ON_GATEWAY, "tls: {minVersion: '1.3'}", section="http"),
        ],
        # No profile says what protects.
        [SHARED, definition("QuotaPolicy", "inherited"), quota("HTTPRoute/one", "quota: 1")],
        # The rule that leads there is protected as well, which another one of the route is not.
        [
            gateway(),
            route("one"),
            route("two").replace("rules: [", "rules: [{name: else, backendRefs: [{name: search, port: 80}]}, "),
            service(),
            security("HTTPRoute/one", JWT),
            security("HTTPRoute/two", JWT, section="all"),
        ],
    ],
)
def test_a_backend_is_protected_alike(manifests: list[str]) -> None:
    assert check(merging.context_dependent_backend, *manifests) == []


def test_a_backend_is_protected_on_one_way_alone() -> None:
    manifests = [SHARED, security("HTTPRoute/one", f"{JWT}, {CORS}"), security("HTTPRoute/two", CORS)]
    (finding,) = check(merging.context_dependent_backend, *manifests, complete=False)
    assert said([finding]) == (
        "Service shop/cart: SecurityPolicy sets jwt for requests through HTTPRoute shop/one, and not for those"
        " through HTTPRoute shop/two"
    )
    assert [str(related.object) for related in finding.related] == ["HTTPRoute shop/two"]


def test_policies_that_all_apply_protect_as_well() -> None:
    guard = policy(
        "WAFPolicy", "HTTPRoute/one", "type: HTTP, policySource: {httpSource: {url: 'https://example.com/waf'}}"
    )
    version = "gateway.nginx.org/v1alpha2"
    proxy = document("NginxProxy", "waf", "{waf: {enable: true}}", version=version, namespace="infra")
    world = gateway(controller="gateway.nginx.org/nginx-gateway-controller") + route("one") + route("two") + service()
    world = world.replace(
        "  listeners:",
        "  infrastructure: {parametersRef: {group: gateway.nginx.org, kind: NginxProxy, name: waf}}\n  listeners:",
    )
    (finding,) = check(merging.context_dependent_backend, world, proxy, guard)
    assert finding.message.startswith("WAFPolicy sets policySource, type for requests through HTTPRoute shop/one,")


def on_routes(*names: str, spec: str = SLOW) -> str:
    """A BackendTrafficPolicy on each of some routes."""
    return "".join(traffic(f"HTTPRoute/{name}", spec) for name in names)


THREE: Final = gateway() + "".join(route(name, backend=name) for name in ("a", "b", "c")) + traffic(ON_GATEWAY, SLOW)


@pytest.mark.parametrize(
    "manifests",
    [
        # Two are not many.
        [THREE, on_routes("a", "b")],
        # One says something else.
        [THREE, on_routes("a", "b"), on_routes("c", spec="retry: {numRetries: 1}")],
        # They have no effect.
        [on_routes("a", "b", "c")],
        # They say nothing.
        [THREE, on_routes("a", "b", "c", spec="")],
        # One is about a target of another kind.
        [
            gateway(listeners=("http", "other")),
            route("a"),
            traffic(ON_GATEWAY, SLOW),
            traffic(ON_GATEWAY, SLOW, section="http", name="http"),
            route("d", namespace="infra"),
            on_routes("d").replace("namespace: shop", "namespace: infra"),
        ],
        # Each takes one target alone, or is for one.
        [
            gateway(controller="istio.io/gateway-controller") + "".join(route(name) for name in "abc"),
            *(rate(f"HTTPRoute/{name}", limits("all", 1)) for name in "abc"),
        ],
    ],
)
def test_nothing_is_said_too_often(manifests: list[str]) -> None:
    assert check(merging.duplicate_spec, *manifests) == []


def test_what_is_said_too_often_is_told_once() -> None:
    (finding,) = check(merging.duplicate_spec, THREE, on_routes("a", "b", "c"), complete=False)
    assert said([finding]) == (
        "BackendTrafficPolicy shop/a: sets the same as BackendTrafficPolicy shop/b, BackendTrafficPolicy shop/c:"
        " one policy with several targets could do it"
    )
    assert [related.words for related in finding.related] == ["sets the same", "sets the same"]


@pytest.mark.parametrize(
    "manifests",
    [
        [WORLD, traffic(ON_GATEWAY, SLOW)],
        [WORLD, traffic(ON_GATEWAY, SLOW), traffic(ON_ROUTE, SLOW.replace("60", "5"))],
        # It adds something, or takes something away.
        [WORLD, traffic(ON_GATEWAY, SLOW), traffic(ON_ROUTE, f"{SLOW}, retry: {{numRetries: 1}}")],
        [WORLD, traffic(ON_GATEWAY, f"{SLOW}, retry: {{numRetries: 1}}"), traffic(ON_ROUTE, SLOW)],
        # It is needed where the other one is not.
        [
            WORLD,
            gateway("internal"),
            traffic(ON_GATEWAY, SLOW),
            traffic("HTTPRoute/both", SLOW),
            route("both").replace("parentRefs: [", "parentRefs: [{name: internal, namespace: infra}, "),
        ],
        # An override holds its value whatever others say.
        [ISTIO, rate(ON_GATEWAY, limits("all", 1)), rate(ON_ROUTE, f"overrides: {LIMITS}")],
        # It is refused, which is another matter.
        [WORLD, traffic(ON_GATEWAY, SLOW), traffic(ON_ROUTE, SLOW, name="a"), traffic(ON_ROUTE, SLOW, name="b")],
        # All of them apply.
        [WORLD, *(policy("EnvoyPatchPolicy", ON_GATEWAY, "priority: 0", name=name) for name in "ab")],
        # How they combine is not known.
        [WORLD, definition("QuotaPolicy", "inherited"), *(quota(each, "quota: 1") for each in (ON_GATEWAY, ON_ROUTE))],
        # One of them is there for others.
        [WORLD, traffic(ON_GATEWAY, SLOW), route("search"), traffic(ON_ROUTE, "")],
    ],
)
def test_what_is_needed_is_not_found(manifests: list[str]) -> None:
    assert check(merging.redundant_policy, *manifests) == []


def test_what_others_say_already_is_found() -> None:
    """Where all is known, since what is elsewhere may say something between the two."""
    manifests = [WORLD, traffic(ON_GATEWAY, SLOW), traffic(ON_ROUTE, SLOW)]
    (finding,) = check(merging.redundant_policy, *manifests)
    assert said([finding]) == (
        "BackendTrafficPolicy shop/cart: sets nothing that is not in force without it: BackendTrafficPolicy"
        " infra/public says the same"
    )
    assert said(check(merging.redundant_policy, *manifests, complete=False)) == ""


def test_of_two_on_one_target_that_say_the_same_one_is_found() -> None:
    two = [rate(ON_ROUTE, limits("all", 1), name=name) for name in ("one", "two")]
    assert said(check(merging.redundant_policy, ISTIO, *two)) == (
        "RateLimitPolicy shop/one: sets nothing that is not in force without it: RateLimitPolicy shop/two says the same"
    )
    other = rate(ON_ROUTE, limits("all", 2), name="two")
    assert check(merging.redundant_policy, ISTIO, two[0], other) == []


def test_what_is_merged_from_several_may_be_needed_all_the_same() -> None:
    """Each of its values is said by another policy, and not both of them would be in force without it."""
    ours = profile(strategy=MergeStrategy.ATOMIC_DEFAULTS)
    manifests = [
        gateway(listeners=("http",)) + route() + service(),
        quota(ON_GATEWAY, "a: 1"),
        quota(ON_GATEWAY, "b: 2", section="http", name="http"),
        quota(ON_ROUTE, "a: 1, b: 2"),
    ]
    assert check(merging.redundant_policy, *manifests, profiles=[ours]) == []
