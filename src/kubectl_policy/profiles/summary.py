"""The settings of a policy in a few short phrases: those of its profile, and the names of all else that is set."""

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
# So many values stand in one phrase, and so many phrases are of one part; it is no place to look them up.
_MOST: Final = 3


class SummaryPart(Struct, frozen=True, kw_only=True, rename="camel"):
    """What is said in short of a field of a policy's settings."""

    field: _FieldOfSummary
    """The field; `rules[]` is each item of a list, `limits.*` each entry of a map. Of several parts for one value, or
    for what is in it, the first one counts that has a phrase.
    """
    words: _Words
    """The phrase: `{}` stands for the value, `{limit.unit}` for a field in it, `{*}` for the name of the entry, `{#}`
    for the number of items, or the value if that is a number, and `{# filter}` for it with a noun. Without something
    for each of these there is no phrase. Empty words leave the field out.
    """
    when: Mapping[str, Annotated[tuple[str, ...], Meta(min_length=1)]] = NOTHING
    """A map from fields of the settings to the values, as text, with which the phrase is used. Without it: always."""
    terms: Mapping[str, str] = NOTHING
    """A map from values to the words for them, such as from `Second` to `s`. Without it: values are words themselves.
    """

    def phrases(self, spec: Json) -> Iterator[tuple[tuple[Step, ...], str]]:
        """The phrase for every value that the field has in settings, with its path; empty if it is left out."""
        if any(_text(value_at(spec, field)) not in values for field, values in self.when.items()):
            return
        pattern = FieldPath.parse(self.field)
        for path, value in pattern.each(spec):
            if value is None:
                continue
            if "{#" in self.words and isinstance(value, Mapping | list | tuple) and not value:
                yield path.steps, ""  # None of something is not worth a phrase.
                continue
            entries = [str(key) for key, step in zip(path.steps, pattern.steps, strict=True) if step is Every.KEY]
            # What is between placeholders, and their names, take turns.
            pieces = _PLACEHOLDER.split(self.words)
            pieces[1::2] = [self._filled(name, value, entries[-1] if entries else "") for name in pieces[1::2]]
            if all(pieces[1::2]):
                yield path.steps, "".join(pieces)

    def _filled(self, name: str, value: Json, entry: str) -> str:
        """The text for a placeholder; empty without anything for it."""
        if name == "*":
            return entry
        if name.startswith("#"):
            number = len(value) if isinstance(value, Mapping | list | tuple) else value
            noun = name[1:].strip()
            return f"{number} {noun if number == 1 else plural(noun)}" if noun else str(number)
        found = [each for _, each in FieldPath.parse(name).each(value)]
        flat = [each for one in found for each in (one if isinstance(one, list | tuple) else [one])]
        texts = [self.terms.get(text, text) for text in map(_text, flat) if text]
        more = f" and {len(texts) - _MOST} more" if len(texts) > _MOST else ""
        return ", ".join(texts[:_MOST]) + more


def summarized(parts: Sequence[SummaryPart], spec: Mapping[str, Json]) -> tuple[str, ...]:
    """Settings in short phrases, in the order of the parts; then each further field of the settings by its name.

    A further field that has a plain value, or holds nothing else, has that, too. Nothing that is set stays unmentioned,
    unless a part says so.
    """
    phrases: list[str] = []
    # What is told, and all that it stands in.
    told: set[tuple[Step, ...]] = set()
    around: set[tuple[Step, ...]] = set()
    for part in parts:
        of_part: dict[str, None] = {}
        for steps, phrase in part.phrases(spec):
            beginnings = [steps[:end] for end in range(1, len(steps) + 1)]
            if steps not in around and told.isdisjoint(beginnings):
                told.add(steps)
                around.update(beginnings)
                of_part[phrase] = None
        of_part.pop("", None)
        phrases += [*of_part][:_MOST]
        phrases += [f"{len(of_part) - _MOST} more"] if len(of_part) > _MOST else []
    for field, value in spec.items():
        if value is not None and (field,) not in around:
            phrases.append(_named(field, value))
    return tuple(dict.fromkeys(phrases))


def _named(field: str, value: Json) -> str:
    """A field by its name, with the one plain value in it."""
    while isinstance(value, Mapping) and len(value) == 1:
        ((key, value),) = value.items()
        field = f"{field}.{key}"
    text = _text(value)
    return f"{field} {text}" if text else field


def _text(value: Json) -> str:
    """A plain value as text; empty for anything else."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else ""
