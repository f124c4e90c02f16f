"""The number of examples with which a law is tried."""

from typing import Final

from hypothesis import settings

# The number of examples by which numbers in tests are meant.
_UNIT: Final = 6


def examples(number: int) -> int:
    """Return a number of examples in the proportion in which the profile has more, or fewer, of everything else."""
    return max(number * settings().max_examples // _UNIT, 1)
