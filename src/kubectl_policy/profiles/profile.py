"""What is known of one policy kind: how it attaches, where it takes effect, how it merges."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from kubectl_policy.model.fields import FieldPath
from kubectl_policy.profiles.implementation import filled_in
from kubectl_policy.profiles.merging import MergeStrategy
from kubectl_policy.profiles.status import STANDARD_STATUS, StatusProfile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy.model import GroupKind, Origin
    from kubectl_policy.profiles.implementation import ControllerSetting, DelegationProfile, GatewayProfile
    from kubectl_policy.profiles.merging import (
        IgnoredPart,
        MergeScope,
        PortField,
        RouteChoice,
        SharedField,
        TargetLevel,
    )


class EnablingField(NamedTuple):
    """A field of the parameters of a Gateway, or of its class, without which a policy kind is refused there.

    Where a Gateway has no parameters of that kind at all, policies on routes are allowed; `without` says what holds of
    policies on the Gateway itself.
    """

    group_kind: GroupKind
    field: str
    without: Literal["allowed", "refused"] = "refused"


PolicyClass: TypeAlias = Literal["direct", "inherited"]
Fold: TypeAlias = Literal["bottom-up", "top-down"]
SameLevel: TypeAlias = Literal["newest-challenges", "first-wins", "one-applies", "disjoint", "all-apply"]
Refusal: TypeAlias = Literal["there", "everywhere"]
Overlap: TypeAlias = Literal["allowed", "refused"]
EmptySelector: TypeAlias = Literal["everything", "nothing"]
WhenInvalid: TypeAlias = Literal["ignored", "errors"]
TargetsExist: TypeAlias = Literal["whenRead", "whenReferred"]
Chooser: TypeAlias = Literal["established", "challenger"]
MergesWith: TypeAlias = Literal["every", "closest"]
Sections: TypeAlias = Literal["refine", "replace"]
Hostnames: TypeAlias = Literal["overlap", "inside"]
Nulls: TypeAlias = Literal["remove", "ignore"]
Stanzas: TypeAlias = Literal["plural", "singular", "none"]
KnownBy: TypeAlias = Literal["profile", "label", "shape"]

TARGET_FIELDS: Final = ("spec.targetRef", "spec.targetRefs", "spec.targetSelectors")


class RequiredObject(NamedTuple):
    """An object that a policy must refer to, or it is invalid: the field of the reference, its group and its kinds.

    There may be several, in lists. Without one that `competes`, a policy is invalid, and keeps others out all the same.
    If it is `optional`, a policy may have no such reference, but none to an object that does not exist either. The
    reference's own `kind` chooses among the kinds; the first one is the default. `cluster_kinds` are those of them that
    are cluster-scoped. What is in another namespace needs a ReferenceGrant there; if there is a `grant_setting`, only
    while it has the `grant_value`. What is referred to has needs of its own: those it is needed `through`.
    """

    field: str
    group: str
    kinds: tuple[str, ...]
    cluster_kinds: frozenset[str] = frozenset()
    optional: bool = False
    competes: bool = False
    grant_setting: str = ""
    grant_value: str = ""
    through: tuple[RequiredObject, ...] = ()
    grant_required: bool = True

    def under(self, values: Mapping[str, str]) -> RequiredObject:
        """The need under settings, all of which are given."""
        required = not self.grant_setting or values.get(self.grant_setting, "") == self.grant_value
        return self._replace(grant_required=required, through=tuple(need.under(values) for need in self.through))


@dataclass(frozen=True, slots=True)
class PolicyKindProfile:
    """The choices that a policy kind makes; the defaults are SEMANTICS' and GEP-713's.

    `short_names` are those by which kubectl knows the kind (`btp`), for where its definition was not read.

    Attachment. `declared_targets` are the kinds that a policy may name (empty: any). Without `target_fields` and
    `filter_routes` it is not known how the kind attaches, and nothing is claimed about what it affects; unless it
    attaches by `references_alone`, that holds of a policy without references. `filter_routes` are the kinds of routes
    whose rules may name a policy by a filter of type ExtensionRef; it comes before every other policy on that rule.
    With `backend_filters` a filter of a backendRef may do so too, for that backend alone. `target_group` is the group
    of a reference that names none.
    `unnamed_rules` is what a reference calls a rule without a name (`rule-{n}`, from 1).
    An `empty_selector` selects everything or nothing. Policies in the `global_namespace` may select objects in every
    namespace. `controllers` are the names of the
    controllers that act on the kind: it has no effect on Gateways of other classes (empty: on all). In these names
    `{setting}` stands for the value of one of the `settings`; see `under`. `needs` are objects without which a policy
    is invalid, and it is refused below Gateways whose parameters do not say what it is `enabled_by`; `least_sizes` are
    fields with a size that must not be less than others. Requests to the targets of an invalid policy may get `errors`
    for a response (`when_invalid`). Targets exist "whenReferred" if a route refers to them,
    whether or not there is such an object. `exclusive_field` is a list in a target section of which no entry may occur
    in another section as well, `target_status` a field of the target's status without which the policy has nothing to
    do. `backend_fields` hold references to backends that the policy itself sends requests to.

    Effect. `effective_targets` are the levels at which the kind changes behaviour (empty: the target itself for a
    direct kind, the end of each path for an inherited one). A policy on a section refines what the one on the whole
    object says, or replaces it (`sections`). For a kind that wants `hostnames` "inside", only paths count on which a
    hostname of the route lies within the listener's; for Gateway API itself they need only overlap. `security_fields`
    are fields of the spec proper whose loss takes a protection away; see `is_security`.

    Merging. `strategy` is None where each policy chooses by a stanza or by `strategy_field`, whose values mean
    `strategy_values`. `chooser` is the policy of two whose strategy decides, `merges_with` how much of what is above it
    a challenger merges with, where only `merge_parents` count (empty: all). `order_field` is a number that orders
    policies on one node, smallest first, before their age does; `weight_annotation` is one of which the greatest comes
    first. `fold`, `same_level` and `stanzas` are None where nobody has said. Where policies on one node are "disjoint",
    the newer of two that set a common field is refused; with `refusal` "everywhere", a policy that is refused on one
    target is refused on all; where `overlap` is "refused", so is a policy on a route if another one, which it does not
    target, has a Gateway, port, hostname and path in common with it.

    `whole_fields` are fields that come whole from one policy although they are maps or part of one: `limits.*` is every
    entry of a map, `rules[name]` every element of a list, known by its `name`. `shared_fields` are put together from
    several; `scopes`, narrowest first, keep policies apart until each scope is merged (what is on no level of theirs is
    the last one); `route_choice` is how a route says what becomes of its policies where it leads to routes; `ignored`
    is what controllers ignore; `port_field` holds settings for single ports. `list_keys` are the keys by which
    "Strategic merge" merges lists; an empty key appends. `nulls` says whether a null removes a field. `empty_without`
    is the field without which a spec counts as empty, so that it replaces none further up. `variants` are the profiles
    that hold instead at effective targets of some kinds.

    Reporting. `status` is how the kind's controllers report, `status_by` how those do that report otherwise, by name.

    `object_fields` maps a field of the spec proper to the field of the target object that stands for the same setting.
    `map_fields` are the maps of scalars in the definition's schema (paths below `spec`), which the experimental GEP-713
    text replaces whole. `assumed` names the choices that rest on a default or a guess; an answer says so. `notes` says
    in words what no other field can; of an `approximate` profile they say where its answers may be wrong. `delegation`
    is not about the kind: it is what the same file says of routes that delegate to routes.
    """

    group_kind: GroupKind
    policy_class: PolicyClass
    known_by: KnownBy
    short_names: tuple[str, ...] = ()
    target_fields: tuple[str, ...] = TARGET_FIELDS
    references_alone: bool = True
    filter_routes: frozenset[GroupKind] = frozenset()
    backend_filters: bool = False
    target_group: str = ""
    declared_targets: frozenset[GroupKind] = frozenset()
    effective_targets: tuple[TargetLevel, ...] = ()
    hostnames: Hostnames = "overlap"
    virtual_targets: frozenset[GroupKind] = frozenset()
    cross_namespace: bool | None = None
    grant_required: bool = True
    unnamed_rules: str = ""
    global_namespace: str = ""
    empty_selector: EmptySelector = "everything"
    controllers: frozenset[str] = frozenset()
    needs: tuple[RequiredObject, ...] = ()
    enabled_by: EnablingField | None = None
    least_sizes: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    when_invalid: WhenInvalid = "ignored"
    targets_exist: TargetsExist = "whenRead"
    exclusive_field: str = ""
    target_status: str = ""
    backend_fields: tuple[str, ...] = ()
    sections: Sections | None = None
    security_fields: frozenset[str] = frozenset()
    strategy: MergeStrategy | None = None
    strategy_field: str = ""
    strategy_values: Mapping[str, MergeStrategy] = field(default_factory=lambda: MappingProxyType({}))
    stanzas: Stanzas | None = None
    chooser: Chooser = "established"
    merges_with: MergesWith = "every"
    merge_parents: tuple[TargetLevel, ...] = ()
    fold: Fold | None = None
    same_level: SameLevel | None = None
    refusal: Refusal = "there"
    overlap: Overlap = "allowed"
    order_field: str = ""
    weight_annotation: str = ""
    list_keys: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    nulls: Nulls = "remove"
    empty_without: str = ""
    object_fields: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    whole_fields: frozenset[str] = frozenset()
    shared_fields: tuple[SharedField, ...] = ()
    scopes: tuple[MergeScope, ...] = ()
    route_choice: RouteChoice | None = None
    ignored: tuple[IgnoredPart, ...] = ()
    port_field: PortField | None = None
    map_fields: frozenset[str] = frozenset()
    variants: Mapping[GroupKind, PolicyKindProfile] = field(default_factory=lambda: MappingProxyType({}))
    status: StatusProfile = STANDARD_STATUS
    status_by: Mapping[str, StatusProfile] = field(default_factory=lambda: MappingProxyType({}))
    evidence: tuple[str, ...] = ()
    notes: str = ""
    approximate: bool = False
    settings: Mapping[str, ControllerSetting] = field(default_factory=lambda: MappingProxyType({}))
    origin: Origin | None = None
    delegation: DelegationProfile | None = None
    gateways: GatewayProfile | None = None
    assumed: tuple[str, ...] = ()

    @property
    def default_strategy(self) -> MergeStrategy:
        """The strategy of a policy that chooses none: None for a direct kind, Atomic defaults for the rest."""
        if self.strategy:
            return self.strategy
        return MergeStrategy.NONE if self.policy_class == "direct" else MergeStrategy.ATOMIC_DEFAULTS

    @property
    def all_apply(self) -> bool:
        """Whether several policies are in force beside each other; the settings of each then stand below its name."""
        return self.default_strategy is MergeStrategy.ALL_APPLY or self.same_level == "all-apply"

    @property
    def by_listener(self) -> bool:
        """Whether what policies amount to may depend on the listener that requests come in by."""
        return bool(self.scopes or self.ignored or self.port_field)

    @property
    def attaches_as_known(self) -> bool:
        """Whether it is known how policies attach: by references of their own, or by filters of routes."""
        return bool(self.target_fields or self.filter_routes)

    def is_security(self, field: Sequence[str]) -> bool:
        """Whether a field, as its keys in the spec proper, is a security field or below one.

        In `security_fields` a `*` stands for any one key, so that `*` alone is every field. Where policies are kept
        so, the field is given without the policy's name.
        """
        return any(FieldPath.parse(name).holds(field) for name in self.security_fields)

    def at(self, target: GroupKind) -> PolicyKindProfile:
        """The profile that holds where the kind takes effect on objects of a kind."""
        return self.variants.get(target, self)

    def under(self, values: Mapping[str, str]) -> PolicyKindProfile:
        """The profile that holds under settings; one without a value has its default."""
        if not self.settings:
            return self
        said = {name: values.get(name, setting.default) for name, setting in self.settings.items()}
        return replace(
            self,
            controllers=frozenset(filled_in(controller, said) for controller in self.controllers),
            global_namespace=filled_in(self.global_namespace, said),
            shared_fields=tuple(joint for joint in self.shared_fields if joint.holds(said)),
            needs=tuple(need.under(said) for need in self.needs),
            variants=MappingProxyType({kind: variant.under(values) for kind, variant in self.variants.items()}),
        )
