"""Settings of controllers that no manifest states, and names that depend on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Setting(NamedTuple):
    """A setting of a controller that no manifest states: what holds unless a person says otherwise, and what it is."""

    default: str
    description: str


def filled_in(name: str, values: Mapping[str, str]) -> str:
    """A name in which settings stand by their names (`{controllerName}`) with their values."""
    for setting, value in values.items():
        name = name.replace(f"{{{setting}}}", value)
    return name
