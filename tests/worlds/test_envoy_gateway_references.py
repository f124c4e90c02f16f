"""Envoy Gateway: the kinds of objects that its policies, routes and listeners may refer to."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy import analyze
from kubectl_policy.model import Json, Resource
from tests import build
from tests.envoy_gateway import GROUP, accepted, findings, policy, world

PEM: Final = "-----BEGIN CERTIFICATE-----"
HTTPS: Final = build.listener("https", "HTTPS", 443, tls={"certificateRefs": [{"name": "cert"}]})
CERTIFICATE: Final = build.resource("Secret", "cert", group="", stringData={"tls.crt": PEM, "tls.key": "k"})
ELSEWHERE: Final = "gateway.envoyproxy.io/sds"
BUNDLE: Final = build.resource("ClusterTrustBundle", "bundle", {"trustBundle": PEM}, group="certificates.k8s.io")


def pointer(name: str, **data: Json) -> Resource:
    """A Secret that names a certificate elsewhere."""
    keys: dict[str, Json] = {"url": "unix:///run/sds.sock", "secretName": "own", **data}
    held = {key: value for key, value in keys.items() if value}
    return build.resource("Secret", name, group="", type=ELSEWHERE, stringData=held)


def authorities(*names: tuple[str, str]) -> Resource:
    """A BackendTLSPolicy on Service `s` with CA certificates, each a kind and a name."""
    references: list[Json] = [{"group": "", "kind": kind, "name": name} for kind, name in names]
    validation: Json = {"hostname": "s.example.com", "caCertificateRefs": references}
    return build.policy(
        "tls", build.ON_SERVICE, kind="BackendTLSPolicy", group="gateway.networking.k8s.io", validation=validation
    )


def clients(kind: str, name: str) -> Resource:
    """A ClientTrafficPolicy with one CA certificate for clients."""
    reference: Json = {"group": "", "kind": kind, "name": name}
    return policy(
        "ClientTrafficPolicy", "c", build.ON_GATEWAY, tls={"clientValidation": {"caCertificateRefs": [reference]}}
    )


SERVED: Final = (build.gateway("g", HTTPS), CERTIFICATE, build.route(), build.service())


def test_a_trust_bundle_holds_ca_certificates() -> None:
    """It is cluster-scoped, and its kind alone counts."""
    for refers in (clients("ClusterTrustBundle", "bundle"), authorities(("ClusterTrustBundle", "bundle"))):
        analysis = world(*SERVED, BUNDLE, refers)
        assert accepted(analysis, refers.ref) == {"Gateway default/g": "Accepted"}
        assert findings(analysis) == []
    absent = authorities(("ClusterTrustBundle", "gone"))
    message = "ClusterTrustBundle gone does not exist; connections to the backend fail"
    assert findings(world(*SERVED, absent), "GWP5012") == [("GWP5012", "error", str(absent.ref), message)]
    gone = clients("ClusterTrustBundle", "gone")
    assert accepted(world(*SERVED, gone), gone.ref) == {"Gateway default/g": "Invalid"}


def test_elsewhere_a_trust_bundle_is_no_certificate() -> None:
    refers = authorities(("ClusterTrustBundle", "bundle"))
    other = build.gateway_class("other", "example.com/gateway")
    analysis = analyze(build.snapshot(other, *SERVED[2:], BUNDLE, refers, complete=True))
    (found,) = findings(analysis, "GWP5012")
    assert "cannot hold a certificate" in found[3]


NAMED: Final = f"Secret default/one of type {ELSEWHERE} names a certificate elsewhere, which must be enabled"
ONLY: Final = "Secret default/one names a certificate elsewhere, so that it must be the only reference"


@pytest.mark.parametrize(
    ("references", "expected"),
    [
        ([("Secret", "one")], [("warning", NAMED)]),
        ([("Secret", "one"), ("Secret", "two")], [("error", f"{ONLY}; connections to the backend fail")]),
        ([("Secret", "empty")], [("error", "Secret default/empty has no secretName; connections to the backend fail")]),
    ],
)
def test_a_secret_that_names_a_ca_certificate_elsewhere(
    references: list[tuple[str, str]], expected: list[tuple[str, str]]
) -> None:
    """It counts if a setting enables such Secrets, which no manifest states, and beside no other reference."""
    refers = authorities(*references)
    analysis = world(*SERVED, pointer("one"), pointer("two"), pointer("empty", secretName=""), refers)
    found = [(severity, message) for _, severity, _, message in findings(analysis, "GWP5012")]
    assert found[: len(expected)] == expected


def test_a_secret_that_names_the_certificate_of_a_listener() -> None:
    analysis = world(build.gateway("g", HTTPS), pointer("cert"), build.route(), build.service())
    message = NAMED.replace("default/one", "default/cert")
    assert findings(analysis) == [("GWP6004", "warning", "Gateway default/g", message)]
    broken = world(build.gateway("g", HTTPS), pointer("cert", url=""), build.route(), build.service())
    assert findings(broken) == [("GWP6004", "error", "Gateway default/g", "Secret default/cert has no url")]
    withheld = build.resource("Secret", "cert", group="", type=ELSEWHERE)
    assert findings(world(build.gateway("g", HTTPS), withheld, build.route(), build.service())) == findings(analysis)


def test_a_grpc_route_may_name_an_http_route_filter() -> None:
    named = build.names("answer", "HTTPRouteFilter", GROUP)
    route = build.route(kind="GRPCRoute", rules=[build.rule(build.backend(), filters=[named])])
    direct = build.resource("HTTPRouteFilter", "answer", {"directResponse": {"statusCode": 503}}, group=GROUP)
    analysis = world(build.gateway(), route, build.service(), direct)
    assert findings(analysis) == []
    assert [attachment.state for attachment in analysis.attachments[direct.ref]] == ["attached"]


@pytest.mark.parametrize(("kind", "refused"), [("GRPCRoute", True), ("HTTPRoute", False)])
def test_a_direct_response_of_success(kind: str, *, refused: bool) -> None:
    """In a GRPCRoute, none can stand for the messages of a stream."""
    named = build.names("answer", "HTTPRouteFilter", GROUP)
    route = build.route(kind=kind, rules=[build.rule(build.backend(), filters=[named])])
    direct = build.resource("HTTPRouteFilter", "answer", {"directResponse": {"statusCode": 200}}, group=GROUP)
    found = findings(world(build.gateway(), route, build.service(), direct), "GWP1024")
    assert ["200 is less than 300" in message for *_, message in found] == [True] * refused


def tls_on(section: str) -> Resource:
    validation: Json = {"hostname": "s.example.com", "wellKnownCACertificates": "System"}
    group = "gateway.networking.k8s.io"
    target = build.target("s", "Service", section, group="")
    return build.policy("tls", target, kind="BackendTLSPolicy", group=group, validation=validation)


@pytest.mark.parametrize(
    ("section", "ancestors"),
    [("web", {"Gateway default/g": "Accepted"}), ("admin", {}), ("", {"Gateway default/g": "Accepted"})],
)
def test_a_port_that_no_route_uses(section: str, ancestors: dict[str, str]) -> None:
    route = build.route(rules=[build.rule(build.backend(port=80))])
    analysis = world(build.gateway(), route, build.service("s", ("web", 80), ("admin", 90)), tls_on(section))
    assert accepted(analysis, tls_on(section).ref) == ancestors
    unused = "no route sends requests to port admin of Service default/s, so the policy has no effect there"
    assert [message for *_, message in findings(analysis)] == ([] if ancestors else [unused])


def test_a_port_that_may_be_used() -> None:
    """A reference without a port is to none of them; what is to be filled in may be any."""
    route = build.route(rules=[build.rule(build.backend(port=None))])
    analysis = world(build.gateway(), route, build.service("s", ("web", 80), ("admin", 90)), tls_on("admin"))
    assert findings(analysis, "GWP1014") == []


def patches(kind: str, name: str, **target: Json) -> Resource:
    reference: dict[str, Json] = {"group": "gateway.networking.k8s.io", "kind": kind, "name": name, **target}
    return build.resource("EnvoyPatchPolicy", "p", {"type": "JSONPatch", "targetRef": reference}, group=GROUP)


def merging(merged: Json) -> tuple[Resource, Resource, Resource]:
    """A class with parameters, these parameters, and a Gateway of the class."""
    parameters: Json = {"group": GROUP, "kind": "EnvoyProxy", "name": "proxy", "namespace": "default"}
    controller = "gateway.envoyproxy.io/gatewayclass-controller"
    return (
        build.gateway_class("merging", controller, parametersRef=parameters),
        build.resource("EnvoyProxy", "proxy", {"mergeGateways": merged}, group=GROUP),
        build.gateway("g", class_name="merging"),
    )


@pytest.mark.parametrize(
    ("merged", "kind", "name", "verdict"),
    [
        (False, "Gateway", "g", {"Gateway default/g": "Accepted"}),
        (False, "Gateway", "gone", {}),
        (False, "Listener", "g", {"Gateway default/g": "Invalid"}),
        (False, "Listener", "gone", {}),
        (False, "GatewayClass", "merging", {}),
        (False, "GatewayClass", "g", {"Gateway default/g": "Invalid"}),
        (True, "GatewayClass", "merging", {"GatewayClass merging": "Accepted"}),
        (True, "GatewayClass", "gone", {"GatewayClass gone": "Invalid"}),
        (True, "Gateway", "g", {"GatewayClass g": "Invalid"}),
    ],
)
def test_targets_of_patches(merged: Json, kind: str, name: str, verdict: dict[str, str]) -> None:
    """The name counts before the kind."""
    patch = patches(kind, name)
    assert accepted(world(*merging(merged), patch), patch.ref) == verdict


def test_whether_gateways_are_merged_may_be_unknown() -> None:
    """The parameters of the class were not read."""
    gateway_class, _, gateway = merging(merged=True)
    for kind, name in (("Gateway", "g"), ("GatewayClass", "merging")):
        patch = patches(kind, name)
        analysis = analyze(build.snapshot(gateway_class, gateway, patch))
        assert [attachment.state for attachment in analysis.attachments[patch.ref]] == ["attached"]
