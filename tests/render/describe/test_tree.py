"""Trees: what a person at a terminal reads, as a whole and phrase by phrase."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from kubectl_policy import analyze
from kubectl_policy.model import Diagnostic, Gap, GroupKind, Origin
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles import PolicyKindProfile, TargetLevel
from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
from kubectl_policy.render.output.text import View
from tests import build
from tests.render.shown import headline, shown
from tests.render.worlds import about, about_policy, colourful, defaults, overrides, world

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from kubectl_policy.model import Json, Resource
    from kubectl_policy.profiles.fields import SameLevel
    from tests.render.shown import Answer

TERMINAL = View(80, terminal=True, options=("--offline", "my manifests"))


def _tree(answer: Answer, view: View | None = None) -> str:
    view = view or View()
    return shown(answer, "tree", view)


@pytest.mark.parametrize("width", [80, 120])
def test_the_tree_of_a_route(snapshot: SnapshotAssertion, width: int) -> None:
    assert _tree(about(colourful(), "HTTPRoute", "r"), View(width)) == snapshot


@pytest.mark.parametrize("name", ["base", "own", "strict", "lost"])
def test_the_tree_of_a_policy(snapshot: SnapshotAssertion, name: str) -> None:
    assert _tree(about_policy(colourful(), name)) == snapshot


def test_the_tree_of_a_refused_policy(snapshot: SnapshotAssertion) -> None:
    assert _tree(about_policy(colourful(), "second", "LimitPolicy"), TERMINAL) == snapshot


def test_next_commands_are_offered_at_a_terminal_only() -> None:
    answer = about(colourful(), "HTTPRoute", "r")
    assert "Next" not in _tree(answer)
    assert _tree(answer, TERMINAL).splitlines()[-3:] == [
        "Next",
        "  kubectl policy describe colorpolicy/base -n default --offline 'my manifests'",
        "  kubectl policy describe colorpolicy/own -n default --offline 'my manifests'",
    ]


@pytest.mark.parametrize(
    ("kind", "name", "group", "expected"),
    [
        (
            "HTTPRoute",
            "r",
            None,
            (
                "HTTPRoute default/r is affected by 4 policies. "
                "Any hostname, 1 rule on listeners http and https of Gateway default/g."
            ),
        ),
        (
            "Service",
            "s",
            None,
            "Service default/s is affected by 4 policies. Requests come through rule[0] of HTTPRoute default/r.",
        ),
        ("Namespace", "default", None, "1 policy takes effect on what is in Namespace default."),
        (
            "GatewayClass",
            "public",
            None,
            "No policy affects GatewayClass public: no policy kind in the input targets GatewayClasses.",
        ),
    ],
)
def test_the_headline_of_an_object_counts(kind: str, name: str, group: str | None, expected: str) -> None:
    assert headline(about(colourful(), kind, name, group=group)) == expected


def test_the_headline_says_which_paths_are_affected() -> None:
    https = world(defaults("p", build.target("g", "Gateway", "https"), color="red"))
    assert headline(about(https, "HTTPRoute", "r")) == (
        "HTTPRoute default/r is affected by 1 policy, on listener https only. "
        "Any hostname, 1 rule on listeners http and https of Gateway default/g."
    )
    assert headline(about(https, "Gateway", "g", "https")) == (
        "Gateway default/g, listener https is affected by 1 policy. Any hostname, 1 route attached."
    )


def test_the_headline_of_an_unaffected_object() -> None:
    lost = world(defaults("p", build.target("other", "HTTPRoute"), color="red"))
    assert headline(about(lost, "HTTPRoute", "r")) == (
        "No policy affects HTTPRoute default/r. Any hostname, 1 rule on listeners http and https of Gateway default/g."
    )


def test_an_incomplete_answer_says_so_in_its_first_sentence() -> None:
    """With the number of files and objects that could not be read, and what to do below."""
    gap = Gap("", "", "not valid YAML", Origin("bad.yaml", 3))
    answer = about(
        world(build.route("lone", parents=[build.parent("unread", namespace="far")]), gaps=[gap]), "HTTPRoute", "lone"
    )
    text = _tree(answer)
    assert " ".join(text.partition("\n\n")[0].split()).startswith(
        "Whether a policy affects HTTPRoute default/lone is unknown: "
        "1 object is not in the input and 1 file may hold more."
    )
    assert "Could not be seen\n  objects of any kind (bad.yaml:3): not valid YAML. To do:" in text
    assert "Nothing that was read leads to it." not in text


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        (
            "base",
            "ColorPolicy",
            (
                "ColorPolicy default/base → Namespace default is enforced in part, on both of its paths; "
                "it affects 3 objects (1 Gateway, 1 HTTPRoute, 1 Service)."
            ),
        ),
        (
            "strict",
            "ColorPolicy",
            (
                "ColorPolicy default/strict → Gateway default/g, listener https is enforced on its only path; "
                "it affects 3 objects (1 Gateway, 1 HTTPRoute, 1 Service)."
            ),
        ),
        ("lost", "ColorPolicy", "ColorPolicy default/lost has no effect: HTTPRoute default/nowhere does not exist."),
        (
            "second",
            "LimitPolicy",
            (
                "LimitPolicy default/second → Service default/s has no effect: it is refused everywhere, "
                "because it conflicts with LimitPolicy default/first."
            ),
        ),
    ],
)
def test_the_headline_of_a_policy(name: str, kind: str, expected: str) -> None:
    assert headline(about_policy(colourful(), name, kind)) == expected


def test_the_headline_of_a_policy_that_is_replaced_everywhere() -> None:
    analysis = world(defaults("weak", build.ON_ROUTE, color="red"), overrides("strong", build.ON_GATEWAY, color="blue"))
    assert headline(about_policy(analysis, "weak")) == (
        "ColorPolicy default/weak → HTTPRoute default/r has no effect: it is replaced everywhere, "
        "by ColorPolicy default/strong."
    )


def test_the_headline_of_a_policy_in_full_on_some_paths_and_in_part_on_others() -> None:
    """Both numbers are said; several targets are not."""
    analysis = world(
        defaults("wide", build.ON_ROUTE, build.ON_SERVICE, a=1, b=2),
        build.route("q", rules=[build.rule(build.backend("s"))]),
        defaults("over", build.target("q", "HTTPRoute"), age=9, a=3),
    )
    assert headline(about_policy(analysis, "wide")) == (
        "ColorPolicy default/wide is enforced on all 4 of its paths; it affects 2 objects (1 HTTPRoute, 1 Service)."
    )
    narrow = world(
        defaults("ns", build.target("default", "Namespace", group=""), a=1, b=2),
        build.route("q", rules=[build.rule(build.backend("s"))]),
        defaults("over", build.target("q", "HTTPRoute"), age=9, a=3),
    )
    assert headline(about_policy(narrow, "ns")) == (
        "ColorPolicy default/ns → Namespace default is enforced on 2 of its 4 paths, and in part on 2 more; "
        "it affects 4 objects (2 HTTPRoutes, 1 Gateway, 1 Service)."
    )


def test_the_headline_of_a_policy_that_nothing_is_below() -> None:
    """Attached, and yet without effect; in an open world only as far as is known."""
    empty = build.namespace("empty"), defaults("p", build.target("empty", "Namespace", group=""), a=1)
    assert headline(about_policy(world(*empty, complete=True), "p")) == (
        "ColorPolicy default/p → Namespace empty has no effect: no route is in Namespace empty (test.yaml:1)."
    )
    assert headline(about_policy(world(*empty), "p")) == (
        "ColorPolicy default/p → Namespace empty affects nothing that was read, "
        "but not all below its target may have been."
    )


def test_the_headline_of_a_policy_on_a_route_that_is_attached_to_nothing() -> None:
    """Why that is, and where it stands, although something else was not read: a route says itself what it names."""
    gateway = build.gateway("g", build.listener(allowedRoutes=build.allow("Selector", {"matchLabels": {"a": "b"}})))
    on_it = defaults("p", build.ON_ROUTE, a=1)
    answer = about_policy(world(gateway, build.namespace("default"), build.route("r"), on_it), "p")
    assert headline(answer).startswith(
        "ColorPolicy default/p → HTTPRoute default/r has no effect: namespace default does not match the selector of "
        "listener http of Gateway default/g [NotAllowedByListeners] (test.yaml:1)"
    )
    assert [reason.rule for reason in answer.reasons] == ["listener-namespace"]


def test_the_headline_of_a_policy_on_a_service_without_requests() -> None:
    """Every route gives it weight 0."""
    drained = build.route("d", rules=[build.rule(build.backend("drained", weight=0))]), build.service("drained")
    on_it = defaults("p", build.target("drained", "Service", group=""), a=1)
    assert headline(about_policy(world(*drained, on_it, complete=True), "p")) == (
        "ColorPolicy default/p → Service default/drained has no effect: HTTPRoute default/d sends no requests to "
        "Service default/drained: its weight there is 0 (test.yaml:1)."
    )


def test_the_headline_of_a_policy_whose_target_was_not_read() -> None:
    """Unknown is not none."""
    analysis = world(defaults("p", build.target("x", "GRPCRoute"), a=1))
    assert headline(about_policy(analysis, "p")) == (
        "Whether ColorPolicy default/p has an effect is unknown: GRPCRoute default/x is not in the input."
    )


def test_the_headline_of_a_policy_without_a_target() -> None:
    assert headline(about_policy(world(build.policy("p", color="red")), "p")) == (
        "ColorPolicy default/p has no effect: it has no target reference."
    )


def test_what_others_report_is_shown_compactly(snapshot: SnapshotAssertion) -> None:
    condition: dict[str, Json] = {"type": "Accepted", "status": "True", "reason": "Accepted", "observedGeneration": 1}
    bad: dict[str, Json] = {
        "type": "ResolvedRefs",
        "status": "False",
        "reason": "BackendNotFound",
        "message": "no Service s",
        "observedGeneration": 2,
    }
    parents: list[Json] = [
        {"parentRef": {"name": "g"}, "controllerName": "example.com/c", "conditions": [condition, bad]}
    ]
    route = build.resource("HTTPRoute", "seen", {"parentRefs": [build.parent()]}, status={"parents": parents})
    raw: dict[str, Json] = {**route.raw, "metadata": {"name": "seen", "namespace": "default", "generation": 2}}
    text = _tree(about(world(replace(route, raw=raw)), "HTTPRoute", "seen"))
    assert text[text.index("Reported") :] == snapshot


def test_a_long_value_is_cut_at_a_terminal_only() -> None:
    analysis = world(defaults("p", build.ON_ROUTE, items=[f"item-{number}" for number in range(30)]))
    answer = about(analysis, "HTTPRoute", "r")
    assert '"item-29"]' in _tree(answer)
    shown = _tree(answer, TERMINAL)
    assert '"item-29"]' not in shown
    assert '  items   ["item-0", "item-1", ' in shown
    assert "…\n" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_what_a_field_with_a_long_name_beat_stands_below_its_name() -> None:
    """At a terminal its value is in no column, with which that could be aligned."""
    name = "l" * 40
    analysis = world(
        defaults("base", build.ON_GATEWAY, deep={name: "red"}), defaults("own", build.ON_ROUTE, deep={name: "blue"})
    )
    text = _tree(about(analysis, "HTTPRoute", "r"), View(80, terminal=True))
    assert f"  deep.{name}   blue\n    instead of red, default/base" in text


def test_a_removed_setting_is_called_removed() -> None:
    analysis = world(defaults("base", build.ON_GATEWAY, color="red"), defaults("own", build.ON_ROUTE, color=None))
    assert (
        "ColorPolicy default/own → HTTPRoute default/r   test.yaml:1\n"
        "  color   removed   instead of red, default/base → Gateway default/g (the nearer policy wins)\n"
    ) in _tree(about(analysis, "HTTPRoute", "r"), View(120))


def test_doubts_and_assumptions_are_said_in_words() -> None:
    """A kind known by its shape alone, and two policies of unknown age."""
    target = build.ON_ROUTE
    analysis = world(
        build.policy("a", target, kind="OddPolicy", group="odd.io", x=1),
        build.policy("b", target, kind="OddPolicy", group="odd.io", x=2),
    )
    text = " ".join(_tree(about(analysis, "HTTPRoute", "r")).split())
    assert "OddPolicy (assumed) default/b → HTTPRoute default/r" in text
    assert (
        "assumed, because no profile covers it: it is a policy kind, because of its name and its target references, "
        "its policies reach what is below their target and a policy that does not say how it merges gives way to a "
        "nearer one as a whole in doubt: creationTimestamp is missing, so policies on one target are ordered by name "
        "instead of by age"
    ) in text


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"reason": "Invalid"}, "controller reports Invalid"),
        ({"reason": "Accepted"}, "controller reports Accepted False"),
        ({"reason": "Invalid", "observedGeneration": 1}, "controller reported, of an earlier version, Invalid"),
    ],
)
def test_what_a_controller_reports_to_the_contrary_stands_with_the_policy(
    condition: dict[str, Json], expected: str
) -> None:
    """In its line and at its heading, there with the message; old news are called so."""
    status: Json = {"conditions": [{"type": "Accepted", "status": "False", "message": "no such field", **condition}]}
    spec: dict[str, Json] = {"targetRefs": [build.ON_ROUTE], "color": "red"}
    policy = build.resource("ColorPolicy", "p", spec, group="example.com", status=status)
    raw: dict[str, Json] = {**policy.raw, "metadata": {"name": "p", "namespace": "default", "generation": 2}}
    text = _tree(about(world(replace(policy, raw=raw)), "HTTPRoute", "r"), View(160))
    assert f"  ColorPolicy  color red  default/p → HTTPRoute default/r; {expected}\n" in text
    assert f"ColorPolicy default/p → HTTPRoute default/r   test.yaml:1   {expected}: no such field\n" in text


def test_a_policy_that_may_be_different_says_so() -> None:
    """In its line and at its heading, there with the reason: what it sets is not certain."""
    spec: dict[str, Json] = {"targetRefs": [build.ON_ROUTE], "color": "red"}
    policy = build.resource("ColorPolicy", "p", spec, group="example.com")
    gap = Gap("ColorPolicy", "default", "x.yaml patches it", Origin("x.yaml", 1), name="p")
    text = _tree(about(world(policy, gaps=[gap]), "HTTPRoute", "r"), View(160))
    assert "  ColorPolicy  color red  default/p → HTTPRoute default/r; may be different\n" in text
    assert "ColorPolicy default/p → HTTPRoute default/r   test.yaml:1   may be different: x.yaml patches it\n" in text


def test_a_policy_without_fields_is_named() -> None:
    """It takes part although it sets nothing."""
    text = _tree(about(world(build.policy("p", build.ON_ROUTE, age=1)), "HTTPRoute", "r"))
    assert "ColorPolicy  sets no field  default/p → HTTPRoute default/r\n" in text
    assert "ColorPolicy default/p → HTTPRoute default/r   test.yaml:1\n  sets no field\n" in text


def test_problems_are_part_of_the_answer_once() -> None:
    """What is said under `Does not apply` is not said again."""
    missing = build.route("r2", rules=[build.rule(build.backend("gone"))])
    text = _tree(about(world(missing, defaults("p", build.target("r2", "HTTPRoute", "nope"), a=1)), "HTTPRoute", "r2"))
    assert text.count("has no section nope") == 1
    assert "Problems\n  error test.yaml:1: " in text


def test_nothing_takes_effect_on_a_route_without_parents() -> None:
    """The sentence says so, and what would be in force is shown all the same."""
    orphan = build.route("orphan", parents=[])
    text = _tree(about(world(orphan, defaults("p", build.target("orphan", "HTTPRoute"), a=1)), "HTTPRoute", "orphan"))
    because = "Nothing takes effect on HTTPRoute default/orphan, because it is attached to nothing"
    assert " ".join(text.split()).startswith(f"{because}. 1 policy would take effect if it were. rule[0], if it were ")
    assert "default/p → HTTPRoute default/orphan" in text
    assert _tree(about(world(orphan), "HTTPRoute", "orphan")).startswith(f"{because}.\n")


def test_nothing_leads_to_a_service_without_routes() -> None:
    """It may be called all the same, so policies on it count; one that is a backend of its own mesh route is led to."""
    meshed = build.route("m", parents=[build.service_parent("s")])
    on_it = defaults("p", build.ON_SERVICE, a=1)
    served = analyze(build.snapshot(build.service("s"), meshed, on_it))
    assert "leads to it" not in _tree(about(served, "Service", "s"))
    lone = build.service("alone")
    text = _tree(about(world(lone, defaults("p", build.target("alone", "Service", group=""), a=1)), "Service", "alone"))
    assert " Nothing that was read leads to it.\n" in text


def test_a_gap_and_a_diagnostic_can_lack_an_origin() -> None:
    answer = replace(
        about(world(), "HTTPRoute", "r"),
        unseen=(BlindSpot(what="RetryPolicies in namespace infra", reason="forbidden", remedy="list them"),),
        problems=(Diagnostic("rule", "warning", "odd", reason="Odd"), Diagnostic("rule", "info", "hm")),
    )
    text = _tree(answer)
    assert "  RetryPolicies in namespace infra: forbidden. To do: list them\n" in text
    assert "Problems\n  warning: odd [Odd]\n  note: hm\n" in text


def test_many_affected_places_are_cut_at_a_terminal_only() -> None:
    """The line says how many more there are and what shows them."""
    services = [build.service(f"s{number}") for number in range(14)]
    rules = [build.rule(build.backend(service.ref.name)) for service in services]
    analysis = world(*services, build.route("big", rules=rules), defaults("p", build.target("big", "HTTPRoute"), a=1))
    answer = about_policy(analysis, "p")
    assert "  14 Services: default/s0, default/s1, default/s10, " in _tree(answer)
    assert ", default/s9\n" in _tree(answer)
    assert ", and 2 more; --show-all shows them\n" in _tree(answer, TERMINAL)


def test_why_a_route_is_attached_to_nothing_stands_in_the_first_sentence() -> None:
    """With the API's reasons and the places; what does not fit there is listed, and nothing is said twice."""
    refusing = build.listener("mail", allowedRoutes=build.allow("None"))
    names = ("closed", "gone", "lost")
    analysis = world(
        build.gateway("closed", refusing),
        build.route("out", parents=[build.parent(name) for name in names]),
        defaults("deny", build.target("closed"), a=1),
    )
    text = _tree(about(analysis, "HTTPRoute", "out"), View(120))
    assert " ".join(text.split()) == (
        "Nothing takes effect on HTTPRoute default/out, because it is attached to nothing: "
        "listener mail of Gateway default/closed accepts routes from no namespace [NotAllowedByListeners] "
        "(test.yaml:1), Gateway default/gone does not exist [NoMatchingParent] (test.yaml:1) and 1 more reason. "
        "Does not apply "
        "ColorPolicy default/deny → Gateway default/closed, listener mail: it is not attached there "
        "[NotAllowedByListeners] "
        "Gateway default/lost does not exist [NoMatchingParent]"
    )


