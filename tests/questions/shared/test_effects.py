"""What is in force at every place below an object: for a check that must not pass by an empty answer."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy import NodeRef, PolicyKindProfile, TargetLevel, WayInForce, analyze, in_force, plain
from kubectl_policy.errors import NotFoundError
from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import HTTP_ROUTE
from kubectl_policy.profiles.merging import IgnoredPart
from tests.build import backend, gateway, node, parent, policy, ref, route, rule, service, snapshot, target
from tests.questions.build import COLOR, analyzed

ROUTE: Final = node("HTTPRoute", "r")
RULES: Final = (rule(backend("s"), name="a"), rule(backend("s"), name="b"))
WORLD: Final = (
    gateway("g"),
    route("r", parents=[parent("g")], rules=RULES),
    route("stray", parents=[parent("gone")], rules=RULES),
    service("s"),
)


def test_every_rule_is_asked() -> None:
    analysis = analyzed(*WORLD, policy("p", target("r", "HTTPRoute", "a"), color="red"))
    ways = in_force(analysis, ROUTE, COLOR)
    assert [[plain(each.effective[0].resolution.spec) if each.effective else None, _rule(each)] for each in ways] == [
        [{"color": "red"}, "a"],
        [None, "b"],
    ]
    assert analysis.effective(ROUTE, COLOR) == ()
    (way,) = in_force(analysis, node("HTTPRoute", "r", "b"))
    assert (way.effective, way.carries_traffic) == ((), True)


def test_nothing_is_in_force_where_no_traffic_is() -> None:
    analysis = analyzed(*WORLD, policy("p", target("stray", "HTTPRoute"), color="red"), complete=True)
    ways = in_force(analysis, node("HTTPRoute", "stray"))
    assert [(way.carries_traffic, way.effective) for way in ways] == [(False, ())] * 2


@pytest.mark.parametrize("unknown", [node("HTTPRoute", "typo"), node("HTTPRoute", "r", "typo")])
def test_what_is_not_there_is_an_error(unknown: NodeRef) -> None:
    with pytest.raises(NotFoundError):
        in_force(analyzed(*WORLD), unknown)


@pytest.mark.parametrize(
    ("kind", "hint"),
    [
        (("example.com", "ColorPolcy"), "did you mean ColorPolicy.example.com?"),
        (("", "ColorPolicy"), "did you mean ColorPolicy.example.com?"),
        (("gateway.envoyproxy.io", "SecurityPolcy"), "did you mean SecurityPolicy.gateway.envoyproxy.io"),
        (("gateway.networking.k8s.io", "HTTPRoute"), "it is a kind that policies target"),
    ],
)
def test_what_is_no_policy_kind_is_an_error(kind: tuple[str, str], hint: str) -> None:
    analysis = analyzed(*WORLD, policy("p", target("r", "HTTPRoute"), color="red"))
    for ask in (
        lambda: in_force(analysis, ROUTE, GroupKind(*kind)),
        lambda: analysis.effective(ROUTE, GroupKind(*kind)),
    ):
        with pytest.raises(NotFoundError, match="is not a policy kind") as error:
            ask()
        assert error.value.hint.startswith(hint)


def test_a_kind_that_is_known_and_does_not_occur_is_none() -> None:
    ways = in_force(analyzed(*WORLD), ROUTE, GroupKind("gateway.envoyproxy.io", "SecurityPolicy"))
    assert [way.effective for way in ways] == [(), ()]


def test_what_is_only_referred_to_is_known_of() -> None:
    analysis = analyzed(*WORLD, policy("p", target("far", "Service", group=""), color="red"))
    analysis.require(NodeRef(ref("Service", "far", group="")))


def _rule(way: WayInForce) -> str:
    return next(place.section for place in way.path if place.object == ROUTE.object and place.section)


def test_what_controllers_ignore_is_not_in_force() -> None:
    everything = IgnoredPart(levels=(TargetLevel(HTTP_ROUTE),), fields=(), protocols=frozenset({"HTTP"}))
    profile = PolicyKindProfile(COLOR, "inherited", "profile", ignored=(everything,))
    read = snapshot(*WORLD, policy("p", target("r", "HTTPRoute"), color="red"))
    assert [way.effective for way in in_force(analyze(read, profiles=[profile]), ROUTE, COLOR)] == [(), ()]
    assert all(way.effective for way in in_force(analyze(read), ROUTE, COLOR))
