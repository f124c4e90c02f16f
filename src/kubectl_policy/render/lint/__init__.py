"""Report of `lint` as text, SARIF, JUnit and Markdown, and for GitHub and GitLab."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.render.output.formats import Forms

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.lint.report import Report
    from kubectl_policy.model import Json, ObjectRef
    from kubectl_policy.render.output.escape import Commands
    from kubectl_policy.render.output.text import Document, View


class _Lint(Forms["Report"]):
    kind = "LintReport"

    def headline(self, answer: Report) -> str:
        from kubectl_policy.render.lint.wording import lint_headline

        return lint_headline(answer)

    def text(self, answer: Report, view: View) -> Document:
        from kubectl_policy.render.lint.text import lint_text

        return lint_text(answer, view)

    def names(self, answer: Report) -> Iterable[ObjectRef]:
        return dict.fromkeys(finding.subject for finding in answer.findings if finding.subject)

    def markdown(self, answer: Report) -> str:
        from kubectl_policy.render.lint.markdown import LIMIT, markdown

        return markdown(answer, LIMIT, marked=True)

    def summary(self, answer: Report) -> str:
        return self.headline(answer)

    def sarif(self, answer: Report) -> dict[str, Json]:
        from kubectl_policy.render.lint.sarif import lint_sarif

        return lint_sarif(answer)

    def junit(self, answer: Report) -> str:
        from kubectl_policy.render.lint.junit import lint_junit

        return lint_junit(answer)

    def github(self, answer: Report) -> Commands:
        from kubectl_policy.render.lint.github import lint_github

        return lint_github(answer)

    def gitlab(self, answer: Report) -> list[Json]:
        from kubectl_policy.render.lint.gitlab import lint_gitlab

        return lint_gitlab(answer)


LINT: Final = _Lint()
