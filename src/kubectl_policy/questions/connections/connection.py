"""Answer whether workloads may connect to others: the verdict for each port, alike pairs together."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.errors import UsageError
from kubectl_policy.network.connection import Connection, Endpoint, ports_between
from kubectl_policy.network.policy import MAX_PORT, PROTOCOLS, PortRange
from kubectl_policy.network.reach import Reach
from kubectl_policy.questions.blind_spots.network import unevaluated_policies, unread_for_network
from kubectl_policy.questions.blind_spots.unknowns import BLIND_SPOTS, Answer, BlindSpot
from kubectl_policy.questions.connections.verdicts import Verdict, verdict_on, verdict_with_lines
from kubectl_policy.questions.connections.workload_sets import WorkloadSet, join_pairs, workload_set
from kubectl_policy.topology.workloads.pod_sets import positions_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.network.evaluation import Allowed
    from kubectl_policy.network.policy import Protocol
    from kubectl_policy.questions.connections.endpoints import NamedEnd
    from kubectl_policy.questions.connections.rule_views import Locate
    from kubectl_policy.topology.workloads import Workloads
    from kubectl_policy.topology.workloads.services import ServicePort


class PortQuery(Struct, frozen=True):
    """A port as it is asked for: a number or a name, and a protocol; an empty one is any."""

    port: int | str
    protocol: Protocol | None = None

    @classmethod
    def parse(cls, text: str) -> PortQuery:
        """Parse `80`, `80/UDP`, `http` or `http/TCP`. Raises `UsageError` for anything else."""
        port, slash, protocol_text = text.partition("/")
        protocol: Protocol | None = next((name for name in PROTOCOLS if name == protocol_text.upper()), None)
        is_number = port.isascii() and port.isdigit()
        if not port or (slash and protocol is None) or (is_number and not 1 <= int(port[:6]) <= MAX_PORT):
            raise UsageError(f'"{text}" is no port', "for example: --port 80, --port 53/UDP, --port http")
        return cls(int(port) if is_number else port, protocol)


class CheckedConnection(Struct, frozen=True, kw_only=True):
    """The verdict on the connections of some workloads with others, which are all alike."""

    sources: Annotated[
        WorkloadSet | None, Meta(description="The workloads that connect; null for an address outside of the cluster.")
    ]
    destinations: Annotated[
        WorkloadSet | None,
        Meta(description="The workloads to which they connect; null for an address outside of the cluster."),
    ]
    service_port: Annotated[
        ServicePort | None, Meta(description="The port of the Service that leads to the port; null without a Service.")
    ]
    verdict: Annotated[Verdict, "inline"]


class OpenBetween(Struct, frozen=True, kw_only=True):
    """The ports on which some workloads may connect to others, whichever is asked about."""

    sources: Annotated[
        WorkloadSet | None, Meta(description="The workloads that connect; null for an address outside of the cluster.")
    ]
    destinations: Annotated[
        WorkloadSet | None,
        Meta(description="The workloads to which they connect; null for an address outside of the cluster."),
    ]
    allowed: Annotated[tuple[PortRange, ...], Meta(description="The ports that both sides allow.")]
    undecided: Annotated[
        tuple[PortRange, ...], Meta(description="The ports of which it is not known whether both sides allow them.")
    ]


class ConnectionDescription(Answer, frozen=True, kw_only=True):
    """The answer about connections between two ends."""

    source: Annotated[NamedEnd, Meta(description="The end that connects.")]
    destination: Annotated[NamedEnd, Meta(description="The end to which it connects.")]
    connections: Annotated[
        tuple[CheckedConnection, ...], Meta(description="The verdicts, by port and by pairs of workloads.")
    ]
    open: Annotated[tuple[OpenBetween, ...], Meta(description="All ports that are allowed, by pairs of workloads.")]
    unseen: Annotated[tuple[BlindSpot, ...], Meta(description=BLIND_SPOTS)]

    @property
    def allowed(self) -> Annotated[bool | None, Meta()]:
        """Whether all connections are allowed; null if only some are, or if that is not known."""
        verdicts = {checked.verdict.allowed for checked in self.connections}
        if not verdicts:
            verdicts = {None if between.undecided else bool(between.allowed) for between in self.open}
        return verdicts.pop() if len(verdicts) == 1 else None

    @property
    def found_nothing(self) -> bool:
        """Whether the verdict is not known."""
        is_unknown = any(checked.verdict.allowed is None for checked in self.connections)
        return is_unknown or (not self.connections and any(between.undecided for between in self.open))


def describe_connection(
    analysis: Analysis, source: NamedEnd, destination: NamedEnd, port: PortQuery | None
) -> ConnectionDescription:
    """Return the verdicts on the connections between two ends, to one port or to those that the destination declares.

    Raises `UsageError` for a port of a Service, or a name of a port, that the destination does not have.
    """
    workloads = analysis.workloads
    reach = Reach(analysis.network, analysis.network.space)
    pairs = tuple(_pairs(reach, source, destination))
    connections = tuple(_checked(analysis, pairs, source, destination, port))
    if port and not connections:
        raise UsageError(f"{destination.object or destination.address} has no port {port.port}", "name another --port")
    members = source.members | destination.members
    namespaces = frozenset(workloads.all[position].ref.namespace for position in positions_in(members))
    opened = tuple(_open(reach, pairs, source, destination))
    is_unknown = any(checked.verdict.allowed is None for checked in connections) or any(
        between.undecided for between in opened
    )
    return ConnectionDescription(
        source=source,
        destination=destination,
        connections=connections,
        open=opened,
        place=analysis.index.source,
        unseen=(
            *unread_for_network(analysis, namespaces, (), labels=is_unknown),
            *unevaluated_policies(
                analysis,
                {"egress": source.members, "ingress": destination.members},
                outside=not (source.members and destination.members),
            ),
        ),
    )


def _open(
    reach: Reach, pairs: Iterable[tuple[int, int]], source: NamedEnd, destination: NamedEnd
) -> Iterator[OpenBetween]:
    """Yield the ports that are allowed between workloads that are alike."""
    alike: dict[Allowed, list[tuple[int, int]]] = {}
    for senders, receivers in pairs:
        ends = _representatives(senders, receivers, source, destination)
        alike.setdefault(ports_between(reach.network, reach.space, *ends), []).append((senders, receivers))
    for ports, together in alike.items():
        for senders, receivers in join_pairs(together):
            sources, destinations = _sets(reach.network.workloads, senders, receivers)
            yield OpenBetween(
                sources=sources,
                destinations=destinations,
                allowed=reach.space.ranges_in(ports.certain),
                undecided=reach.space.ranges_in(ports.undecided),
            )


def with_rule_lines(answer: ConnectionDescription, locate: Locate) -> ConnectionDescription:
    """Return the answer with the lines of rules instead of those of their policies."""
    return replace(
        answer,
        connections=tuple(
            replace(checked, verdict=verdict_with_lines(checked.verdict, locate)) for checked in answer.connections
        ),
    )


def _checked(
    analysis: Analysis,
    pairs: Iterable[tuple[int, int]],
    source: NamedEnd,
    destination: NamedEnd,
    query: PortQuery | None,
) -> Iterator[CheckedConnection]:
    """Yield the verdicts, each for workloads that are alike on both ends."""
    alike: dict[tuple[ServicePort | None, Verdict], list[tuple[int, int]]] = {}
    for senders, receivers in pairs:
        for service_port, connection in _examples(analysis, (senders, receivers), source, destination, query):
            verdict = verdict_on(analysis.network, connection)
            alike.setdefault((service_port, verdict), []).append((senders, receivers))
    for (service_port, verdict), together in alike.items():
        for senders, receivers in join_pairs(together):
            sources, destinations = _sets(analysis.workloads, senders, receivers)
            yield CheckedConnection(
                sources=sources, destinations=destinations, service_port=service_port, verdict=verdict
            )


def example_connections(
    analysis: Analysis, source: NamedEnd, destination: NamedEnd, query: PortQuery | None
) -> tuple[Connection, ...]:
    """Return one connection between two ends for all that no rule tells apart, to the ports that are asked for."""
    reach = Reach(analysis.network, analysis.network.space)
    examples = (
        connection
        for pair in _pairs(reach, source, destination)
        for _, connection in _examples(analysis, pair, source, destination, query)
    )
    return tuple(dict.fromkeys(examples))


def _examples(
    analysis: Analysis, pair: tuple[int, int], source: NamedEnd, destination: NamedEnd, query: PortQuery | None
) -> Iterator[tuple[ServicePort | None, Connection]]:
    """Yield a connection between workloads of two sets for each port that is asked for."""
    sender, receiver = _representatives(*pair, source, destination)
    for service_port, protocol, number in _ports(analysis, destination, receiver.position, query):
        yield service_port, Connection(source=sender, destination=receiver, protocol=protocol, port=number)


def _sets(workloads: Workloads, senders: int, receivers: int) -> tuple[WorkloadSet | None, WorkloadSet | None]:
    return (
        workload_set(workloads, senders) if senders else None,
        workload_set(workloads, receivers) if receivers else None,
    )


def _representatives(
    senders: int, receivers: int, source: NamedEnd, destination: NamedEnd
) -> tuple[Endpoint, Endpoint]:
    """Return one workload of each set, or the address; two different ones if there are, as a Pod reaches itself."""
    sender = next(positions_in(senders & ~receivers or senders), None)
    another = receivers if sender is None else receivers & ~(1 << sender)
    receiver = next(positions_in(another or receivers), None)
    return Endpoint(position=sender, address=source.ip), Endpoint(position=receiver, address=destination.ip)


def _pairs(reach: Reach, source: NamedEnd, destination: NamedEnd) -> Iterator[tuple[int, int]]:
    """Yield workloads of both ends that no rule tells apart; 0 for an address outside."""
    on_nodes = reach.network.workloads.on_host_network
    pods = [end.members & ~on_nodes for end in (source, destination)]
    if source.members and destination.members:
        yield from reach.alike(*pods)
    else:
        yield from ((subject.members, 0) for subject in reach.classes_of(pods[0], "egress"))
        yield from ((0, subject.members) for subject in reach.classes_of(pods[1], "ingress"))
    # What is on the network of a node may be alike by its rules, and differ by its node.
    for sender in _single(source.members):
        for receiver in _single(destination.members):
            if (sender | receiver) & on_nodes:
                yield sender, receiver


def _single(members: int) -> list[int]:
    return [1 << position for position in positions_in(members)] or [0]


def _ports(
    analysis: Analysis, destination: NamedEnd, receiver: int | None, query: PortQuery | None
) -> Iterator[tuple[ServicePort | None, Protocol, int]]:
    """Yield the ports of a destination that are asked for, with the port of a Service that leads there."""
    workload = None if receiver is None else analysis.workloads.all[receiver]
    if destination.ports and workload:
        for service_port in destination.ports:
            if query is None or _is_meant(query, service_port.port, service_port.name, service_port.protocol):
                numbers = service_port.numbers_at(workload)
                for protocol, number in product(_protocols(service_port.protocol), numbers):
                    yield service_port, protocol, number
        return
    declared = [(port.number, port.name, port.protocol) for port in (workload.ports if workload else ())]
    meant = [port for port in declared if query is None or _is_meant(query, *port)]
    if not meant and query and isinstance(query.port, int):
        meant = [(query.port, "", query.protocol or "TCP")]
    for number, _, protocol_text in dict.fromkeys(meant):
        for protocol in _protocols(protocol_text):
            yield None, protocol, number


def _is_meant(query: PortQuery, number: int, name: str, protocol: str) -> bool:
    # An unnamed port of a Service is called by its number.
    is_port = query.port == number if isinstance(query.port, int) else query.port in {name, str(number)}
    return is_port and query.protocol in {None, protocol}


def _protocols(text: str) -> Iterable[Protocol]:
    return (protocol for protocol in PROTOCOLS if protocol == text)
