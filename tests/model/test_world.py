"""Worlds of the same objects answer alike: one that was loaded, and one with changes to another world."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from kubectl_policy.model.body import text_of
from kubectl_policy.model.refs import GroupKind, ObjectRef
from kubectl_policy.model.snapshot import Resource
from kubectl_policy.model.world import Loaded, Overlay, World, has_name, world_of
from kubectl_policy.sources.cluster.discovery import Served
from kubectl_policy.sources.cluster.world import ClusterWorld, Interests, Query
from tests import build

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
    """Return objects as changes to others: some are deleted, one is otherwise, and some are what they were."""
    base = [
        build.namespace("ghosts"),
        *resources[::2],
        build.route("gone", namespace="ghosts"),
        build.gateway("s", class_name="another", namespace="infra"),
    ]
    changes: dict[ObjectRef, Resource | None] = {resource.ref: None for resource in (base[0], *base[-2:])}
    changes |= {resource.ref: resource for resource in (*resources[1::2], resources[4])}
    return Overlay(Loaded(base), changes)


MAKERS: Final[dict[str, Callable[..., World]]] = {
    "loaded": lambda *resources: Loaded(resources),
    "applied to nothing": lambda *resources: Overlay(Loaded(()), {each.ref: each for each in resources}),
    "unchanged": lambda *resources: Overlay(Loaded(resources), {}),
    "changed": _changed,
}


@pytest.fixture(params=MAKERS, name="world")
def any_world(request: pytest.FixtureRequest) -> World:
    return MAKERS[request.param](*OBJECTS)


def test_what_is_there(world: World) -> None:
    assert sorted(resource.ref for resource in world) == sorted(resource.ref for resource in OBJECTS)
    assert len(world) == len(OBJECTS)
    assert {resource.ref: world.has(resource.ref) for resource in OBJECTS} == {
        resource.ref: True for resource in OBJECTS
    }
    assert {resource.ref: resource.raw for resource in world} == {resource.ref: resource.raw for resource in OBJECTS}


def test_what_is_not_there(world: World) -> None:
    for ref in (
        build.ref("HTTPRoute", "nowhere"),
        build.ref("HTTPRoute", "gone", "ghosts"),
        build.ref("Gateway", "s", "infra"),
    ):
        assert (world.has(ref), world.get(ref)) == (False, None)
    assert [*world.refs_of(GroupKind("", "Nothing"))] == [*world.of_kind(GroupKind("", "Nothing"))] == []
    assert world.serves(ROUTE)
    assert not world.is_waiting


def test_kinds_and_namespaces(world: World) -> None:
    assert world.kinds == tuple(sorted({resource.ref.group_kind for resource in OBJECTS}))
    assert world.namespaces == {"default", "infra", "apps", "${NAMESPACE}"}


def test_names_of_a_kind(world: World) -> None:
    """Sorted by namespace and name, so that those in one namespace are together."""
    names = [
        build.ref("HTTPRoute", name, where) for where, name in (("apps", "far"), ("default", "g"), ("default", "s"))
    ]
    names.append(build.ref("HTTPRoute", "r", "infra"))
    assert [*world.refs_of(ROUTE)] == names
    assert [resource.ref for resource in world.of_kind(ROUTE)] == names
    assert [*world.refs_of(ROUTE, "default")] == names[1:3]
    assert [resource.ref for resource in world.of_kind(ROUTE, "default")] == names[1:3]
    assert [*world.refs_of(ROUTE, "d")] == []
    assert [*world.refs_of(GroupKind("", "Namespace"), "")] == [build.namespace("default").ref]


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

    A part of a longer word is none. An object has its own name as well.
    """
    names = [ref.name for ref in world.naming(kind, build.ref("Gateway", name, namespace))]
    assert [name for name in names if name != "g" or kind == GATEWAY] == holders


def test_what_contains_a_word(world: World) -> None:
    """A field, or a part of a text; a field of that name in one object of a kind is none in all of them."""
    assert [ref.name for ref in world.naming(POLICY, "note")] == ["c"]
    assert [ref.name for ref in world.naming(POLICY, "/g:8")] == ["c"]
    assert [ref.name for ref in world.naming(ROUTE, "parentRefs")] == ["far", "g", "s", "r"]
    assert [*world.naming(ROUTE, "note")] == []


