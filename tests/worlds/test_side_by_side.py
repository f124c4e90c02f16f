"""Envoy Gateway and Kuadrant (on Istio) in one world: what is one's has no effect on what is the other's."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from kubectl_policy import Analysis, NodeRef, Resource, Snapshot, analyze
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from tests import build
from tests.implementations import (
    added,
    manifests,
    places,
    policy,
    policy_ref,
    reported,
    settings,
    sources,
    states,
    without,
)

ENVOY: Final = "gateway.envoyproxy.io"
KUADRANT: Final = "kuadrant.io"
TRAFFIC: Final = f"BackendTrafficPolicy.{ENVOY}"
AUTH: Final = f"AuthPolicy.{KUADRANT}"
LIMITS: Final = f"RateLimitPolicy.{KUADRANT}"
BY_ENVOY: Final = "front > http > booking > rule[0]"
BY_ISTIO: Final = "entrance > public > booking > rule[0]"


def shared() -> tuple[Resource, ...]:
    """A route of an ambiguous name on both Gateways to a Service that the tours have too, and policies on all of it."""
    parents = [build.parent("front", "http", namespace="platform"), build.parent("entrance", namespace="platform")]
    route = build.route(
        "booking",
        namespace="visits",
        parents=parents,
        hostnames=["booking.museum.example"],
        rules=[build.rule(build.backend("tours"))],
    )
    on_route = build.target("booking", "HTTPRoute")
    return (
        route,
        build.policy(
            "booking",
            on_route,
            kind="BackendTrafficPolicy",
            group=ENVOY,
            namespace="visits",
            age=1,
            retry={"numRetries": 7},
        ),
        build.policy(
            "booking",
            kind="AuthPolicy",
            group=KUADRANT,
            namespace="visits",
            age=1,
            targetRef=on_route,
            rules={"authentication": {"guest": {"anonymous": {}}}},
        ),
        # The Gateway is Istio's, and there is nothing that Envoy Gateway could do with it.
        build.policy(
            "entrance",
            build.target("entrance"),
            kind="BackendTrafficPolicy",
            group=ENVOY,
            namespace="platform",
            age=1,
            retry={"numRetries": 9},
        ),
        build.policy(
            "tours",
            build.target("tours", "HTTPRoute"),
            kind="SecurityPolicy",
            group=ENVOY,
            namespace="visits",
            age=1,
            jwt={"providers": []},
        ),
    )


def snapshot() -> Snapshot:
    """Both fixture worlds in one cluster, and what they share."""
    return added(manifests("envoy-gateway", "kuadrant"), *shared())


def world() -> Analysis:
    return analyze(snapshot())


def test_a_route_on_both_gateways_has_the_policies_of_each_where_that_one_is() -> None:
    """Envoy Gateway's own policy on the route counts below its Gateway alone; Kuadrant's works with both."""
    analysis = world()
    assert settings(analysis, TRAFFIC)[BY_ENVOY] == {"retry": {"numRetries": 7}}
    assert BY_ISTIO not in settings(analysis, TRAFFIC)
    assert sources(analysis, AUTH, BY_ISTIO) == {
        "rules.authentication.badge": "platform/house",
        "rules.authentication.guest": "visits/booking",
        "rules.response.unauthenticated": "platform/house",
    }
    assert sources(analysis, AUTH, BY_ENVOY) == {"rules.authentication.guest": "visits/booking"}
    assert sources(analysis, LIMITS, BY_ISTIO) == {"limits.doors": "platform/doors"}
    assert BY_ENVOY not in settings(analysis, LIMITS)


def test_a_policy_on_a_route_of_the_other_one_alone_is_not_managed() -> None:
    """The tours are on Istio's Gateway and on no other; the shared route is on both, so its policy is attached."""
    analysis = world()
    found = {str(ref): [each.state for each in attached] for ref, attached in analysis.attachments.items()}
    assert found["SecurityPolicy visits/tours"] == ["not managed"]
    assert found["BackendTrafficPolicy visits/booking"] == ["attached"]
    assert reported(analysis, "SecurityPolicy visits/tours") == {}
    assert list(reported(analysis, "BackendTrafficPolicy visits/booking")) == ["Gateway platform/front#http"]


def test_policies_of_one_name_are_told_apart() -> None:
    """Three policies are called booking, two of them in one namespace, and one has a route of that name elsewhere."""
    found = {name: state for name, (state, _) in states(world()).items() if name.endswith("/booking")}
    assert found == {
        "AuthPolicy visits/booking": "Enforced",
        "BackendTrafficPolicy tickets/booking": "PartiallyEnforced",
        "BackendTrafficPolicy visits/booking": "Enforced",
        "RateLimitPolicy visits/booking": "Enforced",
    }
    assert states(world())["AuthPolicy platform/house"] == ("PartiallyEnforced", ["visits/tours"])


def test_every_answer_says_the_same_of_who_affects_what() -> None:
    """`affected_by`, `describe`, `describe_policy` and `enforcement` agree, at every listener and rule."""
    analysis = world()
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
    analysis = world()
    for found in analysis.policies:
        status = reported(analysis, str(found.ref)).values()
        accepted = any(place["Accepted"][0] == "True" for place in status if "Accepted" in place)
        assert accepted == (analysis.enforcement(found.ref).state in {"Enforced", "PartiallyEnforced"}), found.ref


def test_a_shared_service_is_led_to_by_both() -> None:
    """Its paths have the settings of the Gateway that each begins at; a direct policy on it holds on all of them."""
    tls = build.policy(
        "tours",
        build.target("tours", "Service", group=""),
        kind="BackendTLSPolicy",
        group=GATEWAY_API,
        namespace="visits",
        age=1,
        validation={"hostname": "tours"},
    )
    analysis = analyze(added(snapshot(), tls))
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
    alone = without(snapshot(), "GatewayClass envoy", "GatewayClass istio")
    return analyze(replace(alone, listed=frozenset()))


def test_what_may_be_managed_counts_and_the_answer_says_that_it_is_not_known() -> None:
    """Unknown is not none: the policy on Istio's Gateway counts as well, until somebody shows the class."""
    analysis = open_world()
    assert settings(analysis, TRAFFIC)[BY_ENVOY] == {"retry": {"numRetries": 7}}
    assert settings(analysis, TRAFFIC)[BY_ISTIO] == {"retry": {"numRetries": 7}}
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
    assert describe(world(), front).unseen == ()
    other = build.gateway_class("other", "example.com/other")
    missing = analyze(added(without(snapshot(), "GatewayClass envoy"), other))
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
