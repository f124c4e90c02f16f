"""Envoy Gateway, kgateway and NGINX Gateway Fabric in one world: nothing of the one has an effect on another's."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

import kubectl_policy
from kubectl_policy import Analysis, NodeRef, ObjectRef, PolicyKindProfile, Resource, Snapshot, analyze, load_profiles
from kubectl_policy.model import Json
from kubectl_policy.model.fields import mappings_at
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.lists import list_type
from kubectl_policy.questions.shared.selection import Selection
from kubectl_policy.topology import attached_hostnames, route_parent_conditions
from tests import build
from tests.implementations import (
    added,
    affected,
    manifests,
    places,
    policy,
    policy_ref,
    reported,
    settings,
    spec_at,
    states,
    words,
)
from tests.render.shown import document_of

DATA: Final = Path(kubectl_policy.__file__).parent / "profiles" / "data"
ENVOY: Final = "gateway.envoyproxy.io"
KGATEWAY: Final = "gateway.kgateway.dev"
NGINX: Final = "gateway.nginx.org"
WORLDS: Final = {"envoy-gateway": ENVOY, "kgateway": KGATEWAY, "nginx-gateway-fabric": NGINX}
# Whose Gateways they are, and the class of each.
GATEWAYS: Final = {"front": ENVOY, "harbour": KGATEWAY, "press": NGINX, "desk": NGINX}
CLASSES: Final = {ENVOY: "envoy", KGATEWAY: "kgateway", NGINX: "nginx"}
TRAFFIC: Final = f"BackendTrafficPolicy.{ENVOY}"
RULES: Final = f"TrafficPolicy.{KGATEWAY}"
CLIENTS: Final = f"ClientSettingsPolicy.{NGINX}"
SHARED: Final = build.node("HTTPRoute", "souvenirs", namespace="shop")
CHILD: Final = build.node("HTTPRoute", "postcards", namespace="shop")
BY_ENVOY: Final = "front > http > souvenirs > all"
BY_KGATEWAY: Final = "harbour > http > souvenirs > all"
DELEGATED: Final = "harbour > http > souvenirs > cards > postcards > rule[0]"


def shared() -> tuple[Resource, ...]:
    """A route on Gateways of all three, a rule of which leads to a route, with a policy of each on both of them."""
    parents = [build.parent(name, section, namespace="platform") for name, section in (("front", "http"), ("desk", ""))]
    parents.append(build.parent("harbour", "http", namespace="platform"))
    cards = build.backend("postcards", None, kind="HTTPRoute", group=GATEWAY_API)
    prefix = [{"path": {"type": "PathPrefix", "value": "/cards"}}]
    rules = [build.rule(build.backend("all"), name="all"), build.rule(cards, name="cards", matches=list(prefix))]
    on_route, on_child = build.target("souvenirs", "HTTPRoute"), build.target("postcards", "HTTPRoute")
    return (
        build.route("souvenirs", namespace="shop", parents=parents, rules=rules, hostnames=["shop.example"]),
        build.route(
            "postcards", namespace="shop", parents=[], rules=[build.rule(build.backend("all"), matches=list(prefix))]
        ),
        build.service("all", namespace="shop"),
        policy(TRAFFIC, "envoy", {"targetRefs": [on_route], "retry": {"numRetries": 7}}, namespace="shop"),
        policy(RULES, "kgateway", {"targetRefs": [on_route], "buffer": {"maxRequestSize": "1Ki"}}, namespace="shop"),
        policy(CLIENTS, "nginx", {"targetRef": on_route, "body": {"maxSize": "7k"}}, namespace="shop"),
        policy(TRAFFIC, "envoy-cards", {"targetRefs": [on_child], "retry": {"numRetries": 8}}, namespace="shop"),
        policy(RULES, "kgateway-cards", {"targetRefs": [on_child], "csrf": {"percentageEnabled": 8}}, namespace="shop"),
        policy(CLIENTS, "nginx-cards", {"targetRef": on_child, "body": {"maxSize": "8k"}}, namespace="shop"),
    )


def misplaced() -> dict[str, Resource]:
    """Return a policy of each implementation that is on a Gateway of another one, by group."""
    on = {name: {"targetRefs": [build.target(name)]} for name in GATEWAYS}
    return {
        ENVOY: policy(TRAFFIC, "astray", {**on["harbour"], "retry": {"numRetries": 1}}, namespace="platform"),
        KGATEWAY: policy(RULES, "astray", {**on["desk"], "csrf": {"percentageEnabled": 1}}, namespace="platform"),
        NGINX: policy(
            f"ProxySettingsPolicy.{NGINX}",
            "astray",
            {**on["front"], "buffering": {"disable": True}},
            namespace="platform",
        ),
    }


def snapshot() -> Snapshot:
    """All three worlds in one cluster, what they share, and what is misplaced."""
    return added(manifests(*WORLDS), *shared(), *misplaced().values())


@cache
def world() -> Analysis:
    return analyze(snapshot())


def on_gateways(analysis: Analysis) -> set[tuple[str, ObjectRef]]:
    """The Gateways that paths begin at, each with the policies that have a say on one of its paths."""
    nodes = dict.fromkeys(each for node in places(analysis) for each in (node, NodeRef(node.object)))
    return {
        (words(effective.path).partition(" > ")[0], part.source.object)
        for node in nodes
        for effective in analysis.effective(node)
        for part in effective.resolution.contributions
    }


def leaks(analysis: Analysis) -> set[tuple[str, str]]:
    """Return the policies on paths of Gateways of other implementations, each with the Gateway."""
    found = ((gateway, ref) for gateway, ref in on_gateways(analysis) if ref.group_kind.group in CLASSES)
    return {(gateway, str(ref)) for gateway, ref in found if ref.group_kind.group != GATEWAYS[gateway]}


def test_no_policy_of_the_one_is_on_a_path_of_anothers_gateway() -> None:
    """And each has some on its own, so that the test is about something."""
    assert leaks(world()) == set()
    found = {(gateway, ref.group_kind.group) for gateway, ref in on_gateways(world())}
    assert found >= set(GATEWAYS.items())


def for_everybody(group: str) -> list[PolicyKindProfile]:
    """The profiles of a group as if their kinds were for Gateways of every controller."""
    found = load_profiles(DATA / f"{group}.yaml")
    return [replace(profile, controllers=frozenset()) for profile in found]


@pytest.mark.parametrize("group", [ENVOY, KGATEWAY, NGINX])
def test_it_is_the_controllers_of_a_profile_that_keep_them_apart(group: str) -> None:
    """Without them the misplaced policy, and that on the shared route, are in force on Gateways of others."""
    found = leaks(analyze(snapshot(), profiles=for_everybody(group)))
    assert {ref.split()[0] for _, ref in found} <= {profile.group_kind.kind for profile in for_everybody(group)}
    foreign = {name for name, owner in GATEWAYS.items() if owner != group}
    assert {gateway for gateway, _ in found} & foreign
    assert str(misplaced()[group].ref) in {ref for _, ref in found}


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("name", "worlds"), [(name, worlds) for worlds in (tuple(WORLDS), ("envoy-gateway", "kuadrant")) for name in worlds]
)
def test_each_world_answers_as_it_does_alone(name: str, worlds: tuple[str, ...]) -> None:
    """What the others add changes no setting, no state, no report and no condition of what was there."""
    alone, together = analyze(manifests(name)), analyze(manifests(*worlds))
    for kind in {str(found.ref.group_kind) for found in alone.policies}:
        assert settings(together, kind).items() >= settings(alone, kind).items()
    assert states(together).items() >= states(alone).items()
    for found in alone.policies:
        assert reported(together, str(found.ref)) == reported(alone, str(found.ref))
        assert describe_policy(together, found.ref).affected == describe_policy(alone, found.ref).affected
    for node in {*places(alone), *(NodeRef(each.object) for each in places(alone))}:
        assert affected(together, node) == affected(alone, node)


@pytest.mark.unmeasured
@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("word", ["gateways", "httproutes", "services", "policies"])
def test_each_world_is_listed_as_it_is_alone(name: str, word: str) -> None:
    """With the same counts of policies, attachments and effects in every row."""
    alone, together = (
        mappings_at(document_of(list_type(analyze(manifests(*names)), word, Selection())), "items")
        for names in ([name], WORLDS)
    )
    assert len(alone) > 0
    assert [row for row in alone if row not in together] == []


def test_the_shared_route_has_the_settings_of_each_where_that_one_is() -> None:
    analysis = world()
    assert settings(analysis, TRAFFIC)[BY_ENVOY] == {"retry": {"numRetries": 7}}
    assert settings(analysis, RULES)[BY_KGATEWAY]["buffer"] == {"maxRequestSize": "1Ki"}
    assert settings_at(analysis, CLIENTS, SHARED) == [{"body": {"maxSize": "7k"}}]
    ours = {TRAFFIC: {BY_ENVOY}, RULES: {BY_KGATEWAY}}
    for kind, paths in ours.items():
        assert {path for path in settings(analysis, kind) if path.endswith("souvenirs > all")} == paths


def settings_at(analysis: Analysis, kind: str, node: NodeRef) -> list[dict[str, Json]]:
    """Return the effective specs of a kind at a node that are not empty."""
    return [found for found in spec_at(analysis, kind, node) if found]


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("BackendTrafficPolicy shop/envoy", "Gateway platform/front#http"),
        ("TrafficPolicy shop/kgateway", "Gateway platform/harbour#http"),
        ("ClientSettingsPolicy shop/nginx", "HTTPRoute shop/souvenirs"),
    ],
)
def test_on_the_shared_route_each_reports_at_its_own_place(name: str, place: str) -> None:
    analysis = world()
    assert [found.state for found in analysis.attachments[policy_ref(analysis, name)]] == ["attached"]
    assert list(reported(analysis, name)) == [place]
    assert reported(analysis, name)[place]["Accepted"][0] == "True"


@pytest.mark.parametrize("group", [ENVOY, KGATEWAY, NGINX])
def test_a_policy_on_anothers_gateway_is_not_managed(group: str) -> None:
    """It has no effect, nobody reports on it, and the Gateway says that it does not apply."""
    analysis, astray = world(), misplaced()[group]
    (attachment,) = analysis.attachments[astray.ref]
    answer = describe_policy(analysis, astray.ref)
    assert (attachment.state, answer.enforcement.state) == ("not managed", "NoEffect")
    assert reported(analysis, str(astray.ref)) == {}
    assert attachment.target is not None
    gateway = describe(analysis, attachment.target)
    assert astray.ref in {found.policy for found in gateway.not_applying}
    assert astray.ref not in gateway.policies
    assert str(astray.ref) not in {ref for refs in affected(analysis, attachment.target).values() for ref in refs}


def test_only_the_one_that_delegates_leads_from_route_to_route() -> None:
    """Below Gateways of the others such a backendRef leads nowhere, and policies on the route below are nobody's."""
    analysis = world()
    paths = {words(path) for path in analysis.topology.paths(NodeRef(CHILD.object, "rule[0]"))}
    assert paths == {DELEGATED}
    assert {path for path in settings(analysis, RULES) if "postcards" in path} == {DELEGATED}
    found = {str(ref): [each.state for each in attached] for ref, attached in analysis.attachments.items()}
    assert found["TrafficPolicy shop/kgateway-cards"] == ["attached"]
    assert found["BackendTrafficPolicy shop/envoy-cards"] == ["not managed"]
    assert found["ClientSettingsPolicy shop/nginx-cards"] == ["not managed"]
    assert reported(analysis, "ClientSettingsPolicy shop/nginx-cards") == {}
    assert reported(analysis, "BackendTrafficPolicy shop/envoy-cards") == {}
    parents = {str(place) for place, _ in route_parent_conditions(analysis.topology, CHILD.object)}
    assert parents == {"HTTPRoute shop/souvenirs"}


