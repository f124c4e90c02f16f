"""Shorthand for traced specs: sources by name, and contributions of one strategy each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy import MergeStrategy, Source, leaves
from kubectl_policy.resolution import Contribution, field_name
from kubectl_policy.resolution.merging import Layer
from kubectl_policy.resolution.traced import trace
from tests.build import node, ref

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from kubectl_policy import Leaf
    from kubectl_policy.model import Json
    from kubectl_policy.resolution import Traced
    from kubectl_policy.resolution.traced import Field

# What stands where a list is expected whose elements have a `name` each, and is none.
HOSTILE_LISTS: Final[list[Json]] = [
    7,
    {},
    [],
    ["x"],
    [None],
    [{"name": "a"}, {}],
    [{"name": "a"}, {"name": 7.5}],
    [{"name": ""}],
    [{"name": "a"}, {"name": "a"}],
]


def source(name: str, *, overrides: bool = False, at: str = "g") -> Source:
    """The policy of that name, attached to a Gateway."""
    return Source(ref("ColorPolicy", name, group="example.com"), node("Gateway", at), overrides)


def declares(  # noqa: PLR0913 - a builder is read by its keywords
    name: str,
    spec: Mapping[str, Json],
    strategy: str = "Atomic defaults",
    *,
    at: str = "g",
    whole: Collection[Field] = (),
    empty: bool = False,
) -> Contribution:
    """What the policy of that name contributes."""
    chosen = MergeStrategy(strategy)
    found = source(name, overrides=chosen.overrides, at=at)
    return Contribution(source=found, spec=trace(spec, found, whole), strategy=chosen, empty=empty)


def layer(part: Contribution) -> Layer:
    """One contribution as something to merge."""
    return Layer.of(part)


def set_by(spec: Traced) -> dict[str, tuple[Json, str]]:
    """The value of each field and the name of who set it, tombstones as None."""
    return {field_name(field): (leaf.value, leaf.source.object.name) for field, leaf in leaves(spec)}


def names(sources: frozenset[Source]) -> set[str]:
    """The names of the policies."""
    return {found.object.name for found in sources}


def leaf_at(spec: Traced, name: str) -> Leaf:
    """The leaf of a field by its name."""
    return {field_name(field): leaf for field, leaf in leaves(spec)}[name]
