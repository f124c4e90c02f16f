"""Baselines: what does not count, as it was written down that it is there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.linting.conftest import SECTION, SHOP, WORLDS, Lint
from tests.lint.policy_manifests import route

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

pytestmark = pytest.mark.usefixtures("here")
WRONG = WORLDS["wrong.yaml"]
LATE = route("late", section="htps")


@pytest.fixture(autouse=True)
def written(lint: Lint, here: Path) -> None:
    """Those of a world with an error, of which exit code 0 says that they were written."""
    result = lint("wrong.yaml", "--write-baseline", "known.json")
    assert (result.code, result.findings, result.document["fails"]) == (0, [f"wrong.yaml:19 {SECTION}"], True)
    (entry,) = json.loads((here / "known.json").read_text())["findings"]
    assert (entry["rule"], entry["object"]["name"]) == ("GWP4002", "cart")


def test_what_is_known(lint: Lint) -> None:
    """It is told, and lets nothing fail."""
    result = lint("wrong.yaml", "--baseline", "known.json")
    assert (result.code, result.findings, result.said("known")) == (0, [], [f"wrong.yaml:19 {SECTION}"])
    said = "No new problems since known.json in 4 objects of 1 file; 1 known, 1 check could not be made."
    assert (result.document["headline"], result.document["since"]) == (said, "known.json")


@pytest.mark.parametrize(
    "text",
    [
        f"# More\n\n# lines\n{WRONG}",
        f"{SHOP.partition('---')[0]}{WRONG[4:]}",
        WRONG.replace("parentRefs: [", "parentRefs: [{name: public, namespace: infra}, "),
    ],
)
def test_it_is_somewhere_else(lint: Lint, here: Path, text: str) -> None:
    assert text != WRONG
    (here / "moved.yaml").write_text(text)
    result = lint("moved.yaml", "--baseline", "known.json", "--ignore", "GWP4008")
    assert (result.code, result.findings, len(result.said("known"))) == (0, [], 1)


def test_a_new_mistake(lint: Lint, here: Path) -> None:
    (here / "wrong.yaml").write_text(WRONG + LATE)
    result = lint("wrong.yaml", "--baseline", "known.json")
    assert (result.code, result.findings) == (1, ["wrong.yaml:32 error GWP4002 HTTPRoute shop/late"])
    assert "new since known.json; 1 known" in result.document["headline"]


def test_one_that_is_gone(lint: Lint, command: Command) -> None:
    result = lint("right.yaml", "--baseline", "known.json")
    assert (result.code, result.said("fixed")) == (0, [f"{SECTION}"])
    assert "1 fixed" in result.document["headline"]
    assert "Fixed\n  fixed GWP4002" in command("lint", "right.yaml", "--baseline=known.json", "--show-all").out


def test_how_bad_it_is_does_not_matter(lint: Lint) -> None:
    lint("wrong.yaml", "less.yaml", "--exclude", "x", "--min-severity", "error", "--write-baseline", "all.json")
    assert lint("less.yaml", "--write-baseline", "less.json", "--min-severity", "error").findings == []
    assert lint("less.yaml", "--baseline", "less.json", "--severity", "GWP2005=error").code == 0
    assert lint("less.yaml", "--baseline", "less.json", "--select", "GWP1").said("fixed") == []


def test_what_is_written_anew_is_all(lint: Lint, here: Path) -> None:
    """Also what the config file's own baseline knows: else that would be lost."""
    (here / ".kubectl-policy.yaml").write_text("baseline: known.json\n")
    assert lint("wrong.yaml").findings == []
    before = (here / "known.json").read_text()
    assert lint("wrong.yaml", "--write-baseline", "known.json").code == 0
    assert (here / "known.json").read_text() == before


def test_what_is_suppressed_is_not_written(lint: Lint, here: Path) -> None:
    text = WRONG.replace("htp}]", "htp}] # kubectl-policy: ignore GWP4002 soon")
    assert lint("-", "--write-baseline", "none.json", stdin=text).code == 0
    assert json.loads((here / "none.json").read_text())["findings"] == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot read the baseline x.json: No such file or directory"),
        (b"\xff", "cannot read the baseline x.json: it is not text"),
        (b"{", "x.json: no baseline: not JSON"),
        (b"[" * 100_000, "x.json: no baseline: not JSON"),
        (b"{}", "x.json: no baseline: not a LintBaseline"),
        (b'{"kind": "LintBaseline", "findings": []}', "x.json: no baseline: not of the version policy.kubectl/"),
    ],
)
def test_what_is_no_baseline(command: Command, here: Path, text: bytes | None, message: str) -> None:
    """Nothing would be known, so there is no answer."""
    if text is not None:
        (here / "x.json").write_bytes(text)
    code, out, err = command("lint", "wrong.yaml", "--baseline", "x.json")
    assert (code, out) == (3, "")
    assert err.startswith(f"error: {message}")
    assert err.splitlines()[1] == "hint: kubectl policy lint --write-baseline FILE writes one"
