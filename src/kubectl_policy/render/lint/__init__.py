"""Report of `lint` as text, SARIF, JUnit and Markdown, and for GitHub and GitLab."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.lazy import LazyFunctions
from kubectl_policy.render.output.formats import Renderers

if TYPE_CHECKING:
    from kubectl_policy.lint.report import Report
    from kubectl_policy.render.lint import github, gitlab, junit, sarif, text, wording
else:
    modules = ("github", "gitlab", "junit", "sarif", "text", "wording")
    github, gitlab, junit, sarif, text, wording = (LazyFunctions(f"{__name__}.{name}") for name in modules)


def _comment(report: Report) -> str:
    from kubectl_policy.render.lint.markdown import LIMIT, markdown

    return markdown(report, LIMIT, marked=True)


LINT: Final = Renderers["Report"](
    kind="LintReport",
    headline=wording.lint_headline,
    text=text.lint_text,
    names=lambda report: dict.fromkeys(finding.subject for finding in report.findings if finding.subject),
    markdown=_comment,
    summary=wording.lint_headline,
    sarif=sarif.lint_sarif,
    junit=junit.lint_junit,
    github=github.lint_github,
    gitlab=gitlab.lint_gitlab,
)
