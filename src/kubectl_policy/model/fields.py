"""Fields of decoded YAML or JSON: where they are, and reading and replacing them without trusting any shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import Enum
from functools import lru_cache
from typing import Any, Final, TypeAlias

from kubectl_policy.model.values import compact
from kubectl_policy.patterns import pattern

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

# As far as a 32-bit integer reaches, or nearly so.
_WHOLE_NUMBER: Final = pattern(r"[+-]?[0-9]{1,9}")
_NO_MAPPING: Final[Mapping[str, Json]] = {}


class Every(Enum):
    """A step that leads to more than one value: to every item of a list, or to that of every key of a mapping."""

    ITEM = "[]"
    KEY = "*"


Step: TypeAlias = "str | int | Every"

# Without these, there is nothing but names and points between them.
_BESIDE_NAMES: Final = frozenset("[]*")
_STEP: Final = pattern(
    r"""\.(?P<name>[^.\[\]]+)|\.?\[(?:(?P<position>[0-9]{1,9})|"(?P<key>[^"]*)"|'(?P<quoted>[^']*)'|(?P<every>))\]"""
)


@compact
class FieldPath:
    """Where a field is in an object: the keys of mappings and the positions in lists that lead to it.

    It is written `spec.targetRefs[0].name`, and a key of other characters than a name has `labels["app.example/name"]`.
    In a pattern, `[]` stands for every item of a list and `*` for every key of a mapping.
    """

    steps: tuple[Step, ...] = ()

    @classmethod
    def parse(cls, text: str) -> FieldPath:
        """The path that a text means, with or without a dot in front. Raises `ValueError` if it means none."""
        return _parsed(text)

    def __truediv__(self, step: Step) -> FieldPath:
        """The path one step further."""
        return FieldPath((*self.steps, step))

    def __str__(self) -> str:
        """As it is written; empty for the object itself."""
        return "".join(map(_written, self.steps)).removeprefix(".")

    @property
    def parent(self) -> FieldPath:
        """The path of what holds the field."""
        return FieldPath(self.steps[:-1])

    @property
    def around(self) -> Iterator[FieldPath]:
        """The paths of the object, of everything that holds the field, and of the field itself."""
        return (FieldPath(self.steps[:end]) for end in range(len(self.steps) + 1))

    def holds(self, inner: Sequence[Step]) -> bool:
        """Whether the steps lead to the field, or to something within it; `*` is any step."""
        pairs = zip(self.steps, inner, strict=False)
        return len(self.steps) <= len(inner) and all(own is Every.KEY or own == other for own, other in pairs)

    def get(self, value: Json) -> Json:
        """The value of the field in an object; None where anything on the way is absent or is something else."""
        return _value_at(value, self.steps)

    def each(self, value: Json) -> Iterator[tuple[FieldPath, Json]]:
        """Every value that a pattern leads to, with its own path; an absent one is left out."""
        return _each(value, self.steps, ())

    def put(self, holder: Json, value: Json) -> Json:
        """A copy of an object with another value of the field; what is not on the way stays shared.

        Mappings on the way are made if they are absent, and so is a list of which the first item is put; putting the
        item after the last one appends it. Raises `LookupError` where something on the way has another shape.
        """
        return _put(holder, self.steps, value)

    def remove(self, holder: Json, *, with_empty: bool = False) -> Json:
        """A copy of an object without the field and, if wanted, without mappings on the way that are empty then.

        It is the very same object where the field is absent.
        """
        return _removed(holder, self.steps, with_empty=with_empty)


# The object itself.
WHOLE: Final = FieldPath()


@lru_cache(maxsize=10_000)
def _parsed(text: str) -> FieldPath:
    names = text.split(".")
    if all(names) and _BESIDE_NAMES.isdisjoint(text):
        return FieldPath(tuple(names))
    written = f".{text}" if text and text[0] not in ".[" else text
    steps: list[Step] = []
    end = 0
    while end < len(written):
        found = _STEP.match(written, end)
        if found is None:
            raise ValueError(f"{text} is not the path of a field")
        end, sort, step = found.end(), found.lastgroup, found[found.lastgroup or 0]
        if sort == "every" or (sort == "name" and step == "*"):
            steps.append(Every.ITEM if sort == "every" else Every.KEY)
        else:
            steps.append(int(step) if sort == "position" else step)
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


