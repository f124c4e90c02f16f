"""Effective policies on demand, for a path and a kind; each merge is done once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubectl_policy.resolution.contributions import contribution_of
from kubectl_policy.resolution.effective import EffectivePolicy, resolve
from kubectl_policy.resolution.precedence import (
    age_unknown,
    by_age,
    filters_above,
    filters_first,
    on_one_node,
    refused,
    same_level_of,
)
from kubectl_policy.resolution.spec_proper import stanzas_of
from kubectl_policy.resolution.traced import Source
from kubectl_policy.topology import too_wide
from kubectl_policy.topology.controllers import controlled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Resource
    from kubectl_policy.profiles import PolicyKindProfile, Registry
    from kubectl_policy.resolution.strategies import Contribution
    from kubectl_policy.topology import Path, Topology


class _OnNode(NamedTuple):
    """What the policies of one kind on one node bring, in the order of the fold, and which of it is refused there."""

    contributions: tuple[Contribution, ...]
    refused: frozenset[Source]
    age_unknown: bool


class Resolver:
    """Resolves what is asked, never the whole cluster in advance."""

    def __init__(self, topology: Topology, registry: Registry, attachments: Iterable[Attachment]) -> None:
        """Index the attachments that hold by the node that they attach to."""
        self._topology = topology
        self._registry = registry
        self._attached: dict[NodeRef, dict[GroupKind, set[Resource]]] = {}
        self._filters: dict[NodeRef, dict[ObjectRef, int]] = {}
        for attachment in attachments:
            policy = topology.index.get(attachment.policy)
            if policy and attachment.target and attachment.state == "attached":
                kinds = self._attached.setdefault(attachment.target, {})
                kinds.setdefault(policy.ref.group_kind, set()).add(policy)
                if attachment.declared.place:
                    self._filters.setdefault(attachment.target, {}).setdefault(policy.ref, attachment.declared.place)
        self._on_node: dict[tuple[NodeRef, int], _OnNode] = {}
        self._merged: dict[tuple[object, ...], EffectivePolicy] = {}

    def kinds_at(self, nodes: Iterable[NodeRef]) -> tuple[GroupKind, ...]:
        """The policy kinds attached to at least one of the nodes, sorted."""
        return tuple(sorted({kind for node in nodes for kind in self._attached.get(node, ())}))

    def policies_at(self, node: NodeRef) -> tuple[Resource, ...]:
        """The policies attached to a node itself, by kind, then in their order of precedence."""
        kinds = self._attached.get(node, {})
        return tuple(policy for kind in sorted(kinds) for policy in self.claimants(node, kind))

    def claimants(self, node: NodeRef, kind: GroupKind) -> tuple[Resource, ...]:
        """The policies of a kind attached to a node itself, in their order of precedence."""
        profile = self._registry.profile_of(kind)
        return tuple(self._in_order(node, profile)) if profile else ()

    def _in_order(self, node: NodeRef, profile: PolicyKindProfile) -> list[Resource]:
        policies = self._attached.get(node, {}).get(profile.group_kind, ())
        return filters_first(by_age(policies, profile.order_field), self._filters.get(node, {}))

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
        found = [self._on(node, profile) for node in self._contributing(path, profile)]
        contributions = tuple(filters_above([part for on_node in found for part in on_node.contributions]))
        if not contributions:
            return None
        refused = frozenset(source for on_node in found for source in on_node.refused)
        effective = self._resolved(path, profile, contributions, refused)
        undated = any(on_node.age_unknown for on_node in found)
        return effective.doubting("age unknown") if undated else effective

    def _counts(self, path: Path, profile: PolicyKindProfile) -> bool:
        """Whether the controllers of a kind act on a path and heed it."""
        if profile.hostnames == "inside" and too_wide(self._topology, path):
            return False
        return controlled(self._topology, path, profile.controllers)

    def _contributing(self, path: Path, profile: PolicyKindProfile) -> Iterator[NodeRef]:
        """The nodes whose policies count at the end of a path, each once, at its first place.

        A direct policy counts at its target alone, and at a section of it: beside the section's own policies if these
        refine it, in their absence if they replace it. Those of an inherited kind refine it unless the profile says
        otherwise.
        """
        if profile.policy_class == "inherited":
            nodes = list(dict.fromkeys(path))
            replaced = {
                node._replace(section="")
                for node in nodes
                if profile.sections == "replace" and node.section and self._has(node, profile)
            }
            yield from (node for node in nodes if node not in replaced)
            return
        node = path[-1]
        whole = node._replace(section="")
        if profile.sections == "refine" and node.section:
            yield whole
            yield node
        else:
            yield node if self._has(node, profile) else whole

    def _has(self, node: NodeRef, profile: PolicyKindProfile) -> bool:
        return profile.group_kind in self._attached.get(node, ())

    def _on(self, node: NodeRef, profile: PolicyKindProfile) -> _OnNode:
        key = (node, id(profile))
        if key not in self._on_node:
            policies = self._in_order(node, profile)
            filters = self._filters.get(node, {})
            found = [part for policy in policies for part in self._contributions(policy, node, profile)]
            same_level = same_level_of(profile, found)
            self._on_node[key] = _OnNode(
                tuple(on_one_node(found, same_level)),
                refused(found, same_level),
                age_unknown((policy for policy in policies if policy.ref not in filters), profile.order_field),
            )
        return self._on_node[key]

    def _contributions(self, policy: Resource, node: NodeRef, profile: PolicyKindProfile) -> Iterator[Contribution]:
        for stanza in stanzas_of(self._topology.index.raw(policy.ref), profile):
            place = self._filters.get(node, {}).get(policy.ref, 0)
            source = Source(policy.ref, node, stanza.strategy.overrides, place)
            yield contribution_of(source, stanza, profile)

    def _resolved(
        self,
        path: Path,
        profile: PolicyKindProfile,
        contributions: tuple[Contribution, ...],
        refused_there: frozenset[Source],
    ) -> EffectivePolicy:
        target: Mapping[str, Json] = self._topology.index.raw(path[-1].object) if profile.object_fields else {}
        key = (
            id(profile),
            tuple(part.source for part in contributions),
            path[-1] if profile.object_fields else None,
        )
        if key not in self._merged:
            self._merged[key] = resolve(path, profile, contributions, target, refused_there)
        known = self._merged[key]
        return known if known.path == path else known.on(path)
