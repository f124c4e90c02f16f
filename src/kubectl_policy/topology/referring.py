"""Routes by the objects to which they refer: parents, backends, filters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model import GroupKind, ObjectRef
from kubectl_policy.model.index import Index, Referrers
from kubectl_policy.model.kind_roles import FILTERING_ROUTES, NAMESPACE, ROUTES
from kubectl_policy.topology.references import (
    EXTENSION_REF,
    BackendRef,
    RouteFilter,
    backend_refs,
    parent_refs,
    route_filters,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from kubectl_policy.topology.delegation.references import DelegatingRef


class ReferringRoutes:
    """Routes by the objects that they refer to; they depend on routes, ReferenceGrants and definitions alone."""

    def __init__(
        self,
        index: Index,
        kinds: Callable[[], Collection[GroupKind]],
        delegating: Callable[[], Mapping[ObjectRef, Iterable[DelegatingRef]]],
        permit: Callable[[ObjectRef, ObjectRef], bool | None],
    ) -> None:
        """Remember where to look; `kinds` are those of backends, and `delegating` the references that mean routes.

        `permit` says whether a route may refer to an object; None if that is not known.
        """
        self._index, self._kinds, self._delegating, self._permit = index, kinds, delegating, permit
        forwarding = self._may_forward
        self.by_parent = Referrers(index, ROUTES, self._parents)
        # Filters of routes that name an object.
        self.by_filter = Referrers(index, FILTERING_ROUTES, self._filters, self._may_filter, EXTENSION_REF)
        # Routes that may send an object requests without delegating; that do so with weight 0; that name it at all.
        self.forwarding = Referrers(index, ROUTES, self.backends_of, forwarding)
        self.weightless = Referrers(index, ROUTES, self._weightless, forwarding)
        self.naming = Referrers(index, ROUTES, self._named, forwarding)
        # The objects in a Namespace to which routes send requests.
        self.backends = Referrers(index, ROUTES, self._homes, self._may_lead_to)

    def backends_of(self, route: ObjectRef) -> Iterator[tuple[ObjectRef, ObjectRef]]:
        """Return each object that a route sends requests to, with the route."""
        return ((ref.object, route) for ref in self._plain(route) if ref.weight)

    def _parents(self, route: ObjectRef) -> Iterator[tuple[ObjectRef, ObjectRef]]:
        return ((ref.object, route) for ref in parent_refs(self._index, route))

    def _filters(self, route: ObjectRef) -> Iterator[tuple[ObjectRef, RouteFilter]]:
        return ((route_filter.object, route_filter) for route_filter in route_filters(self._index, route))

    def _weightless(self, route: ObjectRef) -> Iterator[tuple[ObjectRef, ObjectRef]]:
        return ((ref.object, route) for ref in self._plain(route) if not ref.weight)

    def _named(self, route: ObjectRef) -> Iterator[tuple[ObjectRef, ObjectRef]]:
        return ((ref.object, route) for ref in backend_refs(self._index, route) if ref.forwards)

    def _homes(self, route: ObjectRef) -> Iterator[tuple[ObjectRef, ObjectRef]]:
        """Return the backends of a route by their Namespaces."""
        return ((ObjectRef(NAMESPACE, "", backend.namespace), backend) for backend, _ in self.backends_of(route))

    def _plain(self, route: ObjectRef) -> Iterator[BackendRef]:
        """Yield every reference of a route that forwards, and may, without delegating."""
        delegating = {ref.ref.field for ref in self._delegating().get(route, ())}
        for ref in backend_refs(self._index, route):
            is_plain = ref.forwards and ref.field not in delegating and ref.object.name
            if is_plain and self._permit(route, ref.object) is not False:
                yield ref

    def _may_forward(self, kind: GroupKind, backend: ObjectRef) -> Iterable[ObjectRef]:
        """Return the routes of a kind that may send requests to an object: to what is of a kind that some do."""
        return self._index.naming(kind, backend) if backend.group_kind in self._kinds() else ()

    def _may_lead_to(self, kind: GroupKind, home: ObjectRef) -> Iterable[ObjectRef]:
        """Return the routes of a kind that may send requests to what is in a Namespace: those in it or that name it."""
        return (*self._index.world.refs_of(kind, home.name), *self._index.naming(kind, home))

    def _may_filter(self, kind: GroupKind, obj: ObjectRef) -> Iterable[ObjectRef]:
        """Return the routes of a kind that may have filters that name an object; most routes have none."""
        routes = self._index.naming(kind, EXTENSION_REF)
        return {*routes}.intersection(self._index.naming(kind, obj)) if routes else ()
