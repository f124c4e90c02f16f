"""The adapter to kgateway's cases writes the scorer's document about a world of the tests' own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from kubectl_policy import EffectivePolicy, GroupKind, Leaf, NodeRef, Source, analyze
from kubectl_policy.model.kinds import GATEWAY_API
from kubectl_policy.resolution import Resolution
from kubectl_policy.resolution.traced import KeyedList
from tests.build import (
    allow,
    backend,
    gateway,
    gateway_class,
    listener,
    listener_set,
    node,
    parent,
    policy,
    ref,
    resource,
    route,
    rule,
    service,
    snapshot,
    target,
)
from tests.cases import kgateway
from tests.cases.kgateway import fields_in_force, settings_of
from tests.cases.sample import entry_of, predicted

if TYPE_CHECKING:
    from pathlib import Path

    from kubectl_policy import ObjectRef, Topology
    from kubectl_policy.model import Json, Resource
    from kubectl_policy.resolution.traced import Traced
    from kubectl_policy.topology import Condition

GROUP: Final = "gateway.kgateway.dev"


def _traffic_policy(name: str, namespace: str, to: dict[str, Json], **fields: Json) -> Resource:
    return resource("TrafficPolicy", name, {"targetRefs": [to], **fields}, group=GROUP, namespace=namespace)


def _prefix(path: str) -> Json:
    return [{"path": {"value": path}}]


WORLD: Final = [
    gateway_class("ours", "kgateway.dev/kgateway"),
    gateway_class("theirs", "example.com/c"),
    gateway(
        "g",
        listener(hostname="*.example.com", allowedRoutes=allow()),
        class_name="ours",
        namespace="edge",
        allowedListeners={"namespaces": {"from": "All"}},
    ),
    gateway("far", listener(allowedRoutes=allow()), class_name="theirs", namespace="edge"),
    listener_set("extra", listener("x", port=81), parent="g", parent_namespace="edge", namespace="apps"),
    resource(
        "ListenerSet",
        "loose",
        {"parentRef": {"group": "", "kind": "Service", "name": "s"}, "listeners": [listener("x", port=82)]},
        namespace="apps",
    ),
    route(
        "shop",
        namespace="apps",
        hostnames=["a.example.com", "a.example.org"],
        parents=[
            parent("g", "http", namespace="edge"),
            parent("far", namespace="edge"),
            parent("absent", namespace="edge"),
            parent("extra", kind="ListenerSet"),
        ],
        rules=[
            rule(backend("s", 80)),
            rule(backend("below", None, kind="HTTPRoute", group=GATEWAY_API), name="pass", matches=_prefix("/below")),
        ],
    ),
    route(
        "below",
        namespace="apps",
        parents=[],
        rules=[rule(backend("s", 80), name="buy", matches=_prefix("/below/buy"))],
    ),
    resource("HTTPRoute", "loose", {}, namespace="apps"),
    service("s", ("web", 80), namespace="apps"),
    _traffic_policy(
        "whole",
        "edge",
        target("g"),
        csrf={"percentageEnabled": 1},
        rateLimit={"local": {"tokenBucket": {"maxTokens": 1}}},
    ),
    _traffic_policy("passed", "apps", target("shop", "HTTPRoute", "pass"), csrf={"percentageEnabled": 2}),
    _traffic_policy("loose", "apps", target("absent", "HTTPRoute"), csrf={"percentageEnabled": 3}),
    policy(
        "listen",
        target("g"),
        kind="ListenerPolicy",
        group=GROUP,
        namespace="edge",
        default={"httpSettings": {"serverHeaderTransformation": "PassThrough"}},
    ),
    policy(
        "tls",
        target("s", "Service", group=""),
        kind="BackendTLSPolicy",
        group=GATEWAY_API,
        namespace="apps",
        validation={"wellKnownCACertificates": "System", "hostname": "s"},
    ),
    policy(
        "other",
        target("shop", "HTTPRoute"),
        kind="BackendTrafficPolicy",
        group="gateway.envoyproxy.io",
        namespace="apps",
        retry={"numRetries": 1},
    ),
]
ACCEPTED: Final = {"status": "True", "reason": "Accepted"}
SHOP, BELOW, PASS = "HTTPRoute/apps/shop", "HTTPRoute/apps/below", "HTTPRoute/apps/shop:1"


@pytest.fixture
def document(tmp_path: Path) -> dict[str, list[dict[str, Any]]]:
    """The document about the world above, by way of the command."""
    return predicted(kgateway.main, tmp_path, WORLD)


def test_a_route_has_the_parents_of_the_controllers_alone(document: dict[str, list[dict[str, Any]]]) -> None:
    """Not those of others, nor those that do not exist; a route without parents is there all the same."""
    shop = entry_of(document["routes"], name="shop")
    assert (shop["kind"], shop["namespace"]) == ("HTTPRoute", "apps")
    parents = {parent["parentRef"]: parent["conditions"] for parent in shop["parents"]}
    assert list(parents) == ["Gateway/edge/g#http", "ListenerSet/apps/extra"]
    assert all(conditions["Accepted"] == ACCEPTED for conditions in parents.values())
    assert all("ResolvedRefs" in conditions for conditions in parents.values())
    assert entry_of(document["routes"], name="loose")["parents"] == []


def test_policies_are_written_by_ancestor(document: dict[str, list[dict[str, Any]]]) -> None:
    """Those of the implementation's group and BackendTLSPolicies; without a target there is no ancestor."""
    policies = [(policy["kind"], policy["name"]) for policy in document["policies"]]
    assert policies == [
        ("ListenerPolicy", "listen"),
        ("TrafficPolicy", "loose"),
        ("TrafficPolicy", "passed"),
        ("TrafficPolicy", "whole"),
        ("BackendTLSPolicy", "tls"),
    ]
    ancestors = entry_of(document["policies"], name="whole")["ancestors"]
    assert {ancestor["ref"] for ancestor in ancestors} == {"Gateway/edge/g", "ListenerSet/apps/extra"}
    assert all(ancestor["conditions"]["Accepted"]["status"] == "True" for ancestor in ancestors)
    assert entry_of(document["policies"], name="loose")["ancestors"] == []


