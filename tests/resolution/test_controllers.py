"""A kind of one controller has no effect on what another one acts on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy import MergeStrategy, PolicyKindProfile, analyze, plain
from kubectl_policy.model import GroupKind
from tests.build import (
    backend,
    gateway,
    gateway_class,
    namespace,
    node,
    parent,
    policy,
    route,
    rule,
    service,
    service_parent,
    snapshot,
    target,
)
from tests.resolution.specs import set_by

if TYPE_CHECKING:
    from kubectl_policy import Analysis
    from kubectl_policy.model import Resource

OURS: Final = PolicyKindProfile(
    GroupKind("example.com", "ColorPolicy"),
    "inherited",
    "profile",
    controllers=frozenset({"example.com/gateway", "example.com/other"}),
    strategy=MergeStrategy.PATCH_DEFAULTS,
)
THEIRS: Final = gateway_class("theirs", "example.org/theirs")
ROUTE: Final = node("HTTPRoute", "r")


def world(*objects: Resource, complete: bool = True) -> Analysis:
    """A Service, and what else there is."""
    return analyze(snapshot(namespace("default"), service("s"), *objects, complete=complete), profiles=[OURS])


def test_everything_is_theirs() -> None:
    """Nothing is said of what a policy amounts to; one on a Namespace has nothing below it to affect."""
    policies = (policy("p", target("h"), a=1), policy("q", target("default", "Namespace", group=""), a=1))
    alone = service("alone", namespace="elsewhere")
    analysis = world(THEIRS, gateway("h", class_name="theirs"), route("r", parents=[parent("h")]), alone, *policies)
    assert analysis.effective(ROUTE) == analysis.effective(node("Gateway", "h")) == ()
    assert [analysis.enforcement(one.ref).state for one in policies] == ["NoEffect", "NoEffect"]


def test_one_path_of_two_is_ours() -> None:
    """A route of two Gateways: by way of ours it is affected, by way of theirs it is not."""
    policies = (
        policy("p", target("r", "HTTPRoute"), a=1),
        policy("q", target("h"), a=2),
        policy("n", target("default", "Namespace", group=""), b=1),
    )
    gateways = (gateway_class(), gateway("g"), THEIRS, gateway("h", class_name="theirs"))
    analysis = world(*gateways, route("r", parents=[parent("g"), parent("h")]), *policies)
    (found,) = analysis.effective(ROUTE)
    assert set_by(found.resolution.spec) == {"a": (1, "p"), "b": (1, "n")}
    assert node("Gateway", "g") in found.path
    assert [analysis.enforcement(one.ref).state for one in policies] == ["Enforced", "NoEffect", "Enforced"]


def test_the_mesh_is_nobodys() -> None:
    """No controller of Gateways acts there, even where a Service is a route's parent and backend."""
    itself = route("m", parents=[service_parent("s")], rules=[rule(backend("s"))])
    analysis = world(itself, policy("p", target("s", "Service", group=""), a=1))
    end = node("Service", "s", "8080", group="")
    assert [node("HTTPRoute", "m") in path for path in analysis.topology.paths(end)] == [True]
    assert analysis.effective(end) == ()


def test_a_service_that_no_route_leads_to() -> None:
    """It belongs to no Gateway, so whose it is cannot be told: the policy counts."""
    analysis = world(policy("p", target("s", "Service", group=""), a=1))
    (found,) = analysis.effective(node("Service", "s", "8080", group=""))
    assert plain(found.resolution.spec) == {"a": 1}


def test_a_route_whose_gateway_was_not_read() -> None:
    """It may be ours: the policy counts as far as is known."""
    found = policy("p", target("r", "HTTPRoute"), a=1)
    analysis = world(route("r"), found, complete=False)
    (effective,) = analysis.effective(ROUTE)
    assert plain(effective.resolution.spec) == {"a": 1}


def test_a_class_that_was_not_read() -> None:
    """It may be ours: the policy counts."""
    found = policy("p", target("g"), a=1)
    analysis = world(gateway("g"), found, complete=False)
    (effective,) = analysis.effective(node("Gateway", "g", "http"))
    assert plain(effective.resolution.spec) == {"a": 1}
    assert analysis.enforcement(found.ref).state == "Enforced"
