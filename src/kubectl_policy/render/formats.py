"""The output formats: a row of `FORMATS` each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.questions.describe import ObjectDescription
from kubectl_policy.questions.describe_policy import PolicyDescription
from kubectl_policy.render.data import document
from kubectl_policy.render.document import Line, Span
from kubectl_policy.render.policy_tree import policy_tree
from kubectl_policy.render.table import table, wide
from kubectl_policy.render.tree import object_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubectl_policy.render.document import Document
    from kubectl_policy.render.view import View

# PyYAML folds longer strings, which makes them hard to search for.
_UNFOLDED: Final = 2**30
Answer: TypeAlias = ObjectDescription | PolicyDescription


def render(answer: Answer, name: str, view: View) -> Document:
    """The answer in a format. Raises `KeyError` for a format that is none of `FORMATS`."""
    return FORMATS[name](answer, view)


def _tree(answer: Answer, view: View) -> Document:
    return policy_tree(answer, view) if isinstance(answer, PolicyDescription) else object_tree(answer, view)


def _json(answer: Answer, _: View) -> Document:
    # ASCII only: what a name holds can then neither reach a terminal nor be lost on the way to a file.
    return _verbatim(json.dumps(document(answer), indent=2, allow_nan=False))


def _yaml(answer: Answer, view: View) -> Document:
    import yaml  # noqa: PLC0415 (the other formats do without)

    class _WithoutAliases(yaml.SafeDumper):
        """The safe dumper, writing out what occurs twice: nobody wants to read `*id001`."""

        def ignore_aliases(self, data: object) -> bool:
            """Whether a value is never to be written as an alias: all are."""
            del data
            return True

    def dump(*, unicode: bool) -> str:
        return yaml.dump(
            document(answer), Dumper=_WithoutAliases, sort_keys=False, width=_UNFOLDED, allow_unicode=unicode
        ).rstrip("\n")

    text = dump(unicode=view.unicode)
    # PyYAML takes bidirectional controls for printable; written as escapes they mean the same and do nothing.
    return _verbatim(text if all(map(str.isprintable, text.split("\n"))) else dump(unicode=False))


def _name(answer: Answer, _: View) -> Document:
    """`kind.group/name` of the policies that affect an object, or of the objects that a policy affects."""
    if isinstance(answer, PolicyDescription):
        refs = list(dict.fromkeys(node.object for node in answer.affected))
    else:
        refs = list(answer.policies)
    return tuple(Line((Span(f"{str(ref.group_kind).lower()}/{ref.name}"),)) for ref in refs)


def _verbatim(text: str) -> Document:
    return tuple(Line((Span(line),)) for line in text.split("\n"))


FORMATS: Final[Mapping[str, Callable[[Answer, View], Document]]] = {
    "tree": _tree,
    "table": table,
    "wide": wide,
    "yaml": _yaml,
    "json": _json,
    "name": _name,
}
