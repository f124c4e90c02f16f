"""Network policies that an API server rejects, and rules that count for nothing (GWP1101 and GWP1102)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.lint.finding import Finding, Fix
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.lint.rules.network.policies import linted_policies
from kubectl_policy.model.fields import items_at, strings_at
from kubectl_policy.model.unknown import is_unfilled
from kubectl_policy.network.admission import rejections
from kubectl_policy.network.cluster_admission import cluster_rejections
from kubectl_policy.network.kinds import NETWORK_POLICY
from kubectl_policy.network.policy import DIRECTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.model import Resource
    from kubectl_policy.network.admission import Rejection
    from kubectl_policy.network.policy import Direction, PolicyRules, Rule


@lint_rule("GWP1101", "error")
def network_policy_invalid(world: LintWorld) -> Iterator[Finding]:
    """An API server would reject a network policy.

    While it is rejected, the version in the cluster stays in force, if there is one; else the connections that it
    should deny are allowed. A NetworkPolicy is rejected for ports out of range, names of ports that are none (a number
    in quotes), a range that does not begin with a number, an `except` outside of its `cidr`, and peers that name
    nothing. Of AdminNetworkPolicies, BaselineAdminNetworkPolicies and ClusterNetworkPolicies, the rule knows what their
    definitions reject in the versions v1alpha1 and v1alpha2; if the definition is in the input, invalid-object reports
    the problem instead. Objects from a cluster have been accepted and are not checked.

    Source: kubernetes/kubernetes, pkg/apis/networking/validation/validation.go; kubernetes-sigs/network-policy-api,
    apis/v1alpha1 and apis/v1alpha2.
    """
    is_cluster = world.snapshot.source == "the cluster"
    for policy in world.once(linted_policies):
        resource = policy.resource
        if is_cluster and resource.ref not in world.snapshot.applied:
            continue
        for rejection in _rejections(world, resource):
            yield Finding(subject=resource.ref, field=rejection.field, message=rejection.message)


def _rejections(world: LintWorld, resource: Resource) -> Iterator[Rejection]:
    kind = resource.ref.group_kind
    if kind == NETWORK_POLICY:
        yield from rejections(resource.raw)
    elif kind not in world.index.definitions:
        yield from cluster_rejections(resource)


@lint_rule("GWP1102", "warning")
def network_rules_ignored(world: LintWorld) -> Iterator[Finding]:
    """A network policy has rules that count for nothing.

    The rules for a direction of a NetworkPolicy count only if `policyTypes` names the direction, or is absent: with
    `policyTypes: [Ingress]`, rules for egress are ignored, and all connections from the Pods stay allowed. Names of
    domains count only in rules that accept connections; in other ones, they may be rejected or match nothing.

    Source: NetworkPolicySpec.PolicyTypes (kubernetes/api, networking/v1/types.go); ClusterNetworkPolicyEgressPeer,
    "DomainNames is only supported for Accept rules" (kubernetes-sigs/network-policy-api, apis/v1alpha2).
    """
    for policy in world.once(linted_policies):
        resource, rules = policy.resource, policy.rules
        if resource.ref.group_kind == NETWORK_POLICY:
            yield from _without_policy_type(resource)
        for rule in rules.egress:
            yield from _domains_without_effect(rules, rule)


def _without_policy_type(resource: Resource) -> Iterator[Finding]:
    types = strings_at(resource.raw, "spec.policyTypes")
    if not types or any(map(is_unfilled, types)):
        return
    for direction in DIRECTIONS:
        if items_at(resource.raw, f"spec.{direction}") and direction.title() not in types:
            yield Finding(
                subject=resource.ref,
                field=f"spec.{direction}",
                message=f"policyTypes does not have {direction.title()}, so {_consequence(direction)}",
                fix=Fix(words=f"add {direction.title()} to spec.policyTypes"),
            )


def _consequence(direction: Direction) -> str:
    peers = "to" if direction == "ingress" else "from"
    return f"these rules are ignored: the policy denies no connection {peers} the Pods"


def _domains_without_effect(policy: PolicyRules, rule: Rule) -> Iterator[Finding]:
    for peer in rule.peers or ():
        if peer.domain_names and rule.action != "Allow":
            message = f"domainNames counts only in rules that accept connections, and this one has action {rule.action}"
            yield Finding(subject=policy.ref, field=f"{peer.field}.domainNames", message=message)
