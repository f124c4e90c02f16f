"""The choices of a profile about merging: strategies, levels, scopes and fields that several policies set together."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct, field

from kubectl_policy.model import GroupKind
from kubectl_policy.profiles.reading import INTERNAL, NOTHING, SPREAD, FieldName, Name, text_like

if TYPE_CHECKING:
    from kubectl_policy.model import NodeRef

# Which policies share a field: those of one level, those of a route and of the routes that lead to it, or all scopes.
Within: TypeAlias = Literal["level", "levels", "scopes"]
# Whose strategy decides.
Chooser: TypeAlias = Literal["established", "challenger"]


class MergeStrategy(StrEnum):
    """A strategy to combine two specs on one path, as GEP-713 names it ("Merge strategies").

    Of two, the one nearer the root is *established*, the other the *challenger*; the established one's strategy
    decides, unless the profile lets the challenger choose. Two are not the GEP's: with "Strategic merge" the challenger
    patches the established spec as Kubernetes' strategic merge does, lists by their keys; where "All apply", every
    policy is in force with all that it says, and none supersedes another.
    """

    NONE = "None"
    ATOMIC_DEFAULTS = "Atomic defaults"
    ATOMIC_OVERRIDES = "Atomic overrides"
    PATCH_DEFAULTS = "Patch defaults"
    PATCH_OVERRIDES = "Patch overrides"
    STRATEGIC_MERGE = "Strategic merge"
    ALL_APPLY = "All apply"

    @property
    def overrides(self) -> bool:
        """Whether the established spec supersedes its challengers on purpose."""
        return self is MergeStrategy.ATOMIC_OVERRIDES or self is MergeStrategy.PATCH_OVERRIDES

    @property
    def defaults(self) -> bool:
        """Whether the established spec gives way to its challengers."""
        return self in {MergeStrategy.ATOMIC_DEFAULTS, MergeStrategy.PATCH_DEFAULTS, MergeStrategy.STRATEGIC_MERGE}

    @property
    def replaces(self) -> bool:
        """Whether one of two policies on a path replaces the other one whole."""
        return self in {MergeStrategy.NONE, MergeStrategy.ATOMIC_DEFAULTS, MergeStrategy.ATOMIC_OVERRIDES}

    @property
    def patches_above(self) -> bool:
        """Whether a challenger that chooses it patches the established spec instead of replacing it."""
        return self in {MergeStrategy.PATCH_DEFAULTS, MergeStrategy.STRATEGIC_MERGE}

    @classmethod
    def named(cls, name: str) -> MergeStrategy | None:
        """Return the strategy of a name in any spelling (`AtomicDefaults`, `patch-overrides`); None without a match."""
        folded = "".join(letter for letter in name.lower() if letter.isalpha())
        for strategy in cls:
            if folded == strategy.value.lower().replace(" ", ""):
                return strategy
        return None


# The values of `strategy` in policies of any kind, or in their stanzas, as GEP-713 defines them.
GEP_STRATEGIES: Final[Mapping[str, MergeStrategy]] = MappingProxyType(
    {
        "atomic": MergeStrategy.ATOMIC_DEFAULTS,
        "patch": MergeStrategy.PATCH_DEFAULTS,
        "merge": MergeStrategy.PATCH_DEFAULTS,
    }
)
# The strategies of fields that a value lists, and those of a value for a whole policy.
PatchStrategy: TypeAlias = Annotated[
    MergeStrategy, Meta(extra={"allowed": (MergeStrategy.PATCH_DEFAULTS, MergeStrategy.PATCH_OVERRIDES)})
]
_InheritedStrategy: TypeAlias = Annotated[
    MergeStrategy,
    Meta(
        extra={"allowed": (MergeStrategy.ATOMIC_DEFAULTS, MergeStrategy.PATCH_DEFAULTS, MergeStrategy.PATCH_OVERRIDES)}
    ),
]


class TargetLevel(Struct, frozen=True, rename="camel"):
    """A level of the hierarchy: the objects of a kind, or the named sections of such objects."""

    group_kind: Annotated[GroupKind, SPREAD]
    section: Annotated[bool, Meta(description="Whether the level consists of sections of such objects.")] = False
    """Whether the level consists of sections (listeners, rules, ports)."""

    @property
    def group(self) -> Annotated[str, Meta()]:
        """The API group of the kind; empty for the core group."""
        return self.group_kind.group

    @property
    def kind(self) -> Annotated[str, Meta()]:
        """The kind without its API group."""
        return self.group_kind.kind

    def includes(self, node: NodeRef) -> bool:
        """Whether a node is on this level."""
        return node.object.group_kind == self.group_kind and bool(node.section) == self.section


_Levels: TypeAlias = Annotated[tuple[TargetLevel, ...], Meta(min_length=1)]
_Protocol: TypeAlias = Annotated[str, text_like("^[A-Z0-9./_-]+$", "Protocols are written as HTTP.")]
_Protocols: TypeAlias = Annotated[frozenset[_Protocol], Meta(min_length=1)]


class JointField(Struct, frozen=True, kw_only=True, rename="camel"):
    """A field that does not come whole from one policy but is put together from several."""

    field: FieldName
    """The field in the settings of the policies."""
    within: Annotated[tuple[Within, ...], Meta(min_length=1)]
    """The policies from which the field is combined: those of one `level` (a route with its rules, or everything above
    the routes); those of nested `levels`, such as a route and the routes to which it delegates (with `routeChoice`,
    only if a route chooses so); or those of all `scopes`. Otherwise the field comes as a whole from one policy.
    """
    by: Annotated[
        str,
        text_like(
            r"^(\*|\[[A-Za-z0-9_-]+\]|[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|)$",
            "The unit is the list or value of each policy (empty), each field (*), each element of a list,"
            " by key ([port]), or each entry, by a string or reference at a path (extensionRef).",
        ),
    ] = ""
    """The units in which the field is combined: each of its fields (`*`); the elements of a list, identified by their
    key (`[port]`), field by field; or entries, identified by a string or reference in them (`extensionRef`), each of
    which comes from the first policy that has it. A value without such a path is not an entry and comes as a whole.
    Without it: the lists of all policies, appended, or the value of each policy beside the others.
    """
    unless: tuple[FieldName, ...] = ()
    """Fields in which two policies of a level must not differ; if they do, the first policy sets the whole field."""
    setting: Name = ""
    """The controller setting on which the joint field depends. Without it: the field is always joint."""
    value: str = ""
    """The value that the setting must have. Without it: empty."""

    def holds(self, values: Mapping[str, str]) -> bool:
        """Whether the field is shared under the settings of the controller, each of which is given."""
        return not self.setting or values.get(self.setting, "") == self.value


def _includes(part: MergeScope | IgnoredPart, node: NodeRef, protocol: str) -> bool:
    """Whether a node is on one of the levels, on a path by way of a listener of a protocol, in upper case."""
    on_level = not part.levels or any(level.includes(node) for level in part.levels)
    return on_level and (not part.protocols or protocol in part.protocols)


class MergeScope(Struct, frozen=True, rename="camel"):
    """Levels whose policies are merged with each other; only the outcomes of scopes meet."""

    levels: _Levels
    """The levels of the scope."""
    protocols: _Protocols = frozenset()
    """The protocols of the listeners below which the scope exists. Without it: of all."""

    includes = _includes


class IgnoredPart(Struct, frozen=True, kw_only=True, rename="camel"):
    """Policies, or some of their fields, that controllers ignore on some levels, or because of an annotation."""

    levels: _Levels = ()
    """The levels on which controllers ignore policies. Without it: all levels."""
    fields: Annotated[tuple[FieldName, ...], Meta(min_length=1)] = ()
    """The ignored fields. Without it: all of the policy."""
    protocols: _Protocols = frozenset()
    """The protocols of the listeners below which controllers ignore them. Without it: of all."""
    values: Annotated[frozenset[str], Meta(min_length=1)] = frozenset()
    """The values, in JSON, with which controllers ignore the fields. Without it: any."""
    annotations: Mapping[str, Annotated[tuple[str, ...], Meta(min_length=1)]] = NOTHING
    """A map from annotations of a policy to the values with which controllers ignore it, or the fields; one of them is
    enough. Without it: whatever the annotations are.
    """

    includes = _includes

    def concerns(self, annotations: Mapping[str, str]) -> bool:
        """Whether this is about a policy with some annotations."""
        return not self.annotations or self.annotation_among(annotations) != ""

    def annotation_among(self, annotations: Mapping[str, str]) -> str:
        """Return the first annotation for which controllers ignore a policy; "" if it has none."""
        matching = (name for name, values in self.annotations.items() if annotations.get(name) in values)
        return next(matching, "")


class Inheritance(Struct, frozen=True, rename="camel"):
    """The merge of policies on a route with those on the routes to which it delegates; see `RouteChoice`.

    If there are `fields`, with the last key in lower case, it holds of these alone.
    """

    strategy: _InheritedStrategy
    """The merge strategy."""
    joint: PatchStrategy | None = None
    """The strategy by which joint fields are combined. Without it: they come as a whole from one policy."""
    fields: Annotated[frozenset[tuple[str, ...]] | None, INTERNAL] = None


class ListedFields(Struct, frozen=True, rename="camel"):
    """The meaning of a value that is a list of fields, by their names in any case: a strategy for these fields."""

    below: FieldName
    """The field that contains the listed fields."""
    strategy: PatchStrategy
    """The merge strategy of the listed fields."""


class RouteChoice(Struct, frozen=True, rename="camel"):
    """An annotation by which a route chooses how its policies meet those on the routes that it leads to.

    Any other value than `values` have is a list of names with commas, if it can be `listed`; the other fields go by the
    kind's strategy.
    """

    annotation: Name
    """The annotation of the delegating route."""
    values: Annotated[Mapping[str, Inheritance], Meta(min_length=1)]
    """A map from the values of the annotation to their meanings."""
    listed: ListedFields | None = None
    """The meaning of any other value: a comma-separated list of field names in any case. Without it: nothing."""

    def means(self, value: str) -> Inheritance | None:
        """Return the meaning of a value of the annotation; None if it has none."""
        if value in self.values or self.listed is None:
            return self.values.get(value)
        names = (name.strip().lower() for name in value.split(","))
        fields = frozenset((*self.listed.below.split("."), name) for name in names if name)
        return Inheritance(self.listed.strategy, None, fields)


class PortField(Struct, frozen=True, rename="camel"):
    """A list with settings for single ports: for the port that its `key` holds, an entry counts instead of a field."""

    field: FieldName
    """The list with settings for single ports."""
    key: FieldName
    """The field of an entry with the port."""
    instead_of: FieldName
    """The field that an entry replaces on its port."""


WholeField: TypeAlias = Annotated[
    str,
    text_like(
        r"^[A-Za-z0-9_*-]+(\.[A-Za-z0-9_*-]+)*(\[[A-Za-z0-9_-]+\])?$",
        "Fields are written as labels, limits.* (each entry of a map) or rules[name] (each element of a"
        " list, by its name).",
    ),
]


class ConditionalField(Struct, frozen=True, kw_only=True, rename="camel"):
    """A field of the target object that stands for a setting only where another one has a value, or has none."""

    field: FieldName
    """The field in the settings of the policy."""
    object_field: FieldName
    """The field of the target object."""
    given: FieldName = ""
    """A field that must be set. Without it: none."""
    absent: FieldName = ""
    """A field that must not be set. Without it: none."""


OtherFields: TypeAlias = Literal["ignored", "invalid"]


class Variant(Struct, frozen=True, kw_only=True, rename="camel"):
    """The choices of a kind that differ where it takes effect on objects of some kinds."""

    targets: Annotated[frozenset[GroupKind], Meta(min_length=1)]
    """The kinds of objects."""
    strategy: MergeStrategy | None = None
    """The merge strategy. Without it: that of the kind."""
    chooser: Chooser | None = None
    """The policy whose merge strategy decides. Without it: that of the kind."""
    whole_fields: frozenset[WholeField] | None = None
    """The parts that a merge takes as a whole from one policy. Without it: those of the kind."""
    fields: Annotated[frozenset[FieldName], Meta(min_length=1)] | None = None
    """The fields that count, each including all fields below it. Without it: all."""
    other_fields: OtherFields = "ignored"
    """The meaning of all other fields: controllers ignore them (`ignored`), or a policy that targets such an object
    itself is `invalid` there.
    """
    ignored: Annotated[tuple[IgnoredPart, ...], Meta(min_length=1)] | None = field(default=None, name="unheeded")
    """Policies on certain levels, or fields of these policies, that controllers ignore. Without it: those of the kind.
    """
