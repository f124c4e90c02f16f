"""Tests of `questions/matrix.py`."""

from __future__ import annotations

import pytest

from kubectl_policy import PolicyKindProfile
from kubectl_policy.analysis import Analysis
from kubectl_policy.errors import NotFoundError, UsageError
from kubectl_policy.model import FieldPath, Gap, GroupKind, Json, Origin
from kubectl_policy.profiles import MergeStrategy
from kubectl_policy.profiles.summary import SummaryPart
from kubectl_policy.questions.matrix import Matrix, MatrixOptions, RowSort, matrix, with_lines
from kubectl_policy.questions.matrix_cells import CellPart, MatrixColumn
from kubectl_policy.questions.shared.selection import Selection
from tests import build
from tests.questions.build import analyzed
from tests.render.worlds import INHERITED, defaults, overrides, world

COLOR = GroupKind("example.com", "ColorPolicy")
WORLD = (build.gateway(), build.route("r"), build.service("s"))


def asked(  # noqa: PLR0913 (as read by its keywords)
    analysis: Analysis,
    selection: Selection | None = None,
    *,
    of: RowSort = "routes",
    kinds: tuple[str, ...] = (),
    fields: tuple[str, ...] = (),
    missing: bool = False,
) -> Matrix:
    return matrix(analysis, MatrixOptions(of=of, kinds=kinds, fields=fields, missing=missing), selection or Selection())


def cells(found: Matrix) -> dict[str, list[list[tuple[Json, tuple[int, ...]]]]]:
    """By row: of each cell the values of its settings, or its phrases, with their paths, then where nothing is."""
    return {
        f"{row.subject.object.name} {row.subject.section}".strip(): [
            [
                *((_said(part), part.positions) for part in cell.parts),
                *([("nothing", cell.without)] if cell.without else []),
            ]
            for cell in row.cells
        ]
        for row in found.items
    }


def _said(part: CellPart) -> Json:
    return [setting.value for setting in part.settings] or list(part.summary)


def two_rules() -> Analysis:
    """A route with two rules on two listeners; red for all, blue on one rule, black at one listener."""
    route = build.route(
        "app", rules=[build.rule(build.backend("s"), name="a"), build.rule(build.backend("s"), name="b")]
    )
    return world(
        route,
        defaults("all", build.ON_GATEWAY, color="red", deep={"one": 1, "two": 2}),
        defaults("one", build.target("app", "HTTPRoute", "a"), age=2, color="blue"),
        overrides("strict", build.target("g", "Gateway", "https"), age=3, color="black"),
        complete=True,
    )


def test_there_is_a_row_for_each_rule() -> None:
    """With a column for each kind that is in force somewhere: its settings in short, by the paths on which they are."""
    found = asked(two_rules(), Selection(names=("app",)))
    assert found.columns == (MatrixColumn(kind=COLOR),)
    assert cells(found) == {
        "app a": [[(["color blue", "deep"], (0,)), (["color black", "deep"], (1,))]],
        "app b": [[(["color red", "deep"], (0,)), (["color black", "deep"], (1,))]],
    }
    assert [by.source.object.name for by in found.items[0].cells[0].parts[0].sources] == ["all", "one"]
    assert (found.examined, found.idle, found.unseen) == (2, 0, ())


def test_a_field_has_its_value() -> None:
    found = asked(two_rules(), Selection(names=("app",)), fields=("color", "deep", "deep.two", "nope", "color"))
    assert [column.title for column in found.columns] == ["color", "deep", "deep.two", "nope"]
    assert cells(found)["app a"] == [
        [(["blue"], (0,)), (["black"], (1,))],
        [([1, 2], (0, 1))],
        [([2], (0, 1))],
        [("nothing", (0, 1))],
    ]
    deep, two = (found.items[0].cells[place].parts[0] for place in (1, 2))
    assert (deep.summary, two.summary) == (("deep",), ())
    assert [setting.field for setting in deep.settings] == ["deep.one", "deep.two"]
    assert found.unused == ("nope",)


