"""Rules of network policies as answers show them: their action, peers and ports in words, and where they stand."""

from __future__ import annotations

from ipaddress import summarize_address_range
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.model import ObjectRef, Origin  # noqa: TC001 (answers are encoded by these types)
from kubectl_policy.model.kinds import listed
from kubectl_policy.model.selectors import selector_text
from kubectl_policy.network.policy import (
    MAX_PORT,
    Action,
    NamedPort,
    Peer,
    PolicyRules,
    PortMatch,
    PortRange,
    Rule,
    Selection,
    Tier,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.model.index import Index
    from kubectl_policy.network.policy import Block
    from kubectl_policy.network.reach import AddressRange

# A function from the location of an object and a field to the location of the field.
Locate: TypeAlias = "Callable[[Origin | None, str], Origin | None]"


NO_PORT: Final = "no port"


class PolicyView(Struct, frozen=True, kw_only=True):
    """A network policy, its tier and its place in it."""

    policy: Annotated[ObjectRef, Meta(description="The network policy.")]
    tier: Annotated[Tier, Meta(description="The tier in which the policy is evaluated.")]
    priority: Annotated[
        int | None, Meta(description="The priority in the tier, the lowest number first; null if it has none.")
    ]
    origin: Annotated[Origin | None, Meta(description="The location of the policy; null if unknown.")]


class RuleView(Struct, frozen=True, kw_only=True):
    """A rule of a network policy, or its isolation of the Pods that it selects."""

    policy: Annotated[PolicyView, "inline"]
    action: Annotated[Action, Meta(description="Whether the rule allows, denies, or passes on.")]
    rule: Annotated[
        str,
        Meta(description="The name of the rule, or its position; empty for the isolation by a NetworkPolicy."),
    ]
    field: Annotated[str, Meta(description="The path of the rule in the policy; empty for an isolation.")]
    origin: Annotated[Origin | None, Meta(description="The location of the rule; null if unknown.")]
    peers: Annotated[tuple[str, ...], Meta(description="The peers of the rule, for people; empty for any peer.")]
    ports: Annotated[tuple[str, ...], Meta(description="The ports of the rule, for people; empty for all ports.")]


def policy_view(index: Index, policy: PolicyRules) -> PolicyView:
    """Show a network policy."""
    resource = index.get(policy.ref)
    return PolicyView(
        policy=policy.ref,
        tier=policy.tier,
        priority=policy.priority,
        origin=resource.origin if resource else None,
    )


def rule_view(index: Index, policy: PolicyRules, rule: Rule | None, action: Action) -> RuleView:
    """Show a rule of a policy, or without a rule its isolation."""
    view = policy_view(index, policy)
    return RuleView(
        policy=view,
        action=action,
        rule=rule.title if rule else "",
        field=str(rule.field) if rule else "",
        origin=view.origin,
        peers=tuple(peer_phrase(peer, policy) for peer in (rule.peers or () if rule else ())),
        ports=tuple(port_phrase(port) for port in (rule.ports or () if rule else ())),
    )


def with_lines(views: tuple[RuleView, ...], locate: Locate) -> tuple[RuleView, ...]:
    """Return rules with the lines of their fields."""
    return tuple(replace(view, origin=locate(view.origin, view.field)) if view.field else view for view in views)


def peer_phrase(peer: Peer, policy: PolicyRules) -> str:
    """Name a peer: `Pods app=web in namespaces team=a`, `10.0.0.0/8 except 10.1.0.0/16`, `Nodes role=edge`."""
    parts = [selection_phrase(peer.selection, policy.ref.namespace)] if peer.selection else []
    parts += [_block_phrase(block) for block in peer.blocks]
    if peer.nodes is not None:
        parts.append(_selected("Nodes", peer.nodes))
    parts += peer.domain_names
    return " or ".join(parts) or ("what is still to be filled in" if peer.is_open else "a peer of no known field")


def selection_phrase(selection: Selection, home: str = "") -> str:
    """Name Pods by their labels and those of their namespaces; `home` is the namespace of the policy."""
    pods, namespaces = selection.pods, selection.namespaces
    if isinstance(namespaces, str):
        where = f"in namespace {namespaces}" if namespaces != home or not pods else ""
        return " ".join(filter(None, (_selected("Pods", pods) if pods else "all Pods", where)))
    if not pods:
        return f"all Pods in namespaces {selector_text(namespaces)}" if namespaces else "all Pods"
    return f"{_selected('Pods', pods)} in {_selected('namespaces', namespaces) if namespaces else 'all namespaces'}"


def _selected(noun: str, selector: Mapping[str, Json]) -> str:
    return f"{noun} {selector_text(selector)}" if selector else f"all {noun}"


def _block_phrase(block: Block) -> str:
    excluded = listed([str(network) for network in block.excluded])
    return f"{block.network} except {excluded}" if excluded else str(block.network)


def port_phrase(port: PortMatch) -> str:
    """Name ports: `TCP 80`, `UDP 8000-8080`, `all SCTP ports`, `TCP port http`."""
    if isinstance(port, NamedPort):
        return f"{port.protocol} port {port.name}" if port.protocol else f"port {port.name}"
    return range_phrase(port)


def range_phrase(ports: PortRange) -> str:
    """Name a range of ports: `TCP 80`, `UDP 8000-8080`, `all SCTP ports`."""
    if (ports.first, ports.last) == (1, MAX_PORT):
        return f"all {ports.protocol} ports"
    numbers = str(ports.first) if ports.first == ports.last else f"{ports.first}-{ports.last}"
    return f"{ports.protocol} {numbers}"


def ranges_phrase(ranges: Sequence[PortRange]) -> str:
    """Name ranges of ports: `all ports`, `no port`, `TCP 80 and UDP 53`."""
    if not ranges:
        return NO_PORT
    whole = [ports for ports in ranges if (ports.first, ports.last) == (1, MAX_PORT)]
    return "all ports" if len(whole) == 3 else listed([range_phrase(ports) for ports in ranges])  # noqa: PLR2004 (protocols)


def addresses_phrase(ranges: Sequence[AddressRange]) -> tuple[str, ...]:
    """Name ranges of addresses: `any address`, or each as a network or from its first to its last address."""
    whole = [str(found) for found in map(_network, ranges)]
    return ("any address",) if {"0.0.0.0/0", "::/0"} <= set(whole) else tuple(whole)


def _network(found: AddressRange) -> str:
    networks = list(islice(summarize_address_range(found.first, found.last), 2))
    return str(networks[0]) if len(networks) == 1 else f"{found.first}-{found.last}"
