"""Tables and documents of Pods and the controllers of Pods."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, cast

import pytest

from kubectl_policy.model import Gap, Json, Origin, Resource
from kubectl_policy.questions.lists import AnyRow, list_type
from kubectl_policy.questions.shared.selection import Listing, Selection
from kubectl_policy.render.lists import ordered
from kubectl_policy.render.output.text import View
from tests import build
from tests.lint.network.manifests import admin_policy, baseline_policy, labelled, network_policy, pod
from tests.questions.build import analyzed
from tests.render.schema import VALIDATOR
from tests.render.shown import document_of, shown
from tests.render.test_lists import HOSTILE

if TYPE_CHECKING:
    from collections.abc import Sequence

DENY: Final[Json] = [{"action": "Deny", "to": [{"namespaces": {}}]}]
OWNER: Final[Json] = [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "controller": True}]
TEMPLATE: Final[Json] = {"metadata": {"labels": {"app": "web"}}, "spec": {}}
ENDED: Final = build.resource("Pod", "done", {}, group="", labels={"app": "done"}, status={"phase": "Succeeded"})
WORLD: Final = (
    pod("web-1", {"app": "web"}, ip="10.0.0.1", nodeName="node-1"),
    pod("agent", hostNetwork=True),
    build.with_metadata(pod("db-0", {"app": "db"}, namespace="infra"), ownerReferences=OWNER),
    ENDED,
    build.resource("StatefulSet", "db", {"selector": labelled(app="db")}, group="apps", namespace="infra"),
    build.resource("Deployment", "api", {"template": TEMPLATE}, group="apps", namespace="infra"),
    build.resource("Service", "web", {"selector": {"app": "web"}}, group=""),
    network_policy("closed", labelled(app="web")),
    admin_policy("teams", 5, {"namespaces": labelled(team="a")}, egress=DENY),
    baseline_policy(subject={"namespaces": labelled(**{"kubernetes.io/metadata.name": "infra"})}, egress=DENY),
    build.namespace("default", {"team": "b"}),
)


def listing(type_name: str, resources: Sequence[Resource] = WORLD, gaps: Sequence[Gap] = ()) -> Listing[AnyRow]:
    return list_type(analyzed(*resources, gaps=gaps), type_name, Selection())


def table(type_name: str, output: str = "table", gaps: Sequence[Gap] = ()) -> str:
    return shown(listing(type_name, gaps=gaps), output, View(namespaces=True))


def test_pods_have_their_policies_and_what_these_make_of_connections() -> None:
    assert table("pods") == (
        "NAMESPACE   NAME    STATUS      POLICIES   INGRESS               EGRESS\n"
        "default     agent   <unknown>   0          open (host network)   open (host network)\n"
        "default     done    Succeeded   0          -                     -\n"
        "default     web-1   Running     1          isolated              open\n"
        "infra       db-0    <unknown>   1 to 2+    open                  restricted\n"
    )


def test_a_wide_table_names_what_a_pod_is_about() -> None:
    lines = [line.split("   ") for line in table("po", "wide").splitlines()]
    titles, agent, done, web, db = ([cell.strip() for cell in line if cell.strip()] for line in lines)
    assert titles[6:] == ["IP", "NODE", "CONTROLLER", "SERVICES", "AFFECTED BY", "AGE", "TARGETED BY"]
    assert agent[6:11] == done[6:11] == ["<unknown>", "<unknown>", "<none>", "<none>", "<none>"]
    assert web[6:11] == ["10.0.0.1", "node-1", "<none>", "web", "NetworkPolicy default/closed"]
    policies = "BaselineAdminNetworkPolicy default, AdminNetworkPolicy teams (undecided)"
    assert db[6:11] == ["<unknown>", "<unknown>", "StatefulSet infra/db", "<none>", policies]


def test_a_pod_that_waits_for_a_node_has_none() -> None:
    waiting = build.with_metadata(pod("waiting"), uid="u")
    titles, cells = (line.split() for line in shown(listing("pods", [waiting]), "wide", View()).splitlines())
    assert (cells[titles.index("IP")], cells[titles.index("NODE")]) == ("<unknown>", "<none>")


def test_workloads_count_their_pods() -> None:
    assert table("workloads") == (
        "NAMESPACE   NAME    KIND          PODS   POLICIES   INGRESS               EGRESS\n"
        "default     agent   Pod           1      0          open (host network)   open (host network)\n"
        "default     done    Pod           1      0          -                     -\n"
        "default     web-1   Pod           1      1          isolated              open\n"
        "infra       api     Deployment    0      1 to 2+    open                  restricted\n"
        "infra       db      StatefulSet   1      1 to 2+    open                  restricted\n"
    )
    assert table("deployments") == (
        "NAMESPACE   NAME   KIND         PODS   POLICIES   INGRESS   EGRESS\n"
        "infra       api    Deployment   0      1 to 2+    open      restricted\n"
    )


def test_what_could_not_be_read_is_unknown() -> None:
    gap = Gap("", "", "broken", Origin("bad.yaml", 7))
    assert table("workloads", gaps=[gap]) == (
        "NAMESPACE   NAME    KIND          PODS   POLICIES   INGRESS                    EGRESS\n"
        "default     agent   Pod           1      0+         <unknown> (host network)   <unknown> (host network)\n"
        "default     done    Pod           1      0+         -                          -\n"
        "default     web-1   Pod           1      1+         isolated                   <unknown>\n"
        "infra       api     Deployment    0+     1 to 2+    <unknown>                  <unknown>\n"
        "infra       db      StatefulSet   1+     1 to 2+    <unknown>                  <unknown>\n"
    )


@pytest.mark.parametrize("type_name", ["pods", "workloads", "deployments"])
def test_documents_are_as_the_schema_says(type_name: str) -> None:
    answer = listing(type_name)
    document = document_of(answer)
    VALIDATOR.validate(json.loads(json.dumps(document)))
    assert document["kind"] == ("PodList" if type_name == "pods" else "WorkloadList")


def test_a_document_has_the_same_words() -> None:
    items = cast("list[dict[str, Json]]", document_of(listing("pods"))["items"])
    by_name = {cast("dict[str, Json]", item["object"])["name"]: item for item in items}
    members = ("ingress", "egress", "hostNetwork", "finished", "phase", "node", "addresses")
    assert [by_name["web-1"][member] for member in members] == [
        "isolated", "open", False, False, "Running", "node-1", ["10.0.0.1"]
    ]  # fmt: skip
    assert [by_name["done"][member] for member in members[:5]] == [None, None, False, True, "Succeeded"]
    assert [by_name["agent"][member] for member in members[:5]] == ["open", "open", True, False, ""]


def test_columns_sort() -> None:
    rows = ordered(listing("pods"), "ingress").rows
    assert [row.ref.name for row in rows] == ["done", "web-1", "db-0", "agent"]
    assert [row.ref.name for row in ordered(listing("workloads"), "policies").rows][-1] == "db"


@pytest.mark.parametrize("type_name", ["pods", "workloads"])
@pytest.mark.parametrize("output", ["table", "wide", "csv", "name", "yaml"])
def test_no_name_controls_a_terminal(type_name: str, output: str) -> None:
    owner: Json = [{"apiVersion": "v1", "kind": HOSTILE, "name": HOSTILE, "controller": True}]
    hostile = build.resource("Pod", HOSTILE, {"nodeName": HOSTILE}, group="", status={"phase": HOSTILE})
    resources = [
        build.with_metadata(hostile, ownerReferences=owner),
        build.resource("Service", HOSTILE, {"selector": {}}, group=""),
        network_policy(HOSTILE),
    ]
    text = shown(listing(type_name, resources), output, View(namespaces=True))
    assert not {"\x1b", "\u202e"} & set(text)
    assert len(text.splitlines()) == text.count("\n")
