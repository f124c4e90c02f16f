"""Settings that are not in force: what is found of that, who is told, and which rule tells it."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import analyze
from kubectl_policy.lint.linted import Linted
from kubectl_policy.lint.rules import rules_of
from kubectl_policy.lint.rules.policies import conflicts
from kubectl_policy.lint.rules.policies.conflicts import (
    default_taken_away,
    fully_overridden,
    override_shadows_lower,
    partially_overridden,
    silent_field_drop,
)
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model import GroupKind
from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile
from tests.lint.examples import snapshot_of
from tests.lint.shop import CORS, JWT, definition, found, gateway, kuadrant, limits, policy, route, said, service

WORLD: Final = gateway() + route() + service()
ISTIO: Final = gateway(controller="istio.io/gateway-controller") + route() + service()
KGATEWAY: Final = gateway(controller="kgateway.dev/kgateway") + route() + service()
ON_GATEWAY: Final = "Gateway/public"
ON_ROUTE: Final = "HTTPRoute/cart"
SLOW: Final = "timeout: {http: {requestTimeout: 60s}}"
FAST: Final = "timeout: {http: {requestTimeout: 5s}}"


def traffic(target: str, spec: str, section: str = "", name: str = "") -> str:
    """A BackendTrafficPolicy of Envoy Gateway."""
    return policy("BackendTrafficPolicy", target, spec, section=section, name=name)


def security(target: str, spec: str, section: str = "", name: str = "") -> str:
    """A SecurityPolicy of Envoy Gateway."""
    return policy("SecurityPolicy", target, spec, section=section, name=name)


def rate(target: str, spec: str, section: str = "", name: str = "") -> str:
    """A RateLimitPolicy of Kuadrant."""
    return kuadrant("RateLimitPolicy", target, spec, section=section, name=name)


def by_rule(*manifests: str, complete: bool = True) -> dict[str, list[str]]:
    """What each of the rules of the module finds for certain, if anything."""
    world = Linted(analyze(snapshot_of("".join(manifests), complete=complete)), LintSettings(), lambda _: True)
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
    ],
)
def test_what_is_in_force_or_told_by_others_is_not_found(manifests: list[str]) -> None:
    """By none of the rules."""
    assert by_rule(*manifests) == {}


def test_a_default_that_every_route_replaces_is_in_force_nowhere() -> None:
    """One that replaces it is told with how, of several their names are."""
    more = route("search", backend="search"), traffic("HTTPRoute/search", FAST)
    manifests = [WORLD, traffic(ON_GATEWAY, SLOW), traffic(ON_ROUTE, FAST)]
    assert by_rule(*manifests) == {
        "fully-overridden": [
            (
                "BackendTrafficPolicy infra/public: nothing of it is in force: BackendTrafficPolicy shop/cart →"
                " HTTPRoute shop/cart is nearer and replaces all of it"
            )
        ]
    }
    (finding,) = found(fully_overridden, *manifests, *more)
    assert finding.message == (
        "nothing of it is in force: BackendTrafficPolicy shop/cart, BackendTrafficPolicy shop/search are in force"
        " instead"
    )
    assert [str(related.object) for related in finding.related] == [
        "BackendTrafficPolicy shop/cart",
        "BackendTrafficPolicy shop/search",
    ]


def test_elsewhere_there_may_be_routes_without_policies() -> None:
    """Then a policy on a Gateway may be in force; one on a route that names no other parent is not."""
    manifests = [WORLD, traffic(ON_GATEWAY, SLOW), traffic(ON_ROUTE, FAST)]
    assert by_rule(*manifests, complete=False) == {}
    on_rule = traffic(ON_ROUTE, FAST, section="all", name="all")
    assert by_rule(WORLD, traffic(ON_ROUTE, SLOW), on_rule, complete=False) == {
        "fully-overridden": [
            (
                "BackendTrafficPolicy shop/cart: nothing of it is in force: BackendTrafficPolicy shop/all → rule all of"
                " HTTPRoute shop/cart is nearer and replaces all of it"
            )
        ]
    }


def test_a_parent_that_was_not_read_may_have_another_way() -> None:
    """It is not certain that an override further up beats all of a route's policy."""
    parents = "{name: public, namespace: infra}, {name: internal, namespace: infra}"
    world = ISTIO.replace("parentRefs: [{name: public, namespace: infra}]", f"parentRefs: [{parents}]")
    manifests = [world, rate(ON_GATEWAY, f"overrides: {{{limits('all', 1)}}}"), rate(ON_ROUTE, limits("own", 2))]
    assert by_rule(*manifests, complete=False) == {}
    (finding,) = found(override_shadows_lower, *manifests, complete=False)
    assert not finding.certain


