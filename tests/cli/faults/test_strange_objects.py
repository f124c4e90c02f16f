"""Objects that no API server would give out are no reason for a traceback, nor for anything that a terminal obeys."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.sources.cluster import faults

if TYPE_CHECKING:
    from tests.cli.faults.conftest import Ask
    from tests.sources.cluster.faulty import FaultyServer

NAME: Final = {"name": "slow", "namespace": "baker"}
STRANGE: Final[dict[str, dict[str, Any]]] = {
    "labels that are a list": {**NAME, "labels": ["a"]},
    "labels that are numbers": {**NAME, "labels": {"a": 1, "b": None, "c": {}}},
    "annotations that are a text": {**NAME, "annotations": "a"},
    "a time that is none": {**NAME, "creationTimestamp": "yesterday"},
    "a time that is a number": {**NAME, "creationTimestamp": 10**30},
    "owners that are none": {**NAME, "ownerReferences": [1, {"kind": 2}]},
    "managers that are none": {**NAME, "managedFields": {"a": 1}},
    "a name that is a command": {**NAME, "name": "\x1b[31mslow\x07"},
    "a name that is a path": {**NAME, "name": "../../secrets/a"},
    "a name that is long": {**NAME, "name": "a" * 100_000},
    "a namespace that is a command": {**NAME, "namespace": "\x1b]0;x\x07"},
    "nothing": {},
}
QUESTIONS: Final = (
    ("describe", "httproute/baker"),
    ("get", "policies", "-A"),
    ("get", "timeoutpolicies", "-A", "-o", "yaml"),
    ("status", "-A"),
    ("blast-radius", "gateway/edge", "-n", "infra"),
)


@pytest.mark.parametrize(
    ("strange", "question"),
    [
        *(pytest.param([metadata], QUESTIONS[0], id=name) for name, metadata in STRANGE.items()),
        *(pytest.param([*STRANGE.values()], question, id=" ".join(question)) for question in QUESTIONS),
    ],
)
def test_metadata(bakery: FaultyServer, ask: Ask, strange: list[dict[str, Any]], question: tuple[str, ...]) -> None:
    spec = {"targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "baker"}]}
    policy = {"apiVersion": "example.io/v1alpha1", "kind": "TimeoutPolicy", "spec": spec}
    bakery.objects += [{**policy, "metadata": metadata} for metadata in strange]
    outcome = ask(*question)
    assert outcome.code in {0, 4}, outcome
    assert not {"\x1b", "\x07"} & {*outcome.out, *outcome.err}


ANYTHING: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "kind", "spec"]), inner),
    max_leaves=8,
)


@given(metadata=ANYTHING, spec=ANYTHING, status=ANYTHING)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_anything(bakery: FaultyServer, ask: Ask, metadata: object, spec: object, status: object) -> None:
    item = {"kind": "TimeoutPolicy", "metadata": metadata, "spec": spec, "status": status}
    bakery.fault("/apis/example.io/v1alpha1/timeoutpolicies", faults.raw(json.dumps({"items": [item]}).encode()))
    assert ask("describe", "httproute/baker").code == 0
    assert ask("describe", "gateway/edge", "-n", "infra").code == 0
