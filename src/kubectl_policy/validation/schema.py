"""Check values against schemas, as k8s.io/kube-openapi/pkg/validation/validate does, with an API server's messages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from ipaddress import ip_address, ip_interface
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from kubectl_policy.model import FieldPath, Json, Problem
from kubectl_policy.model.fields import WHOLE, integer_at, items_at, mapping_at, mappings_at, strings_at, text_at

if TYPE_CHECKING:
    from kubectl_policy.validation.expressions import Evaluator

_MAX_QUOTED: Final = 200

# `ErrorType` in k8s.io/apimachinery, pkg/util/validation/field, each with the beginning of its message.
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
_OPENINGS: Final[Mapping[Reason, str]] = {
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
    """A key of a map, rather than the name of a field: the API server writes it in brackets."""

    __slots__ = ()


def refused(field: FieldPath, reason: Reason, *details: str) -> Problem:
    """Return the problem of an invalid field."""
    return Problem(message=": ".join((_OPENINGS[reason], *details)), reason=reason, field=field)


def unchecked(field: FieldPath, reason: str) -> Problem:
    """Return the uncertain problem of a field that could not be checked."""
    return Problem(message=reason, field=field, certain=False)


def shown(value: Json) -> str:
    """Return a value as the API server writes it, in JSON; a long one is cut."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text if len(text) <= _MAX_QUOTED else f"{text[:_MAX_QUOTED]}…"


def spelled(field: FieldPath) -> str:
    """Return a path as the API server writes it."""
    steps = (f"[{step}]" if isinstance(step, int | MapKey) else f".{step}" for step in field.steps)
    return "".join(steps).removeprefix(".")


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
# supportedVersionedFormats in apiextensions-apiserver, pkg/apiserver/validation.
_OF_TEXT: Final = frozenset(
    (
        *("bsonobjectid", "uri", "email", "hostname", "ipv4", "ipv6", "cidr", "mac", "uuid", "uuid3", "uuid4", "uuid5"),
        *("isbn", "isbn10", "isbn13", "creditcard", "ssn", "hexcolor", "rgbcolor", "byte", "password", "date"),
        *("duration", "datetime", "k8sshortname", "k8slongname"),
    )
)
_OF_NUMBERS: Final = {"integer": ("int32", "int64"), "number": ("float", "double")}

_DATE: Final = r"(?a)\d{4}-\d{2}-\d{2}"
_TIME: Final = r"(?a)([01]\d|2[0-3]):[0-5]\d:[0-5]\d(.\d+)?(z|[+-]\d{2}:\d{2})"
_BASE64: Final = r"(?:[A-Za-z0-9+\\/]{4})*(?:[A-Za-z0-9+\\/]{2}==|[A-Za-z0-9+\\/]{3}=|[A-Za-z0-9+\\/]{4})"
_LEADING_ZEROS: Final = r"(?a)(?<![0-9a-fA-F:.])0+(?=\d)|(?<=\.)0+(?=\d)"


def type_of(value: Json) -> str:
    """Return the type of a value as JSON schema names it; "" for a value that is no JSON."""
    return next((name for types, name in _TYPES if isinstance(value, types)), "")


def _type_problems(value: Json, schema: Mapping[str, Json], field: FieldPath) -> Iterator[Problem]:
    """Yield a problem if a value has a wrong type."""
    wanted = ["integer", "string"] if schema.get("x-kubernetes-int-or-string") is True else [text_at(schema, "type")]
    actual, form = type_of(value), format_of(schema)
    if wanted == [""] or actual in wanted or (value is None and schema.get("nullable") is True):
        return
    if isinstance(value, float) and value.is_integer() and "integer" in wanted:
        return
    if actual == "integer" and "number" in wanted:
        return
    if form and actual not in {"null", "string", "array"}:
        yield _wrong_type(field, form, _FORMATS_OF_NUMBERS.get(actual, ""))
    # As for the API server, a list is text if the text has a format.
    elif not (form and actual == "array" and wanted == ["string"]):
        yield _wrong_type(field, ",".join(wanted), actual)


