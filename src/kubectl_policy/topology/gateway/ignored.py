"""Gateways and listeners that serve nothing because they are not valid, where controllers ignore such."""

from __future__ import annotations

from typing import Final, NamedTuple

# The reason for which a route is not attached to a listener that is not valid itself.
INVALID_LISTENER: Final = "InvalidListener"


class Ignored(NamedTuple):
    """Why routes do not attach to a Gateway or to a listener: the reason that a route reports, and why in words."""

    reason: str
    message: str
