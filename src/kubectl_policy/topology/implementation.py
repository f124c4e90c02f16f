"""What is known of the implementation whose cluster is looked at, beside its objects."""

from __future__ import annotations

from dataclasses import field
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from kubectl_policy.model.values import value

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from kubectl_policy.model import GroupKind
    from kubectl_policy.profiles.controllers import DelegationProfile, GatewayProfile


@value()
class Implementation:
    """Choices that no manifest states.

    `unsupported_features` names features as `GatewayClass.status.supportedFeatures` does (`TLSRouteModeMixed`); what is
    not named is taken to be supported. `settings` are those of controllers by the names that profiles give them.
    """

    unsupported_features: frozenset[str] = frozenset()
    settings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


class ControllerProfiles(Protocol):
    """What profiles say of controllers; a `Registry` is one."""

    def gateways_of(self, controller: str, /) -> GatewayProfile:
        """How a controller treats Gateways."""
        ...

    def delegations(self, kinds: Collection[GroupKind], /) -> tuple[DelegationProfile, ...]:
        """How routes delegate to routes, if references of some kinds may mean that."""
        ...
