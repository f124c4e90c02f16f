"""Policies that want the same target: which are in each other's way, and by what the first one is told."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy.lint.rules.policies.conflicts import conflict_decided_by_age, same_target_conflict
from kubectl_policy.model import GroupKind
from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile
from tests.lint.examples import right_world
from tests.lint.shop import CORS, JWT, definition, found, gateway, kuadrant, limits, policy, route, said, service

OLD: Final = "2026-01-01T00:00:00Z"
NEW: Final = "2026-02-01T00:00:00Z"
WORLD: Final = gateway() + route() + service()
ISTIO: Final = gateway(controller="istio.io/gateway-controller") + route() + service()
NGINX: Final = gateway(controller="gateway.nginx.org/nginx-gateway-controller") + route() + service()
ROUTE: Final = "HTTPRoute/cart"


def on_route(name: str, spec: str = JWT, created: str = "", section: str = "") -> str:
    """A SecurityPolicy on the route."""
    return policy("SecurityPolicy", ROUTE, spec, name=name, created=created, section=section)


@pytest.mark.parametrize(
    "manifests",
    [
        # One is on a rule, which refines the route.
        WORLD + on_route("one") + on_route("two", section="all"),
        # Kinds do not share targets.
        WORLD + on_route("one") + policy("BackendTrafficPolicy", ROUTE, "retry: {numRetries: 3}"),
        # Of this kind all apply.
        WORLD + "".join(policy("EnvoyPatchPolicy", "Gateway/public", "priority: 0", name=name) for name in "ab"),
        # The target is not there: that is what is to be said.
        on_route("one") + on_route("two"),
        # They set other fields of what this kind lets several policies have.
        NGINX
        + policy("ProxySettingsPolicy", ROUTE, "timeout: {read: 10s}", name="a", group="gateway.nginx.org/v1alpha1")
        + policy("ProxySettingsPolicy", ROUTE, "buffering: {disable: true}", group="gateway.nginx.org/v1alpha1"),
    ],
)
def test_other_policies_are_in_no_ones_way(manifests: str) -> None:
    """Nothing is found."""
    assert found(same_target_conflict, manifests) == []


def test_of_two_on_one_target_the_newer_one_is_refused() -> None:
    """And told which one came first, and where both say it."""
    (finding,) = found(same_target_conflict, WORLD, on_route("old", created=OLD), on_route("new", CORS, NEW))
    assert said([finding]) == [
        (
            "SecurityPolicy shop/new: SecurityPolicy shop/old targets HTTPRoute shop/cart as well, which takes one"
            " SecurityPolicy: that one comes first, and this one is refused there"
        )
    ]
    assert (finding.field, finding.reason) == ("spec.targetRefs[0]", "Conflicted")
    (related,) = finding.related
    assert (str(related.object), related.field) == ("SecurityPolicy shop/old", "spec.targetRefs[0]")
    assert finding.fix
    assert finding.fix.words == "put both into one policy, or give them different targets"


def test_it_is_so_where_no_requests_come() -> None:
    """Whatever else is wrong with the target has to be put right as well."""
    (finding,) = found(
        same_target_conflict,
        gateway(),
        route(section="none"),
        on_route("one", created=OLD),
        on_route("two", created=NEW),
    )
    assert str(finding.subject) == "SecurityPolicy shop/two"


def test_without_dates_it_is_not_told_which_one() -> None:
    """Names decide only if both are as old."""
    (finding,) = found(same_target_conflict, WORLD, on_route("one"), on_route("two"))
    assert finding.certain
    assert finding.message.endswith(
        "the older one counts, and the other one is refused (manifests do not say which that is)"
    )


def test_it_is_one_finding_for_several_targets() -> None:
    """One policy that stands in the way of another is told once."""
    both = "targetSelectors: [{kind: HTTPRoute, matchLabels: {tier: web}}]"
    manifests = gateway() + service()
    manifests += "".join(route(name, labels="tier: web") for name in ("cart", "search", "admin"))
    named = "".join(
        f"""---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {{name: {name}, namespace: shop, creationTimestamp: "{created}"}}
