"""Whose objects: the controller of a Gateway and of what hangs on it, and what a path belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import Topology
from kubectl_policy.model import Gap
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.topology.controllers import is_managed, is_path_managed
from tests.build import (
    backend,
    gateway,
    gateway_class,
    index,
    listener_set,
    namespace,
    node,
    parent,
    ref,
    resource,
    route,
    rule,
    service,
    service_parent,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.model import Json, NodeRef, ObjectRef, Resource

OURS: Final = frozenset({"example.com/gateway"})
THEIRS: Final = gateway_class("theirs", "example.org/gateway")


def topology(*objects: Resource, complete: bool = True, gaps: Sequence[Gap] = ()) -> Topology:
    """The hierarchy of these objects."""
    return Topology(index(*objects, complete=complete, gaps=gaps))


class TestControllerOf:
    """The controller that a class names; empty where there is none, None where nobody knows."""

    @pytest.mark.parametrize(
        "obj", [ref("GatewayClass", "public"), ref("Gateway", "g"), ref("ListenerSet", "ls")], ids=str
    )
    def test_what_is_missing_has_none(self, obj: ObjectRef) -> None:
        """In a complete world; in an open one nobody knows."""
        assert topology().gateways.controller_of(obj) == ""
        assert topology(complete=False).gateways.controller_of(obj) is None

    def test_a_listener_set_that_names_no_gateway(self) -> None:
        """Belongs to nobody."""
        world = topology(gateway_class(), resource("ListenerSet", "ls", {"parentRef": {"kind": "Gateway"}}))
        assert world.gateways.controller_of(ref("ListenerSet", "ls")) == ""

    @pytest.mark.parametrize("spec", [None, 7, {}, {"controllerName": None}, {"controllerName": ["x"]}], ids=str)
    def test_a_class_of_another_shape_names_none(self, spec: dict[str, str] | None) -> None:
        """Whatever stands there."""
        world = topology(resource("GatewayClass", "public", spec), gateway("g"))
        assert world.gateways.controller_of(ref("Gateway", "g")) == ""

    @pytest.mark.parametrize("spec", [None, 7, {}, {"gatewayClassName": 7}], ids=str)
    def test_a_gateway_without_a_class(self, spec: dict[str, int] | None) -> None:
        """Belongs to nobody, whatever classes there are."""
        world = topology(gateway_class(), resource("Gateway", "g", spec))
        assert world.gateways.controller_of(ref("Gateway", "g")) == ""

    def test_a_class_that_is_missing_or_unknown(self) -> None:
        """The Gateway is there; its class was looked for, or was not."""
        assert topology(gateway("g")).gateways.controller_of(ref("Gateway", "g")) == ""
        assert topology(gateway("g"), complete=False).gateways.controller_of(ref("Gateway", "g")) is None
        gaps = [Gap("GatewayClass", "", "forbidden")]
        assert topology(gateway("g"), gaps=gaps).gateways.controller_of(ref("Gateway", "g")) is None

    def test_by_the_class_of_the_gateway(self) -> None:
        """Of a ListenerSet, by the Gateway that it names, whether or not that admits it."""
        world = topology(
            gateway_class(),
            THEIRS,
            gateway("g"),
            gateway("h", class_name="theirs"),
            listener_set("ls", parent="h"),
            listener_set("xls", group="gateway.networking.x-k8s.io"),
        )
        found = [
            world.gateways.controller_of(obj)
            for obj in (
                ref("GatewayClass", "theirs"),
                ref("Gateway", "g"),
                ref("Gateway", "h"),
                ref("ListenerSet", "ls"),
                ref("XListenerSet", "xls", group="gateway.networking.x-k8s.io"),
            )
        ]
        assert found == [
            "example.org/gateway",
            "example.com/gateway",
            "example.org/gateway",
            "example.org/gateway",
            "example.com/gateway",
        ]


class TestManaged:
    """Whether one of the controllers acts on an object."""

    def test_not_what_another_one_manages(self) -> None:
        """Nor what nobody manages."""
        world = topology(THEIRS, gateway("g", class_name="theirs"), gateway("lost", class_name="missing"))
        for obj in (ref("GatewayClass", "theirs"), ref("Gateway", "g"), ref("Gateway", "lost")):
            assert is_managed(world, obj, OURS) is False

    def test_without_controllers_everything_is(self) -> None:
        """A kind for every controller."""
        assert is_managed(topology(), ref("Gateway", "ghost"), frozenset()) is True

    def test_what_one_of_ours_manages(self) -> None:
        """Any of them."""
        world = topology(gateway_class(), gateway("g"))
        assert is_managed(world, ref("Gateway", "g"), OURS | {"x.com/y"}) is True

    def test_nobody_knows(self) -> None:
        """A Gateway whose class was not read."""
        assert is_managed(topology(gateway("g"), complete=False), ref("Gateway", "g"), OURS) is None

    def test_what_belongs_to_no_gateway_cannot_be_told_apart(self) -> None:
        """Services, Namespaces and other objects."""
        world = topology(THEIRS, service("s"))
        for obj in (ref("Service", "s", group=""), ref("Namespace", "n", group=""), ref("Other", "o", group="x.com")):
            assert is_managed(world, obj, OURS) is True


class TestRoutes:
    """A route is acted on if one of its parents is."""

    world = (gateway_class(), THEIRS, gateway("g"), gateway("h", class_name="theirs"), listener_set("ls"))

    @pytest.mark.parametrize(
        ("parents", "expected"),
        [
            pytest.param([], False, id="none at all"),
            pytest.param([service_parent()], False, id="a Service: the mesh is another matter"),
            pytest.param([parent("h")], False, id="theirs"),
            pytest.param([parent("ghost")], False, id="a Gateway that does not exist"),
            pytest.param([{"name": 7}, {}], False, id="unreadable"),
            pytest.param([parent("h"), parent("g")], True, id="one of two"),
            pytest.param([parent("g", "ghost")], True, id="ours, at a section that it has not"),
            pytest.param([parent("ls", kind="ListenerSet")], True, id="a ListenerSet of ours"),
        ],
    )
    def test_by_its_parents(self, parents: list[dict[str, Json]], expected: bool) -> None:  # noqa: FBT001
        """Whether or not it is attached there."""
        made = resource("HTTPRoute", "r", {"parentRefs": parents})
        assert is_managed(topology(*self.world, made), made.ref, OURS) is expected

    def test_one_that_is_not_known(self) -> None:
        """May be ours; if another one is, nothing is in doubt."""
        gaps = [Gap("", "far", "forbidden")]
        for far in (parent("far", namespace="far"), parent("far", kind="ListenerSet", namespace="far")):
            for parents, expected in (([far], None), ([parent("h"), far], None), ([far, parent("g")], True)):
                found = route("r", parents=parents)
                assert is_managed(topology(*self.world, found, gaps=gaps), found.ref, OURS) is expected


class TestControlled:
    """Whether one of the controllers acts on what is on a path."""

    mesh = (
        namespace("default"),
        service("s"),
        service("t"),
        route("m", parents=[service_parent("s")], rules=[rule(backend("s")), rule(backend("t"))]),
    )

    @staticmethod
    def paths(world: Topology, *ends: NodeRef) -> list[bool]:
        """Of each path to the ends whether it is controlled by ours."""
        return [is_path_managed(world, path, OURS) for end in ends for path in world.paths(end)]

    def test_not_by_way_of_their_gateway(self) -> None:
        """A route of both: one path of two, down to the port."""
        found = route("r", parents=[parent("g"), parent("h")])
        world = topology(*TestRoutes.world, found, service("s"), namespace("default"))
        for end in (node("HTTPRoute", "r"), node("Service", "s", "8080", group="")):
            assert [
                (node("Gateway", "g") in path, is_path_managed(world, path, OURS)) for path in world.paths(end)
            ] == [
                (True, True),
                (False, False),
            ]
        assert {is_path_managed(world, path, frozenset()) for path in world.paths(node("HTTPRoute", "r"))} == {True}

    def test_not_in_the_mesh(self) -> None:
        """Wherever a route leads from a Service, even to the same one; the Service itself is not the mesh."""
        world = topology(*self.mesh)
        ends = (node("HTTPRoute", "m"), node("Service", "s", "8080", group=""), node("Service", "t", group=""))
        assert self.paths(world, *ends) == [False] * 3
        assert self.paths(world, node("Service", "s", group="")) == [True, False]
        assert [is_path_managed(world, path, frozenset()) for path in world.paths(ends[0])] == [True]

    def test_what_belongs_to_no_gateway(self) -> None:
        """A route without parents, a Service alone, a Namespace, a GatewayClass without Gateways: it may be ours."""
        alone = route("alone", parents=[])
        world = topology(namespace("default"), namespace("empty"), gateway_class(), alone, service("s"), service("t"))
        ends = (
            node("HTTPRoute", "alone", "rule[0]"),
            node("Service", "t", "8080", group=""),
            node("Namespace", "empty", group=""),
            node("GatewayClass", "public"),
        )
        assert self.paths(world, *ends) == [True] * 4

    def test_a_gateway_of_which_nothing_is_known(self) -> None:
        """It may be ours."""
        world = topology(gateway("g"), namespace("default"), complete=False)
        assert self.paths(world, node("Gateway", "g", "http")) == [True]


def test_a_route_below_a_route_is_managed_where_routes_delegate() -> None:
    """The Gateways of the route above count if their controllers delegate, or if nobody knows who these are."""
    below = backend("child", None, kind="HTTPRoute", group=GATEWAY_API)
    above = route("above", parents=[parent("delegating"), parent("plain")], rules=[rule(below)])
    gateways = [gateway("delegating", class_name="kgateway"), gateway("plain", class_name="plain")]
    child = route("child", parents=[])
    delegating = gateway_class("kgateway", "kgateway.dev/kgateway")
    known = topology(delegating, gateway_class("plain", "example.com/gateway"), *gateways, above, child)
    assert is_managed(known, child.ref, frozenset({"kgateway.dev/kgateway"})) is True
    assert is_managed(known, child.ref, OURS) is False
    assert is_managed(known, above.ref, OURS) is True
    gap = Gap("GatewayClass", "", "forbidden")
    open_world = topology(delegating, *gateways, above, child, complete=False, gaps=[gap])
    assert is_managed(open_world, child.ref, OURS) is None
