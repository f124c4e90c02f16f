"""Blind spots of answers about objects and policies."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import GroupKind, PolicyKindProfile, TargetLevel
from kubectl_policy.model import NodeRef, Resource
from kubectl_policy.model.kind_roles import SERVICE
from kubectl_policy.profiles.needs import RequiredParameter
from kubectl_policy.questions.blind_spots.answers import blind_spots_for, blind_spots_for_policy, possible_through
from kubectl_policy.questions.blind_spots.unknowns import BlindSpot, cut_paths
from kubectl_policy.questions.describe.objects import ObjectDescription, describe
from kubectl_policy.questions.shared.effects import covered_paths
from tests import build
from tests.delegation import CONTROLLER, http_route, passing, to, top
from tests.questions.build import analyzed, color_kind, settings
from tests.render.shown import headline

SETTINGS: Final = GroupKind("example.com", "Settings")
SWITCHED: Final = color_kind("inherited", strategy=None, enabled_by=RequiredParameter(SETTINGS, "colours.enable"))
PARAMETERS: Final = {"group": "example.com", "kind": "Settings", "name": "s"}
PLAIN: Final = color_kind("inherited", strategy=None)
WORLD: Final = (
    build.gateway_class(),
    build.gateway("g", infrastructure={"parametersRef": PARAMETERS}),
    build.route("r"),
    build.service(),
    build.namespace("default"),
)
UNREAD: Final = BlindSpot(
    what="Settings default/s",
    reason="whether spec.colours.enable is set in the parameters of Gateway default/g is unknown; only then does this "
    "count: ColorPolicy",
    remedy="add the manifest that contains it",
)


def unseen(*objects: Resource, profile: PolicyKindProfile = SWITCHED, complete: bool = False) -> list[list[BlindSpot]]:
    """What answers about policy `p`, its route and its Gateway could not see in the world with these objects."""
    analysis = analyzed(*WORLD, *objects, complete=complete, profiles=[profile])
    about_policy = blind_spots_for_policy(
        analysis, analysis.enforcement(build.ref("ColorPolicy", "p", group="example.com"))
    )
    subjects = (NodeRef(build.ref("HTTPRoute", "r")), NodeRef(build.ref("Gateway", "g")))
    about = (blind_spots_for(analysis, subject, analysis.topology.paths(subject)) for subject in subjects)
    return [list(about_policy), *map(list, about)]


def test_parameters_that_were_not_read() -> None:
    assert unseen(build.policy("p", build.ON_ROUTE, age=1, color="red")) == [[UNREAD], [UNREAD], []]
    assert unseen(build.policy("p", build.ON_GATEWAY, age=1, color="red")) == [[UNREAD], [UNREAD], [UNREAD]]


def test_parameters_that_were_read_or_do_not_exist() -> None:
    p = build.policy("p", build.ON_ROUTE, age=1, color="red")
    assert unseen(p, settings(enable=True)) == [[], [], []]
    assert unseen(p, settings(enable=False)) == [[], [], []]
    assert unseen(p, complete=True) == [[], [], []]


def test_a_kind_that_nothing_has_to_enable() -> None:
    p = build.policy("p", build.ON_ROUTE, age=1, color="red")
    assert unseen(p, profile=replace(SWITCHED, enabled_by=None)) == [[], [], []]


def test_routes_that_would_make_a_target_exist() -> None:
    """Of a kind whose targets exist when a route refers to them; of a section it is the object that was not read."""
    referred = replace(
        SWITCHED, enabled_by=None, targets_exist="whenReferred", controllers=frozenset({"example.com/gateway"})
    )
    p = build.policy("p", build.target("t", "Service", group=""), age=1, color="red")
    ((found,), _, _) = unseen(p, profile=referred)
    assert found == BlindSpot(
        what="routes to Service default/t",
        reason="ColorPolicy default/p targets it, and no route in the input that example.com/gateway acts on sends "
        "requests to Service default/t",
        remedy="add the manifests that contain them",
    )
    to_far = build.route("far", rules=[build.rule(build.backend("u", namespace="far"))])
    lets_in = build.grant(namespace="far")
    on_port = build.target("u", "Service", "web", group="", namespace="far")
    granted = build.grant(
        "g2", namespace="far", sources=[("example.com", "ColorPolicy", "default")], targets=[("", "Service")]
    )
    ((found,), _, _) = unseen(
        build.policy("p", on_port, age=1, color="red"), to_far, lets_in, granted, profile=referred
    )
    assert (found.what, found.remedy) == ("Service far/u", "add the manifest that contains it")
    ((found,), _, _) = unseen(
        build.policy("p", build.target("u", "Service", group="", namespace="far"), age=1),
        granted,
        profile=replace(referred, targets_exist="whenRead"),
    )
    assert (found.what, found.remedy) == ("Service far/u", "add the manifest that contains it")


def test_a_path_that_is_followed_no_further() -> None:
    """Routes may delegate to each other 40 times: nobody is told that what is below is not affected."""
    middle = [http_route(f"c{at}", passing("/", to(f"c{at + 1}"))) for at in range(1, 40)]
    routes = [top(passing("/", to("c1"))), *middle, http_route("c40", passing("/", build.backend()))]
    objects = (build.gateway_class(controller=CONTROLLER), build.gateway(), build.service(), *routes)
    analysis = analyzed(*objects, complete=True)
    what = "a path of more than 60 nodes"
    for name, (first, last) in {"c40": ("c10", "c40"), "c2": ("", "")}.items():
        node = build.node("HTTPRoute", name)
        found = [(each.what, each.reason) for each in blind_spots_for(analysis, node, analysis.topology.paths(node))]
        reason = f"it is followed only from HTTPRoute default/{first} to HTTPRoute default/{last}"
        assert found == ([(what, reason)] if first else [])
    edge = build.node("Gateway", "g")
    assert [each.what for each in cut_paths(analysis.topology.paths_through(edge))] == [what]


def test_a_route_that_a_listener_may_take() -> None:
    """It would be below a policy on the Gateway, on the listener or on the class; not below one on another route."""
    selecting = build.allow("Selector", {"matchLabels": {"team": "a"}})
    world = (
        build.gateway_class(),
        build.gateway("g", build.listener(allowedRoutes=selecting)),
        build.route("far", parents=[build.parent("g", namespace="default")], namespace="far"),
        build.route("near"),
        build.namespace("default", {"team": "a"}),
    )
    targets = {
        "g": build.ON_GATEWAY,
        "l": build.target("g", section="http"),
        "c": build.target("public", "GatewayClass"),
        "r": build.target("near", "HTTPRoute"),
    }
    policies = [build.policy(name, target, age=1, a=1) for name, target in targets.items()]
    analysis = analyzed(*world, *policies)
    said = (
        "whether it is attached to Gateway default/g#http is unknown: "
        "whether listener http of Gateway default/g selects it is unknown: Namespace far is not in the input"
    )
    for policy in policies:
        found = blind_spots_for_policy(analysis, analysis.enforcement(policy.ref))
        told = [thing.reason for thing in found if thing.what == "HTTPRoute far/far"]
        assert told == ([said] if policy.ref.name != "r" else [])
        about_one = blind_spots_for_policy(analysis, analysis.enforcement(policy.ref), include_descendants=False)
        assert [thing for thing in about_one if thing.what == "HTTPRoute far/far"] == []


def test_whether_a_route_may_refer_to_a_backend() -> None:
    far = build.service("s", namespace="far")
    world = (build.gateway_class(), build.gateway(), far)
    route = build.route(rules=[build.rule(build.backend("s", namespace="far"))])
    policy = build.policy("p", build.ON_GATEWAY, age=1, a=1)
    reason = "whether HTTPRoute default/r may refer to it is unknown: no ReferenceGrant in the input says so"
    for more, expected in (((), [reason]), ((build.grant(namespace="far"),), [])):
        analysis = analyzed(*world, route, policy, *more)
        subjects = (NodeRef(route.ref), NodeRef(far.ref))
        answers = [blind_spots_for(analysis, subject, covered_paths(analysis, subject)) for subject in subjects]
        for found in (*answers, blind_spots_for_policy(analysis, analysis.enforcement(policy.ref))):
            assert [thing.reason for thing in found if thing.what == "Service far/s"] == expected
        beside = blind_spots_for(analysis, NodeRef(world[1].ref), analysis.topology.paths(NodeRef(world[1].ref)))
        assert [thing for thing in beside if thing.what == "Service far/s"] == []


def test_namespaces_that_nothing_says() -> None:
    world = (
        build.gateway_class(),
        build.gateway("g", build.listener(allowedRoutes=build.allow("All"))),
        build.route("r", parents=[build.parent("g", namespace="default")], namespace="?apps.echo"),
        build.service(namespace="?apps.echo"),
        build.policy("p", build.ON_ROUTE, namespace="?apps.echo", age=1, a=1),
    )
    analysis = analyzed(*world)
    subject = NodeRef(world[2].ref)
    found = blind_spots_for(analysis, subject, covered_paths(analysis, subject))
    assert [thing.what for thing in found if thing.what.startswith("the namespace")] == [
        "the namespace of HTTPRoute <unknown>/r and 2 more"
    ]
    alone = blind_spots_for(analysis, NodeRef(world[1].ref), analysis.topology.paths(NodeRef(world[1].ref)))
    assert [thing.what for thing in alone if thing.what.startswith("the namespace")] == []


def test_another_policy_of_which_the_section_is_to_be_filled_in() -> None:
    """It may stand beside the policy that is asked about; that one's own is told as its target."""
    open_policy = build.policy("open", build.target("g", section="${SECTION}"), a=1)
    policy = build.policy("p", build.ON_GATEWAY, a=2)
    analysis = analyzed(*WORLD, open_policy, policy, complete=True, profiles=[PLAIN])
    for asked in (policy, open_policy):
        unseen = blind_spots_for_policy(analysis, analysis.enforcement(asked.ref))
        assert [each.what for each in unseen] == ["Gateway default/g"]


