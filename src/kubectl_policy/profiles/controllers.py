"""Choices of a whole implementation: reports of its controllers, Gateways, backends, delegation, settings of rules."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.model import GroupKind
from kubectl_policy.profiles.reading import ALWAYS, INTERNAL, NOTHING, REQUIRED, SPREAD, FieldName, Name, SecurityField
from kubectl_policy.profiles.summary import SummaryPart

if TYPE_CHECKING:
    from collections.abc import Iterator

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
# The events on which conditions of a policy, or (`affected`) of an affected object, are written.
EVENTS: Final[Mapping[Event, str]] = {
    "accepted": "the policy is accepted",
    "target missing": "the target does not exist",
    "section missing": "the target has no such section",
    "not permitted": "the policy may not refer to the namespace of the target",
    "kind unsupported": "the policy may not target this kind",
    "conflicted": "another policy already has the target",
    "invalid": "the policy is invalid",
    "target invalid": "the target itself is invalid",
    "overlapping": "the target shares requests with a route that the policy does not target",
    "not enabled": "the parameters of a Gateway do not enable the policy",
    "filter unsupported": "a filter that cannot attach the policy names it",
    "not computed": "a filter names the policy for one backend only",
    "enforced": "the whole policy is in force",
    "partially enforced": "a part of the policy is in force",
    "overridden": "other policies replace the whole policy",
    "no effect": "there is no object that the policy could affect",
    "contended": "the policy shares an entry that targets must not share",
    "narrowed": "policies further down have targets of their own",
    "merged": "the policy is merged with a policy above it",
    "merged into": "a policy below it is merged with the policy",
    "affected": "a policy affects the object that has the condition",
}

Controllers: TypeAlias = Annotated[frozenset[Name], Meta(min_length=1)]
Evidence: TypeAlias = Annotated[tuple[Annotated[str, Meta(min_length=8)], ...], Meta(min_length=1)]


class ConditionWords(Struct, frozen=True, rename="camel"):
    """A condition as one implementation words it."""

    type: Name
    """Its type; `{kind}` stands for the policy kind."""
    status: Literal["True", "False", "Unknown"]
    """Its status, in quotes: `"True"`, `"False"` or `"Unknown"`."""
    reason: Name
    """Its reason."""


class ConditionInFile(ConditionWords, frozen=True, rename="camel"):
    """A condition in a file, with those that are written at once."""

    also: Annotated[tuple[ConditionWords, ...], Meta(min_length=1)] = ()
    """Further conditions that are written at the same time."""


_Conditions: TypeAlias = Annotated[tuple[ConditionWords, ...], Meta(extra={"in_files": ConditionInFile})]

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


class StatusProfile(Struct, frozen=True, kw_only=True, rename="camel"):
    """The places and conditions with which a kind's controllers report."""

    placement: Annotated[Placement, ALWAYS] = "gateways"
    """Where conditions are written: `policy`, in `status.conditions` of the policy; or in `status.ancestors`, with an
    entry for each target (`targets`), for each parent of a target route (`parents`), the same with the Gateway or
    ListenerSet of a listener in its stead (`owners`), for each Gateway above (`gateways`), or for each that the routes
    to a target name as a parent, attached or not (`parentGateways`).
    """
    narrowed_by: NarrowedBy = "policies"
    """What `narrowed` lists: targets further down that have policies of their own (`policies`), or the places further
    down where such policies take effect instead (`targets`).
    """
    enforced_by: EnforcedBy = "paths"
    """What conditions on enforcement are about: all of a policy's `paths` together; or, place by place, the `merges`
    that the policy is in: `enforced` is a part in every field, `partiallyEnforced` in some,
    `overridden` in none of one merge.
    """
    affects: Affects = "below"
    """Which objects `affected` is about: all that a policy counts for (`below`), or its own targets alone, whether
    or not it is in force (`targets`).
    """
    conditions: Mapping[Event, _Conditions] = _STANDARD
    """A map from [what can be said of a policy](#what-can-be-said-of-a-policy) to the condition that says so; what is
    not in the map is not reported. Without it: those of GEP-713.
    """
    target_annotation: Name = ""
    """An annotation on targets that names the policies attached there, as `namespace/name`, several with commas between
    them, or as a JSON list of such mappings; `{kind}` stands for the policy kind in lower case.
    """

    def of(self, kind: GroupKind) -> StatusProfile:
        """Return the profile with the name of a kind in place of `{kind}`."""
        if not any("{kind}" in text for text in self._texts()):
            return self
        conditions: dict[Event, tuple[ConditionWords, ...]] = {
            event: tuple(
                replace(condition, type=condition.type.replace("{kind}", kind.kind)) for condition in conditions
            )
            for event, conditions in self.conditions.items()
        }
        annotation = self.target_annotation.replace("{kind}", kind.kind.lower())
        return replace(self, conditions=MappingProxyType(conditions), target_annotation=annotation)

    def _texts(self) -> Iterator[str]:
        yield self.target_annotation
        yield from (condition.type for conditions in self.conditions.values() for condition in conditions)


STANDARD_STATUS: Final = StatusProfile()


