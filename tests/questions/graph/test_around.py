"""Pictures of the neighbourhood of some objects, and their blind spots."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy import NotFoundError
from kubectl_policy.model import Gap, NodeRef, Origin, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.graph.picture import GraphOptions, Picture
from tests import build
from tests.questions.graph.drawings import around, drawn, links, nodes, outcomes, policies, unseen

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
    def test_what_is_not_there(self) -> None:
        with pytest.raises(NotFoundError, match="HTTPRoute default/c is not in the input"):
            drawn(WORLD, around(build.ref("HTTPRoute", "c")))
        with pytest.raises(NotFoundError):
            drawn(WORLD, around(A, build.ref("HTTPRoute", "c")))

    def test_a_route(self) -> None:
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
        picture = drawn(WORLD, around(GATEWAY))
        assert nodes(picture) == [
            name for name in nodes(drawn(WORLD)) if "other" not in name and "unrelated" not in name
        ]

    def test_a_service(self) -> None:
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
        world = [*WORLD, build.service("unused"), build.gateway("away", namespace="other")]
        everything = [name for name in nodes(drawn(world)) if "other/" not in name]
        assert nodes(drawn(world, around(HOME))) == [*everything, "Namespace default"]

    def test_several(self) -> None:
        assert nodes(drawn(WORLD, around(A, B))) == nodes(drawn(WORLD, around(GATEWAY)))

    def test_a_policy(self) -> None:
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
        assert nodes(drawn(WORLD, around(build.ref("GatewayClass", "other")))) == [
            "GatewayClass other (missing)",
            "Gateway unrelated",
            "Gateway unrelated#http",
        ]


class TestDirections:
    def test_neither(self) -> None:
        assert nodes(drawn(WORLD, around(A, up=False, down=False))) == ["HTTPRoute a"]

    def test_up(self) -> None:
        picture = drawn(WORLD, around(A, down=False))
        assert nodes(picture) == ["GatewayClass public", "Gateway g", "Gateway g#one", "HTTPRoute a"]

    def test_down(self) -> None:
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
        less = nodes(drawn(WORLD, around(CLASS, depth=depth - 1))) if depth > 1 else []
        assert nodes(drawn(WORLD, around(CLASS, depth=depth))) == [*less, *found]

    def test_depth_upward(self) -> None:
        assert nodes(drawn(WORLD, around(SERVICE, depth=1))) == [
            "HTTPRoute a",
            "HTTPRoute a#rule[0]",
            "HTTPRoute b",
            "HTTPRoute b#rule[0]",
            "Service s",
            "Service s#8080",
        ]

    def test_the_nearest_way_counts(self) -> None:
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
        refused = build.route("c", parents=[build.parent("unrelated", "ghost")])
        picture = drawn([*WORLD, refused], around(refused.ref))
        assert "Gateway unrelated" in nodes(picture)
        assert "GatewayClass other (missing)" not in nodes(picture)
        picture = drawn([*WORLD, refused], around(build.ref("Gateway", "unrelated")))
        assert nodes(picture)[-1] == "HTTPRoute c"
        assert links(picture, "route") == ["Gateway unrelated > HTTPRoute c refused NoMatchingParent"]


class TestNamespace:
    ELSEWHERE: Final = (
        build.gateway("shared", build.listener(allowedRoutes=build.allow()), namespace="other"),
        build.route("away", parents=[build.parent("shared")], namespace="other"),
        build.route("here", parents=[build.parent("shared", namespace="other")], rules=[]),
    )

    def test_one_with_nothing(self) -> None:
        picture = drawn(WORLD, GraphOptions(namespace="empty"))
        assert not picture.nodes
        assert picture.is_part

    def test_one_of_two(self) -> None:
        world = [build.gateway_class(), *self.ELSEWHERE, build.service("unused")]
        assert nodes(drawn(world, GraphOptions(namespace="default"))) == [
            "GatewayClass public",
            "Gateway other/shared",
            "Gateway other/shared#http",
            "HTTPRoute here",
        ]

    def test_with_its_policies(self) -> None:
        home = build.policy("home", build.target("default", "Namespace", group=""), color="red")
        unused = build.policy("on-unused", build.target("unused", "Service", group=""), color="red")
        world = [*WORLD, *self.ELSEWHERE, build.service("unused"), home, unused]
        picture = drawn(world, GraphOptions(namespace="default"))
        assert nodes(picture)[-2:] == ["Service unused", "Namespace default"]
        assert [policy.ref.name for policy in picture.policies] == ["home", "on-unused"]

    def test_subjects_are_in_their_own(self) -> None:
        asked = around(A, namespace="other")
        assert nodes(drawn([*WORLD, *self.ELSEWHERE], asked)) == nodes(drawn(WORLD, around(A)))


class TestPolicies:
    ON_GATEWAY: Final = build.policy("on-g", build.target("g"), color="red")
    ON_A: Final = build.policy("on-a", build.target("a", "HTTPRoute"), color="blue")
    ON_TWO: Final = build.policy("on-two", build.target("g", section="two"), color="green")
    EVERY: Final = (*WORLD, ON_GATEWAY, ON_A, ON_TWO)

    def test_not_those_of_other_sections(self) -> None:
        assert [policy.ref.name for policy in drawn(self.EVERY, around(A)).policies] == ["on-a", "on-g"]
        assert [policy.ref.name for policy in drawn(self.EVERY, around(B)).policies] == ["on-g", "on-two"]

    def test_those_that_fail(self) -> None:
        lost = build.policy("lost", build.target("a", "HTTPRoute", "ghost"), build.target("far"), color="red")
        picture = drawn([*WORLD, lost], around(A))
        assert policies(picture) == ["lost TargetNotFound"]
        assert "HTTPRoute a#ghost (missing)" in nodes(picture)
        assert "Gateway far (missing)" not in nodes(picture)
        assert [policy.ref.name for policy in drawn([*WORLD, lost], around(B)).policies] == []

    def test_how_far_they_are_enforced(self) -> None:
        """On the paths there: what beats a policy elsewhere is no matter, and all that is told of a policy itself."""
        assert policies(drawn(self.EVERY, around(A))) == ["on-a Enforced at HTTPRoute a, Service s", "on-g Overridden"]
        assert policies(drawn(self.EVERY, around(B)))[0] == "on-g Overridden"
        superseded = [*WORLD, self.ON_GATEWAY, self.ON_A]
        assert policies(drawn(superseded, around(B))) == ["on-g Enforced at Gateway g, HTTPRoute b, Service s"]
        told = "on-g PartiallyEnforced at Gateway g, HTTPRoute b, Service s"
        assert policies(drawn(superseded))[1] == told
        assert policies(drawn(superseded, around(GATEWAY)))[1] == told
        assert policies(drawn(superseded, around(self.ON_GATEWAY.ref)))[1] == told
        assert policies(drawn(superseded, around(A, self.ON_GATEWAY.ref)))[1] == told

    def test_direct_ones(self) -> None:
        tls = build.policy(
            "tls",
            {**S, "sectionName": "8080"},
            kind="BackendTLSPolicy",
            group="gateway.networking.k8s.io",
            validation={"hostname": "s", "wellKnownCACertificates": "System"},
        )
        assert policies(drawn([*WORLD, tls], around(A))) == ["tls Enforced at Service s#8080"]

    def test_of_gateways_that_refuse(self) -> None:
        refused = build.route("c", parents=[build.parent("g", "ghost")])
        picture = drawn([*WORLD, self.ON_GATEWAY, refused], around(refused.ref))
        assert policies(picture) == ["on-g NoEffect"]

    def test_links_to_what_they_target(self) -> None:
        p = build.policy("p", build.target("unrelated"), build.target("a", "HTTPRoute"), color="red")
        picture = drawn([*WORLD, p], around(A))
        assert "Gateway unrelated" not in nodes(picture)
        assert [str(each.target) for each in picture.policies[0].targets][:1] == ["Gateway default/unrelated"]
        assert NodeRef(A) in picture.policies[0].affected


ROUTE: Final = build.route()
ATTACHED: Final = (
    build.gateway_class(),
    build.gateway(),
    ROUTE,
    build.service(),
    build.namespace("default"),
    build.policy("p", build.target("g"), color="red"),
)
HERE: Final = GraphOptions(namespace="default")
AROUND: Final = around(ROUTE.ref)


def without(kind: str, group: str, namespace: str = "", asked: GraphOptions | None = None) -> Picture:
    """The picture in a cluster that did not give out the objects of a kind."""
    gap = Gap(kind, namespace, "forbidden", group=group, remedy="ask for it")
    return drawn([*ATTACHED, build.crd("SpeedPolicy")], asked, gaps=[gap])


class TestGaps:
    def test_what_matters_not(self) -> None:
        """Nothing of Kubernetes' own that no request runs through, and nothing elsewhere."""
        for asked in (None, HERE, AROUND):
            assert not unseen(without("ConfigMap", "", asked=asked))
        assert not unseen(without("Service", "", "other", HERE))
        assert not unseen(without("HTTPRoute", GATEWAY_API, "other", AROUND))

    def test_of_the_hierarchy(self) -> None:
        for kind, group in (
            ("HTTPRoute", GATEWAY_API),
            ("Service", ""),
            ("ReferenceGrant", GATEWAY_API),
            ("Namespace", ""),
        ):
            assert unseen(without(kind, group)) == [f"{kind}s"]
        assert unseen(without("HTTPRoute", GATEWAY_API, asked=HERE)) == ["HTTPRoutes"]

    def test_of_policies(self) -> None:
        for asked in (None, HERE, AROUND):
            assert unseen(without("SpeedPolicy", "example.com", asked=asked)) == ["SpeedPolicies"]


