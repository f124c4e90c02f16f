"""Descriptions as versioned documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kubectl_policy.questions.describe.description import Descriptions
from kubectl_policy.questions.describe.objects import ObjectDescription
from kubectl_policy.questions.describe.policies import PolicyDescription
from kubectl_policy.render.describe.headline import object_headline
from kubectl_policy.render.output.documents import Field, Shaped, answer_document, document
from kubectl_policy.render.words.headlines import policy_headline

if TYPE_CHECKING:
    from collections.abc import Iterator

OBJECT_DESCRIPTION: Final = answer_document(ObjectDescription, "ObjectDescription", object_headline)
POLICY_DESCRIPTION: Final = answer_document(PolicyDescription, "PolicyDescription", policy_headline)


def _described(answer: Descriptions) -> Iterator[Shaped]:
    return (
        OBJECT_DESCRIPTION(item) if isinstance(item, ObjectDescription) else POLICY_DESCRIPTION(item)
        for item in answer.items
    )


DESCRIPTIONS: Final = document(
    Descriptions,
    "DescriptionList",
    Field(
        "items",
        _described,
        type=tuple[Any, ...],
        doc="An ObjectDescription or a PolicyDescription for each object that was asked about.",
    ),
    doc="The answers about several objects.",
)
