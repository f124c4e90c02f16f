"""What the structure of a schema demands of a value, as k8s.io/kube-openapi/pkg/validation/validate has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import integer_at, mapping_at, mappings_at, strings_at
from kubectl_policy.validation.finding import Finding, below, invalid, unchecked
from kubectl_policy.validation.lists import duplicates
from kubectl_policy.validation.scalars import enum_findings, number_findings, text_findings, type_findings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.validation.budget import Budget

# What it takes to hold one value against one schema.
_UNITS: Final = 1000


def structural_findings(value: Json, schema: Mapping[str, Json], field: str, budget: Budget) -> list[Finding]:
    """Why a value is not what a schema allows; what is no keyword of a definition is ignored."""
    if not budget.afford(_UNITS):
        return [unchecked(field, "there is too much to check")]
    return [
        *type_findings(value, schema, field),
        *_combined(value, schema, field, budget),
        *_inside(value, schema, field, budget),
        *enum_findings(value, schema, field),
    ]


def _inside(value: Json, schema: Mapping[str, Json], field: str, budget: Budget) -> Iterator[Finding]:
    if isinstance(value, str):
        yield from text_findings(value, schema, field, budget)
    elif isinstance(value, Mapping):
        yield from _fields(value, schema, field, budget)
    elif isinstance(value, list | tuple):
        yield from _items(value, schema, field, budget)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from number_findings(value, schema, field)


def _items(value: Sequence[Json], schema: Mapping[str, Json], field: str, budget: Budget) -> Iterator[Finding]:
    least, most = integer_at(schema, "minItems"), integer_at(schema, "maxItems")
    items = mapping_at(schema, "items")
    for position, item in enumerate(value if items else ()):
        yield from structural_findings(item, items, f"{field}[{position}]", budget)
    if least is not None and len(value) < least:
        yield invalid(field, len(value), f"{field} in body should have at least {least} items")
    if most is not None and len(value) > most:
        yield _too_many(field, len(value), most)
    yield from duplicates(value, schema, field)


def _fields(value: Mapping[str, Json], schema: Mapping[str, Json], field: str, budget: Budget) -> Iterator[Finding]:
    least, most = integer_at(schema, "minProperties"), integer_at(schema, "maxProperties")
    properties, others = mapping_at(schema, "properties"), schema.get("additionalProperties")
    if least is not None and len(value) < least:
        yield invalid(field, len(value), f"{field} in body should have at least {least} properties")
    if most is not None and len(value) > most:
        yield _too_many(field, len(value), most)
    for key, inner in value.items():
        about = properties.get(key, others)
        if isinstance(about, Mapping):
            yield from structural_findings(inner, about, below(field, key), budget)
        elif about is False:
            yield invalid(field, key, f"{below(field, key)} in body is a forbidden property")
    for key in strings_at(schema, "required"):
        if key not in value:
            yield Finding(below(field, key), "Required value", hides_rules=True)


def _too_many(field: str, actual: int, most: int) -> Finding:
    limit = f"{most} item{'' if most == 1 else 's'}"
    return Finding(field, f"Too many: {actual}: must have at most {limit}", hides_rules=True)


def _combined(value: Json, schema: Mapping[str, Json], field: str, budget: Budget) -> Iterator[Finding]:
    """What `anyOf`, `oneOf`, `allOf` and `not` demand; an API server does not ask them of null."""
    if value is None:
        return
    yield from _any_of(_tried(value, schema, "anyOf", field, budget), field)
    yield from _one_of(_tried(value, schema, "oneOf", field, budget), field)
    for found in _tried(value, schema, "allOf", field, budget):
        yield from found
    if isinstance(schema.get("not"), Mapping):
        found = structural_findings(value, mapping_at(schema, "not"), field, budget)
        if not found:
            yield Finding(field, "Invalid value: must not validate the schema (not)")
        elif not _refused(found):
            yield from found


def _tried(value: Json, schema: Mapping[str, Json], key: str, field: str, budget: Budget) -> list[list[Finding]]:
    """What each schema of a list finds."""
    schemas = mappings_at(schema, key) if key in schema else ()
    return [structural_findings(value, one, field, budget) for one in schemas]


def _any_of(tried: Sequence[list[Finding]], field: str) -> Iterator[Finding]:
    if not tried or not all(tried):
        return
    if all(map(_refused, tried)):
        yield Finding(field, "Invalid value: must validate at least one schema (anyOf)")
    yield from min(tried, key=_weight)


def _one_of(tried: Sequence[list[Finding]], field: str) -> Iterator[Finding]:
    valid = sum(not found for found in tried)
    unsure = [found for found in tried if found and not _refused(found)]
    if not tried or (valid == 1 and not unsure):
        return
    if valid < 2 and unsure:  # noqa: PLR2004 - two are too many, whatever the others are
        yield from unsure[0]
        return
    much = f"Found {valid} valid alternatives" if valid else "Found none valid"
    yield Finding(field, f"Invalid value: must validate one and only one schema (oneOf). {much}")
    if not valid:
        yield from min(tried, key=_weight)


def _refused(found: Sequence[Finding]) -> bool:
    return any(one.refused for one in found)


def _weight(found: Sequence[Finding]) -> int:
    """How many fields are not what one schema wants; whose fields are the fewest is what was probably meant."""
    return len({one.field for one in found if one.refused})
