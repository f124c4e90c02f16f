"""Sizes in a policy that must not be less than others in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import value_at

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy.model import Json, Resource

_SIZE: Final = re.compile(r"([0-9]{1,9})([kmg]?)", re.IGNORECASE)
_UNITS: Final = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}


def too_small(policy: Resource, least_sizes: Mapping[str, Sequence[str]]) -> str:
    """Which size of a policy is less than one that it must not be less than, in words; empty if none is.

    Fields are paths below `spec`; what is absent, or no size, is not compared. A size is a number of bytes, with `k`,
    `m` or `g` for powers of 1024 (nginx: "Sizes can be specified in bytes, kilobytes or megabytes").
    """
    for field, others in least_sizes.items():
        for other in others:
            here, there = (value_at(policy.raw, f"spec.{path}") for path in (field, other))
            size, least = _bytes(here), _bytes(there)
            if size is not None and least is not None and size < least:
                return f"spec.{field} ({here}) is less than spec.{other} ({there})"
    return ""


def _bytes(value: Json) -> int | None:
    found = _SIZE.fullmatch(str(value)) if isinstance(value, str | int) and not isinstance(value, bool) else None
    return int(found[1]) * _UNITS[found[2].lower()] if found else None
