"""Tests of `describe`, for objects and for policies."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import ObjectRef, PolicyKindProfile, TargetLevel
from kubectl_policy.errors import NotFoundError, UsageError
from kubectl_policy.model import Diagnostic, Gap, GroupKind, Json, NodeRef, Origin, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles.needs import RequiredParameter
from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
from kubectl_policy.questions.describe.description import Descriptions, Focus, focus_on
from kubectl_policy.questions.describe.objects import NotApplying, ObjectDescription, describe, narrowed, not_applying
from kubectl_policy.questions.describe.policies import describe_policy
from tests import build
from tests.questions.build import COLOR, analyzed, color_kind, settings
from tests.render.shown import headline, shown
from tests.render.worlds import about, about_policy, colourful, defaults, world


def test_a_section_that_is_not_there_has_no_answer() -> None:
    with pytest.raises(NotFoundError) as error:
        describe(world(), build.node("Gateway", "g", "nope"))
    assert (error.value.message, error.value.hint) == ("Gateway default/g has no section nope", "it has http, https")
    with pytest.raises(NotFoundError) as error:
        describe(world(), build.node("GatewayClass", "public", "nope"))
    assert error.value.hint == "it has no sections"


def test_what_is_in_force_is_grouped_where_it_is_the_same() -> None:
    """Base on both paths; its color gives way to own on listener http and to strict, an override, on https."""
    answer = about(colourful(), "HTTPRoute", "r")
    color = [group for group in answer.in_force if group.kind.kind == "ColorPolicy"]
    assert [(group.extent.positions, [(s.field, s.value) for s in group.settings]) for group in color] == [
        ((0,), [("color", "blue"), ("shade.dark", True), ("shade.list", [1, 2])]),
        ((1,), [("color", "black"), ("shade.dark", True), ("shade.list", [1, 2])]),
    ]
    superseded = [[fate.source.object.name for fate in group.settings[0].instead_of] for group in color]
    assert superseded == [["base"], ["base", "own"]]
    assert [policy.name for policy in answer.policies] == ["base", "own", "strict", "first"]
    assert [policy.name for policy in answer.targeting.attached] == ["own"]
    assert [kind.kind for kind in answer.targeting.targeted_by] == ["ColorPolicy"]


def test_the_sections_of_a_gateway_are_its_paths() -> None:
    """The Namespace's policy is in force on both, one on a listener there alone; a listener alone has one path."""
    answer = about(colourful(), "Gateway", "g")
    assert [path[-1].section for path in answer.paths] == ["http", "https"]
    named = [(group.extent.positions, [policy.name for policy in group.policies]) for group in answer.in_force]
    assert named == [((0,), ["base"]), ((1,), ["base", "strict"])]
    assert len(about(colourful(), "Gateway", "g", "https").paths) == 1


def test_a_port_counts_if_something_leads_to_it() -> None:
    ports = build.service("s", 8080, 9090)
    assert {path[-1].section for path in about(world(ports), "Service", "s").paths} == {"8080"}
    on_port = defaults("p", build.target("s", "Service", "9090", group=""), a=1)
    assert {path[-1].section for path in about(world(ports, on_port), "Service", "s").paths} == {"8080", "9090"}
    alone = about(world(build.service("alone", 1, 2)), "Service", "alone")
    assert [str(path[-1]) for path in alone.paths] == ["Service default/alone"]


def test_an_object_that_was_not_read_can_be_asked_about() -> None:
    """A GatewayClass is often not among the manifests; policies may be attached to it all the same."""
    answer = about(world(build.gateway("other", class_name="elsewhere")), "GatewayClass", "elsewhere")
    assert (answer.origin, answer.reports.reported, answer.policies) == (None, (), ())


