"""Computed against reported, on the Gateways, ListenerSets and routes that policies target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from msgspec.structs import replace

from kubectl_policy.model import Gap, Json, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.status.comparison import Claim, OtherController
from kubectl_policy.questions.status.report import StatusReport
from tests import build
from tests.delegation import CONTROLLER, below, http_route, passing, to, top
from tests.questions.status.reports import (
    ACCEPTED,
    FINE,
    MINE,
    RESOLVED,
    WORKS,
    ancestor,
    compared,
    condition,
    kind,
    only,
    parent,
    policy,
    reported,
    verdicts,
    world,
)

G, HTTP = "Gateway default/g", "Gateway default/g#http"
REFUSED = ("Accepted", "False", "Invalid")
BY_COLOURS = ("Coloured", "True", "By")


def heard(name: str = "http", *conditions: tuple[str, str, str], routes: Json = None) -> dict[str, Json]:
    """An entry of `status.listeners`, in which all is well unless told otherwise."""
    said: dict[str, Json] = {
        "name": name,
        "conditions": [condition(one, 1) for one in conditions or (ACCEPTED, RESOLVED)],
    }
    return said if routes is None else {**said, "attachedRoutes": routes}


def asked(
    *resources: Resource, word: str = "gateways", complete: bool = False, gaps: tuple[Gap, ...] = ()
) -> StatusReport:
    """The report on objects of one type, with GatewayClass `public`."""
    return compared(build.gateway_class("public", MINE), *resources, word=word, complete=complete, gaps=gaps)


def about(status: dict[str, Json], *resources: Resource, complete: bool = False) -> StatusReport:
    """The report on Gateway `g` with a status."""
    return asked(reported(build.gateway("g"), 1, **status), *resources, complete=complete)


def test_a_gateway_and_its_listeners_as_computed() -> None:
    """What need not be said while all is well may be left out; Programmed is the data plane's business."""
    programmed = condition(("Programmed", "True", "Programmed"))
    report = about({"conditions": [condition(ACCEPTED), programmed], "listeners": [heard()]})
    assert verdicts(report) == [
        ("g", "", "Accepted", "Agrees"),
        ("g", "", "Programmed", "UnknownType"),
        ("g", HTTP, "Accepted", "Agrees"),
        ("g", HTTP, "ResolvedRefs", "Agrees"),
    ]


def test_a_status_that_no_controller_wrote_is_none() -> None:
    """An API server fills it in; a single condition of a controller's makes it a report."""
    waiting: list[Json] = [condition((name, "Unknown", "Pending")) for name in ("Accepted", "Programmed")]
    [gateway] = about({"conditions": waiting}).items
    assert (gateway.has_status, gateway.conditions, gateway.agrees) == (False, (), True)
    [gateway] = about({"conditions": waiting, "listeners": [heard()]}).items
    assert gateway.has_status
    assert not gateway.agrees


def test_a_gateway_that_is_refused_without_reason_disagrees() -> None:
    report = about({"conditions": [condition(REFUSED)]})
    assert verdicts(report) == [
        ("g", "", "Accepted", "Differs"),
        ("g", HTTP, "Accepted", "NotReported"),
        ("g", HTTP, "ResolvedRefs", "NotReported"),
    ]
    assert {found.explanation for _, found in report.comparisons} == {"none"}


def test_what_need_not_be_said_is_missed_where_something_is_wrong() -> None:
    clash = reported(
        build.gateway("g", build.listener("a"), build.listener("b")),
        conditions=[condition(("Accepted", "False", "ListenersNotValid"))],
        listeners=[heard("a", ("Accepted", "False", "HostnameConflict"), RESOLVED)],
    )
    found = [(at, type_, verdict) for _, at, type_, verdict in verdicts(asked(clash)) if type_ == "Conflicted"]
    assert found == [(f"{G}#a", "Conflicted", "NotReported"), (f"{G}#b", "Conflicted", "NotReported")]


def test_a_listener_that_the_spec_has_not_is_left_over() -> None:
    left = heard("gone", ACCEPTED, ("Programmed", "True", "Programmed"), routes=3)
    report = about({"conditions": [condition(ACCEPTED)], "listeners": [heard(), left]})
    found = [row[1:] for row in verdicts(report) if row[3] != "Agrees"]
    assert found == [(f"{G}#gone", "Accepted", "NotExpected"), (f"{G}#gone", "Programmed", "UnknownType")]
    assert [found.explanation for _, found in report.comparisons if found.disagrees] == ["not in spec"]


