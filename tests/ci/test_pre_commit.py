"""The hook of pre-commit: as pre-commit reads it, and run as it would be run."""

from __future__ import annotations

import shlex
import tomllib
from typing import TYPE_CHECKING, Final

from pre_commit.clientlib import load_manifest  # type: ignore[import-untyped]  # it has no types

from kubectl_policy.cli import run
from tests.ci.configs import HOOKS, ROOT
from tests.ci.runner import HOSTILE_FOLDER

if TYPE_CHECKING:
    import pytest

    from tests.ci.runner import Runner

_HOOK: Final = load_manifest(HOOKS)[0]


def committed(*arguments: str) -> int:
    """The exit code of the hook with some arguments, or those that it has."""
    told: list[str] = [*arguments] or _HOOK["args"]
    command, *words = [*shlex.split(_HOOK["entry"]), *told]
    with (ROOT / "pyproject.toml").open("rb") as file:
        assert command in tomllib.load(file)["project"]["scripts"]
    return run(words)


def test_it_is_run_once_for_all_files() -> None:
    """What its files are does not matter, as long as one of them may be a manifest."""
    assert (_HOOK["language"], _HOOK["pass_filenames"]) == ("python", False)
    assert _HOOK["types_or"] == ["yaml", "json"]


def test_it_lets_nothing_in_that_is_wrong(
    runner: Runner, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor, with the arguments that the page names, in a part of the repository, or what makes that worse."""
    monkeypatch.chdir(runner.folder)
    assert committed() == 1
    assert "HTTPRoute shop/new" in capsys.readouterr().out
    assert committed(HOSTILE_FOLDER, "--fail-on=warning") == 1
    assert committed(".", "--diff-base=HEAD") == 0
    assert committed(".", "--diff-base=HEAD~1") == 1
