"""Small worlds in which a policy has no effect on something, each for another cause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from kubectl_policy import analyze
from kubectl_policy.analysis import Analysis
from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Resource
from kubectl_policy.model.kind_roles import GATEWAY, GATEWAY_API, GATEWAY_CLASS, HTTP_ROUTE, NAMESPACE, SERVICE
from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile
from kubectl_policy.profiles.merging import TargetLevel
from kubectl_policy.profiles.needs import RequiredObject, RequiredParameter
from tests import build
from tests.render.worlds import DIRECT, INHERITED, defaults, overrides

KIND: Final = GroupKind("example.com", "ColorPolicy")
POLICY: Final = build.ref("ColorPolicy", "p", group="example.com")
ROUTE: Final = build.node("HTTPRoute", "r")
MODES: Final = {"Merge": MergeStrategy.PATCH_DEFAULTS, "Replace": MergeStrategy.ATOMIC_DEFAULTS}
EXPRESSIONS: Final[Json] = [
    {"key": "tier", "operator": "In", "values": ["front", "back"]},
    {"key": "owned", "operator": "Exists"},
    {"key": "not", "operator": "DoesNotExist"},
    {"key": "never", "operator": "NotIn", "values": ["so"]},
]
TWO_LISTENERS: Final = build.gateway("g", build.listener(), build.listener("other", port=81))
ON_ROUTE: Final = build.ON_ROUTE
ON_GATEWAY: Final = build.ON_GATEWAY
PARENT_SET: Final = build.parent("ls", kind="ListenerSet")


class Cause(NamedTuple):
    """A world, a node that its policy `p` has no effect on, the first reason and, if there is one, what is edited."""

    name: str
    analysis: Analysis
    rule: str
    target: NodeRef = ROUTE
    action: str = "change"
    edited: ObjectRef | None = POLICY
    policy: ObjectRef = POLICY


def profiled(**fields: Any) -> PolicyKindProfile:  # noqa: ANN401 (the fields of a profile are of many types)
    """What is known of ColorPolicy, as a user's profile says it."""
    return PolicyKindProfile(KIND, fields.pop("policy_class", "inherited"), "profile", **fields)


def around(*resources: Resource, profile: PolicyKindProfile | None = None, schema: Any = None) -> Analysis:  # noqa: ANN401 (a schema)
    """A world of these objects, a GatewayClass, a Namespace and Service `s`, with every other object known."""
    base = (
        build.gateway_class(),
        build.namespace("default"),
        build.service(),
        build.crd("ColorPolicy", labels=INHERITED, schema=schema),
        build.crd("LimitPolicy", labels=DIRECT),
    )
    snapshot = build.snapshot(*base, *resources, complete=True)
    return analyze(snapshot, profiles=[profile] if profile else [])


def usual(*resources: Resource, **more: Any) -> Analysis:  # noqa: ANN401 (as of `around`)
    """The same with Gateway `g` and HTTPRoute `r` between class and Service."""
    return around(build.gateway(), build.route(), *resources, **more)


def object_schema(**fields: Mapping[str, Any]) -> dict[str, Any]:
    """A definition's schema whose spec has these fields and no others."""
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": dict(fields)}}}


