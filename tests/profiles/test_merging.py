"""Merging by built-in kinds: the settings in force where several policies of one kind meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import GATEWAY_API
from tests.build import names, node, policy, resource, rule, target
from tests.profiles.claims import CLAIMS, GKE, GLOO, KGATEWAY, NGINX, Claim
from tests.profiles.meetings import (
    AT_ROUTE,
    FIRST,
    GATEWAY,
    LISTENER,
    ROUTE,
    RULE,
    asked,
    by_filters,
    on,
    one_target,
    settings,
)

if TYPE_CHECKING:
    from kubectl_policy.model import Json, NodeRef


@pytest.mark.parametrize(
    "claim", [claim for claim in CLAIMS if claim.merges == "None"], ids=lambda claim: str(claim.kind)
)
def test_the_older_of_two_on_one_target_applies(claim: Claim) -> None:
    """And the newer one is refused as conflicted, where the kind does not merge."""
    analysis = one_target(claim)
    policies = (found.ref for found in analysis.policies if found.ref.group_kind == claim.kind)
    states = {policy.name: analysis.enforcement(policy).state for policy in policies}
    assert states == {"older": "Enforced", "newer": "Conflicted"}


@pytest.mark.parametrize(
    "claim", [claim for claim in CLAIMS if claim.merges == "All apply"], ids=lambda claim: str(claim.kind)
)
def test_two_on_one_target_apply_together(claim: Claim) -> None:
    analysis = one_target(claim)
    found = [ref for ref in analysis.attachments if ref.group_kind == claim.kind]
    assert {analysis.enforcement(ref).state for ref in found} == {"Enforced"}


class TestGloo:
    def test_a_virtual_host_option_of_a_listener_goes_first(self) -> None:
        kind = "VirtualHostOption"
        analysis = asked(
            GLOO,
            on(GATEWAY, kind, GLOO, 1, options={"cors": {"a": 1}, "retries": {"b": 1}}),
            on(LISTENER, kind, GLOO, 2, options={"cors": {"c": 2}}),
        )
        assert settings(analysis, node("Gateway", "g", "web"), kind, GLOO) == [
            {"options": {"cors": {"c": 2}, "retries": {"b": 1}}}
        ]

    def test_the_older_route_option_keeps_its_field(self) -> None:
        """The newer one on the same route fills what it leaves."""
        older = on(ROUTE, "RouteOption", GLOO, 1, options={"timeout": "1s", "cors": {"a": 1}})
        newer = on(ROUTE, "RouteOption", GLOO, 2, options={"timeout": "2s", "cors": {"b": 2}, "faults": {"c": 2}})
        assert settings(asked(GLOO, newer, older), FIRST, "RouteOption", GLOO) == [
            {"options": {"timeout": "1s", "cors": {"a": 1}, "faults": {"c": 2}}}
        ]

    def test_a_route_option_of_a_filter_goes_first(self) -> None:
        """Of two filters the first; older ones on the route fill what they leave."""
        assert by_filters(GLOO, "RouteOption") == {"options": {"a": "second", "b": "first", "c": "old"}}

    @pytest.mark.parametrize("kind", ["ListenerOption", "HttpListenerOption"])
    def test_a_listener_has_one_listener_option(self, kind: str) -> None:
        wide, narrow = on(GATEWAY, kind, GLOO, 1, options={"a": 1}), on(LISTENER, kind, GLOO, 2, options={"b": 2})
        web = node("Gateway", "g", "web")
        assert settings(asked(GLOO, wide), web, kind, GLOO) == [{"options": {"a": 1}}]
        assert settings(asked(GLOO, wide, narrow), web, kind, GLOO) == [{"options": {"b": 2}}]


class TestGke:
    def test_the_narrowest_client_policy_counts(self) -> None:
        """A port's before its Service's before the Namespace's; of two on one Service the older one."""
        kind = "GCPClientTLSPolicy"
        everywhere, older, newer, port = (
            policy(f"p{age}", where, kind=kind, group=GKE, age=age, by=age)
            for where, age in (
                (target("default", "Namespace", group=""), 1),
                (target("s", "Service", group=""), 2),
                (target("s", "Service", group=""), 3),
                (target("s", "Service", "https", group=""), 4),
            )
        )
        analysis = asked(GKE, everywhere, older, newer, port)
        found = {
            section: {str(each) for each in settings(analysis, node("Service", "s", section, group=""), kind, GKE)}
            for section in ("http", "https")
        }
        assert found == {"http": {"{'by': 2}"}, "https": {"{'by': 4}"}}
        assert analysis.enforcement(newer.ref).state == "Conflicted"

    def test_the_settings_stand_in_default(self) -> None:
        kind, where = "GCPBackendPolicy", target("s", "Service", group="")
        older, newer = (on(where, kind, GKE, age, default={"a": age}) for age in (1, 2))
        found = settings(asked(GKE, newer, older), node("Service", "s", group=""), kind, GKE)
        assert {str(each) for each in found} == {str({"default": {"a": 1}})}


