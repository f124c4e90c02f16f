"""What a picture says of policies: what controllers report, where they are, and on what they have an effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy import analyze, load_manifests
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.graph.drawing import graph
from tests import build
from tests.questions.graph.told import around, drawn

if TYPE_CHECKING:
    from kubectl_policy.model import Json, Resource

WORLD: Final = (build.gateway_class(), build.gateway(), build.gateway("other"), build.route(), build.service())


def reported(ancestor: str, status: str = "False") -> Resource:
    """A policy on a route, and what a controller says of it for a Gateway."""
    condition: dict[str, Json] = {"type": "Accepted", "status": status, "reason": "Invalid"}
    entry: dict[str, Json] = {
        "ancestorRef": {"group": GATEWAY_API, "kind": "Gateway", "name": ancestor},
        "controllerName": "example.com/gateway",
        "conditions": [condition],
    }
    spec: dict[str, Json] = {"targetRefs": [build.target("r", "HTTPRoute")], "color": "red"}
    return build.resource("ColorPolicy", "p", spec, group="example.com", status={"ancestors": [entry]})


def test_reports() -> None:
    """To the contrary is what a controller says for a target, or for what is above it."""
    assert drawn([*WORLD, reported("g", "True")]).policies[0].contrary is None
    assert drawn([*WORLD, reported("other")]).policies[0].contrary is None
    contrary = drawn([*WORLD, reported("g")]).policies[0].contrary
    assert contrary
    assert (contrary.reason, contrary.about) == ("Invalid", "Gateway g")
    near = drawn([*WORLD, reported("g")], around(build.ref("HTTPRoute", "r"))).policies[0]
    assert near.contrary == contrary


def test_where_they_were_read() -> None:
    """And what is known of their kinds."""
    policy = drawn([*WORLD, reported("g")]).policies[0]
    assert policy.origin == build.ORIGIN
    assert policy.profile.group_kind == policy.ref.group_kind


def test_what_they_affect() -> None:
    """The same as is told of what deleting them would change."""
    analysis = analyze(load_manifests("fixtures/bakery"))
    found = graph(analysis).policies
    assert len(found) == 11
    for policy in found:
        answer = blast_radius(analysis, policy.ref)
        assert (answer.affected, answer.targets, answer.enforcement) == (
            policy.affected,
            policy.targets,
            policy.enforcement,
        )
