"""The choices of a profile about merging: strategies, levels, scopes and fields that several policies set together."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import GroupKind, NodeRef

# Which policies share a field: those of one level, those of a route and of the routes that lead to it, or all scopes.
Within: TypeAlias = Literal["level", "levels", "scopes"]


class MergeStrategy(StrEnum):
    """What becomes of two specs on one path, in the words of GEP-713 ("Merge strategies").

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
        return self in {MergeStrategy.ATOMIC_OVERRIDES, MergeStrategy.PATCH_OVERRIDES}

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
        """Whether a challenger that chooses it patches what is above it instead of replacing it."""
        return self in {MergeStrategy.PATCH_DEFAULTS, MergeStrategy.STRATEGIC_MERGE}

    @classmethod
    def named(cls, name: str) -> MergeStrategy | None:
        """The strategy that a person means by `name` (`AtomicDefaults`, `patch-overrides`); None if there is none."""
        folded = "".join(letter for letter in name.lower() if letter.isalpha())
        for strategy in cls:
            if folded == strategy.value.lower().replace(" ", ""):
                return strategy
        return None


class TargetLevel(NamedTuple):
    """A level of the hierarchy: the objects of a kind, or (`section`) the named sections of such objects."""

    group_kind: GroupKind
    section: bool = False

    def includes(self, node: NodeRef) -> bool:
        """Whether a node is on this level."""
        return node.object.group_kind == self.group_kind and bool(node.section) == self.section


class SharedField(NamedTuple):
    """A field that does not come whole from one policy: `within` says among which policies it is put together.

    `by` says of what: each policy's list, appended, or its own value beside the others' (empty); each of the field's
    own fields (`*`); the elements of a list by their key (`[port]`), field by field; or entries known by a text or a
    reference in them, given as a path (`extensionRef`): the first policy with an entry keeps it, and a value without
    such a path is no entry and comes whole.

    On a level, two policies that disagree on one of the fields `unless` do not share: the first one has the field.
    All of this holds only while a setting of the controller has the given value, if one is named.
    """

    field: str
    within: tuple[Within, ...]
    by: str = ""
    unless: tuple[str, ...] = ()
    setting: str = ""
    value: str = ""

    def holds(self, values: Mapping[str, str]) -> bool:
        """Whether the field is shared under the settings of the controller, each of which is given."""
        return not self.setting or values.get(self.setting, "") == self.value


class MergeScope(NamedTuple):
    """Levels whose policies are merged with each other; only the outcomes of scopes meet.

    With `protocols`, it is a scope below listeners of these alone.
    """

    levels: tuple[TargetLevel, ...]
    protocols: frozenset[str] = frozenset()

    def includes(self, node: NodeRef, protocol: str) -> bool:
        """Whether a node is in it on a path by way of a listener of a protocol, in upper case."""
        here = not self.protocols or protocol in self.protocols
        return here and any(level.includes(node) for level in self.levels)


class IgnoredPart(NamedTuple):
    """What controllers ignore: policies on some levels, or some fields of theirs.

    With `protocols`, it is ignored on paths by way of listeners of these alone; with `values`, fields are
    ignored where they have one of these, as JSON writes them.
    """

    levels: tuple[TargetLevel, ...]
    fields: tuple[str, ...] = ()
    protocols: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()

    def includes(self, node: NodeRef, protocol: str) -> bool:
        """As for a scope."""
        return MergeScope(self.levels, self.protocols).includes(node, protocol)


class Inheritance(NamedTuple):
    """How what is on a route meets what is on the routes that it leads to; see `RouteChoice`.

    If there are `fields`, with the last key in lower case, it holds of these alone.
    """

    strategy: MergeStrategy
    joint: MergeStrategy | None = None
    fields: frozenset[tuple[str, ...]] | None = None


class ListedFields(NamedTuple):
    """What a value means that is a list of fields, by their names in any case: `strategy` for these fields `below`."""

    below: str
    strategy: MergeStrategy


class RouteChoice(NamedTuple):
    """An annotation by which a route chooses how its policies meet those on the routes that it leads to.

    `values` say what each value means: the strategy, and the one by which joint fields are put together if they are.
    Any other value is a list of names with commas, if it can be `listed`; the other fields go by the kind's strategy.
    """

    annotation: str
    values: Mapping[str, Inheritance]
    listed: ListedFields | None = None

    def means(self, value: str) -> Inheritance | None:
        """What a value of the annotation means; None if it means nothing."""
        if value in self.values or self.listed is None:
            return self.values.get(value)
        names = (name.strip().lower() for name in value.split(","))
        fields = frozenset((*self.listed.below.split("."), name) for name in names if name)
        return Inheritance(self.listed.strategy, None, fields)


class PortField(NamedTuple):
    """A list with settings for single ports: for the port that its `key` holds, an entry counts instead of a field."""

    field: str
    key: str
    instead_of: str
