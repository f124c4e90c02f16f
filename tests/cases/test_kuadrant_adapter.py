"""The adapter to Kuadrant's cases tells right answers from misses, on a case that is made here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from tests.build import crd
from tests.cases import kuadrant
from tests.cases.kuadrant import profiles_of
from tests.cases.report import NOT_ANSWERED
from tests.cases.sample import OF_KUADRANT, WORLD, case, write_manifests

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kubectl_policy.model import Json, Resource

TO_RULE: Final = [
    "GatewayClass/public-class",
    "Gateway/default/g1",
    "Listener/default/g1#http",
    "HTTPRoute/default/r1",
    "HTTPRouteRule/default/r1#rule-1",
]


def kuadrant_rights(folder: Path, expect: Json, world: Sequence[Resource] = WORLD) -> dict[str, bool]:
    """Return whether each fact of a Kuadrant case holds."""
    outcomes = kuadrant.judge(case(folder, {"expect": expect}, world=world))
    return {f"{outcome.type}: {outcome.fact}": outcome.right for outcome in outcomes}


def test_kuadrant_topology_is_compared_by_its_names(tmp_path: Path) -> None:
    """Wrong children and unknown nodes are misses; a route that a listener refuses refers to it all the same."""
    expanded = ["Listener", "HTTPRouteRule", "ServicePort"]
    children: dict[str, Json] = {
        "Listener/default/g1#http": ["HTTPRoute/default/r1", "UDPRoute/default/u1"],
        "HTTPRouteRule/default/r1#rule-1": ["ServicePort/default/s1#web"],
        "Gateway/default/g1": ["HTTPRoute/default/r1"],
        "Gateway/default/g2": [],
    }
    rights = kuadrant_rights(tmp_path, {"topology": {"expand": expanded, "children": children}})
    assert list(rights.values()) == [True, True, False, False]


def test_kuadrant_sections_that_are_not_expanded_are_one_with_their_objects(tmp_path: Path) -> None:
    """Then a Gateway's children are routes, a route's are Services, and a Service has none."""
    children: dict[str, Json] = {
        "Gateway/default/g1": ["UDPRoute/default/u1", "HTTPRoute/default/r1"],
        "HTTPRoute/default/r1": ["Service/default/s1"],
        "Service/default/s1": [],
    }
    rights = kuadrant_rights(tmp_path, {"topology": {"expand": [], "children": children}})
    assert list(rights.values()) == [True, True, True]


@pytest.mark.parametrize(
    ("right", "exactly", "rules"),
    [
        ("right", "exactly", {"hue.shade": {"source": "default/low", "spec": 2}}),
        ("right", "exactly", {"hue": {"source": "default/low", "spec": {"shade": 2}}}),
        ("right", "exactly", {"spec": {"source": "default/low"}}),
        ("miss", "among others", {"hue.shade": {"source": "default/high", "spec": 2}}),
        ("miss", "among others", {"hue.shade": {"source": "default/low", "spec": 1}}),
        ("miss", "among others", {"hue.tint": {"source": "default/high", "spec": 1}}),
        ("right", "among others", {}),
        ("miss", "exactly", {}),
    ],
)
def test_kuadrant_rules_are_compared_with_their_sources(
    tmp_path: Path, right: str, exactly: str, rules: dict[str, Json]
) -> None:
    """A value, a source, a missing rule and, where the fact is exact, a rule too many make a miss."""
    fact: Json = {"kind": "HuePolicy", "path": TO_RULE, "exact": exactly == "exactly", "rules": rules}
    assert list(kuadrant_rights(tmp_path, {"effective": [fact]}).values()) == [right == "right"]


def test_kuadrant_paths_need_their_nodes_and_their_order(tmp_path: Path) -> None:
    """Nodes may be left out of a path; on a path that is none, nothing is effective."""
    rules: Json = {"hue.shade": {"source": "default/low", "spec": 2}}
    paths = [[TO_RULE[1], TO_RULE[4]], [TO_RULE[3], TO_RULE[1], TO_RULE[4]], ["Gateway/default/g2", TO_RULE[4]]]
    facts: list[Json] = [{"kind": "HuePolicy", "path": path, "exact": True, "rules": rules} for path in paths]
    nowhere: Json = {"kind": "HuePolicy", "path": paths[1], "exact": True, "rules": {}}
    outcomes = list(kuadrant.judge(case(tmp_path, {"expect": {"effective": [*facts, nowhere]}})))
    assert [outcome.right for outcome in outcomes] == [True, False, False, True]
    assert outcomes[2].got == "no such node"


def test_kuadrant_sources_are_a_fact_of_their_own(tmp_path: Path) -> None:
    """The set of policies has to be exact."""
    sources = [["default/low"], ["default/low", "default/high"]]
    facts: list[Json] = [{"kind": "HuePolicy", "path": TO_RULE, "sourcePolicies": names} for names in sources]
    outcomes = kuadrant.judge(case(tmp_path, {"expect": {"effective": facts}}))
    assert [outcome.right for outcome in outcomes if outcome.type == "sources"] == [True, False]


def test_kuadrant_conditions_are_compared(tmp_path: Path) -> None:
    """Status with reason, the message, the state and what overrides are a fact each."""
    accepted: Json = {"status": "True", "reason": "Accepted", "message": "AuthPolicy has been accepted"}
    overridden: Json = {
        "status": "False",
        "reason": "Overridden",
        "message": "AuthPolicy is overridden by [default/low]",
    }
    high: Json = {
        "policy": "AuthPolicy/default/high",
        "accepted": accepted,
        "enforced": overridden,
        "enforcement": "Overridden",
        "overriddenBy": ["default/low"],
    }
    low: Json = {
        "policy": "AuthPolicy/default/low",
        "accepted": "absent",
        "enforced": {"status": "True", "message": "AuthPolicy has created 3 records"},
        "overriddenBy": ["default/high"],
        "colour": "blue",
    }
    rights = kuadrant_rights(tmp_path, {"policies": [high, low]}, OF_KUADRANT)
    assert rights == {
        "accepted: accepted of AuthPolicy/default/high": True,
        "message: accepted of AuthPolicy/default/high": True,
        "enforced: enforced of AuthPolicy/default/high": True,
        "message: enforced of AuthPolicy/default/high": True,
        "enforcement: enforcement of AuthPolicy/default/high": True,
        "overridden by: what overrides AuthPolicy/default/high": True,
        "accepted: accepted of AuthPolicy/default/low": False,
        "enforced: enforced of AuthPolicy/default/low": True,
        "message: enforced of AuthPolicy/default/low": False,
        "overridden by: what overrides AuthPolicy/default/low": False,
        "colour: colour of AuthPolicy/default/low": False,
    }


def test_kuadrant_conditions_that_a_kind_does_not_report_are_absent(tmp_path: Path) -> None:
    """By the API's own words a policy is accepted, and nothing is said of enforcement."""
    policy: Json = {"policy": "HuePolicy/default/high", "accepted": {"status": "True"}, "enforced": "absent"}
    assert list(kuadrant_rights(tmp_path, {"policies": [policy]}).values()) == [True, True]


