"""Lists as tables, names and documents."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from kubectl_policy import analyze
from kubectl_policy.model import Gap, GroupKind, Origin
from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile
from kubectl_policy.questions.lists import Lists, list_names, list_type
from kubectl_policy.questions.shared.selection import Selection
from kubectl_policy.render.lists import list_remarks
from kubectl_policy.render.output.text import View
from kubectl_policy.render.wording.headlines import list_headline
from tests import build
from tests.render.schema import VALIDATOR
from tests.render.shown import document_of, shown
from tests.render.worlds import INHERITED, colourful, defaults, world

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from kubectl_policy.analysis import Analysis

TYPES = (
    "policies",
    "policykinds",
    "gatewayclasses",
    "gateways",
    "listenersets",
    "listeners",
    "routes",
    "services",
    "namespaces",
)
OUTPUTS: tuple[str, ...] = ("table", "wide", "csv", "yaml", "json", "name")
HOSTILE = "\x1b[31mred\u202e\n[bold]x[/bold]"


def busy() -> Analysis:
    """Objects of every type: several parents, hostnames and conditions, references that fail, unread parts."""
    accepted = {"type": "Accepted", "status": "True"}
    route = build.route(
        "many",
        parents=[build.parent("g", "http"), build.parent("g", "gone"), build.parent("edge", namespace="infra")],
        hostnames=["a.example.com", "b.example.com", "c.example.com"],
    )
    policy = build.resource(
        "ColorPolicy",
        "reported",
        {"targetRefs": [build.target("r", "HTTPRoute")], "defaults": {"a": 1}},
        group="example.com",
        age=5,
        status={
            "ancestors": [
                {"ancestorRef": {"name": "g"}, "conditions": [accepted]},
                {"ancestorRef": {"name": "h"}, "conditions": [{**accepted, "status": "False"}]},
            ]
        },
    )
    return world(
        build.gateway("other", allowedListeners={"namespaces": {"from": "All"}}),
        build.listener_set("set", build.listener("extra", port=9000), parent="other"),
        build.gateway_class("internal", status={"conditions": [accepted, {"type": "Ready", "status": "Unknown"}]}),
        build.route("grpc", kind="GRPCRoute"),
        route,
        policy,
        *(build.route(f"r{number}", parents=[]) for number in range(3)),
        build.policy("far", build.target("s", "Service", group="", namespace="default"), namespace="x", age=1, a=1),
        build.policy("unread", build.target("unread", "TLSRoute"), age=1, a=1),
        build.policy(
            "targets",
            *(build.target(name, "HTTPRoute") for name in ("r", "many", "r0", "r0")),
            age=1,
            overrides={"a": 1},
        ),
        build.crd("ScopedPolicy", cluster_scoped=True, labels=INHERITED),
        build.policy("scoped", build.target("public", "GatewayClass"), kind="ScopedPolicy", namespace="", a=1),
        build.policy("guessed", build.target("g"), kind="OddPolicy", b=2),
        build.namespace("empty"),
    )


def text(analysis: Analysis, word: str, output: str, *, headers: bool = True, namespaces: bool = True) -> str:
    """The list of everything of a type."""
    return shown(list_type(analysis, word, Selection()), output, View(headers=headers, namespaces=namespaces))


@pytest.mark.parametrize("output", ["table", "wide"])
@pytest.mark.parametrize("word", TYPES)
def test_the_table_of_a_type(snapshot: SnapshotAssertion, word: str, output: str) -> None:
    """Narrow and wide."""
    assert text(busy(), word, output) == snapshot


def test_a_gap_is_in_every_number_that_it_may_change(snapshot: SnapshotAssertion) -> None:
    """No number is known for certain where a file could not be read."""
    analysis = world(defaults("p", build.target("g"), a=1), gaps=[Gap("", "", "broken", Origin("bad.yaml", 7))])
    assert "\n".join(text(analysis, word, "table") for word in TYPES) == snapshot


@pytest.mark.parametrize(
    ("choices", "shown"),
    [
        ({"attachment": "none", "strategy": MergeStrategy.NONE}, "<unknown>"),
        ({"strategy": MergeStrategy.PATCH_DEFAULTS, "stanzas": "plural"}, "by stanza"),
        ({"strategy_field": "spec.mergeType"}, "by spec.mergeType, else Atomic defaults"),
        ({"strategy": MergeStrategy.PATCH_OVERRIDES}, "Patch overrides"),
        ({"stanzas": "none"}, "Atomic defaults"),
        ({"assumed": ("merge strategy",)}, "Atomic defaults (assumed)"),
    ],
)
def test_a_kind_says_who_chooses_the_strategy(choices: dict[str, Any], shown: str) -> None:
    """The kind, a field or a stanza of each policy, or nobody."""
    profile = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "profile", **choices)
    analysis = analyze(build.snapshot(build.policy("p", build.target("g"))), profiles=[profile])
    assert f"   inherited   {shown}   any   " in text(analysis, "policykinds", "table", headers=False)


@pytest.mark.parametrize("output", ["table", "wide", "name"])
def test_an_empty_list_is_empty(output: str) -> None:
    """Without headers, as kubectl prints it."""
    assert text(analyze(build.snapshot(build.gateway())), "routes", output) == ""


def test_headers_and_namespaces_can_be_left_out() -> None:
    """What is in no namespace has no such column at all."""
    assert text(colourful(), "gateways", "table", headers=False).startswith("default   g   ")
    assert text(colourful(), "gateways", "table", headers=False, namespaces=False).startswith("g   public   ")
    assert text(colourful(), "gc", "table").startswith("NAME     CONTROLLER   ")


def test_names_can_be_pasted() -> None:
    """`kind.group/name`, with the namespace where there may be several; policy kinds are named by their definitions."""
    assert text(colourful(), "services", "name") == "service/default/s\n"
    assert text(colourful(), "services", "name", namespaces=False) == "service/s\n"
    assert text(colourful(), "gateways", "name", namespaces=False) == "gateway.gateway.networking.k8s.io/g\n"
    assert text(colourful(), "gc", "name") == "gatewayclass.gateway.networking.k8s.io/public\n"
    assert shown(list_names(colourful(), "policykind", Selection("", ("colorpolicy",))), "name") == (
        "customresourcedefinition.apiextensions.k8s.io/colorpolicys.example.com\n"
    )


@pytest.mark.parametrize("word", TYPES)
@pytest.mark.parametrize("analysis", [busy(), world(gaps=[Gap("", "", "x", Origin("bad.yaml"))])], ids=["busy", "gap"])
def test_every_list_is_as_the_schema_says(analysis: Analysis, word: str) -> None:
    """As JSON and as YAML, which are the same document; an empty one, too."""
    document = json.loads(text(analysis, word, "json"))
    VALIDATOR.validate(document)
    assert yaml.safe_load(text(analysis, word, "yaml")) == document
    nothing = list_type(analysis, word, Selection("nowhere"))
    VALIDATOR.validate(document_of(nothing))


def test_the_schema_refuses_what_it_does_not_know() -> None:
    """Nor anything that lacks a field, in the list or in its items."""
    for word in TYPES:
        document = json.loads(text(busy(), word, "json"))
        document["items"] = document["items"][:1]
        for whole in (document, *document["items"]):
            for name in whole:
                less = {key: value for key, value in whole.items() if key != name}
                assert not VALIDATOR.is_valid(less if whole is document else {**document, "items": [less]})
        assert not VALIDATOR.is_valid({**document, "more": 1})
        assert not VALIDATOR.is_valid({**document, "kind": "List"})
        assert not VALIDATOR.is_valid({**document, "items": [{**document["items"][0], "more": 1}]})


def test_a_document_cuts_nothing_and_counts_nothing() -> None:
    """It names what the table counts, and what is unknown is null."""
    items = {item["policy"]["name"]: item for item in json.loads(text(busy(), "policies", "json"))["items"]}
    assert (items["unread"]["affected"], items["unread"]["complete"]) == (None, False)
    assert [target["state"] for target in items["targets"]["targets"]] == ["attached"] * 4
    assert items["reported"]["created"] == "2026-01-01T00:05:00Z"
    assert items["guessed"]["created"] == ""
    routes = {item["object"]["name"]: item for item in json.loads(text(busy(), "routes", "json"))["items"]}
    assert [parent["state"] for parent in routes["many"]["parents"]] == ["attached", "refused", "unknown"]


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("word", [*TYPES, "oddpolicies", "configmaps"])
def test_no_list_lets_a_name_control_a_terminal(word: str, output: str) -> None:
    """Escape sequences, bidirectional controls and line breaks are written out in every format."""
    route = build.route(HOSTILE, parents=[build.parent(HOSTILE)], hostnames=[HOSTILE], namespace=HOSTILE)
    analysis = analyze(
        build.snapshot(
            route,
            build.gateway_class(HOSTILE, HOSTILE),
            build.gateway(HOSTILE, build.listener(HOSTILE), class_name=HOSTILE),
            build.listener_set(HOSTILE, parent=HOSTILE),
            build.service(HOSTILE),
            build.namespace(HOSTILE),
            build.resource("ConfigMap", HOSTILE, group=""),
            build.policy(HOSTILE, build.target(HOSTILE, HOSTILE, HOSTILE), kind="OddPolicy", a=1),
            build.crd(HOSTILE, labels=INHERITED),
            gaps=[Gap(HOSTILE, HOSTILE, HOSTILE, Origin(HOSTILE, 1))],
        )
    )
    shown = text(analysis, word, output)
    assert shown
    assert all(line.isprintable() for line in shown.splitlines())
    if output in {"yaml", "json"}:
        assert HOSTILE in json.dumps(yaml.safe_load(shown), ensure_ascii=False).replace("\\u001b", "\x1b").replace(
            "\\n", "\n"
        )


def test_yaml_is_ascii_where_nothing_else_can_be_written() -> None:
    """The same document, escaped."""
    listing = list_type(analyze(build.snapshot(build.service("größe"))), "services", Selection())
    assert "größe" in shown(listing, "yaml")
    assert shown(listing, "yaml", View(unicode=False)).isascii()


@pytest.mark.parametrize(
    ("word", "namespace", "headline"),
    [
        ("policies", "default", "6 policies in namespace default."),
        ("policies", "", "6 policies."),
        ("colorpolicy", "far", "0 ColorPolicies in namespace far."),
        ("gc", "default", "1 GatewayClass."),
        ("policykinds", "default", "2 policy kinds."),
    ],
)
def test_the_headline_counts(word: str, namespace: str, headline: str) -> None:
    """As in a sentence."""
    assert list_headline(list_type(colourful(), word, Selection(namespace))) == headline


def test_an_empty_list_is_explained_as_kubectl_does() -> None:
    """With a hint if there is something in other namespaces."""
    analysis = analyze(
        build.snapshot(build.gateway("a"), build.gateway("b"), build.gateway("c", namespace="x"), build.service("s"))
    )

    def said(word: str, namespace: str = "") -> list[str]:
        return list_remarks(Lists((list_type(analysis, word, Selection(namespace)),)), empty=True)

    assert said("routes") == ["No resources found"]
    assert said("gc", "far") == ["No resources found"]
    assert said("routes", "far") == ["No resources found in far namespace."]
    assert said("gateways", "far")[1] == "hint: there are 3 Gateways in 2 namespaces: add -A"
    assert said("svc", "far")[1] == "hint: there is 1 Service in namespace default: add -n default"


def test_an_incomplete_list_says_so() -> None:
    """With what the marks in it mean; a complete one says nothing."""
    assert list_remarks(Lists((list_type(colourful(), "policies", Selection()),)), empty=False) == []
    assert list_remarks(Lists((list_type(busy(), "routes", Selection("default")),)), empty=False) == [
        "6 routes in namespace default, as far as could be read: 1 object is not in the input.",
        "hint: a number that ends with + may be higher; -o yaml says what is not in the input",
    ]