def test_the_phrases_are_those_of_the_profile() -> None:
    profile = PolicyKindProfile(
        COLOR,
        "inherited",
        "profile",
        summary=(SummaryPart(field="jwt.providers[]", words="JWT from {name}"),),
        strategy=MergeStrategy.STRATEGIC_MERGE,
        list_keys={"rules": "name", "hosts": ""},
    )
    jwt: Json = {"providers": [{"name": "acme"}, {"name": "other"}], "audience": {"a": 1, "b": 2}}
    rules: Json = [{"name": "x", "limit": {"a": 1, "b": 2}}]
    policy = build.policy("p", build.ON_GATEWAY, jwt=jwt, rules=rules, hosts=[{"a": 1, "b": 2}])
    analysis = analyzed(*WORLD, policy, complete=True, profiles=[profile])
    found = asked(analysis, fields=("jwt", "jwt.audience", "rules[x]", "hosts[0]", "jwt."))
    summaries = [[part.summary for part in cell.parts] for cell in found.items[0].cells]
    assert summaries[:2] == [[("JWT from acme", "JWT from other")], [("jwt.audience",)]]
    assert summaries[2:] == [[()], [()], []]
    assert [len(cell.parts[0].settings) for cell in found.items[0].cells[2:4]] == [3, 2]
    assert found.items[0].resource.origin == Origin("test.yaml", 1)


def test_policies_that_all_apply_are_said_one_by_one() -> None:
    profile = PolicyKindProfile(
        COLOR, "inherited", "profile", same_level="all-apply", summary=(SummaryPart(field="a", words="A is {b}"),)
    )
    policies = [build.policy(name, build.ON_GATEWAY, a={"b": name, "c": 1}) for name in ("p", "q")]
    found = asked(analyzed(*WORLD, *policies, complete=True, profiles=[profile]), fields=("a", "a.b"))
    assert found.items[0].cells[0].parts[0].summary in {("A is p", "A is q"), ("A is q", "A is p")}
    assert sorted(str(setting.value) for setting in found.items[0].cells[1].parts[0].settings) == ["p", "q"]


def test_what_controllers_ignore_is_not_in_force() -> None:
    profile = PolicyKindProfile(COLOR, "inherited", "profile", counting_fields=frozenset({"b"}))
    policy = build.policy("p", build.ON_GATEWAY, a=1)
    found = asked(analyzed(*WORLD, policy, complete=True, profiles=[profile]), kinds=("colorpolicy",))
    assert cells(found) == {"r rule[0]": [[("nothing", (0,))]]}


def test_kinds_can_be_chosen() -> None:
    analysis = world(
        defaults("p", build.ON_GATEWAY, a=1),
        build.policy("l", build.ON_SERVICE, kind="LimitPolicy", limit=1),
        build.crd("OtherPolicy", labels=INHERITED),
        complete=True,
    )
    assert [column.title for column in asked(analysis).columns] == ["ColorPolicy", "LimitPolicy"]
    found = asked(analysis, kinds=("otherpolicy", "limitpolicys"))
    assert [column.title for column in found.columns] == ["OtherPolicy", "LimitPolicy"]
    assert cells(found)["r rule[0]"] == [[("nothing", (0, 1))], [(["limit 1"], (0, 1))]]
    assert asked(analysis, kinds=("limitpolicy",), fields=("a",)).unused == ("a",)
    with pytest.raises(UsageError) as error:
        asked(analysis, kinds=("service",))
    assert error.value.message == "service is not a policy kind"


def test_what_is_about_security_comes_first() -> None:
    zoo = GroupKind("example.com", "ZooPolicy")
    profiles = [
        PolicyKindProfile(COLOR, "inherited", "profile"),
        PolicyKindProfile(zoo, "inherited", "profile", security_fields=frozenset({"*"})),
    ]
    policies = [build.policy("p", build.ON_GATEWAY, a=1), build.policy("z", build.ON_GATEWAY, kind="ZooPolicy", jwt=1)]
    analysis = analyzed(*WORLD, *policies, complete=True, profiles=profiles)
    assert [column.title for column in asked(analysis).columns] == ["ZooPolicy", "ColorPolicy"]