def test_how_an_unknown_kind_combines_is_not_known() -> None:
    """It is unknown once whether a policy is beaten, and nothing is said of parts."""
    manifests = [
        WORLD,
        definition("QuotaPolicy", "inherited"),
        *(policy("QuotaPolicy", each, f"quota: {len(each)}", group="example.io/v1") for each in (ON_GATEWAY, ON_ROUTE)),
    ]
    assert by_rule(*manifests) == {}
    (finding,) = found(fully_overridden, *manifests)
    assert (str(finding.subject), finding.certain) == ("QuotaPolicy infra/public", False)
    assert finding.message == "QuotaPolicy shop/cart may beat it: how QuotaPolicies combine is not known"


def test_a_default_is_told_for_whom_it_is_not_in_force() -> None:
    """With what is in force there instead."""
    manifests = [
        WORLD,
        route("search", backend="search"),
        traffic(ON_GATEWAY, f"{SLOW}, retry: {{numRetries: 3}}"),
        traffic(ON_ROUTE, f"mergeType: JSONMerge, {FAST}"),
    ]
    assert by_rule(*manifests) == {
        "partially-overridden": [
            (
                "BackendTrafficPolicy infra/public: timeout is not in force for HTTPRoute shop/cart:"
                " BackendTrafficPolicy shop/cart takes its place"
            )
        ]
    }
    (finding,) = found(partially_overridden, *manifests)
    assert finding.field == "spec.timeout"


def test_what_a_route_says_itself_takes_the_place_of_a_policy() -> None:
    """Then there is no other policy to name."""
    own = route(rule="timeouts: {request: 1s}"), route("search")
    assert by_rule(gateway(), service(), *own, traffic(ON_GATEWAY, SLOW)) == {
        "partially-overridden": [
            (
                "BackendTrafficPolicy infra/public: timeout is not in force for HTTPRoute shop/cart: their own settings"
                " take its place"
            )
        ]
    }


def test_several_fields_and_objects_are_named() -> None:
    """As many as people read; the parts that are lost as a whole by their names alone."""
    spec = f"{SLOW}, retry: {{numRetries: 3}}, rateLimit: {{type: Local}}"
    (finding,) = found(
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
            kuadrant("AuthPolicy", ON_GATEWAY, "defaults: {rules: {authorization: {deny: {opa: {rego: 'x'}}}}}"),
            kuadrant("AuthPolicy", ON_ROUTE, "rules: {authentication: {anyone: {anonymous: {}}}}"),
        ],
        # Another limit is in force instead.
        [ISTIO, rate(ON_GATEWAY, limits("all", 1)), rate(ON_ROUTE, limits("own", 1))],
        # Fields are merged, so that none is dropped.
        [
            KGATEWAY,
            policy("TrafficPolicy", ON_GATEWAY, "rbac: {action: Deny}", group="gateway.kgateway.dev/v1alpha1"),
            policy("TrafficPolicy", ON_ROUTE, "cors: {maxAge: 1}", group="gateway.kgateway.dev/v1alpha1"),
        ],
        # An override from above, which GWP2007 tells.
        [ISTIO, rate(ON_GATEWAY, f"overrides: {{{limits('all', 1)}}}"), rate(ON_ROUTE, limits("own", 1))],
    ],
)
def test_no_protection_is_dropped(manifests: list[str]) -> None:
    """Nothing is found."""
    assert found(silent_field_drop, *manifests) == []


def test_a_nearer_policy_drops_what_protects() -> None:
    """It is told of that, how to keep it, and where it is set."""
    manifests = [WORLD, security(ON_GATEWAY, f"{JWT}, {CORS}"), security(ON_ROUTE, CORS)]
    (finding,) = found(silent_field_drop, *manifests, complete=False)
    assert said([finding]) == [
        (
            "SecurityPolicy shop/cart: replaces SecurityPolicy infra/public as a whole, so that its jwt is lost for"
            " HTTPRoute shop/cart"
        )
    ]
    (related,) = finding.related
    assert (str(related.object), related.field) == ("SecurityPolicy infra/public", "spec.jwt")
    assert finding.fix
    assert finding.fix.words == "spec.mergeType: StrategicMerge lets it add to SecurityPolicy infra/public"


