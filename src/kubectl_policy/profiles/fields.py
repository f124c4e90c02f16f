"""Fields of a policy kind profile, as profile files declare them: each with its type, default and documentation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct, field

from kubectl_policy.model import GroupKind, Origin
from kubectl_policy.profiles.controllers import (
    STANDARD_STATUS,
    BackendProfile,
    Controllers,
    ControllerSetting,
    DelegationProfile,
    Evidence,
    GatewayProfile,
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
    PortField,
    RouteChoice,
    TargetLevel,
    Variant,
    WholeField,
)
from kubectl_policy.profiles.needs import RequiredObject, RequiredParameter
from kubectl_policy.profiles.reading import INTERNAL, NOTHING, REQUIRED, FieldName, Name, SecurityField, text_like
from kubectl_policy.profiles.summary import SummaryPart

PolicyClass: TypeAlias = Literal["direct", "inherited"]
KnownBy: TypeAlias = Literal["profile", "label", "shape"]
Ways: TypeAlias = Literal["references", "partly", "filters", "parameters", "none"]
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


class ProfileFields(Struct, frozen=True, rename="camel"):
    """The choices that a policy kind makes; the defaults are those of GEP-713."""

    group_kind: Annotated[GroupKind, INTERNAL]
    policy_class: Annotated[PolicyClass, Meta(extra={"topic": IDENTITY})] = field(name="class")
    """`direct`: a policy changes its target alone. `inherited`: also what is below it."""
    # Where the kind is known from; `origin` is where that stands.
    known_by: Annotated[KnownBy, INTERNAL]
    short_names: tuple[Annotated[str, text_like("^[a-z0-9-]+$", "Short names are in lower case.")], ...] = ()
    """The short names by which kubectl knows the kind, for where its definition is not in the input."""
    reference_fields: Annotated[
        Annotated[tuple[FieldName, ...], Meta(min_length=1)], Meta(extra={"topic": TARGETS})
    ] = field(default=TARGET_FIELDS, name="targetFields")
    """Where the target references stand. Without it: `spec.targetRef`, `spec.targetRefs`, `spec.targetSelectors`."""
    filter_routes: frozenset[GroupKind] = frozenset()
    """The kinds of routes whose rules may name a policy by a filter of type `ExtensionRef`, besides what the policy
    names itself. It is in the namespace of the route, and comes before all others on that rule, in the order of the
    filters.
    """
    backend_filters: bool = False
    """Whether a filter of a backendRef may do so as well. It then applies to that backend alone: that is said, and what
    it changes there is not computed.
    """
    target_group: str = ""
    """The group of a reference that names none. Without it: the core group."""
    declared_targets: frozenset[GroupKind] = frozenset()
    """The kinds that a policy may name; a reference to any other fails. Without it: any kind."""
    effective_targets: Annotated[tuple[TargetLevel, ...], Meta(extra={"topic": EFFECT})] = ()
    """The levels at which a policy changes behaviour; of several on one path the deepest counts. Without it: the target
    itself for a direct kind, the end of every path for an inherited one.
    """
    hostnames: Hostnames = "overlap"
    """`overlap`: a path counts wherever the route is attached. `inside`: only if a hostname of the route is inside the
    listener's, not wider.
    """
    virtual_targets: Annotated[frozenset[GroupKind], Meta(extra={"topic": TARGETS})] = frozenset()
    """Target kinds that no API serves; such a target is taken to exist."""
    cross_namespace: bool | None = None
    """Whether a reference may name another namespace. Without it: allowed where a ReferenceGrant permits it."""
    grant_required: bool = True
    """Whether a reference to another namespace needs a ReferenceGrant there."""
    unnamed_rules: Annotated[
        str,
        text_like("\\{n\\}", "How a reference calls a rule without a name; {n} is its place, from 1."),
    ] = ""
    """How a reference calls a rule of a route that has no name, with `{n}` for its place from 1: `rule-{n}`. Without
    it: such a rule cannot be named.
    """
    global_namespace: Name = ""
    """The namespace whose policies may select objects in every namespace; `{name}` stands for a
    [setting](#how-controllers-are-set-up). Without it: no such namespace.
    """
    empty_selector: Literal["everything", "nothing"] = "everything"
    """Whether a selector without any requirement selects `everything` or `nothing`."""
    controllers: Controllers = frozenset()
    """The `controllerName`s of the GatewayClasses that the kind is for: it has no effect on Gateways of other classes;
    `{name}` stands for a [setting](#how-controllers-are-set-up). Without it: those of the file.
    """
    needs: tuple[RequiredObject, ...] = ()
    """Objects to which settings of a policy refer; without them it is invalid, unless `whenMissing` says otherwise. Of
    one that was not read, answers say so.
    """
    enabled_by: RequiredParameter | None = None
    """A field in the parameters of a Gateway, or of its class, without which policies of the kind are refused there."""
    least_sizes: Mapping[str, Annotated[tuple[FieldName, ...], Meta(min_length=1)]] = NOTHING
    """A map from a field with a size to the fields with sizes that it must not be less than; else a policy is invalid.
    """
    when_invalid: Literal["ignored", "errors"] = "ignored"
    """`errors`: requests to the targets of an invalid policy get an error response; `ignored`: it has no effect."""
    targets_exist: Literal["whenRead", "whenReferred"] = "whenRead"
    """`whenRead`: a target exists if there is such an object; `whenReferred`: if a route that the controllers act on
    sends requests to it, whether or not there is such an object.
    """
    exclusive_field: FieldName = ""
    """A list in target sections of which no two sections may share an entry."""
    target_status: FieldName = ""
    """A field of the target without which a policy has nothing to do: `status.addresses`."""
    backend_fields: tuple[FieldName, ...] = ()
    """References to backends that the policy itself sends requests to; lists on the way are gone through."""
    sections: Annotated[Sections | None, Meta(extra={"topic": EFFECT})] = None
    """Of a policy on a section and one on the whole object, the former `refine`s the latter there, or `replace`s it.
    Without it: `replace` for a direct kind, `refine` for an inherited one.
    """
    answers: FieldName = ""
    """The field with the HTTP status with which a filter answers requests itself, so that they do not reach the
    backends of its rule. Without it: filters of the kind let requests through.
    """
    patches: bool = False
    """Whether a policy changes the proxy's own configuration (patches, snippets), which is not read: it may change
    anything where it takes effect, and answers say so.
    """
    security_fields: Annotated[frozenset[SecurityField], Meta(extra={"topic": PROTECTION})] = frozenset()
    """The fields of a policy's settings whose loss takes a protection away, each with all that is below it: `jwt`,
    `headers.xForwardedClientCert`; a `*` stands for any one key, so for each entry of a map or of a list whose entries
    are told apart: `perPort.*.tls`. `*` alone is every field.
    """
    strategy: Annotated[MergeStrategy | None, Meta(extra={"topic": COMBINING})] = None
    """The [merge strategy](#strategies) of a policy that chooses none itself. Without it: `None` for a direct kind,
    `Atomic defaults` for an inherited one; the answer says that this is assumed.
    """
    strategy_field: FieldName = ""
    """The field by which a policy chooses its strategy. Without it: a policy does not choose this way."""
    strategy_values: Mapping[str, MergeStrategy] = NOTHING
    """A map from the values of `strategyField` to the strategies that they mean. Without it: the value is the name of a
    strategy in any spelling (`AtomicDefaults`, `patch-overrides`), or `Atomic` or `Patch` for defaults.
    """
    strategy_from_above: bool = False
    """Whether a policy that leaves out `strategyField` takes the choice of the nearest one above it that makes one.
    Needs `chooser: challenger`.
    """
    stanzas: Stanzas | None = None
    """`plural`: settings stand in `defaults` and `overrides`, with `strategy: patch` (or `merge`) or `atomic` in each.
    `singular`: in `default` and `override`, which one policy may both have, and which merge field by field
    (experimental text of GEP-713). `none`: fields of these names are ordinary fields. Without it: by the schema of the
    definition; without one, by the spec of each policy.
    """
    stanza_merge: Literal["patch", "merge"] | None = None
    """The word by which `strategy` in a stanza says that it merges, where the kind's API takes one alone. Without it:
    both count, and `why-not` offers what the definition lists or, without one, GEP-713's `patch`.
    """
    chooser: Chooser = "established"
    """Whose strategy decides: that of the `established` policy, the one nearer the root, or that of the `challenger`,
    the one further down. A challenger merges or replaces; it cannot be overridden.
    """
    merges_with: MergesWith = "every"
    """Whether a challenger that merges does so with `every` policy above it, or with the `closest` alone."""
    merge_parents: tuple[TargetLevel, ...] = ()
    """The levels with which a challenger merges; policies elsewhere do not count. Needs `chooser: challenger`. Without
    it: all.
    """
    fold: Fold | None = None
    """Of three policies on a path, `bottom-up`: the two nearest to the backend combine first, so that nothing below
    undoes an override. `top-down`: the two furthest from it combine first. Without it: `bottom-up`; where the two would
    differ, the answer says so.
    """
    same_level: SameLevel | None = None
    """Of two policies on one target: `newest-challenges`, the newer one challenges the older one; `first-wins`, the
    first created wins; `one-applies`, the first created applies and the others are refused; `disjoint`, both apply, but
    the newer one is refused if they set a common field; `all-apply`, both apply and each stands for itself. Without it:
    `newest-challenges`, or `first-wins` for `singular` stanzas.
    """
    refusal: RefusedOn = "there"
    """Whether a policy that is refused on one target for another policy is refused `there` alone, or `everywhere`, on
    all of its targets.
    """
    overlap: Literal["allowed", "refused"] = "allowed"
    """Whether a policy on a route is `refused` where another route, which it does not target, has a Gateway, port,
    hostname and path in common with it, or that is `allowed`.
    """
    order_field: FieldName = ""
    """A number in each policy that orders those on one target before their age does, smallest first; a
    policy without a number has 0. Without it: age alone.
    """
    weight_annotation: Name = ""
    """An annotation with a number that orders the policies on one target before their age does, greatest first. Without
    it: age alone.
    """
    list_keys: Mapping[str, str] = NOTHING
    """For `Strategic merge`: a map from lists to the key by which their elements are told apart; an empty key appends
    the elements. Without it: lists come whole.
    """
    nulls: Nulls = "remove"
    """A null in a policy `remove`s a field, or means nothing: `ignore`."""
    empty_without: FieldName = ""
    """The field without which the settings of a policy count as empty, so that they replace none further up. Without
    it: no such field.
    """
    object_fields: Mapping[str, FieldName] = NOTHING
    """A map from a field of the policy's settings to the field of the target object that stands for the same setting;
    the object's own value beats every default and loses to every override. Of a rule of a route, `rule` holds what the
    [rule itself](#routes-with-settings-of-their-own) says: `rule.timeouts.request`.
    """
    conditional_object_fields: tuple[ConditionalField, ...] = field(default=(), name="objectFieldsIf")
    """Further such fields, which stand for a setting only where another field of the object has a value, or has none;
    they beat those of `objectFields`, and later ones earlier ones.
    """
    whole_fields: frozenset[WholeField] = frozenset()
    """What a merge takes whole from one policy although it is a map or a part of one: `labels`, a map; `limits.*`, each
    entry of a map; `rules[name]`, each element of a list, known by its `name`; `*`, each field of the spec. Without it:
    lists come whole, maps field by field.
    """
    joint_fields: tuple[JointField, ...] = field(default=(), name="jointFields")
    """Fields that do not come whole from one policy. Needs `nulls: ignore`, as `scopes` and `routeChoice` do. Without
    it: every field is a merge of its own.
    """
    scopes: tuple[MergeScope, ...] = ()
    """Levels whose policies are merged by themselves, narrowest first; what is on no level of theirs is the last scope.
    Of the scopes' outcomes the narrower one wins each field. Without it: all are merged together.
    """
    route_choice: RouteChoice | None = None
    """How a route that [leads to routes](implementations.md) chooses how policies combine there. Without it: by
    `strategy`.
    """
    ignored: tuple[IgnoredPart, ...] = field(default=(), name="unheeded")
    """Policies on some levels, or fields of theirs, that controllers ignore. Without it: nothing."""
    port_field: PortField | None = None
    """A list with settings for single ports, which stand instead of those for every port. Needs a joint field of that
    name, by that key.
    """
    # The maps of scalars in the definition's schema (paths below `spec`), which the experimental text of GEP-713
    # replaces whole.
    map_fields: Annotated[frozenset[str], INTERNAL] = frozenset()
    # The fields that count in a variant, if not all do.
    counting_fields: Annotated[frozenset[str] | None, INTERNAL] = None
    variants: tuple[Variant, ...] = ()
    """What holds instead where the kind takes effect on objects of some kinds. Without it: the same everywhere."""
    summary: Annotated[Annotated[tuple[SummaryPart, ...], Meta(min_length=1)], Meta(extra={"topic": SUMMARY})] = ()
    """What is said of a policy's settings in a line, what matters most first; a field that no part is about follows by
    its name. Without it: the names of the fields, and values that are plain.
    """
    status: Annotated[StatusProfile, Meta(extra={"topic": REPORTING})] = STANDARD_STATUS
    """Where the controllers report, and in which words. Without it: that of the file."""
    status_by: Mapping[str, StatusProfile] = NOTHING
    """A map from the `controllerName`s of those that report otherwise to such a status."""
    evidence: Annotated[Evidence, REQUIRED, Meta(extra={"topic": IDENTITY})] = ()
    """Where this is written: repository, file, line or address. At least one entry, so that a later reader can check.
    """
    notes: Name = ""
    """What no other field can say, in words; `explain` shows it. Without it: nothing."""
    approximate: bool = False
    """Whether answers may be wrong where the `notes` say what the kind does besides; answers then show the notes."""
    attachment: Annotated[Ways, Meta(extra={"topic": TARGETS})] = "references"
    """`references`: a policy attaches by target references. `partly`: by these or, if it has none, in a way that is not
    computed. `filters`: by filters of routes alone (`filterRoutes`); such an object is not a policy, but a filter.
    `parameters`: where a Gateway (`spec.infrastructure.parametersRef`) or a GatewayClass (`spec.parametersRef`) names
    it; nor is such an object a policy. `none`: in a way that is not computed, so that nothing is claimed about what it
    affects.
    """
    # From the same file: the settings of controllers, delegation of routes and treatment of Gateways.
    settings: Annotated[Mapping[str, ControllerSetting], INTERNAL] = field(default_factory=lambda: NOTHING)
    origin: Annotated[Origin | None, INTERNAL] = None
    delegation: Annotated[DelegationProfile | None, INTERNAL] = None
    gateways: Annotated[GatewayProfile | None, INTERNAL] = None
    # From the same file: backends of other kinds, and the settings that rules of routes make themselves.
    backends: Annotated[Mapping[GroupKind, BackendProfile], INTERNAL] = field(
        default_factory=dict["GroupKind", "BackendProfile"]
    )
    routes: Annotated[Mapping[GroupKind, RouteSettings], INTERNAL] = field(
        default_factory=dict["GroupKind", "RouteSettings"]
    )
    # The settings that the rules of a kind of routes make, if the profile is about these; a policy kind has none.
    route_settings: Annotated[RouteSettings | None, INTERNAL] = None
    # The choices that rest on a default or a guess, which answers mention.
    assumed: Annotated[tuple[str, ...], INTERNAL] = ()
