"""Differences and blast radii as documents: values, under the names of the other documents, as the schema says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from kubectl_policy.questions.differences.effects import ChangedObject, EffectiveValue
from kubectl_policy.render.output.encoding import as_yaml
from tests import build
from tests.render.changes.differences import (
    GAP,
    OTHER,
    ROUTE,
    change,
    difference,
    everything,
    field,
    hostile,
    valued,
    without,
)
from tests.render.schema import VALIDATOR
from tests.render.shown import as_json, document_of

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.questions.diff import StateDiff


def loaded(document: dict[str, Json]) -> Any:  # noqa: ANN401 (a document)
    return json.loads(as_json(document))


@pytest.mark.parametrize("name", everything())
def test_every_document_is_as_the_schema_says(name: str) -> None:
    answer = without(name)
    VALIDATOR.validate(loaded(document_of(answer)))
    VALIDATOR.validate(loaded(document_of(answer.difference)))


@pytest.mark.parametrize("document_", [difference(), difference(unseen=(GAP,)), hostile("\x1b[31m\u202e\n`|")])
def test_the_parts_of_a_difference_are_as_the_schema_says(document_: StateDiff) -> None:
    document = document_of(document_)
    VALIDATOR.validate(loaded(document))
    assert document["complete"] is not bool(document_.unseen)
    assert document["changes"] is document_.changes
    assert as_json(document).isascii()
    assert all(map(str.isprintable, as_yaml(document, unicode=True).split("\n")))


def test_the_schema_refuses_what_it_does_not_know() -> None:
    """At the top and below it."""
    document = loaded(document_of(hostile("x")))
    assert VALIDATOR.is_valid(document)
    assert not VALIDATOR.is_valid({**document, "more": 1})
    for part in ("effects", "attachments", "parents", "enforcement"):
        assert not VALIDATOR.is_valid({**document, part: [{**document[part][0], "more": 1}]})
        assert not VALIDATOR.is_valid({key: value for key, value in document.items() if key != part})


def test_a_change_says_before_and_after() -> None:
    """Null where nothing sets a field, which is not the same as a removed field or a null."""
    removed = EffectiveValue(None, valued(1, OTHER).source, removed=True)
    fields = [field("red", None, security=True), field(1, 2, "n"), replace(field(None, None, "gone"), after=removed)]
    (effect,) = loaded(document_of(difference(effects=(change(*fields, to_nothing=True),))))["effects"]
    assert (effect["sort"], effect["security"], effect["where"], effect["toNothing"]) == ("lost", True, "kept", True)
    assert [(item_["field"], item_["sort"], item_["security"]) for item_ in effect["fields"]] == [
        ("color", "lost", True),
        ("n", "changed", False),
        ("gone", "moved", False),
    ]
    assert effect["fields"][0]["after"] is None
    assert (effect["fields"][1]["before"]["value"], effect["fields"][1]["after"]["value"]) == (1, 2)
    assert effect["fields"][2]["after"]["removed"] is True
    assert effect["fields"][2]["after"]["source"]["object"]["name"] == OTHER.name


def test_objects_refer_to_paths_by_number() -> None:
    """And say which of all their paths these are, if they have others."""
    gateway = [build.node("Gateway", "g", name) for name in ("http", "https", "admin")]
    through = tuple((listener, ROUTE) for listener in gateway)
    (item_,) = change(field(1, 2)).objects
    some = replace(change(field(1, 2)), objects=(item_, replace(item_, all_paths=through, affected_paths=(1,))))
    objects = loaded(document_of(difference(effects=(some,))))["effects"][0]["objects"]
    assert [(document_["paths"], document_["scope"], document_["ofPaths"]) for document_ in objects] == [
        ([1], "", None),
        ([1], "listener https only", 3),
    ]
    alike = ((ROUTE, ROUTE, ROUTE, ROUTE), (ROUTE, ROUTE), (ROUTE, ROUTE, ROUTE))
    odd = replace(some, objects=(ChangedObject(ROUTE, (0,), alike, (0, 2)),))
    (document_,) = loaded(document_of(difference(effects=(odd,))))["effects"][0]["objects"]
    assert document_["scope"] == "2 of 3 paths"


def test_a_policy_has_what_it_touches() -> None:
    document = loaded(document_of(without("RetryPolicy baker/resilience")))
    assert document["policy"] is True
    assert document["enforcement"]["state"] == "PartiallyEnforced"
    assert [document_["objects"][0]["name"] for document_ in document["superseded"]] == ["events"]
    assert [(document_["object"]["name"], document_["reason"]) for document_ in document["detached"]] == [
        ("old", "NoMatchingParent")
    ]
    assert document["counts"]["total"] == len({(item_["kind"], item_["name"]) for item_ in document["affected"]}) == 8
    assert document["counts"]["ownerKey"] == "team"
    assert sum(item_["count"] for item_ in document["counts"]["owners"]) == 8
    assert document["difference"]["deleted"] == [document["subject"]]


def test_anything_else_has_the_same_names_with_nothing_in_them() -> None:
    """So that a script need not ask first."""
    document = loaded(document_of(without("Namespace baker")))
    assert (document["policy"], document["enforcement"], document["affected"]) == (False, None, [])
    assert len(document["deletedWithIt"]) == 16
    assert {key: type(value) for key, value in document.items() if key not in {"policy", "enforcement"}} == {
        key: type(value)
        for key, value in loaded(document_of(without("RetryPolicy baker/own"))).items()
        if key not in {"policy", "enforcement"}
    }


def test_an_incomplete_answer_says_so() -> None:
    """In both documents."""
    answer = without("RetryPolicy baker/own")
    document = document_of(replace(answer, difference=replace(answer.difference, unseen=(GAP,))))
    assert document["complete"] is False
    said: dict[str, object] = {
        "what": GAP.what,
        "reason": GAP.reason,
        "remedy": GAP.remedy,
        "needs": [],
        "origin": None,
    }
    assert document["unseen"] == [said]
