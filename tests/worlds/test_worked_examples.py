"""The worked examples: every outcome that the semantics fix in advance, each with its sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy import MergeStrategy, PolicyKindProfile, TargetLevel, analyze, leaves, plain
from kubectl_policy.model import GroupKind, NodeRef
from tests.build import backend, gateway, namespace, node, parent, policy, ref, route, rule, service, snapshot, target

if TYPE_CHECKING:
    from kubectl_policy import Analysis, Path
    from kubectl_policy.model import Json, ObjectRef, Resource

COLOR = GroupKind("example.com", "ColorPolicy")
SERVICE = GroupKind("", "Service")


def inherited(effective: GroupKind = SERVICE) -> PolicyKindProfile:
    """A kind with defaults and overrides that takes effect on backends."""
    return PolicyKindProfile(
        COLOR, "inherited", "profile", effective_targets=(TargetLevel(effective),), stanzas="plural"
    )


def world(*policies: Resource, profile: PolicyKindProfile, routes: dict[str, tuple[str, str]]) -> Analysis:
    """The hierarchy in which each route (its Gateway, its backend) has one rule; `routes` is by the route's name."""
    gateways = [gateway(name) for name in sorted({above for above, _ in routes.values()})]
    services = [service(name) for name in sorted({below for _, below in routes.values()})]
    hierarchy = [
        route(name, parents=[parent(above)], rules=[rule(backend(below))]) for name, (above, below) in routes.items()
    ]
    objects = (namespace("default"), *gateways, *services, *hierarchy, *policies)
    return analyze(snapshot(*objects, complete=True), profiles=[profile])


def path_of(analysis: Analysis, *names: str) -> Path:
    """The one path to the last name that goes through all the names."""
    end = node("Service", names[-1], group="")
    found = [path for path in analysis.topology.paths(end) if set(names) <= {at.object.name for at in path}]
    assert len(found) == 1
    return found[0]


def spec(analysis: Analysis, *names: str) -> dict[str, Json]:
    """The effective spec on a path, without the sources."""
    (effective,) = analysis.effective_on(path_of(analysis, *names))
    return plain(effective.resolution.spec)


def sources(analysis: Analysis, *names: str) -> dict[str, str]:
    """The name of the policy that set each effective field on a path."""
    (effective,) = analysis.effective_on(path_of(analysis, *names))
    return {".".join(field): leaf.source.object.name for field, leaf in leaves(effective.resolution.spec)}


def affected(analysis: Analysis, name: str) -> set[str]:
    """The names of the policies that affect a backend."""
    return {found.name for found in analysis.affected_by(node("Service", name, group=""))}


def p(name: str) -> ObjectRef:
    """The policy of that name."""
    return ref("ColorPolicy", name, group="example.com")


def verdict(analysis: Analysis, name: str) -> tuple[str, set[str]]:
    """The enforcement of a policy, and the names of those that beat it."""
    found = analysis.enforcement(p(name))
    return found.state, {beater.name for beater in found.by}


class TestExample1:
    """The world: Direct, strategy None, backends only. g1>r1>b1, g1>r2>b2; p1[red]→b1, p2[blue]→b1, p2 newer."""

    @pytest.fixture
    def direct(self) -> Analysis:
        """The world of the example; by name alone, p2 would come first."""
        kind = PolicyKindProfile(
            COLOR,
            "direct",
            "profile",
            declared_targets=frozenset({SERVICE}),
            effective_targets=(TargetLevel(SERVICE),),
            strategy=MergeStrategy.NONE,
        )
        red = policy("z-p1", target("b1", "Service", group=""), age=1, color="red")
        blue = policy("a-p2", target("b1", "Service", group=""), age=2, color="blue")
        return world(red, blue, profile=kind, routes={"r1": ("g1", "b1"), "r2": ("g1", "b2")})

    def test_b2_is_affected_by_nothing(self, direct: Analysis) -> None:
        """Outcome: "b2 by nothing"."""
        assert affected(direct, "b2") == set()

    def test_b1_is_red(self, direct: Analysis) -> None:
        """Outcome: "b1 is red"."""
        assert spec(direct, "r1", "b1") == {"color": "red"}

    def test_b1_is_affected_by_p1_alone(self, direct: Analysis) -> None:
        """Outcome: "b1 affected by p1 alone"."""
        assert affected(direct, "b1") == {"z-p1"}

    def test_p1_is_enforced(self, direct: Analysis) -> None:
        """Outcome: "p1 enforced"."""
        assert verdict(direct, "z-p1") == ("Enforced", set())

    def test_p2_conflicts_with_p1(self, direct: Analysis) -> None:
        """Outcome: "p2 not, conflict with p1"."""
        assert verdict(direct, "a-p2") == ("Conflicted", {"z-p1"})


