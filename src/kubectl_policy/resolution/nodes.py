"""The policies on single nodes: which they are, what they bring, and which of them are refused there."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubectl_policy.resolution.combined import unshared_fields
from kubectl_policy.resolution.precedence import filters_first, in_order, on_one_node, order_unknown, same_level_of
from kubectl_policy.resolution.spec_proper import contribution_of, stanzas_of
from kubectl_policy.resolution.traced import Source, field_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import GroupKind, NodeRef, ObjectRef, Resource
    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.profile import Refusal as Extent
    from kubectl_policy.resolution.strategies import Contribution


class Refusal(NamedTuple):
    """Why a policy is refused: the policy that came first, the target on which they meet, and a field that both set.

    The field is empty where a target takes one policy alone.
    """

    holder: ObjectRef
    target: NodeRef
    field: str = ""


def refusals(
    policies: Sequence[Resource],
    targets: Mapping[ObjectRef, Collection[NodeRef]],
    claims: Mapping[ObjectRef, Sequence[str]],
    extent: Extent,
) -> dict[tuple[ObjectRef, NodeRef], Refusal]:
    """The refusals among policies in their order of precedence, by policy and target, given what each one claims.

    A policy is refused on a target where an earlier one claims the same field. If its `extent` is everywhere, that goes
    for all of its targets, and a refused policy is in nobody's way.
    """
    held: dict[tuple[NodeRef, str], ObjectRef] = {}
    found: dict[tuple[ObjectRef, NodeRef], Refusal] = {}
    for policy in policies:
        claimed, theirs = claims[policy.ref], sorted(targets[policy.ref])
        met = {
            target: Refusal(held[target, field], target, field)
            for target in theirs
            for field in reversed(claimed)
            if (target, field) in held
        }
        if met and extent == "everywhere":
            first = next(iter(met.values()))
            met = {target: met.get(target, first) for target in theirs}
        found |= {(policy.ref, target): refusal for target, refusal in met.items()}
        held |= {(target, field): policy.ref for target in theirs if target not in met for field in claimed}
    return found


class OnNode(NamedTuple):
    """What the policies of one kind on one node bring, in the order of the fold, and which of it is refused."""

    contributions: tuple[Contribution, ...]
    refused: Mapping[Source, Refusal]
    age_unknown: bool


class Nodes:
    """Looks up what is on a node; each node is looked at once for each profile."""

    def __init__(self, index: Index, attachments: Iterable[Attachment]) -> None:
        """Index the attachments that hold by the node that they attach to."""
        self._index = index
        self._attached: dict[NodeRef, dict[GroupKind, set[Resource]]] = {}
        self._with_kind: dict[GroupKind, set[NodeRef]] = {}
        self._claims: dict[NodeRef, dict[GroupKind, set[Resource]]] = {}
        self._filters: dict[NodeRef, dict[ObjectRef, int]] = {}
        for attachment in attachments:
            policy = index.get(attachment.policy)
            if policy and attachment.target and attachment.competes:
                self._claims.setdefault(attachment.target, {}).setdefault(policy.ref.group_kind, set()).add(policy)
            if policy and attachment.target and attachment.state == "attached":
                kinds = self._attached.setdefault(attachment.target, {})
                kinds.setdefault(policy.ref.group_kind, set()).add(policy)
                self._with_kind.setdefault(policy.ref.group_kind, set()).add(attachment.target)
                if attachment.declared.place:
                    self._filters.setdefault(attachment.target, {}).setdefault(policy.ref, attachment.declared.place)
        self._on_node: dict[tuple[NodeRef, int], OnNode] = {}
        self._refused: dict[tuple[NodeRef | None, int], Mapping[tuple[ObjectRef, NodeRef], Refusal]] = {}

    def with_kind(self, kind: GroupKind) -> Collection[NodeRef]:
        """The nodes to which policies of a kind are attached."""
        return self._with_kind.get(kind, ())

    def of_kind(self, kind: GroupKind) -> list[NodeRef]:
        """The nodes to which policies of a kind are attached, or which they keep others out of; sorted."""
        on = (self._attached, self._claims)
        return sorted({node for held in on for node, kinds in held.items() if kind in kinds})

    def ranked(self, node: NodeRef, profile: PolicyKindProfile) -> list[tuple[Resource, int, Refusal | None]]:
        """All that decides what the policies of a kind bring to a node.

        These are the policies in their order of precedence, each with the place of the filter that names it (0: none)
        and with why it is refused.
        """
        refusals, filters = self._refusals(node, profile), self._filters.get(node, {})
        found = self.claimants(node, profile)
        return [(policy, filters.get(policy.ref, 0), refusals.get((policy.ref, node))) for policy in found]

    def kinds_at(self, node: NodeRef) -> Iterable[GroupKind]:
        """The policy kinds attached to a node."""
        return self._attached.get(node, {}).keys()

    def claimants(self, node: NodeRef, profile: PolicyKindProfile) -> list[Resource]:
        """The policies of a kind attached to a node itself, in their order of precedence."""
        policies = in_order(self._attached.get(node, {}).get(profile.group_kind, ()), profile)
        return filters_first(policies, self._filters.get(node, {}))

    def on(self, node: NodeRef, profile: PolicyKindProfile) -> OnNode:
        """What the policies of a kind on a node bring."""
        key = (node, id(profile))
        if key not in self._on_node:
            policies = self.claimants(node, profile)
            filters = self._filters.get(node, {})
            placed = [(policy, filters.get(policy.ref, 0)) for policy in policies]
            found = [part for policy, place in placed for part in _contributions(policy, node, profile, place)]
            known = self._refusals(node, profile)
            refused = {part.source: known[part.source[:2]] for part in found if part.source[:2] in known}
            folded = tuple(on_one_node(found, same_level_of(profile, found)))
            undated = order_unknown((policy for policy in policies if policy.ref not in filters), profile)
            self._on_node[key] = OnNode(folded, refused, undated)
        return self._on_node[key]

    def refusal(self, policy: ObjectRef, target: NodeRef, profile: PolicyKindProfile) -> Refusal | None:
        """Why a policy is refused on a target that it is attached to; None if it is not."""
        return self._refusals(target, profile).get((policy, target))

    def _refusals(self, node: NodeRef, profile: PolicyKindProfile) -> Mapping[tuple[ObjectRef, NodeRef], Refusal]:
        """The refusals on a node; of a kind whose policies are refused everywhere at once, those on all nodes."""
        if profile.same_level not in {"one-applies", "disjoint"}:
            return {}
        kind = profile.group_kind
        key = (None if profile.refusal == "everywhere" else node, id(profile))
        if key not in self._refused:
            self._refused[key] = self._refused_on([node] if key[0] else self.of_kind(kind), profile)
        return self._refused[key]

    def _refused_on(
        self, nodes: Sequence[NodeRef], profile: PolicyKindProfile
    ) -> Mapping[tuple[ObjectRef, NodeRef], Refusal]:
        targets: dict[ObjectRef, list[NodeRef]] = {}
        policies: dict[ObjectRef, Resource] = {}
        for node in nodes:
            for claims_of in (self._attached, self._claims):
                for policy in claims_of.get(node, {}).get(profile.group_kind, ()):
                    policies[policy.ref] = policy
                    targets.setdefault(policy.ref, []).append(node)
        claims = {ref: _claims(policy, targets[ref][0], profile) for ref, policy in policies.items()}
        # Where one refusal goes for all targets, no single rule's filters can order them.
        places = {} if profile.refusal == "everywhere" else self._filters.get(nodes[0], {})
        ordered = filters_first(in_order(policies.values(), profile), places)
        return refusals(ordered, targets, claims, profile.refusal)


def _claims(policy: Resource, node: NodeRef, profile: PolicyKindProfile) -> list[str]:
    """What a policy claims of a target for itself: the whole of it (an empty name), or the fields that it sets."""
    if profile.same_level == "one-applies":
        return [""]
    parts = _contributions(policy, node, profile)
    return [field_name(field) for part in parts for field in unshared_fields(part.spec, profile.shared_fields)]


def _contributions(
    policy: Resource, node: NodeRef, profile: PolicyKindProfile, place: int = 0
) -> Iterator[Contribution]:
    for stanza in stanzas_of(policy.raw, profile):
        source = Source(policy.ref, node, stanza.strategy.overrides, place)
        yield contribution_of(source, stanza, profile)
