"""Index of labels by position: the positions that a selector selects, without looking at each of them."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Final

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.selectors import requirements_of
from kubectl_policy.model.unknown import has_placeholder, is_unfilled, may_be_label
from kubectl_policy.topology.workloads.pod_sets import PodSet, bitmap

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_policy.model.fields import Json

_OPERATORS: Final = frozenset({"In", "NotIn", "Exists", "DoesNotExist"})


class LabelIndex:
    """Labels at positions, which may hold placeholders."""

    def __init__(self, labels: Sequence[Mapping[str, str]], incomplete: int = 0) -> None:
        """Index labels by position; those at `incomplete` positions may have further labels."""
        self._labels = labels
        self._incomplete = incomplete
        self._everything = (1 << len(labels)) - 1

    def selected(self, selector: Mapping[str, Json]) -> PodSet:
        """Return the positions whose labels match a selector; see `selects`."""
        chosen = PodSet.exactly(self._everything)
        for key, operator, values in requirements_of(selector):
            chosen &= self._meeting(key, operator, values)
        return chosen

    def _meeting(self, key: str, operator: str, values: Sequence[str]) -> PodSet:
        """Return the positions that meet one requirement (metav1.LabelSelectorRequirement)."""
        if operator not in _OPERATORS:
            return PodSet(0, self._everything if is_unfilled(operator) else 0)
        is_about_values = operator in {"In", "NotIn"}
        meeting = self._with_any(key, values) if is_about_values else self._having(key)
        if operator in {"In", "Exists"}:
            return meeting
        return PodSet(self._everything & ~meeting.possible, self._everything & ~meeting.certain)

    def _having(self, key: str) -> PodSet:
        certain = self._with_key(key)
        return PodSet(certain, certain | self._perhaps_having(key))

    def _with_any(self, key: str, values: Sequence[str]) -> PodSet:
        """Return the positions with a label of one of some values."""
        certain = 0
        for value in values:
            certain |= self._with_value(key, value)
        possible = certain | (self._perhaps_having(key) if values else 0)
        for value in values:
            candidates = self._positions.get(key, {}) if has_placeholder(value) else self._open_values(key)
            for candidate in candidates:
                if may_be_label(candidate, value):
                    possible |= self._with_value(key, candidate)
        return PodSet(certain, possible)

    @cached_method
    def _perhaps_having(self, key: str) -> int:
        """Return the positions without a label that may have it once keys are filled in, or all labels are known."""
        candidates = self._positions if has_placeholder(key) else self._open_keys
        possible = self._incomplete
        for candidate in candidates:
            if may_be_label(candidate, key):
                possible |= self._with_key(candidate)
        return possible & ~self._with_key(key)

    @cached_property
    def _positions(self) -> Mapping[str, Mapping[str, Sequence[int]]]:
        """The positions by label and value."""
        positions: dict[str, dict[str, list[int]]] = {}
        for position, labels in enumerate(self._labels):
            for key, value in labels.items():
                positions.setdefault(key, {}).setdefault(value, []).append(position)
        return positions

    @cached_property
    def _open_keys(self) -> Sequence[str]:
        return tuple(filter(has_placeholder, self._positions))

    @cached_method
    def _open_values(self, key: str) -> Sequence[str]:
        return tuple(filter(has_placeholder, self._positions.get(key, ())))

    # A bitmap for each value that is asked for: a label may have a value of its own for each workload.
    @cached_method
    def _with_value(self, key: str, value: str) -> int:
        return bitmap(self._positions.get(key, {}).get(value, ()))

    @cached_method
    def _with_key(self, key: str) -> int:
        positions: Iterable[int] = chain.from_iterable(self._positions.get(key, {}).values())
        return bitmap(positions)
