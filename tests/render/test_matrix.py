"""Settings in force on many objects, as tables, comma-separated values and documents."""

from __future__ import annotations

import csv
import json
from io import StringIO
from typing import TYPE_CHECKING, Final

import pytest
import yaml

from kubectl_policy import analyze
from kubectl_policy.cli.commands.get import EFFECTIVE
from kubectl_policy.model import Gap, Origin
from kubectl_policy.questions.matrix import MatrixOptions, matrix
from kubectl_policy.questions.shared.selection import Selection
from kubectl_policy.render.matrix import matrix_headline, matrix_remarks
from kubectl_policy.render.output.formats import render
from kubectl_policy.render.output.text import View
from tests import build
from tests.render.schema import VALIDATOR
from tests.render.shown import shown
from tests.render.worlds import INHERITED, defaults, overrides, world

if TYPE_CHECKING:
    from collections.abc import Sequence

    from syrupy.assertion import SnapshotAssertion

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Json
    from kubectl_policy.questions.matrix import Matrix, RowSort


def several(*, gaps: Sequence[Gap] = ()) -> Analysis:
    """Routes with values that differ by listener, with none at all, and without traffic; one of another kind."""
    return world(
        build.route("half", rules=[build.rule(build.backend("s"), name="a"), build.rule(build.backend("s"))]),
        build.route("idle", parents=[]),
        build.route("call", kind="GRPCRoute", parents=[build.parent("g", "http")], hostnames=["grpc.example.com"]),
        defaults("all", build.ON_ROUTE, jwt={"a": 1, "b": [1, 2]}, timeout="5s"),
        defaults("one", build.target("half", "HTTPRoute", "a"), timeout="=5s"),
        overrides("strict", build.target("g", "Gateway", "https"), timeout="10s"),
        build.policy("p", build.ON_SERVICE, kind="LimitPolicy", age=1, p=1),
        build.policy("q", build.ON_SERVICE, kind="LimitPolicy", age=1, q=1),
        gaps=gaps,
        complete=not gaps,
    )


def of(
    analysis: Analysis, *fields: str, rows: RowSort = "routes", missing: bool = False, kinds: tuple[str, ...] = ()
) -> Matrix:
    return matrix(analysis, MatrixOptions(of=rows, kinds=kinds, fields=fields, missing=missing), Selection())


def test_the_table(snapshot: SnapshotAssertion) -> None:
    everything = View(namespaces=True)
    tables = [
        shown(of(several()), "table", everything),
        shown(of(several(), "timeout", "jwt"), "table", everything),
        shown(of(several(), "timeout", "jwt"), "wide", everything),
        shown(of(several(), rows="services"), "wide"),
        shown(of(several(), rows="gateways"), "table"),
        shown(of(several(), "timeout", "jwt"), "table", View(width=60, terminal=True)),
    ]
    assert "\n".join(tables) == snapshot


def test_what_is_not_known_is_not_said_to_be_nothing() -> None:
    """With the mark in the cells; what is known to get no traffic gets none."""
    answer = of(several(gaps=[Gap("", "", "broken", Origin("bad.yaml", 7))]), "jwt")
    lines = shown(answer, "table", View(headers=False)).splitlines()
    assert [line.rpartition("   ")[2] for line in lines] == [
        *["<unknown>"] * 3,
        "no traffic",
        "jwt on listener http; unknown on listener https",
    ]
    assert matrix_remarks(answer, empty=False) == [
        "5 rules, as far as could be read: 1 file may hold more.",
        "hint: what is <unknown> may be set by something that could not be read; -o yaml says what is not in the input",
    ]


def test_cells_are_coloured_by_what_they_say() -> None:
    lines = render(EFFECTIVE, of(several(), "timeout"), "table", View(coloured=True))
    assert isinstance(lines, tuple)
    styles = {(line.spans[1].text.strip(), line.spans[2].text.strip()): line.spans[3].style for line in lines[1:]}
    assert styles == {
        ("call", "rule[0]"): "warning",
        ("half", "rule a"): "value",
        ("half", "rule[1]"): "",
        ("idle", "rule[0]"): "aside",
        ("r", "rule[0]"): "value",
    }


def test_what_the_route_itself_says_is_called_so() -> None:
    rule = build.rule(build.backend("s"), timeouts={"request": "5s", "backendRequest": "2s"})
    table = shown(of(world(build.route("own", rules=[rule]), complete=True), "timeouts"), "wide", View(headers=False))
    assert "the route itself (test.yaml:1)" in table


