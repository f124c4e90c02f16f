"""Adapters tell right answers from misses, on cases made here: gwctl, Kuadrant and NGINX Gateway Fabric."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest

from kubectl_policy import GroupKind, analyze
from kubectl_policy.comparison import what_if
from kubectl_policy.model import Json, Resource
from kubectl_policy.model.fields import mapping_at, mappings_at
from kubectl_policy.resolution import EffectivePolicy, Leaf, Resolution, Traced
from kubectl_policy.resolution.traced import KeyedList, Source
from tests.build import backend, node, parent, ref, route, rule, service
from tests.cases import gwctl, kuadrant
from tests.cases import nginx_gateway_fabric as adapter
from tests.cases.gwctl_question import Question
from tests.cases.kuadrant import profiles_of
from tests.cases.nginx_gateway_fabric_effective import settings_of
from tests.cases.report import NOT_ANSWERED, NOTHING, NodeInForce
from tests.cases.worlds import DATA, OF_KUADRANT, WORLD, case, fields, read, world, write_manifests


def gwctl_outcomes(folder: Path, facts: Json, **fields: Json) -> dict[str, NodeInForce]:
    return {outcome.fact: outcome for outcome in gwctl.judge(case(folder, {"facts": facts, **fields}))}


def test_what_cannot_be_answered_is_a_miss(tmp_path: Path) -> None:
    """A fact of an unknown type, and one about an object that is not there."""
    facts: Json = [
        {"ask": "describe HuePolicy default/low", "colour": "blue"},
        {"ask": "describe gateway default/nowhere", "attached_routes": []},
        {"ask": "effective of httproute default/r1 via g2", "effective": {}},
        {"ask": "effective of service default/s1 per path", "g1>s1>r1": {}},
    ]
    got = [outcome.got for outcome in gwctl_outcomes(tmp_path, facts).values()]
    assert got == [NOT_ANSWERED, "no such object", "no such path", "no such path"]


def test_a_row_too_many_or_too_few_is_a_miss(tmp_path: Path) -> None:
    """In lists with cells, and in those of names, whose order counts."""
    low = {"name": "low", "kind": "HuePolicy.example.com"}
    facts: Json = [
        {"ask": "list policies -A", "expect": [low]},
        {"ask": "list policies", "expect": [low, {"name": "high"}, {"name": "mid"}]},
        {"ask": "get policies", "expect": ["low"]},
        {"ask": "get policies -n default", "expect": ["low", "high"]},
        {"ask": "get gateways (default/g2)", "routes": 1},
    ]
    assert not any(outcome.right for outcome in gwctl_outcomes(tmp_path, facts).values())


def test_gwctl_errors_are_compared_both_ways(tmp_path: Path) -> None:
    """A sentence without a problem is a miss, and so is a problem of the object that no sentence tells of."""
    facts: Json = [
        {"ask": "errors of httproute default/r1", "errors": []},
        {"ask": "errors of udproute default/u1", "errors": []},
        {"ask": "errors", "errors": ['UDPRoute "default/u1" references a non-existent Service "default/absent"']},
        {
            "ask": "errors of gateway default/g1",
            "errors": ["Gateway default/g1 references a non-existent GatewayClass x-1"],
        },
    ]
    outcomes = gwctl_outcomes(tmp_path, facts)
    assert [outcome.right for outcome in outcomes.values()] == [True, False, True, False]


def test_gwctl_corrections_take_the_place_of_facts(tmp_path: Path) -> None:
    """What the case says is the correct answer counts instead of what it corrects, and beside what it does not."""
    facts: Json = [{"ask": "describe gateway default/g1", "attached_routes": ["default/r1", "default/u1"]}]
    correct: Json = {
        "attached_routes": ["default/r1"],
        "not_attached": ["default/u1 -> default/g1"],
        "dangling": ["UDPRoute default/u1 -> Service default/absent"],
        "why": "an HTTP listener takes no UDPRoutes",
    }
    outcomes = gwctl_outcomes(tmp_path, facts, correct_answer=correct)
    assert [(outcome.type, outcome.right) for outcome in outcomes.values()] == [
        ("attached_routes", True),
        ("not_attached", True),
        ("dangling", True),
    ]


def test_a_change_that_is_not_told_is_a_miss(tmp_path: Path) -> None:
    folder = case(tmp_path, {"facts": [{"ask": "analyze change.yaml", "new_issues": [], "fixed_issues": []}]})
    changed = route("r1", parents=[parent("g1")], rules=[rule(backend("s-2", 80))])
    write_manifests(folder / "change.yaml", [service("absent", 53), changed])
    assert [outcome.right for outcome in gwctl.judge(folder)] == [False, False]


def test_a_question_without_an_object_has_no_subject(tmp_path: Path) -> None:
    """Neither an empty one, nor one about something that does not exist."""
    analysis = analyze(world([case(tmp_path, {}) / "manifests.yaml"]))
    for ask in ("", "errors", "describe gateway default/none", "describe gateway"):
        assert Question(what_if(analysis), ask).subject is None


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


def test_what_kuadrant_does_not_answer_is_a_miss(tmp_path: Path) -> None:
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


PROJECT: Final = Path(__file__).parents[2]
CASE: Final = DATA / "nginx-gateway-fabric" / "every-setting"
MANIFESTS: Final = CASE / "manifests.yaml"
EXPECT: Final = mapping_at(read(CASE / "expected.yaml"), "expect")
SERVED: Final[list[Json]] = [{**entry} for entry in mappings_at(EXPECT, "effective")]
UPSTREAMS: Final[list[Json]] = [{**entry} for entry in mappings_at(EXPECT, "backends")]
GATEWAY: Final = "Gateway/app/gw"
TEA: Final = "HTTPRoute/app/tea"


def judged(folder: Path, expect: dict[str, Json], left_out: Json = None) -> list[NodeInForce]:
    """Return the outcomes of the world; places that a test does not ask about are as they should be."""
    whole: dict[str, Json] = {"effective": SERVED, "backends": UPSTREAMS, **expect}
    folder_of_case = case(folder, {"expect": whole, "left_out": left_out}, world=MANIFESTS)
    return [
        outcome
        for outcome in adapter.judge(folder_of_case)
        if outcome.type not in {"effective", "backends"} - expect.keys()
    ]


def with_fields(entry: Json, settings: Mapping[str, Json]) -> Json:
    return {**fields(entry), "fields": {**settings}}


def policy(name: str, ancestors: list[Json], attached: list[Json]) -> dict[str, Json]:
    return {"policy": name, "ancestors": ancestors, "attached": attached}


def test_a_policy_that_is_not_there_is_a_miss(tmp_path: Path) -> None:
    """Also where neither an ancestor nor a target is expected, and where it is a load balancer."""
    expect: dict[str, Json] = {
        "policies": [policy("RateLimitPolicy/app/x", [], [])],
        "load_balancers": [{"policy": "ExternalLoadBalancer/app/x", "Accepted": "True/Accepted"}],
    }
    assert [(outcome.type, outcome.right) for outcome in judged(tmp_path, expect)] == [
        ("ancestors", False),
        ("attached", False),
        ("load_balancers", False),
    ]


def test_a_setting_that_is_not_listed_is_a_miss(tmp_path: Path) -> None:
    """Over-answering gains nothing: a field too many is a fact of its own, or makes `{}` wrong."""
    one: dict[str, Json] = {"ClientSettingsPolicy": {"body.maxSize": {"value": "5m", "from": "app/below"}}}
    expected: list[Json] = [with_fields(SERVED[0], one), with_fields(SERVED[1], {})]
    nothing = with_fields(UPSTREAMS[0], {})
    outcomes = judged(tmp_path, {"effective": expected, "backends": [nothing, UPSTREAMS[1]]})
    assert [(outcome.type, outcome.right, outcome.expected == NOTHING) for outcome in outcomes] == [
        ("effective", True, False),
        *[("effective", False, True)] * 7,
        ("effective", False, False),
        ("backends", False, False),
        ("backends", True, False),
    ]


def test_a_place_that_is_not_listed_is_a_miss(tmp_path: Path) -> None:
    """Nobody gains by saying that everything is served; where it is not, every fact expected there is a miss."""
    elsewhere: dict[str, Json] = {"gateway": GATEWAY, "route": "HTTPRoute/app/plain", "rule": 0, "fields": {}}
    outcomes = judged(tmp_path, {"effective": [SERVED[0], elsewhere], "backends": []})
    assert [(outcome.fact, outcome.expected, outcome.got) for outcome in outcomes if not outcome.right] == [
        (f"{GATEWAY} HTTPRoute/app/plain 0", {}, adapter.NOT_SERVED),
        (f"{GATEWAY} {TEA} 1", NOTHING, "served"),
        (f"{GATEWAY} Service/app/other", NOTHING, "served"),
        (f"{GATEWAY} Service/app/svc", NOTHING, "served"),
    ]


def test_what_a_case_leaves_out_is_not_judged(tmp_path: Path) -> None:
    """Neither a place nor a setting nor a parent that it names, in whatever form."""
    served = mapping_at(SERVED[0], "fields")
    without = {kind: settings for kind, settings in served.items() if kind != "PayloadProcessor"}
    left_out: Json = [
        f"effective {GATEWAY} {TEA} 1: PayloadProcessor processors",
        {"gateway": GATEWAY, "service": "Service/app/svc"},
        {"route": TEA, "parent": "Gateway/app/far"},
    ]
    expect: dict[str, Json] = {
        "effective": [with_fields(SERVED[0], without), SERVED[1]],
        "backends": [UPSTREAMS[1]],
        "routes": [{"route": TEA, "parents": [], "listeners": {}}],
    }
    outcomes = judged(tmp_path, expect, left_out)
    assert [outcome.fact for outcome in outcomes if not outcome.right] == [
        f"{TEA} at {GATEWAY}#http",
        f"listeners that take {TEA}",
    ]


def test_a_parent_a_listener_or_a_gateway_that_is_not_there_is_a_miss(tmp_path: Path) -> None:
    far: Json = {"parent": "Gateway/app/far", "managed": False}
    routes: list[Json] = [
        {"route": "HTTPRoute/app/lost", "parents": [], "listeners": {}},
        {"route": "HTTPRoute/app/x", "parents": [far], "listeners": {}},
    ]
    gateways: list[Json] = [{"gateway": "Gateway/app/x", "managed": False, "Accepted": "False/Invalid"}]
    affected: list[Json] = [{"object": "HTTPRoute/app/nowhere", "conditions": []}]
    outcomes = judged(tmp_path, {"routes": routes, "gateways": gateways, "affected": affected})
    assert [(outcome.type, outcome.right, outcome.expected == NOTHING) for outcome in outcomes] == [
        ("affected", False, False),
        *[("parents", False, True)] * 2,
        ("listeners", True, False),
        ("parents", False, False),
        ("listeners", False, False),
        ("gateway managed", False, False),
        ("gateway Accepted", False, False),
    ]


def effective(spec: Traced) -> EffectivePolicy:
    """An effective policy as the engine would give it."""
    path = (node("HTTPRoute", "tea", namespace="app"),)
    kind = GroupKind("gateway.nginx.org", "RateLimitPolicy")
    nobody: frozenset[Source] = frozenset()
    return EffectivePolicy(path, Resolution(kind=kind, spec=spec, contributions=(), members=nobody, rejected=nobody))


def source(name: str) -> Source:
    policy_ref = ref("RateLimitPolicy", name, namespace="app", group="gateway.nginx.org")
    return Source(policy_ref, node("HTTPRoute", "tea", namespace="app"))


def test_elements_that_policies_add_to_a_list_are_named_one_by_one() -> None:
    """An element of its own, one whose fields are traced, and none of an empty list."""
    first, second = source("a"), source("b")
    listed = KeyedList(
        {"app/b[1]": Leaf({"rate": "1r/s"}, second), "app/a[0]": {"rate": Leaf(1, first), "burst": Leaf(2, first)}}
    )
    outcomes = settings_of(effective({"rateLimit": {"local": {"rules": listed}}}))
    assert outcomes == {"rateLimit.local.rules": {"from": ["app/a#0", "app/b#1"]}}
    assert settings_of(effective({"rateLimit": {"local": {"rules": Leaf([], first)}}})) == {}


def test_several_sources_of_what_has_no_value_are_a_list() -> None:
    """One source stands alone; an empty map and a field that was removed set nothing."""
    first, second = source("a"), source("b")
    spec: Traced = {
        "app/b": {"policySource": {"url": Leaf("x", second)}, "body": Leaf({}, second)},
        "app/a": {"policySource": {"url": Leaf("y", first)}, "size": Leaf(None, first, removed=True)},
    }
    assert settings_of(effective(spec)) == {"policySource": {"from": ["app/a", "app/b"]}}


def test_the_report_can_be_had_from_the_command_line(tmp_path: Path) -> None:
    case(tmp_path, {"expect": {"effective": SERVED, "backends": UPSTREAMS}}, world=MANIFESTS)
    command = [sys.executable, "-m", "tests.cases.nginx_gateway_fabric", str(tmp_path)]
    done = subprocess.run(command, cwd=PROJECT, check=False, capture_output=True, text=True)  # noqa: S603
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "backends       2 of     2   rarer     1 of     1",
        "effective     16 of    16   rarer    14 of    14",
        "all           18 of    18   rarer    15 of    15",
    ]
