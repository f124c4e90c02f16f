"""The fixture worlds say what they promise: every answer by value, and no problem that is not part of the story."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from kubectl_policy import (
    Analysis,
    GroupKind,
    NodeRef,
    ObjectRef,
    analyze,
    leaves,
    load_manifests,
    load_profiles,
    plain,
)
from kubectl_policy.model import Json
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.resolution import field_name
from tests import fast_yaml
from tests.build import listed, ref
from tests.implementations import Condition, manifests, reported, states, words

FIXTURES: Final = Path(__file__).parents[2] / "fixtures"
GATEWAY_API: Final = "gateway.networking.k8s.io"
BACKEND_TLS: Final = f"BackendTLSPolicy.{GATEWAY_API}"
# Every world, with the problems in it that are part of its story: (rule, subject).
WORLDS: Final[dict[str, list[tuple[str, str]]]] = {
    "unknown-kind": [],
    "unheard-of-kind": [
        ("target-kind-unsupported", "AllowancePolicy diner/kitchen"),
        ("target-missing", "AllowancePolicy diner/takeaway"),
        ("section-missing", "AllowancePolicy diner/third-course"),
    ],
    "bakery": [("target-missing", "RetryPolicy baker/wedding")],
    "envoy-gateway": [("target-not-permitted", "SecurityPolicy platform/login")],
    "kuadrant": [],
    "reported": [("target-not-managed", "BackendTrafficPolicy platform/internal-retries")],
    "delegation": [],
    "gloo": [("target-not-permitted", "RouteOption platform/faults")],
    "linkerd": [],
    "gke": [],
    "aws": [("target-missing", "VpcAssociationPolicy ferries/old-pier")],
    "azure": [("target-missing", "BackendTLSPolicy box-office/wardrobe")],
    "kong": [],
    "kuma": [],
    "nginx-gateway-fabric": [
        ("target-not-permitted", "PayloadProcessor newsroom/moderation"),
        ("policy-invalid", "ProxySettingsPolicy newsroom/tiny"),
        ("target-overlaps", "RateLimitPolicy newsroom/archive"),
        ("target-unknown", "UpstreamSettingsPolicy newsroom/memory"),
        ("target-not-enabled", "WAFPolicy platform/basics"),
    ],
    "kgateway": [("policy-invalid", "TrafficPolicy sailings/guard")],
    "lint": [("target-missing", "BackendTLSPolicy shop/checkout"), ("missing-reference", "HTTPRoute shop/cart")],
    "network-policies": [],
    "worked-examples/1-direct": [],
    "worked-examples/2-atomic": [],
    "worked-examples/3-merge": [],
    "worked-examples/4-process": [],
    "worked-examples/5-retry-on": [],
    "worked-examples/6-cdn": [],
}
HTTP: Final = "edge > http > baker > rule[0] > oven > 8080"
HTTPS: Final = "edge > https > baker > rule[0] > oven > 8080"


def load(world: str, *profiles: Path) -> Analysis:
    """The analysis of a world, as listed by a cluster; with its own profile file if it has one."""
    own = FIXTURES / world / "profile.yaml"
    files = [*profiles, own] if own.is_file() else list(profiles)
    manifests = sorted(path for path in (FIXTURES / world).glob("*.yaml") if path != own)
    snapshot = listed(load_manifests(manifests))
    return analyze(snapshot, profiles=[found for file in files for found in load_profiles(file)])


def settings(analysis: Analysis, kind: str) -> dict[str, dict[str, Json]]:
    """The effective settings of one policy kind on every full path that has any."""
    return {
        words(path): plain(effective.resolution.spec)
        for path in ends(analysis)
        for effective in analysis.resolver.effective(path)
        if str(effective.resolution.kind) == kind
    }


def ends(analysis: Analysis) -> list[tuple[NodeRef, ...]]:
    routes = [GroupKind(GATEWAY_API, kind) for kind in ("HTTPRoute", "GRPCRoute")]
    found = [route.ref for kind in routes for route in analysis.index.of_kind(kind)]
    return [path for ref in found for path in analysis.topology.paths_through(NodeRef(ref))]


def sources(analysis: Analysis, kind: str, path: str) -> dict[str, str]:
    found = next(end for end in ends(analysis) if words(end) == path)
    effective = next(item for item in analysis.resolver.effective(found) if str(item.resolution.kind) == kind)
    return {".".join(field): str(leaf.source.object) for field, leaf in leaves(effective.resolution.spec)}


def enforcement(analysis: Analysis) -> dict[str, tuple[str, list[str]]]:
    """The state of every policy, and what beats it."""
    found = {policy.ref: analysis.enforcement(policy.ref) for policy in analysis.policies}
    return {ref.name: (outcome.state, [by.name for by in outcome.by]) for ref, outcome in found.items()}


def affecting(analysis: Analysis, service: str, namespace: str = "demo") -> list[str]:
    ref = ObjectRef(GroupKind("", "Service"), namespace, service)
    return [policy.name for policy in analysis.affected_by(NodeRef(ref))]


@pytest.mark.parametrize("world", WORLDS)
def test_no_world_has_a_problem_that_is_not_part_of_its_story(world: str) -> None:
    """A reader who meets an unexpected diagnostic would look for the lesson in it."""
    analysis = load(world)
    assert [(problem.rule, str(problem.subject)) for problem in analysis.diagnostics] == WORLDS[world]
    assert analysis.snapshot.gaps == ()
    assert analysis.snapshot.ignored == 0


def test_every_world_is_tested() -> None:
    """A new world is of no use to anybody until something is asserted of it."""
    found = {path.parent.relative_to(FIXTURES) for path in FIXTURES.rglob("*.yaml")}
    worlds = {path.as_posix() for path in found if path.parts[0] not in {"profiles", "repositories"}}
    assert worlds == set(WORLDS)


def test_the_console_is_the_only_thing_behind_the_admin_listener() -> None:
    """One might expect jwt to protect the bread route, which names the whole Gateway; its hostname keeps it out."""
    analysis = load("bakery")
    baker = ObjectRef(GroupKind(GATEWAY_API, "HTTPRoute"), "baker", "baker")
    bindings = analysis.topology.all_bindings(baker)
    found = {item.listener.section: (item.state, item.reason) for item in bindings if item.listener}
    assert found == {
        "http": ("attached", ""),
        "https": ("attached", ""),
        "admin": ("refused", "NoMatchingListenerHostname"),
    }
    assert list(settings(analysis, "SecurityPolicy.example.io")) == [
        "edge > admin > console > rule[0] > console > 8080"
    ]


def test_the_bread_route_has_the_retries_of_its_namespace_with_a_shorter_timeout() -> None:
    """The answer that the README opens with: two policies, each with what it sets."""
    analysis = load("bakery")
    expected = {"attempts": 5, "perTryTimeout": "2s", "retryOn": ["5xx"]}
    retries = settings(analysis, "RetryPolicy.example.io")
    assert (retries[HTTP], retries[HTTPS]) == (expected, expected)
    assert sources(analysis, "RetryPolicy.example.io", HTTPS) == {
        "attempts": "RetryPolicy baker/resilience",
        "perTryTimeout": "RetryPolicy baker/quick",
        "retryOn": "RetryPolicy baker/resilience",
    }


def test_the_gateways_timeout_beats_the_routes_own_on_https_alone() -> None:
    """An atomic override on one listener leaves the other listener to the route's own policy."""
    analysis = load("bakery")
    timeouts = settings(analysis, "TimeoutPolicy.example.io")
    assert (timeouts[HTTP], timeouts[HTTPS]) == ({"request": "30s"}, {"request": "10s"})
    assert sources(analysis, "TimeoutPolicy.example.io", HTTPS) == {"request": "TimeoutPolicy infra/strict"}


