"""Contents that policies need of the objects to which they refer: ports of backends, and keys of their data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.attachment.attachment import NotAttached
from kubectl_policy.model.fields import FieldPath, mapping_at, value_at
from kubectl_policy.model.unknown import is_unfilled, port_at
from kubectl_policy.topology.references import port_names

if TYPE_CHECKING:
    from kubectl_policy.attachment.attachment import NamedNeed
    from kubectl_policy.model import Resource
    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles.needs import RequiredObject

_OF_KEYS: Final = ("ConfigMap", "Secret")
_DATA: Final = ("stringData", "data", "binaryData")


def content_failure(index: Index, policy: Resource, named: NamedNeed) -> NotAttached | None:
    """Return the failure of a reference to an object that lacks the port or the keys that it needs; else None."""
    need, resource = named.need, index.get(named.ref)
    if resource is None or not (need.keys or need.any_key or named.ref.kind in need.port_kinds):
        return None
    problem = (
        _port_problem(index, policy, named) if named.ref.kind in need.port_kinds else _key_problem(index, named, need)
    )
    return NotAttached("policy invalid", problem, need.competes) if problem else None


def _port_problem(index: Index, policy: Resource, named: NamedNeed) -> str:
    owner = policy if named.owner == policy.ref else index.get(named.owner)
    reference = FieldPath.parse(named.field).get(owner.raw) if owner else None
    port, ports = port_at(reference, "port"), port_names(index.defaulted(named.ref))
    if port is None:
        return f"{named.field} needs a port of {named.ref}"
    if port in ports or not isinstance(port, int) or any(isinstance(known, str) for known in ports):
        return ""
    return f"{named.field}.port {port} is no port of {named.ref}"


def _key_problem(index: Index, named: NamedNeed, need: RequiredObject) -> str:
    """Describe the keys that an object lacks; return "" if its data was withheld, or is to be filled in."""
    if named.ref.kind not in _OF_KEYS:
        return ""
    raw = index.defaulted(named.ref)
    parts = [part for part in _DATA if value_at(raw, part) is not None]
    is_withheld = not parts and named.ref.kind == "Secret"
    keys = {key for part in parts for key, value in mapping_at(raw, part).items() if value not in ("", None)}
    absent = [key for key in need.keys if key not in keys]
    if is_withheld or any(map(is_unfilled, keys)):
        return ""
    if absent:
        return f"{named.field} names {named.ref}, which has no {' and no '.join(absent)}"
    return f"{named.field} names {named.ref}, which is empty" if need.any_key and not keys else ""
