"""Doubts about kinds without a profile, in text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import Analysis, analyze
from kubectl_policy.comparison import what_if
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.diff import diff
from kubectl_policy.questions.lists import Lists, list_type
from kubectl_policy.questions.shared.selection import Selection
from kubectl_policy.questions.why_not.answer import why_not
from kubectl_policy.render.changes.headlines import blast_headline, diff_headline
from kubectl_policy.render.changes.rows import diff_table
from kubectl_policy.render.changes.text import diff_text
from kubectl_policy.render.describe.headline import object_headline
from kubectl_policy.render.describe.objects import object_text, settings_of
from kubectl_policy.render.describe.policies import policy_text
from kubectl_policy.render.lists import list_remarks, list_tables
from kubectl_policy.render.output.text import View, to_text
from kubectl_policy.render.why_not import why_not_text
from kubectl_policy.render.wording.headlines import policy_headline, why_not_headline
from tests import build

if TYPE_CHECKING:
    from kubectl_policy.model import ObjectRef

A: Final = build.ref("ColorPolicy", "a", group="example.com")
B: Final = build.ref("ColorPolicy", "b", group="example.com")
ROUTE: Final = build.node("HTTPRoute", "r")
ON_ROUTE: Final = build.ON_ROUTE
HIERARCHY: Final = (
    build.gateway_class(),
    build.gateway(),
    build.route(),
    build.route("other"),
    build.service(),
    build.policy("a", build.ON_GATEWAY, age=1, one=1),
)
SECOND: Final = build.policy("b", ON_ROUTE, age=2, two=2)


@pytest.fixture(name="world")
def fixture_world() -> Analysis:
    """A policy on a Gateway and one on a route that have no field in common."""
    return analyze(build.snapshot(*HIERARCHY, SECOND, complete=True))


def joined(text: str) -> str:
    """A text without breaks of lines."""
    return " ".join(text.split())


def test_of_an_object(world: Analysis) -> None:
    """At least one of the policies holds, at most all of them."""
    answer = describe(world, ROUTE)
    assert object_headline(answer).startswith("HTTPRoute default/r is affected by 1 or 2 policies. ")
    text = joined(to_text(object_text(answer, View()), 200))
    assert "ColorPolicy (assumed) one 1, two 2 default/b → HTTPRoute default/r, merged with" in text
    assert "default/a → Gateway default/g (may hold)" in text
    assert "one 1 (may hold)" in text
    assert text.count("in doubt: how policies of this kind combine is not known") == 1
    assert "assumed, because no profile covers it: it is a policy kind" in text
    assert "1 (may hold)" in settings_of([answer], named=False).text(View(headers=False), wide=False)
    third = analyze(build.snapshot(*HIERARCHY, SECOND, build.policy("c", ON_ROUTE, age=3, three=3), complete=True))
    assert object_headline(describe(third, ROUTE)).startswith("HTTPRoute default/r is affected by 1 to 3 policies. ")
    assert object_headline(describe(third, build.node("Service", "s", group=""))).startswith(
        "Service default/s is affected by 1 to 3 policies. Requests come through rule[0] of HTTPRoute default/other and"
    )


def test_of_a_policy(world: Analysis) -> None:
    answer = describe_policy(world, A)
    assert policy_headline(answer) == (
        "Whether ColorPolicy default/a → Gateway default/g is enforced is unknown: it and ColorPolicy default/b set"
        " different fields, and how ColorPolicies combine is not known."
    )
    text = joined(to_text(policy_text(answer, View()), 200))
    assert "in effect on HTTPRoute default/other only, perhaps in effect on HTTPRoute default/r only" in text
    assert "perhaps in effect two 2" in joined(to_text(policy_text(describe_policy(world, B), View()), 200))


def test_of_lists(world: Analysis) -> None:
    listing = list_type(world, "policies", Selection())
    rows = list_tables(Lists((listing,)), View())[0].text(View(headers=False), wide=False)
    assert "ColorPolicy (assumed)" in rows
    assert "up to 4" in rows
    assert "depends on default/b" in rows
    assert "1 to 2" in list_tables(Lists((list_type(world, "routes", Selection()),)), View())[0].text(
        View(headers=False), wide=False
    )
    assert list_remarks(Lists((listing,)), empty=False) == []


def test_of_a_policy_and_an_object(world: Analysis) -> None:
    answer = why_not(world, A, ROUTE)
    assert why_not_headline(answer).startswith("Whether ColorPolicy default/a has an effect on HTTPRoute default/r is")
    text = joined(to_text(why_not_text(answer, View()), 200))
    assert "No single change would do it: what would help depends on how policies of its kind combine" in text
    assert "assumed, because no profile covers it" in text
    service = why_not(world, A, build.node("Service", "s", group=""))
    assert why_not_headline(service).endswith(", on 1 of its 2 paths, and perhaps on 1 more.")


def changed(world: Analysis, *, gone: tuple[ObjectRef, ...] = (), new: bool = False) -> str:
    return diff_headline(diff(what_if(world, deleted=gone, applied=[SECOND] if new else ())))


def test_of_a_deletion(world: Analysis) -> None:
    answer = blast_radius(world, B)
    assert blast_headline(answer) == (
        "ColorPolicy default/b → HTTPRoute default/r may affect 2 objects in namespace default (1 HTTPRoute,"
        " 1 Service); it and ColorPolicy default/a set different fields, and how ColorPolicies combine is not known."
        " Deleting it may change both."
    )
    assert "into force" not in changed(world, gone=(B,))
    difference = diff(what_if(world, deleted=[B]))
    text = joined(to_text(diff_text(difference, View()), 200))
    assert "one 1 (may hold) → 1, set by ColorPolicy default/a" in text
    assert text.count("assumed, because no profile covers it") == text.count("in doubt") == 1
    assert "1 (may hold)" in diff_table(difference).text(View(headers=False), wide=False)


def test_of_a_new_policy() -> None:
    """Whether the other one is enforced is no longer known."""
    lone = analyze(build.snapshot(*HIERARCHY, complete=True))
    assert "whether ColorPolicy default/a is enforced is no longer known" in changed(lone, new=True)


def test_assumptions_of_several_kinds_name_them() -> None:
    odd = [build.policy(name, ON_ROUTE, kind="OddPolicy", age=age, odd=age) for age, name in enumerate(("x", "y"))]
    objects = (*HIERARCHY, build.policy("b", ON_ROUTE, age=2, one=2), *odd)
    difference = diff(what_if(analyze(build.snapshot(*objects, complete=True)), deleted=[ROUTE.object]))
    gone = diff(what_if(analyze(build.snapshot(*objects, complete=True)), deleted=[B, odd[1].ref]))
    assert difference.effects
    text = joined(to_text(diff_text(gone, View()), 200))
    assert "assumed of ColorPolicy.example.com, because no profile covers it" in text
    assert "assumed of OddPolicy.example.com, because no profile covers it" in text
