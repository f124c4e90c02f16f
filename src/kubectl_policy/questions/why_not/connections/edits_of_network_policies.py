"""Edits of NetworkPolicies: rules that allow more or less, and the directions in which a policy isolates Pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from kubectl_policy.model.fields import FieldPath, Json, items_at
from kubectl_policy.network.kinds import NETWORK_POLICY
from kubectl_policy.network.policy import DIRECTIONS
from kubectl_policy.questions.why_not.connections.narrowing import NARROWINGS
from kubectl_policy.questions.why_not.connections.spelling import PEERS, spell_peer, spell_ports, spell_rule
from kubectl_policy.questions.why_not.edits import Edit, edited

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model import Resource
    from kubectl_policy.network.policy import PolicyRules
    from kubectl_policy.questions.why_not.connections.case import Side

_POLICY_TYPES: Final = FieldPath(("spec", "policyTypes"))


def add_to_rule(side: Side) -> Iterator[Edit]:
    """A rule of a policy that isolates the Pods is also about the peer, or about the ports."""
    for resource, policy in _isolating(side):
        peer = spell_peer(side, NETWORK_POLICY, policy.ref.namespace)
        for rule in policy.rules(side.direction):
            ports = side.unmatched_ports(rule)
            if peer and not ports:
                yield from _appended(resource, rule.field / PEERS[side.direction], peer)
            if ports and side.matches_peers(policy, rule):
                yield from _appended(resource, rule.field / "ports", *spell_ports(NETWORK_POLICY, ports))


def add_rule(side: Side) -> Iterator[Edit]:
    """A policy that isolates the Pods has one more rule."""
    for resource, policy in _isolating(side):
        peer = spell_peer(side, NETWORK_POLICY, policy.ref.namespace)
        if peer:
            rule = spell_rule(side, NETWORK_POLICY, "Allow", peer)
            yield from _appended(resource, FieldPath(("spec", side.direction)), rule)


def stop_isolating(side: Side) -> Iterator[Edit]:
    """A policy without rules for the direction does not isolate the Pods in it, but in the other one alone."""
    for resource, policy in _isolating(side):
        remaining: list[Json] = [
            direction.title() for direction in DIRECTIONS if direction in policy.isolates - {side.direction}
        ]
        if remaining and not policy.rules(side.direction):
            yield from edited(resource, (_POLICY_TYPES, remaining))


def isolate(side: Side) -> Iterator[Edit]:
    """A policy whose rules for the direction are ignored isolates the Pods in it, too."""
    network, members = side.analysis.network, side.subject.members
    types: list[Json] = [direction.title() for direction in DIRECTIONS]
    for policy in network.policies:
        if policy.tier == "NetworkPolicy" and side.direction not in policy.isolates:
            is_subject = not members & ~network.matching.subjects(policy).certain
            for resource in side.read(policy.ref) if is_subject else ():
                if items_at(resource.raw, f"spec.{side.direction}"):
                    yield from edited(resource, (_POLICY_TYPES, types))


def _isolating(side: Side) -> Iterator[tuple[Resource, PolicyRules]]:
    """Yield the policies that isolate the Pods, none of which allows the connections."""
    for step in side.steps:
        if step.policy.tier == "NetworkPolicy" and step.rule is None:
            yield from ((resource, step.policy) for resource in side.read(step.policy.ref))


def _appended(resource: Resource, path: FieldPath, *items: Json) -> Iterator[Edit]:
    """Yield an object with more items in a list."""
    present = path.get(resource.raw)
    start = len(present) if isinstance(present, list | tuple) else 0
    yield from edited(resource, *((path / (start + number), item) for number, item in enumerate(items)))


def allow_less(side: Side) -> Iterator[Edit]:
    """The policy whose rules allow the connections allows all else: its rules are narrowed, or removed.

    Where rules of several policies allow them, no edit of one policy helps.
    """
    steps = [step for step in side.steps if step.policy.tier == "NetworkPolicy" and step.rule]
    rules = {int(str(step.rule.field.steps[-1])): step.rule for step in steps if step.rule}
    if len({step.policy.ref for step in steps}) != 1:
        return
    policy, field = steps[0].policy, FieldPath(("spec", side.direction))
    for resource in side.read(policy.ref):
        written = items_at(resource.raw, str(field))
        for narrow in NARROWINGS:
            narrowed = {
                position: narrow(side, policy, rule, cast("Mapping[str, Json]", written[position]))
                for position, rule in rules.items()
            }
            if all(narrowed.values()):
                yield from edited(resource, (field, [narrowed.get(at, rule) for at, rule in enumerate(written)]))
        yield from edited(resource, (field, [rule for at, rule in enumerate(written) if at not in rules]))
