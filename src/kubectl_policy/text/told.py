"""The lines of fields in objects of which reading told the lines of all values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from kubectl_policy.model import FieldPath
from kubectl_policy.model.fields import same_json
from kubectl_policy.text.plain_yaml import item_starts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.text import Document
    from kubectl_policy.text.places import Steps

# Any value at all.
ANY: Final[Json] = object()  # type: ignore[assignment]


def told_lines(document: Document) -> dict[int, ToldLines]:
    """The objects in a document, by the lines on which they start; none where reading did not tell them."""
    found: dict[int, ToldLines] = {}
    lines, above = document.value_lines or (), document.lines_above
    for place, start in {(): 0, **item_starts(document.value)}.items() if lines else ():
        steps: Steps = tuple(step for position in place for step in ("items", position))
        told = found.setdefault(lines[start] + above, ToldLines(above))
        told.add(FieldPath(steps).get(document.value), lines, start)
    return found


class ToldLines:
    """The objects that start on a line, the outer one first, as they were read."""

    def __init__(self, above: int) -> None:
        """None yet; so many lines are above the first one of the document that they are in."""
        self._above = above
        self._objects: list[tuple[Json, Sequence[int], int]] = []
        # By the place of a mapping or a list among all values of a document, those of what it holds.
        self._inside: dict[int, dict[str | int, int]] = {}

    def add(self, value: Json, lines: Sequence[int], place: int) -> None:
        """Add an object that comes at a place among all values of a document, which are on these lines."""
        self._objects.append((value, lines, place))

    def line(self, steps: Steps, value: Json) -> int | None:
        """The line of a field of one of the objects, if it has that value there."""
        for obj, lines, start in self._objects:
            here: Any = obj
            place = start
            for step in steps:
                inside = self._places_in(here, place)
                if step not in inside:
                    break
                here, place = here[step], inside[step]
            else:
                if value is ANY or says(here, value):
                    return lines[place] + self._above
        return None

    def _places_in(self, value: Json, place: int) -> dict[str | int, int]:
        """The places of what a mapping or a list holds that comes at a place."""
        if place not in self._inside:
            self._inside[place] = inside = {}
            at = place + 1
            children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
            for step, child in children:
                inside[step] = at
                at += _count(child)
        return self._inside[place]


def _count(value: Json) -> int:
    """How many values a value is, with all that it holds."""
    if isinstance(value, dict):
        return 1 + sum(map(_count, value.values()))
    return 1 + sum(map(_count, value)) if isinstance(value, list) else 1


def says(written: Json, value: Json) -> bool:
    """Whether a value is what is written, as far as both have the same fields."""
    if written is value:
        return True
    if isinstance(written, dict):
        return isinstance(value, Mapping) and all(
            says(written[key], inner) for key, inner in value.items() if key in written
        )
    if isinstance(written, list):
        return isinstance(value, list | tuple) and len(written) == len(value) and all(map(says, written, value))
    return same_json(written, value) or str(value) == written or "${" in str(written)