LIST: Final = {"type": "array", "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}


def anything() -> dict[str, Any]:
    return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def selector(**labels: str) -> dict[str, Any]:
    """An entry of `targetSelectors` for HTTPRoutes."""
    return {"group": GATEWAY_API, "kind": "HTTPRoute", "matchLabels": labels}


def of_references() -> Iterator[Cause]:
    gateway_alone = profiled(declared_targets=frozenset({GATEWAY}))
    by_label = object_schema(targetSelectors={"type": "array", "items": anything()}, color={"type": "string"})
    other = build.route("q")
    world = usual(other, defaults("p", build.target("q", "HTTPRoute"), a=1))
    yield Cause("another target", world, "other-target")
    world = usual(other, build.policy("p", targetRef=build.target("q", "HTTPRoute"), color="red"))
    yield Cause("a single reference to another target", world, "other-target")
    yield Cause("a typing error", usual(defaults("p", build.target("rr", "HTTPRoute"), a=1)), "target-missing")
    world = around(TWO_LISTENERS, build.policy("p", targetRef={**ON_GATEWAY, "sectionNames": ["other"]}, color="red"))
    yield Cause("one of several sections", world, "other-section", target=build.node("Gateway", "g", "http"))
    world = around(
        build.gateway(),
        build.gateway("h"),
        build.policy("p", targetRef={**build.target("h"), "sectionNames": ["http"]}, color="red"),
    )
    yield Cause("sections of another object", world, "other-target", target=build.node("Gateway", "g", "http"))
    yield Cause("no reference", usual(build.policy("p", color="red")), "no-reference")
    world = usual(defaults("p", build.target("g", section="htps"), a=1))
    yield Cause("a section that is not there", world, "section-missing", target=build.node("Gateway", "g"))
    world = around(
        TWO_LISTENERS,
        build.route(parents=[build.parent(section="http")]),
        defaults("p", build.target("g", section="other"), a=1),
    )
    yield Cause("another section", world, "other-section", target=build.node("Gateway", "g", "http"))
    world = usual(build.policy("p", targetSelectors=[selector(team="a")], color="red"), schema=by_label)
    yield Cause("labels that are not selected", world, "not-selected", edited=ROUTE.object)
    world = usual(
        build.route("q", labels={"team": "a"}),
        build.policy("p", targetSelectors=[selector(team="a")], color="red"),
        schema=by_label,
    )
    yield Cause("labels of others", world, "not-selected", edited=ROUTE.object)
    world = usual(
        build.route("q", labels={"not": "this", "color": "red"}),
        build.policy("p", targetSelectors=[{**selector(color="red"), "matchExpressions": EXPRESSIONS}], color="red"),
        schema=by_label,
    )
    yield Cause(
        "labels that expressions ask for",
        world,
        "not-selected",
        target=build.node("HTTPRoute", "q"),
        edited=build.ref("HTTPRoute", "q"),
    )
    world = usual(
        build.policy(
            "p",
            targetSelectors=[{**selector(team="a"), "matchExpressions": [{"key": "a", "operator": "Odd"}]}],
            color="red",
        ),
        schema=by_label,
    )
    yield Cause("a selector that nothing can match", world, "not-selected", edited=None)
    world = usual(build.policy("p", targetSelectors=[selector(team="a", tier="b")], color="red"))
    yield Cause("labels where a name would do", world, "not-selected")
    world = usual(defaults("p", ON_ROUTE, a=1), profile=gateway_alone)
    yield Cause("a kind that cannot be named", world, "kind-unsupported")
    world = usual(defaults("p", build.target("r", "HTTPRoute", group="networking.k8s.io"), a=1))
    yield Cause("a wrong group", world, "other-group")
    world = usual(defaults("p", build.target("r", "HTTPRoute", group=f"{GATEWAY_API}/v1"), a=1))
    yield Cause("a group with a version", world, "group-version")
    world = usual(defaults("p", ON_ROUTE, a=1))
    yield Cause("a target below", world, "target-below", target=build.node("Gateway", "g"))


def across_namespaces() -> Iterator[Cause]:
    far = build.policy("p", build.target("r", "HTTPRoute", namespace="default"), namespace="far", color="red")
    far_policy = build.ref("ColorPolicy", "p", "far", "example.com")
    unnamed = build.policy("p", ON_ROUTE, namespace="far", color="red")
    secret = RequiredObject(field="spec.key", group="", kinds=("Secret",))
    key = build.resource("Secret", "key", group="", namespace="far")
    needy = build.policy("p", ON_ROUTE, key=[{"name": "own"}, {"name": "key", "namespace": "far"}], color="red")
    keyless = build.policy("p", ON_ROUTE, key={"name": "key"}, color="red")
    world = usual(far)
    yield Cause(
        "a target in another namespace",
        world,
        "not-permitted",
        action="create",
        edited=build.ref("ReferenceGrant", "r-for-far"),
        policy=far_policy,
    )
    world = usual(
        build.policy("p", targetSelectors=[{**selector(), "namespaces": {"from": "All"}}], namespace="far", a=1),
        profile=profiled(cross_namespace=False),
    )
    yield Cause(
        "a target in another namespace that labels select",
        world,
        "not-permitted",
        action="create",
        edited=build.ref("ReferenceGrant", "r-for-far"),
        policy=far_policy,
    )
    world = usual(far, profile=profiled(cross_namespace=False))
    yield Cause(
        "a target in a namespace that cannot be named", world, "namespace-closed", edited=None, policy=far_policy
    )
    world = usual(unnamed, profile=profiled(grant_required=False))
    yield Cause(
        "a target that is meant in another namespace", world, "other-namespace", edited=far_policy, policy=far_policy
    )
    world = usual(
        build.resource("Secret", "own", group=""),
        key,
        needy,
        build.grant("key-for-default", namespace="far"),
        profile=profiled(needs=(secret,)),
    )
    yield Cause(
        "a need in another namespace",
        world,
        "need-not-permitted",
        action="create",
        edited=build.ref("ReferenceGrant", "key-for-default-2", "far"),
    )
    world = usual(keyless, profile=profiled(needs=(secret,)))
    yield Cause("a need that is not there", world, "policy-invalid", edited=None)


def of_listeners() -> Iterator[Cause]:
    on_gateway = defaults("p", ON_GATEWAY, a=1)
    gateway, namespace = build.ref("Gateway", "g"), build.ref("Namespace", "far", group="")
    far = build.node("HTTPRoute", "r", namespace="far")
    far_route = build.route(namespace="far", parents=[build.parent(namespace="default")], rules=[{}])
    by_team = build.allow("Selector", {"matchExpressions": [{"key": "team", "operator": "Exists"}]})
    tcp_alone = build.allow("Same", kinds=["GRPCRoute"])
    sets = build.listener_set("ls", build.listener("extra", port=81))
    local = profiled(declared_targets=frozenset({GATEWAY}))

    def below(*resources: Resource) -> Analysis:
        return around(*resources, on_gateway, profile=local)

    def attached(*parents: Mapping[str, Any]) -> Analysis:
        return below(build.gateway(), build.route(parents=list(parents)))

    world = below(build.gateway(), build.namespace("far"), far_route)
    yield Cause("a namespace that the listener does not take", world, "listener-namespace", target=far, edited=gateway)
    world = below(build.gateway("g", build.listener(allowedRoutes=by_team)), build.namespace("far"), far_route)
    yield Cause(
        "a namespace that the listener does not select", world, "listener-namespace", target=far, edited=namespace
    )
    world = below(build.gateway("g", build.listener(allowedRoutes=tcp_alone)), build.route())
    yield Cause("a kind that the listener does not take", world, "listener-kind", edited=gateway)
    world = below(build.gateway("g", build.listener(hostname="*.a.example")), build.route(hostnames=["r.b.example"]))
    yield Cause("a hostname that does not match", world, "listener-hostname", edited=ROUTE.object)
    world = attached(build.parent(section="htps"))
    yield Cause("a listener that is not there", world, "listener-missing", edited=ROUTE.object)
    yield Cause("another port", attached(build.parent(port=81)), "listener-port", edited=ROUTE.object)
    yield Cause("no parent at all", attached(), "no-parent", edited=ROUTE.object)
    world = around(
        build.gateway(),
        build.gateway("h"),
        build.route(parents=[build.parent("h")]),
        defaults("p", build.target("g", section="http"), a=1),
        profile=profiled(declared_targets=frozenset({HTTP_ROUTE, GATEWAY}), sections="refine"),
    )
    yield Cause("another parent", world, "no-parent")
    world = around(
        TWO_LISTENERS,
        build.route(parents=[build.parent(section="http")]),
        build.policy("p", targetRef=build.target("g", section="other"), color="red"),
        profile=local,
    )
    yield Cause("another listener of the parent", world, "no-parent", edited=ROUTE.object)
    world = below(build.gateway(), sets, build.route(parents=[PARENT_SET]))
    yield Cause("a ListenerSet that is not let in", world, "listener-set-refused", edited=gateway)
    world = below(build.gateway(), sets)
    yield Cause(
        "a ListenerSet itself that is not let in",
        world,
        "listener-set-refused",
        target=build.node("ListenerSet", "ls"),
        edited=gateway,
    )
    world = below(
        build.gateway_class("passing", "gateway.nginx.org/nginx-gateway-controller"),
        build.gateway(
            "g",
            build.listener("https", "HTTPS", 443, tls={"certificateRefs": [{"name": "gone"}]}),
            class_name="passing",
        ),
        build.route(),
    )
    yield Cause("a listener that is not valid, where such are passed over", world, "parent-invalid", edited=None)
    world = below(
        build.gateway("g", build.listener(), build.listener("other")),
        build.route(parents=[build.parent(section="other")]),
    )
    yield Cause("two listeners that cannot be told apart", world, "listener-conflict", edited=None)
    world = attached(build.parent(section="http", port=81))
    yield Cause("a listener and a port that are not one", world, "listener-port", edited=ROUTE.object)
    world = around(
        build.gateway("g", build.listener(hostname="r.a.example")),
        build.route(hostnames=["*.a.example"]),
        on_gateway,
        profile=profiled(declared_targets=frozenset({GATEWAY}), hostnames="inside"),
    )
    yield Cause("a hostname that is too wide", world, "hostname-too-wide", edited=ROUTE.object)


def of_parents() -> Iterator[Cause]:
    on_route = defaults("p", ON_ROUTE, a=1)
    world = around(build.gateway("h"), build.route(parents=[build.parent("gone")]), on_route)
    yield Cause("a Gateway that is not there", world, "parent-missing", edited=ROUTE.object)
    world = around(
        build.gateway(allowedListeners={"namespaces": {"from": "Same"}}),
        build.gateway("h", namespace="far"),
        build.listener_set("ls", build.listener("extra", port=81), parent="gone"),
        build.route(parents=[PARENT_SET]),
        on_route,
    )
    yield Cause(
        "a ListenerSet whose Gateway is not there", world, "parent-missing", edited=build.ref("ListenerSet", "ls")
    )
    world = around(
        build.gateway("h", build.listener(allowedRoutes=build.allow("All")), namespace="far"),
        build.route(parents=[build.parent("h")]),
        on_route,
    )
    yield Cause("a Gateway in another namespace than the parentRef says", world, "parent-missing", edited=ROUTE.object)
    world = usual(
        build.route("below", parents=[build.parent("r", kind="HTTPRoute")]),
        defaults("p", build.target("below", "HTTPRoute"), a=1),
    )
    yield Cause(
        "a route that does not delegate", world, "not-delegated", target=build.node("HTTPRoute", "below"), edited=None
    )
    world = around(build.route(parents=[build.service_parent("s", sectionName="gone")]), on_route)
    yield Cause("a port of a parent Service", world, "listener-missing", edited=ROUTE.object)
    world = around(
        build.resource("Gateway", "g", {"gatewayClassName": "public", "listeners": []}), build.route(), on_route
    )
    yield Cause("a Gateway without listeners", world, "listener-missing", edited=None)
    world = around(
        build.gateway_class("other"),
        build.gateway(),
        build.gateway("h", class_name="other"),
        build.route(parents=[build.parent("h", section="gone"), build.parent("g")]),
        build.policy("p", build.target("other", "GatewayClass"), color="red"),
        profile=profiled(declared_targets=frozenset({GATEWAY_CLASS})),
    )
    yield Cause("a class that another Gateway has", world, "listener-missing")


def of_backends() -> Iterator[Cause]:
    service, far_service = build.node("Service", "s", group=""), build.node("Service", "s", namespace="far", group="")
    far = build.service(namespace="far")
    on_route = defaults("p", ON_ROUTE, a=1)
    levels = (TargetLevel(SERVICE, section=False),)
    on_service = build.ON_SERVICE
    weightless = build.route(rules=[build.rule(build.backend(weight=0))])
    world = around(build.gateway(), far, build.route(rules=[build.rule(build.backend(namespace="far"))]), on_route)
    yield Cause(
        "a backend in another namespace",
        world,
        "backend-not-permitted",
        target=far_service,
        action="create",
        edited=build.ref("ReferenceGrant", "s-for-default", "far"),
    )
    world = around(build.gateway(), build.service(), weightless, on_route)
    yield Cause("a backend without weight", world, "no-weight", target=service, edited=ROUTE.object)
    world = around(build.gateway(), build.service(), weightless, defaults("p", on_service, a=1))
    yield Cause("a policy on a backend without weight", world, "no-weight", target=service, edited=ROUTE.object)
    world = around(
        build.gateway(), build.route(rules=[build.rule()]), on_route, profile=profiled(effective_targets=levels)
    )
    yield Cause("a rule without backends", world, "takes-effect-elsewhere", edited=None)


def of_controllers() -> Iterator[Cause]:
    ours = profiled(controllers=frozenset({"ours.example"}), declared_targets=frozenset({GATEWAY}))
    enabling = RequiredParameter(GroupKind("example.com", "Parameters"), "colors.enabled")
    parameters = build.resource("Parameters", "off", {"colors": {"enabled": False}}, group="example.com")
    reference = {"group": "example.com", "kind": "Parameters", "name": "off"}
    gateway = build.ref("Gateway", "g")
    on_namespace = build.policy("p", build.target("default", "Namespace", group=""), color="red")
    world = usual(build.gateway_class("ours", "ours.example"), defaults("p", ON_GATEWAY, a=1), profile=ours)
    yield Cause("the class of another controller", world, "other-controller", edited=gateway)
    world = around(
        build.gateway("g", infrastructure={"parametersRef": reference}),
        build.route(),
        parameters,
        build.resource("Parameters", "others", {}, group="example.com"),
        defaults("p", ON_GATEWAY, a=1),
        profile=profiled(enabled_by=enabling),
    )
    yield Cause("a switch that is off", world, "not-enabled", edited=parameters.ref)
    world = usual(
        on_namespace,
        build.gateway_class("ours", "ours.example"),
        profile=profiled(controllers=frozenset({"ours.example"}), declared_targets=frozenset({NAMESPACE})),
    )
    yield Cause("the class of another controller below a Namespace", world, "other-controller", edited=gateway)
    world = around(
        build.route(parents=[build.service_parent()]),
        on_namespace,
        profile=profiled(controllers=frozenset({"ours.example"}), declared_targets=frozenset({NAMESPACE})),
    )
    yield Cause("nothing of a Gateway", world, "other-controller", edited=None)
    world = around(
        build.gateway("g", infrastructure={"parametersRef": reference}),
        build.route(),
        parameters,
        on_namespace,
        profile=profiled(enabled_by=enabling, declared_targets=frozenset({NAMESPACE})),
    )
    yield Cause("a switch that is off below a Namespace", world, "not-enabled", edited=parameters.ref)
    world = usual(build.policy("p"), profile=profiled(attachment="none"))
    yield Cause("how it attaches", world, "not-computed", edited=None)


def of_precedence() -> Iterator[Cause]:
    on_service = build.ON_SERVICE
    named_ports = build.service("s", ("web", 8080))
    limit = build.ref("LimitPolicy", "p", group="example.com")
    older = build.policy("o", on_service, kind="LimitPolicy", age=1, limit=1)
    newer = build.policy("p", on_service, kind="LimitPolicy", age=2, limit=2)
    service = build.node("Service", "s", group="")
    other = build.ref("ColorPolicy", "o", group="example.com")
    both_on_route = build.policy("o", ON_ROUTE, age=1, color="red"), build.policy("p", ON_ROUTE, age=2, color="blue")
    one_applies = {"policy_class": "inherited", "same_level": "one-applies"}
    world = usual(overrides("o", ON_GATEWAY, a=1), defaults("p", ON_ROUTE, a=2))
    yield Cause("an override from above", world, "overridden", edited=other)
    world = usual(build.policy("o", ON_ROUTE, age=1, defaults={"a": 1}), defaults("p", ON_GATEWAY, age=2, a=2))
    yield Cause("a nearer policy", world, "superseded")
    world = usual(
        overrides("o", ON_ROUTE, a=1),
        build.policy("p", ON_GATEWAY, a=2),
        schema=object_schema(targetRefs=LIST, overrides=anything(), a={"type": "integer"}),
        profile=profiled(declared_targets=frozenset({GATEWAY, HTTP_ROUTE}), cross_namespace=False),
    )
    yield Cause("a nearer policy, and a stanza that the definition knows", world, "superseded")
    world = usual(older, newer)
    yield Cause("a conflict", world, "refused", target=service, action="delete", edited=older.ref, policy=limit)
    world = around(build.gateway(), build.route(), named_ports, older, newer)
    yield Cause("a conflict that a section avoids", world, "refused", target=service, edited=limit, policy=limit)
    world = usual(
        build.service("t"),
        build.policy("o", on_service, build.target("t", "Service", group=""), kind="LimitPolicy", age=1, limit=1),
        newer,
    )
    yield Cause(
        "a conflict that the other one can leave", world, "refused", target=service, edited=older.ref, policy=limit
    )
    world = usual(*both_on_route, profile=profiled(**one_applies, weight_annotation="example.com/weight"))
    yield Cause("a conflict that a weight decides", world, "refused")
    world = usual(*both_on_route, profile=profiled(**one_applies, order_field="spec.priority"))
    yield Cause("a conflict that a number decides", world, "refused")
    world = usual(
        build.policy("o", ON_ROUTE, age=2, defaults={"a": 1}), build.policy("p", ON_ROUTE, age=1, defaults={"a": 2})
    )
    yield Cause("a newer policy on the same target", world, "beaten-on-target")
    world = usual(
        build.policy("o", ON_ROUTE, age=1, color="red"),
        build.policy("p", ON_GATEWAY, age=2, color="blue", shade="dark"),
        profile=profiled(
            strategy_field="spec.mode",
            strategy_values=MODES,
            cross_namespace=False,
            declared_targets=frozenset({GATEWAY, HTTP_ROUTE}),
        ),
    )
    yield Cause("a strategy that a field chooses", world, "superseded")
    world = usual(
        build.policy("o", build.target("g", section="http"), age=1, color="red"),
        build.policy("p", ON_GATEWAY, age=2, color="blue"),
        profile=profiled(sections="replace", declared_targets=frozenset({GATEWAY})),
    )
    yield Cause("a policy on a section in its place", world, "replaced-by-section")
    world = usual(
        build.policy("o", build.target("g", section="http"), age=3, color="red"),
        build.policy("p", ON_GATEWAY, age=2, color="blue"),
        profile=profiled(sections="replace", declared_targets=frozenset({GATEWAY})),
    )
    yield Cause("a newer policy on a section in its place", world, "replaced-by-section", action="delete", edited=other)
    world = usual(build.policy("p", ON_GATEWAY, kind="LimitPolicy", limit=1))
    yield Cause("a direct policy on a parent", world, "direct-above", edited=limit, policy=limit)
    world = usual(build.policy("p", ON_ROUTE), overrides("o", ON_GATEWAY, a=1))
    yield Cause("nothing that it sets", world, "no-fields", edited=None)


def every_cause() -> list[Cause]:
    by_filter = profiled(attachment="filters", filter_routes=frozenset({HTTP_ROUTE}))
    no_filter = usual(build.policy("p", color="red"), profile=by_filter)
    return [
        *of_references(),
        *across_namespaces(),
        *of_listeners(),
        *of_parents(),
        *of_backends(),
        *of_controllers(),
        Cause("no filter", no_filter, "no-filter", edited=ROUTE.object),
        *of_precedence(),
    ]
