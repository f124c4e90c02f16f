"""Contents of routes that controllers refuse: values, repeated filters, and backends that must be alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import analyze
from kubectl_policy.attachment.route_contents import is_refused, refused_contents
from tests import build

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.attachment.route_contents import RefusedContent
    from kubectl_policy.model import Json, Resource

ENVOY: Final = build.gateway_class("public", "gateway.envoyproxy.io/gatewayclass-controller")
NGINX: Final = build.gateway_class("public", "gateway.nginx.org/nginx-gateway-controller")
EXTENSIONS: Final = "gateway.envoyproxy.io"
REWRITE: Final[Mapping[str, Json]] = {
    "type": "URLRewrite",
    "urlRewrite": {"path": {"type": "ReplaceFullPath", "replaceFullPath": "/x"}},
}
HEADERS: Final[Mapping[str, Json]] = {"type": "RequestHeaderModifier", "requestHeaderModifier": {"remove": ["a"]}}
REDIRECT: Final[Mapping[str, Json]] = {"type": "RequestRedirect", "requestRedirect": {"scheme": "https"}}
DYNAMIC: Final = build.backend("dynamic", None, kind="Backend", group=EXTENSIONS)
FIXED: Final = build.backend("fixed", None, kind="Backend", group=EXTENSIONS)
ABSENT: Final = build.backend("absent", None, kind="Backend", group=EXTENSIONS)
SERVICE: Final = build.backend()
CONTEXT: Final = (
    build.gateway(),
    build.service(),
    build.resource("Backend", "dynamic", {"type": "DynamicResolver"}, group=EXTENSIONS),
    build.resource("Backend", "fixed", {"endpoints": []}, group=EXTENSIONS),
    build.resource(
        "HTTPRouteFilter", "path", {"urlRewrite": {"path": {"type": "ReplaceRegexMatch"}}}, group=EXTENSIONS
    ),
    build.resource("HTTPRouteFilter", "host", {"urlRewrite": {"hostname": {"type": "Header"}}}, group=EXTENSIONS),
    build.resource("HTTPRouteFilter", "answer", {"directResponse": {"statusCode": 404}}, group=EXTENSIONS),
)


def extension(name: str, kind: str = "HTTPRouteFilter") -> dict[str, Json]:
    return {"type": "ExtensionRef", "extensionRef": {"group": EXTENSIONS, "kind": kind, "name": name}}


def matching(*paths: str, **fields: Json) -> dict[str, Json]:
    """A rule with a match for each path."""
    return build.rule(SERVICE, matches=[{"path": {"type": "PathPrefix", "value": path}, **fields} for path in paths])


def contents(route: Resource, *context: Resource) -> list[RefusedContent]:
    analysis = analyze(build.snapshot(*CONTEXT, *context, route))
    return list(refused_contents(analysis.topology, analysis.registry, route))


@pytest.mark.parametrize(
    ("kind", "rules", "fields"),
    [
        ("TCPRoute", 1, []),
        ("TCPRoute", 2, ["spec.rules"]),
        ("UDPRoute", 2, ["spec.rules"]),
        ("TLSRoute", 2, []),
        ("HTTPRoute", 2, []),
    ],
)
def test_routes_with_several_rules(kind: str, rules: int, fields: list[str]) -> None:
    problems = contents(build.route(kind=kind, rules=[build.rule(SERVICE)] * rules), ENVOY)
    assert [(problem.field, problem.reason) for problem in problems] == [(field, "InvalidRule") for field in fields]


def test_what_no_profile_refuses() -> None:
    """Without a profile of the controller, without a parent, and at a parent that is no Gateway."""
    rules = [build.rule(SERVICE)] * 2
    assert contents(build.route(kind="TCPRoute", rules=rules), build.gateway_class()) == []
    for parents in ([], [build.service_parent()]):
        assert contents(build.route(kind="TCPRoute", rules=rules, parents=parents), ENVOY) == []


def test_parents_of_one_controller() -> None:
    """What it refuses is refused once."""
    parents = [build.parent(section="http"), build.parent(section="more")]
    assert len(contents(build.route(kind="TCPRoute", parents=parents, rules=[build.rule(SERVICE)] * 2), ENVOY)) == 1


@pytest.mark.parametrize(
    ("kind", "content", "refused"),
    [
        ("HTTPRoute", REDIRECT, True),
        ("HTTPRoute", HEADERS, False),
        ("HTTPRoute", {"type": "URLRewrite", "urlRewrite": {"hostname": "a.example"}}, False),
        ("GRPCRoute", {"type": "RequestMirror", "requestMirror": {"backendRef": SERVICE}}, True),
    ],
)
def test_filters_of_backends(kind: str, content: Mapping[str, Json], *, refused: bool) -> None:
    rule = build.rule({**SERVICE, "filters": [content]})
    problems = contents(build.route(kind=kind, rules=[rule]), ENVOY)
    fields = ["spec.rules[0].backendRefs[0].filters[0].type"] if refused else []
    assert [problem.field for problem in problems] == fields
    assert not is_refused(build.route(rules=[rule]).raw, problems)


@pytest.mark.parametrize(
    ("filters", "fields"),
    [
        ([extension("path"), REWRITE], ["urlRewrite.path"]),
        ([REWRITE, HEADERS, extension("path")], ["urlRewrite.path"]),
        ([extension("path"), extension("path")], ["urlRewrite.path"]),
        ([extension("host"), REWRITE], []),
        ([extension("absent"), REWRITE], []),
        ([extension("path", "Unknown"), REWRITE], []),
        # A response of the filter ends the list.
        ([extension("path"), extension("answer"), REWRITE], []),
    ],
)
def test_filters_that_a_rule_repeats(filters: list[Json], fields: list[str]) -> None:
    rules = [build.rule(SERVICE, filters=[extension("path")]), build.rule(SERVICE, filters=filters)]
    problems = contents(build.route(rules=rules), ENVOY)
    last = f"spec.rules[1].filters[{len(filters) - 1}]"
    messages = [f"{last} sets {field} a second time, and a rule can set it once" for field in fields]
    assert [problem.message for problem in problems] == messages
    assert {problem.field for problem in problems} <= {last}


def test_filters_of_which_one_is_named() -> None:
    """The objects that take part are related."""
    (problem,) = contents(build.route(rules=[build.rule(SERVICE, filters=[extension("path"), REWRITE])]), ENVOY)
    assert [obj.name for obj in problem.related] == ["path"]
    assert problem.reason == "UnsupportedValue"


@pytest.mark.parametrize(
    ("rules", "fields"),
    [
        ([build.rule(DYNAMIC, SERVICE)], ["spec.rules[0].backendRefs[0]"]),
        ([build.rule(SERVICE), build.rule(FIXED, DYNAMIC)], ["spec.rules[1].backendRefs[1]"]),
        ([build.rule(DYNAMIC), build.rule(SERVICE)], []),
        ([build.rule(DYNAMIC)], []),
        ([build.rule(FIXED, ABSENT, SERVICE)], []),
    ],
)
def test_backends_that_must_be_alone(rules: list[Mapping[str, Json]], fields: list[str]) -> None:
    problems = contents(build.route(rules=rules), ENVOY)
    assert [problem.field for problem in problems] == fields
    message = (
        "Backend default/dynamic, whose spec.type is DynamicResolver, cannot share the requests of a rule with other "
        "backends"
    )
    assert {problem.message for problem in problems} <= {message}


@pytest.mark.parametrize(
    ("rules", "fields", "refused"),
    [
        ([matching("/a;b")], ["spec.rules[0].matches[0].path.value"], True),
        ([matching("/a b"), matching("/c")], ["spec.rules[0].matches[0].path.value"], False),
        ([matching("/a", method="TRACE")], ["spec.rules[0].matches[0].method"], True),
        ([matching("/a", method="GET")], [], False),
        ([matching("${PATH}")], [], False),
    ],
)
def test_rules_that_are_left_out(rules: list[Mapping[str, Json]], fields: list[str], *, refused: bool) -> None:
    """The route is refused if no rule is left."""
    route = build.route(rules=rules)
    problems = contents(route, NGINX)
    assert [problem.field for problem in problems] == fields
    assert is_refused(route.raw, problems) is refused


@pytest.mark.parametrize(
    ("gateways", "target", "message"),
    [
        (
            ["g"],
            "r",
            "Gateway default/g does not accept HTTPRoute default/r: spec.rules[0].",
        ),
        (["g", "lenient"], "r", ""),
        (["g"], "absent", ""),
    ],
)
def test_policies_on_routes_that_are_refused(gateways: list[str], target: str, message: str) -> None:
    """Are refused as well where controllers ignore what is invalid, unless a Gateway is that of an unknown one."""
    reference = build.target(target, "HTTPRoute")
    policy = build.policy("p", reference, kind="ProxySettingsPolicy", group="gateway.nginx.org")
    route = build.route(parents=[build.parent(name) for name in gateways], rules=[matching("/a;b")])
    lenient = build.gateway("lenient", class_name="unread")
    analysis = analyze(build.snapshot(*CONTEXT, NGINX, lenient, route, policy))
    (attachment,) = analysis.attachments[policy.ref]
    assert (attachment.state == "target invalid") is bool(message)
    assert attachment.message.startswith(message)
