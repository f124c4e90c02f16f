"""What a definition fills in, in words and in data: it must not look as if somebody had written it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kubectl_policy import MergeStrategy, PolicyKindProfile, analyze
from kubectl_policy.model import GroupKind
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.render.output.text import View
from tests.build import crd, gateway, node, policy, resource, route, service, snapshot, target
from tests.render.schema import VALIDATOR
from tests.render.shown import document_of, shown

if TYPE_CHECKING:
    from kubectl_policy import Analysis
    from kubectl_policy.model import Json

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
    """Under what replaces it."""
    described = describe(world(MergeStrategy.ATOMIC_DEFAULTS, limits={"burst": 2}), node("HTTPRoute", "r"))
    text = shown(described, "tree", View(width=200))
    whole = "instead of all of default/above → Gateway default/g"
    assert f"{whole}: limits.burst and limits.rate\n" in text


def test_of_a_policy() -> None:
    """Beside the value."""
    analysis = world()
    below = next(each.ref for each in analysis.policies if each.ref.name == "below")
    text = shown(describe_policy(analysis, below), "tree")
    assert "  in effect\n    color   red\n    mode    strict (default of its kind)\n" in text


def test_documents() -> None:
    """As data."""
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
