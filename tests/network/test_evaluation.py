"""Tests of `network/evaluation.py`: the tiers in their order, about sets of ports, whatever rules match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pytest

from kubectl_policy.model import FieldPath
from kubectl_policy.network.evaluation import Allowed, Chain, Decision, Selecting, chain_of, decide
from kubectl_policy.network.policy import Action, Direction, PolicyRules, Rule, Selection, Tier
from tests import build

# Two ports.
BOTH, HTTP, DNS = 0b11, 0b01, 0b10
ALLOWED, DENIED, UNKNOWN = True, False, None


class R(NamedTuple):
    """A rule with the ports that it certainly matches, and those that it may match as well."""

    action: str
    certain: int = BOTH
    perhaps: int = 0


class P(NamedTuple):
    """A policy that selects the Pod."""

    name: str
    rules: Sequence[R]
    tier: Tier = "Admin"
    priority: int | None = 0
    is_certain: bool = True
    is_open: bool = False


_ACTIONS: dict[str, Action] = {"Allow": "Allow", "Deny": "Deny", "Pass": "Pass"}


def np(name: str, *rules: R, is_certain: bool = True) -> P:
    """A NetworkPolicy."""
    return P(name, rules, "NetworkPolicy", None, is_certain)


def banp(*rules: R, name: str = "default", priority: int | None = None) -> P:
    """A policy of the Baseline tier."""
    return P(name, rules, "Baseline", priority)


def decided(*policies: P, is_own_node: bool | None = False, direction: Direction = "ingress") -> Decision:
    """What some policies decide about both ports."""
    matches: dict[Rule, R] = {}

    def rule(number: int, written: R) -> Rule:
        action = _ACTIONS.get(written.action, "Deny")
        is_open = written.action not in _ACTIONS
        built = Rule(
            field=FieldPath(("spec", direction, number)),
            name="",
            action=action,
            peers=None,
            ports=None,
            is_open=is_open,
        )
        matches[built] = written
        return built

    selecting = []
    for policy in policies:
        rules = tuple(rule(number, written) for number, written in enumerate(policy.rules))
        is_network_policy = policy.tier == "NetworkPolicy"
        built = PolicyRules(
            ref=build.ref("Policy", policy.name),
            tier=policy.tier,
            priority=policy.priority,
            subject=Selection(namespaces="", pods={}),
            ingress=rules if direction == "ingress" else (),
            egress=rules if direction == "egress" else (),
            isolates=frozenset({direction} if is_network_policy else ()),
            is_open=policy.is_open,
        )
        selecting.append(Selecting(built, policy.is_certain and not policy.is_open))
    chain = chain_of(selecting, direction)
    chain = Chain(
        direction=direction,
        admin=chain.admin,
        network=chain.network,
        baseline=chain.baseline,
        is_own_node=is_own_node,
    )
    return decide(chain, lambda _, rule: (matches[rule].certain, matches[rule].certain | matches[rule].perhaps), BOTH)


def verdicts(decision: Decision) -> tuple[bool | None, bool | None]:
    """Whether each of the ports is allowed."""
    assert decision.allowed | decision.denied | decision.undecided == BOTH
    assert not decision.allowed & decision.denied
    by_port = [
        UNKNOWN if decision.undecided & port else ALLOWED if decision.allowed & port else DENIED for port in (HTTP, DNS)
    ]
    return by_port[0], by_port[1]


def steps(decision: Decision) -> list[str]:
    """The steps, as `name action certain/possible`; a step without a rule has `-`."""
    return [
        f"{step.policy.ref.name}{'' if step.rule else '-'} {step.action} {step.certain}/{step.possible}"
        for step in decision.steps
    ]


@pytest.mark.parametrize(
    ("policies", "expected", "expected_steps"),
    [
        ([], (ALLOWED, ALLOWED), []),
        # Rules match in their order, policies by their priorities; the lowest number comes first.
        ([P("a", [R("Deny", HTTP), R("Allow")])], (DENIED, ALLOWED), ["a Deny 1/1", "a Allow 2/2"]),
        (
            [P("a", [R("Allow")], priority=9), P("b", [R("Deny", DNS)], priority=1)],
            (ALLOWED, DENIED),
            ["b Deny 2/2", "a Allow 1/1"],
        ),
        # Admin comes before NetworkPolicy, and that before Baseline.
        (
            [banp(R("Allow")), np("n", R("Allow", DNS)), P("a", [R("Allow", HTTP)])],
            (ALLOWED, ALLOWED),
            ["a Allow 1/1", "n Allow 2/2"],
        ),
        ([np("n"), P("a", [R("Allow", HTTP)])], (ALLOWED, DENIED), ["a Allow 1/1", "n- Deny 2/2"]),
        ([banp(R("Deny", HTTP))], (DENIED, ALLOWED), ["default Deny 1/1"]),
        # "NetworkPolicy always makes a final decision for selected pods".
        ([banp(R("Allow")), np("n", R("Allow", HTTP))], (ALLOWED, DENIED), ["n Allow 1/1", "n- Deny 2/2"]),
        # NetworkPolicies add up.
        (
            [np("n", R("Allow", HTTP)), np("m"), np("o", R("Allow", HTTP))],
            (ALLOWED, DENIED),
            ["n Allow 1/1", "o Allow 1/1", "n- Deny 2/2", "m- Deny 2/2", "o- Deny 2/2"],
        ),
        # Pass skips what is left of its own tier, and nothing else.
        (
            [P("a", [R("Pass", HTTP), R("Deny")]), P("b", [R("Deny")], priority=1), np("n", R("Allow"))],
            (ALLOWED, DENIED),
            ["a Pass 1/1", "a Deny 2/2", "n Allow 1/1"],
        ),
        ([P("a", [R("Pass")]), banp(R("Deny"))], (DENIED, DENIED), ["a Pass 3/3", "default Deny 3/3"]),
        (
            [banp(R("Pass", HTTP), name="p", priority=1), banp(R("Deny"), name="q", priority=2)],
            (ALLOWED, DENIED),
            ["p Pass 1/1", "q Deny 2/2"],
        ),
        # Equal priorities: any of the matching policies may apply.
        (
            [P("a", [R("Allow")]), P("b", [R("Deny", HTTP)])],
            (UNKNOWN, ALLOWED),
            ["a Allow 2/3", "b Deny 0/1"],
        ),
        ([P("a", [R("Deny", HTTP)]), P("b", [R("Deny", HTTP)])], (DENIED, ALLOWED), ["a Deny 0/1", "b Deny 0/1"]),
        ([P("a", [R("Pass")]), P("b", [R("Deny", HTTP)])], (UNKNOWN, ALLOWED), ["a Pass 2/3", "b Deny 0/1"]),
        (
            [P("a", [R("Pass")]), P("b", [R("Deny", HTTP)]), np("n")],
            (DENIED, DENIED),
            ["a Pass 2/3", "b Deny 0/1", "n- Deny 2/3"],
        ),
        # What may match may decide, and what comes later may do so as well.
        (
            [P("a", [R("Deny", 0, HTTP), R("Allow")])],
            (UNKNOWN, ALLOWED),
            ["a Deny 0/1", "a Allow 2/3"],
        ),
        ([P("a", [R("Deny", 0, HTTP)])], (UNKNOWN, ALLOWED), ["a Deny 0/1"]),
        ([P("a", [R("Deny", 0, HTTP)]), np("n")], (DENIED, DENIED), ["a Deny 0/1", "n- Deny 2/3"]),
        (
            [P("a", [R("Pass", 0, HTTP)]), P("b", [R("Allow")], priority=1), np("n")],
            (UNKNOWN, ALLOWED),
            ["a Pass 0/1", "b Allow 2/3", "n- Deny 0/1"],
        ),
        ([np("n", R("Allow", DNS, HTTP))], (UNKNOWN, ALLOWED), ["n Allow 2/3", "n- Deny 0/1"]),
        # A policy that may select the Pod.
        ([P("a", [R("Deny", HTTP)], is_certain=False)], (UNKNOWN, ALLOWED), ["a Deny 0/1"]),
        ([np("n", is_certain=False)], (UNKNOWN, UNKNOWN), ["n- Deny 0/3"]),
        ([np("n", is_certain=False), banp(R("Deny"))], (DENIED, DENIED), ["n- Deny 0/3", "default Deny 0/3"]),
        # Whether it selects the Pod or not, it denies nothing of what it allows.
        ([np("n", R("Allow", HTTP), is_certain=False)], (ALLOWED, UNKNOWN), ["n Allow 0/1", "n- Deny 0/2"]),
        (
            [np("n", R("Allow", HTTP), is_certain=False), np("m", is_certain=False)],
            (UNKNOWN, UNKNOWN),
            ["n Allow 0/1", "n- Deny 0/2", "m- Deny 0/3"],
        ),
        (
            [np("n", R("Allow", HTTP)), np("m", is_certain=False)],
            (ALLOWED, DENIED),
            ["n Allow 1/1", "n- Deny 2/2", "m- Deny 0/2"],
        ),
        # An action that is to be filled in may be any; the rule matches all the same.
        (
            [P("a", [R("?", HTTP), R("Deny")])],
            (UNKNOWN, DENIED),
            ["a Allow 0/1", "a Deny 0/1", "a Pass 0/1", "a Deny 2/2"],
        ),
        (
            [P("a", [R("?", HTTP)]), np("n")],
            (UNKNOWN, DENIED),
            ["a Allow 0/1", "a Deny 0/1", "a Pass 0/1", "n- Deny 2/3"],
        ),
        # A policy of unknown priority may come first, or after one that leaves it nothing.
        (
            [P("a", [R("Allow")], priority=0), P("b", [R("Deny", HTTP)], priority=None, is_open=True)],
            (UNKNOWN, ALLOWED),
            ["b Deny 0/1", "a Allow 2/3"],
        ),
    ],
)
def test_tiers(policies: list[P], expected: tuple[bool | None, bool | None], expected_steps: list[str]) -> None:
    for order in (policies, policies[::-1]):
        decision = decided(*order)
        assert verdicts(decision) == expected
        assert sorted(steps(decision)) == sorted(expected_steps)
    assert verdicts(decided(*policies, direction="egress")) == expected


def test_steps_come_in_the_order_in_which_they_are_asked() -> None:
    policies = [
        banp(R("Deny")),
        np("m", R("Allow", HTTP)),
        np("n", R("Allow", HTTP)),
        P("b", [R("Pass")], priority=2),
        P("a", [R("Deny", DNS)], priority=1),
    ]
    assert steps(decided(*policies)) == ["a Deny 2/2", "b Pass 1/1", "m Allow 1/1", "n Allow 1/1"]


@pytest.mark.parametrize(
    ("policies", "is_own_node", "expected", "expected_steps"),
    [
        # "Traffic to and from the node where a Pod is running is always allowed", by NetworkPolicies.
        ([np("n")], True, (ALLOWED, ALLOWED), ["n- Allow 3/3"]),
        ([np("n"), banp(R("Deny"))], True, (ALLOWED, ALLOWED), ["n- Allow 3/3"]),
        ([P("a", [R("Deny", HTTP)]), np("n")], True, (DENIED, ALLOWED), ["a Deny 1/1", "n- Allow 2/2"]),
        ([banp(R("Deny"))], True, (DENIED, DENIED), ["default Deny 3/3"]),
        ([np("n", is_certain=False), banp(R("Deny"))], True, (UNKNOWN, UNKNOWN), ["n- Allow 0/3", "default Deny 0/3"]),
        ([np("n")], None, (UNKNOWN, UNKNOWN), ["n- Allow 0/3", "n- Deny 0/3"]),
        ([np("n", R("Allow"))], None, (ALLOWED, ALLOWED), ["n- Allow 0/3", "n Allow 3/3"]),
    ],
)
def test_the_own_node(
    policies: list[P],
    is_own_node: bool | None,  # noqa: FBT001 (a case)
    expected: tuple[bool | None, bool | None],
    expected_steps: list[str],
) -> None:
    decision = decided(*policies, is_own_node=is_own_node)
    assert (verdicts(decision), steps(decision)) == (expected, expected_steps)


def test_policies_without_a_say_in_a_direction_are_left_out() -> None:
    chain = chain_of([], "egress")
    assert chain.policies == ()
    empty = decided(P("a", []))
    assert (verdicts(empty), steps(empty), empty.by_default) == ((ALLOWED, ALLOWED), [], BOTH)


def test_both_sides_of_a_connection_must_allow() -> None:
    assert Allowed(0b1100, 0b0011) & Allowed(0b1010, 0b0101) == Allowed(0b1000, 0b0111)
    assert Allowed(0b1, 0) & Allowed(0, 0) == Allowed(0, 0)
