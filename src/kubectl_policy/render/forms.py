"""The forms of answers: for each, the renderers of its text, tables, names and pictures, imported at a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kubectl_policy.render.output.formats import Forms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.blast_radius import BlastRadius
    from kubectl_policy.questions.describe.description import Description, Descriptions
    from kubectl_policy.questions.describe.objects import ObjectDescription
    from kubectl_policy.questions.describe.policies import PolicyDescription
    from kubectl_policy.questions.diff import StateDiff
    from kubectl_policy.questions.explain import Explanation
    from kubectl_policy.questions.graph.picture import Picture
    from kubectl_policy.questions.history import History
    from kubectl_policy.questions.lists import Lists
    from kubectl_policy.questions.matrix import Matrix
    from kubectl_policy.questions.shared.selection import RowSort
    from kubectl_policy.questions.status.report import StatusReport
    from kubectl_policy.questions.why_not.answer import WhyNot
    from kubectl_policy.render.output.columns import Table
    from kubectl_policy.render.output.text import Document, Line, View


class _ObjectDescription(Forms["ObjectDescription"]):
    kind = "ObjectDescription"

    def headline(self, answer: ObjectDescription) -> str:
        from kubectl_policy.render.describe.headline import object_headline

        return object_headline(answer)

    def tree(self, answer: ObjectDescription, view: View) -> Document:
        from kubectl_policy.render.describe.objects import object_text

        return object_text(answer, view)

    def table(self, answer: ObjectDescription, view: View) -> Sequence[Table[Any]]:
        del view
        from kubectl_policy.render.describe.objects import settings_of

        return [settings_of([answer], named=False)]

    def names(self, answer: ObjectDescription) -> Iterable[ObjectRef]:
        return answer.policies

    rows_suffice = True


class _PolicyDescription(Forms["PolicyDescription"]):
    kind = "PolicyDescription"

    def headline(self, answer: PolicyDescription) -> str:
        from kubectl_policy.render.wording.headlines import policy_headline

        return policy_headline(answer)

    def tree(self, answer: PolicyDescription, view: View) -> Document:
        from kubectl_policy.render.describe.policies import policy_text

        return policy_text(answer, view)

    def table(self, answer: PolicyDescription, view: View) -> Sequence[Table[Any]]:
        del view
        from kubectl_policy.render.describe.policies import targets_of

        return [targets_of([answer])]

    def names(self, answer: PolicyDescription) -> Iterable[ObjectRef]:
        return dict.fromkeys(node.object for node in answer.affected)

    rows_suffice = True


OBJECT_DESCRIPTION: Final = _ObjectDescription()
POLICY_DESCRIPTION: Final = _PolicyDescription()


def _forms_of(item: Description) -> Forms[Any]:
    from kubectl_policy.questions.describe.objects import ObjectDescription

    return OBJECT_DESCRIPTION if isinstance(item, ObjectDescription) else POLICY_DESCRIPTION


class _Descriptions(Forms["Descriptions"]):
    """Answers about several objects, one after another."""

    def headline(self, answer: Descriptions) -> str:
        return " ".join(_forms_of(item).headline(item) for item in answer.items)

    def document(self, answer: Descriptions, context: str = "") -> dict[str, object]:
        from kubectl_policy.render.output.encoding import envelope

        items = [_forms_of(item).document(item) for item in answer.items]
        return envelope("DescriptionList", {"items": items}, context)

    def tree(self, answer: Descriptions, view: View) -> Document:
        from kubectl_policy.render.wording.sections import BLANK

        lines: list[Line] = []
        for item in answer.items:
            lines += (*((BLANK, BLANK) if lines else ()), *_forms_of(item).tree(item, view))
        return tuple(lines)

    def table(self, answer: Descriptions, view: View) -> Sequence[Table[Any]]:
        del view
        from kubectl_policy.questions.describe.objects import ObjectDescription
        from kubectl_policy.questions.describe.policies import PolicyDescription
        from kubectl_policy.render.describe.objects import settings_of
        from kubectl_policy.render.describe.policies import targets_of

        objects = [item for item in answer.items if isinstance(item, ObjectDescription)]
        policies = [item for item in answer.items if isinstance(item, PolicyDescription)]
        return [settings_of(objects, named=True), targets_of(policies)]

    def names(self, answer: Descriptions) -> Iterable[ObjectRef]:
        return dict.fromkeys(ref for item in answer.items for ref in _forms_of(item).names(item))

    rows_suffice = True


DESCRIPTIONS: Final = _Descriptions()


KINDS: Final[Mapping[RowSort, str]] = {
    "policies": "PolicyList",
    "policy kinds": "PolicyKindList",
    "gateway classes": "GatewayClassList",
    "gateways": "GatewayList",
    "listener sets": "ListenerSetList",
    "listeners": "ListenerList",
    "routes": "RouteList",
    "backends": "BackendList",
    "namespaces": "NamespaceList",
}


class _Lists(Forms["Lists"]):
    def headline(self, answer: Lists) -> str:
        from kubectl_policy.render.wording.headlines import list_headline

        return " ".join(map(list_headline, answer.lists))

    def table(self, answer: Lists, view: View) -> Sequence[Table[Any]]:
        from kubectl_policy.render.lists import list_tables

        return list_tables(answer, view)

    def document(self, answer: Lists, context: str = "") -> dict[str, object]:
        from kubectl_policy.render.output.encoding import document, envelope
        from kubectl_policy.render.wording.headlines import list_headline

        only = context if len(answer.lists) == 1 else ""
        items = [document(KINDS[listing.type.rows], list_headline(listing), listing, only) for listing in answer.lists]
        if len(items) == 1:
            return items[0]
        head = {"headline": self.headline(answer), "complete": not answer.unseen}
        return envelope("Lists", {**head, "items": items}, context)

    def names(self, answer: Lists) -> Iterable[ObjectRef]:
        # Of a policy kind it is its definition, of a listener what it belongs to.
        return dict.fromkeys(row.ref for listing in answer.lists for row in listing.rows)

    def remarks(self, answer: Lists, *, empty: bool, complete: bool) -> Sequence[str]:
        from kubectl_policy.render.lists import list_remarks

        del complete
        return list_remarks(answer, empty=empty)


LISTS: Final = _Lists()


class _Effective(Forms["Matrix"]):
    kind = "EffectiveList"

    def headline(self, answer: Matrix) -> str:
        from kubectl_policy.render.matrix import matrix_headline

        return matrix_headline(answer)

    def table(self, answer: Matrix, view: View) -> Sequence[Table[Any]]:
        from kubectl_policy.render.matrix import matrix_table

        return [matrix_table(answer, view)]

    def names(self, answer: Matrix) -> Iterable[ObjectRef]:
        return dict.fromkeys(row.subject.object for row in answer.items)

    def remarks(self, answer: Matrix, *, empty: bool, complete: bool) -> Sequence[str]:
        from kubectl_policy.render.matrix import matrix_remarks

        del complete
        return matrix_remarks(answer, empty=empty)


EFFECTIVE: Final = _Effective()


class _Explanation(Forms["Explanation"]):
    kind = "PolicyKindExplanation"

    def headline(self, answer: Explanation) -> str:
        from kubectl_policy.render.explain.statements import explanation_headline

        return explanation_headline(answer)

    def document(self, answer: Explanation, context: str = "") -> dict[str, object]:
        from kubectl_policy.render.explain.statements import statements

        return {**super().document(answer, context), "statements": tuple(statements(answer))}

    def tree(self, answer: Explanation, view: View) -> Document:
        from kubectl_policy.render.explain.statements import explanation_text

        return explanation_text(answer, view)


EXPLANATION: Final = _Explanation()


class _Status(Forms["StatusReport"]):
    kind = "StatusComparison"

    def headline(self, answer: StatusReport) -> str:
        from kubectl_policy.render.wording.headlines import status_headline

        return status_headline(answer)

    def tree(self, answer: StatusReport, view: View) -> Document:
        from kubectl_policy.render.status import status_text

        return status_text(answer, view)

    def table(self, answer: StatusReport, view: View) -> Sequence[Table[Any]]:
        from kubectl_policy.render.status import status_table

        return [status_table(answer, view)]

    def names(self, answer: StatusReport) -> Iterable[ObjectRef]:
        return (status.resource.ref for status in answer.items if not status.agrees)

    def hints(self, answer: StatusReport) -> Sequence[str]:
        from kubectl_policy.render.wording.sections import elsewhere_hint

        return elsewhere_hint(answer.elsewhere, answer.noun)


STATUS: Final = _Status()


class _WhyNot(Forms["WhyNot"]):
    kind = "EffectExplanation"

    def headline(self, answer: WhyNot) -> str:
        from kubectl_policy.render.wording.headlines import why_not_headline

        return why_not_headline(answer)

    def tree(self, answer: WhyNot, view: View) -> Document:
        from kubectl_policy.render.why_not import why_not_text

        return why_not_text(answer, view)


WHY_NOT: Final = _WhyNot()


class _Diff(Forms["StateDiff"]):
    kind = "PolicyDiff"

    def headline(self, answer: StateDiff) -> str:
        from kubectl_policy.render.changes.headlines import diff_headline

        return diff_headline(answer)

    def tree(self, answer: StateDiff, view: View) -> Document:
        from kubectl_policy.render.changes.text import diff_text

        return diff_text(answer, view)

    def table(self, answer: StateDiff, view: View) -> Sequence[Table[Any]]:
        from kubectl_policy.render.changes.rows import diff_table

        return [diff_table(answer, view)]

    def markdown(self, answer: StateDiff) -> str:
        from kubectl_policy.render.changes.rows import diff_markdown

        return diff_markdown(answer)

    def summary(self, answer: StateDiff) -> str:
        return self.headline(answer)

    def names(self, answer: StateDiff) -> Iterable[ObjectRef]:
        from kubectl_policy.render.changes.rows import diff_names

        return diff_names(answer)


class _BlastRadius(Forms["BlastRadius"]):
    kind = "BlastRadius"

    def headline(self, answer: BlastRadius) -> str:
        from kubectl_policy.render.changes.headlines import blast_headline

        return blast_headline(answer)

    def tree(self, answer: BlastRadius, view: View) -> Document:
        from kubectl_policy.render.changes.text import blast_radius_text

        return blast_radius_text(answer, view)

    def table(self, answer: BlastRadius, view: View) -> Sequence[Table[Any]]:
        return DIFF.table(answer.difference, view)

    def markdown(self, answer: BlastRadius) -> str:
        from kubectl_policy.render.changes.rows import blast_radius_markdown

        return blast_radius_markdown(answer)

    def summary(self, answer: BlastRadius) -> str:
        return self.headline(answer)

    def names(self, answer: BlastRadius) -> Iterable[ObjectRef]:
        return DIFF.names(answer.difference)


DIFF: Final = _Diff()
BLAST_RADIUS: Final = _BlastRadius()


class _History(Forms["History"]):
    kind = "EffectHistory"

    def headline(self, answer: History) -> str:
        from kubectl_policy.render.history import history_headline

        return history_headline(answer)

    def tree(self, answer: History, view: View) -> Document:
        from kubectl_policy.render.history import history_text

        return history_text(answer, view)


HISTORY: Final = _History()


class _Graph(Forms["Picture"]):
    kind = "Graph"

    def headline(self, answer: Picture) -> str:
        from kubectl_policy.render.graph.wording import graph_headline

        return graph_headline(answer)

    def tree(self, answer: Picture, view: View) -> Document:
        from kubectl_policy.render.graph.tree import graph_tree

        return graph_tree(answer, view)

    def dot(self, answer: Picture, view: View) -> str:
        from kubectl_policy.render.graph.dot import graph_dot

        return graph_dot(answer, view)

    def mermaid(self, answer: Picture, view: View) -> str:
        from kubectl_policy.render.graph.mermaid import graph_mermaid

        return graph_mermaid(answer, view)

    def html(self, answer: Picture, view: View) -> str:
        from kubectl_policy.render.graph.page import graph_page

        return graph_page(answer, view)

    redirected = "dot"


GRAPH: Final = _Graph()