def test_what_does_not_apply_has_its_reason() -> None:
    """A listener that refuses the route, by the policies on it; a direct policy above; a reference that fails."""
    refusing = build.listener("admin", port=81, hostname="admin.example.com")
    analysis = world(
        build.gateway("far", refusing),
        build.route("q", parents=[build.parent("far"), build.parent("g")], hostnames=["example.com"]),
        defaults("escaped", build.target("far", "Gateway", "admin"), a=1),
        build.policy("direct", build.ON_GATEWAY, kind="LimitPolicy", limit=1),
        defaults("lost", build.target("q", "HTTPRoute", "nope"), a=1),
        defaults("far-away", build.target("q", "HTTPRoute", namespace="x"), a=1),
    )
    found = about(analysis, "HTTPRoute", "q").not_applying
    color, limit = (build.ref(kind, "", group="example.com") for kind in ("ColorPolicy", "LimitPolicy"))
    assert found == (
        NotApplying(
            policy=replace(color, name="escaped"),
            target=build.node("Gateway", "far", "admin"),
            message="hostname example.com does not match admin.example.com of listener admin of Gateway default/far",
            reason="NoMatchingListenerHostname",
        ),
        NotApplying(
            policy=replace(limit, name="direct"),
            target=build.node("Gateway", "g"),
            message="LimitPolicy is a direct policy: it applies only to its target, not to what is below it",
        ),
        NotApplying(
            policy=replace(color, name="lost"),
            target=build.node("HTTPRoute", "q", "nope"),
            message="HTTPRoute default/q has no section nope; it has rule[0]",
            reason="TargetNotFound",
        ),
    )


def test_a_refusal_without_policies_is_told_as_well() -> None:
    """It may be why a route gets no traffic; a reference that is not permitted has no reason of the API's own."""
    analysis = world(
        build.route("q", parents=[build.parent("g", "nope")]),
        build.policy("p", build.target("q", "HTTPRoute", namespace="default"), namespace="x", defaults={"a": 1}),
    )
    refused, denied = about(analysis, "HTTPRoute", "q").not_applying
    assert (refused.policy, refused.target, refused.reason) == (None, build.node("Gateway", "g"), "NoMatchingParent")
    assert (denied.reason, denied.message.startswith("no ReferenceGrant in namespace default")) == ("", True)


def test_what_could_not_be_seen_is_said() -> None:
    gaps = [Gap("RetryPolicy", "infra", "forbidden"), Gap("", "", "not text")]
    analysis = world(build.route("q", parents=[build.parent("x", namespace="far")]), gaps=gaps)
    assert about(analysis, "HTTPRoute", "q").unseen == (
        BlindSpot(what="RetryPolicy in namespace infra", reason="forbidden", remedy="fix or leave out this input"),
        BlindSpot(what="objects of any kind", reason="not text", remedy="fix or leave out this input"),
        BlindSpot(
            what="Gateway far/x", reason="Gateway far/x is not in the input", remedy="add the manifest that contains it"
        ),
    )


def test_problems_are_those_that_concern_the_subject() -> None:
    """Its own, those of policies on its paths, and of routes that cannot reach it; not those of others."""
    analysis = world(
        build.route("q", rules=[build.rule(build.backend("gone"))]),
        build.route("far", namespace="far", parents=[], rules=[build.rule(build.backend("s", namespace="default"))]),
        defaults("half", build.ON_GATEWAY, build.target("g", "Gateway", "nope"), a=1),
        complete=True,
    )
    about_r = about(analysis, "HTTPRoute", "r").problems
    assert [(found.rule, str(found.subject)) for found in about_r] == [("section-missing", "ColorPolicy default/half")]
    about_q = about(analysis, "HTTPRoute", "q").problems
    assert [found.rule for found in about_q] == ["missing-reference", "section-missing"]


def test_parents_of_routes_on_the_way_may_be_unseen() -> None:
    """A Service cannot be seen through a Gateway that was not read; its answer is as incomplete as its route's."""
    answer = about(world(build.route("r", parents=[build.parent("x", namespace="far")])), "Service", "s")
    unseen = BlindSpot(
        what="Gateway far/x", reason="Gateway far/x is not in the input", remedy="add the manifest that contains it"
    )
    assert answer.unseen == (unseen,)


