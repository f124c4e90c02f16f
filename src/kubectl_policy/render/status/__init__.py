"""`status` for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kubectl_policy.render.output.formats import Forms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.status.report import StatusReport
    from kubectl_policy.render.output.columns import Table
    from kubectl_policy.render.output.text import Document, View


class _Status(Forms["StatusReport"]):
    kind = "StatusComparison"

    def headline(self, answer: StatusReport) -> str:
        from kubectl_policy.render.wording.headlines import status_headline

        return status_headline(answer)

    def tree(self, answer: StatusReport, view: View) -> Document:
        from kubectl_policy.render.status.text import status_tree

        return status_tree(answer, view)

    def table(self, answer: StatusReport, view: View) -> Sequence[Table[Any]]:
        from kubectl_policy.render.status.text import status_table

        return [status_table(answer, view)]

    def names(self, answer: StatusReport) -> Iterable[ObjectRef]:
        return (status.resource.ref for status in answer.items if not status.agrees)

    def hints(self, answer: StatusReport) -> Sequence[str]:
        from kubectl_policy.render.wording.next_commands import elsewhere_hint

        return elsewhere_hint(answer.elsewhere, answer.noun)


STATUS: Final = _Status()
