"""Sets of workloads as answers name them, in values and in words."""

from __future__ import annotations

import pytest

from kubectl_policy.questions.connections.workload_sets import join_pairs, workload_set
from kubectl_policy.render.connections.wording import set_phrase
from kubectl_policy.render.output.text import View
from kubectl_policy.topology.workloads.pod_sets import bitmap
from tests.network.manifests import analyzed_manifests
from tests.network.oracle_world import Manifest


def pods(namespace: str, *names: str, deployment: str = "", host: bool = False) -> list[Manifest]:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"{deployment}-h", "controller": True}
    metadata = {
        "namespace": namespace,
        "labels": {"pod-template-hash": "h"} if deployment else {},
        "ownerReferences": [owner] if deployment else [],
    }
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, **metadata},
            "spec": {"containers": [], "hostNetwork": host},
        }
        for name in names
    ]


WORLD = (
    *pods("big", *"abcdefgh"),
    *pods("shop", "web-1", "web-2", deployment="web"),
    *pods("shop", "db"),
    *pods("small", "lone"),
    *pods("shop", "agent", host=True),
)


@pytest.mark.parametrize(
    ("names", "phrase"),
    [
        ("", "no workload"),
        ("big/a", "Pod big/a"),
        ("shop/web-1 shop/web-2", "Deployment shop/web (2 Pods)"),
        ("shop/web-1 shop/agent", "Pod shop/agent and Deployment shop/web"),
        ("shop/web-1 shop/web-2 shop/db", "every workload in namespace shop"),
        ("small/lone", "Pod small/lone"),
        ("big/a big/b big/c big/d big/e big/f", "Pod big/a, Pod big/b, Pod big/c, Pod big/d, Pod big/e and Pod big/f"),
        ("big/b big/c big/d big/e big/f big/g big/h", "every workload in namespace big, except Pod big/a"),
        (
            "big/b big/c big/d big/e big/f big/g big/h shop/db",
            "every workload in namespace big and Pod shop/db, except Pod big/a",
        ),
    ],
)
def test_a_set_is_named_by_namespaces_then_controllers_and_by_what_little_it_lacks(names: str, phrase: str) -> None:
    workloads = analyzed_manifests(WORLD).workloads
    members = bitmap(
        position for position, workload in enumerate(workloads.all) if workload.ref.qualified_name in names.split()
    )
    described = workload_set(workloads, members)
    assert described.number == len(names.split())
    assert set_phrase(described, View()) == phrase


def test_all_workloads_are_named_as_such_with_few_exceptions() -> None:
    workloads = analyzed_manifests(WORLD).workloads
    assert set_phrase(workload_set(workloads, workloads.everything), View()) == "all 13 workloads"
    big = analyzed_manifests(pods("big", *"abcdefgh")).workloads
    described = workload_set(big, big.everything & ~1)
    assert (described.everything, described.namespaces, described.number) == (True, ("big",), 7)
    assert set_phrase(described, View()) == "every workload, except Pod big/a"


def test_long_lists_are_cut_at_a_terminal() -> None:
    workloads = analyzed_manifests(pods("a", *"abcdefghijklmnopqrst")).workloads
    phrase = set_phrase(workload_set(workloads, bitmap(range(0, 20, 2))), View(terminal=True))
    assert phrase == "Pod a/a, Pod a/c, Pod a/e, Pod a/g, Pod a/i, Pod a/k and 4 more; --show-all names them"


@pytest.mark.parametrize(
    ("pairs", "joined"),
    [
        ([], set()),
        ([(1, 2), (1, 4), (2, 8)], {(1, 6), (2, 8)}),
        ([(1, 2), (4, 2)], {(5, 2)}),
        ([(1, 2), (1, 4), (2, 2), (2, 4)], {(3, 6)}),
        # Joined by the first set, these would be four.
        ([(1, 1), (2, 1), (1, 2), (4, 2), (1, 4), (8, 4)], {(3, 1), (5, 2), (9, 4)}),
    ],
)
def test_pairs_of_sets_are_joined_into_as_few(pairs: list[tuple[int, int]], joined: set[tuple[int, int]]) -> None:
    assert {*join_pairs(pairs)} == joined
