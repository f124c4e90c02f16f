"""Objects as rows, by the sort of rows that their type has."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct

from kubectl_policy.model import Json, NodeRef, ObjectRef
from kubectl_policy.model.fields import integer_at, mappings_at, strings_at, text_at
from kubectl_policy.model.kind_roles import ROUTES, SERVICE
from kubectl_policy.model.snapshot import Resource  # noqa: TC001 (its members are in the document)
from kubectl_policy.questions.blind_spots.answers import blind_spots_for
from kubectl_policy.questions.blind_spots.unknowns import BlindSpot, WithBlindSpots
from kubectl_policy.questions.shared.effects import affecting_or_undecided, covered_paths
from kubectl_policy.questions.shared.possible_policies import possible_policies
from kubectl_policy.questions.shared.reported import REPORTED, ReportedCondition, has_report, reported_conditions
from kubectl_policy.resolution import CARRY_NOTHING
from kubectl_policy.topology.gateway.listeners import Listener  # noqa: TC001 (its members are in the document)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model.unknown import Port
    from kubectl_policy.questions.shared.selection import RowSort
    from kubectl_policy.topology import BindingState


_POLICIES: Final = (
    "The policies with an effect on the object; for a GatewayClass or Namespace, the policies attached to it."
)
_UNDECIDED_POLICIES: Final = (
    "The policies that may have an effect on the object, because it is unknown how they combine."
)
_POSSIBLE_POLICIES: Final = (
    "The policies that affect the object only if a route is attached, or if they select the object, which is not known."
)
_TARGETED_BY: Final = "The target references to the object or to one of its sections, including those that fail."
_UNDECIDED_ROUTES: Final = "The routes that may be attached: whether they are is unknown."


class Listed(WithBlindSpots, frozen=True, kw_only=True):
    """What every row has."""

    resource: Annotated[Resource, "inline"]
    policies: Annotated[tuple[ObjectRef, ...], Meta(description=_POLICIES)]
    undecided_policies: Annotated[tuple[ObjectRef, ...], Meta(description=_UNDECIDED_POLICIES)]
    possible_policies: Annotated[tuple[ObjectRef, ...], Meta(description=_POSSIBLE_POLICIES)]
    targeted_by: Annotated[tuple[Attachment, ...], Meta(description=_TARGETED_BY)]
    reported: Annotated[tuple[ReportedCondition, ...], Meta(description=f"{REPORTED} Those of workloads are left out.")]

    @property
    def object(self) -> Annotated[ObjectRef, Meta()]:
        """The object."""
        return self.resource.ref


class ObjectRow(Struct, frozen=True, kw_only=True):
    """An object."""

    listed: Annotated[Listed, "inline"]

    @property
    def ref(self) -> ObjectRef:
        """The name of the object."""
        return self.listed.resource.ref

    @property
    def raw(self) -> Mapping[str, Json]:
        """The object as it was read."""
        return self.listed.resource.raw

    @property
    def unseen(self) -> tuple[BlindSpot, ...]:
        """The blind spots that might have changed the row."""
        return self.listed.unseen


class GatewayClassRow(ObjectRow, frozen=True, kw_only=True):
    """A GatewayClass, its controller and the Gateways that name it."""

    controller: Annotated[str, Meta(description="The name of the controller.")]
    gateways: Annotated[tuple[ObjectRef, ...], Meta(description="The Gateways that name the class.")]

    @property
    def accepted(self) -> Annotated[str, Meta()]:
        """The reported status of the condition Accepted; empty if it is not reported."""
        return reported_as(self.listed.reported, "Accepted")


_ABOVE: Final = "The GatewayClass of a Gateway, or the Gateway of a ListenerSet; null if the object names none."


class GatewayRow(ObjectRow, frozen=True, kw_only=True):
    """A Gateway or ListenerSet."""

    above: Annotated[ObjectRef | None, Meta(description=_ABOVE)]
    ports: Annotated[tuple[Port, ...], Meta(description="The ports of the listeners, each once.")]
    listeners: Annotated[tuple[str, ...], Meta(description="The names of the listeners.")]
    routes: Annotated[
        tuple[ObjectRef, ...], Meta(description="The routes attached to the listeners of the object itself.")
    ]
    undecided_routes: Annotated[tuple[ObjectRef, ...], Meta(description=_UNDECIDED_ROUTES)]

    @property
    def addresses(self) -> Annotated[tuple[str, ...] | None, Meta()]:
        """The reported addresses in the status; null if the object has no status."""
        values = (text_at(address, "value") for address in mappings_at(self.raw, "status.addresses"))
        addresses = tuple(filter(None, values))
        return addresses if addresses or has_report(self.raw) else None

    @property
    def programmed(self) -> Annotated[str, Meta()]:
        """The reported status of the condition Programmed of the object itself; empty if it is not reported."""
        return reported_as(self.listed.reported, "Programmed")


class ListenerRow(ObjectRow, frozen=True, kw_only=True):
    """A listener of a Gateway or ListenerSet."""

    listener: Annotated[Listener, "inline"]
    routes: Annotated[tuple[ObjectRef, ...], Meta(description="The routes attached to the listener.")]
    undecided_routes: Annotated[tuple[ObjectRef, ...], Meta(description=_UNDECIDED_ROUTES)]


class Parent(Struct, frozen=True, kw_only=True):
    """The outcome of one parentRef: attached to at least one listener, or the first reason why not."""

    object: Annotated[ObjectRef, Meta(description="The object that the parentRef names.")]
    state: Annotated[BindingState, Meta(description="The state of the route at the parent.")]
    listeners: Annotated[tuple[NodeRef, ...], Meta(description="The listeners to which the route is attached.")]
    reason: Annotated[
        str,
        Meta(description="The reason why the route is not attached, as the API spells it; empty if it is attached."),
    ]
    message: Annotated[str, Meta(description="The reason why the route is not attached, for people.")]


class RouteRow(ObjectRow, frozen=True, kw_only=True):
    """A route with its hostnames and one entry for each of its parentRefs."""

    hostnames: Annotated[tuple[str, ...], Meta(description="The hostnames in the spec of the route.")]
    parents: Annotated[tuple[Parent, ...], Meta(description="The outcomes, one for each parentRef.")]


class BackendRow(ObjectRow, frozen=True, kw_only=True):
    """A Service or another object, and the routes that refer to it, as a backend or as their parent."""

    type: Annotated[
        str, Meta(description="The type of a Service: ClusterIP, LoadBalancer; empty for any other object.")
    ]
    ports: Annotated[
        tuple[str, ...],
        Meta(description="The ports of a Service, as kubectl shows them: 80/TCP; empty for any other object."),
    ]
    referred_by: Annotated[tuple[ObjectRef, ...], Meta(description="The routes that refer to the object.")]


class NamespaceRow(ObjectRow, frozen=True, kw_only=True):
    """A Namespace."""

    holds: Annotated[tuple[ObjectRef, ...], Meta(description="The objects of the hierarchy in the namespace.")]
    affected: Annotated[tuple[ObjectRef, ...], Meta(description="The objects of these that a policy affects.")]
    unseen_inside: tuple[BlindSpot, ...]

    @property
    def phase(self) -> Annotated[str, Meta()]:
        """The reported phase in the status; empty if it is not reported."""
        return text_at(self.raw, "status.phase")

    @property
    def unseen(self) -> tuple[BlindSpot, ...]:
        """The blind spots of it and of the objects that it holds."""
        return tuple(dict.fromkeys((*self.listed.unseen, *self.unseen_inside)))


def object_row(analysis: Analysis, rows: RowSort, resource: Resource) -> ObjectRow:
    """The row of an object, of the sort that its type has."""
    ref, topology = resource.ref, analysis.topology
    listed = listed_object(analysis, resource, include_descendants=rows in {"gateways", "listener sets"})
    match rows:
        case "gateway classes":
            controller = text_at(resource.raw, "spec.controllerName")
            return GatewayClassRow(listed=listed, controller=controller, gateways=topology.gateways.of_class(ref))
        case "gateways":
            return _with_listeners(analysis, listed, topology.gateways.class_of(ref))
        case "listener sets":
            return _with_listeners(analysis, listed, topology.gateways.gateway_of(ref))
        case "routes":
            hostnames = tuple(strings_at(resource.raw, "spec.hostnames"))
            return RouteRow(listed=listed, hostnames=hostnames, parents=tuple(_parents(analysis, ref)))
        case "namespaces":
            held = [analysis.index.get(inside) for inside in topology.relations.objects_in(ref.name)]
            rows_inside = [listed_object(analysis, obj) for obj in held if obj]
            return NamespaceRow(
                listed=listed,
                holds=tuple(row.resource.ref for row in rows_inside),
                affected=tuple(row.resource.ref for row in rows_inside if row.policies),
                unseen_inside=tuple(dict.fromkeys(blind_spot for row in rows_inside for blind_spot in row.unseen)),
            )
        case _:
            routes = {*topology.relations.routes_referring_to(ref), *topology.relations.routes_naming(ref)}
            is_service = ref.group_kind == SERVICE
            return BackendRow(
                listed=listed,
                type=text_at(resource.raw, "spec.type", "ClusterIP") if is_service else "",
                ports=tuple(map(_port_words, mappings_at(resource.raw, "spec.ports"))) if is_service else (),
                referred_by=tuple(sorted(routes)),
            )


def listener_rows(analysis: Analysis, resource: Resource) -> Iterator[ListenerRow]:
    """A row for each listener of a Gateway or ListenerSet, in their order."""
    topology, ref = analysis.topology, resource.ref
    undecided: dict[NodeRef | None, dict[ObjectRef, None]] = {}
    for route in topology.relations.routes_naming(ref):
        for binding in topology.relations.bindings_at(route, ref):
            if binding.state == "unknown":
                undecided.setdefault(binding.listener, {})[route] = None
    for listener in topology.gateways.listeners(ref):
        node = listener.node
        routes = topology.relations.attached_to(node)
        perhaps = {**undecided.get(node, {}), **undecided.get(None, {})}
        yield ListenerRow(
            listed=listed_object(analysis, resource, node, include_descendants=True),
            listener=listener,
            routes=routes,
            undecided_routes=tuple(route for route in perhaps if route not in routes),
        )


def reported_as(reported: Iterable[ReportedCondition], type_: str) -> str:
    """The status of an object's own condition of a type; empty if it is not reported."""
    return next((condition.status for condition in reported if condition.type == type_ and not condition.about), "")


