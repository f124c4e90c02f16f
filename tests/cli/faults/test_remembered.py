"""What a cluster served some hours ago is asked for anew as soon as it turns out to be wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.sources.cluster import faults
from tests.sources.cluster.faulty import Kind

if TYPE_CHECKING:
    from tests.cli.faults.conftest import Ask
    from tests.sources.cluster.faulty import FaultyServer

DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "colorpolicies.example.com", "labels": {"gateway.networking.k8s.io/policy": "direct"}},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"kind": "ColorPolicy", "plural": "colorpolicies"},
        "versions": [{"name": "v1", "served": True, "storage": True}],
    },
}
POLICY: dict[str, Any] = {
    "apiVersion": "example.com/v1",
    "kind": "ColorPolicy",
    "metadata": {"name": "red", "namespace": "baker"},
    "spec": {"targetRef": {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "baker"}, "color": "red"},
}

STRANGE: tuple[dict[str, Any], ...] = (
    {"name": 5, "namespace": "baker"},
    {"name": "a", "namespace": ["b"]},
    {"name": "", "labels": 7},
)


def add_a_kind(bakery: FaultyServer) -> None:
    bakery.kinds.append(Kind("example.com", "v1", "ColorPolicy", "colorpolicies"))
    bakery.objects += [DEFINITION, POLICY]


def remove_a_kind(bakery: FaultyServer) -> None:
    """Let somebody delete the definition of RetryPolicies, and with it all of them."""
    bakery.kinds[:] = [kind for kind in bakery.kinds if kind.kind != "RetryPolicy"]
    names = {"retrypolicies.example.io"}
    bakery.objects[:] = [
        item for item in bakery.objects if item["kind"] != "RetryPolicy" and item["metadata"]["name"] not in names
    ]


def test_it_is_remembered(bakery: FaultyServer, ask: Ask) -> None:
    first = ask("describe", "httproute/baker")
    assert ask("describe", "httproute/baker").out == first.out
    assert bakery.count("/apis") == 1


def test_a_new_kind_of_policies(bakery: FaultyServer, ask: Ask) -> None:
    """Its definition is there, and that is enough to ask again."""
    assert ask("describe", "httproute/baker").code == 0
    add_a_kind(bakery)
    assert "ColorPolicy" in ask("describe", "httproute/baker").out
    assert bakery.count("/apis") == 2


def test_a_new_kind_that_is_not_told(bakery: FaultyServer, ask: Ask) -> None:
    """That there is something of its group is known all the same."""
    assert ask("describe", "httproute/baker").code == 0
    add_a_kind(bakery)
    for path in ("/api", "/apis"):
        bakery.fault(path, faults.status(403))
    outcome = ask("describe", "httproute/baker")
    assert outcome.code == 0
    assert "objects of API group example.com: forbidden" in outcome.out


def test_a_new_type(bakery: FaultyServer, ask: Ask) -> None:
    bakery.fault("/apis/apiextensions.k8s.io/*", faults.status(403))
    assert ask("describe", "httproute/baker").code == 0
    add_a_kind(bakery)
    assert "ColorPolicy" in ask("describe", "colorpolicy/red").out
    assert bakery.count("/apis") == 2


def test_a_type_that_is_none(bakery: FaultyServer, ask: Ask) -> None:
    assert ask("describe", "httproute/baker").code == 0
    outcome = ask("describe", "teapot/short")
    assert (outcome.code, bakery.count("/apis")) == (2, 2)
    assert 'there is no resource type "teapot"' in outcome.err


def test_a_kind_that_is_gone(bakery: FaultyServer, ask: Ask) -> None:
    """It is no gap that it is not served any more."""
    assert "RetryPolic" in ask("describe", "httproute/baker").out
    remove_a_kind(bakery)
    outcome = ask("describe", "httproute/baker")
    assert outcome.code == 0
    assert "RetryPolic" not in outcome.out
    assert "could not be read" not in outcome.out
    assert bakery.count("/apis") == 2


def test_a_version_that_is_gone(bakery: FaultyServer, ask: Ask) -> None:
    assert "RetryPolic" in ask("describe", "httproute/baker").out
    kinds = [kind._replace(version="v1") if kind.group == "example.io" else kind for kind in bakery.kinds]
    bakery.kinds[:] = kinds
    bakery.objects[:] = [
        {**item, "apiVersion": "example.io/v1"} if item["apiVersion"] == "example.io/v1alpha1" else item
        for item in bakery.objects
    ]
    outcome = ask("describe", "httproute/baker")
    assert "RetryPolic" in outcome.out
    assert "could not be read" not in outcome.out


def test_a_group_that_does_not_answer(bakery: FaultyServer, ask: Ask) -> None:
    """Its kinds are unknown, and answers say so; of a server for metrics there are no policies."""
    bakery.kinds.append(Kind("metrics.k8s.io", "v1beta1", "PodMetrics", "pods"))
    bakery.stale.update({"metrics.k8s.io"})
    assert ask("blast-radius", "gateway/edge", "-n", "infra").code == 0
    bakery.stale.update({"example.io"})
    outcome = ask("blast-radius", "gateway/edge", "-n", "infra")
    assert outcome.code == 4
    assert "objects of API group example.io: the server behind this API group does not answer" in outcome.out
    assert "metrics" not in outcome.out


def test_a_slow_group_of_an_old_server(bakery: FaultyServer, ask: Ask) -> None:
    bakery.old = True
    bakery.fault("/apis/example.io/*", faults.silence)
    outcome = ask("describe", "httproute/baker")
    # All policies are of that group, so that nothing is known of any.
    assert outcome.code == 4
    assert outcome.out.startswith("Whether a policy affects HTTPRoute baker/baker is unknown")
    message = " ".join(outcome.out.split())
    assert (
        "objects of API group example.io: no answer within half of the time that --request-timeout 2s left" in message
    )
    assert outcome.seconds < 3


def test_objects_that_are_others(bakery: FaultyServer, ask: Ask) -> None:
    """What is not what was asked for is dropped, and a gap."""
    bakery.objects += [
        {"apiVersion": "example.io/v1alpha1", "kind": "TimeoutPolicy", "metadata": metadata}
        for metadata in (
            {"name": 5, "namespace": "baker"},
            {"name": "a", "namespace": ["b"]},
            {"name": "", "labels": 7},
        )
    ]
    outcome = ask("describe", "httproute/baker")
    assert outcome.code == 0
    assert "3 of 5 objects that were not requested" in " ".join(outcome.out.split())
