"""Read the entries of `ports` and `protocols` of network policies: numbers, ranges and names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import Json, mapping_at, text_at, value_at
from kubectl_policy.network.entries import is_open
from kubectl_policy.network.policy import MAX_PORT, PROTOCOLS, NamedPort, PortMatch, PortRange, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.network.entries import Entry

_PROTOCOL_FIELDS: Final[Mapping[str, Protocol]] = {"tcp": "TCP", "udp": "UDP", "sctp": "SCTP"}
_UNKNOWN: Final = NamedPort("<unknown>")


def ports_of_network_policy(entry: Entry) -> Iterator[PortMatch]:
    """Read a NetworkPolicyPort: protocol TCP by default; without a port, all ports of the protocol.

    An entry that no API server accepts matches nothing.
    """
    if isinstance(entry, str):
        yield NamedPort(entry)
        return
    port, protocol = value_at(entry, "port"), _protocol(value_at(entry, "protocol"))
    if protocol is None:
        yield from _open_protocol(entry)
    elif isinstance(port, str):
        yield NamedPort(port, protocol)
    elif port is None:
        yield PortRange(protocol, 1, MAX_PORT)
    else:
        yield from _range(protocol, port, value_at(entry, "endPort"))


def ports_of_cluster_policy(entry: Entry) -> Iterator[PortMatch]:
    """Read an AdminNetworkPolicyPort of v1alpha1, or a ClusterNetworkPolicyProtocol of v1alpha2.

    An entry of no known field is one of a later version, which may match any port.
    """
    if isinstance(entry, str):
        yield NamedPort(entry)
        return
    name = text_at(entry, "namedPort") or text_at(entry, "destinationNamedPort")
    fields = [field for field in (*_PROTOCOL_FIELDS, "portNumber", "portRange") if value_at(entry, field) is not None]
    if name:
        yield NamedPort(name)
    elif not fields:
        yield _UNKNOWN
    for field in fields:
        port = value_at(entry, field)
        if is_open(port):
            yield NamedPort(port, _PROTOCOL_FIELDS.get(field))
        elif field in _PROTOCOL_FIELDS:
            yield from _destination_port(_PROTOCOL_FIELDS[field], value_at(port, "destinationPort"))
        else:
            yield from _port_with_protocol(port)


def _port_with_protocol(port: Json) -> Iterator[PortMatch]:
    """Read `portNumber` or `portRange` of v1alpha1."""
    protocol = _protocol(value_at(port, "protocol"))
    if protocol is None:
        yield from _open_protocol(port)
        return
    is_range = value_at(port, "port") is None
    yield from _range(protocol, value_at(port, "start" if is_range else "port"), value_at(port, "end"))


def _destination_port(protocol: Protocol, port: Json) -> Iterator[PortMatch]:
    """Read `destinationPort` of v1alpha2; without it, all ports of the protocol."""
    numbers = mapping_at(port, "range")
    if is_open(port):
        yield NamedPort(port, protocol)
    elif port is None:
        yield PortRange(protocol, 1, MAX_PORT)
    elif value_at(port, "number") is not None:
        yield from _range(protocol, value_at(port, "number"), None)
    elif is_open(value_at(port, "range")):
        yield NamedPort(text_at(port, "range"), protocol)
    else:
        yield from _range(protocol, value_at(numbers, "start"), value_at(numbers, "end"))


def _range(protocol: Protocol, first: Json, last: Json) -> Iterator[PortMatch]:
    """Return the ports from one to another one; an end that is still to be filled in may be any."""
    for end in (first, last):
        if is_open(end):
            yield NamedPort(end, protocol)
    begin, end_number = _number(first), _number(first if last is None or is_open(last) else last)
    if begin is not None and end_number is not None:
        begin, end_number = max(begin, 1), min(end_number, MAX_PORT)
        if begin <= end_number:
            yield PortRange(protocol, begin, end_number)


def _number(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _open_protocol(entry: Json) -> Iterator[NamedPort]:
    protocol = value_at(entry, "protocol")
    if is_open(protocol):
        yield NamedPort(protocol)


def _protocol(value: Json) -> Protocol | None:
    """Return a protocol, by default TCP; None for any other value."""
    return next((protocol for protocol in PROTOCOLS if protocol == value), None) if value else "TCP"
