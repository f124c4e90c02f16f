"""A matrix as a versioned document."""

from typing import Final

from kubectl_policy.questions.effective.matrix import Matrix
from kubectl_policy.render.effective.words import matrix_headline
from kubectl_policy.render.output.documents import answer_document

MATRIX: Final = answer_document(Matrix, "EffectiveList", matrix_headline)
