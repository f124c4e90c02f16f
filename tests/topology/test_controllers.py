"""Controllers that manage an object, and policy kinds that the parameters of Gateways enable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import Topology
from kubectl_policy.model import Gap, GroupKind, Json, NodeRef, ObjectRef, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles.needs import RequiredParameter
from kubectl_policy.topology.controllers import (
    is_enabled,
    is_managed,
    is_path_managed,
    parameters_of,
    unread_parameters,
    why_disabled,
)
from tests.build import (
    backend,
    crd,
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

OURS: Final = frozenset({"example.com/gateway"})
THEIRS: Final = gateway_class("theirs", "example.org/gateway")


def topology(*objects: Resource, complete: bool = True, gaps: Sequence[Gap] = ()) -> Topology:
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
    def test_not_what_another_one_manages(self) -> None:
        """Nor what nobody manages."""
        world = topology(THEIRS, gateway("g", class_name="theirs"), gateway("lost", class_name="missing"))
        for obj in (ref("GatewayClass", "theirs"), ref("Gateway", "g"), ref("Gateway", "lost")):
            assert is_managed(world, obj, OURS) is False

    def test_without_controllers_everything_is(self) -> None:
        assert is_managed(topology(), ref("Gateway", "ghost"), frozenset()) is True

    def test_nobody_knows(self) -> None:
        assert is_managed(topology(gateway("g"), complete=False), ref("Gateway", "g"), OURS) is None

    def test_what_belongs_to_no_gateway_cannot_be_told_apart(self) -> None:
        world = topology(THEIRS, service("s"))
        for obj in (ref("Service", "s", group=""), ref("Namespace", "n", group=""), ref("Other", "o", group="x.com")):
            assert is_managed(world, obj, OURS) is True


class TestRoutes:
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
    mesh = (
        namespace("default"),
        service("s"),
        service("t"),
        route("m", parents=[service_parent("s")], rules=[rule(backend("s")), rule(backend("t"))]),
    )

    @staticmethod
    def paths(world: Topology, *ends: NodeRef) -> list[bool]:
        return [is_path_managed(world, path, OURS) for end in ends for path in world.paths(end)]

    def test_not_by_way_of_their_gateway(self) -> None:
        """A route of both: one path of two, down to the port."""
        found = route("r", parents=[parent("g"), parent("h")])
        world = topology(*TestRoutes.world, found, service("s"), namespace("default"))
        for end in (node("HTTPRoute", "r"), node("Service", "s", "8080", group="")):
            assert [
                (node("Gateway", "g") in path, is_path_managed(world, path, OURS)) for path in world.paths(end)
            ] == [(True, True), (False, False)]
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


SETTINGS: Final = GroupKind("example.com", "Settings")
G: Final = ref("Gateway", "g")
ENABLING: Final = RequiredParameter(SETTINGS, "retries.enable")


def settings(name: str, enable: Json = None, *, namespace: str = "default", **spec: Json) -> Resource:
    """Parameters that switch retries on or off, or say nothing of it."""
    retries: dict[str, Json] = {} if enable is None else {"retries": {"enable": enable}}
    return resource("Settings", name, {**retries, **spec}, group="example.com", namespace=namespace)


def names(name: str, kind: str = "Settings", **fields: Json) -> dict[str, Json]:
    return {"group": "example.com", "kind": kind, "name": name, **fields}


def of_class(name: str = "of-class") -> Resource:
    """A class with parameters in the namespace `infra`."""
    return gateway_class(parametersRef=names(name, namespace="infra"))


def with_own(name: str = "own") -> Resource:
    return gateway("g", infrastructure={"parametersRef": names(name)})


def found(*objects: Resource, complete: bool = True, gaps: Sequence[Gap] = ()) -> Mapping[str, Json]:
    return parameters_of(topology(*objects, complete=complete, gaps=gaps), G, SETTINGS)


class TestWhatIsInForce:
    """Defaults of the class, "that can be overridden by a Gateway"."""

    def test_nothing_without_references(self) -> None:
        """Of neither the class nor the Gateway; other objects of the kind are nobody's."""
        assert found(gateway_class(), gateway("g"), settings("own", enable=True)) == {}
        assert found(gateway_class(), settings("own", enable=True)) == {}
        strange = gateway("g", infrastructure={"parametersRef": names("own", "Other")})
        assert found(gateway_class(), strange, settings("own", enable=True)) == {}

    @pytest.mark.parametrize("reference", [None, 7, "own", [], {}, {"kind": "Settings"}, names("")], ids=str)
    def test_nothing_where_a_reference_is_unreadable(self, reference: Json) -> None:
        """Whatever stands there, and in any world."""
        odd = gateway("g", infrastructure={"parametersRef": reference})
        for complete in (True, False):
            world = found(gateway_class(), odd, settings("own", enable=True), complete=complete)
            assert world == {}

    def test_those_of_the_class(self) -> None:
        there = settings("of-class", enable=True, namespace="infra")
        assert found(of_class(), gateway("g"), there) == {"retries": {"enable": True}}
        elsewhere = settings("of-class", enable=True)
        assert found(of_class(), gateway("g"), elsewhere) == {}

    def test_those_of_the_gateway(self) -> None:
        assert found(gateway_class(), with_own(), settings("own", a=1)) == {"a": 1}
        elsewhere = settings("own", a=1, namespace="infra")
        assert found(gateway_class(), with_own(), elsewhere) == {}

    def test_those_of_the_gateway_are_laid_over_those_of_the_class(self) -> None:
        """Maps field by field; anything else takes the other's place, of whatever type it is."""
        below = settings("of-class", namespace="infra", a={"x": 1, "y": 1, "z": {"deep": 1}}, b=[1], c=1, d={"e": 1})
        above = settings("own", a={"x": 2, "z": {"more": 2}}, b=[2], d=7)
        assert found(of_class(), with_own(), below, above) == {
            "a": {"x": 2, "y": 1, "z": {"deep": 1, "more": 2}},
            "b": [2],
            "c": 1,
            "d": 7,
        }

    def test_cluster_scoped_parameters(self) -> None:
        """Their definition says so; they are in no namespace."""
        defined = crd("Settings", cluster_scoped=True)
        wide = settings("own", a=1, namespace="")
        assert found(gateway_class(), with_own(), defined, wide) == {"a": 1}

    @pytest.mark.parametrize("spec", [None, 7, "x", [], {}], ids=str)
    def test_parameters_of_another_shape_say_nothing(self, spec: Json) -> None:
        odd = resource("Settings", "own", spec, group="example.com")
        assert found(gateway_class(), with_own(), odd) == {}


