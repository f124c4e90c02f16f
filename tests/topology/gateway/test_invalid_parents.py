"""Gateways and listeners that are not valid: why controllers ignore them, and what becomes of routes that name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import pytest

from kubectl_policy.model import Gap, Json, NodeRef, Problem, Resource
from kubectl_policy.profiles.controllers import GatewayProfile, RouteRefusal
from kubectl_policy.topology import Topology, attached_hostnames, gateway_conditions, route_parent_conditions
from kubectl_policy.topology.controllers import is_managed
from kubectl_policy.topology.gateway.handshake import INVALID_LISTENER
from tests.build import (
    allow,
    gateway,
    gateway_class,
    index,
    listener,
    listener_set,
    node,
    parent,
    ref,
    resource,
    route,
    service,
    service_parent,
)
from tests.fakes import Controllers

OURS: Final = "example.com/gateway"
STRICT: Final = GatewayProfile(invalid_parents="passedOver", address_types=frozenset({"IPAddress"}))
IGNORING: Final = Controllers({OURS: STRICT})
SERVING: Final = Controllers(others=GatewayProfile(address_types=frozenset({"IPAddress"})))
CLASSES: Final = (gateway_class("public", OURS), gateway_class("theirs", "example.org/gateway"))
NAMED_ADDRESS: Final[Json] = [{"type": "Hostname", "value": "a.org"}]
CERTIFICATE: Final = resource(
    "Secret", "cert", group="", stringData={"tls.crt": "-----BEGIN CERTIFICATE-----", "tls.key": "k"}
)
NO_MATCH: Final = "NoMatchingParent"


def tls(name: str = "tls", secret: str = "gone", port: int = 443, **fields: Json) -> dict[str, Json]:  # noqa: S107 - the name of an object
    """A listener with a certificate, which is not there unless another one is named."""
    return listener(name, "HTTPS", port, tls={"certificateRefs": [{"name": secret}]}, **fields)


def topology(
    *objects: Resource, profiles: Controllers = IGNORING, complete: bool = True, gaps: Sequence[Gap] = ()
) -> Topology:
    """The hierarchy of these objects, of two classes and of a certificate, where ours ignores what is invalid."""
    world = index(*CLASSES, CERTIFICATE, service(), *objects, complete=complete, gaps=gaps)
    return Topology(world, profiles=profiles)


def reasons(found: Topology, *nodes: NodeRef) -> list[str]:
    """The reason for which each node is ignored; empty if it is not."""
    ignored = (found.relations.why_ignored(each) for each in nodes)
    return [each.reason if each else "" for each in ignored]


G: Final = node("Gateway", "g")
TLS: Final = node("Gateway", "g", "tls")
HTTP: Final = node("Gateway", "g", "http")
LS: Final = node("ListenerSet", "ls")


class TestGateway:
    broken = gateway("g", listener(), addresses=NAMED_ADDRESS)

    def test_with_all_that_it_has(self) -> None:
        """Itself, its listeners, and ListenerSets that name it."""
        found = topology(self.broken, listener_set("ls"))
        message = "Gateway default/g is not valid: address type Hostname is not supported"
        assert found.relations.why_ignored(G) == Problem(message=message, reason=NO_MATCH)
        assert reasons(found, HTTP, LS, node("ListenerSet", "ls", "http")) == [NO_MATCH] * 3

    def test_for_want_of_parameters(self) -> None:
        reference: Json = {"group": "example.com", "kind": "Settings", "name": "s"}
        wanting = gateway("g", infrastructure={"parametersRef": reference})
        assert reasons(topology(wanting), G, HTTP) == [NO_MATCH] * 2
        assert reasons(topology(wanting, complete=False), G, HTTP) == [""] * 2
        gaps = [Gap("Settings", "default", "forbidden")]
        assert reasons(topology(wanting, gaps=gaps), G, HTTP) == [""] * 2

    def test_where_nobody_passes_it_over(self) -> None:
        """As Gateway API has it, for another controller, and where the controller is not known."""
        assert reasons(topology(self.broken, profiles=SERVING), G, HTTP) == [""] * 2
        theirs = gateway("g", listener(), class_name="theirs", addresses=NAMED_ADDRESS)
        assert reasons(topology(theirs), G, HTTP) == [""] * 2
        unread = gateway("g", listener(), class_name="unread", addresses=NAMED_ADDRESS)
        assert reasons(topology(unread, complete=False), G, HTTP) == [""] * 2

    def test_a_valid_one(self) -> None:
        assert reasons(topology(gateway("g"), listener_set("ls")), G, HTTP, LS) == [""] * 3

    def test_what_is_no_gateway(self) -> None:
        """A route, a Service, a ListenerSet that names none, and what was not read."""
        loose = resource("ListenerSet", "ls", {"parentRef": {}})
        found = topology(loose, route("r"), complete=False)
        nodes = (LS, node("HTTPRoute", "r"), node("HTTPRoute", "r", "rule[0]"), node("Service", "s", group=""), G, HTTP)
        assert reasons(found, *nodes) == [""] * len(nodes)


class TestListener:
    """A listener that is not accepted, or whose references do not resolve."""

    def test_for_want_of_a_certificate(self) -> None:
        """The listener alone; the Gateway serves the others, and none if there are none."""
        found = topology(gateway("g", listener(), tls()))
        message = "listener tls of Gateway default/g is not valid: Secret default/gone does not exist"
        assert found.relations.why_ignored(TLS) == Problem(message=message, reason=INVALID_LISTENER)
        assert reasons(found, G, HTTP) == [""] * 2
        assert reasons(topology(gateway("g", tls())), G, TLS) == ["", INVALID_LISTENER]

    def test_for_a_protocol_or_a_kind_that_it_cannot_serve(self) -> None:
        """Nobody has it."""
        strange = listener("http", "SMTP", 25)
        assert reasons(topology(gateway("g", strange)), HTTP) == [INVALID_LISTENER]
        kinds = listener("http", allowedRoutes=allow(kinds=["TCPRoute"]))
        assert reasons(topology(gateway("g", kinds)), HTTP) == [INVALID_LISTENER]

    def test_for_a_conflict(self) -> None:
        """Both of two listeners of one Gateway with one hostname and port."""
        found = topology(gateway("g", listener("a"), listener("b")))
        nodes = (node("Gateway", "g", "a"), node("Gateway", "g", "b"))
        assert reasons(found, *nodes) == [INVALID_LISTENER] * 2

    def test_of_a_listener_set(self) -> None:
        at = node("ListenerSet", "ls", "tls")
        found = topology(gateway("g"), listener_set("ls", tls(), listener("more")))
        assert reasons(found, LS, at, node("ListenerSet", "ls", "more")) == ["", INVALID_LISTENER, ""]
        theirs = topology(gateway("g", class_name="theirs"), listener_set("ls", tls()))
        assert reasons(theirs, at) == [""]

    def test_a_certificate_that_is_there(self) -> None:
        assert reasons(topology(gateway("g", tls(secret="cert"))), G, TLS) == [""] * 2  # noqa: S106 - a name

    def test_a_certificate_that_was_not_read(self) -> None:
        """It may be there, and a grant may let the Gateway have it."""
        unread = gateway("g", tls(), namespace="far")
        assert reasons(topology(unread, complete=False), node("Gateway", "g", "tls", "far")) == [""]
        gaps = [Gap("Secret", "default", "forbidden")]
        assert reasons(topology(gateway("g", tls()), gaps=gaps), TLS) == [""]
        reference: Json = {"certificateRefs": [{"name": "cert", "namespace": "far"}]}
        away = gateway("g", listener("tls", "HTTPS", 443, tls=reference))
        assert reasons(topology(away), TLS) == [INVALID_LISTENER]
        assert reasons(topology(away, gaps=[Gap("ReferenceGrant", "far", "forbidden")]), TLS) == [""]

    def test_one_that_does_not_exist(self) -> None:
        assert reasons(topology(gateway("g")), node("Gateway", "g", "ghost")) == [""]


class TestAccepted:
    @staticmethod
    def accepted(
        *entries: Mapping[str, Json], profiles: Controllers = IGNORING, addresses: Json = None
    ) -> tuple[str, str, str]:
        found = gateway_conditions(
            topology(gateway("g", *entries, addresses=addresses), profiles=profiles).gateways, G.object
        )
        return found[0].status, found[0].reason, found[0].message

    def test_references_of_listeners_count(self) -> None:
        """Where controllers ignore what is invalid; elsewhere a missing certificate does not matter."""
        remark = ("ListenersNotValid", "not valid: listener tls")
        assert self.accepted(tls()) == ("False", *remark)
        assert self.accepted(tls(), listener()) == ("True", *remark)
        assert self.accepted(tls(), profiles=SERVING) == ("True", "Accepted", "")

    def test_addresses_are_of_types_that_the_controller_takes(self) -> None:
        """Without a type it is an IPAddress; by default those of Gateway API are taken."""
        untyped: Json = [{"value": "10.0.0.1"}]
        assert self.accepted(listener(), addresses=untyped)[0] == "True"
        refused = ("False", "UnsupportedAddress", "address type Hostname is not supported")
        assert self.accepted(listener(), addresses=NAMED_ADDRESS) == refused
        assert self.accepted(listener(), profiles=SERVING, addresses=NAMED_ADDRESS) == refused
        assert self.accepted(listener(), profiles=Controllers(), addresses=NAMED_ADDRESS)[0] == "True"


def bindings(found: Topology, name: str = "r") -> list[tuple[str, str, str]]:
    """Listener, state and reason of what comes of a route's parentRefs."""
    return [
        (binding.listener.section if binding.listener else "", binding.state, binding.reason)
        for binding in found.bindings(ref("HTTPRoute", name))
    ]


