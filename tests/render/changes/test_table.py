"""Differences as rows and as names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_policy.questions.differences.relations import EnforcementChange, ParentChange
from tests import build
from tests.render.changes.differences import (
    OTHER,
    POLICY,
    ROUTE,
    change,
    difference,
    field,
    hostile,
    routes,
    valued,
    without,
)
from tests.render.shown import shown

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from kubectl_policy.questions.diff import StateDiff


def lines(found: StateDiff, *, wide: bool = False) -> list[list[str]]:
    """The cells of the rows, without the header."""
    text = shown(found, "wide" if wide else "table").splitlines()
    return [[cell.strip() for cell in line.split("   ") if cell.strip()] for line in text[1:]]


def test_rows_of_the_bakery(snapshot: SnapshotAssertion) -> None:
    """Settings, targets, parents, policies and problems, in both widths."""
    found = without("Gateway infra/internal").difference
    assert shown(found, "table") == snapshot
    assert shown(found, "wide") == snapshot


def test_nothing_is_no_table() -> None:
    """Not even a header."""
    assert [shown(difference(), name) for name in ("table", "wide", "name")] == ["", "", ""]


def test_a_row_for_each_field() -> None:
    """With one word to search for, and who sets what is after, or else what was before."""
    other = replace(field("a", None), after=valued("b", build.ref("ColorPolicy", "q", group="example.com")))
    fields = [field("red", None, security=True), other, field(None, [1], "list", security=True)]
    found = difference(effects=(change(*fields, nodes=routes(3), where="kept"),))
    rows = lines(found)
    assert [row[0] for row in rows] == ["lost!", "changed", "gained!"]
    assert [row[3:5] for row in rows] == [["red", "<none>"], ["a", "b"], ["<none>", "[1]"]]
    assert [row[5].partition(" → ")[0] for row in rows] == [str(POLICY), "ColorPolicy default/q", str(POLICY)]
    assert {(row[6], row[7]) for row in rows} == {("3", "3 kept")}
    assert lines(found, wide=True)[0][8] == ", ".join(str(node) for node in routes(3))


def test_a_policy_that_others_beat_than_before() -> None:
    """Its state is the same, and that is not what the row is about."""
    same = EnforcementChange(
        policy=POLICY, before="PartiallyEnforced", after="PartiallyEnforced", by=(), by_before=(OTHER,)
    )
    (row,) = lines(difference(enforcement=(same,)), wide=True)
    assert row[3:5] == ["beaten by ColorPolicy default/q", "beaten by none"]
    assert row[-1] == "PartiallyEnforced as before"


def test_a_removed_field_is_not_an_empty_one() -> None:
    """It has a value that says so."""
    gone = replace(field("red", None), after=replace(valued(None), removed=True))
    assert lines(difference(effects=(change(gone),)))[0][4] == "<removed>"


def test_one_word_for_each_relation() -> None:
    """So that `grep detached` finds it."""
    words = [row[0] for row in lines(without("Gateway infra/internal").difference)]
    assert {*words} == {"ended", "reduced", "lost", "detached", "enforcement", "problem"}
    assert [row[0] for row in lines(without("RetryPolicy baker/wedding").difference)] == [
        "reference",
        "enforcement",
        "fixed",
    ]


def test_what_becomes_of_a_parent_may_be_unknown() -> None:
    """And it may be attached to what it was refused by."""
    gateway = build.node("Gateway", "g")
    parents = (
        ParentChange(route=ROUTE.object, parent=gateway, before="attached", after="unknown", message="not read"),
        ParentChange(route=ROUTE.object, parent=gateway, before="refused", after="attached", message=""),
        ParentChange(route=ROUTE.object, parent=gateway, before=None, after="refused", message="no"),
    )
    assert [row[0] for row in lines(difference(parents=parents))] == ["unknown", "attached", "reference"]


def test_a_hostile_name_stays_in_its_row() -> None:
    """Whatever it holds."""
    found = hostile("a\nb\x1b[31m\u202e")
    for wide in (False, True):
        text = shown(found, "wide" if wide else "table")
        assert len(text.splitlines()) == 7
        assert all(map(str.isprintable, text.splitlines()))
    assert all(map(str.isprintable, shown(found, "name").splitlines()))


def test_names_are_there_once() -> None:
    """As `kubectl get` takes them."""
    found = difference(effects=(change(field(1, 2)), change(field(1, None), nodes=[ROUTE, *routes(1)])))
    assert shown(found, "name").splitlines() == [
        "httproute.gateway.networking.k8s.io/r",
        "httproute.gateway.networking.k8s.io/r0",
    ]