def test_another_policy_that_may_be_on_the_same_gateway() -> None:
    """Which of its listeners that one is about, a placeholder leaves open: it may be the one of the route."""
    p = build.policy("p", build.ON_GATEWAY, age=1, color="red")
    q = build.policy("q", build.target("g", section="${LISTENER}"), age=2, color="blue")
    about_policy, *_ = unseen(p, q, settings(enable=True))
    which = "which section of Gateway default/g ${LISTENER} is cannot be known yet"
    reason = f"ColorPolicy default/q targets it, and {which}"
    assert [(thing.what, thing.reason) for thing in about_policy] == [("Gateway default/g", reason)]


def test_a_policy_that_may_be_on_one_listener_does_not_doubt_itself() -> None:
    q = build.policy("q", build.ON_GATEWAY, build.target("g", section="${LISTENER}"), age=2, color="blue")
    analysis = analyzed(*WORLD, q, settings(enable=True), profiles=[PLAIN])
    about_policy = blind_spots_for_policy(analysis, analysis.enforcement(q.ref))
    assert [thing.what for thing in about_policy] == ["Gateway default/g"]


def test_routes_that_may_be_attached_to_a_gateway() -> None:
    """A change of the Gateway may matter to a route whose parent is a placeholder; without one, nothing is in doubt."""
    gateway = NodeRef(build.ref("Gateway", "g"))
    assert list(possible_through(analyzed(*WORLD), gateway)) == []
    analysis = analyzed(*WORLD, build.route("x", parents=[build.parent("${GATEWAY}")]))
    assert {thing.what for thing in possible_through(analysis, gateway)} == {"Gateway default/g", "HTTPRoute default/x"}


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
    spec = {"targetRefs": [build.ON_SERVICE]} if references else {}
    found = [build.resource(KIND.kind, name, dict(spec), group=GROUP, namespace=home) for home, name in policies]
    world = (build.gateway_class(), build.gateway("g"), build.route("r"), build.service("s"), *found)
    return describe(analyzed(*world, profiles=[known]), build.node("Service", "s", group=""))


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
    assert [found.what for found in about(profile(crosses=crosses), ("other", "a")).unseen] == told