class TestBindings:
    def test_a_gateway(self) -> None:
        """Whether or not they name a listener of it; what was refused, or in doubt, is refused for this now."""
        for section in ("", "http", "ghost"):
            made = route("r", parents=[parent("g", section)])
            ((_, state, reason),) = bindings(topology(TestGateway.broken, made))
            assert (state, reason) == ("refused", NO_MATCH)
        selecting = listener(allowedRoutes=allow("Selector", {"matchLabels": {"a": "b"}}))
        doubtful = gateway("g", selecting, addresses=NAMED_ADDRESS)
        made = route("r", parents=[parent("g")])
        assert bindings(topology(doubtful, made, profiles=SERVING, complete=False)) == [("http", "unknown", "")]
        assert bindings(topology(doubtful, made, complete=False)) == [("http", "refused", NO_MATCH)]

    def test_a_listener(self) -> None:
        """It takes no routes; the others do, and what it would not have taken is refused for that."""
        world = gateway("g", listener(), tls(hostname="a.org"))
        assert bindings(topology(world, route("r"))) == [("http", "attached", ""), ("tls", "refused", INVALID_LISTENER)]
        elsewhere = route("r", parents=[parent("g", "tls")], hostnames=["b.org"])
        assert bindings(topology(world, elsewhere)) == [("tls", "refused", "NoMatchingListenerHostname")]
        assert bindings(topology(world, route("r"), profiles=SERVING))[1] == ("tls", "attached", "")

    def test_a_listener_that_may_select_the_route(self) -> None:
        """Stays a doubt: nobody knows whether it would take the route."""
        selecting = tls(allowedRoutes=allow("Selector", {"matchLabels": {"a": "b"}}))
        found = topology(gateway("g", selecting), route("r"), complete=True, gaps=[Gap("Namespace", "", "forbidden")])
        assert bindings(found) == [("tls", "unknown", "")]

    def test_a_conflicted_listener(self) -> None:
        world = gateway("g", listener("a"), listener("b"))
        for profiles, reason in ((IGNORING, INVALID_LISTENER), (SERVING, "HostnameConflict")):
            found = bindings(topology(world, route("r"), profiles=profiles))
            assert found == [("a", "refused", reason), ("b", "refused", reason)]

    def test_hostnames(self) -> None:
        """A route has none at such a listener, though it is counted there."""
        found = topology(gateway("g", tls(hostname="a.org")), route("r"))
        assert attached_hostnames(found, TLS, ref("HTTPRoute", "r")) == ()
        assert attached_hostnames(found, TLS, ref("HTTPRoute", "r"), counted=True) == ("a.org",)