def test_the_first_one_that_replaces_it_is_told() -> None:
    """Not one further down that merges with that."""
    world = gateway(listeners=("http", "https")) + route(section="http") + service()
    manifests = [
        world,
        security(ON_GATEWAY, JWT),
        security(ON_GATEWAY, "basicAuth: {users: {name: users}}", section="http", name="http"),
        security(ON_ROUTE, f"mergeType: StrategicMerge, {CORS}"),
        "---\napiVersion: v1\nkind: Secret\nmetadata: {name: users, namespace: infra}\n",
    ]
    (finding,) = found(silent_field_drop, *manifests)
    assert str(finding.subject) == "SecurityPolicy infra/http"
    # Policies on listeners do not merge.
    assert finding.fix is None


def test_what_is_dropped_is_named_as_people_know_it() -> None:
    """Of Kuadrant's rules, the sort of them; and the policy above is what can let others add to it."""
    above = "rules: {authorization: {deny: {opa: {rego: 'allow = false'}}}}"
    below = "rules: {authentication: {anyone: {anonymous: {}}}}"
    (finding,) = found(
        silent_field_drop, ISTIO, kuadrant("AuthPolicy", ON_GATEWAY, above), kuadrant("AuthPolicy", ON_ROUTE, below)
    )
    assert "so that its rules.authorization is lost" in finding.message
    assert finding.fix
    assert finding.fix.words == "defaults with strategy: merge in AuthPolicy infra/public let others add to it"


def test_what_protects_may_be_named_by_the_profile() -> None:
    """Also with parts that merge whole, and with a kind that has no words for merging."""
    profile = PolicyKindProfile(
        GroupKind("example.io", "GuardPolicy"),
        "inherited",
        "profile",
        strategy=MergeStrategy.ATOMIC_DEFAULTS,
        stanzas="none",
        security_fields=frozenset({"guards.*.token", "guards.*", "rules"}),
        whole_fields=frozenset({"rules"}),
    )
    manifests = [
        WORLD,
        policy("GuardPolicy", ON_GATEWAY, "guards: {a: {token: x}}, rules: {b: c}", group="example.io/v1"),
        policy("GuardPolicy", ON_ROUTE, "other: 1", group="example.io/v1"),
    ]
    (finding,) = found(silent_field_drop, *manifests, profiles=[profile])
    assert "so that its guards.a.token, rules are lost" in finding.message
    assert finding.fix is None


def test_whole_fields_tell_sorts_where_every_field_protects() -> None:
    """As far as they say more than that each is one."""
    profile = PolicyKindProfile(
        GroupKind("example.io", "GuardPolicy"),
        "inherited",
        "profile",
        strategy=MergeStrategy.ATOMIC_DEFAULTS,
        stanzas="none",
        security_fields=frozenset({"*"}),
        whole_fields=frozenset({"deep.sort", "entries.*"}),
    )
    above = "deep: {sort: {a: 1}, other: {b: 1}}, entries: {c: 1}, plain: {d: 1}"
    manifests = [
        WORLD,
        policy("GuardPolicy", ON_GATEWAY, above, group="example.io/v1"),
        policy("GuardPolicy", ON_ROUTE, "entries: {e: 1}, deep: {another: 1}", group="example.io/v1"),
    ]
    (finding,) = found(silent_field_drop, *manifests, profiles=[profile])
    assert "so that its deep.sort, plain are lost" in finding.message
    (finding,) = found(silent_field_drop, *manifests, profiles=[replace(profile, whole_fields=frozenset({"*"}))])
    assert "so that its plain is lost" in finding.message


def test_an_empty_policy_takes_everything_away() -> None:
    """That is said of it, and nothing else."""
    manifests = [WORLD, route("search"), security(ON_GATEWAY, JWT), security(ON_ROUTE, "")]
    assert by_rule(*manifests) == {
        "default-taken-away": [
            (
                "SecurityPolicy shop/cart: sets nothing, and so takes away jwt, which SecurityPolicy infra/public"
                " sets for HTTPRoute shop/cart"
            )
        ]
    }