def counted(routes: Json, *resources: Resource, complete: bool = False) -> StatusReport:
    """The report on Gateway `g` with a number of routes at its listener; route `r` is attached there."""
    status: dict[str, Json] = {"conditions": [condition(ACCEPTED)], "listeners": [heard(routes=routes)]}
    return about(status, build.route("r"), build.service("s"), *resources, complete=complete)


def test_the_number_of_attached_routes_is_compared() -> None:
    assert not counted(1).disagrees
    found = only(counted(0))
    assert (found.verdict, found.type, str(found.at)) == ("Differs", "attachedRoutes", HTTP)
    assert (found.computed, found.reported) == (Claim("1", "", "HTTPRoute default/r"), Claim("0"))
    assert (found.observed_generation, found.stale) == (1, False)
    for odd in ("1", True, None):
        assert all(found.type != "attachedRoutes" for _, found in counted(odd).comparisons)


def test_more_routes_than_were_read_may_be_attached() -> None:
    assert only(counted(2)).verdict == "Undecided"
    assert only(counted(2, complete=True)).verdict == "Differs"


def test_of_many_routes_the_first_are_named() -> None:
    more = [build.route(f"r{number}") for number in range(6)]
    found = only(counted(1, *more))
    assert found.computed
    assert found.computed.status == "7"
    assert found.computed.message.endswith("HTTPRoute default/r3 and 2 more")


def test_the_number_of_listener_sets_is_compared() -> None:
    status: dict[str, Json] = {"conditions": [condition(ACCEPTED)], "listeners": [heard()]}
    found = only(about({**status, "attachedListenerSets": 1}, complete=True))
    assert (found.at, found.type, found.verdict) == (None, "attachedListenerSets", "Differs")
    assert not about({**status, "attachedListenerSets": 0}).disagrees


def test_listener_sets() -> None:
    listener_set = build.listener_set("set", build.listener("extra", port=9000))
    everyone: Json = {"namespaces": {"from": "All"}}
    admitting = build.gateway("g", allowedListeners=everyone)
    fine = reported(listener_set, conditions=[condition(ACCEPTED)])
    found = verdicts(asked(admitting, fine, word="listenersets"))
    assert [row[1:] for row in found] == [
        ("", "Accepted", "Agrees"),
        ("ListenerSet default/set#extra", "Accepted", "NotReported"),
        ("ListenerSet default/set#extra", "ResolvedRefs", "NotReported"),
    ]
    refused = reported(listener_set, conditions=[condition(("Accepted", "False", "NotAllowed"))])
    found = verdicts(asked(build.gateway("g"), refused, word="listenersets"))
    assert [row[1:] for row in found] == [("", "Accepted", "Agrees")]
    unread = verdicts(asked(refused, word="listenersets"))
    assert [row[1:] for row in unread] == [("", "Accepted", "Undecided")]


def on_route(*parents: Json, route: Resource | None = None, extra: tuple[Resource, ...] = ()) -> StatusReport:
    """The report on a route with entries for its parents."""
    said = reported(route or build.route("r"), 2, parents=list(parents))
    return asked(build.gateway("g"), build.service("s"), said, *extra, word="routes")


def test_a_route_as_computed_and_not() -> None:
    assert not on_route(parent(condition(ACCEPTED), condition(RESOLVED))).disagrees
    wrong = on_route(parent(condition(("Accepted", "False", "NotAllowedByListeners"), 1), condition(RESOLVED)))
    found = only(wrong)
    assert (found.verdict, found.controller, found.explanation) == ("Differs", MINE, "older generation")


def test_a_parent_of_a_route_without_an_entry() -> None:
    two = build.route("r", parents=[build.parent("g"), build.parent("h")])
    report = on_route(parent(condition(ACCEPTED), condition(RESOLVED)), route=two, extra=(build.gateway("h"),))
    assert [row[1:] for row in verdicts(report) if row[3] != "Agrees"] == [
        ("Gateway default/h", "Accepted", "NotReported"),
        ("Gateway default/h", "ResolvedRefs", "NotReported"),
    ]
    assert not on_route(parent(condition(ACCEPTED), condition(RESOLVED)), route=two).disagrees