def test_listeners_are_written_with_what_is_in_force_there(document: dict[str, list[dict[str, Any]]]) -> None:
    """Delegated routes have the hostnames of the route that is attached, and are not counted as attached."""
    http = entry_of(document["listeners"], listener="edge/g/http")
    assert http["attachedRoutes"] == 1
    assert http["conditions"]["Accepted"] == ACCEPTED
    assert http["conditions"]["Conflicted"] == {"status": "False", "reason": "NoConflicts"}
    assert http["hostnames"] == {SHOP: ["a.example.com"], BELOW: ["a.example.com"]}
    assert http["ListenerPolicy"] == {"fields": {"default.httpSettings.serverHeaderTransformation": ["edge/listen"]}}
    assert set(http["TrafficPolicy"]["fields"]) == {"csrf", "rateLimit.local"}
    names = [listener["listener"] for listener in document["listeners"]]
    assert names == ["edge/far/http", "edge/g/http", "edge/g/apps/extra/x"]
    assert "TrafficPolicy" not in entry_of(document["listeners"], listener="edge/far/http")


def test_listener_sets_are_written_by_condition(document: dict[str, list[dict[str, Any]]]) -> None:
    """Each with its namespace."""
    extra = entry_of(document["listenerSets"], name="extra")
    assert (extra["namespace"], extra["conditions"]["Accepted"]) == ("apps", ACCEPTED)


def test_effective_policies_are_written_by_way(document: dict[str, list[dict[str, Any]]]) -> None:
    """With the delegating rules on the way, and with the policy that each field comes from."""
    ways = {(entry["listener"], entry["route"], entry["rule"], *entry["via"]): entry for entry in document["effective"]}
    direct = ways["edge/g/http", SHOP, 0]
    assert direct["TrafficPolicy"]["fields"] == {"csrf": ["edge/whole"], "rateLimit.local": ["edge/whole"]}
    assert direct["replaced"] is False
    delegated = ways["edge/g/http", BELOW, 0, PASS]
    assert delegated["TrafficPolicy"]["fields"] == {"csrf": ["apps/passed"], "rateLimit.local": ["edge/whole"]}
    assert ("edge/g/http", SHOP, 1) in ways
    assert ("edge/g/http", BELOW, 0) not in ways
    assert "TrafficPolicy" not in ways["edge/far/http", SHOP, 0]


