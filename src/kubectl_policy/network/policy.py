"""Network policies as values: the Pods they apply to, and rules with peers, ports and actions, of every kind alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias, get_args

from msgspec import Meta, Struct

if TYPE_CHECKING:
    from collections.abc import Mapping
    from ipaddress import IPv4Network, IPv6Network

    from kubectl_policy.model import FieldPath, Json, ObjectRef

Direction: TypeAlias = Literal["ingress", "egress"]
DIRECTIONS: Final[tuple[Direction, ...]] = get_args(Direction)
# The tiers in the order in which they are asked (ClusterNetworkPolicySpec.tier), and what holds if none decides.
Tier: TypeAlias = Literal["Admin", "NetworkPolicy", "Baseline", "Default"]
TIERS: Final[tuple[Tier, ...]] = get_args(Tier)
Action: TypeAlias = Literal["Allow", "Deny", "Pass"]
ACTIONS: Final[tuple[Action, ...]] = get_args(Action)
Protocol: TypeAlias = Literal["TCP", "UDP", "SCTP"]
PROTOCOLS: Final[tuple[Protocol, ...]] = get_args(Protocol)
MAX_PORT: Final = 65535


class Selection(Struct, frozen=True, kw_only=True):
    """Pods by labels of their namespaces and of their own."""

    # One namespace by its name, or a selector of namespaces.
    namespaces: str | Mapping[str, Json]
    # A selector of Pods; an empty one selects all.
    pods: Mapping[str, Json]


class Block(Struct, frozen=True, kw_only=True):
    """A range of addresses without some ranges inside it."""

    network: IPv4Network | IPv6Network
    excluded: tuple[IPv4Network | IPv6Network, ...] = ()


class Peer(Struct, frozen=True, kw_only=True, eq=False):
    """One entry of `from` or `to`; a connection matches it if it matches any of its parts."""

    field: FieldPath
    selection: Selection | None = None
    blocks: tuple[Block, ...] = ()
    # A selector of Nodes, by whose addresses traffic is matched.
    nodes: Mapping[str, Json] | None = None
    domain_names: tuple[str, ...] = ()
    # Whether something of the peer is still to be filled in, so that it may match anything.
    is_open: bool = False

    @property
    def is_understood(self) -> bool:
        """Whether any field of the peer is known."""
        return bool(self.selection or self.blocks or self.nodes is not None or self.domain_names or self.is_open)


class PortRange(Struct, frozen=True, order=True):
    """The ports of a protocol from the first to the last one."""

    protocol: Annotated[Protocol, Meta(description="TCP, UDP or SCTP.")]
    first: Annotated[int, Meta(description="The first port.")]
    last: Annotated[int, Meta(description="The last port.")]


class NamedPort(Struct, frozen=True):
    """The ports of the destination that have a name; of one protocol, or of any.

    What is still to be filled in, as the name `${PORT}`, may be any port.
    """

    name: str
    protocol: Protocol | None = None


PortMatch: TypeAlias = PortRange | NamedPort


class Rule(Struct, frozen=True, kw_only=True, eq=False):
    """One rule of a policy for one direction."""

    field: FieldPath
    # The name that the rule has; empty if it has none.
    name: str
    action: Action
    # None for everything; an empty tuple matches nothing.
    peers: tuple[Peer, ...] | None
    ports: tuple[PortMatch, ...] | None
    # Whether the action is still to be filled in, so that it may be any.
    is_open: bool = False

    @property
    def actions(self) -> tuple[Action, ...]:
        """The action, or all that it may be."""
        return ACTIONS if self.is_open else (self.action,)

    @property
    def title(self) -> str:
        """The name of the rule, or its place: `ingress[0]`."""
        return self.name or str(self.field).removeprefix("spec.")


class PolicyRules(Struct, frozen=True, kw_only=True, eq=False):
    """A network policy of any kind."""

    ref: ObjectRef
    tier: Tier
    # The lowest number comes first in its tier; None for policies that all count at once, and where it is not known.
    priority: int | None
    subject: Selection
    ingress: tuple[Rule, ...]
    egress: tuple[Rule, ...]
    # The directions in which nothing is allowed to the selected Pods but what rules allow.
    isolates: frozenset[Direction] = frozenset()
    # Whether something is still to be filled in, so that it may come before all others of its tier, or not count.
    is_open: bool = False

    def rules(self, direction: Direction) -> tuple[Rule, ...]:
        """Return the rules for a direction."""
        return self.ingress if direction == "ingress" else self.egress

    def concerns(self, direction: Direction) -> bool:
        """Whether the policy has a say in a direction."""
        return direction in self.isolates or bool(self.rules(direction))
