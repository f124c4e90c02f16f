"""Small worlds in which a policy has no effect on something, each for another cause."""

from __future__ import annotations

from collections.abc import Mapping
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


def of_references() -> list[Cause]:
    gateway_alone = profiled(declared_targets=frozenset({GATEWAY}))
    by_label = object_schema(targetSelectors={"type": "array", "items": anything()}, color={"type": "string"})
    other = build.route("q")
    return [
        Cause("another target", usual(other, defaults("p", build.target("q", "HTTPRoute"), a=1)), "other-target"),
        Cause(
            "a single reference to another target",
            usual(other, build.policy("p", targetRef=build.target("q", "HTTPRoute"), color="red")),
            "other-target",
        ),
        Cause("a typing error", usual(defaults("p", build.target("rr", "HTTPRoute"), a=1)), "target-missing"),
        Cause(
            "one of several sections",
            around(TWO_LISTENERS, build.policy("p", targetRef={**ON_GATEWAY, "sectionNames": ["other"]}, color="red")),
            "other-section",
            target=build.node("Gateway", "g", "http"),
        ),
        Cause(
            "sections of another object",
            around(
                build.gateway(),
                build.gateway("h"),
                build.policy("p", targetRef={**build.target("h"), "sectionNames": ["http"]}, color="red"),
            ),
            "other-target",
            target=build.node("Gateway", "g", "http"),
        ),
        Cause("no reference", usual(build.policy("p", color="red")), "no-reference"),
        Cause(
            "a section that is not there",
            usual(defaults("p", build.target("g", section="htps"), a=1)),
            "section-missing",
            target=build.node("Gateway", "g"),
        ),
        Cause(
            "another section",
            around(
                TWO_LISTENERS,
                build.route(parents=[build.parent(section="http")]),
                defaults("p", build.target("g", section="other"), a=1),
            ),
            "other-section",
            target=build.node("Gateway", "g", "http"),
        ),
        Cause(
            "labels that are not selected",
            usual(build.policy("p", targetSelectors=[selector(team="a")], color="red"), schema=by_label),
            "not-selected",
            edited=ROUTE.object,
        ),
        Cause(
            "labels of others",
            usual(
                build.route("q", labels={"team": "a"}),
                build.policy("p", targetSelectors=[selector(team="a")], color="red"),
                schema=by_label,
            ),
            "not-selected",
            edited=ROUTE.object,
        ),
        Cause(
            "labels that expressions ask for",
            usual(
                build.route("q", labels={"not": "this", "color": "red"}),
                build.policy(
                    "p", targetSelectors=[{**selector(color="red"), "matchExpressions": EXPRESSIONS}], color="red"
                ),
                schema=by_label,
            ),
            "not-selected",
            target=build.node("HTTPRoute", "q"),
            edited=build.ref("HTTPRoute", "q"),
        ),
        Cause(
            "a selector that nothing can match",
            usual(
                build.policy(
                    "p",
                    targetSelectors=[{**selector(team="a"), "matchExpressions": [{"key": "a", "operator": "Odd"}]}],
                    color="red",
                ),
                schema=by_label,
            ),
            "not-selected",
            edited=None,
        ),
        Cause(
            "labels where a name would do",
            usual(build.policy("p", targetSelectors=[selector(team="a", tier="b")], color="red")),
            "not-selected",
        ),
        Cause(
            "a kind that cannot be named",
            usual(defaults("p", ON_ROUTE, a=1), profile=gateway_alone),
            "kind-unsupported",
        ),
        Cause(
            "a wrong group",
            usual(defaults("p", build.target("r", "HTTPRoute", group="networking.k8s.io"), a=1)),
            "other-group",
        ),
        Cause(
            "a group with a version",
            usual(defaults("p", build.target("r", "HTTPRoute", group=f"{GATEWAY_API}/v1"), a=1)),
            "group-version",
        ),
        Cause("a target below", usual(defaults("p", ON_ROUTE, a=1)), "target-below", target=build.node("Gateway", "g")),
    ]


