"""Envoy Gateway: ClientTrafficPolicies on listeners that share a port, have no hostname, or are of a ListenerSet."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy.model import Json, Resource
from tests import build
from tests.envoy_gateway import GROUP, accepted, findings, policy, world

KIND: Final = "ClientTrafficPolicy"
SETS: Final[Json] = {"namespaces": {"from": "Same"}}
WEB: Final = build.listener("web", hostname="a.org")
API: Final = build.listener("api", hostname="b.org")
TLS: Final = build.listener("tls", "HTTPS", 80, hostname="c.org", tls={"certificateRefs": [{"name": "cert"}]})
BROKEN: Final = build.listener("api", hostname="b.org", allowedRoutes=build.allow(kinds=["HTTPRoute", "TCPRoute"]))
APART: Final = build.listener("api", port=81)
ADDED: Final = build.listener_set("more", build.listener("x", hostname="x.org"))
SHARED: Final = "listener {} of {} shares port 80 with listener web of Gateway default/g"


def client(name: str, target: str, section: str = "", kind: str = "Gateway", **spec: Json) -> Resource:
    settings = spec or {"connection": {"bufferLimit": "1Mi"}}
    return build.resource(KIND, name, {"targetRefs": [build.target(target, kind, section)], **settings}, group=GROUP)


@pytest.mark.parametrize(
    ("objects", "rival"),
    [
        ([build.gateway("g", WEB, API)], SHARED.format("api", "Gateway default/g")),
        ([build.gateway("g", WEB, allowedListeners=SETS), ADDED], SHARED.format("x", "ListenerSet default/more")),
        ([build.gateway("g", WEB), ADDED], ""),
        ([build.gateway("g", WEB, APART)], ""),
        ([build.gateway("g", WEB, BROKEN)], ""),
        ([build.gateway("g", WEB, {**WEB, "name": "same"})], ""),
        ([build.gateway("g", WEB)], ""),
    ],
)
def test_a_listener_that_shares_its_port(objects: list[Resource], rival: str) -> None:
    """Only listeners that are served count; whatever the policy sets, it would hold for all of them."""
    part = client("c", "g", "web")
    analysis = world(*objects, part)
    assert accepted(analysis, part.ref) == {"Gateway default/g#web": "Invalid" if rival else "Accepted"}
    messages = [message for _, _, _, message in findings(analysis, "GWP1024")]
    assert [message.partition(", and a policy")[0] for message in messages] == ([rival] if rival else [])


def test_a_policy_on_all_listeners_of_a_port() -> None:
    whole, of_set = client("whole", "g"), client("set", "more", kind="ListenerSet")
    analysis = world(build.gateway("g", WEB, API, allowedListeners=SETS), ADDED, whole, of_set)
    assert accepted(analysis, whole.ref) == {"Gateway default/g": "Accepted"}
    assert accepted(analysis, of_set.ref) == {"ListenerSet default/more": "Invalid"}


def test_a_route_is_no_listener() -> None:
    """Another kind of target is refused for that."""
    on_route = policy(KIND, "c", build.ON_ROUTE, connection={})
    analysis = world(build.gateway(), build.route(), build.service(), on_route)
    assert [attachment.state for attachment in analysis.attachments[on_route.ref]] == ["kind unsupported"]


@pytest.mark.parametrize(("merged", "reason"), [(True, "Invalid"), (False, "Accepted")])
def test_merged_gateways_share_their_ports(merged: Json, reason: str) -> None:
    """All Gateways of a class are one if its parameters say so."""
    proxy = build.resource("EnvoyProxy", "proxy", {"mergeGateways": merged}, group=GROUP)
    parameters: Json = {"group": GROUP, "kind": "EnvoyProxy", "name": "proxy", "namespace": "default"}
    merging = build.gateway_class("merging", "gateway.envoyproxy.io/gatewayclass-controller", parametersRef=parameters)
    gateways = [build.gateway(name, listener, class_name="merging") for name, listener in (("g", WEB), ("h", API))]
    whole = client("c", "g")
    assert accepted(world(merging, proxy, *gateways, whole), whole.ref) == {"Gateway default/g": reason}
    unlike: Json = {"group": "", "kind": "ConfigMap", "name": "proxy", "namespace": "default"}
    other = build.gateway_class("merging", "gateway.envoyproxy.io/gatewayclass-controller", parametersRef=unlike)
    assert accepted(world(other, proxy, *gateways, whole), whole.ref) == {"Gateway default/g": "Accepted"}


ANY: Final = build.listener("any", port=82)
NAMED: Final = build.route("named", parents=[build.parent("g", "any")], hostnames=["r.org"])
TWICE: Final = build.route("twice", parents=[build.parent("g", "any")], hostnames=["r.org", "s.org"])
WILD: Final = build.route("wild", parents=[build.parent("g", "any")], hostnames=["*.r.org"])


@pytest.mark.parametrize(
    ("section", "routes", "reason"),
    [
        ("web", [], "Accepted"),
        ("tls", [], "Accepted"),
        ("tcp", [], "Accepted"),
        ("any", [], "Invalid"),
        ("any", [NAMED], "Accepted"),
        ("any", [NAMED, WILD], "Accepted"),
        ("any", [WILD], "Invalid"),
        ("any", [TWICE], "Invalid"),
    ],
)
def test_the_default_host_of_http_1_0(section: str, routes: list[Resource], reason: str) -> None:
    """It is the hostname of the listener, or else the only one of its routes."""
    gateway = build.gateway("g", WEB, {**TLS, "port": 443}, ANY, build.listener("tcp", "TCP", 90))
    hosted = client("c", "g", section, http1={"http10": {"useDefaultHost": True}})
    analysis = world(gateway, build.service(), *routes, hosted)
    assert accepted(analysis, hosted.ref) == {f"Gateway default/g#{section}": reason}


def test_a_gateway_stands_for_listeners_of_its_listener_sets() -> None:
    """A reference names the listener as one of the Gateway, its own first; the report is on that name."""
    objects = (
        build.gateway("g", WEB, allowedListeners=SETS),
        build.listener_set("more", build.listener("x", port=81), build.listener("web", port=82)),
    )
    named, own, absent = client("x", "g", "x"), client("own", "g", "web"), client("absent", "g", "y")
    analysis = world(*objects, named, own, absent)
    targets = {ref.name: str(analysis.attachments[ref][0].target) for ref in (named.ref, own.ref, absent.ref)}
    assert targets == {
        "x": "ListenerSet default/more#x",
        "own": "Gateway default/g#web",
        "absent": "Gateway default/g#y",
    }
    assert accepted(analysis, named.ref) == {"Gateway default/g#x": "Accepted"}
    assert accepted(analysis, absent.ref) == {"Gateway default/g#y": "TargetNotFound"}
    listener = build.node("ListenerSet", "more", "x")
    assert [found.ref for found in analysis.resolver.policies_at(listener)] == [named.ref]
    orphan = build.listener_set("orphan", build.listener("x"), parent="gone")
    assert analysis.attachments_to(orphan.ref) == ()
