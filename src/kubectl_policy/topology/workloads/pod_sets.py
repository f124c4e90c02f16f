"""Sets of workloads as bitmaps over their positions: certain and possible members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


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
