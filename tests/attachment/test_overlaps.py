"""Policies of kinds that refuse to share requests: with which other routes, where, and when they share nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, Topology
from kubectl_policy.attachment import Attachment, attach
from kubectl_policy.model import Gap, GroupKind, Json, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles.needs import RequiredObject, RequiredParameter
from tests.build import (
    allow,
    backend,
    gateway,
    gateway_class,
    index,
    listener,
    listener_set,
    parent,
    policy,
    resource,
    route,
    rule,
    service,
    target,
)

ALONE: Final = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "profile", overlap="refused")
GATEWAY: Final = gateway(
    "g",
    listener("http", allowedRoutes=allow()),
    listener("alt", port=81, allowedRoutes=allow()),
    listener("cafe", hostname="cafe.org", allowedRoutes=allow()),
    allowedListeners={"namespaces": {"from": "All"}},
)
OTHER_GATEWAY: Final = gateway("h", listener("http", allowedRoutes=allow()))
TO_A: Final = target("a", "HTTPRoute")


def web(
    name: str,
    *paths: str,
    section: str = "http",
    to: str = "g",
    hostnames: Sequence[str] | None = None,
    namespace: str = "default",
) -> Resource:
    matches: list[Json] = [{"path": {"type": "PathPrefix", "value": path}} for path in paths]
    parents = [parent(to, section, namespace="default")]
    return route(
        name, parents=parents, hostnames=hostnames, rules=[rule(backend(), matches=matches)], namespace=namespace
    )


def grpc(name: str, *methods: Mapping[str, Json]) -> Resource:
    """A GRPCRoute at the listener `http`, with a rule for all of its methods."""
    matches: list[Json] = [{"method": dict(method)} if method else {} for method in methods]
    return route(name, kind="GRPCRoute", parents=[parent("g", "http")], rules=[rule(backend(), matches=matches)])


def attachments(
    *world: Resource,
    to: Sequence[Mapping[str, Json]] = (TO_A,),
    profile: PolicyKindProfile = ALONE,
    complete: bool = True,
    gaps: Sequence[Gap] = (),
) -> tuple[Attachment, ...]:
    """The attachments of a policy in a world with two Gateways and these routes."""
    found = policy("p", *to)
    objects = (gateway_class(), GATEWAY, OTHER_GATEWAY, service(), found, *world)
    return attach(found, profile, Topology(index(*objects, complete=complete, gaps=gaps)))


def outcome(*world: Resource, to: Sequence[Mapping[str, Json]] = (TO_A,)) -> tuple[str, str]:
    """State and message of the only attachment of a policy on route `a`, unless told otherwise."""
    (found,) = attachments(*world, to=to)
    return found.state, found.message


def shares(
    what: str, other: str = "HTTPRoute default/b", *, port: int = 80, route: str = "HTTPRoute default/a"
) -> tuple[str, str]:
    """State and message of a policy on a route that shares requests with another one."""
    where = f"{what} on port {port} of Gateway default/g"
    return ("target overlaps", f"{route} and {other}, which the policy does not target, both take requests for {where}")


def _rules(*paths: str) -> list[dict[str, Json]]:
    return [rule(backend(), matches=[{"path": {"type": "Exact", "value": path}}]) for path in paths]


FINE: Final = ("attached", "")
TEA: Final = web("a", "/tea")
AT_A: Final = web("a", "/tea", hostnames=["a.org"])
WORLDS: Final[dict[str, tuple[tuple[Resource, ...], tuple[str, str]]]] = {
    "all requests": ((TEA, web("b", "/tea")), shares("/tea")),
    "all requests at another listener": (
        (web("a", "/tea", section="alt"), web("b", "/tea", section="alt")),
        shares("/tea", port=81),
    ),
    "those of a route without rules": (
        (web("a", "/"), resource("HTTPRoute", "b", {"parentRefs": [parent("g", "http")]})),
        shares("/"),
    ),
    "no other route": ((TEA,), FINE),
    "another path": ((TEA, web("b", "/tea/green")), FINE),
    "another port": ((TEA, web("b", "/tea", section="alt")), FINE),
    "another Gateway": ((TEA, web("b", "/tea", to="h")), FINE),
    "another hostname": ((AT_A, web("b", "/tea", hostnames=["b.org"])), FINE),
    "every hostname": ((AT_A, web("b", "/tea")), FINE),
    "a wildcard that covers the hostname": ((AT_A, web("b", "/tea", hostnames=["*.org"])), FINE),
    "the hostname of another listener": ((TEA, web("b", "/tea", section="cafe")), FINE),
    "one of several hostnames": (
        (web("a", "/tea", hostnames=["a.org", "b.org"]), web("b", "/tea", hostnames=["c.org", "b.org"])),
        shares("b.org/tea"),
    ),
    "a hostname of the route at one listener, and of the listener at another": (
        (web("a", "/tea", hostnames=["cafe.org"]), web("b", "/tea", section="cafe")),
        shares("cafe.org/tea"),
    ),
    "a hostname that the listener has not, for which nobody gets requests there": (
        (web("a", "/tea", section="cafe", hostnames=["cafe.org", "b.org"]), web("b", "/tea", hostnames=["b.org"])),
        FINE,
    ),
    "one of several paths": (
        (
            web("a", "/milk", "/tea"),
            route("b", parents=[parent("g", "http")], rules=[rule(backend()), *_rules("/coffee", "/tea")]),
        ),
        shares("/tea"),
    ),
    "a route that is not attached": ((TEA, web("b", "/tea", section="ghost")), FINE),
    "a target that is not attached": ((web("a", "/tea", section="ghost"), web("b", "/tea")), FINE),
    "a route of another namespace": ((TEA, web("a", "/tea", namespace="away")), shares("/tea", "HTTPRoute away/a")),
}


@pytest.mark.parametrize("requests", WORLDS)
def test_what_two_routes_share(requests: str) -> None:
    """If anything, the attachment fails, and says what is shared with which route."""
    world, expected = WORLDS[requests]
    assert outcome(*world) == expected


class TestShared:
    def test_kinds_that_do_not_mind(self) -> None:
        """Without `overlap: refused`."""
        (found,) = attachments(web("a", "/tea"), web("b", "/tea"), profile=replace(ALONE, overlap="allowed"))
        assert found.state == "attached"

    def test_every_path(self) -> None:
        """A rule without matches, or with one that names no path, is for `/`."""
        bare = route("b", parents=[parent("g", "http")], rules=[rule(backend())])
        by_header: Json = {"headers": [{"name": "x", "value": "y"}]}
        header = route("b", parents=[parent("g", "http")], rules=[rule(backend(), matches=[by_header])])
        for other in (bare, header, web("b", "/")):
            assert outcome(web("a", "/"), other) == shares("/")
            assert outcome(web("a", "/tea"), other) == FINE

    def test_at_a_listener_of_a_listener_set(self) -> None:
        """It is served on the Gateway, like those of the Gateway itself, if that admits it."""
        own = listener_set("ls", listener("more", port=80, hostname="more.org", allowedRoutes=allow()))
        at_set = route("b", parents=[parent("ls", "more", kind="ListenerSet")], rules=[*_rules("/tea")])
        assert outcome(web("a", "/tea", hostnames=["more.org"]), own, at_set) == shares("more.org/tea")
        to_b = [target("b", "HTTPRoute")]
        expected = shares("more.org/tea", "HTTPRoute default/a", route="HTTPRoute default/b")
        assert outcome(web("a", "/tea", hostnames=["more.org"]), own, at_set, to=to_b) == expected
        assert outcome(web("a", "/tea", hostnames=["less.org"]), own, at_set) == FINE


class TestOtherRoutes:
    """Routes that are no HTTPRoutes."""

    to: Final = (target("a", "GRPCRoute"),)

    @pytest.mark.parametrize(
        ("method", "path"),
        [
            ({}, "/"),
            ({"service": "tea.Pot"}, "/tea.Pot/"),
            ({"method": "Pour"}, "//Pour"),
            ({"service": "tea.Pot", "method": "Pour"}, "/tea.Pot/Pour"),
        ],
        ids=str,
    )
    def test_the_paths_of_a_grpc_route(self, method: dict[str, Json], path: str) -> None:
        """Service and method, as in a request; every path without either."""
        expected = shares(f"{path}", "GRPCRoute default/b", route="GRPCRoute default/a")
        assert outcome(grpc("a", method), grpc("b", method), to=self.to) == expected
        assert outcome(grpc("a", method), grpc("b", {"service": "other"}), to=self.to) == FINE

    def test_a_grpc_route_and_an_http_route(self) -> None:
        expected = shares("/tea.Pot/Pour", "HTTPRoute default/b", route="GRPCRoute default/a")
        pour = grpc("a", {"service": "tea.Pot", "method": "Pour"})
        assert outcome(pour, web("b", "/tea.Pot/Pour"), to=self.to) == expected

    def test_routes_without_paths(self) -> None:
        tcp = gateway("t", listener("tcp", "TCP", 90))
        streams = [
            resource("TCPRoute", name, {"parentRefs": [parent("t")], "rules": [rule(backend())]}) for name in "ab"
        ]
        assert outcome(tcp, *streams, to=[target("a", "TCPRoute")]) == FINE


class TestTargets:
    """Routes that the policy itself targets may share with each other; else everything fails."""

    def test_a_targeted_route(self) -> None:
        found = attachments(web("a", "/tea"), web("b", "/tea"), to=[TO_A, target("b", "HTTPRoute")])
        assert [one.state for one in found] == ["attached", "attached"]

    def test_every_attachment_fails(self) -> None:
        """Also those to routes that share nothing, and to what is no route; what has failed before keeps its reason."""
        to = [TO_A, target("c", "HTTPRoute"), target("g"), target("ghost", "HTTPRoute")]
        found = attachments(web("a", "/tea"), web("b", "/tea"), web("c", "/coffee"), to=to)
        assert [(one.state, one.message) for one in found] == [
            *[shares("/tea")] * 3,
            ("target missing", "HTTPRoute default/ghost does not exist"),
        ]

    def test_what_is_no_route_shares_nothing(self) -> None:
        assert outcome(web("a", "/tea"), web("b", "/tea"), to=[target("g")]) == FINE

    def test_one_that_the_policy_may_not_target(self) -> None:
        far = target("a", "HTTPRoute", namespace="away")
        found = attachments(web("a", "/tea"), web("a", "/tea", namespace="away"), to=[TO_A, far])
        assert [one.state for one in found] == ["target overlaps", "not permitted"]

    def test_a_policy_that_is_invalid(self) -> None:
        needy = replace(ALONE, needs=(RequiredObject(field="spec.key", group="", kinds=("Secret",)),))
        (found,) = attachments(web("a", "/tea"), web("b", "/tea"), profile=needy)
        assert (found.state, found.message) == ("policy invalid", "spec.key names no Secret")

    def test_a_kind_that_is_not_enabled(self) -> None:
        """What is shared is told first; it keeps nobody out then, as one that is not enabled does."""
        switched = replace(ALONE, enabled_by=RequiredParameter(GroupKind("example.com", "Settings"), "on"))
        settings = resource("Settings", "s", {}, group="example.com")
        reference: Json = {"group": "example.com", "kind": "Settings", "name": "s", "namespace": "default"}
        off = gateway("off", listener("http"), infrastructure={"parametersRef": reference})
        (found,) = attachments(off, settings, web("a", "/tea", to="off"), profile=switched)
        assert (found.state, found.competes) == ("not enabled", True)
        both = web("a", "/tea", to="off"), web("b", "/tea", to="off")
        (found,) = attachments(off, settings, *both, profile=switched)
        assert (found.state, found.competes) == ("target overlaps", False)


class TestOpenWorld:
    def test_routes_that_were_not_read(self) -> None:
        """Prove nothing; those that were read share what they share."""
        (found,) = attachments(web("a", "/tea"), complete=False)
        assert found.state == "attached"
        (found,) = attachments(web("a", "/tea"), web("b", "/tea"), complete=False)
        assert (found.state, found.message) == shares("/tea")

    def test_a_gateway_that_was_not_read(self) -> None:
        """Nobody knows where its listeners are."""
        away = [route(name, parents=[parent("unread", namespace="far")], rules=_rules("/tea")) for name in ("a", "b")]
        (found,) = attachments(*away, complete=False)
        assert found.state == "attached"

    def test_a_route_that_the_policy_may_target(self) -> None:
        """Whether a grant lets it is not known, so it is not known to be another's."""
        far = target("a", "HTTPRoute", namespace="away")
        gaps = [Gap("ReferenceGrant", "away", "forbidden")]
        found = attachments(web("a", "/tea"), web("a", "/tea", namespace="away"), to=[TO_A, far], gaps=gaps)
        assert [one.state for one in found] == ["attached", "target unknown"]


