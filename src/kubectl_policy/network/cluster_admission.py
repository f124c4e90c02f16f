"""Values in network policies for the whole cluster that their definitions reject, where none is in the input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model.fields import (
    FieldPath,
    Json,
    each_mapping,
    each_text,
    integer_at,
    items_at,
    mapping_at,
    text_at,
    value_at,
)
from kubectl_policy.model.unknown import is_unfilled, is_unknown
from kubectl_policy.network.admission import Rejection, not_a_range, rejected_numbers, shown
from kubectl_policy.network.entries import is_open, parse_cidr
from kubectl_policy.network.kinds import (
    ADMIN_NETWORK_POLICY,
    BASELINE_ADMIN_NETWORK_POLICY,
    CLUSTER_NETWORK_POLICY,
)
from kubectl_policy.network.policy import DIRECTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model import Resource
    from kubectl_policy.network.policy import Direction

_MAX_PRIORITY: Final = 1000
_TIERS: Final = ("Admin", "Baseline")
_PODS: Final = ("namespaces", "pods")
# The fields of peers by direction: only what leaves a Pod may be matched by something else than Pods.
_PEERS: Final[Mapping[Direction, tuple[str, tuple[str, ...]]]] = {
    "ingress": ("from", _PODS),
    "egress": ("to", (*_PODS, "nodes", "networks", "domainNames")),
}
# The numbers in an entry of `ports` or `protocols`.
_NUMBERS: Final = (
    *("portNumber.port", "portRange.start", "portRange.end"),
    *(
        f"{protocol}.destinationPort.{number}"
        for protocol in ("tcp", "udp", "sctp")
        for number in ("number", "range.start", "range.end")
    ),
)


class _Definition(Struct, frozen=True):
    """What a version of a definition asks of its objects (kubernetes-sigs/network-policy-api)."""

    version: str
    actions: tuple[str, ...]
    # The list that a rule matches ports by, and the field of its items with a name.
    ports: str
    port_name: str
    has_priority: bool = True
    has_tier: bool = False
    only_name: str = ""


_DEFINITIONS: Final = {
    ADMIN_NETWORK_POLICY: _Definition("v1alpha1", ("Allow", "Deny", "Pass"), "ports", "namedPort"),
    BASELINE_ADMIN_NETWORK_POLICY: _Definition(
        "v1alpha1", ("Allow", "Deny"), "ports", "namedPort", has_priority=False, only_name="default"
    ),
    CLUSTER_NETWORK_POLICY: _Definition(
        "v1alpha2", ("Accept", "Deny", "Pass"), "protocols", "destinationNamedPort", has_tier=True
    ),
}


def cluster_rejections(resource: Resource) -> Iterator[Rejection]:
    """Yield what the definition of its kind rejects in a network policy for the whole cluster.

    Objects of versions that are not known have nothing to reject.
    """
    definition, raw = _DEFINITIONS[resource.ref.group_kind], resource.raw
    if text_at(raw, "apiVersion").rpartition("/")[2] != definition.version:
        return
    name = resource.ref.name
    if definition.only_name and name != definition.only_name and not is_unknown(name):
        yield Rejection("metadata.name", f"the only policy of its kind in a cluster is called {definition.only_name}")
    tier = value_at(raw, "spec.tier")
    if definition.has_tier and tier not in _TIERS and not is_open(tier):
        yield Rejection("spec.tier", f"{shown(tier)} is no tier, only {' and '.join(_TIERS)} are")
    if definition.has_priority:
        yield from _rejected_priority(raw)
    yield from _rejected_choice("spec.subject", mapping_at(raw, "spec.subject"), _PODS)
    for direction in DIRECTIONS:
        for field, rule in each_mapping(raw, f"spec.{direction}"):
            yield from _rejected_rule(definition, direction, field, rule)


def _rejected_priority(raw: Mapping[str, Json]) -> Iterator[Rejection]:
    priority = integer_at(raw, "spec.priority")
    written = value_at(raw, "spec.priority")
    if not is_open(written) and (priority is None or not 0 <= priority <= _MAX_PRIORITY):
        yield Rejection("spec.priority", f"{shown(written)} is no priority: these are 0 to {_MAX_PRIORITY}")


def _rejected_choice(field: str, holder: Mapping[str, Json], choices: tuple[str, ...]) -> Iterator[Rejection]:
    """Yield a problem unless exactly one field of a mapping is set, which is one of the known ones."""
    fields = [name for name, value in holder.items() if value is not None]
    if len(fields) != 1 or fields[0] not in choices:
        present = f", not {shown(' and '.join(fields))}" if fields else ""
        yield Rejection(field, f"it needs exactly one of {', '.join(choices)}{present}")


def _rejected_rule(
    definition: _Definition, direction: Direction, field: FieldPath, rule: Mapping[str, Json]
) -> Iterator[Rejection]:
    action = value_at(rule, "action")
    if action not in definition.actions and not is_open(action):
        yield Rejection(f"{field}.action", f"{shown(action)} is no action, only {', '.join(definition.actions)} are")
    peers_field, choices = _PEERS[direction]
    if not items_at(rule, peers_field):
        yield Rejection(str(field), f"a rule needs {peers_field} with at least one peer")
    peers = [*each_mapping(rule, peers_field)]
    for path, peer in peers:
        at = _joined(field, path)
        yield from _rejected_choice(at, peer, choices)
        for inner, text in each_text(peer, "networks"):
            if not is_unfilled(text) and parse_cidr(text) is None:
                yield Rejection(f"{at}.{inner}", not_a_range(text))
    ports = [*each_mapping(rule, definition.ports)]
    for path, port in ports:
        at = _joined(field, path)
        numbers = {f"{at}.{name}": value_at(port, name) for name in _NUMBERS}
        yield from rejected_numbers({name: number for name, number in numbers.items() if number is not None})
    outside = [name for _, peer in peers for name in choices[len(_PODS) :] if name in peer]
    if outside and any(text_at(port, definition.port_name) for _, port in ports):
        yield Rejection(str(field), f"ports have no names at {outside[0]}, so {definition.port_name} is not allowed")


def _joined(field: FieldPath, inner: FieldPath) -> str:
    return str(FieldPath((*field.steps, *inner.steps)))
