"""The fixture world of routes that delegate to routes: each answer by value."""

from __future__ import annotations

import pytest

from kubectl_policy import Analysis, NodeRef, ObjectRef, analyze
from kubectl_policy.questions.describe.objects import describe
from tests.build import ref
from tests.implementations import manifests
from tests.worlds.test_fixtures import words

SHOP = "rule shop of HTTPRoute platform/site"
CART = "kgateway > front > http > site > shop > cart > items > cart > 80"
POSTS = "kgateway > front > http > site > blog > posts > rule[0] > posts > 80"


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analyze(manifests("delegation"))


def http_route(name: str) -> ObjectRef:
    namespace = {"site": "platform", "posts": "blog"}.get(name, "shop")
    return ref("HTTPRoute", name, namespace)


def test_paths_run_through_the_routes_of_the_teams(analysis: Analysis) -> None:
    """From the platform's route down to the Services of others, and to no rule that no request reaches."""
    found = {name: describe(analysis, NodeRef(http_route(name))).paths for name in ("site", "cart", "posts")}
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
def test_a_route_that_is_passed_over_says_why(analysis: Analysis, name: str, reason: str, message: str) -> None:
    answer = describe(analysis, NodeRef(http_route(name)))
    (found,) = answer.not_applying
    assert (found.reason, found.message) == (reason, message)
    assert (found.policy and found.policy.name, found.target) == ("house", NodeRef(http_route("site")))
    assert not answer.requests.carries_traffic
    assert answer.policies == ()


def test_a_rule_that_is_not_reached_says_so(analysis: Analysis) -> None:
    for section in ("", "orders"):
        (found,) = describe(analysis, NodeRef(http_route("cart"), section)).not_applying
        assert (found.policy, found.target) == (None, NodeRef(http_route("site"), "shop"))
        assert found.message == "no request from there reaches orders, whose matches lie outside"
    assert describe(analysis, NodeRef(http_route("cart"), "items")).not_applying == ()
