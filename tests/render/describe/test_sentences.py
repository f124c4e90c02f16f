"""Sentences of descriptions that say a thing once, and say what it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy import GroupKind, NodeRef, analyze
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.render.output.text import View
from tests import build
from tests.render.shown import shown

if TYPE_CHECKING:
    from kubectl_policy.model import Json, Resource

ENVOY: Final = build.gateway_class("public", "gateway.envoyproxy.io/gatewayclass-controller")
SECURITY: Final = GroupKind("gateway.envoyproxy.io", "SecurityPolicy")
CORS: Final[Json] = {"allowOrigins": ["https://a.example"]}


def security(name: str, age: int, *targets: Json) -> Resource:
    return build.resource(
        SECURITY.kind, name, {"targetRefs": list(targets), "cors": CORS}, group=SECURITY.group, age=age
    )


def described(subject: Resource, *resources: Resource) -> str:
    analysis = analyze(build.snapshot(ENVOY, subject, *resources, complete=True))
    return " ".join(shown(describe(analysis, NodeRef(subject.ref)), "tree", View()).split())


def test_a_policy_that_loses_in_two_ways_is_named_once() -> None:
    """By one of its targets it is replaced, by the other one refused."""
    whole, section = build.target("g"), build.target("g", section="http")
    text = described(
        build.route("r"),
        build.service(),
        build.gateway(),
        security("own", 1, section),
        security("both", 2, whole, section),
    )
    assert "default/own → Gateway default/g, listener http, replaces default/both" in text
    assert "is refused" not in text.partition("SecurityPolicy default/own")[0]


def test_what_holds_on_all_paths_has_a_heading_beside_others() -> None:
    rules = [
        build.rule(build.backend(), filters=[{"type": "ResponseHeaderModifier", "responseHeaderModifier": headers}])
        for headers in ({"remove": ["a"]}, {"remove": ["a", "b"]})
    ]
    policy = security("own", 1, build.target("r", "HTTPRoute"))
    text = described(build.service(), build.gateway(), build.route("r", rules=rules), policy)
    assert "rule[1] HTTPRoute default/r itself response headers changed all paths SecurityPolicy CORS" in text
