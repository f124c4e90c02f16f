"""Builders for tests of resolution: contributions, outcomes, and short forms of specs and fates."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from msgspec.structs import replace

from kubectl_policy import EffectivePolicy, Fate, Leaf, MergeStrategy, Path, PolicyKindProfile, Source, leaves
from kubectl_policy.model import GroupKind, Json, NodeRef
from kubectl_policy.resolution import Contribution, Traced, field_name
from kubectl_policy.resolution.contributions import DeclaredStanza, contribution_of
from kubectl_policy.resolution.effective import resolve as resolution_of
from kubectl_policy.resolution.merging import Layer, PathContext
from kubectl_policy.resolution.object_settings import object_values, with_object_values
from kubectl_policy.resolution.precedence import PolicyRefusal
from kubectl_policy.resolution.traced import Field, trace
from kubectl_policy.topology.gateway.listeners import Listener
from tests.build import node, ref

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


def owners(sources: frozenset[Source]) -> set[str]:
    """The names of the policies of sources."""
    return {found.object.name for found in sources}


def leaf_at(spec: Traced, name: str) -> Leaf:
    """The leaf of a field by its name."""
    return {field_name(field): leaf for field, leaf in leaves(spec)}[name]


UNSAID: Final = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "label")
NOTHING: Final = PathContext()
PATH: Final = (node("Gateway", "g"), node("HTTPRoute", "r"))


def resolved(
    *parts: Contribution, profile: PolicyKindProfile = UNSAID, target: dict[str, Json] | None = None
) -> EffectivePolicy:
    """What the contributions amount to at the route."""
    found = resolve(PATH, profile, parts)
    own = object_values(profile, {"spec": target or {}}, PATH[-1])
    return EffectivePolicy(PATH, with_object_values(found.resolution, own)) if own else found


def resolve(
    path: Path, profile: PolicyKindProfile, contributions: tuple[Contribution, ...], context: PathContext = NOTHING
) -> EffectivePolicy:
    """What the contributions amount to at the end of a path."""
    return EffectivePolicy(path, resolution_of(profile, contributions, context))


def brings(name: str, spec: Mapping[str, Json], at: NodeRef, profile: PolicyKindProfile = UNSAID) -> Contribution:
    """What the policy of that name brings to a path by way of a node, if it does not choose how it merges."""
    who = replace(source(name, overrides=profile.default_strategy.overrides), target=at)
    return contribution_of(who, DeclaredStanza("spec", profile.default_strategy, spec), profile)


def listener_at(at: NodeRef, protocol: str = "HTTP", port: int | None = 80) -> Listener:
    """A listener of a Gateway."""
    return Listener(
        node=at,
        field="spec.listeners[0]",
        gateway=at.object,
        protocol=protocol,
        port=port,
        hostname="",
        terminates=True,
        raw={},
    )


def refusing(holder: Source, *refused: Source) -> PathContext:
    """A policy keeps some others out on its target."""
    return PathContext(refused={source: PolicyRefusal(holder.object, holder.target) for source in refused})


def fates(effective: EffectivePolicy) -> dict[tuple[str, str], Fate]:
    """The fates by policy and field."""
    return {(fate.source.object.name, fate.field): fate for fate in effective.resolution.fates}


def superseders(fate: Fate) -> set[str]:
    """The names of those who set something else instead."""
    return {found.object.name for found in fate.superseded_by}
