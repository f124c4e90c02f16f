"""What an answer says of policies that attach in a way that is not computed: that it cannot tell, and not that none."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy import GroupKind, PolicyKindProfile, TargetLevel, analyze
from kubectl_policy.model.kind_roles import SERVICE
from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
from kubectl_policy.questions.describe.objects import ObjectDescription, describe
from tests import build
from tests.render.shown import headline

GROUP: Final = "example.com"
KIND: Final = GroupKind(GROUP, "PodPolicy")
POD: Final = GroupKind("", "Pod")


def profile(*, partly: bool = False, crosses: bool | None = False, kind: GroupKind = SERVICE) -> PolicyKindProfile:
    """A kind for Services that attaches in some way, and perhaps by references as well."""
    return PolicyKindProfile(
        KIND,
        "direct",
        "profile",
        attachment="partly" if partly else "none",
        reference_fields=("spec.targetRefs",),
        cross_namespace=crosses,
        declared_targets=frozenset({kind}),
        stanzas="none",
    )


def about(known: PolicyKindProfile, *policies: tuple[str, str], references: bool = False) -> ObjectDescription:
    """The answer about the Service `s` of `default`, behind a route; policies are given by namespace and name."""
    spec = {"targetRefs": [build.target("s", "Service", group="")]} if references else {}
    found = [build.resource(KIND.kind, name, dict(spec), group=GROUP, namespace=home) for home, name in policies]
    world = (build.gateway_class(), build.gateway("g"), build.route("r"), build.service("s"), *found)
    return describe(analyze(build.snapshot(*world), profiles=[known]), build.node("Service", "s", group=""))


def test_a_policy_that_may_affect_the_object_is_told() -> None:
    """With the object that it may be attached to and where to read on; the first sentence says so as well."""
    answer = about(profile(), ("default", "a"))
    (policy,) = (build.ref("PodPolicy", "a", group=GROUP),)
    assert answer.unseen == (
        BlindSpot(
            what="PodPolicy default/a",
            reason="whether it is attached to Service default/s is not computed",
            remedy="read what explain podpolicy says",
            policies=(policy,),
        ),
    )
    assert headline(answer).startswith(
        "No policy is known to affect Service default/s; how 1 policy attaches is not computed. "
    )


def test_several_are_counted() -> None:
    """In one line for each kind."""
    answer = about(profile(), ("default", "a"), ("default", "b"))
    assert [(found.what, found.reason) for found in answer.unseen] == [
        ("2 PodPolicies", "whether they are attached to Service default/s is not computed")
    ]
    assert "; how 2 policies attach is not computed. " in headline(answer)


@pytest.mark.parametrize(
    ("crosses", "told"), [(True, ["PodPolicy other/a"]), (None, ["PodPolicy other/a"]), (False, [])]
)
def test_one_of_another_namespace_counts_where_the_kind_may_leave_its_own(
    crosses: bool | None,  # noqa: FBT001 - a parameter of the test
    told: list[str],
) -> None:
    """A local kind stays where it is."""
    assert [found.what for found in about(profile(crosses=crosses), ("other", "a")).unseen] == told


def test_a_kind_for_other_targets_is_not_told() -> None:
    """Nothing of it can be attached to what the answer is about."""
    answer = about(profile(kind=POD), ("default", "a"))
    assert answer.unseen == ()
    assert headline(answer) == (
        "No policy affects Service default/s: no policy kind in the input targets Services. "
        "Requests come through rule[0] of HTTPRoute default/r."
    )


def test_a_policy_with_references_is_where_these_say() -> None:
    """Of a kind that attaches in two ways, those without references alone are in doubt."""
    assert [found.what for found in about(profile(partly=True), ("default", "a")).unseen] == ["PodPolicy default/a"]
    answer = about(profile(partly=True), ("default", "a"), references=True)
    assert (answer.unseen, [policy.name for policy in answer.policies]) == ((), ["a"])


def test_a_parent_of_an_unknown_kind_is_not_asked_for() -> None:
    """No file would show how routes attach to it; the route's own status may."""
    route = build.route("r", parents=[build.parent("x", kind="Waypoint", group="x.io")])
    answer = describe(analyze(build.snapshot(route)), build.node("HTTPRoute", "r"))
    assert [(found.reason, found.remedy) for found in answer.unseen] == [
        ("it is not known how routes attach to Waypoint.x.io", "look at status.parents of HTTPRoute default/r")
    ]


