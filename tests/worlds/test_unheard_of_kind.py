"""A policy kind that no one has ever heard of, given only a profile, is described, merged and checked right.

It is inherited and attaches by a field of its own to Gateways, listeners, routes and rules; its rules are merged by
name; it calls rules without a name by their place; its controller reports in words of its own.
"""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from typing import Final

import pytest

from kubectl_policy import Analysis, GroupKind, NodeRef, ObjectRef, analyze, leaves, load_manifests
from kubectl_policy.cli import run
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.explain import explain
from kubectl_policy.questions.predicted_conditions import target_conditions
from tests.build import listed
from tests.worlds.test_fixtures import FIXTURES, load

WORLD: Final = FIXTURES / "unheard-of-kind"
KIND: Final = GroupKind("larder.example.dev", "AllowancePolicy")
ROUTE: Final = ObjectRef(GroupKind("gateway.networking.k8s.io", "HTTPRoute"), "diner", "menu")
GATEWAY: Final = ObjectRef(GroupKind("gateway.networking.k8s.io", "Gateway"), "diner", "front")


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return load("unheard-of-kind")


def policy(name: str) -> ObjectRef:
    return ObjectRef(KIND, "diner", name)


def test_without_the_profile_it_is_no_policy() -> None:
    """It has neither a label nor target references that anybody knows of: all that follows comes from the profile."""
    unknown = analyze(listed(load_manifests([WORLD / "world.yaml", WORLD / "policies.yaml"])))
    assert unknown.registry.profile_of(KIND) is None
    assert unknown.affected_by(NodeRef(ROUTE, "rule[0]")) == ()


def test_each_rule_has_its_source(analysis: Analysis) -> None:
    """With the target by way of which it came: a Gateway, a route, or a rule that is named by its place."""
    (effective, _) = analysis.effective(NodeRef(ROUTE, "rule[0]"), KIND)
    assert {field[-1]: leaf.source.target for field, leaf in leaves(effective.resolution.spec)} == {
        "guests": NodeRef(ROUTE),
        "staff": NodeRef(GATEWAY),
        "birthdays": NodeRef(ROUTE, "rule[0]"),
    }


def test_what_was_beaten_is_known(analysis: Analysis) -> None:
    """Every rule that is declared on the path through the listener, and what became of it."""
    through_the_door = analysis.effective(NodeRef(ROUTE, "rule[0]"), KIND)[0]
    superseded = {
        (fate.source.object.name, fate.field, tuple(source.object.name for source in fate.superseded_by))
        for fate in through_the_door.resolution.fates
        if fate.state == "superseded"
    }
    assert superseded == {
        ("house", "rules.guests", ("menu",)),
        ("door", "rules.guests", ("menu",)),
        ("menu", "rules.birthdays", ("first-course",)),
    }


def test_the_route_is_described(analysis: Analysis) -> None:
    """Which policies affect it, and which does not although it names it."""
    answer = describe(analysis, NodeRef(ROUTE))
    assert [ref.name for ref in answer.policies] == ["first-course", "house", "menu"]
    assert [(missed.policy.name if missed.policy else "", missed.reason) for missed in answer.not_applying] == [
        ("third-course", "TargetNotFound")
    ]
    assert {setting.field for group in answer.in_force for setting in group.settings} == {
        "rules.guests",
        "rules.staff",
        "rules.birthdays",
    }


def test_a_policy_is_described(analysis: Analysis) -> None:
    """Where each of its rules is in force, who beats it elsewhere, and what it affects."""
    answer = describe_policy(analysis, policy("menu"))
    assert [(field.field, len(field.effective_on)) for field in answer.fields] == [
        ("rules.guests", 4),
        ("rules.birthdays", 2),
    ]
    assert [winner.by.object.name for field in answer.fields for winner in field.superseded] == ["first-course"]
    assert answer.affected == (NodeRef(ROUTE, "orders"), NodeRef(ROUTE, "rule[0]"))


def test_the_objects_that_it_affects_say_so(analysis: Analysis) -> None:
    """With the name of the kind in the condition, and the policies above."""
    (condition,) = target_conditions(analysis, NodeRef(ROUTE))
    assert (condition.type, condition.status, condition.reason) == (
        "larder.example.dev/AllowancePolicyApplies",
        "True",
        "Served",
    )
    assert [node.object.name for node in condition.related] == ["door", "house", "menu"]


def test_nothing_is_assumed(analysis: Analysis) -> None:
    """And it is known where that is written."""
    answer = explain(analysis, "allowancepolicies")
    assert (answer.profile.assumed, answer.origin and answer.origin.line) == ((), 6)
    assert answer.profile.evidence == (
        "https://larder.example.dev/docs/allowancepolicy: targets, rules by name, conditions",
    )


@pytest.mark.parametrize(
    ("words", "headline"),
    [
        (("describe", "httproute/menu"), "HTTPRoute diner/menu is affected by 3 policies. Any hostname, 2 rules on "),
        (
            ("describe", "allowancepolicy/door"),
            "AllowancePolicy diner/door → Gateway diner/front, listener door has no",
        ),
    ],
)
def test_the_command_line_says_the_same(words: tuple[str, ...], headline: str) -> None:
    """The profile is given as a file."""
    printed = io.StringIO()
    options = ("-n", "diner", "--offline", str(WORLD), "--profiles", str(WORLD / "profile.yaml"))
    with redirect_stdout(printed):
        assert run([*words, *options]) == 0
    assert printed.getvalue().startswith(headline)
