"""Findings as annotations in a GitHub workflow, and the summary of a step."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from kubectl_policy.render.lint.locations import path_of
from kubectl_policy.render.lint.markdown import markdown
from kubectl_policy.render.lint.text import lint_body
from kubectl_policy.render.lint.wording import lint_headline, notes, rule_label, sentence, worst_first
from kubectl_policy.render.output.escape import Commands, escape_commands, escape_controls
from kubectl_policy.render.output.text import View, to_text
from kubectl_policy.render.wording.names import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.lint.report import Report
    from kubectl_policy.model import Severity

# A step has so many annotations of each severity, and a summary of less than 1 MiB.
MAX_ANNOTATIONS: Final = 10
SUMMARY_LIMIT: Final = 1_000_000
_COMMANDS: Final[Mapping[Severity, str]] = {"error": "error", "warning": "warning", "info": "notice"}
# No line of a log needs to be broken.
_WIDTH: Final = 10_000


def lint_github(report: Report) -> Commands:
    """Return the worst findings as annotations, as many as GitHub shows, then the text of all in a group."""
    findings = worst_first(report.findings)
    shown = [
        finding
        for severity in _COMMANDS
        for finding in islice((finding for finding in findings if finding.severity_ == severity), MAX_ANNOTATIONS)
    ]
    overflow: list[str] = []
    if len(shown) < len(findings):
        notices = [finding for finding in shown if finding.severity_ == "info"]
        shown = [finding for finding in shown if finding.severity_ != "info"] + notices[: MAX_ANNOTATIONS - 1]
        remaining = count(len(findings) - len(shown), "more finding")
        message = f"{remaining} in the log and the summary of this step"
        overflow.append(_command("notice", message, title="kubectl policy lint"))
    lines = [*(_annotation(finding, report) for finding in shown), *overflow, *_log(report)]
    return Commands("".join(f"{line}\n" for line in lines))


def _annotation(finding: Finding, report: Report) -> str:
    path = path_of(finding.origin, report)
    line = str(finding.origin.line) if path and finding.origin else ""
    message = "\n".join(map(escape_controls, (sentence(finding), *notes(finding))))
    return _command(
        _COMMANDS[finding.severity_], message, file=escape_controls(path), line=line, title=rule_label(finding)
    )


def _command(name: str, message: str, **properties: str) -> str:
    """Return a workflow command: `::error file=shop.yaml,line=14::...`."""
    escaped = {key: _data(value).replace(":", "%3A").replace(",", "%2C") for key, value in properties.items() if value}
    pairs = ",".join(f"{key}={value}" for key, value in escaped.items())
    return f"::{name} {pairs}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _log(report: Report) -> Iterator[str]:
    """Yield the text for the log, without workflow commands in it."""
    text = to_text(lint_body(report, View(width=_WIDTH)), _WIDTH)
    if text:
        yield f"::group::{count(len(report.findings), 'finding')}"
        yield escape_commands(text.removesuffix("\n"))
        yield "::endgroup::"
    yield escape_commands(escape_controls(lint_headline(report)))


def github_summary(report: Report) -> str:
    """Return the findings in Markdown for the file that `GITHUB_STEP_SUMMARY` names."""
    return markdown(report, SUMMARY_LIMIT, marked=False)