class TestPassingDown:
    """An inherited kind is passed on only where a level at which it takes effect can be below."""

    def groups(self, kind: str, name: str, *levels: TargetLevel, section: str = "") -> list[tuple[bool, str]]:
        """Whether each group that is in force passes down, and where it takes effect."""
        known = PolicyKindProfile(KIND, "inherited", "profile", effective_targets=levels, stanzas="none")
        policy = build.resource(
            KIND.kind, "p", {"targetRef": build.target("default", "Namespace", group=""), "a": 1}, group=GROUP
        )
        world = (build.gateway_class(), build.gateway("g"), build.route("r"), build.service("s"), policy)
        pod, space = build.resource("Pod", "x", group=""), build.namespace("default")
        analysis = analyze(build.snapshot(*world, pod, space), profiles=[known])
        home = build.ref(kind, name).group_kind.group if kind in {"Gateway", "HTTPRoute"} else ""
        answer = describe(analysis, build.node(kind, name, section, group=home))
        return [(group.extent.passes_down, str(group.extent.at[0])) for group in answer.in_force]

    def test_what_is_below_a_namespace_or_a_gateway_may_be_reached(self) -> None:
        """A route below the Gateway, whether or not one was read."""
        routes = TargetLevel(build.ref("GRPCRoute", "").group_kind, section=True)
        assert self.groups("Namespace", "default", routes) == [(True, "Namespace default")]
        assert self.groups("Gateway", "g", routes) == [(True, "Gateway default/g#http")]
        assert self.groups("Namespace", "default") == [(True, "Namespace default")]

    def test_nothing_is_below_a_pod_or_a_service(self) -> None:
        """So nothing is said of a kind that takes effect at Services, or at routes of another kind than those above."""
        assert self.groups("Pod", "x", TargetLevel(SERVICE)) == []
        assert self.groups("Service", "s", TargetLevel(build.ref("GRPCRoute", "").group_kind)) == []

    def test_the_sections_of_an_object_are_below_it(self) -> None:
        """Those of a Pod that nothing is known of; where it takes effect at the object itself, nothing is passed on."""
        assert self.groups("Pod", "x", TargetLevel(POD, section=True)) == [(True, "Pod default/x")]
        assert self.groups("Pod", "x", TargetLevel(POD)) == [(False, "Pod default/x")]


class TestWhereADirectKindTakesEffect:
    """At the object that it names, unless it takes effect at sections."""

    def at(self, *levels: TargetLevel, section: str = "") -> list[str]:
        """Where a direct policy on the Gateway `g`, or on its listener, takes effect."""
        known = PolicyKindProfile(KIND, "direct", "profile", effective_targets=levels, stanzas="none")
        policy = build.resource(KIND.kind, "p", {"targetRef": build.target("g", section=section), "a": 1}, group=GROUP)
        gateway = build.gateway("g", build.listener("http"), build.listener("admin", port=81))
        analysis = analyze(build.snapshot(build.gateway_class(), gateway, policy), profiles=[known])
        answer = describe(analysis, build.node("Gateway", "g"))
        return [str(node) for group in answer.in_force for node in group.extent.at]

    def test_the_object_is_named_where_it_is_the_level(self) -> None:
        """Once, however many listeners it has."""
        gateways = TargetLevel(build.ref("Gateway", "").group_kind)
        assert self.at(gateways) == ["Gateway default/g"]
        assert self.at(gateways, section="http") == ["Gateway default/g#http"]

    def test_sections_are_named_where_they_are_or_nobody_has_said(self) -> None:
        """Each of them."""
        listeners = TargetLevel(build.ref("Gateway", "").group_kind, section=True)
        both = ["Gateway default/g#http", "Gateway default/g#admin"]
        assert sorted(self.at(listeners)) == sorted(both)
        assert sorted(self.at()) == sorted(both)
        assert sorted(self.at(listeners, TargetLevel(listeners.group_kind))) == sorted(both)
