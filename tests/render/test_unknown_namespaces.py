"""Namespaces that nothing states: no answer, in any format, shows the placeholder as if it were a name."""

from __future__ import annotations

from typing import Any, Final

import pytest

from kubectl_policy import PolicyKindProfile, TargetLevel, analyze
from kubectl_policy.model.kind_roles import HTTP_ROUTE
from kubectl_policy.model.refs import shown_namespace
from kubectl_policy.model.unknown import unknown_namespace
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.graph.picture import node_id
from kubectl_policy.questions.policy_rows import policy_row
from kubectl_policy.questions.why_not.answer import why_not
from kubectl_policy.render.output.encoding import plain
from tests import build
from tests.render.shown import document_of, headline, shown

HOME: Final = unknown_namespace("apps/net")
OTHER: Final = unknown_namespace("apps/web")
GATEWAY: Final = build.gateway("g", build.listener(allowedRoutes=build.allow()), namespace=HOME)
POLICY: Final = build.policy("p", build.ON_GATEWAY, namespace=HOME, colour="red")
ROUTE: Final = build.route(parents=[build.parent(namespace="net")], namespace=OTHER)
COLOURS: Final = PolicyKindProfile(
    POLICY.ref.group_kind, "inherited", "profile", effective_targets=(TargetLevel(HTTP_ROUTE),), stanzas="none"
)
WORLD: Final = build.snapshot(build.gateway_class(), GATEWAY, POLICY, ROUTE, build.service(namespace=OTHER))
ANALYSIS: Final = analyze(WORLD, profiles=[COLOURS])


def test_names() -> None:
    assert HOME == "?apps.net"
    assert (shown_namespace(HOME), shown_namespace("net"), shown_namespace("${NS}")) == ("<unknown>", "net", "${NS}")
    assert str(GATEWAY.ref) == "Gateway <unknown>/g"
    assert str(build.ref("Namespace", HOME, group="")) == "Namespace <unknown>"
    assert str(build.ref("Gateway", "?g")) == "Gateway default/?g"


def test_documents() -> None:
    """And of a Namespace, the name."""
    document: Any = plain(GATEWAY.ref)
    assert (document["namespace"], document["name"]) == ("<unknown>", "g")
    namespace: Any = plain(build.node("Namespace", HOME, group=""))
    assert (namespace["namespace"], namespace["name"]) == ("", "<unknown>")


def test_ids_differ() -> None:
    """Two objects of one name are two nodes of a picture."""
    assert node_id(GATEWAY.ref) == "Gateway.gateway.networking.k8s.io/unknown:apps.net/g"
    assert node_id(GATEWAY.ref) != node_id(build.ref("Gateway", "g", OTHER))


@pytest.mark.parametrize(
    "answer",
    [
        describe(ANALYSIS, build.node("Gateway", "g", namespace=HOME)),
        describe(ANALYSIS, build.node("HTTPRoute", "r", namespace=OTHER)),
        describe(ANALYSIS, build.node("Namespace", HOME, group="")),
        describe_policy(ANALYSIS, POLICY.ref),
        blast_radius(ANALYSIS, POLICY.ref),
        why_not(ANALYSIS, POLICY.ref, build.node("HTTPRoute", "r", namespace=OTHER)),
    ],
    ids=lambda answer: type(answer).__name__,
)
def test_answers(answer: Any) -> None:  # noqa: ANN401 (answers of several types)
    assert "<unknown>" in headline(answer)
    texts = [shown(answer, "tree"), str(document_of(answer))]
    assert [text for text in texts if HOME in text or OTHER in text] == []


def test_the_state_of_the_policy() -> None:
    """The Gateway may be the one that the route names."""
    row = policy_row(ANALYSIS, POLICY)
    assert (row.enforcement.state, row.reason) == (
        "Unknown",
        "whether HTTPRoute <unknown>/r is attached to listener http of Gateway <unknown>/g is not known",
    )
    remedies = {spot.reason: spot.remedy for spot in row.unseen}
    assert remedies["spec.parentRefs[0] of HTTPRoute <unknown>/r may name it"] == (
        "ask with --render, or name it in metadata.namespace"
    )
