"""Implementations for which small worlds are enough: AWS, Azure, GKE, Gloo Gateway, Linkerd, Kong and Kuma."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from kubectl_policy import Analysis, NodeRef, Snapshot, analyze
from kubectl_policy.model import Json
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from tests import build
from tests.implementations import (
    added,
    affecting,
    annotated,
    edited,
    fixture_world,
    manifests,
    policy,
    policy_ref,
    reported,
    settings,
    spec_at,
    states,
)
from tests.render.shown import headline

# AWS: each policy of VPC Lattice changes its target alone; of two on one target the older one is accepted.
AWS: Final = "application-networking.k8s.aws"
FERRIES: Final = "ferries"
TIMETABLE: Final = build.node("HTTPRoute", "timetable", namespace=FERRIES)
aws: Final = fixture_world("aws")


def test_of_two_logs_on_one_route_the_older_one_is_written() -> None:
    kind = f"AccessLogPolicy.{AWS}"
    analysis = analyze(aws("AccessLogPolicy ferries/logbook"))
    assert spec_at(analysis, kind, TIMETABLE) == [{"destinationArn": "arn:aws:s3:::ferries-inquiry"}]


def test_another_controllers_gateway_is_left_alone() -> None:
    """Its routes and the Services behind them too; an exported Service needs no Gateway."""
    other = build.gateway_class("amazon-vpc-lattice", "example.com/other")
    analysis = analyze(added(aws("GatewayClass amazon-vpc-lattice"), other))
    assert {name for name, (state, _) in states(analysis).items() if state == "Enforced"} == {
        "TargetGroupPolicy ferries/timetable-abroad"
    }


# Application Gateway for Containers: settings stand in `default` or `override`, which beats every default.
AZURE: Final = "alb.networking.azure.io"
ROUTE_POLICIES: Final = f"RoutePolicy.{AZURE}"
PAYMENT: Final = "foyer > https > tickets > payment"
azure: Final = fixture_world("azure")


def test_an_override_above_beats_one_below() -> None:
    """Of two overrides, that of the route beats that of its rule; of two defaults the rule's wins."""
    above: Json = {"timeouts": {"routeTimeout": "5s"}}
    overriding = edited(azure(), "RoutePolicy box-office/tickets", default=None, override=above)
    assert settings(analyze(overriding), ROUTE_POLICIES)[PAYMENT] == above
    yielding = edited(azure(), "RoutePolicy box-office/payment", override=None, default={"timeouts": {}})
    assert settings(analyze(yielding), ROUTE_POLICIES)[PAYMENT]["timeouts"] == {"routeTimeout": "10s"}


def test_a_policy_for_some_listeners_is_on_no_other() -> None:
    """The reference has a list, `sectionNames`."""
    strict = {"policyType": {"type": "predefined", "name": "2023-06-S"}}
    both = build.target("foyer", sectionNames=["http", "https"])
    analysis = analyze(edited(azure(), "FrontendTLSPolicy house/strict", targetRef=both))
    assert settings(analysis, f"FrontendTLSPolicy.{AZURE}") == {"foyer > http": strict, "foyer > https": strict}


def test_a_routes_firewall_for_the_gateways_is_assumed() -> None:
    """No text says what becomes of two, and the answer says that."""
    analysis = analyze(azure())
    answer = describe(analysis, build.node("HTTPRoute", "tickets", namespace="box-office"))
    assumed = {
        group.combination.assumed for group in answer.in_force if group.kind.kind == "WebApplicationFirewallPolicy"
    }
    assert assumed == {("merge strategy",)}


def test_a_service_of_another_namespace_needs_a_grant() -> None:
    """The box-office lets health checks of the house in; without the grant the policy is not permitted."""
    payment = build.node("Service", "payment", namespace="box-office", group="")
    kind = f"HealthCheckPolicy.{AZURE}"
    refused = analyze(azure("ReferenceGrant box-office/health-checks"))
    assert spec_at(refused, kind, payment) == []
    assert states(refused)["HealthCheckPolicy house/payment"] == ("NotPermitted", [])


