"""Attachments that may be, by the objects that they may be about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy import GroupKind, PolicyKindProfile, analyze
from tests.build import gateway, policy, ref, route, snapshot, target

if TYPE_CHECKING:
    from kubectl_policy import Analysis
    from kubectl_policy.model import Json, ObjectRef, Resource

PROFILE = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "profile")
ROUTES: Json = {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "selector": {"matchLabels": {"app": "a"}}}


def analysed(*world: Resource) -> Analysis:
    """A world that is complete."""
    return analyze(snapshot(*world, complete=True), profiles=[PROFILE])


def possible(obj: ObjectRef, *world: Resource) -> list[str]:
    """The policies that may be attached to an object."""
    return [str(found.policy) for found in analysed(*world).possible_attachments.to(obj)]


@pytest.mark.parametrize(
    "reference",
    [target("${G}"), target("g", namespace="${NS}"), target("g", "${K}"), target("g", "${K}", namespace="default")],
)
def test_a_reference_that_may_name_an_object(reference: dict[str, Json]) -> None:
    """By name, by namespace or by kind."""
    assert possible(ref("Gateway", "g"), gateway(), policy("p", reference)) == ["ColorPolicy default/p"]
    assert possible(ref("Gateway", "g"), gateway(), policy("p", target("other"))) == []


def test_a_reference_of_an_unknown_kind_to_something_else() -> None:
    """What is known of it rules others out."""
    world = (gateway(), policy("p", target("other", "${K}")))
    assert possible(ref("Gateway", "g"), *world) == []
    assert possible(ref("GatewayClass", "other"), *world) == ["ColorPolicy default/p"]


def test_an_object_whose_name_is_not_known() -> None:
    """It may be what a reference names that finds nothing else."""
    world = (gateway("${G}"), policy("p", target("g")))
    assert possible(ref("Gateway", "${G}"), *world) == ["ColorPolicy default/p"]


def test_selectors_of_namespaces_that_are_not_known() -> None:
    """They may be about the namespace of an object with the labels."""
    homeless = route("r", namespace="${NS}", labels={"app": "a"})
    other = route("other", namespace="${NS}", labels={"app": "b"})
    world = (homeless, other, policy("p", ROUTES))  # type: ignore[arg-type]  # a mapping
    assert possible(homeless.ref, *world) == ["ColorPolicy default/p"]
    assert possible(other.ref, *world) == []
    assert possible(ref("HTTPRoute", "none", "${NS}"), *world) == []


def test_what_is_undecided_of_objects_that_are_there() -> None:
    """As a section of them."""
    world = analysed(gateway(), policy("p", target("g", section="${S}"), target("${G}")))
    assert [found.state for found in world.possible_attachments.undecided_at(ref("Gateway", "g"))] == ["target unknown"]
    assert world.is_uncertain
    assert not analysed(gateway(), policy("p", target("g"))).is_uncertain


SECTION = target("g", section="${SECTION}")


def test_whether_any_policy_is_undecided() -> None:
    """At some objects or, where all attachments are worked out at once, anywhere."""
    world = (gateway(), gateway("h"), policy("p", SECTION), policy("q", target("h")), policy("r", {"name": "g"}))
    for is_known in (False, True):
        found = analysed(*world)
        if is_known:
            found.index.expect_questions(1_000)
            assert found.attachments_to(ref("Gateway", "h"))
        possible_attachments, kind = found.possible_attachments, PROFILE.group_kind
        assert possible_attachments.has_undecided(kind, [ref("Gateway", "g")])
        assert possible_attachments.has_undecided(kind, [ref("Gateway", "h")]) is is_known
        assert not possible_attachments.has_undecided(GroupKind("", "Other"), [ref("Gateway", "g")])