@pytest.mark.parametrize(
    ("parent", "expected"),
    [
        (build.parent("g", "htpps"), "Gateway default/g has no listener htpps [NoMatchingParent]"),
        (build.parent("gg"), "Gateway default/gg does not exist [NoMatchingParent]"),
    ],
)
def test_a_near_miss_names_what_may_be_meant(parent: dict[str, Json], expected: str) -> None:
    near = "https" if parent["name"] == "g" else "g"
    lost = about(world(build.route("q", parents=[parent])), "HTTPRoute", "q")
    assert headline(lost) == (
        "Nothing takes effect on HTTPRoute default/q, because it is attached to nothing: "
        f"{expected} (test.yaml:1); did you mean {near}?"
    )


def test_a_field_of_the_object_itself_beats_a_default() -> None:
    """It is named as the source, and as the reason."""
    profile = PolicyKindProfile(
        GroupKind("example.com", "ColorPolicy"),
        "inherited",
        "profile",
        effective_targets=(TargetLevel(GroupKind(GATEWAY_API, "HTTPRoute")),),
        object_fields={"color": "spec.color"},
    )
    route = build.resource("HTTPRoute", "own", {"parentRefs": [build.parent()], "color": "green"})
    policy = build.policy("p", build.target("own", "HTTPRoute"), age=1, color="red")
    analysis = analyze(build.snapshot(build.gateway(), route, policy), profiles=[profile])
    text = _tree(about(analysis, "HTTPRoute", "own"))
    assert (
        "ColorPolicy, by the route itself   test.yaml:1\n"
        "  color   green   instead of red, default/p → HTTPRoute default/own (the route's own setting wins)\n"
    ) in text