def test_the_reference_grant_lets_the_menu_reach_the_other_teams_service() -> None:
    """A Service of the pastry team is affected by policies of all three teams, its own one on the port."""
    analysis = load("bakery")
    assert affecting(analysis, "cream", "pastry") == ["resilience", "strict"]
    assert set(settings(analysis, BACKEND_TLS)) == {
        "edge > https > menu > cream > cream > https",
        "internal > http > menu > cream > cream > https",
        "edge > https > cakes > rule[0] > cream > https",
    }


@pytest.mark.parametrize("profiles", [[], [FIXTURES / "profiles" / "example.io.yaml"]], ids=["labels", "profiles"])
def test_what_became_of_the_policies_of_the_bakery(profiles: list[Path]) -> None:
    """One of every fate; the profile file says nothing else than the definitions do."""
    assert enforcement(load("bakery", *profiles)) == {
        "cream": ("Enforced", []),
        "global": ("Overridden", ["resilience"]),
        "jwt": ("Enforced", []),
        "own": ("Enforced", []),
        "quick": ("Enforced", []),
        "resilience": ("PartiallyEnforced", ["own", "quick"]),
        "slow": ("PartiallyEnforced", ["strict"]),
        "strict": ("Enforced", []),
        "till": ("Enforced", []),
        "till-rush-hour": ("Conflicted", ["till"]),
        "wedding": ("TargetNotFound", []),
    }


def test_the_profile_file_of_the_bakery_changes_where_retries_take_effect() -> None:
    """With effectiveTargets, a RetryPolicy takes effect at the rules of routes and not at what is below them."""
    analysis = load("bakery", FIXTURES / "profiles" / "example.io.yaml")
    resilience = ObjectRef(GroupKind("example.io", "RetryPolicy"), "baker", "resilience")
    outcomes = analysis.enforcement(resilience).outcomes
    assert {(effective.target.kind, bool(effective.target.section)) for effective in outcomes} == {
        ("HTTPRoute", True),
        ("GRPCRoute", True),
    }


