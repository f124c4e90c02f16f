"""All network policies of a snapshot with its workloads: which policies select a workload, and what rules match."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.unknown import is_unfilled
from kubectl_policy.network.evaluation import Chain, Selecting, chain_of
from kubectl_policy.network.kinds import EVALUATED_KINDS
from kubectl_policy.network.peers import Matching
from kubectl_policy.network.policy import DIRECTIONS, MAX_PORT, PROTOCOLS, NamedPort, PolicyRules, PortRange, Protocol
from kubectl_policy.network.ports import PortSpace, declared_names, declared_ranges
from kubectl_policy.network.reading import read_policy
from kubectl_policy.network.subjects import Subjects, are_workloads_read, gaps_with_workloads

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.model.index import Index
    from kubectl_policy.network.evaluation import Ports
    from kubectl_policy.network.policy import Direction, Rule
    from kubectl_policy.topology.workloads import Workload, Workloads


# The ports of a destination that certainly have a name, and those that may have it, as sets of a `PortSpace`.
Numbers: TypeAlias = "Callable[[NamedPort], Ports]"


class Network:
    """The network policies of one snapshot. Nothing is computed before it is asked for."""

    def __init__(self, index: Index, workloads: Workloads) -> None:
        """Read the policies of an index, about some workloads."""
        self.index, self.workloads = index, workloads
        self.matching = Matching(workloads)
        # Policies of another state that are the same in this one.
        self._unchanged: Mapping[ObjectRef, PolicyRules] = {}

    def in_state(self, index: Index, changed: Collection[ObjectRef]) -> Network:
        """Return the network of another state, which differs in some policies alone; all else is shared."""
        network = Network(index, self.workloads)
        network.matching = self.matching
        network._unchanged = {ref: policy for ref, policy in self.by_ref.items() if ref not in changed}
        return network

    @cached_property
    def policies(self) -> tuple[PolicyRules, ...]:
        """The network policies of all kinds that are evaluated, by kind and name."""
        return tuple(self.policy(resource.ref) for kind in EVALUATED_KINDS for resource in self.index.of_kind(kind))

    @cached_method
    def policy(self, ref: ObjectRef) -> PolicyRules:
        """Return a network policy; no other one is read for that. Raises `KeyError` for a policy that was not read."""
        resource = self.index.get(ref)
        if resource is None:
            raise KeyError(ref)
        return self._unchanged.get(ref) or read_policy(resource, self.index.defaulted(ref))

    def subjects_of(self, ref: ObjectRef) -> Subjects:
        """Return the workloads to which a network policy applies. Raises `KeyError` as `policy` does."""
        policy, gaps = self.policy(ref), tuple(gaps_with_workloads(self.index, ref.namespace))
        return Subjects(
            pods=self.matching.subjects(policy),
            gaps=gaps,
            may_have_more=bool(gaps) or not are_workloads_read(self.index, ref.namespace),
            has_rules=any(map(policy.concerns, DIRECTIONS)),
            _workloads=self.workloads,
        )

    @cached_property
    def by_ref(self) -> Mapping[ObjectRef, PolicyRules]:
        """The network policies by their names."""
        return {policy.ref: policy for policy in self.policies}

    def selecting(self, position: int) -> tuple[Selecting, ...]:
        """Return the policies that select a workload, or may do so."""
        verdicts = ((policy, self.matching.subjects(policy).has(position)) for policy in self.policies)
        return tuple(Selecting(policy, bool(verdict)) for policy, verdict in verdicts if verdict is not False)

    @cached_method
    def chain(self, position: int, direction: Direction) -> Chain:
        """Return the policies that decide about connections of a workload in one direction."""
        return chain_of(self.selecting(position), direction)

    @cached_property
    def ranges(self) -> frozenset[PortRange]:
        """The ranges of ports that rules tell apart, also by the names of ports of Pods."""
        return frozenset(declared_ranges(self.policies)) | self._named

    @cached_property
    def space(self) -> PortSpace:
        """The ports, as far as rules tell them apart."""
        return PortSpace(self.ranges)

    @property
    def _named(self) -> frozenset[PortRange]:
        names = {named.name for named in declared_names(self.policies)}
        resolved = {port for name in names for certain, _ in self.workloads.by_named_port(name) for port in certain}
        return frozenset(PortRange(protocol, number, number) for protocol, number in _valid(resolved))


def _valid(ports: Collection[tuple[str, int]]) -> Iterator[tuple[Protocol, int]]:
    for protocol in PROTOCOLS:
        for name, number in ports:
            if name == protocol and 1 <= number <= MAX_PORT:
                yield protocol, number


def own_ports(workload: Workload) -> Iterator[PortRange]:
    """Yield the ports that the containers of a workload declare."""
    declared = {(port.protocol, port.number) for port in workload.ports}
    return (PortRange(protocol, number, number) for protocol, number in _valid(declared))


def ports_of(space: PortSpace, rule: Rule, numbers: Numbers) -> Ports:
    """Return the ports that a rule certainly matches, and those that it may match.

    `numbers` gives the ports of the destination by a name. A port that is still to be filled in may be any.
    """
    if rule.ports is None:
        return space.everything, space.everything
    certain = possible = 0
    for port in rule.ports:
        if isinstance(port, PortRange):
            certain |= space.of_range(port)
        elif is_unfilled(port.name):
            possible |= space.of_protocol(port.protocol)
        else:
            named, perhaps_named = numbers(port)
            certain |= named
            possible |= perhaps_named
    return certain, certain | possible


def named_ports(space: PortSpace, destination: Workload | None) -> Numbers:
    """Return a function that resolves names of ports at a destination; outside of the cluster there are none.

    The ports of a node have no names, unless the network plugin tells it from the Pods on its network.
    """

    def numbers(port: NamedPort) -> Ports:
        if destination is None:
            return 0, 0
        certain = possible = 0
        for protocol, number in _valid(destination.named_ports(port.name, port.protocol)):
            certain |= space.of_port(protocol, number)
        for name in destination.open_ports(port.name):
            if port.protocol in {None, name}:
                possible |= space.of_protocol(name)
        return (0 if destination.is_on_host_network else certain), certain | possible

    return numbers
