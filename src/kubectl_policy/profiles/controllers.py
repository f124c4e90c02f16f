"""What holds for a whole implementation: how its controllers report, treat Gateways, and let routes delegate."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from msgspec.structs import replace

from kubectl_policy.profiles.shapes import (
    KIND,
    NAME,
    PATH,
    Boolean,
    Choice,
    Declared,
    Entries,
    Items,
    Record,
    Text,
    camel_case,
    field_of,
    required_field,
    set_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model import GroupKind, Json

Placement: TypeAlias = Literal["policy", "targets", "parents", "owners", "gateways", "parentGateways"]
EnforcedBy: TypeAlias = Literal["paths", "merges"]
Affects: TypeAlias = Literal["below", "targets"]
NarrowedBy: TypeAlias = Literal["policies", "targets"]
InvalidParents: TypeAlias = Literal["served", "passedOver"]
# The reasons for which a route is not attached, as `RouteConditionReason` names them.
RouteRefusal: TypeAlias = Literal["NoMatchingParent", "NotAllowedByListeners", "NoMatchingListenerHostname"]
Event: TypeAlias = Literal[
    "accepted",
    "target missing",
    "section missing",
    "not permitted",
    "kind unsupported",
    "conflicted",
    "invalid",
    "target invalid",
    "overlapping",
    "not enabled",
    "filter unsupported",
    "not computed",
    "enforced",
    "partially enforced",
    "overridden",
    "no effect",
    "contended",
    "narrowed",
    "merged",
    "merged into",
    "affected",
]
# What can be said of a policy, or (`affected`) of an object that it affects.
EVENTS: Final[Mapping[Event, str]] = {
    "accepted": "it is accepted",
    "target missing": "its target does not exist",
    "section missing": "its target has no such section",
    "not permitted": "it may not reach the namespace of its target",
    "kind unsupported": "it may not target this kind",
    "conflicted": "another policy has its target already",
    "invalid": "it is invalid",
    "target invalid": "its target is not valid itself",
    "overlapping": "its target shares requests with a route that it does not target",
    "not enabled": "the parameters of a Gateway do not allow it",
    "filter unsupported": "a filter names it that cannot",
    "not computed": "a filter names it for one backend only",
    "enforced": "all of it is in force",
    "partially enforced": "a part of it is in force",
    "overridden": "others replace all of it",
    "no effect": "there is nothing that it could affect",
    "contended": "it shares what must not be shared",
    "narrowed": "policies further down have targets of their own",
    "merged": "it is merged with one above it",
    "merged into": "one below it is merged with it",
    "affected": "a policy affects the object, on which this is written",
}

CONTROLLERS: Final = set_of(NAME, least=1)
EVIDENCE: Final = Items(Text(least=8), least=1)


class ConditionWords(Declared, frozen=True):
    """A condition as one implementation words it."""

    type: str = required_field(NAME)
    """Its type; `{kind}` stands for the policy kind."""
    status: str = required_field(Choice(("True", "False", "Unknown")))
    """Its status, in quotes: `"True"`, `"False"` or `"Unknown"`."""
    reason: str = required_field(NAME)
    """Its reason."""


class _Together(Declared, frozen=True):
    """Conditions that are written at once."""

    first: ConditionWords = required_field(Record(ConditionWords), spread=True)
    also: tuple[ConditionWords, ...] = field_of(Items(Record(ConditionWords), least=1), default=())
    """Further conditions that are written at the same time."""


class _Conditions(Record):
    """One condition or several, of which a file has the others within the first one."""

    def read(self, plain: dict[str, Any]) -> tuple[ConditionWords, ...]:
        together: _Together = super().read(plain)
        return (together.first, *together.also)

    def write(self, meant: Any) -> dict[str, Json]:  # noqa: ANN401 (conditions)
        first, *also = meant
        return super().write(_Together(first, tuple(also)))


# GEP-713, "Policy status", and apis/v1/policy_types.go: PolicyConditionAccepted with its reasons.
_STANDARD: Final[Mapping[Event, tuple[ConditionWords, ...]]] = MappingProxyType(
    {
        "accepted": (ConditionWords("Accepted", "True", "Accepted"),),
        "target missing": (ConditionWords("Accepted", "False", "TargetNotFound"),),
        "section missing": (ConditionWords("Accepted", "False", "TargetNotFound"),),
        "not permitted": (ConditionWords("Accepted", "False", "TargetNotFound"),),
        "kind unsupported": (ConditionWords("Accepted", "False", "Invalid"),),
        "conflicted": (ConditionWords("Accepted", "False", "Conflicted"),),
        "invalid": (ConditionWords("Accepted", "False", "Invalid"),),
    }
)


class StatusProfile(Declared, frozen=True, kw_only=True):
    """Where and in which words a kind's controllers report."""

    placement: Placement = field_of(Choice(Placement), default="gateways", always=True)
    """Where conditions are written: `policy`, in `status.conditions` of the policy; or in `status.ancestors`, with an
    entry for each target (`targets`), for each parent of a target route (`parents`), the same with the Gateway or
    ListenerSet of a listener in its stead (`owners`), for each Gateway above (`gateways`), or for each that the routes
    to a target name as a parent, attached or not (`parentGateways`).
    """
    narrowed_by: NarrowedBy = field_of(Choice(NarrowedBy), default="policies")
    """What `narrowed` lists: targets further down that have policies of their own (`policies`), or the places further
    down where such policies take effect instead (`targets`).
    """
    enforced_by: EnforcedBy = field_of(Choice(EnforcedBy), default="paths")
    """What conditions on enforcement are about: all of a policy's `paths` together; or, place by place, the `merges`
    that the policy is in: `enforced` is a part in every field, `partiallyEnforced` in some,
    `overridden` in none of one merge.
    """
    affects: Affects = field_of(Choice(Affects), default="below")
    """Which objects `affected` is about: all that a policy counts for (`below`), or its own targets alone, whether
    or not it is in force (`targets`).
    """
    conditions: Mapping[Event, tuple[ConditionWords, ...]] = field_of(
        Entries(_Conditions(_Together), names={camel_case(event): event for event in EVENTS}), default=_STANDARD
    )
    """A map from [what can be said of a policy](#what-can-be-said-of-a-policy) to the condition that says so; what is
    not in the map is not reported. Without it: those of GEP-713.
    """
    target_annotation: str = field_of(NAME, default="")
    """An annotation on targets that names the policies attached there, as `namespace/name`, several with commas between
    them, or as a JSON list of such mappings; `{kind}` stands for the policy kind in lower case.
    """

    def of(self, kind: GroupKind) -> StatusProfile:
        """The same with a kind for `{kind}`."""
        if not any("{kind}" in text for text in self._texts()):
            return self
        conditions: dict[Event, tuple[ConditionWords, ...]] = {
            event: tuple(replace(each, type=each.type.replace("{kind}", kind.kind)) for each in words)
            for event, words in self.conditions.items()
        }
        annotation = self.target_annotation.replace("{kind}", kind.kind.lower())
        return replace(self, conditions=MappingProxyType(conditions), target_annotation=annotation)

    def _texts(self) -> Iterator[str]:
        yield self.target_annotation
        yield from (each.type for words in self.conditions.values() for each in words)


