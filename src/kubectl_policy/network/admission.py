"""Values in NetworkPolicies that an API server rejects, with the fields where they stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

from kubectl_policy.lazy import pattern
from kubectl_policy.model.fields import FieldPath, Json, each_mapping, items_at, mapping_at, text_at, value_at
from kubectl_policy.model.unknown import is_unfilled
from kubectl_policy.network.entries import is_open, parse_cidr
from kubectl_policy.network.policy import DIRECTIONS, MAX_PORT, PROTOCOLS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from ipaddress import IPv4Network, IPv6Network

    _Network: TypeAlias = IPv4Network | IPv6Network

PEER_LISTS: Final = ("spec.ingress.from", "spec.egress.to")
PORT_LISTS: Final = ("spec.ingress.ports", "spec.egress.ports")
_TYPES: Final = [direction.title() for direction in DIRECTIONS]
_SELECTORS: Final = ("podSelector", "namespaceSelector")
_BLOCK: Final = "ipBlock"
# Operators of a metav1.LabelSelectorRequirement, and whether they need values.
_OPERATORS: Final[Mapping[str, bool]] = {"In": True, "NotIn": True, "Exists": False, "DoesNotExist": False}
# A name of a port (apimachinery, util/validation, IsValidPortName).
_PORT_NAME: Final = pattern(r"(?=.{1,15}\Z)(?=[^a-z]*[a-z])[a-z0-9]+(-[a-z0-9]+)*")
# The characters of a wrong value that a message has.
_MAX_SHOWN: Final = 80


class Rejection(Struct, frozen=True, gc=False):
    """A field of an object for which an API server rejects the object, and the problem in words."""

    field: str
    message: str


def rejections(raw: Mapping[str, Json]) -> Iterator[Rejection]:
    """Yield what an API server rejects in a NetworkPolicy (kubernetes, pkg/apis/networking/validation).

    Values that are still to be filled in are left out.
    """
    yield from _rejected_types(items_at(raw, "spec.policyTypes"))
    yield from _rejected_selector(FieldPath.parse("spec.podSelector"), mapping_at(raw, "spec.podSelector"))
    for entries in PORT_LISTS:
        for field, port in each_mapping(raw, entries):
            yield from _rejected_port(field, port)
    for entries in PEER_LISTS:
        for field, peer in each_mapping(raw, entries):
            yield from _rejected_peer(field, peer)


def _rejected_types(types: Sequence[Json]) -> Iterator[Rejection]:
    if len(types) > len(_TYPES):
        yield Rejection("spec.policyTypes", "there are more than two policy types")
    for position, name in enumerate(types):
        if name not in _TYPES and not is_open(name):
            message = f"{shown(name)} is no policy type, only {' and '.join(_TYPES)} are"
            yield Rejection(f"spec.policyTypes[{position}]", message)


def _rejected_selector(field: FieldPath, selector: Mapping[str, Json]) -> Iterator[Rejection]:
    for path, requirement in each_mapping(selector, "matchExpressions"):
        operator, values = text_at(requirement, "operator"), items_at(requirement, "values")
        at = str(FieldPath((*field.steps, *path.steps)))
        if is_unfilled(operator):
            continue
        if operator not in _OPERATORS:
            known = ", ".join(_OPERATORS)
            yield Rejection(f"{at}.operator", f"{shown(operator)} is no operator of a selector, only {known} are")
        elif _OPERATORS[operator] and not values:
            yield Rejection(at, f"operator {operator} needs values")
        elif values and not _OPERATORS[operator]:
            yield Rejection(f"{at}.values", f"operator {operator} takes no values")


def _rejected_port(field: FieldPath, entry: Mapping[str, Json]) -> Iterator[Rejection]:
    protocol, port, end = (value_at(entry, name) for name in ("protocol", "port", "endPort"))
    if protocol is not None and protocol not in PROTOCOLS and not is_open(protocol):
        yield Rejection(f"{field}.protocol", f"{shown(protocol)} is no protocol, only {', '.join(PROTOCOLS)} are")
    if isinstance(port, str) and is_unfilled(port):
        return
    if isinstance(port, str) and not _PORT_NAME.fullmatch(port):
        hint = "; a number stands without quotes" if port.isdigit() else ""
        yield Rejection(f"{field}.port", f'"{shown(port)}" is no name of a port{hint}')
    if not isinstance(port, str | None):
        yield from rejected_numbers({f"{field}.port": port})
    if end is None or is_open(end):
        return
    yield from rejected_numbers({f"{field}.endPort": end})
    if port is None:
        yield Rejection(f"{field}.endPort", "endPort needs port, where the range begins")
    elif isinstance(port, str):
        yield Rejection(f"{field}.endPort", f"endPort needs a number as port, and {port} is a name")
    elif isinstance(port, int) and isinstance(end, int) and end < port:
        yield Rejection(f"{field}.endPort", f"endPort {end} is lower than port {port}")


def rejected_numbers(ports: Mapping[str, Json]) -> Iterator[Rejection]:
    """Yield the values, by their fields, that are no numbers of ports."""
    for field, number in ports.items():
        if not (is_open(number) or _is_port(number)):
            yield Rejection(field, f"{shown(number)} is no port: ports are numbers from 1 to {MAX_PORT}")


def _is_port(number: Json) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= MAX_PORT


def _rejected_peer(field: FieldPath, peer: Mapping[str, Json]) -> Iterator[Rejection]:
    names = [name for name in (*_SELECTORS, _BLOCK) if value_at(peer, name) is not None]
    if not names:
        yield Rejection(str(field), "it names no peer: podSelector, namespaceSelector or ipBlock")
    elif _BLOCK in names and len(names) > 1:
        yield Rejection(str(field), f"{_BLOCK} cannot stand beside {names[0]}")
    for name in _SELECTORS:
        yield from _rejected_selector(field / name, mapping_at(peer, name))
    if _BLOCK in names:
        yield from _rejected_block(f"{field}.{_BLOCK}", mapping_at(peer, _BLOCK))


def _rejected_block(field: str, block: Mapping[str, Json]) -> Iterator[Rejection]:
    text = text_at(block, "cidr")
    if is_unfilled(text):
        return
    cidr = parse_cidr(text)
    if cidr is None:
        yield Rejection(f"{field}.cidr", not_a_range(text))
    for position, excluded in enumerate(items_at(block, "except")):
        if is_open(excluded):
            continue
        inner = parse_cidr(excluded) if isinstance(excluded, str) else None
        if inner is None:
            yield Rejection(f"{field}.except[{position}]", not_a_range(excluded))
        elif cidr and not _is_strict_part(inner, cidr):
            yield Rejection(f"{field}.except[{position}]", f"{shown(excluded)} is no strict part of cidr {text}")


def _is_strict_part(inner: _Network, outer: _Network) -> bool:
    same_version = inner.version == outer.version
    return same_version and inner.network_address in outer and outer.prefixlen < inner.prefixlen


def not_a_range(value: Json) -> str:
    """Say that a value is no range of addresses."""
    return f"{shown(value)} is no range of addresses such as 10.0.0.0/8"


def shown(value: Json) -> str:
    """Return a wrong value for a message: the beginning of a text, and the type of what is none."""
    if value is None or value == "":
        return "nothing"
    if isinstance(value, Mapping | list | tuple):
        return "a mapping" if isinstance(value, Mapping) else "a list"
    return str(value)[:_MAX_SHOWN]
