"""Hostnames: which cover each other, and those of a route at a listener."""

from __future__ import annotations

import pytest

from kubectl_policy.model import Json, NodeRef, Resource
from kubectl_policy.profiles.controllers import STANDARD_GATEWAYS, GatewayProfile
from kubectl_policy.topology import Implementation, Topology, attached_hostnames
from kubectl_policy.topology.gateway import gateways
from kubectl_policy.topology.gateway.hostnames import covers, have_common_hostname, intersection, may_cover
from tests.build import allow, gateway, gateway_class, index, listener, listener_set, node, parent, ref, route
from tests.fakes import Controllers


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a.example.com", "b.example.com"),
        ("example.com", "*.example.com"),
        ("*.a.example.com", "*.b.example.com"),
        ("badexample.com", "*.example.com"),
        (".example.com", "*.example.com"),
        ("*.example.com", "*.example.org"),
    ],
)
def test_names_without_a_common_host_do_not_intersect(one: str, other: str) -> None:
    """A wildcard needs at least one label in its place, and suffixes match at dots alone."""
    assert not have_common_hostname(one, other)
    assert not have_common_hostname(other, one)
    assert intersection(one, other) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("", "a.example.com"),
        ("", ""),
        ("A.example.com", "a.Example.com"),
        ("a.example.com", "*.example.com"),
        ("b.a.example.com", "*.example.com"),
        ("*.a.example.com", "*.example.com"),
        ("*.example.com", "*.example.com"),
    ],
)
def test_names_with_a_common_host_intersect(one: str, other: str) -> None:
    """A wildcard stands for any number of labels, an empty name for every host, and case does not matter."""
    assert have_common_hostname(one, other)
    assert have_common_hostname(other, one)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("", "", ""),
        ("", "a.example.com", "a.example.com"),
        ("a.example.com", "*.example.com", "a.example.com"),
        ("*.a.example.com", "*.example.com", "*.a.example.com"),
        ("*.example.com", "A.Example.com", "A.Example.com"),
    ],
)
def test_the_intersection_is_the_narrower_name(one: str, other: str, expected: str) -> None:
    """As it is written."""
    assert intersection(one, other) == intersection(other, one) == expected


def test_a_name_covers_narrower_ones_and_itself() -> None:
    """But no wider one."""
    assert covers("*.example.com", "*.a.example.com")
    assert covers("a.example.com", "A.example.com")
    assert not covers("*.a.example.com", "*.example.com")
    assert not covers("a.example.com", "")


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        ("${X}.example.com", "*.example.com", "${X}.example.com"),
        ("${X}.example.com", "app.example.com", "app.example.com"),
        ("${X}.com", "*.example.com", "${X}.com"),
        ("*.${D}", "app.example.com", "app.example.com"),
        ("*.${D}", "*.example.com", "*.example.com"),
        ("app.${D}", "app.${E}", "app.${D}"),
        ("app.{{ .Values.domain }}", "app.example.com", "app.example.com"),
        ("CHANGE_ME", "app.example.com", "app.example.com"),
        ("a.example.com:80", "b.example.com", "b.example.com"),
    ],
)
def test_names_of_which_something_is_not_known_may_intersect(one: str, other: str, common: str) -> None:
    """That is undecided; the name of which more is known is the narrower one, as far as anybody can tell."""
    for first, second in ((one, other), (other, one)):
        assert have_common_hostname(first, second) is None
        assert not covers(first, second)
        assert may_cover(first, second)
        assert intersection(first, second) == common


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("${X}.example.com", "*.other.org"),
        ("${X}.example.com", "example.com"),
        ("app-${X}.example.com", "web-1.example.com"),
        ("*.${D}", "${D}"),
        ("a.${D}", "b.${D}"),
        ("*.a.${D}", "b.${D}"),
        ("${X}.a.com", "${Y}.b.com"),
    ],
)
def test_what_is_known_can_keep_names_apart(one: str, other: str) -> None:
    for first, second in ((one, other), (other, one)):
        assert have_common_hostname(first, second) is False
        assert not may_cover(first, second)
        assert intersection(first, second) is None


def test_equal_placeholders_are_equal() -> None:
    """Whatever they stand for; `${X}` is not `${x}`."""
    assert have_common_hostname("app.${D}", "*.${D}") is True
    assert have_common_hostname("${D}", "${D}") is True
    assert have_common_hostname("", "${D}") is True
    assert have_common_hostname("*.a.${D}", "*.${D}") is True
    assert have_common_hostname("${D}", "${d}") is None


WIDE = node("Gateway", "g", "wide")
UNISOLATED = Implementation(frozenset({"GatewayHTTPListenerIsolation"}))


def names(
    found: Resource,
    *others: Resource,
    at: NodeRef = WIDE,
    implementation: Implementation | None = None,
    profiles: Controllers | None = None,
    complete: bool = True,
) -> tuple[str, ...]:
    world = index(found, *others, complete=complete)
    return attached_hostnames(Topology(world, implementation or Implementation(), profiles), at, found.ref)


def wide(*others: dict[str, Json], hostname: str = "*.example.com") -> Resource:
    """A Gateway with a listener for a domain, and others."""
    return gateway("g", listener("wide", hostname=hostname), *others)


