"""What a description says around its settings: hostnames, causes, and what controllers say of policies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy import analyze
from kubectl_policy.model import Gap, Origin
from tests import build
from tests.render.worlds import about, defaults, world

if TYPE_CHECKING:
    from kubectl_policy.model import Json

GATEWAY_REF: Json = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "g"}


def reported(*conditions: dict[str, Json], ancestor: Json = None) -> Json:
    """The status of a policy: for an ancestor, or of its own."""
    if ancestor is None:
        return {"conditions": [*conditions]}
    return {"ancestors": [{"ancestorRef": ancestor, "controllerName": "c", "conditions": [*conditions]}]}


def condition(type_: str, status: str, reason: str = "", **more: Json) -> dict[str, Json]:
    """A condition."""
    return {"type": type_, "status": status, "reason": reason, "message": "because", **more}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (None, None),
        (reported(condition("Accepted", "True", "Accepted"), ancestor=GATEWAY_REF), None),
        (reported(condition("Accepted", "False", "Invalid"), ancestor=GATEWAY_REF), "Invalid"),
        (reported(condition("Accepted", "False", "Invalid"), ancestor={"name": "g"}), "Invalid"),
        (reported(condition("Accepted", "False", "Invalid"), ancestor={"name": "elsewhere"}), None),
        (reported(condition("Conflicted", "True", "Older")), "Older"),
        (reported(condition("Conflicted", "False"), condition("Enforced", "False", "Unknown")), "Unknown"),
    ],
)
def test_what_a_controller_says_to_the_contrary(status: Json, expected: str | None) -> None:
    """Of the policy as a whole, or for something that is on the paths of the object."""
    spec: dict[str, Json] = {"targetRefs": [build.target("r", "HTTPRoute")], "color": "red"}
    policy = build.resource("ColorPolicy", "p", spec, group="example.com", status=status)
    (source,) = about(world(policy), "HTTPRoute", "r").sources
    assert (source.policy, source.contrary and source.contrary.reason) == (policy.ref, expected)


@pytest.mark.parametrize(("name", "expected"), [("p", "a patch"), ("q", "")])
def test_what_may_not_be_as_it_was_read(name: str, expected: str) -> None:
    """A policy that something patches, and no other."""
    policy = build.resource(
        "ColorPolicy", "p", {"targetRefs": [build.target("r", "HTTPRoute")], "color": "red"}, group="example.com"
    )
    gap = Gap("ColorPolicy", "default", "a patch", Origin("patch.yaml", 1), name=name)
    (source,) = about(world(policy, gaps=[gap]), "HTTPRoute", "r").sources
    assert source.otherwise == expected


def test_a_route_has_the_hostnames_that_its_listeners_take() -> None:
    """Without any of its own those of the listeners; of a Gateway these are told, and of a Service none."""
    narrow = build.gateway("g", build.listener("a", hostname="*.example.com"), build.listener("b", port=81))
    named = world(narrow, build.route("q", hostnames=["x.example.com"], parents=[build.parent("g", "a")]))
    assert about(named, "HTTPRoute", "q").requests.hostnames == ("x.example.com",)
    assert about(named, "HTTPRoute", "r").requests.hostnames == ("*",)
    assert about(named, "Gateway", "g", "a").requests.hostnames == ("*.example.com",)
    assert about(named, "Service", "s").requests.hostnames == ()
    assert (about(named, "Gateway", "g").requests.routes, about(named, "Gateway", "g", "b").requests.routes) == (2, 1)


def test_why_each_parent_leads_nowhere() -> None:
    """By which field, and what may have been meant; nothing is said of a route that is attached to anything."""
    parents = [build.parent("gg"), build.parent("g", "htps"), build.parent("g", "http", port=81)]
    shut = build.gateway("shut", build.listener(allowedRoutes=build.allow("None")))
    lost = about(
        world(shut, build.route("q", parents=[*parents, build.parent("shut")])), "HTTPRoute", "q"
    ).requests.unattached
    assert [(cause.field, cause.hint, cause.reason) for cause in lost] == [
        ("spec.parentRefs[0].name", "did you mean g?", "NoMatchingParent"),
        ("spec.parentRefs[1].sectionName", "did you mean https, http?", "NoMatchingParent"),
        ("spec.parentRefs[2]", "", "NoMatchingParent"),
        ("spec.parentRefs[3]", "", "NotAllowedByListeners"),
    ]
    assert {str(cause.origin) for cause in lost} == {"test.yaml:1"}
    assert about(world(), "HTTPRoute", "r").requests.unattached == ()
    some = about(world(build.route("q", parents=[build.parent(), *parents])), "HTTPRoute", "q")
    assert (some.requests.carries_traffic, some.requests.unattached) == (True, ())


def test_what_policies_say_that_were_not_read() -> None:
    """A source may be the object itself, which is not a policy."""
    found = about(world(defaults("p", build.target("r", "HTTPRoute"), a=1)), "HTTPRoute", "r")
    assert [str(each.policy) for each in found.sources] == ["ColorPolicy default/p"]
    assert about(analyze(build.snapshot(build.gateway())), "Gateway", "g").sources == ()
