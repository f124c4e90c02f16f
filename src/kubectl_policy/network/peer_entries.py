"""Read the entries of `from` and `to` of network policies, and the Pods to which policies apply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import Json, strings_at, text_at, value_at
from kubectl_policy.network.entries import is_open, parse_cidr, selector_at
from kubectl_policy.network.policy import Block, Peer, Selection

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from kubectl_policy.model import FieldPath
    from kubectl_policy.network.entries import Entry

# The fields of peers by which an ingress rule and an egress rule of v1alpha1 and v1alpha2 match; a
# BaselineAdminNetworkPolicy has no domain names.
INGRESS_FIELDS: Final = frozenset({"namespaces", "pods"})
BASELINE_EGRESS_FIELDS: Final = INGRESS_FIELDS | {"nodes", "networks"}
EGRESS_FIELDS: Final = BASELINE_EGRESS_FIELDS | {"domainNames"}


def peer_of_network_policy(field: FieldPath, entry: Entry, namespace: str) -> Peer:
    """Read a NetworkPolicyPeer: "If ipBlock is set then neither of the other fields can be"."""
    if isinstance(entry, str) or is_open(value_at(entry, "ipBlock")):
        return Peer(field=field, is_open=True)
    block = value_at(entry, "ipBlock")
    if isinstance(block, Mapping):
        excluded = strings_at(block, "except")
        if any(map(is_open, (text_at(block, "cidr"), value_at(block, "except"), *excluded))):
            return Peer(field=field, is_open=True)
        return Peer(field=field, blocks=tuple(_blocks([text_at(block, "cidr")], excluded)))
    namespaces, pods = selector_at(entry, "namespaceSelector"), selector_at(entry, "podSelector")
    if namespaces is None and pods is None:
        return Peer(field=field)
    return Peer(
        field=field,
        selection=Selection(namespaces=namespace if namespaces is None else namespaces, pods=pods or {}),
    )


def peer_of_cluster_policy(field: FieldPath, entry: Entry, fields: Collection[str]) -> Peer:
    """Read a peer of a policy for the whole cluster, as far as it has some of the known fields."""
    if isinstance(entry, str):
        return Peer(field=field, is_open=True)
    known = {name: value for name in fields if (value := value_at(entry, name)) is not None}
    networks = strings_at(known, "networks")
    domain_names = strings_at(known, "domainNames")
    return Peer(
        field=field,
        selection=selection_of(known),
        blocks=tuple(_blocks(networks)),
        nodes=selector_at(known, "nodes"),
        domain_names=tuple(domain_names),
        is_open=any(map(is_open, (*known.values(), *networks, *domain_names))),
    )


def selection_of(holder: Mapping[str, Json]) -> Selection | None:
    """Read the subject of a policy, or a peer, by `namespaces` or by `pods`."""
    namespaces = selector_at(holder, "namespaces")
    if namespaces is not None:
        return Selection(namespaces=namespaces, pods={})
    pods = value_at(holder, "pods")
    if is_open(pods):
        return Selection(namespaces={}, pods=selector_at(holder, "pods") or {})
    if isinstance(pods, Mapping):
        namespaces = selector_at(pods, "namespaceSelector")
        return Selection(namespaces=namespaces or {}, pods=selector_at(pods, "podSelector") or {})
    return None


def _blocks(networks: Sequence[str], excluded: Sequence[str] = ()) -> Iterator[Block]:
    """Parse ranges of addresses; one that no API server accepts matches nothing."""
    for text in networks:
        network = parse_cidr(text)
        if network:
            yield Block(network=network, excluded=tuple(filter(None, map(parse_cidr, excluded))))
