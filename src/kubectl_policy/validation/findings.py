"""Why an API server would refuse an object, and how much work may be spent on finding out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from kubectl_policy.model import Json

_LONGEST_SHOWN: Final = 200


class Finding(NamedTuple):
    """A field and what is wrong with it, in the words of the API server.

    Where `refused` is false, it is not known whether the field is in order. An API server evaluates no rule on an
    object of which a finding `hides_rules`.
    """

    field: str
    words: str
    refused: bool = True
    hides_rules: bool = False

    @property
    def message(self) -> str:
        """The whole sentence; of an object as such, only the words."""
        return f"{self.field}: {self.words}" if self.field else self.words


def invalid(field: str, value: Json, detail: str, *, hides_rules: bool = False) -> Finding:
    """A value that is not as it must be."""
    return Finding(field, f"Invalid value: {shown(value)}: {detail}", hides_rules=hides_rules)


def unchecked(field: str, why: str) -> Finding:
    """A field of which nobody knows whether it is in order."""
    return Finding(field, why, refused=False)


def shown(value: Json) -> str:
    """A value as the API server writes it, in JSON; a long one is cut."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def below(field: str, name: str) -> str:
    """The path of a field inside of a field; that of the object itself is empty."""
    return f"{field}.{name}" if field else name


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