class TestWhatWasNotRead:
    """Unknown is not none."""

    def test_one_of_two(self) -> None:
        """The other one is in force, as far as anybody knows; so it is where one does not exist."""
        for complete in (True, False):
            below = settings("of-class", namespace="infra", a=1)
            assert found(of_class(), with_own(), below, complete=complete) == {"a": 1}
            above = settings("own", a=2)
            assert found(of_class(), with_own(), above, complete=complete) == {"a": 2}

    def test_a_gap(self) -> None:
        """In a world that is complete but for that."""
        for where, expected in (("infra", (settings("of-class", namespace="infra").ref,)), ("other", ())):
            world = topology(of_class(), gateway("g"), gaps=[Gap("Settings", where, "forbidden")])
            assert unread_parameters(world, G, ENABLING) == expected

    def test_what_it_is(self) -> None:
        """The class if that was not read, else its parameters, then those of the Gateway; nothing that was read."""
        both = topology(of_class(), with_own(), complete=False)
        wanted = (settings("of-class", namespace="infra").ref, settings("own").ref)
        assert unread_parameters(both, G, ENABLING) == wanted
        assert unread_parameters(topology(gateway("g"), complete=False), G, ENABLING) == (
            ref("GatewayClass", "public"),
        )
        assert unread_parameters(topology(complete=False), G, ENABLING) == (G,)
        read = (settings("of-class", namespace="infra"), settings("own"))
        assert unread_parameters(topology(of_class(), with_own(), *read, complete=False), G, ENABLING) == ()
        assert unread_parameters(topology(of_class(), with_own()), G, ENABLING) == ()

    def test_what_decides(self) -> None:
        """What the class says does not matter where the Gateway's own parameters say something."""
        for said in (True, False):
            world = topology(of_class(), with_own(), settings("own", enable=said), complete=False)
            assert unread_parameters(world, G, ENABLING) == ()
        silent = topology(of_class(), with_own(), settings("own", other=1), complete=False)
        assert unread_parameters(silent, G, ENABLING) == (settings("of-class", namespace="infra").ref,)


