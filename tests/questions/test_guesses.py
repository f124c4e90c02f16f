"""Answers about kinds without a profile: what is assumed of them, and what nobody can decide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest

from kubectl_policy import Analysis
from kubectl_policy.comparison import what_if
from kubectl_policy.model import Json, Resource
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.diff import diff
from kubectl_policy.questions.explain import explain
from kubectl_policy.questions.lists import list_type
from kubectl_policy.questions.shared.selection import Selection
from kubectl_policy.questions.status.report import status
from kubectl_policy.questions.why_not.answer import why_not
from tests import build
from tests.questions.build import analyzed

ROUTE: Final = build.node("HTTPRoute", "r")
OTHER: Final = build.node("HTTPRoute", "other")
A: Final = build.ref("ColorPolicy", "a", group="example.com")
B: Final = build.ref("ColorPolicy", "b", group="example.com")


def world(above: Mapping[str, Json], below: Mapping[str, Json], *more: Resource) -> Analysis:
    """A Gateway with two routes, a policy `a` on it and a policy `b` on one of the routes."""
    return analyzed(
        build.namespace("default"),
        build.gateway(),
        build.route(),
        build.route("other"),
        build.service(),
        build.resource("ColorPolicy", "a", {"targetRef": build.ON_GATEWAY, **above}, group="example.com", age=1),
        build.resource("ColorPolicy", "b", {"targetRef": build.ON_ROUTE, **below}, group="example.com", age=2),
        *more,
    )


def labelled(value: str) -> Resource:
    return build.crd("ColorPolicy", labels={"gateway.networking.k8s.io/policy": value})


@pytest.fixture(name="disjoint")
def fixture_disjoint() -> Analysis:
    return world({"one": 1}, {"two": 2})


class TestUndecided:
    def test_of_an_object(self, disjoint: Analysis) -> None:
        (group,) = describe(disjoint, ROUTE).in_force
        assert [(setting.field, setting.certain) for setting in group.settings] == [("one", False), ("two", False)]
        assert (group.policies, group.undecided, group.combination.doubts) == ((A, B), (A, B), ("combination unknown",))
        (alone,) = describe(disjoint, OTHER).in_force
        assert ([setting.certain for setting in alone.settings], alone.undecided, alone.combination.doubts) == (
            [True],
            (),
            (),
        )

    def test_of_a_policy(self, disjoint: Analysis) -> None:
        answer = describe_policy(disjoint, A)
        (field,) = answer.fields
        assert (len(field.effective_on), len(field.undecided_on)) == (1, 1)
        assert (answer.enforcement.state, answer.enforcement.undecided_with) == ("Unknown", (B,))
        assert answer.doubts == ("combination unknown",)

    def test_of_the_reason_in_a_list(self, disjoint: Analysis) -> None:
        rows: Any = list_type(disjoint, "policies", Selection()).rows
        assert {row.ref: row.reason for row in rows} == {
            A: "it and ColorPolicy default/b set different fields, and how ColorPolicies combine is not known",
            B: "it and ColorPolicy default/a set different fields, and how ColorPolicies combine is not known",
        }

    def test_of_lists(self, disjoint: Analysis) -> None:
        routes: Any = list_type(disjoint, "routes", Selection()).rows
        assert {row.ref.name: (row.listed.policies, row.listed.undecided_policies) for row in routes} == {
            "other": ((A,), ()),
            "r": ((), (A, B)),
        }
        policies: Any = list_type(disjoint, "policies", Selection()).rows
        assert [row.enforcement.state for row in policies] == ["Unknown", "Unknown"]
        assert [len(row.affected) for row in policies] == [4, 2]

    def test_of_a_deletion(self, disjoint: Analysis) -> None:
        changes = diff(what_if(disjoint, deleted=[B])).effects
        found = [(field.field, field.sort, field.before, field.after) for change in changes for field in change.fields]
        (one, one_sort, before, after), (two, two_sort, gone, nothing) = found
        assert (one, one_sort, two, two_sort, nothing) == ("one", "gained", "two", "lost", None)
        assert before
        assert after
        assert gone
        assert (before.certain, after.certain, gone.certain) == (False, True, False)
        assert {doubt for change in changes for doubt in change.doubts} == {"combination unknown"}
        assert not diff(what_if(disjoint, deleted=[B])).unseen
        created = diff(what_if(world({"one": 1}, {"one": 2}), deleted=[B])).effects
        assert all(field.before and field.before.certain for change in created for field in change.fields)

    def test_of_a_new_policy(self) -> None:
        analysis = world({"one": 1}, {"one": 1})
        more = build.resource("ColorPolicy", "b", {"targetRef": build.ON_ROUTE, "two": 2}, group="example.com", age=2)
        (change,) = diff(what_if(analysis, applied=[more])).effects
        assert [(field.field, field.sort) for field in change.fields] == [("one", "lost"), ("two", "gained")]
        alone = analyzed(*(found for found in analysis.snapshot.resources if found.ref != B))
        (change,) = diff(what_if(alone, applied=[more])).effects
        assert [(field.field, field.sort) for field in change.fields] == [("one", "lost"), ("two", "gained")]

    def test_of_a_policy_and_an_object(self, disjoint: Analysis) -> None:
        """Whether the one has an effect on the other; no edit is looked for, since nothing could check it."""
        answer = why_not(disjoint, A, ROUTE)
        assert (answer.effect.in_force, answer.effect.undecided, answer.tried, answer.edits) == ((), (0,), 0, ())
        (reason,) = answer.reasons
        assert (reason.rule, reason.related) == (
            "combination-unknown",
            (build.node("ColorPolicy", "b", group="example.com"),),
        )
        assert "a profile can say" in answer.obstacle
        both = why_not(disjoint, A, build.node("Service", "s", group=""))
        assert (len(both.effect.in_force), len(both.effect.undecided)) == (1, 1)
        assert [reason.rule for reason in both.reasons] == ["combination-unknown"]

    def test_of_several_others(self) -> None:
        third = build.policy("c", build.ON_ROUTE, age=3, three=3)
        (reason,) = why_not(world({"one": 1}, {"two": 2}, third), A, ROUTE).reasons
        assert reason.message.startswith("ColorPolicy default/b and ColorPolicy default/c set other fields")

    def test_of_reports(self) -> None:
        second = build.policy("c", build.ON_ROUTE, age=3, three=3)
        for third, state in ((second, "Unknown"), (build.policy("c", build.ON_ROUTE, age=3, two=3), "Conflicted")):
            analysis = world({"one": 1}, {"two": 2}, third, labelled("direct"))
            assert analysis.enforcement(third.ref).state == state
            assert bool(describe_policy(analysis, third.ref).expected) is (state == "Conflicted")


class TestAssumed:
    EVERYTHING: Final = ("being a policy", "class", "merge strategy")

    @pytest.mark.parametrize(
        ("definition", "assumed"),
        [
            ((), EVERYTHING),
            ((labelled("true"),), ("class", "merge strategy")),
            ((labelled("inherited"),), ("merge strategy",)),
        ],
    )
    def test_by_each_answer(self, definition: tuple[Resource, ...], assumed: tuple[str, ...]) -> None:
        analysis = world({"one": 1}, {"one": 2}, *definition)
        assert [group.combination.assumed for group in describe(analysis, ROUTE).in_force] == [assumed]
        assert describe_policy(analysis, B).assumed == assumed
        assert why_not(analysis, A, ROUTE).assumed == assumed
        assert [change.assumed for change in blast_radius(analysis, B).difference.effects] == [assumed]
        assert explain(analysis, "colorpolicy").profile.assumed == assumed
        policies: Any = list_type(analysis, "policies", Selection()).rows
        assert [stanza.assumed for row in policies for stanza in row.stanzas] == [True, True]
        report = status(analysis, "policies", Selection())
        assert {found.assumed for found in report.items if found.policy} == {assumed}

    def test_where_none_meets_another_one(self) -> None:
        analysis = world({"one": 1}, {"one": 2})
        assert [group.combination.assumed for group in describe(analysis, OTHER).in_force] == [
            ("being a policy", "class")
        ]

    def test_where_they_say_it_themselves(self) -> None:
        analysis = world({"defaults": {"one": 1}}, {"defaults": {"one": 2}})
        assert describe_policy(analysis, B).assumed == ("being a policy", "class")
        policies: Any = list_type(analysis, "policies", Selection()).rows
        assert [stanza.assumed for row in policies for stanza in row.stanzas] == [False, False]

    def test_a_class_that_the_label_says_and_the_policies_belie(self) -> None:
        analysis = world({"one": 1}, {"one": 2}, labelled("Direct"))
        assert describe_policy(analysis, A).assumed == ("class",)
        (above,) = describe(analysis, OTHER).not_applying
        assert above.message.startswith("ColorPolicy is a direct policy by its label: it applies only to its target")
        (reason,) = why_not(analysis, A, OTHER).reasons
        assert "is a direct policy by its label" in reason.message
        assert explain(analysis, "colorpolicy").basis("policy_class") == "label"