# GKE: nothing is merged; each policy changes its target, and of two on one target the older one applies.
GKE: Final = "networking.gke.io"
RADIO: Final = "radio"
ANTENNA: Final = build.node("Gateway", "antenna", namespace=RADIO)
STUDIO: Final = build.node("Service", "studio", namespace=RADIO, group="")
STUDIO_HTTP: Final = build.node("Service", "studio", "http", RADIO, group="")
ARCHIVE: Final = build.node("ServiceImport", "archive", namespace=RADIO, group="net.gke.io")
STUDIO_POD: Final = build.node("Pod", "studio-0", namespace=RADIO, group="")
MIXER_POD: Final = build.node("Pod", "mixer-0", namespace=RADIO, group="")
gke: Final = fixture_world("gke")


def pods(selector: Json) -> Json:
    """References to the Pods that a selector selects."""
    return [{"group": "", "kind": "Pod", "selector": selector}]


def test_of_two_on_one_service_the_older_one_applies() -> None:
    """Nothing of the newer one is added; without the older one it applies."""
    analysis = analyze(gke("GCPBackendPolicy radio/studio"))
    assert spec_at(analysis, f"GCPBackendPolicy.{GKE}", STUDIO) == [
        {"default": {"logging": {"enabled": True, "sampleRate": 1000000}}}
    ]
    assert states(analysis)["GCPBackendPolicy radio/election"] == ("Enforced", [])


def test_all_authorization_policies_apply_to_what_they_select() -> None:
    """By name or by the labels of Pods; none beats another."""
    spec: dict[str, Json] = {"action": "ALLOW", "targetRefs": pods({"matchLabels": {}})}
    analysis = analyze(added(gke(), policy(f"GCPAuthzPolicy.{GKE}", "more", spec, namespace=RADIO)))
    assert [name for name in affecting(analysis, STUDIO_POD) if "Authz" in name] == [
        "GCPAuthzPolicy radio/mixer-only",
        "GCPAuthzPolicy radio/more",
    ]
    assert [name for name in affecting(analysis, MIXER_POD) if "Authz" in name] == ["GCPAuthzPolicy radio/more"]
    assert [name for name in affecting(analysis, ANTENNA) if "Authz" in name] == ["GCPAuthzPolicy radio/no-robots"]


def test_of_two_for_a_pod_the_older_one_counts_and_the_answer_doubts_it() -> None:
    """That one by labels goes before one for the whole namespace is known in words alone."""
    disabled: dict[str, Json] = {"mtlsMode": "Disabled", "targetRefs": pods({})}
    whole = policy(f"GCPServerTLSPolicy.{GKE}", "whole", disabled, namespace=RADIO)
    some: dict[str, Json] = {"mtlsMode": "Permissive", "targetRefs": pods({"matchLabels": {"app": "mixer"}})}
    newer = policy(f"GCPServerTLSPolicy.{GKE}", "newer", some, namespace=RADIO, age=2)
    analysis = analyze(added(gke(), whole, newer))
    assert spec_at(analysis, f"GCPServerTLSPolicy.{GKE}", MIXER_POD) == [{"mtlsMode": "Disabled"}]
    assert states(analysis)["GCPServerTLSPolicy radio/newer"] == ("Conflicted", ["radio/whole"])
    (group,) = describe(analysis, MIXER_POD).in_force
    assert group.profile.approximate


def test_a_client_policy_reaches_the_services_of_its_namespace() -> None:
    """And nothing else in it: a Pod, a Gateway or a ServiceImport is no place where it takes effect."""
    analysis = analyze(gke("GCPClientTLSPolicy radio/from-outside"))
    assert spec_at(analysis, f"GCPClientTLSPolicy.{GKE}", STUDIO_HTTP) == [{"tlsMode": "MutualTLS"}]
    for node in (MIXER_POD, ARCHIVE, ANTENNA):
        assert "GCPClientTLSPolicy radio/everything" not in affecting(analysis, node)
    assert describe(analysis, MIXER_POD).policies == ()


def test_a_reference_stays_in_its_namespace() -> None:
    """Although the reference has a field for another one."""
    elsewhere: Json = {"group": "", "kind": "Service", "name": "studio", "namespace": "television"}
    snapshot = edited(gke(), "HealthCheckPolicy radio/studio", targetRef=elsewhere)
    assert states(analyze(snapshot))["HealthCheckPolicy radio/studio"] == ("NotPermitted", [])