def test_missing_rows_have_a_path_on_which_nothing_is() -> None:
    """One is enough: that is where requests get in. Any of the columns will do, and what is removed is not there."""
    analysis = world(
        build.route("open"),
        build.route("half"),
        build.route("closed"),
        build.route("removed"),
        build.route("idle", parents=[]),
        defaults("half", build.target("g", "Gateway", "http"), jwt={"a": 1}),
        defaults("closed", build.target("closed", "HTTPRoute"), basic={"a": 1}),
        defaults("removed", build.target("removed", "HTTPRoute"), jwt=None),
        complete=True,
    )
    names = ("open", "half", "closed", "removed", "idle")
    found = asked(analysis, Selection(names=names), fields=("jwt", "basic"), missing=True)
    assert [row.subject.object.name for row in found.items] == ["half", "open", "removed"]
    assert [row.without for row in found.items] == [(1,), (1,), (0, 1)]
    assert (found.examined, found.idle) == (5, 1)
    assert [row.paths for row in asked(analysis, Selection(names=("idle",))).items] == [()]


def test_unknown_is_not_none() -> None:
    """What could not be read is said for the row and for the list; what may hold is not certain to be there."""
    found = asked(world(gaps=[Gap("", "", "broken", Origin("bad.yaml", 7))]), fields=("jwt",), missing=True)
    assert [[thing.reason for thing in row.unseen] for row in found.items] == [["broken"]]
    assert [thing.reason for thing in found.unseen] == ["broken"]
    either = [
        build.policy("p", build.ON_GATEWAY, kind="OddPolicy", p=1),
        build.policy("q", build.ON_GATEWAY, kind="OddPolicy", q=1),
    ]
    uncertain = asked(world(*either, complete=True), kinds=("oddpolicy",), missing=True)
    assert [part.certain for row in uncertain.items for cell in row.cells for part in cell.parts] == [False]


def test_only_what_may_set_something_makes_a_cell_unknown() -> None:
    """A policy of the kind, or of any, that was not read or may be attached; not what another one lacks."""
    color = defaults("p", build.ON_GATEWAY, a=1)
    other = build.policy("l", build.ON_SERVICE, kind="LimitPolicy", limit=1)
    analysis = world(color, other, gaps=[Gap("LimitPolicy", "default", "forbidden")], complete=True)
    found = asked(analysis)
    assert [column.title for column in found.columns] == ["ColorPolicy", "LimitPolicy"]
    assert [cell.unknown for cell in found.items[0].cells] == [False, True]
    assert [cell.unknown for cell in asked(analysis, kinds=("colorpolicy",)).items[0].cells] == [False]
    assert [cell.unknown for cell in asked(analysis, fields=("a", "limit")).items[0].cells] == [True, True]
    unread = world(
        build.policy("c", kind="ColorPolicy", targetRefs="odd"), gaps=[Gap("Secret", "default", "forbidden")]
    )
    assert [cell.unknown for cell in asked(unread, kinds=("colorpolicy",)).items[0].cells] == [False]


def test_kinds_whose_attachment_is_not_computed_may_set_something() -> None:
    profile = PolicyKindProfile(
        COLOR,
        "inherited",
        "profile",
        attachment="none",
        declared_targets=frozenset({build.ref("HTTPRoute", "r").group_kind}),
    )
    analysis = analyzed(*WORLD, build.policy("p", a=1), complete=True, profiles=[profile])
    assert [cell.unknown for cell in asked(analysis, kinds=("colorpolicy",)).items[0].cells] == [True]
    policies = build.policy("p", a=1), build.policy("q", build.ON_GATEWAY, kind="OtherPolicy", a=1)
    other = analyzed(*WORLD, *policies, complete=True, profiles=[profile])
    assert [cell.unknown for cell in asked(other, kinds=("otherpolicy",)).items[0].cells] == [False]


