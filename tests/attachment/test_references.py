"""Target references in all of their spellings, and what is no reference at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile
from kubectl_policy.attachment import TargetReference, target_references
from kubectl_policy.model import GroupKind
from tests.build import resource

if TYPE_CHECKING:
    from kubectl_policy.model import Json

PLAIN: Final = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "shape")


def references(spec: Json, profile: PolicyKindProfile = PLAIN) -> tuple[TargetReference, ...]:
    """The references of a policy with that spec."""
    return target_references(resource("ColorPolicy", "p", spec, group="example.com"), profile)


NO_REFERENCES: Final[list[Json]] = [
    None,
    "text",
    7,
    {},
    {"targetRef": None},
    {"targetRef": "g"},
    {"targetRefs": 7},
    {"targetRefs": ["g", None, [{}]]},
]


@pytest.mark.parametrize("spec", NO_REFERENCES, ids=str)
def test_what_is_no_reference(spec: Json) -> None:
    """Hostile shapes refer to nothing."""
    assert references(spec) == ()


def test_fields_of_another_type_are_empty() -> None:
    """A reference with numbers for names names nothing."""
    spec: Json = {"targetRef": {"group": 1, "kind": None, "name": ["x"], "namespace": {}, "sectionName": True}}
    assert references(spec) == (TargetReference("spec.targetRef", "", ""),)


def test_a_single_reference() -> None:
    """`targetRef`, with everything that it can hold."""
    spec: Json = {"targetRef": {"group": "g", "kind": "K", "name": "n", "namespace": "ns", "sectionName": "s"}}
    assert references(spec) == (TargetReference("spec.targetRef", "g", "K", "n", "ns", "s"),)


def test_many_references_keep_their_places() -> None:
    """`targetRefs`: the index counts what cannot be read."""
    spec: Json = {"targetRefs": [None, {"kind": "K", "name": "n"}]}
    assert references(spec) == (TargetReference("spec.targetRefs[1]", "", "K", "n"),)


def test_all_spellings_at_once() -> None:
    """In the order of the kind's target fields."""
    spec: Json = {
        "targetSelectors": [{"kind": "K", "matchLabels": {"a": "b"}}],
        "targetRefs": [{"kind": "K", "name": "m"}],
        "targetRef": {"kind": "K", "name": "n"},
    }
    assert [found.field for found in references(spec)] == [
        "spec.targetRef",
        "spec.targetRefs[0]",
        "spec.targetSelectors[0]",
    ]


def test_the_profile_says_where_references_stand() -> None:
    """At any path."""
    profile = PolicyKindProfile(
        GroupKind("example.com", "ColorPolicy"), "inherited", "profile", reference_fields=("spec.at.to",)
    )
    spec: Json = {"targetRef": {"kind": "K", "name": "n"}, "at": {"to": {"kind": "K", "name": "m"}}}
    assert references(spec, profile) == (TargetReference("spec.at.to", "", "K", "m"),)


def test_a_group_that_is_left_out() -> None:
    """Is the one that the profile says; one that is present and empty is the core group."""
    spec: Json = {"targetRefs": [{"kind": "K"}, {"group": "", "kind": "K"}, {"group": "g"}, {"group": 7}]}
    groups = [found.group for found in references(spec, replace(PLAIN, target_group="example.org"))]
    assert groups == ["example.org", "", "g", "example.org"]
    assert [found.group for found in references(spec)] == ["", "", "g", ""]


class TestSelectors:
    """References by labels."""

    def test_a_reference_by_name_selects_nothing(self) -> None:
        """A name beats labels."""
        (found,) = references({"targetRef": {"kind": "K", "name": "n", "matchLabels": {"a": "b"}}})
        assert found.selector is None

    def test_a_reference_without_a_name_and_labels(self) -> None:
        """Neither by name nor by labels."""
        (found,) = references({"targetRef": {"kind": "K"}})
        assert found.selector is None

    def test_labels_beside_the_kind(self) -> None:
        """As in Envoy Gateway's `targetSelectors`."""
        (found,) = references({"targetSelectors": [{"kind": "K", "matchLabels": {"a": "b"}, "matchExpressions": []}]})
        assert found.selector == {"matchLabels": {"a": "b"}, "matchExpressions": []}

    def test_a_selector_of_its_own(self) -> None:
        """A selector in a field of its own; an empty one selects everything."""
        (found,) = references({"targetRef": {"kind": "K", "selector": {"matchLabels": {"a": "b"}}}})
        assert found.selector == {"matchLabels": {"a": "b"}}
        (found,) = references({"targetRef": {"kind": "K", "selector": {}}})
        assert found.selector == {}

    def test_an_empty_target_selector_selects_everything(self) -> None:
        """A `targetSelectors` item without labels selects all objects of the kind."""
        (found,) = references({"targetSelectors": [{"kind": "K"}]})
        assert found.selector == {}

    @pytest.mark.parametrize("namespaces", [None, "All", {"from": "All"}], ids=str)
    def test_which_namespaces(self, namespaces: Json) -> None:
        """What is no mapping is read as an empty one; without the field it is not asked."""
        (found,) = references({"targetSelectors": [{"kind": "K", "namespaces": namespaces}]})
        assert found.namespaces == (namespaces if isinstance(namespaces, dict) else {})
        (found,) = references({"targetSelectors": [{"kind": "K"}]})
        assert found.namespaces is None

    def test_a_selector_of_another_shape(self) -> None:
        """Read as an empty one."""
        (found,) = references({"targetRef": {"kind": "K", "selector": "a=b"}})
        assert found.selector == {}
