"""The effective policy of a kind on a path, and the fate of every field that its policies declare."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct, field

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.fields import WHOLE, FieldPath
from kubectl_policy.model.world import grouped
from kubectl_policy.resolution.traced import Field, KeyedList, Leaf, Source, Traced, field_name, leaves, only_field

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Origin
    from kubectl_policy.model.authorship import Authorship
    from kubectl_policy.resolution.contributions import Contribution
    from kubectl_policy.resolution.merging import Doubt, ScopeOutcome
    from kubectl_policy.resolution.precedence import PolicyRefusal
    from kubectl_policy.topology import Path

FateState: TypeAlias = Literal["effective", "undecided", "superseded", "rejected", "unheeded"]
# A field that a policy declares, what becomes of it, and who superseded it.
FieldOutcome: TypeAlias = "tuple[Field, Leaf, FateState, tuple[Source, ...]]"

_FIELD: Final = "The path of the field below the spec or its stanza: timeout.request, compressor[Gzip].gzip."
_DEFAULTED: Final = "True if the policy omits the field and the value is the default of its definition."
_ORIGIN: Final = "The line of the field, or the line of its object if the field has no known line."
_BLAME: Final = "The author and time of the last change; null without --blame, and if unknown."
_STATE: Final = (
    "effective: in force; undecided: unknown, because it is unknown how the policies combine;"
    " superseded: replaced by another value; rejected: the whole policy is refused because of a"
    " conflict; unheeded: ignored by controllers, independently of other policies."
)
BECAUSE: Final = (
    "The reason why controllers ignore the field, such as an object that does not exist; empty if the field"
    " is not ignored, or for its place alone."
)


class DeclaredField(Struct, frozen=True, kw_only=True, gc=False):
    """A field with its value, as its source declares it, and where that is written."""

    field: Annotated[str, Meta(description=_FIELD)]
    value: Annotated[Json, Meta(description="The value, of any JSON type; null if the field is removed.")]
    source: Annotated[Source, Meta(description="The source of the field.")]
    origin: Annotated[Origin | None, Meta(description=_ORIGIN)] = None
    declared_in: FieldPath = WHOLE
    """The field of the source that says it; the whole of it where none does."""
    blame: Annotated[Authorship | None, Meta(description=_BLAME)] = None
    defaulted: Annotated[bool, Meta(description=_DEFAULTED)] = False

    @property
    def declared_in_(self) -> Annotated[str, Meta()]:
        """The full path of the field in its object, such as spec.overrides.timeout.request; empty if undeclared."""
        return str(self.declared_in)


class Fate(DeclaredField, frozen=True, kw_only=True, gc=False):
    """A declared field and its state on a path."""

    state: Annotated[FateState, Meta(description=_STATE)]
    superseded_by: Annotated[
        tuple[Source, ...],
        Meta(description="The sources that set the field, a parent of the field, or the whole spec instead."),
    ] = ()
    by_port: bool = False
    """Whether what `superseded_by` say of the path's port replaces it."""
    because: Annotated[str, Meta(description=BECAUSE)] = ""


class ObjectValue(Struct, frozen=True, dict=True):
    """A value of a field of the target object, and the field of the policies' settings that it stands for."""

    field: Field
    object_field: str
    value: Leaf | Traced

    @cached_property
    def leaves(self) -> tuple[tuple[Field, Leaf], ...]:
        """The settings that it makes, by where they stand among those of policies."""
        if isinstance(self.value, Leaf):
            return ((self.field, self.value),)
        return tuple(((*self.field, *field), leaf) for field, leaf in leaves(self.value))


