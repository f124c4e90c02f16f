"""What an object reaches, and what deleting it would change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy import MergeStrategy, PolicyKindProfile, TargetLevel, analyze
from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.blast_radius import NamespaceCount, OwnerCount, blast_radius
from tests import build
from tests.delegation import CONTROLLER, http_route, passing, to, top
from tests.differences import color, ref, told

if TYPE_CHECKING:
    from collections.abc import Collection

    from kubectl_policy.model import NodeRef, ObjectRef, Resource
    from kubectl_policy.questions.blast_radius import BlastRadius

KIND: Final = GroupKind("example.com", "ColorPolicy")
PROFILE: Final = PolicyKindProfile(
    KIND,
    "inherited",
    "profile",
    strategy=MergeStrategy.PATCH_DEFAULTS,
    stanzas="none",
    effective_targets=(TargetLevel(GroupKind(GATEWAY_API, "HTTPRoute")),),
)
WORLD: Final = (
    build.gateway_class(),
    build.namespace("default", {"team": "us"}),
    build.gateway(),
    build.route("one"),
    build.route("two"),
    build.service(),
)
G: Final = build.target("g")
ONE: Final = build.target("one", "HTTPRoute")
TWO: Final = build.target("two", "HTTPRoute")


def answer(subject: ObjectRef, *more: Resource, world: Collection[Resource] = WORLD) -> BlastRadius:
    """The answer for an object in a world with more in it."""
    state = build.listed(build.snapshot(*world, *more))
    return blast_radius(analyze(state, profiles=[PROFILE]), subject, "team")


def reach(*more: Resource, world: Collection[Resource] = WORLD) -> BlastRadius:
    """What policy p reaches."""
    found = answer(ref(), *more, world=world)
    assert found.policy
    return found


def names(nodes: Collection[NodeRef]) -> list[str]:
    """The names of nodes."""
    return [str(node) for node in nodes]


def test_what_was_not_read_reaches_nothing() -> None:
    """Nor does deleting it change anything."""
    found = answer(build.ref("Service", "ghost", group=""))
    assert (found.origin, found.policy, found.deleted_with_it, found.counts.total) == (None, False, (), 0)
    assert not found.difference.changes


class TestReach:
    """What a policy reaches."""

    def test_nothing(self) -> None:
        """Its target does not exist: that is all there is to say."""
        found = reach(color("p", build.target("ghost"), a=1))
        assert found.enforcement
        assert (found.enforcement.state, found.affected, found.superseded, found.detached) == (
            "TargetNotFound",
            (),
            (),
            (),
        )
        assert [one.state for one in found.targets] == ["target missing"]

    def test_where_it_has_an_effective_field(self) -> None:
        """On both routes, and nowhere else."""
        found = reach(color("p", G, a=1))
        assert names(found.affected) == ["HTTPRoute default/one", "HTTPRoute default/two"]
        assert (found.superseded, found.detached) == ((), ())

    def test_where_others_set_all_of_it(self) -> None:
        """Grouped by who they are."""
        found = reach(color("p", G, a=1), color("x", ONE, a=2), color("y", TWO, a=2, b=3))
        assert found.affected == ()
        assert [(names(one.objects), [by.name for by in one.by]) for one in found.superseded] == [
            (["HTTPRoute default/one"], ["x"]),
            (["HTTPRoute default/two"], ["y"]),
        ]

    def test_where_it_is_in_force_on_another_path(self) -> None:
        """It is affected, and not beaten."""
        both = build.gateway("g", build.listener("a"), build.listener("b", port=81))
        world = [*WORLD[:2], both, *WORLD[3:]]
        on_a = {**G, "sectionName": "a"}
        found = reach(color("p", G, a=1), color("x", on_a, a=2), world=world)
        assert names(found.affected) == ["HTTPRoute default/one", "HTTPRoute default/two"]
        assert found.superseded == ()

    def test_without_settings_beside_others(self) -> None:
        """It is in force where its spec takes part."""
        assert names(reach(color("p", ONE)).affected) == ["HTTPRoute default/one"]

    def test_a_route_that_is_attached_to_nothing(self) -> None:
        """Because it is refused, or because it names no parent."""
        lost = build.route("lost", parents=[build.parent("g", "ghost")])
        alone = build.route("alone", parents=[])
        targets = [build.target(name, "HTTPRoute") for name in ("lost", "alone")]
        found = reach(color("p", *targets, ONE, a=1), lost, alone)
        assert [(str(one.object), one.reason) for one in found.detached] == [
            ("HTTPRoute default/lost", "NoMatchingParent"),
            ("HTTPRoute default/alone", ""),
        ]
        assert "ghost" in found.detached[0].message
        assert found.detached[1].message == "it names no parent"

    def test_a_backend_without_weight(self) -> None:
        """The route that names it sends no requests there; another backend of it gets them all."""
        backends = [build.backend(), build.backend("idle", weight=0)]
        world = (*WORLD[:3], build.route("one", rules=[build.rule(*backends)]), build.service(), build.service("idle"))
        policy = color("p", build.target("idle", "Service", group=""), a=1)
        found = blast_radius(analyze(build.snapshot(*world, policy)), ref())
        assert [str(one.object) for one in found.detached] == ["HTTPRoute default/one"]
        assert found.detached[0].message == "it gives weight 0 to Service default/idle"
        assert found.affected == ()

    def test_a_rule_that_no_request_reaches(self) -> None:
        """The route above it is attached, and what it delegates never comes to this rule."""
        below = http_route("c", passing("/b", build.backend()), passing("/a", build.backend()))
        world = (
            build.gateway_class(controller=CONTROLLER),
            build.gateway(),
            build.service(),
            top(passing("/a", to("c"))),
            below,
        )
        profile = PolicyKindProfile(KIND, "inherited", "profile", strategy=MergeStrategy.PATCH_DEFAULTS, stanzas="none")
        policy = color("p", build.target("c", "HTTPRoute"), a=1)
        found = blast_radius(analyze(build.snapshot(*world, policy, complete=True), profiles=[profile]), ref())
        assert names(found.affected) == ["HTTPRoute default/c", "Service default/s"]
        assert [one.message for one in found.detached if one.message == "it names no parent"] == []


class TestSpread:
    """How many objects are concerned."""

    def test_of_a_policy_those_that_it_affects(self) -> None:
        """Also those for which deleting it changes nothing but who sets it."""
        found = answer(ref(), color("p", G, a=1))
        assert found.counts.total == 2
        assert found.counts.owners == (OwnerCount("us", 2),)
        assert (found.origin, found.deleted_with_it) == (build.ORIGIN, ())

    def test_of_anything_else_those_that_deleting_it_would_affect(self) -> None:
        """Routes that lose their parent, policies that lose their target, and who refers to it."""
        found = answer(build.ref("Gateway", "g"), color("p", G, a=1), color("q", ONE, a=1))
        assert not found.policy
        assert {counted.kind: counted.count for counted in found.counts.kinds} == {"HTTPRoute": 2, "ColorPolicy": 1}

    def test_not_what_is_deleted_with_it(self) -> None:
        """As all that is in a Namespace is; what is elsewhere is counted."""
        far = build.route("far", namespace="far", parents=[build.parent(namespace="default")])
        gateway = build.gateway("g", build.listener(allowedRoutes=build.allow("All")))
        world = [*WORLD[:2], gateway, *WORLD[3:], build.namespace("far"), far]
        found = answer(build.ref("Namespace", "default", group=""), color("p", G, a=1), world=world)
        assert found.deleted_with_it == tuple(sorted([gateway.ref, *(one.ref for one in WORLD[3:]), ref()]))
        assert found.counts.namespaces == (NamespaceCount("far", 1),)
        assert {change.where for change in found.difference.effects} == {"gone"}


def test_what_deleting_it_would_change() -> None:
    """What others set takes its place."""
    found = answer(ref(), color("p", ONE, a=1), color("g", G, a=2, b=3))
    assert told(found.difference) == ["kept default/g/http/one a: 1 p -> 2 g"]
