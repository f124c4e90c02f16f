"""Fields of a policy kind profile, as profile files declare them: each with its type, default and documentation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct, field

from kubectl_policy.model import GroupKind, Origin
from kubectl_policy.profiles.connections import ConnectionProfile
from kubectl_policy.profiles.controllers import (
    STANDARD_STATUS,
    BackendProfile,
    Controllers,
    ControllerSetting,
    DelegationProfile,
    Evidence,
    GatewayProfile,
    RouteParentProfile,
    RouteSettings,
    StatusProfile,
)
from kubectl_policy.profiles.merging import (
    Chooser,
    ConditionalField,
    IgnoredPart,
    JointField,
    MergeScope,
    MergeStrategy,
    OtherFields,
    PortField,
    RouteChoice,
    TargetLevel,
    Variant,
    WholeField,
)
from kubectl_policy.profiles.needs import RequiredObject, RequiredParameter, RestrictedTarget
from kubectl_policy.profiles.protection import PermissiveSetting
from kubectl_policy.profiles.reading import INTERNAL, NOTHING, REQUIRED, FieldName, Name, SecurityField, text_like
from kubectl_policy.profiles.summary import SummaryPart
from kubectl_policy.profiles.values import NamedSetting, RequiredSetting, ValueRule

PolicyClass: TypeAlias = Literal["direct", "inherited"]
KnownBy: TypeAlias = Literal["profile", "label", "shape"]
Ways: TypeAlias = Literal["references", "partly", "filters", "parameters", "connections", "none"]
Role: TypeAlias = Literal["policy", "filter", "parameters"]
Hostnames: TypeAlias = Literal["overlap", "inside"]
Sections: TypeAlias = Literal["refine", "replace"]
Stanzas: TypeAlias = Literal["plural", "singular", "none"]
MergesWith: TypeAlias = Literal["every", "closest"]
Fold: TypeAlias = Literal["bottom-up", "top-down"]
SameLevel: TypeAlias = Literal["newest-challenges", "first-wins", "one-applies", "disjoint", "all-apply"]
RefusedOn: TypeAlias = Literal["there", "everywhere"]
Nulls: TypeAlias = Literal["remove", "ignore"]

# The names of the two stanzas of a kind, by `PolicyKindProfile.stanzas`.
STANZAS: Final[Mapping[Stanzas, tuple[str, ...]]] = {
    "plural": ("defaults", "overrides"),
    "singular": ("default", "override"),
    "none": (),
}
TARGET_FIELDS: Final = ("spec.targetRef", "spec.targetRefs", "spec.targetSelectors")
# The headings below which fields are documented.
IDENTITY: Final = "What it is, and who says so"
TARGETS: Final = "What a policy targets"
EFFECT: Final = "Where it takes effect"
PROTECTION: Final = "What protects"
COMBINING: Final = "How two policies combine"
SUMMARY: Final = "What is said of it in short"
REPORTING: Final = "Status"
CONNECTIONS: Final = "Connections"


class ProfileFields(Struct, frozen=True, rename="camel"):
    """The choices that a policy kind makes; the defaults are those of GEP-713."""

    group_kind: Annotated[GroupKind, INTERNAL]
    policy_class: Annotated[PolicyClass, Meta(extra={"topic": IDENTITY})] = field(name="class")
    """`direct`: a policy changes only its target. `inherited`: a policy also changes the objects below its target."""
    # Where the kind is known from; `origin` is where that stands.
    known_by: Annotated[KnownBy, INTERNAL]
    short_names: tuple[Annotated[str, text_like("^[a-z0-9-]+$", "Short names are in lower case.")], ...] = ()
    """The short names of the kind in kubectl, used if the definition of the kind is not in the input."""
    reference_fields: Annotated[
        Annotated[tuple[FieldName, ...], Meta(min_length=1)], Meta(extra={"topic": TARGETS})
    ] = field(default=TARGET_FIELDS, name="targetFields")
    """The fields with target references. Without it: `spec.targetRef`, `spec.targetRefs`, `spec.targetSelectors`."""
    filter_routes: frozenset[GroupKind] = frozenset()
    """The kinds of routes whose rules can name a policy in a filter of type `ExtensionRef`, in addition to the target
    references of the policy. The policy is in the namespace of the route. It precedes all other policies on that rule,
    in the order of the filters.
    """
    backend_filters: bool = False
    """Whether a filter of a backendRef can name a policy, too. The policy then applies to that backend only; answers
    say so, and its effect is not computed.
    """
    target_group: str = ""
    """The API group of a target reference without a group. Without it: the core group."""
    declared_targets: frozenset[GroupKind] = frozenset()
    """The kinds that a policy can target; a reference to any other kind fails. Without it: any kind."""
    wrong_kinds: Annotated[Literal["reference", "policy"], Meta(extra={"topic": TARGETS})] = "reference"
    """The consequence if a policy names a kind that it cannot target: only that `reference` fails, or the whole
    `policy` is invalid.
    """
    effective_targets: Annotated[tuple[TargetLevel, ...], Meta(extra={"topic": EFFECT})] = ()
    """The levels at which a policy changes behavior; if a path has several, the deepest one counts. Without it: the
    target itself for a direct kind, the end of every path for an inherited one.
    """
    hostnames: Hostnames = "overlap"
    """`overlap`: a path counts wherever the route is attached. `inside`: a path counts only if the hostname of the
    listener covers a hostname of the route.
    """
    virtual_targets: Annotated[frozenset[GroupKind], Meta(extra={"topic": TARGETS})] = frozenset()
    """Target kinds that no API serves; such a target is assumed to exist."""
    restricted_targets: tuple[RestrictedTarget, ...] = ()
    """The kinds of targets that only policies of one namespace can target, or of which only objects with certain names
    can be targets. Without it: none.
    """
    cross_namespace: bool | None = None
    """Whether a target reference can name another namespace. Without it: only if a ReferenceGrant permits it."""
    grant_required: bool = True
    """Whether a target reference to another namespace needs a ReferenceGrant in that namespace."""
    unnamed_rules: Annotated[
        str, text_like("\\{n\\}", "The name of a rule without a name; {n} is the position of the rule, from 1.")
    ] = ""
    """The name by which a target reference names a rule of a route that has no name; `{n}` is the position of the rule,
    from 1: `rule-{n}`. Without it: such a rule cannot be named.
    """
    global_namespace: Name = ""
    """The namespace whose policies can select objects in all namespaces; `{name}` stands for a
    [setting](#how-controllers-are-set-up). Without it: no such namespace.
    """
    empty_selector: Literal["everything", "nothing"] = "everything"
    """Whether a selector without requirements selects `everything` or `nothing`."""
    controllers: Controllers = frozenset()
    """The `controllerName`s of GatewayClasses. Policies of the kind have no effect on Gateways of other classes.
    `{name}` stands for a [setting](#how-controllers-are-set-up). Without it: those of the file.
    """
    needs: tuple[RequiredObject, ...] = ()
    """The objects to which settings of a policy refer. A policy is invalid if such an object does not exist, unless
    `whenMissing` defines another consequence. Answers name the objects that were not read.
    """
    enabled_by: RequiredParameter | None = None
    """A field in the parameters of a Gateway, or of its GatewayClass, that must be set; otherwise policies of the kind
    are refused there.
    """
    least_sizes: Mapping[str, Annotated[tuple[FieldName, ...], Meta(min_length=1)]] = NOTHING
    """A map from a size field to the size fields that set its minimum; a policy with a smaller size is invalid."""
    values: tuple[ValueRule, ...] = ()
    """Rules about values of settings, beyond those of the definition of the kind; a policy that breaks one is invalid.
    """
    required_settings: tuple[RequiredSetting, ...] = ()
    """Settings of a policy that need a setting in a policy of another kind; otherwise the policy is invalid."""
    ports: Literal["divided", "whole"] = "divided"
    """`whole`: a policy is invalid if it targets some of the listeners of plain HTTP on a port and not all of them.
    `divided`: a policy can target any listener.
    """
    default_host_field: FieldName = ""
    """A setting that, if true, needs a hostname without a wildcard at each listener of the target: that of the
    listener, or else of exactly one rule of a route. Without it: no such setting.
    """
    merged_targets: frozenset[GroupKind] = frozenset()
    """The target kinds that a policy can have only if Gateways of a class are merged (`gateways.mergedBy`), instead of
    all others. Without it: merging makes no difference.
    """
    gateway_sections: Literal["own", "all"] = "own"
    """The listeners that a reference to a Gateway can name: its `own`, or `all`, also those of its ListenerSets."""
    named_settings: tuple[NamedSetting, ...] = ()
    """Settings of a policy that name an item of a list in the same policy."""
    when_invalid: Literal["ignored", "errors"] = "ignored"
    """`errors`: requests to the targets of an invalid policy get an error response, and what it replaces is not in
    force there. `ignored`: an invalid policy has no effect.
    """
    targets_exist: Literal["whenRead", "whenReferred"] = "whenRead"
    """`whenRead`: a target exists if the object exists. `whenReferred`: a target exists if a route of the controllers
    forwards requests to it, even if the object does not exist.
    """
    exclusive_field: FieldName = ""
    """A list in target sections; two target sections cannot share an entry of the list."""
    target_status: FieldName = ""
    """A field in the status of the target, such as `status.addresses`; a policy has no effect if the field is empty."""
    backend_fields: tuple[FieldName, ...] = ()
    """The fields with references to backends to which a policy sends its own requests; the path continues into each
    element of a list.
    """
    sections: Annotated[Sections | None, Meta(extra={"topic": EFFECT})] = None
    """The effect of a policy on a section if the whole object also has a policy: it `refine`s or `replace`s the policy
    on the whole object. Without it: `replace` for a direct kind, `refine` for an inherited one.
    """
    answers: FieldName = ""
    """The field with the HTTP status with which a filter answers requests itself, so that the backends of the rule
    receive none. Without it: filters of the kind let requests through.
    """
    patches: bool = False
    """Whether policies change the proxy configuration directly (patches, snippets). Such changes are not read: a policy
    may change any setting where it takes effect, and answers say so.
    """
    security_fields: Annotated[frozenset[SecurityField], Meta(extra={"topic": PROTECTION})] = frozenset()
    """The settings that protect, each including all fields below it: `jwt`, `headers.xForwardedClientCert`. A `*`
    stands for any key, that is, for each entry of a map or each element of a list with a key: `perPort.*.tls`. `*`
    alone stands for every field.
    """
    permissive: tuple[PermissiveSetting, ...] = ()
    """The security fields that let every request through under a condition, such as `authorization` with
    `defaultAction: Allow` and no rule that denies. They then protect nothing, and `get effective --missing` counts a
    policy without other settings as missing. Without it: none.
    """
    strategy: Annotated[MergeStrategy | None, Meta(extra={"topic": COMBINING})] = None
    """The [merge strategy](#strategies) of a policy that chooses none. Without it: `None` for a direct kind, `Atomic
    defaults` for an inherited one; answers mark this as assumed.
    """
    strategy_field: FieldName = ""
    """The field in which a policy chooses its merge strategy. Without it: a policy cannot choose in a field."""
    strategy_values: Mapping[str, MergeStrategy] = NOTHING
    """A map from the values of `strategyField` to merge strategies. Without it: the value is the name of a strategy in
    any spelling (`AtomicDefaults`, `patch-overrides`), or `Atomic` or `Patch` for defaults.
    """
    strategy_from_above: bool = False
    """Whether a policy without `strategyField` uses the choice of the nearest policy above it that has one. Needs
    `chooser: challenger`.
    """
    stanzas: Stanzas | None = None
    """`plural`: settings are in `defaults` and `overrides`, each with `strategy: patch` (or `merge`) or `atomic`.
    `singular`: settings are in `default` and `override`, which merge field by field; a policy can have both
    (experimental text of GEP-713). `none`: fields with these names are ordinary fields. Without it: according to the
    schema of the definition or, without a schema, the spec of each policy.
    """
    stanza_merge: Literal["patch", "merge"] | None = None
    """The value of `strategy` in a stanza for a merge, if the API of the kind accepts only one of the two. Without it:
    both are accepted, and `why-not` proposes the value in the definition or, without a definition, `patch` as in
    GEP-713.
    """
    chooser: Chooser = "established"
    """The policy whose merge strategy decides: the `established` policy (nearer the root) or the `challenger` (further
    down). A challenger merges or replaces; it cannot be overridden.
    """
    merges_with: MergesWith = "every"
    """Whether a challenger merges with `every` policy above it, or only with the `closest` one."""
    merge_parents: tuple[TargetLevel, ...] = ()
    """The levels with which a challenger merges; policies on other levels do not count. Needs `chooser: challenger`.
    Without it: all levels.
    """
    fold: Fold | None = None
    """The order in which three policies on a path combine. `bottom-up`: the two policies nearest to the backend first,
    so that no policy below can undo an override. `top-down`: the two policies furthest from the backend first. Without
    it: `bottom-up`; if the order matters, answers say so.
    """
    same_level: SameLevel | None = None
    """The rule for two policies on one target. `newest-challenges`: the newer policy challenges the older one.
    `first-wins`: the policy that was created first wins. `one-applies`: the policy that was created first applies, and
    the others are refused. `disjoint`: both policies apply, but the newer one is refused if they set a common field.
    `all-apply`: both policies apply independently. Without it: `newest-challenges`, or `first-wins` for `singular`
    stanzas.
    """
    refusal: RefusedOn = "there"
    """The targets on which a policy is refused if another policy has one of its targets: only the target concerned
    (`there`), or all of its targets (`everywhere`).
    """
    spellings: Literal["alike", "apart"] = "alike"
    """Whether policies compete that name one target by different spellings of its API group (empty and `core`). Where
    these are kept `apart`, both policies apply, and which of two values counts is undefined.
    """
    overlap: Literal["allowed", "refused"] = "allowed"
    """Whether a policy on a route is `refused` or `allowed` if another route that it does not target shares a Gateway,
    port, hostname and path with the route.
    """
    order_field: FieldName = ""
    """A number in each policy by which policies on one target are ordered before their age, smallest first; the default
    is 0. Without it: by age only.
    """
    weight_annotation: Name = ""
    """An annotation with a number by which policies on one target are ordered before their age, greatest first. Without
    it: by age only.
    """
    list_keys: Mapping[str, str] = NOTHING
    """For `Strategic merge`: a map from lists to the key that identifies their elements; an empty key appends the
    elements. Without it: a list is replaced as a whole.
    """
    nulls: Nulls = "remove"
    """The meaning of a null in a policy: `remove` the field, or `ignore` the null."""
    empty_without: FieldName = ""
    """The field without which the settings of a policy count as empty, so that they replace no policy further up.
    Without it: no such field.
    """
    object_fields: Mapping[str, FieldName] = NOTHING
    """A map from settings of the policy to fields of the target object with the same meaning. The value of the object
    overrides every default, and every override overrides it. `rule` stands for the settings of a [rule of a
    route](#routes-with-settings-of-their-own): `rule.timeouts.request`.
    """
    conditional_object_fields: tuple[ConditionalField, ...] = field(default=(), name="objectFieldsIf")
    """Further fields of the target object that stand for a setting only if another field of the object is set, or is
    not set. They take precedence over `objectFields`, and later ones over earlier ones.
    """
    whole_fields: frozenset[WholeField] = frozenset()
    """The maps, entries and elements that a merge takes as a whole from one policy: `labels`, a map; `limits.*`, each
    entry of a map; `rules[name]`, each element of a list, identified by its `name`; `*`, each field of the spec.
    Without it: lists as a whole, maps field by field.
    """
    joint_fields: tuple[JointField, ...] = field(default=(), name="jointFields")
    """The fields that are combined from several policies. Needs `nulls: ignore`, as do `scopes` and `routeChoice`.
    Without it: each value comes from one policy.
    """
    scopes: tuple[MergeScope, ...] = ()
    """Groups of levels whose policies are merged separately, narrowest first; all other levels form the last scope. The
    narrower scope then wins each field. Without it: all policies are merged together.
    """
    route_choice: RouteChoice | None = None
    """The choice of a [delegating route](implementations.md) how its policies combine with those of the routes below
    it. Without it: according to `strategy`.
    """
    ignored: tuple[IgnoredPart, ...] = field(default=(), name="unheeded")
    """Policies on certain levels, or fields of these policies, that controllers ignore. Without it: nothing."""
    port_field: PortField | None = None
    """A list with settings for single ports, which replace the settings for every port. Needs a joint field with the
    same name and key.
    """
    # The maps of scalars in the definition's schema (paths below `spec`), which the experimental text of GEP-713
    # replaces whole.
    map_fields: Annotated[frozenset[str], INTERNAL] = frozenset()
    # The fields that count in a variant, if not all do.
    counting_fields: Annotated[frozenset[str] | None, INTERNAL] = None
    # What other fields mean in a policy on such an object.
    other_fields: Annotated[OtherFields, INTERNAL] = "ignored"
    variants: tuple[Variant, ...] = ()
    """Other rules for effects on objects of certain kinds. Without it: the same rules everywhere."""
    summary: Annotated[Annotated[tuple[SummaryPart, ...], Meta(min_length=1)], Meta(extra={"topic": SUMMARY})] = ()
    """The phrases that summarize the settings of a policy, most important first; fields without a phrase follow by
    name. Without it: the names of the fields, and simple values.
    """
    status: Annotated[StatusProfile, Meta(extra={"topic": REPORTING})] = STANDARD_STATUS
    """The place and the conditions of reports on a policy. Without it: that of the file."""
    status_by: Mapping[str, StatusProfile] = NOTHING
    """A map from `controllerName`s to a different `status` for these controllers."""
    evidence: Annotated[Evidence, REQUIRED, Meta(extra={"topic": IDENTITY})] = ()
    """The sources of the profile: repository, file and line, or URL. At least one entry is required, so that a later
    reader can check.
    """
    notes: Name = ""
    """Properties of the kind that no other field expresses, as text; `explain` shows it. Without it: nothing."""
    notes_on: Mapping[FieldName, Name] = NOTHING
    """A map from settings (paths below `spec`) to notes that matter only where a policy sets them. Without it: nothing.
    """
    approximate: bool = False
    """Whether answers may be wrong because of behavior that is described only in `notes` and `notesOn`; answers then
    show the notes.
    """
    attachment: Annotated[Ways, Meta(extra={"topic": TARGETS})] = "references"
    """The way in which policies attach. `references`: by target references. `partly`: by target references or, without
    any, in a way that is not computed. `filters`: only by filters of routes (`filterRoutes`); the object is then a
    filter, not a policy. `parameters`: a Gateway (`spec.infrastructure.parametersRef`) or a GatewayClass
    (`spec.parametersRef`) names the object; it is then not a policy. `connections`: a policy allows and denies
    connections of the Pods that it selects; only the kinds whose rules are evaluated attach like this. `none`: in a way
    that is not computed; answers then claim nothing about affected objects.
    """
    connections: Annotated[ConnectionProfile | None, Meta(extra={"topic": CONNECTIONS})] = None
    """How policies decide about connections of Pods. Required for `attachment: connections`. With `attachment: none`,
    the rules of policies are not evaluated; answers about connections name the policies that apply to a Pod, or may
    apply to it, as they can change a verdict. Without it: policies do not decide about connections.
    """
    # From the same file: the settings of controllers, delegation of routes and treatment of Gateways.
    settings: Annotated[Mapping[str, ControllerSetting], INTERNAL] = field(default_factory=lambda: NOTHING)
    origin: Annotated[Origin | None, INTERNAL] = None
    delegation: Annotated[DelegationProfile | None, INTERNAL] = None
    gateways: Annotated[GatewayProfile | None, INTERNAL] = None
    # From the same file: backends of other kinds, parents of routes, and settings that rules of routes make themselves.
    backends: Annotated[Mapping[GroupKind, BackendProfile], INTERNAL] = field(
        default_factory=dict["GroupKind", "BackendProfile"]
    )
    route_parents: Annotated[Mapping[GroupKind, RouteParentProfile], INTERNAL] = field(
        default_factory=dict["GroupKind", "RouteParentProfile"]
    )
    routes: Annotated[Mapping[GroupKind, RouteSettings], INTERNAL] = field(
        default_factory=dict["GroupKind", "RouteSettings"]
    )
    # The settings that the rules of a kind of routes make, if the profile is about these; a policy kind has none.
    route_settings: Annotated[RouteSettings | None, INTERNAL] = None
    # The choices that rest on a default or a guess, which answers mention.
    assumed: Annotated[tuple[str, ...], INTERNAL] = ()
