"""`describe` for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kubectl_policy.render.output.formats import Forms

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.describe.objects import ObjectDescription
    from kubectl_policy.questions.describe.policies import PolicyDescription
    from kubectl_policy.questions.describe.several import Descriptions
    from kubectl_policy.render.output.columns import Table, Tables
    from kubectl_policy.render.output.documents import Shaped
    from kubectl_policy.render.output.text import Document, View


class _Object(Forms["ObjectDescription"]):
    def headline(self, answer: ObjectDescription) -> str:
        from kubectl_policy.render.describe.headline import object_headline

        return object_headline(answer)

    def tree(self, answer: ObjectDescription, view: View) -> Document:
        from kubectl_policy.render.describe.objects import object_tree

        return object_tree(answer, view)

    def table(self, answer: ObjectDescription, view: View) -> Table[Any] | Tables:
        from kubectl_policy.render.describe.table import settings

        return settings(answer, view)

    def document(self, answer: ObjectDescription) -> Shaped:
        from kubectl_policy.render.describe.documents import OBJECT_DESCRIPTION

        return OBJECT_DESCRIPTION(answer)

    def names(self, answer: ObjectDescription) -> Iterable[ObjectRef]:
        from kubectl_policy.render.describe.objects import policies_in_force

        return policies_in_force(answer)

    rows_suffice = True


class _Several(Forms["Descriptions"]):
    def headline(self, answer: Descriptions) -> str:
        from kubectl_policy.render.describe.several import several_headline

        return several_headline(answer)

    def tree(self, answer: Descriptions, view: View) -> Document:
        from kubectl_policy.render.describe.several import several_tree

        return several_tree(answer, view)

    def table(self, answer: Descriptions, view: View) -> Table[Any] | Tables:
        from kubectl_policy.render.describe.several import several_tables

        return several_tables(answer, view)

    def document(self, answer: Descriptions) -> Shaped:
        from kubectl_policy.render.describe.documents import DESCRIPTIONS

        return DESCRIPTIONS(answer)

    def names(self, answer: Descriptions) -> Iterable[ObjectRef]:
        from kubectl_policy.render.describe.several import several_names

        return several_names(answer)

    rows_suffice = True


class _Policy(Forms["PolicyDescription"]):
    def headline(self, answer: PolicyDescription) -> str:
        from kubectl_policy.render.words.headlines import policy_headline

        return policy_headline(answer)

    def tree(self, answer: PolicyDescription, view: View) -> Document:
        from kubectl_policy.render.describe.policies import policy_tree

        return policy_tree(answer, view)

    def table(self, answer: PolicyDescription, view: View) -> Table[Any] | Tables:
        from kubectl_policy.render.describe.policies import targets

        return targets(answer, view)

    def document(self, answer: PolicyDescription) -> Shaped:
        from kubectl_policy.render.describe.documents import POLICY_DESCRIPTION

        return POLICY_DESCRIPTION(answer)

    def names(self, answer: PolicyDescription) -> Iterable[ObjectRef]:
        from kubectl_policy.render.describe.policies import affected_objects

        return affected_objects(answer)

    rows_suffice = True


OBJECT: Final = _Object()
SEVERAL: Final = _Several()
POLICY: Final = _Policy()
