"""Reasons why it is not known whether a network policy decides about a connection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from kubectl_policy.model import ObjectRef  # noqa: TC001 (answers are encoded by these types)
from kubectl_policy.model.kinds import names
from kubectl_policy.model.selectors import keys_of, selector_text
from kubectl_policy.questions.connections.rule_views import peer_phrase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.network.connection import Endpoint, SideDecision
    from kubectl_policy.network.network import Network
    from kubectl_policy.network.policy import Peer, PolicyRules, Selection

DoubtReason: TypeAlias = Literal[
    "namespace-unread",
    "host-network",
    "address-unknown",
    "pod-in-block",
    "node-unread",
    "domain-name",
    "placeholder",
    "equal-priority",
    "rule-unclear",
]


class Doubt(Struct, frozen=True, kw_only=True):
    """A reason why it is not known whether a policy decides."""

    reason: Annotated[DoubtReason, Meta(description="The stable name of the reason.")]
    policy: Annotated[ObjectRef, Meta(description="The network policy.")]
    message: Annotated[str, Meta(description="The reason, for people.")]


def doubts_of(network: Network, side: SideDecision, position: int, peer: Endpoint) -> tuple[Doubt, ...]:
    """Return the reasons why a side is undecided, or why it is not known what decides; `position` is its workload."""
    if side.allowed is not None and side.tier is not None:
        return ()
    return tuple(dict.fromkeys(_doubts(network, side, position, peer)))


def _doubts(network: Network, side: SideDecision, position: int, peer: Endpoint) -> Iterator[Doubt]:
    certain = {selecting.policy.ref for selecting in side.chain.policies if selecting.is_certain}
    # Policies of one priority that all may decide.
    uncertain = [step for step in side.decision.steps if not step.certain]
    deciding = {step.policy.ref for step in uncertain}
    rivals_of_any: set[ObjectRef] = set()
    for group in (*side.chain.admin, *side.chain.baseline):
        rivals = [selecting.policy for selecting in group if selecting.policy.ref in deciding]
        if len(rivals) > 1:
            message = (
                f"{names([rival.ref for rival in rivals])} have priority {rivals[0].priority}, so either may count"
            )
            rivals_of_any.update(rival.ref for rival in rivals)
            yield Doubt(reason="equal-priority", policy=rivals[0].ref, message=message)
    for step in uncertain:
        policy = step.policy
        reasons = (
            [] if policy.ref in certain else [*_of_selection(network, policy, policy.subject, position, "applies to")]
        )
        for matched in (step.rule.peers or ()) if step.rule else ():
            reasons += _of_peer(network, policy, matched, peer)
        if step.rule and not reasons and policy.ref not in rivals_of_any:
            message = f"whether {step.rule.title} of {policy.ref} matches the connection is not known"
            reasons.append(Doubt(reason="rule-unclear", policy=policy.ref, message=message))
        yield from reasons


def _of_peer(network: Network, policy: PolicyRules, matched: Peer, peer: Endpoint) -> Iterator[Doubt]:
    position = peer.position
    if position is None:
        if peer.address and network.matching.peer_matches_address(matched, peer.address) is None:
            yield _of_address(policy, matched)
        return
    if network.matching.pods_of_peer(policy, matched).has(position) is not None:
        return
    if matched.is_open:
        message = f"{peer_phrase(matched, policy)} is still to be filled in"
        yield Doubt(reason="placeholder", policy=policy.ref, message=message)
    if matched.selection:
        yield from _of_selection(network, policy, matched.selection, position, "matches")
    workload = network.workloads.all[position]
    if matched.nodes is not None and workload.is_on_host_network:
        message = (
            f"the Node of {workload.ref} was not read, so whether {selector_text(matched.nodes)} selects it is unknown"
        )
        yield Doubt(reason="node-unread", policy=policy.ref, message=message)
    for block in matched.blocks:
        if not workload.addresses:
            message = f"the address of {workload.ref} is not known, and may be in {block.network}"
            yield Doubt(reason="address-unknown", policy=policy.ref, message=message)
        elif policy.tier == "NetworkPolicy":
            message = (
                f"{block.network} holds the address of {workload.ref}: "
                "network plugins differ in whether ipBlock applies to Pods"
            )
            yield Doubt(reason="pod-in-block", policy=policy.ref, message=message)


def _of_address(policy: PolicyRules, matched: Peer) -> Doubt:
    if matched.domain_names:
        message = f"which addresses {', '.join(matched.domain_names)} has is not known"
        return Doubt(reason="domain-name", policy=policy.ref, message=message)
    if matched.is_open:
        return Doubt(reason="placeholder", policy=policy.ref, message="a peer is still to be filled in")
    message = "no Node was read, so whether the address is that of a Node is unknown"
    return Doubt(reason="node-unread", policy=policy.ref, message=message)


def _of_selection(
    network: Network, policy: PolicyRules, selection: Selection, position: int, verb: str
) -> Iterator[Doubt]:
    """Yield the reasons why it is not known whether Pods are selected, that is, whether a policy `verb` them."""
    workloads = network.workloads
    workload = workloads.all[position]
    if workload.is_on_host_network and policy.tier == "NetworkPolicy":
        message = f"{workload.ref} uses the network of its node, for which NetworkPolicies are undefined"
        yield Doubt(reason="host-network", policy=policy.ref, message=message)
    namespaces, home = selection.namespaces, workload.ref.namespace
    if not isinstance(namespaces, str) and workloads.index.selects_namespace(namespaces, home) is None:
        keys = ", ".join(sorted(keys_of(namespaces)))
        message = (
            f"Namespace {home} was not read, and its labels ({keys}) say whether {policy.ref} {verb} {workload.ref}"
        )
        yield Doubt(reason="namespace-unread", policy=policy.ref, message=message)
    if workloads.selected(home, selection.pods).has(position) is None:
        message = f"whether {selector_text(selection.pods)} selects {workload.ref} is still to be filled in"
        yield Doubt(reason="placeholder", policy=policy.ref, message=message)
