"""The judge of NetworkPolicies judged: sentences on isolation and peers, each as a small world.

Sentences are quoted from the types of k8s.io/api/networking/v1 and "Network Policies" of kubernetes.io, or follow from
the one before.
"""

from __future__ import annotations

import pytest

from tests.network.oracle import Direction, Verdict, selected
from tests.network.oracle_world import Manifest
from tests.network.small_world import (
    DEFAULT,
    EVERYTHING,
    WORLD,
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
    selector,
)

NP = "shop/np"


def ingress(*rules: Manifest) -> list[Manifest]:
    """Return a policy of all pods of shop, with some rules of ingress."""
    return [network_policy(policyTypes=["Ingress"], ingress=list(rules))]


TO_WEB = {"podSelector": {"matchLabels": {"app": "web"}}}
UNDECIDED = Direction(allowed=None, tier="NetworkPolicy", by=frozenset({f"NetworkPolicy/{NP}"}))

ISOLATION = [
    ingress_case(
        "By default, a pod is non-isolated for ingress; all inbound connections are allowed.",
        [],
        "bank/teller > shop/db 5432/TCP",
        DEFAULT,
    ),
    ingress_case(
        "If this field is empty then this NetworkPolicy does not allow any traffic",
        ingress(),
        "bank/teller > shop/db 5432/TCP",
        denied(NP),
    ),
    ingress_case(
        "If it is not specified, it defaults to an empty selector.",
        [network_policy(ingress=[rule()], podSelector=None)],
        "bank/teller > shop/db 5432/TCP",
        allowed(NP),
    ),
    ingress_case(
        "An empty selector matches all pods in the policy's namespace.",
        [network_policy(namespace="bank", podSelector=EVERYTHING)],
        "bank/teller > shop/db 5432/TCP",
        DEFAULT,
    ),
    ingress_case(
        "all policies (whether or not they contain an ingress section) are assumed to affect ingress",
        [network_policy(egress=[rule()])],
        "bank/teller > shop/db 5432/TCP",
        denied(NP),
    ),
    egress_case(
        "policies that contain an egress section are assumed to affect egress",
        [network_policy(egress=[rule(TO_WEB, side="to")])],
        "shop/db > bank/teller 80/TCP",
        denied(NP),
    ),
    egress_case(
        "such a policy would not include an egress section and would otherwise default to just [ Ingress ]",
        [network_policy(ingress=[], egress=[])],
        "shop/db > bank/teller 80/TCP",
        DEFAULT,
    ),
    ingress_case(
        "If you want to write an egress-only policy, you must explicitly specify policyTypes [ Egress ].",
        [network_policy(policyTypes=["Egress"], ingress=[rule()])],
        "bank/teller > shop/db 5432/TCP",
        DEFAULT,
    ),
    ingress_case(
        "the ingress rules for each are combined additively",
        [network_policy("closed"), network_policy("open", ingress=[rule()]), network_policy("any", ingress=[rule()])],
        "bank/teller > shop/db 5432/TCP",
        allowed("shop/open", "shop/any"),
    ),
    ingress_case(
        "that pod will reject any connections that are not allowed by any NetworkPolicy",
        [network_policy("closed"), network_policy("web", ingress=[rule(TO_WEB)])],
        "bank/teller > shop/db 5432/TCP",
        denied("shop/closed", "shop/web"),
    ),
    Case(
        "both the egress policy on the source pod and the ingress policy on the destination pod need to allow",
        [network_policy("out", "bank", policyTypes=["Egress"], egress=[rule()]), network_policy("in")],
        "bank/teller > shop/db 5432/TCP",
        Verdict(allowed=False, egress=allowed("bank/out"), ingress=denied("shop/in")),
    ),
    Case(
        "exception: a pod cannot block access to itself",
        [network_policy(policyTypes=["Ingress", "Egress"])],
        "shop/db > shop/db 5432/TCP",
        Verdict(allowed=True, egress=DEFAULT, ingress=DEFAULT),
    ),
]

