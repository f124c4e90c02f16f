"""Gateways and listeners that serve nothing because they are not valid, where controllers pass such over."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from kubectl_policy.topology.handshake import Binding

# The reason for which a route is not attached to a listener that is not valid itself.
INVALID_LISTENER: Final = "InvalidListener"


class PassedOver(NamedTuple):
    """Why routes do not attach to a Gateway or to a listener: the reason that a route reports, and why in words."""

    reason: str
    message: str


def without_passed_over(binding: Binding, found: PassedOver | None) -> Binding:
    """A binding as it is where a Gateway or listener is passed over: refused, if nothing else refuses it."""
    if found is None or not (found.reason != INVALID_LISTENER or binding.is_counted):
        return binding
    return replace(binding, state="refused", reason=found.reason, message=found.message)
