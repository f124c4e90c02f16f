"""Reasons why a policy has no effect anywhere, or none on one path."""

from __future__ import annotations

import pytest

from kubectl_policy.analysis import Analysis
from kubectl_policy.model.kind_roles import GATEWAY_API, GRPC_ROUTE, HTTP_ROUTE, NAMESPACE
from kubectl_policy.profiles import MergeStrategy
from kubectl_policy.profiles.merging import JointField, PortField, TargetLevel
from kubectl_policy.questions.shared.without_effect import why_without_effect
from kubectl_policy.questions.why_not.answer import why_not
from kubectl_policy.resolution.enforcement import ENFORCEMENT
from tests import build
from tests.questions.why_not.causes import (
    ON_GATEWAY,
    ON_ROUTE,
    POLICY,
    ROUTE,
    Cause,
    around,
    every_cause,
    profiled,
    usual,
)
from tests.render.worlds import defaults, overrides


def words(analysis: Analysis) -> list[tuple[str, str]]:
    """The rules and words of the reasons of ColorPolicy `p`."""
    return [(reason.rule, reason.message) for reason in why_without_effect(analysis, POLICY)]


@pytest.mark.parametrize("cause", every_cause(), ids=lambda cause: cause.name)
def test_there_is_a_reason_if_and_only_if_there_is_no_effect(cause: Cause) -> None:
    meaning = ENFORCEMENT[cause.analysis.enforcement(cause.policy).state]
    reasons = why_without_effect(cause.analysis, cause.policy)
    assert bool(reasons) == (meaning.known and not meaning.in_force)
    assert all(reason.message and reason.object for reason in reasons)


def test_a_policy_that_is_in_force_somewhere_needs_no_reason() -> None:
    assert why_without_effect(usual(defaults("p", ON_ROUTE, a=1)), POLICY) == ()
    unknown = usual(build.policy("p"), profile=profiled(attachment="none"))
    assert unknown.enforcement(POLICY).state == "Unknown"
    assert why_without_effect(unknown, POLICY) == ()


def test_a_route_that_no_listener_takes() -> None:
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
    analysis = usual(overrides("o", ON_GATEWAY, a=1), defaults("p", ON_ROUTE, a=2))
    assert words(analysis) == [
        ("overridden", "ColorPolicy default/o → Gateway default/g overrides all of it from above")
    ]


def test_no_more_reasons_are_looked_for_than_are_wanted() -> None:
    routes = [build.route(f"r{number}", parents=[build.parent(section=f"no{number}")]) for number in range(9)]
    levels = profiled(effective_targets=(TargetLevel(HTTP_ROUTE),))
    analysis = around(build.gateway(), *routes, defaults("p", ON_GATEWAY, a=1), profile=levels)
    assert len(why_without_effect(analysis, POLICY)) == 3
    assert len(why_without_effect(analysis, POLICY, limit=20)) == 9


OTHER = "ColorPolicy default/o → HTTPRoute default/r"
CHOOSING = {"strategy_field": "spec.mode", "strategy_values": {"Merge": MergeStrategy.PATCH_DEFAULTS}}


def first(analysis: Analysis) -> str:
    """The words of the first reason why ColorPolicy `p` has no effect on HTTPRoute `r`."""
    return why_not(analysis, POLICY, ROUTE).reasons[0].message


def test_what_replaces_the_whole_sets_none_of_its_fields() -> None:
    """A policy without `jwt` beats one that sets it, whichever of the two chooses that."""
    cors, jwt = build.policy("o", ON_ROUTE, cors="*"), build.policy("p", ON_GATEWAY, jwt={"issuer": "a"})
    assert first(usual(cors, jwt, profile=profiled(**CHOOSING))) == f"{OTHER} is nearer and replaces all of it"
    atomic = profiled(strategy=MergeStrategy.ATOMIC_DEFAULTS)
    assert first(usual(cors, jwt, profile=atomic)) == f"{OTHER} is nearer and replaces all of it"


