"""What a schema demands of types, enumerations, numbers and text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import integer_at, items_at, text_at
from kubectl_policy.validation.expressions import matches
from kubectl_policy.validation.finding import Finding, invalid, shown, unchecked
from kubectl_policy.validation.formats import format_of, is_of_format

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Json
    from kubectl_policy.validation.budget import Budget

# A boolean is an integer to Python but not to an API.
_TYPES: Final = (
    (type(None), "null"),
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (Mapping, "object"),
    ((list, tuple), "array"),
)
_FORMATS_OF_NUMBERS: Final = {"integer": "int64", "number": "float64"}
_BITS: Final = {"int32": 31, "int64": 63}


def type_of(value: Json) -> str:
    """The type of a value in the words of JSON schema; empty for what is no JSON."""
    return next((words for kind, words in _TYPES if isinstance(value, kind)), "")


def same(one: Json, other: Json) -> bool:
    """Whether two values are the same JSON: a boolean is no number."""
    return isinstance(one, bool) is isinstance(other, bool) and one == other


def type_findings(value: Json, schema: Mapping[str, Json], field: str) -> Iterator[Finding]:
    """That a value is of another type than it must be."""
    wanted, actual, form = _types(schema), type_of(value), format_of(schema)
    if not wanted or actual in wanted or (value is None and schema.get("nullable") is True):
        return
    if isinstance(value, float) and value.is_integer() and "integer" in wanted:
        return
    if actual == "integer" and "number" in wanted:
        return
    if form and actual not in {"null", "string", "array"}:
        yield _wrong_type(field, form, _FORMATS_OF_NUMBERS.get(actual, ""))
    # So has the API server it: a list is text if the text has a format.
    elif not (form and actual == "array" and wanted == ["string"]):
        yield _wrong_type(field, ",".join(wanted), actual)


def _types(schema: Mapping[str, Json]) -> list[str]:
    if schema.get("x-kubernetes-int-or-string") is True:
        return ["integer", "string"]
    wanted = text_at(schema, "type")
    return [wanted] if wanted else []


def _wrong_type(field: str, wanted: str, actual: str) -> Finding:
    return invalid(field, actual, f"{field} in body must be of type {wanted}: {shown(actual)}", hides_rules=True)


def enum_findings(value: Json, schema: Mapping[str, Json], field: str) -> Iterator[Finding]:
    """That a value is none of those that are allowed."""
    allowed = items_at(schema, "enum")
    if allowed and (value is None or not any(same(value, one) for one in allowed)):
        names = ", ".join(shown(one if isinstance(one, str) else shown(one)) for one in allowed)
        yield Finding(field, f"Unsupported value: {shown(value)}: supported values: {names}", hides_rules=True)


def number_findings(value: float, schema: Mapping[str, Json], field: str) -> Iterator[Finding]:
    """That a number is too large or too small, or is no multiple of what it must be one of."""
    bits = _BITS.get(format_of(schema) or "int64", 63)
    if isinstance(value, int) and text_at(schema, "type") == "integer" and not -(2**bits) <= value < 2**bits:
        yield invalid(field, value, f"{field} in body must be of type integer with format int{bits + 1}")
    least, most = _number_at(schema, "minimum", value), _number_at(schema, "maximum", value)
    above, under = schema.get("exclusiveMinimum") is True, schema.get("exclusiveMaximum") is True
    if most is not None and (value >= most if under else value > most):
        words = "less than" if under else "less than or equal to"
        yield invalid(field, value, f"{field} in body should be {words} {shown(most)}")
    if least is not None and (value <= least if above else value < least):
        words = "greater than" if above else "greater than or equal to"
        yield invalid(field, value, f"{field} in body should be {words} {shown(least)}")
    factor = _number_at(schema, "multipleOf", value)
    if factor is not None and factor > 0 and value % factor:
        yield invalid(field, value, f"{field} in body should be a multiple of {shown(factor)}")


def _number_at(schema: Mapping[str, Json], key: str, value: float) -> float | None:
    """A bound; the API server compares integers with integers, whatever the bound is."""
    bound = schema.get(key)
    if isinstance(bound, bool) or not isinstance(bound, int | float):
        return None
    return int(bound) if isinstance(value, int) else bound


def text_findings(value: str, schema: Mapping[str, Json], field: str, budget: Budget) -> Iterator[Finding]:
    """That a text is too long or too short, or is not written as it must be."""
    most, least = integer_at(schema, "maxLength"), integer_at(schema, "minLength")
    form, pattern = format_of(schema), text_at(schema, "pattern")
    if most is not None and len(value) > most:
        limit = f"{most} byte{'' if most == 1 else 's'}"
        yield Finding(field, f"Too long: may not be more than {limit}", hides_rules=True)
    elif least is not None and len(value) < least:
        yield invalid(field, value, f"{field} in body should be at least {least} chars long")
    elif pattern:
        fits = matches(pattern, value, budget)
        if fits is None:
            yield unchecked(field, "whether it matches its pattern was not checked")
        elif not fits:
            yield invalid(field, value, f"{field} in body should match '{pattern}'")
    if form and not is_of_format(value, form):
        yield invalid(field, value, f"{field} in body must be of type {form}: {shown(value)}", hides_rules=True)
