"""Policies about connections whose rules are not evaluated: to which workloads they apply, by their profiles."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model.defaults import NAME_LABEL
from kubectl_policy.model.fields import each_value, mapping_at, mappings_at, strings_at, text_at, value_at
from kubectl_policy.model.unknown import is_unknown
from kubectl_policy.model.world import grouped
from kubectl_policy.network.expressions import parse_expression
from kubectl_policy.topology.workloads import NO_PODS, PodSet, Workloads
from kubectl_policy.topology.workloads.pod_sets import positions_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.model import Json, ObjectRef, Resource
    from kubectl_policy.profiles import Registry
    from kubectl_policy.profiles.connections import ConnectionProfile, Direction, SubjectFields


class UnevaluatedPolicy(Struct, frozen=True, kw_only=True, eq=False):
    """A policy that may change a verdict, as its rules are not evaluated."""

    ref: ObjectRef
    connections: ConnectionProfile
    # The workloads to which it applies, or may apply.
    pods: PodSet

    def concerns(self, direction: Direction, *, outside: bool) -> bool:
        """Whether the policy decides about connections in a direction, with an address outside or a workload."""
        connections = self.connections
        return direction in connections.directions and (outside or connections.peers == "any")


class UnevaluatedPolicies:
    """The policies of one snapshot whose kinds decide about connections, and are not evaluated."""

    def __init__(self, registry: Registry, workloads: Workloads) -> None:
        """Read nothing before it is asked for."""
        self._registry, self._workloads = registry, workloads

    @cached_property
    def all(self) -> tuple[UnevaluatedPolicy, ...]:
        """Every policy that applies to a workload, or may apply to one, by kind, namespace and name."""
        return tuple(
            UnevaluatedPolicy(ref=resource.ref, connections=connections, pods=pods)
            for profile in self._registry.policy_kinds
            if (connections := profile.connections) and connections.enforced and profile.attachment != "connections"
            for resource in self._workloads.index.of_kind(profile.group_kind)
            if (pods := selected_by(self._workloads, resource, connections))
        )

    @cached_property
    def by_position(self) -> Mapping[int, Sequence[tuple[UnevaluatedPolicy, bool]]]:
        """The policies of each workload that has any, each with whether it certainly applies."""
        return grouped(
            (position, (policy, is_certain))
            for policy in self.all
            for is_certain, members in ((True, policy.pods.certain), (False, policy.pods.undecided))
            for position in positions_in(members)
        )

    def applying_to(
        self, members: int, direction: Direction, *, outside: bool
    ) -> tuple[tuple[ObjectRef, ...], tuple[ObjectRef, ...]]:
        """Return the policies that apply to any workload of a bitmap, and those that may apply to one.

        Only those count that decide about connections in a direction, with addresses outside or with workloads.
        """
        concerned = [policy for policy in self.all if policy.concerns(direction, outside=outside)]
        certain = tuple(policy.ref for policy in concerned if policy.pods.certain & members)
        possible = (policy.ref for policy in concerned if policy.pods.possible & members)
        return certain, tuple(ref for ref in possible if ref not in {*certain})


def selected_by(workloads: Workloads, resource: Resource, connections: ConnectionProfile) -> PodSet:
    """Return the workloads to which a policy applies, by the fields that its profile names.

    Network plugins differ in what policies do to Pods on the network of their nodes.
    """
    home = None if connections.scope == "cluster" else resource.ref.namespace
    chosen = NO_PODS
    for fields in connections.subjects:
        for _, holder in each_value(resource.raw, fields.field):
            chosen |= _Selection(workloads, connections, fields, holder).pods(home)
    return PodSet(chosen.certain & ~workloads.on_host_network, chosen.possible)


class _Requirements(Struct, frozen=True):
    """The requirements of a selector on labels of Pods or namespaces, and on the name of the namespace."""

    on_labels: Mapping[str, Json]
    on_namespace: Mapping[str, Json]
    # Whether the selector has no further requirements.
    is_whole: bool


_NOTHING: Final[Mapping[str, Json]] = {}


class _Selection(Struct, frozen=True):
    """A map in a policy whose fields select Pods together; a value of another type may select any."""

    workloads: Workloads
    connections: ConnectionProfile
    fields: SubjectFields
    holder: Json

    def pods(self, home: str | None) -> PodSet:
        """Return the workloads that the fields select, for a policy in a namespace or for the whole cluster."""
        fields = self.fields
        is_open = not isinstance(self.holder, Mapping)
        if fields.without == "nothing" and not (is_open or any(map(self._has, _names(fields)))):
            return NO_PODS
        pods, namespaces = self._requirements(fields.pods), self._requirements(fields.namespaces)
        chosen = self._in_scope(home) & self.workloads.selected(_NOTHING, pods.on_labels)
        for selector in (pods.on_namespace, namespaces.on_labels, namespaces.on_namespace):
            chosen &= self.workloads.in_namespaces(selector)
        if self._has(fields.nodes):
            return PodSet(0, chosen.possible & self.workloads.on_host_network)
        is_partial = is_open or any(map(self._has, fields.uncomputed))
        is_whole = pods.is_whole and namespaces.is_whole and not is_partial
        return chosen if is_whole else PodSet(0, chosen.possible)

    def _in_scope(self, home: str | None) -> PodSet:
        """Return the workloads in the namespace of the policy; all for the whole cluster, or by other namespaces."""
        everything = self.workloads.everything
        if home is None or self._has(self.fields.namespaces):
            return PodSet.exactly(everything)
        if is_unknown(home):
            return PodSet(0, everything)
        chosen = self.workloads.in_namespaces(home)
        for namespace in self.workloads.index.candidates.unknown_namespaces:
            chosen |= PodSet(0, self.workloads.in_namespaces(namespace).possible)
        return chosen

    def _has(self, field: str) -> bool:
        return bool(field) and value_at(self.holder, field) is not None

    def _requirements(self, field: str) -> _Requirements:
        """Return the requirements of the selector in a field; none if there is no such field."""
        if not self._has(field):
            return _Requirements(_NOTHING, _NOTHING, is_whole=True)
        selector = value_at(self.holder, field)
        if self.connections.selectors == "expressions":
            selector = parse_expression(selector) if isinstance(selector, str) else None
        if not isinstance(selector, Mapping):
            return _Requirements(_NOTHING, _NOTHING, is_whole=False)
        is_whole, on_labels, on_namespace = True, list["Json"](), list["Json"]()
        for written, operator, values in _requirements_of(selector):
            prefix = next((prefix for prefix in self.connections.key_prefixes if written.startswith(prefix)), "")
            key = written.removeprefix(prefix)
            if self._is_namespace(key):
                on_namespace.append({"key": NAME_LABEL, "operator": operator, "values": values})
            elif self._is_label(key):
                on_labels.append({"key": key, "operator": operator, "values": values})
            else:
                is_whole = False
        return _Requirements(_selector(on_labels), _selector(on_namespace), is_whole)

    def _is_namespace(self, key: str) -> bool:
        """Whether a key stands for the name of a namespace; a policy of one namespace never applies to another one."""
        return self.connections.scope == "cluster" and key in self.connections.namespace_keys

    def _is_label(self, key: str) -> bool:
        """Whether a key is that of a label; no label has a colon in its key."""
        others = (*self.connections.namespace_keys, *self.connections.other_keys)
        return ":" not in key and not key.startswith(others)


def _names(fields: SubjectFields) -> tuple[str, ...]:
    return (fields.pods, fields.namespaces, fields.nodes, *fields.uncomputed)


def _selector(requirements: list[Json]) -> Mapping[str, Json]:
    return {"matchExpressions": requirements} if requirements else _NOTHING


def _requirements_of(selector: Json) -> Iterator[tuple[str, str, list[Json]]]:
    """Yield the requirements of a selector of labels: keys, operators and values."""
    for key, value in mapping_at(selector, "matchLabels").items():
        yield key, "In", [value] if isinstance(value, str) else []
    for entry in mappings_at(selector, "matchExpressions"):
        yield text_at(entry, "key"), text_at(entry, "operator"), [*strings_at(entry, "values")]
