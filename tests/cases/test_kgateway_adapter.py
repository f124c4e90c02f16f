"""The adapter to kgateway's cases: delegating parents, sources of fields, and settings by their names in profiles."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_policy import EffectivePolicy, GroupKind, Leaf, NodeRef, ObjectRef, Source, Topology, analyze
from kubectl_policy.resolution import Resolution
from kubectl_policy.resolution.traced import KeyedList, Traced
from kubectl_policy.topology import Condition
from tests.build import node, ref, resource
from tests.cases import kgateway
from tests.cases.kgateway import fields_in_force, settings_of
from tests.cases.sample import DATA, write_manifests
from tests.cases.worlds import world


def test_a_delegating_route_is_a_parent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """If it is below a Gateway of the controllers, at whatever distance; not if delegation goes in a circle."""
    parent_names = {"below": "shop", "shop": "g", "one": "two", "two": "one"}

    def parents(_: Topology, route: ObjectRef) -> tuple[tuple[NodeRef, tuple[Condition, ...]], ...]:
        name = parent_names.get(route.name, "")
        above_it = node("Gateway", "g", "http", "edge") if name == "g" else node("HTTPRoute", name, "", "apps")
        return ((above_it, ()),) if name else ()

    circle = [resource("HTTPRoute", name, {}, namespace="apps") for name in ("one", "two")]
    monkeypatch.setattr(kgateway, "route_parent_conditions", parents)
    write_manifests(tmp_path / "circle.yaml", circle)
    manifests = DATA / "kgateway" / "every-section" / "manifests.yaml"
    routes = kgateway.routes(analyze(world([manifests, tmp_path / "circle.yaml"])))
    assert {entry["name"]: entry["parents"] for entry in routes} == {
        "below": [{"parentRef": "HTTPRoute/apps/shop", "conditions": {}}],
        "shop": [{"parentRef": "Gateway/edge/g#http", "conditions": {}}],
        **{name: [] for name in ("loose", "one", "two")},
    }


def test_a_field_has_every_policy_that_it_comes_from() -> None:
    """Those of all elements of a list, but by port; what was removed, or is the target's own, is left out."""
    kind = GroupKind("gateway.kgateway.dev", "ListenerPolicy")
    target = node("Gateway", "g")
    first, second = (Source(ref("ListenerPolicy", name, group=kind.group), target) for name in "ab")
    spec: Traced = {
        "perPort": KeyedList({"80": {"x": Leaf(1, first), "y": Leaf(2, second)}, "81": Leaf({}, second)}),
        "acl": {"rules": KeyedList({"a/x[0]": Leaf(1, first), "a/y[0]": {"action": Leaf(1, second)}})},
        "default": {
            "x": Leaf(1, second),
            "y": Leaf(None, first, removed=True),
            "z": Leaf(1, Source(target.object, target)),
        },
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
    (tmp_path / "facts.json").write_text(facts, "utf-8")
    assert dict(settings_of(tmp_path).settings) == expected


def test_a_case_without_facts_has_no_settings(tmp_path: Path) -> None:
    assert not settings_of(tmp_path).settings