def test_a_gateway_of_another_controller_is_left_alone() -> None:
    """Services behind it as well; Pods and the mesh have no Gateway."""
    other = build.gateway_class("gke-l7-global-external-managed", "example.com/other")
    analysis = analyze(added(gke("GatewayClass gke-l7-global-external-managed"), other))
    assert {name for name, (state, _) in states(analysis).items() if state != "NoEffect"} == {
        "FQDNNetworkPolicy radio/weather",
        "GCPAuthzPolicy radio/mixer-only",
        "GCPClientTLSPolicy radio/everything",
        "GCPClientTLSPolicy radio/from-outside",
        "GCPServerTLSPolicy radio/studio",
    }


# Gloo Gateway: of listener options one alone applies; of the others each option comes from the first that sets it.
GLOO: Final = "gateway.solo.io"
LISTENERS: Final = f"ListenerOption.{GLOO}"
HTTP_LISTENERS: Final = f"HttpListenerOption.{GLOO}"
HOSTS: Final = f"VirtualHostOption.{GLOO}"
ROUTES: Final = f"RouteOption.{GLOO}"
HTTP: Final = "market > http"
HTTPS: Final = "market > https"
BOUQUETS: Final = "market > weddings > bouquets"
BASKET: Final = "market > https > orders > basket"
LISTS: Final = "market > https > orders > gifts > gifts > lists"
gloo: Final = fixture_world("gloo")


def test_a_listener_has_the_option_of_its_set_or_the_gateways() -> None:
    """The nearer one alone, whole; without it the Gateway's holds there as well."""
    alone = settings(analyze(gloo("ListenerOption weddings/photographs")), LISTENERS)
    house = {"perConnectionBufferLimitBytes": 32768}
    assert alone == {place: {"options": house} for place in (HTTP, HTTPS, BOUQUETS)}


def test_a_listener_of_the_gateway_has_its_own_option_before_the_gateways() -> None:
    """Whichever is older, and on no other listener."""
    spec: dict[str, Json] = {"targetRefs": [build.target("market", section="https")], "options": {"a": 1}}
    in_force = settings(analyze(added(gloo(), policy(LISTENERS, "own", spec, namespace="platform"))), LISTENERS)
    assert in_force[HTTPS] == {"options": {"a": 1}}
    assert in_force[HTTP] == {"options": {"perConnectionBufferLimitBytes": 32768}}


def test_of_two_http_listener_options_the_older_one_alone_is_used() -> None:
    """What the newer one sets beside it is lost as well; without the older one it is used."""
    in_force = settings(analyze(gloo("HttpListenerOption platform/idle")), HTTP_LISTENERS)
    assert in_force[HTTP] == {
        "options": {"httpConnectionManagerSettings": {"idleTimeout": "5s"}, "websocketOnly": True}
    }


def test_route_options_are_merged_with_the_older_one_first() -> None:
    """The newer one's timeout loses and its retries are added; a null of the older one is no value."""
    empty = edited(gloo(), "RouteOption orders/basket", options={"timeout": None})
    assert settings(analyze(empty), ROUTES)[BASKET]["options"] == {"timeout": "30s", "retries": {"numRetries": 1}}


def test_a_route_goes_before_the_one_that_it_delegates_to() -> None:
    """The one below fills what is left; without options above, its own hold."""
    alone = analyze(gloo("RouteOption orders/basket", "RouteOption orders/mothers-day"))
    assert settings(alone, ROUTES)[LISTS] == {"options": {"timeout": "90s", "prefixRewrite": "/"}}


@pytest.mark.parametrize(
    ("said", "timeout", "retries"),
    [
        ("*", "90s", 9),
        ("timeout", "90s", 1),
        (" prefixRewrite, TIMEOUT ", "90s", 1),
        ("retries,cors", "2s", 9),
        ("", "2s", 1),
        ("timeouts", "2s", 1),
        (7, "2s", 1),
    ],
)
def test_a_route_may_let_those_below_it_override_some_options(said: Json, timeout: str, retries: int) -> None:
    """Those that its annotation lists, whatever their case; or all."""
    annotation: Json = {"delegation.gateway.solo.io/enable-policy-overrides": said}
    below = edited(gloo(), "RouteOption weddings/gifts", options={"timeout": "90s", "retries": {"numRetries": 9}})
    analysis = analyze(annotated(below, "HTTPRoute orders/orders", annotation))
    assert settings(analysis, ROUTES)[LISTS] == {"options": {"timeout": timeout, "retries": {"numRetries": retries}}}


