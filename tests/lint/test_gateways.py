"""Gateways and listeners that are not accepted, and the routes that they leave without requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from kubectl_policy import Implementation, analyze
from kubectl_policy.lint.finding import Fix
from kubectl_policy.lint.lint_world import LintWorld
from kubectl_policy.lint.rules.gateways import address_unsupported, listener_invalid, no_listener_in_service
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.topology import listener_conditions
from tests import build
from tests.lint.rule_worlds import checked, said

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json, Resource

ENVOY: Final = build.gateway_class("public", "gateway.envoyproxy.io/gatewayclass-controller")
NGINX: Final = build.gateway_class("public", "gateway.nginx.org/nginx-gateway-controller")
KGATEWAY: Final = build.gateway_class("public", "kgateway.dev/kgateway")
AWS: Final = build.gateway_class("public", "gateway.k8s.aws/alb")
REFS: Final = [{"name": "cert"}]
PLAIN: Final = build.listener("http")
NO_TLS: Final = build.listener("x", "HTTPS", 443)
PASSING: Final = build.listener("x", "TLS", 443, tls={"mode": "Passthrough", "certificateRefs": REFS})
WITH_TLS: Final = build.listener("x", tls={"certificateRefs": REFS})
PARAMETERS: Final = {"parametersRef": {"group": "gateway.kgateway.dev", "kind": "GatewayParameters", "name": "p"}}
UNKNOWN: Final = (
    "listener x: protocol HBONE is none of Gateway API, which has HTTP, HTTPS, TLS, TCP, UDP; "
    "whether its implementation supports it is unknown"
)


class TestListeners:
    @pytest.mark.parametrize(
        ("listener", "field", "message", "severity"),
        [
            (NO_TLS, "tls", "protocol HTTPS needs tls", "warning"),
            (PASSING, "tls.certificateRefs", "tls.mode Passthrough takes no tls.certificateRefs", "warning"),
            (WITH_TLS, "tls", "protocol HTTP takes no tls", None),
            (build.listener("x", "TCP", 1, hostname="a.example"), "hostname", "protocol TCP takes no hostname", None),
        ],
    )
    def test_contradictions(self, listener: Mapping[str, Json], field: str, message: str, severity: str) -> None:
        (finding,) = checked(listener_invalid, build.gateway("g", PLAIN, listener))
        assert (finding.field, finding.message) == (f"spec.listeners[1].{field}", f"listener x: {message}")
        assert (finding.severity, finding.reason, finding.certain) == (severity, "Invalid", True)

    @pytest.mark.parametrize(
        ("owner", "severities"), [(ENVOY, [None]), (AWS, []), (build.gateway_class(), ["warning"])]
    )
    def test_certificates_that_may_be_elsewhere(self, owner: Resource, severities: list[str | None]) -> None:
        findings = checked(listener_invalid, owner, build.gateway("g", NO_TLS))
        assert [finding.severity for finding in findings] == severities

    @pytest.mark.parametrize(
        ("owner", "protocol", "messages"),
        [
            (build.gateway_class(), "HBONE", [f"? {UNKNOWN}"]),
            (ENVOY, "HBONE", [UNKNOWN.partition(";")[0]]),
            (build.gateway_class(), "${PROTOCOL}", []),
            (build.gateway_class(), "https", ["listener x: protocol HTTPS needs tls"]),
        ],
    )
    def test_protocols(self, owner: Resource, protocol: str, messages: list[str]) -> None:
        findings = checked(listener_invalid, owner, build.gateway("g", build.listener("x", protocol)))
        assert [message for _, message in said(findings)] == messages

    def test_a_protocol_that_is_misspelt(self) -> None:
        (finding,) = checked(listener_invalid, build.gateway("g", build.listener("x", "HTPS")))
        assert (finding.certain, finding.fix) == (True, Fix(words="did you mean HTTPS?", value="HTTPS"))

    @pytest.mark.parametrize(
        ("owner", "port", "infrastructure", "refused"),
        [
            (KGATEWAY, 8082, None, True),
            (KGATEWAY, 9091, None, True),
            (KGATEWAY, 9091, PARAMETERS, False),
            (KGATEWAY, 8082, PARAMETERS, True),
            (KGATEWAY, 80, None, False),
            (build.gateway_class(), 8082, None, False),
        ],
    )
    def test_reserved_ports(self, owner: Resource, port: int, infrastructure: Json, *, refused: bool) -> None:
        """Those of the proxies themselves, of which parameters can free some."""
        spec: dict[str, Any] = {"infrastructure": infrastructure} if infrastructure else {}
        gateway = build.gateway("g", build.listener("x", port=port), **spec)
        message = f"listener x: port {port} is reserved by its implementation"
        assert said(checked(listener_invalid, owner, gateway)) == (
            [("spec.listeners[0].port", message)] if refused else []
        )
        accepted, *_ = listener_conditions(
            analyze(build.snapshot(owner, gateway, complete=True)).topology.gateways, build.node("Gateway", "g", "x")
        )
        assert (accepted.status, accepted.reason) == (("False", "Invalid") if refused else ("True", "Accepted"))

    @pytest.mark.parametrize(("owner", "count"), [(KGATEWAY, 1), (build.gateway_class(), 0)])
    def test_an_option_that_needs_authorities(self, owner: Resource, count: int) -> None:
        option = "kgateway.dev/verify-subject-alt-names"
        tls: Json = {"certificateRefs": REFS, "options": {option: "a.example"}}
        listener, field = build.listener("x", "HTTPS", 443, tls=tls), "spec.listeners[0].tls.options"
        message = f"listener x: {option} needs CA certificates in spec.tls.frontend of the Gateway"
        assert said(checked(listener_invalid, owner, build.gateway("g", listener))) == [(field, message)] * count
        frontend: Json = {
            "frontend": {"default": {"validation": {"caCertificateRefs": [{"kind": "ConfigMap", "name": "ca"}]}}}
        }
        assert checked(listener_invalid, owner, build.gateway("g", listener, tls=frontend)) == []

    def test_a_mode_without_support(self) -> None:
        tls = build.listener("x", "TLS", 443, tls={"certificateRefs": REFS})
        snapshot = build.snapshot(build.gateway("g", tls), complete=True)
        analysis = analyze(snapshot, implementation=Implementation(frozenset({"TLSRouteModeTerminate"})))
        (finding,) = listener_invalid.check(LintWorld(analysis, LintSettings(), lambda _: True))
        assert (finding.field, finding.reason) == ("spec.listeners[0].tls.mode", "UnsupportedValue")

    def test_what_a_definition_rejects_already(self) -> None:
        """Is said once; what it does not check is said here."""
        schema: Json = {
            "type": "object",
            "properties": {"spec": {"type": "object", "properties": {"listeners": NOTHING}}},
        }
        definition = build.crd("Gateway", group="gateway.networking.k8s.io", schema=schema, version="v1")
        findings = checked(
            listener_invalid, definition, build.gateway("g", WITH_TLS, build.listener("y", "HTTPS", 443))
        )
        assert [finding.field for finding in findings] == ["spec.listeners[1].tls"]


NOTHING: Final[Json] = {"type": "array", "maxItems": 0, "items": {"type": "object"}}


class TestAddresses:
    @pytest.mark.parametrize(
        ("owner", "type_", "messages"),
        [
            (NGINX, "Hostname", ["addresses of type Hostname are not supported, only IPAddress"]),
            (NGINX, "IPAddress", []),
            (ENVOY, "Hostname", []),
            (ENVOY, "${TYPE}", []),
            (ENVOY, "Cloud", ["addresses of type Cloud are not supported, only Hostname, IPAddress, NamedAddress"]),
            (ENVOY, "a.org/pool", ["? whether its implementation supports addresses of type a.org/pool is unknown"]),
        ],
    )
    def test_types(self, owner: Resource, type_: str, messages: list[str]) -> None:
        gateway = build.gateway("g", addresses=[{"value": "192.0.2.1"}, {"type": type_, "value": "x"}])
        findings = checked(address_unsupported, owner, gateway)
        assert said(findings) == [("spec.addresses[1].type", message) for message in messages]


TWICE: Final = (build.listener("one"), build.listener("two"))


class TestRoutes:
    def test_at_a_listener_that_conflicts(self) -> None:
        route = build.route("r", parents=[build.parent(section="one")])
        (finding,) = checked(no_listener_in_service, build.gateway("g", *TWICE), route)
        assert finding.message == (
            "listener one of Gateway default/g is not accepted: it cannot be distinguished from listener two of "
            "Gateway default/g; no request reaches it"
        )
        assert (finding.field, finding.reason) == ("spec.parentRefs[0]", "HostnameConflict")
        assert [related.field for related in finding.related] == ["spec.listeners[0]"]

    def test_at_several(self) -> None:
        (finding,) = checked(no_listener_in_service, build.gateway("g", *TWICE), build.route("r"))
        assert finding.message.startswith("none of the 2 listeners that take it is accepted: listener one of Gateway")

    @pytest.mark.parametrize(
        "parents",
        [
            [build.parent(section="one"), build.parent(section="three")],
            [build.parent(section="one"), build.parent("unread", namespace="x")],
            [build.parent(section="three")],
            [build.parent("missing")],
            [build.service_parent()],
        ],
    )
    def test_one_that_is_served_or_may_be(self, parents: list[Mapping[str, Json]]) -> None:
        world = (build.gateway("g", *TWICE, build.listener("three", port=81)), build.route("r", parents=parents))
        assert checked(no_listener_in_service, *world, complete=False) == []

    def test_beside_a_parent_that_does_not_exist(self) -> None:
        route = build.route("r", parents=[build.parent("missing"), build.parent(section="one")])
        (finding,) = checked(no_listener_in_service, build.gateway("g", *TWICE), route)
        assert finding.field == "spec.parentRefs[1]"

    @pytest.mark.parametrize(
        ("owner", "listener", "message"),
        [
            (NGINX, NO_TLS, "listener x of Gateway default/g is not valid: protocol HTTPS needs tls"),
            (ENVOY, WITH_TLS, "listener x of Gateway default/g is not valid: protocol HTTP takes no tls"),
            (ENVOY, NO_TLS, "listener x of Gateway default/g is not valid: protocol HTTPS needs tls"),
            (build.gateway_class(), NO_TLS, ""),
            (AWS, NO_TLS, ""),
        ],
    )
    def test_at_a_listener_that_contradicts_itself(
        self, owner: Resource, listener: Mapping[str, Json], message: str
    ) -> None:
        findings = checked(no_listener_in_service, owner, build.gateway("g", listener), build.route("r"))
        assert [finding.message for finding in findings] == ([f"{message}; no request reaches it"] if message else [])

    def test_at_a_gateway_that_is_not_accepted(self) -> None:
        """As far as its controller then ignores it."""
        gateway = build.gateway("g", addresses=[{"type": "Hostname", "value": "a.example"}])
        assert checked(no_listener_in_service, ENVOY, gateway, build.route("r")) == []
        (finding,) = checked(no_listener_in_service, NGINX, gateway, build.route("r"))
        assert finding.message.startswith("Gateway default/g is not valid: address type Hostname is not supported")
