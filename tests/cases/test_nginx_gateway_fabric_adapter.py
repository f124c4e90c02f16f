"""The adapter to NGINX Gateway Fabric's cases compares every type of fact, on a case that is made here."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kubectl_policy import GroupKind
from kubectl_policy.model import Json
from kubectl_policy.model.fields import mapping_at, mappings_at
from kubectl_policy.resolution import EffectivePolicy, Leaf, Resolution, Traced
from kubectl_policy.resolution.traced import KeyedList, Source
from tests.build import node, ref
from tests.cases import nginx_gateway_fabric as adapter
from tests.cases.nginx_gateway_fabric_effective import settings_of
from tests.cases.report import NOTHING, NodeInForce
from tests.cases.sample import DATA, case
from tests.cases.worlds import fields, read

PROJECT: Final = Path(__file__).parents[2]
CASE: Final = DATA / "nginx-gateway-fabric" / "every-setting"
WORLD: Final = CASE / "manifests.yaml"
EXPECT: Final = mapping_at(read(CASE / "expected.yaml"), "expect")
SERVED: Final[list[Json]] = [{**entry} for entry in mappings_at(EXPECT, "effective")]
UPSTREAMS: Final[list[Json]] = [{**entry} for entry in mappings_at(EXPECT, "backends")]
GATEWAY: Final = "Gateway/app/gw"
TEA: Final = "HTTPRoute/app/tea"


def judged(folder: Path, expect: dict[str, Json], left_out: Json = None) -> list[NodeInForce]:
    """Return the outcomes of the world; places that a test does not ask about are as they should be."""
    whole: dict[str, Json] = {"effective": SERVED, "backends": UPSTREAMS, **expect}
    folder_of_case = case(folder, {"expect": whole, "left_out": left_out}, world=WORLD)
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
    case(tmp_path, {"expect": {"effective": SERVED, "backends": UPSTREAMS}}, world=WORLD)
    command = [sys.executable, "-m", "tests.cases.nginx_gateway_fabric", str(tmp_path)]
    done = subprocess.run(command, cwd=PROJECT, check=False, capture_output=True, text=True)  # noqa: S603
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "backends       2 of     2   rarer     1 of     1",
        "effective     16 of    16   rarer    14 of    14",
        "all           18 of    18   rarer    15 of    15",
    ]