def across_namespaces() -> list[Cause]:
    far = build.policy("p", build.target("r", "HTTPRoute", namespace="default"), namespace="far", color="red")
    far_policy = build.ref("ColorPolicy", "p", "far", "example.com")
    unnamed = build.policy("p", ON_ROUTE, namespace="far", color="red")
    secret = RequiredObject(field="spec.key", group="", kinds=("Secret",))
    key = build.resource("Secret", "key", group="", namespace="far")
    needy = build.policy("p", ON_ROUTE, key=[{"name": "own"}, {"name": "key", "namespace": "far"}], color="red")
    keyless = build.policy("p", ON_ROUTE, key={"name": "key"}, color="red")
    return [
        Cause(
            "a target in another namespace",
            usual(far),
            "not-permitted",
            action="create",
            edited=build.ref("ReferenceGrant", "r-for-far"),
            policy=far_policy,
        ),
        Cause(
            "a target in another namespace that labels select",
            usual(
                build.policy(
                    "p", targetSelectors=[{**selector(), "namespaces": {"from": "All"}}], namespace="far", a=1
                ),
                profile=profiled(cross_namespace=False),
            ),
            "not-permitted",
            action="create",
            edited=build.ref("ReferenceGrant", "r-for-far"),
            policy=far_policy,
        ),
        Cause(
            "a target in a namespace that cannot be named",
            usual(far, profile=profiled(cross_namespace=False)),
            "namespace-closed",
            edited=None,
            policy=far_policy,
        ),
        Cause(
            "a target that is meant in another namespace",
            usual(unnamed, profile=profiled(grant_required=False)),
            "other-namespace",
            edited=far_policy,
            policy=far_policy,
        ),
        Cause(
            "a need in another namespace",
            usual(
                build.resource("Secret", "own", group=""),
                key,
                needy,
                build.grant("key-for-default", namespace="far"),
                profile=profiled(needs=(secret,)),
            ),
            "need-not-permitted",
            action="create",
            edited=build.ref("ReferenceGrant", "key-for-default-2", "far"),
        ),
        Cause(
            "a need that is not there", usual(keyless, profile=profiled(needs=(secret,))), "policy-invalid", edited=None
        ),
    ]


