"""Tables and documents of network policies."""

from __future__ import annotations

import json
from typing import Final, cast

import pytest

from kubectl_policy.model import Json, Resource
from kubectl_policy.questions.lists import AnyRow, list_type
from kubectl_policy.questions.shared.selection import Listing, Selection
from kubectl_policy.render.lists import ordered
from kubectl_policy.render.output.text import View
from tests import build
from tests.lint.network.manifests import admin_policy, baseline_policy, labelled, network_policy, pod
from tests.questions.build import analyzed
from tests.render.schema import VALIDATOR
from tests.render.shown import document_of, shown

RULE: Final[Json] = {"action": "Deny", "from": [{"namespaces": {}}]}
WORLD: Final = (
    pod("web"),
    pod("api"),
    pod("db", namespace="infra"),
    build.namespace("default", {"team": "shop"}),
    network_policy("closed"),
    network_policy("web", labelled(app="web"), ingress=[{}], egress=[{}, {}]),
    network_policy("gone", labelled(app="gone")),
    admin_policy("late", 20, ingress=[RULE]),
    admin_policy("shop", 3, {"namespaces": labelled(team="shop")}, ingress=[RULE]),
    baseline_policy(),
)


def listing(type_name: str, *resources: Resource, complete: bool = True) -> Listing[AnyRow]:
    return list_type(analyzed(*(resources or WORLD), complete=complete), type_name, Selection())


def table(type_name: str, output: str = "table", *, complete: bool = True) -> str:
    return shown(listing(type_name, complete=complete), output, View())


def test_network_policies_say_what_they_select() -> None:
    assert table("netpol") == (
        "NAME     KIND            ENFORCEMENT   SELECTS   DIRECTIONS        RULES   REASON\n"
        "closed   NetworkPolicy   Enforced      2         Ingress           0       <none>\n"
        "gone     NetworkPolicy   NoEffect      0         Ingress           0       selects no Pod\n"
        "web      NetworkPolicy   Enforced      1         Ingress, Egress   3       <none>\n"
    )


def test_tiers_and_priorities_are_shown_where_they_say_more_than_the_kind() -> None:
    # Namespace infra, of which no label was read, may be selected as well.
    assert table("anp") == (
        "NAME   KIND                 TIER    PRIORITY   ENFORCEMENT   SELECTS   DIRECTIONS   RULES\n"
        "late   AdminNetworkPolicy   Admin   20         Enforced      3         Ingress      1\n"
        "shop   AdminNetworkPolicy   Admin   3          Enforced      2 to 3    Ingress      1\n"
    )
    assert table("banp").split("\n")[0].split() == [
        "NAME",
        "KIND",
        "TIER",
        "ENFORCEMENT",
        "SELECTS",
        "DIRECTIONS",
        "RULES",
        "REASON",
    ]
    assert table("netpol", "wide").split()[:4] == ["NAME", "KIND", "TIER", "PRIORITY"]


def test_in_manifests_there_may_be_more() -> None:
    rows = [line.split() for line in table("anp", complete=False).splitlines()]
    position = rows[0].index("SELECTS")
    assert [row[position:] for row in rows[1:]] == [
        ["3+", "Ingress", "1"],
        ["2", "to", "3+", "Ingress", "1"],
    ]


def test_they_are_sorted_by_numbers() -> None:
    assert [row.ref.name for row in ordered(listing("anp"), "priority").rows] == ["shop", "late"]
    assert [row.ref.name for row in ordered(listing("netpol"), "selects").rows] == ["gone", "web", "closed"]


@pytest.mark.parametrize("type_name", ["netpol", "anp", "banp"])
def test_documents_are_as_the_schema_says(type_name: str) -> None:
    document = document_of(listing(type_name))
    VALIDATOR.validate(json.loads(json.dumps(document)))
    assert document["kind"] == "NetworkPolicyList"


def test_a_document_has_the_same_words() -> None:
    items = cast("list[dict[str, Json]]", document_of(listing("netpol"))["items"])
    members = ("tier", "priority", "directions", "ingressRules", "egressRules", "selects", "maySelect")
    assert [items[2][member] for member in members] == ["NetworkPolicy", None, ["ingress", "egress"], 1, 2, 1, 0]
    assert items[2]["maySelectUnread"] is False