class GatewayProfile(Struct, frozen=True, kw_only=True, rename="camel"):
    """The treatment of Gateways by some controllers, where Gateway API leaves a choice or they depart from it."""

    unsupported_features: frozenset[Name] = frozenset()
    """Features of Gateway API that the controllers lack, as `GatewayClass.status.supportedFeatures` names them."""
    address_types: frozenset[Name] = frozenset()
    """The types of `spec.addresses` with which a Gateway is accepted. Without it: those of Gateway API."""
    invalid_parents: InvalidParents = "served"
    """`passedOver`: a Gateway that is not accepted serves nothing, and does not exist for routes that name no listener
    of it, nor for policies on these; a listener whose references do not resolve takes no routes. `served`: what is not
    valid is reported, and no more.
    """
    refusals: tuple[RouteRefusal, ...] = ()
    """The reasons for which a route is not attached (`NoMatchingParent`, `NotAllowedByListeners`,
    `NoMatchingListenerHostname`), the one first that is reported if several hold. Without it: the nearest miss:
    hostname, then namespace and kind.
    """
    evidence: Annotated[Evidence, REQUIRED] = ()
    """Where this is written."""

    @property
    def ignores_invalid(self) -> bool:
        """Whether Gateways that are not accepted, and listeners that are not valid, serve nothing."""
        return self.invalid_parents == "passedOver"


# What holds where no profile says otherwise.
STANDARD_GATEWAYS: Final = GatewayProfile()


class ControllerSetting(Struct, frozen=True, rename="camel"):
    """A setting of a controller that no manifest states."""

    default: str
    """What holds unless a person says otherwise."""
    description: Name
    """What it is."""


def fill_in(name: str, values: Mapping[str, str]) -> str:
    """Replace names of settings (`{controllerName}`) in a name by their values."""
    for setting, value in values.items():
        name = name.replace(f"{{{setting}}}", value)
    return name


class BackendProfile(Struct, frozen=True, kw_only=True, rename="camel"):
    """A kind of backends, whose sections are its ports, by their numbers."""

    ports: Annotated[tuple[FieldName, ...], Meta(min_length=1)]
    """Where the numbers of its ports stand; lists on the way are gone through."""
    evidence: Evidence
    """Where this is written."""


class ByLabel(Struct, frozen=True, rename="camel"):
    """A reference of a kind that no API serves: it names a value of a label, and stands for the routes that have it."""

    group_kind: Annotated[GroupKind, SPREAD]
    label: Name
    """The label of HTTPRoutes whose value the reference names."""
    all_namespaces: str = ""
    """The namespace of such a reference that stands for every namespace. Without it: those of its own namespace are
    meant.
    """


class DelegationProfile(Struct, frozen=True, kw_only=True, rename="camel"):
    """The delegation of HTTPRoutes to HTTPRoutes on Gateways of some controllers (empty: of any)."""

    # The group, the controllers and the defaults of settings are those of the profile file.
    group: Annotated[str, INTERNAL]
    controllers: Annotated[frozenset[str], INTERNAL] = frozenset()
    settings: Annotated[tuple[tuple[str, str], ...], INTERNAL] = ()
    every_route: str = ""
    """The name by which a `backendRef` of kind HTTPRoute means every route of its namespace, as one without a name
    does. Without it: no name.
    """
    by_label: ByLabel | None = None
    """The `group` and `kind` of a `backendRef` that names no object but the value of a `label`, and means the
    HTTPRoutes that have it: those of its namespace, or all where the namespace is `allNamespaces`.
    """
    inherit_matches: str = ""
    """The annotation by which a route joins its matches to those of the rule that delegates to it, instead of having to
    lie within them.
    """
    grant_required: bool = True
    """Whether a ReferenceGrant is needed to delegate to another namespace."""
    evidence: Evidence
    """Where this is written."""

    def under(self, values: Mapping[str, str]) -> DelegationProfile:
        """Return the profile under settings; one without a value has its default."""
        settings = {name: values.get(name, default) for name, default in self.settings}
        return replace(self, controllers=frozenset(fill_in(name, settings) for name in self.controllers))


# Where profiles of policy kinds say what a rule of a route itself says.
OF_RULE: Final = "rule."


class RouteSettings(Struct, frozen=True, kw_only=True, rename="camel"):
    """The settings that rules of a kind of routes make themselves, without any policy.

    The weights of backends and the filters of backendRefs are settings as well.
    """

    fields: Mapping[str, Name] = NOTHING
    """A map from the fields of a rule that are settings, each with all that is below it, to what people call them, in
    the singular: `timeouts: timeout`.
    """
    filters: Mapping[str, Name] = NOTHING
    """The same for what a filter of a rule, or of one of its backendRefs, may hold: `requestRedirect: redirect`. Other
    filters are none of these settings.
    """
    keys: Mapping[str, FieldName] = NOTHING
    """A map from lists among the settings to the field by which their elements are told apart, a text or a reference;
    of a filter that a rule may have several times, it is a field of the filter. Without it: lists come whole.
    """
    security_fields: frozenset[SecurityField] = frozenset()
    """The settings whose loss takes a protection away, as `securityFields` of a policy kind has them."""
    summary: Annotated[tuple[SummaryPart, ...], Meta(min_length=1)] = ()
    """What they are called in short, as `summary` of a policy kind has it. Without it: by their names."""
    evidence: Evidence
    """Where this is written."""

    def setting_name(self, object_field: str) -> str:
        """Return the name of the setting that a field of `rule` is part of; `setting` without a name."""
        first = object_field.removeprefix(OF_RULE).partition(".")[0]
        return self.fields.get(first) or self.filters.get(first) or "setting"
