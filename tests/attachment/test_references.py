"""Target references in their spellings, also to rules without a name."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, Topology
from kubectl_policy.attachment import Attachment, TargetReference, attach, target_references
from kubectl_policy.model import GroupKind, Json
from tests.build import gateway, index, listener, node, policy, resource, route, rule, target

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
    assert references(spec) == ()


def test_fields_of_another_type_are_empty() -> None:
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
    @pytest.mark.parametrize(
        ("spec", "selector"),
        [
            # A reference by name selects nothing, and nor does one without a name and labels.
            ({"targetRef": {"kind": "K", "name": "n", "matchLabels": {"a": "b"}}}, None),
            ({"targetRef": {"kind": "K"}}, None),
            # Labels beside the kind, as in Envoy Gateway's `targetSelectors`; without any, all objects of the kind.
            (
                {"targetSelectors": [{"kind": "K", "matchLabels": {"a": "b"}, "matchExpressions": []}]},
                {"matchLabels": {"a": "b"}, "matchExpressions": []},
            ),
            ({"targetSelectors": [{"kind": "K"}]}, {}),
            # A selector in a field of its own; what has another shape is read as an empty one.
            ({"targetRef": {"kind": "K", "selector": {"matchLabels": {"a": "b"}}}}, {"matchLabels": {"a": "b"}}),
            ({"targetRef": {"kind": "K", "selector": {}}}, {}),
            ({"targetRef": {"kind": "K", "selector": "a=b"}}, {}),
        ],
        ids=str,
    )
    def test_what_a_reference_selects(self, spec: Json, selector: Json) -> None:
        (found,) = references(spec)
        assert found.selector == selector

    @pytest.mark.parametrize("namespaces", [None, "All", {"from": "All"}], ids=str)
    def test_which_namespaces(self, namespaces: Json) -> None:
        """What is no mapping is read as an empty one; without the field it is not asked."""
        (found,) = references({"targetSelectors": [{"kind": "K", "namespaces": namespaces}]})
        assert found.namespaces == (namespaces if isinstance(namespaces, dict) else {})
        (found,) = references({"targetSelectors": [{"kind": "K"}]})
        assert found.namespaces is None


UNNUMBERED: Final = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "profile")
NUMBERING: Final = replace(UNNUMBERED, unnamed_rules="rule-{n}")
RULES: Final = [rule(), rule(name="named"), rule(), rule(name="rule-4")]


def at_section(section: str, profile: PolicyKindProfile = NUMBERING) -> Attachment:
    found = policy("p", target("r", "HTTPRoute", section))
    (attachment,) = attach(found, profile, Topology(index(found, route("r", rules=RULES), complete=True)))
    return attachment


@pytest.mark.parametrize("section", ["rule-0", "rule-2", "rule-5", "rule", "rule-01"])
def test_no_rule_of_that_number(section: str) -> None:
    """Nor one that has a name instead; the message calls the others as a reference would."""
    found = at_section(section)
    assert (found.state, found.target) == ("section missing", node("HTTPRoute", "r", section))
    known = "it has rule-1, named, rule-3, rule-4"
    assert found.message == f"HTTPRoute default/r has no section {section}; {known}"


@pytest.mark.parametrize(
    ("section", "expected"),
    [("rule-1", "rule[0]"), ("rule-3", "rule[2]"), ("rule-4", "rule-4"), ("named", "named"), ("", "")],
)
def test_the_rule_of_that_number(section: str, expected: str) -> None:
    """Named as the topology names it; a name that looks like a number is a name."""
    found = at_section(section)
    assert (found.state, found.target) == ("attached", node("HTTPRoute", "r", expected))


def test_other_kinds_do_not_number_them() -> None:
    found = at_section("rule-1", UNNUMBERED)
    assert found.message == "HTTPRoute default/r has no section rule-1; it has rule[0], named, rule[2], rule-4"


def test_of_two_rules_of_one_name_the_named_one_is_meant() -> None:
    """A rule without a name gives way to one that is called like it."""
    found = policy("p", target("r", "HTTPRoute", "rule-1"))
    topology = Topology(index(found, route("r", rules=[rule(), rule(name="rule-1")]), complete=True))
    (attachment,) = attach(found, NUMBERING, topology)
    assert attachment.target == node("HTTPRoute", "r", "rule-1")


def test_sections_of_other_objects_are_no_rules() -> None:
    """A listener that is called like an unnamed rule has that name and no number."""
    found = policy("p", target("g", section="rule[1]"))
    topology = Topology(index(found, gateway("g", listener("rule[0]")), complete=True))
    (attachment,) = attach(found, replace(UNNUMBERED, unnamed_rules="rule[{n}]"), topology)
    assert attachment.state == "section missing"
