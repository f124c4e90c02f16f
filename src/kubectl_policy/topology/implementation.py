"""What is known of the implementation whose cluster is looked at."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from kubectl_policy.profiles.implementation import STANDARD_GATEWAYS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubectl_policy.profiles.implementation import GatewayProfile


@dataclass(frozen=True, slots=True)
class Implementation:
    """Choices that no manifest states.

    `unsupported_features` names features as `GatewayClass.status.supportedFeatures` does (`TLSRouteModeMixed`); what is
    not named is taken to be supported. `settings` are those of controllers by the names that profiles give them.
    `gateways_of` looks up how a controller treats Gateways; an analysis puts in what its profiles say.
    """

    unsupported_features: frozenset[str] = frozenset()
    settings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    gateways_of: Callable[[str], GatewayProfile] = field(default=lambda _: STANDARD_GATEWAYS, repr=False, compare=False)
