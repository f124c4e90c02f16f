"""Which policies are refused on which targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.resolution.precedence import PolicyRefusal, refusals
from tests.build import node, policy

if TYPE_CHECKING:
    from kubectl_policy.profiles.profile import RefusedOn

G, H = node("Gateway", "g"), node("HTTPRoute", "h")


def refused(claims: dict[str, tuple[str, str]], extent: RefusedOn = "there") -> dict[str, str]:
    """Who is refused where, for whom and for what: of policies in order, with the targets and fields of each."""
    policies = [policy(name) for name in claims]
    targets = {one.ref: [node_ for node_ in (G, H) if node_.object.name in claims[one.ref.name][0]] for one in policies}
    fields = {one.ref: claims[one.ref.name][1].split() or [""] for one in policies}
    return {
        f"{ref.name} on {at.object.name}": f"{found.holder.name} on {found.target.object.name} {found.field}".strip()
        for (ref, at), found in refusals(policies, targets, fields, extent).items()
    }


def test_nobody_is_refused_where_nobody_meets() -> None:
    """On different targets, or with different fields on one."""
    assert refused({"a": ("g", "x"), "b": ("h", "x"), "c": ("g", "y"), "d": ("g", "z w")}) == {}
    assert refused({}) == {}


def test_the_first_one_on_a_target_holds_it() -> None:
    """The whole of it, where no field is named; all others are refused for that one."""
    assert refused({"a": ("g", ""), "b": ("gh", ""), "c": ("g", "")}) == {"b on g": "a on g", "c on g": "a on g"}


def test_the_first_field_that_both_set_is_named() -> None:
    """In the order of the one that is refused."""
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
    found = refusals([a, b], {a.ref: [G], b.ref: [G]}, {a.ref: [""], b.ref: [""]}, "there")
    assert found == {(b.ref, G): PolicyRefusal(a.ref, G)}
