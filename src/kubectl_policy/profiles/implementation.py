"""What holds for a whole implementation: how its routes delegate, and how it treats Gateways."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import GroupKind


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
    def ignores_invalid(self) -> bool:
        """Whether Gateways that are not accepted, and listeners that are not valid, serve nothing."""
        return self.invalid_parents == "passedOver"


# What holds where nobody has said otherwise.
STANDARD_GATEWAYS = GatewayProfile()


class ControllerSetting(NamedTuple):
    """A setting of a controller that no manifest states: what holds unless a person says otherwise, and what it is."""

    default: str
    description: str


def filled_in(name: str, values: Mapping[str, str]) -> str:
    """A name in which settings stand by their names (`{controllerName}`) with their values."""
    for setting, value in values.items():
        name = name.replace(f"{{{setting}}}", value)
    return name


class ByLabel(NamedTuple):
    """A reference of a kind that no API serves: it names a value of a label, and stands for the routes that have it.

    The namespace of such a reference may be `all_namespaces`, a word that no namespace is meant by.
    """

    group_kind: GroupKind
    label: str
    all_namespaces: str


@dataclass(frozen=True, slots=True)
class DelegationProfile:
    """What holds where a rule of an HTTPRoute refers to HTTPRoutes, on Gateways of these controllers (empty: of any).

    `group` is the API group of the profile file. A reference with the name `every_route`, or without a name, stands for
    every route of its namespace. A route with the annotation `inherit_matches` joins its matches to those of the rule
    that delegates to it, instead of having to lie within them. `grant_required` says whether a reference to another
    namespace needs a ReferenceGrant there. `settings` are those of the file, with their defaults.
    """

    group: str
    controllers: frozenset[str]
    every_route: str
    by_label: ByLabel | None
    inherit_matches: str
    grant_required: bool
    evidence: tuple[str, ...]
    settings: tuple[tuple[str, str], ...] = ()

    def under(self, values: Mapping[str, str]) -> DelegationProfile:
        """The profile that holds under settings; one without a value has its default."""
        said = {name: values.get(name, default) for name, default in self.settings}
        return replace(self, controllers=frozenset(filled_in(name, said) for name in self.controllers))
