"""Planted contradictions between two readings of one world: the judge notices them, and doubts where there are some."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import Analysis, analyze, load_manifests
from kubectl_policy.model import Gap
from tests.worlds.judge import Hedges, contradictions, hedges, unsure, wrong_everywhere

if TYPE_CHECKING:
    from collections.abc import Sequence

WORLD: Final = """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: envoy}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: door, namespace: shop}
spec:
  gatewayClassName: envoy
  listeners: [{name: http, protocol: HTTP, port: 80}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: cart, namespace: shop}
spec:
  hostnames: [cart.example]
  parentRefs: [{name: door}]
  rules: [{backendRefs: [{name: cart, port: 80}]}]
---
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {ports: [{port: 80}]}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: house, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: door}]
  timeout: {http: {requestTimeout: 15s}}
"""
POLICY: Final = """\
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: cart, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart}]
  timeout: {http: {requestTimeout: 60s}}
"""
HOUSE: Final = "BackendTrafficPolicy shop/house"
CHART: Final = Gap("", "shop", "a chart may create objects in namespace shop")


def read(text: str, gaps: Sequence[Gap] = ()) -> Analysis:
    """Return the analysis of manifests, with gaps."""
    return analyze(replace(load_manifests("-", stdin=io.StringIO(text)), gaps=tuple(gaps)))


def test_a_world_does_not_contradict_itself() -> None:
    assert contradictions(read(WORLD), read(WORLD)) == []
    assert contradictions(read(WORLD + POLICY), read(WORLD + POLICY)) == []


@pytest.mark.parametrize(
    ("right", "rendered", "line"),
    [
        ("requestTimeout: 15s", "requestTimeout: 30s", f"{HOUSE} of <stdin>:26 is otherwise"),
        ("name: door}]\n  timeout", "name: gate}]\n  timeout", f"describe {HOUSE}: is Enforced is wrong"),
        ("[cart.example]", "[till.example]", "describe HTTPRoute shop/cart: takes requests for cart.example is wrong"),
        ("[{name: door}]", "[{name: gate}]", "HTTPRoute shop/cart at Gateway shop/door#http: attached, not"),
        ("[{name: door}]", "[{name: gate}]", f"blast-radius {HOUSE}: takes requests for cart.example is wrong"),
        ("name: house,", "name: home,", f"{HOUSE} of <stdin>:26 does not exist"),
        ("name: house,", "name: home,", "BackendTrafficPolicy shop/home is excluded"),
    ],
)
def test_what_is_certain_and_rendered_otherwise_is_noticed(right: str, rendered: str, line: str) -> None:
    assert WORLD.count(right) == 1
    lines = contradictions(read(WORLD), read(WORLD.replace(right, rendered)))
    assert [noticed for noticed in lines if noticed.startswith(line)] != [], lines


def test_a_policy_that_only_rendering_shows_is_excluded() -> None:
    lines = contradictions(read(WORLD), read(WORLD + POLICY))
    assert "BackendTrafficPolicy shop/cart is excluded" in lines
    assert "get HTTPRoute shop/cart: BackendTrafficPolicy shop/cart affects it is not said" in lines
    assert f"get {HOUSE}: is Enforced is wrong" in lines


def test_a_policy_that_only_raw_reading_shows_is_a_lie() -> None:
    lines = contradictions(read(WORLD + POLICY), read(WORLD))
    assert "blast-radius BackendTrafficPolicy shop/cart: is not there" in lines
    assert f"get {HOUSE}: is Overridden is wrong" in lines


def test_a_doubt_covers_what_it_is_about() -> None:
    """A chart may create objects in its own namespace, and in no other one."""
    assert contradictions(read(WORLD, [CHART]), read(WORLD + POLICY)) == []
    elsewhere = replace(CHART, namespace="till")
    assert "BackendTrafficPolicy shop/cart is excluded" in contradictions(
        read(WORLD, [elsewhere]), read(WORLD + POLICY)
    )


def test_a_doubt_about_one_object_covers_its_values() -> None:
    """A patch of the policy of the Gateway may change its settings; it is no doubt about the route."""
    patch = Gap("BackendTrafficPolicy", "shop", "patched", name="house")
    assert contradictions(read(WORLD, [patch]), read(WORLD.replace("15s", "30s"))) == []
    lines = contradictions(read(WORLD, [patch]), read(WORLD.replace("[cart.example]", "[till.example]")))
    assert "HTTPRoute shop/cart of <stdin>:13 is otherwise" in "".join(lines)


def test_a_variable_stands_for_any_value() -> None:
    raw = WORLD.replace("[cart.example]", '["cart.${ZONE}"]').replace("15s", '"${TIMEOUT}"')
    assert contradictions(read(raw), read(WORLD)) == []


def test_hedges_of_right_answers_are_counted() -> None:
    """Two answers about the route: its description, and its row in a list."""
    assert hedges(read(WORLD), read(WORLD)) == Hedges(right=2, hedged=0)
    assert hedges(read(WORLD, [CHART]), read(WORLD)) == Hedges(right=2, hedged=2)
    assert hedges(read(WORLD, [CHART]), read(WORLD + POLICY)) == Hedges(right=0, hedged=0)
    assert Hedges(right=2, hedged=1) + Hedges(right=3, hedged=1) == Hedges(right=5, hedged=2)


def test_certainty_that_rendering_does_not_have_is_listed() -> None:
    assert unsure(read(WORLD), read(WORLD)) == []
    assert "describe HTTPRoute shop/cart: rendered doubts" in "".join(unsure(read(WORLD), read(WORLD, [CHART])))


def test_an_answer_about_several_clusters_is_that_of_one_of_them() -> None:
    other = read(WORLD.replace("15s", "30s"))
    assert wrong_everywhere(read(WORLD), [other, read(WORLD)]) == []
    wrong = wrong_everywhere(read(WORLD.replace("15s", "60s")), [other, read(WORLD)])
    assert wrong == [
        f"describe {subject}" for subject in ("Service shop/cart", "Gateway shop/door", "HTTPRoute shop/cart")
    ]