def test_a_direct_kind_on_several_targets_is_told_once() -> None:
    """On each listener, or at each of several Services."""
    both = world(build.policy("l", build.ON_GATEWAY, kind="LimitPolicy", age=1, limit=1))
    assert "both listeners\n  LimitPolicy  limit 1  default/l → Gateway default/g\n" in _tree(
        about(both, "Gateway", "g")
    )
    second = world(
        build.service("t"),
        build.route("two", rules=[build.rule(build.backend("s"), build.backend("t"))]),
        build.policy(
            "l", *(build.target(name, "Service", group="") for name in ("s", "t")), kind="LimitPolicy", age=1, limit=1
        ),
    )
    text = _tree(about(second, "HTTPRoute", "two"))
    assert "  LimitPolicy  limit 1  default/l → Service default/s and Service default/t\n" in text
    assert text.count("\n  limit   1\n") == 1


@pytest.mark.parametrize(
    ("same_level", "ages", "order_field", "expected"),
    [
        ("newest-challenges", (1, 2), "", "the newer policy wins"),
        ("first-wins", (1, 2), "", "the older policy wins"),
        ("newest-challenges", (None, None), "", "the last by name wins"),
        ("first-wins", (None, None), "", "the first by name wins"),
        ("newest-challenges", (1, 2), "spec.weight", "the last by spec.weight and age wins"),
        ("first-wins", (None, None), "spec.weight", "the first by spec.weight and name wins"),
    ],
)
def test_of_two_on_one_target_age_decides_where_it_is_known(
    same_level: SameLevel, ages: tuple[int | None, int | None], order_field: str, expected: str
) -> None:
    """Else the name does, or a number before either, and the reason must not claim otherwise."""
    kind = GroupKind("example.com", "ColorPolicy")
    profile = PolicyKindProfile(kind, "inherited", "profile", same_level=same_level, order_field=order_field)
    policies = [build.policy(name, build.ON_ROUTE, age=age, color=name) for name, age in zip("ab", ages, strict=True)]
    analysis = analyze(build.snapshot(build.gateway(), build.route("r"), *policies), profiles=[profile])
    assert f"({expected})" in _tree(about(analysis, "HTTPRoute", "r"), View(120))