def _each(value: Json, steps: tuple[Step, ...], here: tuple[Step, ...]) -> Iterator[tuple[FieldPath, Json]]:
    if not steps:
        yield FieldPath(here), value
        return
    step, rest = steps[0], steps[1:]
    if isinstance(value, Mapping):
        for key in value if step is Every.KEY else [step] if isinstance(step, str) and step in value else ():
            yield from _each(value[key], rest, (*here, key))
    elif isinstance(value, list | tuple):
        for position, item in enumerate(value):
            if step in {Every.ITEM, position}:
                yield from _each(item, rest, (*here, position))


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
        left = _removed(holder[step], rest, with_empty=with_empty) if rest else None
        if not rest or (with_empty and left == {}):
            return {key: value for key, value in holder.items() if key != step}
        return holder if left is holder[step] else {**holder, step: left}
    if isinstance(step, int) and isinstance(holder, list | tuple) and step < len(holder):
        left = [_removed(holder[step], rest, with_empty=with_empty)] if rest else []
        return [*holder[:step], *left, *holder[step + 1 :]]
    return holder


def value_at(value: Json, path: str) -> Json:
    """The value at a path (`spec.targetRef`, see `FieldPath`); None where anything on the way is absent."""
    for step in _steps(path):
        # Nearly all are dicts, whose keys are texts; to ask about any other mapping takes several times as long.
        if isinstance(value, dict):
            value = value.get(step)
        elif value is None:
            return None
        else:
            value = _value_at(value, (step,))
    return value


def mapping_at(value: Json, path: str) -> Mapping[str, Json]:
    """The mapping at a path; an empty one where it is absent or is something else."""
    found = value_at(value, path)
    return found if found is not None and isinstance(found, (dict, Mapping)) else _NO_MAPPING


def items_at(value: Json, path: str) -> Sequence[Json]:
    """The list at a path; an empty one where it is absent or is something else."""
    found = value_at(value, path)
    return found if isinstance(found, (list, tuple)) else ()


def mappings_at(value: Json, path: str) -> list[Mapping[str, Json]]:
    """The mappings in the list at a path; what is not a mapping is left out."""
    return [item for item in items_at(value, path) if isinstance(item, (dict, Mapping))]


def every_mapping(value: Json, path: str) -> Iterator[Mapping[str, Json]]:
    """The mappings at a path, through every list on the way."""
    return (found for _, found in each_mapping(value, path))


def each_mapping(value: Json, path: str) -> Iterator[tuple[FieldPath, Mapping[str, Json]]]:
    """The same with the place of each; a `*` on the way stands for every key."""
    found = _through_lists(value, _parsed(path).steps, ())
    return ((FieldPath(place), each) for place, each in found if isinstance(each, Mapping))


def each_text(value: Json, path: str) -> Iterator[tuple[FieldPath, str]]:
    """The strings at a path in the same way."""
    found = _through_lists(value, _parsed(path).steps, ())
    return ((FieldPath(place), each) for place, each in found if isinstance(each, str))


def _through_lists(
    value: Json, steps: tuple[Step, ...], at: tuple[Step, ...]
) -> Iterator[tuple[tuple[Step, ...], Json]]:
    if isinstance(value, list | tuple):
        for position, item in enumerate(value):
            # Most items of long lists have no such field.
            if not steps or not isinstance(item, dict) or steps[0] in item or steps[0] is Every.KEY:
                yield from _through_lists(item, steps, (*at, position))
    elif not steps:
        yield at, value
    elif isinstance(value, Mapping):
        for step in value if steps[0] is Every.KEY else steps[:1]:
            yield from _through_lists(_value_at(value, (step,)), steps[1:], (*at, step))


def text_at(value: Json, path: str, default: str = "") -> str:
    """The string at a path; `default` where it is absent or is something else."""
    found = value_at(value, path)
    return found if isinstance(found, str) else default


def integer_at(value: Json, path: str) -> int | None:
    """The integer at a path; None where it is absent or is something else (a boolean is something else)."""
    found = value_at(value, path)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def number_in_annotation(raw: Json, name: str) -> int | None:
    """The whole number that an annotation holds; 0 without the annotation, None where it holds something else."""
    written = mapping_at(raw, "metadata.annotations").get(name, "0")
    return int(written) if isinstance(written, str) and _WHOLE_NUMBER.fullmatch(written) else None


def time_at(value: Json, path: str) -> datetime | None:
    """The time at a path, which has to have a zone; None where it is absent or is something else."""
    written = text_at(value, path)
    try:
        found = datetime.fromisoformat(written) if written else None
    except ValueError:
        return None
    return found if found and found.tzinfo else None


def strings_at(value: Json, path: str) -> list[str]:
    """The strings in the list at a path; what is not a string is left out."""
    return [item for item in items_at(value, path) if isinstance(item, str)]


def same_json(one: Json, other: Json) -> bool:
    """Whether two values are the same in JSON, where `true` is not 1, and what is no number is the same as itself."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same_json(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same_json, one, other))
    return type(one) is type(other) and (one == other or str(one) == str(other))


def labels_of(raw: Json) -> dict[str, str]:
    """The labels of an object; entries that are not strings are left out."""
    return {key: value for key, value in mapping_at(raw, "metadata.labels").items() if isinstance(value, str)}
