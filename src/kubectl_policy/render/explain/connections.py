"""Statements on policies about connections: the Pods to which they apply, tiers, order, and evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.kinds import listed
from kubectl_policy.network.policy import TIERS
from kubectl_policy.render.wording.names import either

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.connections import ConnectionProfile
    from kubectl_policy.render.explain.combining import Saying

# The order of tiers, and what becomes of connections in each (ClusterNetworkPolicySpec.tier of Network Policy API).
_TIERS: Final[Mapping[str, str]] = {
    "Admin": "asked first; a rule allows or denies a connection for good, or passes it on to the next tier",
    "NetworkPolicy": "asked about connections that no policy of tier Admin allows or denies; if any policy applies to a"
    " Pod in a direction, what none of these policies allows is denied",
    "Baseline": "asked about connections that no earlier tier decides; what no policy decides is allowed",
}
_DIRECTIONS: Final[Mapping[tuple[str, ...], str]] = {
    ("egress",): "connections that these Pods open",
    ("ingress",): "connections that these Pods accept",
    ("egress", "ingress"): "connections that these Pods open and accept",
}


def connections_reach(profile: PolicyKindProfile) -> str:
    """Return what a policy about connections changes."""
    return "nothing" if profile.is_staged else "connections of the Pods to which it applies"


def connections_gist(profile: PolicyKindProfile) -> str:
    """Return what a policy about connections does, and whether its rules are evaluated, in one clause."""
    if profile.is_staged:
        return "a policy is a draft, and changes nothing"
    unevaluated = "" if profile.attachment == "connections" else "; its rules are not evaluated"
    return f"a policy changes {connections_reach(profile)}{unevaluated}"


def subject_fields(connections: ConnectionProfile) -> str:
    """Return the fields that select the Pods to which a policy applies."""
    names = (
        f"{fields.field}.{name}"
        for fields in connections.subjects
        for name in (fields.pods, fields.namespaces, fields.nodes, *fields.uncomputed)
        if name
    )
    where = "all namespaces" if connections.scope == "cluster" else "the namespace of the policy"
    return either(tuple(dict.fromkeys(names))) or f"no field: a policy applies to all Pods in {where}"


def connection_sayings(profile: PolicyKindProfile) -> Iterator[Saying]:
    """List the statements about connections of a kind whose policies decide about these."""
    connections = profile.connections
    if connections is None:
        return
    outside = " with addresses outside of the cluster" if connections.peers == "outside" else ""
    yield "decides about", ("connections",), f"{_DIRECTIONS[tuple(sorted(connections.directions))]}{outside}"
    yield "tier", ("connections",), _tier(connections)
    yield "order", ("connections",), _order(connections)
    yield "evaluated", ("connections",), _evaluation(profile, connections)


def _tier(connections: ConnectionProfile) -> str:
    if connections.tier:
        return f"{connections.tier}: {_TIERS[connections.tier]}"
    return f"the one in {connections.tier_field}" if connections.tier_field else ""


def _order(connections: ConnectionProfile) -> str:
    if connections.priority_field:
        return f"by {connections.priority_field}, the lowest number first; the first rule that matches decides"
    if connections.tier == "NetworkPolicy":
        return "none: policies add up, and a connection is allowed if one of them allows it"
    return ""


def _evaluation(profile: PolicyKindProfile, connections: ConnectionProfile) -> str:
    if not connections.enforced:
        return "no: policies of the kind are only staged, and change no connection"
    if profile.attachment == "connections":
        return f"yes, with the other policies of the tiers {listed([tier for tier in TIERS if tier in _TIERS])}"
    return "no: answers about connections name the policies that apply to a Pod, or may, as these can change verdicts"