@pytest.mark.parametrize("name", ['"a"', "a\\b", "a\nb", "é", "\ud800", "a\u0001b"])
def test_words_that_are_escaped(name: str) -> None:
    policy, unrelated = _policy("p", f"x {name} y", **{name: "x"}), _policy("o", "x")
    assert Loaded([policy, unrelated]).naming(POLICY, name) == [policy.ref]
    assert Loaded([policy, unrelated]).naming(POLICY, build.ref("Gateway", name)) == [policy.ref]


def test_a_world_is_a_sequence(world: World) -> None:
    """Of what was read, in the order of its names; the same objects each time."""
    every = list(world)
    assert all(resource in world for resource in every)
    assert OBJECTS[0].ref not in world
    assert build.gateway("g") not in world
    assert world[0] is every[0]
    assert world[1:3] == tuple(every[1:3])
    assert world_of(world) is world


def test_of_two_with_one_name_the_later_one_counts() -> None:
    """As for `kubectl apply`."""
    world = world_of((build.gateway("g", class_name="a"), build.gateway("g", class_name="b")))
    assert [resource.raw["spec"] for resource in world] == [build.gateway("g", class_name="b").raw["spec"]]


@pytest.mark.parametrize(
    ("text", "is_found"),
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
        ("first line\nweb", True),
        ("\u0001web", True),
        ("nweb", False),
        ("", False),
    ],
)
def test_words(text: str, is_found: bool) -> None:  # noqa: FBT001
    assert has_name("web", text_of({"": text})) is is_found


def test_changes_to_a_cluster_that_is_still_to_be_read() -> None:
    cluster = ClusterWorld(Interests(), {kind: _served(kind) for kind in (ROUTE, GATEWAY)}, (), "default")
    world = Overlay(cluster, {build.ref("HTTPRoute", "s"): None, OBJECTS[-1].ref: OBJECTS[-1]})
    assert bool(world.is_waiting) is False
    assert {kind: world.serves(kind) for kind in (ROUTE, POLICY, build.service().ref.group_kind)} == {
        ROUTE: True,
        POLICY: True,
        build.service().ref.group_kind: False,
    }
    assert not world.refs_of(ROUTE)
    assert bool(world.is_waiting) is True
    cluster.record(Query(ROUTE), [resource for resource in OBJECTS if resource.ref.group_kind == ROUTE])
    cluster.start_round()
    assert not world.is_waiting
    assert build.ref("HTTPRoute", "s") not in world.refs_of(ROUTE)


def _served(kind: GroupKind) -> Served:
    return Served(kind.group, "v1", kind.kind, f"{kind.kind.lower()}s", namespaced=True)


def test_what_is_on_its_way_is_not_asked_for_once_more() -> None:
    """Neither by names nor in namespaces; it is waited for."""
    world = ClusterWorld(Interests(), {ROUTE: _served(ROUTE)}, (), "default")
    world.start_round([Query(ROUTE)])
    assert not world.refs_of(ROUTE, "default")
    assert not world.has(build.ref("HTTPRoute", "s"))
    assert world.wanted == (Query(ROUTE),)
    world.start_round()
    assert not world.refs_of(ROUTE, "default")
    assert world.wanted == (Query(ROUTE, "default"),)


def test_what_may_be_listed_in_namespaces_alone_is_read_in_all_that_matter() -> None:
    """Also in one that the question turns out to be about after it asked for the kind."""
    world = ClusterWorld(Interests(), {kind: _served(kind) for kind in (POLICY, GATEWAY)}, [POLICY], "default")
    world.record(Query(POLICY), None)
    assert not world.refs_of(POLICY)
    assert world.wanted == (Query(POLICY, "default"),)
    assert not world.has(build.ref("Gateway", "g", namespace="infra"))
    assert {*world.wanted} == {Query(POLICY, "default"), Query(POLICY, "infra"), Query(GATEWAY, "infra", "g")}
