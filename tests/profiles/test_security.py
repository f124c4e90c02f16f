"""Which fields of the built-in kinds are about security, said a second time; and what that comes to in their worlds."""

from typing import Final

import pytest

from kubectl_policy import Analysis, GroupKind, NodeRef, analyze
from kubectl_policy.model import Json
from kubectl_policy.profiles.load import built_in_groups, built_in_profiles
from kubectl_policy.questions.shared.fields import named_leaves
from tests.implementations import edited, manifests, places

# Kinds that are about nothing else.
WHOLE: Final = {
    "alb.networking.azure.io": ("BackendTLSPolicy", "FrontendTLSPolicy", "WebApplicationFirewallPolicy"),
    "application-networking.k8s.aws": ("IAMAuthPolicy",),
    "cilium.io": ("CiliumClusterwideNetworkPolicy", "CiliumNetworkPolicy"),
    "crd.antrea.io": ("ClusterNetworkPolicy", "NetworkPolicy"),
    "crd.projectcalico.org": ("GlobalNetworkPolicy", "NetworkPolicy"),
    "extensions.kuadrant.io": ("OIDCPolicy", "PlanPolicy", "ThreatPolicy"),
    "gateway.envoyproxy.io": ("SecurityPolicy",),
    "gateway.networking.k8s.io": ("BackendTLSPolicy",),
    "gateway.nginx.org": ("AuthenticationFilter", "RateLimitPolicy", "WAFPolicy"),
    "kuadrant.io": ("AuthPolicy", "RateLimitPolicy", "TLSPolicy", "TokenRateLimitPolicy"),
    "kuma.io": ("MeshPassthrough", "MeshRateLimit", "MeshTLS", "MeshTrafficPermission"),
    "k8s.ovn.org": ("EgressFirewall",),
    "network.openshift.io": ("EgressNetworkPolicy",),
    "networking.gke.io": ("FQDNNetworkPolicy", "GCPAuthzPolicy", "GCPClientTLSPolicy", "GCPServerTLSPolicy"),
    "networking.k8s.aws": ("ApplicationNetworkPolicy", "ClusterNetworkPolicy"),
    "networking.k8s.io": ("NetworkPolicy",),
    "policy.linkerd.io": ("AuthorizationPolicy", "HTTPLocalRateLimitPolicy", "ServerAuthorization"),
    "policy.networking.k8s.io": ("AdminNetworkPolicy", "BaselineAdminNetworkPolicy", "ClusterNetworkPolicy"),
    "projectcalico.org": ("GlobalNetworkPolicy", "NetworkPolicy"),
    "security.istio.io": ("AuthorizationPolicy", "PeerAuthentication", "RequestAuthentication"),
    "vpcresources.k8s.aws": ("SecurityGroupPolicy",),
}


def below(prefix: str, names: str) -> tuple[str, ...]:
    """The fields of these names below another one."""
    return tuple(f"{prefix}.{name}" for name in names.split())


