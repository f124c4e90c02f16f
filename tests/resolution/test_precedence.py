"""Precedence of policies on one target, and the refusals that follow from it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile
from kubectl_policy.model import GroupKind, Json, Resource
from kubectl_policy.profiles.fields import RefusedOn
from kubectl_policy.resolution.precedence import (
    PolicyRefusal,
    fold_order,
    in_order,
    order_unknown,
    refusals,
    same_level_of,
)
from tests.build import node, policy
from tests.resolution.build import declares

UNSAID = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "label")


def by(field: str = "", annotation: str = "") -> PolicyKindProfile:
    return replace(UNSAID, order_field=field, weight_annotation=annotation)


def test_those_without_a_date_come_last_by_name() -> None:
    """A policy that was never created cannot be the oldest; names decide among its likes."""
    policies = [policy("b"), policy("a"), policy("z", age=9)]
    assert [found.ref.name for found in in_order(policies, by())] == ["z", "a", "b"]


def test_of_equal_age_the_first_in_the_alphabet_comes_first() -> None:
    """By `{namespace}/{name}`, as one text: `a-b/…` sorts before `a/…`."""
    policies = [policy("x", namespace="b", age=1), policy("y", namespace="a", age=1), policy("x", namespace="a", age=1)]
    assert [found.ref.qualified_name for found in in_order(policies, by())] == ["a/x", "a/y", "b/x"]
    assert [
        found.ref.namespace for found in in_order([policy("x", namespace="a"), policy("x", namespace="a-b")], by())
    ] == ["a-b", "a"]


@pytest.mark.parametrize("priority", [None, "1", 0.5, True, {}, [1]], ids=str)
def test_a_number_of_another_type_is_zero(priority: Json) -> None:
    policies = [policy("b", age=1, priority=1), policy("a", age=2, priority=priority), policy("z", priority=-1)]
    assert [found.ref.name for found in in_order(policies, by("spec.priority"))] == ["z", "a", "b"]


def test_a_number_of_the_kind_comes_before_the_age() -> None:
    """Smallest first; of equal ones the oldest."""
    policies = [policy("a", age=1, priority=9), policy("b", age=3), policy("c", age=2), policy("d", priority=-4)]
    assert [found.ref.name for found in in_order(policies, by("spec.priority"))] == ["d", "c", "b", "a"]
    assert [found.ref.name for found in in_order(policies, by())] == ["a", "c", "b", "d"]


def weighing(name: str, weight: Json, priority: int = 0, age: int | None = 1) -> Resource:
    found = policy(name, age=age, priority=priority)
    metadata: dict[str, Json] = {"name": name, "annotations": {"w": weight}}
    return replace(found, raw={**found.raw, "metadata": metadata})


def test_the_greatest_weight_comes_first() -> None:
    """After the number of the kind, if it has both, and before the age."""
    policies = [weighing("a", "1"), weighing("b", "2", age=2), weighing("c", "9", priority=1), weighing("d", "-1", -1)]
    assert [found.ref.name for found in in_order(policies, by("", "w"))] == ["c", "b", "a", "d"]
    assert [found.ref.name for found in in_order(policies, by("spec.priority", "w"))] == ["d", "b", "a", "c"]


@pytest.mark.parametrize("weight", ["", "x", "1.5", " 1", "1e3", "12345678901", 7, None, {}, "\u0661"], ids=repr)
def test_a_weight_that_is_no_number_is_zero(weight: Json) -> None:
    policies = [weighing("a", "-1"), weighing("b", weight, age=9), weighing("c", "1", age=9)]
    assert [found.ref.name for found in in_order(policies, by("", "w"))] == ["c", "b", "a"]


def test_two_numbers_that_make_the_same_sum_differ() -> None:
    """So that no name decides."""
    policies = [weighing("a", "1", priority=1, age=None), weighing("b", "0", priority=0, age=None)]
    assert not order_unknown(policies, by("spec.priority", "w"))
    assert order_unknown([weighing("a", "1", age=None), weighing("b", "+1", age=None)], by("", "w"))


def test_when_the_order_rests_on_names() -> None:
    """Only if there are two, and one has no date."""
    assert not order_unknown([], by())
    assert not order_unknown([policy("a")], by())
    assert not order_unknown([policy("a", age=1), policy("b", age=1)], by())
    assert order_unknown([policy("a", age=1), policy("b")], by())
    assert order_unknown((policy("a"), policy("b")), by())


def test_where_numbers_order_policies_names_do_not() -> None:
    """Unless two have the same number, and one of these has no date."""
    different = [policy("a", priority=1), policy("b", priority=2)]
    assert not order_unknown(different, by("spec.priority"))
    assert order_unknown(different, by())
    assert not order_unknown([*different, policy("c", age=1), policy("d", age=1)], by("spec.priority"))
    assert order_unknown([*different, policy("c", priority=2, age=1)], by("spec.priority"))


def test_the_newer_one_challenges() -> None:
    parts = [declares("old", {}), declares("new", {}, "Patch overrides")]
    assert fold_order(parts, "newest-challenges") == parts


def test_the_first_created_wins() -> None:
    old, new = declares("old", {}, "Patch overrides"), declares("new", {}, "Patch overrides")
    assert fold_order([old, new], "first-wins") == [old, new]
    default_old, default_new = declares("old", {}), declares("new", {}, "Patch defaults")
    assert fold_order([default_old, old, default_new, new], "first-wins") == [old, new, default_new, default_old]
    refuses_old, refuses_new = declares("old", {}, "None"), declares("new", {}, "None")
    assert fold_order([refuses_old, refuses_new], "first-wins") == [refuses_old, refuses_new]


def test_the_rule_for_one_node_is_the_profiles_or_that_of_the_text() -> None:
    """The experimental text, known by its stanzas, lets the first created win."""
    bare, stanza = declares("a", {}), replace(declares("b", {}), field="spec.override")
    assert same_level_of(UNSAID, []) == same_level_of(UNSAID, [bare]) == "newest-challenges"
    assert same_level_of(UNSAID, [bare, stanza]) == "first-wins"
    assert same_level_of(replace(UNSAID, same_level="one-applies"), [stanza]) == "one-applies"


G, H = node("Gateway", "g"), node("HTTPRoute", "h")


def refused(claims: dict[str, tuple[str, str]], extent: RefusedOn = "there") -> dict[str, str]:
    """Who is refused where, for whom and for what: of policies in order, with the targets and fields of each."""
    policies = [policy(name) for name in claims]
    targets = {one.ref: [node_ for node_ in (G, H) if node_.object.name in claims[one.ref.name][0]] for one in policies}
    fields = {one.ref: claims[one.ref.name][1].split() or [""] for one in policies}
    return {
        f"{ref.name} on {at.object.name}": f"{found.holder.name} on {found.target.object.name} {found.field}".strip()
        for (ref, at), found in refusals(policies, targets, fields, {}, extent).items()
    }


def test_nobody_is_refused_where_nobody_meets() -> None:
    assert refused({"a": ("g", "x"), "b": ("h", "x"), "c": ("g", "y"), "d": ("g", "z w")}) == {}
    assert refused({}) == {}


def test_the_first_one_on_a_target_holds_it() -> None:
    """The whole of it, where no field is named; all others are refused for that one."""
    assert refused({"a": ("g", ""), "b": ("gh", ""), "c": ("g", "")}) == {"b on g": "a on g", "c on g": "a on g"}


def test_the_first_field_that_both_set_is_named() -> None:
    assert refused({"a": ("g", "x y"), "b": ("g", "w y x")}) == {"b on g": "a on g y"}


def test_everywhere_means_also_where_nobody_else_is() -> None:
    """There the reason is that of the first target on which it is refused."""
    claims = {"a": ("g", "x"), "b": ("gh", "x")}
    assert refused(claims) == {"b on g": "a on g x"}
    assert refused(claims, "everywhere") == {"b on g": "a on g x", "b on h": "a on g x"}
    assert refused({"a": ("h", "x"), "z": ("g", "x"), "b": ("gh", "x")}, "everywhere") == {
        "b on g": "z on g x",
        "b on h": "a on h x",
    }


def test_who_is_refused_is_in_nobodys_way() -> None:
    """On that target; one that is refused everywhere, on none."""
    claims = {"a": ("g", "x"), "b": ("gh", "x y"), "c": ("g", "y"), "d": ("h", "y")}
    assert refused(claims) == {"b on g": "a on g x", "d on h": "b on h y"}
    assert refused(claims, "everywhere") == {"b on g": "a on g x", "b on h": "a on g x"}


def test_a_refusal_names_objects() -> None:
    """And the node where the two meet."""
    a, b = policy("a"), policy("b")
    found = refusals([a, b], {a.ref: [G], b.ref: [G]}, {a.ref: [""], b.ref: [""]}, {}, "there")
    assert found == {(b.ref, G): PolicyRefusal(a.ref, G)}
