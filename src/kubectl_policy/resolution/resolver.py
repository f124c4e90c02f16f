"""Effective policies on demand, for a path and a kind; each merge is done once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.fields import mapping_at
from kubectl_policy.model.kind_roles import GATEWAY, ROUTES
from kubectl_policy.profiles.controllers import OF_RULE
from kubectl_policy.resolution.contributions import NOBODY
from kubectl_policy.resolution.effective import reached_part, resolve, takes_effect_below
from kubectl_policy.resolution.merging import PathContext
from kubectl_policy.resolution.nodes import AttachedPolicies, NodeContributions, PoliciesOnNodes, RankedPolicy
from kubectl_policy.resolution.object_settings import RuleSettings, object_fields, object_values, with_object_values
from kubectl_policy.resolution.outcome import EffectivePolicy, Resolution
from kubectl_policy.resolution.precedence import PolicyRefusal, filters_first
from kubectl_policy.topology import Path, Topology, why_too_wide
from kubectl_policy.topology.controllers import is_enabled, is_path_managed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.attachment.attachments import Attachments
    from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Resource
    from kubectl_policy.profiles import PolicyKindProfile, Registry
    from kubectl_policy.profiles.merging import Inheritance, RouteChoice
    from kubectl_policy.topology.gateway.listeners import Listener


class Resolver:
    """Resolves what is asked, never the whole cluster in advance."""

    def __init__(self, topology: Topology, registry: Registry, attachments: Attachments) -> None:
        """Remember where to look."""
        self._topology = topology
        self._registry = registry
        self._attachments = attachments
        self._resolved: dict[tuple[object, ...], Resolution] = {}
        self.rules = RuleSettings(topology, registry)

    def kinds_at(self, nodes: Iterable[NodeRef]) -> tuple[GroupKind, ...]:
        """Return the policy kinds attached to at least one of the nodes, sorted."""
        return tuple(sorted({kind for node in nodes for kind in self._kinds_on(node)}))

    @cached_method
    def _kinds_on(self, node: NodeRef) -> frozenset[GroupKind]:
        attachments = (attachment for attachment in self._attachments.to(node.object) if attachment.target == node)
        return frozenset(attachment.policy.group_kind for attachment in attachments if attachment.state == "attached")

    def policies_at(self, node: NodeRef) -> tuple[Resource, ...]:
        """Return the policies attached to a node itself, by kind, then in their order of precedence."""
        return tuple(policy for kind in self.kinds_at([node]) for policy in self.policies_of_kind(node, kind))

    def policies_of_kind(self, node: NodeRef, kind: GroupKind) -> tuple[Resource, ...]:
        """Return the policies of a kind attached to a node itself, in their order of precedence."""
        policies = self._policies_on_nodes(kind)
        return policies.in_order(node) if policies else ()

    def failed_policies(self, node: NodeRef, kind: GroupKind) -> tuple[ObjectRef, ...]:
        """Return the unattached policies of a kind that keep others out of a node; sorted."""
        return tuple(sorted(self._attached_of_kind(kind).at(node).competing))

    def nodes_with(self, kind: GroupKind) -> list[NodeRef]:
        """Return the nodes that a kind's policies are attached to, or keep others out of; sorted."""
        return self._attached_of_kind(kind).nodes()

    def ranked(self, node: NodeRef, kind: GroupKind) -> list[RankedPolicy]:
        """Return what determines the contributions of a kind's policies on a node."""
        policies = self._policies_on_nodes(kind)
        return policies.ranked(node) if policies else []

    def refusal(self, policy: ObjectRef, target: NodeRef) -> PolicyRefusal | None:
        """Return the refusal of a policy on a target that takes one policy, or one value of a setting.

        None if it is not.
        """
        policies = self._policies_on_nodes(policy.group_kind)
        return policies.refusal(policy, target) if policies else None

    def effective(self, path: Path) -> tuple[EffectivePolicy, ...]:
        """Return the effective policy of each kind at the end of a path, sorted by kind."""
        every = (self.effective_of(kind, path) for kind in self.kinds_at(path))
        return tuple(effective for effective in every if effective)

    def effective_of(self, kind: GroupKind, path: Path, same: EffectivePolicy | None = None) -> EffectivePolicy | None:
        """Return the effective policy of a kind at the end of a path; None if no policy contributes there.

        `same` is that of another state of the world which has the same objects, and the same policies, on the path.
        """
        policies = self._policies_for(kind, path[-1].object.group_kind)
        if policies is None or not (policies.profile.counts_anywhere or self._is_heeded(path, policies.profile)):
            return None
        nodes = _contributing(policies, path)
        known = policies.resolved.get(nodes)
        if known:
            return EffectivePolicy(path, known)
        rule = None
        by_rule = next(filter(None, (policies.attached.at(node).rule_policies for node in nodes)), None)
        if by_rule:
            rule = next((candidate for candidate in reversed(path) if candidate in by_rule), None)
            nodes = nodes if rule else ()
        if not nodes:
            return None
        profile = policies.profile
        if not (by_rule or profile.by_listener or profile.has_object_fields):
            # Nothing else of a path matters.
            known = (
                same.resolution
                if same
                else self._resolve([policies.contributions(node, None) for node in nodes], profile, None)
            )
            policies.resolved[nodes] = known
            return EffectivePolicy(path, known)
        listener = self._topology.listener_on(path) if profile.by_listener else None
        key = (policies, nodes, rule, (listener.protocol, listener.port) if listener else None)
        values = object_values(profile, self._target(path[-1]), path[-1]) if profile.has_object_fields else ()
        at_end = (*key, path[-1]) if values else key
        if at_end not in self._resolved and same:
            self._resolved[at_end] = same.resolution
        elif at_end not in self._resolved:
            if key not in self._resolved:
                self._resolved[key] = self._resolve(
                    [policies.contributions(node, rule) for node in nodes], profile, listener
                )
            if values:
                self._resolved[at_end] = with_object_values(self._resolved[key], values)
        return EffectivePolicy(path, self._resolved[at_end])

    def rule_settings(self, path: Path) -> Iterator[EffectivePolicy]:
        """Return the settings of the rules on a path: for each an outcome of a kind that is the kind of its route.

        What stands for a setting of policies that count at the rule is among those, and left out here.
        """
        for position, node in enumerate(path):
            if self.rules.is_made_at(node):
                end = path[: position + 1]
                outcome = self.rules.at_end(end, self.rule_fields_in_policies(end))
                yield from [outcome] if outcome else []

    def rule_fields_in_policies(self, path: Path) -> frozenset[str]:
        """Return the fields of the rule at the end of a path that stand for settings of policies which count there."""
        fields: set[str] = set()
        for kind in self.kinds_at(path):
            profile = self._registry.profile(kind)
            direct = profile.policy_class == "direct"
            at_rule = direct or (reached_part(path, profile) == path and not takes_effect_below(path[-1], profile))
            if profile.has_object_fields and at_rule and self.effective_of(kind, path):
                fields.update(name for _, name in object_fields(profile, self._target(path[-1])))
        return frozenset(field.removeprefix(OF_RULE) for field in fields if field.startswith(OF_RULE))

    def _target(self, end: NodeRef) -> Mapping[str, Json]:
        """Return the object at the end of a path; its field `rule` is the rule there, with the contents of filters."""
        return {**self._topology.index.defaulted(end.object), "rule": self.rules.fields(end)}

    @cached_method
    def _policies_on_nodes(self, kind: GroupKind) -> PoliciesOnNodes | None:
        """Return the policies of a kind by node; None for a kind without a profile."""
        profile = self._registry.profile_of(kind)
        return PoliciesOnNodes(self._attached_of_kind(kind), profile) if profile else None

    @cached_method
    def _policies_for(self, kind: GroupKind, at: GroupKind) -> PoliciesOnNodes | None:
        """Return the policies of a kind by node, by the variant of its profile for effective targets `at` a kind."""
        policies = self._policies_on_nodes(kind)
        variant = policies.profile.at(at) if policies else None
        if policies is None or variant is None or variant is policies.profile:
            return policies
        return PoliciesOnNodes(policies.attached, variant)

    @cached_method
    def _attached_of_kind(self, kind: GroupKind) -> AttachedPolicies:
        profile = self._registry.profile_of(kind)
        replaces = profile is not None and profile.default_strategy.replaces
        return AttachedPolicies(self._topology.index, self._attachments, kind, replaces=replaces)

    def is_disabled(self, path: Path, profile: PolicyKindProfile) -> bool:
        """Whether the parameters of the Gateway on a path do not enable a kind."""
        enabling = profile.enabled_by
        if enabling is None:
            return False
        gateway = next((node.object for node in path if node.object.group_kind == GATEWAY), None)
        return gateway is not None and is_enabled(self._topology, gateway, enabling) is False

    def _is_heeded(self, path: Path, profile: PolicyKindProfile) -> bool:
        """Whether the controllers of a kind act on a path, and on a kind's policies there."""
        if profile.hostnames == "inside" and why_too_wide(self._topology, path):
            return False
        if self.is_disabled(path, profile):
            return False
        return is_path_managed(self._topology, path, profile.controllers)

    def _resolve(
        self, on_nodes: list[NodeContributions], profile: PolicyKindProfile, listener: Listener | None
    ) -> Resolution:
        parts = tuple(filters_first([part for on_node in on_nodes for part in on_node.contributions]))
        context = PathContext(
            refused={source: refusal for on_node in on_nodes for source, refusal in on_node.refused.items()},
            undecided=NOBODY.union(*(on_node.undecided for on_node in on_nodes)),
            listener=listener,
            choices=route_choices(self._topology, profile.route_choice, (part.source.target for part in parts)),
        )
        undated = any(on_node.age_unknown for on_node in on_nodes)
        return resolve(profile, parts, context, age_unknown=undated)