def _port_words(port: Mapping[str, Json]) -> str:
    outside = f":{node_port}" if (node_port := integer_at(port, "nodePort")) else ""
    return f"{integer_at(port, 'port')}{outside}/{text_at(port, 'protocol', 'TCP')}"


def listed_object(
    analysis: Analysis, resource: Resource, node: NodeRef | None = None, *, include_descendants: bool = False
) -> Listed:
    """What the row of an object has, or that of a listener, in common with all rows."""
    subject = node or NodeRef(resource.ref)
    attachments = analysis.attachments_to(resource.ref)
    reported = reported_conditions(resource.raw)
    if node:
        attachments = tuple(attachment for attachment in attachments if attachment.target == node)
        reported = tuple(condition for condition in reported if condition.about == f"listener {node.section}")
    undecided: tuple[ObjectRef, ...] = ()
    possible: tuple[ObjectRef, ...] = ()
    if resource.ref.group_kind in CARRY_NOTHING:
        paths = analysis.topology.paths(subject)
        attached = {attachment.policy for attachment in attachments if attachment.state == "attached"}
        policies = tuple(sorted(attached))
    else:
        paths = covered_paths(analysis, subject)
        policies, undecided, doubtful = affecting_or_undecided(analysis, subject, paths)
        elsewhere = possible_policies(analysis, subject, paths, {*policies, *undecided})
        possible = tuple(sorted({*doubtful, *(cause.policy for cause in elsewhere)}))
    return Listed(
        resource=resource,
        policies=policies,
        undecided_policies=undecided,
        possible_policies=possible,
        targeted_by=attachments,
        reported=reported,
        unseen=blind_spots_for(analysis, subject, paths, include_descendants=include_descendants),
    )