def of_listeners() -> list[Cause]:
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

    return [
        Cause(
            "a namespace that the listener does not take",
            below(build.gateway(), build.namespace("far"), far_route),
            "listener-namespace",
            target=far,
            edited=gateway,
        ),
        Cause(
            "a namespace that the listener does not select",
            below(build.gateway("g", build.listener(allowedRoutes=by_team)), build.namespace("far"), far_route),
            "listener-namespace",
            target=far,
            edited=namespace,
        ),
        Cause(
            "a kind that the listener does not take",
            below(build.gateway("g", build.listener(allowedRoutes=tcp_alone)), build.route()),
            "listener-kind",
            edited=gateway,
        ),
        Cause(
            "a hostname that does not match",
            below(build.gateway("g", build.listener(hostname="*.a.example")), build.route(hostnames=["r.b.example"])),
            "listener-hostname",
            edited=ROUTE.object,
        ),
        Cause(
            "a listener that is not there",
            attached(build.parent(section="htps")),
            "listener-missing",
            edited=ROUTE.object,
        ),
        Cause("another port", attached(build.parent(port=81)), "listener-port", edited=ROUTE.object),
        Cause("no parent at all", attached(), "no-parent", edited=ROUTE.object),
        Cause(
            "another parent",
            around(
                build.gateway(),
                build.gateway("h"),
                build.route(parents=[build.parent("h")]),
                defaults("p", build.target("g", section="http"), a=1),
                profile=profiled(declared_targets=frozenset({HTTP_ROUTE, GATEWAY}), sections="refine"),
            ),
            "no-parent",
        ),
        Cause(
            "another listener of the parent",
            around(
                TWO_LISTENERS,
                build.route(parents=[build.parent(section="http")]),
                build.policy("p", targetRef=build.target("g", section="other"), color="red"),
                profile=local,
            ),
            "no-parent",
            edited=ROUTE.object,
        ),
        Cause(
            "a ListenerSet that is not let in",
            below(build.gateway(), sets, build.route(parents=[PARENT_SET])),
            "listener-set-refused",
            edited=gateway,
        ),
        Cause(
            "a ListenerSet itself that is not let in",
            below(build.gateway(), sets),
            "listener-set-refused",
            target=build.node("ListenerSet", "ls"),
            edited=gateway,
        ),
        Cause(
            "a Gateway that is not there",
            around(build.gateway("h"), build.route(parents=[build.parent("gone")]), defaults("p", ON_ROUTE, a=1)),
            "parent-missing",
            edited=ROUTE.object,
        ),
        Cause(
            "a ListenerSet whose Gateway is not there",
            around(
                build.gateway(allowedListeners={"namespaces": {"from": "Same"}}),
                build.gateway("h", namespace="far"),
                build.listener_set("ls", build.listener("extra", port=81), parent="gone"),
                build.route(parents=[PARENT_SET]),
                defaults("p", ON_ROUTE, a=1),
            ),
            "parent-missing",
            edited=build.ref("ListenerSet", "ls"),
        ),
        Cause(
            "a Gateway in another namespace than the parentRef says",
            around(
                build.gateway("h", build.listener(allowedRoutes=build.allow("All")), namespace="far"),
                build.route(parents=[build.parent("h")]),
                defaults("p", ON_ROUTE, a=1),
            ),
            "parent-missing",
            edited=ROUTE.object,
        ),
        Cause(
            "a listener that is not valid, where such are passed over",
            below(
                build.gateway_class("passing", "gateway.nginx.org/nginx-gateway-controller"),
                build.gateway(
                    "g",
                    build.listener("https", "HTTPS", 443, tls={"certificateRefs": [{"name": "gone"}]}),
                    class_name="passing",
                ),
                build.route(),
            ),
            "parent-invalid",
            edited=None,
        ),
        Cause(
            "a route that does not delegate",
            usual(
                build.route("below", parents=[build.parent("r", kind="HTTPRoute")]),
                defaults("p", build.target("below", "HTTPRoute"), a=1),
            ),
            "not-delegated",
            target=build.node("HTTPRoute", "below"),
            edited=None,
        ),
        Cause(
            "two listeners that cannot be told apart",
            below(
                build.gateway("g", build.listener(), build.listener("other")),
                build.route(parents=[build.parent(section="other")]),
            ),
            "listener-conflict",
            edited=None,
        ),
        Cause(
            "a listener and a port that are not one",
            attached(build.parent(section="http", port=81)),
            "listener-port",
            edited=ROUTE.object,
        ),
        Cause(
            "a port of a parent Service",
            around(build.route(parents=[build.service_parent("s", sectionName="gone")]), defaults("p", ON_ROUTE, a=1)),
            "listener-missing",
            edited=ROUTE.object,
        ),
        Cause(
            "a Gateway without listeners",
            around(
                build.resource("Gateway", "g", {"gatewayClassName": "public", "listeners": []}),
                build.route(),
                defaults("p", ON_ROUTE, a=1),
            ),
            "listener-missing",
            edited=None,
        ),
        Cause(
            "a class that another Gateway has",
            around(
                build.gateway_class("other"),
                build.gateway(),
                build.gateway("h", class_name="other"),
                build.route(parents=[build.parent("h", section="gone"), build.parent("g")]),
                build.policy("p", build.target("other", "GatewayClass"), color="red"),
                profile=profiled(declared_targets=frozenset({GATEWAY_CLASS})),
            ),
            "listener-missing",
        ),
        Cause(
            "a hostname that is too wide",
            around(
                build.gateway("g", build.listener(hostname="r.a.example")),
                build.route(hostnames=["*.a.example"]),
                on_gateway,
                profile=profiled(declared_targets=frozenset({GATEWAY}), hostnames="inside"),
            ),
            "hostname-too-wide",
            edited=ROUTE.object,
        ),
    ]


