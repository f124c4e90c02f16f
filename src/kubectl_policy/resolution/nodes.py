"""Policies of one kind by node: their order, their contributions and their refusals."""

from __future__ import annotations

from collections import defaultdict
from functools import cache, cached_property
from itertools import chain
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field
from msgspec.structs import replace

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.world import reachable
from kubectl_policy.resolution.contributions import Contribution, contributions_of, unshared_fields
from kubectl_policy.resolution.precedence import (
    PolicyRefusal,
    fold_order,
    in_order,
    order_unknown,
    refusals,
    same_level_of,
)
from kubectl_policy.resolution.traced import Source, field_name
from kubectl_policy.topology import Path, nodes_on_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.attachment.attachment import IgnoredSetting
    from kubectl_policy.attachment.attachments import Attachments
    from kubectl_policy.model import GroupKind, NodeRef, ObjectRef, Resource
    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.resolution.outcome import Resolution


class NodePolicies(Struct, frozen=True):
    """The policies of one kind at a node."""

    # The policies that are attached to the node.
    attached: dict[ObjectRef, Resource] = field(default_factory=dict["ObjectRef", "Resource"])
    # The spellings of the API group by which they name the node.
    spellings: dict[ObjectRef, set[str]] = field(default_factory=dict["ObjectRef", "set[str]"])
    # Invalid policies for which requests to the node get an error response, with the reasons; they are not attached.
    failing: dict[ObjectRef, tuple[Resource, str]] = field(default_factory=dict["ObjectRef", "tuple[Resource, str]"])
    # Policies that only keep others out.
    competing: dict[ObjectRef, Resource] = field(default_factory=dict["ObjectRef", "Resource"])
    # The positions, from 1, of the filters by which rules of routes name policies.
    filters: dict[ObjectRef, int] = field(default_factory=dict["ObjectRef", int])
    # Policies that filters of backendRefs name: they are attached to a backend for the requests of these rules
    # alone.
    rule_policies: dict[NodeRef, set[ObjectRef]] = field(default_factory=dict["NodeRef", "set[ObjectRef]"])
    # The settings of policies that controllers ignore.
    ignored: dict[ObjectRef, tuple[IgnoredSetting, ...]] = field(
        default_factory=dict["ObjectRef", "tuple[IgnoredSetting, ...]"]
    )


_NOTHING: Final = NodePolicies()


class AttachedPolicies:
    """The nodes to which the policies of one kind are attached."""

    def __init__(self, index: Index, attachments: Attachments, kind: GroupKind, *, replaces: bool) -> None:
        """Remember where to look, and whether one policy of the kind replaces another one whole."""
        self._index, self._attachments, self._kind, self._replaces = index, attachments, kind, replaces
        self._every: Mapping[NodeRef, NodePolicies] | None = None

    def at(self, node: NodeRef) -> NodePolicies:
        """Return the policies at a node; they have their defaults."""
        if self._is_known_everywhere:
            return self._everywhere.get(node, _NOTHING)
        return self._attached_to(node.object).get(node, _NOTHING)

    @cached_method
    def _attached_to(self, obj: ObjectRef) -> Mapping[NodeRef, NodePolicies]:
        return self._attached(self._attachments.to(obj))

    def of(self, policy: ObjectRef) -> set[NodeRef]:
        """Return the nodes to which a policy is attached, or which it keeps others out of."""
        attachments = self._attachments.get(policy, ())
        return {attachment.target for attachment in attachments if attachment.target and _claims_target(attachment)}

    def nodes(self) -> list[NodeRef]:
        """Return the nodes to which policies are attached, or which they keep others out of; sorted.

        To know them takes a look at every policy of the kind.
        """
        return sorted(self._everywhere)

    def on_path(self, path: Path) -> tuple[NodeRef, ...]:
        """Return the nodes of a path with policies, in its order; none if all of these policies have failed."""
        if not self._is_known_everywhere:
            nodes = tuple(node for node in path if self.at(node).attached or self.at(node).failing)
        else:
            nodes = nodes_on_path(self._with_policies, path)
        return nodes if any(self.at(node).attached for node in nodes) else ()

    @property
    def _is_known_everywhere(self) -> bool:
        """Whether to look at one node takes no look at policies any more."""
        return self._every is not None or self._attachments.are_all_known

    @cached_property
    def _with_policies(self) -> frozenset[NodeRef]:
        return frozenset(node for node, policies in self._everywhere.items() if policies.attached or policies.failing)

    @property
    def _everywhere(self) -> Mapping[NodeRef, NodePolicies]:
        if self._every is None:
            policies = self._index.world.refs_of(self._kind)
            self._every = self._attached(
                attachment for policy in policies for attachment in self._attachments.get(policy, ())
            )
        return self._every

    def _attached(self, attachments: Iterable[Attachment]) -> Mapping[NodeRef, NodePolicies]:
        by_node: dict[NodeRef, NodePolicies] = defaultdict(NodePolicies)
        for attachment in attachments:
            target = attachment.target
            if target is None or attachment.policy.group_kind != self._kind:
                continue
            resource = self._index.get(attachment.policy)
            fails = self._replaces and _fails_in_place(attachment)
            if resource is None or not (fails or _claims_target(attachment)):
                continue
            policy, policies = self._index.with_defaults(resource), by_node[target]
            policies.spellings.setdefault(policy.ref, set()).add(attachment.declared.group)
            if attachment.competes:
                policies.competing[policy.ref] = policy
            if fails:
                policies.failing[policy.ref] = policy, attachment.message
            if attachment.state == "attached":
                policies.attached[policy.ref] = policy
                if attachment.ignored:
                    policies.ignored[policy.ref] = attachment.ignored
                if attachment.declared.filter_position:
                    policies.filters.setdefault(policy.ref, attachment.declared.filter_position)
                if attachment.declared.rule:
                    policies.rule_policies.setdefault(attachment.declared.rule, set()).add(policy.ref)
        return dict(by_node)


