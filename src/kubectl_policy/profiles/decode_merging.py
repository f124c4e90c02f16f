"""From a valid profile file to what its kinds say of merging: where, field by field, scope by scope, by route."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kubectl_policy.model import GroupKind
from kubectl_policy.profiles.merging import (
    Inheritance,
    Joint,
    Listed,
    MergeStrategy,
    PortField,
    RouteChoice,
    Scope,
    TargetLevel,
    Unheeded,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def strategy_of(name: str | None) -> MergeStrategy | None:
    """A merge strategy by its name, if one is said."""
    return MergeStrategy(name) if name else None


def levels_of(entries: Sequence[Mapping[str, Any]]) -> tuple[TargetLevel, ...]:
    """Kinds of targets, or of sections in them, in their order."""
    return tuple(
        TargetLevel(GroupKind(entry["group"], entry["kind"]), entry.get("section", False)) for entry in entries
    )


def joint_of(joint: Mapping[str, Any]) -> Joint:
    """Fields that go together."""
    return Joint(
        joint["field"],
        tuple(joint["within"]),
        joint.get("by", ""),
        tuple(joint.get("unless", ())),
        joint.get("setting", ""),
        joint.get("value", ""),
    )


def scope_of(said: Mapping[str, Any]) -> Scope:
    """Levels that merge among themselves only."""
    return Scope(levels_of(said["levels"]), _protocols(said))


def unheeded_of(part: Mapping[str, Any]) -> Unheeded:
    """Fields that the controllers pass over at some levels."""
    values = frozenset(part.get("values", ()))
    return Unheeded(levels_of(part["levels"]), tuple(part.get("fields", ())), _protocols(part), values)


def _protocols(part: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(part.get("protocols", ()))


def route_choice_of(choice: Mapping[str, Any]) -> RouteChoice:
    """What the annotation of a route says of merging."""
    values = {
        value: Inheritance(MergeStrategy(means["strategy"]), strategy_of(means.get("joint")))
        for value, means in choice["values"].items()
    }
    listed = choice.get("listed")
    means = Listed(listed["below"], MergeStrategy(listed["strategy"])) if listed else None
    return RouteChoice(choice["annotation"], MappingProxyType(values), means)


def port_field_of(said: Mapping[str, str]) -> PortField:
    """A field that has settings port by port."""
    return PortField(said["field"], said["key"], said["insteadOf"])
