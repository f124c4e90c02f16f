"""Names of fields in policies and in effective policies, and the objects, fields and lines where they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.lazy import cached_method
from kubectl_policy.model import FieldPath, Origin
from kubectl_policy.model.fields import WHOLE, Json, Step
from kubectl_policy.profiles.controllers import OF_RULE
from kubectl_policy.resolution import Leaf, field_name, leaves, plain
from kubectl_policy.resolution.contributions import stands_below_name
from kubectl_policy.resolution.outcome import DeclaredField, Fate
from kubectl_policy.resolution.traced import CollectedValues, Field, KeyedList, SplitList

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model.authorship import Authorship
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.resolution import Contribution, EffectivePolicy, Resolution, Source, Traced

# FindAuthor wrote what an object says, given also where that is written, if the line could be told.
FindAuthor: TypeAlias = "Callable[[WrittenValue, Origin | None], Authorship | None]"
# The line of a field with a value, in the object that starts at an origin; None where that cannot be told.
LocateLine: TypeAlias = Callable[[Origin, FieldPath, Json], "int | None"]


class WrittenValue(Protocol):
    """A value, the field of the object that says it, and where that was read; with no field, the whole object."""

    @property
    def value(self) -> Json: ...  # noqa: D102

    @property
    def origin(self) -> Origin | None: ...  # noqa: D102

    @property
    def source(self) -> Source: ...  # noqa: D102

    @property
    def declared_in(self) -> FieldPath: ...  # noqa: D102


AnyWrittenValue = TypeVar("AnyWrittenValue", bound=WrittenValue)


def origin_of(analysis: Analysis, source: Source) -> Origin | None:
    """Return the origin of the object of a source; None if it was not read."""
    resource = analysis.index.get(source.object)
    return resource.origin if resource else None


class FieldLocations:
    """Fields in which the leaves of one effective policy are written."""

    def __init__(self, analysis: Analysis, effective: EffectivePolicy) -> None:
        """Take the profile of the kind at the target of the outcome."""
        self._analysis, self._effective = analysis, effective
        self.profile = analysis.registry.profile(effective.resolution.kind).at(effective.target.object.group_kind)

    def field(self, keys: Field, leaf: Leaf) -> FieldPath:
        """Return the field of its object in which a leaf is written.

        The whole object, if the definition of its kind fills the field in, or if it cannot be told.
        """
        if leaf.defaulted:
            return WHOLE
        if self.profile.route_settings:
            return self._analysis.resolver.rules.place(leaf.source.target, keys)
        # One source can declare a field twice, bare and in a stanza: then the value tells.
        written = (
            location for written_leaf, location in self._written_by(leaf.source).get(keys, ()) if written_leaf == leaf
        )
        split = self._split_by(leaf.source).get(keys)
        return next(written, None) or split or self._own_field(keys, leaf)

    @cached_method
    def _split_by(self, source: Source) -> dict[Field, FieldPath]:
        """The locations of lists of which one source brings the elements apart, as controllers ignore some of them."""
        parts = self._effective.resolution.contributions_of.get(source.object, ())
        return {
            keys: location
            for part in parts
            if part.source == source and part.ignored
            for keys, node, location in field_paths(part, self.profile)
            if isinstance(node, SplitList)
        }

    @cached_method
    def _written_by(self, source: Source) -> dict[Field, list[tuple[Leaf, FieldPath]]]:
        """Everything that one source brings to the outcome, with its place; there may be thousands of others."""
        locations: dict[Field, list[tuple[Leaf, FieldPath]]] = {}
        for part in self._effective.resolution.contributions_of.get(source.object, ()):
            for keys, node, location in field_paths(part, self.profile) if part.source == source else ():
                if isinstance(node, Leaf):
                    locations.setdefault(keys, []).append((node, location))
        return locations

    def _own_field(self, keys: Field, leaf: Leaf) -> FieldPath:
        """Return the field of the target object that counts as a policy's setting."""
        source = leaf.source
        for setting in self._effective.resolution.object_values if source.object == source.target.object else ():
            # Of two fields for one setting, the value tells.
            if (keys, leaf) in setting.leaves:
                steps, remaining = setting.object_field.split("."), keys[len(setting.field) :]
                if setting.object_field.startswith(OF_RULE):
                    return self._analysis.resolver.rules.place(source.target, (*steps[1:], *remaining))
                return FieldPath((*steps, *remaining))
        return WHOLE


def field_paths(part: Contribution, profile: PolicyKindProfile) -> Iterator[tuple[Field, Leaf | Traced, FieldPath]]:
    """Everything in what one policy brings, with its path of keys and its place in the policy."""
    is_named = stands_below_name(profile, part.strategy)
    yield from _below(part.spec, (), FieldPath.parse(part.field).steps, is_named=is_named)


def _below(
    spec: Traced, keys: Field, at: tuple[Step, ...], *, is_named: bool = False
) -> Iterator[tuple[Field, Leaf | Traced, FieldPath]]:
    """Walk a part of a spec; `is_named` is whether its keys are names of policies, which no policy contains."""
    nameless, by_position = is_named or isinstance(spec, CollectedValues), isinstance(spec, KeyedList)
    for position, (key, child) in enumerate(spec.items()):
        field, location = (*keys, key), at if nameless else (*at, position if by_position else key)
        yield field, child, FieldPath(location)
        if not isinstance(child, Leaf):
            yield from _below(child, field, location)


