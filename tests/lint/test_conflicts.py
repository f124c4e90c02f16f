"""Policies that conflict, and settings that are overridden."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import analyze
from kubectl_policy.lint.finding import Fix
from kubectl_policy.lint.lint_world import LintWorld
from kubectl_policy.lint.rules import rules_of
from kubectl_policy.lint.rules.policies import conflicts
from kubectl_policy.lint.rules.policies.conflicts import (
    conflict_decided_by_age,
    default_taken_away,
    fully_overridden,
    override_shadows_lower,
    partially_overridden,
    same_target_conflict,
    silent_field_drop,
)
from kubectl_policy.lint.settings import LintSettings
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
from tests.lint.rule_worlds import document, right_world, snapshot_of

OLD: Final = "2026-01-01T00:00:00Z"
NEW: Final = "2026-02-01T00:00:00Z"
NGINX: Final = gateway(controller="gateway.nginx.org/nginx-gateway-controller") + route() + service()


def on_route(name: str, spec: str = JWT, created: str = "", section: str = "") -> str:
    return security(ON_ROUTE, spec, name=name, created=created, section=section)


@pytest.mark.parametrize(
    "manifests",
    [
        # One is on a rule, which refines the route.
        WORLD + on_route("one") + on_route("two", section="all"),
        # Kinds do not share targets.
        WORLD + on_route("one") + traffic(ON_ROUTE, "retry: {numRetries: 3}"),
        # Of this kind all apply.
        WORLD + "".join(policy("EnvoyPatchPolicy", "Gateway/public", "priority: 0", name=name) for name in "ab"),
        # The target is not there: that is what is to be said.
        on_route("one") + on_route("two"),
        # They set other fields of what this kind lets several policies have.
        NGINX
        + policy("ProxySettingsPolicy", ON_ROUTE, "timeout: {read: 10s}", name="a")
        + policy("ProxySettingsPolicy", ON_ROUTE, "buffering: {disable: true}"),
    ],
)
def test_other_policies_are_in_no_ones_way(manifests: str) -> None:
    assert check(same_target_conflict, manifests) == []


def test_of_two_on_one_target_the_newer_one_is_refused() -> None:
    (finding,) = check(same_target_conflict, WORLD, on_route("old", created=OLD), on_route("new", CORS, NEW))
    assert said([finding]) == (
        "SecurityPolicy shop/new: SecurityPolicy shop/old targets HTTPRoute shop/cart as well, which takes one"
        " SecurityPolicy: that one comes first, and this one is refused there"
    )
    assert (finding.field, finding.reason) == ("spec.targetRefs[0]", "Conflicted")
    (related,) = finding.related
    assert (str(related.object), related.field) == ("SecurityPolicy shop/old", "spec.targetRefs[0]")
    assert finding.fix == Fix(words="put both into one policy, or give them different targets")


def test_it_is_so_where_no_requests_come() -> None:
    (finding,) = check(
        same_target_conflict,
        gateway(),
        route(section="none"),
        on_route("one", created=OLD),
        on_route("two", created=NEW),
    )
    assert str(finding.subject) == "SecurityPolicy shop/two"


def test_without_dates_it_is_not_told_which_one() -> None:
    (finding,) = check(same_target_conflict, WORLD, on_route("one"), on_route("two"))
    assert finding.certain
    assert finding.message.endswith(
        "the older one counts, and the other one is refused (manifests do not say which that is)"
    )


def test_it_is_one_finding_for_several_targets() -> None:
    spec = f"{{targetSelectors: [{{kind: HTTPRoute, matchLabels: {{tier: web}}}}], {JWT}}}"
    version = "gateway.envoyproxy.io/v1alpha1"
    manifests = gateway() + service()
    manifests += "".join(route(name, labels="tier: web") for name in ("cart", "search", "admin"))
    named = "".join(
        document("SecurityPolicy", name, spec, version=version, meta=f', creationTimestamp: "{created}"')
        for name, created in (("old", OLD), ("new", NEW))
    )
    (finding,) = check(same_target_conflict, manifests, named)
    assert "targets HTTPRoute shop/admin, HTTPRoute shop/cart, HTTPRoute shop/search as well, which take one" in (
        finding.message
    )


def test_where_several_may_share_a_target_a_common_field_is_the_conflict() -> None:
    first, second = (
        policy("ProxySettingsPolicy", ON_ROUTE, f"timeout: {{read: {seconds}s}}", name=name, created=created)
        for name, seconds, created in (("old", 10, OLD), ("new", 20, NEW))
    )
    assert said(check(same_target_conflict, NGINX, first, second)) == (
        "ProxySettingsPolicy shop/new: ProxySettingsPolicy shop/old sets timeout.read on HTTPRoute shop/cart as"
        " well, where one ProxySettingsPolicy may do that: that one comes first, and this one is refused everywhere"
    )


def test_a_kind_that_never_combines_leaves_no_room_below() -> None:
    ours = profile(strategy=MergeStrategy.NONE)
    manifests = [quota(target, "quota: 1") for target in ("Gateway/public", ON_ROUTE)]
    assert said(check(same_target_conflict, WORLD, *manifests, profiles=[ours])) == (
        "QuotaPolicy shop/cart: QuotaPolicy infra/public on Gateway infra/public allows no other QuotaPolicy"
        " below it: the older one counts, and the other one is refused (manifests do not say which"
        " that is)"
    )


def test_one_that_is_beaten_is_not_refused() -> None:
    three = [security("Gateway/public", JWT, created=OLD), on_route("old", created=OLD), on_route("new", CORS, NEW)]
    findings = check(same_target_conflict, WORLD, route("search"), *three)
    assert [str(finding.subject) for finding in findings] == ["SecurityPolicy shop/new"]


def test_of_a_kind_without_a_profile_it_is_not_known() -> None:
    """That direct policies do not combine is but GEP-713's default."""
    two = [quota("Service/cart", f"quota: {n}", name=f"q{n}") for n in range(2)]
    (finding,) = check(same_target_conflict, WORLD, definition("QuotaPolicy", "direct"), *two)
    assert not finding.certain
    assert finding.message == "QuotaPolicy shop/q0 is there as well, and how QuotaPolicies combine is not known"


