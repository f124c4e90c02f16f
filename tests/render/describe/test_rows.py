"""Rows of settings: what they supersede, neighbours that share a row, and defaults of definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from kubectl_policy import MergeStrategy, PolicyKindProfile, analyze
from kubectl_policy.model import GroupKind, NodeRef
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.shared.in_force import Setting
from kubectl_policy.render.describe.objects import object_text
from kubectl_policy.render.describe.rows import FieldRow, parent_of, together, words_of
from kubectl_policy.render.output.text import View, to_text
from kubectl_policy.render.wording.settings import without_effect_phrase
from kubectl_policy.resolution import Source
from tests import build
from tests.build import crd, gateway, node, policy, resource, route, service, snapshot, target
from tests.questions.why_not.causes import ON_GATEWAY, ON_ROUTE, ROUTE, profiled, usual
from tests.render.schema import VALIDATOR
from tests.render.shown import document_of, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy import Analysis
    from kubectl_policy.model import Json


def lines(analysis: Analysis) -> list[str]:
    return [line.strip() for line in to_text(object_text(describe(analysis, ROUTE), View(200)), 200).split("\n")]


def reasons(analysis: Analysis) -> list[str]:
    """Why declared fields are without effect there."""
    (group,) = describe(analysis, ROUTE).in_force
    return [without_effect_phrase(fate, group) for fate in group.without_effect]


def test_a_merge_that_does_not_count() -> None:
    """What is replaced is further up and atomic, which decides."""
    nearer = build.policy("o", ON_ROUTE, age=2, defaults={"strategy": "patch", "b": 1})
    analysis = usual(nearer, build.policy("p", ON_GATEWAY, age=1, defaults={"a": 2}))
    why = "its merge does not count: ColorPolicy default/p further up is atomic and decides"
    assert f"instead of all of default/p → Gateway default/g: a ({why})" in lines(analysis)
    assert reasons(analysis) == [f"ColorPolicy default/o → HTTPRoute default/r replaces all of it; {why}"]


def test_a_replacement_that_is_said() -> None:
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
    assert reasons(analysis) == ["ColorPolicy default/o → HTTPRoute default/r sets what is used instead"]


SOURCE = Source(build.ref("ColorPolicy", "p", group="example.com"), NodeRef(build.ref("Gateway", "g")))
RETRY: Final[Mapping[str, Json]] = {
    "retry.times": 2,
    "retry.each.timeout": "2s",
    "retry.each.pause.least": "1s",
    "retry.each.pause.most": "9s",
}


def rows(values: Mapping[str, Json], room: int) -> list[str]:
    settings = (
        Setting(field=field, value=value, source=SOURCE, removed=False, defaulted=False, certain=True, instead_of=())
        for field, value in values.items()
    )
    apart = [FieldRow(setting=setting, positions={0}) for setting in settings]
    shared = together(apart, lambda some: bool(parent_of(some)) and len(words_of(some)) <= room)
    return [f"{row.setting.field}: {row.setting.value}" for row in shared]


@pytest.mark.parametrize(
    ("room", "expected"),
    [
        (80, ["retry: times 2, each.timeout 2s, each.pause.least 1s, each.pause.most 9s"]),
        (50, ["retry.times: 2", "retry.each: timeout 2s, pause.least 1s, pause.most 9s"]),
        (30, ["retry: times 2, each.timeout 2s", "retry.each.pause: least 1s, most 9s"]),
        (10, [f"{field}: {value}" for field, value in RETRY.items()]),
    ],
)
def test_things_are_divided_only_where_they_have_to_be(room: int, expected: list[str]) -> None:
    assert rows(RETRY, room) == expected


def test_what_has_nothing_in_common_stays_apart() -> None:
    assert rows({"color": "red", "shade": "dark"}, 80) == ["color: red", "shade: dark"]
    assert rows({"a.b": 1, "a.c": {}, "a.d": 2}, 80) == ["a.b: 1", "a.c: {}", "a.d: 2"]


COLOR: Final = GroupKind("example.com", "ColorPolicy")
LIMITS: Final[Json] = {"properties": {"rate": {"default": 5}}}
DEFINITION: Final = crd(
    "ColorPolicy", schema={"properties": {"spec": {"properties": {"mode": {"default": "strict"}, "limits": LIMITS}}}}
)


def world(strategy: MergeStrategy = MergeStrategy.PATCH_DEFAULTS, limits: Json = None) -> Analysis:
    """A policy on a Gateway, perhaps with limits, and one on its route; both without `mode`, which has a default."""
    profile = PolicyKindProfile(COLOR, "inherited", "profile", strategy=strategy, stanzas="none")
    spec: dict[str, Json] = {"targetRefs": [target("g")], "color": "blue", **({"limits": limits} if limits else {})}
    policies = (
        resource("ColorPolicy", "above", spec, group="example.com"),
        policy("below", target("r", "HTTPRoute"), color="red"),
    )
    everything = (gateway(), route(), service(), DEFINITION, *policies)
    return analyze(snapshot(*everything, complete=True), profiles=[profile])


def test_of_an_object() -> None:
    """Beside the value, in force and beaten; what is written has no such words."""
    text = shown(describe(world(), node("HTTPRoute", "r")), "tree", View(width=200))
    assert "mode    strict (default of its kind)   instead of strict, default/above → Gateway default/g " in text
    assert "color   red      instead of blue, default/above → Gateway default/g (the nearer policy wins)\n" in text
    assert "strict, default/above → Gateway default/g (default of its kind; the nearer policy wins)" in text


def test_of_what_is_replaced_whole() -> None:
    described = describe(world(MergeStrategy.ATOMIC_DEFAULTS, limits={"burst": 2}), node("HTTPRoute", "r"))
    text = shown(described, "tree", View(width=200))
    whole = "instead of all of default/above → Gateway default/g"
    assert f"{whole}: limits.burst and limits.rate\n" in text


def test_of_a_policy() -> None:
    analysis = world()
    lower = next(policy_.ref for policy_ in analysis.policies if policy_.ref.name == "below")
    text = shown(describe_policy(analysis, lower), "tree")
    assert "  in effect\n    color   red\n    mode    strict (default of its kind)\n" in text


def test_documents() -> None:
    analysis = world()
    answers: list[Any] = [
        describe(analysis, node("HTTPRoute", "r")),
        describe_policy(analysis, analysis.policies[0].ref),
    ]
    described: Any = document_of(answers[0])
    of_policy: Any = document_of(answers[1])
    for document in (described, of_policy):
        VALIDATOR.validate(document)
    (group,) = described["inForce"]
    assert [setting["defaulted"] for setting in group["settings"]] == [False, True]
    assert [field["defaulted"] for field in of_policy["fields"]] == [False, True]