def short(owner: str) -> str:
    return owner.split(".")[1]


def classes() -> list[Resource]:
    return [resource for resource in manifests(*WORLDS).resources if resource.ref.kind == "GatewayClass"]


def test_listeners_are_isolated_as_the_controller_of_each_has_it() -> None:
    """A route on the wide listener leaves the narrow one's names to it, where listeners are isolated."""
    wide, narrow = (
        build.listener("wide", hostname="*.example.com"),
        build.listener("narrow", hostname="*.b.example.com"),
    )
    gateways = [build.gateway(short(owner), wide, narrow, class_name=name) for owner, name in CLASSES.items()]
    parents = [build.parent(short(owner), "wide") for owner in CLASSES]
    route = build.route(parents=parents, hostnames=["a.b.example.com"])
    topology = analyze(build.snapshot(*classes(), *gateways, route)).topology
    found = {
        owner: attached_hostnames(topology, build.node("Gateway", short(owner), "wide"), route.ref) for owner in CLASSES
    }
    assert found == {ENVOY: (), KGATEWAY: (), NGINX: ("a.b.example.com",)}


def test_a_gateway_that_is_not_valid_is_passed_over_by_whoever_does_so() -> None:
    """All three have an address that one of them does not take; there the route hangs on nothing."""
    addresses = [{"type": "Hostname", "value": "here.example"}]
    gateways = [
        build.gateway(short(owner), class_name=name, addresses=list(addresses)) for owner, name in CLASSES.items()
    ]
    route = build.route(parents=[build.parent(short(owner)) for owner in CLASSES])
    target = {owner: build.target(short(owner)) for owner in CLASSES}
    policies = {
        ENVOY: policy(TRAFFIC, "p", {"targetRefs": [target[ENVOY]], "retry": {"numRetries": 1}}),
        KGATEWAY: policy(RULES, "p", {"targetRefs": [target[KGATEWAY]], "csrf": {"percentageEnabled": 1}}),
        NGINX: policy(CLIENTS, "p", {"targetRef": target[NGINX], "body": {"maxSize": "1k"}}),
    }
    analysis = analyze(build.snapshot(*classes(), *gateways, route, *policies.values()))
    bindings = [binding.state for binding in analysis.topology.bindings(route.ref)]
    states_of = {owner: analysis.attachments[found.ref][0].state for owner, found in policies.items()}
    assert dict(zip(CLASSES, bindings, strict=True)) == {ENVOY: "attached", KGATEWAY: "attached", NGINX: "refused"}
    assert states_of == {ENVOY: "attached", KGATEWAY: "attached", NGINX: "target invalid"}
    accepted = {owner: reported(analysis, str(found.ref)) for owner, found in policies.items()}
    assert accepted[NGINX] == {
        "Gateway default/nginx": {
            "Accepted": ("False", "TargetNotFound", ()),
            "Programmed": ("False", "Reconciling", ()),
        }
    }
    assert [place["Accepted"][0] for place in accepted[KGATEWAY].values()] == ["True"]