def test_a_kind_for_other_targets_is_not_told() -> None:
    answer = about(profile(kind=POD), ("default", "a"))
    assert answer.unseen == ()
    assert headline(answer) == (
        "No policy affects Service default/s: no policy kind in the input targets Services. "
        "Requests come through rule[0] of HTTPRoute default/r."
    )


def test_a_policy_with_references_is_where_these_say() -> None:
    assert [found.what for found in about(profile(partly=True), ("default", "a")).unseen] == ["PodPolicy default/a"]
    answer = about(profile(partly=True), ("default", "a"), references=True)
    assert (answer.unseen, [policy.name for policy in answer.policies]) == ((), ["a"])


def test_a_parent_of_an_unknown_kind_is_not_asked_for() -> None:
    route = build.route("r", parents=[build.parent("x", kind="Waypoint", group="x.io")])
    answer = describe(analyzed(route), build.node("HTTPRoute", "r"))
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
        analysis = analyzed(*world, pod, space, profiles=[known])
        home = build.ref(kind, name).group_kind.group if kind in {"Gateway", "HTTPRoute"} else ""
        answer = describe(analysis, build.node(kind, name, section, group=home))
        return [(group.extent.passes_down, str(group.extent.at[0])) for group in answer.in_force]

    def test_what_is_below_a_namespace_or_a_gateway_may_be_reached(self) -> None:
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
    def at(self, *levels: TargetLevel, section: str = "") -> list[str]:
        """Where a direct policy on the Gateway `g`, or on its listener, takes effect."""
        known = PolicyKindProfile(KIND, "direct", "profile", effective_targets=levels, stanzas="none")
        policy = build.resource(KIND.kind, "p", {"targetRef": build.target("g", section=section), "a": 1}, group=GROUP)
        gateway = build.gateway("g", build.listener("http"), build.listener("admin", port=81))
        analysis = analyzed(build.gateway_class(), gateway, policy, profiles=[known])
        answer = describe(analysis, build.node("Gateway", "g"))
        return [str(node) for group in answer.in_force for node in group.extent.at]

    def test_the_object_is_named_where_it_is_the_level(self) -> None:
        gateways = TargetLevel(build.ref("Gateway", "").group_kind)
        assert self.at(gateways) == ["Gateway default/g"]
        assert self.at(gateways, section="http") == ["Gateway default/g#http"]

    def test_sections_are_named_where_they_are_or_nobody_has_said(self) -> None:
        listeners = TargetLevel(build.ref("Gateway", "").group_kind, section=True)
        both = ["Gateway default/g#http", "Gateway default/g#admin"]
        assert sorted(self.at(listeners)) == sorted(both)
        assert sorted(self.at()) == sorted(both)
        assert sorted(self.at(listeners, TargetLevel(listeners.group_kind))) == sorted(both)