def test_null_takes_a_field_away() -> None:
    """By the words of JSON merge patches, where a kind has them."""
    profile = PolicyKindProfile(
        GroupKind("example.io", "QuotaPolicy"), "inherited", "profile", strategy=MergeStrategy.PATCH_DEFAULTS
    )
    manifests = [
        WORLD,
        route("search"),
        policy("QuotaPolicy", ON_GATEWAY, "quota: {burst: 1}, other: 2", group="example.io/v1"),
        policy("QuotaPolicy", ON_ROUTE, "quota: {burst: null}", group="example.io/v1"),
    ]
    (finding,) = found(default_taken_away, *manifests, profiles=[profile])
    assert said([finding]) == [
        (
            "QuotaPolicy shop/cart: sets quota.burst to null, and so takes away what QuotaPolicy infra/public sets for"
            " Service shop/cart"
        )
    ]
    assert finding.field == "spec.quota.burst"


def test_an_override_from_above_leaves_settings_dead() -> None:
    """As a whole, or one by one."""
    above = "overrides: {%s, strategy: %s}"
    whole = rate(ON_GATEWAY, above % (limits("all", 1), "atomic"))
    assert by_rule(ISTIO, whole, rate(ON_ROUTE, limits("own", 2))) == {
        "override-shadows-lower": [
            (
                "RateLimitPolicy shop/cart: nothing of it is in force: RateLimitPolicy infra/public overrides that from"
                " above"
            )
        ]
    }
    part = rate(ON_GATEWAY, above % (limits("all", 1), "merge"))
    two = "limits: {all: {rates: [{limit: 2, window: 1m}]}, own: {rates: [{limit: 3, window: 1m}]}}"
    assert by_rule(ISTIO, part, rate(ON_ROUTE, two)) == {
        "override-shadows-lower": [
            (
                "RateLimitPolicy shop/cart: limits.all is nowhere in force: RateLimitPolicy infra/public overrides that"
                " from above"
            )
        ]
    }


def test_what_is_overridden_in_some_places_alone_is_told_as_such() -> None:
    """A policy on a route with two Gateways, of which one overrides it."""
    parents = "{name: public, namespace: infra}, {name: internal, namespace: infra}"
    world = ISTIO.replace("parentRefs: [{name: public, namespace: infra}]", f"parentRefs: [{parents}]")
    internal = gateway("internal", "istio.io/gateway-controller")
    above = rate(ON_GATEWAY, f"overrides: {{{limits('all', 1)}}}")
    assert by_rule(world, internal, above, rate(ON_ROUTE, limits("own", 2))) == {
        "partially-overridden": [
            (
                "RateLimitPolicy shop/cart: limits is not in force for HTTPRoute shop/cart: RateLimitPolicy"
                " infra/public takes its place"
            )
        ]
    }


def test_one_beaten_from_above_and_from_below_is_told_once() -> None:
    """By the rule about what is in force nowhere."""
    parents = "{name: public, namespace: infra}, {name: internal, namespace: infra}"
    world = ISTIO.replace("parentRefs: [{name: public, namespace: infra}]", f"parentRefs: [{parents}]")
    manifests = [
        world,
        gateway("internal", "istio.io/gateway-controller"),
        rate(ON_GATEWAY, f"overrides: {{{limits('all', 1)}}}"),
        rate(ON_ROUTE, limits("own", 2)),
        rate(ON_ROUTE, limits("narrow", 3), section="all", name="all"),
    ]
    assert by_rule(*manifests).keys() == {"fully-overridden", "partially-overridden"}
    assert said(found(fully_overridden, *manifests)) == [
        (
            "RateLimitPolicy shop/cart: nothing of it is in force: RateLimitPolicy infra/public, RateLimitPolicy"
            " shop/all are in force instead"
        )
    ]


def test_elements_of_a_list_are_not_told_apart() -> None:
    """What merges by keys is lost as a list, and what stands in the place of a single value may be a map."""
    codes = "retry: {retryOn: {httpStatusCodes: [500]}}, compression: [{type: Gzip, gzip: {a: %s, b: %s}}]"
    merged = f"mergeType: StrategicMerge, {codes % (3, 4)}, timeout: {{http: {{}}}}"
    world = WORLD + route("search")
    (finding,) = found(
        partially_overridden, world, traffic(ON_GATEWAY, f"{codes % (1, 2)}, timeout: 1"), traffic(ON_ROUTE, merged)
    )
    assert finding.message == (
        "compression, timeout are not in force for HTTPRoute shop/cart:"
        " BackendTrafficPolicy shop/cart takes their place"
    )
