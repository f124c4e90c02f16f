"""What a picture could not show, as it was not read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import Gap, Origin
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.graph.picture import GraphOptions
from tests import build
from tests.questions.graph.told import around, drawn, outcomes, unseen

if TYPE_CHECKING:
    from kubectl_policy.questions.graph.picture import Picture

ROUTE: Final = build.route()
WORLD: Final = (
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
    return drawn([*WORLD, build.crd("SpeedPolicy")], asked, gaps=[gap])


class TestGaps:
    """What a cluster did not give out."""

    def test_what_matters_not(self) -> None:
        """Nothing of Kubernetes' own that no request runs through, and nothing elsewhere."""
        for asked in (None, HERE, AROUND):
            assert not unseen(without("ConfigMap", "", asked=asked))
        assert not unseen(without("Service", "", "other", HERE))
        assert not unseen(without("HTTPRoute", GATEWAY_API, "other", AROUND))

    def test_of_the_hierarchy(self) -> None:
        """There may be more routes, more backends, and grants by which requests get there."""
        for kind, group in (
            ("HTTPRoute", GATEWAY_API),
            ("Service", ""),
            ("ReferenceGrant", GATEWAY_API),
            ("Namespace", ""),
        ):
            assert unseen(without(kind, group)) == [f"{kind}s"]
        assert unseen(without("HTTPRoute", GATEWAY_API, asked=HERE)) == ["HTTPRoutes"]

    def test_of_policies(self) -> None:
        """There may be more of these everywhere."""
        for asked in (None, HERE, AROUND):
            assert unseen(without("SpeedPolicy", "example.com", asked=asked)) == ["SpeedPolicies"]


class TestNames:
    """What is named, and was not read."""

    def test_everything_was_read(self) -> None:
        """Then nothing is unseen."""
        for asked in (None, HERE, AROUND):
            assert not unseen(drawn(WORLD, asked))

    def test_parents(self) -> None:
        """Whether they take a route is not known."""
        lost = build.route("lost", parents=[build.parent("ghost")])
        assert unseen(drawn([*WORLD, lost], complete=False)) == ["Gateway default/ghost"]
        assert unseen(drawn([*WORLD, lost], around(lost.ref), complete=False)) == ["Gateway default/ghost"]
        assert not unseen(drawn([*WORLD, lost], AROUND, complete=False))

    def test_targets(self) -> None:
        """Of policies that are drawn, or around what they are about."""
        q = build.policy("q", build.target("ghost"), color="red")
        assert unseen(drawn([*WORLD, q], complete=False)) == ["Gateway default/ghost"]
        assert unseen(drawn([*WORLD, q], around(q.ref), complete=False)) == ["Gateway default/ghost"]
        assert not unseen(drawn([*WORLD, q], AROUND, complete=False))
        both = build.policy("both", build.target("ghost"), build.target("r", "HTTPRoute"), color="red")
        assert not unseen(drawn([*WORLD, both], AROUND, complete=False))

    def test_each_once(self) -> None:
        """However many are concerned."""
        lost = [build.route(name, parents=[build.parent("ghost")]) for name in ("a", "b")]
        asked = around(*(route.ref for route in lost))
        assert unseen(drawn([*WORLD, *lost], asked, complete=False)) == ["Gateway default/ghost"]


class TestWhatMayDiffer:
    """What was read, and may be otherwise."""

    def of(self, kind: str, name: str) -> Picture:
        """The picture where a patch of something was not applied."""
        patch = Gap(kind, "default", "a patch", Origin("patch.yaml", 1), name=name)
        return drawn(WORLD, GraphOptions(effective=True), gaps=[patch])

    def test_nothing(self) -> None:
        """A patch of something else."""
        picture = self.of("ConfigMap", "c")
        assert not any(node.may_differ for node in picture.nodes)
        assert not any(policy.may_differ for policy in picture.policies)
        assert all(win.certain for outcome in outcomes(picture).values() for win in outcome.wins)

    def test_a_route(self) -> None:
        """It and its rules; how policies combine is known as far as all is."""
        picture = self.of("HTTPRoute", "r")
        assert [str(node.ref) for node in picture.nodes if node.may_differ] == [
            "HTTPRoute default/r",
            "HTTPRoute default/r#rule[0]",
        ]
        assert not any(policy.may_differ for policy in picture.policies)

    def test_a_policy(self) -> None:
        """What it has a part in is not certain."""
        picture = self.of("ColorPolicy", "p")
        assert [policy.may_differ for policy in picture.policies] == [True]
        assert not any(node.may_differ for node in picture.nodes)
        assert not any(win.certain for outcome in outcomes(picture).values() for win in outcome.wins)
