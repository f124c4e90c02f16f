"""What is wrong with references to certificates."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kubectl_policy.model import Gap
from kubectl_policy.model.kinds import GATEWAY_API
from kubectl_policy.topology.gateway.certificates import Fault, authority_fault, certificate_fault
from tests.build import gateway, grant, index, ref, resource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json, Resource

PEM = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
CODED = b64encode(PEM.encode()).decode()
KEY = b64encode(b"anything").decode()
GATEWAY = gateway().ref


def _with(found: Resource, body: Mapping[str, Json]) -> Resource:
    return replace(found, raw={**found.raw, **body})


def of_secret(body: Mapping[str, Json]) -> Fault | None:
    """What is wrong with a Secret that is used as a certificate."""
    return certificate_fault(
        index(_with(resource("Secret", "c", group=""), body)), GATEWAY, ref("Secret", "c", group="")
    )


def of_map(body: Mapping[str, Json]) -> Fault | None:
    """What is wrong with a ConfigMap that is used as a CA certificate."""
    return authority_fault(
        index(_with(resource("ConfigMap", "ca", group=""), body)), GATEWAY, ref("ConfigMap", "ca", group="")
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"data": {}}, "Secret default/c has no valid tls.crt and no valid tls.key"),
        ({"data": "x"}, "Secret default/c has no valid tls.crt and no valid tls.key"),
        ({"data": {"tls.crt": CODED}}, "Secret default/c has no valid tls.key"),
        ({"data": {"tls.crt": CODED, "tls.key": ""}}, "Secret default/c has no valid tls.key"),
        ({"data": {"tls.crt": CODED, "tls.key": 1}}, "Secret default/c has no valid tls.key"),
        ({"data": {"tls.crt": KEY, "tls.key": KEY}}, "Secret default/c has no valid tls.crt"),
        ({"data": {"tls.crt": PEM, "tls.key": KEY}}, "Secret default/c has no valid tls.crt"),
        ({"data": {"tls.crt": "é", "tls.key": KEY}}, "Secret default/c has no valid tls.crt"),
    ],
)
def test_a_malformed_secret_is_no_certificate(body: dict[str, Json], message: str) -> None:
    """Both keys have to be there, and the certificate has to look like one; no value is ever in the message."""
    assert of_secret(body) == Fault("invalid", message)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"data": None},
        {"data": {"tls.crt": CODED, "tls.key": KEY}},
        {"data": {"tls.crt": CODED[:20] + "\n" + CODED[20:], "tls.key": KEY}},
        {"stringData": {"tls.crt": PEM, "tls.key": "anything"}},
        {"stringData": {"tls.crt": PEM}, "data": {"tls.key": KEY}},
    ],
)
def test_a_secret_may_be_a_certificate(body: dict[str, Json]) -> None:
    """Encoded or not, in one part or two; a withheld body cannot be found fault with."""
    assert of_secret(body) is None


@pytest.mark.parametrize("body", [{"data": {"ca.crt": "none"}}, {"data": {"ca": PEM}}, {"binaryData": {"ca.crt": PEM}}])
def test_a_malformed_config_map_is_no_authority(body: dict[str, Json]) -> None:
    """It has to have a certificate under `ca.crt`; binary data is encoded."""
    assert of_map(body) == Fault("invalid", "ConfigMap default/ca has no valid ca.crt")


@pytest.mark.parametrize("body", [{"data": {"ca.crt": PEM}}, {"binaryData": {"ca.crt": CODED}}])
def test_a_config_map_may_be_an_authority(body: dict[str, Json]) -> None:
    """Its data is plain text."""
    assert of_map(body) is None


def test_only_some_kinds_hold_certificates() -> None:
    """Secrets key pairs, ConfigMaps and Secrets CA certificates."""
    world, found = index(), ref("Service", "s", group="")
    expected = Fault("kind", "a Service cannot hold a certificate; Secret can")
    assert certificate_fault(world, GATEWAY, found) == expected
    expected = Fault("kind", "a Service cannot hold a certificate; ConfigMap or Secret can")
    assert authority_fault(world, GATEWAY, found) == expected


def test_absence_is_a_fault_only_where_it_is_certain() -> None:
    """In an open world the Secret may exist."""
    found = ref("Secret", "c", group="")
    expected = Fault("invalid", "Secret default/c does not exist")
    assert certificate_fault(index(complete=True), GATEWAY, found) == expected
    assert certificate_fault(index(), GATEWAY, found) == Fault("unknown", "Secret default/c was not read")


def test_another_namespace_needs_a_grant() -> None:
    """Which may not have been read."""
    found, secret = ref("Secret", "c", "x", ""), resource("Secret", "c", group="", namespace="x")
    expected = Fault("grant", "no ReferenceGrant in namespace x lets Gateway default/g refer to Secret x/c")
    assert certificate_fault(index(secret), GATEWAY, found) == expected
    gap = Gap("ReferenceGrant", "x", "forbidden")
    expected = Fault("unknown", "whether Secret x/c may be referred to is unknown: its ReferenceGrants were not read")
    assert certificate_fault(index(secret, gaps=[gap]), GATEWAY, found) == expected
    given = grant(namespace="x", sources=[(GATEWAY_API, "Gateway", "default")], targets=[("", "Secret")])
    assert certificate_fault(index(secret, given), GATEWAY, found) is None
