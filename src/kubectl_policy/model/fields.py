"""Fields of decoded YAML or JSON: their paths, and how to read and replace them without trusting any shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import Enum
from functools import lru_cache
from typing import Any, Final, TypeAlias

from msgspec import Struct

from kubectl_policy.lazy import pattern
from kubectl_policy.model import body

Json: TypeAlias = body.Json

# As far as a 32-bit integer reaches, or nearly so.
_WHOLE_NUMBER: Final = pattern(r"[+-]?[0-9]{1,9}")
_NO_MAPPING: Final[Mapping[str, Json]] = {}


class Every(Enum):
    """A step that leads to several values: to every item of a list, or to the value of every key of a mapping."""

    ITEM = "[]"
    KEY = "*"

    # Both are looked up for each step of many paths, and are the same as themselves alone.
    __hash__ = object.__hash__


Step: TypeAlias = "str | int | Every"

# A path without these characters is nothing but names separated by dots.
_SPECIAL: Final = frozenset("[]*")
_STEP: Final = pattern(
    r"""\.(?P<name>[^.\[\]]+)|\.?\[(?:(?P<position>[0-9]{1,9})|"(?P<key>[^"]*)"|'(?P<quoted>[^']*)'|(?P<every>))\]"""
)


class FieldPath(Struct, frozen=True, gc=False):
    """The path of a field in an object: the keys of mappings and the positions in lists that lead to it.

    It is written `spec.targetRefs[0].name`, and a key of other characters than a name has `labels["app.example/name"]`.
    In a pattern, `[]` stands for every item of a list and `*` for every key of a mapping.
    """

    steps: tuple[Step, ...] = ()

    @classmethod
    def parse(cls, text: str) -> FieldPath:
        """Parse a path, with or without a leading dot. Raise `ValueError` for anything else."""
        return _parsed(text)

    def __truediv__(self, step: Step) -> FieldPath:
        """Return the path of something inside the field."""
        return FieldPath((*self.steps, step))

    def __str__(self) -> str:
        """Return the path as it is written; "" for the object itself."""
        return "".join(map(_written, self.steps)).removeprefix(".")

    @property
    def parent(self) -> FieldPath:
        """The path of the mapping or list that holds the field."""
        return FieldPath(self.steps[:-1])

    @property
    def around(self) -> Iterator[FieldPath]:
        """The paths of the object, of every mapping or list around the field, and of the field itself."""
        return (FieldPath(self.steps[:end]) for end in range(len(self.steps) + 1))

    def holds(self, inner: Sequence[Step]) -> bool:
        """Whether the steps lead to the field or into it; `*` in the path is any step."""
        pairs = zip(self.steps, inner, strict=False)
        return len(self.steps) <= len(inner) and all(pattern_step in {Every.KEY, step} for pattern_step, step in pairs)

    def get(self, value: Json) -> Json:
        """Return the value of the field in an object; None where a step is absent or leads into another type."""
        return _value_at(value, self.steps)

    def matches(self, value: Json) -> Iterator[tuple[FieldPath, Json]]:
        """Yield every value that a pattern leads to, with its path; absent fields are left out."""
        return _each(value, self.steps, ())

    def put(self, holder: Json, value: Json) -> Json:
        """Return a copy of an object with another value of the field; what is not on the path stays shared.

        Absent mappings on the path are created, and so is a list whose first item is put; putting the item after the
        last one appends it. Raises `LookupError` where a step leads into another type.
        """
        return _put(holder, self.steps, value)

    def remove(self, holder: Json, *, with_empty: bool = False) -> Json:
        """Return a copy of an object without the field; the very same object where the field is absent.

        `with_empty` also removes mappings on the path that become empty.
        """
        return _removed(holder, self.steps, with_empty=with_empty)


# The object itself.
WHOLE: Final = FieldPath()


