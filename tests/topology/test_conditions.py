"""Conditions of routes, by parent, and of BackendTLSPolicies."""

from __future__ import annotations

import pytest

from kubectl_policy import topology
from kubectl_policy.model import Json, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles.controllers import GatewayProfile
from kubectl_policy.topology import Condition, Topology, backend_tls_conditions, route_conditions
from kubectl_policy.topology.conditions import authority_refs
from tests.build import (
    backend,
    gateway,
    gateway_class,
    index,
    listener,
    parent,
    policy,
    ref,
    resource,
    route,
    rule,
    service,
    target,
)
from tests.fakes import Controllers


def conditions(found: Resource, *others: Resource, position: int = 0, complete: bool = True) -> tuple[Condition, ...]:
    return route_conditions(Topology(index(found, *others, complete=complete)), found.ref, position)


def test_what_is_public_is_named() -> None:
    """Nothing else is looked for where conditions are."""
    with pytest.raises(AttributeError, match="nothing"):
        getattr(topology, "nothing")  # noqa: B009 (type checkers know that it is not there)


def test_the_nearest_miss_is_the_reason() -> None:
    """Of several listeners that refuse, the one whose handshake got furthest tells most."""
    world = gateway(
        "g", listener("tcp", "TCP", 90), listener("http", hostname="a.org"), listener("alt", port=81, hostname="c.org")
    )
    accepted, _ = conditions(route(hostnames=["b.org"]), world, service())
    assert (accepted.status, accepted.reason) == ("False", "NoMatchingListenerHostname")
    assert accepted.message == (
        "hostname b.org does not match a.org of listener http of Gateway default/g; "
        "hostname b.org does not match c.org of listener alt of Gateway default/g"
    )


def test_a_reference_without_a_parent_is_not_accepted() -> None:
    found = resource("HTTPRoute", "r", {"parentRefs": [{}]})
    expected = Condition("Accepted", "False", "NoMatchingParent", "the reference names no parent")
    assert conditions(found)[0] == expected


def test_a_doubt_beats_a_refusal() -> None:
    """As long as one listener may take the route, it is not known to be refused."""
    selector: Json = {"namespaces": {"from": "Selector", "selector": {"matchLabels": {"a": "b"}}}}
    world = gateway("g", listener("a"), listener("b", port=81, allowedRoutes=selector), namespace="infra")
    accepted, _ = conditions(route(parents=[parent(namespace="infra")]), world)
    message = "whether listener b of Gateway infra/g selects it is unknown: Namespace default is not in the input"
    assert accepted == Condition("Accepted", "Unknown", "Pending", message)


def test_one_listener_is_enough() -> None:
    world = (gateway("g", listener("a", hostname="a.org"), listener("b", port=81)), service())
    found = route(parents=[parent("x"), parent()], hostnames=["b.org"])
    assert conditions(found, *world)[0].reason == "NoMatchingParent"
    assert conditions(found, *world, position=1) == (
        Condition("Accepted", "True", "Accepted"),
        Condition("ResolvedRefs", "True", "ResolvedRefs"),
    )


def test_a_conflicted_listener_takes_a_route_as_far_as_status_goes() -> None:
    world = gateway("g", listener("a"), listener("b"))
    assert conditions(route(), world, service())[0] == Condition("Accepted", "True", "Accepted")


def test_the_first_broken_reference_gives_the_reason() -> None:
    """Whether or not the route is accepted; the message has all of them."""
    found = route(rules=[rule(backend("a")), rule(backend("b", namespace="x"), backend("s"))])
    resolved = conditions(found, service())[1]
    assert (resolved.status, resolved.reason) == ("False", "BackendNotFound")
    assert resolved.message == (
        "Service default/a does not exist; "
        "no ReferenceGrant in namespace x lets HTTPRoute default/r refer to Service x/b"
    )


def test_an_unread_backend_is_a_doubt() -> None:
    """In an open world it may exist."""
    resolved = conditions(route(), complete=False)[1]
    assert resolved == Condition("ResolvedRefs", "Unknown", "Pending", "Service default/s is not in the input")


PEM = "-----BEGIN CERTIFICATE-----"
AUTHORITY = resource("ConfigMap", "ca", group="", data={"ca.crt": PEM})
GATEWAY = gateway().ref
CA: Json = {"group": "", "kind": "ConfigMap", "name": "ca"}
MISSING: Json = {"group": "", "kind": "ConfigMap", "name": "missing"}


def tls(
    name: str, *authorities: Json, section: str = "", age: int | None = None, to: str = "s", **more: Json
) -> Resource:
    """A BackendTLSPolicy for a Service, checking with the given CAs."""
    validation: Json = {"caCertificateRefs": list(authorities), **more}
    reference = target(to, "Service", section, group="")
    return policy(name, reference, kind="BackendTLSPolicy", group=GATEWAY_API, age=age, validation=validation)


def short(found: Resource, *others: Resource, complete: bool = True) -> list[str]:
    """Status and reason of a policy's conditions for its only Gateway."""
    world = index(found, AUTHORITY, gateway(), route(), service("s", ("https", 8080), 81), *others, complete=complete)
    ancestors = backend_tls_conditions(Topology(world), found.ref)
    return [f"{condition.status} {condition.reason}" for condition in ancestors[GATEWAY]]


