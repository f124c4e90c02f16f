"""`describe` for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kubectl_policy.render.output.formats import Forms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.describe.description import Description, Descriptions
    from kubectl_policy.questions.describe.objects import ObjectDescription
    from kubectl_policy.questions.describe.policies import PolicyDescription
    from kubectl_policy.render.output.columns import Table
    from kubectl_policy.render.output.text import Document, Line, View


class _Object(Forms["ObjectDescription"]):
    kind = "ObjectDescription"

    def headline(self, answer: ObjectDescription) -> str:
        from kubectl_policy.render.describe.headline import object_headline

        return object_headline(answer)

    def tree(self, answer: ObjectDescription, view: View) -> Document:
        from kubectl_policy.render.describe.objects import object_tree

        return object_tree(answer, view)

    def table(self, answer: ObjectDescription, view: View) -> Sequence[Table[Any]]:
        del view
        from kubectl_policy.render.describe.objects import settings_of

        return [settings_of([answer], named=False)]

    def names(self, answer: ObjectDescription) -> Iterable[ObjectRef]:
        return answer.policies

    rows_suffice = True


class _Policy(Forms["PolicyDescription"]):
    kind = "PolicyDescription"

    def headline(self, answer: PolicyDescription) -> str:
        from kubectl_policy.render.wording.headlines import policy_headline

        return policy_headline(answer)

    def tree(self, answer: PolicyDescription, view: View) -> Document:
        from kubectl_policy.render.describe.policies import policy_tree

        return policy_tree(answer, view)

    def table(self, answer: PolicyDescription, view: View) -> Sequence[Table[Any]]:
        del view
        from kubectl_policy.render.describe.policies import targets_of

        return [targets_of([answer])]

    def names(self, answer: PolicyDescription) -> Iterable[ObjectRef]:
        return dict.fromkeys(node.object for node in answer.affected)

    rows_suffice = True


OBJECT: Final = _Object()
POLICY: Final = _Policy()


def _forms(item: Description) -> Forms[Any]:
    from kubectl_policy.questions.describe.objects import ObjectDescription

    return OBJECT if isinstance(item, ObjectDescription) else POLICY


class _Several(Forms["Descriptions"]):
    """Answers about several objects, one after another."""

    def headline(self, answer: Descriptions) -> str:
        return " ".join(_forms(item).headline(item) for item in answer.items)

    def document(self, answer: Descriptions, context: str = "") -> dict[str, object]:
        from kubectl_policy.render.output.encoding import envelope

        items = [_forms(item).document(item) for item in answer.items]
        return envelope("DescriptionList", {"items": items}, context)

    def tree(self, answer: Descriptions, view: View) -> Document:
        from kubectl_policy.render.wording.sections import BLANK

        lines: list[Line] = []
        for item in answer.items:
            lines += (*((BLANK, BLANK) if lines else ()), *_forms(item).tree(item, view))
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
        return dict.fromkeys(ref for item in answer.items for ref in _forms(item).names(item))

    rows_suffice = True


SEVERAL: Final = _Several()