def test_a_target_on_the_way_may_be_unseen() -> None:
    """Whether a policy attaches to a GatewayClass that was not read is unknown, so it may apply below."""
    objects = (
        build.gateway("other", class_name="unread"),
        defaults("maybe", build.target("unread", "GatewayClass"), a=1),
        defaults("half", build.target("other"), build.target("x", "TLSRoute"), a=1),
        build.policy("by-labels", {"group": "", "kind": "Pod", "selector": {}}, age=1, a=1),
    )
    analysis = analyzed(*objects)
    unread = BlindSpot(
        what="GatewayClass unread",
        reason="ColorPolicy default/maybe targets it, and GatewayClass unread is not in the input",
        remedy="add the manifest that contains it",
    )
    answer = about(analysis, "Gateway", "other")
    assert (answer.unseen, answer.not_applying) == ((unread,), ())
    assert about(analysis, "GatewayClass", "unread").unseen == (unread,)
    assert [found.what for found in about_policy(analysis, "half").unseen] == ["TLSRoute default/x"]
    assert about_policy(analysis, "maybe").unseen == (unread,)
    assert [found.what for found in about_policy(analysis, "by-labels").unseen] == [
        "what ColorPolicy default/by-labels selects"
    ]


SWITCHED: Final = color_kind(
    "inherited", strategy=None, enabled_by=RequiredParameter(GroupKind("example.com", "Settings"), "colours.enable")
)
PARAMETERS: Final[Json] = {"parametersRef": {"group": "example.com", "kind": "Settings", "name": "s"}}
ROUTE: Final = build.node("HTTPRoute", "r")
P: Final = build.policy("p", build.ON_ROUTE, age=1, color="red")
WORLD: Final = (
    build.gateway_class(),
    build.gateway("free"),
    build.gateway("mute", infrastructure=PARAMETERS),
    build.route("r", parents=[build.parent("free"), build.parent("mute")]),
    build.service(),
    build.namespace("default"),
)


def found(
    *objects: Resource, at: NodeRef = ROUTE, profile: PolicyKindProfile = SWITCHED, complete: bool = True
) -> tuple[NotApplying, ...]:
    """What does not apply in a world with two Gateways and these objects."""
    analysis = analyzed(*WORLD, *objects, complete=complete, profiles=[profile])
    return not_applying(analysis, at, analysis.topology.paths(at))


def test_a_gateway_that_does_not_let_the_kind_be_used() -> None:
    why = (
        "not through Gateway default/mute, since spec.colours.enable is false in Settings default/s of "
        "Gateway default/mute"
    )
    assert found(P, settings(enable=False)) == (NotApplying(policy=P.ref, target=ROUTE, message=why),)
    service = build.node("Service", "s", group="")
    assert found(P, settings(enable=False), at=service) == (NotApplying(policy=P.ref, target=ROUTE, message=why),)


def test_a_gateway_that_does() -> None:
    assert found(P, settings(enable=True)) == ()
    assert found(P, complete=False) == ()
    assert found(P, settings(enable=False), profile=replace(SWITCHED, enabled_by=None)) == ()


def test_a_path_without_such_a_gateway() -> None:
    assert found(P, settings(enable=False), at=build.node("Gateway", "free")) == ()


def test_a_policy_that_is_not_enabled_anywhere() -> None:
    on_gateway = build.policy("p", build.target("mute"), age=1, color="red")
    mute = build.node("Gateway", "mute")
    message = "spec.colours.enable is false in Settings default/s of Gateway default/mute"
    assert found(on_gateway, settings(enable=False), at=mute) == (
        NotApplying(policy=on_gateway.ref, target=mute, message=message),
    )


LIMIT: Final = GroupKind("example.com", "LimitPolicy")


