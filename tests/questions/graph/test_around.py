"""The picture of what is around some objects, or of what is in a namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import NotFoundError
from kubectl_policy.model import NodeRef
from kubectl_policy.questions.graph.picture import GraphOptions
from tests import build
from tests.questions.graph.told import around, drawn, links, nodes, policies

if TYPE_CHECKING:
    from kubectl_policy.model import Resource

S: Final = build.target("s", "Service", group="")
# Two routes of one Gateway, to one Service of each namespace; and a Gateway that has nothing to do with them.
WORLD: Final[tuple[Resource, ...]] = (
    build.gateway_class(),
    build.gateway("g", build.listener("one"), build.listener("two", port=81)),
    build.gateway("unrelated", class_name="other"),
    build.route("a", parents=[build.parent("g", "one")]),
    build.route("b", parents=[build.parent("g", "two")], rules=[build.rule(build.backend("s")), build.rule()]),
    build.service("s", 8080, 9090),
    build.namespace("default"),
)
GATEWAY: Final = build.ref("Gateway", "g")
A: Final = build.ref("HTTPRoute", "a")
B: Final = build.ref("HTTPRoute", "b")
SERVICE: Final = build.ref("Service", "s", group="")
HOME: Final = build.ref("Namespace", "default", group="")
CLASS: Final = build.ref("GatewayClass", "public")


class TestSubjects:
    """What is around what."""

    def test_what_is_not_there(self) -> None:
        """Nothing is around it."""
        with pytest.raises(NotFoundError, match="HTTPRoute default/c is not in the input"):
            drawn(WORLD, around(build.ref("HTTPRoute", "c")))
        with pytest.raises(NotFoundError):
            drawn(WORLD, around(A, build.ref("HTTPRoute", "c")))

    def test_a_route(self) -> None:
        """Its own listener, and not the others; its rules, and the port that they name."""
        picture = drawn(WORLD, around(A))
        assert nodes(picture) == [
            "GatewayClass public",
            "Gateway g",
            "Gateway g#one",
            "HTTPRoute a",
            "HTTPRoute a#rule[0]",
            "Service s",
            "Service s#8080",
        ]
        assert links(picture) == [
            "Service s > Service s#8080",
            "Gateway g > Gateway g#one",
            "Gateway g#one > HTTPRoute a",
            "GatewayClass public > Gateway g",
            "HTTPRoute a > HTTPRoute a#rule[0]",
            "HTTPRoute a#rule[0] > Service s#8080",
        ]
        assert picture.asked.subjects == (A,)
        assert picture.is_part

    def test_a_gateway(self) -> None:
        """All below it."""
        picture = drawn(WORLD, around(GATEWAY))
        assert nodes(picture) == [
            name for name in nodes(drawn(WORLD)) if "other" not in name and "unrelated" not in name
        ]

    def test_a_service(self) -> None:
        """All rules that lead to it, and no others; ports that none of them names are left out."""
        assert nodes(drawn(WORLD, around(SERVICE))) == [
            "GatewayClass public",
            "Gateway g",
            "Gateway g#one",
            "Gateway g#two",
            "HTTPRoute a",
            "HTTPRoute a#rule[0]",
            "HTTPRoute b",
            "HTTPRoute b#rule[0]",
            "Service s",
            "Service s#8080",
        ]

    def test_a_service_that_nothing_leads_to(self) -> None:
        """It is all that there is, with the ports on which a policy has an effect."""
        unused = build.service("unused", 80)
        assert nodes(drawn([*WORLD, unused], around(unused.ref))) == ["Service unused"]
        tls = build.policy(
            "tls",
            build.target("unused", "Service", group=""),
            kind="BackendTLSPolicy",
            group="gateway.networking.k8s.io",
            validation={"hostname": "unused", "wellKnownCACertificates": "System"},
        )
        picture = drawn([*WORLD, unused, tls], around(unused.ref))
        assert nodes(picture) == ["Service unused", "Service unused#80"]
        assert policies(picture) == ["tls Enforced at Service unused#80"]

    def test_a_namespace(self) -> None:
        """It and what is in it, and around that; unused Services are left out."""
        world = [*WORLD, build.service("unused"), build.gateway("away", namespace="other")]
        everything = [name for name in nodes(drawn(world)) if "other/" not in name]
        assert nodes(drawn(world, around(HOME))) == [*everything, "Namespace default"]

    def test_several(self) -> None:
        """What is around any of them."""
        assert nodes(drawn(WORLD, around(A, B))) == nodes(drawn(WORLD, around(GATEWAY)))

    def test_a_policy(self) -> None:
        """What it targets, and what is around that: of a port not the others."""
        p = build.policy("p", {**S, "sectionName": "9090"}, build.target("ghost"), color="red")
        picture = drawn([*WORLD, p], around(p.ref))
        assert nodes(picture) == ["Gateway ghost (missing)", "Service s", "Service s#9090"]
        assert links(picture) == ["Service s > Service s#9090"]
        home = build.policy("home", build.target("default", "Namespace", group=""), color="red")
        assert nodes(drawn([*WORLD, home], around(home.ref))) == nodes(drawn(WORLD, around(HOME)))

    def test_a_listener(self) -> None:
        """A policy of one, of which nothing above is asked for: the Gateway is drawn with it all the same."""
        p = build.policy("p", build.target("g", section="two"), color="red")
        picture = drawn([*WORLD, p], around(p.ref, up=False))
        assert nodes(picture)[:3] == ["Gateway g", "Gateway g#two", "HTTPRoute b"]
        assert links(picture, "listener", "route") == ["Gateway g > Gateway g#two", "Gateway g#two > HTTPRoute b"]

    def test_what_is_named_alone(self) -> None:
        """What names it is around it."""
        assert nodes(drawn(WORLD, around(build.ref("GatewayClass", "other")))) == [
            "GatewayClass other (missing)",
            "Gateway unrelated",
            "Gateway unrelated#http",
        ]


class TestDirections:
    """Up, down, and how far."""

    def test_neither(self) -> None:
        """Then there are the subjects alone."""
        assert nodes(drawn(WORLD, around(A, up=False, down=False))) == ["HTTPRoute a"]

    def test_up(self) -> None:
        """What leads there."""
        picture = drawn(WORLD, around(A, down=False))
        assert nodes(picture) == ["GatewayClass public", "Gateway g", "Gateway g#one", "HTTPRoute a"]

    def test_down(self) -> None:
        """Where it leads."""
        picture = drawn(WORLD, around(A, up=False))
        assert nodes(picture) == ["HTTPRoute a", "HTTPRoute a#rule[0]", "Service s", "Service s#8080"]

    @pytest.mark.parametrize(
        ("depth", "found"),
        [
            (1, ["GatewayClass public", "Gateway g", "Gateway g#one", "Gateway g#two"]),
            (2, ["HTTPRoute a", "HTTPRoute a#rule[0]", "HTTPRoute b", "HTTPRoute b#rule[0]", "HTTPRoute b#rule[1]"]),
            (3, ["Service s", "Service s#8080"]),
            (4, []),
        ],
    )
    def test_depth(self, depth: int, found: list[str]) -> None:
        """It counts objects: their sections are no further away."""
        less = nodes(drawn(WORLD, around(CLASS, depth=depth - 1))) if depth > 1 else []
        assert nodes(drawn(WORLD, around(CLASS, depth=depth))) == [*less, *found]

    def test_depth_upward(self) -> None:
        """The same from below."""
        assert nodes(drawn(WORLD, around(SERVICE, depth=1))) == [
            "HTTPRoute a",
            "HTTPRoute a#rule[0]",
            "HTTPRoute b",
            "HTTPRoute b#rule[0]",
            "Service s",
            "Service s#8080",
        ]

    def test_the_nearest_way_counts(self) -> None:
        """One of two ways to a route is longer."""
        to_b = build.backend("b", None, kind="HTTPRoute", group=A.group_kind.group)
        delegating = build.route("a", rules=[build.rule(to_b)])
        world = [
            build.gateway_class(controller="kgateway.dev/kgateway"),
            build.gateway(),
            delegating,
            build.route("b", parents=[build.parent(), build.parent("a", kind="HTTPRoute")]),
            build.service(),
        ]
        picture = drawn(world, around(CLASS, depth=3))
        assert "Service s#8080" in nodes(picture)
        assert links(picture, "backend") == [
            "HTTPRoute a#rule[0] > HTTPRoute b",
            "HTTPRoute b#rule[0] > Service s#8080",
        ]

    def test_refused_links(self) -> None:
        """They are drawn, and not followed: no requests run down them."""
        refused = build.route("c", parents=[build.parent("unrelated", "ghost")])
        picture = drawn([*WORLD, refused], around(refused.ref))
        assert "Gateway unrelated" in nodes(picture)
        assert "GatewayClass other (missing)" not in nodes(picture)
        picture = drawn([*WORLD, refused], around(build.ref("Gateway", "unrelated")))
        assert nodes(picture)[-1] == "HTTPRoute c"
        assert links(picture, "route") == ["Gateway unrelated > HTTPRoute c refused NoMatchingParent"]


class TestNamespace:
    """What is in a namespace, and around that."""

    ELSEWHERE: Final = (
        build.gateway("shared", build.listener(allowedRoutes=build.allow()), namespace="other"),
        build.route("away", parents=[build.parent("shared")], namespace="other"),
        build.route("here", parents=[build.parent("shared", namespace="other")], rules=[]),
    )

    def test_one_with_nothing(self) -> None:
        """There is nothing to draw."""
        picture = drawn(WORLD, GraphOptions(namespace="empty"))
        assert not picture.nodes
        assert picture.is_part

    def test_one_of_two(self) -> None:
        """What leads there from another namespace is drawn, and what else is there is not."""
        world = [build.gateway_class(), *self.ELSEWHERE, build.service("unused")]
        assert nodes(drawn(world, GraphOptions(namespace="default"))) == [
            "GatewayClass public",
            "Gateway other/shared",
            "Gateway other/shared#http",
            "HTTPRoute here",
        ]

    def test_with_its_policies(self) -> None:
        """Also one of the Namespace, which is drawn then; and one of what nothing leads to."""
        home = build.policy("home", build.target("default", "Namespace", group=""), color="red")
        unused = build.policy("on-unused", build.target("unused", "Service", group=""), color="red")
        world = [*WORLD, *self.ELSEWHERE, build.service("unused"), home, unused]
        picture = drawn(world, GraphOptions(namespace="default"))
        assert nodes(picture)[-2:] == ["Service unused", "Namespace default"]
        assert [policy.ref.name for policy in picture.policies] == ["home", "on-unused"]

    def test_subjects_are_in_their_own(self) -> None:
        """Where there are any, the namespace that is asked for says nothing more."""
        asked = around(A, namespace="other")
        assert nodes(drawn([*WORLD, *self.ELSEWHERE], asked)) == nodes(drawn(WORLD, around(A)))


class TestPolicies:
    """Which policies are around, and how far they are enforced there."""

    ON_GATEWAY: Final = build.policy("on-g", build.target("g"), color="red")
    ON_A: Final = build.policy("on-a", build.target("a", "HTTPRoute"), color="blue")
    ON_TWO: Final = build.policy("on-two", build.target("g", section="two"), color="green")
    EVERY: Final = (*WORLD, ON_GATEWAY, ON_A, ON_TWO)

    def test_not_those_of_other_sections(self) -> None:
        """A policy of a listener is not about routes of another one."""
        assert [policy.ref.name for policy in drawn(self.EVERY, around(A)).policies] == ["on-a", "on-g"]
        assert [policy.ref.name for policy in drawn(self.EVERY, around(B)).policies] == ["on-g", "on-two"]

    def test_those_that_fail(self) -> None:
        """A policy of a section that the route has not is about the route."""
        lost = build.policy("lost", build.target("a", "HTTPRoute", "ghost"), build.target("far"), color="red")
        picture = drawn([*WORLD, lost], around(A))
        assert policies(picture) == ["lost TargetNotFound"]
        assert "HTTPRoute a#ghost (missing)" in nodes(picture)
        assert "Gateway far (missing)" not in nodes(picture)
        assert [policy.ref.name for policy in drawn([*WORLD, lost], around(B)).policies] == []

    def test_how_far_they_are_enforced(self) -> None:
        """On the paths there: what beats a policy elsewhere is no matter, and all that is told of a policy itself."""
        assert policies(drawn(self.EVERY, around(A))) == [
            "on-a Enforced at HTTPRoute a, Service s",
            "on-g Overridden",
        ]
        assert policies(drawn(self.EVERY, around(B)))[0] == "on-g Overridden"
        beaten = [*WORLD, self.ON_GATEWAY, self.ON_A]
        assert policies(drawn(beaten, around(B))) == ["on-g Enforced at Gateway g, HTTPRoute b, Service s"]
        told = "on-g PartiallyEnforced at Gateway g, HTTPRoute b, Service s"
        assert policies(drawn(beaten))[1] == told
        assert policies(drawn(beaten, around(GATEWAY)))[1] == told
        assert policies(drawn(beaten, around(self.ON_GATEWAY.ref)))[1] == told
        assert policies(drawn(beaten, around(A, self.ON_GATEWAY.ref)))[1] == told

    def test_direct_ones(self) -> None:
        """Where they are."""
        tls = build.policy(
            "tls",
            {**S, "sectionName": "8080"},
            kind="BackendTLSPolicy",
            group="gateway.networking.k8s.io",
            validation={"hostname": "s", "wellKnownCACertificates": "System"},
        )
        assert policies(drawn([*WORLD, tls], around(A))) == ["tls Enforced at Service s#8080"]

    def test_of_gateways_that_refuse(self) -> None:
        """They are drawn, and have no effect there."""
        refused = build.route("c", parents=[build.parent("g", "ghost")])
        picture = drawn([*WORLD, self.ON_GATEWAY, refused], around(refused.ref))
        assert policies(picture) == ["on-g NoEffect"]

    def test_links_to_what_they_target(self) -> None:
        """A target that no link leads to is drawn alone."""
        p = build.policy("p", build.target("unrelated"), build.target("a", "HTTPRoute"), color="red")
        picture = drawn([*WORLD, p], around(A))
        assert "Gateway unrelated" not in nodes(picture)
        assert [str(each.target) for each in picture.policies[0].targets][:1] == ["Gateway default/unrelated"]
        assert NodeRef(A) in picture.policies[0].affected
