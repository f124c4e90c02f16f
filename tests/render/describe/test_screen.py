"""Rows of settings, alone and in a description of six policies of thirty fields, which fits a screen."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import MergeStrategy, PolicyKindProfile, analyze, load_manifests
from kubectl_policy.cli import run, terminal
from kubectl_policy.model import GroupKind, NodeRef, Origin
from kubectl_policy.model.authorship import Authorship
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.shared.in_force import Setting
from kubectl_policy.render.describe.objects import object_text
from kubectl_policy.render.describe.rows import FieldRow, parent_of, together, words_of
from kubectl_policy.render.output.text import View, to_text
from kubectl_policy.render.wording.settings import without_effect_phrase
from kubectl_policy.resolution import Source
from tests import build
from tests.build import crd, gateway, node, policy, resource, route, service, snapshot, target
from tests.questions.why_not.causes import ON_GATEWAY, ON_ROUTE, ROUTE, profiled, usual
from tests.render.schema import VALIDATOR
from tests.render.shown import document_of, shown
from tests.render.worlds import about, about_policy, colourful, defaults, world

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy import Analysis
    from kubectl_policy.model import Json
    from kubectl_policy.questions.describe.objects import ObjectDescription

HALL: Final = Path(__file__).with_name("hall.yaml")
TERMINAL: Final = View(100, terminal=True)
# As if it stood on one line of a file that was read as a whole.
RESOURCES: Final = [replace(resource, origin=build.ORIGIN) for resource in load_manifests([HALL]).resources]
ANSWER: Final = describe(analyze(build.snapshot(*RESOURCES, complete=True)), build.node("HTTPRoute", "tickets"))


def test_the_world_is_as_large_as_is_said() -> None:
    """Six policies, and thirty fields that they set or that others beat."""
    fields = {
        (str(source.object), field)
        for group in ANSWER.in_force
        for setting in group.settings
        for source, field in (
            (setting.source, setting.field),
            *((fate.source, fate.field) for fate in setting.instead_of),
        )
    }
    assert len(ANSWER.policies) == 6
    assert len(fields) >= 30


def test_it_fits_a_screen() -> None:
    """Fifty lines at a hundred columns, and what to ask next; no policy has two headings."""
    lines = shown(ANSWER, "tree", TERMINAL).splitlines()
    assert lines.index("Next") - 1 <= 50
    assert max(map(len, lines)) <= 100
    for heading in ("default/house → Gateway default/public", "default/cart → rule cart"):
        assert sum(line.startswith(f"BackendTrafficPolicy {heading}  ") for line in lines) == 1


def test_piped_every_field_has_a_row() -> None:
    piped, everything = (shown(ANSWER, "tree", view) for view in (View(100), replace(TERMINAL, everything=True)))
    assert "  circuitBreaker.maxPendingRequests           512\n" in piped
    assert everything.startswith(piped)
    assert "circuitBreaker         " in shown(ANSWER, "tree", TERMINAL)


def test_the_first_ten_lines_say_what_ends_requests() -> None:
    """Why a request gets a 401, a 429 or no answer in time: what asks for it, in short, and from whom."""
    first = " ".join(" ".join(shown(ANSWER, "tree", TERMINAL).splitlines()[:10]).split())
    assert "rule cart ▸ Service default/cart:8080 SecurityPolicy JWT from guild, CORS" in first
    assert "default/members → Gateway default/public" in first
    assert "BackendTrafficPolicy 10 requests/s, 5s timeout" in first
    assert "default/cart → rule cart, merged with default/house → Gateway default/public, and the route itself" in first
    assert "rule pages ▸ Service default/pages:8080 SecurityPolicy CORS" in first
    assert "default/guests → rule pages, replaces default/members" in first


def test_a_long_value_shows_its_beginning_at_a_terminal() -> None:
    """By the names of what it lists; anywhere else all of it is there."""
    cut, whole = (shown(ANSWER, "tree", view) for view in (TERMINAL, View(100)))
    assert "jwt.providers       [guild] issuer https://login.guild.example …" in cut
    assert '"remoteJWKS": {"uri": "https://login.guild.example/keys"}' in whole
    assert "remoteJWKS" not in cut


FIELDS: Final = dict.fromkeys(setting.field for group in ANSWER.in_force for setting in group.settings)
LINES: Final = {field: 10 + index for index, field in enumerate(FIELDS)}


def with_lines(answer: ObjectDescription) -> ObjectDescription:
    """The answer as the command line has it, which looks up the line of every field."""
    groups = (
        replace(
            group,
            settings=tuple(
                replace(setting, origin=Origin("test.yaml", LINES[setting.field])) for setting in group.settings
            ),
        )
        for group in answer.in_force
    )
    return replace(answer, in_force=tuple(groups))


def test_lines_stand_at_the_right() -> None:
    for width in (80, 100, 120):
        lines = shown(with_lines(ANSWER), "tree", View(width, terminal=True)).splitlines()
        assert max(map(len, lines)) <= width
    at_terminal = shown(with_lines(ANSWER), "tree", TERMINAL).splitlines()
    ends = {len(row): row for row in at_terminal if row.startswith("  ") and re.search(r"   :[0-9-]+$", row)}
    assert len(ends) == 1
    rows = [" ".join(row.split()) for row in at_terminal]
    assert "jwt.providers [guild] issuer https://login.guild.example … :35" in rows
    assert 'cors allowOrigins ["https://hall.example"], allowMethods ["GET", "POST"] :36-37' in rows


def test_a_line_makes_room_for_what_was_beaten() -> None:
    """At a terminal it moves nothing below a row: the heading says which file; `--show-all` has it."""
    placed = with_lines(ANSWER)
    for width in (80, 100, 120):
        view = View(width, terminal=True)
        with_them, without = (shown(answer, "tree", view).splitlines() for answer in (placed, ANSWER))
        remarks = [sum(row.lstrip().startswith("instead of") for row in rows) for rows in (with_them, without)]
        assert remarks[0] == remarks[1]
    superseded = "instead of 15s, default/house (the route's own timeout wins)"
    row = f"  timeout.http.requestTimeout      5s   {superseded}"
    assert row in shown(placed, "tree", TERMINAL).splitlines()
    line = LINES["timeout.http.requestTimeout"]
    for view, is_beside in ((View(120, terminal=True), True), (replace(TERMINAL, everything=True), False)):
        rows = (" ".join(row.split()) for row in shown(placed, "tree", view).splitlines())
        (row,) = (row for row in rows if row.startswith("timeout.http.requestTimeout 5s"))
        assert row.endswith(f":{line}")
        assert (superseded in row) == is_beside


def test_read_from_a_file_it_fits_a_screen(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """By the command, which says at a terminal on which line each setting is written."""
    monkeypatch.chdir(HALL.parent)
    monkeypatch.setattr(terminal, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "100")
    assert run(["describe", "httproute/tickets", "--complete", "--offline", HALL.name]) == 0
    lines = capsys.readouterr().out.splitlines()
    end = lines.index("Next") - 1
    assert end <= 50
    assert max(map(len, lines[:end])) <= 100
    origins = [row for row in lines[:end] if re.search(r" hall[.]yaml:[0-9]+$", row)]
    assert len(origins) == 7
    assert sum(bool(re.search(r"   :[0-9-]+$", row)) for row in lines[:end]) == 20


def test_piped_every_field_has_its_line() -> None:
    rows = shown(with_lines(ANSWER), "tree", View(100)).splitlines()
    assert any(row.endswith('"https://login.guild.example/keys"}}]   :35') for row in rows)
    for field, line in LINES.items():
        assert any(row.startswith(f"  {field} ") and f" :{line}" in row for row in rows)


def test_who_wrote_a_setting_stands_under_a_value_that_leaves_no_room() -> None:
    """It was asked for, and is never left out."""
    written = Authorship(who="somebody with a long name", when="2026-01-03T00:00:00Z", commit="1a2b3c4d5e")
    placed = with_lines(ANSWER)
    groups = [
        replace(group, settings=tuple(replace(setting, blame=written) for setting in group.settings))
        for group in placed.in_force
    ]
    rows = shown(replace(placed, in_force=tuple(groups)), "tree", TERMINAL).splitlines()
    index = next(index for index, row in enumerate(rows) if row.startswith("  jwt.providers "))
    assert ":35" not in rows[index]
    assert rows[index + 1].strip() == ":35 somebody with a long name, 2026-01-03, 1a2b3c4"


def _cells(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("   ") if cell.strip()] for line in text.splitlines()]


def test_an_object_has_a_row_for_each_setting() -> None:
    text = shown(about(colourful(), "HTTPRoute", "r"), "table", View())
    assert _cells(text) == [
        ["KIND", "FIELD", "VALUE", "SOURCE", "TARGET", "PATHS"],
        ["ColorPolicy.example.com", "color", "blue", "default/own", "HTTPRoute default/r", "listener http"],
        ["ColorPolicy.example.com", "shade.dark", "true", "default/base", "Namespace default", "listener http"],
        ["ColorPolicy.example.com", "shade.list", "[1, 2]", "default/base", "Namespace default", "listener http"],
        [
            "ColorPolicy.example.com",
            "color",
            "black",
            "default/strict",
            "Gateway default/g, listener https",
            "listener https",
        ],
        ["ColorPolicy.example.com", "shade.dark", "true", "default/base", "Namespace default", "listener https"],
        ["ColorPolicy.example.com", "shade.list", "[1, 2]", "default/base", "Namespace default", "listener https"],
        ["LimitPolicy.example.com", "limit", "1", "default/first", "Service default/s", "all 2"],
    ]


def test_a_wide_row_says_what_a_setting_beats() -> None:
    text = shown(about(colourful(), "Service", "s"), "wide", View())
    assert _cells(text)[0][-3:] == ["INSTEAD OF", "ORIGIN", "STRATEGY"]
    assert _cells(text)[1][-3:] == [
        "red of ColorPolicy default/base → Namespace default",
        "test.yaml:1",
        "Patch defaults",
    ]


def test_one_path_is_counted_and_removal_is_shown() -> None:
    analysis = world(defaults("p", build.target("g", "Gateway", "http"), color=None))
    text = shown(about(analysis, "Gateway", "g", "http"), "table", View())
    assert _cells(text)[1][2:] == ["<removed>", "default/p", "Gateway default/g, listener http", "1"]


def test_a_policy_has_a_row_for_each_target() -> None:
    text = shown(about_policy(colourful(), "own"), "table", View())
    assert _cells(text) == [
        ["POLICY", "TARGET", "STATE", "ENFORCEMENT", "PATHS"],
        ["default/own", "HTTPRoute default/r", "attached", "PartiallyEnforced", "1/2"],
    ]


def test_a_wide_row_of_a_policy_says_why() -> None:
    """Who beats it, what it affects, and what is wrong with its target; a selector may select nothing."""
    analysis = world(
        build.policy("p", targetSelectors=[{"group": GATEWAY_API, "kind": "HTTPRoute", "matchLabels": {"a": "b"}}])
    )
    text = shown(about_policy(analysis, "p"), "wide", View())
    assert _cells(text)[1] == [
        "default/p",
        "spec.targetSelectors[0]",
        "target missing",
        "TargetNotFound",
        "0/0",
        "0",
        "<none>",
        "spec.targetSelectors[0] selects no HTTPRoute in namespace default",
    ]


def lines(analysis: Analysis) -> list[str]:
    return [line.strip() for line in to_text(object_text(describe(analysis, ROUTE), View(200)), 200).split("\n")]


def reasons(analysis: Analysis) -> list[str]:
    (group,) = describe(analysis, ROUTE).in_force
    return [without_effect_phrase(fate, group) for fate in group.without_effect]


def test_a_merge_that_does_not_count() -> None:
    """What is replaced is further up and atomic, which decides."""
    nearer = build.policy("o", ON_ROUTE, age=2, defaults={"strategy": "patch", "b": 1})
    analysis = usual(nearer, build.policy("p", ON_GATEWAY, age=1, defaults={"a": 2}))
    why = "its merge does not count: ColorPolicy default/p further up is atomic and decides"
    assert f"instead of all of default/p → Gateway default/g: a ({why})" in lines(analysis)
    assert reasons(analysis) == [f"ColorPolicy default/o → HTTPRoute default/r replaces all of it; {why}"]


def test_a_replacement_that_is_said() -> None:
    nearer = build.policy("o", ON_ROUTE, age=2, defaults={"b": 1})
    analysis = usual(nearer, build.policy("p", ON_GATEWAY, age=1, defaults={"a": 2}))
    assert "instead of all of default/p → Gateway default/g: a" in lines(analysis)
    assert reasons(analysis) == ["ColorPolicy default/o → HTTPRoute default/r replaces all of it"]


def test_a_value_in_place_of_a_map() -> None:
    """The rest of the policy whose map it was stands."""
    merging = profiled(strategy=MergeStrategy.PATCH_DEFAULTS)
    nearer = build.policy("o", ON_ROUTE, jwt="none")
    analysis = usual(nearer, build.policy("p", ON_GATEWAY, jwt={"issuer": "a"}, color="red"), profile=merging)
    assert "instead of jwt.issuer a of default/p" in lines(analysis)
    assert reasons(analysis) == ["ColorPolicy default/o → HTTPRoute default/r sets what is used instead"]


SOURCE = Source(build.ref("ColorPolicy", "p", group="example.com"), NodeRef(build.ref("Gateway", "g")))
RETRY: Final[Mapping[str, Json]] = {
    "retry.times": 2,
    "retry.each.timeout": "2s",
    "retry.each.pause.least": "1s",
    "retry.each.pause.most": "9s",
}


def rows(values: Mapping[str, Json], room: int) -> list[str]:
    settings = (
        Setting(field=field, value=value, source=SOURCE, removed=False, defaulted=False, certain=True, instead_of=())
        for field, value in values.items()
    )
    apart = [FieldRow(setting=setting, positions={0}) for setting in settings]
    shared = together(apart, lambda some: bool(parent_of(some)) and len(words_of(some)) <= room)
    return [f"{row.setting.field}: {row.setting.value}" for row in shared]


@pytest.mark.parametrize(
    ("room", "expected"),
    [
        (80, ["retry: times 2, each.timeout 2s, each.pause.least 1s, each.pause.most 9s"]),
        (50, ["retry.times: 2", "retry.each: timeout 2s, pause.least 1s, pause.most 9s"]),
        (30, ["retry: times 2, each.timeout 2s", "retry.each.pause: least 1s, most 9s"]),
        (10, [f"{field}: {value}" for field, value in RETRY.items()]),
    ],
)
def test_things_are_divided_only_where_they_have_to_be(room: int, expected: list[str]) -> None:
    assert rows(RETRY, room) == expected


def test_what_has_nothing_in_common_stays_apart() -> None:
    assert rows({"color": "red", "shade": "dark"}, 80) == ["color: red", "shade: dark"]
    assert rows({"a.b": 1, "a.c": {}, "a.d": 2}, 80) == ["a.b: 1", "a.c: {}", "a.d: 2"]


COLOR: Final = GroupKind("example.com", "ColorPolicy")
LIMITS: Final[Json] = {"properties": {"rate": {"default": 5}}}
DEFINITION: Final = crd(
    "ColorPolicy", schema={"properties": {"spec": {"properties": {"mode": {"default": "strict"}, "limits": LIMITS}}}}
)


def with_default(strategy: MergeStrategy = MergeStrategy.PATCH_DEFAULTS, limits: Json = None) -> Analysis:
    """A policy on a Gateway, perhaps with limits, and one on its route; both without `mode`, which has a default."""
    profile = PolicyKindProfile(COLOR, "inherited", "profile", strategy=strategy, stanzas="none")
    spec: dict[str, Json] = {"targetRefs": [target("g")], "color": "blue", **({"limits": limits} if limits else {})}
    policies = (
        resource("ColorPolicy", "above", spec, group="example.com"),
        policy("below", target("r", "HTTPRoute"), color="red"),
    )
    everything = (gateway(), route(), service(), DEFINITION, *policies)
    return analyze(snapshot(*everything, complete=True), profiles=[profile])


def test_of_an_object() -> None:
    """Beside the value, in force and beaten; what is written has no such words."""
    text = shown(describe(with_default(), node("HTTPRoute", "r")), "tree", View(width=200))
    assert "mode    strict (default of its kind)   instead of strict, default/above → Gateway default/g " in text
    assert "color   red      instead of blue, default/above → Gateway default/g (the nearer policy wins)\n" in text
    assert "strict, default/above → Gateway default/g (default of its kind; the nearer policy wins)" in text


def test_of_what_is_replaced_whole() -> None:
    described = describe(with_default(MergeStrategy.ATOMIC_DEFAULTS, limits={"burst": 2}), node("HTTPRoute", "r"))
    text = shown(described, "tree", View(width=200))
    whole = "instead of all of default/above → Gateway default/g"
    assert f"{whole}: limits.burst and limits.rate\n" in text


def test_of_a_policy() -> None:
    analysis = with_default()
    lower = next(policy_.ref for policy_ in analysis.policies if policy_.ref.name == "below")
    text = shown(describe_policy(analysis, lower), "tree")
    assert "  in effect\n    color   red\n    mode    strict (default of its kind)\n" in text


def test_documents() -> None:
    analysis = with_default()
    answers: list[Any] = [
        describe(analysis, node("HTTPRoute", "r")),
        describe_policy(analysis, analysis.policies[0].ref),
    ]
    described: Any = document_of(answers[0])
    of_policy: Any = document_of(answers[1])
    for document in (described, of_policy):
        VALIDATOR.validate(document)
    (group,) = described["inForce"]
    assert [setting["defaulted"] for setting in group["settings"]] == [False, True]
    assert [field["defaulted"] for field in of_policy["fields"]] == [False, True]