def with_line(
    placed: AnyWrittenValue, locate: LocateLine, author_of: FindAuthor | None = None, **also: object
) -> AnyWrittenValue:
    """Return a value with the origin of its field instead of that of its object, and with its author.

    Fields that have other values `also` are replaced in one go.
    """
    origin, field = placed.origin, placed.declared_in
    line = locate(origin, field, placed.value) if origin and field.steps else None
    exact = Origin(origin.source, line) if origin and line else None
    if exact:
        also["origin"] = exact
    if author_of and field.steps:
        also["blame"] = author_of(placed, exact)
    if not also:
        return placed
    changed: Any = placed
    return cast("AnyWrittenValue", replace(changed, **also))


class NamedNode(Struct, frozen=True, gc=False):
    """A leaf or subtree of a spec, with its path of keys and its name."""

    field: Field
    name: str
    node: Leaf | Traced


class NamedLeaf(Struct, frozen=True, gc=False):
    """A leaf of a spec with its path of keys and its name."""

    field: Field
    name: str
    leaf: Leaf
    whole: NamedNode
    """The list in which it stands if the kind may merge that list by its elements; else the leaf itself."""


class Declared(DeclaredField, frozen=True, kw_only=True):
    """A declared field, and its fates on one path.

    A list that may be merged by its elements is one field with the fates of all of them.
    """

    fates: tuple[Fate, ...]


def named_leaves(spec: Traced, profile: PolicyKindProfile) -> Iterator[NamedLeaf]:
    """Every leaf of a spec, in the order of the spec.

    An element of a list is `compressor[Gzip]`, by its key, or `rules[0]`, by its place in this spec. Where all policies
    of a kind apply, the settings of each stand below its name; that is left out, and so is a policy without settings.
    """
    for key, child in spec.items():
        if not profile.all_apply or key != _policy_of(child):
            yield from _leaves_of(NamedNode(field=(key,), name=field_name((key,)), node=child), profile)
        elif not isinstance(child, Leaf):
            for leaf in _leaves_of(NamedNode(field=(), name="", node=child), profile):
                whole = replace(leaf.whole, field=(key, *leaf.whole.field))
                yield replace(leaf, field=(key, *leaf.field), whole=whole)


def _leaves_of(named: NamedNode, profile: PolicyKindProfile, whole: NamedNode | None = None) -> Iterator[NamedLeaf]:
    if isinstance(named.node, Leaf):
        yield NamedLeaf(field=named.field, name=named.name, leaf=named.node, whole=whole or named)
        return
    if whole is None and ".".join(named.field) in profile.list_keys:
        whole = named
    by_key = isinstance(named.node, KeyedList)
    for position, (key, child) in enumerate(named.node.items()):
        step = field_name((key,))
        if by_key:
            # An element that is told from others by its policy and place alone has no key.
            is_nameless = key.startswith(f"{_policy_of(child)}[")
            # Of a list that is split, the elements that are ignored are not here.
            own_step = key[key.rindex("[") :] if isinstance(named.node, SplitList) else f"[{position}]"
            step = own_step if is_nameless else f"[{key}]"
        dot = "" if not named.name or step.startswith("[") else "."
        named_child = NamedNode(field=(*named.field, key), name=f"{named.name}{dot}{step}", node=child)
        yield from _leaves_of(named_child, profile, whole)


def _policy_of(node: Leaf | Traced) -> str:
    """The name of the policy that set the first leaf."""
    return next((leaf.source.object.qualified_name for _, leaf in leaves({"": node})), "")


def named_fates(resolution: Resolution, profile: PolicyKindProfile) -> Iterator[list[tuple[NamedLeaf, Fate]]]:
    """Pair the fields of each contribution with their fates."""
    fates = iter(resolution.fates)
    for part in resolution.contributions:
        named = {leaf.field: leaf for leaf in named_leaves(part.spec, profile)}
        declared = [(field, next(fates)) for field, _ in leaves(part.spec)]
        yield [(named[field], replace(fate, field=named[field].name)) for field, fate in declared if field in named]


def declared_fields(resolution: Resolution, profile: PolicyKindProfile) -> Iterator[Declared]:
    """Every field of every contribution on a path, in the order of declaration."""
    parts = zip(resolution.contributions, named_fates(resolution, profile), strict=True)
    for part, fates in parts:
        locations = {keys: location for keys, _, location in field_paths(part, profile)}
        for _, together in groupby(fates, lambda pair: pair[0].whole.field):
            pairs = list(together)
            (named, fate), whole = pairs[0], pairs[0][0].whole.node
            yield Declared(
                field=named.whole.name,
                value=whole.value if isinstance(whole, Leaf) else plain({"": whole})[""],
                source=fate.source,
                fates=tuple(fate for _, fate in pairs),
                defaulted=all(fate.defaulted for _, fate in pairs),
                declared_in=locations[named.whole.field],
            )
