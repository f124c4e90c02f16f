"""What is wrong with references to certificates."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from kubectl_policy.model import Gap, GroupKind, Json, Problem, Resource
from kubectl_policy.model.index import Index
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles.controllers import GatewayProfile
from kubectl_policy.topology import Topology
from kubectl_policy.topology.gateway.certificates import ELSEWHERE, INVALID, authority_problem, certificate_problem
from kubectl_policy.topology.gateway.gateways import Gateways
from tests.build import gateway, gateway_class, grant, index, ref, resource
from tests.fakes import Controllers

PEM = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
CODED = b64encode(PEM.encode()).decode()
KEY = b64encode(b"anything").decode()
GATEWAY = gateway().ref


def _with(found: Resource, body: Mapping[str, Json]) -> Resource:
    return replace(found, raw={**found.raw, **body})


def gateways(world: Index) -> Gateways:
    return Topology(world).gateways


def of_secret(body: Mapping[str, Json]) -> Problem | None:
    """What is wrong with a Secret that is used as a certificate."""
    secret = _with(resource("Secret", "c", group=""), body)
    return certificate_problem(gateways(index(secret)), GATEWAY, secret.ref)


def of_map(body: Mapping[str, Json]) -> Problem | None:
    """What is wrong with a ConfigMap that is used as a CA certificate."""
    config_map = _with(resource("ConfigMap", "ca", group=""), body)
    return authority_problem(gateways(index(config_map)), GATEWAY, config_map.ref)


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
    assert of_secret(body) == Problem(message=message, reason=INVALID)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"data": None},
        {"data": {"tls.crt": CODED, "tls.key": KEY}},
        {"data": {"tls.crt": f"ENC[AES256_GCM,data:{'x' * 2000}]", "tls.key": "ENC[AES256_GCM,data:x,type:str]"}},
        {"stringData": {"tls.crt": "${CERTIFICATE}", "tls.key": "<path:kv/edge#key>"}},
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
    assert of_map(body) == Problem(message="ConfigMap default/ca has no valid ca.crt", reason=INVALID)


@pytest.mark.parametrize("body", [{"data": {"ca.crt": PEM}}, {"binaryData": {"ca.crt": CODED}}])
def test_a_config_map_may_be_an_authority(body: dict[str, Json]) -> None:
    assert of_map(body) is None


def test_only_some_kinds_hold_certificates() -> None:
    world, found = index(), ref("Service", "s", group="")
    expected = Problem(message="a Service cannot hold a certificate; Secret can", reason="InvalidKind")
    assert certificate_problem(gateways(world), GATEWAY, found) == expected
    expected = Problem(message="a Service cannot hold a certificate; ConfigMap or Secret can", reason="InvalidKind")
    assert authority_problem(gateways(world), GATEWAY, found) == expected


def test_absence_is_certain_only_in_a_closed_world() -> None:
    """In an open world the Secret may exist."""
    found = ref("Secret", "c", group="")
    missing = Problem(message="Secret default/c does not exist", reason=INVALID)
    unread = Problem(message="Secret default/c is not in the input", reason=INVALID, certain=False)
    assert certificate_problem(gateways(index(complete=True)), GATEWAY, found) == missing
    assert certificate_problem(gateways(index()), GATEWAY, found) == unread


def test_another_namespace_needs_a_grant() -> None:
    """Which may be somewhere else."""
    found, secret = ref("Secret", "c", "x", ""), resource("Secret", "c", group="", namespace="x")
    message = "no ReferenceGrant in namespace x lets Gateway default/g refer to Secret x/c"
    refused = Problem(message=message, reason="RefNotPermitted")
    assert certificate_problem(gateways(index(secret, complete=True)), GATEWAY, found) == refused
    message = "whether Secret x/c may be referred to is unknown: no ReferenceGrant in the input says so"
    unknown = Problem(message=message, reason="RefNotPermitted", certain=False)
    for world in (index(secret), index(secret, complete=True, gaps=[Gap("ReferenceGrant", "x", "forbidden")])):
        assert certificate_problem(gateways(world), GATEWAY, found) == unknown
    given = grant(namespace="x", sources=[(GATEWAY_API, "Gateway", "default")], targets=[("", "Secret")])
    assert certificate_problem(gateways(index(secret, given)), GATEWAY, found) is None


def test_a_kind_that_is_to_be_filled_in_may_hold_one() -> None:
    problem = certificate_problem(gateways(index()), GATEWAY, ref("${KIND}", "c", group=""))
    assert problem == Problem(
        message="what kind of object ${KIND} default/c is cannot be known yet", reason=INVALID, certain=False
    )


POINTING = GatewayProfile(
    authority_kinds=frozenset({GroupKind("example.com", "TrustBundle")}),
    secret_types={"example.com/pointer": ("url", "account")},
)


def known_gateways(*objects: Resource, profile: GatewayProfile = POINTING) -> Gateways:
    """The Gateways of a controller with a profile, in a world with these objects alone."""
    world = index(gateway_class(), gateway(), *objects, complete=True)
    return Topology(world, profiles=Controllers(others=profile)).gateways


MAY_BE_ENABLED = Problem(
    message="Secret default/c of type example.com/pointer names a certificate elsewhere, which must be enabled",
    reason=ELSEWHERE,
    certain=False,
)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"stringData": {"url": "x", "account": "y"}}, MAY_BE_ENABLED),
        ({"stringData": {"url": "x"}, "data": {"account": KEY}}, MAY_BE_ENABLED),
        ({}, MAY_BE_ENABLED),
        ({"data": {"url": KEY}}, Problem(message="Secret default/c has no account", reason=ELSEWHERE)),
        (
            {"data": {"url": "", "tls.crt": CODED}},
            Problem(message="Secret default/c has no url and no account", reason=ELSEWHERE),
        ),
    ],
)
def test_a_secret_of_a_type_that_names_a_certificate_elsewhere(body: dict[str, Json], problem: Problem) -> None:
    """Whether controllers use it is not known; its keys are those of its type, unless its data was withheld."""
    secret = _with(resource("Secret", "c", group="", type="example.com/pointer"), body)
    for find_problem in (certificate_problem, authority_problem):
        assert find_problem(known_gateways(secret), GATEWAY, secret.ref) == problem
    plain = certificate_problem(known_gateways(secret, profile=GatewayProfile()), GATEWAY, secret.ref)
    assert (plain.reason if plain else "") == (INVALID if body else "")


def test_a_secret_of_another_type_holds_the_certificate() -> None:
    secret = resource("Secret", "c", group="", type="kubernetes.io/tls", data={"tls.crt": CODED, "tls.key": KEY})
    assert certificate_problem(known_gateways(secret), GATEWAY, secret.ref) is None


@pytest.mark.parametrize("group", ["example.com", "typo.example.com"])
def test_a_kind_of_the_controllers_holds_authorities(group: str) -> None:
    """It is cluster-scoped, whatever the reference says, and known by its kind alone."""
    bundle = resource("TrustBundle", "b", group="example.com", namespace="")
    named = ref("TrustBundle", "b", group=group)
    assert authority_problem(known_gateways(bundle), GATEWAY, named) is None
    missing = Problem(message="TrustBundle b does not exist", reason=INVALID)
    assert authority_problem(known_gateways(), GATEWAY, named) == missing
    refused = authority_problem(known_gateways(bundle, profile=GatewayProfile()), GATEWAY, named)
    assert refused
    assert refused.reason == "InvalidKind"
