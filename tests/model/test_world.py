"""Worlds answer alike, whether what is in them was read, is read when somebody asks, or lies above another world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy.model.refs import GroupKind
from kubectl_policy.model.world import Loaded, Overlay, has_word, inside, world_of
from kubectl_policy.sources.cluster.api.served import Served
from kubectl_policy.sources.cluster.world import Ask, ClusterWorld, Kinds
from tests import build

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_policy.model.fields import Json
    from kubectl_policy.model.refs import ObjectRef
    from kubectl_policy.model.snapshot import Resource
    from kubectl_policy.model.world import World

ROUTE: Final = build.ref("HTTPRoute", "r").group_kind
GATEWAY: Final = build.ref("Gateway", "g").group_kind
POLICY: Final = GroupKind("example.com", "ColorPolicy")


def _policy(name: str, target: str, namespace: str = "default", **spec: str) -> Resource:
    return build.resource(
        POLICY.kind,
        name,
        {"targetRef": {"kind": "Gateway", "name": target}, **spec},
        group=POLICY.group,
        namespace=namespace,
    )


OBJECTS: Final = (
    build.namespace("default"),
    build.gateway("g"),
    build.gateway("g", namespace="infra"),
    build.route("s", parents=[build.parent("g", namespace="infra")]),
    build.route("g", parents=[build.parent("gg"), build.parent("g-g")]),
    build.route("r", parents=[build.parent("g")], namespace="infra"),
    build.route("far", parents=[build.parent("g", namespace="infra")], namespace="apps"),
    _policy("b", "g"),
    _policy("a", "g", "infra"),
    _policy("c", "x", "apps", note="infra/g:80 is meant"),
    _policy("FILL_ME_IN", "x"),
    _policy("e", "g", "${NAMESPACE}"),
)


def _changed(*resources: Resource) -> World:
    """Above others, of which one goes, one is otherwise, and some are what they were."""
    below = [
        build.namespace("ghosts"),
        *resources[::2],
        build.route("gone", namespace="ghosts"),
        build.gateway("s", class_name="another", namespace="infra"),
    ]
    above: dict[ObjectRef, Resource | None] = {each.ref: None for each in (below[0], *below[-2:])}
    for each in (*resources[1::2], resources[4]):
        above[each.ref] = each
    return Overlay(Loaded(below), above)


MAKERS: Final[dict[str, Callable[..., World]]] = {
    "loaded": lambda *resources: Loaded(resources),
    "above nothing": lambda *resources: Overlay(Loaded(()), {each.ref: each for each in resources}),
    "below nothing": lambda *resources: Overlay(Loaded(resources), {}),
    "changed": _changed,
}


@pytest.fixture(params=MAKERS, name="world")
def any_world(request: pytest.FixtureRequest) -> World:
    """The same objects, in every sort of world."""
    return MAKERS[request.param](*OBJECTS)


def test_what_is_there(world: World) -> None:
    """By name, once each."""
    assert sorted(world.names()) == sorted(each.ref for each in OBJECTS)
    assert len(world) == len(OBJECTS)
    assert {each.ref: world.has(each.ref) for each in OBJECTS} == {each.ref: True for each in OBJECTS}
    assert {ref: found.raw for ref in world.names() if (found := world.get(ref))} == {
        each.ref: each.raw for each in OBJECTS
    }


def test_what_is_not_there(world: World) -> None:
    """Nor what once was."""
    for ref in (
        build.ref("HTTPRoute", "nowhere"),
        build.ref("HTTPRoute", "gone", "ghosts"),
        build.ref("Gateway", "s", "infra"),
    ):
        assert (world.has(ref), world.get(ref)) == (False, None)
    assert world.names_of(GroupKind("", "Nothing")) == [] or world.names_of(GroupKind("", "Nothing")) == ()
    assert [*world.examples(GroupKind("", "Nothing"))] == []


def test_kinds_and_namespaces(world: World) -> None:
    """What is above all namespaces is in none."""
    assert world.kinds == tuple(sorted({each.ref.group_kind for each in OBJECTS}))
    assert world.namespaces == {"default", "infra", "apps", "${NAMESPACE}"}


def test_names_of_a_kind(world: World) -> None:
    """Sorted by namespace and name, so that those in one namespace are together."""
    names = [
        build.ref("HTTPRoute", name, where) for where, name in (("apps", "far"), ("default", "g"), ("default", "s"))
    ]
    names.append(build.ref("HTTPRoute", "r", "infra"))
    assert [*world.names_of(ROUTE)] == names
    assert [*inside(world.names_of(ROUTE), ROUTE, "default")] == names[1:3]
    assert [*inside(world.names_of(ROUTE), ROUTE, "d")] == []


def test_unknown_names(world: World) -> None:
    """A namespace may be to be filled in as well as a name."""
    unknown = [
        build.ref(POLICY.kind, "FILL_ME_IN", group=POLICY.group),
        build.ref(POLICY.kind, "e", "${NAMESPACE}", POLICY.group),
    ]
    assert sorted(world.with_unknown_names) == sorted(unknown)


@pytest.mark.parametrize(
    ("kind", "name", "namespace", "holders"),
    [
        (ROUTE, "g", "infra", ["far", "s", "r"]),
        (ROUTE, "g", "default", ["s"]),
        (ROUTE, "g", "apps", ["far"]),
        (ROUTE, "g", "nowhere", []),
        (POLICY, "g", "default", ["b"]),
        (POLICY, "g", "infra", ["c", "a"]),
        (POLICY, "g", "${NAMESPACE}", ["e"]),
        (POLICY, "x", "default", ["FILL_ME_IN"]),
        (POLICY, "80", "apps", ["c"]),
        (POLICY, "Gateway", "", ["e", "c", "FILL_ME_IN", "b", "a"]),
        (POLICY, "nowhere", "", []),
        (GATEWAY, "public", "", ["g", "g"]),
    ],
)
def test_what_names_an_object(world: World, kind: GroupKind, name: str, namespace: str, holders: list[str]) -> None:
    """In its namespace by its name, from elsewhere also by the namespace; its own name is none that it gives.

    A part of a longer word is none. What was read and is not looked at again may name itself.
    """
    found = [ref.name for ref in world.naming(kind, build.ref("Gateway", name, namespace))]
    assert [name for name in found if name != "g" or kind == GATEWAY] == holders


def test_what_says_a_word(world: World) -> None:
    """In one namespace alone."""
    assert [ref.name for ref in world.saying(POLICY, "apps", "80")] == ["c"]
    assert [*world.saying(POLICY, "default", "80")] == []


def test_what_has_a_field(world: World) -> None:
    """Anywhere in it; a field of that name in one object of a kind is none in all of them."""
    assert [ref.name for ref in world.having(POLICY, ("note", "notes"))] == ["c"]
    assert [ref.name for ref in world.having(ROUTE, ("parentRefs",))] == ["far", "g", "s", "r"]
    assert [*world.having(ROUTE, ("note",))] == []


def test_examples(world: World) -> None:
    """Each object has the fields of one of them, and the same words of the API and placeholders."""
    for kind in world.kinds:
        found = [each.raw for each in world.examples(kind)]
        every = [each.raw for each in world if each.ref.group_kind == kind]
        assert all(each in every for each in found)
        assert {str(fields(each)) for each in found} == {str(fields(each)) for each in every}


def test_numbers_of_examples(world: World) -> None:
    """Each object is counted once, as itself or as one of those of which another one is an example."""
    for kind in world.kinds:
        counted = list(world.counted(kind))
        assert sum(number for _, number in counted) == len(world.names_of(kind))
        assert {each.ref for each, _ in counted} <= {*world.names_of(kind)}


def fields(value: Json) -> object:
    """A value without its texts."""
    if isinstance(value, Mapping):
        return {key: inner if key in {"kind", "group"} else fields(inner) for key, inner in value.items()}
    return [fields(each) for each in value] if isinstance(value, list) else type(value)


def test_a_world_is_a_sequence(world: World) -> None:
    """Of what was read, in the order of its names; the same objects each time."""
    every = list(world)
    assert [each.ref for each in every] == [*world.names()]
    assert all(each in world for each in every)
    assert OBJECTS[0].ref not in world
    assert build.gateway("g") not in world
    assert world[0] is every[0]
    assert world[1:3] == tuple(every[1:3])
    assert world_of(world) is world


def test_of_two_with_one_name_the_later_one_counts() -> None:
    """As for `kubectl apply`."""
    world = world_of((build.gateway("g", class_name="a"), build.gateway("g", class_name="b")))
    assert [each.raw["spec"] for each in world] == [build.gateway("g", class_name="b").raw["spec"]]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("web", True),
        ("a web", True),
        ("web.ns.svc", True),
        ("ns/web:80", True),
        ("cobweb web", True),
        ("webs\nweb", True),
        ("webs", False),
        ("a-web", False),
        ("web_b", False),
        ("éweb", False),
        ("", False),
    ],
)
def test_words(text: str, found: bool) -> None:  # noqa: FBT001
    """Dots and slashes are between words, hyphens are not."""
    assert has_word("web", "other", text) is found


def test_above_a_world_that_is_asked_is_one_that_is() -> None:
    """What was applied and deleted says nothing of what is still to be read."""
    kinds = Kinds(served={kind: _served(kind) for kind in (ROUTE, GATEWAY)}, few=frozenset(), policies=frozenset())
    below = ClusterWorld(kinds, "default")
    world = Overlay(below, {build.ref("HTTPRoute", "s"): None})
    assert (world.is_waiting, world.is_partial(ROUTE), world.are_read([ROUTE]), world.is_filled_in) == (
        False,
        True,
        False,
        True,
    )
    assert not world.names_of(ROUTE)
    assert world.is_waiting
    below.take(Ask(ROUTE), [each for each in OBJECTS if each.ref.group_kind == ROUTE])
    below.begin()
    assert (world.is_waiting, world.is_partial(ROUTE), world.are_read([ROUTE])) == (False, False, True)
    assert build.ref("HTTPRoute", "s") not in world.names_of(ROUTE)


def test_applied_objects_may_have_something_to_be_filled_in() -> None:
    """An API server never saw them."""
    below = ClusterWorld(Kinds(served={}, few=frozenset(), policies=frozenset()), "default")
    assert not Overlay(below, {OBJECTS[1].ref: OBJECTS[1]}).is_filled_in


def test_what_is_in_a_namespace() -> None:
    """Of every kind, in both states."""
    below = Loaded(OBJECTS)
    infra = [each.ref for each in OBJECTS if each.ref.namespace == "infra"]
    assert sorted(below.inside("infra")) == sorted(infra)
    new = build.gateway("new", namespace="infra")
    changed = Overlay(below, {infra[0]: None, new.ref: new})
    assert sorted(changed.inside("infra")) == sorted([*infra[1:], new.ref])


def _served(kind: GroupKind) -> Served:
    return Served(kind.group, "v1", kind.kind, f"{kind.kind.lower()}s", "", True, (), ("get", "list"), ())  # noqa: FBT003 (namespaced)


def test_what_is_on_its_way_is_not_asked_for_once_more() -> None:
    """Neither by names nor in namespaces; it is waited for."""
    kinds = Kinds(served={ROUTE: _served(ROUTE)}, few=frozenset(), policies=frozenset())
    world = ClusterWorld(kinds, "default")
    world.begin([Ask(ROUTE)])
    assert not world.names_in(ROUTE, "default")
    assert not world.has(build.ref("HTTPRoute", "s"))
    assert world.wanted == (Ask(ROUTE),)
    world.begin()
    assert not world.names_in(ROUTE, "default")
    assert world.wanted == (Ask(ROUTE, "default"),)