def test_what_does_not_fit_beside_stands_below() -> None:
    """A long name leaves no room for what is in force, nor for where its policy was read."""
    name = "a-policy-with-a-very-long-name-that-says-everything"
    analysis = world(defaults(name, build.ON_ROUTE, aFieldWithAVeryLongNameAsWell=1))
    text = _tree(about(analysis, "HTTPRoute", "r"), View(80))
    assert (
        "  ColorPolicy  aFieldWithAVeryLongNameAsWell 1\n"
        f"               default/{name}\n"
        "                 → HTTPRoute default/r\n"
    ) in text
    assert (
        f"ColorPolicy default/{name} → HTTPRoute default/r\n    test.yaml:1\n  aFieldWithAVeryLongNameAsWell   1\n"
    ) in text


def test_a_kind_that_takes_effect_at_several_objects_is_told_once() -> None:
    """An inherited kind whose level is the Service, below a route with two of them."""
    profile = PolicyKindProfile(
        GroupKind("example.com", "ColorPolicy"),
        "inherited",
        "profile",
        effective_targets=(TargetLevel(GroupKind("", "Service")),),
    )
    resources = (
        build.gateway(),
        build.route("r", rules=[build.rule(build.backend("s"), build.backend("t"))]),
        *map(build.service, "st"),
        build.policy("p", build.ON_ROUTE, age=1, color="red"),
    )
    text = _tree(about(analyze(build.snapshot(*resources), profiles=[profile]), "HTTPRoute", "r"))
    assert "rule[0] ▸ Service default/s:8080, Service default/t:8080\n  ColorPolicy  color red  default/p → " in text


