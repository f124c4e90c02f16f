"""Objects as rows, by the sort of rows that their type has."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from kubectl_policy.model import NodeRef
from kubectl_policy.model.fields import strings_at
from kubectl_policy.questions.shared.effects import affecting, paths_through
from kubectl_policy.questions.shared.reported import reported_conditions
from kubectl_policy.questions.shared.selection import Listing, Selected
from kubectl_policy.questions.shared.unseen import gaps, unseen_for
from kubectl_policy.resolution import CARRY_NOTHING
from kubectl_policy.topology.references import GATEWAY, ROUTES, gateway_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import Json, ObjectRef, Resource
    from kubectl_policy.questions.shared.reported import ReportedCondition
    from kubectl_policy.questions.shared.unseen import Unseen
    from kubectl_policy.topology import Binding, BindingState, Delegation


@dataclass(frozen=True, slots=True)
class Listed:
    """What every row has.

    `policies` have an effect on the object, or, if it carries no traffic itself (a GatewayClass, a Namespace), are
    attached to it. `attachments` are the references that name it or a section of it, also those that fail.
    """

    resource: Resource
    policies: tuple[ObjectRef, ...]
    attachments: tuple[Attachment, ...]
    reported: tuple[ReportedCondition, ...]
    unseen: tuple[Unseen, ...]


@dataclass(frozen=True, slots=True)
class ObjectRow:
    """An object."""

    listed: Listed

    @property
    def ref(self) -> ObjectRef:
        """The name of the object."""
        return self.listed.resource.ref

    @property
    def raw(self) -> Mapping[str, Json]:
        """The object as it was read."""
        return self.listed.resource.raw

    @property
    def unseen(self) -> tuple[Unseen, ...]:
        """What could not be seen and might have changed the row."""
        return self.listed.unseen


@dataclass(frozen=True, slots=True)
class GatewayClassRow(ObjectRow):
    """A GatewayClass and the Gateways that name it."""

    gateways: tuple[ObjectRef, ...]


@dataclass(frozen=True, slots=True)
class GatewayRow(ObjectRow):
    """A Gateway with its class, or a ListenerSet with its Gateway; None if it names none.

    `routes` are those attached to its own listeners; of `undecided` ones it is not known whether they are.
    """

    above: ObjectRef | None
    listeners: tuple[str, ...]
    routes: tuple[ObjectRef, ...]
    undecided: tuple[ObjectRef, ...]


@dataclass(frozen=True, slots=True)
class Parent:
    """What comes of one parentRef: attached if it is at one listener at least; if not, the first reason why."""

    object: ObjectRef
    state: BindingState
    listeners: tuple[NodeRef, ...]
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class RouteRow(ObjectRow):
    """A route with its hostnames and one entry for each of its parentRefs."""

    hostnames: tuple[str, ...]
    parents: tuple[Parent, ...]


@dataclass(frozen=True, slots=True)
class BackendRow(ObjectRow):
    """A Service, or another object, and the routes that refer to it, as a backend or as their parent."""

    referred_by: tuple[ObjectRef, ...]


@dataclass(frozen=True, slots=True)
class NamespaceRow(ObjectRow):
    """A Namespace, what it `holds` of the hierarchy, what of that is affected by a policy, and what hides more."""

    holds: tuple[ObjectRef, ...]
    affected: tuple[ObjectRef, ...]
    unseen_inside: tuple[Unseen, ...]

    @property
    def unseen(self) -> tuple[Unseen, ...]:
        """What could not be seen of it and of what it holds."""
        return tuple(dict.fromkeys((*self.listed.unseen, *self.unseen_inside)))


def list_objects(analysis: Analysis, selected: Selected) -> Listing[ObjectRow]:
    """The objects that were selected, with the rows that their type has."""
    row = _ROWS[selected.type.rows]
    rows = tuple(row(analysis, resource) for resource in selected.resources)
    unseen = (*gaps(analysis), *(thing for row in rows for thing in row.unseen))
    return Listing(selected.type, selected.namespace, rows, selected.elsewhere, tuple(dict.fromkeys(unseen)))


def _listed(analysis: Analysis, resource: Resource) -> Listed:
    subject = NodeRef(resource.ref)
    attachments = analysis.attachments_to(resource.ref)
    if resource.ref.group_kind in CARRY_NOTHING:
        attached = {found.policy for found in attachments if found.state == "attached"}
        paths, policies = analysis.topology.paths(subject), tuple(sorted(attached))
    else:
        paths = paths_through(analysis, subject)
        policies = affecting(analysis, subject, paths)
    unseen = unseen_for(analysis, subject, paths)
    return Listed(resource, policies, attachments, reported_conditions(resource.raw), unseen)


def _gateway_class(analysis: Analysis, resource: Resource) -> GatewayClassRow:
    gateways = analysis.topology.relations.gateways_of(resource.ref)
    return GatewayClassRow(_listed(analysis, resource), gateways)


def _gateway(analysis: Analysis, resource: Resource) -> GatewayRow:
    topology, ref = analysis.topology, resource.ref
    listeners = topology.sections(ref)
    if ref.group_kind == GATEWAY:
        above = topology.relations.class_of(ref)
    else:
        above = gateway_of(analysis.index, ref, resource.raw)
    below = (child for name in listeners for child in topology.children(NodeRef(ref, name)))
    routes = dict.fromkeys(child.object for child in below if child.object.group_kind in ROUTES)
    undecided = dict.fromkeys(
        route
        for route in topology.relations.routes_naming(ref)
        for binding in topology.bindings(route)
        if binding.parent == ref and binding.state == "unknown" and route not in routes
    )
    return GatewayRow(_listed(analysis, resource), above, listeners, tuple(routes), tuple(undecided))


def _route(analysis: Analysis, resource: Resource) -> RouteRow:
    bindings = groupby(analysis.topology.bindings(resource.ref), lambda binding: binding.parent_index)
    named = tuple(_parent(tuple(found)) for _, found in bindings)
    above = {parent.object for parent in named}
    found = [one for one in analysis.topology.relations.delegating_to(resource.ref) if one.parent.object not in above]
    parents = (*named, *_unnamed(one for one in found if one.takes or one.reason))
    return RouteRow(_listed(analysis, resource), tuple(strings_at(resource.raw, "spec.hostnames")), parents)


def _unnamed(delegations: Iterable[Delegation]) -> Iterator[Parent]:
    """The routes that delegate to a route which does not name them as its parents."""
    for route, found in groupby(delegations, lambda delegation: delegation.parent.object):
        best = max(found, key=lambda delegation: delegation.takes)
        yield Parent(route, "attached" if best.takes else "refused", (), best.reason, best.message)


def _parent(bindings: tuple[Binding, ...]) -> Parent:
    order: tuple[BindingState, ...] = ("attached", "unknown", "refused")
    best = min(bindings, key=lambda binding: order.index(binding.state))
    attached = [binding.listener for binding in bindings if binding.state == "attached"]
    listeners = tuple(listener for listener in attached if listener)
    return Parent(best.parent, best.state, listeners, best.reason, best.message)


def _backend(analysis: Analysis, resource: Resource) -> BackendRow:
    relations = analysis.topology.relations
    routes = {*relations.routes_forwarding_to(resource.ref), *relations.routes_naming(resource.ref)}
    return BackendRow(_listed(analysis, resource), tuple(sorted(routes)))


def _namespace(analysis: Analysis, resource: Resource) -> NamespaceRow:
    inside = analysis.topology.relations.in_namespace(resource.ref.name)
    holds = [_listed(analysis, found) for obj in inside if (found := analysis.index.get(obj))]
    return NamespaceRow(
        _listed(analysis, resource),
        tuple(one.resource.ref for one in holds),
        tuple(one.resource.ref for one in holds if one.policies),
        tuple(dict.fromkeys(thing for one in holds for thing in one.unseen)),
    )


_ROWS: Mapping[str, Callable[[Analysis, Resource], ObjectRow]] = {
    "gateway classes": _gateway_class,
    "gateways": _gateway,
    "listener sets": _gateway,
    "routes": _route,
    "backends": _backend,
    "namespaces": _namespace,
}