def accepted(found: Topology, name: str = "r") -> dict[str, str]:
    """What a route reports as Accepted, by the parents for which it has a status."""
    conditions = route_parent_conditions(found, ref("HTTPRoute", name))
    return {str(place): f"{first.status} {first.reason}" for place, (first, _) in conditions}


class TestRouteStatus:
    def test_a_gateway_without_a_listener_of_it(self) -> None:
        """Does not exist for them; a listener is reported as one that nobody has."""
        made = route("r", parents=[parent("g"), parent("g", "http"), parent("h")])
        world = (TestGateway.broken, gateway("h"), made)
        assert accepted(topology(*world)) == {
            "Gateway default/g#http": f"False {NO_MATCH}",
            "Gateway default/h": "True Accepted",
        }
        assert list(accepted(topology(*world, profiles=SERVING))) == [
            "Gateway default/g",
            "Gateway default/g#http",
            "Gateway default/h",
        ]

    def test_a_gateway_that_may_be_valid(self) -> None:
        reference: Json = {"group": "example.com", "kind": "Settings", "name": "s"}
        unknown = gateway("g", infrastructure={"parametersRef": reference})
        assert accepted(topology(unknown, route("r"), complete=False)) == {"Gateway default/g": "True Accepted"}
        assert accepted(topology(unknown, route("r"))) == {}

    def test_an_invalid_listener_is_reported_at_all_parents(self) -> None:
        """Of those controllers: also where another listener takes the route, with the words of the first."""
        made = route("r", parents=[parent("g", "tls"), parent("g", "http"), parent("h"), parent("far")])
        world = (gateway("g", listener(), tls()), gateway("h"), gateway("far", class_name="theirs"), made)
        assert accepted(topology(*world)) == {
            "Gateway default/g#tls": f"False {INVALID_LISTENER}",
            "Gateway default/g#http": f"False {INVALID_LISTENER}",
            "Gateway default/h": f"False {INVALID_LISTENER}",
            "Gateway default/far": "True Accepted",
        }
        conditions = dict(route_parent_conditions(topology(*world), made.ref))
        message = "listener tls of Gateway default/g is not valid: Secret default/gone does not exist"
        assert conditions[node("Gateway", "h")][0].message == message

    def test_an_invalid_listener_that_would_not_take_the_route(self) -> None:
        """Is reported nowhere: it refuses for another reason."""
        made = route("r", parents=[parent("g")], hostnames=["b.org"])
        assert accepted(topology(gateway("g", listener(), tls(hostname="a.org")), made)) == {
            "Gateway default/g": "True Accepted"
        }

    def test_a_parent_that_refuses_keeps_its_own_reason(self) -> None:
        made = route("r", parents=[parent("g"), parent("h", "ghost")])
        assert accepted(topology(gateway("g", tls()), gateway("h"), made)) == {
            "Gateway default/g": f"False {INVALID_LISTENER}",
            "Gateway default/h#ghost": f"False {NO_MATCH}",
        }

    def test_at_a_listener_set(self) -> None:
        made = route("r", parents=[parent("ls", kind="ListenerSet")])
        open_to_all: Json = {"namespaces": {"from": "All"}}
        broken = gateway("g", listener(), allowedListeners=open_to_all, addresses=NAMED_ADDRESS)
        assert accepted(topology(broken, listener_set("ls"), made)) == {}
        faulty = (gateway("g", allowedListeners=open_to_all), listener_set("ls", tls(), listener("more", port=81)))
        assert accepted(topology(*faulty, made)) == {"ListenerSet default/ls": f"False {INVALID_LISTENER}"}
        assert accepted(topology(*faulty, made, profiles=SERVING)) == {"ListenerSet default/ls": "True Accepted"}


