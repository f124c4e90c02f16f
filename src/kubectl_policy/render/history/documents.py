"""The history of an object's effective settings as a versioned document."""

from __future__ import annotations

from typing import Final

from kubectl_policy.questions.history.history import History
from kubectl_policy.render.history.tree import history_headline
from kubectl_policy.render.output.documents import answer_document

EFFECT_HISTORY: Final = answer_document(History, "EffectHistory", history_headline)
