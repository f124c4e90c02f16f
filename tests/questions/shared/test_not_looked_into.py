"""Objects of kinds which nothing is known of, that routes and Gateways name: answers name them as not looked into."""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from kubectl_policy import Analysis, PolicyKindProfile, what_if
from kubectl_policy.model import GroupKind, Json, NodeRef, Resource
from kubectl_policy.model.kind_roles import HTTP_ROUTE
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.diff import diff
from tests.build import backend, gateway, gateway_class, names, node, resource, route, rule, service
from tests.questions.build import analyzed
from tests.render.schema import VALIDATOR
from tests.render.shown import document_of, shown

COLOR: Final = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "profile")
MAGIC: Final = resource("Magic", "m", {"answer": 503}, group="example.com")
RULE: Final = rule(backend(filters=[names("b", "Magic")]), name="a", filters=[names("m", "Magic")])
TWICE: Final = rule(backend(), name="b", filters=[names("m", "Magic"), {"type": "RequestHeaderModifier"}])


def world(*objects: Resource, complete: bool = False, profile: PolicyKindProfile = COLOR) -> Analysis:
    there = (gateway(), service(), route(rules=[RULE, TWICE]))
    return analyzed(*there, *objects, complete=complete, profiles=[profile])


def test_the_route_says_all_of_them() -> None:
    described = describe(world(MAGIC), node("HTTPRoute", "r"))
    assert [(each.object.name, each.field) for each in described.influences.not_looked_into] == [
        ("m", "spec.rules[0].filters[0].extensionRef"),
        ("b", "spec.rules[0].backendRefs[0].filters[0].extensionRef"),
        ("m", "spec.rules[1].filters[0].extensionRef"),
    ]
    text = " ".join(shown(described, "tree").split())
    places = "spec.rules[0].filters[0].extensionRef, spec.rules[1].filters[0].extensionRef"
    rules = "a filter of HTTPRoute default/r, rule a and a filter of HTTPRoute default/r, rule b"
    assert f"Not looked into Magic default/m (test.yaml:1): {rules} ({places}) Magic default/b: a filter of" in text
    document: Any = document_of(described)
    VALIDATOR.validate(document)
    assert [each["object"]["name"] for each in document["filters"]] == ["m", "b", "m"]


def test_a_rule_says_its_own() -> None:
    for section, expected in (("a", ["m", "b"]), ("b", ["m"])):
        described = describe(world(MAGIC), node("HTTPRoute", "r", section))
        assert [each.object.name for each in described.influences.not_looked_into] == expected


def test_what_is_behind_a_rule_says_those_of_the_rule() -> None:
    """All requests go through them, and through those of its own backendRef; a Gateway has nothing of them."""
    described = describe(world(MAGIC), node("Service", "s", group=""))
    assert [each.object.name for each in described.influences.not_looked_into] == ["m", "b", "m"]
    assert describe(world(MAGIC), node("Gateway", "g")).influences.not_looked_into == ()


def test_backends() -> None:
    bucket = resource("Bucket", "b", {}, group="example.com")
    there = route(rules=[rule(backend(), backend("b", None, kind="Bucket", group="example.com"), name="a")])
    for subject in (node("HTTPRoute", "r"), bucket.ref):
        analysis = analyzed(gateway(), service(), there, bucket, complete=True)
        named = subject if isinstance(subject, NodeRef) else NodeRef(subject)
        (found,) = describe(analysis, named).influences.not_looked_into
        assert (found.object, found.as_, found.by) == (bucket.ref, "backend", node("HTTPRoute", "r", "a"))
        assert (found.field, found.origin) == ("spec.rules[0].backendRefs[1]", bucket.origin)
    other = describe(analyzed(gateway(), service(), there, bucket), node("Service", "s", group=""))
    assert other.influences.not_looked_into == ()


