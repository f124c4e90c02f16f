"""Enumerate the readings of what an API leaves open: a text is evaluated once for every combination of options."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

T = TypeVar("T")


class Reading:
    """One reading: an option for every question that the evaluation asks, and the same one when it asks again."""

    def __init__(self, picks: Sequence[int] = ()) -> None:
        self._picks = picks
        self._options: dict[Hashable, tuple[int, int]] = {}

    def choose(self, question: Hashable, options: Sequence[T]) -> T:
        """Return the option of this reading; the first one, where the question is new."""
        if question not in self._options:
            number = len(self._options)
            self._options[question] = (self._picks[number] if number < len(self._picks) else 0, len(options))
        return options[self._options[question][0]]

    def next_picks(self) -> list[int] | None:
        """Return the picks of the reading after this one, None after the last."""
        options = list(self._options.values())
        while options:
            pick, count = options.pop()
            if pick + 1 < count:
                return [*(earlier for earlier, _ in options), pick + 1]
        return None


def every_outcome(evaluate: Callable[[Reading], T]) -> list[T]:
    """Evaluate under every reading; a question that no evaluation asks multiplies nothing."""
    outcomes = []
    picks: list[int] | None = []
    while picks is not None:
        reading = Reading(picks)
        outcomes.append(evaluate(reading))
        picks = reading.next_picks()
    return outcomes


def agreed(values: Sequence[T | None]) -> T | None:
    """Return the value that all readings have in common, None where they differ."""
    return values[0] if all(value == values[0] for value in values) else None