def test_an_istio_policy_on_a_service_leaves_the_gateway_s_in_force() -> None:
    """All that are on the way of a request are evaluated."""
    group = "security.istio.io"
    policies = [
        policy(name, where, kind="AuthorizationPolicy", group=group, action=name)
        for name, where in (("allow", target("g")), ("deny", target("s", "Service", group="core")))
    ]
    analysis = asked(group, *policies)
    assert {analysis.enforcement(found.ref).state for found in policies} == {"Enforced"}
    through = [
        found
        for found in analysis.effective(node("Service", "s", "http", group=""), GroupKind(group, "AuthorizationPolicy"))
        if node("Gateway", "g", group=GATEWAY_API) in found.path
    ]
    assert {len(found.resolution.policies_in_force) for found in through} == {2}


class TestNginx:
    """NGINX Gateway Fabric: field by field, the nearest wins; a directive is one unit."""

    def test_a_route_overrides_single_settings(self) -> None:
        """The rest comes from the Gateway, but keepAlive.timeout is one directive with two arguments."""
        kind = "ClientSettingsPolicy"
        analysis = asked(
            NGINX,
            on(
                GATEWAY,
                kind,
                NGINX,
                1,
                body={"maxSize": "1m", "timeout": "5s"},
                keepAlive={"requests": 10, "timeout": {"server": "9s", "header": "8s"}},
            ),
            on(ROUTE, kind, NGINX, 2, body={"maxSize": "2m", "timeout": None}, keepAlive={"timeout": {"server": "3s"}}),
        )
        assert settings(analysis, AT_ROUTE, kind, NGINX) == [
            {"body": {"maxSize": "2m", "timeout": "5s"}, "keepAlive": {"requests": 10, "timeout": {"server": "3s"}}}
        ]

    @pytest.mark.parametrize(
        ("kind", "where", "below"),
        [
            ("ClientSettingsPolicy", ROUTE, AT_ROUTE),
            ("ProxySettingsPolicy", ROUTE, AT_ROUTE),
            ("UpstreamSettingsPolicy", target("s", "Service", group=""), node("Service", "s", group="")),
        ],
    )
    def test_of_two_with_one_setting_in_common_the_newer_is_refused(
        self, kind: str, where: dict[str, Json], below: NodeRef
    ) -> None:
        """All of it; one that has none in common counts beside the older one."""
        older, newer = on(where, kind, NGINX, 1, a={"x": 1}), on(where, kind, NGINX, 2, a={"x": 2}, b={"y": 2})
        apart = on(where, kind, NGINX, 3, b={"y": 3})
        found = settings(asked(NGINX, apart, newer, older), below, kind, NGINX)
        assert {str(each) for each in found} == {str({"b": {"y": 3}, "a": {"x": 1}})}

    def test_buffers_are_one_directive(self) -> None:
        """`proxy_buffers number size`."""
        kind = "ProxySettingsPolicy"
        analysis = asked(
            NGINX,
            on(GATEWAY, kind, NGINX, 1, buffering={"buffers": {"number": 4, "size": "8k"}, "bufferSize": "4k"}),
            on(ROUTE, kind, NGINX, 2, buffering={"buffers": {"number": 2}}),
        )
        assert settings(analysis, AT_ROUTE, kind, NGINX) == [
            {"buffering": {"buffers": {"number": 2}, "bufferSize": "4k"}}
        ]

    def test_the_limits_of_a_route_replace_those_of_the_gateway(self) -> None:
        """`limit_req` is inherited where there is none; what to do with refused requests is inherited one by one."""
        kind = "RateLimitPolicy"
        analysis = asked(
            NGINX,
            on(GATEWAY, kind, NGINX, 1, rateLimit={"local": {"rules": [{"key": "a"}]}, "rejectCode": 429}),
            on(ROUTE, kind, NGINX, 2, rateLimit={"local": {"rules": [{"key": "b"}]}}),
        )
        assert settings(analysis, AT_ROUTE, kind, NGINX) == [
            {"rateLimit": {"local": {"rules": [{"key": "b"}]}, "rejectCode": 429}}
        ]

    def test_a_route_s_processor_replaces_the_gateway_s(self) -> None:
        kind = "PayloadProcessor"
        analysis = asked(NGINX, on(GATEWAY, kind, NGINX, 1, a=1, b=1), on(ROUTE, kind, NGINX, 2, a=2))
        assert settings(analysis, AT_ROUTE, kind, NGINX) == [{"a": 2}]

    def test_a_route_s_firewalls_replace_the_gateway_s(self) -> None:
        """All of those on the route apply together; without parameters none on a Gateway does."""
        kind = "WAFPolicy"
        policies = [on(GATEWAY, kind, NGINX, 1, a=1), on(ROUTE, kind, NGINX, 2, a=2), on(ROUTE, kind, NGINX, 3, b=3)]
        assert settings(asked(NGINX, *policies), AT_ROUTE, kind, NGINX) == [
            {"default/p2": {"a": 2}, "default/p3": {"b": 3}}
        ]
        assert settings(asked(NGINX, policies[0]), AT_ROUTE, kind, NGINX) == []

    def test_one_payload_processor_applies(self) -> None:
        """Of two on one route the older one, and the Gateway's gives way to it."""
        gateways, older, newer = (
            on(where, "PayloadProcessor", NGINX, age, by=age) for where, age in ((GATEWAY, 1), (ROUTE, 2), (ROUTE, 3))
        )
        analysis = asked(NGINX, gateways, newer, older)
        assert settings(analysis, AT_ROUTE, "PayloadProcessor", NGINX) == [{"by": 2}]
        assert [analysis.enforcement(found.ref).state for found in (gateways, older, newer)] == [
            "Overridden",
            "Enforced",
            "Conflicted",
        ]

    def test_a_snippet_reaches_the_routes_of_its_gateway(self) -> None:
        analysis = asked(NGINX, on(GATEWAY, "SnippetsPolicy", NGINX, 1, snippets=[]))
        assert [found.name for found in analysis.affected_by(AT_ROUTE)] == ["p1"]


