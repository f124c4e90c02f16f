"""The output formats: a row of `FORMATS` each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.questions.describe.objects import ObjectDescription
from kubectl_policy.questions.describe.policies import PolicyDescription
from kubectl_policy.render.describe.documents import document
from kubectl_policy.render.describe.objects import object_tree
from kubectl_policy.render.describe.policies import policy_tree
from kubectl_policy.render.describe.table import table, wide
from kubectl_policy.render.output.encode import as_json, as_yaml
from kubectl_policy.render.output.text import Line, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubectl_policy.render.output.text import Document
    from kubectl_policy.render.output.view import View

Answer: TypeAlias = ObjectDescription | PolicyDescription


def render(answer: Answer, name: str, view: View) -> Document:
    """The answer in a format. Raises `KeyError` for a format that is none of `FORMATS`."""
    return FORMATS[name](answer, view)


def _tree(answer: Answer, view: View) -> Document:
    return policy_tree(answer, view) if isinstance(answer, PolicyDescription) else object_tree(answer, view)


def _json(answer: Answer, _: View) -> Document:
    return verbatim(as_json(document(answer)))


def _yaml(answer: Answer, view: View) -> Document:
    return verbatim(as_yaml(document(answer), unicode=view.unicode))


def _name(answer: Answer, _: View) -> Document:
    """`kind.group/name` of the policies that affect an object, or of the objects that a policy affects."""
    if isinstance(answer, PolicyDescription):
        refs = list(dict.fromkeys(node.object for node in answer.affected))
    else:
        refs = list(answer.policies)
    return tuple(Line((Span(f"{str(ref.group_kind).lower()}/{ref.name}"),)) for ref in refs)


def verbatim(text: str) -> Document:
    """Text that is laid out already, line by line."""
    return tuple(Line((Span(line),)) for line in text.split("\n"))


FORMATS: Final[Mapping[str, Callable[[Answer, View], Document]]] = {
    "tree": _tree,
    "table": table,
    "wide": wide,
    "yaml": _yaml,
    "json": _json,
    "name": _name,
}
