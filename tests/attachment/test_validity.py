"""Policies that are invalid or not enabled, and sizes below their minimum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, Topology
from kubectl_policy.attachment import attach
from kubectl_policy.attachment.attachment import NotAttached
from kubectl_policy.attachment.target_validity import gateways_of, target_failure
from kubectl_policy.attachment.validity import policy_failure
from kubectl_policy.attachment.values import why_too_small
from kubectl_policy.model import Gap, GroupKind, Json, ObjectRef, Resource
from kubectl_policy.profiles.controllers import GatewayProfile
from kubectl_policy.profiles.needs import RequiredObject, RequiredParameter
from tests.build import (
    gateway,
    gateway_class,
    grant,
    index,
    listener_set,
    parent,
    policy,
    ref,
    resource,
    route,
    service,
    service_parent,
    target,
)
from tests.fakes import Controllers

OURS: Final = "example.com/gateway"
KIND: Final = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "profile")
WEIGHTED: Final = replace(KIND, weight_annotation="example.com/weight")
ENABLING: Final = RequiredParameter(GroupKind("example.com", "Settings"), "colours.enable")
SWITCHED: Final = replace(KIND, enabled_by=ENABLING, controllers=frozenset({OURS}))
CLASSES: Final = (gateway_class("public", OURS), gateway_class("theirs", "example.org/gateway"))


class TestWeight:
    @staticmethod
    def outcome(annotations: Json, profile: PolicyKindProfile = WEIGHTED) -> NotAttached | None:
        found = policy("p")
        metadata: Json = {"name": "p", "namespace": "default", "annotations": annotations}
        return policy_failure(replace(found, raw={**found.raw, "metadata": metadata}), profile, index())

    @pytest.mark.parametrize(
        "weight", ["", "x", "1.5", "1e3", "0x1", "٣", " 1", "--1", 7, None, [], {}, True], ids=repr
    )
    def test_no_number(self, weight: Json) -> None:
        """Whatever it is: the policy is invalid, and the message names the annotation."""
        message = "the annotation example.com/weight of ColorPolicy default/p is not a whole number"
        assert self.outcome({"example.com/weight": weight}) == NotAttached("policy invalid", message)

    @pytest.mark.parametrize("weight", ["0", "12", "-12"])
    def test_a_number(self, weight: str) -> None:
        assert self.outcome({"example.com/weight": weight}) is None

    @pytest.mark.parametrize("annotations", [None, 7, "x", [], {}, {"other": "x"}], ids=str)
    def test_no_such_annotation(self, annotations: Json) -> None:
        assert self.outcome(annotations) is None

    def test_a_kind_without_weights(self) -> None:
        assert self.outcome({"example.com/weight": "x", "": "x"}, KIND) is None


class TestNeeds:
    """What a policy needs, and what becomes of it without."""

    def test_what_is_missing_and_what_is_forbidden(self) -> None:
        """An object that is missing makes a policy invalid; for one that it may not refer to it is not permitted."""
        need = RequiredObject(field="spec.key", group="", kinds=("Secret",))
        keyed = policy("p", key={"name": "k", "namespace": "far"})
        forbidden = "no ReferenceGrant in namespace far lets ColorPolicy default/p refer to Secret far/k"
        missing = "Secret far/k, which spec.key names, does not exist"
        lets_in = grant(namespace="far", sources=[("example.com", "ColorPolicy", "default")], targets=[("", "Secret")])
        for competes in (False, True):
            profile = replace(KIND, needs=(replace(need, competes=competes),))
            world = index(keyed, complete=True)
            assert policy_failure(keyed, profile, world) == NotAttached("not permitted", forbidden, competes)
            world = index(keyed, lets_in, complete=True)
            assert policy_failure(keyed, profile, world) == NotAttached("policy invalid", missing, competes)
            world = index(keyed, lets_in, resource("Secret", "k", group="", namespace="far"), complete=True)
            assert policy_failure(keyed, profile, world) is None

    def test_a_number_is_looked_at_first(self) -> None:
        profile = replace(
            WEIGHTED, needs=(RequiredObject(field="spec.key", group="", kinds=("Secret",)),), least_sizes={"a": ("b",)}
        )
        sizes: dict[str, Json] = {"a": "1", "b": "2"}
        spec: Json = {**sizes, "targetRefs": []}
        bad = resource("ColorPolicy", "p", spec, group="example.com")
        odd: Json = {"name": "p", "annotations": {"example.com/weight": "x"}}
        weighed = replace(bad, raw={**bad.raw, "metadata": odd})
        found = [policy_failure(one, profile, index()) for one in (weighed, bad, policy("p"))]
        assert [failure.message.split()[0] if failure else "" for failure in found] == ["the", "spec.a", "spec.key"]


def settings(*, enable: Json) -> Resource:
    return resource("Settings", "s", {"colours": {"enable": enable}}, group="example.com")


def with_settings(name: str = "g", class_name: str = "public") -> Resource:
    reference: Json = {"group": "example.com", "kind": "Settings", "name": "s"}
    return gateway(name, class_name=class_name, infrastructure={"parametersRef": reference})


class TestEnabledBy:
    @staticmethod
    def outcome(
        obj: ObjectRef,
        *objects: Resource,
        profile: PolicyKindProfile = SWITCHED,
        complete: bool = True,
        gaps: Sequence[Gap] = (),
    ) -> NotAttached | None:
        return target_failure(obj, profile, Topology(index(*CLASSES, *objects, complete=complete, gaps=gaps)))

    @pytest.mark.parametrize("obj", [ref("Gateway", "g"), ref("ListenerSet", "ls"), ref("HTTPRoute", "r")], ids=str)
    def test_on_and_off(self, obj: ObjectRef) -> None:
        """For a Gateway, a ListenerSet of it and a route of it; a policy that is refused keeps others out."""
        world = (with_settings(), listener_set("ls"), route("r"))
        message = "spec.colours.enable is false in Settings default/s of Gateway default/g"
        assert self.outcome(obj, *world, settings(enable=False)) == NotAttached("not enabled", message, competes=True)
        assert self.outcome(obj, *world, settings(enable=True)) is None
        assert self.outcome(obj, *world, settings(enable=False), profile=KIND) is None

    def test_without_parameters(self) -> None:
        """A policy on a route is let through; one on the Gateway, or a ListenerSet of it, as the profile says."""
        world = (gateway("g"), listener_set("ls"), route("r"))
        message = "Gateway default/g has no Settings that sets spec.colours.enable"
        allowing = replace(SWITCHED, enabled_by=replace(ENABLING, without="allowed"))
        for obj in (ref("Gateway", "g"), ref("ListenerSet", "ls")):
            assert self.outcome(obj, *world) == NotAttached("not enabled", message, competes=True)
            assert self.outcome(obj, *world, profile=allowing) is None
        assert self.outcome(ref("HTTPRoute", "r"), *world) is None

    def test_a_route_of_several_gateways(self) -> None:
        """One that lets the kind be used is enough; else all are named, each once, in their order."""
        both = route("r", parents=[parent("h"), parent("g"), parent("g", "http")])
        world = (with_settings("g"), with_settings("h"), both, settings(enable=False))
        message = (
            "spec.colours.enable is false in Settings default/s of Gateway default/g; "
            "spec.colours.enable is false in Settings default/s of Gateway default/h"
        )
        found = self.outcome(both.ref, *world)
        assert found == NotAttached("not enabled", message, competes=True)
        free = (with_settings("g"), gateway("h"), both, settings(enable=False))
        assert self.outcome(both.ref, *free) is None

    def test_gateways_of_other_controllers_do_not_matter(self) -> None:
        """Neither that they let the kind be used, nor that they do not."""
        both = route("r", parents=[parent("g"), parent("far")])
        world = (with_settings("g"), gateway("far", class_name="theirs"), both, settings(enable=False))
        message = "spec.colours.enable is false in Settings default/s of Gateway default/g"
        assert self.outcome(both.ref, *world) == NotAttached("not enabled", message, competes=True)
        theirs = route("r", parents=[parent("far")])
        assert self.outcome(theirs.ref, with_settings("far", "theirs"), theirs, settings(enable=False)) is None

    def test_what_has_no_gateway(self) -> None:
        loose = resource("ListenerSet", "loose", {"parentRef": {}})
        mesh = route("r", parents=[service_parent("s")])
        for found in (service("s"), loose, mesh, route("r", parents=[])):
            assert self.outcome(found.ref, found, service("s")) is None

    def test_what_was_not_read(self) -> None:
        """May say anything: the parameters, the class, the Gateway itself."""
        for obj in (ref("Gateway", "g"), ref("HTTPRoute", "r")):
            assert self.outcome(obj, with_settings(), route("r"), complete=False) is None
            gaps = [Gap("Settings", "default", "forbidden")]
            assert self.outcome(obj, with_settings(), route("r"), gaps=gaps) is None
            classless = Topology(index(gateway("g"), route("r")))
            assert target_failure(obj, SWITCHED, classless) is None
        away = route("r", parents=[parent("g", namespace="unread")])
        assert self.outcome(away.ref, away, complete=False) is None

    def test_the_attachment_that_comes_of_it(self) -> None:
        """It keeps others out although it has failed."""
        p = policy("p", target("g"))
        world = Topology(index(*CLASSES, p, with_settings(), settings(enable=False), complete=True))
        (found,) = attach(p, SWITCHED, world)
        assert (found.state, found.competes) == ("not enabled", True)


def test_the_gateways_of_a_target() -> None:
    """Itself, that of a ListenerSet, those that a route names itself or by ListenerSets; of ours or nobody's."""
    objects = (
        *CLASSES,
        gateway("g"),
        gateway("far", class_name="theirs"),
        listener_set("ls"),
        listener_set("lost", parent="ghost"),
        resource("ListenerSet", "loose", {"parentRef": {}}),
        service("s"),
    )
    parents = [parent("g"), parent("far"), service_parent("s")]
    parents += [parent(name, kind="ListenerSet") for name in ("ls", "lost", "loose")]
    made = route("r", parents=parents)
    topology = Topology(index(*objects, made, complete=True))

    def names(obj: ObjectRef, profile: PolicyKindProfile = SWITCHED) -> list[str]:
        return [found.name for found in gateways_of(obj, profile, topology)]

    assert names(made.ref) == ["g", "g"]
    assert names(made.ref, KIND) == ["g", "far", "g", "ghost"]
    assert names(ref("Gateway", "g")) == names(ref("ListenerSet", "ls")) == ["g"]
    assert names(ref("Gateway", "far")) == names(ref("ListenerSet", "loose")) == []
    # A backend has those of its routes.
    assert set(names(service("s").ref)) == {"g"}


