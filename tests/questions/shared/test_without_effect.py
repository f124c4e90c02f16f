"""Why a policy has no effect anywhere: in the words and with the object that `why-not` has for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy.model.kind_roles import GATEWAY_API, GRPC_ROUTE, HTTP_ROUTE, NAMESPACE
from kubectl_policy.profiles.merging import TargetLevel
from kubectl_policy.questions.shared.without_effect import why_without_effect
from kubectl_policy.resolution.enforcement import ENFORCEMENT
from tests import build
from tests.questions.why_not.causes import ON_GATEWAY, ON_ROUTE, POLICY, Cause, around, every_cause, profiled, usual
from tests.render.worlds import defaults, overrides

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis


def words(analysis: Analysis) -> list[tuple[str, str]]:
    """The rules and words of the reasons of ColorPolicy `p`."""
    return [(reason.rule, reason.message) for reason in why_without_effect(analysis, POLICY)]


@pytest.mark.parametrize("cause", every_cause(), ids=lambda cause: cause.name)
def test_there_is_a_reason_if_and_only_if_there_is_no_effect(cause: Cause) -> None:
    """And it is said of an object."""
    meaning = ENFORCEMENT[cause.analysis.enforcement(cause.policy).state]
    reasons = why_without_effect(cause.analysis, cause.policy)
    assert bool(reasons) == (meaning.known and not meaning.in_force)
    assert all(reason.message and reason.object for reason in reasons)


def test_a_policy_that_is_in_force_somewhere_needs_no_reason() -> None:
    """Nor one of which that is not known."""
    assert why_without_effect(usual(defaults("p", ON_ROUTE, a=1)), POLICY) == ()
    unknown = usual(build.policy("p"), profile=profiled(attachment="none"))
    assert unknown.enforcement(POLICY).state == "Unknown"
    assert why_without_effect(unknown, POLICY) == ()


def test_a_route_that_no_listener_takes() -> None:
    """What the listener selects is to blame, and is named with its field and its line."""
    by_team = build.allow("Selector", {"matchLabels": {"team": "a"}})
    analysis = around(
        build.gateway("g", build.listener(allowedRoutes=by_team)),
        build.route(rules=[build.rule(build.backend()), build.rule(build.backend())]),
        defaults("p", ON_ROUTE, a=1),
    )
    (reason,) = why_without_effect(analysis, POLICY)
    assert reason.message == "namespace default does not match the selector of listener http of Gateway default/g"
    assert (reason.rule, reason.reason) == ("listener-namespace", "NotAllowedByListeners")
    assert (reason.object, reason.field, reason.origin) == (
        build.ref("Gateway", "g"),
        "spec.listeners[0].allowedRoutes.namespaces",
        build.ORIGIN,
    )


def test_a_route_that_names_nothing_that_is_there() -> None:
    """The reason is the route's: its parent is missing, its hostname does not match, or it names none."""
    on_route = defaults("p", ON_ROUTE, a=1)
    gone = around(build.gateway(), build.route(parents=[build.parent("gone")]), on_route)
    assert [rule for rule, _ in words(gone)] == ["parent-missing"]
    none = around(build.gateway(), build.route(parents=[]), on_route)
    assert words(none) == [
        ("no-parent", "HTTPRoute default/r does not name anything that lets requests in as a parent")
    ]
    listener = build.listener(hostname="a.example")
    elsewhere = around(build.gateway("g", listener), build.route(hostnames=["b.example"]), on_route)
    assert [rule for rule, _ in words(elsewhere)] == ["listener-hostname"]


def test_a_gateway_below_which_nothing_is_attached() -> None:
    """If routes name it in vain, why these are refused."""
    levels = (TargetLevel(HTTP_ROUTE), TargetLevel(GRPC_ROUTE))
    on_gateway, profile = defaults("p", ON_GATEWAY, a=1), profiled(effective_targets=levels)
    alone = around(build.gateway(), on_gateway, profile=profile)
    assert words(alone) == [("nothing-below", "no GRPCRoute or HTTPRoute is attached to Gateway default/g")]
    far = build.route(namespace="far", parents=[build.parent(namespace="default")])
    in_vain = around(build.gateway(), build.namespace("far"), far, on_gateway, profile=profile)
    assert [rule for rule, _ in words(in_vain)] == ["listener-namespace"]
    other = build.route(parents=[build.parent(section="other")])
    two = build.gateway("g", build.listener(), build.listener("other", port=81))
    section = build.policy("p", build.target("g", section="http"), color="red")
    assert words(around(two, other, section, profile=profile)) == [
        ("nothing-below", "no GRPCRoute or HTTPRoute is attached to listener http of Gateway default/g")
    ]


def test_a_namespace_or_class_below_which_nothing_is() -> None:
    """Each in its own words."""
    bare = build.policy("p", build.target("far", "Namespace", group=""), color="red")
    known = profiled(declared_targets=frozenset({NAMESPACE}))
    assert words(around(build.namespace("far"), bare, profile=known)) == [
        ("nothing-below", "no route is in Namespace far")
    ]
    on_class = build.policy("p", build.target("public", "GatewayClass", group=GATEWAY_API), color="red")
    of_routes = profiled(effective_targets=(TargetLevel(HTTP_ROUTE),))
    assert words(around(on_class, profile=of_routes)) == [
        ("nothing-below", "no HTTPRoute is below GatewayClass public")
    ]


def test_a_policy_that_others_replace_everywhere() -> None:
    """Who does is named, once."""
    analysis = usual(overrides("o", ON_GATEWAY, a=1), defaults("p", ON_ROUTE, a=2))
    assert words(analysis) == [
        ("overridden", "ColorPolicy default/o → Gateway default/g overrides all of it from above")
    ]


def test_no_more_reasons_are_looked_for_than_are_wanted() -> None:
    """A policy on a Gateway may have as many as there are routes."""
    routes = [build.route(f"r{number}", parents=[build.parent(section=f"no{number}")]) for number in range(9)]
    levels = profiled(effective_targets=(TargetLevel(HTTP_ROUTE),))
    analysis = around(build.gateway(), *routes, defaults("p", ON_GATEWAY, a=1), profile=levels)
    assert len(why_without_effect(analysis, POLICY)) == 3
    assert len(why_without_effect(analysis, POLICY, limit=20)) == 9
