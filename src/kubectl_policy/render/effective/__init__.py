"""`get effective` for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kubectl_policy.render.output.formats import Forms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.matrix import Matrix
    from kubectl_policy.render.output.columns import Table
    from kubectl_policy.render.output.text import View


class _Effective(Forms["Matrix"]):
    kind = "EffectiveList"

    def headline(self, answer: Matrix) -> str:
        from kubectl_policy.render.effective.table import matrix_headline

        return matrix_headline(answer)

    def table(self, answer: Matrix, view: View) -> Sequence[Table[Any]]:
        from kubectl_policy.render.effective.table import matrix_table

        return [matrix_table(answer, view)]

    def names(self, answer: Matrix) -> Iterable[ObjectRef]:
        return dict.fromkeys(row.subject.object for row in answer.items)

    def remarks(self, answer: Matrix, *, empty: bool, complete: bool) -> Sequence[str]:
        from kubectl_policy.render.effective.table import matrix_remarks

        del complete
        return matrix_remarks(answer, empty=empty)


EFFECTIVE: Final = _Effective()