def _wrong_type(field: FieldPath, wanted: str, actual: str) -> Problem:
    detail = f"{spelled(field)} in body must be of type {wanted}: {shown(actual)}"
    return refused(field, "FieldValueTypeInvalid", shown(actual), detail)


def _invalid(field: FieldPath, value: Json, demand: str) -> Problem:
    return refused(field, "FieldValueInvalid", shown(value), f"{spelled(field)} in body {demand}")


def _enum_problems(value: Json, schema: Mapping[str, Json], field: FieldPath) -> Iterator[Problem]:
    """Yield a problem if a value is none of the allowed ones."""
    allowed = items_at(schema, "enum")
    # A boolean is no number.
    equal = (isinstance(value, bool) is isinstance(constant, bool) and value == constant for constant in allowed)
    if allowed and (value is None or not any(equal)):
        names = ", ".join(shown(constant if isinstance(constant, str) else shown(constant)) for constant in allowed)
        yield refused(field, "FieldValueNotSupported", shown(value), f"supported values: {names}")


def _number_problems(value: float, schema: Mapping[str, Json], field: FieldPath) -> Iterator[Problem]:
    """Yield a problem if a number is too large or too small, or no multiple of a factor."""
    bits = _BITS.get(format_of(schema) or "int64", 63)
    if isinstance(value, int) and text_at(schema, "type") == "integer" and not -(2**bits) <= value < 2**bits:
        yield _invalid(field, value, f"must be of type integer with format int{bits + 1}")
    minimum, maximum = _number_at(schema, "minimum", value), _number_at(schema, "maximum", value)
    is_below, is_above = schema.get("exclusiveMaximum") is True, schema.get("exclusiveMinimum") is True
    if maximum is not None and (value >= maximum if is_below else value > maximum):
        relation = "less than" if is_below else "less than or equal to"
        yield _invalid(field, value, f"should be {relation} {shown(maximum)}")
    if minimum is not None and (value <= minimum if is_above else value < minimum):
        relation = "greater than" if is_above else "greater than or equal to"
        yield _invalid(field, value, f"should be {relation} {shown(minimum)}")
    factor = _number_at(schema, "multipleOf", value)
    if factor is not None and factor > 0 and value % factor:
        yield _invalid(field, value, f"should be a multiple of {shown(factor)}")


def _number_at(schema: Mapping[str, Json], key: str, value: float) -> float | None:
    """Return a bound, as an integer for an integer value, as the API server compares them."""
    bound = schema.get(key)
    if isinstance(bound, bool) or not isinstance(bound, int | float):
        return None
    return int(bound) if isinstance(value, int) else bound


def _duplicates(value: Sequence[Json], schema: Mapping[str, Json], field: FieldPath) -> Iterator[Problem]:
    """Yield the first repetition of each item, as `ValidateListSetsAndMaps` in apiextensions-apiserver does."""
    kind = schema.get("x-kubernetes-list-type")
    if kind == "set":
        yield from _repeated(value, field)
    elif kind == "map":
        for position, item in enumerate(value):
            if item is not None and not isinstance(item, Mapping):
                about = "must be an object for an array of list-type map"
                yield refused(field / position, "FieldValueInvalid", shown(item), about)
                return
        keys = strings_at(schema, "x-kubernetes-list-map-keys")
        items: list[Mapping[str, Json]] = [item if isinstance(item, Mapping) else {} for item in value]
        yield from _repeated([{key: item[key] for key in keys if key in item} for item in items], field)


def _repeated(values: Sequence[Json], field: FieldPath) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for position, value in enumerate(values):
        text = json.dumps(value, sort_keys=True, default=str)
        seen[text] = seen.get(text, 0) + 1
        if seen[text] == 2:  # noqa: PLR2004 - the second of two
            yield refused(field / position, "FieldValueDuplicate", shown(value))


