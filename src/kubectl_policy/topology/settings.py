"""What is known of the implementation whose cluster is looked at."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """Choices that no manifest states.

    `unsupported_features` names features as `GatewayClass.status.supportedFeatures` does (`TLSRouteModeMixed`); what is
    not named is taken to be supported.
    """

    unsupported_features: frozenset[str] = frozenset()
