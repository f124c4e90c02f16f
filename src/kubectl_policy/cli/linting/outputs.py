"""The output of a run: one format on standard output, and any formats in files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from kubectl_policy.errors import PolicyError, UsageError
from kubectl_policy.render.lint import LINT
from kubectl_policy.render.output.formats import render
from kubectl_policy.render.output.text import View, to_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_policy.lint.report import Report

# In characters: lines of files are not wrapped.
_WIDTH = 10_000


def parse_outputs(formats: Iterable[str], output: str, *, is_single: bool = True) -> tuple[str, Mapping[str, str]]:
    """Return the format of standard output, by default that of `--output`, and the formats of files by their paths.

    In a GitHub workflow, text has annotations as well, unless several clusters are linted. Raise `UsageError` for an
    unknown format.
    """
    in_workflow = is_single and output == LINT.formats[0] and os.environ.get("GITHUB_ACTIONS") == "true"
    shown, files = "github" if in_workflow else output, dict[str, str]()
    for text in formats:
        name, is_file, path = text.partition("=")
        if name not in LINT.formats or (is_file and not path):
            hint = f"write FORMAT or FORMAT=FILE, of {', '.join(LINT.formats)}"
            raise UsageError(f"invalid value for '--format': '{text}'", hint)
        if is_file:
            files[path] = name
        else:
            shown = name
    return shown, files


def write_files(report: Report, files: Mapping[str, str]) -> None:
    """Write a report into files, each in its format. Raises `PolicyError` for one that cannot be written."""
    for path, name in files.items():
        shown = render(LINT, report, name, View(width=_WIDTH))
        if isinstance(shown, tuple):
            shown = to_text(shown, _WIDTH)
        write_file(path, shown if isinstance(shown, str) else "".join(map(str, shown)))


def write_file(path: str, text: str) -> None:
    """Write a file. Raises `PolicyError` if it cannot be written."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise PolicyError(f"cannot write {path}: {reason}", "name a file in a folder that is there") from error


def summarise(report: Report) -> None:
    """Append the findings to the summary of a GitHub step, if its environment names the file."""
    file = os.environ.get("GITHUB_STEP_SUMMARY")
    if file:
        from kubectl_policy.render.lint.github import github_summary

        try:
            with Path(file).open("a", encoding="utf-8") as opened:
                opened.write(github_summary(report))
        except OSError as error:
            raise PolicyError(f"cannot write {file}: {error.strerror}", "GITHUB_STEP_SUMMARY names it") from error
