"""What an API server says is wrong with a field, and where, in its own words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from kubectl_policy.model import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import FieldPath, Json

_LONGEST_SHOWN: Final = 200

# `ErrorType` in k8s.io/apimachinery, pkg/util/validation/field, each with how a message begins.
Reason: TypeAlias = Literal[
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueNotSupported",
    "FieldValueRequired",
    "FieldValueTooLong",
    "FieldValueTooMany",
    "FieldValueTypeInvalid",
]
_WORDS: Final[Mapping[Reason, str]] = {
    "FieldValueDuplicate": "Duplicate value",
    "FieldValueForbidden": "Forbidden",
    "FieldValueInvalid": "Invalid value",
    "FieldValueNotSupported": "Unsupported value",
    "FieldValueRequired": "Required value",
    "FieldValueTooLong": "Too long",
    "FieldValueTooMany": "Too many",
    "FieldValueTypeInvalid": "Invalid value",
}
# With these, an API server evaluates no rule of an object (`hasBlockingErr`).
HIDE_RULES: Final = frozenset(
    {"FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany", "FieldValueTypeInvalid"}
)


class MapKey(str):
    """A key that somebody chose, rather than the name of a field: the API server writes it in brackets."""

    __slots__ = ()


def refused(field: FieldPath, reason: Reason, *details: str) -> Problem:
    """What is wrong with a field."""
    return Problem(message=": ".join((_WORDS[reason], *details)), reason=reason, field=field)


def unchecked(field: FieldPath, why: str) -> Problem:
    """That it is not known whether a field is in order."""
    return Problem(message=why, field=field, certain=False)


def shown(value: Json) -> str:
    """A value as the API server writes it, in JSON; a long one is cut."""
    import json  # noqa: PLC0415 (only a problem needs it)

    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def spelled(field: FieldPath) -> str:
    """A path as the API server writes it."""
    steps = (f"[{step}]" if isinstance(step, int | MapKey) else f".{step}" for step in field.steps)
    return "".join(steps).removeprefix(".")
