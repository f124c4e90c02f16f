"""The action for GitHub: valid, and its steps do what they say wherever they run, whatever they are told."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.ci.configs import ACTION, EXPRESSION, documents, interpolated, mistakes
from tests.ci.runner import HOSTILE_BRANCH, HOSTILE_FOLDER

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ci.runner import Ended, Runner

_ACTION: Final = documents(ACTION.read_text("utf-8"))[0]
_STEPS: Final[list[dict[str, Any]]] = _ACTION["runs"]["steps"]
# As GitHub starts what is to run with `shell: bash`.
_BASH: Final = ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c")


def step(runner: Runner, name: str, python: str = "python3", **inputs: str) -> Ended:
    """Run a step of the action with some inputs, and the defaults of the others; in the environment is what is set."""
    told = {f"inputs.{key}": inputs.get(key, about["default"]) for key, about in _ACTION["inputs"].items()}
    (found,) = (each for each in _STEPS if each.get("name") == name)
    env = interpolated(found["env"], EXPRESSION, {**told, "steps.python.outputs.python-path": python})
    return runner.run(_BASH, found["run"], **env)


@pytest.fixture(autouse=True)
def workflow(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A job, on the push of a branch if nothing else is said; the file for the summary of the step."""
    summary = runner.temp / "summary.md"
    for name, value in (("GITHUB_ACTIONS", "true"), ("GITHUB_BASE_REF", ""), ("GITHUB_STEP_SUMMARY", str(summary))):
        monkeypatch.setenv(name, value)
    return summary


def lint(runner: Runner, **inputs: str) -> list[str]:
    """The words that the last step gives to lint."""
    runner.install(real=False)
    done = step(runner, "Lint", **inputs)
    assert done.code == 0, done
    return [line.removeprefix("<").removesuffix(">") for line in done.out.splitlines()]


def test_it_is_valid() -> None:
    """By the schema of actions, which notices a mistake."""
    assert mistakes("github-actions", _ACTION) == []
    wrong = {**_ACTION, "runs": {"using": "composite", "steps": [{"run": "true"}]}}
    assert mistakes("github-actions", wrong)


def test_nothing_is_pasted_into_scripts() -> None:
    """An expression in one is a program that whoever opens a pull request may write."""
    scripts = [each["run"] for each in _STEPS if "run" in each]
    assert len(scripts) == len(_STEPS) - 1
    assert [script for script in scripts if "${{" in script] == []
    used = {name for each in _STEPS for name in EXPRESSION.findall(str(each))}
    assert {f"inputs.{name}" for name in _ACTION["inputs"]} | {"steps.python.outputs.python-path"} == used


def test_it_installs_itself(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the Python that was set up, in an environment of its own."""
    python, there = runner.temp / "my python", runner.temp / "my action"
    monkeypatch.setenv("GITHUB_ACTION_PATH", str(there))
    runner.install(real=False)
    (runner.bin / "kubectl-policy").rename(runner.bin / "pip")
    runner.write(python, "#!/bin/sh\nprintf '(%s)\\n' \"$@\"\n")
    done = step(runner, "Install kubectl-policy", python=str(python))
    made = f"(-m)\n(venv)\n({runner.bin.parent})\n"
    assert done.out == f"{made}<install>\n<--quiet>\n<--disable-pip-version-check>\n<{there}>\n"


def test_a_pull_request_fails_for_what_it_makes_worse(
    runner: Runner, workflow: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That alone is annotated, summed up, and in the file for code scanning."""
    monkeypatch.setenv("GITHUB_BASE_REF", HOSTILE_BRANCH)
    runner.install(real=True)
    done = step(runner, "Lint", path=HOSTILE_FOLDER, sarif="my $(touch pwned).sarif", arguments="--min-severity error")
    assert done.code == 1
    errors = [line for line in done.out.splitlines() if line.startswith("::error ")]
    assert len(errors) == 1
    assert f"file={HOSTILE_FOLDER}/new.yaml,line=4," in errors[0]
    assert "HTTPRoute shop/new" in workflow.read_text("utf-8")
    assert "HTTPRoute shop/old" not in workflow.read_text("utf-8")
    (run,) = json.loads((runner.folder / "my $(touch pwned).sarif").read_text("utf-8"))["runs"]
    (result,) = run["results"]
    assert "new.yaml" in result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]


def test_a_pull_request_passes_that_makes_nothing_worse(
    runner: Runner, workflow: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much is wrong in the branch that it is for."""
    monkeypatch.setenv("GITHUB_BASE_REF", "ahead")
    runner.install(real=True)
    done = step(runner, "Lint")
    assert (done.code, "::error" in done.out) == (0, False)
    assert "No new problems since origin/ahead" in workflow.read_text("utf-8")


def test_a_push_fails_for_all_that_is_wrong(runner: Runner, workflow: Path) -> None:
    """There is nothing to compare with."""
    runner.install(real=True)
    done = step(runner, "Lint")
    assert (done.code, done.out.count("::error file=")) == (1, 2)
    assert "HTTPRoute shop/old" in workflow.read_text("utf-8")


def test_without_the_branch_nothing_is_linted(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rather than to say that a pull request loses nothing, it says what to do."""
    monkeypatch.setenv("GITHUB_BASE_REF", "elsewhere")
    runner.install(real=False)
    done = step(runner, "Lint")
    assert done.code == 3
    assert done.out.startswith("::error::There is no origin/elsewhere to compare with: ")
    assert lint(runner, base="none") == ["lint", "--format=github", "--", "."]


def test_what_it_is_told_is_data(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """No word is run, expanded, taken for an option or torn apart but for further arguments, which are words."""
    monkeypatch.setenv("GITHUB_BASE_REF", HOSTILE_BRANCH)
    (runner.folder / "x.yaml").touch()
    given = lint(runner, path="--help", arguments="  --exclude *.yaml\n$(touch pwned);`touch pwned`\n", sarif=" a;b ")
    words = ["--exclude", "*.yaml", "$(touch", "pwned);`touch", "pwned`"]
    assert given == [
        *("lint", "--format=github", *words),
        *(f"--diff-base=origin/{HOSTILE_BRANCH}", "--format=sarif= a;b ", "--", "--help"),
    ]
    assert lint(runner, base="v1 && touch pwned")[2] == "--diff-base=v1 && touch pwned"
