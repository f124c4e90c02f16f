"""Policy kinds as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy import PolicyKindProfile, analyze
from kubectl_policy.errors import NotFoundError
from kubectl_policy.model import Gap, GroupKind
from kubectl_policy.model.selectors import parse_label_query
from kubectl_policy.questions.listing.policies import KindRow, kind_rows
from kubectl_policy.questions.shared.selection import Selection
from tests import build
from tests.render.worlds import DIRECT, INHERITED

if TYPE_CHECKING:
    from kubectl_policy.model import Resource


def kinds(*resources: Resource, selection: Selection | None = None, gaps: tuple[Gap, ...] = ()) -> tuple[KindRow, ...]:
    """The policy kinds of a world."""
    return kind_rows(analyze(build.snapshot(*resources, gaps=gaps)), selection or Selection())


def test_what_is_no_policy_kind_is_left_out() -> None:
    """Neither other definitions nor built-in kinds that do not occur."""
    assert kinds(build.crd("Widget"), build.gateway(), build.crd("ColorPolicy", schema={"type": "object"})) == ()


def test_a_kind_without_policies_is_listed() -> None:
    """Its definition says that it is one."""
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
    """By its policies, in any namespace; its plural is then guessed."""
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
    """Each once, whether or not it is defined."""
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
    """If they may be of the kind."""
    (found,) = kinds(build.crd("ColorPolicy", labels=DIRECT), gaps=(Gap(kind, "", "forbidden"),))
    assert found.complete is complete


def test_a_kind_is_named_as_people_name_it() -> None:
    """With or without its group, by singular or plural; a name that none has is no answer."""
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
    """A kind without a definition has none."""
    world = (build.crd("ColorPolicy", labels=DIRECT), build.policy("p", build.target("g"), kind="AntPolicy"))
    for query, expected in (
        ("gateway.networking.k8s.io/policy=direct", "ColorPolicy"),
        ("!a,!gateway.networking.k8s.io/policy", "AntPolicy"),
    ):
        found = kinds(*world, selection=Selection("", (), parse_label_query(query)))
        assert [row.profile.group_kind.kind for row in found] == [expected]
