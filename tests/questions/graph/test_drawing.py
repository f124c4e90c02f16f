"""Tests of `questions/graph/drawing.py`."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy import NotFoundError
from kubectl_policy.model import Gap, NodeRef, Origin, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.graph.picture import GraphOptions, Picture
from tests import build
from tests.questions.graph.drawings import around, drawn, links, nodes, outcomes, policies, unseen

S: Final = build.ON_SERVICE
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
    ON_GATEWAY: Final = build.policy("on-g", build.ON_GATEWAY, color="red")
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
        assert policies(drawn([*WORLD, self.ON_GATEWAY, refused], around(refused.ref))) == ["on-g NoEffect"]

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
    build.policy("p", build.ON_GATEWAY, color="red"),
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
        both = build.policy("both", build.target("ghost"), build.ON_ROUTE, color="red")
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
        assert all(group.certain for outcome in outcomes(picture).values() for group in outcome.groups)

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
        assert not any(group.certain for outcome in outcomes(picture).values() for group in outcome.groups)


EVERYTHING: Final[tuple[Resource, ...]] = (
    build.gateway_class(),
    build.namespace("default"),
    build.gateway(),
    build.route(),
    build.service("s"),
)


def test_nothing() -> None:
    for world in ([], [build.service("s"), build.namespace("default"), build.resource("ConfigMap", "c", group="")]):
        picture = drawn(world)
        assert (picture.nodes, picture.links, picture.policies, picture.unseen) == ((), (), (), ())
        assert not outcomes(picture)
        assert (picture.two_states, picture.is_part) == (False, False)


def test_from_the_class_to_the_port() -> None:
    """Every object with its sections, from the root downward; the Namespace of all is none of them."""
    picture = drawn(EVERYTHING)
    assert nodes(picture) == [
        "GatewayClass public",
        "Gateway g",
        "Gateway g#http",
        "HTTPRoute r",
        "HTTPRoute r#rule[0]",
        "Service s",
        "Service s#8080",
    ]
    assert links(picture) == [
        "Service s > Service s#8080",
        "Gateway g > Gateway g#http",
        "Gateway g#http > HTTPRoute r",
        "GatewayClass public > Gateway g",
        "HTTPRoute r > HTTPRoute r#rule[0]",
        "HTTPRoute r#rule[0] > Service s#8080",
    ]


def test_what_nothing_leads_to() -> None:
    """A Service without routes is left out, a route without parents and a class without Gateways are not."""
    alone = [build.gateway_class("other"), build.route("alone", parents=[], rules=[]), build.service("unused")]
    assert nodes(drawn(alone)) == ["GatewayClass other", "HTTPRoute alone"]


def test_ports_that_nobody_uses() -> None:
    """They are left out, also where a policy is on the Service, unless it has an effect on them or is about one."""
    world = [*EVERYTHING[:4], build.service("s", ("web", 8080), ("admin", 9090), ("debug", 9091))]
    ports = ["Service s#web"]
    assert [name for name in nodes(drawn(world)) if "#" in name and "Service" in name] == ports
    whole = build.policy("whole", S, color="red")
    assert [name for name in nodes(drawn([*world, whole])) if "#" in name and "Service" in name] == ports
    admin = build.policy("admin", {**S, "sectionName": "admin"}, color="red")
    picture = drawn([*world, whole, admin])
    assert [name for name in nodes(picture) if "#" in name and "Service" in name] == [
        "Service s#admin",
        "Service s#web",
    ]
    assert "Service s > Service s#admin" in links(picture)


def test_rules_that_name_no_port() -> None:
    world = [*EVERYTHING[:3], build.route(rules=[build.rule(build.backend("s", None))]), build.service("s", 80, 81)]
    picture = drawn(world)
    assert links(picture, "backend", "port") == [
        "Service s > Service s#80",
        "Service s > Service s#81",
        "HTTPRoute r#rule[0] > Service s broken BackendNotFound",
    ]


def test_several_states_of_presence() -> None:
    """What is named and was not read is drawn: it is missing where everything was read, and not known elsewhere."""
    world = [build.gateway(class_name="gone"), build.route(parents=[build.parent("g"), build.parent("ghost")])]
    assert nodes(drawn(world)) == [
        "GatewayClass gone (missing)",
        "Gateway g",
        "Gateway g#http",
        "Gateway ghost (missing)",
        "HTTPRoute r",
        "HTTPRoute r#rule[0]",
        "Service s (missing)",
    ]
    assert nodes(drawn(world, complete=False))[0] == "GatewayClass gone (unknown)"


def test_a_service_that_only_a_policy_has_to_do_with() -> None:
    unused = [*EVERYTHING, build.service("unused", namespace="other"), build.namespace("other")]
    assert not [name for name in nodes(drawn(unused)) if "other" in name]
    home = build.policy("home", build.target("other", "Namespace", group=""), namespace="other", color="red")
    picture = drawn([*unused, home])
    assert [name for name in nodes(picture) if "other" in name] == ["Service other/unused", "Namespace other"]
    assert policies(picture) == ["home Enforced at Service other/unused"]
    target = build.policy("target", build.target("unused", "Service", group=""), namespace="other", color="red")
    assert [name for name in nodes(drawn([*unused, target])) if "other" in name] == ["Service other/unused"]


def test_policies_and_what_they_target() -> None:
    """All that are about the hierarchy, whatever becomes of them; also those without a target."""
    world = [
        *EVERYTHING,
        build.policy("on-listener", build.target("g", section="http"), color="red"),
        build.policy("on-nothing", build.target("ghost", "HTTPRoute"), color="red"),
        build.policy("on-no-rule", build.target("r", "HTTPRoute", "ghost"), color="red"),
        build.policy(
            "selecting",
            targetSelectors=[
                {"group": "gateway.networking.k8s.io", "kind": "Gateway", "matchLabels": {"team": "nobody"}}
            ],
            color="red",
        ),
    ]
    picture = drawn(world)
    assert policies(picture) == [
        "on-listener Enforced at Gateway g#http, HTTPRoute r, Service s",
        "on-no-rule TargetNotFound",
        "on-nothing TargetNotFound",
        "selecting TargetNotFound",
    ]
    names = nodes(picture)
    assert "HTTPRoute ghost (missing)" in names
    assert "HTTPRoute r#ghost (missing)" in names
    # The section is not there, and so no part of its object.
    assert not [link for link in links(picture) if "ghost" in link]
    assert [[each.state for each in policy.targets] for policy in picture.policies] == [
        ["attached"],
        ["section missing"],
        ["target missing"],
        ["target missing"],
    ]


def test_policies_of_other_things() -> None:
    world = [
        *EVERYTHING,
        build.resource("NetworkPolicy", "n", {"podSelector": {}}, group="networking.k8s.io"),
        build.resource("HTTPRouteFilter", "f", {}, group="gateway.envoyproxy.io"),
    ]
    assert not drawn(world).policies


def test_filters_and_parameters() -> None:
    world = [
        build.gateway_class(
            controller="gateway.envoyproxy.io/gatewayclass-controller",
            parametersRef={"group": "gateway.envoyproxy.io", "kind": "EnvoyProxy", "name": "e", "namespace": "default"},
        ),
        build.gateway(),
        build.route(
            rules=[build.rule(build.backend(), filters=[build.names("f", "HTTPRouteFilter", "gateway.envoyproxy.io")])]
        ),
        build.service(),
        build.resource("EnvoyProxy", "e", {"logging": {"level": {"default": "warn"}}}, group="gateway.envoyproxy.io"),
        build.resource(
            "HTTPRouteFilter", "f", {"urlRewrite": {"hostname": {"type": "Backend"}}}, group="gateway.envoyproxy.io"
        ),
    ]
    picture = drawn(world)
    assert [(policy.ref.name, policy.profile.role) for policy in picture.policies] == [
        ("e", "parameters"),
        ("f", "filter"),
    ]
    assert [str(each.target) for policy in picture.policies for each in policy.targets] == [
        "GatewayClass public",
        "HTTPRoute default/r#rule[0]",
    ]


def test_only_policies_of_some_kinds() -> None:
    world = [
        *EVERYTHING,
        build.policy("red", build.target("ghost"), color="red"),
        build.policy("fast", build.ON_GATEWAY, kind="SpeedPolicy", speed=1),
    ]
    picture = drawn(
        world, GraphOptions(policy_kinds=frozenset({build.ref("SpeedPolicy", "fast", group="example.com").group_kind}))
    )
    assert policies(picture) == ["fast Enforced at Gateway g, HTTPRoute r, Service s"]
    assert "Gateway ghost (missing)" not in nodes(picture)
    assert "Gateway ghost (missing)" in nodes(drawn(world))


def test_what_no_api_serves() -> None:
    world = [*EVERYTHING, build.policy("p", build.target("v", "Fleet", group="no.example.org"), color="red")]
    assert [name for name in nodes(drawn(world)) if "Fleet" in name] == ["Fleet v (missing) virtual"]
