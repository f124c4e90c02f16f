"""What is asked for alone: kinds of policies, and fields by their beginning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy.errors import UsageError
from kubectl_policy.model import GroupKind
from kubectl_policy.questions.describe.description import Focus, focus_on
from kubectl_policy.questions.describe.objects import narrowed
from tests import build
from tests.render.shown import headline, shown
from tests.render.worlds import about, about_policy, colourful, defaults, world

if TYPE_CHECKING:
    from kubectl_policy.questions.describe.objects import ObjectDescription

COLOR: Final = GroupKind("example.com", "ColorPolicy")
LIMIT: Final = GroupKind("example.com", "LimitPolicy")


def test_words_for_kinds_are_those_of_people() -> None:
    """Any name of a kind, several with commas; of what is no policy kind there is nothing to see."""
    analysis = colourful()
    assert focus_on(analysis, (), ()) == Focus()
    assert focus_on(analysis, ["colorpolicy,LimitPolicy", "ColorPolicy"], ["spec.a.,b"]) == Focus(
        kinds=(COLOR, LIMIT), fields=("a", "b")
    )
    with pytest.raises(UsageError) as error:
        focus_on(analysis, ["httproute"], ())
    assert (error.value.message, error.value.hint) == ("HTTPRoute is not a policy kind", "get policykinds lists them")
    with pytest.raises(UsageError, match='there is no resource type "colour" in the input'):
        focus_on(analysis, ["colour"], ())


@pytest.mark.parametrize(
    ("field", "told"), [("shade", True), ("shade.dark", True), ("shad", False), ("shade.dark.more", False)]
)
def test_a_field_is_asked_for_by_its_beginning(field: str, told: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """In whole names: also an item of a list, or an entry of a map."""
    assert Focus(fields=(field,)).has_field("shade.dark") == told
    assert Focus(fields=(field,)).has_field("shade[0]") == (field == "shade")


def only(kinds: tuple[GroupKind, ...] = (), fields: tuple[str, ...] = ()) -> ObjectDescription:
    """What is asked for of the route in a colourful world."""
    analysis = colourful()
    return narrowed(about(analysis, "HTTPRoute", "r"), Focus(kinds=kinds, fields=fields))


def test_everything() -> None:
    """Nothing is left out where nothing alone is asked for."""
    answer = about(colourful(), "HTTPRoute", "r")
    assert narrowed(answer, Focus()) is answer


def test_one_kind_alone() -> None:
    """The others are not counted, named or shown."""
    answer = only(kinds=(LIMIT,))
    assert {group.kind for group in answer.in_force} == {LIMIT}
    assert [policy.name for policy in answer.policies] == ["first"]
    assert (answer.targeting.attached, answer.expected) == ((), ())
    assert {str(source.policy) for source in answer.sources} == {
        "LimitPolicy default/first",
        "LimitPolicy default/second",
    }
    assert headline(answer).startswith("HTTPRoute default/r is affected by 1 policy, looking only at LimitPolicy. ")
    assert "ColorPolicy" not in shown(answer, "tree")


def test_fields_alone() -> None:
    """With those who set them, those whom these beat, and nobody else."""
    answer = only(fields=("color",))
    assert [policy.name for policy in answer.policies] == ["own", "strict"]
    assert {setting.field for group in answer.in_force for setting in group.settings} == {"color"}
    assert {str(source.policy) for source in answer.sources} == {
        f"ColorPolicy default/{name}" for name in ("base", "own", "strict")
    }
    assert [group.summary for group in answer.in_force] == [("color blue",), ("color black",)]
    text = shown(answer, "tree")
    assert "shade" not in text
    assert "instead of red, default/base → Namespace default (the nearer policy wins)" in text
    assert only(fields=("shade.list",)).in_force[0].summary == ("shade.list",)
    nothing = only(fields=("nope",))
    assert (nothing.in_force, nothing.policies) == ((), ())
    assert headline(nothing).startswith("No policy affects HTTPRoute default/r, looking only at nope. ")


def test_a_field_that_somebody_loses_to_who_does_not_set_it() -> None:
    """It is told who replaces it, although that policy sets nothing that is asked for."""
    target = build.target("r", "HTTPRoute")
    analysis = world(
        build.policy("wide", build.target("g"), age=1, size=1, color="red"), build.policy("own", target, age=2, size=2)
    )
    answer = narrowed(about(analysis, "HTTPRoute", "r"), Focus(fields=("color",)))
    assert (answer.policies, [group.settings for group in answer.in_force]) == ((), [()])
    assert "  ColorPolicy  nothing  default/own replaces default/wide\n" in shown(answer, "tree")


def test_fields_of_a_policy_alone() -> None:
    """Whether it is enforced is said of the whole policy."""
    answer = replace(about_policy(colourful(), "base"), focus=Focus(fields=("shade",)))
    assert [field.field for field in answer.fields] == ["shade.dark", "shade.list"]
    assert headline(answer) == headline(about_policy(colourful(), "base"))
    assert "color" not in shown(answer, "tree")


def test_what_does_not_apply_of_other_kinds_is_left_out() -> None:
    """And so are places without any policy."""
    analysis = world(
        build.gateway("far", build.listener("admin", port=81, hostname="admin.example.com")),
        build.route("q", parents=[build.parent("far"), build.parent("g")], hostnames=["example.com"]),
        defaults("escaped", build.target("far", "Gateway", "admin"), a=1),
        build.policy("direct", build.target("g"), kind="LimitPolicy", limit=1),
    )
    answer = about(analysis, "HTTPRoute", "q")
    found = [narrowed(answer, Focus(kinds=(kind,))).not_applying for kind in (COLOR, LIMIT)]
    assert [[entry.policy and entry.policy.name for entry in entries] for entries in found] == [["escaped"], ["direct"]]
