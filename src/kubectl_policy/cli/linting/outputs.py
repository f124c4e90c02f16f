"""The formats of one run: one on standard output, and others in files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from kubectl_policy.errors import PolicyError, UsageError
from kubectl_policy.model.values import value
from kubectl_policy.render.lint import LINT
from kubectl_policy.render.output.formats import render
from kubectl_policy.render.output.text import View, to_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_policy.lint.report import Report
    from kubectl_policy.render.output.formats import Shown

# No line of a file is cut for the width of a terminal.
_WIDTH = 10_000


@value(kw_only=True)
class Outputs:
    """What is written where: the format of standard output, and those of files."""

    shown: str
    files: Mapping[str, str]


def outputs(words: Iterable[str], output: str, *, of_one: bool = True) -> Outputs:
    """What `FORMAT` and `FORMAT=FILE` mean; without one for standard output, that is the one of `--output`.

    In a workflow of GitHub's, text is annotations as well, if it is `of_one` world and not of several clusters. Raises
    `UsageError` for a format that there is not.
    """
    in_workflow = of_one and output == LINT.formats[0] and os.environ.get("GITHUB_ACTIONS") == "true"
    shown, files = "github" if in_workflow else output, dict[str, str]()
    for word in words:
        name, is_file, path = word.partition("=")
        if name not in LINT.formats or (is_file and not path):
            hint = f"write FORMAT or FORMAT=FILE, of {', '.join(LINT.formats)}"
            raise UsageError(f"invalid value for '--format': '{word}'", hint)
        if is_file:
            files[path] = name
        else:
            shown = name
    return Outputs(shown=shown, files=files)


def write_files(report: Report, files: Mapping[str, str]) -> None:
    """Write a report into files, each in its format. Raises `PolicyError` for one that cannot be written."""
    for path, name in files.items():
        write_file(path, as_text(render(LINT, report, name, View(width=_WIDTH))))


def as_text(shown: Shown) -> str:
    """What is shown, as the text of a file."""
    if isinstance(shown, bytes):
        return shown.decode()
    if isinstance(shown, str):
        return str(shown)
    return to_text(shown, _WIDTH) if isinstance(shown, tuple) else "".join(shown)


def write_file(path: str, text: str) -> None:
    """Write a file. Raises `PolicyError` if it cannot be written."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise PolicyError(f"cannot write {path}: {reason}", "name a file in a folder that is there") from error


def summarise(report: Report) -> None:
    """Append the findings to the summary of a step of GitHub's, where it says in which file that is."""
    file = os.environ.get("GITHUB_STEP_SUMMARY")
    if file:
        from kubectl_policy.render.lint.github import github_summary

        try:
            with Path(file).open("a", encoding="utf-8") as opened:
                opened.write(github_summary(report))
        except OSError as error:
            raise PolicyError(f"cannot write {file}: {error.strerror}", "GITHUB_STEP_SUMMARY names it") from error
