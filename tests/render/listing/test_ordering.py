"""The order of lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy import analyze
from kubectl_policy.errors import UsageError
from kubectl_policy.questions.lists import list_type
from kubectl_policy.questions.shared.selection import Selection
from kubectl_policy.render.lists import ordered
from tests import build
from tests.render.worlds import colourful

if TYPE_CHECKING:
    from kubectl_policy.model import Json, Resource


def names(by: str, word: str = "policies", *resources: Resource) -> list[str]:
    """The names of a type's objects, sorted."""
    analysis = analyze(build.snapshot(*resources)) if resources else colourful()
    return [row.ref.name for row in ordered(list_type(analysis, word, Selection()), by).rows]


@pytest.mark.parametrize(
    ("by", "problem"),
    [
        ("nope", "there is no such column"),
        (".", "there is no such column"),
        (".spec.targetRefs[first].name", "there is no such column"),
        (".spec.targetRefs[7].name", "none of the listed objects has this field"),
        (".spec..name", "there is no such column"),
        (".spec.nope", "none of the listed objects has this field"),
        ("{.metadata.labels.a}", "none of the listed objects has this field"),
    ],
)
def test_what_cannot_be_sorted_by_is_refused(by: str, problem: str) -> None:
    """With the columns that there are, also those that only the wide table shows."""
    with pytest.raises(UsageError) as error:
        names(by)
    assert error.value.message == f'cannot sort by "{by}": {problem}'
    assert error.value.hint == (
        "sort by a field such as .metadata.name, or by NAMESPACE, NAME, KIND, ENFORCEMENT, AFFECTS, REASON, "
        "TARGETS, CLASS, STRATEGY, KNOWN BY, STANZAS, BEATEN BY, REPORTED, CREATED"
    )


def test_an_empty_list_has_every_field() -> None:
    """But not every column."""
    assert names(".spec.nope", "routes", build.gateway()) == []
    with pytest.raises(UsageError):
        names("nope", "routes", build.gateway())


def test_without_an_order_the_list_stays_as_it_is() -> None:
    """By namespace and name."""
    assert names("") == ["base", "first", "lost", "own", "second", "strict"]


def test_numbers_are_sorted_as_numbers() -> None:
    """Where they are the same, the list stays as it was."""
    assert names("affects") == ["lost", "second", "first", "own", "base", "strict"]


@pytest.mark.parametrize("by", ["BEATEN BY", "beaten-by", "Beaten By"])
def test_a_column_is_named_as_it_is_shown(by: str) -> None:
    """In any case, and without a space to quote; what is empty comes first."""
    assert names(by) == ["first", "lost", "strict", "base", "own", "second"]


@pytest.mark.parametrize("by", [".metadata.name", "metadata.name", "{.metadata.name}"])
def test_a_field_is_named_as_for_kubectl(by: str) -> None:
    """Numbers in names count as numbers."""
    routes = [build.route(name) for name in ("r-10", "r-9", "r-09", "a", "r")]
    assert names(by, "routes", *routes) == ["a", "r", "r-09", "r-9", "r-10"]


def test_a_field_may_be_in_a_list_or_have_an_unusual_key() -> None:
    """By the position, and in quotes."""
    routes = [build.route(name, hostnames=[f"{name}.example"], labels={"a.b/c": name}) for name in ("b", "c", "a")]
    assert names(".spec.hostnames[0]", "routes", *routes) == ["a", "b", "c"]
    assert names("{.metadata.labels['a.b/c']}", "routes", *routes) == ["a", "b", "c"]


def test_values_of_any_type_can_be_sorted() -> None:
    """First those that are absent, then numbers, then the rest as text."""
    found: dict[str, Json] = {
        "a": "text",
        "b": 7,
        "c": {"x": 1},
        "d": None,
        "e": 2.5,
        "f": [1],
        "g": True,
        "h": "9" * 5_000,
    }
    policies = [build.policy(name, build.target("g"), value=value) for name, value in found.items()]
    assert names(".spec.value", "policies", *policies) == ["d", "g", "e", "b", "h", "f", "a", "c"]


def test_a_definition_has_the_fields_of_a_kind() -> None:
    """A kind without one has none of them."""
    labels = {"gateway.networking.k8s.io/policy": "direct"}
    world = (build.policy("p", build.target("g"), kind="ZooPolicy"), build.crd("AntPolicy", labels=labels))
    assert names(".spec.scope", "policykinds", *world) == ["zoopolicies.example.com", "antpolicys.example.com"]
