"""Read network policies of each kind and version into `PolicyRules`, as their API types say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.model import FieldPath
from kubectl_policy.model.fields import Json, integer_at, mapping_at, text_at, value_at
from kubectl_policy.network.entries import entries_at, is_open, selector_at
from kubectl_policy.network.kinds import (
    ADMIN_NETWORK_POLICY,
    BASELINE_ADMIN_NETWORK_POLICY,
    CLUSTER_NETWORK_POLICY,
    NETWORK_POLICY,
)
from kubectl_policy.network.peer_entries import (
    BASELINE_EGRESS_FIELDS,
    EGRESS_FIELDS,
    INGRESS_FIELDS,
    peer_of_cluster_policy,
    peer_of_network_policy,
    selection_of,
)
from kubectl_policy.network.policy import DIRECTIONS, Action, Direction, Peer, PolicyRules, Rule, Selection, Tier
from kubectl_policy.network.port_entries import ports_of_cluster_policy, ports_of_network_policy

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from kubectl_policy.model import GroupKind, Resource
    from kubectl_policy.network.entries import Entry

_PEERS: Final[Mapping[Direction, str]] = {"ingress": "from", "egress": "to"}
# The words of v1alpha1 and v1alpha2 (AdminNetworkPolicyRuleAction, ClusterNetworkPolicyRuleAction).
_ACTIONS: Final[Mapping[str, Action]] = {"Allow": "Allow", "Accept": "Allow", "Deny": "Deny", "Pass": "Pass"}
_TIERS: Final[Mapping[str, Tier]] = {"Admin": "Admin", "Baseline": "Baseline"}


def read_policy(resource: Resource, raw: Mapping[str, Json]) -> PolicyRules:
    """Read a network policy, whose content may have defaults filled in."""
    return _READERS[resource.ref.group_kind](resource, raw)


def _network_policy(resource: Resource, raw: Mapping[str, Json]) -> PolicyRules:
    """Read a NetworkPolicy (kubernetes/api, networking/v1/types.go, NetworkPolicySpec).

    "If no policyTypes are specified ... will default to Ingress; and Egress if the policy has any egress rules."
    """
    types = value_at(raw, "spec.policyTypes") or ["Ingress", *(["Egress"] if value_at(raw, "spec.egress") else [])]
    listed = types if isinstance(types, list | tuple) else [types]
    is_unfilled = any(map(is_open, listed))
    isolates = frozenset[Direction](direction for direction in DIRECTIONS if is_unfilled or direction.title() in listed)
    namespace = resource.ref.namespace

    def rules(direction: Direction) -> tuple[Rule, ...]:
        entries = entries_at(raw, FieldPath(), f"spec.{direction}") if direction in isolates else ()
        return tuple(_allowing_rule(field, rule, _PEERS[direction], namespace) for field, rule in entries)

    return PolicyRules(
        ref=resource.ref,
        tier="NetworkPolicy",
        priority=None,
        subject=Selection(namespaces=namespace, pods=selector_at(raw, "spec.podSelector") or {}),
        ingress=rules("ingress"),
        egress=rules("egress"),
        isolates=isolates,
        is_open=is_unfilled,
    )


def _allowing_rule(field: FieldPath, rule: Entry, peers_field: str, namespace: str) -> Rule:
    """Read a rule of a NetworkPolicy: "if this field is empty or missing, this rule matches all" sources or ports."""
    if isinstance(rule, str):
        return _open_rule(field, "Allow")
    peers = tuple(peer_of_network_policy(path, peer, namespace) for path, peer in entries_at(rule, field, peers_field))
    ports = tuple(port for _, entry in entries_at(rule, field, "ports") for port in ports_of_network_policy(entry))
    return Rule(
        field=field,
        name="",
        action="Allow",
        peers=peers if value_at(rule, peers_field) else None,
        ports=ports if value_at(rule, "ports") else None,
    )


def _cluster_policy(
    tier: Tier | None, fields: Mapping[Direction, Collection[str]], protocols_field: str
) -> Callable[[Resource, Mapping[str, Json]], PolicyRules]:
    """Return a reader of policies for the whole cluster (kubernetes-sigs/network-policy-api, apis).

    The tier of a ClusterNetworkPolicy is one of its fields. Where it is not known, rules may have any action instead:
    that has no less effects.
    """

    def read(resource: Resource, raw: Mapping[str, Json]) -> PolicyRules:
        known_tier = tier or _TIERS.get(text_at(raw, "spec.tier"))
        priority = integer_at(raw, "spec.priority") if tier != "Baseline" else None
        ingress, egress = (
            tuple(
                _acting_rule(path, entry, direction, fields[direction], protocols_field)
                for path, entry in entries_at(raw, FieldPath(), f"spec.{direction}")
            )
            for direction in DIRECTIONS
        )
        if known_tier is None:
            ingress, egress = (tuple(replace(rule, is_open=True) for rule in rules) for rules in (ingress, egress))
        return PolicyRules(
            ref=resource.ref,
            tier=known_tier or "Admin",
            priority=priority,
            subject=_subject(raw),
            ingress=ingress,
            egress=egress,
            is_open=known_tier is None or (priority is None and tier != "Baseline"),
        )

    return read


def _subject(raw: Mapping[str, Json]) -> Selection:
    """Read the Pods to which a policy applies: none for a subject that no API server accepts."""
    subject = value_at(raw, "spec.subject")
    holder = {"pods": subject} if is_open(subject) else mapping_at(raw, "spec.subject")
    return selection_of(holder) or Selection(namespaces="", pods={})


def _acting_rule(
    field: FieldPath, rule: Entry, direction: Direction, peer_fields: Collection[str], protocols_field: str
) -> Rule:
    """Read a rule of a policy for the whole cluster.

    "If an implementation sees no fields are set then ... it should fail closed. For "Accept" rules, ... treat the rule
    as matching no traffic. For "Deny" and "Pass" rules, ... treat the rule as a "Deny all" rule" (of peers).
    """
    if isinstance(rule, str):
        return _open_rule(field, "Deny")
    # A word of a later version may mean anything, as a placeholder may.
    action = _ACTIONS.get(text_at(rule, "action"))
    name = text_at(rule, "name")
    peers = tuple(
        peer_of_cluster_policy(path, peer, peer_fields) for path, peer in entries_at(rule, field, _PEERS[direction])
    )
    if not all(peer.is_understood for peer in peers):
        if action is None:
            return _open_rule(field, "Deny", name)
        is_allowing = action == "Allow"
        failing: Action = "Allow" if is_allowing else "Deny"
        return Rule(field=field, name=name, action=failing, peers=() if is_allowing else None, ports=None)
    entries = entries_at(rule, field, protocols_field)
    ports = tuple(port for _, entry in entries for port in ports_of_cluster_policy(entry))
    return Rule(
        field=field,
        name=name,
        action=action or "Deny",
        peers=peers,
        ports=ports if value_at(rule, protocols_field) else None,
        is_open=action is None,
    )


def _open_rule(field: FieldPath, action: Action, name: str = "") -> Rule:
    """Return a rule that may match anything; one of a policy for the whole cluster may have any action."""
    peers = (Peer(field=field, is_open=True),)
    return Rule(field=field, name=name, action=action, peers=peers, ports=None, is_open=action != "Allow")


_READERS: Final[Mapping[GroupKind, Callable[[Resource, Mapping[str, Json]], PolicyRules]]] = {
    NETWORK_POLICY: _network_policy,
    ADMIN_NETWORK_POLICY: _cluster_policy("Admin", {"ingress": INGRESS_FIELDS, "egress": EGRESS_FIELDS}, "ports"),
    BASELINE_ADMIN_NETWORK_POLICY: _cluster_policy(
        "Baseline", {"ingress": INGRESS_FIELDS, "egress": BASELINE_EGRESS_FIELDS}, "ports"
    ),
    CLUSTER_NETWORK_POLICY: _cluster_policy(None, {"ingress": INGRESS_FIELDS, "egress": EGRESS_FIELDS}, "protocols"),
}