class TestPlaceholders:
    @staticmethod
    def unsure(what: str, *, port: int | str = 80) -> tuple[str, str]:
        """State and message where it is not known whether requests are shared with route `b`."""
        _, message = shares(what)
        return "target unknown", f"whether {message.replace('80', str(port))} cannot be known yet"

    def test_a_hostname(self) -> None:
        """Of whichever route; what is known of it may tell that it is another one."""
        known, open_one = web("a", "/tea", hostnames=["a.org"]), web("b", "/tea", hostnames=["${X}"])
        assert outcome(known, open_one) == self.unsure("a.org/tea")
        known, open_one = web("b", "/tea", hostnames=["a.org"]), web("a", "/tea", hostnames=["${X}"])
        assert outcome(known, open_one) == self.unsure("${X}/tea")
        assert outcome(known, web("a", "/tea", hostnames=["${X}.com"])) == FINE
        assert outcome(known, web("a", "/coffee", hostnames=["${X}"])) == FINE

    def test_one_of_both(self) -> None:
        both = [web(name, "/tea", hostnames=["${X}"]) for name in "ab"]
        assert outcome(*both) == shares("${X}/tea")

    def test_a_hostname_that_the_listener_may_not_have(self) -> None:
        """Then it is not even known whether the route is there."""
        known, open_one = web("a", "/tea", section="cafe"), web("b", "/tea", section="cafe", hostnames=["${X}"])
        assert outcome(known, open_one) == self.unsure("cafe.org/tea")

    def test_a_port(self) -> None:
        more = listener("more", hostname="a.org", allowedRoutes=allow()) | {"port": "${PORT}"}
        own = listener_set("ls", more)
        at_set = route("b", parents=[parent("ls", "more", kind="ListenerSet")], rules=[*_rules("/tea")])
        assert outcome(web("a", "/tea", hostnames=["a.org"]), own, at_set) == self.unsure("a.org/tea")
        assert outcome(web("a", "/tea", hostnames=["b.org"]), own, at_set) == FINE

    def test_a_second_parent_with_a_placeholder(self) -> None:
        twice = route(
            "a",
            parents=[parent("g", "http"), parent("g", "${X}")],
            rules=[rule(backend(), matches=[{"path": {"type": "PathPrefix", "value": "/tea"}}])],
        )
        assert outcome(twice, web("b", "/tea")) == shares("/tea")

    def test_a_route_of_its_own(self) -> None:
        both = web("a", "/tea", hostnames=["a.org"]), web("b", "/tea", hostnames=["${X}"])
        found = attachments(*both, to=[TO_A, target("b", "HTTPRoute")])
        assert [one.state for one in found] == ["attached", "attached"]


