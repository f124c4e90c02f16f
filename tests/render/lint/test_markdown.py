"""Findings as a comment on a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from kubectl_policy.lint.report import Checkout
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model import Origin
from kubectl_policy.render.lint import LINT
from kubectl_policy.render.lint.markdown import LIMIT, mark, markdown
from tests.render.lint.reports import CLEAN, EVERYTHING, LOST, MISSING, SCOPE, SMALL, UNSEEN
from tests.render.shown import shown

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion


def test_everything(snapshot: SnapshotAssertion) -> None:
    assert shown(EVERYTHING, "markdown") == snapshot


def test_nothing_is_the_headline_alone() -> None:
    assert LINT.markdown(CLEAN) == (
        "<!-- kubectl-policy lint -->\n"
        "### Gateway API policies and routes\n\n"
        "**No problems in 14 objects of 5 files.**\n"
    )


@pytest.mark.parametrize(
    ("worlds", "wanted"),
    [
        ((), "<!-- kubectl-policy lint -->\n"),
        (("dev", "eu.prod"), "<!-- kubectl-policy lint dev eu.prod -->\n"),
        (("a--> b", "ü"), "<!-- kubectl-policy lint a-b - -->\n"),
    ],
)
def test_the_mark_tells_worlds_apart(worlds: tuple[str, ...], wanted: str) -> None:
    assert mark(replace(CLEAN, scope=replace(SCOPE, worlds=worlds))) == wanted


def test_what_lets_the_run_fail_stands_out() -> None:
    assert "| warning |" in LINT.markdown(SMALL)
    assert "| **warning** |" in LINT.markdown(replace(SMALL, settings=LintSettings(fail_on="warning")))


def test_files_are_told_from_the_root_of_the_repository() -> None:
    report = replace(CLEAN, findings=(MISSING,), checkout=Checkout(root="/repo", folder="/repo/deploy"))
    assert "| `deploy/shop.yaml:14` |" in LINT.markdown(report)
    assert "|  | `BackendTLSPolicy" in LINT.markdown(replace(CLEAN, findings=(replace(MISSING, origin=None),)))


@pytest.mark.parametrize("limit", [1_000, 2_500, 20_000, LIMIT])
def test_whole_rows_are_left_out(limit: int) -> None:
    many = tuple(replace(LOST, message=f"m{number}", related=()) for number in range(1_000))
    text = markdown(replace(CLEAN, findings=(*many, MISSING)), limit, marked=True)
    assert len(text.encode()) <= limit
    rows = [line for line in text.split("\n") if line.startswith("| ")][2:]
    if limit > 1_000:
        assert rows[0].startswith("| **error** |")
    assert all(row.endswith(" |") for row in rows)
    assert text.endswith(f"\nNot shown for lack of room: {1_001 - len(rows)} findings.\n")


def test_one_row_does_not_take_the_place_of_all() -> None:
    """That nobody could read anyway; that something was not seen is said even if it is too long to say what."""
    long = replace(MISSING, message="m" * LIMIT, origin=Origin("a.yaml", 1))
    text = LINT.markdown(replace(SMALL, findings=(long, *SMALL.findings), unseen=(replace(UNSEEN, what="w" * LIMIT),)))
    assert text.count("| **error** |") == 2
    assert "Not everything could be seen" in text
    assert text.endswith("\nNot shown for lack of room: 1 blind spot and 1 finding.\n")
    assert len(LINT.markdown(replace(CLEAN, scope=replace(SCOPE, since="@" * LIMIT)))) < LIMIT