def test_a_delegating_route_is_a_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    """If it is below a Gateway of the controllers, at whatever distance; not if delegation goes in a circle."""
    parent_names = {"below": "shop", "shop": "g", "one": "two", "two": "one"}

    def parents(_: Topology, route: ObjectRef) -> tuple[tuple[NodeRef, tuple[Condition, ...]], ...]:
        name = parent_names.get(route.name, "")
        above_it = node("Gateway", "g", "http", "edge") if name == "g" else node("HTTPRoute", name, "", "apps")
        return ((above_it, ()),) if name else ()

    circle = [resource("HTTPRoute", name, {}, namespace="apps") for name in ("one", "two")]
    monkeypatch.setattr(kgateway, "route_parent_conditions", parents)
    routes = kgateway.routes(analyze(snapshot(*WORLD, *circle, complete=True)))
    assert {entry["name"]: entry["parents"] for entry in routes} == {
        "below": [{"parentRef": SHOP, "conditions": {}}],
        "shop": [{"parentRef": "Gateway/edge/g#http", "conditions": {}}],
        **{name: [] for name in ("loose", "one", "two")},
    }


def test_a_field_has_every_policy_that_it_comes_from() -> None:
    """Those of all elements of a list, but by port; what was removed, or is the target's own, is left out."""
    kind = GroupKind("gateway.kgateway.dev", "ListenerPolicy")
    target = node("Gateway", "g")
    first, second = (Source(ref("ListenerPolicy", name, group=kind.group), target) for name in "ab")
    spec: Traced = {
        "perPort": KeyedList({"80": {"x": Leaf(1, first), "y": Leaf(2, second)}, "81": Leaf({}, second)}),
        "acl": {"rules": KeyedList({"a/x[0]": Leaf(1, first), "a/y[0]": {"action": Leaf(1, second)}})},
        "default": {
            "x": Leaf(1, second),
            "y": Leaf(None, first, removed=True),
            "z": Leaf(1, Source(target.object, target)),
        },
    }
    nobody: frozenset[Source] = frozenset()
    resolution = Resolution(kind=kind, spec=spec, contributions=(), members=nobody, rejected=nobody)
    policy = EffectivePolicy((target,), resolution)
    assert fields_in_force(policy) == {
        "perPort[80].x": ["default/a"],
        "perPort[80].y": ["default/b"],
        "perPort[81]": ["default/b"],
        "acl.rules": ["default/a"],
        "acl.rules.action": ["default/b"],
        "default.x": ["default/b"],
    }


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ("{}", {}),
        ('{"settings": {"KGW_REFERENCE_GRANT_MODE": "STRICT"}}', {"kgateway.referenceGrantMode": "STRICT"}),
        ('{"settings": {"KGW_LEVEL": "3"}}', {"kgateway.level": "3"}),
        (
            '{"settings": {"KGW_POLICY_MERGE": "{\\"trafficPolicy\\": {\\"acl\\": \\"DeepMerge\\"}}"}}',
            {"kgateway.policyMerge.trafficPolicy.acl": "DeepMerge"},
        ),
    ],
)
def test_settings_have_the_names_of_profiles(tmp_path: Path, facts: str, expected: dict[str, str]) -> None:
    """Made of those of the variables; an object of JSON is one setting for each of its fields."""
    (tmp_path / "facts.json").write_text(facts, "utf-8")
    assert dict(settings_of(tmp_path).settings) == expected


def test_a_case_without_facts_has_no_settings(tmp_path: Path) -> None:
    """It is answered all the same."""
    assert not settings_of(tmp_path).settings
