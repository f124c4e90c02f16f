"""What differs in what policies and routes are attached to, and in whether policies count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy import MergeStrategy, PolicyKindProfile
from kubectl_policy.model import Gap, GroupKind
from tests import build
from tests.differences import attachments, between, color, enforcement, parents

if TYPE_CHECKING:
    from kubectl_policy.model import Resource
    from kubectl_policy.questions.diff import StateDiff

PROFILE: Final = PolicyKindProfile(
    GroupKind("example.com", "ColorPolicy"),
    "inherited",
    "profile",
    strategy=MergeStrategy.PATCH_DEFAULTS,
    stanzas="none",
)
GATEWAY: Final = build.gateway()
ROUTE: Final = build.route()
SERVICE: Final = build.service()
WORLD: Final = (build.gateway_class(), build.namespace("default"), GATEWAY, ROUTE, SERVICE)
G: Final = build.target("g")
R: Final = build.target("r", "HTTPRoute")
S: Final = build.target("s", "Service", group="")


def differing(before: list[Resource], after: list[Resource]) -> StateDiff:
    """What differs when the rest of the world is the same."""
    return between([*WORLD, *before], [*WORLD, *after], PROFILE)


def except_for(*left_out: Resource) -> list[Resource]:
    """The world without some objects."""
    return [resource for resource in WORLD if resource not in left_out]


class TestAttachments:
    """Targets that policies gain, lose or reach in another way."""

    def test_the_same_targets_in_another_order(self) -> None:
        """Nothing differs."""
        found = differing([color("p", G, S, a=1)], [color("p", S, G, a=1)])
        assert attachments(found) == []

    def test_another_target(self) -> None:
        """One is lost and one is gained, also where neither is there."""
        found = differing([color("p", G, a=1)], [color("p", S, a=1)])
        assert attachments(found) == [
            ("p", "Service default/s", None, "attached"),
            ("p", "Gateway default/g", "attached", None),
        ]
        ghosts = [build.target(name) for name in ("ghost", "spook")]
        found = differing([color("p", ghosts[0], a=1)], [color("p", ghosts[1], a=1)])
        assert attachments(found) == [
            ("p", "Gateway default/ghost", "target unknown", None),
            ("p", "Gateway default/spook", None, "target unknown"),
        ]
        assert [one.message for one in found.attachments] == [
            "Gateway default/ghost is not in the input",
            "Gateway default/spook is not in the input",
        ]

    def test_a_target_named_twice(self) -> None:
        """The reference that holds counts; without it the other one is told."""
        twice = color("p", R, {**R, "sectionName": "ghost"}, R, a=1)
        assert attachments(differing([color("p", R, a=1)], [twice])) == [
            ("p", "HTTPRoute default/r#ghost", None, "section missing")
        ]

    def test_a_section_that_vanishes(self) -> None:
        """With why it is not attached."""
        other = build.gateway("g", build.listener("other"))
        policy = color("p", {**G, "sectionName": "http"}, a=1)
        (found,) = between([*WORLD, policy], [*except_for(GATEWAY), other, policy], PROFILE).attachments
        assert (found.before, found.after) == ("attached", "section missing")
        assert "http" in found.message

    def test_a_policy_is_created_or_deleted(self) -> None:
        """With all its targets; one that names none has none to lose."""
        policy = color("p", G, a=1)
        assert attachments(differing([], [policy])) == [("p", "Gateway default/g", None, "attached")]
        assert attachments(differing([policy], [])) == [("p", "Gateway default/g", "attached", None)]
        assert attachments(differing([color("p", a=1)], [])) == []


class TestParents:
    """Parents and listeners that routes gain or lose."""

    def test_not_where_the_hierarchy_is_shared(self) -> None:
        """Policies attach no routes."""
        assert parents(differing([color("p", G, a=1)], [])) == []

    def test_a_route_that_is_refused_before_and_after_or_not_there(self) -> None:
        """It loses nothing by that."""
        refused = build.route("x", parents=[build.parent("g", "ghost")])
        assert parents(differing([refused], [])) == []
        assert parents(differing([], [refused])) == []

    def test_a_route_is_created_or_deleted(self) -> None:
        """It gains or loses its listener."""
        found = between(WORLD, except_for(ROUTE))
        assert parents(found) == [("r", "Gateway default/g#http", "attached", None, "")]
        found = between(except_for(ROUTE), WORLD)
        assert parents(found) == [("r", "Gateway default/g#http", None, "attached", "")]

    def test_a_listener_takes_no_routes_any_more(self) -> None:
        """With why."""
        closed = build.gateway("g", build.listener(allowedRoutes=build.allow("None")))
        (found,) = between(WORLD, [*except_for(GATEWAY), closed]).parents
        assert (found.before, found.after) == ("attached", "refused")
        assert found.message != ""

    def test_a_listener_that_vanishes(self) -> None:
        """The reason is what becomes of the Gateway as a parent."""
        named = build.route("named", parents=[build.parent("g", "http")])
        other = build.gateway("g", build.listener("other"))
        found = between([*WORLD, named], [*except_for(GATEWAY), other, named])
        lost = [one for one in parents(found) if one[0] == "named"]
        assert [one[1:4] for one in lost] == [("Gateway default/g#http", "attached", None)]
        assert "http" in lost[0][4]

    def test_a_parent_that_is_not_known_any_more(self) -> None:
        """The route may be attached to it."""
        found = between(WORLD, except_for(GATEWAY), gaps=[Gap("Gateway", "", "forbidden")])
        assert parents(found) == [
            ("r", "Gateway default/g", None, "unknown", "Gateway default/g is not in the input"),
            ("r", "Gateway default/g#http", "attached", None, "Gateway default/g is not in the input"),
        ]


class TestEnforcement:
    """What has become of policies."""

    def test_nothing_else(self) -> None:
        """A policy that sets something else is in force as it was."""
        assert enforcement(differing([color("p", G, a=1)], [color("p", G, a=2)])) == {}

    def test_another_state(self) -> None:
        """Its target has gone."""
        policy = color("p", S, a=1)
        assert enforcement(between([*WORLD, policy], [*except_for(SERVICE), policy], PROFILE)) == {
            "p": ("Enforced", "TargetNotFound", [])
        }

    def test_by_somebody_else(self) -> None:
        """The state is the same."""
        above = color("g", G, a=1)
        assert enforcement(differing([above, color("r", R, a=2)], [above, color("s", S, a=2)])) == {
            "g": ("Overridden", "Overridden", ["s"]),
            "r": ("Enforced", None, []),
            "s": (None, "Enforced", []),
        }