def test_what_may_be_invalid_is_marked() -> None:
    needs = build.policy(
        "p",
        build.ON_ROUTE,
        kind="SecurityPolicy",
        group="gateway.envoyproxy.io",
        basicAuth={"users": {"name": "users"}},
    )
    classes = build.gateway_class("public", "gateway.envoyproxy.io/gatewayclass-controller")
    base = [classes, build.gateway(), build.route("r"), build.service("s"), needs]
    answer = of(analyze(build.snapshot(*base)), "basicAuth", "jvt")
    assert shown(answer, "table", View(headers=False)).split("   ")[2:] == ["basic auth (may be invalid)", "-\n"]
    assert matrix_remarks(answer, empty=False) == [
        "1 rule, as far as could be read: 1 object is not in the input.",
        "jvt is not in force anywhere here; is it a field of these policies?",
        "hint: -o yaml says what is not in the input",
    ]


PROVIDERS: Final[Json] = [
    {"name": "acme", "issuer": "https://login.acme.example", "remoteJWKS": {"uri": "https://login.acme.example/keys"}},
    {"name": "members", "issuer": "https://members.example"},
]


def test_a_list_of_named_things_is_in_short() -> None:
    """By their names; the formats for programs, wide tables and --show-all have the whole."""
    policy = build.policy("p", build.ON_GATEWAY, jwt=PROVIDERS, color="red")
    answer = of(analyze(build.snapshot(build.gateway(), build.route("r"), build.service("s"), policy)), "jwt")
    brief = "[acme] issuer https://login.acme.example …, [members] issuer https://members.example"
    assert brief in shown(answer, "table")
    for name, view in (("wide", View()), ("csv", View()), ("table", View(everything=True))):
        assert brief not in shown(answer, name, view)


@pytest.mark.parametrize(
    ("fields", "kinds", "remark"),
    [
        (("jwt", "rateLimit.local.rules"), (), "jwt and rateLimit.local.rules are not in force anywhere here"),
        (("jwt",), ("SecurityPolicy",), "jwt is not in force anywhere here"),
        (("jwt",), ("ColorPolicy",), "jwt is not in force anywhere here; is it a field of these policies?"),
        (("jwt", "x["), (), "jwt and x[ are not in force anywhere here; x[: is it a field of these policies?"),
        (("x", "y"), (), "x and y are not in force anywhere here; are they fields of these policies?"),
        (("shades[0].dark", "tones.x"), ("ColorPolicy",), "shades[0].dark and tones.x are not in force anywhere here"),
        (("tint",), ("ColorPolicy",), "tint is not in force anywhere here; is it a field of these policies?"),
        (("shades.a",), ("ColorPolicy",), "shades.a is not in force anywhere here; is it a field of these policies?"),
    ],
    ids=str,
)
def test_only_fields_that_nobody_knows_are_asked_about(
    fields: tuple[str, ...], kinds: tuple[str, ...], remark: str
) -> None:
    """A profile or a definition knows a field, also in the stanzas of policies; without kinds any profile does."""
    shades: Json = {"type": "array", "items": {"type": "object", "properties": {"dark": {"type": "string"}}}}
    tones: Json = {"type": "object", "additionalProperties": {"type": "string"}}
    stanza: Json = {"type": "object", "properties": {"shades": shades, "tones": tones}}
    targets: Json = {"type": "array", "items": {"type": "object"}}
    spec: Json = {"type": "object", "properties": {"targetRefs": targets, "defaults": stanza}}
    schema: Json = {"type": "object", "properties": {"spec": spec}}
    definition = build.crd("ColorPolicy", labels=INHERITED, schema=schema)
    security = build.crd("SecurityPolicy", group="gateway.envoyproxy.io")
    elsewhere = build.policy("p", build.target("gone"), color="red")
    base = (build.gateway(), build.route("r"), build.service("s"))
    read = build.snapshot(definition, security, elsewhere, *base, complete=True)
    answer = matrix(analyze(read), MatrixOptions(fields=fields, kinds=kinds))
    assert matrix_remarks(answer, empty=False) == [remark]


def test_what_may_hold_is_marked() -> None:
    either = [
        build.policy("p", build.ON_GATEWAY, kind="OddPolicy", p=1),
        build.policy("q", build.ON_GATEWAY, kind="OddPolicy", q=1),
    ]
    assert "(may hold)" in shown(of(world(*either, complete=True), kinds=("oddpolicy",)), "table")


