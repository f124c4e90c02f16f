"""What differs in effective policies, grouped where it is the same, worst first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import MergeStrategy, PolicyKindProfile, TargetLevel
from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.differences.effects import EffectChange, EffectiveValue, FieldChange
from tests import build
from tests.differences import between, color, concerned, ref, told, without
from tests.resolution.specs import source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json, Resource
    from kubectl_policy.questions.differences.effects import ChangeSort

COLOR: Final = GroupKind("example.com", "ColorPolicy")
PROFILE: Final = PolicyKindProfile(
    COLOR,
    "inherited",
    "profile",
    strategy=MergeStrategy.PATCH_DEFAULTS,
    stanzas="none",
    security_fields=frozenset({"jwt"}),
)
G: Final = build.target("g")
ONE: Final = build.target("one", "HTTPRoute")
TWO: Final = build.target("two", "HTTPRoute")
WORLD: Final = (
    build.gateway_class(),
    build.namespace("default"),
    build.gateway(),
    build.route("one"),
    build.route("two", rules=[build.rule(build.backend("t"))]),
    build.service("s"),
    build.service("t"),
)
ON_ONE: Final = "default/g/http/one/rule[0]/s/8080"
ON_TWO: Final = "default/g/http/two/rule[0]/t/8080"


def change(*sorts: ChangeSort, security: bool = False) -> EffectChange:
    """A change with a field of each sort."""
    value, other = EffectiveValue(1, source("p"), removed=False), EffectiveValue(1, source("q"), removed=False)
    states = {
        "lost": (value, None),
        "gained": (None, value),
        "changed": (value, replace(other, value=2)),
        "moved": (value, other),
    }
    fields = tuple(FieldChange(sort, *states[sort], security=security) for sort in sorts)
    return EffectChange(
        profile=PolicyKindProfile(COLOR, "inherited", "profile"),
        fields=fields,
        where="kept",
        from_nothing=False,
        to_nothing=False,
        paths=(),
        objects=(),
        assumed=(),
        doubts=(),
    )


@pytest.mark.parametrize(
    ("sorts", "worst", "security"),
    [
        (("moved",), "moved", False),
        (("moved", "gained"), "gained", False),
        (("gained", "changed"), "changed", True),
        (("changed", "lost", "moved"), "lost", True),
    ],
)
def test_the_worst_of_what_happens(sorts: tuple[ChangeSort, ...], worst: ChangeSort, *, security: bool) -> None:
    """It counts for security if such a field is lost or changed."""
    assert change(*sorts).sort == worst
    assert not change(*sorts).harmful
    assert change(*sorts, security=True).harmful is security


class TestGroups:
    """What differs in the same way is told once."""

    def test_otherwise_on_each_path(self) -> None:
        """Each has a value of its own before."""
        world = [*WORLD, color("g", G, a=0), color("one", ONE, a=1), color("two", TWO, a=2)]
        found = without(world, ref("one"), ref("two"), profiles=[PROFILE])
        assert [len(one.paths) for one in found.effects] == [1, 1]

    def test_in_the_same_way_on_two_paths(self) -> None:
        """The objects are those from the target downward, each with the paths that it is on."""
        found = without([*WORLD, color("g", G, a=1)], ref("g"), profiles=[PROFILE])
        (only,) = found.effects
        assert told(found) == [f"kept {ON_ONE} a: 1 g -> nothing", f"kept {ON_TWO} a: 1 g -> nothing"]
        assert [(str(one.node), one.paths) for one in only.objects] == [
            ("Gateway default/g", (0, 1)),
            ("HTTPRoute default/one", (0,)),
            ("HTTPRoute default/two", (1,)),
            ("Service default/s", (0,)),
            ("Service default/t", (1,)),
        ]
        assert (only.from_nothing, only.to_nothing) == (False, True)

    def test_where_something_else_is_left(self) -> None:
        """It is told apart from where nothing is."""
        world = [*WORLD, color("g", G, a=1), color("one", ONE, b=1)]
        found = without(world, ref("g"), profiles=[PROFILE])
        assert [(one.from_nothing, one.to_nothing, len(one.paths)) for one in found.effects] == [
            (False, True, 1),
            (False, False, 1),
        ]

    def test_where_there_was_nothing(self) -> None:
        """The other way round."""
        found = between(WORLD, [*WORLD, color("g", G, a=1)], PROFILE)
        assert [(one.from_nothing, one.to_nothing) for one in found.effects] == [(True, False)]

    def test_an_object_has_other_paths_as_well(self) -> None:
        """Then it is told which of them are meant."""
        both = build.route("one", rules=[build.rule(build.backend("s"))])
        world = [*WORLD[:3], both, build.route("two"), *WORLD[5:], color("one", ONE, a=1)]
        (found,) = without(world, ref("one"), profiles=[PROFILE]).effects
        scoped = {str(one.node): (len(one.all_paths), one.affected_paths) for one in found.objects}
        assert scoped == {"HTTPRoute default/one": (0, ()), "Service default/s": (2, (0,))}

    def test_the_levels_at_which_a_kind_takes_effect(self) -> None:
        """Only these are concerned."""
        levels = replace(PROFILE, effective_targets=(TargetLevel(GroupKind(GATEWAY_API, "HTTPRoute")),))
        found = without([*WORLD, color("g", G, a=1)], ref("g"), profiles=[levels])
        assert concerned(found) == [["HTTPRoute default/one", "HTTPRoute default/two"]]

    def test_doubts(self) -> None:
        """What either outcome rests on without knowing it."""
        world = [*WORLD, color("a", ONE, a=1), color("b", ONE, a=2)]
        (found,) = without(world, ref("b"), profiles=[PROFILE]).effects
        assert found.doubts == ("age unknown",)


def test_the_worst_first() -> None:
    """Security, then lost, changed, gained and moved; then what is lost with its path, and what is new with it."""
    targets: dict[str, Mapping[str, Json]] = {}
    routes: list[Resource] = []
    for name in ("moved", "gained", "changed", "lost", "protected"):
        routes.append(build.route(name, rules=[build.rule(build.backend(name))]))
        targets[name] = build.target(name, "HTTPRoute")
    services = [build.service(name) for name in targets]
    world = [*WORLD[:3], *routes, *services]
    before = [
        color("moved", targets["moved"], age=1, a=1),
        color("changed", targets["changed"], a=1),
        color("lost", targets["lost"], a=1),
        color("protected", targets["protected"], jwt=1),
        build.route("gone", rules=[build.rule(build.backend("moved"))]),
    ]
    after = [
        color("moved", targets["moved"], age=1, a=1),
        color("also", targets["moved"], age=2, a=1),
        color("changed", targets["changed"], a=2),
        color("gained", targets["gained"], a=1),
        build.route("new", rules=[build.rule(build.backend("moved"))]),
    ]
    everywhere = color("g", G, z=1)
    found = between([*world, everywhere, *before], [*world, everywhere, *after], PROFILE)
    assert [(one.where, one.harmful, one.sort) for one in found.effects] == [
        ("kept", True, "lost"),
        ("kept", False, "lost"),
        ("kept", False, "changed"),
        ("kept", False, "gained"),
        ("kept", False, "moved"),
        ("gone", False, "lost"),
        ("new", False, "gained"),
    ]