def test_a_route_that_is_not_attached_has_none() -> None:
    """Nor has one at a listener that does not exist, or that serves nothing."""
    assert names(route(hostnames=["example.org"]), wide()) == ()
    assert names(route(), wide(), at=node("Gateway", "g", "x")) == ()
    assert names(route(), wide(), at=node("Service", "s", group="")) == ()
    assert names(route(), wide(listener("twin", hostname="*.example.com"))) == ()


@pytest.mark.parametrize(
    ("hostname", "hostnames", "expected"),
    [
        ("", None, ["*"]),
        ("*.example.com", None, ["*.example.com"]),
        ("", ["b.example.com", "A.example.com"], ["A.example.com", "b.example.com"]),
        ("*.example.com", ["a.example.com", "a.example.org"], ["a.example.com"]),
        ("a.example.com", ["*.example.com", "a.example.com"], ["a.example.com"]),
        ("*.a.example.com", ["*.example.com"], ["*.a.example.com"]),
        ("*.example.com", ["*.a.example.com"], ["*.a.example.com"]),
    ],
)
def test_hostnames_are_what_both_have_in_common(
    hostname: str, hostnames: list[str] | None, expected: list[str]
) -> None:
    entry = listener("wide", hostname=hostname) if hostname else listener("wide")
    assert names(route(hostnames=hostnames), gateway("g", entry)) == tuple(expected)


def test_a_kind_without_hostnames_has_those_of_its_listener() -> None:
    entry = listener("wide", "TLS", 443, hostname="a.org", tls={"mode": "Terminate"})
    assert names(route(kind="TCPRoute", hostnames=["b.org"]), gateway("g", entry)) == ("a.org",)


@pytest.mark.parametrize(
    ("other", "left"),
    [
        (listener("a", hostname="a.example.com"), ["a.b.example.com", "b.example.com"]),
        (listener("a", hostname="A.example.com"), ["a.b.example.com", "b.example.com"]),
        (listener("a", hostname="*.b.example.com"), ["a.example.com", "b.example.com"]),
        (listener("a", port=81, hostname="a.example.com"), ["a.b.example.com", "a.example.com", "b.example.com"]),
        (listener("a"), ["a.b.example.com", "a.example.com", "b.example.com"]),
    ],
)
def test_a_more_specific_listener_keeps_its_requests(other: dict[str, Json], left: list[str]) -> None:
    """On the same port; a less specific one takes nothing."""
    found = route(parents=[parent("g", "wide")], hostnames=["a.example.com", "b.example.com", "a.b.example.com"])
    assert names(found, wide(other)) == tuple(left)


def test_without_isolation_another_listeners_very_hostname_is_its_own() -> None:
    found = route(parents=[parent("g", "wide")], hostnames=["a.example.com", "a.b.example.com", "*.b.example.com"])
    world = wide(listener("a", hostname="a.example.com"), listener("b", hostname="*.b.example.com"))
    assert names(found, world) == ()
    assert names(found, world, implementation=UNISOLATED) == ("a.b.example.com",)
    lists = gateway_class(status={"supportedFeatures": [{"name": "Gateway"}]})
    assert names(found, world, lists) == ("a.b.example.com",)
    lacking = GatewayProfile(unsupported_features=UNISOLATED.unsupported_features)
    profiles = Controllers({"": STANDARD_GATEWAYS}, lacking)
    assert names(found, world, gateway_class(), profiles=profiles) == ("a.b.example.com",)
    assert names(found, world, profiles=profiles) == ()


def test_listeners_of_admitted_listener_sets_count() -> None:
    sets = listener_set("ls", listener("a", hostname="a.example.com"))
    found = route(parents=[parent("g", "wide")], hostnames=["a.example.com", "b.example.com"])
    assert names(found, wide(), sets) == ("a.example.com", "b.example.com")
    open_gateway = gateway("g", listener("wide", hostname="*.example.com"), allowedListeners=allow())
    assert names(found, open_gateway, sets) == ("b.example.com",)
    inner = route(parents=[parent("ls", "a", kind="ListenerSet")])
    assert names(inner, open_gateway, sets, at=node("ListenerSet", "ls", "a")) == ("a.example.com",)


def test_only_the_route_that_is_asked_for_counts() -> None:
    world = Topology(index(route("r"), route("other", parents=[]), wide(), complete=True))
    assert attached_hostnames(world, WIDE, ref("HTTPRoute", "other")) == ()


@pytest.mark.parametrize("implementation", [Implementation(), UNISOLATED], ids=["isolated", "not isolated"])
def test_hostnames_are_looked_up(implementation: Implementation, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a route on each of many listeners of one port, no name is compared with all others."""
    compared = list[str]()

    def counting(pattern: str, name: str) -> bool:
        compared.append(name)
        return covers(pattern, name)

    monkeypatch.setattr(gateways, "covers", counting)
    domains = [f"{n}.example.com" for n in range(40)]
    listeners = [listener(f"l{n}", hostname=f"*.{domain}") for n, domain in enumerate(domains)]
    routes = [route(f"r{n}", hostnames=[f"a.{domain}", f"*.b.{domain}"]) for n, domain in enumerate(domains)]
    topology = Topology(index(gateway("g", *listeners), *routes), implementation)
    for n, each in enumerate(routes):
        found = attached_hostnames(topology, node("Gateway", "g", f"l{n}"), each.ref)
        assert found == (f"*.b.{domains[n]}", f"a.{domains[n]}")
    assert len(compared) <= 2 * len(listeners)
