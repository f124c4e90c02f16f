"""Kind roles: one row for each kind of the hierarchy, with what its objects can be and where their fields stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from msgspec import Struct

from kubectl_policy.model.refs import GroupKind

if TYPE_CHECKING:
    from collections.abc import Mapping

GATEWAY_API: Final = "gateway.networking.k8s.io"
GATEWAY_API_EXPERIMENTAL: Final = "gateway.networking.x-k8s.io"
GATEWAY_API_GROUPS: Final = frozenset({GATEWAY_API, GATEWAY_API_EXPERIMENTAL})

# What the objects of a kind are in the hierarchy. Paths lead from one role to a later one, but for routes that
# delegate, and start at any object to which nothing leads. A workload is what the requests to a backend reach.
KindRole: TypeAlias = Literal["namespace", "class", "gateway", "listener set", "route", "backend", "workload"]
_ROLES: Final[tuple[KindRole, ...]] = get_args(KindRole)


class TargetKind(Struct, frozen=True, kw_only=True):
    """A kind of the hierarchy: the role of its objects, their names, and the fields by which they are related."""

    group_kind: GroupKind
    role: KindRole
    # As `kubectl api-resources` and the definitions of kubernetes-sigs/gateway-api (config/crd) have them.
    short_names: str = ""
    namespaced: bool = True
    # The list whose items are the sections of an object, by `name` or else by number; empty for a kind without any.
    sections: str = ""
    section_noun: str = "section"
    # References upward and the hostnames of an object.
    parents: str = ""
    hostnames: str = ""
    # The reference to an object with parameters.
    parameters: str = ""
    # Whether rules have filters that may name an object.
    filters: bool = False
    # The Pod template of a kind whose objects run as Pods; empty for a Pod itself, None for all other kinds.
    template: str | None = None


def _listener_holder(
    kind: GroupKind, role: KindRole, short_names: str, parents: str, parameters: str = ""
) -> TargetKind:
    return TargetKind(
        group_kind=kind,
        role=role,
        short_names=short_names,
        sections="spec.listeners",
        section_noun="listener",
        parents=parents,
        hostnames="spec.listeners.hostname",
        parameters=parameters,
    )


def _route(kind: GroupKind, *, filters: bool = False, hostnames: str = "") -> TargetKind:
    return TargetKind(
        group_kind=kind,
        role="route",
        sections="spec.rules",
        section_noun="rule",
        parents="spec.parentRefs",
        hostnames=hostnames,
        filters=filters,
    )


def _workload(kind: GroupKind, short_names: str, template: str = "spec.template") -> TargetKind:
    return TargetKind(group_kind=kind, role="workload", short_names=short_names, template=template)


NAMESPACE: Final = GroupKind("", "Namespace")
GATEWAY_CLASS: Final = GroupKind(GATEWAY_API, "GatewayClass")
GATEWAY: Final = GroupKind(GATEWAY_API, "Gateway")
HTTP_ROUTE: Final = GroupKind(GATEWAY_API, "HTTPRoute")
GRPC_ROUTE: Final = GroupKind(GATEWAY_API, "GRPCRoute")
TLS_ROUTE: Final = GroupKind(GATEWAY_API, "TLSRoute")
TCP_ROUTE: Final = GroupKind(GATEWAY_API, "TCPRoute")
UDP_ROUTE: Final = GroupKind(GATEWAY_API, "UDPRoute")
SERVICE: Final = GroupKind("", "Service")
SERVICE_IMPORT: Final = GroupKind("multicluster.x-k8s.io", "ServiceImport")
POD: Final = GroupKind("", "Pod")
NODE: Final = GroupKind("", "Node")
DEPLOYMENT: Final = GroupKind("apps", "Deployment")
REPLICA_SET: Final = GroupKind("apps", "ReplicaSet")
JOB: Final = GroupKind("batch", "Job")
CRON_JOB: Final = GroupKind("batch", "CronJob")
REFERENCE_GRANT: Final = GroupKind(GATEWAY_API, "ReferenceGrant")

# The table, in the order of paths and of lists. Further kinds are taken for backends without sections, unless a
# profile declares where their ports stand (`backends.ports`) or how they delegate.
KIND_ROWS: Final = (
    TargetKind(group_kind=NAMESPACE, role="namespace", short_names="ns", namespaced=False),
    TargetKind(
        group_kind=GATEWAY_CLASS, role="class", short_names="gc", namespaced=False, parameters="spec.parametersRef"
    ),
    _listener_holder(GATEWAY, "gateway", "gtw", "spec.gatewayClassName", "spec.infrastructure.parametersRef"),
    _listener_holder(GroupKind(GATEWAY_API, "ListenerSet"), "listener set", "lset", "spec.parentRef"),
    _listener_holder(GroupKind(GATEWAY_API_EXPERIMENTAL, "XListenerSet"), "listener set", "lset", "spec.parentRef"),
    _route(HTTP_ROUTE, filters=True, hostnames="spec.hostnames"),
    _route(GRPC_ROUTE, filters=True, hostnames="spec.hostnames"),
    _route(TLS_ROUTE, hostnames="spec.hostnames"),
    _route(TCP_ROUTE),
    _route(UDP_ROUTE),
    TargetKind(group_kind=SERVICE, role="backend", short_names="svc", sections="spec.ports", section_noun="port"),
    TargetKind(
        group_kind=SERVICE_IMPORT, role="backend", short_names="svcim", sections="spec.ports", section_noun="port"
    ),
    _workload(POD, "po", template=""),
    _workload(DEPLOYMENT, "deploy"),
    _workload(REPLICA_SET, "rs"),
    _workload(GroupKind("apps", "StatefulSet"), "sts"),
    _workload(GroupKind("apps", "DaemonSet"), "ds"),
    _workload(JOB, ""),
    _workload(CRON_JOB, "cj", template="spec.jobTemplate.spec.template"),
)
KINDS: Final[Mapping[GroupKind, TargetKind]] = {row.group_kind: row for row in KIND_ROWS}
# Kinds on the paths of requests, and the kinds that run as Pods: there are many, and few questions are about them.
HIERARCHY: Final = tuple(row.group_kind for row in KIND_ROWS if row.role != "namespace" and row.template is None)
WORKLOADS: Final = tuple(row.group_kind for row in KIND_ROWS if row.template is not None)
LISTENER_SETS: Final = tuple(row.group_kind for row in KIND_ROWS if row.role == "listener set")
LISTENER_HOLDERS: Final = tuple(row.group_kind for row in KIND_ROWS if row.section_noun == "listener")
PORT_HOLDERS: Final = tuple(row.group_kind for row in KIND_ROWS if row.section_noun == "port")
# By position in the table: a lookup takes a fraction of the time of comparing a kind with each.
ROUTES: Final[Mapping[GroupKind, int]] = {
    row.group_kind: position for position, row in enumerate(KIND_ROWS) if row.role == "route"
}
FILTERING_ROUTES: Final = tuple(row.group_kind for row in KIND_ROWS if row.filters)
ROUTES_WITH_HOSTNAMES: Final = tuple(row.group_kind for row in KIND_ROWS if row.role == "route" and row.hostnames)
# Kinds that routes name as their parents.
ROUTE_PARENTS: Final = frozenset({*LISTENER_HOLDERS, *PORT_HOLDERS})
# Kinds by which routes attach to Gateways: nothing below them receives a request without a route.
ABOVE_ROUTES: Final = frozenset({GATEWAY_CLASS, *LISTENER_HOLDERS})
# Kinds above backends; objects of any other kind may be a backend.
ABOVE_BACKENDS: Final = frozenset(row.group_kind for row in KIND_ROWS if row.role not in {"backend", "workload"})
# The field of the reference to parameters, for the kinds that have one.
PARAMETERS: Final[Mapping[GroupKind, str]] = {row.group_kind: row.parameters for row in KIND_ROWS if row.parameters}
# Kinds of the API itself, also one that no policy targets: none is a policy kind, whatever fields or labels it has.
TARGET_KINDS: Final = frozenset({*HIERARCHY, NAMESPACE, REFERENCE_GRANT})

_POSITIONS: Final = {kind: position for position, kind in enumerate(HIERARCHY)}


def role_of(kind: GroupKind) -> KindRole:
    """Return the role of a kind; kinds that have no row are taken for backends."""
    row = KINDS.get(kind)
    return row.role if row else "backend"


def layer_of(kind: GroupKind) -> int:
    """Return the number of a kind's role on paths: an object leads to objects of later roles only."""
    return _ROLES.index(role_of(kind))


def depth_of(kind: GroupKind) -> int:
    """Return the position of a kind in the hierarchy, from 0 at the root; kinds without a row come last."""
    return _POSITIONS.get(kind, len(HIERARCHY))


def section_noun(kind: GroupKind) -> str:
    """Return the noun for a section of a kind: `listener`, `rule`, `port`, or `section` for kinds without a row."""
    row = KINDS.get(kind)
    return row.section_noun if row else "section"
