"""Names of fields in policies and in effective policies, and the objects, fields and lines where they are written."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.lazy import cached_method
from kubectl_policy.model import FieldPath, Origin
from kubectl_policy.model.fields import WHOLE, Json
from kubectl_policy.profiles.controllers import OF_RULE
from kubectl_policy.resolution import Leaf, field_name, leaves, plain
from kubectl_policy.resolution.contributions import stands_below_name
from kubectl_policy.resolution.outcome import DeclaredField, Fate
from kubectl_policy.resolution.traced import CollectedValues, KeyedList

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model.authorship import Authorship
    from kubectl_policy.model.fields import Step
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.resolution import Contribution, EffectivePolicy, Resolution, Source, Traced
    from kubectl_policy.resolution.traced import Field

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
    """Where the object was read that says something; None if it was not read."""
    resource = analysis.index.get(source.object)
    return resource.origin if resource else None


class FieldLocations:
    """Where what is said in one effective policy is written."""

    def __init__(self, analysis: Analysis, effective: EffectivePolicy, profile: PolicyKindProfile) -> None:
        """Of an outcome of a kind whose profile this is there; nothing is looked for yet."""
        self._analysis, self._effective, self._profile = analysis, effective, profile

    def field(self, keys: Field, leaf: Leaf) -> FieldPath:
        """Where in its object a leaf of the outcome, or of what is brought to it, is written.

        The whole object, if the definition of its kind fills the field in, or if it cannot be told.
        """
        if leaf.defaulted:
            return WHOLE
        if self._profile.route_settings:
            return self._analysis.resolver.rules.place(leaf.source.target, keys)
        # One source can declare a field twice, bare and in a stanza: then the value tells.
        written = (place for other, place in self._written_by(leaf.source).get(keys, ()) if other == leaf)
        return next(written, None) or self._own_field(keys, leaf)

    @cached_method
    def _written_by(self, source: Source) -> dict[Field, list[tuple[Leaf, FieldPath]]]:
        """Everything that one source brings to the outcome, with its place; there may be thousands of others."""
        found: dict[Field, list[tuple[Leaf, FieldPath]]] = {}
        for part in self._effective.resolution.contributions_of.get(source.object, ()):
            for keys, node, place in field_paths(part, self._profile) if part.source == source else ():
                if isinstance(node, Leaf):
                    found.setdefault(keys, []).append((node, place))
        return found

    def _own_field(self, keys: Field, leaf: Leaf) -> FieldPath:
        """Where the target object itself says a field that counts as a policy's."""
        source = leaf.source
        for own in self._effective.resolution.object_values if source.object == source.target.object else ():
            # Of two fields for one setting, the value tells.
            if (keys, leaf) in own.leaves:
                said, below = own.object_field.split("."), keys[len(own.field) :]
                if own.object_field.startswith(OF_RULE):
                    return self._analysis.resolver.rules.place(source.target, (*said[1:], *below))
                return FieldPath((*said, *below))
        return WHOLE


def field_paths(part: Contribution, profile: PolicyKindProfile) -> Iterator[tuple[Field, Leaf | Traced, FieldPath]]:
    """Everything in what one policy brings, with its path of keys and its place in the policy."""
    is_named = stands_below_name(profile, part.strategy)
    yield from _below(part.spec, (), FieldPath.parse(part.field).steps, is_named=is_named)


def _below(
    spec: Traced, keys: Field, at: tuple[Step, ...], *, is_named: bool = False
) -> Iterator[tuple[Field, Leaf | Traced, FieldPath]]:
    """The same of a part of it; `is_named` is whether that is the name of the policy, which stands nowhere in it."""
    nameless, by_position = is_named or isinstance(spec, CollectedValues), isinstance(spec, KeyedList)
    for position, (key, child) in enumerate(spec.items()):
        field, place = (*keys, key), at if nameless else (*at, position if by_position else key)
        yield field, child, FieldPath(place)
        if not isinstance(child, Leaf):
            yield from _below(child, field, place)


def with_line(
    placed: AnyWrittenValue, locate: LocateLine, who: FindAuthor | None = None, **also: object
) -> AnyWrittenValue:
    """The same with the line of its field instead of that of its object, if that can be told, and with who wrote it.

    Fields that have other values `also` are replaced in one go.
    """
    origin, field = placed.origin, placed.declared_in
    line = locate(origin, field, placed.value) if origin and field.steps else None
    exact = Origin(origin.source, line) if origin and line else None
    if exact:
        also["origin"] = exact
    if who and field.steps:
        also["blame"] = who(placed, exact)
    if not also:
        return placed
    changed: Any = placed
    return cast("AnyWrittenValue", replace(changed, **also))


class NamedNode(Struct, frozen=True, gc=False):
    """What stands in a spec at a path of keys, and its name."""

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
    for place, (key, child) in enumerate(named.node.items()):
        step = field_name((key,))
        if by_key:
            # An element that is told from others by its policy and place alone has no key.
            step = f"[{place}]" if key.startswith(f"{_policy_of(child)}[") else f"[{key}]"
        dot = "" if not named.name or step.startswith("[") else "."
        below = NamedNode(field=(*named.field, key), name=f"{named.name}{dot}{step}", node=child)
        yield from _leaves_of(below, profile, whole)


def _policy_of(node: Leaf | Traced) -> str:
    """The name of the policy that set the first leaf."""
    return next((leaf.source.object.qualified_name for _, leaf in leaves({"": node})), "")


def named_fates(resolution: Resolution, profile: PolicyKindProfile) -> Iterator[list[tuple[NamedLeaf, Fate]]]:
    """For each contribution, every field that it declares, with its fate."""
    fates = iter(resolution.fates)
    for part in resolution.contributions:
        named = {leaf.field: leaf for leaf in named_leaves(part.spec, profile)}
        own = [(field, next(fates)) for field, _ in leaves(part.spec)]
        yield [(named[field], replace(fate, field=named[field].name)) for field, fate in own if field in named]


def declared_fields(resolution: Resolution, profile: PolicyKindProfile) -> Iterator[Declared]:
    """Every field of every contribution on a path, in the order of declaration."""
    parts = zip(resolution.contributions, named_fates(resolution, profile), strict=True)
    for part, fates in parts:
        places = {keys: place for keys, _, place in field_paths(part, profile)}
        for _, together in groupby(fates, lambda pair: pair[0].whole.field):
            pairs = list(together)
            (named, fate), whole = pairs[0], pairs[0][0].whole.node
            yield Declared(
                field=named.whole.name,
                value=whole.value if isinstance(whole, Leaf) else plain({"": whole})[""],
                source=fate.source,
                fates=tuple(fate for _, fate in pairs),
                defaulted=all(fate.defaulted for _, fate in pairs),
                declared_in=places[named.whole.field],
            )
