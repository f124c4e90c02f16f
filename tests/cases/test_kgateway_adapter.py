"""The adapter to kgateway's cases writes the scorer's document, on a case that is made here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from kubectl_policy import EffectivePolicy, GroupKind, Leaf, NodeRef, Source, analyze
from kubectl_policy.resolution import Resolution
from kubectl_policy.resolution.traced import KeyedList
from tests.build import node, ref
from tests.cases import kgateway
from tests.cases.kgateway import fields_in_force, settings_of
from tests.cases.worlds import world

if TYPE_CHECKING:
    from kubectl_policy import ObjectRef, Topology
    from kubectl_policy.resolution.traced import Traced
    from kubectl_policy.topology import Condition

CASES: Final = Path(__file__).parents[3] / "shared" / "cases" / "kgateway"
WORLD: Final = """
{apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass, metadata: {name: ours},
 spec: {controllerName: kgateway.dev/kgateway}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass, metadata: {name: theirs},
 spec: {controllerName: example.com/c}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: g, namespace: edge}
spec:
  gatewayClassName: ours
  allowedListeners: {namespaces: {from: All}}
  listeners:
  - {name: http, port: 80, protocol: HTTP, hostname: "*.example.com", allowedRoutes: {namespaces: {from: All}}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: far, namespace: edge}
spec:
  gatewayClassName: theirs
  listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: extra, namespace: apps}
spec:
  parentRef: {name: g, namespace: edge}
  listeners: [{name: x, port: 81, protocol: HTTP}]
---
{apiVersion: gateway.networking.k8s.io/v1, kind: ListenerSet, metadata: {name: loose, namespace: apps},
 spec: {parentRef: {group: "", kind: Service, name: s}, listeners: [{name: x, port: 82, protocol: HTTP}]}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: apps}
spec:
  hostnames: [a.example.com, a.example.org]
  parentRefs:
  - {name: g, namespace: edge, sectionName: http}
  - {name: far, namespace: edge}
  - {name: absent, namespace: edge}
  - {kind: ListenerSet, name: extra}
  rules:
  - {backendRefs: [{name: s, port: 80}]}
  - {name: pass, matches: [{path: {value: /below}}],
     backendRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: below}]}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: below, namespace: apps},
 spec: {rules: [{name: buy, matches: [{path: {value: /below/buy}}], backendRefs: [{name: s, port: 80}]}]}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: loose, namespace: apps}, spec: {}}
---
{apiVersion: v1, kind: Service, metadata: {name: s, namespace: apps}, spec: {ports: [{name: web, port: 80}]}}
---
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {name: whole, namespace: edge}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: g}]
  csrf: {percentageEnabled: 1}
  rateLimit: {local: {tokenBucket: {maxTokens: 1}}}
---
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {name: passed, namespace: apps}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop, sectionName: pass}]
  csrf: {percentageEnabled: 2}
---
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {name: loose, namespace: apps}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: absent}]
  csrf: {percentageEnabled: 3}
---
apiVersion: gateway.kgateway.dev/v1alpha1
kind: ListenerPolicy
metadata: {name: listen, namespace: edge}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: g}]
  default: {httpSettings: {serverHeaderTransformation: PassThrough}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {name: tls, namespace: apps}
spec:
  targetRefs: [{group: "", kind: Service, name: s}]
  validation: {wellKnownCACertificates: System, hostname: s}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: other, namespace: apps}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}]
  retry: {numRetries: 1}
