"""Sections of objects: the listeners of Gateways, the rules of routes, the ports of backends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.kind_roles import HIERARCHY, KINDS, LISTENER_HOLDERS, PORT_HOLDERS, ROUTES, SERVICE
from kubectl_policy.model.kinds import BUILT_IN
from kubectl_policy.model.refs import GroupKind, ObjectRef, section_names
from kubectl_policy.topology.references import port_names, ports_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model.unknown import Port
    from kubectl_policy.profiles import Registry
    from kubectl_policy.topology.gateway.gateways import Gateways

# Kubernetes' own kinds have no sections but the ports of Services.
_WITHOUT_SECTIONS: Final = frozenset(names.group_kind for names in BUILT_IN)


class Sections:
    """The sections of the objects of one snapshot."""

    def __init__(self, gateways: Gateways, profiles: Registry) -> None:
        """Remember where to look."""
        self.index, self.gateways, self._profiles = gateways.index, gateways, profiles

    @cached_method
    def sections(self, obj: ObjectRef) -> tuple[str, ...]:
        """Return the sections of an object in their order; see `NodeRef`."""
        if obj.group_kind in ROUTES:
            return self.index.rules_of(obj)
        if obj.group_kind in LISTENER_HOLDERS:
            return tuple(listener.node.section for listener in self.gateways.listeners(obj))
        row = KINDS.get(obj.group_kind)
        if row and row.sections and obj.group_kind not in PORT_HOLDERS:
            return section_names(self.index.defaulted(obj), row.sections, row.section_noun)
        return tuple(dict.fromkeys(self.ports(obj).values()))

    @cached_method
    def ports(self, obj: ObjectRef) -> Mapping[Port, str]:
        """Return the sections of a backend by port number; empty for a kind that is not known to have any."""
        kind = obj.group_kind
        if kind == SERVICE:
            # What an API server fills in is neither a number nor a name of a port.
            resource = self.index.get(obj)
            return port_names(resource.raw) if resource else {}
        if kind in PORT_HOLDERS:
            return port_names(self.index.defaulted(obj))
        return (
            ports_at(self.index.defaulted(obj), self._profiles.port_fields(kind) or ()) if self.has_ports(kind) else {}
        )

    @cached_method
    def has_ports(self, kind: GroupKind) -> bool:
        """Whether objects of a kind are known to have ports."""
        return kind in PORT_HOLDERS or (kind not in HIERARCHY and self._profiles.port_fields(kind) is not None)

    def has_known_sections(self, kind: GroupKind) -> bool:
        """Whether it is known which sections objects of a kind have, or that they have none."""
        return kind in HIERARCHY or kind in _WITHOUT_SECTIONS or self.has_ports(kind)
