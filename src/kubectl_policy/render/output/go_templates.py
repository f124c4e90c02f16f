"""`-o go-template=`: a template of the user's, as kubectl fills it in.

A library parses and evaluates it. It takes attributes of Python's objects for fields unless it is confined, and it
refuses to compare an absent value with another one, which is added here with the two functions that kubectl has.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as NotBase64
from typing import TYPE_CHECKING, Final

import gotpl

from kubectl_policy.errors import UsageError
from kubectl_policy.render.output.escape import escape_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.render.output.text import View

_HINT: Final = "for example: get routes -o go-template='{{range .items}}{{.object.name}}{{\"\\n\"}}{{end}}'"
# A template that includes itself forever ends with an error.
_MAX_DEPTH: Final = 100


def _exists(value: Json, *keys: object) -> bool:
    """Whether a value has a field or an item at the end of some keys."""
    for key in keys:
        match value, key:
            case dict(), str() if key in value:
                value = value[key]
            case list(), int() if 0 <= key < len(value):
                value = value[key]
            case _:
                return False
    return True


def _decoded(text: object) -> str:
    try:
        return b64decode(str(text), validate=True).decode("utf-8", "replace")
    except NotBase64 as error:
        raise ValueError(f'"{text}" is not base64') from error


def _type_of(value: object) -> type | None:
    """Return the type by which values compare: None for an absent one, and for null."""
    return next((type_ for type_ in (bool, int, float, str, dict, list) if isinstance(value, type_)), None)


def _equals(first: object, *others: object) -> bool:
    """Whether a value equals one of several others; an absent one equals only an absent one, as in Go."""
    if not others:
        raise ValueError("missing argument for comparison")
    for other in others:
        types = {_type_of(first), _type_of(other)}
        if types & {dict, list}:
            raise ValueError("non-comparable type")
        if len(types) > 1 and None not in types:
            raise ValueError("incompatible types for comparison")
        if types == {None} or (len(types) == 1 and first == other):
            return True
    return False


def _differs(first: object, second: object) -> bool:
    return not _equals(first, second)


_FUNCTIONS: Final[Mapping[str, Callable[..., object]]] = {
    "exists": _exists,
    "base64decode": _decoded,
    "eq": _equals,
    "ne": _differs,
}


class GoTemplate:
    """A template of `-o go-template=`."""

    def __init__(self, text: str) -> None:
        """Parse it. Raises `UsageError` for one that is malformed."""
        limits = gotpl.ExecutionBudget(max_template_depth=_MAX_DEPTH)
        confined = gotpl.SandboxPolicy(allow_functions=_FUNCTIONS, default_budget=limits)
        try:
            self._template = gotpl.Template(text, name="output", functions=_FUNCTIONS, sandbox=confined)
        except gotpl.TemplateError as error:
            raise _refused(error) from error

    def shown(self, document: Json, view: View) -> str:
        """Fill in the template. Raises `UsageError` for one that the document does not fit."""
        del view
        try:
            return escape_lines(self._template.render(document))
        except gotpl.TemplateError as error:
            raise _refused(error) from error

    def lacking(self, document: Json, shown: str) -> list[str]:
        """Return nothing: what the document lacks is shown, as `<no value>`."""
        del document, shown
        return []


def _refused(error: gotpl.TemplateError) -> UsageError:
    # The position stands before the message, after the name of the template in one of two forms.
    message = str(error).removeprefix("template: ").removeprefix("template:").removeprefix("output:")
    return UsageError(f"-o go-template: {message}", _HINT)
