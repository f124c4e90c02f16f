"""A cluster that is asked for what an answer needs gives the answer that all of its objects give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy import load_manifests
from kubectl_policy.errors import PolicyError
from kubectl_policy.model import NodeRef
from kubectl_policy.model.kinds import SERVICE
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.render.forms import BLAST_RADIUS, OBJECT_DESCRIPTION, POLICY_DESCRIPTION
from kubectl_policy.render.output.formats import Forms, render
from kubectl_policy.render.output.text import View
from kubectl_policy.topology.references import HTTP_ROUTE, TCP_ROUTE, UDP_ROUTE
from tests.asking import Asked, everything
from tests.property.examples import examples
from tests.property.strategies import worlds
from tests.property.world import World, profiles_of, snapshot_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind, ObjectRef, Snapshot
    from kubectl_policy.profiles import PolicyKindProfile

    Question = Callable[[Analysis], str]

VIEW = View(100, False, True, "kubectl policy", ())  # noqa: FBT003 (no terminal, and Unicode)


def description(ref: ObjectRef) -> Question:
    """What describe says of an object."""

    def ask(analysis: Analysis) -> str:
        if analysis.registry.profile_of(ref.group_kind):
            return _whole(POLICY_DESCRIPTION, describe_policy(analysis, ref))
        return _whole(OBJECT_DESCRIPTION, describe(analysis, NodeRef(ref)))

    return ask


def deletion(ref: ObjectRef) -> Question:
    """What deleting an object would change."""
    return lambda analysis: _whole(BLAST_RADIUS, blast_radius(analysis, ref))


def _whole(forms: Forms[Any], answer: Any) -> str:  # noqa: ANN401 (an answer of any command)
    return "".join(map(str, render(forms, answer, "json", VIEW)))


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
    """Of one object of it."""
    snapshot = snapshot_of(world)
    ref = snapshot.resources[choice % len(snapshot.resources)].ref
    asked(snapshot, ref, deletion(ref) if is_deleted else description(ref), profiles_of(world))


def test_other_routes_are_not_asked_for() -> None:
    """To describe one takes no list of routes."""
    snapshot = load_manifests("fixtures/bakery")
    route = next(each.ref for each in snapshot.resources if each.ref.group_kind == HTTP_ROUTE)
    asks = asked(snapshot, route, description(route)).asks
    assert not [ask for ask in asks if ask.kind == HTTP_ROUTE and not ask.name]


def test_of_kinds_that_are_not_served_nothing_is_waited_for() -> None:
    """A cluster need not know all kinds of routes."""
    snapshot = load_manifests("fixtures/bakery")
    service = next(each.ref for each in snapshot.resources if each.ref.group_kind == SERVICE)
    cluster = asked(snapshot, service, description(service), without=(TCP_ROUTE, UDP_ROUTE))
    assert not {TCP_ROUTE, UDP_ROUTE} & {ask.kind for ask in cluster.asks}
