"""The picture of everything that requests may come by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.questions.graph.picture import GraphOptions
from tests import build
from tests.questions.graph.drawings import drawn, links, nodes, outcomes, policies

if TYPE_CHECKING:
    from kubectl_policy.model import Resource

WORLD: Final[tuple[Resource, ...]] = (
    build.gateway_class(),
    build.namespace("default"),
    build.gateway(),
    build.route(),
    build.service("s"),
)
S: Final = build.target("s", "Service", group="")


def test_nothing() -> None:
    for world in ([], [build.service("s"), build.namespace("default"), build.resource("ConfigMap", "c", group="")]):
        picture = drawn(world)
        assert (picture.nodes, picture.links, picture.policies, picture.unseen) == ((), (), (), ())
        assert not outcomes(picture)
        assert (picture.two_states, picture.is_part) == (False, False)


def test_from_the_class_to_the_port() -> None:
    """Every object with its sections, from the root downward; the Namespace of all is none of them."""
    picture = drawn(WORLD)
    assert nodes(picture) == [
        "GatewayClass public",
        "Gateway g",
        "Gateway g#http",
        "HTTPRoute r",
        "HTTPRoute r#rule[0]",
        "Service s",
        "Service s#8080",
    ]
    assert links(picture) == [
        "Service s > Service s#8080",
        "Gateway g > Gateway g#http",
        "Gateway g#http > HTTPRoute r",
        "GatewayClass public > Gateway g",
        "HTTPRoute r > HTTPRoute r#rule[0]",
        "HTTPRoute r#rule[0] > Service s#8080",
    ]


def test_what_nothing_leads_to() -> None:
    """A Service without routes is left out, a route without parents and a class without Gateways are not."""
    alone = [build.gateway_class("other"), build.route("alone", parents=[], rules=[]), build.service("unused")]
    assert nodes(drawn(alone)) == ["GatewayClass other", "HTTPRoute alone"]


def test_ports_that_nobody_uses() -> None:
    """They are left out, also where a policy is on the Service, unless it has an effect on them or is about one."""
    world = [*WORLD[:4], build.service("s", ("web", 8080), ("admin", 9090), ("debug", 9091))]
    ports = ["Service s#web"]
    assert [name for name in nodes(drawn(world)) if "#" in name and "Service" in name] == ports
    whole = build.policy("whole", S, color="red")
    assert [name for name in nodes(drawn([*world, whole])) if "#" in name and "Service" in name] == ports
    admin = build.policy("admin", {**S, "sectionName": "admin"}, color="red")
    picture = drawn([*world, whole, admin])
    assert [name for name in nodes(picture) if "#" in name and "Service" in name] == [
        "Service s#admin",
        "Service s#web",
    ]
    assert "Service s > Service s#admin" in links(picture)


def test_rules_that_name_no_port() -> None:
    world = [*WORLD[:3], build.route(rules=[build.rule(build.backend("s", None))]), build.service("s", 80, 81)]
    picture = drawn(world)
    assert links(picture, "backend", "port") == [
        "Service s > Service s#80",
        "Service s > Service s#81",
        "HTTPRoute r#rule[0] > Service s broken BackendNotFound",
    ]


def test_several_states_of_presence() -> None:
    """What is named and was not read is drawn: it is missing where everything was read, and not known elsewhere."""
    world = [build.gateway(class_name="gone"), build.route(parents=[build.parent("g"), build.parent("ghost")])]
    assert nodes(drawn(world)) == [
        "GatewayClass gone (missing)",
        "Gateway g",
        "Gateway g#http",
        "Gateway ghost (missing)",
        "HTTPRoute r",
        "HTTPRoute r#rule[0]",
        "Service s (missing)",
    ]
    assert nodes(drawn(world, complete=False))[0] == "GatewayClass gone (unknown)"


def test_a_service_that_only_a_policy_has_to_do_with() -> None:
    unused = [*WORLD, build.service("unused", namespace="other"), build.namespace("other")]
    assert not [name for name in nodes(drawn(unused)) if "other" in name]
    home = build.policy("home", build.target("other", "Namespace", group=""), namespace="other", color="red")
    picture = drawn([*unused, home])
    assert [name for name in nodes(picture) if "other" in name] == ["Service other/unused", "Namespace other"]
    assert policies(picture) == ["home Enforced at Service other/unused"]
    target = build.policy("target", build.target("unused", "Service", group=""), namespace="other", color="red")
    assert [name for name in nodes(drawn([*unused, target])) if "other" in name] == ["Service other/unused"]


def test_policies_and_what_they_target() -> None:
    """All that are about the hierarchy, whatever becomes of them; also those without a target."""
    world = [
        *WORLD,
        build.policy("on-listener", build.target("g", section="http"), color="red"),
        build.policy("on-nothing", build.target("ghost", "HTTPRoute"), color="red"),
        build.policy("on-no-rule", build.target("r", "HTTPRoute", "ghost"), color="red"),
        build.policy(
            "selecting",
            targetSelectors=[
                {"group": "gateway.networking.k8s.io", "kind": "Gateway", "matchLabels": {"team": "nobody"}}
            ],
            color="red",
        ),
    ]
    picture = drawn(world)
    assert policies(picture) == [
        "on-listener Enforced at Gateway g#http, HTTPRoute r, Service s",
        "on-no-rule TargetNotFound",
        "on-nothing TargetNotFound",
        "selecting TargetNotFound",
    ]
    names = nodes(picture)
    assert "HTTPRoute ghost (missing)" in names
    assert "HTTPRoute r#ghost (missing)" in names
    # The section is not there, and so no part of its object.
    assert not [link for link in links(picture) if "ghost" in link]
    assert [[each.state for each in policy.targets] for policy in picture.policies] == [
        ["attached"],
        ["section missing"],
        ["target missing"],
        ["target missing"],
    ]


def test_policies_of_other_things() -> None:
    world = [
        *WORLD,
        build.resource("NetworkPolicy", "n", {"podSelector": {}}, group="networking.k8s.io"),
        build.resource("HTTPRouteFilter", "f", {}, group="gateway.envoyproxy.io"),
    ]
    assert not drawn(world).policies


def test_filters_and_parameters() -> None:
    world = [
        build.gateway_class(
            controller="gateway.envoyproxy.io/gatewayclass-controller",
            parametersRef={"group": "gateway.envoyproxy.io", "kind": "EnvoyProxy", "name": "e", "namespace": "default"},
        ),
        build.gateway(),
        build.route(
            rules=[build.rule(build.backend(), filters=[build.names("f", "HTTPRouteFilter", "gateway.envoyproxy.io")])]
        ),
        build.service(),
        build.resource("EnvoyProxy", "e", {"logging": {"level": {"default": "warn"}}}, group="gateway.envoyproxy.io"),
        build.resource(
            "HTTPRouteFilter", "f", {"urlRewrite": {"hostname": {"type": "Backend"}}}, group="gateway.envoyproxy.io"
        ),
    ]
    picture = drawn(world)
    assert [(policy.ref.name, policy.profile.role) for policy in picture.policies] == [
        ("e", "parameters"),
        ("f", "filter"),
    ]
    assert [str(each.target) for policy in picture.policies for each in policy.targets] == [
        "GatewayClass public",
        "HTTPRoute default/r#rule[0]",
    ]


def test_only_policies_of_some_kinds() -> None:
    world = [
        *WORLD,
        build.policy("red", build.target("ghost"), color="red"),
        build.policy("fast", build.target("g"), kind="SpeedPolicy", speed=1),
    ]
    picture = drawn(
        world, GraphOptions(policy_kinds=frozenset({build.ref("SpeedPolicy", "fast", group="example.com").group_kind}))
    )
    assert policies(picture) == ["fast Enforced at Gateway g, HTTPRoute r, Service s"]
    assert "Gateway ghost (missing)" not in nodes(picture)
    assert "Gateway ghost (missing)" in nodes(drawn(world))


def test_what_no_api_serves() -> None:
    world = [*WORLD, build.policy("p", build.target("v", "Fleet", group="no.example.org"), color="red")]
    assert [name for name in nodes(drawn(world)) if "Fleet" in name] == ["Fleet v (missing) virtual"]