def on_policy(name: str, spec: str, created: str = "") -> str:
    return rate(ON_ROUTE, spec, name=name, created=created)


@pytest.mark.parametrize(
    "manifests",
    [
        # The same value: nothing is decided.
        ISTIO + on_policy("one", limits("all", 10)) + on_policy("two", limits("all", 10)),
        # Different targets: specificity decides.
        ISTIO + on_policy("one", limits("all", 10)) + rate("Gateway/public", limits("all", 1)),
        # Of these one is refused, which GWP2001 tells.
        WORLD + on_route("one") + on_route("two", CORS),
        # How they combine is not known.
        WORLD
        + definition("QuotaPolicy", "inherited")
        + "".join(quota(ON_ROUTE, f"quota: {n}", name=f"q{n}") for n in range(2)),
    ],
)
def test_nothing_is_decided_by_age(manifests: str) -> None:
    assert check(conflict_decided_by_age, manifests) == []


def test_a_weight_decides_before_age_does() -> None:
    ours = profile(strategy=MergeStrategy.PATCH_DEFAULTS, order_field="spec.order")
    one, two, three = (
        quota(ON_ROUTE, f"order: {order}, quota: {place}", name=f"q{place}") for place, order in enumerate((1, 2, 2))
    )
    assert check(conflict_decided_by_age, WORLD, one, two, profiles=[ours]) == []
    assert len(check(conflict_decided_by_age, WORLD, two, three, profiles=[ours])) == 1


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
    one, two = (on_policy(name, limits("all", len(name)), age) for name, age in zip(("a", "bb"), created, strict=True))
    (finding,) = check(conflict_decided_by_age, ISTIO, one, two)
    assert said([finding]) == (
        f"RateLimitPolicy shop/a: RateLimitPolicy shop/bb sets limits on HTTPRoute shop/cart too: {result}"
    )
    assert finding.field == "spec.limits"


def test_the_older_one_may_be_the_one_that_counts() -> None:
    one, two = (
        policy(
            "TrafficPolicy",
            ON_ROUTE,
            f"timeouts: {{request: {len(name)}s}}, retry: {{attempts: 3}}",
            name=name,
            created=created,
        )
        for name, created in (("a", OLD), ("bb", NEW))
    )
    world = gateway(controller="kgateway.dev/kgateway") + route() + service()
    assert said(check(conflict_decided_by_age, world, one, two)) == (
        "TrafficPolicy shop/bb: TrafficPolicy shop/a sets timeouts on HTTPRoute shop/cart too:"
        " it counts for nothing but being older"
    )


