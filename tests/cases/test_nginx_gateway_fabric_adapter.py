"""The adapter to NGINX Gateway Fabric's cases compares every type of fact, on a case that is made here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import GroupKind
from kubectl_policy.model.fields import mapping_at, mappings_at
from kubectl_policy.resolution import EffectivePolicy, Leaf, Resolution
from kubectl_policy.resolution.traced import KeyedList, Source
from tests.build import node, ref
from tests.cases import nginx_gateway_fabric as adapter
from tests.cases.nginx_gateway_fabric_effective import settings_of
from tests.cases.report import NOTHING
from tests.cases.sample import DATA, case
from tests.cases.worlds import fields, read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.resolution import Traced
    from tests.cases.report import Outcome

PROJECT: Final = Path(__file__).parents[2]
CASE: Final = DATA / "nginx-gateway-fabric" / "every-setting"
WORLD: Final = CASE / "manifests.yaml"
EXPECT: Final = mapping_at(read(CASE / "expected.yaml"), "expect")
SERVED: Final[list[Json]] = [{**entry} for entry in mappings_at(EXPECT, "effective")]
UPSTREAMS: Final[list[Json]] = [{**entry} for entry in mappings_at(EXPECT, "backends")]
GATEWAY: Final = "Gateway/app/gw"
TEA: Final = "HTTPRoute/app/tea"


def judged(folder: Path, expect: dict[str, Json], left_out: Json = None) -> list[Outcome]:
    """What the adapter says of the world; places that a test does not ask about are as they should be."""
    whole: dict[str, Json] = {"effective": SERVED, "backends": UPSTREAMS, **expect}
    folder_of_case = case(folder, {"expect": whole, "left_out": left_out}, world=WORLD)
    return [
        outcome
        for outcome in adapter.judge(folder_of_case)
        if outcome.type not in {"effective", "backends"} - expect.keys()
    ]


def rights(folder: Path, expect: dict[str, Json]) -> list[bool]:
    """Which facts hold."""
    return [outcome.right for outcome in judged(folder, expect)]


def with_fields(entry: Json, settings: Mapping[str, Json]) -> Json:
    """An entry of a case with other settings."""
    return {**fields(entry), "fields": {**settings}}


def policy(name: str, ancestors: list[Json], attached: list[Json]) -> dict[str, Json]:
    """What is expected of a policy."""
    return {"policy": name, "ancestors": ancestors, "attached": attached}


def test_ancestors_and_their_conditions_are_compared(tmp_path: Path) -> None:
    """The set of ancestors is one fact, and each condition of each; what is not reported is absent."""
    right: Json = {"ref": GATEWAY, "Accepted": "True/Accepted"}
    wrong: Json = {"ref": TEA, "Accepted": "True/Accepted"}
    snippets = policy("SnippetsPolicy/app/a-snip", [right], [GATEWAY])
    conditions: Json = {"ref": GATEWAY, "Accepted": "False/Invalid", "Colour": "True/Blue"}
    again = policy("SnippetsPolicy/app/b-snip", [conditions, wrong], [])
    outcomes = judged(tmp_path, {"policies": [snippets, again]})
    assert [(outcome.type, outcome.right) for outcome in outcomes] == [
        ("ancestors", True),
        ("condition Accepted", True),
        ("attached", True),
        ("ancestors", False),
        ("condition Accepted", False),
        ("condition Colour", False),
        ("condition Accepted", False),
        ("attached", False),
    ]
    assert [outcome.got for outcome in outcomes[4:7]] == ["True/Accepted", adapter.ABSENT, adapter.ABSENT]


@pytest.mark.parametrize(
    ("name", "attached"),
    [
        ("ClientSettingsPolicy/app/below", [TEA]),
        ("ClientSettingsPolicy/app/unserved", ["HTTPRoute/app/lost"]),
        ("ClientSettingsPolicy/app/foreign", []),
        ("PayloadProcessor/app/older", [TEA]),
        ("PayloadProcessor/app/newer", []),
        ("UpstreamSettingsPolicy/app/up", ["Service/app/svc"]),
    ],
)
def test_a_target_carries_what_is_attached_and_not_refused(tmp_path: Path, name: str, attached: list[Json]) -> None:
    """Also where no listener takes the route, but not where another policy alone applies, or another controller."""
    outcomes = judged(tmp_path, {"policies": [policy(name, [], attached)]})
    assert [outcome.got for outcome in outcomes if outcome.type == "attached"] == [attached]


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


def test_load_balancers_are_compared(tmp_path: Path) -> None:
    """By their one condition."""
    name = "ExternalLoadBalancer/app/lb"
    expected: list[Json] = [{"policy": name, "Accepted": status} for status in ("True/Accepted", "False/Conflicted")]
    assert rights(tmp_path, {"load_balancers": expected}) == [True, False]


def test_affected_objects_are_compared_by_the_exact_set(tmp_path: Path) -> None:
    """One condition too many or too few is a miss, and so is an object that is not there."""
    type_ = "kuadrant.io/AuthPolicyAffected"
    expected: list[Json] = [
        {"object": "HTTPRoute/app/plain", "conditions": [type_]},
        {"object": "HTTPRoute/app/plain", "conditions": []},
        {"object": "HTTPRoute/app/plain", "conditions": [type_, "XAffected"]},
        {"object": "HTTPRoute/app/nowhere", "conditions": []},
    ]
    assert rights(tmp_path, {"affected": expected}) == [True, False, False, False]


def test_effective_settings_are_compared_by_value_and_source(tmp_path: Path) -> None:
    """Every field of every rule: scalars, parts of a whole map, list elements, snippets in their order, sources."""
    outcomes = judged(tmp_path, {"effective": SERVED, "backends": UPSTREAMS})
    assert [outcome for outcome in outcomes if not outcome.right] == []
    assert [outcome.type for outcome in outcomes].count("effective") == 2 * 8
    assert [outcome.type for outcome in outcomes].count("backends") == 2


def test_another_value_source_or_order_is_a_miss(tmp_path: Path) -> None:
    """Of each the one fact, and no other."""
    served = with_fields(
        SERVED[0],
        {
            "ClientSettingsPolicy": {
                "body.maxSize": {"value": "1m", "from": "app/below"},
                "body.timeout": {"value": "2s", "from": "app/below"},
                "keepAlive.timeout.server": {"value": "3s", "from": "app/above"},
                "keepAlive.timeout.header": {"value": "4s", "from": "app/above"},
                "keepAlive.requests": {"value": 1, "from": "app/above"},
            },
            "RateLimitPolicy": {"rateLimit.local.rules": {"from": ["app/limit#0"]}},
            "SnippetsPolicy": {
                "snippets[http]": {"from": ["app/b-snip", "app/a-snip"]},
                "snippets[http.server]": {"from": ["app/a-snip"]},
            },
            "PayloadProcessor": {"processors": {"from": "app/newer"}},
        },
    )
    outcomes = judged(tmp_path, {"effective": [served, SERVED[1]]})
    assert [outcome.fact.rpartition(" ")[2] for outcome in outcomes if not outcome.right] == [
        "body.maxSize",
        "body.timeout",
        "keepAlive.requests",
        "rateLimit.local.rules",
        "snippets[http]",
        "processors",
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


def test_parents_and_listeners_are_compared(tmp_path: Path) -> None:
    """Each parent with its conditions if it is NGINX Gateway Fabric's; each listener with the hostnames in common."""
    ours: Json = {
        "parent": f"{GATEWAY}#http",
        "managed": True,
        "Accepted": "True/Accepted",
        "ResolvedRefs": "False/BackendNotFound",
    }
    theirs: dict[str, Json] = {"parent": "Gateway/app/far", "managed": False}
    wrong: Json = {**theirs, "managed": True}
    listeners: Json = {f"{GATEWAY}/http": ["tea.example.com"]}
    routes: list[Json] = [
        {"route": TEA, "parents": [ours, theirs], "listeners": listeners},
        {"route": TEA, "parents": [wrong, {"parent": "Gateway/app/x", "managed": False}], "listeners": {}},
        {"route": "HTTPRoute/app/lost", "parents": [], "listeners": {}},
        {"route": "HTTPRoute/app/x", "parents": [theirs], "listeners": {}},
    ]
    outcomes = judged(tmp_path, {"routes": routes})
    assert [(outcome.type, outcome.right) for outcome in outcomes] == [
        *[("parents", True)] * 2,
        ("listeners", True),
        *[("parents", False)] * 3,
        ("listeners", False),
        *[("parents", False)] * 2,
        ("listeners", True),
        ("parents", False),
        ("listeners", False),
    ]
    assert [outcome.expected for outcome in outcomes[7:9]] == [NOTHING, NOTHING]


