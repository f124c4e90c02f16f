"""Descriptions of policies, and of the requests and policies around an object."""

from __future__ import annotations

import pytest

from kubectl_policy import GroupKind, ObjectRef, PolicyKindProfile, TargetLevel, analyze
from kubectl_policy.errors import NotFoundError
from kubectl_policy.model import Gap, Json, Origin
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.describe.policies import describe_policy
from tests import build
from tests.render.worlds import about, about_policy, colourful, defaults, world


def test_what_is_no_policy_has_no_answer() -> None:
    analysis = world(build.policy("p", build.target("g"), a=1))
    with pytest.raises(KeyError):
        describe_policy(analysis, build.ref("Gateway", "g"))
    with pytest.raises(NotFoundError, match="ColorPolicy default/gone is not in the input"):
        describe_policy(analysis, build.ref("ColorPolicy", "gone", group="example.com"))


def test_each_field_has_its_fate_on_every_path() -> None:
    """Base sets three fields; one gives way to an override on listener https, and to the route's own policy on http."""
    answer = about_policy(colourful(), "base")
    assert answer.enforcement.state == "PartiallyEnforced"
    assert [path[3].section for path in answer.paths] == ["http", "https"]
    fates = {
        field.field: (
            field.value,
            field.effective_on,
            [(winner.by.object.name, winner.positions) for winner in field.superseded],
        )
        for field in answer.fields
    }
    assert fates == {
        "color": ("red", (), [("own", (0,)), ("strict", (1,))]),
        "shade.dark": (True, (0, 1), []),
        "shade.list": ([1, 2], (0, 1), []),
    }
    assert [str(node) for node in answer.affected] == ["Gateway default/g", "HTTPRoute default/r", "Service default/s"]


def test_what_is_affected_begins_at_the_target() -> None:
    """With a section of it, or at the levels that a profile names; what is of no kind of the hierarchy comes last."""
    on_listener = about_policy(colourful(), "strict")
    assert [str(node) for node in on_listener.affected] == [
        "Gateway default/g#https",
        "HTTPRoute default/r",
        "Service default/s",
    ]
    kind = GroupKind("example.com", "ColorPolicy")
    at_rules = TargetLevel(GroupKind(GATEWAY_API, "HTTPRoute"), section=True)
    profile = PolicyKindProfile(kind, "inherited", "profile", effective_targets=(at_rules,))
    pool = build.resource("Pool", "x", group="example.net")
    to_pool = build.rule(build.backend("x", None, kind="Pool", group="example.net"), build.backend("s"))
    route = build.route("r", rules=[to_pool])
    objects = (build.gateway("g"), route, build.service("s"), pool, build.policy("p", build.target("g"), a=1))
    for profiles, expected in (
        ((), ["Gateway default/g", "HTTPRoute default/r", "Service default/s", "Pool default/x"]),
        ((profile,), ["HTTPRoute default/r#rule[0]"]),
    ):
        analysis = analyze(build.snapshot(*objects), profiles=profiles)
        affected = describe_policy(analysis, ObjectRef(kind, "default", "p")).affected
        assert [str(node) for node in affected] == expected


def test_a_refused_policy_has_rejected_fields() -> None:
    answer = about_policy(colourful(), "second", "LimitPolicy")
    assert (answer.enforcement.state, answer.affected) == ("Conflicted", ())
    assert [field.rejected for field in answer.fields] == [True, True]
    assert [strategy.value for strategy in answer.strategies] == ["None"]


def test_nothing_below_a_target_may_be_for_want_of_input() -> None:
    empty = build.policy("p", build.target("empty", "Namespace", group=""), age=1, a=1)
    elsewhere = build.resource("ConfigMap", "x", group="", namespace="empty")
    answer = about_policy(world(empty, elsewhere), "p")
    assert (answer.enforcement.state, [(unseen.what, unseen.reason) for unseen in answer.unseen]) == (
        "NoEffect",
        [("what is below Namespace empty", "nothing of it was read")],
    )
    assert about_policy(world(empty, elsewhere, complete=True), "p").unseen == ()
    orphan = build.route("orphan", parents=[])
    on_orphan = build.policy("p", build.target("orphan", "HTTPRoute"), build.target("gone", "HTTPRoute"), age=1, a=1)
    answer = about_policy(world(orphan, on_orphan), "p")
    assert (answer.enforcement.state, answer.unseen) == ("NoEffect", ())


def test_a_policy_without_target_has_neither_paths_nor_fields() -> None:
    answer = about_policy(colourful(), "lost")
    assert (answer.paths, answer.fields) == ((), ())
    assert [attachment.state for attachment in answer.targets] == ["target missing"]
    assert [found.rule for found in answer.problems] == ["target-missing"]


GATEWAY_REF: Json = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "g"}


def reported(*conditions: dict[str, Json], ancestor: Json = None) -> Json:
    """The status of a policy: for an ancestor, or of its own."""
    if ancestor is None:
        return {"conditions": [*conditions]}
    return {"ancestors": [{"ancestorRef": ancestor, "controllerName": "c", "conditions": [*conditions]}]}


def condition(type_: str, status: str, reason: str = "", **more: Json) -> dict[str, Json]:
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
    spec: dict[str, Json] = {"targetRefs": [build.target("r", "HTTPRoute")], "color": "red"}
    policy = build.resource("ColorPolicy", "p", spec, group="example.com", status=status)
    (source,) = about(world(policy), "HTTPRoute", "r").sources
    assert (source.policy, source.contrary and source.contrary.reason) == (policy.ref, expected)


@pytest.mark.parametrize(("name", "expected"), [("p", "a patch"), ("q", "")])
def test_what_may_not_be_as_it_was_read(name: str, expected: str) -> None:
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
    found = about(world(defaults("p", build.target("r", "HTTPRoute"), a=1)), "HTTPRoute", "r")
    assert [str(each.policy) for each in found.sources] == ["ColorPolicy default/p"]
    assert about(analyze(build.snapshot(build.gateway())), "Gateway", "g").sources == ()
