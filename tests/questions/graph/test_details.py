"""What a page about a picture can be asked."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from kubectl_policy import Analysis, analyze
from kubectl_policy.model import Diagnostic, NodeRef, Origin, Resource
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.graph.details import deletions, details
from kubectl_policy.questions.graph.drawing import graph
from kubectl_policy.questions.graph.picture import Details, GraphNode, Picture
from tests import build
from tests.questions.build import analyzed

ON_GATEWAY: Final = build.policy("p", build.ON_GATEWAY, color="red")
WORLD: Final[tuple[Resource, ...]] = (
    build.gateway_class(),
    build.namespace("default"),
    build.gateway(),
    build.route("a"),
    build.route("b"),
    build.service(),
    ON_GATEWAY,
)
LINE: Final = Origin(build.ORIGIN.source, 7)


def asked(analysis: Analysis, picture: Picture | None = None) -> Details:
    """What can be asked of a picture, or of that of everything."""
    return details(analysis, picture or graph(analysis), _line)


def _line(*_: object) -> int:
    return 7


def analysis_of(*resources: Resource) -> Analysis:
    return analyzed(*resources, complete=True)


class TestInForce:
    def test_nothing(self) -> None:
        found = asked(analysis_of(*WORLD[:-1]))
        assert (found.outcomes, found.effects) == ((), ())

    def test_each_outcome_once(self) -> None:
        """The same is in force on two routes; a Gateway has it for these, and its class has nothing."""
        found = asked(analysis_of(*WORLD))
        assert [each.subject.name for each in found.effects] == ["g", "a", "b", "s"]
        assert [each.in_force for each in found.effects] == [((0, (0,)),), ((1, (0,)),), ((1, (0,)),), ((1, (0, 1)),)]
        assert [outcome.kind.kind for outcome in found.outcomes] == ["ColorPolicy", "ColorPolicy"]
        assert [setting.origin for outcome in found.outcomes for setting in outcome.settings] == [LINE, LINE]

    def test_too_many_to_look_up(self) -> None:
        rules = [build.rule(timeouts={"request": f"{second}s"}) for second in range(301)]
        found = asked(analysis_of(*WORLD[:3], build.route(rules=rules)))
        assert len(found.outcomes) == 301
        assert {setting.origin for outcome in found.outcomes for setting in outcome.settings} == {build.ORIGIN}


class TestDeletions:
    def test_of_policies(self) -> None:
        analysis = analysis_of(*WORLD)
        assert asked(analysis).deletions == {ON_GATEWAY.ref: blast_radius(analysis, ON_GATEWAY.ref)}

    def test_of_one_that_is_gone(self) -> None:
        assert not asked(analysis_of(*WORLD[:-1]), graph(analysis_of(*WORLD))).deletions

    def test_of_one_that_is_everywhere(self) -> None:
        analysis = analysis_of(*WORLD)
        picture = graph(analysis)
        assert asked(analysis, picture).deletions
        assert not dict(deletions(analysis, replace(picture, nodes=picture.nodes * 20_000)))


class TestProblems:
    def test_of_objects(self) -> None:
        lost = build.route("lost", parents=[build.parent("ghost")])
        read = (Diagnostic("yaml", "error", "not YAML"), Diagnostic("yaml", "info", "nothing"))
        snapshot = replace(build.snapshot(*WORLD, lost, complete=True), diagnostics=read)
        found = asked(analyze(snapshot)).problems
        assert [problem.message for problem in found] == [
            "not YAML",
            "HTTPRoute default/lost: spec.parentRefs[0]: Gateway default/ghost does not exist",
        ]

    def test_of_too_many(self) -> None:
        analysis = analysis_of(*WORLD, build.route("lost", parents=[build.parent("ghost")]))
        many = tuple(
            GraphNode(ref=NodeRef(build.ref("Service", f"s{n}", group="")), presence="unknown") for n in range(999)
        )
        picture = graph(analysis)
        assert not asked(analysis, replace(picture, nodes=(*picture.nodes, *many))).problems
