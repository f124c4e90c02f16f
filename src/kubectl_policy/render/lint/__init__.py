"""`lint` for people, for programs, and for the pages of CI systems."""

from typing import Final

from kubectl_policy.render.output.formats import Forms

LINT: Final = Forms(
    headline="lint.words:lint_headline",
    text="lint.text:lint_text",
    document="lint.documents:LINT_REPORT",
    names="lint.words:objects",
    markdown="lint.markdown:lint_markdown",
    summary="lint.words:lint_headline",
    sarif="lint.sarif:lint_sarif",
    junit="lint.junit:lint_junit",
    github="lint.github:lint_github",
    gitlab="lint.gitlab:lint_gitlab",
)
