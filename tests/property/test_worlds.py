"""The laws of worlds: they answer alike, whatever is kept of their objects, and as if changes had been loaded."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_policy import load_manifests
from kubectl_policy.model.body import strings_in
from kubectl_policy.model.world import Loaded, Overlay, world_of
from tests.property.examples import examples
from tests.property.hostile import files
from tests.property.strategies import worlds
from tests.property.world import snapshot_of
from tests.text.readings import reading

if TYPE_CHECKING:
    from kubectl_policy.model import ObjectRef, Resource
    from kubectl_policy.model.world import World
    from tests.property.world import World as GeneratedWorld
    from tests.text.readings import Mode


@settings(max_examples=examples(12))
@given(data=st.data(), world=worlds())
def test_what_is_decoded_on_demand_is_what_is_kept(data: st.DataObject, world: GeneratedWorld) -> None:
    """The same objects in the same places; and what names another one, or contains a word, is found."""
    texts = data.draw(files(snapshot_of(world).resources))
    with tempfile.TemporaryDirectory() as name:
        for path, text in texts.items():
            Path(name, path).write_bytes(text)
        some, every = _read(name, "deferred"), _read(name, "exact")
    assert [(repr(each), each.origin) for each in some] == [(repr(each), each.origin) for each in every]
    for kind in every.kinds:
        for named in (each.ref for each in every):
            assert [*some.naming(kind, named)] == [*every.naming(kind, named)]
            assert [*some.naming(kind, named.name)] == [*every.naming(kind, named.name)]


def _read(folder: str, mode: Mode) -> World:
    with reading(mode):
        return world_of(load_manifests(folder).resources)


@settings(max_examples=examples(12))
@given(data=st.data(), world=worlds())
def test_a_world_with_changes(data: st.DataObject, world: GeneratedWorld) -> None:
    """Objects are deleted from it, applied to it, or put in the place of others."""
    resources = snapshot_of(world).resources
    base = Loaded(resources)
    some = st.lists(st.sampled_from(resources), max_size=3) if resources else st.just(list["Resource"]())
    changes: dict[ObjectRef, Resource | None] = dict.fromkeys(each.ref for each in data.draw(some))
    changes |= {each.ref: each for each in data.draw(some)}
    every = Loaded(filter(None, ({each.ref: each for each in base} | changes).values()))
    answer_alike(Overlay(base, changes), every)
    answer_alike(Overlay(Overlay(base, changes), {}), every)


def answer_alike(world: World, every: World) -> None:
    """A world answers as the one in which all of its objects are loaded; what may name an object is never missing."""
    assert sorted(each.ref for each in world) == sorted(each.ref for each in every)
    assert len(world) == len(every)
    assert (world.kinds, world.namespaces) == (every.kinds, every.namespaces)
    for kind in every.kinds:
        assert [*world.names_of(kind)] == [*every.names_of(kind)]
        for namespace in ("", *every.namespaces):
            assert [*world.of_kind(kind, namespace)] == [*every.of_kind(kind, namespace)]
        for word in ("spec", "targetRefs", "x", "namespace"):
            containing = [each.ref for each in every.of_kind(kind) if any(word in it for it in strings_in(each.raw))]
            assert {*containing} <= {*world.naming(kind, word)} <= {*every.names_of(kind)}
        for named in (each.ref for each in every):
            naming = [*world.naming(kind, named)]
            assert naming == sorted(set(naming))
            assert {each.ref for each in every.of_kind(kind) if _names(each, named)} <= {*naming}
            assert {*naming} <= {*every.names_of(kind)}
    for resource in every:
        assert world.get(resource.ref) is resource
        assert world.has(resource.ref)


def _names(holder: Resource, obj: ObjectRef) -> bool:
    """Whether something in an object, besides its metadata, has the name of another one."""
    content = {key: value for key, value in holder.raw.items() if key != "metadata"}
    words = {word for text in strings_in(content) for word in (text, *re.split(r"[^-\w]+", text))}
    return obj.name in words and (obj.namespace in {"", holder.ref.namespace} or obj.namespace in words)
