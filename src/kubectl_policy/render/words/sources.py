"""How many have an effect: policies, and apart from these the filters and parameters that other objects name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.kinds import listed
from kubectl_policy.render.words.names import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.profiles.profile import Role
    from kubectl_policy.questions.shared.in_force import InForce


def sources_words(groups: Iterable[InForce], subject: ObjectRef, noun: str = "") -> str:
    """`6 policies, 1 filter and the parameters of its Gateway`: who has an effect in some groups on a subject.

    `1 or 2 policies`, `1 to 3 policies` where it is not known how these combine. Policies are called by a `noun` if it
    is given: `2 more`.
    """
    groups = tuple(groups)
    parts = [_number(_of(groups, "policy"), noun), _number(_of(groups, "filter"), ""), _parameters(groups, subject)]
    return listed([part for part in parts if part])


def is_one(groups: Iterable[InForce]) -> bool:
    """Whether what has an effect is one object, so that a verb after `sources_words` has the singular."""
    return len({ref for group in groups for ref in group.policies}) == 1


def _of(groups: Sequence[InForce], role: Role) -> list[InForce]:
    return [group for group in groups if group.profile.role == role and group.policies]


def _number(groups: Sequence[InForce], noun: str) -> str:
    every = {ref for group in groups for ref in group.policies}
    if not every:
        return ""
    certain = {ref for group in groups for ref in {*group.policies}.difference(group.undecided)}
    most, least = len(every), max(len(certain), 1)
    counted = f"{most} {noun}" if noun else count(most, groups[0].profile.role)
    return counted if most == least else f"{least} {'or' if most == least + 1 else 'to'} {counted}"


def _parameters(groups: Sequence[InForce], subject: ObjectRef) -> str:
    """The parameters of a Gateway are one thing, whoever says what in them."""
    gateways = {node.object for group in _of(groups, "parameters") for node in group.at}
    if not gateways:
        return ""
    if gateways == {subject}:
        return "its parameters"
    return f"the parameters of its {'Gateway' if len(gateways) == 1 else 'Gateways'}"