KGATEWAY_HTTP: Final = (
    "earlyRequestHeaderModifier forwardClientCertDetails useRemoteAddress xffNumTrustedHops xffTrustedCIDRs"
)
GLOO_ROUTES: Final = (
    "cors csrf dlp extauth jwt jwtStaged rateLimitConfigs rateLimitEarlyConfigs rateLimitRegularConfigs ratelimit"
    " ratelimitBasic ratelimitEarly ratelimitRegular rbac waf"
)
# Kinds of which some fields are, and the others are not.
SOME: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("application-networking.k8s.aws", "TargetGroupPolicy"): ("protocol",),
    ("application-networking.k8s.aws", "VpcAssociationPolicy"): ("securityGroupIds",),
    ("gateway.envoyproxy.io", "BackendTrafficPolicy"): ("rateLimit",),
    ("gateway.envoyproxy.io", "ClientTrafficPolicy"): (
        *("clientIPDetection", "enableProxyProtocol", "path", "proxyProtocol", "tls"),
        *below("headers", "earlyRequestHeaders withUnderscoresAction xForwardedClientCert"),
    ),
    ("gateway.envoyproxy.io", "EnvoyProxy"): ("backendTLS",),
    ("gateway.k8s.aws", "LoadBalancerConfiguration"): ("securityGroups", "sourceRanges"),
    ("gateway.nginx.org", "NginxProxy"): ("nginxPlus.allowedAddresses", "rewriteClientIP", "waf"),
    ("gateway.kgateway.dev", "BackendConfigPolicy"): ("tls",),
    ("gateway.kgateway.dev", "HTTPListenerPolicy"): (
        "earlyRequestHeaderModifier",
        "useRemoteAddress",
        "xffNumTrustedHops",
    ),
    ("gateway.kgateway.dev", "ListenerPolicy"): (
        *below("default", "clientCertificateValidation proxyProtocol"),
        *below("default.httpSettings", KGATEWAY_HTTP),
        "perPort.*.listener.proxyProtocol",
        *below("perPort.*.listener.httpSettings", KGATEWAY_HTTP),
    ),
    ("gateway.kgateway.dev", "RoutePolicy"): ("ai.promptGuard", "rateLimit"),
    ("gateway.kgateway.dev", "TrafficPolicy"): (
        *("acl", "apiKeyAuth", "basicAuth", "cors", "csrf"),
        *("extAuth", "jwtAuth", "oauth2", "rateLimit", "rbac"),
    ),
    ("gateway.solo.io", "HttpListenerOption"): (
        *below("options", "csrf dlp extauth headerValidationSettings httpLocalRatelimit leftmostXffAddress"),
        *below("options", "networkLocalRatelimit ratelimitServer sanitizeClusterHeader waf"),
        *below(
            "options.httpConnectionManagerSettings",
            "forwardClientCertDetails headersWithUnderscoresAction internalAddressConfig mergeSlashes normalizePath"
            " pathWithEscapedSlashesAction setCurrentClientCertDetails useRemoteAddress xffNumTrustedHops",
        ),
    ),
    ("gateway.solo.io", "ListenerOption"): ("options.proxyProtocol",),
    ("gateway.solo.io", "RouteOption"): below("options", f"{GLOO_ROUTES} jwtProvidersStaged"),
    ("gateway.solo.io", "VirtualHostOption"): below("options", f"{GLOO_ROUTES} corsPolicyMergeSettings"),
    ("networking.gke.io", "GCPBackendPolicy"): ("default.iap", "default.securityPolicy"),
    ("networking.gke.io", "GCPGatewayPolicy"): ("default.sslPolicy",),
}
CLAIMED: Final = {
    **{GroupKind(group, kind): {"*"} for group, kinds in WHOLE.items() for kind in kinds},
    **{GroupKind(*kind): set(fields) for kind, fields in SOME.items()},
}
# What policies amount to in fixture worlds: the fields that are about security, and those that are not.
IN_WORLDS: Final = [
    ("aws", "TargetGroupPolicy", "protocol", "protocolVersion"),
    ("aws", "VpcAssociationPolicy", "securityGroupIds", "associateWithVpc"),
    ("azure", "BackendTLSPolicy", "ports sni", ""),
    ("azure", "HealthCheckPolicy", "", "http.path interval"),
    (
        "envoy-gateway",
        "ClientTrafficPolicy",
        "clientIPDetection.xForwardedFor.numTrustedHops",
        "timeout.http.requestReceivedTimeout",
    ),
    ("gke", "GCPGatewayPolicy", "default.sslPolicy", ""),
    ("gke", "GCPBackendPolicy", "", "default.connectionDraining.drainingTimeoutSec default.timeoutSec"),
    ("gloo", "VirtualHostOption", "options.cors", "options.retries"),
    ("kgateway", "BackendConfigPolicy", "", "circuitBreakers connectTimeout"),
    (
        "kgateway",
        "TrafficPolicy",
        "csrf extAuth.sailings/purser rateLimit.local",
        "buffer headerModifiers.platform/house headerModifiers.platform/plain retry timeouts.request",
    ),
    (
        "kgateway",
        "ListenerPolicy",
        "default.httpSettings.xffNumTrustedHops",
        " ".join(
            (
                *below("default", "httpSettings.serverName perConnectionBufferLimitBytes"),
                *below("perPort.80", "listener.httpSettings.acceptHttp10 listener.httpSettings.serverName port"),
            )
        ),
    ),
    (
        "nginx-gateway-fabric",
        "ClientSettingsPolicy",
        "",
        "body.maxSize body.timeout keepAlive.requests keepAlive.timeout",
    ),
]


def test_the_profiles_say_what_is_claimed() -> None:
    """No field of any other kind is about security."""
    for group in built_in_groups():
        for kind, profile in built_in_profiles(group).items():
            assert profile.security_fields == CLAIMED.get(kind, set()), kind


def test_it_is_said_where_that_is_known_from() -> None:
    for kind in CLAIMED:
        assert any("securityFields" in source for source in built_in_profiles(kind.group)[kind].evidence), kind


def told_apart(analysis: Analysis, kind: str) -> tuple[str, str]:
    """The fields that policies of a kind amount to anywhere, those that are about security first."""
    told: tuple[set[str], set[str]] = (set(), set())
    nodes = {*places(analysis), *(NodeRef(resource.ref) for resource in analysis.snapshot.resources)}
    for found in (found for node in nodes for found in analysis.effective(node) if found.resolution.kind.kind == kind):
        profile = analysis.registry.profile(found.resolution.kind)
        for leaf in named_leaves(found.resolution.spec, profile):
            told[0 if profile.is_security(leaf.field) else 1].add(".".join(leaf.field))
    return " ".join(sorted(told[0])), " ".join(sorted(told[1]))


@pytest.mark.parametrize(("world", "kind", "security", "others"), IN_WORLDS)
def test_fields_are_found_where_they_stand(world: str, kind: str, security: str, others: str) -> None:
    """In the spec proper, however policies are merged: below stanzas, in lists of entries, as a whole."""
    assert told_apart(analyze(manifests(world)), kind) == (security, others)


def test_settings_for_single_ports_protect_as_those_for_all_do() -> None:
    http: Json = {"useRemoteAddress": False, "idleTimeout": "9s"}
    entry: Json = {"port": 80, "listener": {"proxyProtocol": {}, "httpSettings": http}}
    world = edited(manifests("kgateway"), "ListenerPolicy platform/house", perPort=[entry])
    security, _ = told_apart(analyze(world), "ListenerPolicy")
    assert security.split() == [
        "default.httpSettings.xffNumTrustedHops",
        "perPort.80.listener.httpSettings.useRemoteAddress",
        "perPort.80.listener.proxyProtocol",
    ]
