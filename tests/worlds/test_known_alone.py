"""Kong and Kuma: their kinds are known as policies, and no answer says of an object that none of them affects it."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy import NodeRef, analyze
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from tests import build
from tests.implementations import manifests, policy_ref, reported
from tests.render.shown import headline

CATALOGUE: Final = build.node("Service", "catalogue", namespace="library", group="")
MESH: Final = build.node("Mesh", "default", namespace="newspaper", group="kuma.io")


@pytest.mark.parametrize(
    ("world", "policy", "words"),
    [
        ("kong", "KongUpstreamPolicy library/same-shelf", "in the annotation konghq.com/upstream-policy"),
        ("kuma", "MeshTimeout newspaper/house", "or without spec.targetRef to the whole mesh"),
    ],
)
def test_a_policy_says_in_words_how_it_attaches(world: str, policy: str, words: str) -> None:
    """Nothing is claimed of its effect, and nothing is expected of its controller."""
    analysis = analyze(manifests(world))
    answer = describe_policy(analysis, policy_ref(analysis, policy))
    assert headline(answer) == f"Whether {policy} has an effect is unknown: how it attaches is not computed."
    assert words in answer.profile.notes
    assert (answer.targets, answer.affected, reported(analysis, policy)) == ((), (), {})


@pytest.mark.parametrize(
    ("world", "node", "expected"),
    [
        (
            "kong",
            CATALOGUE,
            "No policy is known to affect Service library/catalogue; how 1 policy attaches is not computed.",
        ),
        ("kuma", MESH, "No policy is known to affect Mesh newspaper/default; how 17 policies attach is not computed."),
    ],
)
def test_an_object_that_they_are_for_says_that_it_cannot_tell(world: str, node: NodeRef, expected: str) -> None:
    """Unknown is not none."""
    assert headline(describe(analyze(manifests(world)), node)).startswith(f"{expected} ")
