"""What a list of policies leaves out: policies of another hierarchy, and what only looks like one."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy import analyze
from kubectl_policy.model import GroupKind
from kubectl_policy.questions.lists import Lists, Only, list_names, list_type
from kubectl_policy.questions.shared.selection import LeftOutKind, Selection
from kubectl_policy.render.lists import list_remarks
from tests import build
from tests.render.shown import document_of

NETWORK: Final = GroupKind("networking.k8s.io", "NetworkPolicy")
REGISTRATION: Final = GroupKind("example.com", "ServerRegistration")
FLEET: Final = GroupKind("policy.open-cluster-management.io", "ConfigurationPolicy")
ROUTE: Final = build.target("r", "HTTPRoute")
WORLD: Final = analyze(
    build.snapshot(
        build.gateway(),
        build.route(),
        build.policy("color", ROUTE, red=1),
        *(build.resource("NetworkPolicy", name, {"podSelector": {}}, group=NETWORK.group) for name in "ab"),
        build.resource("NetworkPolicy", "c", {}, group=NETWORK.group, namespace="other"),
        build.resource("ConfigurationPolicy", "f", {}, group=FLEET.group, labels={"a": "b"}),
        build.policy("server", ROUTE, kind="ServerRegistration"),
        build.policy("server", ROUTE, kind="ServerRegistration", namespace="other", labels={"a": "b"}),
        build.resource("Deployment", "d", {"targetRef": ROUTE}, group="apps"),
        build.resource("Application", "d", {}, group="example.com"),
    )
)
EVERYWHERE: Final = Selection()


def names(*arguments: object, all_kinds: bool = False) -> list[str]:
    """The names in a list."""
    selection = next((each for each in arguments if isinstance(each, Selection)), EVERYWHERE)
    word = next((each for each in arguments if isinstance(each, str)), "policies")
    only = Only(all_kinds=all_kinds)
    listed = list_names(WORLD, word, selection, only)
    assert [row.ref for row in list_type(WORLD, word, selection, only).rows] == [row.ref for row in listed.rows]
    return [row.ref.name for row in listed.rows]


def test_policies_of_other_things_are_left_out_unless_asked_for() -> None:
    """By their type, by name, or with all kinds."""
    assert names() == ["color"]
    assert names(all_kinds=True) == ["a", "b", "color", "f", "c"]
    assert names("networkpolicies") == ["a", "b", "c"]
    assert names(Selection(names=("a", "color"))) == ["a", "color"]


def test_what_is_left_out_is_counted() -> None:
    """In the namespace, and with the labels, that are asked for."""
    assert list_names(WORLD, "policies", EVERYWHERE).left_out == (
        LeftOutKind(NETWORK, 3, policies=True),
        LeftOutKind(FLEET, 1, policies=True),
        LeftOutKind(REGISTRATION, 2, policies=False),
    )
    assert list_names(WORLD, "policies", Selection("other")).left_out == (
        LeftOutKind(NETWORK, 1, policies=True),
        LeftOutKind(REGISTRATION, 1, policies=False),
    )
    labelled = Selection(selector={"matchLabels": {"a": "b"}})
    assert [left.kind for left in list_names(WORLD, "policies", labelled).left_out] == [FLEET, REGISTRATION]
    for word in ("routes", "networkpolicies"):
        assert list_names(WORLD, word, EVERYWHERE).left_out == ()


def test_it_is_said() -> None:
    """In a line each, and in the document."""
    listing = list_type(WORLD, "policies", EVERYWHERE)
    first, second, *_ = list_remarks(Lists((listing,)), empty=False)
    assert first == (
        "left out, as no policies of Gateways, routes or backends: 3 NetworkPolicies and 1 ConfigurationPolicy;"
        " --all-kinds shows them"
    )
    assert second == "not taken for policies, though they refer to targets: 2 ServerRegistrations; explain says why"
    left_out = document_of(listing)["leftOut"]
    assert isinstance(left_out, list)
    assert left_out[0] == {"kind": {"group": NETWORK.group, "kind": "NetworkPolicy"}, "number": 3, "policies": True}


@pytest.mark.parametrize("word", ["policies", "policykinds"])
def test_of_all_kinds_nothing_but_what_looks_alike_is_left_out(word: str) -> None:
    """No option makes a policy of what is none."""
    left_out = list_type(WORLD, word, EVERYWHERE, Only(all_kinds=True)).left_out
    assert [left.kind for left in left_out] == ([REGISTRATION] if word == "policies" else [])
