"""The parameters of Gateways: those of the class with those of the Gateway laid over them, and what they switch on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import Topology
from kubectl_policy.model import Gap, GroupKind
from kubectl_policy.profiles.needs import RequiredParameter
from kubectl_policy.topology.controllers import Parameters, is_enabled, parameters_of, unread_parameters, why_disabled
from tests.build import crd, gateway, gateway_class, index, ref, resource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.model import Json, Resource

SETTINGS: Final = GroupKind("example.com", "Settings")
G: Final = ref("Gateway", "g")
ENABLING: Final = RequiredParameter(SETTINGS, "retries.enable")


def settings(name: str, enable: Json = None, *, namespace: str = "default", **spec: Json) -> Resource:
    """Parameters that switch retries on or off, or say nothing of it."""
    retries: dict[str, Json] = {} if enable is None else {"retries": {"enable": enable}}
    return resource("Settings", name, {**retries, **spec}, group="example.com", namespace=namespace)


def names(name: str, kind: str = "Settings", **fields: Json) -> dict[str, Json]:
    """A reference to parameters."""
    return {"group": "example.com", "kind": kind, "name": name, **fields}


def of_class(name: str = "of-class") -> Resource:
    """A class with parameters in the namespace `infra`."""
    return gateway_class(parametersRef=names(name, namespace="infra"))


def with_own(name: str = "own") -> Resource:
    """The Gateway, with parameters of its own."""
    return gateway("g", infrastructure={"parametersRef": names(name)})


def topology(*objects: Resource, complete: bool = True, gaps: Sequence[Gap] = ()) -> Topology:
    """The hierarchy of these objects."""
    return Topology(index(*objects, complete=complete, gaps=gaps))


def found(*objects: Resource, complete: bool = True, gaps: Sequence[Gap] = ()) -> Parameters:
    """What is in force of the parameters of the Gateway."""
    return parameters_of(topology(*objects, complete=complete, gaps=gaps), G, SETTINGS)


class TestWhatIsInForce:
    """Defaults of the class, "that can be overridden by a Gateway"."""

    def test_nothing_without_references(self) -> None:
        """Of neither the class nor the Gateway; other objects of the kind are nobody's."""
        assert found(gateway_class(), gateway("g"), settings("own", enable=True)) == Parameters({}, present=False)
        assert found(gateway_class(), settings("own", enable=True)) == Parameters({}, present=False)

    def test_nothing_of_another_kind(self) -> None:
        """A ConfigMap may be what another implementation takes."""
        strange = gateway("g", infrastructure={"parametersRef": names("own", "Other")})
        assert found(gateway_class(), strange, settings("own", enable=True)) == Parameters({}, present=False)

    @pytest.mark.parametrize("reference", [None, 7, "own", [], {}, {"kind": "Settings"}, names("")], ids=str)
    def test_nothing_where_a_reference_is_unreadable(self, reference: Json) -> None:
        """Whatever stands there, and in any world."""
        odd = gateway("g", infrastructure={"parametersRef": reference})
        for complete in (True, False):
            world = found(gateway_class(), odd, settings("own", enable=True), complete=complete)
            assert world == Parameters({}, present=False)

    def test_those_of_the_class(self) -> None:
        """In the namespace that the class names, no other."""
        there = settings("of-class", enable=True, namespace="infra")
        assert found(of_class(), gateway("g"), there) == Parameters({"retries": {"enable": True}}, present=True)
        elsewhere = settings("of-class", enable=True)
        assert found(of_class(), gateway("g"), elsewhere) == Parameters({}, present=False)

    def test_those_of_the_gateway(self) -> None:
        """In its own namespace."""
        assert found(gateway_class(), with_own(), settings("own", a=1)) == Parameters({"a": 1}, present=True)
        elsewhere = settings("own", a=1, namespace="infra")
        assert found(gateway_class(), with_own(), elsewhere) == Parameters({}, present=False)

    def test_those_of_the_gateway_are_laid_over_those_of_the_class(self) -> None:
        """Maps field by field; anything else takes the other's place, of whatever type it is."""
        below = settings("of-class", namespace="infra", a={"x": 1, "y": 1, "z": {"deep": 1}}, b=[1], c=1, d={"e": 1})
        above = settings("own", a={"x": 2, "z": {"more": 2}}, b=[2], d=7)
        assert found(of_class(), with_own(), below, above) == Parameters(
            {"a": {"x": 2, "y": 1, "z": {"deep": 1, "more": 2}}, "b": [2], "c": 1, "d": 7}, present=True
        )

    def test_one_that_does_not_exist_leaves_the_other(self) -> None:
        """Whichever it is."""
        below = settings("of-class", namespace="infra", a=1)
        assert found(of_class(), with_own(), below) == Parameters({"a": 1}, present=True)
        assert found(of_class(), with_own(), settings("own", a=2)) == Parameters({"a": 2}, present=True)

    def test_cluster_scoped_parameters(self) -> None:
        """Their definition says so; they are in no namespace."""
        defined = crd("Settings", cluster_scoped=True)
        wide = settings("own", a=1, namespace="")
        assert found(gateway_class(), with_own(), defined, wide) == Parameters({"a": 1}, present=True)

    @pytest.mark.parametrize("spec", [None, 7, "x", [], {}], ids=str)
    def test_parameters_of_another_shape_say_nothing(self, spec: Json) -> None:
        """They are there all the same."""
        odd = resource("Settings", "own", spec, group="example.com")
        assert found(gateway_class(), with_own(), odd) == Parameters({}, present=True)