STANDARD_STATUS: Final = StatusProfile()


class GatewayProfile(Declared, frozen=True, kw_only=True):
    """What holds on Gateways of some controllers where Gateway API leaves a choice, or where they depart from it."""

    unsupported_features: frozenset[str] = field_of(set_of(NAME), default=frozenset())
    """Features of Gateway API that the controllers lack, as `GatewayClass.status.supportedFeatures` names them."""
    address_types: frozenset[str] = field_of(set_of(NAME), default=frozenset())
    """The types of `spec.addresses` with which a Gateway is accepted. Without it: those of Gateway API."""
    invalid_parents: InvalidParents = field_of(Choice(InvalidParents), default="served")
    """`passedOver`: a Gateway that is not accepted serves nothing, and does not exist for routes that name no listener
    of it, nor for policies on these; a listener whose references do not resolve takes no routes. `served`: what is not
    valid is reported, and no more.
    """
    refusals: tuple[RouteRefusal, ...] = field_of(Items(Choice(RouteRefusal)), default=())
    """The reasons for which a route is not attached (`NoMatchingParent`, `NotAllowedByListeners`,
    `NoMatchingListenerHostname`), the one first that is reported if several hold. Without it: the nearest miss:
    hostname, then namespace and kind.
    """
    evidence: tuple[str, ...] = field_of(EVIDENCE, default=(), required=True)
    """Where this is written."""

    @property
    def ignores_invalid(self) -> bool:
        """Whether Gateways that are not accepted, and listeners that are not valid, serve nothing."""
        return self.invalid_parents == "passedOver"


