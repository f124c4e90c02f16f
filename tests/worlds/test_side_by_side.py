"""Several implementations in one world: what is one's has no effect on what is another's."""

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
from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
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
    sources,
    spec_at,
    states,
    without,
    words,
)
from tests.render.shown import document_of

ENVOY: Final = "gateway.envoyproxy.io"
KUADRANT: Final = "kuadrant.io"
TRAFFIC: Final = f"BackendTrafficPolicy.{ENVOY}"
AUTH: Final = f"AuthPolicy.{KUADRANT}"
LIMITS: Final = f"RateLimitPolicy.{KUADRANT}"
BOOKING_BY_ENVOY: Final = "front > http > booking > rule[0]"
BOOKING_BY_ISTIO: Final = "entrance > public > booking > rule[0]"


def shared_by_two() -> tuple[Resource, ...]:
    """A route of an ambiguous name on both Gateways to a Service that the tours have too, and policies on all of it."""
    parents = [build.parent("front", "http", namespace="platform"), build.parent("entrance", namespace="platform")]
    route = build.route(
        "booking",
        namespace="visits",
        parents=parents,
        hostnames=["booking.museum.example"],
        rules=[build.rule(build.backend("tours"))],
    )
    on_route, on_entrance = build.target("booking", "HTTPRoute"), build.target("entrance")
    guest: Json = {"authentication": {"guest": {"anonymous": {}}}}
    on_tours: dict[str, Json] = {"targetRefs": [build.target("tours", "HTTPRoute")], "jwt": {"providers": []}}
    return (
        route,
        policy(TRAFFIC, "booking", {"targetRefs": [on_route], "retry": {"numRetries": 7}}, namespace="visits"),
        policy(AUTH, "booking", {"targetRef": on_route, "rules": guest}, namespace="visits"),
        # The Gateway is Istio's, and there is nothing that Envoy Gateway could do with it.
        policy(TRAFFIC, "entrance", {"targetRefs": [on_entrance], "retry": {"numRetries": 9}}, namespace="platform"),
        policy(f"SecurityPolicy.{ENVOY}", "tours", on_tours, namespace="visits"),
    )


def two_worlds() -> Snapshot:
    """Both fixture worlds in one cluster, and what they share."""
    return added(manifests("envoy-gateway", "kuadrant"), *shared_by_two())


def both() -> Analysis:
    return analyze(two_worlds())


def test_a_route_on_both_gateways_has_the_policies_of_each_where_that_one_is() -> None:
    """Envoy Gateway's own policy on the route counts below its Gateway alone; Kuadrant's works with both."""
    analysis = both()
    assert settings(analysis, TRAFFIC)[BOOKING_BY_ENVOY] == {"retry": {"numRetries": 7}}
    assert BOOKING_BY_ISTIO not in settings(analysis, TRAFFIC)
    assert sources(analysis, AUTH, BOOKING_BY_ISTIO) == {
        "rules.authentication.badge": "platform/house",
        "rules.authentication.guest": "visits/booking",
        "rules.response.unauthenticated": "platform/house",
    }
    assert sources(analysis, AUTH, BOOKING_BY_ENVOY) == {"rules.authentication.guest": "visits/booking"}
    assert sources(analysis, LIMITS, BOOKING_BY_ISTIO) == {"limits.doors": "platform/doors"}
    assert BOOKING_BY_ENVOY not in settings(analysis, LIMITS)


def test_a_policy_on_a_route_of_the_other_one_alone_is_not_managed() -> None:
    """The tours are on Istio's Gateway and on no other; the shared route is on both, so its policy is attached."""
    analysis = both()
    found = {str(ref): [each.state for each in attached] for ref, attached in analysis.attachments.items()}
    assert found["SecurityPolicy visits/tours"] == ["not managed"]
    assert found["BackendTrafficPolicy visits/booking"] == ["attached"]
    assert reported(analysis, "SecurityPolicy visits/tours") == {}
    assert list(reported(analysis, "BackendTrafficPolicy visits/booking")) == ["Gateway platform/front#http"]


