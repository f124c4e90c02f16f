"""docs/ci.md: what a reader copies is valid, and names what there is."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final

from pre_commit.clientlib import load_config  # type: ignore[import-untyped]  # it has no types

from kubectl_policy import __version__
from kubectl_policy.cli.linting.project import read_project
from tests.ci.configs import ACTION, HOOKS, ROOT, TEMPLATE, documents, mistakes
from tests.test_docs import blocks, options_of, section, text_of
from tests.test_docs import run as printed

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.ci.runner import Runner

PAGE: Final = ROOT / "docs" / "ci.md"
_LINTING: Final = ROOT / "docs" / "linting.md"
_TAG: Final = f"v{__version__}"
_YAML: Final = [
    (text.partition("\n")[0].removeprefix("# "), text) for language, text in blocks(PAGE) if language == "yaml"
]


def named(file: str) -> list[Any]:
    """The documents of the page that belong into a file."""
    return [document for name, text in _YAML for document in documents(text) if name == file]


def inputs(page: Path, heading: str) -> dict[str, str]:
    """The inputs in a table of the page, with their defaults."""
    rows: list[tuple[str, str]] = re.findall(
        r"^\| `(.*?)` \|(.*?)\|", section(page, heading).partition("\n###")[0], re.MULTILINE
    )
    return {name: default.strip(" `") for name, default in rows}


def test_every_block_belongs_into_a_file_that_is_checked_here() -> None:
    """Its first line names it."""
    files = {".github/workflows/policies.yaml", ".gitlab-ci.yml", ".pre-commit-config.yaml", ".kubectl-policy.yaml"}
    assert {name for name, _ in _YAML} == files


def test_workflows_are_valid() -> None:
    """And let steps have what they need."""
    found = named(".github/workflows/policies.yaml")
    assert len(found) == 4
    known = documents(ACTION.read_text("utf-8"))[0]["inputs"].keys()
    for workflow in found:
        assert mistakes("github-workflows", workflow) == []
        steps: list[dict[str, Any]] = workflow["jobs"]["lint"]["steps"]
        assert steps[0]["with"] == {"fetch-depth": 0, "persist-credentials": False}
        own = [step for step in steps if "kubectl-policy" in step.get("uses", "")]
        assert {step["uses"] for step in own} <= {f"OWNER/kubectl-policy@{_TAG}"}
        assert {name for step in own for name in step.get("with", ())} <= known
        assert [step["run"] for step in steps if "${{" in step.get("run", "")] == []


def test_the_upload_takes_the_file_that_is_written() -> None:
    """Whether lint fails or not, and with the permission to."""
    (job,) = (each["jobs"]["lint"] for each in named(".github/workflows/policies.yaml") if "upload-sarif" in str(each))
    _, lint, upload = job["steps"]
    assert upload["with"]["sarif_file"] == lint["with"]["sarif"]
    assert upload["if"] == "always()"
    assert job["permissions"]["security-events"] == "write"


def test_the_command_in_a_workflow_compares_pull_requests(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing else."""
    (script,) = re.findall(r"run: (kubectl-policy lint .*)", text_of(PAGE))
    runner.install(real=False)
    monkeypatch.setenv("PATH", f"{runner.bin}:{os.environ['PATH']}")
    for base, further in (("my $(touch pwned)", ["<--diff-base=origin/my $(touch pwned)>"]), ("", [])):
        done = runner.run(("bash", "-e", "-c"), script, GITHUB_BASE_REF=base)
        assert done.out.splitlines() == ["<lint>", "<.>", "<--complete>", "<--assume-exists>", "<Secret>", *further]


def test_pipelines_are_valid() -> None:
    """And give the template what it asks for."""
    (pipeline,) = named(".gitlab-ci.yml")
    assert mistakes("gitlab-ci", pipeline) == []
    (include,) = pipeline["include"]
    assert include["ref"] == _TAG
    assert (ROOT / include["file"].removeprefix("/")).samefile(TEMPLATE)
    known = documents(TEMPLATE.read_text("utf-8"))[0]["spec"]["inputs"]
    needed = {name for name, about in known.items() if "default" not in about}
    assert needed <= include["inputs"].keys() <= known.keys()


def test_configs_of_pre_commit_are_valid(tmp_path: Path) -> None:
    """By pre-commit itself; they name a hook that there is."""
    known = {hook["id"] for hook in documents(HOOKS.read_text("utf-8"))[0]}
    file = tmp_path / ".pre-commit-config.yaml"
    found = [text for name, text in _YAML if name == file.name]
    assert len(found) == 2
    for text in found:
        file.write_text(text, "utf-8")
        (repository,) = load_config(file)["repos"]
        assert repository["rev"] == _TAG
        assert {hook["id"] for hook in repository["hooks"]} <= known


def test_config_files_of_projects_are_valid(tmp_path: Path) -> None:
    """And name the baseline that the command before them writes."""
    (text,) = (text for name, text in _YAML if name == ".kubectl-policy.yaml")
    file = tmp_path / ".kubectl-policy.yaml"
    file.write_text(text, "utf-8")
    baseline = read_project(str(file)).baseline.removeprefix(f"{tmp_path}/")
    assert f"--write-baseline {baseline}\n" in text_of(PAGE)


def test_inputs_are_documented_with_their_defaults() -> None:
    """Of the action, and of the template for GitLab."""
    (action,) = documents(ACTION.read_text("utf-8"))
    told = {name: about["default"] for name, about in action["inputs"].items()}
    shown = inputs(PAGE, "GitHub")
    # What happens without it takes words.
    assert {**shown, "base": ""} == told
    header, _ = documents(TEMPLATE.read_text("utf-8"))
    told = {name: about.get("default", "none: it has to be given") for name, about in header["spec"]["inputs"].items()}
    assert inputs(PAGE, "GitLab") == told


def test_the_page_names_options_formats_and_exit_codes_that_there_are() -> None:
    """In commands, arguments and prose."""
    help_text, _ = printed("kubectl policy lint --help")
    code = " ".join([*re.findall(r"`([^`\n]+)`", text_of(PAGE)), *(text for _, text in blocks(PAGE))])
    others = {"--global", "--add"}  # of git
    assert {*re.findall(r"(?<!\S)--[a-z][a-z-]*", code)} - others - options_of(help_text) == set()
    formats = re.search(r"--output \[(.*?)\]", help_text)
    assert formats
    assert {*re.findall(r"--format ([a-z]+)", code)} <= {*formats[1].split("|")}
    page, linting = (re.findall(r"^\| (\d) \|", text_of(each), re.MULTILINE) for each in (PAGE, _LINTING))
    assert page == linting
