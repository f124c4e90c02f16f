"""Effective policies on demand: by path, controller and hostname."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import Analysis, MergeStrategy, NodeRef, PolicyKindProfile, analyze, plain
from kubectl_policy.model import GroupKind, Json, Resource
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.topology import why_too_wide
from tests.build import (
    backend,
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
    rule,
    service,
    service_parent,
    snapshot,
    target,
)
from tests.resolution.build import set_by

COLOR: Final = GroupKind("example.com", "ColorPolicy")
PATCHING: Final = PolicyKindProfile(COLOR, "inherited", "profile", stanzas="plural", strategy_field="spec.mode")
SERVICE: Final = node("Service", "s", group="")


def world(*policies: Resource, profile: PolicyKindProfile = PATCHING) -> Analysis:
    rules = [rule(backend()), rule(backend(), name="named")]
    objects = (namespace("default"), gateway("g"), route("r", rules=rules), service("s", ("http", 8080)))
    return analyze(snapshot(*objects, *policies, complete=True), profiles=[profile])


def test_a_kind_without_a_profile_has_no_effective_policy() -> None:
    analysis = world()
    (path,) = analysis.topology.paths(node("Gateway", "g"))
    assert analysis.resolver.effective_of(GroupKind("", "Service"), path) is None


def test_a_path_without_policies_has_no_effective_policy() -> None:
    analysis = world(policy("p", target("r", "HTTPRoute"), a=1))
    assert analysis.effective(node("Gateway", "g")) == ()
    assert analysis.resolver.kinds_at([node("Gateway", "g")]) == ()
    assert analysis.resolver.policies_at(node("Gateway", "g")) == ()


def test_every_level_of_a_path_contributes() -> None:
    """GatewayClass or Namespace, Gateway, listener, route, rule, Service, port: least specific first."""
    places: dict[str, dict[str, Json]] = {
        "namespace": target("default", "Namespace", group=""),
        "gateway": target("g"),
        "listener": target("g", section="http"),
        "route": target("r", "HTTPRoute"),
        "rule": target("r", "HTTPRoute", "rule[0]"),
        "named": target("r", "HTTPRoute", "named"),
        "service": target("s", "Service", group=""),
        "port": target("s", "Service", "http", group=""),
    }
    policies = [policy(name, at, mode="PatchDefaults", last=name) for name, at in places.items()]
    found = world(*policies).effective(node("Service", "s", "http", group=""))
    names = [[part.source.object.name for part in effective.resolution.contributions] for effective in found]
    common = ["namespace", "gateway", "listener", "route"]
    assert sorted(names) == [[*common, "named", "service", "port"], [*common, "rule", "service", "port"]]
    assert [plain(effective.resolution.spec)["last"] for effective in found] == ["port", "port"]


def test_a_node_contributes_once_whatever_names_it() -> None:
    """Two references to one target are one attachment as far as merging goes."""
    (effective,) = world(policy("p", target("g"), target("g"), a=1)).effective(node("Gateway", "g"))
    assert len(effective.resolution.contributions) == 1


def test_the_experimental_text_replaces_maps_of_scalars_whole() -> None:
    """In singular stanzas, where the definition's schema says which fields are such maps; RFC 7386 does not."""
    fields = frozenset({"default.headers", "defaults.headers"})
    singular = PolicyKindProfile(COLOR, "inherited", "label", stanzas="singular", map_fields=fields)
    (effective,) = world(
        policy("p", target("g"), default={"headers": {"x": "1"}}),
        policy("q", target("r", "HTTPRoute"), default={"headers": {"y": "1"}}),
        profile=singular,
    ).effective(node("HTTPRoute", "r"))
    assert plain(effective.resolution.spec) == {"headers": {"y": "1"}}
    (effective,) = world(
        policy("p", target("g"), defaults={"headers": {"x": "1"}, "strategy": "patch"}),
        policy("q", target("r", "HTTPRoute"), defaults={"headers": {"y": "1"}}),
        profile=replace(singular, stanzas="plural"),
    ).effective(node("HTTPRoute", "r"))
    assert plain(effective.resolution.spec) == {"headers": {"x": "1", "y": "1"}}


def test_paths_with_the_same_contributions_share_one_merge() -> None:
    """Each merge is done once; the path is each one's own."""
    analysis = world(policy("p", target("g"), a={"b": 1}))
    one, other = analysis.effective(SERVICE)
    assert one.resolution.spec is other.resolution.spec
    assert one.path != other.path
    assert analysis.effective(SERVICE) == (one, other)


def test_paths_to_targets_with_settings_of_their_own_share_nothing() -> None:
    """Where the target's own fields count, the target is part of the question."""
    profile = PolicyKindProfile(COLOR, "inherited", "profile", object_fields={"a": "metadata.name"})
    analysis = world(policy("p", target("g"), a=1, b=1), profile=profile)
    (effective,) = analysis.effective(node("HTTPRoute", "r"))
    assert set_by(effective.resolution.spec) == {"a": ("r", "r"), "b": (1, "p")}
    assert set_by(analysis.effective(SERVICE)[0].resolution.spec) == {"a": ("s", "s"), "b": (1, "p")}


def test_the_policies_on_a_node() -> None:
    policies = [
        policy("a", target("g"), age=2),
        policy("b", target("g"), age=1),
        policy("c", target("g"), kind="AlphaPolicy"),
    ]
    analysis = world(*policies)
    found = analysis.resolver.policies_at(node("Gateway", "g"))
    assert [one.ref for one in found] == [
        ref("AlphaPolicy", "c", group="example.com"),
        ref("ColorPolicy", "b", group="example.com"),
        ref("ColorPolicy", "a", group="example.com"),
    ]


