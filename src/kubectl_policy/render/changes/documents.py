"""Differences between states, and blast radii, as versioned documents."""

from __future__ import annotations

from typing import Final

from kubectl_policy.questions.changes.blast_radius import BlastRadius
from kubectl_policy.questions.changes.diff import StateDiff
from kubectl_policy.render.changes.headlines import blast_headline, diff_headline
from kubectl_policy.render.output.documents import answer_document

POLICY_DIFF: Final = answer_document(StateDiff, "PolicyDiff", diff_headline)
BLAST_RADIUS: Final = answer_document(BlastRadius, "BlastRadius", blast_headline)