def test_filters_are_attachments_as_well() -> None:
    """A route whose rule names the policy by a filter is one of its targets."""
    named = replace(ALONE, filter_routes=frozenset({GroupKind(GATEWAY_API, "HTTPRoute")}))
    reference: Json = {"group": "example.com", "kind": "ColorPolicy", "name": "p"}
    filters: Json = [{"type": "ExtensionRef", "extensionRef": reference}]
    matches: Json = [{"path": {"type": "Exact", "value": "/tea"}}]
    by_filter = route("b", parents=[parent("g", "http")], rules=[rule(backend(), matches=matches, filters=filters)])
    found = attachments(web("a", "/tea"), by_filter, profile=named)
    assert [one.state for one in found] == ["attached", "attached"]
    found = attachments(web("a", "/tea"), by_filter, to=(), profile=named)
    assert [one.state for one in found] == ["target overlaps"]


HOSTILE: Final[list[Json]] = [
    None,
    7,
    "x",
    [],
    [None, 7, "x", []],
    [{"matches": 7}],
    [{"matches": [7, None, "x", []]}],
    [{"matches": [{"path": 7}]}],
    [{"matches": [{"path": {"value": 7}}]}],
    [{"matches": [{"method": 7}]}],
    [{"matches": [{"method": {"service": 7, "method": ["x"]}}]}],
]


@pytest.mark.parametrize("kind", ["HTTPRoute", "GRPCRoute"])
@pytest.mark.parametrize("rules", HOSTILE, ids=str)
def test_rules_of_another_shape(rules: Json, kind: str) -> None:
    """Share what is left of them, or nothing; nothing raises."""
    names: list[Json] = [None, 7, [7, {}]]
    for hostnames in names:
        spec: Json = {"parentRefs": [parent("g", "http")], "rules": rules, "hostnames": hostnames}
        routes = [resource(kind, name, spec) for name in "ab"]
        (found,) = attachments(*routes, to=[target("a", kind)])
        assert found.state in {"attached", "target overlaps"}


def test_a_listener_without_a_port() -> None:
    """No API server lets it in; it has none that could be named."""
    entry: Json = {"name": "http", "protocol": "HTTP"}
    bare = resource("Gateway", "bare", {"gatewayClassName": "public", "listeners": [entry]})
    (found,) = attachments(bare, web("a", "/tea", to="bare"), web("b", "/tea", to="bare"))
    assert found.message.endswith("both take requests for /tea on Gateway default/bare")
