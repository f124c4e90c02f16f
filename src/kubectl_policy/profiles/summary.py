"""Summarize the settings of a policy in short phrases: those of its profile, and the names of all other fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from msgspec import Meta, Struct

from kubectl_policy.lazy import pattern
from kubectl_policy.model.fields import Every, FieldPath, value_at
from kubectl_policy.model.kinds import plural
from kubectl_policy.profiles.reading import NOTHING, text_like

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.model.fields import Step

_PLACEHOLDER: Final = pattern(r"\{([^{}]*)\}")
_FieldOfSummary: TypeAlias = Annotated[
    str,
    text_like(
        r"^[A-Za-z0-9_-]+(\.\*|\.[A-Za-z0-9_-]+|\[\])*$",
        "Fields are written as jwt.providers[] (each item of a list) or limits.* (each entry of a map).",
    ),
]
_Words: TypeAlias = Annotated[
    str,
    text_like(
        r"^([^{}]|\{(\*|#[^{}]*|[A-Za-z0-9_.\[\]-]*)\})*$",
        "Words have {} for the value, {a.field[]} for a field in it, {*} for an entry's name, {# thing} for a number.",
    ),
]
# The most values in one phrase, and the most phrases of one part.
_MAX_ITEMS: Final = 3


class SummaryPart(Struct, frozen=True, kw_only=True, rename="camel"):
    """A phrase for a field of a policy's settings."""

    field: _FieldOfSummary
    """The field; `rules[]` stands for each element of a list, `limits.*` for each entry of a map. If several parts
    match a value, or values in it, the first part with a phrase counts.
    """
    words: _Words
    """The phrase: `{}` stands for the value, `{limit.unit}` for a field in it, `{*}` for the name of the entry, `{#}`
    for the number of items, or the value if it is a number, and `{# filter}` for that number with a noun. If a
    placeholder has no value, there is no phrase. An empty phrase leaves the field out.
    """
    when: Mapping[str, Annotated[tuple[str, ...], Meta(min_length=1)]] = NOTHING
    """A map from settings to the values, as text, for which the phrase is used. Without it: always."""
    terms: Mapping[str, str] = NOTHING
    """A map from values to the words for them, for example from `Second` to `s`. Without it: values as they are."""

    def phrases(self, spec: Json) -> Iterator[tuple[tuple[Step, ...], str]]:
        """Yield the phrase for every value of the field in settings, with its path; "" to leave the field out."""
        if any(_text(value_at(spec, field)) not in values for field, values in self.when.items()):
            return
        pattern = FieldPath.parse(self.field)
        for path, value in pattern.matches(spec):
            if value is None:
                continue
            if "{#" in self.words and isinstance(value, Mapping | list | tuple) and not value:
                yield path.steps, ""  # An empty list or map needs no phrase.
                continue
            entries = [str(key) for key, step in zip(path.steps, pattern.steps, strict=True) if step is Every.KEY]
            # Texts between placeholders alternate with names of placeholders.
            pieces = _PLACEHOLDER.split(self.words)
            pieces[1::2] = [self._filled(name, value, entries[-1] if entries else "") for name in pieces[1::2]]
            if all(pieces[1::2]):
                yield path.steps, "".join(pieces)

    def _filled(self, name: str, value: Json, entry: str) -> str:
        """Return the text for a placeholder; "" without a value."""
        if name == "*":
            return entry
        if name.startswith("#"):
            number = len(value) if isinstance(value, Mapping | list | tuple) else value
            noun = name[1:].strip()
            return f"{number} {noun if number == 1 else plural(noun)}" if noun else str(number)
        values = [inner for _, inner in FieldPath.parse(name).matches(value)]
        flat = [item for inner in values for item in (inner if isinstance(inner, list | tuple) else [inner])]
        texts = [self.terms.get(text, text) for text in map(_text, flat) if text]
        rest = f" and {len(texts) - _MAX_ITEMS} more" if len(texts) > _MAX_ITEMS else ""
        return ", ".join(texts[:_MAX_ITEMS]) + rest


def summarize(parts: Sequence[SummaryPart], spec: Mapping[str, Json]) -> tuple[str, ...]:
    """Return settings in short phrases, in the order of the parts, and then all other fields by their names.

    A field with a single plain value has the value as well. Only a part can leave out a field.
    """
    phrases: list[str] = []
    # Fields with phrases, and these with all fields that contain them.
    covered: set[tuple[Step, ...]] = set()
    around: set[tuple[Step, ...]] = set()
    for part in parts:
        of_part: dict[str, None] = {}
        for steps, phrase in part.phrases(spec):
            beginnings = [steps[:end] for end in range(1, len(steps) + 1)]
            if steps not in around and covered.isdisjoint(beginnings):
                covered.add(steps)
                around.update(beginnings)
                of_part[phrase] = None
        of_part.pop("", None)
        phrases += [*of_part][:_MAX_ITEMS]
        phrases += [f"{len(of_part) - _MAX_ITEMS} more"] if len(of_part) > _MAX_ITEMS else []
    for field, value in spec.items():
        if value is not None and (field,) not in around:
            phrases.append(_named(field, value))
    return tuple(dict.fromkeys(phrases))


def _named(field: str, value: Json) -> str:
    while isinstance(value, Mapping) and len(value) == 1:
        ((key, value),) = value.items()
        field = f"{field}.{key}"
    text = _text(value)
    return f"{field} {text}" if text else field


def _text(value: Json) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else ""
