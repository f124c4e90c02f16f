"""Kinds of one controller, on what another one manages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import PolicyKindProfile, Topology
from kubectl_policy.attachment import attach
from kubectl_policy.model import GroupKind
from kubectl_policy.profiles.controllers import GatewayProfile
from tests.build import gateway, gateway_class, index, parent, policy, route, service, target
from tests.fakes import Controllers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json, Resource

OURS: Final = PolicyKindProfile(
    GroupKind("example.com", "ColorPolicy"), "inherited", "profile", controllers=frozenset({"b.com/c", "a.com/c"})
)
THEIRS: Final = gateway_class("public", "example.org/c")


def outcome(*objects: Resource, to: Mapping[str, Json], complete: bool = True) -> tuple[str, str]:
    """State and message of a policy's only attachment."""
    found = policy("p", to)
    (attachment,) = attach(found, OURS, Topology(index(found, *objects, complete=complete)))
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
    """Nothing is said of sections then."""
    message = f"ColorPolicy counts only for what a.com/c or b.com/c manages, and {what}"
    assert outcome(THEIRS, gateway("g"), route("r"), to=to) == ("not managed", message)


def test_managed_by_nobody() -> None:
    """A Gateway of a class that does not exist."""
    message = "ColorPolicy counts only for what a.com/c or b.com/c manages, and Gateway default/g is not"
    assert outcome(gateway("g"), to=target("g")) == ("not managed", message)


def test_it_has_to_exist() -> None:
    """What is missing is nobody's."""
    assert outcome(THEIRS, to=target("g"))[0] == "target missing"


def test_managed_by_one_of_ours() -> None:
    """And so are its sections."""
    world = (gateway_class("public", "b.com/c"), gateway("g"))
    assert outcome(*world, to=target("g", section="http")) == ("attached", "")
    assert outcome(*world, to=target("g", section="ghost"))[0] == "section missing"


def test_what_belongs_to_no_gateway() -> None:
    """Cannot be told apart."""
    assert outcome(THEIRS, service("s"), to=target("s", "Service", group="")) == ("attached", "")


def test_whose_it_is_is_unknown() -> None:
    """The policy is attached as far as is known."""
    assert outcome(gateway("g"), to=target("g"), complete=False) == ("attached", "")


class TestIgnored:
    """Routes of Gateways that are theirs and that they ignore, being invalid."""

    ignoring: Final = Controllers({"b.com/c": GatewayProfile(invalid_parents="passedOver")})
    parameters: Final[Json] = {"parametersRef": {"group": "example.com", "kind": "Settings", "name": "s"}}

    def outcome(self, *objects: Resource, profiles: Controllers = ignoring) -> tuple[str, str]:
        """State and message of a policy on a route, with two Gateways, ours and theirs, that lack their parameters."""
        broken = gateway("broken", class_name="ours", infrastructure=self.parameters)
        theirs = gateway("theirs", infrastructure=self.parameters)
        found = policy("p", target("r", "HTTPRoute"))
        world = index(gateway_class("ours", "b.com/c"), THEIRS, broken, theirs, found, *objects, complete=True)
        (attachment,) = attach(found, OURS, Topology(world, profiles=profiles))
        return attachment.state, attachment.message

    def test_the_message_says_why_no_parent_counts(self) -> None:
        """Of each Gateway of theirs once, and of no other one."""
        parents = [parent("broken"), parent("theirs"), parent("broken", port=80)]
        message = (
            "ColorPolicy counts only for what a.com/c or b.com/c manages, and no parent of HTTPRoute default/r counts: "
            "Gateway default/broken is not valid: spec.infrastructure.parametersRef: Settings default/s does not exist"
        )
        assert self.outcome(route("r", parents=parents)) == ("not managed", message)

    def test_where_such_gateways_are_served(self) -> None:
        """Nothing is amiss, nor where a listener is named."""
        assert self.outcome(route("r", parents=[parent("broken")]), profiles=Controllers()) == ("attached", "")
        assert self.outcome(route("r", parents=[parent("broken", "http")])) == ("attached", "")
