"""Answers as rows in kubectl's column style: upper-case headers, columns three spaces apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.questions.describe.policies import PolicyDescription
from kubectl_policy.render.output.columns import aligned
from kubectl_policy.render.output.text import Line, Span
from kubectl_policy.render.words.headlines import fully_enforced
from kubectl_policy.render.words.names import attachment_words, flow, node_words, source_words
from kubectl_policy.render.words.which_paths import WhichPaths

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.questions.describe.objects import ObjectDescription
    from kubectl_policy.questions.shared.in_force import InForce
    from kubectl_policy.render.output.text import Document
    from kubectl_policy.render.output.view import View

_SETTING = ("KIND", "FIELD", "VALUE", "SOURCE", "TARGET", "PATHS")
_TARGET = ("POLICY", "TARGET", "STATE", "ENFORCEMENT", "PATHS")


def table(answer: ObjectDescription | PolicyDescription, _: View) -> Document:
    """A row for each effective setting of an object, or for each target of a policy; nothing if there is none."""
    if isinstance(answer, PolicyDescription):
        return rows(_TARGET, [row[: len(_TARGET)] for row in _targets(answer)])
    return rows(_SETTING, [row[: len(_SETTING)] for row in _settings(answer)])


def wide(answer: ObjectDescription | PolicyDescription, _: View) -> Document:
    """`table` with what each setting beat and how its kind merges, or with why a policy is not enforced."""
    if isinstance(answer, PolicyDescription):
        return rows((*_TARGET, "AFFECTS", "BEATEN BY", "REASON"), list(_targets(answer)))
    return rows((*_SETTING, "BEATS", "STRATEGY"), list(_settings(answer)))


def rows(header: Sequence[str], body: Sequence[Sequence[str]]) -> Document:
    """Aligned columns under their header; empty cells are `<none>`, as kubectl writes them."""
    return tuple(Line((Span(line),)) for line in aligned([header, *body])) if body else ()


def _settings(answer: ObjectDescription) -> Iterator[tuple[str, ...]]:
    which = WhichPaths(answer.paths)
    for group in answer.in_force:
        where = _paths(group, which, len(answer.paths))
        strategies = ", ".join(strategy.value for strategy in group.strategies)
        for setting in group.settings:
            yield (
                str(group.kind),
                setting.field,
                "<removed>" if setting.removed else flow(setting.value),
                setting.source.object.qualified_name,
                node_words(setting.source.target),
                where,
                "; ".join(f"{flow(fate.value)} of {source_words(fate.source)}" for fate in setting.beaten),
                strategies,
            )


def _paths(group: InForce, which: WhichPaths, number: int) -> str:
    if len(group.paths) == number:
        return f"all {number}" if number > 1 else "1"
    return which.words(group.paths).removesuffix(" only").removeprefix("paths ").removeprefix("path ")


def _targets(answer: PolicyDescription) -> Iterator[tuple[str, ...]]:
    objects = {node.object for node in answer.affected}
    paths = f"{fully_enforced(answer)}/{len(answer.paths)}"
    beaten_by = ", ".join(map(str, answer.enforcement.by))
    for attachment in answer.attachments:
        yield (
            answer.policy.qualified_name,
            attachment_words(attachment),
            attachment.state,
            answer.enforcement.state,
            paths,
            str(len(objects)),
            beaten_by,
            attachment.message,
        )
