"""The laws of worlds: they answer alike, however what is in them was written, and whatever lies above it."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_policy import load_manifests
from kubectl_policy.model.unknown import is_unfilled, is_unknown
from kubectl_policy.model.world import Loaded, Overlay, world_of
from tests.property.examples import examples
from tests.property.hostile import files
from tests.property.strategies import worlds
from tests.property.world import snapshot_of
from tests.text.readings import reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.model import Json, ObjectRef, Resource
    from kubectl_policy.model.world import World
    from tests.property.world import World as GeneratedWorld
    from tests.text.readings import Mode

    _Thing = TypeVar("_Thing")


@settings(max_examples=examples(12))
@given(data=st.data(), world=worlds())
def test_what_is_read_on_demand_is_what_is_kept(data: st.DataObject, world: GeneratedWorld) -> None:
    """The same objects in the same places; and what names another, has a field or stands for others is found."""
    resources = snapshot_of(world).resources
    texts = data.draw(files(resources))
    with tempfile.TemporaryDirectory() as name:
        for path, text in texts.items():
            Path(name, path).write_bytes(text)
        some, every = _read(name, "deferred"), _read(name, "exact")
    _hold(data, some, every, resources)


def _hold(data: st.DataObject, some: World, every: World, resources: Sequence[Resource]) -> None:
    """The world itself, and what lies above it."""
    _holds(some, every)
    changed: dict[ObjectRef, Resource | None] = dict.fromkeys(data.draw(_some([*every.names()])))
    changed |= {each.ref: each for each in data.draw(_some(resources))}
    above = Loaded(filter(None, ({each.ref: each for each in every} | changed).values()))
    _holds(Overlay(some, changed), above)
    _holds(Overlay(Overlay(some, changed), {}), above)


def _some(things: Sequence[_Thing]) -> st.SearchStrategy[list[_Thing]]:
    return st.lists(st.sampled_from(things), max_size=3) if things else st.just([])


def _read(folder: str, mode: Mode) -> World:
    with reading(mode):
        return world_of(load_manifests(folder).resources)


def _holds(world: World, every: World) -> None:
    """A world is the one that was read in full, but for what is said of `World`."""
    assert sorted(world.names()) == sorted(every.names())
    assert len(world) == len(every)
    assert (world.kinds, world.namespaces) == (every.kinds, every.namespaces)
    assert {*world.with_unknown_names} == {*every.with_unknown_names}
    for kind in every.kinds:
        assert [*world.names_of(kind)] == [*every.names_of(kind)]
        objects = [_got(every, ref) for ref in every.names_of(kind)]
        assert {_frame(each.raw) for each in world.examples(kind)} == {_frame(each.raw) for each in objects}
        for field in ("spec", "targetRefs", "x", "namespace"):
            having = {*world.having(kind, (field, "nothing"))}
            assert {each.ref for each in objects if field in _keys(each.raw)} <= having <= {*every.names_of(kind)}
        for named in every.names():
            naming = [*world.naming(kind, named)]
            assert naming == sorted(set(naming))
            assert {each.ref for each in objects if _names(each, named)} <= {*naming}
            assert {*naming} <= {*every.names_of(kind)}
    for ref in every.names():
        found, expected = _got(world, ref), _got(every, ref)
        assert (repr(found), found.origin) == (repr(expected), expected.origin)
        assert world.get(ref) is found


def _got(world: World, ref: ObjectRef) -> Resource:
    found = world.get(ref)
    assert found is not None
    return found


def _names(holder: Resource, obj: ObjectRef) -> bool:
    """Whether something in an object, beside what it is called itself, has the name of another one."""
    inside = {key: value for key, value in holder.raw.items() if key != "metadata"}
    words = {word for text in _texts(inside) for word in (text, *re.split(r"[^-\w]+", text))}
    return obj.name in words and (obj.namespace in {"", holder.ref.namespace} or obj.namespace in words)


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from _texts(inner)


def _keys(value: Json) -> set[str]:
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return {*(value if isinstance(value, Mapping) else ()), *(key for inner in inside for key in _keys(inner))}


def _frame(value: Json, key: str = "") -> object:
    """What objects have in common of which one stands for others: all but what they may be called, and numbers."""
    if isinstance(value, Mapping):
        return tuple((each, _frame(inner, each)) for each, inner in value.items())
    if isinstance(value, list):
        return tuple(_frame(inner, key) for inner in value)
    if not isinstance(value, str) or key.endswith(("kind", "group", "apiVersion", "type")):
        return value if isinstance(value, str | bool | None) else "a number"
    return "a name" if not is_unknown(value) else value if is_unfilled(value) or value.isupper() else "a text"
