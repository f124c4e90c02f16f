"""What stands under what beat it: all of a policy, or some of its fields; and why, where one says that it merges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.profiles import MergeStrategy
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.render.describe.objects import object_tree
from kubectl_policy.render.output.text import View, to_text
from kubectl_policy.render.wording.settings import why_without_effect
from tests import build
from tests.questions.why_not.causes import ON_GATEWAY, ON_ROUTE, ROUTE, profiled, usual

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis


def lines(analysis: Analysis) -> list[str]:
    """What `describe` shows of HTTPRoute `r`, line by line."""
    return [line.strip() for line in to_text(object_tree(describe(analysis, ROUTE), View(200)), 200).split("\n")]


def reasons(analysis: Analysis) -> list[str]:
    """Why declared fields are without effect there."""
    (group,) = describe(analysis, ROUTE).in_force
    return [why_without_effect(fate, group) for fate in group.without_effect]


def test_a_merge_that_does_not_count() -> None:
    """What is replaced is further up and atomic, which decides."""
    nearer = build.policy("o", ON_ROUTE, age=2, defaults={"strategy": "patch", "b": 1})
    analysis = usual(nearer, build.policy("p", ON_GATEWAY, age=1, defaults={"a": 2}))
    why = "its merge does not count: ColorPolicy default/p further up is atomic and decides"
    assert f"instead of all of default/p → Gateway default/g: a ({why})" in lines(analysis)
    assert reasons(analysis) == [f"ColorPolicy default/o → HTTPRoute default/r replaces all of it; {why}"]


def test_a_replacement_that_is_said() -> None:
    """Nothing has to be explained."""
    nearer = build.policy("o", ON_ROUTE, age=2, defaults={"b": 1})
    analysis = usual(nearer, build.policy("p", ON_GATEWAY, age=1, defaults={"a": 2}))
    assert "instead of all of default/p → Gateway default/g: a" in lines(analysis)
    assert reasons(analysis) == ["ColorPolicy default/o → HTTPRoute default/r replaces all of it"]


def test_a_value_in_place_of_a_map() -> None:
    """The rest of the policy whose map it was stands."""
    merging = profiled(strategy=MergeStrategy.PATCH_DEFAULTS)
    nearer = build.policy("o", ON_ROUTE, jwt="none")
    analysis = usual(nearer, build.policy("p", ON_GATEWAY, jwt={"issuer": "a"}, color="red"), profile=merging)
    assert "instead of jwt.issuer a of default/p" in lines(analysis)
    assert reasons(analysis) == ["ColorPolicy default/o → HTTPRoute default/r sets what stands instead"]