def test_what_takes_effect_below_only_is_said_to() -> None:
    """A Namespace carries no traffic; its only path is itself, which needs no line."""
    assert _tree(about(colourful(), "Namespace", "default")) == (
        "1 policy takes effect on what is in Namespace default.\n"
        "\n"
        "in it\n"
        "  ColorPolicy  color red, shade  default/base → Namespace default\n"
        "\n"
        "ColorPolicy default/base → Namespace default, in it   test.yaml:1\n"
        "  color        red\n"
        "  shade.dark   true\n"
        "  shade.list   [1, 2]\n"
    )


EVENT: dict[str, Json] = {
    "involvedObject": {"kind": "HTTPRoute", "name": "r", "namespace": "default"},
    "type": "Warning",
    "reason": "SYNC",
    "message": "no address\x1b[2J",
    "source": {"component": "controller"},
    "count": 188,
    "lastTimestamp": "2026-01-01T00:00:00Z",
}


def _event(name: str, fields: dict[str, Json]) -> Resource:
    event = build.resource("Event", name, group="")
    return replace(event, raw={**event.raw, **fields})


def test_events_are_shown_after_the_status() -> None:
    about_route: dict[str, Json] = {"involvedObject": EVENT["involvedObject"]}
    analysis = world(_event("a", EVENT), _event("b", {**about_route, "message": "fine"}), _event("c", about_route))
    lines = _tree(about(analysis, "HTTPRoute", "r"), View(120)).splitlines()
    assert lines[lines.index("Events") :] == [
        "Events",
        "  Event: fine",
        "  Event:",
        "  Warning SYNC, from controller, 188 times, last at 2026-01-01T00:00:00Z: no address\\x1b[2J",
    ]


def test_events_about_a_policy_are_shown() -> None:
    policy: dict[str, Json] = {"kind": "ColorPolicy", "name": "own", "namespace": "default"}
    analysis = world(defaults("own", build.ON_ROUTE, color=1), _event("a", {**EVENT, "involvedObject": policy}))
    assert "Events\n  Warning SYNC, from controller, " in _tree(about_policy(analysis, "own"), View(120))
