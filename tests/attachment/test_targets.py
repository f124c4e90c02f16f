"""Targets that do not exist, or that other controllers manage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, Topology
from kubectl_policy.attachment import attach
from kubectl_policy.model import Gap, GroupKind, Json, Resource
from kubectl_policy.profiles.controllers import GatewayProfile
from tests.build import backend, gateway, gateway_class, grant, index, parent, policy, route, rule, service, target
from tests.fakes import Controllers

REFERRED: Final = PolicyKindProfile(
    GroupKind("example.com", "ColorPolicy"),
    "direct",
    "profile",
    controllers=frozenset({"example.com/gateway"}),
    targets_exist="whenReferred",
)
OURS: Final = (gateway_class(), gateway("g"))
THEIRS: Final = (gateway_class("theirs", "example.org/gateway"), gateway("far", class_name="theirs"))
NOT_REFERRED: Final = (
    "target missing",
    "no route that example.com/gateway acts on sends requests to Service default/s",
)


def outcome(
    *objects: Resource,
    profile: PolicyKindProfile = REFERRED,
    complete: bool = True,
    gaps: Sequence[Gap] = (),
    section: str = "",
) -> tuple[str, str]:
    """State and message of a policy on a Service in a world with these objects and two Gateways."""
    found = policy("p", target("s", "Service", section, group=""))
    world = index(found, *OURS, *THEIRS, *objects, complete=complete, gaps=gaps)
    (attachment,) = attach(found, profile, Topology(world))
    return attachment.state, attachment.message


def test_a_service_to_which_nothing_refers() -> None:
    """Though it exists; for other kinds that is what counts."""
    assert outcome(service("s")) == NOT_REFERRED
    assert outcome(service("s"), profile=replace(REFERRED, targets_exist="whenRead")) == ("attached", "")


def test_a_service_to_which_a_route_sends_requests() -> None:
    assert outcome(service("s"), route("r")) == outcome(route("r")) == ("attached", "")
    gone = ("target missing", "Service default/s does not exist")
    assert outcome(route("r"), profile=replace(REFERRED, targets_exist="whenRead")) == gone


def test_a_route_need_not_be_attached() -> None:
    """The controller acts on it as soon as it names one of its Gateways."""
    assert outcome(route("r", parents=[parent("g", "ghost")])) == ("attached", "")


def test_a_route_of_another_controller() -> None:
    assert outcome(service("s"), route("r", parents=[parent("far")])) == NOT_REFERRED
    assert outcome(service("s"), route("r", parents=[])) == NOT_REFERRED


def test_a_reference_that_is_not_permitted() -> None:
    away = route(
        "r", namespace="away", parents=[parent("g", namespace="default")], rules=[rule(backend(namespace="default"))]
    )
    assert outcome(service("s"), away) == NOT_REFERRED
    lets_in = grant(sources=[("gateway.networking.k8s.io", "HTTPRoute", "away")])
    assert outcome(service("s"), away, lets_in) == ("attached", "")


def test_a_kind_of_every_controller() -> None:
    """Takes any route for one of its own, and has no controllers to name."""
    free = replace(REFERRED, controllers=frozenset())
    assert outcome(service("s"), route("r", parents=[parent("far")]), profile=free) == ("attached", "")
    assert outcome(profile=free) == ("target missing", "no route sends requests to Service default/s")
    unknown = "no route in the input sends requests to Service default/s"
    assert outcome(profile=free, complete=False) == ("target unknown", unknown)


def test_a_section_of_what_does_not_exist() -> None:
    """Known to be none where the Service is known not to exist, and not known where it was not read."""
    missing = "Service default/s has no section web; it does not exist"
    assert outcome(route("r"), section="web") == ("section missing", missing)
    unknown = "whether Service default/s has a section web is unknown: it is not in the input"
    assert outcome(route("r"), section="web", complete=False) == ("target unknown", unknown)
    assert outcome(route("r"), service("s", ("web", 8080)), section="web") == ("attached", "")


def test_an_open_world() -> None:
    unknown = (
        "target unknown",
        "no route in the input that example.com/gateway acts on sends requests to Service default/s",
    )
    assert outcome(service("s"), complete=False) == unknown
    assert outcome(service("s"), route("r", parents=[parent("far")]), complete=False) == unknown
    assert outcome(route("r", parents=[parent("g", namespace="unread")]), complete=False) == ("attached", "")


@pytest.mark.parametrize("kind", ["HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute", ""])
def test_routes_that_could_not_be_read(kind: str) -> None:
    """Of any kind and in any namespace: they may send requests to the target."""
    for place in ("default", "away", ""):
        state, _ = outcome(service("s"), gaps=[Gap(kind, place, "forbidden")])
        assert state == "target unknown"


def test_something_else_that_could_not_be_read() -> None:
    assert outcome(service("s"), gaps=[Gap("Secret", "", "forbidden")]) == NOT_REFERRED


MANAGED: Final = PolicyKindProfile(
    GroupKind("example.com", "ColorPolicy"), "inherited", "profile", controllers=frozenset({"b.com/c", "a.com/c"})
)
FOREIGN: Final = gateway_class("public", "example.org/c")


def managed_outcome(*objects: Resource, to: Mapping[str, Json], complete: bool = True) -> tuple[str, str]:
    """State and message of a policy's only attachment."""
    found = policy("p", to)
    (attachment,) = attach(found, MANAGED, Topology(index(found, *objects, complete=complete)))
    return attachment.state, attachment.message


