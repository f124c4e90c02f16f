"""Merging by built-in kinds: the settings in force where several policies of one kind meet."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import pytest
from msgspec.structs import replace

from kubectl_policy import Analysis, analyze, plain
from kubectl_policy.model import GroupKind, Json, NodeRef, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API, SERVICE
from kubectl_policy.profiles.load import built_in_profiles
from tests.build import (
    gateway,
    gateway_class,
    listener,
    names,
    namespace,
    node,
    parent,
    policy,
    resource,
    route,
    rule,
    service,
    snapshot,
    target,
)
from tests.profiles.claims import CLAIMS, GKE, GLOO, KGATEWAY, NGINX, Claim
from tests.profiles.claims import GATEWAY as GATEWAY_KIND
from tests.profiles.test_claims import policy_to, world

GATEWAY: Final = target("g")
LISTENER: Final = target("g", section="web")
ROUTE: Final = target("r", "HTTPRoute")
RULE: Final = target("r", "HTTPRoute", "first")
BACKEND: Final = target("s", "Service", group="")
AT_LISTENER: Final = node("Gateway", "g", "web")
AT_ROUTE: Final = node("HTTPRoute", "r")
AT_RULE: Final = node("HTTPRoute", "r", "first")
AT_BACKEND: Final = node("Service", "s", group="")
ONE_RULE: Final = rule({"name": "s", "port": 80}, name="first")


def asked(
    group: str, *policies: Resource, protocol: str = "HTTP", rules: Sequence[Mapping[str, Json]] = (ONE_RULE,)
) -> Analysis:
    """A Gateway `g` with listener `web`, a route `r` with a rule `first`, and a Service `s`, under the controller."""
    controllers = {
        name for profile in built_in_profiles(group).values() for name in profile.with_settings({}).controllers
    }
    (controller,) = controllers or {"example.com/controller"}
    return analyze(
        snapshot(
            *policies,
            gateway_class("public", controller),
            gateway("g", listener("web", protocol)),
            route("r", parents=[parent("g")], rules=rules),
            service("s", ("http", 80), ("https", 443)),
            namespace("default"),
            complete=True,
        )
    )


class Kind(NamedTuple):
    """A policy kind of an implementation, with policies that are called by their age."""

    kind: str
    group: str

    def on(self, where: dict[str, Json], age: int, **spec: Json) -> Resource:
        """A policy on one target, which it names in the spelling of its kind."""
        fields = built_in_profiles(self.group)[GroupKind(self.group, self.kind)].target_fields
        reference: dict[str, Json] = {"targetRef": where} if fields == ("spec.targetRef",) else {"targetRefs": [where]}
        return resource(self.kind, f"p{age}", {**reference, **spec}, group=self.group, age=age)

    def settings(self, analysis: Analysis, where: NodeRef) -> list[dict[str, Json]]:
        """What is in force at a node, once where that is the same on several paths to it."""
        effective = analysis.effective(where, GroupKind(self.group, self.kind))
        specs = [plain(found.resolution.spec) for found in effective]
        return [spec for number, spec in enumerate(specs) if spec not in specs[:number]]

    def in_force(self, where: NodeRef, *policies: Resource, protocol: str = "HTTP") -> list[dict[str, Json]]:
        """What is in force at a node where some policies meet."""
        return self.settings(asked(self.group, *policies, protocol=protocol), where)


def one_target(claim: Claim) -> Analysis:
    """Two policies of a kind on a Gateway or, if it takes none, on its first target."""
    where = GATEWAY_KIND if GATEWAY_KIND in claim.targets else (claim.targets or [SERVICE])[0]
    kind, group = claim.kind.kind, claim.kind.group
    found = policy_to(claim, claim.fields[0], where).raw["spec"] if claim.fields else None
    spec, of_two = found if isinstance(found, dict) else {}, (("newer", 2), ("older", 1))
    policies = [resource(kind, name, {**spec, "by": name}, group=group, age=age) for name, age in of_two]
    objects = world(claim, where)
    if not claim.fields:
        both = rule(name="first", filters=[names(name, kind, group) for name, _ in of_two])
        objects[-1] = route("x", parents=[parent("edge")], rules=[both])
    return analyze(snapshot(*policies, *objects, complete=True))


@pytest.mark.parametrize(
    "claim", [claim for claim in CLAIMS if claim.merges in {"None", "All apply"}], ids=lambda claim: str(claim.kind)
)
def test_two_on_one_target(claim: Claim) -> None:
    """Where all apply, none beats another; where nothing is merged, the newer one is refused as conflicted."""
    analysis = one_target(claim)
    refs = [ref for ref in analysis.attachments if ref.group_kind == claim.kind]
    states = {ref.name: analysis.enforcement(ref).state for ref in refs}
    assert states == {"older": "Enforced", "newer": "Conflicted" if claim.merges == "None" else "Enforced"}


class TestGloo:
    """Gloo Gateway: by the fields of `options`."""

    def test_a_virtual_host_option_of_a_listener_goes_first(self) -> None:
        option = Kind("VirtualHostOption", GLOO)
        wide = option.on(GATEWAY, 1, options={"cors": {"a": 1}, "retries": {"b": 1}})
        narrow = option.on(LISTENER, 2, options={"cors": {"c": 2}})
        assert option.in_force(AT_LISTENER, wide, narrow) == [{"options": {"cors": {"c": 2}, "retries": {"b": 1}}}]

    def test_the_older_route_option_keeps_its_field(self) -> None:
        """The newer one on the same route fills what it leaves."""
        option = Kind("RouteOption", GLOO)
        older = option.on(ROUTE, 1, options={"timeout": "1s", "cors": {"a": 1}})
        newer = option.on(ROUTE, 2, options={"timeout": "2s", "cors": {"b": 2}, "faults": {"c": 2}})
        merged: Json = {"timeout": "1s", "cors": {"a": 1}, "faults": {"c": 2}}
        assert option.in_force(AT_RULE, newer, older) == [{"options": merged}]

    def test_a_route_option_of_a_filter_goes_first(self) -> None:
        """Of two filters the first; older ones on the route fill what they leave."""
        option = Kind("RouteOption", GLOO)
        filters = [names(name, *option) for name in ("second", "first")]
        analysis = asked(
            GLOO,
            option.on(ROUTE, 1, options=dict.fromkeys("abc", "old")),
            resource("RouteOption", "first", {"options": dict.fromkeys("ab", "first")}, group=GLOO, age=2),
            resource("RouteOption", "second", {"options": {"a": "second"}}, group=GLOO, age=3),
            rules=[rule({"name": "s", "port": 80}, name="first", filters=filters)],
        )
        assert option.settings(analysis, AT_RULE) == [{"options": {"a": "second", "b": "first", "c": "old"}}]

    @pytest.mark.parametrize("kind", ["ListenerOption", "HttpListenerOption"])
    def test_a_listener_has_one_listener_option(self, kind: str) -> None:
        option = Kind(kind, GLOO)
        wide, narrow = option.on(GATEWAY, 1, options={"a": 1}), option.on(LISTENER, 2, options={"b": 2})
        assert option.in_force(AT_LISTENER, wide) == [{"options": {"a": 1}}]
        assert option.in_force(AT_LISTENER, wide, narrow) == [{"options": {"b": 2}}]


class TestGke:
    """GKE: nothing is merged."""

    def test_the_narrowest_client_policy_counts(self) -> None:
        """A port's before its Service's before the Namespace's; of two on one Service the older one."""
        client = Kind("GCPClientTLSPolicy", GKE)
        places = target("default", "Namespace", group=""), BACKEND, BACKEND, target("s", "Service", "https", group="")
        policies = [client.on(where, age, by=age) for age, where in enumerate(places, 1)]
        analysis = asked(GKE, *policies)
        for section, age in (("http", 2), ("https", 4)):
            assert client.settings(analysis, replace(AT_BACKEND, section=section)) == [{"by": age}]
        assert analysis.enforcement(policies[2].ref).state == "Conflicted"

    def test_the_settings_stand_in_default(self) -> None:
        """Which is no stanza of defaults."""
        backend = Kind("GCPBackendPolicy", GKE)
        older, newer = (backend.on(BACKEND, age, default={"a": age}) for age in (1, 2))
        assert backend.in_force(AT_BACKEND, newer, older) == [{"default": {"a": 1}}]


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

    @pytest.mark.parametrize(
        ("kind", "gateways", "routes", "merged"),
        [
            pytest.param(
                "ClientSettingsPolicy",
                {
                    "body": {"maxSize": "1m", "timeout": "5s"},
                    "keepAlive": {"requests": 10, "timeout": {"server": "9s", "header": "8s"}},
                },
                {"body": {"maxSize": "2m", "timeout": None}, "keepAlive": {"timeout": {"server": "3s"}}},
                {
                    "body": {"maxSize": "2m", "timeout": "5s"},
                    "keepAlive": {"requests": 10, "timeout": {"server": "3s"}},
                },
                id="keepAlive.timeout is one directive with two arguments",
            ),
            pytest.param(
                "ProxySettingsPolicy",
                {"buffering": {"buffers": {"number": 4, "size": "8k"}, "bufferSize": "4k"}},
                {"buffering": {"buffers": {"number": 2}}},
                {"buffering": {"buffers": {"number": 2}, "bufferSize": "4k"}},
                id="proxy_buffers number size",
            ),
            pytest.param(
                "RateLimitPolicy",
                {"rateLimit": {"local": {"rules": [{"key": "a"}]}, "rejectCode": 429}},
                {"rateLimit": {"local": {"rules": [{"key": "b"}]}}},
                {"rateLimit": {"local": {"rules": [{"key": "b"}]}, "rejectCode": 429}},
                id="limit_req is inherited where there is none, what to do with refused requests one by one",
            ),
            pytest.param("PayloadProcessor", {"a": 1, "b": 1}, {"a": 2}, {"a": 2}, id="whole"),
        ],
    )
    def test_a_route_overrides_the_gateway(
        self, kind: str, gateways: dict[str, Json], routes: dict[str, Json], merged: Json
    ) -> None:
        of_kind = Kind(kind, NGINX)
        policies = of_kind.on(GATEWAY, 1, **gateways), of_kind.on(ROUTE, 2, **routes)
        assert of_kind.in_force(AT_ROUTE, *policies) == [merged]

    @pytest.mark.parametrize(
        ("kind", "where", "below"),
        [
            ("ClientSettingsPolicy", ROUTE, AT_ROUTE),
            ("ProxySettingsPolicy", ROUTE, AT_ROUTE),
            ("UpstreamSettingsPolicy", BACKEND, AT_BACKEND),
        ],
    )
    def test_of_two_with_one_setting_in_common_the_newer_is_refused(
        self, kind: str, where: dict[str, Json], below: NodeRef
    ) -> None:
        """All of it; one that has none in common counts beside the older one."""
        of_kind = Kind(kind, NGINX)
        older, newer = of_kind.on(where, 1, a={"x": 1}), of_kind.on(where, 2, a={"x": 2}, b={"y": 2})
        assert of_kind.in_force(below, of_kind.on(where, 3, b={"y": 3}), newer, older) == [
            {"b": {"y": 3}, "a": {"x": 1}}
        ]

    def test_a_route_s_firewalls_replace_the_gateway_s(self) -> None:
        """All of those on the route apply together; without parameters none on a Gateway does."""
        firewall = Kind("WAFPolicy", NGINX)
        gateways, *routes = firewall.on(GATEWAY, 1, a=1), firewall.on(ROUTE, 2, a=2), firewall.on(ROUTE, 3, b=3)
        together: Json = {"default/p2": {"a": 2}, "default/p3": {"b": 3}}
        assert firewall.in_force(AT_ROUTE, gateways, *routes) == [together]
        assert firewall.in_force(AT_ROUTE, gateways) == []

    def test_one_payload_processor_applies(self) -> None:
        """Of two on one route the older one, and the Gateway's gives way to it."""
        processor = Kind("PayloadProcessor", NGINX)
        policies = [processor.on(where, age, by=age) for age, where in enumerate((GATEWAY, ROUTE, ROUTE), 1)]
        analysis = asked(NGINX, *policies)
        assert processor.settings(analysis, AT_ROUTE) == [{"by": 2}]
        states = [analysis.enforcement(found.ref).state for found in policies]
        assert states == ["Overridden", "Enforced", "Conflicted"]

    def test_a_snippet_reaches_the_routes_of_its_gateway(self) -> None:
        analysis = asked(NGINX, Kind("SnippetsPolicy", NGINX).on(GATEWAY, 1, snippets=[]))
        assert [found.name for found in analysis.affected_by(AT_ROUTE)] == ["p1"]


