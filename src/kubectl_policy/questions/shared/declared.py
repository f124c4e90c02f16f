"""Fields as the people who wrote them know them: by where they stand in a policy or in an effective policy."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.questions.shared.places import places_in
from kubectl_policy.resolution import Leaf, field_name, leaves, plain
from kubectl_policy.resolution.outcome import DeclaredField, Fate
from kubectl_policy.resolution.traced import KeyedList

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.resolution import Resolution, Traced
    from kubectl_policy.resolution.traced import Field


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
            yield from _below(NamedNode(field=(key,), name=field_name((key,)), node=child), profile)
        elif not isinstance(child, Leaf):
            for leaf in _below(NamedNode(field=(), name="", node=child), profile):
                whole = replace(leaf.whole, field=(key, *leaf.whole.field))
                yield replace(leaf, field=(key, *leaf.field), whole=whole)


def _below(named: NamedNode, profile: PolicyKindProfile, whole: NamedNode | None = None) -> Iterator[NamedLeaf]:
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
        yield from _below(below, profile, whole)


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
        places = {keys: place for keys, _, place in places_in(part, profile)}
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
