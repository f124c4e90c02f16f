"""How an implementation treats Gateways, listeners and routes, as a profile file says it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GatewayProfile:
    """What holds on the Gateways of some controllers where Gateway API leaves a choice, or where they depart from it.

    `unsupported_features` are named as `GatewayClass.status.supportedFeatures` names them. A Gateway with an address of
    a type that is not among `address_types` (empty: all of the API's) is not accepted. If `invalid_parents` are
    "passed over", a Gateway that is not accepted serves nothing, and to routes that name no listener of it, and to
    policies on these, it does not exist; a listener whose references do not resolve is not valid, and takes no routes.
    `refusals` are the reasons for which a route is not attached, the one first that is reported if several hold.
    """

    unsupported_features: frozenset[str] = frozenset()
    address_types: frozenset[str] = frozenset()
    invalid_parents: str = "served"
    refusals: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()

    @property
    def passes_over(self) -> bool:
        """Whether Gateways that are not accepted, and listeners that are not valid, serve nothing."""
        return self.invalid_parents == "passedOver"


# What holds where nobody has said otherwise.
STANDARD_GATEWAYS = GatewayProfile()