spec: {{{both}, {JWT}}}
"""
        for name, created in (("old", OLD), ("new", NEW))
    )
    (finding,) = found(same_target_conflict, manifests, named)
    assert "targets HTTPRoute shop/admin, HTTPRoute shop/cart, HTTPRoute shop/search as well, which take one" in (
        finding.message
    )


def test_where_several_may_share_a_target_a_common_field_is_the_conflict() -> None:
    """It is named; and a policy that is refused on one target is refused on all, if its kind has it so."""
    first, second = (
        policy(
            "ProxySettingsPolicy",
            ROUTE,
            f"timeout: {{read: {seconds}s}}",
            name=name,
            created=created,
            group="gateway.nginx.org/v1alpha1",
        )
        for name, seconds, created in (("old", 10, OLD), ("new", 20, NEW))
    )
    assert said(found(same_target_conflict, NGINX, first, second)) == [
        (
            "ProxySettingsPolicy shop/new: ProxySettingsPolicy shop/old sets timeout.read on HTTPRoute shop/cart as"
            " well, where one ProxySettingsPolicy may do that: that one comes first, and this one is refused everywhere"
        )
    ]


def test_a_kind_that_never_combines_leaves_no_room_below() -> None:
    """With strategy None, what is further up is established."""
    profile = PolicyKindProfile(
        GroupKind("example.io", "QuotaPolicy"), "inherited", "profile", strategy=MergeStrategy.NONE
    )
    manifests = [
        policy("QuotaPolicy", target, "quota: 1", group="example.io/v1") for target in ("Gateway/public", ROUTE)
    ]
    assert said(found(same_target_conflict, WORLD, *manifests, profiles=[profile])) == [
        (
            "QuotaPolicy shop/cart: QuotaPolicy infra/public on Gateway infra/public leaves no room for"
            " another QuotaPolicy below: the older one counts, and the other one is refused (manifests do not say which"
            " that is)"
        )
    ]


def test_one_that_is_beaten_is_not_refused() -> None:
    """Where another one is refused."""
    three = [
        policy("SecurityPolicy", "Gateway/public", JWT, created=OLD),
        on_route("old", created=OLD),
        on_route("new", CORS, NEW),
    ]
    findings = found(same_target_conflict, WORLD, route("search"), *three)
    assert [str(finding.subject) for finding in findings] == ["SecurityPolicy shop/new"]


def test_of_a_kind_without_a_profile_it_is_not_known() -> None:
    """That direct policies do not combine is but GEP-713's default."""
    two = [policy("QuotaPolicy", "Service/cart", f"quota: {n}", name=f"q{n}", group="example.io/v1") for n in range(2)]
    (finding,) = found(same_target_conflict, WORLD, definition("QuotaPolicy", "direct"), *two)
    assert not finding.certain
    assert finding.message == "QuotaPolicy shop/q0 is there as well, and how QuotaPolicies combine is not known"


def on_kuadrant(name: str, spec: str, created: str = "") -> str:
    """A RateLimitPolicy on the route."""
    return kuadrant("RateLimitPolicy", ROUTE, spec, name=name, created=created)


@pytest.mark.parametrize(
    "manifests",
    [
        # The same value: nothing is decided.
        ISTIO + on_kuadrant("one", limits("all", 10)) + on_kuadrant("two", limits("all", 10)),
        # Different targets: specificity decides.
        ISTIO + on_kuadrant("one", limits("all", 10)) + kuadrant("RateLimitPolicy", "Gateway/public", limits("all", 1)),
        # Of these one is refused, which GWP2001 tells.
        WORLD + on_route("one") + on_route("two", CORS),
        # How they combine is not known.
        WORLD
        + definition("QuotaPolicy", "inherited")
        + "".join(policy("QuotaPolicy", ROUTE, f"quota: {n}", name=f"q{n}", group="example.io/v1") for n in range(2)),
    ],
)
def test_nothing_is_decided_by_age(manifests: str) -> None:
    """Nothing is found."""
    assert found(conflict_decided_by_age, manifests) == []


def test_a_weight_decides_before_age_does() -> None:
    """Then nothing is fragile."""
    profile = PolicyKindProfile(
        GroupKind("example.io", "QuotaPolicy"),
        "inherited",
        "profile",
        strategy=MergeStrategy.PATCH_DEFAULTS,
        order_field="spec.order",
    )
    one, two, three = (
        policy("QuotaPolicy", ROUTE, f"order: {order}, quota: {place}", name=f"q{place}", group="example.io/v1")
        for place, order in enumerate((1, 2, 2))
    )
    assert found(conflict_decided_by_age, WORLD, one, two, profiles=[profile]) == []
    assert len(found(conflict_decided_by_age, WORLD, two, three, profiles=[profile])) == 1


@pytest.mark.parametrize(
    ("created", "result"),
    [
        (("", ""), "which of the two counts is decided by their age, and manifests do not say that"),
        ((OLD, NEW), "it counts for nothing but being newer"),
        ((OLD, OLD), "it counts for nothing but its name"),
    ],
)
def test_what_decides_is_told(created: tuple[str, str], result: str) -> None:
    """Of Kuadrant's policies the newer one counts."""
    one, two = (
        on_kuadrant(name, limits("all", len(name)), age) for name, age in zip(("a", "bb"), created, strict=True)
    )
    (finding,) = found(conflict_decided_by_age, ISTIO, one, two)
    assert said([finding]) == [
        f"RateLimitPolicy shop/a: RateLimitPolicy shop/bb sets limits on HTTPRoute shop/cart too: {result}"
    ]
    assert finding.field == "spec.limits"


def test_the_older_one_may_be_the_one_that_counts() -> None:
    """Where the first created wins."""
    one, two = (
        policy(
            "TrafficPolicy",
            ROUTE,
            f"timeouts: {{request: {len(name)}s}}, retry: {{attempts: 3}}",
            name=name,
            created=created,
            group="gateway.kgateway.dev/v1alpha1",
        )
        for name, created in (("a", OLD), ("bb", NEW))
    )
    world = gateway(controller="kgateway.dev/kgateway") + route() + service()
    assert said(found(conflict_decided_by_age, world, one, two)) == [
        (
            "TrafficPolicy shop/bb: TrafficPolicy shop/a sets timeouts on HTTPRoute shop/cart too:"
            " it counts for nothing but being older"
        )
    ]


def test_what_is_right_for_one_rule_is_so_for_the_others() -> None:
    """The worlds of these rules, put right."""
    rules = (same_target_conflict, conflict_decided_by_age)
    for row in rules:
        assert [said(found(other.check, right_world(row))) for other in rules] == [[], []]