class TestRefusals:
    world = gateway(
        "g", listener("apart", allowedRoutes=allow(kinds=["GRPCRoute"])), listener("named", port=81, hostname="a.org")
    )
    made = route("r", hostnames=["b.org"])

    def reported(self, *refusals: RouteRefusal) -> str:
        """What is reported of a route that one listener refuses for its kind, another one for its hostnames."""
        profiles = Controllers(others=GatewayProfile(refusals=refusals))
        (found,) = accepted(topology(self.world, self.made, profiles=profiles)).values()
        return found.removeprefix("False ")

    @pytest.mark.parametrize(
        ("refusals", "expected"),
        [
            ((), "NoMatchingListenerHostname"),
            (("NotAllowedByListeners", "NoMatchingListenerHostname", NO_MATCH), "NotAllowedByListeners"),
            (("NoMatchingListenerHostname", "NotAllowedByListeners"), "NoMatchingListenerHostname"),
            ((NO_MATCH, "NotAllowedByListeners"), "NotAllowedByListeners"),
            (("NotAllowedByListeners",), "NotAllowedByListeners"),
            ((NO_MATCH,), "NoMatchingListenerHostname"),
        ],
    )
    def test_the_first_that_holds(self, refusals: tuple[RouteRefusal, ...], expected: str) -> None:
        """As the controller has it; the nearest miss where it says nothing, or of those that it does not name."""
        assert self.reported(*refusals) == expected


class TestManaged:
    def test_a_route_of_a_gateway_that_is_not_valid(self) -> None:
        """Only where it names a listener, or has another parent of theirs."""
        for parents, expected in (
            ([parent("g")], False),
            ([parent("g", "ghost")], True),
            ([parent("g"), parent("h")], True),
            ([parent("g"), parent("far")], False),
            ([parent("g"), service_parent()], False),
            ([parent("g", namespace="unread"), parent("g")], None),
        ):
            made = route("r", parents=parents)
            gaps = [Gap("", "unread", "forbidden")]
            found = topology(TestGateway.broken, gateway("h"), gateway("far", class_name="theirs"), made, gaps=gaps)
            assert is_managed(found, made.ref, {OURS}) is expected

    def test_a_route_of_an_invalid_listener(self) -> None:
        made = route("r", parents=[parent("g")])
        assert is_managed(topology(gateway("g", tls()), made), made.ref, {OURS}) is True
