"""One workload: what a Pod, or the Pod template of a controller, says of labels, ports, addresses and its node."""

from __future__ import annotations

from functools import cached_property
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct

from kubectl_policy.model.fields import Json, integer_at, labels_of, mapping_at, mappings_at, text_at, value_at
from kubectl_policy.model.kind_roles import JOB, KINDS, POD
from kubectl_policy.model.refs import GroupKind, ObjectRef
from kubectl_policy.model.unknown import has_placeholder, may_be_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model import Resource

# Containers whose ports are ports of the Pod; `initContainers` counts for sidecars, which go on running.
_CONTAINERS: Final = ("containers", "initContainers")
# The phases in which a Pod has neither processes nor an address (PodPhase).
_FINISHED: Final = frozenset({"Succeeded", "Failed"})
# The conditions in which a Job makes no more Pods (JobConditionType).
_ENDS: Final = frozenset({"Complete", "Failed"})


class ContainerPort(Struct, frozen=True, order=True):
    """A port that a container declares."""

    number: Annotated[int, Meta(description="The number of the port.")]
    protocol: Annotated[str, Meta(description="TCP, UDP or SCTP.")]
    name: Annotated[str, Meta(description="The name of the port; empty if it has none.")] = ""


class Workload(Struct, frozen=True, dict=True, eq=False):
    """A Pod, or a controller that stands for the Pods that it makes, none of which was read."""

    ref: ObjectRef
    _raw: Mapping[str, Json]

    @property
    def is_pod(self) -> bool:
        """Whether this is a Pod itself."""
        return self.ref.group_kind == POD

    @property
    def is_from_server(self) -> bool:
        """Whether an API server gave out the object, with all that it has."""
        return bool(text_at(self._raw, "metadata.uid"))

    @property
    def controller(self) -> ObjectRef | None:
        """The managing controller by the ownerReferences (metav1.GetControllerOf); None without any."""
        for owner in mappings_at(self._raw, "metadata.ownerReferences"):
            kind, name = text_at(owner, "kind"), text_at(owner, "name")
            if owner.get("controller") is True and kind and name:
                group = text_at(owner, "apiVersion").rpartition("/")[0]
                return ObjectRef(GroupKind(group, kind), self.ref.namespace, name)
        return None

    @property
    def template(self) -> Mapping[str, Json]:
        """The object itself for a Pod, else its Pod template."""
        field = KINDS[self.ref.group_kind].template
        return mapping_at(self._raw, field) if field else self._raw

    @cached_property
    def labels(self) -> dict[str, str]:
        """The labels of the Pods."""
        return labels_of(self.template)

    @property
    def spec(self) -> Mapping[str, Json]:
        """The specification of the Pods."""
        return mapping_at(self.template, "spec")

    @property
    def is_on_host_network(self) -> bool:
        """Whether the Pods use the network of their nodes."""
        return value_at(self._raw if self.is_pod else self.template, "spec.hostNetwork") is True

    @property
    def is_finished(self) -> bool:
        """Whether a Pod, or a Job with its Pods, has ended for good."""
        if self.is_pod:
            return text_at(self._raw, "status.phase") in _FINISHED
        conditions = mappings_at(self._raw, "status.conditions") if self.ref.group_kind == JOB else ()
        return any(
            text_at(condition, "type") in _ENDS and text_at(condition, "status") == "True" for condition in conditions
        )

    @property
    def node(self) -> str:
        """The name of the node of a Pod; empty if it is not known."""
        return text_at(self.spec, "nodeName") if self.is_pod else ""

    @property
    def ports(self) -> tuple[ContainerPort, ...]:
        """The ports that containers declare, in their order."""
        return tuple(
            ContainerPort(number, text_at(port, "protocol") or "TCP", text_at(port, "name"))
            for port in self._declared_ports()
            if (number := integer_at(port, "containerPort")) is not None
        )

    def _declared_ports(self) -> Iterator[Mapping[str, Json]]:
        spec = self.spec
        for field in _CONTAINERS:
            for container in mappings_at(spec, field):
                if field == "containers" or text_at(container, "restartPolicy") == "Always":
                    yield from mappings_at(container, "ports")

    @property
    def port_names(self) -> frozenset[str]:
        """The names of the ports; some may still be to be filled in."""
        return frozenset(name for port in self._declared_ports() if (name := text_at(port, "name")))

    def named_ports(self, name: str, protocol: str | None = None) -> frozenset[tuple[str, int]]:
        """Return protocols and numbers of the ports with a name, of one protocol or of all."""
        return frozenset(
            (port.protocol, port.number)
            for port in self.ports
            if port.name == name and protocol in {None, port.protocol}
        )

    def open_ports(self, name: str) -> frozenset[str]:
        """Return the protocols of ports that may have a name, or a number, once it is filled in."""
        return frozenset(
            text_at(port, "protocol") or "TCP"
            for port in self._declared_ports()
            if (text_at(port, "name") == name and integer_at(port, "containerPort") is None)
            or (has_placeholder(text_at(port, "name")) and may_be_label(text_at(port, "name"), name))
        )

    @property
    def addresses(self) -> tuple[IPv4Address | IPv6Address, ...]:
        """The addresses of a Pod; none if they are not known."""
        return self._addresses_at("podIPs", "podIP")

    @property
    def host_addresses(self) -> tuple[IPv4Address | IPv6Address, ...]:
        """The addresses of the node of a Pod, as far as the Pod says them."""
        return self._addresses_at("hostIPs", "hostIP")

    def _addresses_at(self, field: str, single_field: str) -> tuple[IPv4Address | IPv6Address, ...]:
        """Return the addresses in the status of a Pod: in a list, else in a field for the first one of these."""
        status: Mapping[str, Json] = mapping_at(self._raw, "status") if self.is_pod else {}
        texts = [text_at(entry, "ip") for entry in mappings_at(status, field)] or [text_at(status, single_field)]
        return tuple(address for text in texts if (address := parse_address(text)))


def workload_of(resource: Resource) -> Workload:
    """Return the workload that an object of a workload kind is."""
    return Workload(resource.ref, resource.raw)


def parse_address(text: str) -> IPv4Address | IPv6Address | None:
    """Parse an IP address as the API does (net.ParseIP), without zone; None for any other text.

    An IPv4 address that is written as one of IPv6 (`::ffff:10.0.0.1`) is an IPv4 address.
    """
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv4Address):
        return address
    return None if address.scope_id else address.ipv4_mapped or address


def from_number(version: int, number: int) -> IPv4Address | IPv6Address:
    """Return the address of a version of IP that a number stands for."""
    return IPv4Address(number) if version == 4 else IPv6Address(number)  # noqa: PLR2004 (the version)
