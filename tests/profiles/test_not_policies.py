"""Kinds that stand near policies and are none: bindings, grants, parts of the hierarchy, and what no profile covers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import GATEWAY_API, GATEWAY_API_EXPERIMENTAL
from kubectl_policy.profiles import Registry
from tests.build import index, resource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json

SERVICE_REF: Final[Json] = {"group": "", "kind": "Service", "name": "s"}
CLUSTERS: Final = "cluster.open-cluster-management.io"

# Each with a spec as its documentation writes it: none of them looks like a policy, and no profile takes it for one.
NOT_POLICIES: Final[list[tuple[GroupKind, Mapping[str, Json]]]] = [
    (GroupKind(GATEWAY_API_EXPERIMENTAL, "XListenerSet"), {"parentRef": {"kind": "Gateway", "name": "g"}}),
    (GroupKind(GATEWAY_API, "ReferenceGrant"), {"from": [{"kind": "HTTPRoute"}], "to": [SERVICE_REF]}),
    (GroupKind("gateway.k8s.aws", "TargetGroupConfiguration"), {"targetReference": SERVICE_REF}),
    (GroupKind("configuration.konghq.com", "KongPlugin"), {}),
    (
        GroupKind("configuration.konghq.com", "KongPluginBinding"),
        {"targets": {"routeRef": {"group": "", "kind": "KongRoute", "name": "r"}}, "pluginRef": {"name": "p"}},
    ),
    (GroupKind("policy.open-cluster-management.io", "PlacementBinding"), {}),
    (GroupKind(CLUSTERS, "Placement"), {"predicates": [{"requiredClusterSelector": {}}]}),
    (GroupKind(CLUSTERS, "PlacementDecision"), {}),
    (GroupKind(CLUSTERS, "ManagedCluster"), {"hubAcceptsClient": True}),
    (GroupKind(CLUSTERS, "ManagedClusterSet"), {"clusterSelector": {"selectorType": "LabelSelector"}}),
    (GroupKind(CLUSTERS, "ManagedClusterSetBinding"), {"clusterSet": "x"}),
    (GroupKind("policy.linkerd.io", "Server"), {"podSelector": {}, "port": 80}),
    (GroupKind("policy.linkerd.io", "HTTPRoute"), {"parentRefs": [{"kind": "Server", "name": "s"}]}),
    (GroupKind("policy.linkerd.io", "EgressNetwork"), {"trafficPolicy": "Allow"}),
    (GroupKind("networking.istio.io", "DestinationRule"), {"host": "s", "workloadSelector": {"matchLabels": {}}}),
    (GroupKind("networking.istio.io", "Sidecar"), {"workloadSelector": {"labels": {}}}),
    (GroupKind("networking.istio.io", "ProxyConfig"), {"selector": {"matchLabels": {}}}),
    (GroupKind("gateway.kgateway.dev", "GatewayExtension"), {"type": "ExtAuth"}),
    (GroupKind("policy.linkerd.io", "MeshTLSAuthentication"), {"identities": ["*"]}),
    (GroupKind("policy.linkerd.io", "NetworkAuthentication"), {"networks": [{"cidr": "0.0.0.0/0"}]}),
    (GroupKind("application-networking.k8s.aws", "ServiceExport"), {}),
    (GroupKind("networking.gke.io", "GCPSessionAffinityFilter"), {"statefulGeneratedCookie": {"cookieTtlSeconds": 1}}),
    (GroupKind("kuma.io", "Mesh"), {}),
    (GroupKind("kuma.io", "Dataplane"), {"networking": {"inbound": [{"port": 80}]}}),
    (GroupKind("traefik.io", "Middleware"), {"headers": {}}),
    (GroupKind("projectcontour.io", "HTTPProxy"), {"routes": [{"services": [{"name": "s", "port": 80}]}]}),
    (GroupKind("ingress.v3.haproxy.org", "Backend"), {"name": "b"}),
    (GroupKind("ingress.v3.haproxy.org", "Defaults"), {"name": "d"}),
    (GroupKind("ingress.v3.haproxy.org", "Global"), {"name": "g"}),
]


def test_a_kind_beside_the_policies_is_none() -> None:
    """Neither by a built-in profile nor by its shape; PlacementBinding has its references outside of `spec`."""
    world = index(
        *(
            resource(
                kind.kind,
                "x",
                dict(spec),
                group=kind.group,
                placementRef={"kind": "Placement", "name": "p"},
                subjects=[{"kind": "Policy", "name": "p"}],
            )
            for kind, spec in NOT_POLICIES
        )
    )
    assert Registry(world).policy_kinds == ()
