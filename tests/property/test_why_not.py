"""Whatever manifests hold, why a policy has no effect on something has an answer, or none for a reason."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import NodeRef, analyze, load_manifests
from kubectl_policy.errors import PolicyError
from kubectl_policy.model import Json, Snapshot
from kubectl_policy.questions.why_not.answer import why_not
from kubectl_policy.render.output.text import View, to_text
from kubectl_policy.render.why_not import why_not_text
from tests.property.examples import examples
from tests.render.schema import VALIDATOR
from tests.render.shown import document_of

FIXTURES: Final = Path(__file__).parents[2] / "fixtures"
WORLDS: Final = {
    name: load_manifests([FIXTURES / name]) for name in ("bakery", "delegation", "envoy-gateway", "kgateway")
}
ODD: Final[list[Json]] = [None, "", -1, True, [], {}, "x/y", "\x1b[31m", [None], {"": ""}, {"a": {"b": [1]}}, "rule[0]"]


def spoiled(value: Json, random: Random, share: float) -> Json:
    """A value of which some parts are odd, are left out or occur twice."""
    if random.random() < share:
        return random.choice(ODD)
    if isinstance(value, dict):
        return {key: spoiled(child, random, share) for key, child in value.items() if random.random() > share / 2}
    if isinstance(value, list):
        items = [spoiled(item, random, share) for item in value]
        return items + items[:1] if random.random() < share else items
    return value


@settings(max_examples=examples(10))
@given(st.sampled_from(sorted(WORLDS)), st.sampled_from([0.01, 0.03, 0.1]), st.booleans(), st.randoms())
def test_no_manifest_is_too_odd(world: str, share: float, complete: bool, random: Random) -> None:  # noqa: FBT001 (drawn)
    """The answer is what the schema says, can be printed, and has an effect or reasons for there being none."""
    resources = [
        replace(resource, raw={**resource.raw, "spec": spoiled(resource.raw.get("spec"), random, share)})
        for resource in WORLDS[world].resources
        if random.random() > share
    ]
    analysis = analyze(Snapshot(tuple(resources), complete=complete))
    nodes = [*analysis.topology.nodes, *(NodeRef(resource.ref) for resource in resources)]
    for policy in random.sample(analysis.policies, min(3, len(analysis.policies))):
        node = random.choice(nodes)
        try:
            answer = why_not(analysis, policy.ref, node)
        except PolicyError:
            continue
        assert answer.effect.in_force or answer.reasons
        VALIDATOR.validate(document_of(answer))
        assert all(map(str.isprintable, to_text(why_not_text(answer, View()), 100).split("\n")))
