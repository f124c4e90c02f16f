"""How much work may be done for one object: schemas come from anywhere, and some ask for more than a machine has."""

from __future__ import annotations

from typing import Final

# A unit takes some 20 nanoseconds; the largest Gateway that its own schema allows needs half of these.
UNITS: Final = 200_000_000


class Budget:
    """The work that is left for one object."""

    def __init__(self, units: int = UNITS) -> None:
        """Start with so many units."""
        self.left = units

    def afford(self, units: int) -> bool:
        """Take the units if there are enough; what cannot be afforded costs nothing."""
        if units > self.left:
            return False
        self.left -= units
        return True

    def spend(self, units: int) -> None:
        """Take units for what has been done already, down to nothing."""
        self.left = max(0, self.left - units)