def _fails_in_place(attachment: Attachment) -> bool:
    """Whether an invalid policy stands at a target that it names itself, and makes requests to the target fail."""
    return attachment.fails_requests and attachment.state != "attached" and attachment.named_by is None


def _claims_target(attachment: Attachment) -> bool:
    return attachment.competes or attachment.state == "attached"


class RankedPolicy(Struct, frozen=True, kw_only=True):
    """A policy on a node with the place of the filter that names it there (0: none), and why it is refused."""

    policy: Resource
    filter_position: int
    refusal: PolicyRefusal | None
    ignored: tuple[IgnoredSetting, ...] = ()
    # The reason why requests get an error response for the policy; "" if it is valid.
    invalid: str = ""


class NodeContributions(Struct, frozen=True, kw_only=True):
    """The contributions of the policies of one kind on one node, in the order of the fold, and the refused ones."""

    contributions: tuple[Contribution, ...]
    refused: Mapping[Source, PolicyRefusal]
    # Those that set a field which another one sets as well, where nothing decides between them.
    undecided: frozenset[Source]
    age_unknown: bool


class PoliciesOnNodes:
    """The policies of one kind by node, as one profile has it; each node is looked at once."""

    def __init__(self, attached: AttachedPolicies, profile: PolicyKindProfile) -> None:
        """Remember where to look."""
        self.attached = attached
        self.profile = profile
        # What becomes of those on some nodes, wherever that depends on nothing else of a path.
        self.resolved: dict[tuple[NodeRef, ...], Resolution] = {}
        # Where policies of a kind are refused everywhere at once, that does not depend on a node.
        self._refused_everywhere: dict[ObjectRef, Mapping[tuple[ObjectRef, NodeRef], PolicyRefusal]] = {}

    @cached_method
    def in_order(self, node: NodeRef) -> tuple[Resource, ...]:
        """Return the policies attached to a node itself, in their order of precedence."""
        policies = self.attached.at(node)
        return tuple(in_order(policies.attached.values(), self.profile, policies.filters))

    def ranked(self, node: NodeRef) -> list[RankedPolicy]:
        """Return what determines the contributions of the policies on a node, also of those that make requests fail.

        An invalid policy that does not compete gives way to any that is attached there.
        """
        on_node = self.attached.at(node)
        positions = on_node.filters
        failing = {
            ref: policy
            for ref, (policy, _) in on_node.failing.items()
            if ref in on_node.competing or not on_node.attached
        }
        policies = (
            in_order([*on_node.attached.values(), *failing.values()], self.profile, positions)
            if failing
            else self.in_order(node)
        )
        return [
            RankedPolicy(
                policy=policy,
                filter_position=positions.get(policy.ref, 0),
                refusal=self.refusal(policy.ref, node),
                ignored=on_node.ignored.get(policy.ref, ()),
                invalid=on_node.failing[policy.ref][1] if policy.ref in failing else "",
            )
            for policy in policies
        ]

    @cached_method
    def contributions(self, node: NodeRef, rule: NodeRef | None) -> NodeContributions:
        """Return the contributions of the policies on a node; for the requests of `rule` alone, if it is given."""
        ranked, profile = self.ranked(node), self.profile
        if rule:
            ranked = [rank for rank in ranked if rank.policy.ref in self.attached.at(node).rule_policies[rule]]
        brought = [
            (replace(part, invalid=rank.invalid) if rank.invalid else part, rank.refusal)
            for rank in ranked
            for part in contributions_of(rank.policy, node, profile, rank.filter_position, rank.ignored)
        ]
        parts = [part for part, _ in brought]
        return NodeContributions(
            contributions=tuple(fold_order(parts, same_level_of(profile, parts))),
            refused={part.source: refusal for part, refusal in brought if refusal},
            undecided=frozenset(self._undecided([part for part, refusal in brought if not refusal])),
            age_unknown=order_unknown([rank.policy for rank in ranked if not rank.filter_position], profile),
        )

    def _undecided(self, parts: Sequence[Contribution]) -> Iterable[Source]:
        """Yield the sources of which others set the same fields, although none of them is refused."""
        if self.profile.spellings == "alike" or len(parts) == 1:
            return
        claims = [{*unshared_fields(part.spec, self.profile.joint_fields)} for part in parts]
        for position, part in enumerate(parts):
            others = chain.from_iterable(claims[:position] + claims[position + 1 :])
            if not claims[position].isdisjoint(others):
                yield part.source

    def refusal(self, policy: ObjectRef, target: NodeRef) -> PolicyRefusal | None:
        """Return the refusal of a policy on a target that it is attached to; None if it is not refused."""
        if self.profile.same_level not in {"one-applies", "disjoint"}:
            return None
        if self.profile.refusal == "everywhere":
            if policy not in self._refused_everywhere:
                nodes = self._contested_with(policy)
                refused = self._refusals(nodes)
                concerned = {claiming for node in nodes for claiming in self._claiming(node)}
                self._refused_everywhere.update(dict.fromkeys((policy, *concerned), refused))
            return self._refused_everywhere[policy].get((policy, target))
        return self._refused_at(target).get((policy, target))

    @cached_method
    def _refused_at(self, target: NodeRef) -> Mapping[tuple[ObjectRef, NodeRef], PolicyRefusal]:
        return self._refusals([target])

    def _contested_with(self, policy: ObjectRef) -> list[NodeRef]:
        """Return the targets of a policy, and of all that share targets with it, directly or through others.

        Whether it is refused at all depends on these alone; sorted.
        """
        claims = cache(self.attached.of)
        rivals = reachable(
            [policy], lambda claiming: (ref for node in claims(claiming) for ref in self._claiming(node))
        )
        return sorted({node for rival in rivals for node in claims(rival)})

    def _claiming(self, node: NodeRef) -> Iterable[ObjectRef]:
        policies = self.attached.at(node)
        return (*policies.attached, *policies.competing)

    def _refusals(self, nodes: Sequence[NodeRef]) -> Mapping[tuple[ObjectRef, NodeRef], PolicyRefusal]:
        targets: dict[ObjectRef, list[NodeRef]] = {}
        policies: dict[ObjectRef, Resource] = {}
        for node in nodes:
            on_node = self.attached.at(node)
            for claiming in (on_node.attached, on_node.competing):
                for ref, policy in claiming.items():
                    policies[ref] = policy
                    targets.setdefault(ref, []).append(node)
        claims = {ref: self._claims(policy, targets[ref][0]) for ref, policy in policies.items()}
        # Where one refusal goes for all targets, no single rule's filters can order them.
        positions = {} if self.profile.refusal == "everywhere" else self.attached.at(nodes[0]).filters
        ordered = in_order(policies.values(), self.profile, positions)
        spellings = {
            (policy, node): sorted(spelling)
            for node in (nodes if self.profile.spellings == "apart" else ())
            for policy, spelling in self.attached.at(node).spellings.items()
        }
        return refusals(ordered, targets, claims, spellings, self.profile.refusal)

    def _claims(self, policy: Resource, node: NodeRef) -> list[str]:
        """Return the fields of a target that a policy claims for itself; an empty name claims all of it."""
        if self.profile.same_level == "one-applies":
            return [""]
        parts = contributions_of(policy, node, self.profile)
        return [
            field_name(claimed) for part in parts for claimed in unshared_fields(part.spec, self.profile.joint_fields)
        ]
