"""Kinds that give the rules without a name numbers of their own, from 1."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, Topology
from kubectl_policy.attachment import Attachment, attach
from kubectl_policy.model import GroupKind
from tests.build import gateway, index, listener, node, policy, route, rule, target

PLAIN: Final = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "profile")
NUMBERING: Final = replace(PLAIN, unnamed_rules="rule-{n}")
RULES: Final = [rule(), rule(name="named"), rule(), rule(name="rule-4")]


def at_section(section: str, profile: PolicyKindProfile = NUMBERING) -> Attachment:
    """What a reference to that section of a route comes to."""
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
    """There the number is a name that no rule has."""
    found = at_section("rule-1", PLAIN)
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
    (attachment,) = attach(found, replace(PLAIN, unnamed_rules="rule[{n}]"), topology)
    assert attachment.state == "section missing"