def test_what_is_right_for_one_rule_is_so_for_the_others() -> None:
    rules = (same_target_conflict, conflict_decided_by_age)
    for row in rules:
        assert [said(check(other, right_world(row))) for other in rules] == ["", ""]


# The route has another parent as well.
TWO_WAYS: Final = ISTIO.replace("parentRefs: [", "parentRefs: [{name: internal, namespace: infra}, ")
KGATEWAY: Final = gateway(controller="kgateway.dev/kgateway") + route() + service()
TWO_LIMITS: Final = "limits: {all: {rates: [{limit: 1, window: 1m}]}, own: {rates: [{limit: 3, window: 1m}]}}"
FAST: Final = "timeout: {http: {requestTimeout: 5s}}"


def by_rule(*manifests: str, complete: bool = True) -> dict[str, str]:
    """What each of the rules of the module finds for certain, if anything."""
    world = LintWorld(analyze(snapshot_of("".join(manifests), complete=complete)), LintSettings(), lambda _: True)
    every = {rule.name: said(rule.check(world)) for rule in rules_of(conflicts)[2:]}
    return {name: findings for name, findings in every.items() if findings}


@pytest.mark.parametrize(
    "manifests",
    [
        [WORLD, traffic(ON_GATEWAY, SLOW)],
        # A policy for everything that merges with the other one.
        [WORLD, traffic(ON_GATEWAY, SLOW), traffic(ON_ROUTE, "mergeType: StrategicMerge, retry: {numRetries: 3}")],
        # Of other kinds.
        [WORLD, traffic(ON_GATEWAY, SLOW), security(ON_ROUTE, CORS)],
        # One that is refused, which GWP2001 tells.
        [WORLD, traffic(ON_ROUTE, SLOW, name="one"), traffic(ON_ROUTE, FAST, name="two")],
        # Two on one target, which GWP2002 tells.
        [ISTIO, rate(ON_ROUTE, limits("all", 1), name="one"), rate(ON_ROUTE, limits("all", 2), name="two")],
        # One without a target, and one that requests do not reach.
        [gateway(), traffic(ON_ROUTE, SLOW), traffic(ON_GATEWAY, SLOW)],
        # What all of them say is in force.
        [ISTIO, rate(ON_GATEWAY, limits("all", 1)), rate(ON_ROUTE, limits("all", 1))],
        [ISTIO, rate(ON_GATEWAY, f"overrides: {{{limits('all', 1)}, strategy: merge}}"), rate(ON_ROUTE, TWO_LIMITS)],
    ],
)
def test_what_is_in_force_or_told_by_others_is_not_found(manifests: list[str]) -> None:
    assert by_rule(*manifests) == {}


def test_a_default_that_every_route_replaces_is_in_force_nowhere() -> None:
    more = route("search", backend="search"), traffic("HTTPRoute/search", FAST)
    manifests = [WORLD, traffic(ON_GATEWAY, SLOW), traffic(ON_ROUTE, FAST)]
    assert by_rule(*manifests) == {
        "fully-overridden": (
            "BackendTrafficPolicy infra/public: nothing of it is in force: BackendTrafficPolicy shop/cart →"
            " HTTPRoute shop/cart is nearer and replaces all of it"
        )
    }
    (finding,) = check(fully_overridden, *manifests, *more)
    assert finding.message == (
        "nothing of it is in force: BackendTrafficPolicy shop/cart, BackendTrafficPolicy shop/search are in force"
        " instead"
    )
    assert [str(related.object) for related in finding.related] == [
        "BackendTrafficPolicy shop/cart",
        "BackendTrafficPolicy shop/search",
    ]


def test_elsewhere_there_may_be_routes_without_policies() -> None:
    manifests = [WORLD, traffic(ON_GATEWAY, SLOW), traffic(ON_ROUTE, FAST)]
    assert by_rule(*manifests, complete=False) == {}
    on_rule = traffic(ON_ROUTE, FAST, section="all", name="all")
    assert by_rule(WORLD, traffic(ON_ROUTE, SLOW), on_rule, complete=False) == {
        "fully-overridden": (
            "BackendTrafficPolicy shop/cart: nothing of it is in force: BackendTrafficPolicy shop/all → rule all of"
            " HTTPRoute shop/cart is nearer and replaces all of it"
        )
    }


