"""Policies whose targets are there: who gets requests, whose Gateways these are, and which backends nobody asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest

from kubectl_policy.lint.finding import Finding, Related
from kubectl_policy.lint.rules.policies.unreached_targets import (
    backend_policy_unreferenced,
    foreign_controller,
    target_gateway_no_routes,
    target_unattached,
)
from kubectl_policy.model import Gap, Json, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from tests import build
from tests.lint.rule_worlds import CLASS, GATEWAY, OURS, ROUTE, SERVED, TO_ROUTE, checked, known, said, verdicts

P: Final = build.ref("ColorPolicy", "p", group="example.com")
ON_ROUTE: Final = build.policy("p", TO_ROUTE)
ON_GATEWAY: Final = build.policy("p", build.target("g"))
ON_SET: Final = build.policy("p", build.target("ls", "ListenerSet"))
OPEN: Final = build.gateway(allowedListeners={"namespaces": {"from": "All"}})


def related(kind: str, name: str, group: str = GATEWAY_API) -> tuple[Related, ...]:
    """A target, as what a finding is about as well."""
    return (Related(object=build.ref(kind, name, group=group), words="the target", origin=build.ORIGIN),)


IN_SET: Final = build.route("r", parents=[build.parent("ls", kind="ListenerSet")])
IN_MESH: Final = build.route("r", parents=[build.service_parent()])
ABOVE: Final = build.route("above", rules=[build.rule(build.backend("r", None, kind="HTTPRoute", group=GATEWAY_API))])
OURS_ONLY: Final = known(controllers=frozenset({OURS}))


@pytest.mark.parametrize(
    "world",
    [
        [*SERVED, ON_ROUTE],
        [*SERVED, ON_GATEWAY],
        [*SERVED, build.policy("p", build.target("s", "Service", group=""))],
        [IN_MESH, build.service(), ON_ROUTE],
        [CLASS, OPEN, build.listener_set(), IN_SET, ON_ROUTE, ON_SET],
        # A route to which others delegate.
        [
            build.gateway_class(controller="kgateway.dev/kgateway"),
            GATEWAY,
            ABOVE,
            build.route("r", parents=[]),
            ON_ROUTE,
        ],
        # It names no parent, and has some all the same (GEP-3793).
        [CLASS, GATEWAY, build.resource("HTTPRoute", "r", {"useDefaultGateways": "All", "rules": []}), ON_ROUTE],
    ],
)
def test_a_target_that_gets_requests(world: list[Resource]) -> None:
    assert checked(target_unattached, *world) == []


def test_a_route_that_is_attached_to_nothing() -> None:
    assert checked(target_unattached, CLASS, GATEWAY, build.route("r", parents=[build.parent("x")]), ON_ROUTE) == [
        Finding(
            subject=P,
            field="spec.targetRefs[0]",
            message="HTTPRoute default/r gets no requests, so this has no effect there: "
            "Gateway default/x does not exist",
            related=related("HTTPRoute", "r"),
        )
    ]


def test_a_route_that_may_be_attached_to_something_elsewhere() -> None:
    route = build.route("r", parents=[build.parent("x")])
    findings = checked(target_unattached, CLASS, GATEWAY, route, ON_ROUTE, complete=False)
    why = "Gateway default/x is not in the input"
    expected = f"? HTTPRoute default/r gets no requests, so this has no effect there: {why}"
    assert said(findings) == [("spec.targetRefs[0]", expected)]


def test_a_route_that_every_listener_refuses() -> None:
    """That is certain in any world; not more than two reasons are told."""
    listeners = [build.listener(name, port=port) for port, name in enumerate("abc", 80)]
    route = build.route("r", parents=[build.parent(namespace="infra")])
    world = [CLASS, build.gateway("g", *listeners, namespace="infra"), route, ON_ROUTE]
    for complete in (False, True):
        (finding,) = checked(target_unattached, *world, complete=complete)
        assert finding.certain
        assert [part.split()[1] for part in finding.message.partition(": ")[2].split("; ")] == ["a", "b"]


def test_a_route_without_any_parent() -> None:
    """Some implementation may know a way to it, unless everything is known."""
    route = build.route("r", parents=[])
    (finding,) = checked(target_unattached, CLASS, GATEWAY, route, ON_ROUTE)
    assert (finding.certain, finding.message.partition(": ")[2]) == (
        True,
        "it names no parent, and no route delegates to it",
    )
    assert verdicts(checked(target_unattached, route, ON_ROUTE, complete=False)) == [False]
    gap = Gap("HTTPRoute", "infra", "forbidden")
    assert verdicts(checked(target_unattached, route, ON_ROUTE, gaps=[gap])) == [False]
    other = build.route("other", rules=[build.rule(build.backend("all", None, kind="Pears", group="pears.example"))])
    assert verdicts(checked(target_unattached, CLASS, GATEWAY, other, route, ON_ROUTE)) == [False]


@pytest.mark.parametrize(
    ("world", "why"),
    [
        ([GATEWAY], "GatewayClass public does not exist"),
        ([build.resource("Gateway", "g", {"listeners": []})], "it names no GatewayClass"),
    ],
)
def test_a_gateway_on_which_nobody_acts(world: list[Resource], why: str) -> None:
    """Whether or not it is known who would act on it."""
    expected = f"Gateway default/g gets no requests, so this has no effect there: {why}"
    for profile in (known(), OURS_ONLY):
        findings = checked(target_unattached, *world, ON_GATEWAY, profiles=[profile])
        assert said(findings) == [("spec.targetRefs[0]", expected)]
    assert checked(target_unattached, GATEWAY, ON_GATEWAY, complete=False) == []


def test_a_route_on_a_gateway_on_which_nobody_acts() -> None:
    for profile in (known(), OURS_ONLY):
        (finding,) = checked(target_unattached, GATEWAY, ROUTE, ON_ROUTE, profiles=[profile])
        assert finding.message.endswith(": GatewayClass public does not exist")


@pytest.mark.parametrize(
    ("gateways", "why"),
    [
        ([], "Gateway default/g does not exist"),
        ([GATEWAY, CLASS], "Gateway default/g does not allow it (spec.allowedListeners)"),
        ([OPEN], "GatewayClass public does not exist"),
    ],
)
def test_a_listener_set_that_is_not_served(gateways: list[Resource], why: str) -> None:
    (finding,) = checked(target_unattached, *gateways, build.listener_set(), ON_SET)
    assert finding.message.endswith(f": {why}")


def test_a_listener_set_without_a_gateway() -> None:
    listener_set = build.resource("ListenerSet", "ls", {"listeners": [build.listener()]})
    (finding,) = checked(target_unattached, listener_set, ON_SET)
    assert finding.message.endswith(": it names no Gateway")


def test_many_targets_with_one_reason() -> None:
    """They are one finding, as one reference selects them."""
    routes = [build.route(name, parents=[build.parent("x")], labels={"a": "b"}) for name in "qrstu"]
    selector: Json = {"group": GATEWAY_API, "kind": "HTTPRoute", "matchLabels": {"a": "b"}}
    (finding,) = checked(target_unattached, *routes, build.policy("p", targetSelectors=[selector]))
    assert finding.message == (
        "HTTPRoute default/q, HTTPRoute default/r, HTTPRoute default/s and 2 more get no requests, "
        "so this has no effect there: Gateway default/x does not exist"
    )
    assert len(finding.related) == 5


# A Gateway with parameters.
SETTINGS: Final = known("Settings", attachment="parameters", controllers=frozenset({OURS}))
SET_UP: Final = (
    build.gateway(infrastructure={"parametersRef": {"group": "example.com", "kind": "Settings", "name": "p"}}),
    build.resource("Settings", "p", {}, group="example.com"),
)


def test_parameters_of_a_gateway_on_which_nobody_acts() -> None:
    (finding,) = checked(target_unattached, *SET_UP, profiles=[SETTINGS])
    assert (str(finding.subject), finding.field) == ("Settings default/p", "")


@pytest.mark.parametrize(
    "world",
    [
        [*SERVED, ON_GATEWAY],
        [*SERVED, build.policy("p", build.target("g", section="http"))],
        [*SERVED, ON_ROUTE],
        [CLASS, OPEN, build.listener_set(), IN_SET, ON_GATEWAY, ON_SET],
        # What else listeners serve is not known.
        [CLASS, build.gateway("g", build.listener(protocol="mesh.example/HBONE")), ON_GATEWAY],
        [
            CLASS,
            build.gateway(
                "g", build.listener(allowedRoutes=build.allow("All", kinds=[("pears.example", "PearRoute")]))
            ),
            ON_GATEWAY,
        ],
        # Nobody acts on it, or it refuses its route: these are findings of their own.
        [GATEWAY, ON_GATEWAY],
        [CLASS, GATEWAY, build.route("r", parents=[build.parent("g", "x")]), ON_GATEWAY],
        [
            *(CLASS, GATEWAY, build.listener_set()),
            build.route("r", parents=[build.parent("ls", "x", kind="ListenerSet")]),
            ON_GATEWAY,
        ],
    ],
)
def test_a_gateway_with_routes(world: list[Resource]) -> None:
    assert checked(target_gateway_no_routes, *world) == []


def test_a_policy_that_changes_the_gateway_alone() -> None:
    assert checked(target_gateway_no_routes, CLASS, GATEWAY, ON_GATEWAY, profiles=[known(direct=True)]) == []


def test_a_gateway_without_routes() -> None:
    expected = "no route is attached to Gateway default/g, so the policy has no effect there"
    assert checked(target_gateway_no_routes, CLASS, GATEWAY, ON_GATEWAY) == [
        Finding(subject=P, field="spec.targetRefs[0]", message=expected, related=related("Gateway", "g"))
    ]
    assert verdicts(checked(target_gateway_no_routes, CLASS, GATEWAY, ON_GATEWAY, complete=False)) == [False]


def test_a_listener_without_routes() -> None:
    gateway = build.gateway("g", build.listener(), build.listener("alt", port=81))
    route = build.route("r", parents=[build.parent("g", "http")])
    policy = build.policy("p", build.target("g", section="alt"), build.target("g"))
    assert said(checked(target_gateway_no_routes, CLASS, gateway, route, policy)) == [
        (
            "spec.targetRefs[0]",
            "no route is attached to listener alt of Gateway default/g, so the policy has no effect there",
        )
    ]


def test_a_listener_that_a_route_may_mean() -> None:
    route = build.route("r", parents=[build.parent("g", "${LISTENER}")])
    assert verdicts(checked(target_gateway_no_routes, CLASS, GATEWAY, route, ON_GATEWAY)) == [False]


def test_many_gateways_without_routes() -> None:
    """They are one finding, as one reference selects them, and two policies on one of them are two."""
    gateways = [
        build.resource("Gateway", name, {**GATEWAY.raw["spec"]}, labels={"a": "b"})  # type: ignore[dict-item]
        for name in ("g", "h")
    ]
    selector: Json = {"group": GATEWAY_API, "kind": "Gateway", "matchLabels": {"a": "b"}}
    policies = [build.policy("q", targetSelectors=[selector]), ON_GATEWAY]
    findings = checked(target_gateway_no_routes, CLASS, *gateways, *policies)
    assert [(str(finding.subject), len(finding.related)) for finding in findings] == [
        ("ColorPolicy default/p", 1),
        ("ColorPolicy default/q", 2),
    ]


TLS: Final = known(direct=True, controllers=frozenset({OURS}))
ON_SERVICE: Final = build.policy("p", build.target("s", "Service", group=""))
ALONE: Final = [CLASS, GATEWAY, build.service(), build.route("r", rules=[build.rule(build.backend("other"))])]
NOBODY_ASKS: Final = "no route sends requests to Service default/s, so the policy has no effect there"


@pytest.mark.parametrize("weight", [0, 1])
def test_a_backend_that_routes_name(weight: int) -> None:
    """Also with no weight, as before or after it is used."""
    route = build.route("r", rules=[build.rule(build.backend(weight=weight))])
    assert (
        checked(backend_policy_unreferenced, CLASS, GATEWAY, route, build.service(), ON_SERVICE, profiles=[TLS]) == []
    )


@pytest.mark.parametrize(
    "more",
    [
        build.route("m", rules=[build.rule(build.backend("other"), filters=[
            {"type": "RequestMirror", "requestMirror": {"backendRef": {"name": "s", "port": 8080}}}
        ])]),
        build.route("m", parents=[build.service_parent("other")]),
        build.route("m", parents=[build.service_parent("s")]),
        build.resource("ServiceExport", "s", {}, group="multicluster.x-k8s.io"),
        build.policy("q", TO_ROUTE, auth={"backendRef": {"name": "s", "kind": "Service"}}),
    ],
    ids=["a mirror", "a mesh", "of the mesh", "an export", "another policy"],
)  # fmt: skip
def test_a_backend_that_something_else_refers_to(more: Resource) -> None:
    assert checked(backend_policy_unreferenced, *ALONE, build.service("other"), more, ON_SERVICE, profiles=[TLS]) == []


@pytest.mark.parametrize("profiles", [[], [known(direct=True)], [known(attachment="partly", controllers={OURS})]])
def test_a_policy_that_may_be_for_a_mesh(profiles: list[Any]) -> None:
    assert checked(backend_policy_unreferenced, *ALONE, ON_SERVICE, profiles=profiles) == []


def test_a_backend_that_nobody_asks_for() -> None:
    assert checked(backend_policy_unreferenced, *ALONE, ON_SERVICE, profiles=[TLS]) == [
        Finding(subject=P, field="spec.targetRefs[0]", message=NOBODY_ASKS, related=related("Service", "s", ""))
    ]
    findings = checked(backend_policy_unreferenced, *ALONE, ON_SERVICE, profiles=[TLS], complete=False)
    assert verdicts(findings) == [False]


@pytest.mark.parametrize(
    ("backend", "port", "fails"),
    [
        (build.backend(port=80), "web", False),
        (build.backend(port=80), "admin", True),
        (build.backend(port=90), "admin", False),
        (build.backend(port=None), "admin", False),
        (build.backend(port=None), "", False),
    ],
)
def test_a_port_of_a_backend(backend: Mapping[str, Json], port: str, *, fails: bool) -> None:
    """A policy on a port that no route names has no effect; a reference without a port may mean any."""
    service = build.service("s", ("web", 80), ("admin", 90))
    route = build.route("r", rules=[build.rule(backend)])
    policy = build.policy("p", build.target("s", "Service", port, group=""))
    findings = checked(backend_policy_unreferenced, CLASS, GATEWAY, service, route, policy, profiles=[TLS])
    message = NOBODY_ASKS.replace("Service", f"port {port} of Service")
    assert said(findings) == ([("spec.targetRefs[0]", message)] if fails else [])


def test_a_backend_that_a_route_may_mean() -> None:
    route = build.route("r", rules=[build.rule(build.backend("${BACKEND}"))])
    findings = checked(backend_policy_unreferenced, CLASS, GATEWAY, route, build.service(), ON_SERVICE, profiles=[TLS])
    assert verdicts(findings) == [False]


def test_a_backend_of_another_kind() -> None:
    target = build.target("b", "Backend", group="gateway.envoyproxy.io")
    backend = build.resource("Backend", "b", {"endpoints": []}, group="gateway.envoyproxy.io")
    findings = checked(backend_policy_unreferenced, *ALONE, backend, build.policy("p", target), profiles=[TLS])
    assert [finding.message for finding in findings] == [NOBODY_ASKS.replace("Service default/s", "Backend default/b")]


def test_a_backend_that_exists_if_routes_refer_to_it() -> None:
    profile = known(direct=True, controllers=frozenset({OURS}), targets_exist="whenReferred")
    findings = checked(backend_policy_unreferenced, *ALONE, ON_SERVICE, profiles=[profile])
    assert said(findings) == [
        ("spec.targetRefs[0]", "no route that example.com/gateway acts on sends requests to Service default/s")
    ]
    findings = checked(backend_policy_unreferenced, *ALONE, ON_SERVICE, profiles=[profile], complete=False)
    assert verdicts(findings) == [False]


THEIRS: Final = build.gateway_class("public", "other.example/controller")


@pytest.mark.parametrize("profile", [known(), OURS_ONLY])
def test_a_target_of_the_own_controllers(profile: Any) -> None:  # noqa: ANN401 (a profile)
    """Or of a kind that any controller may act on."""
    assert checked(foreign_controller, *SERVED, ON_ROUTE, profiles=[profile]) == []


def test_a_class_that_was_not_read() -> None:
    for complete in (False, True):
        assert checked(foreign_controller, GATEWAY, ROUTE, ON_ROUTE, profiles=[OURS_ONLY], complete=complete) == []


def test_a_target_of_another_controller() -> None:
    """It is certain in any world."""
    for complete in (False, True):
        findings = checked(foreign_controller, THEIRS, GATEWAY, ON_GATEWAY, profiles=[OURS_ONLY], complete=complete)
        assert findings == [
            Finding(
                subject=P,
                field="spec.targetRefs[0]",
                message="ColorPolicy applies only to what example.com/gateway manages, "
                "and Gateway default/g is managed by other.example/controller",
                related=related("Gateway", "g"),
            )
        ]


def test_a_route_of_the_mesh_for_a_policy_of_gateways() -> None:
    """Nobody is known to act on it who reads the policy."""
    (finding,) = checked(foreign_controller, IN_MESH, build.service(), ON_ROUTE, profiles=[OURS_ONLY])
    assert finding.message.endswith("manages, which includes no parent of HTTPRoute default/r")
    assert checked(target_unattached, IN_MESH, build.service(), ON_ROUTE, profiles=[OURS_ONLY]) == []


def test_several_routes_of_another_controller() -> None:
    routes = [build.route(name, labels={"a": "b"}) for name in "rst"]
    selector: Json = {"group": GATEWAY_API, "kind": "HTTPRoute", "matchLabels": {"a": "b"}}
    policy = build.policy("p", targetSelectors=[selector])
    (finding,) = checked(foreign_controller, THEIRS, GATEWAY, *routes, policy, profiles=[OURS_ONLY])
    assert finding.message.endswith(
        "includes no parent of HTTPRoute default/r, nor HTTPRoute default/s, HTTPRoute default/t"
    )


def test_parameters_of_another_controller() -> None:
    (finding,) = checked(foreign_controller, THEIRS, *SET_UP, profiles=[SETTINGS])
    assert (str(finding.subject), finding.field) == ("Gateway default/g", "spec.infrastructure.parametersRef")
    assert [(str(related.object), related.words) for related in finding.related] == [
        ("Settings default/p", "what it names")
    ]
