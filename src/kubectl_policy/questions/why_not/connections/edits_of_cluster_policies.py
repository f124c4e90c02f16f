"""Edits of policies for the whole cluster, in the Admin and Baseline tiers: rules, their order, and priorities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from kubectl_policy.model.fields import FieldPath, Json, items_at
from kubectl_policy.network.kinds import BASELINE_ADMIN_NETWORK_POLICY
from kubectl_policy.questions.why_not.connections.narrowing import NARROWINGS
from kubectl_policy.questions.why_not.connections.spelling import spell_peer, spell_rule
from kubectl_policy.questions.why_not.edits import Edit, edited

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.model import GroupKind
    from kubectl_policy.network.policy import Action, PolicyRules, Rule, Tier
    from kubectl_policy.questions.why_not.connections.case import Side

_MAX_PRIORITY: Final = 1000
_PRIORITY: Final = FieldPath(("spec", "priority"))
# So many policies get a rule that denies, one by one.
_MOST_POLICIES: Final = 3


def letting_actions(kind: GroupKind) -> tuple[Action, ...]:
    """Return the actions by which a rule may let connections through: to pass them on leaves more to others."""
    return ("Allow",) if kind == BASELINE_ADMIN_NETWORK_POLICY else ("Pass", "Allow")


def insert_letting_rule(side: Side) -> Iterator[Edit]:
    """The policy that denies the connections has a rule before, which passes them on or allows them."""
    for policy, rule in _denying(side):
        for action in letting_actions(policy.ref.group_kind):
            yield from _with_rule(side, policy, action, _position(rule))


def insert_denying_rule(side: Side) -> Iterator[Edit]:
    """A policy that is asked about the connections has a rule that denies them, before those that match them."""
    asked = [policy for policy in side.policies if policy.tier != "NetworkPolicy"]
    for policy in asked[:_MOST_POLICIES]:
        rules = policy.rules(side.direction)
        first = next((rule for rule in rules if side.matches(policy, rule)), None)
        yield from _with_rule(side, policy, "Deny", _position(first) if first else None)


def _with_rule(side: Side, policy: PolicyRules, action: Action, position: int | None) -> Iterator[Edit]:
    """Yield a policy with a rule for the connections before one of its rules, else as its last one."""
    kind, field = policy.ref.group_kind, FieldPath(("spec", side.direction))
    peer = spell_peer(side, kind)
    for resource in side.read(policy.ref) if peer else ():
        rules = items_at(resource.raw, str(field))
        start = len(rules) if position is None else position
        added = spell_rule(side, kind, action, peer)
        yield from edited(resource, (field, [*rules[:start], added, *rules[start:]]))


def move_rule(side: Side) -> Iterator[Edit]:
    """A rule of the policy that lets the connections through comes before the one that denies them."""
    for policy, denying in _denying(side):
        field, start = FieldPath(("spec", side.direction)), _position(denying)
        for rule in policy.rules(side.direction):
            end = _position(rule)
            if end > start and rule.action != "Deny" and side.matches(policy, rule):
                for resource in side.read(policy.ref):
                    rules = items_at(resource.raw, str(field))
                    moved = [*rules[:start], rules[end], *rules[start:end], *rules[end + 1 :]]
                    yield from edited(resource, (field, moved))


def narrow_rule(side: Side) -> Iterator[Edit]:
    """The rule that denies the connections is not about them any more."""
    for policy, rule in _denying(side):
        for resource in side.read(policy.ref):
            raw = cast("Mapping[str, Json]", rule.field.get(resource.raw))
            for narrow in NARROWINGS:
                narrowed = narrow(side, policy, rule, raw)
                if narrowed:
                    yield from edited(resource, (rule.field, narrowed))


def change_priority(side: Side) -> Iterator[Edit]:
    """A later policy of the tier that lets the connections through comes before the one that denies them."""
    for denying, _ in _denying(side):
        for policy in _later(side, denying):
            if any(rule.action != "Deny" and side.matches(policy, rule) for rule in policy.rules(side.direction)):
                before = priority_before(side, denying)
                for resource in side.read(policy.ref) if before is not None else ():
                    yield from edited(resource, (_PRIORITY, before))
                after = free_priority(side, policy.tier, (policy.priority or 0) + 1)
                for resource in side.read(denying.ref) if after is not None else ():
                    yield from edited(resource, (_PRIORITY, after))


def _later(side: Side, denying: PolicyRules) -> Sequence[PolicyRules]:
    """Return the policies that are asked after another one of their tier."""
    in_tier = [policy for policy in side.policies if policy.tier == denying.tier and policy.priority is not None]
    return [policy for policy in in_tier if (policy.priority or 0) >= (denying.priority or 0) and policy != denying]


def priority_before(side: Side, policy: PolicyRules) -> int | None:
    """Return the last free priority before that of a policy; None if there is none."""
    taken = _taken(side, policy.tier)
    return next((number for number in range((policy.priority or 0) - 1, -1, -1) if number not in taken), None)


def free_priority(side: Side, tier: Tier, start: int) -> int | None:
    """Return the first free priority of a tier from a number on; None if there is none."""
    taken = _taken(side, tier)
    return next((number for number in range(start, _MAX_PRIORITY + 1) if number not in taken), None)


def _taken(side: Side, tier: Tier) -> frozenset[int | None]:
    """Return the priorities of all policies of a tier: which of two equal ones comes first is not defined."""
    return frozenset(policy.priority for policy in side.analysis.network.policies if policy.tier == tier)


def _denying(side: Side) -> Iterator[tuple[PolicyRules, Rule]]:
    """Yield the policies for the whole cluster that deny the connections, with the rules by which they do."""
    for step in side.steps:
        if step.action == "Deny" and step.policy.tier != "NetworkPolicy" and step.rule:
            yield step.policy, step.rule


def _position(rule: Rule) -> int:
    return int(str(rule.field.steps[-1]))
