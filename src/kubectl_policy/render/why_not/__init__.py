"""`why-not` for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.render.output.formats import Forms

if TYPE_CHECKING:
    from kubectl_policy.questions.why_not.answer import WhyNot
    from kubectl_policy.render.output.text import Document, View


class _WhyNot(Forms["WhyNot"]):
    kind = "EffectExplanation"

    def headline(self, answer: WhyNot) -> str:
        from kubectl_policy.render.wording.headlines import why_not_headline

        return why_not_headline(answer)

    def tree(self, answer: WhyNot, view: View) -> Document:
        from kubectl_policy.render.why_not.tree import why_not_tree

        return why_not_tree(answer, view)


WHY_NOT: Final = _WhyNot()