class TestKgateway:
    """kgateway: by top-level field, the older policy first on one target, the narrower target before the wider."""

    def test_a_field_comes_whole_from_one_policy(self) -> None:
        """From the rule, else the route, else the Gateway; the two rate limits are fields of their own."""
        kind = "TrafficPolicy"
        analysis = asked(
            KGATEWAY,
            on(GATEWAY, kind, KGATEWAY, 1, cors={"maxAge": 1, "allowOrigins": ["a"]}, rateLimit={"global": {"x": 1}}),
            on(ROUTE, kind, KGATEWAY, 2, cors={"maxAge": 2}, rateLimit={"local": {"y": 2}}, csrf={"z": 2}),
            on(RULE, kind, KGATEWAY, 3, csrf={"percentage": 3}),
        )
        assert settings(analysis, FIRST, kind, KGATEWAY) == [
            {"cors": {"maxAge": 2}, "rateLimit": {"global": {"x": 1}, "local": {"y": 2}}, "csrf": {"percentage": 3}}
        ]

    def test_the_older_of_two_keeps_its_field(self) -> None:
        """The newer one fills what the older one leaves."""
        kind = "TrafficPolicy"
        older = on(ROUTE, kind, KGATEWAY, 1, retry={"attempts": 1})
        newer = on(ROUTE, kind, KGATEWAY, 2, retry={"attempts": 2, "backoff": "1s"}, buffer={"max": 2})
        assert settings(asked(KGATEWAY, newer, older), FIRST, kind, KGATEWAY) == [
            {"retry": {"attempts": 1}, "buffer": {"max": 2}}
        ]

    def test_a_filter_s_policy_goes_first(self) -> None:
        """Before older ones on its rule and on the route, which fill what it leaves."""
        kind = "TrafficPolicy"
        analysis = asked(
            KGATEWAY,
            on(ROUTE, kind, KGATEWAY, 1, retry={"attempts": 1}, csrf={"by": 1}, buffer={"max": 1}),
            on(RULE, kind, KGATEWAY, 2, retry={"attempts": 2}, csrf={"by": 2}),
            resource(kind, "p3", {"retry": {"attempts": 3}}, group=KGATEWAY, age=3),
            rules=[rule(name="first", filters=[names("p3", kind, KGATEWAY)])],
        )
        assert settings(analysis, FIRST, kind, KGATEWAY) == [
            {"retry": {"attempts": 3}, "csrf": {"by": 2}, "buffer": {"max": 1}}
        ]

    def test_a_direct_response_is_in_force_at_the_rule_that_names_it(self) -> None:
        """And nowhere else; that a second one fails the rule is said in a note."""
        kind = "DirectResponse"
        filters = [names(name, kind, KGATEWAY) for name in ("b", "a")]
        analysis = asked(
            KGATEWAY,
            *(resource(kind, name, {"status": 403}, group=KGATEWAY) for name in ("a", "b", "c")),
            rules=[rule(name="first", filters=filters), rule(name="other")],
        )
        assert [found.name for found in analysis.affected_by(FIRST)] == ["a", "b"]
        assert analysis.affected_by(replace(FIRST, section="other")) == ()
        states = {ref.name: analysis.enforcement(ref).state for ref in analysis.attachments}
        assert states == {"a": "Enforced", "b": "Enforced", "c": "NoEffect"}

    def test_a_listener_s_policy_refines_the_gateway_s(self) -> None:
        """Below default.httpSettings each field for itself; on HTTP it is passed over. `default` is no stanza."""
        kind = "ListenerPolicy"
        wide: Json = {"httpSettings": {"tracing": {"a": 1}, "idleTimeout": "1s"}, "proxyProtocol": {"b": 1}}
        narrow: Json = {"httpSettings": {"tracing": {"c": 2}}}
        policies = on(GATEWAY, kind, KGATEWAY, 1, default=wide), on(LISTENER, kind, KGATEWAY, 2, default=narrow)
        web = node("Gateway", "g", "web")
        assert settings(asked(KGATEWAY, *policies, protocol="HTTPS"), web, kind, KGATEWAY) == [
            {"default": {"httpSettings": {"tracing": {"c": 2}, "idleTimeout": "1s"}, "proxyProtocol": {"b": 1}}}
        ]
        assert settings(asked(KGATEWAY, *policies), web, kind, KGATEWAY) == [{"default": wide}]

    def test_a_backend_s_settings_come_whole_from_one_policy(self) -> None:
        kind, where = "BackendConfigPolicy", target("s", "Service", group="")
        older = on(where, kind, KGATEWAY, 1, tls={"sni": "a"})
        newer = on(where, kind, KGATEWAY, 2, tls={"sni": "b", "alpn": ["h2"]}, connectTimeout="1s")
        analysis = asked(KGATEWAY, newer, older)
        found = settings(analysis, node("Service", "s", group=""), kind, KGATEWAY)
        assert {str(each) for each in found} == {str({"tls": {"sni": "a"}, "connectTimeout": "1s"})}
