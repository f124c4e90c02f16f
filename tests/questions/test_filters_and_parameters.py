"""Settings of what routes, Gateways and classes name, and what is not a policy: filters and parameters, as sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pytest

from kubectl_policy import Analysis, PolicyKindProfile, analyze, what_if
from kubectl_policy.errors import UsageError
from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Resource
from kubectl_policy.model.kind_roles import HTTP_ROUTE
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.diff import diff
from kubectl_policy.questions.explain import explain
from kubectl_policy.questions.lists import list_type
from kubectl_policy.questions.object_rows import RouteRow
from kubectl_policy.questions.retargeting import retargeted
from kubectl_policy.questions.shared.selection import Selection
from kubectl_policy.questions.status.report import status
from kubectl_policy.questions.why_not.answer import why_not
from kubectl_policy.render.explain.statements import explanation_headline
from tests.build import (
    backend,
    gateway,
    gateway_class,
    names,
    node,
    parent,
    ref,
    resource,
    route,
    rule,
    service,
    snapshot,
)
from tests.questions.build import analyzed
from tests.render.shown import shown

ENVOY: Final = "gateway.envoyproxy.io"
NGINX: Final = "gateway.nginx.org"
CLASS: Final = gateway_class("public", "gateway.envoyproxy.io/gatewayclass-controller")
ROUTE: Final = node("HTTPRoute", "r")
CLOSED: Final = resource("HTTPRouteFilter", "closed", {"directResponse": {"statusCode": 503}}, group=ENVOY)
KEY: Final = resource(
    "HTTPRouteFilter",
    "key",
    {
        "credentialInjection": {"header": "X-Key", "credential": {"valueRef": {"name": "key"}}},
        "urlRewrite": {"hostname": {"type": "Backend"}},
    },
    group=ENVOY,
)
SECRET: Final = resource("Secret", "key", group="")


def filtered(name: str, kind: str = "HTTPRouteFilter", group: str = ENVOY) -> dict[str, Json]:
    return names(name, kind, group)


def asked(*objects: Resource) -> Analysis:
    """A world of these objects and no others, with a Gateway and two Services unless others are given."""
    given = {each.ref for each in objects}
    base = (CLASS, gateway(), service("s"), service("t"))
    return analyzed(*(each for each in base if each.ref not in given), *objects, complete=True)


def in_force(analysis: Analysis, subject: NodeRef, kind: str) -> list[tuple[str, Any, str, list[str]]]:
    """The settings of a kind in force at a subject: field, value, from whom, and where they take effect."""
    return [
        (
            setting.field,
            setting.value,
            setting.source.object.name,
            [at.section or at.object.name for at in group.extent.at],
        )
        for group in describe(analysis, subject).in_force
        if group.kind.kind == kind
        for setting in group.settings
    ]


class TestFiltersOfRules:
    WORLD: Final = asked(
        CLOSED, route(rules=[rule(backend(), name="a", filters=[filtered("closed")]), rule(backend())])
    )
    SET: Final = ("directResponse.statusCode", 503, "closed", ["a"])

    def test_at_that_rule_alone(self) -> None:
        assert in_force(self.WORLD, ROUTE, "HTTPRouteFilter") == [self.SET]
        assert in_force(self.WORLD, node("HTTPRoute", "r", "a"), "HTTPRouteFilter") == [self.SET]
        assert in_force(self.WORLD, node("HTTPRoute", "r", "rule[1]"), "HTTPRouteFilter") == []

    def test_for_what_the_rule_leads_to(self) -> None:
        """All requests to its backends by way of it go through the filter; a Gateway has nothing of it."""
        found = describe(self.WORLD, node("Service", "s", group=""))
        assert [(group.kind.kind, group.extent.positions) for group in found.in_force] == [("HTTPRouteFilter", (0,))]
        assert found.not_applying == ()
        assert in_force(self.WORLD, node("Gateway", "g"), "HTTPRouteFilter") == []

    def test_it_is_no_policy(self) -> None:
        assert self.WORLD.policies == ()
        assert CLOSED.ref in self.WORLD.attachments

    @pytest.mark.parametrize("kind", ["SnippetsFilter", "AuthenticationFilter"])
    def test_of_grpc_routes(self, kind: str) -> None:
        found = resource(kind, "f", {"type": "Basic"}, group=NGINX)
        grpc = route(kind="GRPCRoute", rules=[rule(backend(), filters=[filtered("f", kind, NGINX)])])
        analysis = asked(gateway_class("public", "gateway.nginx.org/nginx-gateway-controller"), found, grpc)
        assert in_force(analysis, node("GRPCRoute", "r"), kind) == [("type", "Basic", "f", ["rule[0]"])]

    def test_one_that_lacks_what_it_needs(self) -> None:
        analysis = asked(KEY, route(rules=[rule(backend(), filters=[filtered("key")])]))
        (attachment,) = analysis.attachments[KEY.ref]
        missing = "Secret default/key, which spec.credentialInjection.credential.valueRef names, does not exist"
        answered = "until that is fixed, requests there get an error response"
        assert (attachment.state, attachment.message) == ("policy invalid", f"{missing}; {answered}")

    def test_one_that_nothing_names(self) -> None:
        assert asked(CLOSED).enforcement(CLOSED.ref).state == "NoEffect"
        assert analyzed(CLASS, CLOSED).enforcement(CLOSED.ref).state == "Unknown"


class TestFiltersOfBackends:
    """What a filter of a backendRef names takes effect at that backend, for the requests of that rule."""

    ONE: Final = rule(backend(filters=[filtered("key")]), backend("t"), name="one")
    OTHER: Final = rule(backend(), name="other")

    def test_for_that_backend_of_that_rule(self) -> None:
        analysis = asked(KEY, SECRET, route(rules=[self.ONE, self.OTHER]))
        expected = [
            ("credentialInjection.header", "X-Key", "key", ["8080"]),
            ("credentialInjection.credential.valueRef.name", "key", "key", ["8080"]),
        ]
        assert in_force(analysis, ROUTE, "HTTPRouteFilter") == expected
        assert in_force(analysis, node("HTTPRoute", "r", "other"), "HTTPRouteFilter") == []
        assert in_force(analysis, node("Service", "s", group=""), "HTTPRouteFilter") == expected
        assert in_force(analysis, node("Service", "t", group=""), "HTTPRouteFilter") == []
        (attachment,) = analysis.attachments[KEY.ref]
        assert (attachment.target, attachment.declared.way) == (
            node("Service", "s", "8080", group=""),
            "backend filter",
        )
        assert attachment.declared.rule == node("HTTPRoute", "r", "one")
        outcomes = analysis.enforcement(KEY.ref).outcomes
        assert [[at.section for at in outcome.path if at.object == ROUTE.object] for outcome in outcomes] == [
            ["", "one"]
        ]

    def test_several_rules_with_filters_of_their_own(self) -> None:
        second = resource("HTTPRouteFilter", "second", KEY.raw["spec"], group=ENVOY)
        rules = [self.ONE, rule(backend(filters=[filtered("second")]), name="other")]
        analysis = asked(KEY, second, SECRET, route(rules=rules))
        for section, name in (("one", "key"), ("other", "second")):
            found = in_force(analysis, node("HTTPRoute", "r", section), "HTTPRouteFilter")
            assert {source for _, _, source, _ in found} == {name}
            enforcement = analysis.enforcement(ref("HTTPRouteFilter", name, group=ENVOY))
            ways = [
                [at.section for at in outcome.path if at.object == ROUTE.object] for outcome in enforcement.outcomes
            ]
            assert ways == [["", section]]

    def test_where_the_kind_takes_none(self) -> None:
        kind = "AuthenticationFilter"
        found = resource(kind, "f", {"type": "Basic"}, group=NGINX)
        there = route(rules=[rule(backend(filters=[filtered("f", kind, NGINX)]))])
        analysis = asked(gateway_class("public", "gateway.nginx.org/nginx-gateway-controller"), found, there)
        assert [each.state for each in analysis.attachments[found.ref]] == ["filter unsupported"]

    def test_of_a_rule_that_leads_to_routes(self) -> None:
        magic = PolicyKindProfile(
            GroupKind("example.com", "Magic"),
            "direct",
            "profile",
            attachment="filters",
            filter_routes=frozenset({HTTP_ROUTE}),
            backend_filters=True,
        )
        filters = [filtered("m", "Magic", "example.com")]
        onward = backend("child", None, kind="HTTPRoute", group=HTTP_ROUTE.group, filters=filters)
        child = route("child", parents=[parent("r", kind="HTTPRoute")])
        found = resource("Magic", "m", {}, group="example.com")
        there = (gateway_class("public", "kgateway.dev/kgateway"), gateway(), service(), child)
        world = snapshot(*there, route(rules=[rule(onward)]), found, complete=True)
        (attachment,) = analyze(world, profiles=[magic]).attachments[found.ref]
        assert (attachment.state, attachment.target) == ("not computed", node("HTTPRoute", "r", "rule[0]"))


def parameters(name: str, **spec: Json) -> Resource:
    """An EnvoyProxy."""
    return resource("EnvoyProxy", name, spec, group=ENVOY)


def refers(name: str) -> dict[str, Json]:
    """A reference to an EnvoyProxy."""
    return {"group": ENVOY, "kind": "EnvoyProxy", "name": name}


class TestParameters:
    """What a class, and what a Gateway, names as its parameters takes effect at the Gateway."""

    CLASS: Final = gateway_class(
        "public",
        "gateway.envoyproxy.io/gatewayclass-controller",
        parametersRef={**refers("wide"), "namespace": "default"},
    )
    GATEWAY: Final = gateway(infrastructure={"parametersRef": refers("own")})
    WIDE: Final = parameters("wide", concurrency=2, logging={"level": {"default": "warn"}})

    def found(self, own: Resource, wide: Resource, subject: NodeRef = ROUTE) -> list[tuple[str, Any, str, list[str]]]:
        return in_force(asked(self.CLASS, self.GATEWAY, own, wide, route()), subject, "EnvoyProxy")

    def test_those_of_the_gateway_replace_those_of_its_class(self) -> None:
        for subject in (ROUTE, node("Gateway", "g"), node("Service", "s", group="")):
            assert self.found(parameters("own", concurrency=8), self.WIDE, subject) == [
                ("concurrency", 8, "own", ["g"])
            ]

    @pytest.mark.parametrize("chooser", ["own", "wide"])
    def test_they_merge_as_the_nearest_of_them_says(self, chooser: str) -> None:
        said: dict[str, dict[str, Json]] = {chooser: {"mergeType": "JSONMerge"}}
        own = parameters("own", concurrency=8, **said.get("own", {}))
        wide = parameters("wide", concurrency=2, dynamicModules=[], **said.get("wide", {}))
        expected: list[tuple[str, Json, str, list[str]]] = [
            ("concurrency", 8, "own", ["g"]),
            ("dynamicModules", [], "wide", ["g"]),
        ]
        assert sorted(self.found(own, wide)) == expected

    def test_the_gateways_own_choice_counts_before_that_of_its_class(self) -> None:
        own = parameters("own", concurrency=8, mergeType="Replace")
        wide = parameters("wide", dynamicModules=[], mergeType="JSONMerge")
        assert self.found(own, wide) == [("concurrency", 8, "own", ["g"])]

    def test_those_of_another_namespace_are_not_meant(self) -> None:
        strange = resource("EnvoyProxy", "own", {"concurrency": 1}, group=ENVOY, namespace="other")
        assert asked(self.CLASS, self.GATEWAY, strange).attachments[strange.ref] == ()
        own = parameters("own")
        assert asked(gateway_class(parametersRef=refers("own")), own).attachments[own.ref] == ()

    def test_what_names_them_may_not_have_been_read(self) -> None:
        analysis = analyzed(self.WIDE)
        assert analysis.enforcement(self.WIDE.ref).state == "Unknown"
        assert [each.message for each in analysis.attachments[self.WIDE.ref]] == [
            "no Gateway of namespace default that was read names it as its parameters, and another one may",
            "no GatewayClass that was read names it as its parameters, and another one may",
        ]
        unseen = describe_policy(analysis, self.WIDE.ref).unseen
        assert [(each.what, each.reason) for each in unseen] == [
            ("Gateways in namespace default", f"one that was not read may name {self.WIDE.ref} as its parameters"),
            ("GatewayClasses", f"one that was not read may name {self.WIDE.ref} as its parameters"),
        ]
        assert asked(self.WIDE).enforcement(self.WIDE.ref).state == "NoEffect"

    def test_a_difference_is_one_at_the_gateway(self) -> None:
        before = asked(self.CLASS, self.GATEWAY, parameters("own", concurrency=8), self.WIDE, route())
        effects = diff(what_if(before, applied=[parameters("own", concurrency=9)])).effects
        changed = [(field.field, each.node) for effect in effects for field in effect.fields for each in effect.objects]
        assert changed == [("concurrency", node("Gateway", "g"))]
        assert [effect.policy_kind for effect in blast_radius(before, self.WIDE.ref).difference.effects] == []

    def test_those_of_nginx_merge_field_by_field(self) -> None:
        own, wide = (
            resource("NginxProxy", name, {"ipFamily": family, **more}, group=NGINX)
            for name, family, more in (("own", "ipv4", {}), ("wide", "dual", {"serverTokens": "off"}))
        )
        named: dict[str, Json] = {"group": NGINX, "kind": "NginxProxy"}
        nginx = gateway_class(
            "public",
            "gateway.nginx.org/nginx-gateway-controller",
            parametersRef={**named, "name": "wide", "namespace": "default"},
        )
        there = gateway(infrastructure={"parametersRef": {**named, "name": "own"}})
        assert in_force(asked(nginx, there, own, wide), node("Gateway", "g"), "NginxProxy") == [
            ("ipFamily", "ipv4", "own", ["g"]),
            ("serverTokens", "off", "wide", ["g"]),
        ]


class TestWhyNot:
    RULES: Final = (rule(backend(), name="a", filters=[filtered("closed")]), TestFiltersOfBackends.ONE, rule(name="c"))
    WORLD: Final = asked(CLOSED, KEY, SECRET, route(rules=RULES))

    @pytest.mark.parametrize(
        ("found", "rule_of_route", "message"),
        [
            (CLOSED, "one", "its target is rule a of {}, and not rule one of {}"),
            (KEY, "a", "it applies only to requests of rule one of {}, and of these to those for {backend}"),
        ],
    )
    def test_of_another_rule(self, found: Resource, rule_of_route: str, message: str) -> None:
        answer = why_not(self.WORLD, found.ref, node("HTTPRoute", "r", rule_of_route))
        obj, backend = str(ROUTE.object), "port 8080 of Service default/s"
        assert answer.reasons[0].message == message.format(obj, obj, backend=backend)


def test_patches_reach_all_that_a_gateway_serves() -> None:
    """They are not read, so that they may change anything there."""
    spec: dict[str, Json] = {
        "targetRef": {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "g"},
        "type": "JSONPatch",
    }
    patch = resource("EnvoyPatchPolicy", "p", spec, group=ENVOY)
    analysis = asked(patch, route())
    described = describe(analysis, ROUTE)
    assert [(group.kind, group.profile.patches) for group in described.in_force] == [
        (GroupKind(ENVOY, "EnvoyPatchPolicy"), True)
    ]
    assert described.not_applying == ()
    assert "may change anything here; its proxy configuration is not read" in " ".join(shown(described, "tree").split())
    empty = resource("EnvoyPatchPolicy", "p", {**spec, "jsonPatches": []}, group=ENVOY)
    assert "0 JSON patches" not in shown(describe(asked(empty, route()), ROUTE), "tree")
    of_policy = " ".join(shown(describe_policy(analysis, patch.ref), "tree").split())
    assert "it affects 1 HTTPRoute, and may change anything there: its proxy configuration is not read." in of_policy


class TestTraffic:
    """A filter that answers requests itself, or is missing, keeps them from the backends of its rule."""

    OPEN: Final = resource("HTTPRouteFilter", "closed", {"urlRewrite": {"hostname": {"type": "Backend"}}}, group=ENVOY)
    MATCHES: Final[list[Json]] = [{"path": {"type": "PathPrefix", "value": "/a"}}]
    THERE: Final = route(
        rules=[rule(backend(), name="a", matches=MATCHES, filters=[filtered("closed")]), rule(backend("t"), name="b")]
    )

    def lost(self, before: Analysis, *applied: Resource, deleted: Sequence[ObjectRef] = ()) -> list[Any]:
        """The rules of which requests fail afterwards, why, and with which status."""
        traffic = diff(what_if(before, applied=applied, deleted=deleted)).traffic
        found = [(each.rule.section, each.message, each.status) for one in traffic.lost.some for each in one.failing]
        assert traffic.lost.all == ()
        return found

    def test_one_that_answers_with_an_error(self) -> None:
        before = asked(self.OPEN, self.THERE)
        assert self.lost(before, CLOSED) == [("a", "HTTPRouteFilter default/closed answers them", 503)]
        gained = diff(what_if(asked(CLOSED, self.THERE), applied=[self.OPEN])).traffic.gained
        assert [each.route for each in gained.some] == [ROUTE.object]
        text = " ".join(shown(diff(what_if(before, applied=[CLOSED])), "tree").split())
        assert "rule a: all of its requests get 503: HTTPRouteFilter default/closed answers them" in text

    def test_one_that_answers_with_anything_else(self) -> None:
        page = resource("HTTPRouteFilter", "closed", {"directResponse": {"statusCode": 200}}, group=ENVOY)
        before = asked(self.OPEN, self.THERE)
        assert self.lost(before, page) == []
        assert [change.policy_kind.kind for change in diff(what_if(before, applied=[page])).effects] == [
            "HTTPRouteFilter"
        ]

    def test_one_that_is_deleted(self) -> None:
        message = "HTTPRouteFilter default/closed does not exist"
        assert self.lost(asked(self.OPEN, self.THERE), deleted=[self.OPEN.ref]) == [("a", message, 0)]

    def test_one_of_a_backend(self) -> None:
        there = route(rules=[rule(backend(filters=[filtered("closed")]))])
        assert self.lost(asked(self.OPEN, there), CLOSED) == []

    def test_a_backend_with_a_filter_that_is_deleted(self) -> None:
        there = route(rules=[rule(backend(filters=[filtered("closed")]))])
        assert diff(what_if(asked(self.OPEN, there), deleted=[service("s").ref])).attachments == ()

    def test_one_of_a_backend_where_nothing_of_it_counts(self) -> None:
        there = route(rules=[rule(backend(filters=[filtered("closed")]))])
        text = shown(blast_radius(asked(CLOSED, there), CLOSED.ref), "tree")
        assert "No effect\n  nothing that it sets counts on Service default/s, port 8080" in text
        assert "others set" not in text

    def test_one_of_another_controller(self) -> None:
        elsewhere = gateway_class("public", "example.com/gateway")
        assert self.lost(asked(self.OPEN, self.THERE, elsewhere), CLOSED) == []

    def test_a_policy_that_a_filter_names(self) -> None:
        kind, group = "TrafficPolicy", "gateway.kgateway.dev"
        limits = resource(kind, "limits", {"timeouts": {"request": "1s"}}, group=group)
        rules = [rule(backend(), name="a", filters=[filtered("limits", kind, group)]), rule(backend("t"), name="b")]
        before = asked(gateway_class("public", "kgateway.dev/kgateway"), limits, route(rules=rules))
        lost = self.lost(before, deleted=[limits.ref])
        assert lost == [("a", "TrafficPolicy default/limits does not exist", 0)]

    def test_the_backends_behind_one_that_lets_requests_through(self) -> None:
        before = asked(self.OPEN, self.THERE)
        assert [section for section, _, _ in self.lost(before, deleted=[service("s").ref])] == ["a"]


class TestLists:
    RESPONSE: Final = resource("DirectResponse", "d", {"status": 503}, group="gateway.kgateway.dev")
    WORLD: Final = asked(
        CLOSED,
        RESPONSE,
        parameters("own"),
        gateway(infrastructure={"parametersRef": refers("own")}),
        route(rules=[rule(backend(), filters=[filtered("closed")])]),
    )

    @pytest.mark.parametrize(
        ("word", "expected"),
        [
            ("policies", []),
            ("filters", ["closed", "d"]),
            ("filter", ["closed", "d"]),
            ("parameters", ["own"]),
            ("httproutefilters", ["closed"]),
            ("ep.gateway.envoyproxy.io", ["own"]),
        ],
    )
    def test_by_type(self, word: str, expected: list[str]) -> None:
        assert [row.ref.name for row in list_type(self.WORLD, word, Selection()).rows] == expected

    def test_kinds(self) -> None:
        assert list_type(self.WORLD, "policykinds", Selection()).rows == ()
        kinds = ("httproutefilter", "envoyproxy", "gatewayparameters.gateway.kgateway.dev")
        words = [explanation_headline(explain(self.WORLD, kind)).partition(" is a kind of ")[2] for kind in kinds]
        both = (
            "parameters, referenced by Gateways and GatewayClasses: parameters apply to the whole Gateway; if the class"
            " and the Gateway both name parameters, "
        )
        filters = (
            "filters, referenced by routes: a filter changes the requests of the rule that names it; if a rule names"
            " two filters, both filters apply; neither overrides the other."
        )
        assert words == [
            filters,
            f"{both}their settings choose which object wins.",
            f"{both}field by field, the nearer object wins.",
        ]

    def test_objects(self) -> None:
        (row,) = list_type(self.WORLD, "httproutes", Selection()).rows
        assert isinstance(row, RouteRow)
        assert row.listed.policies == ()

    def test_status(self) -> None:
        assert [str(each.resource.ref) for each in status(self.WORLD, "", Selection()).items] == [
            "DirectResponse default/d"
        ]
        assert [each.policy for each in status(self.WORLD, "filters", Selection()).items] == [False, False]

    @pytest.mark.parametrize(
        ("name", "kind", "hint"),
        [("closed", "HTTPRouteFilter", "change the routes instead"), ("own", "EnvoyProxy", "change these instead")],
    )
    def test_they_cannot_be_given_another_target(self, name: str, kind: str, hint: str) -> None:
        with pytest.raises(UsageError) as refused:
            retargeted(self.WORLD, ref(kind, name, group=ENVOY), ROUTE.object, "")
        assert refused.value.hint == hint