def test_a_policy_that_lacks_something_may_be_invalid() -> None:
    """That is said of what it sets; the row is not complete, and other fields are as they are."""
    kind = GroupKind("gateway.envoyproxy.io", "SecurityPolicy")
    policy = build.policy("p", build.ON_ROUTE, kind=kind.kind, group=kind.group, basicAuth={"users": {"name": "users"}})
    classes = build.gateway_class("public", "gateway.envoyproxy.io/gatewayclass-controller")
    analysis = analyzed(classes, build.gateway(), build.route("r"), build.service("s"), policy)
    (row,) = asked(analysis, fields=("basicAuth", "jwt"), missing=False).items
    basic, jwt = row.cells
    assert [[thing.what for thing in part.unseen] for part in basic.parts] == [["Secret default/users"]]
    assert (basic.unknown, jwt.unknown, jwt.parts) == (False, False, ())
    assert [thing.what for thing in row.unseen] == ["Secret default/users"]
    assert asked(analysis, fields=("basicAuth",), missing=True).items == ()


def test_what_routes_say_themselves_is_in_force_as_well() -> None:
    """In a column of their kind; it is no policy, so none is missing where there is none, unless that is asked for."""
    route = build.route("own", rules=[build.rule(build.backend("s"), timeouts={"request": "5s"})])
    analysis = world(route, complete=True)
    assert [column.title for column in asked(analysis, Selection(names=("own",))).columns] == ["HTTPRoute"]
    assert [
        setting.value
        for part in asked(analysis, fields=("timeouts.request",)).items[0].cells[0].parts
        for setting in part.settings
    ] == ["5s"]
    assert asked(analysis, kinds=("httproute",), missing=True).items[0].subject.object.name == "r"
    assert asked(analysis, missing=True).columns == ()


def test_kinds_whose_patches_are_not_read_have_no_column() -> None:
    profile = PolicyKindProfile(COLOR, "inherited", "profile", patches=True)
    analysis = analyzed(*WORLD, build.policy("p", build.ON_GATEWAY, a=1), profiles=[profile])
    assert asked(analysis).columns == ()
    assert asked(analysis, kinds=("colorpolicy",)).columns == (MatrixColumn(kind=COLOR),)


def test_whether_a_route_gets_traffic_may_be_unknown() -> None:
    lone = build.route("lone", parents=[build.parent("unread")])
    (row,) = asked(analyzed(build.gateway(), lone)).items
    assert [thing.what for thing in row.unseen] == ["Gateway default/unread"]
    (service,) = asked(analyzed(build.service("s"), gaps=[Gap("", "", "broken")]), of="services").items
    assert [thing.reason for thing in service.unseen] == ["broken"]


def test_gateways_and_services_have_a_row_each() -> None:
    analysis = world(defaults("p", build.ON_GATEWAY, a=1), complete=True)
    (gateway,) = asked(analysis, of="gateways").items
    assert (str(gateway.subject.object), gateway.subject.section, len(gateway.paths)) == ("Gateway default/g", "", 2)
    assert [part.summary for part in gateway.cells[0].parts] == [("a 1",)]
    (service,) = asked(analysis, of="services").items
    assert (service.subject.object.kind, service.hostnames) == ("Service", ())
    assert cells(asked(analysis, of="services"))["s"] == [[(["a 1"], (0, 1))]]


def test_objects_are_selected_as_for_other_lists() -> None:
    analysis = world(complete=True)
    assert asked(analysis, Selection("far")).elsewhere == ("default",)
    with pytest.raises(NotFoundError):
        asked(analysis, Selection(names=("nope",)))


def test_a_setting_has_its_line() -> None:
    looked_up: list[str] = []

    def locate(origin: Origin, field: FieldPath, value: Json) -> int:
        del origin, value
        looked_up.append(str(field))
        return 41

    policy = defaults("p", build.ON_GATEWAY, a=1)
    found = with_lines(asked(world(policy, build.route("other"), complete=True), fields=("a",)), locate)
    origins = [part.settings[0].origin for row in found.items for part in row.cells[0].parts]
    assert {origin.line for origin in origins if origin} == {41}
    assert looked_up == ["spec.defaults.a"]
