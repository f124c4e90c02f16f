"""Settings that protect nothing with certain values, although they are among the security fields of their kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, TypeAlias

from msgspec import Meta, Struct

from kubectl_policy.model.fields import Every, FieldPath
from kubectl_policy.profiles.reading import NOTHING, SecurityField, text_like

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.model.fields import Step

_SettingPattern: TypeAlias = Annotated[
    str,
    text_like(
        r"^[A-Za-z0-9_-]+(\.\*|\.[A-Za-z0-9_-]+|\[\])*$",
        "Settings are written as jwt.optional, rules[].action (each item of a list) or limits.* (each entry of a map).",
    ),
]
_Values: TypeAlias = Mapping[_SettingPattern, Annotated[tuple[str, ...], Meta(min_length=1)]]


class PermissiveSetting(Struct, frozen=True, kw_only=True, rename="camel"):
    """A security field that lets every request through under a condition, so that it protects nothing."""

    field: SecurityField
    """The field, including all fields below it; `*` stands for every field."""
    when: _Values = NOTHING
    """A map from settings to their values, as text, with which the field protects nothing; all of them must hold, in
    each element of a list. Without it: no condition.
    """
    given: _SettingPattern = ""
    """A setting that must be set, whatever its value; one element of a list is enough. Without it: none."""
    unless: _Values = NOTHING
    """A map from settings to values with which the field protects all the same; one of them is enough, in one element
    of a list. `*` stands for any value. Without it: never.
    """

    def lets_through(self, spec: Mapping[str, Json]) -> bool:
        """Whether the field protects nothing among some settings."""
        if self.given and not any(_texts(spec, self.given)):
            return False
        for setting, values in self.when.items():
            texts = list(_texts(spec, setting))
            if not texts or not set(values).issuperset(texts):
                return False
        return not any(
            text and not {text, "*"}.isdisjoint(values)
            for setting, values in self.unless.items()
            for text in _texts(spec, setting)
        )


def _texts(spec: Mapping[str, Json], setting: str) -> Iterator[str]:
    """Yield the values of a setting as texts, "" for each element of a list or map that does not set it."""
    return map(_text, _values(spec, FieldPath.parse(setting).steps))


def _values(value: Json, steps: tuple[Step, ...]) -> Iterator[Json]:
    if not steps:
        yield value
    elif steps[0] in {Every.ITEM, Every.KEY}:
        children = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
        for child in children:
            yield from _values(child, steps[1:])
    else:
        yield from _values(FieldPath(steps[:1]).get(value), steps[1:])


def _text(value: Json) -> str:
    """Return a value as text: "" for null, and something for a list or map."""
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