@lru_cache(maxsize=10_000)
def _parsed(text: str) -> FieldPath:
    names = text.split(".")
    if all(names) and _SPECIAL.isdisjoint(text):
        return FieldPath(tuple(names))
    written = f".{text}" if text and text[0] not in ".[" else text
    steps: list[Step] = []
    end = 0
    while end < len(written):
        match = _STEP.match(written, end)
        if match is None:
            raise ValueError(f"{text} is not the path of a field")
        end, notation, step = match.end(), match.lastgroup, match[match.lastgroup or 0]
        if notation == "every" or (notation == "name" and step == "*"):
            steps.append(Every.ITEM if notation == "every" else Every.KEY)
        else:
            steps.append(int(step) if notation == "position" else step)
    return FieldPath(tuple(steps))


@lru_cache(maxsize=10_000)
def _steps(path: str) -> tuple[Any, ...]:
    return _parsed(path).steps


@lru_cache(maxsize=10_000)
def _written(step: Step) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if isinstance(step, Every):
        return step.value if step is Every.ITEM else f".{step.value}"
    # Letters, digits, underscores and hyphens, of which one at least is there.
    is_plain = step.replace("_", "a").replace("-", "a").isalnum()
    return f".{step}" if is_plain else f'["{step}"]'


def _value_at(value: Json, steps: tuple[Step, ...]) -> Json:
    for step in steps:
        if isinstance(step, str):
            if not isinstance(value, (dict, Mapping)):
                return None
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list | tuple) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def _each(value: Json, steps: tuple[Step, ...], walked: tuple[Step, ...]) -> Iterator[tuple[FieldPath, Json]]:
    if not steps:
        yield FieldPath(walked), value
        return
    step, rest = steps[0], steps[1:]
    if isinstance(value, Mapping):
        for key in value if step is Every.KEY else [step] if isinstance(step, str) and step in value else ():
            yield from _each(value[key], rest, (*walked, key))
    elif isinstance(value, list | tuple):
        for position, item in enumerate(value):
            if step in {Every.ITEM, position}:
                yield from _each(item, rest, (*walked, position))


def _put(holder: Json, steps: tuple[Step, ...], value: Json) -> Json:
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(step, str) and isinstance(holder, Mapping | None):
        fields = holder or {}
        return {**fields, step: _put(fields.get(step), rest, value)}
    if isinstance(step, int) and isinstance(holder, list | tuple | None) and step <= len(holder or ()):
        items = list(holder or ())
        return [*items[:step], _put(items[step] if step < len(items) else None, rest, value), *items[step + 1 :]]
    raise LookupError(step)


def _removed(holder: Json, steps: tuple[Step, ...], *, with_empty: bool) -> Json:
    step, rest = steps[0], steps[1:]
    if isinstance(step, str) and isinstance(holder, Mapping) and step in holder:
        remaining = _removed(holder[step], rest, with_empty=with_empty) if rest else None
        if not rest or (with_empty and remaining == {}):
            return {key: value for key, value in holder.items() if key != step}
        return holder if remaining is holder[step] else {**holder, step: remaining}
    if isinstance(step, int) and isinstance(holder, list | tuple) and step < len(holder):
        remaining_items = [_removed(holder[step], rest, with_empty=with_empty)] if rest else []
        return [*holder[:step], *remaining_items, *holder[step + 1 :]]
    return holder


def value_at(value: Json, path: str) -> Json:
    """Return the value at a path (`spec.targetRef`, see `FieldPath`); None where a step is absent."""
    for step in _steps(path):
        # Nearly all are dicts, whose keys are texts; to ask about any other mapping takes several times as long.
        if isinstance(value, dict) or type(value) is body.Body:
            value = value.get(step)
        elif value is None:
            return None
        else:
            value = _value_at(value, (step,))
    return value


def mapping_at(value: Json, path: str) -> Mapping[str, Json]:
    """Return the mapping at a path; an empty one where it is absent or has another type."""
    mapping = value_at(value, path)
    return mapping if mapping is not None and isinstance(mapping, (dict, Mapping)) else _NO_MAPPING