class TestNames:
    def test_everything_was_read(self) -> None:
        for asked in (None, HERE, AROUND):
            assert not unseen(drawn(ATTACHED, asked))

    def test_parents(self) -> None:
        lost = build.route("lost", parents=[build.parent("ghost")])
        assert unseen(drawn([*ATTACHED, lost], complete=False)) == ["Gateway default/ghost"]
        assert unseen(drawn([*ATTACHED, lost], around(lost.ref), complete=False)) == ["Gateway default/ghost"]
        assert not unseen(drawn([*ATTACHED, lost], AROUND, complete=False))

    def test_targets(self) -> None:
        q = build.policy("q", build.target("ghost"), color="red")
        assert unseen(drawn([*ATTACHED, q], complete=False)) == ["Gateway default/ghost"]
        assert unseen(drawn([*ATTACHED, q], around(q.ref), complete=False)) == ["Gateway default/ghost"]
        assert not unseen(drawn([*ATTACHED, q], AROUND, complete=False))
        both = build.policy("both", build.target("ghost"), build.target("r", "HTTPRoute"), color="red")
        assert not unseen(drawn([*ATTACHED, both], AROUND, complete=False))

    def test_each_once(self) -> None:
        lost = [build.route(name, parents=[build.parent("ghost")]) for name in ("a", "b")]
        asked = around(*(route.ref for route in lost))
        assert unseen(drawn([*ATTACHED, *lost], asked, complete=False)) == ["Gateway default/ghost"]


class TestWhatMayDiffer:
    def of(self, kind: str, name: str) -> Picture:
        """The picture where a patch of something was not applied."""
        patch = Gap(kind, "default", "a patch", Origin("patch.yaml", 1), name=name)
        return drawn(ATTACHED, GraphOptions(effective=True), gaps=[patch])

    def test_nothing(self) -> None:
        picture = self.of("ConfigMap", "c")
        assert not any(node.may_differ for node in picture.nodes)
        assert not any(policy.may_differ for policy in picture.policies)
        assert all(win.certain for outcome in outcomes(picture).values() for win in outcome.wins)

    def test_a_route(self) -> None:
        picture = self.of("HTTPRoute", "r")
        assert [str(node.ref) for node in picture.nodes if node.may_differ] == [
            "HTTPRoute default/r",
            "HTTPRoute default/r#rule[0]",
        ]
        assert not any(policy.may_differ for policy in picture.policies)

    def test_a_policy(self) -> None:
        picture = self.of("ColorPolicy", "p")
        assert [policy.may_differ for policy in picture.policies] == [True]
        assert not any(node.may_differ for node in picture.nodes)
        assert not any(win.certain for outcome in outcomes(picture).values() for win in outcome.wins)