def test_a_parent_that_a_route_no_longer_names_is_left_over() -> None:
    references: tuple[dict[str, Json], ...] = ({"name": "old"}, {"sectionName": "http"}, {"port": 80})
    for reference in references:
        fine, left = (
            parent(condition(ACCEPTED), condition(RESOLVED)),
            {**parent(condition(ACCEPTED)), "parentRef": {"name": "g", **reference}},
        )
        found = only(on_route(fine, left))
        assert (found.type, found.verdict, found.explanation) == ("Accepted", "NotExpected", "not in spec")


def test_entries_of_other_controllers_on_a_route_are_their_business() -> None:
    fine, other = parent(condition(ACCEPTED), condition(RESOLVED)), parent(condition(REFUSED), controller="other")
    report = on_route(fine, other)
    assert (report.disagrees, report.items[0].other_controllers) == (
        False,
        (OtherController(build.node("Gateway", "g"), "other"),),
    )


def test_routes_of_a_mesh_belong_to_no_gateway() -> None:
    mesh = build.route("r", parents=[build.service_parent("s")])
    entry = parent(condition(REFUSED), condition(RESOLVED), controller="mesh", name="s", kind="Service", group="")
    found = only(on_route(entry, route=mesh))
    assert (found.verdict, found.explanation) == ("Differs", "none")


def test_the_class_of_a_gateway_explains_a_disagreement() -> None:
    """A class that was not read, one that is not there, one that is refused; and a controller that says nothing."""
    refused = build.gateway_class("public", MINE, {"conditions": [condition(REFUSED)]})
    said = reported(build.gateway("g"), conditions=[condition(REFUSED)], listeners=[heard()])
    assert only(compared(said, word="gateways")).explanation == "class unread"
    assert only(compared(said, build.gateway_class("spare", MINE), word="gateways")).explanation == "no class"
    assert only(compared(said, refused, word="gateways")).explanation == "no class"
    silent = reported(build.route("r"), parents=[parent(condition(ACCEPTED), controller="other")])
    report = asked(build.gateway("g"), build.service("s"), silent, word="routes")
    assert {found.explanation for _, found in report.comparisons} == {"silent controller"}


def test_what_a_policy_affects_is_marked() -> None:
    gateway = reported(
        build.gateway("g"),
        conditions=[condition(ACCEPTED), condition(BY_COLOURS)],
        listeners=[heard("http", ACCEPTED, RESOLVED, BY_COLOURS)],
    )
    route = reported(
        build.route("r"), parents=[parent(condition(ACCEPTED), condition(RESOLVED), condition(BY_COLOURS))]
    )
    rest = (build.gateway_class("public", MINE), build.service("s"))
    assert not compared(*rest, gateway, route, policy("p", build.ON_GATEWAY)).disagrees
    report = compared(*rest, gateway, route, policy("p"))
    wrong = [(one.resource.ref.kind, str(found.at or "")) for one, found in report.comparisons if found.disagrees]
    assert wrong == []
    report = compared(*rest, gateway, route, policy("p"), word="gateways")
    assert [row[1:] for row in verdicts(report) if row[2] == "Coloured"] == [
        ("", "Coloured", "NotExpected"),
        (HTTP, "Coloured", "NotExpected"),
    ]


SEEN = ancestor(condition(FINE), condition(WORKS))


def marked(
    *policies: Resource, annotations: Json = None, entries: tuple[Json, ...] = (), **status: Json
) -> StatusReport:
    """The report on route `r` beside policies; with `status`, in words of their own."""
    fine = parent(condition(ACCEPTED), condition(RESOLVED))
    route = reported(build.route("r"), parents=[fine, *entries])
    metadata = route.raw["metadata"]
    assert isinstance(metadata, dict)
    raw = route.raw if annotations is None else {**route.raw, "metadata": {**metadata, "annotations": annotations}}
    own = {**raw, "status": status["status"]} if "status" in status else raw
    names = replace(kind().status, target_annotation="example.com/colours")
    profile = replace(kind(), status=names) if annotations is not None else kind()
    rest = (*world()[:2], build.service("s"), replace(route, raw=own))
    return compared(*rest, *policies, word="routes", profile=profile)


