"""What each built-in profile claims of its kind, said a second time: the tests of the profiles go by this table."""

from typing import Final, NamedTuple

from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import GATEWAY_API, GATEWAY_API_EXPERIMENTAL, NAMESPACE, SERVICE
from kubectl_policy.profiles.fields import PolicyClass

AWS: Final = "application-networking.k8s.aws"
AZURE: Final = "alb.networking.azure.io"
GKE: Final = "networking.gke.io"
GLOO: Final = "gateway.solo.io"
KGATEWAY: Final = "gateway.kgateway.dev"
LINKERD: Final = "policy.linkerd.io"
NGINX: Final = "gateway.nginx.org"
OCM: Final = "policy.open-cluster-management.io"

GATEWAY: Final = GroupKind(GATEWAY_API, "Gateway")
GATEWAY_CLASS: Final = GroupKind(GATEWAY_API, "GatewayClass")
LISTENER_SET: Final = GroupKind(GATEWAY_API, "ListenerSet")
X_LISTENER_SET: Final = GroupKind(GATEWAY_API_EXPERIMENTAL, "XListenerSet")
HTTP_ROUTE: Final = GroupKind(GATEWAY_API, "HTTPRoute")
GRPC_ROUTE: Final = GroupKind(GATEWAY_API, "GRPCRoute")
POD: Final = GroupKind("", "Pod")
NODE: Final = GroupKind("", "Node")
SERVICE_IMPORT: Final = GroupKind("multicluster.x-k8s.io", "ServiceImport")
GKE_SERVICE_IMPORT: Final = GroupKind("net.gke.io", "ServiceImport")
SERVICE_ENTRY: Final = GroupKind("networking.istio.io", "ServiceEntry")
SERVER: Final = GroupKind(LINKERD, "Server")


class Claim(NamedTuple):
    """What is known of one kind.

    `fields` are the spellings of its references, below `spec`; none if it does not attach by references. `merges` is
    the strategy, "stanzas", "assumed" where nothing is known, or "" where nothing is claimed. `sections` are the
    targets of which a policy may name a section. Another namespace may be named where `crosses` is true, never where
    it is false, and there is none to name where it is None. `filters` are the routes whose rules may name a policy, and
    `backends` is whether their backendRefs may, too. `parameters` is whether Gateways and classes name it as such.
    """

    kind: GroupKind
    policy_class: PolicyClass
    fields: tuple[str, ...]
    targets: tuple[GroupKind, ...]
    merges: str
    sections: tuple[GroupKind, ...] = ()
    crosses: bool | None = False
    filters: tuple[GroupKind, ...] = ()
    backends: bool = False
    parameters: bool = False


REF: Final = ("targetRef",)
REFS: Final = ("targetRefs",)
EITHER: Final = ("targetRef", "targetRefs")
SELECTED: Final = ("targetRefs", "targetSelectors")
ANY_SPELLING: Final = ("targetRef", "targetRefs", "targetSelectors")
WITH_ROUTES: Final = (GATEWAY, HTTP_ROUTE, GRPC_ROUTE)
GKE_BACKENDS: Final = (SERVICE, GKE_SERVICE_IMPORT)
ISTIO: Final = (GATEWAY_CLASS, GATEWAY, SERVICE, SERVICE_ENTRY)
DATA_PLANES: Final = (GroupKind("kuma.io", "Mesh"), GroupKind("kuma.io", "Dataplane"))
GLOO_LISTENERS: Final = (GATEWAY, X_LISTENER_SET)

