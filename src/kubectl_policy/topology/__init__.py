"""The hierarchy of target kinds in a snapshot: relations, paths, and routes attached to listeners."""

from kubectl_policy.topology.attached_hostnames import attached_hostnames, why_too_wide
from kubectl_policy.topology.conditions import (
    attached_routes,
    backend_tls_conditions,
    delegated_conditions,
    parent_routes,
    route_conditions,
    route_parent_conditions,
)
from kubectl_policy.topology.gateway.conditions import (
    Condition,
    attached_listener_sets,
    gateway_class_conditions,
    gateway_conditions,
    listener_conditions,
    listener_set_conditions,
    supported_kinds,
)
from kubectl_policy.topology.gateway.gateways import Implementation
from kubectl_policy.topology.gateway.handshake import Binding, BindingState
from kubectl_policy.topology.graph import Edge, Topology
from kubectl_policy.topology.links import LINKS
from kubectl_policy.topology.paths import MAX_NODES, Path, is_truncated, nodes_on_path
from kubectl_policy.topology.problems import shape_problems_of

__all__ = [
    "LINKS",
    "MAX_NODES",
    "Binding",
    "BindingState",
    "Condition",
    "Edge",
    "Implementation",
    "Path",
    "Topology",
    "attached_hostnames",
    "attached_listener_sets",
    "attached_routes",
    "backend_tls_conditions",
    "delegated_conditions",
    "gateway_class_conditions",
    "gateway_conditions",
    "is_truncated",
    "listener_conditions",
    "listener_set_conditions",
    "nodes_on_path",
    "parent_routes",
    "route_conditions",
    "route_parent_conditions",
    "shape_problems_of",
    "supported_kinds",
    "why_too_wide",
]
