"""What is known of one policy kind: how it attaches, where it takes effect, how it merges."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import GroupKind, NodeRef, Origin

PolicyClass: TypeAlias = Literal["direct", "inherited"]
Fold: TypeAlias = Literal["bottom-up", "top-down"]
SameLevel: TypeAlias = Literal["newest-challenges", "first-wins"]
Stanzas: TypeAlias = Literal["plural", "singular", "none"]
KnownBy: TypeAlias = Literal["profile", "label", "shape"]

TARGET_FIELDS: Final = ("spec.targetRef", "spec.targetRefs", "spec.targetSelectors")


class MergeStrategy(StrEnum):
    """What becomes of two specs on one path, in the words of GEP-713 ("Merge strategies").

    Of two, the one nearer the root is *established*, the other the *challenger*; the established one's strategy
    decides.
    """

    NONE = "None"
    ATOMIC_DEFAULTS = "Atomic defaults"
    ATOMIC_OVERRIDES = "Atomic overrides"
    PATCH_DEFAULTS = "Patch defaults"
    PATCH_OVERRIDES = "Patch overrides"

    @property
    def overrides(self) -> bool:
        """Whether the established spec beats its challengers on purpose."""
        return self in {MergeStrategy.ATOMIC_OVERRIDES, MergeStrategy.PATCH_OVERRIDES}

    @property
    def defaults(self) -> bool:
        """Whether the established spec gives way to its challengers."""
        return self in {MergeStrategy.ATOMIC_DEFAULTS, MergeStrategy.PATCH_DEFAULTS}

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


@dataclass(frozen=True, slots=True)
class PolicyKindProfile:
    """The choices that a policy kind makes; the defaults are SEMANTICS' and GEP-713's.

    `declared_targets` are the kinds that a policy may name (empty: any), `effective_targets` the levels at which it
    changes behaviour (empty: the target itself for a direct kind, the end of each path for an inherited one).
    `strategy` is None where each policy chooses by a stanza or by `strategy_field`. `fold` and `stanzas` are None
    where nobody has said. `object_fields` maps a field of the spec proper to the field of the target object that
    stands for the same setting. `whole_fields` are maps that every merge replaces whole; `map_fields` are the maps of
    scalars in the definition's schema (paths below `spec`), which the experimental GEP-713 text replaces whole.
    `assumed` names the choices that rest on a default or a guess; an answer says so.
    """

    group_kind: GroupKind
    policy_class: PolicyClass
    known_by: KnownBy
    target_fields: tuple[str, ...] = TARGET_FIELDS
    declared_targets: frozenset[GroupKind] = frozenset()
    effective_targets: tuple[TargetLevel, ...] = ()
    virtual_targets: frozenset[GroupKind] = frozenset()
    cross_namespace: bool | None = None
    grant_required: bool = True
    strategy: MergeStrategy | None = None
    strategy_field: str = ""
    stanzas: Stanzas | None = None
    fold: Fold | None = None
    same_level: SameLevel | None = None
    object_fields: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    whole_fields: frozenset[str] = frozenset()
    map_fields: frozenset[str] = frozenset()
    evidence: tuple[str, ...] = ()
    origin: Origin | None = None
    assumed: tuple[str, ...] = ()

    @property
    def default_strategy(self) -> MergeStrategy:
        """The strategy of a policy that chooses none: None for a direct kind, Atomic defaults for the rest."""
        if self.strategy:
            return self.strategy
        return MergeStrategy.NONE if self.policy_class == "direct" else MergeStrategy.ATOMIC_DEFAULTS
