"""The formats of one run: on standard output, in files, and in a workflow of GitHub's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from kubectl_policy.render.lint import LINT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

pytestmark = pytest.mark.usefixtures("here")
TEXT = """\
wrong.yaml:19: error GWP4002 parent-section-not-found: HTTPRoute shop/cart: Gateway infra/public has no listener htp; \
it has listener http (80) [NoMatchingParent]
    fix: did you mean http?
    see Gateway infra/public (wrong.yaml:7)

1 error in 4 objects of 1 file; 1 check could not be made (--complete if there is nothing else;
  --show-all shows them).
"""
ANNOTATION = "::error file=wrong.yaml,line=19,title=GWP4002 parent-section-not-found::HTTPRoute shop/cart: Gateway "


@pytest.mark.parametrize("words", [[], ["-o", "text"], ["--format", "text"], ["-o", "json", "--format=text"]])
def test_text(command: Command, words: list[str]) -> None:
    """It is what there is to read if nothing else is asked for."""
    assert command("lint", "wrong.yaml", *words) == (1, TEXT, "")


@pytest.mark.parametrize("output", [*LINT.formats, "jsonpath={.errors}", "custom-columns=R:.rule"])
@pytest.mark.parametrize(("path", "code"), [("wrong.yaml", 1), ("right.yaml", 0), ("less.yaml", 0)])
def test_every_format_ends_alike(command: Command, output: str, path: str, code: int) -> None:
    """A script that changes the format sees no other exit code."""
    assert command("lint", path, "-o", output).code == code


@pytest.mark.parametrize("output", LINT.formats)
def test_a_format_in_a_file(command: Command, here: Path, output: str) -> None:
    """It holds what standard output would, however wide that is."""
    assert command("lint", "wrong.yaml", "--format", f"{output}=report") == (1, TEXT, "")
    # No line of a file is cut.
    written = (here / "report").read_text("utf-8").replace("else; --show-all", "else;\n  --show-all")
    assert written == command("lint", "wrong.yaml", "-o", output).out


def test_several_files(command: Command, here: Path) -> None:
    """And a format on standard output beside them; they are there even if the run fails."""
    files = ("sarif=lint.sarif", "junit=lint.xml", "gitlab=lint.json")
    code, out, _ = command("lint", "wrong.yaml", *(f"--format={path}" for path in files), "--format", "summary")
    assert (code, out) == (1, "1 error in 4 objects of 1 file; 1 check could not be made.\n")
    assert json.loads((here / "lint.sarif").read_text())["version"] == "2.1.0"
    assert ET.fromstring((here / "lint.xml").read_text()).attrib["failures"] == "1"  # noqa: S314 (our own)
    assert [each["location"]["lines"] for each in json.loads((here / "lint.json").read_text())] == [{"begin": 19}]


@pytest.mark.parametrize(
    ("words", "path", "reason"),
    [
        (["--format", "sarif=gone/lint.sarif"], "gone/lint.sarif", "No such file or directory"),
        (["--write-baseline", "."], ".", "Is a directory"),
        (["--format", "text=a\0b"], "a\0b", "embedded null byte"),
    ],
)
def test_a_file_that_cannot_be_written(command: Command, words: list[str], path: str, reason: str) -> None:
    """It is one line, and no answer: whoever looks for the file would find an old one."""
    code, out, err = command("lint", "right.yaml", *words)
    shown = path.replace("\0", "\\0")
    expected = f"error: cannot write {shown}: {reason}\nhint: name a file in a folder that exists\n"
    assert (code, out, err.replace("\\x00", "\\0")) == (3, "", expected)


class TestWorkflows:
    """In a workflow of GitHub's, findings are annotations without being asked for."""

    @pytest.fixture(autouse=True)
    def workflow(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))

    def test_annotations(self, command: Command) -> None:
        """And the text, folded, for whoever reads the log."""
        code, out, err = command("lint", "wrong.yaml")
        assert (code, err) == (1, "")
        first, group, *text, last = out.splitlines()
        assert first.startswith(ANNOTATION)
        assert (group, last) == ("::group::1 finding", "1 error in 4 objects of 1 file; 1 check could not be made.")
        assert text == [*TEXT.splitlines()[:3], "::endgroup::"]

    def test_the_summary(self, command: Command, tmp_path: Path) -> None:
        """What other steps, or other runs in one, have written there is kept."""
        (tmp_path / "summary.md").write_text("# Before\n")
        for path in ("wrong.yaml", "right.yaml"):
            command("lint", path)
        before, first, second = (tmp_path / "summary.md").read_text().split("### Gateway API policies and routes\n")
        assert before == "# Before\n"
        assert "| **error** | `wrong.yaml:19` | `HTTPRoute shop/cart` |" in first
        assert second == "\n**No problems in 4 objects of 1 file.**\n"

    @pytest.mark.parametrize("words", [["-o", "json"], ["-o", "summary"], ["--format", "text"]])
    def test_another_format(self, command: Command, tmp_path: Path, words: list[str]) -> None:
        """Who asks for one gets that alone."""
        assert "::error" not in command("lint", "wrong.yaml", *words).out
        assert not (tmp_path / "summary.md").exists()

    def test_a_file_beside_them(self, command: Command, here: Path) -> None:
        assert command("lint", "wrong.yaml", "--format", "text=report").out.startswith(ANNOTATION)
        assert (here / "report").read_text().startswith(TEXT.splitlines()[0])

    def test_no_summary(self, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without a file for it, there is none; where it cannot be written, it is said."""
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", "")
        assert command("lint", "right.yaml") == (0, "No problems in 4 objects of 1 file.\n", "")
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", "gone/summary.md")
        code, _, err = command("lint", "right.yaml")
        message = "cannot write gone/summary.md: No such file or directory"
        assert (code, err) == (3, f"error: {message}\nhint: GITHUB_STEP_SUMMARY names it\n")

    def test_elsewhere(self, command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """`-o github` gives the same; a workflow that is none gives text."""
        there = command("lint", "wrong.yaml").out
        monkeypatch.setenv("GITHUB_ACTIONS", "false")
        assert command("lint", "wrong.yaml").out == TEXT
        monkeypatch.delenv("GITHUB_STEP_SUMMARY")
        assert command("lint", "wrong.yaml", "-o", "github").out == there
        assert (tmp_path / "summary.md").read_text().count("###") == 1