class Resolution(Struct, frozen=True, kw_only=True, dict=True):
    """The outcome of the policies of one kind wherever the same ones meet; all paths where they do share it."""

    kind: GroupKind
    spec: Traced
    merged: Traced | None = None
    """The spec with the fields that controllers ignore although they win; None if there are none."""
    contributions: tuple[Contribution, ...]
    """The contributions of policies, least specific first."""
    members: frozenset[Source]
    """The sources that took part."""
    rejected: frozenset[Source]
    """The sources refused for a conflict."""
    undecided: frozenset[Source] = frozenset()
    """The sources of which it is not known whether what they set is in force."""
    doubts: frozenset[Doubt] = frozenset()
    refusals: Mapping[Source, PolicyRefusal] = field(default_factory=dict["Source", "PolicyRefusal"])
    """Rejected sources of policies that another one on their target, or on another one of theirs, keeps out."""
    ignored_fields: Mapping[tuple[Source, Field], str] = field(default_factory=dict["tuple[Source, Field]", "str"])
    """The fields that the controllers ignore here, with the reasons, as far as these do not depend on the path."""
    ignored_sources: frozenset[Source] = frozenset()
    """The sources of which nothing counts here, even if they declare no field."""
    failing: Mapping[Source, str] = field(default_factory=dict["Source", "str"])
    """The sources that win and are invalid, with the reasons: requests get an error response, and nothing is in force.
    """
    scopes: tuple[ScopeOutcome, ...] = ()
    """The parts of which the spec is made, broadest first."""
    replaced_for_port: Field = ()
    """A field that gives way to what `port_sources` say of the path's port."""
    port_sources: frozenset[Source] = frozenset()
    object_values: tuple[ObjectValue, ...] = ()
    """The fields of the target object that stand for settings, also those that an override supersedes."""
    without_object_values: Resolution | None = None
    """The outcome as it would be without them."""

    def __hash__(self) -> int:
        """Hash the sources of contributions and fields; it is looked up for every path."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        sources = tuple(part.source for part in self.contributions)
        return hash((self.kind, sources, tuple((field, leaf.source) for field, leaf in leaves(self.spec))))

    @property
    def comparison_key(self) -> object:
        """The key that is equal where policies fare alike, whatever the values of the target objects are.

        Which fields these say makes a difference.
        """
        return self._key_of_object_values if self.object_values else self

    @cached_property
    def _key_of_object_values(self) -> object:
        return self.without_object_values, tuple(
            (value.field, *(field for field, _ in value.leaves)) for value in self.object_values
        )

    @property
    def target_object(self) -> ObjectRef | None:
        """The target object, if it says something itself."""
        return next((leaf.source.object for value in self.object_values for _, leaf in value.leaves), None)

    def why_ignored(self, policy: ObjectRef) -> str:
        """Return the reason why controllers ignore fields of a policy; "" if it depends on the path, or is not one."""
        reasons = {reason for (source, _), reason in self.ignored_fields.items() if source.object == policy}
        return next(iter(reasons)) if len(reasons) == 1 else ""

    @cached_property
    def contributions_of(self) -> Mapping[ObjectRef, list[Contribution]]:
        """The contributions of each policy, in their order."""
        by_policy: dict[ObjectRef, list[Contribution]] = {}
        for part in self.contributions:
            by_policy.setdefault(part.source.object, []).append(part)
        return by_policy

    @cached_property
    def policies_in_force(self) -> frozenset[ObjectRef]:
        """The policies with at least one effective field; one that declares none counts if its spec took part.

        Those of which that is undecided are among them.
        """
        return frozenset({source.object for source in self.sources_in_force} & self.contributions_of.keys())

    @cached_property
    def policies_undecided(self) -> frozenset[ObjectRef]:
        """The policies in force of which no field is known to be effective."""
        certain = {source.object for source in self.sources_in_force - self.undecided}
        return self.policies_in_force - certain

    @cached_property
    def sources_in_force(self) -> frozenset[Source]:
        """The sources that set an effective field, or take part without declaring any; also undecided ones."""
        if self.failing:
            return frozenset()
        empty = self.members.intersection(part.source for part in self.contributions if not part.spec)
        return empty.union(leaf.source for _, leaf in leaves(self.spec))

    @cached_property
    def fields_of(self) -> Mapping[Source, tuple[Field, ...]]:
        """The fields of the spec that each source has set, in their order."""
        return grouped((leaf.source, field) for field, leaf in leaves(self.spec))

    @cached_property
    def fates(self) -> tuple[Fate, ...]:
        """The fate of every field that a contribution declares, in order of contributions."""
        return tuple(self._fate(field, leaf) for part in self.contributions for field, leaf in leaves(part.spec))

    def outcomes_of(self, policy: ObjectRef) -> list[FieldOutcome]:
        """Return the outcome of each field of a policy, and the sources that superseded it."""
        outcomes: list[FieldOutcome] = []
        for part in self.contributions_of.get(policy, ()):
            if part.spec is self.spec and not (self.rejected or self.ignored_fields or self.undecided):
                # Nothing is merged into it.
                outcomes.extend((name, leaf, "effective", ()) for name, leaf in leaves(part.spec))
            else:
                outcomes.extend((name, leaf, *self._outcome(name, leaf)[:2]) for name, leaf in leaves(part.spec))
        return outcomes

    @cached_property
    def object_fates(self) -> tuple[tuple[Field, Leaf, Fate], ...]:
        """Every value of the target object's own with its field and its fate."""
        return tuple(
            (field, leaf, self._fate(field, leaf)) for value in self.object_values for field, leaf in value.leaves
        )

    @cached_property
    def fates_of(self) -> Mapping[ObjectRef, list[Fate]]:
        """The fates of declared fields, by policy."""
        by_policy: dict[ObjectRef, list[Fate]] = {}
        for fate in self.fates:
            by_policy.setdefault(fate.source.object, []).append(fate)
        return by_policy

    def _fate(self, field: Field, leaf: Leaf) -> Fate:
        state, by, by_port = self._outcome(field, leaf)
        return Fate(
            field=field_name(field),
            value=leaf.value,
            source=leaf.source,
            state=state,
            superseded_by=by,
            by_port=by_port,
            because=self.ignored_fields.get((leaf.source, field), "") if state == "unheeded" else "",
            defaulted=leaf.defaulted,
        )

    def _outcome(self, field: Field, leaf: Leaf) -> tuple[FateState, tuple[Source, ...], bool]:
        """Return the state of a field, who superseded it, and whether that is for the path's port."""
        # Hardly anything is refused, ignored or undecided, and to look that up for each field takes longer than to see.
        if self.rejected and leaf.source in self.rejected:
            return "rejected", self._winners_over(leaf.source), False
        if self.ignored_fields and (leaf.source, field) in self.ignored_fields:
            return "unheeded", (), False
        current, around = self._locate(field)
        # One source can declare a field twice, bare and in a stanza: then the value tells which is in force.
        if isinstance(current, Leaf):
            if current is not leaf and (current.source != leaf.source or current.value != leaf.value):
                # Where nothing decides between two policies, either value may be in force.
                is_open = {
                    leaf.source,
                    current.source,
                } <= self.undecided and leaf.source.target == current.source.target
                return ("undecided", (), False) if is_open else ("superseded", (current.source,), False)
            counts = True
        else:
            counts = current is not None and leaf.value == ([] if isinstance(current, KeyedList) else {})
        if counts:
            undecided = self.undecided and leaf.source in self.undecided
            return "undecided" if undecided else "effective", (), False
        setters = self._setters(around)
        outer = self.replaced_for_port
        if setters or not outer or field[: len(outer)] != outer:
            return "superseded", setters or self._winners, False
        return "superseded", tuple(sorted(self.port_sources)) or self._winners, True

    def _locate(self, field: Field) -> tuple[Leaf | Traced | None, Field]:
        """Return the value at a field, or the leaf above it; and the path of the closest map."""
        current: Leaf | Traced | None = self._decided
        around: Field = ()
        for depth, key in enumerate(field, 1):
            if current is None or isinstance(current, Leaf):
                break
            current = current.get(key)
            if current is not None and not isinstance(current, Leaf):
                around = field[:depth]
        return current, around

    @property
    def _decided(self) -> Traced:
        """The spec that decides which field wins, be it ignored or not."""
        return self.spec if self.merged is None else self.merged

    @cached_method
    def _setters(self, around: Field) -> tuple[Source, ...]:
        """Return the sources of all that is in a map of the spec."""
        inner = leaves(only_field(self._decided, around)) if around else ()
        return tuple(sorted({leaf.source for _, leaf in inner}))

    @cached_property
    def _winners(self) -> tuple[Source, ...]:
        return tuple(part.source for part in self.contributions if part.source in self.members)

    def _winners_over(self, rejected: Source) -> tuple[Source, ...]:
        refusal = self.refusals.get(rejected)
        if refusal is None:
            return self._winners
        holders = self.contributions_of.get(refusal.holder, ())
        sources = dict.fromkeys(part.source for part in holders if part.source.target == refusal.target)
        return tuple(sources) or (Source(refusal.holder, refusal.target),)


class EffectivePolicy(Struct, frozen=True, gc=False):
    """The outcome of the policies of one kind at the end of a path."""

    path: Path
    resolution: Resolution

    @property
    def target(self) -> NodeRef:
        """The node at which this takes effect: the end of the path."""
        return self.path[-1]