def test_an_option_in_another_namespace_is_never_found() -> None:
    targets = [("gateway.networking.k8s.io", "HTTPRoute")]
    grant = build.grant(namespace="orders", sources=[(GLOO, "RouteOption", "platform")], targets=targets)
    analysis = analyze(added(gloo(), grant))
    (attachment,) = analysis.attachments[policy_ref(analysis, "RouteOption platform/faults")]
    assert attachment.state == "not permitted"


def test_another_controllers_gateway_has_no_options() -> None:
    other = build.gateway_class("gloo-gateway", "example.com/other")
    analysis = analyze(added(gloo("GatewayClass gloo-gateway"), other))
    assert [settings(analysis, kind) for kind in (LISTENERS, HTTP_LISTENERS, HOSTS, ROUTES)] == [{}] * 4
    assert {state for state, _ in states(analysis).values()} == {"NoEffect", "NotPermitted"}


# Linkerd: every AuthorizationPolicy on the way authorizes, and a Server has one rate limit.
LINKERD: Final = "policy.linkerd.io"
AUTHORIZATION: Final = f"AuthorizationPolicy.{LINKERD}"
LIMIT: Final = f"HTTPLocalRateLimitPolicy.{LINKERD}"
OBSERVATORY: Final = "observatory"
PICTURES: Final = build.node("HTTPRoute", "pictures", namespace=OBSERVATORY)
ASTRONOMERS: Final[Json] = [{"group": LINKERD, "kind": "MeshTLSAuthentication", "name": "astronomers"}]
VISITORS: Final[Json] = [{"group": LINKERD, "kind": "NetworkAuthentication", "name": "visitors"}]
linkerd: Final = fixture_world("linkerd")


def server(name: str) -> NodeRef:
    return build.node("Server", name, namespace=OBSERVATORY, group=LINKERD)


def authorizations(analysis: Analysis, node: NodeRef) -> dict[str, Json]:
    (spec,) = spec_at(analysis, AUTHORIZATION, node)
    found: dict[str, Json] = {}
    for name, said in spec.items():
        assert isinstance(said, dict)
        found[name] = said["requiredAuthenticationRefs"]
    return found


def test_a_policy_on_a_route_authorizes_there_alone() -> None:
    """Beside those of its Server and of the Namespace; Servers are not tied to workloads, which the answer says."""
    analysis = analyze(linkerd())
    assert authorizations(analysis, PICTURES) == {
        "observatory/astronomers": ASTRONOMERS,
        "observatory/guests": [{"kind": "ServiceAccount", "name": "guest", "namespace": "university"}],
        "observatory/visitors": VISITORS,
    }
    assert f"AuthorizationPolicy {OBSERVATORY}/visitors" not in affecting(analysis, server("telescope"))
    (group,) = describe(analysis, PICTURES).in_force
    assert group.profile.approximate
    assert "Servers are not related to their workloads" in group.profile.notes


def test_a_policy_on_the_namespace_affects_every_server_and_no_other_namespaces() -> None:
    elsewhere = build.resource("Server", "elsewhere", group=LINKERD, namespace="university")
    analysis = analyze(added(linkerd(), elsewhere))
    answer = describe_policy(analysis, policy_ref(analysis, f"AuthorizationPolicy {OBSERVATORY}/astronomers"))
    assert {str(node) for node in answer.affected} == {
        f"HTTPRoute {OBSERVATORY}/pictures",
        f"Server {OBSERVATORY}/archive",
        f"Server {OBSERVATORY}/telescope",
    }
    for node in answer.affected:
        assert f"AuthorizationPolicy {OBSERVATORY}/astronomers" in affecting(analysis, node)
    assert affecting(analysis, build.node("Server", "elsewhere", namespace="university", group=LINKERD)) == []


def test_a_server_has_one_rate_limit() -> None:
    """The oldest one; without it, the one that was refused."""
    analysis = analyze(linkerd(f"HTTPLocalRateLimitPolicy {OBSERVATORY}/telescope"))
    assert spec_at(analysis, LIMIT, server("telescope")) == [{"total": {"requestsPerSecond": 1000}}]
    assert states(analysis)[f"HTTPLocalRateLimitPolicy {OBSERVATORY}/perseids"] == ("Enforced", [])


