"""A further target kind takes a row in the table of kind roles and a row of `LINKS`; every command treats it as one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, cast

import pytest

import kubectl_policy
from kubectl_policy.model import GroupKind, Json, NodeRef
from kubectl_policy.model.kind_roles import KINDS, TargetKind
from kubectl_policy.topology import Topology
from kubectl_policy.topology.references import section_words
from tests import build

_ROW = """\
KIND_ROWS: Final = (
    TargetKind(
        group_kind=GroupKind("serverless.example.com", "Function"),
        role="workload",
        sections="spec.versions",
        section_noun="version",
    ),
"""
_LINK = """\
from kubectl_policy.model.kind_roles import PORT_HOLDERS

_FUNCTION = ("serverless.example.com", "Function")


def _functions(relations, node):
    if relations.sections(node.object) and not node.section:
        return []
    functions = relations.index.of_kind(type(node.object.group_kind)(*_FUNCTION))
    return [NodeRef(each.ref) for each in functions if each.raw["spec"]["service"] == node.object.name]


def _services(relations, node):
    name = relations.index.defaulted(node.object).get("spec", {}).get("service")
    if not name or node.section:
        return []
    service = ObjectRef(PORT_HOLDERS[0], node.object.namespace, name)
    return [NodeRef(service, section) for section in relations.sections(service)]


LINKS: Final = (
    Link(
        name="function",
        carries="traffic",
        reference="upward",
        parent_kinds=PORT_HOLDERS,
        child_kinds=(type(PORT_HOLDERS[0])(*_FUNCTION),),
        down=_functions,
        up=_services,
    ),
"""
_WORLD = """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: public}
spec: {controllerName: example.com/gateway}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec: {gatewayClassName: public, listeners: [{name: http, protocol: HTTP, port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: cart, namespace: shop}
spec: {parentRefs: [{name: edge}], rules: [{backendRefs: [{name: cart, port: 80}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {ports: [{name: http, port: 80}]}
---
apiVersion: serverless.example.com/v1
kind: Function
metadata: {name: checkout, namespace: shop}
spec: {service: cart, versions: [{name: stable}, {name: canary}]}
---
apiVersion: serverless.example.com/v1
kind: Function
metadata: {name: nightly-report, namespace: shop}
spec: {service: ""}
---
apiVersion: example.com/v1
kind: ColorPolicy
metadata: {name: green, namespace: shop}
spec: {targetRef: {group: serverless.example.com, kind: Function, name: nightly-report}, color: green}
---
apiVersion: example.com/v1
kind: ColorPolicy
metadata: {name: red, namespace: shop}
spec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}, color: red}
---
apiVersion: example.com/v1
kind: ColorPolicy
metadata: {name: blue, namespace: shop}
spec:
  targetRef: {group: serverless.example.com, kind: Function, name: checkout, sectionName: canary}
  color: blue
---
apiVersion: example.com/v1
kind: ColorPolicy
metadata: {name: lost, namespace: shop}
spec:
  targetRef: {group: serverless.example.com, kind: Function, name: checkout, sectionName: nightly}
  color: grey
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: colorpolicies.example.com, labels: {gateway.networking.k8s.io/policy: inherited}}
spec:
  group: example.com
  names: {kind: ColorPolicy, plural: colorpolicies}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true}]
"""


class Answer(NamedTuple):
    code: int
    text: str


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Answer]:
    """Run a command of a copy of the program that has one row more in each of the two tables."""
    folder = tmp_path_factory.mktemp("program")
    package = Path(shutil.copytree(Path(kubectl_policy.__file__).parent, folder / "kubectl_policy"))
    for module, beginning, replacement in (
        ("model/kind_roles.py", "KIND_ROWS: Final = (\n", _ROW),
        ("topology/links.py", "LINKS: Final = (\n", _LINK),
    ):
        source = (package / module).read_text()
        assert beginning in source
        (package / module).write_text(source.replace(beginning, replacement))
    world = folder / "world.yaml"
    world.write_text(_WORLD)
    environment = {**os.environ, "PYTHONPATH": str(folder), "NO_COLOR": "1", "COLUMNS": "200"}

    def run(*arguments: str) -> Answer:
        command = [sys.executable, "-m", "kubectl_policy", *arguments, "--offline", str(world)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 (our own)
        return Answer(done.returncode, done.stdout)

    return run


def test_describe_names_the_policy_in_force_at_each_of_its_sections(ask: Callable[..., Answer]) -> None:
    """Settings reach the kind through the backend; its own section is a target."""
    text = ask("describe", "function/checkout", "-n", "shop").text
    assert "version stable\n  ColorPolicy  color red   shop/red → Gateway shop/edge" in text
    assert "version canary\n  ColorPolicy  color blue  shop/blue → version canary, replaces shop/red" in text
    assert "Function shop/checkout has no section nightly; it has stable, canary" in text


def test_get_lists_it_with_the_policies_that_affect_it(ask: Callable[..., Answer]) -> None:
    """A type is asked for by its plural; nothing leads to one of the objects, whose path starts there."""
    rows = json.loads(ask("get", "functions", "-A", "-o", "json").text)["items"]
    policies = {row["object"]["name"]: [policy["name"] for policy in row["policies"]] for row in rows}
    assert policies == {"checkout": ["blue", "red"], "nightly-report": ["green"]}


def test_blast_radius_counts_it_among_the_objects_that_a_policy_affects(ask: Callable[..., Answer]) -> None:
    """A policy of a Gateway reaches it, but for the section with a policy of its own."""
    text = ask("blast-radius", "colorpolicy/red", "-n", "shop").text
    assert "affects 4 objects in namespace shop (1 Function, 1 Gateway, 1 HTTPRoute, 1 Service)" in text
    assert "Function shop/checkout (version stable only)" in text


def test_why_not_follows_paths_to_its_sections(ask: Callable[..., Answer]) -> None:
    """The nearer policy replaces the one from above, at one section."""
    text = ask("why-not", "colorpolicy/red", "function/checkout", "-n", "shop").text
    assert "has an effect on Function shop/checkout, on 1 of its 2 paths" in text
    assert "version canary only: ColorPolicy shop/blue → version canary of Function shop/checkout is nearer" in text


def test_graph_draws_it_below_what_leads_to_it(ask: Callable[..., Answer]) -> None:
    """The port of the backend leads to it, and it is counted."""
    document = json.loads(ask("graph", "-o", "json").text)
    links = {(link["source"], link["target"], link["relation"]) for link in document["links"]}
    function = "Function.serverless.example.com/shop/checkout"
    assert ("Service/shop/cart#http", function, "function") in links
    assert "2 Functions" in document["headline"]


def test_lint_finds_the_policy_whose_section_it_lacks(ask: Callable[..., Answer]) -> None:
    """One policy names a section that exists, the other one does not."""
    answer = ask("lint", "-o", "json")
    findings = json.loads(answer.text)["findings"]
    missing = [finding["object"]["name"] for finding in findings if finding["rule"] == "GWP1002"]
    assert (answer.code, missing) == (1, ["lost"])


def test_sections_are_named_as_the_row_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """By name; by position where an item has no name, or one that an earlier item has."""
    function = GroupKind("serverless.example.com", "Function")
    row = TargetKind(group_kind=function, role="workload", sections="spec.versions", section_noun="version")
    monkeypatch.setitem(cast("dict[GroupKind, TargetKind]", KINDS), function, row)
    versions: list[Json] = [{"name": "stable"}, {}, {"name": "stable"}]
    resource = build.resource("Function", "f", {"versions": versions}, group="serverless.example.com")
    assert Topology(build.index(resource)).sections(resource.ref) == ("stable", "version[1]", "version[2]")
    assert [section_words(NodeRef(resource.ref, name)) for name in ("stable", "version[1]")] == [
        "version stable",
        "version[1]",
    ]
