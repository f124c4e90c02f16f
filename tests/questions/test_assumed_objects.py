"""Objects that the user says exist (`--assume-exists`): nothing else is known of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, TargetLevel, analyze
from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import GATEWAY_API, HTTP_ROUTE
from kubectl_policy.model.snapshot import AssumedObjects
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from tests import build

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy import Analysis
    from kubectl_policy.model import Json, Resource

DENY: Final = PolicyKindProfile(
    GroupKind("example.com", "ColorPolicy"),
    "inherited",
    "profile",
    controllers=frozenset({"example.com/gateway"}),
    effective_targets=(TargetLevel(HTTP_ROUTE, section=True),),
    stanzas="none",
)
ROUTE: Final = build.node("HTTPRoute", "r")


def assuming(*objects: Resource, kinds: str) -> Analysis:
    """A world that is complete but for objects of some kinds, which exist."""
    assumed = tuple(map(AssumedObjects.parse, kinds.split()))
    return analyze(replace(build.snapshot(*objects, complete=True), assumed=assumed), profiles=[DENY])


def on(reference: Mapping[str, Json], name: str = "p") -> Resource:
    return build.policy(name, reference, colour="red")


def states(analysis: Analysis, name: str = "p") -> list[tuple[str, str]]:
    attachments = analysis.attachments[build.ref("ColorPolicy", name, group="example.com")]
    return [(attachment.state, attachment.message) for attachment in attachments]


def test_a_class_has_an_unknown_controller() -> None:
    """So policies that are for one controller may count."""
    world = assuming(build.gateway(), build.route(), build.service(), on(build.ON_GATEWAY), kinds="gatewayclass")
    assert states(world) == [("attached", "")]
    described = describe(world, ROUTE)
    assert [policy.name for policy in described.policies] == ["p"]
    (unseen,) = described.unseen
    assert (unseen.what, unseen.reason) == (
        "GatewayClass public",
        "whether its controller is example.com/gateway is unknown; only then does this count: ColorPolicy",
    )
    # A class that was read has the controller that it names.
    other = build.gateway_class(controller="example.org/other")
    known = assuming(other, build.gateway(), build.route(), build.service(), on(build.ON_GATEWAY), kinds="gatewayclass")
    assert describe(known, ROUTE).policies == ()
    assert [state for state, _ in states(known)] == ["not managed"]


def test_a_service_has_any_port() -> None:
    objects = (build.gateway_class(), build.gateway(), build.route())
    (backend,) = assuming(*objects, kinds="service").topology.backends(ROUTE.object)
    assert (backend.state, backend.message, str(backend.node)) == ("resolved", "", "Service default/s")
    nameless = build.route(rules=[build.rule(build.backend(port=None))])
    (backend,) = assuming(*objects[:2], nameless, kinds="service").topology.backends(ROUTE.object)
    assert (backend.state, backend.message) == ("broken", "it names no port of Service default/s")


def test_a_service_has_sections_that_are_not_known() -> None:
    policy = on(build.target("s", "Service", "web", group=""))
    message = "whether Service default/s has a section web is unknown: it is not in the input"
    assert states(assuming(policy, kinds="service")) == [("target unknown", message)]
    assert [state for state, _ in states(assuming(policy, build.service(), kinds="service"))] == ["section missing"]


def test_a_parent_service_has_any_port() -> None:
    for parent in (build.service_parent(), build.service_parent(port=80), build.service_parent(sectionName="web")):
        route = build.route(parents=[parent])
        (binding,) = assuming(route, kinds="service").topology.bindings(ROUTE.object)
        assert (binding.state, binding.listener) == ("attached", None)


def test_a_gateway_has_listeners_that_are_not_known() -> None:
    world = assuming(build.route(parents=[build.parent(section="x")]), on(build.target("g", section="x")), kinds="gtw")
    (binding,) = world.topology.bindings(ROUTE.object)
    assert (binding.state, binding.message) == ("unknown", "Gateway default/g is not in the input")
    message = "whether Gateway default/g has a section x is unknown: it is not in the input"
    assert states(world) == [("target unknown", message)]
    assert not describe(world, ROUTE).complete


def test_a_gateway_may_let_listener_sets_attach() -> None:
    route = build.route(parents=[build.parent("ls", kind="ListenerSet")])
    (binding,) = assuming(build.listener_set(), route, kinds="gateway").topology.bindings(ROUTE.object)
    assert binding.state == "unknown"
    assert binding.message == "Gateway default/g, the parent of ListenerSet default/ls, is not in the input"


def test_a_route_has_parents_that_are_not_known() -> None:
    """It may be attached to a Gateway of the controller or not, and there may be more routes."""
    policies = (on(build.ON_ROUTE), on(build.ON_GATEWAY, "q"))
    world = assuming(build.gateway_class(), build.gateway(), *policies, kinds="httproute")
    assert states(world) == [("attached", "")]
    unseen = {spot.what: spot.reason for spot in describe(world, ROUTE).unseen}
    assert unseen == {"HTTPRoute default/r": "it is not in the input, so its parents are not known"}
    above = describe_policy(world, build.ref("ColorPolicy", "q", group="example.com"))
    assert [spot.what for spot in above.unseen] == ["what is below Gateway default/g"]


def test_a_namespace_has_labels_that_are_not_known() -> None:
    selected = build.allow("Selector", {"matchLabels": {"team": "edge"}})
    gateway = build.gateway("g", build.listener(allowedRoutes=selected), namespace="infra")
    route = build.route(parents=[build.parent(namespace="infra")])
    (binding,) = assuming(gateway, route, kinds="namespace").topology.bindings(ROUTE.object)
    assert binding.state == "unknown"


def test_selectors_may_select_what_is_there() -> None:
    selecting: Json = {"group": GATEWAY_API, "kind": "HTTPRoute", "matchLabels": {"app": "shop"}}
    policy = build.policy("p", targetSelectors=[selecting])
    assert [state for state, _ in states(assuming(policy, kinds="httproute"))] == ["target unknown"]
    for elsewhere in ("grpcroute", "httproute/other/r"):
        assert [state for state, _ in states(assuming(policy, kinds=elsewhere))] == ["target missing"]