def _contributing(policies: PoliciesOnNodes, path: Path) -> tuple[NodeRef, ...]:
    """Return the nodes whose policies count at the end of a path, each once, at its first place.

    A direct policy counts at its target alone, and at a section of it: with the section's own policies if these refine
    it, in their absence if they replace it. Those of an inherited kind refine it unless the profile says otherwise.
    """
    profile, attached = policies.profile, policies.attached
    if profile.policy_class == "inherited":
        nodes = attached.on_path(path)
        if profile.sections != "replace":
            return nodes
        replaced = {replace(node, section="") for node in nodes if node.section}
        return tuple(node for node in nodes if node not in replaced)
    node = path[-1]
    whole = replace(node, section="")
    nodes = attached.on_path((whole, node) if node.section else (node,))
    return nodes if profile.sections == "refine" else nodes[-1:]


def route_choices(
    topology: Topology, choice: RouteChoice | None, targets: Iterable[NodeRef]
) -> Mapping[ObjectRef, Inheritance]:
    """Return the merge choices that routes among some targets make in an annotation."""
    if choice is None:
        return {}
    annotations = {
        target.object: mapping_at(topology.index.defaulted(target.object), "metadata.annotations").get(
            choice.annotation
        )
        for target in targets
        if target.object.group_kind in ROUTES
    }
    means = {route: choice.means(value) for route, value in annotations.items() if isinstance(value, str)}
    return {route: meant for route, meant in means.items() if meant}
