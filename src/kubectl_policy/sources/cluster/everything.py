"""All of a cluster that any question may need: what a snapshot of it holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kubectl_policy.model import GroupKind, ObjectRef
from kubectl_policy.model.fields import text_at
from kubectl_policy.model.kinds import GATEWAY_API, NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from kubectl_policy.model import Json, Resource
    from kubectl_policy.sources.cluster.api.served import Served
    from kubectl_policy.sources.cluster.world import ClusterWorld

_GATEWAY_CLASS: Final = GroupKind(GATEWAY_API, "GatewayClass")
# What names other objects is in none of these; owners are looked for by nobody.
_NOT_WRITTEN_BY_PEOPLE: Final = frozenset({"metadata", "status"})


def want_everything(world: ClusterWorld, kinds: Collection[GroupKind], served: Mapping[GroupKind, Served]) -> None:
    """Want all objects of some kinds, and whatever else of the kinds that are `served` these name.

    That also counts where not all of a kind may be listed. What is to be asked grows with what is read: to be called
    again until nothing is wanted.
    """
    for kind in sorted(kinds):
        world.names_of(kind)
    holders = [resource for resource in world if resource.ref.group_kind in kinds]
    for ref in dict.fromkeys(ref for holder in holders for ref in _named_in(holder, served)):
        world.get(ref)


def _named_in(holder: Resource, served: Mapping[GroupKind, Served]) -> Iterator[ObjectRef]:
    """The objects of kinds that are served which an object names: its Namespace, its class, what has kind and name."""
    yield ObjectRef(NAMESPACE, "", holder.ref.namespace)
    yield ObjectRef(_GATEWAY_CLASS, "", text_at(holder.raw, "spec.gatewayClassName"))
    below: list[Json] = [part for field, part in holder.raw.items() if field not in _NOT_WRITTEN_BY_PEOPLE]
    while below:
        part = below.pop()
        if isinstance(part, Mapping):
            if "kind" in part and "name" in part:
                group = text_at(part, "group") or text_at(part, "apiVersion").rpartition("/")[0]
                kind = GroupKind(group, text_at(part, "kind"))
                named = served.get(kind)
                if named:
                    namespace = text_at(part, "namespace") or holder.ref.namespace
                    yield ObjectRef(kind, namespace if named.namespaced else "", text_at(part, "name"))
            below += part.values()
        elif isinstance(part, list):
            below += part
