"""Laws of worlds: loaded, changed, decoded on demand or asked of a cluster, they answer alike."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_policy import GroupKind, NodeRef, ObjectRef, Resource, Snapshot, load_manifests
from kubectl_policy.cli.commands.changes import BLAST_RADIUS
from kubectl_policy.cli.commands.describe import OBJECT_DESCRIPTION, POLICY_DESCRIPTION
from kubectl_policy.errors import PolicyError
from kubectl_policy.model.body import strings_in
from kubectl_policy.model.kind_roles import HTTP_ROUTE, SERVICE, TCP_ROUTE, UDP_ROUTE
from kubectl_policy.model.world import Loaded, Overlay, world_of
from kubectl_policy.model.world import World as ReadWorld
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.render.output.formats import Renderers, render
from kubectl_policy.render.output.text import View
from tests.asking import Asked, everything
from tests.property.examples import examples
from tests.property.hostile import files
from tests.property.strategies import worlds
from tests.property.world import World, profiles_of, snapshot_of
from tests.text.readings import Mode, reading

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.profiles import PolicyKindProfile

    Question = Callable[[Analysis], str]


@settings(max_examples=examples(12))
@given(data=st.data(), world=worlds())
def test_what_is_decoded_on_demand_is_what_is_kept(data: st.DataObject, world: World) -> None:
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


def _read(folder: str, mode: Mode) -> ReadWorld:
    with reading(mode):
        return world_of(load_manifests(folder).resources)


@settings(max_examples=examples(12))
@given(data=st.data(), world=worlds())
def test_a_world_with_changes(data: st.DataObject, world: World) -> None:
    """Objects are deleted from it, applied to it, or put in the place of others."""
    resources = snapshot_of(world).resources
    base = Loaded(resources)
    some = st.lists(st.sampled_from(resources), max_size=3) if resources else st.just(list["Resource"]())
    changes: dict[ObjectRef, Resource | None] = dict.fromkeys(each.ref for each in data.draw(some))
    changes |= {each.ref: each for each in data.draw(some)}
    every = Loaded(filter(None, ({each.ref: each for each in base} | changes).values()))
    answer_alike(Overlay(base, changes), every)
    answer_alike(Overlay(Overlay(base, changes), {}), every)


def answer_alike(world: ReadWorld, every: ReadWorld) -> None:
    """A world answers as the one in which all of its objects are loaded; what may name an object is never missing."""
    assert sorted(each.ref for each in world) == sorted(each.ref for each in every)
    assert len(world) == len(every)
    assert (world.kinds, world.namespaces) == (every.kinds, every.namespaces)
    for kind in every.kinds:
        assert [*world.refs_of(kind)] == [*every.refs_of(kind)]
        for namespace in ("", *every.namespaces):
            assert [*world.of_kind(kind, namespace)] == [*every.of_kind(kind, namespace)]
        for word in ("spec", "targetRefs", "x", "namespace"):
            containing = [
                resource.ref for resource in every.of_kind(kind) if any(word in it for it in strings_in(resource.raw))
            ]
            assert {*containing} <= {*world.naming(kind, word)} <= {*every.refs_of(kind)}
        for named in (each.ref for each in every):
            naming = [*world.naming(kind, named)]
            assert naming == sorted(set(naming))
            assert {resource.ref for resource in every.of_kind(kind) if _names(resource, named)} <= {*naming}
            assert {*naming} <= {*every.refs_of(kind)}
    for resource in every:
        assert world.get(resource.ref) is resource
        assert world.has(resource.ref)


def _names(holder: Resource, obj: ObjectRef) -> bool:
    """Whether something in an object, besides its metadata, has the name of another one."""
    content = {key: value for key, value in holder.raw.items() if key != "metadata"}
    words = {word for text in strings_in(content) for word in (text, *re.split(r"[^-\w]+", text))}
    return obj.name in words and (obj.namespace in {"", holder.ref.namespace} or obj.namespace in words)


VIEW = View(100, False, True, "kubectl policy", ())  # noqa: FBT003 (no terminal, and Unicode)


def description(ref: ObjectRef) -> Question:
    def ask(analysis: Analysis) -> str:
        if analysis.registry.profile_of(ref.group_kind):
            return _whole(POLICY_DESCRIPTION, describe_policy(analysis, ref))
        return _whole(OBJECT_DESCRIPTION, describe(analysis, NodeRef(ref)))

    return ask


def deletion(ref: ObjectRef) -> Question:
    return lambda analysis: _whole(BLAST_RADIUS, blast_radius(analysis, ref))


def _whole(renderers: Renderers[Any], answer: Any) -> str:  # noqa: ANN401 (an answer of any command)
    return "".join(map(str, render(renderers, answer, "json", VIEW)))


def asked(
    snapshot: Snapshot,
    ref: ObjectRef,
    question: Question,
    profiles: Sequence[PolicyKindProfile] = (),
    without: Collection[GroupKind] = (),
) -> Asked:
    """A cluster that was asked a question about an object, and gave the same answer as all of its objects.

    It does not serve kinds that it is `without`.
    """
    cluster = Asked(snapshot, ref.namespace, profiles, without)
    try:
        expected: str | PolicyError = question(everything(snapshot, profiles))
    except PolicyError as error:
        expected = error
    assert str(cluster.answer(question)) == str(expected)
    return cluster


@pytest.mark.parametrize("name", ["bakery", "delegation", "envoy-gateway", "kgateway", "reported"])
def test_of_fixtures(name: str) -> None:
    """Of some objects, in a thorough run of all, described and deleted."""
    snapshot = load_manifests(f"fixtures/{name}")
    for resource in snapshot.resources[:: max(4 // examples(1), 1)]:
        for question in (description(resource.ref), deletion(resource.ref)):
            asked(snapshot, resource.ref, question)


@given(world=worlds(), choice=st.integers(0, 30), is_deleted=st.booleans())
def test_of_any_world(world: World, choice: int, is_deleted: bool) -> None:  # noqa: FBT001 (Hypothesis gives it by its name)
    snapshot = snapshot_of(world)
    ref = snapshot.resources[choice % len(snapshot.resources)].ref
    asked(snapshot, ref, deletion(ref) if is_deleted else description(ref), profiles_of(world))


def test_other_routes_are_not_asked_for() -> None:
    snapshot = load_manifests("fixtures/bakery")
    route = next(resource.ref for resource in snapshot.resources if resource.ref.group_kind == HTTP_ROUTE)
    asks = asked(snapshot, route, description(route)).asks
    assert not [ask for ask in asks if ask.kind == HTTP_ROUTE and not ask.name]


def test_of_kinds_that_are_not_served_nothing_is_waited_for() -> None:
    snapshot = load_manifests("fixtures/bakery")
    service = next(resource.ref for resource in snapshot.resources if resource.ref.group_kind == SERVICE)
    cluster = asked(snapshot, service, description(service), without=(TCP_ROUTE, UDP_ROUTE))
    assert not {TCP_ROUTE, UDP_ROUTE} & {ask.kind for ask in cluster.asks}