def _with_listeners(analysis: Analysis, listed: Listed, parent: ObjectRef | None) -> GatewayRow:
    topology, ref = analysis.topology, listed.resource.ref
    listeners = topology.sections(ref)
    children = (child for name in listeners for child in topology.children(NodeRef(ref, name)))
    routes = dict.fromkeys(child.object for child in children if child.object.group_kind in ROUTES)
    undecided = dict.fromkeys(
        route
        for route in topology.relations.routes_naming(ref)
        for binding in topology.bindings(route)
        if binding.parent == ref and binding.state == "unknown" and route not in routes
    )
    ports = dict.fromkeys(listener.port for listener in topology.gateways.listeners(ref))
    return GatewayRow(
        listed=listed,
        above=parent,
        listeners=listeners,
        ports=tuple(port for port in ports if port is not None),
        routes=tuple(routes),
        undecided_routes=tuple(undecided),
    )


def _parents(analysis: Analysis, route: ObjectRef) -> Iterator[Parent]:
    """The outcome of each parentRef, then the routes that delegate to a route which does not name them as parents."""
    order: tuple[BindingState, ...] = ("attached", "unknown", "refused")
    named: set[ObjectRef] = set()
    for _, of_parent in groupby(analysis.topology.bindings(route), lambda binding: binding.parent_index):
        bindings = tuple(of_parent)
        best = min(bindings, key=lambda binding: order.index(binding.state))
        attached = (binding.listener for binding in bindings if binding.state == "attached")
        named.add(best.parent)
        yield Parent(
            object=best.parent,
            state=best.state,
            listeners=tuple(listener for listener in attached if listener),
            reason=best.reason,
            message=best.message,
        )
    delegations = analysis.topology.relations.delegations_to(route)
    delegating = (
        delegation
        for delegation in delegations
        if delegation.parent.object not in named and (delegation.is_accepted or delegation.reason)
    )
    for parent, from_parent in groupby(delegating, lambda delegation: delegation.parent.object):
        first = max(from_parent, key=lambda delegation: delegation.is_accepted)
        state: BindingState = "attached" if first.is_accepted else "refused"
        yield Parent(object=parent, state=state, listeners=(), reason=first.reason, message=first.message)