FOUR_ROUTES = {"r1": ("g1", "b1"), "r2": ("g1", "b1"), "r3": ("g2", "b1"), "r4": ("g2", "b2")}


class TestExample2:
    """The world: Atomic. p1[red]→g1, p2[blue]→r1, p3[overrides yellow]→g2, p4[green]→r4."""

    @pytest.fixture
    def atomic(self) -> Analysis:
        """The world of the example."""
        return world(
            policy("p1", target("g1"), color="red"),
            policy("p2", target("r1", "HTTPRoute"), color="blue"),
            policy("p3", target("g2"), overrides={"color": "yellow"}),
            policy("p4", target("r4", "HTTPRoute"), color="green"),
            profile=inherited(),
            routes=FOUR_ROUTES,
        )

    @pytest.mark.parametrize(
        ("path", "color"),
        [
            pytest.param(("g1", "r1", "b1"), "blue", id="g1>r1>b1 blue"),
            pytest.param(("g1", "r2", "b1"), "red", id="g1>r2>b1 red"),
            pytest.param(("g2", "r3", "b1"), "yellow", id="g2>r3>b1 yellow"),
            pytest.param(("g2", "r4", "b2"), "yellow", id="g2>r4>b2 yellow"),
        ],
    )
    def test_the_color_on_each_path(self, atomic: Analysis, path: tuple[str, ...], color: str) -> None:
        """The outcome that the parameter's name quotes."""
        assert spec(atomic, *path) == {"color": color}

    def test_affected(self, atomic: Analysis) -> None:
        """Outcome: "b1 affected by p1, p2, p3; b2 by p3"."""
        assert affected(atomic, "b1") == {"p1", "p2", "p3"}
        assert affected(atomic, "b2") == {"p3"}

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            pytest.param("p1", ("PartiallyEnforced", {"p2"}), id="p1 partially enforced (by p2)"),
            pytest.param("p2", ("Enforced", set[str]()), id="p2 enforced"),
            pytest.param("p3", ("Enforced", set[str]()), id="p3 enforced"),
            pytest.param("p4", ("Overridden", {"p3"}), id="p4 overridden by p3"),
        ],
    )
    def test_enforcement(self, atomic: Analysis, name: str, expected: tuple[str, set[str]]) -> None:
        """The outcome that the parameter's name quotes."""
        assert verdict(atomic, name) == expected


