"""Computed against reported as a versioned document."""

from __future__ import annotations

from typing import Final

from kubectl_policy.questions.status.report import StatusReport
from kubectl_policy.render.output.documents import answer_document
from kubectl_policy.render.words.headlines import status_headline

STATUS_COMPARISON: Final = answer_document(StatusReport, "StatusComparison", status_headline)
