"""Where settings are written: the object, the field of it, and the line, once somebody looks that up in the text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, cast

from msgspec.structs import replace

from kubectl_policy.cached import cached_method
from kubectl_policy.model import FieldPath, Origin
from kubectl_policy.model.fields import WHOLE, Json
from kubectl_policy.profiles.own import OF_RULE
from kubectl_policy.resolution import Leaf
from kubectl_policy.resolution.contributions import stands_below_name
from kubectl_policy.resolution.traced import CollectedValues, KeyedList

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model.authorship import Authorship
    from kubectl_policy.model.fields import Step
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.resolution import Contribution, EffectivePolicy, Source, Traced
    from kubectl_policy.resolution.traced import Field

# Who wrote what an object says, given also where that is written, if the line could be told.
Who: TypeAlias = "Callable[[Placed, Origin | None], Authorship | None]"
# The line of a field with a value, in the object that starts at an origin; None where that cannot be told.
Locate: TypeAlias = Callable[[Origin, FieldPath, Json], "int | None"]


class Placed(Protocol):
    """A value, the field of the object that says it, and where that was read; with no field, the whole object."""

    @property
    def value(self) -> Json: ...  # noqa: D102

    @property
    def origin(self) -> Origin | None: ...  # noqa: D102

    @property
    def source(self) -> Source: ...  # noqa: D102

    @property
    def declared_in(self) -> FieldPath: ...  # noqa: D102


AnyPlaced = TypeVar("AnyPlaced", bound=Placed)


def origin_of(analysis: Analysis, source: Source) -> Origin | None:
    """Where the object was read that says something; None if it was not read."""
    resource = analysis.index.get(source.object)
    return resource.origin if resource else None


class Places:
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
        if self._profile.own:
            return self._analysis.resolver.rules.place(leaf.source.target, keys)
        # One source can declare a field twice, bare and in a stanza: then the value tells.
        written = (place for other, place in self._written_by(leaf.source).get(keys, ()) if other == leaf)
        return next(written, None) or self._own_field(keys, leaf)

    @cached_method
    def _written_by(self, source: Source) -> dict[Field, list[tuple[Leaf, FieldPath]]]:
        """Everything that one source brings to the outcome, with its place; there may be thousands of others."""
        found: dict[Field, list[tuple[Leaf, FieldPath]]] = {}
        for part in self._effective.resolution.contributions_of.get(source.object, ()):
            for keys, node, place in places_in(part, self._profile) if part.source == source else ():
                if isinstance(node, Leaf):
                    found.setdefault(keys, []).append((node, place))
        return found

    def _own_field(self, keys: Field, leaf: Leaf) -> FieldPath:
        """Where the target object itself says a field that counts as a policy's."""
        source = leaf.source
        for own in self._effective.resolution.own if source.object == source.target.object else ():
            # Of two fields for one setting, the value tells.
            if (keys, leaf) in own.leaves:
                said, below = own.object_field.split("."), keys[len(own.field) :]
                if own.object_field.startswith(OF_RULE):
                    return self._analysis.resolver.rules.place(source.target, (*said[1:], *below))
                return FieldPath((*said, *below))
        return WHOLE


def places_in(part: Contribution, profile: PolicyKindProfile) -> Iterator[tuple[Field, Leaf | Traced, FieldPath]]:
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


def at_line(placed: AnyPlaced, locate: Locate, who: Who | None = None, **also: object) -> AnyPlaced:
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
    return cast("AnyPlaced", replace(changed, **also))