def test_a_server_may_have_an_authorization_of_the_older_kind() -> None:
    """Its answer says so, and does not say that there is none."""
    unseen = describe(analyze(linkerd()), server("archive")).unseen
    assert [(blind_spot.what, blind_spot.reason) for blind_spot in unseen] == [
        (
            "ServerAuthorization observatory/metrics",
            "whether it is attached to Server observatory/archive is not computed",
        )
    ]


def test_the_authentications_that_a_policy_names_are_followed() -> None:
    """Of which kind and namespace they are; what happens without them is not known."""
    analysis = analyze(linkerd())
    for name, namespace, kind in (
        ("astronomers", OBSERVATORY, "MeshTLSAuthentication"),
        ("visitors", OBSERVATORY, "NetworkAuthentication"),
        ("guest", "university", "ServiceAccount"),
    ):
        group = "" if kind == "ServiceAccount" else LINKERD
        found = analysis.references_to(build.ref(kind, name, namespace, group=group))
        assert {(each.without, each.guessed) for each in found} == {("unknown", False)}


# Kong and Kuma: their kinds are known as policies, and no answer says that none of them affects an object.
CATALOGUE: Final = build.node("Service", "catalogue", namespace="library", group="")
MESH: Final = build.node("Mesh", "default", namespace="newspaper", group="kuma.io")


@pytest.mark.parametrize(
    ("world", "policy", "words"),
    [
        ("kong", "KongUpstreamPolicy library/same-shelf", "in the annotation konghq.com/upstream-policy"),
        ("kuma", "MeshTimeout newspaper/house", "or without spec.targetRef to the whole mesh"),
    ],
)
def test_a_policy_says_in_words_how_it_attaches(world: str, policy: str, words: str) -> None:
    """Nothing is claimed of its effect, and nothing is expected of its controller."""
    analysis = analyze(manifests(world))
    answer = describe_policy(analysis, policy_ref(analysis, policy))
    assert headline(answer) == f"Whether {policy} has an effect is unknown: how it attaches is not computed."
    assert words in answer.profile.notes
    assert (answer.targets, answer.affected, reported(analysis, policy)) == ((), (), {})


@pytest.mark.parametrize(
    ("world", "node", "expected"),
    [
        (
            "kong",
            CATALOGUE,
            "No policy is known to affect Service library/catalogue; how 1 policy attaches is not computed.",
        ),
        ("kuma", MESH, "No policy is known to affect Mesh newspaper/default; how 17 policies attach is not computed."),
    ],
)
def test_an_object_that_they_are_for_says_that_it_cannot_tell(world: str, node: NodeRef, expected: str) -> None:
    """Unknown is not none."""
    assert headline(describe(analyze(manifests(world)), node)).startswith(f"{expected} ")


CONFIG_MAP: Final = build.target("x", "ConfigMap", group="")
GONE: Final = build.target("gone", "Service", group="")
FAR: Final = build.target("timetable", "Service", group="", namespace="house")
GONE_SERVER: Final = build.target("gone", "Server", group=LINKERD)


@pytest.mark.parametrize(
    ("world", "policy", "target", "condition", "reason"),
    [
        (aws, "IAMAuthPolicy ferries/pursers", CONFIG_MAP, "Accepted", "Invalid"),
        (aws, "TargetGroupPolicy ferries/timetable", FAR, "Accepted", "TargetNotFound"),
        (azure, "BackendTLSPolicy box-office/seats", CONFIG_MAP, "ResolvedRefs", "InvalidKind"),
        (azure, "BackendTLSPolicy box-office/seats", FAR, "ResolvedRefs", "RefNotPermitted"),
        (gke, "HealthCheckPolicy radio/studio", GONE, "Attached", "TargetNotFound"),
        (linkerd, "HTTPLocalRateLimitPolicy observatory/telescope", GONE_SERVER, "Accepted", "NoMatchingTarget"),
    ],
)
def test_a_target_that_is_not_supported_permitted_or_there_is_reported(
    world: Callable[..., Snapshot], policy: str, target: Json, condition: str, reason: str
) -> None:
    """With a condition and a reason of the implementation."""
    analysis = analyze(edited(world(), policy, targetRef=target))
    assert reported(analysis, policy) == {"": {condition: ("False", reason, ())}}
