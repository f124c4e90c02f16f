"""Where policies take effect: which part of a path a kind reaches, and the paths that policies on some targets have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.model.kinds import GATEWAY_API, NAMESPACE
from kubectl_policy.model.refs import GroupKind, NodeRef
from kubectl_policy.topology.references import HIERARCHY, layer_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.topology import Path, Topology

# An inherited policy that ends here has nothing below it to affect: these carry no traffic themselves.
CARRY_NOTHING: Final = frozenset({NAMESPACE, GroupKind(GATEWAY_API, "GatewayClass")})


def paths_by_way_of(targets: Iterable[NodeRef], profile: PolicyKindProfile, topology: Topology) -> tuple[Path, ...]:
    """The paths at whose ends policies of a kind take effect by way of some targets, each once.

    Also those on which no traffic runs.
    """
    by_target = [tuple(_paths(target, profile, topology)) for target in targets]
    # Whole paths by way of one target are never the same; to look for any that are takes as long as to resolve them.
    if len(by_target) == 1 and not profile.effective_targets:
        return by_target[0]
    return tuple(dict.fromkeys(path for paths in by_target for path in paths))


def _paths(target: NodeRef, profile: PolicyKindProfile, topology: Topology) -> Iterator[Path]:
    """The paths at whose ends the policy takes effect by way of one target."""
    if profile.policy_class == "direct":
        for end in _direct_ends(target, profile, topology):
            yield from topology.paths(end)
        return
    for path in topology.paths_through(target):
        reached = reach(path, profile)
        # Every path through a target has it on it, if only as far as a kind reaches.
        if reached is path or target in reached:
            yield reached
    # What is in a target Namespace, and outside of the hierarchy, is affected though no traffic leads there.
    kinds = [level.group_kind for level in profile.effective_targets if level.group_kind not in HIERARCHY]
    for kind in kinds if target.object.group_kind == NAMESPACE else ():
        for resource in topology.index.of_kind_in(kind, target.object.name):
            yield from topology.paths(NodeRef(resource.ref))


def _direct_ends(target: NodeRef, profile: PolicyKindProfile, topology: Topology) -> list[NodeRef]:
    """Where a direct policy takes effect: at its target, or at each section, which may have a policy of its own."""
    levels = [level for level in profile.effective_targets if level.group_kind == target.object.group_kind]
    if target.section or (levels and not any(level.section for level in levels)):
        return [target]
    sections = topology.sections(target.object)
    return [replace(target, section=section) for section in sections] or [target]


def takes_effect_below(node: NodeRef, profile: PolicyKindProfile) -> bool:
    """Whether an inherited kind may take effect further down than a node: it does if that is not known."""
    kind = node.object.group_kind
    return not profile.effective_targets or any(
        layer_of(level.group_kind) > layer_of(kind) or (level.group_kind == kind and level.section and not node.section)
        for level in profile.effective_targets
    )


def reach(path: Path, profile: PolicyKindProfile) -> Path:
    """The part of a path down to the deepest node at which the kind takes effect; empty if there is none on it."""
    if not profile.effective_targets:
        return path if path[-1].object.group_kind not in CARRY_NOTHING else ()
    for end in range(len(path), 0, -1):
        if any(level.includes(path[end - 1]) for level in profile.effective_targets):
            return path[:end]
    return ()
