"""Side effects of edits of network policies and labels: other connections that they open, close, or may change."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from kubectl_policy.model import ObjectRef  # noqa: TC001 (answers are encoded by these types)
from kubectl_policy.model.kind_roles import NAMESPACE
from kubectl_policy.network.pairs import NetworkChange
from kubectl_policy.network.policy import PortRange
from kubectl_policy.network.reach import AddressRange
from kubectl_policy.questions.blind_spots.network import unread_for_network
from kubectl_policy.questions.connections.rule_views import ranges_phrase
from kubectl_policy.questions.differences.traffic import traffic_changes
from kubectl_policy.questions.why_not.edits import HARMS, Harm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.network.pairs import PortChange
    from kubectl_policy.questions.why_not.connections.case import ConnectionCase
    from kubectl_policy.questions.why_not.connections.trials import Trial

# What becomes of connections.
Outcome: TypeAlias = Literal["opened", "closed", "uncertain"]


class ChangedConnections(Struct, frozen=True, kw_only=True):
    """Connections other than those that were asked about with the same change."""

    pairs: Annotated[int, Meta(description="The number of pairs of workloads, by source and destination.", ge=0)]
    namespaces: Annotated[tuple[str, ...], Meta(description="The namespaces of these workloads.")]
    outside: Annotated[
        int, Meta(description="The number of workloads whose connections with addresses outside change.", ge=0)
    ]

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.pairs or self.outside)


class ConnectionSideEffects(Struct, frozen=True, kw_only=True):
    """The side effects of edits on connections."""

    opened: Annotated[ChangedConnections, Meta(description="Other connections that become allowed.")]
    closed: Annotated[ChangedConnections, Meta(description="Other connections that become denied.")]
    uncertain: Annotated[ChangedConnections, Meta(description="Other connections that may change.")]
    more_ports: Annotated[
        str, Meta(description="Further ports that change between the two ends themselves, for people; may be empty.")
    ]
    gaining: Annotated[tuple[ObjectRef, ...], Meta(description="Routes that receive more requests than before.")]
    losing: Annotated[tuple[ObjectRef, ...], Meta(description="Routes that receive fewer requests than before.")]
    may_miss_some: Annotated[
        bool, Meta(description="Whether workloads or policies that were not read may be concerned as well.")
    ]

    @property
    def harm(self) -> Annotated[Harm, Meta()]:
        """none: no side effects; some: side effects without loss; loss: other connections or traffic are lost."""
        if self.closed or self.losing:
            return "loss"
        return "some" if self.opened or self.uncertain or self.more_ports or self.gaining else "none"

    @property
    def rank(self) -> tuple[int, int, bool]:
        """Sort key, the least harmful first: by harm, then by the number of connections concerned."""
        changes = (self.opened, self.closed, self.uncertain)
        concerned = sum(change.pairs + change.outside for change in changes) + len(self.gaining) + len(self.losing)
        return HARMS.index(self.harm), concerned, bool(self.more_ports)


def side_effects(case: ConnectionCase, trial: Trial) -> ConnectionSideEffects:
    """Compare all connections before and after edits, but those that the edits are for."""
    comparison = trial.comparison
    asked = [PortRange(connection.protocol, connection.port, connection.port) for connection, _ in case.decided]
    change = NetworkChange(comparison.before.network, comparison.after.network, asked)
    tally = _Tally(case, change)
    tally.count_connections()
    tally.count_outside()
    is_about_routes = any(ref.group_kind == NAMESPACE for ref in comparison.changed)
    traffic = traffic_changes(comparison) if is_about_routes else None
    return ConnectionSideEffects(
        opened=tally.changed("opened"),
        closed=tally.changed("closed"),
        uncertain=tally.changed("uncertain"),
        more_ports=ranges_phrase(change.space.ranges_in(tally.more_ports)) if tally.more_ports else "",
        gaining=tuple(sorted(gained.route for gained in traffic.gained.routes)) if traffic else (),
        losing=tuple(sorted(lost.route for lost in traffic.lost.routes)) if traffic else (),
        may_miss_some=bool(unread_for_network(case.analysis, labels=False)),
    )


class _Tally:
    """Numbers of the connections that differ between two states, but for those that are asked about."""

    def __init__(self, case: ConnectionCase, change: NetworkChange) -> None:
        self._case, self._change = case, change
        self._wanted: Outcome = "opened" if case.wanted == "allowed" else "closed"
        self._asked = 0
        for connection, _ in case.decided:
            self._asked |= change.space.of_port(connection.protocol, connection.port)
        self._pairs: Counter[Outcome] = Counter()
        # The workloads at either end, and those with other connections with addresses outside.
        self._members: Counter[Outcome] = Counter()
        self._outside: Counter[Outcome] = Counter()
        self.more_ports = 0

    def count_connections(self) -> None:
        """Count the pairs of workloads."""
        ends = self._case.source.members, self._case.destination.members
        for changed in self._change.connections(self._change.concerned):
            for outcome, ports in _outcomes(changed.ports):
                sources, destinations = changed.sources, changed.destinations
                number = _pairs(sources, destinations)
                if outcome == self._wanted:
                    between = _pairs(sources & ends[0], destinations & ends[1])
                    self.more_ports |= ports & ~self._asked if between else 0
                    number -= between
                if number:
                    self._pairs[outcome] += number
                    self._members[outcome] |= sources | destinations

    def count_outside(self) -> None:
        """Count the workloads with other connections with addresses outside."""
        case = self._case
        end, other = (case.source, case.destination) if case.destination.ip else (case.destination, case.source)
        direction = "egress" if case.destination.ip else "ingress"
        asked = (AddressRange(other.ip, other.ip),) if other.ip else ()
        for changed in self._change.outside(self._change.concerned):
            is_asked = (changed.direction, changed.ranges) == (direction, asked)
            for outcome, ports in _outcomes(changed.ports):
                members = changed.members
                if is_asked and outcome == self._wanted:
                    self.more_ports |= ports & ~self._asked if members & end.members else 0
                    members &= ~end.members
                self._outside[outcome] |= members

    def changed(self, outcome: Outcome) -> ChangedConnections:
        """Return the numbers of the connections with an outcome."""
        members = self._members[outcome] | self._outside[outcome]
        homes = self._change.workloads.by_namespace.items()
        return ChangedConnections(
            pairs=self._pairs[outcome],
            namespaces=tuple(sorted(namespace for namespace, inhabitants in homes if inhabitants & members)),
            outside=self._outside[outcome].bit_count(),
        )


def _pairs(sources: int, destinations: int) -> int:
    """Return the number of pairs of two different workloads."""
    return sources.bit_count() * destinations.bit_count() - (sources & destinations).bit_count()


def _outcomes(change: PortChange) -> Iterator[tuple[Outcome, int]]:
    """Yield what becomes of ports, with the ports."""
    by_outcome: tuple[tuple[Outcome, int], ...] = (
        ("opened", change.opened),
        ("closed", change.closed),
        ("uncertain", change.uncertain),
    )
    return ((outcome, ports) for outcome, ports in by_outcome if ports)
