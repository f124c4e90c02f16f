"""The values that edits write: those of the kind's own API, as its definition or its profile has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy import analyze
from kubectl_policy.questions.why_not.answer import why_not
from tests import build
from tests.questions.why_not.causes import LIST, ON_GATEWAY, ON_ROUTE, POLICY, ROUTE, object_schema, usual

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Json, ObjectRef

STRATEGY = {"type": "string"}


def defining(strategy: Mapping[str, Json]) -> Mapping[str, Json]:
    """The schema of a kind with stanzas whose field `strategy` is so."""
    fields = {"strategy": strategy, "color": {"type": "string"}, "shade": {"type": "string"}}
    stanza = {"type": "object", "properties": fields}
    return object_schema(targetRefs=LIST, defaults=stanza, overrides=stanza)


def merging(analysis: Analysis, policy: ObjectRef = POLICY) -> list[tuple[str, tuple[Json, ...]]]:
    """The fields that the first edit changes, and what it puts there."""
    first = why_not(analysis, policy, ROUTE).edits[0]
    return [(str(change.path), change.added) for change in first.changes]


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        (defining({**STRATEGY, "enum": ["atomic", "merge"]}), "merge"),
        (defining({**STRATEGY, "enum": ["Atomic", "Patch"]}), "Patch"),
        (defining(STRATEGY), "patch"),
    ],
)
def test_the_definition_lists_the_strategies(schema: Mapping[str, Json], word: str) -> None:
    """One that it does not know would be refused; where it lists none, the word is GEP-713's."""
    nearer = build.policy("o", ON_ROUTE, age=1, defaults={"color": "red"})
    policy = build.policy("p", ON_GATEWAY, age=2, defaults={"color": "blue", "shade": "dark"})
    assert merging(usual(nearer, policy, schema=schema)) == [("spec.defaults.strategy", (word,))]


def test_the_profile_knows_the_strategies() -> None:
    """Without a definition: Kuadrant's API takes atomic and merge."""
    deny: Json = {"rules": {"authorization": {"d": {}}}}
    auth = build.policy("p", kind="AuthPolicy", group="kuadrant.io", targetRef=ON_GATEWAY, defaults=deny)
    nearer = build.policy(
        "o", kind="AuthPolicy", group="kuadrant.io", targetRef=ON_ROUTE, rules={"authentication": {"a": {}}}
    )
    world = (build.gateway_class(), build.gateway(), build.route(), build.service(), build.namespace("default"))
    analysis = analyze(build.snapshot(*world, auth, nearer, complete=True))
    assert merging(analysis, auth.ref) == [("spec.defaults.strategy", ("merge",))]
