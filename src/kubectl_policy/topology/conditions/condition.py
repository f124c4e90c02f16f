"""The conditions that a conformant controller would report, as values."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

ConditionStatus: TypeAlias = Literal["True", "False", "Unknown"]


class Condition(NamedTuple):
    """A condition as in `metav1.Condition`.

    The status is Unknown, with the reason Pending, where it depends on something that was not read; the message then
    says on what.
    """

    type: str
    status: ConditionStatus
    reason: str
    message: str = ""


def unknown(kind: str, message: str) -> Condition:
    """A condition that cannot be decided."""
    return Condition(kind, "Unknown", "Pending", message)
