"""A shop behind a Gateway, in short manifests: what tests of policies' effects have in common."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from kubectl_policy import analyze
from kubectl_policy.lint.lint_world import LintWorld
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model import GroupKind
from kubectl_policy.profiles import PolicyKindProfile
from tests.lint.rule_worlds import document, snapshot_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.lint.rule import Rule

ENVOY = "gateway.envoyproxy.io/gatewayclass-controller"
JWT = 'jwt: {providers: [{name: example, remoteJWKS: {uri: "https://id.example.com/keys"}}]}'
CORS = 'cors: {allowOrigins: ["https://www.example.com"]}'


def gateway(name: str = "public", controller: str = ENVOY, listeners: Sequence[str] = ("http",)) -> str:
    """A Gateway in namespace infra for routes of all namespaces, and its class."""
    each = "".join(
        f"\n    - {{name: {listener}, port: {port}, protocol: HTTP, allowedRoutes: {{namespaces: {{from: All}}}}}}"
        for port, listener in enumerate(listeners, 80)
    )
    of_class = document("GatewayClass", "ours", f"{{controllerName: {controller}}}", namespace="")
    return of_class + document("Gateway", name, f"\n  gatewayClassName: ours\n  listeners:{each}", namespace="infra")


def route(  # noqa: PLR0913 (as a builder is read by its keywords)
    name: str = "cart",
    *,
    rule: str = "",
    backend: str = "cart",
    gateway: str = "public",
    section: str = "",
    namespace: str = "shop",
    hostname: str = "",
    labels: str = "",
) -> str:
    """An HTTPRoute with one rule, `all`; `rule` is more of it, in flow style."""
    parent = f"name: {gateway}, namespace: infra" + (f", sectionName: {section}" if section else "")
    more = f", {rule}" if rule else ""
    spec = (
        f"\n  parentRefs: [{{{parent}}}]"
        f'\n  hostnames: ["{hostname or f"{name}.example.com"}"]'
        f"\n  rules: [{{name: all, backendRefs: [{{name: {backend}, port: 80}}]{more}}}]"
    )
    return document("HTTPRoute", name, spec, namespace=namespace, meta=f", labels: {{{labels}}}")


def service(name: str = "cart", namespace: str = "shop", labels: str = "") -> str:
    """A Service with one port, http."""
    ports = "{ports: [{name: http, port: 80}]}"
    return document("Service", name, ports, version="v1", namespace=namespace, meta=f", labels: {{{labels}}}")


# The API versions of the kinds that are not of Envoy Gateway.
_API_VERSIONS: Final = {
    "BackendTLSPolicy": "gateway.networking.k8s.io/v1",
    "AuthPolicy": "kuadrant.io/v1",
    "RateLimitPolicy": "kuadrant.io/v1",
    "TrafficPolicy": "gateway.kgateway.dev/v1alpha1",
    "ProxySettingsPolicy": "gateway.nginx.org/v1alpha1",
    "WAFPolicy": "gateway.nginx.org/v1alpha1",
    "RoutePolicy": "alb.networking.azure.io/v1",
    "GuardPolicy": "example.io/v1",
    "QuotaPolicy": "example.io/v1",
}


def policy(  # noqa: PLR0913 (as above)
    kind: str, target: str, spec: str, *, name: str = "", section: str = "", created: str = "", labels: str = ""
) -> str:
    """A policy on `KIND/NAME`, by default called like that, in its namespace: infra of a Gateway, else shop."""
    version = _API_VERSIONS.get(kind, "gateway.envoyproxy.io/v1alpha1")
    of, _, called = target.partition("/")
    namespace = "infra" if of == "Gateway" else "shop"
    of_group = "" if of == "Service" else "gateway.networking.k8s.io"
    narrow = f", sectionName: {section}" if section else ""
    age = f", creationTimestamp: {created}" if created else ""
    reference = f'{{group: "{of_group}", kind: {of}, name: {called}{narrow}}}'
    references = f"targetRef: {reference}" if version.startswith("kuadrant.io") else f"targetRefs: [{reference}]"
    spec = f"{{{', '.join(filter(None, (references, spec)))}}}"
    return document(
        kind, name or called, spec, version=version, namespace=namespace, meta=f"{age}, labels: {{{labels}}}"
    )


traffic: Final = partial(policy, "BackendTrafficPolicy")
security: Final = partial(policy, "SecurityPolicy")
rate: Final = partial(policy, "RateLimitPolicy")
quota: Final = partial(policy, "QuotaPolicy")


def profile(kind: str = "QuotaPolicy", **choices: Any) -> PolicyKindProfile:  # noqa: ANN401 (of any type)
    """The profile of an inherited kind of `example.io`."""
    return PolicyKindProfile(GroupKind("example.io", kind), "inherited", "profile", **choices)


def retrying(target: str, times: int) -> str:
    """A BackendTrafficPolicy that retries."""
    return traffic(target, f"retry: {{numRetries: {times}}}")


def definition(kind: str, label: str) -> str:
    """The definition of a kind of example.io that no profile knows."""
    plural = f"{kind.lower()}s"
    return document(
        "CustomResourceDefinition",
        f"{plural}.example.io",
        f"{{group: example.io, scope: Namespaced, names: {{kind: {kind}, plural: {plural}}}, "
        "versions: [{name: v1, served: true, storage: true}]}",
        version="apiextensions.k8s.io/v1",
        namespace="",
        meta=f", labels: {{gateway.networking.k8s.io/policy: {label}}}",
    )


def limits(name: str, number: int) -> str:
    """A limit of Kuadrant's RateLimitPolicy."""
    return f"limits: {{{name}: {{rates: [{{limit: {number}, window: 1m}}]}}}}"


def check(
    rule: Rule,
    *manifests: str,
    complete: bool = True,
    settings: LintSettings | None = None,
    profiles: Sequence[PolicyKindProfile] = (),
) -> list[Finding]:
    """What a rule finds in manifests."""
    analysis = analyze(snapshot_of("".join(manifests), complete=complete), profiles=profiles)
    return list(rule.check(LintWorld(analysis, settings or LintSettings(), lambda _: True)))


def said(findings: Iterable[Finding]) -> str:
    """The subjects and messages of the certain findings, a line each."""
    return "\n".join(f"{finding.subject}: {finding.message}" for finding in findings if finding.certain)


WORLD: Final = gateway() + route() + service()
ISTIO: Final = gateway(controller="istio.io/gateway-controller") + route() + service()
ON_GATEWAY: Final = "Gateway/public"
ON_ROUTE: Final = "HTTPRoute/cart"
SLOW: Final = "timeout: {http: {requestTimeout: 60s}}"