# What holds where no profile says otherwise.
STANDARD_GATEWAYS: Final = GatewayProfile()


class ControllerSetting(Declared, frozen=True):
    """A setting of a controller that no manifest states."""

    default: str = required_field(Text())
    """What holds unless a person says otherwise."""
    description: str = required_field(NAME)
    """What it is."""


def filled_in(name: str, values: Mapping[str, str]) -> str:
    """A name in which settings stand by their names (`{controllerName}`) with their values."""
    for setting, value in values.items():
        name = name.replace(f"{{{setting}}}", value)
    return name


class BackendProfile(Declared, frozen=True, kw_only=True):
    """What is known of a kind of backends, whose sections are its ports, by their numbers."""

    ports: tuple[str, ...] = required_field(Items(PATH, least=1))
    """Where the numbers of its ports stand; lists on the way are gone through."""
    evidence: tuple[str, ...] = required_field(EVIDENCE)
    """Where this is written."""


class ByLabel(Declared, frozen=True):
    """A reference of a kind that no API serves: it names a value of a label, and stands for the routes that have it."""

    group_kind: GroupKind = required_field(KIND, spread=True)
    label: str = required_field(NAME)
    """The label of HTTPRoutes whose value the reference names."""
    all_namespaces: str = field_of(Text(), default="")
    """The namespace of such a reference that stands for every namespace. Without it: those of its own namespace are
    meant.
    """


class DelegationProfile(Declared, frozen=True, kw_only=True):
    """What holds where rules of HTTPRoutes refer to HTTPRoutes, on Gateways of these controllers (empty: of any)."""

    # The group, the controllers and the defaults of settings are those of the profile file.
    group: str
    controllers: frozenset[str] = frozenset()
    settings: tuple[tuple[str, str], ...] = ()
    every_route: str = field_of(Text(), default="")
    """The name by which a `backendRef` of kind HTTPRoute means every route of its namespace, as one without a name
    does. Without it: no name.
    """
    by_label: ByLabel | None = field_of(Record(ByLabel), default=None)
    """The `group` and `kind` of a `backendRef` that names no object but the value of a `label`, and means the
    HTTPRoutes that have it: those of its namespace, or all where the namespace is `allNamespaces`.
    """
    inherit_matches: str = field_of(Text(), default="")
    """The annotation by which a route joins its matches to those of the rule that delegates to it, instead of having to
    lie within them.
    """
    grant_required: bool = field_of(Boolean(), default=True)
    """Whether a ReferenceGrant is needed to delegate to another namespace."""
    evidence: tuple[str, ...] = required_field(EVIDENCE)
    """Where this is written."""

    def under(self, values: Mapping[str, str]) -> DelegationProfile:
        """The profile that holds under settings; one without a value has its default."""
        said = {name: values.get(name, default) for name, default in self.settings}
        return replace(self, controllers=frozenset(filled_in(name, said) for name in self.controllers))
