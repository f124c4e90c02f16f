"""`explain` for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.render.output.formats import Forms

if TYPE_CHECKING:
    from kubectl_policy.questions.explain import Explanation
    from kubectl_policy.render.output.text import Document, View


class _Explanation(Forms["Explanation"]):
    kind = "PolicyKindExplanation"

    def headline(self, answer: Explanation) -> str:
        from kubectl_policy.render.explain.tree import explanation_headline

        return explanation_headline(answer)

    def document(self, answer: Explanation, context: str = "") -> dict[str, object]:
        from kubectl_policy.render.explain.wording import statements

        return {**super().document(answer, context), "statements": tuple(statements(answer))}

    def tree(self, answer: Explanation, view: View) -> Document:
        from kubectl_policy.render.explain.tree import explanation_tree

        return explanation_tree(answer, view)


EXPLANATION: Final = _Explanation()
