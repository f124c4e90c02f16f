"""A kind may heed only the paths on which a hostname of the route is inside the listener's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import MergeStrategy, NodeRef, PolicyKindProfile, analyze
from kubectl_policy.model import GroupKind
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.topology import why_too_wide
from tests.build import (
    gateway,
    gateway_class,
    index,
    listener,
    namespace,
    node,
    parent,
    policy,
    ref,
    route,
    snapshot,
    target,
)

if TYPE_CHECKING:
    from kubectl_policy import Analysis

INSIDE: Final = PolicyKindProfile(
    GroupKind("example.com", "ColorPolicy"),
    "inherited",
    "profile",
    hostnames="inside",
    strategy=MergeStrategy.PATCH_DEFAULTS,
)
ROUTE: Final = node("HTTPRoute", "r")
WIDER: Final = (
    "*.example.com of HTTPRoute default/r is wider than api.example.com of listener http of Gateway default/g"
)


def world(*hostnames: str, listens: str | None = "api.example.com", parents: tuple[str, ...] = ("http",)) -> Analysis:
    """A route with some hostnames below a listener for one name, and perhaps below one for every name."""
    entry = listener("http", hostname=listens) if listens else listener("http")
    others = [listener("any", port=81)] if "any" in parents else []
    return analyze(
        snapshot(
            namespace("default"),
            gateway_class(),
            gateway("g", entry, *others),
            route("r", parents=[parent("g", sectionName=name) for name in parents], hostnames=list(hostnames) or None),
            policy("p", target("g"), color="red"),
            complete=True,
        ),
        profiles=[INSIDE],
    )


def test_a_path_with_a_wider_hostname_does_not_count() -> None:
    """The route is attached all the same; the answer on it says why the policy does not apply."""
    analysis = world("*.example.com")
    assert [binding.state for binding in analysis.topology.bindings(ROUTE.object)] == ["attached"]
    assert analysis.effective(ROUTE) == ()
    assert analysis.enforcement(ref("ColorPolicy", "p", group="example.com")).state == "NoEffect"
    (found,) = describe(analysis, ROUTE).not_applying
    assert (found.policy, found.target) == (ref("ColorPolicy", "p", group="example.com"), node("Gateway", "g"))
    assert found.message == f"ColorPolicy counts only for hostnames inside the listener's, and {WIDER}"


def test_another_path_counts() -> None:
    """Below a listener for every name each hostname is inside."""
    analysis = world("*.example.com", parents=("http", "any"))
    (found,) = analysis.effective(ROUTE)
    assert node("Gateway", "g", "any") in found.path
    assert analysis.enforcement(ref("ColorPolicy", "p", group="example.com")).state == "Enforced"


@pytest.mark.parametrize(
    ("hostnames", "listens"),
    [
        ((), "api.example.com"),
        (("*.example.com",), None),
        (("*.example.com",), "*.example.com"),
        (("api.example.com",), "*.example.com"),
        (("*.example.com", "api.example.com"), "api.example.com"),
    ],
)
def test_a_hostname_inside_is_enough(hostnames: tuple[str, ...], listens: str | None) -> None:
    """A route without hostnames has the listener's, a listener without one has every name inside."""
    analysis = world(*hostnames, listens=listens)
    assert len(analysis.effective(ROUTE)) == 1
    assert describe(analysis, ROUTE).not_applying == ()


def test_other_kinds_go_by_the_overlap() -> None:
    """Which is what attaches a route."""
    wide = world("*.example.com").snapshot
    assert len(analyze(wide).effective(ROUTE)) == 1
    assert describe(analyze(wide), ROUTE).not_applying == ()


def test_a_path_without_route_or_listener() -> None:
    """Has nothing to compare."""
    analysis = world("*.example.com")
    topology = analysis.topology
    assert why_too_wide(topology, (node("Gateway", "g"), node("Gateway", "g", "http"))) == ""
    assert why_too_wide(topology, (ROUTE,)) == ""
    assert why_too_wide(topology, (node("Gateway", "g", "gone"), ROUTE)) == ""
    several = analyze(index(route("r", hostnames=["a", "b"]), gateway("g", listener("http", hostname="c"))).snapshot)
    said = why_too_wide(several.topology, (NodeRef(ref("Gateway", "g"), "http"), ROUTE))
    assert said == "a, b of HTTPRoute default/r are wider than c of listener http of Gateway default/g"