def of_backends() -> list[Cause]:
    service = build.node("Service", "s", namespace="far", group="")
    far = build.service(namespace="far")
    on_route = defaults("p", ON_ROUTE, a=1)
    levels = (TargetLevel(SERVICE, section=False),)
    on_service = build.ON_SERVICE
    weightless = build.route(rules=[build.rule(build.backend(weight=0))])
    return [
        Cause(
            "a backend in another namespace",
            around(build.gateway(), far, build.route(rules=[build.rule(build.backend(namespace="far"))]), on_route),
            "backend-not-permitted",
            target=service,
            action="create",
            edited=build.ref("ReferenceGrant", "s-for-default", "far"),
        ),
        Cause(
            "a backend without weight",
            around(build.gateway(), build.service(), weightless, on_route),
            "no-weight",
            target=build.node("Service", "s", group=""),
            edited=build.ref("HTTPRoute", "r"),
        ),
        Cause(
            "a policy on a backend without weight",
            around(build.gateway(), build.service(), weightless, defaults("p", on_service, a=1)),
            "no-weight",
            target=build.node("Service", "s", group=""),
            edited=build.ref("HTTPRoute", "r"),
        ),
        Cause(
            "a rule without backends",
            around(
                build.gateway(), build.route(rules=[build.rule()]), on_route, profile=profiled(effective_targets=levels)
            ),
            "takes-effect-elsewhere",
            edited=None,
        ),
    ]


def of_controllers() -> list[Cause]:
    ours = profiled(controllers=frozenset({"ours.example"}), declared_targets=frozenset({GATEWAY}))
    enabling = RequiredParameter(GroupKind("example.com", "Parameters"), "colors.enabled")
    parameters = build.resource("Parameters", "off", {"colors": {"enabled": False}}, group="example.com")
    reference = {"group": "example.com", "kind": "Parameters", "name": "off"}
    gateway = build.ref("Gateway", "g")
    on_namespace = build.policy("p", build.target("default", "Namespace", group=""), color="red")
    return [
        Cause(
            "the class of another controller",
            usual(build.gateway_class("ours", "ours.example"), defaults("p", ON_GATEWAY, a=1), profile=ours),
            "other-controller",
            edited=gateway,
        ),
        Cause(
            "a switch that is off",
            around(
                build.gateway("g", infrastructure={"parametersRef": reference}),
                build.route(),
                parameters,
                build.resource("Parameters", "others", {}, group="example.com"),
                defaults("p", ON_GATEWAY, a=1),
                profile=profiled(enabled_by=enabling),
            ),
            "not-enabled",
            edited=parameters.ref,
        ),
        Cause(
            "the class of another controller below a Namespace",
            usual(
                on_namespace,
                build.gateway_class("ours", "ours.example"),
                profile=profiled(controllers=frozenset({"ours.example"}), declared_targets=frozenset({NAMESPACE})),
            ),
            "other-controller",
            edited=gateway,
        ),
        Cause(
            "nothing of a Gateway",
            around(
                build.route(parents=[build.service_parent()]),
                on_namespace,
                profile=profiled(controllers=frozenset({"ours.example"}), declared_targets=frozenset({NAMESPACE})),
            ),
            "other-controller",
            edited=None,
        ),
        Cause(
            "a switch that is off below a Namespace",
            around(
                build.gateway("g", infrastructure={"parametersRef": reference}),
                build.route(),
                parameters,
                on_namespace,
                profile=profiled(enabled_by=enabling, declared_targets=frozenset({NAMESPACE})),
            ),
            "not-enabled",
            edited=parameters.ref,
        ),
        Cause(
            "how it attaches",
            usual(build.policy("p"), profile=profiled(attachment="none")),
            "not-computed",
            edited=None,
        ),
    ]


