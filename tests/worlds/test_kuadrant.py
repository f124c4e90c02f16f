"""Kuadrant: policies merge by their named rules and limits, and of two the one further up says how."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import NodeRef, Snapshot, analyze
from kubectl_policy.model import Json
from tests import build
from tests.implementations import (
    Condition,
    added,
    affected,
    edited,
    fixture_world,
    policy,
    policy_ref,
    reported,
    settings,
    states,
)

LIMITS: Final = "RateLimitPolicy.kuadrant.io"
DNS: Final = "DNSPolicy.kuadrant.io"
TLS: Final = "TLSPolicy.kuadrant.io"
TOKENS: Final = "TokenRateLimitPolicy.kuadrant.io"
BOOK: Final = "entrance > public > tours > rule[0]"
TOURS: Final = "entrance > public > tours > rule[1]"
LETTERS: Final = "entrance > staff > letters > rule[0]"
ENTRANCE: Final = build.node("Gateway", "entrance", namespace="platform")
DOORS: Final[Json] = {"rates": [{"limit": 1000, "window": "1m"}]}
GUIDED: Final[Json] = {"rates": [{"limit": 20, "window": "1m"}]}
OWN_DOORS: Final[Json] = {"rates": [{"limit": 5000, "window": "1m"}]}
BOOKING: Final[Json] = {"rates": [{"limit": 5, "window": "10s"}]}
OVERRIDDEN: Final = {"": {"Accepted": ("True", "Accepted", ()), "Enforced": ("False", "Overridden", ())}}
world: Final = fixture_world("kuadrant")


def limits(analysis_of: Snapshot) -> dict[str, Json]:
    return {path: spec["limits"] for path, spec in settings(analyze(analysis_of), LIMITS).items()}


def test_atomic_overrides_leave_nothing_of_what_is_below() -> None:
    """Neither of the route nor of the rule; these two are overridden then."""
    doors: Json = {"limits": {"doors": DOORS}}
    snapshot = edited(world(), "RateLimitPolicy platform/doors", overrides=doors)
    assert limits(snapshot) == {path: {"doors": DOORS} for path in (BOOK, TOURS, LETTERS)}
    outcomes = states(analyze(snapshot))
    assert outcomes["RateLimitPolicy visits/booking"] == ("Overridden", ["platform/doors"])
    assert outcomes["RateLimitPolicy visits/tours"] == ("Overridden", ["platform/doors"])
    assert reported(analyze(snapshot), "RateLimitPolicy visits/tours") == OVERRIDDEN


def test_atomic_defaults_of_the_gateway_are_for_those_who_have_none() -> None:
    """The same limits as defaults: the routes with policies of their own do not see them."""
    doors: Json = {"limits": {"doors": DOORS}}
    snapshot = edited(world(), "RateLimitPolicy platform/doors", overrides=None, defaults=doors)
    assert limits(snapshot) == {
        BOOK: {"booking": BOOKING},
        TOURS: {"guided": GUIDED, "doors": OWN_DOORS},
        LETTERS: {"doors": DOORS},
    }


def test_an_override_above_holds_against_every_strategy_below() -> None:
    """Three levels are merged from the most specific one upwards, so a rule cannot undo what the Gateway insists on."""
    insisting: Json = {"strategy": "atomic", "limits": {"doors": OWN_DOORS}}
    snapshot = edited(world(), "RateLimitPolicy visits/tours", limits=None, overrides=insisting)
    assert limits(snapshot)[BOOK] == {"doors": DOORS}
    on_rule: Json = {"strategy": "merge", "limits": {"doors": OWN_DOORS, "booking": BOOKING}}
    snapshot = edited(world(), "RateLimitPolicy visits/booking", limits=None, overrides=on_rule)
    assert limits(snapshot)[BOOK] == {"doors": DOORS, "booking": BOOKING}


def test_a_policy_that_sets_no_limits_beats_nothing() -> None:
    snapshot = edited(world(), "RateLimitPolicy visits/booking", limits=None)
    assert limits(snapshot)[BOOK] == {"guided": GUIDED, "doors": DOORS}


def test_the_condition_of_a_policy_travels_by_itself() -> None:
    """Merged, the override's own `when` holds for the limits of all; a default's gives way to one further down."""
    gate: Json = [{"predicate": "request.method == 'GET'"}]
    overrides: Json = {"strategy": "merge", "limits": {"doors": DOORS}, "when": gate}
    snapshot = edited(world(), "RateLimitPolicy platform/doors", overrides=overrides)
    found = settings(analyze(snapshot), LIMITS)[TOURS]
    assert found == {"limits": {"guided": GUIDED, "doors": DOORS}, "when": gate}


def test_of_two_policies_on_one_route_the_older_one_says_how_they_combine() -> None:
    """Defaults, the younger one replaces it; overrides, it replaces the younger one. Both are accepted."""
    spec: dict[str, Json] = {"targetRef": build.target("tours", "HTTPRoute"), "limits": {"late": GUIDED}}
    late = policy(LIMITS, "late", spec, namespace="visits", age=10**6)
    snapshot = added(world(), late)
    assert limits(snapshot)[TOURS] == {"late": GUIDED, "doors": DOORS}
    outcomes = states(analyze(snapshot))
    assert outcomes["RateLimitPolicy visits/tours"][0] == "Overridden"
    insisting: Json = {"limits": {"guided": GUIDED}}
    snapshot = edited(snapshot, "RateLimitPolicy visits/tours", limits=None, overrides=insisting)
    assert limits(snapshot)[TOURS] == {"guided": GUIDED, "doors": DOORS}
    assert reported(analyze(snapshot), "RateLimitPolicy visits/late") == OVERRIDDEN


def test_a_rule_without_a_name_is_called_by_its_number_from_one() -> None:
    """`rule-1` is the first; there is no `rule-0`, and `rule-2` is no name of a rule that has another one."""
    (found,) = analyze(world()).attachments[policy_ref(analyze(world()), "RateLimitPolicy visits/booking")]
    assert (found.state, str(found.target)) == ("attached", "HTTPRoute visits/tours#rule[0]")
    target = build.target("tours", "HTTPRoute", "rule-0")
    snapshot = edited(world(), "RateLimitPolicy visits/booking", targetRef=target)
    assert states(analyze(snapshot))["RateLimitPolicy visits/booking"] == ("TargetNotFound", [])
    assert reported(analyze(snapshot), "RateLimitPolicy visits/booking") == {
        "": {"Accepted": ("False", "TargetNotFound", ())}
    }


TOURS_ROUTE: Final = build.node("HTTPRoute", "tours", namespace="visits")
LETTERS_ROUTE: Final = build.node("HTTPRoute", "letters", namespace="archive")


@pytest.mark.parametrize(
    ("node", "auth", "limiting", "tls"),
    [
        (ENTRANCE, [], [], []),
        (replace(ENTRANCE, section="public"), [], [], []),
        (replace(ENTRANCE, section="staff"), [], [], ["platform/staff"]),
        (TOURS_ROUTE, ["visits/tours"], ["visits/tours"], []),
        (LETTERS_ROUTE, [], [], ["platform/staff"]),
    ],
    ids=str,
)
def test_what_would_be_reported_on_targets(node: NodeRef, auth: list[str], limiting: list[str], tls: list[str]) -> None:
    """Beside those of the Gateway, whether or not they are beaten there; those on its rules do not count."""
    expected = {
        "AuthPolicy": ["platform/house", *auth],
        "DNSPolicy": ["platform/zone"],
        "RateLimitPolicy": ["platform/doors", *limiting],
        "TLSPolicy": ["platform/certificates", *tls],
    }
    assert affected(analyze(world()), node) == {
        f"kuadrant.io/{kind}Affected": [f"{kind} {name}" for name in names] for kind, names in expected.items()
    }


def test_without_the_listeners_policy_the_gateways_holds_for_it() -> None:
    snapshot = world("TLSPolicy platform/staff")
    assert states(analyze(snapshot))["TLSPolicy platform/certificates"] == ("Enforced", [])
    assert set(settings(analyze(world("TLSPolicy platform/certificates")), TLS)) == {"entrance > staff"}


def test_a_certificate_authority_that_does_not_exist_makes_a_policy_invalid() -> None:
    """It is accepted no more, so it says nothing about being enforced, and the Gateway's holds for the listener."""
    analysis = analyze(world("Issuer platform/house"))
    assert reported(analysis, "TLSPolicy platform/staff") == {"": {"Accepted": ("False", "Invalid", ())}}
    assert states(analysis)["TLSPolicy platform/staff"] == ("Invalid", [])
    assert [problem.rule for problem in analysis.diagnostics] == ["policy-invalid"]


