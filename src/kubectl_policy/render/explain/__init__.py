"""`explain` for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.render.output.formats import Forms

if TYPE_CHECKING:
    from kubectl_policy.questions.explain.kinds import Explanation
    from kubectl_policy.render.output.documents import Shaped
    from kubectl_policy.render.output.text import Document, View


class _Explanation(Forms["Explanation"]):
    def headline(self, answer: Explanation) -> str:
        from kubectl_policy.render.explain.tree import explanation_headline

        return explanation_headline(answer)

    def tree(self, answer: Explanation, view: View) -> Document:
        from kubectl_policy.render.explain.tree import explanation_tree

        return explanation_tree(answer, view)

    def document(self, answer: Explanation) -> Shaped:
        from kubectl_policy.render.explain.documents import EXPLANATION

        return EXPLANATION(answer)


EXPLANATION: Final = _Explanation()