def test_words_for_kinds_are_those_of_people() -> None:
    """Any name of a kind, several with commas; of what is no policy kind there is nothing to see."""
    analysis = colourful()
    assert focus_on(analysis, (), ()) == Focus()
    assert focus_on(analysis, ["colorpolicy,LimitPolicy", "ColorPolicy"], ["spec.a.,b"]) == Focus(
        kinds=(COLOR, LIMIT), fields=("a", "b")
    )
    with pytest.raises(UsageError) as error:
        focus_on(analysis, ["httproute"], ())
    assert (error.value.message, error.value.hint) == ("HTTPRoute is not a policy kind", "get policykinds lists them")
    with pytest.raises(UsageError, match='there is no resource type "colour" in the input'):
        focus_on(analysis, ["colour"], ())


@pytest.mark.parametrize(
    ("field", "told"), [("shade", True), ("shade.dark", True), ("shad", False), ("shade.dark.more", False)]
)
def test_a_field_is_asked_for_by_its_beginning(field: str, told: bool) -> None:  # noqa: FBT001 - a parameter of the test
    assert Focus(fields=(field,)).has_field("shade.dark") == told
    assert Focus(fields=(field,)).has_field("shade[0]") == (field == "shade")


def only(kinds: tuple[GroupKind, ...] = (), fields: tuple[str, ...] = ()) -> ObjectDescription:
    """What is asked for of the route in a colourful world."""
    return narrowed(about(colourful(), "HTTPRoute", "r"), Focus(kinds=kinds, fields=fields))


def test_everything() -> None:
    answer = about(colourful(), "HTTPRoute", "r")
    assert narrowed(answer, Focus()) is answer


def test_one_kind_alone() -> None:
    answer = only(kinds=(LIMIT,))
    assert {group.kind for group in answer.in_force} == {LIMIT}
    assert [policy.name for policy in answer.policies] == ["first"]
    assert (answer.targeting.attached, answer.expected) == ((), ())
    assert {str(source.policy) for source in answer.sources} == {
        "LimitPolicy default/first",
        "LimitPolicy default/second",
    }
    assert headline(answer).startswith("HTTPRoute default/r is affected by 1 policy, looking only at LimitPolicy. ")
    assert "ColorPolicy" not in shown(answer, "tree")


def test_fields_alone() -> None:
    answer = only(fields=("color",))
    assert [policy.name for policy in answer.policies] == ["own", "strict"]
    assert {setting.field for group in answer.in_force for setting in group.settings} == {"color"}
    assert {str(source.policy) for source in answer.sources} == {
        f"ColorPolicy default/{name}" for name in ("base", "own", "strict")
    }
    assert [group.summary for group in answer.in_force] == [("color blue",), ("color black",)]
    text = shown(answer, "tree")
    assert "shade" not in text
    assert "instead of red, default/base → Namespace default (the nearer policy wins)" in text
    assert only(fields=("shade.list",)).in_force[0].summary == ("shade.list",)
    nothing = only(fields=("nope",))
    assert (nothing.in_force, nothing.policies) == ((), ())
    assert headline(nothing).startswith("No policy affects HTTPRoute default/r, looking only at nope. ")


def test_a_field_that_somebody_loses_to_who_does_not_set_it() -> None:
    target = build.ON_ROUTE
    analysis = world(
        build.policy("wide", build.ON_GATEWAY, age=1, size=1, color="red"), build.policy("own", target, age=2, size=2)
    )
    answer = narrowed(about(analysis, "HTTPRoute", "r"), Focus(fields=("color",)))
    assert (answer.policies, [group.settings for group in answer.in_force]) == ((), [()])
    assert "  ColorPolicy  nothing  default/own replaces default/wide\n" in shown(answer, "tree")


def test_fields_of_a_policy_alone() -> None:
    answer = replace(about_policy(colourful(), "base"), focus=Focus(fields=("shade",)))
    assert [field.field for field in answer.fields] == ["shade.dark", "shade.list"]
    assert headline(answer) == headline(about_policy(colourful(), "base"))
    assert "color" not in shown(answer, "tree")


