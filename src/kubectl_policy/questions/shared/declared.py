"""Fields as the people who wrote them know them: by where they stand in a policy or in what policies amount to."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kubectl_policy.resolution import Leaf, field_name, leaves, plain
from kubectl_policy.resolution.traced import KeyedList

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Json
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.resolution import EffectivePolicy, Fate, Source, Traced
    from kubectl_policy.resolution.traced import Field

# A list with its name.
_Whole: TypeAlias = "tuple[str, Leaf | Traced]"


class NamedLeaf(NamedTuple):
    """A leaf of a spec with its path of keys and its name.

    `whole` is the list in which it stands, with its name, if the kind may merge that list by its elements; else the
    leaf itself.
    """

    field: Field
    name: str
    leaf: Leaf
    whole: _Whole


class Declared(NamedTuple):
    """A field with its value, as its policy declares it, and its fates on one path.

    A list that may be merged by its elements is one field with the fates of all of them.
    """

    field: str
    value: Json
    source: Source
    fates: tuple[Fate, ...]


def named_leaves(spec: Traced, profile: PolicyKindProfile) -> Iterator[NamedLeaf]:
    """Every leaf of a spec, in the order of the spec.

    An element of a list is `compressor[Gzip]`, by its key, or `rules[0]`, by its place in this spec. Where all policies
    of a kind apply, the settings of each stand below its name; that is left out, and so is a policy without settings.
    """
    for key, child in spec.items():
        if not profile.all_apply or key != _policy_of(child):
            yield from _below(child, (key,), field_name((key,)), profile)
        elif not isinstance(child, Leaf):
            for found in _entries(child, (), "", profile):
                yield found._replace(field=(key, *found.field))


def _below(
    node: Leaf | Traced, field: Field, name: str, profile: PolicyKindProfile, whole: _Whole | None = None
) -> Iterator[NamedLeaf]:
    if isinstance(node, Leaf):
        yield NamedLeaf(field, name, node, whole or (name, node))
    else:
        merges = whole is None and ".".join(field) in profile.list_keys
        yield from _entries(node, field, name, profile, (name, node) if merges else whole)


def _entries(
    node: Traced, field: Field, name: str, profile: PolicyKindProfile, whole: _Whole | None = None
) -> Iterator[NamedLeaf]:
    for place, (key, child) in enumerate(node.items()):
        step = _element(key, child, place) if isinstance(node, KeyedList) else field_name((key,))
        joint = "" if not name or step.startswith("[") else "."
        yield from _below(child, (*field, key), f"{name}{joint}{step}", profile, whole)


def _element(key: str, element: Leaf | Traced, place: int) -> str:
    """An element of a list by its key or, if it is told from others by its policy and place alone, by its place."""
    has_none = key.startswith(f"{_policy_of(element)}[")
    return f"[{place}]" if has_none else f"[{key}]"


def _policy_of(node: Leaf | Traced) -> str:
    """The name of the policy that set the first leaf."""
    return next((leaf.source.object.qualified_name for _, leaf in leaves({"": node})), "")


def named_fates(effective: EffectivePolicy, profile: PolicyKindProfile) -> Iterator[tuple[NamedLeaf, Fate]]:
    """Every field that a contribution declares, with its fate, in the order of contributions."""
    found = iter(effective.fates())
    for part in effective.contributions:
        named = {each.field: each for each in named_leaves(part.spec, profile)}
        for field, _ in leaves(part.spec):
            fate = next(found)
            if field in named:
                yield named[field], replace(fate, field=named[field].name)


def declared_fields(effective: EffectivePolicy, profile: PolicyKindProfile) -> Iterator[Declared]:
    """Every field of every contribution on a path, in the order of declaration."""
    for (source, _), found in groupby(named_fates(effective, profile), _declaration):
        pairs = list(found)
        name, node = pairs[0][0].whole
        value = node.value if isinstance(node, Leaf) else plain({"": node})[""]
        yield Declared(name, value, source, tuple(fate for _, fate in pairs))


def _declaration(found: tuple[NamedLeaf, Fate]) -> tuple[Source, int]:
    named, fate = found
    return fate.source, id(named.whole[1])