class TestParameters:
    REFERENCE: Final[dict[str, Json]] = {"group": "", "kind": "ConfigMap", "name": "c"}
    MAP: Final = resource("ConfigMap", "c", group="", data={"a": "1"})
    GATEWAY: Final = gateway(infrastructure={"parametersRef": REFERENCE})

    def test_they_are_named_with_what_is_behind_them(self) -> None:
        of_class = gateway_class(parametersRef={**self.REFERENCE, "name": "d", "namespace": "infra"})
        analysis = analyzed(of_class, self.GATEWAY, self.MAP, route(), service())
        for subject in (node("Gateway", "g"), node("HTTPRoute", "r"), node("Service", "s", group="")):
            found = describe(analysis, subject).influences.not_looked_into
            assert [(each.as_, str(each.object), each.by.object.kind, each.field) for each in found] == [
                ("parameters", "ConfigMap default/c", "Gateway", "spec.infrastructure.parametersRef"),
                ("parameters", "ConfigMap infra/d", "GatewayClass", "spec.parametersRef"),
            ]
            text = " ".join(shown(describe(analysis, subject), "tree").split())
            assert "ConfigMap default/c (test.yaml:1): the parameters of Gateway default/g (" in text

    def test_what_differs_in_them_may_change_anything(self) -> None:
        analysis = analyzed(self.GATEWAY, self.MAP, complete=True)
        changed = resource("ConfigMap", "c", group="", data={"a": "2"})
        (unseen,) = diff(what_if(analysis, applied=[changed])).unseen
        assert (
            unseen.reason == "it is the parameters of Gateway default/g, and what a ConfigMap does is not looked into"
        )

    def test_those_of_a_class(self) -> None:
        of_class = gateway_class(parametersRef={**self.REFERENCE, "namespace": "infra"})
        for complete, rule_of in ((True, "missing-reference"), (False, "unknown-reference")):
            problems = analyzed(of_class, complete=complete).problems_of(of_class.ref)
            assert [problem.rule for problem in problems] == [rule_of]

    def test_missing_ones(self) -> None:
        described = describe(analyzed(self.GATEWAY, complete=True), node("Gateway", "g"))
        assert described.influences.not_looked_into == ()
        (problem,) = [each for each in described.problems if "ConfigMap" in each.message]
        assert (problem.rule, problem.severity, problem.reason) == ("missing-reference", "error", "InvalidParameters")


def test_what_is_missing_does_nothing() -> None:
    described = describe(world(complete=True), node("HTTPRoute", "r", "b"))
    assert described.influences.not_looked_into == ()
    assert {problem.rule for problem in described.problems if "Magic" in problem.message} == {"missing-reference"}


def test_kinds_that_are_known() -> None:
    magic = PolicyKindProfile(GroupKind("example.com", "Magic"), "inherited", "profile")
    for profile in (magic, replace(magic, filter_routes=frozenset({HTTP_ROUTE}))):
        assert describe(world(MAGIC, profile=profile), node("HTTPRoute", "r")).influences.not_looked_into == ()


class TestChanges:
    def test_an_object_that_differs(self) -> None:
        changed = resource("Magic", "m", {"answer": 200}, group="example.com")
        (unseen,) = diff(what_if(world(MAGIC, complete=True), applied=[changed])).unseen
        assert unseen.what == "what differs in Magic default/m"
        assert unseen.reason == "filters of HTTPRoute default/r name it, and what a Magic does is not looked into"

    def test_one_that_no_filter_names(self) -> None:
        other, changed = (resource("Magic", "x", {"answer": answer}, group="example.com") for answer in (1, 2))
        assert diff(what_if(world(MAGIC, other, complete=True), applied=[changed])).unseen == ()

    def test_a_backend_that_differs(self) -> None:
        bucket, changed = (resource("Bucket", "b", {"size": size}, group="example.com") for size in (1, 2))
        there = route(rules=[rule(backend("b", None, kind="Bucket", group="example.com"))])
        (unseen,) = diff(what_if(analyzed(gateway(), there, bucket, complete=True), applied=[changed])).unseen
        reason = "HTTPRoute default/r may send requests to it, and what a Bucket does is not looked into"
        assert unseen.reason == reason

    def test_one_that_is_deleted(self) -> None:
        answer = blast_radius(world(MAGIC, complete=True), MAGIC.ref)
        assert answer.difference.unseen == ()
        assert {problem.rule for problem in answer.difference.problems.introduced} == {"missing-reference"}