def test_a_mark_that_is_missing_disagrees() -> None:
    found = only(marked(reported(policy(), ancestors=[SEEN])))
    assert (found.type, found.at, found.verdict) == ("Coloured", None, "NotReported")
    assert (found.explanation, str(found.policy_kind)) == ("none", "ColorPolicy.example.com")
    entry = parent(condition(BY_COLOURS), controller="colours")
    assert not marked(reported(policy(), ancestors=[SEEN]), entries=(entry,)).disagrees


def test_a_mark_is_not_missed_where_nothing_was_reported_on_its_policies() -> None:
    """They may be manifests beside a Gateway of a cluster; a mark that is there agrees all the same."""
    assert [row[2] for row in verdicts(marked(policy()))] == ["Accepted", "ResolvedRefs"]
    assert ("r", "", "Coloured", "Agrees") in verdicts(marked(policy(), entries=(parent(condition(BY_COLOURS)),)))


@pytest.mark.parametrize(
    "value",
    [
        "default/p",
        " p ,default/p",
        '[{"Namespace":"default","Name":"p"}]',
        '{"namespace": "default", "name": "p"}',
        '[{"name": "p"}]',
    ],
)
def test_an_annotation_that_names_the_policies_of_a_target_agrees(value: str) -> None:
    found = marked(policy(), annotations={"example.com/colours": value})
    assert [row for row in verdicts(found) if "/" in row[2]] == [("r", "", "example.com/colours", "Agrees")]


@pytest.mark.parametrize(
    "value",
    [7, None, "[", '["p"]', '[{"name": 7}]', '[{"name": ""}]', '[{"namespace": ["x"], "name": "p"}]', "[" * 100_000],
    ids=range(8),
)
def test_an_annotation_that_cannot_be_read_is_not_compared(value: Json) -> None:
    found = marked(policy(), annotations={"example.com/colours": value})
    assert [row[3] for row in verdicts(found) if "/" in row[2]] == ["UnknownType"]


def test_an_annotation_that_names_others_disagrees() -> None:
    other = only(marked(policy(), annotations={"example.com/colours": "default/q"}))
    assert (other.verdict, other.computed, other.reported) == ("Differs", Claim("default/p"), Claim("default/q"))
    elsewhere = policy("p", build.ON_GATEWAY)
    gone = only(marked(elsewhere, annotations={"example.com/colours": "default/p"}))
    assert (gone.verdict, str(gone.policy_kind)) == ("NotExpected", "ColorPolicy.example.com")
    assert not marked(elsewhere, annotations={"example.com/colours": ""}).disagrees
    seen = reported(policy(), ancestors=[SEEN])
    absent = [found for _, found in marked(seen, annotations={}).comparisons if "/" in found.type]
    assert [found.verdict for found in absent] == ["NotReported"]
    assert all("/" not in row[2] for row in verdicts(marked(policy(), annotations={})))


def test_an_annotation_is_a_report_also_without_a_status() -> None:
    report = marked(policy(), annotations={"example.com/colours": "default/q"}, status={})
    assert (report.items[0].has_status, report.disagrees) == (True, True)
    assert not marked(policy(), annotations={}, status={}).items[0].has_status


def test_a_mark_whose_policies_may_be_unread_is_undecided() -> None:
    far = build.route("r", parents=[build.parent("far", namespace="infra")])
    said = reported(far, parents=[parent(condition(BY_COLOURS), name="far", namespace="infra")])
    report = compared(
        build.gateway_class("public", MINE), build.service("s"), said, policy("p", build.ON_GATEWAY), word="routes"
    )
    found = [found for _, found in report.comparisons if found.type == "Coloured"]
    assert [one.verdict for one in found] == ["Undecided"]
    assert "Gateway infra/far" in [thing.what for thing in found[0].unseen]


def test_a_status_of_any_shape_is_no_reason_to_give_up() -> None:
    odd: dict[str, Json] = {"conditions": [7, {"type": []}], "listeners": [3, {"name": 4}, {"conditions": "x"}]}
    assert {row[3] for row in verdicts(about(odd))} == {"NotReported", "UnknownType"}
    assert {row[3] for row in verdicts(on_route(3, {"parentRef": 4}))} == {"NotReported"}