def test_a_parent_that_was_not_read_may_have_another_way() -> None:
    manifests = [TWO_WAYS, rate(ON_GATEWAY, f"overrides: {{{limits('all', 1)}}}"), rate(ON_ROUTE, limits("own", 2))]
    assert by_rule(*manifests, complete=False) == {}
    (finding,) = check(override_shadows_lower, *manifests, complete=False)
    assert not finding.certain


def test_how_an_unknown_kind_combines_is_not_known() -> None:
    manifests = [
        WORLD,
        definition("QuotaPolicy", "inherited"),
        *(quota(each, f"quota: {len(each)}") for each in (ON_GATEWAY, ON_ROUTE)),
    ]
    assert by_rule(*manifests) == {}
    (finding,) = check(fully_overridden, *manifests)
    assert (str(finding.subject), finding.certain) == ("QuotaPolicy infra/public", False)
    assert (
        finding.message == "QuotaPolicy shop/cart may take precedence over it: how QuotaPolicies combine is not known"
    )


def test_a_default_is_told_for_whom_it_is_not_in_force() -> None:
    manifests = [
        WORLD,
        route("search", backend="search"),
        traffic(ON_GATEWAY, f"{SLOW}, retry: {{numRetries: 3}}"),
        traffic(ON_ROUTE, f"mergeType: JSONMerge, {FAST}"),
    ]
    assert by_rule(*manifests) == {
        "partially-overridden": (
            "BackendTrafficPolicy infra/public: timeout is not in force for HTTPRoute shop/cart:"
            " BackendTrafficPolicy shop/cart takes its place"
        )
    }
    (finding,) = check(partially_overridden, *manifests)
    assert finding.field == "spec.timeout"


def test_what_a_route_says_itself_takes_the_place_of_a_policy() -> None:
    own = route(rule="timeouts: {request: 1s}"), route("search")
    assert by_rule(gateway(), service(), *own, traffic(ON_GATEWAY, SLOW)) == {
        "partially-overridden": (
            "BackendTrafficPolicy infra/public: timeout is not in force for HTTPRoute shop/cart: their own settings"
            " take its place"
        )
    }


def test_several_fields_and_objects_are_named() -> None:
    """As many as people read; the parts that are lost as a whole by their names alone."""
    spec = f"{SLOW}, retry: {{numRetries: 3}}, rateLimit: {{type: Local}}"
    (finding,) = check(
        partially_overridden,
        WORLD,
        *(route(name) for name in ("a", "b", "c", "d")),
        traffic(ON_GATEWAY, spec),
        *(traffic(f"HTTPRoute/{name}", "retry: {numRetries: 1}, rateLimit: {type: Global}") for name in "abcd"),
    )
    assert finding.message == (
        "timeout, retry, rateLimit are not in force for HTTPRoute shop/a, HTTPRoute shop/b, HTTPRoute shop/c and 1"
        " more: BackendTrafficPolicy shop/a, BackendTrafficPolicy shop/b, BackendTrafficPolicy shop/c and 1 more"
        " take their place"
    )


@pytest.mark.parametrize(
    "manifests",
    [
        # It has what protects as well, with another value.
        [WORLD, security(ON_GATEWAY, JWT), security(ON_ROUTE, JWT.replace("example", "other"))],
        # It merges.
        [WORLD, security(ON_GATEWAY, JWT), security(ON_ROUTE, f"mergeType: JSONMerge, {CORS}")],
        # What is lost does not protect.
        [WORLD, traffic(ON_GATEWAY, SLOW), traffic(ON_ROUTE, "retry: {numRetries: 1}")],
        # It is switched off above.
        [
            WORLD,
            policy("ClientTrafficPolicy", ON_GATEWAY, "enableProxyProtocol: false"),
            policy("ClientTrafficPolicy", ON_GATEWAY, "timeout: {}", section="http", name="http"),
        ],
        # It says itself that it is a default.
        [
            ISTIO,
            policy("AuthPolicy", ON_GATEWAY, "defaults: {rules: {authorization: {deny: {opa: {rego: 'x'}}}}}"),
            policy("AuthPolicy", ON_ROUTE, "rules: {authentication: {anyone: {anonymous: {}}}}"),
        ],
        # Another limit is in force instead.
        [ISTIO, rate(ON_GATEWAY, limits("all", 1)), rate(ON_ROUTE, limits("own", 1))],
        # Fields are merged, so that none is dropped.
        [
            KGATEWAY,
            policy("TrafficPolicy", ON_GATEWAY, "rbac: {action: Deny}"),
            policy("TrafficPolicy", ON_ROUTE, "cors: {maxAge: 1}"),
        ],
        # An override from above, which GWP2007 tells.
        [ISTIO, rate(ON_GATEWAY, f"overrides: {{{limits('all', 1)}}}"), rate(ON_ROUTE, limits("own", 1))],
    ],
)
def test_no_protection_is_dropped(manifests: list[str]) -> None:
    assert check(silent_field_drop, *manifests) == []


