"""What of a policy counts on a path at all: the controllers ignore some fields, and settings for other ports."""

from __future__ import annotations

import json
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from kubectl_policy.resolution.combined import only_field
from kubectl_policy.resolution.spec_proper import stands_below_name
from kubectl_policy.resolution.traced import KeyedList, Leaf, leaves

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.merging import PortField
    from kubectl_policy.resolution.strategies import Contribution
    from kubectl_policy.resolution.traced import Field, Source, Traced
    from kubectl_policy.topology.gateway.listeners import Listener


_NOTHING: Final[Traced] = MappingProxyType({})


def without_ignored(part: Contribution, profile: PolicyKindProfile, listener: Listener | None) -> Contribution | None:
    """What counts of a contribution on a path by way of a listener, if it has one; None if nothing does."""
    spec, above = part.spec, _above(part, profile)
    for rule in profile.ignored:
        if rule.includes(part.source.target, listener.protocol if listener else ""):
            if not rule.fields:
                return None
            for field in rule.fields:
                keys = (*above, *field.split("."))
                if not rule.values or _has_value(spec, keys, rule.values):
                    spec = without(spec, keys)
    if profile.port_field and listener:
        spec = _for_port(spec, profile.port_field, listener.port)
    if spec is part.spec:
        return part
    return replace(part, spec=spec) if spec else None


def _above(part: Contribution, profile: PolicyKindProfile) -> Field:
    """Below what the settings of a policy stand: its name, if they are kept apart from those of others."""
    return (part.source.object.qualified_name,) if stands_below_name(profile, part.strategy) else ()


def _has_value(spec: Traced, keys: Field, values: Collection[str]) -> bool:
    return any(json.dumps(leaf.value) in values for _, leaf in leaves(only_field(spec, keys)))


def ignored_fields(part: Contribution, counting: Contribution | None) -> frozenset[Field]:
    """The fields of a contribution that do not count."""
    if part is counting:
        return frozenset()
    left = leaves(counting.spec) if counting else ()
    return frozenset(field for field, _ in leaves(part.spec)) - {field for field, _ in left}


def instead_of(spec: Traced, profile: PolicyKindProfile, listener: Listener | None) -> frozenset[Source]:
    """Who says something of the listener's port, which stands instead of what a merged spec says of every port."""
    entries = spec.get(profile.port_field.field) if profile.port_field and listener else None
    return frozenset(leaf.source for _, leaf in leaves(entries)) if isinstance(entries, KeyedList) else frozenset()


def _for_port(spec: Traced, port_field: PortField, port: int | None) -> Traced:
    entries = spec.get(port_field.field)
    if not isinstance(entries, KeyedList):
        return spec
    ours = KeyedList({key: entry for key, entry in entries.items() if key == str(port)})
    return {**spec, port_field.field: ours} if ours else without(spec, [port_field.field])


def without(spec: Traced, keys: Sequence[str]) -> Traced:
    """A spec without one of its fields; a map that held nothing else goes with it."""
    key, *rest = keys
    found = spec.get(key)
    if found is None or (rest and isinstance(found, Leaf)):
        return spec
    left = without(found, rest) if rest and not isinstance(found, Leaf) else _NOTHING
    if left:
        return {**spec, key: left}
    return {name: child for name, child in spec.items() if name != key}