def test_a_certificate_authority_that_was_not_read_is_not_missing() -> None:
    """Where the Issuers are not listed, nobody knows."""
    analysis = analyze(replace(world("Issuer platform/house"), listed=frozenset()))
    assert states(analysis)["TLSPolicy platform/staff"] == ("Enforced", [])


def test_of_two_policies_for_the_names_of_one_gateway_the_older_one_stands() -> None:
    """The younger one is refused by name, until the older one is gone."""
    spec: dict[str, Json] = {"targetRef": build.target("entrance"), "providerRefs": [{"name": "other"}]}
    late = policy(DNS, "late", spec, namespace="platform", age=10**6)
    analysis = analyze(added(world(), late))
    assert states(analysis)["DNSPolicy platform/late"] == ("Conflicted", ["platform/zone"])
    assert reported(analysis, "DNSPolicy platform/late") == {"": {"Accepted": ("False", "Conflicted", ())}}
    alone = analyze(added(world("DNSPolicy platform/zone"), late))
    assert states(alone)["DNSPolicy platform/late"] == ("Enforced", [])


def test_listeners_that_share_a_certificate_are_in_each_others_way() -> None:
    """Under two policies the later one is not enforced; under one policy it is not enforced either."""
    listeners: Json = [
        build.listener(name, "HTTPS", port, tls={"certificateRefs": [{"name": "shared"}]})
        for name, port in (("public", 443), ("staff", 8443))
    ]
    analysis = analyze(edited(world(), "Gateway platform/entrance", listeners=listeners))
    accepted: Condition = ("True", "Accepted", ())
    assert reported(analysis, "TLSPolicy platform/staff") == {
        "": {"Accepted": accepted, "Enforced": ("False", "Unknown", ())}
    }
    assert reported(analysis, "TLSPolicy platform/certificates")[""]["Enforced"] == ("True", "Enforced", ())
    assert [problem.rule for problem in analysis.diagnostics] == ["target-contended"]
    alone = analyze(edited(world("TLSPolicy platform/staff"), "Gateway platform/entrance", listeners=listeners))
    assert reported(alone, "TLSPolicy platform/certificates")[""]["Enforced"] == ("False", "Unknown", ())