class TestKgateway:
    """kgateway: by top-level field, the older policy first on one target, the narrower target before the wider."""

    traffic = Kind("TrafficPolicy", KGATEWAY)

    def test_a_field_comes_whole_from_one_policy(self) -> None:
        """From the rule, else the route, else the Gateway; the two rate limits are fields of their own."""
        policies = (
            self.traffic.on(GATEWAY, 1, cors={"maxAge": 1, "allowOrigins": ["a"]}, rateLimit={"global": {"x": 1}}),
            self.traffic.on(ROUTE, 2, cors={"maxAge": 2}, rateLimit={"local": {"y": 2}}, csrf={"z": 2}),
            self.traffic.on(RULE, 3, csrf={"percentage": 3}),
        )
        limits: Json = {"global": {"x": 1}, "local": {"y": 2}}
        merged = {"cors": {"maxAge": 2}, "rateLimit": limits, "csrf": {"percentage": 3}}
        assert self.traffic.in_force(AT_RULE, *policies) == [merged]

    def test_the_older_of_two_keeps_its_field(self) -> None:
        """The newer one fills what the older one leaves."""
        older = self.traffic.on(ROUTE, 1, retry={"attempts": 1})
        newer = self.traffic.on(ROUTE, 2, retry={"attempts": 2, "backoff": "1s"}, buffer={"max": 2})
        assert self.traffic.in_force(AT_RULE, newer, older) == [{"retry": {"attempts": 1}, "buffer": {"max": 2}}]

    def test_a_filter_s_policy_goes_first(self) -> None:
        """Before older ones on its rule and on the route, which fill what it leaves."""
        analysis = asked(
            KGATEWAY,
            self.traffic.on(ROUTE, 1, retry={"attempts": 1}, csrf={"by": 1}, buffer={"max": 1}),
            self.traffic.on(RULE, 2, retry={"attempts": 2}, csrf={"by": 2}),
            resource("TrafficPolicy", "p3", {"retry": {"attempts": 3}}, group=KGATEWAY, age=3),
            rules=[rule(name="first", filters=[names("p3", *self.traffic)])],
        )
        merged = {"retry": {"attempts": 3}, "csrf": {"by": 2}, "buffer": {"max": 1}}
        assert self.traffic.settings(analysis, AT_RULE) == [merged]

    def test_a_direct_response_is_in_force_at_the_rule_that_names_it(self) -> None:
        """And nowhere else; that a second one fails the rule is said in a note."""
        kind = "DirectResponse"
        filters = [names(name, kind, KGATEWAY) for name in ("b", "a")]
        analysis = asked(
            KGATEWAY,
            *(resource(kind, name, {"status": 403}, group=KGATEWAY) for name in ("a", "b", "c")),
            rules=[rule(name="first", filters=filters), rule(name="other")],
        )
        assert [found.name for found in analysis.affected_by(AT_RULE)] == ["a", "b"]
        assert analysis.affected_by(replace(AT_RULE, section="other")) == ()
        states = {ref.name: analysis.enforcement(ref).state for ref in analysis.attachments}
        assert states == {"a": "Enforced", "b": "Enforced", "c": "NoEffect"}

    def test_a_listener_s_policy_refines_the_gateway_s(self) -> None:
        """Below default.httpSettings each field for itself; on HTTP it is passed over. `default` is no stanza."""
        of_listeners = Kind("ListenerPolicy", KGATEWAY)
        wide: Json = {"httpSettings": {"tracing": {"a": 1}, "idleTimeout": "1s"}, "proxyProtocol": {"b": 1}}
        narrow: Json = {"httpSettings": {"tracing": {"c": 2}}}
        policies = of_listeners.on(GATEWAY, 1, default=wide), of_listeners.on(LISTENER, 2, default=narrow)
        merged: Json = {"httpSettings": {"tracing": {"c": 2}, "idleTimeout": "1s"}, "proxyProtocol": {"b": 1}}
        assert of_listeners.in_force(AT_LISTENER, *policies, protocol="HTTPS") == [{"default": merged}]
        assert of_listeners.in_force(AT_LISTENER, *policies) == [{"default": wide}]

    def test_a_backend_s_settings_come_whole_from_one_policy(self) -> None:
        """By top-level field, the older policy first."""
        backend = Kind("BackendConfigPolicy", KGATEWAY)
        older = backend.on(BACKEND, 1, tls={"sni": "a"})
        newer = backend.on(BACKEND, 2, tls={"sni": "b", "alpn": ["h2"]}, connectTimeout="1s")
        assert backend.in_force(AT_BACKEND, newer, older) == [{"tls": {"sni": "a"}, "connectTimeout": "1s"}]