class TestWhatWasNotRead:
    """Unknown is not none."""

    def test_an_open_world(self) -> None:
        """Parameters that are named and not in the input; the class, which may name some; the Gateway, which may."""
        assert found(of_class(), gateway("g"), complete=False).present is None
        assert found(gateway_class(), with_own(), complete=False).present is None
        assert found(gateway("g"), complete=False).present is None
        assert found(gateway_class(), complete=False).present is None
        assert found(gateway_class(), gateway("g"), complete=False).present is False

    def test_one_of_two(self) -> None:
        """What is known of the other one is in force as far as anybody knows."""
        below = settings("of-class", namespace="infra", a=1)
        assert found(of_class(), with_own(), below, complete=False) == Parameters({"a": 1}, present=None)
        above = settings("own", a=2)
        assert found(of_class(), with_own(), above, complete=False) == Parameters({"a": 2}, present=None)

    def test_a_gap(self) -> None:
        """In a world that is complete but for that."""
        gaps = [Gap("Settings", "infra", "forbidden")]
        assert found(of_class(), gateway("g"), gaps=gaps).present is None
        assert found(of_class(), gateway("g"), gaps=[Gap("Settings", "other", "forbidden")]).present is False

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
    """Whether the parameters of a Gateway let a kind be used."""

    @pytest.mark.parametrize("value", [True, 1, "yes", {"mode": "all"}, [1]], ids=str)
    def test_on(self, value: Json) -> None:
        """Any value that says something."""
        assert is_enabled(topology(gateway_class(), with_own(), settings("own", value)), G, ENABLING) is True

    @pytest.mark.parametrize("value", [None, False, "", {}, []], ids=str)
    def test_off(self, value: Json) -> None:
        """No value, or an empty one, for routes as for the Gateway itself."""
        world = topology(gateway_class(), with_own(), settings("own", value))
        assert is_enabled(world, G, ENABLING) is is_enabled(world, G, ENABLING, itself=True) is False

    def test_the_gateway_beats_its_class(self) -> None:
        """In both directions."""
        for below, above in ((True, False), (False, True)):
            world = topology(
                of_class(), with_own(), settings("of-class", below, namespace="infra"), settings("own", above)
            )
            assert is_enabled(world, G, ENABLING) is above

    @pytest.mark.parametrize(
        ("without", "itself", "expected"),
        [
            ("refused", False, True),
            ("refused", True, False),
            ("allowed", False, True),
            ("allowed", True, True),
        ],
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

    def test_known_in_spite_of_what_was_not_read(self) -> None:
        """The Gateway's own parameters decide, whatever the class says."""
        for said in (True, False):
            world = topology(of_class(), with_own(), settings("own", said), complete=False)
            assert is_enabled(world, G, ENABLING) is said


class TestWords:
    """Why a kind may not be used, for whoever reads it."""

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
