"""Sets of workloads as bitmaps over their positions, and an index of labels that gives such sets for selectors."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.fields import Json, mapping_at, mappings_at, strings_at, text_at
from kubectl_policy.model.selectors import selects
from kubectl_policy.model.unknown import has_placeholder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_OPERATORS: Final = frozenset({"In", "NotIn", "Exists", "DoesNotExist"})


class PodSet(Struct, frozen=True, gc=False):
    """Workloads that are certainly in a set, and those that may be; bit N stands for the workload at position N."""

    certain: int
    # At least those that are certain.
    possible: int

    @classmethod
    def exactly(cls, positions: int) -> PodSet:
        """Return the set of known members."""
        return cls(positions, positions)

    def __or__(self, other: PodSet) -> PodSet:
        """Return the members of either set."""
        return PodSet(self.certain | other.certain, self.possible | other.possible)

    def __and__(self, other: PodSet) -> PodSet:
        """Return the members of both sets."""
        return PodSet(self.certain & other.certain, self.possible & other.possible)

    def __bool__(self) -> bool:
        """Whether there may be a member."""
        return bool(self.possible)

    @property
    def undecided(self) -> int:
        """The workloads of which it is not known whether they are members."""
        return self.possible & ~self.certain

    def has(self, position: int) -> bool | None:
        """Whether a workload is a member; None if that is not known."""
        bit = 1 << position
        return True if self.certain & bit else None if self.possible & bit else False


NO_PODS: Final = PodSet(0, 0)


def bitmap(positions: Iterable[int]) -> int:
    """Return the bitmap of some positions."""
    listed = [*positions]
    if not listed:
        return 0
    bits = bytearray(max(listed) // 8 + 1)
    for position in listed:
        bits[position >> 3] |= 1 << (position & 7)
    return int.from_bytes(bits, "little")


def positions_in(members: int) -> Iterator[int]:
    """Yield the positions of a bitmap, in ascending order."""
    # Workloads of one namespace are next to each other, behind those of many others.
    base = max((members & -members).bit_length() - 1, 0)
    members >>= base
    # To take the lowest bit off a long integer copies all of it: a word at a time is linear.
    for word in _words(members):
        bits = word
        while bits:
            lowest = bits & -bits
            yield base + lowest.bit_length() - 1
            bits ^= lowest
        base += 64


def _words(members: int) -> Iterator[int]:
    size = (members.bit_length() + 63) // 64 * 8
    data = members.to_bytes(size, "little")
    return (int.from_bytes(data[start : start + 8], "little") for start in range(0, size, 8))


def are_open(labels: Mapping[str, str]) -> bool:
    """Whether something of some labels is to be filled in."""
    return any(has_placeholder(text) for label in labels.items() for text in label)


class LabelIndex:
    """Sets of positions by the labels at these positions."""

    def __init__(self, labels: Sequence[Mapping[str, str]], open_positions: Iterable[int] = ()) -> None:
        """Index labels by position; those at `open_positions` hold placeholders."""
        self._labels = labels
        self._open = [*open_positions]
        self._known = ((1 << len(labels)) - 1) & ~bitmap(self._open)

    @cached_property
    def _positions(self) -> Mapping[str, Mapping[str, Sequence[int]]]:
        """The positions by label and value."""
        positions: dict[str, dict[str, list[int]]] = {}
        for position, labels in enumerate(self._labels):
            for key, value in labels.items():
                positions.setdefault(key, {}).setdefault(value, []).append(position)
        return positions

    # A bitmap for each value that is asked for: a label may have a value of its own for each workload.
    @cached_method
    def _with_value(self, key: str, value: str) -> int:
        return bitmap(self._positions.get(key, {}).get(value, ())) & self._known

    @cached_method
    def _having(self, key: str) -> int:
        return bitmap(chain.from_iterable(self._positions.get(key, {}).values())) & self._known

    def selected(self, selector: Mapping[str, Json], *, has_placeholders: bool = False) -> PodSet:
        """Return the positions whose labels match a selector, which may hold placeholders; see `selects`."""
        if has_placeholders:
            return self._one_by_one(selector, range(len(self._labels)))
        matching = self._known
        for key, value in mapping_at(selector, "matchLabels").items():
            matching &= self._with_value(key, value) if isinstance(value, str) else 0
        for entry in mappings_at(selector, "matchExpressions"):
            matching &= self._matching(text_at(entry, "key"), text_at(entry, "operator"), strings_at(entry, "values"))
        certain = PodSet.exactly(matching)
        return certain | self._one_by_one(selector, self._open) if self._open else certain

    def _matching(self, key: str, operator: str, values: Iterable[str]) -> int:
        """Return the positions that meet one requirement (metav1.LabelSelectorRequirement)."""
        if operator not in _OPERATORS:
            return 0
        if operator in {"Exists", "DoesNotExist"}:
            meeting = self._having(key)
        else:
            meeting = 0
            for value in values:
                meeting |= self._with_value(key, value)
        return meeting if operator in {"In", "Exists"} else self._known & ~meeting

    def _one_by_one(self, selector: Mapping[str, Json], positions: Iterable[int]) -> PodSet:
        verdicts = [(position, selects(selector, self._labels[position])) for position in positions]
        return PodSet(
            bitmap(position for position, verdict in verdicts if verdict),
            bitmap(position for position, verdict in verdicts if verdict is not False),
        )