class TestInvalidTarget:
    ignoring = Controllers({OURS: GatewayProfile(invalid_parents="passedOver")})

    def outcome(self, obj: ObjectRef, *objects: Resource, profiles: Controllers | None = None) -> NotAttached | None:
        """Why nothing comes of a target where such are ignored."""
        topology = Topology(index(*CLASSES, *objects, complete=True), profiles=profiles or self.ignoring)
        return target_failure(obj, KIND, topology)

    @pytest.mark.parametrize("obj", [ref("Gateway", "g"), ref("ListenerSet", "ls")], ids=str)
    def test_one_that_is_not_valid(self, obj: ObjectRef) -> None:
        """The policy keeps others out, and the message says what is wrong with the Gateway."""
        message = "Gateway default/g is not valid: spec.infrastructure.parametersRef: Settings default/s does not exist"
        found = self.outcome(obj, with_settings(), listener_set("ls"))
        assert found == NotAttached("target invalid", message, competes=True)
        assert self.outcome(obj, with_settings(), listener_set("ls"), profiles=Controllers()) is None

    def test_one_that_is_valid(self) -> None:
        """Or another controller's, or no Gateway at all: then that does not matter."""
        assert self.outcome(ref("Gateway", "g"), gateway("g")) is None
        assert self.outcome(ref("Gateway", "g"), with_settings(class_name="theirs")) is None
        assert self.outcome(ref("HTTPRoute", "r"), with_settings(), route("r")) is None
        assert self.outcome(service("s").ref, with_settings(), service("s")) is None