def _size_problems(size: int, noun: str, schema: Mapping[str, Json], field: FieldPath) -> Iterator[Problem]:
    """Yield a problem if a list has too many or too few items, or a mapping too many or too few properties."""
    minimum, maximum = integer_at(schema, f"min{noun}"), integer_at(schema, f"max{noun}")
    if minimum is not None and size < minimum:
        yield _invalid(field, size, f"should have at least {minimum} {noun.lower()}")
    if maximum is not None and size > maximum:
        limit = f"must have at most {maximum} item{'' if maximum == 1 else 's'}"
        yield refused(field, "FieldValueTooMany", str(size), limit)


class SchemaCheck:
    """Checks one object against a schema; `budget` limits the pairs of a value and a schema.

    The largest Gateway that its schema allows takes half of the default.
    """

    def __init__(self, evaluator: Evaluator, budget: int = 200_000) -> None:
        """Start with nothing checked."""
        self.evaluator, self.budget = evaluator, budget

    def problems(self, value: Json, schema: Mapping[str, Json], field: FieldPath = WHOLE) -> list[Problem]:
        """Return the problems of a value by a schema; keywords that definitions lack are ignored."""
        if self.budget <= 0:
            return [unchecked(field, "there is too much to check")]
        self.budget -= 1
        problems = [*_type_problems(value, schema, field)]
        if value is not None:
            problems += self._combined(value, schema, field)
        if isinstance(value, str):
            problems += self._of_text(value, schema, field)
        elif isinstance(value, Mapping):
            problems += self._of_fields(value, schema, field)
        elif isinstance(value, list | tuple):
            problems += self._of_items(value, schema, field)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            problems += _number_problems(value, schema, field)
        problems += _enum_problems(value, schema, field)
        return problems

    def _of_text(self, value: str, schema: Mapping[str, Json], field: FieldPath) -> Iterator[Problem]:
        """Yield problems of a text: its length, pattern and format."""
        maximum, minimum = integer_at(schema, "maxLength"), integer_at(schema, "minLength")
        form, pattern = format_of(schema), text_at(schema, "pattern")
        if maximum is not None and len(value) > maximum:
            limit = f"{maximum} byte{'' if maximum == 1 else 's'}"
            yield refused(field, "FieldValueTooLong", f"may not be more than {limit}")
        elif minimum is not None and len(value) < minimum:
            yield _invalid(field, value, f"should be at least {minimum} chars long")
        elif pattern:
            fits = self.evaluator.matches(pattern, value)
            if fits is None:
                yield unchecked(field, "whether it matches its pattern was not checked")
            elif not fits:
                yield _invalid(field, value, f"should match '{pattern}'")
        if form and not is_of_format(value, form):
            detail = f"{spelled(field)} in body must be of type {form}: {shown(value)}"
            yield refused(field, "FieldValueTypeInvalid", shown(value), detail)

    def _of_items(self, value: Sequence[Json], schema: Mapping[str, Json], field: FieldPath) -> Iterator[Problem]:
        items = mapping_at(schema, "items")
        for position, item in enumerate(value if items else ()):
            yield from self.problems(item, items, field / position)
        yield from _size_problems(len(value), "Items", schema, field)
        yield from _duplicates(value, schema, field)

    def _of_fields(self, value: Mapping[str, Json], schema: Mapping[str, Json], field: FieldPath) -> Iterator[Problem]:
        properties, additional = mapping_at(schema, "properties"), schema.get("additionalProperties")
        yield from _size_problems(len(value), "Properties", schema, field)
        for key, inner in value.items():
            about = properties.get(key, additional)
            if isinstance(about, Mapping):
                yield from self.problems(inner, about, field / key)
            elif about is False:
                detail = f"{spelled(field / key)} in body is a forbidden property"
                yield refused(field, "FieldValueInvalid", shown(key), detail)
        for key in strings_at(schema, "required"):
            if key not in value:
                yield refused(field / key, "FieldValueRequired")

    def _combined(self, value: Json, schema: Mapping[str, Json], field: FieldPath) -> Iterator[Problem]:
        """Yield problems by `anyOf`, `oneOf`, `allOf` and `not`, which an API server does not check for null."""
        yield from _any_of(self._by_each_schema(value, schema, "anyOf", field), field)
        yield from _one_of(self._by_each_schema(value, schema, "oneOf", field), field)
        for problems in self._by_each_schema(value, schema, "allOf", field):
            yield from problems
        if isinstance(schema.get("not"), Mapping):
            problems = self.problems(value, mapping_at(schema, "not"), field)
            if not problems:
                yield refused(field, "FieldValueInvalid", "must not validate the schema (not)")
            elif not _is_refused(problems):
                yield from problems

    def _by_each_schema(
        self, value: Json, schema: Mapping[str, Json], key: str, field: FieldPath
    ) -> list[list[Problem]]:
        return [self.problems(value, option, field) for option in mappings_at(schema, key)]