def test_without_an_address_there_is_nothing_to_name() -> None:
    """The policy counts as enforced all the same; a warning says that it does nothing."""
    gateway = next(resource for resource in world().resources if str(resource.ref) == "Gateway platform/entrance")
    pending = build.resource("Gateway", "entrance", gateway.raw["spec"], namespace="platform", status={"addresses": []})
    analysis = analyze(added(world("Gateway platform/entrance"), pending))
    assert states(analysis)["DNSPolicy platform/zone"] == ("Enforced", [])
    assert [(problem.rule, problem.severity) for problem in analysis.diagnostics] == [
        ("target-status-missing", "warning")
    ]


def test_of_a_policy_of_tokens_a_part_that_is_beaten_counts_as_not_enforced() -> None:
    """Unlike its siblings it reports False then, with the reason Unknown."""
    on_route: dict[str, Json] = {"targetRef": build.target("tours", "HTTPRoute"), "limits": {"a": GUIDED, "b": GUIDED}}
    on_rule: dict[str, Json] = {"targetRef": build.target("tours", "HTTPRoute", "rule-2"), "limits": {"c": GUIDED}}
    policies = [
        policy(TOKENS, "all", on_route, namespace="visits"),
        policy(TOKENS, "one", on_rule, namespace="visits", age=2),
    ]
    analysis = analyze(added(world(), *policies))
    assert states(analysis)["TokenRateLimitPolicy visits/all"][0] == "PartiallyEnforced"
    assert reported(analysis, "TokenRateLimitPolicy visits/all")[""]["Enforced"] == ("False", "Unknown", ())
    assert reported(analysis, "TokenRateLimitPolicy visits/one")[""]["Enforced"] == ("True", "Enforced", ())


def test_nothing_is_claimed_of_a_kind_of_which_others_are_made() -> None:
    """An extension is accepted on its target; what the controller makes of it is another policy."""
    spec: dict[str, Json] = {"targetRef": build.target("tours", "HTTPRoute"), "plans": [{"tier": "gold"}]}
    plan = policy("PlanPolicy.extensions.kuadrant.io", "plan", spec, namespace="visits")
    analysis = analyze(added(world(), plan))
    assert reported(analysis, "PlanPolicy visits/plan")[""]["Accepted"] == ("True", "Accepted", ())
    assert limits(added(world(), plan)) == limits(world())


def test_the_secret_of_a_dns_provider_is_followed() -> None:
    """It is not known what happens without it; the policy is no less valid."""
    analysis = analyze(replace(world(), complete=True))
    policy = policy_ref(analysis, next(name for name in map(str, analysis.attachments) if name.startswith("DNSPolicy")))
    (found,) = analysis.references_to(build.ref("Secret", "dns-provider", policy.namespace, group=""))
    assert (found.policy, found.field, found.without) == (policy, "spec.providerRefs[0]", "unknown")
    assert not found.guessed