GATEWAY_API_KINDS: Final = (
    Claim(GroupKind(GATEWAY_API, "BackendTLSPolicy"), "direct", ANY_SPELLING, (), "None", (SERVICE,)),
    Claim(GroupKind(GATEWAY_API, "BackendLBPolicy"), "direct", ANY_SPELLING, (SERVICE, SERVICE_IMPORT), "None"),
    Claim(GroupKind(GATEWAY_API_EXPERIMENTAL, "XBackendTrafficPolicy"), "direct", ANY_SPELLING, (), "None"),
)
TELEMETRY_KINDS: Final = (
    Claim(GroupKind(GATEWAY_API, "TelemetryPolicy"), "direct", REFS, (GATEWAY,), "None", crosses=True),
    Claim(GroupKind(GATEWAY_API_EXPERIMENTAL, "XTelemetryPolicy"), "direct", REFS, (GATEWAY,), "None", crosses=True),
    Claim(
        GroupKind("agentic.networking.x-k8s.io", "TelemetryPolicy"), "direct", REFS, (GATEWAY,), "None", crosses=True
    ),
)
NGINX_KINDS: Final = (
    Claim(GroupKind(NGINX, "ClientSettingsPolicy"), "inherited", REF, WITH_ROUTES, "Patch defaults"),
    Claim(GroupKind(NGINX, "ProxySettingsPolicy"), "inherited", REFS, WITH_ROUTES, "Patch defaults"),
    Claim(GroupKind(NGINX, "RateLimitPolicy"), "inherited", REFS, WITH_ROUTES, "Patch defaults"),
    Claim(GroupKind(NGINX, "WAFPolicy"), "inherited", REFS, WITH_ROUTES, "Atomic defaults"),
    Claim(GroupKind(NGINX, "PayloadProcessor"), "inherited", REF, (GATEWAY, HTTP_ROUTE), "Atomic defaults"),
    Claim(GroupKind(NGINX, "ObservabilityPolicy"), "direct", REFS, (HTTP_ROUTE, GRPC_ROUTE), "None"),
    Claim(GroupKind(NGINX, "UpstreamSettingsPolicy"), "direct", REFS, (SERVICE,), "Patch defaults"),
    Claim(GroupKind(NGINX, "SnippetsPolicy"), "inherited", REFS, (GATEWAY,), "All apply"),
    Claim(GroupKind(NGINX, "ExternalLoadBalancer"), "direct", REFS, (GATEWAY,), "None"),
)
TRAFFIC: Final = (GATEWAY, LISTENER_SET, HTTP_ROUTE, GRPC_ROUTE)
KGATEWAY_BACKENDS: Final = (SERVICE, GroupKind(KGATEWAY, "Backend"), GroupKind("networking.istio.io", "Hostname"))
KGATEWAY_KINDS: Final = (
    Claim(GroupKind(KGATEWAY, "TrafficPolicy"), "inherited", SELECTED, TRAFFIC, "Patch defaults", TRAFFIC)._replace(
        filters=(HTTP_ROUTE,), backends=True
    ),
    Claim(GroupKind(KGATEWAY, "DirectResponse"), "direct", (), (HTTP_ROUTE,), "All apply", filters=(HTTP_ROUTE,)),
    Claim(GroupKind(KGATEWAY, "ListenerPolicy"), "inherited", SELECTED, (GATEWAY,), "Patch defaults", (GATEWAY,)),
    Claim(GroupKind(KGATEWAY, "BackendConfigPolicy"), "direct", SELECTED, KGATEWAY_BACKENDS, "Patch defaults"),
    Claim(GroupKind(KGATEWAY, "HTTPListenerPolicy"), "inherited", ANY_SPELLING, (GATEWAY,), "Patch defaults"),
    Claim(GroupKind(KGATEWAY, "RoutePolicy"), "direct", REF, (HTTP_ROUTE,), "None"),
)
GLOO_KINDS: Final = (
    Claim(GroupKind(GLOO, "ListenerOption"), "inherited", REFS, GLOO_LISTENERS, "Atomic defaults", GLOO_LISTENERS),
    Claim(GroupKind(GLOO, "HttpListenerOption"), "inherited", REFS, GLOO_LISTENERS, "Atomic defaults", GLOO_LISTENERS),
    Claim(GroupKind(GLOO, "VirtualHostOption"), "inherited", REFS, GLOO_LISTENERS, "Patch defaults", GLOO_LISTENERS),
    Claim(GroupKind(GLOO, "RouteOption"), "inherited", REFS, (HTTP_ROUTE,), "Patch overrides", filters=(HTTP_ROUTE,)),
)
ISTIO_KINDS: Final = (
    Claim(GroupKind("security.istio.io", "AuthorizationPolicy"), "inherited", EITHER, ISTIO, "All apply"),
    Claim(GroupKind("security.istio.io", "RequestAuthentication"), "inherited", EITHER, ISTIO, "All apply"),
    Claim(GroupKind("security.istio.io", "PeerAuthentication"), "inherited", (), (POD,), ""),
    Claim(GroupKind("telemetry.istio.io", "Telemetry"), "inherited", EITHER, ISTIO, "All apply"),
    Claim(GroupKind("extensions.istio.io", "WasmPlugin"), "inherited", EITHER, ISTIO, "All apply"),
    Claim(GroupKind("extensions.istio.io", "TrafficExtension"), "inherited", REFS, ISTIO, "All apply"),
    Claim(GroupKind("networking.istio.io", "EnvoyFilter"), "inherited", REFS, ISTIO, "All apply"),
)
LINKERD_TARGETS: Final = (SERVER, NAMESPACE, GroupKind(LINKERD, "HTTPRoute"), HTTP_ROUTE, GRPC_ROUTE)
LINKERD_KINDS: Final = (
    Claim(GroupKind(LINKERD, "AuthorizationPolicy"), "inherited", REF, LINKERD_TARGETS, "All apply"),
    Claim(GroupKind(LINKERD, "ServerAuthorization"), "direct", (), (SERVER,), ""),
    Claim(GroupKind(LINKERD, "HTTPLocalRateLimitPolicy"), "direct", REF, (SERVER,), "None"),
)
GKE_KINDS: Final = (
    Claim(GroupKind(GKE, "GCPBackendPolicy"), "direct", REF, GKE_BACKENDS, "None"),
    Claim(GroupKind(GKE, "HealthCheckPolicy"), "direct", REF, GKE_BACKENDS, "None"),
    Claim(GroupKind(GKE, "GCPGatewayPolicy"), "direct", REF, (GATEWAY,), "None"),
    Claim(GroupKind(GKE, "GCPSessionAffinityPolicy"), "direct", REF, GKE_BACKENDS, "None"),
    Claim(GroupKind(GKE, "GCPTrafficDistributionPolicy"), "direct", REFS, GKE_BACKENDS, "None"),
    Claim(GroupKind(GKE, "GCPTrafficExtension"), "direct", REFS, (GATEWAY,), "assumed"),
    Claim(GroupKind(GKE, "GCPRoutingExtension"), "direct", REFS, (GATEWAY,), "assumed"),
    Claim(GroupKind(GKE, "GCPAuthzPolicy"), "direct", REFS, (GATEWAY, POD), "All apply"),
    Claim(GroupKind(GKE, "GCPClientTLSPolicy"), "inherited", REFS, (NAMESPACE, SERVICE), "Atomic defaults", (SERVICE,)),
    Claim(GroupKind(GKE, "GCPServerTLSPolicy"), "inherited", REFS, (POD,), "Atomic defaults"),
)
AWS_KINDS: Final = (
    Claim(GroupKind(AWS, "TargetGroupPolicy"), "direct", REF, (SERVICE, GroupKind(AWS, "ServiceExport")), "None"),
    Claim(GroupKind(AWS, "VpcAssociationPolicy"), "direct", REF, (GATEWAY,), "None"),
    Claim(GroupKind(AWS, "IAMAuthPolicy"), "direct", REF, WITH_ROUTES, "None"),
    Claim(GroupKind(AWS, "AccessLogPolicy"), "direct", REF, WITH_ROUTES, "None"),
)
AZURE_KINDS: Final = tuple(
    Claim(GroupKind(AZURE, kind), "inherited", REF, targets, merges, crosses=True)
    for kind, targets, merges in (
        ("BackendTLSPolicy", (SERVICE,), "stanzas"),
        ("FrontendTLSPolicy", (GATEWAY,), "stanzas"),
        ("HealthCheckPolicy", (SERVICE,), "stanzas"),
        ("RoutePolicy", (HTTP_ROUTE,), "stanzas"),
        ("WebApplicationFirewallPolicy", (GATEWAY, HTTP_ROUTE), "assumed"),
    )
)
# These attach by labels, subjects, placements or annotations: they are known, and nothing is claimed of their effect.
NETWORKS: Final = "policy.networking.k8s.io"
KONG: Final = "configuration.konghq.com"
MANAGED_CLUSTER: Final = GroupKind("cluster.open-cluster-management.io", "ManagedCluster")
FACADE: Final = GroupKind("incubator.ingress-controller.konghq.com", "KongServiceFacade")
NOT_BY_REFERENCE: Final = (
    Claim(GroupKind("networking.k8s.io", "NetworkPolicy"), "inherited", (), (POD,), ""),
    *(
        Claim(GroupKind(NETWORKS, kind), "inherited", (), (NAMESPACE, POD), "", (), None)
        for kind in ("ClusterNetworkPolicy", "AdminNetworkPolicy", "BaselineAdminNetworkPolicy")
    ),
    Claim(GroupKind("cilium.io", "CiliumNetworkPolicy"), "inherited", (), (POD,), ""),
    Claim(GroupKind("cilium.io", "CiliumClusterwideNetworkPolicy"), "inherited", (), (POD, NODE), "", (), None),
    *(
        claim
        for group in ("projectcalico.org", "crd.projectcalico.org")
        for claim in (
            *(
                Claim(GroupKind(group, kind), "inherited", (), (POD,), "")
                for kind in ("NetworkPolicy", "StagedNetworkPolicy", "StagedKubernetesNetworkPolicy")
            ),
            *(
                Claim(GroupKind(group, kind), "inherited", (), (POD, NODE), "", (), None)
                for kind in ("GlobalNetworkPolicy", "StagedGlobalNetworkPolicy")
            ),
        )
    ),
    *(
        Claim(GroupKind("crd.antrea.io", kind), "inherited", (), (POD,), "", (), None)
        for kind in ("NetworkPolicy", "ClusterNetworkPolicy")
    ),
    Claim(GroupKind("k8s.ovn.org", "EgressFirewall"), "inherited", (), (POD,), ""),
    Claim(GroupKind("network.openshift.io", "EgressNetworkPolicy"), "inherited", (), (POD,), ""),
    Claim(GroupKind("networking.k8s.aws", "ApplicationNetworkPolicy"), "inherited", (), (POD,), ""),
    Claim(GroupKind("networking.k8s.aws", "ClusterNetworkPolicy"), "inherited", (), (POD,), "", (), None),
    Claim(GroupKind("vpcresources.k8s.aws", "SecurityGroupPolicy"), "inherited", (), (POD,), ""),
    Claim(GroupKind(GKE, "FQDNNetworkPolicy"), "inherited", (), (POD,), ""),
    Claim(GroupKind(OCM, "Policy"), "direct", (), (MANAGED_CLUSTER,), ""),
    Claim(GroupKind(OCM, "PolicySet"), "direct", (), (GroupKind(OCM, "Policy"),), ""),
    Claim(GroupKind(OCM, "ConfigurationPolicy"), "direct", (), (), "", (), None),
    Claim(GroupKind(KONG, "KongUpstreamPolicy"), "direct", (), (SERVICE, FACADE), ""),
    *(
        Claim(GroupKind("kuma.io", f"Mesh{kind}"), "inherited", (), DATA_PLANES, "", (), None)
        for kind in (
            *("AccessLog", "CircuitBreaker", "FaultInjection", "HTTPRoute", "HealthCheck", "LoadBalancingStrategy"),
            *("Metric", "Passthrough", "ProxyPatch", "RateLimit", "Retry", "TCPRoute", "TLS", "Timeout", "Trace"),
            "TrafficPermission",
        )
    ),
)
ENVOY: Final = "gateway.envoyproxy.io"
GLOO_TYPES: Final = "gateway.gloo.solo.io"
AWS_LOAD_BALANCER: Final = "gateway.k8s.aws"
BOTH: Final = (HTTP_ROUTE, GRPC_ROUTE)
OF_CLASS_OR_GATEWAY: Final = (GATEWAY_CLASS, GATEWAY)
FILTERS: Final = (
    Claim(GroupKind(ENVOY, "HTTPRouteFilter"), "direct", (), BOTH, "All apply", filters=BOTH, backends=True),
    Claim(GroupKind(NGINX, "SnippetsFilter"), "direct", (), BOTH, "All apply", filters=BOTH, crosses=False),
    Claim(GroupKind(NGINX, "AuthenticationFilter"), "direct", (), BOTH, "All apply", filters=BOTH),
    Claim(GroupKind(GLOO_TYPES, "DirectResponse"), "direct", (), BOTH[:1], "All apply", filters=BOTH[:1]),
    Claim(
        GroupKind(AWS_LOAD_BALANCER, "ListenerRuleConfiguration"),
        *("direct", (), BOTH[:1], "All apply"),
        filters=BOTH[:1],
    ),
)
PARAMETERS: Final = tuple(
    Claim(GroupKind(group, kind), "inherited", (), OF_CLASS_OR_GATEWAY, merges, crosses=None, parameters=True)
    for group, kind, merges in (
        (ENVOY, "EnvoyProxy", "Atomic defaults"),
        (NGINX, "NginxProxy", "Patch defaults"),
        (KGATEWAY, "GatewayParameters", "Patch defaults"),
        (GLOO_TYPES, "GatewayParameters", "Patch defaults"),
        (AWS_LOAD_BALANCER, "LoadBalancerConfiguration", "Patch overrides"),
    )
)
# These attach by references or, without any, by labels of workloads.
PARTLY: Final = {claim.kind for claim in ISTIO_KINDS if claim.fields}
CLAIMS: Final = (
    *GATEWAY_API_KINDS,
    *TELEMETRY_KINDS,
    *NGINX_KINDS,
    *KGATEWAY_KINDS,
    *GLOO_KINDS,
    *ISTIO_KINDS,
    *LINKERD_KINDS,
    *GKE_KINDS,
    *AWS_KINDS,
    *AZURE_KINDS,
    *NOT_BY_REFERENCE,
    *FILTERS,
    *PARAMETERS,
)
