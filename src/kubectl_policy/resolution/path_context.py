"""What a path says, beside the policies on it, of how these meet: its listener, its end, the choices of its routes."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.model.fields import items_at, mapping_at
from kubectl_policy.topology.references import ROUTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_policy.model import Json, NodeRef, ObjectRef
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.merging import Inheritance, RouteChoice
    from kubectl_policy.resolution.nodes import Refusal
    from kubectl_policy.resolution.traced import Source
    from kubectl_policy.topology import Topology
    from kubectl_policy.topology.gateway.listeners import Listener

_NOTHING: Final[Mapping[str, Json]] = MappingProxyType({})


class PathContext(NamedTuple):
    """What matters of a path to a kind; what does not is left out.

    `refused` are contributions that another policy keeps out. `target_object` is the object at the end of the path: its
    own fields beat every default and lose to every override (the profile's `object_fields`; experimental GEP-713,
    `RetryOnPolicy`); for a rule of a route, its field `rule` is that rule. `choices` are those of routes that say how
    their policies meet those on the routes that they lead to.
    """

    refused: Mapping[Source, Refusal] = MappingProxyType({})
    target_object: Mapping[str, Json] = _NOTHING
    listener: Listener | None = None
    choices: Mapping[ObjectRef, Inheritance] = MappingProxyType({})


def target_object(topology: Topology, node: NodeRef, profile: PolicyKindProfile) -> Mapping[str, Json]:
    """The object at which a kind takes effect, if its own fields count there."""
    raw = topology.index.raw(node.object) if profile.object_fields else _NOTHING
    sections = topology.sections(node.object) if raw and node.object.group_kind in ROUTES else ()
    if node.section not in sections:
        return raw
    return {**raw, "rule": items_at(raw, "spec.rules")[sections.index(node.section)]}


def route_choices(
    topology: Topology, choice: RouteChoice | None, targets: Iterable[NodeRef]
) -> Mapping[ObjectRef, Inheritance]:
    """What routes among some targets say of how their policies meet others, in an annotation."""
    if choice is None:
        return {}
    said = {
        target.object: mapping_at(topology.index.raw(target.object), "metadata.annotations").get(choice.annotation)
        for target in targets
        if target.object.group_kind in ROUTES
    }
    means = {route: choice.means(value) for route, value in said.items() if isinstance(value, str)}
    return {route: found for route, found in means.items() if found}
