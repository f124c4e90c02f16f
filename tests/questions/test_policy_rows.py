"""Tests of `questions/policy_rows.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from kubectl_policy import PolicyKindProfile, analyze
from kubectl_policy.errors import NotFoundError
from kubectl_policy.model import Gap, GroupKind, Origin, Resource
from kubectl_policy.model.selectors import parse_label_query
from kubectl_policy.questions.lists import list_type
from kubectl_policy.questions.policy_rows import KindRow, PolicyRow, kind_rows
from kubectl_policy.questions.shared.selection import Listing, Selection
from tests import build
from tests.render.worlds import DIRECT, INHERITED, about_policy, colourful, world

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis


def listed(analysis: Analysis, word: str = "policies") -> Listing[PolicyRow]:
    return cast("Listing[PolicyRow]", list_type(analysis, word, Selection()))


def row(analysis: Analysis, name: str) -> PolicyRow:
    return next(found for found in listed(analysis).rows if found.ref.name == name)


def test_what_an_unread_target_hides_is_unknown() -> None:
    analysis = world(build.policy("p", build.target("unread", "GRPCRoute"), defaults={"a": 1}))
    found = row(analysis, "p")
    assert (found.enforcement.state, found.affected) == ("Unknown", None)
    assert [thing.what for thing in listed(analysis).unseen] == ["GRPCRoute default/unread"]


def test_what_may_be_below_an_unread_part_is_unknown() -> None:
    resources = (
        build.gateway_class(),
        build.crd("ColorPolicy", labels={"gateway.networking.k8s.io/policy": "inherited"}),
        build.policy("p", build.target("public", "GatewayClass"), a=1),
    )
    open_world, closed = analyze(build.snapshot(*resources)), analyze(build.snapshot(*resources, complete=True))
    assert (row(open_world, "p").enforcement.state, row(open_world, "p").affected) == ("NoEffect", None)
    assert (row(closed, "p").enforcement.state, row(closed, "p").affected) == ("NoEffect", ())


def test_a_gap_makes_every_row_incomplete() -> None:
    gap = Gap("", "", "broken", Origin("bad.yaml", 7))
    analysis = world(build.policy("p", build.target("g"), defaults={"a": 1}), gaps=[gap])
    assert [thing.reason for thing in row(analysis, "p").unseen] == ["broken"]
    assert [thing.reason for thing in listed(analysis).unseen] == ["broken"]
    assert [thing.reason for thing in listed(world(gaps=[gap])).unseen] == ["broken"]


def test_a_row_says_what_the_description_says() -> None:
    analysis = colourful()
    found = listed(analysis).rows
    assert [one.ref.name for one in found] == ["base", "first", "lost", "own", "second", "strict"]
    for one in found:
        description = about_policy(analysis, one.ref.name, one.ref.kind)
        assert one.enforcement == description.enforcement
        assert one.affected == description.affected
        assert one.targets == description.targets
        assert tuple(dict.fromkeys(stanza.strategy for stanza in one.stanzas)) == description.strategies
        assert one.unseen == description.unseen


def test_a_row_has_the_stanzas_that_take_effect() -> None:
    analysis = world(
        build.policy("both", build.target("g"), defaults={"a": 1}, overrides={"strategy": "patch", "b": 1}),
        build.policy("bare", build.target("g", "Gateway", "http"), kind="LimitPolicy", a=1),
        build.policy("lost", build.target("gone", "HTTPRoute"), defaults={"a": 1}),
    )
    assert [(stanza.field, stanza.strategy.value) for stanza in row(analysis, "both").stanzas] == [
        ("spec.overrides", "Patch overrides"),
        ("spec.defaults", "Atomic defaults"),
    ]
    assert [(stanza.field, stanza.strategy.value) for stanza in row(analysis, "bare").stanzas] == [("spec", "None")]
    assert row(analysis, "lost").stanzas == ()


def test_a_row_has_what_was_reported() -> None:
    policy = build.resource(
        "ColorPolicy",
        "p",
        {"targetRefs": [build.target("g")], "defaults": {"a": 1}},
        group="example.com",
        status={"conditions": [{"type": "Accepted", "status": "True"}]},
    )
    found = row(world(policy), "p")
    assert [condition.type for condition in found.reported] == ["Accepted"]
    assert found.raw == policy.raw


def kinds(*resources: Resource, selection: Selection | None = None, gaps: tuple[Gap, ...] = ()) -> tuple[KindRow, ...]:
    return kind_rows(analyze(build.snapshot(*resources, gaps=gaps)), selection or Selection())


def test_what_is_no_policy_kind_is_left_out() -> None:
    assert kinds(build.crd("Widget"), build.gateway(), build.crd("ColorPolicy", schema={"type": "object"})) == ()


def test_a_kind_without_policies_is_listed() -> None:
    (found,) = kinds(build.crd("ColorPolicy", labels=DIRECT))
    assert (found.name, found.profile.policy_class, found.profile.known_by) == (
        "colorpolicys.example.com",
        "direct",
        "label",
    )
    assert (found.policies, found.complete) == ((), True)
    assert found.raw["kind"] == "CustomResourceDefinition"
    assert str(found.ref) == "CustomResourceDefinition colorpolicys.example.com"


def test_a_kind_without_a_definition_is_listed() -> None:
    (found,) = kinds(build.policy("a", build.target("g")), build.policy("b", build.target("g"), namespace="far"))
    assert (found.name, found.definition, found.raw) == ("colorpolicies.example.com", None, {})
    assert [ref.qualified_name for ref in found.policies] == ["default/a", "far/b"]


def test_a_kind_of_the_core_group_has_its_plural_alone_as_name() -> None:
    """As kubectl names such kinds."""
    profile = PolicyKindProfile(GroupKind("", "ColorPolicy"), "direct", "profile")
    world = build.snapshot(build.policy("a", build.target("g"), group=""))
    (found,) = kind_rows(analyze(world, profiles=[profile]), Selection())
    assert found.name == "colorpolicies"


def test_kinds_are_sorted_by_name() -> None:
    found = kinds(
        build.crd("ZooPolicy", labels=DIRECT),
        build.policy("p", build.target("g")),
        build.crd("ColorPolicy", labels=INHERITED),
        build.policy("q", build.target("g"), kind="AntPolicy"),
    )
    assert [row.name for row in found] == [
        "antpolicies.example.com",
        "colorpolicys.example.com",
        "zoopolicys.example.com",
    ]


@pytest.mark.parametrize(("kind", "complete"), [("", False), ("ColorPolicy", False), ("Gateway", True)])
def test_policies_that_could_not_be_read_are_not_counted_as_none(kind: str, complete: bool) -> None:  # noqa: FBT001 (a parameter)
    (found,) = kinds(build.crd("ColorPolicy", labels=DIRECT), gaps=(Gap(kind, "", "forbidden"),))
    assert found.complete is complete


def test_a_kind_is_named_as_people_name_it() -> None:
    world = (build.crd("ColorPolicy", labels=DIRECT), build.crd("LimitPolicy", labels=DIRECT), build.gateway())
    for name in ("colorpolicys", "ColorPolicy", "colorpolicys.example.com"):
        assert [row.profile.group_kind.kind for row in kinds(*world, selection=Selection("", (name,)))] == [
            "ColorPolicy"
        ]
    with pytest.raises(NotFoundError) as error:
        kinds(*world, selection=Selection("", ("colorpolicys", "gateways")))
    assert error.value.message == 'policykind "gateways" not found'
    with pytest.raises(NotFoundError) as error:
        kinds(*world, selection=Selection("", ("limitpolicys.example.org",)))
    assert error.value.hint == "did you mean limitpolicys.example.com, colorpolicys.example.com?"


def test_labels_are_those_of_the_definition() -> None:
    world = (build.crd("ColorPolicy", labels=DIRECT), build.policy("p", build.target("g"), kind="AntPolicy"))
    for query, expected in (
        ("gateway.networking.k8s.io/policy=direct", "ColorPolicy"),
        ("!a,!gateway.networking.k8s.io/policy", "AntPolicy"),
    ):
        found = kinds(*world, selection=Selection("", (), parse_label_query(query)))
        assert [row.profile.group_kind.kind for row in found] == [expected]
