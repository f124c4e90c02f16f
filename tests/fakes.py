"""Fakes that implement the protocols."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kubectl_policy.profiles.controllers import STANDARD_GATEWAYS, GatewayProfile

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from kubectl_policy.model import GroupKind
    from kubectl_policy.profiles.controllers import DelegationProfile


@dataclass
class Controllers:
    """Profiles of controllers: of some by name, of all others, and how routes delegate; `asked` is for which kinds."""

    gateways: Mapping[str, GatewayProfile] = field(default_factory=dict[str, GatewayProfile])
    others: GatewayProfile = STANDARD_GATEWAYS
    delegation: tuple[DelegationProfile, ...] = ()
    asked: list[tuple[GroupKind, ...]] = field(default_factory=list[tuple["GroupKind", ...]])

    def gateways_of(self, controller: str) -> GatewayProfile:
        """How a controller treats Gateways."""
        return self.gateways.get(controller, self.others)

    def ports_of(self, group_kind: GroupKind) -> tuple[str, ...] | None:
        """Where the ports of backends stand: of none that is known."""
        del group_kind
        return None

    def delegations(self, kinds: Collection[GroupKind]) -> tuple[DelegationProfile, ...]:
        """How routes delegate to routes."""
        self.asked.append(tuple(kinds))
        return self.delegation
