"""Effective policies on demand, for a path and a kind; each merge is done once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.resolution.effective import EffectivePolicy, resolve
from kubectl_policy.resolution.precedence import age_unknown, by_age, on_one_node, same_level_of
from kubectl_policy.resolution.spec_proper import EXPERIMENTAL, stanzas_of
from kubectl_policy.resolution.strategies import Contribution
from kubectl_policy.resolution.traced import Source, trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import GroupKind, Json, NodeRef, Resource
    from kubectl_policy.profiles import PolicyKindProfile, Registry
    from kubectl_policy.topology import Path, Topology


class Resolver:
    """Resolves what is asked, never the whole cluster in advance."""

    def __init__(self, topology: Topology, registry: Registry, attachments: Iterable[Attachment]) -> None:
        """Index the attachments that hold by the node that they attach to."""
        self._topology = topology
        self._registry = registry
        self._attached: dict[NodeRef, dict[GroupKind, set[Resource]]] = {}
        for attachment in attachments:
            policy = topology.index.get(attachment.policy)
            if policy and attachment.target and attachment.state == "attached":
                kinds = self._attached.setdefault(attachment.target, {})
                kinds.setdefault(policy.ref.group_kind, set()).add(policy)
        self._on_node: dict[tuple[NodeRef, GroupKind], tuple[tuple[Contribution, ...], bool]] = {}
        self._merged: dict[tuple[object, ...], EffectivePolicy] = {}

    def kinds_at(self, nodes: Iterable[NodeRef]) -> tuple[GroupKind, ...]:
        """The policy kinds attached to at least one of the nodes, sorted."""
        return tuple(sorted({kind for node in nodes for kind in self._attached.get(node, ())}))

    def policies_at(self, node: NodeRef) -> tuple[Resource, ...]:
        """The policies attached to a node itself, by kind, then in their order of precedence."""
        kinds = self._attached.get(node, {})
        return tuple(policy for kind in sorted(kinds) for policy in by_age(kinds[kind]))

    def effective(self, path: Path) -> tuple[EffectivePolicy, ...]:
        """The effective policy of each kind at the end of a path, sorted by kind."""
        found = (self.effective_of(kind, path) for kind in self.kinds_at(path))
        return tuple(effective for effective in found if effective)

    def effective_of(self, kind: GroupKind, path: Path) -> EffectivePolicy | None:
        """The effective policy of one kind at the end of a path; None if no policy of the kind contributes there."""
        profile = self._registry.profile_of(kind)
        if profile is None:
            return None
        contributions: list[Contribution] = []
        undated = False
        for node in self._contributing(path, profile):
            on_node, age_is_unknown = self._contributions_on(node, profile)
            contributions += on_node
            undated |= age_is_unknown
        if not contributions:
            return None
        effective = self._resolved(path, profile, tuple(contributions))
        return effective.doubting("age unknown") if undated else effective

    def _contributing(self, path: Path, profile: PolicyKindProfile) -> Iterator[NodeRef]:
        """The nodes whose policies count at the end of a path, each once, at its first place.

        A direct policy counts at its target alone, and at a section of it that has no policy of the kind of its own.
        """
        if profile.policy_class == "inherited":
            yield from dict.fromkeys(path)
            return
        node = path[-1]
        own = profile.group_kind in self._attached.get(node, ())
        yield node if own else node._replace(section="")

    def _contributions_on(self, node: NodeRef, profile: PolicyKindProfile) -> tuple[tuple[Contribution, ...], bool]:
        key = (node, profile.group_kind)
        if key not in self._on_node:
            policies = by_age(self._attached.get(node, {}).get(profile.group_kind, ()))
            found: list[Contribution] = []
            for policy in policies:
                for stanza in stanzas_of(self._topology.index.raw(policy.ref), profile):
                    source = Source(policy.ref, node, stanza.strategy.overrides)
                    spec = trace(stanza.spec, source, _whole(profile, stanza.field))
                    found.append(Contribution(source, spec, stanza.strategy, stanza.field))
            ordered = on_one_node(found, same_level_of(profile, found))
            self._on_node[key] = (tuple(ordered), age_unknown(policies))
        return self._on_node[key]

    def _resolved(
        self, path: Path, profile: PolicyKindProfile, contributions: tuple[Contribution, ...]
    ) -> EffectivePolicy:
        target: Mapping[str, Json] = self._topology.index.raw(path[-1].object) if profile.object_fields else {}
        key = (
            profile.group_kind,
            tuple(part.source for part in contributions),
            path[-1] if profile.object_fields else None,
        )
        if key not in self._merged:
            self._merged[key] = resolve(path, profile, contributions, target)
        known = self._merged[key]
        return known if known.path == path else known.on(path)


def _whole(profile: PolicyKindProfile, stanza: str) -> frozenset[str]:
    """The fields below a stanza that a merge replaces whole.

    The experimental GEP-713 text replaces maps of scalars whole; RFC 7386, which the current one names, does not.
    """
    if stanza not in EXPERIMENTAL:
        return profile.whole_fields
    below = stanza.removeprefix("spec.") + "."
    inside = {field.removeprefix(below) for field in profile.map_fields if field.startswith(below)}
    return profile.whole_fields | inside
