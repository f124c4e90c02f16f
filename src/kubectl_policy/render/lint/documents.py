"""What linting says as a versioned document. Nothing is cut."""

from __future__ import annotations

from typing import Final

from kubectl_policy.lint.report import Report
from kubectl_policy.render.lint.words import lint_headline
from kubectl_policy.render.output.documents import answer_document

LINT_REPORT: Final = answer_document(Report, "LintReport", lint_headline)