def items_at(value: Json, path: str) -> Sequence[Json]:
    """Return the list at a path; an empty one where it is absent or has another type."""
    items = value_at(value, path)
    return items if isinstance(items, (list, tuple)) else ()


def mappings_at(value: Json, path: str) -> list[Mapping[str, Json]]:
    """Return the mappings in the list at a path; items of other types are left out."""
    return [item for item in items_at(value, path) if isinstance(item, (dict, Mapping))]


def every_mapping(value: Json, path: str) -> Iterator[Mapping[str, Json]]:
    """Yield the mappings at a path, through every list on it."""
    return (mapping for _, mapping in each_mapping(value, path))


def each_mapping(value: Json, path: str) -> Iterator[tuple[FieldPath, Mapping[str, Json]]]:
    """Yield the mappings at a path with their own paths, through every list on it; a `*` stands for every key."""
    pairs = _through_lists(value, _steps(path), ())
    return ((FieldPath(steps), inner) for steps, inner in pairs if isinstance(inner, Mapping))


def each_text(value: Json, path: str) -> Iterator[tuple[FieldPath, str]]:
    """Yield the strings at a path with their own paths, through every list on it; a `*` stands for every key."""
    pairs = _through_lists(value, _steps(path), ())
    return ((FieldPath(steps), inner) for steps, inner in pairs if isinstance(inner, str))


def each_value(value: Json, path: str) -> Iterator[tuple[FieldPath, Json]]:
    """Yield the values at a path, null excepted, with their own paths, through every list on it."""
    return ((FieldPath(steps), inner) for steps, inner in _through_lists(value, _steps(path), ()))


def _through_lists(value: Json, steps: tuple[Any, ...], at: tuple[Step, ...]) -> Iterator[tuple[tuple[Any, ...], Json]]:
    depth = 0
    while depth < len(steps) and steps[depth] is not Every.KEY and isinstance(value, (dict, Mapping)):
        value = value.get(steps[depth])
        depth += 1
    if value is None:
        return
    at, steps = (*at, *steps[:depth]), steps[depth:]
    if isinstance(value, list | tuple):
        for position, item in enumerate(value):
            # Most items of long lists have no such field.
            if not steps or not isinstance(item, dict) or steps[0] in item or steps[0] is Every.KEY:
                yield from _through_lists(item, steps, (*at, position))
    elif not steps:
        yield at, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _through_lists(inner, steps[1:], (*at, key))


def text_at(value: Json, path: str, default: str = "") -> str:
    """Return the string at a path; `default` where it is absent or has another type."""
    text = value_at(value, path)
    return text if isinstance(text, str) else default


def integer_at(value: Json, path: str) -> int | None:
    """Return the integer at a path; None where it is absent or has another type (a boolean is no integer)."""
    number = value_at(value, path)
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def number_in_annotation(raw: Json, name: str) -> int | None:
    """Return the whole number that an annotation holds; 0 without the annotation, None for any other text."""
    written = mapping_at(raw, "metadata.annotations").get(name, "0")
    return int(written) if isinstance(written, str) and _WHOLE_NUMBER.fullmatch(written) else None


def time_at(value: Json, path: str) -> datetime | None:
    """Return the time at a path; None where it is absent, is no time, or has no zone."""
    written = text_at(value, path)
    try:
        time = datetime.fromisoformat(written) if written else None
    except ValueError:
        return None
    return time if time and time.tzinfo else None


def strings_at(value: Json, path: str) -> list[str]:
    """Return the strings in the list at a path; items of other types are left out."""
    return [item for item in items_at(value, path) if isinstance(item, str)]


def same_json(first: Json, second: Json) -> bool:
    """Whether two values are the same in JSON, where `true` is not 1, and NaN is the same as itself."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(same_json(value, second[key]) for key, value in first.items())
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(same_json, first, second))
    return type(first) is type(second) and (first == second or str(first) == str(second))


def labels_of(raw: Json) -> dict[str, str]:
    """Return the labels of an object; values that are not strings are left out."""
    return {key: value for key, value in mapping_at(raw, "metadata.labels").items() if isinstance(value, str)}
