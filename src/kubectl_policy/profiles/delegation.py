"""How the routes of an implementation delegate to other routes, as a profile file says it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from kubectl_policy.profiles.settings import filled_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import GroupKind


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