@pytest.mark.parametrize(
    ("to", "what"),
    [
        (target("public", "GatewayClass"), "GatewayClass public is managed by example.org/c"),
        (target("g", section="ghost"), "Gateway default/g is managed by example.org/c"),
        (target("r", "HTTPRoute"), "no parent of HTTPRoute default/r is"),
    ],
    ids=str,
)
def test_not_managed(to: Mapping[str, Json], what: str) -> None:
    message = f"ColorPolicy applies only to what a.com/c or b.com/c manages, and {what}"
    assert managed_outcome(FOREIGN, gateway("g"), route("r"), to=to) == ("not managed", message)


def test_managed_by_nobody() -> None:
    message = "ColorPolicy applies only to what a.com/c or b.com/c manages, and Gateway default/g is not"
    assert managed_outcome(gateway("g"), to=target("g")) == ("not managed", message)


def test_it_has_to_exist() -> None:
    """What is missing is nobody's."""
    assert managed_outcome(FOREIGN, to=target("g"))[0] == "target missing"


def test_managed_by_one_of_ours() -> None:
    world = (gateway_class("public", "b.com/c"), gateway("g"))
    assert managed_outcome(*world, to=target("g", section="http")) == ("attached", "")
    assert managed_outcome(*world, to=target("g", section="ghost"))[0] == "section missing"


def test_what_belongs_to_no_gateway() -> None:
    """Cannot be told apart."""
    assert managed_outcome(FOREIGN, service("s"), to=target("s", "Service", group="")) == ("attached", "")


def test_whose_it_is_is_unknown() -> None:
    assert managed_outcome(gateway("g"), to=target("g"), complete=False) == ("attached", "")


class TestIgnored:
    """Routes of Gateways that are theirs and that they ignore, being invalid."""

    ignoring: Final = Controllers({"b.com/c": GatewayProfile(invalid_parents="passedOver")})
    parameters: Final[Json] = {"parametersRef": {"group": "example.com", "kind": "Settings", "name": "s"}}

    def outcome(self, *objects: Resource, profiles: Controllers = ignoring) -> tuple[str, str]:
        """State and message of a policy on a route, with two Gateways, ours and theirs, that lack their parameters."""
        broken = gateway("broken", class_name="ours", infrastructure=self.parameters)
        theirs = gateway("theirs", infrastructure=self.parameters)
        found = policy("p", target("r", "HTTPRoute"))
        world = index(gateway_class("ours", "b.com/c"), FOREIGN, broken, theirs, found, *objects, complete=True)
        (attachment,) = attach(found, MANAGED, Topology(world, profiles=profiles))
        return attachment.state, attachment.message

    def test_the_message_says_why_no_parent_counts(self) -> None:
        """Of each Gateway of theirs once, and of no other one."""
        parents = [parent("broken"), parent("theirs"), parent("broken", port=80)]
        message = (
            "ColorPolicy applies only to what a.com/c or b.com/c manages, and no parent of HTTPRoute default/r counts: "
            "Gateway default/broken is not valid: spec.infrastructure.parametersRef: Settings default/s does not exist"
        )
        assert self.outcome(route("r", parents=parents)) == ("not managed", message)

    def test_where_such_gateways_are_served(self) -> None:
        """Nothing is amiss, nor where a listener is named."""
        assert self.outcome(route("r", parents=[parent("broken")]), profiles=Controllers()) == ("attached", "")
        assert self.outcome(route("r", parents=[parent("broken", "http")])) == ("attached", "")
