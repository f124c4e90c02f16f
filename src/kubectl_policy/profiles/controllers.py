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
from kubectl_policy.profiles.values import BackendRule, RouteRule

if TYPE_CHECKING:
    from collections.abc import Iterator

Placement: TypeAlias = Literal["policy", "targets", "namesakes", "parents", "owners", "gateways", "parentGateways"]
EnforcedBy: TypeAlias = Literal["paths", "merges"]
Affects: TypeAlias = Literal["below", "targets"]
NarrowedBy: TypeAlias = Literal["policies", "targets"]
InvalidParents: TypeAlias = Literal["served", "passedOver"]
Conflicting: TypeAlias = Literal["all", "valid"]
SharedPorts: TypeAlias = Literal["none", "first"]
ClaimedHostnames: TypeAlias = Literal["attached", "refused"]
Certificates: TypeAlias = Literal["required", "elsewhere", "unknown"]
SharedHostnames: TypeAlias = Literal["accepted", "refused", "unknown"]
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
    "setting ignored",
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
    "setting ignored": "controllers ignore a setting whose object is missing or may not be named",
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
    """The type of the condition; `{kind}` stands for the policy kind."""
    status: Literal["True", "False", "Unknown"]
    """The status of the condition, in quotes: `"True"`, `"False"` or `"Unknown"`."""
    reason: Name
    """The reason of the condition."""


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
    """The place of the conditions. `policy`: in `status.conditions` of the policy. All other values: in
    `status.ancestors`, with one entry per target (`targets`); per Gateway with the name of a target, or GatewayClass if
    Gateways are merged, whatever kind the target has (`namesakes`); per parent of a target route (`parents`); the same,
    or the Gateway or ListenerSet of a target listener (`owners`); per Gateway above the target (`gateways`); or per
    Gateway that the routes to the target name as a parent, attached or not (`parentGateways`).
    """
    narrowed_by: NarrowedBy = "policies"
    """The content of `narrowed`: targets further down that have policies of their own (`policies`), or the nodes
    further down on which such policies take effect instead (`targets`).
    """
    enforced_by: EnforcedBy = "paths"
    """The extent of conditions on enforcement: all `paths` of a policy together, or each of its `merges`. For merges,
    `enforced` means that the policy contributes to every field, `partiallyEnforced` to some fields, and `overridden` to
    no field of one merge.
    """
    affects: Affects = "below"
    """The objects on which `affected` is reported: all objects below the targets for which a policy counts (`below`),
    or only its targets, whether or not it is in force (`targets`).
    """
    conditions: Mapping[Event, _Conditions] = _STANDARD
    """A map from [events](#events) to conditions; other events are not reported. Without it: those of GEP-713."""
    target_annotation: Name = ""
    """An annotation on targets that names the policies attached to them: `namespace/name`, separated by commas, or a
    JSON list of such mappings. `{kind}` stands for the policy kind in lower case.
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


class RuleReplacement(Struct, frozen=True, kw_only=True, rename="camel"):
    """The condition that reports on a route, for each parent, whether rules answer with an error instead."""

    programmed: ConditionWords
    """The condition if no rule is replaced."""
    replaced: ConditionWords
    """The condition if a rule answers with an error, because a policy there is invalid or a filter does not exist."""


class MergingParameter(Struct, frozen=True, rename="camel"):
    """A field of the parameters of a GatewayClass that, if true, merges all Gateways of the class into one."""

    group_kind: Annotated[GroupKind, SPREAD]
    field: FieldName
    """The field below `spec` of the parameters."""


class PodLabels(Struct, frozen=True, rename="camel"):
    """Labels of Pods that name the Gateway that they serve."""

    name: Name
    """The label with the name of the Gateway."""
    namespace: Name
    """The label with its namespace."""


class GatewayProfile(Struct, frozen=True, kw_only=True, rename="camel"):
    """The treatment of Gateways by some controllers, where Gateway API leaves a choice or they depart from it."""

    unsupported_features: frozenset[Name] = frozenset()
    """The features of Gateway API that the controllers do not support, as in `GatewayClass.status.supportedFeatures`.
    """
    address_types: frozenset[Name] = frozenset()
    """The types of `spec.addresses` that a Gateway can have. Without it: those of Gateway API."""
    invalid_parents: InvalidParents = "served"
    """`passedOver`: a Gateway that is not accepted serves no requests, and does not exist for routes that name no
    listener of it, nor for policies on these routes; a listener with unresolved references accepts no routes. `served`:
    invalid Gateways and listeners are only reported.
    """
    conflicting: Conflicting = "all"
    """The listeners that can conflict with others: `all`, or only those that are `valid` by themselves, with allowed
    kinds and certificates that can be used.
    """
    shared_ports: SharedPorts = "none"
    """The winner of several TCP listeners, or of several UDP listeners, of one object on one port: `none`, or the
    `first`.
    """
    claimed_hostnames: ClaimedHostnames = "attached"
    """The treatment of a route at a listener if every hostname of the route there is the hostname of another listener
    on the port: `attached`, or `refused` as `NoMatchingListenerHostname`.
    """
    merged_by: MergingParameter | None = None
    """A field of the parameters of a GatewayClass that, if true, merges all Gateways of the class into one. Without it:
    Gateways are never merged.
    """
    authority_kinds: frozenset[GroupKind] = frozenset()
    """The kinds of objects with CA certificates, apart from ConfigMaps and Secrets; their contents are not read. All of
    them are cluster-scoped, and the controllers recognize them by `kind` alone.
    """
    secret_types: Mapping[Name, Annotated[tuple[Name, ...], Meta(min_length=1)]] = NOTHING
    """A map from types of Secrets, which name a certificate that is kept elsewhere, to the keys that they must have.
    Without it: a Secret holds the certificate itself.
    """
    certificates: Certificates = "unknown"
    """The certificates of a listener with protocol HTTPS: `required` in its `tls`, or possibly from `elsewhere`, such
    as parameters of the Gateway, so that a listener needs no `tls`. Gateway API requires `tls`.
    """
    reserved_ports: frozenset[int] = frozenset()
    """The ports that the proxies of the controllers use themselves; a listener cannot have them."""
    default_ports: frozenset[int] = frozenset()
    """The same for ports that parameters of a Gateway, or of its class, can change."""
    authority_options: frozenset[Name] = frozenset()
    """The `tls.options` of a listener that need CA certificates with which the Gateway validates clients."""
    routes_required: frozenset[Name] = frozenset()
    """The protocols of listeners that the controllers do not program as long as no route is attached."""
    refusals: tuple[RouteRefusal, ...] = ()
    """The order of precedence of the reasons why a route is not attached (`NoMatchingParent`, `NotAllowedByListeners`,
    `NoMatchingListenerHostname`); the first one that applies is reported. Without it: the nearest miss: hostname, then
    namespace and kind.
    """
    shared_hostnames: SharedHostnames = "unknown"
    """The treatment of an HTTPRoute and a GRPCRoute with a common hostname at one listener. `accepted`: both serve
    requests. `refused`: only one of them is accepted. Gateway API allows both.
    """
    rule_replacement: RuleReplacement | None = None
    """The condition that controllers report on routes about rules that they replace by an error response: `programmed`
    if there are none, else `replaced`. Without it: no such condition.
    """
    grant_setting: Name = ""
    """The controller setting that decides whether references of Gateways, ListenerSets and routes to other namespaces
    need a ReferenceGrant. Without it: they always do.
    """
    grant_values: frozenset[Name] = frozenset()
    """The values of the setting with which a ReferenceGrant is needed. Without it: none."""
    grant_required: Annotated[bool, INTERNAL] = True
    route_rules: tuple[RouteRule, ...] = ()
    """Rules about values in routes, in the format of `values` of a policy kind, with two more fields."""
    filters_once: frozenset[FieldName] = frozenset()
    """The fields of filters, or of `spec` of the objects that filters name, that one rule of a route can set once."""
    pod_labels: PodLabels | None = None
    """The labels of the Pods that serve a Gateway, in any namespace. Without it: those of the namespace of the Gateway
    that GEP-1762 names.
    """
    evidence: Annotated[Evidence, REQUIRED] = ()
    """The sources of this information."""

    def with_settings(self, values: Mapping[str, str]) -> GatewayProfile:
        """Return the profile under settings, all of which have values."""
        required = not self.grant_setting or values.get(self.grant_setting, "") in self.grant_values
        return replace(self, grant_required=required)

    @property
    def ignores_invalid(self) -> bool:
        """Whether Gateways that are not accepted, and listeners that are not valid, serve nothing."""
        return self.invalid_parents == "passedOver"


# What holds where no profile says otherwise.
STANDARD_GATEWAYS: Final = GatewayProfile()


class ControllerSetting(Struct, frozen=True, rename="camel"):
    """A setting of a controller that no manifest states."""

    default: str
    """The value if neither `--setting` nor the config file sets one."""
    description: Name
    """The description of the setting."""


def fill_in(name: str, values: Mapping[str, str]) -> str:
    """Replace names of settings (`{controllerName}`) in a name by their values."""
    for setting, value in values.items():
        name = name.replace(f"{{{setting}}}", value)
    return name


class BackendProfile(Struct, frozen=True, kw_only=True, rename="camel"):
    """A kind of backends, whose sections are its ports, by their numbers."""

    ports: Annotated[tuple[FieldName, ...], Meta(min_length=1)]
    """The fields with the numbers of the ports; the path continues into each element of a list."""
    settings: Mapping[str, Name] = NOTHING
    """A map from the fields of `spec` that are settings of the connections to a backend, each including all fields
    below it, to their names in answers, in the singular: `tls: TLS setting`. Without it: no known settings.
    """
    alone: Mapping[FieldName, Name] = NOTHING
    """A map from fields to the value with which a backend must be the only one of a rule. Without it: no such value."""
    security_fields: frozenset[SecurityField] = frozenset()
    """The settings that protect, in the format of `securityFields` of a policy kind."""
    summary: Annotated[tuple[SummaryPart, ...], Meta(min_length=1)] = ()
    """The phrases that summarize the settings, in the format of `summary` of a policy kind. Without it: by their names.
    """
    rules: Annotated[tuple[BackendRule, ...], Meta(min_length=1)] = ()
    """Rules that a backend must follow for routes to send requests there. Without it: none."""
    evidence: Evidence
    """The sources of this information."""


class RouteParentProfile(Struct, frozen=True, kw_only=True, rename="camel"):
    """A kind whose objects routes of their own namespace name as a whole in `spec.parentRefs`."""

    evidence: Evidence
    """The sources of this information."""


class ByLabel(Struct, frozen=True, rename="camel"):
    """A reference of a kind that no API serves: it names a value of a label, and stands for the routes that have it."""

    group_kind: Annotated[GroupKind, SPREAD]
    label: Name
    """The label of HTTPRoutes whose value the reference names."""
    all_namespaces: str = ""
    """The namespace in such a reference that stands for all namespaces. Without it: only the namespace of the
    reference.
    """


class DelegationProfile(Struct, frozen=True, kw_only=True, rename="camel"):
    """The delegation of HTTPRoutes to HTTPRoutes on Gateways of some controllers (empty: of any)."""

    # The group, the controllers and the defaults of settings are those of the profile file.
    group: Annotated[str, INTERNAL]
    controllers: Annotated[frozenset[str], INTERNAL] = frozenset()
    settings: Annotated[tuple[tuple[str, str], ...], INTERNAL] = ()
    every_route: str = ""
    """The name with which a `backendRef` of kind HTTPRoute refers to all routes of its namespace, as does a
    `backendRef` without a name. Without it: no name.
    """
    by_label: ByLabel | None = None
    """The `group` and `kind` of a `backendRef` that names the value of a `label` instead of an object. It refers to the
    HTTPRoutes with this value in its namespace, or in all namespaces if its namespace is `allNamespaces`.
    """
    inherit_matches: str = ""
    """The annotation with which the matches of a route are combined with those of the delegating rule, instead of
    having to lie within them.
    """
    grant_required: bool = True
    """Whether delegation to another namespace needs a ReferenceGrant."""
    evidence: Evidence
    """The sources of this information."""

    def with_settings(self, values: Mapping[str, str]) -> DelegationProfile:
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
    """A map from the fields of a rule that are settings, each including all fields below it, to their names in answers,
    in the singular: `timeouts: timeout`.
    """
    filters: Mapping[str, Name] = NOTHING
    """The same for the fields of a filter of a rule or of a backendRef: `requestRedirect: redirect`. Other filters are
    not settings.
    """
    keys: Mapping[str, FieldName] = NOTHING
    """A map from lists in the settings to the field that identifies their elements, a string or a reference. For a
    filter that a rule can have several times, it is a field of the filter. Without it: a list is a single value.
    """
    security_fields: frozenset[SecurityField] = frozenset()
    """The settings that protect, in the format of `securityFields` of a policy kind."""
    summary: Annotated[tuple[SummaryPart, ...], Meta(min_length=1)] = ()
    """The phrases that summarize the settings, in the format of `summary` of a policy kind. Without it: by their names.
    """
    evidence: Evidence
    """The sources of this information."""

    def setting_name(self, object_field: str) -> str:
        """Return the name of the setting that a field of `rule` is part of; `setting` without a name."""
        first = object_field.removeprefix(OF_RULE).partition(".")[0]
        return self.fields.get(first) or self.filters.get(first) or "setting"