LEAST: Final[Mapping[str, tuple[str, ...]]] = {"buffers.most": ("buffers.one", "two")}


def flaw(most: Json, one: Json = None, two: Json = None, least: Mapping[str, tuple[str, ...]] = LEAST) -> str:
    buffers: Json = {"most": most, "one": one}
    return why_too_small(policy("p", buffers=buffers, two=two), least)


@pytest.mark.parametrize(
    ("most", "one"),
    [
        ("1", "2"),
        (1, 2),
        ("1023", "1k"),
        ("1023k", "1m"),
        ("1023m", "1g"),
        ("8k", "16k"),
        ("8K", "16k"),
        ("7k", "8K"),
        ("999999999", "1g"),
        (0, "1"),
    ],
)
def test_less(most: Json, one: Json) -> None:
    """With any of the units, in either case, and as a number."""
    assert flaw(most, one) == f"spec.buffers.most ({most}) is less than spec.buffers.one ({one})"
    assert flaw(one, most) == ""


@pytest.mark.parametrize(("most", "one"), [("1k", "1024"), ("1m", "1024k"), ("1g", "1024m"), ("8k", "8K"), (8, "8")])
def test_the_same(most: Json, one: Json) -> None:
    """In whatever unit: that is enough, on either side."""
    assert flaw(most, one) == flaw(one, most) == ""