def test_a_nearer_policy_drops_what_protects() -> None:
    manifests = [WORLD, security(ON_GATEWAY, f"{JWT}, {CORS}"), security(ON_ROUTE, CORS)]
    (finding,) = check(silent_field_drop, *manifests, complete=False)
    assert said([finding]) == (
        "SecurityPolicy shop/cart: replaces SecurityPolicy infra/public as a whole, so that its jwt is lost for"
        " HTTPRoute shop/cart"
    )
    (related,) = finding.related
    assert (str(related.object), related.field) == ("SecurityPolicy infra/public", "spec.jwt")
    assert finding.fix == Fix(words="spec.mergeType: StrategicMerge lets it add to SecurityPolicy infra/public")


def test_the_first_one_that_replaces_it_is_told() -> None:
    world = gateway(listeners=("http", "https")) + route(section="http") + service()
    manifests = [
        world,
        security(ON_GATEWAY, JWT),
        security(ON_GATEWAY, "basicAuth: {users: {name: users}}", section="http", name="http"),
        security(ON_ROUTE, f"mergeType: StrategicMerge, {CORS}"),
        "---\napiVersion: v1\nkind: Secret\nmetadata: {name: users, namespace: infra}\n",
    ]
    (finding,) = check(silent_field_drop, *manifests)
    assert str(finding.subject) == "SecurityPolicy infra/http"
    # Policies on listeners do not merge.
    assert finding.fix is None


def test_what_is_dropped_is_named_as_people_know_it() -> None:
    """Of Kuadrant's rules, the sort of them; and the policy above is what can let others add to it."""
    above = "rules: {authorization: {deny: {opa: {rego: 'allow = false'}}}}"
    below = "rules: {authentication: {anyone: {anonymous: {}}}}"
    (finding,) = check(
        silent_field_drop, ISTIO, policy("AuthPolicy", ON_GATEWAY, above), policy("AuthPolicy", ON_ROUTE, below)
    )
    assert "so that its rules.authorization is lost" in finding.message
    assert finding.fix == Fix(words="defaults with strategy: merge in AuthPolicy infra/public let others add to it")


def test_what_protects_may_be_named_by_the_profile() -> None:
    ours = profile(
        "GuardPolicy",
        strategy=MergeStrategy.ATOMIC_DEFAULTS,
        stanzas="none",
        security_fields=frozenset({"guards.*.token", "guards.*", "rules"}),
        whole_fields=frozenset({"rules"}),
    )
    manifests = [
        WORLD,
        policy("GuardPolicy", ON_GATEWAY, "guards: {a: {token: x}}, rules: {b: c}"),
        policy("GuardPolicy", ON_ROUTE, "other: 1"),
    ]
    (finding,) = check(silent_field_drop, *manifests, profiles=[ours])
    assert "so that its guards.a.token, rules are lost" in finding.message
    assert finding.fix is None


def test_whole_fields_tell_sorts_where_every_field_protects() -> None:
    ours = profile(
        "GuardPolicy",
        strategy=MergeStrategy.ATOMIC_DEFAULTS,
        stanzas="none",
        security_fields=frozenset({"*"}),
        whole_fields=frozenset({"deep.sort", "entries.*"}),
    )
    above = "deep: {sort: {a: 1}, other: {b: 1}}, entries: {c: 1}, plain: {d: 1}"
    manifests = [
        WORLD,
        policy("GuardPolicy", ON_GATEWAY, above),
        policy("GuardPolicy", ON_ROUTE, "entries: {e: 1}, deep: {another: 1}"),
    ]
    (finding,) = check(silent_field_drop, *manifests, profiles=[ours])
    assert "so that its deep.sort, plain are lost" in finding.message
    (finding,) = check(silent_field_drop, *manifests, profiles=[replace(ours, whole_fields=frozenset({"*"}))])
    assert "so that its plain is lost" in finding.message


