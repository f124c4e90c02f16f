"""`history` for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.render.output.formats import Forms

if TYPE_CHECKING:
    from kubectl_policy.questions.history import History
    from kubectl_policy.render.output.text import Document, View


class _History(Forms["History"]):
    kind = "EffectHistory"

    def headline(self, answer: History) -> str:
        from kubectl_policy.render.history.tree import history_headline

        return history_headline(answer)

    def tree(self, answer: History, view: View) -> Document:
        from kubectl_policy.render.history.tree import history_tree

        return history_tree(answer, view)


HISTORY: Final = _History()
