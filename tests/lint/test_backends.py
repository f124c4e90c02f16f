"""Backends of routes: what resolves is not found; of what does not, each reference is found by one rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import Implementation, analyze
from kubectl_policy.lint.finding import Finding, Fix, Related
from kubectl_policy.lint.lint_world import LintWorld
from kubectl_policy.lint.rules import backends, rules_of
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model import Gap, Json, Resource
from kubectl_policy.model.fields import mapping_at
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.model.snapshot import AssumedObjects
from kubectl_policy.profiles.controllers import DelegationProfile
from tests import build, delegation
from tests.lint.rule_worlds import checked, known, said, verdicts

if TYPE_CHECKING:
    from collections.abc import Mapping


RULES: Final = rules_of(backends)
R: Final = build.ref("HTTPRoute", "r")
FIRST: Final = "spec.rules[0].backendRefs[0]"
MIRROR: Final = "spec.rules[0].filters[0].requestMirror.backendRef"
S: Final = build.service()


def check(*resources: Resource, complete: bool = True) -> list[str]:
    """The ids of the rules that find something for certain, each as often as it does."""
    every = [(rule.id, checked(rule, *resources, complete=complete)) for rule in RULES]
    return [rule for rule, findings in every for finding in findings if finding.certain]


def to(*references: Mapping[str, Json], kind: str = "HTTPRoute", filters: Json = None) -> Resource:
    """A route with one rule to some backends."""
    return build.route("r", kind=kind, rules=[build.rule(*references, filters=filters)])


def mirrored(reference: Mapping[str, Json]) -> Resource:
    return to(build.backend(), filters=[{"type": "RequestMirror", "requestMirror": {"backendRef": reference}}])


TO_S: Final = to(build.backend())
DELEGATING: Final = (build.gateway(), build.gateway_class(controller=delegation.CONTROLLER))


def delegating(*references: Mapping[str, Json], name: str = "r") -> Resource:
    """A route of the Gateway that delegates to others."""
    return delegation.http_route(name, delegation.passing("/", *references), parents=[build.parent()])


def lint_world(*resources: Resource, assumed: str) -> LintWorld:
    """A world in which objects of a kind are said to exist."""
    read = replace(build.snapshot(*resources, complete=True), assumed=(AssumedObjects(assumed),))
    return LintWorld(analyze(read), LintSettings(), lambda _: True)


class TestWhatResolves:
    @pytest.mark.parametrize("complete", [True, False], ids=["closed", "open"])
    @pytest.mark.parametrize(
        "world",
        [
            [to(build.backend()), S],
            [to(build.backend(namespace="default")), S],
            [to(build.backend(namespace="b")), build.service(namespace="b"), build.grant(namespace="b")],
            [to(build.backend(weight=9), build.backend("t")), S, build.service("t")],
            [
                to(build.backend("bucket", None, kind="Bucket", group="example.com")),
                build.resource("Bucket", "bucket", group="example.com"),
            ],
            [mirrored(build.backend()), S],
            [to(), S],
        ],
        ids=["here", "by namespace", "granted", "several", "another kind", "mirrored", "none"],
    )
    def test_in_order(self, world: list[Resource], *, complete: bool) -> None:
        assert check(*world, complete=complete) == []

    @pytest.mark.parametrize(
        "reference",
        [
            build.backend("${SERVICE}"),
            build.backend(namespace="${NAMESPACE}"),
            {**build.backend(), "port": "${PORT}"},
            build.backend(kind="${KIND}"),
        ],
        ids=["name", "namespace", "port", "kind"],
    )
    def test_what_is_to_be_filled_in(self, reference: Json) -> None:
        route = build.resource("HTTPRoute", "r", {"rules": [{"backendRefs": [reference]}]})
        every = [finding for rule in RULES for finding in checked(rule, route, S)]
        assert verdicts(every) == [False]

    def test_where_somebody_says_that_it_is_there(self) -> None:
        world = lint_world(TO_S, to(build.backend(), kind="UDPRoute"), assumed="service")
        assert [finding for rule in RULES for finding in rule.check(world)] == []

    def test_a_circle_of_routes(self) -> None:
        assert check(*DELEGATING, delegating(delegation.to("r"))) == []

    def test_every_route_of_a_namespace(self) -> None:
        """Some implementations mean that by a star; what it is for others is not known."""
        every = build.backend("*", None, kind="HTTPRoute", group=GATEWAY_API)
        world = (build.gateway_class(), build.gateway(), to(every))
        assert said(checked(backends.backend_not_found, *world)) == [
            (f"{FIRST}.name", "? HTTPRoute default/* does not exist")
        ]


class TestMissing:
    def test_one_that_does_not_exist(self) -> None:
        assert checked(backends.backend_not_found, to(build.backend("checkot")), build.service("checkout")) == [
            Finding(
                subject=R,
                field=f"{FIRST}.name",
                message="Service default/checkot does not exist; requests to this rule get status 500",
                reason="BackendNotFound",
                fix=Fix(words="did you mean checkout?", value="checkout"),
            )
        ]

    def test_where_not_all_is_known(self) -> None:
        route = to(build.backend())
        message = "? Service default/s is not in the input"
        assert said(checked(backends.backend_not_found, route, complete=False)) == [(f"{FIRST}.name", message)]
        gap = Gap("Service", "default", "forbidden")
        assert verdicts(checked(backends.backend_not_found, route, gaps=[gap])) == [False]

    @pytest.mark.parametrize(
        ("kind", "lost"),
        [
            ("HTTPRoute", "requests to this rule get status 500"),
            ("GRPCRoute", "requests to this rule get status UNAVAILABLE"),
            ("TLSRoute", "connections to this rule fail"),
            ("TCPRoute", "connections to this rule fail"),
            ("UDPRoute", "connections to this rule fail"),
        ],
    )
    def test_what_is_lost(self, kind: str, lost: str) -> None:
        """Each kind of route has its own words for it."""
        [finding] = checked(backends.backend_not_found, to(build.backend("x"), kind=kind))
        assert finding.message == f"Service default/x does not exist; {lost}"

    @pytest.mark.parametrize(
        ("own", "other", "lost"),
        [
            (1, 9, "; 10% of the requests to this rule get status 500"),
            (1, 999, "; 1% of the requests to this rule get status 500"),
            (1, 0, "; requests to this rule get status 500"),
            (0, 1, "; none of the requests fail, as its weight is 0"),
            (1, -1, "; requests to this rule get status 500"),
        ],
    )
    def test_the_share_that_is_lost(self, own: int, other: int, lost: str) -> None:
        route = to(build.backend("x", weight=own), build.backend(weight=other))
        [finding] = checked(backends.backend_not_found, route, S)
        assert finding.message == f"Service default/x does not exist{lost}"

    def test_where_the_rule_redirects(self) -> None:
        """No request would get there."""
        redirect: Json = [{"type": "RequestRedirect", "requestRedirect": {"scheme": "https"}}]
        [finding] = checked(backends.backend_not_found, to(build.backend("x"), filters=redirect))
        assert finding.message == "Service default/x does not exist"

    def test_an_authorizer(self) -> None:
        """Without it no request is let in."""
        asked: Json = [{"type": "ExternalAuth", "externalAuth": {"backendRef": build.backend("authorizer")}}]
        [finding] = checked(backends.backend_not_found, to(build.backend(), filters=asked), S)
        assert finding.message.endswith("; requests to this rule are refused, as nothing can let them in")

    def test_routes_that_a_rule_would_delegate_to(self) -> None:
        both = delegating(delegation.to("menu"), delegation.to("drinks"))
        assert said(checked(backends.backend_not_found, *DELEGATING, both)) == [
            (f"{FIRST}.name", "HTTPRoute default/menu does not exist"),
            ("spec.rules[0].backendRefs[1].name", "HTTPRoute default/drinks does not exist"),
        ]
        [finding] = checked(backends.backend_not_found, *DELEGATING, delegating(delegation.labelled("x")))
        assert (finding.field, finding.fix) == (FIRST, None)

    def test_a_mirror(self) -> None:
        assert checked(backends.mirror_backend_invalid, mirrored(build.backend("t")), S, build.service("tt")) == [
            Finding(
                subject=R,
                field=f"{MIRROR}.name",
                message="Service default/t does not exist; nothing is mirrored",
                reason="BackendNotFound",
            )
        ]
        message = "Service default/s has no port 1; nothing is mirrored"
        assert said(checked(backends.mirror_backend_invalid, mirrored(build.backend(port=1)), S)) == [(MIRROR, message)]
        assert check(mirrored(build.backend(port=1)), S) == ["GWP5015"]


class TestPorts:
    @pytest.mark.parametrize(
        ("ports", "known", "fix"),
        [
            ([80], "it has 80", "80"),
            ([80, 81, 82, 83], "it has 80, 81, 82 and 1 more", ""),
            ([{"port": 80, "targetPort": 8080}, {"port": 90, "targetPort": 9090}], "it has 80, 90", "80"),
            ([{"port": 80, "targetPort": 8080}, {"port": 90, "targetPort": 8080}], "it has 80, 90", ""),
            ([{"name": "http"}], "it has none", ""),
        ],
        ids=["one", "many", "by its target", "two by their target", "none"],
    )
    def test_one_that_it_does_not_have(self, ports: list[Mapping[str, Json]], known: str, fix: str) -> None:
        [finding] = checked(backends.backend_port_missing, to(build.backend(port=8080)), build.service("s", *ports))
        assert finding.field == f"{FIRST}.port"
        assert finding.message == (f"Service default/s has no port 8080; {known}; requests to this rule get status 500")
        assert finding.fix == (Fix(words=f"did you mean port {fix}?", value=fix) if fix else None)
        assert finding.related == (Related(object=S.ref, origin=build.ORIGIN),)

    def test_none(self) -> None:
        message = "it names no port of Service default/s; it has 8080; requests to this rule get status 500"
        assert said(checked(backends.backend_port_missing, to(build.backend(port=None)), S)) == [(FIRST, message)]
        assert check(to(build.backend(port=None)), S) == ["GWP5002"]


class TestKinds:
    def test_a_kind_of_kubernetes(self) -> None:
        route = to(build.backend("d", kind="Deployment", group="apps"))
        message = "a Deployment.apps cannot be a backend; requests to this rule get status 500"
        assert said(checked(backends.backend_kind_unsupported, route, complete=False)) == [(f"{FIRST}.kind", message)]
        assert check(route) == ["GWP5003"]

    def test_a_kind_that_there_is_nothing_of(self) -> None:
        route = to(build.backend("b", None, kind="Bucket", group="example.com"))
        message = "Bucket default/b does not exist, nor does any other Bucket.example.com"
        [finding] = checked(backends.backend_kind_unsupported, route)
        assert (finding.message, finding.reason) == (f"{message}; requests to this rule get status 500", "InvalidKind")
        assert check(route, complete=False) == []


class TestPermission:
    def test_without_a_grant(self) -> None:
        """The one to add is told, and those that are there and do not let it in."""
        grpc = build.grant("rpc", namespace="b", sources=[(GATEWAY_API, "GRPCRoute", "default")])
        world = (to(build.backend(namespace="b")), build.service(namespace="b"), grpc)
        [finding] = checked(backends.ref_not_permitted, *world)
        assert finding == Finding(
            subject=R,
            field=f"{FIRST}.namespace",
            message=(
                "no ReferenceGrant in namespace b lets it refer to Service b/s; requests to this rule get status 500"
            ),
            reason="RefNotPermitted",
            related=(Related(object=grpc.ref, words="does not let it in", origin=build.ORIGIN),),
            fix=finding.fix,
        )
        assert finding.fix
        manifest = finding.fix.manifest or {}
        assert manifest["metadata"] == {"name": "s-for-httproutes-of-default", "namespace": "b"}
        assert manifest["spec"] == {
            "from": [{"group": GATEWAY_API, "kind": "HTTPRoute", "namespace": "default"}],
            "to": [{"group": "", "kind": "Service", "name": "s"}],
        }
        assert check(*world) == ["GWP5004"]

    def test_where_not_all_is_known(self) -> None:
        route = to(build.backend(namespace="b"))
        every = [finding for rule in RULES for finding in checked(rule, route, complete=False)]
        message = "? whether Service b/s may be referred to is unknown: no ReferenceGrant in the input says so"
        assert said(every) == [(f"{FIRST}.namespace", message)]

    def test_a_mirror(self) -> None:
        message = "no ReferenceGrant in namespace b lets it refer to Service b/s; nothing is mirrored"
        world = (mirrored(build.backend(namespace="b")), S, build.service(namespace="b"))
        assert said(checked(backends.ref_not_permitted, *world)) == [(f"{MIRROR}.namespace", message)]
        assert check(*world) == ["GWP5004"]

    def test_in_the_mesh(self) -> None:
        rules = [build.rule(build.backend(namespace="b"))]
        route = build.route("r", parents=[build.service_parent()], rules=rules)
        assert verdicts(checked(backends.ref_not_permitted, route, S, build.service(namespace="b"))) == [False]
        consumer = build.route("r", parents=[build.service_parent(namespace="b")], rules=rules)
        assert checked(backends.ref_not_permitted, consumer, build.service(namespace="b")) == []

    def test_to_routes_of_another_namespace(self) -> None:
        profile = known(
            delegation=DelegationProfile(group="example.com", grant_required=True, every_route="*", evidence=())
        )
        above = [delegating(delegation.to(to_, "x"), name=name) for name, to_ in (("one", "c"), ("every", "*"))]
        world = (build.gateway_class(), build.gateway(), *above, delegation.http_route("c", namespace="x"))
        findings = checked(backends.ref_not_permitted, *world, profiles=[profile])
        message = "no ReferenceGrant in namespace x lets it refer to an HTTPRoute"
        assert [finding.message for finding in findings] == [message, message]
        opened = [mapping_at(finding.fix.manifest, "spec")["to"] for finding in findings if finding.fix]
        kind = {"group": GATEWAY_API, "kind": "HTTPRoute"}
        assert opened == [[kind], [{**kind, "name": "c"}]]


class TestWeights:
    def test_some(self) -> None:
        """One that has a weight is enough; delegating has nothing to do with weights."""
        assert check(to(build.backend(weight=0), build.backend("t")), S, build.service("t")) == []
        none = delegating({**delegation.to("c"), "weight": 0})
        assert check(*DELEGATING, none, delegation.http_route("c", delegation.passing("/c"))) == []

    def test_none(self) -> None:
        """It is told of the rule as a whole."""
        route = to(build.backend(weight=0), build.backend("t", weight=0))
        message = "none of its backends has a weight above 0, so requests to this rule fail"
        assert said(checked(backends.all_weights_zero, route, S, build.service("t"))) == [
            ("spec.rules[0].backendRefs", message)
        ]

    @pytest.mark.parametrize(
        "route",
        [to(build.backend(weight=0)), to(build.backend(weight=1)), to(build.backend(weight=9), build.backend("t"))],
        ids=["none", "as an API server fills it in", "one of several"],
    )
    def test_a_weight_that_means_something(self, route: Resource) -> None:
        assert checked(backends.weight_single_backend, route, S, build.service("t")) == []

    def test_the_only_one(self) -> None:
        message = "weight 90 has no effect: Service default/s is the only backend here"
        assert said(checked(backends.weight_single_backend, to(build.backend(weight=90)), S)) == [
            (f"{FIRST}.weight", message)
        ]

    @pytest.mark.parametrize(
        "other",
        [build.backend("t"), build.backend(port=8081), build.backend(filters=[{"type": "CORS"}])],
        ids=["object", "port", "filters"],
    )
    def test_what_differs(self, other: Mapping[str, Json]) -> None:
        world = (build.service("s", 8080, 8081), build.service("t"))
        assert checked(backends.duplicate_backendref, to(build.backend(), other), *world) == []
        assert checked(backends.duplicate_backendref, to(other, build.backend()), *world) == []

    def test_in_other_rules(self) -> None:
        """Each rule may send requests to it; so may a mirror."""
        route = build.route("r", rules=[build.rule(build.backend())] * 2)
        assert checked(backends.duplicate_backendref, route, S) == []
        assert checked(backends.duplicate_backendref, mirrored(build.backend()), S) == []

    def test_the_same_twice(self) -> None:
        route = to(build.backend(weight=3), build.backend("t"), build.backend())
        message = f"it names Service default/s as {FIRST} does, so their weights add up"
        assert said(checked(backends.duplicate_backendref, route, S)) == [("spec.rules[0].backendRefs[2]", message)]


class TestProtocols:
    @pytest.mark.parametrize(
        ("kind", "port"),
        [
            ("HTTPRoute", {"protocol": "TCP"}),
            ("HTTPRoute", {"appProtocol": "kubernetes.io/ws"}),
            ("GRPCRoute", {"appProtocol": "kubernetes.io/h2c"}),
            ("GRPCRoute", {}),
            ("TCPRoute", {"protocol": "${PROTOCOL}"}),
            ("UDPRoute", {"protocol": "UDP"}),
            ("UDPRoute", {"protocol": "${PROTOCOL}"}),
        ],
    )
    def test_what_fits(self, kind: str, port: Mapping[str, Json]) -> None:
        world = (to(build.backend(), kind=kind), build.service("s", {"port": 8080, **port}))
        assert checked(backends.app_protocol_mismatch, *world) == []

    def test_a_port_for_both(self) -> None:
        both = build.service("s", *({"port": 8080, "protocol": protocol} for protocol in ("TCP", "UDP")))
        assert checked(backends.app_protocol_mismatch, to(build.backend(), kind="UDPRoute"), both) == []
        assert checked(backends.app_protocol_mismatch, to(build.backend()), both) == []

    def test_another_kind_of_backend(self) -> None:
        route = to(build.backend("b", kind="Bucket", group="example.com"), build.backend("x"), kind="UDPRoute")
        assert checked(backends.app_protocol_mismatch, route, build.resource("Bucket", "b", group="example.com")) == []

    @pytest.mark.parametrize(
        ("kind", "port", "message"),
        [
            ("UDPRoute", {}, "port 8080 of Service default/s is for TCP, and UDPRoutes need UDP"),
            ("HTTPRoute", {"protocol": "UDP"}, "port 8080 of Service default/s is for UDP, and HTTPRoutes need TCP"),
            (
                "GRPCRoute",
                {"appProtocol": "kubernetes.io/wss"},
                "port 8080 of Service default/s is for kubernetes.io/wss, and not for gRPC",
            ),
        ],
    )
    def test_what_does_not_fit(self, kind: str, port: Mapping[str, Json], message: str) -> None:
        service = build.service("s", {"port": 8080, **port})
        [finding] = checked(backends.app_protocol_mismatch, to(build.backend(), kind=kind), service)
        assert (finding.field, finding.message) == (f"{FIRST}.port", message)
        assert finding.reason == "UnsupportedProtocol"
        assert finding.related == (Related(object=service.ref, field="spec.ports", origin=build.ORIGIN),)

    def test_what_the_implementation_lacks(self) -> None:
        service = build.service("s", {"port": 8080, "appProtocol": "kubernetes.io/h2c"})
        lacking = Implementation(frozenset({"HTTPRouteBackendProtocolH2C"}))
        analysis = analyze(build.snapshot(to(build.backend()), service, complete=True), implementation=lacking)
        findings = backends.app_protocol_mismatch.check(LintWorld(analysis, LintSettings(), lambda _: True))
        message = "Service default/s#8080 speaks a protocol that needs HTTPRouteBackendProtocolH2C"
        assert said(findings) == [(f"{FIRST}.port", f"{message}; requests to this rule get status 500")]


def endpoint_slice(name: str, states: str, service: str = "s") -> Resource:
    """An EndpointSlice of a Service, with an endpoint for each state: ready (`+`), not (`-`), or not said (`?`)."""
    ready: dict[str, Json] = {"+": True, "-": False, "?": None}
    endpoints: Json = [{"conditions": {"ready": ready[state]}} for state in states]
    labels = {"kubernetes.io/service-name": service}
    return build.resource("EndpointSlice", name, group="discovery.k8s.io", labels=labels, endpoints=endpoints)


def endpoints(*subsets: Json) -> Resource:
    return build.resource("Endpoints", "s", group="", subsets=list(subsets))


class TestEndpoints:
    @pytest.mark.parametrize(
        ("route", "read"),
        [
            (TO_S, []),
            (TO_S, [endpoint_slice("a", "+")]),
            (TO_S, [endpoint_slice("a", "?")]),
            (TO_S, [endpoint_slice("a", "-"), endpoint_slice("b", "-+")]),
            (TO_S, [endpoint_slice("a", "-", service="t")]),
            (TO_S, [endpoint_slice("a", "+"), endpoints()]),
            (TO_S, [endpoints({"addresses": [{"ip": "10.0.0.7"}]})]),
            # No request goes there.
            (to(build.backend(weight=0)), [endpoint_slice("a", "-")]),
            (to(build.backend(port=1)), [endpoint_slice("a", "-")]),
            (mirrored(build.backend("t")), [build.service("t"), endpoint_slice("a", "-", service="t")]),
        ],
    )
    def test_one_is_ready_or_not_needed(self, route: Resource, read: list[Resource]) -> None:
        assert checked(backends.backend_no_endpoints, route, S, *read) == []

    @pytest.mark.parametrize(
        "read",
        [[endpoint_slice("a", "-")], [endpoint_slice("a", "")], [endpoints()], [endpoints({"addresses": []})]],
        ids=["not ready", "none", "endpoints", "without addresses"],
    )
    def test_none_is_ready(self, read: list[Resource]) -> None:
        message = "no endpoint of Service default/s is ready; requests to this rule get status 503"
        assert said(checked(backends.backend_no_endpoints, TO_S, S, *read)) == [(FIRST, message)]

    def test_of_a_service_that_is_only_said_to_exist(self) -> None:
        world = lint_world(TO_S, endpoint_slice("a", "-"), assumed="service")
        assert list(backends.backend_no_endpoints.check(world)) == []
