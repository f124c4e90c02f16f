"""Laws of worlds: what changes no answer."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import (
    Analysis,
    GroupKind,
    MergeStrategy,
    NodeRef,
    ObjectRef,
    Resource,
    Snapshot,
    analyze,
    load_manifests,
)
from kubectl_policy.cli.commands.changes import BLAST_RADIUS
from kubectl_policy.cli.describing import OBJECT_DESCRIPTION, POLICY_DESCRIPTION
from kubectl_policy.errors import PolicyError
from kubectl_policy.model.body import strings_in
from kubectl_policy.model.kind_roles import HTTP_ROUTE, SERVICE, TCP_ROUTE, UDP_ROUTE
from kubectl_policy.model.world import Loaded, Overlay, world_of
from kubectl_policy.model.world import World as ReadWorld
from kubectl_policy.profiles import PolicyKindProfile
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.render.output.formats import Renderers, render
from kubectl_policy.render.output.text import View
from tests import build
from tests.asking import Asked, everything
from tests.property.answers import answers, texts
from tests.property.examples import examples
from tests.property.hostile import files
from tests.property.strategies import worlds
from tests.property.world import World, profiles_of, shuffled, snapshot_of
from tests.text.readings import Mode, reading

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


ELSEWHERE: Final = "elsewhere"
UNRELATED: Final[tuple[Resource, ...]] = (
    build.resource("ConfigMap", "settings", group="", namespace="ns"),
    build.service("unused", namespace=ELSEWHERE),
    build.route("unused", namespace=ELSEWHERE, parents=[build.parent("unused")]),
    build.gateway("unused", namespace=ELSEWHERE, class_name="another"),
    build.policy("unused", build.target("unused", "Service", group=""), namespace=ELSEWHERE, kind="K", by="nobody"),
    build.grant("unused", namespace=ELSEWHERE),
    build.crd("Unused"),
)


@given(world=worlds(), unrelated=st.sampled_from(UNRELATED))
def test_an_object_that_nothing_refers_to_changes_nothing(world: World, unrelated: Resource) -> None:
    """At every node that was there before, and for every policy."""
    snapshot, profiles = snapshot_of(world), profiles_of(world)
    before = analyze(snapshot, profiles=profiles)
    after = analyze(replace(snapshot, resources=(*snapshot.resources, unrelated)), profiles=profiles)
    for node in before.topology.nodes:
        assert _at(after, node) == _at(before, node)
    for policy in before.policies:
        assert after.attachments[policy.ref] == before.attachments[policy.ref]
        assert after.enforcement(policy.ref) == before.enforcement(policy.ref)


def _at(analysis: Analysis, node: NodeRef) -> tuple[object, ...]:
    return analysis.topology.paths(node), analysis.effective(node), analysis.affected_by(node)


_BY_KEYS: Final[Mapping[str, Any]] = {
    "strategy": MergeStrategy.STRATEGIC_MERGE,
    "strategy_field": "",
    "stanzas": "none",
    "list_keys": {"l": "name", "a": "", "b": ""},
}


@settings(max_examples=examples(12))
@given(world=worlds(), by_keys=st.booleans(), random=st.randoms(use_true_random=False))
def test_any_order_gives_the_same_answers(world: World, random: Random, *, by_keys: bool) -> None:
    """Everything that can be asked, in the same order, with the same diagnostics; also where lists merge by keys."""
    snapshot, profiles = snapshot_of(world), profiles_of(world)
    if by_keys:
        profiles = tuple(replace(profile, **_BY_KEYS) for profile in profiles)
    other = shuffled(snapshot, random)
    assert answers(analyze(other, profiles=profiles)) == answers(analyze(snapshot, profiles=profiles))


@settings(max_examples=examples(15))
@given(world=worlds(), random=st.randoms(use_true_random=False))
def test_any_order_says_the_same(world: World, random: Random) -> None:
    """Line for line, in descriptions, lists and the comparison with what was reported."""
    snapshot, profiles = snapshot_of(world), profiles_of(world)
    other = shuffled(snapshot, random)
    assert texts(analyze(other, profiles=profiles)) == texts(analyze(snapshot, profiles=profiles))
