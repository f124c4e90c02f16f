"""Routes and their parents: what is attached, or may be, is not found; what is not is found by one rule alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import analyze
from kubectl_policy.lint.finding import Finding, Fix, Related
from kubectl_policy.lint.lint_world import LintWorld
from kubectl_policy.lint.rules import rules_of
from kubectl_policy.lint.rules.backends import backend_not_found
from kubectl_policy.lint.rules.listeners import gatewayclass_missing, listener_kind_impossible, listenerset_not_allowed
from kubectl_policy.lint.rules.routes import parents
from kubectl_policy.lint.rules.routes.parents import (
    attached_nowhere,
    default_gateway_implicit,
    mesh_consumer_route,
    not_allowed_kind,
    not_allowed_namespace,
    parent_not_found,
    parent_port_no_listener,
    parent_section_not_found,
    parentrefs_not_distinct,
    route_cycle,
    tlsroute_wrong_listener,
)
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model.kind_roles import GATEWAY_API_EXPERIMENTAL
from kubectl_policy.model.snapshot import AssumedObjects
from tests import build, delegation
from tests.lint.rule_worlds import CLASS, ROUTE, checked, said, verdicts

if TYPE_CHECKING:
    from collections.abc import Collection

    from kubectl_policy.model import Json, ObjectRef, Resource, Snapshot

RULES: Final = (*rules_of(parents), gatewayclass_missing, listener_kind_impossible, listenerset_not_allowed)
DELEGATING: Final = (build.gateway(), build.gateway_class(controller=delegation.CONTROLLER))
SITE: Final = delegation.http_route("site", delegation.passing("/", delegation.to("menu")), parents=[build.parent()])
R: Final = build.ref("HTTPRoute", "r")
G: Final = build.ref("Gateway", "g")
FROM_ALL: Final = {"allowedRoutes": build.allow()}


def check(*resources: Resource, complete: bool = True) -> list[str]:
    """The ids of the rules that find something for certain, each as often as it does; not what is only said."""
    return [
        rule.id
        for rule in RULES
        for finding in checked(rule, *resources, complete=complete)
        if finding.certain and (finding.severity or rule.severity) != "info"
    ]


def in_gateways_namespace(*references: Json, kind: str = "HTTPRoute", **fields: Json) -> Resource:
    """A route beside its Gateway, with any parentRefs."""
    return build.resource(kind, "r", {"parentRefs": list(references), **fields})


class TestWhatIsAttached:
    @pytest.mark.parametrize("complete", [True, False], ids=["closed", "open"])
    @pytest.mark.parametrize(
        "reference",
        [
            build.parent(),
            build.parent(section="http"),
            build.parent(port=80),
            build.parent(section="http", port=80),
            build.service_parent(),
            build.service_parent(port=8080),
        ],
        ids=["whole", "section", "port", "both", "mesh", "port of a Service"],
    )
    def test_as_it_is_named(self, reference: Json, *, complete: bool) -> None:
        world = (CLASS, build.gateway(), build.service(), in_gateways_namespace(reference))
        assert check(*world, complete=complete) == []

    def test_by_one_of_several_listeners(self) -> None:
        others = build.listener("tcp", "TCP", 5432), build.listener("elsewhere", port=81, hostname="other.example")
        gateway = build.gateway("g", *others, build.listener())
        assert check(CLASS, gateway, build.route("r", hostnames=["shop.example"])) == []

    def test_by_a_listener_set(self) -> None:
        gateway = build.gateway(allowedListeners={"namespaces": {"from": "Same"}})
        standard = build.listener_set("ls", build.listener("extra", port=81))
        named = build.parent("ls", kind="ListenerSet")
        assert check(CLASS, gateway, standard, in_gateways_namespace(named)) == []
        group = GATEWAY_API_EXPERIMENTAL
        experimental = build.listener_set("ls", build.listener("extra", port=81), group=group)
        named = build.parent("ls", kind="XListenerSet", group=group)
        assert check(CLASS, gateway, experimental, in_gateways_namespace(named)) == []

    def test_by_another_route(self) -> None:
        """One that is delegated to needs no parent of its own."""
        below = delegation.http_route("menu", delegation.passing("/menu", build.backend("menu")))
        assert check(SITE, below, *DELEGATING, build.service("menu")) == []

    def test_by_default_gateways(self) -> None:
        assert check(build.resource("HTTPRoute", "r", {"useDefaultGateways": "All"})) == []

    def test_where_the_listener_is_refused_itself(self) -> None:
        twice = [build.listener("one"), build.listener("two")]
        assert check(CLASS, build.gateway("g", *twice), ROUTE) == []

    def test_where_somebody_says_that_the_gateway_is_there(self) -> None:
        read = build.snapshot(build.route("r", parents=[build.parent(section="x")]), complete=True)
        world = linted(replace(read, assumed=(AssumedObjects("gateway"),)))
        assert [finding for rule in RULES for finding in rule.check(world)] == []

    @pytest.mark.parametrize(
        "reference",
        [
            build.parent("${GATEWAY}"),
            build.parent(namespace="${NAMESPACE}"),
            build.parent(section="${LISTENER}"),
            build.parent(port="${PORT}"),
        ],
        ids=["name", "namespace", "section", "port"],
    )
    def test_what_is_to_be_filled_in(self, reference: Json) -> None:
        assert check(CLASS, build.gateway(), in_gateways_namespace(reference)) == []


def linted(snapshot: Snapshot, *only: ObjectRef) -> LintWorld:
    """A world of which some objects are linted, or all."""
    wanted: Collection[ObjectRef] = {*only}
    return LintWorld(analyze(snapshot), LintSettings(), lambda resource: not wanted or resource.ref in wanted)


class TestWhatIsInDoubt:
    def test_a_parent_that_was_not_read(self) -> None:
        doubts = checked(parent_not_found, ROUTE, complete=False)
        assert said(doubts) == [("spec.parentRefs[0].name", "? Gateway default/g is not in the input")]

    def test_a_listener_by_a_name_to_be_filled_in(self) -> None:
        doubts = checked(parent_section_not_found, build.gateway(), in_gateways_namespace(build.parent(section="${L}")))
        assert verdicts(doubts) == [False]

    def test_a_namespace_whose_labels_are_not_known(self) -> None:
        listener = build.listener(allowedRoutes=build.allow("Selector", {"matchLabels": {"team": "shop"}}))
        world = (
            build.gateway("g", listener, namespace="infra"),
            build.route("r", parents=[build.parent(namespace="infra")]),
        )
        message = (
            "whether listener http of Gateway infra/g selects it is unknown: Namespace default is not in the input"
        )
        assert said(checked(not_allowed_namespace, *world)) == [("spec.parentRefs[0]", f"? {message}")]
        assert check(CLASS, *world) == []

    def test_a_protocol_of_an_implementations_own(self) -> None:
        world = (build.gateway("g", build.listener("mesh", "HBONE", 15008)), ROUTE)
        assert verdicts(checked(not_allowed_kind, *world)) == [False]
        assert check(CLASS, *world) == []

    def test_whether_any_route_delegates(self) -> None:
        """One that was not read may; what is no HTTPRoute is delegated to by none."""
        lonely = [in_gateways_namespace(kind=kind) for kind in ("HTTPRoute", "TCPRoute")]
        assert verdicts(checked(attached_nowhere, *lonely, complete=False)) == [False, True]

    def test_routes_as_backends_where_nothing_is_known_of_the_controller(self) -> None:
        every = build.backend("*", None, kind="HTTPRoute", group="gateway.networking.k8s.io")
        above = build.route("site", rules=[build.rule(every)])
        world = (CLASS, build.gateway(), above, build.resource("HTTPRoute", "menu", {}))
        assert verdicts(checked(attached_nowhere, *world)) == [False]

    def test_a_listener_set_whose_namespace_is_not_known(self) -> None:
        selector: Json = {"from": "Selector", "selector": {"matchLabels": {"team": "shop"}}}
        world = (build.gateway(allowedListeners={"namespaces": selector}), build.listener_set())
        message = "whether Gateway default/g takes ListenerSets of namespace default is unknown"
        assert said(checked(listenerset_not_allowed, *world)) == [("spec.parentRef", f"? {message}")]


class TestParents:
    def test_one_that_does_not_exist(self) -> None:
        parents = [build.parent("publik")]
        assert checked(parent_not_found, build.gateway("public"), build.route("r", parents=parents)) == [
            Finding(
                subject=R,
                field="spec.parentRefs[0].name",
                message="Gateway default/publik does not exist",
                reason="NoMatchingParent",
                fix=Fix(words="did you mean public?", value="public"),
            )
        ]

    def test_a_route_that_does_not_exist(self) -> None:
        assert check(delegation.http_route("menu", parents=[delegation.below("site")])) == ["GWP4001"]

    def test_the_gateway_of_a_listener_set(self) -> None:
        route = in_gateways_namespace(build.parent("ls", kind="ListenerSet"))
        findings = checked(parent_not_found, build.listener_set("ls"), route)
        assert said(findings) == [("spec.parentRef.name", "Gateway default/g does not exist")]
        assert check(build.listener_set("ls"), route) == ["GWP4001"]

    def test_a_listener_set_without_a_gateway(self) -> None:
        lost = build.resource("ListenerSet", "ls", {"parentRef": {"kind": "Service", "group": "", "name": "s"}})
        message = "it names no Gateway as its parent, so its listeners serve nothing"
        assert said(checked(parent_not_found, lost)) == [("spec.parentRef", message)]

    def test_a_listener_that_does_not_exist(self) -> None:
        gateway = build.gateway("g", build.listener(), build.listener("https", "HTTPS", 443))
        assert checked(parent_section_not_found, gateway, in_gateways_namespace(build.parent(section="htps"))) == [
            Finding(
                subject=R,
                field="spec.parentRefs[0].sectionName",
                message="Gateway default/g has no listener htps; it has listeners http (80), https (443)",
                reason="NoMatchingParent",
                related=(Related(object=G, origin=build.ORIGIN),),
                fix=Fix(words="did you mean https?", value="https"),
            )
        ]

    def test_the_listener_of_a_listener_set(self) -> None:
        world = (
            build.gateway(allowedListeners={"namespaces": {"from": "Same"}}),
            build.listener_set("a", build.listener("other", port=82)),
            build.listener_set("ls", build.listener("shop", port=81)),
            in_gateways_namespace(build.parent(section="shop")),
        )
        [finding] = checked(parent_section_not_found, *world)
        assert finding.fix == Fix(words="ListenerSet default/ls has that listener: name it as the parent")

    def test_a_gateway_without_listeners(self) -> None:
        gateway = build.resource("Gateway", "g", {"gatewayClassName": "public"})
        message = "Gateway default/g has no listener; it has none"
        assert said(checked(parent_section_not_found, gateway, ROUTE)) == [("spec.parentRefs[0]", message)]

    @pytest.mark.parametrize(
        ("reference", "message"),
        [
            (build.parent(port=81), "Gateway default/g has no listener port 81; it has listener http (80)"),
            (
                build.parent(section="http", port=81),
                "Gateway default/g has no listener http with port 81; it has listener http (80)",
            ),
            (build.service_parent(port=81), "Service default/s has no port 81; it has port 8080"),
        ],
        ids=["alone", "beside a section", "of a Service"],
    )
    def test_a_port_that_does_not_exist(self, reference: Json, message: str) -> None:
        world = (CLASS, build.gateway(), build.service(), in_gateways_namespace(reference))
        assert said(checked(parent_port_no_listener, *world)) == [("spec.parentRefs[0].port", message)]
        assert check(*world) == ["GWP4003"]

    def test_the_same_parent_twice(self) -> None:
        https = build.parent(section="https")
        references = [
            build.parent(section="http"),
            https,
            https,
            build.parent(),
            build.parent(section="https", port=443),
        ]
        assert said(checked(parentrefs_not_distinct, build.route("r", parents=references))) == [
            ("spec.parentRefs[2]", "it is the same reference to Gateway default/g as spec.parentRefs[1]"),
            (
                "spec.parentRefs[3]",
                "it names Gateway default/g as spec.parentRefs[0] does, and only one of them has a sectionName",
            ),
            (
                "spec.parentRefs[4]",
                "it names Gateway default/g as spec.parentRefs[0] does, and only one of them has a port",
            ),
        ]

    def test_different_sections_or_parents(self) -> None:
        references = [
            build.parent(section="http"),
            build.parent(section="https"),
            build.parent("other", section="http"),
            build.service_parent("g", port=1),
            build.service_parent("g", port=2),
        ]
        assert checked(parentrefs_not_distinct, build.route("r", parents=references)) == []

    def test_a_service_of_another_namespace(self) -> None:
        consumer = in_gateways_namespace(build.service_parent(namespace="shop"))
        message = "it is for requests from namespace default to Service shop/s only, not for those of other clients"
        world = (build.service(namespace="shop"), consumer)
        assert said(checked(mesh_consumer_route, *world)) == [("spec.parentRefs[0]", message)]

    @pytest.mark.parametrize("namespace", ["default", "${NAMESPACE}", "nowhere"])
    def test_a_service_that_is_not_in_another_namespace(self, namespace: str) -> None:
        consumer = in_gateways_namespace(build.service_parent(namespace=namespace))
        assert checked(mesh_consumer_route, build.service(), consumer) == []


class TestListeners:
    def test_from_another_namespace(self) -> None:
        """Whoever owns the Gateway can let it in."""
        route = build.route("r", parents=[build.parent(namespace="infra")])
        assert checked(not_allowed_namespace, build.gateway(namespace="infra"), route) == [
            Finding(
                subject=R,
                field="spec.parentRefs[0]",
                message=(
                    "listener http of Gateway infra/g accepts routes only from its own namespace infra, "
                    "not from default"
                ),
                reason="NotAllowedByListeners",
                related=(
                    Related(
                        object=build.ref("Gateway", "g", "infra"),
                        words="listener http",
                        field="spec.listeners[0].allowedRoutes.namespaces",
                        origin=build.ORIGIN,
                    ),
                ),
                fix=Fix(
                    words="let namespace default in, by allowedRoutes.namespaces of listener http of Gateway infra/g"
                ),
            )
        ]

    def test_of_several_the_nearest_miss_is_told(self) -> None:
        listeners = [
            build.listener("tcp", "TCP", 5432),
            *(build.listener(name, port=port) for name, port in (("a", 80), ("b", 81))),
        ]
        gateway = build.gateway("g", *listeners, namespace="infra")
        world = (CLASS, gateway, build.route("r", parents=[build.parent(namespace="infra")]))
        [finding] = checked(not_allowed_namespace, *world)
        assert finding.message.startswith("listener a of Gateway infra/g accepts routes only")
        assert finding.message.endswith("; so it is at listener b")
        assert check(*world) == ["GWP4004"]

    def test_of_another_kind(self) -> None:
        """A TLSRoute is told of by a rule of its own."""
        https = build.gateway("g", build.listener("https", "HTTPS", 443))
        udp, tls = (in_gateways_namespace(build.parent(), kind=kind) for kind in ("UDPRoute", "TLSRoute"))
        message = "listener https of Gateway default/g accepts only HTTPRoute, GRPCRoute, not {}"
        field = "spec.parentRefs[0]"
        assert said(checked(not_allowed_kind, https, udp, tls)) == [(field, message.format("UDPRoute"))]
        assert said(checked(tlsroute_wrong_listener, https, udp, tls)) == [(field, message.format("TLSRoute"))]

    def test_a_kind_that_no_such_listener_can_serve(self) -> None:
        wrong = build.gateway("g", build.listener(allowedRoutes=build.allow(kinds=["TLSRoute"])))
        message = "protocol HTTP cannot serve TLSRoute; it serves HTTPRoute, GRPCRoute"
        field = "spec.listeners[0].allowedRoutes.kinds[0]"
        assert said(checked(listener_kind_impossible, wrong)) == [(field, message)]
        assert check(CLASS, wrong, ROUTE) == ["GWP4019"]
        mixed = build.gateway("g", build.listener(allowedRoutes=build.allow(kinds=["TLSRoute", "GRPCRoute"])))
        assert check(CLASS, mixed, ROUTE) == ["GWP4005", "GWP4019"]

    @pytest.mark.parametrize(
        "listener",
        [
            build.listener(allowedRoutes=build.allow(kinds=["HTTPRoute", ("example.com", "OurRoute")])),
            build.listener("own", "HBONE", allowedRoutes=build.allow(kinds=["TLSRoute"])),
            build.listener("any", "${PROTOCOL}", allowedRoutes=build.allow(kinds=["TLSRoute"])),
            build.listener(allowedRoutes=build.allow(kinds=["${KIND}"])),
        ],
        ids=["another group", "another protocol", "a protocol to be filled in", "a kind to be filled in"],
    )
    def test_what_may_be_served(self, listener: Json) -> None:
        assert checked(listener_kind_impossible, build.resource("Gateway", "g", {"listeners": [listener]})) == []

    def test_a_kind_that_the_implementation_lacks(self) -> None:
        features: Json = {"supportedFeatures": [{"name": "TLSRoute"}]}
        listener = build.listener(
            "tls", "TLS", 443, tls={"mode": "Terminate"}, allowedRoutes=build.allow(kinds=["TLSRoute"])
        )
        world = (build.gateway_class(status=features), build.gateway("g", listener))
        [finding] = checked(listener_kind_impossible, *world)
        assert finding.message == "protocol TLS cannot serve TLSRoute, nor any other kind here"


class TestListenerSets:
    def test_it_does_not(self) -> None:
        """Without saying that it does; routes that name the ListenerSet are not told of besides."""
        listener_set = build.listener_set("ls", namespace="shop", parent_namespace="default")
        assert checked(listenerset_not_allowed, build.gateway(), listener_set) == [
            Finding(
                subject=listener_set.ref,
                field="spec.parentRef",
                message=("Gateway default/g does not allow it (spec.allowedListeners), so its listeners serve nothing"),
                reason="NotAllowed",
                related=(Related(object=G, words="the parent", field="spec.allowedListeners", origin=build.ORIGIN),),
                fix=Fix(words="let namespace shop in, by spec.allowedListeners of Gateway default/g"),
            )
        ]
        route = build.route("r", parents=[build.parent("ls", kind="ListenerSet")], namespace="shop")
        assert check(CLASS, build.gateway(), listener_set, route) == ["GWP4009"]

    def test_where_the_listener_set_is_not_linted(self) -> None:
        listener_set = build.listener_set("ls")
        route = in_gateways_namespace(build.parent("ls", kind="ListenerSet"))
        world = linted(build.snapshot(build.gateway(), listener_set, route, complete=True), R)
        message = (
            "Gateway default/g does not allow ListenerSet default/ls to attach (spec.allowedListeners); "
            "no request reaches it"
        )
        assert said(attached_nowhere.check(world)) == [("spec.parentRefs[0]", message)]

    def test_a_gateway_that_is_not_there(self) -> None:
        assert checked(listenerset_not_allowed, build.listener_set()) == []


class TestGateways:
    def test_a_class_that_does_not_exist(self) -> None:
        [finding] = checked(gatewayclass_missing, CLASS, build.gateway(class_name="publik"))
        assert (finding.field, finding.message) == ("spec.gatewayClassName", "GatewayClass publik does not exist")
        assert finding.fix == Fix(words="did you mean public?", value="public")

    def test_a_gateway_without_a_class(self) -> None:
        assert checked(gatewayclass_missing, build.resource("Gateway", "g", {})) == []

    @pytest.mark.parametrize("scope", ["None", "${SCOPE}", 7, None])
    def test_a_route_that_names_its_gateways(self, scope: Json) -> None:
        """It does not use the default ones, as far as is known."""
        assert checked(default_gateway_implicit, build.resource("HTTPRoute", "r", {"useDefaultGateways": scope})) == []

    def test_a_route_that_does_not(self) -> None:
        route = build.resource("HTTPRoute", "r", {"useDefaultGateways": "All"})
        field = "spec.useDefaultGateways"
        message = "it attaches to every Gateway with the default scope All, {}"
        assert said(checked(default_gateway_implicit, route)) == [
            (field, message.format("of which there is none in the input"))
        ]
        default = build.gateway(defaultScope="All")
        assert said(checked(default_gateway_implicit, route, default, build.gateway("other"))) == [
            (field, message.format("now Gateway default/g"))
        ]


class TestUnreached:
    @pytest.mark.parametrize("kind", ["HTTPRoute", "GRPCRoute"])
    @pytest.mark.parametrize("references", [[], [None], [{}], ["g"]], ids=repr)
    def test_without_a_parent(self, kind: str, references: list[Json]) -> None:
        nor = ", and no route delegates to it" if kind == "HTTPRoute" else ""
        world = (CLASS, build.gateway(), build.resource(kind, "r", {"parentRefs": references}))
        findings = checked(attached_nowhere, *world)
        assert said(findings) == [("spec.parentRefs", f"it names no parent{nor}: no request reaches it")]

    def test_one_whose_hostnames_only_the_route_above_may_have(self) -> None:
        world = (
            SITE,
            delegation.http_route("menu", delegation.passing("/menu"), hostnames=["menu.example"]),
            *DELEGATING,
        )
        assert checked(attached_nowhere, *world) == []
        menu = build.ref("HTTPRoute", "menu")
        [finding] = attached_nowhere.check(linted(build.snapshot(*world, complete=True), menu))
        assert (finding.subject, finding.reason) == (menu, "UnsupportedValue")
        why = "it has hostnames, which only the route above may have"
        assert finding.message.endswith(f"{why}; no request reaches it")
        [above] = checked(backend_not_found, *world)
        assert above.message == "HTTPRoute default/menu takes none of its requests"
        assert [related.words.endswith(why) for related in above.related] == [True]

    def test_below_one_that_no_request_reaches(self) -> None:
        world = (
            delegation.http_route("site", delegation.passing("/", delegation.to("menu"))),
            delegation.http_route("menu", delegation.passing("/menu")),
            delegation.http_route("drinks", delegation.passing("/menu"), parents=[delegation.below("menu")]),
            *DELEGATING,
        )
        assert [finding.subject for finding in checked(attached_nowhere, *world)] == [build.ref("HTTPRoute", "site")]

    def test_by_a_parent_that_does_not_delegate(self) -> None:
        world = (
            SITE,
            delegation.http_route("menu", delegation.passing("/menu")),
            delegation.http_route("drinks", delegation.passing("/drinks"), parents=[delegation.below("site")]),
            *DELEGATING,
        )
        message = "no rule of HTTPRoute default/site delegates to it; no request reaches it"
        assert said(checked(attached_nowhere, *world)) == [("spec.parentRefs[0]", message)]

    def test_one_of_several_that_a_rule_stands_for(self) -> None:
        """The others are delegated to, so that it is told of the one that is not."""
        world = (
            delegation.http_route("site", delegation.passing("/a", delegation.to("*")), parents=[build.parent()]),
            delegation.http_route("menu", delegation.passing("/a", build.backend())),
            delegation.http_route("drinks", delegation.passing("/b", build.backend())),
            *DELEGATING,
        )
        [finding] = checked(attached_nowhere, *world)
        message = "none of its matches lies inside those of rule[0] of HTTPRoute default/site; no request reaches it"
        assert (finding.subject, finding.message) == (build.ref("HTTPRoute", "drinks"), message)

    def test_in_a_circle(self) -> None:
        """The reference that closes it is where it is told."""
        world = (
            SITE,
            delegation.http_route("menu", delegation.passing("/", delegation.to("drinks"))),
            delegation.http_route("drinks", delegation.passing("/", delegation.to("menu"))),
            *DELEGATING,
        )
        drinks, menu = (build.ref("HTTPRoute", name) for name in ("drinks", "menu"))
        assert checked(route_cycle, *world) == [
            Finding(
                subject=drinks,
                field="spec.rules[0].backendRefs[0]",
                message=f"a request would loop: {drinks} → {menu} → {drinks}",
                related=(Related(object=menu, words="on the circle", origin=build.ORIGIN),),
            )
        ]
        assert check(*world) == ["GWP4018"]
        only_menu = linted(build.snapshot(*world, complete=True), menu)
        assert [(each.subject, each.field) for each in route_cycle.check(only_menu)] == [(menu, "")]

    def test_in_a_circle_that_no_request_enters(self) -> None:
        world = (
            delegation.http_route("menu", delegation.passing("/", delegation.to("drinks"))),
            delegation.http_route("drinks", delegation.passing("/", delegation.to("menu"))),
            *DELEGATING,
        )
        assert check(*world) == ["GWP4018"]