def test_an_empty_policy_takes_everything_away() -> None:
    manifests = [WORLD, route("search"), security(ON_GATEWAY, JWT), security(ON_ROUTE, "")]
    assert by_rule(*manifests) == {
        "default-taken-away": (
            "SecurityPolicy shop/cart: sets nothing, and so takes away jwt, which SecurityPolicy infra/public"
            " sets for HTTPRoute shop/cart"
        )
    }


def test_null_takes_a_field_away() -> None:
    """By the words of JSON merge patches, where a kind has them."""
    ours = profile(strategy=MergeStrategy.PATCH_DEFAULTS)
    manifests = [
        WORLD,
        route("search"),
        quota(ON_GATEWAY, "quota: {burst: 1}, other: 2"),
        quota(ON_ROUTE, "quota: {burst: null}"),
    ]
    (finding,) = check(default_taken_away, *manifests, profiles=[ours])
    assert said([finding]) == (
        "QuotaPolicy shop/cart: sets quota.burst to null, and so takes away what QuotaPolicy infra/public sets for"
        " Service shop/cart"
    )
    assert finding.field == "spec.quota.burst"


def test_an_override_from_above_leaves_settings_dead() -> None:
    above = "overrides: {%s, strategy: %s}"
    whole = rate(ON_GATEWAY, above % (limits("all", 1), "atomic"))
    assert by_rule(ISTIO, whole, rate(ON_ROUTE, limits("own", 2))) == {
        "override-shadows-lower": (
            "RateLimitPolicy shop/cart: nothing of it is in force: RateLimitPolicy infra/public overrides that from"
            " above"
        )
    }
    part = rate(ON_GATEWAY, above % (limits("all", 1), "merge"))
    assert by_rule(ISTIO, part, rate(ON_ROUTE, TWO_LIMITS.replace("limit: 1", "limit: 2"))) == {
        "override-shadows-lower": (
            "RateLimitPolicy shop/cart: limits.all is nowhere in force: RateLimitPolicy infra/public overrides that"
            " from above"
        )
    }


def test_an_override_that_is_nearer_only_replaces() -> None:
    nearer = rate(ON_ROUTE, f"overrides: {{{limits('all', 2)}}}")
    assert [*by_rule(ISTIO, rate(ON_GATEWAY, limits("all", 1)), nearer)] == ["fully-overridden"]


def test_what_is_overridden_in_some_places_alone_is_told_as_such() -> None:
    internal = gateway("internal", "istio.io/gateway-controller")
    above = rate(ON_GATEWAY, f"overrides: {{{limits('all', 1)}}}")
    assert by_rule(TWO_WAYS, internal, above, rate(ON_ROUTE, limits("own", 2))) == {
        "partially-overridden": (
            "RateLimitPolicy shop/cart: limits is not in force for HTTPRoute shop/cart: RateLimitPolicy"
            " infra/public takes its place"
        )
    }


def test_one_beaten_from_above_and_from_below_is_told_once() -> None:
    manifests = [
        TWO_WAYS,
        gateway("internal", "istio.io/gateway-controller"),
        rate(ON_GATEWAY, f"overrides: {{{limits('all', 1)}}}"),
        rate(ON_ROUTE, limits("own", 2)),
        rate(ON_ROUTE, limits("narrow", 3), section="all", name="all"),
    ]
    assert by_rule(*manifests).keys() == {"fully-overridden", "partially-overridden"}
    assert said(check(fully_overridden, *manifests)) == (
        "RateLimitPolicy shop/cart: nothing of it is in force: RateLimitPolicy infra/public, RateLimitPolicy"
        " shop/all are in force instead"
    )


def test_elements_of_a_list_are_not_told_apart() -> None:
    codes = "retry: {retryOn: {httpStatusCodes: [500]}}, compression: [{type: Gzip, gzip: {a: %s, b: %s}}]"
    merged = f"mergeType: StrategicMerge, {codes % (3, 4)}, timeout: {{http: {{}}}}"
    world = WORLD + route("search")
    (finding,) = check(
        partially_overridden, world, traffic(ON_GATEWAY, f"{codes % (1, 2)}, timeout: 1"), traffic(ON_ROUTE, merged)
    )
    assert finding.message == (
        "compression, timeout are not in force for HTTPRoute shop/cart:"
        " BackendTrafficPolicy shop/cart takes their place"
    )
