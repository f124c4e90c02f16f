"""Policies as rows: of which kind, in force or why not, on what; at a terminal what there is room for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

import pytest

from kubectl_policy import analyze
from kubectl_policy.cli.commands.get import LISTS
from kubectl_policy.questions.lists import Lists, list_type
from kubectl_policy.questions.shared.selection import Selection
from kubectl_policy.render.lists import columns_of
from kubectl_policy.render.output.formats import render
from kubectl_policy.render.output.text import View
from tests import build
from tests.render.shown import shown
from tests.render.worlds import colourful, defaults, world

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Json, Resource
    from kubectl_policy.questions.policy_rows import PolicyRow
    from kubectl_policy.render.output.columns import Sentence


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
        *(build.policy(kind.lower(), build.target("g"), kind=kind, a=1) for kind in ("APolicy", "BPolicy")),
    ]
    twin = build.policy("twin", build.target("g"), kind="APolicy", group="example.org", a=1)

    def kinds(*resources: Resource) -> set[str]:
        return set(re.findall(r"[AB]Policy\S*", table(analyze(build.snapshot(*resources)))))

    assert kinds(*resources) == {"APolicy", "BPolicy"}
    assert kinds(*resources, twin) == {"APolicy.example.com", "APolicy.example.org", "BPolicy"}


def test_what_is_in_force_needs_no_reason() -> None:
    """And a table in which nothing does has no such column; the wide one has."""
    fine = world(defaults("p", build.target("g"), a=1))
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
                build.policy("p", build.target("s", "Service", group=""), kind="LimitPolicy", age=2, a=1),
                build.policy("a", build.target("s", "Service", group=""), kind="LimitPolicy", age=1, a=2),
            ],
            "LimitPolicy default/a → Service default/s has that target already",
            "default/a came first",
        ),
        (
            [
                build.policy("p", build.target("g"), overrides={"a": 1}, age=2),
                build.policy("a", build.target("g"), overrides={"a": 1}, age=1),
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
        "ColorPolicy", "p", {"targetRefs": [build.target("g")], "a": 1}, group="example.com", status=status
    )
    metadata = cast("dict[str, Json]", policy.raw["metadata"])
    metadata["generation"] = 2
    assert reasons(policy)["p"] == (expected, expected)


def test_states_are_coloured() -> None:
    policies = [
        defaults("fine", build.target("g"), a=1, c=3),
        defaults("part", build.target("r", "HTTPRoute"), age=2, a=2, b=1),
        build.policy("lost", build.target("gone"), a=1),
        build.policy("odd", build.target("x", "GRPCRoute"), a=1),
    ]
    contrary = build.resource(
        "LimitPolicy",
        "told",
        {"targetRefs": [build.target("s", "Service", group="")], "a": 1},
        group="example.com",
        status=accepted("False", "Invalid"),
    )
    listing = list_type(world(*policies, contrary), "policies", Selection())
    lines = render(LISTS, Lists((listing,)), "table", View(coloured=True))
    assert isinstance(lines, tuple)
    styles = {line.spans[0].text.strip(): (line.spans[2].text.strip(), line.spans[2].style) for line in lines[1:]}
    assert styles["part"] == ("Enforced", "value")
    assert styles["fine"] == ("PartiallyEnforced", "")
    assert (styles["lost"][1], styles["odd"][1]) == ("error", "warning")
    assert styles["told"] == ("Enforced", "warning")
    dead = list_type(world(*policies, complete=True), "policies", Selection())
    coloured = render(LISTS, Lists((dead,)), "table", View(coloured=True))
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