def test_policies_of_one_name_are_told_apart() -> None:
    """Three policies are called booking, two of them in one namespace, and one has a route of that name elsewhere."""
    found = {name: state for name, (state, _) in states(both()).items() if name.endswith("/booking")}
    assert found == {
        "AuthPolicy visits/booking": "Enforced",
        "BackendTrafficPolicy tickets/booking": "PartiallyEnforced",
        "BackendTrafficPolicy visits/booking": "Enforced",
        "RateLimitPolicy visits/booking": "Enforced",
    }
    assert states(both())["AuthPolicy platform/house"] == ("PartiallyEnforced", ["visits/tours"])


def test_every_answer_says_the_same_of_who_affects_what() -> None:
    """`affected_by`, `describe`, `describe_policy` and `enforcement` agree, at every listener and rule."""
    analysis = both()
    answers = {found.ref: describe_policy(analysis, found.ref) for found in analysis.policies}
    for node in places(analysis):
        groups = [group for group in describe(analysis, node).in_force if not group.extent.passes_down]
        at_node = {ref for group in groups if node in group.extent.at for ref in group.policies}
        assert at_node == {ref for ref, answer in answers.items() if node in answer.affected}
        takes_effect = {
            ref
            for ref in analysis.affected_by(node)
            if any(level.includes(node) for level in analysis.registry.profile(ref.group_kind).effective_targets)
        }
        assert takes_effect == {ref for ref in at_node if ref.group_kind.group in {ENVOY, KUADRANT}}
    for ref, answer in answers.items():
        assert bool(answer.affected) == (answer.enforcement.state in {"Enforced", "PartiallyEnforced"}), ref


def test_what_is_reported_agrees_with_what_is_in_force() -> None:
    """A policy that is refused, or that nobody manages, is not accepted anywhere; one in force is."""
    analysis = both()
    for found in analysis.policies:
        status = reported(analysis, str(found.ref)).values()
        accepted = any(place["Accepted"][0] == "True" for place in status if "Accepted" in place)
        assert accepted == (analysis.enforcement(found.ref).state in {"Enforced", "PartiallyEnforced"}), found.ref


def test_a_shared_service_is_led_to_by_both() -> None:
    """Its paths have the settings of the Gateway that each begins at; a direct policy on it holds on all of them."""
    spec: dict[str, Json] = {"targetRefs": [build.ON_SERVICE | {"name": "tours"}], "validation": {"hostname": "tours"}}
    tls = policy(f"BackendTLSPolicy.{GATEWAY_API}", "tours", spec, namespace="visits")
    analysis = analyze(added(two_worlds(), tls))
    service = NodeRef(build.ref("Service", "tours", "visits", group=""))
    answer = describe(analysis, service)
    begins = [next(node.object.name for node in path if node.kind == "Gateway") for path in answer.paths]
    assert sorted(begins) == ["entrance"] * 3 + ["front"]
    for group in answer.in_force:
        gateways = {begins[position] for position in group.extent.positions}
        policies = {str(ref) for ref in group.policies}
        if group.kind.group == ENVOY:
            assert gateways == {"front"}
        if "AuthPolicy platform/house" in policies or "RateLimitPolicy platform/doors" in policies:
            assert gateways == {"entrance"}
        if group.kind.kind == "BackendTLSPolicy":
            assert gateways == {"front", "entrance"}
    assert {str(ref) for ref in analysis.affected_by(replace(service, section="8080"))} == {
        "BackendTLSPolicy visits/tours"
    }


UNREAD: Final = BlindSpot(
    what="GatewayClass envoy",
    reason="whether its controller is gateway.envoyproxy.io/gatewayclass-controller is unknown; "
    "only then does this count: BackendTrafficPolicy, ClientTrafficPolicy",
    remedy="add the manifest that contains it",
)


