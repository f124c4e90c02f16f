"""What a policy kind requires of the Gateways that it is for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from kubectl_policy.model import GroupKind


class Switch(NamedTuple):
    """A field of the parameters of a Gateway, or of its class, without which a policy kind is refused there.

    Where a Gateway has no parameters of that kind at all, policies on routes are allowed; `without` says what holds of
    policies on the Gateway itself.
    """

    group_kind: GroupKind
    field: str
    without: Literal["allowed", "refused"] = "refused"