def of_precedence() -> list[Cause]:
    on_service = build.ON_SERVICE
    named_ports = build.service("s", ("web", 8080))
    limit = build.ref("LimitPolicy", "p", group="example.com")
    older = build.policy("o", on_service, kind="LimitPolicy", age=1, limit=1)
    newer = build.policy("p", on_service, kind="LimitPolicy", age=2, limit=2)
    service = build.node("Service", "s", group="")
    other = build.ref("ColorPolicy", "o", group="example.com")
    both_on_route = build.policy("o", ON_ROUTE, age=1, color="red"), build.policy("p", ON_ROUTE, age=2, color="blue")
    one_applies = {"policy_class": "inherited", "same_level": "one-applies"}
    return [
        Cause(
            "an override from above",
            usual(overrides("o", ON_GATEWAY, a=1), defaults("p", ON_ROUTE, a=2)),
            "overridden",
            edited=other,
        ),
        Cause(
            "a nearer policy",
            usual(build.policy("o", ON_ROUTE, age=1, defaults={"a": 1}), defaults("p", ON_GATEWAY, age=2, a=2)),
            "superseded",
        ),
        Cause(
            "a nearer policy, and a stanza that the definition knows",
            usual(
                overrides("o", ON_ROUTE, a=1),
                build.policy("p", ON_GATEWAY, a=2),
                schema=object_schema(targetRefs=LIST, overrides=anything(), a={"type": "integer"}),
                profile=profiled(declared_targets=frozenset({GATEWAY, HTTP_ROUTE}), cross_namespace=False),
            ),
            "superseded",
        ),
        Cause(
            "a conflict",
            usual(older, newer),
            "refused",
            target=service,
            action="delete",
            edited=older.ref,
            policy=limit,
        ),
        Cause(
            "a conflict that a section avoids",
            around(build.gateway(), build.route(), named_ports, older, newer),
            "refused",
            target=service,
            edited=limit,
            policy=limit,
        ),
        Cause(
            "a conflict that the other one can leave",
            usual(
                build.service("t"),
                build.policy(
                    "o", on_service, build.target("t", "Service", group=""), kind="LimitPolicy", age=1, limit=1
                ),
                newer,
            ),
            "refused",
            target=service,
            edited=older.ref,
            policy=limit,
        ),
        Cause(
            "a conflict that a weight decides",
            usual(*both_on_route, profile=profiled(**one_applies, weight_annotation="example.com/weight")),
            "refused",
        ),
        Cause(
            "a conflict that a number decides",
            usual(*both_on_route, profile=profiled(**one_applies, order_field="spec.priority")),
            "refused",
        ),
        Cause(
            "a newer policy on the same target",
            usual(
                build.policy("o", ON_ROUTE, age=2, defaults={"a": 1}),
                build.policy("p", ON_ROUTE, age=1, defaults={"a": 2}),
            ),
            "beaten-on-target",
        ),
        Cause(
            "a strategy that a field chooses",
            usual(
                build.policy("o", ON_ROUTE, age=1, color="red"),
                build.policy("p", ON_GATEWAY, age=2, color="blue", shade="dark"),
                profile=profiled(
                    strategy_field="spec.mode",
                    strategy_values=MODES,
                    cross_namespace=False,
                    declared_targets=frozenset({GATEWAY, HTTP_ROUTE}),
                ),
            ),
            "superseded",
        ),
        Cause(
            "a policy on a section in its place",
            usual(
                build.policy("o", build.target("g", section="http"), age=1, color="red"),
                build.policy("p", ON_GATEWAY, age=2, color="blue"),
                profile=profiled(sections="replace", declared_targets=frozenset({GATEWAY})),
            ),
            "replaced-by-section",
        ),
        Cause(
            "a newer policy on a section in its place",
            usual(
                build.policy("o", build.target("g", section="http"), age=3, color="red"),
                build.policy("p", ON_GATEWAY, age=2, color="blue"),
                profile=profiled(sections="replace", declared_targets=frozenset({GATEWAY})),
            ),
            "replaced-by-section",
            action="delete",
            edited=other,
        ),
        Cause(
            "a direct policy on a parent",
            usual(build.policy("p", ON_GATEWAY, kind="LimitPolicy", limit=1)),
            "direct-above",
            edited=limit,
            policy=limit,
        ),
        Cause(
            "nothing that it sets",
            usual(build.policy("p", ON_ROUTE), overrides("o", ON_GATEWAY, a=1)),
            "no-fields",
            edited=None,
        ),
    ]


def every_cause() -> list[Cause]:
    by_filter = profiled(attachment="filters", filter_routes=frozenset({HTTP_ROUTE}))
    no_filter = usual(build.policy("p", color="red"), profile=by_filter)
    return [
        *of_references(),
        *across_namespaces(),
        *of_listeners(),
        *of_backends(),
        *of_controllers(),
        Cause("no filter", no_filter, "no-filter", edited=ROUTE.object),
        *of_precedence(),
    ]
