"""Policies that send requests of their own to a backend: who asks it, and what deleting it does to them."""

from __future__ import annotations

from typing import Any, Final

from kubectl_policy import Analysis, PolicyKindProfile
from kubectl_policy.model import GroupKind, Json, Resource
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from tests.build import backend, gateway, grant, node, policy, ref, route, rule, service, target
from tests.questions.build import analyzed
from tests.render.schema import VALIDATOR
from tests.render.shown import document_of, headline, shown

AUTH: Final = GroupKind("example.com", "AuthPolicy")
ASKS: Final = PolicyKindProfile(
    AUTH, "inherited", "profile", backend_fields=("spec.check.backendRefs", "spec.keys.from"), stanzas="none"
)
AUTHZ: Final = ref("Service", "authz", "auth", group="")


def asking(*backends: Json, namespace: str = "auth", to: str = "g", **spec: Json) -> Resource:
    fields: dict[str, Json] = {"check": {"backendRefs": list(backends)}, **spec}
    return policy("p", target(to), kind="AuthPolicy", namespace=namespace, **fields)  # type: ignore[arg-type]


def world(*objects: Resource, complete: bool = True) -> Analysis:
    """A Gateway in the namespace of the authorizer, with others."""
    there = (gateway(namespace="auth"), service("authz", namespace="auth"))
    return analyzed(*there, *objects, complete=complete, profiles=[ASKS])


class TestWhoAsks:
    def test_describe(self) -> None:
        analysis = world(asking(backend("authz"), keys=[{"from": {"name": "authz"}}]))
        described = describe(analysis, node("Service", "authz", namespace="auth", group=""))
        assert [(call.policy.name, call.field) for call in described.mentions.called_by] == [
            ("p", "spec.check.backendRefs[0]"),
            ("p", "spec.keys[0].from"),
        ]
        text = shown(described, "tree")
        assert "Referred to by" in text
        assert "AuthPolicy auth/p refers to it (spec.check.backendRefs[0]); without it, the requests that the" in text
        assert "Nothing that was read leads to it" not in text
        VALIDATOR.validate(document_of(described))

    def test_blast_radius(self) -> None:
        found = asking(backend("authz"))
        answer = blast_radius(world(found), AUTHZ)
        assert [call.policy for call in answer.called_by] == [found.ref]
        (problem,) = answer.difference.problems.introduced
        assert (problem.subject, problem.rule, problem.field) == (
            found.ref,
            "missing-reference",
            "spec.check.backendRefs[0]",
        )
        assert answer.counts.total == 1
        assert "introduces 1 problem" in headline(answer)
        assert "AuthPolicy auth/p refers to it (spec.check.backendRefs[0])" in shown(answer, "tree")
        document: Any = document_of(answer)
        VALIDATOR.validate(document)
        assert document["calledBy"][0]["policy"]["name"] == "p"

    def test_the_backend_of_a_namespace(self) -> None:
        elsewhere = policy(
            "away",
            target("g", namespace="auth"),
            kind="AuthPolicy",
            check={"backendRefs": [backend("authz", namespace="auth")]},
        )
        to_auth = grant(
            namespace="auth",
            sources=(("example.com", "AuthPolicy", "default"),),
            targets=(("", "Service"), ("gateway.networking.k8s.io", "Gateway")),
        )
        answer = blast_radius(world(asking(backend("authz")), elsewhere, to_auth), ref("Namespace", "auth", group=""))
        assert [call.policy.name for call in answer.called_by] == ["away"]

    def test_nobody(self) -> None:
        for found in (asking(), asking(backend("authz"), to="ghost")):
            described = describe(world(found), node("Service", "authz", namespace="auth", group=""))
            assert described.mentions.called_by == ()
            assert "Referred to by" not in shown(described, "tree")


class TestBroken:
    def test_missing(self) -> None:
        found = asking(backend("ghost"), {"group": "", "kind": "Service"})
        (problem,) = describe_policy(world(found), found.ref).problems
        assert problem.message == ("AuthPolicy auth/p: spec.check.backendRefs[0]: Service auth/ghost does not exist")

    def test_what_is_not_in_the_input_is_none(self) -> None:
        found = asking(backend("ghost", namespace="other"))
        assert not [each for each in world(found, complete=False).problems_of(found.ref) if each.severity == "error"]

    def test_without_a_grant(self) -> None:
        to_s = grant(namespace="other", sources=(("example.com", "AuthPolicy", "auth"),))
        found = asking(backend("s", namespace="other"))
        analysis = world(found, service("s", namespace="other"), to_s)
        assert analysis.problems_of(found.ref) == ()
        (problem,) = blast_radius(analysis, to_s.ref).difference.problems.introduced
        assert (problem.subject, problem.rule, problem.reason) == (
            found.ref,
            "reference-not-permitted",
            "RefNotPermitted",
        )


def test_a_route_leads_there_as_well() -> None:
    to = route(rules=[rule(backend("authz"))], namespace="auth")
    described = describe(world(to, asking(backend("authz"))), node("Service", "authz", namespace="auth", group=""))
    assert described.policies
    assert described.mentions.called_by