def _any_of(outcomes: Sequence[list[Problem]], field: FieldPath) -> Iterator[Problem]:
    if not outcomes or not all(outcomes):
        return
    if all(map(_is_refused, outcomes)):
        yield refused(field, "FieldValueInvalid", "must validate at least one schema (anyOf)")
    yield from min(outcomes, key=_weight)


def _one_of(outcomes: Sequence[list[Problem]], field: FieldPath) -> Iterator[Problem]:
    valid = sum(not problems for problems in outcomes)
    unsure = [problems for problems in outcomes if problems and not _is_refused(problems)]
    if not outcomes or (valid == 1 and not unsure):
        return
    if valid < 2 and unsure:  # noqa: PLR2004 - two are too many, whatever the others are
        yield from unsure[0]
        return
    number = f"Found {valid} valid alternatives" if valid else "Found none valid"
    yield refused(field, "FieldValueInvalid", f"must validate one and only one schema (oneOf). {number}")
    if not valid:
        yield from min(outcomes, key=_weight)


def _is_refused(problems: Sequence[Problem]) -> bool:
    return any(problem.certain for problem in problems)


def _weight(problems: Sequence[Problem]) -> int:
    """Count the invalid fields by one schema; the schema with the fewest was probably meant."""
    return len({problem.field for problem in problems if problem.certain})


def format_of(schema: Mapping[str, Json]) -> str:
    """Return the format that a schema demands; "" if its type has no such format, as the API server then ignores it."""
    form, kind = text_at(schema, "format"), text_at(schema, "type")
    if kind in {"", "string"}:
        return form if form.replace("-", "") in _OF_TEXT else ""
    return form if form in _OF_NUMBERS.get(kind, ()) else ""


def is_of_format(text: str, form: str) -> bool:
    """Whether a text has a format; true for formats without a check."""
    check = _CHECKS.get(form.replace("-", ""))
    return check is None or check(text)


def _is(text: str, kind: Callable[[str], object]) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True


def _is_address(text: str, kind: Callable[[str], object]) -> bool:
    return _is(re.sub(_LEADING_ZEROS, "", text), kind)  # tolerated, as by k8s.io/utils/net.ParseIPSloppy


def _is_date(text: str) -> bool:
    return bool(re.fullmatch(_DATE, text)) and _is(text, date.fromisoformat)


def _is_date_time(text: str) -> bool:
    day, _, time = text.lower().partition("t")
    return _is_date(day) and bool(re.fullmatch(_TIME, time.partition("t")[0]))


_CHECKS: Final[Mapping[str, Callable[[str], bool]]] = {
    "ipv4": lambda text: "." in text and _is_address(text, ip_address),
    "ipv6": lambda text: ":" in text and _is_address(text, ip_address),
    "cidr": lambda text: "/" in text and _is_address(text, ip_interface),
    "byte": lambda text: bool(re.fullmatch(_BASE64, text)),
    "date": _is_date,
    "datetime": _is_date_time,
}
