"""Narrow rules, so that they do not match some connections any more: without ports, without Pods, without addresses."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_network
from typing import TYPE_CHECKING, Final, cast

from kubectl_policy.model.defaults import NAME_LABEL
from kubectl_policy.model.fields import Json, items_at, mapping_at
from kubectl_policy.network.kinds import NETWORK_POLICY
from kubectl_policy.network.policy import PortRange
from kubectl_policy.network.port_entries import ports_of_cluster_policy, ports_of_network_policy
from kubectl_policy.questions.why_not.connections.naming import NamedPods
from kubectl_policy.questions.why_not.connections.spelling import PEERS, ports_field, spell_pods, spell_range

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from ipaddress import IPv4Address, IPv6Address

    from kubectl_policy.model import GroupKind
    from kubectl_policy.network.policy import PolicyRules, Rule
    from kubectl_policy.questions.why_not.connections.case import Ports, Side

_EVERYWHERE: Final = {4: "0.0.0.0/0", 6: "::/0"}


def without_ports(side: Side, policy: PolicyRules, _: Rule, raw: Mapping[str, Json]) -> dict[str, Json] | None:
    """Return a rule without the ports of the connections; None if it would have none, that is, all.

    Names of ports stay, whatever their numbers.
    """
    kind, field = policy.ref.group_kind, ports_field(policy.ref.group_kind)
    remaining = [part for entry in items_at(raw, field) for part in _parts(kind, entry, side.ports)]
    return {**raw, field: remaining} if remaining else None


def _parts(kind: GroupKind, entry: Json, ports: Ports) -> Iterator[Json]:
    """Yield an entry as it is if it has none of some ports, else the ranges between them."""
    read = ports_of_network_policy if kind == NETWORK_POLICY else ports_of_cluster_policy
    matches = [*read(entry)] if isinstance(entry, Mapping) else []
    within = matches[0] if len(matches) == 1 and isinstance(matches[0], PortRange) else None
    inside = sorted(
        port
        for protocol, port in ports
        if within and protocol == within.protocol and within.first <= port <= within.last
    )
    if within is None or not inside:
        yield entry
        return
    starts, ends = [within.first, *(port + 1 for port in inside)], [*(port - 1 for port in inside), within.last]
    for first, last in zip(starts, ends, strict=True):
        if first <= last:
            yield spell_range(kind, PortRange(within.protocol, first, last))


def without_matching_peers(
    side: Side, policy: PolicyRules, rule: Rule, raw: Mapping[str, Json]
) -> dict[str, Json] | None:
    """Return a rule without the entries that match the peers of the connections; None if none would remain."""
    field, matching = PEERS[side.direction], side.positions_of_peers(policy, rule)
    remaining = [entry for position, entry in enumerate(items_at(raw, field)) if position not in matching]
    return {**raw, field: remaining} if matching and remaining else None


def without_peers(side: Side, policy: PolicyRules, rule: Rule, raw: Mapping[str, Json]) -> dict[str, Json] | None:
    """Return a rule whose entries match all that they matched but the peers of the connections; None if none can."""
    field = PEERS[side.direction]
    if rule.peers is None:
        everything = _all_but(side, policy) if policy.tier == "NetworkPolicy" else None
        return {**raw, field: everything} if everything else None
    entries = [*items_at(raw, field)]
    for position in side.positions_of_peers(policy, rule):
        narrowed = _narrowed(side, policy, cast("Mapping[str, Json]", entries[position]))
        if narrowed is None:
            return None
        entries[position] = narrowed
    return {**raw, field: entries}


def _all_but(side: Side, policy: PolicyRules) -> list[Json] | None:
    if side.peer.ip:
        return all_but_address(side.peer.ip)
    return all_but_pods(side.peer_pods, policy.ref.namespace) if side.peer_pods else None


def _narrowed(side: Side, policy: PolicyRules, entry: Mapping[str, Json]) -> dict[str, Json] | None:
    if side.peer.ip:
        block = mapping_at(entry, "ipBlock")
        return {"ipBlock": _without_address(block, side.peer.ip)} if block else None
    return _without_pods(policy.ref.group_kind, entry, side.peer_pods) if side.peer_pods else None


def _without_pods(kind: GroupKind, entry: Mapping[str, Json], pods: NamedPods) -> dict[str, Json] | None:
    """Return a peer, which is Pods by labels, without some Pods; None if no label tells these from all others."""
    of_cluster = {"namespaceSelector": entry["namespaces"]} if "namespaces" in entry else mapping_at(entry, "pods")
    holder = entry if kind == NETWORK_POLICY else of_cluster
    field = "podSelector" if pods.selector else "namespaceSelector"
    condition = _other_than(pods)
    is_by_labels = "podSelector" in holder or "namespaceSelector" in holder
    if condition is None or not is_by_labels or (not pods.selector and field not in holder):
        return None
    selector = mapping_at(holder, field)
    conditions: list[Json] = [*items_at(selector, "matchExpressions"), condition]
    narrowed: dict[str, Json] = {**holder, field: {**selector, "matchExpressions": conditions}}
    if kind == NETWORK_POLICY:
        return narrowed
    return {"pods": narrowed} if "podSelector" in narrowed else {"namespaces": narrowed["namespaceSelector"]}


def _other_than(pods: NamedPods) -> dict[str, Json] | None:
    """Return the condition that all Pods but some meet, or for a whole namespace, all namespaces but one."""
    labels = mapping_at(pods.selector, "matchLabels") if pods.selector else {NAME_LABEL: pods.namespace}
    conditions: Iterator[dict[str, Json]] = (
        {"key": key, "operator": "NotIn", "values": [value]} for key, value in labels.items()
    )
    return next(conditions, None)


def all_but_pods(pods: NamedPods, home: str) -> list[Json] | None:
    """Return peers of a NetworkPolicy of a namespace that are all Pods but some; None if no label tells these."""
    elsewhere: Json = {"namespaceSelector": {"matchExpressions": [_other_than(NamedPods(pods.namespace, {}))]}}
    if not pods.selector:
        return [elsewhere]
    whole = spell_pods(NETWORK_POLICY, NamedPods(pods.namespace, {}), home)
    inside = _without_pods(NETWORK_POLICY, whole, pods)
    return [elsewhere, inside] if inside else None


def all_but_address(address: IPv4Address | IPv6Address) -> list[Json]:
    """Return peers of a NetworkPolicy that are all Pods, and all addresses but one."""
    blocks = [
        _without_address({"cidr": cidr}, address) if version == address.version else {"cidr": cidr}
        for version, cidr in _EVERYWHERE.items()
    ]
    return [{"namespaceSelector": {}}, *({"ipBlock": block} for block in blocks)]


def _without_address(block: Mapping[str, Json], address: IPv4Address | IPv6Address) -> dict[str, Json]:
    """Return an `ipBlock` without an address."""
    return {**block, "except": [*items_at(block, "except"), str(ip_network(address))]}


# The ways to narrow a rule. Each returns None where it does not apply.
NARROWINGS: Final[tuple[Callable[[Side, PolicyRules, Rule, Mapping[str, Json]], dict[str, Json] | None], ...]] = (
    without_peers,
    without_ports,
    without_matching_peers,
)