"""
RESOLVED: Final = {"status": "True", "reason": "ResolvedRefs"}
ACCEPTED: Final = {"status": "True", "reason": "Accepted"}
SHOP, BELOW, PASS = "HTTPRoute/apps/shop", "HTTPRoute/apps/below", "HTTPRoute/apps/shop:1"


def write_case(folder: Path, text: str = WORLD, facts: str = "{}", name: str = "made-here") -> Path:
    """The folder of a case."""
    case = folder / "cases" / name
    case.mkdir(parents=True)
    (case / "manifests.yaml").write_text(text, "utf-8")
    (case / "facts.json").write_text(facts, "utf-8")
    return case


@pytest.fixture(name="found")
def written_document(tmp_path: Path) -> dict[str, list[dict[str, Any]]]:
    """The document of the case made here, by way of the command."""
    write_case(tmp_path)
    assert kgateway.main([str(tmp_path / "cases"), str(tmp_path / "out")]) == 0
    document: dict[str, list[dict[str, Any]]] = json.loads((tmp_path / "out" / "made-here.json").read_text("utf-8"))
    return document


def named(entries: list[dict[str, Any]], **fields: object) -> dict[str, Any]:
    """The one entry with the given fields."""
    (found,) = (entry for entry in entries if fields.items() <= entry.items())
    return found


def test_a_route_has_the_parents_of_the_controllers_alone(found: dict[str, list[dict[str, Any]]]) -> None:
    """Not those of others, nor those that do not exist; a route without parents is there all the same."""
    shop = named(found["routes"], name="shop")
    assert (shop["kind"], shop["namespace"]) == ("HTTPRoute", "apps")
    parents = {parent["parentRef"]: parent["conditions"] for parent in shop["parents"]}
    assert list(parents) == ["Gateway/edge/g#http", "ListenerSet/apps/extra"]
    assert all(conditions["Accepted"] == ACCEPTED for conditions in parents.values())
    assert all("ResolvedRefs" in conditions for conditions in parents.values())
    assert named(found["routes"], name="loose")["parents"] == []


def test_policies_are_written_by_ancestor(found: dict[str, list[dict[str, Any]]]) -> None:
    """Those of the implementation's group and BackendTLSPolicies; without a target there is no ancestor."""
    policies = [(policy["kind"], policy["name"]) for policy in found["policies"]]
    assert policies == [
        ("ListenerPolicy", "listen"),
        ("TrafficPolicy", "loose"),
        ("TrafficPolicy", "passed"),
        ("TrafficPolicy", "whole"),
        ("BackendTLSPolicy", "tls"),
    ]
    ancestors = named(found["policies"], name="whole")["ancestors"]
    assert {ancestor["ref"] for ancestor in ancestors} == {"Gateway/edge/g", "ListenerSet/apps/extra"}
    assert all(ancestor["conditions"]["Accepted"]["status"] == "True" for ancestor in ancestors)
    assert named(found["policies"], name="loose")["ancestors"] == []


def test_listeners_are_written_with_what_is_in_force_there(found: dict[str, list[dict[str, Any]]]) -> None:
    """Delegated routes have the hostnames of the route that is attached, and are not counted as attached."""
    http = named(found["listeners"], listener="edge/g/http")
    assert http["attachedRoutes"] == 1
    assert http["conditions"]["Accepted"] == ACCEPTED
    assert http["conditions"]["Conflicted"] == {"status": "False", "reason": "NoConflicts"}
    assert http["hostnames"] == {SHOP: ["a.example.com"], BELOW: ["a.example.com"]}
    assert http["ListenerPolicy"] == {"fields": {"default.httpSettings.serverHeaderTransformation": ["edge/listen"]}}
    assert set(http["TrafficPolicy"]["fields"]) == {"csrf", "rateLimit.local"}
    names = [listener["listener"] for listener in found["listeners"]]
    assert names == ["edge/far/http", "edge/g/http", "edge/g/apps/extra/x"]
    assert "TrafficPolicy" not in named(found["listeners"], listener="edge/far/http")


def test_listener_sets_are_written_by_condition(found: dict[str, list[dict[str, Any]]]) -> None:
    """Each with its namespace."""
    extra = named(found["listenerSets"], name="extra")
    assert (extra["namespace"], extra["conditions"]["Accepted"]) == ("apps", ACCEPTED)


def test_effective_policies_are_written_by_way(found: dict[str, list[dict[str, Any]]]) -> None:
    """With the delegating rules on the way, and with the policy that each field comes from."""
    ways = {(entry["listener"], entry["route"], entry["rule"], *entry["via"]): entry for entry in found["effective"]}
    own = ways["edge/g/http", SHOP, 0]
    assert own["TrafficPolicy"]["fields"] == {"csrf": ["edge/whole"], "rateLimit.local": ["edge/whole"]}
    assert own["replaced"] is False
    delegated = ways["edge/g/http", BELOW, 0, PASS]
    assert delegated["TrafficPolicy"]["fields"] == {"csrf": ["apps/passed"], "rateLimit.local": ["edge/whole"]}
    assert ("edge/g/http", SHOP, 1) in ways
    assert ("edge/g/http", BELOW, 0) not in ways
    assert "TrafficPolicy" not in ways["edge/far/http", SHOP, 0]


