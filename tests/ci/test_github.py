"""The action for GitHub: valid, and its steps do what they say wherever they run, whatever they are told."""

from __future__ import annotations

import json
import os
import re
import shutil
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
# Steps that run nothing but another action.
_ACTIONS: Final = [entry for entry in _STEPS if "uses" in entry]
# Prints in which environment Go was started, and what for.
_GO: Final = """#!/bin/sh
printf '<%s>\\n' "$GOBIN" "$GOTOOLCHAIN" "$GOFLAGS" "$@"
"""


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


def script_of(name: str) -> str:
    """The script of a step."""
    (script,) = (str(entry["run"]) for entry in _STEPS if entry.get("name") == name)
    return script


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
    assert len(scripts) == len(_STEPS) - len(_ACTIONS)
    assert [script for script in scripts if "${{" in script] == []
    used = {name for each in _STEPS for name in EXPRESSION.findall(str(each))}
    known = {"steps.python.outputs.python-path", "runner.os", "runner.arch"}
    assert {f"inputs.{name}" for name in _ACTION["inputs"]} | known == used


def test_other_actions_are_pinned() -> None:
    """A tag may be moved to a commit that nobody has read."""
    assert len(_ACTIONS) == 2
    for entry in _ACTIONS:
        assert re.fullmatch("actions/[a-z-]+@[0-9a-f]{40}", entry["uses"])


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


@pytest.fixture
def home(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a hostile name."""
    folder = runner.temp / "home $(touch pwned)"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


def test_flate_is_built_by_a_pinned_toolchain(runner: Runner, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever Go the job has set up for its own module."""
    monkeypatch.setenv("PATH", f"{runner.bin}:{os.environ['PATH']}")
    monkeypatch.setenv("GOTOOLCHAIN", "local")
    monkeypatch.setenv("GOFLAGS", "-mod=vendor")
    runner.write(runner.bin / "go", _GO)
    done = step(runner, "Install flate", render="flate")
    module = "github.com/home-operations/flate/cmd/flate@v0.6.5"
    expected = [str(home / ".cache/kubectl-policy/flate"), "go1.27.0", "", "install", module]
    assert (done.code, done.out) == (0, "".join(f"<{word}>\n" for word in expected))


def test_without_go_it_says_what_is_missing(runner: Runner, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bash = shutil.which("bash") or ""
    monkeypatch.setenv("PATH", str(home))
    done = runner.run((bash, *_BASH[1:]), script_of("Install flate"))
    assert done.code == 3
    assert done.out.startswith("::error::render: flate needs Go, version 1.21 or newer: ")


def test_flate_is_kept_by_its_version_and_installed_only_where_it_is_wanted() -> None:
    """The key of the cache has everything that the program is built from, and where it runs."""
    (kept,) = (entry for entry in _ACTIONS if entry["uses"].startswith("actions/cache@"))
    (built,) = (entry for entry in _STEPS if entry.get("name") == "Install flate")
    versions = f"{built['env']['FLATE_VERSION']}-{built['env']['GOTOOLCHAIN']}"
    assert kept["with"] == {
        "path": "~/.cache/kubectl-policy/flate",
        "key": f"kubectl-policy-flate-{versions}-${{{{ runner.os }}}}-${{{{ runner.arch }}}}",
    }
    assert kept["if"] == "inputs.render == 'flate'"
    assert built["if"] == f"{kept['if']} && steps.{kept['id']}.outputs.cache-hit != 'true'"


@pytest.mark.parametrize(("render", "is_found"), [("auto", False), ("flate", True), ("none", False)])
def test_flate_is_found_by_lint_alone(runner: Runner, home: Path, render: str, *, is_found: bool) -> None:
    """Steps after it keep their path."""
    runner.write(runner.bin / "kubectl-policy", '#!/bin/sh\nprintf \'<%s>\\n\' "$PATH" "$@"\n')
    done = step(runner, "Lint", render=render)
    path = f"{home}/.cache/kubectl-policy/flate:{os.environ['PATH']}" if is_found else os.environ["PATH"]
    words = [path, "lint", "--format=github", *(["--no-render"] if render == "none" else []), "--", "."]
    assert (done.code, done.out) == (0, "".join(f"<{word}>\n" for word in words))


def test_an_unknown_way_to_render_is_refused(runner: Runner) -> None:
    """And not repeated: it could be a command to the runner."""
    runner.install(real=False)
    done = step(runner, "Lint", render="x\n::stop-commands::y")
    assert (done.code, done.out) == (2, "::error::The input render is auto, flate or none\n")