class TestExample3:
    """The world: p1[dark:brown, light:red; atomic]→g1, p2[light:blue]→r1, p3[overrides light:yellow; patch]→g2."""

    @pytest.fixture
    def patching(self) -> Analysis:
        """The world of the example."""
        return world(
            policy("p1", target("g1"), dark="brown", light="red"),
            policy("p2", target("r1", "HTTPRoute"), light="blue"),
            policy("p3", target("g2"), overrides={"light": "yellow", "strategy": "patch"}),
            policy("p4", target("r4", "HTTPRoute"), dark="olive", light="green"),
            profile=inherited(),
            routes=FOUR_ROUTES,
        )

    @pytest.mark.parametrize(
        ("path", "colors", "set_by"),
        [
            pytest.param(("g1", "r1", "b1"), {"light": "blue"}, {"light": "p2"}, id="g1>r1>b1 light:blue only"),
            pytest.param(
                ("g1", "r2", "b1"),
                {"dark": "brown", "light": "red"},
                {"dark": "p1", "light": "p1"},
                id="g1>r2>b1 dark:brown light:red",
            ),
            pytest.param(("g2", "r3", "b1"), {"light": "yellow"}, {"light": "p3"}, id="g2>r3>b1 light:yellow only"),
            pytest.param(
                ("g2", "r4", "b2"),
                {"dark": "olive", "light": "yellow"},
                {"dark": "p4", "light": "p3"},
                id="g2>r4>b2 dark:olive light:yellow",
            ),
        ],
    )
    def test_the_colors_on_each_path(
        self, patching: Analysis, path: tuple[str, ...], colors: dict[str, str], set_by: dict[str, str]
    ) -> None:
        """The outcome that the parameter's name quotes, and who set what."""
        assert spec(patching, *path) == colors
        assert sources(patching, *path) == set_by

    def test_affected(self, patching: Analysis) -> None:
        """Outcome: "b1 affected by p1, p2, p3; b2 by p3, p4"."""
        assert affected(patching, "b1") == {"p1", "p2", "p3"}
        assert affected(patching, "b2") == {"p3", "p4"}

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            pytest.param("p1", ("PartiallyEnforced", {"p2"}), id="p1 partially enforced (by p2)"),
            pytest.param("p2", ("Enforced", set[str]()), id="p2 enforced"),
            pytest.param("p3", ("Enforced", set[str]()), id="p3 enforced"),
            pytest.param("p4", ("PartiallyEnforced", {"p3"}), id="p4 partially enforced (by p3)"),
        ],
    )
    def test_enforcement(self, patching: Analysis, name: str, expected: tuple[str, set[str]]) -> None:
        """The outcome that the parameter's name quotes."""
        assert verdict(patching, name) == expected


class TestExample4:
    """The world: The abstract process: a1>b1>c1, a1>b2>c1, a1>b2>c2; m1→a1, m2→b2, as Gateway > HTTPRoute > Service."""

    @pytest.fixture
    def abstract(self) -> Analysis:
        """The world of the example: b2 has two backends."""
        kind = PolicyKindProfile(
            COLOR,
            "inherited",
            "profile",
            effective_targets=(TargetLevel(SERVICE),),
            strategy=MergeStrategy.PATCH_DEFAULTS,
        )
        objects = (
            gateway("a1"),
            route("b1", parents=[parent("a1")], rules=[rule(backend("c1"))]),
            route("b2", parents=[parent("a1")], rules=[rule(backend("c1"), backend("c2"))]),
            service("c1"),
            service("c2"),
            policy("m1", target("a1"), one="m1"),
            policy("m2", target("b2", "HTTPRoute"), two="m2"),
        )
        return analyze(snapshot(*objects), profiles=[kind])

    @pytest.mark.parametrize(
        ("path", "expected"),
        [
            pytest.param(("b1", "c1"), {"one": "m1"}, id="c1 has m1 in the context of b1"),
            pytest.param(("b2", "c1"), {"one": "m1", "two": "m2"}, id="c1 has m1+m2 in the context of b2"),
            pytest.param(("b2", "c2"), {"one": "m1", "two": "m2"}, id="c2 has m1+m2"),
        ],
    )
    def test_what_each_has_in_which_context(
        self, abstract: Analysis, path: tuple[str, str], expected: dict[str, str]
    ) -> None:
        """The outcome that the parameter's name quotes."""
        assert sources(abstract, *path) == expected

    def test_no_path_is_confused_with_another(self, abstract: Analysis) -> None:
        """c1 has two contexts and c2 has one."""
        assert len(abstract.topology.paths(NodeRef(ref("Service", "c1", group="")))) == 2
        assert len(abstract.topology.paths(NodeRef(ref("Service", "c2", group="")))) == 1
