"""What contributions amount to at a route, and what became of their fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy import PolicyKindProfile
from kubectl_policy.model import GroupKind
from kubectl_policy.resolution.meeting import resolve
from kubectl_policy.resolution.refusals import Refusal
from kubectl_policy.resolution.surroundings import Surroundings
from tests.build import node

if TYPE_CHECKING:
    from kubectl_policy import EffectivePolicy, Fate
    from kubectl_policy.model import Json
    from kubectl_policy.resolution import Contribution, Source

UNSAID: Final = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "label")
PATH: Final = (node("Gateway", "g"), node("HTTPRoute", "r"))


def resolved(
    *parts: Contribution, profile: PolicyKindProfile = UNSAID, target: dict[str, Json] | None = None
) -> EffectivePolicy:
    """What the contributions amount to at the route."""
    return resolve(PATH, profile, parts, Surroundings(target_object={"spec": target or {}}))


def refusing(holder: Source, *refused: Source) -> Surroundings:
    """A policy keeps some others out on its target."""
    return Surroundings({source: Refusal(holder.object, holder.target) for source in refused})


def fates(effective: EffectivePolicy) -> dict[tuple[str, str], Fate]:
    """The fates by policy and field."""
    return {(fate.source.object.name, fate.field): fate for fate in effective.fates()}


def superseders(fate: Fate) -> set[str]:
    """The names of those who set something else instead."""
    return {found.object.name for found in fate.superseded_by}
