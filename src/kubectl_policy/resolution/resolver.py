"""Effective policies on demand, for a path and a kind; each merge is done once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.resolution.nodes import Nodes
from kubectl_policy.resolution.path_context import PathContext, route_choices, target_object
from kubectl_policy.resolution.precedence import filters_above
from kubectl_policy.resolution.resolve import resolve
from kubectl_policy.topology import on_path, too_wide
from kubectl_policy.topology.controllers import controlled
from kubectl_policy.topology.parameters import enabled_on
from kubectl_policy.topology.references import GATEWAY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import GroupKind, NodeRef, ObjectRef, Resource
    from kubectl_policy.profiles import PolicyKindProfile, Registry
    from kubectl_policy.resolution.effective import EffectivePolicy
    from kubectl_policy.resolution.nodes import Refusal
    from kubectl_policy.resolution.strategies import Contribution
    from kubectl_policy.resolution.traced import Source
    from kubectl_policy.topology import Path, Topology


class Resolver:
    """Resolves what is asked, never the whole cluster in advance."""

    def __init__(self, topology: Topology, registry: Registry, attachments: Iterable[Attachment]) -> None:
        """Index the attachments that hold by the node that they attach to."""
        self._topology = topology
        self._registry = registry
        self._nodes = Nodes(topology.index, attachments)
        self._merged: dict[tuple[object, ...], EffectivePolicy] = {}

    def kinds_at(self, nodes: Iterable[NodeRef]) -> tuple[GroupKind, ...]:
        """The policy kinds attached to at least one of the nodes, sorted."""
        return tuple(sorted({kind for node in nodes for kind in self._nodes.kinds_at(node)}))

    def policies_at(self, node: NodeRef) -> tuple[Resource, ...]:
        """The policies attached to a node itself, by kind, then in their order of precedence."""
        kinds = sorted(self._nodes.kinds_at(node))
        return tuple(policy for kind in kinds for policy in self.claimants(node, kind))

    def claimants(self, node: NodeRef, kind: GroupKind) -> tuple[Resource, ...]:
        """The policies of a kind attached to a node itself, in their order of precedence."""
        profile = self._registry.profile_of(kind)
        return tuple(self._nodes.claimants(node, profile)) if profile else ()

    def nodes_with(self, kind: GroupKind) -> list[NodeRef]:
        """The nodes that a kind's policies are attached to, or keep others out of; sorted."""
        return self._nodes.of_kind(kind)

    def ranked(self, node: NodeRef, kind: GroupKind) -> list[tuple[Resource, int, Refusal | None]]:
        """All that decides what a kind's policies bring to a node; where it is the same, so is what they bring."""
        profile = self._registry.profile_of(kind)
        return self._nodes.ranked(node, profile) if profile else []

    def refusal(self, policy: ObjectRef, target: NodeRef) -> Refusal | None:
        """Why a policy is refused on a target that it is attached to, where a target takes one policy, or one setting.

        None if it is not.
        """
        profile = self._registry.profile_of(policy.group_kind)
        return self._nodes.refusal(policy, target, profile) if profile else None

    def effective(self, path: Path) -> tuple[EffectivePolicy, ...]:
        """The effective policy of each kind at the end of a path, sorted by kind."""
        found = (self.effective_of(kind, path) for kind in self.kinds_at(path))
        return tuple(effective for effective in found if effective)

    def effective_of(self, kind: GroupKind, path: Path) -> EffectivePolicy | None:
        """The effective policy of one kind at the end of a path; None if no policy of the kind contributes there."""
        profile = self._registry.profile_of(kind)
        if profile is None or not self._counts(path, profile):
            return None
        profile = profile.at(path[-1].object.group_kind)
        found = [self._nodes.on(node, profile) for node in self._contributing(path, profile)]
        contributions = tuple(filters_above([part for on_node in found for part in on_node.contributions]))
        if not contributions:
            return None
        refused = {source: refusal for on_node in found for source, refusal in on_node.refused.items()}
        effective = self._resolved(path, profile, contributions, refused)
        undated = any(on_node.age_unknown for on_node in found)
        return effective.doubting("age unknown") if undated else effective

    def _counts(self, path: Path, profile: PolicyKindProfile) -> bool:
        """Whether the controllers of a kind act on a path and heed it."""
        if profile.hostnames == "inside" and too_wide(self._topology, path):
            return False
        enabling = profile.enabled_by
        gateway = next((node.object for node in path if node.object.group_kind == GATEWAY), None) if enabling else None
        if gateway and enabling and enabled_on(self._topology, gateway, enabling) is False:
            return False
        return controlled(self._topology, path, profile.controllers)

    def _contributing(self, path: Path, profile: PolicyKindProfile) -> Iterator[NodeRef]:
        """The nodes whose policies count at the end of a path, each once, at its first place.

        A direct policy counts at its target alone, and at a section of it: beside the section's own policies if these
        refine it, in their absence if they replace it. Those of an inherited kind refine it unless the profile says
        otherwise.
        """
        if profile.policy_class == "inherited":
            nodes = on_path(self._nodes.with_kind(profile.group_kind), path)
            replaced = {node._replace(section="") for node in nodes if profile.sections == "replace" and node.section}
            yield from (node for node in nodes if node not in replaced)
            return
        node = path[-1]
        whole = node._replace(section="")
        if profile.sections == "refine" and node.section:
            yield from (found for found in (whole, node) if self._has(found, profile))
        elif self._has(node, profile) or self._has(whole, profile):
            yield node if self._has(node, profile) else whole

    def _has(self, node: NodeRef, profile: PolicyKindProfile) -> bool:
        return node in self._nodes.with_kind(profile.group_kind)

    def _resolved(
        self,
        path: Path,
        profile: PolicyKindProfile,
        contributions: tuple[Contribution, ...],
        refused: Mapping[Source, Refusal],
    ) -> EffectivePolicy:
        listener = self._topology.listener_on(path) if profile.by_listener else None
        key = (
            id(profile),
            tuple(part.source for part in contributions),
            path[-1] if profile.object_fields else None,
            (listener.protocol, listener.port) if listener else None,
        )
        if key not in self._merged:
            context = PathContext(
                refused,
                target_object(self._topology, path[-1], profile),
                listener,
                route_choices(self._topology, profile.route_choice, (part.source.target for part in contributions)),
            )
            self._merged[key] = resolve(path, profile, contributions, context)
        known = self._merged[key]
        return known if known.path == path else known.on(path)