PEERS = [
    ingress_case(
        "If this field is empty or missing, this rule matches all sources",
        ingress({"from": []}),
        "203.0.113.7 > shop/db 5432/TCP",
        allowed(NP),
    ),
    ingress_case(
        "Otherwise it selects the pods matching podSelector in the policy's own namespace.",
        ingress(rule({"podSelector": EVERYTHING})),
        "bank/teller > shop/db 5432/TCP",
        denied(NP),
    ),
    ingress_case(
        "Otherwise it selects the pods matching podSelector in the policy's own namespace: by labels",
        ingress(rule(TO_WEB)),
        "shop/web > shop/db 5432/TCP",
        allowed(NP),
    ),
    ingress_case(
        "Otherwise it selects all pods in the namespaces selected by namespaceSelector.",
        ingress(rule({"namespaceSelector": {"matchLabels": {"team": "bank", "env": "prod"}}})),
        "bank/teller > shop/db 5432/TCP",
        allowed(NP),
    ),
    ingress_case(
        "the pods matching podSelector in the Namespaces selected by NamespaceSelector",
        ingress(rule({"namespaceSelector": {"matchLabels": {"team": "bank"}}, **TO_WEB})),
        "bank/teller > shop/db 5432/TCP",
        denied(NP),
    ),
    ingress_case(
        "contains two elements in the from array",
        ingress(rule({"namespaceSelector": {"matchLabels": {"team": "bank"}}}, TO_WEB)),
        "bank/teller > shop/db 5432/TCP",
        allowed(NP),
    ),
    ingress_case(
        "The Kubernetes control plane sets an immutable label kubernetes.io/metadata.name on all namespaces",
        ingress(rule({"namespaceSelector": selector("kubernetes.io/metadata.name", "In", "bare")})),
        "bare/lone > shop/db 5432/TCP",
        allowed(NP),
    ),
    ingress_case(
        "In: the label's value is one of the values",
        ingress(rule(pods("In", "teller", "web"))),
        "bare/lone > shop/db 5432/TCP",
        denied(NP),
    ),
    ingress_case(
        "NotIn: ... and all resources with no labels with the key",
        ingress(rule({"namespaceSelector": selector("team", "NotIn", "bank")})),
        "bare/lone > shop/db 5432/TCP",
        allowed(NP),
    ),
    ingress_case(
        "NotIn: resources with the key and none of the values",
        ingress(rule(pods("NotIn", "teller"))),
        "bank/teller > shop/db 5432/TCP",
        denied(NP),
    ),
    ingress_case(
        "Exists: no values, only the key",
        ingress(rule({"namespaceSelector": selector("env", "Exists")})),
        "bare/lone > shop/db 5432/TCP",
        denied(NP),
    ),
    ingress_case(
        "DoesNotExist: no label with the key",
        ingress(rule({"namespaceSelector": selector("env", "DoesNotExist")})),
        "bank/teller > shop/db 5432/TCP",
        denied(NP),
    ),
    ingress_case(
        "only certain combinations of fields are allowed: none of them selects nothing",
        ingress(rule({"futureSelector": EVERYTHING})),
        "bank/teller > shop/db 5432/TCP",
        denied(NP),
    ),
    ingress_case(
        "ipBlock selects particular IP CIDR ranges",
        ingress(rule(block("203.0.113.0/24", "203.0.113.64/26"))),
        "203.0.113.7 > shop/db 5432/TCP",
        allowed(NP),
    ),
    ingress_case(
        "The except entry describes CIDRs that should not be included within this rule.",
        ingress(rule(block("203.0.113.0/24", "203.0.113.64/26"))),
        "203.0.113.70 > shop/db 5432/TCP",
        denied(NP),
    ),
    ingress_case(
        "an IPv6 address is in no block of IPv4",
        ingress(rule(block("0.0.0.0/0"))),
        "2001:db8::7 > shop/db 5432/TCP",
        denied(NP),
    ),
    ingress_case(
        "These should be cluster-external IPs, since Pod IPs are ephemeral and unpredictable.",
        ingress(rule(block("10.0.0.0/8"))),
        "bank/teller > shop/db 5432/TCP",
        UNDECIDED,
    ),
    ingress_case(
        "a block without the address of a pod leaves nothing open",
        ingress(rule(block("10.244.1.0/24"))),
        "bank/teller > shop/db 5432/TCP",
        denied(NP),
    ),
    ingress_case(
        "what selectors allow does not depend on blocks",
        ingress(rule(block("10.0.0.0/8"), pods("Exists"))),
        "bank/teller > shop/db 5432/TCP",
        allowed(NP),
    ),
]


@pytest.mark.parametrize("case", [*ISOLATION, *PEERS], ids=lambda case: case.sentence)
def test_a_sentence_of_the_api_decides(case: Case) -> None:
    assert judged(case) == case.verdict


@pytest.mark.parametrize(
    ("spec", "pods_selected"),
    [
        ({}, {"Pod/shop/web", "Pod/shop/db", "Pod/shop/new"}),
        ({"podSelector": selector("app", "NotIn", "web")}, {"Pod/shop/db", "Pod/shop/new"}),
        ({"podSelector": {"matchLabels": {"app": "teller"}}}, set()),
    ],
    ids=["no podSelector", "by labels", "a pod of another namespace"],
)
def test_a_network_policy_selects_pods_of_its_namespace(spec: Manifest, pods_selected: set[str]) -> None:
    assert selected(WORLD, network_policy(**spec)) == pods_selected
