"""References to certificates, and hostnames that the certificates of cert-manager are not for."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy.lint.rules.certificates import cert_ref_missing, wildcard_depth
from tests.lint.policy_manifests import check, said
from tests.lint.route_manifests import HTTPS, gateway, listener_set, route
from tests.lint.rule_worlds import document

ISSUER: Final = ", annotations: {cert-manager.io/cluster-issuer: letsencrypt}"


def secret(namespace: str = "shop") -> str:
    """The Secret shop-tls; its body is not there to be read."""
    return document("Secret", "shop-tls", "{}", version="v1", namespace=namespace, rest="type: kubernetes.io/tls\n")


def certificate(*names: str, common: str = "", kept_in: str = "shop-tls") -> str:
    every = ", ".join(f'"{name}"' for name in names)
    spec = f'{{secretName: {kept_in}, commonName: "{common}", dnsNames: [{every}]}}'
    return document("Certificate", kept_in, spec, version="cert-manager.io/v1")


def tls(hostname: str = "*.example.com", refs: str = "{name: shop-tls}", name: str = "https", mode: str = "") -> str:
    return (
        f'{{name: {name}, port: 443, protocol: HTTPS, hostname: "{hostname}", '
        f"tls: {{certificateRefs: [{refs}]{mode}}}}}"
    )


def test_what_is_there_and_allowed_is_in_order() -> None:
    assert check(cert_ref_missing, gateway(HTTPS), secret()) == []
    assert check(cert_ref_missing, gateway(tls(mode=", mode: Passthrough"))) == []
    assert check(cert_ref_missing, gateway(spec=", tls: {frontend: {default: {}, perPort: x}}")) == []


def test_a_certificate_that_is_missing() -> None:
    (finding,) = check(cert_ref_missing, gateway(HTTPS), secret().replace("shop-tls", "shop-tlz"))
    assert finding.message == "Secret shop/shop-tls does not exist"
    assert finding.field == "spec.listeners[0].tls.certificateRefs[0].name"
    assert finding.reason == "InvalidCertificateRef"
    assert finding.fix is not None
    assert finding.fix.value == "shop-tlz"
    assert [finding.certain for finding in check(cert_ref_missing, gateway(HTTPS), complete=False)] == [False]


@pytest.mark.parametrize("world", [gateway(HTTPS) + certificate("shop.example.com"), gateway(HTTPS, meta=ISSUER)])
def test_what_cert_manager_makes_need_not_be_there(world: str) -> None:
    (finding,) = check(cert_ref_missing, world)
    assert not finding.certain
    assert finding.message == "Secret shop/shop-tls is made by cert-manager, and was not read"


def test_a_certificate_in_another_namespace_needs_a_grant() -> None:
    (finding,) = check(cert_ref_missing, gateway(tls(refs="{name: shop-tls, namespace: infra}")), secret("infra"))
    assert (finding.reason, finding.field) == ("RefNotPermitted", "spec.listeners[0].tls.certificateRefs[0]")
    assert finding.fix is not None
    assert finding.fix.manifest is not None
    assert finding.fix.manifest["spec"] == {
        "from": [{"group": "gateway.networking.k8s.io", "kind": "Gateway", "namespace": "shop"}],
        "to": [{"group": "", "kind": "Secret", "name": "shop-tls"}],
    }


def test_something_else_is_no_certificate() -> None:
    """That is certain in any world."""
    refs = "{kind: ConfigMap, name: shop-tls}"
    (finding,) = check(cert_ref_missing, gateway(tls(refs=refs)), complete=False)
    assert finding.certain
    assert finding.message == "a ConfigMap cannot hold a certificate; Secret can"


def test_certificates_of_the_gateway_itself() -> None:
    validation = "validation: {caCertificateRefs: [{kind: KIND, name: clients-ca}]}"
    authorities = f"frontend: {{default: {{{validation}}}, perPort: [{{port: 443, tls: {{{validation}}}}}]}}"
    both = f", tls: {{{authorities}, backend: {{clientCertificateRef: {{name: own-tls}}}}}}"
    findings = check(cert_ref_missing, gateway(spec=both.replace("KIND", "ConfigMap")))
    assert [(finding.field, finding.reason, finding.message) for finding in findings] == [
        (
            "spec.tls.backend.clientCertificateRef.name",
            "InvalidClientCertificateRef",
            "Secret shop/own-tls does not exist",
        ),
        (
            "spec.tls.frontend.default.validation.caCertificateRefs[0].name",
            "InvalidCACertificateRef",
            "ConfigMap shop/clients-ca does not exist",
        ),
        (
            "spec.tls.frontend.perPort[0].tls.validation.caCertificateRefs[0].name",
            "InvalidCACertificateRef",
            "ConfigMap shop/clients-ca does not exist",
        ),
    ]
    reasons = [finding.reason for finding in check(cert_ref_missing, gateway(spec=both.replace("KIND", "Service")))]
    assert reasons == ["InvalidClientCertificateRef", *["InvalidCACertificateKind"] * 2]


DEEP: Final = route("deep", hosts='"a.b.example.com"')


@pytest.mark.parametrize(
    "world",
    [
        # Nothing is known of the certificate, or not of all of them, or not of its names.
        gateway(tls()) + DEEP,
        gateway(tls(refs="{name: shop-tls}, {name: other-tls}")) + certificate("*.example.com") + DEEP,
        gateway(tls()) + certificate("*.example.com", "${EXTRA}") + DEEP,
        # It is for the hostname: by another name, or as the one that is common.
        gateway(tls()) + certificate("*.example.com", "*.b.example.com") + DEEP,
        gateway(tls()) + certificate("*.example.com", common="a.b.example.com") + DEEP,
        gateway(tls(refs="{name: shop-tls}, {name: other-tls}"))
        + certificate("*.example.com")
        + certificate("a.b.example.com", kept_in="other-tls")
        + DEEP,
        # Nobody asks for more labels.
        gateway(tls()) + certificate("*.example.com") + route("flat", hosts="a.example.com"),
        gateway(tls()) + certificate("a.example.com") + route("flat", hosts="a.example.com"),
        gateway(tls()) + certificate("*.example.com") + route("deep", hosts='"${HOST}.b.example.com"'),
        gateway(tls("*.b.example.com")) + certificate("*.b.example.com") + route("all", hosts=""),
        # Nothing is served there.
        gateway(tls(), tls(name="again")) + certificate("*.example.com") + DEEP,
    ],
)
def test_hostnames_that_certificates_may_be_for(world: str) -> None:
    assert check(wildcard_depth, world) == []


def test_a_wildcard_of_a_certificate_stands_for_one_label() -> None:
    (finding,) = check(wildcard_depth, gateway(tls()), certificate("*.example.com"), DEEP)
    assert said([finding]) == (
        "HTTPRoute shop/deep: the certificate of listener https of Gateway shop/public is for *.example.com, "
        "which stands for a single label: it does not cover a.b.example.com"
    )
    assert finding.field == "spec.hostnames[0]"
    assert finding.related[0].field == "spec.listeners[0]"


def test_the_hostname_of_a_listener_may_be_too_deep() -> None:
    world = gateway(tls("a.b.example.com"), meta=ISSUER)
    assert check(wildcard_depth, world) == []
    open_to_sets = ", allowedListeners: {namespaces: {from: Same}}"
    world = gateway(spec=open_to_sets) + listener_set(tls("*.b.example.com"))
    wider = route("all", hosts='"*.com"', parent="kind: ListenerSet, name: more")
    findings = check(wildcard_depth, world, certificate("*.example.com"), wider)
    assert said(findings) == (
        "ListenerSet shop/more: the certificate of the listener is for *.example.com, which stands for a single "
        "label: it does not cover *.b.example.com"
    )
    wide = gateway(tls(), tls("eu.example.com", name="eu"), meta=ISSUER)
    assert len(check(wildcard_depth, wide, DEEP)) == 1
