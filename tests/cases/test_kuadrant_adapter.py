"""The adapter to Kuadrant's cases tells right answers from misses, on a case that is made here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from kubectl_policy.model import Json, Resource
from tests.cases import kuadrant
from tests.cases.kuadrant import profiles_of
from tests.cases.report import NOT_ANSWERED
from tests.cases.sample import OF_KUADRANT, WORLD, case

TO_RULE: Final = [
    "GatewayClass/public-class",
    "Gateway/default/g1",
    "Listener/default/g1#http",
    "HTTPRoute/default/r1",
    "HTTPRouteRule/default/r1#rule-1",
]


def kuadrant_rights(folder: Path, expect: Json, world: Sequence[Resource] = WORLD) -> dict[str, bool]:
    outcomes = kuadrant.judge(case(folder, {"expect": expect}, world=world))
    return {f"{outcome.type}: {outcome.fact}": outcome.right for outcome in outcomes}


def test_children_too_few_and_unknown_nodes_are_misses(tmp_path: Path) -> None:
    """With no section expanded, what is below a listener is below its Gateway."""
    children: dict[str, Json] = {"Gateway/default/g1": ["HTTPRoute/default/r1"], "Gateway/default/g2": []}
    rights = kuadrant_rights(tmp_path, {"topology": {"children": children}})
    assert list(rights.values()) == [False, False]


@pytest.mark.parametrize(("exact", "right"), [(True, False), (False, True)])
def test_a_rule_too_many_is_a_miss_where_the_fact_is_exact(tmp_path: Path, *, exact: bool, right: bool) -> None:
    fact: Json = {"kind": "HuePolicy", "path": TO_RULE, "exact": exact, "rules": {}}
    assert list(kuadrant_rights(tmp_path, {"effective": [fact]}).values()) == [right]


def test_kuadrant_paths_need_their_nodes_and_their_order(tmp_path: Path) -> None:
    """Nodes may be left out of a path; on a path that is none, nothing is effective."""
    rules: Json = {"hue.shade": {"source": "default/low", "spec": 2}}
    paths = [[TO_RULE[1], TO_RULE[4]], [TO_RULE[3], TO_RULE[1], TO_RULE[4]], ["Gateway/default/g2", TO_RULE[4]]]
    facts: list[Json] = [{"kind": "HuePolicy", "path": path, "exact": True, "rules": rules} for path in paths]
    nowhere: Json = {"kind": "HuePolicy", "path": paths[1], "exact": True, "rules": {}}
    outcomes = list(kuadrant.judge(case(tmp_path, {"expect": {"effective": [*facts, nowhere]}})))
    assert [outcome.right for outcome in outcomes] == [True, False, False, True]
    assert outcomes[2].got == "no such node"


def test_conditions_that_are_reported_and_messages_that_say_more_are_misses(tmp_path: Path) -> None:
    low: Json = {
        "policy": "AuthPolicy/default/low",
        "accepted": "absent",
        "enforced": {"status": "True", "message": "AuthPolicy has created 3 records"},
        "colour": "blue",
    }
    assert kuadrant_rights(tmp_path, {"policies": [low]}, OF_KUADRANT) == {
        "accepted: accepted of AuthPolicy/default/low": False,
        "enforced: enforced of AuthPolicy/default/low": True,
        "message: enforced of AuthPolicy/default/low": False,
        "colour: colour of AuthPolicy/default/low": False,
    }


def test_a_kuadrant_policy_that_is_not_there_is_a_miss(tmp_path: Path) -> None:
    accepted: Json = {"status": "True"}
    policy: Json = {"policy": "HuePolicy/x/x", "accepted": accepted, "enforcement": "Enforced", "overriddenBy": []}
    rights = kuadrant_rights(tmp_path, {"policies": [policy]})
    assert list(rights.values()) == [False, False, False]


def test_kuadrant_affected_objects_are_compared(tmp_path: Path) -> None:
    """By policies that must not be there, and by none at all."""
    facts: list[dict[str, Json]] = [
        {"object": "HTTPRoute/default/r1", "policies": ["default/low"], "notPolicies": ["default/high"]},
        {"object": "HTTPRoute/default/r1", "absent": True},
        {"object": "HTTPRoute/default/x", "absent": True},
    ]
    affected: list[Json] = [{"condition": "kuadrant.io/AuthPolicyAffected", **fact} for fact in facts]
    outcomes = kuadrant.judge(case(tmp_path, {"expect": {"affected": affected}}, world=OF_KUADRANT))
    assert [outcome.right for outcome in outcomes] == [False, False, False]


def test_what_cannot_be_answered_is_a_miss(tmp_path: Path) -> None:
    """Of validity, whose policy and sort of finding matter; facts of a changed world have types of their own."""
    facts: list[Json] = [
        {},
        {"policy": "HuePolicy/default/x", "valid": True},
        {"policy": "HuePolicy/default/high", "message": "shared"},
    ]
    change: Json = {"delete": ["HuePolicy/default/low"]}
    after: Json = {"policies": [{"policy": "HuePolicy/default/high", "enforcement": "Overridden"}]}
    expect: Json = {"lint": facts, "whatif": [{"change": change, "expect": after}]}
    outcomes = [(outcome.type, outcome.got) for outcome in kuadrant.judge(case(tmp_path, {"expect": expect}))]
    assert outcomes == [
        ("lint", NOT_ANSWERED),
        ("lint", "no such policy"),
        ("lint", NOT_ANSWERED),
        ("whatif enforcement", "Enforced"),
    ]


def test_a_kind_that_a_case_makes_up_is_what_the_case_says() -> None:
    """Named elements of a list, or of a map field by field; without rules there is nothing to go by."""
    by_id: dict[str, Json] = {
        "kind": "HuePolicy",
        "group": "g.io",
        "class": "inherited",
        "rules": "<stanza>.rules (list, key = id)",
    }
    by_field: dict[str, Json] = {
        "kind": "HuePolicy",
        "rules": "<stanza>.rules (map)",
        "merge": "JSON merge patch: under or over",
    }
    (listed,), (mapped,) = profiles_of(by_id), profiles_of(by_field)
    assert (listed.group_kind.group, listed.policy_class, listed.strategy) == ("g.io", "inherited", "Atomic defaults")
    assert set(listed.whole_fields) == {"rules[id]"}
    assert set(mapped.whole_fields) == {"rules.*"}
    assert mapped.strategy == "Patch defaults"
    assert profiles_of({"kind": "HuePolicy", "rules": "somewhere"}) == ()