def test_what_does_not_apply_of_other_kinds_is_left_out() -> None:
    analysis = world(
        build.gateway("far", build.listener("admin", port=81, hostname="admin.example.com")),
        build.route("q", parents=[build.parent("far"), build.parent("g")], hostnames=["example.com"]),
        defaults("escaped", build.target("far", "Gateway", "admin"), a=1),
        build.policy("direct", build.ON_GATEWAY, kind="LimitPolicy", limit=1),
    )
    answer = about(analysis, "HTTPRoute", "q")
    found = [narrowed(answer, Focus(kinds=(kind,))).not_applying for kind in (COLOR, LIMIT)]
    assert [[entry.policy and entry.policy.name for entry in entries] for entries in found] == [["escaped"], ["direct"]]


ONE, TWO, BOTH = (Diagnostic("yaml", "error", words) for words in ("one", "two", "both"))
HERE, THERE, EVERYWHERE = (BlindSpot(what=words, reason="forbidden") for words in ("here", "there", "everywhere"))


def test_what_is_said_of_several_is_said_once() -> None:
    world = colourful()
    route = replace(about(world, "HTTPRoute", "r"), problems=(BOTH, ONE), unseen=(HERE, EVERYWHERE))
    policy = replace(about_policy(world, "base"), problems=(TWO, BOTH), unseen=(EVERYWHERE, THERE, THERE))
    both = Descriptions((route, policy))
    assert both.problems == (BOTH, ONE, TWO)
    assert both.unseen == (HERE, EVERYWHERE, THERE)
    assert [item.problems for item in both.items] == [(BOTH, ONE), (TWO, BOTH)]
    assert Descriptions((policy, route)).problems == (TWO, BOTH, ONE)


@pytest.mark.parametrize("number", [0, 2])
def test_of_what_is_in_order_nothing_is_said(number: int) -> None:
    item = replace(about(colourful(), "HTTPRoute", "r"), problems=(), unseen=())
    answer = Descriptions((item,) * number)
    assert (answer.problems, answer.unseen) == ((), ())


def test_what_is_no_policy_has_no_answer() -> None:
    analysis = world(build.policy("p", build.ON_GATEWAY, a=1))
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
    objects = (build.gateway("g"), route, build.service("s"), pool, build.policy("p", build.ON_GATEWAY, a=1))
    for profiles, expected in (
        ((), ["Gateway default/g", "HTTPRoute default/r", "Service default/s", "Pool default/x"]),
        ((profile,), ["HTTPRoute default/r#rule[0]"]),
    ):
        analysis = analyzed(*objects, profiles=profiles)
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
    spec: dict[str, Json] = {"targetRefs": [build.ON_ROUTE], "color": "red"}
    policy = build.resource("ColorPolicy", "p", spec, group="example.com", status=status)
    (source,) = about(world(policy), "HTTPRoute", "r").sources
    assert (source.policy, source.contrary and source.contrary.reason) == (policy.ref, expected)


@pytest.mark.parametrize(("name", "expected"), [("p", "a patch"), ("q", "")])
def test_what_may_not_be_as_it_was_read(name: str, expected: str) -> None:
    policy = build.resource("ColorPolicy", "p", {"targetRefs": [build.ON_ROUTE], "color": "red"}, group="example.com")
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
        ("spec.parentRefs[1].sectionName", "did you mean https?", "NoMatchingParent"),
        ("spec.parentRefs[2]", "", "NoMatchingParent"),
        ("spec.parentRefs[3]", "", "NotAllowedByListeners"),
    ]
    assert {str(cause.origin) for cause in lost} == {"test.yaml:1"}
    assert about(world(), "HTTPRoute", "r").requests.unattached == ()
    some = about(world(build.route("q", parents=[build.parent(), *parents])), "HTTPRoute", "q")
    assert (some.requests.carries_traffic, some.requests.unattached) == (True, ())


def test_what_policies_say_that_were_not_read() -> None:
    found = about(world(defaults("p", build.ON_ROUTE, a=1)), "HTTPRoute", "r")
    assert [str(each.policy) for each in found.sources] == ["ColorPolicy default/p"]
    assert about(analyzed(build.gateway()), "Gateway", "g").sources == ()