GOOD = ["True Accepted", "True ResolvedRefs"]


def test_a_policy_that_no_gateway_reaches_has_no_ancestors() -> None:
    found = tls("p", CA)
    assert backend_tls_conditions(Topology(index(found, service())), found.ref) == {}
    assert backend_tls_conditions(Topology(index()), found.ref) == {}


def test_each_gateway_that_reaches_the_target_is_an_ancestor() -> None:
    found = tls("p", CA)
    other = gateway("h")
    routes = [route(), route("q", parents=[{"name": "h"}])]
    ancestors = backend_tls_conditions(
        Topology(index(found, AUTHORITY, gateway(), other, service(), *routes)), found.ref
    )
    assert ancestors == dict.fromkeys([GATEWAY, other.ref], (Condition("Accepted", "True", "Accepted"), RESOLVED))


RESOLVED = Condition("ResolvedRefs", "True", "ResolvedRefs")


@pytest.mark.parametrize(
    ("authority", "reason"),
    [(MISSING, "InvalidCACertificateRef"), ({"group": "x.io", "kind": "ConfigMap", "name": "ca"}, "InvalidKind")],
)
def test_a_policy_needs_a_valid_authority(authority: Json, reason: str) -> None:
    """All have to resolve, but one is enough for the policy to be accepted."""
    assert short(tls("p", authority)) == ["False NoValidCACertificate", f"False {reason}"]
    assert short(tls("p", CA, authority)) == ["True Accepted", f"False {reason}"]


def test_an_unread_authority_is_a_doubt() -> None:
    found = tls("p", {"group": "", "kind": "Secret", "name": "ca"})
    assert short(found, complete=False) == ["True Accepted", "Unknown Pending"]


def test_authorities_are_in_the_policys_own_namespace() -> None:
    assert short(tls("p", {"group": "", "kind": "ConfigMap", "name": "ca", "namespace": "x"})) == GOOD


def test_an_authority_elsewhere_is_the_only_one() -> None:
    """Its Secret counts if that is enabled, which is not known, and beside no other reference."""
    secret = resource("Secret", "ca", group="", type="example.com/pointer", stringData={"url": "x"})
    pointing = Controllers(others=GatewayProfile(secret_types={"example.com/pointer": ("url",)}))

    def problems(*authorities: Json) -> list[tuple[str, str, bool]]:
        found = tls("p", *authorities)
        world = Topology(index(gateway_class(), found, AUTHORITY, secret, complete=True), profiles=pointing)
        references = list(authority_refs(world, found.ref))
        return [(it.field[-3:], it.problem.message, it.problem.certain) for it in references if it.problem]

    elsewhere: Json = {"group": "", "kind": "Secret", "name": "ca"}
    alone = "Secret default/ca of type example.com/pointer names a certificate elsewhere, which must be enabled"
    assert problems(elsewhere) == [("[0]", alone, False)]
    message = "Secret default/ca names a certificate elsewhere, so that it must be the only reference"
    assert problems(CA, elsewhere) == [("[1]", message, True)]
    assert problems(CA, MISSING) == [("[1]", "ConfigMap default/missing does not exist", True)]


def test_well_known_certificates_are_those_of_the_system() -> None:
    assert short(tls("p", wellKnownCACertificates="System")) == GOOD
    assert short(tls("p", wellKnownCACertificates="Mine"))[0] == "False Invalid"


def test_of_two_policies_with_one_target_the_older_wins() -> None:
    """Then the first by name; those of unknown age come last."""
    old, new, undated = tls("z", CA, age=1), tls("a", CA, age=2), tls("0", CA)
    assert short(old, new, undated) == GOOD
    assert short(new, old)[0] == "False Conflicted"
    assert short(undated, old)[0] == "False Conflicted"
    assert short(tls("a", CA), tls("b", CA)) == GOOD


def test_a_section_is_a_target_of_its_own() -> None:
    """A policy for a port and one for the whole Service do not conflict."""
    assert short(tls("b", CA, section="https"), tls("a", CA)) == GOOD
    assert short(tls("b", CA), tls("a", CA, section="https")) == GOOD
    assert short(tls("b", CA, section="https"), tls("a", CA, section="https"))[0] == "False Conflicted"
    assert short(tls("b", CA), tls("a", CA, to="t")) == GOOD


def test_a_missing_target_is_not_found() -> None:
    away = route("q", rules=[rule(backend("gone"), backend("s", None))])
    assert short(tls("p", CA, to="gone"), away)[0] == "False TargetNotFound"
    assert short(tls("p", CA, section="https"), away) == GOOD
    both = policy(
        "p",
        target("s", "Service", group=""),
        target("s", "Service", "wrong", group=""),
        target("", "Service", group=""),
        kind="BackendTLSPolicy",
        group=GATEWAY_API,
    )
    assert short(both)[0] == "False TargetNotFound"
    assert ref("Service", "s", group="") == service().ref