def test_a_delegating_route_is_a_parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If it is below a Gateway of the controllers, at whatever distance; not if delegation goes in a circle."""
    above = {"below": "shop", "shop": "g", "one": "two", "two": "one"}

    def parents(_: Topology, route: ObjectRef) -> tuple[tuple[NodeRef, tuple[Condition, ...]], ...]:
        name = above.get(route.name, "")
        found = node("Gateway", "g", "http", "edge") if name == "g" else node("HTTPRoute", name, "", "apps")
        return ((found, ()),) if name else ()

    case = write_case(tmp_path, WORLD + _route("one") + _route("two"))
    monkeypatch.setattr(kgateway, "route_parent_conditions", parents)
    written = kgateway.routes(analyze(world([case / "manifests.yaml"])))
    assert {entry["name"]: entry["parents"] for entry in written} == {
        "below": [{"parentRef": SHOP, "conditions": {}}],
        "shop": [{"parentRef": "Gateway/edge/g#http", "conditions": {}}],
        **{name: [] for name in ("loose", "one", "two")},
    }


def _route(name: str) -> str:
    metadata = f"{{name: {name}, namespace: apps}}"
    return f"---\n{{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {metadata}, spec: {{}}}}\n"


def test_a_field_has_every_policy_that_it_comes_from() -> None:
    """Those of all elements of a list, but by port; what was removed, or is the target's own, is left out."""
    kind = GroupKind("gateway.kgateway.dev", "ListenerPolicy")
    target = node("Gateway", "g")
    one, two = (Source(ref("ListenerPolicy", name, group=kind.group), target) for name in "ab")
    spec: Traced = {
        "perPort": KeyedList({"80": {"x": Leaf(1, one), "y": Leaf(2, two)}, "81": Leaf({}, two)}),
        "acl": {"rules": KeyedList({"a/x[0]": Leaf(1, one), "a/y[0]": {"action": Leaf(1, two)}})},
        "default": {"x": Leaf(1, two), "y": Leaf(None, one, removed=True), "z": Leaf(1, Source(target.object, target))},
    }
    nobody: frozenset[Source] = frozenset()
    resolution = Resolution(kind=kind, spec=spec, contributions=(), members=nobody, rejected=nobody)
    policy = EffectivePolicy((target,), resolution)
    assert fields_in_force(policy) == {
        "perPort[80].x": ["default/a"],
        "perPort[80].y": ["default/b"],
        "perPort[81]": ["default/b"],
        "acl.rules": ["default/a"],
        "acl.rules.action": ["default/b"],
        "default.x": ["default/b"],
    }


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ("{}", {}),
        ('{"settings": {"KGW_REFERENCE_GRANT_MODE": "STRICT"}}', {"kgateway.referenceGrantMode": "STRICT"}),
        ('{"settings": {"KGW_LEVEL": "3"}}', {"kgateway.level": "3"}),
        (
            '{"settings": {"KGW_POLICY_MERGE": "{\\"trafficPolicy\\": {\\"acl\\": \\"DeepMerge\\"}}"}}',
            {"kgateway.policyMerge.trafficPolicy.acl": "DeepMerge"},
        ),
    ],
)
def test_settings_have_the_names_of_profiles(tmp_path: Path, facts: str, expected: dict[str, str]) -> None:
    """Made of those of the variables; an object of JSON is one setting for each of its fields."""
    assert dict(settings_of(write_case(tmp_path, facts=facts)).settings) == expected


def test_a_case_without_facts_has_no_settings(tmp_path: Path) -> None:
    """It is answered all the same."""
    assert not settings_of(tmp_path).settings


def test_what_cannot_be_read_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A broken world, after which the others are written, and a folder without cases."""
    write_case(tmp_path)
    write_case(tmp_path, "{", name="broken")
    assert kgateway.main([str(tmp_path / "cases"), str(tmp_path / "out")]) == 1
    assert "broken" in capsys.readouterr().err
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["made-here.json"]
    assert kgateway.main([str(tmp_path / "out"), str(tmp_path / "none")]) == 2
    assert "holds no cases" in capsys.readouterr().err


def test_recorded_cases_come_out_right(tmp_path: Path) -> None:
    """As the scorer that comes with them counts: at least as much as has been right before."""
    if not CASES.is_dir():
        pytest.skip("the recorded cases of kgateway are not next to this project")
    assert kgateway.main([str(CASES), str(tmp_path / "out")]) == 0
    paths = [CASES / "score.py", "--predictions", tmp_path / "out", "--json", tmp_path / "score.json"]
    command = [sys.executable, *map(str, paths)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 (the scorer is part of the cases)
    found = json.loads((tmp_path / "score.json").read_text("utf-8"))["summary"]
    right, total = map(int, found["tier1_policy_rare_recall"].split("/"))
    assert right == total > 200
    assert found["correct"] >= 3326
    assert found["tier1_balanced_macro"] >= 0.98
