"""Want everything of a cluster that any question may need: what a snapshot of it holds."""

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
# These fields hold no references to objects that a question asks for: owners do not matter to any.
_WITHOUT_REFERENCES: Final = frozenset({"metadata", "status"})


def want_everything(world: ClusterWorld, kinds: Collection[GroupKind], served: Mapping[GroupKind, Served]) -> None:
    """Want all objects of some kinds, and the objects of all `served` kinds that these name.

    What is wanted grows with what is read: this is to be called again until nothing is wanted.
    """
    for kind in sorted(kinds):
        world.want_all(kind)
    holders = [resource for resource in world if resource.ref.group_kind in kinds]
    for ref in dict.fromkeys(ref for holder in holders for ref in _named_in(holder, served)):
        world.get(ref)


def _named_in(holder: Resource, served: Mapping[GroupKind, Served]) -> Iterator[ObjectRef]:
    """Yield what an object names: its Namespace, its class, and whatever is named by kind and name."""
    yield ObjectRef(NAMESPACE, "", holder.ref.namespace)
    yield ObjectRef(_GATEWAY_CLASS, "", text_at(holder.raw, "spec.gatewayClassName"))
    unread: list[Json] = [inner for field, inner in holder.raw.items() if field not in _WITHOUT_REFERENCES]
    while unread:
        part = unread.pop()
        if isinstance(part, Mapping):
            if "kind" in part and "name" in part:
                group = text_at(part, "group") or text_at(part, "apiVersion").rpartition("/")[0]
                kind = GroupKind(group, text_at(part, "kind"))
                if kind in served:
                    namespace = text_at(part, "namespace") or holder.ref.namespace
                    yield ObjectRef(kind, namespace if served[kind].namespaced else "", text_at(part, "name"))
            unread += part.values()
        elif isinstance(part, list):
            unread += part
