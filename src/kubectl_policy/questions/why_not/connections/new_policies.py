"""New network policies that allow or deny connections, and leave the policies of others as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import Origin
from kubectl_policy.model.fields import Json, text_at
from kubectl_policy.model.snapshot import Resource
from kubectl_policy.network.kinds import (
    ADMIN_NETWORK_POLICY,
    BASELINE_ADMIN_NETWORK_POLICY,
    CLUSTER_NETWORK_POLICY,
    NETWORK_POLICY,
)
from kubectl_policy.questions.why_not.connections.edits_of_cluster_policies import (
    free_priority,
    letting_actions,
    priority_before,
)
from kubectl_policy.questions.why_not.connections.naming import new_ref, policy_name
from kubectl_policy.questions.why_not.connections.narrowing import all_but_address, all_but_pods
from kubectl_policy.questions.why_not.connections.spelling import PEERS, spell_peer, spell_rule, spell_subject
from kubectl_policy.questions.why_not.edits import Edit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model import GroupKind
    from kubectl_policy.network.policy import Action, Tier
    from kubectl_policy.questions.why_not.connections.case import Side
    from kubectl_policy.questions.why_not.connections.naming import NamedPods

# The versions of kinds of which no object was read.
_VERSIONS: Final = {ADMIN_NETWORK_POLICY: "v1alpha1", CLUSTER_NETWORK_POLICY: "v1alpha2", NETWORK_POLICY: "v1"}
# The priority of the first policy of a tier, which leaves room on both sides.
_FIRST_PRIORITY: Final = 500


def allow_by_network_policy(side: Side) -> Iterator[Edit]:
    """A NetworkPolicy allows the connections, where none of the Admin tier denies them."""
    pods = side.subject_pods
    peer = spell_peer(side, NETWORK_POLICY, pods.namespace) if pods else None
    if pods and peer and any(step.policy.tier != "Admin" for step in side.steps):
        yield _network_policy(side, pods, "allow", spell_rule(side, NETWORK_POLICY, "Allow", peer))


def isolate_by_network_policy(side: Side) -> Iterator[Edit]:
    """A NetworkPolicy allows all connections but those with the peer, where no other one decides."""
    pods = side.subject_pods
    if not pods or any(step.policy.tier in {"Admin", "NetworkPolicy"} for step in side.steps):
        return
    if side.peer.ip:
        peers: list[Json] | None = all_but_address(side.peer.ip)
    else:
        peers = all_but_pods(side.peer_pods, pods.namespace) if side.peer_pods else None
    if peers:
        yield _network_policy(side, pods, "deny", {PEERS[side.direction]: peers})


def _network_policy(side: Side, pods: NamedPods, verb: str, rule: Json) -> Edit:
    spec: dict[str, Json] = {
        "podSelector": pods.selector,
        "policyTypes": [side.direction.title()],
        side.direction: [rule],
    }
    return _created(side, NETWORK_POLICY, pods.namespace, verb, spec)


def let_through_by_cluster_policy(side: Side) -> Iterator[Edit]:
    """A policy for the whole cluster comes before the one that denies the connections, and lets them through."""
    for policy in dict.fromkeys(step.policy for step in side.steps if step.rule):
        kind = policy.ref.group_kind
        if kind not in {NETWORK_POLICY, BASELINE_ADMIN_NETWORK_POLICY}:
            for action in letting_actions(kind):
                yield from _cluster_policy(side, kind, policy.tier, action, priority_before(side, policy))


def deny_by_cluster_policy(side: Side) -> Iterator[Edit]:
    """A policy of the Admin tier denies the connections, before any other one decides or passes them on."""
    index = side.analysis.index
    kinds = (CLUSTER_NETWORK_POLICY, ADMIN_NETWORK_POLICY)
    kind = next((kind for kind in kinds if index.of_kind(kind) or kind in index.definitions), None)
    in_tier = [policy for policy in side.policies if policy.tier == "Admin"]
    matching = (
        policy for policy in in_tier if any(side.matches(policy, rule) for rule in policy.rules(side.direction))
    )
    first = next(matching, None)
    if kind:
        priority = priority_before(side, first) if first else free_priority(side, "Admin", _FIRST_PRIORITY)
        yield from _cluster_policy(side, kind, "Admin", "Deny", priority)


def _cluster_policy(side: Side, kind: GroupKind, tier: Tier, action: Action, priority: int | None) -> Iterator[Edit]:
    peer, pods = spell_peer(side, kind), side.subject_pods
    if peer and pods and priority is not None:
        spec: dict[str, Json] = {
            **({"tier": tier} if kind == CLUSTER_NETWORK_POLICY else {}),
            "priority": priority,
            "subject": spell_subject(pods),
            side.direction: [spell_rule(side, kind, action, peer)],
        }
        yield _created(side, kind, "", "deny" if action == "Deny" else "allow", spec)


def _created(side: Side, kind: GroupKind, namespace: str, verb: str, spec: Mapping[str, Json]) -> Edit:
    known = side.analysis.index.of_kind(kind)
    version = text_at(known[0].raw, "apiVersion") if known else f"{kind.group}/{_VERSIONS[kind]}"
    stem = policy_name(side.analysis, verb, side.subject, side.direction, side.peer)
    ref = new_ref(side.analysis, kind, namespace, stem)
    metadata = {"name": ref.name, **({"namespace": namespace} if namespace else {})}
    raw: dict[str, Json] = {"apiVersion": version, "kind": kind.kind, "metadata": metadata, "spec": spec}
    return Edit(None, Resource(ref, Origin(""), raw))
