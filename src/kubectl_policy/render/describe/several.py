"""The answers about several objects, one after another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.questions.describe.objects import ObjectDescription
from kubectl_policy.render.describe.headline import object_headline
from kubectl_policy.render.describe.objects import object_tree, policies_in_force
from kubectl_policy.render.describe.policies import affected_objects, policy_tree, targets_of
from kubectl_policy.render.describe.table import settings_of
from kubectl_policy.render.output.columns import Tables
from kubectl_policy.render.words.headlines import policy_headline
from kubectl_policy.render.words.sections import BLANK

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.describe.policies import PolicyDescription
    from kubectl_policy.questions.describe.several import Descriptions
    from kubectl_policy.render.output.text import Document, Line, View


def several_headline(answer: Descriptions) -> str:
    """The sentences that the answers open with."""
    return " ".join(_headline(item) for item in answer.items)


def _headline(item: ObjectDescription | PolicyDescription) -> str:
    return object_headline(item) if isinstance(item, ObjectDescription) else policy_headline(item)


def several_tree(answer: Descriptions, view: View) -> Document:
    """The answers with blank lines between them."""
    lines: list[Line] = []
    for item in answer.items:
        tree = object_tree(item, view) if isinstance(item, ObjectDescription) else policy_tree(item, view)
        lines += (*((BLANK, BLANK) if lines else ()), *tree)
    return tuple(lines)


def several_tables(answer: Descriptions, _: View) -> Tables:
    """The settings of all objects with the objects that they are in force on, then the targets of all policies."""
    objects = [item for item in answer.items if isinstance(item, ObjectDescription)]
    policies = [item for item in answer.items if not isinstance(item, ObjectDescription)]
    return Tables((settings_of(objects), targets_of(policies)))


def several_names(answer: Descriptions) -> Iterable[ObjectRef]:
    """The policies that affect objects, and the objects that policies affect, each once."""
    return dict.fromkeys(
        ref
        for item in answer.items
        for ref in (policies_in_force(item) if isinstance(item, ObjectDescription) else affected_objects(item))
    )
