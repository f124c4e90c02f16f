"""A cluster that is a snapshot: what a question asks of a `ClusterWorld` is given from there, ask by ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_policy import analyze
from kubectl_policy.errors import PolicyError, StillToBeRead
from kubectl_policy.model.index import Index
from kubectl_policy.model.kind_roles import GATEWAY_CLASS, LISTENER_HOLDERS, NAMESPACE, REFERENCE_GRANT, ROUTES, SERVICE
from kubectl_policy.model.kinds import CRD, plural
from kubectl_policy.model.world import world_of
from kubectl_policy.profiles.registry import Registry
from kubectl_policy.sources.cluster.discovery import Served
from kubectl_policy.sources.cluster.world import ClusterWorld, Interests, Query

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from typing import TypeVar

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind, Resource, Snapshot
    from kubectl_policy.profiles import PolicyKindProfile

    ObjectAnswer = TypeVar("ObjectAnswer")


class Asked:
    """A question that is asked of a cluster which has the objects of a snapshot."""

    def __init__(
        self,
        snapshot: Snapshot,
        namespace: str,
        profiles: Sequence[PolicyKindProfile] = (),
        without: Collection[GroupKind] = (),
    ) -> None:
        """Nothing is asked yet. It does not serve kinds that it is `without`."""
        self._index, self._profiles = Index(snapshot), profiles
        registry = Registry(self._index, profiles)
        kinds = {*self._index.kinds, *self._index.group_kinds}.difference(without)
        policies = [kind for kind in kinds if registry.profile_of(kind)]
        self._snapshot = snapshot
        self.world = ClusterWorld(
            Interests(
                small_kinds={GATEWAY_CLASS, *LISTENER_HOLDERS, REFERENCE_GRANT},
                alongside=dict.fromkeys(ROUTES, (SERVICE, NAMESPACE)),
                descendants=dict.fromkeys(LISTENER_HOLDERS, tuple(ROUTES)),
            ),
            {kind: self._served(kind) for kind in kinds},
            policies,
            namespace,
        )
        self.world.record(Query(CRD), self._index.of_kind(CRD))
        self.asks: list[Query] = []
        self.rounds = 0

    def _served(self, kind: GroupKind) -> Served:
        return Served(kind.group, "v1", kind.kind, plural(kind.kind.lower()), self._index.namespaced(kind))

    def answer(self, question: Callable[[Analysis], ObjectAnswer]) -> ObjectAnswer | PolicyError:
        """The answer, or why there is none, once everything is known that it is asked for."""
        while True:
            self.rounds += 1
            found: ObjectAnswer | PolicyError | None = None
            try:
                found = question(_analysis(self._snapshot, self.world, self._profiles))
            except StillToBeRead:
                pass
            except PolicyError as error:
                found = error
            wanted = self.world.wanted
            if not wanted:
                assert found is not None
                return found
            for ask in wanted:
                assert ask not in self.asks, f"{ask} is asked again"
                self.asks.append(ask)
                self.world.record(ask, self._given(ask))
            self.world.start_round()

    def _given(self, ask: Query) -> Iterator[Resource]:
        for resource in self._index.of_kind(ask.kind):
            if (not ask.namespace or resource.ref.namespace == ask.namespace) and ask.name in {"", resource.ref.name}:
                about = resource.raw.get("involvedObject")
                if not ask.involved or (isinstance(about, dict) and about.get("name") == ask.involved.name):
                    yield resource


def everything(snapshot: Snapshot, profiles: Sequence[PolicyKindProfile] = ()) -> Analysis:
    """The analysis of the same objects, all of which are read."""
    return _analysis(snapshot, tuple(world_of(snapshot.resources)), profiles)


def _analysis(snapshot: Snapshot, resources: Sequence[Resource], profiles: Sequence[PolicyKindProfile]) -> Analysis:
    return analyze(replace(snapshot, resources=resources, complete=True, source="the cluster"), profiles=profiles)