def test_a_kuadrant_policy_that_is_not_there_is_a_miss(tmp_path: Path) -> None:
    """Whatever is expected of it."""
    accepted: Json = {"status": "True"}
    policy: Json = {"policy": "HuePolicy/x/x", "accepted": accepted, "enforcement": "Enforced", "overriddenBy": []}
    rights = kuadrant_rights(tmp_path, {"policies": [policy]})
    assert list(rights.values()) == [False, False, False]


def test_kuadrant_affected_objects_are_compared(tmp_path: Path) -> None:
    """By the policies named, those that must not be there, and none at all."""
    facts: list[dict[str, Json]] = [
        {"object": "HTTPRoute/default/r1", "policies": ["default/low", "default/high"]},
        {"object": "HTTPRoute/default/r1", "policies": ["default/low"], "notPolicies": ["default/high"]},
        {"object": "HTTPRoute/default/r1", "policies": ["default/x"]},
        {"object": "HTTPRoute/default/r1", "absent": True},
        {"object": "GatewayClass/public-class", "absent": True},
        {"object": "HTTPRoute/default/x", "absent": True},
    ]
    affected: list[Json] = [{"condition": "kuadrant.io/AuthPolicyAffected", **fact} for fact in facts]
    outcomes = kuadrant.judge(case(tmp_path, {"expect": {"affected": affected}}, world=OF_KUADRANT))
    assert [outcome.right for outcome in outcomes] == [True, False, False, False, True, False]


def test_a_kuadrant_change_is_a_world_of_its_own(tmp_path: Path) -> None:
    """Facts of a changed world have types of their own, and what cannot be answered is a miss."""
    change: Json = {"delete": ["HuePolicy/default/low"]}
    after: Json = {"policies": [{"policy": "HuePolicy/default/high", "enforcement": "Enforced"}]}
    outcomes = list(
        kuadrant.judge(case(tmp_path, {"expect": {"whatif": [{"change": change, "expect": after}], "lint": [{}]}}))
    )
    assert [(outcome.type, outcome.right) for outcome in outcomes] == [("lint", False), ("whatif enforcement", True)]
    assert outcomes[0].got == NOT_ANSWERED


def test_what_kuadrant_says_of_validity_is_compared(tmp_path: Path) -> None:
    """Whether a policy is taken, and the message if not; a finding of another sort is not answered."""
    rule: Json = {"rule": "self.hue.shade < 2", "message": "too dark"}
    spec: Json = {"x-kubernetes-preserve-unknown-fields": True, "x-kubernetes-validations": [rule]}
    schema: Json = {"type": "object", "properties": {"spec": spec}}
    # Read after the one of the manifests, which has its name, it counts.
    write_manifests(tmp_path / "hue.yaml", [crd("HuePolicy", schema=schema, plural="huepolicies")])
    facts: list[Json] = [
        {"policy": "HuePolicy/default/low", "valid": False, "message": "too dark"},
        {"policy": "HuePolicy/default/low", "valid": True, "message": "too bright"},
        {"policy": "HuePolicy/default/high", "valid": True},
        {"policy": "HuePolicy/default/x", "valid": True},
        {"policy": "HuePolicy/default/high", "message": "shared"},
    ]
    outcomes = list(kuadrant.judge(case(tmp_path, {"crds": "../hue.yaml", "expect": {"lint": facts}})))
    assert [outcome.right for outcome in outcomes] == [True, True, False, False, True, False, False]
    assert outcomes[-1].got == NOT_ANSWERED


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