def test_what_may_be_different_says_so() -> None:
    """A policy that a patch may change, and not what others set."""
    gap = Gap("ColorPolicy", "default", "x.yaml patches it", Origin("x.yaml", 1), name="p")
    policies = [build.policy("p", build.ON_GATEWAY, a=1), build.policy("l", build.ON_GATEWAY, kind="OddPolicy", odd=1)]
    table = shown(of(world(*policies, gaps=[gap], complete=True)), "table", View(headers=False))
    assert table.splitlines()[0].split("   ")[-2:] == ["a 1 (may be different)", "odd 1"]


def test_the_headline_says_what_is_missing() -> None:
    assert matrix_headline(of(several())) == "5 rules."
    assert matrix_headline(of(several(), rows="gateways")) == "1 Gateway."
    missing = of(several(), "jwt", "basic", missing=True)
    assert (
        matrix_headline(missing) == "4 of 5 rules have no jwt or basic on at least one path; 1 other gets no traffic."
    )
    single = of(world(complete=True), kinds=("colorpolicy",), missing=True)
    assert matrix_headline(single) == "1 of 1 rule has no ColorPolicy on at least one path."
    assert matrix_headline(of(world(complete=True), missing=True)) == "1 of 1 rule has no policy on at least one path."


def test_what_stands_next_to_a_table() -> None:
    """A field that is nowhere in force may be none; an empty list is explained as kubectl does."""
    assert matrix_remarks(of(several()), empty=False) == []
    assert matrix_remarks(of(several(), "nope"), empty=False) == [
        "nope is not in force anywhere here; is it a field of these policies?"
    ]
    assert matrix_remarks(of(several(), "nope", "no"), empty=False)[0].startswith(
        "nope and no are not in force anywhere"
    )
    nowhere = matrix(several(), MatrixOptions(), Selection("far"))
    assert matrix_remarks(nowhere, empty=True) == [
        "No resources found in far namespace.",
        "hint: there are 4 routes in namespace default: add -n default",
    ]
    assert shown(nowhere, "table") == shown(nowhere, "csv") == ""


def test_values_with_commas_are_for_spreadsheets() -> None:
    """Nothing in them is a formula, and every column is there."""
    rows = list(csv.reader(StringIO(shown(of(several(), "timeout"), "csv", View(namespaces=True)))))
    assert rows[0] == ["NAMESPACE", "KIND", "NAME", "RULE", "HOSTNAMES", "timeout", "timeout FROM"]
    values = {(row[2], row[3]): row[5] for row in rows[1:]}
    assert values["half", "rule a"] == "'=5s on listener http; 10s on listener https"
    assert values["call", "rule[0]"] == ""
    assert all(not cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)
    assert shown(of(several(), "timeout"), "csv", View(headers=False)).startswith("GRPCRoute,call,")


def test_the_names_are_those_of_the_objects() -> None:
    assert shown(of(several()), "name") == (
        "grpcroute.gateway.networking.k8s.io/call\n"
        "httproute.gateway.networking.k8s.io/half\n"
        "httproute.gateway.networking.k8s.io/idle\n"
        "httproute.gateway.networking.k8s.io/r\n"
    )
    assert shown(of(world()), "name", View(namespaces=True)) == "httproute.gateway.networking.k8s.io/default/r\n"


def test_the_document_is_as_the_schema_says() -> None:
    for answer in (of(several()), of(several(), "timeout", "jwt"), of(several(), rows="services", missing=True)):
        document = json.loads(shown(answer, "json"))
        VALIDATOR.validate(document)
        assert yaml.safe_load(shown(answer, "yaml")) == document
    half = next(
        item
        for item in json.loads(shown(of(several(), "timeout"), "json"))["items"]
        if item["subject"]["section"] == "a"
    )
    (first, second) = half["cells"][0]["parts"]
    assert [setting["value"] for part in (first, second) for setting in part["settings"]] == ["=5s", "10s"]
    assert (first["paths"], second["paths"], half["without"]) == ([1], [2], [])
    assert first["settings"][0]["source"]["object"]["name"] == "one"


def test_no_cell_can_control_a_terminal() -> None:
    analysis = world(defaults("p", build.ON_GATEWAY, a="\x1b[31m\u202e"), complete=True)
    for output in ("table", "wide", "csv"):
        assert all(line.isprintable() for line in shown(of(analysis, "a"), output).splitlines())
