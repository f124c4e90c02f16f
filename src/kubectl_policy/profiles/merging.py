"""The choices of a profile about merging: strategies, levels, scopes and fields that several policies set together."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct, field

from kubectl_policy.model import GroupKind
from kubectl_policy.profiles.reading import INTERNAL, SPREAD, FieldName, Name, text_like

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    policy is in force with all that it says, and none beats another.
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
        """Whether the established spec beats its challengers on purpose."""
        return self is MergeStrategy.ATOMIC_OVERRIDES or self is MergeStrategy.PATCH_OVERRIDES

    @property
    def defaults(self) -> bool:
        """Whether the established spec gives way to its challengers."""
        return self in {
            MergeStrategy.ATOMIC_DEFAULTS,
            MergeStrategy.PATCH_DEFAULTS,
            MergeStrategy.STRATEGIC_MERGE,
        }

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
    """Whether sections (listeners, rules, ports) are meant."""

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
    """The field of the policies' settings."""
    within: Annotated[tuple[Within, ...], Meta(min_length=1)]
    """Among which policies it is put together: those of one `level` (a route with its rules, or all that is above the
    routes); those of `levels` one below the other, such as a route and the routes that it leads to (with `routeChoice`,
    where a route says so); or all `scopes`. Elsewhere the field comes whole from one policy.
    """
    by: Annotated[
        str,
        text_like(
            r"^(\*|\[[A-Za-z0-9_-]+\]|[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|)$",
            "Of what: each policy's list or value (empty), each field of it (*), elements of a list by"
            " their key ([port]), or entries known by a text or a reference at a path (extensionRef).",
        ),
    ] = ""
    """Of what: each of its fields (`*`), the elements of a list by their key (`[port]`), field by field, or entries
    known by a text or a reference in them (`extensionRef`), of which the first policy that has one keeps it; a value
    without such a path is no entry and comes whole. Without it: of each policy's list, appended, or of its own value
    beside the others'.
    """
    unless: tuple[FieldName, ...] = ()
    """Fields of it on which two policies of a level must not disagree, or the first one has the whole."""
    setting: Name = ""
    """The setting of the controllers on which all of this depends. Without it: it always holds."""
    value: str = ""
    """The value that the setting must have. Without it: empty."""

    def holds(self, values: Mapping[str, str]) -> bool:
        """Whether the field is shared under the settings of the controller, each of which is given."""
        return not self.setting or values.get(self.setting, "") == self.value


class MergeScope(Struct, frozen=True, rename="camel"):
    """Levels whose policies are merged with each other; only the outcomes of scopes meet."""

    levels: _Levels
    """The levels that belong to it."""
    protocols: _Protocols = frozenset()
    """Below listeners of which protocols alone it is one. Without it: of all."""

    def includes(self, node: NodeRef, protocol: str) -> bool:
        """Whether a node is in it on a path by way of a listener of a protocol, in upper case."""
        return _includes(self.levels, self.protocols, node, protocol)


class IgnoredPart(Struct, frozen=True, kw_only=True, rename="camel"):
    """Policies on some levels, or some of their fields, that controllers ignore."""

    levels: _Levels
    """The levels on which they ignore it."""
    fields: Annotated[tuple[FieldName, ...], Meta(min_length=1)] = ()
    """The fields that they ignore. Without it: all of the policy."""
    protocols: _Protocols = frozenset()
    """Below listeners of which protocols alone they do. Without it: of all."""
    values: Annotated[frozenset[str], Meta(min_length=1)] = frozenset()
    """The values, as JSON writes them, with which alone they ignore the fields. Without it: any."""

    def includes(self, node: NodeRef, protocol: str) -> bool:
        """Whether a node is on one of the levels, below a listener of a protocol, in upper case."""
        return _includes(self.levels, self.protocols, node, protocol)


def _includes(levels: Iterable[TargetLevel], protocols: frozenset[str], node: NodeRef, protocol: str) -> bool:
    return (not protocols or protocol in protocols) and any(level.includes(node) for level in levels)


class Inheritance(Struct, frozen=True, rename="camel"):
    """The merge of policies on a route with those on the routes to which it delegates; see `RouteChoice`.

    If there are `fields`, with the last key in lower case, it holds of these alone.
    """

    strategy: _InheritedStrategy
    """The strategy."""
    joint: PatchStrategy | None = None
    """How joint fields are put together. Without it: they come whole."""
    fields: Annotated[frozenset[tuple[str, ...]] | None, INTERNAL] = None


class ListedFields(Struct, frozen=True, rename="camel"):
    """The meaning of a value that is a list of fields, by their names in any case: a strategy for these fields."""

    below: FieldName
    """Where the fields stand that a value lists."""
    strategy: PatchStrategy
    """The strategy that holds of them alone."""


class RouteChoice(Struct, frozen=True, rename="camel"):
    """An annotation by which a route chooses how its policies meet those on the routes that it leads to.

    Any other value than `values` have is a list of names with commas, if it can be `listed`; the other fields go by the
    kind's strategy.
    """

    annotation: Name
    """The annotation of the route that leads to other routes."""
    values: Annotated[Mapping[str, Inheritance], Meta(min_length=1)]
    """A map from its values to what they mean."""
    listed: ListedFields | None = None
    """What any other value means: a list of fields with commas, by their names in any case. Without it: nothing."""

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
    """A list with settings for single ports."""
    key: FieldName
    """The field of its entries with the port."""
    instead_of: FieldName
    """The field that an entry stands instead of on its port."""


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
    """The field of the policy's settings."""
    object_field: FieldName
    """The field of the target object."""
    given: FieldName = ""
    """A field that must have a value. Without it: none."""
    absent: FieldName = ""
    """A field that must have none. Without it: none."""


class Variant(Struct, frozen=True, kw_only=True, rename="camel"):
    """The choices of a kind that differ where it takes effect on objects of some kinds."""

    targets: Annotated[frozenset[GroupKind], Meta(min_length=1)]
    """These kinds."""
    strategy: MergeStrategy | None = None
    """The strategy. Without it: the kind's."""
    chooser: Chooser | None = None
    """Whose strategy decides. Without it: the kind's."""
    whole_fields: frozenset[WholeField] | None = None
    """What a merge takes whole from one policy. Without it: the kind's."""
    fields: Annotated[frozenset[FieldName], Meta(min_length=1)] | None = None
    """The fields that count there, each with all that is below it; controllers ignore the others. Without it: all."""
    ignored: Annotated[tuple[IgnoredPart, ...], Meta(min_length=1)] | None = field(default=None, name="unheeded")
    """Policies on some levels, or fields of theirs, that controllers ignore there. Without it: the kind's."""