def open_world() -> Analysis:
    """Without any GatewayClass: which controller has which Gateway is not known."""
    alone = without(two_worlds(), "GatewayClass envoy", "GatewayClass istio")
    return analyze(replace(alone, listed=frozenset()))


def test_what_may_be_managed_counts_and_the_answer_says_that_it_is_not_known() -> None:
    """Unknown is not none: the policy on Istio's Gateway counts as well, until somebody shows the class."""
    analysis = open_world()
    assert settings(analysis, TRAFFIC)[BOOKING_BY_ENVOY] == {"retry": {"numRetries": 7}}
    assert settings(analysis, TRAFFIC)[BOOKING_BY_ISTIO] == {"retry": {"numRetries": 7}}
    front = describe(analysis, build.node("Gateway", "front", namespace="platform"))
    assert UNREAD in front.unseen
    entrance = describe_policy(analysis, policy_ref(analysis, "BackendTrafficPolicy platform/entrance"))
    assert entrance.enforcement.state != "NoEffect"
    assert [(blind_spot.what, blind_spot.reason) for blind_spot in entrance.unseen] == [
        ("GatewayClass istio", UNREAD.reason.replace(", ClientTrafficPolicy", ""))
    ]


def test_a_kind_of_every_controller_does_not_ask_whose_gateway_it_is() -> None:
    """Of Kuadrant's policies it is not known that a class could take their effect away."""
    answer = describe_policy(open_world(), policy_ref(open_world(), "AuthPolicy platform/house"))
    assert answer.unseen == ()


def test_what_is_known_needs_no_class() -> None:
    """With both classes read, or with the knowledge that there is none, nothing is unseen."""
    front = build.node("Gateway", "front", namespace="platform")
    assert describe(both(), front).unseen == ()
    other = build.gateway_class("other", "example.com/other")
    missing = analyze(added(without(two_worlds(), "GatewayClass envoy"), other))
    answer = describe(missing, front)
    assert (answer.unseen, answer.in_force) == ((), ())


def test_a_policy_without_an_effect_may_lack_it_for_want_of_a_class() -> None:
    """Nothing is below a Gateway without listeners; that its class was not read is said all the same."""
    gateway = build.resource("Gateway", "empty", {"gatewayClassName": "elsewhere", "listeners": []})
    empty = policy(TRAFFIC, "p", {"targetRefs": [build.target("empty")], "retry": {"numRetries": 1}})
    analysis = analyze(build.snapshot(gateway, empty))
    answer = describe_policy(analysis, empty.ref)
    assert answer.enforcement.state == "NoEffect"
    assert {blind_spot.what for blind_spot in answer.unseen} == {
        "GatewayClass elsewhere",
        "what is below Gateway default/empty",
    }


DATA: Final = Path(kubectl_policy.__file__).parent / "profiles" / "data"
KGATEWAY: Final = "gateway.kgateway.dev"
NGINX: Final = "gateway.nginx.org"
WORLDS: Final = {"envoy-gateway": ENVOY, "kgateway": KGATEWAY, "nginx-gateway-fabric": NGINX}
# Whose Gateways they are, and the class of each.
GATEWAYS: Final = {"front": ENVOY, "harbour": KGATEWAY, "press": NGINX, "desk": NGINX}
CLASSES: Final = {ENVOY: "envoy", KGATEWAY: "kgateway", NGINX: "nginx"}
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
    proxy: dict[str, Json] = {**on["front"], "buffering": {"disable": True}}
    return {
        ENVOY: policy(TRAFFIC, "astray", {**on["harbour"], "retry": {"numRetries": 1}}, namespace="platform"),
        KGATEWAY: policy(RULES, "astray", {**on["desk"], "csrf": {"percentageEnabled": 1}}, namespace="platform"),
        NGINX: policy(f"ProxySettingsPolicy.{NGINX}", "astray", proxy, namespace="platform"),
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
    assert found == {ENVOY: ("a.b.example.com",), KGATEWAY: (), NGINX: ("a.b.example.com",)}


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
