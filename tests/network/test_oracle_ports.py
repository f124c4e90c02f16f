"""The judge of NetworkPolicies judged: sentences on ports, nodes and pods in the network of their host.

Sentences are quoted from the types of k8s.io/api/networking/v1 and "Network Policies" of kubernetes.io, or follow from
the one before.
"""

from __future__ import annotations

import pytest

from tests.network.oracle import Direction, Verdict
from tests.network.oracle_world import Manifest
from tests.network.small_world import (
    Case,
    allowed,
    block,
    denied,
    egress_case,
    ingress_case,
    judged,
    network_policy,
    pods,
    rule,
)

NP = "shop/np"


def ingress(*rules: Manifest) -> list[Manifest]:
    """Return a policy of all pods of shop, with some rules of ingress."""
    return [network_policy(policyTypes=["Ingress"], ingress=list(rules))]


def egress(*rules: Manifest) -> list[Manifest]:
    """Return a policy of all pods of shop, with some rules of egress."""
    return [network_policy(policyTypes=["Egress"], egress=list(rules))]


UNDECIDED = Direction(allowed=None, tier="NetworkPolicy", by=frozenset({f"NetworkPolicy/{NP}"}))

PORTS = [
    ingress_case(
        "If this field is empty or missing, this rule matches all ports",
        ingress(rule(ports=[])),
        "bank/teller > shop/db 7/SCTP",
        allowed(NP),
    ),
    ingress_case(
        "If not specified, this field defaults to TCP.",
        ingress(rule(ports=[{"port": 5432}])),
        "bank/teller > shop/db 5432/UDP",
        denied(NP),
    ),
    ingress_case(
        "If this field is not provided, this matches all port names and numbers.",
        ingress(rule(ports=[{"protocol": "UDP"}])),
        "bank/teller > shop/db 7/UDP",
        allowed(NP),
    ),
    ingress_case(
        "If present, only traffic on the specified protocol AND port will be matched.",
        ingress(rule(ports=[{"port": 5432, "protocol": "UDP"}, {"port": 80, "protocol": "TCP"}])),
        "bank/teller > shop/db 5432/TCP",
        denied(NP),
    ),
    ingress_case(
        "Each item in this list is combined using a logical OR.",
        ingress(rule(ports=[{"port": 80}, {"port": 5432}, {"port": 81}])),
        "bank/teller > shop/db 5432/TCP",
        allowed(NP),
    ),
    ingress_case(
        "the range of ports from port to endPort if set, inclusive",
        ingress(rule(ports=[{"port": 5000, "endPort": 5432}])),
        "bank/teller > shop/db 5432/TCP",
        allowed(NP),
    ),
    ingress_case(
        "above endPort",
        ingress(rule(ports=[{"port": 5000, "endPort": 5431}])),
        "bank/teller > shop/db 5432/TCP",
        denied(NP),
    ),
    ingress_case(
        "This can either be a numerical or named port on a pod.",
        ingress(rule(ports=[{"port": "sql"}])),
        "bank/teller > shop/db 5432/TCP",
        allowed(NP),
    ),
    ingress_case(
        "a named port of another protocol is another port",
        ingress(rule(ports=[{"port": "dns"}])),
        "bank/teller > shop/db 53/UDP",
        denied(NP),
    ),
    ingress_case(
        "a name that the pod does not have",
        ingress(rule(ports=[{"port": "http"}])),
        "bank/teller > shop/db 80/TCP",
        denied(NP),
    ),
    egress_case(
        "ports is a list of destination ports for outgoing traffic: the peer's 80, not the pod's own 8080",
        egress(rule(ports=[{"port": "http"}])),
        "shop/web > bank/teller 80/TCP",
        allowed(NP),
    ),
    egress_case(
        "the number that the pod itself gives to the name",
        egress(rule(ports=[{"port": "http"}])),
        "shop/web > bank/teller 8080/TCP",
        denied(NP),
    ),
    egress_case(
        "an address outside has no named ports",
        egress(rule(ports=[{"port": "http"}])),
        "shop/web > 203.0.113.7 80/TCP",
        denied(NP),
    ),
]

NODES = [
    ingress_case(
        "traffic to and from the node where a Pod is running is always allowed (ingress)",
        ingress(),
        "172.18.0.2 > shop/db 5432/TCP",
        allowed(),
    ),
    egress_case(
        "traffic to and from the node where a Pod is running is always allowed (egress)",
        egress(),
        "shop/db > host/agent-1 9100/TCP",
        allowed(),
    ),
    ingress_case(
        "another node than its own",
        ingress(),
        "172.18.0.3 > shop/db 5432/TCP",
        denied(NP),
    ),
    ingress_case(
        "ignores hostNetwork pods when matching podSelector and namespaceSelector, or applies them like to other pods",
        ingress(rule(pods("Exists"))),
        "host/agent-2 > shop/db 5432/TCP",
        UNDECIDED,
    ),
    ingress_case(
        "you can allow traffic from a hostNetwork Pod using an ipBlock rule",
        ingress(rule(block("172.18.0.0/16"))),
        "host/agent-2 > shop/db 5432/TCP",
        allowed(NP),
    ),
    egress_case(
        "a hostNetwork pod is selected by spec.podSelector",
        [network_policy(namespace="host", policyTypes=["Egress"])],
        "host/agent-1 > bank/teller 80/TCP",
        Direction(allowed=None, tier=None, by=None),
    ),
    egress_case(
        "named ports of a pod that may be no more than its node",
        egress(rule(ports=[{"port": "http"}])),
        "shop/web > host/agent-2 9100/TCP",
        UNDECIDED,
    ),
    ingress_case(
        "a pod that is not scheduled yet may come to run on that node",
        ingress(),
        "host/agent-1 > shop/new 80/TCP",
        Direction(allowed=None, tier="NetworkPolicy", by=None),
    ),
    Case(
        "denied as a pod at its egress, and as a node at the ingress: denied by both kinds of network plugins",
        [
            network_policy("out", "host", policyTypes=["Egress"]),
            network_policy("in", policyTypes=["Ingress"], ingress=[rule(pods("Exists"))]),
        ],
        "host/agent-2 > shop/db 5432/TCP",
        Verdict(
            allowed=False,
            egress=Direction(allowed=None, tier=None, by=None),
            ingress=Direction(allowed=None, tier="NetworkPolicy", by=frozenset({"NetworkPolicy/shop/in"})),
        ),
    ),
]


@pytest.mark.parametrize("case", [*PORTS, *NODES], ids=lambda case: case.sentence)
def test_a_sentence_of_the_api_decides(case: Case) -> None:
    assert judged(case) == case.verdict
