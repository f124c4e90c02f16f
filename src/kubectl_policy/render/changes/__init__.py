"""`diff` and `blast-radius` for people, for programs and for pull requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kubectl_policy.render.output.formats import Forms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.blast_radius import BlastRadius
    from kubectl_policy.questions.diff import StateDiff
    from kubectl_policy.render.output.columns import Table
    from kubectl_policy.render.output.text import Document, View


class _Diff(Forms["StateDiff"]):
    kind = "PolicyDiff"

    def headline(self, answer: StateDiff) -> str:
        from kubectl_policy.render.changes.headlines import diff_headline

        return diff_headline(answer)

    def tree(self, answer: StateDiff, view: View) -> Document:
        from kubectl_policy.render.changes.tree import diff_tree

        return diff_tree(answer, view)

    def table(self, answer: StateDiff, view: View) -> Sequence[Table[Any]]:
        from kubectl_policy.render.changes.table import diff_table

        return [diff_table(answer, view)]

    def markdown(self, answer: StateDiff) -> str:
        from kubectl_policy.render.changes.markdown import diff_markdown

        return diff_markdown(answer)

    def summary(self, answer: StateDiff) -> str:
        return self.headline(answer)

    def names(self, answer: StateDiff) -> Iterable[ObjectRef]:
        from kubectl_policy.render.changes.table import diff_names

        return diff_names(answer)


class _BlastRadius(Forms["BlastRadius"]):
    kind = "BlastRadius"

    def headline(self, answer: BlastRadius) -> str:
        from kubectl_policy.render.changes.headlines import blast_headline

        return blast_headline(answer)

    def tree(self, answer: BlastRadius, view: View) -> Document:
        from kubectl_policy.render.changes.tree import blast_radius_tree

        return blast_radius_tree(answer, view)

    def table(self, answer: BlastRadius, view: View) -> Sequence[Table[Any]]:
        return DIFF.table(answer.difference, view)

    def markdown(self, answer: BlastRadius) -> str:
        from kubectl_policy.render.changes.markdown import blast_radius_markdown

        return blast_radius_markdown(answer)

    def summary(self, answer: BlastRadius) -> str:
        return self.headline(answer)

    def names(self, answer: BlastRadius) -> Iterable[ObjectRef]:
        return DIFF.names(answer.difference)


DIFF: Final = _Diff()
BLAST_RADIUS: Final = _BlastRadius()