def test_what_merges_sets_what_it_sets() -> None:
    merging = profiled(strategy=MergeStrategy.PATCH_DEFAULTS)
    nearer = build.policy("o", ON_ROUTE, jwt="none", color="red")
    below = build.policy("p", ON_GATEWAY, jwt={"issuer": "a", "keys": "b"}, color="blue")
    assert first(usual(nearer, below, profile=merging)) == f"{OTHER} sets jwt, color instead, and is nearer"
    whole = profiled(strategy=MergeStrategy.PATCH_DEFAULTS, whole_fields=frozenset({"jwt"}))
    mapped = build.policy("o", ON_ROUTE, jwt={"keys": "c"}, color="red")
    assert first(usual(mapped, below, profile=whole)) == f"{OTHER} sets jwt, color instead, and is nearer"


def test_on_one_target() -> None:
    stays = usual(
        build.policy("o", ON_ROUTE, age=2, defaults={"b": 1}), build.policy("p", ON_ROUTE, age=1, defaults={"a": 2})
    )
    assert first(stays) == "ColorPolicy default/o → HTTPRoute default/r, on the same target, replaces all of it"


def test_a_merge_that_does_not_count() -> None:
    """Of two, the one further up decides: if it is atomic, that the nearer one merges changes nothing."""
    nearer = build.policy("o", ON_ROUTE, age=2, defaults={"strategy": "patch", "b": 1})
    analysis = usual(nearer, build.policy("p", ON_GATEWAY, age=1, defaults={"a": 2}))
    assert first(analysis) == (
        f"{OTHER} is nearer and replaces all of it; its merge does not count: "
        "ColorPolicy default/p further up is atomic and decides"
    )
    beside = usual(nearer, build.policy("p", ON_ROUTE, age=1, defaults={"a": 2}))
    assert first(beside).endswith("its merge does not count: ColorPolicy default/p is atomic and decides")
    without = usual(
        build.policy("o", ON_ROUTE, age=2, defaults={"b": 1}), build.policy("p", ON_GATEWAY, age=1, defaults={"a": 2})
    )
    assert first(without) == f"{OTHER} is nearer and replaces all of it"


def test_where_the_nearer_one_chooses_there_is_nothing_to_explain() -> None:
    nearer, above = build.policy("o", ON_ROUTE, cors="*"), build.policy("p", ON_GATEWAY, mode="Merge", jwt="a")
    analysis = usual(nearer, above, profile=profiled(chooser="challenger", **CHOOSING))
    assert first(analysis) == f"{OTHER} is nearer and replaces all of it"


def test_an_override_says_whether_it_takes_all_or_some() -> None:
    above = build.policy("o", ON_GATEWAY, overrides={"strategy": "patch", "a": 1})
    merging = usual(above, defaults("p", ON_ROUTE, a=2))
    assert first(merging) == "ColorPolicy default/o → Gateway default/g overrides a from above"


def test_what_is_said_of_a_port_stands_instead_of_what_is_said_of_all() -> None:
    profile = profiled(
        strategy=MergeStrategy.PATCH_DEFAULTS,
        joint_fields=(JointField(field="ports", within=("level",), by="[n]"),),
        port_field=PortField("ports", "n", "all"),
    )
    of_all = build.policy("p", build.target("g", section="http"), all={"b": 2})
    of_port = build.policy("o", ON_GATEWAY, ports=[{"n": 80, "a": 1}])
    by = "ColorPolicy default/o → Gateway default/g sets ports for this port, which is used instead"
    assert first(usual(of_all, of_port, profile=profile)) == by


def test_a_field_for_all_and_one_for_a_port() -> None:
    """Both stand instead; the second one sets nothing of what it beats, so that what goes is named."""
    profile = profiled(
        strategy=MergeStrategy.PATCH_DEFAULTS,
        joint_fields=(JointField(field="ports", within=("level",), by="[n]"),),
        port_field=PortField("ports", "n", "all"),
    )
    of_all = build.policy("p", ON_GATEWAY, a=1, all={"b": 2})
    nearer = build.policy("o", ON_ROUTE, a=2, ports=[{"n": 80, "b": 1}])
    assert first(usual(of_all, nearer, profile=profile)) == f"{OTHER} replaces a, all.b instead, and is nearer"