@pytest.mark.parametrize(
    "size",
    [None, "", "k", "1 k", "1kb", "1.5k", "-1", "1t", " 1", "1\n", "9999999999k", "٣", True, 1.5, -1, [], {}, ["1"]],
    ids=repr,
)
def test_what_is_no_size_is_not_compared(size: Json) -> None:
    """On either side; nothing raises."""
    assert flaw(size, "1g") == flaw("1", size) == ""


def test_the_first_of_several_is_told() -> None:
    """In the order of the profile; a field that is large enough for one may be too small for another."""
    assert flaw("8k", "4k", "16k") == "spec.buffers.most (8k) is less than spec.two (16k)"
    assert flaw("8k", "32k", "16k") == "spec.buffers.most (8k) is less than spec.buffers.one (32k)"
    several = {"two": ("buffers.most",), **LEAST}
    assert flaw("8k", "32k", "4k", least=several) == "spec.two (4k) is less than spec.buffers.most (8k)"


def test_a_kind_without_such_fields() -> None:
    assert flaw("1", "2", "3", least={}) == ""


@pytest.mark.parametrize("spec", [None, 7, "x", []], ids=str)
def test_a_policy_of_another_shape(spec: Json) -> None:
    assert why_too_small(resource("ColorPolicy", "p", spec, group="example.com"), LEAST) == ""


def test_a_policy_whose_sizes_do_not_fit_is_attached_to_nothing() -> None:
    """It is invalid on all of its targets; one that is missing is told first."""
    profile = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "profile", least_sizes=LEAST)
    buffers: Json = {"most": "1k", "one": "2k"}
    found = policy("p", target("g"), target("ghost"), buffers=buffers)
    here, ghost = attach(found, profile, Topology(index(found, gateway("g"), complete=True)))
    message = "spec.buffers.most (1k) is less than spec.buffers.one (2k)"
    assert (here.state, here.message, here.competes) == ("policy invalid", message, False)
    assert ghost.state == "target missing"
