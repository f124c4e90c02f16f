"""Lists: their tables, order, names and documents; policies with the reasons why they are not in force."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

import pytest
import yaml

from kubectl_policy import analyze
from kubectl_policy.cli.commands.get import LISTS as FORMS
from kubectl_policy.errors import UsageError
from kubectl_policy.model import Gap, GroupKind, Origin
from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile
from kubectl_policy.questions.lists import Lists, list_names, list_type
from kubectl_policy.questions.shared.selection import Selection
from kubectl_policy.render.list_columns import columns_of
from kubectl_policy.render.lists import list_remarks, ordered
from kubectl_policy.render.output.formats import render
from kubectl_policy.render.output.text import Line, View
from kubectl_policy.render.wording.headlines import list_headline
from tests import build
from tests.render.schema import VALIDATOR
from tests.render.shown import document_of, shown
from tests.render.worlds import INHERITED, colourful, defaults, world

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Json, Resource
    from kubectl_policy.questions.policy_rows import PolicyRow
    from kubectl_policy.render.output.columns import Sentence

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
        {"targetRefs": [build.ON_ROUTE], "defaults": {"a": 1}},
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
        build.policy("guessed", build.ON_GATEWAY, kind="OddPolicy", b=2),
        build.namespace("empty"),
    )


def text(analysis: Analysis, type_name: str, output: str, *, headers: bool = True, namespaces: bool = True) -> str:
    return shown(list_type(analysis, type_name, Selection()), output, View(headers=headers, namespaces=namespaces))


@pytest.mark.parametrize("output", ["table", "wide"])
@pytest.mark.parametrize("type_name", TYPES)
def test_the_table_of_a_type(snapshot: SnapshotAssertion, type_name: str, output: str) -> None:
    assert text(busy(), type_name, output) == snapshot


def test_a_gap_is_in_every_number_that_it_may_change(snapshot: SnapshotAssertion) -> None:
    """No number is known for certain where a file could not be read."""
    analysis = world(defaults("p", build.ON_GATEWAY, a=1), gaps=[Gap("", "", "broken", Origin("bad.yaml", 7))])
    assert "\n".join(text(analysis, type_name, "table") for type_name in TYPES) == snapshot


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
    analysis = analyze(build.snapshot(build.policy("p", build.ON_GATEWAY)), profiles=[profile])
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


@pytest.mark.parametrize("type_name", TYPES)
@pytest.mark.parametrize("analysis", [busy(), world(gaps=[Gap("", "", "x", Origin("bad.yaml"))])], ids=["busy", "gap"])
def test_every_list_is_as_the_schema_says(analysis: Analysis, type_name: str) -> None:
    document = json.loads(text(analysis, type_name, "json"))
    VALIDATOR.validate(document)
    assert yaml.safe_load(text(analysis, type_name, "yaml")) == document
    nothing = list_type(analysis, type_name, Selection("nowhere"))
    VALIDATOR.validate(document_of(nothing))


@pytest.mark.unmeasured
def test_the_schema_refuses_what_it_does_not_know() -> None:
    """Nor anything that lacks a field, in the list or in its items."""
    for type_name in TYPES:
        document = json.loads(text(busy(), type_name, "json"))
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
@pytest.mark.parametrize("type_name", [*TYPES, "oddpolicies", "configmaps"])
def test_no_list_lets_a_name_control_a_terminal(type_name: str, output: str) -> None:
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
    shown = text(analysis, type_name, output)
    assert shown
    assert all(line.isprintable() for line in shown.splitlines())
    if output in {"yaml", "json"}:
        assert HOSTILE in json.dumps(yaml.safe_load(shown), ensure_ascii=False).replace("\\u001b", "\x1b").replace(
            "\\n", "\n"
        )


def test_yaml_is_ascii_where_nothing_else_can_be_written() -> None:
    listing = list_type(analyze(build.snapshot(build.service("größe"))), "services", Selection())
    assert "größe" in shown(listing, "yaml")
    assert shown(listing, "yaml", View(unicode=False)).isascii()


@pytest.mark.parametrize(
    ("type_name", "namespace", "headline"),
    [
        ("policies", "default", "6 policies in namespace default."),
        ("policies", "", "6 policies."),
        ("colorpolicy", "far", "0 ColorPolicies in namespace far."),
        ("gc", "default", "1 GatewayClass."),
        ("policykinds", "default", "2 policy kinds."),
    ],
)
def test_the_headline_counts(type_name: str, namespace: str, headline: str) -> None:
    assert list_headline(list_type(colourful(), type_name, Selection(namespace))) == headline


def test_an_empty_list_is_explained_as_kubectl_does() -> None:
    """With a hint if there is something in other namespaces."""
    analysis = analyze(
        build.snapshot(build.gateway("a"), build.gateway("b"), build.gateway("c", namespace="x"), build.service("s"))
    )

    def remarks(type_name: str, namespace: str = "") -> list[str]:
        return list_remarks(Lists((list_type(analysis, type_name, Selection(namespace)),)), empty=True)

    assert remarks("routes") == ["No resources found"]
    assert remarks("gc", "far") == ["No resources found"]
    assert remarks("routes", "far") == ["No resources found in far namespace."]
    assert remarks("gateways", "far")[1] == "hint: there are 3 Gateways in 2 namespaces: add -A"
    assert remarks("svc", "far")[1] == "hint: there is 1 Service in namespace default: add -n default"


def test_an_incomplete_list_says_so() -> None:
    assert list_remarks(Lists((list_type(colourful(), "policies", Selection()),)), empty=False) == []
    assert list_remarks(Lists((list_type(busy(), "routes", Selection("default")),)), empty=False) == [
        "6 routes in namespace default, as far as could be read: 1 object is not in the input.",
        "hint: a number that ends with + may be higher; -o yaml says what is not in the input",
    ]


def names(by: str, type_name: str = "policies", *resources: Resource) -> list[str]:
    analysis = analyze(build.snapshot(*resources)) if resources else colourful()
    return [row.ref.name for row in ordered(list_type(analysis, type_name, Selection()), by).rows]


@pytest.mark.parametrize(
    ("by", "problem"),
    [
        ("nope", "there is no such column"),
        (".", "there is no such column"),
        (".spec.targetRefs[first].name", "there is no such column"),
        (".spec.targetRefs[7].name", "none of the listed objects has this field"),
        (".spec..name", "there is no such column"),
        (".spec.nope", "none of the listed objects has this field"),
        ("{.metadata.labels.a}", "none of the listed objects has this field"),
    ],
)
def test_what_cannot_be_sorted_by_is_refused(by: str, problem: str) -> None:
    """With the columns that there are, also those that only the wide table shows."""
    with pytest.raises(UsageError) as error:
        names(by)
    assert error.value.message == f'cannot sort by "{by}": {problem}'
    assert error.value.hint == (
        "sort by a field such as .metadata.name, or by NAMESPACE, NAME, KIND, ENFORCEMENT, ACCEPTED, AFFECTS, "
        "REASON, TARGETS, AGE, CLASS, STRATEGY, KNOWN BY, STANZAS, OVERRIDDEN BY, REPORTED, CREATED"
    )


def test_an_empty_list_has_every_field() -> None:
    assert names(".spec.nope", "routes", build.gateway()) == []
    with pytest.raises(UsageError):
        names("nope", "routes", build.gateway())


def test_without_an_order_the_list_stays_as_it_is() -> None:
    assert names("") == ["base", "first", "lost", "own", "second", "strict"]


def test_numbers_are_sorted_as_numbers() -> None:
    assert names("affects") == ["lost", "second", "first", "own", "base", "strict"]


@pytest.mark.parametrize("by", ["OVERRIDDEN BY", "overridden-by", "Overridden By"])
def test_a_column_is_named_as_it_is_shown(by: str) -> None:
    """In any case, and without a space to quote; what is empty comes first."""
    assert names(by) == ["first", "lost", "strict", "base", "own", "second"]


@pytest.mark.parametrize("by", [".metadata.name", "metadata.name", "{.metadata.name}"])
def test_a_field_is_named_as_for_kubectl(by: str) -> None:
    routes = [build.route(name) for name in ("r-10", "r-9", "r-09", "a", "r")]
    assert names(by, "routes", *routes) == ["a", "r", "r-09", "r-9", "r-10"]


def test_a_field_may_be_in_a_list_or_have_an_unusual_key() -> None:
    routes = [build.route(name, hostnames=[f"{name}.example"], labels={"a.b/c": name}) for name in ("b", "c", "a")]
    assert names(".spec.hostnames[0]", "routes", *routes) == ["a", "b", "c"]
    assert names("{.metadata.labels['a.b/c']}", "routes", *routes) == ["a", "b", "c"]


def test_values_of_any_type_can_be_sorted() -> None:
    """First those that are absent, then numbers, then the rest as text."""
    values: dict[str, Json] = {
        "a": "text",
        "b": 7,
        "c": {"x": 1},
        "d": None,
        "e": 2.5,
        "f": [1],
        "g": True,
        "h": "9" * 5_000,
    }
    policies = [build.policy(name, build.ON_GATEWAY, value=value) for name, value in values.items()]
    assert names(".spec.value", "policies", *policies) == ["d", "g", "e", "b", "h", "f", "a", "c"]


def test_a_definition_has_the_fields_of_a_kind() -> None:
    """A kind without one has none of them."""
    labels = {"gateway.networking.k8s.io/policy": "direct"}
    world = (build.policy("p", build.ON_GATEWAY, kind="ZooPolicy"), build.crd("AntPolicy", labels=labels))
    assert names(".spec.scope", "policykinds", *world) == ["zoopolicies.example.com", "antpolicys.example.com"]


LISTS = Lists(
    tuple(list_type(colourful(), type_name, Selection()) for type_name in ("gateways", "grpcroutes", "services"))
)
EMPTY = Lists(tuple(list_type(colourful(), type_name, Selection("far")) for type_name in ("gateways", "grpcroutes")))


def test_there_is_a_table_for_each_type() -> None:
    """With an empty line between those that have rows, and the kind before the names, which can be pasted."""
    assert shown(LISTS, "table") == (
        "NAME                                  CLASS    PORTS     LISTENERS   ROUTES   POLICIES\n"
        "gateway.gateway.networking.k8s.io/g   public   80, 443   2           1        2\n"
        "\n"
        "NAME        TYPE        PORTS      ROUTES   POLICIES\n"
        "service/s   ClusterIP   8080/TCP   1        4\n"
    )
    coloured = render(FORMS, LISTS, "table", View(coloured=True))
    assert isinstance(coloured, tuple)
    assert coloured[2] == Line()
    assert shown(LISTS, "csv").count("\n\n") == 1
    assert shown(EMPTY, "table") == shown(EMPTY, "csv") == ""


def test_the_names_are_those_of_all_of_them() -> None:
    assert shown(LISTS, "name") == "gateway.gateway.networking.k8s.io/g\nservice/s\n"


def test_they_are_one_document() -> None:
    document = json.loads(shown(LISTS, "json"))
    VALIDATOR.validate(document)
    for item in document["items"]:
        VALIDATOR.validate(item)
    assert [item["kind"] for item in document["items"]] == ["GatewayList", "RouteList", "BackendList"]
    assert yaml.safe_load(shown(LISTS, "yaml")) == document


def test_what_stands_next_to_them() -> None:
    """An empty list next to others is no news; where all are empty, that is said once."""
    assert FORMS.headline(LISTS) == "1 Gateway. 0 GRPCRoutes. 1 Service."
    assert list_remarks(LISTS, empty=False) == []
    remarks = list_remarks(EMPTY, empty=True)
    assert remarks == [
        "No resources found in far namespace.",
        "hint: there is 1 Gateway in namespace default: add -n default",
    ]


def table(analysis: Analysis, view: View | None = None) -> str:
    """The policies of every namespace, without headers unless the view has them."""
    return shown(list_type(analysis, "policies", Selection()), "table", view or View(headers=False))


def reasons(*resources: Resource, complete: bool = True) -> dict[str, tuple[str, str]]:
    """The reason of each policy by its name, whole and brief."""
    listing = list_type(world(*resources, complete=complete), "policies", Selection())
    rows = cast("tuple[PolicyRow, ...]", listing.rows)
    column = next(column for column in columns_of(listing) if column.title == "REASON")
    return {row.ref.name: (row.reason, cast("Sentence", column.cell(row)).brief) for row in rows}


def accepted(status: str, why: str = "", **fields: Json) -> dict[str, Json]:
    """The status of a policy whose controller has accepted it, or has not."""
    condition: dict[str, Json] = {"type": "Accepted", "status": status, "reason": why, **fields}
    return {"ancestors": [{"ancestorRef": {"name": "g"}, "controllerName": "c", "conditions": [condition]}]}


def test_a_kind_stands_without_its_group() -> None:
    resources = [
        build.gateway(),
        *(build.policy(kind.lower(), build.ON_GATEWAY, kind=kind, a=1) for kind in ("APolicy", "BPolicy")),
    ]
    twin = build.policy("twin", build.ON_GATEWAY, kind="APolicy", group="example.org", a=1)

    def kinds(*resources: Resource) -> set[str]:
        return set(re.findall(r"[AB]Policy\S*", table(analyze(build.snapshot(*resources)))))

    assert kinds(*resources) == {"APolicy", "BPolicy"}
    assert kinds(*resources, twin) == {"APolicy.example.com", "APolicy.example.org", "BPolicy"}


def test_what_is_in_force_needs_no_reason() -> None:
    """And a table in which nothing does has no such column; the wide one has."""
    fine = world(defaults("p", build.ON_GATEWAY, a=1))
    view = View()
    listing = list_type(fine, "policies", Selection())
    assert "REASON" not in shown(listing, "table", view)
    assert "REASON" in shown(listing, "wide", view)
    assert "REASON" in shown(list_type(colourful(), "policies", Selection()), "table", view)


@pytest.mark.parametrize(
    ("resources", "whole", "brief"),
    [
        ([build.policy("p", build.target("gone"), a=1)], "Gateway default/gone does not exist", "no such target"),
        (
            [build.policy("p", build.target("g", "Gateway", "gone"), a=1)],
            "Gateway default/g has no section gone; it has http, https",
            "no such listener",
        ),
        (
            [
                build.policy("p", build.ON_SERVICE, kind="LimitPolicy", age=2, a=1),
                build.policy("a", build.ON_SERVICE, kind="LimitPolicy", age=1, a=2),
            ],
            "LimitPolicy default/a → Service default/s has that target already",
            "default/a came first",
        ),
        (
            [
                build.policy("p", build.ON_GATEWAY, overrides={"a": 1}, age=2),
                build.policy("a", build.ON_GATEWAY, overrides={"a": 1}, age=1),
            ],
            "ColorPolicy default/a → Gateway default/g",
            "replaced by default/a",
        ),
        (
            [build.policy("p", build.target("idle", "HTTPRoute"), a=1), build.route("idle", parents=[])],
            "HTTPRoute default/idle does not name anything that lets requests in as a parent",
            "no Gateway",
        ),
    ],
)
def test_what_is_not_in_force_has_its_reason(resources: list[Resource], whole: str, brief: str) -> None:
    reason = reasons(*resources)["p"]
    assert reason[0].startswith(whole)
    assert reason[1] == brief


def test_what_was_not_read_is_not_said_to_be_missing() -> None:
    """Unknown is not none."""
    reason = reasons(build.policy("p", build.target("unread", "GRPCRoute"), a=1), complete=False)
    assert reason["p"] == ("GRPCRoute default/unread is not in the input", "target unread")


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (accepted("False", "Invalid"), "controller reports Invalid"),
        (accepted("False"), "controller reports Accepted False"),
        (accepted("True", "Accepted"), ""),
        (accepted("False", "Invalid", observedGeneration=1), ""),
    ],
)
def test_what_the_controller_reports_to_the_contrary_is_said(status: Json, expected: str) -> None:
    """Of the present generation; one that agrees is no reason."""
    policy = build.resource(
        "ColorPolicy", "p", {"targetRefs": [build.ON_GATEWAY], "a": 1}, group="example.com", status=status
    )
    metadata = cast("dict[str, Json]", policy.raw["metadata"])
    metadata["generation"] = 2
    assert reasons(policy)["p"] == (expected, expected)


def test_states_are_coloured() -> None:
    policies = [
        defaults("fine", build.ON_GATEWAY, a=1, c=3),
        defaults("part", build.ON_ROUTE, age=2, a=2, b=1),
        build.policy("lost", build.target("gone"), a=1),
        build.policy("odd", build.target("x", "GRPCRoute"), a=1),
    ]
    contrary = build.resource(
        "LimitPolicy",
        "told",
        {"targetRefs": [build.ON_SERVICE], "a": 1},
        group="example.com",
        status=accepted("False", "Invalid"),
    )
    listing = list_type(world(*policies, contrary), "policies", Selection())
    lines = render(FORMS, Lists((listing,)), "table", View(coloured=True))
    assert isinstance(lines, tuple)
    styles = {line.spans[0].text.strip(): (line.spans[2].text.strip(), line.spans[2].style) for line in lines[1:]}
    assert styles["part"] == ("Enforced", "value")
    assert styles["fine"] == ("PartiallyEnforced", "")
    assert (styles["lost"][1], styles["odd"][1]) == ("error", "warning")
    assert styles["told"] == ("Enforced", "warning")
    dead = list_type(world(*policies, complete=True), "policies", Selection())
    coloured = render(FORMS, Lists((dead,)), "table", View(coloured=True))
    assert isinstance(coloured, tuple)
    assert {line.spans[0].text.strip(): line.spans[2].style for line in coloured[1:]}["lost"] == "error"


def test_at_a_terminal_no_row_is_wider_than_it() -> None:
    """Columns that matter less are left out; the state and the kind always stay."""
    targets = [build.target(name) for name in ("g", "h", "i")]
    analysis = world(
        build.gateway("h"),
        build.gateway("i"),
        defaults("long-name-of-a-policy", *targets, a=1),
        build.policy("p", build.target("gone"), a=1),
        complete=True,
    )
    wide = table(analysis, View(width=120, terminal=True, namespaces=True))
    assert wide.splitlines()[1].endswith("Enforced         5         <none>           Gateway default/g, 2 more")
    narrow = table(analysis, View(width=80, terminal=True, namespaces=True))
    assert narrow.splitlines()[2].split() == ["default", "p", "ColorPolicy", "TargetNotFound", "0"]
    assert max(map(len, [*wide.splitlines()[:3], *narrow.splitlines()[:3]])) <= 120
    assert max(map(len, narrow.splitlines()[:3])) <= 80
