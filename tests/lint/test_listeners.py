"""Listeners that cannot be told apart, within one Gateway and at one address, and what is let in by them."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy.lint.rules.certificates import insecure_frontend_validation
from kubectl_policy.lint.rules.listeners import (
    duplicate_cert_across_gateways,
    gateway_host_port_overlap,
    listeners_not_distinct,
    overlapping_tls_hostnames,
    protocol_conflict,
    too_many_listeners,
)
from tests.lint.policy_manifests import check, said
from tests.lint.route_manifests import HTTP, gateway, listener_set

OPEN: Final = ", allowedListeners: {namespaces: {from: Same}}"


def http(name: str, hostname: str = "", port: str = "80") -> str:
    return f'{{name: {name}, port: {port}, protocol: HTTP, hostname: "{hostname}"}}'


def tls(name: str, hostname: str = "", kept_in: str = "shop-tls", more: str = "", port: str = "443") -> str:
    return (
        f'{{name: {name}, port: {port}, protocol: HTTPS, hostname: "{hostname}", '
        f"tls: {{certificateRefs: [{{name: {kept_in}}}]{more}}}}}"
    )


DISTINCT: Final = (
    gateway(http("a", "a.example.com"), http("b", "b.example.com"), http("rest"), tls("secure", "a.example.com")),
    gateway(http("a", port="80"), http("b", port="81")),
    gateway("{name: a, port: 53, protocol: TCP}", "{name: b, port: 53, protocol: UDP}"),
    gateway(http("a"), spec=OPEN) + listener_set(http("a", "a.example.com")),
    # A Gateway that does not let it in has nothing to do with it.
    gateway(http("a")) + listener_set(http("a")),
    # What another protocol is about is up to the implementation.
    gateway("{name: a, port: 80, protocol: HBONE}", "{name: b, port: 80, protocol: HBONE}"),
)


@pytest.mark.parametrize("manifests", DISTINCT)
def test_distinct_listeners_are_in_order(manifests: str) -> None:
    assert check(listeners_not_distinct, manifests) == check(protocol_conflict, manifests) == []


def test_of_one_gateway_neither_is_accepted() -> None:
    (finding,) = check(listeners_not_distinct, gateway(http("a"), http("b")), complete=False)
    assert finding.message == (
        "it has port 80 and no hostname like listener a of Gateway shop/public; neither is accepted"
    )
    assert (finding.field, finding.reason) == ("spec.listeners[1]", "HostnameConflict")
    assert [(related.object.name, related.field) for related in finding.related] == [("public", "spec.listeners[0]")]


def test_the_gateway_comes_before_its_listener_sets() -> None:
    world = gateway(http("a", "a.example.com"), spec=OPEN)
    ages = [", creationTimestamp: 2024-01-01T00:00:00Z", ", creationTimestamp: 2024-01-02T00:00:00Z"]
    own, b = http("x", "a.example.com"), http("x", "b.example.com")
    assert said(check(listeners_not_distinct, world, listener_set(own))) == (
        "ListenerSet shop/more: it has port 80 and hostname a.example.com like listener a of Gateway shop/public; "
        "that of the Gateway comes first, and this one is not accepted"
    )
    dated = [listener_set(b, name=name, meta=age) for name, age in zip(("second", "first"), ages, strict=True)]
    assert said(check(listeners_not_distinct, world, *dated)) == (
        "ListenerSet shop/first: it has port 80 and hostname b.example.com like listener x of ListenerSet "
        "shop/second; that ListenerSet comes first, and this one is not accepted"
    )
    undated = [listener_set(b, name=name) for name in ("second", "first")]
    assert said(check(listeners_not_distinct, world, *undated)) == (
        "ListenerSet shop/second: it has port 80 and hostname b.example.com like listener x of ListenerSet "
        "shop/first; only that of the ListenerSet that was created first is accepted"
    )


def test_what_is_to_be_filled_in_may_be_in_conflict() -> None:
    (finding,) = check(listeners_not_distinct, gateway(http("a"), http("b", port='"${PORT}"')))[:1]
    assert not finding.certain
    assert finding.message == (
        "whether it can be distinguished from listener b of Gateway shop/public cannot be known yet"
    )


def test_tcp_shares_no_port() -> None:
    tcp = "{{name: {}, port: 80, protocol: TCP}}"
    assert check(listeners_not_distinct, gateway(tcp.format("a"), HTTP)) == []
    assert said(check(protocol_conflict, gateway(tcp.format("a"), HTTP))) == (
        "Gateway shop/public: HTTP cannot share port 80 with TCP of listener a of Gateway shop/public; "
        "neither is accepted"
    )
    assert said(check(protocol_conflict, gateway(tcp.format("a"), tcp.format("b")))) == (
        "Gateway shop/public: TCP cannot share port 80 with listener a of Gateway shop/public; neither is accepted"
    )


def test_an_implementation_may_have_one_tls_mode_on_a_port() -> None:
    modes = [
        f"{{name: {mode}, port: 443, protocol: TLS, hostname: {mode}.example.com, tls: {{mode: {mode}}}}}"
        for mode in ("Passthrough", "Terminate")
    ]
    assert check(protocol_conflict, gateway(*modes)) == []
    features = "status: {supportedFeatures: [{name: TLSRoute}, {name: TLSRouteModeTerminate}]}"
    gateway_class = (
        "---\napiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: public}\n"
        f"spec: {{controllerName: example.io/controller}}\n{features}\n"
    )
    (finding,) = check(protocol_conflict, gateway_class, gateway(*modes))
    assert finding.message == (
        "TLS cannot share port 443 with another TLS mode of listener Passthrough of Gateway shop/public; "
        "neither is accepted"
    )


@pytest.mark.parametrize(
    "manifests",
    [
        gateway(tls("a", "a.example.com"), tls("b", "b.example.com")),
        gateway(tls("a", "*.example.com"), tls("b", "example.com")),
        gateway(tls("a", "*.example.com"), tls("b", "a.example.com", port="8443")),
        gateway(tls("a", "*.example.com"), http("b", "a.example.com", port="8080")),
        gateway(tls("a", "*.example.com"), tls("b", "a.example.com", more=", mode: Passthrough")),
        # They are in conflict, which is said otherwise.
        gateway(tls("a", "a.example.com"), tls("b", "a.example.com")),
        gateway(tls("a", "*.example.com")) + listener_set(tls("b", "a.example.com")),
        listener_set(tls("a", "*.example.com"), tls("b", "a.example.com")),
    ],
)
def test_hostnames_that_do_not_overlap(manifests: str) -> None:
    assert check(overlapping_tls_hostnames, manifests) == []


def test_a_wildcard_and_a_hostname_under_it_overlap() -> None:
    world = gateway(tls("any"), tls("wide", "*.example.com"), spec=OPEN)
    findings = check(overlapping_tls_hostnames, world, listener_set(tls("eu", "shop.eu.example.com")))
    assert said(findings).splitlines() == [
        (
            "Gateway shop/public: listener any of Gateway shop/public matches it too (no hostname): "
            "clients may reuse connections of that listener for it"
        ),
        (
            "ListenerSet shop/more: listener wide of Gateway shop/public matches it too (*.example.com): "
            "clients may reuse connections of that listener for it"
        ),
    ]
    assert [related.field for related in findings[1].related] == ["spec.listeners[1]", "spec.listeners[0]"]


AT: Final = ", addresses: [{value: 192.0.2.1}]"


@pytest.mark.parametrize(
    "others",
    [
        gateway(tls("a", "b.example.com"), name="other"),
        gateway(tls("a", "b.example.com"), name="other", spec=", addresses: [{value: 192.0.2.2}, {type: Hostname}]"),
        gateway(tls("a", "b.example.com", kept_in="own"), name="other", spec=AT),
        gateway(tls("a", "b.example.com", port="8443"), name="other", spec=AT),
        gateway(http("a", "b.example.com"), name="other", spec=AT),
    ],
)
def test_gateways_that_share_nothing(others: str) -> None:
    world = gateway(tls("a", "a.example.com"), spec=AT) + others
    assert check(duplicate_cert_across_gateways, world) == check(gateway_host_port_overlap, world) == []


def test_one_certificate_at_one_address() -> None:
    both = ", addresses: [{value: 192.0.2.1}, {type: Hostname, value: a.example.com}]"
    other = gateway(tls("a", "b.example.com"), name="other", spec=both, status="addresses: [{value: 192.0.2.1}]")
    findings = check(duplicate_cert_across_gateways, gateway(tls("a", "a.example.com"), spec=both), other)
    assert said(findings) == (
        "Gateway shop/public: listener a of Gateway shop/other has Secret shop/shop-tls as well, on the same port "
        "of 192.0.2.1: requests for the hostname of one may arrive at the other on a reused connection, "
        "and get 404"
    )
    assert findings[0].field == "spec.listeners[0].tls.certificateRefs[0]"


def test_one_port_and_hostname_at_one_address() -> None:
    old, new = (f", creationTimestamp: 202{year}-01-01T00:00:00Z" for year in (3, 4))
    both = ", addresses: [{value: 192.0.2.1}, {value: 192.0.2.2}]"
    worlds = (
        gateway(http("a", "a.example.com"), meta=old, spec=both),
        gateway(http("b", "a.example.com"), http("c", port="81"), name="older-name", meta=new, spec=both),
    )
    assert said(check(gateway_host_port_overlap, *worlds)) == (
        "Gateway shop/older-name: listener a of Gateway shop/public claims port 80 and hostname a.example.com of "
        "192.0.2.1 as well"
    )
    tcp = gateway("{name: t, port: 80, protocol: TCP}", name="tcp", meta=new, spec=both)
    (finding,) = check(gateway_host_port_overlap, worlds[0], tcp)
    assert finding.message == "listener a of Gateway shop/public claims port 80 of 192.0.2.1 as well"
    assert finding.reason == "ProtocolConflict"


def test_what_is_in_conflict_at_its_own_gateway_claims_nothing() -> None:
    other = gateway(http("a"), http("b"), name="other", spec=AT)
    assert check(gateway_host_port_overlap, gateway(http("x"), spec=AT), other) == []
    other = gateway(tls("a", "b.example.com"), tls("b", "b.example.com"), name="other", spec=AT)
    assert check(duplicate_cert_across_gateways, gateway(tls("a", "a.example.com"), spec=AT), other) == []


def test_as_many_listeners_as_the_api_allows() -> None:
    ports = [f"{{name: p{port}, port: {port}, protocol: UDP}}" for port in range(9000, 9065)]
    assert check(too_many_listeners, gateway(*ports[:-1], spec=OPEN), listener_set(ports[-1])) == []
    assert said(check(too_many_listeners, listener_set(*ports))) == (
        "ListenerSet shop/more: it has 65 listeners, and an API server accepts at most 64"
    )


def test_clients_without_a_certificate() -> None:
    valid, insecure = ("validation: {mode: AllowValidOnly}", "validation: {mode: AllowInsecureFallback}")
    frontend = ", tls: {{frontend: {{default: {{{}}}, perPort: [{{port: 1}}, {{port: 2, tls: {{{}}}}}]}}}}"
    assert check(insecure_frontend_validation, gateway(HTTP, spec=frontend.format(valid, valid))) == []
    assert check(insecure_frontend_validation, gateway(HTTP)) == []
    findings = check(insecure_frontend_validation, gateway(HTTP, spec=frontend.format(insecure, insecure)))
    assert [finding.field for finding in findings] == [
        "spec.tls.frontend.default.validation.mode",
        "spec.tls.frontend.perPort[1].tls.validation.mode",
    ]
    assert findings[0].fix is not None
    assert findings[0].fix.value == "AllowValidOnly"