def test_gateways_are_compared(tmp_path: Path) -> None:
    """To whom they belong, and whether they are accepted; one that is not there is a miss."""
    gateways: list[Json] = [
        {"gateway": GATEWAY, "managed": True, "Accepted": "True/Accepted"},
        {"gateway": GATEWAY, "managed": False, "Accepted": "False/Invalid"},
        {"gateway": "Gateway/app/far", "managed": False},
        {"gateway": "Gateway/app/x", "managed": False, "Accepted": "False/Invalid"},
    ]
    assert rights(tmp_path, {"gateways": gateways}) == [True, True, False, False, True, False, False]


def effective(spec: Traced) -> EffectivePolicy:
    """An effective policy as the engine would give it."""
    path = (node("HTTPRoute", "tea", namespace="app"),)
    kind = GroupKind("gateway.nginx.org", "RateLimitPolicy")
    nobody: frozenset[Source] = frozenset()
    return EffectivePolicy(path, Resolution(kind=kind, spec=spec, contributions=(), members=nobody, rejected=nobody))


def source(name: str) -> Source:
    """A policy that is attached to the route."""
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
    """With the recall on the rarer answers beside each score."""
    case(tmp_path, {"expect": {"effective": SERVED, "backends": UPSTREAMS}}, world=WORLD)
    command = [sys.executable, "-m", "tests.cases.nginx_gateway_fabric", str(tmp_path)]
    done = subprocess.run(command, cwd=PROJECT, check=False, capture_output=True, text=True)  # noqa: S603
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "backends       2 of     2   rarer     1 of     1",
        "effective     16 of    16   rarer    14 of    14",
        "all           18 of    18   rarer    15 of    15",
    ]
