"""The template for GitLab: valid, and its job does what it says wherever it runs, whatever it is told."""

from __future__ import annotations

import json
import os
import shlex
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree as ET

import pytest

from tests.ci.configs import INPUT, TEMPLATE, documents, interpolated, mistakes
from tests.ci.runner import HOSTILE_FOLDER

if TYPE_CHECKING:
    from tests.ci.runner import Ended, Runner

_HEADER, _JOBS = documents(TEMPLATE.read_text("utf-8"))
_INPUTS: Final[dict[str, Any]] = _HEADER["spec"]["inputs"]
_GIVEN: Final = {"package": "kubectl-policy==0.1.0"}
# GitLab's runner takes bash where there is one, else sh; either stops at the first line that fails.
_SHELLS: Final = {"bash": ("bash", "-eo", "pipefail", "-c"), "sh": ("sh", "-e", "-c")}


def job(**inputs: str) -> dict[str, Any]:
    """The job with some inputs, and the defaults of the others."""
    told = {**{name: about["default"] for name, about in _INPUTS.items() if "default" in about}, **_GIVEN, **inputs}
    found: dict[str, Any]
    ((name, found),) = interpolated(_JOBS, INPUT, told).items()
    assert name == told["job"]
    return found


def run(runner: Runner, shell: str = "sh", **inputs: str) -> Ended:
    """Run the job; in the place of an environment for Python, it gets the programs that the machine has.

    On real machines variables get to the script as they are; `$X` of another variable would be filled in.
    """
    found = job(**inputs)
    runner.write(runner.temp / "python3", f'#!/bin/sh\nexec cp -R {shlex.quote(str(runner.bin))} "$3"\n')
    runner.write(runner.bin / "pip", '#!/bin/sh\nprintf "%s\\n" "$@" >> "$(dirname "$0")/../../installed"\n')
    script = "\n".join([*found["before_script"], *found["script"]])
    path = {"PATH": f"{runner.temp}:{os.environ['PATH']}", "TMPDIR": str(runner.temp)}
    return runner.run(_SHELLS[shell], script, **found["variables"], **path)


def given(done: Ended) -> list[str]:
    """The words that the job gives to lint, but for the formats."""
    assert done.code == 0, done
    words = [line.removeprefix("<").removesuffix(">") for line in done.out.splitlines()]
    return [word for word in words if not word.startswith("--format=")]


def test_it_is_valid() -> None:
    """By the schema of GitLab, which knows the header as well and notices a mistake; and with inputs filled in."""
    assert mistakes("gitlab-ci", _HEADER) == []
    assert mistakes("gitlab-ci", _JOBS) == []
    assert mistakes("gitlab-ci", {"kubectl-policy": job()}) == []
    assert mistakes("gitlab-ci", {"kubectl-policy": {**job(), "artifacts": {"when": "ever"}}})


def test_nothing_is_pasted_into_scripts() -> None:
    """What an input says may come from a variable of a pipeline. Each is used, and said what it is."""
    (found,) = _JOBS.values()
    assert INPUT.findall(str([*found["before_script"], *found["script"]])) == []
    assert {*INPUT.findall(str(_JOBS))} == _INPUTS.keys()
    assert [name for name, about in _INPUTS.items() if not about["description"]] == []


def test_it_runs_in_merge_requests_with_all_commits() -> None:
    """And on the branch with whose report GitLab compares; reports are kept above all where the job fails."""
    found = job()
    assert [rule["if"].split()[0] for rule in found["rules"]] == ["$CI_PIPELINE_SOURCE", "$CI_COMMIT_BRANCH"]
    assert found["variables"]["GIT_DEPTH"] == "0"
    assert found["artifacts"]["when"] == "always"


@pytest.mark.parametrize("shell", _SHELLS)
def test_a_merge_request_fails_for_what_it_makes_worse(
    runner: Runner, shell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GitLab, which compares reports itself, gets all; what was there before is a test that is skipped."""
    monkeypatch.setenv("CI_MERGE_REQUEST_DIFF_BASE_SHA", runner.base)
    runner.install(real=True)
    done = run(runner, shell, path=HOSTILE_FOLDER, arguments="--min-severity error", package="my $(touch pwned)")
    assert done.code == 1
    assert ("HTTPRoute shop/new" in done.out, "HTTPRoute shop/old" in done.out) == (True, False)
    assert (runner.temp / "installed").read_text("utf-8").splitlines()[-1] == "my $(touch pwned)"
    reports = job()["artifacts"]["reports"]
    quality = json.loads((runner.folder / reports["codequality"]).read_text("utf-8"))
    assert [entry["location"]["path"] for entry in quality] == [
        f"{HOSTILE_FOLDER}/new.yaml",
        f"{HOSTILE_FOLDER}/old.yaml",
    ]
    tests = ET.parse(runner.folder / reports["junit"]).findall(".//testcase")  # noqa: S314 (our own text)
    assert ["shop/new" in each.attrib["name"] for each in tests if each.find("failure") is not None] == [True]
    known = f"skipped[@message='known since {runner.base}']"
    assert ["shop/old" in each.attrib["name"] for each in tests if each.find(known) is not None] == [True]


def test_a_branch_fails_for_all_that_is_wrong(runner: Runner) -> None:
    """There is nothing to compare with."""
    runner.install(real=True)
    done = run(runner)
    assert done.code == 1
    assert ("HTTPRoute shop/new" in done.out, "HTTPRoute shop/old" in done.out) == (True, True)


def test_a_merged_result_is_compared_with_the_target_branch(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds what that has now; what was not there when the branch began is not the doing of the branch."""
    runner.install(real=False)
    monkeypatch.setenv("CI_MERGE_REQUEST_DIFF_BASE_SHA", runner.base)
    monkeypatch.setenv("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", "")
    assert given(run(runner)) == ["lint", f"--diff-base={runner.base}", "--", "."]
    monkeypatch.setenv("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", runner.head)
    assert given(run(runner)) == ["lint", f"--diff-base={runner.head}", "--", "."]


@pytest.mark.parametrize("shell", _SHELLS)
def test_what_it_is_told_is_data(runner: Runner, shell: str) -> None:
    """No word is run, expanded, taken for an option or torn apart but for further arguments, which are words."""
    runner.install(real=False)
    (runner.folder / "x.yaml").touch()
    done = run(runner, shell, path="--help", arguments="--exclude *.yaml $(touch pwned);`touch pwned`")
    words = ["--exclude", "*.yaml", "$(touch", "pwned);`touch", "pwned`"]
    assert given(done) == ["lint", *words, "--", "--help"]
