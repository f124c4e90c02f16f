"""Filters of routes that name kinds which nothing is known of: answers about the route say that they were not read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pytest

from kubectl_policy import PolicyKindProfile, analyze, what_if
from kubectl_policy.model import GroupKind
from kubectl_policy.questions.changes.blast_radius import blast_radius
from kubectl_policy.questions.changes.diff import diff
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.topology.references import HTTP_ROUTE
from tests.build import backend, gateway, names, node, resource, route, rule, service, snapshot
from tests.render.schema import VALIDATOR
from tests.render.shown import document_of, shown

if TYPE_CHECKING:
    from kubectl_policy import Analysis
    from kubectl_policy.model import Resource

COLOR: Final = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "profile")
MAGIC: Final = resource("Magic", "m", {"answer": 503}, group="example.com")
RULE: Final = rule(backend(filters=[names("b", "Magic")]), name="a", filters=[names("m", "Magic")])
TWICE: Final = rule(backend(), name="b", filters=[names("m", "Magic"), {"type": "RequestHeaderModifier"}])


def world(*objects: Resource, complete: bool = False, profile: PolicyKindProfile = COLOR) -> Analysis:
    """A route with such filters, and others."""
    there = (gateway(), service(), route(rules=[RULE, TWICE]))
    return analyze(snapshot(*there, *objects, complete=complete), profiles=[profile])


def test_the_route_says_all_of_them() -> None:
    """By the object that they name, with their places."""
    described = describe(world(MAGIC), node("HTTPRoute", "r"))
    assert [(each.object.name, each.field) for each in described.filters] == [
        ("m", "spec.rules[0].filters[0].extensionRef"),
        ("b", "spec.rules[0].backendRefs[0].filters[0].extensionRef"),
        ("m", "spec.rules[1].filters[0].extensionRef"),
    ]
    text = " ".join(shown(described, "tree").split())
    places = "spec.rules[0].filters[0].extensionRef, spec.rules[1].filters[0].extensionRef"
    assert f"Filters that are not looked into Magic default/m ({places}) Magic default/b (" in text
    document: Any = document_of(described)
    VALIDATOR.validate(document)
    assert [each["object"]["name"] for each in document["filters"]] == ["m", "b", "m"]


def test_a_rule_says_its_own() -> None:
    """And those of its backendRefs."""
    for section, expected in (("a", ["m", "b"]), ("b", ["m"])):
        described = describe(world(MAGIC), node("HTTPRoute", "r", section))
        assert [each.object.name for each in described.filters] == expected


@pytest.mark.parametrize("of", [node("Gateway", "g"), node("Service", "s", group="")])
def test_other_objects_say_nothing(of: Any) -> None:  # noqa: ANN401 (a node)
    """The answer is about the route."""
    described = describe(world(MAGIC), of)
    assert described.filters == ()
    assert "not looked into" not in shown(described, "tree")


def test_what_is_missing_does_nothing() -> None:
    """That it is missing is said."""
    described = describe(world(complete=True), node("HTTPRoute", "r", "b"))
    assert described.filters == ()
    assert {problem.rule for problem in described.diagnostics if "Magic" in problem.message} == {"missing-reference"}


def test_kinds_that_are_known() -> None:
    """Policies that filters attach, and those of which it is known that none does."""
    magic = PolicyKindProfile(GroupKind("example.com", "Magic"), "inherited", "profile")
    for profile in (magic, replace(magic, filter_routes=frozenset({HTTP_ROUTE}))):
        assert describe(world(MAGIC, profile=profile), node("HTTPRoute", "r")).filters == ()


class TestChanges:
    """What such an object sets may be all that differs."""

    def test_an_object_that_differs(self) -> None:
        """Then it is not known whether anything changes."""
        changed = resource("Magic", "m", {"answer": 200}, group="example.com")
        (unseen,) = diff(what_if(world(MAGIC, complete=True), applied=[changed])).unseen
        assert unseen.what == "what differs in Magic default/m"
        assert unseen.reason == "filters of HTTPRoute default/r name it, and what a Magic does is not looked into"

    def test_one_that_no_filter_names(self) -> None:
        """It is no affair of routes."""
        other, changed = (resource("Magic", "x", {"answer": answer}, group="example.com") for answer in (1, 2))
        assert diff(what_if(world(MAGIC, other, complete=True), applied=[changed])).unseen == ()

    def test_one_that_is_deleted(self) -> None:
        """What follows from that is known: requests get an error response."""
        answer = blast_radius(world(MAGIC, complete=True), MAGIC.ref)
        assert answer.difference.unseen == ()
        assert {problem.rule for problem in answer.difference.problems.introduced} == {"missing-reference"}
