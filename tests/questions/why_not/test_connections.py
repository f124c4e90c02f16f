"""Edits of network policies, labels and new policies that `why-not` offers for connections: each does what is asked."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import pytest

from kubectl_policy import Analysis, analyze, load_manifests
from kubectl_policy.comparison import what_if
from kubectl_policy.errors import UsageError
from kubectl_policy.model import GroupKind, ObjectRef
from kubectl_policy.questions.connections.connection import PortQuery, describe_connection
from kubectl_policy.questions.connections.endpoints import NamedEnd, end_at_address, end_of
from kubectl_policy.questions.why_not.checked import CheckedEdit
from kubectl_policy.questions.why_not.connections.answer import ConnectionExplanation, why_not_connected
from kubectl_policy.questions.why_not.connections.case import Wanted
from kubectl_policy.topology.workloads.workload import parse_address
from tests.network.manifests import analyzed_manifests
from tests.network.random_worlds import ADDRESSES, random_world

PORTS = ("80/TCP", "53/UDP", "9003/SCTP", "8080/TCP")


def analyzed(seed: int) -> Analysis:
    return analyzed_manifests(random_world(Random(seed), "v1alpha1" if seed % 2 else "v1alpha2"))  # noqa: S311


def ends(analysis: Analysis, rng: Random) -> tuple[NamedEnd, NamedEnd]:
    pods = [workload.ref for workload in analysis.workloads.all]
    source, destination = rng.choice(pods), rng.choice(pods)
    address = parse_address(rng.choice(list(ADDRESSES)))
    assert address
    outside = end_at_address(analysis, address)
    named = end_of(analysis, source), end_of(analysis, destination)
    return rng.choice([named, named, (named[0], outside), (outside, named[1])])


def after(analysis: Analysis, edits: tuple[CheckedEdit, ...]) -> Analysis:
    return what_if(analysis, applied=[edit.after for edit in edits if edit.after]).after


def is_as_asked(analysis: Analysis, answer: ConnectionExplanation, edits: tuple[CheckedEdit, ...]) -> bool:
    """Whether the connections are as they are wanted once edits are made."""
    changed = after(analysis, edits)
    again = [end_of(changed, end.object) if end.object else end for end in (answer.source, answer.destination)]
    port = answer.connections[0].verdict
    verdict = describe_connection(changed, again[0], again[1], PortQuery(port.port, port.protocol))
    return verdict.allowed is (answer.wanted == "allowed")


@pytest.mark.parametrize(("seed", "wanted"), [*product(range(24), ("allowed", "denied"))])
def test_every_offered_edit_does_what_is_asked(seed: int, wanted: Wanted) -> None:
    analysis, rng = analyzed(seed), Random(seed)  # noqa: S311
    for _ in range(3):
        source, destination = ends(analysis, rng)
        answer = why_not_connected(analysis, source, destination, PortQuery.parse(rng.choice(PORTS)), wanted)
        if answer.fulfilled:
            assert (answer.edits, answer.pair) == ((), None)
        for offered in answer.edits:
            assert is_as_asked(analysis, answer, (offered,)), offered
        if answer.pair:
            assert is_as_asked(analysis, answer, answer.pair.edits)
        assert answer.fulfilled or answer.edits or answer.pair or answer.obstacle


def test_a_destination_without_ports_needs_one() -> None:
    analysis = analyzed(0)
    address = parse_address("203.0.113.7")
    assert address
    source = end_of(analysis, analysis.workloads.all[0].ref)
    with pytest.raises(UsageError, match="declares no port"):
        why_not_connected(analysis, source, end_at_address(analysis, address), None, "allowed")


FIXTURE = Path(__file__).parents[3] / "fixtures" / "network-policies"
APPS, CORE, GATEWAYS = "apps", "", "gateway.networking.k8s.io"


def asked(
    analysis: Analysis, source: ObjectRef, destination: ObjectRef, port: int, wanted: Wanted
) -> ConnectionExplanation:
    ends = end_of(analysis, source), end_of(analysis, destination)
    return why_not_connected(analysis, *ends, PortQuery(port, "TCP"), wanted)


def edited(answer: ConnectionExplanation) -> list[str]:
    edits = answer.pair.edits if answer.pair else answer.edits
    return [str(edit.object) for edit in edits]


@pytest.mark.parametrize(
    ("source", "destination", "port", "wanted", "expected"),
    [
        (("Gateway", "shop/public"), ("Deployment", "shop/cart"), 8080, "allowed", ["NetworkPolicy shop/cart"]),
        (("Deployment", "shop/cart"), ("Service", "data/orders"), 5432, "denied", ["NetworkPolicy shop/cart"]),
        (("Namespace", "monitoring"), ("Deployment", "shop/web"), 8080, "allowed", ["NetworkPolicy shop/web"]),
        (("Deployment", "shop/web"), ("Deployment", "monitoring/prometheus"), 9090, "allowed", []),
        (("Deployment", "monitoring/prometheus"), ("Namespace", "shop"), 9090, "denied", []),
        (("Service", "shop/web"), ("Service", "shop/cart"), 80, "denied", ["NetworkPolicy shop/web"]),
    ],
)
def test_edits_for_ends_of_every_kind(
    source: tuple[str, str], destination: tuple[str, str], port: int, wanted: Wanted, expected: list[str]
) -> None:
    """The first of the objects to edit, and that the edits do what is asked."""
    analysis = analyze(load_manifests(sorted(FIXTURE.glob("*.yaml"))))
    answer = asked(analysis, _ref(source), _ref(destination), port, wanted)
    assert edited(answer)[: len(expected)] == expected
    assert answer.edits or answer.pair
    for edits in [answer.pair.edits] if answer.pair else [(edit,) for edit in answer.edits]:
        changed = after(analysis, edits)
        assert asked(changed, _ref(source), _ref(destination), port, wanted).fulfilled


def _ref(end: tuple[str, str]) -> ObjectRef:
    kind, name = end
    group = {"Gateway": GATEWAYS, "Deployment": APPS}.get(kind, CORE)
    namespace, _, own = name.rpartition("/")
    return ObjectRef(GroupKind(group, kind), namespace, own)


def test_a_pod_with_itself_cannot_be_denied() -> None:
    analysis = analyze(load_manifests(sorted(FIXTURE.glob("*.yaml"))))
    debug = _ref(("Pod", "shop/debug"))
    answer = asked(analysis, debug, debug, 80, "denied")
    assert answer.obstacle == "no network policy can deny the connections of a Pod with itself"