OURS: Final = PolicyKindProfile(
    GroupKind("example.com", "ColorPolicy"),
    "inherited",
    "profile",
    controllers=frozenset({"example.com/gateway", "example.com/other"}),
    strategy=MergeStrategy.PATCH_DEFAULTS,
)
THEIRS: Final = gateway_class("theirs", "example.org/theirs")
ROUTE: Final = node("HTTPRoute", "r")


def managed_world(*objects: Resource, complete: bool = True) -> Analysis:
    """A Service, and what else there is."""
    return analyze(snapshot(namespace("default"), service("s"), *objects, complete=complete), profiles=[OURS])


def test_everything_is_theirs() -> None:
    """Nothing is said of what a policy amounts to; one on a Namespace has nothing below it to affect."""
    policies = (policy("p", target("h"), a=1), policy("q", target("default", "Namespace", group=""), a=1))
    alone = service("alone", namespace="elsewhere")
    analysis = managed_world(
        THEIRS, gateway("h", class_name="theirs"), route("r", parents=[parent("h")]), alone, *policies
    )
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
    analysis = managed_world(*gateways, route("r", parents=[parent("g"), parent("h")]), *policies)
    (found,) = analysis.effective(ROUTE)
    assert set_by(found.resolution.spec) == {"a": (1, "p"), "b": (1, "n")}
    assert node("Gateway", "g") in found.path
    assert [analysis.enforcement(one.ref).state for one in policies] == ["Enforced", "NoEffect", "Enforced"]


def test_the_mesh_is_nobodys() -> None:
    """No controller of Gateways acts there, even where a Service is a route's parent and backend."""
    itself = route("m", parents=[service_parent("s")], rules=[rule(backend("s"))])
    analysis = managed_world(itself, policy("p", target("s", "Service", group=""), a=1))
    end = node("Service", "s", "8080", group="")
    assert [node("HTTPRoute", "m") in path for path in analysis.topology.paths(end)] == [True]
    assert analysis.effective(end) == ()


def test_a_service_that_no_route_leads_to() -> None:
    """It belongs to no Gateway, so whose it is cannot be told: the policy counts."""
    analysis = managed_world(policy("p", target("s", "Service", group=""), a=1))
    (found,) = analysis.effective(node("Service", "s", "8080", group=""))
    assert plain(found.resolution.spec) == {"a": 1}


def test_a_route_whose_gateway_was_not_read() -> None:
    """It may be ours: the policy counts as far as is known."""
    found = policy("p", target("r", "HTTPRoute"), a=1)
    analysis = managed_world(route("r"), found, complete=False)
    (effective,) = analysis.effective(ROUTE)
    assert plain(effective.resolution.spec) == {"a": 1}


def test_a_class_that_was_not_read() -> None:
    """It may be ours: the policy counts, and whether it does is unknown."""
    found = policy("p", target("g"), a=1)
    analysis = managed_world(gateway("g"), found, complete=False)
    (effective,) = analysis.effective(node("Gateway", "g", "http"))
    assert plain(effective.resolution.spec) == {"a": 1}
    assert analysis.enforcement(found.ref).state == "Unknown"


INSIDE: Final = PolicyKindProfile(
    GroupKind("example.com", "ColorPolicy"),
    "inherited",
    "profile",
    hostnames="inside",
    strategy=MergeStrategy.PATCH_DEFAULTS,
)
WIDER: Final = (
    "*.example.com of HTTPRoute default/r is wider than api.example.com of listener http of Gateway default/g"
)


def world_of_hostnames(
    *hostnames: str, listens: str | None = "api.example.com", parents: tuple[str, ...] = ("http",)
) -> Analysis:
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
    analysis = world_of_hostnames("*.example.com")
    assert [binding.state for binding in analysis.topology.bindings(ROUTE.object)] == ["attached"]
    assert analysis.effective(ROUTE) == ()
    assert analysis.enforcement(ref("ColorPolicy", "p", group="example.com")).state == "NoEffect"
    (found,) = describe(analysis, ROUTE).not_applying
    assert (found.policy, found.target) == (ref("ColorPolicy", "p", group="example.com"), node("Gateway", "g"))
    assert found.message == f"ColorPolicy counts only for hostnames inside the listener's, and {WIDER}"
    other_kind = PolicyKindProfile(INSIDE.group_kind, "inherited", "profile")
    assert describe(analyze(analysis.snapshot, profiles=[other_kind]), ROUTE).not_applying == ()


def test_another_path_counts() -> None:
    analysis = world_of_hostnames("*.example.com", parents=("http", "any"))
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
    analysis = world_of_hostnames(*hostnames, listens=listens)
    assert len(analysis.effective(ROUTE)) == 1
    assert describe(analysis, ROUTE).not_applying == ()


def test_a_path_without_route_or_listener() -> None:
    analysis = world_of_hostnames("*.example.com")
    topology = analysis.topology
    assert why_too_wide(topology, (node("Gateway", "g"), node("Gateway", "g", "http"))) == ""
    assert why_too_wide(topology, (ROUTE,)) == ""
    assert why_too_wide(topology, (node("Gateway", "g", "gone"), ROUTE)) == ""
    several = analyze(index(route("r", hostnames=["a", "b"]), gateway("g", listener("http", hostname="c"))).snapshot)
    said = why_too_wide(several.topology, (NodeRef(ref("Gateway", "g"), "http"), ROUTE))
    assert said == "a, b of HTTPRoute default/r are wider than c of listener http of Gateway default/g"