class TestSwitch:
    @pytest.mark.parametrize("value", [True, 1, "yes", {"mode": "all"}, [1]], ids=str)
    def test_on(self, value: Json) -> None:
        assert is_enabled(topology(gateway_class(), with_own(), settings("own", value)), G, ENABLING) is True

    @pytest.mark.parametrize("value", [None, False, "", {}, []], ids=str)
    def test_off(self, value: Json) -> None:
        """No value, or an empty one, for routes as for the Gateway itself."""
        world = topology(gateway_class(), with_own(), settings("own", value))
        assert is_enabled(world, G, ENABLING) is is_enabled(world, G, ENABLING, itself=True) is False

    def test_the_gateway_beats_its_class(self) -> None:
        for below, above in ((True, False), (False, True)):
            world = topology(
                of_class(), with_own(), settings("of-class", below, namespace="infra"), settings("own", above)
            )
            assert is_enabled(world, G, ENABLING) is above

    @pytest.mark.parametrize(
        ("without", "itself", "expected"),
        [("refused", False, True), ("refused", True, False), ("allowed", False, True), ("allowed", True, True)],
    )
    def test_without_parameters(self, without: str, itself: bool, expected: bool) -> None:  # noqa: FBT001
        """A policy on a route is let through; one on the Gateway itself as the profile says."""
        enabling = replace(ENABLING, without="allowed" if without == "allowed" else "refused")
        assert is_enabled(topology(gateway_class(), gateway("g")), G, enabling, itself=itself) is expected

    def test_unknown(self) -> None:
        """What was not read might decide: the only parameters, or those that are laid over others."""
        assert is_enabled(topology(of_class(), gateway("g"), complete=False), G, ENABLING) is None
        assert is_enabled(topology(gateway("g"), complete=False), G, ENABLING, itself=True) is None
        for said in (True, False):
            below = settings("of-class", said, namespace="infra")
            assert is_enabled(topology(of_class(), with_own(), below, complete=False), G, ENABLING) is None


class TestWords:
    @pytest.mark.parametrize(
        ("objects", "expected"),
        [
            ([gateway_class(), gateway("g")], "Gateway default/g has no Settings that sets spec.retries.enable"),
            ([gateway_class(), with_own(), settings("own")], "spec.retries.enable is not set in Settings default/own"),
            (
                [gateway_class(), with_own(), settings("own", "")],
                "spec.retries.enable is not set in Settings default/own",
            ),
            (
                [gateway_class(), with_own(), settings("own", enable=False)],
                "spec.retries.enable is false in Settings default/own",
            ),
            ([gateway_class(), with_own()], "spec.retries.enable is not set in Settings default/own"),
            (
                [
                    of_class(),
                    with_own(),
                    settings("of-class", enable=True, namespace="infra"),
                    settings("own", enable=False),
                ],
                "spec.retries.enable is false in Settings infra/of-class and Settings default/own",
            ),
        ],
    )
    def test_with_the_objects_and_the_field(self, objects: list[Resource], expected: str) -> None:
        """And the Gateway, whose own parameters come last, as they decide."""
        said = why_disabled(topology(*objects), G, ENABLING)
        assert said == (expected if expected.startswith("Gateway") else f"{expected} of Gateway default/g")