def test_an_unknown_kind_is_guessed_until_a_profile_knows_it() -> None:
    """Replaced whole by shape alone; merged field by field, but for the labels, with the profile."""
    path = "edge > http > shop > rule[0] > shop > 8080"
    kind = "QuotaPolicy.limits.example.net"
    guessed = load("unknown-kind")
    assert settings(guessed, kind)[path] == {"requests": 20, "labels": {"team": "shop"}}
    assert guessed.registry.policy_kinds[0].assumed == ("being a policy", "class", "merge strategy")
    known = load("unknown-kind", FIXTURES / "profiles" / "limits.example.net.yaml")
    assert settings(known, kind)[path] == {"requests": 20, "burst": 500, "labels": {"team": "shop"}}
    assert known.registry.policy_kinds[0].assumed == ()


# By world: each policy with its state, who beats it and the conditions on each ancestor; and each setting in force.
EXPECTED: Final = {
    file.stem: fast_yaml.load(file.read_text("utf-8"))
    for file in sorted((Path(__file__).parent / "expected").glob("*.yaml"))
}


def written(condition: Condition) -> str:
    """A condition as `status/reason`, with the objects that it names."""
    status, reason, related = condition
    return f"{status}/{reason}" + (f" ({', '.join(related)})" if related else "")


@pytest.mark.parametrize("world", EXPECTED)
def test_what_becomes_of_every_policy(world: str) -> None:
    """Where nothing is listed but the state, nothing is reported."""
    analysis = load(world)
    found: dict[str, dict[str, object]] = {}
    for policy, (state, by) in states(analysis).items():
        found[policy] = {"state": f"{state} by {', '.join(by)}" if by else state}
        for ancestor, conditions in reported(analysis, policy).items():
            found[policy][ancestor or "its own status"] = {type_: written(each) for type_, each in conditions.items()}
    assert found == EXPECTED[world]["policies"]


@pytest.mark.parametrize("world", EXPECTED)
def test_what_is_in_force(world: str) -> None:
    """At every end of a path at which a policy takes effect, and nothing at any other one."""
    analysis = load(world)
    found: dict[str, dict[str, dict[str, list[object]]]] = {}
    for policy in analysis.attachments:
        for effective in analysis.enforcement(policy).outcomes:
            path, resolution = effective.path, effective.resolution
            place = words(path) if any(node.kind == "Gateway" for node in path) else str(path[-1])
            settings: dict[str, list[object]] = {
                field_name(field): [leaf.value, leaf.source.object.qualified_name]
                for field, leaf in leaves(resolution.spec)
            }
            assert found.setdefault(resolution.kind.kind, {}).setdefault(place, settings) == settings
    assert found == EXPECTED[world].get("in force", {})


SHOP = "rule shop of HTTPRoute platform/site"
CART = "front > http > site > shop > cart > items > cart > 80"
POSTS = "front > http > site > blog > posts > rule[0] > posts > 80"


@pytest.fixture(scope="module")
def delegation() -> Analysis:
    return analyze(manifests("delegation"))


def http_route(name: str) -> ObjectRef:
    namespace = {"site": "platform", "posts": "blog"}.get(name, "shop")
    return ref("HTTPRoute", name, namespace)


def test_paths_run_through_the_routes_of_the_teams(delegation: Analysis) -> None:
    """From the platform's route down to the Services of others, and to no rule that no request reaches."""
    found = {name: describe(delegation, NodeRef(http_route(name))).paths for name in ("site", "cart", "posts")}
    assert {name: [words(path) for path in paths] for name, paths in found.items()} == {
        "site": [POSTS, CART],
        "cart": [CART],
        "posts": [POSTS],
    }


@pytest.mark.parametrize(
    ("name", "reason", "message"),
    [
        (
            "search",
            "UnsupportedValue",
            f"{SHOP} refers to it, but it has hostnames, which only the route above may have",
        ),
        ("returns", "", f"none of its matches lies inside those of {SHOP}"),
    ],
)
def test_a_route_that_is_passed_over_says_why(delegation: Analysis, name: str, reason: str, message: str) -> None:
    answer = describe(delegation, NodeRef(http_route(name)))
    (found,) = answer.not_applying
    assert (found.reason, found.message) == (reason, message)
    assert (found.policy and found.policy.name, found.target) == ("house", NodeRef(http_route("site")))
    assert not answer.requests.carries_traffic
    assert answer.policies == ()


def test_a_rule_that_is_not_reached_says_so(delegation: Analysis) -> None:
    for section in ("", "orders"):
        (found,) = describe(delegation, NodeRef(http_route("cart"), section)).not_applying
        assert (found.policy, found.target) == (None, NodeRef(http_route("site"), "shop"))
        assert found.message == "no request from there reaches orders, whose matches lie outside"
    assert describe(delegation, NodeRef(http_route("cart"), "items")).not_applying == ()
