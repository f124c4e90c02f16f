"""Whether one policy has an effect on one node, and on which of the paths through it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubectl_policy.questions.shared.effects import paths_through
from kubectl_policy.questions.shared.in_force import effective_entries
from kubectl_policy.resolution import leaves

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import NodeRef, ObjectRef
    from kubectl_policy.questions.shared.in_force import Entry
    from kubectl_policy.resolution import EffectivePolicy
    from kubectl_policy.topology import Path


class EffectOn(NamedTuple):
    """The paths through a node, and what comes of a policy's kind on them.

    `carrying` are the positions of the paths on which traffic runs, as far as is known, `in_force` those of them on
    which the policy has an effective field, or takes part without declaring any. `entries` are what the kind amounts to
    on the paths, where it takes effect on them. If that is further down than the node, `above` are the nodes at which a
    policy has an effect on it: the node itself and what is above it; else it is every node on the paths.
    """

    paths: tuple[Path, ...]
    carrying: frozenset[int]
    in_force: tuple[int, ...]
    entries: tuple[Entry, ...]
    above: frozenset[NodeRef]


def effect_on(analysis: Analysis, policy: ObjectRef, target: NodeRef) -> EffectOn:
    """What comes of a policy on the paths through a node.

    They lead down to where `describe` looks for effects on the node or, if the kind takes effect further down, to all
    that is below the node: then the policy has an effect on it if it has one on something there, by way of the node or
    of what is above it.
    """
    kind = policy.group_kind
    paths = paths_through(analysis, target)
    entries = effective_entries(analysis, target, paths, kind)
    below = any(entry.passes_down for entry in entries)
    if below:
        paths = analysis.topology.paths_through(target)
        entries = effective_entries(analysis, target, paths, kind)
    entries = tuple(entry for entry in entries if not entry.passes_down)
    carrying = frozenset(place for place, path in enumerate(paths) if analysis.topology.carries_traffic(path))
    above = frozenset(node for path in paths for node in (_down_to(path, target) if below else path))
    in_force = dict.fromkeys(
        entry.path for entry in entries if entry.path in carrying and _holds(entry.effective, policy, above)
    )
    return EffectOn(paths, carrying, tuple(in_force), entries, above)


def _down_to(path: Path, target: NodeRef) -> Path:
    deepest = max((place for place, node in enumerate(path) if node.object == target.object), default=len(path))
    return path[: deepest + 1]


def _holds(effective: EffectivePolicy, policy: ObjectRef, nodes: frozenset[NodeRef]) -> bool:
    """Whether a policy has something in force by way of one of some nodes."""
    if policy not in effective.policies_in_force():
        return False
    empty = {part.source for part in effective.contributions if not part.spec} & effective.members
    held = {leaf.source for _, leaf in leaves(effective.spec)} | empty
    return any(source.object == policy and source.target in nodes for source in held)
