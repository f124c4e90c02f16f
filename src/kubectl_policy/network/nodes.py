"""Nodes of a snapshot: which Node an address is of, and which Nodes a selector selects."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from kubectl_policy.model import ObjectRef
from kubectl_policy.model.fields import labels_of, mappings_at, text_at
from kubectl_policy.model.kind_roles import NODE
from kubectl_policy.model.selectors import keys_of, selects
from kubectl_policy.topology.workloads.workload import parse_address

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from ipaddress import IPv4Address, IPv6Address

    from kubectl_policy.model import Json
    from kubectl_policy.topology.workloads import Workload, Workloads


class Nodes:
    """The Nodes that were read, and those that Pods name."""

    def __init__(self, workloads: Workloads) -> None:
        """Read nothing before it is asked for."""
        self._workloads = workloads

    @cached_property
    def by_address(self) -> Mapping[IPv4Address | IPv6Address, frozenset[str]]:
        """The names of the Nodes with an address, by their own status or that of their Pods."""
        names: dict[IPv4Address | IPv6Address, set[str]] = {}
        for address, name in self._addresses():
            names.setdefault(address, set()).add(name)
        return {address: frozenset(nodes) for address, nodes in names.items()}

    def _addresses(self) -> Iterator[tuple[IPv4Address | IPv6Address, str]]:
        for resource in self._workloads.index.of_kind(NODE):
            for entry in mappings_at(resource.raw, "status.addresses"):
                # Names of a host are among the addresses.
                if address := parse_address(text_at(entry, "address")):
                    yield address, resource.ref.name
        for workload in self._workloads.all:
            if workload.node:
                addresses = workload.addresses if workload.is_on_host_network else ()
                yield from ((address, workload.node) for address in (*workload.host_addresses, *addresses))

    def of(self, workload: Workload) -> frozenset[str]:
        """Return the Nodes on which a workload may run; none if that is not known."""
        if workload.node:
            return frozenset({workload.node})
        addresses = (*workload.host_addresses, *(workload.addresses if workload.is_on_host_network else ()))
        return frozenset(name for address in addresses for name in self.by_address.get(address, ()))

    @cached_property
    def are_known(self) -> bool:
        """Whether there is no Node but those that were read."""
        index = self._workloads.index
        is_hidden = any(gap.covers(ObjectRef(NODE, "", gap.name)) for gap in index.snapshot.gaps)
        return index.presence(ObjectRef(NODE, "", "")) == "missing" and not is_hidden

    def selects_any(self, selector: Mapping[str, Json], names: Iterable[str]) -> bool | None:
        """Whether a selector selects one of some Nodes; None if that is not known."""
        return any_of(self._selects(selector, name) for name in names)

    def selects_all(self, selector: Mapping[str, Json]) -> bool | None:
        """Whether a selector selects whatever Node there is; None if it selects some, or if that is not known."""
        if not keys_of(selector):
            return True
        verdicts = {self._selects(selector, name) for name in self._labels}
        is_unknown = None in verdicts or len(verdicts) > 1 or not self.are_known
        return None if is_unknown else True in verdicts

    def _selects(self, selector: Mapping[str, Json], name: str) -> bool | None:
        labels = self._labels.get(name)
        if labels is not None:
            return selects(selector, labels)
        # "If present but empty, it selects all Nodes."
        is_missing = self._workloads.index.presence(ObjectRef(NODE, "", name)) == "missing"
        return True if not keys_of(selector) else False if is_missing else None

    @cached_property
    def _labels(self) -> Mapping[str, Mapping[str, str]]:
        return {resource.ref.name: labels_of(resource.raw) for resource in self._workloads.index.of_kind(NODE)}


def any_of(verdicts: Iterable[bool | None]) -> bool | None:
    """Whether one of some verdicts is true; None if one of them is not known, and none is true."""
    is_unknown = False
    for verdict in verdicts:
        if verdict:
            return True
        is_unknown |= verdict is None
    return None if is_unknown else False