class TestDelegated:
    above = top(passing("/blog", to("child")))

    def verdicts(self, child: Resource, *said: Json, complete: bool = True) -> list[tuple[str, str, str]]:
        """What comes of the report on the child, with a status of these parents."""
        objects = (build.gateway("g"), self.above, reported(child, parents=list(said)), build.service())
        report = compared(build.gateway_class(controller=CONTROLLER), *objects, word="routes", complete=complete)
        return [(at, type_, verdict) for name, at, type_, verdict in verdicts(report) if name == "child"]

    def entry(self, name: str, *conditions: tuple[str, str, str]) -> dict[str, Json]:
        """An entry of `status.parents` for a route."""
        conditions = conditions or (ACCEPTED, RESOLVED)
        reference: Json = {"group": GATEWAY_API, "kind": "HTTPRoute", "name": name, "namespace": "default"}
        return {"parentRef": reference, "controllerName": CONTROLLER, "conditions": [*map(condition, conditions)]}

    @pytest.mark.parametrize("parents", [(), (below("top"),)], ids=["not named", "named"])
    def test_the_route_that_delegates_is_the_parent(self, parents: Sequence[Mapping[str, Json]]) -> None:
        child = http_route("child", passing("/blog/a", build.backend()), parents=parents)
        where = "HTTPRoute default/top"
        assert self.verdicts(child, self.entry("top")) == [
            (where, "Accepted", "Agrees"),
            (where, "ResolvedRefs", "Agrees"),
        ]
        other = self.entry("other", ("Programmed", "True", "Programmed"))
        missed = [row for row in self.verdicts(child, other) if row[0] == where]
        assert missed == [(where, "Accepted", "NotReported"), (where, "ResolvedRefs", "NotReported")]

    def test_a_report_on_rules(self) -> None:
        """It may be left out while no rule is replaced, and is compared if it is there."""
        child = http_route("child", passing("/blog/a", build.backend()))
        programmed = ("kgateway.dev/Programmed", "True", "Programmed")
        replaced = ("kgateway.dev/Programmed", "False", "RouteRuleReplaced")
        for condition_reported, verdict in ((programmed, "Agrees"), (replaced, "Differs")):
            rows = self.verdicts(child, self.entry("top", ACCEPTED, RESOLVED, condition_reported))
            assert rows[-1] == ("HTTPRoute default/top", "kgateway.dev/Programmed", verdict)
        missing: Json = {
            "type": "ExtensionRef",
            "extensionRef": {"group": "gateway.kgateway.dev", "kind": "DirectResponse", "name": "x"},
        }
        failing = http_route("child", {**passing("/blog/a", build.backend()), "filters": [missing]})
        assert self.verdicts(failing, self.entry("top"))[-1] == (
            "HTTPRoute default/top",
            "kgateway.dev/Programmed",
            "NotReported",
        )

    def test_what_does_not_delegate_is_no_parent(self) -> None:
        child = http_route("child", passing("/other", build.backend()), parents=[below("top")])
        assert self.verdicts(child, self.entry("top", ACCEPTED)) == [
            ("HTTPRoute default/top", "Accepted", "NotExpected")
        ]

    def test_a_parent_that_was_not_read(self) -> None:
        child = http_route("child", passing("/blog/a", build.backend()), parents=[below("far", "x")])
        where = "HTTPRoute x/far"
        entry: Json = {**self.entry("far"), "parentRef": below("far", "x")}
        found = self.verdicts(child, entry, complete=False)
        assert [row for row in found if row[0] == where] == [
            (where, "Accepted", "Undecided"),
            (where, "ResolvedRefs", "Agrees"),
        ]

    def test_a_parent_that_was_not_read_and_is_not_named(self) -> None:
        child = http_route("child", passing("/blog/a", build.backend()))
        entry: Json = {**self.entry("far", ACCEPTED), "parentRef": below("far", "x")}
        assert ("HTTPRoute x/far", "Accepted", "Undecided") in self.verdicts(child, entry, complete=False)

    def test_why_it_is_not_as_computed(self) -> None:
        for parents, expected in (([below("top")], "none"), ([], "not in spec")):
            child = http_route("child", passing("/other", build.backend()), parents=parents)
            made = reported(child, parents=[self.entry("top", ACCEPTED)])
            objects = (build.gateway("g"), self.above, made, build.service())
            report = compared(build.gateway_class(controller=CONTROLLER), *objects, word="routes", complete=True)
            assert [found.explanation for _, found in report.comparisons if found.disagrees] == [expected]
